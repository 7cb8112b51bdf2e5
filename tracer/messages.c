/* What the headers say; a message that MPI found first is kept among the open requests. */
#include "messages.h"

#include "communicator_handles.h"
#include "recorder.h"

/* ----------------------------------------------------------------------------- blocking */

void message_sent(const struct call *call, int count, MPI_Datatype type, int dest, int tag,
                  MPI_Comm comm)
{
    uint32_t id;

    if (dest < 0) /* MPI_PROC_NULL, or a mistake */
        return;
    id = communicator_id(comm);
    if (id == COMMUNICATOR_NONE)
        return;
    record_message(RECORD_SEND,
                   &(struct message_record){.communicator = id,
                                            .peer = (uint32_t)dest,
                                            .tag = (uint32_t)tag,
                                            .bytes = bytes_of(count, type)},
                   call->begin_ns);
}

static void record_received(struct call *call, const MPI_Status *status, uint32_t communicator)
{
    if (communicator == COMMUNICATOR_NONE || status->MPI_SOURCE < 0)
        return;
    record_message(RECORD_RECV,
                   &(struct message_record){.communicator = communicator,
                                            .peer = (uint32_t)status->MPI_SOURCE,
                                            .tag = (uint32_t)status->MPI_TAG,
                                            .bytes = bytes_received(status)},
                   call_returned(call));
}

void message_received(struct call *call, const MPI_Status *status, MPI_Comm comm)
{
    record_received(call, status, communicator_id(comm));
}

/* ------------------------------------------------------------------------- non-blocking */

/* A request that is about to be made. */
static struct open_request new_request(enum request_kind kind, int peer, uint32_t communicator)
{
    bool is_silent = peer == MPI_PROC_NULL || communicator == COMMUNICATOR_NONE;

    return (struct open_request){.kind = is_silent ? REQUEST_SILENT : kind,
                                 .communicator = communicator};
}

static struct open_request new_send(int count, MPI_Datatype type, int dest, int tag,
                                    MPI_Comm comm)
{
    struct open_request r = new_request(REQUEST_SEND, dest, communicator_id(comm));

    r.peer = (uint32_t)dest;
    r.tag = (uint32_t)tag;
    r.bytes = bytes_of(count, type);
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
        record_message(
            RECORD_ISEND,
            &(struct message_record){r->communicator, r->peer, r->tag, r->bytes, r->id},
            time_ns);
}

void send_starts(struct open_request *r, const struct call *call, int count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm)
{
    *r = new_send(count, type, dest, tag, comm);
    record_start(r, call->begin_ns);
}

void receive_starts(struct open_request *r, const struct call *call, int source, MPI_Comm comm)
{
    *r = new_request(REQUEST_RECV, source, communicator_id(comm));
    record_start(r, call->begin_ns);
}

void request_opened(struct open_request *r, struct request_list request)
{
    r->key = request_key(request, 0);
    request_put(r);
}

void request_opened_silent(struct request_list request)
{
    request_opened(&(struct open_request){.kind = REQUEST_SILENT, .is_active = true}, request);
}

/* --------------------------------------------------------------------------- persistent */

void send_prepared(struct request_list request, int count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm)
{
    struct open_request r = new_send(count, type, dest, tag, comm);

    r.is_persistent = true;
    request_opened(&r, request);
}

void receive_prepared(struct request_list request, int source, MPI_Comm comm)
{
    struct open_request r = new_request(REQUEST_RECV, source, communicator_id(comm));

    r.is_persistent = true;
    request_opened(&r, request);
}

/* It is a new message each time. */
void requests_start(const struct call *call, int n, struct request_list requests)
{
    struct open_request r;

    for (int i = 0; i < n; i++) {
        if (!request_take(request_key(requests, i), &r))
            continue;
        if (r.is_persistent && !r.is_active)
            record_start(&r, call->begin_ns);
        request_put(&r);
    }
}

/* ------------------------------------------------------------------------------ matched */

void message_matched(struct message_list message, MPI_Comm comm)
{
    request_put(&(struct open_request){.kind = REQUEST_RECV,
                                       .communicator = communicator_id(comm),
                                       .key = message_key(message)});
}

void matched_taken(struct open_request *r, struct message_list message)
{
    if (!request_take(message_key(message), r))
        r->communicator = COMMUNICATOR_NONE;
}

void matched_received(const struct open_request *r, struct call *call, const MPI_Status *status)
{
    record_received(call, status, r->communicator);
}

void matched_starts(struct open_request *r, const struct call *call,
                    struct message_list message)
{
    matched_taken(r, message);
    *r = new_request(REQUEST_RECV, 0, r->communicator);
    record_start(r, call->begin_ns);
}
