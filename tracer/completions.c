/* Statuses are looked at only where a message of ours ends. Where there is no memory for more
 * than few of them nothing is known of any. */
#include "completions.h"

#include "files.h"
#include "memory.h"
#include "recorder.h"
#include "windows.h"

#include <stdlib.h>

static void *room(struct batch *b, int which, void *few, size_t width)
{
    if (b->n <= FEW)
        return few;
    b->allocated[which] = memory_resize(NULL, (size_t)b->n, width);
    return b->allocated[which];
}

void batch_take(struct batch *b, int n, struct request_list requests)
{
    b->n = n;
    b->allocated[0] = b->allocated[1] = b->allocated[2] = NULL;
    b->request = room(b, 0, b->few_requests, sizeof *b->request);
    b->is_taken = room(b, 1, b->few_taken, sizeof *b->is_taken);
    if (b->request == NULL || b->is_taken == NULL)
        b->n = 0;
    for (int i = 0; i < b->n; i++)
        b->is_taken[i] = request_take(request_key(requests, i), &b->request[i]);
}

void *batch_statuses(struct batch *b, void *statuses, bool is_ignored)
{
    void *own;

    if (!is_ignored || b->n == 0)
        return statuses;
    own = room(b, 2, b->few_statuses, sizeof *b->few_statuses);
    if (own)
        return own;
    batch_return(b);
    b->n = 0;
    return statuses;
}

void batch_return(struct batch *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->is_taken[i])
            request_put(&b->request[i]);
    for (int i = 0; i < 3; i++) {
        memory_free(b->allocated[i]);
        b->allocated[i] = NULL;
    }
}

static void record_completion(const struct open_request *r, const MPI_Status *status,
                              uint64_t time_ns)
{
    int is_cancelled = 0;

    if (r->is_cancel_asked)
        PMPI_Test_cancelled(status, &is_cancelled);
    if (is_cancelled)
        record_request(RECORD_CANCELLED, r->id, time_ns);
    else if (r->kind == REQUEST_SEND)
        record_request(RECORD_ISEND_COMPLETE, r->id, time_ns);
    else if (r->kind == REQUEST_TRANSFER)
        transfer_complete(r, time_ns);
    else if (r->kind == REQUEST_IO)
        io_complete(r, status, time_ns);
    else if (r->kind == REQUEST_COLLECTIVE)
        record_icollective(&(struct collective_record){r->communicator, r->operation, r->root,
                                                       r->bytes, r->received_bytes, r->id},
                           time_ns);
    else if (status->MPI_SOURCE >= 0)
        record_message(RECORD_IRECV,
                       &(struct message_record){r->communicator, (uint32_t)status->MPI_SOURCE,
                                                (uint32_t)status->MPI_TAG,
                                                bytes_received(status), r->id},
                       time_ns);
}

void batch_complete(struct batch *b, struct call *call, int i, const MPI_Status *status)
{
    struct open_request *r = &b->request[i];

    if (i < 0 || i >= b->n || !b->is_taken[i])
        return;
    if (r->kind != REQUEST_SILENT && r->is_active)
        record_completion(r, status, call_returned(call));
    r->is_active = false;
    r->is_cancel_asked = false;
    b->is_taken[i] = r->is_persistent;
}

void batch_complete_all(struct batch *b, struct call *call, struct status_list statuses)
{
    MPI_Status own;

    for (int i = 0; i < b->n; i++)
        if (b->is_taken[i])
            batch_complete(b, call, i, status_at(statuses, i, &own));
}

void batch_complete_some(struct batch *b, struct call *call, int n, struct index_list index,
                         struct status_list statuses)
{
    MPI_Status own;

    /* n may be MPI_UNDEFINED, which is negative; where nothing is known statuses are ignored */
    for (int i = 0; i < n && b->n > 0; i++)
        batch_complete(b, call, index_at(index, i), status_at(statuses, i, &own));
}

void request_cancelled(struct request_list request)
{
    struct open_request r;

    if (!request_take(request_key(request, 0), &r))
        return;
    r.is_cancel_asked = true;
    request_put(&r);
}

void request_forgotten(struct request_list request)
{
    struct open_request r;

    (void)request_take(request_key(request, 0), &r);
}
