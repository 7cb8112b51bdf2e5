/* A fault of ours ends the process even with its signal blocked, as it should. */
#include "quiet.h"

#include <errno.h>
#include <pthread.h>

static _Thread_local unsigned depth;

bool quiet_is(void)
{
    return depth > 0;
}

void quiet_begin(struct quiet *q)
{
    sigset_t all;

    q->is_outermost = depth++ == 0;
    if (!q->is_outermost)
        return;
    q->error = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &q->signals);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &q->cancel);
    feholdexcept(&q->floating);
}

void quiet_end(const struct quiet *q)
{
    depth--;
    if (!q->is_outermost)
        return;
    fesetenv(&q->floating);
    pthread_setcancelstate(q->cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &q->signals, NULL);
    errno = q->error;
}
