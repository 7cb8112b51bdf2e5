#include "serve/measure.h"

#include "base/err.h"
#include "base/mem.h"
#include "explain/trace_view.h"
#include "serve/arrows.h"

#include <stdlib.h>

/* The calls around the one that is looked at, and where each lies in the window. */
struct open_calls {
    uint32_t *row;    /* [n] of ascending depth */
    uint32_t *inside; /* [n_regions] how many of these are of a region */
    uint32_t n, most;
};

void measure_init(struct measure *m, uint32_t n_regions)
{
    *m = (struct measure){.region = mem_alloc(n_regions, sizeof *m->region),
                          .n_regions = n_regions};
}

void measure_release(struct measure *m)
{
    free(m->region);
    *m = (struct measure){0};
}

static uint64_t part_in(const struct call_view *calls, uint32_t row, const uint64_t window[2])
{
    uint64_t enter = calls->enter_ns[row], leave = calls_leave(calls, row);
    uint64_t from = enter > window[0] ? enter : window[0];
    uint64_t until = leave < window[1] ? leave : window[1];

    return until > from ? until - from : 0;
}

static void close_until(struct open_calls *open, const struct call_view *calls, uint32_t depth)
{
    while (open->n > 0 && calls->depth[open->row[open->n - 1]] >= depth)
        open->inside[calls->region[open->row[--open->n]]]--;
}

static int add_call(struct measure *m, struct open_calls *open, const struct call_view *calls,
                    uint32_t row, const uint64_t window[2])
{
    uint64_t part = part_in(calls, row, window);
    uint32_t region = calls->region[row];

    close_until(open, calls, calls->depth[row]);
    if (region >= m->n_regions || open->n == open->most)
        return err_set(ERR_FORMAT, "damaged run: calls/ has calls that make no tree");
    m->region[region].calls++;
    m->region[region].own_ns += part;
    if (open->n > 0) {
        uint64_t *own = &m->region[calls->region[open->row[open->n - 1]]].own_ns;

        *own -= part < *own ? part : *own;
    }
    if (open->inside[region]++ == 0)
        m->region[region].total_ns += part;
    open->row[open->n++] = row;
    return 0;
}

static void add_messages(struct measure *m, const struct columns *columns,
                         const struct levels *levels, uint32_t location,
                         const uint64_t window[2])
{
    struct call_view calls = columns_view(columns, location);
    size_t until = arrows_from(columns, levels, location, window[1]);

    for (size_t i = arrows_from(columns, levels, location, window[0]); i < until; i++) {
        const struct message *message = &calls.message[i];

        if (message->kind == MESSAGE_SEND) {
            m->sent++;
            m->sent_bytes += message->bytes;
        } else {
            m->received++;
            m->received_bytes += message->bytes;
        }
    }
}

int measure_add(struct measure *m, const struct columns *columns, const struct levels *levels,
                uint32_t location, const uint64_t window_ns[2])
{
    struct call_view calls = columns_view(columns, location);
    uint32_t end = window_ns[1] > 0 ? calls_until(&calls, window_ns[1] - 1) : 0;
    struct open_calls open = {.row = mem_alloc(calls.n_depths, sizeof *open.row),
                              .inside = mem_alloc(m->n_regions, sizeof *open.inside),
                              .most = calls.n_depths};
    int rc = 0;

    for (uint32_t i = 0; i < end && rc == 0;) {
        uint32_t inside = calls.subtree_len[i];

        if (calls_leave(&calls, i) <= window_ns[0] && calls.enter_ns[i] < window_ns[0]) {
            i += inside > 0 && inside <= calls.n - i ? inside
                                                     : 1; /* nothing inside reaches it */
            continue;
        }
        rc = add_call(m, &open, &calls, i++, window_ns);
    }
    add_messages(m, columns, levels, location, window_ns);
    free(open.row);
    free(open.inside);
    return rc;
}
