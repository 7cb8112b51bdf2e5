/* The rectangles against those that a loop over all calls makes. */
#include "web/lod.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/test.h"

#include <stdbool.h>

/* A location with random calls: `n` roots behind each other, some with calls inside. */
struct sample {
    uint64_t *enter_ns, *inclusive_ns;
    uint32_t *region, *subtree_len, *by_depth;
    uint16_t *depth;
    uint64_t depth_start[4];
    struct call_view view;
};

static void put(struct sample *s, uint16_t depth, uint64_t enter, uint64_t length)
{
    uint32_t row = s->view.n++;

    s->enter_ns[row] = enter;
    s->inclusive_ns[row] = length;
    s->depth[row] = depth;
    s->region[row] = row % 5;
    s->subtree_len[row] = 1;
}

static void sample_init(struct sample *s, uint32_t n_roots, uint64_t seed)
{
    size_t most = 8 * (size_t)n_roots;
    struct rng rng = {seed};
    uint64_t now = rng_below(&rng, 50);
    uint32_t n = 0;

    *s = (struct sample){.enter_ns = mem_alloc(most, 8),
                         .inclusive_ns = mem_alloc(most, 8),
                         .region = mem_alloc(most, 4),
                         .subtree_len = mem_alloc(most, 4),
                         .by_depth = mem_alloc(most, 4),
                         .depth = mem_alloc(most, 2)};
    for (uint32_t r = 0; r < n_roots; r++) {
        uint64_t length = rng_below(&rng, 10) == 0 ? rng_below(&rng, 3000) : rng_below(&rng, 9);
        uint64_t inside = now, end = now + length;

        put(s, 0, now, length);
        for (int c = 0; c < 5 && inside < end; c++) {
            uint64_t own = rng_below(&rng, (uint32_t)(end - inside) + 1);

            put(s, 1, inside, own);
            inside += own + rng_below(&rng, 4);
        }
        now = end + (rng_below(&rng, 3) ? 0 : rng_below(&rng, 400));
    }
    for (uint16_t d = 0; d < 2; d++) {
        s->depth_start[d] = n;
        for (uint32_t i = 0; i < s->view.n; i++)
            if (s->depth[i] == d)
                s->by_depth[n++] = i;
    }
    s->depth_start[2] = n;
    s->view = (struct call_view){.n = s->view.n,
                                 .enter_ns = s->enter_ns,
                                 .inclusive_ns = s->inclusive_ns,
                                 .region = s->region,
                                 .subtree_len = s->subtree_len,
                                 .depth = s->depth,
                                 .by_depth = s->by_depth,
                                 .depth_start = s->depth_start,
                                 .n_depths = 2};
}

static void sample_release(struct sample *s)
{
    free(s->enter_ns);
    free(s->inclusive_ns);
    free(s->region);
    free(s->subtree_len);
    free(s->by_depth);
    free(s->depth);
}

static uint64_t pixel_of(const struct lod_window *w, uint64_t enter)
{
    double pixel_ns = (double)(w->end_ns - w->begin_ns) / w->width;

    return enter > w->begin_ns ? (uint64_t)((double)(enter - w->begin_ns) / pixel_ns) : 0;
}

/* Checks one depth, call by call. Returns the rectangles it took. */
static size_t check_depth(const struct lod *lod, size_t at, const struct sample *s, uint16_t d,
                          const struct lod_window *w)
{
    double pixel_ns = (double)(w->end_ns - w->begin_ns) / w->width;
    size_t first = at;
    uint32_t left = 0;
    uint64_t longest = 0;

    for (uint64_t i = s->depth_start[d]; i < s->depth_start[d + 1]; i++) {
        uint32_t row = s->by_depth[i];
        uint64_t enter = s->enter_ns[row], leave = enter + s->inclusive_ns[row];
        bool is_wide = (double)s->inclusive_ns[row] >= pixel_ns;

        if (enter >= w->end_ns || (leave <= w->begin_ns && enter < w->begin_ns))
            continue;
        if (left == 0) {
            assert_true(at < lod->n);
            assert_int_equal(lod->depth[at], d);
            assert_int_equal(lod->location[at], 3);
            assert_true(lod->begin_ns[at] == (double)enter);
            left = lod->merged[at];
            assert_true(left >= 1);
            longest = 0;
            at++;
        }
        assert_true(!is_wide || lod->merged[at - 1] == 1);
        assert_int_equal(pixel_of(w, enter), pixel_of(w, (uint64_t)lod->begin_ns[at - 1]));
        if (s->inclusive_ns[row] > longest)
            longest = s->inclusive_ns[row];
        if (--left == 0) {
            assert_true(lod->end_ns[at - 1] == (double)leave);
            assert_int_equal(lod->region[at - 1], lod->call[at - 1] % 5);
            if (lod->merged[at - 1] <= LOD_LOOKED_AT)
                assert_int_equal(s->inclusive_ns[lod->call[at - 1]], longest);
        }
        /* the next narrow one in the same pixel must be in the same rectangle */
        if (left == 0 && !is_wide && i + 1 < s->depth_start[d + 1]) {
            uint32_t next = s->by_depth[i + 1];

            if (s->enter_ns[next] < w->end_ns && (double)s->inclusive_ns[next] < pixel_ns)
                assert_int_not_equal(pixel_of(w, s->enter_ns[next]), pixel_of(w, enter));
        }
    }
    assert_int_equal(left, 0);
    assert_true(at - first <= 2 * (size_t)w->width + 2);
    return at - first;
}

static void every_call_of_the_window_is_in_one_rectangle(void **state)
{
    struct rng rng = {7};

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sample s;
        struct lod lod = {.n = 0};
        struct lod_window w = {.n_depths = 9, .width = 1 + rng_below(&rng, 90)};
        size_t at = 0;

        sample_init(&s, 1 + rng_below(&rng, 300), seed);
        w.begin_ns = rng_below(&rng, 20000);
        w.end_ns = w.begin_ns + 1 + rng_below(&rng, 60000);
        lod_add(&lod, 3, &s.view, &w);
        for (uint16_t d = 0; d < 2; d++)
            at += check_depth(&lod, at, &s, d, &w);
        assert_int_equal(at, lod.n);
        lod_release(&lod);
        sample_release(&s);
    }
}

static void depths_below_the_wanted_ones_are_left_out(void **state)
{
    struct sample s;
    struct lod lod = {.n = 0};
    struct lod_window w = {0, 100000, 100, 1};

    (void)state;
    sample_init(&s, 100, 1);
    lod_add(&lod, 3, &s.view, &w);
    assert_true(lod.n > 0);
    for (size_t i = 0; i < lod.n; i++)
        assert_int_equal(lod.depth[i], 0);
    lod_release(&lod);
    sample_release(&s);
}

static void damaged_orders_do_no_harm(void **state)
{
    struct rng rng = {3};

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct sample s;
        struct lod lod = {.n = 0};
        struct lod_window w = {0, 1u << 20, 50, 9};

        sample_init(&s, 50, 5);
        for (int k = 0; k < 30; k++) {
            s.by_depth[rng_below(&rng, s.view.n)] = (uint32_t)rng_next(&rng);
            s.enter_ns[rng_below(&rng, s.view.n)] = rng_next(&rng);
        }
        if (round % 2)
            s.depth_start[1 + rng_below(&rng, 2)] = rng_next(&rng);
        lod_add(&lod, 3, &s.view, &w);
        assert_true(lod.n <= 2 * (2 * 50 + 2));
        lod_release(&lod);
        sample_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_the_window_is_in_one_rectangle),
        cmocka_unit_test(depths_below_the_wanted_ones_are_left_out),
        cmocka_unit_test(damaged_orders_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
