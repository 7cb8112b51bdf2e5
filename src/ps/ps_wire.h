/*
 * ps_wire -- what clients and the parameter server say to each other, byte by byte in
 * docs/wire.md.
 *
 * A frame is one MessagePack array [version, kind, ...]. Requests are a push (a numbered delta
 * and the wish for models; either may be empty), a question for all that is known, and letters
 * for other instances; each is answered by one reply, one state, letters, or one refusal.
 *
 * Decoding is strict: of each element the type, the range and the number are given, nothing may
 * be left over, and a sketch has to be one that values could have made. A decoded frame points
 * into its bytes and makes no room but for the arrays of its entries, which are never more than
 * the frame has bytes for.
 */
#ifndef SNAG_PS_PS_WIRE_H
#define SNAG_PS_PS_WIRE_H

#include "base/pack.h"
#include "detect/sketch.h"
#include "ps/ps_stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a frame: not a copy, not zero-terminated. */
struct ps_span {
    const unsigned char *data;
    uint32_t n;
};

/*
 * ps_write_* -- elements of MessagePack into a buffer that grows, in as few bytes as the format has for
 * them. A new buffer is zeroed; it is given back with pack_release.
 */
void ps_write_count(struct pack *out, uint64_t value);
void ps_write_array(struct pack *out, uint32_t n);
void ps_write_bytes(struct pack *out, const void *data, uint32_t bytes);
void ps_write_text(struct pack *out, const char *text, size_t length);
void ps_write_wide(struct pack *out, unsigned __int128 value);
void ps_write_nil(struct pack *out);

/* ps_write_raw -- bytes that are MessagePack already. */
void ps_write_raw(struct pack *out, const void *data, size_t bytes);

#define PS_WIRE_VERSION 1u
#define PS_MAX_FRAME_BYTES (64u << 20)   /* bytes */
#define PS_MAX_FUNCTIONS 65536u          /* of one server, so also of one frame */
#define PS_MAX_STATS (1u << 20)          /* of one server */
#define PS_MAX_TEXT_BYTES 8192u          /* bytes of a name */
#define PS_MAX_CALLS ((uint64_t)1 << 62) /* of one function */
#define PS_ROUND_LAST UINT64_MAX         /* instead of a round: takes part in no more rounds */
#define PS_NO_INDEX UINT32_MAX
#define PS_MAX_LETTERS 1024u             /* of one kind in one frame */
#define PS_MAX_LETTER_BYTES (256u << 10) /* bytes of what is in one */
#define PS_MAX_PLACES 65536u             /* that one instance reads */

enum ps_kind { PS_PUSH = 1, PS_REPLY, PS_REFUSAL, PS_ASK, PS_STATE, PS_LETTERS, PS_DELIVERY };

enum ps_refusal_code {
    PS_BAD_FRAME = 1, /* not decoded; sent again it will be refused again */
    PS_OTHER_VERSION, /* of this protocol */
    PS_STALE,         /* indices are of another life of the server: say the names again */
    PS_EARLY,         /* the round before is not published yet */
    PS_FULL,          /* more functions, statistics or clients than a server keeps */
    PS_LARGE,         /* what was asked for does not fit into a frame */
};

/* A sketch in its frame: checked, but still packed. */
struct ps_packed_sketch {
    uint64_t n, min, max;
    struct exact_sums sums;
    uint32_t first_bin, n_bins;
    struct ps_span bins;
};

/* A function that a client uses: what it adds, and that it wants its model. */
struct ps_entry {
    uint32_t index;               /* PS_NO_INDEX: it is named */
    struct ps_span program, name; /* of a named one */
    bool has_sketch;
    struct ps_packed_sketch sketch;
};

struct ps_stat_entry {
    struct ps_span program, region, name;
    uint32_t rank;
    struct ps_stat stat;
};

struct ps_push {
    uint64_t client;   /* drawn at random by the client */
    uint64_t epoch;    /* life of the server that the indices are from, 0: there are none */
    uint64_t sequence; /* of the delta, from 1; 0: there is none */
    uint64_t round;    /* that it belongs to, from 1; 0: to none; or PS_ROUND_LAST */
    uint64_t have;     /* version of the models that the client has */
    uint32_t n_entries, n_stats;
    struct ps_entry *entry;     /* [n_entries] */
    struct ps_stat_entry *stat; /* [n_stats] */
    size_t entry_cap, stat_cap;
};

struct ps_model_entry {
    uint32_t index;
    struct ps_packed_sketch sketch;
};

struct ps_reply {
    uint64_t epoch, sequence; /* the latter of the request */
    uint64_t received, saved; /* last sequence of this client that is counted, is on disk */
    uint64_t version, round;  /* of the models, last published */
    bool is_frozen;           /* the models do not change, whatever is pushed */
    uint32_t n_indices;       /* as many as the request had functions, or 0 */
    uint32_t *index;          /* [n_indices] of the request's functions, or PS_NO_INDEX */
    uint32_t n_models;
    struct ps_model_entry *model; /* [n_models] */
    size_t index_cap, model_cap;
};

struct ps_refusal {
    enum ps_refusal_code code;
    uint64_t epoch, sequence, received; /* as in a reply */
};

/* A rank of a program. */
struct ps_rank {
    uint32_t program, rank;
};

enum ps_letter_state {
    PS_ANSWERED = 0, /* it has what the one who was asked says */
    PS_NOBODY,       /* no instance of the job has said that it reads this place */
    PS_OVERFULL,     /* more waits for that instance than a server keeps */
};

/* A question of one instance to the one that reads a place, or the answer to it. */
struct ps_letter {
    uint64_t client, number;    /* who asks, and its number for the question */
    struct ps_rank place;       /* a question's: whom it is for */
    enum ps_letter_state state; /* an answer's */
    struct ps_span body;
};

/* What an instance says to others of its job (PS_LETTERS), and what others say to it
 * (PS_DELIVERY). */
struct ps_letters {
    uint64_t client;     /* who says it */
    uint64_t number;     /* of the request, also of its answer; one that is sent again has the
                            same; 0: none */
    struct ps_span job;  /* only instances of the same job know of each other */
    bool is_over;        /* it asks nothing more */
    uint64_t epoch;      /* of a delivery: life of the server, */
    uint32_t n_going_on; /* other instances of the job that may still ask something, */
    bool is_successor;   /* and another one has read a place of this one before */
    uint32_t n_places, n_questions, n_answers;
    struct ps_rank *place;               /* [n_places] that it reads */
    struct ps_letter *question, *answer; /* [n_questions], [n_answers] */
    size_t place_cap, question_cap, answer_cap;
};

struct ps_frame {
    enum ps_kind kind;
    struct ps_push push; /* of a state, too: version in have, round, clients in client, and all
                            functions and statistics */
    struct ps_reply reply;
    struct ps_refusal refusal;
    struct ps_letters letters;
};

/*
 * ps_frame_read -- decode a frame; only the member that kind names has a meaning then.
 *   frame  zeroed at first; its arrays are used again. It points into data.
 * Returns 0, ERR_UNSUPPORTED for another version of the protocol, or ERR_FORMAT. O(bytes).
 */
int ps_frame_read(struct ps_frame *frame, const void *data, size_t bytes);
void ps_frame_release(struct ps_frame *frame);

/*
 * ps_sketch_view -- a packed sketch as one to merge from, never to change or release.
 *   count  its bins [SKETCH_MAX_BINS], room that the caller gives
 */
struct sketch ps_sketch_view(const struct ps_packed_sketch *packed, uint64_t *count);

/* ps_write_sketch -- of one call or more. */
void ps_write_sketch(struct pack *out, const struct sketch *sketch);

/*
 * ps_write_push -- the head of a push; n_entries times ps_write_entry or ps_write_named follow,
 * then ps_write_array(n_stats) and n_stats times ps_write_stat. Of push only the numbers are
 * looked at. sketch may be NULL.
 */
void ps_write_push(struct pack *out, const struct ps_push *push);
void ps_write_entry(struct pack *out, uint32_t index, const struct sketch *sketch);
void ps_write_named(struct pack *out, const char *program, const char *name,
                    const struct sketch *sketch);
void ps_write_stat(struct pack *out, const struct ps_stat_key *key, const struct ps_stat *stat);

/*
 * ps_write_reply -- the head of a reply and its indices; n_models times ps_write_count(index),
 * ps_write_sketch follow, as an array of two each.
 */
void ps_write_reply(struct pack *out, const struct ps_reply *reply);

/* ps_write_ask -- the question for all that is known, and ps_write_state the head of its
 * answer, after which functions and statistics follow as in a push; functions by name, with
 * their models. */
void ps_write_ask(struct pack *out);
void ps_write_state(struct pack *out, const struct ps_push *state);
void ps_write_refusal(struct pack *out, const struct ps_refusal *refusal);

/* ps_write_letters -- a whole frame of either kind. */
void ps_write_letters(struct pack *out, enum ps_kind kind, const struct ps_letters *l);

#endif
