/*
 * progress -- one line on the terminal for work that takes longer than a second:
 *
 *     reading lulesh-fn8   42 %   1,143,000 of 2,723,156 events   3 s left
 *
 * Nothing is printed until the program asks for it (progress_show), when stderr is not a
 * terminal, or before the first second is over. The
 * line is wiped when the work ends. Adding is an atomic add and, ten times a second, a print.
 */
#ifndef SNAG_BASE_PROGRESS_H
#define SNAG_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
    const char *what; /* "reading" */
    const char *unit; /* "events" */
    uint64_t total;   /* 0: not known */
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t next_print_ns;
    uint64_t start_ns;
    bool is_shown, was_printed;
};

/* progress_begin -- start the clock. what and unit stay the caller's. */
void progress_begin(struct progress *p, const char *what, const char *unit, uint64_t total);

/* progress_add -- n more are done. Thread-safe. */
void progress_add(struct progress *p, uint64_t n);

/* progress_end -- wipe the line. A struct that was never begun is harmless. */
void progress_end(struct progress *p);

/* progress_show -- progress lines in this process from now on. */
void progress_show(void);

/* clock_ns, clock_ms -- monotonic time, for measuring how long something took. */
uint64_t clock_ns(void);

static inline uint64_t clock_ms(void)
{
    return clock_ns() / 1000000;
}

/* clock_after_ms -- the time on a clock that is so much later, as pthread_cond_timedwait takes it. */
struct timespec clock_after_ms(clockid_t clock, unsigned ms);

#endif
