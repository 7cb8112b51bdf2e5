/*
 * sweeper -- a process that removes a directory when those that fill it are gone, however that
 * happened: also when all of them, and their parents, were killed at once.
 */
#ifndef SNAG_BASE_SWEEPER_H
#define SNAG_BASE_SWEEPER_H

#include <sys/types.h>

struct sweeper {
    int fd; /* it sees this closed when the last process that has it has ended; 0: none */
    pid_t pid;
};

/*
 * sweeper_start -- wait, in a session of its own, for the end of the calling process and of all
 * that are forked from it after this; then remove dir, if it is still there.
 * Returns when no signal to this process or its group reaches it any more.
 * Call before any thread is started. Returns 0 or ERR_IO.
 */
int sweeper_start(struct sweeper *sweeper, const char *dir);

/* sweeper_dismiss -- it ends; nothing is removed. A zeroed one, and twice, is harmless. */
void sweeper_dismiss(struct sweeper *sweeper);

#endif
