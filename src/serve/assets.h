/*
 * assets -- the page, inside the program: what cmake/assets.cmake found at build time.
 *
 * Only what is in this table can be asked for; no file is opened to serve a request.
 */
#ifndef SNAG_SERVE_ASSETS_H
#define SNAG_SERVE_ASSETS_H

#include <stddef.h>

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
