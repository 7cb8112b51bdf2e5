/*
 * From where a connection begins to where it ends, and what moves it in between.
 *
 *     bytes  --> IDLE, HEAD   until a head is there: begin()
 *            --> BODY         until the body is there: respond()         receiving.c
 *            --> WORK         until it is answered, by a thread that wakes it
 *     answer --> SEND         until all is sent: end()                   sending.c
 *            --> IDLE, READY  for the next request; or LINGER, until the client closes, too:
 *                             closed with unread bytes, it might lose the answer
 *
 * An answer is tried to be sent at once, and a request to be answered at once: so most are
 * never in SEND or WORK.
 */
#include "http/loop.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection *connection_new(struct loop *loop, int fd, unsigned address)
{
    struct connection *c = mem_alloc(1, sizeof *c);

    c->loop = loop;
    c->fd = fd;
    c->address = address;
    atomic_fetch_add(&loop->n, 1);
    return c;
}

void connection_wake(struct connection *c)
{
    struct loop *loop = c->loop;

    if (atomic_exchange(&c->is_woken, true))
        return;
    queue_put(&loop->woken, c); /* there is room for all; from here on it may be gone */
    loop_poke(loop);
}

const char *connection_body(const struct connection *c, size_t *n)
{
    *n = c->n_body;
    return c->n_body ? c->body : "";
}

bool connection_ask_budget(struct connection *c, size_t bytes)
{
    struct server *server = c->loop->server;
    size_t wanted = bytes > CONNECTION_FREE_BYTES ? bytes - CONNECTION_FREE_BYTES : 0;

    if (wanted == c->n_budget)
        return true;
    if (wanted < c->n_budget) {
        atomic_fetch_sub(&server->unfinished_bytes, c->n_budget - wanted);
    } else if (atomic_fetch_add(&server->unfinished_bytes, wanted - c->n_budget) + wanted -
                   c->n_budget >
               server->limits.unfinished_bytes) {
        atomic_fetch_sub(&server->unfinished_bytes, wanted - c->n_budget);
        return false;
    }
    c->n_budget = wanted;
    return true;
}

void connection_end_request(struct connection *c)
{
    if (c->read)
        c->loop->n_streams--;
    c->read = NULL;
    if (c->request)
        c->loop->server->handler.end(c->request);
    c->request = NULL;
    sending_wait(c, false);
    reply_drop(c->reply);
    c->reply = NULL;
    free(c->body);
    free(c->said);
    c->body = c->said = NULL;
    c->n_body = c->body_cap = c->n_said = 0;
    c->chunks = (struct chunks){0};
    c->head = (struct request_head){0};
}

void connection_forget_input(struct connection *c, size_t n)
{
    mem_to_front(c->in, n, c->n_in - n, 1);
    c->n_in -= n;
    c->n_seen = c->n_taken = 0;
    if (c->n_in == 0 && c->in_cap > CONNECTION_FIRST_BYTES) {
        free(c->in);
        c->in = NULL;
        c->in_cap = 0;
    }
    connection_ask_budget(c, c->in_cap);
}

void connection_close(struct connection *c)
{
    struct loop *loop = c->loop;

    connection_end_request(c);
    loop_enter(c, CONNECTION_NEW);
    connection_forget_input(c, c->n_in);
    loop_watch(c, 0); /* a process that was forked may have the file, too */
    close(c->fd);
    free(c->in);
    slots_give(&loop->slots, c->address);
    atomic_fetch_sub(&loop->n, 1);
    c->is_over = true;
    if (!atomic_load(&c->is_woken))
        free(c);
}

void connection_part(struct connection *c)
{
    bool is_clean = c->is_whole && c->n_taken == c->n_in;

    connection_end_request(c);
    if (is_clean || shutdown(c->fd, SHUT_WR) != 0) {
        connection_close(c);
        return;
    }
    connection_forget_input(c, c->n_in);
    loop_enter(c, CONNECTION_LINGER);
    loop_watch(c, EPOLLIN);
}

/* -------------------------------------------------------------------------- what happens */

static void throw_away(struct connection *c)
{
    ssize_t n = recv(c->fd, c->loop->scratch, sizeof c->loop->scratch, 0);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        connection_close(c);
}

void connection_event(struct connection *c, uint32_t events)
{
    switch (c->state) {
    case CONNECTION_READY:
        receiving_advance(c);
        break;
    case CONNECTION_BODY:
        receiving_body(c);
        break;
    case CONNECTION_SEND:
        sending_go_on(c);
        break;
    case CONNECTION_STREAM:
        if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            connection_close(c);
        else
            sending_stream(c);
        break;
    case CONNECTION_LINGER:
        throw_away(c);
        break;
    default:
        receiving_head(c);
        break;
    }
}

void connection_woken(struct connection *c)
{
    if (c->state == CONNECTION_NEW) {
        slots_take(&c->loop->slots, c->address);
        loop_enter(c, CONNECTION_IDLE);
        loop_watch(c, EPOLLIN);
    } else if (c->state == CONNECTION_WORK) {
        receiving_respond(c);
    } else if (c->state == CONNECTION_STREAM && c->stuck_ns == 0) {
        sending_stream(c);
    }
}

bool connection_is_late(const struct connection *c, uint64_t now_ns)
{
    const struct server_limits *limits = &c->loop->server->limits;
    uint64_t took_ns = now_ns - c->since_ns;
    double ns_per_byte = 1e9 / (double)limits->least_bytes_per_s;

    switch (c->state) {
    case CONNECTION_IDLE:
        return took_ns > limits->idle_ns;
    case CONNECTION_HEAD:
        return took_ns > limits->head_ns;
    case CONNECTION_BODY:
        return took_ns > limits->grace_ns + (uint64_t)(ns_per_byte * (double)c->n_body);
    case CONNECTION_SEND:
        return took_ns > limits->grace_ns + (uint64_t)(ns_per_byte * (double)c->n_sent);
    case CONNECTION_STREAM:
        return c->stuck_ns && now_ns - c->stuck_ns > limits->grace_ns;
    case CONNECTION_LINGER:
        return took_ns > limits->linger_ns;
    default:
        return false;
    }
}

void connection_expire(struct connection *c)
{
    if (c->state == CONNECTION_HEAD) {
        receiving_refuse(c, 408, "the head of the request took too long");
    } else if (c->state == CONNECTION_BODY) {
        receiving_refuse(c, 408, "the body of the request took too long");
    } else {
        connection_close(c);
    }
}
