/*
 * routes -- which path is answered by whom: one table. To add a route: its handler in an
 * api_*.c, its row here, its description in openapi.json.
 */
#ifndef SNAG_WEB_ROUTES_H
#define SNAG_WEB_ROUTES_H

#include "web/api.h"

#include <stdbool.h>
#include <stddef.h>

/* Which thread answers. */
enum route_by {
    ROUTE_BY_READER,    /* any: it only reads, and quickly */
    ROUTE_BY_WRITER,    /* the one that writes labels */
    ROUTE_BY_LEARNER,   /* the one that holds what is needed to rank */
    ROUTE_BY_EXPLAINER, /* the one that holds what is needed to find subtrees */
};

struct route {
    bool is_post;
    const char *pattern;   /* "{foi}" and its like stand for a number */
    const char *parameter; /* "name=value" that must be there; NULL: none */
    enum route_by by;
    bool is_kept; /* the answer holds until somebody writes to the database, or the next step */
    api_fn *answer;
};

/* route_list -- all rows, ended by one without a pattern. */
const struct route *route_list(void);

/* route_is_of -- it is there where a program is live, or where a run is served. */
bool route_is_of(const struct route *route, bool is_live);

/*
 * route_find -- the row for a request; its numbers are put into request->id.
 *   allow  out: the methods of the path when only the method is wrong, else NULL
 * Returns NULL when there is none.
 */
const struct route *route_find(struct request *request, const char **allow);

#endif
