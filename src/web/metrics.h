/* metrics -- counters of the server, as Prometheus reads them. */
#ifndef SNAG_WEB_METRICS_H
#define SNAG_WEB_METRICS_H

#include "web/response.h"
#include "web/served.h"

/* metrics -- fill in the response. */
void metrics(struct served *served, struct response *response);

/* health -- "ok", or status 503 with what is wrong: of a live run, that what is found is not
 * kept. */
void health(const struct served *served, struct response *response);

#endif
