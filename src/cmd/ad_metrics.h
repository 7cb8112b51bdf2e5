/*
 * ad_metrics -- what snag ad does, as Prometheus reads it: of the last step that was judged.
 *
 *     ad_metrics_open(&metrics, settings);           answers from now on
 *     live_session_open(&session, settings);
 *     ad_metrics_watch(metrics, &session);
 *     live_session_run(&session);
 *     ad_metrics_close(metrics);
 *
 * The thread that judges leaves a copy behind after each step, and now and then while nothing
 * comes; whoever asks waits for no more than that copy.
 */
#ifndef SNAG_CMD_AD_METRICS_H
#define SNAG_CMD_AD_METRICS_H

#include "cmd/live_session.h"

struct ad_metrics;

/*
 * ad_metrics_open -- with --metrics: listen, and say on stdout where.
 *   metrics  out: NULL without the option; close it in any case
 * Returns as metrics_option_open.
 */
int ad_metrics_open(struct ad_metrics **metrics, const struct settings *settings);

/* ad_metrics_watch -- the stream is open, and is going to be judged. NULL is harmless. */
void ad_metrics_watch(struct ad_metrics *metrics, struct live_session *session);

/* ad_metrics_close -- before the session. NULL is harmless. */
void ad_metrics_close(struct ad_metrics *metrics);

#endif
