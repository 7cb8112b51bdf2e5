/*
 * live_recent -- the calls of the last steps, so that any call that a page shows a point of can
 * be looked at closely: what was around it on its thread, and on those of whom it exchanged
 * messages with. Strange calls have records for that (live_recorder.h); of normal ones there
 * are few.
 *
 * A bounded number of bytes is kept, 6 to 10 for a call with its messages; the oldest steps go
 * first, and what a page asks for must be of those that are there.
 */
#ifndef SNAG_MONITOR_LIVE_RECENT_H
#define SNAG_MONITOR_LIVE_RECENT_H

#include "base/arena.h"
#include "base/pack.h"
#include "live/ad.h"
#include "prov/prov_record.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define LIVE_RECENT_BYTES (64u << 20)
#define LIVE_RECENT_CALLS 1000u /* of a lane that are told: the longest */
#define LIVE_RECENT_PARTNERS 4u

/* What is kept of a location in a step, and what tells whether it need be read. */
struct recent_part {
    size_t at;          /* in the bytes of the step: its calls, */
    size_t messages_at; /* and its messages */
    uint32_t n_calls, n_messages;
    uint64_t last_enter_ns, last_leave_ns; /* of its calls, of those that are over */
    uint64_t first_message_ns, last_message_ns;
};

struct recent_step {
    uint64_t number, begin_ns, end_ns;
    uint32_t n_locations;
    struct recent_part *of; /* [n_locations] */
    struct pack packed;     /* calls and messages of all of them, see live_recent.c */
};

struct live_recent {
    pthread_mutex_t lock;     /* guards all of it; none other of ours is taken under it */
    struct recent_step *step; /* [n] the oldest first */
    size_t n, cap;
    size_t bytes, most;
};

/* live_recent_init -- most: bytes that are kept. */
void live_recent_init(struct live_recent *recent, size_t most);
void live_recent_release(struct live_recent *recent);

/* live_recent_forget -- of another run. */
void live_recent_forget(struct live_recent *recent);

/* live_recent_is_empty -- no step is kept. */
bool live_recent_is_empty(struct live_recent *recent);

/* live_recent_take -- a step is there. O(its calls). */
void live_recent_take(struct live_recent *recent, const struct ad_step *step);

/* Which call, and who knows names and places. */
struct recent_asked {
    uint32_t location, region;
    uint64_t enter_ns;
    const char *const *region_name; /* [n_regions] */
    uint32_t n_regions;
    const struct recent_place {
        uint32_t rank, thread, program;
    } * place; /* [n_places] */
    uint32_t n_places;
};

/*
 * live_recent_find -- a call as a record without a verdict: its callers, and what happened from
 * half its length before it to half its length after it.
 *   arena  has all that the record points to
 * Returns false where it is not there (any more). O(what is kept of its lanes).
 */
bool live_recent_find(struct live_recent *recent, const struct recent_asked *asked,
                      struct arena *arena, struct prov_record *record);

#endif
