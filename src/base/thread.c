#include "base/thread.h"

#include "base/err.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 16 /* the kernel's */

int thread_start(pthread_t *thread, bool *is_there, const char *name, void *(*fn)(void *),
                 void *arg)
{
    char cut[NAME_SIZE];
    sigset_t deaf_to, before;
    int rc;

    snprintf(cut, sizeof cut, "%s", name);
    sigemptyset(&deaf_to);
    sigaddset(&deaf_to, SIGINT);
    sigaddset(&deaf_to, SIGTERM);
    sigaddset(&deaf_to, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &deaf_to, &before);
    rc = pthread_create(thread, NULL, fn, arg); /* the mask is inherited */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_there)
        *is_there = rc == 0;
    if (rc != 0)
        return err_set(ERR_IO, "cannot start the thread '%s': %s", name, strerror(rc));
    pthread_setname_np(*thread, cut);
    return 0;
}
