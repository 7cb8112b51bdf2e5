/*
 * victims -- the running ranks that are disturbed, and the promise that none stays stopped.
 *
 * Ranks are held by pidfd, so that nobody else's process is ever meant, however long it takes.
 */
#ifndef VICTIMS_H
#define VICTIMS_H

#include <stdbool.h>
#include <stdio.h>

struct victim {
    int rank, pid, fd; /* fd: pidfd */
};

struct victims {
    struct victim *victim; /* [n] */
    int n;
};

/* fail -- print a line and end this program. */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* victims_read -- from lines `rank pid core host`, those of this host. Fails if there are
 * none, or one is not there. */
void victims_read(struct victims *v, FILE *file);
void victims_release(struct victims *v);

/* victims_guard -- start a child that continues all of them as soon as this process is gone,
 * whatever ended it. */
void victims_guard(const struct victims *v);

/* victims_are_gone -- true if none runs any more. */
bool victims_are_gone(const struct victims *v);
bool victim_is_gone(const struct victim *v);

/* victim_signal -- false if it is gone or not ours to signal. */
bool victim_signal(const struct victim *v, int number);

/* victim_stat -- its state ('T' is stopped) and the core it last ran on. False if gone. */
bool victim_stat(const struct victim *v, char *state, int *core);

#endif
