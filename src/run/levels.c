/*
 * Reading. Everything in the index is checked before any of it is followed; of the rectangles
 * only how many there are, so who uses what is in them looks whether it can be.
 */
#include "run/levels.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "run/columns_format.h"
#include "run/levels_format.h"

#include <stdlib.h>
#include <sys/mman.h>

/* ------------------------------------------------------------------------ rectangles */

struct level_rect level_rect_of(const struct call_view *calls, uint32_t row, uint32_t first)
{
    return (struct level_rect){.begin_ns = calls->enter_ns[row],
                               .end_ns = calls->enter_ns[row] + calls->inclusive_ns[row],
                               .first = first,
                               .n_calls = 1,
                               .call = row,
                               .region = calls->region[row]};
}

static bool is_short(const struct level_rect *r, unsigned k)
{
    return r->n_calls > 1 || (r->end_ns - r->begin_ns) >> k == 0;
}

bool level_join(const struct call_view *calls, struct level_rect *a, const struct level_rect *b,
                unsigned k)
{
    if (a->begin_ns >> k != b->begin_ns >> k || !is_short(a, k) || !is_short(b, k))
        return false;
    if (calls->inclusive_ns[b->call] > calls->inclusive_ns[a->call]) {
        a->call = b->call;
        a->region = b->region;
    }
    a->end_ns = b->end_ns;
    a->n_calls += b->n_calls;
    return true;
}

uint32_t level_coarsen(const struct call_view *calls, struct level_rect *rect, uint32_t n,
                       unsigned k)
{
    uint32_t n_left = 0;

    for (uint32_t i = 0; i < n; i++)
        if (n_left == 0 || !level_join(calls, &rect[n_left - 1], &rect[i], k))
            rect[n_left++] = rect[i];
    return n_left;
}

uint32_t level_share(uint32_t *wanted, size_t n, uint64_t most)
{
    if (n > 0)
        qsort(wanted, n, sizeof *wanted, order_u32);
    for (size_t i = 0; i < n; i++) {
        uint64_t equal = most / (n - i);

        if (wanted[i] > equal)
            return equal > 0 ? (uint32_t)equal : 1;
        most -= wanted[i];
    }
    return UINT32_MAX;
}

/* --------------------------------------------------------------------------- opening */

uint64_t levels_checksum(const void *index, size_t bytes)
{
    struct levels_header copy = *(const struct levels_header *)index;

    copy.checksum = 0;
    return checksum_seeded((const char *)index + sizeof copy, bytes - sizeof copy,
                           checksum_of(&copy, sizeof copy));
}

uint64_t levels_columns_sum(const struct columns *columns)
{
    return ((const struct index_header *)((const char *)columns->range -
                                          sizeof(struct index_header)))
        ->checksum;
}

static uint64_t count_lines(const struct columns *columns)
{
    const struct column_range *last = &columns->range[columns->n_locations - 1];

    return columns->n_locations > 0 ? last->first_depth + last->n_depths + 1 : 0;
}

/* What the counts of the header come to; they fit the file, so each is below 2^61. */
static bool sizes_fit(const struct levels *levels)
{
    const struct levels_header *h = levels->header;
    uint64_t words = levels->index.bytes / 8, most = words;

    return levels->index.bytes % 8 == 0 && h->n_lines <= most && h->n_levels <= most &&
           h->n_fences <= most && h->n_spent <= most && h->n_message_fences <= most &&
           sizeof *h / 8 + sizeof(struct level_line) / 8 * h->n_lines +
                   sizeof(struct level_place) / 8 * h->n_levels + h->n_fences + h->n_spent +
                   h->n_message_fences ==
               words &&
           h->n_rects == levels->rects.bytes / sizeof(struct level_rect) &&
           levels->rects.bytes % sizeof(struct level_rect) == 0;
}

static void find_parts(struct levels *levels)
{
    const struct levels_header *h = levels->header;

    levels->line = (const void *)(h + 1);
    levels->level = (const void *)(levels->line + h->n_lines);
    levels->fence = (const void *)(levels->level + h->n_levels);
    levels->spent = levels->fence + h->n_fences;
    levels->message_fence = levels->spent + h->n_spent;
    levels->rect = levels->rects.data;
}

/* Each line has levels, each level rectangles and fences, that are there. */
static bool places_fit(const struct levels *levels)
{
    const struct levels_header *h = levels->header;

    for (uint64_t i = 0; i < h->n_levels; i++) {
        const struct level_place *p = &levels->level[i];
        uint64_t n_fences = levels_fences(p->n, LEVELS_FENCE);

        if (p->n == 0 || p->n > UINT32_MAX || p->n > h->n_rects ||
            p->first_rect > h->n_rects - p->n || n_fences > h->n_fences ||
            p->first_fence > h->n_fences - n_fences)
            return false;
    }
    for (uint64_t i = 0; i < h->n_lines; i++) {
        const struct level_line *line = &levels->line[i];

        if (line->n_levels > LEVELS_FORMAT_MAX ||
            line->finest + line->n_levels > LEVELS_FORMAT_MAX || line->n_levels > h->n_levels ||
            line->first_level > h->n_levels - line->n_levels)
            return false;
    }
    return true;
}

/* Each line has as many sums as its calls need, each location as many fences. */
static bool counts_fit(struct levels *levels)
{
    const struct columns *c = levels->columns;
    uint64_t n_fences = 0, n_spent = 0;

    levels->first_message_fence = mem_alloc(c->n_locations, sizeof(uint64_t));
    for (uint32_t l = 0; l < c->n_locations; l++) {
        struct call_view calls = columns_view(c, l);
        const struct level_line *line = &levels->line[c->range[l].first_depth];

        levels->first_message_fence[l] = n_fences;
        n_fences += levels_fences(calls.n_messages, LEVELS_MESSAGE_FENCE);
        for (uint32_t d = 0; d < calls.n_depths; d++) {
            uint64_t begin = calls.depth_start[d], end = calls.depth_start[d + 1];

            if (begin > end || end > calls.n || line[d].first_spent != n_spent ||
                (line[d].n_levels == 0) != (begin == end))
                return false;
            n_spent += levels_fences(end - begin, LEVELS_SPENT);
        }
    }
    return n_fences == levels->header->n_message_fences && n_spent == levels->header->n_spent;
}

static int check(struct levels *levels)
{
    const struct levels_header *h = levels->header = levels->index.data;

    if (levels->index.bytes < sizeof *h || h->magic != LEVELS_MAGIC ||
        h->version != LEVELS_VERSION || h->n_locations != levels->columns->n_locations ||
        h->columns_sum != levels_columns_sum(levels->columns) ||
        h->n_lines != count_lines(levels->columns) || !sizes_fit(levels) ||
        levels_checksum(h, levels->index.bytes) != h->checksum)
        return err_set(ERR_FORMAT, "calls/levels.index is damaged or of other calls");
    find_parts(levels);
    if (!places_fit(levels) || !counts_fit(levels))
        return err_set(ERR_FORMAT, "calls/levels.index does not fit calls/");
    fs_advise(levels->rects.data, levels->rects.bytes, MADV_RANDOM);
    return 0;
}

int levels_map(struct levels *levels, const struct columns *columns, int index, int rects)
{
    int rc;

    *levels = (struct levels){.columns = columns};
    rc = fs_map_fd(index, LEVELS_INDEX, &levels->index.data, &levels->index.bytes);
    if (rc == 0)
        rc = fs_map_fd(rects, LEVELS_RECTS, &levels->rects.data, &levels->rects.bytes);
    return rc < 0 ? rc : check(levels);
}

int levels_open(struct levels *levels, const struct columns *columns)
{
    int rc;

    *levels = (struct levels){.columns = columns};
    rc = fs_map_at(columns->dir, LEVELS_INDEX, LEVELS_INDEX, &levels->index.data,
                   &levels->index.bytes);
    if (rc == 0)
        rc = fs_map_at(columns->dir, LEVELS_RECTS, LEVELS_RECTS, &levels->rects.data,
                       &levels->rects.bytes);
    return rc < 0 ? rc : check(levels);
}

void levels_close(struct levels *levels)
{
    fs_unmap(levels->index.data, levels->index.bytes);
    fs_unmap(levels->rects.data, levels->rects.bytes);
    free(levels->first_message_fence);
    *levels = (struct levels){0};
}

/* ---------------------------------------------------------------------------- looking */

static const struct level_line *line_of(const struct levels *levels, uint32_t location,
                                        uint32_t depth)
{
    return &levels->line[levels->columns->range[location].first_depth + depth];
}

unsigned levels_of(const struct levels *levels, uint32_t location, uint32_t depth,
                   unsigned *finest)
{
    const struct level_line *line = line_of(levels, location, depth);

    *finest = line->finest;
    return line->n_levels;
}

struct level levels_at(const struct levels *levels, uint32_t location, uint32_t depth,
                       unsigned k)
{
    const struct level_line *line = line_of(levels, location, depth);
    unsigned at = k > line->finest ? k - line->finest : 0;
    const struct level_place *place;

    if (at >= line->n_levels)
        at = line->n_levels - 1;
    place = &levels->level[line->first_level + at];
    return (struct level){levels->rect + place->first_rect, levels->fence + place->first_fence,
                          (uint32_t)place->n};
}

size_t levels_message_from(const struct levels *levels, uint32_t location, uint64_t time_ns)
{
    struct call_view calls = columns_view(levels->columns, location);
    const uint64_t *fence = levels->message_fence + levels->first_message_fence[location];
    uint64_t n = levels_fences(calls.n_messages, LEVELS_MESSAGE_FENCE);
    uint64_t below = lower_bound_u64(fence, n, time_ns);
    size_t i = below > 0 ? (below - 1) * LEVELS_MESSAGE_FENCE : 0;
    size_t end = below * LEVELS_MESSAGE_FENCE;

    if (end > calls.n_messages)
        end = calls.n_messages;
    while (i < end && message_record_ns(&calls.message[i]) < time_ns)
        i++;
    return i;
}

/* Of the calls before number i of a line. */
static uint64_t spent_before(const uint64_t *spent, const struct call_view *calls,
                             const uint32_t *row, uint64_t i)
{
    uint64_t k = i / LEVELS_SPENT * LEVELS_SPENT, sum;

    if (i == 0)
        return 0;
    if (k == i)
        k -= LEVELS_SPENT; /* after the last call there is no sum */
    sum = spent[k / LEVELS_SPENT];
    for (; k < i; k++)
        if (row[k] < calls->n)
            sum += calls->inclusive_ns[row[k]];
    return sum;
}

uint64_t levels_spent(const struct levels *levels, uint32_t location, uint32_t depth,
                      uint64_t begin, uint64_t end)
{
    struct call_view calls = columns_view(levels->columns, location);
    const uint64_t *spent = levels->spent + line_of(levels, location, depth)->first_spent;
    const uint32_t *row = calls.by_depth + calls.depth_start[depth];

    return spent_before(spent, &calls, row, end) - spent_before(spent, &calls, row, begin);
}

uint32_t level_most(const struct level *level, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t n = levels_fences(level->n, LEVELS_FENCE);
    uint64_t begin = lower_bound_u64(level->fence, n, begin_ns);
    uint64_t end = lower_bound_u64(level->fence, n, end_ns);
    uint64_t most = (end - (begin > 0 ? begin - 1 : 0)) * LEVELS_FENCE;

    return (uint32_t)(most < level->n ? most : level->n);
}

/* The first that begins at or after a time. */
static uint32_t first_from(const struct level *level, uint64_t time_ns)
{
    uint64_t n = levels_fences(level->n, LEVELS_FENCE);
    uint64_t below = lower_bound_u64(level->fence, n, time_ns);
    uint64_t i = below > 0 ? (below - 1) * LEVELS_FENCE : 0, end = below * LEVELS_FENCE;

    while (i < end && i < level->n && level->rect[i].begin_ns < time_ns)
        i++;
    return (uint32_t)i;
}

void level_range(const struct level *level, uint64_t begin_ns, uint64_t end_ns, uint32_t *begin,
                 uint32_t *end)
{
    *begin = first_from(level, begin_ns);
    *end = first_from(level, end_ns);
    if (*begin > 0 && level->rect[*begin - 1].end_ns > begin_ns)
        (*begin)--; /* only the one before it can reach into the window */
    if (*end < *begin)
        *end = *begin;
}
