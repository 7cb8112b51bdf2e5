/* snag list -- executions by score, or by the time they lost. */
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/list.h"
#include "cmd/print.h"
#include "cmd/selection.h"
#include "cmd/status.h"
#include "cmd/strange_calls.h"
#include "run/rundir.h"

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
    table_cell(ctx, "%s", x->why);
}

struct table *list_table(void)
{
    return table_new("lrlrrrl", "execution", "score", "verdict", "at", "duration", "lost",
                     "why");
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

int cmd_list(const struct settings *settings)
{
    struct execution_filter filter = selection_filter(settings);
    struct run run;
    int rc;

    filter.is_by_lost = settings->by && strcmp(settings->by, "lost") == 0;
    rc = selection_open(&run, settings);

    if (rc == 0)
        rc = settings->is_per_call ? strange_calls_print(run.db, settings)
                                   : list_executions(run.db, &filter, settings->is_json);
    run_close(&run);
    return rc < 0 ? rc : STATUS_DONE;
}
