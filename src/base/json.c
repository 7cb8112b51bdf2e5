/* Jansson refuses a string that is not UTF-8, so what is not is replaced first. */
#include "base/json.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text_n(const char *text, size_t n)
{
    size_t n_clean;
    char *clean = text_utf8(text, n, &n_clean);
    json_t *json = json_stringn(clean, n_clean);

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

void json_set_off(json_t *object, double off_ns)
{
    if (off_ns > 0)
        json_object_set_new(object, "off_ns", json_number(ceil(off_ns)));
}

void json_set_range(json_t *object, bool is_known, uint64_t least_ns, uint64_t most_ns)
{
    json_object_set_new(object, "cost_least_ns", is_known ? json_count(least_ns) : json_null());
    json_object_set_new(object, "cost_most_ns", is_known ? json_count(most_ns) : json_null());
}
