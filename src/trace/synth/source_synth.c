/*
 * The program is run when it is opened: every rank goes on until it needs a message that was
 * not sent yet or a barrier that is not full, then the next rank has its turn; when a round
 * brings none forward, they wait for each other for ever. Threads of a team need nothing from
 * other ranks: they are run at once when they are forked. What each did lies in memory as a
 * finished list of events, from which the readers copy.
 */
#include "trace/synth/source_synth.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/rng.h"
#include "trace/event_list.h"
#include "trace/synth/synth_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_NS 1000u
#define MPI_OWN_NS 500u
#define BEGIN_NS 200u      /* from a fork to what a thread does */
#define DEEPEST 256        /* more than the parser lets through */
#define MOST_RANKS 100000u /* random numbers of threads begin so far from each other */
#define MOST_EVENTS 3e8    /* of all ranks: some GB */

/* An item being run: how often still, and what is next inside it. */
struct frame {
    const struct synth_item *item;
    uint64_t n_left;
    const struct synth_item *next;
};

struct thread {
    uint32_t rank, number;
    uint64_t now_ns;
    struct rng rng;
    uint64_t *n_calls; /* [regions] */
    struct event_list list;
};

struct rank {
    struct frame frame[DEEPEST];
    int depth;
    const struct synth_item *next; /* outside any other */
    struct thread *master;
    uint32_t n_posted, n_barriers;
    bool is_waiting; /* has entered what it waits in */
};

/* Messages on the way from one rank to another: when each was sent. */
struct channel {
    uint64_t *sent_ns;
    size_t n, n_taken, cap;
};

struct barrier {
    uint32_t n_arrived;
    uint64_t last_ns;
};

struct synth_run {
    struct synth_program program;
    struct arena arena;
    struct rank *rank;     /* [n_ranks] */
    struct thread *thread; /* [n_ranks * n_threads] */
    struct idmap channel_id;
    struct channel *channel;
    size_t channel_cap;
    struct barrier *barrier;
    size_t n_barriers, barrier_cap;
};

static uint64_t local_time(const struct synth_run *run, uint32_t r, uint64_t ns)
{
    double ahead = run->program.skew_ns + run->program.drift_ppm * 1e-6 * (double)ns;

    return ns + (uint64_t)(r * ahead);
}

static void note(struct synth_run *run, struct thread *t, enum event_kind kind, uint32_t region)
{
    event_list_push(&t->list, local_time(run, t->rank, t->now_ns), kind, region);
}

/* The estimate of a begin or an end, if it is one; both are where a call is the innermost one.
 */
static void note_off(struct synth_run *run, struct thread *t, uint32_t region, bool is_leave)
{
    for (const struct synth_off *off = run->program.off; off; off = off->after)
        if (off->region == region)
            *event_list_estimate(&t->list, local_time(run, t->rank, t->now_ns)) =
                (struct border_estimate){region, is_leave, (uint64_t)rint(off->ns)};
}

static void note_enter(struct synth_run *run, struct thread *t, uint32_t region)
{
    note(run, t, EVENT_ENTER, region);
    note_off(run, t, region, false);
}

static void note_leave(struct synth_run *run, struct thread *t, uint32_t region)
{
    note_off(run, t, region, true);
    note(run, t, EVENT_LEAVE, region);
}

static void note_team(struct synth_run *run, struct thread *t, enum team_record_kind kind)
{
    *event_list_team(&t->list, local_time(run, t->rank, t->now_ns)) = (struct team_record){
        .kind = kind, .comm = NO_TEAM_COMM, .number = run->program.n_threads};
}

static bool is_slow(const struct synth_slow *slow, const struct thread *t, uint64_t count)
{
    return count % slow->every == 0 &&
           (slow->only_rank == NO_RANK || slow->only_rank == t->rank) &&
           (slow->only_thread == NO_RANK || slow->only_thread == t->number);
}

static uint64_t own_time(struct synth_run *run, struct thread *t, const struct synth_item *item)
{
    uint64_t count = ++t->n_calls[item->region];
    double ns = item->own_ns;

    if (run->program.jitter > 0)
        ns *= exp(run->program.jitter * rng_normal(&t->rng));
    for (const struct synth_slow *slow = run->program.slow; slow; slow = slow->after)
        if (slow->region == item->region && is_slow(slow, t, count))
            ns *= slow->factor;
    return (uint64_t)rint(ns);
}

static struct channel *channel_of(struct synth_run *run, uint32_t from, uint32_t to)
{
    uint32_t n_before = run->channel_id.n;
    uint32_t at = idmap_add(&run->channel_id, key_pair(from, to));

    if (at == n_before) {
        mem_grow(&run->channel, &run->channel_cap, (size_t)at + 1, sizeof *run->channel);
        run->channel[at] = (struct channel){0};
    }
    return &run->channel[at];
}

static void push_message(struct synth_run *run, uint32_t r, enum message_kind kind,
                         uint32_t peer)
{
    struct rank *rank = &run->rank[r];
    uint64_t now_ns = local_time(run, r, rank->master->now_ns);

    *event_list_message(&rank->master->list, now_ns) = (struct message){
        .begin_ns = now_ns,
        .bytes = 8,
        .match = MESSAGE_UNMATCHED,
        .peer = peer,
        .order = rank->n_posted++,
        .kind = (uint32_t)kind,
    };
}

static void run_send(struct synth_run *run, uint32_t r, uint32_t to)
{
    struct channel *channel = channel_of(run, r, to);

    push_message(run, r, MESSAGE_SEND, to);
    mem_grow(&channel->sent_ns, &channel->cap, channel->n + 1, sizeof *channel->sent_ns);
    channel->sent_ns[channel->n++] = run->rank[r].master->now_ns;
}

/* False when the message has not been sent yet. */
static bool run_recv(struct synth_run *run, uint32_t r, uint32_t from)
{
    struct channel *channel = channel_of(run, from, r);
    uint64_t arrival;

    if (channel->n_taken == channel->n)
        return false;
    arrival = channel->sent_ns[channel->n_taken++] + LATENCY_NS;
    if (run->rank[r].master->now_ns < arrival)
        run->rank[r].master->now_ns = arrival;
    push_message(run, r, MESSAGE_RECV, from);
    return true;
}

/* Arrives when it has not yet; false when somebody is missing. */
static bool run_barrier(struct synth_run *run, uint32_t r, bool has_arrived)
{
    struct rank *rank = &run->rank[r];
    struct barrier *barrier;
    uint64_t begin = rank->master->now_ns, end;

    while (rank->n_barriers >= run->n_barriers) {
        mem_grow(&run->barrier, &run->barrier_cap, run->n_barriers + 1, sizeof *run->barrier);
        run->barrier[run->n_barriers++] = (struct barrier){0};
    }
    barrier = &run->barrier[rank->n_barriers];
    if (!has_arrived) {
        barrier->n_arrived++;
        if (begin > barrier->last_ns)
            barrier->last_ns = begin;
    }
    if (barrier->n_arrived < run->program.n_ranks)
        return false;
    rank->master->now_ns = barrier->last_ns + LATENCY_NS;
    end = local_time(run, r, rank->master->now_ns);
    *event_list_collective(&rank->master->list, end) = (struct collective){
        .begin_ns = local_time(run, r, begin),
        .kind = COLLECTIVE_BARRIER,
        .root = NO_ROOT,
        .order = rank->n_barriers++,
        .instance = NO_INSTANCE,
    };
    return true;
}

/* Runs one MPI call, or goes on waiting in it. Returns false if it must wait. */
static bool run_mpi(struct synth_run *run, uint32_t r, const struct synth_item *item)
{
    struct rank *rank = &run->rank[r];
    uint32_t n = run->program.n_ranks, shift = item->shift % n;
    bool was_waiting = rank->is_waiting;

    if (!was_waiting) {
        note_enter(run, rank->master, item->region);
        rank->master->now_ns += MPI_OWN_NS;
    }
    rank->is_waiting = false;
    if (item->kind == SYNTH_SEND)
        run_send(run, r, (r + shift) % n);
    else
        rank->is_waiting = item->kind == SYNTH_RECV ? !run_recv(run, r, (r + n - shift) % n)
                                                    : !run_barrier(run, r, was_waiting);
    if (rank->is_waiting)
        return false;
    note_leave(run, rank->master, item->region);
    return true;
}

/* What a thread of a team does, with calls inside calls: as deep as the parser lets through. */
static void run_thread(struct synth_run *run, struct thread *t, const struct synth_item *item)
{
    for (; item; item = item->after)
        for (uint64_t i = 0; i < item->n_times; i++) {
            if (item->only_rank != NO_RANK && item->only_rank != t->rank)
                continue;
            note_enter(run, t, item->region);
            t->now_ns += own_time(run, t, item);
            run_thread(run, t, item->inside);
            note_leave(run, t, item->region);
        }
}

static void run_team(struct synth_run *run, struct thread *master,
                     const struct synth_item *inside)
{
    uint32_t n = run->program.n_threads;
    uint64_t fork_ns = master->now_ns, last_ns = 0;

    note_team(run, master, TEAM_FORK);
    for (struct thread *t = master; t < master + n; t++) {
        t->now_ns = t == master ? fork_ns : fork_ns + BEGIN_NS;
        note_team(run, t, TEAM_BEGIN);
        run_thread(run, t, inside);
        note_enter(run, t, run->program.barrier);
        last_ns = t->now_ns > last_ns ? t->now_ns : last_ns;
    }
    for (struct thread *t = master; t < master + n; t++) {
        t->now_ns = last_ns + BEGIN_NS;
        note_leave(run, t, run->program.barrier);
        note_team(run, t, TEAM_END);
    }
    note_team(run, master, TEAM_JOIN);
}

static void start(struct synth_run *run, uint32_t r, struct frame *frame)
{
    const struct synth_item *item = frame->item;
    struct thread *master = run->rank[r].master;

    frame->next = NULL;
    if (item->kind != SYNTH_CALL && item->kind != SYNTH_TEAM)
        return;
    note_enter(run, master, item->region);
    master->now_ns += own_time(run, master, item);
    if (item->kind == SYNTH_TEAM)
        run_team(run, master, item->inside);
    else
        frame->next = item->inside;
}

/* Begins the item at *next, unless it is for another rank, and moves *next after it. */
static void descend(struct synth_run *run, uint32_t r, const struct synth_item **next)
{
    const struct synth_item *item = *next;
    struct rank *rank = &run->rank[r];

    *next = item->after;
    if (item->only_rank != NO_RANK && item->only_rank != r)
        return;
    rank->frame[rank->depth] = (struct frame){.item = item, .n_left = item->n_times};
    start(run, r, &rank->frame[rank->depth++]);
}

/* Goes on by one item, or the end of one. False when the rank is done or must wait. */
static bool step(struct synth_run *run, uint32_t r)
{
    struct rank *rank = &run->rank[r];
    struct frame *frame = rank->depth > 0 ? &rank->frame[rank->depth - 1] : NULL;
    const struct synth_item **next = frame ? &frame->next : &rank->next;

    if (*next) {
        descend(run, r, next);
        return true;
    }
    if (frame == NULL)
        return false;
    if (frame->item->kind != SYNTH_CALL && frame->item->kind != SYNTH_TEAM) {
        if (!run_mpi(run, r, frame->item))
            return false;
    } else {
        note_leave(run, rank->master, frame->item->region);
    }
    if (--frame->n_left > 0)
        start(run, r, frame);
    else
        rank->depth--;
    return true;
}

static int run_all(struct synth_run *run)
{
    bool is_moving = true, is_done = false;

    while (is_moving && !is_done) {
        is_moving = false;
        is_done = true;
        for (uint32_t r = 0; r < run->program.n_ranks; r++) {
            while (step(run, r))
                is_moving = true;
            is_done &= run->rank[r].depth == 0 && run->rank[r].next == NULL;
        }
    }
    if (!is_done)
        return err_set(ERR_FORMAT, "synth: the ranks wait for each other for ever");
    return 0;
}

/* Of all ranks. */
static uint32_t n_threads(const struct synth_run *run)
{
    return run->program.n_ranks * run->program.n_threads;
}

static void synth_close(struct source *source)
{
    struct synth_run *run = source->impl;

    for (uint32_t l = 0; run->thread && l < n_threads(run); l++) {
        free(run->thread[l].n_calls);
        event_list_release(&run->thread[l].list);
    }
    for (uint32_t i = 0; i < run->channel_id.n; i++)
        free(run->channel[i].sent_ns);
    idmap_release(&run->channel_id);
    free(run->channel);
    free(run->barrier);
    free(run->rank);
    free(run->thread);
    arena_release(&run->arena);
    free(run);
}

static void define_ranks(struct definitions *defs, const struct synth_program *program)
{
    uint32_t world = definitions_comm(defs, "MPI_COMM_WORLD", program->n_ranks);

    for (uint32_t r = 0; r < program->n_ranks; r++) {
        for (uint32_t t = 0; t < program->n_threads; t++)
            definitions_location(defs, (uint64_t)r * program->n_threads + t,
                                 t == 0 ? "Master thread" : "OMP thread", r);
        defs->comm[world].member[r] = r;
    }
    definitions_finish(defs, NULL, 0);
    if (program->n_threads > 1)
        defs->region[program->barrier].is_barrier = true;
}

static void begin_ranks(struct synth_run *run, const struct definitions *defs)
{
    uint32_t n = run->program.n_threads;

    run->rank = mem_alloc(run->program.n_ranks, sizeof *run->rank);
    run->thread = mem_alloc(n_threads(run), sizeof *run->thread);
    for (uint32_t r = 0; r < run->program.n_ranks; r++) {
        run->rank[r].next = run->program.first;
        run->rank[r].master = &run->thread[r * n];
    }
    for (uint32_t l = 0; l < n_threads(run); l++) {
        struct thread *t = &run->thread[l];

        t->rank = l / n;
        t->number = l % n;
        t->rng.state = run->program.seed * 0x9e3779b97f4a7c15u + t->rank +
                       (uint64_t)t->number * MOST_RANKS;
        t->n_calls = mem_alloc(defs->names.n, sizeof(uint64_t));
    }
}

/* How many events the items make on one rank, roughly. */
static double count_events(const struct synth_item *item)
{
    double sum = 0;

    for (; item; item = item->after)
        sum += (double)item->n_times * (3 + count_events(item->inside));
    return sum;
}

static int synth_open(struct source *source, const char *path)
{
    struct synth_run *run = mem_alloc(1, sizeof *run);
    int rc;

    source->impl = run;
    rc = synth_parse(path + strlen("synth:"), &run->program, &source->defs, &run->arena);
    if (rc < 0)
        return rc;
    if (count_events(run->program.first) * n_threads(run) > MOST_EVENTS)
        return err_set(ERR_RANGE, "synth: more than %.0f events", MOST_EVENTS);
    define_ranks(&source->defs, &run->program);
    begin_ranks(run, &source->defs);
    return run_all(run);
}

static bool accepts(const char *path)
{
    return strncmp(path, "synth:", strlen("synth:")) == 0;
}

struct synth_reader {
    const struct synth_run *run;
    struct event_cursor cursor;
};

static void *reader_new(struct source *source)
{
    struct synth_reader *reader = mem_alloc(1, sizeof *reader);

    reader->run = source->impl;
    return reader;
}

static int begin(void *impl, uint32_t location, struct quality *quality)
{
    struct synth_reader *reader = impl;

    (void)quality;
    reader->cursor = (struct event_cursor){.list = &reader->run->thread[location].list};
    return 0;
}

static size_t next(void *impl, struct event_batch *batch, size_t most, struct quality *quality)
{
    struct synth_reader *reader = impl;

    (void)quality;
    return event_cursor_next(&reader->cursor, batch, most);
}

static void end(void *impl, struct quality *quality)
{
    (void)impl, (void)quality;
}

const struct source_ops source_synth_ops = {
    .name = "synth",
    .what = "a program said in one line: 'synth:20*step(compute@1ms >1 <1);ranks=4'",
    .opens_quickly = true,
    .accepts = accepts,
    .open = synth_open,
    .close = synth_close,
    .reader_new = reader_new,
    .reader_free = free,
    .begin = begin,
    .next = next,
    .end = end,
};
