/*
 * api_timeline -- what a window of the trace holds, by region, by rank or by call path: how many
 * calls, and how long they and what they called were in it.
 *
 * A call that reaches beyond the window counts with its part inside:
 *
 *     window        |------------------|
 *     solve     [=======]      [===========]      2 calls, total: what lies in the window
 *       send         [=]                          1 call; its time is not solve's own
 *
 * Calls belong to a group: that of their region, of the rank they ran on, or of their call path.
 * The columns are as somebody wrote them: nothing in them is believed.
 */
#ifndef SNAG_SERVE_API_TIMELINE_H
#define SNAG_SERVE_API_TIMELINE_H

#include "base/idmap.h"
#include "run/levels.h"

#include <stdint.h>

#include <jansson.h>

struct definitions;

#define MAX_MEASURE_GROUPS 100000u /* that one answer has */
#define MEASURE_NO_CALLER UINT32_MAX

enum measure_by { MEASURE_BY_REGION, MEASURE_BY_RANK, MEASURE_BY_PATH };

struct measure_group {
    uint32_t id;     /* a region; by rank: the rank */
    uint32_t caller; /* of a path, that of the caller: its group; else MEASURE_NO_CALLER */
    uint64_t calls;
    uint64_t total_ns; /* of calls that are not inside another of the same group */
    uint64_t own_ns;   /* of all, without those that they called */
    uint32_t n_open;   /* while a location is looked at: of it, around the call that is */
};

/* The calls around the one that is looked at, and the group of each. */
struct open_calls {
    uint32_t *row;   /* [n] of ascending depth */
    uint32_t *group; /* [n] */
    uint32_t n, most;
    size_t row_cap, group_cap;
};

struct measure {
    enum measure_by by;
    const struct definitions *defs;
    struct open_calls open;
    struct idmap known;
    struct measure_group *group; /* [known.n] in the order in which they were met */
    size_t cap;
    uint64_t sent, sent_bytes; /* messages whose record lies in the window */
    uint64_t received, received_bytes;
};

/* measure_init -- of a run with these definitions, which stay the caller's. */
void measure_init(struct measure *m, enum measure_by by, const struct definitions *defs);
void measure_release(struct measure *m);

/*
 * measure_add -- the part of a location that lies in [begin_ns, end_ns).
 *   columns  calls of the run
 *   levels   of these columns, or NULL
 * O(calls in the window, and calls before it that are not inside others). Returns 0, or
 * ERR_FORMAT where calls make no tree, ERR_RANGE for more than MAX_MEASURE_GROUPS groups.
 */
int measure_add(struct measure *m, const struct columns *columns, const struct levels *levels,
                uint32_t location, const uint64_t window_ns[2]);

/*
 * measure_add_tree -- the part of a call, and of all in it, that lies in [begin_ns, end_ns); no
 * messages. No tree may be added twice, nor be inside another that is.
 *   row  may be anything
 * O(calls in it). Returns what measure_add does.
 */
int measure_add_tree(struct measure *m, const struct columns *columns, uint32_t location,
                     uint32_t row, const uint64_t window_ns[2]);

/* measure_items -- the groups as an array, as /measure has it. */
json_t *measure_items(const struct measure *m);

#endif
