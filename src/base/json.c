/* Jansson refuses a string that is not UTF-8, so what is not is replaced first. */
#include "base/json.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text_n(const char *text, size_t n)
{
    char *copy = mem_alloc(n + 1, 1), *clean = mem_alloc(3 * n + 1, 1);
    size_t used = 0, length;
    json_t *json;

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
    json = json_stringn(clean, used);
    free(copy);
    free(clean);
    return json;
}

json_t *json_text(const char *text)
{
    return json_text_n(text, strlen(text));
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* All that text_printable replaces but line ends, which only indentation has. */
static void put(FILE *out, const char *text)
{
    for (;;) {
        size_t length, n = 0;
        uint32_t code;

        for (n = text_next_harmful(text, &length, &code); length > 0 && code == '\n';)
            n += 1 + text_next_harmful(text + n + 1, &length, &code);
        fwrite(text, 1, n, out);
        if (length == 0)
            return;
        fprintf(out, "\\u%04x", (unsigned)code);
        text += n + length;
    }
}

void json_put(FILE *out, const json_t *json, size_t flags)
{
    char *text = json_dumps(json, flags | JSON_ENCODE_ANY);

    if (text)
        put(out, text);
    free(text);
}

json_t *json_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}
