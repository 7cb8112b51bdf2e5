/*
 * chrome_json -- the events of a Chrome/Perfetto trace file, one record after another.
 *
 * The file is an array of objects, or an object whose "traceEvents" is one. It may be of any
 * size (it is parsed as it streams by), compressed with zstd, lack its end (the format allows
 * that), or have a broken object in it: then reading goes on with the next line that starts an
 * object.
 */
#ifndef SNAG_TRACE_CHROME_JSON_H
#define SNAG_TRACE_CHROME_JSON_H

#include "trace/quality.h"

#include <stdbool.h>
#include <stdint.h>

#define CHROME_TEXT 1024 /* longest name kept, with its zero */
#define CHROME_SERIES 16 /* values kept of one record of a counter */

/* A number or a string, as ids are either. */
struct chrome_id {
    bool is_set, is_text;
    uint64_t number;
    char text[128];
};

/* One value of a counter. */
struct chrome_series {
    char name[128];
    bool is_real;
    int64_t whole;
    double real;
};

struct chrome_record {
    char phase; /* 'B', 'E', 'X', 's', 'f', 'M', ...; 0 when missing */
    bool has_time, has_duration;
    int64_t time_ns, duration_ns;
    struct chrome_id pid, tid, id;
    char name[CHROME_TEXT];      /* "" when missing */
    char args_name[CHROME_TEXT]; /* "name" within "args", for metadata */
    uint32_t n_series;           /* numbers within "args", for counters; if they are wanted */
    struct chrome_series series[CHROME_SERIES];
};

/* chrome_json_accepts -- true when a file starts like one of these, or path is "-". */
bool chrome_json_accepts(const char *path);

/*
 * chrome_json_read -- call record(ctx, ...) for every event of the file.
 *   path            "-" for standard input
 *   wants_counters  fill in series
 * Returns 0, ERR_IO, or ERR_FORMAT when there is nothing to make sense of.
 */
int chrome_json_read(const char *path, bool wants_counters,
                     void (*record)(void *ctx, const struct chrome_record *r), void *ctx,
                     struct quality *quality);

#endif
