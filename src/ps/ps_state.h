/*
 * ps_state -- sketches of functions and statistics: what deltas are added to, and what is known
 * of all clients together. States merge exactly, in any order.
 *
 * Functions are numbered by whoever owns the state (a slot); statistics by what they are of.
 * A zeroed struct is empty and ready. Not thread-safe.
 */
#ifndef SNAG_PS_STATE_H
#define SNAG_PS_STATE_H

#include "base/names.h"
#include "base/pack.h"
#include "detect/sketch.h"
#include "ps/ps_stat.h"
#include "ps/ps_wire.h"

struct ps_state {
    uint32_t n;            /* slots */
    struct sketch *sketch; /* [n] */
    size_t cap;
    uint32_t n_used;
    uint32_t *used; /* [n_used] slots whose sketch is not empty, in the order of their first */
    size_t used_cap;
    struct names key;     /* of statistics, see ps_state_key */
    struct ps_stat *stat; /* [key.n] */
    size_t stat_cap;
    uint64_t n_lost; /* calls and values that did not fit into 62 bits */
};

void ps_state_release(struct ps_state *state);

/* ps_state_add -- merge calls into the sketch of a slot. O(bins). */
void ps_state_add(struct ps_state *state, uint32_t slot, const struct sketch *sketch);

/*
 * ps_state_count -- merge values into a statistic, named by a key that was made by
 * ps_state_key. Returns its number. O(length of the key).
 */
void ps_state_count(struct ps_state *state, const char *key, const struct ps_stat *stat);

/* ps_state_merge -- all of one into another whose slots are the same. O(bins + statistics). */
void ps_state_merge(struct ps_state *into, const struct ps_state *from);

/* ps_state_key -- one text for what a statistic is of. */
#define PS_KEY_SIZE (3 * PS_MAX_TEXT_BYTES + 16)
void ps_state_key(const struct ps_stat_entry *entry, char key[PS_KEY_SIZE]);

/* ps_state_split -- the counterpart: text is overwritten, the result points into it. */
struct ps_stat_key ps_state_split(char *text);

/* ps_state_pack_stats, ps_state_unpack_stats -- the statistics to bytes and back. */
void ps_state_pack_stats(const struct ps_state *state, struct pack *pack);
void ps_state_unpack_stats(struct ps_state *state, struct pack *pack);

/* ps_state_unpack_sketch -- one that values could have made, as frames have to be; else the
 * bytes are bad. Release it in any case. */
void ps_state_unpack_sketch(struct sketch *sketch, struct pack *pack);

/*
 * ps_state_pack, ps_state_unpack -- the sketches, too.
 *   n_slots  in: slots there are; bytes that name another are bad
 */
void ps_state_pack(const struct ps_state *state, struct pack *pack);
void ps_state_unpack(struct ps_state *state, uint32_t n_slots, struct pack *pack);

#endif
