/* window -- the part of a trace that a request is about: a stretch of time on some locations.
 */
#ifndef SNAG_SERVE_WINDOW_H
#define SNAG_SERVE_WINDOW_H

#include "http/request.h"
#include "serve/served.h"

#include <stdint.h>

struct window {
    uint64_t begin_ns, end_ns; /* begin < end */
    uint32_t *location;        /* [n_locations] different ones */
    uint32_t n_locations;
};

/*
 * window_read -- from the parameters begin, end (default: the whole trace) and locations
 * (default: all). Release in any case. Returns 0 or ERR_USAGE.
 */
int window_read(struct window *window, const struct served *served,
                const struct request *request);
void window_release(struct window *window);

#endif
