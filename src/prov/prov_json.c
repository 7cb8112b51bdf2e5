#include "prov/prov_json.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A JSON string of any bytes; where they are not UTF-8, what is not ASCII becomes U+FFFD. */
static json_t *text(const char *bytes)
{
    json_t *json = json_string(bytes);
    char *clean;
    size_t n = 0;

    if (json)
        return json;
    clean = mem_alloc(3 * strlen(bytes) + 1, 1);
    for (; *bytes; bytes++)
        n += (size_t)sprintf(clean + n, (*bytes & 0x80) ? "\xef\xbf\xbd" : "%c", *bytes);
    json = json_string(clean);
    free(clean);
    return json;
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Whole microseconds, which is what Chimbuko has, are integers. */
static json_t *microseconds(uint64_t ns)
{
    return ns % 1000 == 0 ? count(ns / 1000) : json_real((double)ns / 1000);
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *event(const struct prov_event *e)
{
    char id[64];

    snprintf(id, sizeof id, "%u:%llu:%llu", e->rank, (unsigned long long)e->step,
             (unsigned long long)e->index);
    return json_string(id);
}

static json_t *call(const struct prov_call *x)
{
    json_t *json = json_object();

    json_object_set_new(json, "fid", count(x->fid));
    json_object_set_new(json, "func", text(x->func));
    json_object_set_new(json, "entry", microseconds(x->enter_ns));
    json_object_set_new(json, "exit", microseconds(x->leave_ns));
    json_object_set_new(json, "event_id", event(&x->event));
    json_object_set_new(json, "is_anomaly", json_boolean(x->is_anomaly));
    if (x->has_parent)
        json_object_set_new(json, "parent_event_id", event(&x->parent));
    return json;
}

static json_t *calls(const struct prov_call *x, size_t n)
{
    json_t *json = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(json, call(&x[i]));
    return json;
}

static json_t *message(const struct prov_message *m, uint32_t program, uint32_t rank,
                       uint32_t thread)
{
    json_t *json = json_object();

    json_object_set_new(json, "type", json_string(m->is_send ? "SEND" : "RECV"));
    json_object_set_new(json, "pid", count(program));
    json_object_set_new(json, "rid", count(rank));
    json_object_set_new(json, "tid", count(thread));
    json_object_set_new(json, "src", count(m->source));
    json_object_set_new(json, "tar", count(m->target));
    json_object_set_new(json, "bytes", count(m->bytes));
    json_object_set_new(json, "tag", count(m->tag));
    json_object_set_new(json, "timestamp", microseconds(m->time_ns));
    json_object_set_new(json, "execdata_key", event(&m->call));
    return json;
}

static json_t *window(const struct prov_window *w, uint32_t program, uint32_t rank,
                      uint32_t thread)
{
    json_t *json = json_object(), *messages = json_array();

    for (size_t i = 0; i < w->n_messages; i++)
        json_array_append_new(messages, message(&w->message[i], program, rank, thread));
    json_object_set_new(json, "exec_window", calls(w->call, w->n_calls));
    json_object_set_new(json, "comm_window", messages);
    return json;
}

static json_t *counters(const struct prov_record *r)
{
    json_t *json = json_array();

    for (size_t i = 0; i < r->n_counters; i++) {
        json_t *counter = json_object();

        json_object_set_new(counter, "counter_idx", count(r->counter[i].id));
        json_object_set_new(counter, "counter_name", text(r->counter[i].name));
        json_object_set_new(counter, "counter_value", json_integer(r->counter[i].value));
        json_object_set_new(counter, "pid", count(r->program));
        json_object_set_new(counter, "rid", count(r->event.rank));
        json_object_set_new(counter, "tid", count(r->thread));
        json_object_set_new(counter, "ts", microseconds(r->counter[i].time_ns));
        json_array_append_new(json, counter);
    }
    return json;
}

static json_t *cause(const struct prov_record *r)
{
    json_t *json = r->n_cause ? json_array() : json_null();

    for (size_t i = 0; i < r->n_cause; i++) {
        const struct prov_link *x = &r->cause[i];
        json_t *link = json_object();

        json_object_set_new(link, "rank", count(x->rank));
        json_object_set_new(link, "thread", count(x->thread));
        json_object_set_new(link, "function", text(x->func));
        json_object_set_new(link, "waits_for", x->waits_for ? text(x->waits_for) : json_null());
        json_object_set_new(link, "begin_ns", count(x->begin_ns));
        json_object_set_new(link, "end_ns", count(x->end_ns));
        json_object_set_new(link, "time_ns", count(x->time_ns));
        json_array_append_new(json, link);
    }
    return json;
}

static json_t *partners(const struct prov_record *r)
{
    json_t *json = json_array();

    for (size_t i = 0; i < r->n_partners; i++) {
        const struct prov_partner *x = &r->partner[i];
        json_t *partner = json_object();

        json_object_set_new(partner, "rid", count(x->rank));
        json_object_set_new(partner, "tid", count(x->thread));
        json_object_set_new(partner, "event_window",
                            window(&x->window, r->program, x->rank, x->thread));
        json_object_set_new(partner, "not_known",
                            x->not_known ? text(x->not_known) : json_null());
        json_array_append_new(json, partner);
    }
    return json;
}

static json_t *gpu_location(const struct prov_gpu *g)
{
    json_t *json = json_object();

    json_object_set_new(json, "context", count(g->context));
    json_object_set_new(json, "device", count(g->device));
    json_object_set_new(json, "stream", count(g->stream));
    json_object_set_new(json, "thread", count(g->thread));
    return json;
}

static json_t *gpu_parent(const struct prov_gpu *g)
{
    json_t *json = json_object();

    json_object_set_new(json, "event_id", event(&g->parent));
    json_object_set_new(json, "tid", count(g->parent_thread));
    json_object_set_new(json, "call_stack", calls(g->parent_stack, g->n_parent_stack));
    return json;
}

static json_t *node(const struct prov_node *n)
{
    json_t *json = json_object(), *data = json_array();

    for (size_t i = 0; i < n->n_fields; i++) {
        json_t *field = json_object();

        json_object_set_new(field, "field", text(n->field[i].name));
        json_object_set_new(field, "value", json_integer(n->field[i].value));
        json_array_append_new(data, field);
    }
    json_object_set_new(json, "timestamp", microseconds(n->time_ns));
    json_object_set_new(json, "data", data);
    return json;
}

char *prov_execution_id(uint32_t rank, uint32_t thread, uint64_t index,
                        char out[PROV_EXECUTION_ID_SIZE])
{
    unsigned long long i = index;

    if (thread > 0)
        snprintf(out, PROV_EXECUTION_ID_SIZE, "#%u.%u-%llu", rank, thread, i);
    else
        snprintf(out, PROV_EXECUTION_ID_SIZE, "#%u-%llu", rank, i);
    return out;
}

static json_t *execution(const struct prov_record *r)
{
    const struct prov_execution *x = &r->execution;
    json_t *json = json_object();
    char id[PROV_EXECUTION_ID_SIZE];

    prov_execution_id(r->event.rank, r->thread, x->index, id);
    json_object_set_new(json, "id", json_string(id));
    json_object_set_new(json, "index", count(x->index));
    json_object_set_new(json, "calls", count(x->n_calls));
    json_object_set_new(json, "messages", count(x->n_messages));
    json_object_set_new(json, "threshold", real(x->threshold));
    json_object_set_new(json, "typical_ns", count(x->typical_ns));
    json_object_set_new(json, "why", x->why ? text(x->why) : json_null());
    return json;
}

static json_t *algorithm(const struct prov_record *r)
{
    json_t *json = json_object();

    json_object_set_new(json, "algorithm", text(r->algorithm));
    json_object_set_new(json, "version", count(r->model_version));
    return json;
}

static void set_verdict(json_t *json, const struct prov_record *r, const struct prov_final *f)
{
    bool is_judged = f && f->is_judged;

    json_object_set_new(json, "outlier_score", real(r->score));
    json_object_set_new(json, "outlier_severity", microseconds(r->severity_ns));
    json_object_set_new(json, "p", real(r->p));
    json_object_set_new(json, "algo_params", algorithm(r));
    json_object_set_new(json, "is_pruned", json_boolean(is_judged && f->is_pruned));
    json_object_set_new(json, "final_score", is_judged ? real(f->score) : json_null());
    json_object_set_new(json, "final_p", is_judged ? real(f->p) : json_null());
}

static void set_cost(json_t *json, const struct prov_final *f)
{
    bool is_known = f && f->has_cost;

    json_object_set_new(json, "cost_ns", is_known ? json_integer(f->cost_ns) : json_null());
    json_object_set_new(json, "cost_is_bound",
                        is_known ? json_boolean(f->cost_is_bound) : json_null());
}

/* When it was stored, by the clock on the wall. */
static json_t *utc(uint64_t ns)
{
    char at[TEXT_UTC_SIZE];

    return ns ? json_string(text_utc(ns, at)) : json_null();
}

static void set_run(json_t *json, const struct prov_final *f)
{
    json_object_set_new(json, "run", f && f->run ? json_integer(f->run) : json_null());
    json_object_set_new(json, "run_id", f && f->run_id ? text(f->run_id) : json_null());
    json_object_set_new(json, "stored_utc", utc(f ? f->stored_ns : 0));
}

static void set_place(json_t *json, const struct prov_record *r, const struct prov_final *final)
{
    json_object_set_new(json, "event_id", event(&r->event));
    set_run(json, final);
    json_object_set_new(json, "pid", count(r->program));
    json_object_set_new(json, "rid", count(r->event.rank));
    json_object_set_new(json, "tid", count(r->thread));
    json_object_set_new(json, "hostname", text(r->hostname));
    json_object_set_new(json, "fid", count(r->fid));
    json_object_set_new(json, "func", text(r->func));
    json_object_set_new(json, "entry", microseconds(r->enter_ns));
    json_object_set_new(json, "exit", microseconds(r->leave_ns));
    json_object_set_new(json, "runtime_total", microseconds(r->inclusive_ns));
    json_object_set_new(json, "runtime_exclusive", microseconds(r->exclusive_ns));
    json_object_set_new(json, "io_step", count(r->event.step));
    json_object_set_new(json, "io_step_tstart", microseconds(r->step_begin_ns));
    json_object_set_new(json, "io_step_tend", microseconds(r->step_end_ns));
}

json_t *prov_record_to_json(const struct prov_record *r, const struct prov_final *final)
{
    json_t *json = json_object();

    set_place(json, r, final);
    set_verdict(json, r, final);
    set_cost(json, final);
    json_object_set_new(json, "call_stack", calls(r->stack, r->n_stack));
    json_object_set_new(json, "event_window",
                        window(&r->window, r->program, r->event.rank, r->thread));
    json_object_set_new(json, "counter_events", counters(r));
    json_object_set_new(json, "cause", cause(r));
    json_object_set_new(json, "partners", partners(r));
    json_object_set_new(json, "is_gpu_event", json_boolean(r->is_gpu));
    json_object_set_new(json, "gpu_location", r->is_gpu ? gpu_location(&r->gpu) : json_null());
    json_object_set_new(json, "gpu_parent",
                        r->is_gpu && r->gpu.has_parent ? gpu_parent(&r->gpu) : json_null());
    json_object_set_new(json, "node_state", r->has_node ? node(&r->node) : json_null());
    json_object_set_new(json, "execution", r->is_execution ? execution(r) : json_null());
    return json;
}
