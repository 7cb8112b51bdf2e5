#include "score/patterns.h"

#include <math.h>
#include <stdlib.h>

#include "test.h"

enum { N = 240 };

/* Uniform, 0..1. */
static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Heavy noise: half lose nothing, the others up to 0.9 of a typical duration, one in ten more.
 */
static void noise(double *lost, uint32_t n, uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        double u = uniform(&seed);

        lost[i] = u < 0.5 ? 0 : u < 0.9 ? uniform(&seed) : 2 * uniform(&seed);
    }
}

static uint32_t count(const bool *is_in, uint32_t n)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += is_in[i];
    return sum;
}

static void every_seventeenth_is_found_in_noise(void **state)
{
    double lost[N];
    bool is_in[N];
    uint32_t n = 0;

    (void)state;
    noise(lost, N, 1);
    for (uint32_t i = 3; i < N; i += 17, n++)
        lost[i] += 1.6;
    patterns_find(lost, N, 0.05, 8, is_in);
    assert_int_equal(count(is_in, N), n);
    for (uint32_t i = 3; i < N; i += 17)
        assert_true(is_in[i]);
}

static void a_slow_phase_is_found_in_noise(void **state)
{
    double lost[N];
    bool is_in[N];

    (void)state;
    noise(lost, N, 2);
    for (uint32_t i = 81; i < 131; i++)
        lost[i] += 1;
    patterns_find(lost, N, 0.05, 8, is_in);
    assert_true(count(is_in, N) >= 40 && count(is_in, N) <= 60);
    for (uint32_t i = 0; i < N; i++)
        assert_true(!is_in[i] || (i > 70 && i < 140));
}

/* Other work takes three typical durations of one execution in four: more than the phase does. */
static void a_slow_phase_is_found_among_longer_ones(void **state)
{
    double lost[N];
    bool is_in[N];
    uint64_t seed = 5;

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        lost[i] = (uniform(&seed) < 0.25 ? 2 + uniform(&seed) : 0.4 * uniform(&seed)) +
                  (i >= 81 && i < 131);
    patterns_find(lost, N, 0.05, 8, is_in);
    assert_true(count(is_in, N) >= 45 && count(is_in, N) <= 60);
    for (uint32_t i = 85; i < 127; i++)
        assert_true(is_in[i]);
}

/* Little noise: those beside the phase, some of which lost what counts, are not in it, however
 * the lengths fall that are tried. */
static void a_slow_phase_ends_where_it_ends(void **state)
{
    double lost[N];
    bool is_in[N];

    (void)state;
    for (uint32_t n_slow = 50; n_slow < 75; n_slow++) {
        noise(lost, N, n_slow);
        for (uint32_t i = 0; i < N; i++)
            lost[i] = 0.05 * lost[i] + (i >= 90 && i < 90 + n_slow ? 3 : 0);
        patterns_find(lost, N, 0.05, 8, is_in);
        for (uint32_t i = 0; i < N; i++)
            assert_true(is_in[i] == (i >= 90 && i < 90 + n_slow));
    }
}

/* Neither is it by chance, nor what is long at the begin, nor what is every other one. */
static void noise_is_no_pattern(void **state)
{
    double lost[N];
    bool is_in[N];

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        noise(lost, N, 77 * seed);
        patterns_find(lost, N, 0.05, 1, is_in);
        assert_int_equal(count(is_in, N), 0);
    }
    for (uint32_t i = 0; i < N; i += 2)
        lost[i] += 1;
    patterns_find(lost, N, 0.05, 1, is_in);
    for (uint32_t i = 1; i < N; i += 2)
        assert_false(is_in[i]);
    patterns_find(lost, 20, 0.05, 1, is_in);
    assert_int_equal(count(is_in, 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seventeenth_is_found_in_noise),
        cmocka_unit_test(a_slow_phase_is_found_in_noise),
        cmocka_unit_test(a_slow_phase_is_found_among_longer_ones),
        cmocka_unit_test(a_slow_phase_ends_where_it_ends),
        cmocka_unit_test(noise_is_no_pattern),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
