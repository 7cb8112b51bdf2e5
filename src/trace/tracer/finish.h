/*
 * finish -- an OTF2 archive of what traced processes left behind.
 *
 *     DIR/traces/LOCATION.evt     -->  the same, with their ends
 *     DIR/traces.unfinished/RANK  -->  DIR/traces/LOCATION.def, DIR/traces.def, DIR/traces.otf2
 *
 * The processes may have ended as they should, or have been killed: what they recorded is there
 * up to then. A call that was open gets its leave: when the process ended, if that is known,
 * and with how much earlier it may have been; else at the last event of its thread.
 *
 * Whoever is interrupted, or has no room on the disk, changes nothing of what is there: it can
 * be done again. Several that do it at once wait for the first.
 */
#ifndef SNAG_TRACE_FINISH_H
#define SNAG_TRACE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

/* finish_is_wanted -- whether there is anything to be finished in a directory. */
bool finish_is_wanted(const char *directory);

struct finish_opts {
    uint64_t ended_ns; /* CLOCK_MONOTONIC when the processes of this machine had ended; 0: it is
                          not known */
    unsigned wait_ms;  /* for those that still run */
    void (*on_process)(void *ctx, uint64_t n); /* n processes are finished; or NULL */
    void *ctx;
};

/*
 * finish -- finish the archive in a directory, if it is not.
 * Returns 0; ERR_IO, also if what one of the processes left cannot be read now: nothing is
 * changed then; ERR_FORMAT if there is nothing that could be read, ERR_NOT_FOUND if there is
 * nothing, or ERR_EXISTS if a process still records. What some processes left may be of another
 * version, or damaged: the archive is without them, a warning says so, and all files stay, in
 * DIR/traces.unread. Time: some ms, and what it takes to look
 * for where functions are in their source; it does not depend on the length of the run.
 */
int finish(const char *directory, const struct finish_opts *opts);

#endif
