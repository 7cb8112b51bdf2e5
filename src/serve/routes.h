/*
 * routes -- which path is answered by whom: one table. To add a route: its handler in an
 * api_*.c, its row here, its description in openapi.json. Beside it the page, inside the
 * program: only what is in its table can be asked for.
 */
#ifndef SNAG_SERVE_ROUTES_H
#define SNAG_SERVE_ROUTES_H

#include "monitor/api_live.h"
#include "serve/api.h"

#include <stdbool.h>
#include <stddef.h>

/* Which thread answers. */
enum route_by {
    ROUTE_BY_READER,    /* any: it only reads, and quickly */
    ROUTE_BY_WRITER,    /* the one that writes labels */
    ROUTE_BY_LEARNER,   /* the one that holds what is needed to rank */
    ROUTE_BY_EXPLAINER, /* the one that holds what is needed to find subtrees */
    ROUTE_BY_QUERIER,   /* the one that runs SQL of others */
};

/* What has to be served, for it to be there. */
enum route_of {
    ROUTE_OF_RUN,
    ROUTE_OF_PROGRAM,
    ROUTE_OF_COMPARISON,
    ROUTE_OF_HISTORY,
    ROUTE_OF_ANY,
};

/* What is sent to it. */
enum route_takes {
    ROUTE_TAKES_NOTHING,  /* a GET */
    ROUTE_TAKES_SETTINGS, /* a POST: a small object */
    ROUTE_TAKES_LABELS,   /* a POST: a text that may be large, which the handler reads */
};

struct route {
    enum route_takes takes;
    const char *pattern;   /* "{foi}" and its like stand for a number */
    const char *parameter; /* "name=value" that must be there; NULL: none */
    enum route_by by;
    bool is_kept;   /* by a reader: until somebody writes to the database, or the next step */
    api_fn *answer; /* NULL where it is of a program that runs: then */
    api_live_fn *live;
    enum route_of of;
};

/* route_list -- all rows, ended by one without a pattern. */
const struct route *route_list(void);

/* route_most_body -- how many bytes may be sent to it. */
size_t route_most_body(const struct route *route);

/* route_is_of -- it is there where this is served. */
bool route_is_of(const struct route *route, enum served_what what);

/* route_answer -- what its handler does. The route is of what the worker serves. */
int route_answer(const struct route *route, struct worker *worker,
                 const struct request *request, struct response *response);

/*
 * route_find -- the row for a request; its numbers are put into request->id.
 * Returns NULL when there is none.
 */
const struct route *route_find(struct request *request);

/* route_methods -- by which methods its path may be asked for: "GET, HEAD"; NULL: by none. */
const char *route_methods(const struct request *request);

struct asset {
    const char *path; /* "/", "/app.js" */
    const char *type;
    const char *etag; /* quoted */
    const unsigned char *data;
    size_t size;
};

/* asset_find -- what is served under a path, or NULL. */
const struct asset *asset_find(const char *path);

/* asset_openapi -- the description of the API, which is no part of the page. */
const struct asset *asset_openapi(void);

/* asset_report -- the page of a report (web/src/report/), which is written, not served. */
const struct asset *asset_report(void);

#endif
