/*
 * ranks_sim -- many ranks played to parameter servers by one thread.
 *
 * Each rank is a client to the server: an id, numbered deltas, one request under way. What it
 * pushes in a step is a delta of every function, of 1,000 calls each; the calls are drawn
 * before the clock starts. Ranks share connections, SIM_SHARED of them one: a process cannot
 * have 10,000 sockets, and it is requests that are measured.
 */
#ifndef SNAG_PS_RANKS_SIM_H
#define SNAG_PS_RANKS_SIM_H

#include "detect/sketch.h"

#include <stdint.h>

#define SIM_SHARED 32u
#define SIM_MAX_RANKS 65536u

struct sim_opts {
    const char *const *address; /* [n_addresses] ranks are dealt to them */
    uint32_t n_addresses;
    const char *key_file; /* or NULL */
    uint32_t n_ranks, n_functions;
    double rate_per_s; /* steps of each rank; 0: the next as soon as one is answered */
    double seconds;
    uint64_t seed;
};

struct sim_result {
    uint64_t n_sent, n_answered, n_resent, n_refused;
    uint64_t n_late;   /* steps that were due before the one before was answered */
    uint64_t n_models; /* received */
    uint64_t sent_bytes, received_bytes;
    double wall_s;
    struct sketch latency_ns; /* of requests that were answered; the caller's to release */
};

/* sim_run -- Returns 0, ERR_RANGE for opts, ERR_IO if nobody answers in 10 s, or what
 * ps_key_read returns. */
int sim_run(const struct sim_opts *opts, struct sim_result *result);

#endif
