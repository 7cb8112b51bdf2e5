/*
 * Random damage to a run directory: whoever reads it says so in one clear line, or what is
 * damaged did not matter to the answer. The answers of the intact run are known, and one to
 * `export --what calls`, which reads every call, must be those or none.
 *
 * The number of variants is the environment variable SNAG_FUZZ_N, or 50.
 */
#include "base/fs.h"

#include <unistd.h>

#include "file_set.h"
#include "sample_trace.h"
#include "spawn.h"
#include "test.h"
#include "test_dir.h"

#define N_COMMANDS 9

struct scene {
    char dir[64], run[96], intact[96];
    struct file_set files;
    struct outcome calls; /* what exporting them prints */
};

/* Command i on a run. */
static void run_command(const struct scene *s, struct outcome *o, int i, const char *run)
{
    switch (i) {
    case 0:
        spawn_run(o, "export", run, "--what", "calls", NULL);
        break;
    case 1:
        spawn_run(o, "list", "--json", "--all", run, NULL);
        break;
    case 2:
        spawn_run(o, "show", run, "#2-7", NULL);
        break;
    case 3:
        spawn_run(o, "query", run, "SELECT * FROM execution", NULL);
        break;
    case 4:
        spawn_run(o, "what-if", run, "--without", "anomalies", "--without", "rank=2", NULL);
        break;
    case 5:
        spawn_run(o, "ranks", run, "--all", NULL);
        break;
    case 6:
        spawn_run(o, "compare", s->intact, run, "--all", NULL);
        break;
    case 7:
        spawn_run(o, "list", run, "--incidents", "--json", NULL);
        break;
    default:
        spawn_run(o, "export", run, "--format", "chrome", NULL);
        break;
    }
}

static bool is_right(const struct scene *s, const char *run, int i, const char *what)
{
    struct outcome o;
    bool is_good;

    run_command(s, &o, i, run);
    is_good = outcome_is_clean(&o, what);
    if (is_good && i == 0 && o.status == 0 && strstr(what, "run.db") == NULL &&
        (o.n_out != s->calls.n_out || memcmp(o.out, s->calls.out, o.n_out) != 0)) {
        fprintf(stderr, "%s: other calls than before\n", what);
        is_good = false;
    }
    outcome_release(&o);
    return is_good;
}

static void damage_is_said_or_does_not_matter(void **state)
{
    const struct scene *s = *state;
    const char *said = getenv("SNAG_FUZZ_N");
    unsigned long n = said ? strtoul(said, NULL, 10) : 50, n_wrong = 0;

    for (unsigned long v = 0; v < n; v++) {
        struct rng rng = {v * 1000003 + 23};
        char run[FS_PATH_SIZE], did[DAMAGE_WHAT], what[DAMAGE_WHAT + 60];
        int i = v % 2 ? 0 : 1 + (int)(v / 2 % (N_COMMANDS - 1));

        snprintf(run, sizeof run, "%s/variant%lu", s->dir, v);
        file_set_damage(&s->files, &rng, run, did);
        snprintf(what, sizeof what, "variant %lu, command %d, %s", v, i, did);
        n_wrong += !is_right(s, run, i, what);
        fs_remove_tree(run);
    }
    assert_int_equal(n_wrong, 0);
}

/* Each command says that a file is gone, or does not need it. A third of them is tried with
 * each file, in turn, or all where SNAG_LONG is set. */
static void each_file_may_be_missing_or_empty(void **state)
{
    const struct scene *s = *state;
    size_t step = getenv("SNAG_LONG") ? 1 : 3;

    for (size_t f = 0; f < 2 * s->files.n; f++) {
        char run[FS_PATH_SIZE], what[FS_PATH_SIZE];
        size_t i = f / 2;

        snprintf(run, sizeof run, "%s/without", s->dir);
        snprintf(what, sizeof what, "%s %s", s->files.file[i].name,
                 f % 2 ? "empty" : "missing");
        file_set_write(&s->files, run, i);
        if (f % 2)
            file_set_put(&s->files, i, run, "", 0);
        for (size_t c = f % step; c < N_COMMANDS; c += step)
            if (s->files.file[i].n > 0)
                assert_true(is_right(s, run, (int)c, what));
        fs_remove_tree(run);
    }
}

static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof *s);
    char trace[128];
    struct outcome o;

    strcpy(s->dir, "/tmp/snag-run-damage-XXXXXX");
    assert_non_null(test_dir(s->dir));
    snprintf(trace, sizeof trace, "%s/trace", s->dir);
    snprintf(s->run, sizeof s->run, "%s/run.snag", s->dir);
    snprintf(s->intact, sizeof s->intact, "%s/intact.snag", s->dir);
    sample_trace_write(trace, 12);
    spawn_run(&o, "analyze", "--foi", "step", trace, "-o", s->run, NULL);
    assert_int_equal(o.status, 0);
    outcome_release(&o);
    file_set_load(&s->files, s->run);
    file_set_write(&s->files, s->intact, s->files.n);
    for (int i = N_COMMANDS - 1; i >= 0; i--) {
        outcome_release(&s->calls);
        run_command(s, &s->calls, i, s->run);
        assert_int_equal(s->calls.status, 0);
        assert_true(s->calls.n_out > 0);
    }
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;

    fs_remove_tree(s->dir);
    file_set_release(&s->files);
    outcome_release(&s->calls);
    free(s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_may_be_missing_or_empty),
        cmocka_unit_test(damage_is_said_or_does_not_matter),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
