/*
 * Messages are first candidates, of which only what choosing needs is known: where the other
 * end is, in time and in the file, is looked up for those that are chosen. In long windows
 * some blocks of neighbouring records are looked at, each somewhere in its part of the window,
 * and sends only: neighbours, because what a program sends in turns would otherwise be met by
 * every n-th look or never. Dependencies the run has in no order: the first who asks sorts
 * them, by either end, for all threads: 32 bytes each.
 */
#include "serve/arrows.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/trace_view.h"
#include "serve/api_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_SLOTS 64u /* of a window */

/* A message that may be shown. */
struct candidate {
    uint64_t send; /* row of that end among all messages */
    uint64_t send_ns;
    uint32_t from, to;
};

struct gathering {
    const struct columns *columns;
    const struct arrows_window *window;
    bool *is_wanted; /* [n_locations of the run] */
    struct candidate *candidate;
    size_t n, cap;
    uint64_t n_looked_at;
    bool is_sends_only;
};

size_t arrows_from(const struct columns *columns, const struct levels *levels,
                   uint32_t location, uint64_t time_ns)
{
    struct call_view calls = columns_view(columns, location);

    return levels ? levels_message_from(levels, location, time_ns)
                  : calls_message_from(&calls, time_ns);
}

void arrows_release(struct arrows *arrows)
{
    free(arrows->arrow);
    *arrows = (struct arrows){0};
}

uint32_t arrows_location_of(const struct columns *columns, uint64_t row)
{
    return FIRST_NOT(i, 1, columns->n_locations, columns->range[i].first_message <= row) - 1;
}

/* -------------------------------------------------------------------------- gathering */

/* Takes the message with an end in row `row`, which is in the window, once. */
static void take(struct gathering *g, uint32_t location, uint64_t row)
{
    const struct columns *columns = g->columns;
    const struct message *here = &columns->message[row];
    struct candidate c = {row, here->begin_ns, location, 0};

    g->n_looked_at++;
    if (here->match >= columns->n_messages)
        return;
    c.to = arrows_location_of(columns, here->match);
    if (!g->is_wanted[c.to])
        return;
    if (here->kind != MESSAGE_SEND) {
        if (g->is_sends_only)
            return;
        c = (struct candidate){here->match, columns->message[here->match].begin_ns, c.to,
                               location};
        if (c.send_ns >= g->window->begin_ns && c.send_ns < g->window->end_ns)
            return; /* it is taken where it was sent */
    }
    *mem_push(&g->candidate, &g->n, &g->cap) = c;
}

/* The same for the same block, and without a pattern. */
static uint64_t scattered(uint64_t i)
{
    i = (i ^ (i >> 31)) * 0x9e3779b97f4a7c15u;
    i = (i ^ (i >> 29)) * 0xbf58476d1ce4e5b9u;
    return i ^ (i >> 32);
}

uint64_t arrows_block(uint64_t first, uint64_t at, uint64_t step)
{
    return at + scattered(first + at) % (step * ARROWS_BLOCK - ARROWS_BLOCK + 1);
}

/* Rows begin .. end - 1 of a location: a block in each `step` blocks of them. */
static void take_some(struct gathering *g, uint32_t location, uint64_t begin, uint64_t end,
                      uint64_t step)
{
    uint64_t first = g->columns->range[location].first_message;
    uint64_t part = step * ARROWS_BLOCK;

    for (int is_taking = 0; is_taking < 2; is_taking++)
        for (uint64_t at = begin; at < end; at += part) {
            uint64_t row = arrows_block(first, at, step);
            uint64_t n = row >= end ? 0 : end - row < ARROWS_BLOCK ? end - row : ARROWS_BLOCK;

            if (!is_taking)
                fs_advise(&g->columns->message[first + row], n * sizeof(struct message),
                          MADV_WILLNEED);
            for (uint64_t i = 0; is_taking && i < n; i++)
                take(g, location, first + row + i);
        }
}

static uint64_t gather(struct gathering *g, const struct levels *levels)
{
    const struct arrows_window *w = g->window;
    uint64_t *begin = mem_alloc(w->n_locations, sizeof *begin);
    uint64_t *end = mem_alloc(w->n_locations, sizeof *end), n = 0, step = 1;

    g->is_wanted = mem_alloc(g->columns->n_locations, sizeof *g->is_wanted);
    for (uint32_t k = 0; k < w->n_locations; k++) {
        g->is_wanted[w->location[k]] = true;
        begin[k] = arrows_from(g->columns, levels, w->location[k], w->begin_ns);
        end[k] = arrows_from(g->columns, levels, w->location[k], w->end_ns);
        n += end[k] - begin[k];
    }
    if (n > ARROWS_ALL) {
        step = n / ARROWS_SAMPLED + 1;
        g->is_sends_only = true;
    }
    for (uint32_t k = 0; k < w->n_locations; k++)
        take_some(g, w->location[k], begin[k], end[k], step);
    free(g->is_wanted);
    free(begin);
    free(end);
    return n;
}

/* --------------------------------------------------------------------------- choosing */

static int by_pair(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;

    return ORDER(p->from, q->from) ?:
           ORDER(p->to, q->to) ?:
           ORDER(p->send_ns, q->send_ns) ?:
           ORDER(p->send, q->send);
}

static bool is_same_pair(const struct candidate *a, const struct candidate *b)
{
    return a->from == b->from && a->to == b->to;
}

static uint64_t slot_of(const struct arrows_window *w, const struct candidate *c,
                        uint64_t n_slots)
{
    double since = c->send_ns > w->begin_ns ? (double)(c->send_ns - w->begin_ns) : 0;
    double slot = since / (double)(w->end_ns - w->begin_ns) * (double)n_slots;

    return slot < (double)n_slots ? (uint64_t)slot : n_slots - 1;
}

/* The end of the heap that begins at i. */
static size_t heap_end(const struct gathering *g, size_t i, uint64_t n_slots)
{
    size_t k = i + 1;
    uint64_t slot = slot_of(g->window, &g->candidate[i], n_slots);

    while (k < g->n && is_same_pair(&g->candidate[i], &g->candidate[k]) &&
           slot_of(g->window, &g->candidate[k], n_slots) == slot)
        k++;
    return k;
}

static uint64_t count_slots(const struct gathering *g, size_t most)
{
    uint64_t n_pairs = 1, n_slots;

    for (size_t i = 1; i < g->n; i++)
        n_pairs += !is_same_pair(&g->candidate[i - 1], &g->candidate[i]);
    n_slots = most / (2 * n_pairs);
    return n_slots < 1 ? 1 : n_slots > MAX_SLOTS ? MAX_SLOTS : n_slots;
}

/* Evenly spaced ones of n, to the front. */
static size_t thin(struct candidate *from, size_t n, size_t most, struct candidate *to)
{
    size_t n_left = n < most ? n : most;

    for (size_t i = 0; i < n_left; i++)
        to[i] = from[i * n / n_left];
    return n_left;
}

static void choose(struct gathering *g, size_t most)
{
    uint64_t n_slots;
    uint32_t *size = NULL, share;
    size_t n_heaps = 0, cap = 0, n_left = 0;

    if (g->n <= most)
        return;
    qsort(g->candidate, g->n, sizeof *g->candidate, by_pair);
    n_slots = count_slots(g, most);
    for (size_t i = 0, end; i < g->n; i = end) {
        end = heap_end(g, i, n_slots);
        *mem_push(&size, &n_heaps, &cap) = (uint32_t)(end - i);
    }
    share = level_share(size, n_heaps, most);
    free(size);
    for (size_t i = 0, end; i < g->n; i = end) {
        end = heap_end(g, i, n_slots);
        n_left += thin(&g->candidate[i], end - i, share, &g->candidate[n_left]);
    }
    g->n = thin(g->candidate, n_left, most, g->candidate); /* more pairs than wanted */
}

static int by_send(const void *a, const void *b)
{
    const struct arrow *p = a, *q = b;

    return ORDER(p->send_ns, q->send_ns) ?: ORDER(p->from, q->from) ?: ORDER(p->to, q->to);
}

static void look_up(struct arrows *arrows, const struct gathering *g)
{
    const struct message *message = g->columns->message;

    arrows->arrow = mem_alloc(g->n, sizeof *arrows->arrow);
    for (size_t i = 0; i < g->n; i++) {
        uint64_t match = message[g->candidate[i].send].match;

        if (match < g->columns->n_messages)
            fs_advise(&message[match], sizeof *message, MADV_WILLNEED);
    }
    for (size_t i = 0; i < g->n; i++) {
        const struct candidate *c = &g->candidate[i];
        const struct message *send = &message[c->send], *recv;

        if (send->match >= g->columns->n_messages) /* damaged */
            continue;
        recv = &message[send->match];
        arrows->arrow[arrows->n++] = (struct arrow){(double)send->begin_ns,
                                                    (double)recv->end_ns,
                                                    (double)send->bytes,
                                                    c->from,
                                                    c->to,
                                                    send->tag,
                                                    send->call,
                                                    recv->call};
    }
    if (arrows->n > 0)
        qsort(arrows->arrow, arrows->n, sizeof *arrows->arrow, by_send);
}

void arrows_of(struct arrows *arrows, const struct columns *columns,
               const struct levels *levels, const struct arrows_window *window, size_t most)
{
    struct gathering g = {.columns = columns, .window = window};
    uint64_t n_records = gather(&g, levels);

    arrows->is_estimate = g.is_sends_only;
    arrows->total = g.n;
    if (g.n_looked_at > 0 && g.is_sends_only)
        arrows->total = (uint64_t)((double)g.n * (double)n_records / (double)g.n_looked_at);
    choose(&g, most);
    look_up(arrows, &g);
    free(g.candidate);
}

/* ----------------------------------------------------------------------------- dependencies */

/* An end of a dependency: when its call began, and where. */
struct end {
    uint64_t ns;
    uint32_t location;
    uint32_t dependency;
};

enum { IS_ON, IS_WHO, N_SIDES }; /* the call that is waited for, the one that waits */

struct dependency_ends {
    struct shared shared;
    uint32_t n;
    struct end *end[N_SIDES]; /* [n] by location, then time */
};

/* ---------------------------------------------------------------------------------- ends */

static int by_place(const void *a, const void *b)
{
    const struct end *p = a, *q = b;

    return ORDER(p->location, q->location) ?:
           ORDER(p->ns, q->ns) ?:
           ORDER(p->dependency, q->dependency);
}

static void free_ends(struct shared *shared)
{
    struct dependency_ends *ends = (struct dependency_ends *)shared;

    for (int side = 0; side < N_SIDES; side++)
        free(ends->end[side]);
    free(ends);
}

static bool is_possible(const struct columns *columns, const struct dependency *d)
{
    return d->location < columns->n_locations && d->on_location < columns->n_locations &&
           d->kind <= DEPENDENCY_RETURN;
}

static int make_ends(struct shared *old, void *ctx, struct shared **out)
{
    const struct columns *columns = ctx;
    struct dependency_ends *ends;
    size_t n = columns->n_dependencies < UINT32_MAX ? columns->n_dependencies : UINT32_MAX;

    *out = old;
    if (old)
        return 0;
    ends = mem_alloc(1, sizeof *ends);
    ends->shared = (struct shared){1, free_ends};
    for (int side = 0; side < N_SIDES; side++)
        ends->end[side] = mem_alloc(n, sizeof **ends->end);
    for (uint32_t i = 0; i < n; i++) {
        const struct dependency *d = &columns->dependency[i];

        if (!is_possible(columns, d))
            continue;
        ends->end[IS_ON][ends->n] = (struct end){d->on_begin_ns, d->on_location, i};
        ends->end[IS_WHO][ends->n++] = (struct end){d->begin_ns, d->location, i};
    }
    for (int side = 0; side < N_SIDES && ends->n > 0; side++)
        qsort(ends->end[side], ends->n, sizeof **ends->end, by_place);
    *out = &ends->shared;
    return 0;
}

const struct dependency_ends *dependency_ends_take(struct shared_cache *cache,
                                                   const struct columns *columns)
{
    struct shared *ends = NULL;

    shared_cache_take(cache, 0, make_ends, (void *)(uintptr_t)columns, &ends);
    return (const struct dependency_ends *)ends;
}

void dependency_ends_give_back(struct shared_cache *cache, const struct dependency_ends *ends)
{
    shared_cache_give_back(cache, ends ? (struct shared *)(uintptr_t)&ends->shared : NULL);
}

/* The first end of a location at or after a time. */
static size_t end_from(const struct dependency_ends *ends, int side, uint32_t location,
                       uint64_t ns)
{
    const struct end wanted = {ns, location, 0};
    return FIRST_NOT(i, 0, ends->n, by_place(&ends->end[side][i], &wanted) < 0);
}

/* ---------------------------------------------------------------------------------- calls */

/* The call that one end is of, or NO_CALL. */
static uint32_t call_of(const struct columns *columns, uint32_t location, uint64_t begin_ns,
                        uint32_t region, uint32_t n_regions)
{
    struct call_view calls = columns_view(columns, location);
    uint32_t latest = calls_until(&calls, begin_ns + CALLS_BEGUN_ROUNDING_NS);

    if (latest == 0 || call_details_check_row(&calls, latest - 1, n_regions) < 0)
        return NO_CALL;
    return calls_begun(&calls, begin_ns, region);
}

/* False where a call of it is not there. */
static bool find_arrow(const struct columns *columns, uint32_t i, uint32_t n_regions,
                       struct dependency_arrow *a)
{
    const struct dependency *d = &columns->dependency[i];
    uint32_t on = call_of(columns, d->on_location, d->on_begin_ns, d->on_region, n_regions);
    uint32_t who = call_of(columns, d->location, d->begin_ns, d->region, n_regions);
    struct call_view from, to;

    if (on == NO_CALL || who == NO_CALL)
        return false;
    from = columns_view(columns, d->on_location);
    to = columns_view(columns, d->location);
    *a = (struct dependency_arrow){
        .from_ns = d->kind == DEPENDENCY_BEGIN ? d->on_begin_ns : calls_leave(&from, on),
        .to_ns = d->kind == DEPENDENCY_RETURN ? calls_leave(&to, who) : to.enter_ns[who],
        .from = d->on_location,
        .to = d->location,
        .from_call = on,
        .to_call = who,
        .kind = (enum dependency_kind)d->kind,
    };
    return true;
}

static int by_from(const void *a, const void *b)
{
    const struct dependency_arrow *p = a, *q = b;

    return ORDER(p->from_ns, q->from_ns) ?:
           ORDER(p->to_ns, q->to_ns) ?:
           ORDER(p->from, q->from) ?:
           ORDER(p->to, q->to);
}

/* --------------------------------------------------------------------------------- window */

struct gathered_ends {
    const struct columns *columns;
    const struct dependency_window *window;
    bool *is_wanted;  /* [n_locations of the run] */
    uint32_t *chosen; /* [n] dependencies, each once */
    size_t n, cap;
};

/* Those with an end on a location in the window; of the one that waits, where the other's is
 * not there, and it was not taken. */
static void take_end(struct gathered_ends *g, const struct dependency_ends *ends, int side,
                     uint32_t location, size_t step)
{
    const struct dependency_window *w = g->window;
    size_t until = end_from(ends, side, location, w->end_ns);

    for (size_t i = end_from(ends, side, location, w->begin_ns); i < until; i += step) {
        uint32_t at = ends->end[side][i].dependency;
        const struct dependency *d = &g->columns->dependency[at];
        bool is_taken =
            side == IS_WHO && d->on_begin_ns >= w->begin_ns && d->on_begin_ns < w->end_ns;

        if (is_taken || !g->is_wanted[side == IS_ON ? d->location : d->on_location])
            continue;
        *mem_push(&g->chosen, &g->n, &g->cap) = at;
    }
}

/* How many ends of a side are in the window. */
static size_t count_ends(const struct dependency_window *w, const struct dependency_ends *ends,
                         int side)
{
    size_t n = 0;

    for (uint32_t k = 0; k < w->n_locations; k++)
        n += end_from(ends, side, w->location[k], w->end_ns) -
             end_from(ends, side, w->location[k], w->begin_ns);
    return n;
}

static void add_arrows(struct dependency_arrows *arrows, const struct gathered_ends *g,
                       size_t most)
{
    size_t n_left = g->n < most ? g->n : most;

    arrows->arrow = mem_alloc(n_left, sizeof *arrows->arrow);
    for (size_t i = 0; i < n_left; i++)
        arrows->n += find_arrow(g->columns, g->chosen[i * g->n / n_left], g->window->n_regions,
                                &arrows->arrow[arrows->n]);
    if (n_left == g->n && !arrows->is_estimate)
        arrows->total = arrows->n;
    if (arrows->n > 0)
        qsort(arrows->arrow, arrows->n, sizeof *arrows->arrow, by_from);
}

void dependency_arrows_of(struct dependency_arrows *arrows, const struct columns *columns,
                          const struct dependency_ends *ends,
                          const struct dependency_window *window, size_t most)
{
    struct gathered_ends g = {.columns = columns, .window = window};
    size_t step[N_SIDES];

    if (ends->n == 0)
        return;
    g.is_wanted = mem_alloc(columns->n_locations, sizeof *g.is_wanted);
    for (uint32_t k = 0; k < window->n_locations; k++)
        g.is_wanted[window->location[k]] = true;
    for (int side = 0; side < N_SIDES; side++) {
        size_t before = g.n;

        step[side] = count_ends(window, ends, side) / DEPENDENCY_ARROWS_ALL + 1;
        for (uint32_t k = 0; k < window->n_locations; k++)
            take_end(&g, ends, side, window->location[k], step[side]);
        arrows->total += (g.n - before) * step[side];
        arrows->is_estimate |= step[side] > 1;
    }
    add_arrows(arrows, &g, most);
    free(g.is_wanted);
    free(g.chosen);
}

void dependency_arrows_release(struct dependency_arrows *arrows)
{
    free(arrows->arrow);
    *arrows = (struct dependency_arrows){0};
}

/* ------------------------------------------------------------------------------- one call */

void dependency_arrows_of_call(struct dependency_arrows *arrows, const struct columns *columns,
                               const struct dependency_ends *ends, uint32_t location,
                               uint32_t row, uint32_t n_regions)
{
    struct call_view calls = columns_view(columns, location);
    uint64_t enter = calls.enter_ns[row], leave = calls_leave(&calls, row);
    uint64_t begin = enter > CALLS_BEGUN_ROUNDING_NS ? enter - CALLS_BEGUN_ROUNDING_NS : 0;
    size_t cap = 0;

    for (int side = 0; side < N_SIDES; side++) {
        size_t from = end_from(ends, side, location, begin);
        size_t until = end_from(ends, side, location, leave + 1);

        if (until > from + DEPENDENCY_ARROWS_OF_CALL)
            until = from + DEPENDENCY_ARROWS_OF_CALL;
        for (size_t i = from; i < until; i++) {
            struct dependency_arrow a;

            if (!find_arrow(columns, ends->end[side][i].dependency, n_regions, &a) ||
                (side == IS_ON ? a.from_call : a.to_call) != row)
                continue;
            *mem_push(&arrows->arrow, &arrows->n, &cap) = a;
        }
    }
    arrows->total = arrows->n;
    if (arrows->n > 0)
        qsort(arrows->arrow, arrows->n, sizeof *arrows->arrow, by_from);
}

const char *dependency_kind_name(enum dependency_kind kind)
{
    static const char *const names[] = {[DEPENDENCY_END] = "order",
                                        [DEPENDENCY_BEGIN] = "launch",
                                        [DEPENDENCY_RETURN] = "wait"};

    return names[kind];
}
