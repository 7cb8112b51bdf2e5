/* One query with optional conditions: an unset parameter is NULL and matches all. */
#include "view/executions.h"

#include "base/err.h"
#include "base/json.h"
#include "features/robust.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "trace/definitions.h"
#include "view/csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void execution_id(char out[EXECUTION_ID_SIZE], const char *foi, uint32_t rank, uint32_t thread,
                  uint32_t index)
{
    const char *name = foi ? foi : "";

    if (thread > 0)
        snprintf(out, EXECUTION_ID_SIZE, "%.400s#%u.%u-%u", name, rank, thread, index);
    else
        snprintf(out, EXECUTION_ID_SIZE, "%.400s#%u-%u", name, rank, index);
}

static bool parse_number(const char **at, uint32_t *out)
{
    char *end;
    unsigned long value = strtoul(*at, &end, 10);

    if (!isdigit((unsigned char)**at) || value > UINT32_MAX)
        return false;
    *at = end;
    *out = (uint32_t)value;
    return true;
}

int execution_parse(const char *id, char *foi, size_t size, uint32_t *rank, uint32_t *thread,
                    uint32_t *index)
{
    const char *hash = strrchr(id, '#'), *at = hash ? hash + 1 : id;
    bool is_good;

    snprintf(foi, size, "%.*s", hash ? (int)(hash - id) : 0, id);
    *thread = 0;
    is_good = parse_number(&at, rank);
    if (is_good && *at == '.') {
        at++;
        is_good = parse_number(&at, thread);
    }
    is_good = is_good && *at++ == '-' && parse_number(&at, index) && *at == '\0';
    if (!is_good)
        return err_set(ERR_USAGE,
                       "not an execution: '%s' (they are written #RANK-INDEX, like #4-40)", id);
    return 0;
}

/* Functions of interest that a name may mean. */
struct named {
    int64_t first;
    size_t n;
    char names[512];
};

/* name: NULL for all. */
static int find_named(sqlite3 *db, const char *name, struct named *out)
{
    sqlite3_stmt *query;
    size_t length = 0;
    int rc = rundb_query(db, &query, run_sql_fois_named, "t", name);

    *out = (struct named){.n = 0};
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        if (out->n++ == 0)
            out->first = sqlite3_column_int64(query, 0);
        length += (size_t)snprintf(out->names + length, sizeof out->names - length, "%s%.60s",
                                   out->n > 1 ? ", " : "", rundb_text(query, 1));
        if (length >= sizeof out->names)
            length = sizeof out->names - 1;
    }
    return rundb_close_query(db, query, rc, "cannot read the functions of interest");
}

int executions_foi(sqlite3 *db, const char *name, int64_t *id)
{
    struct named found, all;
    int rc = find_named(db, name, &found);

    if (rc == 0 && found.n > 0)
        *id = found.first;
    if (rc == 0 && found.n > 1)
        return err_set(
            ERR_USAGE,
            "the run has several functions of interest: choose one with --foi, of %s",
            found.names);
    if (rc == 0 && found.n == 0) {
        rc = find_named(db, NULL, &all);
        return rc < 0 ? rc
                      : err_set(ERR_NOT_FOUND,
                                "the run has no function of interest '%s'; it has %s",
                                name ? name : "", all.n > 0 ? all.names : "none");
    }
    return rc;
}

int executions_foi_known(sqlite3 *db, const struct definitions *defs, const char *identity,
                         const char *shown, int64_t *id)
{
    sqlite3_stmt *query;
    bool is_shown = false;
    int rc = rundb_prepare(db, run_sql_fois_regions, &query);

    *id = 0;
    while (rc == 0 && !is_shown && sqlite3_step(query) == SQLITE_ROW) {
        int64_t region = sqlite3_column_int64(query, 1);

        if (region < 0 || region >= defs->names.n ||
            strcmp(defs->region[region].identity, identity) != 0)
            continue;
        is_shown = shown && strcmp(defs->region[region].short_name, shown) == 0;
        if (*id == 0 || is_shown)
            *id = sqlite3_column_int64(query, 0);
    }
    return rundb_close_query(db, query, rc, "cannot read the functions of interest");
}

bool executions_have_several(sqlite3 *db)
{
    int64_t n = 0;

    rundb_number(db, &n, run_sql_n_fois, "");
    return n > 1;
}

static void fill(struct execution *x, sqlite3_stmt *query, bool has_several)
{
    *x = (struct execution){
        .foi_id = sqlite3_column_int64(query, EXECUTION_FOI),
        .foi = rundb_text(query, EXECUTION_FOI_NAME),
        .tree = sqlite3_column_int64(query, EXECUTION_TREE),
        .location = (uint32_t)sqlite3_column_int64(query, EXECUTION_LOCATION),
        .rank = (uint32_t)sqlite3_column_int64(query, EXECUTION_RANK),
        .thread = (uint32_t)sqlite3_column_int64(query, EXECUTION_THREAD),
        .index = (uint32_t)sqlite3_column_int64(query, EXECUTION_INDEX),
        .call = (uint32_t)sqlite3_column_int64(query, EXECUTION_CALL),
        .enter_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_ENTER),
        .duration_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_DURATION),
        .n_vertices = (uint64_t)sqlite3_column_int64(query, EXECUTION_VERTICES),
        .n_messages = (uint64_t)sqlite3_column_int64(query, EXECUTION_MESSAGES),
        .tracer_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_TRACER),
        .typical_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_TYPICAL),
        .lost_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_LOST),
        .off_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_OFF),
        .is_open = sqlite3_column_type(query, EXECUTION_OPEN) != SQLITE_NULL,
        .open_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_OPEN),
        .has_cost = sqlite3_column_type(query, EXECUTION_COST) != SQLITE_NULL,
        .cost_ns = (uint64_t)sqlite3_column_int64(query, EXECUTION_COST),
        .is_cost_bound = sqlite3_column_int(query, EXECUTION_COST_IS_BOUND) != 0,
        .score = sqlite3_column_double(query, EXECUTION_SCORE),
        .chance = sqlite3_column_double(query, EXECUTION_CHANCE),
        .verdict = rundb_text(query, EXECUTION_VERDICT),
        .why = rundb_text(query, EXECUTION_WHY),
        .label = rundb_text_or_null(query, EXECUTION_LABEL),
        .part = rundb_text(query, EXECUTION_PART),
        .cause = rundb_text_or_null(query, EXECUTION_CAUSE),
    };
    execution_id(x->id, has_several ? x->foi : NULL, x->rank, x->thread, x->index);
}

/* Of a query that is closed; rc: of making it. */
static int each_row(sqlite3 *db, sqlite3_stmt *query, int rc,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    bool has_several = rc == 0 && executions_have_several(db);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        struct execution x;

        fill(&x, query, has_several);
        fn(&x, ctx);
    }
    return rundb_close_query(db, query, rc, "cannot read the executions");
}

int executions_ask(sqlite3 *db, const char *sql, const struct execution_filter *filter,
                   sqlite3_stmt **query)
{
    int64_t foi = filter->foi_id;
    int rc = filter->foi ? executions_foi(db, filter->foi, &foi) : 0;

    if (rc == 0)
        rc = rundb_prepare(db, sql, query);
    if (rc == 0)
        rc = rundb_bind(db, *query, "oo", foi != 0, foi, filter->rank != NO_RANK,
                        (int64_t)filter->rank);
    if (rc == 0 && filter->set && sqlite3_bind_parameter_count(*query) >= 7)
        rc = rundb_bind_set(db, *query, 7, filter->set);
    return rc;
}

int executions_each(sqlite3 *db, const struct execution_filter *filter,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = executions_ask(db,
                            filter->is_in_order  ? run_sql_executions_in_order
                            : filter->is_by_lost ? run_sql_executions_by_lost
                            : filter->is_by_cost ? run_sql_executions_by_cost
                                                 : run_sql_executions_by_score,
                            filter, &query);

    if (rc == 0) {
        sqlite3_bind_text(query, 3, filter->verdict, -1, SQLITE_STATIC);
        sqlite3_bind_int64(query, 4, filter->most ? (int64_t)filter->most : -1);
        sqlite3_bind_text(query, 5, filter->label, -1, SQLITE_STATIC);
    }
    return each_row(db, query, rc, fn, ctx);
}

int executions_one(sqlite3 *db, int64_t foi, uint32_t rank, uint32_t thread, uint32_t index,
                   void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_execution_at, "iiii", foi, (int64_t)rank,
                         (int64_t)thread, (int64_t)index);

    return each_row(db, query, rc, fn, ctx);
}

int executions_tree(sqlite3 *db, int64_t foi, int64_t tree,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_execution_of_tree, "ii", foi, tree);

    return each_row(db, query, rc, fn, ctx);
}

int executions_lost(sqlite3 *db, int64_t foi, void (*fn)(const struct lost *lost, void *ctx),
                    void *ctx, struct lost *all)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_lost_by_rank, "i", foi);

    *all = (struct lost){.rank = NO_RANK};
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        struct lost lost = {
            .rank = (uint32_t)sqlite3_column_int64(query, LOST_RANK),
            .n_executions = (uint64_t)sqlite3_column_int64(query, LOST_EXECUTIONS),
            .duration_ns = (uint64_t)sqlite3_column_int64(query, LOST_DURATION),
            .lost_ns = (uint64_t)sqlite3_column_int64(query, LOST_NS),
            .tracer_ns = (uint64_t)sqlite3_column_int64(query, LOST_TRACER),
        };

        all->n_executions += lost.n_executions;
        all->duration_ns += lost.duration_ns;
        all->lost_ns += lost.lost_ns;
        all->tracer_ns += lost.tracer_ns;
        fn(&lost, ctx);
    }
    return rundb_close_query(db, query, rc, "cannot read what was lost");
}

int executions_others(sqlite3 *db, const struct execution_filter *filter, struct others *out)
{
    sqlite3_stmt *query = NULL;
    int rc = executions_ask(db, run_sql_others, filter, &query);

    *out = (struct others){0};
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = rundb_error(db, "cannot count the executions");
    if (rc == 0)
        *out = (struct others){
            (uint64_t)sqlite3_column_int64(query, 0), (uint64_t)sqlite3_column_int64(query, 1),
            (uint64_t)sqlite3_column_int64(query, 2), (uint64_t)sqlite3_column_int64(query, 3)};
    sqlite3_finalize(query);
    return rc;
}

int executions_are_few(sqlite3 *db, int64_t foi, bool *are_few)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_typical_of, "o", foi != 0, foi);

    *are_few = false;
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = rundb_error(db, "cannot count the executions");
    if (rc == 0)
        *are_few = sqlite3_column_int64(query, 0) < ROBUST_FEW;
    sqlite3_finalize(query);
    return rc;
}

int executions_cost(sqlite3 *db, int64_t foi, struct anomalies_cost *out)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_anomalies_cost, "i", foi);

    *out = (struct anomalies_cost){.is_known = false};
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        *out = (struct anomalies_cost){
            .is_known = sqlite3_column_type(query, 0) != SQLITE_NULL,
            .cost_ns = (uint64_t)sqlite3_column_int64(query, 0),
            .is_bound = sqlite3_column_type(query, 1) == SQLITE_NULL,
            .n_carrying = (uint32_t)sqlite3_column_int64(query, 1),
        };
    sqlite3_finalize(query);
    return rc;
}

int executions_slow_places(sqlite3 *db, int64_t foi,
                           void (*fn)(const struct slow_place *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_slow_places, "i", foi);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        const struct slow_place x = {
            .place = rundb_text(query, 0),
            .verdict = rundb_text(query, 1),
            .why = rundb_text(query, 4),
            .excess_ns = (uint64_t)sqlite3_column_int64(query, 2),
            .cost_ns = (uint64_t)sqlite3_column_int64(query, 3),
            .has_cost = sqlite3_column_type(query, 3) != SQLITE_NULL,
            .cost_least_ns = (uint64_t)sqlite3_column_int64(query, 5),
            .cost_most_ns = (uint64_t)sqlite3_column_int64(query, 6),
            .has_range = sqlite3_column_type(query, 5) != SQLITE_NULL,
        };

        fn(&x, ctx);
    }
    return rundb_close_query(db, query, rc, "cannot read who is slow");
}

json_t *execution_to_json(const struct execution *x)
{
    json_t *json = json_object();

    json_object_set_new(json, "id", json_text(x->id));
    json_object_set_new(json, "foi", json_text(x->foi));
    json_object_set_new(json, "rank", json_count(x->rank));
    json_object_set_new(json, "thread", json_count(x->thread));
    json_object_set_new(json, "index", json_count(x->index));
    json_object_set_new(json, "enter_ns", json_count(x->enter_ns));
    json_object_set_new(json, "duration_ns", json_count(x->duration_ns));
    json_object_set_new(json, "off_ns", json_count(x->off_ns));
    json_object_set_new(json, "usual_ns", json_count(x->typical_ns));
    json_object_set_new(json, "lost_ns", json_count(x->lost_ns));
    json_object_set_new(json, "open_ns", x->is_open ? json_count(x->open_ns) : json_null());
    json_object_set_new(json, "cost_ns", x->has_cost ? json_count(x->cost_ns) : json_null());
    json_object_set_new(json, "cost_is_bound", json_boolean(x->is_cost_bound));
    json_object_set_new(json, "tracer_ns", json_count(x->tracer_ns));
    json_object_set_new(json, "vertices", json_count(x->n_vertices));
    json_object_set_new(json, "messages", json_count(x->n_messages));
    json_object_set_new(json, "score", json_number(x->score));
    json_object_set_new(json, "false_alarm_probability", json_number(x->chance));
    json_object_set_new(json, "verdict", json_text(x->verdict));
    json_object_set_new(json, "label", x->label ? json_text(x->label) : json_null());
    json_object_set_new(json, "why", json_text(x->why));
    return json;
}

void executions_csv_head(FILE *out)
{
    fputs("id,foi,rank,thread,index,enter_ns,duration_ns,vertices,messages,score,verdict,"
          "label,why,usual_ns,lost_ns,tracer_ns,cost_ns,cost_is_bound,off_ns,open_ns\n",
          out);
}

void execution_to_csv(const struct execution *x, FILE *out)
{
    csv_text(out, x->id, true);
    csv_text(out, x->foi, false);
    fprintf(out, ",%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g", x->rank,
            x->thread, x->index, x->enter_ns, x->duration_ns, x->n_vertices, x->n_messages,
            x->score);
    csv_text(out, x->verdict, false);
    csv_text(out, x->label ? x->label : "", false);
    csv_text(out, x->why, false);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", x->typical_ns, x->lost_ns,
            x->tracer_ns);
    if (x->has_cost)
        fprintf(out, "%" PRIu64, x->cost_ns);
    fprintf(out, ",%d,%" PRIu64 ",", x->is_cost_bound, x->off_ns);
    if (x->is_open)
        fprintf(out, "%" PRIu64, x->open_ns);
    putc('\n', out);
}
