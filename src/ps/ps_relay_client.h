/*
 * ps_relay_client -- one instance's side of the letters that a parameter server passes on
 * among the instances of a job (ps_relay.h).
 *
 *     ps_relay_client_place(c, place);              what is read here
 *     n = ps_relay_client_ask(c, place, body, bytes)
 *     every step:
 *         ps_relay_client_talk(c, &handlers, 0)     hands over what has come, sends the rest
 *
 * Nothing is waited for unless one says so. One request is under way at a time; a server that
 * does not answer is asked again after a while.
 *
 * Not thread-safe: a client belongs to one thread.
 */
#ifndef SNAG_PS_PS_RELAY_CLIENT_H
#define SNAG_PS_PS_RELAY_CLIENT_H

#include "ps/ps_wire.h"

struct ps_relay_client;

struct ps_relay_client_opts {
    const char *address;  /* of the server */
    const char *key_file; /* see ps_key, or NULL */
    const char *job;      /* alike in all its instances */
    unsigned resend_ms;   /* without an answer, ask again; 0: 2000 */
};

/* What to do with letters. What they point to is valid until the function returns. */
struct ps_relay_handlers {
    void *ctx;
    void (*question)(void *ctx, const struct ps_letter *question);
    void (*answer)(void *ctx, const struct ps_letter *answer);
};

struct ps_relay_client_counts {
    uint64_t n_sent, n_replies;
    uint64_t sent_bytes, received_bytes; /* frames */
    uint64_t n_requests, answered;       /* the number of the last one, and of the last that was
                                            answered;       what is said now is in the next one */
    bool is_refused;   /* the server passes nothing on: it is of another version, or too full */
    bool is_successor; /* another instance has read a place of this one before */
    uint32_t n_going_on; /* as of the last answer: others that may still ask something */
};

/* ps_relay_client_open -- as ps_client_open. */
int ps_relay_client_open(struct ps_relay_client **client,
                         const struct ps_relay_client_opts *opts);

/* ps_relay_client_close -- what was not sent is not. NULL is harmless. */
void ps_relay_client_close(struct ps_relay_client *client);

/* ps_relay_client_place -- a place that is read here; once each. */
void ps_relay_client_place(struct ps_relay_client *client, struct ps_rank place);

/* ps_relay_client_is_placed -- the server has answered to all places, so is_successor is right.
 */
bool ps_relay_client_is_placed(const struct ps_relay_client *client);

/*
 * ps_relay_client_ask -- a question for who reads a place; its answer has the same number.
 * ps_relay_client_answer -- to a question.
 * Return false when there are PS_MAX_LETTERS, or 16 MiB, that were not sent yet, or there are
 * more bytes than PS_MAX_LETTER_BYTES.
 */
bool ps_relay_client_ask(struct ps_relay_client *client, uint64_t number, struct ps_rank place,
                         const void *body, size_t bytes);
bool ps_relay_client_answer(struct ps_relay_client *client, const struct ps_letter *question,
                            const void *body, size_t bytes);

/*
 * ps_relay_client_talk -- hand over what has come; send what there is, if nothing is under way.
 *   handlers    NULL: what has come is left for later
 *   timeout_ms  to wait for something to come
 * Returns true if the server has answered.
 */
bool ps_relay_client_talk(struct ps_relay_client *client,
                          const struct ps_relay_handlers *handlers, int timeout_ms);

/* ps_relay_client_end -- whether all that is asked from here has been asked: said from now on.
 * Who says so too early is left alone by those that could answer. */
void ps_relay_client_end(struct ps_relay_client *client, bool is_over);

/* ps_relay_client_is_idle -- nothing is to be asked, and the last request was answered. */
bool ps_relay_client_is_idle(const struct ps_relay_client *client);

/* ps_relay_client_is_heard -- the server has had all that was said. */
bool ps_relay_client_is_heard(const struct ps_relay_client *client);

void ps_relay_client_counts(const struct ps_relay_client *client,
                            struct ps_relay_client_counts *counts);

#endif
