/* Ranks of iterations: who lost time, and when it ran. */

#include "learn/reasons.h"

#include "base/mem.h"

#include "test.h"

#define RANKS 8u
#define ITERATIONS 100u
#define N (RANKS * ITERATIONS)

struct fixture {
    struct forest forest;
    struct residual_measure *measure;
    struct waves waves;
};

/* Iteration i of all ranks runs at i * 100 for 90 ns. Who lost what is a shuffle. */
static void begin(struct fixture *f)
{
    *f = (struct fixture){.measure = mem_alloc(N, sizeof *f->measure)};
    forest_grow(&f->forest, N, N);
    f->forest.n_trees = N;
    for (uint32_t t = 0; t < N; t++) {
        f->forest.location[t] = t / ITERATIONS;
        f->forest.index[t] = t % ITERATIONS;
        f->forest.enter_ns[t] = (uint64_t)100 * f->forest.index[t];
        f->forest.root_ns[t] = 90;
        f->measure[t].time = t * 2654435761u % 997 / 997.0;
    }
}

static void find(struct fixture *f)
{
    waves_find(&f->waves, &f->forest, f->measure);
}

static void end(struct fixture *f)
{
    waves_release(&f->waves);
    forest_release(&f->forest);
    free(f->measure);
}

static uint32_t tree(uint32_t rank, uint32_t iteration)
{
    return rank * ITERATIONS + iteration;
}

static void ranks_that_lose_time_together_are_a_wave(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    for (uint32_t r = 2; r < 7; r++)
        f.measure[tree(r, 40)].time = 5 + r;
    find(&f);
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_not_equal(f.waves.of[tree(r, 40)], WAVE_NONE);
        assert_int_equal(f.waves.of[tree(r, 40)], f.waves.of[tree(0, 40)]);
    }
    assert_true(f.waves.evidence[f.waves.of[tree(0, 40)]] > 10);
    end(&f);
}

static void what_happens_elsewhere_in_time_is_another_matter(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    for (uint32_t r = 2; r < 7; r++)
        f.measure[tree(r, 40)].time = 5 + r;
    f.forest.enter_ns[tree(1, 40)] += 1000; /* the same iteration, much later */
    find(&f);
    assert_int_equal(f.waves.of[tree(1, 40)], WAVE_NONE);
    assert_int_not_equal(f.waves.of[tree(2, 40)], WAVE_NONE);
    end(&f);
}

/* Of 100 iterations chance makes about five as unlikely as that. */
static void chance_makes_few_waves(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    find(&f);
    assert_true(f.waves.n <= 12);
    end(&f);
}

/* Two values -ln p sum to s; P(Gamma(2) > s) = e^-s (1 + s). */
static void the_evidence_is_fishers(void **state)
{
    struct fixture f;
    double sum;

    (void)state;
    begin(&f);
    for (uint32_t t = 2 * ITERATIONS; t < N; t++)
        f.forest.index[t] += ITERATIONS; /* two ranks only share iterations */
    f.measure[tree(0, 7)].time = f.measure[tree(1, 7)].time = 9;
    find(&f);
    sum = 2 * log(N / 2.0);
    assert_float_equal(f.waves.evidence[f.waves.of[tree(0, 7)]], sum - log(1 + sum), 1e-9);
    end(&f);
}

static void one_rank_has_none(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    f.forest.n_trees = ITERATIONS;
    f.measure[tree(0, 3)].time = 99;
    find(&f);
    assert_int_equal(f.waves.n, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_lose_time_together_are_a_wave),
        cmocka_unit_test(what_happens_elsewhere_in_time_is_another_matter),
        cmocka_unit_test(chance_makes_few_waves),
        cmocka_unit_test(the_evidence_is_fishers),
        cmocka_unit_test(one_rank_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
