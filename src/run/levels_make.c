/*
 * Making. The calls of a location are gone through once, in preorder, which is the order of
 * time within each depth. Each depth begins with intervals of 1 ns; whenever it has more
 * rectangles than it may keep, intervals are doubled until it has half as many. What is left is
 * its finest level, from which the coarser ones follow.
 *
 * Locations are made by any thread, and get their place in the files in order.
 */
#include "run/levels.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/sequence.h"
#include "run/levels_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS_PER_RECT 16u /* of the finest levels of a location together */
#define MIN_LIMIT 64u      /* rectangles any depth may keep */
#define COARSEST 62u
#define LOOK_EVERY (1u << 20) /* calls between two looks at is_cancelled */

/* One depth of a location while its finest level is made. */
struct line {
    struct level_rect *rect; /* [n] */
    uint32_t n, limit, n_calls;
    unsigned k;
    uint64_t spent_ns;
    uint64_t *spent; /* before every LEVELS_SPENT-th call */
};

/* What a location has of each part of the files; its places counted from its own beginning. */
struct share {
    struct level_rect *rect;
    struct level_place *level;
    uint64_t *fence, *spent;
    struct level_line *line;
    size_t n_rects, n_levels, n_fences, n_spent, n_lines;
    size_t rect_cap, level_cap, fence_cap, spent_cap;
};

struct making {
    const struct columns *columns;
    const atomic_bool *is_cancelled;
    struct sequence sequence;
    struct share all; /* but for its rectangles, which go to the file at once */
    int rects_fd;
    atomic_int rc;
};

static bool is_over(const struct making *m)
{
    return atomic_load(&m->rc) < 0 || (m->is_cancelled && atomic_load(m->is_cancelled));
}

/* ----------------------------------------------------------------------- finest levels */

static uint32_t count_calls(const struct call_view *calls, uint32_t d)
{
    uint64_t begin = calls->depth_start[d], end = calls->depth_start[d + 1];

    return begin <= end && end <= calls->n ? (uint32_t)(end - begin) : 0;
}

static struct line *open_lines(const struct call_view *calls)
{
    struct line *lines = mem_alloc(calls->n_depths, sizeof *lines);
    uint32_t *n_calls = mem_alloc(calls->n_depths, sizeof *n_calls), share;

    for (uint32_t d = 0; d < calls->n_depths; d++)
        n_calls[d] = count_calls(calls, d);
    share = level_share(n_calls, calls->n_depths, calls->n / CALLS_PER_RECT);
    share = share > MIN_LIMIT ? share : MIN_LIMIT;
    for (uint32_t d = 0; d < calls->n_depths; d++) {
        uint32_t n = count_calls(calls, d);

        lines[d].limit = n < share ? n : share;
        lines[d].rect = mem_alloc(lines[d].limit, sizeof *lines[d].rect);
        lines[d].spent = mem_alloc(levels_fences(n, LEVELS_SPENT), sizeof *lines[d].spent);
    }
    free(n_calls);
    return lines;
}

static void close_lines(struct line *lines, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++) {
        free(lines[d].rect);
        free(lines[d].spent);
    }
    free(lines);
}

static void add_call(struct line *line, const struct call_view *calls, uint32_t row)
{
    struct level_rect r = level_rect_of(calls, row, line->n_calls);

    if (line->n_calls % LEVELS_SPENT == 0)
        line->spent[line->n_calls / LEVELS_SPENT] = line->spent_ns;
    line->n_calls++;
    line->spent_ns += calls->inclusive_ns[row];
    if (line->n == line->limit)
        while (line->n > line->limit / 2 && line->k < COARSEST)
            line->n = level_coarsen(calls, line->rect, line->n, ++line->k);
    if (line->n > 0 && level_join(calls, &line->rect[line->n - 1], &r, line->k))
        return;
    if (line->n < line->limit)
        line->rect[line->n++] = r;
}

/* In a damaged run there may be more calls of a depth than there is room for. */
static void add_calls(struct line *lines, const struct call_view *calls, const struct making *m)
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

static void keep_level(struct share *s, const struct level_rect *rect, uint32_t n)
{
    struct level_place place = {s->n_rects, s->n_fences, n};

    mem_grow(&s->rect, &s->rect_cap, s->n_rects + n, sizeof *s->rect);
    memcpy(s->rect + s->n_rects, rect, n * sizeof *rect);
    s->n_rects += n;
    mem_grow(&s->fence, &s->fence_cap, s->n_fences + levels_fences(n, LEVELS_FENCE),
             sizeof *s->fence);
    for (uint32_t i = 0; i < n; i += LEVELS_FENCE)
        s->fence[s->n_fences++] = rect[i].begin_ns;
    mem_grow(&s->level, &s->level_cap, s->n_levels + 1, sizeof *s->level);
    s->level[s->n_levels++] = place;
}

/* The finest level of a depth and those that follow from it. */
static void keep_line(struct share *s, struct line *from, const struct call_view *calls)
{
    struct level_line *line = &s->line[s->n_lines++];
    uint64_t n_spent = levels_fences(from->n_calls, LEVELS_SPENT);
    uint64_t end_ns = from->n > 0 ? from->rect[from->n - 1].end_ns : 0;
    uint32_t n_before = 0;

    *line = (struct level_line){s->n_levels, s->n_spent, 0, from->k};
    if (n_spent > 0) {
        mem_grow(&s->spent, &s->spent_cap, s->n_spent + n_spent, sizeof *s->spent);
        memcpy(s->spent + s->n_spent, from->spent, n_spent * sizeof *s->spent);
        s->n_spent += n_spent;
    }
    for (unsigned k = from->k; from->n > 0 && k <= COARSEST; k++) {
        from->n = level_coarsen(calls, from->rect, from->n, k);
        if (from->n != n_before) {
            keep_level(s, from->rect, from->n);
        } else {
            mem_grow(&s->level, &s->level_cap, s->n_levels + 1, sizeof *s->level);
            s->level[s->n_levels] = s->level[s->n_levels - 1];
            s->n_levels++;
        }
        line->n_levels++;
        n_before = from->n;
        if (from->n == 1 || end_ns >> k == 0)
            break;
    }
}

static void make_share(struct share *s, const struct making *m, uint32_t location)
{
    struct call_view calls = columns_view(m->columns, location);
    struct line *lines = open_lines(&calls);

    s->line = mem_alloc((size_t)calls.n_depths + 1, sizeof *s->line);
    add_calls(lines, &calls, m);
    for (uint32_t d = 0; d < calls.n_depths; d++)
        keep_line(s, &lines[d], &calls);
    s->n_lines++; /* as in depth_start, there is one more than depths */
    close_lines(lines, calls.n_depths);
}

static void free_share(struct share *s)
{
    free(s->rect);
    free(s->level);
    free(s->fence);
    free(s->spent);
    free(s->line);
}

/* After what the locations before have. */
static void append(struct share *all, const struct share *s)
{
    mem_grow(&all->level, &all->level_cap, all->n_levels + s->n_levels, sizeof *all->level);
    for (size_t i = 0; i < s->n_levels; i++)
        all->level[all->n_levels + i] =
            (struct level_place){all->n_rects + s->level[i].first_rect,
                                 all->n_fences + s->level[i].first_fence, s->level[i].n};
    for (size_t i = 0; i < s->n_lines; i++) {
        all->line[all->n_lines + i] = s->line[i];
        all->line[all->n_lines + i].first_level += all->n_levels;
        all->line[all->n_lines + i].first_spent += all->n_spent;
    }
    mem_grow(&all->fence, &all->fence_cap, all->n_fences + s->n_fences, sizeof *all->fence);
    mem_grow(&all->spent, &all->spent_cap, all->n_spent + s->n_spent, sizeof *all->spent);
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
    struct making *m = ctx;

    (void)worker;
    for (size_t l = begin; l < end; l++) {
        struct share share = {.rect = NULL};
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

static uint64_t count_message_fences(const struct columns *columns)
{
    uint64_t n = 0;

    for (uint32_t l = 0; l < columns->n_locations; l++)
        n += levels_fences(columns->range[l].n_messages, LEVELS_MESSAGE_FENCE);
    return n;
}

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

static int write_index(const struct making *m, int fd)
{
    const struct share *all = &m->all;
    struct levels_header header = {.magic = LEVELS_MAGIC,
                                   .version = LEVELS_VERSION,
                                   .n_locations = m->columns->n_locations,
                                   .columns_sum = levels_columns_sum(m->columns),
                                   .n_lines = all->n_lines,
                                   .n_levels = all->n_levels,
                                   .n_fences = all->n_fences,
                                   .n_spent = all->n_spent,
                                   .n_message_fences = count_message_fences(m->columns),
                                   .n_rects = all->n_rects};
    size_t bytes = sizeof header + all->n_lines * sizeof *all->line +
                   all->n_levels * sizeof *all->level +
                   (all->n_fences + all->n_spent + header.n_message_fences) * sizeof(uint64_t);
    char *index = mem_alloc(bytes, 1), *at = index;
    int rc;

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
    struct making m = {.columns = columns, .is_cancelled = is_cancelled, .rects_fd = rects};
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
        rc = levels_map(levels, columns, index, rects);
    if (rects >= 0)
        close(rects);
    if (index >= 0)
        close(index);
    return rc;
}
