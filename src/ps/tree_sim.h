/*
 * tree_sim -- a tree of parameter servers in this process, to be loaded as a whole.
 *
 *     level 0          root
 *     level 1      s    s    s        `fan` below each server
 *     level 2    r r r r r r r r r    ranks, not of this module: dealt to the lowest servers
 *
 * Each server keeps its snapshot in a directory of its own making, which is removed with it.
 */
#ifndef SNAG_PS_TREE_SIM_H
#define SNAG_PS_TREE_SIM_H

#include "ps/ps_server.h"

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
