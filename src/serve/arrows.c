/*
 * Messages are first candidates, of which only what choosing needs is known: where the other
 * end is, in time and in the file, is looked up for those that are chosen. In long windows some
 * blocks of neighbouring records are looked at, each somewhere in its part of the window, and
 * sends only: neighbours, because what a program sends in turns would otherwise be met by every
 * n-th look or never.
 */
#include "serve/arrows.h"

#include "base/fs.h"
#include "base/mem.h"
#include "explain/trace_view.h"

#include <stdlib.h>
#include <sys/mman.h>

#define BLOCK 64u     /* records */
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

/* Where a message is, by its row among all of them. O(log locations). */
static uint32_t location_of(const struct columns *columns, uint64_t row)
{
    uint32_t low = 0, high = columns->n_locations;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (columns->range[middle].first_message <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
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
    c.to = location_of(columns, here->match);
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
    mem_grow(&g->candidate, &g->cap, g->n + 1, sizeof *g->candidate);
    g->candidate[g->n++] = c;
}

/* The same for the same block, and without a pattern. */
static uint64_t scattered(uint64_t i)
{
    i = (i ^ (i >> 31)) * 0x9e3779b97f4a7c15u;
    i = (i ^ (i >> 29)) * 0xbf58476d1ce4e5b9u;
    return i ^ (i >> 32);
}

/* Rows begin .. end - 1 of a location: a block in each `step` blocks of them. */
static void take_some(struct gathering *g, uint32_t location, uint64_t begin, uint64_t end,
                      uint64_t step)
{
    uint64_t first = g->columns->range[location].first_message;
    uint64_t part = step * BLOCK;

    for (int is_taking = 0; is_taking < 2; is_taking++)
        for (uint64_t at = begin; at < end; at += part) {
            uint64_t row = at + scattered(first + at) % (part - BLOCK + 1);
            uint64_t n = row >= end ? 0 : end - row < BLOCK ? end - row : BLOCK;

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

    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    if (p->to != q->to)
        return p->to < q->to ? -1 : 1;
    if (p->send_ns != q->send_ns)
        return p->send_ns < q->send_ns ? -1 : 1;
    return (p->send > q->send) - (p->send < q->send);
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
        mem_grow(&size, &cap, n_heaps + 1, sizeof *size);
        size[n_heaps++] = (uint32_t)(end - i);
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

    if (p->send_ns != q->send_ns)
        return p->send_ns < q->send_ns ? -1 : 1;
    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return (p->to > q->to) - (p->to < q->to);
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
