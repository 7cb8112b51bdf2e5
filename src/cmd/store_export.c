/*
 * Each format is a function of one row: the columns of the view, the last of which is the whole
 * record as JSON. Windows overlap, so Chrome's events are written once per call.
 */
#include "cmd/store_export.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/log.h"
#include "cmd/output.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "run/rundb.h"
#include "view/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct store_export {
    const struct settings *settings;
    const char *category; /* of the calls that are exported themselves */
    FILE *out;
    struct idmap process, step, call; /* run and process; of these, its steps; of these, calls
                                         that were written */
    uint64_t n_damaged;
    bool is_first;
};

int store_status(uint64_t n_damaged)
{
    if (n_damaged == 0)
        return STATUS_DONE;
    log_warn("prov", "%llu damaged records were left out", (unsigned long long)n_damaged);
    return STATUS_DAMAGED;
}

/* ------------------------------------------------------------------------------ csv, json */

static void row_csv(struct store_export *e, sqlite3_stmt *row)
{
    for (int c = 0; c < sqlite3_column_count(row) - 1; c++) {
        int type = sqlite3_column_type(row, c);

        (type == SQLITE_TEXT ? csv_text : csv_number)(e->out, rundb_text(row, c), c == 0);
    }
    fputc('\n', e->out);
}

static void csv_names(struct store_export *e, sqlite3_stmt *query)
{
    for (int c = 0; c < sqlite3_column_count(query) - 1; c++)
        csv_text(e->out, sqlite3_column_name(query, c), c == 0);
    fputc('\n', e->out);
}

static void row_json(struct store_export *e, sqlite3_stmt *row)
{
    fprintf(e->out, "%s\n", rundb_text(row, sqlite3_column_count(row) - 1));
}

/* --------------------------------------------------------------------------------- chrome */

static json_int_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* False when the call was written before. Numbers of a step and of a call have all 64 bits. */
static bool is_new(struct store_export *e, const json_t *record, const json_t *call)
{
    const char *id = json_string_value(json_object_get(call, "event_id"));
    uint64_t run = (uint64_t)whole(record, "run"), program = (uint64_t)whole(record, "pid");
    unsigned long long rank = 0, step = 0, index = 0;
    uint32_t n = e->call.n, within;

    if (id == NULL || sscanf(id, "%llu:%llu:%llu", &rank, &step, &index) != 3)
        return true;
    within = idmap_add(&e->process, key_pair(run, program << 32 | rank));
    within = idmap_add(&e->step, key_pair(within, step));
    idmap_add(&e->call, key_pair(within, index));
    return e->call.n > n;
}

static void put_event(struct store_export *e, json_t *event)
{
    fputs(e->is_first ? "\n" : ",\n", e->out);
    e->is_first = false;
    json_put(e->out, event, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(event);
}

/* A call that was not over has no length that we know. */
static json_t *call_event(const json_t *call, json_int_t rank, json_int_t thread,
                          const char *category)
{
    double entry = number(call, "entry"), exit = number(call, "exit");
    json_t *event = json_object();

    json_object_set_new(event, "ph", json_string(exit > 0 ? "X" : "B"));
    json_object_set_new(event, "pid", json_integer(rank));
    json_object_set_new(event, "tid", json_integer(thread));
    json_object_set_new(event, "ts", json_number(entry));
    if (exit > 0)
        json_object_set_new(event, "dur", json_number(round((exit - entry) * 1e3) / 1e3));
    json_object_set(event, "name", json_object_get(call, "func"));
    json_object_set_new(event, "cat", json_string(category));
    return event;
}

/* owner  the record, or a partner of its */
static void put_window(struct store_export *e, const json_t *record, const json_t *owner)
{
    const json_t *window = json_object_get(owner, "event_window"), *call;
    size_t i;

    json_array_foreach(json_object_get(window, "exec_window"), i, call)
    {
        if (is_new(e, record, call))
            put_event(e, call_event(call, whole(owner, "rid"), whole(owner, "tid"), "window"));
    }
}

static void put_record(struct store_export *e, const json_t *record)
{
    static const char *const arguments[] = {"event_id", "outlier_score", "outlier_severity",
                                            "p"};
    json_t *event = call_event(record, whole(record, "rid"), whole(record, "tid"), e->category);
    json_t *args = json_object();

    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        json_object_set(args, arguments[i], json_object_get(record, arguments[i]));
    json_object_set_new(event, "args", args);
    put_event(e, event);
}

static void row_chrome(struct store_export *e, sqlite3_stmt *row)
{
    json_t *record = json_loads(rundb_text(row, sqlite3_column_count(row) - 1), 0, NULL);
    const json_t *partner;
    size_t i;

    is_new(e, record, record);
    put_record(e, record);
    put_window(e, record, record);
    json_array_foreach(json_object_get(record, "partners"), i, partner)
    {
        put_window(e, record, partner);
    }
    json_decref(record);
}

/* --------------------------------------------------------------------------------- all rows */

typedef void row_fn(struct store_export *e, sqlite3_stmt *row);

static int each_row(struct store_export *e, struct database *reader, row_fn *fn)
{
    const char *what = e->settings->what ? e->settings->what : "anomalies";
    sqlite3_stmt *query = NULL;
    char *sql = prov_sql_all(what, e->settings->rank);
    int rc = rundb_prepare(reader->sql, sql, &query), status = SQLITE_DONE;

    if (rc == 0 && fn == row_csv)
        csv_names(e, query);
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW) {
        if (sqlite3_column_type(query, sqlite3_column_count(query) - 1) == SQLITE_NULL)
            e->n_damaged++;
        else
            fn(e, query);
    }
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(reader, e->settings->args[0]);
    sqlite3_finalize(query);
    sqlite3_free(sql);
    return rc;
}

static int write_rows(struct store_export *e, struct database *reader)
{
    const char *format = settings_format(e->settings, "csv");
    int rc;

    if (strcmp(format, "json") == 0)
        return each_row(e, reader, row_json);
    if (strcmp(format, "csv") == 0)
        return each_row(e, reader, row_csv);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", e->out);
    rc = each_row(e, reader, row_chrome);
    fputs("\n]}\n", e->out);
    return rc;
}

static int check(const struct settings *s)
{
    if (s->what && prov_sql_collection(s->what) == NULL)
        return err_set(ERR_USAGE, "a store has anomalies and normalexecs, not '%s'", s->what);
    if (s->foi.n > 0 || s->verdict || s->is_verified)
        return err_set(ERR_USAGE, "--foi, --verdict and --verify are for runs; see snag provdb "
                                  "filter");
    return 0;
}

int store_export(const struct settings *settings)
{
    bool is_normal = settings->what && strcmp(settings->what, "normalexecs") == 0;
    struct store_export e = {
        .settings = settings, .is_first = true, .category = is_normal ? "normal" : "anomaly"};
    struct output output = {0};
    struct database reader = {0};
    int rc = check(settings);

    if (rc == 0)
        rc = prov_reader_open(settings->args[0], &reader);
    if (rc == 0)
        rc = output_open(&output, settings->output);
    e.out = output.file;
    if (rc == 0)
        rc = write_rows(&e, &reader);
    rc = output_close(&output, rc);
    database_close(&reader);
    idmap_release(&e.process);
    idmap_release(&e.step);
    idmap_release(&e.call);
    return rc < 0 ? rc : store_status(e.n_damaged);
}
