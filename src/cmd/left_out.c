/* A trace says it rank by rank; a person wants to know it by function. */
#include "cmd/left_out.h"

#include "base/json.h"
#include "base/mem.h"
#include "cmd/print.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_PRINTED 10

static int by_calls(const void *a, const void *b)
{
    const struct left_out_function *p = a, *q = b;

    if (p->n_calls != q->n_calls)
        return p->n_calls > q->n_calls ? -1 : 1;
    return (p->region > q->region) - (p->region < q->region);
}

struct left_out_function *left_out_list(const struct definitions *defs, size_t *n)
{
    struct left_out_function *of = mem_alloc(defs->n_left_out ? defs->names.n : 0, sizeof *of);

    for (size_t i = 0; i < defs->n_left_out; i++) {
        const struct left_out *one = &defs->left_out[i];
        struct left_out_function *f = &of[one->region];

        f->region = one->region;
        if (f->n_ranks++ == 0 || one->from_ns < f->from_ns)
            f->from_ns = one->from_ns;
        f->n_calls += one->n_calls;
    }
    *n = 0;
    for (uint32_t i = 0; defs->n_left_out > 0 && i < defs->names.n; i++)
        if (of[i].n_ranks > 0)
            of[(*n)++] = of[i];
    qsort(of, *n, sizeof *of, by_calls);
    return of;
}

char *left_out_text(const struct left_out_function *f, char out[4 * TEXT_SIZE])
{
    char calls[TEXT_SIZE], from[TEXT_SIZE], ranks[TEXT_SIZE] = "";

    if (f->n_ranks > 1)
        snprintf(ranks, sizeof ranks, " of %u ranks", f->n_ranks);
    snprintf(out, 4 * TEXT_SIZE, "%s call%s%s from %s on", text_count(f->n_calls, calls),
             text_plural(f->n_calls), ranks, text_duration((double)f->from_ns, from));
    return out;
}

void left_out_print(const struct definitions *defs)
{
    size_t n;
    struct left_out_function *of = left_out_list(defs, &n);
    char text[4 * TEXT_SIZE];

    if (n > 0)
        print("\nleft out by the tracer, as they were called too often; what there is of them "
              "before is not used, and what called them took longer until then:\n");
    for (size_t i = 0; i < n && i < MAX_PRINTED; i++)
        print("  %s: %s\n", defs->region[of[i].region].short_name, left_out_text(&of[i], text));
    if (n > MAX_PRINTED)
        print("  and %zu more\n", n - MAX_PRINTED);
    free(of);
}

json_t *left_out_json(const struct definitions *defs)
{
    size_t n;
    struct left_out_function *of = left_out_list(defs, &n);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                            json_text(defs->region[of[i].region].name), "plain",
                            json_text(defs->region[of[i].region].plain), "calls",
                            json_count(of[i].n_calls), "from_ns", json_count(of[i].from_ns),
                            "ranks", json_count(of[i].n_ranks)));
    free(of);
    return list;
}
