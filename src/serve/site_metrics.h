/* site_metrics -- counters of the server, and of the program that it shows, as Prometheus reads
 * them. */
#ifndef SNAG_SERVE_SITE_METRICS_H
#define SNAG_SERVE_SITE_METRICS_H

#include "http/response.h"
#include "serve/served.h"

/* site_metrics -- fill in the response. accept  that field of the request, or NULL */
void site_metrics(struct served *served, unsigned n_connections, const char *accept,
                  struct response *response);

#endif
