/*
 * The calls of a location are gone through once, in preorder, with what is known of the calls
 * that are open:
 *
 *     row   depth  len         open calls, by depth
 *      0      0     5          main until row 5
 *      1      1     3               step until row 4
 *      2      2     1                    send until row 3
 *      3      2     1     <-- must follow on send, and end before step does
 *
 * A call goes one deeper while the call before it is open, else it follows on the one of its
 * depth, which ends right there. So all subtrees lie within each other and the callers that
 * depths say are the callers that lengths say.
 */
#include "run/columns.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/pool.h"
#include "trace/monotone.h"

#include <stdlib.h>

/* A call that is open, at its depth. */
struct ancestor {
    uint32_t end;     /* row after its last */
    uint64_t left_ns; /* of its time, when that of the calls in it so far is taken out */
};

struct walk {
    struct call_view v;
    uint32_t n_regions, base; /* depth of the roots */
    struct ancestor *open;    /* [v.n_depths] */
    uint64_t *next;           /* [v.n_depths] in by_depth; NULL: the order is not looked at */
};

/* Whether row i, at depth d below the roots, is where it can be; `now` is that of the row
 * before.
 */
static inline bool is_in_place(const struct walk *w, uint32_t i, uint32_t d, uint32_t now)
{
    if (i < w->open[now].end)
        return d == now + 1;
    return d <= now && w->open[d].end == i;
}

static inline bool is_call_good(struct walk *w, uint32_t i, uint32_t d, uint32_t end)
{
    const struct call_view *v = &w->v;
    uint64_t inclusive = v->inclusive_ns[i];
    uint32_t len = v->subtree_len[i];

    if (v->region[i] >= w->n_regions || len == 0 || len > end - i ||
        v->enter_ns[i] > TIME_MAX_SPAN_NS || inclusive > TIME_MAX_SPAN_NS)
        return false;
    if (d > 0) {
        if (len > w->open[d - 1].end - i || inclusive > w->open[d - 1].left_ns)
            return false;
        w->open[d - 1].left_ns -= inclusive;
    }
    w->open[d] = (struct ancestor){.end = i + len, .left_ns = inclusive};
    return true;
}

/* Rows begin .. end - 1, which are the subtrees of calls at depth w->base. */
static bool are_rows_good(struct walk *w, uint32_t begin, uint32_t end)
{
    const struct call_view *v = &w->v;
    uint32_t now = 0;

    if (begin == end)
        return true;
    if (v->n_depths <= w->base)
        return false;
    w->open[0].end = begin;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t depth = v->depth[i], d = depth - w->base;

        if (depth < w->base || depth >= v->n_depths || !is_in_place(w, i, d, now) ||
            !is_call_good(w, i, d, end) || (i > begin && v->enter_ns[i] < v->enter_ns[i - 1]))
            return false;
        if (w->next &&
            (w->next[depth] >= v->depth_start[depth + 1] || v->by_depth[w->next[depth]++] != i))
            return false;
        now = d;
    }
    return true;
}

/* Where each depth begins; they must fill the location. */
static bool take_depths(struct walk *w)
{
    const struct call_view *v = &w->v;

    if (v->depth_start[0] != 0 || v->depth_start[v->n_depths] != v->n)
        return false;
    for (uint32_t d = 0; d < v->n_depths; d++) {
        if (v->depth_start[d] > v->depth_start[d + 1])
            return false;
        w->next[d] = v->depth_start[d];
    }
    return true;
}

static bool are_calls_good(const struct call_view *v, uint32_t n_regions)
{
    struct walk w = {.v = *v, .n_regions = n_regions};
    bool is_good;

    w.open = mem_alloc(v->n_depths, sizeof *w.open);
    w.next = mem_alloc(v->n_depths, sizeof *w.next);
    is_good = take_depths(&w) && are_rows_good(&w, 0, v->n);
    free(w.open);
    free(w.next);
    return is_good;
}

static bool is_message_good(const struct message *m, const struct call_view *v,
                            const struct columns *columns, const struct definitions *defs)
{
    return m->kind <= MESSAGE_RECV && (m->call < v->n || m->call == NO_CALL) &&
           (m->match < columns->n_messages || m->match == MESSAGE_UNMATCHED) &&
           m->comm < defs->n_comms && m->begin_ns <= TIME_MAX_SPAN_NS &&
           m->end_ns <= TIME_MAX_SPAN_NS;
}

static bool is_collective_good(const struct collective *c, const struct call_view *v,
                               const struct definitions *defs)
{
    return c->kind <= COLLECTIVE_OTHER && (c->call < v->n || c->call == NO_CALL) &&
           c->comm < defs->n_comms && c->begin_ns <= TIME_MAX_SPAN_NS &&
           c->end_ns <= TIME_MAX_SPAN_NS;
}

static bool is_span_good(const struct team_span *s, const struct call_view *v,
                         const struct columns *columns, const struct definitions *defs)
{
    return s->kind < N_SPAN_KINDS && (s->call < v->n || s->call == NO_CALL) &&
           (s->team < columns->n_spans || s->team == NO_TEAM) &&
           (s->comm < defs->n_comms || s->comm == NO_TEAM_COMM) && s->begin_ns <= s->end_ns &&
           s->end_ns <= TIME_MAX_SPAN_NS && s->first_row <= v->n &&
           s->n_rows <= v->n - s->first_row && s->first_barrier <= v->n_barriers &&
           s->n_barriers <= v->n_barriers - s->first_barrier;
}

static bool are_teams_good(const struct call_view *v, const struct columns *columns,
                           const struct definitions *defs)
{
    uint32_t n_barriers = 0;

    for (size_t i = 0; i < v->n_spans; n_barriers += v->span[i++].n_barriers)
        if (!is_span_good(&v->span[i], v, columns, defs) ||
            v->span[i].first_barrier != n_barriers ||
            (i > 0 && v->span[i].first_row < v->span[i - 1].first_row))
            return false;
    for (size_t i = 0; i < v->n_barriers; i++)
        if (v->barrier[i] >= v->n)
            return false;
    return true;
}

/* Ascending, of calls that there are. */
static bool are_estimates_good(const struct call_view *v)
{
    for (size_t i = 0; i < v->n_estimates; i++) {
        const struct call_estimate *e = &v->estimate[i];

        if (e->call >= v->n || e->is_leave > 1 || e->placed > PLACED_OTHERS ||
            (i > 0 && e->call < v->estimate[i - 1].call))
            return false;
    }
    return true;
}

static const char *first_wrong(const struct columns *columns, uint32_t location,
                               const struct definitions *defs)
{
    struct call_view v = columns_view(columns, location);

    if (!are_calls_good(&v, defs->names.n))
        return "calls make no tree";
    for (size_t i = 0; i < v.n_messages; i++)
        if (!is_message_good(&v.message[i], &v, columns, defs))
            return "messages belong to nothing";
    for (size_t i = 0; i < v.n_collectives; i++)
        if (!is_collective_good(&v.collective[i], &v, defs))
            return "collectives belong to nothing";
    if (!are_teams_good(&v, columns, defs))
        return "teams of threads belong to nothing";
    if (!are_estimates_good(&v))
        return "estimates belong to nothing";
    if (!detail_files_check(&columns->details, location, v.n))
        return "counters and arguments belong to nothing";
    return NULL;
}

int columns_check(const struct columns *columns, uint32_t location,
                  const struct definitions *defs)
{
    const char *wrong;

    if (atomic_load(&columns->is_checked[location]))
        return 0;
    wrong = first_wrong(columns, location, defs);
    if (wrong)
        return err_set(ERR_FORMAT, "damaged run: in '%s' the %s (location %u)", columns->path,
                       wrong, location);
    atomic_store(&columns->is_checked[location], 1);
    return 0;
}

struct checking {
    struct columns *columns;
    const struct definitions *defs;
};

static void check_some(void *ctx, size_t begin, size_t end, unsigned index)
{
    const struct checking *c = ctx;

    (void)index;
    for (size_t l = begin; l < end; l++)
        columns_check(c->columns, (uint32_t)l, c->defs);
}

int columns_check_all(struct columns *columns, const struct definitions *defs,
                      struct pool *pool)
{
    struct checking c = {columns, defs};
    int rc = 0;

    pool_for(pool, columns->n_locations, 1, check_some, &c);
    for (uint32_t l = 0; l < columns->n_locations && rc == 0; l++)
        rc = columns_check(columns, l, defs); /* known already, but for a message */
    return rc;
}

int columns_check_tree(const struct columns *columns, uint32_t location, uint32_t row,
                       const struct definitions *defs)
{
    struct walk w = {.v = columns_view(columns, location), .n_regions = defs->names.n};
    bool is_good =
        row < w.v.n && w.v.subtree_len[row] > 0 && w.v.subtree_len[row] <= w.v.n - row;

    if (is_good) {
        w.base = w.v.depth[row];
        w.open = mem_alloc(w.v.n_depths, sizeof *w.open);
        is_good = are_rows_good(&w, row, row + w.v.subtree_len[row]) &&
                  w.open[0].end == row + w.v.subtree_len[row];
        free(w.open);
    }
    if (!is_good)
        return err_set(ERR_FORMAT, "damaged run: in '%s' calls make no tree (location %u)",
                       columns->path, location);
    return 0;
}
