/*
 * What holds in a run holds in its model. Of several runs the executions are put into one
 * forest, by the names of their functions, and that is learnt from.
 */
#include "analysis/run_model.h"

#include "analysis/label_store.h"
#include "analysis/retrain.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "detect/detector.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "trace/region_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model_run {
    struct run *run;
    int64_t foi;
    struct ranking ranking;
};

/*
 * What a model is to hold: what holds in the run, or, if a learner is named, what that learns
 * from all labels there are.
 */
struct lesson {
    struct retrain_settings retrain; /* that holds; id 0: the detector's own scores do */
    const char *learner;
    int64_t last_label;  /* 0: none */
    uint32_t n_left_out; /* labels that nothing has learnt from */
};

/* Names of the rows of a table for which something holds, one after another. */
static void add_name(char *names, size_t size, const char *name)
{
    size_t n = strlen(names);

    snprintf(names + n, size - n, "%s'%s'", n ? ", " : "", name);
}

/* The detector that a model of what a learner learnt stands for. */
static const char *detector_of(const char *learner)
{
    for (size_t i = 0; detector_name(i); i++) {
        const struct detector_ops *ops = detector_find(detector_name(i));

        if (ops->learner && strcmp(ops->learner, learner) == 0)
            return ops->name;
    }
    return "";
}

static int check_detector(const struct foi_settings *analysed)
{
    const struct detector_ops *detector = detector_find(analysed->detector);
    char names[128] = "";

    if (detector && detector->learner)
        return 0;
    for (size_t i = 0; detector_name(i); i++)
        if (detector_find(detector_name(i))->learner)
            add_name(names, sizeof names, detector_name(i));
    return err_set(ERR_UNSUPPORTED,
                   "a model of the detector '%s' cannot be saved; models can be saved of %s",
                   analysed->detector, names);
}

/* What corrects the detector's scores needs these; what judges by features needs these. */
static int check_lesson(const struct foi_settings *analysed, const struct lesson *lesson)
{
    const struct learner_ops *learner = learner_find(lesson->learner);
    const struct feature_ops *features =
        feature_find(lesson->retrain.id ? lesson->retrain.features : analysed->features);
    const char *detector = detector_of(lesson->learner);
    char names[128] = "";

    if (learner == NULL)
        return err_set(ERR_UNSUPPORTED,
                       "the run was retrained by an older snag with a learner that no longer "
                       "exists: 'snag retrain RUN' computes its scores again");
    if (!learner->needs_matrix)
        return strcmp(detector, analysed->detector) == 0
                   ? 0
                   : err_set(ERR_UNSUPPORTED,
                             "what the learner '%s' has learnt can be saved with the detector "
                             "'%s', not with '%s' (--learner chooses another learner)",
                             learner->name, detector, analysed->detector);
    if (features && features->is_portable)
        return 0;
    for (size_t i = 0; feature_name(i); i++)
        if (feature_find(feature_name(i))->is_portable)
            add_name(names, sizeof names, feature_name(i));
    return err_set(
        ERR_UNSUPPORTED,
        "what the learner '%s' has learnt on the features '%s' cannot be saved; it can on %s",
        learner->name, analysed->features, names);
}

/*
 * A run that was judged by a model has the typical times of that, but not what it compared its
 * executions with: by a model of those times and of the executions of the run itself what is
 * strange in it would be normal. A machine that has learnt in the run judges without any of it.
 */
static int check_has_all(const struct foi_settings *analysed, const char *learner,
                         bool has_learnt)
{
    const struct learner_ops *ops = learner_find(learner);

    if (analysed->model_executions == 0 || (has_learnt && ops && ops->needs_matrix))
        return 0;
    return err_set(
        ERR_UNSUPPORTED,
        "the run was judged by the model of another run (snag score), which is not in "
        "it: save the model of that run, or one of both together ('snag model save "
        "RUN RUN FILE')");
}

/* The default is to judge as the run does. */
static int choose_lesson(const struct model_run *s, const char *learner, struct lesson *lesson)
{
    struct foi_settings analysed;
    int rc = foi_settings_load(s->run->db, s->foi, &analysed);

    *lesson = (struct lesson){.learner = learner, .last_label = LABEL_LAST};
    if (rc == 0 && learner == NULL) {
        rc = retrain_newest(s->run->db, s->foi, &lesson->retrain);
        rc = rc == ERR_NOT_FOUND ? 0 : rc;
        lesson->last_label = lesson->retrain.last_label;
        if (rc == 0 && lesson->retrain.id == 0)
            rc = check_detector(&analysed);
        if (rc == 0)
            lesson->learner = lesson->retrain.id ? lesson->retrain.learner
                                                 : detector_find(analysed.detector)->learner;
    }
    if (rc == 0)
        rc = check_has_all(&analysed, lesson->learner, learner || lesson->retrain.id);
    return rc < 0 ? rc : check_lesson(&analysed, lesson);
}

static int rank_lesson(struct model_run *s, const struct ranking_opts *said,
                       const struct lesson *lesson)
{
    struct ranking_opts opts = *said;

    opts.learner = lesson->learner;
    if (lesson->retrain.id)
        opts = retrain_opts(&lesson->retrain, said->pool);
    return ranking_open(&s->ranking, s->run->db, &s->run->columns, &s->run->defs, s->foi,
                        &opts);
}

/* Labels that are not as they were for the lesson. */
static int count_left_out(struct model_run *s, const signed char *label, struct lesson *lesson)
{
    uint32_t n = s->ranking.n;
    signed char *now = mem_alloc(n, 1);
    int64_t newest;
    int rc = label_store_load(s->run->db, s->foi, LABEL_LAST, n, now, &newest);

    for (uint32_t t = 0; rc == 0 && t < n; t++)
        lesson->n_left_out += label[t] != now[t];
    free(now);
    return rc;
}

/* What was learnt from the labels of the run; without any it judges as the detector did. */
static int learn(struct model_run *s, struct lesson *lesson, struct model *m)
{
    struct ranking *r = &s->ranking;
    signed char *label = mem_alloc(r->n, 1);
    int64_t newest;
    int rc = label_store_load(s->run->db, s->foi, lesson->last_label, r->n, label, &newest);

    for (uint32_t t = 0; t < r->n; t++) {
        m->n_abnormal += label[t] == LABEL_ABNORMAL;
        m->n_normal += label[t] == LABEL_NORMAL;
    }
    if (rc == 0)
        rc = count_left_out(s, label, lesson);
    if (rc == 0)
        rc = learner_keep(&r->learner, label, m);
    free(label);
    return rc;
}

static void take_learnt(struct model *m, struct scoring *s, const char *foi, const char *trace,
                        const char *made)
{
    char now[32];

    text_utc_now(now);
    m->foi = mem_copy_string(foi);
    m->snag = mem_copy_string(SNAG_VERSION);
    m->made = mem_copy_string(made ? made : now);
    m->trace = mem_copy_string(trace);
    m->n_trees = s->forest.n_trees;
    for (uint32_t r = 0; r < s->defs->names.n; r++)
        names_add(&m->regions, s->defs->names.name[r]);
    m->residual = s->model;
    m->calibration = s->calibration;
    s->model = (struct residual_model){0};
    s->calibration = (struct calibration){0};
}

/* When what holds in the run was learnt, so that the same lesson is the same file whenever it
 * is
   saved; NULL: now. */
static char *learnt_at(const struct model_run *s, const struct lesson *lesson)
{
    if (lesson->retrain.id)
        return mem_copy_string(lesson->retrain.at);
    return lesson->last_label == 0 ? rundb_get_text(s->run->db, "created") : NULL;
}

/* Moves what the ranking holds into a model. */
static void model_of(struct model_run *s, const struct lesson *lesson, struct model *m)
{
    struct scoring *w = &s->ranking.work;
    char *trace = rundb_get_text(s->run->db, "trace"), *made = learnt_at(s, lesson);

    take_learnt(m, w, w->defs->region[w->model.paths.region[0]].name, trace ? trace : "", made);
    m->features = mem_copy_string(s->ranking.features_name);
    m->detector = mem_copy_string(detector_of(s->ranking.learner_name));
    m->embedding = w->embedding;
    w->embedding = (struct stack2vec){0};
    free(trace);
    free(made);
}

int run_model_make(struct run *run, int64_t foi, const struct ranking_opts *opts,
                   struct model *model, uint32_t *n_left_out)
{
    struct model_run s = {.run = run, .foi = foi};
    struct lesson lesson;
    int rc = choose_lesson(&s, opts->learner, &lesson);

    *model = (struct model){.foi = NULL};
    *n_left_out = 0;
    if (rc == 0)
        rc = rank_lesson(&s, opts, &lesson);
    if (rc == 0)
        rc = learn(&s, &lesson, model);
    if (rc == 0) {
        model_of(&s, &lesson, model);
        *n_left_out = lesson.n_left_out;
    }
    ranking_close(&s.ranking);
    return rc;
}

/* ----------------------------------------------------------------------------- several runs */

/* The regions of a run among those of all, [n] to be freed; lines may be others (call_sites.h).
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

/* Whether a region of a run is the function of the runs before; where lines do not say which of
 * several it is, those that are known by the same name are the same. */
static bool is_foi(const struct pooled *p, const struct definitions *defs, uint32_t region)
{
    uint32_t foi = names_find(&p->defs.names, p->foi);
    uint32_t same =
        call_sites_same(&defs->names, defs->names.n, region, &p->defs.names, p->defs.names.n);

    if (same == NAMES_NONE)
        return strcmp(defs->region[region].identity, p->defs.region[foi].identity) == 0;
    return same == foi;
}

int pooled_find(const struct pooled *p, const struct run *run, int64_t *foi)
{
    sqlite3_stmt *query;
    int rc;

    *foi = 0;
    if (p->foi == NULL)
        return 0;
    rc = rundb_prepare(run->db, run_sql_fois_regions, &query);
    while (rc == 0 && *foi == 0 && sqlite3_step(query) == SQLITE_ROW) {
        int64_t region = sqlite3_column_int64(query, 1);

        if (region >= 0 && region < run->defs.names.n &&
            is_foi(p, &run->defs, (uint32_t)region))
            *foi = sqlite3_column_int64(query, 0);
    }
    return rundb_close_query(run->db, query, rc, "cannot read the functions of interest");
}

int pooled_add(struct pooled *p, const struct run *run, int64_t foi)
{
    uint32_t region = 0, first = p->defs.n_locations, *map = NULL;
    struct scoring one = {0};
    int rc = run_scoring_region(run->db, &run->defs, foi, &region);

    if (rc == 0 && p->foi && !is_foi(p, &run->defs, region))
        rc = err_set(ERR_NOT_FOUND, "its function of interest is '%s', not '%s'",
                     run->defs.region[region].short_name, p->foi);
    if (rc == 0)
        map = map_regions(p, &run->defs);
    if (rc == 0 && p->foi)
        map[region] = names_find(&p->defs.names, p->foi);
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
    s->calibration.strong = calibration_strong(
        &s->calibration, (double)s->forest.n_trees / p->n_runs, RESIDUAL_FALSE_ALARMS);
    return scoring_judge(s, &opts);
}

int pooled_model(struct pooled *p, struct model *out)
{
    struct scoring s = {0};
    int rc = judge(p, &s);

    *out = (struct model){.foi = NULL};
    if (rc == 0) {
        take_learnt(out, &s, p->foi, p->traces, NULL);
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
