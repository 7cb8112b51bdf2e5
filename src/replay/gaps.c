/* When nothing goes on is what is left between all operations, sorted by when they begin. */
#include "replay/gaps.h"

#include "base/mem.h"

#include <stdlib.h>

struct span {
    uint64_t begin_ns, end_ns;
};

/* Times at which nothing goes on. */
struct silence {
    struct span *span;   /* [n] in order of time */
    uint64_t *before_ns; /* [n + 1] how long those before are together */
    uint32_t n;
};

static bool is_schedule(const struct syncs *s)
{
    bool has_order = false;

    for (size_t i = 0; i < s->view->n_dependencies && !has_order; i++)
        has_order = s->view->dependency[i].kind == DEPENDENCY_END;
    for (uint32_t l = 0; l < s->n_locations && has_order; l++)
        if (syncs_takes_part(s, l) && !s->is_stream[l])
            return false;
    return has_order;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *p = a, *q = b;

    return (p->begin_ns > q->begin_ns) - (p->begin_ns < q->begin_ns);
}

static void find_silence(const struct syncs *s, struct silence *silence)
{
    struct span *busy = mem_alloc(s->n, sizeof *busy);
    uint64_t until_ns = s->begin_ns;
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n; k++)
        if (syncs_is_ready(s, k))
            busy[n++] = (struct span){s->sync[k].leave_ns, syncs_exchanges(s, k)
                                                               ? s->sync[k + 1].leave_ns
                                                               : s->sync[k + 1].enter_ns};
    qsort(busy, n, sizeof *busy, by_begin);
    silence->span = mem_alloc((size_t)n + 1, sizeof *silence->span);
    silence->before_ns = mem_alloc((size_t)n + 2, sizeof *silence->before_ns);
    for (uint32_t i = 0; i < n; i++) {
        if (busy[i].begin_ns > until_ns) {
            silence->before_ns[silence->n + 1] =
                silence->before_ns[silence->n] + busy[i].begin_ns - until_ns;
            silence->span[silence->n++] = (struct span){until_ns, busy[i].begin_ns};
        }
        until_ns = busy[i].end_ns > until_ns ? busy[i].end_ns : until_ns;
    }
    free(busy);
}

/* How long nothing went on before a time. */
static uint64_t silent_until(const struct silence *silence, uint64_t time_ns)
{
    uint32_t low = 0, high = silence->n;

    while (low < high) { /* the first that ends after it */
        uint32_t middle = low + (high - low) / 2;

        if (silence->span[middle].end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == silence->n || silence->span[low].begin_ns >= time_ns)
        return silence->before_ns[low];
    return silence->before_ns[low] + time_ns - silence->span[low].begin_ns;
}

void gaps_close(struct replay *r, struct syncs *s)
{
    struct silence silence = {.n = 0};

    if (!is_schedule(s))
        return;
    find_silence(s, &silence);
    for (uint32_t k = 0; k < s->n; k++) {
        const struct sync *sync = &s->sync[k];
        uint64_t from = sync->last_ns > sync->enter_ns ? sync->last_ns : sync->enter_ns;

        if (!syncs_is_ready(s, k))
            continue;
        replay_begin_after(r, k,
                           from < sync->leave_ns ? silent_until(&silence, sync->leave_ns) -
                                                       silent_until(&silence, from)
                                                 : 0);
    }
    replay_move(r, s);
    free(silence.span);
    free(silence.before_ns);
}
