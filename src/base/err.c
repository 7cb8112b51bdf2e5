/*
 * One message per thread, in a fixed buffer: raising an error must not itself be able to fail.
 * A message longer than the buffer loses its end, which holds detail, not its subject. It is
 * one line, whatever names from outside are in it.
 */
#include "base/err.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_SIZE 2048

static _Thread_local char message[MESSAGE_SIZE];
static _Thread_local char where[256];

int err_set_at(const char *file, int line, int code, const char *fmt, ...)
{
    char text[MESSAGE_SIZE]; /* apart, because an argument may be the old message */
    const char *slash = strrchr(file, '/');
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    memcpy(message, text_printable(text), sizeof message);
    snprintf(where, sizeof where, "%s:%d", slash ? slash + 1 : file, line);
    return code;
}

const char *err_message(void)
{
    return message;
}

struct err_kept err_keep(int code)
{
    return (struct err_kept){code, code < 0 ? mem_copy_string(message) : NULL};
}

int err_restore(struct err_kept *kept)
{
    int code = kept->code;

    if (code < 0)
        err_set(code, "%s", kept->message);
    err_kept_release(kept);
    return code;
}

void err_kept_release(struct err_kept *kept)
{
    free(kept->message);
    *kept = (struct err_kept){0};
}

const char *err_where(void)
{
    return where;
}

const char *err_name(int code)
{
    switch (code) {
#define ERR_AS_CASE(name, text)                                                                \
    case ERR_##name:                                                                           \
        return text;
        ERR_CODES(ERR_AS_CASE)
#undef ERR_AS_CASE
    default:
        return "unknown error";
    }
}
