/*
 * requests -- the non-blocking operations of one location that are posted and not yet complete.
 *
 * Tracers number requests and may use a number again once its operation is complete (and some
 * use it again before). A zeroed struct is empty and ready.
 */
#ifndef SNAG_TRACE_REQUESTS_H
#define SNAG_TRACE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct posted_request {
    uint64_t id;
    uint64_t time_ns; /* when it was posted */
    uint32_t ref;     /* what the poster wants to remember */
    bool is_used;
};

struct requests {
    struct posted_request *slot; /* open addressing, no tombstones */
    size_t n_slots;              /* a power of two, at least 2 n */
    size_t n;
};

void requests_release(struct requests *requests);

/* requests_clear -- forget all; returns how many there were. */
size_t requests_clear(struct requests *requests);

/* requests_post -- remember a request. Returns true if one of that id was forgotten for it. */
bool requests_post(struct requests *requests, uint64_t id, uint64_t time_ns, uint32_t ref);

/* requests_take -- copy the request to *out and forget it; false if there is none. */
bool requests_take(struct requests *requests, uint64_t id, struct posted_request *out);

#endif
