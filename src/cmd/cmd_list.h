/*
 * cmd_list -- executions, incidents and strange calls printed as a table or as JSON lines, for
 * list and analyze.
 */
#ifndef SNAG_CMD_CMD_LIST_H
#define SNAG_CMD_CMD_LIST_H

#include "cmd/print.h"
#include "cmd/settings.h"
#include "view/executions.h"
#include "view/incident_list.h"

#include <sqlite3.h>

/*
 * list_incidents -- print those with an execution that passes the filter. As text just those
 * that are anomalies, unless the filter says a verdict or a label or has no most, and how many
 * executions there are beside them.
 */
int list_incidents(sqlite3 *db, const struct execution_filter *filter, bool is_json);

/* list_is_brief -- whether that is so: of these just the anomalies. */
bool list_is_brief(const struct execution_filter *filter);

/* list_table -- an empty table with the columns that list_text fills. */
struct table *list_table(void);

/* list_text -- one execution: a row of the table in ctx. */
void list_text(const struct execution *x, void *ctx);

/* list_incident_table -- an empty table with the columns that list_incident_row fills. */
struct table *list_incident_table(void);

/* list_incident_row -- an incident with its sentence: a row of the table. are_few: executions_are_few, of its
 * function. */
void list_incident_row(const struct incident_row *x, bool are_few, struct table *table);

/* list_group_table -- the same of groups; *table is NULL where none has `fewest` executions,
 * too. */
int list_group_table(sqlite3 *db, const struct execution_filter *filter, size_t fewest,
                     struct table **table);

/*
 * strange_calls_print -- the most severe ones, as --top, --all, --rank and --json say.
 * Returns 0 or a negative ERR_*.
 */
int strange_calls_print(sqlite3 *db, const struct settings *settings);

/* strange_calls_print_slight -- how many were strange, but lost too little; nothing for none.
 */
void strange_calls_print_slight(uint64_t n, double least_lost_ns);

#endif
