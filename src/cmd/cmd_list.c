/* snag list -- incidents, or executions by score, or by the time they lost. */
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/list.h"
#include "cmd/print.h"
#include "cmd/selection.h"
#include "cmd/status.h"
#include "cmd/strange_calls.h"
#include "run/rundir.h"
#include "view/incident_list.h"

#include <string.h>

void list_json(const struct execution *x, void *ctx)
{
    (void)ctx;
    print_json(execution_to_json(x), false);
}

void list_text(const struct execution *x, void *ctx)
{
    char text[TEXT_SIZE];

    table_cell(ctx, "%s", x->id);
    table_cell(ctx, "%.2f", x->score);
    table_cell(ctx, "%s", x->verdict);
    table_cell(ctx, "%s", text_duration((double)x->enter_ns, text));
    table_cell(ctx, "%s", text_duration((double)x->duration_ns, text));
    table_cell(ctx, "%s", x->lost_ns ? text_duration((double)x->lost_ns, text) : "");
    table_cell(ctx, "%s%s", x->has_cost && x->lost_ns && x->is_cost_bound ? "<= " : "",
               x->has_cost && x->lost_ns ? text_duration((double)x->cost_ns, text) : "");
    table_cell(ctx, "%s", x->why);
}

struct table *list_table(void)
{
    return table_new("lrlrrrrl", "execution", "score", "verdict", "at", "duration", "lost",
                     "cost", "why");
}

int list_executions(sqlite3 *db, const struct execution_filter *filter, bool is_json)
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

static void incident_text(const struct incident_row *x, void *ctx)
{
    char lost[TEXT_SIZE], cost[TEXT_SIZE], when[TEXT_SIZE];

    if (x->id > 0)
        table_cell(ctx, "%lld", (long long)x->id);
    else
        table_cell(ctx, "-");
    table_cell(ctx, "%s", text_duration((double)x->lost_ns, lost));
    table_cell(ctx, "%s", x->has_cost ? text_duration((double)x->cost_ns, cost) : "");
    table_cell(ctx, "%s", x->is_anomaly ? "anomaly" : "normal");
    table_cell(ctx, "%s", text_duration((double)x->begin_ns, when));
    table_cell(ctx, "%s", x->head);
    table_cell(ctx, "%u", x->n_executions - 1);
    table_cell(ctx, "%s", x->why);
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

int list_incident_table(sqlite3 *db, const struct execution_filter *filter,
                        struct table **table)
{
    int rc;

    *table = table_new("rrrlrlrl", "incident", "lost", "cost", "verdict", "when", "head",
                       "others", "why");
    rc = incident_list_each(db, filter, incident_text, *table);
    if (rc < 0) {
        table_free(*table);
        *table = NULL;
    }
    return rc;
}

int list_incidents(sqlite3 *db, const struct execution_filter *filter, bool is_json)
{
    struct table *table;
    int rc;

    if (is_json)
        return list_incidents_json(db, filter);
    rc = list_incident_table(db, filter, &table);
    if (rc == 0)
        table_print(table, stdout);
    return rc;
}

/* For people disturbances, for programs executions, unless something is said. */
static int list_either(sqlite3 *db, const struct settings *s)
{
    struct execution_filter filter = selection_filter(s);
    bool is_flat = s->is_executions || s->is_json;

    if (s->by) { /* an order of executions */
        filter.is_by_lost = strcmp(s->by, "lost") == 0;
        filter.is_by_cost = strcmp(s->by, "cost") == 0;
        is_flat = true;
    }
    if (s->is_incidents && (s->is_executions || s->by))
        return err_set(ERR_USAGE, "--incidents and --%s exclude each other",
                       s->by ? "by" : "executions");
    return s->is_incidents || !is_flat ? list_incidents(db, &filter, s->is_json)
                                       : list_executions(db, &filter, s->is_json);
}

int cmd_list(const struct settings *settings)
{
    struct run run;
    int rc = selection_open(&run, settings);

    if (rc == 0)
        rc = settings->is_per_call ? strange_calls_print(run.db, settings)
                                   : list_either(run.db, settings);
    run_close(&run);
    return rc < 0 ? rc : STATUS_DONE;
}
