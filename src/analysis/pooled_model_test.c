/* A model of several runs, of which one takes a fifth longer, while executions of one are
 * alike. */
#include "analysis/run_model.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "detect/detector.h"

#include <math.h>
#include <string.h>

#include "sample_run.h"
#include "test.h"

#define PROGRAM(us, seed)                                                                      \
    "200*step(compute@" #us "us(a@300us 3*b@100us) >1 <1);ranks=3;jitter=0.02;seed=" #seed
static const char slow_run[] = "synth:" PROGRAM(1400, 1);
static const char fast_run[] = "synth:2*b 1*a " PROGRAM(1000, 2); /* other numbers of regions */
static const char between[] = "synth:" PROGRAM(1250, 3);
static const char stopped[] = "synth:" PROGRAM(1250, 3) ";slow=a/150/3"; /* on each rank */

static void add(struct pooled *p, const char *program)
{
    struct sample_run made;
    struct run run;

    sample_run_init(&made, program, "step", NULL);
    run = (struct run){.db = made.db, .columns = made.columns, .defs = made.source.defs};
    assert_int_equal(pooled_add(p, &run, 1), 0);
    sample_run_release(&made);
}

/* Anomalies of a run by the model of others. */
static uint32_t count_anomalies(struct model *m, const char *program)
{
    struct pool *pool = pool_new(1);
    struct scoring_opts opts = {.detector = detector_find("residual"),
                                .features = feature_find("residual"),
                                .threshold = NAN,
                                .pool = pool};
    struct scoring s = {0};
    struct sample_run run;
    uint32_t region, n = 0;

    sample_run_init(&run, program, "step", NULL);
    model_adopt(m, &run.source.defs, &region);
    assert_int_equal(run_scoring_collect(&s, &run.columns, &run.source.defs, region), 0);
    scoring_apply(&s, m, false);
    assert_int_equal(scoring_judge(&s, &opts), 0);
    for (uint32_t t = 0; t < s.forest.n_trees; t++)
        n += s.is_anomaly[t];
    scoring_release(&s);
    sample_run_release(&run);
    pool_free(pool);
    return n;
}

static uint32_t anomalies_of(const char *const *taught, uint32_t n, const char *program)
{
    struct pooled p = {0};
    struct model m;
    uint32_t found;

    for (uint32_t i = 0; i < n; i++)
        add(&p, taught[i]);
    assert_int_equal(pooled_model(&p, &m), 0);
    assert_int_equal(m.n_trees, 600 * n);
    assert_float_equal(calibration_executions(&m.calibration), 600, 1e-6);
    found = count_anomalies(&m, program);
    model_release(&m);
    pooled_release(&p);
    return found;
}

static void what_differs_between_runs_is_strange_to_one_and_usual_to_both(void **state)
{
    const char *const fast[] = {fast_run}, *const both[] = {fast_run, slow_run};

    (void)state;
    assert_true(anomalies_of(fast, 1, between) > 100);
    assert_int_equal(anomalies_of(both, 2, between), 0);
}

static void a_stop_is_still_found(void **state)
{
    const char *const both[] = {fast_run, slow_run};

    (void)state;
    assert_int_equal(anomalies_of(both, 2, stopped), 3);
}

/* Twenty runs of eight executions each: enough to know what is typical of one. */
static void many_short_runs_find_what_is_strange(void **state)
{
    struct pooled p = {0};
    struct model m;
    char program[80];

    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(program, sizeof program, "synth:8*step(a@1ms b@300us);jitter=0.02;seed=%d", i);
        add(&p, program);
    }
    assert_int_equal(pooled_model(&p, &m), 0);
    assert_float_equal(calibration_executions(&m.calibration), 8, 1e-6);
    assert_int_equal(count_anomalies(&m, "synth:8*step(a@1ms b@300us);jitter=0.02;slow=a/5/9"),
                     1);
    model_release(&m);
    pooled_release(&p);
}

static void runs_of_another_function_are_refused(void **state)
{
    struct pooled p = {0};
    struct sample_run made;
    struct run run;

    (void)state;
    add(&p, fast_run);
    sample_run_init(&made, "synth:30*round(a b)", "round", NULL);
    run = (struct run){.db = made.db, .columns = made.columns, .defs = made.source.defs};
    assert_int_equal(pooled_add(&p, &run, 1), ERR_NOT_FOUND);
    assert_int_equal(p.n_runs, 1);
    sample_run_release(&made);
    pooled_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_between_runs_is_strange_to_one_and_usual_to_both),
        cmocka_unit_test(a_stop_is_still_found),
        cmocka_unit_test(many_short_runs_find_what_is_strange),
        cmocka_unit_test(runs_of_another_function_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
