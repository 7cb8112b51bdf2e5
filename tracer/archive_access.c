/*
 * What the parts of a record are:
 *
 *     WINDOW_END                      peer: the operation    how: the level
 *     GROUP_SYNC                      peer: the group        how: the level
 *     MEMORY_SYNC                     peer: a rank           how: the type
 *     LOCK_REQUEST, LOCK_RELEASE      peer: a rank           how: the type of lock
 *     PUT, GET, ATOMIC                peer: a rank           how: the type      id, bytes
 *     TRANSFERRED, .._REMOTE                                                    id
 *     FILE_OPEN                       peer: access           how: creation      id: status
 *     FILE_SEEK                       bytes: the offset      how: from where
 *                                     received_bytes: the result
 *     IO_BEGIN, .._COMPLETE           peer: the mode         how: flags         id, bytes
 *
 * A window has one lock for each of its ranks: number 0.
 */
#include "archive_access.h"

#include "archive_definitions.h"

#define ONLY_LOCK 0

static OTF2_ErrorCode write_transfer(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns, id = s[1].access.id;
    uint64_t sent_bytes = s[2].access_more.bytes;
    uint64_t received_bytes = s[2].access_more.received_bytes;
    uint32_t window = s->head.id, target = s[1].access.peer;

    switch (s->head.kind) {
    case RECORD_PUT:
        return OTF2_EvtWriter_RmaPut(w, NULL, time_ns, window, target, sent_bytes, id);
    case RECORD_GET:
        return OTF2_EvtWriter_RmaGet(w, NULL, time_ns, window, target, received_bytes, id);
    case RECORD_ATOMIC:
        return OTF2_EvtWriter_RmaAtomic(w, NULL, time_ns, window, target,
                                        (OTF2_RmaAtomicType)s[1].access.how, sent_bytes,
                                        received_bytes, id);
    case RECORD_TRANSFERRED:
        return OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, time_ns, window, id);
    default:
        return OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, time_ns, window, id);
    }
}

static OTF2_ErrorCode write_file(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns, id = s[1].access.id, bytes = s[2].access_more.bytes;
    uint32_t handle = s->head.id, peer = s[1].access.peer, how = s[1].access.how;

    switch (s->head.kind) {
    case RECORD_FILE_OPEN:
        return OTF2_EvtWriter_IoCreateHandle(w, NULL, time_ns, handle, (OTF2_IoAccessMode)peer,
                                             how, (OTF2_IoStatusFlag)id);
    case RECORD_FILE_CLOSE:
        return OTF2_EvtWriter_IoDestroyHandle(w, NULL, time_ns, handle);
    case RECORD_FILE_DELETE:
        return OTF2_EvtWriter_IoDeleteFile(w, NULL, time_ns, IO_PARADIGM, s->head.id);
    case RECORD_FILE_SEEK:
        return OTF2_EvtWriter_IoSeek(w, NULL, time_ns, handle, (int64_t)bytes,
                                     (OTF2_IoSeekOption)how, s[2].access_more.received_bytes);
    case RECORD_IO_BEGIN:
        return OTF2_EvtWriter_IoOperationBegin(w, NULL, time_ns, handle,
                                               (OTF2_IoOperationMode)peer, how, bytes, id);
    case RECORD_IO_ISSUED:
        return OTF2_EvtWriter_IoOperationIssued(w, NULL, time_ns, handle, id);
    default:
        return OTF2_EvtWriter_IoOperationComplete(w, NULL, time_ns, handle, bytes, id);
    }
}

OTF2_ErrorCode archive_access_write(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns;
    uint32_t window = s->head.id, peer = s[1].access.peer, how = s[1].access.how;

    switch (s->head.kind) {
    case RECORD_WINDOW_CREATE:
        return OTF2_EvtWriter_RmaWinCreate(w, NULL, time_ns, window);
    case RECORD_WINDOW_DESTROY:
        return OTF2_EvtWriter_RmaWinDestroy(w, NULL, time_ns, window);
    case RECORD_WINDOW_BEGIN:
        return OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, time_ns);
    case RECORD_WINDOW_END:
        return OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, time_ns, (OTF2_CollectiveOp)peer, how,
                                               window, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    case RECORD_GROUP_SYNC:
        return OTF2_EvtWriter_RmaGroupSync(w, NULL, time_ns, how, window, peer);
    case RECORD_MEMORY_SYNC:
        return OTF2_EvtWriter_RmaSync(w, NULL, time_ns, window, peer, (OTF2_RmaSyncType)how);
    case RECORD_LOCK_REQUEST:
        return OTF2_EvtWriter_RmaRequestLock(w, NULL, time_ns, window, peer, ONLY_LOCK,
                                             (OTF2_LockType)how);
    case RECORD_LOCK_RELEASE:
        return OTF2_EvtWriter_RmaReleaseLock(w, NULL, time_ns, window, peer, ONLY_LOCK);
    default:
        return s->head.kind >= RECORD_FILE_OPEN ? write_file(w, s) : write_transfer(w, s);
    }
}
