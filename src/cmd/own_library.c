/* As installed, and as built. */
#include "cmd/own_library.h"

#include "base/err.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int own_library_find(const char *built, const char *file, char path[FS_PATH_SIZE])
{
    const char *places[] = {SNAG_BIN_TO_LIB, built};
    char program[FS_PATH_SIZE], found[FS_PATH_SIZE];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    while (n > 0 && program[n - 1] != '/')
        n--;
    program[n > 0 ? n - 1 : 0] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(found, sizeof found, "%s/%s/%s", program, places[i], file) <
                (int)sizeof found &&
            realpath(found, path) != NULL)
            return 0;
    return ERR_NOT_FOUND;
}
