/*
 * quiet -- what the tracer does besides recording is done so that the program does not notice.
 *
 * Between quiet_begin and quiet_end no handler of the program's runs in the thread, which might
 * leave by longjmp with our locks held, or wait for them; it cannot be cancelled; and errno,
 * and the flags and traps of floating point, are afterwards what they were before. May be
 * nested; some 0.5 us.
 */
#ifndef SNAG_TRACER_QUIET_H
#define SNAG_TRACER_QUIET_H

#include <fenv.h>
#include <signal.h>
#include <stdbool.h>

struct quiet {
    bool is_outermost;
    int error, cancel;
    fenv_t floating;
    sigset_t signals;
};

void quiet_begin(struct quiet *q);
void quiet_end(const struct quiet *q);

/* quiet_is -- whether the thread is between the two. */
bool quiet_is(void);

#endif
