/* Collective operations: those of a window as columns, and one of them in full. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "serve/api.h"
#include "serve/collective_waits.h"
#include "serve/window.h"

#include <stdlib.h>

#define MAX_COLLECTIVES 2000
#define USUAL_COLLECTIVES 200
#define MAX_PARTS 1000
#define USUAL_PARTS 8

/* Columns are kept until the bundle is sent. */
struct two_kinds {
    double *real;
    uint32_t *whole;
};

static struct two_kinds add_met(struct bundle *bundle, const struct collective_waits *c)
{
    static const char *const reals[] = {"last_ns", "wait_ns", "sent_bytes", "received_bytes"};
    static const char *const wholes[] = {"region", "comm",          "kind",     "members",
                                         "known",  "last_location", "last_call"};
    struct two_kinds of = {mem_alloc(4 * c->n, sizeof(double)),
                           mem_alloc(7 * c->n, sizeof(uint32_t))};

    for (size_t i = 0; i < c->n; i++) {
        const struct collective_met *m = &c->met[i];
        const double r[] = {(double)m->last_ns, (double)m->wait_ns, (double)m->sent_bytes,
                            (double)m->received_bytes};
        const uint32_t w[] = {m->region,  m->comm,          m->kind,     m->n_members,
                              m->n_known, m->last_location, m->last_call};

        for (size_t k = 0; k < 4; k++)
            of.real[k * c->n + i] = r[k];
        for (size_t k = 0; k < 7; k++)
            of.whole[k * c->n + i] = w[k];
    }
    for (size_t k = 0; k < 4; k++)
        bundle_add(bundle, reals[k], BUNDLE_F64, of.real + k * c->n, c->n);
    for (size_t k = 0; k < 7; k++)
        bundle_add(bundle, wholes[k], BUNDLE_U32, of.whole + k * c->n, c->n);
    return of;
}

static struct two_kinds add_parts(struct bundle *bundle, const struct collective_waits *c)
{
    static const char *const reals[] = {"part.begin_ns", "part.end_ns", "part.wait_ns"};
    static const char *const wholes[] = {"part.of", "part.location", "part.call"};
    size_t n = c->n_parts;
    struct two_kinds of = {mem_alloc(3 * n, sizeof(double)),
                           mem_alloc(3 * n, sizeof(uint32_t))};

    for (size_t i = 0; i < n; i++) {
        const struct collective_part *p = &c->part[i];
        const double r[] = {(double)p->begin_ns, (double)p->end_ns, (double)p->wait_ns};
        const uint32_t w[] = {p->met, p->location, p->call};

        for (size_t k = 0; k < 3; k++) {
            of.real[k * n + i] = r[k];
            of.whole[k * n + i] = w[k];
        }
    }
    for (size_t k = 0; k < 3; k++) {
        bundle_add(bundle, reals[k], BUNDLE_F64, of.real + k * n, n);
        bundle_add(bundle, wholes[k], BUNDLE_U32, of.whole + k * n, n);
    }
    return of;
}

static void answer(const struct collective_waits *c, struct response *response)
{
    struct bundle bundle = {.n_columns = 0};
    struct two_kinds met = add_met(&bundle, c), parts = add_parts(&bundle, c);

    bundle_say(&bundle, "total", json_count(c->total));
    bundle_say(&bundle, "shown", json_count(c->n));
    bundle_say(&bundle, "is_estimate", json_boolean(c->is_estimate));
    response_bundle(response, &bundle);
    free(met.real);
    free(met.whole);
    free(parts.real);
    free(parts.whole);
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
        rc = request_number(request, "limit", 0, MAX_COLLECTIVES, USUAL_COLLECTIVES, &limit);
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
    int rc = request_number(request, "most", 0, MAX_PARTS, USUAL_PARTS, &most);

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
