/*
 * ps_ask -- all that a parameter server has published, asked for once: as its snapshot would
 * have it, but for what it knows of its clients, of which only the number is told.
 */
#ifndef SNAG_PS_PS_ASK_H
#define SNAG_PS_PS_ASK_H

#include "ps/ps_snapshot.h"

/* ps_ask_is_address -- of a server, and not the name of a file. */
bool ps_ask_is_address(const char *text);

#define PS_ASK_MS 5000 /* for a command to wait for an answer */

/*
 * ps_ask -- ask a server.
 *   key_file    of the job, or NULL
 *   timeout_ms  to wait for the answer
 *   out         ps_snapshot_release in any case
 *   n_clients   out: clients that have told something so far
 * Returns 0, ERR_IO when nobody answers, ERR_UNSUPPORTED for a server of another version,
 * ERR_RANGE for one that knows more than a frame holds, or as ps_socket_connect.
 */
int ps_ask(const char *address, const char *key_file, int timeout_ms, struct ps_snapshot *out,
           uint32_t *n_clients);

/* ps_ask_any -- the same of an address, or of a snapshot in a file. */
int ps_ask_any(const char *source, const char *key_file, int timeout_ms,
               struct ps_snapshot *out, uint32_t *n_clients);

#endif
