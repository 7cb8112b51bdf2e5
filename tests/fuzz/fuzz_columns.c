/*
 * The calls of a run, damaged: the input says what to change in which file.
 *
 *     | file | 2 bytes offset | how many | that many bytes | file | ...
 *
 * With how many 0 the file ends at the offset. What opens is checked as snag show does, and
 * what passes must make a tree.
 */
#include "fuzz.h"

#include "base/fs.h"
#include "forest/forest.h"
#include "run/columns.h"
#include "run/ingest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_FILES (N_COLUMNS + 4)
#define MOST_BYTES 65536

static char dir[] = "/tmp/snag-fuzz-XXXXXX";
static struct definitions defs;
static struct {
    char path[128];
    unsigned char data[MOST_BYTES];
    ssize_t n;
} file[N_FILES];

static void load(int f, const char *name)
{
    int fd;

    snprintf(file[f].path, sizeof file[f].path, "%s/calls/%s", dir, name);
    fd = open(file[f].path, O_RDONLY | O_CLOEXEC);
    file[f].n = read(fd, file[f].data, MOST_BYTES);
    if (fd < 0 || file[f].n < 0)
        abort();
    close(fd);
}

static void remove_run(void)
{
    fs_remove_tree(dir);
}

static void make_run(void)
{
    static const char *const others[] = {"depth_start.u64", "messages.rec", "collectives.rec",
                                         "index"};
    struct pool *pool = pool_new(1);
    struct ingest_opts opts = {.dir = dir, .pool = pool};
    struct ingested ingested = {0};
    struct source source;

    if (mkdtemp(dir) == NULL || atexit(remove_run) != 0 ||
        source_open(&source, "synth:3*step(a(b c) >1 <1 |);ranks=2") < 0 ||
        ingest(&source, &opts, &ingested) < 0)
        abort();
    defs = source.defs;
    source.defs = (struct definitions){0};
    ingested_release(&ingested);
    source_close(&source);
    pool_free(pool);
    for (int f = 0; f < N_FILES; f++)
        load(f, f < N_COLUMNS ? columns_name(f) : others[f - N_COLUMNS]);
}

static void put(int f, const unsigned char *data, size_t n)
{
    int fd = open(file[f].path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    close(fd);
}

/* Applies one change. Returns how many bytes of the input it was, 0 at the end. */
static size_t damage(const uint8_t *data, size_t size)
{
    unsigned char copy[MOST_BYTES];
    size_t at, n, end;
    int f;

    if (size < 4)
        return 0;
    f = data[0] % N_FILES;
    at = data[1] | (size_t)data[2] << 8;
    n = data[3] < size - 4 ? data[3] : size - 4;
    at = at < (size_t)file[f].n ? at : (size_t)file[f].n;
    end = at + n < (size_t)file[f].n ? at + n : (size_t)file[f].n;
    memcpy(copy, file[f].data, (size_t)file[f].n);
    memcpy(copy + at, data + 4, end - at);
    put(f, copy, data[3] ? (size_t)file[f].n : at);
    return 4 + n;
}

static void use_call(const struct columns *columns, uint32_t location, uint32_t row)
{
    struct call_view view = columns_view(columns, location);
    struct forest forest = {0};

    if (columns_check_tree(columns, location, row, &defs) < 0)
        return;
    forest_of_call(&forest, location, &view, row);
    forest_depth(&forest);
    forest_release(&forest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct columns columns;

    if (file[0].n == 0)
        make_run();
    for (size_t at = 0, n; (n = damage(data + at, size - at)) > 0;)
        at += n;
    if (columns_open(&columns, dir) == 0) {
        columns_verify(&columns);
        for (uint32_t l = 0; l < columns.n_locations; l++)
            columns_check(&columns, l, &defs);
        for (uint32_t l = 0; l < columns.n_locations; l++)
            for (uint32_t i = 0; i < columns.range[l].n_calls; i++)
                use_call(&columns, l, i);
    }
    columns_close(&columns);
    for (int f = 0; f < N_FILES; f++)
        put(f, file[f].data, (size_t)file[f].n);
    return 0;
}
