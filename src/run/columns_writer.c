/*
 * A location's rows are first placed, which fixes their offsets in all files and is done in
 * order, then written, which any thread can do at any time. Each block is shown before it is
 * written: so profiles are added up while its calls are in the cache.
 */
#include "run/columns_writer.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "forest/clock.h"
#include "run/columns_format.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ESTIMATES_NAME "estimates.rec"
#define WRITE_ROWS 16384u /* written at once: all columns of them fit a second-level cache */
#define SHIFT_ROWS 65536u /* rows moved at once by columns_shift */

struct columns_writer {
    char dir[FS_PATH_SIZE]; /* the directory calls/ */
    uint32_t n_locations;
    uint32_t n_known;           /* locations that were placed, here or elsewhere */
    struct column_range *range; /* [n_locations] */
    uint64_t **depth_start;     /* [n_locations], each [n_depths + 1] */
    int fd[N_COLUMNS];
    int estimates; /* likewise */
    struct detail_writer details;
};

int columns_open_file(const char *dir, const char *name, bool is_new)
{
    char path[FS_PATH_SIZE];
    int fd;

    if (fs_join(path, dir, name) < 0)
        return ERR_RANGE;
    if (is_new)
        unlink(path); /* who has the old one mapped keeps it */
    fd = open(path, (is_new ? O_CREAT | O_TRUNC : 0) | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(ERR_IO, "cannot %s '%s': %s", is_new ? "create" : "open", path,
                       strerror(errno));
    return fd;
}

static int write_rows(const struct columns_writer *w, int column, const void *data,
                      size_t bytes, uint64_t offset)
{
    char path[FS_PATH_SIZE];
    int rc = fs_join(path, w->dir, columns_name(column));

    return rc < 0 ? rc : fs_write_at(w->fd[column], data, bytes, offset, path);
}

static struct columns_writer *writer_new(const char *dir, uint32_t n_locations, bool is_new)
{
    struct columns_writer *w = mem_alloc(1, sizeof *w);
    int rc = fs_join(w->dir, dir, "calls");

    for (int c = 0; c < N_COLUMNS; c++)
        w->fd[c] = -1;
    w->estimates = -1;
    w->n_locations = n_locations;
    w->range = mem_alloc(n_locations, sizeof *w->range);
    w->depth_start = mem_alloc(n_locations, sizeof *w->depth_start);
    if (rc == 0 && is_new && mkdir(w->dir, 0777) != 0 && errno != EEXIST)
        rc = err_set(ERR_IO, "cannot create '%s': %s", w->dir, strerror(errno));
    for (int c = 0; rc == 0 && c < N_COLUMNS; c++) {
        w->fd[c] = columns_open_file(w->dir, columns_name(c), is_new);
        rc = w->fd[c] < 0 ? w->fd[c] : 0;
    }
    if (rc == 0) {
        w->estimates = columns_open_file(w->dir, ESTIMATES_NAME, is_new);
        rc = w->estimates < 0 ? w->estimates : 0;
    }
    if (rc == 0)
        rc = detail_writer_open(&w->details, w->dir, n_locations, is_new);
    if (rc < 0) {
        columns_free(w);
        return NULL;
    }
    return w;
}

struct columns_writer *columns_create(const char *dir, uint32_t n_locations)
{
    return writer_new(dir, n_locations, true);
}

struct columns_writer *columns_join(const char *dir, uint32_t n_locations)
{
    return writer_new(dir, n_locations, false);
}

void columns_free(struct columns_writer *w)
{
    if (w == NULL)
        return;
    for (int c = 0; c < N_COLUMNS; c++)
        if (w->fd[c] >= 0)
            close(w->fd[c]);
    if (w->estimates >= 0)
        close(w->estimates);
    detail_writer_close(&w->details);
    for (uint32_t l = 0; l < w->n_locations; l++)
        free(w->depth_start[l]);
    free(w->depth_start);
    free(w->range);
    free(w);
}

/* n rows at *next: returns the first of them. */
static uint64_t take_rows(uint64_t *next, uint64_t n)
{
    uint64_t first = *next;

    *next += n;
    return first;
}

void columns_place(struct columns_writer *w, uint32_t location, const struct calls *calls,
                   struct column_offsets *next)
{
    struct column_range *range = &w->range[location];
    struct detail_view details = details_view(&calls->details);

    w->n_known++;
    detail_writer_place(&w->details, location, &details, next->detail);
    range->first_call = take_rows(&next->call, calls->n);
    range->first_message = take_rows(&next->message, calls->n_messages);
    range->first_collective = take_rows(&next->collective, calls->n_collectives);
    range->first_span = take_rows(&next->span, calls->n_spans);
    range->first_barrier = take_rows(&next->barrier, calls->n_barriers);
    range->first_estimate = take_rows(&next->estimate, calls->n_estimates);
    range->n_calls = calls->n;
    range->n_messages = calls->n_messages;
    range->n_collectives = calls->n_collectives;
    range->n_spans = calls->n_spans;
    range->n_barriers = calls->n_barriers;
    range->n_estimates = calls->n_estimates;
    range->first_ns = calls->first_ns;
    range->last_ns = calls->last_ns;
    range->n_open = calls->n_open;
}

static uint32_t count_depths(const struct calls *calls)
{
    uint16_t deepest = 0;

    for (uint32_t i = 0; i < calls->n; i++)
        deepest = calls->depth[i] > deepest ? calls->depth[i] : deepest;
    return calls->n > 0 ? deepest + 1u : 0;
}

/* A counting sort by depth; the rows of one depth stay in preorder, which is time order. Here
 * the counts become the start of each depth; columns_write then moves each up to the next. */
static uint32_t count_by_depth(const struct calls *calls, uint64_t **start)
{
    uint32_t n_depths = count_depths(calls);
    uint64_t *count = mem_alloc((size_t)n_depths + 2, sizeof *count);

    for (uint32_t i = 0; i < calls->n; i++)
        count[calls->depth[i] + 2]++;
    for (uint32_t d = 1; d <= n_depths; d++)
        count[d + 1] += count[d];
    *start = count; /* one entry too many, which no one looks at */
    return n_depths;
}

/* What is being written of one location. */
struct location_part {
    struct columns_writer *writer;
    struct column_range *range;
    const void *data[N_COLUMNS];
    struct checksum sum[N_COLUMNS];
};

static int write_part(struct location_part *part, enum call_column column, uint32_t begin,
                      uint32_t end)
{
    size_t width = columns_width(column), bytes = (end - begin) * width;
    const char *data = (const char *)part->data[column] + begin * width;

    checksum_add(&part->sum[column], data, bytes);
    return write_rows(part->writer, column, data, bytes,
                      (part->range->first_call + begin) * width);
}

int columns_write(struct columns_writer *w, uint32_t location, const struct calls *calls,
                  uint32_t *by_depth, void (*look)(void *ctx, uint32_t begin, uint32_t end),
                  void *ctx)
{
    struct location_part part = {
        .writer = w,
        .range = &w->range[location],
        .data = {[COLUMN_ENTER] = calls->enter_ns,
                 [COLUMN_INCLUSIVE] = calls->inclusive_ns,
                 [COLUMN_REGION] = calls->region,
                 [COLUMN_SUBTREE] = calls->subtree_len,
                 [COLUMN_DEPTH] = calls->depth,
                 [COLUMN_BY_DEPTH] = by_depth},
    };
    struct detail_view details = details_view(&calls->details);
    size_t estimate_bytes = calls->n_estimates * sizeof *calls->estimate;
    uint64_t *start;
    int rc = 0;

    part.range->n_depths = count_by_depth(calls, &w->depth_start[location]);
    start = w->depth_start[location];
    for (int c = 0; c < N_COLUMNS; c++)
        checksum_begin(&part.sum[c]);
    for (uint32_t row = 0; rc == 0 && row < calls->n; row += WRITE_ROWS) {
        uint32_t end = calls->n - row < WRITE_ROWS ? calls->n : row + WRITE_ROWS;

        look(ctx, row, end);
        for (uint32_t i = row; i < end; i++)
            by_depth[start[calls->depth[i] + 1]++] = i;
        for (int c = 0; rc == 0 && c < COLUMN_BY_DEPTH; c++)
            rc = write_part(&part, c, row, end);
    }
    if (rc == 0)
        rc = write_part(&part, COLUMN_BY_DEPTH, 0, calls->n);
    part.range->estimate_sum = checksum_of(calls->estimate, estimate_bytes);
    if (rc == 0 && estimate_bytes > 0)
        rc = fs_write_at(w->estimates, calls->estimate, estimate_bytes,
                         part.range->first_estimate * sizeof *calls->estimate, ESTIMATES_NAME);
    if (rc == 0)
        rc = detail_writer_write(&w->details, location, &details);
    for (int c = 0; c < N_COLUMNS; c++)
        part.range->checksum[c] = checksum_end(&part.sum[c]);
    return rc;
}

void columns_pack_location(const struct columns_writer *w, uint32_t location, struct pack *pack)
{
    const struct column_range *range = &w->range[location];

    pack_bytes(pack, range, sizeof *range);
    pack_bytes(pack, &w->details.range[location], sizeof *w->details.range);
    pack_array(pack, w->depth_start[location],
               w->depth_start[location] ? range->n_depths + 1 : 0, sizeof(uint64_t));
}

int columns_adopt(struct columns_writer *w, uint32_t location, struct pack *pack)
{
    const void *range = unpack_bytes(pack, sizeof *w->range);
    const void *details = unpack_bytes(pack, sizeof *w->details.range);
    size_t n = unpack_count(pack, sizeof(uint64_t));

    if (details == NULL)
        return err_set(ERR_FORMAT,
                       "what another process sent of location %u cannot be read (internal "
                       "error, or a broken connection): run it again, with -v to report it",
                       location);
    memcpy(&w->range[location], range, sizeof *w->range); /* which may stand anywhere there */
    memcpy(&w->details.range[location], details, sizeof *w->details.range);
    if (n > 0)
        w->depth_start[location] = unpack_array(pack, n, sizeof(uint64_t));
    else
        unpack_u64(pack);
    w->n_known++;
    return 0;
}

/* Reads rows of a column back. */
static int read_rows(int fd, void *data, size_t bytes, uint64_t offset)
{
    return fs_read_at(fd, data, bytes, offset) == bytes
               ? 0
               : err_set(ERR_IO, "cannot read back the calls: %s",
                         errno ? strerror(errno) : "file too short");
}

int columns_shift(struct columns_writer *w, uint32_t location, int64_t offset_ns, double drift)
{
    struct column_range *range = &w->range[location];
    struct clock_fix fix = {offset_ns, drift};
    uint64_t *enter = mem_alloc(SHIFT_ROWS, sizeof *enter);
    uint64_t *inclusive = mem_alloc(SHIFT_ROWS, sizeof *inclusive);
    struct checksum sum[2];
    int rc = 0;

    checksum_begin(&sum[0]);
    checksum_begin(&sum[1]);
    for (uint64_t row = 0; rc == 0 && row < range->n_calls; row += SHIFT_ROWS) {
        size_t n = range->n_calls - row < SHIFT_ROWS ? range->n_calls - row : SHIFT_ROWS;
        uint64_t at = (range->first_call + row) * sizeof *enter;

        rc = read_rows(w->fd[COLUMN_ENTER], enter, n * sizeof *enter, at);
        if (rc == 0)
            rc = read_rows(w->fd[COLUMN_INCLUSIVE], inclusive, n * sizeof *inclusive, at);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            uint64_t leave = clock_fixed(&fix, enter[i] + inclusive[i]);

            enter[i] = clock_fixed(&fix, enter[i]);
            inclusive[i] = leave - enter[i];
        }
        checksum_add(&sum[0], enter, n * sizeof *enter);
        checksum_add(&sum[1], inclusive, n * sizeof *inclusive);
        if (rc == 0)
            rc = write_rows(w, COLUMN_ENTER, enter, n * sizeof *enter, at);
        if (rc == 0 && drift != 0)
            rc = write_rows(w, COLUMN_INCLUSIVE, inclusive, n * sizeof *inclusive, at);
    }
    range->checksum[COLUMN_ENTER] = checksum_end(&sum[0]);
    range->checksum[COLUMN_INCLUSIVE] = checksum_end(&sum[1]);
    if (range->first_ns <= range->last_ns) {
        range->first_ns = clock_fixed(&fix, range->first_ns);
        range->last_ns = clock_fixed(&fix, range->last_ns);
    }
    free(enter);
    free(inclusive);
    return rc == 0 ? detail_writer_shift(&w->details, location, &fix) : rc;
}

static int write_file(const struct columns_writer *w, const char *name, const void *head,
                      size_t head_bytes, const void *data, size_t bytes)
{
    int fd = columns_open_file(w->dir, name, true), rc;

    if (fd < 0)
        return fd;
    rc = fs_write_at(fd, head, head_bytes, 0, name);
    if (rc == 0)
        rc = fs_write_at(fd, data, bytes, head_bytes, name);
    if (close(fd) != 0 && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", name, strerror(errno));
    return rc;
}

/* All locations' depth_start one after another; the ranges learn where theirs is. */
static uint64_t *join_depths(struct columns_writer *w, uint64_t *n)
{
    uint64_t *all, at = 0;

    for (uint32_t l = 0; l < w->n_locations; l++) {
        w->range[l].first_depth = at;
        at += w->range[l].n_depths + 1;
    }
    all = mem_alloc(at, sizeof *all);
    for (uint32_t l = 0; l < w->n_locations; l++)
        if (w->depth_start[l])
            memcpy(all + w->range[l].first_depth, w->depth_start[l],
                   (w->range[l].n_depths + 1) * sizeof *all);
    *n = at;
    return all;
}

/* A file of what ties locations to each other. */
static int write_list(const struct columns_writer *w, const char *name, const void *data,
                      size_t bytes, uint64_t *sum)
{
    *sum = checksum_of(data, bytes);
    return write_file(w, name, NULL, 0, data, bytes);
}

static int write_lists(const struct columns_writer *w, const struct traffic *t,
                       struct index_header *header)
{
    int rc = write_list(w, "messages.rec", t->message, t->n_messages * sizeof *t->message,
                        &header->message_sum);

    if (rc == 0)
        rc = write_list(w, "collectives.rec", t->collective,
                        t->n_collectives * sizeof *t->collective, &header->collective_sum);
    if (rc == 0)
        rc = write_list(w, "teams.rec", t->span, t->n_spans * sizeof *t->span,
                        &header->span_sum);
    if (rc == 0)
        rc = write_list(w, "barriers.u32", t->barrier, t->n_barriers * sizeof *t->barrier,
                        &header->barrier_sum);
    if (rc == 0)
        rc = write_list(w, "dependencies.rec", t->dependency,
                        t->n_dependencies * sizeof *t->dependency, &header->dependency_sum);
    return rc;
}

int columns_finish(struct columns_writer *w, const struct traffic *traffic,
                   const struct definitions *defs)
{
    struct index_header header = {
        .magic = INDEX_MAGIC,
        .version = INDEX_VERSION,
        .n_locations = w->n_locations,
        .n_messages = traffic->n_messages,
        .n_collectives = traffic->n_collectives,
        .n_spans = traffic->n_spans,
        .n_barriers = traffic->n_barriers,
        .n_dependencies = traffic->n_dependencies,
    };
    uint64_t *depths = join_depths(w, &header.n_depth_starts);
    size_t depth_bytes = header.n_depth_starts * sizeof *depths;
    int rc;

    assert(w->n_known == w->n_locations);
    for (uint32_t l = 0; l < w->n_locations; l++) {
        header.n_calls += w->range[l].n_calls;
        header.n_estimates += w->range[l].n_estimates;
    }
    rc = write_list(w, "depth_start.u64", depths, depth_bytes, &header.depth_start_sum);
    if (rc == 0)
        rc = write_lists(w, traffic, &header);
    header.checksum = index_checksum(&header, w->range);
    if (rc == 0)
        rc = write_file(w, "index", &header, sizeof header, w->range,
                        w->n_locations * sizeof *w->range);
    if (rc == 0)
        rc = detail_writer_finish(&w->details, defs, header.checksum);
    free(depths);
    return rc;
}

/* ------------------------------------------------------------------------ and their profile */

void profiled_columns_init(struct profiled_columns *p, uint32_t n_regions, struct paged *paged)
{
    *p = (struct profiled_columns){.paged = paged};
    profile_init(&p->profile, n_regions);
    profile_init(&p->total, n_regions);
    profile_walk_init(&p->walk, n_regions);
}

void profiled_columns_release(struct profiled_columns *p)
{
    profile_release(&p->profile);
    profile_release(&p->total);
    profile_walk_release(&p->walk);
    paged_release(p->paged, p->by_depth);
    *p = (struct profiled_columns){0};
}

static void profile_block(void *ctx, uint32_t begin, uint32_t end)
{
    struct profiled_columns *p = ctx;

    profile_rows(&p->profile, &p->walk, p->calls, begin, end);
}

int profiled_columns_take(struct profiled_columns *p, struct columns_writer *writer,
                          uint32_t location, const struct calls *calls,
                          const struct definitions *defs)
{
    int rc = 0;

    p->calls = calls;
    profile_begin(&p->profile, &p->walk);
    if (writer) {
        p->by_depth = paged_grow(p->paged, p->by_depth, 0, &p->by_depth_cap, calls->n,
                                 sizeof *p->by_depth);
        rc = columns_write(writer, location, calls, p->by_depth, profile_block, p);
    } else {
        profile_block(p, 0, calls->n);
    }
    profile_end(&p->profile, &p->walk, calls, defs);
    if (defs->location[location].is_gpu)
        profile_is_stream(&p->profile);
    profile_merge(&p->total, &p->profile);
    return rc;
}
