/*
 * An execution occupies consecutive rows of a step, whether it was carried or not: first those
 * of its calls that are open since before, a chain, then what was called in this step. The
 * latter are in preorder after all that was kept, so they are appended; of the former only the
 * exclusive times come in, when they are left. What is finished goes straight to the forest.
 *
 * Calls of the tracer are rows but no vertices; where there are none, which is nearly always,
 * rows and vertices run side by side.
 */
#include "live/live_forest.h"

#include "base/mem.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define NO_VERTEX UINT32_MAX

/* The execution of a location that is open at the end of a step. */
struct open_tree {
    bool is_open;
    uint32_t n_begun; /* executions of this location so far, the open one included */

    struct forest kept; /* its vertices; exclusive_ns of those that are over */
    uint64_t *enter_ns; /* [kept.n] */
    size_t enter_cap;

    uint64_t n_calls; /* kept or not, but not the tracer's */
    uint64_t tracer_ns;
    uint32_t n_messages; /* kept or not */
    struct message *message;
    size_t n_kept_messages, message_cap;

    uint32_t *chain; /* vertices of its open calls, or NO_VERTEX, from the root on */
    size_t chain_cap;
};

/* Where vertices are written to: the forest, or an open execution. */
struct target {
    uint32_t *region, *parent;
    uint64_t *exclusive_ns, *enter_ns;
    uint32_t base; /* of the execution */
};

/* New rows that are a call of the tracer, or are in one. */
struct tracer_rows {
    uint32_t begin, end;
    uint32_t n_until; /* of this kind before `end`, these included */
    bool is_flush;
};

/* The rows of one execution in a step. */
struct execution_rows {
    uint32_t root, begin, end;       /* [begin, end) are new */
    uint32_t n_before;               /* vertices it had, at most */
    uint32_t n_new;                  /* calls that the new rows are, without the tracer's */
    uint32_t n_kept;                 /* of these */
    const struct tracer_rows *apart; /* [n_apart] */
    uint32_t n_apart;
    uint64_t place;
};

void live_forest_init(struct live_forest *lf, uint32_t region)
{
    *lf = (struct live_forest){.region = region,
                               .most_calls = LIVE_FOREST_MAX_CALLS,
                               .most_open = LIVE_FOREST_MAX_OPEN};
}

static void open_tree_release(struct open_tree *o)
{
    forest_release(&o->kept);
    free(o->enter_ns);
    free(o->message);
    free(o->chain);
}

void live_forest_release(struct live_forest *lf)
{
    for (uint32_t l = 0; l < lf->n_locations; l++)
        open_tree_release(&lf->open[l]);
    free(lf->open);
    forest_release(&lf->forest);
    free(lf->apart);
    free(lf->vertex_enter_ns);
    free(lf->n_calls);
    free(lf->message);
    free(lf->first_message);
    free(lf->unended);
    *lf = (struct live_forest){0};
}

void live_forest_clear(struct live_forest *lf)
{
    lf->forest.n = lf->forest.n_trees = 0;
    lf->forest.n_gaps = 0;
    lf->n_messages = 0;
}

/* ------------------------------------------------------------------------------- vertices */

/* Where n more vertices are written to, and the trees there are. */
static struct target grow(struct forest *f, uint64_t **enter_ns, size_t *enter_cap, size_t n,
                          uint32_t base)
{
    forest_grow(f, n, 1);
    mem_grow(enter_ns, enter_cap, f->vertex_cap);
    return (struct target){f->region, f->parent, f->exclusive_ns, *enter_ns, base};
}

/* How many rows before a new one are the tracer's, or UINT32_MAX if it is one of these. */
static uint32_t count_apart(const struct execution_rows *s, uint32_t row)
{
    uint32_t low = FIRST_NOT(i, 0, s->n_apart, s->apart[i].end <= row);

    if (low < s->n_apart && s->apart[low].begin <= row)
        return UINT32_MAX;
    return low > 0 ? s->apart[low - 1].n_until : 0;
}

static inline uint32_t vertex_of(const struct open_tree *o, const struct execution_rows *s,
                                 uint32_t row)
{
    uint32_t n_apart = 0;

    if (row < s->begin)
        return o->chain[row - s->root];
    if (s->n_apart > 0)
        n_apart = count_apart(s, row);
    if (n_apart == UINT32_MAX || row - s->begin - n_apart >= s->n_kept)
        return NO_VERTEX;
    return s->n_before + (row - s->begin - n_apart);
}

/* New rows without any of the tracer's among them, n of them, to be vertices from `at` on. */
static void append_run(const struct target *to, const struct open_tree *o,
                       const struct calls *c, const struct execution_rows *s, uint32_t begin,
                       uint32_t n, uint32_t at)
{
    memcpy(to->region + at, c->region + begin, n * sizeof *to->region);
    memcpy(to->exclusive_ns + at, c->exclusive_ns + begin, n * sizeof *to->exclusive_ns);
    memcpy(to->enter_ns + at, c->enter_ns + begin, n * sizeof *to->enter_ns);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = begin + i;

        to->parent[at + i] =
            row == s->root ? FOREST_ROOT : to->base + vertex_of(o, s, c->caller[row]);
    }
}

/* The new rows that are kept, after the vertices there are. */
static void append_rows(const struct target *to, const struct open_tree *o,
                        const struct calls *c, const struct execution_rows *s)
{
    uint32_t row = s->begin, n_left = s->n_kept;

    for (uint32_t i = 0; n_left > 0; i++) {
        uint32_t end = i < s->n_apart ? s->apart[i].begin : s->end;
        uint32_t n = end - row < n_left ? end - row : n_left;

        append_run(to, o, c, s, row, n, to->base + s->n_before + (s->n_kept - n_left));
        n_left -= n;
        row = i < s->n_apart ? s->apart[i].end : s->end;
    }
}

/* Calls that were open when the step began and are over now. */
static void settle_carried(const struct target *to, const struct open_tree *o,
                           const struct calls *c, const struct execution_rows *s)
{
    for (uint32_t row = s->root; row < s->begin; row++) {
        uint32_t v = o->chain[row - s->root];

        if (v != NO_VERTEX && (c->inclusive_ns[row] != CALL_OPEN || calls_is_cut(c, row)))
            to->exclusive_ns[to->base + v] = c->exclusive_ns[row];
    }
}

/* ----------------------------------------------------------------------------- the tracer */

static bool is_of_tracer(const struct definitions *defs, const struct calls *c, uint32_t row)
{
    return defs && defs->region[c->region[row]].kind == REGION_TRACER;
}

static void set_apart(struct live_forest *lf, uint32_t begin, uint32_t end, bool is_flush)
{
    uint32_t n_before = lf->n_apart > 0 ? lf->apart[lf->n_apart - 1].n_until : 0;

    if (begin == end)
        return;
    *mem_push(&lf->apart, &lf->n_apart, &lf->apart_cap) =
        (struct tracer_rows){begin, end, n_before + (end - begin), is_flush};
}

/* Finds the tracer's calls in an execution and adds up the time of those that are over. */
static void find_apart(struct live_forest *lf, struct open_tree *o, const struct calls *c,
                       const struct execution_rows *s, const struct definitions *defs)
{
    lf->n_apart = 0;
    for (uint32_t row = s->root + 1; row < s->end;) {
        uint32_t end = row + c->subtree_len[row];

        if (!is_of_tracer(defs, c, row)) {
            row++;
            continue;
        }
        if (c->inclusive_ns[row] != CALL_OPEN)
            o->tracer_ns += c->inclusive_ns[row];
        set_apart(lf, row < s->begin ? s->begin : row, end < s->begin ? s->begin : end,
                  region_name_is_flush(defs->region[c->region[row]].name));
        row = end;
    }
}

/* The gaps that this step has made in a tree that begins at vertex `base` of a forest. */
static void add_gaps(struct forest *f, uint32_t t, uint32_t base,
                     const struct execution_rows *s)
{
    for (uint32_t i = 0; i < s->n_apart; i++) {
        const struct tracer_rows *a = &s->apart[i];
        uint32_t n_rows = a->end - a->begin;
        uint32_t vertex = base + s->n_before + (a->end - s->begin) - a->n_until;

        forest_add_gap(f, (struct forest_gap){t, vertex, n_rows, a->is_flush});
    }
}

/* ------------------------------------------------------------------------------- messages */

/* [*m, end) are those of this execution: they are in time order, and so are executions. */
static size_t messages_of(const struct calls *c, const struct execution_rows *s, size_t *m)
{
    size_t end;

    while (*m < c->n_messages &&
           (c->message[*m].call == NO_CALL || c->message[*m].call < s->root))
        ++*m;
    for (end = *m; end < c->n_messages; end++)
        if (c->message[end].call == NO_CALL || c->message[end].call < s->root ||
            c->message[end].call >= s->end)
            break;
    return end;
}

static void put_message(struct message **list, size_t *n, size_t *cap, struct message message,
                        uint32_t call)
{
    mem_grow(list, cap, *n + 1);
    message.call = call;
    (*list)[(*n)++] = message;
}

/* --------------------------------------------------------------------------------- adding */

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static void take_over(struct live_forest *lf, struct open_tree *o, const struct target *to)
{
    const struct forest *f = &o->kept;

    memcpy(to->region + to->base, f->region, f->n * sizeof *f->region);
    memcpy(to->exclusive_ns + to->base, f->exclusive_ns, f->n * sizeof *f->exclusive_ns);
    memcpy(to->enter_ns + to->base, o->enter_ns, f->n * sizeof *o->enter_ns);
    for (uint32_t v = 0; v < f->n; v++)
        to->parent[to->base + v] =
            f->parent[v] == FOREST_ROOT ? FOREST_ROOT : to->base + f->parent[v];
    for (size_t m = 0; m < o->n_kept_messages; m++)
        put_message(&lf->message, &lf->n_messages, &lf->message_cap, o->message[m],
                    to->base + o->message[m].call);
    for (size_t i = 0; i < f->n_gaps; i++) {
        struct forest_gap gap = f->gap[i];

        gap.tree = lf->forest.n_trees - 1;
        gap.vertex += to->base;
        forest_add_gap(&lf->forest, gap);
    }
}

static void forget(struct live_forest *lf, struct open_tree *o)
{
    lf->n_open -= o->kept.n;
    o->is_open = false;
    o->kept.n = o->n_messages = 0;
    o->n_calls = o->tracer_ns = 0;
    o->n_kept_messages = o->kept.n_gaps = 0;
    if (o->enter_cap >
        LIVE_FOREST_MAX_CALLS / 64) { /* was unusually large: do not hold on to it */
        uint32_t n_begun = o->n_begun;

        open_tree_release(o);
        *o = (struct open_tree){.n_begun = n_begun};
    }
}

static void note_unended(struct live_forest *lf, uint32_t location, const struct calls *c,
                         uint32_t t)
{
    const struct forest *f = &lf->forest;

    if (lf->n_unended == LIVE_MAX_UNENDED)
        return;
    *mem_push(&lf->unended, &lf->n_unended, &lf->unended_cap) =
        (struct live_unended){location, f->index[t], f->enter_ns[t], c->last_ns};
}

/* The root was left: a tree. Returns the message that follows. */
static size_t finish(struct live_forest *lf, uint32_t location, const struct calls *c,
                     const struct execution_rows *s, size_t m)
{
    struct forest *f = &lf->forest;
    struct open_tree *o = &lf->open[location];
    struct target to;
    uint32_t t = f->n_trees, base = f->n;
    size_t end = messages_of(c, s, &m);

    to = grow(f, &lf->vertex_enter_ns, &lf->enter_cap, (size_t)s->n_before + s->n_kept, base);
    mem_grow(&lf->n_calls, &lf->calls_cap, t + 1);
    mem_grow(&lf->first_message, &lf->first_cap, t + 2);
    f->n_trees++;
    f->first[t] = base;
    lf->first_message[t] = lf->n_messages;
    if (s->begin > s->root)
        take_over(lf, o, &to);
    append_rows(&to, o, c, s);
    settle_carried(&to, o, c, s);
    add_gaps(f, t, base, s);
    f->n = f->first[t + 1] = base + s->n_before + s->n_kept;
    lf->n_calls[t] = o->n_calls + s->n_new + (forest_n_rows(f, t) - (f->n - base));
    f->location[t] = location;
    f->place[t] = s->place;
    f->index[t] = o->n_begun - 1;
    f->call[t] = calls_id(c, s->root);
    f->enter_ns[t] = c->enter_ns[s->root];
    f->root_ns[t] = c->inclusive_ns[s->root];
    f->tracer_ns[t] = o->tracer_ns;
    f->open_ns[t] = calls_never_ended(c, s->root);
    f->is_cut[t] = false; /* an iteration is judged when the next has begun */
    if (f->open_ns[t])
        note_unended(lf, location, c, t);
    f->n_messages[t] = o->n_messages + (uint32_t)(end - m);
    for (; m < end; m++) {
        uint32_t v = vertex_of(o, s, c->message[m].call);

        if (v != NO_VERTEX)
            put_message(&lf->message, &lf->n_messages, &lf->message_cap, c->message[m],
                        base + v);
    }
    lf->first_message[t + 1] = lf->n_messages;
    forget(lf, o);
    return m;
}

/* The vertices of the calls that are open now, so that the next step can go on from them. */
static void note_chain(struct open_tree *o, const struct calls *c,
                       const struct execution_rows *s)
{
    uint32_t n = 0;

    for (uint32_t row = c->top; row != NO_CALL && row >= s->root; row = c->caller[row])
        n++;
    mem_grow(&o->chain, &o->chain_cap, n);
    for (uint32_t row = c->top; n-- > 0; row = c->caller[row])
        o->chain[n] = vertex_of(o, s, row); /* what was open before keeps its place in it */
}

/* Still open at the end of the step. Returns the message that follows. */
static size_t keep(struct live_forest *lf, struct open_tree *o, const struct calls *c,
                   const struct execution_rows *s, size_t m)
{
    struct target to = grow(&o->kept, &o->enter_ns, &o->enter_cap, s->n_kept, 0);
    size_t end = messages_of(c, s, &m);

    append_rows(&to, o, c, s);
    settle_carried(&to, o, c, s);
    add_gaps(&o->kept, 0, 0, s);
    o->n_messages += (uint32_t)(end - m);
    for (; m < end; m++) {
        uint32_t v = vertex_of(o, s, c->message[m].call);

        if (v != NO_VERTEX)
            put_message(&o->message, &o->n_kept_messages, &o->message_cap, c->message[m], v);
    }
    note_chain(o, c, s);
    o->is_open = true;
    o->kept.n = s->n_before + s->n_kept;
    o->n_calls += s->n_new;
    lf->n_open += s->n_kept;
    return m;
}

/* Once calls were left out, no more are kept: a tree has the first ones, without gaps. */
static struct execution_rows span_of(struct live_forest *lf, struct open_tree *o,
                                     const struct calls *c, uint32_t root,
                                     const struct definitions *defs)
{
    struct execution_rows s = {.root = root, .begin = root, .end = root + c->subtree_len[root]};
    uint64_t room;

    if (root < c->n_carried)
        s.begin = s.end < c->n_carried ? s.end : c->n_carried;
    find_apart(lf, o, c, &s, defs);
    s.apart = lf->apart;
    s.n_apart = lf->n_apart;
    s.n_new = s.end - s.begin - (s.n_apart > 0 ? s.apart[s.n_apart - 1].n_until : 0);
    s.n_before = o->kept.n;
    room = o->n_calls > o->kept.n ? 0 : lf->most_calls - o->kept.n;
    if (c->inclusive_ns[root] == CALL_OPEN && lf->most_open - lf->n_open < room)
        room = lf->most_open - lf->n_open;
    s.n_kept = smaller(s.n_new, room);
    return s;
}

static struct open_tree *open_of(struct live_forest *lf, uint32_t location)
{
    mem_grow(&lf->open, &lf->location_cap, (size_t)location + 1);
    while (lf->n_locations <= location)
        lf->open[lf->n_locations++] = (struct open_tree){0};
    return &lf->open[location];
}

void live_forest_count_from(struct live_forest *lf, uint32_t location, uint32_t first)
{
    open_of(lf, location)->n_begun = first;
}

uint64_t live_forest_oldest_ns(const struct live_forest *lf)
{
    uint64_t oldest_ns = UINT64_MAX;

    for (uint32_t l = 0; l < lf->n_locations; l++)
        if (lf->open[l].is_open && lf->open[l].kept.n > 0 &&
            lf->open[l].enter_ns[0] < oldest_ns)
            oldest_ns = lf->open[l].enter_ns[0];
    return oldest_ns;
}

void live_forest_add(struct live_forest *lf, uint32_t location, const struct calls *c,
                     const struct definitions *defs)
{
    uint64_t place = forest_place(defs, location);
    struct open_tree *o = open_of(lf, location);
    size_t m = 0;

    lf->last_ns = c->last_ns > lf->last_ns ? c->last_ns : lf->last_ns;
    for (uint32_t row = 0; row < c->n;) {
        struct execution_rows s;

        if (c->region[row] != lf->region) {
            row++;
            continue;
        }
        if (row < c->n_carried && !o->is_open) { /* began before anybody asked for it */
            row = row + c->subtree_len[row];
            continue;
        }
        o->n_begun += row >= c->n_carried;
        s = span_of(lf, o, c, row, defs);
        s.place = place;
        if (c->inclusive_ns[row] != CALL_OPEN)
            m = finish(lf, location, c, &s, m);
        else if (!calls_is_cut(c, row))
            m = keep(lf, o, c, &s, m);
        else
            forget(lf, o);
        row = s.end;
    }
}
