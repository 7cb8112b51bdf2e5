/* Pages of entries that were never used take no memory: the ring is zeroed by the kernel. Where
 * there is none for a ring recording has ended. */
#include "ring.h"

#include "memory.h"

#include <string.h>

static size_t size = 128;

void ring_size(size_t n_entries)
{
    size = n_entries;
}

static struct ring *ring_of(struct recorder *r)
{
    struct ring *ring = atomic_load_explicit(&r->ring, memory_order_relaxed);

    if (ring)
        return ring;
    ring = memory_fresh(sizeof *ring + size * sizeof ring->entry[0]);
    if (ring == NULL)
        return NULL;
    ring->n_entries = size;
    atomic_store_explicit(&r->ring, ring, memory_order_release);
    return ring;
}

static uint64_t count(const union slot *slot, size_t n)
{
    uint64_t n_records = 0;

    for (const union slot *s = slot; s < slot + n; s += record_slots(s->head.kind))
        n_records++;
    return n_records;
}

/* The calls that are open now; those that were skipped have no records. */
static void list_open(struct ring_entry *e, const struct recorder *r)
{
    if (e->cap_open < r->n_open) {
        struct entered_call *open = memory_resize(e->open, 2 * r->n_open, sizeof *open);

        if (open == NULL)
            return;
        e->open = open;
        e->cap_open = 2 * r->n_open;
    }
    e->n_open = 0;
    for (uint32_t i = 0; i < r->n_open; i++)
        if (!(r->open[i].region & REGION_SKIPPED))
            e->open[e->n_open++] = r->open[i];
}

/* Arrays are swapped, so that neither side frees what is the other's. */
static void tell_gap(struct ring_entry *e, struct ring_entry *gap)
{
    struct entered_call *open = e->open;
    uint32_t cap_open = e->cap_open;

    e->has_gap = gap->has_gap;
    if (!gap->has_gap)
        return;
    e->n_lost = gap->n_lost;
    e->open = gap->open;
    e->n_open = gap->n_open;
    e->cap_open = gap->cap_open;
    *gap = (struct ring_entry){.open = open, .cap_open = cap_open};
}

void ring_put(struct recorder *r, const union slot *slot, size_t n)
{
    struct ring *ring = ring_of(r);
    struct ring_entry *e;
    size_t n_put;

    if (ring == NULL)
        return;
    n_put = atomic_load_explicit(&ring->n_put, memory_order_relaxed);
    e = &ring->entry[n_put % ring->n_entries];
    if (n_put - atomic_load_explicit(&ring->n_taken, memory_order_acquire) == ring->n_entries) {
        ring->gap.has_gap = true;
        ring->gap.n_lost += count(slot, n);
        list_open(&ring->gap, r);
        return;
    }
    memcpy(e->slot, slot, n * sizeof *slot);
    e->n = (uint32_t)n;
    e->generation = atomic_load_explicit(&r->generation, memory_order_relaxed) & ~1u;
    tell_gap(e, &ring->gap);
    atomic_store_explicit(&ring->n_put, n_put + 1, memory_order_release);
}

struct ring_entry *ring_first(struct ring *ring)
{
    size_t n_taken = atomic_load_explicit(&ring->n_taken, memory_order_relaxed);

    if (atomic_load_explicit(&ring->n_put, memory_order_acquire) == n_taken)
        return NULL;
    return &ring->entry[n_taken % ring->n_entries];
}

void ring_drop(struct ring *ring)
{
    atomic_fetch_add_explicit(&ring->n_taken, 1, memory_order_release);
}

double ring_fill_ratio(const struct ring *ring)
{
    size_t n = atomic_load(&ring->n_put) - atomic_load(&ring->n_taken);

    return (double)n / (double)ring->n_entries;
}
