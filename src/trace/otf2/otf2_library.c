/* One callback per kind of record; libotf2 calls them in the order of the file. */
#include "trace/otf2/otf2_library.h"

#define OTF2_RECORD                                                                            \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *events,           \
        OTF2_AttributeList *attributes
#define OTF2_UNUSED (void)location, (void)time, (void)position, (void)attributes

static OTF2_CallbackCode on_enter(OTF2_RECORD, OTF2_RegionRef region)
{
    OTF2_UNUSED;
    otf2_events_call(events, time, EVENT_ENTER, region);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_RECORD, OTF2_RegionRef region)
{
    OTF2_UNUSED;
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

static OTF2_CallbackCode on_metric(OTF2_RECORD, OTF2_MetricRef metric, uint8_t n_values,
                                   const OTF2_Type *types, const OTF2_MetricValue *values)
{
    OTF2_UNUSED;
    otf2_events_metric(events, time, metric, n_values, types, values);
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
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    return c;
}
