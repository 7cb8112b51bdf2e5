#include "postgres/libpq.h"

#include <pthread.h>

static struct libpq loaded;

static void load(void)
{
    static const char *const names[] = {LIBPQ_FUNCTIONS(LIBRARY_NAME)};

    library_load("libpq.so.5", names, LIBRARY_COUNT(names), &loaded);
}

const struct libpq *libpq(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return &loaded;
}
