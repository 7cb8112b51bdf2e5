/*
 * Stages in the order of the pipeline, each timed. What one stage needed and the next does not
 * is released at once: a forest may be most of the run. Where several processes share the work,
 * process 0 leads the others through the stages up to the sentences, and goes on alone.
 */
#include "analysis/analysis.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "forest/tree_share.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WHOLE (1u << 20) /* vertices that are made again at a time */
#define NO_REGION UINT32_MAX

/* ------------------------------------------------------------------------ several processes */

/*
 * Process 0 says which function is next; that of no region says that there is none. The others
 * say first how many functions they know of.
 */

/* Functions that process 0 has made since the others read the definitions: loops. */
static void pack_functions(const struct definitions *defs, uint32_t from, struct pack *pack)
{
    for (uint32_t r = from; r < defs->names.n; r++) {
        const char *name = defs->region[r].name;

        pack_u32(pack, (uint32_t)defs->region[r].kind);
        pack_array(pack, name, strlen(name) + 1, 1);
    }
}

static void unpack_functions(struct definitions *defs, struct pack *pack)
{
    while (pack->at < pack->n) {
        uint32_t kind = unpack_u32(pack), region;
        char *name = unpack_array(pack, unpack_count(pack, 1), 1);

        region = definitions_region(defs, name);
        defs->region[region].kind = (enum region_kind)kind;
        free(name);
    }
}

/* defs: NULL with NO_REGION. */
static void order(struct process_group *process_group, const struct definitions *defs,
                  uint32_t region)
{
    struct pack pack = {0};

    for (unsigned p = 1; p < process_group_size(process_group); p++) {
        uint32_t n_known;

        process_group_receive(process_group, p, &n_known, sizeof n_known); /* the same of all */
        if (p == 1 && defs)
            pack_functions(defs, n_known, &pack);
    }
    process_group_broadcast(process_group, &region, sizeof region);
    if (region != NO_REGION)
        process_group_broadcast_pack(process_group, &pack);
    pack_release(&pack);
}

/* Returns the region that is next, or NO_REGION. */
static uint32_t await_order(struct process_group *process_group, struct definitions *defs)
{
    struct pack pack = {0};
    uint32_t region = NO_REGION;

    process_group_send(process_group, 0, &defs->names.n, sizeof defs->names.n);
    process_group_broadcast(process_group, &region, sizeof region);
    if (region == NO_REGION)
        return region;
    process_group_broadcast_pack(process_group, &pack);
    unpack_functions(defs, &pack);
    free(pack.data);
    return region;
}

static void sentences_release(struct sentences *s)
{
    for (unsigned i = 0; i < s->n_blobs; i++)
        free(s->blob[i]);
    free(s->blob);
    free(s->text);
    *s = (struct sentences){0};
}

/* Threads make those of the own executions. */
struct own_sentences {
    const struct scoring *part;
    struct why *why; /* [workers] */
    char **text;     /* [own] */
};

static void say(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct own_sentences *s = ctx;
    struct why *why = &s->why[worker];
    char text[WHY_SIZE];

    for (size_t t = begin; t < end; t++) {
        scoring_why(s->part, why, (uint32_t)t, text);
        s->text[t] = mem_copy_string(text);
    }
}

static void say_all(struct own_sentences *s, const struct scoring *part, struct pool *pool)
{
    uint32_t n = part->forest.n_trees;

    s->part = part;
    s->why = mem_alloc(pool_threads(pool), sizeof *s->why);
    s->text = mem_alloc(n, sizeof *s->text);
    for (unsigned w = 0; w < pool_threads(pool); w++)
        scoring_why_init(part, &s->why[w]);
    pool_for(pool, n, pool_grain(pool, n), say, s);
    for (unsigned w = 0; w < pool_threads(pool); w++)
        why_release(&s->why[w]);
    free(s->why);
}

/* Points at the sentences of all, in the order of executions, which each process has kept. */
static void point(struct sentences *out, const struct tree_share *share)
{
    const char **next = mem_alloc(out->n_blobs, sizeof *next);
    uint32_t t = 0;

    for (unsigned p = 0; p < out->n_blobs; p++)
        next[p] = out->blob[p];
    out->text = mem_alloc(share->n_all, sizeof *out->text);
    for (uint32_t l = 0; l < share->n_locations; l++)
        for (uint32_t i = 0; i < share->n_trees[l]; i++) {
            const char **text = &next[share->owner[l]];

            out->text[t++] = *text;
            *text += strlen(*text) + 1;
        }
    free(next);
}

/* Process 0 has those of all in `out`, which is NULL on the others. */
static void make_sentences(const struct scoring *part, struct pool *pool, struct sentences *out)
{
    const struct tree_share *share = part->share;
    struct own_sentences s;
    struct pack pack = {0};

    say_all(&s, part, pool);
    /* One after the other, each with the zero that ends it. */
    for (uint32_t t = 0; t < s.part->forest.n_trees; t++) {
        pack_bytes(&pack, s.text[t], strlen(s.text[t]) + 1);
        free(s.text[t]);
    }
    free(s.text);
    if (out == NULL) {
        process_group_send_pack(share->process_group, 0, &pack);
        pack_release(&pack);
        return;
    }
    out->n_blobs = process_group_size(share->process_group);
    out->blob = mem_alloc(out->n_blobs, sizeof *out->blob);
    out->blob[0] = (char *)pack.data;
    for (unsigned p = 1; p < out->n_blobs; p++) {
        process_group_receive_pack(share->process_group, p, &pack);
        out->blob[p] = (char *)pack.data;
    }
    point(out, share);
}

/* What a process has done, and sent since it started. */
struct done {
    uint64_t n_trees, n_vertices, n_sorted;
    struct process_group_tally tally;
};

void analysis_process_group_report(struct process_group *process_group, const char *command,
                                   const struct forest *own, uint64_t n_sorted)
{
    struct done done = {own->n_trees, own->n, n_sorted, process_group_tally(process_group)};

    if (process_group_me(process_group) > 0)
        process_group_send(process_group, 0, &done, sizeof done);
    for (unsigned p = 0;
         process_group_me(process_group) == 0 && p < process_group_size(process_group); p++) {
        if (p > 0)
            process_group_receive(process_group, p, &done, sizeof done);
        log_info(command,
                 "process %u of %u (%s): executions %" PRIu64 " calls %" PRIu64
                 " sorted %" PRIu64 " messages_sent %" PRIu64 " bytes_sent %" PRIu64
                 " peak_bytes %" PRIu64,
                 p, process_group_size(process_group), process_group_host(process_group, p),
                 done.n_trees, done.n_vertices, done.n_sorted, done.tally.n_sent,
                 done.tally.sent_bytes, done.tally.peak_bytes);
    }
}

/* What is asked of this process, and what process 0 gets. */
struct analysis_task {
    const struct analysis_process_group *process_group;
    const struct columns *columns;
    const struct definitions *defs;
    uint32_t region;
    struct paged *paged;
    const struct scoring_opts *opts; /* process 0 alone has these: */
    struct scoring *whole;
    struct sentences *sentences;
};

void analysis_process_group_deal(struct tree_share *share, struct process_group *process_group,
                                 const struct columns *columns, const struct definitions *defs)
{
    uint64_t *n_calls = mem_alloc(columns->n_locations, sizeof *n_calls);

    for (uint32_t l = 0; l < columns->n_locations; l++)
        n_calls[l] = columns->range[l].n_calls;
    tree_share_init(share, process_group, defs, n_calls);
    free(n_calls);
}

/* The same limits for all: those that process 0 was told. */
static int apply(const struct analysis_task *task, struct scoring *part)
{
    const struct model *model = task->process_group->model;
    struct scoring_opts opts = {.detector = detector_find(model->detector),
                                .features = feature_find(model->features),
                                .pool = task->process_group->pool};
    double said[2] = {0};

    if (task->opts) {
        said[0] = task->opts->threshold;
        said[1] = task->opts->false_alarms;
    }
    tree_share_tell(part->share, said, sizeof said);
    opts.threshold = said[0];
    opts.false_alarms = said[1];
    return scoring_apply_part(part, model, &opts, task->whole);
}

static int learn(const struct analysis_task *task, struct scoring *part)
{
    scoring_learn_part(part);
    return scoring_judge_parts(part, task->opts, task->whole);
}

/* The forest of the own locations is there. */
static int judge_and_say(const struct analysis_task *task, struct tree_share *share,
                         struct scoring *part)
{
    int rc;

    tree_share_count(share, &part->forest);
    if (share->n_all == 0)
        return err_set(ERR_NOT_FOUND, "'%s' is never called",
                       task->defs->region[task->region].name);
    part->share = share;
    rc = task->process_group->model ? apply(task, part) : learn(task, part);
    if (rc < 0)
        return rc;
    make_sentences(part, task->process_group->pool, task->sentences);
    analysis_process_group_report(share->process_group, "analyze", &part->forest,
                                  part->place.n_sorted);
    return 0;
}

/* rc: 0, or what went wrong before on this process. */
static int work(const struct analysis_task *task, int rc)
{
    struct scoring part = {.pool = task->process_group->pool, .paged = task->paged};
    struct tree_share share = {0};

    if (rc == 0) {
        analysis_process_group_deal(&share, task->process_group->process_group, task->columns,
                                    task->defs);
        rc = run_scoring_collect_part(&part, task->columns, task->defs, task->region,
                                      share.mine, share.n_mine);
    }
    rc = process_group_agree(task->process_group->process_group, rc);
    if (rc == 0)
        rc = judge_and_say(task, &share, &part);
    if (rc == 0 && task->whole)
        scoring_take_model(task->whole, &part);
    scoring_release(&part);
    tree_share_release(&share);
    return rc;
}

/*
 * On process 0: the executions of a function, with the others.
 *   opts       with a detector that needs no matrix
 *   scoring    zeroed, but for pool and paged; out: model, measures, scores and verdicts of
 *              all, but no forest yet: see scoring_complete
 */
static int lead(const struct analysis_process_group *process_group,
                const struct columns *columns, const struct definitions *defs, uint32_t region,
                const struct scoring_opts *opts, struct scoring *scoring,
                struct sentences *sentences)
{
    struct analysis_task task = {process_group,  columns, defs,    region,
                                 scoring->paged, opts,    scoring, sentences};

    order(process_group->process_group, defs, region);
    scoring->defs = defs;
    return work(&task, 0);
}

void analysis_process_group_dismiss(const struct analysis_process_group *process_group)
{
    if (process_group)
        order(process_group->process_group, NULL, NO_REGION);
}

void analysis_process_group_assist(const struct analysis_process_group *process_group,
                                   struct definitions *defs, const char *dir)
{
    struct paged *paged = paged_new(dir, PAGED_MIN_BYTES);
    struct columns columns = {0};
    bool is_open = false;
    uint32_t region, foi;
    int rc = 0;

    while ((region = await_order(process_group->process_group, defs)) != NO_REGION) {
        struct analysis_task task = {.process_group = process_group,
                                     .columns = &columns,
                                     .defs = defs,
                                     .region = region,
                                     .paged = paged};

        if (!is_open) {
            rc = columns_open(&columns, dir);
            columns_share(&columns, paged);
            if (process_group
                    ->model) /* process 0 has, and the functions are here that it added */
                model_adopt(process_group->model, defs, &foi);
            is_open = true;
        }
        work(&task, rc);
    }
    if (is_open) {
        columns_unshare(&columns, paged);
        columns_close(&columns);
    }
    paged_free(paged);
}

/* ----------------------------------------------------------------------------------- stages */

/* One function of interest on its way through the stages. */
struct analysis {
    const struct analysis_opts *opts;
    struct scoring_opts scoring_opts;
    struct scoring scoring;
};

static int choose(struct analysis *a)
{
    const struct analysis_opts *opts = a->opts;
    const struct model *model = opts->model;
    const char *features = model ? model->features : opts->features;
    const char *detector = model ? model->detector : opts->detector;
    char names[128];

    features = features ? features : SCORING_DEFAULT;
    detector = detector ? detector : SCORING_DEFAULT;
    a->scoring_opts = (struct scoring_opts){.detector = detector_find(detector),
                                            .features = feature_find(features),
                                            .k = opts->k,
                                            .threshold = opts->threshold,
                                            .false_alarms = opts->false_alarms,
                                            .gamma = opts->gamma,
                                            .nu = opts->nu,
                                            .seed = opts->seed,
                                            .pool = opts->pool};
    if (a->scoring_opts.features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'; there are %s", features,
                       text_names(feature_name, names, sizeof names));
    if (a->scoring_opts.detector == NULL)
        return err_set(ERR_USAGE, "no such detector: '%s'; there are %s", detector,
                       text_names(detector_name, names, sizeof names));
    a->scoring.embedding.opts = stack2vec_default();
    a->scoring.embedding.opts.seed = opts->seed;
    stack2vec_override(&a->scoring.embedding.opts, &opts->embedding);
    return stack2vec_check(&a->scoring.embedding.opts);
}

/* --------------------------------------------------------------------------------- public */

/* What trees as they were recorded have that they do not have without the tracer. */
static void count_whole(const struct scoring *w, struct forest *whole, struct idmap *subtrees,
                        struct analysis_result *result)
{
    uint32_t depth = forest_depth(whole, NULL, whole->n_trees);
    struct wl wl;

    wl_init(&wl, whole, w->defs, false, NULL);
    for (uint32_t i = 0; i < wl.vocab.label.n; i++)
        if (idmap_find(&w->wl.vocab.label, wl.vocab.label.key[i]) == IDMAP_NONE)
            idmap_add(subtrees, wl.vocab.label.key[i]);
    result->max_depth = depth > result->max_depth ? depth : result->max_depth;
    wl_release(&wl);
    forest_release(whole);
}

/*
 * What the tracer did is in none of the measures; but the numbers that describe the trees are
 * of all that is in the trace. Trees that have any of it are made again as they are there, some
 * at a time.
 */
static void count_tracer(const struct analysis *a, const struct columns *columns,
                         struct analysis_result *result)
{
    const struct scoring *w = &a->scoring;
    struct forest whole = {0};
    struct idmap subtrees = {0};

    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        uint32_t n = forest_n_rows(&w->forest, t);
        struct call_view calls;

        if (n == w->forest.first[t + 1] - w->forest.first[t])
            continue;
        if (whole.n == 0) /* at once; the last one of MAX_WHOLE may be as large as this */
            forest_grow(&whole, n + (w->forest.n < MAX_WHOLE ? w->forest.n : MAX_WHOLE), 0);
        calls = columns_view(columns, w->forest.location[t]);
        forest_of_call(&whole, w->forest.location[t], &calls, w->forest.call[t], NULL);
        result->n_vertices += n - (w->forest.first[t + 1] - w->forest.first[t]);
        if (whole.n >= MAX_WHOLE)
            count_whole(w, &whole, &subtrees, result);
    }
    if (whole.n_trees > 0)
        count_whole(w, &whole, &subtrees, result);
    result->n_subtrees += subtrees.n;
    idmap_release(&subtrees);
}

static void summarize(const struct analysis *a, struct analysis_result *result)
{
    const struct scoring *w = &a->scoring;

    result->n_trees = w->forest.n_trees;
    result->n_vertices = w->forest.n;
    result->max_depth = forest_depth(&w->forest, w->wl.kinds.first, w->wl.kinds.n);
    result->n_subtrees = w->wl.vocab.label.n;
    result->gamma = w->gamma;
    result->unseen = w->unseen;
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        result->n_messages += w->forest.n_messages[t];
        result->n_anomalies += w->is_anomaly[t];
    }
}

/* Alone: all executions are here. */
static int learn_and_judge(struct analysis *a, const struct columns *columns,
                           const struct definitions *defs, uint32_t region,
                           struct analysis_result *result)
{
    struct scoring *scoring = &a->scoring;
    uint64_t begin = clock_ns(), forest_at, features_at;
    int rc = run_scoring_collect(scoring, columns, defs, region);

    if (rc < 0)
        return rc;
    forest_at = clock_ns();
    if (a->opts->model)
        scoring_apply(scoring, a->opts->model, scoring_needs_bags(&a->scoring_opts));
    else
        scoring_learn(scoring, scoring_needs_bags(&a->scoring_opts));
    features_at = clock_ns();
    rc = scoring_judge(scoring, &a->scoring_opts);
    result->forest_ns = forest_at - begin;
    result->features_ns = features_at - forest_at;
    result->detect_ns = clock_ns() - features_at;
    return rc;
}

/* With others; then this process has all that it needs to go on alone. */
static int learn_together(struct analysis *a, const struct columns *columns,
                          const struct definitions *defs, uint32_t region,
                          struct sentences *sentences, struct analysis_result *result)
{
    struct scoring *scoring = &a->scoring;
    uint64_t begin = clock_ns(), features_at;
    int rc = lead(a->opts->process_group, columns, defs, region, &a->scoring_opts, scoring,
                  sentences);

    features_at = clock_ns();
    if (rc == 0)
        rc = run_scoring_collect(scoring, columns, defs, region);
    if (rc == 0)
        scoring_complete(scoring);
    result->features_ns = features_at - begin;
    result->forest_ns = clock_ns() - features_at;
    return rc;
}

int analysis_run(const struct columns *columns, const struct definitions *defs,
                 const struct analysis_foi *foi, const struct analysis_opts *opts,
                 const struct analysis_sink *sink, struct analysis_result *result)
{
    struct analysis a = {
        .opts = opts, .scoring.pool = opts->pool, .scoring.paged = opts->paged};
    struct sentences sentences = {0};
    struct analysed analysed = {.foi = foi,
                                .columns = columns,
                                .scoring = &a.scoring,
                                .opts = &a.scoring_opts,
                                .result = result};
    uint64_t begin;
    int rc = choose(&a);

    *result = (struct analysis_result){0};
    if (rc == 0 && opts->process_group && !a.scoring_opts.detector->needs_matrix) {
        analysed.sentences = &sentences;
        rc = learn_together(&a, columns, defs, foi->region, &sentences, result);
    } else if (rc == 0) {
        rc = learn_and_judge(&a, columns, defs, foi->region, result);
    }
    begin = clock_ns();
    if (rc == 0) {
        summarize(&a, result);
        count_tracer(&a, columns, result);
        rc = sink->take(sink->ctx, &analysed);
    }
    result->store_ns = clock_ns() - begin;
    sentences_release(&sentences);
    scoring_release(&a.scoring);
    return rc;
}
