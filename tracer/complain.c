/* A line is put together first and written at once, so that those of several ranks that share
 * a terminal do not mix. */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void complain(const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "snag-tracer: %s\n", text);
}

void *must_resize(void *old, size_t n, size_t width)
{
    void *grown = reallocarray(old, n ? n : 1, width);

    if (grown == NULL) {
        complain("out of memory: no room for %zu objects of %zu bytes", n, width);
        abort();
    }
    return grown;
}

char *must_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(must_resize(NULL, bytes, 1), text, bytes);
}
