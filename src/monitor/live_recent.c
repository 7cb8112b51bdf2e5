/*
 * A call that lasts for several steps is in each of them, open but in the last: one that is
 * open is taken from the newest step alone.
 */
#include "monitor/live_recent.h"

#include "base/mem.h"
#include "base/search.h"

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
    for (uint32_t l = 0; l < s->n_locations; l++) {
        free(s->of[l].enter_ns);
        free(s->of[l].leave_ns);
        free(s->of[l].exclusive_ns);
        free(s->of[l].region);
        free(s->of[l].message);
    }
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

static void *copy(const void *from, size_t n, size_t size)
{
    void *to = mem_alloc(n, size);

    if (n > 0)
        memcpy(to, from, n * size);
    return to;
}

static size_t take_calls(struct recent_calls *to, const struct calls *c)
{
    *to = (struct recent_calls){.n = c->n,
                                .enter_ns = copy(c->enter_ns, c->n, sizeof *to->enter_ns),
                                .leave_ns = mem_alloc(c->n, sizeof *to->leave_ns),
                                .exclusive_ns =
                                    copy(c->exclusive_ns, c->n, sizeof *to->exclusive_ns),
                                .region = copy(c->region, c->n, sizeof *to->region),
                                .message = copy(c->message, c->n_messages, sizeof *to->message),
                                .n_messages = c->n_messages};
    for (uint32_t i = 0; i < c->n; i++)
        to->leave_ns[i] =
            c->inclusive_ns[i] == CALL_OPEN ? 0 : c->enter_ns[i] + c->inclusive_ns[i];
    return c->n * (3 * sizeof *to->enter_ns + sizeof *to->region) +
           c->n_messages * sizeof *to->message;
}

static void drop_oldest(struct live_recent *r)
{
    r->bytes -= r->step[0].bytes;
    step_release(&r->step[0]);
    mem_to_front(r->step, 1, --r->n, sizeof *r->step);
}

void live_recent_take(struct live_recent *r, const struct ad_step *step)
{
    struct recent_step s = {.number = step->number,
                            .begin_ns = step->begin_ns,
                            .end_ns = step->end_ns,
                            .n_locations = step->n_locations,
                            .of = mem_alloc(step->n_locations, sizeof *s.of),
                            .bytes = sizeof s + step->n_locations * sizeof *s.of};

    for (uint32_t l = 0; l < step->n_locations; l++)
        s.bytes += take_calls(&s.of[l], &step->calls[l]);
    pthread_mutex_lock(&r->lock);
    mem_grow(&r->step, &r->cap, r->n + 1, sizeof *r->step);
    r->step[r->n++] = s;
    r->bytes += s.bytes;
    while (r->n > 0 && r->bytes > r->most)
        drop_oldest(r);
    pthread_mutex_unlock(&r->lock);
}

/* -------------------------------------------------------------------------------- finding */

struct row {
    uint64_t enter_ns, leave_ns; /* leave_ns 0: open */
    uint32_t region;
    uint32_t depth;
};

struct recent_rows {
    struct row *row; /* [n] */
    size_t n, cap;
};

static uint64_t end_of(const struct row *row)
{
    return row->leave_ns ? row->leave_ns : UINT64_MAX;
}

/* By begin; of those that begin at once the outer one first. */
static int by_begin(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->enter_ns != y->enter_ns)
        return x->enter_ns < y->enter_ns ? -1 : 1;
    if (end_of(x) != end_of(y))
        return end_of(x) > end_of(y) ? -1 : 1;
    return x->region < y->region ? -1 : x->region > y->region;
}

static int by_length(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    uint64_t of_x = end_of(x) - x->enter_ns, of_y = end_of(y) - y->enter_ns;

    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return by_begin(a, b);
}

/* The calls of a location that are not over before a time and begin up to another. */
static void gather(const struct live_recent *r, uint32_t location, uint64_t from_ns,
                   uint64_t to_ns, struct recent_rows *rows)
{
    rows->n = 0;
    for (size_t s = 0; s < r->n; s++) {
        const struct recent_calls *c = &r->step[s].of[location];

        for (uint32_t i = 0;
             location < r->step[s].n_locations && i < c->n && c->enter_ns[i] <= to_ns; i++) {
            uint64_t leave_ns = c->leave_ns[i];

            if (leave_ns > 0 ? leave_ns < from_ns : s + 1 < r->n)
                continue;
            mem_grow(&rows->row, &rows->cap, rows->n + 1, sizeof *rows->row);
            rows->row[rows->n++] = (struct row){c->enter_ns[i], leave_ns, c->region[i], 0};
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

static struct prov_call call_of(const struct recent_asked *asked, const struct row *row,
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
        const struct recent_calls *c = &r->step[s].of[location];

        for (size_t i = 0; location < r->step[s].n_locations && i < c->n_messages; i++) {
            const struct message *m = &c->message[i];
            uint64_t at_ns = message_record_ns(m);
            bool is_send = m->kind == MESSAGE_SEND;

            if (at_ns < from_ns || at_ns > to_ns || window->n_messages == LIVE_RECENT_CALLS)
                continue;
            window->message[window->n_messages++] =
                (struct prov_message){.is_send = is_send,
                                      .source = is_send ? rank : m->peer,
                                      .target = is_send ? m->peer : rank,
                                      .tag = m->tag,
                                      .bytes = m->bytes,
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
static void fill_stack(const struct recent_rows *rows, const struct row *own,
                       struct prov_record *record, struct arena *arena)
{
    record->stack = arena_alloc(arena, rows->n, sizeof *record->stack);
    for (size_t i = rows->n; i-- > 0;) {
        const struct row *row = &rows->row[i];

        if (row > own || end_of(row) < end_of(own))
            continue;
        record->stack[record->n_stack++] = record->window.call[i];
    }
}

/* The step in which it ended. */
static const struct recent_step *step_of(const struct live_recent *r,
                                         const struct recent_asked *asked, size_t *row)
{
    for (size_t s = r->n; s-- > 0;) {
        const struct recent_calls *c = &r->step[s].of[asked->location];

        if (asked->location >= r->step[s].n_locations)
            continue;
        for (size_t i = lower_bound_u64(c->enter_ns, c->n, asked->enter_ns);
             i < c->n && c->enter_ns[i] == asked->enter_ns; i++)
            if (c->region[i] == asked->region && c->leave_ns[i] > 0) {
                *row = i;
                return &r->step[s];
            }
    }
    return NULL;
}

static bool find(const struct live_recent *r, const struct recent_asked *asked,
                 struct arena *arena, struct prov_record *record)
{
    struct recent_rows rows = {0};
    uint64_t leave_ns, half, from_ns, to_ns;
    size_t own = 0, at;
    const struct recent_step *step = step_of(r, asked, &at);
    const struct recent_place *place = &asked->place[asked->location];
    const struct recent_calls *calls;

    if (step == NULL)
        return false;
    calls = &step->of[asked->location];
    leave_ns = calls->leave_ns[at];
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
                                   .exclusive_ns = calls->exclusive_ns[at],
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
