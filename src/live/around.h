/*
 * around -- the calls of a location before and after one of them, in the order they were
 * entered, and the messages in them.
 *
 *     ... step  solve  send [wait] solve  send ...        two on either side of the wait
 *
 * Windows go across steps: what is before comes from the history of the location, and what is
 * after may have to be added when the next step is there.
 */
#ifndef SNAG_LIVE_AROUND_H
#define SNAG_LIVE_AROUND_H

#include "live/ad.h"
#include "prov/prov_record.h"

#include <stdbool.h>
#include <stdint.h>

#define AROUND_MOST_MESSAGES 64 /* in one window */

struct histories;

struct around {
    struct prov_call *call; /* [n] at most 2 window + 1 */
    uint32_t n, centre;     /* call[centre] is what this is about */
    size_t cap;
    struct prov_message *message; /* [n_messages] */
    size_t n_messages, message_cap;
};

void around_release(struct around *around);

/* around_copy -- the same once more. */
void around_copy(struct around *to, const struct around *from);

/* around_take -- what is around a call of this step, as far as it is known by now. */
void around_take(struct around *around, const struct histories *h, const struct ad_step *step,
                 uint32_t location, uint32_t row);

/* around_is_full -- nothing is missing after the call. */
bool around_is_full(const struct around *around, uint32_t window);

/* around_close -- give calls that were open, and are not any more, their ends. */
void around_close(struct around *around, const struct histories *h, const struct ad_step *step,
                  uint32_t location);

/*
 * around_continue -- the next step is there: add what is missing after the call, and the ends
 * and messages of calls that were open.
 */
void around_continue(struct around *around, const struct histories *h,
                     const struct ad_step *step, uint32_t location);

/*
 * around_shift -- move on to the last calls of the location, of which there are at most as many
 * as a window has on one side.
 */
void around_shift(struct around *tail, const struct histories *h, const struct ad_step *step,
                  uint32_t location);

/* around_window -- as it stands in a record; the arrays are those of around. */
struct prov_window around_window(const struct around *around);

#endif
