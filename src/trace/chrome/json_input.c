/*
 * Both libraries are used alike: compressed bytes go in, plain ones come out until nothing more
 * does. What differs is one function each, `inflate` and `ZSTD_decompressStream`.
 */
#include "trace/chrome/json_input.h"

#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

struct input {
    int fd;
    const char *name;
    unsigned char raw[JSON_INPUT_PIECE], plain[JSON_INPUT_PIECE];
    size_t n_raw, at; /* bytes in raw, and how many of them are used */
    bool is_over;     /* of the file */
    int error;        /* errno of a read that failed */
    enum packing packing;
    z_stream gzip;
    ZSTD_DStream *zstd;
    bool is_within; /* a member or frame has begun and is not over */
    bool is_broken; /* what is compressed makes no sense */
};

static enum packing packing_of(const unsigned char *text, size_t n)
{
    if (n >= 4 && memcmp(text, "\x28\xb5\x2f\xfd", 4) == 0)
        return PACKING_ZSTD;
    return n >= 2 && memcmp(text, "\x1f\x8b", 2) == 0 ? PACKING_GZIP : PACKING_NONE;
}

/* Takes the next bytes of the file behind those that are left. */
static void fill(struct input *in)
{
    ssize_t n;

    memmove(in->raw, in->raw + in->at, in->n_raw - in->at);
    in->n_raw -= in->at;
    in->at = 0;
    do
        n = read(in->fd, in->raw + in->n_raw, sizeof in->raw - in->n_raw);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        in->error = errno;
    in->is_over = n <= 0;
    in->n_raw += n > 0 ? (size_t)n : 0;
}

static bool input_open(struct input *in, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;

    in->name = is_stdin ? "standard input" : path;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return false;
    do
        fill(in);
    while (!in->is_over && in->n_raw < 4);
    in->packing = packing_of(in->raw, in->n_raw);
    if (in->packing == PACKING_GZIP && inflateInit2(&in->gzip, 16 + MAX_WBITS) != Z_OK)
        mem_give_up(1, sizeof in->gzip);
    if (in->packing == PACKING_ZSTD && (in->zstd = ZSTD_createDStream()) == NULL)
        mem_give_up(1, sizeof in->zstd);
    return true;
}

static void input_close(struct input *in)
{
    if (in->packing == PACKING_GZIP)
        inflateEnd(&in->gzip);
    ZSTD_freeDStream(in->zstd);
    if (in->fd > STDIN_FILENO)
        close(in->fd);
}

static size_t unpack_gzip(struct input *in)
{
    int state;

    if (!in->is_within && inflateReset(&in->gzip) != Z_OK)
        in->is_broken = true;
    in->is_within = true;
    in->gzip.next_in = in->raw + in->at;
    in->gzip.avail_in = (unsigned)(in->n_raw - in->at);
    in->gzip.next_out = in->plain;
    in->gzip.avail_out = sizeof in->plain;
    state = inflate(&in->gzip, Z_NO_FLUSH);
    in->at = in->n_raw - in->gzip.avail_in;
    in->is_within = state != Z_STREAM_END;
    in->is_broken |= state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR;
    return sizeof in->plain - in->gzip.avail_out;
}

static size_t unpack_zstd(struct input *in)
{
    ZSTD_inBuffer from = {in->raw, in->n_raw, in->at};
    ZSTD_outBuffer to = {in->plain, sizeof in->plain, 0};
    size_t state = ZSTD_decompressStream(in->zstd, &to, &from);

    in->at = from.pos;
    in->is_broken |= ZSTD_isError(state) != 0;
    in->is_within = state != 0;
    return to.pos;
}

/* The next plain bytes, 0 at the end, or where nothing more comes of what there is. */
static size_t input_next(struct input *in, const unsigned char **text)
{
    size_t n = 0;

    *text = in->plain;
    while (n == 0 && !in->is_broken) {
        size_t before;

        if (in->at == in->n_raw && !in->is_over)
            fill(in);
        before = in->at;
        if (in->packing == PACKING_NONE) {
            *text = in->raw + in->at;
            n = in->n_raw - in->at;
            in->at = in->n_raw;
        } else if (in->at < in->n_raw || in->is_within) {
            n = in->packing == PACKING_GZIP ? unpack_gzip(in) : unpack_zstd(in);
        }
        if (n == 0 && in->at == before && (in->is_over || in->at < in->n_raw))
            break;
    }
    return n;
}

int json_input_read(const char *path, json_input_fn *take, void *ctx, bool *is_cut)
{
    struct input *in = mem_alloc(1, sizeof *in);
    const unsigned char *text;
    int rc = 0;
    size_t n;

    *is_cut = false;
    if (!input_open(in, path)) {
        rc = err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    } else {
        while ((n = input_next(in, &text)) > 0)
            take(ctx, text, n);
        *is_cut = in->is_broken || (in->packing != PACKING_NONE && in->is_within);
        if (in->error)
            rc = err_set(ERR_IO, "cannot read '%s': %s", in->name, strerror(in->error));
        input_close(in);
    }
    free(in);
    return rc;
}

size_t json_input_head(const char *path, unsigned char *head, size_t size)
{
    struct input *in = mem_alloc(1, sizeof *in);
    const unsigned char *text;
    size_t n = 0, more;

    if (input_open(in, path)) {
        while (n < size && (more = input_next(in, &text)) > 0) {
            more = more < size - n ? more : size - n;
            memcpy(head + n, text, more);
            n += more;
        }
        input_close(in);
    }
    free(in);
    return n;
}
