/* Neighbours by a plain search: it is done for one execution at a time. */
#include "explain/topsubtrees.h"

#include "base/mem.h"
#include "base/order.h"
#include "features/wl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST_DRAWN 3u
#define ABOUT_AS_IMPORTANT 0.75 /* share of the importance */
#define MAX_KINDS 12u           /* of children that are told apart in a name */

/* --------------------------------------------------------------------------- neighbours */

struct distance {
    double square;
    uint32_t tree;
};

static int by_distance(const void *a, const void *b)
{
    const struct distance *p = a, *q = b;

    return ORDER(p->square, q->square) ?: ORDER(p->tree, q->tree);
}

static void find_neighbours(struct topsubtrees *s, struct matrix x, uint32_t t, uint32_t k)
{
    struct distance *distance = mem_alloc(x.rows, sizeof *distance);
    const double *here = matrix_row(x, t);
    size_t n = 0;

    for (uint32_t other = 0; other < x.rows; other++) {
        const double *there = matrix_row(x, other);

        if (other == t)
            continue;
        distance[n].tree = other;
        for (size_t c = 0; c < x.cols; c++)
            distance[n].square += (here[c] - there[c]) * (here[c] - there[c]);
        n++;
    }
    qsort(distance, n, sizeof *distance, by_distance);
    s->n_neighbours = (uint32_t)(n < k ? n : k);
    s->neighbour = mem_alloc(s->n_neighbours, sizeof *s->neighbour);
    for (uint32_t i = 0; i < s->n_neighbours; i++)
        s->neighbour[i] = distance[i].tree;
    free(distance);
}

/* ---------------------------------------------------------------------------- importance */

/* By which the execution differs from the mean of its neighbours. [cols] */
static double *difference(const struct topsubtrees *s, struct matrix x, uint32_t t)
{
    double *f = mem_alloc(x.cols, sizeof *f);

    for (size_t c = 0; c < x.cols; c++) {
        f[c] = matrix_row(x, t)[c];
        for (uint32_t i = 0; i < s->n_neighbours; i++)
            f[c] -= matrix_row(x, s->neighbour[i])[c] / s->n_neighbours;
    }
    return f;
}

static double importance(const struct topsubtrees_input *in, const double *f, uint32_t word)
{
    const struct stack2vec *m = in->embedding;
    uint32_t known = idmap_find(&m->label, in->wl->vocab.label.key[word]);
    double sum = 0;

    if (known == IDMAP_NONE)
        return 0;
    for (size_t c = 0; c < in->x.cols; c++)
        sum += f[c] * (double)m->output[known * m->n_dims + c];
    return sum;
}

/* How much there is of a subtree, as the embedding measures it. */
struct amount {
    double here, least, most; /* in the execution; in those of its neighbours that have any */
    uint32_t n_neighbours;    /* that have any */
};

/* The importance, but no subtree differs by more than it does from any of the neighbours. */
static double bounded(double importance, const struct amount *a, uint32_t n_neighbours)
{
    double least = a->n_neighbours < n_neighbours ? 0 : a->least;
    double other = importance > 0 ? least : a->most;

    if (importance > 0 ? a->here <= other : a->here >= other)
        return 0;
    if (importance > 0)
        return other > 0 ? fmin(importance, log(a->here / other)) : importance;
    return a->here > 0 ? fmax(importance, log(a->here / other)) : importance;
}

static double amount_of(const struct topsubtrees_input *in, size_t i)
{
    const struct bags *bags = &in->wl->bags;
    const struct distinct_entry entry = {bags->weight_ns[i], 0, bags->count[i]};

    return stack2vec_target(in->embedding, &entry);
}

/* Adds the words of a tree: to what is here, or to what is typical. */
static void add_words(struct topsubtrees *s, const struct topsubtrees_input *in, uint32_t tree,
                      bool is_here, struct amount *amount, uint32_t *place)
{
    const struct bags *bags = &in->wl->bags;

    for (size_t i = bags->first[tree]; i < bags->first[tree + 1]; i++) {
        uint32_t *at = &place[bags->word[i]];

        if (*at == WORD_NONE) {
            *at = (uint32_t)s->n++;
            s->top[*at] = (struct topsubtree){.word = bags->word[i], .tree = tree};
        }
        if (is_here) {
            s->top[*at].count = bags->count[i];
            s->top[*at].weight_ns = bags->weight_ns[i];
            amount[*at].here = amount_of(in, i);
        } else {
            double there = amount_of(in, i);

            s->top[*at].typical_count += (double)bags->count[i] / s->n_neighbours;
            s->top[*at].typical_ns += (double)bags->weight_ns[i] / s->n_neighbours;
            if (amount[*at].n_neighbours == 0 || there < amount[*at].least)
                amount[*at].least = there;
            amount[*at].most = fmax(amount[*at].most, there);
            amount[*at].n_neighbours++;
        }
    }
}

static int by_importance(const void *a, const void *b)
{
    const struct topsubtree *p = a, *q = b;
    double x = fabs(p->importance), y = fabs(q->importance);

    return ORDER(y, x) ?: ORDER(p->word, q->word);
}

/* Whether the subtree down to `degree` levels below v holds that of this word at u. */
static bool contains(const struct topsubtrees_input *in, uint32_t v, uint32_t degree,
                     uint32_t u, uint32_t word)
{
    uint32_t deepest = in->wl->vocab.degree[word];

    while (u > v && deepest < degree) {
        u = in->forest->parent[u];
        deepest++;
    }
    return u == v && deepest <= degree;
}

/* Whether a smaller subtree says it as well. */
static bool is_said_by_a_part(const struct topsubtrees *s, const struct topsubtrees_input *in,
                              const struct wl_occurrences *places, const uint32_t *place,
                              const struct topsubtree *top)
{
    uint32_t degree = in->wl->vocab.degree[top->word];

    for (size_t i = 0; i < places->n; i++) {
        const struct topsubtree *part = &s->top[place[places->word[i]]];
        bool is_alike = part->importance * top->importance > 0 &&
                        fabs(part->importance) >= ABOUT_AS_IMPORTANT * fabs(top->importance);

        if (part != top && is_alike &&
            contains(in, top->vertex, degree, places->vertex[i], part->word))
            return true;
    }
    return false;
}

/* Finds where the subtrees of a tree are, and marks those that parts of them stand for. */
static void look_at_tree(struct topsubtrees *s, const struct topsubtrees_input *in,
                         uint32_t tree, const struct wl_occurrences *places,
                         const uint32_t *place, bool *is_left_out)
{
    for (size_t i = places->n; i-- > 0;) {
        struct topsubtree *top = &s->top[place[places->word[i]]];

        if (top->tree == tree)
            top->vertex = places->vertex[i];
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->top[i].tree == tree)
            is_left_out[i] = s->top[i].importance == 0 ||
                             is_said_by_a_part(s, in, places, place, &s->top[i]);
}

/* Leaves the smallest subtrees that say something. */
static void keep_smallest(struct topsubtrees *s, const struct topsubtrees_input *in,
                          const uint32_t *place, uint32_t t)
{
    bool *is_left_out = mem_alloc(s->n, sizeof *is_left_out);
    size_t n = 0;

    wl_occurrences_of(in->wl, in->forest, in->defs, t, &s->here);
    look_at_tree(s, in, t, &s->here, place, is_left_out);
    for (uint32_t i = 0; i < s->n_neighbours; i++) {
        struct wl_occurrences places;

        wl_occurrences_of(in->wl, in->forest, in->defs, s->neighbour[i], &places);
        look_at_tree(s, in, s->neighbour[i], &places, place, is_left_out);
        wl_occurrences_release(&places);
    }
    for (size_t i = 0; i < s->n; i++)
        if (!is_left_out[i])
            s->top[n++] = s->top[i];
    s->n = n;
    free(is_left_out);
}

/* All subtrees of the execution and its neighbours. */
static void find_importances(struct topsubtrees *s, const struct topsubtrees_input *in,
                             uint32_t t, uint32_t *place)
{
    struct amount *amount = mem_alloc(in->wl->vocab.label.n, sizeof *amount);
    double *f = difference(s, in->x, t);

    add_words(s, in, t, true, amount, place);
    for (uint32_t i = 0; i < s->n_neighbours; i++)
        add_words(s, in, s->neighbour[i], false, amount, place);
    for (size_t i = 0; i < s->n; i++)
        s->top[i].importance =
            bounded(importance(in, f, s->top[i].word), &amount[i], s->n_neighbours);
    free(f);
    free(amount);
}

void topsubtrees_init(struct topsubtrees *s, const struct topsubtrees_input *in, uint32_t t)
{
    uint32_t n_words = in->wl->vocab.label.n;
    uint32_t *place = mem_alloc(n_words, sizeof *place);

    *s = (struct topsubtrees){.top = mem_alloc(n_words, sizeof *s->top)};
    memset(place, 0xff, n_words * sizeof *place); /* WORD_NONE */
    find_neighbours(s, in->x, t, in->n_neighbours ? in->n_neighbours : TOPSUBTREES_NEIGHBOURS);
    if (s->n_neighbours > 0) {
        find_importances(s, in, t, place);
        keep_smallest(s, in, place, t);
        qsort(s->top, s->n, sizeof *s->top, by_importance);
    }
    free(place);
}

void topsubtrees_release(struct topsubtrees *s)
{
    free(s->top);
    free(s->neighbour);
    wl_occurrences_release(&s->here);
    *s = (struct topsubtrees){0};
}

/* --------------------------------------------------------------------------------- names */

static char *name_of(const struct forest *f, const struct definitions *defs, uint32_t v,
                     uint32_t levels, bool is_cut, char out[TOPSUBTREES_NAME_SIZE]);

/* Children that read the same. */
struct child_kind {
    char name[TOPSUBTREES_NAME_SIZE];
    uint32_t n;
};

/* Returns how many kinds there are; those beyond MAX_KINDS are not kept. */
static size_t sort_children(const struct forest *f, const struct definitions *defs, uint32_t v,
                            uint32_t levels, bool is_cut, struct child_kind *kind)
{
    char name[TOPSUBTREES_NAME_SIZE];
    size_t n = 0;

    for (uint32_t u = v + 1; u < f->n && f->parent[u] != FOREST_ROOT && f->parent[u] >= v;
         u++) {
        size_t k = 0;

        if (f->parent[u] != v)
            continue;
        name_of(f, defs, u, levels, is_cut, name);
        while (k < n && k < MAX_KINDS && strcmp(kind[k].name, name) != 0)
            k++;
        if (k < n && k < MAX_KINDS)
            kind[k].n++;
        else if (n++ < MAX_KINDS) {
            memcpy(kind[k].name, name, sizeof name);
            kind[k].n = 1;
        }
    }
    return n;
}

/* Appends as much as there is room for. */
static void append(char out[TOPSUBTREES_NAME_SIZE], const char *text)
{
    size_t n = strlen(out), length = strlen(text), room = TOPSUBTREES_NAME_SIZE - 1 - n;

    memcpy(out + n, text, length < room ? length + 1 : room);
    out[TOPSUBTREES_NAME_SIZE - 1] = '\0';
    if (length > room)
        memcpy(out + TOPSUBTREES_NAME_SIZE - 4, "...", 4);
}

/* Recurses, but no deeper than DEEPEST_DRAWN. */
static char *name_of(const struct forest *f, const struct definitions *defs, uint32_t v,
                     uint32_t levels, bool is_cut, char out[TOPSUBTREES_NAME_SIZE])
{
    struct child_kind *kind;
    size_t n;

    snprintf(out, TOPSUBTREES_NAME_SIZE, "%s", defs->region[f->region[v]].short_name);
    if (v + 1 >= f->n || f->parent[v + 1] != v || (levels == 0 && !is_cut))
        return out;
    if (levels == 0) {
        append(out, "(...)");
        return out;
    }
    kind = mem_alloc(MAX_KINDS, sizeof *kind);
    n = sort_children(f, defs, v, levels - 1, is_cut, kind);
    for (size_t k = 0; k < n && k < MAX_KINDS; k++) {
        char times[16];

        append(out, k == 0 ? "(" : ", ");
        append(out, kind[k].name);
        snprintf(times, sizeof times, " x%u", kind[k].n);
        if (kind[k].n > 1)
            append(out, times);
    }
    append(out, n > MAX_KINDS ? ", ...)" : ")");
    free(kind);
    return out;
}

char *topsubtrees_name(const struct forest *f, const struct definitions *defs, uint32_t vertex,
                       uint32_t degree, char out[TOPSUBTREES_NAME_SIZE])
{
    bool is_cut = degree > DEEPEST_DRAWN;

    return name_of(f, defs, vertex, is_cut ? DEEPEST_DRAWN : degree, is_cut, out);
}

void topsubtrees_mark(const struct topsubtrees *s, const struct topsubtrees_input *in,
                      uint32_t word, uint32_t t, bool *is_part)
{
    uint32_t first = in->forest->first[t], end = in->forest->first[t + 1];
    uint32_t degree = in->wl->vocab.degree[word];
    uint32_t *level = mem_alloc(end - first, sizeof *level);

    for (size_t i = 0; i < s->here.n; i++) {
        uint32_t v = s->here.vertex[i];

        if (s->here.word[i] != word)
            continue;
        is_part[v - first] = true;
        level[v - first] = 0;
        for (uint32_t u = v + 1; u < end && in->forest->parent[u] >= v; u++) {
            level[u - first] = level[in->forest->parent[u] - first] + 1;
            is_part[u - first] |= level[u - first] <= degree;
        }
    }
    free(level);
}
