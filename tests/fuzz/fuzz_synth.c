/* A program in the language of the synth source. */
#include "fuzz.h"

#include "read_source.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 400
#define MAX_FACTOR_DIGITS 4

/* Few digits in front of '*' and behind "ranks=" altogether, as programs get as long as said.
 */
static int is_short(const char *text)
{
    size_t n = 0;

    for (const char *at = text; *at; at++)
        n += isdigit((unsigned char)*at) && !isdigit((unsigned char)at[1]) && at[1] == '*' ? 2
                                                                                           : 0;
    for (const char *at = text; *at; at++)
        if (strspn(at, "0123456789") > 2 || n > MAX_FACTOR_DIGITS)
            return 0;
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST + 8] = "synth:";

    if (size > LONGEST)
        return 0;
    memcpy(text + strlen(text), data, size);
    if (is_short(text))
        read_source(text, &(struct source_opts){0});
    return 0;
}
