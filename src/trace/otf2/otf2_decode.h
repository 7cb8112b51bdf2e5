/* otf2_decode -- the bytes of an event file become events. */
#ifndef SNAG_TRACE_OTF2_DECODE_H
#define SNAG_TRACE_OTF2_DECODE_H

#include "trace/otf2/otf2_events.h"
#include "trace/otf2/otf2_file.h"

/*
 * otf2_decode -- decode the next events of a file.
 *   file    open
 *   events  where they go; otf2_events_into says how many may
 * Returns how many records there were, fewer than `most` at the end of the file. What could not
 * be read is counted in *file. Time O(bytes), about 4 ns a record.
 */
size_t otf2_decode(struct otf2_file *file, struct otf2_events *events);

#endif
