/*
 * A virtual table of SQLite (sqlite.org/vtab.html). A plan is a text: `w3,2;` compare column 3
 * by operator 2 with the next value, `o5,1;` order by column 5 downwards, `m1f;` which columns
 * are looked at. SQLite checks every condition again, so what is handed on has only to keep all
 * that could pass; what does not suit a column's type is not handed on at all. Orders are
 * handed on all or none, and must be as SQLite has them: nothing before everything, texts by
 * their bytes.
 */
#include "postgres/pg_tables.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE "postgres"
#define FIRST_ROWS 64 /* of a cursor; then ever more: many a question needs only a few */
#define MAX_ROWS 1024
#define MAX_COLUMNS 60 /* a bit each */
#define MAX_VALUES 32
#define EXACT_WHOLE ((int64_t)1 << 53) /* beyond that, a double is not a whole number */

/* Object identifiers of types, which do not change (pg_type.dat). */
enum { OID_BYTES = 17, OID_WHOLE = 20, OID_TEXT = 25, OID_JSON = 114, OID_REAL = 701 };

/* What all tables of a connection share. */
struct shared_connection {
    PGconn *connection;
    unsigned n_cursors; /* ever */
};

struct pg_table {
    sqlite3_vtab base;
    struct shared_connection *link;
    char *name;
    char *column[MAX_COLUMNS];
    Oid type[MAX_COLUMNS];
    int n;
};

struct pg_cursor {
    sqlite3_vtab_cursor base;
    PGresult *rows;
    int at, n_rows;
    int field[MAX_COLUMNS]; /* of a column in the rows, -1: was not asked for */
    unsigned number;
    int next; /* rows to fetch */
    bool is_open;
    sqlite3_int64 n_before;
};

static const struct {
    int op;
    const char *sql;
} operators[] = {{SQLITE_INDEX_CONSTRAINT_EQ, "="},
                 {SQLITE_INDEX_CONSTRAINT_GT, ">"},
                 {SQLITE_INDEX_CONSTRAINT_LE, "<="},
                 {SQLITE_INDEX_CONSTRAINT_LT, "<"},
                 {SQLITE_INDEX_CONSTRAINT_GE, ">="}};

/* --------------------------------------------------------------------------------- errors */

static int failed(struct pg_table *t, const PGresult *result)
{
    const char *message = result ? PQresultErrorMessage(result) : "";

    message = *message ? message : PQerrorMessage(t->link->connection);
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg = sqlite3_mprintf("%.*s", (int)strcspn(message, "\n"), message);
    return SQLITE_ERROR;
}

/* --------------------------------------------------------------------------------- tables */

static const char *type_name(Oid type)
{
    return type == OID_WHOLE   ? "INTEGER"
           : type == OID_REAL  ? "REAL"
           : type == OID_BYTES ? "BLOB"
                               : "TEXT";
}

static int declare(sqlite3 *db, struct pg_table *t)
{
    char *sql = NULL;
    size_t size;
    FILE *out = text_open(&sql, &size);
    int status;

    fputs("CREATE TABLE x(", out);
    for (int i = 0; i < t->n; i++)
        fprintf(out, "%s\"%s\" %s", i ? ", " : "", t->column[i], type_name(t->type[i]));
    fputs(")", out);
    fclose(out);
    status = sqlite3_declare_vtab(db, sql);
    free(sql);
    return status;
}

static int read_columns(struct pg_table *t, char **error)
{
    char sql[256];
    PGresult *result;
    int status = SQLITE_OK;

    snprintf(sql, sizeof sql, "SELECT * FROM %s LIMIT 0", t->name);
    result = PQexec(t->link->connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQnfields(result) > MAX_COLUMNS) {
        status = failed(t, result);
        *error = sqlite3_mprintf("%s", t->base.zErrMsg);
    }
    t->n = status == SQLITE_OK ? PQnfields(result) : 0;
    for (int i = 0; i < t->n; i++) {
        t->column[i] = mem_copy_string(PQfname(result, i));
        t->type[i] = PQftype(result, i);
    }
    PQclear(result);
    return status;
}

static int disconnect(sqlite3_vtab *base)
{
    struct pg_table *t = (struct pg_table *)base;

    for (int i = 0; i < t->n; i++)
        free(t->column[i]);
    free(t->name);
    free(t);
    return SQLITE_OK;
}

static int connect_table(sqlite3 *db, void *ctx, int n, const char *const *word,
                         sqlite3_vtab **out, char **error)
{
    struct pg_table *t = mem_alloc(1, sizeof *t);
    int status;

    (void)n;
    t->link = ctx;
    t->name = mem_copy_string(word[2]);
    status = read_columns(t, error);
    if (status == SQLITE_OK)
        status = declare(db, t);
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg = NULL;
    if (status == SQLITE_OK)
        *out = &t->base;
    else
        disconnect(&t->base);
    return status;
}

/* ----------------------------------------------------------------------------------- plan */

static int operator_of(int op)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].op == op)
            return (int)i;
    return -1;
}

static bool may_hand_on(const struct pg_table *t, int column, int op)
{
    if (column < 0 || op < 0 || t->type[column] == OID_BYTES || t->type[column] == OID_JSON)
        return false;
    return t->type[column] != OID_TEXT || operators[op].op == SQLITE_INDEX_CONSTRAINT_EQ;
}

/* Rows that are left by a condition, as a guess: what is equal is rare. */
static double share_of(int op)
{
    return operators[op].op == SQLITE_INDEX_CONSTRAINT_EQ ? 0.01 : 0.3;
}

static double plan_conditions(struct pg_table *t, sqlite3_index_info *info, FILE *out)
{
    double n_rows = 1e6;
    int n = 0;

    for (int i = 0; i < info->nConstraint && n < MAX_VALUES; i++) {
        int column = info->aConstraint[i].iColumn;
        int op = operator_of(info->aConstraint[i].op);

        if (!info->aConstraint[i].usable || !may_hand_on(t, column, op) ||
            strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        info->aConstraintUsage[i].argvIndex = ++n;
        fprintf(out, "w%d,%d;", column, op);
        n_rows *= share_of(op);
    }
    return n_rows;
}

static void plan_order(struct pg_table *t, sqlite3_index_info *info, FILE *out)
{
    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;

        if (column < 0 || t->type[column] == OID_BYTES || t->type[column] == OID_JSON)
            return;
    }
    for (int i = 0; i < info->nOrderBy; i++)
        fprintf(out, "o%d,%d;", info->aOrderBy[i].iColumn, info->aOrderBy[i].desc);
    info->orderByConsumed = info->nOrderBy > 0;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct pg_table *t = (struct pg_table *)base;
    char *text = NULL;
    size_t size;
    FILE *out = text_open(&text, &size);
    double n_rows = plan_conditions(t, info, out);

    plan_order(t, info, out);
    fprintf(out, "m%" PRIx64 ";", (uint64_t)info->colUsed);
    fclose(out);
    info->idxStr = sqlite3_mprintf("%s", text);
    info->needToFreeIdxStr = 1;
    info->estimatedRows = (sqlite3_int64)(n_rows > 1 ? n_rows : 1);
    info->estimatedCost = n_rows * (info->orderByConsumed ? 1 : 1.2) + 100;
    free(text);
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* -------------------------------------------------------------------------------- reading */

/* A value as PostgreSQL reads it; false for one that may be compared otherwise there. */
static bool value_text(Oid type, sqlite3_value *value, char number[40], const char **out)
{
    int kind = sqlite3_value_type(value);

    *out = number;
    if (type == OID_TEXT) {
        *out = kind == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
        return *out && strlen(*out) == (size_t)sqlite3_value_bytes(value);
    }
    if (kind == SQLITE_INTEGER && type == OID_WHOLE) {
        snprintf(number, 40, "%lld", (long long)sqlite3_value_int64(value));
        return true;
    }
    if (kind == SQLITE_INTEGER && llabs(sqlite3_value_int64(value)) > EXACT_WHOLE)
        return false;
    snprintf(number, 40, "%.17g", sqlite3_value_double(value));
    return (kind == SQLITE_INTEGER || kind == SQLITE_FLOAT) && type == OID_REAL;
}

struct pg_question {
    FILE *sql;
    const char *value[MAX_VALUES];
    char number[MAX_VALUES][40];
    int n;
};

static void write_columns(const struct pg_table *t, uint64_t used, struct pg_cursor *c,
                          FILE *out)
{
    int n = 0;

    for (int i = 0; i < t->n; i++) {
        bool is_asked = used >> i & 1;

        c->field[i] = is_asked ? n : -1;
        if (is_asked)
            fprintf(out, "%s\"%s\"", n++ ? ", " : "", t->column[i]);
    }
    fprintf(out, "%s FROM %s", n ? "" : "1", t->name);
}

static void write_conditions(const struct pg_table *t, const char *plan_text,
                             sqlite3_value **value, struct pg_question *q)
{
    int column, op, taken = 0;

    for (const char *at = plan_text; sscanf(at, "w%d,%d;", &column, &op) == 2;
         at = strchr(at, ';') + 1) {
        if (!value_text(t->type[column], value[taken++], q->number[q->n], &q->value[q->n]))
            continue;
        fprintf(q->sql, " %s \"%s\" %s $%d", q->n ? "AND" : "WHERE", t->column[column],
                operators[op].sql, q->n + 1);
        q->n++;
    }
}

static void write_order(const struct pg_table *t, const char *plan_text, struct pg_question *q)
{
    int column, is_down;
    bool is_first = true;

    for (const char *at = plan_text; *at; at = strchr(at, ';') + 1)
        if (sscanf(at, "o%d,%d;", &column, &is_down) == 2) {
            fprintf(q->sql, "%s\"%s\"%s %s", is_first ? " ORDER BY " : ", ", t->column[column],
                    t->type[column] == OID_TEXT ? " COLLATE \"C\"" : "",
                    is_down ? "DESC NULLS LAST" : "ASC NULLS FIRST");
            is_first = false;
        }
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct pg_cursor *c = mem_alloc(1, sizeof *c);

    (void)base;
    *out = &c->base;
    return SQLITE_OK;
}

static void end_cursor(struct pg_cursor *c)
{
    struct pg_table *t = (struct pg_table *)c->base.pVtab;
    char sql[64];

    PQclear(c->rows);
    c->rows = NULL;
    if (!c->is_open)
        return;
    c->is_open = false;
    snprintf(sql, sizeof sql, "CLOSE snag_%u", c->number);
    PQclear(PQexec(t->link->connection, sql));
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    end_cursor((struct pg_cursor *)base);
    free(base);
    return SQLITE_OK;
}

static int fetch(struct pg_cursor *c)
{
    struct pg_table *t = (struct pg_table *)c->base.pVtab;
    char sql[64];

    c->n_before += c->n_rows;
    PQclear(c->rows);
    snprintf(sql, sizeof sql, "FETCH FORWARD %d FROM snag_%u", c->next, c->number);
    c->rows = PQexecParams(t->link->connection, sql, 0, NULL, NULL, NULL, NULL, 1);
    c->next = c->next < MAX_ROWS ? 2 * c->next : MAX_ROWS;
    c->at = 0;
    c->n_rows = PQntuples(c->rows);
    return PQresultStatus(c->rows) == PGRES_TUPLES_OK ? SQLITE_OK : failed(t, c->rows);
}

static int declare_cursor(struct pg_cursor *c, const struct pg_question *q, const char *sql)
{
    struct pg_table *t = (struct pg_table *)c->base.pVtab;
    PGresult *result =
        PQexecParams(t->link->connection, sql, q->n, NULL, q->value, NULL, NULL, 0);
    int status = PQresultStatus(result) == PGRES_COMMAND_OK ? SQLITE_OK : failed(t, result);

    PQclear(result);
    c->is_open = status == SQLITE_OK;
    return status;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int n,
                  sqlite3_value **value)
{
    struct pg_cursor *c = (struct pg_cursor *)base;
    struct pg_table *t = (struct pg_table *)base->pVtab;
    struct pg_question q = {.n = 0};
    uint64_t used = UINT64_MAX;
    char *sql = NULL;
    size_t size;
    int status;

    (void)number, (void)n;
    end_cursor(c);
    *c =
        (struct pg_cursor){.base = c->base, .number = t->link->n_cursors++, .next = FIRST_ROWS};
    sscanf(strchr(text, 'm'), "m%" SCNx64, &used);
    q.sql = text_open(&sql, &size);
    fprintf(q.sql, "DECLARE snag_%u NO SCROLL CURSOR FOR SELECT ", c->number);
    write_columns(t, used, c, q.sql);
    write_conditions(t, text, value, &q);
    write_order(t, text, &q);
    fclose(q.sql);
    status = declare_cursor(c, &q, sql);
    free(sql);
    return status == SQLITE_OK ? fetch(c) : status;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct pg_cursor *c = (struct pg_cursor *)base;

    return ++c->at < c->n_rows ? SQLITE_OK : fetch(c);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct pg_cursor *c = (const struct pg_cursor *)base;

    return c->at >= c->n_rows;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
    const struct pg_cursor *c = (const struct pg_cursor *)base;
    const struct pg_table *t = (const struct pg_table *)base->pVtab;
    int field = c->field[i];
    const char *at;
    int bytes;

    if (field < 0 || PQgetisnull(c->rows, c->at, field))
        return SQLITE_OK; /* NULL */
    at = PQgetvalue(c->rows, c->at, field);
    bytes = PQgetlength(c->rows, c->at, field);
    if (t->type[i] == OID_WHOLE && bytes == 8)
        sqlite3_result_int64(context, pg_get_i64(at));
    else if (t->type[i] == OID_REAL && bytes == 8)
        sqlite3_result_double(context, pg_get_f64(at));
    else if (t->type[i] == OID_BYTES)
        sqlite3_result_blob(context, at, bytes, SQLITE_TRANSIENT);
    else
        sqlite3_result_text(context, at, bytes, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    const struct pg_cursor *c = (const struct pg_cursor *)base;

    *out = c->n_before + c->at;
    return SQLITE_OK;
}

/* -------------------------------------------------------------------------------- opening */

static const sqlite3_module module = {.iVersion = 1,
                                      .xCreate = connect_table,
                                      .xConnect = connect_table,
                                      .xBestIndex = plan,
                                      .xDisconnect = disconnect,
                                      .xDestroy = disconnect,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = filter,
                                      .xNext = next,
                                      .xEof = is_at_end,
                                      .xColumn = column,
                                      .xRowid = rowid};

static void close_link(void *ctx)
{
    struct shared_connection *link = ctx;

    PQfinish(link->connection);
    free(link);
}

static int make_table(struct database *d, const char *name)
{
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.%w USING " MODULE, name);
    int status = sql ? sqlite3_exec(d->sql, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    return status == SQLITE_OK
               ? 0
               : err_set(ERR_DATABASE, "cannot read the database: %s", sqlite3_errmsg(d->sql));
}

int pg_tables_open(struct database *d, PGconn *connection, const char *const *table, size_t n)
{
    struct shared_connection *link;
    int dir, rc = fs_open_dir("/", &dir);

    *d = (struct database){.dir = -1};
    if (rc == 0) {
        rc = database_memory(d, dir);
        close(dir);
    }
    if (rc < 0) {
        PQfinish(connection);
        return rc;
    }
    link = mem_alloc(1, sizeof *link);
    *link = (struct shared_connection){.connection = connection};
    if (sqlite3_create_module_v2(d->sql, MODULE, &module, link, close_link) != SQLITE_OK)
        return err_set(ERR_DATABASE, "cannot read the database: %s", sqlite3_errmsg(d->sql));
    rc = pg_run(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = make_table(d, table[i]);
    database_unbound(d); /* what is there is bounded by who asks */
    return rc;
}
