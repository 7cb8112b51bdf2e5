/*
 * report_answers -- what the drawings of a report are made of: the answers that the page would
 * get from snag serve, asked of the same handlers without a server, and made as small as what
 * is drawn.
 *
 * They are kept by their address ("/fois/1/executions/12/tree"), as many as a report has room
 * for; columns of numbers as base64. What names functions and places is cut to those that
 * occur.
 */
#ifndef SNAG_CMD_REPORT_ANSWERS_H
#define SNAG_CMD_REPORT_ANSWERS_H

#include "serve/served.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define ANSWERS_MAX_BYTES (1200u << 10) /* a report is less than 2 MB, its page included */
#define ANSWERS_MAX_POINTS 6000u        /* of all overviews */
#define ANSWERS_MAX_PLACES 256u         /* of a picture of ranks */

struct answers {
    struct served served;
    struct worker worker;
    json_t *json;                    /* by address */
    size_t bytes;                    /* of these, about */
    bool *has_region, *has_location; /* that occur in them */
};

/*
 * answers_open -- of a run, of which nothing is changed, beside those that were added before;
 * without it, answers_add alone works. Zeroed at first; stays where it is, as does path. Returns
 * 0 or what served_open and worker_open do. Close in any case.
 */
int answers_open(struct answers *answers, const char *path);
void answers_close(struct answers *answers);

/*
 * answers_add_execution -- what its tree, that of a typical one, and the part of the timeline
 * around it are drawn of. Nothing is added when there is no room for it.
 *   is_in  out: it was added
 * Returns 0 or a negative ERR_*.
 */
int answers_add_execution(struct answers *answers, int64_t foi, int64_t tree, bool *is_in);

struct answers_points {
    uint32_t n;           /* 0: there was no room */
    uint32_t n_anomalies; /* of these */
    uint32_t of;          /* so many executions */
};

/*
 * answers_add_points -- all executions of a function as points, or the anomalies, the strangest first, and some of
 * the others.
 *   most  points, >= 2; at most half of them are chosen because they are anomalies or labelled
 */
int answers_add_points(struct answers *answers, int64_t foi, uint32_t most,
                       struct answers_points *points);

/* answers_add -- one that is made already, which is taken over; *is_in as above. */
void answers_add(struct answers *answers, const char *address, json_t *json, bool *is_in);

/* answers_finish -- the names of what occurs. Returns 0 or a negative ERR_*. */
int answers_finish(struct answers *answers);

#endif
