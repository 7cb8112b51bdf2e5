#include "analysis/pooled_model.h"

#include "analysis/run_model.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "detect/detector.h"
#include "run/rundb.h"
#include "trace/region_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The regions of a run among those of all, [n] to be freed; lines may be others (region_name.h).
 */
static uint32_t *map_regions(struct pooled *p, const struct definitions *from)
{
    uint32_t *map = mem_alloc(from->names.n, sizeof *map), n_before = p->defs.names.n;

    for (uint32_t r = 0; r < from->names.n; r++) {
        uint32_t n_known = p->defs.names.n;

        map[r] = call_sites_same(&from->names, from->names.n, r, &p->defs.names, n_before);
        if (map[r] == NAMES_NONE)
            map[r] = definitions_region(&p->defs, from->names.name[r]);
        if (map[r] >= n_known) {
            p->defs.region[map[r]].kind = from->region[r].kind;
            p->defs.region[map[r]].is_barrier = from->region[r].is_barrier;
        }
    }
    return map;
}

static void add_locations(struct pooled *p, const struct definitions *from)
{
    for (uint32_t l = 0; l < from->n_locations; l++) {
        const struct location *it = &from->location[l];
        struct location *copy = definitions_location(&p->defs, it->id, it->name, it->group);

        copy->rank = it->rank;
        copy->thread = it->thread;
        copy->program = it->program;
        if (it->rank != NO_RANK && it->rank >= p->defs.n_ranks)
            p->defs.n_ranks = it->rank + 1;
    }
}

static void note_trace(struct pooled *p, const struct run *run)
{
    char *trace = rundb_get_text(run->db, "trace");
    size_t n = p->traces ? strlen(p->traces) : 0, more = trace ? strlen(trace) : 0;

    p->traces = mem_resize(p->traces, n + more + 3, 1);
    snprintf(p->traces + n, more + 3, "%s%s", n > 0 ? ", " : "", trace ? trace : "");
    free(trace);
}

int pooled_add(struct pooled *p, const struct run *run, int64_t foi)
{
    uint32_t region = 0, first = p->defs.n_locations, *map = NULL;
    struct scoring one = {0};
    int rc = run_scoring_region(run->db, &run->defs, foi, &region);

    if (rc == 0)
        map = map_regions(p, &run->defs);
    if (rc == 0 && p->foi && map[region] != names_find(&p->defs.names, p->foi))
        rc = err_set(ERR_NOT_FOUND, "its function of interest is '%s', not '%s'",
                     run->defs.region[region].short_name, p->foi);
    if (rc == 0)
        rc = run_scoring_collect(&one, &run->columns, &run->defs, region);
    if (rc == 0)
        rc = forest_append(&p->forest, &one.forest, first, map);
    if (rc == 0) {
        add_locations(p, &run->defs);
        note_trace(p, run);
        if (p->foi == NULL)
            p->foi = mem_copy_string(run->defs.region[region].name);
        p->n_runs++;
    }
    free(map);
    scoring_release(&one);
    return rc;
}

/* As many false alarms are expected in a run like one of these as in one that was learnt from
 * itself, so what counts is how many executions one has. */
static int judge(struct pooled *p, struct scoring *s)
{
    struct scoring_opts opts = {.detector = detector_find(SCORING_DEFAULT),
                                .features = feature_find(SCORING_DEFAULT),
                                .threshold = NAN};

    s->defs = &p->defs;
    s->forest = p->forest;
    p->forest = (struct forest){0};
    scoring_learn(s, false);
    s->yardstick.strong =
        residual_strong((double)s->forest.n_trees / p->n_runs, RESIDUAL_FALSE_ALARMS);
    return scoring_judge(s, &opts);
}

int pooled_model(struct pooled *p, struct model *out)
{
    struct scoring s = {0};
    int rc = judge(p, &s);

    *out = (struct model){.foi = NULL};
    if (rc == 0) {
        run_model_take(out, &s, p->foi, p->traces, NULL);
        out->features = mem_copy_string(SCORING_DEFAULT);
        out->detector = mem_copy_string(SCORING_DEFAULT);
        out->threshold = s.threshold;
    }
    scoring_release(&s);
    return rc;
}

void pooled_release(struct pooled *p)
{
    definitions_release(&p->defs);
    forest_release(&p->forest);
    free(p->foi);
    free(p->traces);
    *p = (struct pooled){.n_runs = 0};
}
