/*
 * standing -- how the executions of a function of interest stand, as one thread knows it: the
 * roll of them all, which threads share, and what is kept because it never changes.
 */
#ifndef SNAG_SERVE_STANDING_H
#define SNAG_SERVE_STANDING_H

#include "features/residual.h"
#include "serve/roll.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#define STANDING_MOST_SKETCHES 1000 /* kept; then all are forgotten */

/* Which executions are asked for. */
struct standing_filter {
    double rank;    /* < 0: any */
    int is_anomaly; /* -1: any */
    int label;      /* enum label; 2: any */
};

/* Those of a roll, strangest first. */
struct standing_list {
    struct standing_filter filter;
    const struct roll *roll; /* NULL: no list */
    uint32_t *tree;          /* [n]; NULL: all, as in scores->order */
    uint32_t n;
};

struct standing {
    int64_t foi;
    uint32_t n;              /* executions */
    bool is_current;         /* else ask for the roll again */
    const struct roll *roll; /* how they stand, or NULL */
    struct standing_list list;

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

/* standing_load -- the roll that holds now. Returns what roll_take does. */
int standing_load(struct standing *standing, struct shelf *rolls, sqlite3 *db);
void standing_release(struct standing *standing, struct shelf *rolls);

#endif
