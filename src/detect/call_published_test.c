/*
 * The published rules against figures worked out by hand, and against their formulas taken
 * literally, on the durations themselves: means in two passes, histograms and tails by
 * counting. Durations have seven significant bits, which is all that a sketch keeps of them.
 */
#include "detect/call_detector.h"

#include "base/rng.h"

#include <string.h>

#include "test.h"

enum { MAX_CALLS = 3000 };

struct sample {
    uint64_t x[MAX_CALLS];
    int n;
    struct sketch sketch;
};

static void sample_add(struct sample *s, uint64_t x, int times)
{
    while (times-- > 0) {
        s->x[s->n++] = x;
        sketch_add(&s->sketch, x);
    }
}

/* Durations 0, 1, 2, ... so many times each. */
static void sample_of(struct sample *s, const int *times, int n)
{
    *s = (struct sample){.n = 0};
    sketch_init(&s->sketch);
    for (int x = 0; x < n; x++)
        sample_add(s, (uint64_t)x, times[x]);
}

static struct call_judge judge_of(const char *name, struct call_detector_opts opts,
                                  const struct sample *s)
{
    struct call_judge judge = {0};

    call_judge_fit(&judge, call_detector_find(name), &opts, &s->sketch);
    return judge;
}

static void assert_score(const struct call_judge *judge, const struct sample *s, uint64_t x,
                         double score)
{
    double said = call_judge_score(judge, &s->sketch, x).score;

    if (!(fabs(said - score) < 1e-4))
        fail_msg("%s of %u: %g, not %g", judge->ops->name, (unsigned)x, said, score);
}

/* Which of the durations 0, 1, 2, 3 are strange, as a digit each. */
static void assert_strange(const struct call_judge *judge, const char *strange)
{
    for (uint64_t x = 0; x < strlen(strange); x++)
        assert_int_equal(call_judge_is_anomaly(judge, x), strange[x] == '1');
}

/* ------------------------------------------------------------------------------- by hand */

/* 1, 2, 3, 4: mean 2.5, deviation sqrt(5 / 3) = 1.29099. */
static void sstd_by_hand(void **state)
{
    struct sample s;
    struct call_judge j;

    (void)state;
    sample_of(&s, (int[]){0, 1, 1, 1, 1}, 5);
    j = judge_of("sstd", (struct call_detector_opts){.sigmas = 1}, &s);
    assert_score(&j, &s, 4, 1.161895);
    assert_strange(&j, "110011");
    call_judge_release(&j);
    j = judge_of("sstd", (struct call_detector_opts){.p = 0}, &s); /* 6: up to 10.246 */
    assert_false(call_judge_is_anomaly(&j, 10));
    assert_true(call_judge_is_anomaly(&j, 11));
    call_judge_release(&j);
    sketch_release(&s.sketch);
}

/* 4, 2, 1, 1 of 8 calls in four bins: scores 1, 2, 3, 3. */
static void hbos_by_hand(void **state)
{
    struct call_detector_opts opts = {.most_bins = 4};
    struct sample s;
    struct call_judge j;

    (void)state;
    sample_of(&s, (int[]){4, 2, 1, 1}, 4);
    j = judge_of("hbos", opts, &s);
    assert_score(&j, &s, 0, 1);
    assert_score(&j, &s, 1, 2);
    assert_score(&j, &s, 3, 3);
    assert_score(&j, &s, 4, 100.000111);
    assert_true(fabs(j.least_score - 2.98) < 1e-9);
    assert_strange(&j, "00111");
    call_judge_release(&j);
    opts.score_share = 0.5;
    j = judge_of("hbos", opts, &s);
    assert_strange(&j, "01111");
    call_judge_release(&j);
    opts.most_bins = 2; /* 0 and 1, 2 and 3: scores 0.415, 2 */
    j = judge_of("hbos", opts, &s);
    assert_score(&j, &s, 1, 0.415037);
    assert_strange(&j, "00111");
    call_judge_release(&j);
    sketch_release(&s.sketch);
}

/* Left tails 1, 0.415, 0.193, 0 bits, right ones 0, 1, 2, 3; skewness 0.73: their sums. */
static void copod_by_hand(void **state)
{
    struct sample s;
    struct call_judge j;

    (void)state;
    sample_of(&s, (int[]){4, 2, 1, 1}, 4);
    j = judge_of("copod", (struct call_detector_opts){.p = 0}, &s);
    assert_score(&j, &s, 0, 1);
    assert_score(&j, &s, 1, 1.415037);
    assert_score(&j, &s, 2, 2.192645);
    assert_score(&j, &s, 3, 3);
    assert_strange(&j, "0001");
    call_judge_release(&j);
    sketch_release(&s.sketch);
}

/* Seven of eight at one end: skewness 1.86 or -1.86, and only the other end counts. */
static void copod_corrects_for_skewness(void **state)
{
    struct sample s;
    struct call_judge j;

    (void)state;
    sample_of(&s, (int[]){7, 0, 0, 1}, 4);
    j = judge_of("copod", (struct call_detector_opts){.p = 0}, &s);
    assert_score(&j, &s, 0, 0.096323); /* the mean of 0.193 and 0: corrected it is -0.193 */
    assert_score(&j, &s, 3, 3);
    assert_strange(&j, "0001");
    call_judge_release(&j);
    sketch_release(&s.sketch);
    sample_of(&s, (int[]){1, 0, 0, 7}, 4);
    j = judge_of("copod", (struct call_detector_opts){.p = 0}, &s);
    assert_score(&j, &s, 0, 3);
    assert_score(&j, &s, 3, 0.096323);
    assert_strange(&j, "1000");
    call_judge_release(&j);
    sketch_release(&s.sketch);
}

/* Equal bins all score 2: by themselves all are strange; by the threshold before, none. */
static void the_global_threshold_does_not_fall(void **state)
{
    struct call_detector_opts opts = {.most_bins = 4};

    (void)state;
    for (int is_local = 0; is_local < 2; is_local++) {
        struct sample s;
        struct call_judge j;

        sample_of(&s, (int[]){4, 2, 1, 1}, 4);
        opts.is_local = is_local;
        j = judge_of("hbos", opts, &s);
        sample_add(&s, 1, 2);
        sample_add(&s, 2, 3);
        sample_add(&s, 3, 3);
        call_judge_fit(&j, j.ops, &opts, &s.sketch);
        assert_true(fabs(j.least_score - (is_local ? 2 : 2.98)) < 1e-9);
        assert_strange(&j, is_local ? "1111" : "0000");
        call_judge_release(&j);
        sketch_release(&s.sketch);
    }
}

static void calls_that_are_all_alike_are_usual(void **state)
{
    static const char *const names[] = {"sstd", "hbos", "copod"};
    struct sample s;

    (void)state;
    sample_of(&s, (int[]){0, 0, 5}, 3);
    for (int i = 0; i < 3; i++) {
        struct call_judge j =
            judge_of(names[i], (struct call_detector_opts){.is_local = true}, &s);

        assert_strange(&j, "1101");
        call_judge_release(&j);
    }
    sketch_release(&s.sketch);
}

/* Whoever waits and is early, is too short by the published rules, and not with short calls
 * left out. */
static void short_calls_are_taken_as_is_said(void **state)
{
    static const struct {
        const char *name;
        enum call_short takes;
        bool may_wait, is_strange;
    } cases[] = {
        {"sstd", CALL_SHORT_TYPICAL, true, true},   {"sstd", CALL_SHORT_NONE, false, false},
        {"sstd", CALL_SHORT_WORK, true, false},     {"sstd", CALL_SHORT_WORK, false, true},
        {"tails", CALL_SHORT_TYPICAL, true, false}, {"tails", CALL_SHORT_TYPICAL, false, true},
        {"tails", CALL_SHORT_ALL, true, true},      {"tails", CALL_SHORT_NONE, false, false},
    };
    struct sample s = {.n = 0};

    (void)state;
    sketch_init(&s.sketch);
    for (uint64_t x = 0; x < 1000; x++)
        sample_add(&s, 100000 + 10 * (x % 100), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call_detector_opts opts = {.takes_short = cases[i].takes,
                                          .may_wait = cases[i].may_wait};
        struct call_judge j = judge_of(cases[i].name, opts, &s);

        assert_int_equal(call_judge_verdict(&j, 200000, 5000), CALL_STRANGE);
        assert_int_equal(call_judge_verdict(&j, 2000, 5000),
                         cases[i].is_strange ? CALL_STRANGE : CALL_SLIGHT);
        assert_int_equal(call_judge_verdict(&j, 2000, 99000), CALL_SLIGHT);
        call_judge_release(&j);
    }
    sketch_release(&s.sketch);
}

/* ------------------------------------------------------------------- by the formulas */

struct by_formula {
    double score;
    bool is_strange;
};

static double mean_power(const struct sample *s, double centre, int power)
{
    double sum = 0;

    for (int i = 0; i < s->n; i++)
        sum += pow((double)s->x[i] - centre, power);
    return sum / s->n;
}

static void formula_sstd(const struct sample *s, double sigmas, struct by_formula *out)
{
    double mean = mean_power(s, 0, 1);
    double deviation = sqrt(mean_power(s, mean, 2) * s->n / (s->n - 1));

    for (int i = 0; i < s->n; i++) {
        out[i].score = fabs((double)s->x[i] - mean) / deviation;
        out[i].is_strange = (double)s->x[i] > mean + sigmas * deviation ||
                            (double)s->x[i] < mean - sigmas * deviation;
    }
}

static void formula_threshold(const struct sample *s, double share, struct by_formula *out)
{
    double least = out[0].score, most = out[0].score;

    for (int i = 0; i < s->n; i++) {
        least = out[i].score < least ? out[i].score : least;
        most = out[i].score > most ? out[i].score : most;
    }
    for (int i = 0; i < s->n; i++)
        out[i].is_strange = out[i].score >= least + share * (most - least);
}

/* Bin k of n is [least + k w, least + (k + 1) w), w (most - least) / n; the last is closed. */
static uint64_t formula_bin(const struct sample *s, uint64_t x, uint64_t n)
{
    uint64_t least = UINT64_MAX, most = 0, k = 0;

    for (int i = 0; i < s->n; i++) {
        least = s->x[i] < least ? s->x[i] : least;
        most = s->x[i] > most ? s->x[i] : most;
    }
    while (k + 1 < n && (x - least) * n >= (k + 1) * (most - least))
        k++;
    return k;
}

static void formula_hbos(const struct sample *s, uint64_t n_bins, double share,
                         struct by_formula *out)
{
    int count[1000] = {0};
    uint64_t *bin = calloc(MAX_CALLS, sizeof *bin);

    for (int i = 0; i < s->n; i++)
        count[bin[i] = formula_bin(s, s->x[i], n_bins)]++;
    for (int i = 0; i < s->n; i++)
        out[i].score = log2(1 / ((double)count[bin[i]] / s->n));
    free(bin);
    formula_threshold(s, share, out);
}

static void formula_copod(const struct sample *s, double share, struct by_formula *out)
{
    double mean = mean_power(s, 0, 1);
    double deviation = sqrt(mean_power(s, mean, 2) * s->n / (s->n - 1));
    double skewness = mean_power(s, mean, 3) / pow(deviation, 3);

    for (int i = 0; i < s->n; i++) {
        double n_left = 0, n_right = 0, left, right, corrected;

        for (int k = 0; k < s->n; k++) {
            n_left += s->x[k] <= s->x[i];
            n_right += s->x[k] >= s->x[i];
        }
        left = -log2(n_left / s->n);
        right = -log2(n_right / s->n);
        corrected = skewness > 1 ? right - left : skewness < -1 ? left - right : left + right;
        out[i].score = corrected > (left + right) / 2 ? corrected : (left + right) / 2;
    }
    formula_threshold(s, share, out);
}

/* Of seven significant bits. */
static uint64_t rounded(double x)
{
    uint64_t bits = (uint64_t)fmax(x, 0), unit = 1;

    while (bits / unit >= 128)
        unit *= 2;
    return bits / unit * unit;
}

static double draw(int kind, struct rng *rng)
{
    switch (kind) {
    case 0:
        return 1000 + 100 * rng_normal(rng);
    case 1:
        return 5000 * exp(0.7 * rng_normal(rng));
    case 2: /* short ones are rare: skewed to the left */
        return 60000 - 2000 * exp(rng_normal(rng));
    case 3:
        return (rng_real(rng) < 0.3 ? 50000 : 2000) * exp(0.1 * rng_normal(rng));
    default: /* a few far out */
        return (rng_real(rng) < 0.002 ? 40 : 1) * 3000 * exp(0.05 * rng_normal(rng));
    }
}

static int compare(const char *name, struct call_detector_opts opts, const struct sample *s,
                   const struct by_formula *right)
{
    struct call_judge j = judge_of(name, opts, s);
    int n_strange = 0;

    for (int i = 0; i < s->n; i++) {
        double score = call_judge_score(&j, &s->sketch, s->x[i]).score;

        if (!(fabs(score - right[i].score) <= 1e-9 * fmax(1, right[i].score)))
            fail_msg("%s of %u: %.12g, not %.12g", name, (unsigned)s->x[i], score,
                     right[i].score);
        if (call_judge_is_anomaly(&j, s->x[i]) != right[i].is_strange)
            fail_msg("%s of %u, %.12g: %s", name, (unsigned)s->x[i], score,
                     right[i].is_strange ? "not strange" : "strange");
        n_strange += right[i].is_strange;
    }
    call_judge_release(&j);
    return n_strange;
}

static void scores_and_anomalies_are_those_of_the_formulas(void **state)
{
    static const double sigmas[] = {6, 2}, shares[] = {0.99, 0.7};
    static const uint32_t n_bins[] = {200, 20};
    struct by_formula *right = calloc(MAX_CALLS, sizeof *right);
    struct sample *s = calloc(1, sizeof *s);
    int n_strange = 0;

    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        struct rng rng = {(uint64_t)kind + 7};

        sample_of(s, NULL, 0);
        for (int i = 0; i < MAX_CALLS; i++)
            sample_add(s, rounded(draw(kind, &rng)), 1);
        for (int k = 0; k < 2; k++) {
            struct call_detector_opts opts = {
                .sigmas = sigmas[k], .score_share = shares[k], .most_bins = n_bins[k]};

            formula_sstd(s, sigmas[k], right);
            n_strange += compare("sstd", opts, s, right);
            formula_hbos(s, n_bins[k], shares[k], right);
            n_strange += compare("hbos", opts, s, right);
            formula_copod(s, shares[k], right);
            n_strange += compare("copod", opts, s, right);
        }
        sketch_release(&s->sketch);
    }
    assert_true(n_strange > 100 && n_strange < 30 * MAX_CALLS / 2);
    free(right);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sstd_by_hand),
        cmocka_unit_test(hbos_by_hand),
        cmocka_unit_test(copod_by_hand),
        cmocka_unit_test(copod_corrects_for_skewness),
        cmocka_unit_test(the_global_threshold_does_not_fall),
        cmocka_unit_test(calls_that_are_all_alike_are_usual),
        cmocka_unit_test(short_calls_are_taken_as_is_said),
        cmocka_unit_test(scores_and_anomalies_are_those_of_the_formulas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
