#include "cmd/run_id.h"

#include "base/err.h"
#include "cmd/tags.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_good(const char *id)
{
    size_t n =
        strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-+@[]");

    return n > 0 && n < RUN_ID_SIZE && id[n] == '\0';
}

static void make(char text[RUN_ID_SIZE])
{
    time_t now = time(NULL);
    struct tm utc;
    size_t n = strftime(text, RUN_ID_SIZE, "%Y%m%dT%H%M%S", gmtime_r(&now, &utc));

    snprintf(text + n, RUN_ID_SIZE - n, "-%ld", (long)getpid());
}

int run_id_choose(const char **said, char text[RUN_ID_SIZE])
{
    const char *job = tags_job();

    if (*said)
        return is_good(*said) ? 0
                              : err_set(ERR_USAGE,
                                        "--run-id takes up to 64 letters, digits and "
                                        "._:-+@[], not '%s'",
                                        *said);
    make(text);
    if (job && is_good(job))
        snprintf(text, RUN_ID_SIZE, "%s", job);
    *said = text;
    return 0;
}
