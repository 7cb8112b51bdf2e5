/*
 * Calls that make each function once, or all of one before those of the next, in the order in
 * which the shape was seen first, are most by far: they are only counted. Of the others each
 * two functions are looked at, in a table for the shape. A second pass finds the calls that are
 * in another order, if there are any.
 */
#include "features/call_order.h"

#include "base/mem.h"
#include "features/periodic.h"
#include "features/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRM_OF 50u /* calls of a shape, of which one may be in another order */
#define N_CLASSES 34u
#define TYPICAL_MIN_EXECUTIONS                                                                 \
    3u /* executions of a location, for their order to be typical there */
#define SLOT_NONE UINT32_MAX

struct siblings {
    uint32_t *slot_of; /* [regions] + 1; 0: none */
    uint32_t n;        /* slots: functions of the shape, in the order of its children */
    uint32_t class[CALL_ORDER_MAX_FUNCTIONS], n_calls[CALL_ORDER_MAX_FUNCTIONS];
    uint32_t first[CALL_ORDER_MAX_FUNCTIONS],
        last[CALL_ORDER_MAX_FUNCTIONS];              /* where among the calls */
    uint32_t next[CALL_ORDER_MAX_FUNCTIONS];         /* of its class, by first */
    uint32_t latest[N_CLASSES];                      /* slot of each class */
    bool is_mixed[N_CLASSES];                        /* they are not called in turns */
    uint32_t seen[CALL_ORDER_MAX_FUNCTIONS], n_seen; /* slots in order of first */
    uint32_t n_at, n_runs, run_of; /* calls so far, and how often it is another function */
};

struct siblings *siblings_new(uint32_t n_regions)
{
    struct siblings *s = mem_alloc(1, sizeof *s);

    s->slot_of = mem_alloc(n_regions, sizeof *s->slot_of);
    return s;
}

void siblings_free(struct siblings *s)
{
    free(s->slot_of);
    free(s);
}

static void begin(struct siblings *s, const struct shapes *shapes, uint32_t shape)
{
    const struct shape_child *child = &shapes->child[shapes->child_first[shape]];
    size_t n = shapes->child_first[shape + 1] - shapes->child_first[shape];

    s->n = n < CALL_ORDER_MAX_FUNCTIONS ? (uint32_t)n : CALL_ORDER_MAX_FUNCTIONS;
    for (uint32_t i = 0; i < s->n; i++) {
        s->slot_of[child[i].region] = i + 1;
        s->class[i] = child[i].number_class;
        s->n_calls[i] = 0;
        s->latest[s->class[i]] = SLOT_NONE;
        s->is_mixed[s->class[i]] = false;
    }
    s->n_seen = s->n_at = s->n_runs = 0;
    s->run_of = SLOT_NONE;
}

static void end(struct siblings *s, const struct shapes *shapes, uint32_t shape)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->slot_of[shapes->child[shapes->child_first[shape] + i].region] = 0;
}

static void add(struct siblings *s, uint32_t region)
{
    uint32_t slot = s->slot_of[region] - 1, class;

    if (slot == SLOT_NONE)
        return;
    class = s->class[slot];
    s->n_runs += slot != s->run_of;
    s->run_of = slot;
    s->last[slot] = s->n_at++;
    if (s->n_calls[slot]++ == 0) {
        if (s->latest[class] != SLOT_NONE)
            s->next[s->latest[class]] = slot;
        s->next[slot] = SLOT_NONE;
        s->latest[class] = slot;
        s->first[slot] = s->last[slot];
        s->seen[s->n_seen++] = slot;
    } else if (s->next[slot] != SLOT_NONE && s->n_calls[s->next[slot]] >= s->n_calls[slot]) {
        s->is_mixed[class] = true; /* the next one has had that turn already */
    }
}

/* Of two slots, of which p was seen first. */
static bool comes_first(const struct siblings *s, uint32_t p, uint32_t q)
{
    bool is_in_turns =
        s->class[p] == s->class[q] && s->class[p] > 1 && !s->is_mixed[s->class[p]];

    return is_in_turns || s->last[p] < s->first[q];
}

/* All come one after the other, or all in turns, as the shape has them. */
static bool is_straight(const struct siblings *s)
{
    bool is_in_turns = s->n > 0 && s->class[0] > 1 && !s->is_mixed[s->class[0]];

    if (s->n_seen != s->n)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->seen[i] != i)
            return false;
        is_in_turns &= s->class[i] == s->class[0];
    }
    return is_in_turns || s->n_runs == s->n;
}

static void add_children(struct siblings *s, const struct forest *forest, uint32_t base,
                         const uint32_t *len, uint32_t i)
{
    for (uint32_t c = i + 1; c < i + len[i]; c += len[c])
        add(s, forest->region[base + c]);
}

static bool is_other(const struct siblings *s, const struct call_orders *orders, uint32_t order)
{
    for (size_t i = orders->first_pair[order]; i < orders->first_pair[order + 1]; i++) {
        uint32_t p = orders->pair[i].first, q = orders->pair[i].then;

        if (s->n_calls[p] == 0 || s->n_calls[q] == 0)
            continue; /* hashes are equal, so they are there */
        if (s->first[p] > s->first[q] || !comes_first(s, p, q))
            return true;
    }
    return false;
}

bool call_order_is_other(const struct shapes *shapes, uint32_t order, struct siblings *s,
                         const struct forest *forest, uint32_t base, const uint32_t *len,
                         uint32_t i)
{
    uint32_t shape = shapes->orders.shape[order];
    bool found;

    begin(s, shapes, shape);
    add_children(s, forest, base, len, i);
    found = is_other(s, &shapes->orders, order);
    end(s, shapes, shape);
    return found;
}

/* ---------------------------------------------------------------------------- learning */

struct order_learning {
    struct shapes *shapes;
    const struct shapes_input *input;
    uint32_t *shape;         /* of kinds */
    const uint32_t *n_first; /* [kinds] first executions */
    struct siblings *siblings;
    uint32_t *order_of; /* [shapes] that are looked at, or CALL_ORDER_FREE */
    uint32_t n, *of;    /* [n] shapes */
    size_t *at;         /* [n + 1] into before */
    uint32_t *before;   /* calls in which a function comes before another */
    uint32_t *straight; /* [n] calls in which all are in the order of the children */
};

typedef void visit_fn(struct order_learning *l, uint32_t kind, uint32_t order,
                      const uint32_t *len, uint32_t i);

/* Goes through the calls of shapes that are looked at. */
static void visit_calls(struct order_learning *l, visit_fn *visit)
{
    const struct tree_kinds *kinds = l->input->kinds;
    uint32_t *len = NULL;
    size_t cap = 0;

    for (uint32_t k = 0; k < kinds->n; k++) {
        uint32_t n = kinds->at[k + 1] - kinds->at[k];

        mem_grow(&len, &cap, n);
        forest_subtree_len(l->input->forest, kinds->first[k], len);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t shape = l->shape[kinds->at[k] + i];

            if (shape < l->shapes->id.n && l->order_of[shape] != CALL_ORDER_FREE)
                visit(l, k, l->order_of[shape], len, i);
        }
    }
    free(len);
}

static uint32_t base_of(const struct order_learning *l, uint32_t kind)
{
    return l->input->forest->first[l->input->kinds->first[kind]];
}

static void count_call(struct order_learning *l, uint32_t kind, uint32_t order,
                       const uint32_t *len, uint32_t i)
{
    struct siblings *s = l->siblings;
    uint32_t n_calls = l->input->kinds->n_trees[kind];
    uint32_t *before = &l->before[l->at[order]];

    begin(s, l->shapes, l->of[order]);
    add_children(s, l->input->forest, base_of(l, kind), len, i);
    if (is_straight(s))
        l->straight[order] += n_calls;
    else
        for (uint32_t p = 0; p < s->n_seen; p++)
            for (uint32_t q = p + 1; q < s->n_seen; q++)
                if (comes_first(s, s->seen[p], s->seen[q]))
                    before[s->seen[p] * s->n + s->seen[q]] += n_calls;
    end(s, l->shapes, l->of[order]);
}

/* What is called when something else is done, whatever that is: the order of what a call makes
 * beside it is nobody's choice. */
static bool takes_what_comes(const struct region *region)
{
    static const char *const names[] = {"MPI_Waitany", "MPI_Waitsome", "MPI_Test",
                                        "MPI_Iprobe",  "MPI_Probe",    "MPI_Improbe",
                                        "MPI_Mprobe"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(region->name, names[i], strlen(names[i])) == 0)
            return true;
    return region->kind == REGION_OPENMP && strstr(region->name, "task");
}

/* It makes calls of several functions, often enough, and chooses itself which is next. */
static bool is_looked_at(const struct shapes *s, const struct definitions *defs, uint32_t shape)
{
    size_t begin_at = s->child_first[shape], end_at = s->child_first[shape + 1];

    if (end_at - begin_at < 2 || s->calls[shape] < FIRM_OF)
        return false;
    for (size_t i = begin_at; i < end_at; i++)
        if (takes_what_comes(&defs->region[s->child[i].region]))
            return false;
    return true;
}

static void choose_shapes(struct order_learning *l)
{
    struct shapes *s = l->shapes;

    l->order_of = mem_resize(NULL, s->id.n, sizeof *l->order_of);
    l->of = mem_resize(NULL, s->id.n, sizeof *l->of);
    l->at = mem_resize(NULL, (size_t)s->id.n + 1, sizeof *l->at);
    l->at[0] = 0;
    for (uint32_t i = 0; i < s->id.n; i++) {
        size_t n = s->child_first[i + 1] - s->child_first[i];

        l->order_of[i] = CALL_ORDER_FREE;
        if (!is_looked_at(s, l->input->defs, i))
            continue;
        n = n < CALL_ORDER_MAX_FUNCTIONS ? n : CALL_ORDER_MAX_FUNCTIONS;
        l->order_of[i] = l->n;
        l->of[l->n++] = i;
        l->at[l->n] = l->at[l->n - 1] + n * n;
    }
}

/* The pairs that are firm. Returns whether any call is in another order. */
static bool add_firm_pairs(const struct order_learning *l, uint32_t order,
                           struct call_orders *out, size_t *n_pairs, size_t *cap)
{
    uint64_t n_calls = l->shapes->calls[l->of[order]];
    const uint32_t *before = &l->before[l->at[order]];
    uint32_t n = (uint32_t)llrint(sqrt((double)(l->at[order + 1] - l->at[order])));
    bool has_other = false;

    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < n; q++) {
            uint64_t n_so = before[p * n + q] + (uint64_t)(p < q ? l->straight[order] : 0);

            if (p == q || FIRM_OF * (n_calls - n_so) > n_calls)
                continue;
            has_other |= n_so < n_calls;
            mem_grow(&out->pair, cap, *n_pairs + 1);
            out->pair[(*n_pairs)++] = (struct call_order_pair){p, q};
        }
    return has_other;
}

/* Fills in the orders. Of those without a call in another one nothing more is to be looked at.
 * Returns whether there are others. */
static bool find_firm(struct order_learning *l)
{
    struct call_orders *o = &l->shapes->orders;
    size_t n_pairs = 0, cap = 0;
    bool has_any = false;

    *o = (struct call_orders){.shape = mem_alloc(l->n, sizeof *o->shape),
                              .calls = mem_alloc(l->n, sizeof *o->calls),
                              .first_calls = mem_alloc(l->n, sizeof *o->first_calls),
                              .first_pair = mem_alloc((size_t)l->n + 1, sizeof *o->first_pair),
                              .of = mem_resize(NULL, l->shapes->id.n, sizeof *o->of)};
    memset(o->of, 0xff, l->shapes->id.n * sizeof *o->of);
    for (uint32_t i = 0; i < l->n; i++) {
        size_t n_before = n_pairs;
        bool has_other = add_firm_pairs(l, i, o, &n_pairs, &cap);

        l->order_of[l->of[i]] = has_other ? o->n : CALL_ORDER_FREE;
        has_any |= has_other;
        if (n_pairs == n_before)
            continue;
        o->of[l->of[i]] = o->n;
        o->shape[o->n++] = l->of[i];
        o->first_pair[o->n] = n_pairs;
    }
    return has_any;
}

static void mark_call(struct order_learning *l, uint32_t kind, uint32_t order,
                      const uint32_t *len, uint32_t i)
{
    struct call_orders *o = &l->shapes->orders;

    if (!call_order_is_other(l->shapes, order, l->siblings, l->input->forest, base_of(l, kind),
                             len, i))
        return;
    o->calls[order] += l->input->kinds->n_trees[kind];
    o->first_calls[order] += l->n_first[kind];
    l->shape[l->input->kinds->at[kind] + i] = l->shapes->id.n + order;
}

/* Executions in another order than is firm. */
struct order_counts {
    uint32_t n_last, n_others; /* that are the last ones of their locations, and others */
    uint32_t is_typical;       /* it is what most executions of a location do */
};

static void add_where(void *into, const void *from, size_t n)
{
    struct order_counts *to = into;
    const struct order_counts *more = from;

    for (size_t i = 0; i < n; i++) {
        to[i].n_last += more[i].n_last;
        to[i].n_others += more[i].n_others;
        to[i].is_typical |= more[i].is_typical;
    }
}

/* Where in the run those of each order are. */
static struct order_counts *find_where(const struct order_learning *l,
                                       const struct kind_sets *others)
{
    const struct forest *forest = l->input->forest;
    uint32_t n = l->shapes->orders.n, *n_here = mem_alloc(n, sizeof *n_here), begin_at = 0;
    struct order_counts *where = mem_alloc(n, sizeof *where);

    for (uint32_t t = 0; t < forest->n_trees; t++) {
        uint32_t kind = l->input->kinds->of[t];
        bool is_last =
            t + 1 == forest->n_trees || forest->location[t + 1] != forest->location[t];

        for (size_t i = others->first[kind]; i < others->first[kind + 1]; i++) {
            uint32_t order = others->number[i];

            if (order == n) /* all else there is */
                continue;
            n_here[order]++;
            *(is_last ? &where[order].n_last : &where[order].n_others) += 1;
        }
        for (uint32_t i = 0; is_last && i < n; i++) {
            where[i].is_typical |=
                n_here[i] >= TYPICAL_MIN_EXECUTIONS && 2 * n_here[i] > t + 1 - begin_at;
            n_here[i] = 0;
        }
        begin_at = is_last ? t + 1 : begin_at;
    }
    tree_share_add(l->input->share, where, n, sizeof *where, add_where);
    free(n_here);
    return where;
}

/* It is how the program ends: what several locations do in their last executions alone, or the
 * last iteration of a loop, which has in it what comes after the loop. */
static bool is_the_end(const struct order_learning *l, const struct order_counts *where)
{
    const struct forest *forest = l->input->forest;
    bool is_loop =
        forest->n_trees > 0 && l->input->defs->region[forest->region[0]].kind == REGION_LOOP;

    return where->n_others == 0 && where->n_last > (is_loop ? 0 : 1);
}

/* Which orders are free after all, by the calls that are in another one. */
static uint8_t *find_free(const struct order_learning *l)
{
    const struct call_orders *o = &l->shapes->orders;
    const struct tree_kinds *kinds = l->input->kinds;
    uint32_t n = o->n, n_shapes = l->shapes->id.n;
    uint32_t *column = mem_resize(NULL, kinds->at[kinds->n], sizeof *column);
    struct kind_sets others;
    struct order_counts *where;
    uint8_t *is_free;

    for (uint32_t i = 0; i < kinds->at[kinds->n]; i++)
        column[i] = l->shape[i] >= n_shapes && l->shape[i] != SHAPE_NONE
                        ? l->shape[i] - n_shapes
                        : n; /* not one of them */
    kind_sets_find(&others, kinds, column, n + 1);
    where = find_where(l, &others);
    is_free = periodic_numbers(n + 1, l->input->forest, kinds, &others, l->input->share);
    for (uint32_t i = 0; i < n; i++)
        is_free[i] |= where[i].is_typical || is_the_end(l, &where[i]) ||
                      (uint64_t)FIRM_OF * o->calls[i] > l->shapes->calls[o->shape[i]];
    kind_sets_release(&others);
    free(where);
    free(column);
    return is_free;
}

/* Takes out those that are free, and gives the others their numbers. */
static void drop_free(struct order_learning *l, const uint8_t *is_free)
{
    struct call_orders *o = &l->shapes->orders;
    const struct tree_kinds *kinds = l->input->kinds;
    uint32_t n_shapes = l->shapes->id.n, n = 0;
    uint32_t *to = mem_resize(NULL, o->n, sizeof *to);
    size_t n_pairs = 0;

    for (uint32_t i = 0; i < o->n; i++) {
        size_t begin_at = o->first_pair[i], end_at = o->first_pair[i + 1];

        to[i] = is_free[i] ? o->shape[i] : n_shapes + n;
        o->of[o->shape[i]] = is_free[i] ? CALL_ORDER_FREE : n;
        if (is_free[i])
            continue;
        memmove(&o->pair[n_pairs], &o->pair[begin_at], (end_at - begin_at) * sizeof *o->pair);
        o->shape[n] = o->shape[i];
        o->calls[n] = o->calls[i];
        o->first_calls[n] = o->first_calls[i];
        o->first_pair[n++] = n_pairs;
        n_pairs += end_at - begin_at;
    }
    o->n = n;
    o->first_pair[n] = n_pairs;
    for (uint32_t i = 0; i < kinds->at[kinds->n]; i++)
        if (l->shape[i] >= n_shapes && l->shape[i] != SHAPE_NONE)
            l->shape[i] = to[l->shape[i] - n_shapes];
    free(to);
}

void call_orders_learn(struct shapes *shapes, const struct shapes_input *input,
                       const uint32_t *n_first, uint32_t *shape)
{
    const struct tree_share *share = input->share;
    struct order_learning l = {
        .shapes = shapes, .input = input, .shape = shape, .n_first = n_first};
    uint8_t *is_free;

    choose_shapes(&l);
    l.siblings = siblings_new(input->defs->names.n);
    l.before = mem_alloc(l.at[l.n], sizeof *l.before);
    l.straight = mem_alloc(l.n, sizeof *l.straight);
    visit_calls(&l, count_call);
    tree_share_add(share, l.before, l.at[l.n], sizeof *l.before, tree_share_sum_u32);
    tree_share_add(share, l.straight, l.n, sizeof *l.straight, tree_share_sum_u32);
    if (find_firm(&l)) {
        struct call_orders *o = &shapes->orders;

        visit_calls(&l, mark_call);
        tree_share_add(share, o->calls, o->n, sizeof *o->calls, tree_share_sum_u32);
        tree_share_add(share, o->first_calls, o->n, sizeof *o->first_calls, tree_share_sum_u32);
        is_free = find_free(&l);
        drop_free(&l, is_free);
        free(is_free);
    }
    siblings_free(l.siblings);
    free(l.order_of);
    free(l.of);
    free(l.at);
    free(l.before);
    free(l.straight);
}

/* -------------------------------------------------------------------------- explaining */

void call_order_swapped(const struct shapes *shapes, uint32_t order, uint32_t n_regions,
                        const struct forest *forest, uint32_t v, uint32_t *early,
                        uint32_t *late)
{
    const struct call_orders *o = &shapes->orders;
    uint32_t shape = o->shape[order], end_at = forest->first[forest_tree(forest, v) + 1];
    const struct shape_child *child = &shapes->child[shapes->child_first[shape]];
    struct siblings *s = siblings_new(n_regions);
    uint32_t best_first = UINT32_MAX, best_slot = UINT32_MAX;

    begin(s, shapes, shape);
    for (uint32_t c = v + 1; c < end_at; c++)
        if (forest->parent[c] == v)
            add(s, forest->region[c]);
    *early = *late = child[0].region;
    for (size_t i = o->first_pair[order]; i < o->first_pair[order + 1]; i++) {
        uint32_t p = o->pair[i].first, q = o->pair[i].then;

        if (s->n_calls[p] == 0 || s->n_calls[q] == 0 ||
            (s->first[p] < s->first[q] && comes_first(s, p, q)))
            continue;
        if (s->first[q] > best_first || (s->first[q] == best_first && p >= best_slot))
            continue;
        best_first = s->first[q];
        best_slot = p;
        *early = child[q].region;
        *late = child[p].region;
    }
    siblings_free(s);
}

double call_orders_rarity(const struct shapes *shapes, uint32_t order, bool is_of_first)
{
    const struct call_orders *o = &shapes->orders;
    double of =
        is_of_first ? shapes->first_calls[o->shape[order]] : shapes->calls[o->shape[order]];
    double n = is_of_first ? o->first_calls[order] : o->calls[order];

    return n > 0 ? -log(n / of) : is_of_first ? INFINITY : log(of + 1);
}

/* ------------------------------------------------------------------------------- bytes */

void call_orders_pack(const struct call_orders *o, struct pack *p)
{
    pack_array(p, o->shape, o->n, sizeof *o->shape);
    pack_array(p, o->calls, o->n, sizeof *o->calls);
    pack_array(p, o->first_calls, o->n, sizeof *o->first_calls);
    pack_array(p, o->first_pair, o->n ? (size_t)o->n + 1 : 0, sizeof *o->first_pair);
    pack_array(p, o->pair, o->n ? o->first_pair[o->n] : 0, sizeof *o->pair);
}

static bool is_sound(const struct shapes *s, size_t n_pairs)
{
    const struct call_orders *o = &s->orders;

    if (o->n > 0 && (o->first_pair[0] != 0 || o->first_pair[o->n] != n_pairs))
        return false;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t shape = o->shape[i];

        if (shape >= s->id.n || (i > 0 && shape <= o->shape[i - 1]) ||
            o->first_pair[i] > o->first_pair[i + 1] || o->first_pair[i + 1] > n_pairs ||
            o->calls[i] > s->calls[shape] || o->first_calls[i] > s->first_calls[shape])
            return false;
        for (size_t k = o->first_pair[i]; k < o->first_pair[i + 1]; k++) {
            size_t n = s->child_first[shape + 1] - s->child_first[shape];

            n = n < CALL_ORDER_MAX_FUNCTIONS ? n : CALL_ORDER_MAX_FUNCTIONS;
            if (o->pair[k].first >= n || o->pair[k].then >= n)
                return false;
        }
    }
    return true;
}

void call_orders_unpack(struct shapes *s, struct pack *p)
{
    struct call_orders *o = &s->orders;
    size_t n, n_pairs;

    o->of = mem_resize(NULL, s->id.n, sizeof *o->of);
    memset(o->of, 0xff, s->id.n * sizeof *o->of);
    if (p == NULL)
        return;
    n = unpack_count(p, sizeof *o->shape);
    o->shape = unpack_array(p, n, sizeof *o->shape);
    o->calls = unpack_array(p, n, sizeof *o->calls);
    o->first_calls = unpack_array(p, n, sizeof *o->first_calls);
    o->first_pair = unpack_array(p, n ? n + 1 : 0, sizeof *o->first_pair);
    n_pairs = unpack_count(p, sizeof *o->pair);
    o->pair = unpack_array(p, n_pairs, sizeof *o->pair);
    o->n = p->is_bad ? 0 : (uint32_t)n;
    p->is_bad |= !p->is_bad && !is_sound(s, n_pairs);
    for (uint32_t i = 0; !p->is_bad && i < o->n; i++)
        o->of[o->shape[i]] = i;
}

void call_orders_release(struct call_orders *o)
{
    free(o->shape);
    free(o->calls);
    free(o->first_calls);
    free(o->first_pair);
    free(o->pair);
    free(o->of);
    *o = (struct call_orders){0};
}
