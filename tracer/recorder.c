/*
 * Recorders are never freed, only reused: a thread that ends leaves its own to the next one
 * that starts, so a program that starts threads all the time has as many locations as it had
 * threads at once. The lock guards the list of recorders; no recording takes it.
 *
 * recorder_stop has to know that no thread is inside a recorder. A thread says so by
 * storing is_busy and then loading recorder_is_on; the stopper does the reverse. That needs a
 * full fence on both sides, and membarrier(2) makes all other threads do theirs, so that the
 * hooks need none.
 */
#include "recorder.h"

#include "budget.h"
#include "complain.h"
#include "sample.h"
#include "session.h"
#include "stack.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_CHUNKS 1024 /* kept by a thread without a sink: 16 MiB */

_Thread_local struct recorder *recorder_self;
atomic_bool recorder_is_on = true;

static _Thread_local bool is_without; /* this thread gets no recorder: just now, or any more */
static const struct sink *_Atomic sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct recorder *newest, *idle;
static uint32_t n_threads;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT, first_once = PTHREAD_ONCE_INIT;

uint32_t record_slots(enum record_kind kind)
{
    static const uint8_t slots[N_RECORD_KINDS] = {
        [RECORD_ENTER] = 1,
        [RECORD_LEAVE] = 1,
        [RECORD_SEND] = 2,
        [RECORD_RECV] = 2,
        [RECORD_ISEND] = 3,
        [RECORD_ISEND_COMPLETE] = 2,
        [RECORD_IRECV_REQUEST] = 2,
        [RECORD_IRECV] = 3,
        [RECORD_CANCELLED] = 2,
        [RECORD_COLLECTIVE_BEGIN] = 1,
        [RECORD_COLLECTIVE_END] = 3,
        [RECORD_FLUSH] = 2,
        [RECORD_ICOLLECTIVE_REQUEST] = 2,
        [RECORD_ICOLLECTIVE] = 3,
        [RECORD_ENTER_BETWEEN] = 2,
        [RECORD_LEAVE_BETWEEN] = 2,
        [RECORD_LEAVE_INLINED] = 3,
        [RECORD_FORK] = 1,
        [RECORD_JOIN] = 1,
        [RECORD_TEAM_BEGIN] = 1,
        [RECORD_TEAM_END] = 1,
        [RECORD_WINDOW_CREATE] = 1,
        [RECORD_WINDOW_DESTROY] = 1,
        [RECORD_WINDOW_BEGIN] = 1,
        [RECORD_WINDOW_END] = 2,
        [RECORD_GROUP_SYNC] = 2,
        [RECORD_MEMORY_SYNC] = 2,
        [RECORD_LOCK_REQUEST] = 2,
        [RECORD_LOCK_RELEASE] = 2,
        [RECORD_PUT] = 3,
        [RECORD_GET] = 3,
        [RECORD_ATOMIC] = 3,
        [RECORD_TRANSFERRED] = 2,
        [RECORD_TRANSFERRED_REMOTE] = 2,
        [RECORD_FILE_OPEN] = 2,
        [RECORD_FILE_CLOSE] = 1,
        [RECORD_FILE_DELETE] = 1,
        [RECORD_FILE_SEEK] = 3,
        [RECORD_IO_BEGIN] = 3,
        [RECORD_IO_ISSUED] = 2,
        [RECORD_IO_COMPLETE] = 3,
    };

    return slots[kind];
}

/* ------------------------------------------------------------------------------- chunks */

static void append_chunk(struct recorder *r, struct chunk *chunk)
{
    chunk->next = NULL;
    if (r->last)
        r->last->next = chunk;
    else
        r->first = chunk;
    r->last = chunk;
    r->n_chunks++;
    atomic_store_explicit(&r->next, chunk->slot, memory_order_release);
    r->limit = chunk->slot + CHUNK_SLOTS - LARGEST_RECORD;
}

static void add_chunk(struct recorder *r)
{
    append_chunk(r, must_resize(NULL, 1, sizeof(struct chunk)));
}

/* Give all chunks to the sink and keep the first, empty. Who peeks sees an odd generation in
 * between, or that it has changed. */
static void drain(struct recorder *r, const struct sink *to)
{
    struct chunk *chunk = r->first;

    atomic_fetch_add_explicit(&r->generation, 1, memory_order_acq_rel);
    r->last->n = (uint32_t)(recorder_next(r) - r->last->slot);
    while (chunk) {
        struct chunk *next = chunk->next;

        budget_count(r, chunk->slot, chunk->n);
        if (!to->take(r, chunk->slot, chunk->n))
            atomic_store(&recorder_is_on, false);
        if (chunk != r->first)
            free(chunk);
        chunk = next;
    }
    r->first->next = NULL;
    r->last = r->first;
    r->n_chunks = 1;
    atomic_store_explicit(&r->next, r->first->slot, memory_order_release);
    r->limit = r->first->slot + CHUNK_SLOTS - LARGEST_RECORD;
    r->is_full = false;
    r->poll = NULL;
    atomic_fetch_add_explicit(&r->generation, 1, memory_order_release);
}

/* The chunk has no room for the largest record any more. */
void recorder_hand_over(struct recorder *r)
{
    const struct sink *to = atomic_load(&sink);
    union slot *slot;
    uint64_t begin_ns, end_ns, thread_ns;

    if (to == NULL) {
        r->last->n = (uint32_t)(recorder_next(r) - r->last->slot);
        add_chunk(r);
        r->is_full = r->n_chunks >= MOST_CHUNKS;
        return;
    }
    begin_ns = clock_ns();
    thread_ns = budget_thread_ns();
    drain(r, to);
    budget_settle(r, thread_ns, budget_thread_ns());
    end_ns = clock_ns();
    if (to->is_quick)
        return;
    r->flushed_ns = end_ns;
    slot = recorder_next(r);
    slot[1].flush.end_ns = r->flushed_ns;
    slot[0].head.time_ns = begin_ns;
    slot[0].head.kind = RECORD_FLUSH;
    slot[0].head.id = 0;
    atomic_store_explicit(&r->next, slot + 2, memory_order_release);
}

/* --------------------------------------------------------------------------- open calls */

void recorder_deepen(struct recorder *r)
{
    r->cap_open = r->cap_open ? 2 * r->cap_open : 256;
    r->open = must_resize(r->open, r->cap_open, sizeof *r->open);
}

/* A call is entered and there is no room for it; there is for the leaves of the open ones. */
void recorder_skip(struct recorder *r, uint32_t region)
{
    recorder_enter_unseen(r, region);
    r->n_skipped++;
    if (atomic_load(&sink))
        recorder_hand_over(r);
}

void recorder_close(struct recorder *r, uint32_t n_open, uint64_t time_ns)
{
    while (r->n_open > n_open) {
        uint32_t region = r->open[--r->n_open].region;

        if (!(region & REGION_SKIPPED))
            recorder_put(r, RECORD_LEAVE, region, recorder_time(r, time_ns));
    }
}

/* The leave is not that of the innermost open call: that was skipped, or some were jumped
 * over by longjmp, or the call was entered before we were there. */
void recorder_leave_slowly(struct recorder *r, uint32_t region, uint64_t time_ns)
{
    for (uint32_t i = r->n_open; i-- > 0;)
        if ((r->open[i].region & ~REGION_SKIPPED) == region) {
            recorder_close(r, i, time_ns);
            return;
        }
}

static void put_between(struct recorder *r, enum record_kind kind, uint32_t region,
                        const struct between *when)
{
    union slot *slot = recorder_next(r);

    slot[0].head.time_ns = recorder_time(r, when->time_ns);
    slot[0].head.kind = kind;
    slot[0].head.id = region;
    slot[1].between.earliest_ns = when->earliest_ns;
    slot[1].between.latest_ns = when->latest_ns;
    slot[2].inlined.most_calls = when->most_calls; /* if it has that slot */
    recorder_move(r, slot + record_slots(kind));
}

void recorder_enter_between(struct recorder *r, uint32_t region, const struct between *when)
{
    if (budget_leaves_out(region)) {
        budget_enter(r, region);
        return;
    }
    if (r->n_open == r->cap_open)
        recorder_deepen(r);
    if (r->is_full) {
        recorder_skip(r, region);
        return;
    }
    r->open[r->n_open].region = region;
    r->open[r->n_open++].enter_ns = when->time_ns;
    put_between(r, RECORD_ENTER_BETWEEN, region, when);
}

void recorder_leave_between(struct recorder *r, const struct between *when)
{
    uint32_t region = r->open[--r->n_open].region;

    if (!(region & REGION_SKIPPED))
        put_between(r, when->most_calls ? RECORD_LEAVE_INLINED : RECORD_LEAVE_BETWEEN, region,
                    when);
}

/* ------------------------------------------------------------------------------ threads */

/* A thread ends. What its other destructors call from now on is not recorded. */
static void thread_ends(void *recorder)
{
    struct recorder *r = recorder;
    const struct sink *to = atomic_load(&sink);
    uint64_t end_ns, thread_ns;

    is_without = true;
    sample_thread_ends();
    if (recorder_begin() == NULL)
        return;
    end_ns = clock_ns();
    recorder_close(r, 0, end_ns);
    stack_left(r, end_ns); /* who has the recorder next was not there before */
    thread_ns = budget_thread_ns();
    if (to)
        drain(r, to);
    budget_settle(r, thread_ns, budget_thread_ns());
    recorder_self = NULL;
    recorder_end(r);
    pthread_mutex_lock(&lock);
    r->free = idle;
    idle = r;
    pthread_mutex_unlock(&lock);
}

static void register_process(void)
{
    pthread_key_create(&key, thread_ends);
    pthread_atfork(NULL, NULL, recorder_forget);
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

static void first_call(void)
{
    uint64_t begin_ns = budget_thread_ns();

    session_first_call();
    budget_once(begin_ns);
}

void recorder_first(void)
{
    pthread_once(&first_once, first_call);
}

static struct recorder *recorder_new(void)
{
    struct recorder *r = must_resize(NULL, 1, sizeof *r);

    *r = (struct recorder){.thread = n_threads++,
                           .older = newest,
                           .budget = budget_new(),
                           .until_watched = BUDGET_EVERY};
    add_chunk(r);
    recorder_deepen(r);
    newest = r;
    return r;
}

/* The calling thread's first event. */
static struct recorder *adopt(void)
{
    struct recorder *r;

    pthread_once(&key_once, register_process);
    pthread_mutex_lock(&lock);
    r = idle;
    if (r)
        idle = r->free;
    else
        r = recorder_new();
    pthread_mutex_unlock(&lock);
    r->n_inside = 0;
    budget_adopt(r);
    pthread_setspecific(key, r);
    return r;
}

struct recorder *recorder_begin_slowly(void)
{
    struct recorder *r;

    if (recorder_self || is_without || !atomic_load(&recorder_is_on))
        return NULL;
    is_without = true; /* what we call now may be instrumented */
    r = adopt();
    recorder_first();
    recorder_self = r;
    sample_thread(r);
    is_without = false;
    return recorder_begin();
}

struct recorder *recorder_adopt(void)
{
    if (recorder_self || is_without || !atomic_load(&recorder_is_on))
        return recorder_self;
    is_without = true;
    recorder_self = adopt();
    is_without = false;
    return recorder_self;
}

void recorder_refuse(void)
{
    is_without = true;
}

struct recorder *recorder_wait(struct recorder *r)
{
    for (;;) {
        atomic_store_explicit(&r->is_busy, false, memory_order_release);
        if (!atomic_load(&recorder_is_on))
            return NULL;
        while (atomic_load_explicit(&r->is_lent, memory_order_acquire))
            sched_yield();
        atomic_store_explicit(&r->is_busy, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        if (atomic_load(&recorder_is_on) && !atomic_load(&r->is_lent))
            return r;
    }
}

/* ------------------------------------------------------------------------------- sampling */

struct recorder *recorder_begin_signal(void)
{
    struct recorder *r = recorder_self;

    if (r == NULL || is_without || atomic_load_explicit(&r->is_busy, memory_order_relaxed))
        return NULL;
    atomic_store_explicit(&r->is_busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&recorder_is_on, memory_order_relaxed) &&
        !atomic_load_explicit(&r->is_lent, memory_order_acquire))
        return r;
    atomic_store_explicit(&r->is_busy, false, memory_order_release);
    return NULL;
}

bool recorder_make_room(struct recorder *r, size_t n)
{
    struct chunk *spare;

    if (r->is_full || n > CHUNK_SLOTS - LARGEST_RECORD - 1)
        return false;
    if (n < (size_t)(r->limit - recorder_next(r)))
        return true;
    spare = atomic_exchange(&r->spare, NULL);
    if (spare == NULL)
        return false;
    r->last->n = (uint32_t)(recorder_next(r) - r->last->slot);
    append_chunk(r, spare);
    return true;
}

/* Whoever is busy now, or begins afterwards, keeps us out, or waits. */
static bool borrow(struct recorder *r)
{
    atomic_store(&r->is_lent, true);
    recorder_fence();
    if (!atomic_load(&r->is_busy) && atomic_load(&recorder_is_on))
        return true;
    atomic_store_explicit(&r->is_lent, false, memory_order_release);
    return false;
}

void recorder_hand_over_for(struct recorder *r)
{
    const struct sink *to = atomic_load(&sink);

    if (atomic_load(&r->spare))
        return; /* so it has not been used */
    if (to && borrow(r)) {
        if (r->n_chunks > 1)
            drain(r, to);
        atomic_store_explicit(&r->is_lent, false, memory_order_release);
    }
    atomic_store(&r->spare, must_resize(NULL, 1, sizeof *r->spare));
}

/* ------------------------------------------------------------------------ other records */

/* Room for a record of this kind, its head filled in. */
static union slot *place(struct recorder *r, enum record_kind kind, uint32_t id,
                         uint64_t time_ns)
{
    union slot *slot = recorder_next(r);

    r->placed_ns = recorder_time(r, time_ns);
    slot->head.time_ns = r->placed_ns;
    slot->head.kind = kind;
    slot->head.id = id;
    return slot;
}

/* The record at slot is complete. */
static void placed(struct recorder *r, const union slot *slot)
{
    recorder_move(r, recorder_next(r) + record_slots(slot->head.kind));
    recorder_end(r);
}

void record_message(enum record_kind kind, const struct message *m, uint64_t time_ns)
{
    struct recorder *r = recorder_begin();
    union slot *slot;

    if (r == NULL)
        return;
    slot = place(r, kind, m->communicator, time_ns);
    slot[1].message.peer = m->peer;
    slot[1].message.tag = m->tag;
    slot[1].message.bytes = m->bytes;
    if (record_slots(kind) > 2)
        slot[2].request.id = m->request;
    placed(r, slot);
}

void record_request(enum record_kind kind, uint64_t request, uint64_t time_ns)
{
    struct recorder *r = recorder_begin();
    union slot *slot;

    if (r == NULL)
        return;
    slot = place(r, kind, 0, time_ns);
    slot[1].request.id = request;
    placed(r, slot);
}

void record_collective_begin(uint64_t time_ns)
{
    struct recorder *r = recorder_begin();

    if (r == NULL)
        return;
    placed(r, place(r, RECORD_COLLECTIVE_BEGIN, 0, time_ns));
}

static void record_collective(enum record_kind kind, const struct collective *c,
                              uint64_t time_ns)
{
    struct recorder *r = recorder_begin();
    union slot *slot;

    if (r == NULL)
        return;
    slot = place(r, kind, c->communicator, time_ns);
    slot[1].collective.operation = c->operation;
    slot[1].collective.root = c->root;
    slot[1].collective.sent_bytes = c->sent_bytes;
    slot[2].collective_more.received_bytes = c->received_bytes;
    slot[2].collective_more.request = c->request;
    placed(r, slot);
}

void record_collective_end(const struct collective *c, uint64_t time_ns)
{
    record_collective(RECORD_COLLECTIVE_END, c, time_ns);
}

void record_icollective(const struct collective *c, uint64_t time_ns)
{
    record_collective(RECORD_ICOLLECTIVE, c, time_ns);
}

void record_access(enum record_kind kind, const struct access *a, uint64_t time_ns)
{
    struct recorder *r = recorder_begin();
    union slot *slot;

    if (r == NULL)
        return;
    slot = place(r, kind, a->object, time_ns);
    slot[1].access.peer = a->peer;
    slot[1].access.how = a->how;
    slot[1].access.id = a->id;
    slot[2].access_more.bytes = a->bytes;
    slot[2].access_more.received_bytes = a->received_bytes;
    placed(r, slot);
}

/* ------------------------------------------------------------------------ begin and end */

void recorder_attach(const struct sink *to)
{
    struct recorder *r;

    atomic_store(&sink, to);
    r = recorder_begin();
    if (r == NULL)
        return;
    recorder_hand_over(r);
    recorder_end(r);
}

struct recorder *recorder_newest(void)
{
    struct recorder *r;

    pthread_mutex_lock(&lock);
    r = newest;
    pthread_mutex_unlock(&lock);
    return r;
}

void recorder_fence(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        usleep(10000); /* an old kernel: long enough for any store to arrive */
}

/* Wait until no thread is inside its recorder, or another's; recorder_is_on is false already.
 */
static void wait_for_others(void)
{
    recorder_fence();
    for (struct recorder *r = newest; r; r = r->older)
        while (
            (r != recorder_self && atomic_load_explicit(&r->is_busy, memory_order_acquire)) ||
            atomic_load_explicit(&r->is_lent, memory_order_acquire))
            sched_yield();
}

struct recorder *recorder_stop(void)
{
    static bool is_done;
    const struct sink *to = atomic_load(&sink);

    if (is_done)
        return newest;
    is_done = true;
    pthread_mutex_lock(&lock);
    atomic_store(&recorder_is_on, false);
    wait_for_others();
    for (struct recorder *r = newest; r; r = r->older) {
        recorder_close(r, 0, clock_ns());
        if (to)
            drain(r, to);
    }
    pthread_mutex_unlock(&lock);
    return newest;
}

void recorder_forget(void)
{
    atomic_store(&recorder_is_on, false);
    atomic_store(&sink, NULL);
}
