/*
 * tracer_socket -- the socket that the tracer's ranks connect to, and their connections.
 *
 * Nothing that comes through a connection can hurt the others: what is no frame closes it, is
 * counted and logged, and what it had said stays.
 *
 * One run of one program is listened to at a time. A process that is not of it is told why and
 * sent away while the run is there; when all of the run's processes have gone it waits,
 * unheard, for the next run (tracer_socket_next_run).
 */
#ifndef SNAG_TRACE_TRACER_SOCKET_H
#define SNAG_TRACE_TRACER_SOCKET_H

#include "trace/tracer/tracer_frame.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACER_SENT_AWAY 16 /* of which we remember that it was said */

struct tracer_peer {
    int fd;
    bool is_next; /* its hello is in `in`, and waits for the next run */
    struct tracer_sender sender;
    unsigned char *in; /* [n] of a frame that is not complete */
    size_t n, cap;
};

struct tracer_socket {
    char *path; /* NULL until it is bound */
    int fd;
    struct tracer_peer *peer; /* [n_peers] */
    size_t n_peers, peer_cap;
    struct pollfd *poll; /* [n_peers + 1] */
    size_t poll_cap;
    uint64_t heard_ns;  /* when anything last came */
    uint64_t n_bytes;   /* that came, of this run */
    uint64_t closed_ns; /* when a process that had said hello last went */
    struct idmap done;  /* ranks that have said goodbye */
    char *program;      /* that is listened to, as it says; NULL: none yet */
    uint32_t pid;       /* of the first of its processes */
    struct key sent_away[TRACER_SENT_AWAY]; /* a ring */
    uint32_t n_sent_away;
};

/* tracer_socket_open -- listen at a path; only this user may connect. ERR_IO, ERR_EXISTS. */
int tracer_socket_open(struct tracer_socket *s, const char *path);

/* tracer_socket_close -- a zeroed one is harmless. */
void tracer_socket_close(struct tracer_socket *s);

/*
 * tracer_socket_receive -- wait for whatever comes, and take it.
 *   wait_ms  at most that long
 *   now      this machine's clock, asked again after waiting
 * Returns true if anything came.
 */
bool tracer_socket_receive(struct tracer_socket *s, struct tracer_run *run, int wait_ms,
                           uint64_t (*now)(void));

/* tracer_socket_until -- all processes that are connected have told all that was before. */
bool tracer_socket_until(const struct tracer_socket *s, uint64_t clock_ns);

/* tracer_socket_n_known -- connections that have said hello. */
size_t tracer_socket_n_known(const struct tracer_socket *s);

/* tracer_socket_has_next -- a process of another run waits for this one to be over. */
bool tracer_socket_has_next(const struct tracer_socket *s);

/*
 * tracer_socket_next_run -- forget the run that is over: connections of its processes are
 * closed, those that wait are listened to from now on.
 */
void tracer_socket_next_run(struct tracer_socket *s);

#endif
