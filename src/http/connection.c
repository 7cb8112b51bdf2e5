/*
 * From where a connection begins to where it ends, and what moves it in between.
 *
 *     bytes  --> IDLE, HEAD   until a head is there: begin()
 *            --> BODY         until the body is there: respond()
 *            --> WORK         until it is answered, by a thread that wakes it
 *     answer --> SEND         until all is sent: end()
 *            --> IDLE, READY  for the next request; or LINGER, until the client closes, too:
 *                             closed with unread bytes, it might lose the answer
 *
 * An answer is tried to be sent at once, and a request to be answered at once: so most are
 * never in SEND or WORK. What is not a request is refused, and the connection closed: nobody
 * knows where the next one begins.
 *
 * A connection uses the lists, the budget and the clock of its loop, which are data; the thread
 * that turns the loop (server.c) calls what is here, never the other way round.
 */
#include "http/loop.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STREAM_BYTES 4096u /* of what a stream has to say at once */
#define SECOND_NS 1000000000u

/* ---------------------------------------------------------------------- with its loop */

/* A connection is in this state from now on: the last in its list. */
static void enter(struct connection *c, enum connection_state state)
{
    struct event_loop *loop = c->loop;

    if (c->state != CONNECTION_NEW) {
        *(c->before ? &c->before->after : &loop->list[c->state].first) = c->after;
        *(c->after ? &c->after->before : &loop->list[c->state].last) = c->before;
    }
    c->state = state;
    c->since_ns = loop->now_ns;
    if (state == CONNECTION_NEW)
        return;
    c->after = NULL;
    c->before = loop->list[state].last;
    *(c->before ? &c->before->after : &loop->list[state].first) = c;
    loop->list[state].last = c;
}

/* What epoll is to tell of it: EPOLLIN, EPOLLOUT, EPOLLRDHUP, or 0 for nothing. */
static void watch(struct connection *c, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = c};

    if (events == c->watched)
        return;
    epoll_ctl(c->loop->epoll,
              events == 0       ? EPOLL_CTL_DEL
              : c->watched == 0 ? EPOLL_CTL_ADD
                                : EPOLL_CTL_MOD,
              c->fd, &event);
    c->watched = events;
}

struct connection *connection_new(struct event_loop *loop, int fd, unsigned address)
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
    struct event_loop *loop = c->loop;

    if (atomic_exchange(&c->is_woken, true))
        return;
    queue_put(&loop->woken, c); /* there is room for all; from here on it may be gone */
    loop_poke(loop);
}

bool connection_is_gone(const struct connection *c)
{
    char next;
    ssize_t n = recv(c->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

const char *connection_body(const struct connection *c, size_t *n)
{
    *n = c->n_body;
    return c->n_body ? c->body : "";
}

/*
 * It is going to have buffers of so many bytes for what has come. Returns false when all
 * connections together have too many.
 */
static bool ask_budget(struct connection *c, size_t bytes)
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

/* The memory of an answer counts once, however many wait for it. */
static void count_waiting(struct connection *c, bool is_waiting)
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

/* The handler hears that it is over; what was there for it goes. */
static void end_request(struct connection *c)
{
    if (c->read)
        c->loop->n_streams--;
    c->read = NULL;
    if (c->request)
        c->loop->server->handler.end(c->request);
    c->request = NULL;
    count_waiting(c, false);
    reply_drop(c->reply);
    c->reply = NULL;
    free(c->body);
    free(c->said);
    c->body = c->said = NULL;
    c->n_body = c->body_cap = c->n_said = 0;
    c->chunks = (struct chunks){0};
    c->head = (struct request_head){0};
}

/* The first n bytes of what has come are no longer needed. */
static void forget_input(struct connection *c, size_t n)
{
    mem_to_front(c->in, n, c->n_in - n, 1);
    c->n_in -= n;
    c->n_seen = c->n_taken = 0;
    if (c->n_in == 0 && c->in_cap > CONNECTION_FIRST_BYTES) {
        free(c->in);
        c->in = NULL;
        c->in_cap = 0;
    }
    ask_budget(c, c->in_cap);
}

void connection_close(struct connection *c)
{
    struct event_loop *loop = c->loop;

    end_request(c);
    enter(c, CONNECTION_NEW);
    forget_input(c, c->n_in);
    watch(c, 0); /* a process that was forked may have the file, too */
    close(c->fd);
    free(c->in);
    slots_give(&loop->slots, c->address);
    atomic_fetch_sub(&loop->n, 1);
    c->is_over = true;
    if (!atomic_load(&c->is_woken))
        free(c);
}

/* All is said: close, but let the client read it. */
static void part(struct connection *c)
{
    bool is_clean = c->is_whole && c->n_taken == c->n_in;

    end_request(c);
    if (is_clean || shutdown(c->fd, SHUT_WR) != 0) {
        connection_close(c);
        return;
    }
    forget_input(c, c->n_in);
    enter(c, CONNECTION_LINGER);
    watch(c, EPOLLIN);
}

/* ------------------------------------------------------------------------------- answers */

/* The time as a field of an answer has it. */
static const char *date_of(struct event_loop *loop)
{
    time_t now = time(NULL);
    struct tm utc;

    if (*loop->date == '\0' || loop->now_ns - loop->date_ns > SECOND_NS / 2) {
        gmtime_r(&now, &utc);
        strftime(loop->date, sizeof loop->date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
        loop->date_ns = loop->now_ns;
    }
    return loop->date;
}

void connection_answer(struct connection *c, struct reply *reply, const char *fields)
{
    if (atomic_load(&c->loop->server->is_quiet))
        c->may_stay = false;
    c->reply = reply_hold(reply);
    c->n_sent = 0;
    c->n_fields =
        (size_t)snprintf(c->fields, sizeof c->fields, "Date: %s\r\n%s%s\r\n", date_of(c->loop),
                         fields, c->may_stay ? "" : "Connection: close\r\n");
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
static void send_stream(struct connection *c)
{
    for (;;) {
        struct iovec rest;

        if (c->n_sent == c->n_said) {
            ssize_t n = c->read(c->request, c->said, STREAM_BYTES);

            c->n_sent = c->stuck_ns = 0;
            c->n_said = n > 0 ? (size_t)n : 0;
            if (n < 0)
                part(c);
            else if (n == 0)
                watch(c, EPOLLRDHUP);
            if (n <= 0)
                return;
        }
        rest = (struct iovec){c->said + c->n_sent, c->n_said - c->n_sent};
        if (!send_some(c, &rest, 1))
            return;
        if (c->n_sent < c->n_said) {
            c->stuck_ns = c->stuck_ns ? c->stuck_ns : c->loop->now_ns;
            watch(c, EPOLLOUT | EPOLLRDHUP);
            return;
        }
    }
}

static void start_stream(struct connection *c)
{
    c->said = mem_alloc(STREAM_BYTES, 1);
    c->n_sent = c->n_said = 0;
    enter(c, CONNECTION_STREAM);
    send_stream(c);
}

/* The answer is sent. */
static void finish(struct connection *c)
{
    if (!c->may_stay || atomic_load(&c->loop->server->is_quiet)) {
        part(c);
        return;
    }
    end_request(c);
    forget_input(c, c->n_taken);
    enter(c, c->n_in ? CONNECTION_READY : CONNECTION_IDLE);
    watch(c, EPOLLIN);
}

/* Sends what the client takes of the answer now. */
static void send_answer(struct connection *c)
{
    struct iovec parts[REPLY_MAX_PARTS + 2];

    if (!send_some(c, parts, parts_left(c, parts)))
        return;
    if (c->n_sent < bytes_of_answer(c)) {
        if (c->state != CONNECTION_SEND)
            enter(c, CONNECTION_SEND);
        count_waiting(c, true);
        watch(c, EPOLLOUT);
    } else if (c->read) {
        start_stream(c);
    } else {
        finish(c);
    }
}

/* ------------------------------------------------------------------------------ requests */

/* Answers so instead, and closes. */
static void refuse(struct connection *c, unsigned status, const char *why)
{
    struct server *server = c->loop->server;

    if (c->request)
        server->handler.end(c->request);
    c->request = NULL;
    c->may_stay = c->is_whole = false;
    server->handler.refuse(server->handler.ctx, c, (struct http_refusal){status, why});
    send_answer(c);
}

static void refuse_budget(struct connection *c)
{
    refuse(c, 503, "too many unfinished requests: ask again");
}

/* All of the request is there: has it answered. */
static void respond(struct connection *c)
{
    c->is_whole = true;
    c->loop->server->handler.respond(c->request);
    if (c->reply) {
        send_answer(c);
    } else {
        enter(c, CONNECTION_WORK);
        watch(c, 0);
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
    if (!ask_budget(c, c->in_cap + cap))
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
        refuse(c, refusal.status, refusal.why);
        return false;
    }
    return take_body(c, bytes, n_data);
}

static bool has_body(const struct connection *c)
{
    return c->head.is_chunked ? c->chunks.state == CHUNKS_DONE
                              : c->n_body == c->head.body_bytes;
}

static void receive_body(struct connection *c)
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
        respond(c);
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
        refuse(c, 413, "a body is too large");
        return;
    } else if (n > c->head.body_bytes) {
        n = (size_t)c->head.body_bytes;
    }
    if (!ask_for_body(c))
        return;
    enter(c, CONNECTION_BODY);
    c->n_taken += n;
    if (c->head.is_chunked ? !take_chunks(c, bytes, n) : !take_body(c, bytes, n))
        return;
    if (has_body(c))
        respond(c);
}

/* --------------------------------------------------------------------------------- heads */

static void begin(struct connection *c, size_t length)
{
    struct server *server = c->loop->server;
    struct http_refusal refusal = request_head_parse(c->in, length, &c->head);
    bool has_a_body = c->head.is_chunked || c->head.body_bytes > 0;

    c->n_taken = length;
    if (refusal.status) {
        refuse(c, refusal.status, refusal.why);
        return;
    }
    c->may_stay = c->head.stays_open && !has_a_body;
    c->is_whole = !has_a_body;
    c->most_body = 0;
    c->request = server->handler.begin(server->handler.ctx, c, &c->head, &c->most_body);
    if (c->reply) {
        send_answer(c);
        return;
    }
    c->may_stay = c->head.stays_open;
    if (!has_a_body)
        respond(c);
    else if (c->most_body == 0)
        refuse(c, 400, "no body is wanted here");
    else
        begin_body(c);
}

/* Looks at what has come for the head of a request. */
static void advance(struct connection *c)
{
    size_t length = request_head_length(c->in, c->n_in, &c->n_seen);

    if (c->state != CONNECTION_HEAD)
        enter(c, CONNECTION_HEAD);
    if (length == SIZE_MAX) {
        refuse(c, 400, "a line does not end by CR LF");
    } else if (length > 0) {
        begin(c, length);
    } else if (c->n_in == REQUEST_HEAD_MAX_BYTES) {
        bool has_line = memchr(c->in, '\n', c->n_in) != NULL;

        refuse(c, has_line ? 431 : 414, "the head of a request has 16 KiB at most");
    }
}

/* The buffer of the head is full. */
static bool grow_head(struct connection *c)
{
    size_t cap = c->in_cap ? 2 * c->in_cap : CONNECTION_FIRST_BYTES;

    if (!ask_budget(c, cap + c->body_cap))
        return false;
    c->in = mem_resize(c->in, cap, 1);
    c->in_cap = cap;
    return true;
}

static void receive_head(struct connection *c)
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
    advance(c);
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
        advance(c);
        break;
    case CONNECTION_BODY:
        receive_body(c);
        break;
    case CONNECTION_SEND:
        send_answer(c);
        break;
    case CONNECTION_STREAM:
        if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            connection_close(c);
        else
            send_stream(c);
        break;
    case CONNECTION_LINGER:
        throw_away(c);
        break;
    default:
        receive_head(c);
        break;
    }
}

void connection_woken(struct connection *c)
{
    if (c->state == CONNECTION_NEW) {
        slots_take(&c->loop->slots, c->address);
        enter(c, CONNECTION_IDLE);
        watch(c, EPOLLIN);
    } else if (c->state == CONNECTION_WORK) {
        respond(c);
    } else if (c->state == CONNECTION_STREAM && c->stuck_ns == 0) {
        send_stream(c);
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
        refuse(c, 408, "the head of the request took too long");
    } else if (c->state == CONNECTION_BODY) {
        refuse(c, 408, "the body of the request took too long");
    } else {
        connection_close(c);
    }
}
