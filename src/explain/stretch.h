/*
 * stretch -- what a location did between two moments, by call path, and how that compares with
 * what another location did meanwhile.
 *
 * Two ranks that leave a synchronisation together and do the same arrive together at the next
 * one. So what the late one did more of than the one that waits is what made it late: not the
 * most time, but the largest difference. Ordinary work that the late rank was still busy with
 * when the other began to wait cancels out.
 *
 * Source: Boehme, Geimer, Arnold, Voigtlaender, Wolf. Identifying the Root Causes of Wait
 * States in Large-Scale Parallel Applications. ACM TOPC 3(2), 2016: delays in synchronisation
 * intervals. Departs from it: paths in which a rank waits are compared too, but what is named
 * is the longest single wait in them, as that is what can be followed further.
 */
#ifndef SNAG_EXPLAIN_STRETCH_H
#define SNAG_EXPLAIN_STRETCH_H

#include "features/context.h"
#include "stack/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRETCH_MAX_CALLS 32768 /* in one: about a millisecond's work */

/* One call path. */
struct stretch_path {
    uint64_t total_ns; /* time in its calls but not in their children, clipped */
    uint64_t other_ns; /* the same of the other location */
    uint64_t longest_ns;
    uint32_t longest; /* row of the call that took longest_ns */
    uint32_t n_calls;
    uint32_t generation; /* of the stretch this was last used for */
};

struct stretch {
    struct context paths;      /* of all stretches so far */
    struct stretch_path *path; /* [paths.n] */
    size_t path_cap;
    uint32_t *used; /* [n_used] paths of this stretch */
    size_t n_used, used_cap;
    uint32_t generation;
    struct stretch_open *open; /* calls open at the sweep */
    size_t open_cap;
};

void stretch_release(struct stretch *stretch);

/* stretch_clear -- forget all times, keep what paths there are. */
void stretch_clear(struct stretch *stretch);

/* What a location did between two moments. */
struct stretch_part {
    const struct call_view *calls; /* with by_depth */
    uint64_t from_ns, to_ns;
    uint16_t depth; /* paths begin with calls of this depth: of threads that share no callers */
};

/*
 * stretch_add -- add what a location did.
 *   is_other  what is added is compared with, not looked at
 * Returns false, and adds nothing, when there are more than STRETCH_MAX_CALLS.
 * O(calls in the stretch + depth x log n).
 */
bool stretch_add(struct stretch *stretch, const struct stretch_part *part, bool is_other);

#endif
