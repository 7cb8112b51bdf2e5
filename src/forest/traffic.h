/*
 * traffic -- all messages and collectives of a trace, what threads do in teams, and which
 * belong together.
 *
 * Rows of all locations follow each other in the order of the locations. Messages are matched
 * as MPI does: within one (communicator, source, destination, tag) the first send posted is
 * received by the first receive posted. Collectives belong together when they have the same
 * number on their communicator, the spans of a team by teams_match (forest/teams.h).
 */
#ifndef SNAG_FOREST_TRAFFIC_H
#define SNAG_FOREST_TRAFFIC_H

#include "base/paged.h"
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

    struct team_span *span; /* [n_spans] */
    size_t n_spans, span_cap;
    uint32_t *barrier; /* [n_barriers] rows of their location */
    size_t n_barriers, barrier_cap;

    uint32_t n_locations, n_appended;
    size_t *first_message;    /* [n_locations + 1] */
    size_t *first_collective; /* [n_locations + 1] */
    size_t *first_span;       /* [n_locations + 1] */
    size_t *first_barrier;    /* [n_locations + 1] */
    uint32_t n_instances;     /* collectives that took place */

    struct dependency *dependency; /* [n_dependencies] */
    size_t n_dependencies;

    struct paged *paged; /* not its own; may be NULL: for messages and collectives */
};

void traffic_init(struct traffic *traffic, uint32_t n_locations, struct paged *paged);
void traffic_release(struct traffic *traffic);

/* traffic_append -- the rows of a location; they must come in order. Those left out have none.
 */
void traffic_append(struct traffic *traffic, uint32_t location, const struct calls *calls);

/* What rows are of, and where those of a location are. */
enum traffic_kind { TRAFFIC_MESSAGES, TRAFFIC_COLLECTIVES, TRAFFIC_SPANS, TRAFFIC_BARRIERS };
#define TRAFFIC_KINDS 4

/*
 * traffic_count -- rows of each kind that a location has.
 * traffic_lay_out -- room for so many of each location, to be filled; it is empty before.
 *   count  (n_locations)
 */
struct traffic_count {
    uint64_t n[TRAFFIC_KINDS];
};
struct traffic_count traffic_count(const struct traffic *traffic, uint32_t location);
void traffic_lay_out(struct traffic *traffic, const struct traffic_count *count);

/* traffic_rows -- the rows of one kind of one location, as bytes. */
void *traffic_rows(const struct traffic *traffic, enum traffic_kind kind, uint32_t location,
                   size_t *bytes);

/* traffic_depend -- take a copy of the dependencies between calls of a trace. */
void traffic_depend(struct traffic *traffic, const struct dependency *dependency, size_t n);

/* traffic_disorder -- messages received on a location before they were sent, of those matched:
 * the clocks of two ranks disagree. O(messages of the location). */
uint64_t traffic_disorder(const struct traffic *traffic, uint32_t location);

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
