/*
 * snag list -- incidents, or executions by score, or by the time they lost; or calls of a run
 * that was judged call by call, a row each: what it lost, what it took, where it was.
 */
#include "cmd/cmd_list.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/headline.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "run/rundir.h"
#include "trace/definitions.h"
#include "view/incident_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WIDE 100 /* characters of a line of incidents */

static void list_json(const struct execution *x, void *ctx)
{
    (void)ctx;
    print_json(execution_to_json(x), false);
}

void list_text(const struct execution *x, void *ctx)
{
    char text[TEXT_SIZE];

    table_cell(ctx, "%s", x->id);
    table_cell(ctx, "%s", text_score(x->score, text));
    table_cell(ctx, "%s", x->verdict);
    table_cell(ctx, "%s", text_duration((double)x->enter_ns, text));
    table_cell(ctx, "%s", text_duration((double)x->duration_ns, text));
    table_cell(ctx, "%s",
               x->is_open && strcmp(x->verdict, "anomaly") == 0 ? "open"
               : x->lost_ns ? text_duration((double)x->lost_ns, text)
                            : "");
    table_cell(ctx, "%s%s", x->has_cost && x->lost_ns && x->is_cost_bound ? "<= " : "",
               x->has_cost && x->lost_ns ? text_duration((double)x->cost_ns, text) : "");
    table_cell(ctx, "%s", x->why);
}

struct table *list_table(void)
{
    return table_new("lrlrrrrl", "execution", "score", "verdict", "at", "duration", "lost",
                     "cost", "why");
}

/* Print those that pass the filter. Returns 0 or a negative ERR_*. */
static int list_executions(sqlite3 *db, const struct execution_filter *filter, bool is_json)
{
    struct table *table;
    int rc;

    if (is_json)
        return executions_each(db, filter, list_json, NULL);
    table = list_table();
    rc = executions_each(db, filter, list_text, table);
    if (rc == 0)
        table_print(table, stdout);
    else
        table_free(table);
    return rc;
}

struct incident_columns {
    struct table *table;
    bool has_verdict, has_sentence;
    bool are_few; /* what they lost and cost is not known */
};

static void incident_text(const struct incident_row *x, void *ctx)
{
    const struct incident_columns *c = ctx;
    char text[TEXT_RANGE_SIZE], cause[INCIDENT_CAUSE_TEXT_SIZE];

    if (x->id > 0)
        table_cell(c->table, "%lld", (long long)x->id);
    else
        table_cell(c->table, "-");
    table_cell(c->table, "%s",
               x->is_unended ? "open"
               : c->are_few  ? "-"
                             : text_duration((double)x->lost_ns, text));
    table_cell(c->table, "%s", c->are_few ? "-" : incident_cost_text(x, text));
    if (c->has_verdict)
        table_cell(c->table, "%s", x->is_anomaly ? "anomaly" : "normal");
    table_cell(c->table, "%s", text_duration((double)x->begin_ns, text));
    table_cell(c->table, "%s", x->head);
    table_cell(c->table, "%u", x->n_ranks);
    table_cell(c->table, "%s", c->has_sentence ? x->why : incident_cause_text(x, cause));
}

static int list_incidents_json(sqlite3 *db, const struct execution_filter *filter)
{
    json_t *incidents, *incident;
    size_t i;
    int rc = incident_list_to_json(db, filter, &incidents);

    if (rc < 0)
        return rc;
    json_array_foreach(incidents, i, incident) print_json(json_incref(incident), false);
    json_decref(incidents);
    return 0;
}

struct table *list_incident_table(void)
{
    return table_new("rrrlrlrl", "incident", "lost", "cost", "verdict", "when", "head", "ranks",
                     "why");
}

void list_incident_row(const struct incident_row *x, bool are_few, struct table *table)
{
    struct incident_columns columns = {table, .has_verdict = true, .has_sentence = true,
                                       .are_few = are_few};

    incident_text(x, &columns);
}

/* ------------------------------------------------------------------------------- groups */

#define MAX_SAID 4 /* groups that are said */

/* What it cost, or of how many that is not known. */
static void print_group_cost(const struct incident_group *g)
{
    char range[TEXT_RANGE_SIZE];
    const char *cost = g->cost_ns > 0 ? text_duration_range((double)g->cost_least_ns,
                                                            (double)g->cost_ns, range)
                                      : "nothing";

    if (g->n_with_cost == g->n)
        print("; cost%s the run %s (each removed alone)", g->n == 1 ? "s" : "", cost);
    else if (g->n_with_cost > 0)
        print(
            "; %zu of them cost the run %s (each removed alone), of the other %zu that is not "
            "known",
            g->n_with_cost, cost, g->n - g->n_with_cost);
}

/* Each function numbers its groups from 1: what is listed has to say of which they are. */
static bool are_of_several(sqlite3 *db, const struct execution_filter *filter)
{
    return filter->foi == NULL && filter->foi_id == 0 && executions_have_several(db);
}

static void print_group(const struct incident_group *g, bool has_several)
{
    char text[GROUP_TEXT_SIZE], lost[TEXT_SIZE];

    print("group %lld%s%s: %s", (long long)g->incident->way, has_several ? " of " : "",
          has_several ? g->incident->foi : "", incident_group_text(g, text));
    if (g->lost_ns > 0)
        print("; lost %s", text_duration((double)g->lost_ns, lost));
    print_group_cost(g);
    print("\n");
}

/* Incidents that have the same cause are said once. */
static int print_groups(sqlite3 *db, const struct execution_filter *filter)
{
    bool has_several = are_of_several(db, filter);
    struct incident_groups all;
    size_t n_said = 0, n_more = 0;
    int rc = incident_groups_find(db, filter, &all);

    for (size_t i = 0; rc == 0 && i < all.n; i++) {
        if (all.group[i].n < 2)
            continue;
        if (n_said < MAX_SAID)
            print_group(&all.group[i], has_several);
        n_more += n_said++ >= MAX_SAID;
    }
    if (n_more > 0)
        print("and %zu more group%s (--groups)\n", n_more, text_plural(n_more));
    incident_groups_release(&all);
    return rc;
}

int list_group_table(sqlite3 *db, const struct execution_filter *filter, size_t fewest,
                     struct table **table)
{
    bool has_several = are_of_several(db, filter);
    char text[GROUP_TEXT_SIZE];
    struct groups all;
    int rc = groups_find(db, filter, &all);

    *table = NULL;
    for (size_t i = 0; rc == 0 && i < all.n; i++) {
        const struct group *g = &all.group[i];

        if (g->n < fewest)
            continue;
        if (*table == NULL)
            *table = has_several ? table_new("rlrrrl", "group", "function", "executions",
                                             "lost", "when", "strange in the same way")
                                 : table_new("rrrrl", "group", "executions", "lost", "when",
                                             "strange in the same way");
        table_cell(*table, "%lld", (long long)g->id);
        if (has_several)
            table_cell(*table, "%s", g->foi);
        table_cell(*table, "%zu", g->n);
        table_cell(*table, "%s",
                   g->n_open == g->n ? "open" : text_duration((double)g->lost_ns, text));
        table_cell(*table, "%s", text_duration((double)g->begin_ns, text));
        table_cell(*table, "%s, %s", g->what, group_places(g, text));
    }
    groups_release(&all);
    return rc;
}

static int list_groups_text(sqlite3 *db, const struct execution_filter *filter)
{
    struct table *table;
    int rc = list_group_table(db, filter, 1, &table);

    if (table)
        table_print(table, stdout);
    else if (rc == 0)
        print("no anomalies\n");
    return rc;
}

static int list_groups_json(sqlite3 *db, const struct execution_filter *filter)
{
    bool has_several = executions_have_several(db);
    struct groups all;
    int rc = groups_find(db, filter, &all);

    for (size_t i = 0; rc == 0 && i < all.n; i++)
        print_json(group_to_json(&all.group[i], has_several), false);
    groups_release(&all);
    return rc;
}

/* What is so common that chance may make it may still be what the run loses its time with. */
static int print_costly_others(sqlite3 *db, const struct execution_filter *filter)
{
    char n[TEXT_SIZE], cost[TEXT_RANGE_SIZE], its_cost[TEXT_RANGE_SIZE];
    struct costly_others others;
    int rc = incident_list_costly_others(db, filter, &others);

    if (rc < 0 || others.n == 0)
        return rc;
    text_duration_range((double)others.its_least_ns, (double)others.its_most_ns, its_cost);
    if (others.n == 1)
        print("no anomaly, but %s costs the run %s: %s\n", others.head, its_cost, others.cause);
    else
        print("no anomalies, but %s of these incidents cost the run %s (each "
              "removed alone); the largest: %s, %s: %s\n",
              text_count(others.n, n),
              text_duration_range((double)others.least_ns, (double)others.most_ns, cost),
              others.head, its_cost, others.cause);
    return 0;
}

/* How many there are beside the n anomalies, and what waited with these. */
static int print_others(sqlite3 *db, const struct execution_filter *filter, uint64_t n,
                        bool are_few)
{
    char count[TEXT_SIZE], lost[TEXT_SIZE], shortest[TEXT_SIZE], longest[TEXT_SIZE];
    struct others others;
    int rc = executions_others(db, filter, &others);

    if (rc < 0)
        return rc;
    if (filter->most > 0 && n > filter->most)
        print("and %llu more\n", (unsigned long long)(n - filter->most));
    if (n > 0)
        rc = print_groups(db, filter);
    if (rc < 0 || others.n == 0)
        return rc;
    text_count(others.n, count);
    if (are_few) {
        print("%s execution%s: too few to say what is typical", count, text_plural(others.n));
        if (others.n > 1)
            print("; they took %s to %s", text_duration((double)others.shortest_ns, shortest),
                  text_duration((double)others.longest_ns, longest));
    } else if (n == 0)
        print("no anomalies: each of the %s executions may be by chance or lost too little to "
              "count",
              count);
    else
        print("the other %s execution%s: no anomal%s, %s may be by chance or lost too little "
              "to count",
              count, text_plural(others.n), others.n == 1 ? "y" : "ies",
              others.n == 1 ? "it" : "each");
    if (others.lost_ns > 0)
        print("; %s lost %s in all", others.n == 1 ? "it" : "they",
              text_duration((double)others.lost_ns, lost));
    print("\n");
    return print_costly_others(db, filter);
}

bool list_is_brief(const struct execution_filter *filter)
{
    return filter->verdict == NULL && filter->label == NULL && filter->most > 0;
}

static int list_incidents_text(sqlite3 *db, const struct execution_filter *asked)
{
    struct execution_filter filter = *asked;
    bool is_brief = list_is_brief(asked);
    struct incident_columns columns = {.has_verdict = !is_brief};
    int64_t foi = asked->foi_id;
    uint64_t n;
    int rc = asked->foi ? executions_foi(db, asked->foi, &foi) : 0;

    if (rc == 0)
        rc = executions_are_few(db, foi, &columns.are_few);
    if (is_brief)
        filter.verdict = "anomaly";
    if (rc == 0)
        rc = incident_list_count(db, &filter, &n);
    if (rc < 0)
        return rc;
    if (n > 0 || !is_brief) {
        columns.table = columns.has_verdict /* what is normal has no cause */
                            ? table_new("rrrlrlrl", "incident", "lost", "cost", "verdict",
                                        "when", "head", "ranks", "why")
                            : table_new("rrrrlrl", "incident", "lost", "cost", "when", "head",
                                        "ranks", "cause");
        table_fit(columns.table, MAX_WIDE);
        rc = incident_list_each(db, &filter, incident_text, &columns);
        if (rc == 0)
            table_print(columns.table, stdout);
        else
            table_free(columns.table);
    }
    return rc == 0 && is_brief ? print_others(db, &filter, n, columns.are_few) : rc;
}

int list_incidents(sqlite3 *db, const struct execution_filter *filter, bool is_json)
{
    return is_json ? list_incidents_json(db, filter) : list_incidents_text(db, filter);
}

/* ------------------------------------------------------------------------------ the answer */

struct answer_listing {
    sqlite3 *db;
    int rc;
};

static void print_answer(int64_t id, const struct headline_foi *foi, void *ctx)
{
    struct answer_listing *a = ctx;
    int rc = headline_print(a->db, id, foi);

    a->rc = a->rc < 0 ? a->rc : rc;
}

static int list_with_answer(sqlite3 *db, const struct execution_filter *filter)
{
    struct answer_listing answer = {.db = db};
    int64_t only = 0;
    int rc = filter->foi ? executions_foi(db, filter->foi, &only) : 0;

    if (rc == 0)
        rc = headline_fois(db, only, print_answer, &answer);
    if (rc == 0)
        rc = answer.rc;
    if (rc < 0)
        return rc;
    print("\n");
    return list_incidents(db, filter, false);
}

/* For people incidents, for programs executions, unless something is said. */
static int list_either(sqlite3 *db, const struct settings *s)
{
    struct execution_filter filter = selection_filter(s);
    bool is_flat = s->is_executions || s->is_json || s->label; /* people label executions */

    if (s->by) { /* an order of executions */
        filter.is_by_lost = strcmp(s->by, "lost") == 0;
        filter.is_by_cost = strcmp(s->by, "cost") == 0;
        is_flat = true;
    }
    if ((s->is_incidents || s->is_groups) && (s->is_executions || s->by))
        return err_set(ERR_USAGE, "--%s and --%s exclude each other",
                       s->is_groups ? "groups" : "incidents", s->by ? "by" : "executions");
    if (s->is_groups)
        return s->is_json ? list_groups_json(db, &filter) : list_groups_text(db, &filter);
    if (is_flat && !s->is_incidents)
        return list_executions(db, &filter, s->is_json);
    return s->is_json ? list_incidents(db, &filter, true) : list_with_answer(db, &filter);
}

int cmd_list(const struct settings *settings)
{
    struct run run;
    int rc = selection_open(&run, settings);

    if (rc == 0 && settings->is_per_call)
        rc = options_refuse(settings, "label", "is for executions, not for --per-call");
    if (rc == 0)
        rc = settings->is_per_call ? strange_calls_print(run.db, settings)
                                   : list_either(run.db, settings);
    run_close(&run);
    return rc < 0 ? rc : STATUS_DONE;
}

/* ---------------------------------------------------------------------------- strange calls */

static void print_row(sqlite3_stmt *query, struct table *table)
{
    char text[TEXT_SIZE];

    if (sqlite3_column_int64(query, STRANGE_THREAD) > 0)
        table_cell(table, "%lld.%lld", (long long)sqlite3_column_int64(query, STRANGE_RANK),
                   (long long)sqlite3_column_int64(query, STRANGE_THREAD));
    else
        table_cell(table, "%lld", (long long)sqlite3_column_int64(query, STRANGE_RANK));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, STRANGE_ENTER), text));
    table_cell(table, "+%s",
               text_duration(sqlite3_column_double(query, STRANGE_SEVERITY), text));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, STRANGE_TIME), text));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, STRANGE_TYPICAL), text));
    table_cell(table, "%.0e", sqlite3_column_double(query, STRANGE_P));
    table_cell(table, "%s", rundb_text(query, STRANGE_FUNCTION));
}

static void print_object(sqlite3_stmt *query)
{
    print_json(json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:f, s:f, s:f, s:f}", "rank",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_RANK), "thread",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_THREAD), "call",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_CALL), "function",
                         json_text(rundb_text(query, STRANGE_FUNCTION)), "enter_ns",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_ENTER), "time_ns",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_TIME), "usual_ns",
                         sqlite3_column_double(query, STRANGE_TYPICAL), "severity_ns",
                         sqlite3_column_double(query, STRANGE_SEVERITY), "score",
                         sqlite3_column_double(query, STRANGE_SCORE), "p",
                         sqlite3_column_double(query, STRANGE_P)),
               false);
}

int strange_calls_print(sqlite3 *db, const struct settings *settings)
{
    sqlite3_stmt *query = NULL;
    struct table *table;
    int rc = rundb_query(db, &query, run_sql_strange_calls, "oi", settings->rank != NO_RANK,
                         (int64_t)settings->rank,
                         settings->is_all ? (int64_t)-1 : (int64_t)settings->top);

    if (rc < 0)
        return rc;
    table = settings->is_json ? NULL
                              : table_new("rrrrrrl", "rank", "entered", "lost", "took",
                                          "typical", "p", "function");
    while (sqlite3_step(query) == SQLITE_ROW)
        if (table)
            print_row(query, table);
        else
            print_object(query);
    if (table)
        table_print(table, stdout);
    return rundb_close_query(db, query, 0, "cannot read the strange calls");
}

void strange_calls_print_slight(uint64_t n, double least_lost_ns)
{
    char slight[TEXT_SIZE], least[TEXT_SIZE];

    if (n > 0)
        print("%s more call%s %s strange, but lost %s%s\n", text_count(n, slight),
              text_plural(n), n == 1 ? "was" : "were",
              least_lost_ns > 0 ? "less than " : "nothing",
              least_lost_ns > 0 ? text_duration(least_lost_ns, least) : "");
}
