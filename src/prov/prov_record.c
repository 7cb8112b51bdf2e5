/*
 * One description serves both directions of bytes: every function below writes a field to the
 * pack or reads it from there, depending on `is_reading`, so the two cannot drift apart.
 * Reading checks every number before memory is asked for; writing changes nothing in the
 * record.
 *
 *     version | event program thread fid func ... | stack | window | counters | cause | ...
 *     a list:  number of elements, then each       a name: its number; when new, length and text
 */
#include "prov/prov_record.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------- as bytes */

#define VERSION 3     /* 1 had no executions, 2 no partners whose windows are not known */
#define LEVEL -1      /* of zstd: 7 % larger than level 3 in two fifths of its time */
#define MAX_NAMES 512 /* that are remembered; further ones are written out */

struct codec {
    struct pack *pack;
    struct arena *arena;
    bool is_reading;
    uint64_t last_ns;          /* times are differences to this */
    size_t n_elements, n_text; /* read: of all lists, bytes of all names where they stand */
    const char *name[MAX_NAMES];
    uint64_t n_names;
};

static void number(struct codec *c, uint64_t *value)
{
    if (c->is_reading)
        *value = unpack_varint(c->pack);
    else
        pack_varint(c->pack, *value);
}

static void number32(struct codec *c, uint32_t *value)
{
    uint64_t wide = *value;

    number(c, &wide);
    if (wide > UINT32_MAX)
        c->pack->is_bad = true;
    if (c->is_reading)
        *value = (uint32_t)wide;
}

static void truth(struct codec *c, bool *value)
{
    uint64_t wide = *value;

    number(c, &wide);
    if (wide > 1)
        c->pack->is_bad = true;
    if (c->is_reading)
        *value = wide != 0;
}

static void real(struct codec *c, double *value)
{
    if (c->is_reading)
        *value = unpack_f64(c->pack);
    else
        pack_f64(c->pack, *value);
}

/* Small numbers of either sign are small: 0, -1, 1, -2, ... */
static void whole(struct codec *c, int64_t *value)
{
    uint64_t folded = ((uint64_t)*value << 1) ^ (uint64_t)(*value >> 63);

    number(c, &folded);
    if (c->is_reading)
        *value = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

static void time_ns(struct codec *c, uint64_t *value)
{
    int64_t difference = (int64_t)(*value - c->last_ns);

    whole(c, &difference);
    c->last_ns += (uint64_t)difference;
    if (c->is_reading)
        *value = c->last_ns;
}

/* The end of what began last; 0, which is no end, stays 0. */
static void end_ns(struct codec *c, uint64_t *value)
{
    bool is_there = *value != 0;
    uint64_t begin = c->last_ns;

    truth(c, &is_there);
    if (is_there)
        time_ns(c, value);
    c->last_ns = begin;
}

static uint64_t find_name(struct codec *c, const char *text)
{
    uint64_t i;

    for (i = 0; i < c->n_names; i++)
        if (c->name[i] == text || strcmp(c->name[i], text) == 0)
            break;
    return i;
}

static const char *read_name(struct codec *c, uint64_t length)
{
    const char *bytes = unpack_bytes(c->pack, length);
    char *text = arena_alloc(c->arena, (bytes ? length : 0) + 1, 1);

    if (bytes)
        memcpy(text, bytes, length);
    text[bytes ? length : 0] = '\0';
    return text;
}

static void name(struct codec *c, const char **text)
{
    const char *known = *text ? *text : "";
    uint64_t i = c->is_reading ? 0 : find_name(c, known);
    uint64_t length = c->is_reading ? 0 : strlen(known);

    number(c, &i);
    if (i < c->n_names) {
        known = c->name[i];
    } else {
        number(c, &length);
        if (c->is_reading)
            known = read_name(c, length);
        else
            pack_bytes(c->pack, known, length);
        if (i > c->n_names)
            c->pack->is_bad = true;
        if (c->n_names < MAX_NAMES)
            c->name[c->n_names++] = known;
    }
    if (c->is_reading) {
        *text = known;
        c->n_text += strlen(known);
        c->pack->is_bad |= c->n_text > PROV_MAX_TEXT_BYTES;
    }
}

static void optional_name(struct codec *c, const char **text)
{
    bool is_there = *text != NULL;

    truth(c, &is_there);
    if (is_there)
        name(c, text);
}

/*
 * The number of elements; when reading, there is room for them afterwards. An element takes
 * `least` bytes or more.
 */
static void *list(struct codec *c, void *data, size_t *n, size_t width, size_t least)
{
    uint64_t count = *n;

    number(c, &count);
    if (!c->is_reading)
        return data;
    if (c->pack->is_bad || count > (c->pack->n - c->pack->at) / least ||
        count > PROV_MAX_ELEMENTS - c->n_elements) {
        c->pack->is_bad = true;
        count = 0;
    }
    c->n_elements += count;
    *n = count;
    return count ? arena_zeroed(c->arena, count, width) : NULL;
}

/* Makes room for a list whose array is `array`. A macro, because the type of the array varies.
 */
#define LIST(c, array, n, least)                                                               \
    do {                                                                                       \
        void *room_ = list(c, array, n, sizeof *(array), least);                               \
                                                                                               \
        if ((c)->is_reading)                                                                   \
            (array) = room_;                                                                   \
    } while (0)

static void event(struct codec *c, struct prov_event *e)
{
    number32(c, &e->rank);
    number(c, &e->step);
    number(c, &e->index);
}

static void call(struct codec *c, struct prov_call *x)
{
    event(c, &x->event);
    truth(c, &x->has_parent);
    if (x->has_parent)
        event(c, &x->parent);
    truth(c, &x->is_anomaly);
    number32(c, &x->fid);
    name(c, &x->func);
    time_ns(c, &x->enter_ns);
    end_ns(c, &x->leave_ns);
}

static void calls(struct codec *c, struct prov_call **x, size_t *n)
{
    LIST(c, *x, n, 9);
    for (size_t i = 0; i < *n; i++)
        call(c, &(*x)[i]);
}

static void message(struct codec *c, struct prov_message *m)
{
    truth(c, &m->is_send);
    event(c, &m->call);
    number32(c, &m->source);
    number32(c, &m->target);
    number32(c, &m->tag);
    number(c, &m->bytes);
    time_ns(c, &m->time_ns);
}

static void window(struct codec *c, struct prov_window *w)
{
    calls(c, &w->call, &w->n_calls);
    LIST(c, w->message, &w->n_messages, 9);
    for (size_t i = 0; i < w->n_messages; i++)
        message(c, &w->message[i]);
}

static void counters(struct codec *c, struct prov_counter **x, size_t *n)
{
    LIST(c, *x, n, 4);
    for (size_t i = 0; i < *n; i++) {
        number32(c, &(*x)[i].id);
        name(c, &(*x)[i].name);
        whole(c, &(*x)[i].value);
        time_ns(c, &(*x)[i].time_ns);
    }
}

static void cause(struct codec *c, struct prov_record *r)
{
    LIST(c, r->cause, &r->n_cause, 7);
    for (size_t i = 0; i < r->n_cause; i++) {
        struct prov_link *link = &r->cause[i];

        number32(c, &link->rank);
        number32(c, &link->thread);
        name(c, &link->func);
        optional_name(c, &link->waits_for);
        time_ns(c, &link->begin_ns);
        end_ns(c, &link->end_ns);
        number(c, &link->time_ns);
    }
}

static void partner(struct codec *c, struct prov_partner *p, uint64_t version)
{
    number32(c, &p->rank);
    number32(c, &p->thread);
    window(c, &p->window);
    if (version > 2)
        optional_name(c, &p->not_known);
}

static void partners(struct codec *c, struct prov_record *r, uint64_t version)
{
    LIST(c, r->partner, &r->n_partners, 4);
    for (size_t i = 0; i < r->n_partners; i++)
        partner(c, &r->partner[i], version);
}

static void gpu(struct codec *c, struct prov_gpu *g)
{
    number32(c, &g->context);
    number32(c, &g->device);
    number32(c, &g->stream);
    number32(c, &g->thread);
    truth(c, &g->has_parent);
    if (!g->has_parent)
        return;
    event(c, &g->parent);
    number32(c, &g->parent_thread);
    calls(c, &g->parent_stack, &g->n_parent_stack);
}

static void head(struct codec *c, struct prov_record *r)
{
    event(c, &r->event);
    number32(c, &r->program);
    number32(c, &r->thread);
    number32(c, &r->fid);
    name(c, &r->func);
    name(c, &r->hostname);
    time_ns(c, &r->enter_ns);
    end_ns(c, &r->leave_ns);
    number(c, &r->inclusive_ns);
    number(c, &r->exclusive_ns);
    time_ns(c, &r->step_begin_ns);
    end_ns(c, &r->step_end_ns);
    real(c, &r->score);
    real(c, &r->p);
    number(c, &r->severity_ns);
    name(c, &r->algorithm);
    number(c, &r->model_version);
}

static void execution(struct codec *c, struct prov_execution *x)
{
    number32(c, &x->index);
    number(c, &x->n_calls);
    number(c, &x->n_messages);
    real(c, &x->threshold);
    number(c, &x->typical_ns);
    optional_name(c, &x->why);
}

static void record_fields(struct codec *c, struct prov_record *r, uint64_t version)
{
    head(c, r);
    calls(c, &r->stack, &r->n_stack);
    window(c, &r->window);
    counters(c, &r->counter, &r->n_counters);
    cause(c, r);
    partners(c, r, version);
    truth(c, &r->is_gpu);
    if (r->is_gpu)
        gpu(c, &r->gpu);
    truth(c, &r->has_node);
    if (r->has_node) {
        time_ns(c, &r->node.time_ns);
        counters(c, &r->node.field, &r->node.n_fields);
    }
    if (version == 1)
        return;
    truth(c, &r->is_execution);
    if (r->is_execution)
        execution(c, &r->execution);
}

void prov_record_pack(const struct prov_record *record, struct pack *pack)
{
    struct codec c = {.pack = pack};
    struct prov_record copy = *record;

    pack_varint(pack, VERSION);
    record_fields(&c, &copy, VERSION);
}

int prov_record_unpack(struct pack *pack, struct arena *arena, struct prov_record *record)
{
    struct codec c = {.pack = pack, .arena = arena, .is_reading = true};
    uint64_t version = unpack_varint(pack);

    *record = (struct prov_record){0};
    if (version < 1 || version > VERSION)
        return err_set(ERR_FORMAT, "damaged record: its version is unknown");
    record_fields(&c, record, version);
    if (pack->is_bad || pack->at != pack->n)
        return err_set(ERR_FORMAT, "damaged record: its parts do not fit together");
    return 0;
}

void prov_partner_pack(const struct prov_partner *p, struct pack *pack)
{
    struct codec c = {.pack = pack};
    struct prov_partner copy = *p;

    partner(&c, &copy, VERSION);
}

int prov_partner_unpack(struct pack *pack, struct arena *arena, struct prov_partner *p)
{
    struct codec c = {.pack = pack, .arena = arena, .is_reading = true};

    *p = (struct prov_partner){0};
    partner(&c, p, VERSION);
    return pack->is_bad || pack->at != pack->n ? err_set(ERR_FORMAT, "a damaged window") : 0;
}

ZSTD_CCtx *prov_compressor(void)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();

    if (context == NULL)
        abort();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    return context;
}

void prov_compress(ZSTD_CCtx *context, const void *data, size_t bytes, struct pack *out)
{
    size_t bound = ZSTD_compressBound(bytes);
    size_t n;

    mem_grow(&out->data, &out->cap, out->n + bound);
    n = ZSTD_compress2(context, out->data + out->n, bound, data, bytes);
    assert(!ZSTD_isError(n)); /* there is room, so nothing can go wrong */
    out->n += n;
}

static int expand(const void *data, size_t bytes, struct arena *arena, struct pack *out)
{
    unsigned long long size = ZSTD_getFrameContentSize(data, bytes);
    size_t n;

    *out = (struct pack){0};
    if (size > PROV_MAX_BYTES || ZSTD_findFrameCompressedSize(data, bytes) != bytes)
        return err_set(ERR_FORMAT, "damaged record: not one whole zstd frame");
    out->data = arena_alloc(arena, size + 1, 1);
    n = ZSTD_decompress(out->data, size, data, bytes);
    if (ZSTD_isError(n) || n != size)
        return err_set(ERR_FORMAT, "damaged record: %s", ZSTD_getErrorName(n));
    out->n = n;
    return 0;
}

int prov_record_read(const void *data, size_t bytes, struct arena *arena,
                     struct prov_record *record)
{
    struct pack pack;
    int rc = expand(data, bytes, arena, &pack);

    return rc == 0 ? prov_record_unpack(&pack, arena, record) : rc;
}

/* ---------------------------------------------------------------------------------- as JSON */

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

static json_t *real_json(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *event_json(const struct prov_event *e)
{
    char id[64];

    snprintf(id, sizeof id, "%u:%llu:%llu", e->rank, (unsigned long long)e->step,
             (unsigned long long)e->index);
    return json_string(id);
}

static json_t *call_json(const struct prov_call *x)
{
    json_t *json = json_object();

    json_object_set_new(json, "fid", count(x->fid));
    json_object_set_new(json, "func", text(x->func));
    json_object_set_new(json, "entry", microseconds(x->enter_ns));
    json_object_set_new(json, "exit", microseconds(x->leave_ns));
    json_object_set_new(json, "event_id", event_json(&x->event));
    json_object_set_new(json, "is_anomaly", json_boolean(x->is_anomaly));
    if (x->has_parent)
        json_object_set_new(json, "parent_event_id", event_json(&x->parent));
    return json;
}

static json_t *calls_json(const struct prov_call *x, size_t n)
{
    json_t *json = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(json, call_json(&x[i]));
    return json;
}

static json_t *message_json(const struct prov_message *m, uint32_t program, uint32_t rank,
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
    json_object_set_new(json, "execdata_key", event_json(&m->call));
    return json;
}

static json_t *window_json(const struct prov_window *w, uint32_t program, uint32_t rank,
                           uint32_t thread)
{
    json_t *json = json_object(), *messages = json_array();

    for (size_t i = 0; i < w->n_messages; i++)
        json_array_append_new(messages, message_json(&w->message[i], program, rank, thread));
    json_object_set_new(json, "exec_window", calls_json(w->call, w->n_calls));
    json_object_set_new(json, "comm_window", messages);
    return json;
}

static json_t *counters_json(const struct prov_record *r)
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

static json_t *cause_json(const struct prov_record *r)
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

static json_t *partners_json(const struct prov_record *r)
{
    json_t *json = json_array();

    for (size_t i = 0; i < r->n_partners; i++) {
        const struct prov_partner *x = &r->partner[i];
        json_t *partner = json_object();

        json_object_set_new(partner, "rid", count(x->rank));
        json_object_set_new(partner, "tid", count(x->thread));
        json_object_set_new(partner, "event_window",
                            window_json(&x->window, r->program, x->rank, x->thread));
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

    json_object_set_new(json, "event_id", event_json(&g->parent));
    json_object_set_new(json, "tid", count(g->parent_thread));
    json_object_set_new(json, "call_stack", calls_json(g->parent_stack, g->n_parent_stack));
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

static json_t *execution_json(const struct prov_record *r)
{
    const struct prov_execution *x = &r->execution;
    json_t *json = json_object();
    char id[PROV_EXECUTION_ID_SIZE];

    prov_execution_id(r->event.rank, r->thread, x->index, id);
    json_object_set_new(json, "id", json_string(id));
    json_object_set_new(json, "index", count(x->index));
    json_object_set_new(json, "calls", count(x->n_calls));
    json_object_set_new(json, "messages", count(x->n_messages));
    json_object_set_new(json, "threshold", real_json(x->threshold));
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

    json_object_set_new(json, "outlier_score", real_json(r->score));
    json_object_set_new(json, "outlier_severity", microseconds(r->severity_ns));
    json_object_set_new(json, "p", real_json(r->p));
    json_object_set_new(json, "algo_params", algorithm(r));
    json_object_set_new(json, "is_pruned", json_boolean(is_judged && f->is_pruned));
    json_object_set_new(json, "final_score", is_judged ? real_json(f->score) : json_null());
    json_object_set_new(json, "final_p", is_judged ? real_json(f->p) : json_null());
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
    json_object_set_new(json, "event_id", event_json(&r->event));
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
    json_object_set_new(json, "call_stack", calls_json(r->stack, r->n_stack));
    json_object_set_new(json, "event_window",
                        window_json(&r->window, r->program, r->event.rank, r->thread));
    json_object_set_new(json, "counter_events", counters_json(r));
    json_object_set_new(json, "cause", cause_json(r));
    json_object_set_new(json, "partners", partners_json(r));
    json_object_set_new(json, "is_gpu_event", json_boolean(r->is_gpu));
    json_object_set_new(json, "gpu_location", r->is_gpu ? gpu_location(&r->gpu) : json_null());
    json_object_set_new(json, "gpu_parent",
                        r->is_gpu && r->gpu.has_parent ? gpu_parent(&r->gpu) : json_null());
    json_object_set_new(json, "node_state", r->has_node ? node(&r->node) : json_null());
    json_object_set_new(json, "execution", r->is_execution ? execution_json(r) : json_null());
    return json;
}
