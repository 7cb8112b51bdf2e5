/*
 * archive -- the OTF2 archive: one kind of sink for records, and the definitions at the end.
 *
 * Only here and in the definitions (archive_definitions.c) libotf2 is called. Every rank opens
 * the archive and writes the files of its own locations; the definitions of the whole and the
 * anchor file are written by rank 0, or in need by whoever claims that (archive_lead).
 *
 * A location is a thread: number thread << 32 | rank, so that of each rank's master thread is
 * the rank.
 */
#ifndef SNAG_TRACER_ARCHIVE_H
#define SNAG_TRACER_ARCHIVE_H

#include "offsets.h"
#include "recorder.h"
#include "unify.h"

#include <stdbool.h>

#define ARCHIVE_NAME "traces"

extern const struct sink archive_sink;

/* archive_open -- by all of the team. Returns false after a complaint. */
bool archive_open(const char *directory);

/* archive_location -- what was written for this recorder; false if nothing ever was. */
bool archive_location(const struct recorder *r, struct location *location);

/*
 * archive_end_events -- complete the event files of this process and write its local
 * definitions: how its numbers map to those of the archive, and its clock.
 *   newest  the recorders, linked by `older`
 *   offset  [n_offsets] measured
 * Returns false after a complaint.
 */
bool archive_end_events(struct recorder *newest, const struct unified_map *map,
                        const struct clock_offset *offset, unsigned n_offsets);

/* archive_lead -- this process writes the definitions and the anchor, whatever its rank. */
void archive_lead(void);

/*
 * archive_define -- write the definitions of the whole archive. Rank 0, or who leads.
 *   n_ranks  the size of MPI_COMM_WORLD, even if not all are in u
 */
bool archive_define(const struct unified *u, uint32_t n_ranks);

/* archive_close -- done. Needs no MPI. */
bool archive_close(void);

#endif
