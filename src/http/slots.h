/*
 * slots -- how many connections a thread has, and from where.
 *
 * Addresses are counted by their hash, so two may share a count; which two nobody can choose.
 * Of IPv6 an address is what one customer has, 64 bits.
 */
#ifndef SNAG_HTTP_SLOTS_H
#define SNAG_HTTP_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
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

/* slots_is_over -- this address has more than its most. */
bool slots_is_over(const struct slots *slots, unsigned address);

#endif
