/*
 * A call that lasts for several steps is in each of them, open but in the last: one that is
 * open is taken from the newest step alone.
 *
 * Most of what is kept is never asked for, so that it is to cost little: numbers that are small
 * take a byte or two, where columns would take 28 a call.
 *
 *     a call      enter_ns after that of the call before it   0, or inclusive_ns + 1
 *                 of one that is over what the calls in it took   region
 *     a message   time after that of the one before it, mod 2^64   peer and direction   tag   bytes
 */
#include "monitor/live_recent.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void live_recent_init(struct live_recent *r, size_t most)
{
    *r = (struct live_recent){.most = most};
    pthread_mutex_init(&r->lock, NULL);
}

static void step_release(struct recent_step *s)
{
    pack_release(&s->packed);
    free(s->of);
}

void live_recent_forget(struct live_recent *r)
{
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->n; i++)
        step_release(&r->step[i]);
    r->n = r->bytes = 0;
    pthread_mutex_unlock(&r->lock);
}

bool live_recent_is_empty(struct live_recent *r)
{
    bool is_empty;

    pthread_mutex_lock(&r->lock);
    is_empty = r->n == 0;
    pthread_mutex_unlock(&r->lock);
    return is_empty;
}

void live_recent_release(struct live_recent *r)
{
    live_recent_forget(r);
    free(r->step);
    pthread_mutex_destroy(&r->lock);
}

/* --------------------------------------------------------------------------------- taking */

static void pack_calls(struct pack *to, const struct calls *c, struct recent_part *part)
{
    uint64_t before_ns = 0, last_leave_ns = 0;

    part->at = to->n;
    part->n_calls = c->n;
    for (uint32_t i = 0; i < c->n; i++) {
        uint64_t inclusive_ns = c->inclusive_ns[i], leave_ns = c->enter_ns[i] + inclusive_ns;

        pack_varint(to, c->enter_ns[i] - before_ns);
        before_ns = c->enter_ns[i];
        if (inclusive_ns == CALL_OPEN) {
            pack_varint(to, 0);
        } else {
            pack_varint(to, inclusive_ns + 1);
            pack_varint(to, inclusive_ns - c->exclusive_ns[i]);
            if (leave_ns > last_leave_ns)
                last_leave_ns = leave_ns;
        }
        pack_varint(to, c->region[i]);
    }
    part->last_enter_ns = before_ns;
    part->last_leave_ns = last_leave_ns;
}

static void pack_messages(struct pack *to, const struct calls *c, struct recent_part *part)
{
    uint64_t before_ns = 0;

    part->messages_at = to->n;
    part->n_messages = (uint32_t)c->n_messages;
    part->first_message_ns = UINT64_MAX;
    for (size_t i = 0; i < c->n_messages; i++) {
        const struct message *m = &c->message[i];
        uint64_t at_ns = message_record_ns(m);

        pack_varint(to, at_ns - before_ns);
        pack_varint(to, (uint64_t)m->peer << 1 | (m->kind == MESSAGE_SEND));
        pack_varint(to, m->tag);
        pack_varint(to, m->bytes);
        before_ns = at_ns;
        if (at_ns < part->first_message_ns)
            part->first_message_ns = at_ns;
        if (at_ns > part->last_message_ns)
            part->last_message_ns = at_ns;
    }
}

static size_t bytes_of(const struct recent_step *s)
{
    return sizeof *s + s->n_locations * sizeof *s->of + s->packed.cap;
}

void live_recent_take(struct live_recent *r, const struct ad_step *step)
{
    struct recent_step s = {.number = step->number,
                            .begin_ns = step->begin_ns,
                            .end_ns = step->end_ns,
                            .n_locations = step->n_locations,
                            .of = mem_alloc(step->n_locations, sizeof *s.of)};

    for (uint32_t l = 0; l < step->n_locations; l++) {
        pack_calls(&s.packed, &step->calls[l], &s.of[l]);
        pack_messages(&s.packed, &step->calls[l], &s.of[l]);
    }
    s.packed.cap = s.packed.n;
    s.packed.data = mem_resize(s.packed.data, s.packed.cap, 1);
    pthread_mutex_lock(&r->lock);
    *mem_push(&r->step, &r->n, &r->cap) = s;
    r->bytes += bytes_of(&s);
    while (r->n > 0 && r->bytes > r->most) {
        r->bytes -= bytes_of(&r->step[0]);
        step_release(&r->step[0]);
        mem_to_front(r->step, 1, --r->n, sizeof *r->step);
    }
    pthread_mutex_unlock(&r->lock);
}

/* Reads the calls of a location in a step one by one. */
struct call_cursor {
    struct pack pack;
    uint32_t n_left;
    uint64_t enter_ns, leave_ns; /* leave_ns 0: open */
    uint64_t exclusive_ns;       /* of one that is over */
    uint32_t region;
};

static struct call_cursor calls_of(const struct recent_step *s, uint32_t location)
{
    struct call_cursor at = {.pack = s->packed, .n_left = s->of[location].n_calls};

    at.pack.at = s->of[location].at;
    return at;
}

static bool next_call(struct call_cursor *at)
{
    uint64_t inclusive;

    if (at->n_left == 0)
        return false;
    at->n_left--;
    at->enter_ns += unpack_varint(&at->pack);
    inclusive = unpack_varint(&at->pack);
    at->leave_ns = inclusive > 0 ? at->enter_ns + inclusive - 1 : 0;
    at->exclusive_ns = inclusive > 0 ? inclusive - 1 - unpack_varint(&at->pack) : 0;
    at->region = (uint32_t)unpack_varint(&at->pack);
    return true;
}

/* -------------------------------------------------------------------------------- finding */

struct recent_row {
    uint64_t enter_ns, leave_ns; /* leave_ns 0: open */
    uint32_t region;
    uint32_t depth;
};

struct recent_rows {
    struct recent_row *row; /* [n] */
    size_t n, cap;
};

static uint64_t end_of(const struct recent_row *row)
{
    return row->leave_ns ? row->leave_ns : UINT64_MAX;
}

/* By begin; of those that begin at once the outer one first. */
static int by_begin(const void *a, const void *b)
{
    const struct recent_row *x = a, *y = b;

    return ORDER(x->enter_ns, y->enter_ns) ?:
           ORDER(end_of(y), end_of(x)) ?:
           ORDER(x->region, y->region);
}

static int by_length(const void *a, const void *b)
{
    const struct recent_row *x = a, *y = b;
    uint64_t of_x = end_of(x) - x->enter_ns, of_y = end_of(y) - y->enter_ns;

    return ORDER(of_y, of_x) ?: by_begin(a, b);
}

/* The calls of a location that are not over before a time and begin up to another. */
static void gather(const struct live_recent *r, uint32_t location, uint64_t from_ns,
                   uint64_t to_ns, struct recent_rows *rows)
{
    rows->n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct recent_step *s = &r->step[i];
        bool is_newest = i + 1 == r->n;
        struct call_cursor c;

        if (location >= s->n_locations ||
            (!is_newest && s->of[location].last_leave_ns < from_ns))
            continue;
        c = calls_of(s, location);
        while (next_call(&c) && c.enter_ns <= to_ns) {
            if (c.leave_ns > 0 ? c.leave_ns < from_ns : !is_newest)
                continue;
            *mem_push(&rows->row, &rows->n, &rows->cap) =
                (struct recent_row){c.enter_ns, c.leave_ns, c.region, 0};
        }
    }
    if (rows->n > LIVE_RECENT_CALLS) {
        qsort(rows->row, rows->n, sizeof *rows->row, by_length);
        rows->n = LIVE_RECENT_CALLS;
    }
    if (rows->n > 0)
        qsort(rows->row, rows->n, sizeof *rows->row, by_begin);
}

static const char *name_of(const struct recent_asked *asked, uint32_t region,
                           struct arena *arena)
{
    return region < asked->n_regions ? arena_string(arena, asked->region_name[region]) : "?";
}

static struct prov_call call_of(const struct recent_asked *asked, const struct recent_row *row,
                                struct prov_event event, struct arena *arena)
{
    return (struct prov_call){.event = event,
                              .fid = row->region,
                              .func = name_of(asked, row->region, arena),
                              .enter_ns = row->enter_ns,
                              .leave_ns = row->leave_ns};
}

static void fill_window(const struct recent_asked *asked, const struct recent_rows *rows,
                        uint32_t rank, uint64_t step, struct arena *arena,
                        struct prov_window *window)
{
    window->call = arena_alloc(arena, rows->n, sizeof *window->call);
    window->n_calls = rows->n;
    for (size_t i = 0; i < rows->n; i++)
        window->call[i] =
            call_of(asked, &rows->row[i], (struct prov_event){rank, step, i}, arena);
}

static void add_messages(const struct live_recent *r, const struct recent_asked *asked,
                         uint32_t location, uint64_t from_ns, uint64_t to_ns,
                         struct arena *arena, struct prov_window *window)
{
    uint32_t rank = asked->place[location].rank;

    window->message = arena_alloc(arena, LIVE_RECENT_CALLS, sizeof *window->message);
    for (size_t s = 0; s < r->n; s++) {
        const struct recent_part *part = &r->step[s].of[location];
        struct pack at = r->step[s].packed;
        uint64_t at_ns = 0;

        if (location >= r->step[s].n_locations || part->first_message_ns > to_ns ||
            part->last_message_ns < from_ns)
            continue;
        at.at = part->messages_at;
        for (uint32_t i = 0; i < part->n_messages; i++) {
            uint64_t peer, bytes;
            uint32_t tag;
            bool is_send;

            at_ns += unpack_varint(&at);
            peer = unpack_varint(&at);
            tag = (uint32_t)unpack_varint(&at);
            bytes = unpack_varint(&at);
            if (at_ns < from_ns || at_ns > to_ns || window->n_messages == LIVE_RECENT_CALLS)
                continue;
            is_send = peer & 1;
            peer >>= 1;
            window->message[window->n_messages++] =
                (struct prov_message){.is_send = is_send,
                                      .source = is_send ? rank : (uint32_t)peer,
                                      .target = is_send ? (uint32_t)peer : rank,
                                      .tag = tag,
                                      .bytes = bytes,
                                      .time_ns = at_ns};
        }
    }
}

/* The first thread of a rank of the same program. */
static uint32_t location_of(const struct recent_asked *asked, uint32_t rank)
{
    uint32_t program = asked->place[asked->location].program, best = UINT32_MAX;

    for (uint32_t l = 0; l < asked->n_places; l++)
        if (asked->place[l].rank == rank && asked->place[l].program == program &&
            (best == UINT32_MAX || asked->place[l].thread < asked->place[best].thread))
            best = l;
    return best;
}

static bool is_partner(const struct prov_record *record, uint32_t rank)
{
    for (size_t i = 0; i < record->n_partners; i++)
        if (record->partner[i].rank == rank)
            return true;
    return false;
}

static void add_partners(const struct live_recent *r, const struct recent_asked *asked,
                         uint64_t from_ns, uint64_t to_ns, struct recent_rows *rows,
                         struct arena *arena, struct prov_record *record)
{
    record->partner = arena_alloc(arena, LIVE_RECENT_PARTNERS, sizeof *record->partner);
    for (size_t i = 0;
         i < record->window.n_messages && record->n_partners < LIVE_RECENT_PARTNERS; i++) {
        const struct prov_message *m = &record->window.message[i];
        uint32_t rank = m->is_send ? m->target : m->source, l = location_of(asked, rank);
        struct prov_partner *partner = &record->partner[record->n_partners];

        if (l == UINT32_MAX || l == asked->location || is_partner(record, rank))
            continue;
        *partner = (struct prov_partner){.rank = rank, .thread = asked->place[l].thread};
        gather(r, l, from_ns, to_ns, rows);
        fill_window(asked, rows, rank, record->event.step, arena, &partner->window);
        add_messages(r, asked, l, from_ns, to_ns, arena, &partner->window);
        record->n_partners++;
    }
}

/* The calls around it, the innermost first; it itself is the first. */
static void fill_stack(const struct recent_rows *rows, const struct recent_row *own,
                       struct prov_record *record, struct arena *arena)
{
    record->stack = arena_alloc(arena, rows->n, sizeof *record->stack);
    for (size_t i = rows->n; i-- > 0;) {
        const struct recent_row *row = &rows->row[i];

        if (row > own || end_of(row) < end_of(own))
            continue;
        record->stack[record->n_stack++] = record->window.call[i];
    }
}

/* The step in which it ended, and the call there. */
static const struct recent_step *
step_of(const struct live_recent *r, const struct recent_asked *asked, struct call_cursor *call)
{
    for (size_t i = r->n; i-- > 0;) {
        const struct recent_step *s = &r->step[i];

        if (asked->location >= s->n_locations ||
            s->of[asked->location].last_enter_ns < asked->enter_ns)
            continue;
        *call = calls_of(s, asked->location);
        while (next_call(call) && call->enter_ns <= asked->enter_ns)
            if (call->enter_ns == asked->enter_ns && call->region == asked->region &&
                call->leave_ns > 0)
                return s;
    }
    return NULL;
}

static bool find(const struct live_recent *r, const struct recent_asked *asked,
                 struct arena *arena, struct prov_record *record)
{
    struct recent_rows rows = {0};
    uint64_t leave_ns, half, from_ns, to_ns;
    size_t own = 0;
    struct call_cursor call;
    const struct recent_step *step = step_of(r, asked, &call);
    const struct recent_place *place = &asked->place[asked->location];

    if (step == NULL)
        return false;
    leave_ns = call.leave_ns;
    half = (leave_ns - asked->enter_ns) / 2;
    from_ns = asked->enter_ns > half ? asked->enter_ns - half : 0;
    to_ns = leave_ns + half;
    gather(r, asked->location, from_ns, to_ns, &rows);
    while (own < rows.n &&
           (rows.row[own].enter_ns != asked->enter_ns || rows.row[own].leave_ns != leave_ns ||
            rows.row[own].region != asked->region))
        own++;
    if (own == rows.n) {
        free(rows.row);
        return false;
    }
    *record = (struct prov_record){.event = {place->rank, step->number, own},
                                   .program = place->program,
                                   .thread = place->thread,
                                   .fid = asked->region,
                                   .func = name_of(asked, asked->region, arena),
                                   .hostname = "",
                                   .algorithm = "",
                                   .score = NAN,
                                   .p = NAN,
                                   .enter_ns = asked->enter_ns,
                                   .leave_ns = leave_ns,
                                   .inclusive_ns = leave_ns - asked->enter_ns,
                                   .exclusive_ns = call.exclusive_ns,
                                   .step_begin_ns = step->begin_ns,
                                   .step_end_ns = step->end_ns};
    fill_window(asked, &rows, place->rank, step->number, arena, &record->window);
    fill_stack(&rows, &rows.row[own], record, arena);
    add_messages(r, asked, asked->location, from_ns, to_ns, arena, &record->window);
    add_partners(r, asked, from_ns, to_ns, &rows, arena, record);
    free(rows.row);
    return true;
}

bool live_recent_find(struct live_recent *r, const struct recent_asked *asked,
                      struct arena *arena, struct prov_record *record)
{
    bool is_there;

    pthread_mutex_lock(&r->lock);
    is_there = asked->location < asked->n_places && find(r, asked, arena, record);
    pthread_mutex_unlock(&r->lock);
    return is_there;
}
