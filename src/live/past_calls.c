/*
 * Calls of a location are in the order they were entered, so a call is found by its name or its
 * time; those that are open have their places in `open`, row by row as the next step has them.
 * What goes, goes from the front: a place is counted from the first call there ever was.
 */
#include "live/past_calls.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_STEPS 3u /* at least: the step in question, the one after, and the one at hand */
#define NEVER UINT32_MAX

struct past_call {
    uint64_t enter_ns, leave_ns; /* leave_ns 0: open */
    uint32_t step, index, parent_step, parent_index;
    uint32_t model, region;
    uint32_t closed; /* step, or NEVER */
    bool has_parent, is_anomaly;
};

struct past_message {
    uint64_t time_ns, bytes;
    uint64_t number; /* in its channel, from 1; 0: not counted */
    uint32_t step, peer, tag, comm;
    uint32_t call_step, call_index;
    bool is_send, has_call;
};

struct past_location {
    struct past_call *call; /* [n_calls] */
    size_t n_calls, call_cap;
    uint64_t n_gone;                           /* calls that were before these */
    struct past_message *message;              /* [n_messages] in the order of their records */
    size_t n_messages, message_cap, first_new; /* those of the step at hand */
    uint64_t *open;                            /* [n_open] places */
    size_t n_open, open_cap;
};

struct past_step {
    uint32_t number;
    uint64_t end_ns;
    size_t bytes; /* kept of it */
};

/* A message of the step at hand, to be numbered. */
struct fresh {
    uint32_t rank, location, order, i;
    uint64_t begin_ns;
};

struct past_calls {
    size_t most_bytes, bytes;
    struct past_location *of; /* [n] by location */
    uint32_t n;
    size_t cap;
    struct past_step *step; /* [n_steps] */
    size_t n_steps, step_cap;
    uint64_t gone_until_ns; /* end of the last step that was forgotten */
    bool is_over;
    struct idmap channels;
    uint64_t *counted; /* [channels.n] messages */
    size_t counted_cap;
    struct fresh *fresh; /* scratch */
    size_t fresh_cap;
};

struct past_calls *past_calls_new(size_t most_bytes)
{
    struct past_calls *p = mem_alloc(1, sizeof *p);

    p->most_bytes = most_bytes;
    return p;
}

void past_calls_free(struct past_calls *p)
{
    if (p == NULL)
        return;
    for (uint32_t l = 0; l < p->n; l++) {
        free(p->of[l].call);
        free(p->of[l].message);
        free(p->of[l].open);
    }
    free(p->of);
    free(p->step);
    free(p->counted);
    free(p->fresh);
    idmap_release(&p->channels);
    free(p);
}

void past_calls_end(struct past_calls *p)
{
    p->is_over = true;
}

/* ----------------------------------------------------------------------------------- calls */

static void take_call(struct past_location *own, const struct call_histories *h,
                      const struct ad_step *step, uint32_t l, uint32_t row)
{
    const struct calls *c = &step->calls[l];
    struct prov_event event = call_history_event(h, step, l, row), parent = {0};
    bool is_open = c->inclusive_ns[row] == CALL_OPEN, has_parent = c->caller[row] != NO_CALL;

    if (has_parent)
        parent = call_history_event(h, step, l, c->caller[row]);
    *mem_push(&own->call, &own->n_calls, &own->call_cap) =
        (struct past_call){.enter_ns = c->enter_ns[row],
                           .leave_ns = is_open ? 0 : c->enter_ns[row] + c->inclusive_ns[row],
                           .step = (uint32_t)event.step,
                           .index = (uint32_t)event.index,
                           .parent_step = (uint32_t)parent.step,
                           .parent_index = (uint32_t)parent.index,
                           .model = step->model[l][row],
                           .region = c->region[row],
                           .closed = is_open ? NEVER : (uint32_t)step->number,
                           .has_parent = has_parent};
}

/* The call of a row, if it is still kept. */
static struct past_call *call_of(struct past_location *own, const struct calls *c,
                                 uint64_t first_place, uint32_t row)
{
    uint64_t place = row < c->n_carried ? own->open[row] : first_place + (row - c->n_carried);

    return place < own->n_gone ? NULL : &own->call[place - own->n_gone];
}

/* Calls that were open when the step began, and are not any more. */
static void close_calls(struct past_location *own, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];

    for (uint32_t row = 0; row < c->n_carried; row++) {
        struct past_call *call = call_of(own, c, 0, row);

        if (call == NULL || c->inclusive_ns[row] == CALL_OPEN)
            continue;
        call->leave_ns = c->enter_ns[row] + c->inclusive_ns[row];
        call->closed = (uint32_t)step->number;
    }
}

/* Row i of the next step is the i-th call that is open now. */
static void keep_open(struct past_location *own, const struct calls *c, uint64_t first_place)
{
    size_t n = 0;

    for (uint32_t row = c->top; row != NO_CALL; row = c->caller[row])
        n++;
    mem_grow(&own->open, &own->open_cap, n);
    own->n_open = n;
    for (uint32_t row = c->top; row != NO_CALL && row >= c->n_carried; row = c->caller[row])
        own->open[--n] = first_place + (row - c->n_carried);
}

static void mark_anomalies(struct past_location *own, const struct call_history *history,
                           const struct calls *c, uint64_t first_place)
{
    for (size_t i = 0; i < history->n_verdicts; i++) {
        struct past_call *call = call_of(own, c, first_place, history->first[i].row);

        if (call)
            call->is_anomaly = true;
    }
}

static void take_calls(struct past_calls *p, const struct call_histories *h,
                       const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    struct past_location *own = &p->of[l];
    uint64_t first_place = own->n_gone + own->n_calls;

    close_calls(own, step, l);
    for (uint32_t row = c->n_carried; row < c->n; row++)
        take_call(own, h, step, l, row);
    mark_anomalies(own, &h->of[l], c, first_place);
    keep_open(own, c, first_place);
    p->bytes += (c->n - c->n_carried) * sizeof *own->call;
}

/* -------------------------------------------------------------------------------- messages */

static void take_messages(struct past_calls *p, const struct call_histories *h,
                          const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    struct past_location *own = &p->of[l];

    own->first_new = own->n_messages;
    mem_grow(&own->message, &own->message_cap, own->n_messages + c->n_messages);
    for (size_t i = 0; i < c->n_messages; i++) {
        const struct message *m = &c->message[i];
        bool has_call = m->call != NO_CALL;
        struct prov_event event = {0};

        if (has_call)
            event = call_history_event(h, step, l, m->call);
        own->message[own->n_messages++] =
            (struct past_message){.time_ns = message_record_ns(m),
                                  .bytes = m->bytes,
                                  .step = (uint32_t)step->number,
                                  .peer = m->peer,
                                  .tag = m->tag,
                                  .comm = m->comm,
                                  .call_step = (uint32_t)event.step,
                                  .call_index = (uint32_t)event.index,
                                  .is_send = m->kind == MESSAGE_SEND,
                                  .has_call = has_call};
    }
    p->bytes += c->n_messages * sizeof *own->message;
}

/* As they were posted: on a location by their number, on several of a rank by time. */
static int by_posting(const void *a, const void *b)
{
    const struct fresh *x = a, *y = b;

    return ORDER(x->rank, y->rank) ?:
           x->location == y->location
               ? ORDER(x->order, y->order)
               : ORDER(x->begin_ns, y->begin_ns) ?: ORDER(x->location, y->location);
}

static void count(struct past_calls *p, struct past_message *m, uint32_t rank)
{
    struct key key = key_quad(m->comm, m->tag, m->peer, 2 * rank + m->is_send);
    uint32_t known = p->channels.n, i = idmap_find(&p->channels, key);

    if (i == IDMAP_NONE && known == PAST_CALLS_MAX_CHANNELS)
        return;
    if (i == IDMAP_NONE) {
        i = idmap_add(&p->channels, key);
        mem_grow(&p->counted, &p->counted_cap, (size_t)i + 1);
        p->counted[i] = 0;
    }
    m->number = ++p->counted[i];
}

static void count_messages(struct past_calls *p, const struct ad_step *step)
{
    size_t n = 0;
    bool is_sorted = true;

    for (uint32_t l = 0; l < step->n_locations; l++) {
        const struct calls *c = &step->calls[l];

        mem_grow(&p->fresh, &p->fresh_cap, n + c->n_messages);
        for (size_t i = 0; i < c->n_messages; i++, n++) {
            p->fresh[n] = (struct fresh){step->defs->location[l].rank, l, c->message[i].order,
                                         (uint32_t)i, c->message[i].begin_ns};
            is_sorted &= n == 0 || by_posting(&p->fresh[n - 1], &p->fresh[n]) <= 0;
        }
    }
    if (!is_sorted)
        qsort(p->fresh, n, sizeof *p->fresh, by_posting);
    for (size_t k = 0; k < n; k++) {
        struct past_location *own = &p->of[p->fresh[k].location];

        count(p, &own->message[own->first_new + p->fresh[k].i], p->fresh[k].rank);
    }
}

uint64_t past_calls_number(const struct past_calls *p, uint32_t l, size_t i)
{
    return p->of[l].message[p->of[l].first_new + i].number;
}

/* ------------------------------------------------------------------------------- forgetting */

static void forget_of(struct past_location *own, uint32_t step)
{
    size_t n = 0;

    while (n < own->n_calls && own->call[n].step <= step)
        n++;
    mem_to_front(own->call, n, own->n_calls - n, sizeof *own->call);
    own->n_calls -= n;
    own->n_gone += n;
    for (n = 0; n < own->n_messages && own->message[n].step <= step; n++)
        ;
    mem_to_front(own->message, n, own->n_messages - n, sizeof *own->message);
    own->n_messages -= n;
    own->first_new -= n; /* those of the step at hand stay */
}

/* Half of it at a time, so that what stays is not moved for each step. */
static void forget(struct past_calls *p)
{
    size_t n = 0;

    if (p->bytes <= p->most_bytes)
        return;
    while (p->bytes > p->most_bytes / 2 && p->n_steps - n > KEPT_STEPS)
        p->bytes -= p->step[n++].bytes;
    if (n == 0)
        return;
    for (uint32_t l = 0; l < p->n; l++)
        forget_of(&p->of[l], p->step[n - 1].number);
    p->gone_until_ns = p->step[n - 1].end_ns;
    mem_to_front(p->step, n, p->n_steps - n, sizeof *p->step);
    p->n_steps -= n;
}

void past_calls_step(struct past_calls *p, const struct call_histories *h,
                     const struct ad_step *step)
{
    size_t bytes = p->bytes;

    mem_grow(&p->of, &p->cap, step->n_locations);
    for (; p->n < step->n_locations; p->n++)
        p->of[p->n] = (struct past_location){.n_calls = 0};
    for (uint32_t l = 0; l < p->n; l++) {
        take_calls(p, h, step, l);
        take_messages(p, h, step, l);
    }
    count_messages(p, step);
    *mem_push(&p->step, &p->n_steps, &p->step_cap) = (struct past_step){
        .number = (uint32_t)step->number, .end_ns = step->end_ns, .bytes = p->bytes - bytes};
    forget(p);
}

/* ----------------------------------------------------------------------------------- finding
 */

/* What a window is cut from: calls of a location, as they were known at the end of a step. */
struct past_cut {
    const struct past_location *own;
    uint32_t rank, thread;
    uint32_t step, known; /* the step in question; that by which all is known */
};

/* The first call that is not before a name. */
static size_t place_of(const struct past_location *own, uint32_t step, uint32_t index)
{
    const struct past_call *c = own->call;

    return FIRST_NOT(i, 0, own->n_calls,
                     c[i].step < step || (c[i].step == step && c[i].index < index));
}

static struct prov_event event_of(const struct past_cut *cut, uint32_t step, uint32_t index)
{
    return (struct prov_event){cut->rank, step, index};
}

static struct prov_call call_as_known(const struct past_cut *cut, const struct past_call *c,
                                      const struct ad *ad, const struct definitions *defs)
{
    bool is_over = c->closed <= cut->known;

    return (struct prov_call){.event = event_of(cut, c->step, c->index),
                              .parent = c->has_parent
                                            ? event_of(cut, c->parent_step, c->parent_index)
                                            : (struct prov_event){0},
                              .has_parent = c->has_parent,
                              .is_anomaly = is_over && c->is_anomaly,
                              .fid = ad_function(ad, c->model),
                              .func = defs->region[c->region].name,
                              .enter_ns = c->enter_ns,
                              .leave_ns = is_over ? c->leave_ns : 0};
}

/* When all calls of the window are over; never, while one is open. */
static uint64_t end_of(const struct prov_window *w)
{
    uint64_t end = 0;

    for (size_t i = 0; i < w->n_calls; i++) {
        if (w->call[i].leave_ns == 0)
            return UINT64_MAX;
        if (w->call[i].leave_ns > end)
            end = w->call[i].leave_ns;
    }
    return end;
}

/* The first message that was recorded at a time or after. */
static size_t first_message(const struct past_location *own, uint64_t time_ns)
{
    return FIRST_NOT(i, 0, own->n_messages, own->message[i].time_ns < time_ns);
}

static void cut_messages(const struct past_cut *cut, struct arena *arena, struct prov_window *w)
{
    uint64_t end_ns = end_of(w);

    w->message = arena_array(arena, struct prov_message, AROUND_MAX_MESSAGES);
    for (size_t i = first_message(cut->own, w->call[0].enter_ns);
         i < cut->own->n_messages && w->n_messages < AROUND_MAX_MESSAGES; i++) {
        const struct past_message *m = &cut->own->message[i];
        struct prov_event event = event_of(cut, m->call_step, m->call_index);

        if (m->step > cut->known || m->time_ns > end_ns)
            break;
        if (!m->has_call || event_before(&event, &w->call[0].event) ||
            event_before(&w->call[w->n_calls - 1].event, &event))
            continue;
        w->message[w->n_messages++] =
            (struct prov_message){.is_send = m->is_send,
                                  .call = event,
                                  .source = m->is_send ? cut->rank : m->peer,
                                  .target = m->is_send ? m->peer : cut->rank,
                                  .tag = m->tag,
                                  .bytes = m->bytes,
                                  .time_ns = m->time_ns};
    }
}

/* What is around the call at a place. Returns false if some of it was forgotten. */
static bool cut_window(const struct past_cut *cut, size_t place, uint32_t window,
                       const struct ad *ad, const struct definitions *defs, struct arena *arena,
                       struct prov_window *w)
{
    const struct past_location *own = cut->own;
    size_t first = place > window ? place - window : 0, end = place + 1;

    if (place < window && own->n_gone > 0)
        return false;
    while (end < own->n_calls && end - place <= window && own->call[end].step <= cut->known)
        end++;
    w->call = arena_array(arena, struct prov_call, end - first);
    for (size_t i = first; i < end; i++)
        w->call[w->n_calls++] = call_as_known(cut, &own->call[i], ad, defs);
    cut_messages(cut, arena, w);
    return true;
}

/* The call that was entered last by a time in the step; n_calls: none. */
static size_t place_at(const struct past_cut *cut, uint64_t time_ns)
{
    const struct past_location *own = cut->own;
    const struct past_call *c = own->call;
    size_t n =
        FIRST_NOT(i, 0, own->n_calls, c[i].enter_ns <= time_ns && c[i].step <= cut->step);

    return n > 0 ? n - 1 : own->n_calls;
}

/* The other end, if it was there by the end of the step: numbers of a channel grow from step to
 * step. */
static const struct past_message *other_end(const struct past_cut *cut,
                                            const struct past_question *q)
{
    uint32_t step = cut->step;

    for (size_t i = cut->own->n_messages; i-- > 0;) {
        const struct past_message *m = &cut->own->message[i];

        if (m->step > cut->step || m->comm != q->comm || m->tag != q->tag ||
            m->peer != q->asker || m->is_send != q->is_send)
            continue;
        if (m->number == q->number)
            return m->bytes == q->bytes ? m : NULL;
        if (m->number < q->number && m->step < step)
            return NULL;
        step = m->step;
    }
    return NULL;
}

/* The step that an instance was at when it had read until a time. */
static enum past_state find_step(const struct past_calls *p, uint64_t until_ns,
                                 struct past_cut *cut)
{
    size_t i = 0;

    if (p->gone_until_ns >= until_ns)
        return PAST_TOO_OLD;
    while (i < p->n_steps && p->step[i].end_ns < until_ns)
        i++;
    if (i + 1 >= p->n_steps && !p->is_over)
        return PAST_TOO_EARLY;
    cut->step = i < p->n_steps ? p->step[i].number : NEVER - 1;
    cut->known = i + 1 < p->n_steps ? p->step[i + 1].number : NEVER - 1;
    return PAST_KNOWN;
}

static const struct past_message *find_other_end(const struct past_calls *p,
                                                 const struct definitions *defs,
                                                 const struct past_question *q,
                                                 struct past_cut *cut, uint32_t *location)
{
    const struct past_message *m = NULL;

    for (uint32_t l = 0; l < p->n && m == NULL; l++) {
        if (defs->location[l].rank != q->rank)
            continue;
        cut->own = &p->of[l];
        m = other_end(cut, q);
        if (m)
            *location = l;
    }
    return m;
}

enum past_state past_calls_find(const struct past_calls *p, const struct ad *ad,
                                const struct definitions *defs, const struct past_question *q,
                                bool counts_agree, struct arena *arena,
                                struct prov_partner *out)
{
    uint32_t location = definitions_find_location(defs, q->rank);
    const struct past_message *m = NULL;
    struct past_cut cut = {.rank = q->rank};
    enum past_state state = find_step(p, q->until_ns, &cut);
    size_t place;

    *out = (struct prov_partner){.rank = q->rank};
    if (state != PAST_KNOWN)
        return state;
    if (counts_agree && q->number > 0)
        m = find_other_end(p, defs, q, &cut, &location);
    if (location >= p->n)
        return PAST_NOTHING;
    cut.own = &p->of[location];
    out->thread = defs->location[location].thread;
    place = m && m->has_call ? place_of(cut.own, m->call_step, m->call_index)
                             : place_at(&cut, m ? m->time_ns : q->time_ns);
    if (place >= cut.own->n_calls)
        return cut.own->n_gone > 0 ? PAST_TOO_OLD : PAST_NOTHING;
    if (m && m->has_call &&
        (cut.own->call[place].step != m->call_step ||
         cut.own->call[place].index != m->call_index))
        return PAST_TOO_OLD; /* the call itself is not there any more */
    return cut_window(&cut, place, q->window, ad, defs, arena, &out->window) ? PAST_KNOWN
                                                                             : PAST_TOO_OLD;
}
