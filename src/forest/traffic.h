/*
 * traffic -- all messages and collectives of a trace, and which belong together.
 *
 * Rows of all locations follow each other in the order of the locations. Messages are matched
 * as MPI does: within one (communicator, source, destination, tag) the first send posted is
 * received by the first receive posted. Collectives belong together when they have the same
 * number on their communicator.
 */
#ifndef SNAG_FOREST_TRAFFIC_H
#define SNAG_FOREST_TRAFFIC_H

#include "stack/calls.h"
#include "trace/definitions.h"
#include "trace/quality.h"

#include <stddef.h>
#include <stdint.h>

struct traffic {
    struct message *message; /* [n_messages] */
    size_t n_messages, message_cap;
    struct collective *collective; /* [n_collectives] */
    size_t n_collectives, collective_cap;

    uint32_t n_locations;
    size_t *first_message;    /* [n_locations + 1] */
    size_t *first_collective; /* [n_locations + 1] */
    uint32_t n_instances;     /* collectives that took place */
};

void traffic_init(struct traffic *traffic, uint32_t n_locations);
void traffic_release(struct traffic *traffic);

/* traffic_append -- the rows of the next location, which must come in order. */
void traffic_append(struct traffic *traffic, uint32_t location, const struct calls *calls);

/*
 * traffic_match -- find the other end of every message, the instance of every collective.
 *   quality  (n_locations) out: what found no partner is added
 * Sets message.match and collective.instance. Expected O(n log n) at worst.
 * Source: MPI 4.0, section 3.5, Order.
 */
void traffic_match(struct traffic *traffic, const struct definitions *defs,
                   struct quality *quality);

/*
 * traffic_complete -- of the collectives that took place on more than one rank (n_instances),
 * those of which every member of the communicator has a record. After traffic_match.
 */
uint32_t traffic_complete(const struct traffic *traffic, const struct definitions *defs);

/* traffic_location_of -- the location of message row i. O(log n_locations). */
uint32_t traffic_location_of(const struct traffic *traffic, size_t i);

#endif
