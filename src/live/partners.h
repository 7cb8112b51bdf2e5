/*
 * partners -- what ranks that other instances of the job read did, for the records of this one.
 *
 * Where there is an instance for each rank, the other end of a message is elsewhere. Who needs
 * to know asks, by way of the parameter server (ps/ps_relay.h); the record waits for that, and
 * is stored with the window, or, after a while, without, and says why.
 *
 *     step k     anomaly; a question for rank 3          the record is held
 *     k + 1      its own window is complete              packed, it waits on
 *     ..         the answer comes, or time is over       stored
 *
 * And who is asked answers from what it keeps (live/past_calls.h), as soon as it has read as
 * far as the one who asks. Nobody waits for anybody in a step: letters go out and come in while
 * there is other work. At its end an instance waits for what it has asked, and for questions of
 * others that go on, for the same while at most.
 *
 * Everything is bounded: questions under way, bytes of records that wait, and what is kept. A rank
 * of which no question was answered in time is asked one at a time until one is: an instance that
 * hangs holds up no more than the questions of its first seconds, and none about other ranks.
 */
#ifndef SNAG_LIVE_PARTNERS_H
#define SNAG_LIVE_PARTNERS_H

#include "live/ad.h"
#include "prov/prov_record.h"

#define PARTNERS_WAIT_MS 5000u                /* for an answer */
#define PARTNERS_MAX_ASKED 1024u              /* questions without an answer, */
#define PARTNERS_MAX_OF_RANK 256u             /* and of these about one rank */
#define PARTNERS_MAX_BYTES ((size_t)16 << 20) /* of records that wait, and their answers */
#define PARTNERS_MAX_OF_RECORD 4u             /* as for messages in its own process */

struct partners;
struct call_histories; /* live/call_history.h */

struct partners_opts {
    const char *address;  /* of the parameter server */
    const char *key_file; /* as in struct ps_client_opts */
    const char *job;      /* run id */
    uint32_t program, window;
    unsigned wait_ms;      /* 0: PARTNERS_WAIT_MS */
    bool (*is_told)(void); /* to end at once; or NULL */
    /* Done again and again while the end is waited for; or NULL. */
    void (*meanwhile)(void *ctx);
    void *ctx;
};

/* A partner of a record that is not here. */
struct far_partner {
    uint32_t rank;
    uint64_t question;     /* its number; 0: it was not asked, */
    const char *not_known; /* and why */
};

struct partners_counts {
    uint64_t n_asked;    /* each of these is in one of the following in the end: */
    uint64_t n_answered; /* with a window */
    uint64_t n_declined; /* the instance did not know, or not any more, or could not say it */
    uint64_t n_given_up; /* nobody reads the rank, or has answered in time */
    uint64_t n_told;     /* answers to others */
    uint64_t sent_bytes, received_bytes; /* frames, both ways */
};

/* partners_new -- as ps_relay_client_open. */
int partners_new(const struct partners_opts *opts, struct partners **partners);
void partners_free(struct partners *partners); /* NULL is harmless */

/* partners_begin -- a step that was judged; after call_histories_begin of it. O(calls). */
void partners_begin(struct partners *partners, const struct call_histories *h,
                    const struct ad_step *step);

/* partners_is_far -- a rank that is not read here. */
bool partners_is_far(const struct partners *partners, uint32_t rank);

/* partners_ask -- for what is around the other end of message i of a location in the step. */
struct far_partner partners_ask(struct partners *partners, const struct ad_step *step,
                                uint32_t location, size_t i);

/* What becomes of a record in the end. */
typedef void partners_put_fn(void *ctx, const struct prov_record *record);

/*
 * partners_hold -- a record that is complete but for these partners: put it when they are
 * known, or will not be.
 *   record  copied
 */
void partners_hold(struct partners *partners, const struct prov_record *record,
                   const struct far_partner *far, size_t n, partners_put_fn *put, void *ctx);

/* partners_talk -- answer others, hear from them, put what is complete. Waits for nothing. At
 * the end of each step, and now and then while there is none. */
void partners_talk(struct partners *partners, partners_put_fn *put, void *ctx);

/* partners_finish -- no step follows: wait as the head of this file says; then all is put. */
void partners_finish(struct partners *partners, partners_put_fn *put, void *ctx);

/* partners_counts -- NULL: all are 0. */
void partners_counts(const struct partners *partners, struct partners_counts *counts);

#endif
