/*
 * settings -- what was said on the command line, or by SNAG_* in the environment, or else what
 * holds by default (options.c), and what commands make of it. What belongs to one kind of command
 * stands together.
 */
#ifndef SNAG_CMD_SETTINGS_H
#define SNAG_CMD_SETTINGS_H

#include "base/fs.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

struct call_detector_ops;
struct call_detector_opts;
struct execution_filter;
struct history_tags;
struct run;
struct sqlite3;

#define MAX_REPEATED 200    /* times that an option which may be repeated is */
#define MAX_SAID_OPTIONS 64 /* options of a command, more than any has */

/* What an option that may be repeated was given. */
struct word_list {
    const char *text[MAX_REPEATED];
    uint32_t n;
    bool is_inherited; /* from the environment: replaced by what is said */
};

/* What stack2vec, the one-class SVM and other methods make of executions; 0: not said. */
struct vector_settings {
    const char *features; /* NULL: not said */
    uint32_t dimensions, epochs;
    double learning_rate, negatives, gamma, nu;
};

/* Labels, what is learnt from them, and taking it back. */
struct learning_settings {
    const char *learner, *author; /* NULL: not said */
    const char *labels, *from;    /* files */
    uint32_t simulate, batch;
    bool is_undo, is_history, is_supervised;
};

/* Executions on a plane. */
struct plane_settings {
    const char *method;
    double perplexity;
    uint32_t iterations;
};

#define MIN_LOST_UNSAID UINT64_MAX

/* Judging while a program runs: ad, watch. */
struct live_settings {
    const char *algo_file, *model_key, *ignore, *thresholds, *store, *spool, *watchlist;
    const char *counter_prefix, *ps, *server, *tree_features;
    double tree_sigmas, false_alarms, step, speed, connect_timeout, silence_timeout;
    uint64_t min_time_ns;
    uint32_t spool_mib, store_mib, min_count, window, program, as_rank,
        tree_window; /* as_rank NO_RANK: not said */
};

/* Pages in a browser: serve, watch. */
struct page_settings {
    uint32_t port;
    bool is_tunnel, is_once, is_watched;
};

/* A parameter server. */
struct server_settings {
    const char *snapshot, *load, *upstream, *dump;
    uint32_t workers;
    double interval;
    bool is_frozen, is_insecure;
};

/* Ranks that are played to one. */
struct sim_settings {
    uint32_t ranks, functions;
    double rate, seconds;
    const char *tree; /* "3x32", or NULL */
};

/* Many runs: which of them, and what they are. */
struct history_settings {
    struct word_list tag;
    uint32_t last, keep, number; /* 0: not said */
    const char *path;            /* call path; NULL: all */
};

/* Runs against each other. */
struct compare_settings {
    struct word_list base, rename, limit;
    double least; /* of a time; NAN: not said */
};

struct settings {
    bool is_help, is_json, is_quiet, is_verbose;
    uint32_t threads;
    bool is_together; /* one of several processes that do it together */
    uint64_t seed;

    struct word_list foi; /* patterns */
    bool guesses_foi; /* where there are none, snag record --watch takes what suggests itself */
    struct word_list without; /* what a run is played without */
    uint32_t rank;            /* NO_RANK: all */

    /* What is analysed, and how strange it is. */
    const char *detector, *call_detector, *model; /* NULL: not said */
    uint32_t neighbours;
    bool is_incidents, is_executions; /* what list is to show */
    bool is_groups;                   /* the same */
    double false_alarms;              /* expected in a run; 0: not said */
    double most_anomalies;            /* share of the executions; NAN: not said */
    double threshold;                 /* NAN: the detector's own */
    bool is_per_call, is_inclusive;
    uint32_t levels_from;    /* calls; 0: not said */
    uint64_t least_lost_ns;  /* MIN_LOST_UNSAID: by the clock and the noise */
    const char *takes_short; /* calls; NULL: not said */

    /* What is printed or written, and where. */
    const char *output, *verdict, *label, *what, *format, *by;
    bool is_functions, is_stacks, is_mpi_alone; /* what a program's structure is read from */
    bool has_no_call_sites;                     /* of MPI */
    const char *sample;                         /* a rate, as 200Hz; NULL: no samples */
    double overhead;                            /* what recording may cost; 0: not said */
    const char *live_socket;                    /* who listens to the tracer; NULL: nobody */
    const char *finish; /* an earlier recording; NULL: a program is run */
    const char *tracer; /* what is loaded into a program; NULL: not said */
    uint32_t top, depth;
    double keep_days;        /* of a store, what ended since; NAN: not said */
    uint32_t keep_mib;       /* likewise, what fits; 0: not said */
    const char *run_id;      /* of the job; see run_id_choose */
    const char *said_run_id; /* NULL: run_id was chosen for want of one */
    const char *log;         /* file that messages go to; NULL: standard error */
    bool is_all, has_subtrees, is_forced, is_verified;

    /* Between a parameter server and its clients, and where one listens. */
    const char *listen, *curve_key;
    const char *metrics; /* [ADDRESS:]PORT; NULL: not said */
    uint32_t deterministic;

    struct vector_settings vectors;
    struct learning_settings learning;
    struct plane_settings plane;
    struct live_settings live;
    struct page_settings page;
    struct server_settings server;
    struct sim_settings sim;
    struct compare_settings compare;
    struct history_settings history;

    const char *links; /* rules of what belongs together in a trace; NULL: not said */

    const char *const *args; /* [n_args] what is not an option */
    int n_args;
    const char *said
        [MAX_SAID_OPTIONS];   /* [n_said] names of options on the command line, as they came */
    int n_said;               /* what the environment says is not among them */
    const char *const *words; /* [n_words] all of the command line, from the command on */
    int n_words;
};

/* settings_format -- --format, else "json" with --json, else the default. */
const char *settings_format(const struct settings *settings, const char *typical);

/*
 * selection_open -- open the run that was named, for reading; --verify reads all of it.
 * Returns 0 or what run_open and columns_verify return. run_close in any case.
 */
int selection_open(struct run *run, const struct settings *settings);

/* selection_filter -- what --foi, --rank, --verdict and --top say. */
struct execution_filter selection_filter(const struct settings *settings);

/* command_line -- "snag analyze 'a b.otf2'"; free it. Options may stand before arguments;
 * --together is left out. */
char *command_line(const struct settings *settings);

/* command_line_word -- one word in quotes that a shell takes away; free it. */
char *command_line_word(const char *word);

/* tags_read -- add those of --tag; KEY= takes one away. Returns 0 or ERR_USAGE. */
int tags_read(const struct word_list *said, struct history_tags *tags);

/*
 * tags_of_environment -- add commit, branch and build of CI (GitHub, GitLab, Jenkins, and those
 * that set the same variables), job, partition, cluster and nodes of Slurm, PBS and LSF.
 */
void tags_of_environment(struct history_tags *tags);

/* tags_job -- the job that this process runs in, by Slurm, PBS or LSF; NULL: in none. */
const char *tags_job(void);

/*
 * tags_of_run -- add what the run's trace says of all its processes alike, run_summary.h, and
 * "nodes", where there are no such tags yet. Returns 0, or as rundb_error.
 */
int tags_of_run(struct sqlite3 *db, struct history_tags *tags);

#define RUN_ID_SIZE 65

/*
 * run_id_choose -- what was said, or the job of a batch system, or one made of the time and the
 * process: "20261123T150405-4711".
 *   said  in: --run-id, or NULL; out: what it is, perhaps in `text`
 * Returns 0, or ERR_USAGE for what is longer than 64 characters or has others than letters,
 * digits and "._:-+@[]".
 */
int run_id_choose(const char **said, char text[RUN_ID_SIZE]);

/* settings_foi -- the first --foi, or NULL. */
static inline const char *settings_foi(const struct settings *settings)
{
    return settings->foi.n > 0 ? settings->foi.text[0] : NULL;
}

/*
 * algo_file_settle -- the detector and its parameters, as far as --algo-file, and before it
 * --call-detector and --short, say them.
 * Returns 0, ERR_IO, or ERR_FORMAT for what such a file may not say.
 */
int algo_file_settle(const struct settings *settings, const struct call_detector_ops **detector,
                     struct call_detector_opts *opts);

/*
 * store_name_free -- the first of STEM.store, STEM-2.store, ... that is free.
 *   rest  ".store", or what else stands after the number
 *   from  the first number to be tried; 1 is not written
 * Returns 0, ERR_RANGE for a path that is too long, or ERR_EXISTS. So do the others.
 */
int store_name_free(const char *stem, const char *rest, int from, char store[FS_PATH_SIZE]);

/* store_name_of -- for a source: "job.store" for replay:traces/job/, or what is still free. */
int store_name_of(const char *source, char store[FS_PATH_SIZE]);

/*
 * store_name_said -- what --store names: *store is NULL after "none", which is no store.
 * Returns 0, or ERR_USAGE where there is a store of that name, as nobody knows then what is
 * meant.
 */
int store_name_said(const char **store);

/* store_name_next -- for another run: kept-2 for kept, job-2.store for job.store, and so on. */
int store_name_next(const char *url, char store[FS_PATH_SIZE]);

#endif
