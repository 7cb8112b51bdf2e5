#include "detect/sketch.h"

#include "base/rng.h"

#include "test.h"

static void bins_are_contiguous_and_narrow(void **state)
{
    (void)state;
    for (uint32_t bin = 0; bin + 1 < SKETCH_MAX_BINS; bin++) {
        uint64_t begin = sketch_bin_start(bin), end = sketch_bin_start(bin + 1);

        assert_true(end > begin);
        assert_int_equal(sketch_bin(begin), bin);
        assert_int_equal(sketch_bin(end - 1), bin);
        assert_true(begin < 128 || (double)(end - begin) <= (double)begin / 64);
    }
    assert_int_equal(sketch_bin(UINT64_MAX), SKETCH_MAX_BINS - 1);
}

/* Values 1 2 3 4: mean 2.5, variance 1.25. */
static void moments_by_hand(void **state)
{
    struct sketch s;

    (void)state;
    sketch_init(&s);
    assert_true(sketch_mean(&s) == 0 && sketch_deviation(&s) == 0);
    for (uint64_t x = 1; x <= 4; x++)
        sketch_add(&s, x);
    assert_int_equal(s.n, 4);
    assert_true(sketch_mean(&s) == 2.5);
    assert_true(fabs(sketch_deviation(&s) - sqrt(1.25)) < 1e-12);
    assert_int_equal(s.min, 1);
    assert_int_equal(s.max, 4);
    sketch_release(&s);
}

static uint64_t draw(struct rng *rng)
{
    return (uint64_t)exp(20 * rng_real(rng));
}

static int same(const struct sketch *a, const struct sketch *b)
{
    struct pack p = {0}, q = {0};
    int is_same;

    sketch_pack(a, &p);
    sketch_pack(b, &q);
    is_same = p.n == q.n && memcmp(p.data, q.data, p.n) == 0;
    pack_release(&p);
    pack_release(&q);
    return is_same;
}

static void parts_merge_to_the_whole_in_any_order(void **state)
{
    struct sketch whole, part[4], forth, back;
    struct rng rng = {1};

    (void)state;
    sketch_init(&whole);
    sketch_init(&forth);
    sketch_init(&back);
    for (int i = 0; i < 4; i++)
        sketch_init(&part[i]);
    for (int i = 0; i < 10000; i++) {
        uint64_t x = draw(&rng);

        sketch_add(&whole, x);
        sketch_add(&part[rng_below(&rng, 4)], x);
    }
    for (int i = 0; i < 4; i++) {
        sketch_merge(&forth, &part[i]);
        sketch_merge(&back, &part[3 - i]);
    }
    assert_true(same(&whole, &forth));
    assert_true(same(&whole, &back));
    sketch_release(&whole);
    sketch_release(&forth);
    sketch_release(&back);
    for (int i = 0; i < 4; i++)
        sketch_release(&part[i]);
}

static void quantiles_are_within_a_bin(void **state)
{
    struct sketch s;

    (void)state;
    sketch_init(&s);
    for (uint64_t x = 1; x <= 100000; x++)
        sketch_add(&s, x);
    for (double q = 0.01; q < 1; q += 0.07)
        assert_true(fabs(sketch_quantile(&s, q) / (1e5 * q) - 1) < 0.016);
    assert_true(sketch_quantile(&s, 0) == 1);
    assert_true(sketch_quantile(&s, 1) == 100000);
    sketch_release(&s);
}

static void bytes_are_checked(void **state)
{
    struct sketch s, copy;
    struct pack p = {0};

    (void)state;
    sketch_init(&s);
    sketch_add(&s, 0);
    sketch_add(&s, UINT64_MAX);
    sketch_pack(&s, &p);
    sketch_unpack(&copy, &p);
    assert_false(p.is_bad);
    assert_true(same(&s, &copy));
    sketch_release(&copy);
    p.at = 0;
    p.data[7] = 0x80; /* the smallest value is in no bin that is kept */
    p.data[15] = 0x7f;
    sketch_unpack(&copy, &p);
    assert_true(p.is_bad);
    sketch_release(&copy);
    p.is_bad = false;
    p.data[7] = 0;
    p.data[15] = 0xff;
    p.at = 0;
    p.data[0] = p.data[48] =
        SKETCH_OCTAVE; /* the first bin: the last is beyond all there are */
    sketch_unpack(&copy, &p);
    assert_true(p.is_bad);
    sketch_release(&copy);
    p.is_bad = false;
    p.data[0] = p.data[48] = 0;
    p.at = 0;
    p.n -= 8;
    sketch_unpack(&copy, &p);
    assert_true(p.is_bad);
    sketch_release(&copy);
    sketch_release(&s);
    pack_release(&p);
}

static void a_cleared_sketch_is_empty_and_ready(void **state)
{
    struct sketch s, fresh;

    (void)state;
    sketch_init(&s);
    sketch_init(&fresh);
    sketch_add(&s, 1000);
    sketch_clear(&s);
    assert_int_equal(s.n, 0);
    assert_true(sketch_quantile(&s, 0.5) == 0);
    sketch_add(&s, 1001);
    sketch_add(&fresh, 1001);
    assert_true(same(&s, &fresh));
    sketch_release(&s);
    sketch_release(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_contiguous_and_narrow),
        cmocka_unit_test(moments_by_hand),
        cmocka_unit_test(parts_merge_to_the_whole_in_any_order),
        cmocka_unit_test(quantiles_are_within_a_bin),
        cmocka_unit_test(bytes_are_checked),
        cmocka_unit_test(a_cleared_sketch_is_empty_and_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
