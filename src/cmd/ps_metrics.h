/* ps_metrics -- what a parameter server does, as Prometheus reads it. */
#ifndef SNAG_CMD_PS_METRICS_H
#define SNAG_CMD_PS_METRICS_H

#include "http/metrics_server.h"

/* ps_metrics_add, ps_metrics_is_well -- for struct metrics_server_opts; ctx is a struct
 * ps_server, which is well while its snapshots can be written. */
void ps_metrics_add(void *ctx, struct metrics *metrics);
bool ps_metrics_is_well(void *ctx, char why[METRICS_WHY_SIZE]);

#endif
