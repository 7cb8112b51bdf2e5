/*
 * foi_state -- how the executions of a function of interest stand, as one thread knows it: the
 * table of them all, which threads share, and what is kept because it never changes.
 */
#ifndef SNAG_SERVE_FOI_STATE_H
#define SNAG_SERVE_FOI_STATE_H

#include "features/residual.h"
#include "serve/execution_table.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#define FOI_STATE_MAX_SKETCHES 1000 /* kept; then all are forgotten */

#define VERDICT_CHANGED 2 /* another one than before labels were learnt */

/* Which executions are asked for. */
struct foi_filter {
    double rank;    /* < 0: any */
    int is_anomaly; /* -1: any; VERDICT_CHANGED */
    int label;      /* enum label; 2: any */
};

/* Those of a table, strangest first. */
struct foi_list {
    struct foi_filter filter;
    const struct execution_table *table; /* NULL: no list */
    uint32_t *tree;                      /* [n]; NULL: all, as in scores->order */
    uint32_t n;
};

struct foi_state {
    int64_t foi;
    uint32_t n;                          /* executions */
    bool is_current;                     /* else ask for the table again */
    const struct execution_table *table; /* how they stand, or NULL */
    struct foi_list list;

    bool has_model;
    struct residual_model model;
    json_t **sketch; /* [n] small trees for the list, or NULL */
    uint32_t n_sketches;
};

/*
 * foi_state_find -- the number of executions of a function of interest.
 * Returns 0, ERR_NOT_FOUND or ERR_DATABASE.
 */
int foi_state_find(struct foi_state *state, sqlite3 *db, int64_t foi);

/* foi_state_load -- the table that holds now. Returns what execution_table_take does. */
int foi_state_load(struct foi_state *state, struct shared_cache *tables, sqlite3 *db);
void foi_state_release(struct foi_state *state, struct shared_cache *tables);

#endif
