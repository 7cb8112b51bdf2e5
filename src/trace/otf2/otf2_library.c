/* One callback per kind of record; libotf2 calls them in the order of the file. */
#include "trace/otf2/otf2_library.h"

#include "trace/error_bounds.h"

#define OTF2_RECORD                                                                            \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *events,           \
        OTF2_AttributeList *attributes
#define OTF2_UNUSED (void)location, (void)time, (void)position, (void)attributes

/* Of an enter or leave. */
static void take_attributes(struct otf2_events *r, const OTF2_AttributeList *attributes)
{
    uint64_t earlier_ns = 0, later_ns = 0, most = 0;
    bool has_earlier, has_later;

    uint32_t n = OTF2_AttributeList_GetNumberOfElements(attributes);

    for (uint32_t i = 0; i < n && r->tables->has_arguments; i++) {
        OTF2_AttributeRef attribute;
        OTF2_Type type;
        OTF2_AttributeValue value;

        if (OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value) ==
            OTF2_SUCCESS)
            otf2_events_attribute(r, attribute, type, value);
    }
    if (r->tables->earlier == NO_ATTRIBUTE || n == 0)
        return;
    has_earlier = OTF2_AttributeList_GetUint64(attributes, r->tables->earlier, &earlier_ns) ==
                  OTF2_SUCCESS;
    has_later =
        OTF2_AttributeList_GetUint64(attributes, r->tables->later, &later_ns) == OTF2_SUCCESS;
    if (r->tables->inlined != NO_ATTRIBUTE &&
        OTF2_AttributeList_GetUint64(attributes, r->tables->inlined, &most) == OTF2_SUCCESS)
        error_bounds_join(&r->batch->error_bounds, most);
    if (has_earlier || has_later)
        otf2_events_border(r, earlier_ns, later_ns);
}

static OTF2_CallbackCode on_enter(OTF2_RECORD, OTF2_RegionRef region)
{
    OTF2_UNUSED;
    take_attributes(events, attributes);
    if (((struct otf2_events *)events)->is_annotated)
        otf2_events_annotated(events, time, EVENT_ENTER, region);
    else
        otf2_events_call(events, time, EVENT_ENTER, region);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_RECORD, OTF2_RegionRef region)
{
    OTF2_UNUSED;
    take_attributes(events, attributes);
    if (((struct otf2_events *)events)->is_annotated)
        otf2_events_annotated(events, time, EVENT_LEAVE, region);
    else
        otf2_events_call(events, time, EVENT_LEAVE, region);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_flush(OTF2_RECORD, OTF2_TimeStamp stop)
{
    OTF2_UNUSED;
    otf2_events_flush(events, time, stop);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_send(OTF2_RECORD, uint32_t receiver, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    OTF2_UNUSED;
    otf2_events_send(events, time, &(struct otf2_message){receiver, comm, tag, bytes});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_recv(OTF2_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    OTF2_UNUSED;
    otf2_events_recv(events, time, &(struct otf2_message){sender, comm, tag, bytes});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend(OTF2_RECORD, uint32_t receiver, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_isend(events, time, &(struct otf2_message){receiver, comm, tag, bytes},
                      request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend_complete(OTF2_RECORD, uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_isend_complete(events, time, request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv_request(OTF2_RECORD, uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_irecv_request(events, time, request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv(OTF2_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_irecv(events, time, &(struct otf2_message){sender, comm, tag, bytes}, request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_cancelled(OTF2_RECORD, uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_cancelled(events, request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_collective_begin(OTF2_RECORD)
{
    OTF2_UNUSED;
    otf2_events_collective_begin(events, time);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_collective_end(OTF2_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                           uint32_t root, uint64_t sent_bytes,
                                           uint64_t received_bytes)
{
    OTF2_UNUSED;
    otf2_events_collective_end(
        events, time, &(struct otf2_collective){op, comm, root, sent_bytes, received_bytes});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icollective_request(OTF2_RECORD, uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_icollective_request(events, time, request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icollective_complete(OTF2_RECORD, OTF2_CollectiveOp op,
                                                 OTF2_CommRef comm, uint32_t root,
                                                 uint64_t sent_bytes, uint64_t received_bytes,
                                                 uint64_t request)
{
    OTF2_UNUSED;
    otf2_events_icollective_complete(
        events, time, &(struct otf2_collective){op, comm, root, sent_bytes, received_bytes},
        request);
    return OTF2_CALLBACK_SUCCESS;
}

static void take_parameter(struct otf2_events *r, uint64_t time, OTF2_ParameterRef parameter,
                           OTF2_Type type, uint64_t value)
{
    if (r->wants_arguments)
        otf2_events_parameter(r, time, parameter, type, value);
}

static OTF2_CallbackCode on_metric(OTF2_RECORD, OTF2_MetricRef metric, uint8_t n_values,
                                   const OTF2_Type *types, const OTF2_MetricValue *values)
{
    OTF2_UNUSED;
    otf2_events_metric(events, time, metric, n_values, types, values);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter_string(OTF2_RECORD, OTF2_ParameterRef parameter,
                                             OTF2_StringRef value)
{
    OTF2_UNUSED;
    take_parameter(events, time, parameter, OTF2_TYPE_STRING, value);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter_int(OTF2_RECORD, OTF2_ParameterRef parameter,
                                          int64_t value)
{
    OTF2_UNUSED;
    take_parameter(events, time, parameter, OTF2_TYPE_INT64, (uint64_t)value);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter_unsigned(OTF2_RECORD, OTF2_ParameterRef parameter,
                                               uint64_t value)
{
    OTF2_UNUSED;
    take_parameter(events, time, parameter, OTF2_TYPE_UINT64, value);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_copy(struct otf2_events *r, uint64_t time, bool is_put,
                                   uint64_t bytes, uint64_t id)
{
    otf2_events_transfer(r, bytes);
    otf2_events_copy(r, time, is_put, id);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_put(OTF2_RECORD, OTF2_RmaWinRef window, uint32_t target,
                                uint64_t bytes, uint64_t id)
{
    OTF2_UNUSED;
    (void)window, (void)target;
    return take_copy(events, time, true, bytes, id);
}

static OTF2_CallbackCode on_get(OTF2_RECORD, OTF2_RmaWinRef window, uint32_t target,
                                uint64_t bytes, uint64_t id)
{
    OTF2_UNUSED;
    (void)window, (void)target;
    return take_copy(events, time, false, bytes, id);
}

/* RmaOpCompleteBlocking and RmaOpCompleteNonBlocking. */
static OTF2_CallbackCode on_complete(OTF2_RECORD, OTF2_RmaWinRef window, uint64_t id)
{
    OTF2_UNUSED;
    (void)window;
    otf2_events_copied(events, time, id);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_atomic(OTF2_RECORD, OTF2_RmaWinRef window, uint32_t target,
                                   OTF2_RmaAtomicType type, uint64_t sent_bytes,
                                   uint64_t received_bytes, uint64_t id)
{
    OTF2_UNUSED;
    (void)window, (void)target, (void)type, (void)id;
    otf2_events_transfer(events, sent_bytes + received_bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_operation(OTF2_RECORD, OTF2_IoHandleRef handle, uint64_t bytes,
                                      uint64_t id)
{
    OTF2_UNUSED;
    (void)handle, (void)id;
    otf2_events_operation(events, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_fork(OTF2_RECORD, OTF2_Paradigm paradigm, uint32_t n_threads)
{
    OTF2_UNUSED;
    (void)paradigm;
    otf2_events_team(events, time,
                     &(struct otf2_team){TEAM_FORK, OTF2_UNDEFINED_COMM, n_threads});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_join(OTF2_RECORD, OTF2_Paradigm paradigm)
{
    OTF2_UNUSED;
    (void)paradigm;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_JOIN, OTF2_UNDEFINED_COMM, 0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_team_begin(OTF2_RECORD, OTF2_CommRef comm)
{
    OTF2_UNUSED;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_BEGIN, comm, 0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_team_end(OTF2_RECORD, OTF2_CommRef comm)
{
    OTF2_UNUSED;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_END, comm, 0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_create(OTF2_RECORD, OTF2_CommRef comm, uint64_t number)
{
    OTF2_UNUSED;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_CREATE, comm, number});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_thread_begin(OTF2_RECORD, OTF2_CommRef comm, uint64_t number)
{
    OTF2_UNUSED;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_THREAD_BEGIN, comm, number});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_thread_end(OTF2_RECORD, OTF2_CommRef comm, uint64_t number)
{
    OTF2_UNUSED;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_THREAD_END, comm, number});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_wait(OTF2_RECORD, OTF2_CommRef comm, uint64_t number)
{
    OTF2_UNUSED;
    otf2_events_team(events, time, &(struct otf2_team){TEAM_WAIT, comm, number});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unknown(OTF2_RECORD)
{
    struct otf2_events *r = events;

    OTF2_UNUSED;
    r->quality->n[QUALITY_bad_record]++;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *otf2_library_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(c, on_flush);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_icollective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c,
                                                                     on_icollective_complete);
    OTF2_EvtReaderCallbacks_SetMetricCallback(c, on_metric);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(c, on_parameter_string);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(c, on_parameter_int);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(c, on_parameter_unsigned);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_get);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(c, on_operation);
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, on_fork);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, on_join);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, on_team_begin);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, on_team_end);
    OTF2_EvtReaderCallbacks_SetThreadCreateCallback(c, on_create);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(c, on_thread_begin);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(c, on_thread_end);
    OTF2_EvtReaderCallbacks_SetThreadWaitCallback(c, on_wait);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    return c;
}
