/*
 * exchange -- one request and its answer, from the head to the last byte; and what is checked
 * before anybody answers. For site.c.
 */
#ifndef SNAG_SERVE_EXCHANGE_H
#define SNAG_SERVE_EXCHANGE_H

#include "base/queue.h"
#include "http/server.h"
#include "http/access.h"
#include "serve/live_notifier.h"
#include "serve/routes.h"
#include "serve/served.h"
#include "serve/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXCHANGE_COOKIE_SIZE 32

/* A thread that answers, one after another, what is put on its queue. */
struct worker_thread {
    struct site *site;
    struct queue queue;
    struct worker worker;
    pthread_t id;
    bool is_open, is_running;
};

struct site {
    struct site *front; /* where the runs of a comparison are reached from; NULL: itself */
    struct site *room[SITE_MAX_ROOMS]; /* [n_rooms] the runs of a comparison */
    size_t n_rooms;
    struct served served;
    struct access access;
    struct server *server;
    pthread_key_t reader; /* struct reader of each thread of the server */
    bool has_key;
    size_t most_waiting; /* requests on the queue of a worker thread */
    struct worker_thread writer, learner, explainer;
    struct live_notifier notifier; /* where a program is live */
};

struct exchange {
    struct site *site;
    struct connection *connection;
    const struct request_head *head;
    struct request request;
    const struct route *route;
    struct response response;
    bool is_answered, is_stream, sets_cookie;
    uint64_t next; /* of a stream: the next event */
};

/*
 * exchange_new -- a request whose head is there, of the site or of a run that is reached from
 * it, whose paths begin with /runs/NUMBER/. It may be answered already, by a problem: a
 * foreign Host or Origin, no token, no such route, a body that is not wanted.
 *   head  stays until the exchange ends
 */
struct exchange *exchange_new(struct site *site, struct connection *connection,
                              const struct request_head *head);
void exchange_free(struct exchange *x);

/* exchange_fail -- answer by a problem. */
void exchange_fail(struct exchange *x, unsigned status, const char *detail);

/* exchange_front -- the site that listens, and says who may ask. */
static inline struct site *exchange_front(struct site *site)
{
    return site->front ? site->front : site;
}

/* exchange_cookie -- the name of the cookie that holds the token: of this port only. */
void exchange_cookie(struct site *site, char name[EXCHANGE_COOKIE_SIZE]);

/* exchange_take_body -- the body is there: keep it as text, or make JSON of it, or a problem.
 */
void exchange_take_body(struct exchange *x);

#endif
