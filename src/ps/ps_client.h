/*
 * ps_client -- one instance's side of the parameter server.
 *
 *     f = ps_client_function(client, "lmp", "PairEAM::compute");
 *     every step:
 *         ps_client_add(client, f, &sketch_of_this_step);
 *         ps_client_count(client, &key, &stat);
 *         ps_client_push(client);                what was added becomes a delta
 *         ps_client_exchange(client, 10);        talks for at most 10 ms
 *         ps_client_model(client, f)             what all instances know by now
 *     ps_client_flush(client, 5000)              before the end
 *
 * Nothing waits for the server longer than it is told to. While it is away the last models
 * stay, and deltas are kept, at most PS_CLIENT_DELTAS of them: when there are so many, what is
 * added further is merged into one more, which costs no memory and loses nothing. A delta is
 * kept until the server says that it is on disk, and sent again to a server that was started
 * anew. What was saved is kept as one sum, for a server that has lost all of it.
 *
 * Not thread-safe: a client belongs to one thread.
 */
#ifndef SNAG_PS_CLIENT_H
#define SNAG_PS_CLIENT_H

#include "base/pack.h"
#include "detect/sketch.h"
#include "ps/ps_stat.h"

#include <stdbool.h>

#define PS_CLIENT_DELTAS 8u

struct ps_client;

struct ps_client_opts {
    const char *address;   /* "tcp://host:port" */
    const char *key_file;  /* see ps_key, or NULL */
    unsigned resend_ms;    /* without an answer, ask again; 0: 2000 */
    bool is_deterministic; /* every push is a round: see ps_client_round */
};

/* What the client has seen. */
struct ps_client_counts {
    uint64_t n_sent, n_resent, n_replies, n_refused, n_garbage;
    uint64_t n_restarts; /* of the server */
    uint64_t n_foreign;  /* answers of a server that speaks another version of the protocol */
    uint64_t n_retold; /* ... of these, it had nothing of us any more, and was told all again */
    uint64_t n_forgotten;    /* deltas that it said were saved, and lost while it kept others */
    uint32_t n_kept;         /* deltas that are not saved yet */
    uint64_t version, round; /* of the models */
};

/*
 * ps_client_open -- does not wait for the server, which need not be there yet.
 * Returns 0, ERR_USAGE for a bad address, or what ps_key_read returns.
 */
int ps_client_open(struct ps_client **client, const struct ps_client_opts *opts);

/* ps_client_close -- what was not sent is lost; see ps_client_flush. NULL is harmless. */
void ps_client_close(struct ps_client *client);

/*
 * ps_client_function -- the number, for this client, of a function it uses; from 0, dense.
 * Control characters in names become '?'; names are cut after 8,192 bytes. PS_NO_INDEX if
 * there are 65,536 functions already. O(length).
 */
uint32_t ps_client_function(struct ps_client *client, const char *program, const char *name);

/* ps_client_add, ps_client_count -- merge into what the next push sends. */
void ps_client_add(struct ps_client *client, uint32_t function, const struct sketch *sketch);
void ps_client_count(struct ps_client *client, const struct ps_stat_key *key,
                     const struct ps_stat *stat);

/*
 * ps_client_push -- what was added since the last push becomes a delta, if there is room for
 * another; otherwise it stays with what is added next. Sends nothing yet.
 */
void ps_client_push(struct ps_client *client);

/*
 * ps_client_exchange -- send what is to be sent, take in what has arrived.
 *   timeout_ms  return when nothing is left to send or to wait for, or after so long; 0: do not
 *               wait at all
 * Returns true if a model has changed.
 */
bool ps_client_exchange(struct ps_client *client, int timeout_ms);

/*
 * ps_client_round -- push, as the next round, and wait for the models of all clients' deltas of
 * this round, for at most timeout_ms. Only for a deterministic client and server.
 * Returns false if they did not come; then call it again with nothing added, to go on waiting.
 */
bool ps_client_round(struct ps_client *client, int timeout_ms);

/*
 * ps_client_flush -- push, and wait until the server has saved everything. A deterministic
 * client takes part in no more rounds after it. Returns false after timeout_ms.
 */
bool ps_client_flush(struct ps_client *client, int timeout_ms);

/* ps_client_is_flushed -- the server has saved everything that was added. */
bool ps_client_is_flushed(const struct ps_client *client);

/* ps_client_has_pending -- something was added that the next push would give a number. */
bool ps_client_has_pending(const struct ps_client *client);

/*
 * ps_client_pack, ps_client_unpack -- all that a client needs to go on as this one after its
 * process has died: what it sends then, the server knows for what it has already, if nothing
 * was sent that was not packed before.
 *   unpack  into a client that nothing was added to, not deterministic
 * unpack returns 0 or ERR_FORMAT.
 */
void ps_client_pack(const struct ps_client *client, struct pack *pack);
int ps_client_unpack(struct ps_client *client, struct pack *pack);

/* ps_client_has_changed -- the model of a function has, in the last exchange. */
bool ps_client_has_changed(const struct ps_client *client, uint32_t function);

/* ps_client_model -- the last merged sketch of a function, or NULL; until the next exchange. */
const struct sketch *ps_client_model(const struct ps_client *client, uint32_t function);

/*
 * ps_client_unsent -- merge what was added of a function and the server has not received yet.
 *   sketch  out: merged into
 */
void ps_client_unsent(const struct ps_client *client, uint32_t function, struct sketch *sketch);

/* ps_client_is_frozen -- the server has said that its models do not change. */
bool ps_client_is_frozen(const struct ps_client *client);

/* ps_client_index -- the server's number of a function, the same for all clients of one life of
 * the server and of those that go on from its snapshots; or PS_NO_INDEX if not known yet. */
uint32_t ps_client_index(const struct ps_client *client, uint32_t function);

void ps_client_counts(const struct ps_client *client, struct ps_client_counts *counts);

#endif
