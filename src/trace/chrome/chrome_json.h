/*
 * chrome_json -- the events of a Chrome/Perfetto trace file, one record after another.
 *
 * A file is a document or several behind each other. A document is an array of objects, an
 * object whose "traceEvents" is one, or objects alone, a line each (JSON lines). It may be of
 * any size (it is parsed as it streams by), compressed (json_input.h), lack its end (the format
 * allows that), have another document where an event should be (processes that write one file
 * begin it each), or have a broken object in it: then reading goes on with the next line that
 * starts an object.
 */
#ifndef SNAG_TRACE_CHROME_JSON_H
#define SNAG_TRACE_CHROME_JSON_H

#include "trace/event.h"
#include "trace/quality.h"

#include <stdbool.h>
#include <stdint.h>

#define CHROME_NAME 16385  /* longest name of a call that is kept, with its zero */
#define CHROME_TEXT 1024   /* likewise of a text in "args" */
#define CHROME_SERIES 16   /* values kept of one record of a counter */
#define CHROME_MAX_ARGS 64 /* of those that are asked for */
#define CHROME_DETAILS 32  /* values kept of the "args" of a call */

/* A number or a string, as ids are either; a string of a number is that number. */
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

/* A value within "args": text, a number as it is written, or a list as "[[1,2],[3]]". */
struct chrome_arg {
    bool is_set;
    char text[CHROME_TEXT];
};

/* One value of "args" that is a number, a text or a truth; lists and objects are not kept. */
struct chrome_detail {
    char name[128];
    enum argument_kind kind;
    union {
        int64_t whole;
        uint64_t natural;
        double real;
    };
    char text[ARGUMENT_TEXT_BYTES + 1]; /* so much more shows that it was longer */
};

struct chrome_record {
    char phase; /* 'B', 'E', 'X', 's', 'f', 'M', ...; 0 when missing */
    bool has_time, has_duration;
    bool is_bad; /* its time or duration is no number, or one that cannot be */
    int64_t time_ns, duration_ns;
    struct chrome_id pid, tid, id;
    bool is_local_id;                       /* no other process means the same by it */
    char name[CHROME_NAME];                 /* "" when missing */
    char category[128], scope[128];         /* likewise */
    struct chrome_arg arg[CHROME_MAX_ARGS]; /* those that are asked for, in that order */
    uint32_t n_series; /* numbers within "args", for counters; if they are wanted */
    struct chrome_series series[CHROME_SERIES];
    uint32_t n_lost_series; /* beyond these */
    uint32_t n_details;     /* of "args", if they are wanted */
    struct chrome_detail detail[CHROME_DETAILS];
    uint32_t n_lost_details; /* likewise */
};

/* What a document says of itself, beside its events. */
struct chrome_document {
    bool has_rank; /* "distributedInfo" */
    uint32_t rank;
    uint32_t n_ranks;     /* of the job, as it says; 0 when it does not */
    bool is_of_process;   /* one process wrote it, its GPUs are pids too: Kineto */
    int64_t base_time_ns; /* of its clock: what its times are counted from */
};

/* Whom to tell. All get ctx. */
struct chrome_sink {
    void *ctx;
    void (*record)(void *ctx, const struct chrome_record *r);
    /* The document of all records since the last one is over; NULL: nobody asks. */
    void (*document)(void *ctx, const struct chrome_document *document);
    /* "otherData" of a document: texts and numbers by name; NULL: nobody asks. */
    void (*metadata)(void *ctx, const char *key, const char *value);
    bool wants_counters;  /* fill in series */
    bool wants_arguments; /* fill in detail */
    const char *const *arg;
    uint32_t n_args; /* at most CHROME_MAX_ARGS */
};

/* chrome_json_accepts -- true when a file starts like one of these, or path is "-". */
bool chrome_json_accepts(const char *path);

/*
 * chrome_json_read -- tell the sink every event of the file, in its order.
 *   path  "-" for standard input
 * Returns 0, ERR_IO, or ERR_FORMAT when there is nothing to make sense of.
 */
int chrome_json_read(const char *path, const struct chrome_sink *sink, struct quality *quality);

#endif
