/* A line is put together first and written at once, so that those of several ranks that share
 * a terminal do not mix; and not by stdio, whose locks and buffers are the program's. */
#include "complain.h"

#include "quiet.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat at_begin;
static bool is_known, is_closed;

__attribute__((constructor)) static void remember(void)
{
    is_known = fstat(STDERR_FILENO, &at_begin) == 0;
    is_closed = !is_known && errno == EBADF;
}

/* The program may have closed it, and opened a file of its own in its place. */
static bool is_the_same(void)
{
    struct stat now;

    if (fstat(STDERR_FILENO, &now) != 0)
        return errno != EBADF;
    return is_known ? now.st_dev == at_begin.st_dev && now.st_ino == at_begin.st_ino &&
                          now.st_rdev == at_begin.st_rdev
                    : !is_closed;
}

void complain(const char *fmt, ...)
{
    char text[1024] = "snag-tracer: ";
    struct quiet q;
    va_list args;
    int n;

    quiet_begin(&q);
    va_start(args, fmt);
    n = vsnprintf(text + 13, sizeof text - 14, fmt, args);
    va_end(args);
    n = n < 0 ? 0 : n > (int)sizeof text - 15 ? (int)sizeof text - 15 : n;
    text[13 + n] = '\n';
    if (is_the_same())
        (void)!write(STDERR_FILENO, text, (size_t)n + 14);
    quiet_end(&q);
}
