/*
 * http -- what is served: the routes, the page, and the threads that answer.
 *
 * The threads of the server (http/server.h), each with a worker of its own, answer readers.
 * What writes or learns is handed to one of three more threads through a queue, and its
 * connection put aside until the answer is there; so labels never wait for a retrain, and
 * readers for neither.
 */
#ifndef SNAG_WEB_HTTP_H
#define SNAG_WEB_HTTP_H

#include "web/access.h"
#include "web/served.h"

#include <stdint.h>

struct http;

struct http_opts {
    const char *address; /* numeric, NULL: 127.0.0.1 */
    uint16_t port;       /* 0: one that is free */
    struct served_opts served;
};

/*
 * http_open -- open the run and listen. Answers from now on.
 *   http  out: close it in any case
 * Returns 0, ERR_USAGE for an address that is none, ERR_IO when the port is taken, or what
 * served_open does.
 */
int http_open(struct http **http, const struct http_opts *opts);

/* http_close -- finish what was begun, let go of all connections. NULL is harmless. */
void http_close(struct http *http);

/* http_port, http_access -- where it listens, and who may ask. */
uint16_t http_port(const struct http *http);
const struct access *http_access(const struct http *http);

/*
 * http_tick -- once in a while: keeps the connections of the event streams alive. Not needed
 * where a program is live.
 */
void http_tick(struct http *http);

#endif
