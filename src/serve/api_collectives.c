/*
 * Collective operations: those of a window as columns, and one of them in full, with who
 * waited in it for whom.
 *
 *     location 0   [==== barrier ====]      waits from its begin ...
 *     location 1        [= barrier ==]
 *     location 2              [barrier]     ... to that of the last to arrive
 *
 * Who waits for whom depends on the operation: for all in a barrier or an all-to-all, for the
 * root in a broadcast; in a reduction only the root waits. Of an operation that no order
 * follows from (a scan) it is seen: nobody left it before all were in, or nobody is said to
 * have waited.
 *
 * The columns are as somebody wrote them: nothing in them is believed.
 */
#include "base/err.h"
#include "base/idmap.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "explain/trace_view.h"
#include "run/columns.h"
#include "serve/api.h"
#include "serve/served.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define COLLECTIVE_WAITS_ALL 200000u     /* records in a window that are all looked at */
#define COLLECTIVE_WAITS_LOOKUPS 400000u /* parts that are looked for in all */

/* What one location did in it. */
struct collective_part {
    uint32_t location, call; /* call: a row */
    uint64_t begin_ns, end_ns, wait_ns;
    uint64_t sent_bytes, received_bytes;
    uint32_t met; /* of which it is a part */
};

/* One that took place. */
struct collective_met {
    uint32_t region, comm, kind;       /* kind: enum collective_kind */
    uint32_t n_members;                /* of the communicator; 0 where it is not known */
    uint32_t n_known;                  /* who have a record */
    uint32_t last_location, last_call; /* the last to arrive; the root where it is waited for */
    uint64_t last_ns;                  /* when that one arrived */
    uint64_t wait_ns;                  /* of all parts together */
    uint64_t sent_bytes, received_bytes; /* likewise */
};

struct collective_waits {
    struct collective_met *met; /* [n] by last_ns */
    size_t n;
    struct collective_part *part; /* [n_parts] those of one after another */
    size_t n_parts, part_cap;
    uint64_t total;   /* of which a location that was asked for has a record in the window */
    bool is_estimate; /* total is */
};

struct collective_waits_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    const uint32_t *location;  /* (n_locations) different ones, which exist */
    uint32_t n_locations;
};

static void collective_waits_release(struct collective_waits *c)
{
    free(c->met);
    free(c->part);
    *c = (struct collective_waits){0};
}

/* ---------------------------------------------------------------------- one that took place */

static bool is_sound(const struct call_view *calls, const struct definitions *defs,
                     const struct collective *c)
{
    return c->instance != NO_INSTANCE && c->comm < defs->n_comms && c->call < calls->n &&
           calls->region[c->call] < defs->names.n && c->begin_ns <= c->end_ns;
}

static void add_part(struct collective_waits *out, uint32_t location,
                     const struct collective *c, uint32_t met)
{
    *mem_push(&out->part, &out->n_parts, &out->part_cap) =
        (struct collective_part){.location = location,
                                 .call = c->call,
                                 .begin_ns = c->begin_ns,
                                 .end_ns = c->end_ns,
                                 .sent_bytes = c->sent_bytes,
                                 .received_bytes = c->received_bytes,
                                 .met = met};
}

/* All that is known of who took part. */
static void gather_parts(struct collective_waits *out, const struct columns *columns,
                         const struct definitions *defs, const struct collective *of,
                         uint32_t met)
{
    for (uint32_t l = 0; l < columns->n_locations; l++) {
        struct call_view calls;
        const struct collective *part;

        if (columns->range[l].n_collectives == 0)
            continue;
        calls = columns_view(columns, l);
        part = calls_collective_part(&calls, of);
        if (part && is_sound(&calls, defs, part))
            add_part(out, l, part, met);
    }
}

static const struct collective_part *last_of(const struct collective_part *part, size_t n)
{
    const struct collective_part *last = part;

    for (size_t i = 1; i < n; i++)
        if (part[i].begin_ns > last->begin_ns)
            last = &part[i];
    return last;
}

static const struct collective_part *root_of(const struct collective_part *part, size_t n,
                                             const struct definitions *defs, uint32_t root)
{
    for (size_t i = 0; i < n; i++)
        if (defs->location[part[i].location].rank == root)
            return &part[i];
    return NULL;
}

/* Whether nobody left it before the last one was in. */
static bool has_met(const struct collective_part *part, size_t n, uint64_t last_ns)
{
    for (size_t i = 0; i < n; i++)
        if (part[i].end_ns < last_ns)
            return false;
    return true;
}

/* Who is waited for, and who waits: *waits is set for each part. NULL: nobody waits. */
static const struct collective_part *awaited(const struct collective *c,
                                             struct collective_part *part, size_t n,
                                             const struct definitions *defs)
{
    const struct collective_part *last = last_of(part, n),
                                 *root = root_of(part, n, defs, c->root);

    switch (c->kind) {
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_ALL_TO_ALL:
        return last;
    case COLLECTIVE_ONE_TO_ALL:
        return root;
    case COLLECTIVE_ALL_TO_ONE:
        return root ? last : NULL;
    default:
        return has_met(part, n, last->begin_ns) ? last : NULL;
    }
}

static void measure_waits(const struct collective *c, struct collective_met *met,
                          struct collective_part *part, size_t n,
                          const struct definitions *defs)
{
    const struct collective_part *who = awaited(c, part, n, defs);
    const struct collective_part *named = who ? who : last_of(part, n);

    met->last_location = named->location;
    met->last_call = named->call;
    met->last_ns = named->begin_ns;
    for (size_t i = 0; i < n; i++) {
        bool can_wait = c->kind != COLLECTIVE_ALL_TO_ONE ||
                        defs->location[part[i].location].rank == c->root;
        uint64_t until = part[i].end_ns < met->last_ns ? part[i].end_ns : met->last_ns;

        if (who && can_wait && until > part[i].begin_ns)
            part[i].wait_ns = until - part[i].begin_ns;
        met->wait_ns += part[i].wait_ns;
        met->sent_bytes += part[i].sent_bytes;
        met->received_bytes += part[i].received_bytes;
    }
}

/* Appends it, with all of its parts. */
static void add_met(struct collective_waits *out, const struct columns *columns,
                    const struct definitions *defs, uint32_t location,
                    const struct collective *c)
{
    struct call_view calls = columns_view(columns, location);
    const struct comm *comm = &defs->comm[c->comm];
    struct collective_met *met = &out->met[out->n];
    size_t first = out->n_parts, n;

    gather_parts(out, columns, defs, c, (uint32_t)out->n);
    n = out->n_parts - first;
    if (n == 0) /* damaged: it is not even where it is */
        return;
    *met = (struct collective_met){.region = calls.region[c->call],
                                   .comm = c->comm,
                                   .kind = c->kind,
                                   .n_members = comm->n_members + comm->n_remote,
                                   .n_known = (uint32_t)n};
    measure_waits(c, met, &out->part[first], n, defs);
    out->n++;
}

/* --------------------------------------------------------------------------------- a window */

/* A collective that was seen on a location of the window. */
struct seen {
    uint32_t location;
    const struct collective *at;
};

struct sight {
    const struct columns *columns;
    const struct definitions *defs;
    const struct collective_waits_window *window;
    struct seen *seen; /* [n] each once */
    size_t n, cap;
    struct idmap known;
};

/* Records of a location that reach into the window: *begin .. *end - 1. */
static void find_records(const struct sight *s, uint32_t location, size_t *begin, size_t *end)
{
    struct call_view calls = columns_view(s->columns, location);

    *begin = calls_collective_from(&calls, s->window->begin_ns);
    *end = calls_collective_from(&calls, s->window->end_ns);
    *end += *end < calls.n_collectives; /* it ends behind the window, and may begin in it */
}

static void look_at(struct sight *s, uint32_t location, size_t begin, size_t end, size_t step)
{
    struct call_view calls = columns_view(s->columns, location);

    for (size_t i = begin; i < end; i += step) {
        const struct collective *c = &calls.collective[i];
        size_t n_known = s->known.n;

        if (!is_sound(&calls, s->defs, c) || c->begin_ns > s->window->end_ns ||
            idmap_add(&s->known, key_pair(c->instance, 0)) < n_known)
            continue;
        *mem_push(&s->seen, &s->n, &s->cap) = (struct seen){location, c};
    }
}

/* Where there are too many records, some of the location that has most. Returns how many there
 * are, of which all were looked at or not. */
static uint64_t look_around(struct sight *s, bool *is_estimate)
{
    const struct collective_waits_window *w = s->window;
    size_t begin, end, n = 0, most = 0;
    uint32_t busiest = 0;

    for (uint32_t k = 0; k < w->n_locations; k++) {
        find_records(s, w->location[k], &begin, &end);
        n += end - begin;
        if (end - begin > most) {
            most = end - begin;
            busiest = w->location[k];
        }
    }
    *is_estimate = n > COLLECTIVE_WAITS_ALL;
    if (*is_estimate) {
        find_records(s, busiest, &begin, &end);
        look_at(s, busiest, begin, end, most / COLLECTIVE_WAITS_ALL + 1);
        return most;
    }
    for (uint32_t k = 0; k < w->n_locations; k++) {
        find_records(s, w->location[k], &begin, &end);
        look_at(s, w->location[k], begin, end, 1);
    }
    return s->n;
}

static int by_begin(const void *a, const void *b)
{
    const struct seen *p = a, *q = b;

    return ORDER(p->at->begin_ns, q->at->begin_ns) ?: ORDER(p->at->instance, q->at->instance);
}

static size_t most_looked_up(const struct columns *columns, size_t most)
{
    size_t n_locations = 1, fit;

    for (uint32_t l = 0; l < columns->n_locations; l++)
        n_locations += columns->range[l].n_collectives > 0;
    fit = COLLECTIVE_WAITS_LOOKUPS / n_locations + 1;
    return fit < most ? fit : most;
}

/* Parts on other locations are counted, and not shown. */
static void drop_others(struct collective_waits *out, const struct columns *columns,
                        const struct collective_waits_window *window)
{
    bool *is_wanted = mem_alloc(columns->n_locations, sizeof *is_wanted);
    size_t n = 0;

    for (uint32_t k = 0; k < window->n_locations; k++)
        is_wanted[window->location[k]] = true;
    for (size_t i = 0; i < out->n_parts; i++)
        if (is_wanted[out->part[i].location])
            out->part[n++] = out->part[i];
    out->n_parts = n;
    free(is_wanted);
}

/*
 * Up to `most` collectives of a window, spread evenly over it. Their
 * parts are those on the locations of the window; what is said of all counts the others, too.
 *   collectives  zeroed
 * O(records in the window), never more than COLLECTIVE_WAITS_ALL, and log n for each part of
 * those that are chosen, never more than COLLECTIVE_WAITS_LOOKUPS.
 */
static void collective_waits_of(struct collective_waits *out, const struct columns *columns,
                                const struct definitions *defs,
                                const struct collective_waits_window *window, size_t most)
{
    struct sight s = {.columns = columns, .defs = defs, .window = window};
    size_t n;

    out->total = look_around(&s, &out->is_estimate);
    if (s.n > 0)
        qsort(s.seen, s.n, sizeof *s.seen, by_begin);
    most = most_looked_up(columns, most);
    n = s.n < most ? s.n : most;
    out->met = mem_alloc(n, sizeof *out->met);
    for (size_t i = 0; i < n; i++) {
        const struct seen *seen = &s.seen[i * s.n / n];

        add_met(out, columns, defs, seen->location, seen->at);
    }
    drop_others(out, columns, window);
    free(s.seen);
    idmap_release(&s.known);
}

/* --------------------------------------------------------------------------------- a call */

static int by_wait(const void *a, const void *b)
{
    const struct collective_part *p = a, *q = b;

    return ORDER(q->wait_ns, p->wait_ns) ?: ORDER(p->location, q->location);
}

/*
 * The one that a call takes part in, with all of its parts, those
 * that waited longest first.
 *   call  a row of the location, which exists
 * Returns false when it takes part in none.
 */
static bool collective_waits_of_call(struct collective_waits *out,
                                     const struct columns *columns,
                                     const struct definitions *defs, uint32_t location,
                                     uint32_t call)
{
    struct call_view calls = columns_view(columns, location);
    uint64_t leave = calls_leave(&calls, call);

    for (size_t i = calls_collective_from(&calls, calls.enter_ns[call]);
         i < calls.n_collectives && calls.collective[i].end_ns <= leave; i++) {
        const struct collective *c = &calls.collective[i];

        if (c->call != call || !is_sound(&calls, defs, c))
            continue;
        out->met = mem_alloc(1, sizeof *out->met);
        add_met(out, columns, defs, location, c);
        out->total = out->n;
        if (out->n_parts > 0)
            qsort(out->part, out->n_parts, sizeof *out->part, by_wait);
        return out->n > 0;
    }
    return false;
}

/* ------------------------------------------------------------------------------ the answers */

#define MAX_COLLECTIVES 2000
#define TYPICAL_COLLECTIVES 200
#define MAX_PARTS 1000
#define TYPICAL_PARTS 8

#define MET(name, type, member) BUNDLE_FIELD(name, type, struct collective_met, member)
#define PART(name, type, member) BUNDLE_FIELD(name, type, struct collective_part, member)

static void answer(const struct collective_waits *c, struct response *response)
{
    static const struct bundle_field met[] = {MET("last_ns", BUNDLE_F64, last_ns),
                                              MET("wait_ns", BUNDLE_F64, wait_ns),
                                              MET("sent_bytes", BUNDLE_F64, sent_bytes),
                                              MET("received_bytes", BUNDLE_F64, received_bytes),
                                              MET("region", BUNDLE_U32, region),
                                              MET("comm", BUNDLE_U32, comm),
                                              MET("kind", BUNDLE_U32, kind),
                                              MET("members", BUNDLE_U32, n_members),
                                              MET("known", BUNDLE_U32, n_known),
                                              MET("last_location", BUNDLE_U32, last_location),
                                              MET("last_call", BUNDLE_U32, last_call)};
    static const struct bundle_field part[] = {PART("part.begin_ns", BUNDLE_F64, begin_ns),
                                               PART("part.of", BUNDLE_U32, met),
                                               PART("part.end_ns", BUNDLE_F64, end_ns),
                                               PART("part.location", BUNDLE_U32, location),
                                               PART("part.wait_ns", BUNDLE_F64, wait_ns),
                                               PART("part.call", BUNDLE_U32, call)};
    struct bundle bundle = {.n_columns = 0};

    bundle_gather(&bundle, met, sizeof met / sizeof *met, c->met, c->n, sizeof *c->met);
    bundle_gather(&bundle, part, sizeof part / sizeof *part, c->part, c->n_parts,
                  sizeof *c->part);
    bundle_say(&bundle, "total", json_count(c->total));
    bundle_say(&bundle, "shown", json_count(c->n));
    bundle_say(&bundle, "is_estimate", json_boolean(c->is_estimate));
    response_bundle(response, &bundle);
}

int api_collectives(struct worker *worker, const struct request *request,
                    struct response *response)
{
    const struct served *served = worker->served;
    struct collective_waits collectives = {0};
    struct window window;
    double limit = 0;
    int rc = window_read(&window, served, request);

    if (rc == 0)
        rc = request_number(request, "limit", 0, MAX_COLLECTIVES, TYPICAL_COLLECTIVES, &limit);
    if (rc == 0) {
        struct collective_waits_window look = {window.begin_ns, window.end_ns, window.location,
                                               window.n_locations};

        collective_waits_of(&collectives, &served->scattered, &served->run.defs, &look,
                            (size_t)limit);
        answer(&collectives, response);
    }
    collective_waits_release(&collectives);
    window_release(&window);
    return rc;
}

/* ------------------------------------------------------------------------------ one of them */

static json_t *part_to_json(const struct collective_part *p)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "location", (json_int_t)p->location,
                     "call", (json_int_t)p->call, "begin_ns", (json_int_t)p->begin_ns, "end_ns",
                     (json_int_t)p->end_ns, "wait_ns", (json_int_t)p->wait_ns, "sent_bytes",
                     (json_int_t)p->sent_bytes, "received_bytes",
                     (json_int_t)p->received_bytes);
}

static json_t *to_json(const struct collective_waits *c, const struct definitions *defs,
                       size_t most)
{
    static const char *const kinds[] = {"barrier", "all to all", "one to all", "all to one",
                                        "other"};
    const struct collective_met *m = c->met;
    const char *comm = defs->comm[m->comm].name;
    const char *kind = m->kind <= COLLECTIVE_OTHER ? kinds[m->kind] : kinds[COLLECTIVE_OTHER];
    json_t *parts = json_array();

    for (size_t i = 0; i < c->n_parts && i < most; i++)
        json_array_append_new(parts, part_to_json(&c->part[i]));
    return json_pack("{s:I, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "region",
                     (json_int_t)m->region, "kind", kind, "comm", json_text(comm ? comm : ""),
                     "members", (json_int_t)m->n_members, "known", (json_int_t)m->n_known,
                     "last_location", (json_int_t)m->last_location, "last_call",
                     (json_int_t)m->last_call, "last_ns", (json_int_t)m->last_ns, "wait_ns",
                     (json_int_t)m->wait_ns, "sent_bytes", (json_int_t)m->sent_bytes,
                     "received_bytes", (json_int_t)m->received_bytes, "parts", parts);
}

int api_collective(struct worker *worker, const struct request *request,
                   struct response *response)
{
    const struct served *served = worker->served;
    const struct columns *columns = &served->scattered;
    int64_t location = request->id[0], row = request->id[1];
    struct collective_waits collectives = {0};
    double most = 0;
    int rc = request_number(request, "most", 0, MAX_PARTS, TYPICAL_PARTS, &most);

    if (rc < 0)
        return rc;
    if (location >= columns->n_locations || row >= (int64_t)columns->range[location].n_calls)
        return err_set(ERR_NOT_FOUND, "the run has no such call");
    if (collective_waits_of_call(&collectives, columns, &served->run.defs, (uint32_t)location,
                                 (uint32_t)row))
        rc = response_json(response, to_json(&collectives, &served->run.defs, (size_t)most));
    else
        rc = err_set(ERR_NOT_FOUND, "this call takes part in no collective");
    collective_waits_release(&collectives);
    return rc;
}
