/*
 * prov_pg_keep -- backups of a store in PostgreSQL and dropping what is in one, as prov_keep.h
 * has it for directories.
 *
 * A backup is a store in a directory, with one shard, so that snag reads it without a database.
 * It is read back and compared with the database, row by row and as of the same moment, before
 * anything is marked. A mark says up to which row a run is in the backup: when more rows come,
 * from a spool that waited somewhere, it is void. Only runs whose mark holds are dropped.
 *
 * A run is over when it says so, or when no sender is connected: senders hold a lock on the
 * number of their run (PROV_PG_ALIVE).
 */
#ifndef SNAG_PROV_PROV_PG_KEEP_H
#define SNAG_PROV_PROV_PG_KEEP_H

#include "prov/prov_keep.h"

/* Which runs of a database an URL is about. */
struct prov_pg_asked {
    char *url;           /* without them; free it, also on errors */
    int64_t first, last; /* 0: all */
};

/*
 * prov_pg_ask -- URL, URL#RUN or URL#FIRST-LAST.
 *   run  when the URL does not say; 0: all
 * Returns 0 or ERR_USAGE.
 */
int prov_pg_ask(const char *text, int64_t run, struct prov_pg_asked *asked);

/* Of these runs; bytes in use are estimated from the rows, with their indexes. */
extern const struct prov_keep_ops prov_pg_keep;

/* prov_pg_is_written -- whether a sender of one of these runs is connected; false, too, when
 * the database does not answer. */
bool prov_pg_is_written(const char *url);

#endif
