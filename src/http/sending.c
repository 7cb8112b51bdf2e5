/*
 * Answers: a head that is made once, fields of this one, and a body in pieces, sent as the
 * client takes them; and streams, which say what they have when there is something.
 */
#include "http/loop.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define STREAM_BYTES 4096u /* of what a stream has to say at once */

void connection_answer(struct connection *c, struct reply *reply, const char *fields)
{
    if (atomic_load(&c->loop->server->is_quiet))
        c->may_stay = false;
    c->reply = reply_hold(reply);
    c->n_sent = 0;
    c->n_fields = (size_t)snprintf(c->fields, sizeof c->fields, "Date: %s\r\n%s%s\r\n",
                                   loop_date(c->loop), fields,
                                   c->may_stay ? "" : "Connection: close\r\n");
    assert(c->n_fields < sizeof c->fields);
}

void connection_stream(struct connection *c, struct reply *reply,
                       ssize_t (*read)(void *request, char *out, size_t size))
{
    c->may_stay = false;
    connection_answer(c, reply, "");
    if (c->head.is_head)
        return;
    c->read = read;
    c->loop->n_streams++;
}

/* The memory of an answer counts once, however many wait for it. */
void sending_wait(struct connection *c, bool is_waiting)
{
    struct reply *reply = c->reply;

    if (is_waiting == c->is_waiting)
        return;
    c->is_waiting = is_waiting;
    if (is_waiting && reply->n_waiting++ == 0)
        c->loop->unsent_bytes += reply->held;
    else if (!is_waiting && --reply->n_waiting == 0)
        c->loop->unsent_bytes -= reply->held;
}

/* Adds a piece but for what was sent of it. */
static void add_part(struct iovec *out, size_t *n, uint64_t *n_sent, void *data, size_t size)
{
    size_t skipped = *n_sent < size ? (size_t)*n_sent : size;

    *n_sent -= skipped;
    if (size > skipped)
        out[(*n)++] = (struct iovec){(char *)data + skipped, size - skipped};
}

static size_t parts_left(const struct connection *c, struct iovec *out)
{
    uint64_t n_sent = c->n_sent;
    size_t n = 0;

    add_part(out, &n, &n_sent, c->reply->head, c->reply->n_head);
    add_part(out, &n, &n_sent, (char *)(uintptr_t)c->fields, c->n_fields);
    for (size_t i = 0; i < c->reply->n_parts && !c->head.is_head; i++)
        add_part(out, &n, &n_sent, c->reply->part[i].iov_base, c->reply->part[i].iov_len);
    return n;
}

static uint64_t bytes_of_answer(const struct connection *c)
{
    return c->reply->n_head + c->n_fields + (c->head.is_head ? 0 : c->reply->body_bytes);
}

/* Sends what the client takes now. Returns false when it has gone, and is closed. */
static bool send_some(struct connection *c, struct iovec *parts, size_t n_parts)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
    ssize_t n = sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        connection_close(c);
        return false;
    }
    c->n_sent += n > 0 ? (uint64_t)n : 0;
    return true;
}

/* Until the client takes no more, or there is no more for now. */
void sending_stream(struct connection *c)
{
    for (;;) {
        struct iovec rest;

        if (c->n_sent == c->n_said) {
            ssize_t n = c->read(c->request, c->said, STREAM_BYTES);

            c->n_sent = c->stuck_ns = 0;
            c->n_said = n > 0 ? (size_t)n : 0;
            if (n < 0)
                connection_part(c);
            else if (n == 0)
                loop_watch(c, EPOLLRDHUP);
            if (n <= 0)
                return;
        }
        rest = (struct iovec){c->said + c->n_sent, c->n_said - c->n_sent};
        if (!send_some(c, &rest, 1))
            return;
        if (c->n_sent < c->n_said) {
            c->stuck_ns = c->stuck_ns ? c->stuck_ns : c->loop->now_ns;
            loop_watch(c, EPOLLOUT | EPOLLRDHUP);
            return;
        }
    }
}

static void start_stream(struct connection *c)
{
    c->said = mem_alloc(STREAM_BYTES, 1);
    c->n_sent = c->n_said = 0;
    loop_enter(c, CONNECTION_STREAM);
    sending_stream(c);
}

/* The answer is sent. */
static void finish(struct connection *c)
{
    if (!c->may_stay || atomic_load(&c->loop->server->is_quiet)) {
        connection_part(c);
        return;
    }
    connection_end_request(c);
    connection_forget_input(c, c->n_taken);
    loop_enter(c, c->n_in ? CONNECTION_READY : CONNECTION_IDLE);
    loop_watch(c, EPOLLIN);
}

void sending_go_on(struct connection *c)
{
    struct iovec parts[REPLY_MOST_PARTS + 2];

    if (!send_some(c, parts, parts_left(c, parts)))
        return;
    if (c->n_sent < bytes_of_answer(c)) {
        if (c->state != CONNECTION_SEND)
            loop_enter(c, CONNECTION_SEND);
        sending_wait(c, true);
        loop_watch(c, EPOLLOUT);
    } else if (c->read) {
        start_stream(c);
    } else {
        finish(c);
    }
}
