/*
 * reading -- what the commands that read traces have in common: the trace is read in a child
 * process (base/guard.h), so that whatever a damaged file does to the libraries, the person
 * gets one clear line and nothing half-written stays behind.
 */
#ifndef SNAG_CMD_READING_H
#define SNAG_CMD_READING_H

#include "cmd/settings.h"
#include "run/ingest.h"
#include "trace/source.h"

#include <jansson.h>

struct reading {
    const struct settings *settings;
    struct source source;
    struct ingested ingested;
    struct pool *pool;
    uint64_t begin_ns; /* when it began, as clock_ns tells */
    void *ctx;         /* of the command */
};

/*
 * reading_run -- in a child: open the trace, ingest it, then call then(reading).
 *   settings  args are the files of the trace
 *   dir       where to write columns, or NULL
 *   then      returns an exit status or a negative ERR_*, which is reported in the child
 *   clean_up  called in the parent with ctx when the child failed for good, or NULL
 * Returns an exit status (what went wrong has been reported), or a negative ERR_* that has not.
 */
int reading_run(const struct settings *settings, const char *dir,
                int (*then)(struct reading *reading), void (*clean_up)(void *ctx), void *ctx);

/* reading_print_quality -- the trace-quality table, if there is anything to say. */
void reading_print_quality(const struct quality *quality, const struct clock_report *clock);

/* reading_quality_json -- what was wrong, and how often. */
json_t *reading_quality_json(const struct quality *quality);

#endif
