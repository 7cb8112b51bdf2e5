/*
 * syncs -- where the locations of a trace wait for each other.
 *
 * A sync is a call of MPI with a message or collective in it, reduced to what a replay needs:
 * when it was entered and left, and which other syncs must have been entered before it can be
 * left. What is between two syncs of a location is its own.
 *
 *     rank 0   [start] ---- [Send] ------------------- [end]
 *                              \
 *     rank 1   [start] -- [Recv .\....] --------------- [end]      Recv needs Send
 *
 *     receive                            needs the send
 *     synchronous send                   needs the receive to be posted
 *     probe, with its receive            needs what that needs (explain/probes.h)
 *     wait for a request                 needs what the operation would have needed
 *     barrier, all to all                need everybody
 *     one to all                         needs the root; all to one: the root needs everybody
 *     other collectives, MPI_Finalize    need everybody, if nobody left before all were there
 *
 * A collective that does not block may go on only while all are in MPI: where nobody was done
 * before all had entered the calls that complete it, those are needed, else those that began
 * it, and by who stayed until the last had entered its own, that.
 *
 * Which sends are synchronous no trace says, but for MPI_Ssend: those with more bytes than any
 * that was seen to end before its receive was posted (syncs.eager_bytes). The first and the
 * last sync of a location are the ends of it. Locations that no message, collective or
 * dependency ties to others, and that are no master threads, take no part.
 *
 * A location has one track of syncs, or none; one of streams that overlap (streams.h) has
 * several. What was launched from a location, and what it waits for in a call, are syncs too.
 */
#ifndef SNAG_REPLAY_SYNCS_H
#define SNAG_REPLAY_SYNCS_H

#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sync {
    uint64_t enter_ns, leave_ns;
    uint64_t last_ns; /* when the last that it needs was there; 0: it needs none */
    uint32_t call;    /* row of the call, or NO_CALL: an end, or a record outside of MPI */
    uint32_t track : 30;
    uint32_t is_blind : 1; /* it may wait for what is not in the trace */
    uint32_t is_idle : 1;  /* of a thread that is in no team: it waits for nobody */
};

/* A need is another sync, or all members of a collective. */
#define NEED_ALL (1u << 31)   /* the rest is the number of a collective */
#define NEED_EARLY (1u << 30) /* its time comes after the need's: clocks disagree */
#define NEED_INDEX (NEED_EARLY - 1)

struct syncs {
    const struct trace_view *view;
    uint32_t n_locations, n_tracks;
    uint32_t *track;    /* [n_locations + 1] the first of a location */
    uint32_t *first;    /* [n_tracks + 1] those of a track, in order of time */
    uint32_t *location; /* [n_tracks] */
    size_t track_cap, location_cap;
    struct sync *sync; /* [n] */
    uint32_t n;
    size_t cap;

    bool *is_stream; /* [n_locations] */
    bool *is_apart; /* [n_locations] nothing is known of who waits for it: see syncs_is_known */
    bool has_streams;
    bool *is_waiting;   /* [regions] beside those of MPI: calls of it are syncs */
    uint32_t **op_sync; /* [n_locations] of a stream: where each call is ready, or NEED_INDEX;
                           that in which it exchanges something is the next */

    uint32_t *first_need; /* [n + 1] */
    uint32_t *need;
    uint32_t *first_member; /* [n_collectives + 1] */
    uint32_t *member;       /* syncs, with NEED_EARLY where entered after the first has left */
    uint32_t n_collectives; /* those of MPI; from first_team on barriers of teams; the end */
    uint32_t first_team, n_teams;

    uint32_t *order; /* [n] all syncs in the order they were left */
    uint32_t *place; /* [n] of a sync in that order */

    uint64_t eager_bytes;            /* larger messages are synchronous */
    bool *is_ssend;                  /* [regions] what it sends is; NULL: there is none */
    uint64_t *is_late;               /* bits of messages that were seen to be; NULL: none was */
    uint64_t begin_ns, end_ns;       /* of all that take part */
    uint64_t n_messages, n_matched;  /* ends of messages; those with the other end */
    uint64_t n_meetings, n_attended; /* collectives; those with records of all their members */
    bool lacks_members;              /* many of those of a communicator lack some */
    bool lacks_launches;             /* of operations of a GPU that calls wait for */
    uint64_t n_needs,
        n_early; /* needs; those that come after what needs them: clocks disagree */
};

#define SYNCS_MAX_EARLY                                                                        \
    0.02 /* of the needs: with more the order says nothing of who waited                       \
          */

/* syncs_clocks_agree -- whether what follows from the order of events on several ranks is
 * known. */
static inline bool syncs_are_in_order(uint64_t n_early, uint64_t n_needs)
{
    return (double)n_early <= SYNCS_MAX_EARLY * (double)n_needs;
}

static inline bool syncs_clocks_agree(const struct syncs *s)
{
    return syncs_are_in_order(s->n_early, s->n_needs);
}

#define SYNCS_MAX_UNATTENDED                                                                   \
    0.1 /* of the collectives, or of a communicator's: with more nobody knows who came last */

/* syncs_lack_members -- members of collectives that are not in the trace may have come as late as anybody. */
static inline bool syncs_lack_members(const struct syncs *s)
{
    return s->lacks_members || (double)(s->n_meetings - s->n_attended) >
                                   SYNCS_MAX_UNATTENDED * (double)s->n_meetings;
}

/* syncs_are_exact -- else somebody may have waited as long for what is not in the trace, members of
 * collectives or what launched the operations of a GPU, and what a replay saves is the most. */
static inline bool syncs_are_exact(const struct syncs *s)
{
    return !syncs_lack_members(s) && !s->lacks_launches;
}

/*
 * syncs_init -- find them all.
 *   view  with the order by depth; must stay. Its columns have been checked
 * Returns 0, or ERR_RANGE when there are 2^30 or more. O(records * log locations), 50 bytes a
 * record.
 */
int syncs_init(struct syncs *s, const struct trace_view *view);
void syncs_release(struct syncs *s);

/* syncs_takes_part -- whether a location does. */
static inline bool syncs_takes_part(const struct syncs *s, uint32_t location)
{
    return s->track[location + 1] > s->track[location];
}

/*
 * syncs_is_known -- whether it takes part, and it is known who waits for it. It is not of a rank
 * of several that has no record of waiting or being waited for at all; and of a thread that
 * another one of its process waits for nowhere, and that is in no team: whoever made it may
 * wait for its end.
 */
static inline bool syncs_is_known(const struct syncs *s, uint32_t location)
{
    return syncs_takes_part(s, location) && !s->is_apart[location];
}

/* syncs_begin, syncs_end -- those of a location: [begin, end), of all its tracks. */
static inline uint32_t syncs_begin(const struct syncs *s, uint32_t location)
{
    return s->first[s->track[location]];
}

static inline uint32_t syncs_end(const struct syncs *s, uint32_t location)
{
    return s->first[s->track[location + 1]];
}

/* syncs_location -- of a sync. */
static inline uint32_t syncs_location(const struct syncs *s, uint32_t sync)
{
    return s->location[s->sync[sync].track];
}

/* syncs_is_last -- whether a sync is the end of its track. */
static inline bool syncs_is_last(const struct syncs *s, uint32_t sync)
{
    return sync + 1 == s->first[s->sync[sync].track + 1];
}

/* sync_wait_ns -- how much of it was spent before what it needs was there. */
static inline uint64_t sync_wait_ns(const struct sync *k)
{
    uint64_t until = k->last_ns < k->leave_ns ? k->last_ns : k->leave_ns;

    return until > k->enter_ns ? until - k->enter_ns : 0;
}

/* sync_own_ns -- how much of it was not. */
static inline int64_t sync_own_ns(const struct sync *k)
{
    return (int64_t)(k->leave_ns - k->enter_ns) - (int64_t)sync_wait_ns(k);
}

/* syncs_typical_own_ns -- what the nearest syncs in the same function take beside waiting, the
 * middle of some; INT64_MAX where they are too few. O(MAX_ALIKE_STEPS). */
int64_t syncs_typical_own_ns(const struct syncs *s, uint32_t sync);

/* syncs_begin_track, syncs_push -- while they are found: one more track; one more sync of it.
 */
void syncs_begin_track(struct syncs *s, uint32_t location);
struct sync *syncs_push(struct syncs *s, struct sync sync);

/* syncs_is_ready -- whether this is the first of the syncs of an operation of a stream. */
bool syncs_is_ready(const struct syncs *s, uint32_t sync);

/* syncs_exchanges -- whether a ready operation is one with others: the next sync is of it too.
 */
static inline bool syncs_exchanges(const struct syncs *s, uint32_t ready)
{
    return s->sync[ready + 1].call == s->sync[ready].call;
}

/* syncs_last_entered -- when a sync was entered that is needed, or the last of a collective. */
uint64_t syncs_last_entered(const struct syncs *s, uint32_t need);

/* syncs_after -- the first of a location that is entered after a time, or its end. O(log n). */
uint32_t syncs_after(const struct syncs *s, uint32_t location, uint64_t time_ns);

/* syncs_of_call -- that of a call, of a probe that of its receive; NEED_INDEX: none. O(log n). */
uint32_t syncs_of_call(const struct syncs *s, uint32_t location, uint32_t row);

#endif
