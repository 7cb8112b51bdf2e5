/*
 * snag analyze -- from a trace to a run: reads all of it, analyses the functions of interest,
 * prints the strangest executions. The run appears when everything is in it.
 */
#include "analysis/analysis.h"
#include "analysis/run_maker.h"
#include "base/cleaner.h"
#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd_list.h"
#include "cmd/commands.h"
#include "cmd/headline.h"
#include "cmd/launcher.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "run/rundir.h"
#include "view/executions.h"
#include "view/incident_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>

#define MAX_RUNS 1000 /* of the same name but for a number */

struct analyze {
    const struct settings *settings;
    struct rundir dir;
    struct cleaner cleaner; /* of what processes leave that were killed together */
    struct run_made made;
    struct stack2vec_opts embedding; /* what was said of it */
    struct per_call_opts per_call;   /* for --per-call */
    struct model *model;             /* snag score: judge by it; NULL: learn */
};

/* ----------------------------------------------------------------------- what is printed */

static void append_candidate(const struct execution *x, void *ctx)
{
    json_array_append_new(ctx, execution_to_json(x));
}

struct lost_ranks {
    json_t *rows;
    bool are_few; /* what is lost is not known */
};

static json_t *lost_json(uint64_t lost_ns, bool are_few)
{
    return are_few ? json_null() : json_count(lost_ns);
}

static void append_rank(const struct lost *lost, void *ctx)
{
    const struct lost_ranks *ranks = ctx;

    json_array_append_new(ranks->rows,
                          json_pack("{s:I, s:I, s:I, s:o, s:I}", "rank", (json_int_t)lost->rank,
                                    "executions", (json_int_t)lost->n_executions, "duration_ns",
                                    (json_int_t)lost->duration_ns, "lost_ns",
                                    lost_json(lost->lost_ns, ranks->are_few), "tracer_ns",
                                    (json_int_t)lost->tracer_ns));
}

static json_t *unseen_to_json(const struct analysis_result *result)
{
    const struct stack2vec_unseen *subtrees = &result->unseen.subtrees;

    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "calls", (json_int_t)result->unseen.n_calls,
                     "executions", (json_int_t)result->unseen.n_trees, "subtrees",
                     (json_int_t)subtrees->n_words, "subtree_calls",
                     (json_int_t)subtrees->n_calls, "subtree_executions",
                     (json_int_t)subtrees->n_trees);
}

static void append_slow(const struct slow_place *x, void *ctx)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "place", json_text(x->place), "verdict",
                             json_text(x->verdict), "excess_ns", json_count(x->excess_ns),
                             "cost_ns", x->has_cost ? json_count(x->cost_ns) : json_null());

    json_set_range(json, x->has_range, x->cost_least_ns, x->cost_most_ns);
    json_object_set_new(json, "why", json_text(x->why));
    json_array_append_new(ctx, json);
}

/* One object per function of interest. */
static int print_as_json(const struct analyze *a, const struct reading *r, sqlite3 *db)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < a->made.n_foi; i++) {
        const struct analysis_result *result = &a->made.result[i];
        struct execution_filter filter = selection_filter(a->settings);
        json_t *json = json_object(), *candidates = json_array(), *quality = json_object();
        json_t *slow = json_array();
        struct lost_ranks ranks = {.rows = json_array()};
        struct anomalies_cost cost = {.is_known = false};
        struct lost all;

        filter.foi = a->made.foi[i].name;
        rc = executions_each(db, &filter, append_candidate, candidates);
        if (rc == 0)
            rc = executions_are_few(db, a->made.foi[i].id, &ranks.are_few);
        if (rc == 0)
            rc = executions_lost(db, a->made.foi[i].id, append_rank, &ranks, &all);
        if (rc == 0)
            rc = executions_cost(db, a->made.foi[i].id, &cost);
        if (rc == 0)
            rc = executions_slow_places(db, a->made.foi[i].id, append_slow, slow);
        for (int k = 0; k < QUALITY_N; k++)
            if (r->ingested.quality.n[k] > 0)
                json_object_set_new(quality, quality_name(k),
                                    json_count(r->ingested.quality.n[k]));
        json_object_set_new(json, "run", json_text(a->dir.path));
        json_object_set_new(json, "foi", json_text(a->made.foi[i].name));
        json_object_set_new(json, "is_suggested", json_boolean(a->made.is_suggested));
        json_object_set_new(json, "trees", json_count(result->n_trees));
        json_object_set_new(json, "vertices", json_count(result->n_vertices));
        json_object_set_new(json, "messages", json_count(result->n_messages));
        json_object_set_new(json, "unique_subtrees", json_count(result->n_subtrees));
        json_object_set_new(json, "max_depth", json_count(result->max_depth));
        json_object_set_new(json, "anomalies", json_count(result->n_anomalies));
        json_object_set_new(json, "is_few", json_boolean(ranks.are_few));
        json_object_set_new(json, "lost_ns", lost_json(all.lost_ns, ranks.are_few));
        json_object_set_new(json, "tracer_ns", json_count(all.tracer_ns));
        json_object_set_new(json, "anomalies_cost_ns",
                            cost.is_known ? json_count(cost.cost_ns) : json_null());
        json_object_set_new(json, "anomalies_carrying",
                            cost.is_known && !cost.is_bound ? json_count(cost.n_carrying)
                                                            : json_null());
        json_object_set_new(json, "lost_by_rank", ranks.rows);
        json_object_set_new(json, "slow_places", slow);
        json_object_set_new(json, "gamma",
                            result->gamma > 0 ? json_number(result->gamma) : json_null());
        if (a->model)
            json_object_set_new(json, "unseen", unseen_to_json(result));
        json_object_set_new(json, "candidates", candidates);
        json_object_set_new(json, "quality", quality);
        json_object_set_new(json, "left_out", left_out_json(&r->source.defs));
        print_json(json, false);
    }
    return rc;
}

/* What the model could not judge. */
static void print_unseen(const struct analysis_result *result)
{
    const struct stack2vec_unseen *subtrees = &result->unseen.subtrees;
    char calls[TEXT_SIZE], trees[TEXT_SIZE], words[TEXT_SIZE];

    print("the model has never seen: %s call%s on other call paths, in %s execution%s\n",
          text_count(result->unseen.n_calls, calls), text_plural(result->unseen.n_calls),
          text_count(result->unseen.n_trees, trees), text_plural(result->unseen.n_trees));
    if (subtrees->n_words > 0)
        print("the embedding of the model (stack2vec) has never seen: %s different subtree%s, "
              "%s call%s, in %s execution%s; these are described less exactly\n",
              text_count(subtrees->n_words, words), text_plural(subtrees->n_words),
              text_count(subtrees->n_calls, calls), text_plural(subtrees->n_calls),
              text_count(subtrees->n_trees, trees), text_plural(subtrees->n_trees));
}

/* What is called often enough, where what was suggested is not. */
static void print_often(const struct run_made *made, const struct definitions *defs)
{
    char *name;

    if (made->often == NAMES_NONE)
        return;
    name = command_line_word(defs->region[made->often].short_name);
    print("called more often: --foi %s: %s\n", name, made->often_why);
    free(name);
}

static int print_foi(const struct analyze *a, sqlite3 *db, uint32_t i)
{
    const struct analysis_result *result = &a->made.result[i];
    const struct headline_foi headline = {
        .name = a->made.foi[i].name,
        .n_trees = result->n_trees,
        .n_vertices = result->n_vertices,
        .n_messages = result->n_messages,
        .n_subtrees = result->n_subtrees,
        .n_anomalies = result->n_anomalies,
    };
    int rc;

    if (a->made.is_suggested)
        print("no --foi given; taking the best suggestion, '%s': %s\n", a->made.foi[i].name,
              a->made.why);
    rc = headline_print(db, a->made.foi[i].id, &headline);
    if (result->gamma > 0)
        print("kernel of the one-class SVM: gamma %.4g, %s\n", result->gamma,
              a->model                         ? "as in the model"
              : a->settings->vectors.gamma > 0 ? "as given"
                                               : "taken from the data");
    if (a->model)
        print_unseen(result);
    return rc;
}

static int print_lost(const struct analyze *a, sqlite3 *db, uint32_t i)
{
    struct outcome_lost lost;
    int rc = outcome_lost(db, a->made.foi[i].id, &lost);

    if (rc == 0)
        print("\n%s\n", lost.text);
    return rc;
}

static int print_calls(const struct analyze *a, sqlite3 *db)
{
    char strange[TEXT_SIZE], judged[TEXT_SIZE];
    int rc;

    print("%s strange calls of %s judged, those that lost most:\n\n",
          text_count(a->made.n_strange, strange), text_count(a->made.n_judged, judged));
    rc = strange_calls_print(db, a->settings);
    strange_calls_print_slight(a->made.n_slight, a->made.least_lost_ns);
    fputc('\n', stdout);
    return rc;
}

static void keep_first(const struct incident_row *x, void *ctx)
{
    snprintf(ctx, EXECUTION_ID_SIZE, "%s", x->head);
}

static void keep_strangest(const struct execution *x, void *ctx)
{
    snprintf(ctx, EXECUTION_ID_SIZE, "%s", x->id);
}

static void count_slow(const struct slow_place *x, void *ctx)
{
    (void)x;
    ++*(unsigned *)ctx;
}

/* What to look at now: what is listed first; who is slow again and again, where no execution
 * is an anomaly; or what is nearest to being one, or least like the few that there are. */
static int print_next(const struct analyze *a, sqlite3 *db, struct execution_filter filter)
{
    const struct execution_filter all = {.rank = filter.rank, .most = 1};
    const char *run = a->dir.path, *what = "look at the first";
    char first[EXECUTION_ID_SIZE] = "";
    bool is_brief = list_is_brief(&filter);
    unsigned n_slow = 0;
    uint64_t n_trees = 0;
    bool are_few = false;
    int rc = 0;

    for (uint32_t i = 0; i < a->made.n_foi; i++)
        n_trees += a->made.result[i].n_trees;
    filter.foi = NULL;
    filter.most = 1;
    if (is_brief) {
        filter.verdict = "anomaly";
        rc = incident_list_each(db, &filter, keep_first, first);
        filter.verdict = NULL;
    }
    for (uint32_t i = 0; rc == 0 && first[0] == '\0' && i < a->made.n_foi; i++)
        rc = executions_slow_places(db, a->made.foi[i].id, count_slow, &n_slow);
    if (rc == 0)
        rc = executions_are_few(db, 0, &are_few);
    if (rc == 0 && first[0] == '\0') {
        what = !is_brief      ? what
               : n_trees == 1 ? "the only execution"
               : are_few      ? "least like the others"
                              : "nearest to an anomaly";
        rc = is_brief ? executions_each(db, &all, keep_strangest, first)
                      : incident_list_each(db, &filter, keep_first, first);
    }
    if (n_slow > 0)
        print("\nwritten to %s; look at the ranks: snag ranks %s\n", run, run);
    else
        print("\nwritten to %s; %s: snag show %s '%s'\n", run, what, run, first);
    return rc;
}

static int print_as_text(const struct analyze *a, const struct reading *r, sqlite3 *db)
{
    const struct headline_trace headline = {
        .path = r->source.path,
        .n_records = r->ingested.n_records,
        .length_ns = r->ingested.end_ns - r->ingested.begin_ns,
        .n_locations = r->ingested.n_locations,
        .kind = trace_kind_of(&r->source.defs),
    };
    char *text = headline_trace(&headline);
    struct execution_filter filter = selection_filter(a->settings);
    int rc = 0;

    print("%s\n", text);
    free(text);
    for (uint32_t i = 0; rc == 0 && i < a->made.n_foi; i++) {
        if (i > 0)
            fputc('\n', stdout);
        rc = print_foi(a, db, i);
        fputc('\n', stdout);
        filter.foi = a->made.foi[i].name;
        if (rc == 0)
            rc = list_incidents(db, &filter, false);
        if (rc == 0 && a->made.is_suggested)
            print_often(&a->made, &r->source.defs);
        if (rc == 0)
            rc = print_lost(a, db, i);
    }
    if (rc == 0 && a->settings->is_per_call)
        rc = print_calls(a, db);
    left_out_print(&r->source.defs);
    reading_print_quality(&r->ingested.quality, &r->ingested.clock);
    if (a->made.n_labels > 0 || a->made.n_lost > 0)
        print("\n%zu label%s kept, %zu dropped, whose executions are not in the new run; 'snag "
              "retrain %s' learns from the labels\n",
              a->made.n_labels, a->made.n_labels == 1 ? "" : "s", a->made.n_lost, a->dir.path);
    return rc < 0 ? rc : print_next(a, db, filter);
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

/* More anomalies than --fail-on allows, of any function of interest. */
static bool is_beyond(const struct analyze *a)
{
    bool is_any = false;

    for (uint32_t i = 0; i < a->made.n_foi; i++) {
        double share = (double)a->made.result[i].n_anomalies / a->made.result[i].n_trees;

        if (!(share > a->settings->most_anomalies))
            continue;
        is_any = true;
        if (!a->settings->is_json)
            print("%.3g %% of the executions of %s are anomalies, the limit is %.3g %%\n",
                  100 * share, a->made.foi[i].name, 100 * a->settings->most_anomalies);
    }
    return is_any;
}

/* In the child, with the columns written. */
static int finish_run(struct reading *r)
{
    struct analyze *a = r->ctx;
    const struct settings *s = a->settings;
    const struct analysis_process_group process_group = {r->process_group, r->share_pool,
                                                         a->model};
    char *command = command_line(s);
    struct run_maker_opts opts = {
        .foi = s->foi.text,
        .n_foi = s->foi.n,
        .analysis = {.features = s->vectors.features,
                     .detector = s->detector,
                     .k = s->neighbours,
                     .threshold = s->threshold,
                     .false_alarms = s->false_alarms,
                     .gamma = s->vectors.gamma,
                     .nu = s->vectors.nu,
                     .embedding = a->embedding,
                     .seed = s->seed,
                     .pool = r->pool,
                     .process_group = r->process_group ? &process_group : NULL},
        .model = a->model,
        .per_call = s->is_per_call ? &a->per_call : NULL,
        .keeps_labels = s->is_forced,
        .command = command,
        .levels_from = s->levels_from,
        .run_id = s->said_run_id};
    int rc;

    a->per_call.pool = r->pool;
    log_reading(r);
    rc = run_make(&a->dir, &r->source, &r->ingested, &opts, &a->made);
    analysis_process_group_dismiss(opts.analysis.process_group);
    free(command);
    if (rc == 0)
        rc = print_result(a, r);
    if (rc < 0)
        return rc;
    if (is_beyond(a))
        return STATUS_BEYOND;
    return quality_is_damaged(&r->ingested.quality) ? STATUS_DAMAGED : STATUS_DONE;
}

/* The other processes, meanwhile. */
static void assist(struct reading *r)
{
    const struct analyze *a = r->ctx;
    const struct analysis_process_group process_group = {r->process_group, r->pool, a->model};

    analysis_process_group_assist(&process_group, &r->source.defs, r->dir);
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
        if (i == MAX_RUNS)
            return err_set(
                ERR_EXISTS,
                "'%s' and the %d names before it are taken: choose another with --output", out,
                MAX_RUNS - 2);
        snprintf(out, FS_PATH_SIZE, "%.4000s-%d.snag", stem, i);
    }
    return 0;
}

/* Where the run is made; of several processes number 0 does that. */
static int begin_run(void *ctx, const struct launched *launched)
{
    struct analyze *a = ctx;
    const struct settings *settings = a->settings;
    char output[FS_PATH_SIZE];
    int rc = 0;

    if (launched->me > 0)
        return 0;
    if (settings->output)
        snprintf(output, sizeof output, "%s", settings->output);
    else
        rc = default_output(settings->args[0], settings->is_forced, output);
    if (rc == 0)
        rc = rundir_begin(&a->dir, output, settings->is_forced);
    if (rc == 0 && launched->size > 1)
        rc = cleaner_start(&a->cleaner, a->dir.part);
    return rc;
}

/* What is said of how single calls are judged. */
static int settle_per_call(const struct settings *settings, struct per_call_opts *opts)
{
    *opts = per_call_default();
    opts->is_inclusive = settings->is_inclusive;
    if (settings->least_lost_ns != MIN_LOST_UNSAID)
        opts->least_lost_ns = (double)settings->least_lost_ns;
    return algo_file_settle(settings, &opts->detector, &opts->detector_opts);
}

/* rc: of what came before. */
static int analyze(const struct settings *settings, struct model *model, int rc)
{
    struct analyze a = {.settings = settings, .model = model};
    struct reading_task task = {.dir = a.dir.part,
                                .begin = begin_run,
                                .then = finish_run,
                                .assist = assist,
                                .clean_up = remove_part,
                                .ctx = &a};

    task.rc = rc == 0 ? learning_embedding(settings, &a.embedding) : rc;
    if (task.rc == 0)
        task.rc = settle_per_call(settings, &a.per_call);
    rc = reading_run(settings, &task);
    remove_part(&a);
    cleaner_dismiss(&a.cleaner);
    return rc;
}

int cmd_analyze(const struct settings *settings)
{
    return analyze(settings, NULL, 0);
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
    rc = analyze(settings, &model, rc);
    model_release(&model);
    return rc;
}
