/* Runs whose differences are known, because the programs are made up. */
#include "compare/compare.h"

#include "base/rng.h"

#include "sample_summary.h"
#include "test.h"

#define MAX_RUNS 100u

/* A few runs on each side, and how they compare. */
struct made {
    struct summary before[MAX_RUNS], after[MAX_RUNS];
    uint32_t n[2];
    struct compare_opts opts;
    struct comparison c;
};

static void add(struct made *m, enum compare_side side, const char *program)
{
    sample_summary(program, "step",
                   side == COMPARE_BEFORE ? &m->before[m->n[0]] : &m->after[m->n[1]]);
    m->n[side]++;
}

static void compare(struct made *m)
{
    if (m->opts.least == 0)
        m->opts.least = NAN;
    compare_runs(m->before, m->n[0], m->after, m->n[1], &m->opts, &m->c);
}

static void unmake(struct made *m)
{
    for (uint32_t i = 0; i < m->n[0]; i++)
        summary_release(&m->before[i]);
    for (uint32_t i = 0; i < m->n[1]; i++)
        summary_release(&m->after[i]);
    compare_release(&m->c);
    *m = (struct made){0};
}

/* One run before, one after. */
static void make_pair(struct made *m, const char *before, const char *after)
{
    *m = (struct made){0};
    add(m, COMPARE_BEFORE, before);
    add(m, COMPARE_AFTER, after);
    compare(m);
}

static const struct compare_path *path_of(const struct made *m, const char *name)
{
    char out[COMPARE_NAME_SIZE];

    for (uint32_t i = 0; i < m->c.n_paths; i++)
        if (strcmp(compare_path_name(&m->c, m->c.path[i].path, out), name) == 0)
            return &m->c.path[i];
    return NULL;
}

/* A run of a program whose runs differ: all of it by a factor, and each function by another. */
static void add_noisy(struct made *m, enum compare_side side, double kernel, int seed)
{
    struct rng rng = {(uint64_t)seed * 977 + 5};
    double all = exp(0.01 * rng_normal(&rng));
    char program[400];

    snprintf(program, sizeof program,
             "synth:main(60*step@%.0fns(pack@%.0fns solve@%.0fns(4*kernel@%.0fns) "
             "io@%.0fns));jitter=0.05;ranks=2;seed=%d",
             2e4 * all * exp(0.003 * rng_normal(&rng)),
             1e5 * all * exp(0.003 * rng_normal(&rng)),
             2e5 * all * exp(0.003 * rng_normal(&rng)),
             1e5 * kernel * all * exp(0.003 * rng_normal(&rng)),
             1.5e5 * all * exp(0.003 * rng_normal(&rng)), seed);
    add(m, side, program);
}

static void make_noisy(struct made *m, uint32_t n_before, uint32_t n_after, double kernel,
                       int seed)
{
    *m = (struct made){0};
    for (uint32_t i = 0; i < n_before; i++)
        add_noisy(m, COMPARE_BEFORE, 1, seed++);
    for (uint32_t i = 0; i < n_after; i++)
        add_noisy(m, COMPARE_AFTER, kernel, seed++);
    compare(m);
}

static void what_paths_contribute_adds_up_to_the_whole(void **state)
{
    double sum = 0, change;
    struct made m;

    (void)state;
    make_noisy(&m, 3, 2, 1.2, 1);
    for (uint32_t i = 0; i < m.c.n_paths; i++)
        sum += m.c.path[i].own.ns[1] - m.c.path[i].own.ns[0];
    change = m.c.whole.ns[1] - m.c.whole.ns[0];
    assert_true(fabs(sum - change) < 1e-6 * fabs(change));
    unmake(&m);
}

static void a_path_that_became_slower_is_named_first(void **state)
{
    struct made m;

    (void)state;
    for (int i = 0; i < 20; i++) {
        make_noisy(&m, 5, 1, 1.1, 100 * i);
        assert_int_equal(m.c.whole.verdict, COMPARE_SLOWER);
        assert_ptr_equal(path_of(&m, "step > solve > kernel"), &m.c.path[0]);
        assert_int_equal(m.c.path[0].own.verdict, COMPARE_SLOWER);
        unmake(&m);
    }
}

static void of_runs_of_the_same_program_none_is_called_slower_or_faster(void **state)
{
    struct made m;

    (void)state;
    for (int i = 0; i < test_amount(40, 5); i++) {
        make_noisy(&m, 5, 1, 1, 1000 + 100 * i);
        assert_true(m.c.whole.verdict == COMPARE_INCONCLUSIVE ||
                    m.c.whole.verdict == COMPARE_SAME);
        unmake(&m);
    }
}

static void many_runs_show_that_nothing_changed(void **state)
{
    struct made m = {0};

    (void)state;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 4; i++) {
            char program[100];

            snprintf(program, sizeof program, "synth:60*step(a@1ms b@2ms);jitter=0.05;seed=%d",
                     10 * side + i + 1);
            add(&m, side, program);
        }
    compare(&m);
    assert_int_equal(m.c.whole.verdict, COMPARE_SAME);
    assert_true(m.c.whole.low_ns < 0 && m.c.whole.high_ns > 0);
    unmake(&m);
}

static void where_runs_differ_too_much_it_is_said_how_many_it_would_take(void **state)
{
    struct made m;

    (void)state;
    make_noisy(&m, 3, 3, 1, 7);
    assert_int_equal(m.c.whole.verdict, COMPARE_INCONCLUSIVE);
    assert_true(m.c.runs_needed > 3 && m.c.runs_needed < 400);
    unmake(&m);
}

/* n runs on each side, in turn a little longer and shorter than `times` 1 ms. */
static void make_spread(struct made *m, uint32_t n, double times, double spread)
{
    *m = (struct made){0};
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < n; i++) {
            double factor = (side ? times : 1) * (i % 2 ? 1 + spread : 1 - spread);
            char program[100];

            snprintf(program, sizeof program, "synth:40*step@%.0fns", 1e6 * factor);
            add(m, side, program);
        }
    compare(m);
}

/* With as many runs as it is said to take, the same change is one, or is known to be none. */
static void so_many_runs_as_are_needed_decide(void **state)
{
    static const struct {
        double times, spread;
        enum compare_verdict verdict;
    } x[] = {{1.005, 0.01, COMPARE_SAME},
             {1.02, 0.02, COMPARE_SLOWER},
             {1.1, 0.1, COMPARE_SLOWER},
             {0.95, 0.05, COMPARE_FASTER}};
    struct made m;

    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        uint32_t n, most;

        make_spread(&m, 4, x[i].times, x[i].spread);
        n = m.c.runs_needed;
        assert_int_equal(m.c.whole.verdict, COMPARE_INCONCLUSIVE);
        assert_int_equal(compare_is_large(&m.c), x[i].verdict != COMPARE_SAME);
        assert_true(n > 4);
        unmake(&m);
        most = n + n / 10 + 2;
        most += most % 2;
        make_spread(&m, most, x[i].times, x[i].spread);
        assert_int_equal(m.c.whole.verdict, x[i].verdict);
        unmake(&m);
    }
    make_spread(&m, 4, 1.0099, 0.01); /* so near to the least change that none would */
    assert_int_equal(m.c.runs_needed, 0);
    unmake(&m);
}

static void within_one_run_a_large_change_is_seen_and_a_small_one_is_not_believed(void **state)
{
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms b@2ms);jitter=0.05",
              "synth:100*step(a@1.3ms b@2ms);jitter=0.05;seed=2");
    assert_int_equal(m.c.whole.verdict, COMPARE_SLOWER);
    assert_ptr_equal(path_of(&m, "step > a"), &m.c.path[0]);
    assert_float_equal(compare_fraction(&m.c.whole), 0.1, 0.01);
    unmake(&m);
    make_pair(&m, "synth:100*step(a@1ms b@2ms);jitter=0.05",
              "synth:100*step(a@1.1ms b@2ms);jitter=0.05;seed=2");
    assert_int_equal(m.c.whole.verdict, COMPARE_SAME);
    unmake(&m);
}

/* Their borders only move time from one call to another: how long an execution took is known.
 */
static void what_calls_inside_may_be_off_by_is_no_change_of_theirs(void **state)
{
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms b@2ms);jitter=0.05;off=a/80us",
              "synth:100*step(a@1.3ms b@2ms);jitter=0.05;seed=2;off=a/80us");
    assert_int_equal(m.c.whole.verdict, COMPARE_SLOWER);
    assert_float_equal(m.c.whole.off_ns, 0, 0);
    assert_float_equal(path_of(&m, "step > a")->own.off_ns, 320e3, 1);
    assert_int_equal(path_of(&m, "step > a")->own.verdict, COMPARE_INCONCLUSIVE);
    assert_true(path_of(&m, "step > a")->own.low_ns < 0);
    assert_int_equal(path_of(&m, "step > b")->own.verdict, COMPARE_SAME);
    unmake(&m);
    make_pair(&m, "synth:100*step(a@1ms b@2ms);jitter=0.05;off=a/20us",
              "synth:100*step(a@1.3ms b@2ms);jitter=0.05;seed=2;off=a/20us");
    assert_int_equal(path_of(&m, "step > a")->own.verdict, COMPARE_SLOWER);
    unmake(&m);
}

static void an_execution_is_no_slower_than_it_is_known(void **state)
{
    const struct compare_change *whole;
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms b@2ms);jitter=0.05;off=step/80us",
              "synth:100*step(a@1.3ms b@2ms);jitter=0.05;seed=2;off=step/80us");
    whole = &m.c.whole;
    assert_int_equal(whole->verdict, COMPARE_INCONCLUSIVE);
    assert_float_equal(whole->off_ns, 320e3, 1);
    assert_true(whole->low_ns < 0 && whole->high_ns > 600e3);
    assert_int_equal(path_of(&m, "step > a")->own.verdict, COMPARE_SLOWER);
    unmake(&m);
}

/* Two kinds, of which the borders of one are not known. */
static void a_kind_is_known_as_its_executions_are(void **state)
{
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*round(step(a@1ms io@500us) step(a@1ms));jitter=0.02;off=step/90us",
              "synth:100*round(step(a@1.3ms io@500us) step(a@700us));jitter=0.02;seed=2");
    assert_int_equal(m.c.n_kinds, 2);
    for (uint32_t k = 0; k < 2; k++)
        assert_float_equal(m.c.kind[k].duration.off_ns, 180e3, 1);
    unmake(&m);
}

static void of_a_few_executions_nothing_is_said(void **state)
{
    struct made m;

    (void)state;
    make_pair(&m, "synth:3*step(a@1ms)", "synth:3*step(a@9ms)");
    assert_int_equal(m.c.whole.verdict, COMPARE_INCONCLUSIVE);
    assert_true(isnan(m.c.whole.low_ns));
    unmake(&m);
}

static void a_call_that_is_new_or_gone_is_called_so(void **state)
{
    const struct compare_path *path;
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms old@100us);jitter=0.05",
              "synth:100*step(a@1ms(2*new@200us));jitter=0.05");
    path = path_of(&m, "step > a > new");
    assert_int_equal(path->own.verdict, COMPARE_NEW);
    assert_float_equal(path->calls[1], 2, 1e-9);
    assert_float_equal(path->calls[0], 0, 0);
    assert_int_equal(path_of(&m, "step > old")->own.verdict, COMPARE_GONE);
    unmake(&m);
}

static void a_call_from_elsewhere_has_moved_with_all_below_it(void **state)
{
    const struct compare_path *path;
    char name[COMPARE_NAME_SIZE];
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms(f@100us(g@50us)) b@1ms);jitter=0.05",
              "synth:100*step(a@1ms b@1ms(f@100us(g@50us)));jitter=0.05");
    assert_null(path_of(&m, "step > a > f"));
    path = path_of(&m, "step > b > f");
    assert_int_equal(path->own.verdict, COMPARE_MOVED);
    assert_string_equal(compare_path_name(&m.c, path->from, name), "step > a > f");
    path = path_of(&m, "step > b > f > g");
    assert_int_equal(path->own.verdict, COMPARE_MOVED);
    assert_true(m.c.unmatched == 0);
    unmake(&m);
}

static void a_function_with_a_new_name_is_the_same_when_told_so(void **state)
{
    const struct compare_rename rename = {"old", "new"};
    struct made m = {.opts = {.rename = &rename, .n_renames = 1}};

    (void)state;
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms old@1ms(b@1ms));jitter=0.05");
    add(&m, COMPARE_AFTER, "synth:100*step(a@1ms new@1ms(b@1ms));jitter=0.05;seed=2");
    compare(&m);
    assert_int_equal(m.c.n_paths, 4);
    assert_int_equal(path_of(&m, "step > new > b")->own.verdict, COMPARE_SAME);
    unmake(&m);
    make_pair(&m, "synth:100*step(a@1ms old@1ms(b@1ms))",
              "synth:100*step(a@1ms new@1ms(b@1ms))");
    assert_float_equal(m.c.unmatched, 1.0 / 3, 0.01);
    unmake(&m);
}

/* The mean stays what it was. */
static void one_kind_that_is_slower_and_one_that_is_faster_are_both_named(void **state)
{
    char name[COMPARE_NAME_SIZE];
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*round(step(a@1ms io@500us) step(a@1ms));jitter=0.02",
              "synth:100*round(step(a@1.3ms io@500us) step(a@700us));jitter=0.02;seed=2");
    assert_int_equal(m.c.whole.verdict, COMPARE_SAME);
    assert_int_equal(m.c.n_kinds, 2);
    for (uint32_t k = 0; k < 2; k++) {
        const struct compare_kind *kind = &m.c.kind[k];
        bool has_io = strcmp(compare_kind_name(&m.c, k, name), "with step > io") == 0;

        assert_int_equal(kind->duration.verdict, has_io ? COMPARE_SLOWER : COMPARE_FASTER);
        assert_string_equal(compare_path_name(&m.c, kind->path, name), "step > a");
        assert_float_equal(kind->path_ns, has_io ? 3e5 : -3e5, 2e4);
        assert_float_equal(kind->share[1], 0.5, 1e-9);
    }
    unmake(&m);
}

static void a_kind_that_one_side_lacks_is_new_or_gone(void **state)
{
    static const struct {
        const char *name;
        enum compare_verdict verdict;
    } expected[] = {{"with step > io, with step > sort", COMPARE_GONE},
                    {"without step > io, with step > sort", COMPARE_NEW}};
    char name[COMPARE_NAME_SIZE];
    uint32_t n_found = 0;
    struct made m;

    (void)state;
    make_pair(&m, "synth:50*round(step(a io sort) step(a io) step(a));jitter=0.02",
              "synth:50*round(step(a io) step(a sort) step(a));jitter=0.02;seed=2");
    for (uint32_t k = 0; k < m.c.n_kinds; k++)
        for (int i = 0; i < 2; i++)
            if (strcmp(compare_kind_name(&m.c, k, name), expected[i].name) == 0) {
                assert_int_equal(m.c.kind[k].duration.verdict, expected[i].verdict);
                assert_false(compare_kind_is_on_both(&m.c.kind[k]));
                assert_int_equal(m.c.kind[k].path, COMPARE_NONE);
                n_found++;
            }
    assert_int_equal(n_found, 2);
    unmake(&m);
}

static void the_kind_in_which_a_path_changed_is_named(void **state)
{
    const struct compare_path *path;
    char name[COMPARE_NAME_SIZE];
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*round(step(a@1ms build@500us) 4*step(a@1ms));jitter=0.02",
              "synth:100*round(step(a@2ms build@500us) 4*step(a@1ms));jitter=0.02;seed=2");
    path = &m.c.path[0];
    assert_ptr_equal(path, path_of(&m, "step > a"));
    assert_int_not_equal(path->kind, COMPARE_NONE);
    assert_string_equal(compare_kind_name(&m.c, path->kind, name), "with step > build");
    assert_float_equal(path->kind_ns, 2e5, 1e4);
    unmake(&m);
}

static void the_rank_that_changed_is_named(void **state)
{
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms |);ranks=8;jitter=0.02",
              "synth:100*step(a@1ms |);ranks=8;jitter=0.02;seed=2;slow=a/1/1.3/5");
    assert_int_equal(m.c.n_ranks, 8);
    assert_int_equal(m.c.rank[0].rank, 5);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(m.c.rank[i].stands_out, i == 0);
    unmake(&m);
}

/* As many ranks, but rank 3 before is rank 7 after. */
static void ranks_that_are_others_are_not_compared(void **state)
{
    struct made m = {.n = {0}};

    (void)state;
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms);ranks=4");
    add(&m, COMPARE_AFTER, "synth:100*step(a@1ms);ranks=4;seed=2");
    m.after[0].rank[3].rank = 7;
    compare(&m);
    assert_true(m.c.has_other_ranks);
    assert_int_equal(m.c.n_ranks, 0);
    unmake(&m);
}

static void of_several_runs_the_fewest_and_the_most_ranks_are_known(void **state)
{
    struct made m = {.n = {0}};

    (void)state;
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms);ranks=4");
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms);ranks=6;seed=2");
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms);ranks=4;seed=3");
    add(&m, COMPARE_AFTER, "synth:100*step(a@1ms);ranks=4;seed=4");
    compare(&m);
    assert_true(m.c.has_other_ranks);
    assert_int_equal(m.c.ranks_of[0].least, 4);
    assert_int_equal(m.c.ranks_of[0].most, 6);
    assert_int_equal(m.c.ranks_of[1].most, 4);
    unmake(&m);
}

static void runs_that_cannot_be_compared_are_known(void **state)
{
    struct made m;

    (void)state;
    make_pair(&m, "synth:100*step(a@1ms);ranks=4", "synth:300*step(a@1ms);ranks=2");
    assert_true(m.c.has_other_ranks && m.c.has_other_locations);
    assert_false(m.c.has_other_counts); /* 400 and 600 executions */
    assert_int_equal(m.c.n_ranks, 0);
    unmake(&m);
    make_pair(&m, "synth:100*step(a@1ms)", "synth:200*step(a@1ms)");
    assert_true(m.c.has_other_counts && !m.c.has_other_ranks);
    unmake(&m);
}

static void add_functions(struct summary *d, double flush_ns, double solve_ns)
{
    summary_add_function(d, "flush",
                         &(struct summary_function){.n_calls = 100, .own_ns = flush_ns});
    summary_add_function(d, "solve",
                         &(struct summary_function){.n_calls = 100, .own_ns = solve_ns});
    d->has_all_functions = true;
}

static const struct compare_function *function_of(const struct made *m, const char *name)
{
    for (uint32_t i = 0; i < m->c.n_functions; i++)
        if (strcmp(m->c.names.name[m->c.function[i].name], name) == 0)
            return &m->c.function[i];
    return NULL;
}

/* In one run it has more than a ten-thousandth of the time, in the other two less. */
static void a_function_that_is_large_in_one_run_is_told_of_all(void **state)
{
    struct made m = {.n = {0}};

    (void)state;
    for (int i = 0; i < 2; i++)
        add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms)");
    add(&m, COMPARE_AFTER, "synth:100*step(a@1ms)");
    add_functions(&m.before[0], 1e5, 5e8);
    add_functions(&m.before[1], 3e5, 1e12);
    add_functions(&m.after[0], 2e5, 1e12);
    compare(&m);
    assert_non_null(function_of(&m, "flush"));
    assert_float_equal(function_of(&m, "flush")->own_ns[0], 2e5, 1e-3);
    assert_float_equal(function_of(&m, "flush")->own_ns[1], 2e5, 1e-3);
    assert_float_equal(function_of(&m, "flush")->calls[1], 100, 1e-9);
    compare_release(&m.c);
    m.before[0].function[0].own_ns = 1e4;
    compare(&m);
    assert_null(function_of(&m, "flush"));
    assert_non_null(function_of(&m, "solve"));
    unmake(&m);
}

/* One run was kept without those that had less than a ten-thousandth. */
static void what_a_function_did_is_not_known_where_a_run_may_lack_it(void **state)
{
    struct made m = {.n = {0}};

    (void)state;
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms)");
    add(&m, COMPARE_BEFORE, "synth:100*step(a@1ms)");
    add(&m, COMPARE_AFTER, "synth:100*step(a@1ms)");
    add_functions(&m.before[0], 1e5, 5e8);
    add_functions(&m.before[1], 1e5, 1e12);
    add_functions(&m.after[0], 1e12, 1e12);
    m.before[1].has_all_functions = false;
    m.before[1].function[0] = m.before[1].function[--m.before[1].n_functions];
    compare(&m);
    assert_string_equal(m.c.names.name[m.c.function[0].name], "flush"); /* it changed most */
    assert_false(compare_function_is_known(&m.c.function[0], COMPARE_BEFORE));
    assert_true(compare_function_is_known(&m.c.function[0], COMPARE_AFTER));
    assert_true(isnan(m.c.function[0].own_ns[0]) && isnan(m.c.function[0].locations[0]));
    assert_true(compare_function_is_known(function_of(&m, "solve"), COMPARE_BEFORE));
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_paths_contribute_adds_up_to_the_whole),
        cmocka_unit_test(a_path_that_became_slower_is_named_first),
        cmocka_unit_test(of_runs_of_the_same_program_none_is_called_slower_or_faster),
        cmocka_unit_test(many_runs_show_that_nothing_changed),
        cmocka_unit_test(where_runs_differ_too_much_it_is_said_how_many_it_would_take),
        cmocka_unit_test(so_many_runs_as_are_needed_decide),
        cmocka_unit_test(within_one_run_a_large_change_is_seen_and_a_small_one_is_not_believed),
        cmocka_unit_test(what_calls_inside_may_be_off_by_is_no_change_of_theirs),
        cmocka_unit_test(an_execution_is_no_slower_than_it_is_known),
        cmocka_unit_test(a_kind_is_known_as_its_executions_are),
        cmocka_unit_test(of_a_few_executions_nothing_is_said),
        cmocka_unit_test(a_call_that_is_new_or_gone_is_called_so),
        cmocka_unit_test(a_call_from_elsewhere_has_moved_with_all_below_it),
        cmocka_unit_test(a_function_with_a_new_name_is_the_same_when_told_so),
        cmocka_unit_test(one_kind_that_is_slower_and_one_that_is_faster_are_both_named),
        cmocka_unit_test(a_kind_that_one_side_lacks_is_new_or_gone),
        cmocka_unit_test(the_kind_in_which_a_path_changed_is_named),
        cmocka_unit_test(the_rank_that_changed_is_named),
        cmocka_unit_test(ranks_that_are_others_are_not_compared),
        cmocka_unit_test(of_several_runs_the_fewest_and_the_most_ranks_are_known),
        cmocka_unit_test(runs_that_cannot_be_compared_are_known),
        cmocka_unit_test(a_function_that_is_large_in_one_run_is_told_of_all),
        cmocka_unit_test(what_a_function_did_is_not_known_where_a_run_may_lack_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
