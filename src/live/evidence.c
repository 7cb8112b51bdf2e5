#include "live/evidence.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LOOKED_AT 256 /* messages of a call, for its partners */

void evidence_record_release(struct evidence_record *x)
{
    around_release(&x->around);
    for (size_t i = 0; i < EVIDENCE_MAX_PARTNERS; i++)
        around_release(&x->partner[i]);
}

int evidence_open(struct evidence *e, const struct evidence_opts *opts)
{
    *e = (struct evidence){.is_inclusive = opts->is_inclusive,
                           .is_by_path = opts->is_by_path,
                           .partners = opts->partners};
    histories_init(&e->histories, opts->window);
    hosts_init(&e->hosts, opts->hostname);
    return node_state_open(&e->nodes, opts->watchlist, opts->counter_prefix);
}

void evidence_release(struct evidence *e)
{
    histories_release(&e->histories);
    hosts_release(&e->hosts);
    launches_release(&e->launches);
    node_state_release(&e->nodes);
    step_view_release(&e->view);
    stretch_release(&e->stretch);
    arena_release(&e->arena);
    free(e->severity);
}

/* ----------------------------------------------------------------------------------- steps */

/* The cause is looked for of so many calls only, those that lost most. */
static void choose_causes(struct evidence *e, const struct ad_step *step)
{
    size_t n = step->n_verdicts;

    e->least_severity = 0;
    if (n <= EVIDENCE_MAX_CAUSES)
        return;
    mem_grow(&e->severity, &e->severity_cap, n, sizeof *e->severity);
    for (size_t i = 0; i < n; i++)
        e->severity[i] = step->verdict[i].severity_ns;
    qsort(e->severity, n, sizeof *e->severity, order_f64_down);
    e->least_severity = fmax(e->severity[EVIDENCE_MAX_CAUSES], 0);
}

static void take_counters(struct evidence *e, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    uint32_t correlation = names_find(&step->defs->counters, LAUNCHES_COUNTER);
    uint32_t node = hosts_of(&e->hosts, e->histories.of[l].group);

    for (size_t i = 0; i < c->n_counters; i++) {
        const struct counter_reading *counter = &c->counter[i];

        if (!node_state_add(&e->nodes, step->defs, node, counter) &&
            counter->value.counter == correlation && !step->defs->location[l].is_gpu)
            launches_add(&e->launches, &e->histories, step, l, counter->call,
                         counter_whole(&counter->value));
    }
}

void evidence_begin(struct evidence *e, const struct ad_step *step)
{
    histories_begin(&e->histories, step);
    if (e->partners)
        partners_begin(e->partners, &e->histories, step);
    step_view_begin(&e->view, step);
    for (uint32_t l = 0; l < step->n_locations; l++)
        take_counters(e, step, l);
    choose_causes(e, step);
}

void evidence_end(struct evidence *e, const struct ad_step *step)
{
    histories_end(&e->histories, step);
    step_view_end(&e->view);
}

/* -------------------------------------------------------------------------------- counters */

/* Whether one call is another, or inside it. Times alone do not tell: calls touch. */
static bool is_inside(const struct calls *c, uint32_t inner, uint32_t row)
{
    while (inner != NO_CALL && inner > row)
        inner = c->caller[inner];
    return inner == row;
}

static size_t counters_from(const struct calls *c, uint64_t time_ns)
{
    size_t low = 0, high = c->n_counters;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->counter[middle].time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those of the call's time that are not the node's. */
static void add_counters(struct evidence *e, const struct ad_step *step,
                         struct evidence_record *x)
{
    const struct calls *c = &step->calls[x->call.location];
    uint64_t end_ns = x->record.leave_ns;
    size_t first = counters_from(c, x->record.enter_ns), last = first;

    while (last < c->n_counters && c->counter[last].time_ns <= end_ns &&
           last - first < EVIDENCE_MAX_COUNTERS)
        last++;
    x->record.counter = arena_array(&e->arena, struct prov_counter, last - first);
    for (size_t i = first; i < last; i++) {
        const struct counter_reading *counter = &c->counter[i];
        const char *name = step->defs->counters.name[counter->value.counter];

        if (node_state_is_watched(&e->nodes, counter->value.counter) ||
            !is_inside(c, counter->call, x->call.row))
            continue;
        if (counter->call == x->call.row && strcmp(name, LAUNCHES_COUNTER) == 0) {
            x->has_correlation = true;
            x->correlation = counter_whole(&counter->value);
        }
        x->record.counter[x->record.n_counters++] = (struct prov_counter){
            counter->value.counter, name, counter_whole(&counter->value), counter->time_ns};
    }
}

/* -------------------------------------------------------------------------------- partners */

static bool has_partner(const struct evidence_record *x, uint32_t location)
{
    for (size_t i = 0; i < x->record.n_partners; i++)
        if (x->partner_location[i] == location)
            return true;
    return false;
}

/* The last call that was entered at or before a time; NO_CALL before all. */
static uint32_t row_at(const struct calls *c, uint64_t time_ns)
{
    size_t n = upper_bound_u64(c->enter_ns, c->n, time_ns);

    return n > 0 ? (uint32_t)n - 1 : NO_CALL;
}

static void keep_partner(struct evidence *e, const struct ad_step *step,
                         struct evidence_record *x, uint32_t location, uint32_t row)
{
    size_t i = x->record.n_partners++;

    around_take(&x->partner[i], &e->histories, step, location, row);
    x->partner_location[i] = location;
}

/* What the other end did when it was there, or when the message was recorded here. */
static void add_partner(struct evidence *e, const struct ad_step *step,
                        struct evidence_record *x, size_t message)
{
    const struct calls *c = &step->calls[x->call.location];
    struct other_end other = step_view_partner(&e->view, step, x->call.location, message);
    uint64_t time_ns = other.time_ns ? other.time_ns : message_record_ns(&c->message[message]);

    if (other.location == NO_LOCATION || other.location == x->call.location ||
        has_partner(x, other.location))
        return;
    if (other.call == NO_CALL)
        other.call = row_at(&step->calls[other.location], time_ns);
    if (other.call != NO_CALL)
        keep_partner(e, step, x, other.location, other.call);
}

static bool has_far(const struct evidence_record *x, uint32_t rank)
{
    for (size_t i = 0; i < x->n_far; i++)
        if (x->far[i].rank == rank)
            return true;
    return false;
}

static void add_other_end(struct evidence *e, const struct ad_step *step,
                          struct evidence_record *x, size_t message)
{
    uint32_t peer = step->calls[x->call.location].message[message].peer;

    if (e->partners == NULL || !partners_is_far(e->partners, peer))
        add_partner(e, step, x, message);
    else if (!has_far(x, peer))
        x->far[x->n_far++] = partners_ask(e->partners, step, x->call.location, message);
}

/* Of the messages in the call's time the last ones first: it waited for those. */
static void add_partners(struct evidence *e, const struct ad_step *step,
                         struct evidence_record *x)
{
    const struct calls *c = &step->calls[x->call.location];
    size_t low = 0, high = c->n_messages;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (message_record_ns(&c->message[middle]) <= x->record.leave_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0 && low - i <= MAX_LOOKED_AT &&
                         x->record.n_partners + x->n_far < EVIDENCE_MAX_OTHER_ENDS &&
                         message_record_ns(&c->message[i]) >= x->record.enter_ns;)
        if (is_inside(c, c->message[i].call, x->call.row))
            add_other_end(e, step, x, i);
}

/* ----------------------------------------------------------------------------------- cause */

/* With inclusive times: the call below where the time went. */
static uint32_t first_call(struct evidence *e, const struct ad_step *step,
                           const struct trace_view *view, const struct verdict *call)
{
    const struct calls *c = &step->calls[call->location];
    uint32_t n = view->calls[call->location].subtree_len[call->row], row;
    struct arena_mark mark = arena_mark(&e->arena);
    double *lost_ns;

    if (!e->is_inclusive || n > STRETCH_MAX_CALLS)
        return call->row;
    lost_ns = arena_array(&e->arena, double, n);
    for (uint32_t i = 0; i < n; i++)
        lost_ns[i] = (double)c->exclusive_ns[call->row + i];
    row = cause_first(view, call->location, call->row, lost_ns);
    arena_restore(&e->arena, mark);
    return row == NO_CALL ? call->row : row;
}

static bool may_wait(const struct evidence *e, const struct ad_step *step,
                     const struct evidence_record *x)
{
    return x->call.severity_ns > e->least_severity &&
           (e->is_inclusive || x->record.n_partners > 0 ||
            waiting_is_likely(&step->defs->region[x->call.region]));
}

/* The call itself, whatever part of it mattered: it is how other records of it are found. */
static void add_link(struct prov_record *record, const struct trace_view *view,
                     const struct cause_link *link)
{
    const struct location *location = &view->defs->location[link->location];
    const struct call_view *calls = &view->calls[link->location];
    uint32_t region = calls->region[link->call];

    record->cause[record->n_cause++] = (struct prov_link){
        .rank = location->rank,
        .thread = location->thread,
        .func = view->defs->region[region].name,
        .waits_for =
            link->waiting.kind == WAITING_NOT ? NULL : waiting_kind_name(link->waiting.kind),
        .begin_ns = calls->enter_ns[link->call],
        .end_ns = calls_leave(calls, link->call),
        .time_ns = link->time_ns};
}

static void add_cause(struct evidence *e, const struct ad_step *step, struct evidence_record *x)
{
    const struct trace_view *view;
    struct cause cause;

    if (!may_wait(e, step, x))
        return;
    view = step_view_trace(&e->view, step);
    cause_of(view, x->call.location, first_call(e, step, view, &x->call), &e->stretch, &cause);
    if (!cause_has_news(&cause))
        return;
    x->record.cause = arena_array(&e->arena, struct prov_link, cause.n);
    for (uint32_t i = 0; i < cause.n; i++) {
        const struct cause_link *link = &cause.link[i];

        add_link(&x->record, view, link);
        if (link->location != x->call.location && !has_partner(x, link->location) &&
            x->record.n_partners < EVIDENCE_MAX_PARTNERS)
            keep_partner(e, step, x, link->location, link->call);
    }
}

/* ------------------------------------------------------------------------------------- GPU */

static void find_launch(struct evidence *e, struct evidence_record *x)
{
    struct prov_gpu *gpu = &x->record.gpu;
    const struct launch *launch =
        x->has_correlation
            ? launches_find(&e->launches, e->histories.of[x->call.location].group,
                            x->correlation)
            : NULL;

    if (launch == NULL || gpu->has_parent)
        return;
    gpu->has_parent = true;
    gpu->parent = launch->stack[0].event;
    gpu->parent_thread = launch->thread;
    gpu->n_parent_stack = launch->n_stack;
    gpu->parent_stack = arena_array(&e->arena, struct prov_call, launch->n_stack);
    memcpy(gpu->parent_stack, launch->stack, launch->n_stack * sizeof *launch->stack);
}

static void add_gpu(struct evidence *e, const struct ad_step *step, struct evidence_record *x)
{
    const struct location *location = &step->defs->location[x->call.location];

    if (!location->is_gpu)
        return;
    x->record.is_gpu = true;
    x->record.gpu = (struct prov_gpu){.context = location->gpu_context,
                                      .device = location->gpu_device,
                                      .stream = location->gpu_stream,
                                      .thread = location->thread};
    find_launch(e, x);
}

/* --------------------------------------------------------------------------------- records */

void evidence_place(const struct evidence *e, const struct ad_step *step,
                    const struct verdict *call, const struct entered *entered,
                    struct prov_record *record)
{
    const struct location *location = &step->defs->location[call->location];
    uint32_t node = hosts_of(&e->hosts, e->histories.of[call->location].group);

    record->program = location->program;
    record->thread = location->thread;
    record->fid = ad_function(step->ad, call->model);
    record->func = step->defs->region[call->region].name;
    record->hostname = e->hosts.name.name[node];
    record->enter_ns = call->enter_ns;
    record->leave_ns = call->enter_ns + call->inclusive_ns;
    record->inclusive_ns = call->inclusive_ns;
    record->exclusive_ns = call->exclusive_ns;
    record->step_begin_ns = entered->begin_ns;
    record->step_end_ns = entered->end_ns;
}

static void add_stack(struct evidence *e, const struct ad_step *step, struct evidence_record *x)
{
    const uint32_t *caller = step->calls[x->call.location].caller;
    uint32_t n = 0, row;

    for (row = x->call.row; row != NO_CALL && n < EVIDENCE_MAX_STACK; row = caller[row])
        n++;
    x->record.stack = arena_array(&e->arena, struct prov_call, n);
    for (row = x->call.row; x->record.n_stack < n; row = caller[row])
        history_call(&e->histories, step, x->call.location, row,
                     &x->record.stack[x->record.n_stack++]);
}

static void begin_record(struct evidence_record *x, const struct verdict *call)
{
    x->call = *call;
    x->record = (struct prov_record){0};
    x->has_correlation = false;
    x->n_far = 0;
}

void evidence_take_stack(struct evidence *e, const struct ad_step *step,
                         const struct verdict *call, struct evidence_record *x)
{
    begin_record(x, call);
    evidence_place(e, step, call,
                   history_entered(&e->histories, step, call->location, call->row), &x->record);
    x->record.event = history_event(&e->histories, step, call->location, call->row);
    add_stack(e, step, x);
}

void evidence_take(struct evidence *e, const struct ad_step *step, const struct verdict *call,
                   struct evidence_record *x)
{
    uint32_t node = hosts_of(&e->hosts, e->histories.of[call->location].group);

    evidence_take_stack(e, step, call, x);
    around_take(&x->around, &e->histories, step, call->location, call->row);
    add_counters(e, step, x);
    add_partners(e, step, x);
    add_cause(e, step, x);
    add_gpu(e, step, x);
    x->record.has_node = node_state_copy(&e->nodes, node, &e->arena, &x->record.node);
}

void evidence_take_whole(struct evidence *e, const struct ad_step *step,
                         const struct verdict *call, struct evidence_record *x)
{
    bool is_inclusive = e->is_inclusive;

    e->is_inclusive = true;
    evidence_take(e, step, call, x);
    e->is_inclusive = is_inclusive;
}

void evidence_take_late(struct evidence *e, const struct ad_step *step,
                        const struct verdict *call, struct evidence_record *x)
{
    struct entered entered;
    struct prov_event event = history_late_event(&e->histories, step, call, &entered);

    begin_record(x, call);
    evidence_place(e, step, call, &entered, &x->record);
    x->record.event = event;
    x->record.n_stack = 1;
    x->record.stack = arena_zeros(&e->arena, struct prov_call, 1);
    x->record.stack[0] = (struct prov_call){.event = x->record.event,
                                            .is_anomaly = true,
                                            .fid = x->record.fid,
                                            .func = x->record.func,
                                            .enter_ns = x->record.enter_ns,
                                            .leave_ns = x->record.leave_ns};
}

bool evidence_is_complete(const struct evidence *e, const struct evidence_record *x)
{
    bool is_complete = x->call.row == NO_ROW ||
                       (around_is_full(&x->around, e->histories.window) &&
                        (!x->has_correlation || !x->record.is_gpu || x->record.gpu.has_parent));

    for (size_t i = 0; i < x->record.n_partners; i++)
        is_complete &= around_is_full(&x->partner[i], e->histories.window);
    return is_complete;
}

void evidence_continue(struct evidence *e, const struct ad_step *step,
                       struct evidence_record *x)
{
    around_continue(&x->around, &e->histories, step, x->call.location);
    for (size_t i = 0; i < x->record.n_partners; i++)
        around_continue(&x->partner[i], &e->histories, step, x->partner_location[i]);
    if (x->record.is_gpu)
        find_launch(e, x);
}
