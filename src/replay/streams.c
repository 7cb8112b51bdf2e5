/* A call is an operation when it has no calls inside, or is known to depend on another. */
#include "replay/streams.h"

#include "base/mem.h"
#include "explain/trace_view.h"
#include "explain/waiting.h"
#include "replay/syncs_needs.h"

#include <stdlib.h>
#include <string.h>

#define OVERLAPPING 100u /* one operation in so many: they are of several streams */

/* ------------------------------------------------------------------------- dependencies */

static size_t n_dependencies(const struct streams *t)
{
    return t->s->view->n_dependencies + t->n_waits;
}

static void add_wait(struct streams *t, uint32_t location, uint32_t row,
                     struct device_operation on, enum dependency_kind kind)
{
    const struct trace_view *view = t->s->view;
    const struct call_view *calls = &view->calls[location], *others = &view->calls[on.location];

    *mem_push(&t->waits, &t->n_waits, &t->wait_cap) =
        (struct dependency){.begin_ns = calls->enter_ns[row],
                            .on_begin_ns = others->enter_ns[on.row],
                            .location = location,
                            .on_location = on.location,
                            .region = calls->region[row],
                            .on_region = others->region[on.row],
                            .kind = kind};
}

/* [n_locations] whether it is known of any of its calls what it began after. */
static bool *find_ordered(const struct trace_view *view)
{
    bool *is_ordered = mem_alloc(view->n_locations, sizeof *is_ordered);

    for (size_t i = 0; i < view->n_dependencies; i++)
        if (view->dependency[i].location < view->n_locations)
            is_ordered[view->dependency[i].location] |=
                view->dependency[i].kind < DEPENDENCY_RETURN;
    return is_ordered;
}

/*
 * Nobody knows what launched the operations of a stream: by when it began, the last call that had begun at who
 * waits for them. So they come as much earlier as that does, which may be too much, and the replay says so.
 */
static void add_launches(struct streams *t, uint32_t stream, uint32_t by)
{
    const struct trace_view *view = t->s->view;
    const struct call_view *calls = &view->calls[stream];

    for (uint32_t i = 0; i < calls->n; i++) {
        struct device_operation on = {by, calls_until(&view->calls[by], calls->enter_ns[i])};

        if (on.row-- > 0 && device_is_operation(view, (struct device_operation){stream, i}))
            add_wait(t, stream, i, on, DEPENDENCY_BEGIN);
    }
}

/* A call that waits for its GPU ends when what it waits for has; an operation on one stream may
 * wait for one on another. */
static void find_waits(struct streams *t, struct syncs *s)
{
    const struct trace_view *view = s->view;
    bool *is_ordered = find_ordered(view);

    for (uint32_t l = 0; l < view->n_locations; l++) {
        const struct call_view *calls = &view->calls[l];
        bool is_gpu = view->defs->location[l].is_gpu && view->n_dependencies > 0;

        for (uint32_t i = 0; i < calls->n; i++) {
            struct device_operation o[DEVICE_WAIT_MAX_STREAMS];
            size_t n = 0;

            if (view->defs->region[calls->region[i]].kind == REGION_DEVICE)
                n = device_wait_operations(view, l, i, o);
            for (size_t k = 0; k < n; k++) {
                add_wait(t, l, i, o[k], DEPENDENCY_RETURN);
                if (is_ordered[o[k].location])
                    continue;
                is_ordered[o[k].location] = s->lacks_launches = true;
                add_launches(t, o[k].location, l);
            }
            if (is_gpu && device_is_operation(view, (struct device_operation){l, i}) &&
                device_event_of(view, (struct device_operation){l, i}, o))
                add_wait(t, l, i, o[0], DEPENDENCY_END);
        }
    }
    free(is_ordered);
}

static void find_calls(struct streams *t, struct syncs *s)
{
    const struct trace_view *view = s->view;

    for (size_t i = 0; i < n_dependencies(t); i++) {
        const struct dependency *d = streams_dependency(t, i);
        struct found_dependency *f = &t->found[i];

        *f = (struct found_dependency){NO_CALL, NO_CALL, NEED_INDEX, NEED_INDEX};
        if (d->location >= view->n_locations || d->on_location >= view->n_locations ||
            d->kind > DEPENDENCY_RETURN)
            continue;
        f->call = calls_begun(&view->calls[d->location], d->begin_ns, d->region);
        f->on_call = calls_begun(&view->calls[d->on_location], d->on_begin_ns, d->on_region);
        if (f->call == NO_CALL || f->on_call == NO_CALL) {
            f->call = f->on_call = NO_CALL;
            continue;
        }
        s->is_stream[d->location] |= d->kind != DEPENDENCY_RETURN;
        t->first[d->location + 1]++;
        t->first[d->on_location + 1]++;
    }
}

void streams_init(struct streams *t, struct syncs *s)
{
    const struct trace_view *view = s->view;
    size_t *next;

    *t = (struct streams){.s = s};
    find_waits(t, s);
    t->found = mem_alloc(n_dependencies(t), sizeof *t->found);
    t->first = mem_alloc((size_t)view->n_locations + 1, sizeof *t->first);
    find_calls(t, s);
    for (uint32_t l = 0; l < view->n_locations; l++)
        t->first[l + 1] += t->first[l];
    t->end = mem_alloc(t->first[view->n_locations], sizeof *t->end);
    next = mem_alloc(view->n_locations, sizeof *next);
    memcpy(next, t->first, view->n_locations * sizeof *next);
    for (size_t i = 0; i < n_dependencies(t); i++) {
        const struct dependency *d = streams_dependency(t, i);

        if (t->found[i].call == NO_CALL)
            continue;
        t->end[next[d->location]++] = (struct dependency_end){(uint32_t)i, false};
        t->end[next[d->on_location]++] = (struct dependency_end){(uint32_t)i, true};
    }
    free(next);
}

void streams_release(struct streams *t)
{
    free(t->waits);
    free(t->found);
    free(t->first);
    free(t->end);
    *t = (struct streams){0};
}

/* --------------------------------------------------------------------------- operations */

enum { NO_OPERATION, OPERATION, EXCHANGE }; /* an exchange is one with others */

/* A location while its syncs are made. */
struct location_syncs {
    struct syncs *s;
    uint32_t location;
    const struct call_view *calls;
    unsigned char *kind; /* [calls->n] */
    uint32_t *region;    /* [n_regions] of which there are operations, the first first */
    uint32_t n_regions;
    size_t region_cap;
    bool is_overlapping;
};

static void mark_operations(struct location_syncs *x, const struct streams *t)
{
    const struct call_view *calls = x->calls;

    for (uint32_t i = 0; i < calls->n; i++)
        x->kind[i] = calls->subtree_len[i] == 1 ? OPERATION : NO_OPERATION;
    for (size_t i = t->first[x->location]; i < t->first[x->location + 1]; i++) {
        const struct found_dependency *f = &t->found[t->end[i].dependency];

        x->kind[t->end[i].is_on ? f->on_call : f->call] = OPERATION;
    }
    for (size_t i = 0; i < calls->n_messages; i++)
        if (calls->message[i].call < calls->n)
            x->kind[calls->message[i].call] = EXCHANGE;
    for (size_t i = 0; i < calls->n_collectives; i++)
        if (calls->collective[i].call < calls->n)
            x->kind[calls->collective[i].call] = EXCHANGE;
}

/*
 * Whether operations are at work at the same time: not that one ends a little late, as times
 * are rounded, but that half of one is over before the other ends.
 */
static void find_overlaps(struct location_syncs *x)
{
    uint64_t until_ns = 0, took_ns = 0, n = 0, n_overlapping = 0;

    for (uint32_t i = 0; i < x->calls->n; i++) {
        uint64_t enter = x->calls->enter_ns[i], end = calls_leave(x->calls, i), both;

        if (x->kind[i] == NO_OPERATION)
            continue;
        both = until_ns > enter ? (until_ns < end ? until_ns : end) - enter : 0;
        n_overlapping += both > 0 && (2 * both >= end - enter || 2 * both >= took_ns);
        n++;
        until_ns = end;
        took_ns = end - enter;
    }
    x->is_overlapping = OVERLAPPING * n_overlapping > n;
    for (uint32_t i = 0; i < x->calls->n && x->is_overlapping; i++) {
        uint32_t region = x->calls->region[i], k = 0;

        if (x->kind[i] == NO_OPERATION)
            continue;
        while (k < x->n_regions && x->region[k] != region)
            k++;
        if (k < x->n_regions)
            continue;
        *mem_push(&x->region, &x->n_regions, &x->region_cap) = region;
    }
}

static uint64_t push(struct location_syncs *x, uint64_t enter_ns, uint64_t leave_ns,
                     uint32_t call)
{
    leave_ns = leave_ns < enter_ns ? enter_ns : leave_ns;
    syncs_push(x->s, (struct sync){.enter_ns = enter_ns, .leave_ns = leave_ns, .call = call});
    return leave_ns;
}

/* Those of one function; ANY_REGION: of all. */
static void add_track(struct location_syncs *x, uint32_t region, uint64_t begin_ns)
{
    uint32_t *op_sync = x->s->op_sync[x->location];
    uint64_t now = begin_ns;

    syncs_begin_track(x->s, x->location);
    push(x, now, now, NO_CALL);
    for (uint32_t i = 0; i < x->calls->n; i++) {
        uint64_t end = calls_leave(x->calls, i);

        if (x->kind[i] == NO_OPERATION ||
            (region != ANY_REGION && x->calls->region[i] != region))
            continue;
        op_sync[i] = x->s->n;
        now = push(x, now, x->calls->enter_ns[i], i);
        if (x->kind[i] == EXCHANGE)
            now = push(x, now, end, i);
        else
            now = end > now ? end : now;
    }
    push(x, now, now, NO_CALL);
    x->s->end_ns = now > x->s->end_ns ? now : x->s->end_ns;
}

/* Which syncs belong to the records and dependencies of the location. */
static void place_records(const struct location_syncs *x, struct streams *t,
                          const struct record_syncs *at)
{
    const struct call_view *calls = x->calls;
    const uint32_t *op_sync = x->s->op_sync[x->location];
    size_t first = x->s->view->first_message[x->location];
    size_t first_collective = at->first_collective[x->location];

    for (size_t i = 0; i < calls->n_messages; i++)
        if (calls->message[i].call < calls->n)
            at->posted[first + i] = at->ended[first + i] = op_sync[calls->message[i].call] + 1;
    for (size_t i = 0; i < calls->n_collectives; i++)
        if (calls->collective[i].call < calls->n)
            at->entered[first_collective + i] = at->left[first_collective + i] =
                op_sync[calls->collective[i].call] + 1;
    for (size_t i = t->first[x->location]; i < t->first[x->location + 1]; i++) {
        struct found_dependency *f = &t->found[t->end[i].dependency];
        uint32_t call = t->end[i].is_on ? f->on_call : f->call;

        if (t->end[i].is_on)
            f->on = op_sync[call] + 1 + (x->kind[call] == EXCHANGE);
        else
            f->who = op_sync[call];
    }
}

void streams_add(struct streams *t, struct syncs *s, uint32_t location, uint64_t begin_ns,
                 const struct record_syncs *at)
{
    struct location_syncs x = {
        .s = s, .location = location, .calls = &s->view->calls[location]};

    x.kind = mem_alloc(x.calls->n, 1);
    s->op_sync[location] = mem_alloc(x.calls->n, sizeof **s->op_sync);
    for (uint32_t i = 0; i < x.calls->n; i++)
        s->op_sync[location][i] = NEED_INDEX;
    mark_operations(&x, t);
    find_overlaps(&x);
    for (uint32_t r = 0; r < x.n_regions; r++)
        add_track(&x, x.region[r], begin_ns);
    if (x.n_regions == 0)
        add_track(&x, ANY_REGION, begin_ns);
    place_records(&x, t, at);
    free(x.kind);
    free(x.region);
}
