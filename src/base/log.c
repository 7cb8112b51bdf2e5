/* The level is the one setting of the process that every module shares. */
#include "base/log.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level highest = LOG_NONE;
static void (*taker)(void *ctx, enum log_level level, const char *text);
static void *taker_ctx;

void log_set_level(enum log_level level)
{
    highest = level;
}

void log_to(void (*take)(void *ctx, enum log_level level, const char *text), void *ctx)
{
    taker = take;
    taker_ctx = ctx;
}

void log_at(enum log_level level, const char *module, const char *fmt, ...)
{
    static const char *const word[] = {"error", "warning", "info", "debug"};
    char text[1024];
    va_list args;

    if (level > highest)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (taker)
        taker(taker_ctx, level, text_printable(text));
    else
        fprintf(stderr, "snag: %s: %s: %s\n", word[level], module, text_printable(text));
}
