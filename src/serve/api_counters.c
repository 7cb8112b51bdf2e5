/* What counters read over time: which there are, and one of them in a window. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "serve/api.h"
#include "serve/call_details.h"
#include "serve/counter_track.h"
#include "serve/window.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WIDTH 8192
#define USUAL_WIDTH 1000

/* `shown` as: as it is meant, unless somebody knows better. */
static json_t *counter_to_json(const struct detail_counter *c, const struct counter *shown)
{
    return json_pack("{s:o, s:o, s:s, s:s, s:s}", "name", json_text(c->name), "unit",
                     json_text(c->is.unit), "mode", counter_mode_name(c->is.mode), "span",
                     counter_span_name(c->is.span), "shows",
                     counter_track_is_rate(shown) ? "rate" : "value");
}

/* Tracers say of what they know nothing of that it grows: who looks at it may say otherwise. */
static int read_as(const struct request *request, struct counter *is)
{
    const char *as = request_text(request, "as", NULL);
    bool is_rate = as && strcmp(as, "rate") == 0;

    if (as == NULL || (is_rate && counter_track_is_rate(is)))
        return 0;
    if (!is_rate && strcmp(as, "value") != 0)
        return err_set(ERR_USAGE, "'as' is rate or value");
    if (is_rate)
        is->mode = COUNTER_ACCUMULATED;
    else if (counter_track_is_rate(is))
        *is = (struct counter){COUNTER_ABSOLUTE, COUNTER_AT_POINT, is->unit};
    return 0;
}

int api_counters(struct worker *worker, const struct request *request,
                 struct response *response)
{
    const struct detail_files *files = &worker->served->scattered.details;
    json_t *items = json_array();

    (void)request;
    for (uint32_t c = 0; c < files->n_counters; c++) {
        json_t *item = counter_to_json(&files->counter[c], &files->counter[c].is);

        json_object_set_new(item, "id", json_count(c));
        json_array_append_new(items, item);
    }
    return response_json(response, json_pack("{s:o}", "items", items));
}

/* -------------------------------------------------------------------------- one of them */

/* Those of the window, and behind them those that read counters for their processes. */
struct sources {
    uint32_t *location; /* [n] */
    uint32_t n;
};

static void find_sources(struct sources *sources, const struct served *s,
                         const struct window *window)
{
    const struct definitions *defs = &s->run.defs;
    uint32_t n_locations = s->scattered.n_locations;
    bool *is_rank = mem_alloc(defs->n_ranks, sizeof *is_rank);
    bool *is_there = mem_alloc(n_locations, sizeof *is_there);

    *sources = (struct sources){.location = mem_alloc(n_locations, sizeof(uint32_t))};
    for (uint32_t k = 0; k < window->n_locations; k++) {
        uint32_t l = window->location[k];

        is_rank[defs->location[l].rank] = is_there[l] = true;
        if (s->scattered.details.range[l].n[DETAIL_READINGS] > 0)
            sources->location[sources->n++] = l;
    }
    for (uint32_t l = 0; l < n_locations; l++)
        if (!is_there[l] && is_rank[defs->location[l].rank] &&
            call_details_is_recorder(&s->scattered, l))
            sources->location[sources->n++] = l;
    free(is_rank);
    free(is_there);
}

/* What is asked for. */
struct question {
    struct window window;
    uint32_t counter, width;
    struct counter is;
};

static void make_track(struct counter_track *track, const struct served *s,
                       const struct question *q)
{
    const struct window *window = &q->window;
    const struct detail_files *files = &s->scattered.details;
    struct counter_track_window look = {window->begin_ns, window->end_ns, q->width, 0};
    struct sources sources;

    find_sources(&sources, s, window);
    look.most = COUNTER_TRACK_READ / (sources.n > 0 ? sources.n : 1);
    for (uint32_t k = 0; k < sources.n; k++) {
        struct detail_view details = detail_files_view(files, sources.location[k]);

        counter_track_add(track, &details, sources.location[k], q->counter, &q->is, &look);
    }
    free(sources.location);
}

static int answer_track(const struct counter_track *track, const struct detail_counter *of,
                        const struct question *q, struct response *response)
{
    static const char *const reals[] = {"least", "greatest", "mean"};
    static const char *const wholes[] = {"location", "first", "end"};
    size_t n = track->n;
    double *real = mem_alloc(3 * n, sizeof *real);
    uint32_t *whole = mem_alloc(3 * n, sizeof *whole);
    struct bundle bundle = {.n_columns = 0};
    int rc;

    for (size_t i = 0; i < n; i++) {
        const struct counter_piece *p = &track->piece[i];

        real[i] = p->least;
        real[n + i] = p->greatest;
        real[2 * n + i] = p->mean;
        whole[i] = p->location;
        whole[n + i] = p->first;
        whole[2 * n + i] = p->end;
    }
    for (size_t c = 0; c < 3; c++)
        bundle_add(&bundle, wholes[c], BUNDLE_U32, whole + c * n, n);
    for (size_t c = 0; c < 3; c++)
        bundle_add(&bundle, reals[c], BUNDLE_F64, real + c * n, n);
    bundle_say(&bundle, "counter", counter_to_json(of, &q->is));
    bundle_say(&bundle, "begin_ns", json_count(q->window.begin_ns));
    bundle_say(&bundle, "end_ns", json_count(q->window.end_ns));
    bundle_say(&bundle, "width", json_count(q->width));
    bundle_say(&bundle, "n_readings", json_count(track->n_readings));
    bundle_say(&bundle, "n_fell", json_count(track->n_fell));
    bundle_say(&bundle, "is_estimate", json_boolean(track->is_estimate));
    rc = response_bundle(response, &bundle);
    free(real);
    free(whole);
    return rc;
}

int api_counter(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *s = worker->served;
    const struct detail_files *files = &s->scattered.details;
    struct counter_track track = {0};
    struct question q = {.counter = (uint32_t)request->id[0]};
    double width = 0;
    int rc;

    if (request->id[0] >= files->n_counters)
        return err_set(ERR_NOT_FOUND, "the run has %u counters", files->n_counters);
    q.is = files->counter[q.counter].is;
    rc = window_read(&q.window, s, request);
    if (rc == 0)
        rc = request_number(request, "width", 1, MAX_WIDTH, USUAL_WIDTH, &width);
    if (rc == 0 && request_text(request, "end", NULL) == NULL)
        q.window.end_ns++; /* what was read at the very last moment */
    if (rc == 0)
        rc = read_as(request, &q.is);
    if (rc == 0) {
        q.width = (uint32_t)width;
        make_track(&track, s, &q);
        rc = answer_track(&track, &files->counter[q.counter], &q, response);
    }
    counter_track_release(&track);
    window_release(&q.window);
    return rc;
}
