/*
 * streams -- locations on which nothing happens but what others started: of a GPU, or of a
 * worker whose operations are recorded one by one. A location is one when a call on it is known
 * to begin after another (struct dependency).
 *
 * What lies between two operations of a stream is no work: it waits for the operation before,
 * for what the next one depends on, and then for as long as it took to begin. So an operation
 * is one sync that is entered when the one before has ended and left when it begins; if it is a
 * message or part of a collective, a second one from where it begins to where it ends, in which
 * it waits for the others:
 *
 *     stream   [ready]==compute==[ready][recv ....][ready]==compute==[end]
 *
 * To need that an operation has ended is to need that the sync behind it is entered. Where
 * operations of a location overlap, those of each function are a track of their own.
 */
#ifndef SNAG_REPLAY_STREAMS_H
#define SNAG_REPLAY_STREAMS_H

#include "replay/syncs.h"

struct record_syncs;

/* A dependency whose calls have been found; NO_CALL: there is none. */
struct found_dependency {
    uint32_t call, on_call;
    uint32_t who, on; /* syncs: who needs which, NEED_INDEX: none */
};

/* An end of a dependency, on the location of its call. */
struct dependency_end {
    uint32_t dependency;
    bool is_on; /* the one that the other waits for */
};

struct streams {
    const struct syncs *s;
    struct dependency *waits; /* [n_waits] of calls for their GPU (device_wait_operations) */
    size_t n_waits, wait_cap;
    struct found_dependency *found; /* [view->n_dependencies + n_waits] */
    size_t *first;                  /* [n_locations + 1] */
    struct dependency_end *end;     /* by location */
};

/* streams_dependency -- those of the trace, and behind them the waits. */
static inline const struct dependency *streams_dependency(const struct streams *t, size_t i)
{
    const struct trace_view *view = t->s->view;

    return i < view->n_dependencies ? &view->dependency[i]
                                    : &t->waits[i - view->n_dependencies];
}

/*
 * streams_init -- find the calls of all dependencies, which calls wait for a GPU, and which
 * locations are streams (s->is_stream). O(calls + dependencies x log calls).
 */
void streams_init(struct streams *streams, struct syncs *s);
void streams_release(struct streams *streams);

/*
 * streams_add -- the tracks and syncs of a location that is one; sets s->op_sync and where its
 * messages, collectives and dependencies are.
 *   begin_ns  when the trace began
 * O(calls x tracks + dependencies).
 */
void streams_add(struct streams *streams, struct syncs *s, uint32_t location, uint64_t begin_ns,
                 const struct record_syncs *at);

#endif
