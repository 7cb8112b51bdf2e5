/*
 * An execution occupies consecutive rows of a step, whether it was carried or not: first those
 * of its calls that are open since before, a chain, then what was called in this step. The
 * latter are in preorder behind all that was kept, so they are appended; of the former only the
 * exclusive times come in, when they are left. What is finished goes straight to the forest.
 */
#include "live/live_forest.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NO_VERTEX UINT32_MAX

/* The execution of a location that is open at the end of a step. */
struct open_tree {
    bool is_open;
    uint32_t n_begun; /* executions of this location so far, the open one included */

    uint32_t n;             /* vertices kept */
    uint32_t *region;       /* [n] */
    uint32_t *parent;       /* [n] vertex of this execution, or FOREST_ROOT */
    uint64_t *exclusive_ns; /* [n] of those that are over */
    uint64_t *enter_ns;     /* [n] */
    size_t cap;

    uint64_t n_calls;    /* kept or not */
    uint32_t n_messages; /* kept or not */
    struct message *message;
    size_t n_kept_messages, message_cap;

    uint32_t *chain; /* [n_chain] vertices of its open calls, or NO_VERTEX, from the root on */
    uint32_t n_chain;
    size_t chain_cap;
};

/* Where vertices are written to: the forest, or an open execution. */
struct target {
    uint32_t *region, *parent;
    uint64_t *exclusive_ns, *enter_ns;
    uint32_t base; /* of the execution */
};

/* The rows of one execution in a step. */
struct span {
    uint32_t root, begin, end; /* [begin, end) are new */
    uint32_t n_before;         /* vertices it had, at most */
    uint32_t n_kept;           /* of the new rows */
};

void live_forest_init(struct live_forest *lf, uint32_t region)
{
    *lf = (struct live_forest){.region = region,
                               .most_calls = LIVE_FOREST_MOST_CALLS,
                               .most_open = LIVE_FOREST_MOST_OPEN};
}

static void open_tree_release(struct open_tree *o)
{
    free(o->region);
    free(o->parent);
    free(o->exclusive_ns);
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
    free(lf->vertex_enter_ns);
    free(lf->n_calls);
    free(lf->message);
    free(lf->first_message);
    *lf = (struct live_forest){0};
}

void live_forest_clear(struct live_forest *lf)
{
    lf->forest.n = lf->forest.n_trees = 0;
    lf->n_messages = 0;
}

/* ------------------------------------------------------------------------------- vertices */

/* All four columns have one capacity. */
static void reserve_open(struct open_tree *o, size_t need)
{
    size_t cap = o->cap ? o->cap : 256;

    if (need <= o->cap)
        return;
    while (cap < need)
        cap *= 2;
    o->region = mem_resize(o->region, cap, sizeof *o->region);
    o->parent = mem_resize(o->parent, cap, sizeof *o->parent);
    o->exclusive_ns = mem_resize(o->exclusive_ns, cap, sizeof *o->exclusive_ns);
    o->enter_ns = mem_resize(o->enter_ns, cap, sizeof *o->enter_ns);
    o->cap = cap;
}

static void reserve_vertices(struct live_forest *lf, size_t need)
{
    struct forest *f = &lf->forest;
    size_t cap = f->vertex_cap ? f->vertex_cap : 1024;

    mem_grow(&lf->vertex_enter_ns, &lf->enter_cap, need, sizeof *lf->vertex_enter_ns);
    if (need <= f->vertex_cap)
        return;
    while (cap < need)
        cap *= 2;
    f->region = mem_resize(f->region, cap, sizeof *f->region);
    f->parent = mem_resize(f->parent, cap, sizeof *f->parent);
    f->exclusive_ns = mem_resize(f->exclusive_ns, cap, sizeof *f->exclusive_ns);
    f->vertex_cap = cap;
}

static void reserve_tree(struct live_forest *lf)
{
    struct forest *f = &lf->forest;
    size_t cap = f->tree_cap ? 2 * f->tree_cap : 64;

    mem_grow(&lf->n_calls, &lf->calls_cap, f->n_trees + 1, sizeof *lf->n_calls);
    mem_grow(&lf->first_message, &lf->first_cap, f->n_trees + 2, sizeof *lf->first_message);
    if (f->n_trees < f->tree_cap)
        return;
    f->first = mem_resize(f->first, cap + 1, sizeof *f->first);
    f->location = mem_resize(f->location, cap, sizeof *f->location);
    f->index = mem_resize(f->index, cap, sizeof *f->index);
    f->call = mem_resize(f->call, cap, sizeof *f->call);
    f->enter_ns = mem_resize(f->enter_ns, cap, sizeof *f->enter_ns);
    f->root_ns = mem_resize(f->root_ns, cap, sizeof *f->root_ns);
    f->n_messages = mem_resize(f->n_messages, cap, sizeof *f->n_messages);
    f->tree_cap = cap;
}

static inline uint32_t vertex_of(const struct open_tree *o, const struct span *s, uint32_t row)
{
    if (row < s->begin)
        return o->chain[row - s->root];
    return row - s->begin < s->n_kept ? s->n_before + (row - s->begin) : NO_VERTEX;
}

/* The new rows that are kept, behind the vertices there are. */
static void append_rows(const struct target *to, const struct open_tree *o,
                        const struct live_calls *c, const struct span *s)
{
    uint32_t at = to->base + s->n_before;

    if (s->n_kept == 0)
        return;
    memcpy(to->region + at, c->region + s->begin, s->n_kept * sizeof *to->region);
    memcpy(to->exclusive_ns + at, c->exclusive_ns + s->begin,
           s->n_kept * sizeof *to->exclusive_ns);
    memcpy(to->enter_ns + at, c->enter_ns + s->begin, s->n_kept * sizeof *to->enter_ns);
    for (uint32_t i = 0; i < s->n_kept; i++) {
        uint32_t row = s->begin + i;

        to->parent[at + i] =
            row == s->root ? FOREST_ROOT : to->base + vertex_of(o, s, c->caller[row]);
    }
}

/* Calls that were open when the step began and are over now. */
static void settle_carried(const struct target *to, const struct open_tree *o,
                           const struct live_calls *c, const struct span *s)
{
    for (uint32_t row = s->root; row < s->begin; row++) {
        uint32_t v = o->chain[row - s->root];

        if (v != NO_VERTEX && c->inclusive_ns[row] != LIVE_OPEN)
            to->exclusive_ns[to->base + v] = c->exclusive_ns[row];
    }
}

/* ------------------------------------------------------------------------------- messages */

/* [*m, end) are those of this execution: they are in time order, and so are executions. */
static size_t messages_of(const struct live_calls *c, const struct span *s, size_t *m)
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
    mem_grow(list, cap, *n + 1, sizeof **list);
    message.call = call;
    (*list)[(*n)++] = message;
}

/* --------------------------------------------------------------------------------- adding */

/* The end of the calls below a row, which is the first behind it with a caller before it. */
static uint32_t end_of(const struct live_calls *c, uint32_t root)
{
    uint32_t end = root + 1;

    if (c->inclusive_ns[root] == LIVE_OPEN)
        return c->n;
    while (end < c->n && c->caller[end] != NO_CALL && c->caller[end] >= root)
        end++;
    return end;
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static void take_over(struct live_forest *lf, struct open_tree *o, const struct target *to)
{
    memcpy(to->region + to->base, o->region, o->n * sizeof *o->region);
    memcpy(to->exclusive_ns + to->base, o->exclusive_ns, o->n * sizeof *o->exclusive_ns);
    memcpy(to->enter_ns + to->base, o->enter_ns, o->n * sizeof *o->enter_ns);
    for (uint32_t v = 0; v < o->n; v++)
        to->parent[to->base + v] =
            o->parent[v] == FOREST_ROOT ? FOREST_ROOT : to->base + o->parent[v];
    for (size_t m = 0; m < o->n_kept_messages; m++)
        put_message(&lf->message, &lf->n_messages, &lf->message_cap, o->message[m],
                    to->base + o->message[m].call);
}

static void forget(struct live_forest *lf, struct open_tree *o)
{
    lf->n_open -= o->n;
    o->is_open = false;
    o->n = o->n_messages = o->n_chain = 0;
    o->n_calls = 0;
    o->n_kept_messages = 0;
    if (o->cap > LIVE_FOREST_MOST_CALLS / 64) { /* was unusually large: do not hold on to it */
        uint32_t n_begun = o->n_begun;

        open_tree_release(o);
        *o = (struct open_tree){.n_begun = n_begun};
    }
}

/* The root was left: a tree. Returns the message that follows. */
static size_t finish(struct live_forest *lf, uint32_t location, const struct live_calls *c,
                     const struct span *s, size_t m)
{
    struct forest *f = &lf->forest;
    struct open_tree *o = &lf->open[location];
    struct target to;
    uint32_t t = f->n_trees++, base = f->n;
    size_t end = messages_of(c, s, &m);

    reserve_vertices(lf, (size_t)base + s->n_before + s->n_kept);
    to = (struct target){f->region, f->parent, f->exclusive_ns, lf->vertex_enter_ns, base};
    f->first[t] = base;
    lf->first_message[t] = lf->n_messages;
    if (s->begin > s->root)
        take_over(lf, o, &to);
    append_rows(&to, o, c, s);
    settle_carried(&to, o, c, s);
    f->n = f->first[t + 1] = base + s->n_before + s->n_kept;
    f->location[t] = location;
    f->index[t] = o->n_begun - 1;
    f->call[t] = c->id[s->root];
    f->enter_ns[t] = c->enter_ns[s->root];
    f->root_ns[t] = c->inclusive_ns[s->root];
    f->n_messages[t] = o->n_messages + (uint32_t)(end - m);
    lf->n_calls[t] = o->n_calls + (s->end - s->begin);
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
static void note_chain(struct open_tree *o, const struct live_calls *c, const struct span *s)
{
    uint32_t n = 0;

    for (uint32_t row = c->top; row != NO_CALL && row >= s->root; row = c->caller[row])
        n++;
    mem_grow(&o->chain, &o->chain_cap, n, sizeof *o->chain);
    o->n_chain = n;
    for (uint32_t row = c->top; n-- > 0; row = c->caller[row])
        o->chain[n] = vertex_of(o, s, row); /* what was open before keeps its place in it */
}

/* Still open at the end of the step. Returns the message that follows. */
static size_t keep(struct live_forest *lf, struct open_tree *o, const struct live_calls *c,
                   const struct span *s, size_t m)
{
    struct target to;
    size_t end = messages_of(c, s, &m);

    reserve_open(o, (size_t)s->n_before + s->n_kept);
    to = (struct target){o->region, o->parent, o->exclusive_ns, o->enter_ns, 0};
    append_rows(&to, o, c, s);
    settle_carried(&to, o, c, s);
    o->n_messages += (uint32_t)(end - m);
    for (; m < end; m++) {
        uint32_t v = vertex_of(o, s, c->message[m].call);

        if (v != NO_VERTEX)
            put_message(&o->message, &o->n_kept_messages, &o->message_cap, c->message[m], v);
    }
    note_chain(o, c, s);
    o->is_open = true;
    o->n = s->n_before + s->n_kept;
    o->n_calls += s->end - s->begin;
    lf->n_open += s->n_kept;
    return m;
}

/* Once calls were left out, no more are kept: a tree has the first ones, without gaps. */
static struct span span_of(const struct live_forest *lf, const struct open_tree *o,
                           const struct live_calls *c, uint32_t root)
{
    struct span s = {.root = root, .begin = root, .end = end_of(c, root)};
    uint64_t room;

    if (root < c->n_carried)
        s.begin = s.end < c->n_carried ? s.end : c->n_carried;
    s.n_before = o->n;
    room = o->n_calls > o->n ? 0 : lf->most_calls - o->n;
    if (c->inclusive_ns[root] == LIVE_OPEN && lf->most_open - lf->n_open < room)
        room = lf->most_open - lf->n_open;
    s.n_kept = smaller(s.end - s.begin, room);
    return s;
}

void live_forest_add(struct live_forest *lf, uint32_t location, const struct live_calls *c)
{
    struct open_tree *o;
    size_t m = 0;

    mem_grow(&lf->open, &lf->location_cap, (size_t)location + 1, sizeof *lf->open);
    while (lf->n_locations <= location)
        lf->open[lf->n_locations++] = (struct open_tree){0};
    o = &lf->open[location];
    for (uint32_t row = 0; row < c->n;) {
        struct span s;

        if (c->region[row] != lf->region) {
            row++;
            continue;
        }
        if (row < c->n_carried && !o->is_open) { /* began before anybody asked for it */
            row = end_of(c, row);
            continue;
        }
        o->n_begun += row >= c->n_carried;
        s = span_of(lf, o, c, row);
        if (c->inclusive_ns[row] == LIVE_OPEN) {
            m = keep(lf, o, c, &s, m);
        } else {
            reserve_tree(lf);
            m = finish(lf, location, c, &s, m);
        }
        row = s.end;
    }
}
