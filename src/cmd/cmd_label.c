/* snag label -- what a person says of executions, from the shell or from a file. */
#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "view/executions.h"
#include "view/groups.h"
#include "cmd/label_file.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "group="

/* Labels on their way into the run. */
struct labels {
    struct learning learning;
    bool said_foi;
    struct label_entry *entry; /* [n] */
    size_t n, cap;
};

static void add(struct labels *l, int64_t foi, uint32_t rank, uint32_t thread, uint32_t index,
                enum label label)
{
    mem_grow(&l->entry, &l->cap, l->n + 1, sizeof *l->entry);
    l->entry[l->n++] = (struct label_entry){foi, rank, thread, index, label};
}

/* The function named in front of '#', or that of --foi, or the only one there is. */
static int foi_of(struct labels *l, const char *name, int64_t *foi)
{
    *foi = l->learning.foi;
    if (*name == '\0' && l->said_foi)
        return 0;
    return executions_foi(l->learning.run.db, *name ? name : NULL, foi);
}

static int take_line(void *ctx, const struct label_line *line)
{
    struct labels *l = ctx;
    int64_t foi;
    int rc = foi_of(l, line->foi, &foi);

    if (rc == 0)
        add(l, foi, line->rank, line->thread, line->index, line->label);
    return rc;
}

/* The members of "group=3", as they are now. */
static int add_group(struct labels *l, const char *number, enum label label)
{
    const struct execution_filter filter = {.foi_id = l->learning.foi, .rank = NO_RANK};
    struct groups all;
    char *end;
    long long id = strtoll(number, &end, 10);
    size_t n_before = l->n;
    int rc = groups_find(l->learning.run.db, &filter, &all);

    for (size_t i = 0; rc == 0 && i < all.n; i++)
        for (size_t k = 0; all.group[i].id == id && k < all.group[i].n; k++) {
            const struct group_member *x = &all.group[i].member[k];

            add(l, all.group[i].foi_id, x->rank, x->thread, x->index, label);
        }
    groups_release(&all);
    if (rc == 0 && (l->n == n_before || *end || end == number))
        return err_set(ERR_NOT_FOUND, "no group '%s' has an anomaly (snag list --groups)",
                       number);
    return rc;
}

/* "#4-40=abnormal", "group=3=normal" */
static int take_argument(struct labels *l, const char *text)
{
    char id[EXECUTION_ID_SIZE], foi_name[EXECUTION_ID_SIZE];
    const char *equals = strrchr(text, '=');
    uint32_t rank, thread, index;
    enum label label;
    int64_t foi = 0;
    int rc;

    if (equals == NULL || (size_t)(equals - text) >= sizeof id)
        return err_set(ERR_USAGE, "not a label: '%s' (they are written #4-40=abnormal)", text);
    snprintf(id, sizeof id, "%.*s", (int)(equals - text), text);
    rc = label_parse(equals + 1, &label);
    if (rc == 0 && strncmp(id, GROUP, strlen(GROUP)) == 0)
        return add_group(l, id + strlen(GROUP), label);
    if (rc == 0)
        rc = execution_parse(id, foi_name, sizeof foi_name, &rank, &thread, &index);
    if (rc == 0)
        rc = foi_of(l, foi_name, &foi);
    if (rc == 0)
        add(l, foi, rank, thread, index, label);
    return rc;
}

static int take_all(struct labels *l, const struct settings *settings)
{
    int rc =
        settings->learning.from ? label_file_read(settings->learning.from, take_line, l) : 0;

    for (int i = 1; rc == 0 && i < settings->n_args; i++)
        rc = take_argument(l, settings->args[i]);
    return rc;
}

/* ------------------------------------------------------------------------------ printing */

static void print_one(sqlite3_stmt *query, const char *foi, struct table *table)
{
    const char *label = rundb_text(query, LABEL_TEXT),
               *author = rundb_text(query, LABEL_AUTHOR);
    const char *at = rundb_text(query, LABEL_AT);
    char id[EXECUTION_ID_SIZE];

    execution_id(id, foi, (uint32_t)sqlite3_column_int64(query, LABEL_RANK),
                 (uint32_t)sqlite3_column_int64(query, LABEL_THREAD),
                 (uint32_t)sqlite3_column_int64(query, LABEL_INDEX));
    if (table == NULL) {
        print_json(json_pack("{s:o, s:o, s:o, s:o}", "id", json_text(id), "label",
                             json_text(label), "author", json_text(author), "at",
                             json_text(at)),
                   false);
        return;
    }
    table_cell(table, "%s", id);
    table_cell(table, "%s", label);
    table_cell(table, "%s", author);
    table_cell(table, "%s", at);
}

static int print_labels(sqlite3 *db, bool is_json)
{
    struct table *table = is_json ? NULL : table_new("llll", "execution", "label", "by", "at");
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, run_sql_labels, &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        print_one(query, rundb_text_or_null(query, LABEL_FOI_NAME), table);
    if (table)
        table_print(table, stdout);
    sqlite3_finalize(query);
    return rc;
}

static void print_done(const struct settings *settings, size_t n)
{
    if (settings->is_json)
        print_json(json_pack("{s:o}", "labels", json_count(n)), false);
    else
        print("%zu label%s taken; 'snag retrain %s' learns from them\n", n, n == 1 ? "" : "s",
              settings->args[0]);
}

static int label_run(struct labels *l, const struct settings *settings)
{
    bool is_listing = settings->learning.from == NULL && settings->n_args == 1;
    int rc = learning_open(&l->learning, settings, !is_listing);

    l->said_foi = settings->foi.n > 0;
    if (rc == ERR_USAGE && settings->foi.n == 0)
        rc = 0; /* several functions: every id must name its own */
    if (rc == 0 && is_listing)
        return print_labels(l->learning.run.db, settings->is_json);
    if (rc == 0)
        rc = take_all(l, settings);
    if (rc == 0)
        rc = label_store_add(l->learning.run.db, l->entry, l->n, learning_author(settings));
    if (rc == 0)
        print_done(settings, l->n);
    return rc;
}

int cmd_label(const struct settings *settings)
{
    struct labels l = {.n = 0};
    int rc = label_run(&l, settings);

    learning_close(&l.learning);
    free(l.entry);
    return rc < 0 ? rc : STATUS_DONE;
}
