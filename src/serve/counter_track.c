/*
 * Readings come one after another. Those at one time are a moment; between two moments lies a
 * stretch of one level, which is spread over the columns it covers. Each stretch and each
 * column is gone through once.
 */
#include "serve/counter_track.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

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

struct reduction {
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

static struct cell *seen(struct reduction *r, uint32_t column, double level)
{
    struct cell *cell = &r->cell[column];

    cell->least = !cell->is_known || level < cell->least ? level : cell->least;
    cell->greatest = !cell->is_known || level > cell->greatest ? level : cell->greatest;
    cell->is_known = true;
    return cell;
}

/* A level that lasted from a time to another; its part in the window. */
static void spread(struct reduction *r, uint64_t from_ns, uint64_t until_ns, double level)
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
static double level_of(struct reduction *r, double ns)
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
static void end_moment(struct reduction *r)
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
static void look_at(struct reduction *r, const struct detail_reading *reading)
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

static void look_at_all(struct reduction *r, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (reading_counter(&r->details->reading[i]) == r->counter)
            look_at(r, &r->details->reading[i]);
}

/* All that was read at the last time before the i-th reading, if that is near. */
static void look_before(struct reduction *r, size_t i)
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
static void look_behind(struct reduction *r, size_t i)
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
static void look_at_some(struct reduction *r, size_t begin, size_t end)
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

static void reduce(struct reduction *r)
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
    mem_grow(&track->piece, &track->cap, track->n + 1, sizeof *track->piece);
    track->piece[track->n++] = piece;
}

void counter_track_add(struct counter_track *track, const struct detail_view *details,
                       uint32_t location, uint32_t counter, const struct counter *is,
                       const struct counter_track_window *window)
{
    struct reduction r = {.details = details,
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
