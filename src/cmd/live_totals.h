/* live_totals -- what became of a program that ran, when it is over: for ad and watch. */
#ifndef SNAG_CMD_LIVE_TOTALS_H
#define SNAG_CMD_LIVE_TOTALS_H

#include "cmd/live_session.h"

#include <jansson.h>

/* live_totals_quality -- what was wrong, in the stream and in what it said. */
struct quality live_totals_quality(const struct live_session *session);

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
