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

enum { MAP_DEPTHS = N_COLUMNS, MAP_MESSAGES, MAP_COLLECTIVES, MAP_INDEX, N_MAPS };

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
                                         "index"};

    return map < N_COLUMNS ? formats[map].name : others[map - N_COLUMNS];
}

static int map_all(struct columns *columns, int run, const char *dir)
{
    char path[FS_PATH_SIZE];
    int rc = fs_join(columns->path, dir, "calls");

    if (rc == 0)
        rc = fs_open_dir_at(run, "calls", columns->path, &columns->dir);
    for (int m = 0; rc == 0 && m < N_MAPS; m++) {
        rc = fs_join(path, columns->path, file_name(m));
        if (rc == 0)
            rc = fs_map_at(columns->dir, file_name(m), path, &columns->map[m].data,
                           &columns->map[m].bytes);
    }
    return rc;
}

static bool ranges_fit(const struct index_header *header, const struct column_range *range)
{
    uint64_t call = 0, depth = 0, message = 0, collective = 0;

    for (uint32_t l = 0; l < header->n_locations; l++) {
        const struct column_range *r = &range[l];

        if (r->first_call != call || r->first_depth != depth || r->first_message != message ||
            r->first_collective != collective || r->n_calls > UINT32_MAX ||
            r->n_depths > UINT16_MAX + 1u || r->n_messages > header->n_messages - message ||
            r->n_calls > header->n_calls - call ||
            r->n_collectives > header->n_collectives - collective)
            return false;
        call += r->n_calls;
        depth += r->n_depths + 1;
        message += r->n_messages;
        collective += r->n_collectives;
    }
    return call == header->n_calls && depth == header->n_depth_starts &&
           message == header->n_messages && collective == header->n_collectives;
}

static bool files_fit(const struct columns *columns, const struct index_header *header)
{
    for (int c = 0; c < N_COLUMNS; c++)
        if (columns->map[c].bytes != header->n_calls * formats[c].width)
            return false;
    return columns->map[MAP_DEPTHS].bytes == header->n_depth_starts * sizeof(uint64_t) &&
           columns->map[MAP_MESSAGES].bytes == header->n_messages * sizeof(struct message) &&
           columns->map[MAP_COLLECTIVES].bytes ==
               header->n_collectives * sizeof(struct collective);
}

static int check_index(const struct columns *columns, const char *dir)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;
    size_t bytes = columns->map[MAP_INDEX].bytes;
    const struct column_range *range;

    if (bytes < sizeof *header || header->magic != INDEX_MAGIC)
        return err_set(ERR_FORMAT, "not a run: '%s/calls/index' is not an index of calls", dir);
    if (header->version != INDEX_VERSION)
        return err_set(ERR_FORMAT,
                       "'%s' was written by another version (calls format %" PRIu32
                       ", this one reads %u)",
                       dir, header->version, INDEX_VERSION);
    range = (const void *)(header + 1);
    if (bytes != sizeof *header + header->n_locations * sizeof *range ||
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
    columns->range = (const void *)(header + 1);
    for (int c = 0; c < N_COLUMNS; c++)
        columns->column[c] = columns->map[c].data;
    columns->depth_start = columns->map[MAP_DEPTHS].data;
    columns->message = columns->map[MAP_MESSAGES].data;
    columns->collective = columns->map[MAP_COLLECTIVES].data;
    columns->is_checked = mem_alloc(columns->n_locations, sizeof *columns->is_checked);
    return 0;
}

void columns_close(struct columns *columns)
{
    for (int m = 0; m < N_MAPS; m++)
        fs_unmap(columns->map[m].data, columns->map[m].bytes);
    if (columns->dir > 0)
        close(columns->dir);
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
        .message = columns->message + r->first_message,
        .n_messages = r->n_messages,
        .collective = columns->collective + r->first_collective,
        .n_collectives = r->n_collectives,
    };
}

void columns_scatter(const struct columns *columns)
{
    for (int m = 0; m < MAP_INDEX; m++)
        fs_advise(columns->map[m].data, columns->map[m].bytes, MADV_RANDOM);
}

void columns_drop(const struct columns *columns)
{
    for (int m = 0; m < MAP_INDEX; m++)
        fs_advise(columns->map[m].data, columns->map[m].bytes, MADV_DONTNEED);
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
    return 0;
}

int columns_verify(const struct columns *columns)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;
    const uint64_t others[] = {header->depth_start_sum, header->message_sum,
                               header->collective_sum};
    int rc = 0;

    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++)
        rc = columns_verify_location(columns, l);
    for (int m = MAP_DEPTHS; rc == 0 && m < MAP_INDEX; m++)
        if (checksum_of(columns->map[m].data, columns->map[m].bytes) != others[m - MAP_DEPTHS])
            rc = err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                         file_name(m));
    return rc;
}
