/* What is kept of a run, and what comes back. */
#include "compare/run_history.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "compare/summary_pack.h"

#include "sample_summary.h"
#include "test.h"
#include "test_dir.h"

#define PROGRAM                                                                                \
    "synth:20*main2(step(solve@1ms) step(solve@1ms io@2ms(write@1ms)));ranks=3;jitter=0.05"

static char dir[] = "/tmp/snag-history-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[FS_PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* The bytes of both are the same, so all that is in them is. */
static void assert_same(const struct summary *a, const struct summary *b)
{
    struct pack p = {0}, q = {0};

    summary_pack(&p, a);
    summary_pack(&q, b);
    assert_int_equal(p.n, q.n);
    assert_memory_equal(p.data, q.data, p.n);
    pack_release(&p);
    pack_release(&q);
}

static void a_summary_comes_back_as_it_was(void **state)
{
    struct summary d, back;
    struct pack pack = {0};

    (void)state;
    sample_summary(PROGRAM ";off=solve/30us", "step", &d);
    summary_add_function(&d, "flush", &(struct summary_function){.n_calls = 3, .own_ns = 7});
    d.has_all_functions = true;
    summary_pack(&pack, &d);
    assert_int_equal(summary_unpack(&back, &pack), 0);
    assert_same(&d, &back);
    assert_int_equal(back.n_paths, d.n_paths);
    for (uint32_t i = 0; i < d.n_paths; i++) {
        assert_string_equal(back.names.name[back.path[i].name], d.names.name[d.path[i].name]);
        assert_true(back.path[i].time_ns == d.path[i].time_ns);
    }
    assert_true(back.batch[1].path_ns[1] == d.batch[1].path_ns[1]);
    assert_true(d.off_ns == 0 && d.path[1].off_ns > 0);
    assert_true(back.path[1].off_ns == d.path[1].off_ns);
    assert_true(back.rank[1].off_ns == d.rank[1].off_ns);
    assert_true(back.has_all_functions && back.n_functions == 1);
    assert_string_equal(back.names.name[back.function[0].name], "flush");
    assert_true(back.function[0].n_calls == 3 && back.function[0].own_ns == 7);
    summary_release(&back);
    pack_release(&pack);
    d.has_all_functions = false; /* as an older version kept it */
    summary_pack(&pack, &d);
    assert_int_equal(summary_unpack(&back, &pack), 0);
    assert_true(!back.has_all_functions && back.n_functions == 1);
    summary_release(&back);
    summary_release(&d);
    pack_release(&pack);
}

/* Whatever single byte is another one, or missing: refused, or a summary of the same shape. */
static void damaged_bytes_do_no_harm(void **state)
{
    struct summary d, back;
    struct pack pack = {0};
    struct rng rng = {7};

    (void)state;
    sample_summary(PROGRAM, "step", &d);
    summary_pack(&pack, &d);
    for (int i = 0; i < 3000; i++) {
        struct pack damaged = {.data = mem_alloc(pack.n, 1), .n = pack.n};

        memcpy(damaged.data, pack.data, pack.n);
        if (i % 3 == 0)
            damaged.n = rng_below(&rng, pack.n);
        else
            damaged.data[rng_below(&rng, pack.n)] = (unsigned char)rng_next(&rng);
        if (summary_unpack(&back, &damaged) == 0) {
            assert_true(i % 3 != 0);
            assert_true(back.n_paths > 0 && back.n_executions > 0);
        }
        summary_release(&back);
        free(damaged.data);
    }
    summary_release(&d);
    pack_release(&pack);
}

struct seen {
    int64_t id[10];
    uint32_t n;
};

static int see(void *ctx, const struct history_run *run)
{
    struct seen *seen = ctx;

    assert_string_equal(run->foi, "step");
    assert_int_equal(run->n_executions, 120);
    assert_int_equal(run->n_ranks, 3);
    seen->id[seen->n++] = run->id;
    return 0;
}

static struct seen each(struct history *h, const struct history_filter *filter)
{
    struct seen seen = {0};

    assert_int_equal(history_each(h, filter, see, &seen), 0);
    return seen;
}

/* Adds a run of another seed; returns its number. */
static int64_t add(struct history *h, unsigned seed, const char *commit)
{
    struct history_tags tags = {0};
    struct summary d;
    struct history_part part = {.foi = "step", .n_anomalies = 2, .summary = &d};
    char program[100];
    int64_t id = 0;

    snprintf(program, sizeof program, PROGRAM ";seed=%u", seed);
    sample_summary(program, "step", &d);
    history_tags_set(&tags, "commit", commit);
    history_tags_set(&tags, "branch", "main");
    assert_int_equal(history_add(h, "run.snag", &tags, &part, 1, &id), 0);
    history_tags_release(&tags);
    summary_release(&d);
    return id;
}

static void runs_are_found_by_their_tags_and_age(void **state)
{
    struct history_tags tags = {0};
    struct history h;
    struct seen seen;

    (void)state;
    assert_int_equal(history_open(&h, path_of("tags.db"), DATABASE_MAKE), 0);
    for (unsigned seed = 1; seed <= 4; seed++)
        assert_int_equal(add(&h, seed, seed % 2 ? "odd" : "even"), seed);
    seen = each(&h, &(struct history_filter){.foi = "step"});
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.id[0], 1);
    seen = each(&h, &(struct history_filter){.last = 3});
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.id[0], 2);
    history_tags_set(&tags, "commit", "odd");
    seen = each(&h, &(struct history_filter){.tags = &tags, .last = 1});
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.id[0], 3);
    seen = each(&h, &(struct history_filter){.foi = "other"});
    assert_int_equal(seen.n, 0);
    history_tags_release(&tags);
    history_close(&h);
}

/* A run of two functions of interest. */
static void add_named(struct history *h, unsigned seed, const char *foi, const char *other)
{
    struct summary d;
    struct history_part part[2] = {{.foi = foi, .summary = &d}, {.foi = other, .summary = &d}};
    char program[100];
    int64_t id;

    snprintf(program, sizeof program, PROGRAM ";seed=%u", seed);
    sample_summary(program, "step", &d);
    assert_int_equal(history_add(h, "run.snag", &(struct history_tags){0}, part, 2, &id), 0);
    summary_release(&d);
}

/* What passes, as " 1 name". */
static int write_name(void *ctx, const struct history_run *run)
{
    char *text = ctx;

    sprintf(text + strlen(text), " %d %s", (int)run->id, run->foi);
    return 0;
}

static void assert_passes(struct history *h, struct history_filter filter, const char *expected)
{
    char text[300] = "";

    assert_int_equal(history_each(h, &filter, write_name, text), 0);
    assert_string_equal(text, expected);
}

/*
 *     run  1              2              3
 *          a.py(10): f    a.py(12): f    a.py(12): f
 *          Box::run       Box<char>::run a.py(40): f
 */
static void functions_are_known_by_identity(void **state)
{
    struct history h;
    char text[300] = "";

    (void)state;
    assert_int_equal(history_open(&h, path_of("names.db"), DATABASE_MAKE), 0);
    add_named(&h, 1, "a.py(10): f", "Box::run");
    add_named(&h, 2, "a.py(12): f", "Box<char>::run");
    add_named(&h, 3, "a.py(12): f", "a.py(40): f");
    assert_passes(&h, (struct history_filter){.foi = "a.py(12): f", .is_one = true},
                  " 1 a.py(10): f 2 a.py(12): f 3 a.py(12): f");
    assert_passes(&h, (struct history_filter){.identity = "a::Box<char>::run(int)"},
                  " 1 Box::run 2 Box<char>::run");
    assert_passes(&h, (struct history_filter){.foi = "a.py(9): f", .last = 1},
                  " 3 a.py(12): f 3 a.py(40): f");
    assert_int_equal(history_each(&h,
                                  &(struct history_filter){.foi = "a.py: f", .is_one = true},
                                  write_name, text),
                     ERR_USAGE);
    assert_int_equal(
        history_each(&h, &(struct history_filter){.is_one = true}, write_name, text),
        ERR_USAGE);
    history_close(&h);
}

static void what_is_loaded_is_what_was_added(void **state)
{
    struct history h;
    struct summary d, back;
    struct history_tags tags;

    (void)state;
    assert_int_equal(history_open(&h, path_of("load.db"), DATABASE_MAKE), 0);
    assert_int_equal(add(&h, 5, "abc"), 1);
    history_close(&h);
    assert_int_equal(history_open(&h, path_of("load.db"), DATABASE_READ), 0);
    sample_summary(PROGRAM ";seed=5", "step", &d);
    assert_int_equal(history_load(&h, 1, "step", &back), 0);
    assert_same(&d, &back);
    summary_release(&back);
    assert_int_equal(history_load(&h, 2, "step", &back), ERR_NOT_FOUND);
    summary_release(&back);
    assert_int_equal(history_tags(&h, 1, &tags), 0);
    assert_string_equal(history_tags_get(&tags, "commit"), "abc");
    assert_null(history_tags_get(&tags, "node"));
    history_tags_release(&tags);
    summary_release(&d);
    history_close(&h);
}

static void a_run_is_kept_once(void **state)
{
    struct history h;
    struct summary d;
    struct history_part part = {.foi = "step", .summary = &d};
    int64_t id;

    (void)state;
    sample_summary(PROGRAM, "step", &d);
    assert_int_equal(history_open(&h, path_of("once.db"), DATABASE_MAKE), 0);
    assert_int_equal(history_add(&h, "a", &(struct history_tags){0}, &part, 1, &id), 0);
    assert_int_equal(history_add(&h, "b", &(struct history_tags){0}, &part, 1, &id),
                     ERR_EXISTS);
    assert_non_null(strstr(err_message(), "number 1"));
    assert_int_equal(each(&h, &(struct history_filter){0}).n, 1);
    summary_release(&d);
    history_close(&h);
}

static void what_is_removed_is_gone(void **state)
{
    struct history h;
    uint64_t n;

    (void)state;
    assert_int_equal(history_open(&h, path_of("remove.db"), DATABASE_MAKE), 0);
    for (unsigned seed = 1; seed <= 5; seed++)
        add(&h, seed, "x");
    assert_int_equal(history_remove(&h, 2), 0);
    assert_int_equal(history_remove(&h, 2), ERR_NOT_FOUND);
    assert_int_equal(each(&h, &(struct history_filter){0}).n, 4);
    assert_int_equal(history_keep(&h, 3, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(each(&h, &(struct history_filter){0}).id[0], 3);
    history_close(&h);
}

static void other_files_are_no_history(void **state)
{
    struct history h;
    FILE *file = fopen(path_of("text"), "w");

    (void)state;
    assert_non_null(file);
    fputs("not a database, but a text that is long enough to be looked at as one\n", file);
    fclose(file);
    assert_false(history_is(path_of("text")));
    assert_false(history_is(dir));
    assert_false(history_is(path_of("nothing")));
    assert_true(history_is(path_of("once.db")));
    assert_true(history_open(&h, path_of("text"), DATABASE_READ) < 0);
    assert_true(history_open(&h, path_of("text"), DATABASE_MAKE) < 0);
    assert_true(history_open(&h, dir, DATABASE_MAKE) < 0);
    assert_int_equal(history_open(&h, path_of("nothing"), DATABASE_READ), ERR_NOT_FOUND);
}

static int make(void **state)
{
    (void)state;
    return test_dir(dir) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_comes_back_as_it_was),
        cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(runs_are_found_by_their_tags_and_age),
        cmocka_unit_test(functions_are_known_by_identity),
        cmocka_unit_test(what_is_loaded_is_what_was_added),
        cmocka_unit_test(a_run_is_kept_once),
        cmocka_unit_test(what_is_removed_is_gone),
        cmocka_unit_test(other_files_are_no_history),
    };

    return cmocka_run_group_tests(tests, make, NULL);
}
