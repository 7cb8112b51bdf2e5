/*
 * Reading: everything in the index is checked before any of it is followed; of the rectangles
 * only how many there are, so who uses what is in them looks whether it can be.
 *
 * Making: the calls of a location are gone through once, in preorder, which is the order of
 * time within each depth. Each depth begins with intervals of 1 ns; whenever it has more
 * rectangles than it may keep, intervals are doubled until it has half as many. What is left
 * is its finest level, from which the coarser ones follow. Locations are made by any thread,
 * and get their place in the files in order.
 */
#include "run/levels.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sequence.h"
#include "run/columns_format.h"
#include "run/levels_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* The time of the longest call stands beside the rectangle: to look it up among the calls would
 * read them here and there. */
static inline bool join(struct level_rect *a, uint64_t *a_ns, const struct level_rect *b,
                        uint64_t b_ns, unsigned k)
{
    if (a->begin_ns >> k != b->begin_ns >> k || !is_short(a, k) || !is_short(b, k))
        return false;
    if (b_ns > *a_ns) {
        *a_ns = b_ns;
        a->call = b->call;
        a->region = b->region;
    }
    a->end_ns = b->end_ns;
    a->n_calls += b->n_calls;
    return true;
}

bool level_join(struct level_rect *a, uint64_t *a_ns, const struct level_rect *b, uint64_t b_ns,
                unsigned k)
{
    return join(a, a_ns, b, b_ns, k);
}

uint32_t level_coarsen(struct level_rect *rect, uint64_t *longest_ns, uint32_t n, unsigned k)
{
    uint32_t n_left = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (n_left > 0 &&
            join(&rect[n_left - 1], &longest_ns[n_left - 1], &rect[i], longest_ns[i], k))
            continue;
        rect[n_left] = rect[i];
        longest_ns[n_left++] = longest_ns[i];
    }
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

/* How the index knows its columns. */
static uint64_t levels_columns_sum(const struct columns *columns)
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
                   sizeof(struct level_rects) / 8 * h->n_levels + h->n_fences + h->n_spent +
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
        const struct level_rects *p = &levels->level[i];
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
    const struct level_rects *place;

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

/* ----------------------------------------------------------------------------------- making */

#define CALLS_PER_RECT 16u /* of the finest levels of a location together */
#define MIN_LIMIT 64u      /* rectangles any depth may keep */
#define COARSEST 62u
#define LOOK_EVERY (1u << 20) /* calls between two looks at is_cancelled */

/* One depth of a location while its finest level is made. */
struct depth_line {
    struct level_rect *rect; /* [n] */
    uint64_t *longest_ns;    /* [n] of the call that stands for each */
    uint32_t n, limit, n_calls;
    unsigned k;
    uint64_t spent_ns;
    uint64_t *spent; /* before every LEVELS_SPENT-th call */
};

/* What a location has of each part of the files; its places counted from its own beginning. */
struct level_share {
    struct level_rect *rect;
    struct level_rects *level;
    uint64_t *fence, *spent;
    struct level_line *line;
    size_t n_rects, n_levels, n_fences, n_spent, n_lines;
    size_t rect_cap, level_cap, fence_cap, spent_cap;
};

struct levels_making {
    const struct columns *columns;
    const atomic_bool *is_cancelled;
    struct sequence sequence;
    struct level_share all; /* but for its rectangles, which go to the file at once */
    int rects_fd;
    atomic_int rc;
};

static bool is_over(const struct levels_making *m)
{
    return atomic_load(&m->rc) < 0 || (m->is_cancelled && atomic_load(m->is_cancelled));
}

/* ----------------------------------------------------------------------- finest levels */

static uint32_t count_calls(const struct call_view *calls, uint32_t d)
{
    uint64_t begin = calls->depth_start[d], end = calls->depth_start[d + 1];

    return begin <= end && end <= calls->n ? (uint32_t)(end - begin) : 0;
}

static struct depth_line *open_lines(const struct call_view *calls)
{
    struct depth_line *lines = mem_alloc(calls->n_depths, sizeof *lines);
    uint32_t *n_calls = mem_alloc(calls->n_depths, sizeof *n_calls), share;

    for (uint32_t d = 0; d < calls->n_depths; d++)
        n_calls[d] = count_calls(calls, d);
    share = level_share(n_calls, calls->n_depths, calls->n / CALLS_PER_RECT);
    share = share > MIN_LIMIT ? share : MIN_LIMIT;
    for (uint32_t d = 0; d < calls->n_depths; d++) {
        uint32_t n = count_calls(calls, d);

        lines[d].limit = n < share ? n : share;
        lines[d].rect = mem_alloc(lines[d].limit, sizeof *lines[d].rect);
        lines[d].longest_ns = mem_alloc(lines[d].limit, sizeof *lines[d].longest_ns);
        lines[d].spent = mem_alloc(levels_fences(n, LEVELS_SPENT), sizeof *lines[d].spent);
    }
    free(n_calls);
    return lines;
}

static void add_call(struct depth_line *line, const struct call_view *calls, uint32_t row)
{
    struct level_rect r = level_rect_of(calls, row, line->n_calls);
    uint64_t length_ns = calls->inclusive_ns[row];

    if (line->n_calls % LEVELS_SPENT == 0)
        line->spent[line->n_calls / LEVELS_SPENT] = line->spent_ns;
    line->n_calls++;
    line->spent_ns += length_ns;
    if (line->n == line->limit)
        while (line->n > line->limit / 2 && line->k < COARSEST)
            line->n = level_coarsen(line->rect, line->longest_ns, line->n, ++line->k);
    if (line->n > 0 &&
        join(&line->rect[line->n - 1], &line->longest_ns[line->n - 1], &r, length_ns, line->k))
        return;
    if (line->n < line->limit) {
        line->longest_ns[line->n] = length_ns;
        line->rect[line->n++] = r;
    }
}

/* In a damaged run there may be more calls of a depth than there is room for. */
static void add_calls(struct depth_line *lines, const struct call_view *calls,
                      const struct levels_making *m)
{
    for (uint32_t row = 0; row < calls->n; row++) {
        uint32_t d = calls->depth[row];

        if (row % LOOK_EVERY == 0 && is_over(m))
            return;
        if (d < calls->n_depths && lines[d].n_calls < count_calls(calls, d))
            add_call(&lines[d], calls, row);
    }
}

/* --------------------------------------------------------------------------- a location */

static void keep_level(struct level_share *s, const struct level_rect *rect, uint32_t n)
{
    struct level_rects place = {s->n_rects, s->n_fences, n};

    mem_grow(&s->rect, &s->rect_cap, s->n_rects + n);
    memcpy(s->rect + s->n_rects, rect, n * sizeof *rect);
    s->n_rects += n;
    mem_grow(&s->fence, &s->fence_cap, s->n_fences + levels_fences(n, LEVELS_FENCE));
    for (uint32_t i = 0; i < n; i += LEVELS_FENCE)
        s->fence[s->n_fences++] = rect[i].begin_ns;
    *mem_push(&s->level, &s->n_levels, &s->level_cap) = place;
}

/* The finest level of a depth and those that follow from it. */
static void keep_line(struct level_share *s, struct depth_line *from)
{
    struct level_line *line = &s->line[s->n_lines++];
    uint64_t n_spent = levels_fences(from->n_calls, LEVELS_SPENT);
    uint64_t end_ns = from->n > 0 ? from->rect[from->n - 1].end_ns : 0;
    uint32_t n_before = 0;

    *line = (struct level_line){s->n_levels, s->n_spent, 0, from->k};
    if (n_spent > 0) {
        mem_grow(&s->spent, &s->spent_cap, s->n_spent + n_spent);
        memcpy(s->spent + s->n_spent, from->spent, n_spent * sizeof *s->spent);
        s->n_spent += n_spent;
    }
    for (unsigned k = from->k; from->n > 0 && k <= COARSEST; k++) {
        from->n = level_coarsen(from->rect, from->longest_ns, from->n, k);
        if (from->n != n_before) {
            keep_level(s, from->rect, from->n);
        } else {
            mem_grow(&s->level, &s->level_cap, s->n_levels + 1);
            s->level[s->n_levels] = s->level[s->n_levels - 1];
            s->n_levels++;
        }
        line->n_levels++;
        n_before = from->n;
        if (from->n == 1 || end_ns >> k == 0)
            break;
    }
}

static void make_share(struct level_share *s, const struct levels_making *m, uint32_t location)
{
    struct call_view calls = columns_view(m->columns, location);
    struct depth_line *lines = open_lines(&calls);

    s->line = mem_alloc((size_t)calls.n_depths + 1, sizeof *s->line);
    add_calls(lines, &calls, m);
    for (uint32_t d = 0; d < calls.n_depths; d++)
        keep_line(s, &lines[d]);
    s->n_lines++; /* as in depth_start, there is one more than depths */
    for (uint32_t d = 0; d < calls.n_depths; d++) {
        free(lines[d].rect);
        free(lines[d].longest_ns);
        free(lines[d].spent);
    }
    free(lines);
}

static void free_share(struct level_share *s)
{
    free(s->rect);
    free(s->level);
    free(s->fence);
    free(s->spent);
    free(s->line);
}

/* After what the locations before have. */
static void append(struct level_share *all, const struct level_share *s)
{
    mem_grow(&all->level, &all->level_cap, all->n_levels + s->n_levels);
    for (size_t i = 0; i < s->n_levels; i++)
        all->level[all->n_levels + i] =
            (struct level_rects){all->n_rects + s->level[i].first_rect,
                                 all->n_fences + s->level[i].first_fence, s->level[i].n};
    for (size_t i = 0; i < s->n_lines; i++) {
        all->line[all->n_lines + i] = s->line[i];
        all->line[all->n_lines + i].first_level += all->n_levels;
        all->line[all->n_lines + i].first_spent += all->n_spent;
    }
    mem_grow(&all->fence, &all->fence_cap, all->n_fences + s->n_fences);
    mem_grow(&all->spent, &all->spent_cap, all->n_spent + s->n_spent);
    if (s->n_fences > 0)
        memcpy(all->fence + all->n_fences, s->fence, s->n_fences * sizeof *all->fence);
    if (s->n_spent > 0)
        memcpy(all->spent + all->n_spent, s->spent, s->n_spent * sizeof *all->spent);
    all->n_levels += s->n_levels;
    all->n_lines += s->n_lines;
    all->n_fences += s->n_fences;
    all->n_spent += s->n_spent;
    all->n_rects += s->n_rects;
}

static void make_locations(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct levels_making *m = ctx;

    (void)worker;
    for (size_t l = begin; l < end; l++) {
        struct level_share share = {.rect = NULL};
        uint64_t first;
        int rc = 0;

        if (!is_over(m))
            make_share(&share, m, (uint32_t)l);
        columns_drop(m->columns);
        sequence_wait(&m->sequence, l);
        first = m->all.n_rects;
        append(&m->all, &share);
        sequence_next(&m->sequence);
        if (share.n_rects > 0)
            rc = fs_write_at(m->rects_fd, share.rect, share.n_rects * sizeof *share.rect,
                             first * sizeof *share.rect, LEVELS_RECTS);
        if (rc < 0)
            atomic_store(&m->rc, rc);
        free_share(&share);
    }
}

/* -------------------------------------------------------------------------- the index */

static void put(char **at, const void *data, size_t bytes)
{
    if (bytes > 0)
        memcpy(*at, data, bytes);
    *at += bytes;
}

static void put_message_fences(char **at, const struct columns *columns)
{
    for (uint32_t l = 0; l < columns->n_locations; l++) {
        struct call_view calls = columns_view(columns, l);

        for (size_t i = 0; i < calls.n_messages; i += LEVELS_MESSAGE_FENCE) {
            uint64_t time_ns = message_record_ns(&calls.message[i]);

            put(at, &time_ns, sizeof time_ns);
        }
    }
}

static int write_index(const struct levels_making *m, int fd)
{
    const struct level_share *all = &m->all;
    struct levels_header header = {.magic = LEVELS_MAGIC,
                                   .version = LEVELS_VERSION,
                                   .n_locations = m->columns->n_locations,
                                   .columns_sum = levels_columns_sum(m->columns),
                                   .n_lines = all->n_lines,
                                   .n_levels = all->n_levels,
                                   .n_fences = all->n_fences,
                                   .n_spent = all->n_spent,
                                   .n_rects = all->n_rects};
    size_t bytes;
    char *index, *at;
    int rc;

    for (uint32_t l = 0; l < m->columns->n_locations; l++)
        header.n_message_fences +=
            levels_fences(m->columns->range[l].n_messages, LEVELS_MESSAGE_FENCE);
    bytes = sizeof header + all->n_lines * sizeof *all->line +
            all->n_levels * sizeof *all->level +
            (all->n_fences + all->n_spent + header.n_message_fences) * sizeof(uint64_t);
    index = at = mem_alloc(bytes, 1);
    put(&at, &header, sizeof header);
    put(&at, all->line, all->n_lines * sizeof *all->line);
    put(&at, all->level, all->n_levels * sizeof *all->level);
    put(&at, all->fence, all->n_fences * sizeof *all->fence);
    put(&at, all->spent, all->n_spent * sizeof *all->spent);
    put_message_fences(&at, m->columns);
    header.checksum = levels_checksum(index, bytes);
    memcpy(index, &header, sizeof header);
    rc = fs_write_at(fd, index, bytes, 0, LEVELS_INDEX);
    free(index);
    return rc;
}

/* ---------------------------------------------------------------------------- whole */

static int make(const struct columns *columns, struct pool *pool,
                const atomic_bool *is_cancelled, int rects, int index)
{
    struct levels_making m = {
        .columns = columns, .is_cancelled = is_cancelled, .rects_fd = rects};
    uint64_t n_lines = 0;
    int rc;

    for (uint32_t l = 0; l < columns->n_locations; l++)
        n_lines += columns->range[l].n_depths + 1;
    m.all.line = mem_alloc(n_lines, sizeof *m.all.line);
    sequence_init(&m.sequence);
    pool_for(pool, columns->n_locations, 1, make_locations, &m);
    rc = atomic_load(&m.rc);
    if (rc < 0)
        rc = err_set(rc, "cannot write '%s'", LEVELS_RECTS);
    else if (is_over(&m))
        rc = err_set(ERR_IO, "levels were not made: the program ends");
    if (rc == 0)
        rc = write_index(&m, index);
    sequence_release(&m.sequence);
    free_share(&m.all);
    return rc;
}

int levels_write(const struct columns *columns, struct pool *pool,
                 const atomic_bool *is_cancelled)
{
    struct fs_new rects = {0}, index = {0};
    int rc = fs_new_open_at(&rects, columns->dir, LEVELS_RECTS, LEVELS_RECTS);

    if (rc == 0)
        rc = fs_new_open_at(&index, columns->dir, LEVELS_INDEX, LEVELS_INDEX);
    if (rc == 0)
        rc = make(columns, pool, is_cancelled, rects.fd, index.fd);
    if (rc == 0)
        rc = fs_new_commit(&rects);
    if (rc == 0)
        rc = fs_new_commit(&index);
    fs_new_abandon(&rects);
    fs_new_abandon(&index);
    return rc;
}

int levels_make(struct levels *levels, const struct columns *columns, struct pool *pool,
                const atomic_bool *is_cancelled)
{
    int rects = memfd_create("snag-levels", MFD_CLOEXEC);
    int index = memfd_create("snag-levels", MFD_CLOEXEC), rc = 0;

    *levels = (struct levels){.columns = columns};
    if (rects < 0 || index < 0)
        rc = err_set(ERR_IO, "cannot keep levels in memory: %s", strerror(errno));
    if (rc == 0)
        rc = make(columns, pool, is_cancelled, rects, index);
    if (rc == 0)
        rc = fs_map_fd(index, LEVELS_INDEX, &levels->index.data, &levels->index.bytes);
    if (rc == 0)
        rc = fs_map_fd(rects, LEVELS_RECTS, &levels->rects.data, &levels->rects.bytes);
    if (rc == 0)
        rc = check(levels);
    if (rects >= 0)
        close(rects);
    if (index >= 0)
        close(index);
    return rc;
}
