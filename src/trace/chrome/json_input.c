/*
 * Both libraries are used alike: compressed bytes go in, plain ones come out until nothing
 * more does. What differs is one function each, `inflate` and `ZSTD_decompressStream`.
 *
 * The filter takes one step per byte. A line end closes whatever is open: in JSON it can stand
 * in no token, so where a quote is missing it is the line that is lost and not the rest of the
 * file.
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

/* ------------------------------------------------------------------------------------ bytes */

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

/* ------------------------------------------------------------------------------------- JSON */

/* Where the output goes. */
struct json_output {
    unsigned char *out;
    size_t n;
    unsigned char
        *comma; /* the last in it, with nothing but blanks after; NULL: there is none */
};

static inline void put(struct json_output *s, unsigned char c)
{
    s->out[s->n++] = c;
}

static void put_text(struct json_output *s, const char *text)
{
    while (*text)
        put(s, (unsigned char)*text++);
}

static bool is_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '+' || c == '-' || c == '.';
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void begin_token(struct json_filter *f, enum json_filter_state state)
{
    f->state = state;
    f->n_token = 0;
    f->is_cutting = false;
}

/* A byte of a token, of which only so many are kept; an escape is kept whole or not at all. */
static inline void put_token(struct json_filter *f, struct json_output *s, unsigned char c)
{
    if (f->n_token == JSON_MAX_TOKEN_BYTES && f->state != JSON_FILTER_ESCAPE)
        f->is_cutting = true;
    f->n_token += f->n_token < JSON_MAX_TOKEN_BYTES;
    if (!f->is_cutting)
        put(s, c);
}

/* Whether a comma that stands behind this byte has nothing before it. */
static bool parts_nothing(unsigned char last)
{
    return last == '\0' || last == '[' || last == '{';
}

/* What comes after a comma decides whether it stays: a blank takes the place of one too many.
 */
static void settle_comma(struct json_filter *f, struct json_output *s, bool is_too_many)
{
    if (s->comma && is_too_many)
        *s->comma = ' ';
    if (f->has_comma && !is_too_many)
        put(s, ',');
    s->comma = NULL;
    f->has_comma = false;
}

/* One that is not decided yet waits for the next bytes; the blanks after it need not. */
static void hold_comma(struct json_filter *f, struct json_output *s)
{
    if (s->comma == NULL)
        return;
    memmove(s->comma, s->comma + 1, (size_t)(s->out + s->n - s->comma) - 1);
    s->n--;
    f->has_comma = true;
}

static void between(struct json_filter *f, struct json_output *s, unsigned char c)
{
    if (is_blank(c)) {
        put(s, c);
        return;
    }
    if (c == '/') {
        f->state = JSON_FILTER_SLASH;
        return;
    }
    if (c == ',' && parts_nothing(f->last)) {
        put(s, ' ');
        return;
    }
    settle_comma(f, s, c == '}' || c == ']' || c == ',');
    if ((f->last == '}' || f->last == ']') && (c == '{' || c == '['))
        put(s, ',');
    f->last = c;
    if (c == ',')
        s->comma = s->out + s->n;
    if (c == '"')
        begin_token(f, JSON_FILTER_STRING);
    else if (is_word(c))
        begin_token(f, JSON_FILTER_WORD);
    if (is_word(c) && strchr("NIi", c)) {
        put_text(s, "null");
        f->is_cutting = true;
    } else {
        put(s, c);
    }
}

/* The second byte of a word, whose first is out: of "nan", "-inf" and their kin the rest goes.
 */
static void second_of_word(struct json_filter *f, struct json_output *s, unsigned char c)
{
    bool is_nan = f->last == 'n' && c == 'a';
    bool is_signed = f->last == '-' && strchr("NnIi", c);

    if (f->is_cutting || (!is_nan && !is_signed)) {
        put_token(f, s, c);
        return;
    }
    put_text(s, is_nan ? "ull" : "1e999");
    f->is_cutting = true;
    f->n_token++;
}

static void in_string(struct json_filter *f, struct json_output *s, unsigned char c)
{
    if (c == '"' || c == '\n') {
        if (f->is_cutting)
            put(s, JSON_CUT);
        f->state = JSON_FILTER_BETWEEN;
        put(s, c);
        return;
    }
    put_token(f, s, c);
    if (c == '\\')
        f->state = JSON_FILTER_ESCAPE;
}

static void in_comment(struct json_filter *f, struct json_output *s, unsigned char c)
{
    if (c == '\n')
        put(s, c);
    if (f->state == JSON_FILTER_LINE)
        f->state = c == '\n' ? JSON_FILTER_BETWEEN : JSON_FILTER_LINE;
    else if (f->state == JSON_FILTER_STAR && c == '/')
        f->state = JSON_FILTER_BETWEEN;
    else
        f->state = c == '*' ? JSON_FILTER_STAR : JSON_FILTER_BLOCK;
}

static void behind_slash(struct json_filter *f, struct json_output *s, unsigned char c)
{
    if (c == '/' || c == '*') {
        f->state = c == '/' ? JSON_FILTER_LINE : JSON_FILTER_BLOCK;
        return;
    }
    put(s, '/'); /* nonsense, which the parser is to see */
    f->state = JSON_FILTER_BETWEEN;
    between(f, s, c);
}

static void take(struct json_filter *f, struct json_output *s, unsigned char c)
{
    switch (f->state) {
    case JSON_FILTER_BETWEEN:
        between(f, s, c);
        break;
    case JSON_FILTER_WORD:
        if (is_word(c) && f->n_token == 0) {
            second_of_word(f, s, c);
        } else if (is_word(c)) {
            put_token(f, s, c);
        } else {
            f->state = JSON_FILTER_BETWEEN;
            between(f, s, c);
        }
        break;
    case JSON_FILTER_STRING:
        in_string(f, s, c);
        break;
    case JSON_FILTER_ESCAPE:
        put_token(f, s, c);
        f->state = JSON_FILTER_STRING;
        break;
    case JSON_FILTER_SLASH:
        behind_slash(f, s, c);
        break;
    default:
        in_comment(f, s, c);
    }
}

size_t json_filter(struct json_filter *f, const unsigned char *text, size_t n,
                   unsigned char *out)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    struct json_output sink = {.out = out};

    for (size_t i = 0; i < n; i++) {
        if (f->n_read + i < sizeof mark && text[i] == mark[f->n_read + i])
            continue;
        take(f, &sink, text[i]);
    }
    hold_comma(f, &sink);
    f->n_read += n;
    return sink.n;
}
