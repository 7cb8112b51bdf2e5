/*
 * reading -- what the commands that read traces have in common: the trace is read in a child
 * process (base/guard.h), so that whatever a damaged file does to the libraries, the person
 * gets one clear line and nothing half-written stays behind. And a run that is made of a trace
 * for as long as a command needs it:
 *
 *     char dir[FS_PATH_SIZE];
 *     rc = trace_run_make(settings, "traces.otf2", "step", dir);     DIR/run.snag is a run
 *     trace_run_remove(dir);
 */
#ifndef SNAG_CMD_READING_H
#define SNAG_CMD_READING_H

#include "base/fs.h"
#include "cmd/settings.h"
#include "run/ingest.h"
#include "trace/source.h"

#include <jansson.h>

struct reading {
    const struct settings *settings;
    struct source source;
    struct ingested ingested;
    struct pool *pool;
    struct process_group
        *process_group; /* in `then` and `assist`: all processes are still there. NULL: alone */
    struct pool *share_pool; /* ... and threads for what all of them do at the same time */
    const char *dir;         /* where the columns are, for all of them */
    uint64_t begin_ns;       /* when it began, as clock_ns tells */
    void *ctx;               /* of the command */
};

struct process_group;
struct launched;

struct reading_task {
    int rc; /* ERR_* that was set: nothing is read, but with --together all learn of it */
    /* In the parent, before anything is read; or NULL. Returns 0 or as rc. */
    int (*begin)(void *ctx, const struct launched *launched);
    const char *dir; /* where to write columns, or NULL; with --together that of process 0 */
    int (*then)(struct reading *reading);    /* returns an exit status, or an ERR_* that is
                                                reported in the child */
    void (*assist)(struct reading *reading); /* on the other processes, which are there until
                                                `then` of process 0 has returned; NULL: they end
                                                before it */
    void (*clean_up)(void *ctx);             /* in the parent, when the child failed; or NULL */
    void *ctx;
};

/*
 * reading_run -- in a child: open the trace, ingest it, then call then(reading).
 *   settings  args are the files of the trace
 * With --together the processes that a launcher has started read together, and process 0 goes
 * on with what all have read, on the processors of those on its node; the others assist it
 * where they are on other nodes and the task has something for them to do. What went wrong with
 * any of them it reports; a process that cannot meet the others ends here, by a signal. Returns
 * an exit status (what went wrong has been reported), or a negative ERR_* that has not.
 */
int reading_run(const struct settings *settings, const struct reading_task *task);

/* reading_print_quality -- the trace-quality table, if there is anything to say. */
void reading_print_quality(const struct quality *quality, const struct clock_report *clock);

/* reading_quality_table -- what was wrong, and how often; NULL if nothing was. */
struct table *reading_quality_table(const struct quality *quality);

/*
 * reading_clock_text -- what messages say of the clocks.
 *   text  (size) out: "" if there is nothing to say
 */
void reading_clock_text(const struct clock_report *clock, char *text, size_t size);

/* reading_quality_json -- what was wrong, and how often. */
json_t *reading_quality_json(const struct quality *quality);

/* reading_print_accesses -- one-sided communication and files, a line each where there is any;
 * reading_set_accesses -- the same in an object. */
void reading_print_accesses(const struct accesses *accesses);
void reading_set_accesses(json_t *json, const struct accesses *accesses);

#define TRACE_RUN_NAME "run.snag"

/*
 * trace_run_make -- analyse a trace as `snag analyze` does, into a directory of its own under $TMPDIR.
 *   foi  pattern of the function of interest, or NULL: what is suggested
 *   dir  out: remove it in any case
 * Returns 0, a negative ERR_*, or STATUS_FAILED when what is wrong has been said already.
 */
int trace_run_make(const struct settings *settings, const char *trace, const char *foi,
                   char dir[FS_PATH_SIZE]);

/* trace_run_remove -- with all that is in it; "" is harmless. */
void trace_run_remove(const char *dir);

#endif
