/*
 * Two passes, each over marks in order of time: one pairs begins and ends, by part, as ids may
 * be of all its processes; the other puts the spans, whose ends are known then, on tracks. In
 * memory are the spans that are open, and a number for each id.
 */
#include "trace/chrome/async_spans.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "trace/event.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define LONGEST_SEARCH 4096 /* open spans of an id that an end looks through */

/* A begin whose end has not come yet; those of an id are a list, the last one first. */
struct open_async_span {
    struct mark mark;
    uint32_t below;
    bool is_open; /* else it is in the list of those that are over */
};

struct async_spans {
    struct names category;
    struct idmap id;              /* of an id in its part and category */
    struct idmap group;           /* of (part, category): what is paired together */
    struct idmap line;            /* of (process, category): what shares tracks */
    struct marks *events;         /* by group. link: the id; end_ns: the origin */
    struct marks *spans;          /* by line. link: the id */
    struct open_async_span *open; /* [n_open] of a group */
    size_t n_open, open_cap;
    uint32_t closed; /* list of those that are over, or NONE */
    uint32_t *top;   /* [ids] the last open span, or NONE; while tracks are given: the track */
};

struct async_spans *async_spans_new(size_t budget)
{
    struct async_spans *a = mem_alloc(1, sizeof *a);

    a->events = marks_new(budget);
    a->spans = marks_new(budget);
    a->closed = NONE;
    return a;
}

void async_spans_free(struct async_spans *a)
{
    if (a == NULL)
        return;
    names_release(&a->category);
    idmap_release(&a->id);
    idmap_release(&a->group);
    idmap_release(&a->line);
    marks_free(a->events);
    marks_free(a->spans);
    free(a->open);
    free(a->top);
    free(a);
}

const char *async_spans_category(const struct async_spans *a, uint32_t category)
{
    return a->category.name[category];
}

/* ------------------------------------------------------------------------- pairing */

/* An event has no end; in its place is whose it is. */
static int64_t origin(uint32_t process, bool is_local)
{
    return (int64_t)((uint64_t)process << 1 | is_local);
}

static uint32_t process_of(const struct mark *event)
{
    return (uint32_t)((uint64_t)event->end_ns >> 1);
}

static bool is_local(const struct mark *event)
{
    return event->end_ns & 1;
}

void async_spans_add(struct async_spans *a, const struct async_event *event)
{
    uint32_t category = names_add(&a->category, event->category);
    uint32_t group = idmap_add(&a->group, key_pair(event->part, category));
    struct key id = event->id;
    struct mark mark = event->mark;

    id.high += group;
    mark.link = idmap_add(&a->id, id);
    mark.end_ns = origin(event->process, event->is_local);
    marks_push(a->events, group, &mark);
}

static void open_span(struct async_spans *a, const struct mark *begin)
{
    uint32_t at = a->closed;

    if (at == NONE) {
        mem_grow(&a->open, &a->open_cap, a->n_open + 1);
        at = (uint32_t)a->n_open++;
    } else {
        a->closed = a->open[at].below;
    }
    a->open[at] = (struct open_async_span){*begin, a->top[begin->link], true};
    a->top[begin->link] = at;
}

static bool is_other(const struct mark *begin, const struct mark *end)
{
    return process_of(begin) != process_of(end);
}

/* The place in the list of its id that holds the begin of an end; NULL: there is none. */
static uint32_t *find_begin(struct async_spans *a, const struct mark *end)
{
    uint32_t *in_other = NULL, *at = &a->top[end->link];

    for (int i = 0; *at != NONE && i < LONGEST_SEARCH; i++, at = &a->open[*at].below) {
        const struct mark *begin = &a->open[*at].mark;

        if (end->ref != ANY_REGION && begin->ref != end->ref)
            continue;
        if (!is_other(begin, end))
            return at;
        if (in_other == NULL && !is_local(begin) && !is_local(end))
            in_other = at;
    }
    return in_other;
}

static void push_span(struct async_spans *a, uint32_t category, const struct mark *begin,
                      int64_t end_ns)
{
    uint32_t line = idmap_add(&a->line, key_pair(process_of(begin), category));
    struct mark span = *begin;

    span.phase = 'X';
    span.end_ns = end_ns;
    marks_push(a->spans, line, &span);
}

static void end_span(struct async_spans *a, uint32_t category, const struct mark *end,
                     struct quality *quality)
{
    uint32_t *place = find_begin(a, end), at;

    if (place == NULL) {
        quality->n[QUALITY_open_span]++;
        return;
    }
    at = *place;
    push_span(a, category, &a->open[at].mark, end->time_ns);
    *place = a->open[at].below;
    a->open[at].below = a->closed;
    a->open[at].is_open = false;
    a->closed = at;
}

/* Those of a group that have no end. */
static void end_open(struct async_spans *a, uint32_t category, int64_t last_ns,
                     struct quality *quality)
{
    for (size_t i = 0; i < a->n_open; i++) {
        if (!a->open[i].is_open)
            continue;
        push_span(a, category, &a->open[i].mark, last_ns);
        a->top[a->open[i].mark.link] = NONE;
        quality->n[QUALITY_open_span]++;
    }
    a->n_open = 0;
    a->closed = NONE;
}

/* Returns false where the temporary file could not be read. */
static bool pair_group(struct async_spans *a, uint32_t group, const int64_t *last_ns,
                       struct quality *quality)
{
    uint32_t part = (uint32_t)a->group.key[group].high;
    uint32_t category = (uint32_t)a->group.key[group].low;
    struct marks_cursor *cursor = marks_cursor_new(a->events, &group, NULL, 1);
    const struct mark *mark;
    bool is_whole;

    while ((mark = marks_cursor_next(cursor)) != NULL) {
        if (mark->phase == 'b')
            open_span(a, mark);
        else
            end_span(a, category, mark, quality);
    }
    end_open(a, category, last_ns[part], quality);
    is_whole = !marks_cursor_is_broken(cursor);
    marks_cursor_free(cursor);
    return is_whole;
}

/* ------------------------------------------------------------------------- tracks */

struct async_track {
    int64_t busy_until_ns;
    uint32_t id;     /* whose spans it has until then */
    int64_t *end_ns; /* [n] of those that are open, each within the one before */
    size_t n, cap;
};

/* A tree over tracks finds the first that is free: each node has the least of its two below. */
struct tracks {
    struct async_track *track; /* [n] */
    size_t n, cap;
    int64_t *least_ns; /* [2 x room] from 1 on; those from `room` on are the tracks' own */
    size_t room;       /* a power of two, or 0 */
    uint32_t *of_id;   /* [ids] the track whose spans of an id last longest; or anything */
};

static void set_busy(struct tracks *tracks, size_t t, int64_t until_ns)
{
    int64_t *least = tracks->least_ns;
    size_t i = tracks->room + t;

    tracks->track[t].busy_until_ns = least[i] = until_ns;
    for (i /= 2; i > 0; i /= 2)
        least[i] = least[2 * i] < least[2 * i + 1] ? least[2 * i] : least[2 * i + 1];
}

static void add_track(struct tracks *tracks)
{
    size_t t = tracks->n++;

    mem_grow(&tracks->track, &tracks->cap, tracks->n);
    tracks->track[t] = (struct async_track){.id = NONE};
    if (t == tracks->room) {
        tracks->room = t ? 2 * t : 1;
        free(tracks->least_ns);
        tracks->least_ns = mem_alloc(2 * tracks->room, sizeof *tracks->least_ns);
        for (size_t i = 1; i < 2 * tracks->room; i++)
            tracks->least_ns[i] = INT64_MAX;
        for (size_t i = 0; i < t; i++)
            set_busy(tracks, i, tracks->track[i].busy_until_ns);
    }
    set_busy(tracks, t, INT64_MIN);
}

static uint32_t first_free(struct tracks *tracks, int64_t time_ns)
{
    size_t i = 1;

    if (tracks->room == 0 || tracks->least_ns[1] > time_ns) {
        add_track(tracks);
        return (uint32_t)tracks->n - 1;
    }
    while (i < tracks->room)
        i = tracks->least_ns[2 * i] <= time_ns ? 2 * i : 2 * i + 1;
    return (uint32_t)(i - tracks->room);
}

/* Whether a span is within those of its id that are open on the track. */
static bool is_nested(struct async_track *track, const struct mark *span)
{
    if (span->time_ns >= track->busy_until_ns)
        return false;
    while (track->n > 0 && track->end_ns[track->n - 1] <= span->time_ns)
        track->n--;
    return track->n > 0 && span->end_ns <= track->end_ns[track->n - 1];
}

/* The track that has the spans of this id now, NULL: none has. */
static struct async_track *track_of(struct tracks *tracks, uint32_t id)
{
    uint32_t t = tracks->of_id[id];

    return t < tracks->n && tracks->track[t].id == id ? &tracks->track[t] : NULL;
}

/* One of no time takes a nanosecond, that nothing else be within it. */
static uint32_t place_span(struct tracks *tracks, const struct mark *span)
{
    struct async_track *track = track_of(tracks, span->link);
    uint32_t t = tracks->of_id[span->link];

    if (track == NULL || !is_nested(track, span)) {
        bool is_last = track == NULL || track->busy_until_ns < span->end_ns;

        t = first_free(tracks, span->time_ns);
        tracks->track[t].id = span->link;
        tracks->track[t].n = 0;
        set_busy(tracks, t, span->end_ns + (span->end_ns == span->time_ns));
        if (is_last)
            tracks->of_id[span->link] = t;
    }
    track = &tracks->track[t];
    *mem_push(&track->end_ns, &track->n, &track->cap) = span->end_ns;
    return t;
}

/* Returns false where the temporary file could not be read. */
static bool place_line(struct async_spans *a, uint32_t line,
                       void (*take)(void *ctx, const struct async_span *span), void *ctx)
{
    struct marks_cursor *cursor = marks_cursor_new(a->spans, &line, NULL, 1);
    struct tracks tracks = {.of_id = a->top};
    const struct mark *mark;
    bool is_whole;

    while ((mark = marks_cursor_next(cursor)) != NULL) {
        struct async_span span = {.process = (uint32_t)a->line.key[line].high,
                                  .category = (uint32_t)a->line.key[line].low,
                                  .track = place_span(&tracks, mark),
                                  .mark = *mark};

        span.mark.link = MARKS_NO_LINK;
        take(ctx, &span);
    }
    is_whole = !marks_cursor_is_broken(cursor);
    marks_cursor_free(cursor);
    for (size_t t = 0; t < tracks.n; t++)
        free(tracks.track[t].end_ns);
    free(tracks.track);
    free(tracks.least_ns);
    return is_whole;
}

int async_spans_end(struct async_spans *a, const int64_t *last_ns, struct quality *quality,
                    void (*take)(void *ctx, const struct async_span *span), void *ctx)
{
    bool is_whole = true;
    int rc = marks_end(a->events);

    a->top = mem_alloc(a->id.n, sizeof *a->top);
    for (uint32_t id = 0; id < a->id.n; id++)
        a->top[id] = NONE;
    for (uint32_t group = 0; rc == 0 && group < a->group.n; group++)
        is_whole &= pair_group(a, group, last_ns, quality);
    if (rc == 0)
        rc = marks_end(a->spans);
    for (uint32_t line = 0; rc == 0 && line < a->line.n; line++)
        is_whole &= place_line(a, line, take, ctx);
    return rc == 0 && !is_whole ? err_set(ERR_IO, "cannot read a temporary file") : rc;
}
