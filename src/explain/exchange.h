/*
 * exchange -- who was stopped, of two that wait for each other.
 *
 *     rank 0   [work][Send ...... stopped ....... ]
 *     rank 1   [work ......][Send ............... ]
 *
 * Nobody came late by much, and both calls took long: a large message moves only while both ends
 * are in MPI. With both there the operation takes as long as ever, some microseconds. So if one of
 * them was stopped, it is who had been in its send alone for longer than that; where neither had,
 * it is not known. That the send lasted says that the message was one that waits for its receiver.
 */
#ifndef SNAG_EXPLAIN_EXCHANGE_H
#define SNAG_EXPLAIN_EXCHANGE_H

#include "explain/trace_view.h"
#include "explain/waiting.h"

#include <stdint.h>

enum exchange_end { EXCHANGE_NOT_KNOWN, EXCHANGE_SELF, EXCHANGE_PARTNER };

/*
 * exchange_stopped -- which end was, of a call that waited for somebody who came in time.
 *   w           what the call waits for (waiting_of)
 *   typical_ns  what such a call takes; NAN or 0: not known, and then nothing is
 * O(log n + records in the calls of both).
 */
enum exchange_end exchange_stopped(const struct trace_view *view, uint32_t location,
                                   uint32_t row, const struct waiting *w, double typical_ns);

#endif
