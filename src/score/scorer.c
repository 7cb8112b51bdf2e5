/* The forest keeps its columns but for the regions, which are the model's. */
#include "score/scorer.h"

#include "base/mem.h"
#include "explain/excess.h"
#include "trace/region_name.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct scorer {
    struct model model;
    struct definitions defs; /* regions as the model numbers them, then what is new */
    uint32_t n_known;        /* of the model */
    uint32_t *to;            /* [n_to] region of the model for each of the program */
    uint32_t n_to;
    size_t to_cap;
    struct scoring_opts opts;

    struct scoring scoring; /* of the last forest, which is another's but for: */
    uint32_t *region;       /* [scoring.forest.n] */
    size_t region_cap;
};

int scorer_open(const char *path, struct scorer **out)
{
    struct scorer *s = mem_alloc(1, sizeof *s);
    uint32_t region;
    int rc = model_file_read(path, &s->model);

    *out = NULL;
    if (rc < 0) {
        scorer_close(s);
        return rc;
    }
    model_adopt(&s->model, &s->defs, &region);
    s->n_known = s->defs.names.n;
    s->opts = (struct scoring_opts){.detector = detector_find(s->model.detector),
                                    .features = feature_find(s->model.features),
                                    .threshold = NAN,
                                    .pool = pool_new(1)};
    assert(s->opts.detector && s->opts.features); /* as model_file_read has checked */
    *out = s;
    return 0;
}

static void forget_forest(struct scorer *s)
{
    s->scoring.forest = (struct forest){0};
    scoring_release(&s->scoring);
}

void scorer_close(struct scorer *s)
{
    if (s == NULL)
        return;
    forget_forest(s);
    free(s->region);
    free(s->to);
    if (s->opts.pool)
        pool_free(s->opts.pool);
    definitions_release(&s->defs);
    model_release(&s->model);
    free(s);
}

const char *scorer_foi(const struct scorer *s)
{
    return s->model.foi;
}

uint32_t scorer_foi_among(const struct scorer *s, const struct definitions *defs)
{
    return model_foi_among(&s->model, defs);
}

/* The same forest with the model's regions. */
static void translate(struct scorer *s, const struct forest *forest,
                      const struct definitions *defs)
{
    mem_grow(&s->to, &s->to_cap, defs->names.n, sizeof *s->to);
    if (s->n_to < defs->names.n) /* which places are the same is seen when all are known */
        s->n_to = 0;
    for (; s->n_to < defs->names.n; s->n_to++) {
        uint32_t same =
            call_sites_same(&defs->names, defs->names.n, s->n_to, &s->defs.names, s->n_known);

        s->to[s->n_to] = same != NAMES_NONE
                             ? same
                             : definitions_region(&s->defs, defs->region[s->n_to].name);
    }
    mem_grow(&s->region, &s->region_cap, forest->n, sizeof *s->region);
    for (uint32_t v = 0; v < forest->n; v++)
        s->region[v] = s->to[forest->region[v]];
    s->scoring.forest = *forest;
    s->scoring.forest.region = s->region;
}

int scorer_judge(struct scorer *s, const struct forest *forest, const struct definitions *defs,
                 struct own_waits waits, const struct scoring **out)
{
    forget_forest(s);
    s->scoring.defs = &s->defs;
    s->scoring.waits = waits;
    translate(s, forest, defs);
    scoring_apply(&s->scoring, &s->model, scoring_needs_bags(&s->opts));
    *out = &s->scoring;
    return scoring_judge(&s->scoring, &s->opts);
}

void scorer_why(const struct scorer *s, uint32_t t, char out[WHY_SIZE])
{
    struct why why;

    assert(t < s->scoring.forest.n_trees);
    scoring_why_init(&s->scoring, &why);
    scoring_why(&s->scoring, &why, t, out);
    why_release(&why);
}

void scorer_excess(const struct scorer *s, uint32_t t, double *out)
{
    struct why why;

    assert(t < s->scoring.forest.n_trees);
    scoring_why_init(&s->scoring, &why);
    excess_lost(&why, t, s->scoring.measure[t].loss.ns, out);
    why_release(&why);
}
