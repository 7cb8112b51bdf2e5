/*
 * Needs are counted, then filled in. In the order that syncs were left, what a sync needs was
 * entered before it, unless clocks disagree: so one pass in that order is a replay.
 */
#include "replay/syncs_needs.h"

#include "replay/streams.h"
#include "replay/team_syncs.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/waiting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Goes through all needs: counts them, or fills them in. */
struct needs {
    struct syncs *s;
    const struct record_syncs *at;
    bool is_counted; /* then they are filled in */
    uint32_t *root;  /* [n_collectives] the root's sync, or NEED_INDEX */
    struct collective_span {
        uint64_t last_enter, first_leave;
    } * span; /* [n_collectives] */
    struct collective_span
        *completed;     /* [n_collectives] the same, of the calls that complete them */
    bool *is_other;     /* [n_collectives] no order follows from what it is */
    uint32_t *expected; /* [n_collectives] members of its communicator */
    uint32_t *comm;     /* [n_collectives] which, + 1; 0: not known */
    bool has_end;       /* the last collective is that of all who end together */
    struct team_syncs teams;
};

static bool is_there(uint32_t sync)
{
    return sync < NEED_INDEX;
}

static void note(struct needs *n, uint32_t who, uint32_t need)
{
    struct syncs *s = n->s;

    if (n->is_counted)
        s->need[s->first_need[who + 1]++] = need;
    else
        s->first_need[who + 2]++;
}

/* ------------------------------------------------------------------------------ messages */

/* Syncs of one location: what is on it is seen by their numbers, without a look at them. */
struct own_syncs {
    uint32_t begin, n;
    bool is_stream;
};

static void need_of_message(struct needs *n, size_t row, const struct own_syncs *own)
{
    const struct record_syncs *at = n->at;
    const struct message *m = &n->s->view->message[row];
    bool is_send = m->kind == MESSAGE_SEND;
    uint32_t who = is_there(at->ended[row]) ? at->ended[row] : at->posted[row], other;

    if (!is_there(who) || (is_send && !own->is_stream && !syncs_is_synchronous(n->s, m)))
        return;
    other = at->posted[m->match];
    if (!is_there(other)) /* a blocking receive: it was posted where it ended */
        other = at->ended[m->match];
    if (is_there(other) && other - own->begin >= own->n)
        note(n, who, other);
}

static void messages_of(struct needs *n, uint32_t l)
{
    struct syncs *s = n->s;
    const struct own_syncs own = {syncs_begin(s, l), syncs_end(s, l) - syncs_begin(s, l),
                                  s->is_stream[l]};

    for (size_t i = s->view->first_message[l]; i < s->view->first_message[l + 1]; i++) {
        const struct message *m = &s->view->message[i];
        uint32_t who = is_there(n->at->ended[i]) ? n->at->ended[i] : n->at->posted[i];

        if (m->match != MESSAGE_UNMATCHED)
            need_of_message(n, i, &own);
        else if (is_there(who))
            s->sync[who].is_blind = true;
        s->n_messages += n->is_counted;
        s->n_matched += n->is_counted && m->match != MESSAGE_UNMATCHED;
    }
}

/* -------------------------------------------------------------------------------- teams */

static void note_team(void *ctx, uint32_t who, uint32_t need)
{
    note(ctx, who, need);
}

static void note_barrier(uint32_t barrier, uint32_t sync, bool is_call, void *ctx)
{
    struct needs *n = ctx;

    if (is_call)
        note(n, sync, NEED_ALL | (n->s->first_team + barrier));
}

static void count_member(uint32_t barrier, uint32_t sync, bool is_call, void *ctx)
{
    struct needs *n = ctx;

    (void)sync, (void)is_call;
    n->s->first_member[n->s->first_team + barrier + 2]++;
}

static void add_member(uint32_t barrier, uint32_t sync, bool is_call, void *ctx)
{
    struct needs *n = ctx;

    (void)is_call;
    n->s->member[n->s->first_member[n->s->first_team + barrier + 1]++] = sync;
}

/* --------------------------------------------------------------------------- collectives */

/*
 * What goes to one or comes from one goes along a tree of ranks: who stands in its middle waits
 * for those behind it, or before it. The trace does not have the tree; but who stayed until the
 * last of all had come, and then hardly longer, waited for that one.
 *   from_ns  before that it waited for somebody else
 */
static bool waits_within(const struct needs *n, uint32_t instance, uint32_t who,
                         uint64_t from_ns)
{
    const struct sync *sync = &n->s->sync[who];
    uint64_t from = from_ns > sync->enter_ns ? from_ns : sync->enter_ns;

    return waiting_ended_by(from, n->span[instance].last_enter, sync->leave_ns);
}

/* Some wait and some do not, and for whom is seen by their times alone. */
static bool is_unordered(const struct needs *n, uint32_t instance)
{
    return n->is_other[instance] &&
           n->span[instance].first_leave < n->span[instance].last_enter;
}

/*
 * In a scan, or among neighbours, who stayed until another had come, and then hardly longer,
 * waited for that one, whoever came later still. NEED_INDEX: it did not stay for anybody.
 */
static uint32_t waited_for(const struct needs *n, uint32_t instance, uint32_t who)
{
    const struct syncs *s = n->s;
    const struct sync *sync = &s->sync[who];
    uint32_t first = s->first_member[instance], end = s->first_member[instance + 1];
    uint32_t i = FIRST_NOT(k, first, end, s->sync[s->member[k]].enter_ns < sync->leave_ns);

    if (i == first)
        return NEED_INDEX;
    return waiting_ended_by(sync->enter_ns, s->sync[s->member[i - 1]].enter_ns, sync->leave_ns)
               ? s->member[i - 1]
               : NEED_INDEX;
}

static void need_of_collective(struct needs *n, const struct collective *c, uint32_t who)
{
    struct sync *sync = &n->s->sync[who];
    uint32_t rank = n->s->view->defs->location[syncs_location(n->s, who)].rank, root, other;

    switch (c->kind) {
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_ALL_TO_ALL:
        note(n, who, NEED_ALL | c->instance);
        break;
    case COLLECTIVE_ALL_TO_ONE:
        if (c->root == rank || waits_within(n, c->instance, who, 0))
            note(n, who, NEED_ALL | c->instance);
        break;
    case COLLECTIVE_ONE_TO_ALL:
        root = n->root[c->instance];
        if (c->root != rank && is_there(root))
            note(n, who, root);
        if (is_there(root) && waits_within(n, c->instance, who, n->s->sync[root].enter_ns))
            note(n, who, NEED_ALL | c->instance);
        sync->is_blind |= c->root != rank && !is_there(root);
        break;
    default:
        if (!is_unordered(n, c->instance)) {
            note(n, who, NEED_ALL | c->instance);
            break;
        }
        other = waited_for(n, c->instance, who);
        if (is_there(other))
            note(n, who, other);
        else
            sync->is_blind = true;
    }
}

static void each_collective(struct needs *n)
{
    const struct trace_view *view = n->s->view;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            const struct collective *c = &view->calls[l].collective[i];
            uint32_t who = n->at->left[n->at->first_collective[l] + i];

            if (c->instance < n->s->first_team && is_there(who))
                need_of_collective(n, c, who);
        }
}

static void extend(struct collective_span *span, uint64_t enter_ns, uint64_t leave_ns)
{
    span->last_enter = enter_ns > span->last_enter ? enter_ns : span->last_enter;
    span->first_leave = leave_ns < span->first_leave ? leave_ns : span->first_leave;
}

/* Of a part that was begun before the call that completes it. */
static bool is_nonblocking(const struct call_view *calls, const struct collective *c)
{
    return c->call < calls->n && c->begin_ns < calls->enter_ns[c->call];
}

static void find_completed(struct needs *n)
{
    const struct trace_view *view = n->s->view;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            const struct collective *c = &view->calls[l].collective[i];

            if (c->instance < n->s->first_team)
                extend(&n->completed[c->instance],
                       c->call < view->calls[l].n ? view->calls[l].enter_ns[c->call]
                                                  : c->begin_ns,
                       c->end_ns);
        }
}

/*
 * Where a part begins that others need. One that does not block may go on only while all are in
 * MPI: it is seen when nobody was done before all had come into the calls that complete it.
 */
static uint32_t begin_of_part(const struct needs *n, const struct call_view *calls,
                              const struct collective *c, size_t row)
{
    const struct collective_span *span = &n->completed[c->instance];

    return span->first_leave >= span->last_enter && is_nonblocking(calls, c)
               ? n->at->left[row]
               : n->at->entered[row];
}

/* Calls fn for every part of a collective that belongs to others. */
static void each_part(struct needs *n, void (*fn)(uint32_t location, const struct collective *c,
                                                  uint32_t sync, struct needs *n))
{
    const struct trace_view *view = n->s->view;
    const struct record_syncs *at = n->at;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            const struct collective *c = &view->calls[l].collective[i];
            size_t row = at->first_collective[l] + i;
            uint32_t sync;

            if (c->instance >= n->s->first_team)
                continue;
            sync = begin_of_part(n, &view->calls[l], c, row);
            if (is_there(sync))
                fn(l, c, sync, n);
        }
}

static void count_part(uint32_t location, const struct collective *c, uint32_t sync,
                       struct needs *n)
{
    const struct definitions *defs = n->s->view->defs;

    (void)sync;
    n->s->first_member[c->instance + 2]++;
    if (c->comm < defs->n_comms) {
        n->expected[c->instance] = defs->comm[c->comm].n_members + defs->comm[c->comm].n_remote;
        n->comm[c->instance] = c->comm + 1;
    }
    n->is_other[c->instance] |= c->kind == COLLECTIVE_OTHER;
    if (c->root == defs->location[location].rank)
        n->root[c->instance] = sync;
}

static void span_part(uint32_t location, const struct collective *c, uint32_t sync,
                      struct needs *n)
{
    (void)location;
    extend(&n->span[c->instance], n->s->sync[sync].enter_ns, c->end_ns);
}

static void add_part(uint32_t location, const struct collective *c, uint32_t sync,
                     struct needs *n)
{
    (void)location;
    n->s->member[n->s->first_member[c->instance + 1]++] = sync;
}

#define MIN_UNATTENDED                                                                         \
    3u /* collectives of a communicator: one may be at the begin of the trace, one at its end */

/* The trace may not have all ranks: of a node's, say, whose ranks meet among themselves all the
 * time and the others once in a step. So communicators are looked at one by one, too. */
static void count_attended(struct needs *n)
{
    struct syncs *s = n->s;
    struct attendance {
        uint64_t n_meetings, n_lacking;
    } *of = mem_alloc((size_t)s->view->defs->n_comms + 1, sizeof *of);

    for (uint32_t c = 0; c < s->first_team; c++) {
        uint32_t n_members = s->first_member[c + 1] - s->first_member[c];
        bool is_attended = n_members >= n->expected[c];

        if (n_members == 0)
            continue;
        s->n_meetings++;
        s->n_attended += is_attended;
        of[n->comm[c]].n_meetings++;
        of[n->comm[c]].n_lacking += !is_attended;
    }
    for (uint32_t k = 0; k <= s->view->defs->n_comms; k++)
        s->lacks_members |=
            of[k].n_lacking >= MIN_UNATTENDED &&
            (double)of[k].n_lacking > SYNCS_MAX_UNATTENDED * (double)of[k].n_meetings;
    free(of);
}

struct timed_sync {
    uint64_t ns;
    uint32_t sync;
};

static int by_time(const void *a, const void *b)
{
    const struct timed_sync *x = a, *y = b;

    return ORDER(x->ns, y->ns) ?: ORDER(x->sync, y->sync);
}

/* As they came, where it is asked who did before another left. */
static void order_members(struct needs *n)
{
    struct syncs *s = n->s;
    struct timed_sync *entry = NULL;
    size_t cap = 0;

    for (uint32_t c = 0; c < s->n_collectives - n->has_end; c++) {
        uint32_t *member = s->member + s->first_member[c];
        uint32_t n_members = s->first_member[c + 1] - s->first_member[c];

        if (c < s->first_team + s->n_teams && !is_unordered(n, c))
            continue;
        mem_grow(&entry, &cap, n_members, sizeof *entry);
        for (uint32_t i = 0; i < n_members; i++)
            entry[i] = (struct timed_sync){s->sync[member[i]].enter_ns, member[i]};
        qsort(entry, n_members, sizeof *entry, by_time);
        for (uint32_t i = 0; i < n_members; i++)
            member[i] = entry[i].sync;
    }
    free(entry);
}

/* How many collectives there are. A number that no matching gives out is none. */
static uint32_t count_collectives(const struct trace_view *view, const struct record_syncs *at)
{
    size_t n_records = at->first_collective[view->n_locations];
    uint32_t n = 0;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            uint32_t instance = view->calls[l].collective[i].instance;

            if (instance < n_records && instance >= n)
                n = instance + 1;
        }
    return n;
}

/* No trace says that MPI_Finalize waits for all: it is seen when nobody left it before. */
static bool ends_together(const struct needs *n)
{
    uint64_t last = 0, first = UINT64_MAX;
    uint32_t n_ends = 0;

    for (uint32_t l = 0; l < n->s->n_locations; l++) {
        const struct sync *sync;

        if (!is_there(n->at->finalized[l]))
            continue;
        sync = &n->s->sync[n->at->finalized[l]];
        last = sync->enter_ns > last ? sync->enter_ns : last;
        first = sync->leave_ns < first ? sync->leave_ns : first;
        n_ends++;
    }
    return n_ends > 1 && first >= last;
}

static void each_end(struct needs *n, void (*fn)(struct needs *n, uint32_t sync))
{
    for (uint32_t l = 0; n->has_end && l < n->s->n_locations; l++)
        if (is_there(n->at->finalized[l]))
            fn(n, n->at->finalized[l]);
}

static void count_end(struct needs *n, uint32_t sync)
{
    (void)sync;
    n->s->first_member[n->s->n_collectives + 1]++;
}

static void add_end(struct needs *n, uint32_t sync)
{
    n->s->member[n->s->first_member[n->s->n_collectives]++] = sync;
}

static void note_end(struct needs *n, uint32_t sync)
{
    note(n, sync, NEED_ALL | (n->s->n_collectives - 1));
}

/* Call i of those without a record is a sync, and others are known that belong to it. */
static bool is_met(const struct needs *n, size_t i)
{
    return is_there(n->at->unrecorded_sync[i]) &&
           n->at->unrecorded->call[i].instance != UNRECORDED_ALONE;
}

/* Those of an instance come behind the barriers of teams. */
static uint32_t instance_of(const struct needs *n, size_t i)
{
    return n->s->first_team + n->s->n_teams + n->at->unrecorded->call[i].instance;
}

static void each_unrecorded(struct needs *n, void (*fn)(struct needs *n, size_t i))
{
    for (size_t i = 0; i < n->at->unrecorded->n; i++)
        fn(n, i);
}

static void count_unrecorded(struct needs *n, size_t i)
{
    if (n->at->unrecorded->call[i].is_waited_for && is_met(n, i))
        n->s->first_member[instance_of(n, i) + 2]++;
}

static void add_unrecorded(struct needs *n, size_t i)
{
    if (n->at->unrecorded->call[i].is_waited_for && is_met(n, i))
        n->s->member[n->s->first_member[instance_of(n, i) + 1]++] = n->at->unrecorded_sync[i];
}

static void need_of_unrecorded(struct needs *n, size_t i)
{
    const struct trace_view *view = n->s->view;
    const struct unrecorded_call *call = &n->at->unrecorded->call[i];
    uint32_t sync = n->at->unrecorded_sync[i], other = NEED_INDEX, location;

    if (!call->does_wait || !is_there(sync))
        return;
    if (is_met(n, i))
        other = waited_for(n, instance_of(n, i), sync);
    if (is_there(other)) {
        note(n, sync, other);
        return;
    }
    location = syncs_location(n->s, sync);
    n->s->sync[sync].is_blind |=
        waiting_is_likely(&view->defs->region[view->calls[location].region[call->row]]);
}

static void list_members(struct needs *n)
{
    struct syncs *s = n->s;
    uint32_t n_instances;

    n->has_end = ends_together(n);
    s->first_team = count_collectives(s->view, n->at);
    s->n_teams = n->teams.n_barriers;
    n_instances = s->n_collectives =
        s->first_team + s->n_teams + n->at->unrecorded->n_instances + n->has_end;

    n->root = mem_alloc(n_instances, sizeof *n->root);
    n->span = mem_alloc(n_instances, sizeof *n->span);
    n->completed = mem_alloc(n_instances, sizeof *n->completed);
    n->is_other = mem_alloc(n_instances, sizeof *n->is_other);
    n->expected = mem_alloc(n_instances, sizeof *n->expected);
    n->comm = mem_alloc(n_instances, sizeof *n->comm);
    for (uint32_t i = 0; i < n_instances; i++) {
        n->root[i] = NEED_INDEX;
        n->span[i] = n->completed[i] = (struct collective_span){0, UINT64_MAX};
    }
    s->first_member = mem_alloc((size_t)n_instances + 2, sizeof *s->first_member);
    find_completed(n);
    each_part(n, count_part);
    each_part(n, span_part);
    team_syncs_each_part(&n->teams, s, count_member, n);
    each_unrecorded(n, count_unrecorded);
    each_end(n, count_end);
    for (uint32_t i = 2; i < n_instances + 2; i++)
        s->first_member[i] += s->first_member[i - 1];
    s->member = mem_alloc(s->first_member[n_instances + 1], sizeof *s->member);
    each_part(n, add_part);
    team_syncs_each_part(&n->teams, s, add_member, n);
    each_unrecorded(n, add_unrecorded);
    each_end(n, add_end);
    count_attended(n);
    order_members(n);
}

/* -------------------------------------------------------------------------------- needs */

uint64_t syncs_last_entered(const struct syncs *s, uint32_t need)
{
    uint32_t index = need & NEED_INDEX;
    uint64_t last = 0;

    if ((need & NEED_ALL) == 0)
        return s->sync[index].enter_ns;
    for (uint32_t i = s->first_member[index]; i < s->first_member[index + 1]; i++)
        if (s->sync[s->member[i] & NEED_INDEX].enter_ns > last)
            last = s->sync[s->member[i] & NEED_INDEX].enter_ns;
    return last;
}

static void set_last(struct syncs *s)
{
    uint64_t *all = mem_alloc(s->n_collectives, sizeof *all);

    for (uint32_t k = 0; k < s->n; k++)
        s->sync[k].last_ns = 0;
    for (uint32_t c = 0; c < s->n_collectives; c++)
        all[c] = syncs_last_entered(s, NEED_ALL | c);
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint64_t last = s->need[i] & NEED_ALL ? all[s->need[i] & NEED_INDEX]
                                                  : syncs_last_entered(s, s->need[i]);

            s->sync[k].last_ns = last > s->sync[k].last_ns ? last : s->sync[k].last_ns;
        }
    free(all);
}

static void each(struct needs *n)
{
    for (uint32_t l = 0; l < n->s->n_locations; l++)
        if (n->s->view->first_message[l + 1] > n->s->view->first_message[l])
            messages_of(n, l);
    for (size_t i = 0; i < n->at->n_dependencies; i++) {
        const struct found_dependency *d = &n->at->dependency[i];

        if (is_there(d->who) && is_there(d->on))
            note(n, d->who, d->on);
    }
    each_collective(n);
    team_syncs_each_need(&n->teams, n->s, note_team, n);
    team_syncs_each_part(&n->teams, n->s, note_barrier, n);
    each_unrecorded(n, need_of_unrecorded);
    each_end(n, note_end);
}

void syncs_need_all(struct syncs *s, const struct record_syncs *at)
{
    struct needs n = {.s = s, .at = at};

    team_syncs_init(&n.teams, s, at);
    list_members(&n);
    s->first_need = mem_alloc((size_t)s->n + 2, sizeof *s->first_need);
    each(&n);
    for (uint32_t k = 2; k < s->n + 2; k++)
        s->first_need[k] += s->first_need[k - 1];
    s->need = mem_alloc(s->first_need[s->n + 1], sizeof *s->need);
    n.is_counted = true;
    each(&n); /* moves the first one of each on to that of the next */
    set_last(s);
    team_syncs_release(&n.teams);
    free(n.root);
    free(n.span);
    free(n.completed);
    free(n.is_other);
    free(n.expected);
    free(n.comm);
}

/* -------------------------------------------------------------------------------- order */

/* Locations by when they leave their next sync, the first on top. */
struct heap {
    struct next {
        uint64_t leave_ns;
        uint32_t sync;
    } * next; /* [n] */
    uint32_t n;
};

static struct next next_of(const struct syncs *s, uint32_t sync)
{
    return (struct next){s->sync[sync].leave_ns, sync};
}

static bool is_before(const struct next *a, const struct next *b)
{
    return a->leave_ns != b->leave_ns ? a->leave_ns < b->leave_ns : a->sync < b->sync;
}

static void heap_add(struct heap *h, struct next what)
{
    h->next[h->n] = what;
    HEAP_RISE(h->next, h->n++, is_before);
}

static void heap_drop(struct heap *h)
{
    h->next[0] = h->next[--h->n];
    HEAP_SINK(h->next, 0, h->n, is_before);
}

/* Tracks whose next sync needs one that was not entered yet wait at that one. */
struct merge {
    struct heap heap;
    uint32_t *waiting;  /* [n] the first track that waits for a sync to be entered, + 1 */
    uint32_t *after_it; /* [n_tracks] the next one that does */
    uint32_t *entered;  /* [n_collectives] so many of its members, at least */
    uint32_t n_waiting;
};

/* A sync is entered at the place of the one before it on its track. */
static bool is_entered(const struct syncs *s, uint32_t sync)
{
    return s->place[sync - 1] != NEED_INDEX;
}

/*
 * Whether all that a sync needs was entered before it was left. In the order that syncs are
 * left, what is entered earlier than another is left comes before it: only streams wait for
 * each other whatever the clocks say, and threads where times are equal.
 */
static bool is_in_order(const struct syncs *s, uint32_t k)
{
    return !s->has_streams && s->sync[k].last_ns < s->sync[k].leave_ns;
}

/* Whether a need has the same clock: where times are equal, it decides what came first. */
static bool is_among_threads(const struct syncs *s, uint32_t k, uint32_t need)
{
    const struct location *location = s->view->defs->location;
    uint32_t index = need & NEED_INDEX;

    if (need & NEED_ALL)
        return index - s->first_team < s->n_teams;
    return !s->is_stream[syncs_location(s, index)] &&
           location[syncs_location(s, index)].rank == location[syncs_location(s, k)].rank;
}

/* A sync that has to be entered before this one is left, and was not yet; NEED_INDEX: none. */
static uint32_t blocker(const struct syncs *s, struct merge *m, uint32_t k)
{
    bool is_stream = s->is_stream[syncs_location(s, k)];

    if (is_in_order(s, k) || (!is_stream && s->view->calls[syncs_location(s, k)].n_spans == 0))
        return NEED_INDEX;
    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint32_t c = s->need[i] & NEED_INDEX, *entered;

        if (!is_stream && !is_among_threads(s, k, s->need[i]))
            continue;
        if ((s->need[i] & NEED_ALL) == 0) {
            if (!is_entered(s, c))
                return c;
            continue;
        }
        entered = &m->entered[c];
        while (s->first_member[c] + *entered < s->first_member[c + 1] &&
               is_entered(s, s->member[s->first_member[c] + *entered]))
            ++*entered;
        if (s->first_member[c] + *entered < s->first_member[c + 1])
            return s->member[s->first_member[c] + *entered];
    }
    return NEED_INDEX;
}

/* Puts a track's next sync among those that can be left, or where it waits. */
static void go_on(struct syncs *s, struct merge *m, uint32_t k)
{
    uint32_t on = blocker(s, m, k), track = s->sync[k].track;

    if (on == NEED_INDEX) {
        heap_add(&m->heap, next_of(s, k));
        return;
    }
    m->after_it[track] = m->waiting[on];
    m->waiting[on] = track + 1;
    m->n_waiting++;
}

/* A sync is entered: who waited for it looks again. */
static void wake(struct syncs *s, struct merge *m, uint32_t sync, const uint32_t *next)
{
    uint32_t track = m->waiting[sync];

    if (track == 0)
        return;
    m->waiting[sync] = 0;
    while (track > 0) {
        uint32_t after = m->after_it[track - 1];

        m->n_waiting--;
        go_on(s, m, next[track - 1]);
        track = after;
    }
}

/* They wait in a circle, as clocks disagree: the one that was left first goes on. */
static void break_circle(struct syncs *s, struct merge *m, const uint32_t *next)
{
    struct next best = {UINT64_MAX, NEED_INDEX};
    uint32_t at = 0, *link;

    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t t = m->waiting[k]; t > 0; t = m->after_it[t - 1]) {
            struct next what = next_of(s, next[t - 1]);

            if (is_before(&what, &best)) {
                best = what;
                at = k;
            }
        }
    for (link = &m->waiting[at]; *link != s->sync[best.sync].track + 1u;)
        link = &m->after_it[*link - 1];
    *link = m->after_it[s->sync[best.sync].track];
    m->n_waiting--;
    heap_add(&m->heap, best);
}

/* In the order they were left; on streams none before what it needs, whatever the clocks say,
 * and among threads none. */
static void merge(struct syncs *s)
{
    struct merge m = {.heap = {.next = mem_alloc(s->n_tracks, sizeof *m.heap.next)}};
    uint32_t *next = mem_alloc(s->n_tracks, sizeof *next), p = 0;

    m.waiting = mem_alloc(s->n, sizeof *m.waiting);
    m.after_it = mem_alloc(s->n_tracks, sizeof *m.after_it);
    m.entered = mem_alloc(s->n_collectives, sizeof *m.entered);
    for (uint32_t k = 0; k < s->n; k++)
        s->place[k] = NEED_INDEX;
    for (uint32_t t = 0; t < s->n_tracks; t++)
        heap_add(&m.heap, next_of(s, next[t] = s->first[t]));
    while (p < s->n) {
        uint32_t k;

        if (m.heap.n == 0)
            break_circle(s, &m, next);
        k = m.heap.next[0].sync;
        s->order[p] = k;
        s->place[k] = p++;
        if (syncs_is_last(s, k)) {
            heap_drop(&m.heap);
            continue;
        }
        next[s->sync[k].track] = k + 1;
        if (blocker(s, &m, k + 1) == NEED_INDEX) {
            m.heap.next[0] = next_of(s, k + 1);
            HEAP_SINK(m.heap.next, 0, m.heap.n, is_before);
        } else {
            heap_drop(&m.heap);
            go_on(s, &m, k + 1);
        }
        if (m.n_waiting > 0)
            wake(s, &m, k + 1, next);
    }
    free(m.heap.next);
    free(m.waiting);
    free(m.after_it);
    free(m.entered);
    free(next);
}

static uint32_t entered_at(const struct syncs *s, uint32_t sync)
{
    return s->place[sync - 1];
}

/* Marks the members of collectives that are entered after the first that needs them is left. */
static void mark_members(struct syncs *s, const bool *is_doubtful)
{
    uint32_t *first = mem_alloc(s->n_collectives, sizeof *first);

    for (uint32_t c = 0; c < s->n_collectives; c++)
        first[c] = UINT32_MAX;
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t c = s->need[i] & NEED_INDEX;

            if (s->need[i] & NEED_ALL && s->place[k] < first[c])
                first[c] = s->place[k];
        }
    for (uint32_t c = 0; c < s->n_collectives; c++)
        for (uint32_t i = s->first_member[c]; is_doubtful[c] && i < s->first_member[c + 1]; i++)
            if (entered_at(s, s->member[i]) >= first[c])
                s->member[i] |= NEED_EARLY;
    free(first);
}

/* Marks what is entered after what needs it is left; few are near enough to that to be looked
 * at. */
static void mark_early(struct syncs *s)
{
    bool *is_doubtful = mem_alloc(s->n_collectives, sizeof *is_doubtful), is_any = false;

    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t index = s->need[i] & NEED_INDEX;

            if (is_in_order(s, k))
                break;
            if (s->need[i] & NEED_ALL)
                is_doubtful[index] = is_any = true;
            else if (entered_at(s, index) >= s->place[k])
                s->need[i] |= NEED_EARLY;
        }
    if (is_any)
        mark_members(s, is_doubtful);
    free(is_doubtful);
}

/* A collective is a need of each of its members. */
static void count_early(struct syncs *s)
{
    uint32_t n_needs = s->first_need[s->n];
    uint32_t n_members = s->n_collectives > 0 ? s->first_member[s->n_collectives] : 0;

    s->n_needs = n_members;
    s->n_early = 0;
    for (uint32_t i = 0; i < n_needs; i++) {
        s->n_needs += !(s->need[i] & NEED_ALL);
        s->n_early += !(s->need[i] & NEED_ALL) && s->need[i] & NEED_EARLY;
    }
    for (uint32_t i = 0; i < n_members; i++)
        s->n_early += (s->member[i] & NEED_EARLY) != 0;
}

void syncs_retime(struct syncs *s)
{
    s->end_ns = s->begin_ns;
    for (uint32_t k = 0; k < s->n; k++)
        s->end_ns = s->sync[k].leave_ns > s->end_ns ? s->sync[k].leave_ns : s->end_ns;
    for (uint32_t i = 0; i < s->first_need[s->n]; i++)
        s->need[i] &= ~NEED_EARLY;
    for (uint32_t i = 0; s->n_collectives > 0 && i < s->first_member[s->n_collectives]; i++)
        s->member[i] &= ~NEED_EARLY;
    set_last(s);
    syncs_order(s);
}

void syncs_order(struct syncs *s)
{
    if (s->order == NULL) {
        s->order = mem_alloc(s->n, sizeof *s->order);
        s->place = mem_alloc(s->n, sizeof *s->place);
    }
    merge(s);
    mark_early(s);
    count_early(s);
}
