#include "live/step_view.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void step_view_release(struct step_view *v)
{
    step_view_end(v);
    for (uint32_t l = 0; l < v->n_locations; l++) {
        struct step_columns *c = &v->columns[l];

        calls_release(&v->pending[l]);
        free(c->inclusive_ns);
        free(c->subtree_len);
        free(c->by_depth);
        free(c->depth);
        free(c->depth_start);
    }
    free(v->pending);
    free(v->columns);
    free(v->quality);
    *v = (struct step_view){0};
}

/* -------------------------------------------------------------------------------- messages */

static void follow_locations(struct step_view *v, uint32_t n)
{
    mem_grow(&v->pending, &v->cap, n);
    mem_grow(&v->columns, &v->columns_cap, n);
    mem_grow(&v->quality, &v->quality_cap, n);
    for (; v->n_locations < n; v->n_locations++) {
        v->pending[v->n_locations] = (struct calls){0};
        v->columns[v->n_locations] = (struct step_columns){0};
        v->quality[v->n_locations] = (struct quality){0};
    }
}

/* After what has waited; rows of the traffic are those that waited, then those of the step. */
static void append(struct step_view *v, const struct calls *c, uint32_t l)
{
    struct calls *p = &v->pending[l];

    mem_grow(&p->message, &p->message_cap, p->n_messages + c->n_messages);
    for (size_t i = 0; i < p->n_messages; i++)
        p->message[i].call = NO_CALL;
    if (c->n_messages > 0)
        memcpy(p->message + p->n_messages, c->message, c->n_messages * sizeof *p->message);
    p->n_messages += c->n_messages;
    p->collective = c->collective;
    p->n_collectives = c->n_collectives;
    traffic_append(&v->traffic, l, p);
    p->collective = NULL;
    p->n_collectives = 0;
}

/* A rank that this instance does not see will never match. */
static bool may_match(const struct step_view *v, const struct ad_step *step, size_t i)
{
    const struct message *m = &v->traffic.message[i];

    return m->match == MESSAGE_UNMATCHED &&
           definitions_find_location(step->defs, m->peer) != NO_LOCATION;
}

/* Of each location the newest ones stay. */
static void keep_pending(struct step_view *v, const struct ad_step *step)
{
    size_t most = STEP_VIEW_MAX_PENDING / (v->n_locations ? v->n_locations : 1) + 1;

    for (uint32_t l = 0; l < v->n_locations; l++) {
        struct calls *p = &v->pending[l];
        size_t n = 0;

        for (size_t i = v->traffic.first_message[l]; i < v->traffic.first_message[l + 1]; i++)
            if (may_match(v, step, i))
                p->message[n++] = v->traffic.message[i];
        if (n > most)
            mem_to_front(p->message, n - most, most, sizeof *p->message);
        p->n_messages = n < most ? n : most;
    }
}

void step_view_begin(struct step_view *v, const struct ad_step *step)
{
    follow_locations(v, step->n_locations);
    traffic_init(&v->traffic, step->n_locations, NULL);
    for (uint32_t l = 0; l < step->n_locations; l++)
        append(v, &step->calls[l], l);
    traffic_match(&v->traffic, step->defs, v->quality);
    for (uint32_t l = 0; l < step->n_locations; l++)
        v->n_recv_before_send += traffic_disorder(&v->traffic, l);
    keep_pending(v, step);
}

void step_view_end(struct step_view *v)
{
    if (v->is_laid_out)
        trace_view_release(&v->trace);
    v->is_laid_out = false;
    traffic_release(&v->traffic);
}

/* The row of a location's first message that did not wait for this step. */
static size_t first_of_step(const struct step_view *v, const struct ad_step *step, uint32_t l)
{
    return v->traffic.first_message[l + 1] - step->calls[l].n_messages;
}

struct other_end step_view_partner(const struct step_view *v, const struct ad_step *step,
                                   uint32_t l, size_t i)
{
    const struct traffic *t = &v->traffic;
    const struct message *m = &t->message[first_of_step(v, step, l) + i], *other;
    struct other_end end = {.call = NO_CALL};

    if (m->match >= t->n_messages) {
        end.location = definitions_find_location(step->defs, m->peer);
        return end;
    }
    other = &t->message[m->match];
    end.location = traffic_location_of(t, m->match);
    end.call = other->call;
    if (m->match >= first_of_step(v, step, end.location))
        end.time_ns = message_record_ns(other);
    return end;
}

/* ----------------------------------------------------------------------------------- calls */

static void grow_columns(struct step_columns *k, uint32_t n)
{
    if (n <= k->cap)
        return;
    k->cap = 2 * (size_t)n;
    k->inclusive_ns = mem_resize(k->inclusive_ns, k->cap, sizeof *k->inclusive_ns);
    k->subtree_len = mem_resize(k->subtree_len, k->cap, sizeof *k->subtree_len);
    k->by_depth = mem_resize(k->by_depth, k->cap, sizeof *k->by_depth);
    k->depth = mem_resize(k->depth, k->cap, sizeof *k->depth);
}

/* Depths and subtrees from callers. Returns how many depths there are. */
static uint32_t lay_out_tree(struct step_columns *k, const struct calls *c, uint64_t end_ns)
{
    uint32_t n_depths = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t depth = c->caller[i] == NO_CALL ? 0 : k->depth[c->caller[i]] + 1u;

        k->depth[i] = (uint16_t)(depth < DEEPEST_CALL ? depth : DEEPEST_CALL);
        n_depths = k->depth[i] >= n_depths ? k->depth[i] + 1u : n_depths;
        k->inclusive_ns[i] = c->inclusive_ns[i];
        if (c->inclusive_ns[i] == CALL_OPEN)
            k->inclusive_ns[i] = end_ns > c->enter_ns[i] ? end_ns - c->enter_ns[i] : 0;
        k->subtree_len[i] = 1;
    }
    for (uint32_t i = c->n; i-- > 0;)
        if (c->caller[i] != NO_CALL)
            k->subtree_len[c->caller[i]] += k->subtree_len[i];
    return n_depths;
}

/* Counting sort of the rows by depth. */
static void sort_by_depth(struct step_columns *k, uint32_t n, uint32_t n_depths)
{
    mem_grow(&k->depth_start, &k->depth_cap, n_depths + 2);
    memset(k->depth_start, 0, (n_depths + 2) * sizeof *k->depth_start);
    for (uint32_t i = 0; i < n; i++)
        k->depth_start[k->depth[i] + 2]++;
    for (uint32_t d = 2; d < n_depths + 2; d++)
        k->depth_start[d] += k->depth_start[d - 1];
    for (uint32_t i = 0; i < n; i++)
        k->by_depth[k->depth_start[k->depth[i] + 1]++] = i;
}

/* From when on all that a location called is there: from the begin of the step, or from when it
 * entered the call that was on top then, where that had not called anything. */
static uint64_t known_ns(const struct calls *c, uint64_t begin_ns)
{
    uint32_t top = c->n_carried - 1;

    return c->n_carried > 0 && c->carried_ns[top] == 0 && c->enter_ns[top] < begin_ns
               ? c->enter_ns[top]
               : begin_ns;
}

static struct call_view lay_out(struct step_view *v, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    const struct traffic *t = &v->traffic;
    struct step_columns *k = &v->columns[l];
    uint64_t end_ns = step->end_ns > c->last_ns && !step->is_last ? step->end_ns : c->last_ns;
    uint32_t n_depths;

    grow_columns(k, c->n);
    n_depths = lay_out_tree(k, c, end_ns);
    sort_by_depth(k, c->n, n_depths);
    return (struct call_view){
        .n = c->n,
        .enter_ns = c->enter_ns,
        .inclusive_ns = k->inclusive_ns,
        .region = c->region,
        .subtree_len = k->subtree_len,
        .depth = k->depth,
        .by_depth = k->by_depth,
        .depth_start = k->depth_start,
        .n_depths = n_depths,
        .message = t->message + t->first_message[l],
        .n_messages = t->first_message[l + 1] - t->first_message[l],
        .collective = t->collective + t->first_collective[l],
        .n_collectives = t->first_collective[l + 1] - t->first_collective[l],
        .known_ns = known_ns(c, step->begin_ns),
    };
}

static uint64_t typical_ns(const struct trace_view *view, uint32_t l, uint32_t row)
{
    const struct ad_step *step = view->ctx;
    uint32_t model = step->model[l][row];

    return ad_judge(step->ad, model)
               ? (uint64_t)sketch_quantile(ad_sketch(step->ad, model), 0.5)
               : 0;
}

const struct trace_view *step_view_trace(struct step_view *v, const struct ad_step *step)
{
    struct call_view *calls;

    if (v->is_laid_out)
        return &v->trace;
    calls = mem_alloc(step->n_locations, sizeof *calls);
    for (uint32_t l = 0; l < step->n_locations; l++)
        calls[l] = lay_out(v, step, l);
    trace_view_init(&v->trace, step->defs, calls, v->traffic.message);
    v->trace.typical_ns = typical_ns;
    v->trace.ctx = step;
    v->is_laid_out = true;
    return &v->trace;
}
