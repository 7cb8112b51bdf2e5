/*
 * The window slides over the bytes of a chunk: what was not decoded moves to its front, and is
 * filled up from the file. After the last byte there are zeros for as long as a record, so
 * that a decoder may load first and check then.
 */
#include "trace/otf2/otf2_file.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES 18u
#define CHUNK_HEADER 3u
#define LITTLE_ENDIAN_MARK 0x42u
#define BIG_ENDIAN_MARK 0x23u
#define MIN_EVENT_BYTES 2u        /* a type, and a length or a number */
#define WINDOW_BYTES (256u << 10) /* fits the second-level cache */

static uint64_t chunk_end(const struct otf2_file *f)
{
    return f->bytes - f->chunk_at < f->chunk_bytes ? f->bytes : f->chunk_at + f->chunk_bytes;
}

/* Fills the window, after the `kept` bytes at its front, with what follows in the chunk. A file
 * may have become shorter since, or a disk may fail: what is there is read. */
static void load(struct otf2_file *f, size_t kept)
{
    uint64_t left = chunk_end(f) - f->loaded;
    size_t room = f->window_bytes - kept, want = left < room ? (size_t)left : room;
    size_t got = fs_read_at(f->fd, f->window + kept, want, f->loaded);

    if (got < want)
        f->bytes = f->loaded + got;
    f->loaded += got;
    f->at = f->window;
    f->end = f->window + kept + got;
    memset(f->window + kept + got, 0, OTF2_FILE_MAX_RECORD_BYTES);
    f->fill = f->loaded < chunk_end(f) ? f->end - OTF2_FILE_MAX_RECORD_BYTES : f->end;
}

static uint64_t header_number(const uint8_t *at, bool is_big_endian)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return is_big_endian ? __builtin_bswap64(value) : value;
}

/* Takes the event numbers of the chunk's header, if its bytes can hold as many. */
static bool take_numbers(struct otf2_file *f, const uint8_t header[HEADER_BYTES])
{
    uint64_t first = header_number(header + 2, f->is_big_endian);
    uint64_t n = header_number(header + 10, f->is_big_endian) + 1 - first;

    if (first == 0 || first > f->chunk_at / MIN_EVENT_BYTES + 1 ||
        n > f->chunk_bytes / MIN_EVENT_BYTES)
        return false;
    f->first = first;
    f->n_said = n;
    return true;
}

/* Goes into the chunk at f->chunk_at, if there is one. */
static bool enter_chunk(struct otf2_file *f)
{
    uint8_t header[HEADER_BYTES];

    if (chunk_end(f) - f->chunk_at < HEADER_BYTES ||
        fs_read_at(f->fd, header, HEADER_BYTES, f->chunk_at) < HEADER_BYTES ||
        header[0] != CHUNK_HEADER ||
        (header[1] != LITTLE_ENDIAN_MARK && header[1] != BIG_ENDIAN_MARK))
        return false;
    f->is_big_endian = header[1] == BIG_ENDIAN_MARK;
    if (!take_numbers(f, header)) {
        f->n_damaged++;
        f->first = f->next_event;
        f->n_said = 0;
    }
    if (f->first > f->next_event)
        f->n_lost += f->first - f->next_event;
    f->n_events = 0;
    f->loaded = f->chunk_at + HEADER_BYTES;
    load(f, 0);
    return true;
}

/* The next chunk from f->chunk_at on that can be read, or the end of the file. */
static void find_chunk(struct otf2_file *f)
{
    bool is_skipping = false;

    while (f->chunk_at < f->bytes && !enter_chunk(f)) {
        is_skipping = true;
        f->chunk_at = chunk_end(f);
    }
    if (f->chunk_at < f->bytes) {
        f->n_damaged += is_skipping;
    } else {
        f->is_cut |= is_skipping;
        f->at = f->end = f->fill = NULL;
    }
}

/* Of a live analysis all files are open at once, and most of many are small. */
static void make_window(struct otf2_file *f)
{
    size_t bytes = f->bytes < WINDOW_BYTES ? (size_t)f->bytes : WINDOW_BYTES;

    bytes += OTF2_FILE_MAX_RECORD_BYTES;
    if (bytes <= f->window_bytes)
        return;
    f->window = mem_resize(f->window, bytes + OTF2_FILE_MAX_RECORD_BYTES, 1);
    f->window_bytes = bytes;
}

int otf2_file_open(struct otf2_file *f, const char *path, uint64_t chunk_bytes)
{
    uint8_t *window = f->window;
    size_t window_bytes = f->window_bytes;
    struct stat info;

    *f = (struct otf2_file){.fd = open(path, O_RDONLY | O_CLOEXEC),
                            .chunk_bytes = chunk_bytes,
                            .next_event = 1,
                            .window = window,
                            .window_bytes = window_bytes};
    if (f->fd < 0 || fstat(f->fd, &info) != 0)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return err_set(ERR_IO, "cannot read '%s': not a file", path);
    f->bytes = (uint64_t)info.st_size;
    make_window(f);
    f->is_cut = f->bytes < HEADER_BYTES;
    find_chunk(f);
    return 0;
}

void otf2_file_close(struct otf2_file *f)
{
    if (f->fd > 0)
        close(f->fd);
    f->fd = -1;
}

void otf2_file_release(struct otf2_file *f)
{
    otf2_file_close(f);
    free(f->window);
    *f = (struct otf2_file){.fd = -1};
}

void otf2_file_leave(struct otf2_file *f, enum otf2_file_end end)
{
    uint64_t next = f->first + (f->n_events > f->n_said ? f->n_events : f->n_said);
    bool is_short = chunk_end(f) - f->chunk_at < f->chunk_bytes; /* as the last one may be */
    bool is_cut = (end == OTF2_FILE_MARKED && is_short) ||
                  (end == OTF2_FILE_OVERRUN && chunk_end(f) == f->bytes);
    bool is_well = end == OTF2_FILE_MARKED || end == OTF2_FILE_LAST;

    if (f->n_events < f->n_said)
        f->n_lost += f->n_said - f->n_events;
    f->is_cut |= is_cut;
    f->n_damaged += !is_cut && (!is_well || f->n_events < f->n_said);
    if (next > f->next_event)
        f->next_event = next;
    f->chunk_at = chunk_end(f);
    find_chunk(f);
}

bool otf2_file_fill(struct otf2_file *f)
{
    while (f->at >= f->fill) {
        size_t kept = (size_t)(f->end - f->at);

        if (f->at == NULL)
            return false;
        if (f->loaded < chunk_end(f)) {
            memmove(f->window, f->at, kept);
            load(f, kept);
        } else {
            otf2_file_leave(f, OTF2_FILE_OVERRUN);
        }
    }
    return true;
}

bool otf2_file_has(const struct otf2_file *f, uint64_t n)
{
    uint64_t here = (uint64_t)(f->end - f->at);

    return n <= here || n - here <= chunk_end(f) - f->loaded;
}

void otf2_file_skip(struct otf2_file *f, uint64_t n)
{
    uint64_t here = (uint64_t)(f->end - f->at);

    if (n <= here) {
        f->at += n;
    } else {
        f->loaded += n - here;
        load(f, 0);
    }
}
