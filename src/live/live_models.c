/* By region, a row's model is its region, and nothing has to be looked up. */
#include "live/live_models.h"

#include "base/mem.h"
#include "explain/waiting.h"

#include <math.h>
#include <stdlib.h>

#define GROWTH 1.05 /* a judge is made anew when its model has so many times the calls */

void live_models_init(struct live_models *m, const struct live_models_opts *opts)
{
    *m = (struct live_models){.opts = *opts};
}

void live_models_release(struct live_models *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        sketch_release(&m->model[i].sketch);
        sketch_release(&m->model[i].step);
        sketch_release(&m->model[i].shared);
        call_judge_release(&m->model[i].judge);
    }
    for (uint32_t l = 0; l < m->n_locations; l++)
        free(m->keys[l].key);
    free(m->keys);
    free(m->noise);
    free(m->model);
    live_paths_release(&m->paths);
    *m = (struct live_models){0};
}

static void add_model(struct live_models *m, uint32_t region, const struct definitions *defs)
{
    struct live_rules *rules = m->opts.rules;
    struct live_model *model;

    mem_grow(&m->model, &m->cap, (size_t)m->n + 1, sizeof *m->model);
    model = &m->model[m->n++];
    *model = (struct live_model){.region = region,
                                 .function = UINT32_MAX,
                                 .may_wait = waiting_is_likely(&defs->region[region])};
    sketch_init(&model->sketch);
    sketch_init(&model->step);
    sketch_init(&model->shared);
    if (rules) {
        model->is_ignored = live_rules_is_ignored(rules, &defs->region[region]);
        model->threshold = live_rules_threshold(rules, &defs->region[region]);
    }
}

void live_models_follow(struct live_models *m, const struct definitions *defs)
{
    while (!m->opts.is_by_path && m->n < defs->names.n)
        add_model(m, m->n, defs);
    mem_grow(&m->keys, &m->keys_cap, defs->n_locations, sizeof *m->keys);
    while (m->n_locations < defs->n_locations)
        m->keys[m->n_locations++] = (struct live_keys){0};
}

const uint32_t *live_models_key(struct live_models *m, uint32_t location, const struct calls *c,
                                const struct definitions *defs)
{
    struct live_keys *k = &m->keys[location];

    if (!m->opts.is_by_path)
        return c->region;
    mem_grow(&k->key, &k->cap, (size_t)c->n + 1, sizeof *k->key);
    for (uint32_t row = 0; row < c->n; row++) { /* callers come first */
        uint32_t caller = c->caller[row] == NO_CALL ? NO_PATH : k->key[c->caller[row]];

        k->key[row] = live_paths_callee(&m->paths, caller, c->region[row]);
    }
    while (m->n < m->paths.n)
        add_model(m, m->paths.path[m->n].region, defs);
    return k->key;
}

uint64_t live_models_learn(struct live_models *m, const uint32_t *key, const struct calls *c)
{
    uint64_t n = 0;

    for (uint32_t row = 0; row < c->n; row++) {
        struct live_model *model = &m->model[key[row]];

        if (c->inclusive_ns[row] == CALL_OPEN)
            continue;
        n++;
        if (!model->is_ignored)
            sketch_add(m->opts.has_server ? &model->step : &model->sketch,
                       live_models_time(m, c, row));
    }
    return n;
}

static void fit(const struct live_models *m, struct live_model *model)
{
    struct call_detector_opts opts = m->opts.detector_opts;
    const struct sketch *known = live_models_known(model);

    opts.may_wait = model->may_wait;
    if (model->threshold > 0)
        opts.p = opts.sigmas = opts.score_share = model->threshold; /* each looks at its own */
    call_judge_fit(&model->judge, m->opts.detector, &opts, known);
    model->n_fitted = known->n;
}

static void find_noise(struct live_models *m)
{
    mem_grow(&m->noise, &m->noise_cap, m->n, sizeof *m->noise);
    for (uint32_t i = 0; i < m->n; i++)
        m->noise[i] = m->model[i].n_fitted > 0 ? m->model[i].judge.noise_ns : INFINITY;
    m->noise_ns = call_noise(m->noise, m->n);
}

void live_models_fit(struct live_models *m)
{
    bool is_any_new = false;

    for (uint32_t i = 0; i < m->n; i++) {
        struct live_model *model = &m->model[i];
        uint64_t n = live_models_known(model)->n;

        if (n < m->opts.least_calls || n == 0 || model->is_ignored)
            continue;
        if ((double)n < GROWTH * (double)model->n_fitted && n >= model->n_fitted)
            continue;
        fit(m, model);
        is_any_new = true;
    }
    if (is_any_new)
        find_noise(m);
}

char *live_models_name(const struct live_models *m, uint32_t model,
                       const struct definitions *defs)
{
    return m->opts.is_by_path ? live_paths_name(&m->paths, model, defs)
                              : mem_copy_string(defs->names.name[model]);
}
