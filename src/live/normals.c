#include "live/normals.h"

#include "base/mem.h"

#include <stdlib.h>

void normals_init(struct normals *n, bool is_inclusive)
{
    *n = (struct normals){.is_inclusive = is_inclusive};
}

void normals_release(struct normals *n)
{
    for (uint32_t i = 0; i < n->pairs.n; i++) {
        free(n->normal[i].stack);
        around_release(&n->normal[i].around);
    }
    free(n->normal);
    free(n->nearest);
    free(n->touched);
    idmap_release(&n->pairs);
    *n = (struct normals){0};
}

/* --------------------------------------------------------------------------------- looking */

/* The medians are those of the models as they are now. */
static void follow_models(struct normals *n, const struct ad_step *step)
{
    mem_grow(&n->nearest, &n->nearest_cap, ad_models(step->ad), sizeof *n->nearest);
    for (; n->n_models < ad_models(step->ad); n->n_models++)
        n->nearest[n->n_models] = (struct nearest_call){0};
    for (uint32_t m = 0; m < n->n_models; m++) {
        const struct call_judge *judge = ad_judge(step->ad, m);

        n->nearest[m].median_ns = judge ? (uint64_t)judge->model.median : 0;
    }
}

static void find_nearest(struct normals *n, const struct calls *c, const uint32_t *model)
{
    const uint64_t *time_ns = n->is_inclusive ? c->inclusive_ns : c->exclusive_ns;

    n->stamp++;
    n->n_touched = 0;
    for (uint32_t row = 0; row < c->n; row++) {
        struct nearest_call *near = &n->nearest[model[row]];
        uint64_t distance = time_ns[row] > near->median_ns ? time_ns[row] - near->median_ns
                                                           : near->median_ns - time_ns[row];

        if (c->inclusive_ns[row] == CALL_OPEN ||
            (near->stamp == n->stamp && near->distance_ns <= distance))
            continue;
        if (near->stamp != n->stamp) {
            mem_grow(&n->touched, &n->touched_cap, n->n_touched + 1, sizeof *n->touched);
            n->touched[n->n_touched++] = model[row];
        }
        near->stamp = n->stamp;
        near->row = row;
        near->distance_ns = distance;
    }
}

static void keep_stack(struct normal *normal, const struct histories *h,
                       const struct ad_step *step, uint32_t location, uint32_t row)
{
    normal->n_stack = 0;
    for (; row != NO_CALL; row = step->calls[location].caller[row]) {
        mem_grow(&normal->stack, &normal->stack_cap, normal->n_stack + 1,
                 sizeof *normal->stack);
        history_call(h, step, location, row, &normal->stack[normal->n_stack++]);
    }
}

/* The place of a pair, NULL when there are too many. */
static struct normal *normal_of(struct normals *n, uint32_t location, uint32_t model)
{
    struct key key = key_pair(location, model);
    uint32_t known = n->pairs.n, i = idmap_find(&n->pairs, key);

    if (i == IDMAP_NONE && known == MAX_NORMALS)
        return NULL;
    if (i == IDMAP_NONE) {
        i = idmap_add(&n->pairs, key);
        mem_grow(&n->normal, &n->cap, i + 1, sizeof *n->normal);
        n->normal[i] = (struct normal){0};
    }
    return &n->normal[i];
}

static void keep(struct normals *n, const struct histories *h, const struct ad_step *step,
                 uint32_t l, uint32_t row)
{
    const struct calls *c = &step->calls[l];
    struct normal *normal = normal_of(n, l, step->model[l][row]);

    if (normal == NULL)
        return;
    normal->call = (struct verdict){.location = l,
                                    .region = c->region[row],
                                    .model = step->model[l][row],
                                    .row = row,
                                    .id = calls_id(c, row),
                                    .step = step->number,
                                    .enter_ns = c->enter_ns[row],
                                    .inclusive_ns = c->inclusive_ns[row],
                                    .exclusive_ns = c->exclusive_ns[row]};
    normal->event = history_event(h, step, l, row);
    normal->entered = *history_entered(h, step, l, row);
    keep_stack(normal, h, step, l, row);
    around_take(&normal->around, h, step, l, row);
    normal->is_given = false;
}

void normals_look(struct normals *n, const struct histories *h, const struct ad_step *step)
{
    follow_models(n, step);
    for (uint32_t l = 0; l < step->n_locations; l++) {
        const struct calls *c = &step->calls[l];

        find_nearest(n, c, step->model[l]);
        for (size_t i = 0; i < n->n_touched; i++) {
            uint32_t row = n->nearest[n->touched[i]].row;
            uint64_t time_ns = n->is_inclusive ? c->inclusive_ns[row] : c->exclusive_ns[row];

            if (ad_judge(step->ad, n->touched[i]) &&
                !ad_is_strange(step->ad, n->touched[i], time_ns))
                keep(n, h, step, l, row);
        }
    }
}

/* ---------------------------------------------------------------------------------- giving */

static struct normal *find(struct normals *n, uint32_t location, uint32_t model)
{
    uint32_t i = idmap_find(&n->pairs, key_pair(location, model));

    return i == IDMAP_NONE || n->normal[i].is_given ? NULL : &n->normal[i];
}

const struct normal *normals_give(struct normals *n, uint32_t n_locations, uint32_t location,
                                  uint32_t model)
{
    struct normal *found = find(n, location, model);

    for (uint32_t l = 0; found == NULL && l < n_locations; l++)
        found = find(n, l, model);
    if (found)
        found->is_given = true;
    return found;
}
