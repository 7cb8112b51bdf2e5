/* settings -- what was said on the command line, or by SNAG_* in the environment. */
#ifndef SNAG_CMD_SETTINGS_H
#define SNAG_CMD_SETTINGS_H

#include "forest/foi.h"

#include <stdbool.h>
#include <stdint.h>

struct settings {
    bool is_help, is_json, is_quiet, is_verbose;
    bool is_frozen, is_insecure;
    bool is_forced, is_all, is_verified, is_undo, is_history, is_per_call, is_inclusive;
    bool has_subtrees, is_tunnel, is_once;
    const char *foi[FOI_MOST];
    uint32_t n_foi;
    const char *output, *features, *detector, *verdict, *labels, *what, *format, *by;
    const char *learner, *from, *author, *model, *call_detector, *method, *listen;
    uint32_t threads, top, depth, neighbours, simulate, batch, iterations, port;
    const char *snapshot, *load, *curve_key;
    uint32_t workers, deterministic, ranks, functions;
    double interval, rate, seconds;

    /* while a program runs */
    const char *algo_file, *model_key, *ignore, *thresholds, *store, *watchlist;
    const char *counter_prefix, *ps, *tree_features;
    double tree_sigmas, step, speed;
    double connect_timeout, silence_timeout;
    uint64_t min_time_ns;
    uint32_t min_count, window, program, as_rank, tree_window; /* as_rank NO_RANK: not said */

    uint32_t rank; /* NO_RANK: all */
    uint64_t seed;
    double perplexity;
    uint32_t dimensions, epochs;            /* of stack2vec; 0: not said */
    double learning_rate, negatives, gamma; /* 0: not said */
    double threshold;                       /* NAN: the detector's own */

    const char *const *args; /* [n_args] what is not an option */
    int n_args;
};

/* settings_format -- --format, else "json" with --json, else what is usual. */
const char *settings_format(const struct settings *settings, const char *usual);

#endif
