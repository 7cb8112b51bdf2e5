/*
 * stack2vec -- a vector for every call-stack tree, from the subtrees it is made of.
 *
 * A tree is a document, its subtrees (wl.h) are the words, and how often a word is said is how
 * much time, and how many calls, the tree spends in that subtree. A network with one hidden
 * layer learns to tell the words of a tree: tree i has a vector x_i, subtree s a vector o_s,
 * and for every pair the loss is
 *
 *     - P_is log sigma(x_i o_s)  -  N_s log(1 - sigma(x_i o_s))
 *
 * P_is is the target frequency, N_s stands for the negative samples. There are so few words
 * that negatives need not be drawn: each counts with its probability. The optimum x_i o_s is
 * log(P_is / N_s): a tree ten times slower everywhere is somewhere else.
 *
 * Training yields the o_s. With them fixed the loss of a tree, plus a
 * ridge, is convex in x_i alone, and every tree's vector is had from that, whether
 * it was trained on or not. So equal trees have equal vectors, and like trees like
 * ones.
 *
 * Distances between vectors mean something, their single columns do not: do not scale columns.
 * A Gaussian kernel should be as wide as 1 / (dims * variance of all entries). Measurements are
 * in docs/stack2vec.md.
 *
 * Source: Xie, Xu, Mueller: A Visual Analytics Framework for the Detection of Anomalous Call
 * Stack Trees in High Performance Computing Applications, IEEE TVCG 2019, section 4.3; Le,
 * Mikolov: Distributed Representations of Sentences and Documents, ICML 2014 (PV-DBOW).
 * Departs from them: counts beside durations, as a coarse clock gives most calls no time at
 * all; negatives in expectation, and independent of how long the tree took; vectors by a convex
 * fit.
 */
#ifndef SNAG_FEATURES_STACK2VEC_H
#define SNAG_FEATURES_STACK2VEC_H

#include "base/idmap.h"
#include "base/matrix.h"
#include "base/pack.h"
#include "base/pool.h"
#include "features/wl.h"

#include <stddef.h>
#include <stdint.h>

#define STACK2VEC_LANES 16u /* rows of numbers are padded with zeros to a multiple of this */
#define STACK2VEC_MAX_DIMS 4096u
#define STACK2VEC_MAX_EPOCHS 10000u
#define STACK2VEC_MAX_STEPS 10000u
#define STACK2VEC_MAX_NEGATIVES 1000.0

struct stack2vec_opts {
    uint32_t dims;        /* 1 .. STACK2VEC_MAX_DIMS */
    uint32_t epochs;      /* of training, up to STACK2VEC_MAX_EPOCHS */
    uint32_t steps;       /* of the convex fit, up to STACK2VEC_MAX_STEPS */
    uint32_t most_words;  /* subtrees that are in the fewest trees are left out beyond this */
    double learning_rate; /* > 0, at most 1 */
    double negatives;     /* > 0, up to STACK2VEC_MAX_NEGATIVES, per word said */
    double count_share;   /* 0..1, of the target frequencies: counts; the rest is durations */
    double ridge;         /* > 0 */
    uint64_t seed;
};

/* stack2vec_default -- what docs/stack2vec.md measured. */
struct stack2vec_opts stack2vec_default(void);

struct stack2vec {
    struct stack2vec_opts opts;
    struct idmap label;       /* the 128-bit label of every word of the model */
    double per_ns, per_count; /* P = per_ns * weight_ns + per_count * count */
    size_t n_words, n_padded; /* n_padded: n_words, rounded up to lanes */
    size_t n_dims;            /* opts.dims, rounded up to lanes */
    float *negative;          /* [n_padded] N */
    float *curvature;         /* [n_padded] of the loss at 0, for a typical tree */
    float *output;            /* (n_padded, n_dims) o */
    float *precondition;      /* (n_dims, n_dims) inverse of a typical tree's Hessian */
    size_t n_left_out;        /* words of the training set that are not in the model */
};

/* What a model does not know of some trees. */
struct stack2vec_unseen {
    size_t n_words;   /* different subtrees */
    uint64_t n_calls; /* their occurrences */
    uint32_t n_trees; /* trees with any */
};

/*
 * stack2vec_fit -- learn from a forest, and the vectors of its trees.
 *   vocab, bags  as from wl_init with bags, at least one tree
 *   x            (bags->n_trees, opts->dims) out
 * Returns 0, ERR_RANGE for options that make no sense, or as blas_load. Release in any case. Trees with equal
 * bags have equal vectors, bit for bit. The same on any number of threads.
 * Time O(epochs * different bags * words * dims); 12 bytes per different bag and dimension and
 * some MiB per thread.
 */
int stack2vec_fit(struct stack2vec *model, const struct stack2vec_opts *opts,
                  const struct vocab *vocab, const struct bags *bags, struct pool *pool,
                  struct matrix x);
void stack2vec_release(struct stack2vec *model);

/*
 * stack2vec_infer -- the vectors of other trees.
 *   vocab, bags  of these trees; words are matched by label, so it may be of any run
 *   x            (bags->n_trees, model->opts.dims) out
 *   unseen       out: what was left out, because the model does not know it
 * A tree that was trained on gets the vector that it got there.
 */
void stack2vec_infer(const struct stack2vec *model, const struct vocab *vocab,
                     const struct bags *bags, struct pool *pool, struct matrix x,
                     struct stack2vec_unseen *unseen);

/*
 * stack2vec_override -- take over what was said of dims, epochs, learning_rate and negatives; 0
 * is for what was not.
 */
void stack2vec_override(struct stack2vec_opts *opts, const struct stack2vec_opts *said);

/* stack2vec_check -- 0, or ERR_RANGE when the options make no sense. */
int stack2vec_check(const struct stack2vec_opts *opts);

/* stack2vec_size -- n_words, n_padded and n_dims from the labels and the options. */
void stack2vec_size(struct stack2vec *model);

/* stack2vec_target -- P of a subtree in a tree. */
static inline float stack2vec_target(const struct stack2vec *model,
                                     const struct distinct_entry *entry)
{
    return (float)(model->per_ns * (double)entry->weight_ns +
                   model->per_count * (double)entry->count);
}

/* stack2vec_pack -- append the model. Words are labels: any run can read them. */
void stack2vec_pack(const struct stack2vec *model, struct pack *pack);

/*
 * stack2vec_unpack -- read a model back; it infers as it did before.
 * Returns 0, or ERR_FORMAT when the bytes are not a model. Release in any case.
 */
int stack2vec_unpack(struct stack2vec *model, struct pack *pack);

#endif
