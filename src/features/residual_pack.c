/* Arrays in the order of the struct; maps are their keys, added again in order. */
#include "features/residual_pack.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>

#define FORMAT 1u

static void pack_contexts(struct pack *p, const struct residual_context *context, uint32_t n)
{
    pack_u64(p, n);
    for (uint32_t i = 0; i < n; i++) {
        pack_f64(p, context[i].log_time.centre);
        pack_f64(p, context[i].log_time.scale);
        pack_u32(p, context[i].n_calls);
        pack_u32(p, context[i].n_trees);
    }
}

static void pack_shapes(struct pack *p, const struct shapes *s)
{
    uint32_t n = s->id.n;

    pack_array(p, s->id.key, n, sizeof *s->id.key);
    pack_array(p, s->path, n, sizeof *s->path);
    pack_array(p, s->calls, n, sizeof *s->calls);
    pack_array(p, s->first_calls, n, sizeof *s->first_calls);
    pack_array(p, s->child_first, n ? (size_t)n + 1 : 0, sizeof *s->child_first);
    pack_array(p, s->child, n ? s->child_first[n] : 0, sizeof *s->child);
}

void residual_pack(const struct residual_model *m, struct pack *p)
{
    uint32_t n = m->paths.n;

    pack_u32(p, FORMAT);
    pack_u32(p, m->n_trees);
    pack_u32(p, m->is_warm);
    pack_f64(p, m->root_ns);
    pack_f64(p, m->offset_ns);
    pack_f64(p, m->log_size);
    pack_f64(p, m->size_scale);
    pack_array(p, m->paths.parent, n, sizeof *m->paths.parent);
    pack_array(p, m->paths.region, n, sizeof *m->paths.region);
    pack_array(p, m->path_sum, n, sizeof *m->path_sum);
    pack_array(p, m->first_centre, n, sizeof *m->first_centre);
    pack_contexts(p, m->path, n);
    pack_array(p, m->class_id.key, m->class_id.n, sizeof *m->class_id.key);
    pack_contexts(p, m->class, m->class_id.n);
    pack_shapes(p, &m->shapes);
}

static struct residual_context *unpack_contexts(struct pack *p, size_t n)
{
    struct residual_context *context = calloc(n + 1, sizeof *context);

    if (unpack_u64(p) != n || context == NULL)
        p->is_bad = true;
    for (size_t i = 0; !p->is_bad && i < n; i++) {
        context[i].log_time.centre = unpack_f64(p);
        context[i].log_time.scale = unpack_f64(p);
        context[i].typical = exp(context[i].log_time.centre);
        context[i].n_calls = unpack_u32(p);
        context[i].n_trees = unpack_u32(p);
        p->is_bad |= !(context[i].log_time.scale > 0) || !isfinite(context[i].typical);
    }
    return context;
}

static void unpack_paths(struct residual_model *m, struct pack *p, uint32_t n_regions)
{
    size_t n = unpack_count(p, sizeof(uint32_t));
    uint32_t *parent = unpack_array(p, n, sizeof *parent);
    uint32_t *region = unpack_array(p, n, sizeof *region);

    for (uint32_t i = 0; !p->is_bad && i < n; i++) {
        p->is_bad |= region[i] >= n_regions || (parent[i] != PATH_NONE && parent[i] >= i) ||
                     context_add(&m->paths, parent[i], region[i]) != i;
    }
    free(parent);
    free(region);
    m->path_sum = unpack_array(p, n, sizeof *m->path_sum);
    m->first_centre = unpack_array(p, n, sizeof *m->first_centre);
    m->path = unpack_contexts(p, n);
}

static void unpack_keys(struct idmap *map, struct pack *p)
{
    size_t n = unpack_count(p, sizeof(struct key));
    struct key *key = unpack_array(p, n, sizeof *key);

    for (uint32_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= idmap_add(map, key[i]) != i;
    free(key);
}

static void unpack_shapes(struct shapes *s, struct pack *p, uint32_t n_paths,
                          uint32_t n_regions)
{
    size_t n_children;
    uint32_t n;

    unpack_keys(&s->id, p);
    n = s->id.n;
    s->path = unpack_array(p, n, sizeof *s->path);
    s->calls = unpack_array(p, n, sizeof *s->calls);
    s->first_calls = unpack_array(p, n, sizeof *s->first_calls);
    s->child_first = unpack_array(p, n ? (size_t)n + 1 : 0, sizeof *s->child_first);
    n_children = unpack_count(p, sizeof *s->child);
    s->child = unpack_array(p, n_children, sizeof *s->child);
    for (uint32_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= s->path[i] >= n_paths || s->calls[i] == 0 ||
                     s->child_first[i] > s->child_first[i + 1];
    if (!p->is_bad && n > 0)
        p->is_bad |= s->child_first[0] != 0 || s->child_first[n] != n_children;
    for (size_t i = 0; !p->is_bad && i < n_children; i++)
        p->is_bad |= s->child[i].region >= n_regions || s->child[i].number_class > 33;
}

int residual_unpack(struct residual_model *m, struct pack *p, uint32_t n_regions)
{
    *m = (struct residual_model){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the residual model is of another version");
    m->n_trees = unpack_u32(p);
    m->is_warm = unpack_u32(p) != 0;
    m->root_ns = unpack_f64(p);
    m->offset_ns = unpack_f64(p);
    m->log_size = unpack_f64(p);
    m->size_scale = unpack_f64(p);
    p->is_bad |= !(m->root_ns > 0) || !(m->offset_ns > 0) || !(m->size_scale > 0) ||
                 !isfinite(m->root_ns + m->offset_ns + m->log_size + m->size_scale);
    unpack_paths(m, p, n_regions);
    unpack_keys(&m->class_id, p);
    m->class = unpack_contexts(p, m->class_id.n);
    unpack_shapes(&m->shapes, p, m->paths.n, n_regions);
    if (p->is_bad)
        return err_set(ERR_FORMAT, "the residual model is damaged");
    shapes_rank(&m->shapes, m->is_warm);
    return 0;
}

void residual_rename(struct residual_model *m, const uint32_t *to)
{
    struct shapes *s = &m->shapes;
    size_t n_children = s->id.n ? s->child_first[s->id.n] : 0;

    context_rename(&m->paths, to);
    for (size_t i = 0; i < n_children; i++)
        s->child[i].region = to[s->child[i].region];
}
