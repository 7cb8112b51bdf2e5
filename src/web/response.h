/* response -- what a client is answered: a status, bytes and what they are. */
#ifndef SNAG_WEB_RESPONSE_H
#define SNAG_WEB_RESPONSE_H

#include "web/bundle.h"

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct response {
    unsigned status;  /* of HTTP */
    const char *type; /* constant text */
    void *body;       /* [size] its own, or constant when is_constant */
    size_t size;
    bool is_constant;
    const char *download; /* name of the file it is to be kept as, or NULL */
    const char *allow;    /* with status 405 */
};

void response_release(struct response *response);

/* response_json -- status 200 and this value, which is taken over. Returns 0. */
int response_json(struct response *response, json_t *json);

/* response_bundle -- status 200 and these columns; the bundle is empty afterwards. Returns 0.
 */
int response_bundle(struct response *response, struct bundle *bundle);

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
