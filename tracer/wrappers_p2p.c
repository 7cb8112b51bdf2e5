/*
 * Messages, blocking and not, and how non-blocking ones start; their completion is in
 * wrappers_requests.c.
 *
 * The sender of a message is known when its receive is complete: MPI_ANY_SOURCE and
 * MPI_ANY_TAG are resolved from the status. MPI_PROC_NULL makes no message.
 */
#include "communicator_handles.h"
#include "open_requests.h"
#include "recorder.h"
#include "wrap.h"

/* A message as the program describes it. */
struct envelope {
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void record_sent(const struct call *call, const struct envelope *e)
{
    uint32_t id;

    if (!call->is_recorded || e->peer < 0) /* MPI_PROC_NULL, or a mistake */
        return;
    id = communicator_id(e->comm);
    if (id == COMMUNICATOR_NONE)
        return;
    record_message(RECORD_SEND,
                   &(struct message){.communicator = id,
                                     .peer = (uint32_t)e->peer,
                                     .tag = (uint32_t)e->tag,
                                     .bytes = bytes_of(e->count, e->type)},
                   call->begin_ns);
}

static void record_received(struct call *call, const MPI_Status *status, MPI_Comm comm)
{
    uint32_t id;

    if (!call->is_recorded || status->MPI_SOURCE < 0)
        return;
    id = communicator_id(comm);
    if (id == COMMUNICATOR_NONE)
        return;
    record_message(RECORD_RECV,
                   &(struct message){.communicator = id,
                                     .peer = (uint32_t)status->MPI_SOURCE,
                                     .tag = (uint32_t)status->MPI_TAG,
                                     .bytes = bytes_received(status)},
                   call_returned(call));
}

/* ----------------------------------------------------------------------------- blocking */

static int blocking_send(enum mpi_call which, send_fn *pmpi, const void *buf,
                         const struct envelope *e)
{
    struct call call = call_begin(which);
    int rc;

    record_sent(&call, e);
    rc = pmpi(buf, e->count, e->type, e->peer, e->tag, e->comm);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                      MPI_Comm comm)
{
    return blocking_send(CALL_Send, PMPI_Send, buf,
                         &(struct envelope){count, type, dest, tag, comm});
}

EXPORTED int MPI_Ssend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm)
{
    return blocking_send(CALL_Ssend, PMPI_Ssend, buf,
                         &(struct envelope){count, type, dest, tag, comm});
}

EXPORTED int MPI_Rsend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm)
{
    return blocking_send(CALL_Rsend, PMPI_Rsend, buf,
                         &(struct envelope){count, type, dest, tag, comm});
}

EXPORTED int MPI_Bsend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm)
{
    return blocking_send(CALL_Bsend, PMPI_Bsend, buf,
                         &(struct envelope){count, type, dest, tag, comm});
}

EXPORTED int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag,
                      MPI_Comm comm, MPI_Status *status)
{
    struct call call = call_begin(CALL_Recv);
    MPI_Status own;
    int rc;

    if (status == MPI_STATUS_IGNORE)
        status = &own;
    rc = PMPI_Recv(buf, count, type, source, tag, comm, status);
    if (rc == MPI_SUCCESS)
        record_received(&call, status, comm);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                          int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                          int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct call call = call_begin(CALL_Sendrecv);
    MPI_Status own;
    int rc;

    if (status == MPI_STATUS_IGNORE)
        status = &own;
    record_sent(&call, &(struct envelope){sendcount, sendtype, dest, sendtag, comm});
    rc = PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                       recvtype, source, recvtag, comm, status);
    if (rc == MPI_SUCCESS)
        record_received(&call, status, comm);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest,
                                  int sendtag, int source, int recvtag, MPI_Comm comm,
                                  MPI_Status *status)
{
    struct call call = call_begin(CALL_Sendrecv_replace);
    MPI_Status own;
    int rc;

    if (status == MPI_STATUS_IGNORE)
        status = &own;
    record_sent(&call, &(struct envelope){count, type, dest, sendtag, comm});
    rc = PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);
    if (rc == MPI_SUCCESS)
        record_received(&call, status, comm);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct call call = call_begin(CALL_Probe);
    int rc = PMPI_Probe(source, tag, comm, status);

    call_end(&call);
    return rc;
}

EXPORTED int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct call call = call_begin(CALL_Iprobe);
    int rc = PMPI_Iprobe(source, tag, comm, flag, status);

    call_end(&call);
    return rc;
}

/* ------------------------------------------------------------------------- non-blocking */

/* The entry of a request that is about to be made. */
static struct open_request new_request(enum request_kind kind, const struct envelope *e)
{
    struct open_request r = {.kind = kind, .communicator = communicator_id(e->comm)};

    if (e->peer == MPI_PROC_NULL || r.communicator == COMMUNICATOR_NONE) {
        r.kind = REQUEST_SILENT;
        return r;
    }
    if (kind == REQUEST_SEND) {
        r.peer = (uint32_t)e->peer;
        r.tag = (uint32_t)e->tag;
        r.bytes = bytes_of(e->count, e->type);
    }
    return r;
}

static void record_start(struct open_request *r, uint64_t time_ns)
{
    r->is_active = true;
    if (r->kind == REQUEST_SILENT)
        return;
    r->id = request_id();
    if (r->kind == REQUEST_RECV)
        record_request(RECORD_IRECV_REQUEST, r->id, time_ns);
    else
        record_message(RECORD_ISEND,
                       &(struct message){r->communicator, r->peer, r->tag, r->bytes, r->id},
                       time_ns);
}

static int start_send(enum mpi_call which, isend_fn *pmpi, const void *buf,
                      const struct envelope *e, MPI_Request *request)
{
    struct call call = call_begin(which);
    struct open_request r;
    int rc;

    if (call.is_recorded) {
        r = new_request(REQUEST_SEND, e);
        record_start(&r, call.begin_ns);
    }
    rc = pmpi(buf, e->count, e->type, e->peer, e->tag, e->comm, request);
    if (call.is_recorded && rc == MPI_SUCCESS)
        request_put(&r, *request, request);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    return start_send(CALL_Isend, PMPI_Isend, buf,
                      &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm, MPI_Request *request)
{
    return start_send(CALL_Issend, PMPI_Issend, buf,
                      &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Irsend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm, MPI_Request *request)
{
    return start_send(CALL_Irsend, PMPI_Irsend, buf,
                      &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Ibsend(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                        MPI_Comm comm, MPI_Request *request)
{
    return start_send(CALL_Ibsend, PMPI_Ibsend, buf,
                      &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    struct call call = call_begin(CALL_Irecv);
    struct open_request r;
    int rc;

    if (call.is_recorded) {
        r = new_request(REQUEST_RECV, &(struct envelope){count, type, source, tag, comm});
        record_start(&r, call.begin_ns);
    }
    rc = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    if (call.is_recorded && rc == MPI_SUCCESS)
        request_put(&r, *request, request);
    call_end(&call);
    return rc;
}

/* --------------------------------------------------------------------------- persistent */

static int init_send(enum mpi_call which, isend_fn *pmpi, const void *buf,
                     const struct envelope *e, MPI_Request *request)
{
    struct call call = call_begin(which);
    int rc = pmpi(buf, e->count, e->type, e->peer, e->tag, e->comm, request);

    if (call.is_recorded && rc == MPI_SUCCESS) {
        struct open_request r = new_request(REQUEST_SEND, e);

        r.is_persistent = true;
        request_put(&r, *request, request);
    }
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Send_init(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                           MPI_Comm comm, MPI_Request *request)
{
    return init_send(CALL_Send_init, PMPI_Send_init, buf,
                     &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Ssend_init(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                            MPI_Comm comm, MPI_Request *request)
{
    return init_send(CALL_Ssend_init, PMPI_Ssend_init, buf,
                     &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Rsend_init(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                            MPI_Comm comm, MPI_Request *request)
{
    return init_send(CALL_Rsend_init, PMPI_Rsend_init, buf,
                     &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Bsend_init(const void *buf, int count, MPI_Datatype type, int dest, int tag,
                            MPI_Comm comm, MPI_Request *request)
{
    return init_send(CALL_Bsend_init, PMPI_Bsend_init, buf,
                     &(struct envelope){count, type, dest, tag, comm}, request);
}

EXPORTED int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag,
                           MPI_Comm comm, MPI_Request *request)
{
    struct call call = call_begin(CALL_Recv_init);
    int rc = PMPI_Recv_init(buf, count, type, source, tag, comm, request);

    if (call.is_recorded && rc == MPI_SUCCESS) {
        struct open_request r =
            new_request(REQUEST_RECV, &(struct envelope){count, type, source, tag, comm});

        r.is_persistent = true;
        request_put(&r, *request, request);
    }
    call_end(&call);
    return rc;
}

/* A persistent request starts: it is a new message each time. */
static void restart(const struct call *call, const MPI_Request *request)
{
    struct open_request r;

    if (!call->is_recorded || !request_take(request, &r))
        return;
    if (r.is_persistent && !r.is_active)
        record_start(&r, call->begin_ns);
    request_put_back(&r);
}

EXPORTED int MPI_Start(MPI_Request *request)
{
    struct call call = call_begin(CALL_Start);
    int rc;

    restart(&call, request);
    rc = PMPI_Start(request);
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Startall(int count, MPI_Request requests[])
{
    struct call call = call_begin(CALL_Startall);
    int rc;

    for (int i = 0; i < count; i++)
        restart(&call, &requests[i]);
    rc = PMPI_Startall(count, requests);
    call_end(&call);
    return rc;
}
