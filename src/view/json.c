/* Jansson refuses a string that is not UTF-8, so what is not is replaced first. */
#include "view/json.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at text, 0 if it is not one. */
static size_t sequence_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        size_t length;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0},
                 {0xe0, 0xc0, 2, 0x80},
                 {0xf0, 0xe0, 3, 0x800},
                 {0xf8, 0xf0, 4, 0x10000}};

    for (size_t f = 0; f < 4; f++) {
        uint32_t code = text[0] & ~(uint32_t)forms[f].mask & 0xff;

        if ((text[0] & forms[f].mask) != forms[f].lead)
            continue;
        for (size_t i = 1; i < forms[f].length; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        if (code < forms[f].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return 0;
        return forms[f].length;
    }
    return 0;
}

json_t *json_text(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    char *clean = mem_alloc(3 * strlen(text) + 1, 1);
    size_t n = 0;
    json_t *json;

    while (*at) {
        size_t length = sequence_length(at);

        if (length == 0) {
            memcpy(clean + n, "\xef\xbf\xbd", 3);
            n += 3;
            at++;
        } else {
            memcpy(clean + n, at, length);
            n += length;
            at += length;
        }
    }
    json = json_stringn(clean, n);
    free(clean);
    return json;
}

json_t *json_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}
