/*
 * The library is called by its minor version, whose C interface has been the same since 2.8, for what is used here;
 * Debian calls it "serial". Its name without a version is there where programs are built with it: Spack, modules.
 */
#include "trace/tau/libadios2.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static struct libadios2 loaded;
static bool is_loaded;
static char trouble[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const names[] = {LIBADIOS2_FUNCTIONS(LIBRARY_NAME)};
    static const char files[] =
        "libadios2_c.so libadios2_c.so.2.12 libadios2_c.so.2.11 libadios2_c.so.2.10 "
        "libadios2_c.so.2.9 "
        "libadios2_c.so.2.8 libadios2_serial_c.so.2.12 libadios2_serial_c.so.2.11 "
        "libadios2_serial_c.so.2.10 libadios2_serial_c.so.2.9 libadios2_serial_c.so.2.8";

    is_loaded =
        library_try(files, names, LIBRARY_COUNT(names), &loaded, trouble, sizeof trouble);
}

bool libadios2_load(char *why, size_t size)
{
    pthread_once(&once, load);
    snprintf(why, size, "%s", trouble);
    return is_loaded;
}

const struct libadios2 *libadios2(void)
{
    assert(is_loaded);
    return &loaded;
}
