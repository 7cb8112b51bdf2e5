/*
 * Precision and recall of the per-call detectors on generated durations, as a table in
 * Markdown:
 *
 *     duration_families [CALLS]
 *
 * One call in two thousand is made 20 to 50 times as long as the typical call of its family.
 * False alarms are counted without any, per 100,000 calls. Seeds are fixed.
 */
#include "base/rng.h"
#include "detect/call_detector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INJECTED 5e-4

struct family {
    const char *name;
    double typical; /* what is made longer, ns */
    double (*draw)(struct rng *rng, double progress);
};

static double gaussian(struct rng *rng, double progress)
{
    (void)progress;
    return 1000 + 100 * rng_normal(rng);
}

static double lognormal(struct rng *rng, double progress)
{
    (void)progress;
    return 5000 * exp(0.3 * rng_normal(rng));
}

static double wide(struct rng *rng, double progress)
{
    (void)progress;
    return 1000 * exp(0.7 * rng_normal(rng));
}

static double bimodal(struct rng *rng, double progress)
{
    (void)progress;
    return (rng_real(rng) < 0.3 ? 50000 : 2000) * exp(0.1 * rng_normal(rng));
}

static double rare_mode(struct rng *rng, double progress)
{
    (void)progress;
    return rng_real(rng) < 0.02 ? 20000 + 1000 * rng_normal(rng)
                                : 1000 * exp(0.15 * rng_normal(rng));
}

static double drifting(struct rng *rng, double progress)
{
    return 3000 * (1 + 2 * progress) * exp(0.15 * rng_normal(rng));
}

static double heavy(struct rng *rng, double progress)
{
    (void)progress;
    return 1000 * pow(1 - rng_real(rng), -0.25);
}

static double start_up(struct rng *rng, double progress)
{
    double normal = rng_normal(rng);

    return progress < 1e-4 ? 100000 * exp(0.5 * normal) : 1000 * exp(0.2 * normal);
}

/* A clock of 10 us, as in the trace of the first paper. */
static double coarse(struct rng *rng, double progress)
{
    (void)progress;
    return rng_real(rng) < 0.1 ? 10000 * floor(1 + 3 * rng_real(rng)) : 0;
}

static const struct family families[] = {
    {"Gaussian, 10 % wide", 1000, gaussian},
    {"lognormal, sigma 0.3", 5000, lognormal},
    {"lognormal, sigma 0.7", 1000, wide},
    {"two modes, 2 and 50 us", 50000, bimodal},
    {"a rare second mode, 2 %", 20000, rare_mode},
    {"drifting to three times as long", 6000, drifting},
    {"heavy tail, Pareto 4", 1000, heavy},
    {"slow calls at the start", 1000, start_up},
    {"a coarse clock, most take 0", 10000, coarse},
};

struct outcome {
    double n_found, n_false, n_injected;
};

static struct outcome judge(const struct family *family, const char *method, double share,
                            int n)
{
    static const struct call_detector_opts opts = {.sigmas = 0};
    uint64_t *duration = calloc((size_t)n, sizeof *duration);
    bool *is_slow = calloc((size_t)n, sizeof *is_slow);
    struct outcome outcome = {0};
    struct rng rng = {42};
    struct sketch sketch;
    struct call_judge j = {0};

    sketch_init(&sketch);
    for (int i = 0; i < n; i++) {
        double ns = fmax(family->draw(&rng, (double)i / n), 0);

        is_slow[i] = rng_real(&rng) < share;
        if (is_slow[i])
            ns = family->typical * (20 + 30 * rng_real(&rng));
        sketch_add(&sketch, duration[i] = (uint64_t)ns);
    }
    call_judge_fit(&j, call_detector_find(method), &opts, &sketch);
    for (int i = 0; i < n; i++) {
        bool is_anomaly = call_judge_verdict(&j, duration[i], 0) == CALL_STRANGE;

        outcome.n_injected += is_slow[i];
        outcome.n_found += is_anomaly && is_slow[i];
        outcome.n_false += is_anomaly && !is_slow[i];
    }
    call_judge_release(&j);
    sketch_release(&sketch);
    free(duration);
    free(is_slow);
    return outcome;
}

static void print_method(const struct family *family, const char *method, int n)
{
    struct outcome with = judge(family, method, INJECTED, n);
    struct outcome clean = judge(family, method, 0, n);
    double flagged = with.n_found + with.n_false;

    printf(" %.2f / %.2f / %.1f |", flagged > 0 ? with.n_found / flagged : 1,
           with.n_injected > 0 ? with.n_found / with.n_injected : 1, 1e5 * clean.n_false / n);
}

int main(int argc, char **argv)
{
    static const char *const methods[] = {"tails", "sstd", "hbos", "copod"};
    int n = argc > 1 ? atoi(argv[1]) : 200000;

    if (n < 1000) {
        fprintf(stderr, "usage: duration_families [CALLS], at least 1000\n");
        return 2;
    }
    printf("| durations | tails | sstd | hbos | copod |\n|---|---|---|---|---|\n");
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        printf("| %s |", families[f].name);
        for (int m = 0; m < 4; m++)
            print_method(&families[f], methods[m], n);
        putchar('\n');
    }
    return 0;
}
