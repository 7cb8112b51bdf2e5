/*
 * All that commands say goes out here: tables, lines, JSON, files of -o, and what went wrong.
 *
 * A table is a list of cells, the headings first; columns are as wide as they need to be,
 * counted in characters, not bytes, as names may be UTF-8. What names hold is made printable
 * before it reaches a terminal.
 */
#include "cmd/print.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "view/html.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------- tables */

struct table {
    char *columns;
    size_t n_columns;
    char **cell; /* [n_cells], the headings first */
    size_t n_cells, cap;
    size_t most; /* characters of a line; 0: any number */
};

static void push(struct table *t, char *text)
{
    *mem_push(&t->cell, &t->n_cells, &t->cap) = text;
}

struct table *table_new_from(const char *columns, const char *const *headings)
{
    struct table *t = mem_alloc(1, sizeof *t);

    t->columns = mem_copy_string(columns);
    t->n_columns = strlen(columns);
    for (size_t c = 0; c < t->n_columns; c++)
        push(t, text_printable(mem_copy_string(headings[c])));
    return t;
}

struct table *table_new(const char *columns, ...)
{
    const char *heading[64];
    va_list args;

    va_start(args, columns);
    for (size_t c = 0; columns[c]; c++)
        heading[c] = va_arg(args, const char *);
    va_end(args);
    return table_new_from(columns, heading);
}

void table_cell(struct table *t, const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = text_new_of(fmt, args);
    va_end(args);
    push(t, text_printable(text));
}

static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += !text_continues(*text);
    return n;
}

/* Columns of the terminal, 0 when stdout is none. */
static size_t terminal_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

#define NARROWEST 16 /* that text is folded to; below, the terminal does as it likes */

/* How many bytes of a text fit so many characters, ending where a word does if one does. */
static size_t bytes_that_fit(const char *text, size_t width)
{
    size_t n = 0, at = 0, end = 0;

    for (; text[at] && n <= width; at++) {
        if (text[at] == ' ')
            end = at;
        n += !text_continues(text[at + 1]);
    }
    if (text[at] == '\0' && n <= width)
        return at;
    for (at--; at > 1 && text_continues(text[at]); at--)
        ; /* the one too many as a whole */
    return end ? end : at;
}

/* Folds a text to lines of a width, all but the first after so many spaces. */
static char *fold(char *text, size_t indent, size_t width)
{
    const char *rest = text;
    char *folded = NULL;
    size_t size = 0;
    FILE *out;

    if (width < NARROWEST || width_of(text) <= width)
        return text;
    out = text_open(&folded, &size);
    while (*rest) {
        size_t n = bytes_that_fit(rest, width);

        fprintf(out, "%.*s", (int)n, rest);
        rest += n + strspn(rest + n, " ");
        if (*rest)
            fprintf(out, "\n%*s", (int)indent, "");
    }
    fclose(out);
    free(text);
    return folded;
}

/* Cuts what is longer than width characters, at least 4. */
static void cut(char *text, size_t width)
{
    size_t at = 0, n = 0;

    if (width < NARROWEST || width_of(text) <= width)
        return;
    while (n + 3 < width || text_continues(text[at]))
        n += !text_continues(text[++at]);
    memcpy(text + at, "...", 4);
}

/* Spaces are owed until something follows them: no line ends in one. */
static void print_cell(const char *text, size_t width, char align, size_t *owed, FILE *out)
{
    size_t own = width_of(text), pad = width > own ? width - own : 0;

    if (*text) {
        fprintf(out, "%*s%s", (int)(*owed + (align == 'r' ? pad : 0)), "", text);
        *owed = align == 'r' ? 0 : pad;
    } else {
        *owed += width;
    }
    *owed += 2;
}

void table_free(struct table *t)
{
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cell[i]);
    free(t->cell);
    free(t->columns);
    free(t);
}

void table_fit(struct table *t, size_t most)
{
    t->most = most;
}

/* Stdout is a terminal and NO_COLOR is not set. */
static bool print_has_colour(void)
{
    const char *no_color = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && (no_color == NULL || *no_color == '\0');
}

void table_print(struct table *t, FILE *out)
{
    size_t owed = 0;
    size_t *width = mem_alloc(t->n_columns, sizeof *width);
    bool is_bold = out == stdout && print_has_colour();
    size_t left = out == stdout ? terminal_width() : 0, indent = 0;

    for (size_t i = 0; i < t->n_cells; i++)
        if (width_of(t->cell[i]) > width[i % t->n_columns])
            width[i % t->n_columns] = width_of(t->cell[i]);
    for (size_t c = 0; c + 1 < t->n_columns; c++)
        indent += width[c] + 2;
    left = left > indent ? left - indent : 0;
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t c = i % t->n_columns;
        bool is_last = c + 1 == t->n_columns;

        if (is_bold && i == 0)
            fputs("\033[1m", out);
        if (is_last && t->most > indent)
            cut(t->cell[i], t->most - indent);
        if (is_last && t->columns[c] == 'l')
            t->cell[i] = fold(t->cell[i], indent, left);
        owed = c == 0 ? 0 : owed;
        print_cell(t->cell[i], width[c], t->columns[c], &owed, out);
        if (is_bold && i + 1 == t->n_columns)
            fputs("\033[0m", out);
        if (is_last)
            fputc('\n', out);
    }
    free(width);
    table_free(t);
}

#define SHORT 20u /* characters that stay on a line */

static void print_html_row(struct table *t, size_t first, FILE *out)
{
    fputs("<tr>", out);
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *text = t->cell[first + c];
        const char *tag = first == 0 && *text ? "th scope=\"col\"" : "td";

        fprintf(out, "<%s%s>", tag,
                t->columns[c] == 'r'      ? " class=\"number\""
                : width_of(text) <= SHORT ? " class=\"short\""
                                          : "");
        html_text(out, text);
        fprintf(out, "</%.2s>", tag);
    }
    fputs("</tr>\n", out);
}

void table_print_html(struct table *t, FILE *out)
{
    if (t->n_cells > t->n_columns) {
        fputs("<div class=\"table\" tabindex=\"0\" role=\"group\"><table>\n<thead>", out);
        print_html_row(t, 0, out);
        fputs("</thead>\n<tbody>\n", out);
        for (size_t i = t->n_columns; i + t->n_columns <= t->n_cells; i += t->n_columns)
            print_html_row(t, i, out);
        fputs("</tbody></table></div>\n", out);
    }
    table_free(t);
}

/* --------------------------------------------------------------------------------- print */

/* One conversion of a format: all but the letter at its end, and how many values it takes. */
struct conversion {
    char spec[32];
    int star[2];
    unsigned n_stars, n_longs;
    bool is_size;
    char letter;
};

/* Takes the conversion after a % apart. Returns what follows it. */
static const char *take_conversion(const char *fmt, va_list *args, struct conversion *c)
{
    size_t n = strspn(fmt, "-+ #0123456789.*lzh");

    assert(n + 3 < sizeof c->spec);
    *c = (struct conversion){.letter = fmt[n]};
    snprintf(c->spec, sizeof c->spec, "%%%.*s%c", (int)n, fmt, fmt[n]);
    for (size_t i = 0; i < n; i++) {
        if (fmt[i] == '*')
            c->star[c->n_stars++] = va_arg(*args, int);
        c->n_longs += fmt[i] == 'l';
        c->is_size |= fmt[i] == 'z';
    }
    return fmt + n + 1;
}

#define PRINT_WITH(c, value)                                                                   \
    ((c)->n_stars == 0   ? printf((c)->spec, value)                                            \
     : (c)->n_stars == 1 ? printf((c)->spec, (c)->star[0], value)                              \
                         : printf((c)->spec, (c)->star[0], (c)->star[1], value))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_value(const struct conversion *c, va_list *args)
{
    char *text;

    switch (c->letter) {
    case 's':
        text = text_printable(mem_copy_string(va_arg(*args, const char *)));
        PRINT_WITH(c, text);
        free(text);
        break;
    case 'f':
    case 'g':
        PRINT_WITH(c, va_arg(*args, double));
        break;
    case '%':
        putchar('%');
        break;
    default:
        if (c->n_longs == 2)
            PRINT_WITH(c, va_arg(*args, long long));
        else if (c->n_longs == 1 || c->is_size)
            PRINT_WITH(c, va_arg(*args, long));
        else
            PRINT_WITH(c, va_arg(*args, int));
    }
}
#pragma GCC diagnostic pop

void print(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    while (*fmt) {
        size_t n = strcspn(fmt, "%");
        struct conversion c;

        fwrite(fmt, 1, n, stdout);
        fmt += n;
        if (*fmt == '\0')
            break;
        fmt = take_conversion(fmt + 1, &args, &c);
        print_value(&c, &args);
    }
    va_end(args);
}

void print_json(json_t *json, bool is_indented)
{
    json_put(stdout, json, JSON_REAL_PRECISION(12) | (is_indented ? JSON_INDENT(2) : 0));
    fputc('\n', stdout);
    json_decref(json);
}

/* ----------------------------------------------------------------------------- a file of -o */

/* What is there and no file has to be written to as it is: a pipe, a terminal, /dev/null. */
static bool is_special(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

int output_open(struct output *o, const char *path)
{
    char target[PATH_MAX]; /* where a link leads that somebody names is where he wants it */
    int rc = 0;

    *o = (struct output){.file = stdout, .name = "standard output"};
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    o->name = path;
    if (is_special(path)) {
        o->file = fopen(path, "w");
    } else {
        rc = fs_new_open(&o->made, realpath(path, target) ? target : path);
        o->file = rc == 0 ? fdopen(dup(o->made.fd), "w") : NULL;
    }
    if (rc == 0 && o->file == NULL)
        rc = err_set(ERR_IO, "cannot create '%s': %s", path, strerror(errno));
    return rc;
}

int output_close(struct output *o, int rc)
{
    if (o->file && (ferror(o->file) || fflush(o->file) != 0) && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", o->name, strerror(errno));
    if (o->file && o->file != stdout && fclose(o->file) != 0 && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", o->name, strerror(errno));
    if (rc == 0 && o->made.part[0])
        rc = fs_new_commit(&o->made);
    fs_new_abandon(&o->made);
    *o = (struct output){0};
    return rc;
}

/* ----------------------------------------------------------------------------------- errors */

int status_of(int rc)
{
    if (rc >= 0)
        return rc;
    fprintf(stderr, "snag: %s%s\n", err_message(),
            strstr(err_message(), "damaged run")
                ? "; analyze its trace again, into another run, or by --force in its place"
                : "");
    if (log_has_file())
        log_at(LOG_ERROR, "snag", "%s", err_message());
    log_info("error", "%s, raised at %s", err_name(rc), err_where());
    return rc == ERR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

int status_at_end(int status)
{
    /* What an earlier flush could not write is gone: the last one has no error of its own. */
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);

    return is_written || status != STATUS_DONE
               ? status
               : status_of(err_set(ERR_IO, "cannot write to standard output"));
}
