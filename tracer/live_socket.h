/*
 * live_socket -- the queue of frames in front of the socket, and the socket.
 *
 * Frames are queued whole or not at all. Nothing here waits.
 *
 * A reader listens to one program at a time. One that has another says so and closes the
 * connection; then it is tried again, ever more seldom.
 */
#ifndef SNAG_TRACER_LIVE_SOCKET_H
#define SNAG_TRACER_LIVE_SOCKET_H

#include "blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_socket {
    const char *path;
    int fd; /* -1: not connected */
    uint64_t connected_ns;
    char refusal[512];   /* why the reader did not want us last */
    uint64_t retry_ns;   /* not before */
    unsigned n_refusals; /* one after the other */
    struct blob queue;
    size_t n_sent; /* bytes at its begin */
    size_t limit;  /* bytes in the queue beyond which frames are dropped */
    struct queued_records {
        size_t end; /* of their frame, in bytes of the queue */
        uint64_t n;
    } * queued; /* [n_queued] that are not sent yet, those of one frame each */
    size_t n_queued, cap_queued;
};

/* live_socket_connect -- try. Returns true if it now is connected, with an empty queue. */
bool live_socket_connect(struct live_socket *s);

/* live_socket_listen -- has the reader refused us? Then refusal says why, and there is no
 * connection any more. */
void live_socket_listen(struct live_socket *s);

/* live_socket_has_room -- there is a connection, and n bytes more may be queued. */
bool live_socket_has_room(const struct live_socket *s, size_t n);

/* live_socket_queued -- what was just put into the queue holds n_records. live_socket_unsent --
 * how many records are in frames of which something is still in the queue. */
void live_socket_queued(struct live_socket *s, uint64_t n_records);
uint64_t live_socket_unsent(const struct live_socket *s);

/* live_socket_send -- as much as goes; a connection that broke is closed, and its last words
 * are heard. */
void live_socket_send(struct live_socket *s);

/* live_socket_wait -- until more can be sent, at most that long. */
void live_socket_wait(const struct live_socket *s, int wait_ms);

void live_socket_close(struct live_socket *s);

#endif
