/*
 * stack_sites -- what is known of a return address: the function it is in, those that are
 * inlined there, and how to get from a frame that returns there to the frame around it.
 *
 * The rule for that stands in .eh_frame of the code's file; libdw reads it once per address.
 * Compilers use few kinds of rules at calls: the frame's end is at a distance from the stack
 * pointer or the frame pointer, or (where the stack is aligned anew) its address is stored at
 * one. What has another rule, or none, ends the walk.
 */
#ifndef SNAG_TRACER_STACK_SITES_H
#define SNAG_TRACER_STACK_SITES_H

#include "regions.h"

enum site_base { SITE_END, SITE_BY_SP, SITE_BY_FP, SITE_STORED_BY_FP };
enum site_fp { SITE_FP_KEPT, SITE_FP_BELOW_END, SITE_FP_BY_FP };

struct stack_site;

/* What goes on of the functions that are open at one site, when the next one is another. */
struct site_change {
    const struct site_change *next; /* from the same site */
    const struct stack_site *to;
    uint32_t n_same; /* so many, of which */
    uint64_t maybe;  /* [bit] it is not known of these */
};

struct stack_site {
    uintptr_t address;
    uintptr_t mark;                     /* stack_marks.h; 0 if there is none */
    uint8_t base, fp;                   /* enum site_base, enum site_fp */
    int32_t base_distance, fp_distance; /* bytes */
    uint32_t n_open;                    /* 0: not the program's, or filtered, */
    bool is_filtered;                   /* ... which this says */
    struct region_open *open;           /* [n_open] its function, then what is inlined in it */
    const struct site_change *_Atomic *change; /* the newest; NULL: nothing is inlined there */
};

struct site_table {
    struct site_table *older; /* outgrown; somebody may still be looking in it */
    size_t mask, n;
    const struct stack_site *_Atomic slot[];
};

extern struct site_table *_Atomic site_table;

/* A place on the way out: the registers of a frame as they are when it goes on. */
struct frame_registers {
    uintptr_t pc, sp, fp;
};

/* site_is_of_mpi -- whether code is of a library of MPI, or ours. */
bool site_is_of_mpi(const void *code);

/* site_add -- of an address that is met for the first time. Takes a lock, and its time. */
const struct stack_site *site_add(uintptr_t address);

/* site_known -- of an address, NULL if it was not met yet; in a signal handler. */
static inline const struct stack_site *site_known(uintptr_t address)
{
    struct site_table *table = atomic_load_explicit(&site_table, memory_order_acquire);
    size_t at = (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 32);
    const struct stack_site *site = NULL;

    for (; table; at++) {
        site = atomic_load_explicit(&table->slot[at & table->mask], memory_order_acquire);
        if (site == NULL || site->address == address)
            break;
    }
    return site;
}

/*
 * site_around -- of an instruction that was interrupted: how to get from there to the frame
 * around it, by any of its function's rows. NULL if the function was not met yet; in a signal
 * handler. site_add_around -- meet it. Takes a lock, and its time.
 */
const struct stack_site *site_around(uintptr_t pc);
void site_add_around(uintptr_t pc);

/* site_of -- of an address. Thread-safe; never NULL, never freed. */
static inline const struct stack_site *site_of(uintptr_t address)
{
    struct site_table *table = atomic_load_explicit(&site_table, memory_order_acquire);
    size_t at;

    if (__builtin_expect(table == NULL, 0))
        return site_add(address);
    for (at = (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 32);; at++) {
        const struct stack_site *site =
            atomic_load_explicit(&table->slot[at & table->mask], memory_order_acquire);

        if (__builtin_expect(site == NULL, 0))
            return site_add(address);
        if (site->address == address)
            return site;
    }
}

/* site_change_add -- of a change that is met for the first time. Takes a lock, and its time.
 * site_change_is_open -- in a signal handler: it was not met yet, and can be found out.
 * site_change_unknown -- likewise, where it cannot: what is inlined goes on, maybe. */
bool site_change_is_open(const struct stack_site *from, const struct stack_site *to);
struct site_change site_change_add(const struct stack_site *from, const struct stack_site *to);
struct site_change site_change_unknown(const struct stack_site *from,
                                       const struct stack_site *to);

/* site_change_known -- from one site where something is inlined to the next one that an
 * activation is seen at, which may be the same; NULL if it was not met yet. */
static inline const struct site_change *site_change_known(const struct stack_site *from,
                                                          const struct stack_site *to)
{
    const struct site_change *c = atomic_load_explicit(from->change, memory_order_acquire);

    while (c && c->to != to)
        c = c->next;
    return c;
}

/* site_frame_end -- the address just behind the frame of this site (its CFA), where the stack
 * pointer is once it has returned; 0 if that is not known. */
static inline uintptr_t site_frame_end(const struct stack_site *site,
                                       const struct frame_registers *at)
{
    switch (site->base) {
    case SITE_BY_SP:
        return at->sp + (uintptr_t)(intptr_t)site->base_distance;
    case SITE_BY_FP:
        return at->fp + (uintptr_t)(intptr_t)site->base_distance;
    case SITE_STORED_BY_FP: /* the caller has seen that fp points into the stack */
        return *(const uintptr_t *)(at->fp + (uintptr_t)(intptr_t)site->base_distance);
    default:
        return 0;
    }
}

#endif
