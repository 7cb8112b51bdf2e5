/* snag model -- save what a run taught, and look into such a file. */
#include "analysis/run_model.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "compare/run_history.h"
#include "learn/model_file.h"
#include "ps/ps_tables.h"
#include "run/rundb.h"
#include "view/executions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SAME_TIME 1e-9 /* of it: a history has sums of numbers that are rounded */

/* ------------------------------------------------------------------------------------ save */

/*
 * What is there and is no model is not replaced: it is an input, and FILE was forgotten.
 *   is_such  whether a file is what will be written
 */
static int check_file(const char *file, bool (*is_such)(const char *path))
{
    return fs_bytes(file) > 0 && !is_such(file)
               ? err_set(ERR_EXISTS,
                         "exists and is not a model: '%s' is left alone (the last argument is "
                         "the file to write)",
                         file)
               : 0;
}

static void print_saved(const struct settings *settings, const struct model *m,
                        uint32_t n_left_out)
{
    const char *run = settings->args[1], *file = settings->args[2];
    bool one = n_left_out == 1;

    if (settings->is_json) {
        print_json(json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "model", json_text(file), "foi",
                             json_text(m->foi), "trees", (json_int_t)m->n_trees, "abnormal",
                             (json_int_t)m->n_abnormal, "normal", (json_int_t)m->n_normal,
                             "left_out", (json_int_t)n_left_out),
                   false);
        return;
    }
    print("%s: %u executions of %s, %u abnormal and %u normal labels\n", file, m->n_trees,
          m->foi, m->n_abnormal, m->n_normal);
    if (n_left_out > 0)
        print("%u label%s of the run %s not in the model, because the scores of the run are "
              "not learnt from %s: 'snag retrain %s' does that\n",
              n_left_out, one ? "" : "s", one ? "is" : "are", one ? "it" : "them", run);
}

static int save(const struct settings *settings)
{
    struct settings run = *settings;
    struct ranking_opts opts;
    struct learning l = {.foi = 0};
    struct model m = {.foi = NULL};
    uint32_t n_left_out;
    int rc = check_file(settings->args[2], model_file_is);

    run.args = settings->args + 1;
    if (rc == 0)
        rc = learning_open(&l, &run, false);
    if (rc == 0)
        rc = learning_opts(&l, settings, &opts);
    if (rc == 0)
        rc = run_model_make(&l.run, l.foi, &opts, &m, &n_left_out);
    if (rc == 0)
        rc = model_file_write(settings->args[2], &m);
    if (rc == 0)
        print_saved(settings, &m, n_left_out);
    model_release(&m);
    learning_close(&l);
    return rc;
}

/* What a parameter server has learnt of the calls of functions, for the servers of other jobs.
 */
static int save_server(const struct settings *settings)
{
    const char *file = settings->args[2];
    struct ps_snapshot snapshot = {0};
    uint32_t n_clients = 0;
    int rc = check_file(file, ps_snapshot_is);

    if (rc == 0)
        rc = ps_ask_any(settings->args[1], settings->curve_key, &snapshot, &n_clients);
    snapshot.upstream.n = 0; /* of who loads it, nothing was told to a server above */
    if (rc == 0)
        rc = ps_snapshot_write(&snapshot, file);
    if (rc == 0 && settings->is_json)
        print_json(json_pack("{s:o, s:I, s:I}", "model", json_text(file), "functions",
                             (json_int_t)snapshot.n_functions, "clients",
                             (json_int_t)n_clients),
                   false);
    else if (rc == 0)
        print("%s: models of %u functions, from %u client%s; 'snag ps --load %s' begins with "
              "them\n",
              file, snapshot.n_functions, n_clients, text_plural(n_clients), file);
    ps_snapshot_release(&snapshot);
    return rc;
}

/* --------------------------------------------------------------------- save, of several */

struct several {
    const struct settings *settings;
    struct pooled pooled;
    const char *history; /* that is gone through; NULL: none */
    uint32_t n_gone;     /* runs of it that are not there any more */
    struct stat *seen;   /* [n_seen] directories of runs */
    size_t n_seen, cap_seen;
};

/* Whether a run is there already, by this name or another: its executions would count twice. */
static bool is_seen(struct several *x, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return false;
    for (size_t i = 0; i < x->n_seen; i++)
        if (fs_is_same(&x->seen[i], &info)) {
            log_warn("model", "'%s' is given twice: it counts once", path);
            return true;
        }
    *mem_push(&x->seen, &x->n_seen, &x->cap_seen) = info;
    return false;
}

/* Whether a run has the executions whose sums a history keeps: each night's run may have the
 * same path. */
static int find_same(const struct run *run, int64_t foi, const struct history_run *kept,
                     bool *is_same)
{
    sqlite3_stmt *query;
    int rc = rundb_query(run->db, &query,
                         "SELECT count(*), sum(duration_ns - tracer_ns) FROM execution "
                         "WHERE foi = ?",
                         "i", foi);

    *is_same = rc == 0 && sqlite3_step(query) == SQLITE_ROW &&
               (uint64_t)sqlite3_column_int64(query, 0) == kept->n_executions &&
               fabs(sqlite3_column_double(query, 1) - (double)kept->time_ns) <=
                   SAME_TIME * (double)kept->time_ns;
    return rundb_close_query(run->db, query, rc, "cannot read the executions");
}

static void leave_out(struct several *x, const struct history_run *kept, const char *why)
{
    log_warn("model", "%s: run %lld, '%s', %s", x->history, (long long)kept->id, kept->source,
             why);
    x->n_gone++;
}

/*
 *   said  what its function of interest is called, or NULL
 *   kept  what a history keeps of it, or NULL
 */
static int add_run(struct several *x, const char *path, const char *said,
                   const struct history_run *kept)
{
    bool is_same = true;
    struct run run = {0};
    int64_t foi = 0;
    int rc = run_open(&run, path, false);
    if (rc == 0)
        rc = pooled_find(&x->pooled, &run, &foi);
    if (rc == 0 && foi == 0)
        rc = executions_foi(run.db, said, &foi);
    if (rc == 0 && kept)
        rc = find_same(&run, foi, kept, &is_same);
    if (kept && (rc == ERR_NOT_FOUND || (rc == 0 && !is_same))) {
        leave_out(x, kept, "was replaced by another run");
        rc = 0;
    } else if (rc == 0 && !is_seen(x, path)) {
        rc = pooled_add(&x->pooled, &run, foi);
    }
    run_close(&run);
    return rc < 0 && strstr(err_message(), path) == NULL
               ? err_set(rc, "%s: %s", path, err_message())
               : rc;
}

/* A history keeps sums of a run: the executions are in the run itself, if it is still there. */
static int add_of_history(void *ctx, const struct history_run *run)
{
    struct several *x = ctx;

    if (!rundir_is_run(run->source)) {
        leave_out(x, run, "no longer exists");
        return 0;
    }
    return add_run(x, run->source, run->foi, run);
}

static int add_history(struct several *x, const char *path)
{
    const struct settings *s = x->settings;
    struct history_tags tags = {0};
    struct history_filter filter = {
        .foi = settings_foi(s), .tags = &tags, .last = s->history.last, .is_one = true};
    struct history history;
    int rc = tags_read(&s->history.tag, &tags);

    if (rc == 0)
        rc = history_open(&history, path, DATABASE_READ);
    if (rc == 0) {
        x->history = path;
        rc = history_each(&history, &filter, add_of_history, x);
        history_close(&history);
    }
    history_tags_release(&tags);
    return rc;
}

static int add_all(struct several *x)
{
    const struct settings *s = x->settings;
    int rc = 0;

    for (int i = 1; rc == 0 && i + 1 < s->n_args; i++)
        rc = history_is(s->args[i]) ? add_history(x, s->args[i])
                                    : add_run(x, s->args[i], settings_foi(s), NULL);
    if (rc == 0 && x->pooled.n_runs == 0)
        rc = err_set(ERR_NOT_FOUND, "%s: there is no run to learn from%s", x->history,
                     x->n_gone > 0 ? ": a history keeps sums, not executions" : "");
    return rc;
}

static void print_pooled(const struct several *x, const struct model *m)
{
    const char *file = x->settings->args[x->settings->n_args - 1];

    if (x->settings->is_json)
        print_json(json_pack("{s:o, s:o, s:I, s:I, s:I}", "model", json_text(file), "foi",
                             json_text(m->foi), "trees", (json_int_t)m->n_trees, "runs",
                             (json_int_t)x->pooled.n_runs, "gone", (json_int_t)x->n_gone),
                   false);
    else
        print("%s: %u executions of %s in %u run%s, without labels\n", file, m->n_trees, m->foi,
              x->pooled.n_runs, x->pooled.n_runs == 1 ? "" : "s");
}

static int save_several(const struct settings *settings)
{
    const char *file = settings->args[settings->n_args - 1];
    struct several x = {.settings = settings};
    struct model m = {.foi = NULL};
    int rc = settings->learning.learner
                 ? err_set(ERR_USAGE, "--learner needs a single run, several were given")
                 : check_file(file, model_file_is);

    if (rc == 0)
        rc = add_all(&x);
    if (rc == 0)
        rc = pooled_model(&x.pooled, &m);
    if (rc == 0)
        rc = model_file_write(file, &m);
    if (rc == 0)
        print_pooled(&x, &m);
    model_release(&m);
    pooled_release(&x.pooled);
    free(x.seen);
    return rc;
}

/* ------------------------------------------------------------------------------------ info */

static void print_info(const struct model *m)
{
    char text[TEXT_SIZE];

    print("function of interest  %s\n", m->foi);
    print("learnt from           %s\n", m->trace);
    print("executions            %s\n", text_count(m->n_trees, text));
    print("typical time          %s\n", text_duration(m->residual.root_ns, text));
    print("call paths            %s\n", text_count(m->residual.paths.n, text));
    print("contexts              %s\n", text_count(m->residual.class_id.n, text));
    print("judged by             %s\n", m->detector);
    if (m->svm.support.rows > 0) {
        print("on the features       %s\n", m->features);
        print("support vectors       %zu of %zu numbers, gamma %.4g\n", m->svm.support.rows,
              m->svm.support.cols, m->svm.gamma);
    }
    if (m->embedding.n_words > 0)
        print("subtrees              %s\n", text_count(m->embedding.n_words, text));
    print("labels                %u abnormal, %u normal\n", m->n_abnormal, m->n_normal);
    print("made                  %s by snag %s\n", m->made, m->snag);
}

static int info(const struct settings *settings)
{
    struct model m;
    int rc = model_file_read(settings->args[1], &m);

    if (rc == 0 && settings->is_json)
        print_json(
            json_pack("{s:o, s:o, s:I, s:f, s:I, s:I, s:o, s:o, s:I, s:I, s:f, s:I, s:I, s:o, "
                      "s:o}",
                      "foi", json_text(m.foi), "trace", json_text(m.trace), "trees",
                      (json_int_t)m.n_trees, "root_ns", m.residual.root_ns, "paths",
                      (json_int_t)m.residual.paths.n, "contexts",
                      (json_int_t)m.residual.class_id.n, "detector", json_text(m.detector),
                      "features", json_text(m.features), "support_vectors",
                      (json_int_t)m.svm.support.rows, "subtrees",
                      (json_int_t)m.embedding.n_words, "gamma", m.svm.gamma, "abnormal",
                      (json_int_t)m.n_abnormal, "normal", (json_int_t)m.n_normal, "made",
                      json_text(m.made), "snag", json_text(m.snag)),
            false);
    else if (rc == 0)
        print_info(&m);
    model_release(&m);
    return rc;
}

int cmd_model(const struct settings *settings)
{
    const char *verb = settings->args[0];
    int rc;

    if (strcmp(verb, "save") == 0 && settings->n_args == 3 &&
        (ps_ask_is_address(settings->args[1]) || ps_snapshot_is(settings->args[1])))
        rc = save_server(settings);
    else if (strcmp(verb, "save") == 0 &&
             (settings->n_args > 3 || (settings->n_args == 3 && history_is(settings->args[1]))))
        rc = save_several(settings);
    else if (strcmp(verb, "save") == 0 && settings->n_args == 3)
        rc = save(settings);
    else if (strcmp(verb, "info") == 0 && settings->n_args == 2)
        rc = info(settings);
    else
        rc = err_set(ERR_USAGE, "snag model save RUN ...|SERVER FILE, or snag model info FILE");
    return rc < 0 ? rc : STATUS_DONE;
}
