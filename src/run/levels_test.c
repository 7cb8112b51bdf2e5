/* Levels against those that a loop over all calls makes. */
#include "run/levels.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "run/levels_format.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_columns.h"
#include "test.h"
#include "test_dir.h"

static void make(struct levels *levels, const struct columns *columns, unsigned n_threads)
{
    struct pool *pool = pool_new(n_threads);

    assert_int_equal(levels_make(levels, columns, pool, NULL), 0);
    pool_free(pool);
}

/* Level k of one depth as the definition has it, call by call. */
static uint32_t define(const struct call_view *c, uint32_t d, unsigned k,
                       struct level_rect *out)
{
    uint32_t n = 0;
    bool is_open = false; /* the last one is of short calls */

    for (uint64_t i = c->depth_start[d]; i < c->depth_start[d + 1]; i++) {
        uint32_t row = c->by_depth[i];
        uint64_t enter = c->enter_ns[row], length = c->inclusive_ns[row], step = 1ull << k;
        struct level_rect *last = n > 0 ? &out[n - 1] : NULL;

        if (length < step && is_open && last->begin_ns / step == enter / step) {
            last->n_calls++;
            last->end_ns = enter + length;
            if (length > c->inclusive_ns[last->call]) {
                last->call = row;
                last->region = c->region[row];
            }
            continue;
        }
        out[n++] = (struct level_rect){
            enter, enter + length, (uint32_t)(i - c->depth_start[d]), 1, row, c->region[row]};
        is_open = length < step;
    }
    return n;
}

static void check_line(const struct levels *levels, const struct columns *columns, uint32_t l,
                       uint32_t d)
{
    struct call_view c = columns_view(columns, l);
    struct level_rect *rect = mem_alloc(c.n, sizeof *rect);
    unsigned finest, n = levels_of(levels, l, d, &finest);
    uint32_t n_rects = 0;

    assert_int_equal(n > 0, c.depth_start[d + 1] > c.depth_start[d]);
    for (unsigned k = finest; k < finest + n; k++) {
        struct level level = levels_at(levels, l, d, k);

        n_rects = define(&c, d, k, rect);
        assert_int_equal(level.n, n_rects);
        assert_memory_equal(level.rect, rect, n_rects * sizeof *rect);
    }
    if (n > 0) /* what there is no level for is as the coarsest */
        assert_int_equal(define(&c, d, 62, rect), n_rects);
    free(rect);
}

static void every_level_is_what_a_loop_over_all_calls_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct sample_columns s;
        struct levels levels;

        sample_columns_init(&s, seed < 5 ? (uint32_t)seed - 1 : 40 * (uint32_t)seed, seed);
        make(&levels, &s.columns, 1);
        for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++)
            for (uint32_t d = 0; d < SAMPLE_DEPTHS; d++)
                check_line(&levels, &s.columns, l, d);
        levels_close(&levels);
        sample_columns_release(&s);
    }
}

static void finest_levels_are_a_fraction_of_the_calls(void **state)
{
    struct sample_columns s;
    struct levels levels;

    (void)state;
    sample_columns_init(&s, 20000, 3);
    make(&levels, &s.columns, 2);
    for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++) {
        uint64_t n = 0;

        for (uint32_t d = 0; d < SAMPLE_DEPTHS; d++) {
            unsigned finest;

            levels_of(&levels, l, d, &finest);
            n += levels_at(&levels, l, d, finest).n;
        }
        assert_true(n <= s.columns.range[l].n_calls / 16);
        assert_true(n >= s.columns.range[l].n_calls / 64);
    }
    levels_close(&levels);
    sample_columns_release(&s);
}

static void ranges_sums_and_messages_are_found(void **state)
{
    struct sample_columns s;
    struct levels levels;
    struct rng rng = {5};

    (void)state;
    sample_columns_init(&s, 4000, 9);
    make(&levels, &s.columns, 1);
    for (int round = 0; round < 3000; round++) {
        uint32_t l = round % SAMPLE_LOCATIONS, d = round / 2 % SAMPLE_DEPTHS, begin, end;
        struct call_view c = columns_view(&s.columns, l);
        uint64_t n = c.depth_start[d + 1] - c.depth_start[d], sum = 0;
        uint64_t from = rng_below(&rng, (uint32_t)s.end_ns + 9), a, b;
        uint64_t until = from + 1 + rng_below(&rng, round % 7 ? 3000 : (uint32_t)s.end_ns);
        unsigned finest, n_levels = levels_of(&levels, l, d, &finest);
        struct level level = levels_at(&levels, l, d, finest + rng_below(&rng, n_levels));
        size_t i = 0;

        level_range(&level, from, until, &begin, &end);
        for (uint32_t r = 0; r < level.n; r++) {
            bool is_in = level.rect[r].begin_ns < until &&
                         (level.rect[r].begin_ns >= from || level.rect[r].end_ns > from);

            assert_int_equal(is_in, r >= begin && r < end);
        }
        assert_true(level_most(&level, from, until) >= end - begin);
        assert_true(level_most(&level, from, until) <= end - begin + 2 * LEVELS_FENCE + 1);
        a = rng_below(&rng, (uint32_t)n + 1);
        b = a + rng_below(&rng, (uint32_t)(n - a) + 1);
        for (uint64_t k = a; k < b; k++)
            sum += c.inclusive_ns[c.by_depth[c.depth_start[d] + k]];
        assert_int_equal(levels_spent(&levels, l, d, a, b), sum);
        while (i < c.n_messages && message_record_ns(&c.message[i]) < from)
            i++;
        assert_int_equal(levels_message_from(&levels, l, from), i);
    }
    levels_close(&levels);
    sample_columns_release(&s);
}

static void shares_are_equal_parts_of_what_the_modest_leave(void **state)
{
    uint32_t wanted[] = {50, 1, 9, 40}, enough[] = {1, 2, 3}, none[] = {5, 5};

    (void)state;
    assert_int_equal(level_share(wanted, 4, 60), 25); /* 60 - 1 - 9, for two */
    assert_int_equal(level_share(enough, 3, 6), UINT32_MAX);
    assert_int_equal(level_share(none, 2, 1), 1);
    assert_int_equal(level_share(NULL, 0, 1), UINT32_MAX);
}

/* --------------------------------------------------------------------------- on disk */

/* Makes calls/ in a new directory, and lets the columns lie there. */
static void make_dir(struct sample_columns *s, char dir[])
{
    char calls[64];

    assert_non_null(test_dir(dir));
    snprintf(calls, sizeof calls, "%s/calls", dir);
    assert_int_equal(mkdir(calls, 0777), 0);
    assert_int_equal(fs_open_dir(calls, &s->columns.dir), 0);
}

static void remove_dir(struct sample_columns *s, const char *dir)
{
    close(s->columns.dir);
    assert_int_equal(fs_remove_tree(dir), 0);
}

static void in_dir(char path[64], const char *dir, const char *name)
{
    snprintf(path, 64, "%s/calls/%s", dir, name);
}

static void files_are_the_same_with_any_number_of_threads(void **state)
{
    struct sample_columns s;
    struct levels one, two;
    char dir[] = "/tmp/snag-levels-XXXXXX";
    struct pool *pool = pool_new(2);

    (void)state;
    sample_columns_init(&s, 5000, 4);
    s.columns.dir = -1;
    assert_int_equal(levels_write(&s.columns, pool, NULL), ERR_IO);
    make_dir(&s, dir);
    assert_int_equal(levels_open(&two, &s.columns), ERR_IO);
    levels_close(&two);
    assert_int_equal(levels_write(&s.columns, pool, NULL), 0);
    make(&one, &s.columns, 1);
    assert_int_equal(levels_open(&two, &s.columns), 0);
    assert_int_equal(one.index.bytes, two.index.bytes);
    assert_memory_equal(one.index.data, two.index.data, one.index.bytes);
    assert_int_equal(one.rects.bytes, two.rects.bytes);
    assert_memory_equal(one.rects.data, two.rects.data, one.rects.bytes);
    levels_close(&one);
    levels_close(&two);
    pool_free(pool);
    remove_dir(&s, dir);
    sample_columns_release(&s);
}

static void a_cancelled_writer_leaves_nothing(void **state)
{
    struct sample_columns s;
    char dir[] = "/tmp/snag-levels-XXXXXX", path[64];
    struct pool *pool = pool_new(1);
    atomic_bool is_cancelled = true;

    (void)state;
    sample_columns_init(&s, 100, 4);
    make_dir(&s, dir);
    in_dir(path, dir, "");
    assert_true(levels_write(&s.columns, pool, &is_cancelled) < 0);
    assert_int_equal(rmdir(path), 0); /* empty */
    remove_dir(&s, dir);
    pool_free(pool);
    sample_columns_release(&s);
}

/* Writes one byte of a file anew, or cuts the file there. */
static void damage(const char *path, long at, int byte)
{
    FILE *file = fopen(path, byte == 'v' ? "w+b" : "r+b");

    assert_non_null(file);
    if (byte < 0) {
        assert_int_equal(ftruncate(fileno(file), at), 0);
    } else {
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
    }
    fclose(file);
}

static void damaged_files_and_those_of_other_columns_are_not_used(void **state)
{
    struct sample_columns s;
    struct levels levels;
    char dir[] = "/tmp/snag-levels-XXXXXX", index[64], rects[64];
    struct pool *pool = pool_new(1);
    long size;

    (void)state;
    sample_columns_init(&s, 500, 4);
    make_dir(&s, dir);
    in_dir(index, dir, "levels.index");
    in_dir(rects, dir, "levels.rec");
    assert_int_equal(levels_write(&s.columns, pool, NULL), 0);
    assert_int_equal(levels_open(&levels, &s.columns), 0);
    size = (long)levels.index.bytes;
    levels_close(&levels);
    s.index.header.checksum++;
    assert_int_equal(levels_open(&levels, &s.columns), ERR_FORMAT);
    levels_close(&levels);
    s.index.header.checksum--;
    for (long at = 0; at < size; at += 97) {
        assert_int_equal(levels_write(&s.columns, pool, NULL), 0);
        damage(index, at, at % 2 ? 0xa5 : -1);
        assert_int_equal(levels_open(&levels, &s.columns), ERR_FORMAT);
        levels_close(&levels);
    }
    assert_int_equal(levels_write(&s.columns, pool, NULL), 0);
    damage(rects, 320, -1);
    assert_int_equal(levels_open(&levels, &s.columns), ERR_FORMAT);
    levels_close(&levels);
    remove_dir(&s, dir);
    pool_free(pool);
    sample_columns_release(&s);
}

/* What a stranger may have put where the files are to be. */
static void links_lead_nowhere(void **state)
{
    static const char *const names[] = {"levels.index", "levels.rec"};
    struct sample_columns s;
    struct levels levels;
    char dir[] = "/tmp/snag-levels-XXXXXX", victim[64], path[64];
    struct pool *pool = pool_new(1);
    struct stat info;

    (void)state;
    sample_columns_init(&s, 500, 4);
    make_dir(&s, dir);
    snprintf(victim, sizeof victim, "%s/victim", dir);
    damage(victim, 0, 'v');
    for (int i = 0; i < 2; i++) {
        in_dir(path, dir, names[i]);
        assert_int_equal(symlink(victim, path), 0);
    }
    assert_int_equal(levels_open(&levels, &s.columns), ERR_FORMAT);
    levels_close(&levels);
    assert_int_equal(levels_write(&s.columns, pool, NULL), 0); /* in place of the links */
    assert_int_equal(levels_open(&levels, &s.columns), 0);
    levels_close(&levels);
    assert_int_equal(stat(victim, &info), 0);
    assert_int_equal(info.st_size, 1);
    remove_dir(&s, dir);
    pool_free(pool);
    sample_columns_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_is_what_a_loop_over_all_calls_says),
        cmocka_unit_test(finest_levels_are_a_fraction_of_the_calls),
        cmocka_unit_test(ranges_sums_and_messages_are_found),
        cmocka_unit_test(shares_are_equal_parts_of_what_the_modest_leave),
        cmocka_unit_test(files_are_the_same_with_any_number_of_threads),
        cmocka_unit_test(a_cancelled_writer_leaves_nothing),
        cmocka_unit_test(damaged_files_and_those_of_other_columns_are_not_used),
        cmocka_unit_test(links_lead_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
