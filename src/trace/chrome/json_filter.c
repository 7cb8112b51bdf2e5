/*
 * One step per byte. A line end closes whatever is open: in JSON it can stand in no token, so
 * where a quote is missing it is the line that is lost and not the rest of the file.
 */
#include "trace/chrome/json_filter.h"

#include <string.h>

/* Where the output goes. */
struct sink {
    unsigned char *out;
    size_t n;
    unsigned char
        *comma; /* the last in it, with nothing but blanks after; NULL: there is none */
};

static inline void put(struct sink *s, unsigned char c)
{
    s->out[s->n++] = c;
}

static void put_text(struct sink *s, const char *text)
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
static inline void put_token(struct json_filter *f, struct sink *s, unsigned char c)
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
static void settle_comma(struct json_filter *f, struct sink *s, bool is_too_many)
{
    if (s->comma && is_too_many)
        *s->comma = ' ';
    if (f->has_comma && !is_too_many)
        put(s, ',');
    s->comma = NULL;
    f->has_comma = false;
}

/* One that is not decided yet waits for the next bytes; the blanks after it need not. */
static void hold_comma(struct json_filter *f, struct sink *s)
{
    if (s->comma == NULL)
        return;
    memmove(s->comma, s->comma + 1, (size_t)(s->out + s->n - s->comma) - 1);
    s->n--;
    f->has_comma = true;
}

static void between(struct json_filter *f, struct sink *s, unsigned char c)
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
static void second_of_word(struct json_filter *f, struct sink *s, unsigned char c)
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

static void in_string(struct json_filter *f, struct sink *s, unsigned char c)
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

static void in_comment(struct json_filter *f, struct sink *s, unsigned char c)
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

static void behind_slash(struct json_filter *f, struct sink *s, unsigned char c)
{
    if (c == '/' || c == '*') {
        f->state = c == '/' ? JSON_FILTER_LINE : JSON_FILTER_BLOCK;
        return;
    }
    put(s, '/'); /* nonsense, which the parser is to see */
    f->state = JSON_FILTER_BETWEEN;
    between(f, s, c);
}

static void take(struct json_filter *f, struct sink *s, unsigned char c)
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
    struct sink sink = {.out = out};

    for (size_t i = 0; i < n; i++) {
        if (f->n_read + i < sizeof mark && text[i] == mark[f->n_read + i])
            continue;
        take(f, &sink, text[i]);
    }
    hold_comma(f, &sink);
    f->n_read += n;
    return sink.n;
}
