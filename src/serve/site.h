/*
 * site -- what is served: the routes, the page, and the threads that answer.
 *
 * The threads of the server (http/server.h), each with a worker of its own, answer readers.
 * What writes, learns or is anybody's SQL is handed to one of four more threads through a queue,
 * and its connection put aside until the answer is there; so labels never wait for a retrain,
 * and readers for neither.
 */
#ifndef SNAG_SERVE_SITE_H
#define SNAG_SERVE_SITE_H

#include "http/access.h"
#include "serve/served.h"

#include <stdint.h>

struct site;

#define SITE_MAX_ROOMS 8u

struct site_opts {
    const char *address; /* numeric, NULL: 127.0.0.1 */
    uint16_t port;       /* 0: one that is free */
    struct served_opts served;
    const struct served_opts
        *room;      /* [n_rooms] runs with pages below /runs/0/, /runs/1/, ... */
    size_t n_rooms; /* at most SITE_MAX_ROOMS */
};

/*
 * site_open -- open the run and listen. Answers from now on.
 *   site  out: close it in any case
 * Returns 0, ERR_USAGE for an address that is none, ERR_IO when the port is taken, or what
 * served_open does.
 */
int site_open(struct site **site, const struct site_opts *opts);

/* site_close -- finish what was begun, let go of all connections. NULL is harmless. */
void site_close(struct site *site);

/* site_port, site_access -- where it listens, and who may ask. */
uint16_t site_port(const struct site *site);
const struct access *site_access(const struct site *site);

/*
 * site_tick -- once in a while: keeps the connections of the event streams alive. Not needed
 * where a program is live.
 */
void site_tick(struct site *site);

#endif
