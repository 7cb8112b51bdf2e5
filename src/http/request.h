/* request -- what a client asks for, when all that every request needs was checked. */
#ifndef SNAG_HTTP_REQUEST_H
#define SNAG_HTTP_REQUEST_H

#include "http/request_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define REQUEST_MAX_NUMBER 9007199254740991.0 /* 2^53 - 1, as JavaScript counts */

struct request {
    bool is_post; /* GET or HEAD otherwise */
    const char *path;
    const struct request_parameter *parameter; /* [n_parameters] */
    size_t n_parameters;
    int64_t id[2];    /* the numbers in the path */
    const char *text; /* [size] of a POST: its body */
    size_t size;
    json_t *body; /* the same as an object; NULL where the handler reads the text */
};

/* request_text -- a parameter, or fallback when it is missing or empty. */
const char *request_text(const struct request *request, const char *name, const char *fallback);

/*
 * request_number -- a parameter that is a number from least to most; fallback when it is
 * missing or empty. Fractions are cut; not so by request_real.
 * Returns 0 or ERR_USAGE.
 */
int request_number(const struct request *request, const char *name, double least, double most,
                   double fallback, double *out);
int request_real(const struct request *request, const char *name, double least, double most,
                 double fallback, double *out);

/*
 * request_list -- a parameter that is a list of numbers below `below`, as in 0,1,5.
 *   out  (below) out; all of them when the parameter is missing or empty
 *   n    out
 * Returns 0 or ERR_USAGE, also for a number that is there twice.
 */
int request_list(const struct request *request, const char *name, uint32_t below, uint32_t *out,
                 uint32_t *n);

#endif
