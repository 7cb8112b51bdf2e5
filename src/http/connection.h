/*
 * connection -- a client's, as the handler of requests sees it: one request at a time.
 *
 *     begin()     the head is there; says how much of a body is taken, or answers at once
 *     respond()   all of it is there: connection_answer, or connection_stream; or neither, and
 *                 somebody calls connection_wake later, which has respond() called again
 *     end()       the answer is sent, or never will be
 *
 * All of these run in the thread of the connection. connection_wake may be called from any
 * thread, between respond() and end().
 */
#ifndef SNAG_HTTP_CONNECTION_H
#define SNAG_HTTP_CONNECTION_H

#include "http/request.h"
#include "http/response.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct connection;

struct server_handler {
    void *ctx;
    /*
     * begin -- a request.
     *   head       stays until end()
     *   most_body  out: bytes of a body that are taken; 0 at first
     * Returns what respond() and end() are called with, not NULL.
     */
    void *(*begin)(void *ctx, struct connection *connection, const struct request_head *head,
                   uint64_t *most_body);
    void (*respond)(void *request);
    void (*end)(void *request);
    /* refuse -- answer what is not a request, or no longer; the connection is then closed. */
    void (*refuse)(void *ctx, struct connection *connection, struct http_refusal refusal);
};

/*
 * connection_answer -- what is sent; once for each request.
 *   reply   held until it is sent
 *   fields  more lines of the head, each ended by CR LF, or ""; 300 bytes at most
 */
void connection_answer(struct connection *connection, struct reply *reply, const char *fields);

/*
 * connection_stream -- an answer without an end: after the head, what read() has, again and
 * again.
 *   read  fills in up to size bytes, size >= 4096; 0 when there are none and it has arranged
 *         for connection_wake, -1 at the end
 */
void connection_stream(struct connection *connection, struct reply *reply,
                       ssize_t (*read)(void *request, char *out, size_t size));

/* connection_wake -- there is more to say. Thread-safe; more than once is harmless. */
void connection_wake(struct connection *connection);

/*
 * connection_is_gone -- the client has closed its side: nobody waits for the answer, as far as
 * can be told. Thread-safe between respond() and connection_wake, where the answer is not there
 * yet. A system call.
 */
bool connection_is_gone(const struct connection *connection);

/* connection_body -- (n) the bytes of the body, until end(). */
const char *connection_body(const struct connection *connection, size_t *n);

#endif
