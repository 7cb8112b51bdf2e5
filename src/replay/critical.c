/* A sync that waited was left when it was because of the last that it needed; else its own. */
#include "replay/critical.h"

#include "base/mem.h"

#include <stdlib.h>

/* Of what a sync needs, that which was entered last; NEED_INDEX: a clock says it was later. */
static uint32_t last_needed(const struct syncs *s, uint32_t k)
{
    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint32_t index = s->need[i] & NEED_INDEX;
        uint32_t first = s->need[i] & NEED_ALL ? s->first_member[index] : 0;
        uint32_t end = s->need[i] & NEED_ALL ? s->first_member[index + 1] : 1;

        for (uint32_t m = first; m < end; m++) {
            uint32_t need = s->need[i] & NEED_ALL ? s->member[m] : s->need[i];

            if (s->sync[need & NEED_INDEX].enter_ns == s->sync[k].last_ns)
                return need & NEED_EARLY ? NEED_INDEX : need & NEED_INDEX;
        }
    }
    return NEED_INDEX;
}

static uint32_t last_of_all(const struct syncs *s)
{
    uint32_t last = NEED_INDEX;

    for (uint32_t t = 0; t < s->n_tracks; t++) {
        uint32_t k = s->first[t + 1] - 1;

        if (last == NEED_INDEX || s->sync[k].enter_ns > s->sync[last].enter_ns)
            last = k;
    }
    return last;
}

void critical_init(struct critical *c, const struct syncs *s)
{
    uint32_t k = last_of_all(s);

    *c = (struct critical){.is_sound = k != NEED_INDEX};
    c->on = mem_alloc(s->n, 1);
    c->n_until = mem_alloc((size_t)s->n + 1, sizeof *c->n_until);
    /* each step goes back by one sync on a track: none is passed twice */
    while (c->is_sound && k != s->first[s->sync[k].track] && !(c->on[k] & CRITICAL_BEFORE)) {
        uint32_t at = k - 1;

        c->on[k] |= CRITICAL_BEFORE;
        c->on[at] |= CRITICAL_IN;
        k = s->sync[at].last_ns > s->sync[at].enter_ns ? last_needed(s, at) : at;
        c->is_sound = k != NEED_INDEX;
    }
    for (uint32_t i = 0; i < s->n; i++)
        c->n_until[i + 1] = c->n_until[i] + (c->on[i] != 0);
}

void critical_release(struct critical *c)
{
    free(c->on);
    free(c->n_until);
    *c = (struct critical){0};
}

int64_t critical_cut_ns(const struct critical *c, struct replay *r)
{
    int64_t sum = 0;

    replay_settle(r);
    for (size_t i = 0; i < r->n_touched; i++) {
        uint32_t k = r->touched[i];

        sum += c->on[k] & CRITICAL_BEFORE ? replay_cut_of(r, k).before_ns : 0;
        sum += c->on[k] & CRITICAL_IN ? replay_cut_of(r, k).own_ns : 0;
    }
    return sum;
}
