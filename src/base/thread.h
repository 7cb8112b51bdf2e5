/* thread -- starts a thread of the program: with a name, and deaf to what is meant for all. */
#ifndef SNAG_BASE_THREAD_H
#define SNAG_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * thread_start -- run fn(arg) in a thread. A signal that ends the program, or is about its log
 * (SIGINT, SIGTERM, SIGHUP), does not come to it: the thread that waits for one gets it at
 * once, and no write of another thread is cut short.
 *   thread    is set, for pthread_join,
 *   is_there  if this becomes true; or NULL
 *   name      that ps, top, gdb and perf show; what is beyond 15 characters is cut
 * Returns 0, or ERR_IO when the system has no thread left.
 */
int thread_start(pthread_t *thread, bool *is_there, const char *name, void *(*fn)(void *),
                 void *arg);

#endif
