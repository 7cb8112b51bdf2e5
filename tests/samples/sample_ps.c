/* Durations are log-normal, as those of calls often are. */
#include "sample_ps.h"

#include <stdio.h>
#include <string.h>

void sample_calls(struct sketch *s, struct rng *rng, uint32_t n, double mean_ns)
{
    for (uint32_t i = 0; i < n; i++)
        sketch_add(s, (uint64_t)(mean_ns * exp(0.5 * rng_normal(rng))));
}

const char *sample_name(uint32_t i, char name[16])
{
    snprintf(name, 16, "f%02u", i);
    return name;
}

void sample_push(struct pack *out, const struct ps_push *push, const struct sketch *sketch)
{
    char name[16];

    out->n = 0;
    ps_write_push(out, push);
    for (uint32_t i = 0; i < push->n_entries; i++)
        ps_write_named(out, "prog", sample_name(i, name), sketch[i].n > 0 ? &sketch[i] : NULL);
    ps_write_array(out, 0);
}

bool sample_same(const struct sketch *a, const struct sketch *b)
{
    struct pack p = {0}, q = {0};
    bool is_same;

    sketch_pack(a, &p);
    sketch_pack(b, &q);
    is_same = p.n == q.n && memcmp(p.data, q.data, p.n) == 0;
    pack_release(&p);
    pack_release(&q);
    return is_same;
}
