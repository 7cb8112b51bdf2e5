/* In JSON, brackets and ampersands only stand in strings, where \\uXXXX says the same. */
#include "view/html.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t html_whole(const char *text, size_t most)
{
    size_t n = strnlen(text, most);

    while (n > 0 && text_continues(text[n]))
        n--;
    return n;
}

void html_text(FILE *out, const char *text)
{
    static const char special[] = "&<>\"'";
    char *shown = text_printable(mem_copy_string(text)), *at = shown;
    size_t whole = html_whole(shown, HTML_MAX_TEXT_BYTES);
    bool is_cut = shown[whole] != '\0';

    shown[whole] = '\0';
    while (*at) {
        size_t n = strcspn(at, special);

        fwrite(at, 1, n, out);
        at += n;
        if (*at)
            fprintf(out, "&#%d;", *at++);
    }
    fputs(is_cut ? " ..." : "", out);
    free(shown);
}

void html_element(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    html_text(out, text);
    fprintf(out, "</%s>\n", tag);
}

void html_data(FILE *out, const json_t *json)
{
    char *text = NULL, *at;
    size_t size;
    FILE *memory = text_open(&text, &size);

    json_put(memory, json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    fclose(memory);
    for (at = text; *at;) {
        size_t n = strcspn(at, "<>&");

        fwrite(at, 1, n, out);
        at += n;
        if (*at)
            fprintf(out, "\\u%04x", *at++);
    }
    free(text);
}

json_t *html_base64(const void *bytes, size_t n)
{
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    size_t length = (n + 2) / 3 * 4;
    char *text = mem_alloc(length + 1, 1), *out = text;
    json_t *json;

    for (size_t i = 0; i < n; i += 3) {
        uint32_t b = (uint32_t)in[i] << 16;

        b |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
        b |= i + 2 < n ? in[i + 2] : 0;
        *out++ = digit[b >> 18];
        *out++ = digit[b >> 12 & 63];
        *out++ = i + 1 < n ? digit[b >> 6 & 63] : '=';
        *out++ = i + 2 < n ? digit[b & 63] : '=';
    }
    json = json_stringn_nocheck(text, length);
    free(text);
    return json;
}
