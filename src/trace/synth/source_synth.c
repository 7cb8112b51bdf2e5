/*
 * source_synth -- a trace said in one line, for tests and demonstrations:
 *
 *     synth:20*step(compute@1ms >1 <1 |);ranks=4;jitter=0.1;slow=compute/15/10/2
 *
 * What there is: docs/formats.md, "Programs in one line".
 *
 * The program is run when it is opened: every rank goes on until it needs a message that was
 * not sent yet or a barrier that is not full, then the next rank has its turn; when a round
 * brings none forward, they wait for each other for ever. Threads of a team need nothing from
 * other ranks: they are run at once when they are forked.
 *
 * Of that run only a diary is kept: when each wait of a rank was over, and from when to when
 * its teams were at work. With it a location can be run again, alone, and that is how it is
 * read: its events are made as they are asked for.
 */
#include "trace/source.h"

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
#define BEGIN_NS 200u       /* from a fork to what a thread does */
#define DEEPEST 256         /* more than the parser lets through */
#define MAX_RANKS 100000u   /* random numbers of threads begin so far from each other */
#define MAX_OWN_NS 1e15     /* of one call: 11 days */
#define MAX_EVENTS 1e10     /* of all ranks: an hour */
#define MAX_MEETINGS 3e8    /* messages, barriers and teams of all ranks: some GB */
#define WINDOW 1024u        /* events that are made before any is handed on */
#define STEPS_TOLD 1048576u /* a sign of life after so many */

/* An item being run: how often still, and what is next inside it. */
struct item_frame {
    const struct synth_item *item;
    uint64_t n_left;
    const struct synth_item *next;
};

struct thread {
    const struct synth_program *program;
    uint32_t rank, number;
    uint64_t now_ns;
    struct rng rng;
    uint64_t *n_calls;       /* [regions] */
    struct event_list *list; /* what it does; NULL when nobody wants to know */
};

/* A team at work. */
struct shift {
    const struct synth_item *inside;
    uint64_t fork_ns, last_ns; /* when the last thread was done */
};

/* What a rank cannot know alone. */
struct diary {
    uint64_t *met_ns; /* [n_met] when each of its receives and barriers let it go on */
    size_t n_met, met_cap;
    struct shift *shift; /* [n_shifts] */
    size_t n_shifts, shift_cap;
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

/* What ranks that run together share. */
struct synth_shared {
    struct idmap channel_id;
    struct channel *channel;
    size_t channel_cap;
    struct barrier *barrier;
    size_t n_barriers, barrier_cap;
};

/* A rank on its way through the program. */
struct synth_rank {
    const struct synth_program *program;
    struct item_frame frame[DEEPEST];
    int depth;
    const struct synth_item *next; /* outside any other */
    struct thread *master;         /* and those of its teams behind it, where ranks meet */
    uint32_t n_posted, n_barriers;
    bool is_waiting; /* has entered what it waits in */
    struct synth_shared
        *meeting; /* NULL: it is alone, and takes what it needs from its diary */
    struct diary *diary;
    size_t n_met, n_shifts; /* so far */
};

struct synth_run {
    struct synth_program program;
    struct arena arena;
    uint32_t n_regions;
    struct diary *diary; /* [n_ranks] */
};

static uint64_t local_time(const struct thread *t)
{
    const struct synth_program *program = t->program;
    double ahead = program->skew_ns + program->drift_ppm * 1e-6 * (double)t->now_ns;

    return t->now_ns + (uint64_t)(t->rank * ahead);
}

static void note(struct thread *t, enum event_kind kind, uint32_t region)
{
    if (t->list)
        event_list_push(t->list, local_time(t), kind, region);
}

/* The estimate of a begin or an end, if it is one; both are where a call is the innermost one.
 */
static void note_off(struct thread *t, uint32_t region, bool is_leave)
{
    for (const struct synth_off *off = t->list ? t->program->off : NULL; off; off = off->after)
        if (off->region == region)
            *event_list_estimate(t->list, local_time(t)) = (struct time_estimate){
                .region = region, .is_leave = is_leave, .off_ns = (uint64_t)rint(off->ns)};
}

static void note_enter(struct thread *t, uint32_t region)
{
    note(t, EVENT_ENTER, region);
    note_off(t, region, false);
}

static void note_leave(struct thread *t, uint32_t region)
{
    note_off(t, region, true);
    note(t, EVENT_LEAVE, region);
}

static void note_team(struct thread *t, enum team_record_kind kind)
{
    if (t->list)
        *event_list_team(t->list, local_time(t)) = (struct team_record){
            .kind = kind, .comm = NO_TEAM_COMM, .number = t->program->n_threads};
}

static bool is_slow(const struct synth_slow *slow, const struct thread *t, uint64_t count)
{
    return count % slow->every == 0 &&
           (slow->only_rank == NO_RANK || slow->only_rank == t->rank) &&
           (slow->only_thread == NO_RANK || slow->only_thread == t->number);
}

#define WIDE_SHARE 0.05 /* of the calls, with SYNTH_MIXED */
#define WIDE 3

static double vary(struct thread *t)
{
    enum synth_shape shape = t->program->shape;

    if (shape == SYNTH_EXPONENTIAL)
        return -log(1 - rng_real(&t->rng)) - 1;
    if (shape == SYNTH_MIXED && rng_real(&t->rng) < WIDE_SHARE)
        return WIDE * rng_normal(&t->rng);
    return rng_normal(&t->rng);
}

static uint64_t own_time(struct thread *t, const struct synth_item *item)
{
    const struct synth_program *program = t->program;
    uint64_t count = ++t->n_calls[item->region];
    double ns = item->own_ns;

    if (program->jitter > 0)
        ns *= exp(program->jitter * vary(t));
    for (const struct synth_slow *slow = program->slow; slow; slow = slow->after)
        if (slow->region == item->region && is_slow(slow, t, count))
            ns *= slow->factor + slow->growth * (double)count;
    return (uint64_t)rint(fmin(ns, MAX_OWN_NS));
}

/* --------------------------------------------------------------------------------- meeting */

static struct channel *channel_of(struct synth_shared *meeting, uint32_t from, uint32_t to)
{
    uint32_t n_before = meeting->channel_id.n;
    uint32_t at = idmap_add(&meeting->channel_id, key_pair(from, to));

    if (at == n_before) {
        mem_grow(&meeting->channel, &meeting->channel_cap, (size_t)at + 1);
        meeting->channel[at] = (struct channel){0};
    }
    return &meeting->channel[at];
}

static void send_message(struct synth_rank *rank, uint32_t to)
{
    struct channel *channel = channel_of(rank->meeting, rank->master->rank, to);

    if (channel->n_taken == channel->n)
        channel->n_taken = channel->n = 0;
    *mem_push(&channel->sent_ns, &channel->n, &channel->cap) = rank->master->now_ns;
}

/* False when the message has not been sent yet. */
static bool receive_message(struct synth_rank *rank, uint32_t from)
{
    struct channel *channel = channel_of(rank->meeting, from, rank->master->rank);
    uint64_t arrival;

    if (channel->n_taken == channel->n)
        return false;
    arrival = channel->sent_ns[channel->n_taken++] + LATENCY_NS;
    if (rank->master->now_ns < arrival)
        rank->master->now_ns = arrival;
    return true;
}

/* Arrives when it has not yet; false when somebody is missing. */
static bool pass_barrier(struct synth_rank *rank, bool has_arrived)
{
    struct synth_shared *meeting = rank->meeting;
    struct barrier *barrier;

    while (rank->n_barriers >= meeting->n_barriers) {
        *mem_push(&meeting->barrier, &meeting->n_barriers, &meeting->barrier_cap) =
            (struct barrier){0};
    }
    barrier = &meeting->barrier[rank->n_barriers];
    if (!has_arrived) {
        barrier->n_arrived++;
        if (rank->master->now_ns > barrier->last_ns)
            barrier->last_ns = rank->master->now_ns;
    }
    if (barrier->n_arrived < rank->program->n_ranks)
        return false;
    rank->master->now_ns = barrier->last_ns + LATENCY_NS;
    return true;
}

/* In a receive or a barrier: false when it must wait, else it is when it goes on. */
static bool meet(struct synth_rank *rank, const struct synth_item *item, uint32_t peer,
                 bool has_arrived)
{
    struct diary *diary = rank->diary;

    if (rank->meeting == NULL) {
        rank->master->now_ns = diary->met_ns[rank->n_met++];
        return true;
    }
    if (item->kind == SYNTH_RECV ? !receive_message(rank, peer)
                                 : !pass_barrier(rank, has_arrived))
        return false;
    *mem_push(&diary->met_ns, &diary->n_met, &diary->met_cap) = rank->master->now_ns;
    return true;
}

static void meeting_release(struct synth_shared *meeting)
{
    for (uint32_t i = 0; i < meeting->channel_id.n; i++)
        free(meeting->channel[i].sent_ns);
    idmap_release(&meeting->channel_id);
    free(meeting->channel);
    free(meeting->barrier);
}

/* --------------------------------------------------------------------------------- running */

static void note_message(struct synth_rank *rank, enum message_kind kind, uint32_t peer)
{
    uint32_t order = rank->n_posted++;
    uint64_t now_ns;

    if (rank->master->list == NULL)
        return;
    now_ns = local_time(rank->master);
    *event_list_message(rank->master->list, now_ns) = (struct message){
        .begin_ns = now_ns,
        .bytes = 8,
        .match = MESSAGE_UNMATCHED,
        .peer = peer,
        .order = order,
        .kind = (uint32_t)kind,
    };
}

static void note_barrier(struct synth_rank *rank, uint64_t begin_ns)
{
    uint32_t order = rank->n_barriers++;

    if (rank->master->list)
        *event_list_collective(rank->master->list, local_time(rank->master)) =
            (struct collective){
                .begin_ns = begin_ns,
                .kind = COLLECTIVE_BARRIER,
                .root = NO_ROOT,
                .order = order,
                .instance = NO_INSTANCE,
            };
}

/* What an MPI call is for; false when it must wait. */
static bool communicate(struct synth_rank *rank, const struct synth_item *item,
                        bool has_arrived)
{
    uint32_t n = rank->program->n_ranks, shift = item->shift % n, r = rank->master->rank;
    uint32_t to = (r + shift) % n, from = (r + n - shift) % n;
    uint64_t begin_ns = local_time(rank->master);

    if (item->kind == SYNTH_SEND) {
        note_message(rank, MESSAGE_SEND, to);
        if (rank->meeting)
            send_message(rank, to);
        return true;
    }
    if (!meet(rank, item, from, has_arrived))
        return false;
    if (item->kind == SYNTH_RECV)
        note_message(rank, MESSAGE_RECV, from);
    else
        note_barrier(rank, begin_ns);
    return true;
}

/* Runs one MPI call, or goes on waiting in it. Returns false if it must wait. */
static bool run_mpi(struct synth_rank *rank, const struct synth_item *item)
{
    if (!rank->is_waiting) {
        note_enter(rank->master, item->region);
        rank->master->now_ns += MPI_OWN_NS;
    }
    rank->is_waiting = !communicate(rank, item, rank->is_waiting);
    if (rank->is_waiting)
        return false;
    note_leave(rank->master, item->region);
    return true;
}

/* What a thread of a team does, with calls inside calls: as deep as the parser lets through. */
static void run_thread(struct thread *t, const struct synth_item *item)
{
    for (; item; item = item->after)
        for (uint64_t i = 0; i < item->n_times; i++) {
            if (item->only_rank != NO_RANK && item->only_rank != t->rank)
                continue;
            note_enter(t, item->region);
            t->now_ns += own_time(t, item);
            run_thread(t, item->inside);
            note_leave(t, item->region);
        }
}

static void begin_shift(struct thread *t, const struct shift *shift)
{
    t->now_ns = t->number == 0 ? shift->fork_ns : shift->fork_ns + BEGIN_NS;
    note_team(t, TEAM_BEGIN);
    run_thread(t, shift->inside);
    note_enter(t, t->program->barrier);
}

static void end_shift(struct thread *t, const struct shift *shift)
{
    t->now_ns = shift->last_ns + BEGIN_NS;
    note_leave(t, t->program->barrier);
    note_team(t, TEAM_END);
}

/* Runs the other threads, too, where nobody has. */
static struct shift *next_shift(struct synth_rank *rank, const struct synth_item *inside)
{
    struct diary *diary = rank->diary;
    struct shift *shift;

    if (rank->meeting == NULL)
        return &diary->shift[rank->n_shifts++];
    shift = mem_push(&diary->shift, &diary->n_shifts, &diary->shift_cap);
    *shift = (struct shift){inside, rank->master->now_ns, 0};
    for (uint32_t i = 1; i < rank->program->n_threads; i++) {
        begin_shift(&rank->master[i], shift);
        shift->last_ns =
            shift->last_ns > rank->master[i].now_ns ? shift->last_ns : rank->master[i].now_ns;
    }
    return shift;
}

static void run_team(struct synth_rank *rank, const struct synth_item *inside)
{
    struct thread *master = rank->master;
    struct shift *shift = next_shift(rank, inside);

    note_team(master, TEAM_FORK);
    begin_shift(master, shift);
    if (master->now_ns > shift->last_ns)
        shift->last_ns = master->now_ns; /* once it is known it stays */
    end_shift(master, shift);
    note_team(master, TEAM_JOIN);
}

static void start(struct synth_rank *rank, struct item_frame *frame)
{
    const struct synth_item *item = frame->item;

    frame->next = NULL;
    if (item->kind != SYNTH_CALL && item->kind != SYNTH_TEAM)
        return;
    note_enter(rank->master, item->region);
    rank->master->now_ns += own_time(rank->master, item);
    if (item->kind == SYNTH_TEAM)
        run_team(rank, item->inside);
    else
        frame->next = item->inside;
}

/* Begins the item at *next, unless it is for another rank, and moves *next after it. */
static void descend(struct synth_rank *rank, const struct synth_item **next)
{
    const struct synth_item *item = *next;

    *next = item->after;
    if (item->only_rank != NO_RANK && item->only_rank != rank->master->rank)
        return;
    rank->frame[rank->depth] = (struct item_frame){.item = item, .n_left = item->n_times};
    start(rank, &rank->frame[rank->depth++]);
}

/* Goes on by one item, or the end of one. False when the rank is done or must wait. */
static bool step(struct synth_rank *rank)
{
    struct item_frame *frame = rank->depth > 0 ? &rank->frame[rank->depth - 1] : NULL;
    const struct synth_item **next = frame ? &frame->next : &rank->next;

    if (*next) {
        descend(rank, next);
        return true;
    }
    if (frame == NULL)
        return false;
    if (frame->item->kind != SYNTH_CALL && frame->item->kind != SYNTH_TEAM) {
        if (!run_mpi(rank, frame->item))
            return false;
    } else {
        note_leave(rank->master, frame->item->region);
    }
    if (--frame->n_left > 0)
        start(rank, frame);
    else
        rank->depth--;
    return true;
}

static void thread_init(struct thread *t, const struct synth_run *run, uint32_t rank,
                        uint32_t number)
{
    t->program = &run->program;
    t->rank = rank;
    t->number = number;
    t->now_ns = 0;
    t->rng.state =
        run->program.seed * 0x9e3779b97f4a7c15u + rank + (uint64_t)number * MAX_RANKS;
    t->n_calls = mem_resize(t->n_calls, run->n_regions, sizeof *t->n_calls);
    memset(t->n_calls, 0, run->n_regions * sizeof *t->n_calls);
}

static void rank_init(struct synth_rank *rank, const struct synth_run *run,
                      struct thread *master)
{
    rank->program = &run->program;
    rank->depth = 0;
    rank->next = run->program.first;
    rank->master = master;
    rank->n_posted = rank->n_barriers = 0;
    rank->is_waiting = false;
    rank->diary = &run->diary[master->rank];
    rank->n_met = rank->n_shifts = 0;
}

/* ---------------------------------------------------------------------------------- opening */

/* All ranks together, each as far as it can get; then the diaries are complete. */
static int run_ranks(struct synth_rank *rank, uint32_t n_ranks, const struct source *source)
{
    bool is_moving = true, is_done = false;
    uint64_t n_steps = 0;

    while (is_moving && !is_done) {
        is_moving = false;
        is_done = true;
        for (uint32_t r = 0; r < n_ranks; r++) {
            while (step(&rank[r])) {
                is_moving = true;
                if (++n_steps % STEPS_TOLD == 0)
                    source_progress(source, n_steps);
            }
            is_done &= rank[r].depth == 0 && rank[r].next == NULL;
        }
    }
    if (!is_done)
        return err_set(ERR_FORMAT, "synth: the ranks wait for each other for ever");
    return 0;
}

/* Whether anything in a program needs more than one of its locations. */
static bool is_meeting(const struct synth_item *item)
{
    for (; item; item = item->after)
        if (item->kind != SYNTH_CALL || is_meeting(item->inside))
            return true;
    return false;
}

static int run_all(struct synth_run *run, const struct source *source)
{
    uint32_t n_ranks = run->program.n_ranks, n_threads = run->program.n_threads;
    struct synth_rank *rank = mem_alloc(n_ranks, sizeof *rank);
    struct thread *thread = mem_alloc((size_t)n_ranks * n_threads, sizeof *thread);
    struct synth_shared meeting = {0};
    int rc;

    for (uint32_t r = 0; r < n_ranks; r++) {
        for (uint32_t i = 0; i < n_threads; i++)
            thread_init(&thread[r * n_threads + i], run, r, i);
        rank_init(&rank[r], run, &thread[r * n_threads]);
        rank[r].meeting = &meeting;
    }
    rc = run_ranks(rank, n_ranks, source);
    for (uint32_t i = 0; i < n_ranks * n_threads; i++)
        free(thread[i].n_calls);
    meeting_release(&meeting);
    free(thread);
    free(rank);
    return rc;
}

static void synth_close(struct source *source)
{
    struct synth_run *run = source->impl;

    for (uint32_t r = 0; run->diary && r < run->program.n_ranks; r++) {
        free(run->diary[r].met_ns);
        free(run->diary[r].shift);
    }
    free(run->diary);
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

/* How many events the items make on one location, and how many of its doings need others,
 * roughly. */
struct synth_estimate {
    double n_events, n_meetings;
};

static struct synth_estimate estimate(const struct synth_item *item)
{
    struct synth_estimate sum = {0, 0};

    for (; item; item = item->after) {
        struct synth_estimate inside = estimate(item->inside);

        sum.n_events += (double)item->n_times * (3 + inside.n_events);
        sum.n_meetings +=
            (double)item->n_times * ((item->kind != SYNTH_CALL) + inside.n_meetings);
    }
    return sum;
}

static int check_size(const struct synth_program *program)
{
    struct synth_estimate of_one = estimate(program->first);

    if (of_one.n_events * program->n_ranks * program->n_threads > MAX_EVENTS)
        return err_set(ERR_RANGE, "synth: more than %.0f events", MAX_EVENTS);
    if (of_one.n_meetings * program->n_ranks > MAX_MEETINGS)
        return err_set(ERR_RANGE, "synth: more than %.0f messages, barriers and teams",
                       MAX_MEETINGS);
    return 0;
}

static int synth_open(struct source *source, const char *path)
{
    struct synth_run *run = mem_alloc(1, sizeof *run);
    int rc;

    source->impl = run;
    rc = synth_parse(path + strlen("synth:"), &run->program, &source->defs, &run->arena);
    if (rc == 0)
        rc = check_size(&run->program);
    if (rc < 0)
        return rc;
    define_ranks(&source->defs, &run->program);
    run->n_regions = source->defs.names.n;
    run->diary = mem_alloc(run->program.n_ranks, sizeof *run->diary);
    return is_meeting(run->program.first) ? run_all(run, source) : 0;
}

static bool accepts(const char *path)
{
    return strncmp(path, "synth:", strlen("synth:")) == 0;
}

/* ---------------------------------------------------------------------------------- reading */

struct synth_reader {
    const struct synth_run *run;
    struct thread thread;
    struct synth_rank rank; /* of a master */
    struct event_list list; /* made, but not handed on */
    struct event_cursor cursor;
};

static void *reader_new(struct source *source)
{
    struct synth_reader *reader = mem_alloc(1, sizeof *reader);

    reader->run = source->impl;
    return reader;
}

static void reader_free(void *impl)
{
    struct synth_reader *reader = impl;

    free(reader->thread.n_calls);
    event_list_release(&reader->list);
    free(reader);
}

static int begin(void *impl, uint32_t location, struct quality *quality)
{
    struct synth_reader *reader = impl;
    uint32_t n_threads = reader->run->program.n_threads;

    (void)quality;
    event_list_clear(&reader->list);
    reader->cursor = (struct event_cursor){.list = &reader->list};
    thread_init(&reader->thread, reader->run, location / n_threads, location % n_threads);
    reader->thread.list = &reader->list;
    rank_init(&reader->rank, reader->run, &reader->thread);
    return 0;
}

/* False when the location has nothing more to do. A thread that is no master only works in
 * teams. */
static bool go_on(struct synth_reader *reader)
{
    struct synth_rank *rank = &reader->rank;
    const struct shift *shift;

    if (reader->thread.number == 0)
        return step(rank);
    if (rank->n_shifts == rank->diary->n_shifts)
        return false;
    shift = &rank->diary->shift[rank->n_shifts++];
    begin_shift(&reader->thread, shift);
    end_shift(&reader->thread, shift);
    return true;
}

static size_t next(void *impl, struct event_batch *batch, size_t most, struct quality *quality)
{
    struct synth_reader *reader = impl;
    size_t n = 0;

    (void)quality;
    while (n < most) {
        size_t n_read = event_cursor_next(&reader->cursor, batch, most - n);

        n += n_read;
        if (n_read > 0)
            continue;
        event_list_clear(&reader->list);
        reader->cursor.event = 0;
        while (reader->list.all.n < WINDOW && go_on(reader))
            ;
        if (reader->list.all.n == 0)
            break;
    }
    return n;
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
    .reader_free = reader_free,
    .begin = begin,
    .next = next,
    .end = end,
};
