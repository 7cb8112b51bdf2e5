#include "cmd/trend_table.h"

#include "base/mem.h"
#include "base/text.h"
#include "view/trend_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SPARKS 40 /* runs that a picture shows */

const char *date_text(int64_t seconds, const char *format, char out[DATE_SIZE])
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
    char first[DATE_SIZE], last[DATE_SIZE], *text;

    if (asprintf(&text, "%s: %u run%s from %s to %s, time per execution", t->run[0].foi,
                 t->n_runs, text_plural(t->n_runs),
                 date_text(t->run[0].added_s, "%Y-%m-%d", first),
                 date_text(t->run[t->n_runs - 1].added_s, "%Y-%m-%d", last)) < 0)
        mem_give_up(1, BUFSIZ);
    return text;
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
