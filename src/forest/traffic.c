/*
 * Messages are put into channels, then sorted within their channel by when they were posted. As
 * they are recorded in that order but for receives completed out of order, there is little to
 * sort. Forks of teams are sorted by process, communicator and time; members look theirs up.
 */
#include "forest/traffic.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "trace/monotone.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void traffic_init(struct traffic *traffic, uint32_t n_locations, struct paged *paged)
{
    *traffic = (struct traffic){.n_locations = n_locations, .paged = paged};
    traffic->first_message = mem_alloc((size_t)n_locations + 1, sizeof(size_t));
    traffic->first_collective = mem_alloc((size_t)n_locations + 1, sizeof(size_t));
    traffic->first_span = mem_alloc((size_t)n_locations + 1, sizeof(size_t));
    traffic->first_barrier = mem_alloc((size_t)n_locations + 1, sizeof(size_t));
}

void traffic_release(struct traffic *traffic)
{
    paged_release(traffic->paged, traffic->message);
    paged_release(traffic->paged, traffic->collective);
    paged_release(traffic->paged, traffic->span);
    paged_release(traffic->paged, traffic->barrier);
    free(traffic->first_message);
    free(traffic->first_collective);
    free(traffic->first_span);
    free(traffic->first_barrier);
    free(traffic->dependency);
    *traffic = (struct traffic){0};
}

/* Appends m elements of this size to a list of first[0], all of the locations before. Returns
 * the list; first[1] is where this location's end. */
static void *append(struct paged *paged, void *list, size_t *cap, size_t size, size_t *first,
                    const void *from, size_t m)
{
    list = paged_grow(paged, list, first[0], cap, first[0] + m, size);
    if (m > 0)
        memcpy((char *)list + first[0] * size, from, m * size);
    first[1] = first[0] + m;
    return list;
}

void traffic_append(struct traffic *t, uint32_t l, const struct calls *calls)
{
    assert(t->n_appended <= l);
    while (t->n_appended < l) { /* what is before l ends where it begins */
        t->n_appended++;
        t->first_message[t->n_appended] = t->n_messages;
        t->first_collective[t->n_appended] = t->n_collectives;
        t->first_span[t->n_appended] = t->n_spans;
        t->first_barrier[t->n_appended] = t->n_barriers;
    }
    t->n_appended++;
    t->message = append(t->paged, t->message, &t->message_cap, sizeof *t->message,
                        &t->first_message[l], calls->message, calls->n_messages);
    t->collective = append(t->paged, t->collective, &t->collective_cap, sizeof *t->collective,
                           &t->first_collective[l], calls->collective, calls->n_collectives);
    t->span = append(t->paged, t->span, &t->span_cap, sizeof *t->span, &t->first_span[l],
                     calls->span, calls->n_spans);
    t->barrier = append(t->paged, t->barrier, &t->barrier_cap, sizeof *t->barrier,
                        &t->first_barrier[l], calls->barrier, calls->n_barriers);
    t->n_messages = t->first_message[l + 1];
    t->n_collectives = t->first_collective[l + 1];
    t->n_spans = t->first_span[l + 1];
    t->n_barriers = t->first_barrier[l + 1];
}

/* One of its four lists. */
struct traffic_list {
    void *list;
    const size_t *first; /* [n_locations + 1] */
    size_t size;
};

static struct traffic_list rows_of(const struct traffic *t, enum traffic_kind kind)
{
    switch (kind) {
    case TRAFFIC_MESSAGES:
        return (struct traffic_list){t->message, t->first_message, sizeof *t->message};
    case TRAFFIC_COLLECTIVES:
        return (struct traffic_list){t->collective, t->first_collective, sizeof *t->collective};
    case TRAFFIC_SPANS:
        return (struct traffic_list){t->span, t->first_span, sizeof *t->span};
    default:
        return (struct traffic_list){t->barrier, t->first_barrier, sizeof *t->barrier};
    }
}

struct traffic_count traffic_count(const struct traffic *t, uint32_t l)
{
    struct traffic_count count;

    for (enum traffic_kind kind = 0; kind < TRAFFIC_KINDS; kind++) {
        struct traffic_list rows = rows_of(t, kind);

        count.n[kind] = rows.first[l + 1] - rows.first[l];
    }
    return count;
}

void *traffic_rows(const struct traffic *t, enum traffic_kind kind, uint32_t l, size_t *bytes)
{
    struct traffic_list rows = rows_of(t, kind);

    *bytes = (rows.first[l + 1] - rows.first[l]) * rows.size;
    return *bytes > 0 ? (char *)rows.list + rows.first[l] * rows.size : NULL;
}

/* Where the rows of each location begin. Returns how many there are. */
static size_t lay_out(size_t *first, const struct traffic_count *count, uint32_t n_locations,
                      enum traffic_kind kind)
{
    for (uint32_t l = 0; l < n_locations; l++)
        first[l + 1] = first[l] + count[l].n[kind];
    return first[n_locations];
}

void traffic_lay_out(struct traffic *t, const struct traffic_count *count)
{
    assert(t->n_messages + t->n_collectives + t->n_spans + t->n_barriers == 0);
    t->n_messages = lay_out(t->first_message, count, t->n_locations, TRAFFIC_MESSAGES);
    t->message =
        paged_grow(t->paged, t->message, 0, &t->message_cap, t->n_messages, sizeof *t->message);
    t->n_collectives = lay_out(t->first_collective, count, t->n_locations, TRAFFIC_COLLECTIVES);
    t->collective = paged_grow(t->paged, t->collective, 0, &t->collective_cap, t->n_collectives,
                               sizeof *t->collective);
    t->n_spans = lay_out(t->first_span, count, t->n_locations, TRAFFIC_SPANS);
    t->span = paged_grow(t->paged, t->span, 0, &t->span_cap, t->n_spans, sizeof *t->span);
    t->n_barriers = lay_out(t->first_barrier, count, t->n_locations, TRAFFIC_BARRIERS);
    t->barrier =
        paged_grow(t->paged, t->barrier, 0, &t->barrier_cap, t->n_barriers, sizeof *t->barrier);
    t->n_appended = t->n_locations;
}

void traffic_depend(struct traffic *traffic, const struct dependency *dependency, size_t n)
{
    traffic->dependency = mem_resize(traffic->dependency, n, sizeof *dependency);
    traffic->n_dependencies = n;
    if (n > 0)
        memcpy(traffic->dependency, dependency, n * sizeof *dependency);
}

uint32_t traffic_location_of(const struct traffic *traffic, size_t i)
{
    return (uint32_t)interval_of_size(traffic->first_message, traffic->n_locations, i);
}

/* ------------------------------------------------------------------------- messages */

/* One side of all channels: the rows of channel c are row[first[c] .. first[c+1]). */
struct channel_side {
    size_t *first;
    uint32_t *row;
};

struct channels {
    struct idmap id;
    uint32_t *of_row; /* [n_messages] */
    struct channel_side send, recv;
};

static struct key channel_key(const struct message *m, uint32_t rank)
{
    return m->kind == MESSAGE_SEND ? key_quad(m->comm, m->tag, rank, m->peer)
                                   : key_quad(m->comm, m->tag, m->peer, rank);
}

/* Counting sort of the rows of one kind by channel. */
static void list_rows(struct channel_side *side, const struct channels *c,
                      const struct traffic *t, enum message_kind kind)
{
    size_t n = 0;

    side->first = mem_alloc((size_t)c->id.n + 2, sizeof *side->first);
    for (size_t i = 0; i < t->n_messages; i++)
        if (t->message[i].kind == kind) {
            side->first[c->of_row[i] + 2]++;
            n++;
        }
    for (uint32_t k = 1; k < c->id.n + 2; k++)
        side->first[k] += side->first[k - 1];
    side->row = paged_alloc(t->paged, n, sizeof *side->row);
    for (size_t i = 0; i < t->n_messages; i++)
        if (t->message[i].kind == kind)
            side->row[side->first[c->of_row[i] + 1]++] = (uint32_t)i;
}

/* Rows of one location are in the order they were posted by `order`, of several by time. */
static int by_posting(const void *a, const void *b, void *arg)
{
    const struct traffic *t = arg;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    const struct message *m = &t->message[p], *o = &t->message[q];

    if (traffic_location_of(t, p) == traffic_location_of(t, q))
        return (m->order > o->order) - (m->order < o->order);
    return ORDER(m->begin_ns, o->begin_ns) ?: ORDER(p, q);
}

/* Sorts the rows of one channel, if they need it. */
static void sort_rows(uint32_t *row, size_t n, struct traffic *t)
{
    bool is_sorted = true;

    if (n == 0)
        return;
    if (traffic_location_of(t, row[0]) != traffic_location_of(t, row[n - 1]))
        is_sorted = false;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = t->message[row[i - 1]].order <= t->message[row[i]].order;
    if (!is_sorted)
        qsort_r(row, n, sizeof *row, by_posting, t);
}

static void match_channel(struct traffic *t, const struct channels *c, uint32_t k,
                          struct quality *quality)
{
    uint32_t *send = c->send.row + c->send.first[k], *recv = c->recv.row + c->recv.first[k];
    size_t n_sends = c->send.first[k + 1] - c->send.first[k];
    size_t n_recvs = c->recv.first[k + 1] - c->recv.first[k];
    size_t n_pairs = n_sends < n_recvs ? n_sends : n_recvs;

    sort_rows(send, n_sends, t);
    sort_rows(recv, n_recvs, t);
    for (size_t i = 0; i < n_pairs; i++) {
        t->message[send[i]].match = recv[i];
        t->message[recv[i]].match = send[i];
        if (t->message[send[i]].bytes != t->message[recv[i]].bytes)
            quality[traffic_location_of(t, recv[i])].n[QUALITY_length_differs]++;
    }
    for (size_t i = n_pairs; i < n_sends; i++)
        quality[traffic_location_of(t, send[i])].n[QUALITY_unmatched_send]++;
    for (size_t i = n_pairs; i < n_recvs; i++)
        quality[traffic_location_of(t, recv[i])].n[QUALITY_unmatched_recv]++;
}

static void match_messages(struct traffic *t, const struct definitions *defs,
                           struct quality *quality)
{
    struct channels c = {0};

    assert(t->n_messages < UINT32_MAX);
    c.of_row = paged_alloc(t->paged, t->n_messages, sizeof *c.of_row);
    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_message[l]; i < t->first_message[l + 1]; i++)
            c.of_row[i] = idmap_add(&c.id, channel_key(&t->message[i], defs->location[l].rank));
    list_rows(&c.send, &c, t, MESSAGE_SEND);
    list_rows(&c.recv, &c, t, MESSAGE_RECV);
    for (uint32_t k = 0; k < c.id.n; k++)
        match_channel(t, &c, k, quality);
    paged_release(t->paged, c.of_row);
    paged_release(t->paged, c.send.row);
    paged_release(t->paged, c.recv.row);
    free(c.send.first);
    free(c.recv.first);
    idmap_release(&c.id);
}

/* ---------------------------------------------------------------------- collectives */

/*
 * MPI matches collectives in the order of their calls. Locations count them as they complete,
 * each on its own. Of those that do not block, one may complete before another that was called
 * first: they swap their numbers. Where several locations of a process call collectives of one
 * communicator, which MPI lets them do one after another, they count the same ones: these are
 * counted anew. In both cases the order is that of time.
 */

struct counted {
    uint32_t caller; /* a process and a communicator */
    uint32_t order;
    uint64_t begin_ns;
    size_t row;
};

struct callers {
    struct idmap id; /* key_pair(process, communicator) */
    struct rank_in_comm {
        uint32_t location; /* where it was seen last, and when its last collective began */
        uint64_t begin_ns;
        bool has_several, is_swapped, is_counted_twice;
    } * of; /* [id.n] */
    size_t cap;
};

static bool is_counted(const struct comm *comm)
{
    return !comm->is_self && !comm->is_met;
}

static uint32_t caller_of(struct callers *c, const struct definitions *defs, uint32_t l,
                          const struct collective *x)
{
    uint32_t n = c->id.n, id = idmap_add(&c->id, key_pair(defs->location[l].rank, x->comm));

    if (c->id.n > n) {
        mem_grow(&c->of, &c->cap, c->id.n);
        c->of[id] = (struct rank_in_comm){.location = l, .begin_ns = x->begin_ns};
    }
    return id;
}

/* Whether the numbers of any may have to be changed. Collectives follow each other in one
 * communicator, mostly. */
static bool find_callers(struct callers *c, const struct traffic *t,
                         const struct definitions *defs)
{
    bool is_any = false;

    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_collective[l], id = 0; i < t->first_collective[l + 1]; i++) {
            const struct collective *x = &t->collective[i];
            struct rank_in_comm *caller;

            if (!is_counted(&defs->comm[x->comm]))
                continue;
            if (i == t->first_collective[l] || x[-1].comm != x->comm)
                id = caller_of(c, defs, l, x);
            caller = &c->of[id];
            caller->has_several |= caller->location != l;
            caller->is_swapped |=
                caller->location == l && time_before(x->begin_ns, caller->begin_ns);
            caller->location = l;
            caller->begin_ns = x->begin_ns;
            is_any |= caller->has_several || caller->is_swapped;
        }
    return is_any;
}

static size_t list_counted(struct callers *c, const struct traffic *t,
                           const struct definitions *defs, struct counted *out)
{
    size_t n = 0;

    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_collective[l]; i < t->first_collective[l + 1]; i++) {
            const struct collective *x = &t->collective[i];
            uint32_t id;

            if (!is_counted(&defs->comm[x->comm]))
                continue;
            id = caller_of(c, defs, l, x);
            if (c->of[id].has_several || c->of[id].is_swapped)
                out[n++] = (struct counted){id, x->order, x->begin_ns, i};
        }
    return n;
}

static int by_order(const void *a, const void *b)
{
    const struct counted *p = a, *q = b;

    return ORDER(p->caller, q->caller) ?: ORDER(p->order, q->order) ?: ORDER(p->row, q->row);
}

static int by_begin(const void *a, const void *b)
{
    const struct counted *p = a, *q = b;

    return ORDER(p->caller, q->caller) ?:
           ORDER((int64_t)p->begin_ns, (int64_t)q->begin_ns) ?:
           ORDER(p->row, q->row);
}

/* Counts anew where a number is there twice; else hands out the same numbers. */
static void count_by_time(struct traffic *t, const struct definitions *defs)
{
    struct callers callers = {.cap = 0};
    struct counted *counted = NULL;
    uint32_t *number = NULL; /* [n] of the callers, ascending */
    size_t n = 0;

    if (find_callers(&callers, t, defs)) {
        counted = mem_alloc(t->n_collectives, sizeof *counted);
        n = list_counted(&callers, t, defs, counted);
        number = mem_resize(NULL, n, sizeof *number);
        qsort(counted, n, sizeof *counted, by_order);
    }
    for (size_t i = 0; i < n; i++) {
        number[i] = counted[i].order;
        if (i > 0 && counted[i].caller == counted[i - 1].caller && number[i] == number[i - 1])
            callers.of[counted[i].caller].is_counted_twice = true;
    }
    if (n > 0)
        qsort(counted, n, sizeof *counted, by_begin);
    for (size_t i = 0, order = 0; i < n; i++) {
        const struct rank_in_comm *caller = &callers.of[counted[i].caller];

        order = i > 0 && counted[i].caller == counted[i - 1].caller ? order + 1 : 0;
        if (caller->is_counted_twice)
            t->collective[counted[i].row].order = (uint32_t)order;
        else if (caller->is_swapped)
            t->collective[counted[i].row].order = number[i];
    }
    free(number);
    free(counted);
    free(callers.of);
    idmap_release(&callers.id);
}

void traffic_match(struct traffic *t, const struct definitions *defs, struct quality *quality)
{
    struct idmap instance = {0};

    match_messages(t, defs, quality);
    count_by_time(t, defs);
    for (size_t i = 0; i < t->n_collectives; i++) {
        struct collective *c = &t->collective[i];

        c->instance = defs->comm[c->comm].is_self
                          ? NO_INSTANCE
                          : idmap_add(&instance, key_pair(c->comm, c->order));
    }
    t->n_instances = instance.n;
    idmap_release(&instance);
}

uint32_t traffic_complete(const struct traffic *t, const struct definitions *defs)
{
    uint32_t *n_missing = mem_alloc(t->n_instances, sizeof *n_missing), n = 0;

    for (size_t i = 0; i < t->n_collectives; i++) {
        const struct collective *c = &t->collective[i];
        const struct comm *comm = &defs->comm[c->comm];

        if (c->instance == NO_INSTANCE)
            continue;
        if (n_missing[c->instance] == 0)
            n_missing[c->instance] = comm->n_members + comm->n_remote + 1;
        n += --n_missing[c->instance] == 1;
    }
    free(n_missing);
    return n;
}

uint64_t traffic_disorder(const struct traffic *t, uint32_t l)
{
    uint64_t n = 0;

    for (size_t i = t->first_message[l]; i < t->first_message[l + 1]; i++) {
        const struct message *m = &t->message[i];

        n += m->kind == MESSAGE_RECV && m->match != MESSAGE_UNMATCHED &&
             time_before(m->end_ns, t->message[m->match].begin_ns);
    }
    return n;
}

/* ------------------------------------------------------------------------------------ teams */

/*
 * Which communicator a team has only its members say; the thread that forks is the first of
 * them, right after the fork. Forks are sorted by process, communicator and time.
 */

struct fork {
    uint32_t rank, comm;
    uint64_t begin_ns, end_ns;
    uint32_t row;
};

static int by_time(const void *a, const void *b)
{
    const struct fork *p = a, *q = b;

    return ORDER(p->rank, q->rank) ?:
           ORDER(p->comm, q->comm) ?:
           ORDER(p->begin_ns, q->begin_ns) ?:
           ORDER(p->row, q->row);
}

/* Whether span i + 1 is what the thread that forked in span i does in its team. */
static bool is_own_member(const struct team_span *span, size_t i, size_t end)
{
    return i + 1 < end && span[i].kind == SPAN_FORK && span[i + 1].kind == SPAN_MEMBER &&
           span[i + 1].begin_ns <= span[i].end_ns;
}

static uint32_t list_forks(struct traffic *t, const struct definitions *defs, struct fork *fork)
{
    uint32_t n = 0;

    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            struct team_span *span = &t->span[i];

            if (span->kind != SPAN_FORK)
                continue;
            span->team = (uint32_t)i;
            span->n_members = 0;
            if (is_own_member(t->span, i, t->first_span[l + 1]))
                span->comm = span[1].comm;
            fork[n++] = (struct fork){defs->location[l].rank, span->comm, span->begin_ns,
                                      span->end_ns, (uint32_t)i};
        }
    qsort(fork, n, sizeof *fork, by_time);
    return n;
}

/* The last fork on this communicator that has begun, if it is not joined yet. */
static uint32_t find_fork(const struct fork *fork, uint32_t n, uint32_t rank,
                          const struct team_span *member)
{
    struct fork wanted = {rank, member->comm, member->begin_ns, 0, UINT32_MAX};
    uint32_t low = FIRST_NOT(i, 0, n, by_time(&fork[i], &wanted) <= 0);

    if (low == 0 || fork[low - 1].rank != rank || fork[low - 1].comm != member->comm ||
        fork[low - 1].end_ns < member->begin_ns)
        return NO_TEAM;
    return fork[low - 1].row;
}

static void match_members(struct traffic *t, const struct definitions *defs)
{
    struct fork *fork = mem_alloc(t->n_spans, sizeof *fork);
    uint32_t n = list_forks(t, defs, fork);

    for (uint32_t l = 0; l < t->n_locations; l++) {
        uint32_t last = NO_TEAM; /* a thread may be in a team more than once, for tasks */

        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            struct team_span *span = &t->span[i];

            if (span->kind != SPAN_MEMBER)
                continue;
            if (i > t->first_span[l] && is_own_member(t->span, i - 1, i + 1))
                span->team = (uint32_t)(i - 1);
            else
                span->team = find_fork(fork, n, defs->location[l].rank, span);
            if (span->team != NO_TEAM && span->team != last)
                t->span[span->team].n_members++;
            last = span->team;
        }
    }
    free(fork);
}

/* Threads that were created, and those who waited for them. */
static void match_created(struct traffic *t, const struct definitions *defs)
{
    struct idmap id = {0};
    uint32_t *row = mem_alloc(t->n_spans, sizeof *row);

    for (int is_second = 0; is_second < 2; is_second++)
        for (uint32_t l = 0; l < t->n_locations; l++)
            for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
                struct team_span *span = &t->span[i];
                struct key key = key_quad(defs->location[l].rank, span->comm, span->number, 0);
                uint32_t at;

                if (span->kind == SPAN_CREATE && !is_second)
                    row[idmap_add(&id, key)] = span->team = (uint32_t)i;
                if ((span->kind != SPAN_THREAD && span->kind != SPAN_WAIT) || !is_second)
                    continue;
                at = idmap_find(&id, key);
                span->team = at == IDMAP_NONE ? NO_TEAM : row[at];
            }
    free(row);
    idmap_release(&id);
}

void teams_match(struct traffic *t, const struct definitions *defs)
{
    assert(t->n_spans < NO_TEAM);
    if (t->n_spans == 0)
        return;
    match_members(t, defs);
    match_created(t, defs);
}

struct team_counts teams_count(const struct traffic *t)
{
    struct team_counts n = {.n_barriers = t->n_barriers};

    for (size_t i = 0; i < t->n_spans; i++) {
        const struct team_span *span = &t->span[i];

        n.n_forks += span->kind == SPAN_FORK;
        n.n_created += span->kind == SPAN_CREATE;
        if (span->kind == SPAN_MEMBER)
            *(span->team == NO_TEAM ? &n.n_lost : &n.n_members) += 1;
        if (span->kind == SPAN_FORK && span->n_members > n.largest)
            n.largest = span->n_members;
    }
    return n;
}

double teams_ratio(const struct traffic *t)
{
    double forked_ns = 0, members_ns = 0;

    for (uint32_t l = 0; l < t->n_locations; l++) {
        uint64_t until_ns = 0;

        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            const struct team_span *span = &t->span[i];
            bool is_of_others =
                span->kind == SPAN_MEMBER && span->team != NO_TEAM &&
                (span->team < t->first_span[l] || span->team >= t->first_span[l + 1]);

            if (is_of_others)
                members_ns += (double)(span->end_ns - span->begin_ns);
            if (span->kind != SPAN_FORK || span->begin_ns < until_ns)
                continue;
            until_ns = span->end_ns;
            forked_ns += (double)(span->end_ns - span->begin_ns);
        }
    }
    return forked_ns > 0 ? members_ns / forked_ns : 0;
}

uint64_t teams_forked_ns(const struct traffic *t, uint32_t location, uint32_t begin,
                         uint32_t end)
{
    uint64_t until_ns = 0, sum = 0;

    for (size_t i = t->first_span[location]; i < t->first_span[location + 1]; i++) {
        const struct team_span *span = &t->span[i];

        if (span->kind != SPAN_FORK || span->begin_ns < until_ns || span->first_row < begin ||
            span->first_row > end)
            continue;
        until_ns = span->end_ns;
        sum += span->end_ns - span->begin_ns;
    }
    return sum;
}
