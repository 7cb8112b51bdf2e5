/*
 * snag analyze -- from a trace to a run: reads all of it, analyses the functions of interest,
 * prints the strangest executions. The run appears when everything is in it.
 */
#include "analysis/analysis.h"
#include "analysis/label_store.h"
#include "analysis/per_call.h"
#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "view/executions.h"
#include "cmd/selection.h"
#include "cmd/list.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/status.h"
#include "cmd/strange_calls.h"
#include "forest/foi.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "run/rundir.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>

#define MOST_RUNS 1000 /* of the same name but for a number */

struct analyze {
    const struct settings *settings;
    struct rundir dir;
    struct analysis_foi foi[FOI_MOST];
    struct analysis_result result[FOI_MOST];
    uint32_t n_foi;
    struct stack2vec_opts embedding; /* what was said of it */
    bool is_suggested;
    char why[FOI_WHY_SIZE];       /* of the suggestion */
    struct model *model;          /* snag score: judge by it; NULL: learn */
    uint64_t n_strange, n_judged; /* calls, with --per-call */
    size_t n_labels, n_lost;      /* taken over from the run that is replaced; could not be */
};

/* -------------------------------------------------------------- functions of interest */

/* Short names, but for two that would then be alike. */
static void name_fois(struct analyze *a, const struct definitions *defs)
{
    for (uint32_t i = 0; i < a->n_foi; i++) {
        const struct region *region = &defs->region[a->foi[i].region];

        a->foi[i].id = i + 1;
        a->foi[i].name = region->short_name;
        for (uint32_t k = 0; k < a->n_foi; k++)
            if (k != i &&
                strcmp(defs->region[a->foi[k].region].short_name, region->short_name) == 0)
                a->foi[i].name = region->name;
    }
}

static int add_foi(struct analyze *a, uint32_t region)
{
    for (uint32_t i = 0; i < a->n_foi; i++)
        if (a->foi[i].region == region)
            return 0;
    if (a->n_foi == FOI_MOST)
        return err_set(ERR_USAGE, "more than %d functions of interest", FOI_MOST);
    a->foi[a->n_foi++].region = region;
    return 0;
}

static int suggest_foi(struct analyze *a, const struct reading *r)
{
    struct foi_suggestion suggestion;
    uint64_t total = 0;

    for (uint32_t l = 0; l < r->ingested.n_locations; l++)
        total += r->ingested.location[l].root_ns;
    if (foi_suggest(&r->source.defs, &r->ingested.profile, total, &suggestion, 1) == 0)
        return err_set(ERR_FORMAT, "no calls in '%s'", r->source.path);
    a->is_suggested = true;
    snprintf(a->why, sizeof a->why, "%s", suggestion.why);
    return add_foi(a, suggestion.region);
}

/* The function that the model is about. */
static int model_foi(struct analyze *a, const struct reading *r)
{
    uint32_t region = names_find(&r->source.defs.names, a->model->foi);

    if (region == NAMES_NONE || r->ingested.profile.row[region].n_calls == 0)
        return err_set(ERR_NOT_FOUND, "the model is about '%s', which is never called in '%s'",
                       a->model->foi, r->source.path);
    return add_foi(a, region);
}

static int choose_fois(struct analyze *a, const struct reading *r)
{
    int rc = a->model ? model_foi(a, r) : 0;

    for (uint32_t i = 0; rc == 0 && i < a->settings->n_foi; i++) {
        uint32_t region[FOI_MOST];
        size_t n;

        rc = foi_match(a->settings->foi[i], &r->source.defs, &r->ingested.profile, region, &n);
        for (size_t k = 0; rc == 0 && k < n; k++)
            rc = add_foi(a, region[k]);
    }
    if (rc == 0 && a->n_foi == 0)
        rc = suggest_foi(a, r);
    if (rc == 0)
        name_fois(a, &r->source.defs);
    return rc;
}

/* -------------------------------------------------------------------------- the run */

/* All calls, whatever their function. */
static int analyse_calls(struct analyze *a, const struct reading *r, sqlite3 *db,
                         const struct columns *columns)
{
    struct per_call_opts opts = per_call_default();
    struct per_call_result result;
    int rc;

    opts.detector = call_detector_find(a->settings->call_detector);
    opts.is_inclusive = a->settings->is_inclusive;
    opts.pool = r->pool;
    per_call_run(columns, &r->source.defs, &opts, &result);
    a->n_strange = result.n_anomalies;
    a->n_judged = result.n_judged;
    rc = per_call_save(db, columns, &result);
    per_call_release(&result);
    return rc;
}

static int analyse_all(struct analyze *a, const struct reading *r, sqlite3 *db)
{
    struct analysis_opts opts = {
        .features = a->settings->vectors.features,
        .detector = a->settings->detector,
        .k = a->settings->neighbours,
        .threshold = a->settings->threshold,
        .gamma = a->settings->vectors.gamma,
        .embedding = a->embedding,
        .seed = a->settings->seed,
        .pool = r->pool,
        .model = a->model,
    };
    struct columns columns;
    int rc = columns_open(&columns, a->dir.part);

    for (uint32_t i = 0; rc == 0 && i < a->n_foi; i++) {
        struct analysis_result *result = &a->result[i];

        rc = analysis_run(db, &columns, &r->source.defs, &a->foi[i], &opts, result);
        if (rc == 0)
            log_info("analyze",
                     "%s: forest %.1f ms, features %.1f ms, detector %.1f ms, storing %.1f ms",
                     a->foi[i].name, (double)result->forest_ns * 1e-6,
                     (double)result->features_ns * 1e-6, (double)result->detect_ns * 1e-6,
                     (double)result->store_ns * 1e-6);
    }
    if (rc == 0 && a->settings->is_per_call)
        rc = analyse_calls(a, r, db, &columns);
    columns_close(&columns);
    return rc;
}

/* Numbers the functions of the model as in the trace; the database gets those it has not. */
static int adopt_model(struct analyze *a, struct reading *r, sqlite3 *db)
{
    uint32_t n_before = r->source.defs.names.n, region;

    if (a->model == NULL)
        return 0;
    model_adopt(a->model, &r->source.defs, &region);
    return run_summary_uncalled(db, &r->source.defs, n_before);
}

/* A run that is replaced hands its labels on. */
static int inherit_labels(struct analyze *a, sqlite3 *db)
{
    struct database old = {.dir = -1};
    int dir, rc;

    if (!a->settings->is_forced || !rundir_is_run(a->dir.path))
        return 0;
    rc = fs_open_dir(a->dir.path, &dir);
    if (rc < 0)
        return rc;
    rc = rundb_open(dir, a->dir.path, false, &old);
    if (rc == 0)
        rc = label_store_inherit(db, old.sql, &a->n_labels, &a->n_lost);
    database_close(&old);
    close(dir);
    return rc;
}

static int write_database(struct analyze *a, struct reading *r)
{
    struct database db;
    int rc = rundb_create(a->dir.part, &db);

    if (rc == 0)
        rc = rundb_set_text(db.sql, "snag", SNAG_VERSION);
    if (rc == 0)
        rc = run_summary_save(db.sql, &r->source, &r->ingested);
    if (rc == 0)
        rc = adopt_model(a, r, db.sql);
    if (rc == 0)
        rc = analyse_all(a, r, db.sql);
    if (rc == 0)
        rc = inherit_labels(a, db.sql);
    if (rc == 0)
        rc = rundb_finish(db.sql);
    database_close(&db);
    return rc;
}

/* ----------------------------------------------------------------------- what is printed */

static void append_candidate(const struct execution *x, void *ctx)
{
    json_array_append_new(ctx, execution_to_json(x));
}

static json_t *unseen_to_json(const struct analysis_result *result)
{
    const struct stack2vec_unseen *subtrees = &result->unseen_subtrees;

    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "calls", (json_int_t)result->unseen.n_calls,
                     "executions", (json_int_t)result->unseen.n_trees, "subtrees",
                     (json_int_t)subtrees->n_words, "subtree_calls",
                     (json_int_t)subtrees->n_calls, "subtree_executions",
                     (json_int_t)subtrees->n_trees);
}

/* One object per function of interest. */
static int print_as_json(const struct analyze *a, const struct reading *r, sqlite3 *db)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < a->n_foi; i++) {
        const struct analysis_result *result = &a->result[i];
        struct execution_filter filter = selection_filter(a->settings);
        json_t *json = json_object(), *candidates = json_array(), *quality = json_object();

        filter.foi = a->foi[i].name;
        rc = executions_each(db, &filter, append_candidate, candidates);
        for (int k = 0; k < QUALITY_N; k++)
            if (r->ingested.quality.n[k] > 0)
                json_object_set_new(quality, quality_name(k),
                                    json_count(r->ingested.quality.n[k]));
        json_object_set_new(json, "run", json_text(a->dir.path));
        json_object_set_new(json, "foi", json_text(a->foi[i].name));
        json_object_set_new(json, "is_suggested", json_boolean(a->is_suggested));
        json_object_set_new(json, "trees", json_count(result->n_trees));
        json_object_set_new(json, "vertices", json_count(result->n_vertices));
        json_object_set_new(json, "messages", json_count(result->n_messages));
        json_object_set_new(json, "unique_subtrees", json_count(result->n_subtrees));
        json_object_set_new(json, "max_depth", json_count(result->max_depth));
        json_object_set_new(json, "anomalies", json_count(result->n_anomalies));
        json_object_set_new(json, "gamma",
                            result->gamma > 0 ? json_number(result->gamma) : json_null());
        if (a->model)
            json_object_set_new(json, "unseen", unseen_to_json(result));
        json_object_set_new(json, "candidates", candidates);
        json_object_set_new(json, "quality", quality);
        print_json(json, false);
    }
    return rc;
}

/* What the model could not judge. */
static void print_unseen(const struct analysis_result *result)
{
    const struct stack2vec_unseen *subtrees = &result->unseen_subtrees;
    char calls[TEXT_SIZE], trees[TEXT_SIZE], words[TEXT_SIZE];

    print("the model has never seen: %s call%s on other call paths, in %s execution%s\n",
          text_count(result->unseen.n_calls, calls), text_plural(result->unseen.n_calls),
          text_count(result->unseen.n_trees, trees), text_plural(result->unseen.n_trees));
    if (subtrees->n_words > 0)
        print("its embedding has never seen: %s different subtree%s, %s call%s, in %s "
              "execution%s\n",
              text_count(subtrees->n_words, words), text_plural(subtrees->n_words),
              text_count(subtrees->n_calls, calls), text_plural(subtrees->n_calls),
              text_count(subtrees->n_trees, trees), text_plural(subtrees->n_trees));
}

static void print_foi(const struct analyze *a, uint32_t i)
{
    const struct analysis_result *result = &a->result[i];
    char trees[TEXT_SIZE], vertices[TEXT_SIZE], messages[TEXT_SIZE], subtrees[TEXT_SIZE];

    if (a->is_suggested)
        print("no --foi given; taking the best suggestion, '%s': %s\n", a->foi[i].name, a->why);
    print("%s: %s execution%s, %s call%s, %s message%s, %s different subtree%s; %u anomal%s\n",
          a->foi[i].name, text_count(result->n_trees, trees), text_plural(result->n_trees),
          text_count(result->n_vertices, vertices), text_plural(result->n_vertices),
          text_count(result->n_messages, messages), text_plural(result->n_messages),
          text_count(result->n_subtrees, subtrees), text_plural(result->n_subtrees),
          result->n_anomalies, result->n_anomalies == 1 ? "y" : "ies");
    if (result->gamma > 0)
        print("kernel of the one-class SVM: gamma %.4g, %s\n", result->gamma,
              a->model                         ? "as in the model"
              : a->settings->vectors.gamma > 0 ? "as given"
                                               : "taken from the data");
    if (a->model)
        print_unseen(result);
}

static int print_calls(const struct analyze *a, sqlite3 *db)
{
    char strange[TEXT_SIZE], judged[TEXT_SIZE];
    int rc;

    print("%s strange calls of %s judged, those that lost most:\n\n",
          text_count(a->n_strange, strange), text_count(a->n_judged, judged));
    rc = strange_calls_print(db, a->settings);
    fputc('\n', stdout);
    return rc;
}

static void keep_first(const struct execution *x, void *ctx)
{
    char *id = ctx;

    if (*id == '\0')
        snprintf(id, EXECUTION_ID_SIZE, "%s", x->id);
}

static int print_as_text(const struct analyze *a, const struct reading *r, sqlite3 *db)
{
    char records[TEXT_SIZE], length[TEXT_SIZE], first[EXECUTION_ID_SIZE] = "";
    struct execution_filter filter = selection_filter(a->settings);
    int rc = 0;

    print("%s: %s events, %u location%s, %s\n", r->source.path,
          text_count(r->ingested.n_records, records), r->ingested.n_locations,
          r->ingested.n_locations == 1 ? "" : "s",
          text_duration((double)(r->ingested.end_ns - r->ingested.begin_ns), length));
    for (uint32_t i = 0; rc == 0 && i < a->n_foi; i++) {
        if (i > 0)
            fputc('\n', stdout);
        print_foi(a, i);
        fputc('\n', stdout);
        filter.foi = a->foi[i].name;
        rc = list_executions(db, &filter, false);
    }
    if (rc == 0 && a->settings->is_per_call)
        rc = print_calls(a, db);
    reading_print_quality(&r->ingested.quality, &r->ingested.clock);
    filter.foi = NULL;
    filter.most = 1;
    if (rc == 0)
        rc = executions_each(db, &filter, keep_first, first);
    if (a->n_labels > 0 || a->n_lost > 0)
        print("\n%zu label%s kept, %zu lost with executions that are gone; 'snag retrain %s' "
              "learns from them\n",
              a->n_labels, a->n_labels == 1 ? "" : "s", a->n_lost, a->dir.path);
    print("\nwritten to %s; look at the first: snag show %s '%s'\n", a->dir.path, a->dir.path,
          first);
    return rc;
}

static int print_result(const struct analyze *a, const struct reading *r)
{
    struct run run;
    int rc = run_open(&run, a->dir.path, false);

    if (rc == 0)
        rc = a->settings->is_json ? print_as_json(a, r, run.db) : print_as_text(a, r, run.db);
    run_close(&run);
    return rc;
}

/* What it took up to the finished columns; the benchmark reads this. */
static void log_reading(const struct reading *r)
{
    double wall_s = (double)(clock_ns() - r->begin_ns) * 1e-9, cpu_s;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    log_info(
        "analyze",
        "reading took %.1f ms: wall_s %.6f cpu_s %.6f peak_bytes %ld records %llu calls %llu",
        wall_s * 1e3, wall_s, cpu_s, usage.ru_maxrss * 1024,
        (unsigned long long)r->ingested.n_records, (unsigned long long)r->ingested.n_calls);
}

/* In the child, with the columns written. */
static int finish_run(struct reading *r)
{
    struct analyze *a = r->ctx;
    int rc;

    log_reading(r);
    rc = choose_fois(a, r);
    traffic_release(&r->ingested.traffic); /* is on disk */
    if (rc == 0)
        rc = write_database(a, r);
    if (rc == 0)
        rc = rundir_commit(&a->dir);
    if (rc == 0)
        rc = print_result(a, r);
    if (rc < 0)
        return rc;
    return quality_is_damaged(&r->ingested.quality) ? STATUS_DAMAGED : STATUS_DONE;
}

static void remove_part(void *ctx)
{
    rundir_abandon(&((struct analyze *)ctx)->dir);
}

/* "dir/name.otf2" -> "name"; "dir/traces.otf2" and "dir/" -> "dir". */
static void stem_of(const char *trace, char out[FS_PATH_SIZE])
{
    char copy[FS_PATH_SIZE], *base, *dot;
    size_t length;

    snprintf(copy, sizeof copy, "%s", strncmp(trace, "synth:", 6) == 0 ? "synth" : trace);
    if (strcmp(copy, "-") == 0)
        snprintf(copy, sizeof copy, "trace");
    length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    base = strrchr(copy, '/');
    if (base && strcmp(base, "/traces.otf2") == 0) {
        *base = '\0';
        base = strrchr(copy, '/');
    }
    base = base ? base + 1 : copy;
    dot = strchr(base + (*base == '.'), '.');
    if (dot)
        *dot = '\0';
    snprintf(out, FS_PATH_SIZE, "%.4000s", *base ? base : "trace");
}

/* "name.snag", or, as labels may be in one that is there, "name-2.snag" and so on. */
static int default_output(const char *trace, bool may_replace, char out[FS_PATH_SIZE])
{
    char stem[FS_PATH_SIZE];

    stem_of(trace, stem);
    snprintf(out, FS_PATH_SIZE, "%.4000s.snag", stem);
    for (int i = 2; fs_exists(out) && !may_replace; i++) {
        if (i == MOST_RUNS)
            return err_set(ERR_EXISTS, "there are '%s' and many like it: say --output", out);
        snprintf(out, FS_PATH_SIZE, "%.4000s-%d.snag", stem, i);
    }
    return 0;
}

static int analyze(const struct settings *settings, struct model *model)
{
    struct analyze a = {.settings = settings, .model = model};
    char output[FS_PATH_SIZE];
    int rc = learning_embedding(settings, &a.embedding);

    if (rc < 0)
        return rc;
    if (settings->output)
        snprintf(output, sizeof output, "%s", settings->output);
    else
        rc = default_output(settings->args[0], settings->is_forced, output);
    if (rc == 0)
        rc = rundir_begin(&a.dir, output, settings->is_forced);
    if (rc < 0)
        return rc;
    rc = reading_run(settings, settings->args[0], a.dir.part, finish_run, remove_part, &a);
    remove_part(&a);
    return rc;
}

int cmd_analyze(const struct settings *settings)
{
    return analyze(settings, NULL);
}

int cmd_score(const struct settings *settings)
{
    struct model model = {.foi = NULL};
    int rc;

    if (settings->model == NULL)
        return err_set(ERR_USAGE,
                       "a model is missing: --model FILE (snag model save RUN FILE)");
    if (rundir_is_run(settings->model))
        return err_set(ERR_USAGE,
                       "'%s' is a run, not a model; 'snag model save %s FILE' makes one of it",
                       settings->model, settings->model);
    rc = model_file_read(settings->model, &model);
    if (rc == 0)
        rc = analyze(settings, &model);
    model_release(&model);
    return rc;
}
