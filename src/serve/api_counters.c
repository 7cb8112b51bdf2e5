/*
 * What counters read over time: which there are, and one of them in a window.
 *
 * Readings come one after another. Those at one time are a moment; between two moments lies a
 * stretch of one level, which is spread over the columns of the picture that it covers. Each
 * stretch and each column is gone through once.
 */
#include "serve/api_counters.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "serve/api.h"
#include "serve/api_calls.h"
#include "serve/served.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* What is known of a column. */
struct cell {
    double least, greatest;
    double sum, known_ns; /* of levels, each by the time it lasted */
    bool is_known;
};

/* What was read at one time. */
struct moment {
    const struct detail_reading *last; /* NULL: nothing */
    double sum;
};

struct reducing {
    const struct detail_view *details;
    const struct counter_track_window *window;
    const struct counter *is;
    uint32_t counter;
    struct cell *cell; /* [window->width] */
    struct moment before, now;
    bool is_rate, is_back; /* is_back: a value is of the time before it */
    uint64_t n_readings, n_fell;
    bool is_estimate;
};

bool counter_track_is_rate(const struct counter *is)
{
    return is->mode == COUNTER_ACCUMULATED ||
           (is->mode == COUNTER_RELATIVE &&
            (is->span == COUNTER_SINCE_LAST || is->span == COUNTER_UNTIL_NEXT));
}

void counter_track_release(struct counter_track *track)
{
    free(track->piece);
    *track = (struct counter_track){0};
}

/* ------------------------------------------------------------------------------ columns */

static double column_ns(const struct counter_track_window *w)
{
    return (double)(w->end_ns - w->begin_ns) / w->width;
}

static uint32_t column_of(const struct counter_track_window *w, double since_ns)
{
    double column = since_ns / column_ns(w);

    return column < 0 ? 0 : column < w->width ? (uint32_t)column : w->width - 1;
}

static struct cell *seen(struct reducing *r, uint32_t column, double level)
{
    struct cell *cell = &r->cell[column];

    cell->least = !cell->is_known || level < cell->least ? level : cell->least;
    cell->greatest = !cell->is_known || level > cell->greatest ? level : cell->greatest;
    cell->is_known = true;
    return cell;
}

/* A level that lasted from a time to another; its part in the window. */
static void spread(struct reducing *r, uint64_t from_ns, uint64_t until_ns, double level)
{
    const struct counter_track_window *w = r->window;
    double step = column_ns(w), from, until;

    from_ns = from_ns > w->begin_ns ? from_ns : w->begin_ns;
    until_ns = until_ns < w->end_ns ? until_ns : w->end_ns;
    if (from_ns >= until_ns || !isfinite(level))
        return;
    from = (double)(from_ns - w->begin_ns);
    until = (double)(until_ns - w->begin_ns);
    for (uint32_t c = column_of(w, from); c < w->width && c * step < until; c++) {
        double begin = c * step, end = (c + 1) * step;
        double part = (until < end ? until : end) - (from > begin ? from : begin);
        struct cell *cell;

        if (part <= 0)
            continue;
        cell = seen(r, c, level);
        cell->sum += level * part;
        cell->known_ns += part;
    }
}

/* ------------------------------------------------------------------------------ readings */

static double growth(const struct detail_reading *from, const struct detail_reading *to)
{
    int64_t whole;

    if (!((from->counter | to->counter) & READING_REAL) &&
        !__builtin_sub_overflow(to->whole, from->whole, &whole))
        return (double)whole;
    return reading_value(to) - reading_value(from);
}

/* The level between two moments; NAN: it is not known. */
static double level_of(struct reducing *r, double ns)
{
    double by;

    if (!r->is_rate)
        return reading_value((r->is_back ? &r->now : &r->before)->last);
    if (r->is->mode == COUNTER_ACCUMULATED) {
        by = growth(r->before.last, r->now.last);
        r->n_fell += by < 0;
        by = by < 0 ? NAN : by;
    } else {
        by = r->is_back ? r->now.sum : r->before.sum;
    }
    return by / ns * NS_PER_S;
}

/* What was read at one time is complete. */
static void end_moment(struct reducing *r)
{
    const struct detail_reading *from = r->before.last, *to = r->now.last;

    if (to && from && to->time_ns > from->time_ns)
        spread(r, from->time_ns, to->time_ns,
               level_of(r, (double)(to->time_ns - from->time_ns)));
    if (to)
        r->before = r->now;
    r->now = (struct moment){0};
}

/* A value is seen where it was read, however short it lasted, unless it is of the time before.
 */
static void look_at(struct reducing *r, const struct detail_reading *reading)
{
    const struct counter_track_window *w = r->window;
    bool is_inside = reading->time_ns >= w->begin_ns && reading->time_ns < w->end_ns;
    double value = reading_value(reading);

    if (r->now.last && r->now.last->time_ns != reading->time_ns)
        end_moment(r);
    r->now.last = reading;
    r->now.sum += value;
    r->n_readings += is_inside;
    if (is_inside && !r->is_rate && !r->is_back && isfinite(value))
        seen(r, column_of(w, (double)(reading->time_ns - w->begin_ns)), value);
}

static void look_at_all(struct reducing *r, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (reading_counter(&r->details->reading[i]) == r->counter)
            look_at(r, &r->details->reading[i]);
}

/* All that was read at the last time before the i-th reading, if that is near. */
static void look_before(struct reducing *r, size_t i)
{
    const struct detail_reading *all = r->details->reading;
    size_t least = i > COUNTER_TRACK_BESIDE ? i - COUNTER_TRACK_BESIDE : 0, from = i;

    while (from > least && reading_counter(&all[from - 1]) != r->counter)
        from--;
    if (from == least)
        return;
    for (uint64_t ns = all[from - 1].time_ns; from > least && all[from - 1].time_ns == ns;)
        from--;
    look_at_all(r, from, i);
}

/* ... and at the first time from the i-th on. */
static void look_behind(struct reducing *r, size_t i)
{
    const struct detail_view *d = r->details;
    size_t end =
        d->n_readings - i < COUNTER_TRACK_BESIDE ? d->n_readings : i + COUNTER_TRACK_BESIDE;

    for (uint64_t found_ns = UINT64_MAX; i < end && d->reading[i].time_ns <= found_ns; i++)
        if (reading_counter(&d->reading[i]) == r->counter) {
            look_at(r, &d->reading[i]);
            found_ns = d->reading[i].time_ns;
        }
    end_moment(r);
}

/* Of too many, the first of each column: what lies between two columns is not known then. */
static void look_at_some(struct reducing *r, size_t begin, size_t end)
{
    const struct counter_track_window *w = r->window;
    size_t each = w->most / w->width > 2 ? w->most / w->width : 2, at = begin;

    for (uint32_t c = 0; c < w->width; c++) {
        double until = (double)w->begin_ns + (c + 1) * column_ns(w);
        size_t next =
            c + 1 == w->width ? end : details_readings_before(r->details, (uint64_t)until);

        next = next > end ? end : next < at ? at : next;
        look_at_all(r, at, next - at > each ? at + each : next);
        if (next - at > each) {
            end_moment(r);
            r->before = (struct moment){0};
            r->is_estimate = true;
        }
        at = next;
    }
}

static void reduce(struct reducing *r)
{
    const struct counter_track_window *w = r->window;
    size_t begin = details_readings_before(r->details, w->begin_ns);
    size_t end = details_readings_before(r->details, w->end_ns);

    look_before(r, begin);
    if (end > begin && end - begin > w->most)
        look_at_some(r, begin, end);
    else
        look_at_all(r, begin, end);
    look_behind(r, end);
}

/* -------------------------------------------------------------------------------- pieces */

static void add_piece(struct counter_track *track, uint32_t location, uint32_t column,
                      const struct cell *cell)
{
    struct counter_piece piece = {
        location,       column,
        column + 1,     cell->least,
        cell->greatest, cell->known_ns > 0 ? cell->sum / cell->known_ns : cell->least};
    struct counter_piece *last = track->n > 0 ? &track->piece[track->n - 1] : NULL;

    if (piece.mean < piece.least || piece.mean > piece.greatest) /* as it was rounded */
        piece.mean = piece.mean < piece.least ? piece.least : piece.greatest;
    if (last && last->location == location && last->end == column &&
        last->least == piece.least && last->greatest == piece.greatest &&
        last->mean == piece.mean) {
        last->end++;
        return;
    }
    *mem_push(&track->piece, &track->n, &track->cap) = piece;
}

void counter_track_add(struct counter_track *track, const struct detail_view *details,
                       uint32_t location, uint32_t counter, const struct counter *is,
                       const struct counter_track_window *window)
{
    struct reducing r = {.details = details,
                         .window = window,
                         .is = is,
                         .counter = counter,
                         .is_rate = counter_track_is_rate(is),
                         .is_back = is->span == COUNTER_SINCE_LAST};

    if (details->n_readings == 0)
        return;
    r.cell = mem_alloc(window->width, sizeof *r.cell);
    reduce(&r);
    for (uint32_t c = 0; c < window->width; c++)
        if (r.cell[c].is_known)
            add_piece(track, location, c, &r.cell[c]);
    track->n_readings += r.n_readings;
    track->n_fell += r.n_fell;
    track->is_estimate |= r.is_estimate;
    free(r.cell);
}

/* ------------------------------------------------------------------------------ the answers */

#define MAX_WIDTH 8192
#define TYPICAL_WIDTH 1000

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
struct counter_asked {
    struct window window;
    uint32_t counter, width;
    struct counter is;
};

static void make_track(struct counter_track *track, const struct served *s,
                       const struct counter_asked *q)
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
                        const struct counter_asked *q, struct response *response)
{
#define PIECE(name, type) BUNDLE_FIELD(#name, type, struct counter_piece, name)
    static const struct bundle_field field[] = {
        PIECE(location, BUNDLE_U32), PIECE(first, BUNDLE_U32),    PIECE(end, BUNDLE_U32),
        PIECE(least, BUNDLE_F64),    PIECE(greatest, BUNDLE_F64), PIECE(mean, BUNDLE_F64)};
    struct bundle bundle = {.n_columns = 0};

    bundle_gather(&bundle, field, sizeof field / sizeof *field, track->piece, track->n,
                  sizeof *track->piece);
    bundle_say(&bundle, "counter", counter_to_json(of, &q->is));
    bundle_say(&bundle, "begin_ns", json_count(q->window.begin_ns));
    bundle_say(&bundle, "end_ns", json_count(q->window.end_ns));
    bundle_say(&bundle, "width", json_count(q->width));
    bundle_say(&bundle, "n_readings", json_count(track->n_readings));
    bundle_say(&bundle, "n_fell", json_count(track->n_fell));
    bundle_say(&bundle, "is_estimate", json_boolean(track->is_estimate));
    return response_bundle(response, &bundle);
}

int api_counter(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *s = worker->served;
    const struct detail_files *files = &s->scattered.details;
    struct counter_track track = {0};
    struct counter_asked q = {.counter = (uint32_t)request->id[0]};
    double width = 0;
    int rc;

    if (request->id[0] >= files->n_counters)
        return err_set(ERR_NOT_FOUND, "the run has %u counters", files->n_counters);
    q.is = files->counter[q.counter].is;
    rc = window_read(&q.window, s, request);
    if (rc == 0)
        rc = request_number(request, "width", 1, MAX_WIDTH, TYPICAL_WIDTH, &width);
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
