/*
 * What is said of several runs: the tables of snag compare and snag history show, in a page,
 * and figures of the same.
 */
#include "cmd/report.h"

#include "base/err.h"
#include "base/mem.h"
#include "cmd/compare_print.h"
#include "cmd/compared.h"
#include "cmd/print.h"
#include "cmd/report_changes.h"
#include "cmd/report_page.h"
#include "cmd/tags.h"
#include "cmd/trend_table.h"

#include <stdlib.h>

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
        compare_runs(of.digest, of.n_before, of.digest + of.n_before, of.n - of.n_before, &opts,
                     &c);
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
        if (asprintf(&caption,
                     i == 0 ? "%s: time of an execution from run to run, the mean, and the "
                              "median as a broken line. Upright lines: it changed there."
                            : "%s: own time in an execution.",
                     path) < 0)
            mem_give_up(1, BUFSIZ);
        report_figure(out, "trend", address, caption);
        free(caption);
    }
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
        report_text(out,
                    "Changed with the run of this number, by more than runs differ anyway:");
        table_print_html(changes, out);
    } else {
        report_text(out, "No change in these runs that is more than they differ anyway.");
    }
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
        .foi = s->foi.n > 0 ? s->foi.text[0] : NULL, .tags = &tags, .last = s->history.last};
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
