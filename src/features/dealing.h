/*
 * dealing -- values in groups, each of which one process gets together from all.
 *
 * Median and width of a group need all its values, but of one group after the other; so groups
 * are dealt to processes, and every process sends each value to the owner of its group. What
 * the owner then finds by selection or sorting is what one process with all values finds, to
 * the bit, as it does not depend on the order in which they come. A value is sent once, or not
 * at all.
 *
 *     dealing_init(&d, share, n_groups, order, owner);
 *     ... the own values, by group, in the order of d.order
 *     value = dealing_exchange(&d, value, count, begin);   those of the own groups, of all
 *     ... result[g] of the own groups, d.order[d.first[d.me]] ..
 *     dealing_tell(&d, result, sizeof *result);            everybody has all results
 *
 * Without a share one process owns all groups, and nothing moves.
 */
#ifndef SNAG_FEATURES_DEALING_H
#define SNAG_FEATURES_DEALING_H

#include "base/paged.h"
#include "forest/tree_share.h"

#include <stddef.h>
#include <stdint.h>

struct dealing {
    const struct tree_share *share; /* may be NULL */
    unsigned me;
    uint32_t n_groups;
    uint32_t *order;     /* [n_groups] of groups: those of process 0, then those of 1, ... */
    uint32_t *first;     /* [processes + 1] where those of each begin there */
    size_t width;        /* bytes of a value */
    struct paged *paged; /* of the values; may be NULL */
};

/*
 * dealing_init -- width and paged are the caller's to set.
 *   order  (n_groups) in which those of a process are to be; NULL: ascending
 *   owner  (n_groups) process of each, the same on all; NULL: process 0 owns all
 */
void dealing_init(struct dealing *d, const struct tree_share *share, uint32_t n_groups,
                  const uint32_t *order, const unsigned *owner);
void dealing_release(struct dealing *d);

/*
 * dealing_exchange -- all must call it.
 *   value  of paged_alloc: the own values, one group after the other as in d->order; it is
 *          given away
 *   count  (n_groups) by group: own values; out, of the own groups: values of all
 *   begin  (n_groups) out, of the own groups: where each is in what is returned
 * Returns the values of the own groups, for paged_release. Needs the own values, those of the
 * own groups, and those that one other process sends, at once.
 */
void *dealing_exchange(const struct dealing *d, void *value, uint32_t *count, size_t *begin);

/* dealing_tell -- an array by group is complete everywhere when the owners have set theirs. */
void dealing_tell(const struct dealing *d, void *by_group, size_t width);

/*
 * dealing_balance -- owners, so that each has about as much to do.
 *   work   (n) of each group
 *   order  (n) of groups, those with most work first
 * Returns (n) to be freed.
 */
unsigned *dealing_balance(const struct tree_share *share, const uint32_t *work,
                          const uint32_t *order, uint32_t n);

#endif
