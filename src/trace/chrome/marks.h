/*
 * marks -- the records of many threads, in any order, back in order of time: in bounded memory.
 *
 * Chrome's format knows no order, so nothing can be handed on before the whole file has been
 * seen. What has been seen is kept sorted in runs, in a temporary file as soon as it is more
 * than a budget; reading a thread merges its runs:
 *
 *     marks_push(&marks, thread, &mark);          as they come
 *     marks_end(&marks);                          the last one was pushed
 *     cursor = marks_cursor_new(&marks, &thread, 1);
 *     while ((mark = marks_cursor_next(cursor)) != NULL)
 *         ...
 *
 * Cursors of different threads of ours may be used at the same time.
 */
#ifndef SNAG_TRACE_MARKS_H
#define SNAG_TRACE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKS_NO_LINK UINT32_MAX

/* One record; an X is one of these until events are made of it. */
struct mark {
    int64_t time_ns, end_ns; /* end_ns of an X only */
    uint32_t ref;   /* region; or the message, for 's' and 'f'; or the value, for 'C' */
    uint32_t link;  /* what the call takes part in, or MARKS_NO_LINK */
    uint32_t order; /* of all records, as they came */
    uint64_t args;  /* of a call: where they are kept (chrome_trace.h) */
    char phase;
};

struct marks;

/*
 * marks_new -- empty.
 *   budget  marks that are kept in memory, at least 1
 */
struct marks *marks_new(size_t budget);
void marks_free(struct marks *marks);

/* marks_push -- one more of a thread, of which there are as many as the highest number says. */
void marks_push(struct marks *marks, uint32_t thread, const struct mark *mark);

/*
 * marks_end -- there are no more.
 * Returns 0, or ERR_IO when the temporary file ($TMPDIR, /tmp) could not be written.
 */
int marks_end(struct marks *marks);

struct marks_cursor;

/*
 * marks_cursor_new -- what n threads have pushed together, by time and then by order.
 *   shift_ns  (n) added to the times of each, or NULL: nothing
 */
struct marks_cursor *marks_cursor_new(const struct marks *marks, const uint32_t *thread,
                                      const int64_t *shift_ns, uint32_t n);
void marks_cursor_free(struct marks_cursor *cursor);

/* marks_cursor_next -- valid until the next call; NULL at the end. O(log of the runs). */
const struct mark *marks_cursor_next(struct marks_cursor *cursor);

/* marks_cursor_is_broken -- true when it ended early, as the file could not be read. */
bool marks_cursor_is_broken(const struct marks_cursor *cursor);

#endif
