/*
 * launched -- which of the processes that a launcher of MPI has started this one is, before
 * anything of MPI is loaded; and with which MPI they find each other.
 */
#ifndef SNAG_CMD_LAUNCHER_H
#define SNAG_CMD_LAUNCHER_H

#include "base/fs.h"
#include "base/process_group.h"
#include "cmd/settings.h"

struct launched {
    unsigned size, me;          /* 1 and 0 when this process is alone */
    char library[FS_PATH_SIZE]; /* for process_group_join, when size > 1 */
};

/*
 * launcher_look -- look at what the launcher has put into the environment. Where --together was
 * not said this process is alone, and number 0 of several warns of it. Returns 0, or
 * ERR_UNSUPPORTED when the program was built without the MPI of this launcher.
 */
int launcher_look(const struct settings *settings, struct launched *out);

/* launcher_task -- of what all processes must have been told alike, for process_group_join. */
uint64_t launcher_task(const struct settings *settings);

/* launcher_threads -- of --threads, or the part of the processors of its node that each process
 * of a process group has; 0, which is all, without a process group. */
unsigned launcher_threads(const struct settings *settings,
                          const struct process_group *process_group);

/* launcher_error -- put before a message which process it is from. Returns rc. */
int launcher_error(const struct launched *launched, int rc);

/*
 * launcher_break_off -- report an error (rc < 0), or what has been reported (rc > 0), of a
 * process that others may be waiting for, and end by a signal: of a process that has not met
 * the others yet, MPICH's launcher does not take an exit status for a failure.
 */
_Noreturn void launcher_break_off(const struct launched *launched, int rc);

#endif
