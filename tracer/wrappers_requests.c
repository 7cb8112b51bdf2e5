/*
 * How non-blocking messages end. A wrapper takes what is known of its requests before it calls
 * MPI and afterwards records those that are complete and puts back the others: see
 * open_requests.h.
 *
 * What MPI_Test and its like find incomplete leaves no record but the call.
 */
#include "complain.h"
#include "open_requests.h"
#include "recorder.h"
#include "wrap.h"

#include <stdlib.h>

#define FEW 32 /* requests for which nothing is allocated */

/* The requests of one call. */
struct batch {
    int n;
    struct open_request *request; /* [n] */
    bool *is_taken;               /* [n] */
    MPI_Status *status;           /* [n]; the program's own unless it ignores them */
    void *allocated[3];
    struct open_request few_requests[FEW];
    bool few_taken[FEW];
    MPI_Status few_statuses[FEW];
};

static void *room(struct batch *b, int which, void *few, size_t width)
{
    if (b->n <= FEW)
        return few;
    b->allocated[which] = must_resize(NULL, (size_t)b->n, width);
    return b->allocated[which];
}

/* Take the n requests; statuses are the program's, which may ignore them. */
static void batch_take(struct batch *b, int n, const MPI_Request requests[],
                       MPI_Status *statuses)
{
    b->n = n;
    b->allocated[0] = b->allocated[1] = b->allocated[2] = NULL;
    b->request = room(b, 0, b->few_requests, sizeof *b->request);
    b->is_taken = room(b, 1, b->few_taken, sizeof *b->is_taken);
    b->status = statuses;
    if (statuses == MPI_STATUSES_IGNORE)
        b->status = room(b, 2, b->few_statuses, sizeof *b->status);
    for (int i = 0; i < n; i++)
        b->is_taken[i] = request_take(&requests[i], &b->request[i]);
}

/* Put back what was not completed. */
static void batch_return(struct batch *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->is_taken[i])
            request_put_back(&b->request[i]);
    for (int i = 0; i < 3; i++)
        free(b->allocated[i]);
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
    else if (status->MPI_SOURCE >= 0)
        record_message(RECORD_IRECV,
                       &(struct message){r->communicator, (uint32_t)status->MPI_SOURCE,
                                         (uint32_t)status->MPI_TAG, bytes_received(status),
                                         r->id},
                       time_ns);
}

/* Request i is complete. A persistent one stays known, and can be started again. */
static void batch_complete(struct batch *b, int i, const MPI_Status *status, uint64_t time_ns)
{
    struct open_request *r = &b->request[i];

    if (!b->is_taken[i])
        return;
    if (r->kind != REQUEST_SILENT && r->is_active)
        record_completion(r, status, time_ns);
    r->is_active = false;
    r->is_cancel_asked = false;
    b->is_taken[i] = r->is_persistent;
}

static void batch_complete_all(struct batch *b, uint64_t time_ns)
{
    for (int i = 0; i < b->n; i++)
        batch_complete(b, i, &b->status[i], time_ns);
}

/* Those of the given indices are complete; their statuses come one after the other. */
static void batch_complete_some(struct batch *b, int n, const int index[], uint64_t time_ns)
{
    for (int i = 0; i < n; i++) /* n may be MPI_UNDEFINED, which is negative */
        batch_complete(b, index[i], &b->status[i], time_ns);
}

/* ---------------------------------------------------------------------------------- wait */

EXPORTED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct call call = call_begin(CALL_Wait);
    struct batch b;
    int rc;

    if (!call.is_recorded)
        return PMPI_Wait(request, status);
    batch_take(&b, 1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
    rc = PMPI_Wait(request, b.status);
    if (rc == MPI_SUCCESS)
        batch_complete_all(&b, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    struct call call = call_begin(CALL_Waitall);
    struct batch b;
    int rc;

    if (!call.is_recorded)
        return PMPI_Waitall(count, requests, statuses);
    batch_take(&b, count, requests, statuses);
    rc = PMPI_Waitall(count, requests, b.status);
    if (rc == MPI_SUCCESS)
        batch_complete_all(&b, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct call call = call_begin(CALL_Waitany);
    struct batch b;
    MPI_Status own;
    int rc;

    if (!call.is_recorded)
        return PMPI_Waitany(count, requests, index, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    batch_take(&b, count, requests, MPI_STATUSES_IGNORE);
    rc = PMPI_Waitany(count, requests, index, status);
    if (rc == MPI_SUCCESS && *index != MPI_UNDEFINED)
        batch_complete(&b, *index, status, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                          MPI_Status statuses[])
{
    struct call call = call_begin(CALL_Waitsome);
    struct batch b;
    int rc;

    if (!call.is_recorded)
        return PMPI_Waitsome(incount, requests, outcount, indices, statuses);
    batch_take(&b, incount, requests, statuses);
    rc = PMPI_Waitsome(incount, requests, outcount, indices, b.status);
    if (rc == MPI_SUCCESS)
        batch_complete_some(&b, *outcount, indices, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

/* ---------------------------------------------------------------------------------- test */

EXPORTED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct call call = call_begin(CALL_Test);
    struct batch b;
    int rc;

    if (!call.is_recorded)
        return PMPI_Test(request, flag, status);
    batch_take(&b, 1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
    rc = PMPI_Test(request, flag, b.status);
    if (rc == MPI_SUCCESS && *flag)
        batch_complete_all(&b, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct call call = call_begin(CALL_Testall);
    struct batch b;
    int rc;

    if (!call.is_recorded)
        return PMPI_Testall(count, requests, flag, statuses);
    batch_take(&b, count, requests, statuses);
    rc = PMPI_Testall(count, requests, flag, b.status);
    if (rc == MPI_SUCCESS && *flag)
        batch_complete_all(&b, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                         MPI_Status *status)
{
    struct call call = call_begin(CALL_Testany);
    struct batch b;
    MPI_Status own;
    int rc;

    if (!call.is_recorded)
        return PMPI_Testany(count, requests, index, flag, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    batch_take(&b, count, requests, MPI_STATUSES_IGNORE);
    rc = PMPI_Testany(count, requests, index, flag, status);
    if (rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED)
        batch_complete(&b, *index, status, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                          MPI_Status statuses[])
{
    struct call call = call_begin(CALL_Testsome);
    struct batch b;
    int rc;

    if (!call.is_recorded)
        return PMPI_Testsome(incount, requests, outcount, indices, statuses);
    batch_take(&b, incount, requests, statuses);
    rc = PMPI_Testsome(incount, requests, outcount, indices, b.status);
    if (rc == MPI_SUCCESS)
        batch_complete_some(&b, *outcount, indices, call_returned(&call));
    batch_return(&b);
    call_end(&call);
    return rc;
}

/* ------------------------------------------------------------------------ cancel and free */

EXPORTED int MPI_Cancel(MPI_Request *request)
{
    struct call call = call_begin(CALL_Cancel);
    struct open_request r;
    int rc;

    if (call.is_recorded && request_take(request, &r)) {
        r.is_cancel_asked = true;
        request_put_back(&r);
    }
    rc = PMPI_Cancel(request);
    call_end(&call);
    return rc;
}

/* Whether a request that is freed before it is complete ever completes nobody can see. */
EXPORTED int MPI_Request_free(MPI_Request *request)
{
    struct call call = call_begin(CALL_Request_free);
    struct open_request r;
    int rc;

    if (call.is_recorded)
        (void)request_take(request, &r);
    rc = PMPI_Request_free(request);
    call_end(&call);
    return rc;
}
