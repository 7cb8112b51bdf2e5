/*
 * Rows, messages and collectives are counted from the start of the run, modulo 2^32, so that
 * what refers to them stays right when those before are forgotten.
 */
#include "live/sync_window.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/waiting.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MISSING 0.1
#define ROWS_BETWEEN 8 /* calls from one with a record to the next, mostly fewer */

static void close_columns(struct window_columns *c)
{
    free(c->enter_ns);
    free(c->inclusive_ns);
    free(c->region);
    free(c->subtree_len);
    free(c->depth);
    free(c->message);
    free(c->collective);
}

static void look_away(struct sync_window *w)
{
    if (w->is_looked_at)
        trace_view_release(&w->as_it_is);
    w->is_looked_at = false;
}

void sync_window_release(struct sync_window *w)
{
    sync_window_close(w);
    look_away(w);
    for (uint32_t l = 0; l < w->n_locations; l++) {
        struct window_location *o = &w->of[l];

        free(o->enter_ns);
        free(o->inclusive_ns);
        free(o->region);
        free(o->id);
        free(o->message);
        free(o->collective);
        calls_release(&o->pending);
    }
    free(w->of);
    free(w->quality);
    free(w->order_from);
    close_columns(&w->columns);
    sync_order_release(&w->order);
    calls_release(&w->active);
    *w = (struct sync_window){0};
}

/* Rows that nobody calls another from. */
static void grow_calls(struct window_columns *c, size_t n_calls)
{
    if (n_calls <= c->call_cap)
        return;
    c->call_cap = 2 * n_calls;
    c->enter_ns = mem_resize(c->enter_ns, c->call_cap, sizeof *c->enter_ns);
    c->inclusive_ns = mem_resize(c->inclusive_ns, c->call_cap, sizeof *c->inclusive_ns);
    c->region = mem_resize(c->region, c->call_cap, sizeof *c->region);
    c->subtree_len = mem_resize(c->subtree_len, c->call_cap, sizeof *c->subtree_len);
    c->depth = mem_resize(c->depth, c->call_cap, sizeof *c->depth);
    for (uint32_t i = 0; i < c->call_cap; i++) { /* nobody calls another */
        c->subtree_len[i] = 1;
        c->depth[i] = 0;
    }
}

static void follow_locations(struct sync_window *w, uint32_t n)
{
    mem_grow(&w->of, &w->cap, n);
    mem_grow(&w->quality, &w->quality_cap, n);
    for (; w->n_locations < n; w->n_locations++) {
        w->of[w->n_locations] = (struct window_location){0};
        w->quality[w->n_locations] = (struct quality){0};
    }
}

/* ----------------------------------------------------------------------------------- calls */

static bool is_mpi(const struct definitions *defs, const struct calls *c, uint32_t row)
{
    return row != NO_CALL && defs->region[c->region[row]].kind == REGION_MPI;
}

static void grow_rows(struct window_location *o)
{
    if (o->n < o->cap)
        return;
    o->cap = o->cap ? 2 * o->cap : 64;
    o->enter_ns = mem_resize(o->enter_ns, o->cap, sizeof *o->enter_ns);
    o->inclusive_ns = mem_resize(o->inclusive_ns, o->cap, sizeof *o->inclusive_ns);
    o->region = mem_resize(o->region, o->cap, sizeof *o->region);
    o->id = mem_resize(o->id, o->cap, sizeof *o->id);
}

/* A call that was open at the end of the step before is there already: it is the last one. */
static void take_call(struct window_location *o, const struct calls *c, uint32_t row,
                      uint64_t end_ns)
{
    uint32_t id = calls_id(c, row);
    uint64_t ns = c->inclusive_ns[row];

    if (ns == CALL_OPEN)
        ns = end_ns > c->enter_ns[row] ? end_ns - c->enter_ns[row] : 0;
    if (o->n > 0 && o->id[o->n - 1] == id) {
        o->inclusive_ns[o->n - 1] = ns;
        return;
    }
    grow_rows(o);
    o->id[o->n] = id;
    o->enter_ns[o->n] = c->enter_ns[row];
    o->inclusive_ns[o->n] = ns;
    o->region[o->n++] = c->region[row];
}

static uint32_t row_of(const struct window_location *o, uint32_t id)
{
    /* ids ascend, modulo 2^32 */
    uint32_t low = FIRST_NOT(i, 0, o->n, o->id[i] - o->id[0] < id - o->id[0]);

    return low < o->n && o->id[low] == id ? low : NO_CALL;
}

/* The same of a call that is likely to be soon after the last one, *row. */
static uint32_t row_after(const struct window_location *o, uint32_t id, uint32_t *row)
{
    for (uint32_t i = *row, tries = 0; i < o->n && tries < ROWS_BETWEEN; i++, tries++)
        if (o->id[i] == id)
            return *row = i;
    return *row = row_of(o, id);
}

/* The kept row of the call of MPI around a row, or NO_CALL.
 *   last  what was found before it, and now */
static uint32_t row_around(struct sync_window *w, const struct window_location *o,
                           const struct definitions *defs, const struct calls *c, uint32_t row,
                           uint32_t *last)
{
    uint32_t found = NO_CALL, innermost = row;

    for (; row < c->n && is_mpi(defs, c, row); row = c->caller[row])
        found = row;
    w->is_nested |= found != NO_CALL && found != innermost;
    return found == NO_CALL ? NO_CALL : row_after(o, calls_id(c, found), last);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void note_longest(struct window_location *o, const struct message *m)
{
    if (m->kind == MESSAGE_SEND && m->end_ns > m->begin_ns)
        o->longest_send_ns = later(o->longest_send_ns, m->end_ns - m->begin_ns);
}

/* Sends of earlier steps that are complete now, and whether that is ever said. */
static void take_sent(struct window_location *o, const struct calls *c)
{
    for (size_t i = 0; i < c->n_sent; i++) {
        uint32_t row = c->sent[i].message - o->n_messages_before;

        if (row < o->n_messages) {
            o->message[row].end_ns = c->sent[i].time_ns;
            note_longest(o, &o->message[row]);
            continue;
        }
        o->sent_before_ns = later(o->sent_before_ns, c->sent[i].time_ns);
    }
    for (size_t i = 0; i < c->n_messages; i++)
        note_longest(o, &c->message[i]);
    o->tells_sent |= c->n_sent > 0 || o->longest_send_ns > 0;
}

/* Posted by a call that does not wait for it, and not complete by the end of the step. */
static bool is_not_sent(const struct window_location *o, const struct definitions *defs,
                        const struct message *m)
{
    return o->tells_sent && m->kind == MESSAGE_SEND && m->end_ns == m->begin_ns &&
           m->call != NO_CALL && !waiting_is_likely(&defs->region[o->region[m->call]]);
}

static void take_records(struct sync_window *w, struct window_location *o,
                         const struct definitions *defs, const struct calls *c)
{
    uint32_t last = NO_CALL;

    mem_grow(&o->message, &o->message_cap, o->n_messages + c->n_messages);
    mem_grow(&o->pending.message, &o->pending.message_cap,
             o->pending.n_messages + c->n_messages);
    for (size_t i = 0; i < c->n_messages; i++) {
        struct message *m = &o->message[o->n_messages];

        *m = o->pending.message[o->pending.n_messages] = c->message[i];
        m->match = MESSAGE_UNMATCHED;
        m->call = row_around(w, o, defs, c, m->call, &last);
        if (is_not_sent(o, defs, m))
            m->end_ns = SYNC_NOT_SENT;
        o->has_received |=
            m->kind == MESSAGE_RECV && c->n_messages_before + i < WAITING_MAX_RECORDS;
        o->pending.message[o->pending.n_messages++].call =
            o->n_messages_before + (uint32_t)o->n_messages++;
    }
    mem_grow(&o->collective, &o->collective_cap, o->n_collectives + c->n_collectives);
    for (size_t i = 0; i < c->n_collectives; i++) {
        struct collective *k = &o->collective[o->n_collectives++];

        *k = c->collective[i];
        k->call = row_around(w, o, defs, c, k->call, &last);
        k->instance = defs->comm[k->comm].is_self ? NO_INSTANCE : k->order;
    }
}

static void meet(struct sync_window *w, const struct definitions *defs, uint32_t l,
                 const struct calls *c)
{
    for (size_t i = 0; i < c->n_collectives; i++) {
        const struct comm *comm = &defs->comm[c->collective[i].comm];

        if (!comm->is_self)
            w->n_too_early +=
                sync_order_add(&w->order, &c->collective[i], comm, defs->location[l].rank);
    }
}

static void take_location(struct sync_window *w, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    struct window_location *o = &w->of[l];
    uint64_t end_ns = step->is_last ? c->last_ns : step->end_ns;

    if (c->n == 0 && c->n_messages + c->n_collectives + c->n_sent == 0)
        return;
    o->is_seen = true;
    o->last_ns = c->last_ns;
    take_sent(o, c);
    for (uint32_t i = 0; i < c->n; i++)
        if (is_mpi(step->defs, c, i) && !is_mpi(step->defs, c, c->caller[i]))
            take_call(o, c, i, end_ns);
    take_records(w, o, step->defs, c);
    if (w->is_read[SYNC_WAITS])
        meet(w, step->defs, l, c);
}

/* -------------------------------------------------------------------------------- matching */

static struct message *message_at(struct sync_window *w, uint32_t l, uint32_t row)
{
    struct window_location *o = &w->of[l];

    row -= o->n_messages_before;
    return row < o->n_messages ? &o->message[row] : NULL;
}

/*
 * Of a channel only one side has messages without a partner. They can find one in a step in
 * which the other side's rank has new messages, or else are new themselves; all others are left
 * where they are: of a rank that is never read there may be many.
 */
static void append_active(struct sync_window *w, struct traffic *t, const struct ad_step *step,
                          uint32_t l, const struct idmap *talkers)
{
    struct calls *p = &w->of[l].pending, *active = &w->active;
    size_t n_before = p->n_messages - step->calls[l].n_messages, n = 0;

    mem_grow(&active->message, &active->message_cap, p->n_messages);
    active->n_messages = 0;
    for (size_t i = 0; i < p->n_messages; i++) {
        const struct message *m = &p->message[i];

        if (i >= n_before || idmap_find(talkers, key_pair(0, m->peer)) != IDMAP_NONE)
            active->message[active->n_messages++] = *m;
        else
            p->message[n++] = *m;
    }
    p->n_messages = n;
    traffic_append(t, l, active);
}

/* Both ends of what was matched know each other; the newest of the others stay. */
static void keep_matches(struct sync_window *w, const struct traffic *t, uint32_t l,
                         size_t most)
{
    struct calls *p = &w->of[l].pending;
    size_t n = p->n_messages;

    for (size_t i = t->first_message[l]; i < t->first_message[l + 1]; i++) {
        const struct message *m = &t->message[i];
        struct message *kept = message_at(w, l, m->call);

        if (m->match == MESSAGE_UNMATCHED)
            p->message[n++] = *m;
        else if (kept)
            kept->match =
                (uint64_t)traffic_location_of(t, m->match) << 32 | t->message[m->match].call;
    }
    if (n > most) {
        mem_to_front(p->message, n - most, most, sizeof *p->message);
        w->n_dropped += n - most;
    }
    p->n_messages = n < most ? n : most;
}

/* Of each location, where there are too many in all. */
static size_t most_pending(const struct sync_window *w, const struct traffic *t)
{
    size_t n = 0;

    for (uint32_t l = 0; l < w->n_locations; l++)
        n += w->of[l].pending.n_messages;
    for (size_t i = 0; i < t->n_messages; i++)
        n += t->message[i].match == MESSAGE_UNMATCHED;
    return n <= SYNC_WINDOW_MAX_PENDING ? n : SYNC_WINDOW_MAX_PENDING / w->n_locations + 1;
}

static void match(struct sync_window *w, const struct ad_step *step)
{
    struct idmap talkers = {0}; /* ranks that have new messages; they may have any numbers */
    struct traffic t;
    size_t most;

    for (uint32_t l = 0; l < step->n_locations; l++)
        if (step->calls[l].n_messages > 0)
            idmap_add(&talkers, key_pair(0, step->defs->location[l].rank));
    traffic_init(&t, w->n_locations, NULL);
    for (uint32_t l = 0; l < w->n_locations; l++)
        append_active(w, &t, step, l, &talkers);
    traffic_match(&t, step->defs, w->quality);
    most = most_pending(w, &t);
    for (uint32_t l = 0; l < w->n_locations; l++) {
        w->n_too_early += traffic_disorder(&t, l);
        keep_matches(w, &t, l, most);
    }
    traffic_release(&t);
    idmap_release(&talkers);
}

void sync_window_take(struct sync_window *w, const struct ad_step *step)
{
    look_away(w);
    follow_locations(w, step->n_locations);
    for (uint32_t l = 0; l < step->n_locations; l++)
        take_location(w, step, l);
    sync_order_forget(&w->order);
    match(w, step);
}

/* ------------------------------------------------------------------------------ forgetting */

/* Who else was in a collective is not known any more when one of its members is forgotten. */
static void note_forgotten(struct sync_window *w, const struct collective *c)
{
    mem_grow(&w->order_from, &w->comm_cap, (size_t)c->comm + 1);
    while (w->n_comms <= c->comm)
        w->order_from[w->n_comms++] = 0;
    if (w->order_from[c->comm] <= c->order)
        w->order_from[c->comm] = c->order + 1;
}

static uint32_t without(uint32_t call, uint32_t n)
{
    return call == NO_CALL || call < n ? NO_CALL : call - n;
}

/* The first n rows are gone. */
static void move_rows(struct window_location *o, uint32_t n)
{
    if (n == 0)
        return;
    for (size_t i = 0; i < o->n_messages; i++)
        o->message[i].call = without(o->message[i].call, n);
    for (size_t i = 0; i < o->n_collectives; i++)
        o->collective[i].call = without(o->collective[i].call, n);
}

static void forget(struct sync_window *w, struct window_location *o, uint64_t time_ns)
{
    uint32_t n = 0;
    size_t k = 0;

    while (n < o->n && o->enter_ns[n] + o->inclusive_ns[n] < time_ns)
        n++;
    o->n -= n;
    mem_to_front(o->enter_ns, n, o->n, sizeof *o->enter_ns);
    mem_to_front(o->inclusive_ns, n, o->n, sizeof *o->inclusive_ns);
    mem_to_front(o->region, n, o->n, sizeof *o->region);
    mem_to_front(o->id, n, o->n, sizeof *o->id);
    for (; k < o->n_messages && message_record_ns(&o->message[k]) < time_ns; k++)
        if (o->message[k].kind == MESSAGE_SEND && o->message[k].end_ns != SYNC_NOT_SENT)
            o->sent_before_ns = later(o->sent_before_ns, o->message[k].end_ns);
    o->n_messages -= k;
    o->n_messages_before += (uint32_t)k;
    mem_to_front(o->message, k, o->n_messages, sizeof *o->message);
    for (k = 0; k < o->n_collectives && o->collective[k].end_ns < time_ns; k++)
        note_forgotten(w, &o->collective[k]);
    o->n_collectives -= k;
    mem_to_front(o->collective, k, o->n_collectives, sizeof *o->collective);
    move_rows(o, n);
}

void sync_window_forget(struct sync_window *w, enum sync_reader who, uint64_t time_ns)
{
    if (time_ns > w->needed_ns[who])
        w->needed_ns[who] = time_ns;
    for (enum sync_reader r = 0; r < N_SYNC_READERS; r++)
        if (w->is_read[r] && w->needed_ns[r] < time_ns)
            time_ns = w->needed_ns[r];
    if (time_ns <= w->begin_ns)
        return;
    w->begin_ns = time_ns;
    look_away(w);
    for (uint32_t l = 0; l < w->n_locations; l++)
        forget(w, &w->of[l], time_ns);
}

static size_t size_of(const struct window_location *o)
{
    return o->n + o->n_messages + o->n_collectives;
}

size_t sync_window_size(const struct sync_window *w)
{
    size_t n = 0;

    for (uint32_t l = 0; l < w->n_locations; l++)
        n += size_of(&w->of[l]);
    return n;
}

/* When the middle one was, of what there is most of. */
static uint64_t middle_of(const struct window_location *o)
{
    if (o->n_messages > o->n && o->n_messages >= o->n_collectives)
        return message_record_ns(&o->message[o->n_messages / 2]);
    if (o->n_collectives > o->n)
        return o->collective[o->n_collectives / 2].end_ns;
    return o->enter_ns[o->n / 2];
}

struct middle {
    uint64_t time_ns;
    size_t n;
};

static int by_time(const void *a, const void *b)
{
    const struct middle *p = a, *q = b;

    return ORDER(p->time_ns, q->time_ns);
}

/* One location alone may stand still, and its middle with it. */
uint64_t sync_window_middle(const struct sync_window *w)
{
    struct middle *middle = mem_alloc(w->n_locations, sizeof *middle);
    size_t size = sync_window_size(w), before = 0;
    uint64_t time_ns = UINT64_MAX;
    uint32_t n = 0;

    for (uint32_t l = 0; l < w->n_locations; l++)
        if (size_of(&w->of[l]) > 0)
            middle[n++] = (struct middle){middle_of(&w->of[l]), size_of(&w->of[l])};
    qsort(middle, n, sizeof *middle, by_time);
    for (uint32_t i = 0; i < n && 2 * before < size; i++) {
        time_ns = middle[i].time_ns;
        before += middle[i].n;
    }
    free(middle);
    return time_ns;
}

/* ------------------------------------------------------------------------- what is not seen */

/* Who is at the other end of it was never there; or it was over by a time. */
static bool counts(const struct sync_window *w, const struct definitions *defs,
                   const struct message *m, uint64_t until_ns)
{
    uint32_t l = definitions_find_location(defs, m->peer);

    return message_record_ns(m) < until_ns || l >= w->n_locations || !w->of[l].is_seen;
}

/* Whether it is looked for all members of a collective: none was forgotten, and one was over by
 * a time or cannot be there. */
static bool is_to_be_whole(const struct sync_window *w, const struct definitions *defs,
                           const struct collective *c, uint64_t until_ns, uint32_t n_seen)
{
    const struct comm *comm = &defs->comm[c->comm];

    return !comm->is_self && (c->comm >= w->n_comms || c->order >= w->order_from[c->comm]) &&
           (c->end_ns < until_ns || comm->n_members + comm->n_remote > n_seen);
}

/* Members of collectives: those that should be there, that are. */
static void count_members(const struct sync_window *w, const struct definitions *defs,
                          uint64_t until_ns, size_t *n, size_t *n_there)
{
    struct idmap instance = {0};
    uint32_t n_seen = 0;

    for (uint32_t l = 0; l < w->n_locations; l++)
        n_seen += w->of[l].is_seen;
    for (uint32_t l = 0; l < w->n_locations; l++)
        for (size_t i = 0; i < w->of[l].n_collectives; i++) {
            const struct collective *c = &w->of[l].collective[i];
            const struct comm *comm = &defs->comm[c->comm];
            uint32_t before = instance.n, members = comm->n_members + comm->n_remote;

            if (is_to_be_whole(w, defs, c, until_ns, n_seen) &&
                idmap_add(&instance, key_pair(c->comm, c->order)) == before)
                *n += members > 1 ? members : 2;
        }
    for (uint32_t l = 0; l < w->n_locations; l++)
        for (size_t i = 0; i < w->of[l].n_collectives; i++) {
            const struct collective *c = &w->of[l].collective[i];

            *n_there += c->call != NO_CALL &&
                        idmap_find(&instance, key_pair(c->comm, c->order)) != IDMAP_NONE;
        }
    idmap_release(&instance);
}

bool sync_window_sees_all(const struct sync_window *w, const struct ad_step *step,
                          uint64_t until_ns)
{
    size_t n = 0, n_matched = 0, n_members = 0, n_there = 0;

    for (uint32_t l = 0; l < w->n_locations; l++)
        for (size_t i = 0; i < w->of[l].n_messages; i++) {
            const struct message *m = &w->of[l].message[i];

            if (!counts(w, step->defs, m, until_ns))
                continue;
            n++;
            n_matched += m->match != MESSAGE_UNMATCHED && m->call != NO_CALL;
        }
    count_members(w, step->defs, until_ns, &n_members, &n_there);
    return (double)(n - n_matched) <= MAX_MISSING * (double)n &&
           (double)n_there >= (1 - MAX_MISSING) * (double)n_members;
}

bool sync_window_is_under_way(const struct sync_window *w, uint64_t from_ns, uint64_t to_ns)
{
    for (uint32_t l = 0; l < w->n_locations; l++)
        for (size_t i = 0; i < w->of[l].pending.n_messages; i++) {
            const struct message *m = &w->of[l].pending.message[i];

            if (m->kind == MESSAGE_SEND && m->begin_ns >= from_ns && m->begin_ns <= to_ns)
                return true;
        }
    return false;
}

/* --------------------------------------------------------------------------------- looking */

static const struct message *other_end(const struct trace_view *view, const struct message *m,
                                       uint32_t *location)
{
    const struct sync_window *w = view->ctx;
    const struct window_location *o;
    uint32_t row;

    if (m->match == MESSAGE_UNMATCHED)
        return NULL;
    *location = (uint32_t)(m->match >> 32);
    o = &w->of[*location];
    row = (uint32_t)m->match - o->n_messages_before;
    return row < o->n_messages ? &o->message[row] : NULL;
}

static struct call_view view_of(const struct sync_window *w, uint32_t l)
{
    const struct window_location *o = &w->of[l];

    return (struct call_view){.n = o->n,
                              .enter_ns = o->enter_ns,
                              .inclusive_ns = o->inclusive_ns,
                              .region = o->region,
                              .subtree_len = w->columns.subtree_len,
                              .depth = w->columns.depth,
                              .message = o->message,
                              .n_messages = o->n_messages,
                              .collective = o->collective,
                              .n_collectives = o->n_collectives};
}

const struct trace_view *sync_window_view(struct sync_window *w, const struct ad_step *step)
{
    struct call_view *calls;

    if (w->is_looked_at)
        return &w->as_it_is;
    for (uint32_t l = 0; l < w->n_locations; l++)
        grow_calls(&w->columns, w->of[l].n);
    calls = mem_alloc(step->defs->n_locations, sizeof *calls);
    for (uint32_t l = 0; l < w->n_locations; l++)
        calls[l] = view_of(w, l);
    trace_view_init(&w->as_it_is, step->defs, calls, NULL);
    for (uint32_t l = 0; l < w->n_locations; l++)
        atomic_store(&w->as_it_is.longest_send[l].ns, w->of[l].longest_send_ns + 1);
    w->as_it_is.other_end = other_end;
    w->as_it_is.ctx = w;
    w->is_looked_at = true;
    return &w->as_it_is;
}

uint32_t sync_window_call(const struct sync_window *w, uint32_t location, uint32_t id)
{
    return location < w->n_locations ? row_of(&w->of[location], id) : NO_CALL;
}

/* --------------------------------------------------------------------------------- opening */

static void grow_columns(struct sync_window *w)
{
    struct window_columns *c = &w->columns;
    size_t n_calls = 0, n_messages = 0, n_collectives = 0;

    for (uint32_t l = 0; l < w->n_locations; l++) {
        n_calls += w->of[l].n + 2;
        n_messages += w->of[l].n_messages;
        n_collectives += w->of[l].n_collectives;
    }
    mem_grow(&c->message, &c->message_cap, n_messages);
    mem_grow(&c->collective, &c->collective_cap, n_collectives);
    grow_calls(c, n_calls);
}

/* A function for the two ends of a location, which are calls to a replay: not MPI_Finalize,
 * which all end in together. */
static uint32_t region_of_ends(const struct definitions *defs)
{
    for (uint32_t i = 0; i < defs->names.n; i++)
        if (defs->region[i].kind != REGION_MPI)
            return i;
    return defs->names.n > 1 && region_is_mpi(&defs->region[0], "MPI_Finalize") ? 1 : 0;
}

static void add_end(struct window_columns *c, size_t at, uint64_t time_ns, uint32_t region)
{
    c->enter_ns[at] = time_ns;
    c->inclusive_ns[at] = 0;
    c->region[at] = region;
}

/* Its calls, between its two ends. Returns how many these are together. */
static uint32_t lay_out_calls(struct sync_window *w, const struct ad_step *step, uint32_t l,
                              size_t at)
{
    const struct window_location *o = &w->of[l];
    struct window_columns *c = &w->columns;
    uint32_t region = region_of_ends(step->defs), first = o->open_row, n = o->n - first;
    uint64_t begin = w->open_ns, end = step->is_last ? o->last_ns : step->end_ns;

    if (!o->is_seen)
        return 0;
    if (n > 0) {
        uint64_t leave = o->enter_ns[o->n - 1] + o->inclusive_ns[o->n - 1];

        begin = o->enter_ns[first] < begin ? o->enter_ns[first] : begin;
        end = leave > end ? leave : end;
        memcpy(c->enter_ns + at + 1, o->enter_ns + first, n * sizeof *o->enter_ns);
        memcpy(c->inclusive_ns + at + 1, o->inclusive_ns + first, n * sizeof *o->inclusive_ns);
        memcpy(c->region + at + 1, o->region + first, n * sizeof *o->region);
    }
    add_end(c, at, begin, region);
    add_end(c, at + 1 + n, end > begin ? end : begin, region);
    return n + 2;
}

/* The first end is before all rows. */
static uint32_t call_here(const struct window_location *o, uint32_t row)
{
    return row != NO_CALL && row >= o->open_row && row < o->n ? row - o->open_row + 1 : NO_CALL;
}

static void lay_out_messages(struct sync_window *w, uint32_t l, const size_t *first)
{
    const struct window_location *o = &w->of[l];

    for (size_t i = o->open_message; i < o->n_messages; i++) {
        struct message *m = &w->columns.message[first[l] + i - o->open_message];
        const struct window_location *other;
        size_t row;

        *m = o->message[i];
        m->call = call_here(o, m->call);
        m->end_ns = m->end_ns == SYNC_NOT_SENT ? m->begin_ns : m->end_ns;
        if (m->match == MESSAGE_UNMATCHED)
            continue;
        other = &w->of[m->match >> 32];
        row = (uint32_t)m->match - other->n_messages_before;
        m->match = row >= other->open_message && row < other->n_messages
                       ? first[m->match >> 32] + row - other->open_message
                       : MESSAGE_UNMATCHED;
    }
}

static void lay_out_collectives(struct sync_window *w, const struct ad_step *step, uint32_t l,
                                struct idmap *instance, size_t at)
{
    const struct window_location *o = &w->of[l];

    for (size_t i = o->open_collective; i < o->n_collectives; i++) {
        struct collective *c = &w->columns.collective[at + i - o->open_collective];

        *c = o->collective[i];
        c->call = call_here(o, c->call);
        c->instance = step->defs->comm[c->comm].is_self
                          ? NO_INSTANCE
                          : idmap_add(instance, key_pair(c->comm, c->order));
    }
}

/* The first that matter after a time. */
static void find_first(struct window_location *o, uint64_t from_ns)
{
    const struct call_view records = {.message = o->message,
                                      .n_messages = o->n_messages,
                                      .collective = o->collective,
                                      .n_collectives = o->n_collectives};

    o->open_row = (uint32_t)lower_bound_u64(o->enter_ns, o->n, from_ns);
    if (o->open_row > 0 &&
        o->enter_ns[o->open_row - 1] + o->inclusive_ns[o->open_row - 1] >= from_ns)
        o->open_row--; /* it was on its way */
    o->open_message = calls_message_from(&records, from_ns);
    o->open_collective = calls_collective_from(&records, from_ns);
}

int sync_window_open(struct sync_window *w, const struct ad_step *step, uint64_t from_ns)
{
    struct window_columns *c = &w->columns;
    struct call_view *calls = mem_alloc(step->defs->n_locations, sizeof *calls);
    size_t *first = mem_alloc((size_t)w->n_locations + 1, sizeof *first);
    size_t at = 0, at_collective = 0;
    struct idmap instance = {0};
    int rc;

    look_away(w); /* its columns may move */
    grow_columns(w);
    w->open_ns = from_ns > w->begin_ns ? from_ns : w->begin_ns;
    for (uint32_t l = 0; l < w->n_locations; l++) {
        find_first(&w->of[l], w->open_ns);
        first[l + 1] = first[l] + w->of[l].n_messages - w->of[l].open_message;
    }
    for (uint32_t l = 0; l < w->n_locations; l++) {
        const struct window_location *o = &w->of[l];
        uint32_t n = lay_out_calls(w, step, l, at);

        lay_out_messages(w, l, first);
        lay_out_collectives(w, step, l, &instance, at_collective);
        calls[l] = (struct call_view){.n = n,
                                      .enter_ns = c->enter_ns + at,
                                      .inclusive_ns = c->inclusive_ns + at,
                                      .region = c->region + at,
                                      .subtree_len = c->subtree_len,
                                      .depth = c->depth,
                                      .message = c->message + first[l],
                                      .n_messages = first[l + 1] - first[l],
                                      .collective = c->collective + at_collective,
                                      .n_collectives = o->n_collectives - o->open_collective};
        at += n;
        at_collective += o->n_collectives - o->open_collective;
    }
    trace_view_init(&w->view, step->defs, calls, c->message);
    rc = syncs_init(&w->syncs, &w->view);
    if (rc == 0)
        replay_init(&w->replay, &w->syncs);
    w->is_open = true;
    if (rc < 0)
        sync_window_close(w);
    idmap_release(&instance);
    free(first);
    return rc;
}

void sync_window_close(struct sync_window *w)
{
    if (!w->is_open)
        return;
    replay_release(&w->replay);
    syncs_release(&w->syncs);
    trace_view_release(&w->view);
    w->is_open = false;
}

uint32_t sync_window_row(const struct sync_window *w, uint32_t location, uint64_t time_ns)
{
    const struct call_view *calls = &w->view.calls[location];
    uint32_t n = calls_until(calls, time_ns);

    if (n < 2 || n >= calls->n) /* the first and the last row are the ends */
        return NO_CALL;
    return calls_leave(calls, n - 1) >= time_ns ? n - 1 : NO_CALL;
}
