/*
 * live_notifier -- tells the pages that there is something new: a thread that looks at the
 * version a few times a second, so that the thread that judges need not.
 */
#ifndef SNAG_SERVE_LIVE_NOTIFIER_H
#define SNAG_SERVE_LIVE_NOTIFIER_H

#include "serve/served.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct live_notifier {
    struct served *served;
    pthread_t thread;
    bool is_running;
    atomic_bool is_ending;
};

/* live_notifier_open -- served has a live state. Returns 0 or ERR_IO. */
int live_notifier_open(struct live_notifier *notifier, struct served *served);

/* live_notifier_close -- waits for the thread. A zeroed one is harmless. */
void live_notifier_close(struct live_notifier *notifier);

#endif
