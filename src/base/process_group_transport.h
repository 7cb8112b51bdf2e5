/*
 * process_group_transport -- what a library must do that lets processes send bytes to each
 * other. There is one for each MPI (src/mpi/), loaded by base/process_group when it is asked
 * for, and nothing else of MPI is known to the rest of the program.
 */
#ifndef SNAG_BASE_PROCESS_GROUP_TRANSPORT_H
#define SNAG_BASE_PROCESS_GROUP_TRANSPORT_H

#include <stddef.h>

struct process_group_transport {
    const char *name; /* "Open MPI" */

    /*
     * join -- find the others; once in a process. Returns 0, or -1 when calls by one thread
     * after the other are not possible.
     *   size, me  out: how many there are, which one this is
     */
    int (*join)(unsigned *size, unsigned *me);

    /* send, receive -- so many bytes, which both must know, in the order they were sent. Return
     * when that is done; a processor is not kept busy meanwhile. */
    void (*send)(unsigned to, const void *data, size_t bytes);
    void (*receive)(unsigned from, void *data, size_t bytes);

    /* leave -- returns when all have left; nothing may be sent any more. */
    void (*leave)(void);
};

/* The one symbol of such a library. */
#define PROCESS_GROUP_TRANSPORT_SYMBOL "process_group_transport"

#endif
