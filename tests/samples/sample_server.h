/*
 * sample_server -- for tests: a server that answers a few paths, and what its clients do.
 *
 *     /small        its own path (as any other path)     /large   LARGE bytes
 *     /later        the same, woken by another thread    /nothing 404, when the head is there
 *     /say          a stream that ends                   /listen  one that has no more to say
 *     /flood        one that always has more to say
 *
 * A POST is answered by its body. Clients are blocking sockets; what takes longer than
 * SAMPLE_PATIENCE_MS fails the test.
 */
#ifndef SNAG_TESTS_SAMPLE_SERVER_H
#define SNAG_TESTS_SAMPLE_SERVER_H

#include "http/server.h"

#include <stdatomic.h>

#define SAMPLE_MS 1000000ull
#define SAMPLE_LARGE (16u << 20)
#define SAMPLE_MAX_BODY_BYTES (256u << 10)
#define SAMPLE_PATIENCE_MS 60000u

struct sample_server {
    struct server *server;
    struct connection *_Atomic listener; /* of the last stream */
    atomic_uint n_begun, n_ended;        /* requests */
    char *large;                         /* [SAMPLE_LARGE] */
};

/* sample_limits -- so ample that no test comes near. */
struct server_limits sample_limits(void);

/* sample_start, sample_stop -- whatever was begun has ended then. */
void sample_start(struct sample_server *s, struct server_limits limits);
void sample_stop(struct sample_server *s);

/* sample_connect -- from 127.0.0.1, or another address of loopback. Returns the socket. */
int sample_connect(const struct sample_server *s);
int sample_connect_from(const struct sample_server *s, const char *address);

/* sample_put -- send a text. Returns false when not all of it was taken. */
bool sample_put(int fd, const char *text);

/*
 * sample_read_all -- read until the server closes, which it has to, and close.
 *   out  (size) what fits, as a text
 * Returns how many bytes came.
 */
size_t sample_read_all(int fd, char *out, size_t size);

/* sample_status -- of the answer in a text; 0 when there is none. */
int sample_status(const char *text);

/* sample_ask -- the status of a request on a connection of its own. */
int sample_ask(const struct sample_server *s, const char *text);

/* sample_ask_small -- the same of a proper request. */
int sample_ask_small(const struct sample_server *s);

/* sample_is_open -- the server has not closed it, or has said something. */
bool sample_is_open(int fd);

void sample_pause(unsigned ms);

/* sample_wait_for -- until so few connections are left. */
void sample_wait_for(const struct sample_server *s, unsigned n);

#endif
