/*
 * A Chrome JSON trace, which reaches the reader as files: a byte 0x1e, which JSON has nowhere,
 * parts one from the next. One that begins with '#' is of rules (--links); 0x01 in front of one
 * has it compressed by gzip, 0x02 by zstd, so that changes reach what is inside.
 */
#include "fuzz.h"

#include "read_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#define BETWEEN 0x1e
#define MAX_FILES 6

struct files {
    int fd[MAX_FILES + 1];
    char path[MAX_FILES + 1][32], links[32];
    size_t n, n_open;
};

static void put(int fd, const void *data, size_t n)
{
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
}

static void put_gzip(int fd, const uint8_t *data, size_t n)
{
    gzFile out = gzdopen(dup(fd), "wb1");

    if (out == NULL || gzwrite(out, data, (unsigned)n) != (int)n || gzclose(out) != Z_OK)
        abort();
}

static void put_zstd(int fd, const uint8_t *data, size_t n)
{
    size_t size = ZSTD_compressBound(n);
    void *packed = malloc(size);

    size = ZSTD_compress(packed, size, data, n, 1);
    if (ZSTD_isError(size))
        abort();
    put(fd, packed, size);
    free(packed);
}

static void add(struct files *files, const uint8_t *data, size_t n)
{
    int fd = memfd_create("trace.json", MFD_CLOEXEC);
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    files->fd[files->n_open++] = fd;
    if (n > 1 && data[0] == 1)
        put_gzip(fd, data + 1, n - 1);
    else if (n > 1 && data[0] == 2)
        put_zstd(fd, data + 1, n - 1);
    else
        put(fd, data, n);
    if (n > 0 && data[0] == '#')
        strcpy(files->links, path);
    else
        strcpy(files->path[files->n++], path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct files files = {.n = 0};
    const uint8_t *end = data + size, *next;
    const char *more[MAX_FILES + 1];
    struct source_opts opts = {.more = more};

    for (; files.n_open < MAX_FILES && data < end; data = next + (next < end)) {
        next = memchr(data, BETWEEN, (size_t)(end - data));
        next = next ? next : end;
        add(&files, data, (size_t)(next - data));
    }
    for (size_t i = 1; i < files.n; i++)
        more[opts.n_more++] = files.path[i];
    opts.links = files.links[0] ? files.links : NULL;
    if (files.n > 0)
        read_source(files.path[0], &opts);
    for (size_t i = 0; i < files.n_open; i++)
        close(files.fd[i]);
    return 0;
}
