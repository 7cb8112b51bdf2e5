#include "compare/compare_functions.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions by name. */
struct table {
    struct comparison *out;
    uint32_t *at; /* [names of the comparison] in its functions, or COMPARE_NONE */
    size_t cap;
};

static struct compare_function *function_of(struct table *t, uint32_t name)
{
    struct comparison *out = t->out;

    if (t->at[name] == COMPARE_NONE) {
        mem_grow(&out->function, &t->cap, (size_t)out->n_functions + 1, sizeof *out->function);
        t->at[name] = out->n_functions++;
        out->function[t->at[name]] = (struct compare_function){.name = name};
    }
    return &out->function[t->at[name]];
}

static void add_run(struct table *t, const struct alignment *a, uint32_t r)
{
    const struct digest *d = a->run[r];
    enum compare_side side = alignment_side(a, r);
    double n = a->n_runs[side];

    t->out->run_ns[side] += d->run_ns / n;
    for (uint32_t i = 0; i < d->n_functions; i++) {
        const struct digest_function *f = &d->function[i];
        struct compare_function *x = function_of(t, a->name_of[r][f->name]);

        x->own_ns[side] += f->own_ns / n;
        x->critical_ns[side] += f->critical_ns / n;
        x->calls[side] += (double)f->n_calls / n;
        x->locations[side] += f->n_locations / n;
    }
}

static int by_change(const void *a, const void *b)
{
    const struct compare_function *p = a, *q = b;
    double change_p = fabs(p->own_ns[1] - p->own_ns[0]);
    double change_q = fabs(q->own_ns[1] - q->own_ns[0]);

    if (change_p != change_q)
        return change_p < change_q ? 1 : -1;
    return order_u32(&p->name, &q->name);
}

void compare_functions(const struct alignment *a, struct comparison *out)
{
    struct table t = {.out = out, .at = mem_alloc(out->names.n, sizeof *t.at)};

    memset(t.at, 0xff, out->names.n * sizeof *t.at);
    for (uint32_t r = 0; r < alignment_runs(a); r++)
        add_run(&t, a, r);
    if (out->n_functions > 0)
        qsort(out->function, out->n_functions, sizeof *out->function, by_change);
    free(t.at);
}
