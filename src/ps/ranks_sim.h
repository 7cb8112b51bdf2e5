/*
 * ranks_sim -- many ranks played to parameter servers by one thread, and a tree of such
 * servers in this process, to be loaded as a whole.
 *
 *     level 0          root
 *     level 1      s    s    s        `fan` below each server
 *     level 2    r r r r r r r r r    ranks, dealt to the lowest servers
 *
 * Each rank is a client to the server: an id, numbered deltas, one request under way. What it
 * pushes in a step is a delta of every function, of 1,000 calls each; the calls are drawn
 * before the clock starts. Ranks share connections, SIM_SHARED of them one: a process cannot
 * have 10,000 sockets, and it is requests that are measured. Each server of a tree keeps its
 * snapshot in a directory of its own making, which is removed with it.
 */
#ifndef SNAG_PS_RANKS_SIM_H
#define SNAG_PS_RANKS_SIM_H

#include "detect/sketch.h"
#include "ps/ps_server.h"

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

#define TREE_MAX_SERVERS 1200u /* a thread of one waits on some 15 files */
#define TREE_MAX_LEVELS 8u

struct tree_sim {
    uint32_t n_levels;                   /* of servers */
    uint32_t first[TREE_MAX_LEVELS + 1]; /* server of a level; the last: how many there are */
    struct ps_server **server;           /* [first[n_levels]] level by level */
    const char **address;                /* [n_lowest] where ranks talk to */
    uint32_t n_lowest;
    char dir[64];
};

/* What the servers of one level did, together. */
struct tree_level {
    uint32_t n_servers;
    uint64_t n_requests, received_bytes, sent_bytes;
};

/*
 * tree_sim_open -- starts the servers, the root first.
 *   depth  levels, with that of the ranks: 2 is one server, 3 one with `fan` below it
 *   fan    1..
 * Returns 0, ERR_RANGE for more than TREE_MAX_SERVERS, or as ps_server_open. Close it in any
 * case.
 */
int tree_sim_open(struct tree_sim *tree, uint32_t depth, uint32_t fan);
void tree_sim_close(struct tree_sim *tree);

/* tree_sim_level -- what there was since it was opened. */
struct tree_level tree_sim_level(const struct tree_sim *tree, uint32_t level);

#endif
