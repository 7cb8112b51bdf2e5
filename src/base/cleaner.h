/*
 * cleaner -- a process that removes a directory when those that fill it are gone, however that
 * happened: also when all of them, and their parents, were killed at once.
 */
#ifndef SNAG_BASE_CLEANER_H
#define SNAG_BASE_CLEANER_H

#include <sys/types.h>

struct cleaner {
    int fd; /* it sees this closed when the last process that has it has ended; 0: none */
    pid_t pid;
};

/*
 * cleaner_start -- wait, in a session of its own, for the end of the calling process and of all
 * that are forked from it after this; then remove dir, if it is still there.
 * Returns when no signal to this process or its group reaches it any more.
 * Call before any thread is started. Returns 0 or ERR_IO.
 */
int cleaner_start(struct cleaner *cleaner, const char *dir);

/* cleaner_dismiss -- it ends; nothing is removed. A zeroed one, and twice, is harmless. */
void cleaner_dismiss(struct cleaner *cleaner);

#endif
