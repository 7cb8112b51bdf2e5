/*
 * live_session -- what the commands that read running programs have in common: from settings
 * to a stream that is read and judged, sinks that look on, and what became of the program when
 * it is over (live_totals).
 *
 *     int status = live_session_guarded(settings, watch);      in the child:
 *
 *     live_session_open(&session, settings);
 *     live_session_add(&session, show_step, &page);
 *     rc = live_session_run(&session);
 *     while (live_session_again(&session))       the program runs once more
 *         live_session_next(&session, settings), live_session_add(..), live_session_run(..);
 *     print_json(live_totals_json(&session), true);
 *     live_session_close(&session);
 *
 * The libraries that read traces may die of damaged ones: all of it happens in a child
 * process, and the parent says what became of it (base/guard.h).
 */
#ifndef SNAG_CMD_LIVE_SESSION_H
#define SNAG_CMD_LIVE_SESSION_H

#include "cmd/settings.h"
#include "live/ad.h"
#include "live/live_exchange.h"
#include "live/live_recorder.h"
#include "live/live_trees.h"

#include <jansson.h>

#define LIVE_SESSION_SINKS 8u

struct live_session {
    const struct settings *settings;
    struct stream stream;
    struct ad_opts opts;
    struct ad_sink sink[LIVE_SESSION_SINKS]; /* [opts.n_sinks] */
    struct live_rules rules;
    void (*look)(void *ctx,
                 struct live_session *session); /* now and then while nothing comes */
    void *look_ctx;
    struct ps_client *client; /* with --ps: */
    struct live_exchange *exchange;
    char program[16]; /* name of the program to the parameter server */
    struct ad *ad;
    struct live_trees *trees;           /* of --foi and --model; NULL: none were asked for */
    struct live_recorder *recorder;     /* with --store; else NULL */
    struct live_recorder_counts stored; /* when live_session_run is over */
    bool has_lost;                      /* not all of it could be stored; that was said */
    bool is_interrupted;                /* a signal came before the stream was over */
    bool has_unsent;                    /* the parameter server has not got all */
};

/*
 * live_session_guarded -- fn(settings) in a child process. SIGINT and SIGTERM are passed on to
 * it, for live_session_run to see; the second one kills it.
 *   fn  returns an exit status, or a negative ERR_* which is reported in the child
 * Returns an exit status, or a negative ERR_* that has not been reported.
 */
int live_session_guarded(const struct settings *settings,
                         int (*fn)(const struct settings *settings));

/*
 * live_session_open -- check the settings, read the files they name, open the stream.
 * From here on SIGINT, SIGTERM, SIGHUP only ask live_session_run to come to an end.
 * Returns 0 or a negative ERR_*. Close in any case.
 */
int live_session_open(struct live_session *session, const struct settings *settings);

/* live_session_add -- another sink, after those there are. */
void live_session_add(struct live_session *session,
                      void (*step)(void *ctx, const struct ad_step *step), void *ctx);

/*
 * live_session_run -- until the stream is over, silent for too long (ERR_IO), or a signal came.
 * In any case sinks have seen a last step.
 */
int live_session_run(struct live_session *session);

/*
 * live_session_again -- after live_session_run: wait for the program to run once more, or for
 * a signal. Returns true when it is there; live_session_next is to be called then.
 */
bool live_session_again(struct live_session *session);

/*
 * live_session_next -- a new run of the same stream: all that was learnt is forgotten, and all
 * sinks but those of the session.
 *   settings  of this run: another store; must outlive it
 * Returns as live_session_open.
 */
int live_session_next(struct live_session *session, const struct settings *settings);

/* live_session_is_told -- a signal has asked us to end. */
bool live_session_is_told(void);

/* live_session_is_here -- the program runs on this node, and its stream says so; a trace may be
 * from anywhere. */
bool live_session_is_here(const struct live_session *session);

/* live_session_status -- STATUS_DONE, or STATUS_DAMAGED when there was damage or loss. */
int live_session_status(const struct live_session *session);

void live_session_close(struct live_session *session);

/* live_totals_print_trees -- a line for each function of interest on stdout. */
void live_totals_print_trees(const struct live_session *session);

/* live_totals_anomalies -- strange calls but for those that the final models took back, which
 * only a store knows. */
uint64_t live_totals_anomalies(const struct live_session *session);

/* live_totals_print_slight -- how many calls were taken back, or strange but lost too little.
 */
void live_totals_print_slight(const struct live_session *session);

/* live_totals_print_reduction -- bytes of the trace and of the store, where there is one. */
void live_totals_print_reduction(const struct live_session *session);

/* live_totals_print_wrong -- how many events were lost on the way, and what was wrong with the
 * others: nothing if it was nothing. */
void live_totals_print_wrong(const struct live_session *session);

/* live_totals_json -- all of it, as docs/formats.md says. */
json_t *live_totals_json(const struct live_session *session);

#endif
