/*
 * exchange -- one request and its answer, from the headers to the last byte; and what is
 * checked before anybody answers. For http.c.
 */
#ifndef SNAG_WEB_EXCHANGE_H
#define SNAG_WEB_EXCHANGE_H

#include "base/queue.h"
#include "web/access.h"
#include "web/live_teller.h"
#include "web/routes.h"
#include "web/served.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

/* A thread that answers what is handed to it. */
struct desk {
    struct http *http;
    struct queue queue;
    struct worker worker;
    pthread_t thread;
    bool is_open, is_running;
};

struct http {
    struct served served;
    struct access access;
    struct MHD_Daemon *daemon;
    uint16_t port;
    char cookie[32];
    pthread_key_t reader; /* struct reader of each thread of the daemon */
    bool has_key;
    struct desk writer, learner, explainer;
    struct live_teller teller; /* where a program is live */
};

struct exchange {
    struct http *http;
    struct MHD_Connection *connection;
    struct request request;
    const struct route *route;
    char *body; /* [size] as it comes in */
    size_t size, cap, n_discarded;
    struct response response;
    bool is_answered, is_stream, sets_cookie;
    uint64_t next; /* of a stream: the next event */
};

/*
 * exchange_new -- a request whose headers are there. It may be answered already, by a problem:
 * a foreign Host or Origin, no token, no such route, a body that is not wanted.
 *   path  stays until the exchange ends
 */
struct exchange *exchange_new(struct http *http, struct MHD_Connection *connection,
                              const char *path, const char *method);
void exchange_free(struct exchange *x);

/* exchange_fail -- answer by a problem. */
void exchange_fail(struct exchange *x, unsigned status, const char *detail);

/* exchange_header -- a header of the request, or NULL. */
const char *exchange_header(const struct exchange *x, const char *name);

/* exchange_take -- more of the body. Returns false when a client goes on and on. */
bool exchange_take(struct exchange *x, const char *data, size_t size);

/* exchange_parse -- the body is there: make JSON of it, or a problem. */
void exchange_parse(struct exchange *x);

#endif
