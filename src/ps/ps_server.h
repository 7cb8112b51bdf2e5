/*
 * ps_server -- the sockets and threads of a parameter server; what it knows is in ps_store.
 *
 *     clients --tcp--> ROUTER -- proxy -- DEALER --inproc--> worker 0, 1, ..
 *                                         publisher: every interval, cut and publish
 *
 * Any client may send any bytes, vanish in the middle of them, or never read its answers: it
 * costs the others nothing but time.
 */
#ifndef SNAG_PS_SERVER_H
#define SNAG_PS_SERVER_H

#include "ps/ps_store.h"

struct ps_server;

struct ps_server_opts {
    struct ps_store_opts store; /* n_workers 0: 2 */
    const char *listen;         /* "tcp://127.0.0.1:5559"; port * for any; NULL: loopback */
    const char *key_file;       /* see ps_key, made if it is not there; or NULL */
    bool is_open;               /* may listen beyond this machine without a key */
    const char *upstream;       /* address of the server above, or NULL; wants a snapshot */
    unsigned interval_ms;       /* between publications, 0: 1000 */
};

/*
 * ps_server_open -- bind and start all threads.
 * Returns 0; ERR_USAGE for an address beyond this machine without a key; ERR_IO when it
 * cannot be bound; what ps_store_open and ps_key_read return.
 */
int ps_server_open(struct ps_server **server, const struct ps_server_opts *opts);

/* ps_server_address -- "tcp://127.0.0.1:43210", what clients connect to. */
const char *ps_server_address(const struct ps_server *server);

void ps_server_counts(struct ps_server *server, struct ps_counts *counts);

/*
 * ps_server_stop -- answer no more, publish a last time with the snapshot, and tell a server
 * above the rest, for some seconds. Its counts are the last ones then.
 * Returns 0, or ERR_IO when that snapshot could not be written.
 */
int ps_server_stop(struct ps_server *server);

/* ps_server_close -- stop and free. NULL is harmless. Returns what stopping did, or 0. */
int ps_server_close(struct ps_server *server);

#endif
