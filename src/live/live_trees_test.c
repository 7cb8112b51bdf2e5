/* Patterns while functions appear; what sinks are told. Steps are made by hand. */
#include "live/live_trees.h"

#include "base/err.h"

#include "test.h"

enum { ON_TWO = 2 };

/* A stream of one's own: locations of rank 0 and 1, and what was told in the last step. */
struct stage {
    struct definitions defs;
    struct calls calls[ON_TWO];
    struct callstack *stack[ON_TWO];
    struct quality quality;
    struct live_trees *trees;
    uint64_t now_ns;

    uint32_t n_told, n_anomalies;
    double sigmas, score, threshold;
    char why[512], id[LIVE_TREE_ID_SIZE], foi[64];
    char all[512];                 /* ids of the strange ones, in the order they were told */
    char first[LIVE_TREE_ID_SIZE]; /* id of the first that was told */
    uint64_t told_ns;              /* and until when its step was */
};

static void note(void *ctx, const struct live_tree_step *step)
{
    struct stage *s = ctx;

    for (uint32_t i = 0; i < step->n_foi; i++)
        for (uint32_t t = 0; t < step->foi[i].trees.forest.n_trees; t++) {
            const struct tree_verdict *v = &step->foi[i].verdict[t];

            if (s->n_told++ == 0) {
                live_tree_id(&step->foi[i], step->step->defs, t, s->first);
                s->told_ns = step->step->end_ns;
            }
            assert_true((v->why != NULL) == v->is_anomaly);
            assert_true((v->algorithm == NULL) == isnan(v->sigmas));
            if (!v->is_anomaly)
                continue;
            assert_string_equal(v->algorithm, TREE_BY_ROLLING);
            s->n_anomalies++;
            s->score = v->score;
            s->threshold = v->threshold;
            snprintf(s->why, sizeof s->why, "%s", v->why);
            snprintf(s->foi, sizeof s->foi, "%s",
                     step->step->defs->region[step->foi[i].region].name);
            live_tree_id(&step->foi[i], step->step->defs, t, s->id);
            if (strlen(s->all) + LIVE_TREE_ID_SIZE < sizeof s->all) {
                strcat(s->all, " ");
                strcat(s->all, s->id);
            }
        }
}

/* pattern: NULL: the function that suggests itself */
static void stage_init(struct stage *s, const char *pattern, const char *features)
{
    struct live_trees_opts opts = live_trees_default();

    *s = (struct stage){.now_ns = 1000};
    for (uint64_t l = 0; l < ON_TWO; l++) {
        definitions_location(&s->defs, l, "Master thread", l);
        s->calls[l].has_steps = true;
        s->stack[l] = callstack_new();
        callstack_begin(s->stack[l], &s->calls[l], &s->quality);
    }
    definitions_finish(&s->defs, NULL, 0);
    opts.pattern = &pattern;
    opts.n_patterns = pattern != NULL;
    opts.guesses = pattern == NULL;
    if (features)
        opts.features = features;
    assert_int_equal(live_trees_new(&opts, &s->trees), 0);
    live_trees_add(s->trees, note, s);
}

static void stage_release(struct stage *s)
{
    for (int l = 0; l < ON_TWO; l++) {
        callstack_free(s->stack[l]);
        calls_release(&s->calls[l]);
    }
    live_trees_free(s->trees);
    definitions_release(&s->defs);
}

/* A call of this function that takes so long, on one location. */
static void call(struct stage *s, uint32_t location, const char *name, uint64_t ns)
{
    uint32_t region = definitions_region(&s->defs, name);
    struct event event[] = {{s->now_ns, EVENT_ENTER, region},
                            {s->now_ns + ns, EVENT_LEAVE, region}};
    struct event_batch batch = {.event = event, .n = 2};

    callstack_push(s->stack[location], &batch, 0, 2);
    s->now_ns += ns;
}

static void end_step_at(struct stage *s, uint64_t begin_ns, bool is_last)
{
    struct ad_step step = {.defs = &s->defs,
                           .begin_ns = begin_ns,
                           .end_ns = s->now_ns,
                           .is_last = is_last,
                           .n_locations = ON_TWO,
                           .calls = s->calls};

    for (int l = 0; l < ON_TWO; l++)
        callstack_step(s->stack[l]);
    live_trees_step(s->trees, &step);
    for (int l = 0; l < ON_TWO; l++)
        callstack_next(s->stack[l]);
}

static void end_step(struct stage *s)
{
    end_step_at(s, 0, false);
}

static void strange_executions_are_told_with_a_reason(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s, "solve", NULL);
    for (int i = 0; i < 40; i++) {
        call(&s, i % 2, "solve", 1000000 + 1000 * (uint64_t)(i % 3));
        if (i % 7 == 0)
            end_step(&s);
    }
    call(&s, 1, "solve", 5000000);
    end_step(&s);
    assert_int_equal(s.n_told, 41);
    assert_int_equal(s.n_anomalies, 1);
    assert_string_equal(s.id, "#1-20");
    assert_true(s.score > 100 && s.threshold == 6);
    /* mean 1.001 ms; the clock and the mean allow no less than 1 % of it as deviation */
    assert_string_equal(s.why, "took 5.00 ms, 399.5 deviations more than the mean of the 40 "
                               "executions before it, 1.00 ms");
    stage_release(&s);
}

/* The program defines its functions as it goes: a part of a name first, then the name. */
static void a_better_name_takes_over(void **state)
{
    const struct live_foi *foi;
    struct stage s;
    uint32_t n;

    (void)state;
    stage_init(&s, "solve", NULL);
    call(&s, 0, "presolve", 10);
    end_step(&s);
    foi = live_trees_foi(s.trees, &n);
    assert_int_equal(n, 1);
    assert_string_equal(s.defs.region[foi[0].region].name, "presolve");
    assert_int_equal(foi[0].totals.n_executions, 1);
    assert_int_equal(live_trees_check(s.trees, &s.defs), 0);

    call(&s, 0, "solve", 10);
    call(&s, 0, "presolve", 10);
    end_step(&s);
    foi = live_trees_foi(s.trees, &n);
    assert_int_equal(n, 2);
    assert_true(foi[0].is_given_up && !foi[1].is_given_up);
    assert_int_equal(foi[0].totals.n_executions, 1);
    assert_int_equal(foi[1].totals.n_executions, 1);
    assert_string_equal(s.defs.region[foi[1].region].name, "solve");
    stage_release(&s);
}

/* Where all is defined from the beginning, nothing worse is taken in the meantime. */
static void a_better_name_that_is_defined_is_waited_for(void **state)
{
    struct stage s;
    uint32_t n;

    (void)state;
    stage_init(&s, "solve", NULL);
    definitions_region(&s.defs, "solve");
    call(&s, 0, "presolve", 10);
    end_step(&s);
    live_trees_foi(s.trees, &n);
    assert_int_equal(n, 0);
    assert_int_equal(live_trees_check(s.trees, &s.defs), ERR_NOT_FOUND);
    assert_string_equal(err_message(), "'solve' was never called");
    call(&s, 1, "solve", 10);
    end_step(&s);
    live_trees_foi(s.trees, &n);
    assert_int_equal(n, 1);
    assert_int_equal(live_trees_check(s.trees, &s.defs), 0);
    stage_release(&s);
}

/* Executions of more than a window ago are forgotten: after a pause all begins anew. */
static void after_a_pause_all_begins_anew(void **state)
{
    const struct live_foi *foi;
    struct stage s;
    uint32_t n;

    (void)state;
    stage_init(&s, "/^so/", "duration,exclusive");
    for (int i = 0; i < 50; i++)
        call(&s, 0, "solve", 1000);
    s.now_ns += 3601 * (uint64_t)1000000000;
    for (int i = 0; i < 31; i++)
        call(&s, 1, "solve", 2000);
    end_step(&s);
    foi = live_trees_foi(s.trees, &n);
    assert_int_equal(foi[0].totals.n_executions, 81);
    assert_int_equal(foi[0].totals.n_unjudged, 60);
    assert_int_equal(foi[0].totals.n_anomalies, 0);
    stage_release(&s);
}

static void what_makes_no_sense_is_refused(void **state)
{
    const char *const bad = "/(/";
    struct live_trees_opts opts = live_trees_default();
    struct live_trees *trees;

    (void)state;
    opts.pattern = &bad;
    opts.n_patterns = 1;
    assert_int_equal(live_trees_new(&opts, &trees), ERR_USAGE);
    assert_null(trees);
    opts = live_trees_default();
    opts.features = "duration,colour";
    assert_int_equal(live_trees_new(&opts, &trees), ERR_USAGE);
    opts = live_trees_default();
    opts.sigmas = 0;
    assert_int_equal(live_trees_new(&opts, &trees), ERR_USAGE);
    opts = live_trees_default();
    opts.window_s = -1;
    assert_int_equal(live_trees_new(&opts, &trees), ERR_USAGE);
    opts = live_trees_default();
    opts.model_path = "nowhere";
    assert_int_equal(live_trees_new(&opts, &trees), ERR_IO);
    live_trees_free(NULL);
}

static void push(struct stage *s, uint32_t location, uint32_t kind, const char *name)
{
    struct event event = {s->now_ns, kind, definitions_region(&s->defs, name)};
    struct event_batch batch = {.event = &event, .n = 1};

    callstack_push(s->stack[location], &batch, 0, 1);
}

#define MS 1000000u

/*
 * A program of n executions of step on each of two ranks, in turns, each of so many calls of work
 * and 10 ms; the executions 40, 41 and 300 of rank 1 take 50. A step of the stream is 95 ms, and
 * cuts executions anywhere.
 *
 *     main( step( work work ... ) step( ... ) ...
 */
static void run_program(struct stage *s, const char *pattern, int n, uint64_t n_work)
{
    uint64_t begin_ns;

    stage_init(s, pattern, NULL);
    begin_ns = s->now_ns;
    for (uint32_t l = 0; l < ON_TWO; l++)
        push(s, l, EVENT_ENTER, "main");
    for (int i = 0; i < ON_TWO * n; i++) {
        uint32_t l = (uint32_t)(i % ON_TWO);
        bool is_long = l == 1 && (i / ON_TWO == 40 || i / ON_TWO == 41 || i / ON_TWO == 300);

        push(s, l, EVENT_ENTER, "step");
        for (uint64_t k = 0; k < n_work; k++) {
            call(s, l, "work", (is_long ? 50 : 10) * (uint64_t)MS / n_work);
            if (s->now_ns - begin_ns < 95 * MS)
                continue;
            end_step_at(s, begin_ns, false);
            begin_ns = s->now_ns;
        }
        push(s, l, EVENT_LEAVE, "step");
    }
    for (uint32_t l = 0; l < ON_TWO; l++)
        callstack_end(s->stack[l]);
    end_step_at(s, begin_ns, true);
}

/* What came before it was known is judged by what came before that. */
static void verdicts_of_a_suggested_function_are_those_of_a_named_one(void **state)
{
    struct stage named, suggested;

    (void)state;
    run_program(&named, "step", 400, 4);
    run_program(&suggested, NULL, 400, 4);
    assert_int_equal(named.n_told, 800);
    assert_string_equal(named.all, " #1-40 #1-41 #1-300");
    assert_true(named.told_ns < 200 * MS);
    assert_true(suggested.told_ns > 1000 * MS && suggested.told_ns < 2000 * MS);
    assert_int_equal(suggested.n_told, named.n_told);
    assert_int_equal(suggested.n_anomalies, named.n_anomalies);
    assert_string_equal(suggested.all, named.all);
    assert_string_equal(suggested.first, "#0-0");
    assert_string_equal(suggested.why, named.why);
    assert_string_equal(suggested.foi, "step");
    stage_release(&named);
    stage_release(&suggested);
}

static void a_short_run_has_a_suggested_function_in_the_end(void **state)
{
    struct stage s;

    (void)state;
    run_program(&s, NULL, 45, 4);
    assert_true(s.now_ns < 1000 * MS);
    assert_int_equal(s.n_told, 90);
    assert_string_equal(s.all, " #1-40 #1-41");
    stage_release(&s);
}

/* Too many calls to be kept: what is looked at has its numbers all the same. */
static void before_too_many_calls_executions_are_only_counted(void **state)
{
    struct stage s;

    (void)state;
    run_program(&s, NULL, 310, 20000); /* a million calls in 0.5 s */
    assert_string_equal(s.all, " #1-300");
    assert_true(s.n_told > 480 && s.n_told < 560);
    assert_string_not_equal(s.first, "#0-0");
    stage_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strange_executions_are_told_with_a_reason),
        cmocka_unit_test(a_better_name_takes_over),
        cmocka_unit_test(a_better_name_that_is_defined_is_waited_for),
        cmocka_unit_test(after_a_pause_all_begins_anew),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(verdicts_of_a_suggested_function_are_those_of_a_named_one),
        cmocka_unit_test(a_short_run_has_a_suggested_function_in_the_end),
        cmocka_unit_test(before_too_many_calls_executions_are_only_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
