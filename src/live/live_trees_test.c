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
};

static void note(void *ctx, const struct live_tree_step *step)
{
    struct stage *s = ctx;

    for (uint32_t i = 0; i < step->n_foi; i++)
        for (uint32_t t = 0; t < step->foi[i].trees.forest.n_trees; t++) {
            const struct tree_verdict *v = &step->foi[i].verdict[t];

            s->n_told++;
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
        }
}

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
    opts.n_patterns = 1;
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

static void end_step(struct stage *s)
{
    struct ad_step step = {.defs = &s->defs, .n_locations = ON_TWO, .calls = s->calls};

    for (int l = 0; l < ON_TWO; l++)
        callstack_step(s->stack[l]);
    live_trees_step(s->trees, &step);
    for (int l = 0; l < ON_TWO; l++)
        callstack_next(s->stack[l]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strange_executions_are_told_with_a_reason),
        cmocka_unit_test(a_better_name_takes_over),
        cmocka_unit_test(a_better_name_that_is_defined_is_waited_for),
        cmocka_unit_test(after_a_pause_all_begins_anew),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
