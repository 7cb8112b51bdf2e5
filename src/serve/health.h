/*
 * health -- whether what is served can still be read, and written where it is written: what
 * /healthz says to whoever watches the server.
 */
#ifndef SNAG_SERVE_HEALTH_H
#define SNAG_SERVE_HEALTH_H

#include "serve/worker.h"

/*
 * health_check -- of a run: run.db is where it was and answers, and the last change that was
 * asked for could be written. Of what is live: its store is there and takes what is found.
 *   worker  of this thread
 * Returns 0, or an ERR_* that says what is the matter. Microseconds.
 */
int health_check(struct worker *worker);

#endif
