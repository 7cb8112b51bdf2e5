/*
 * ps_relay -- letters among the instances of a job, which a parameter server passes on.
 *
 * An instance that needs to know what a rank of another one did asks the server, which knows
 * who reads that rank, keeps the question until that one comes by, and its answer until the
 * first one does. Nobody is called: who talks to the server takes what there is for him along.
 *
 *     instance of rank 0 --question--> [mail of rank 3] --> instance of rank 3
 *                        <-- [mail of rank 0] <--answer--
 *
 * What is in a letter, the server does not look at. It keeps a bounded number of them, in
 * memory only: who asks gives up by itself after a while (live/partners.h).
 */
#ifndef SNAG_PS_PS_RELAY_H
#define SNAG_PS_PS_RELAY_H

#include "ps/ps_wire.h"

#define PS_RELAY_SILENT_MS 10000u          /* then an instance is taken for dead */
#define PS_RELAY_MAX_INSTANCES 1000000u    /* in the life of a server */
#define PS_RELAY_MAX_MAIL_BYTES (4u << 20) /* bytes of letters that wait for one instance, */
#define PS_RELAY_MAX_BYTES (256u << 20)    /* and for all together */

struct ps_relay;

struct ps_relay_counts {
    uint64_t n_questions, n_answers; /* that were passed on */
    uint64_t n_undelivered;          /* questions: nobody is there, or too many wait */
};

struct ps_relay *ps_relay_new(void);
void ps_relay_free(struct ps_relay *relay);

/*
 * ps_relay_pass -- take what an instance says, and write what there is for it, as a frame.
 *   said    letters as they were read
 *   epoch   life of the server
 *   now_ms  of a clock that never goes back; threads may come in another order than they looked
 * Returns false, and writes nothing, when there are too many instances. Thread-safe.
 * O(letters), of an instance that is over O(instances).
 */
bool ps_relay_pass(struct ps_relay *relay, const struct ps_letters *said, uint64_t epoch,
                   uint64_t now_ms, struct pack *out);

void ps_relay_counts(struct ps_relay *relay, struct ps_relay_counts *counts);

#endif
