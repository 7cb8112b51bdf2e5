/*
 * past_calls -- the last calls and messages of each location, for windows that are asked for
 * when their step is long over.
 *
 * A window is that which evidence.h takes of a partner in its own process, to the last call:
 * what was around the call that the other end of a message was in, or around the call that was
 * entered last when the message was recorded, as it was known one step after the step in
 * question. So an answer does not depend on when it is given.
 *
 *     asked for: until the end of step 7        answered by: steps .. 6 7 8
 *
 * Which message is the other end of which is told by its number among those of its channel
 * (communicator, tag, sender, receiver), counted on either side: MPI does not let them overtake
 * each other. That needs both sides to have counted from the beginning.
 *
 * Memory is bounded: the oldest steps go. 48 bytes are kept of a call, 56 of a message.
 */
#ifndef SNAG_LIVE_PAST_CALLS_H
#define SNAG_LIVE_PAST_CALLS_H

#include "live/call_history.h"

#define PAST_CALLS_BYTES ((size_t)32 << 20) /* that are kept, besides the last three steps */
#define PAST_CALLS_MAX_CHANNELS (1u << 18)  /* whose messages are counted */

/* What is asked for. */
struct past_question {
    uint32_t rank;  /* of whom, */
    uint32_t asker; /* and by whom: the rank that the message went to, or came from */
    uint32_t comm, tag;
    bool is_send;      /* the end that is sought */
    uint64_t number;   /* of it in its channel, from 1; 0: not known */
    uint64_t bytes;    /* of the message */
    uint64_t time_ns;  /* when the asker recorded its end */
    uint64_t until_ns; /* the end of its step */
    uint32_t window;   /* calls before and after */
};

enum past_state {
    PAST_KNOWN,
    PAST_TOO_EARLY, /* the step after has not been read yet */
    PAST_TOO_OLD,   /* it was forgotten */
    PAST_NOTHING,   /* the rank had entered no call by then */
    /* What past_calls_find does not say, but who passes on what it says: */
    PAST_TOO_LARGE,     /* for a letter */
    PAST_OTHER_VERSION, /* the question is of another version than the one who is asked */
};

struct past_calls;

struct past_calls *past_calls_new(size_t most_bytes);
void past_calls_free(struct past_calls *past);

/* past_calls_step -- a step that was judged; after call_histories_begin of it. O(calls + messages).
 */
void past_calls_step(struct past_calls *past, const struct call_histories *h,
                     const struct ad_step *step);

/* past_calls_end -- no step follows. */
void past_calls_end(struct past_calls *past);

/* past_calls_number -- of message i of a location in the step, as in struct past_question. */
uint64_t past_calls_number(const struct past_calls *past, uint32_t location, size_t i);

/*
 * past_calls_find -- what a rank did.
 *   counts_agree  messages of both sides were counted from the beginning; else times tell
 *   out           its arrays are the arena's, names those of the definitions
 * O(log calls + messages kept).
 */
enum past_state past_calls_find(const struct past_calls *past, const struct ad *ad,
                                const struct definitions *defs,
                                const struct past_question *question, bool counts_agree,
                                struct arena *arena, struct prov_partner *out);

#endif
