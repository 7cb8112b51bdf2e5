#include "serve/live_notifier.h"

#include "base/err.h"
#include "base/progress.h"
#include "monitor/live_state.h"

#include <time.h>

#define LOOK_MS 200u
#define SILENCE_NS                                                                             \
    15000000000u /* a proxy or a tunnel closes a connection that says nothing                  \
                  */

/* The event for what is there now. Returns the version it is of. */
static uint64_t tell(struct served *served)
{
    struct live_state *live = served->live;
    struct live_totals totals;
    uint64_t version;
    bool is_over;

    live_state_lock(live);
    version = live_state_version(live);
    totals = live->totals;
    is_over = live->phase == LIVE_OVER || live->phase == LIVE_FAILED;
    live_state_unlock(live);
    served_tell(served, is_over ? "over" : "step",
                json_pack("{s:I, s:I, s:I, s:I, s:I}", "version", (json_int_t)version, "steps",
                          (json_int_t)totals.n_steps, "end_ns", (json_int_t)totals.end_ns,
                          "calls", (json_int_t)totals.n_calls, "anomalies",
                          (json_int_t)totals.n_anomalies));
    return version;
}

static void *run(void *arg)
{
    struct live_notifier *notifier = arg;
    struct served *served = notifier->served;
    uint64_t told = live_state_version(served->live), told_ns = clock_ns();

    while (!atomic_load(&notifier->is_ending)) {
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};

        nanosleep(&pause, NULL);
        if (live_state_version(served->live) != told) {
            told = tell(served);
            told_ns = clock_ns();
        } else if (clock_ns() - told_ns > SILENCE_NS) {
            feed_tell(&served->events, ": still here\n\n");
            told_ns = clock_ns();
        }
    }
    return NULL;
}

int live_notifier_open(struct live_notifier *notifier, struct served *served)
{
    notifier->served = served;
    notifier->is_running = pthread_create(&notifier->thread, NULL, run, notifier) == 0;
    if (!notifier->is_running)
        return err_set(ERR_IO, "cannot start a thread");
    pthread_setname_np(notifier->thread, "snag-notifier");
    return 0;
}

void live_notifier_close(struct live_notifier *notifier)
{
    atomic_store(&notifier->is_ending, true);
    if (notifier->is_running)
        pthread_join(notifier->thread, NULL);
    notifier->is_running = false;
}
