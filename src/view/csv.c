/*
 * A quoted field may contain commas, quotes (doubled) and line ends. A spreadsheet takes what
 * begins with one of five characters for a formula, and runs it; so such a text gets a quote in
 * front, and so does one that has quotes and such a character, or it could not be told what was
 * there before.
 */
#include "view/csv.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

/* Quotes are doubled; what text_printable replaces is, but for what a quoted field may hold. */
static void put(FILE *out, const char *text)
{
    size_t length;
    uint32_t code;

    do {
        size_t n = text_next_harmful(text, &length, &code);

        for (size_t i = 0; i < n; i++) {
            if (text[i] == '"')
                fputc('"', out);
            fputc(text[i], out);
        }
        if (length > 0)
            fputc(code == '\t' || code == '\r' || code == '\n' ? (int)code : '?', out);
        text += n + length;
    } while (length > 0);
}

static bool is_formula(const char *text)
{
    text += strspn(text, "'");
    return *text && strchr("=+-@\t\r\n", *text);
}

static void put_field(FILE *out, const char *guard, const char *text, bool is_first)
{
    const char *quote = text[strcspn(text, ",\"\r\n")] ? "\"" : "";

    if (!is_first)
        fputc(',', out);
    fputs(quote, out);
    fputs(guard, out);
    put(out, text);
    fputs(quote, out);
}

void csv_text(FILE *out, const char *text, bool is_first)
{
    put_field(out, is_formula(text) ? "'" : "", text, is_first);
}

void csv_number(FILE *out, const char *text, bool is_first)
{
    put_field(out, "", text, is_first);
}

/* Reads one record into the buffer, its fields ended by zeros. */
int csv_read(FILE *in, char **buffer, size_t *size, char **field, int most)
{
    size_t start[64], n = 0;
    int n_fields = 0, c = getc(in);
    bool is_quoted = false;

    while (c == '\r' || c == '\n')
        c = getc(in); /* empty lines */
    if (c == EOF)
        return 0;
    start[n_fields++] = 0;
    for (; c != EOF; c = getc(in)) {
        if (n == CSV_MAX_BYTES)
            return -1;
        mem_grow(buffer, size, n + 2);
        if (c == '"') {
            int next = is_quoted ? getc(in) : EOF;

            if (is_quoted && next == '"') {
                (*buffer)[n++] = '"';
                continue;
            }
            if (is_quoted && next != EOF)
                ungetc(next, in);
            is_quoted = !is_quoted;
        } else if (!is_quoted && (c == ',' || c == '\n')) {
            (*buffer)[n++] = '\0';
            if (c == '\n')
                break;
            if (n_fields < 64)
                start[n_fields] = n;
            n_fields++;
        } else if (is_quoted || c != '\r') {
            (*buffer)[n++] = (char)c;
        }
    }
    mem_grow(buffer, size, n + 1);
    (*buffer)[n] = '\0';
    for (int i = 0; i < most; i++)
        field[i] = i < n_fields && i < 64 ? *buffer + start[i] : NULL;
    for (int i = 0; i < most && i < n_fields && i < 64; i++)
        field[i] += *field[i] == '\'' && is_formula(field[i]);
    return n_fields;
}
