/*
 * spawn -- run the program under test as a person would, and keep all that it did: exit status,
 * signal, what it printed, whether it ended in time.
 */
#ifndef SNAG_TESTS_SPAWN_H
#define SNAG_TESTS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPAWN_ARGS 16

struct outcome {
    int status;   /* exit status, -1 when it did not exit */
    int signal;   /* that ended it, 0 if none */
    bool is_late; /* had to be killed because it did not end in time */
    char *out, *err;
    size_t n_out, n_err;
    size_t peak_bytes; /* of the largest of its processes; of spawn_run alone, */
    double cpu_s;      /* as this */
};

/* A program that is running; its output goes to files without a name. */
struct spawn {
    pid_t pid;
    int out, err;
};

/* spawn_program -- the path of snag: the environment variable SNAG_PROGRAM. Aborts without. */
const char *spawn_program(void);

/*
 * spawn_begin -- start snag with the arguments, the last of which is NULL.
 *   prepare  called in the child before it becomes the program, or NULL
 * It leads a process group of its own. Aborts when it cannot be started.
 */
void spawn_begin(struct spawn *s, void (*prepare)(void *ctx), void *ctx,
                 const char *const *args);

/* spawn_end -- wait for it, at most so many seconds, and collect what it did. */
void spawn_end(struct spawn *s, unsigned most_s, struct outcome *out);

/* spawn_run -- both, with 60 seconds, measured: spawn_run(&outcome, "info", path, NULL). */
void spawn_run(struct outcome *out, ...) __attribute__((sentinel));

void outcome_release(struct outcome *outcome);

/*
 * outcome_is_clean -- true when the program ended as it should whatever its input was: by
 * itself, in time, with status 0, 1 or 3; with nothing on stderr, or with status 1 exactly one
 * line "snag: ...". Otherwise says on stderr what was wrong.
 */
bool outcome_is_clean(const struct outcome *outcome, const char *what);

#endif
