/*
 * snag export -- results for other tools. One writer per (what, format); each streams, so that
 * a run of any size can be exported.
 */
#include "base/err.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/export_parquet.h"
#include "cmd/output.h"
#include "view/csv.h"
#include "view/executions.h"
#include "cmd/selection.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "cmd/store_export.h"
#include "prov/prov_store.h"
#include "run/run_summary.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "run/rundir.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct export
{
    const struct settings *settings;
    struct run run;
    struct track {
        uint32_t rank, thread;
        char *name;
    } * track; /* [n_locations] */
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

static struct implied implied_by(const struct call_view *v)
{
    struct implied x = {.caller = mem_alloc(v->n, sizeof *x.caller),
                        .exclusive_ns = mem_alloc(v->n, sizeof *x.exclusive_ns)};

    calls_exclusive(v, x.caller, x.exclusive_ns);
    return x;
}

typedef void call_fn(struct export *e, uint32_t location, const struct call_view *v,
                     const struct implied *x, uint32_t i);

static void each_call(struct export *e, call_fn *fn)
{
    for (uint32_t l = 0; l < e->run.columns.n_locations; l++) {
        struct call_view v = columns_view(&e->run.columns, l);
        struct implied x;

        if (e->settings->rank != NO_RANK && e->track[l].rank != e->settings->rank)
            continue;
        x = implied_by(&v);
        for (uint32_t i = 0; i < v.n; i++)
            fn(e, l, &v, &x, i);
        free(x.caller);
        free(x.exclusive_ns);
    }
}

static void call_csv(struct export *e, uint32_t l, const struct call_view *v,
                     const struct implied *x, uint32_t i)
{
    fprintf(e->out, "%u,%u,%u,%lld,%u,", e->track[l].rank, e->track[l].thread, i,
            x->caller[i] == NO_CALL ? -1ll : (long long)x->caller[i], v->depth[i]);
    csv_text(e->out, e->run.defs.region[v->region[i]].name, true);
    fprintf(e->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", v->enter_ns[i],
            v->inclusive_ns[i], x->exclusive_ns[i]);
}

static void calls_csv(struct export *e)
{
    fputs("rank,thread,call,parent,depth,region,enter_ns,inclusive_ns,exclusive_ns\n", e->out);
    each_call(e, call_csv);
}

static void call_json(struct export *e, uint32_t l, const struct call_view *v,
                      const struct implied *x, uint32_t i)
{
    fprintf(e->out,
            "{\"rank\": %u, \"thread\": %u, \"call\": %u, \"parent\": ", e->track[l].rank,
            e->track[l].thread, i);
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

static void calls_json(struct export *e)
{
    each_call(e, call_json);
}

/* --------------------------------------------------------------------------- chrome */

/* Microseconds with three decimals: no digit of a nanosecond is lost. */
static void put_us(FILE *out, const char *key, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void begin_event(struct export *e, char phase, uint32_t l, uint64_t time_ns)
{
    fprintf(e->out, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", e->is_first ? "\n" : ",\n", phase,
            e->track[l].rank, e->track[l].thread);
    e->is_first = false;
    put_us(e->out, "ts", time_ns);
}

static void call_chrome(struct export *e, uint32_t l, const struct call_view *v,
                        const struct implied *x, uint32_t i)
{
    (void)x;
    begin_event(e, 'X', l, v->enter_ns[i]);
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

        if (e->settings->rank != NO_RANK && e->track[l].rank != e->settings->rank)
            continue;
        for (uint64_t m = first; m < first + c->range[l].n_messages; m++) {
            const struct message *message = &c->message[m];
            bool is_send = message->kind == MESSAGE_SEND;

            if (message->match == MESSAGE_UNMATCHED)
                continue;
            begin_event(e, is_send ? 's' : 'f', l,
                        is_send ? message->begin_ns : message->end_ns);
            fprintf(e->out, ",\"id\":%" PRIu64 ",\"cat\":\"message\",\"name\":\"message\"%s}",
                    is_send ? m : message->match, is_send ? "" : ",\"bp\":\"e\"");
        }
    }
}

static void tracks_chrome(struct export *e)
{
    for (uint32_t l = 0; l < e->run.columns.n_locations; l++) {
        begin_event(e, 'M', l, 0);
        fprintf(e->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"rank %u\"}}",
                e->track[l].rank);
        begin_event(e, 'M', l, 0);
        fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", e->out);
        put_json_text(e->out, e->track[l].name);
        fputs("}}", e->out);
    }
}

static void calls_chrome(struct export *e)
{
    e->is_first = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", e->out);
    tracks_chrome(e);
    each_call(e, call_chrome);
    messages_chrome(e);
    fputs("\n]}\n", e->out);
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

    begin_event(e, 'X', x->location, x->enter_ns);
    put_us(e->out, "dur", x->duration_ns);
    fputs(",\"name\":", e->out);
    put_json_text(e->out, x->id);
    fprintf(e->out, ",\"cat\":\"%s\",\"args\":{\"score\":%.9g,\"why\":", x->verdict, x->score);
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
    if (strcmp(format, "csv") == 0)
        calls_csv(e);
    else if (strcmp(format, "json") == 0)
        calls_json(e);
    else
        calls_chrome(e);
}

static int load_tracks(struct export *e)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(e->run.db, run_sql_locations, &query);

    e->track = calloc(e->run.columns.n_locations + 1, sizeof *e->track);
    for (uint32_t l = 0; rc == 0 && l < e->run.columns.n_locations; l++) {
        if (sqlite3_step(query) != SQLITE_ROW) {
            rc = err_set(ERR_FORMAT, "damaged run: locations are missing from run.db");
            break;
        }
        e->track[l] = (struct track){(uint32_t)sqlite3_column_int64(query, 0),
                                     (uint32_t)sqlite3_column_int64(query, 1),
                                     mem_copy_string(rundb_text(query, 2))};
    }
    sqlite3_finalize(query);
    return rc;
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
        rc = load_tracks(&e);
    if (rc == 0)
        rc = write_export(&e);
    for (uint32_t l = 0; e.track && l < e.run.columns.n_locations; l++)
        free(e.track[l].name);
    free(e.track);
    run_close(&e.run);
    return rc < 0 ? rc : STATUS_DONE;
}
