/*
 * Requests: bytes until there is a head, then a body of known length or in chunks. What is not
 * a request is refused, and the connection closed: nobody knows where the next one begins.
 */
#include "http/loop.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

void receiving_refuse(struct connection *c, unsigned status, const char *why)
{
    struct server *server = c->loop->server;

    if (c->request)
        server->handler.end(c->request);
    c->request = NULL;
    c->may_stay = c->is_whole = false;
    server->handler.refuse(server->handler.ctx, c, (struct http_refusal){status, why});
    sending_go_on(c);
}

static void refuse_budget(struct connection *c)
{
    receiving_refuse(c, 503, "too many unfinished requests: ask again");
}

void receiving_respond(struct connection *c)
{
    c->is_whole = true;
    c->loop->server->handler.respond(c->request);
    if (c->reply) {
        sending_go_on(c);
    } else {
        loop_enter(c, CONNECTION_WORK);
        loop_watch(c, 0);
    }
}

/* -------------------------------------------------------------------------------- bodies */

/* Room for more of a body: as it comes, however much was announced. */
static bool grow_body(struct connection *c, size_t need)
{
    uint64_t most = c->head.is_chunked ? c->most_body : c->head.body_bytes;
    size_t cap = c->body_cap ? 2 * c->body_cap : CONNECTION_FIRST_BYTES;

    cap = cap < need ? need : cap;
    cap = cap > most ? (size_t)most : cap;
    if (!connection_ask_budget(c, c->in_cap + cap))
        return false;
    c->body = mem_resize(c->body, cap, 1);
    c->body_cap = cap;
    return true;
}

/* Returns false when the request was refused. */
static bool take_body(struct connection *c, const char *bytes, size_t n)
{
    if (c->n_body + n > c->body_cap && !grow_body(c, c->n_body + n)) {
        refuse_budget(c);
        return false;
    }
    if (n > 0)
        memcpy(c->body + c->n_body, bytes, n);
    c->n_body += n;
    return true;
}

/* The same for bytes in chunks. */
static bool take_chunks(struct connection *c, char *bytes, size_t n)
{
    size_t n_data;
    struct http_refusal refusal =
        chunks_take(&c->chunks, bytes, n, c->most_body - c->n_body, &n_data);

    if (refusal.status) {
        receiving_refuse(c, refusal.status, refusal.why);
        return false;
    }
    return take_body(c, bytes, n_data);
}

static bool has_body(const struct connection *c)
{
    return c->head.is_chunked ? c->chunks.state == CHUNKS_DONE
                              : c->n_body == c->head.body_bytes;
}

void receiving_body(struct connection *c)
{
    char *to = c->loop->scratch;
    size_t room = sizeof c->loop->scratch;
    uint64_t left = c->head.body_bytes - c->n_body;
    ssize_t n;

    if (!c->head.is_chunked && left < room)
        room = (size_t)left;
    n = recv(c->fd, to, room, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        connection_close(c);
        return;
    }
    if (n < 0)
        return;
    if (c->head.is_chunked ? !take_chunks(c, to, (size_t)n) : !take_body(c, to, (size_t)n))
        return;
    if (has_body(c))
        receiving_respond(c);
}

/* Where the client waits for that. Returns false when it cannot even be told, and is closed. */
static bool ask_for_body(struct connection *c)
{
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    ssize_t n = sizeof line - 1;

    if (c->head.awaits_continue && c->n_taken == c->n_in)
        n = send(c->fd, line, sizeof line - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n == sizeof line - 1)
        return true;
    connection_close(c);
    return false;
}

/* What has come of it after the head, then the rest. After chunks there is no other request.
 */
static void begin_body(struct connection *c)
{
    size_t n = c->n_in - c->n_taken;
    char *bytes = c->in + c->n_taken;

    if (c->head.is_chunked) {
        c->may_stay = false;
    } else if (c->head.body_bytes > c->most_body) {
        receiving_refuse(c, 413, "a body is too large");
        return;
    } else if (n > c->head.body_bytes) {
        n = (size_t)c->head.body_bytes;
    }
    if (!ask_for_body(c))
        return;
    loop_enter(c, CONNECTION_BODY);
    c->n_taken += n;
    if (c->head.is_chunked ? !take_chunks(c, bytes, n) : !take_body(c, bytes, n))
        return;
    if (has_body(c))
        receiving_respond(c);
}

/* --------------------------------------------------------------------------------- heads */

static void begin(struct connection *c, size_t length)
{
    struct server *server = c->loop->server;
    struct http_refusal refusal = request_head_parse(c->in, length, &c->head);
    bool has_a_body = c->head.is_chunked || c->head.body_bytes > 0;

    c->n_taken = length;
    if (refusal.status) {
        receiving_refuse(c, refusal.status, refusal.why);
        return;
    }
    c->may_stay = c->head.stays_open && !has_a_body;
    c->is_whole = !has_a_body;
    c->most_body = 0;
    c->request = server->handler.begin(server->handler.ctx, c, &c->head, &c->most_body);
    if (c->reply) {
        sending_go_on(c);
        return;
    }
    c->may_stay = c->head.stays_open;
    if (!has_a_body)
        receiving_respond(c);
    else if (c->most_body == 0)
        receiving_refuse(c, 400, "no body is wanted here");
    else
        begin_body(c);
}

void receiving_advance(struct connection *c)
{
    size_t length = request_head_length(c->in, c->n_in, &c->n_seen);

    if (c->state != CONNECTION_HEAD)
        loop_enter(c, CONNECTION_HEAD);
    if (length == SIZE_MAX) {
        receiving_refuse(c, 400, "a line does not end by CR LF");
    } else if (length > 0) {
        begin(c, length);
    } else if (c->n_in == REQUEST_HEAD_MOST_BYTES) {
        bool has_line = memchr(c->in, '\n', c->n_in) != NULL;

        receiving_refuse(c, has_line ? 431 : 414, "the head of a request has 16 KiB at most");
    }
}

/* The buffer of the head is full. */
static bool grow_head(struct connection *c)
{
    size_t cap = c->in_cap ? 2 * c->in_cap : CONNECTION_FIRST_BYTES;

    if (!connection_ask_budget(c, cap + c->body_cap))
        return false;
    c->in = mem_resize(c->in, cap, 1);
    c->in_cap = cap;
    return true;
}

void receiving_head(struct connection *c)
{
    ssize_t n;

    if (c->n_in == c->in_cap && !grow_head(c)) {
        refuse_budget(c);
        return;
    }
    n = recv(c->fd, c->in + c->n_in, c->in_cap - c->n_in, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        connection_close(c);
        return;
    }
    if (n < 0)
        return;
    c->n_in += (size_t)n;
    receiving_advance(c);
}
