/*
 * event_files -- the event files of this process: one kind of sink for records.
 *
 * A location is a thread: number thread << 32 | rank, so that of each rank's master thread is
 * the rank. Its records are in slots that outlive the process; when these are full they become
 * OTF2 events in a chunk that does, too, and a chunk that is full is written to the file
 * (tracer_state.h). Room on the disk for what is being filled is kept beforehand, there and in
 * the file: so a thread for which there is no more ends its events in good order, the calls
 * that are in them with their leaves, and counts what it loses; and who completes the file
 * (snag) needs no room.
 */
#ifndef SNAG_TRACER_EVENT_FILES_H
#define SNAG_TRACER_EVENT_FILES_H

#include "recorder.h"

extern const struct sink event_files_sink;

/* event_files_note -- what is known of a recorder besides its records, for whoever reads it. */
void event_files_note(const struct recorder *r);

/* event_files_lost -- calls that are in no file, of all threads; event_files_error -- why, an
 * errno. When nothing is recorded any more. */
uint64_t event_files_lost(const struct recorder *newest);
int event_files_error(const struct recorder *newest);

#endif
