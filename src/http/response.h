/* response -- what a client is answered: a status, bytes and what they are. */
#ifndef SNAG_HTTP_RESPONSE_H
#define SNAG_HTTP_RESPONSE_H

#include "http/bundle.h"

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* A body whose bytes are somebody's, in pieces: nothing is copied. */
struct response_parts {
    struct bundle_part part[BUNDLE_MAX_PARTS]; /* [n] the data of the first is its own */
    size_t n;
    size_t held; /* bytes that are there for its sake only */
    void (*release)(void *owner);
    void *owner; /* of the rest, until release is called, from any thread */
};

struct response {
    unsigned status;  /* of HTTP */
    const char *type; /* constant text */
    void *body;       /* [size] its own, or constant when is_constant */
    size_t size;
    bool is_constant;
    struct response_parts *parts; /* instead of body, of `size` bytes; or NULL */
    char etag[40];                /* quoted, where there is a cheaper one than a hash; or "" */
    const char *download;         /* name of the file it is to be kept as, or NULL */
    const char *allow;            /* with status 405 */
};

void response_release(struct response *response);

/* response_held -- how many bytes are freed with it. */
size_t response_held(const struct response *response);

/* response_json -- status 200 and this value, which is taken over. Returns 0. */
int response_json(struct response *response, json_t *json);

/* response_bundle -- status 200 and these columns; the bundle is empty afterwards. Returns 0.
 */
int response_bundle(struct response *response, struct bundle *bundle);

/*
 * response_parts -- the same without copying the columns.
 *   held            bytes of theirs that are there for this response only
 *   release, owner  called with it when the response is no longer needed
 */
int response_parts(struct response *response, struct bundle *bundle, size_t held,
                   void (*release)(void *owner), void *owner);

/* response_parts_free -- releases; NULL is harmless. */
void response_parts_free(struct response_parts *parts);

/* response_bytes -- status 200 and bytes from malloc, which are taken over. Returns 0. */
int response_bytes(struct response *response, const char *type, void *body, size_t size);

/*
 * response_problem -- an error as RFC 9457 has it.
 *   detail    what went wrong, for people
 *   instance  the path that was asked for
 */
void response_problem(struct response *response, unsigned status, const char *detail,
                      const char *instance);

/* response_status_of -- the status for an ERR_*. */
unsigned response_status_of(int rc);

/* response_title -- "Not Found". */
const char *response_title(unsigned status);

#endif
