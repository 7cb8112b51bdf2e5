/*
 * live_past -- a live state of what is in a store of provenance, for a program that was watched
 * by somebody else: the page as it was, of what was kept; and while that is still written, what
 * comes.
 *
 * What comes is added to what was read. When the writer ends, all is read anew: it has judged
 * its records once more, and what gave way to others is gone.
 */
#ifndef SNAG_MONITOR_LIVE_PAST_H
#define SNAG_MONITOR_LIVE_PAST_H

#include "base/idmap.h"
#include "base/names.h"
#include "monitor/live_state.h"

struct live_past_opts {
    const char *url;      /* of the store; NULL: none */
    const char *server;   /* address of the job's parameter server; NULL: none */
    const char *key_file; /* of the job; NULL: none */
};

struct live_past {
    struct live_state *state;
    char *url; /* or NULL */
    const char *server, *key_file;
    bool is_lost;             /* the server has not answered the last time */
    struct ps_snapshot known; /* what it said when it last did */
    struct names functions;   /* regions of the state */
    struct idmap parts;       /* (run, shard) -> */
    struct live_past_part {
        int64_t read, seen; /* the last record that was read: before this time, and in all */
    } * part;               /* [parts.n] */
    size_t part_cap;
    bool is_written;
    uint64_t n_calls; /* by the statistics of the store */
};

/*
 * live_past_open -- read a store, and ask a parameter server. Of a store records are known, and
 * how many calls functions had and what these took, of ranks where an instance read one alone;
 * how many executions there were, steps, and what was judged is not, and there are no
 * histograms. A server knows all calls, models of functions, and what each rank did.
 *   opts  a store, a server, or both; its texts, but for the URL, must outlive past
 * Returns 0, or what prov_reader_open or ps_ask does; past is released then. O(records).
 */
int live_past_open(struct live_past *past, const struct live_past_opts *opts);

/*
 * live_past_follow -- what has come since, if it was written then, or if the server has not
 * published all of it yet; once in a while. Returns after how many ms it is worth the effort
 * again. O(records).
 */
unsigned live_past_follow(struct live_past *past);

/* live_past_close -- nobody reads the state any more. A zeroed one, and twice, is harmless. */
void live_past_close(struct live_past *past);

#endif
