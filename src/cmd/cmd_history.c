/*
 * snag history -- what is kept of many runs: add to it, look at it, make it smaller. Its runs,
 * and how they changed, are tables that a report shows, too.
 */
#include "cmd/cmd_history.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/settings.h"
#include "compare/run_history.h"
#include "compare/summary.h"
#include "forest/foi.h"
#include "run/rundb.h"
#include "run/rundir.h"
#include "view/csv.h"
#include "view/executions.h"
#include "view/results_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ----------------------------------------------------------------------------------- tables */

#define DATE_SIZE 32
#define SPARKS 40 /* runs that a picture shows */

/* A time in UTC as strftime writes it. Returns out. */
static const char *date_text(int64_t seconds, const char *format, char out[DATE_SIZE])
{
    time_t when = (time_t)seconds;
    struct tm utc;

    if (gmtime_r(&when, &utc) == NULL || strftime(out, DATE_SIZE, format, &utc) == 0)
        snprintf(out, DATE_SIZE, "?");
    return out;
}

static void tags_text(const struct history_tags *tags, char out[HISTORY_TAG_SIZE])
{
    size_t n = 0;

    *out = '\0';
    for (size_t i = 0; i < tags->n && n < HISTORY_TAG_SIZE; i++)
        n += (size_t)snprintf(out + n, HISTORY_TAG_SIZE - n, "%s%s=%s", i ? " " : "",
                              tags->tag[i].key, tags->tag[i].value);
}

struct table *run_table(void)
{
    return table_new("rlllrrrrrrl", "number", "added (UTC)", "run", "function", "ranks",
                     "executions", "mean", "median", "99 %", "anomalies", "tags");
}

void run_table_row(struct table *t, const struct history_run *run,
                   const struct history_tags *tags)
{
    char text[TEXT_SIZE], all[HISTORY_TAG_SIZE], when[DATE_SIZE];
    double mean = run->n_executions ? (double)run->time_ns / (double)run->n_executions : 0;

    table_cell(t, "%lld", (long long)run->id);
    table_cell(t, "%s", date_text(run->added_s, "%Y-%m-%d %H:%M", when));
    table_cell(t, "%s", run->source);
    table_cell(t, "%s", run->foi);
    table_cell(t, "%u", run->n_ranks);
    table_cell(t, "%s", text_count(run->n_executions, text));
    table_cell(t, "%s", text_duration(mean, text));
    table_cell(t, "%s", text_duration((double)run->median_ns, text));
    table_cell(t, "%s", text_duration((double)run->p99_ns, text));
    table_cell(t, "%s", text_count(run->n_anomalies, text));
    tags_text(tags, all);
    table_cell(t, "%s", all);
}

char *trend_headline(const struct trend *t)
{
    char first[DATE_SIZE], last[DATE_SIZE];

    return text_new("%s: %u run%s from %s to %s, time per execution", t->run[0].foi, t->n_runs,
                    text_plural(t->n_runs), date_text(t->run[0].added_s, "%Y-%m-%d", first),
                    date_text(t->run[t->n_runs - 1].added_s, "%Y-%m-%d", last));
}

/* A bar per run, from nothing to the largest; of the last ones. */
static void sparks(const struct trend *t, const struct trend_series *s, char *out)
{
    static const char *const bar[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t begin = t->n_runs > SPARKS ? t->n_runs - SPARKS : 0;

    *out = '\0';
    for (uint32_t i = begin; i < t->n_runs; i++)
        strcat(out, bar[(int)lround(8 * s->ns[i] / (s->largest_ns > 0 ? s->largest_ns : 1))]);
}

struct table *trend_table_series(const struct trend *t, const char *path, uint32_t most)
{
    struct table *table = table_new("lrrl", "call path", "first", "last", "from run to run");
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_series; i++) {
        const struct trend_series *of = &t->series[i];
        char picture[3 * SPARKS + 1], first[TEXT_SIZE], last[TEXT_SIZE];

        if (!trend_is_on(t, i, path) || n++ > most)
            continue;
        sparks(t, of, picture);
        table_cell(table, "%s%s", of->path, i == 0 ? " (the whole)" : "");
        table_cell(table, "%s", text_duration(of->ns[0], first));
        table_cell(table, "%s", text_duration(of->ns[t->n_runs - 1], last));
        table_cell(table, "%s", picture);
    }
    return table;
}

static void add_change(struct table *table, const struct trend *t, const struct trend_series *s,
                       const struct change_point *c)
{
    char before[TEXT_SIZE], after[TEXT_SIZE], all[HISTORY_TAG_SIZE];

    table_cell(table, "%lld", (long long)t->run[c->at].id);
    table_cell(table, "%s", s->path);
    table_cell(table, "%s", text_duration(c->before, before));
    table_cell(table, "%s", text_duration(c->after, after));
    if (c->before > 0)
        table_cell(table, "%+.1f %%", 100 * (c->after - c->before) / c->before);
    else
        table_cell(table, "new");
    table_cell(table, "%.3f", c->chance);
    tags_text(&t->tags[c->at], all);
    table_cell(table, "%s", all);
}

struct table *trend_table_changes(const struct trend *t, const char *path)
{
    struct table *table = table_new("rlrrrrl", "number", "call path", "before", "after",
                                    "change", "chance", "tags");
    uint32_t n = 0;

    for (uint32_t at = 1; at < t->n_runs; at++)
        for (uint32_t i = 0; i < t->n_series; i++)
            for (uint32_t k = 0; k < t->series[i].n_changes; k++)
                if (t->series[i].change[k].at == at && trend_is_on(t, i, path)) {
                    add_change(table, t, &t->series[i], &t->series[i].change[k]);
                    n++;
                }
    if (n > 0)
        return table;
    table_free(table);
    return NULL;
}

/* ------------------------------------------------------------------------------ the command */

/* ----------------------------------------------------------------------------------- add */

/* The functions of interest of a run, summarised. */
struct history_parts {
    struct history_part part[MAX_FOIS];
    struct summary summary[MAX_FOIS];
    char *name[MAX_FOIS];
    size_t n;
};

static void parts_release(struct history_parts *p)
{
    for (size_t i = 0; i < p->n; i++) {
        summary_release(&p->summary[i]);
        free(p->name[i]);
    }
}

static int add_part(struct history_parts *p, const struct run *run, sqlite3_stmt *foi)
{
    const char *name = (const char *)sqlite3_column_text(foi, 1);
    struct history_part *part = &p->part[p->n];
    struct summary *summary = &p->summary[p->n];

    p->name[p->n] = mem_copy_string(name ? name : "");
    *part = (struct history_part){.foi = p->name[p->n],
                                  .n_anomalies = (uint64_t)sqlite3_column_int64(foi, 2),
                                  .summary = summary};
    p->n++;
    return summary_of_run_load(summary, run, sqlite3_column_int64(foi, 0), NULL, 0);
}

static int summary_all(struct history_parts *p, const struct run *run)
{
    sqlite3_stmt *foi;
    int rc = rundb_prepare(run->db,
                           "SELECT f.id, f.name, (SELECT count(*) FROM execution x WHERE "
                           "x.foi = f.id AND x.verdict = 'anomaly') FROM foi f ORDER BY f.id",
                           &foi);

    while (rc == 0 && p->n < MAX_FOIS && sqlite3_step(foi) == SQLITE_ROW)
        rc = add_part(p, run, foi);
    rc = rundb_close_query(run->db, foi, rc, "cannot read the functions of interest");
    if (rc == 0 && p->n == 0)
        rc = err_set(ERR_NOT_FOUND, "the run has no function of interest");
    return rc;
}

/* What --tag says counts most, then the environment, then the trace. */
static int tags_all(struct history_tags *tags, const struct run *run,
                    const struct word_list *said)
{
    int rc;

    tags_of_environment(tags);
    rc = tags_of_run(run->db, tags);
    return rc < 0 ? rc : tags_read(said, tags);
}

static int add_run(struct history *h, const struct settings *s, const char *path)
{
    struct run run = {0};
    struct history_parts parts = {.n = 0};
    struct history_tags tags = {0};
    int64_t id = 0;
    int rc = run_open(&run, path, false);

    if (rc == 0)
        rc = summary_all(&parts, &run);
    if (rc == 0)
        rc = tags_all(&tags, &run, &s->history.tag);
    if (rc == 0)
        rc = history_add(h, path, &tags, parts.part, parts.n, &id);
    if (rc < 0)
        rc = err_set(rc, "%s: %s", path, err_message());
    else if (s->is_json)
        print_json(json_pack("{s:I, s:o}", "number", (json_int_t)id, "run", json_text(path)),
                   false);
    else
        print("%s is number %lld in %s\n", path, (long long)id, s->args[1]);
    history_tags_release(&tags);
    parts_release(&parts);
    run_close(&run);
    return rc;
}

static int add(const struct settings *s)
{
    struct history_tags tags = {0};
    struct history h;
    int rc;

    if (s->n_args < 3)
        return err_set(ERR_USAGE, "snag history add HISTORY RUN ...");
    rc = tags_read(&s->history.tag, &tags); /* before anything is made */
    if (rc == 0)
        rc = history_open(&h, s->args[1], DATABASE_MAKE);
    if (rc == 0) {
        for (int i = 2; i < s->n_args && rc == 0; i++)
            rc = add_run(&h, s, s->args[i]);
        history_close(&h);
    }
    history_tags_release(&tags);
    return rc;
}

/* ---------------------------------------------------------------------------------- list */

struct listing {
    struct history *history;
    const struct settings *settings;
    struct table *table;
};

static int list_one(void *ctx, const struct history_run *run)
{
    struct listing *l = ctx;
    struct history_tags tags;
    int rc = history_tags(l->history, run->id, &tags);

    if (rc == 0 && l->settings->is_json)
        print_json(history_run_to_json(run, &tags), false);
    else if (rc == 0)
        run_table_row(l->table, run, &tags);
    history_tags_release(&tags);
    return rc;
}

static int list(struct history *h, const struct settings *s,
                const struct history_filter *filter)
{
    struct listing l = {.history = h, .settings = s};
    int rc;

    if (!s->is_json)
        l.table = run_table();
    rc = history_each(h, filter, list_one, &l);
    if (l.table && rc == 0)
        table_print(l.table, stdout);
    else if (l.table)
        table_free(l.table);
    return rc;
}

/* ---------------------------------------------------------------------------------- show */

static void print_note(void *ctx, const char *text)
{
    (void)ctx;
    print("\n%s\n", text);
}

static void print_trend(const struct trend *t, const struct settings *s)
{
    const char *path = s->history.path;
    struct table *changes = trend_table_changes(t, path);
    char *headline = trend_headline(t);

    print("%s\n\n", headline);
    table_print(trend_table_series(t, path, s->is_all ? UINT32_MAX : s->top), stdout);
    if (changes) {
        print("\nchanged with the run of this number:\n");
        table_print(changes, stdout);
    }
    trend_notes(t, path, print_note, NULL);
    free(headline);
}

/* A line per run: time, number, tags, then a column for each series, in nanoseconds. */
static void print_csv(const struct trend *t, const struct settings *s)
{
    struct history_tags keys = {0};
    char when[DATE_SIZE];

    for (uint32_t i = 0; i < t->n_runs; i++)
        for (size_t k = 0; k < t->tags[i].n; k++)
            history_tags_set(&keys, t->tags[i].tag[k].key, "x");
    fputs("time,number", stdout);
    for (size_t k = 0; k < keys.n; k++)
        csv_text(stdout, keys.tag[k].key, false);
    for (uint32_t i = 0; i < t->n_series; i++)
        if (trend_is_on(t, i, s->history.path))
            csv_text(stdout, i == 0 ? "whole" : t->series[i].path, false);
    for (uint32_t run = 0; run < t->n_runs; run++) {
        print("\n%s,%lld", date_text(t->run[run].added_s, "%Y-%m-%dT%H:%M:%SZ", when),
              (long long)t->run[run].id);
        for (size_t k = 0; k < keys.n; k++) {
            const char *value = history_tags_get(&t->tags[run], keys.tag[k].key);

            csv_text(stdout, value ? value : "", false);
        }
        for (uint32_t i = 0; i < t->n_series; i++)
            if (trend_is_on(t, i, s->history.path))
                print(",%.1f", t->series[i].ns[run]);
    }
    fputs("\n", stdout);
    history_tags_release(&keys);
}

static int show(struct history *h, const struct settings *s,
                const struct history_filter *filter)
{
    const char *format = settings_format(s, "text");
    struct trend t;
    int rc = trend_load(h, filter, &t);

    if (rc == 0 && strcmp(format, "json") == 0)
        print_json(trend_to_json(&t, s->history.path, s->is_all ? 0 : 1000), true);
    else if (rc == 0 && strcmp(format, "csv") == 0)
        print_csv(&t, s);
    else if (rc == 0)
        print_trend(&t, s);
    trend_release(&t);
    return rc;
}

/* --------------------------------------------------------------------------------- prune */

static int prune(struct history *h, const struct settings *s)
{
    uint64_t n = 1;
    int rc;

    if ((s->history.keep > 0) == (s->history.number > 0))
        return err_set(ERR_USAGE, "snag history prune HISTORY needs --keep N or --number N");
    rc = s->history.keep > 0 ? history_keep(h, s->history.keep, &n)
                             : history_remove(h, s->history.number);
    if (rc == 0 && s->is_json)
        print_json(json_pack("{s:I}", "removed", (json_int_t)n), false);
    else if (rc == 0)
        print("%llu run%s removed\n", (unsigned long long)n, text_plural(n));
    return rc;
}

/* ------------------------------------------------------------------------------- command */

/* What chooses runs to look at does not choose those that are forgotten, and the reverse. */
static int refuse_others(const struct settings *s, bool is_prune)
{
    return is_prune
               ? options_refuse(s, "foi tag last path",
                                "does not choose what snag history prune forgets: --keep N "
                                "counts all runs, --number N is one of them")
               : options_refuse(s, "keep number", "is for snag history prune");
}

static int look(const struct settings *s, const char *verb)
{
    struct history_tags tags = {0};
    struct history_filter filter = {
        .foi = settings_foi(s), .tags = &tags, .last = s->history.last};
    bool is_prune = strcmp(verb, "prune") == 0;
    struct history h;
    int rc = refuse_others(s, is_prune);

    if (rc == 0)
        rc = tags_read(&s->history.tag, &tags);
    if (rc == 0)
        rc = history_open(&h, s->args[1], is_prune ? DATABASE_WRITE : DATABASE_READ);
    if (rc == 0) {
        rc = is_prune                    ? prune(&h, s)
             : strcmp(verb, "list") == 0 ? list(&h, s, &filter)
                                         : show(&h, s, &filter);
        history_close(&h);
    }
    history_tags_release(&tags);
    return rc;
}

int cmd_history(const struct settings *s)
{
    const char *verb = s->args[0];
    int rc;

    if (strcmp(verb, "add") == 0)
        rc = add(s);
    else if (s->n_args == 2 && (strcmp(verb, "list") == 0 || strcmp(verb, "show") == 0 ||
                                strcmp(verb, "prune") == 0))
        rc = look(s, verb);
    else
        rc = err_set(ERR_USAGE,
                     "snag history add HISTORY RUN ..., or snag history list, show or "
                     "prune HISTORY");
    return rc < 0 ? rc : STATUS_DONE;
}
