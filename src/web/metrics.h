/* metrics -- counters of the server, as Prometheus reads them. */
#ifndef SNAG_WEB_METRICS_H
#define SNAG_WEB_METRICS_H

#include "web/response.h"
#include "web/served.h"

/* metrics -- fill in the response. */
void metrics(struct served *served, unsigned n_connections, struct response *response);

#endif
