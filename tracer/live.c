/*
 * The sender owns the frame writers, the queue and the socket; nobody else touches them. It
 * shares with the recording threads their rings and, for peeking, `next` and `generation` of a
 * recorder.
 *
 * That all up to a time has been told is known like this: read the clock, make all other
 * threads pass a fence, look at a thread that is not inside its recorder, and then at all that
 * it has recorded. What it records later has a later time; only wrappers of MPI functions use
 * times that they read a little before. Where one of that fails nothing is said until the next
 * tick.
 */
#include "live.h"

#include "communicators.h"
#include "complain.h"
#include "live_frame.h"
#include "live_socket.h"
#include "memory.h"
#include "objects.h"
#include "regions.h"
#include "ring.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MS 1000000u
#define POLL_NS (10u * MS)
#define BUSY_POLL_NS (1u * MS) /* while a ring fills */
#define LINGER_NS (1000u * MS)
#define MIN_QUEUE_BYTES ((size_t)512 << 10) /* bytes: two full frames fit */
#define TRIES 16 /* to find a thread outside its recorder, and what it has recorded */

static struct {
    pthread_t thread;
    pthread_mutex_t lock; /* guards is_ending */
    pthread_cond_t ending;
    bool is_running, is_ending;

    struct live_socket socket;
    struct frame_writer **writer; /* [n_writers] by number of thread */
    size_t n_writers, cap_writers;
    uint32_t n_regions, n_communicators, n_objects; /* that this connection knows */
    uint32_t rank, n_ranks;
    bool has_complained; /* that the reader does not want us */
    uint64_t job;
    int64_t realtime_ns;
    uint64_t interval_ns, start_ns;
    uint64_t n_unsent; /* records, when the reader was not waited for any longer */
} live = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = {.fd = -1}};

/* ---------------------------------------------------------------------------------- sinks */

static const struct sink *other_sink;

static void take(struct recorder *r, const union slot *slot, size_t n)
{
    ring_put(r, slot, n);
}

static void take_beside(struct recorder *r, const union slot *slot, size_t n)
{
    ring_put(r, slot, n);
    other_sink->take(r, slot, n);
}

const struct sink live_sink = {.take = take, .is_quick = true};

const struct sink *live_sink_beside(const struct sink *other)
{
    static struct sink both;

    other_sink = other;
    both = *other;
    both.take = take_beside;
    return &both;
}

/* ---------------------------------------------------------------------------- definitions */

static void say_hello(struct blob *to)
{
    char host[256] = "", program[4096] = "";
    size_t begin = frame_begin(to, TRACER_FRAME_HELLO);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    program[n > 0 ? n : 0] = '\0';
    gethostname(host, sizeof host - 1);
    frame_u64(to, clock_ns());
    frame_u64(to, live.start_ns);
    frame_u64(to, (uint64_t)live.realtime_ns);
    frame_number(to, live.interval_ns);
    frame_number(to, live.n_ranks);
    frame_number(to, live.rank);
    frame_number(to, (uint64_t)getpid());
    frame_text(to, host);
    frame_text(to, program);
    frame_u64(to, live.job);
    frame_end(to, begin);
    begin = frame_begin(to, TRACER_FRAME_COUNTERS);
    frame_number(to, 0);
    frame_text(to, "Memory Footprint (VmRSS) (KB)");
    frame_text(to, "CPU time (us)");
    frame_end(to, begin);
}

/* A frame of definitions that is nearly full is ended, and another one begun. */
struct defining {
    struct blob *to;
    enum tracer_frame_kind kind;
    size_t begin;
    uint32_t n; /* defined by now */
};

static void begin_defining(struct defining *d)
{
    d->begin = frame_begin(d->to, d->kind);
    frame_number(d->to, d->n);
}

static void define_one(struct defining *d)
{
    d->n++;
    if (d->to->n - d->begin < FRAME_FULL)
        return;
    frame_end(d->to, d->begin);
    begin_defining(d);
}

static void define_region(void *ctx, const struct traced_region *region)
{
    struct defining *d = ctx;

    frame_number(d->to, region->paradigm == OTF2_PARADIGM_MPI);
    frame_text(d->to, region->name);
    define_one(d);
}

static void define_communicator(void *ctx, const struct communicator *c)
{
    struct defining *d = ctx;
    const char *name = d->n == COMMUNICATOR_WORLD  ? "MPI_COMM_WORLD"
                       : d->n == COMMUNICATOR_SELF ? "MPI_COMM_SELF"
                                                   : "";

    frame_number(d->to, c->first_rank);
    frame_number(d->to, c->number);
    frame_number(d->to, d->n == COMMUNICATOR_SELF);
    frame_text(d->to, c->name ? c->name : name);
    frame_number(d->to, c->size);
    for (uint32_t i = 0; i < c->size; i++)
        frame_number(d->to, c->member[i]);
    define_one(d);
}

static void define_members(struct blob *to, const struct object *o)
{
    const uint32_t *member = o->bytes;
    uint32_t n = o->n / (uint32_t)sizeof *member;

    frame_number(to, n);
    for (uint32_t i = 0; i < n; i++)
        frame_number(to, member[i]);
}

static void define_object(void *ctx, const struct object *o)
{
    struct defining *d = ctx;

    frame_number(d->to, o->kind);
    if (o->kind == OBJECT_GROUP)
        define_members(d->to, o);
    else if (o->kind == OBJECT_FILE)
        frame_text(d->to, o->bytes);
    else
        frame_number(d->to, o->communicator);
    if (o->kind == OBJECT_HANDLE)
        frame_number(d->to, o->file);
    define_one(d);
}

/* Up to a number, so that the communicators they are of are defined. */
static void define_objects(uint32_t end)
{
    struct defining objects = {&live.socket.queue, TRACER_FRAME_OBJECTS, 0, live.n_objects};

    if (live.n_objects == end)
        return;
    begin_defining(&objects);
    objects_each(live.n_objects, end, define_object, &objects);
    frame_end(objects.to, objects.begin);
    live.n_objects = end;
}

/* What the records that were taken by now refer to. */
static void define_new(void)
{
    uint32_t n_objects = objects_count();
    struct blob *to = &live.socket.queue;
    struct defining regions = {to, TRACER_FRAME_REGIONS, 0, live.n_regions};
    struct defining comms = {to, TRACER_FRAME_COMMS, 0, live.n_communicators};
    size_t before = to->n;

    begin_defining(&regions);
    if (regions_from(live.n_regions, define_region, &regions) == live.n_regions)
        to->n = before;
    else
        frame_end(to, regions.begin);
    live.n_regions = regions.n;
    before = to->n;
    begin_defining(&comms);
    if (communicators_from(live.n_communicators, define_communicator, &comms) ==
        live.n_communicators)
        to->n = before;
    else
        frame_end(to, comms.begin);
    live.n_communicators = comms.n;
    define_objects(n_objects);
}

static void connect_again(void)
{
    if (!live_socket_connect(&live.socket))
        return;
    live.n_regions = live.n_communicators = live.n_objects = 0;
    for (size_t i = 0; i < live.n_writers; i++)
        if (live.writer[i])
            live.writer[i]->n_lost_in_all = 0;
    say_hello(&live.socket.queue);
}

/* -------------------------------------------------------------------------------- writers */

/* Where there is no memory for another one recording has ended: nobody looks at this one. */
static struct frame_writer *writer_of(struct recorder *r)
{
    static struct frame_writer of_nobody;

    while (live.n_writers <= r->thread) {
        if (!memory_grow(&live.writer, live.n_writers, live.cap_writers))
            return &of_nobody;
        live.writer[live.n_writers++] = NULL;
    }
    if (live.writer[r->thread] == NULL) {
        live.writer[r->thread] = memory_zeroed(1, sizeof **live.writer);
        live.writer[r->thread]->recorder = r;
    }
    return live.writer[r->thread];
}

static void put(struct frame_writer *l)
{
    uint64_t n_records = l->n_records;

    frame_writer_put(l, &live.socket.queue);
    live_socket_queued(&live.socket, n_records);
}

/* The frame goes, or is lost. */
static void emit(struct frame_writer *l)
{
    size_t n = frame_writer_bytes(l);

    if (l->n_records == 0)
        return;
    if (n > TRACER_MAX_PAYLOAD_BYTES || !live_socket_has_room(&live.socket, n)) {
        frame_writer_lose(l);
        return;
    }
    define_new();
    put(l);
}

static uint64_t take_slots(struct frame_writer *l, const union slot *slot, size_t n)
{
    uint64_t n_records = frame_writer_records(l, slot, n);

    if (frame_writer_bytes(l) > FRAME_FULL)
        emit(l);
    return n_records;
}

static void take_entry(struct frame_writer *l, const struct ring_entry *e)
{
    uint32_t n_known = e->generation == l->generation ? l->n_peeked : 0;

    if (e->has_gap) {
        emit(l);
        l->n_lost += e->n_lost - l->n_peeked_records;
        l->n_lost_in_all += e->n_lost - l->n_peeked_records;
        frame_writer_restart(l, e->open, e->n_open);
        n_known = 0;
    }
    take_slots(l, e->slot + n_known, e->n - n_known);
    l->generation = e->generation + 2;
    l->n_peeked = 0;
    l->n_peeked_records = 0;
}

/* All full chunks. Returns how full the ring was. */
static double drain_ring(struct frame_writer *l)
{
    struct ring *ring = atomic_load_explicit(&l->recorder->ring, memory_order_acquire);
    struct ring_entry *e;
    double fill;

    if (ring == NULL)
        return 0;
    fill = ring_fill_ratio(ring);
    while ((e = ring_first(ring)) != NULL) {
        take_entry(l, e);
        ring_drop(ring);
    }
    return fill;
}

/* The records of the chunk that is being filled; they come again with it when it is full. False
 * if it is not the one that comes next, or another one was begun. */
static bool peek(struct frame_writer *l)
{
    static union slot copy[CHUNK_SLOTS];
    struct recorder *r = l->recorder;
    unsigned generation = atomic_load_explicit(&r->generation, memory_order_acquire);
    const union slot *first = r->first->slot;
    const union slot *next = atomic_load_explicit(&r->next, memory_order_acquire);
    size_t n;

    if (generation != l->generation || next < first || next > first + CHUNK_SLOTS)
        return false;
    n = (size_t)(next - first);
    if (n > l->n_peeked)
        atomic_store_explicit(&r->peeked, next, memory_order_relaxed); /* it stays as it is */
    for (size_t i = l->n_peeked; i < n; i++) {
        const volatile union slot *from = &first[i];

        copy[i].request.id = from->request.id;
        copy[i].request.unused = from->request.unused;
    }
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&r->generation, memory_order_relaxed) != generation)
        return false;
    if (n > l->n_peeked) {
        l->n_peeked_records += take_slots(l, copy + l->n_peeked, n - l->n_peeked);
        l->n_peeked = (uint32_t)n;
    }
    return true;
}

/* What the thread has recorded until now. False if that is not all: it is handed over, or a
 * chunk of it is not in the ring yet, or was lost. */
static bool take_all(struct frame_writer *l)
{
    for (int i = 0; i < TRIES; i++) {
        drain_ring(l);
        if (peek(l))
            return true;
        sched_yield();
    }
    return false;
}

/* ---------------------------------------------------------------------------------- ticks */

/* The thread is outside its recorder, or was for a moment. */
static bool is_outside(const struct recorder *r)
{
    for (int i = 0; i < TRIES; i++) {
        if (!atomic_load_explicit(&r->busy_at, memory_order_acquire))
            return true;
        sched_yield();
    }
    return false;
}

static int64_t resident_kb(void)
{
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[128] = "";
    long long pages = 0;

    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof text - 1) <= 0 || sscanf(text, "%*d %lld", &pages) != 1)
        pages = 0;
    close(fd);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int64_t cpu_us(void)
{
    struct rusage use = {0};

    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000LL + use.ru_utime.tv_usec +
           use.ru_stime.tv_usec;
}

static void say_until(uint64_t time_ns)
{
    size_t begin;

    if (!live_socket_has_room(&live.socket, TRACER_HEADER_SIZE + 8))
        return;
    begin = frame_begin(&live.socket.queue, TRACER_FRAME_TICK);
    frame_u64(&live.socket.queue, time_ns);
    frame_end(&live.socket.queue, begin);
}

/* Everything that was recorded up to now. */
static void tick(void)
{
    uint64_t now_ns = clock_ns();
    bool is_complete = true;

    recorder_fence();
    for (struct recorder *r = recorder_newest(); r; r = r->older) {
        struct frame_writer *l = writer_of(r);
        bool is_told = is_outside(r);

        is_told = take_all(l) && is_told;
        if (is_told && r->thread == 0) {
            frame_writer_counter(l, now_ns, 0, resident_kb());
            frame_writer_counter(l, now_ns, 1, cpu_us());
        }
        is_complete = is_complete && is_told;
        emit(l);
    }
    if (is_complete)
        say_until(now_ns);
}

/* --------------------------------------------------------------------------------- thread */

/* Wait until a time, or for the end. Returns true when that has come. */
static bool wait_until(uint64_t time_ns)
{
    struct timespec t = {.tv_sec = (time_t)(time_ns / 1000000000u),
                         .tv_nsec = (long)(time_ns % 1000000000u)};
    bool is_ending;

    pthread_mutex_lock(&live.lock);
    if (!live.is_ending)
        pthread_cond_timedwait(&live.ending, &live.lock, &t);
    is_ending = live.is_ending;
    pthread_mutex_unlock(&live.lock);
    return is_ending;
}

/* Until the queue is empty, or that time has come. */
static void linger(uint64_t until_ns)
{
    live_socket_send(&live.socket);
    while (live.socket.fd >= 0 && live.socket.n_sent < live.socket.queue.n &&
           clock_ns() < until_ns) {
        live_socket_wait(&live.socket, 20);
        live_socket_send(&live.socket);
    }
}

/* Nothing is recorded any more. What is missing at the end is said too. */
static void finish(void)
{
    uint64_t end_ns = clock_ns() + LINGER_NS;
    size_t begin;

    connect_again(); /* a program that was short */
    linger(end_ns);
    for (struct recorder *r = recorder_newest(); r; r = r->older) {
        struct frame_writer *l = writer_of(r);
        struct ring *ring = atomic_load(&r->ring);

        drain_ring(l);
        emit(l);
        if (ring && ring->gap.has_gap) {
            l->n_lost += ring->gap.n_lost - l->n_peeked_records;
            l->n_lost_in_all += ring->gap.n_lost - l->n_peeked_records;
            frame_writer_restart(l, ring->gap.open, ring->gap.n_open);
        }
        if (l->n_lost && live.socket.fd >= 0)
            put(l);
    }
    say_until(clock_ns());
    if (live.socket.fd < 0)
        return;
    begin = frame_begin(&live.socket.queue, TRACER_FRAME_BYE);
    frame_end(&live.socket.queue, begin);
    linger(end_ns);
    live.n_unsent = live_socket_unsent(&live.socket);
    live_socket_close(&live.socket);
}

/* Since somebody listens. */
static void complain_of_loss(void)
{
    uint64_t n_dropped = 0, n_queued = 0, n_lost;

    for (size_t i = 0; i < live.n_writers; i++) {
        n_dropped += live.writer[i] ? live.writer[i]->n_lost_in_all : 0;
        n_queued += live.writer[i] ? live.writer[i]->n_queued : 0;
    }
    n_lost = n_dropped + live.n_unsent;
    if (n_lost > 0 && n_queued > 0 && !live.has_complained)
        complain("rank %u: %llu of %llu events were lost on their way to '%s': its reader was "
                 "too slow",
                 live.rank, (unsigned long long)n_lost,
                 (unsigned long long)(n_dropped + n_queued), live.socket.path);
}

static void *run(void *unused)
{
    uint64_t tick_ns = 0, now_ns, poll_ns = POLL_NS;

    do {
        double fill = 0;

        now_ns = clock_ns();
        if (now_ns >= tick_ns) {
            connect_again();
            tick();
            tick_ns = now_ns - now_ns % live.interval_ns + live.interval_ns;
        }
        for (struct recorder *r = recorder_newest(); r; r = r->older) {
            double one = drain_ring(writer_of(r));

            fill = one > fill ? one : fill;
        }
        live_socket_send(&live.socket);
        live_socket_listen(&live.socket);
        /* One line, for all ranks and however often it is tried. */
        if (live.socket.n_refusals > 0 && !live.has_complained && live.rank == 0)
            complain("not recorded at '%s': %s; it is tried again", live.socket.path,
                     live.socket.refusal);
        live.has_complained = live.socket.n_refusals > 0;
        poll_ns = fill > 0.25 ? BUSY_POLL_NS : POLL_NS;
        if (tick_ns < now_ns + poll_ns)
            poll_ns = tick_ns - now_ns;
    } while (!wait_until(now_ns + poll_ns));
    finish();
    complain_of_loss();
    return unused;
}

/* A child of a fork has no sender, and must not keep the connection open. */
static void forget(void)
{
    live.is_running = false;
    live_socket_close(&live.socket);
}

/* Nothing is recorded before this. */
__attribute__((constructor)) static void loaded(void)
{
    live.start_ns = clock_ns();
}

static uint64_t number_in(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t value = text && text[0] ? strtoull(text, NULL, 10) : otherwise;

    return value < least ? least : value > most ? most : value;
}

bool live_start(const struct live_process *place)
{
    const char *path = getenv("SNAG_TRACER_LIVE");
    uint64_t buffer_kb = number_in("SNAG_TRACER_LIVE_KB", 64, 1u << 20, 2048);
    pthread_condattr_t attributes;
    sigset_t all, old;

    if (path == NULL || path[0] == '\0')
        return false;
    live.rank = place->rank;
    live.n_ranks = place->n_ranks;
    live.job = place->job;
    live.realtime_ns = place->realtime_ns;
    live.interval_ns = MS * number_in("SNAG_TRACER_LIVE_MS", 1, 60000, 100);
    live.socket.path = path;
    live.socket.limit =
        2 * 1024 * buffer_kb < MIN_QUEUE_BYTES ? MIN_QUEUE_BYTES : 2 * 1024 * buffer_kb;
    ring_size(buffer_kb * 1024 / (CHUNK_SLOTS * sizeof(union slot)));
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&live.ending, &attributes);
    pthread_atfork(NULL, NULL, forget);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &old); /* the program's handlers run in its own threads */
    live.is_running = pthread_create(&live.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!live.is_running)
        complain("rank %u cannot start a thread; there is no live output", live.rank);
    return live.is_running;
}

void live_stop(void)
{
    if (!live.is_running)
        return;
    live.is_running = false;
    pthread_mutex_lock(&live.lock);
    live.is_ending = true;
    pthread_cond_signal(&live.ending);
    pthread_mutex_unlock(&live.lock);
    pthread_join(live.thread, NULL);
}
