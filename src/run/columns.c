/*
 * Reading: the index is checked against its own checksum and against the sizes of the files, so
 * that no view can point outside them; the columns' checksums are compared on demand only.
 */
#include "run/columns.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/columns_format.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t width;
} formats[N_COLUMNS] = {
    [COLUMN_ENTER] = {"enter_ns.u64", 8}, [COLUMN_INCLUSIVE] = {"inclusive_ns.u64", 8},
    [COLUMN_REGION] = {"region.u32", 4},  [COLUMN_SUBTREE] = {"subtree_len.u32", 4},
    [COLUMN_DEPTH] = {"depth.u16", 2},    [COLUMN_BY_DEPTH] = {"by_depth.u32", 4},
};

enum {
    MAP_DEPTHS = N_COLUMNS,
    MAP_MESSAGES,
    MAP_COLLECTIVES,
    MAP_SPANS,
    MAP_BARRIERS,
    MAP_DEPENDENCIES,
    MAP_ESTIMATES,
    MAP_INDEX,
    N_MAPS
};

const char *columns_name(enum call_column column)
{
    return formats[column].name;
}

size_t columns_width(enum call_column column)
{
    return formats[column].width;
}

uint64_t index_checksum(const struct index_header *header, const struct column_range *range)
{
    struct index_header copy = *header;

    copy.checksum = 0;
    return checksum_seeded(range, header->n_locations * sizeof *range,
                           checksum_of(&copy, sizeof copy));
}

static const char *file_name(int map)
{
    static const char *const others[] = {"depth_start.u64", "messages.rec", "collectives.rec",
                                         "teams.rec",       "barriers.u32", "dependencies.rec",
                                         "estimates.rec",   "index"};

    return map < N_COLUMNS ? formats[map].name : others[map - N_COLUMNS];
}

static int map_file(struct columns *columns, int map)
{
    char path[FS_PATH_SIZE];
    int rc = fs_join(path, columns->path, file_name(map));

    return rc < 0 ? rc
                  : fs_map_at(columns->dir, file_name(map), path, &columns->map[map].data,
                              &columns->map[map].bytes);
}

/* Another version may have other files. */
static int check_version(const struct columns *columns, const char *dir)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;

    if (columns->map[MAP_INDEX].bytes < offsetof(struct index_header, n_locations) ||
        header->magic != INDEX_MAGIC)
        return err_set(ERR_FORMAT, "not a run: '%s/calls/index' is not an index of calls", dir);
    if (header->version != INDEX_VERSION)
        return err_set(ERR_FORMAT,
                       "'%s' was written by another version of snag (calls format %" PRIu32
                       ", this one reads %u): analyze its trace again, into another run",
                       dir, header->version, INDEX_VERSION);
    return 0;
}

static int map_all(struct columns *columns, int run, const char *dir)
{
    int rc = fs_join(columns->path, dir, "calls");

    if (rc == 0)
        rc = fs_open_dir_at(run, "calls", columns->path, &columns->dir);
    if (rc == 0)
        rc = map_file(columns, MAP_INDEX);
    if (rc == 0)
        rc = check_version(columns, dir);
    for (int m = 0; rc == 0 && m < MAP_INDEX; m++)
        rc = map_file(columns, m);
    return rc;
}

/* Whether a location's part begins where the one before ended, and ends within the whole; *end
 * is where it ends then. */
static bool follows(uint64_t *end, uint64_t first, uint64_t n, uint64_t all)
{
    bool is_good = first == *end && n <= all - first;

    *end = first + n;
    return is_good;
}

static bool ranges_fit(const struct index_header *header, const struct column_range *range)
{
    uint64_t call = 0, depth = 0, message = 0, collective = 0, span = 0, barrier = 0;
    uint64_t estimate = 0;

    for (uint32_t l = 0; l < header->n_locations; l++) {
        const struct column_range *r = &range[l];

        if (r->n_calls > UINT32_MAX || r->n_depths > UINT16_MAX + 1u ||
            r->n_open > r->n_depths ||
            !follows(&call, r->first_call, r->n_calls, header->n_calls) ||
            !follows(&depth, r->first_depth, r->n_depths + 1, header->n_depth_starts) ||
            !follows(&message, r->first_message, r->n_messages, header->n_messages) ||
            !follows(&collective, r->first_collective, r->n_collectives,
                     header->n_collectives) ||
            !follows(&span, r->first_span, r->n_spans, header->n_spans) ||
            !follows(&barrier, r->first_barrier, r->n_barriers, header->n_barriers) ||
            !follows(&estimate, r->first_estimate, r->n_estimates, header->n_estimates))
            return false;
    }
    return call == header->n_calls && depth == header->n_depth_starts &&
           message == header->n_messages && collective == header->n_collectives &&
           span == header->n_spans && barrier == header->n_barriers &&
           estimate == header->n_estimates;
}

static bool files_fit(const struct columns *columns, const struct index_header *header)
{
    for (int c = 0; c < N_COLUMNS; c++)
        if (columns->map[c].bytes != header->n_calls * formats[c].width)
            return false;
    return columns->map[MAP_DEPTHS].bytes == header->n_depth_starts * sizeof(uint64_t) &&
           columns->map[MAP_MESSAGES].bytes == header->n_messages * sizeof(struct message) &&
           columns->map[MAP_COLLECTIVES].bytes ==
               header->n_collectives * sizeof(struct collective) &&
           columns->map[MAP_SPANS].bytes == header->n_spans * sizeof(struct team_span) &&
           columns->map[MAP_BARRIERS].bytes == header->n_barriers * sizeof(uint32_t) &&
           columns->map[MAP_DEPENDENCIES].bytes ==
               header->n_dependencies * sizeof(struct dependency) &&
           columns->map[MAP_ESTIMATES].bytes ==
               header->n_estimates * sizeof(struct call_estimate);
}

static int check_index(const struct columns *columns, const char *dir)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;
    size_t bytes = columns->map[MAP_INDEX].bytes;
    const struct column_range *range;

    range = (const void *)(header + 1);
    if (bytes < sizeof *header ||
        bytes != sizeof *header + header->n_locations * sizeof *range ||
        index_checksum(header, range) != header->checksum || !ranges_fit(header, range))
        return err_set(ERR_FORMAT, "damaged run: '%s/calls/index' does not fit its checksum",
                       dir);
    if (!files_fit(columns, header))
        return err_set(ERR_FORMAT, "damaged run: files in '%s/calls' are missing rows", dir);
    return 0;
}

int columns_open(struct columns *columns, const char *dir)
{
    int run, rc;

    *columns = (struct columns){.dir = -1};
    rc = fs_open_dir(dir, &run);
    if (rc == 0) {
        rc = columns_open_at(columns, run, dir);
        close(run);
    }
    return rc;
}

int columns_open_at(struct columns *columns, int run, const char *dir)
{
    const struct index_header *header;
    int rc;

    *columns = (struct columns){.dir = -1};
    rc = map_all(columns, run, dir);
    if (rc == 0)
        rc = check_index(columns, dir);
    if (rc < 0)
        return rc;
    header = columns->map[MAP_INDEX].data;
    columns->n_locations = header->n_locations;
    columns->n_calls = header->n_calls;
    columns->n_messages = header->n_messages;
    columns->n_collectives = header->n_collectives;
    columns->n_spans = header->n_spans;
    columns->n_barriers = header->n_barriers;
    columns->n_dependencies = header->n_dependencies;
    columns->n_estimates = header->n_estimates;
    columns->range = (const void *)(header + 1);
    for (uint32_t l = 0; l < header->n_locations; l++)
        if (columns->range[l].last_ns > columns->end_ns)
            columns->end_ns = columns->range[l].last_ns;
    for (int c = 0; c < N_COLUMNS; c++)
        columns->column[c] = columns->map[c].data;
    columns->depth_start = columns->map[MAP_DEPTHS].data;
    columns->message = columns->map[MAP_MESSAGES].data;
    columns->collective = columns->map[MAP_COLLECTIVES].data;
    columns->span = columns->map[MAP_SPANS].data;
    columns->barrier = columns->map[MAP_BARRIERS].data;
    columns->dependency = columns->map[MAP_DEPENDENCIES].data;
    columns->estimate = columns->map[MAP_ESTIMATES].data;
    columns->is_checked = mem_alloc(columns->n_locations, sizeof *columns->is_checked);
    return detail_files_open(&columns->details, columns->dir, columns->path,
                             columns->n_locations, header->checksum);
}

void columns_close(struct columns *columns)
{
    for (int m = 0; m < N_MAPS; m++)
        fs_unmap(columns->map[m].data, columns->map[m].bytes);
    if (columns->dir > 0)
        close(columns->dir);
    detail_files_close(&columns->details);
    free(columns->is_checked);
    *columns = (struct columns){.dir = -1};
}

struct call_view columns_view(const struct columns *columns, uint32_t location)
{
    const struct column_range *r = &columns->range[location];
    uint64_t at = r->first_call;

    return (struct call_view){
        .n = (uint32_t)r->n_calls,
        .enter_ns = (const uint64_t *)columns->column[COLUMN_ENTER] + at,
        .inclusive_ns = (const uint64_t *)columns->column[COLUMN_INCLUSIVE] + at,
        .region = (const uint32_t *)columns->column[COLUMN_REGION] + at,
        .subtree_len = (const uint32_t *)columns->column[COLUMN_SUBTREE] + at,
        .depth = (const uint16_t *)columns->column[COLUMN_DEPTH] + at,
        .by_depth = (const uint32_t *)columns->column[COLUMN_BY_DEPTH] + at,
        .depth_start = columns->depth_start + r->first_depth,
        .n_depths = (uint32_t)r->n_depths,
        .message = r->n_messages > 0 ? columns->message + r->first_message : NULL,
        .n_messages = r->n_messages,
        .collective = r->n_collectives > 0 ? columns->collective + r->first_collective : NULL,
        .n_collectives = r->n_collectives,
        .span = r->n_spans > 0 ? columns->span + r->first_span : NULL,
        .n_spans = r->n_spans,
        .barrier = r->n_barriers > 0 ? columns->barrier + r->first_barrier : NULL,
        .n_barriers = r->n_barriers,
        .estimate = r->n_estimates > 0 ? columns->estimate + r->first_estimate : NULL,
        .n_estimates = r->n_estimates,
        .details = detail_files_view(&columns->details, location),
        .n_open = (uint32_t)r->n_open,
        .after_ns = columns->end_ns > r->last_ns ? columns->end_ns - r->last_ns : 0,
    };
}

void columns_scatter(const struct columns *columns)
{
    for (int m = 0; m < MAP_INDEX; m++)
        fs_advise(columns->map[m].data, columns->map[m].bytes, MADV_RANDOM);
    detail_files_advise(&columns->details, MADV_RANDOM);
}

void columns_drop(const struct columns *columns)
{
    size_t bytes = detail_files_bytes(&columns->details);

    for (int m = 0; m < MAP_INDEX; m++)
        bytes += columns->map[m].bytes;
    if (bytes <= COLUMNS_KEPT_BYTES)
        return;
    for (int m = 0; m < MAP_INDEX; m++)
        fs_advise(columns->map[m].data, columns->map[m].bytes, MADV_DONTNEED);
    detail_files_advise(&columns->details, MADV_DONTNEED);
}

void columns_share(const struct columns *columns, struct paged *paged)
{
    for (int m = 0; m < MAP_INDEX; m++)
        paged_share(paged, columns->map[m].data, columns->map[m].bytes);
}

void columns_unshare(const struct columns *columns, struct paged *paged)
{
    for (int m = 0; m < MAP_INDEX; m++)
        paged_unshare(paged, columns->map[m].data);
}

int columns_verify_location(const struct columns *columns, uint32_t location)
{
    const struct column_range *r = &columns->range[location];

    for (int c = 0; c < N_COLUMNS; c++) {
        size_t width = formats[c].width;
        const char *from = (const char *)columns->column[c] + r->first_call * width;

        if (checksum_of(from, r->n_calls * width) != r->checksum[c])
            return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                           formats[c].name);
    }
    if (checksum_of(columns->estimate + r->first_estimate,
                    r->n_estimates * sizeof *columns->estimate) != r->estimate_sum)
        return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                       file_name(MAP_ESTIMATES));
    return detail_files_verify(&columns->details, location);
}

int columns_verify_others(const struct columns *columns)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;
    const uint64_t others[] = {header->depth_start_sum, header->message_sum,
                               header->collective_sum,  header->span_sum,
                               header->barrier_sum,     header->dependency_sum};

    for (int m = MAP_DEPTHS; m < MAP_ESTIMATES; m++)
        if (checksum_of(columns->map[m].data, columns->map[m].bytes) != others[m - MAP_DEPTHS])
            return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                           file_name(m));
    return 0;
}

int columns_verify(const struct columns *columns)
{
    int rc = 0;

    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++)
        rc = columns_verify_location(columns, l);
    return rc < 0 ? rc : columns_verify_others(columns);
}
