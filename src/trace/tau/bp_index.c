/* Only sizes are looked at: what ADIOS2 makes of the records is its own business. */
#include "trace/tau/bp_index.h"

#include "base/fs.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER_BYTES 64
#define VERSION_AT 37
#define BP4_RECORD_BYTES 64
#define BP4_END_AT 40
#define BP5_HEAD_BYTES 9

static uint64_t number_at(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* Where the last step ends in md.0. False if the records do not come out even. */
static bool end_of_bp4(const unsigned char *index, size_t n, uint64_t *end)
{
    for (size_t at = HEADER_BYTES; at + BP4_RECORD_BYTES <= n; at += BP4_RECORD_BYTES)
        *end = number_at(index + at + BP4_END_AT);
    return (n - HEADER_BYTES) % BP4_RECORD_BYTES == 0;
}

static bool end_of_bp5(const unsigned char *index, size_t n, uint64_t *end)
{
    size_t at = HEADER_BYTES;

    while (n - at >= BP5_HEAD_BYTES) {
        uint64_t bytes = number_at(index + at + 1);
        const unsigned char *body = index + at + BP5_HEAD_BYTES;

        if (bytes > n - at - BP5_HEAD_BYTES)
            return false;
        if (index[at] == 's' && bytes >= 16)
            *end = number_at(body) + number_at(body + 8);
        at += BP5_HEAD_BYTES + bytes;
    }
    return at == n;
}

static enum bp_index compare(const unsigned char *index, size_t n, uint64_t metadata_bytes)
{
    uint64_t end = 0;
    bool is_even;

    if (n < HEADER_BYTES || (index[VERSION_AT] != 4 && index[VERSION_AT] != 5))
        return BP_INDEX_FITS;
    is_even = index[VERSION_AT] == 4 ? end_of_bp4(index, n, &end) : end_of_bp5(index, n, &end);
    if (end > metadata_bytes)
        return BP_INDEX_LONG;
    return end < metadata_bytes || !is_even ? BP_INDEX_SHORT : BP_INDEX_FITS;
}

enum bp_index bp_index_check(const char *path)
{
    char name[FS_PATH_SIZE];
    const void *index = NULL;
    struct stat info;
    size_t n = 0;
    enum bp_index result;

    if (fs_join(name, path, "md.0") != 0 || stat(name, &info) != 0 ||
        fs_join(name, path, "md.idx") != 0 || fs_map(name, &index, &n) != 0)
        return BP_INDEX_FITS;
    result = compare(index, n, (uint64_t)info.st_size);
    fs_unmap(index, n);
    return result;
}
