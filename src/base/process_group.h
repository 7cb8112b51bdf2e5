/*
 * process_group -- processes that do one thing together, on one node or many. Number 0 gathers
 * what the others have done and says what went wrong with any of them.
 *
 * They send each other bytes, as they are in memory: that is right because all of them are the
 * same program, which joining makes sure of. How the bytes get there is a library's, loaded
 * when it is asked for (process_group_transport.h). A message needs no name: what one process
 * sends to another arrives in order, and both know what comes next.
 *
 *     process_group_join(&group, library, task);
 *     rc = process_group_agree(group, rc);              all have done it, or none goes on
 *     process_group_broadcast(group, &x, sizeof x);     from number 0
 *     process_group_send(group, 0, data, bytes);        number 0 calls process_group_receive
 *     process_group_leave(group);
 *
 * A process group is used by one thread at a time. A process that dies takes all others with
 * it: that is the launcher's to do.
 */
#ifndef SNAG_BASE_PROCESS_GROUP_H
#define SNAG_BASE_PROCESS_GROUP_H

#include "base/pack.h"

#include <stddef.h>
#include <stdint.h>

struct process_group;

/* What one process has sent, and needed. */
struct process_group_tally {
    uint64_t n_sent, sent_bytes;
    uint64_t peak_bytes; /* of memory */
};

/*
 * process_group_join -- become one of the processes that the launcher has started.
 *   library  of a process_group_transport
 *   task     a number of what is to be done: the same for all
 * Returns 0, ERR_UNSUPPORTED when the library cannot be loaded, or ERR_USAGE when another
 * process is another build of the program, or has another task; leave in any case.
 */
int process_group_join(struct process_group **process_group, const char *library,
                       uint64_t task);

/* process_group_leave -- waits until all leave. NULL is harmless. */
void process_group_leave(struct process_group *process_group);

/* process_group_size, process_group_me -- how many processes there are, and which one this is;
 * 1 and 0 of NULL.
 */
unsigned process_group_size(const struct process_group *process_group);
unsigned process_group_me(const struct process_group *process_group);

/* process_group_host -- the node that a process runs on. */
const char *process_group_host(const struct process_group *process_group, unsigned process);

/*
 * process_group_share -- processes on the node of this one, itself included, and processors
 * that at least one of them may run on.
 */
void process_group_share(const struct process_group *process_group, unsigned *n_processes,
                         unsigned *n_processors);

/* process_group_inherit -- the others have ended, or will soon: this one may run wherever those
 * on its node could. For threads that are started after it. */
void process_group_inherit(const struct process_group *process_group);

/* process_group_send, process_group_receive -- bytes, the number of which both know. 0 bytes
 * are not sent. */
void process_group_send(struct process_group *process_group, unsigned to, const void *data,
                        size_t bytes);
void process_group_receive(struct process_group *process_group, unsigned from, void *data,
                           size_t bytes);

/* process_group_send_pack, process_group_receive_pack -- a pack of any size; what is received
 * is a reader's, its data to free(). */
void process_group_send_pack(struct process_group *process_group, unsigned to,
                             const struct pack *pack);
void process_group_receive_pack(struct process_group *process_group, unsigned from,
                                struct pack *pack);

/* process_group_swap -- send to one and receive from it; it does the same with this one. */
void process_group_swap(struct process_group *process_group, unsigned with, const void *out,
                        size_t out_bytes, void *in, size_t in_bytes);

/*
 * process_group_partner -- with whom to swap in round 0 .. process_group_size - 1, so that in
 * the end each has with each other one: nobody waits in a circle. This process itself: with
 * nobody.
 */
unsigned process_group_partner(const struct process_group *process_group, unsigned round);

/* process_group_broadcast -- what number 0 has in data is in everybody's then. All must call
 * it; nothing of NULL. */
void process_group_broadcast(struct process_group *process_group, void *data, size_t bytes);

/* process_group_broadcast_pack -- the same of a pack of any size; what is received is a
 * reader's, its data to free(). */
void process_group_broadcast_pack(struct process_group *process_group, struct pack *pack);

/*
 * process_group_agree -- whether all have done well. All must call it.
 *   rc  0, or a negative ERR_* that was set
 * Returns 0 if it was 0 for all, rc where process group is NULL; else the code of the first
 * process that failed, whose message, with its number and host, is now that of number 0.
 */
int process_group_agree(struct process_group *process_group, int rc);

/* process_group_blame -- make an error one of process `process` of `size`, on `host`. Returns
 * rc. */
int process_group_blame(unsigned process, unsigned size, const char *host, int rc,
                        const char *message);

/* process_group_tally -- of this process, until now. */
struct process_group_tally process_group_tally(const struct process_group *process_group);

#endif
