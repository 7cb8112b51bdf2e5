/*
 * A server is its loops, each a thread with an epoll of its own: it knows events and time, and
 * tells a connection (connection.c, which knows HTTP) what has happened. A connection is in
 * one list of its loop, that of its state, in the order in which it came there: so the first
 * of a list is the one that has waited longest.
 */
#include "http/server.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/thread.h"
#include "base/xxh.h"
#include "http/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------- how many connections there are, and from where */

unsigned slots_address(uint64_t seed, const struct sockaddr *from)
{
    const void *bytes = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
    size_t n = sizeof(struct in_addr);

    if (from->sa_family == AF_INET6) {
        const struct in6_addr *v6 =
            &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(v6);

        bytes = is_mapped ? &v6->s6_addr[12] : v6->s6_addr;
        n = is_mapped ? 4 : 8;
    }
    return (unsigned)(XXH3_64bits_withSeed(bytes, n, seed) % SLOTS_ADDRESSES);
}

void slots_take(struct slots *slots, unsigned address)
{
    slots->n++;
    if (++slots->n_of[address] == slots->most_of_address + 1)
        slots->n_over++;
}

void slots_give(struct slots *slots, unsigned address)
{
    slots->n--;
    if (slots->n_of[address]-- == slots->most_of_address + 1)
        slots->n_over--;
}

/* This address has more than its most. */
static bool slots_is_over(const struct slots *slots, unsigned address)
{
    return slots->n_of[address] > slots->most_of_address;
}

#define MAX_EVENTS 64
#define MAX_ACCEPTED 16     /* at once */
#define UNEVEN 4u           /* a new connection goes to another loop that has so many fewer */
#define RESERVE 64u         /* connections beyond the most, until others have made room */
#define LOOK_NS 1000000000u /* how often time limits are looked at, at least */

/* --------------------------------------------------------------------------------- lists */

static void close_list(struct event_loop *loop, enum connection_state state)
{
    while (loop->list[state].first)
        connection_close(loop->list[state].first);
}

/* -------------------------------------------------------------------------- new clients */

/* Has new connections told to this loop, or not. */
static void listen_here(struct event_loop *loop, bool is_on)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.ptr = loop->server};

    epoll_ctl(loop->epoll, is_on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, loop->server->fd, &event);
    loop->is_deaf = !is_on;
}

/* This one, unless another has much less to do. */
static struct event_loop *choose_loop(struct event_loop *loop)
{
    const struct server *server = loop->server;
    unsigned n = atomic_load(&loop->n);

    for (unsigned i = 0; i < server->n_loops; i++)
        if (atomic_load(&server->loop[i]->n) + UNEVEN < n)
            return server->loop[i];
    return loop;
}

static void take_client(struct event_loop *loop, int fd, const struct sockaddr *from)
{
    struct connection *c =
        connection_new(choose_loop(loop), fd, slots_address(loop->server->seed, from));

    if (c->loop == loop)
        connection_woken(c);
    else
        connection_wake(c);
}

/* While others have not made room yet, new clients wait where the system keeps them. */
static void accept_some(struct event_loop *loop)
{
    struct server *server = loop->server;

    for (int i = 0; i < MAX_ACCEPTED; i++) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        bool has_room = server_connections(server) < server->limits.connections + RESERVE;
        int fd = has_room ? accept4(server->fd, (struct sockaddr *)&from, &size,
                                    SOCK_NONBLOCK | SOCK_CLOEXEC)
                          : -1;

        if (!has_room || (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)))
            listen_here(loop, false); /* until the next look */
        if (fd < 0)
            return;
        take_client(loop, fd, (struct sockaddr *)&from);
    }
}

/*
 * Of those that wait for their client the one that has waited longest, or NULL. Of those that have
 * waited as long who has said nothing goes last: it may have come just now.
 *   is_over  only of addresses that have more than their part
 */
static struct connection *longest_wait(const struct event_loop *loop, bool is_over)
{
    static const enum connection_state states[] = {
        CONNECTION_HEAD, CONNECTION_BODY, CONNECTION_SEND, CONNECTION_LINGER, CONNECTION_IDLE};
    struct connection *longest = NULL;

    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct connection *c = loop->list[states[i]].first;

        while (c && is_over && !slots_is_over(&loop->slots, c->address))
            c = c->after;
        if (c && (longest == NULL || c->since_ns < longest->since_ns))
            longest = c;
    }
    return longest;
}

/* For those that have just come. */
static void make_room(struct event_loop *loop)
{
    struct connection *c;

    while (loop->n_streams > loop->most_streams && loop->list[CONNECTION_STREAM].first)
        connection_close(loop->list[CONNECTION_STREAM].first);
    while (loop->unsent_bytes > loop->most_unsent &&
           loop->list[CONNECTION_SEND].first != loop->list[CONNECTION_SEND].last)
        connection_close(loop->list[CONNECTION_SEND].first);
    while (loop->slots.n_over > 0 && (c = longest_wait(loop, true)) != NULL)
        connection_close(c);
    while (loop->slots.n > loop->slots.most && (c = longest_wait(loop, false)) != NULL)
        connection_close(c);
}

/* ---------------------------------------------------------------------------------- time */

/* What took too long ends. In these lists, who comes first is late first. */
static void end_late(struct event_loop *loop)
{
    for (int state = CONNECTION_IDLE; state < CONNECTION_STATES; state++) {
        bool is_in_order =
            state == CONNECTION_IDLE || state == CONNECTION_HEAD || state == CONNECTION_LINGER;
        struct connection *next;

        for (struct connection *c = loop->list[state].first; c; c = next) {
            next = c->after;
            if (connection_is_late(c, loop->now_ns))
                connection_expire(c);
            else if (is_in_order)
                break;
        }
    }
}

static uint64_t look_interval(const struct server_limits *limits)
{
    uint64_t least = LOOK_NS;
    const uint64_t times[] = {limits->idle_ns, limits->head_ns, limits->grace_ns,
                              limits->linger_ns};

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        least = times[i] / 4 < least ? times[i] / 4 : least;
    return least;
}

static void look(struct event_loop *loop)
{
    if (loop->now_ns < loop->next_look_ns)
        return;
    end_late(loop);
    if (loop->is_deaf && !atomic_load(&loop->server->is_quiet))
        listen_here(loop, true);
    loop->next_look_ns = loop->now_ns + look_interval(&loop->server->limits);
}

/* Milliseconds until something must be looked at. */
static int patience(const struct event_loop *loop)
{
    uint64_t now_ns = clock_ns();

    if (atomic_load(&loop->n) == 0 && !loop->is_deaf)
        return -1;
    if (loop->list[CONNECTION_READY].first || now_ns >= loop->next_look_ns)
        return 0;
    return (int)((loop->next_look_ns - now_ns) / 1000000) + 1;
}

/* -------------------------------------------------------------------------------- events */

static void take_woken(struct event_loop *loop)
{
    void *item[MAX_EVENTS];
    eventfd_t n;
    size_t n_taken;

    eventfd_read(loop->event, &n);
    do {
        n_taken = queue_take_ready(&loop->woken, item, MAX_EVENTS);
        for (size_t i = 0; i < n_taken; i++) {
            struct connection *c = item[i];

            atomic_store(&c->is_woken, false);
            if (c->is_over)
                free(c);
            else
                connection_woken(c);
        }
    } while (n_taken == MAX_EVENTS);
}

/* More answers would go beyond what may wait: first, make_room is to have its turn. */
static bool is_full(const struct event_loop *loop, size_t unsent_before)
{
    return loop->unsent_bytes > loop->most_unsent && loop->unsent_bytes > unsent_before;
}

/* One request of each that has sent more than one. */
static void take_ready(struct event_loop *loop, size_t unsent_before)
{
    const struct connection *last = loop->list[CONNECTION_READY].last;
    struct connection *c, *next;

    for (c = loop->list[CONNECTION_READY].first; c && !is_full(loop, unsent_before); c = next) {
        next = c == last ? NULL : c->after;
        connection_event(c, 0);
    }
}

/* Nothing new: what only waits, ends. */
static void calm_down(struct event_loop *loop)
{
    static const enum connection_state states[] = {CONNECTION_IDLE,   CONNECTION_HEAD,
                                                   CONNECTION_READY,  CONNECTION_BODY,
                                                   CONNECTION_STREAM, CONNECTION_LINGER};

    if (!loop->is_deaf)
        listen_here(loop, false);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        close_list(loop, states[i]);
}

static bool is_done(const struct event_loop *loop)
{
    const struct server *server = loop->server;

    if (!atomic_load(&server->is_closing))
        return false;
    return loop->now_ns > atomic_load(&server->last_ns) ||
           (loop->list[CONNECTION_WORK].first == NULL &&
            loop->list[CONNECTION_SEND].first == NULL);
}

/*
 * One round. An event is of a connection that there is: others than those with an event are
 * only closed after all events were looked at. Those that are left for the next round come
 * again; who filled this one waits for its client by then, so nobody waits for ever.
 */
static void turn(struct event_loop *loop)
{
    struct epoll_event event[MAX_EVENTS];
    int n = epoll_wait(loop->epoll, event, MAX_EVENTS, patience(loop));
    bool is_poked = false, has_new = false;
    size_t unsent_before = loop->unsent_bytes;

    loop->now_ns = clock_ns();
    for (int i = 0; i < n; i++) {
        if (event[i].data.ptr == loop)
            is_poked = true;
        else if (event[i].data.ptr == loop->server)
            has_new = true;
        else if (!is_full(loop, unsent_before))
            connection_event(event[i].data.ptr, event[i].events);
    }
    take_ready(loop, unsent_before);
    if (is_poked)
        take_woken(loop);
    if (has_new)
        accept_some(loop);
    make_room(loop);
    look(loop);
    if (atomic_load(&loop->server->is_quiet))
        calm_down(loop);
}

static void *run(void *arg)
{
    struct event_loop *loop = arg;

    while (!is_done(loop))
        turn(loop);
    return NULL;
}

/* Its part of what all threads may have. */
static unsigned part_of(unsigned all, unsigned n_parts)
{
    return all < n_parts ? 1 : all / n_parts;
}

/*
 * loop_new, loop_start -- one of so many loops, and its thread; when that begins all loops are
 * there.
 * Return 0 or ERR_IO; *loop is to be freed in any case.
 */
static int loop_new(struct event_loop **out, struct server *server, unsigned n_loops)
{
    const struct server_limits *limits = &server->limits;
    struct event_loop *loop = *out = mem_alloc(1, sizeof *loop);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = loop};

    loop->server = server;
    loop->slots.most = part_of(limits->connections, n_loops);
    loop->slots.most_of_address = part_of(limits->address_connections, n_loops);
    loop->most_streams = part_of(limits->streams, n_loops);
    loop->most_unsent = limits->unsent_bytes / n_loops;
    loop->now_ns = clock_ns();
    queue_init(&loop->woken, (size_t)server->limits.connections + RESERVE);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll < 0 || loop->event < 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->event, &event) != 0)
        return err_set(ERR_IO, "cannot wait for clients: %s", strerror(errno));
    return 0;
}

static int loop_start(struct event_loop *loop)
{
    listen_here(loop, true);
    return thread_start(&loop->thread, &loop->is_running, "snag-http", run, loop);
}

/* loop_join, loop_free -- wait for its thread to end; let go of what it has, when all have. */
static void loop_join(struct event_loop *loop)
{
    if (loop->is_running)
        pthread_join(loop->thread, NULL);
    loop->is_running = false;
}

static void loop_free(struct event_loop *loop)
{
    take_woken(loop);
    for (int state = CONNECTION_IDLE; state < CONNECTION_STATES; state++)
        close_list(loop, state);
    queue_release(&loop->woken);
    if (loop->epoll >= 0)
        close(loop->epoll);
    if (loop->event >= 0)
        close(loop->event);
    free(loop);
}

/* ------------------------------------------------------------------------------- the server */

#define SECOND_NS 1000000000ull
#define BACKLOG 1024
#define LAST_NS SECOND_NS /* to send what is left at the end */
#define MAX_CONNECTIONS 20000u
#define MIN_CONNECTIONS 64u
#define OTHER_FILES 192u /* at least: the run, its database, connections about to be closed */

/* As many as files may be open, but for an eighth that is for what else is open. */
static unsigned most_connections(void)
{
    uint64_t most = fs_allow_files();
    uint64_t others = most / 8 > OTHER_FILES ? most / 8 : OTHER_FILES;

    if (most < MIN_CONNECTIONS + others)
        return MIN_CONNECTIONS;
    return most - others > MAX_CONNECTIONS ? MAX_CONNECTIONS : (unsigned)(most - others);
}

struct server_limits server_limits_typical(void)
{
    unsigned connections = most_connections();

    return (struct server_limits){.connections = connections,
                                  .address_connections = connections / 4 * 3,
                                  .streams = connections / 2,
                                  .idle_ns = 30 * SECOND_NS,
                                  .head_ns = 10 * SECOND_NS,
                                  .grace_ns = 20 * SECOND_NS,
                                  .least_bytes_per_s = 16384,
                                  .linger_ns = 2 * SECOND_NS,
                                  .unfinished_bytes = 32u << 20,
                                  .unsent_bytes = 128u << 20};
}

/* Returns -1 with errno when it cannot listen there. */
static int open_socket(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* all connections inherit it */
    if (bind(fd, address, size) != 0 || listen(fd, BACKLOG) != 0) {
        int failed = errno;

        close(fd);
        errno = failed;
        return -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in6 at = {.sin6_port = 0}; /* the port of IPv4 is in the same place */
    socklen_t size = sizeof at;

    getsockname(fd, (struct sockaddr *)&at, &size);
    return ntohs(at.sin6_port);
}

static int listen_at(struct server *server, const char *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;

    if (!is_v6)
        inet_pton(AF_INET, address, &v4.sin_addr);
    server->fd = is_v6 ? open_socket((struct sockaddr *)&v6, sizeof v6)
                       : open_socket((struct sockaddr *)&v4, sizeof v4);
    if (server->fd < 0)
        return err_set(ERR_IO, "cannot listen on %s, port %u: %s", address, port,
                       strerror(errno));
    server->port = port_of(server->fd);
    return 0;
}

int server_open(struct server **out, const struct server_opts *opts)
{
    struct server *server = *out = mem_alloc(1, sizeof *server);
    int rc;

    server->handler = opts->handler;
    server->limits = opts->limits;
    if (getrandom(&server->seed, sizeof server->seed, 0) != (ssize_t)sizeof server->seed)
        server->seed = clock_ns();
    rc = listen_at(server, opts->address, opts->port);
    server->loop = mem_alloc(opts->n_threads, sizeof *server->loop);
    while (rc == 0 && server->n_loops < opts->n_threads)
        rc = loop_new(&server->loop[server->n_loops++], server, opts->n_threads);
    for (unsigned i = 0; rc == 0 && i < server->n_loops; i++)
        rc = loop_start(server->loop[i]);
    return rc;
}

static void poke_all(struct server *server)
{
    for (unsigned i = 0; i < server->n_loops; i++)
        loop_poke(server->loop[i]);
}

void server_quiesce(struct server *server)
{
    if (server == NULL)
        return;
    atomic_store(&server->is_quiet, true);
    poke_all(server);
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    server_quiesce(server);
    atomic_store(&server->last_ns, clock_ns() + LAST_NS);
    atomic_store(&server->is_closing, true);
    poke_all(server);
    for (unsigned i = 0; i < server->n_loops; i++)
        loop_join(server->loop[i]);
    for (unsigned i = 0; i < server->n_loops; i++)
        loop_free(server->loop[i]);
    if (server->fd >= 0)
        close(server->fd);
    free(server->loop);
    free(server);
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

unsigned server_connections(const struct server *server)
{
    unsigned n = 0;

    for (unsigned i = 0; i < server->n_loops; i++)
        n += atomic_load(&server->loop[i]->n);
    return n;
}
