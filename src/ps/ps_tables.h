/*
 * ps_tables -- what a parameter server knows, asked for once: as its snapshot would have it,
 * but for what it knows of its clients, of which only the number is told (ps_ask); and as
 * tables to ask.
 *
 *     server      version, round, clients
 *     functions   fid, program, name, calls, and of their durations min_ns, max_ns, mean_ns,
 *                 stddev_ns, total_ns, median_ns, p90_ns, p99_ns; NULL where nothing is known
 *     statistics  program, rank (NULL: of a function, on all ranks), function (NULL: of a rank,
 *                 in all functions), name (calls, anomalies: per step; or a counter),
 *                 n (values), min, max, sum, mean, stddev
 */
#ifndef SNAG_PS_PS_TABLES_H
#define SNAG_PS_PS_TABLES_H

#include "ps/ps_snapshot.h"

#include <sqlite3.h>

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

/* ps_ask_any -- the same of an address, within PS_ASK_MS, or of a snapshot in a file. */
int ps_ask_any(const char *source, const char *key_file, struct ps_snapshot *out,
               uint32_t *n_clients);

/*
 * ps_tables_of -- the same of what a server knows, or of its snapshot in a file.
 *   source    address or file, as of ps_ask_any
 *   key_file  of the job, or NULL
 *   db        out: as above
 * Returns 0, ERR_DATABASE, or as ps_ask_any.
 */
int ps_tables_of(const char *source, const char *key_file, sqlite3 **db);

#endif
