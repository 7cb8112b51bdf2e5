/*
 * async_spans -- what the format calls asynchronous: spans that begin and end by an id,
 * whatever the thread ("b" and "e", or "S" and "F").
 *
 * Who begins such a span need not be there at its end, and a thread has many of them open at
 * once, so they are on tracks of their own: of each process and category the first track that
 * is free gets the next id, with all that is nested in it. Two spans of an id that cross are on
 * two tracks.
 *
 *     id 7   [ read      [ parse ] ]            track 0   [ read      [ parse ] ]
 *     id 8       [ read ]                       track 1       [ read ]
 *     id 9                           [ read ]   track 0                         [ read ]
 *
 *     async_spans_add(spans, &event);           as they come
 *     async_spans_end(spans, ...);              the last one was added
 */
#ifndef SNAG_TRACE_ASYNC_SPANS_H
#define SNAG_TRACE_ASYNC_SPANS_H

#include "base/idmap.h"
#include "trace/chrome/marks.h"
#include "trace/quality.h"

#include <stdbool.h>
#include <stdint.h>

/* A begin or an end. */
struct async_event {
    uint32_t part, process; /* of the trace */
    const char *category;
    struct key id;    /* of the category, in its part */
    bool is_local;    /* the id means something else in other processes */
    struct mark mark; /* phase 'b' or 'e'; ref: region, of an 'e' perhaps ANY_REGION */
};

struct async_spans;

/* async_spans_new -- empty; budget as of marks_new. */
struct async_spans *async_spans_new(size_t budget);
void async_spans_free(struct async_spans *spans);

/* async_spans_add -- O(1). */
void async_spans_add(struct async_spans *spans, const struct async_event *event);

/* One span, an X; track counts from 0 in its process and category, which is a number. */
struct async_span {
    uint32_t process, category, track;
    struct mark mark;
};

/*
 * async_spans_end -- hand on all spans, those of a track in order of time. An end belongs to
 * the last begin of its name with that id, in its process if there is one, else in another of
 * its part. A begin without end lasts until the last time of its part.
 *   last_ns  by part
 *   quality  counts begins and ends without their other one
 * Returns 0 or ERR_IO. O(n log n).
 */
int async_spans_end(struct async_spans *spans, const int64_t *last_ns, struct quality *quality,
                    void (*take)(void *ctx, const struct async_span *span), void *ctx);

/* async_spans_category -- its name. */
const char *async_spans_category(const struct async_spans *spans, uint32_t category);

#endif
