#include "serve/collective_waits.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "explain/trace_view.h"

#include <stdlib.h>

void collective_waits_release(struct collective_waits *c)
{
    free(c->met);
    free(c->part);
    *c = (struct collective_waits){0};
}

/* ---------------------------------------------------------------------- one that took place */

static bool is_sound(const struct call_view *calls, const struct definitions *defs,
                     const struct collective *c)
{
    return c->instance != NO_INSTANCE && c->comm < defs->n_comms && c->call < calls->n &&
           calls->region[c->call] < defs->names.n && c->begin_ns <= c->end_ns;
}

static void add_part(struct collective_waits *out, uint32_t location,
                     const struct collective *c, uint32_t met)
{
    mem_grow(&out->part, &out->part_cap, out->n_parts + 1, sizeof *out->part);
    out->part[out->n_parts++] = (struct collective_part){.location = location,
                                                         .call = c->call,
                                                         .begin_ns = c->begin_ns,
                                                         .end_ns = c->end_ns,
                                                         .sent_bytes = c->sent_bytes,
                                                         .received_bytes = c->received_bytes,
                                                         .met = met};
}

/* All that is known of who took part. */
static void gather_parts(struct collective_waits *out, const struct columns *columns,
                         const struct definitions *defs, const struct collective *of,
                         uint32_t met)
{
    for (uint32_t l = 0; l < columns->n_locations; l++) {
        struct call_view calls;
        const struct collective *part;

        if (columns->range[l].n_collectives == 0)
            continue;
        calls = columns_view(columns, l);
        part = calls_collective_part(&calls, of);
        if (part && is_sound(&calls, defs, part))
            add_part(out, l, part, met);
    }
}

static const struct collective_part *last_of(const struct collective_part *part, size_t n)
{
    const struct collective_part *last = part;

    for (size_t i = 1; i < n; i++)
        if (part[i].begin_ns > last->begin_ns)
            last = &part[i];
    return last;
}

static const struct collective_part *root_of(const struct collective_part *part, size_t n,
                                             const struct definitions *defs, uint32_t root)
{
    for (size_t i = 0; i < n; i++)
        if (defs->location[part[i].location].rank == root)
            return &part[i];
    return NULL;
}

/* Whether nobody left it before the last one was in. */
static bool has_met(const struct collective_part *part, size_t n, uint64_t last_ns)
{
    for (size_t i = 0; i < n; i++)
        if (part[i].end_ns < last_ns)
            return false;
    return true;
}

/* Who is waited for, and who waits: *waits is set for each part. NULL: nobody waits. */
static const struct collective_part *awaited(const struct collective *c,
                                             struct collective_part *part, size_t n,
                                             const struct definitions *defs)
{
    const struct collective_part *last = last_of(part, n),
                                 *root = root_of(part, n, defs, c->root);

    switch (c->kind) {
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_ALL_TO_ALL:
        return last;
    case COLLECTIVE_ONE_TO_ALL:
        return root;
    case COLLECTIVE_ALL_TO_ONE:
        return root ? last : NULL;
    default:
        return has_met(part, n, last->begin_ns) ? last : NULL;
    }
}

static void measure_waits(const struct collective *c, struct collective_met *met,
                          struct collective_part *part, size_t n,
                          const struct definitions *defs)
{
    const struct collective_part *who = awaited(c, part, n, defs);
    const struct collective_part *named = who ? who : last_of(part, n);

    met->last_location = named->location;
    met->last_call = named->call;
    met->last_ns = named->begin_ns;
    for (size_t i = 0; i < n; i++) {
        bool can_wait = c->kind != COLLECTIVE_ALL_TO_ONE ||
                        defs->location[part[i].location].rank == c->root;
        uint64_t until = part[i].end_ns < met->last_ns ? part[i].end_ns : met->last_ns;

        if (who && can_wait && until > part[i].begin_ns)
            part[i].wait_ns = until - part[i].begin_ns;
        met->wait_ns += part[i].wait_ns;
        met->sent_bytes += part[i].sent_bytes;
        met->received_bytes += part[i].received_bytes;
    }
}

/* Appends it, with all of its parts. */
static void add_met(struct collective_waits *out, const struct columns *columns,
                    const struct definitions *defs, uint32_t location,
                    const struct collective *c)
{
    struct call_view calls = columns_view(columns, location);
    const struct comm *comm = &defs->comm[c->comm];
    struct collective_met *met = &out->met[out->n];
    size_t first = out->n_parts, n;

    gather_parts(out, columns, defs, c, (uint32_t)out->n);
    n = out->n_parts - first;
    if (n == 0) /* damaged: it is not even where it is */
        return;
    *met = (struct collective_met){.region = calls.region[c->call],
                                   .comm = c->comm,
                                   .kind = c->kind,
                                   .n_members = comm->n_members + comm->n_remote,
                                   .n_known = (uint32_t)n};
    measure_waits(c, met, &out->part[first], n, defs);
    out->n++;
}

/* --------------------------------------------------------------------------------- a window */

/* A collective that was seen on a location of the window. */
struct seen {
    uint32_t location;
    const struct collective *at;
};

struct sight {
    const struct columns *columns;
    const struct definitions *defs;
    const struct collective_waits_window *window;
    struct seen *seen; /* [n] each once */
    size_t n, cap;
    struct idmap known;
};

/* Records of a location that reach into the window: *begin .. *end - 1. */
static void find_records(const struct sight *s, uint32_t location, size_t *begin, size_t *end)
{
    struct call_view calls = columns_view(s->columns, location);

    *begin = calls_collective_from(&calls, s->window->begin_ns);
    *end = calls_collective_from(&calls, s->window->end_ns);
    *end += *end < calls.n_collectives; /* it ends behind the window, and may begin in it */
}

static void look_at(struct sight *s, uint32_t location, size_t begin, size_t end, size_t step)
{
    struct call_view calls = columns_view(s->columns, location);

    for (size_t i = begin; i < end; i += step) {
        const struct collective *c = &calls.collective[i];
        size_t n_known = s->known.n;

        if (!is_sound(&calls, s->defs, c) || c->begin_ns > s->window->end_ns ||
            idmap_add(&s->known, key_pair(c->instance, 0)) < n_known)
            continue;
        mem_grow(&s->seen, &s->cap, s->n + 1, sizeof *s->seen);
        s->seen[s->n++] = (struct seen){location, c};
    }
}

/* Where there are too many records, some of the location that has most. Returns how many there
 * are, of which all were looked at or not. */
static uint64_t look_around(struct sight *s, bool *is_estimate)
{
    const struct collective_waits_window *w = s->window;
    size_t begin, end, n = 0, most = 0;
    uint32_t busiest = 0;

    for (uint32_t k = 0; k < w->n_locations; k++) {
        find_records(s, w->location[k], &begin, &end);
        n += end - begin;
        if (end - begin > most) {
            most = end - begin;
            busiest = w->location[k];
        }
    }
    *is_estimate = n > COLLECTIVE_WAITS_ALL;
    if (*is_estimate) {
        find_records(s, busiest, &begin, &end);
        look_at(s, busiest, begin, end, most / COLLECTIVE_WAITS_ALL + 1);
        return most;
    }
    for (uint32_t k = 0; k < w->n_locations; k++) {
        find_records(s, w->location[k], &begin, &end);
        look_at(s, w->location[k], begin, end, 1);
    }
    return s->n;
}

static int by_begin(const void *a, const void *b)
{
    const struct seen *p = a, *q = b;

    if (p->at->begin_ns != q->at->begin_ns)
        return p->at->begin_ns < q->at->begin_ns ? -1 : 1;
    return (p->at->instance > q->at->instance) - (p->at->instance < q->at->instance);
}

static size_t most_looked_up(const struct columns *columns, size_t most)
{
    size_t n_locations = 1, fit;

    for (uint32_t l = 0; l < columns->n_locations; l++)
        n_locations += columns->range[l].n_collectives > 0;
    fit = COLLECTIVE_WAITS_LOOKUPS / n_locations + 1;
    return fit < most ? fit : most;
}

/* Parts on other locations are counted, and not shown. */
static void drop_others(struct collective_waits *out, const struct columns *columns,
                        const struct collective_waits_window *window)
{
    bool *is_wanted = mem_alloc(columns->n_locations, sizeof *is_wanted);
    size_t n = 0;

    for (uint32_t k = 0; k < window->n_locations; k++)
        is_wanted[window->location[k]] = true;
    for (size_t i = 0; i < out->n_parts; i++)
        if (is_wanted[out->part[i].location])
            out->part[n++] = out->part[i];
    out->n_parts = n;
    free(is_wanted);
}

void collective_waits_of(struct collective_waits *out, const struct columns *columns,
                         const struct definitions *defs,
                         const struct collective_waits_window *window, size_t most)
{
    struct sight s = {.columns = columns, .defs = defs, .window = window};
    size_t n;

    out->total = look_around(&s, &out->is_estimate);
    if (s.n > 0)
        qsort(s.seen, s.n, sizeof *s.seen, by_begin);
    most = most_looked_up(columns, most);
    n = s.n < most ? s.n : most;
    out->met = mem_alloc(n, sizeof *out->met);
    for (size_t i = 0; i < n; i++) {
        const struct seen *seen = &s.seen[i * s.n / n];

        add_met(out, columns, defs, seen->location, seen->at);
    }
    drop_others(out, columns, window);
    free(s.seen);
    idmap_release(&s.known);
}

/* --------------------------------------------------------------------------------- a call */

static int by_wait(const void *a, const void *b)
{
    const struct collective_part *p = a, *q = b;

    if (p->wait_ns != q->wait_ns)
        return p->wait_ns > q->wait_ns ? -1 : 1;
    return (p->location > q->location) - (p->location < q->location);
}

bool collective_waits_of_call(struct collective_waits *out, const struct columns *columns,
                              const struct definitions *defs, uint32_t location, uint32_t call)
{
    struct call_view calls = columns_view(columns, location);
    uint64_t leave = calls_leave(&calls, call);

    for (size_t i = calls_collective_from(&calls, calls.enter_ns[call]);
         i < calls.n_collectives && calls.collective[i].end_ns <= leave; i++) {
        const struct collective *c = &calls.collective[i];

        if (c->call != call || !is_sound(&calls, defs, c))
            continue;
        out->met = mem_alloc(1, sizeof *out->met);
        add_met(out, columns, defs, location, c);
        out->total = out->n;
        if (out->n_parts > 0)
            qsort(out->part, out->n_parts, sizeof *out->part, by_wait);
        return out->n > 0;
    }
    return false;
}
