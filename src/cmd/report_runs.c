/*
 * What is said of several runs: the tables of snag compare and snag history show, in a page,
 * and figures of the same: the tree of what changed, and the trend of a history.
 *
 * The times of a tree's nodes are exclusive: those of what is below add up to what is drawn.
 */
#include "cmd/report_runs.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd_compare.h"
#include "cmd/cmd_history.h"
#include "cmd/cmd_report.h"
#include "cmd/compared.h"
#include "cmd/print.h"
#include "cmd/report_run.h"
#include "cmd/settings.h"
#include "view/compare_json.h"
#include "view/html.h"
#include "view/results_json.h"

#include <math.h>
#include <stdlib.h>

#define NARROWEST 0.002    /* of an execution: what takes less is not drawn */
#define MAX_DEPTH 14u      /* rows of the drawing */
#define MAX_NAME 200u      /* bytes */
#define TREND_BYTES 150000 /* what stands beside the points is left out beyond this */

/* ------------------------------------------------------------------------------------ tree */

/* Of each node of a tree. */
struct weights {
    json_int_t *inclusive[2]; /* before, after */
    uint32_t *depth, *parent, *n_below;
    bool *is_kept;
    uint32_t n;
};

static json_int_t time_of(const json_t *node, int side)
{
    return json_integer_value(json_array_get(json_object_get(node, "time_ns"), (size_t)side));
}

static void weigh(struct weights *w, const json_t *nodes, double narrowest)
{
    w->n = (uint32_t)json_array_size(nodes);
    w->depth = mem_alloc(w->n + 1, sizeof *w->depth);
    w->parent = mem_alloc(w->n + 1, sizeof *w->parent);
    w->n_below = mem_alloc(w->n + 1, sizeof *w->n_below);
    w->is_kept = mem_alloc(w->n + 1, sizeof *w->is_kept);
    for (int side = 0; side < 2; side++)
        w->inclusive[side] = mem_alloc(w->n + 1, sizeof *w->inclusive[side]);
    for (uint32_t i = 0; i < w->n; i++) {
        const json_t *node = json_array_get(nodes, i);

        w->parent[i] = (uint32_t)json_integer_value(json_object_get(node, "parent"));
        w->depth[i] = i > 0 ? w->depth[w->parent[i]] + 1 : 0;
        for (int side = 0; side < 2; side++)
            w->inclusive[side][i] = time_of(node, side);
    }
    for (uint32_t i = w->n; i-- > 1;) {
        w->n_below[w->parent[i]] += w->n_below[i] + 1;
        for (int side = 0; side < 2; side++)
            w->inclusive[side][w->parent[i]] += w->inclusive[side][i];
    }
    for (uint32_t i = 0; i < w->n; i++) {
        bool is_wide = false;

        for (int side = 0; side < 2; side++)
            is_wide |=
                (double)w->inclusive[side][i] >= narrowest * (double)w->inclusive[side][0] &&
                w->inclusive[side][i] > 0;
        w->is_kept[i] =
            i == 0 || (w->is_kept[w->parent[i]] && w->depth[i] < MAX_DEPTH && is_wide);
    }
}

static void weights_release(struct weights *w)
{
    free(w->inclusive[0]);
    free(w->inclusive[1]);
    free(w->depth);
    free(w->parent);
    free(w->n_below);
    free(w->is_kept);
}

/* What is left out of the paths that one calls, together. */
struct rest {
    json_int_t ns[2];
    uint32_t n;
};

static json_t *rest_node(const struct rest *rest, uint32_t parent)
{
    return json_pack("{s:o, s:o, s:s, s:[I, I], s:[i, i], s:[i, i], s:b, s:n}", "name",
                     json_sprintf("%u more call path%s", rest->n, rest->n == 1 ? "" : "s"),
                     "parent", json_count(parent), "verdict", "unsure", "time_ns", rest->ns[0],
                     rest->ns[1], "calls", 0, 0, "executions", 0, 0, "is_waiting", 0, "from");
}

static void cut_text(json_t *node, const char *field)
{
    const char *text = json_string_value(json_object_get(node, field));
    char part[MAX_NAME + 1];

    if (text == NULL)
        return;
    snprintf(part, html_whole(text, MAX_NAME) + 1, "%s", text);
    json_object_set_new(node, field, json_text(part));
}

void report_tree_prune(json_t *tree, double narrowest)
{
    json_t *nodes = json_object_get(tree, "nodes"), *kept = json_array();
    struct weights w;
    struct rest *rest;
    uint32_t *at, n = 0;

    weigh(&w, nodes, narrowest);
    rest = mem_alloc(w.n + 1, sizeof *rest);
    at = mem_alloc(w.n + 1, sizeof *at);
    for (uint32_t i = 0; i < w.n; i++) {
        json_t *node = json_array_get(nodes, i);

        if (w.is_kept[i]) {
            at[i] = n++;
            if (i > 0)
                json_object_set_new(node, "parent", json_count(at[w.parent[i]]));
            json_object_del(node, "path");
            cut_text(node, "name");
            cut_text(node, "from");
            json_array_append(kept, node);
        } else if (w.is_kept[w.parent[i]]) {
            rest[w.parent[i]].n += w.n_below[i] + 1;
            for (int side = 0; side < 2; side++)
                rest[w.parent[i]].ns[side] += w.inclusive[side][i];
        }
    }
    for (uint32_t i = 0; i < w.n; i++)
        if (rest[i].n > 0)
            json_array_append_new(kept, rest_node(&rest[i], at[i]));
    json_object_set_new(tree, "nodes", kept);
    json_object_set_new(tree, "kinds", json_array());
    free(at);
    free(rest);
    weights_release(&w);
}

/* What changed by call path. *is_in  out: there was room for it. */
static void report_add_tree(struct answers *answers, const struct comparison *c, bool *is_in)
{
    double narrowest = NARROWEST;
    json_t *tree = compare_tree_to_json(c);

    report_tree_prune(tree, narrowest);
    while (narrowest < 1 && json_dumpb(tree, NULL, 0, JSON_COMPACT) > REPORT_TREE_BYTES) {
        json_decref(tree);
        tree = compare_tree_to_json(c);
        narrowest *= 4;
        report_tree_prune(tree, narrowest);
    }
    answers_add(answers, REPORT_TREE_ADDRESS, tree, is_in);
}

/* ----------------------------------------------------------------------------------- trend */

static double largest_change(const struct trend_series *s)
{
    double largest = 0;

    for (uint32_t i = 0; i < s->n_changes; i++)
        largest = fmax(largest, fabs(s->change[i].after - s->change[i].before));
    return largest;
}

/* The whole, then those that changed most. */
static uint32_t choose_series(const struct trend *t, const char *path, uint32_t *series)
{
    uint32_t n = 1;

    series[0] = 0;
    for (uint32_t i = 1; i < t->n_series; i++) {
        uint32_t at = n;

        if (t->series[i].n_changes == 0 || !trend_is_on(t, i, path))
            continue;
        while (at > 1 &&
               largest_change(&t->series[series[at - 1]]) < largest_change(&t->series[i])) {
            if (at < REPORT_MAX_SERIES)
                series[at] = series[at - 1];
            at--;
        }
        if (at < REPORT_MAX_SERIES)
            series[at] = i;
        n += n < REPORT_MAX_SERIES;
    }
    return n;
}

/* Of a run what its point needs; its names only where they are not too long. */
static void trim_runs(json_t *runs, bool has_names)
{
    static const char *const unused[] = {"added_s",   "foi",     "ranks", "executions",
                                         "anomalies", "time_ns", "p99_ns"};
    json_t *run;
    size_t i;

    json_array_foreach(runs, i, run)
    {
        for (size_t f = 0; f < sizeof unused / sizeof *unused; f++)
            json_object_del(run, unused[f]);
        if (!has_names) {
            json_object_set_new(run, "run", json_string(""));
            json_object_set_new(run, "tags", json_object());
        }
    }
}

uint32_t report_add_trend(struct answers *answers, const struct trend *t, const char *path,
                          uint32_t *series)
{
    struct trend_series chosen[REPORT_MAX_SERIES];
    struct trend some = *t;
    json_t *json;
    bool is_in;

    some.n_series = choose_series(t, path, series);
    some.series = chosen;
    for (uint32_t i = 0; i < some.n_series; i++)
        chosen[i] = t->series[series[i]];
    json = trend_to_json(&some, NULL, 0);
    trim_runs(json_object_get(json, "runs"), true);
    if (json_dumpb(json, NULL, 0, JSON_COMPACT) > TREND_BYTES)
        trim_runs(json_object_get(json, "runs"), false);
    answers_add(answers, REPORT_TREND_ADDRESS, json, &is_in);
    return is_in ? some.n_series : 0;
}

#define MAX_RUNS 200u /* of a history that have a row */

static void put_tree(FILE *out, struct answers *answers, const struct comparison *c)
{
    bool is_in;

    report_add_tree(answers, c, &is_in);
    if (is_in)
        report_figure(out, "difference", REPORT_TREE_ADDRESS,
                      "Call paths before and after, at one scale, as wide as their time in an "
                      "execution; what takes too little to be seen is drawn together.");
}

int report_change(FILE *out, const struct settings *settings, struct answers *answers)
{
    struct compared of;
    struct comparison c = {0};
    struct compare_opts opts = {.least = settings->compare.least};
    int rc = compared_load(&of, settings, NULL);

    if (rc == 0) {
        opts.rename = of.rename;
        opts.n_renames = of.n_renames;
        compare_runs(of.summary, of.n_before, of.summary + of.n_before, of.n - of.n_before,
                     &opts, &c);
        report_heading(out, 2, "What changed");
        compare_print_html(&c, out);
        put_tree(out, answers, &c);
        compare_print_html_tables(&c, 4 * settings->top, out);
    }
    compare_release(&c);
    compared_release(&of);
    return rc;
}

/* The whole, and what changed most. */
static void put_charts(FILE *out, const struct settings *s, const struct trend *t,
                       struct answers *answers)
{
    uint32_t series[REPORT_MAX_SERIES];
    uint32_t n = 0; /* of one point nothing is seen */

    if (t->n_runs > 1)
        n = report_add_trend(answers, t, s->history.path, series);
    for (uint32_t i = 0; i < n; i++) {
        const char *path = t->series[series[i]].path;
        char address[64], *caption;

        snprintf(address, sizeof address, REPORT_TREND_ADDRESS "/%u", i);
        caption =
            text_new(i == 0 ? "%s: time of an execution from run to run, the mean, and the "
                              "median as a broken line. Upright lines: it changed there."
                            : "%s: own time in an execution.",
                     path);
        report_figure(out, "trend", address, caption);
        free(caption);
    }
}

static void put_note(void *out, const char *text)
{
    report_text(out, "%s", text);
}

static void put_trend(FILE *out, const struct settings *s, const struct trend *t,
                      struct answers *answers)
{
    uint32_t first = t->n_runs > MAX_RUNS ? t->n_runs - MAX_RUNS : 0;
    struct table *runs = run_table(), *changes = trend_table_changes(t, s->history.path);
    char *headline = trend_headline(t);

    report_heading(out, 2, "%s", t->run[0].foi);
    report_text(out, "%s", headline);
    put_charts(out, s, t, answers);
    table_print_html(trend_table_series(t, s->history.path, 2 * s->top), out);
    report_heading(out, 3, "Where it changed");
    if (changes) {
        report_text(
            out, "Changed with the run of this number, by more than the spread between runs:");
        table_print_html(changes, out);
    }
    trend_notes(t, s->history.path, put_note, out);
    report_heading(out, 3, "The runs");
    if (first > 0)
        report_text(out, "the last %u of %u", t->n_runs - first, t->n_runs);
    for (uint32_t i = t->n_runs; i-- > first;)
        run_table_row(runs, &t->run[i], &t->tags[i]);
    table_print_html(runs, out);
    free(headline);
}

int report_history(FILE *out, const struct settings *s, struct answers *answers,
                   uint32_t *n_runs)
{
    struct history_tags tags = {0};
    struct history_filter filter = {
        .foi = settings_foi(s), .tags = &tags, .last = s->history.last};
    struct history history;
    struct trend trend = {.n_runs = 0};
    int rc = tags_read(&s->history.tag, &tags);

    if (rc == 0)
        rc = history_open(&history, s->args[0], DATABASE_READ);
    if (rc == 0) {
        rc = trend_load(&history, &filter, &trend);
        if (rc == 0)
            put_trend(out, s, &trend, answers);
        *n_runs = trend.n_runs;
        trend_release(&trend);
        history_close(&history);
    }
    history_tags_release(&tags);
    return rc;
}
