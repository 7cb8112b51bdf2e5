/* Times are ln(1 + |lost| / 2 % of a typical duration) with the sign of what was lost. */
#include "features/residual_rows.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define LEAST 0.02 /* smaller entries are left out */

/* The rarest shape per path, for one tree after the other. */
struct rarities {
    double *most;   /* [n_paths + 1] zero between trees */
    uint32_t *path; /* [n] those that are not zero */
    uint32_t n;
};

static uint32_t column_of(uint32_t path, uint32_t n_paths)
{
    return path == PATH_NONE ? n_paths : path;
}

static void find_rarities(const struct feature_input *in, uint32_t t, struct rarities *r)
{
    r->n = 0;
    for (uint32_t v = in->forest->first[t]; v < in->forest->first[t + 1]; v++) {
        uint32_t at = column_of(in->place->path[v], in->model->paths.n);
        double rarity = residual_rarity(in->model, in->place, in->forest, t, v);

        if (rarity - RESIDUAL_USUAL_RARITY <= r->most[at])
            continue;
        if (r->most[at] == 0)
            r->path[r->n++] = at;
        r->most[at] = rarity - RESIDUAL_USUAL_RARITY;
    }
}

static void add_time(const struct feature_input *in, const struct residual_pairs *pairs,
                     struct rows *rows)
{
    for (size_t i = 0; i < pairs->n; i++) {
        double lost = pairs->pair[i].lost_ns / in->model->root_ns / RESIDUAL_MATERIAL;
        double value = copysign(log1p(fabs(lost)), lost);

        if (fabs(value) >= LEAST)
            rows_add(rows, column_of(pairs->pair[i].path, in->model->paths.n), value);
    }
}

void residual_rows(const struct feature_input *in, const double *score, struct rows *rows)
{
    uint32_t n = in->model->paths.n;
    struct rarities rare = {mem_alloc((size_t)n + 1, sizeof(double)),
                            mem_alloc((size_t)n + 1, sizeof(uint32_t)), 0};
    struct residual_pairs pairs;

    rows_init(rows, 2 * n + 3);
    residual_pairs_init(&pairs, in->model);
    for (uint32_t t = 0; t < in->forest->n_trees; t++) {
        residual_pairs_of(&pairs, in->model, in->place, in->forest, t);
        add_time(in, &pairs, rows);
        find_rarities(in, t, &rare);
        for (uint32_t i = 0; i < rare.n; i++) {
            if (rare.most[rare.path[i]] >= LEAST)
                rows_add(rows, n + 1 + rare.path[i], rare.most[rare.path[i]]);
            rare.most[rare.path[i]] = 0;
        }
        rows_add(rows, 2 * n + 2, score[t]);
        rows_end(rows);
    }
    residual_pairs_release(&pairs);
    free(rare.most);
    free(rare.path);
}
