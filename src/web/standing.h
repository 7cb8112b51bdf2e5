/*
 * standing -- how the executions of a function of interest stand: score, verdict, label and
 * place of all of them, as arrays by tree. And what is kept of them because it never changes.
 */
#ifndef SNAG_WEB_STANDING_H
#define SNAG_WEB_STANDING_H

#include "features/residual.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#define STANDING_MOST_SKETCHES 1000 /* kept; then all are forgotten */

struct standing {
    int64_t foi;
    uint32_t n;                /* executions */
    bool is_current;           /* else the arrays are to be read again */
    double *score;             /* [n] */
    uint32_t *rank;            /* [n] of the process */
    unsigned char *is_anomaly; /* [n] */
    signed char *label;        /* [n] enum label */
    uint32_t *order;           /* [n] trees, strangest first */
    uint32_t *place;           /* [n] of a tree in that order, from 1 */
    uint32_t *place_before;    /* [n] the same by the detector's own score */

    bool has_model;
    struct residual_model model;
    json_t **sketch; /* [n] small trees for the list, or NULL */
    uint32_t n_sketches;
};

/*
 * standing_find -- the number of executions of a function of interest.
 * Returns 0, ERR_NOT_FOUND or ERR_DATABASE.
 */
int standing_find(struct standing *standing, sqlite3 *db, int64_t foi);

/* standing_load -- read what may have changed. Returns 0, ERR_FORMAT or ERR_DATABASE.
 * O(n log n). */
int standing_load(struct standing *standing, sqlite3 *db);
void standing_release(struct standing *standing);

#endif
