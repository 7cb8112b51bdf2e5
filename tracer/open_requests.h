/*
 * open_requests -- what is known of each MPI_Request that has not been completed, and of each
 * MPI_Message that was matched by a probe and not received.
 *
 * A completion says neither what was started nor in which communicator, so that is kept from
 * the start to the end. A wrapper takes the entries of its requests before it calls MPI, and
 * afterwards puts back those that are not complete: meanwhile another thread may be given the
 * same handle for a new request, and must not find the old one.
 *
 * Handles are not unique. Open MPI gives every small send that is complete at once the same
 * one. Among entries of one handle, that whose request variable is the one at hand is meant,
 * else the oldest. Either is found in constant time, however many there are.
 */
#ifndef SNAG_TRACER_OPEN_REQUESTS_H
#define SNAG_TRACER_OPEN_REQUESTS_H

#include "mpi_handles.h"

#include <stdbool.h>
#include <stdint.h>

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_COLLECTIVE,
    REQUEST_TRANSFER, /* MPI_Rput, say */
    REQUEST_IO,       /* of a file */
    REQUEST_SILENT,   /* leaves no records: MPI_PROC_NULL, a communicator we do not know, ... */
};

struct open_request {
    enum request_kind kind;
    uint64_t id;           /* unique in the process; anew each time a persistent one starts */
    uint32_t communicator; /* local id */
    bool is_persistent;
    bool is_active;            /* started and not completed */
    bool is_cancel_asked;      /* MPI_Cancel was called for it */
    uint32_t peer, tag;        /* of a persistent send */
    uint64_t bytes;            /* of a persistent send, or sent in a collective */
    uint32_t operation, root;  /* of a collective */
    uint64_t received_bytes;   /* of a collective */
    struct mpi_window *window; /* of a transfer; of windows.h */
    uint32_t object;           /* of a file's operation: the handle, of objects.h */
    struct handle_key key;
};

/* request_id -- an id that no other request of this process has. Thread-safe. */
uint64_t request_id(void);

/* request_put -- remember a copy of r under r->key. Thread-safe. */
void request_put(const struct open_request *r);

/* request_take -- find the request and forget it; false if it is none of ours. Thread-safe. */
bool request_take(struct handle_key key, struct open_request *r);

#endif
