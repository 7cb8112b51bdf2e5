/*
 * ps_tables -- what a parameter server knows, as tables to ask.
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

/*
 * ps_tables_open -- a database in memory.
 *   db  out: sqlite3_close it; NULL on failure
 * Returns 0 or ERR_DATABASE. O(functions + statistics).
 */
int ps_tables_open(const struct ps_snapshot *snapshot, uint32_t n_clients, sqlite3 **db);

/*
 * ps_tables_of -- the same of what a server knows, or of its snapshot in a file.
 *   source    address or file, as of ps_ask_any
 *   key_file  of the job, or NULL
 *   db        out: as above
 * Returns 0, ERR_DATABASE, or as ps_ask_any.
 */
int ps_tables_of(const char *source, const char *key_file, sqlite3 **db);

#endif
