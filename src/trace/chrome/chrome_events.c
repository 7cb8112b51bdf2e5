/*
 * One event at a time: what is due first, the next mark, or the end of the call on top.
 */
#include "trace/chrome/chrome_events.h"

#include "base/mem.h"

#include <stdlib.h>

/* What may be cut without calling it damage: times are microseconds, often whole ones, and
 * those of a GPU are converted to the clock of its host. */
#define ROUNDING_NS 1000
#define ROUNDING_SHARE 20 /* one part in */

struct open_call {
    int64_t begin_ns, end_ns;
    uint32_t region;
    uint32_t link; /* whose event comes before its end, or MARKS_NO_LINK */
    uint32_t order;
};

struct chrome_events {
    const struct chrome_trace *trace;
    const struct chrome_places *places;
    struct marks_cursor *cursor;
    const struct mark *next; /* NULL: there are none */
    struct mark send;        /* of a call that was just entered; link MARKS_NO_LINK: none */
    struct open_call *open;  /* [n_open] those of X */
    size_t n_open, cap;
};

struct chrome_events *chrome_events_new(const struct chrome_trace *trace,
                                        const struct chrome_places *places)
{
    struct chrome_events *e = mem_alloc(1, sizeof *e);

    e->trace = trace;
    e->places = places;
    return e;
}

void chrome_events_free(struct chrome_events *e)
{
    if (e == NULL)
        return;
    marks_cursor_free(e->cursor);
    free(e->open);
    free(e);
}

void chrome_events_begin(struct chrome_events *e, uint32_t l)
{
    const struct chrome_places *p = e->places;
    uint32_t first = p->first[l], n = p->first[l + 1] - first;
    int64_t *shift_ns = mem_alloc(n, sizeof *shift_ns);

    for (uint32_t i = 0; i < n; i++)
        shift_ns[i] = p->shift_ns[p->thread[first + i]];
    marks_cursor_free(e->cursor);
    e->cursor = marks_cursor_new(e->trace->marks, p->thread + first, shift_ns, n);
    e->next = marks_cursor_next(e->cursor);
    e->send.link = MARKS_NO_LINK;
    e->n_open = 0;
    free(shift_ns);
}

static void push_flow(const struct chrome_events *e, struct event_batch *batch,
                      struct quality *quality)
{
    const struct mark *mark = e->next;
    const struct chrome_flow *flow = &e->trace->flow[mark->ref];
    uint32_t other = mark->phase == 's' ? flow->to : flow->from;
    uint32_t self = mark->phase == 's' ? flow->from : flow->to;

    if (e->places->is_by_part) {
        quality->n[QUALITY_ignored_event]++;
        return;
    }
    *event_batch_message(batch, (uint64_t)mark->time_ns) = (struct message){
        .begin_ns = (uint64_t)mark->time_ns,
        .match = MESSAGE_UNMATCHED,
        .peer = e->places->rank_of[other == CHROME_NOWHERE ? self : other],
        .tag = mark->ref,
        .order = mark->order,
        .kind = mark->phase == 's' ? MESSAGE_SEND : MESSAGE_RECV,
    };
}

/* What a call from begin_ns on takes part in, at time_ns. */
static void push_link(const struct link *link, uint32_t order, int64_t begin_ns,
                      int64_t time_ns, struct event_batch *batch)
{
    if (link->what == LINK_COLLECTIVE)
        *event_batch_collective(batch, (uint64_t)time_ns) = (struct collective){
            .begin_ns = (uint64_t)begin_ns,
            .sent_bytes = link->sent_bytes,
            .received_bytes = link->received_bytes,
            .comm = link->comm,
            .kind = link->kind,
            .root = NO_ROOT,
            .order = link->number,
            .instance = NO_INSTANCE,
        };
    else
        *event_batch_message(batch, (uint64_t)time_ns) = (struct message){
            .begin_ns = (uint64_t)begin_ns,
            .bytes = link->what == LINK_SEND ? link->sent_bytes : link->received_bytes,
            .match = MESSAGE_UNMATCHED,
            .peer = link->peer,
            .comm = link->comm,
            .tag = link->number,
            .order = order,
            .kind = link->what == LINK_SEND ? MESSAGE_SEND : MESSAGE_RECV,
        };
}

static void count_cut(int64_t cut_ns, int64_t time_ns, struct quality *quality)
{
    quality->n[QUALITY_crossed_leave] +=
        cut_ns > ROUNDING_NS && cut_ns > time_ns / ROUNDING_SHARE;
}

/*
 * The next call begins before the one on top is over, and ends after it: one of them has to be
 * cut, and that is the one that loses less. Here it may be the one on top, which is over then.
 */
static void end_crossed(struct chrome_events *e, struct quality *quality)
{
    struct open_call *top = &e->open[e->n_open - 1];
    const struct mark *next = e->next;
    int64_t overlap_ns = top->end_ns - next->time_ns;

    if (overlap_ns > 0 && next->end_ns > top->end_ns &&
        overlap_ns <= next->end_ns - top->end_ns) {
        count_cut(overlap_ns, top->end_ns - top->begin_ns, quality);
        top->end_ns = next->time_ns;
    }
}

static void open_x(struct chrome_events *e, const struct mark *mark, struct quality *quality)
{
    struct open_call *call;
    const struct link *link =
        mark->link == MARKS_NO_LINK ? NULL : links_of(e->trace->links, mark->link);
    bool is_send = link && link->what == LINK_SEND;
    bool is_at_end = link && (link->what == LINK_RECEIVE || link->what == LINK_COLLECTIVE);

    mem_grow(&e->open, &e->cap, e->n_open + 1, sizeof *e->open);
    call = &e->open[e->n_open++];
    *call = (struct open_call){.begin_ns = mark->time_ns,
                               .end_ns = mark->end_ns,
                               .region = mark->ref,
                               .link = is_at_end ? mark->link : MARKS_NO_LINK,
                               .order = mark->order};
    if (e->n_open > 1 && call->end_ns > call[-1].end_ns) {
        count_cut(call->end_ns - call[-1].end_ns, call->end_ns - call->begin_ns, quality);
        call->end_ns = call[-1].end_ns;
    }
    e->send = *mark;
    if (!is_send)
        e->send.link = MARKS_NO_LINK;
}

/* The end of the call on top, or what it took part in before that. */
static void push_end(struct chrome_events *e, struct event_batch *batch)
{
    struct open_call *call = &e->open[e->n_open - 1];

    if (call->link != MARKS_NO_LINK) {
        push_link(links_of(e->trace->links, call->link), call->order, call->begin_ns,
                  call->end_ns, batch);
        call->link = MARKS_NO_LINK;
        return;
    }
    event_batch_push(batch, (uint64_t)call->end_ns, EVENT_LEAVE, call->region);
    e->n_open--;
}

/* Room is made for them beside the records that may still come into the batch. */
static void push_args(const struct chrome_events *e, struct event_batch *batch,
                      const struct mark *mark, size_t most)
{
    struct argument_value value;
    uint64_t at = mark->args;

    mem_grow(&batch->event, &batch->event_cap, batch->n + CHROME_DETAILS + most,
             sizeof *batch->event);
    while (kept_args_next(&e->trace->args, &at, &value))
        *event_batch_argument(batch, (uint64_t)mark->time_ns) = value;
}

static void push_mark(struct chrome_events *e, struct event_batch *batch, size_t most,
                      struct quality *quality)
{
    const struct mark *mark = e->next;
    bool has_args = mark->args != KEPT_ARGS_NONE;

    if (has_args && mark->phase == 'E')
        push_args(e, batch, mark, most);

    if (mark->phase == 's' || mark->phase == 'f')
        push_flow(e, batch, quality);
    else if (mark->phase == 'C')
        *event_batch_counter(batch, (uint64_t)mark->time_ns) = e->trace->value[mark->ref];
    else
        event_batch_push(batch, (uint64_t)mark->time_ns,
                         mark->phase == 'E' ? EVENT_LEAVE : EVENT_ENTER, mark->ref);
    if (has_args && mark->phase != 'E')
        push_args(e, batch, mark, most);
    if (mark->phase == 'X')
        open_x(e, mark, quality);
    e->next = marks_cursor_next(e->cursor);
    quality->n[QUALITY_truncated] += e->next == NULL && marks_cursor_is_broken(e->cursor);
}

size_t chrome_events_next(struct chrome_events *e, struct event_batch *batch, size_t most,
                          struct quality *quality)
{
    size_t n = 0;

    for (; n < most; n++) {
        if (e->send.link != MARKS_NO_LINK) {
            push_link(links_of(e->trace->links, e->send.link), e->send.order, e->send.time_ns,
                      e->send.time_ns, batch);
            e->send.link = MARKS_NO_LINK;
            continue;
        }
        if (e->n_open > 0 && e->next && e->next->phase == 'X')
            end_crossed(e, quality);
        if (e->n_open > 0 &&
            (e->next == NULL || e->open[e->n_open - 1].end_ns <= e->next->time_ns)) {
            push_end(e, batch);
        } else if (e->next) {
            push_mark(e, batch, most - n, quality);
        } else {
            break;
        }
    }
    return n;
}
