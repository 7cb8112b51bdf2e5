/*
 * reply -- what is answered: a head, made once, and the pieces of a body, which are not copied.
 *
 * One that is kept is sent to any number of clients; each that uses it holds it. It belongs to
 * one thread.
 */
#ifndef SNAG_HTTP_REPLY_H
#define SNAG_HTTP_REPLY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define REPLY_MAX_PARTS 72

struct reply {
    unsigned n_users;
    char *head; /* [n_head] the status line and the fields, without the empty line */
    size_t n_head, head_cap;
    struct iovec part[REPLY_MAX_PARTS]; /* [n_parts] the body */
    size_t n_parts;
    uint64_t body_bytes;
    size_t held;        /* bytes of memory that are there for its sake; its maker says */
    unsigned n_waiting; /* connections that cannot send it for now */
    void (*release)(void *owner); /* of the parts; NULL: they are constant */
    void *owner;
};

/* reply_new -- without a body, and for its maker, who drops it. title: "Not Found". */
struct reply *reply_new(unsigned status, const char *title);

/* reply_field -- one more field of the head. */
void reply_field(struct reply *reply, const char *name, const char *value);

/* reply_part -- size more bytes of the body, which stay until it is released. */
void reply_part(struct reply *reply, const void *data, size_t size);

/* reply_hold, reply_drop -- one user more, one less: the last one frees it. NULL is dropped
 * without harm. */
struct reply *reply_hold(struct reply *reply);
void reply_drop(struct reply *reply);

#endif
