/*
 * Where the next pixel begins is searched from where it would be if calls came as densely as in
 * the pixel before: a few steps instead of log n, and each of them is two reads from memory
 * that is not in the cache.
 */
#include "web/lod.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

/* The calls of one depth. */
struct row_list {
    const struct call_view *calls;
    const uint32_t *row; /* [n] */
    uint64_t n;
    uint32_t location;
    uint16_t depth;
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

/* In a damaged run a row may be none. */
static uint32_t row_at(const struct row_list *list, uint64_t i)
{
    uint32_t row = list->row[i];

    return row < list->calls->n ? row : list->calls->n - 1;
}

static uint64_t enter_at(const struct row_list *list, uint64_t i)
{
    return list->calls->enter_ns[row_at(list, i)];
}

static uint64_t length_at(const struct row_list *list, uint64_t i)
{
    return list->calls->inclusive_ns[row_at(list, i)];
}

static uint64_t leave_at(const struct row_list *list, uint64_t i)
{
    return enter_at(list, i) + length_at(list, i);
}

/* The first call that ends behind a time, or begins at it. */
static uint64_t first_from(const struct row_list *list, uint64_t time_ns)
{
    uint64_t low = 0, high = list->n;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (leave_at(list, middle) > time_ns || enter_at(list, middle) >= time_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Moves a bound by 1, 4, 16, ... calls until it is on the other side of the time. */
static void widen(const struct row_list *list, double time_ns, uint64_t *low, uint64_t *high)
{
    bool is_up = *high == list->n && (double)enter_at(list, *low) < time_ns;

    for (uint64_t step = 1; *high - *low > step; step *= 4) {
        uint64_t at = is_up ? *low + step : *high - step;
        bool is_before = (double)enter_at(list, at) < time_ns;

        *(is_before ? low : high) = at;
        if (is_before != is_up)
            return;
    }
}

/* The first call behind i that is entered at or behind a time; it should be near i + guess. */
static uint64_t next_from(const struct row_list *list, uint64_t i, uint64_t guess,
                          double time_ns)
{
    uint64_t low = i, high = list->n; /* low is entered before, high is not */

    if (guess < high - low) {
        if ((double)enter_at(list, i + guess) < time_ns)
            low = i + guess;
        else
            high = i + guess;
    }
    widen(list, time_ns, &low, &high);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if ((double)enter_at(list, middle) < time_ns)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static uint32_t longest(const struct row_list *list, uint64_t begin, uint64_t end)
{
    uint64_t n = end - begin, looked_at = n < LOD_LOOKED_AT ? n : LOD_LOOKED_AT, best = begin;
    uint64_t best_ns = 0;

    for (uint64_t k = 0; k < looked_at; k++) {
        uint64_t i = begin + k * n / looked_at, length = length_at(list, i);

        if (k == 0 || length > best_ns) {
            best = i;
            best_ns = length;
        }
    }
    return row_at(list, best);
}

static void push(struct lod *lod, const struct row_list *list, uint64_t begin, uint64_t end)
{
    size_t k = lod->n++;
    uint32_t row = longest(list, begin, end);

    lod->begin_ns[k] = (double)enter_at(list, begin);
    lod->end_ns[k] = (double)leave_at(list, end - 1);
    lod->location[k] = list->location;
    lod->depth[k] = list->depth;
    lod->region[k] = list->calls->region[row];
    lod->call[k] = row;
    lod->merged[k] = end - begin < UINT32_MAX ? (uint32_t)(end - begin) : UINT32_MAX;
}

static void add_depth(struct lod *lod, const struct row_list *list,
                      const struct lod_window *window)
{
    double pixel_ns = (double)(window->end_ns - window->begin_ns) / window->width;
    uint64_t i = first_from(list, window->begin_ns), guess = 1;
    size_t most = lod->n + 2 * (size_t)window->width + 2; /* more only in a damaged run */

    reserve(lod, most);
    while (i < list->n && enter_at(list, i) < window->end_ns && lod->n < most) {
        uint64_t enter = enter_at(list, i), k = i + 1;
        double since = enter > window->begin_ns ? (double)(enter - window->begin_ns) : 0;

        if ((double)length_at(list, i) < pixel_ns) {
            double pixel = (double)(uint64_t)(since / pixel_ns) + 1;

            k = next_from(list, i, guess, (double)window->begin_ns + pixel * pixel_ns);
            guess = k - i;
            if (k - 1 > i && (double)length_at(list, k - 1) >= pixel_ns)
                k--; /* the last one that begins in the pixel goes on behind it */
        }
        push(lod, list, i, k);
        i = k;
    }
}

void lod_add(struct lod *lod, uint32_t location, const struct call_view *calls,
             const struct lod_window *window)
{
    for (uint32_t d = 0; d < calls->n_depths && d < window->n_depths && calls->n > 0; d++) {
        uint64_t begin = calls->depth_start[d], end = calls->depth_start[d + 1];
        struct row_list list = {.calls = calls, .location = location, .depth = (uint16_t)d};

        if (begin > end || end > calls->n) /* damaged */
            continue;
        list.row = calls->by_depth + begin;
        list.n = end - begin;
        add_depth(lod, &list, window);
    }
}
