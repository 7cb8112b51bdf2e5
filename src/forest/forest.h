/*
 * forest -- the call-stack trees of one function of interest.
 *
 * Every outermost call of the function is the root of a tree; recursive calls stay inside.
 * Trees lie one after another in the order of locations and, within one, of time; the vertices
 * of a tree are in preorder. With it, pushing down is a forward loop and gathering up a
 * backward one.
 *
 * A forest is what the program did: calls of the tracer's own regions, and what is in them, are
 * no vertices, and their time is in no vertex. How long they took is kept per tree, and where
 * they were, so that vertices can be found among the calls again:
 *
 *     rows      0 step  1 a  2 FLUSH  3 b       vertices  0 step  1 a  2 b;  a gap before 2
 */
#ifndef SNAG_FOREST_FOREST_H
#define SNAG_FOREST_FOREST_H

#include "base/paged.h"
#include "base/pool.h"
#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREST_ROOT UINT32_MAX

/* Rows of calls that are no vertices. */
struct forest_gap {
    uint32_t tree;
    uint32_t vertex; /* the next one after them, or the first of the next tree */
    uint32_t n_rows;
    bool is_flush; /* the tracer wrote what it had recorded */
};

/*
 * What it is not known whose it was: gaps at the begin or end of a call that count as a whole
 * for one call, and may be another's (calls_place).
 */
struct forest_doubt {
    float own_ns; /* of those that count for it the longer one; 0: none does, or all is known */
    float others_ns; /* of those that count for another */
};

struct forest {
    uint32_t n;             /* vertices */
    uint32_t *region;       /* [n] index into the definitions' regions */
    uint32_t *parent;       /* [n] vertex of this forest, < own index, or FOREST_ROOT */
    uint64_t *exclusive_ns; /* [n] time in the call but not in its direct children */

    uint32_t n_trees;
    uint32_t *first;     /* [n_trees + 1] first vertex; tree t is first[t] .. first[t+1]-1 */
    uint32_t *location;  /* [n_trees] */
    uint64_t *place;     /* [n_trees] rank << 32 | thread of that, if there are definitions */
    uint32_t *index;     /* [n_trees] number on its location, from 0 */
    uint32_t *call;      /* [n_trees] row of the root among the calls of its location */
    uint64_t *enter_ns;  /* [n_trees] of the root */
    uint64_t *root_ns;   /* [n_trees] inclusive time of the root */
    uint64_t *tracer_ns; /* [n_trees] of that, in the tracer */
    uint64_t *open_ns;   /* [n_trees] 0: it ended; else it was open when the events of its
                             location ended, and the run went on for so long less 1 */
    bool *is_cut; /* [n_trees] the last iteration of a loop: what computes between two is the
                     former's, but after this one there may be none */
    uint32_t *n_messages;   /* [n_trees] sends and receives inside */
    struct forest_gap *gap; /* [n_gaps] by tree and vertex */
    size_t n_gaps;

    /* By how much times may be off, either way, where begins and ends are estimates; NULL,
     * both, where all are known, as in most traces. */
    float *off_ns;              /* [n] exclusive_ns */
    float *root_off_ns;         /* [n_trees] root_ns */
    struct forest_doubt *doubt; /* [n] NULL with the two above */
    size_t vertex_cap, tree_cap, gap_cap;

    struct paged *paged; /* not its own: of what is by vertex. Set before there is any */
};

void forest_release(struct forest *forest);

/*
 * forest_add -- the trees of one more location, in the order of locations.
 *   calls   of that location
 *   region  the function of interest
 *   defs    of the regions; NULL: none of them is the tracer's
 * A root is a vertex, whatever its region. Returns 0, or ERR_RANGE when the forest would have
 * 2^32 vertices or more. O(calls).
 */
int forest_add(struct forest *forest, uint32_t location, const struct call_view *calls,
               uint32_t region, const struct definitions *defs);

/* How much of a forest the trees of one location are. */
struct forest_size {
    uint32_t n_trees;
    uint64_t n_vertices;
    bool has_estimates; /* some times are not known exactly */
};

/* forest_count -- what forest_add would add. O(calls). */
struct forest_size forest_count(const struct call_view *calls, uint32_t region,
                                const struct definitions *defs);

/*
 * forest_divide -- divide an empty forest into parts that threads fill, for a location each.
 *   size  (n) of each, from forest_count
 *   part  (n) out: for forest_fill, then forest_unite
 * Returns as forest_add.
 */
int forest_divide(struct forest *forest, const struct forest_size *size, uint32_t n,
                  struct forest *part);

/* forest_fill -- as forest_add, into a part. */
void forest_fill(struct forest *part, uint32_t location, const struct call_view *calls,
                 uint32_t region, const struct definitions *defs);

/* forest_unite -- all parts are filled: the forest is as if they had been added in order. */
void forest_unite(struct forest *forest, struct forest *part, uint32_t n);

/*
 * forest_of_calls -- one more tree for each of n calls of a location, whatever their function.
 * Their index is 0.
 *   row   (n) in order, none of them inside another
 *   defs  as for forest_add
 * O(their calls and the location's messages).
 */
void forest_of_calls(struct forest *forest, uint32_t location, const struct call_view *calls,
                     const uint32_t *row, uint32_t n, const struct definitions *defs);

/* forest_of_call -- the same for one call. */
void forest_of_call(struct forest *forest, uint32_t location, const struct call_view *calls,
                    uint32_t row, const struct definitions *defs);

/*
 * forest_append -- the trees of another forest behind those that there are.
 *   first_location  what location 0 of the other is here
 *   region          [] what each of its regions is here
 * Returns as forest_add. O(vertices of the other).
 */
int forest_append(struct forest *forest, const struct forest *other, uint32_t first_location,
                  const uint32_t *region);

/*
 * forest_grow -- make room for more vertices and trees, and then some, for whoever appends
 * trees one by one: sets their columns, n and n_trees, and first[n_trees].
 */
void forest_grow(struct forest *forest, size_t n_vertices, size_t n_trees);

/* forest_add_gap -- for whoever appends trees one by one: gaps come in order. */
void forest_add_gap(struct forest *forest, struct forest_gap gap);

/* forest_place -- what `place` is of trees on a location. */
uint64_t forest_place(const struct definitions *defs, uint32_t location);

/* forest_location_end -- the first tree behind those of tree t's location. O(their number). */
static inline uint32_t forest_location_end(const struct forest *forest, uint32_t t)
{
    uint32_t end = t + 1;

    while (end < forest->n_trees && forest->location[end] == forest->location[t])
        end++;
    return end;
}

/* forest_gaps -- those of tree t. Returns how many. O(log n_gaps). */
size_t forest_gaps(const struct forest *forest, uint32_t t, const struct forest_gap **gap);

/* forest_n_rows -- calls in tree t, its vertices and the tracer's. */
uint32_t forest_n_rows(const struct forest *forest, uint32_t t);

/* forest_row -- the row of vertex v of tree t among the calls of its location. */
uint32_t forest_row(const struct forest *forest, uint32_t t, uint32_t v);

/* forest_off_ns -- by how much root_ns of a tree may be off, either way. */
static inline double forest_off_ns(const struct forest *forest, uint32_t t)
{
    return forest->root_off_ns ? (double)forest->root_off_ns[t] : 0;
}

/* forest_call_off_ns -- by how much exclusive_ns of a vertex may be off, either way. */
static inline double forest_call_off_ns(const struct forest *forest, uint32_t v)
{
    return forest->off_ns ? (double)forest->off_ns[v] : 0;
}

/* forest_doubt_of -- of a vertex. */
static inline struct forest_doubt forest_doubt_of(const struct forest *forest, uint32_t v)
{
    return forest->doubt ? forest->doubt[v] : (struct forest_doubt){0};
}

/* forest_own_ns -- inclusive time of a root, without the tracer's. */
static inline uint64_t forest_own_ns(const struct forest *forest, uint32_t t)
{
    return forest->root_ns[t] - forest->tracer_ns[t];
}

/*
 * forest_inclusive -- inclusive times of the vertices of tree t: they are not kept, as one pass
 * gathers them.
 *   out  (first[t+1] - first[t])
 */
void forest_inclusive(const struct forest *forest, uint32_t t, uint64_t *out);

/*
 * forest_subtree_len -- vertices of the subtree of each vertex of tree t, itself among them.
 *   out  (first[t+1] - first[t])
 * O(vertices of t).
 */
void forest_subtree_len(const struct forest *forest, uint32_t t, uint32_t *out);

/*
 * forest_depth -- vertices on the longest path from the root of some trees, 0 for none.
 *   tree  (n) which; NULL: the first n
 * O(their vertices).
 */
uint32_t forest_depth(const struct forest *forest, const uint32_t *tree, uint32_t n);

/* forest_tree -- the tree that vertex v belongs to. O(log n_trees). */
uint32_t forest_tree(const struct forest *forest, uint32_t v);

/*
 * tree_kinds -- which trees of a forest are made of the same calls in the same order.
 *
 * Most executions of a program do the same; only the times differ. What depends on functions
 * and callers alone, as labels, paths and shapes do, is then to be found once for each *kind*
 * of tree, in its first tree, and is the same in the others, vertex by vertex. Columns of
 * kinds hold it: one number for each vertex of a kind.
 */
struct tree_kinds {
    uint32_t n;        /* numbered in order of first appearance */
    uint32_t *of;      /* [forest->n_trees] the kind of every tree */
    uint32_t *first;   /* [n] the first tree of each */
    uint32_t *n_trees; /* [n] how many there are */
    uint32_t *at; /* [n + 1] vertices of kind k are at[k] .. at[k+1]-1 in columns of kinds */
};

/*
 * tree_kinds_find -- the kinds of a forest.
 *   pool  may be NULL
 * Trees are told apart by 128-bit hashes, as subtrees are (wl.h). O(vertices).
 */
void tree_kinds_find(struct tree_kinds *kinds, const struct forest *forest, struct pool *pool);
void tree_kinds_release(struct tree_kinds *kinds);

/* tree_kinds_vertex -- where vertex v of tree t is in columns of kinds. */
static inline uint32_t tree_kinds_vertex(const struct tree_kinds *kinds,
                                         const struct forest *forest, uint32_t t, uint32_t v)
{
    return kinds->at[kinds->of[t]] + (v - forest->first[t]);
}

#endif
