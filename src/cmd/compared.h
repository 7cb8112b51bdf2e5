/*
 * compared -- what runs are compared by: the summaries of what was named on the command line,
 * each of which may be a run, a trace, or a history of many runs.
 *
 *     BASE.snag     that run
 *     trace.otf2    the run that 'snag analyze' would make of it
 *     nightly.db    of a history its last run, or its last few, of those that have the tags
 */
#ifndef SNAG_CMD_COMPARED_H
#define SNAG_CMD_COMPARED_H

#include "base/process_group.h"
#include "cmd/settings.h"
#include "compare/compare.h"

#include <stdint.h>
#include <sys/stat.h>

/* Where a summary is from. */
struct compared_run {
    const char *path;
    struct stat file; /* the directory, or the history */
    int64_t number;   /* in a history; 0: it is none of one */
    int64_t foi;      /* id of its function of interest; 0: it is no run directory that stays */
};

struct compared_made;

struct compared {
    const struct settings *settings;
    struct process_group *process_group; /* not its own; NULL: this process is alone */
    struct compared_made *made;          /* [arguments] by several processes, of traces */
    struct compared_run *run;            /* [n] those before first */
    struct summary *summary;             /* [n] */
    uint32_t n, n_before;
    size_t run_cap, summary_cap;
    bool is_before; /* what is loaded now */
    struct compare_rename rename[MAX_REPEATED];
    uint32_t n_renames;
    char text[MAX_REPEATED][COMPARE_NAME_SIZE]; /* what the renames refer to */
    char foi[COMPARE_NAME_SIZE];                /* of the first summary, its short name */
};

/*
 * compared_load -- all that the settings name: --base, and the arguments, the first of which is
 * what was before if no --base is said. A history alone: its last run against those before it.
 *   process_group  NULL, or: all processes call it and get the same. Each reads the executions
 *                  on its
 *         own locations of a run; traces are dealt to processes as wholes
 * Returns 0, a negative ERR_*, or an exit status when what is wrong has been said already;
 * release it in any case.
 */
int compared_load(struct compared *compared, const struct settings *settings,
                  struct process_group *process_group);
void compared_release(struct compared *compared);

/* compared_compare -- what changed between them; release it in any case. */
void compared_compare(const struct compared *compared, struct comparison *out);

#endif
