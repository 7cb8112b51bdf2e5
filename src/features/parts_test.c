/*
 * Processes that have a part of the trees each learn the model that one with all of them
 * learns, to the bit, and measure the same. Trees are made up at random, the same in every
 * process: on each location others, so that paths, contexts and shapes are seen first by
 * different ones.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "features/residual.h"

#include <stdio.h>
#include <string.h>

#include "sample_forest.h"
#include "sample_process_group.h"
#include "test.h"

#define N_LOCATIONS 7u
#define MAX_TREES 90u

/* What the locations have: how many trees, and how strange. */
struct program {
    uint64_t seed;
    uint32_t n_busy;           /* locations with trees, the last ones */
    uint64_t longest_ns;       /* of a call */
    bool is_small, is_by_plan; /* leaves; every twentieth tree does something by plan */
    uint32_t n_more;           /* trees of each location */
    uint32_t n_loops;          /* calls of one function in each tree */
};

struct trees {
    struct definitions defs;
    struct forest forest;
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct residual_measure *measure;
};

/* "name:ns", with calls in it; ranks have names of their own now and then. */
static void write_call(FILE *to, struct rng *rng, const struct program *p, uint32_t l,
                       int depth)
{
    uint32_t n = depth == 0 ? 0 : (uint32_t)rng_below(rng, 4);

    if (rng_below(rng, 9) == 0)
        fprintf(to, "of%u", l);
    else
        fprintf(to, "f%u", (unsigned)rng_below(rng, 5));
    fprintf(to, ":%llu", (unsigned long long)(1 + rng_below(rng, p->longest_ns)));
    for (uint32_t i = 0; i < n; i++) {
        fputs(i == 0 ? "(" : " ", to);
        write_call(to, rng, p, l, depth - 1);
    }
    fputs(n > 0 ? ")" : "", to);
}

static char *write_location(const struct program *p, uint32_t l)
{
    struct rng rng = {p->seed * 100 + l};
    uint32_t n =
        l + p->n_busy < N_LOCATIONS ? 0 : p->n_more + 20 + (uint32_t)rng_below(&rng, MAX_TREES);
    size_t size;
    char *text;
    FILE *to = open_memstream(&text, &size);

    for (uint32_t t = 0; t < n; t++) {
        fprintf(to, "step:%u", (unsigned)(100 * (l + 1) + rng_below(&rng, 50)));
        if (!p->is_small) {
            fputs("(", to);
            write_call(to, &rng, p, l, 3);
            fputs(rng_below(&rng, 90) ? " same:7(a:9 b:8)" : " same:7(b:8 a:9)", to);
            for (uint32_t i = 0; i < p->n_loops; i++) /* calls of one path, in two classes */
                fprintf(to, " most:%u%s", (unsigned)(1 + rng_below(&rng, p->longest_ns)),
                        i % 12 ? "" : "(in:3)");
            if (p->is_by_plan && t % 20 == 19)
                fputs(" output:9", to);
            fputs(")", to);
        }
        fputs(" ", to);
    }
    fclose(to);
    return text;
}

static void define(struct definitions *defs)
{
    for (uint32_t l = 0; l < N_LOCATIONS; l++)
        definitions_location(defs, l, "", l);
    definitions_finish(defs, NULL, 0);
}

/* The trees of all locations, or of those of a share. */
static void make(struct trees *x, const struct program *p, const struct tree_share *share)
{
    for (uint32_t l = 0; l < N_LOCATIONS; l++) {
        char *text = write_location(p, l);
        struct forest others = {0};
        bool is_here = !share || share->owner[l] == process_group_me(share->process_group);
        struct forest *forest = is_here ? &x->forest : &others;
        uint32_t n = forest->n_trees;

        if (*text)
            sample_forest(text, &x->defs, forest);
        for (uint32_t t = n; t < forest->n_trees; t++) {
            forest->location[t] = l;
            forest->place[t] = forest_place(&x->defs, l);
        }
        forest_release(&others);
        free(text);
    }
}

static void learn(struct trees *x, const struct tree_share *share)
{
    const struct residual_input input = {
        .forest = &x->forest, .wl = &x->wl, .defs = &x->defs, .share = share};

    wl_init(&x->wl, &x->forest, &x->defs, false, NULL);
    residual_fit(&x->model, &x->place, &input);
    x->measure = mem_alloc(x->forest.n_trees, sizeof *x->measure);
    residual_measures(&x->model, &x->place, &input, x->measure);
}

static void release(struct trees *x)
{
    free(x->measure);
    residual_release(&x->model);
    residual_place_release(&x->place);
    wl_release(&x->wl);
    forest_release(&x->forest);
    definitions_release(&x->defs);
}

static bool is_same_model(const struct trees *a, const struct trees *b)
{
    struct pack p = {0}, q = {0};
    bool is_same;

    residual_pack(&a->model, &p);
    residual_pack(&b->model, &q);
    is_same = p.n == q.n && memcmp(p.data, q.data, p.n) == 0;
    pack_release(&p);
    pack_release(&q);
    return is_same;
}

static bool is_same_measure(const struct residual_measure *a, const struct residual_measure *b)
{
    return a->time == b->time && a->sure == b->sure && a->gross == b->gross &&
           a->structure == b->structure && a->size == b->size && a->size_z == b->size_z &&
           a->loss.ns == b->loss.ns && a->loss.typical_ns == b->loss.typical_ns;
}

/* All trees are those of the own locations, in order. */
static bool are_measures_the_same(const struct trees *all, const struct trees *own,
                                  const struct tree_share *share)
{
    uint32_t t = 0;

    for (uint32_t i = 0; i < all->forest.n_trees; i++) {
        uint32_t first = all->forest.first[i];

        if (share->owner[all->forest.location[i]] != process_group_me(share->process_group))
            continue;
        if (!is_same_measure(&all->measure[i], &own->measure[t]) ||
            all->measure[i].rarest - first != own->measure[t].rarest - own->forest.first[t])
            return false;
        t++;
    }
    return t == own->forest.n_trees;
}

/* Nobody has sorted more than what it has itself and three of the parts that all would have. */
static bool is_shared_out(const struct program *p, const struct trees *all,
                          const struct trees *own, const struct tree_share *share)
{
    uint64_t most =
        own->forest.n + 3 * (all->forest.n / process_group_size(share->process_group));

    return p->n_loops == 0 || process_group_size(share->process_group) == 1 ||
           own->place.n_sorted <= most;
}

/* Returns a number for what is wrong, as a child cannot assert. */
static int learn_in_parts(void *ctx, unsigned me)
{
    static const uint64_t n_calls[N_LOCATIONS] = {1, 5, 1, 1, 3, 9, 1};
    const struct program *program = ctx;
    struct trees all = {0}, own = {0};
    struct tree_share share;
    struct process_group *process_group;
    int rc = process_group_join(&process_group, NULL, 1);

    define(&all.defs);
    define(&own.defs);
    tree_share_init(&share, process_group, &own.defs, n_calls);
    make(&all, program, NULL);
    make(&own, program, &share);
    tree_share_count(&share, &own.forest);
    learn(&all, NULL);
    learn(&own, &share);
    if (share.n_all != all.forest.n_trees)
        rc = 1;
    else if (!is_same_model(&all, &own))
        rc = 2;
    else if (!are_measures_the_same(&all, &own, &share))
        rc = 3;
    else if (!is_shared_out(program, &all, &own, &share))
        rc = 4;
    else if (program->n_busy == N_LOCATIONS && all.model.shapes.orders.n == 0)
        rc = 5; /* not even b after a is firm: nothing was shared */
    tree_share_release(&share);
    release(&all);
    release(&own);
    process_group_leave(process_group);
    if (me == 0)
        assert_int_equal(rc, 0);
    return rc;
}

static void assert_same(const struct program *program)
{
    struct program copy = *program;
    unsigned most = (unsigned)test_amount(9, 3);

    for (unsigned n = 1; n <= most; n += n < 3 ? 1 : 3)
        assert_int_equal(sample_process_group_run(n, learn_in_parts, &copy), 0);
}

static void parts_learn_what_one_learns_from_all(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_amount(4, 1); seed++)
        assert_same(&(struct program){
            .seed = seed, .n_busy = N_LOCATIONS, .longest_ns = 1000, .is_by_plan = seed % 2});
}

static void times_may_be_too_long_for_32_bits(void **state)
{
    (void)state;
    assert_same(&(struct program){.seed = 7, .n_busy = N_LOCATIONS, .longest_ns = 1ull << 40});
}

static void a_path_with_most_of_the_calls_is_split(void **state)
{
    (void)state;
    assert_same(&(struct program){
        .seed = 10, .n_busy = N_LOCATIONS, .longest_ns = 1u << 20, .n_loops = 60});
    assert_same(&(struct program){
        .seed = 11, .n_busy = N_LOCATIONS, .longest_ns = 1ull << 40, .n_loops = 60});
    assert_same(&(struct program){
        .seed = 12, .n_busy = 3, .longest_ns = 9, .is_small = true, .n_more = 800});
}

static void some_have_no_trees_and_some_no_calls_in_them(void **state)
{
    (void)state;
    assert_same(&(struct program){.seed = 8, .n_busy = 2, .longest_ns = 1000});
    assert_same(&(struct program){.seed = 9, .n_busy = 3, .longest_ns = 9, .is_small = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_learn_what_one_learns_from_all),
        cmocka_unit_test(times_may_be_too_long_for_32_bits),
        cmocka_unit_test(a_path_with_most_of_the_calls_is_split),
        cmocka_unit_test(some_have_no_trees_and_some_no_calls_in_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
