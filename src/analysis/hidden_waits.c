/* In the order of time; those that may overlap began no earlier than the longest lasted before. */
#include "analysis/hidden_waits.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>

#define MAX_ASKED 4096u /* that may be looked at for one execution */
#define MIN_OVERLAP 0.5 /* of such a wait must have been possible at that time */

void hidden_waits_add(struct hidden_waits *w, const struct hidden_wait *wait)
{
    uint64_t took_ns = wait->leave_ns - wait->enter_ns;

    *mem_push(&w->wait, &w->n, &w->cap) = *wait;
    if (took_ns > w->longest_ns)
        w->longest_ns = took_ns;
}

static int by_enter(const void *a, const void *b)
{
    const struct hidden_wait *p = a, *q = b;

    return ORDER(p->enter_ns, q->enter_ns) ?: ORDER(p->location, q->location);
}

void hidden_waits_order(struct hidden_waits *w)
{
    if (w->n > 1)
        qsort(w->wait, w->n, sizeof *w->wait, by_enter);
}

void hidden_waits_release(struct hidden_waits *w)
{
    free(w->wait);
    *w = (struct hidden_waits){0};
}

/* It may have been for the other: it was on its way for most of it, or of what that lost. */
static bool may_be_for(const struct hidden_wait *wait, const struct hidden_wait *of)
{
    uint64_t begin_ns = wait->enter_ns > of->enter_ns ? wait->enter_ns : of->enter_ns;
    uint64_t end_ns = wait->leave_ns < of->leave_ns ? wait->leave_ns : of->leave_ns;

    return wait->location != of->location && end_ns > begin_ns &&
           (double)(end_ns - begin_ns) >= MIN_OVERLAP * fmin((double)wait->ns, (double)of->ns);
}

int64_t hidden_waits_behind(const struct hidden_waits *w, const struct hidden_wait *of,
                            uint32_t but)
{
    uint64_t from_ns = of->enter_ns > w->longest_ns ? of->enter_ns - w->longest_ns : 0;
    uint32_t i = FIRST_NOT(k, 0, w->n, w->wait[k].enter_ns < of->leave_ns), n_asked = 0;
    int64_t longest_ns = 0;

    while (i-- > 0 && w->wait[i].enter_ns >= from_ns && n_asked < MAX_ASKED) {
        if (w->wait[i].leave_ns <= of->enter_ns)
            continue;
        n_asked++;
        if (w->wait[i].incident != but && w->wait[i].ns > longest_ns &&
            may_be_for(&w->wait[i], of))
            longest_ns = w->wait[i].ns;
    }
    return longest_ns;
}
