/*
 * Sums worked by hand; and processes that have a part of the executions each make the summary
 * that one with all of them makes, in every bit.
 */
#include "compare/summary.h"

#include <string.h>

#include "sample_forest.h"
#include "sample_process_group.h"
#include "test.h"

#define N_LOCATIONS 5u

/* Of location l; paths and sets are seen first on different ones. */
static const char *const executions[N_LOCATIONS] = {
    "step:100(a:10 b:5) step:90(a:20(c:3))",
    "step:50(a:20) step:51(a:21) step:52(a:22)",
    "",
    "step:7(d:1 a:2 b:3) step:8(b:4 b:5(c:6 c:7))",
    "step:9007199254740992(a:1) step:1(d:1) step:1",
};

static void define(struct definitions *defs)
{
    for (uint32_t l = 0; l < N_LOCATIONS; l++)
        definitions_location(defs, l, "", l / 2);
    definitions_finish(defs, NULL, 0);
}

/* The executions of all locations, or of those of a share. */
static void make_forest(struct forest *out, struct definitions *defs,
                        const struct tree_share *share)
{
    for (uint32_t l = 0; l < N_LOCATIONS; l++) {
        struct forest others = {0};
        bool is_here = !share || share->owner[l] == process_group_me(share->process_group);
        struct forest *forest = is_here ? out : &others;
        uint32_t n = forest->n_trees;

        if (*executions[l])
            sample_forest(executions[l], defs, forest);
        for (uint32_t t = n; t < forest->n_trees; t++) {
            forest->location[t] = l;
            forest->index[t] = t - n;
        }
        forest_release(&others);
    }
}

static void sums_are_those_of_all_executions(void **state)
{
    struct definitions defs = {0};
    struct forest forest = {0};
    struct summary d;

    (void)state;
    define(&defs);
    make_forest(&forest, &defs, NULL);
    summary_make(&d, &forest, &defs, NULL);
    assert_int_equal(d.n_executions, 10);
    assert_int_equal(d.n_locations, 4);
    assert_int_equal(d.n_ranks, 3);
    /* step, step > a, step > b, step > a > c, step > d, step > b > c */
    assert_int_equal(d.n_paths, 6);
    assert_int_equal(d.path[1].n_calls, 7);
    assert_int_equal(d.path[1].n_executions, 7);
    assert_true(d.path[1].time_ns == 10 + 20 + 20 + 21 + 22 + 2 + 1);
    assert_int_equal(d.path[2].n_calls, 4);
    assert_int_equal(d.path[2].n_executions, 3);
    assert_true(d.path[2].time_ns == 5 + 3 + 4 + 5);
    assert_true(d.path[3].time_ns == 3);
    assert_true(d.path[5].time_ns == 6 + 7);
    /* rank 1 is locations 2 and 3, of which one has executions */
    assert_int_equal(d.rank[1].n_executions, 2);
    assert_true(d.rank[1].own_ns == 7 + 1 + 2 + 3 + 8 + 4 + 5 + 6 + 7);
    summary_release(&d);
    forest_release(&forest);
    definitions_release(&defs);
}

/* 2^53 + 1 is no double, 2^53 + 2 is: added up as doubles, ones would be lost. */
static void sums_are_of_whole_nanoseconds(void **state)
{
    struct definitions defs = {0};
    struct forest forest = {0};
    struct summary d;

    (void)state;
    sample_forest("step:9007199254740992 step:1 step:1", &defs, &forest);
    definitions_location(&defs, 0, "", 0);
    definitions_finish(&defs, NULL, 0);
    summary_make(&d, &forest, &defs, NULL);
    assert_true(d.time_ns == 9007199254740994.0);
    assert_true(d.path[0].time_ns == 9007199254740994.0);
    assert_true(d.set[0].time_ns == 9007199254740994.0);
    assert_true(d.rank[0].own_ns == 9007199254740994.0);
    summary_release(&d);
    forest_release(&forest);
    definitions_release(&defs);
}

static bool is_same_array(const void *a, const void *b, size_t n, size_t width)
{
    return n == 0 || memcmp(a, b, n * width) == 0;
}

static bool is_same_part(const struct summary *d, const struct summary_part *a,
                         const struct summary_part *b)
{
    return a->n_executions == b->n_executions && a->has == b->has && a->time_ns == b->time_ns &&
           a->off_ns == b->off_ns &&
           is_same_array(a->path_ns, b->path_ns, d->n_paths, sizeof(double)) &&
           (!a->in_batch || (is_same_array(a->in_batch, b->in_batch, d->n_batches, 4) &&
                             is_same_array(a->batch_ns, b->batch_ns, d->n_batches, 8)));
}

static bool are_same_names(const struct summary *a, const struct summary *b)
{
    bool is_same = a->names.n == b->names.n && a->foi == b->foi && a->n_paths == b->n_paths;

    for (uint32_t i = 0; is_same && i < a->names.n; i++)
        is_same = strcmp(a->names.name[i], b->names.name[i]) == 0;
    for (uint32_t p = 0; is_same && p < a->n_paths; p++) {
        const struct summary_path *x = &a->path[p], *y = &b->path[p];

        is_same = x->parent == y->parent && x->name == y->name && x->time_ns == y->time_ns &&
                  x->n_calls == y->n_calls && x->n_executions == y->n_executions;
    }
    return is_same;
}

static bool is_same(const struct summary *a, const struct summary *b)
{
    bool is_so = are_same_names(a, b) && a->n_ranks == b->n_ranks &&
                 a->n_locations == b->n_locations && a->n_executions == b->n_executions &&
                 a->time_ns == b->time_ns && a->n_batches == b->n_batches &&
                 a->n_sets == b->n_sets && a->n_optional == b->n_optional &&
                 is_same_array(a->duration_ns, b->duration_ns, SUMMARY_QUANTILES, 8) &&
                 is_same_array(a->optional, b->optional, a->n_optional, 4);

    for (uint32_t i = 0; is_so && i < a->n_batches; i++)
        is_so = is_same_part(a, &a->batch[i], &b->batch[i]);
    for (uint32_t i = 0; is_so && i < a->n_sets; i++)
        is_so = is_same_part(a, &a->set[i], &b->set[i]);
    for (uint32_t i = 0; is_so && i < a->n_ranks; i++)
        is_so = a->rank[i].rank == b->rank[i].rank && a->rank[i].own_ns == b->rank[i].own_ns &&
                a->rank[i].wait_ns == b->rank[i].wait_ns &&
                a->rank[i].n_executions == b->rank[i].n_executions;
    return is_so;
}

static void define_all(struct definitions *defs)
{
    struct forest all = {0};

    define(defs);
    make_forest(&all, defs, NULL); /* numbers of functions are the same in all processes */
    forest_release(&all);
}

static int summary_in_parts(void *ctx, unsigned me)
{
    static const uint64_t n_calls[N_LOCATIONS] = {1, 5, 1, 2, 3};
    struct definitions defs = {0};
    struct forest all = {0}, own = {0};
    struct summary one, parts;
    struct tree_share share;
    struct process_group *process_group;
    int rc = process_group_join(&process_group, NULL, 1);

    (void)ctx;
    define_all(&defs);
    tree_share_init(&share, process_group, &defs, n_calls);
    make_forest(&all, &defs, NULL);
    make_forest(&own, &defs, &share);
    tree_share_count(&share, &own);
    summary_make(&one, &all, &defs, NULL);
    summary_make(&parts, &own, &defs, &share);
    if (rc == 0 && !is_same(&one, &parts))
        rc = 1;
    if (rc == 0 && one.n_sets < 3)
        rc = 2; /* not much of a test */
    summary_release(&one);
    summary_release(&parts);
    forest_release(&all);
    forest_release(&own);
    tree_share_release(&share);
    definitions_release(&defs);
    process_group_leave(process_group);
    if (me == 0)
        assert_int_equal(rc, 0);
    return rc;
}

static void parts_make_the_summary_of_all(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 8; n += n < 3 ? 1 : 5)
        assert_int_equal(sample_process_group_run(n, summary_in_parts, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_all_executions),
        cmocka_unit_test(sums_are_of_whole_nanoseconds),
        cmocka_unit_test(parts_make_the_summary_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
