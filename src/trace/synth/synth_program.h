/* synth_program -- the sentence after "synth:", parsed. See source_synth.c for the language.
 */
#ifndef SNAG_TRACE_SYNTH_PROGRAM_H
#define SNAG_TRACE_SYNTH_PROGRAM_H

#include "base/arena.h"
#include "trace/definitions.h"

#include <stdint.h>

enum synth_kind { SYNTH_CALL, SYNTH_TEAM, SYNTH_SEND, SYNTH_RECV, SYNTH_BARRIER };

/* How the log of a call's own time varies, with a standard deviation of about `jitter`. */
enum synth_shape {
    SYNTH_NORMAL,
    SYNTH_EXPONENTIAL, /* no shorter than a bound; the time itself has a tail of Pareto's */
    SYNTH_MIXED        /* one call in twenty varies three times as much */
};

struct synth_item {
    enum synth_kind kind;
    uint32_t region;
    uint64_t n_times;
    double own_ns;
    uint32_t shift;     /* to or from so many ranks further */
    uint32_t only_rank; /* NO_RANK: on all */
    struct synth_item *inside, *after;
};

struct synth_slow {
    uint32_t region;
    uint64_t every;
    double factor, growth;           /* the k-th call takes factor + growth k times as long */
    uint32_t only_rank, only_thread; /* NO_RANK: all */
    struct synth_slow *after;
};

/* Begins and ends of calls that are not known exactly. */
struct synth_off {
    uint32_t region;
    double ns;
    struct synth_off *after;
};

struct synth_program {
    struct synth_item *first;
    struct synth_slow *slow;
    struct synth_off *off;
    uint32_t n_ranks, n_threads; /* threads: 1 where no team is forked */
    uint32_t barrier;            /* the region in which threads wait, if there are teams */
    double jitter;
    enum synth_shape shape;
    uint64_t seed;
    double skew_ns, drift_ppm;
};

/*
 * synth_parse -- read a program.
 *   text     after "synth:"
 *   defs     regions are added
 *   arena    the items live there
 * Returns 0 or ERR_FORMAT that says where.
 */
int synth_parse(const char *text, struct synth_program *program, struct definitions *defs,
                struct arena *arena);

#endif
