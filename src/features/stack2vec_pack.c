/* What follows from the rest (sizes, precondition) is not kept, but made again. */
#include "features/stack2vec_pack.h"

#include "base/err.h"
#include "base/mem.h"
#include "features/stack2vec_solve.h"

#include <math.h>
#include <stdlib.h>

#define FORMAT 1u

void stack2vec_pack(const struct stack2vec *m, struct pack *p)
{
    const struct stack2vec_opts *o = &m->opts;

    pack_u32(p, FORMAT);
    pack_u32(p, o->dims);
    pack_u32(p, o->epochs);
    pack_u32(p, o->steps);
    pack_u32(p, o->most_words);
    pack_f64(p, o->learning_rate);
    pack_f64(p, o->negatives);
    pack_f64(p, o->count_share);
    pack_f64(p, o->ridge);
    pack_u64(p, o->seed);
    pack_f64(p, m->per_ns);
    pack_f64(p, m->per_count);
    pack_u64(p, m->n_left_out);
    pack_array(p, m->label.key, m->label.n, sizeof *m->label.key);
    pack_array(p, m->negative, m->n_padded, sizeof *m->negative);
    pack_array(p, m->curvature, m->n_padded, sizeof *m->curvature);
    pack_array(p, m->output, m->n_padded * m->n_dims, sizeof *m->output);
}

static void unpack_opts(struct stack2vec_opts *o, struct pack *p)
{
    o->dims = unpack_u32(p);
    o->epochs = unpack_u32(p);
    o->steps = unpack_u32(p);
    o->most_words = unpack_u32(p);
    o->learning_rate = unpack_f64(p);
    o->negatives = unpack_f64(p);
    o->count_share = unpack_f64(p);
    o->ridge = unpack_f64(p);
    o->seed = unpack_u64(p);
    if (!p->is_bad)
        p->is_bad = stack2vec_check(o) < 0;
}

static void unpack_labels(struct idmap *map, struct pack *p)
{
    size_t n = unpack_count(p, sizeof(struct key));
    struct key *key = unpack_array(p, n, sizeof *key);

    for (size_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= idmap_add(map, key[i]) != i;
    free(key);
}

/* An array of so many numbers, none below least. */
static float *unpack_floats(struct pack *p, size_t n, float least)
{
    float *x;

    if (unpack_count(p, sizeof *x) != n) {
        p->is_bad = true;
        n = 0;
    }
    x = unpack_array(p, n, sizeof *x);
    for (size_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= !isfinite(x[i]) || x[i] < least;
    return x;
}

int stack2vec_unpack(struct stack2vec *m, struct pack *p)
{
    *m = (struct stack2vec){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the stack2vec model is of another version");
    unpack_opts(&m->opts, p);
    m->per_ns = unpack_f64(p);
    m->per_count = unpack_f64(p);
    m->n_left_out = unpack_u64(p);
    unpack_labels(&m->label, p);
    stack2vec_size(m);
    m->negative = unpack_floats(p, m->n_padded, 0);
    m->curvature = unpack_floats(p, m->n_padded, 0);
    m->output = unpack_floats(p, m->n_padded * m->n_dims, -INFINITY);
    p->is_bad |=
        !(m->per_ns >= 0) || !(m->per_count >= 0) || !isfinite(m->per_ns + m->per_count);
    if (p->is_bad)
        return err_set(ERR_FORMAT, "the stack2vec model is damaged");
    stack2vec_precondition(m);
    return 0;
}
