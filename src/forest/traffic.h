/*
 * traffic -- all messages and collectives of a trace, what threads do in teams, and which
 * belong together.
 *
 * Rows of all locations follow each other in the order of the locations. Messages are matched
 * as MPI does: within one (communicator, source, destination, tag) the first send posted is
 * received by the first receive posted; within one communicator the first collective that one
 * process calls is the first that the others call. The spans of a team belong together by
 * teams_match.
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
 * Sets message.match and collective.instance; collective.order where a location completed
 * collectives out of order, or several of a process count the same ones. Expected O(n log n) at worst.
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

/*
 * Which spans of threads belong to one team: threads of a process have one clock, so a member
 * belongs to the fork on its communicator that is open when it begins. A thread that was
 * created has a number on its communicator.
 */

/*
 * teams_match -- find the fork of every member, and what created every thread.
 *
 * Sets team of all spans, and n_members of forks. O(spans * log forks).
 */
void teams_match(struct traffic *traffic, const struct definitions *defs);

/* What there is of a kind, for people. */
struct team_counts {
    uint64_t n_forks, n_members; /* members that have their fork */
    uint64_t n_lost;             /* members whose fork is not in the trace */
    uint64_t n_created;          /* threads that were created */
    uint64_t n_barriers;         /* calls of them, all members */
    uint32_t largest;            /* members of the largest team */
};

/* teams_count -- of all locations. After teams_match. O(spans). */
struct team_counts teams_count(const struct traffic *traffic);

/*
 * teams_ratio -- what other members than the forking threads did in their teams, to how long
 * these had teams: 3 for teams of four that are all busy. 0 without teams. O(spans).
 */
double teams_ratio(const struct traffic *traffic);

/* teams_forked_ns -- how long a location had teams that it forked in rows [begin, end): as
 * forked_ns of a profile. O(spans of the location). */
uint64_t teams_forked_ns(const struct traffic *traffic, uint32_t location, uint32_t begin,
                         uint32_t end);

#endif
