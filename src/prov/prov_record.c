/*
 * One description serves both directions: every function below writes a field to the pack or
 * reads it from there, depending on `is_reading`, so the two cannot drift apart. Reading checks
 * every number before memory is asked for; writing changes nothing in the record.
 *
 *     version | event program thread fid func ... | stack | window | counters | cause | ...
 *     a list:  number of elements, then each       a name: its number; when new, length and
 * text
 */
#include "prov/prov_record.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
        return err_set(ERR_FORMAT, "damaged record: it begins with no version we know");
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

    mem_grow(&out->data, &out->cap, out->n + bound, 1);
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
