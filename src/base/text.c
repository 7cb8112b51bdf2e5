/* Units go up by 1000 for times and 1024 for bytes; a value keeps three significant digits. */
#include "base/text.h"

#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define LONGEST 256

static char *scaled(double value, double step, const char *const *unit, size_t n_units,
                    char out[TEXT_SIZE])
{
    double size = fabs(value);
    size_t u = 0;
    int decimals;

    while (u + 1 < n_units && size >= 0.9995 * step) {
        size /= step;
        u++;
    }
    decimals = u == 0 && (size == floor(size) || size >= 9.995) ? 0
               : size < 9.995                                   ? 2
               : size < 99.95                                   ? 1
                                                                : 0;
    snprintf(out, TEXT_SIZE, "%s%.*f %s", value < 0 ? "-" : "", decimals, size, unit[u]);
    return out;
}

#define MIN_SCORE 1e-6     /* of which a digit is shown */
#define TYPICAL_SCORE 5e-3 /* from here on two digits show one */

char *text_score(double score, char out[TEXT_SIZE])
{
    double size = fabs(score);
    int digits = size >= MIN_SCORE && size < TYPICAL_SCORE ? (int)ceil(-log10(size)) : 2;

    snprintf(out, TEXT_SIZE, "%.*f", digits, size < MIN_SCORE ? 0 : score);
    return out;
}

char *text_duration(double ns, char out[TEXT_SIZE])
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};

    return scaled(ns, 1000, unit, 4, out);
}

char *text_place(uint32_t rank, uint32_t thread, char out[TEXT_SIZE])
{
    if (thread > 0)
        snprintf(out, TEXT_SIZE, "rank %u.%u", rank, thread);
    else
        snprintf(out, TEXT_SIZE, "rank %u", rank);
    return out;
}

char *text_duration_range(double least_ns, double most_ns, char out[TEXT_RANGE_SIZE])
{
    char least[TEXT_SIZE], most[TEXT_SIZE];
    char *unit;

    text_duration(most_ns, most);
    if (!text_is_range(least_ns, most_ns)) {
        snprintf(out, TEXT_RANGE_SIZE, "%s", most);
        return out;
    }
    if (least_ns == 0) {
        snprintf(out, TEXT_RANGE_SIZE, "at most %s", most);
        return out;
    }
    unit = strchr(text_duration(least_ns, least), ' ');
    if (strcmp(unit, strchr(most, ' ')) == 0) /* it is said once */
        *unit = '\0';
    snprintf(out, TEXT_RANGE_SIZE, "%s to %s", least, most);
    return out;
}

char *text_duration_or_range(double ns, double least_ns, double most_ns,
                             char out[TEXT_RANGE_SIZE])
{
    return text_is_range(least_ns, most_ns) ? text_duration_range(least_ns, most_ns, out)
                                            : text_duration(ns, out);
}

bool text_parse_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isdigit((unsigned char)*text))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0 && !(value == 0 && *end == '\0'))
            continue;
        value *= units[i].ns;
        *ns = value <= 1e18 ? (uint64_t)(value + 0.5) : 0;
        return value <= 1e18;
    }
    return false;
}

char *text_bytes(double bytes, char out[TEXT_SIZE])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};

    return scaled(bytes, 1024, unit, 5, out);
}

char *text_count(uint64_t n, char out[TEXT_SIZE])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    int at = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

void text_say(struct text_writer *w, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(w->out + w->n, w->size - w->n, fmt, args);
    va_end(args);
    w->n = w->n + (size_t)n < w->size ? w->n + (size_t)n : w->size - 1;
}

char *text_new_of(const char *fmt, va_list args)
{
    char *text;

    if (vasprintf(&text, fmt, args) < 0)
        mem_give_up(1, BUFSIZ);
    return text;
}

char *text_new(const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = text_new_of(fmt, args);
    va_end(args);
    return text;
}

FILE *text_open(char **text, size_t *n)
{
    FILE *file = open_memstream(text, n);

    if (file == NULL)
        mem_give_up(1, BUFSIZ);
    return file;
}

bool text_ends_with(const char *text, size_t n, const char *end)
{
    size_t m = strlen(end);

    return n >= m && memcmp(text + n - m, end, m) == 0;
}

char *text_names(const char *(*name)(size_t i), char *out, size_t size)
{
    struct text_writer w = {.out = out, .size = size};

    *out = '\0';
    for (size_t i = 0; name(i); i++)
        text_say(&w, "%s%s", i ? ", " : "", name(i));
    return out;
}

const char *text_number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    if (at == NULL)
        return NULL;
    at += strlen(word);
    at += strspn(at, " :#_=[");
    return isdigit((unsigned char)*at) ? at : NULL;
}

/* Returns the characters of the time but for the fraction of a second. */
static size_t put_utc(time_t seconds, char out[TEXT_UTC_SIZE])
{
    struct tm utc;

    gmtime_r(&seconds, &utc);
    return strftime(out, TEXT_UTC_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
}

char *text_utc(uint64_t ns, char out[TEXT_UTC_SIZE])
{
    size_t n = put_utc((time_t)(ns / 1000000000u), out);

    snprintf(out + n, TEXT_UTC_SIZE - n, ".%03uZ", (unsigned)(ns % 1000000000u / 1000000));
    return out;
}

char *text_utc_now(char out[TEXT_UTC_SIZE])
{
    strcpy(out + put_utc(time(NULL), out), "Z");
    return out;
}

uint64_t text_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t text_decode(const char *text, uint32_t *code)
{
    const unsigned char *at = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *at < 0x80   ? 1
               : *at < 0xc2 ? 0
               : *at < 0xe0 ? 2
               : *at < 0xf0 ? 3
               : *at < 0xf5 ? 4
                            : 0;

    *code = *at & (n == 1 ? 0x7fu : 0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if (!text_continues(text[i]))
            n = 0;
        *code = *code << 6 | (at[i] & 0x3fu);
    }
    if (n > 0 && *code >= least[n] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff))
        return n;
    *code = TEXT_NO_CODE;
    return 1;
}

char *text_utf8(const char *text, size_t n, size_t *n_out)
{
    char *copy = mem_alloc(n + 1, 1), *clean = mem_alloc(3 * n + 1, 1);
    size_t used = 0, length;

    memcpy(copy, text, n); /* the last character may lack its end */
    for (size_t at = 0; at < n; at += length) {
        uint32_t code = 0;

        length = copy[at] ? text_decode(copy + at, &code) : 1;
        if (code == TEXT_NO_CODE) {
            memcpy(clean + used, "\xef\xbf\xbd", 3);
            used += 3;
        } else {
            memcpy(clean + used, copy + at, length);
            used += length;
        }
    }
    free(copy);
    if (n_out)
        *n_out = used;
    return clean;
}

/* Controls (C0, DEL, C1), what changes the direction of the text around it, separators of
 * lines, and what is no character at all. */
static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
           c == TEXT_NO_CODE;
}

char *text_printable(char *text)
{
    char *out = text;
    size_t n;

    for (char *at = text; *at; at += n) {
        uint32_t code;

        n = text_decode(at, &code);
        if (is_harmful(code)) {
            *out++ = '?';
        } else {
            memmove(out, at, n);
            out += n;
        }
    }
    *out = '\0';
    return text;
}

size_t text_next_harmful(const char *text, size_t *length, uint32_t *code)
{
    size_t at = 0;

    while (text[at]) {
        *length = text_decode(text + at, code);
        if (is_harmful(*code))
            return at;
        at += *length;
    }
    *length = 0;
    return at;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t text_distance(const char *a, const char *b, size_t most)
{
    size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);
    size_t row[3][LONGEST + 1]; /* i of them is row i % 3: edits from a[0..i) to b[0..j) */

    if (strcasecmp(a, b) == 0)
        return 0;
    if (n > 0 && m > 0 && (strcasestr(a, b) || strcasestr(b, a)))
        return 1;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            const size_t *above = row[(i + 2) % 3], *above2 = row[(i + 1) % 3];
            size_t *here = row[i % 3];

            here[j] = i == 0 ? j : i;
            if (i == 0 || j == 0)
                continue;
            here[j] = least(above[j - 1] + !is_same(a[i - 1], b[j - 1]),
                            least(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                here[j] = least(here[j], above2[j - 2] + 1);
        }
    return row[n % 3][m] + 1 > most ? SIZE_MAX : row[n % 3][m] + 1;
}

/* One edit of three letters, two of six: fewer letters are like anything. */
size_t text_typos(const char *word)
{
    size_t n = strlen(word);

    return n < 3 ? 0 : n < 6 ? 2 : 3;
}
