/*
 * Every operation that ends inside the call is a candidate; the one whose partner was there
 * last is taken. One without a partner says nothing about when it was released, so it is taken
 * only when the others leave nearly all of the wait unexplained. A call that waits for a GPU is
 * followed from operation to operation on its streams.
 */
#include "explain/waiting.h"

#include "base/mem.h"
#include "base/order.h"
#include "explain/exchange.h"
#include "explain/probes.h"
#include "explain/team_barrier.h"
#include "explain/unrecorded.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 1024     /* messages before the end of a wait */
#define MAX_GUESSED 4096   /* locations, beyond which nothing is guessed */
#define CERTAIN_WEIGHT 4.0 /* of who was late, against who was in time */
#define SLOW_SHARE 0.05    /* of a wait for a GPU: less over typical is not worth a look */

/* -------------------------------------------------------------------- whom a call waits for */

struct wait_search {
    const struct trace_view *view;
    uint32_t location, row;
    bool is_mpi;      /* else only what it receives itself counts */
    uint32_t receive; /* of a probe: the call that receives what it found; else NO_CALL */
    uint64_t from_ns, to_ns;
    struct waiting best;
    struct waiting alone; /* the last that has no partner */
};

const char *waiting_kind_name(enum waiting_kind kind)
{
    static const char *const name[] = {
        [WAITING_NOT] = "not waiting",    [WAITING_UNKNOWN] = "unknown",
        [WAITING_FOR_SENDER] = "sender",  [WAITING_FOR_RECEIVER] = "receiver",
        [WAITING_FOR_ALL] = "collective", [WAITING_FOR_TEAM] = "team",
        [WAITING_FOR_DEVICE] = "device",
    };

    return name[kind];
}

/* How much of the wait lies before a moment; another clock may put that after its end. */
static uint64_t delay_until(const struct wait_search *s, uint64_t time_ns)
{
    uint64_t until = time_ns < s->to_ns ? time_ns : s->to_ns;

    return until > s->from_ns ? until - s->from_ns : 0;
}

/* Whether a delay is enough of the wait to be what it was for. */
static bool is_material(const struct wait_search *s, uint64_t delay_ns)
{
    return delay_ns > 0 &&
           (double)delay_ns >= WAITING_MATERIAL * (double)(s->to_ns - s->from_ns);
}

static bool is_inside(const struct wait_search *s, uint32_t call)
{
    if (s->receive != NO_CALL)
        return call == s->receive;
    if (!s->is_mpi)
        return call == s->row;
    return call != NO_CALL && call >= s->row &&
           call - s->row < s->view->calls[s->location].subtree_len[s->row];
}

/* By how much a receive was posted behind the end of the call that sends. */
static uint64_t behind_ns(const struct wait_search *s, const struct waiting *w)
{
    uint64_t leave = calls_leave(&s->view->calls[s->location], s->row);

    return w->kind == WAITING_FOR_RECEIVER && w->until_ns > leave ? w->until_ns - leave : 0;
}

static double weight_of(const struct wait_search *s, const struct waiting *w)
{
    return w->is_late && behind_ns(s, w) == 0 ? CERTAIN_WEIGHT : 1;
}

/*
 * The longer delay is taken. But that somebody was late is certain, and that he was in time but
 * not finished, or clocks are off, only possible: it must be much longer to be taken instead.
 */
static void offer(struct wait_search *s, const struct waiting *w)
{
    double weight = weight_of(s, w), weight_best = weight_of(s, &s->best);

    if (s->best.kind <= WAITING_UNKNOWN ||
        weight * (double)w->delay_ns >= weight_best * (double)s->best.delay_ns)
        s->best = *w;
}

/* --------------------------------------------------------------------------- messages */

static bool has_receives(const struct call_view *calls)
{
    size_t n =
        calls->n_messages < WAITING_MAX_RECORDS ? calls->n_messages : WAITING_MAX_RECORDS;

    for (size_t i = 0; i < n; i++)
        if (calls->message[i].kind == MESSAGE_RECV)
            return true;
    return false;
}

/* A send without a receive, to a rank that has none at all: when it ended is all there is. */
static void offer_alone(struct wait_search *s, struct waiting *w)
{
    uint32_t peer = definitions_find_location(s->view->defs, w->rank);

    w->has_data = peer != NO_LOCATION && s->view->calls[peer].n > 0;
    w->location = NO_LOCATION;
    if (w->kind == WAITING_FOR_RECEIVER && w->has_data && peer != s->location &&
        !has_receives(&s->view->calls[peer])) {
        w->location = peer;
        w->is_guess = true;
        w->until_ns = s->to_ns;
        w->delay_ns = delay_until(s, s->to_ns);
        offer(s, w);
        return;
    }
    s->alone = *w;
}

/* Where a receive is recorded in the call that completes it alone, nobody knows when it was
 * posted. */
static bool is_posting_known(const struct trace_view *view, const struct call_view *calls,
                             const struct message *receive)
{
    const char *name;

    if (receive->begin_ns != receive->end_ns)
        return true;
    if (receive->call >= calls->n)
        return false;
    name = view->defs->region[calls->region[receive->call]].name;
    return strncmp(name, "MPI_Wait", 8) != 0 && strncmp(name, "MPI_Test", 8) != 0;
}

static void offer_message(struct wait_search *s, const struct message *m)
{
    struct waiting w = {
        .kind = m->kind == MESSAGE_RECV ? WAITING_FOR_SENDER : WAITING_FOR_RECEIVER,
        .rank = m->peer,
        .location = NO_LOCATION,
        .bytes = m->bytes,
        .tag = m->tag,
    };
    const struct call_view *partner;
    const struct message *other;

    other = trace_view_other_end(s->view, m, &w.location);
    if (other == NULL) {
        offer_alone(s, &w);
        return;
    }
    w.has_data = true;
    partner = &s->view->calls[w.location];
    w.until_ns = calls_posted_ns(partner, other);
    if (is_posting_known(s->view, partner, other) &&
        is_material(s, behind_ns(s, &w))) { /* not for a clock that is off by a little */
        offer(s, &w);
        return;
    }
    w.delay_ns = delay_until(s, w.until_ns);
    w.is_late = is_material(s, w.delay_ns);
    if (!w.is_late) {
        w.until_ns = other->end_ns; /* when the other end's part in it was over */
        if (other->call < partner->n && calls_leave(partner, other->call) > w.until_ns)
            w.until_ns = calls_leave(partner, other->call);
        if (w.until_ns > s->to_ns)
            w.until_ns = s->to_ns;
        w.delay_ns = delay_until(s, w.until_ns);
    }
    offer(s, &w);
}

/* Sends posted before the call that were complete only in it. */
static void search_pending(struct wait_search *s, size_t at)
{
    const struct call_view *calls = &s->view->calls[s->location];
    uint64_t enter = calls->enter_ns[s->row], leave = calls_leave(calls, s->row);
    size_t lowest = at > WAITING_MAX_PENDING ? at - WAITING_MAX_PENDING : 0;
    uint64_t longest = trace_view_longest_send(s->view, s->location, at - lowest);

    while (at-- > lowest) {
        const struct message *m = &calls->message[at];

        if (enter - message_record_ns(m) > longest) /* and so are all before it */
            return;
        if (m->kind == MESSAGE_SEND && m->end_ns > enter && m->end_ns <= leave)
            offer_message(s, m);
    }
}

/* A non-blocking send that this call did not wait for, or one that is not MPI's own. */
static bool is_just_posted(const struct wait_search *s, const struct message *m,
                           uint64_t leave_ns)
{
    return m->kind == MESSAGE_SEND && (!s->is_mpi || m->end_ns > leave_ns);
}

static void search_messages(struct wait_search *s)
{
    const struct call_view *calls = &s->view->calls[s->location];
    uint64_t enter = calls->enter_ns[s->row];
    uint64_t leave = calls_leave(calls, s->receive != NO_CALL ? s->receive : s->row);
    size_t first = calls_message_from(calls, enter);

    for (size_t i = first; i < calls->n_messages && i - first < WAITING_MAX_RECORDS &&
                           message_record_ns(&calls->message[i]) <= leave;
         i++)
        if (is_inside(s, calls->message[i].call) &&
            !is_just_posted(s, &calls->message[i], leave))
            offer_message(s, &calls->message[i]);
    if (s->is_mpi && s->receive == NO_CALL)
        search_pending(s, first);
}

/* ------------------------------------------------------------------------ collectives */

/* Takes part l of the collective into account, if it has one and began it before a time. Returns
 * whether it has one. */
static bool meet_part(const struct trace_view *view, const struct collective *c, uint32_t l,
                      uint64_t before_ns, struct waiting *w)
{
    const struct collective *part = calls_collective_part(&view->calls[l], c);

    if (part == NULL)
        return false;
    if (part->begin_ns < before_ns &&
        (w->location == NO_LOCATION || part->begin_ns > w->until_ns)) {
        w->location = l;
        w->rank = view->defs->location[l].rank;
        w->until_ns = part->begin_ns;
    }
    return true;
}

/*
 * Of a collective that does not block: all have begun it in time, but it may go on only while
 * they are in MPI. So who came last into the call that completes it is the one that was waited
 * for, if the wait ended soon after that, and nobody came only behind its end.
 */
static void meet_completing(struct wait_search *s, const struct collective *c,
                            struct waiting *w)
{
    const struct call_view *calls = s->view->calls;
    struct waiting last = *w;

    if (c->call >= calls[s->location].n ||
        c->begin_ns >= calls[s->location].enter_ns[c->call] || w->n_missing > 0)
        return;
    last.location = NO_LOCATION;
    for (uint32_t l = 0; l < s->view->n_locations; l++) {
        const struct collective *part = calls_collective_part(&calls[l], c);

        if (part == NULL || part->call >= calls[l].n ||
            (last.location != NO_LOCATION && calls[l].enter_ns[part->call] <= last.until_ns))
            continue;
        last.location = l;
        last.rank = s->view->defs->location[l].rank;
        last.until_ns = calls[l].enter_ns[part->call];
    }
    if (last.location != NO_LOCATION && last.until_ns <= s->to_ns &&
        !is_material(s, s->to_ns - last.until_ns))
        *w = last;
}

/* Who took part in a collective and entered it last, of those that did before a time. */
static void meet_last(const struct wait_search *s, const struct collective *c,
                      uint64_t before_ns, struct waiting *w)
{
    const struct comm *comm =
        c->comm < s->view->defs->n_comms ? &s->view->defs->comm[c->comm] : NULL;
    uint32_t n_members = comm ? comm->n_members + comm->n_remote : 0, n_met = 0;

    for (uint32_t l = 0; l < s->view->n_locations; l++)
        n_met += meet_part(s->view, c, l, before_ns, w);
    w->n_missing = n_members > n_met ? n_members - n_met : 0;
}

/*
 * What a rank that need not wait for all has waited for: in a tree for those behind it, in a
 * scan for those before it. Which these are no trace says, but times do. False: not for anybody.
 */
static bool meet_by_times(const struct wait_search *s, const struct collective *c,
                          struct waiting *w)
{
    struct waiting last = *w;

    last.location = NO_LOCATION;
    last.until_ns = 0;
    last.is_guess = true;
    meet_last(s, c, c->kind == COLLECTIVE_OTHER ? s->to_ns : UINT64_MAX, &last);
    w->n_missing = last.n_missing;
    if (!waiting_ended_by(s->from_ns, last.until_ns, s->to_ns))
        return false;
    *w = last;
    return true;
}

static bool needs_all(const struct collective *c, uint32_t rank)
{
    return c->kind == COLLECTIVE_BARRIER || c->kind == COLLECTIVE_ALL_TO_ALL ||
           (c->kind == COLLECTIVE_ALL_TO_ONE && c->root == rank);
}

static void offer_collective(struct wait_search *s, const struct collective *c)
{
    struct waiting w = {.kind = WAITING_FOR_ALL,
                        .rank = NO_RANK,
                        .location = NO_LOCATION,
                        .bytes = c->received_bytes,
                        .has_data = true};
    uint32_t rank = s->view->defs->location[s->location].rank, root = NO_LOCATION;

    if (c->instance == NO_INSTANCE)
        return;
    if (c->kind == COLLECTIVE_ONE_TO_ALL && c->root != rank)
        root = definitions_find_location(s->view->defs, c->root);
    if (root != NO_LOCATION)
        meet_part(s->view, c, root, UINT64_MAX, &w);
    if (needs_all(c, rank)) {
        meet_last(s, c, UINT64_MAX, &w);
    } else if (!is_material(s, delay_until(s, w.until_ns)) && !meet_by_times(s, c, &w) &&
               w.location == NO_LOCATION) {
        if (c->kind == COLLECTIVE_OTHER)
            return;               /* it is not known */
        w.location = s->location; /* for nobody: a root that sends, or who sends to one */
        w.rank = rank;
    }
    if (!is_material(s, delay_until(s, w.until_ns)))
        meet_completing(s, c, &w);
    w.delay_ns = w.location == s->location ? 0 : delay_until(s, w.until_ns);
    w.is_late = is_material(s, w.delay_ns);
    if (w.n_missing > 0 && !w.is_late) {
        w.has_data = false;
        w.rank = NO_RANK;
        w.location = NO_LOCATION;
        w.delay_ns = 0;
    }
    offer(s, &w);
}

static void search_collectives(struct wait_search *s)
{
    const struct call_view *calls = &s->view->calls[s->location];
    uint64_t enter = calls->enter_ns[s->row], leave = calls_leave(calls, s->row);
    size_t first = calls_collective_from(calls, enter);

    for (size_t i = first; i < calls->n_collectives && i - first < WAITING_MAX_RECORDS &&
                           calls->collective[i].end_ns <= leave;
         i++)
        if (is_inside(s, calls->collective[i].call))
            offer_collective(s, &calls->collective[i]);
}

/* ------------------------------------------------------------------------------ teams */

static void search_team(struct wait_search *s)
{
    struct team_barrier barrier;
    struct waiting w = {.kind = WAITING_FOR_TEAM, .has_data = true};

    if (!team_barrier_of(s->view, s->location, s->row, &barrier))
        return;
    w.location = team_barrier_last(s->view, &barrier, s->location, &w.until_ns);
    if (w.location == NO_LOCATION) /* it is alone */
        w.location = s->location;
    w.rank = s->view->defs->location[w.location].rank;
    w.thread = s->view->defs->location[w.location].thread;
    w.delay_ns = delay_until(s, w.until_ns);
    w.is_late = is_material(s, w.delay_ns);
    offer(s, &w);
}

/* --------------------------------------------------------------------------- devices */

/* A stream on which operations took so much longer than typical that it may be what is waited
 * for: to the end of what it did then. */
static bool follow_slow(const struct wait_search *s, const struct device_path *path,
                        struct waiting *w)
{
    struct device_operation last;

    if (path->slowest.row == NO_CALL ||
        (double)path->slow_ns < SLOW_SHARE * (double)delay_until(s, w->until_ns) ||
        !device_operation_until(s->view, path->slowest.location, w->until_ns, &last))
        return false;
    w->location = last.location;
    if (calls_leave(&s->view->calls[last.location], last.row) < w->until_ns)
        w->until_ns = calls_leave(&s->view->calls[last.location], last.row);
    return true;
}

/*
 * Why an operation began, or ended, so late: its GPU had nothing to do for longer than it was
 * at work, as it was told late; or else what took longer than typical there, or nothing did,
 * longest.
 */
static void follow_device(const struct wait_search *s, struct device_operation late,
                          struct waiting *w)
{
    struct device_path path;
    uint64_t from = s->from_ns, at;

    device_path_of(s->view, late, from, &path);
    at = path.launch_ns > from ? path.launch_ns : from;
    if (path.is_launched && at - from >= w->until_ns - at) {
        w->location = path.location;
        w->until_ns = path.launch_ns;
    } else if (!follow_slow(s, &path, w) &&
               (path.longest.location != late.location || path.longest.row != late.row)) {
        w->location = path.longest.location;
        w->until_ns = calls_leave(&s->view->calls[path.longest.location], path.longest.row);
    }
    w->rank = s->view->defs->location[w->location].rank;
    w->thread = s->view->defs->location[w->location].thread;
}

void waiting_behind_device(const struct trace_view *view, uint64_t from_ns, uint64_t to_ns,
                           struct waiting *w)
{
    const struct wait_search s = {
        .view = view, .location = w->location, .from_ns = from_ns, .to_ns = to_ns};
    struct device_operation late;

    if (w->kind == WAITING_FOR_DEVICE || w->location == NO_LOCATION || !w->is_late ||
        !view->defs->location[w->location].is_gpu)
        return;
    late = (struct device_operation){
        w->location, calls_begun(&view->calls[w->location], w->until_ns, ANY_REGION)};
    if (late.row == NO_CALL)
        return;
    follow_device(&s, late, w);
    w->delay_ns = delay_until(&s, w->until_ns);
}

bool waiting_of_device(const struct trace_view *view, uint32_t location, uint32_t row,
                       uint64_t from_ns, struct device_operation *last, struct waiting *beyond)
{
    struct device_operation operation[DEVICE_WAIT_MAX_STREAMS];
    size_t n = device_wait_operations(view, location, row, operation);
    uint64_t enter;

    if (n == 0)
        return false;
    *last = device_last(view, operation, n);
    enter = view->calls[last->location].enter_ns[last->row];
    waiting_of(view, last->location, last->row, enter > from_ns ? enter : from_ns,
               calls_leave(&view->calls[last->location], last->row), beyond);
    return true;
}

static void search_device(struct wait_search *s)
{
    struct waiting w = {.kind = WAITING_FOR_DEVICE, .has_data = true}, beyond;
    struct device_operation last;

    if (!waiting_of_device(s->view, s->location, s->row, s->from_ns, &last, &beyond))
        return;
    w.location = last.location;
    w.until_ns = calls_leave(&s->view->calls[last.location], last.row);
    if (beyond.location != NO_LOCATION && beyond.is_late &&
        is_material(s, delay_until(s, beyond.until_ns))) {
        w = beyond;
        last = (struct device_operation){
            w.location, calls_begun(&s->view->calls[w.location], w.until_ns, ANY_REGION)};
    }
    if (last.row != NO_CALL)
        follow_device(s, last, &w);
    w.delay_ns = delay_until(s, w.until_ns);
    w.is_late = is_material(s, w.delay_ns);
    offer(s, &w);
}

/* ------------------------------------------------------------- calls without any record */

static void search_unrecorded(struct wait_search *s)
{
    const struct unrecorded *u = unrecorded_of(s->view);
    const struct unrecorded_call *call = unrecorded_find(u, s->location, s->row);
    const struct unrecorded_part *last;
    struct waiting w = {.kind = WAITING_FOR_ALL, .has_data = true, .is_guess = true};

    if (call == NULL || !call->does_wait || call->instance == UNRECORDED_ALONE)
        return;
    last = unrecorded_last_before(u, call->instance, s->to_ns);
    if (last == NULL || last->location == s->location ||
        !waiting_ended_by(s->from_ns, last->enter_ns, s->to_ns))
        return;
    w.location = last->location;
    w.rank = s->view->defs->location[last->location].rank;
    w.until_ns = last->enter_ns;
    w.delay_ns = delay_until(s, w.until_ns);
    w.is_late = is_material(s, w.delay_ns);
    offer(s, &w);
}

/* ---------------------------------------------------------------------------- guesses */

/* The last message from location l to this rank that was sent during the wait. */
static void guess_from(struct wait_search *s, uint32_t l, struct waiting *w)
{
    const struct call_view *calls = &s->view->calls[l];
    uint32_t rank = s->view->defs->location[s->location].rank;
    size_t at = calls_message_from(calls, s->to_ns);

    for (int step = 0; step < MAX_STEPS && at-- > 0; step++) {
        const struct message *m = &calls->message[at];

        if (m->begin_ns <= s->from_ns || m->begin_ns <= w->until_ns)
            return;
        if (m->kind != MESSAGE_SEND || m->peer != rank || m->match != MESSAGE_UNMATCHED)
            continue;
        *w = (struct waiting){
            .kind = WAITING_FOR_SENDER,
            .rank = s->view->defs->location[l].rank,
            .location = l,
            .bytes = m->bytes,
            .tag = m->tag,
            .has_data = true,
            .is_late = true,
            .is_guess = true,
            .until_ns = calls_posted_ns(calls, m),
        };
        return;
    }
}

static void guess(struct wait_search *s)
{
    struct waiting w = {0};

    if (s->view->n_locations > MAX_GUESSED || has_receives(&s->view->calls[s->location]))
        return;
    for (uint32_t l = 0; l < s->view->n_locations; l++)
        if (l != s->location)
            guess_from(s, l, &w);
    w.delay_ns = delay_until(s, w.until_ns);
    if (w.delay_ns > 0)
        s->best = w;
}

/* ----------------------------------------------------------------------------- public */

/* "!$omp barrier @solver.c:22": by its name, not by that of its file. */
static bool is_called_barrier(const struct region *region)
{
    return memmem(region->name, strcspn(region->name, "@"), "barrier", strlen("barrier"));
}

bool waiting_is_likely(const struct region *region)
{
    static const char *const local[] = {
        "MPI_Isend",     "MPI_Ibsend",    "MPI_Issend", "MPI_Irsend", "MPI_Irecv", "MPI_Start",
        "MPI_Test_c",    "MPI_Type_",     "MPI_Pack",   "MPI_Unpack", "MPI_Wtime", "MPI_Comm_r",
        "MPI_Comm_size", "MPI_Comm_set_", "MPI_Group_", "MPI_Info_",
    };

    if (region->kind == REGION_OPENMP)
        return is_called_barrier(region) || region_is_autograd_wait(region);
    if (region->kind == REGION_DEVICE)
        return true;
    if (region->kind != REGION_MPI)
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (strncmp(region->name, local[i], strlen(local[i])) == 0)
            return false;
    return true;
}

void waiting_of(const struct trace_view *view, uint32_t location, uint32_t row,
                uint64_t from_ns, uint64_t to_ns, struct waiting *out)
{
    uint32_t region = view->calls[location].region[row];
    const struct region *called = &view->defs->region[region];
    struct wait_search s = {.view = view,
                            .location = location,
                            .row = row,
                            .is_mpi = called->kind == REGION_MPI,
                            .receive = probes_receive(view, location, row),
                            .from_ns = from_ns,
                            .to_ns = to_ns};

    search_messages(&s);
    search_collectives(&s);
    if (called->kind == REGION_OPENMP)
        search_team(&s);
    if (called->kind == REGION_DEVICE)
        search_device(&s);
    if (s.alone.kind != WAITING_NOT && !is_material(&s, s.best.delay_ns))
        s.best = s.alone;
    if (s.best.kind == WAITING_NOT && s.is_mpi)
        search_unrecorded(&s);
    if (s.best.kind == WAITING_NOT && s.is_mpi && waiting_is_likely(called))
        guess(&s);
    if (s.best.kind == WAITING_NOT && waiting_is_likely(called))
        s.best.kind = WAITING_UNKNOWN;
    if (s.best.kind <= WAITING_UNKNOWN) {
        s.best.rank = NO_RANK;
        s.best.location = NO_LOCATION;
    }
    *out = s.best;
}

static bool is_for_another(const struct trace_view *view, uint32_t location,
                           const struct waiting *w)
{
    return w->location != NO_LOCATION && w->is_late &&
           w->rank != view->defs->location[location].rank;
}

/* When one of the streams begins or ends to wait for another rank, or to work. */
struct stream_edge {
    uint64_t time_ns;
    int wait, work; /* 1, -1 or 0: so many streams more do that */
};

struct stream_edges {
    struct stream_edge *edge; /* [n] */
    size_t n, cap;
};

static void add_edges(struct stream_edges *e, uint64_t from_ns, uint64_t to_ns, int wait,
                      int work)
{
    if (to_ns <= from_ns)
        return;
    mem_grow(&e->edge, &e->cap, e->n + 2);
    e->edge[e->n++] = (struct stream_edge){from_ns, wait, work};
    e->edge[e->n++] = (struct stream_edge){to_ns, -wait, -work};
}

/* What a stream did between two times: its operations, which may first have waited. */
static void add_stream(const struct trace_view *view, uint32_t stream, uint64_t from_ns,
                       uint64_t to_ns, struct stream_edges *e)
{
    const struct call_view *calls = &view->calls[stream];
    struct device_operation o;
    bool is_any = device_operation_until(view, stream, to_ns, &o);

    for (int step = 0; is_any && step < DEVICE_PATH_MAX_OPERATIONS; step++) {
        uint64_t begin = calls->enter_ns[o.row], end = calls_leave(calls, o.row), waited = 0;
        struct waiting w;

        if (end <= from_ns)
            break;
        begin = begin > from_ns ? begin : from_ns;
        waiting_of(view, stream, o.row, begin, end, &w);
        end = end < to_ns ? end : to_ns;
        if (is_for_another(view, stream, &w) && end > begin)
            waited = w.delay_ns < end - begin ? w.delay_ns : end - begin;
        add_edges(e, begin, begin + waited, 1, 0);
        add_edges(e, begin + waited, end, 0, 1);
        is_any = device_operation_before(view, o, &o);
    }
}

static int by_edge_time(const void *a, const void *b)
{
    const struct stream_edge *p = a, *q = b;

    return ORDER(p->time_ns, q->time_ns);
}

/* How long streams of a process waited for other ranks within a call while none of them worked. */
static bool device_waited_ns(const struct trace_view *view, uint32_t location, uint32_t row,
                             uint64_t *ns)
{
    const struct call_view *calls = &view->calls[location];
    struct device_operation operation[DEVICE_WAIT_MAX_STREAMS];
    struct stream_edges e = {.n = 0};
    int n_wait = 0, n_work = 0;

    if (device_wait_operations(view, location, row, operation) == 0)
        return false;
    for (uint32_t l = device_stream_after(view, location, NO_LOCATION); l != NO_LOCATION;
         l = device_stream_after(view, location, l))
        add_stream(view, l, calls->enter_ns[row], calls_leave(calls, row), &e);
    if (e.n > 0)
        qsort(e.edge, e.n, sizeof *e.edge, by_edge_time);
    for (size_t i = 0; i < e.n; i++) {
        if (n_wait > 0 && n_work == 0)
            *ns += e.edge[i].time_ns - e.edge[i - 1].time_ns;
        n_wait += e.edge[i].wait;
        n_work += e.edge[i].work;
    }
    free(e.edge);
    return true;
}

bool waiting_others_ns(const struct trace_view *view, uint32_t location, uint32_t row,
                       double typical_ns, uint64_t *ns)
{
    const struct call_view *calls = trace_view_calls(view, location);
    struct waiting w;

    *ns = 0;
    if (row >= calls->n)
        return true;
    if (view->defs->region[calls->region[row]].kind == REGION_DEVICE)
        return device_waited_ns(view, location, row, ns);
    waiting_of(view, location, row, calls->enter_ns[row], calls_leave(calls, row), &w);
    if (is_for_another(view, location, &w))
        *ns = w.delay_ns;
    else if (exchange_stopped(view, location, row, &w, typical_ns) == EXCHANGE_PARTNER)
        *ns = w.delay_ns;
    return true;
}
