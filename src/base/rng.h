/*
 * rng -- random numbers that are the same for the same seed on every machine.
 *
 * splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): one
 * word of state, full period, good enough for sampling and for tests; not for secrets.
 */
#ifndef SNAG_BASE_RNG_H
#define SNAG_BASE_RNG_H

#include <math.h>
#include <stdint.h>

struct rng {
    uint64_t state; /* the seed, at first */
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* rng_below -- uniform in 0..n-1, n >= 1. Biased by less than n / 2^64. */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return (uint64_t)(((__uint128_t)rng_next(rng) * n) >> 64);
}

/* rng_real -- uniform in [0, 1). */
static inline double rng_real(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* rng_normal -- standard normal (Box and Muller's transform, one of the pair). */
static inline double rng_normal(struct rng *rng)
{
    double radius = sqrt(-2.0 * log(1.0 - rng_real(rng)));

    return radius * cos(6.283185307179586 * rng_real(rng));
}

#endif
