/*
 * What libotf2 writes of the same records is the measure, byte by byte: the reference below
 * tells it what each kind of record is, the random numbers are of all lengths.
 */
#include "trace/tracer/tracer_otf2.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "otf2_write.h"
#include "test.h"
#include "test_dir.h"

#define N_SLOTS 6000

/* ------------------------------------------------------------------------------ by libotf2 */

static OTF2_ErrorCode refer_message(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time = s->head.time_ns, bytes = s[1].message.bytes;
    uint32_t comm = s->head.id, peer = s[1].message.peer, tag = s[1].message.tag;

    switch (s->head.kind) {
    case RECORD_SEND:
        return OTF2_EvtWriter_MpiSend(w, NULL, time, peer, comm, tag, bytes);
    case RECORD_RECV:
        return OTF2_EvtWriter_MpiRecv(w, NULL, time, peer, comm, tag, bytes);
    case RECORD_ISEND:
        return OTF2_EvtWriter_MpiIsend(w, NULL, time, peer, comm, tag, bytes, s[2].request.id);
    case RECORD_IRECV:
        return OTF2_EvtWriter_MpiIrecv(w, NULL, time, peer, comm, tag, bytes, s[2].request.id);
    case RECORD_ISEND_COMPLETE:
        return OTF2_EvtWriter_MpiIsendComplete(w, NULL, time, s[1].request.id);
    case RECORD_IRECV_REQUEST:
        return OTF2_EvtWriter_MpiIrecvRequest(w, NULL, time, s[1].request.id);
    default:
        return OTF2_EvtWriter_MpiRequestCancelled(w, NULL, time, s[1].request.id);
    }
}

static OTF2_ErrorCode refer_collective(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time = s->head.time_ns;
    OTF2_CollectiveOp op = (OTF2_CollectiveOp)s[1].collective.operation;

    switch (s->head.kind) {
    case RECORD_COLLECTIVE_BEGIN:
        return OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, time);
    case RECORD_COLLECTIVE_END:
        return OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, time, op, s->head.id,
                                               s[1].collective.root, s[1].collective.sent_bytes,
                                               s[2].collective_more.received_bytes);
    case RECORD_ICOLLECTIVE_REQUEST:
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, time, s[1].request.id);
    default:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(
            w, NULL, time, op, s->head.id, s[1].collective.root, s[1].collective.sent_bytes,
            s[2].collective_more.received_bytes, s[2].collective_more.request);
    }
}

static OTF2_ErrorCode refer_team(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time = s->head.time_ns;

    switch (s->head.kind) {
    case RECORD_FORK:
        return OTF2_EvtWriter_ThreadFork(w, NULL, time, OTF2_PARADIGM_OPENMP, s->head.id);
    case RECORD_JOIN:
        return OTF2_EvtWriter_ThreadJoin(w, NULL, time, OTF2_PARADIGM_OPENMP);
    case RECORD_TEAM_BEGIN:
        return OTF2_EvtWriter_ThreadTeamBegin(w, NULL, time, s->head.id);
    default:
        return OTF2_EvtWriter_ThreadTeamEnd(w, NULL, time, s->head.id);
    }
}

static OTF2_ErrorCode refer_transfer(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time = s->head.time_ns, id = s[1].access.id, sent = s[2].access_more.bytes;
    uint64_t received = s[2].access_more.received_bytes;
    uint32_t window = s->head.id, target = s[1].access.peer;

    switch (s->head.kind) {
    case RECORD_PUT:
        return OTF2_EvtWriter_RmaPut(w, NULL, time, window, target, sent, id);
    case RECORD_GET:
        return OTF2_EvtWriter_RmaGet(w, NULL, time, window, target, received, id);
    case RECORD_ATOMIC:
        return OTF2_EvtWriter_RmaAtomic(w, NULL, time, window, target,
                                        (OTF2_RmaAtomicType)s[1].access.how, sent, received,
                                        id);
    case RECORD_TRANSFERRED:
        return OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, time, window, id);
    default:
        return OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, time, window, id);
    }
}

static OTF2_ErrorCode refer_window(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time = s->head.time_ns;
    uint32_t window = s->head.id, peer = s[1].access.peer, how = s[1].access.how;

    switch (s->head.kind) {
    case RECORD_WINDOW_CREATE:
        return OTF2_EvtWriter_RmaWinCreate(w, NULL, time, window);
    case RECORD_WINDOW_DESTROY:
        return OTF2_EvtWriter_RmaWinDestroy(w, NULL, time, window);
    case RECORD_WINDOW_BEGIN:
        return OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, time);
    case RECORD_WINDOW_END:
        return OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, time, (OTF2_CollectiveOp)peer, how,
                                               window, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    case RECORD_GROUP_SYNC:
        return OTF2_EvtWriter_RmaGroupSync(w, NULL, time, how, window, peer);
    case RECORD_MEMORY_SYNC:
        return OTF2_EvtWriter_RmaSync(w, NULL, time, window, peer, (OTF2_RmaSyncType)how);
    case RECORD_LOCK_REQUEST:
        return OTF2_EvtWriter_RmaRequestLock(w, NULL, time, window, peer, 0,
                                             (OTF2_LockType)how);
    case RECORD_LOCK_RELEASE:
        return OTF2_EvtWriter_RmaReleaseLock(w, NULL, time, window, peer, 0);
    default:
        return refer_transfer(w, s);
    }
}

static OTF2_ErrorCode refer_file(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time = s->head.time_ns, id = s[1].access.id, bytes = s[2].access_more.bytes;
    uint32_t handle = s->head.id, peer = s[1].access.peer, how = s[1].access.how;

    switch (s->head.kind) {
    case RECORD_FILE_OPEN:
        return OTF2_EvtWriter_IoCreateHandle(w, NULL, time, handle, (OTF2_IoAccessMode)peer,
                                             how, (OTF2_IoStatusFlag)id);
    case RECORD_FILE_CLOSE:
        return OTF2_EvtWriter_IoDestroyHandle(w, NULL, time, handle);
    case RECORD_FILE_DELETE:
        return OTF2_EvtWriter_IoDeleteFile(w, NULL, time, 0, handle);
    case RECORD_FILE_SEEK:
        return OTF2_EvtWriter_IoSeek(w, NULL, time, handle, (int64_t)bytes,
                                     (OTF2_IoSeekOption)how, s[2].access_more.received_bytes);
    case RECORD_IO_BEGIN:
        return OTF2_EvtWriter_IoOperationBegin(w, NULL, time, handle,
                                               (OTF2_IoOperationMode)peer, how, bytes, id);
    case RECORD_IO_ISSUED:
        return OTF2_EvtWriter_IoOperationIssued(w, NULL, time, handle, id);
    default:
        return OTF2_EvtWriter_IoOperationComplete(w, NULL, time, handle, bytes, id);
    }
}

static OTF2_ErrorCode refer_call(OTF2_EvtWriter *w, const union slot *s)
{
    OTF2_AttributeList *a = OTF2_AttributeList_New();
    uint64_t time = s->head.time_ns;
    OTF2_ErrorCode rc;

    if (s->head.kind != RECORD_ENTER && s->head.kind != RECORD_LEAVE) {
        OTF2_AttributeList_AddUint64(a, ATTRIBUTE_EARLIER, time - s[1].between.earliest_ns);
        OTF2_AttributeList_AddUint64(a, ATTRIBUTE_LATER, s[1].between.latest_ns - time);
    }
    if (s->head.kind == RECORD_LEAVE_INLINED)
        OTF2_AttributeList_AddUint64(a, ATTRIBUTE_INLINED, s[2].inlined.most_calls);
    rc = record_is_enter(s->head.kind) ? OTF2_EvtWriter_Enter(w, a, time, s->head.id)
                                       : OTF2_EvtWriter_Leave(w, a, time, s->head.id);
    OTF2_AttributeList_Delete(a);
    return rc;
}

static OTF2_ErrorCode refer(OTF2_EvtWriter *w, const union slot *s)
{
    uint32_t kind = s->head.kind;

    if (record_is_enter(kind) || record_is_leave(kind))
        return refer_call(w, s);
    if (kind == RECORD_FLUSH)
        return OTF2_EvtWriter_BufferFlush(w, NULL, s->head.time_ns, s[1].flush.end_ns);
    if (kind >= RECORD_FORK)
        return refer_team(w, s);
    if (kind >= RECORD_FILE_OPEN)
        return refer_file(w, s);
    if (kind >= RECORD_WINDOW_CREATE)
        return refer_window(w, s);
    return kind >= RECORD_ICOLLECTIVE || kind == RECORD_COLLECTIVE_BEGIN ||
                   kind == RECORD_COLLECTIVE_END
               ? refer_collective(w, s)
               : refer_message(w, s);
}

/* --------------------------------------------------------------------------------- records */

/* Of any length, zero and all bits included. */
static uint64_t any_number(struct rng *rng, unsigned bits)
{
    uint64_t all = UINT64_MAX >> (64 - bits);

    switch (rng_below(rng, 8)) {
    case 0:
        return 0;
    case 1:
        return all;
    default:
        return rng_next(rng) >> (64 - 1 - rng_below(rng, bits));
    }
}

/* One record of a kind; numbers that have few values have these. Returns its slots. */
static uint32_t make_record(struct rng *rng, uint32_t kind, uint64_t time_ns, union slot *s)
{
    s[0].head.time_ns = time_ns;
    s[0].head.kind = kind;
    s[0].head.id = (uint32_t)any_number(rng, 32);
    s[1].access.peer = (uint32_t)any_number(rng, 32);
    s[1].access.how = (uint32_t)any_number(rng, 32);
    s[1].access.id = any_number(rng, 64);
    s[2].access_more.bytes = any_number(rng, 64);
    s[2].access_more.received_bytes = any_number(rng, 64);
    if (kind == RECORD_FLUSH)
        s[1].flush.end_ns = time_ns + 1000;
    if (kind == RECORD_ENTER_BETWEEN || kind == RECORD_LEAVE_BETWEEN ||
        kind == RECORD_LEAVE_INLINED) {
        s[1].between.earliest_ns = time_ns - rng_below(rng, 1000);
        s[1].between.latest_ns = time_ns + any_number(rng, 40);
    }
    if (kind == RECORD_COLLECTIVE_END || kind == RECORD_ICOLLECTIVE)
        s[1].collective.operation = (uint32_t)rng_below(rng, 20);
    if (kind == RECORD_WINDOW_END || kind == RECORD_FILE_OPEN || kind == RECORD_IO_BEGIN)
        s[1].access.peer = (uint32_t)rng_below(rng, 3);
    if (kind == RECORD_MEMORY_SYNC || kind == RECORD_LOCK_REQUEST || kind == RECORD_ATOMIC ||
        kind == RECORD_FILE_SEEK)
        s[1].access.how = (uint32_t)rng_below(rng, 2);
    if (kind == RECORD_FILE_OPEN)
        s[1].access.id = rng_below(rng, 4);
    return record_slots(kind);
}

static size_t make_records(uint64_t seed, union slot *slot, size_t most)
{
    struct rng rng = {seed};
    uint64_t time_ns = 5000;
    size_t n = 0;

    while (n + MAX_RECORD_SLOTS <= most) {
        uint32_t kind = (uint32_t)rng_below(&rng, N_RECORD_KINDS);

        if (record_slots(kind) == 0)
            continue;
        time_ns += rng_below(&rng, 3) ? rng_below(&rng, 5000) : 0;
        n += make_record(&rng, kind, time_ns, slot + n);
    }
    return n;
}

static size_t read_file(const char *path, uint8_t *bytes, size_t most)
{
    FILE *file = fopen(path, "r");
    size_t n;

    assert_non_null(file);
    n = fread(bytes, 1, most, file);
    fclose(file);
    return n;
}

static void every_record_has_the_bytes_that_libotf2_gives_it(void **state)
{
    static union slot slot[N_SLOTS];
    char dir[] = "/tmp/snag-otf2-XXXXXX", path[FS_PATH_SIZE];
    static uint8_t own[TRACER_OTF2_CHUNK], other[TRACER_OTF2_CHUNK];
    size_t n = make_records(28, slot, N_SLOTS), bytes;
    struct tracer_otf2 to = {0};
    OTF2_EvtWriter *writer;
    struct otf2_write w;

    (void)state;
    assert_non_null(test_dir(dir));
    otf2_write_open_chunks(&w, dir, 1000000000, TRACER_OTF2_CHUNK);
    writer = otf2_write_location(&w, 0);
    for (const union slot *s = slot; s < slot + n; s += record_slots(s->head.kind))
        assert_int_equal(refer(writer, s), OTF2_SUCCESS);
    otf2_write_close(&w);

    tracer_otf2_begin(&to, own, sizeof own);
    assert_ptr_equal(tracer_otf2_put(&to, slot, slot + n), slot + n);
    bytes = tracer_otf2_end_file(&to, own);
    snprintf(path, sizeof path, "%s/traces/0.evt", dir);
    n = read_file(path, other, sizeof other);
    for (size_t i = 0; i < bytes; i++)
        if (own[i] != other[i])
            fail_msg("byte %zu of %zu: %u, not %u", i, bytes, own[i], other[i]);
    assert_int_equal(n, bytes);
}

static void no_record_takes_more_than_is_said(void **state)
{
    static uint8_t chunk[4096];
    union slot slot[MAX_RECORD_SLOTS];
    struct rng rng = {1};

    (void)state;
    for (uint32_t kind = 0; kind < N_RECORD_KINDS; kind++)
        for (int i = 0; i < 2000; i++) {
            struct tracer_otf2 to = {0};
            uint32_t n = record_slots(kind);
            size_t used;

            if (n == 0)
                break;
            make_record(&rng, kind, 1000000, slot);
            tracer_otf2_begin(&to, chunk, sizeof chunk);
            tracer_otf2_put(&to, slot, slot + n);
            used = (size_t)(to.at - chunk) - TRACER_OTF2_HEADER;
            assert_true(used > 0 && used <= n * TRACER_OTF2_MAX_SLOT_BYTES);
            assert_true(used + sizeof(uint64_t) <= TRACER_OTF2_MAX_RECORD_BYTES);
        }
}

static void what_does_not_fit_waits_for_the_next_chunk(void **state)
{
    static union slot slot[N_SLOTS];
    static uint8_t chunk[4096];
    size_t n = make_records(7, slot, N_SLOTS), n_chunks = 0;
    struct tracer_otf2 to = {0};
    uint64_t first, last, next = 1;

    (void)state;
    for (const union slot *s = slot; s < slot + n;) {
        memset(chunk, 0xff, sizeof chunk);
        tracer_otf2_begin(&to, chunk, sizeof chunk);
        s = tracer_otf2_put(&to, s, slot + n);
        assert_int_equal(tracer_otf2_end(&to, chunk, sizeof chunk), sizeof chunk);
        memcpy(&first, chunk + 2, sizeof first);
        memcpy(&last, chunk + 10, sizeof last);
        assert_int_equal(first, next);
        assert_int_equal(chunk[TRACER_OTF2_HEADER], 5); /* each chunk says the time */
        assert_int_equal(chunk[sizeof chunk - 1], 0);
        next = last + 1;
        n_chunks++;
    }
    assert_true(n_chunks > 10);
    assert_int_equal(next, to.n_events + 1);
}

/* A clock that goes back, as one that was put in the place of the system's. */
static void times_never_decrease(void **state)
{
    union slot slot[] = {{.head = {.time_ns = 500, .kind = RECORD_ENTER, .id = 1}},
                         {.head = {.time_ns = 400, .kind = RECORD_LEAVE, .id = 1}}};
    static uint8_t chunk[4096];
    struct tracer_otf2 to = {0};

    (void)state;
    tracer_otf2_begin(&to, chunk, sizeof chunk);
    tracer_otf2_put(&to, slot, slot + 2);
    assert_int_equal(to.time_ns, 500);
    assert_int_equal(to.at - chunk, TRACER_OTF2_HEADER + 9 + 3 + 3); /* one time for both */
}

static void only_leaves_of_calls_in_the_file_outlive_its_end(void **state)
{
    union slot enter = {.head = {.kind = RECORD_ENTER}},
               leave = {.head = {.kind = RECORD_LEAVE}};
    union slot send[2] = {{.head = {.kind = RECORD_SEND}}};
    struct state_commit lost = {.n_open = 1};

    (void)state;
    assert_false(tracer_otf2_lose(&lost, &enter));
    assert_false(tracer_otf2_lose(&lost, send));
    assert_false(tracer_otf2_lose(&lost, &enter));
    assert_false(tracer_otf2_lose(&lost, &leave));
    assert_false(tracer_otf2_lose(&lost, &leave));
    assert_true(tracer_otf2_lose(&lost, &leave)); /* the one that is in the file */
    assert_int_equal(lost.n_lost, 2);
    assert_int_equal(lost.n_lost_open, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_has_the_bytes_that_libotf2_gives_it),
        cmocka_unit_test(no_record_takes_more_than_is_said),
        cmocka_unit_test(what_does_not_fit_waits_for_the_next_chunk),
        cmocka_unit_test(times_never_decrease),
        cmocka_unit_test(only_leaves_of_calls_in_the_file_outlive_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
