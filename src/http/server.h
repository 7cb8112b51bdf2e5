/*
 * server -- an HTTP/1.1 server: sockets, threads, and the limits of what clients can take.
 *
 *     server_open(&server, &opts);       -- listens and answers from now on
 *     server_quiesce(server);            -- takes nothing new; what was begun is answered
 *     server_close(server);
 *
 * A few threads, each around an epoll of its own, read requests and send answers; a connection
 * belongs to one of them. What a request means is the handler's business (struct
 * server_handler, connection.h). A client may be slow, silent or hostile: there is a time limit
 * for everything that it has to do, a budget for what is kept of unfinished requests, and when
 * connections run short the one that has kept us waiting longest makes room for a new one.
 */
#ifndef SNAG_HTTP_SERVER_H
#define SNAG_HTTP_SERVER_H

#include "http/connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

/* What clients may take. */
struct server_limits {
    unsigned connections;         /* open at once */
    unsigned address_connections; /* of them from one address; the rest is for others */
    unsigned streams;             /* of them that stream */
    uint64_t idle_ns;             /* between two requests */
    uint64_t head_ns;             /* from the first byte of a head to its last */
    uint64_t grace_ns;            /* to send a body, or take an answer, beside ... */
    uint64_t least_bytes_per_s;   /* ... the time it takes at this rate */
    uint64_t linger_ns;           /* to close after the last answer */
    size_t unfinished_bytes;      /* of all unfinished requests, beyond 4 KiB each */
    size_t unsent_bytes;          /* of all answers that are not taken */
};

/*
 * server_limits_typical -- for a person's page, or some hundred: as many connections as files
 * may be open, with some left for other things, 20,000 at most. Raises the soft limit of files.
 */
struct server_limits server_limits_typical(void);

struct server_opts {
    const char *address; /* numeric */
    uint16_t port;       /* 0: one that is free */
    unsigned n_threads;
    struct server_limits limits;
    struct server_handler handler;
};

/*
 * server_open -- listen and answer.
 *   server  out: close it in any case
 * Returns 0, or ERR_IO when it cannot listen there or start its threads.
 */
int server_open(struct server **server, const struct server_opts *opts);

/*
 * server_quiesce -- no new connection and no new request; who only waits is let go of, streams
 * end. What was begun is answered by whoever answers it. NULL is harmless.
 */
void server_quiesce(struct server *server);

/*
 * server_close -- when nobody but its own threads answers any more: sends what can be sent
 * within moments, and frees it all. NULL is harmless.
 */
void server_close(struct server *server);

uint16_t server_port(const struct server *server);

/* server_connections -- how many are open now. */
unsigned server_connections(const struct server *server);

#endif
