/*
 * live_points -- the newest points of the live scatter plot, and more of the anomalies.
 *
 * Points are in blocks. A block that is full never changes (live_points_take_back puts another
 * in its place), and of the last one only what is beyond its end does, so who reads takes a
 * cut: the blocks, each kept alive, and how many points they had. The lock of the owner is held
 * while a cut is taken or given back, not while it is read.
 *
 *     old   anomalies only      [block] [block .. ]
 *     new   all                                     [block] [block] ... [block .. ]
 *
 * When `new` has too many blocks the anomalies of its first one move to `old`; when `old` has
 * too many, its first one goes. Ids ascend from the first of `old` to the last of `new`.
 */
#ifndef SNAG_MONITOR_LIVE_POINTS_H
#define SNAG_MONITOR_LIVE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_BLOCK 4096u
#define LIVE_NEW_BLOCKS 245u /* a million points that are sure to be there */
#define LIVE_OLD_BLOCKS 62u
#define LIVE_MAX_POINTS ((LIVE_NEW_BLOCKS - 1) * LIVE_BLOCK)

enum live_point_kind {
    LIVE_CALL,
    LIVE_EXECUTION, /* of a function of interest; messages and vertices are all inside it */
    LIVE_KINDS
};

extern const char *const live_kind_names[LIVE_KINDS]; /* "calls", "executions" */

/* live_kind_find -- by name. Returns it, or LIVE_KINDS. */
int live_kind_find(const char *name);

enum live_verdict { LIVE_NORMAL, LIVE_ANOMALY, LIVE_UNJUDGED };

struct live_point {
    uint64_t id; /* set by live_points_add */
    uint64_t enter_ns, inclusive_ns, exclusive_ns;
    uint32_t rank, program, thread, region;
    uint32_t index; /* of the execution #RANK-INDEX; of a call, its number on its thread */
    uint32_t messages, vertices;
    float score;
    uint8_t verdict;      /* enum live_verdict */
    uint8_t kind;         /* enum live_point_kind */
    uint32_t model;       /* that judged a call, see ad_sketch */
    uint64_t severity_ns; /* that it lost, if it is an anomaly */
};

struct live_block {
    uint32_t n, n_users;
    struct live_point point[LIVE_BLOCK]; /* [n] by id */
};

struct live_points {
    struct live_block *old_block[LIVE_OLD_BLOCKS], *new_block[LIVE_NEW_BLOCKS];
    uint32_t n_old, n_new;
    uint64_t next;         /* id of the next point: so many were added */
    uint64_t n_taken_back; /* anomalies that are none any more */
};

/* What there was at one moment. */
struct live_cut {
    struct {
        struct live_block *block;
        uint32_t n;
    } part[LIVE_OLD_BLOCKS + LIVE_NEW_BLOCKS]; /* [n] */
    uint32_t n;
    uint64_t next;
    uint64_t oldest_whole; /* from this id on nothing is missing */
    uint64_t oldest;       /* the first id there is */
};

void live_points_release(struct live_points *points);

/* live_points_add -- one more. Under the lock. O(1), but for once in LIVE_BLOCK. */
void live_points_add(struct live_points *points, const struct live_point *point);

/*
 * live_points_take_back -- make normal points of those anomalies of which is_taken is true. Who
 * reads a cut goes on with what was; blocks in which there are any are made anew. Under the
 * lock. O(points).
 */
void live_points_take_back(struct live_points *points,
                           bool (*is_taken)(void *ctx, const struct live_point *point),
                           void *ctx);

/* live_points_take -- all that is kept. Under the lock. O(blocks). */
void live_points_take(struct live_points *points, struct live_cut *cut);

/* live_points_give_back -- the cut is not read any more. Under the lock. */
void live_points_give_back(struct live_cut *cut);

#endif
