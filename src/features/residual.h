/*
 * residual -- what a duration is worth for what the call was doing.
 *
 * The residual of a call is its log exclusive time against the calls of the same context: the
 * same call path and the same complete subtree. Where few trees have that: in executions that
 * come by plan (periodic.h) the same path in such executions, in others the path. The model
 * holds, per context, where the middle is and how wide it is (robust.h); the measures say per
 * tree how much time was lost, how much of that is certain, and how rare its shape is.
 *
 * Symbols, as in docs/algorithms.md: D typical duration of a root, c the offset under the log,
 * m and s centre and scale of a context, x = ln(exclusive + c), z = (x - m) / s,
 * e = exclusive + c - exp(m), the time lost, which may be negative.
 */
#ifndef SNAG_FEATURES_RESIDUAL_H
#define SNAG_FEATURES_RESIDUAL_H

#include "base/pack.h"
#include "base/paged.h"
#include "features/context.h"
#include "features/local_typical.h"
#include "features/robust.h"
#include "features/periodic.h"
#include "features/shape.h"
#include "features/wl.h"
#include "forest/forest.h"
#include "forest/tree_share.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define RESIDUAL_MATERIAL 0.02            /* share of the typical duration that matters */
#define RESIDUAL_MIN_LOSS_Z 2             /* widths: what is less long may be so by chance */
#define RESIDUAL_TYPICAL_RARITY log(50.0) /* nats; less rare shapes count as typical */

/* A context: where exclusive times on it are. */
struct residual_context {
    struct spread log_time; /* m and s */
    double typical;         /* exp(m), = typical exclusive time + c */
    uint32_t n_calls, n_trees;
    bool is_turn; /* a class of executions that come by plan, whatever their subtrees are */
};

struct residual_model {
    double root_ns;                   /* D */
    double offset_ns;                 /* c */
    uint64_t shortest_ns, longest_ns; /* of the roots */
    uint32_t n_trees;
    bool is_warm; /* first executions have contexts of their own: enough locations */

    struct context paths;
    uint8_t *apart;                /* [paths.n] of enum path_apart */
    struct residual_context *path; /* [paths.n] */
    struct spread
        *path_sum; /* [paths.n] of ln(time of a path in a tree / typical); scale 0: unknown */
    double *first_centre;  /* [paths.n] m of first executions, -INFINITY where too few */
    struct idmap class_id; /* of (path, complete label), or (path, periodic path below) */
    struct residual_context *class; /* [class_id.n] */
    struct local_typical local;     /* factors of locations on typical times */
    struct shapes shapes;
    struct spread
        whole;     /* of ln(time of an execution / sum of what its calls typically take) */
    double loss_z; /* an execution that is so many widths longer than those like it lost time:
                      what is less is noise ... */
    double loss_ratio; /* ... unless it is so many times as long, as an anomaly is; >= 1 */
    double log_size, size_scale; /* of ln(vertices of a tree): median, width of the distance */
};

/* Where the vertices of one forest are in a model: numbers of it, or _NONE for what it does not
 * know. */
struct residual_place {
    uint32_t *path, *class, *shape; /* of the vertices of each kind of tree; residual_like */
    uint32_t *like;                 /* [forest->n_trees] where those of its kind begin */
    uint32_t *site;                 /* [forest->n_trees] of model->local */
    uint32_t *local; /* [rows * model->paths.n] of model->local, a row for each location that
                        has any; NULL: none has */
    uint32_t *row;   /* [forest->n_trees] of its location, or LOCAL_NONE; NULL without local */
    uint64_t n_sorted; /* times of calls that this process has sorted to learn the model */
};

/* residual_like -- where in class and shape is what vertex v of tree t has. */
static inline uint32_t residual_like(const struct residual_place *place,
                                     const struct forest *forest, uint32_t t, uint32_t v)
{
    return place->like[t] + (v - forest->first[t]);
}

/* residual_path -- the call path of vertex v of tree t, or PATH_NONE. */
static inline uint32_t residual_path(const struct residual_place *place,
                                     const struct forest *forest, uint32_t t, uint32_t v)
{
    return place->path[residual_like(place, forest, t, v)];
}

/* residual_size -- the vertices of tree t that are not set apart. O(vertices of the tree). */
static inline uint32_t residual_size(const struct residual_model *model,
                                     const struct residual_place *place,
                                     const struct forest *forest, uint32_t t)
{
    uint32_t n = 0;

    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
        uint32_t path = residual_path(place, forest, t, v);

        n += path == PATH_NONE || !model->apart[path];
    }
    return n;
}

/* What a model is learnt from, or asked about. */
struct residual_input {
    const struct forest *forest;
    const struct wl *wl; /* of the forest */
    const struct definitions *defs;
    struct pool *pool;              /* may be NULL; no result depends on it */
    struct paged *paged;            /* may be NULL; while it is learnt from only */
    const struct tree_share *share; /* NULL, or: other processes have forests of the same run;
                                       the model is learnt from all of them together */
};

/*
 * residual_fit -- learn the contexts of a forest.
 *   place  out: where its vertices are
 * Processes that have shares of one run all get the model that one with all trees would get.
 * O(vertices). Memory: see docs/architecture.md.
 */
void residual_fit(struct residual_model *model, struct residual_place *place,
                  const struct residual_input *input);

/*
 * residual_context -- what vertex v of tree t is compared with: others on its path with the
 * same calls below, or with a call by plan below, or on its path, where there are too few of
 * these; not by location.
 * Returns NULL for a path the model does not know.
 */
const struct residual_context *residual_context(const struct residual_model *model,
                                                const struct residual_place *place,
                                                const struct forest *forest, uint32_t t,
                                                uint32_t v);

/* residual_locate -- find the vertices of another forest in a model. O(vertices). */
void residual_locate(const struct residual_model *model, struct residual_place *place,
                     const struct residual_input *input);

void residual_place_release(struct residual_place *place);
void residual_release(struct residual_model *model);

/*
 * What a tree lost: what it took (without the tracer's time) minus what executions like it
 * typically take, where that is more than noise. Whole ns, so that whoever subtracts the two gets
 * the third.
 */
struct residual_loss {
    int64_t typical_ns;
    int64_t more_ns; /* took - typical; negative where it was shorter */
    double z;        /* ln(took / typical) in widths of that, on its location */
    int64_t ns;      /* more_ns if it is a loss, of is_fill at most its own, else 0 */
};

#define RESIDUAL_OPEN_SHARE 3 /* typical executions */

/*
 * residual_never_ends -- of an execution that had not ended when the events of its location
 * ended, after_ns before the run did: so long before that it hangs, or was cut off.
 *   typical_ns, longest_ns  what executions like it typically take; what any took
 */
static inline bool residual_never_ends(double after_ns, double typical_ns, double longest_ns)
{
    return after_ns > RESIDUAL_OPEN_SHARE * typical_ns && after_ns > longest_ns;
}

/* residual_is_few -- too few executions to say what is typical: it is one of them (root_ns). */
static inline bool residual_is_few(const struct residual_model *model)
{
    return model->n_trees < ROBUST_FEW;
}

/* residual_ratio -- so many times as long as executions like it. */
static inline double residual_ratio(const struct residual_loss *loss)
{
    return 1 + (double)loss->more_ns / (double)loss->typical_ns;
}

/* residual_is_long -- an execution that is so much longer than those like it lost time. */
static inline bool residual_is_long(const struct residual_model *model,
                                    const struct residual_loss *loss)
{
    return loss->more_ns > 0 &&
           (loss->z >= model->loss_z ||
            (residual_ratio(loss) >= model->loss_ratio && loss->z >= RESIDUAL_MIN_LOSS_Z));
}

/* residual_is_brief -- an execution that is so much shorter than those like it: not by noise.
 */
static inline bool residual_is_brief(const struct residual_model *model,
                                     const struct residual_loss *loss)
{
    return loss->more_ns < 0 && loss->z <= -model->loss_z;
}

/* residual_round -- to 1e-9, so that ties are ties on any machine. */
static inline double residual_round(double x)
{
    return rint(x * 1e9) / 1e9;
}

/* What one tree amounts to. Rounded to 1e-9, so that ties are ties on any machine; but not what
 * is in ns. */
struct residual_measure {
    double time;                /* X: time lost, weighed by how sure that is; >= 0 */
    double sure;                /* the time so weighed alone, in typical durations; >= 0 */
    double gross;               /* G: time lost minus time saved, in typical durations; >= 0 */
    double own;                 /* of that, what it did not wait for others that came late
                                   (score/scoring.c); NAN: not known */
    double rare;                /* time in calls that few executions make, and not by plan */
    double sure_off, gross_off; /* of these, what may be nothing but begins and ends that are
                                   estimates; 0 where all are known */
    double structure;           /* S: rarity of the rarest shape in it, nats */
    double size;                /* |ln vertices - its median|, of those that are not periodic */
    double size_z;              /* the same in widths */
    double brief;      /* widths by which it is shorter than executions like it; >= 0 */
    double saved;      /* the same in typical durations */
    uint64_t open_ns;  /* as in the forest */
    double tracer;     /* time that the tracer took, and that it waited for who was held up by
                         the tracer (is_recording), in typical durations; in none of the others */
    uint32_t rarest;   /* vertex of that shape */
    bool is_fill;      /* the first of its location, and it waited for others that began, too */
    bool is_recording; /* it waited for who was held up by the tracer, and lost little else */
    struct residual_loss loss;
};

/* residual_own -- what it lost by itself, as far as is known; else all that it lost. */
static inline double residual_own(const struct residual_measure *m)
{
    return isnan(m->own) ? m->gross : m->own;
}

/* residual_measures -- of all trees of a forest. O(vertices). */
void residual_measures(const struct residual_model *model, const struct residual_place *place,
                       const struct residual_input *input, struct residual_measure *measure);

/* One call path in one tree. */
struct residual_pair {
    uint32_t path, n_calls;
    double observed_ns, typical_ns; /* exclusive time, summed over its calls */
    double excess_ns;               /* their difference */
    double sure_ns; /* what its late calls took more, each weighed by how late it is: for
                       scores, never to be shown */
    double off_ns;  /* by which the observed time may be too long */
    double z_call;  /* the largest residual of a call */
    double z_path;  /* residual of the sum; 0 where the path is too rare to tell */
};

struct typical_call; /* residual_fit.h */

/* The call paths of one tree at a time; the tables are kept from tree to tree. */
struct residual_pairs {
    struct residual_pair *pair; /* [n] in order of first appearance */
    size_t n;
    uint32_t *stamp, *slot; /* [n_paths + 1], the last for what the model does not know */
    uint32_t n_paths, generation;
    struct typical_call *typical; /* [n_classes + 1] the last for calls of none */
    uint32_t n_classes, typical_generation, typical_row;
    bool is_typical_first; /* it is that of a first execution */
};

void residual_pairs_init(struct residual_pairs *pairs, const struct residual_model *model);
void residual_pairs_release(struct residual_pairs *pairs);

/*
 * residual_pairs_of -- the call paths of tree t.
 * Calls on paths the model does not know are one pair, PATH_NONE. O(vertices of the tree).
 */
void residual_pairs_of(struct residual_pairs *pairs, const struct residual_model *model,
                       const struct residual_place *place, const struct forest *forest,
                       uint32_t t);

/* residual_stands_out -- what the calls of a pair took more, or less, is more than noise and a
 * share of the typical duration that matters. */
bool residual_stands_out(const struct residual_model *model, const struct residual_pair *pair);

/* residual_is_typical -- at least one in fifty trees has this path, and not only a handful that
 * are fewer than one in ten, unless by plan; false for PATH_NONE. */
bool residual_is_typical(const struct residual_model *model, uint32_t path);

/*
 * residual_loss_of -- what a tree lost.
 *   pairs  of tree t. Where a path is not typical, all its time becomes excess.
 */
void residual_loss_of(struct residual_pairs *pairs, const struct residual_model *model,
                      const struct residual_place *place, const struct forest *forest,
                      uint32_t t, struct residual_loss *out);

/* residual_typical -- what the exclusive time of vertex v of tree t typically is, ns. */
double residual_typical(const struct residual_model *model, const struct residual_place *place,
                        const struct forest *forest, uint32_t t, uint32_t v);

/* residual_common -- what vertex v of tree t typically takes, ns; 0 where most trees have no such
 * call. */
double residual_common(const struct residual_model *model, const struct residual_place *place,
                       const struct forest *forest, uint32_t t, uint32_t v);

/* residual_typical_everywhere -- the same on all locations, without a factor. */
double residual_typical_everywhere(const struct residual_model *model,
                                   const struct residual_place *place,
                                   const struct forest *forest, uint32_t t, uint32_t v);

/*
 * residual_sure -- what vertex v of tree t took over the typical, weighed by how late it is, ns:
 * nothing where it took less.
 */
double residual_sure(const struct residual_model *model, const struct residual_place *place,
                     const struct forest *forest, uint32_t t, uint32_t v);

/* residual_rarity -- of the shape of vertex v of tree t, in nats. */
double residual_rarity(const struct residual_model *model, const struct residual_place *place,
                       const struct forest *forest, uint32_t t, uint32_t v);

/* residual_pack -- append the model. Regions are numbers: who reads must have the same ones. */
void residual_pack(const struct residual_model *model, struct pack *pack);

/*
 * residual_unpack -- read a model back.
 *   n_regions  numbers of regions must be below
 * Returns 0, or ERR_FORMAT when the bytes are not a model. Release in any case.
 */
int residual_unpack(struct residual_model *model, struct pack *pack, uint32_t n_regions);

/*
 * residual_rename -- make the numbers of the functions those of another run.
 *   to  [] new number of every number in use
 */
void residual_rename(struct residual_model *model, const uint32_t *to);

#endif
