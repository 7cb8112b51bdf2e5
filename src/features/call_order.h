/*
 * call_order -- in which order a call makes the calls in it, where that is firm.
 *
 * Of two functions p and q that calls of one shape make, p comes first in a call if all calls
 * of it end before the first of q begins; where both are made about as often, twice or more, as
 * in the body of a loop, if the k-th of p comes before the k-th of q for every k. That p comes
 * first is *firm* where it does in 49 of 50 calls of the shape. A call in which one that is
 * firm is not so is *in another order*.
 *
 * The order is free, and nothing is said of it, where more calls than that are in another
 * order, as of two that alternate; where MPI takes what comes first (MPI_Waitany and the like),
 * or tasks run; where another order is the typical one on a location; where it is how the program
 * ends; and where it comes by plan (periodic.h).
 *
 * Source: Xie, Xu, Mueller (wl.h), section 6.6, propose directed edges between siblings.
 * Departs from it: the order of two, not of neighbours, so that a call more or less between
 * them does not matter; and only of what is firm.
 */
#ifndef SNAG_FEATURES_CALL_ORDER_H
#define SNAG_FEATURES_CALL_ORDER_H

#include "base/pack.h"
#include "forest/forest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shapes;
struct shapes_input;

#define CALL_ORDER_MAX_FUNCTIONS                                                               \
    32 /* functions of a shape whose order is looked at: the first */
#define CALL_ORDER_FREE UINT32_MAX

/* Two functions of a shape: `first` comes before `then`. Numbers among its children. */
struct call_order_pair {
    uint32_t first, then;
};

/* The shapes whose order is firm. */
struct call_orders {
    uint32_t n;
    uint32_t *shape;       /* [n] ascending */
    uint32_t *calls;       /* [n] of that shape, in another order */
    uint32_t *first_calls; /* [n] of these, in first executions */
    size_t *first_pair;    /* [n + 1] into pair */
    struct call_order_pair *pair;
    uint32_t *of; /* [shapes] number here, or CALL_ORDER_FREE */
};

/* The calls that a call makes, as far as order is looked at; one at a time. */
struct siblings;

struct siblings *siblings_new(uint32_t n_regions);
void siblings_free(struct siblings *siblings);

/*
 * call_orders_learn -- which orders are firm, and which calls are in another one.
 *   shapes   found, with the calls of each; shapes->orders is filled in
 *   n_first  (kinds->n) first executions of each
 *   shape    (kinds->at[n]) of kinds; of a call in another order it becomes the number of the
 *            order, from shapes->id.n on
 * The same on all processes. O(vertices of kinds; where many functions are called in turns, and
 * not one after another, by their number).
 */
void call_orders_learn(struct shapes *shapes, const struct shapes_input *input,
                       const uint32_t *n_first, uint32_t *shape);

/*
 * call_order_is_other -- whether a call of a shape is in another order than is firm.
 *   order        number of the shape's
 *   base, len    of its tree: the first vertex; vertices of each subtree, from there on
 *   i            the call, from base on
 */
bool call_order_is_other(const struct shapes *shapes, uint32_t order, struct siblings *siblings,
                         const struct forest *forest, uint32_t base, const uint32_t *len,
                         uint32_t i);

/*
 * call_order_swapped -- two functions that vertex v, which is in another order, calls the other
 * way round: of those that came too soon the first, and what it should have come after.
 *   early, late  out: regions
 */
void call_order_swapped(const struct shapes *shapes, uint32_t order, uint32_t n_regions,
                        const struct forest *forest, uint32_t v, uint32_t *early,
                        uint32_t *late);

/* call_orders_rarity -- of another order among calls of the shape, nats; of first executions
 * among each other, INFINITY where none is in another order. */
double call_orders_rarity(const struct shapes *shapes, uint32_t order, bool is_of_first);

void call_orders_pack(const struct call_orders *orders, struct pack *pack);

/* call_orders_unpack -- and check against the shapes, which are there; the pack is bad if that
 * fails. All are free if there is no pack. Release in any case. */
void call_orders_unpack(struct shapes *shapes, struct pack *pack);
void call_orders_release(struct call_orders *orders);

#endif
