/* recorded -- what a program left that ran under the tracer: finished, and told. */
#ifndef SNAG_CMD_RECORDED_H
#define SNAG_CMD_RECORDED_H

#include "cmd/own_library.h"
#include "cmd/settings.h"

#include <stdint.h>

struct recorded {
    const struct settings *settings;
    const char *dir;                      /* of the trace */
    const struct tracer_program *program; /* NULL: it is not known, the trace is from earlier */
    int status;                           /* of the program */
    uint64_t ended_ns;                    /* when it had ended; 0: not known */
    const char *why_none; /* what is known to have become of the trace; NULL: nothing bad */
};

enum recorded_outcome {
    RECORDED,            /* there is a trace that can be read */
    RECORDED_NOTHING,    /* there is none, */
    RECORDED_EMPTY,      /* or one without events, as all were lost */
    RECORDED_UNFINISHED, /* there is something that could not be made a trace of */
};

/*
 * recorded_finish -- finish what is there, and say on standard error what that is, what is
 * missing, and what to do next; or that there is nothing, and why. Errors, and what was lost,
 * are said with --quiet, too.
 */
enum recorded_outcome recorded_finish(const struct recorded *recorded);

/* record_say -- a line on standard error, as all that snag record has to say; nothing with
 * --quiet. */
void record_say(const struct settings *settings, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
