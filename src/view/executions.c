/* One query with optional conditions: an unset parameter is NULL and matches all. */
#include "view/executions.h"

#include "base/err.h"
#include "run/rundb.h"
#include "trace/definitions.h"
#include "view/csv.h"
#include "base/json.h"

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

int executions_foi(sqlite3 *db, const char *name, int64_t *id)
{
    sqlite3_stmt *query;
    char names[512] = "";
    size_t n = 0, length = 0;
    int rc = rundb_prepare(db,
                           "SELECT id, name FROM foi WHERE ?1 IS NULL OR name = ?1 OR "
                           "(instr(name, ?1) > 0 AND NOT EXISTS "
                           "(SELECT 1 FROM foi WHERE name = ?1)) ORDER BY id",
                           &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "t", name);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        if (n++ == 0)
            *id = sqlite3_column_int64(query, 0);
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.60s",
                                   n > 1 ? ", " : "", rundb_text(query, 1));
        if (length >= sizeof names)
            length = sizeof names - 1;
    }
    sqlite3_finalize(query);
    if (rc == 0 && n == 0)
        return err_set(ERR_NOT_FOUND, "the run has no function of interest '%s'", name);
    if (rc == 0 && n > 1)
        return err_set(ERR_USAGE, "several functions of interest: say --foi with one of %s",
                       names);
    return rc;
}

static int64_t count_fois(sqlite3 *db)
{
    sqlite3_stmt *query;
    int64_t n = 0;

    if (rundb_prepare(db, "SELECT count(*) FROM foi", &query) == 0 &&
        sqlite3_step(query) == SQLITE_ROW)
        n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return n;
}

static void fill(struct execution *x, sqlite3_stmt *query, bool has_several)
{
    *x = (struct execution){
        .foi_id = sqlite3_column_int64(query, 0),
        .foi = rundb_text(query, 1),
        .tree = sqlite3_column_int64(query, 2),
        .location = (uint32_t)sqlite3_column_int64(query, 3),
        .rank = (uint32_t)sqlite3_column_int64(query, 4),
        .thread = (uint32_t)sqlite3_column_int64(query, 5),
        .index = (uint32_t)sqlite3_column_int64(query, 6),
        .call = (uint32_t)sqlite3_column_int64(query, 7),
        .enter_ns = (uint64_t)sqlite3_column_int64(query, 8),
        .duration_ns = (uint64_t)sqlite3_column_int64(query, 9),
        .n_vertices = (uint64_t)sqlite3_column_int64(query, 10),
        .n_messages = (uint64_t)sqlite3_column_int64(query, 11),
        .score = sqlite3_column_double(query, 12),
        .verdict = rundb_text(query, 13),
        .why = rundb_text(query, 14),
        .label = rundb_text_or_null(query, 15),
        .part = rundb_text(query, 16),
        .cause = rundb_text_or_null(query, 17),
    };
    execution_id(x->id, has_several ? x->foi : NULL, x->rank, x->thread, x->index);
}

#define SELECT                                                                                 \
    "SELECT e.foi, f.name, e.tree, e.location, e.rank, e.thread, e.idx, e.call, e.enter_ns, "  \
    "e.duration_ns, e.vertices, e.messages, e.score, e.verdict, "                              \
    "e.why || coalesce('; cause: ' || e.cause, ''), "                                          \
    "(SELECT l.label FROM label l WHERE l.foi = e.foi AND l.rank = e.rank "                    \
    "AND l.thread = e.thread AND l.idx = e.idx ORDER BY l.id DESC LIMIT 1), e.part, e.cause "  \
    "FROM execution e JOIN foi f ON f.id = e.foi WHERE "

static int each_row(sqlite3 *db, sqlite3_stmt *query,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    bool has_several = count_fois(db) > 1;
    int status;

    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        struct execution x;

        fill(&x, query, has_several);
        fn(&x, ctx);
    }
    return status == SQLITE_DONE ? 0 : rundb_error(db, "cannot read the executions");
}

int executions_each(sqlite3 *db, const struct execution_filter *filter,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    static const char where[] =
        SELECT "(?1 IS NULL OR e.foi = ?1) AND (?2 IS NULL OR e.rank = ?2) AND "
               "(?3 IS NULL OR e.verdict = ?3) ORDER BY ";
    static const char by_score[] =
        "e.score DESC, e.time DESC, e.gross DESC, e.foi, e.tree LIMIT ?4";
    static const char in_order[] = "e.foi, e.tree LIMIT ?4";
    char sql[sizeof where + sizeof by_score];
    sqlite3_stmt *query = NULL;
    int64_t foi = filter->foi_id;
    int rc = 0;

    if (filter->foi)
        rc = executions_foi(db, filter->foi, &foi);
    snprintf(sql, sizeof sql, "%s%s", where, filter->is_in_order ? in_order : by_score);
    if (rc == 0)
        rc = rundb_prepare(db, sql, &query);
    if (rc == 0)
        rc = rundb_bind(db, query, "ooti", foi != 0, foi, filter->rank != NO_RANK,
                        (int64_t)filter->rank, filter->verdict,
                        filter->most ? (int64_t)filter->most : (int64_t)-1);
    if (rc == 0)
        rc = each_row(db, query, fn, ctx);
    sqlite3_finalize(query);
    return rc;
}

int executions_one(sqlite3 *db, int64_t foi, uint32_t rank, uint32_t thread, uint32_t index,
                   void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, SELECT "e.foi = ? AND e.rank = ? AND e.thread = ? AND e.idx = ?",
                           &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "iiii", foi, (int64_t)rank, (int64_t)thread, (int64_t)index);
    if (rc == 0)
        rc = each_row(db, query, fn, ctx);
    sqlite3_finalize(query);
    return rc;
}

int executions_tree(sqlite3 *db, int64_t foi, int64_t tree,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, SELECT "e.foi = ? AND e.tree = ?", &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "ii", foi, tree);
    if (rc == 0)
        rc = each_row(db, query, fn, ctx);
    sqlite3_finalize(query);
    return rc;
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
    json_object_set_new(json, "vertices", json_count(x->n_vertices));
    json_object_set_new(json, "messages", json_count(x->n_messages));
    json_object_set_new(json, "score", json_number(x->score));
    json_object_set_new(json, "verdict", json_text(x->verdict));
    json_object_set_new(json, "label", x->label ? json_text(x->label) : json_null());
    json_object_set_new(json, "why", json_text(x->why));
    return json;
}

void executions_csv_head(FILE *out)
{
    fputs("id,foi,rank,thread,index,enter_ns,duration_ns,vertices,messages,score,verdict,"
          "label,why\n",
          out);
}

void execution_to_csv(const struct execution *x, FILE *out)
{
    csv_text(out, x->id, true);
    csv_text(out, x->foi, false);
    fprintf(out, ",%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,%s,%s,",
            x->rank, x->thread, x->index, x->enter_ns, x->duration_ns, x->n_vertices,
            x->n_messages, x->score, x->verdict, x->label ? x->label : "");
    csv_text(out, x->why, true);
    fputc('\n', out);
}
