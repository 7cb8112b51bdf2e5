/*
 * archive -- an OTF2 archive whose event files are there (tracer_otf2.h) gets its definitions:
 * those of each location, of the whole, and the anchor file, by libotf2.
 */
#ifndef SNAG_TRACE_ARCHIVE_H
#define SNAG_TRACE_ARCHIVE_H

#include "trace/tracer/recording.h"

#define ARCHIVE_NAME "traces"

/* A location, whose file is complete. Times are of its process's clock. */
struct archived_location {
    const struct recorded_location *from;
    uint64_t n_events, first_ns, last_ns;
    uint64_t n_lost; /* calls that are not in it */
};

struct archived_rank {
    const struct recording *from;
    struct unified_map map;
    struct archived_location *location; /* [from->n_locations] */
    uint64_t n_lost;                    /* calls that are in no location of it */
};

/*
 * archive_write -- write them; what an earlier attempt has left is replaced.
 *   directory  of the archive
 *   workplace  a name in the same file system, for a directory in the meantime
 *   rank       [n] the processes there are, by rank, at least one
 * Returns 0, or ERR_IO if not all of it could be written: then there is no anchor file, or the
 * old one.
 */
int archive_write(const char *directory, const char *workplace, const struct unified *u,
                  const struct archived_rank *rank, size_t n);

#endif
