/*
 * metrics_server -- /metrics and /healthz of a process that serves nothing else by HTTP: one
 * thread beside the others.
 *
 * Who may ask: as access.h says. Beyond loopback /metrics wants the token, as a bearer or in
 * the URL; /healthz does not, as whoever restarts the process should not have to know it.
 */
#ifndef SNAG_HTTP_METRICS_SERVER_H
#define SNAG_HTTP_METRICS_SERVER_H

#include "http/access.h"
#include "http/metrics.h"

#include <stdbool.h>
#include <stdint.h>

#define METRICS_WHY_SIZE 256

struct metrics_server;

struct metrics_server_opts {
    const char *address;    /* numeric */
    uint16_t port;          /* 0: one that is free */
    struct metrics_job job; /* its texts stay; started_ns is now */
    void *ctx;              /* of both of these, which are called by the thread */
    void (*add)(void *ctx, struct metrics *metrics);
    bool (*is_well)(void *ctx, char why[METRICS_WHY_SIZE]); /* else says why not */
};

/*
 * metrics_server_open -- listen and answer.
 *   server  out: close it in any case
 * Returns 0, or what access_init and server_open do.
 */
int metrics_server_open(struct metrics_server **server, const struct metrics_server_opts *opts);

/* metrics_server_close -- nothing is called any more when it returns. NULL is harmless. */
void metrics_server_close(struct metrics_server *server);

/* metrics_server_port, metrics_server_access -- where it listens, and who may ask. */
uint16_t metrics_server_port(const struct metrics_server *server);
const struct access *metrics_server_access(const struct metrics_server *server);

#endif
