/* metrics -- counters of the server, as Prometheus reads them. */
#ifndef SNAG_SERVE_METRICS_H
#define SNAG_SERVE_METRICS_H

#include "http/response.h"
#include "serve/served.h"

/* metrics -- fill in the response. */
void metrics(struct served *served, unsigned n_connections, struct response *response);

#endif
