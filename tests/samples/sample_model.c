#include "sample_model.h"

#include "base/mem.h"

#include <stdlib.h>

void sample_model_learn(struct sample_model *m)
{
    const struct residual_input input = {.forest = &m->forest, .wl = &m->wl, .defs = &m->defs};

    wl_init(&m->wl, &m->forest, &m->defs, false, NULL);
    residual_fit(&m->model, &m->place, &input);
    m->measure = mem_alloc(m->forest.n_trees, sizeof *m->measure);
    residual_measures(&m->model, &m->place, &input, m->measure);
}

void sample_model_init(struct sample_model *m, const char *text)
{
    *m = (struct sample_model){.measure = NULL};
    sample_forest(text, &m->defs, &m->forest);
    sample_model_learn(m);
}

void sample_model_release(struct sample_model *m)
{
    free(m->measure);
    residual_release(&m->model);
    residual_place_release(&m->place);
    wl_release(&m->wl);
    forest_release(&m->forest);
    definitions_release(&m->defs);
}
