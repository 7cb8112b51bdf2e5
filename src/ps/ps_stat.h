/*
 * ps_stat -- moments of one quantity of one rank, or of one region: anomalies or calls per
 * step, bytes sent, a hardware counter.
 *
 * Whole numbers are summed exactly, so that they merge bit for bit in any order. Real ones are
 * summed as doubles: their last digits depend on the order, unless only one client speaks of
 * a quantity, whose sums come in its own order.
 */
#ifndef SNAG_PS_STAT_H
#define SNAG_PS_STAT_H

#include <stdbool.h>
#include <stdint.h>

#define PS_ALL_RANKS UINT32_MAX

/* What a statistic is of. */
struct ps_stat_key {
    const char *program;
    uint32_t rank;      /* PS_ALL_RANKS: of the region over all ranks */
    const char *region; /* "": of the rank over all regions */
    const char *name;   /* "anomalies", "calls", the name of a counter */
};

struct ps_stat {
    bool is_real;
    uint64_t n; /* values, 0: the rest means nothing */
    union {
        struct {
            int64_t min, max;
            __int128 sum;
            unsigned __int128 square_sum; /* modulo 2^128 */
        } whole;
        struct {
            double min, max, sum, square_sum;
        } real;
    };
};

/* ps_stat_add, ps_stat_add_real -- one more value; a statistic is of one kind only. */
void ps_stat_add(struct ps_stat *stat, int64_t value);
void ps_stat_add_real(struct ps_stat *stat, double value);

/*
 * ps_stat_merge -- as if all values of from had been added to into. Returns false, and changes
 * nothing, if they are of different kinds or their number would leave 62 bits.
 */
bool ps_stat_merge(struct ps_stat *into, const struct ps_stat *from);

/*
 * ps_stat_deviation -- the standard deviation of the values; 0 where there are none. Of whole
 * numbers it is exact, however large they are; of real ones it is the difference of two sums.
 */
double ps_stat_deviation(const struct ps_stat *stat);

#endif
