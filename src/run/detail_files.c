/*
 * The index is a header, the ranges of the locations, and the names, packed: of each counter
 * mode, span, name and unit, of each argument its name.
 */
#include "run/detail_format.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/pack.h"
#include "run/columns_writer.h"
#include "trace/monotone.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_NAME "details.index"
#define MAX_NAMES 65536u
#define SHIFT_ROWS 16384u /* readings moved at once */

static const struct {
    const char *name;
    size_t width;
} formats[N_DETAIL_FILES] = {
    [DETAIL_READINGS] = {"readings.rec", sizeof(struct detail_reading)},
    [DETAIL_ARGUMENTS] = {"arguments.rec", sizeof(struct argument)},
    [DETAIL_TEXTS] = {"texts.bin", 1},
};

_Static_assert(sizeof(struct detail_reading) == 24 && sizeof(struct argument) == 16,
               "as in files");

static const void *rows_of(const struct detail_view *view, enum detail_file file, size_t *n)
{
    *n = file == DETAIL_READINGS    ? view->n_readings
         : file == DETAIL_ARGUMENTS ? view->n_arguments
                                    : view->n_text;
    return file == DETAIL_READINGS    ? (const void *)view->reading
           : file == DETAIL_ARGUMENTS ? (const void *)view->argument
                                      : view->text;
}

/* ---------------------------------------------------------------------------- writing */

static void remove_file(const char *dir, const char *name)
{
    char path[FS_PATH_SIZE];

    if (fs_join(path, dir, name) == 0)
        unlink(path);
}

int detail_writer_open(struct detail_writer *w, const char *dir, uint32_t n_locations,
                       bool is_new)
{
    int rc = 0;

    *w = (struct detail_writer){.dir = dir, .n_locations = n_locations};
    w->range = mem_alloc(n_locations, sizeof *w->range);
    for (int f = 0; f < N_DETAIL_FILES; f++)
        w->fd[f] = -1;
    if (is_new)
        remove_file(dir, INDEX_NAME);
    for (int f = 0; rc == 0 && f < N_DETAIL_FILES; f++) {
        w->fd[f] = columns_open_file(dir, formats[f].name, is_new);
        rc = w->fd[f] < 0 ? w->fd[f] : 0;
    }
    return rc;
}

void detail_writer_close(struct detail_writer *w)
{
    for (int f = 0; w->range && f < N_DETAIL_FILES; f++)
        if (w->fd[f] >= 0)
            close(w->fd[f]);
    free(w->range);
    *w = (struct detail_writer){0};
}

void detail_writer_place(struct detail_writer *w, uint32_t location,
                         const struct detail_view *details, uint64_t next[N_DETAIL_FILES])
{
    struct detail_range *range = &w->range[location];

    for (enum detail_file f = 0; f < N_DETAIL_FILES; f++) {
        size_t n;

        rows_of(details, f, &n);
        range->first[f] = next[f];
        range->n[f] = n;
        next[f] += n;
    }
}

int detail_writer_write(struct detail_writer *w, uint32_t location,
                        const struct detail_view *details)
{
    struct detail_range *range = &w->range[location];
    int rc = 0;

    for (enum detail_file f = 0; rc == 0 && f < N_DETAIL_FILES; f++) {
        size_t n;
        const void *rows = rows_of(details, f, &n);

        range->checksum[f] = checksum_of(rows, n * formats[f].width);
        if (n > 0)
            rc = fs_write_at(w->fd[f], rows, n * formats[f].width,
                             range->first[f] * formats[f].width, formats[f].name);
    }
    return rc;
}

int detail_writer_shift(struct detail_writer *w, uint32_t location, const struct clock_fix *fix)
{
    struct detail_range *range = &w->range[location];
    uint64_t all = range->n[DETAIL_READINGS];
    size_t width = sizeof(struct detail_reading);
    struct detail_reading *rows = mem_alloc(SHIFT_ROWS, width);
    struct checksum sum;
    int fd = w->fd[DETAIL_READINGS], rc = 0;

    checksum_begin(&sum);
    for (uint64_t row = 0; rc == 0 && row < all; row += SHIFT_ROWS) {
        size_t n = all - row < SHIFT_ROWS ? all - row : SHIFT_ROWS;
        uint64_t at = (range->first[DETAIL_READINGS] + row) * width;

        if (fs_read_at(fd, rows, n * width, at) < n * width)
            rc = err_set(ERR_IO, "cannot read back what counters read");
        for (size_t i = 0; i < n; i++)
            rows[i].time_ns = clock_fixed(fix, rows[i].time_ns);
        checksum_add(&sum, rows, n * width);
        if (rc == 0)
            rc = fs_write_at(fd, rows, n * width, at, formats[DETAIL_READINGS].name);
    }
    range->checksum[DETAIL_READINGS] = checksum_end(&sum);
    free(rows);
    return rc;
}

uint64_t detail_index_checksum(const struct detail_header *header, size_t bytes)
{
    struct detail_header copy = *header;

    copy.checksum = 0;
    return checksum_seeded(header + 1, bytes - sizeof copy, checksum_of(&copy, sizeof copy));
}

static void pack_name(struct pack *pack, const char *name)
{
    pack_bytes(pack, name, strlen(name) + 1);
}

static void pack_names(struct pack *pack, const struct definitions *defs,
                       const struct detail_header *header)
{
    for (uint32_t i = 0; i < header->n_counters; i++) {
        struct counter counter = definitions_counter_of(defs, i);

        pack_varint(pack, counter.mode);
        pack_varint(pack, counter.span);
        pack_name(pack, defs->counters.name[i]);
        pack_name(pack, counter.unit);
    }
    for (uint32_t i = 0; i < header->n_arguments; i++)
        pack_name(pack, defs->arguments.name[i]);
}

static int write_index(const struct detail_writer *w, const struct definitions *defs,
                       const struct detail_header *header)
{
    struct pack all = {0}, names = {0};
    struct detail_header *made;
    int fd = columns_open_file(w->dir, INDEX_NAME, true), rc = fd < 0 ? fd : 0;

    pack_names(&names, defs, header);
    pack_bytes(&all, header, sizeof *header);
    pack_bytes(&all, w->range, w->n_locations * sizeof *w->range);
    pack_bytes(&all, names.data, names.n);
    made = (void *)all.data;
    made->name_bytes = names.n;
    made->checksum = detail_index_checksum(made, all.n);
    if (rc == 0)
        rc = fs_write_at(fd, all.data, all.n, 0, INDEX_NAME);
    if (fd >= 0 && close(fd) != 0 && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", INDEX_NAME, strerror(errno));
    pack_release(&all);
    pack_release(&names);
    return rc;
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

int detail_writer_finish(struct detail_writer *w, const struct definitions *defs,
                         uint64_t columns_sum)
{
    struct detail_header header = {
        .magic = DETAIL_MAGIC,
        .version = DETAIL_VERSION,
        .n_locations = w->n_locations,
        .columns_sum = columns_sum,
        .n_counters = at_most(defs->counters.n, MAX_COUNTERS),
        .n_arguments = at_most(defs->arguments.n, MAX_ARGUMENT_NAMES),
    };

    for (uint32_t l = 0; l < w->n_locations; l++)
        for (int f = 0; f < N_DETAIL_FILES; f++)
            header.n[f] += w->range[l].n[f];
    if (header.n[DETAIL_READINGS] > 0 || header.n[DETAIL_ARGUMENTS] > 0)
        return write_index(w, defs, &header);
    for (int f = 0; f < N_DETAIL_FILES; f++)
        remove_file(w->dir, formats[f].name);
    return 0;
}

/* ---------------------------------------------------------------------------- reading */

static int map_one(struct detail_files *files, int f, int dir, const char *path)
{
    const char *name = f == N_DETAIL_FILES ? INDEX_NAME : formats[f].name;
    char full[FS_PATH_SIZE];
    int rc = fs_join(full, path, name);

    return rc < 0 ? rc : fs_map_at(dir, name, full, &files->map[f].data, &files->map[f].bytes);
}

/* Whether the parts of all locations follow each other and are all there is. */
static bool do_ranges_fit(const struct detail_files *files, const struct detail_header *header,
                          const struct detail_range *range)
{
    for (int f = 0; f < N_DETAIL_FILES; f++) {
        uint64_t end = 0;

        for (uint32_t l = 0; l < header->n_locations; l++) {
            if (range[l].first[f] != end || range[l].n[f] > header->n[f] - end)
                return false;
            end += range[l].n[f];
        }
        if (end != header->n[f] || header->n[f] > SIZE_MAX / formats[f].width ||
            files->map[f].bytes != header->n[f] * formats[f].width)
            return false;
    }
    return true;
}

/* A text of ours up to its zero; "" where there is none. */
static const char *unpack_name(struct pack *pack, struct arena *arena)
{
    const char *at = (const char *)pack->data + pack->at;
    size_t left = pack->n - pack->at, n = pack->is_bad ? left : strnlen(at, left);

    if (n == left) {
        pack->is_bad = true;
        return "";
    }
    unpack_bytes(pack, n + 1);
    return arena_string(arena, at);
}

static bool unpack_names(struct detail_files *files, struct pack *pack)
{
    files->counter = arena_array(&files->arena, struct detail_counter, files->n_counters);
    files->argument = arena_array(&files->arena, const char *, files->n_arguments);
    for (uint32_t i = 0; i < files->n_counters; i++) {
        uint64_t mode = unpack_varint(pack), span = unpack_varint(pack);

        pack->is_bad |= mode >= N_COUNTER_MODES || span >= N_COUNTER_SPANS;
        if (pack->is_bad)
            return false;
        files->counter[i].is.mode = (enum counter_mode)mode;
        files->counter[i].is.span = (enum counter_span)span;
        files->counter[i].name = unpack_name(pack, &files->arena);
        files->counter[i].is.unit = unpack_name(pack, &files->arena);
    }
    for (uint32_t i = 0; i < files->n_arguments; i++)
        files->argument[i] = unpack_name(pack, &files->arena);
    return !pack->is_bad && pack->at == pack->n;
}

static bool is_index_good(struct detail_files *files, uint32_t n_locations,
                          uint64_t columns_sum)
{
    const struct detail_header *header = files->map[N_DETAIL_FILES].data;
    size_t bytes = files->map[N_DETAIL_FILES].bytes - sizeof *header;
    size_t range_bytes = n_locations * sizeof(struct detail_range);
    const struct detail_range *range = (const void *)(header + 1);
    struct pack names;

    if (header->n_locations != n_locations || header->columns_sum != columns_sum ||
        bytes < range_bytes || header->name_bytes != bytes - range_bytes ||
        detail_index_checksum(header, bytes + sizeof *header) != header->checksum ||
        header->n_counters > MAX_NAMES || header->n_arguments > MAX_NAMES ||
        !do_ranges_fit(files, header, range))
        return false;
    names = (struct pack){.data = (unsigned char *)(uintptr_t)(range + n_locations),
                          .n = (size_t)header->name_bytes};
    files->n_counters = header->n_counters;
    files->n_arguments = header->n_arguments;
    if (!unpack_names(files, &names))
        return false;
    memcpy(files->n, header->n, sizeof files->n);
    files->range = range;
    return true;
}

static bool is_there(int dir, const char *name)
{
    struct stat info;

    return fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

int detail_files_open(struct detail_files *files, int dir, const char *path,
                      uint32_t n_locations, uint64_t columns_sum)
{
    const struct detail_header *header;
    int rc;

    *files = (struct detail_files){0};
    if (!is_there(dir, INDEX_NAME) && !is_there(dir, formats[DETAIL_READINGS].name))
        return 0;
    rc = map_one(files, N_DETAIL_FILES, dir, path);
    header = files->map[N_DETAIL_FILES].data;
    if (rc == 0 &&
        (files->map[N_DETAIL_FILES].bytes < sizeof *header || header->magic != DETAIL_MAGIC))
        rc = err_set(ERR_FORMAT, "damaged run: '%s/%s' is no such index", path, INDEX_NAME);
    if (rc == 0 && header->version != DETAIL_VERSION)
        rc = err_set(ERR_FORMAT,
                     "'%s/%s' was written by another version of snag (%" PRIu32
                     ", this one reads %u): analyze its trace again, into another run",
                     path, INDEX_NAME, header->version, DETAIL_VERSION);
    for (int f = 0; rc == 0 && f < N_DETAIL_FILES; f++)
        rc = map_one(files, f, dir, path);
    if (rc == 0 && !is_index_good(files, n_locations, columns_sum))
        rc = err_set(ERR_FORMAT,
                     "damaged run: '%s/%s' does not fit the calls, or the files it is of", path,
                     INDEX_NAME);
    return rc;
}

void detail_files_close(struct detail_files *files)
{
    for (int f = 0; f <= N_DETAIL_FILES; f++)
        fs_unmap(files->map[f].data, files->map[f].bytes);
    arena_release(&files->arena);
    *files = (struct detail_files){0};
}

static const void *part_of(const struct detail_files *files, enum detail_file f,
                           uint32_t location)
{
    const struct detail_range *range = &files->range[location];

    return range->n[f] == 0
               ? NULL
               : (const char *)files->map[f].data + range->first[f] * formats[f].width;
}

struct detail_view detail_files_view(const struct detail_files *files, uint32_t location)
{
    const struct detail_range *range;

    if (files->range == NULL)
        return (struct detail_view){0};
    range = &files->range[location];
    return (struct detail_view){
        .reading = part_of(files, DETAIL_READINGS, location),
        .n_readings = range->n[DETAIL_READINGS],
        .argument = part_of(files, DETAIL_ARGUMENTS, location),
        .n_arguments = range->n[DETAIL_ARGUMENTS],
        .text = part_of(files, DETAIL_TEXTS, location),
        .n_text = range->n[DETAIL_TEXTS],
    };
}

bool detail_files_check(const struct detail_files *files, uint32_t location, uint32_t n_calls)
{
    struct detail_view v = detail_files_view(files, location);

    for (size_t i = 0; i < v.n_readings; i++) {
        const struct detail_reading *r = &v.reading[i];

        if (reading_counter(r) >= files->n_counters || r->row > n_calls ||
            r->time_ns > TIME_MAX_SPAN_NS ||
            (i > 0 && (r->row < r[-1].row || r->time_ns < r[-1].time_ns)))
            return false;
    }
    for (size_t i = 0; i < v.n_arguments; i++) {
        const struct argument *a = &v.argument[i];

        if (a->name >= files->n_arguments || a->call >= n_calls ||
            a->kind >= N_ARGUMENT_KINDS || (i > 0 && a->call < a[-1].call) ||
            (a->kind == ARGUMENT_TEXT && a->natural >= v.n_text))
            return false;
    }
    return v.n_text == 0 || v.text[v.n_text - 1] == '\0';
}

int detail_files_verify(const struct detail_files *files, uint32_t location)
{
    for (enum detail_file f = 0; files->range && f < N_DETAIL_FILES; f++) {
        const struct detail_range *range = &files->range[location];

        if (checksum_of(part_of(files, f, location), range->n[f] * formats[f].width) !=
            range->checksum[f])
            return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                           formats[f].name);
    }
    return 0;
}

size_t detail_files_bytes(const struct detail_files *files)
{
    size_t bytes = 0;

    for (int f = 0; f < N_DETAIL_FILES; f++)
        bytes += files->map[f].bytes;
    return bytes;
}

void detail_files_advise(const struct detail_files *files, int advice)
{
    for (int f = 0; f < N_DETAIL_FILES; f++)
        fs_advise(files->map[f].data, files->map[f].bytes, advice);
}
