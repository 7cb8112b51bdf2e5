#include "base/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_THERE "No such file"
#define CANNOT_START                                                                           \
    127 /* as a shell says of a program that is not there, and a loader of a library */

static bool load_one(const char *file, const char *const *names, size_t n, void *into)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; handle != NULL && i < n; i++) {
        void *address = dlsym(handle, names[i]);

        if (address == NULL)
            handle = NULL;
        else /* POSIX lets dlsym() hand out functions, C has no cast for it. */
            memcpy((char *)into + i * sizeof(address), &address, sizeof(address));
    }
    return handle != NULL;
}

bool library_try(const char *files, const char *const *names, size_t n, void *into, char *why,
                 size_t size)
{
    char file[256];

    why[0] = '\0';
    for (const char *at = files, *end; *at != '\0'; at = end + (*end == ' ')) {
        const char *said;

        end = at + strcspn(at, " ");
        snprintf(file, sizeof file, "%.*s", (int)(end - at), at);
        if (load_one(file, names, n, into)) {
            why[0] = '\0';
            return true;
        }
        said = dlerror();
        if (said != NULL && (why[0] == '\0' || (strstr(said, NOT_THERE) == NULL &&
                                                strstr(why, NOT_THERE) != NULL)))
            snprintf(why, size, "%s", said);
    }
    return false;
}

void library_load(const char *files, const char *const *names, size_t n, void *into)
{
    char why[512];

    if (library_try(files, names, n, into, why, sizeof why))
        return;
    fprintf(stderr,
            "snag: error: %.*s is needed for this, and cannot be loaded: %s. " LIBRARY_WAY_OUT
            "\n",
            (int)strcspn(files, " "), files, why);
    fflush(NULL);
    _exit(CANNOT_START);
}
