/*
 * Recorders are never freed, only reused: a thread that ends leaves its own to the next one
 * that starts, so a program that starts threads all the time has as many locations as it had
 * threads at once. The lock guards the list of recorders; no recording takes it.
 *
 * recorder_stop has to know that no thread is inside a recorder. A thread says so by
 * storing busy_at and then loading the switch; the stopper does the reverse. That needs a full
 * fence on both sides, and membarrier(2) makes all other threads do theirs, so that the hooks
 * need none.
 */
#include "recorder.h"

#include "budget.h"
#include "complain.h"
#include "loaded.h"
#include "memory.h"
#include "quiet.h"
#include "sample.h"
#include "session.h"
#include "stack.h"
#include "state.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CHUNKS 1024             /* kept by a thread without a sink: 16 MiB */
#define FIRST_OPEN 64               /* calls */
#define LONGEST_WAIT_NS 1000000000u /* for a thread that is at work on its records */

_Thread_local struct recorder *recorder_self;
struct recorder_switch recorder_switch __attribute__((aligned(RECORDER_PAGE)));

static struct {
    atomic_bool is_so;
    int error;
    uint64_t since_ns;
    atomic_ulong n_homeless; /* calls of threads that have no recorder */
} given_up;
static _Thread_local bool is_without; /* this thread gets no recorder: just now, or any more */
static const struct sink *_Atomic sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct recorder *newest, *idle;
static _Thread_local struct {
    uint32_t number, n_reserved; /* of recorder_prefer */
} preferred;
static pthread_key_t key;
static bool has_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT, first_once = PTHREAD_ONCE_INIT;

_Static_assert(offsetof(struct state_location, slot) - offsetof(struct chunk, slot) ==
                   offsetof(struct state_location, of_tracer),
               "a chunk that lasts");

void recorder_give_up(int error)
{
    static atomic_bool is_said;

    if (!atomic_exchange(&is_said, true)) {
        given_up.error = error;
        given_up.since_ns = clock_ns();
        atomic_store(&given_up.is_so, true);
        recorder_tell_state();
        complain("process %d is recorded no further: %s; what was recorded until now is kept, "
                 "the program goes on",
                 (int)getpid(), strerror(error));
    }
    atomic_store(&recorder_switch.is_on, false);
}

void recorder_tell_state(void)
{
    struct state_head *head = state_head();

    if (head == NULL || !atomic_load(&given_up.is_so))
        return;
    atomic_store(&head->stopped_ns, given_up.since_ns);
    atomic_store(&head->error, (uint32_t)given_up.error);
}

void recorder_missed(void)
{
    bool is_over = atomic_load_explicit(&given_up.is_so, memory_order_relaxed);
    struct recorder *r = recorder_self;

    if (r && (is_over || (atomic_load(&r->busy_at) && !quiet_is())))
        r->n_refused++;
    else if (is_over)
        atomic_fetch_add_explicit(&given_up.n_homeless, 1, memory_order_relaxed);
}

uint64_t recorder_n_homeless(void)
{
    return atomic_load(&given_up.n_homeless);
}

/* Functions of other libraries may be called before this one's are. */
__attribute__((constructor)) static void switch_on(void)
{
    static atomic_bool is_done;
    int error = errno;

    if (atomic_exchange(&is_done, true))
        return;
    madvise(&recorder_switch, sizeof recorder_switch, MADV_WIPEONFORK);
    atomic_store(&recorder_switch.is_on, !atomic_load(&given_up.is_so));
    errno = error;
}

/* ------------------------------------------------------------------------------- chunks */

/* Where the next record goes, in the last chunk. */
static void go_to(struct recorder *r, union slot *slot)
{
    atomic_store_explicit(&r->next, slot, memory_order_release);
    r->limit = r->last->slot + CHUNK_SLOTS - MAX_RECORD_SLOTS;
}

static void append_chunk(struct recorder *r, struct chunk *chunk)
{
    chunk->next = NULL;
    if (r->last)
        r->last->next = chunk;
    else
        r->first = chunk;
    r->last = chunk;
    r->n_chunks++;
    r->next_told = &r->own_next; /* what lasts is full */
    go_to(r, chunk->slot);
}

static void add_chunk(struct recorder *r)
{
    append_chunk(r, memory_resize(NULL, 1, sizeof(struct chunk)));
}

/* The sink has a chunk that outlives the process, and is empty. Who peeks may still be looking
 * at the one before, so that stays. */
static void go_to_lasting(struct recorder *r, const struct lasting *l)
{
    struct chunk *before = r->first;

    r->first = l->chunk;
    if (atomic_load(&r->spare) == NULL)
        atomic_store(&r->spare, before);
    r->next_lasting = l->next;
    if (r->n_open <= l->n_open) {
        memcpy(l->open, r->open, r->n_open * sizeof *r->open);
        memory_free(r->open);
        r->open = l->open;
        r->cap_open = l->n_open;
    } else {
        recorder_deepen(r);
    }
}

/* Of the n outermost open calls those that have a record. */
static uint32_t count_recorded(const struct recorder *r, uint32_t n)
{
    uint32_t n_recorded = 0;

    for (uint32_t i = 0; i < n; i++)
        n_recorded += !(r->open[i].region & REGION_SKIPPED);
    return n_recorded;
}

/* The first chunk is empty, and the only one. */
static void begin_again(struct recorder *r)
{
    r->n_recorded = count_recorded(r, r->n_open);
    r->last = r->first;
    r->first->next = NULL;
    r->n_chunks = 1;
    go_to(r, r->first->slot);
    if (r->next_lasting == NULL)
        return;
    r->next_told = r->next_lasting;
    atomic_store_explicit(r->next_told, (uintptr_t)r->first->slot, memory_order_release);
}

/* The sink was not asked yet for memory that outlives the process. */
static bool is_new_to(const struct sink *to, const struct recorder *r)
{
    return to && to->begin && !atomic_load_explicit(&r->has_begun, memory_order_relaxed);
}

static bool ask_for_lasting(struct recorder *r, const struct sink *to, struct lasting *lasting)
{
    if (!is_new_to(to, r))
        return false;
    atomic_store_explicit(&r->has_begun, true, memory_order_relaxed);
    return to->begin(r, lasting);
}

/* Give all chunks to the sink and keep the first, empty. Who peeks sees an odd generation in
 * between, or that it has changed. */
static void drain(struct recorder *r, const struct sink *to)
{
    struct chunk *chunk = r->first;
    struct lasting lasting;
    bool is_new;

    atomic_fetch_add_explicit(&r->generation, 1, memory_order_acq_rel);
    is_new = ask_for_lasting(r, to, &lasting);
    r->last->n = (uint32_t)(recorder_next(r) - r->last->slot);
    while (chunk) {
        struct chunk *next = chunk->next;

        budget_count(r, chunk->slot, chunk->n);
        to->take(r, chunk->slot, chunk->n);
        if (chunk != r->first)
            memory_free(chunk);
        chunk = next;
    }
    if (is_new)
        go_to_lasting(r, &lasting);
    begin_again(r);
    if (to->emptied)
        to->emptied(r);
    r->is_full = false;
    r->poll = NULL;
    atomic_fetch_add_explicit(&r->generation, 1, memory_order_release);
}

/* The chunk has no room for the largest record any more. */
void recorder_hand_over(struct recorder *r)
{
    const struct sink *to = atomic_load(&sink);
    union slot *slot;
    uint64_t begin_ns, thread_ns;
    struct quiet q;

    quiet_begin(&q);
    if (to == NULL) {
        r->last->n = (uint32_t)(recorder_next(r) - r->last->slot);
        add_chunk(r);
        r->is_full = r->n_chunks >= MAX_CHUNKS;
        quiet_end(&q);
        return;
    }
    begin_ns = clock_ns();
    thread_ns = budget_thread_ns();
    drain(r, to);
    budget_settle(r, thread_ns, budget_thread_ns());
    quiet_end(&q);
    if (to->is_quick)
        return;
    r->flushed_ns = clock_ns();
    slot = recorder_next(r);
    slot[1].flush.end_ns = r->flushed_ns;
    slot[0].head.time_ns = begin_ns;
    slot[0].head.kind = RECORD_FLUSH;
    slot[0].head.id = 0;
    recorder_move(r, slot + 2);
}

/* --------------------------------------------------------------------------- open calls */

/* Where there is none that lasts any other will do: it is missing only if the process is
 * killed.
 */
bool recorder_deepen(struct recorder *r)
{
    const struct sink *to = atomic_load(&sink);
    uint32_t cap = r->cap_open ? 2 * r->cap_open : FIRST_OPEN;
    bool is_lasting = r->next_lasting != NULL;
    struct entered_call *open = is_lasting ? to->deepen(r, cap) : NULL;

    if (open == NULL) {
        open = memory_resize(is_lasting ? NULL : r->open, cap, sizeof *open);
        if (open == NULL)
            return false;
        if (is_lasting)
            memcpy(open, r->open, r->n_open * sizeof *open);
    }
    r->open = open;
    r->cap_open = cap;
    return true;
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
    if (r->n_open == r->cap_open && !recorder_deepen(r))
        return;
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
    uint32_t region = r->n_open > 0 ? r->open[--r->n_open].region : REGION_SKIPPED;

    if (!(region & REGION_SKIPPED))
        put_between(r, when->most_calls ? RECORD_LEAVE_INLINED : RECORD_LEAVE_BETWEEN, region,
                    when);
}

/* ------------------------------------------------------------------------------ threads */

static void close_all(struct recorder *r, uint64_t end_ns)
{
    stack_end(r, end_ns);
    recorder_close(r, 0, end_ns);
}

/* A thread ends. What its other destructors call from now on is not recorded. */
static void thread_ends(void *recorder)
{
    struct recorder *r = recorder;
    const struct sink *to = atomic_load(&sink);
    uint64_t end_ns, thread_ns;
    struct quiet q;

    is_without = true;
    sample_thread_ends();
    if (recorder_begin() == NULL)
        return;
    quiet_begin(&q);
    end_ns = clock_ns();
    close_all(r, end_ns);
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
    quiet_end(&q);
}

static void register_process(void)
{
    has_key = pthread_key_create(&key, thread_ends) == 0; /* a program may have used them up */
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

void recorder_prefer(uint32_t number, uint32_t n_reserved)
{
    preferred.number = number;
    preferred.n_reserved = n_reserved;
}

static bool is_taken(uint32_t number)
{
    const struct recorder *r = newest;

    while (r && r->thread != number)
        r = r->older;
    return r != NULL;
}

/* Numbers are never given back: what is taken once is not looked at again. */
static uint32_t next_number(void)
{
    static uint32_t first_free;
    uint32_t number;

    while (is_taken(first_free))
        first_free++;
    if (preferred.number > 0 && !is_taken(preferred.number))
        return preferred.number;
    number = preferred.n_reserved > first_free ? preferred.n_reserved : first_free;
    while (is_taken(number))
        number++;
    return number;
}

/* One whose thread has ended: that with the number that is preferred, if anybody has it; else
 * one whose number is not reserved for others. */
static struct recorder *take_idle(void)
{
    struct recorder **at = &idle, *r;
    uint32_t number = preferred.number;

    while (number > 0 && *at && (*at)->thread != number)
        at = &(*at)->free;
    if (number == 0 || (*at == NULL && is_taken(number)))
        for (at = &idle; *at && (*at)->thread < preferred.n_reserved;)
            at = &(*at)->free;
    r = *at;
    if (r)
        *at = r->free;
    return r;
}

static struct recorder *recorder_new(void)
{
    struct recorder *r = memory_resize(NULL, 1, sizeof *r);
    struct lasting lasting;

    *r = (struct recorder){.thread = next_number(),
                           .older = newest,
                           .budget = budget_new(),
                           .until_watched = BUDGET_EVERY};
    add_chunk(r);
    recorder_deepen(r);
    if (ask_for_lasting(r, atomic_load(&sink), &lasting)) {
        go_to_lasting(r, &lasting);
        begin_again(r);
    }
    newest = r;
    return r;
}

/* ------------------------------------------------------------------------------ jumped out */

/*
 * A signal handler that interrupts us may leave by longjmp, and then we do not go on. It is
 * known by a stack that has no room for where we were, if it is still the same one: neither the
 * handler's own, nor that of a coroutine.
 */
static bool is_same_stack(uintptr_t a, uintptr_t b)
{
    static _Thread_local uintptr_t low, high;
    stack_t other;
    struct quiet q;

    if (sigaltstack(NULL, &other) != 0 || other.ss_flags & SS_ONSTACK)
        return false;
    if (b < low || b >= high) {
        quiet_begin(&q);
        loaded_mapping(b, &low, &high);
        quiet_end(&q);
    }
    return a >= low && a < high && b >= low && b < high;
}

/* What is open as the records say, of which each is complete or not there. A call was put among
 * the open ones before its record came, or taken away. */
static void repair_open(struct recorder *r)
{
    uint32_t n = r->n_recorded;

    for (struct chunk *chunk = r->first; chunk; chunk = chunk->next) {
        const union slot *end = chunk == r->last ? recorder_next(r) : chunk->slot + chunk->n;

        for (const union slot *s = chunk->slot; s < end; s += record_slots(s->head.kind))
            n += record_is_enter(s->head.kind) ? 1 : record_is_leave(s->head.kind) ? -1u : 0;
    }
    if (count_recorded(r, r->n_open) > n)
        r->n_open--;
    else if (count_recorded(r, r->n_open) < n && r->n_open < r->cap_open)
        r->n_open++;
}

static bool was_left(struct recorder *r, uintptr_t here)
{
    uintptr_t at = atomic_load(&r->busy_at);

    if (at == 0 || quiet_is() || here < at || !is_same_stack(at, here))
        return false;
    repair_open(r);
    atomic_store(&r->busy_at, 0);
    return true;
}

/* The calling thread's first event. */
static struct recorder *adopt(void)
{
    struct recorder *r;

    pthread_once(&key_once, register_process);
    pthread_mutex_lock(&lock);
    r = take_idle();
    if (r == NULL)
        r = recorder_new();
    pthread_mutex_unlock(&lock);
    r->n_inside = 0;
    budget_adopt(r);
    if (has_key)
        pthread_setspecific(key, r);
    return r;
}

struct recorder *recorder_begin_slowly(uintptr_t here)
{
    struct recorder *r;
    struct quiet q;

    switch_on();
    if (recorder_self && atomic_load(&recorder_switch.is_on) && was_left(recorder_self, here))
        return recorder_begin();
    if (recorder_self || is_without || !atomic_load(&recorder_switch.is_on))
        return NULL;
    quiet_begin(&q);
    is_without = true; /* what we call now may be instrumented */
    r = adopt();
    recorder_first();
    recorder_self = r;
    sample_thread(r);
    is_without = false;
    quiet_end(&q);
    return recorder_begin();
}

struct recorder *recorder_adopt(void)
{
    struct quiet q;

    if (recorder_self || is_without || !atomic_load(&recorder_switch.is_on))
        return recorder_self;
    quiet_begin(&q);
    is_without = true;
    recorder_self = adopt();
    is_without = false;
    quiet_end(&q);
    return recorder_self;
}

void recorder_refuse(void)
{
    is_without = true;
}

struct recorder *recorder_wait(struct recorder *r)
{
    for (;;) {
        atomic_store_explicit(&r->busy_at, 0, memory_order_release);
        if (!atomic_load(&recorder_switch.is_on))
            return NULL;
        while (atomic_load_explicit(&r->is_lent, memory_order_acquire))
            sched_yield();
        atomic_store_explicit(&r->busy_at, recorder_here(), memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        if (atomic_load(&recorder_switch.is_on) && !atomic_load(&r->is_lent))
            return r;
    }
}

/* ------------------------------------------------------------------------------- sampling */

struct recorder *recorder_begin_signal(void)
{
    struct recorder *r = recorder_self;

    if (r == NULL || is_without || atomic_load_explicit(&r->busy_at, memory_order_relaxed))
        return NULL;
    atomic_store_explicit(&r->busy_at, recorder_here(), memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&recorder_switch.is_on, memory_order_relaxed) &&
        !atomic_load_explicit(&r->is_lent, memory_order_acquire))
        return r;
    atomic_store_explicit(&r->busy_at, 0, memory_order_release);
    return NULL;
}

bool recorder_make_room(struct recorder *r, size_t n)
{
    struct chunk *spare;

    if (r->is_full || n > CHUNK_SLOTS - MAX_RECORD_SLOTS - 1)
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
    if (!atomic_load(&r->busy_at) && atomic_load(&recorder_switch.is_on))
        return true;
    atomic_store_explicit(&r->is_lent, false, memory_order_release);
    return false;
}

void recorder_hand_over_for(struct recorder *r)
{
    const struct sink *to = atomic_load(&sink);
    bool is_new = is_new_to(to, r);

    if (atomic_load(&r->spare) && !is_new)
        return; /* so it has not been used */
    if (to && borrow(r)) {
        if (is_new || r->n_chunks > 1)
            drain(r, to);
        atomic_store_explicit(&r->is_lent, false, memory_order_release);
    }
    if (atomic_load(&r->spare) == NULL)
        atomic_store(&r->spare, memory_resize(NULL, 1, sizeof(struct chunk)));
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

void record_message(enum record_kind kind, const struct message_record *m, uint64_t time_ns)
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

static void record_collective(enum record_kind kind, const struct collective_record *c,
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

void record_collective_end(const struct collective_record *c, uint64_t time_ns)
{
    record_collective(RECORD_COLLECTIVE_END, c, time_ns);
}

void record_icollective(const struct collective_record *c, uint64_t time_ns)
{
    record_collective(RECORD_ICOLLECTIVE, c, time_ns);
}

void record_access(enum record_kind kind, const struct object_access *a, uint64_t time_ns)
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

/* The thread whose first event it is has a recorder, and does not use it yet: it is one of the
 * others. */
void recorder_attach(const struct sink *to)
{
    struct recorder *self;

    atomic_store(&sink, to);
    self = recorder_begin();
    if (self)
        recorder_hand_over(self);
    for (struct recorder *r = recorder_newest(); r; r = r->older)
        if (r != self && borrow(r)) {
            drain(r, to);
            atomic_store_explicit(&r->is_lent, false, memory_order_release);
        }
    if (self)
        recorder_end(self);
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

static bool is_at_work(const struct recorder *r)
{
    return (r != recorder_self && atomic_load_explicit(&r->busy_at, memory_order_acquire)) ||
           atomic_load_explicit(&r->is_lent, memory_order_acquire);
}

/*
 * Wait until no thread is inside its recorder, or another's; the switch is off already.
 * But not for ever: one may have been left by a longjmp in a signal handler, or be stopped.
 */
static void wait_for_others(void)
{
    uint64_t end_ns = clock_ns() + LONGEST_WAIT_NS;

    recorder_fence();
    for (struct recorder *r = newest; r; r = r->older)
        while (is_at_work(r) && clock_ns() < end_ns)
            sched_yield();
}

struct recorder *recorder_stop(void)
{
    static bool is_done;
    const struct sink *to = atomic_load(&sink);
    struct quiet q;

    if (is_done)
        return newest;
    is_done = true;
    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    atomic_store(&recorder_switch.is_on, false);
    wait_for_others();
    for (struct recorder *r = newest; r; r = r->older) {
        if (is_at_work(r))
            continue;
        if (!atomic_load(&given_up.is_so))
            close_all(r, clock_ns());
        if (to)
            drain(r, to);
    }
    pthread_mutex_unlock(&lock);
    quiet_end(&q);
    return newest;
}

void recorder_forget(void)
{
    atomic_store(&recorder_switch.is_on, false);
    atomic_store(&sink, NULL);
}
