#include "ps/libzmq.h"

#include <pthread.h>

static struct libzmq loaded;

static void load(void)
{
    static const char *const names[] = {LIBZMQ_FUNCTIONS(LIBRARY_NAME)};

    library_load("libzmq.so.5", names, LIBRARY_COUNT(names), &loaded);
}

const struct libzmq *libzmq(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return &loaded;
}
