#include "ps/ps_tables.h"

#include "base/err.h"
#include "ps/ps_ask.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char tables[] =
    "CREATE TABLE server (version INTEGER, round INTEGER, clients INTEGER);"
    "CREATE TABLE functions (fid INTEGER PRIMARY KEY, program TEXT, name TEXT, calls INTEGER, "
    "min_ns INTEGER, max_ns INTEGER, mean_ns REAL, stddev_ns REAL, total_ns REAL, median_ns "
    "REAL, p90_ns REAL, p99_ns REAL);"
    "CREATE TABLE statistics (program TEXT, rank INTEGER, function TEXT, name TEXT, n INTEGER, "
    "min REAL, max REAL, sum REAL, mean REAL, stddev REAL);";

static void bind_text(sqlite3_stmt *s, int at, const char *text, size_t n)
{
    sqlite3_bind_text(s, at, text, (int)n, SQLITE_TRANSIENT);
}

/* As much as a column holds. */
static int64_t whole(uint64_t ns)
{
    return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

static int finish_row(sqlite3_stmt *s)
{
    int status = sqlite3_step(s);

    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status == SQLITE_DONE ? 0 : ERR_DATABASE;
}

static int add_function(sqlite3_stmt *s, uint32_t fid, const char *text,
                        const struct sketch *sketch)
{
    const char *end = strchr(text, '\n');

    sqlite3_bind_int64(s, 1, fid);
    bind_text(s, 2, text, (size_t)(end - text));
    bind_text(s, 3, end + 1, strlen(end + 1));
    sqlite3_bind_int64(s, 4, sketch ? (int64_t)sketch->n : 0);
    if (sketch && sketch->n > 0) {
        sqlite3_bind_int64(s, 5, whole(sketch->min));
        sqlite3_bind_int64(s, 6, whole(sketch->max));
        sqlite3_bind_double(s, 7, sketch_mean(sketch));
        sqlite3_bind_double(s, 8, sketch_deviation(sketch));
        sqlite3_bind_double(s, 9, (double)sketch->sum);
        sqlite3_bind_double(s, 10, sketch_quantile(sketch, 0.5));
        sqlite3_bind_double(s, 11, sketch_quantile(sketch, 0.9));
        sqlite3_bind_double(s, 12, sketch_quantile(sketch, 0.99));
    }
    return finish_row(s);
}

static int add_statistic(sqlite3_stmt *s, const char *of, const struct ps_stat *x)
{
    double sum = x->is_real ? x->real.sum : (double)x->whole.sum, n = (double)x->n,
           squares = x->is_real ? x->real.square_sum : (double)x->whole.square_sum;
    char text[PS_KEY_SIZE];
    struct ps_stat_key key;

    snprintf(text, sizeof text, "%s", of);
    key = ps_state_split(text);
    bind_text(s, 1, key.program, strlen(key.program));
    if (key.rank != PS_ALL_RANKS)
        sqlite3_bind_int64(s, 2, key.rank);
    if (*key.region)
        bind_text(s, 3, key.region, strlen(key.region));
    bind_text(s, 4, key.name, strlen(key.name));
    sqlite3_bind_int64(s, 5, (int64_t)x->n);
    sqlite3_bind_double(s, 6, x->is_real ? x->real.min : (double)x->whole.min);
    sqlite3_bind_double(s, 7, x->is_real ? x->real.max : (double)x->whole.max);
    sqlite3_bind_double(s, 8, sum);
    sqlite3_bind_double(s, 9, sum / n);
    sqlite3_bind_double(s, 10, sqrt(fmax(squares / n - sum / n * (sum / n), 0)));
    return finish_row(s);
}

static int fill(sqlite3 *db, const struct ps_snapshot *from, uint32_t n_clients)
{
    sqlite3_stmt *function = NULL, *statistic = NULL;
    char *server = sqlite3_mprintf("INSERT INTO server VALUES (%lld, %lld, %u)",
                                   (long long)from->version, (long long)from->round, n_clients);
    int rc =
        server && sqlite3_exec(db, tables, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(db, server, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(
                    db, "INSERT INTO functions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                    &function, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(
                    db, "INSERT INTO statistics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                    &statistic, NULL) == SQLITE_OK
            ? 0
            : ERR_DATABASE;

    for (uint32_t i = 0; rc == 0 && i < from->n_functions; i++)
        rc = add_function(function, i, from->function[i],
                          i < from->state.n ? &from->state.sketch[i] : NULL);
    for (uint32_t i = 0; rc == 0 && i < from->state.key.n; i++)
        rc = add_statistic(statistic, from->state.key.name[i], &from->state.stat[i]);
    sqlite3_finalize(function);
    sqlite3_finalize(statistic);
    sqlite3_free(server);
    return rc;
}

int ps_tables_open(const struct ps_snapshot *snapshot, uint32_t n_clients, sqlite3 **db)
{
    int rc = sqlite3_open(":memory:", db) == SQLITE_OK ? fill(*db, snapshot, n_clients)
                                                       : ERR_DATABASE;

    if (rc < 0) {
        rc = err_set(rc, "cannot make tables of what the server knows: %s",
                     *db ? sqlite3_errmsg(*db) : "no memory");
        sqlite3_close(*db);
        *db = NULL;
    }
    return rc;
}

int ps_tables_of(const char *source, const char *key_file, sqlite3 **db)
{
    struct ps_snapshot snapshot;
    uint32_t n_clients;
    int rc = ps_ask_any(source, key_file, PS_ASK_MS, &snapshot, &n_clients);

    *db = NULL;
    if (rc == 0)
        rc = ps_tables_open(&snapshot, n_clients, db);
    ps_snapshot_release(&snapshot);
    return rc;
}
