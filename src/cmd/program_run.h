/*
 * program_run -- a program that we start, and wait for, as if its user had started it himself.
 *
 * Signals that ask a job to end (INT, QUIT, TERM, HUP) mostly go to all of it: a terminal's,
 * and timeout(1)'s, to the process group, a batch system's to each process. Then the program
 * has got them, and is not to get them twice: launchers of MPI take the second one for an order
 * to kill at once. One that was sent to us alone is passed on. Which of the two it was a
 * witness knows: a process of our group that does nothing, and has all signals blocked, so that
 * those it was sent are to be seen.
 *
 * Between program_run_begin and program_run_end these signals end nobody here; what was ignored
 * before is ignored still, by the program as well.
 */
#ifndef SNAG_CMD_PROGRAM_RUN_H
#define SNAG_CMD_PROGRAM_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct program_run {
    sigset_t before; /* signals that were blocked */
    pid_t witness;   /* 0: there is none */
    int status;      /* of the program: what it returned, or 128 and the signal that ended it */
    uint64_t ended_ns; /* CLOCK_MONOTONIC */
};

/* program_run_begin -- from now on signals are kept. */
void program_run_begin(struct program_run *run);

/* program_run_child -- in a process that was forked since: they are what they were. */
void program_run_child(const struct program_run *run);

/*
 * program_run -- run it to its end.
 *   argv   its words, ended by NULL; found by PATH
 *   other  another process that is to get what is passed on, or 0
 * Returns 0, or ERR_NOT_FOUND if it cannot be run.
 */
int program_run(struct program_run *run, char *const *argv, pid_t other);

/* program_run_wait -- until a child of ours has ended, which is told to by SIGTERM after so
 * many ms (0: never): its status, as above. */
int program_run_wait(struct program_run *run, pid_t pid, unsigned patience_ms);

/* program_run_end -- signals that came meanwhile were about the program; later ones are about
 * us. Twice is harmless. */
void program_run_end(struct program_run *run);

#endif
