/* The rectangles against those that a loop over all calls makes. */
#include "serve/lod.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdbool.h>

#include "sample_columns.h"
#include "test.h"

static const uint32_t both[] = {1, 0};

static void make(struct levels *levels, const struct columns *columns)
{
    struct pool *pool = pool_new(1);

    assert_int_equal(levels_make(levels, columns, pool, NULL), 0);
    pool_free(pool);
}

/* Level k of one depth by the definition, of all calls. Returns how many rectangles. */
static uint32_t define(const struct call_view *c, uint32_t d, unsigned k,
                       struct level_rect *out)
{
    uint32_t n = 0;

    for (uint64_t i = c->depth_start[d]; i < c->depth_start[d + 1]; i++) {
        uint32_t row = c->by_depth[i];
        uint64_t enter = c->enter_ns[row], length = c->inclusive_ns[row];
        struct level_rect *last = n > 0 ? &out[n - 1] : NULL;

        if (last && length >> k == 0 && c->inclusive_ns[last->call] >> k == 0 &&
            last->begin_ns >> k == enter >> k) {
            last->n_calls++;
            last->end_ns = enter + length;
            if (length > c->inclusive_ns[last->call])
                last->call = row;
        } else {
            out[n++] = (struct level_rect){enter, enter + length, 0, 1, row, 0};
        }
    }
    return n;
}

/* Whether the rectangles from `at` on are level k of a line. Returns how many, or -1. */
static int compare(const struct lod *lod, size_t at, const struct columns *columns,
                   bool is_exact, uint32_t l, uint32_t d, const struct lod_window *w,
                   unsigned k)
{
    struct call_view c = columns_view(columns, l);
    struct level_rect *rect = mem_alloc(c.n, sizeof *rect);
    uint32_t n = define(&c, d, k, rect);
    size_t first = at;
    bool is_same = true;

    for (uint32_t i = 0; i < n && is_same; i++) {
        const struct level_rect *r = &rect[i];

        if (r->begin_ns >= w->end_ns || (r->begin_ns < w->begin_ns && r->end_ns <= w->begin_ns))
            continue;
        is_same = at < lod->n && lod->location[at] == l && lod->depth[at] == d &&
                  lod->begin_ns[at] == (double)r->begin_ns &&
                  lod->end_ns[at] == (double)r->end_ns && lod->merged[at] == r->n_calls &&
                  lod->region[at] == c.region[lod->call[at]];
        if (is_same && (is_exact || r->n_calls <= LOD_LOOKED_AT))
            is_same = lod->call[at] == r->call;
        at++;
    }
    free(rect);
    is_same &= at == lod->n || lod->location[at] != l || lod->depth[at] != d;
    return is_same ? (int)(at - first) : -1;
}

/* How many rectangles of level k reach into the window. */
static uint32_t count(const struct columns *columns, uint32_t l, uint32_t d,
                      const struct lod_window *w, unsigned k)
{
    struct call_view c = columns_view(columns, l);
    struct level_rect *rect = mem_alloc(c.n, sizeof *rect);
    uint32_t n = define(&c, d, k, rect), n_in = 0;

    for (uint32_t i = 0; i < n; i++)
        n_in += rect[i].begin_ns < w->end_ns &&
                (rect[i].begin_ns >= w->begin_ns || rect[i].end_ns > w->begin_ns);
    free(rect);
    return n_in;
}

/*
 * Each line is a level, no finer than a pixel allows; just that if there is no limit, and for
 * lines that need much less than their part.
 */
static void check(const struct lod *lod, const struct columns *columns, bool is_exact,
                  const struct lod_window *w)
{
    size_t at = 0;

    for (size_t i = 0; i < 2; i++)
        for (uint32_t d = 0; d < SAMPLE_DEPTHS && d < w->n_depths; d++) {
            unsigned k = lod_interval(w);
            bool is_quiet = count(columns, both[i], d, w, k) + 70 <= w->most / 6;
            int n = compare(lod, at, columns, is_exact, both[i], d, w, k);

            while (n < 0 && k < 40 && !is_quiet)
                n = compare(lod, at, columns, is_exact, both[i], d, w, ++k);
            assert_true(n >= 0);
            assert_true((uint32_t)n <= 4 * w->width + 2);
            at += (size_t)n;
        }
    assert_int_equal(at, lod->n);
    assert_true(lod->n <= w->most);
}

static void check_windows(bool has_levels, uint64_t seed)
{
    struct rng rng = {seed};
    struct sample_columns s;
    struct levels levels = {.columns = NULL};

    sample_columns_init(&s, 1 + rng_below(&rng, 2500), seed);
    if (has_levels)
        make(&levels, &s.columns);
    for (int round = 0; round < 12; round++) {
        static const uint32_t most[] = {100000, 900, 60, 6};
        struct lod lod = {.n = 0};
        struct lod_window w = {.n_depths = 9, .width = 1 + rng_below(&rng, 400)};

        w.most = most[round % 4];
        w.begin_ns = rng_below(&rng, (uint32_t)s.end_ns);
        w.end_ns = w.begin_ns + 1 + rng_below(&rng, 1u << rng_below(&rng, 22));
        lod_make(&lod, &s.columns, has_levels ? &levels : NULL, both, 2, &w);
        check(&lod, &s.columns, has_levels, &w);
        lod_release(&lod);
    }
    levels_close(&levels);
    sample_columns_release(&s);
}

static void any_window_is_what_a_loop_over_all_calls_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        check_windows(true, seed);
}

static void so_it_is_without_levels(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        check_windows(false, seed);
}

static void depths_below_the_wanted_ones_are_left_out(void **state)
{
    struct sample_columns s;
    struct lod lod = {.n = 0};
    struct lod_window w = {0, 100000, 100, 1, 1000};

    (void)state;
    sample_columns_init(&s, 100, 1);
    lod_make(&lod, &s.columns, NULL, both, 2, &w);
    assert_true(lod.n > 0);
    for (size_t i = 0; i < lod.n; i++)
        assert_int_equal(lod.depth[i], 0);
    lod_release(&lod);
    sample_columns_release(&s);
}

static void damage(struct sample_columns *s, struct rng *rng, bool has_starts)
{
    for (int k = 0; k < 30; k++) {
        uint64_t at = rng_below(rng, (uint32_t)s->columns.n_calls);

        s->by_depth[rng_below(rng, (uint32_t)s->columns.n_calls)] = (uint32_t)rng_next(rng);
        s->depth[at] = (uint16_t)rng_next(rng);
        s->enter_ns[at] = rng_next(rng);
    }
    if (has_starts)
        s->depth_start[1 + rng_below(rng, 2)] = rng_next(rng);
}

static void damaged_columns_do_no_harm(void **state)
{
    struct rng rng = {3};

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct sample_columns s;
        struct levels levels = {.columns = NULL};
        struct lod lod = {.n = 0};
        struct lod_window w = {0, 1u << (8 + round % 20), 50, 9, round % 3 ? 100000 : 200};
        struct pool *pool = pool_new(1);
        bool has_levels = false;

        sample_columns_init(&s, 300, 5);
        if (round % 2)
            has_levels = levels_make(&levels, &s.columns, pool, NULL) == 0;
        damage(&s, &rng, round % 4 == 0);
        if (round % 2 == 0) { /* made of what is damaged; or refused */
            levels_close(&levels);
            has_levels = levels_make(&levels, &s.columns, pool, NULL) == 0;
        }
        lod_make(&lod, &s.columns, has_levels ? &levels : NULL, both, 2, &w);
        for (size_t i = 0; i < lod.n; i++)
            assert_true(lod.call[i] < s.columns.range[lod.location[i]].n_calls);
        lod_release(&lod);
        levels_close(&levels);
        pool_free(pool);
        sample_columns_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_window_is_what_a_loop_over_all_calls_says),
        cmocka_unit_test(so_it_is_without_levels),
        cmocka_unit_test(depths_below_the_wanted_ones_are_left_out),
        cmocka_unit_test(damaged_columns_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
