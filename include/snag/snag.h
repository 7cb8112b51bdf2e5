/*
 * snag -- find the executions of a parallel program's functions that do not belong, and say
 * why.
 *
 * A *trace* is what a parallel program left: an OTF2 archive, TAU's files, Chrome JSON. A *run*
 * is a directory that `snag analyze` or snag_analyze makes of one. A *function of interest* is
 * the one whose *executions* are compared with each other; each is the call-stack tree of all
 * calls below it, and these are its *vertices*. What is found has a score, a verdict and a
 * reason. A *model* is what one run taught, in a file, for the next one.
 *
 * There are three ways in.
 *
 *   A trace that is there:     snag_analyze("traces.otf2", "my.snag", NULL);
 *
 *   A run that is there:       snag_run_open("my.snag", &run);
 *                              snag_run_executions(run, 0, &x);    columns, a row per execution
 *                              snag_run_calls(run, SNAG_ALL, &c);  ... per call, as it is mapped
 *                              snag_run_reason(run, 0, row, text, sizeof text);
 *
 *   A program that runs:       snag_detector_open(&options, &detector);
 *                              snag_enter(detector, location, time_ns, region); ...
 *                              snag_detector_step(detector);       verdicts come by callback
 *
 * Errors. Functions return 0 (SNAG_OK) or one of enum snag_error, all negative; snag_message
 * is the reason, in words, of the last one in this thread. Damage in a trace is no error: what
 * can be read is analysed, and snag_analyze says so with SNAG_DAMAGED, which is positive.
 *
 * Threads. A handle belongs to one thread at a time; different handles may be used by different
 * threads at the same time, two of the same run too. Functions without a handle may be called
 * by any thread. snag_on_... functions are called before anything else.
 *
 * Lifetimes. What a function returns through a pointer to a handle is closed by the function of
 * that name, which takes NULL too. Columns are arrays of n elements that live until the columns
 * are released; they do not change. Strings live as long as the handle they were asked of,
 * unless it says otherwise. Arguments are copied.
 *
 * Units. Times are in nanoseconds, since the start of the trace; scores are in nats for the
 * default detector, and grow with strangeness.
 *
 * What the library does not do: it prints nothing, ends no process, installs no signal handler
 * and starts no process, but one to read TAU's files while they are written. A trace that is
 * damaged enough to crash a library below is not survived here: the program `snag` reads in a
 * child process for that. Running out of memory aborts, after snag_on_out_of_memory's function
 * was called. Three things it shares with the process that loads it: SQLite has one more VFS,
 * "snag", that is no default; OpenBLAS is set to one thread, so that results do not depend on
 * the machine; a file that shrinks while it is mapped raises SIGBUS.
 *
 * Link with -lsnag (pkg-config snag; find_package(snag) and snag::snag).
 */
#ifndef SNAG_SNAG_H
#define SNAG_SNAG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SNAG_API_VERSION 1 /* of this header; libsnag.so.1 has it */

#if defined(__GNUC__)
#define SNAG_API __attribute__((visibility("default")))
#else
#define SNAG_API
#endif

enum snag_error {
    SNAG_OK = 0,
    SNAG_DAMAGED = 1,       /* done, but the trace was damaged */
    SNAG_ERROR_IO = -1,     /* cannot read or write */
    SNAG_ERROR_FORMAT = -2, /* damaged, or of an unknown kind */
    SNAG_ERROR_RANGE = -3,  /* a value that is out of range */
    SNAG_ERROR_USAGE = -4,  /* an argument that means nothing */
    SNAG_ERROR_NOT_FOUND = -5,
    SNAG_ERROR_EXISTS = -6,      /* there is something of that name */
    SNAG_ERROR_UNSUPPORTED = -7, /* not in this build */
    SNAG_ERROR_INTERRUPTED = -8,
    SNAG_ERROR_DATABASE = -9
};

/* snag_version -- "0.1.0", of the library that is loaded. */
SNAG_API const char *snag_version(void);

/* snag_message -- why the last function in this thread failed, one line; until the next one. */
SNAG_API const char *snag_message(void);

/* snag_on_warning -- hand warnings, a line each, to a function; NULL, the default: nobody. */
SNAG_API void snag_on_warning(void (*take)(void *ctx, const char *text), void *ctx);

/* snag_on_out_of_memory -- what to call, with how much was wanted, before the process aborts.
 */
SNAG_API void snag_on_out_of_memory(void (*take)(size_t bytes));

/* ------------------------------------------------------------------------------- models */

typedef struct snag_model snag_model;

/* snag_model_open -- read a model. SNAG_ERROR_FORMAT when the file is damaged or none. */
SNAG_API int snag_model_open(const char *path, snag_model **model);
SNAG_API void snag_model_close(snag_model *model);

/* snag_model_function -- the full name of the function it is about. */
SNAG_API const char *snag_model_function(const snag_model *model);

/* ----------------------------------------------------------------------- analysing a trace */

/* Zero what is not wanted: memset, or = {sizeof options}. */
struct snag_analyze_options {
    size_t size;                 /* sizeof(struct snag_analyze_options) */
    const char *const *function; /* [n_functions] names of functions of interest, or patterns */
    size_t n_functions;          /* 0: what suits best */
    const char *detector;        /* "residual" (NULL), "ocsvm", "lof", "knn", "iforest" */
    const char *features;        /* what it compares: "residual" (NULL), "stack2vec", ... */
    const snag_model *model;     /* score by it; NULL: executions with each other */
    unsigned threads;            /* 0: as many as there are processors */
    uint64_t seed;
    int replace; /* not 0: replace a run of that name, keep its labels */
};

/*
 * snag_analyze -- make a run of a trace.
 *   trace    a file, or anything else that snag analyze takes
 *   run      the directory that is made; when this fails it is not there
 *   options  NULL for all defaults
 * Returns SNAG_OK, SNAG_DAMAGED or an error. Takes what snag analyze takes.
 */
SNAG_API int snag_analyze(const char *trace, const char *run,
                          const struct snag_analyze_options *options);

/* --------------------------------------------------------------------------------- runs */

typedef struct snag_run snag_run;

/* snag_run_open -- open a run, to read and to label. Instant, whatever the size. */
SNAG_API int snag_run_open(const char *path, snag_run **run);
SNAG_API void snag_run_close(snag_run *run);

/*
 * snag_run_check_same -- see that the directory of its name is still the run that is open, as
 * somebody may have made it anew: all that is read is of the one that was opened. Labels and
 * retrains see to it themselves. Returns 0 or SNAG_ERROR_NOT_FOUND.
 */
SNAG_API int snag_run_check_same(const snag_run *run);

/* snag_run_functions -- how many functions of interest there are; numbered from 0. */
SNAG_API size_t snag_run_functions(const snag_run *run);

/* snag_run_function -- the name of one; NULL if there is no such. */
SNAG_API const char *snag_run_function(const snag_run *run, size_t function);

/* Executions, in the order of ranks, threads and time. */
struct snag_executions {
    size_t n;
    const uint32_t *rank, *thread;           /* [n] */
    const uint32_t *index;                   /* [n] which execution of its thread, from 0 */
    const uint64_t *enter_ns, *duration_ns;  /* [n] */
    const uint64_t *n_vertices, *n_messages; /* [n] of the tree */
    const double *score;                     /* [n] */
    const uint8_t *is_anomaly;               /* [n] 0 or 1 */
    const int8_t *label; /* [n] what a person said: 1 abnormal, -1 normal, 0 nothing */
};

/*
 * snag_run_executions -- of a function, as they are now. O(n).
 *   out  release it with snag_executions_release
 */
SNAG_API int snag_run_executions(snag_run *run, size_t function, struct snag_executions *out);
SNAG_API void snag_executions_release(struct snag_executions *executions);

/* More of the same executions, in the same order. */
struct snag_losses {
    size_t n;
    const uint32_t *location;   /* [n] row of struct snag_locations */
    const uint64_t *call;       /* [n] its root: row of that location's struct snag_calls */
    const uint64_t *typical_ns; /* [n] what executions with the same calls on this rank take */
    const uint64_t *lost_ns;    /* [n] beyond that, where it is more than noise; else 0 */
    const uint64_t *tracer_ns;  /* [n] of the duration, taken by the tracer */
    const uint64_t *error_ns;   /* [n] by how much the duration may be wrong */
    const int64_t *cost_ns;     /* [n] by what the run would be shorter; -1: not known */
    const double *p;            /* [n] that chance alone makes it look so strange, at most */
    const uint8_t *is_open; /* [n] 1: it had not ended when the events of its location did */
};

/*
 * snag_run_losses -- of a function, as they are now. O(n).
 *   out  release it with snag_losses_release
 */
SNAG_API int snag_run_losses(snag_run *run, size_t function, struct snag_losses *out);
SNAG_API void snag_losses_release(struct snag_losses *losses);

/* The call-stack tree of an execution: vertices in preorder, callers before callees. */
struct snag_vertices {
    size_t n;
    const uint32_t *region; /* [n] see snag_run_region */
    const uint32_t *parent; /* [n] < own index; UINT32_MAX for the root, vertex 0 */
    const uint64_t *enter_ns, *inclusive_ns, *exclusive_ns; /* [n] */
};

/*
 * snag_run_vertices -- of the execution in this row of snag_run_executions. O(log + n).
 *   out  release it with snag_vertices_release
 */
SNAG_API int snag_run_vertices(snag_run *run, size_t function, size_t row,
                               struct snag_vertices *out);
SNAG_API void snag_vertices_release(struct snag_vertices *vertices);

/* snag_run_regions -- how many regions there are; numbered from 0. */
SNAG_API size_t snag_run_regions(const snag_run *run);

/* snag_run_region -- the name of a region; NULL if there is no such. */
SNAG_API const char *snag_run_region(const snag_run *run, uint32_t region);

/* Locations: threads of ranks and streams of GPUs, in the order of ranks and threads. */
struct snag_locations {
    size_t n;
    const uint32_t *rank, *thread;         /* [n] */
    const uint8_t *is_gpu;                 /* [n] 1: a stream of a GPU */
    const char *const *name, *const *node; /* [n] texts of the run; node is "" if not known */
    const uint64_t *first_call, *n_calls;  /* [n] its rows among all calls of the run */
    const uint64_t *first_message, *n_messages; /* [n] ... and among all messages */
};

/*
 * snag_run_locations -- of a run. O(n).
 *   out  release it with snag_locations_release
 */
SNAG_API int snag_run_locations(snag_run *run, struct snag_locations *out);
SNAG_API void snag_locations_release(struct snag_locations *locations);

#define SNAG_ALL ((size_t)-1) /* locations, one after the other */

/*
 * Calls, in preorder: the calls inside call i are the rows i + 1 .. i + subtree_len[i] - 1.
 * These are the files of the run, mapped: nothing is copied, and nothing is to be released.
 */
struct snag_calls {
    size_t n;
    const uint64_t *enter_ns, *inclusive_ns; /* [n] enter_ns never decreases on a location */
    const uint32_t *region;                  /* [n] see snag_run_region */
    const uint32_t *subtree_len;             /* [n] calls inside it, itself included */
    const uint16_t *depth;                   /* [n] 0: called by nobody */
};

/* One end of a message, as it is in the run. */
struct snag_message {
    uint64_t begin_ns, end_ns; /* of the send or the receive */
    uint64_t bytes;
    uint64_t match; /* row of the other end among all messages of the run; UINT64_MAX: none */
    uint32_t call;  /* innermost call around it, a row of its location; UINT32_MAX: none */
    uint32_t peer;  /* rank at the other end */
    uint32_t comm;  /* number of the communicator */
    uint32_t tag;
    uint32_t order;      /* number on its location, as posted */
    uint32_t is_receive; /* 0: the end that sends */
};

/* Mapped as calls are. */
struct snag_messages {
    size_t n;
    const struct snag_message *message; /* [n] by location, in the order of their records */
};

/*
 * snag_run_calls, snag_run_messages -- of a location, or of SNAG_ALL. O(1).
 *   out  arrays that live until the run is closed
 * The numbers are those of the files, which somebody else may have written: who takes one as an
 * index calls snag_run_check first, or looks at it.
 */
SNAG_API int snag_run_calls(snag_run *run, size_t location, struct snag_calls *out);
SNAG_API int snag_run_messages(snag_run *run, size_t location, struct snag_messages *out);

/*
 * snag_run_check -- see that calls and messages of a location, or of SNAG_ALL, are what is said
 * above: rows, regions and depths that there are, times in order.
 * Returns 0 or SNAG_ERROR_FORMAT. O(calls), 3 ns each, the first time; then O(1).
 */
SNAG_API int snag_run_check(snag_run *run, size_t location);

/* snag_run_check_regions -- only that the regions of these calls are there: for tables of calls
 * in which a region is an index of its name. Reads one column, each time. */
SNAG_API int snag_run_check_regions(snag_run *run, size_t location);

/*
 * snag_run_reason -- what is strange about an execution, in a sentence.
 *   out  (size) always ended by NUL; 1,024 bytes are enough
 */
SNAG_API int snag_run_reason(snag_run *run, size_t function, size_t row, char *out,
                             size_t size);

/*
 * snag_run_label -- a person's word on an execution: 1 abnormal, -1 normal, 0 takes it back.
 *   author  who says so
 */
SNAG_API int snag_run_label(snag_run *run, size_t function, size_t row, int label,
                            const char *author);

/*
 * snag_run_retrain -- scores and verdicts anew from all labels there are.
 *   n_changed  out: verdicts that are others now; may be NULL
 */
SNAG_API int snag_run_retrain(snag_run *run, size_t function, const char *author,
                              size_t *n_changed);

/* snag_run_undo -- what held before the newest retrain that is not undone. */
SNAG_API int snag_run_undo(snag_run *run, size_t function, size_t *n_changed);

/*
 * snag_run_save_model -- what the run taught about a function, with the labels that the newest
 * retrain which is not undone has learnt. Of the others a warning says how many they are.
 * A run that was judged by a model does not hold it: SNAG_ERROR_UNSUPPORTED, unless a
 * one-class SVM has learnt in the run.
 */
SNAG_API int snag_run_save_model(snag_run *run, size_t function, const char *path);

/* --------------------------------------------------------------------- a program that runs */

typedef struct snag_detector snag_detector;

/* A call that took strangely long. Strings until the callback returns. */
struct snag_call {
    uint32_t rank, thread;
    const char *region;
    uint64_t enter_ns, inclusive_ns, exclusive_ns;
    double score;       /* of the detector of calls */
    double severity_ns; /* time beyond what is typical */
    double p;           /* how likely a normal call is to be as strange: a false alarm */
};

/* An execution of a function of interest. */
struct snag_execution {
    uint32_t rank, thread, index;
    const char *function;
    uint64_t enter_ns, duration_ns;
    size_t n_calls; /* of the tree */
    int is_judged;  /* 0: too few to compare it with yet */
    int is_anomaly;
    double score, threshold;
    const char *reason; /* of an anomaly; else NULL */
};

struct snag_detector_options {
    size_t size;                 /* sizeof(struct snag_detector_options) */
    const char *const *function; /* [n_functions] functions of interest, or patterns */
    size_t n_functions;
    const char *model; /* file: its function is one of interest, and judged by it; or NULL */
    void (*on_call)(void *ctx, const struct snag_call *call);                /* or NULL */
    void (*on_execution)(void *ctx, const struct snag_execution *execution); /* or NULL */
    void *ctx;
    const char *source;  /* the program whose events it reads itself: see snag_detector_next; or
                           NULL: events are pushed */
    uint64_t step_ns;    /* of a source that is a trace: trace time of a step; 0: one second */
    double speed;        /* ... and seconds of it per second; 0: as fast as it goes */
    unsigned connect_ms; /* how long to wait for a program that is not there yet */
};

/* snag_detector_open -- errors as those of the model or the source, or SNAG_ERROR_USAGE. */
SNAG_API int snag_detector_open(const struct snag_detector_options *options,
                                snag_detector **detector);

/* snag_detector_close -- without a last step; what was not judged is not. */
SNAG_API void snag_detector_close(snag_detector *detector);

/*
 * snag_region, snag_counter, snag_location -- the number of a name, or of a thread of a rank;
 * the same every time. Numbers are from 0 and dense. With a source, where nothing is
 * pushed, UINT32_MAX.
 */
SNAG_API uint32_t snag_region(snag_detector *detector, const char *name);
SNAG_API uint32_t snag_counter(snag_detector *detector, const char *name);
SNAG_API uint32_t snag_location(snag_detector *detector, uint32_t rank, uint32_t thread);

/*
 * snag_enter, snag_leave, ... -- an event of a location. Those of one location come in time
 * order; one that is earlier than the one before is moved up to it. Times are below 2^62.
 * Numbers that there are not are left out and counted (snag_detector_damage). Leaves that do
 * not pair up are repaired as those of a trace are. Amortised O(1), no system calls.
 */
SNAG_API void snag_enter(snag_detector *detector, uint32_t location, uint64_t time_ns,
                         uint32_t region);
SNAG_API void snag_leave(snag_detector *detector, uint32_t location, uint64_t time_ns,
                         uint32_t region);
SNAG_API void snag_send(snag_detector *detector, uint32_t location, uint64_t time_ns,
                        uint32_t to_rank, uint32_t tag, uint64_t bytes);
SNAG_API void snag_receive(snag_detector *detector, uint32_t location, uint64_t time_ns,
                           uint32_t from_rank, uint32_t tag, uint64_t bytes);
SNAG_API void snag_count(snag_detector *detector, uint32_t location, uint64_t time_ns,
                         uint32_t counter, double value);

/*
 * snag_detector_step -- judge all calls and executions that have finished; callbacks are called
 * from within, in the same thread. Memory is bounded by the events between two steps: a step a
 * second, or every million events, is usual.
 */
SNAG_API int snag_detector_step(snag_detector *detector);

/* snag_detector_end -- the last step: what is open ends now. No events may follow. */
SNAG_API int snag_detector_end(snag_detector *detector);

enum snag_state {
    SNAG_OVER = 0, /* the last step was judged: what was open has ended */
    SNAG_STEP = 1, /* a step was judged */
    SNAG_IDLE = 2  /* nothing came in time */
};

/*
 * snag_detector_next -- of a detector with a source: read the next step and judge it, as
 * snag_detector_step does.
 *   timeout_ms  to wait for it; 0: not at all
 * The source is "tracer:PATH", a socket that a program under the tracer connects to;
 * "replay:TRACE" or a trace, as if its program ran now; or TAU's files, which a process is
 * started for. Returns an enum snag_state or an error, after which nothing comes;
 * SNAG_ERROR_NOT_FOUND at the end: a function of interest was never called.
 */
SNAG_API int snag_detector_next(snag_detector *detector, int timeout_ms);

/* snag_detector_damage -- how much was wrong with the events so far: left out, repaired. */
SNAG_API uint64_t snag_detector_damage(const snag_detector *detector);

#ifdef __cplusplus
}
#endif

#endif
