#include "replay/horizon.h"

#include "base/mem.h"

#include <stdlib.h>

#define LONG_SHARE 64 /* of the run: who is needed so much later is not waited for */

/* A sync is needed at a place; it could come so much later without being waited for. */
static void use(struct horizon *h, const struct syncs *s, uint32_t sync, uint32_t place,
                uint64_t until_ns)
{
    uint64_t enter = s->sync[sync].enter_ns, slack = until_ns > enter ? until_ns - enter : 0;

    if (h->slack_ns[sync] > slack)
        h->slack_ns[sync] = slack;
    if (h->last_use[sync] < place)
        h->last_use[sync] = place;
}

static void use_members(struct horizon *h, const struct syncs *s, uint32_t c, uint32_t place)
{
    uint64_t until = syncs_last_entered(s, NEED_ALL | c);

    for (uint32_t i = s->first_member[c]; i < s->first_member[c + 1]; i++)
        use(h, s, s->member[i] & NEED_INDEX, place, until);
}

static void use_needs(struct horizon *h, const struct syncs *s)
{
    uint32_t *last = mem_alloc(s->n_collectives, sizeof *last); /* + 1; 0: nobody needs it */

    for (uint32_t k = 0; k < s->n; k++) {
        const struct sync *sync = &s->sync[k];
        uint64_t until = sync->last_ns > sync->enter_ns ? sync->last_ns : sync->enter_ns;

        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t index = s->need[i] & NEED_INDEX;

            if ((s->need[i] & NEED_ALL) == 0)
                use(h, s, index, s->place[k], until);
            else if (last[index] <= s->place[k])
                last[index] = s->place[k] + 1;
        }
    }
    for (uint32_t c = 0; c < s->n_collectives; c++)
        if (last[c] > 0)
            use_members(h, s, c, last[c] - 1);
    free(last);
}

void horizon_init(struct horizon *h, const struct syncs *s)
{
    *h = (struct horizon){.long_ns = (s->end_ns - s->begin_ns) / LONG_SHARE};
    h->reach = mem_alloc(s->n, sizeof *h->reach);
    h->last_use = mem_alloc(s->n, sizeof *h->last_use);
    h->slack_ns = mem_resize(NULL, s->n, sizeof *h->slack_ns);
    for (uint32_t k = 0; k < s->n; k++)
        h->slack_ns[k] = UINT64_MAX;
    use_needs(h, s);
    for (uint32_t p = 0; p < s->n; p++) {
        uint32_t k = s->order[p] + 1; /* what is entered there */
        bool is_entered = k < s->n && s->sync[k].track == s->sync[k - 1].track;

        h->reach[p] = p > 0 ? h->reach[p - 1] : 0;
        if (is_entered && h->slack_ns[k] < h->long_ns && h->last_use[k] > h->reach[p])
            h->reach[p] = h->last_use[k];
    }
}

void horizon_release(struct horizon *h)
{
    free(h->last_use);
    free(h->slack_ns);
    free(h->reach);
    *h = (struct horizon){0};
}
