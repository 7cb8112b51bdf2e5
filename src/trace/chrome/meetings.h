/*
 * meetings -- which collectives of several members are the same, by when the members leave
 * them: everybody leaves one at about the same time, however far their clocks are apart.
 *
 * A member may lack some at its beginning or its end, or in the middle, where its record was
 * lost. The longest member's are the ones that others are compared with:
 *
 *     longest   0         2    3    4             meetings 0 1 2 3 4, which get their numbers
 *     another   0    1         3    4             in order of time when all are known
 */
#ifndef SNAG_TRACE_MEETINGS_H
#define SNAG_TRACE_MEETINGS_H

#include <stddef.h>
#include <stdint.h>

struct meeting {
    int64_t end_ns;  /* by the clock of the longest */
    uint32_t id;     /* its place in the array before meetings_number has sorted it */
    uint32_t number; /* of the meeting that has the place as its id */
};

struct meetings {
    struct meeting *meeting; /* [n] those of the longest, then those that only others have */
    size_t n, n_longest, cap;
    int64_t tolerance_ns; /* by how much two may leave one apart */
};

/* meetings_init -- end_ns: (n) of the member that has most, ascending. Release it. */
void meetings_init(struct meetings *meetings, const int64_t *end_ns, size_t n);
void meetings_release(struct meetings *meetings);

/*
 * meetings_add -- which of them those of a member are; by their order where times do not tell.
 *   end_ns  (n) ascending, n at most as many as the longest has
 *   id      (n) out
 * O(n) where none is lost, else O((n + longest) x that).
 */
void meetings_add(struct meetings *meetings, const int64_t *end_ns, size_t n, uint32_t *id);

/* meetings_number -- all are added: meeting[id].number is the place in time of meeting id. */
void meetings_number(struct meetings *meetings);

#endif
