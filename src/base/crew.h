/*
 * crew -- processes that do one thing together, on one node or many. Number 0 gathers what the
 * others have done and says what went wrong with any of them.
 *
 * They send each other bytes, as they are in memory: that is right because all of them are the
 * same program, which joining makes sure of. How the bytes get there is a library's, loaded
 * when it is asked for (crew_transport.h). A message needs no name: what one process sends to
 * another arrives in order, and both know what comes next.
 *
 *     crew_join(&crew, library, task);
 *     rc = crew_agree(crew, rc);              all have done it, or none goes on
 *     crew_broadcast(crew, &x, sizeof x);     from number 0
 *     crew_send(crew, 0, data, bytes);        number 0 calls crew_receive
 *     crew_leave(crew);
 *
 * A crew is used by one thread at a time. A process that dies takes all others with it: that is
 * the launcher's to do.
 */
#ifndef SNAG_BASE_CREW_H
#define SNAG_BASE_CREW_H

#include "base/pack.h"

#include <stddef.h>
#include <stdint.h>

struct crew;

/* What one process has sent, and needed. */
struct crew_tally {
    uint64_t n_sent, sent_bytes;
    uint64_t peak_bytes; /* of memory */
};

/*
 * crew_join -- become one of the processes that the launcher has started.
 *   library  of a crew_transport
 *   task     a number of what is to be done: the same for all
 * Returns 0, ERR_UNSUPPORTED when the library cannot be loaded, or ERR_USAGE when another
 * process is another build of the program, or has another task; leave in any case.
 */
int crew_join(struct crew **crew, const char *library, uint64_t task);

/* crew_leave -- waits until all leave. NULL is harmless. */
void crew_leave(struct crew *crew);

/* crew_size, crew_me -- how many processes there are, and which one this is; 1 and 0 of NULL.
 */
unsigned crew_size(const struct crew *crew);
unsigned crew_me(const struct crew *crew);

/* crew_host -- the node that a process runs on. */
const char *crew_host(const struct crew *crew, unsigned process);

/*
 * crew_share -- processes on the node of this one, itself included, and processors that at
 * least one of them may run on.
 */
void crew_share(const struct crew *crew, unsigned *n_processes, unsigned *n_processors);

/* crew_inherit -- the others have ended, or will soon: this one may run wherever those on its
 * node could. For threads that are started after it. */
void crew_inherit(const struct crew *crew);

/* crew_send, crew_receive -- bytes, the number of which both know. 0 bytes are not sent. */
void crew_send(struct crew *crew, unsigned to, const void *data, size_t bytes);
void crew_receive(struct crew *crew, unsigned from, void *data, size_t bytes);

/* crew_send_pack, crew_receive_pack -- a pack of any size; what is received is a reader's, its
 * data to free(). */
void crew_send_pack(struct crew *crew, unsigned to, const struct pack *pack);
void crew_receive_pack(struct crew *crew, unsigned from, struct pack *pack);

/* crew_swap -- send to one and receive from it; it does the same with this one. */
void crew_swap(struct crew *crew, unsigned with, const void *out, size_t out_bytes, void *in,
               size_t in_bytes);

/*
 * crew_partner -- with whom to swap in round 0 .. crew_size - 1, so that in the end each has
 * with each other one: nobody waits in a circle. This process itself: with nobody.
 */
unsigned crew_partner(const struct crew *crew, unsigned round);

/* crew_broadcast -- what number 0 has in data is in everybody's then. All must call it; nothing
 * of NULL. */
void crew_broadcast(struct crew *crew, void *data, size_t bytes);

/* crew_broadcast_pack -- the same of a pack of any size; what is received is a reader's, its
 * data to free(). */
void crew_broadcast_pack(struct crew *crew, struct pack *pack);

/*
 * crew_agree -- whether all have done well. All must call it.
 *   rc  0, or a negative ERR_* that was set
 * Returns 0 if it was 0 for all, rc where crew is NULL; else the code of the first process that
 * failed, whose message, with its number and host, is now that of number 0.
 */
int crew_agree(struct crew *crew, int rc);

/* crew_blame -- make an error one of process `process` of `size`, on `host`. Returns rc. */
int crew_blame(unsigned process, unsigned size, const char *host, int rc, const char *message);

/* crew_tally -- of this process, until now. */
struct crew_tally crew_tally(const struct crew *crew);

#endif
