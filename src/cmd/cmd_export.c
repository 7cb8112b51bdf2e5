/*
 * snag export -- results for other tools. One writer per (what, format); each streams, so that
 * a run of any size can be exported.
 *
 * Parquet is a file, or a directory with one for each table. Processes that write it together
 * have locations that follow each other, about as many rows each: their files, in the order of
 * names, are the table that one process writes. None of them is there under its name before
 * all are written.
 *
 * Of a store each format is a function of one row: the columns of the view, the last of which
 * is the whole record as JSON. Windows overlap, so Chrome's events are written once per call.
 */
#include "cmd/cmd_export.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process_group.h"
#include "cmd/commands.h"
#include "cmd/launcher.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "prov/prov_store.h"
#include "run/run_sql.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "run/rundir.h"
#include "trace/event.h"
#include "view/csv.h"
#include "view/executions.h"
#include "view/run_parquet.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------ tables of Parquet */

#define MAX_TABLES 3

struct parquet_export {
    const struct settings *settings;
    struct run run;
    struct process_group *process_group; /* NULL: this process is alone */
    struct pool *pool;
    struct run_parquet_part part;
    const char *table[MAX_TABLES];
    unsigned n_tables;
    char path[MAX_TABLES][FS_PATH_SIZE];
    struct output output[MAX_TABLES];
    unsigned n_opened;
};

/* --------------------------------------------------------------------------- what is whose */

/* The first location of a process: rows are shared out as evenly as whole locations can be. */
static uint32_t first_location(const struct columns *columns, unsigned process, unsigned size)
{
    uint64_t n_rows = columns->n_calls + columns->n_messages, before = 0;
    uint32_t l = 0;

    for (; l < columns->n_locations && process < size; l++) {
        uint64_t n = columns->range[l].n_calls + columns->range[l].n_messages;

        if ((before + n / 2) * size >= n_rows * process)
            break;
        before += n;
    }
    return process < size ? l : columns->n_locations;
}

static struct run_parquet_part part_of(const struct parquet_export *e)
{
    unsigned me = process_group_me(e->process_group),
             size = process_group_size(e->process_group);
    const struct columns *columns = &e->run.columns;

    return (struct run_parquet_part){me == 0 ? 0 : first_location(columns, me, size),
                                     first_location(columns, me + 1, size), e->settings->rank};
}

/* All of it is read anyway, so nothing damaged goes out. */
static int check_part(const struct parquet_export *e)
{
    const struct columns *columns = &e->run.columns;
    int rc = process_group_me(e->process_group) == 0 ? columns_verify_others(columns) : 0;

    for (uint32_t l = e->part.begin; rc == 0 && l < e->part.end; l++) {
        rc = columns_verify_location(columns, l);
        if (rc == 0)
            rc = columns_check(columns, l, &e->run.defs);
    }
    return rc;
}

/* ----------------------------------------------------------------------------------- files */

/* A directory that is there, or is said to be one: there is a file in it for each table. */
static bool is_directory(const char *path)
{
    return path && (fs_is_directory(path) || (*path && path[strlen(path) - 1] == '/'));
}

static bool is_shared_out(const char *table)
{
    return strcmp(table, "calls") == 0 || strcmp(table, "messages") == 0;
}

/* Files of a table: calls.parquet, or calls-0.parquet to calls-7.parquet. */
static void name_of(const struct parquet_export *e, const char *table, char out[64])
{
    unsigned size = process_group_size(e->process_group);
    int digits = snprintf(NULL, 0, "%u", size - 1);

    if (size > 1 && is_shared_out(table))
        snprintf(out, 64, "%s-%0*u.parquet", table, digits, process_group_me(e->process_group));
    else
        snprintf(out, 64, "%s.parquet", table);
}

/* Whether a file would be taken for a part of a table that is written by `size` processes. */
static bool is_strange_part(const char *file, const char *table, unsigned size)
{
    size_t n = strlen(table), digits = (size_t)snprintf(NULL, 0, "%u", size - 1);
    const char *rest = file + n, *end;
    unsigned long number;

    if (strncmp(file, table, n) != 0)
        return false;
    if (strcmp(rest, ".parquet") == 0)
        return size > 1;
    if (*rest++ != '-')
        return false;
    number = strtoul(rest, (char **)&end, 10);
    if (end == rest || strcmp(end, ".parquet") != 0)
        return false;
    return size <= 1 || number >= size || (size_t)(end - rest) != digits;
}

/* Who reads calls*.parquet must not read what another number of processes has left. */
static int refuse_strange_parts(const struct parquet_export *e)
{
    DIR *dir = opendir(e->settings->output);
    struct dirent *entry;
    int rc = 0;

    while (dir && rc == 0 && (entry = readdir(dir)) != NULL)
        for (unsigned i = 0; rc == 0 && i < e->n_tables; i++)
            if (is_shared_out(e->table[i]) &&
                is_strange_part(entry->d_name, e->table[i],
                                process_group_size(e->process_group)))
                rc = err_set(ERR_USAGE,
                             "'%s' has '%s', which would be read with what is written now: "
                             "remove it, or choose another directory",
                             e->settings->output, entry->d_name);
    if (dir)
        closedir(dir);
    return rc;
}

static int make_directory(const struct parquet_export *e)
{
    const char *path = e->settings->output;

    if (process_group_me(e->process_group) > 0)
        return 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return err_set(ERR_IO, "cannot make '%s': %s", path, strerror(errno));
    return refuse_strange_parts(e);
}

/* ----------------------------------------------------------------------------------- tables */

static int put_table(const struct parquet_export *e, const char *table, FILE *file)
{
    struct execution_filter filter = selection_filter(e->settings);

    if (strcmp(table, "calls") == 0)
        return run_parquet_calls(&e->run, &e->part, file, e->pool);
    if (strcmp(table, "messages") == 0)
        return run_parquet_messages(&e->run, &e->part, file, e->pool);
    filter.most = 0;
    filter.is_in_order = true;
    if (strcmp(table, "anomalies") == 0)
        filter.verdict = "anomaly";
    return run_parquet_executions(&e->run, &filter, file, e->pool);
}

/* The file is open until all processes have written theirs. */
static int write_table(struct parquet_export *e, const char *table, const char *path)
{
    struct output *output = &e->output[e->n_opened];
    int rc = output_open(output, path);

    if (rc < 0)
        return rc;
    e->n_opened++;
    return put_table(e, table, output->file);
}

/* What one process alone can write is written by number 0. */
static int write_tables(struct parquet_export *e)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < e->n_tables; i++) {
        char name[64];

        if (process_group_me(e->process_group) > 0 && !is_shared_out(e->table[i]))
            continue;
        name_of(e, e->table[i], name);
        rc = fs_join(e->path[i], e->settings->output, name);
        if (rc == 0)
            rc = write_table(e, e->table[i], e->path[i]);
    }
    return rc;
}

static int close_all(struct parquet_export *e, int rc)
{
    for (unsigned i = 0; i < e->n_opened; i++)
        rc = output_close(&e->output[i], rc);
    return rc;
}

static void choose_tables(struct parquet_export *e, bool is_several)
{
    static const char *const all[MAX_TABLES] = {"executions", "calls", "messages"};

    if (e->settings->what || !is_several) {
        e->table[e->n_tables++] = e->settings->what ? e->settings->what : all[0];
        return;
    }
    for (unsigned i = 0; i < MAX_TABLES; i++)
        e->table[e->n_tables++] = all[i];
}

/* Every step is done by all processes before any of them goes on to the next. */
static int write_all(struct parquet_export *e)
{
    bool is_several = is_directory(e->settings->output);
    int rc = selection_open(&e->run, e->settings);

    if (rc == 0 && process_group_size(e->process_group) > 1 && !is_several)
        rc = err_set(ERR_USAGE, "several processes write several files: -o DIR/");
    choose_tables(e, is_several);
    if (rc == 0 && is_several)
        rc = make_directory(e);
    rc = process_group_agree(e->process_group, rc);
    if (rc == 0) {
        e->part = part_of(e);
        rc = process_group_agree(e->process_group, check_part(e));
    }
    if (rc == 0) {
        rc = is_several ? write_tables(e) : write_table(e, e->table[0], e->settings->output);
        rc = process_group_agree(e->process_group, rc);
    }
    if (rc == 0)
        rc = process_group_agree(e->process_group, close_all(e, 0));
    else
        close_all(e, rc);
    run_close(&e->run);
    return rc;
}

static int export_together(struct parquet_export *e, const struct launched *launched)
{
    int rc =
        process_group_join(&e->process_group, launched->library, launcher_task(e->settings));

    if (rc == 0) {
        e->pool = pool_new(launcher_threads(e->settings, e->process_group));
        rc = write_all(e);
        pool_free(e->pool);
    }
    if (process_group_me(e->process_group) > 0) /* number 0 says what went wrong */
        rc = 0;
    process_group_leave(e->process_group);
    return rc;
}

/* Returns an exit status or ERR_*. */
static int export_parquet(const struct settings *settings)
{
    struct parquet_export e = {.settings = settings};
    struct launched launched;
    int rc = launcher_look(settings, &launched);

    if (rc < 0)
        launcher_break_off(&launched, rc);
    if (launched.size > 1) {
        rc = export_together(&e, &launched);
    } else {
        e.pool = pool_new(settings->threads);
        rc = write_all(&e);
        pool_free(e.pool);
    }
    return rc < 0 ? rc : STATUS_DONE;
}

/* -------------------------------------------------------------------- a store of provenance */

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

    if (rc == 0 && fn == row_csv) {
        for (int c = 0; c < sqlite3_column_count(query) - 1; c++)
            csv_text(e->out, sqlite3_column_name(query, c), c == 0);
        fputc('\n', e->out);
    }
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

/* ------------------------------------------------------------------------------ the command */

struct export
{
    const struct settings *settings;
    struct run run;
    FILE *out;
    bool is_first;
};

/* A JSON string, quoted; bytes that are not UTF-8 are replaced. */
static void put_json_text(FILE *out, const char *text)
{
    json_t *json = json_text(text);

    json_put(out, json, 0);
    json_decref(json);
}

/* ---------------------------------------------------------------------------- calls */

/* What the columns do not hold of a location, but imply. */
struct implied {
    uint32_t *caller;       /* [n] */
    uint64_t *exclusive_ns; /* [n] inclusive minus that of the direct children */
};

typedef void call_fn(struct export *e, uint32_t location, const struct call_view *v,
                     const struct implied *x, uint32_t i);

static void each_call(struct export *e, call_fn *fn)
{
    for (uint32_t l = 0; l < e->run.columns.n_locations; l++) {
        struct call_view v = columns_view(&e->run.columns, l);
        struct implied x;

        if (e->settings->rank != NO_RANK && e->run.defs.location[l].rank != e->settings->rank)
            continue;
        x.caller = mem_alloc(v.n, sizeof *x.caller);
        x.exclusive_ns = mem_alloc(v.n, sizeof *x.exclusive_ns);
        calls_exclusive(&v, x.caller, x.exclusive_ns);
        for (uint32_t i = 0; i < v.n; i++)
            fn(e, l, &v, &x, i);
        free(x.caller);
        free(x.exclusive_ns);
    }
}

static void call_csv(struct export *e, uint32_t l, const struct call_view *v,
                     const struct implied *x, uint32_t i)
{
    fprintf(e->out, "%u,%u,%u,%lld,%u,", e->run.defs.location[l].rank,
            e->run.defs.location[l].thread, i,
            x->caller[i] == NO_CALL ? -1ll : (long long)x->caller[i], v->depth[i]);
    csv_text(e->out, e->run.defs.region[v->region[i]].name, true);
    fprintf(e->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", v->enter_ns[i],
            v->inclusive_ns[i], x->exclusive_ns[i]);
}

static void call_json(struct export *e, uint32_t l, const struct call_view *v,
                      const struct implied *x, uint32_t i)
{
    fprintf(e->out, "{\"rank\": %u, \"thread\": %u, \"call\": %u, \"parent\": ",
            e->run.defs.location[l].rank, e->run.defs.location[l].thread, i);
    if (x->caller[i] == NO_CALL)
        fputs("null", e->out);
    else
        fprintf(e->out, "%u", x->caller[i]);
    fprintf(e->out, ", \"depth\": %u, \"region\": ", v->depth[i]);
    put_json_text(e->out, e->run.defs.region[v->region[i]].name);
    fprintf(e->out,
            ", \"enter_ns\": %" PRIu64 ", \"inclusive_ns\": %" PRIu64
            ", \"exclusive_ns\": %" PRIu64 "}\n",
            v->enter_ns[i], v->inclusive_ns[i], x->exclusive_ns[i]);
}

/* --------------------------------------------------------------------------- chrome */

/* Microseconds with three decimals: no digit of a nanosecond is lost. */
static void put_us(FILE *out, const char *key, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void begin_event(struct export *e, char phase, const struct location *location,
                        uint64_t time_ns)
{
    fprintf(e->out, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", e->is_first ? "\n" : ",\n", phase,
            location->rank, location->thread);
    e->is_first = false;
    put_us(e->out, "ts", time_ns);
}

static void call_chrome(struct export *e, uint32_t l, const struct call_view *v,
                        const struct implied *x, uint32_t i)
{
    (void)x;
    begin_event(e, 'X', &e->run.defs.location[l], v->enter_ns[i]);
    put_us(e->out, "dur", v->inclusive_ns[i]);
    fputs(",\"name\":", e->out);
    put_json_text(e->out, e->run.defs.region[v->region[i]].short_name);
    fputc('}', e->out);
}

/* An arrow per matched message, from its send to its receive. */
static void messages_chrome(struct export *e)
{
    const struct columns *c = &e->run.columns;

    for (uint32_t l = 0; l < c->n_locations; l++) {
        uint64_t first = c->range[l].first_message;

        if (e->settings->rank != NO_RANK && e->run.defs.location[l].rank != e->settings->rank)
            continue;
        for (uint64_t m = first; m < first + c->range[l].n_messages; m++) {
            const struct message *message = &c->message[m];
            bool is_send = message->kind == MESSAGE_SEND;

            if (message->match == MESSAGE_UNMATCHED)
                continue;
            begin_event(e, is_send ? 's' : 'f', &e->run.defs.location[l],
                        is_send ? message->begin_ns : message->end_ns);
            fprintf(e->out, ",\"id\":%" PRIu64 ",\"cat\":\"message\",\"name\":\"message\"%s}",
                    is_send ? m : message->match, is_send ? "" : ",\"bp\":\"e\"");
        }
    }
}

static void tracks_chrome(struct export *e)
{
    for (uint32_t l = 0; l < e->run.columns.n_locations; l++) {
        begin_event(e, 'M', &e->run.defs.location[l], 0);
        fprintf(e->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"rank %u\"}}",
                e->run.defs.location[l].rank);
        begin_event(e, 'M', &e->run.defs.location[l], 0);
        fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", e->out);
        put_json_text(e->out, e->run.defs.location[l].name);
        fputs("}}", e->out);
    }
}

/* ----------------------------------------------------------------------- executions */

static void execution_csv(const struct execution *x, void *ctx)
{
    struct export *e = ctx;

    execution_to_csv(x, e->out);
}

static void execution_json(const struct execution *x, void *ctx)
{
    struct export *e = ctx;
    json_t *json = execution_to_json(x);

    json_put(e->out, json, JSON_REAL_PRECISION(12));
    fputc('\n', e->out);
    json_decref(json);
}

static void execution_chrome(const struct execution *x, void *ctx)
{
    struct export *e = ctx;
    const struct location location = {.rank = x->rank, .thread = x->thread};

    begin_event(e, 'X', &location, x->enter_ns);
    put_us(e->out, "dur", x->duration_ns);
    fputs(",\"name\":", e->out);
    put_json_text(e->out, x->id);
    fputs(",\"cat\":", e->out);
    put_json_text(e->out, x->verdict);
    fprintf(e->out, ",\"args\":{\"score\":%.9g,\"why\":", x->score);
    put_json_text(e->out, x->why);
    fputs("}}", e->out);
}

static int export_executions(struct export *e, const char *format)
{
    struct execution_filter filter = selection_filter(e->settings);
    int rc;

    if (e->settings->what && strcmp(e->settings->what, "anomalies") == 0)
        filter.verdict = "anomaly";

    filter.most = 0;
    filter.is_in_order = true;
    if (strcmp(format, "json") == 0)
        return executions_each(e->run.db, &filter, execution_json, e);
    if (strcmp(format, "csv") == 0) {
        executions_csv_head(e->out);
        return executions_each(e->run.db, &filter, execution_csv, e);
    }
    e->is_first = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", e->out);
    tracks_chrome(e);
    rc = executions_each(e->run.db, &filter, execution_chrome, e);
    fputs("\n]}\n", e->out);
    return rc;
}

/* All of it is read anyway, so nothing damaged goes out. */
static int check_calls(const struct export *e)
{
    const struct columns *columns = &e->run.columns;
    int rc = columns_verify(columns);

    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++)
        rc = columns_check(columns, l, &e->run.defs);
    return rc;
}

static void export_calls(struct export *e, const char *format)
{
    if (strcmp(format, "csv") == 0) {
        fputs("rank,thread,call,parent,depth,region,enter_ns,inclusive_ns,exclusive_ns\n",
              e->out);
        each_call(e, call_csv);
    } else if (strcmp(format, "json") == 0) {
        each_call(e, call_json);
    } else { /* chrome */
        e->is_first = true;
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", e->out);
        tracks_chrome(e);
        each_call(e, call_chrome);
        messages_chrome(e);
        fputs("\n]}\n", e->out);
    }
}

static int write_export(struct export *e)
{
    const struct settings *s = e->settings;
    const char *what = s->what ? s->what : "executions", *format = settings_format(s, "csv");
    bool is_calls = strcmp(what, "calls") == 0;
    struct output output;
    int rc;

    if (strcmp(what, "messages") == 0)
        return err_set(ERR_USAGE, "messages are written with --format parquet");
    rc = is_calls ? check_calls(e) : 0;
    if (rc < 0)
        return rc;
    rc = output_open(&output, s->output);
    e->out = output.file;
    if (rc == 0 && is_calls)
        export_calls(e, format);
    else if (rc == 0)
        rc = export_executions(e, format);
    return output_close(&output, rc);
}

int cmd_export(const struct settings *settings)
{
    struct export e = {.settings = settings};
    int rc;

    if (prov_store_is(settings->args[0]))
        return store_export(settings);
    if (settings->what && strcmp(settings->what, "normalexecs") == 0)
        return err_set(ERR_USAGE,
                       "a run has executions, anomalies, calls and messages; 'normalexecs' are "
                       "in a store of provenance");
    if (strcmp(settings_format(settings, "csv"), "parquet") == 0)
        return export_parquet(settings);
    if (settings->is_together)
        return err_set(ERR_USAGE, "--together writes Parquet: --format parquet -o DIR/");
    rc = selection_open(&e.run, settings);
    if (rc == 0)
        rc = write_export(&e);
    run_close(&e.run);
    return rc < 0 ? rc : STATUS_DONE;
}
