/*
 * loop -- one thread of the server and its connections. server.c starts loops, which know
 * events and time, and tell a connection what has happened; connection.c knows HTTP, and of
 * its loop no more than the data: none of them calls one that is named before it.
 *
 * A connection is in one list of its loop, that of its state, in the order in which it came
 * there: so the first of a list is the one that has waited longest.
 *
 * How many connections a thread has, and from where, is counted in slots: addresses by their
 * hash, so two may share a count; which two nobody can choose. Of IPv6 an address is what one
 * customer has, 64 bits.
 */
#ifndef SNAG_HTTP_LOOP_H
#define SNAG_HTTP_LOOP_H

#include "base/queue.h"
#include "http/request.h"
#include "http/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define SLOTS_ADDRESSES 1024u

struct slots {
    unsigned most, most_of_address;
    unsigned n, n_of[SLOTS_ADDRESSES];
    unsigned n_over; /* addresses that have more than their most */
};

/* slots_address -- a number below SLOTS_ADDRESSES that stands for an address. */
unsigned slots_address(uint64_t seed, const struct sockaddr *from);

/* slots_take, slots_give -- one more, one less. */
void slots_take(struct slots *slots, unsigned address);
void slots_give(struct slots *slots, unsigned address);

#define CONNECTION_FIRST_BYTES 2048u /* of the buffer of a head, or of a body */
#define CONNECTION_FREE_BYTES 4096u  /* that one has without asking the budget */
#define CONNECTION_FIELDS 512

enum connection_state {
    CONNECTION_NEW,    /* handed over to its loop, in no list */
    CONNECTION_IDLE,   /* nothing of a request is there */
    CONNECTION_HEAD,   /* a part of a head is */
    CONNECTION_READY,  /* more was sent than one request: it is looked at soon */
    CONNECTION_BODY,   /* a part of a body is there */
    CONNECTION_WORK,   /* somebody answers */
    CONNECTION_SEND,   /* the client does not take more for now */
    CONNECTION_STREAM, /* the answer has no end */
    CONNECTION_LINGER, /* all is said; what still comes is thrown away */
    CONNECTION_STATES
};

struct connection {
    struct event_loop *loop;
    struct connection *before, *after; /* in the list of its state */
    enum connection_state state;
    uint64_t since_ns; /* in it */
    int fd;
    unsigned address; /* which slot it has */
    uint32_t watched; /* events of epoll */
    bool may_stay;    /* for another request */
    bool is_whole;    /* all of the request has come */
    bool is_over;     /* closed; to be freed when it is no longer among those to wake */
    atomic_bool is_woken;

    /* What has come. */
    char *in; /* [n_in] of a buffer of in_cap */
    size_t n_in, in_cap;
    size_t n_seen;  /* of them looked at for the end of a head */
    size_t n_taken; /* of them that belong to the request that is being answered */
    struct request_head head;
    char *body; /* [n_body] of a buffer of body_cap */
    size_t n_body, body_cap;
    uint64_t most_body;
    struct chunks chunks;
    size_t n_budget; /* bytes of the budget that it has */

    /* What is answered. */
    void *request; /* the handler's; NULL: none */
    struct reply *reply;
    char fields[CONNECTION_FIELDS]; /* [n_fields] the end of the head */
    size_t n_fields;
    uint64_t n_sent; /* bytes of head and body, or of what a stream has to say now */
    bool is_waiting; /* for the client to take more of it */
    ssize_t (*read)(void *request, char *out, size_t size);
    char *said; /* [n_said] what a stream has to say now */
    size_t n_said;
    uint64_t stuck_ns; /* since when it does not take that; 0: it does */
};

struct event_loop {
    struct server *server;
    pthread_t thread;
    bool is_running;
    int epoll, event;   /* event: something was put into woken, or is to be looked at */
    struct queue woken; /* connections */
    bool is_deaf;       /* does not look at new ones for now */
    atomic_uint n;      /* connections, with those that are handed over to it */
    struct slots slots; /* its part of all that may be open */
    unsigned n_streams, most_streams;
    size_t unsent_bytes, most_unsent; /* of answers that clients do not take for now */
    struct {
        struct connection *first, *last;
    } list[CONNECTION_STATES];
    uint64_t now_ns, next_look_ns;
    char date[40];
    uint64_t date_ns; /* when it was made */
    char scratch[REQUEST_HEAD_MAX_BYTES];
};

struct server {
    struct server_handler handler;
    struct server_limits limits;
    uint64_t seed; /* of the hashes of addresses */
    atomic_size_t unfinished_bytes;
    int fd; /* it listens */
    uint16_t port;
    struct event_loop **loop; /* [n_loops] */
    unsigned n_loops;
    atomic_bool is_quiet; /* nothing new */
    atomic_bool is_closing;
    atomic_ullong last_ns; /* when the threads end at the latest; 0: not yet */
};

/* connection_new -- a client from this address, for this loop, which is to wake it. */
struct connection *connection_new(struct event_loop *loop, int fd, unsigned address);

/* connection_close -- let go of it at once. */
void connection_close(struct connection *c);

/* connection_event -- epoll has something to say of it, or it is its turn again. */
void connection_event(struct connection *c, uint32_t events);

/* connection_woken -- connection_wake was called, or it is new here. */
void connection_woken(struct connection *c);

/* connection_is_late -- it has used up the time for what it is at. */
bool connection_is_late(const struct connection *c, uint64_t now_ns);

/* connection_expire -- its time is over: say so if there is anything to be said, and close. */
void connection_expire(struct connection *c);

/* loop_poke -- have it look at its connections now. Thread-safe. */
static inline void loop_poke(struct event_loop *loop)
{
    eventfd_write(loop->event, 1);
}

#endif
