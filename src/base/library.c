#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void library_load(const char *file, const char *const *names, size_t n, void *into)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; handle != NULL && i < n; i++) {
        void *address = dlsym(handle, names[i]);

        if (address == NULL)
            handle = NULL;
        else /* POSIX lets dlsym() hand out functions, C has no cast for it. */
            memcpy((char *)into + i * sizeof(address), &address, sizeof(address));
    }
    if (handle == NULL) {
        fprintf(stderr, "snag: error: cannot load %s, which is needed for this: %s\n", file,
                dlerror());
        abort();
    }
}
