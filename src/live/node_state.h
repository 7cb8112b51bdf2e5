/*
 * node_state -- the last values of counters that say how the node is: memory, load, network.
 *
 * Which they are is said by a prefix of their names, or by a list as Chimbuko reads it:
 *
 *     [["monitoring: Memory Footprint (VmRSS) (KB)", "memory_kb"], ...]      counter, field
 *
 * They belong to the node, not to the call that was running when they were read.
 */
#ifndef SNAG_LIVE_NODE_STATE_H
#define SNAG_LIVE_NODE_STATE_H

#include "base/arena.h"
#include "base/names.h"
#include "live/ad.h"
#include "prov/prov_record.h"

#include <stdbool.h>
#include <stdint.h>

#define NODE_STATE_MAX_FIELDS 256u /* of a node; further ones are not kept */

/* The last values on one node. */
struct node {
    uint64_t time_ns;
    struct prov_counter *field; /* [n_fields] */
    size_t n_fields, cap;
};

struct node_state {
    char *prefix;         /* NULL: a list says which */
    struct names counter; /* of the list */
    struct names field;   /* field name of counter i of the list: list_field[i] */
    uint32_t *list_field;
    size_t list_cap;
    const char *
        *watched; /* [n_known] field of a counter of the definitions, NULL: not watched */
    uint32_t n_known;
    size_t known_cap;
    struct node *node; /* [n_nodes] */
    uint32_t n_nodes;
    size_t node_cap;
};

/*
 * node_state_open -- which counters to watch.
 *   watchlist  a file, or NULL
 *   prefix     of the names, where there is no list; the field is what follows it
 * Returns 0, ERR_IO, or ERR_FORMAT.
 */
int node_state_open(struct node_state *state, const char *watchlist, const char *prefix);
void node_state_release(struct node_state *state);

/*
 * node_state_add -- take a value, if its counter is watched.
 *   node  any small number for a node
 * Returns whether it is.
 */
bool node_state_add(struct node_state *state, const struct definitions *defs, uint32_t node,
                    const struct counter_reading *counter);

/* node_state_is_watched -- a counter of which values were taken. */
static inline bool node_state_is_watched(const struct node_state *state, uint32_t counter)
{
    return counter < state->n_known && state->watched[counter] != NULL;
}

/* node_state_copy -- the values of a node, in the arena. Returns false when there are none. */
bool node_state_copy(const struct node_state *state, uint32_t node, struct arena *arena,
                     struct prov_node *out);

/* counter_whole -- the value as a whole number, the nearest one. */
int64_t counter_whole(const struct counter_value *value);

#endif
