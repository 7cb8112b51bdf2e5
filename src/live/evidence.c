/*
 * Nodes are what metadata say. Of a GPU's activity and its launch tracers give the same
 * number. Counters that say how the node is are chosen by a prefix of their names, or by a
 * list. The rest is found around the call: in this step, and in what history.h keeps of those
 * before.
 */
#include "live/evidence.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

/* ------------------------------------------------------------- on which node a process runs */

/* typical: the node of those that do not say it, or "". */
static void hosts_init(struct hosts *hosts, const char *typical)
{
    *hosts = (struct hosts){0};
    names_add(&hosts->name, typical ? typical : "");
}

static void hosts_release(struct hosts *hosts)
{
    names_release(&hosts->name);
    free(hosts->of_group);
    *hosts = (struct hosts){0};
}

static void set_host(struct hosts *hosts, uint32_t group, const char *name)
{
    mem_grow(&hosts->of_group, &hosts->cap, group + 1);
    while (hosts->n_groups <= group)
        hosts->of_group[hosts->n_groups++] = 0;
    hosts->of_group[group] = names_add(&hosts->name, name);
}

void hosts_step(struct hosts *hosts, struct call_histories *h, const struct definitions *defs,
                struct prov_store *store)
{
    for (; hosts->n_metadata < defs->n_metadata; hosts->n_metadata++) {
        const struct metadata *m = &defs->metadata[hosts->n_metadata];

        if (strcasecmp(m->key, "hostname") == 0)
            set_host(hosts, call_histories_group(h, m->program, m->rank), m->value);
        prov_store_put_metadata(store, &(struct prov_metadata){.program = m->program,
                                                               .rank = m->rank,
                                                               .thread = m->thread,
                                                               .descr = m->key,
                                                               .value = m->value});
    }
}

/* Index into name of the node of a process. */
static uint32_t hosts_of(const struct hosts *hosts, uint32_t group)
{
    return group < hosts->n_groups ? hosts->of_group[group] : 0;
}

/* --------------------------------------------------- what runs on a GPU, and who started it */

static void launches_release(struct launches *launches)
{
    free(launches->launch);
    *launches = (struct launches){0};
}

/* Numbers of one process follow each other: so they do in the table. */
static size_t place_of(uint32_t group, int64_t correlation)
{
    return ((uint64_t)correlation + group * 0x9e3779b97f4a7c15ull) % LAUNCHES_KEPT;
}

/* A call of this step, on a processor, with this number. */
static void launches_add(struct launches *launches, const struct call_histories *h,
                         const struct ad_step *step, uint32_t location, uint32_t row,
                         int64_t correlation)
{
    uint32_t group = h->of[location].group;
    struct launch *launch;

    if (launches->launch == NULL)
        launches->launch = mem_alloc(LAUNCHES_KEPT, sizeof *launches->launch);
    launch = &launches->launch[place_of(group, correlation)];
    launch->correlation = correlation;
    launch->group = group;
    launch->thread = step->defs->location[location].thread;
    launch->n_stack = 0;
    for (; row != NO_CALL && launch->n_stack < LAUNCHES_DEPTH;
         row = step->calls[location].caller[row])
        call_history_call(h, step, location, row, &launch->stack[launch->n_stack++]);
}

/* What started the activity with this number in a process, or NULL. */
static const struct launch *launches_find(const struct launches *launches, uint32_t group,
                                          int64_t correlation)
{
    const struct launch *launch;

    if (launches->launch == NULL)
        return NULL;
    launch = &launches->launch[place_of(group, correlation)];
    return launch->n_stack > 0 && launch->group == group && launch->correlation == correlation
               ? launch
               : NULL;
}

/* -------------------------------------------------------------------------- how the node is */

static int add_row(struct node_state *s, const char *path, json_t *row)
{
    const char *counter = json_string_value(json_array_get(row, 0));
    const char *field = json_string_value(json_array_get(row, 1));
    uint32_t i;

    if (counter == NULL || field == NULL || json_array_size(row) != 2)
        return err_set(ERR_FORMAT, "'%s' is not a list of [counter, field]", path);
    i = names_add(&s->counter, counter);
    mem_grow(&s->list_field, &s->list_cap, i + 1);
    s->list_field[i] = names_add(&s->field, field);
    return 0;
}

static int read_list(struct node_state *s, const char *path)
{
    json_error_t error;
    json_t *list = json_load_file(path, 0, &error), *row;
    size_t i;
    int rc = 0;

    if (list == NULL && json_error_code(&error) == json_error_cannot_open_file)
        return err_set(ERR_IO, "cannot read '%s'", path);
    if (list == NULL)
        return err_set(ERR_FORMAT, "cannot read '%s': %s in line %d", path, error.text,
                       error.line);
    if (!json_is_array(list))
        rc = err_set(ERR_FORMAT, "'%s' is not a list of [counter, field]", path);
    json_array_foreach(list, i, row)
    {
        rc = add_row(s, path, row);
        if (rc < 0)
            break;
    }
    json_decref(list);
    return rc;
}

/*
 * Which counters to watch.
 *   watchlist  a file, or NULL
 *   prefix     of the names, where there is no list; the field is what follows it
 * Returns 0, ERR_IO, or ERR_FORMAT.
 */
static int node_state_open(struct node_state *s, const char *watchlist, const char *prefix)
{
    *s = (struct node_state){0};
    if (watchlist)
        return read_list(s, watchlist);
    s->prefix = mem_copy_string(prefix ? prefix : "");
    return 0;
}

static void node_state_release(struct node_state *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        free(s->node[i].field);
    free(s->node);
    free(s->prefix);
    free(s->list_field);
    free(s->watched);
    names_release(&s->counter);
    names_release(&s->field);
    *s = (struct node_state){0};
}

/* The field that a counter fills; NULL when it is not watched. */
static const char *field_of(struct node_state *s, const char *counter)
{
    size_t length = s->prefix ? strlen(s->prefix) : 0;
    uint32_t i;

    if (s->prefix)
        return length > 0 && strncmp(counter, s->prefix, length) == 0 ? counter + length : NULL;
    i = names_find(&s->counter, counter);
    return i == NAMES_NONE ? NULL : s->field.name[s->list_field[i]];
}

static const char *watched(struct node_state *s, const struct definitions *defs, uint32_t i)
{
    mem_grow(&s->watched, &s->known_cap, defs->counters.n);
    for (; s->n_known < defs->counters.n; s->n_known++)
        s->watched[s->n_known] = field_of(s, defs->counters.name[s->n_known]);
    return s->watched[i];
}

/* The value as a whole number, the nearest one. */
static int64_t counter_whole(const struct counter_value *value)
{
    if (!value->is_real)
        return value->whole;
    if (!(fabs(value->real) < 0x1p63))
        return value->real > 0 ? INT64_MAX : value->real < 0 ? INT64_MIN : 0;
    return llround(value->real);
}

static void set_field(struct node *node, const char *name,
                      const struct counter_reading *counter)
{
    size_t i = 0;

    while (i < node->n_fields && node->field[i].name != name)
        i++;
    if (i == NODE_STATE_MAX_FIELDS)
        return;
    mem_grow(&node->field, &node->cap, i + 1);
    node->field[i] =
        (struct prov_counter){.name = name, .value = counter_whole(&counter->value)};
    node->n_fields += i == node->n_fields;
    node->time_ns = counter->time_ns;
}

/*
 * Take a value, if its counter is watched.
 *   node  any small number for a node
 * Returns whether it is.
 */
static bool node_state_add(struct node_state *s, const struct definitions *defs, uint32_t node,
                           const struct counter_reading *counter)
{
    const char *field = watched(s, defs, counter->value.counter);

    if (field == NULL)
        return false;
    mem_grow(&s->node, &s->node_cap, node + 1);
    while (s->n_nodes <= node)
        s->node[s->n_nodes++] = (struct node){0};
    set_field(&s->node[node], field, counter);
    return true;
}

/* The values of a node, in the arena. Returns false when there are none. */
static bool node_state_copy(const struct node_state *s, uint32_t node, struct arena *arena,
                            struct prov_node *out)
{
    const struct node *from = node < s->n_nodes ? &s->node[node] : NULL;

    if (from == NULL || from->n_fields == 0)
        return false;
    *out = (struct prov_node){.time_ns = from->time_ns, .n_fields = from->n_fields};
    out->field = arena_array(arena, struct prov_counter, from->n_fields);
    memcpy(out->field, from->field, from->n_fields * sizeof *from->field);
    return true;
}

/* --------------------------------------------------------------------------------- evidence */

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
    call_histories_init(&e->histories, opts->window);
    hosts_init(&e->hosts, opts->hostname);
    return node_state_open(&e->nodes, opts->watchlist, opts->counter_prefix);
}

void evidence_release(struct evidence *e)
{
    call_histories_release(&e->histories);
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
    mem_grow(&e->severity, &e->severity_cap, n);
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
    call_histories_begin(&e->histories, step);
    if (e->partners)
        partners_begin(e->partners, &e->histories, step);
    step_view_begin(&e->view, step);
    for (uint32_t l = 0; l < step->n_locations; l++)
        take_counters(e, step, l);
    choose_causes(e, step);
}

void evidence_end(struct evidence *e, const struct ad_step *step)
{
    call_histories_end(&e->histories, step);
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

/* Those of the call's time that are not the node's. */
static void add_counters(struct evidence *e, const struct ad_step *step,
                         struct evidence_record *x)
{
    const struct calls *c = &step->calls[x->call.location];
    uint64_t end_ns = x->record.leave_ns;
    size_t first = FIRST_NOT(k, 0, c->n_counters, c->counter[k].time_ns < x->record.enter_ns);
    size_t last = first;

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

/* Of the messages in the call's time the last ones first: it waited for those. */
static void add_partners(struct evidence *e, const struct ad_step *step,
                         struct evidence_record *x)
{
    const struct calls *c = &step->calls[x->call.location];
    size_t low =
        FIRST_NOT(i, 0, c->n_messages, message_record_ns(&c->message[i]) <= x->record.leave_ns);

    for (size_t i = low; i-- > 0 && low - i <= MAX_LOOKED_AT &&
                         x->record.n_partners + x->n_far < EVIDENCE_MAX_OTHER_ENDS &&
                         message_record_ns(&c->message[i]) >= x->record.enter_ns;)
        if (is_inside(c, c->message[i].call, x->call.row)) {
            uint32_t peer = step->calls[x->call.location].message[i].peer;

            if (e->partners == NULL || !partners_is_far(e->partners, peer))
                add_partner(e, step, x, i);
            else if (!has_far(x, peer))
                x->far[x->n_far++] = partners_ask(e->partners, step, x->call.location, i);
        }
}

/* ----------------------------------------------------------------------------------- cause */

/* What a call took itself beyond what such calls take; where that is not known, all of it. */
static double own_lost_ns(const struct trace_view *view, const struct calls *c, uint32_t l,
                          uint32_t row)
{
    double typical_ns = (double)trace_view_typical_ns(view, l, row);

    return fmax((double)c->exclusive_ns[row] - typical_ns, 0);
}

/* Of all that happened in a call, where the time was lost. What calls typically wait is not: who is
 * waited for in each execution is no cause of that one. */
static uint32_t first_call(struct evidence *e, const struct ad_step *step,
                           const struct trace_view *view, const struct verdict *call,
                           double *own_ns)
{
    const struct calls *c = &step->calls[call->location];
    uint32_t l = call->location, n = view->calls[l].subtree_len[call->row], row = NO_CALL;
    struct arena_mark mark = arena_mark(&e->arena);
    double *lost_ns;

    *own_ns = own_lost_ns(view, c, l, call->row);
    if (!e->is_inclusive || n > STRETCH_MAX_CALLS)
        return call->row;
    lost_ns = arena_array(&e->arena, double, n);
    for (uint32_t i = 0; i < n; i++)
        lost_ns[i] = e->n_lost == n ? e->lost_ns[i] : own_lost_ns(view, c, l, call->row + i);
    row = cause_first(view, l, call->row, lost_ns);
    if (row != NO_CALL)
        *own_ns = lost_ns[row - call->row];
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
    bool is_waiting = link->waiting.kind != WAITING_NOT && !waiting_is_over(&link->waiting);

    record->cause[record->n_cause++] = (struct prov_link){
        .rank = location->rank,
        .thread = location->thread,
        .func = view->defs->region[region].name,
        .waits_for = is_waiting ? waiting_kind_name(link->waiting.kind) : NULL,
        .begin_ns = calls->enter_ns[link->call],
        .end_ns = calls_leave(calls, link->call),
        .time_ns = link->time_ns};
}

static void add_cause(struct evidence *e, const struct ad_step *step, struct evidence_record *x)
{
    const struct trace_view *view;
    struct cause cause;
    double lost_ns;
    uint32_t row;

    if (!may_wait(e, step, x))
        return;
    view = step_view_trace(&e->view, step);
    row = first_call(e, step, view, &x->call, &lost_ns);
    cause_of(view, x->call.location, row, lost_ns, &e->stretch, &cause);
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
        call_history_call(&e->histories, step, x->call.location, row,
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
                   call_history_entered(&e->histories, step, call->location, call->row),
                   &x->record);
    x->record.event = call_history_event(&e->histories, step, call->location, call->row);
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
                         const struct verdict *call, const double *lost_ns, uint32_t n_lost,
                         struct evidence_record *x)
{
    bool is_inclusive = e->is_inclusive;

    e->is_inclusive = true;
    e->lost_ns = lost_ns;
    e->n_lost = n_lost;
    evidence_take(e, step, call, x);
    e->n_lost = 0;
    e->is_inclusive = is_inclusive;
}

void evidence_take_late(struct evidence *e, const struct ad_step *step,
                        const struct verdict *call, struct evidence_record *x)
{
    struct entered entered;
    struct prov_event event = call_history_late_event(&e->histories, step, call, &entered);

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
