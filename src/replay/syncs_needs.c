/*
 * Needs are counted, then filled in. In the order that syncs were left (syncs_order.c), what a sync
 * needs was entered before it, unless clocks disagree: so one pass in that order is a replay.
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
        uint32_t last; /* sync of last_enter, of calls that complete; or NEED_INDEX */
    } * span;          /* [n_collectives] */
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

/*
 * A large message that both have posted moves only while both are in MPI, where nobody else sees to
 * it: who stayed until the other came back to complete it, and then hardly longer, waited for that.
 */
static void need_of_progress(struct needs *n, size_t row, uint32_t who, uint32_t posted)
{
    const struct syncs *s = n->s;
    const struct message *m = &s->view->message[row];
    const struct message *send = m->kind == MESSAGE_SEND ? m : &s->view->message[m->match];
    uint32_t back = n->at->ended[m->match];
    uint64_t from_ns = s->sync[who].enter_ns;

    if (!is_there(back) || back == posted || !syncs_is_synchronous(s, send))
        return;
    if (s->sync[posted].enter_ns > from_ns)
        from_ns = s->sync[posted].enter_ns;
    if (waiting_ended_by(from_ns, s->sync[back].enter_ns, s->sync[who].leave_ns))
        note(n, who, back);
}

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
    if (is_there(other) && other - own->begin >= own->n) {
        note(n, who, other);
        if (!own->is_stream)
            need_of_progress(n, row, who, other);
    }
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

            struct collective_span *span = &n->completed[c->instance];
            uint64_t enter =
                c->call < view->calls[l].n ? view->calls[l].enter_ns[c->call] : c->begin_ns;

            if (c->instance >= n->s->first_team)
                continue;
            if (enter > span->last_enter)
                span->last = n->at->left[n->at->first_collective[l] + i];
            extend(span, enter, c->end_ns);
        }
}

/* Whether it is seen that a collective which does not block went on only while all were in MPI. */
static bool is_completed_together(const struct needs *n, uint32_t instance)
{
    const struct collective_span *span = &n->completed[instance];

    return span->first_leave >= span->last_enter;
}

/*
 * Some ranks may be done without the one that computes on: a sum goes along a tree, or from pair to
 * pair. Who stayed until the last had come into the call that completes it, and then hardly longer,
 * waited for that.
 */
static void need_of_completing(struct needs *n, const struct collective *c, uint32_t who)
{
    const struct collective_span *span = &n->completed[c->instance];
    const struct sync *sync = &n->s->sync[who];

    if (!is_completed_together(n, c->instance) && is_there(span->last) && span->last != who &&
        waiting_ended_by(sync->enter_ns, span->last_enter, sync->leave_ns))
        note(n, who, span->last);
}

static void each_collective(struct needs *n)
{
    const struct trace_view *view = n->s->view;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            const struct collective *c = &view->calls[l].collective[i];
            uint32_t who = n->at->left[n->at->first_collective[l] + i];

            if (c->instance >= n->s->first_team || !is_there(who))
                continue;
            need_of_collective(n, c, who);
            if (is_nonblocking(&view->calls[l], c))
                need_of_completing(n, c, who);
        }
}

/*
 * Where a part begins that others need. One that does not block may go on only while all are in
 * MPI: it is seen when nobody was done before all had come into the calls that complete it.
 */
static uint32_t begin_of_part(const struct needs *n, const struct call_view *calls,
                              const struct collective *c, size_t row)
{
    return is_completed_together(n, c->instance) && is_nonblocking(calls, c)
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
        mem_grow(&entry, &cap, n_members);
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
        n->span[i] = n->completed[i] = (struct collective_span){0, UINT64_MAX, NEED_INDEX};
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
    team_syncs_release(&n.teams);
    free(n.root);
    free(n.span);
    free(n.completed);
    free(n.is_other);
    free(n.expected);
    free(n.comm);
}
