/*
 * Two passes over the lines: how many rectangles each would like to have, then, with what it
 * gets, the rectangles. The first looks at the fences only, which are in memory.
 */
#include "serve/lod.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FEW_CALLS 1024u     /* are looked at whatever the share */
#define DENSE_ROWS 512u     /* of a column that has one of them on each of its pages */
#define CALLS_PER_SHARE 32u /* for each rectangle of the share as many more */

/* The calls of one depth of a location. */
struct line {
    struct call_view calls;
    const struct levels *levels; /* NULL: none */
    uint32_t location;
    uint16_t depth;
    const uint32_t *row; /* [n] */
    uint64_t n;
    unsigned finest, n_levels;
    uint64_t begin, end; /* below the finest level: the calls that it comes to */
    uint32_t wanted;     /* rectangles, about; no fewer than there are */
};

struct lines {
    struct line *line; /* [n] */
    size_t n;
};

void lod_release(struct lod *lod)
{
    free(lod->begin_ns);
    free(lod->end_ns);
    free(lod->location);
    free(lod->depth);
    free(lod->region);
    free(lod->call);
    free(lod->merged);
    *lod = (struct lod){0};
}

static void reserve(struct lod *lod, size_t n)
{
    if (n <= lod->cap)
        return;
    lod->cap = n > 2 * lod->cap ? n : 2 * lod->cap;
    lod->begin_ns = mem_resize(lod->begin_ns, lod->cap, sizeof *lod->begin_ns);
    lod->end_ns = mem_resize(lod->end_ns, lod->cap, sizeof *lod->end_ns);
    lod->location = mem_resize(lod->location, lod->cap, sizeof *lod->location);
    lod->depth = mem_resize(lod->depth, lod->cap, sizeof *lod->depth);
    lod->region = mem_resize(lod->region, lod->cap, sizeof *lod->region);
    lod->call = mem_resize(lod->call, lod->cap, sizeof *lod->call);
    lod->merged = mem_resize(lod->merged, lod->cap, sizeof *lod->merged);
}

/* Those of them that reach into the window. */
static void push(struct lod *lod, const struct line *line, const struct level_rect *rect,
                 uint32_t n, const struct lod_window *window)
{
    reserve(lod, lod->n + n);
    for (uint32_t i = 0; i < n; i++) {
        size_t k = lod->n;

        if (rect[i].begin_ns >= window->end_ns ||
            (rect[i].begin_ns < window->begin_ns && rect[i].end_ns <= window->begin_ns))
            continue;
        lod->begin_ns[k] = (double)rect[i].begin_ns;
        lod->end_ns[k] = (double)rect[i].end_ns;
        lod->location[k] = line->location;
        lod->depth[k] = line->depth;
        lod->region[k] = rect[i].region;
        lod->call[k] = rect[i].call < line->calls.n ? rect[i].call : line->calls.n - 1;
        lod->merged[k] = rect[i].n_calls;
        lod->n++;
    }
}

/* ------------------------------------------------------------ single calls of a line */

/* In a damaged run a row may be none. */
static uint32_t row_at(const struct line *line, uint64_t i)
{
    uint32_t row = line->row[i];

    return row < line->calls.n ? row : line->calls.n - 1;
}

static uint64_t enter_at(const struct line *line, uint64_t i)
{
    return line->calls.enter_ns[row_at(line, i)];
}

static uint64_t length_at(const struct line *line, uint64_t i)
{
    return line->calls.inclusive_ns[row_at(line, i)];
}

/* The first call that is entered at or after a time; it is low or after it. */
static uint64_t first_from(const struct line *line, uint64_t low, uint64_t time_ns)
{
    return FIRST_NOT(i, low, line->n, enter_at(line, i) < time_ns);
}

/* Moves a bound by 1, 4, 16, ... calls until it is on the other side of the time. */
static void widen(const struct line *line, uint64_t time_ns, uint64_t *low, uint64_t *high)
{
    bool is_up = *high == line->n && enter_at(line, *low) < time_ns;

    for (uint64_t step = 1; *high - *low > step; step *= 4) {
        uint64_t at = is_up ? *low + step : *high - step;
        bool is_before = enter_at(line, at) < time_ns;

        *(is_before ? low : high) = at;
        if (is_before != is_up)
            return;
    }
}

/* As first_from after call i, which is before; it should be near i + guess. */
static uint64_t next_from(const struct line *line, uint64_t i, uint64_t guess, uint64_t time_ns)
{
    uint64_t low = i, high = line->n; /* low is entered before, high is not */

    if (guess < high - low)
        *(enter_at(line, i + guess) < time_ns ? &low : &high) = i + guess;
    widen(line, time_ns, &low, &high);
    return FIRST_NOT(k, low + 1, high, enter_at(line, k) < time_ns);
}

/* ----------------------------------------------------------------- without levels */

/* Calls begin .. end - 1 as one rectangle. */
static struct level_rect merge(const struct line *line, uint64_t begin, uint64_t end)
{
    uint64_t n = end - begin, looked_at = n < LOD_LOOKED_AT ? n : LOD_LOOKED_AT, longest = 0;
    struct level_rect r = level_rect_of(&line->calls, row_at(line, begin), (uint32_t)begin);

    r.end_ns = enter_at(line, end - 1) + length_at(line, end - 1);
    r.n_calls = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    for (uint64_t k = 0; k < looked_at; k++) {
        uint32_t row = row_at(line, begin + k * n / looked_at);

        if (k > 0 && line->calls.inclusive_ns[row] <= longest)
            continue;
        longest = line->calls.inclusive_ns[row];
        r.call = row;
        r.region = line->calls.region[row];
    }
    return r;
}

/* Level k of the window. Returns how many, or most + 1 when there are more. */
static uint32_t search(const struct line *line, const struct lod_window *window, unsigned k,
                       struct level_rect *rect, uint32_t most)
{
    uint64_t i = first_from(line, 0, window->begin_ns >> k << k), guess = 1, next;
    uint32_t n = 0;

    if (i > 0 && enter_at(line, i - 1) + length_at(line, i - 1) > window->begin_ns) {
        i--;
        if (length_at(line, i) >> k == 0)
            i = first_from(line, 0, enter_at(line, i) >> k << k);
    }
    for (; i < line->n && enter_at(line, i) < window->end_ns; i = next) {
        if (n == most)
            return most + 1;
        next = i + 1;
        if (length_at(line, i) >> k == 0) {
            next = next_from(line, i, guess, ((enter_at(line, i) >> k) + 1) << k);
            guess = next - i;
            if (next - 1 > i && length_at(line, next - 1) >> k > 0)
                next--; /* the last one that begins in the interval goes on after it */
        }
        rect[n++] = merge(line, i, next);
    }
    return n;
}

/* ------------------------------------------------------------------ what lines want */

unsigned lod_interval(const struct lod_window *window)
{
    uint64_t pixel_ns = (window->end_ns - window->begin_ns) / window->width;
    unsigned k = 0;

    while (pixel_ns >> k > 1)
        k++;
    return k;
}

static uint32_t at_most(uint64_t n, const struct lod_window *window)
{
    uint64_t most = 4 * (uint64_t)window->width + 2;

    return (uint32_t)(n < most ? n : most);
}

static void measure(struct line *line, const struct lod_window *window, unsigned k)
{
    if (line->levels == NULL) {
        line->begin = first_from(line, 0, window->begin_ns);
        line->end = first_from(line, line->begin, window->end_ns);
        line->wanted = at_most(line->end - line->begin + 1, window);
        return;
    }
    line->n_levels = levels_of(line->levels, line->location, line->depth, &line->finest);
    if (k < line->finest) {
        struct level level = levels_at(line->levels, line->location, line->depth, line->finest);
        uint32_t begin, end;

        level_range(&level, window->begin_ns, window->end_ns, &begin, &end);
        if (begin < end) {
            const struct level_rect *last = &level.rect[end - 1];

            line->begin = level.rect[begin].first;
            line->end = (uint64_t)last->first + last->n_calls;
        }
        if (line->end > line->n || line->begin > line->end)
            line->begin = line->end = line->n; /* damaged */
        line->wanted = at_most(line->end - line->begin, window);
    } else {
        struct level level = levels_at(line->levels, line->location, line->depth, k);

        line->wanted = level_most(&level, window->begin_ns, window->end_ns);
    }
}

static void add_lines(struct lines *lines, const struct columns *columns,
                      const struct levels *levels, uint32_t location, uint32_t n_depths)
{
    struct line line = {
        .calls = columns_view(columns, location), .levels = levels, .location = location};

    for (uint32_t d = 0; d < line.calls.n_depths && d < n_depths; d++) {
        uint64_t begin = line.calls.depth_start[d], end = line.calls.depth_start[d + 1];

        if (begin >= end || end > line.calls.n) /* none, or damaged */
            continue;
        line.depth = (uint16_t)d;
        line.row = line.calls.by_depth + begin;
        line.n = end - begin;
        lines->line[lines->n++] = line;
    }
}

/* So much that, if nobody has more, they have `most` together. */
static uint32_t share_of(const struct lines *lines, uint32_t most)
{
    uint32_t *wanted = mem_alloc(lines->n, sizeof *wanted), share;

    for (size_t i = 0; i < lines->n; i++)
        wanted[i] = lines->line[i].wanted;
    share = level_share(wanted, lines->n, most);
    free(wanted);
    return share;
}

/* -------------------------------------------------------------------------- rectangles */

static void add_searched(struct lod *lod, const struct line *line,
                         const struct lod_window *window, unsigned k, uint32_t share)
{
    uint32_t most = at_most(UINT32_MAX, window), n;
    struct level_rect *rect;

    most = share < most ? share : most;
    rect = mem_alloc(most, sizeof *rect);
    while ((n = search(line, window, k, rect, most)) > most && k < 62)
        k++;
    push(lod, line, rect, n < most ? n : most, window);
    free(rect);
}

/* Reads what add_calls will look at, if it will look at every page of it. */
static void read_ahead(const struct line *line)
{
    const struct call_view *c = &line->calls;
    uint64_t n = line->end - line->begin;
    uint32_t begin, rows;

    fs_advise(line->row + line->begin, n * sizeof *line->row, MADV_WILLNEED);
    if (n == 0)
        return;
    begin = row_at(line, line->begin);
    rows = row_at(line, line->end - 1) - begin + 1;
    if (rows > c->n - begin || rows > DENSE_ROWS * n)
        return;
    fs_advise(c->enter_ns + begin, rows * sizeof *c->enter_ns, MADV_WILLNEED);
    fs_advise(c->inclusive_ns + begin, rows * sizeof *c->inclusive_ns, MADV_WILLNEED);
    fs_advise(c->region + begin, rows * sizeof *c->region, MADV_WILLNEED);
}

static void add_level(struct lod *lod, const struct line *line, const struct lod_window *window,
                      unsigned k, uint32_t share)
{
    struct level level = levels_at(line->levels, line->location, line->depth, k);
    uint32_t begin, end;

    if (k < line->finest)
        k = line->finest;
    while (level_most(&level, window->begin_ns, window->end_ns) > share &&
           k + 1 < line->finest + line->n_levels)
        level = levels_at(line->levels, line->location, line->depth, ++k);
    level_range(&level, window->begin_ns, window->end_ns, &begin, &end);
    fs_advise(level.rect + begin, (end - begin) * sizeof *level.rect, MADV_WILLNEED);
    push(lod, line, level.rect + begin, end - begin, window);
}

/* Of the calls themselves; intervals are doubled until there are as few as wanted. At the edges
 * they are whole up to the finest level. */
static void add_calls(struct lod *lod, const struct line *line, const struct lod_window *window,
                      unsigned k, uint32_t share)
{
    struct level_rect *rect = mem_alloc(line->end - line->begin, sizeof *rect);
    uint64_t *longest_ns = mem_alloc(line->end - line->begin, sizeof *longest_ns);
    uint32_t n = 0;

    read_ahead(line);
    for (uint64_t i = line->begin; i < line->end; i++) {
        rect[n] = level_rect_of(&line->calls, row_at(line, i), (uint32_t)i);
        longest_ns[n] = length_at(line, i);
        if (n == 0 || !level_join(&rect[n - 1], &longest_ns[n - 1], &rect[n], longest_ns[n], k))
            n++;
    }
    while (n > share && k + 1 < line->finest)
        n = level_coarsen(rect, longest_ns, n, ++k);
    free(longest_ns);
    if (n > share)
        add_level(lod, line, window, line->finest, share);
    else
        push(lod, line, rect, n, window);
    free(rect);
}

static void add(struct lod *lod, const struct line *line, const struct lod_window *window,
                unsigned k, uint32_t share)
{
    uint64_t n_calls = line->end - line->begin, many = FEW_CALLS;

    if (line->levels == NULL) {
        add_searched(lod, line, window, k, share);
        return;
    }
    many += CALLS_PER_SHARE * (uint64_t)(share < line->wanted ? share : line->wanted);
    if (k < line->finest && n_calls <= many)
        add_calls(lod, line, window, k, share);
    else
        add_level(lod, line, window, k, share);
}

void lod_make(struct lod *lod, const struct columns *columns, const struct levels *levels,
              const uint32_t *location, uint32_t n_locations, const struct lod_window *window)
{
    unsigned k = lod_interval(window);
    struct lines lines = {.n = 0};
    size_t most = 0;
    uint32_t share;

    for (uint32_t i = 0; i < n_locations; i++)
        most += columns->range[location[i]].n_depths;
    lines.line = mem_alloc(most, sizeof *lines.line);
    for (uint32_t i = 0; i < n_locations; i++)
        add_lines(&lines, columns, levels, location[i], window->n_depths);
    for (size_t i = 0; i < lines.n; i++)
        measure(&lines.line[i], window, k);
    share = share_of(&lines, window->most);
    for (size_t i = 0; i < lines.n; i++)
        add(lod, &lines.line[i], window, k, share);
    free(lines.line);
}
