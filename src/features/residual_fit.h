/*
 * residual_fit -- what the files of the model share: residual.c says what trees are worth by a
 * model, residual_fit.c makes it, and residual_times.c finds what is typical of the times of
 * calls, by call path and class. Nobody else includes it.
 */
#ifndef SNAG_FEATURES_RESIDUAL_FIT_H
#define SNAG_FEATURES_RESIDUAL_FIT_H

#include "features/residual.h"
#include "features/robust.h"
#include "features/periodic.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define RESIDUAL_MIN_TREES 30 /* a class must occur in, to be a context of its own */
#define MIN_CALL_SCALE 0.10   /* of log times of calls: 10 % is never strange */

/* A forest and where it is in a model. */
struct view {
    const struct residual_model *m;
    const struct residual_place *place;
    const struct forest *forest;
};

/* The number in model->local of a path where tree t is, or LOCAL_NONE. */
static inline uint32_t local_of(const struct view *view, uint32_t t, uint32_t path)
{
    const struct residual_place *place = view->place;

    return place->local && place->row[t] != LOCAL_NONE
               ? place->local[(size_t)place->row[t] * view->m->paths.n + path]
               : LOCAL_NONE;
}

/* ln of how many times as long as everywhere calls take there: local as from local_of. */
static inline double log_factor_of(const struct residual_model *m, uint32_t local)
{
    return local == LOCAL_NONE ? 0 : m->local.log_factor[local];
}

/* m, s and exp(m) for vertex v of tree t; of a path never seen, no time at all is typical. */
static inline struct residual_context context_of(const struct view *view, uint32_t t,
                                                 uint32_t v)
{
    const struct residual_model *m = view->m;
    uint32_t path = residual_path(view->place, view->forest, t, v), local;
    const struct residual_context *everywhere =
        residual_context(m, view->place, view->forest, t, v);
    struct residual_context c;

    if (everywhere == NULL)
        return (struct residual_context){.log_time = {log(m->offset_ns), MIN_CALL_SCALE},
                                         .typical = m->offset_ns};
    c = *everywhere;
    local = local_of(view, t, path);
    if (local != LOCAL_NONE) {
        c.log_time.centre += m->local.log_factor[local];
        c.typical *= m->local.factor[local];
    }
    if (view->forest->index[t] == 0) {
        double first = m->first_centre[path] + log_factor_of(m, local);

        if (first > c.log_time.centre) {
            c.log_time.centre = first;
            c.typical = exp(first);
        }
    }
    return c;
}

/*
 * What a call is compared with: all calls of a class on a location with the same, but those in
 * first executions. Looking it up takes several times as long as using it.
 */
struct typical_call {
    double typical, centre, scale;
    uint32_t path, pair;  /* of the tree that was begun: */
    uint32_t place, tree; /* generations in which the above, and the pair, hold */
};

/* The pair of a path, which may be new. */
static inline uint32_t pair_of(struct residual_pairs *g, uint32_t path)
{
    uint32_t at = path == PATH_NONE ? g->n_paths : path;

    if (g->stamp[at] != g->generation) {
        g->stamp[at] = g->generation;
        g->slot[at] = (uint32_t)g->n;
        g->pair[g->n++] = (struct residual_pair){.path = path, .z_call = -INFINITY};
    }
    return g->slot[at];
}

/*
 * residual_begin_tree -- forgets the pairs of the last tree; and what is typical where that was,
 * if tree t is elsewhere or the first there. Returns the classes of its vertices. All calls
 * with the same g must be with the same view, which does not change.
 */
const uint32_t *residual_begin_tree(struct residual_pairs *g, const struct view *view,
                                    uint32_t t);

/* residual_look_up -- typical_call where it is not known. */
const struct typical_call *residual_look_up(struct residual_pairs *g, const struct view *view,
                                            uint32_t t, uint32_t v);

/* What is typical of vertex v of tree t, which was begun; valid until the next call.
 *   class  of v, as residual_begin_tree says */
static inline const struct typical_call *typical_call(struct residual_pairs *g, uint32_t class,
                                                      const struct view *view, uint32_t t,
                                                      uint32_t v)
{
    const struct typical_call *typical =
        &g->typical[class < g->n_classes ? class : g->n_classes];

    return typical->tree == g->generation ? typical : residual_look_up(g, view, t, v);
}

/* ln of the vertices of tree t that are not apart. */
static inline double log_size_of(const struct residual_model *m,
                                 const struct residual_place *place,
                                 const struct forest *forest, uint32_t t)
{
    uint32_t n = residual_size(m, place, forest, t);

    return log(n > 0 ? n : 1);
}

/* A table for each thread of a pool. */
struct residual_pairs *residual_pairs_each(const struct residual_model *model,
                                           struct pool *pool);
void residual_pairs_free(struct residual_pairs *pairs, struct pool *pool);

/* residual_place_local -- where the vertices of a forest are among the factors of locations. */
void residual_place_local(const struct residual_model *m, const struct residual_input *input,
                          struct residual_place *place);

/* residual_place_init -- room for all but paths. */
void residual_place_init(struct residual_place *place, const struct residual_input *input);

/* residual_class_key -- of the calls of a path with a complete label. */
struct key residual_class_key(const struct vocab *vocab, uint32_t word, uint32_t path);

/* residual_turn_key -- of the calls of a path that have a periodic path below them. */
struct key residual_turn_key(uint32_t turn, uint32_t path);

/* residual_has_turns -- is any path of a model periodic? */
bool residual_has_turns(const struct residual_model *m);

/*
 * residual_turns -- which periodic path is below each vertex of a tree: the one that fewest
 * trees have.
 *   path  (vertices of tree t) as context_number_tree says
 *   turn  (same) out: a path, or PATH_NONE: also of vertices that are periodic themselves
 */
void residual_turns(const struct residual_model *m, const struct forest *forest, uint32_t t,
                    const uint32_t *path, uint32_t *turn);

/* What fitting goes over. */
struct fit {
    struct residual_model *m;
    struct residual_place *place;
    const struct residual_input *in;
    const struct forest *forest;
    const struct tree_kinds *kinds;
    const struct tree_share *share;
    uint32_t n_trees, n_locations;   /* of all processes */
    uint32_t *n_first;               /* [paths] first executions that have them */
    struct kind_sets paths, classes; /* of the kinds */
    uint32_t *path_of;               /* [classes] */
    bool *is_turn;                   /* [classes] */
    struct partition deal;           /* of paths */
    unsigned *owner;                 /* [paths] */
    bool *is_split;                  /* [paths] not dealt: each process keeps its own times */
    uint64_t longest_ns;             /* exclusive time */
};

/* residual_deal_paths -- which paths are split, who has which of the others, and the own ones;
 * of the counts in the model. The same on all processes. */
void residual_deal_paths(struct fit *fit);

/*
 * residual_fit_contexts -- centre and width of the times of each path and class, in the model.
 * All processes call it. O(vertices) for each digit of the times.
 */
void residual_fit_contexts(const struct fit *fit);

#endif
