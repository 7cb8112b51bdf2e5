/* Linear probing; a removal shifts back those after it that may move (Knuth 6.4, R). */
#include "trace/requests.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u

static size_t home_of(const struct requests *r, uint64_t id)
{
    return (size_t)((id * 0x9e3779b97f4a7c15u) >> 20) & (r->n_slots - 1);
}

static size_t slot_of(const struct requests *r, uint64_t id)
{
    size_t at = home_of(r, id);

    while (r->slot[at].is_used && r->slot[at].id != id)
        at = (at + 1) & (r->n_slots - 1);
    return at;
}

static void grow(struct requests *r)
{
    struct requests old = *r;

    r->n_slots = old.n_slots ? 2 * old.n_slots : FIRST_SLOTS;
    r->slot = mem_alloc(r->n_slots, sizeof *r->slot);
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slot[i].is_used)
            r->slot[slot_of(r, old.slot[i].id)] = old.slot[i];
    free(old.slot);
}

void requests_release(struct requests *r)
{
    free(r->slot);
    *r = (struct requests){0};
}

size_t requests_clear(struct requests *r)
{
    size_t n = r->n;

    if (n > 0)
        memset(r->slot, 0, r->n_slots * sizeof *r->slot);
    r->n = 0;
    return n;
}

bool requests_post(struct requests *r, uint64_t id, uint64_t time_ns, uint32_t ref)
{
    struct posted_request *request;
    bool was_used;

    if (r->n_slots < 2 * (r->n + 1))
        grow(r);
    request = &r->slot[slot_of(r, id)];
    was_used = request->is_used;
    *request =
        (struct posted_request){.id = id, .time_ns = time_ns, .ref = ref, .is_used = true};
    r->n += !was_used;
    return was_used;
}

bool requests_take(struct requests *r, uint64_t id, struct posted_request *out)
{
    size_t mask = r->n_slots - 1, hole, at;

    if (r->n == 0)
        return false;
    hole = slot_of(r, id);
    if (!r->slot[hole].is_used)
        return false;
    *out = r->slot[hole];
    for (at = (hole + 1) & mask; r->slot[at].is_used; at = (at + 1) & mask) {
        size_t home = home_of(r, r->slot[at].id);

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            r->slot[hole] = r->slot[at];
            hole = at;
        }
    }
    r->slot[hole].is_used = false;
    r->n--;
    return true;
}
