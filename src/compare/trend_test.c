/* Runs of a program that was changed on the way. */
#include "compare/trend.h"

#include "base/err.h"

#include <math.h>

#include "sample_summary.h"
#include "test.h"
#include "test_dir.h"

static char dir[] = "/tmp/snag-trend-XXXXXX";

static void add(struct history *h, const char *program, const char *commit)
{
    struct history_tags tags = {0};
    struct summary d;
    struct history_part part = {.foi = "step", .summary = &d};
    int64_t id;

    sample_summary(program, "step", &d);
    history_tags_set(&tags, "commit", commit);
    assert_int_equal(history_add(h, "run.snag", &tags, &part, 1, &id), 0);
    history_tags_release(&tags);
    summary_release(&d);
}

/* n runs of seeds from `first` on. */
static void add_runs(struct history *h, const char *program, unsigned first, unsigned n,
                     const char *commit)
{
    char seeded[300];

    for (unsigned i = 0; i < n; i++) {
        snprintf(seeded, sizeof seeded, "%s;jitter=0.03;seed=%u", program, first + i);
        add(h, seeded, commit);
    }
}

static const struct trend_series *find(const struct trend *t, const char *path)
{
    for (uint32_t i = 0; i < t->n_series; i++)
        if (strcmp(t->series[i].path, path) == 0)
            return &t->series[i];
    fail_msg("no series %s", path);
    return NULL;
}

static void open_history(struct history *h, const char *name)
{
    char path[FS_PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(history_open(h, path, DATABASE_MAKE), 0);
}

static void a_change_is_found_in_the_whole_and_in_its_path(void **state)
{
    struct history h;
    struct trend t;

    (void)state;
    open_history(&h, "change.db");
    add_runs(&h, "synth:50*step(pack@1ms solve@4ms)", 1, 8, "before");
    add_runs(&h, "synth:50*step(pack@1ms solve@5ms)", 9, 8, "after");
    assert_int_equal(trend_load(&h, &(struct history_filter){0}, &t), 0);
    assert_int_equal(t.n_runs, 16);
    assert_string_equal(t.series[0].path, "step");
    assert_int_equal(t.series[0].n_changes, 1);
    assert_int_equal(t.series[0].change[0].at, 8);
    assert_float_equal(t.series[0].change[0].after - t.series[0].change[0].before, 1e6, 1e5);
    assert_int_equal(find(&t, "step > solve")->n_changes, 1);
    assert_int_equal(find(&t, "step > pack")->n_changes, 0);
    assert_string_equal(history_tags_get(&t.tags[8], "commit"), "after");
    trend_release(&t);
    history_close(&h);
}

static void what_became_faster_is_a_change_too(void **state)
{
    struct history h;
    struct trend t;

    (void)state;
    open_history(&h, "faster.db");
    add_runs(&h, "synth:50*step(pack@1ms solve@5ms)", 1, 8, "before");
    add_runs(&h, "synth:50*step(pack@1ms solve@4ms)", 9, 8, "after");
    assert_int_equal(trend_load(&h, &(struct history_filter){0}, &t), 0);
    assert_int_equal(t.series[0].n_changes, 1);
    assert_float_equal(t.series[0].change[0].after - t.series[0].change[0].before, -1e6, 1e5);
    assert_int_equal(find(&t, "step > solve")->n_changes, 1);
    trend_release(&t);
    history_close(&h);
}

static void paths_add_up_to_the_whole(void **state)
{
    struct history h;
    struct trend t;

    (void)state;
    open_history(&h, "sum.db");
    add_runs(&h, "synth:20*step(a@1ms b@2ms(c@3ms))", 1, 3, "x");
    add_runs(&h, "synth:20*step(a@1ms d@2ms)", 4, 2, "y");
    assert_int_equal(trend_load(&h, &(struct history_filter){0}, &t), 0);
    for (uint32_t run = 0; run < t.n_runs; run++) {
        double sum = 0;

        for (uint32_t i = 1; i < t.n_series; i++)
            sum += t.series[i].ns[run];
        assert_float_equal(sum, t.series[0].ns[run], 1e-6 * sum);
    }
    assert_true(find(&t, "step > d")->ns[0] == 0 && find(&t, "step > d")->ns[4] > 0);
    trend_release(&t);
    history_close(&h);
}

static void without_a_change_there_is_none(void **state)
{
    struct history h;
    struct trend t;
    uint32_t n = 0;

    (void)state;
    open_history(&h, "flat.db");
    add_runs(&h, "synth:50*step(pack@1ms solve@4ms)", 100, 40, "x");
    assert_int_equal(trend_load(&h, &(struct history_filter){0}, &t), 0);
    for (uint32_t i = 0; i < t.n_series; i++)
        n += t.series[i].n_changes;
    assert_int_equal(n, 0);
    trend_release(&t);
    assert_int_equal(trend_load(&h, &(struct history_filter){.foi = "other"}, &t),
                     ERR_NOT_FOUND);
    trend_release(&t);
    history_close(&h);
}

static int make(void **state)
{
    (void)state;
    return test_dir(dir) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_found_in_the_whole_and_in_its_path),
        cmocka_unit_test(what_became_faster_is_a_change_too),
        cmocka_unit_test(paths_add_up_to_the_whole),
        cmocka_unit_test(without_a_change_there_is_none),
    };

    return cmocka_run_group_tests(tests, make, NULL);
}
