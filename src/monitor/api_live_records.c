/*
 * Provenance records of a live run: pages of them by what is asked, one of them in full, and
 * its windows as what a timeline draws: calls with their depth, per thread.
 *
 * The store is opened for every question: it may not be there yet, and of one with many shards
 * the reader sees what there was when it was opened.
 *
 * The depth of a call in a window is how many calls that were entered before it are not over.
 * Windows of partners begin anywhere, so it is a depth within what is there.
 */
#include "monitor/api_live_records.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "monitor/api_live.h"
#include "prov/prov_reader.h"
#include "prov/prov_record.h"
#include "prov/prov_sql.h"
#include "run/rundb.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STILL_OPEN INFINITY

struct bar {
    const json_t *call;
    double enter_ns, leave_ns;
    size_t order; /* among those that were entered at the same time: the outer one first */
};

struct bars {
    struct bar *bar; /* [n] */
    size_t n, cap;
};

static double ns_of(const json_t *json, const char *field)
{
    return round(1000 * json_number_value(json_object_get(json, field)));
}

static const char *text_of(const json_t *json, const char *field)
{
    const char *text = json_string_value(json_object_get(json, field));

    return text ? text : "";
}

static bool is_there(const struct bars *bars, const char *event)
{
    for (size_t i = 0; i < bars->n; i++)
        if (*event && strcmp(text_of(bars->bar[i].call, "event_id"), event) == 0)
            return true;
    return false;
}

/* An array of calls; the stack has the innermost first. */
static void add_calls(struct bars *bars, const json_t *calls, bool is_reversed)
{
    size_t n = json_array_size(calls);

    for (size_t i = 0; i < n; i++) {
        const json_t *call = json_array_get(calls, is_reversed ? n - 1 - i : i);
        struct bar bar = {.call = call, .enter_ns = ns_of(call, "entry"), .order = bars->n};

        bar.leave_ns = ns_of(call, "exit");
        if (bar.leave_ns <= 0)
            bar.leave_ns = STILL_OPEN;
        if (!json_is_object(call) || is_there(bars, text_of(call, "event_id")))
            continue;
        *mem_push(&bars->bar, &bars->n, &bars->cap) = bar;
    }
}

static int compare(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;

    return ORDER(x->enter_ns, y->enter_ns) ?:
           ORDER(y->leave_ns, x->leave_ns) ?:
           ORDER(x->order, y->order);
}

static json_t *bar_json(const struct bar *bar, size_t depth, const char *event)
{
    const char *own = text_of(bar->call, "event_id");

    return json_pack("{s:s, s:s, s:f, s:o, s:I, s:b, s:b}", "func", text_of(bar->call, "func"),
                     "event_id", own, "enter_ns", bar->enter_ns, "leave_ns",
                     json_number(bar->leave_ns), "depth", (json_int_t)depth, "is_anomaly",
                     (int)json_is_true(json_object_get(bar->call, "is_anomaly")), "is_this",
                     (int)(*event && strcmp(own, event) == 0));
}

/* In order of time; `open` are the ends of the calls that are not over. */
static json_t *bars_json(struct bars *bars, const char *event)
{
    json_t *json = json_array();
    double *open = mem_alloc(bars->n, sizeof *open);
    size_t depth = 0;

    if (bars->n > 0)
        qsort(bars->bar, bars->n, sizeof *bars->bar, compare);
    for (size_t i = 0; i < bars->n; i++) {
        while (depth > 0 && open[depth - 1] <= bars->bar[i].enter_ns)
            depth--;
        json_array_append_new(json, bar_json(&bars->bar[i], depth, event));
        open[depth++] = bars->bar[i].leave_ns;
    }
    free(open);
    return json;
}

static json_t *messages_json(const json_t *messages)
{
    json_t *json = json_array(), *m;
    size_t i;

    json_array_foreach(messages, i, m)
    {
        json_array_append_new(json,
                              json_pack("{s:b, s:f, s:I, s:I, s:I, s:I}", "is_send",
                                        (int)(strcmp(text_of(m, "type"), "SEND") == 0),
                                        "time_ns", ns_of(m, "timestamp"), "source",
                                        json_integer_value(json_object_get(m, "src")), "target",
                                        json_integer_value(json_object_get(m, "tar")), "tag",
                                        json_integer_value(json_object_get(m, "tag")), "bytes",
                                        json_integer_value(json_object_get(m, "bytes"))));
    }
    return json;
}

/* The thread that `from` is of: its rid, tid and event_window. */
static json_t *lane(const json_t *from, const json_t *stack, const char *event)
{
    const json_t *window = json_object_get(from, "event_window");
    struct bars bars = {0};
    json_t *json;

    add_calls(&bars, stack, true);
    add_calls(&bars, json_object_get(window, "exec_window"), false);
    json = json_pack("{s:I, s:I, s:b, s:o, s:o}", "rank",
                     json_integer_value(json_object_get(from, "rid")), "thread",
                     json_integer_value(json_object_get(from, "tid")), "is_own",
                     (int)(stack != NULL), "calls", bars_json(&bars, event), "messages",
                     messages_json(json_object_get(window, "comm_window")));
    free(bars.bar);
    return json;
}

json_t *live_lanes(const json_t *record)
{
    json_t *lanes = json_array(), *partner;
    const char *event = text_of(record, "event_id");
    size_t i;

    json_array_append_new(lanes, lane(record, json_object_get(record, "call_stack"), event));
    json_array_foreach(json_object_get(record, "partners"), i, partner)
    {
        json_array_append_new(lanes, lane(partner, NULL, event));
    }
    return lanes;
}

/* ------------------------------------------------------------------------------ the answers */

#define MAX_RECORDS 1000
#define TYPICAL_RECORDS 50

static const struct {
    const char *name, *sql;
} orders[] = {{"severity", "outlier_severity DESC"},
              {"cost", "cost_ns IS NULL, cost_is_bound, cost_ns DESC"},
              {"score", "outlier_score DESC"},
              {"newest", "entry DESC"},
              {"oldest", "entry"},
              {"longest", "runtime_total DESC"}};

static const char *const collections[] = {"anomalies", "normalexecs"};

/* Which records are asked for. */
struct records_asked {
    const char *collection, *order;
    const char *function; /* NULL: any */
    const char *kind;     /* a condition */
    double program, rank, thread, index, enter_ns, from_ns, to_ns, least_ns, pruned, offset,
        limit;
};

static int find_kind(const struct request *request, const char **sql)
{
    static const char *const conditions[] = {[LIVE_CALL] = " AND execution IS NULL",
                                             [LIVE_EXECUTION] = " AND execution IS NOT NULL"};
    const char *text = request_text(request, "kind", NULL);
    int kind = text ? live_kind_find(text) : LIVE_KINDS;

    *sql = kind < LIVE_KINDS ? conditions[kind] : "";
    return text == NULL || kind < LIVE_KINDS
               ? 0
               : err_set(ERR_USAGE, "expected calls or executions, not '%.40s'", text);
}

static int find(const char *what, const char *text, const char *const *names, size_t n,
                const char **out)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], text) == 0) {
            *out = names[i];
            return 0;
        }
    return err_set(ERR_USAGE, "'%s' is not '%.40s'", what, text);
}

static int find_order(const char *text, const char **sql)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, text) == 0) {
            *sql = orders[i].sql;
            return 0;
        }
    return err_set(ERR_USAGE,
                   "expected severity, cost, score, newest, oldest or longest, not '%.40s'",
                   text);
}

/* The function by its name or by its region. */
static int read_function(struct live_state *live, const struct request *request,
                         const char **function)
{
    double region;
    int rc = request_number(request, "region", 0, UINT32_MAX, -1, &region);

    *function = request_text(request, "function", NULL);
    if (rc < 0 || region < 0 || *function)
        return rc;
    live_state_lock(live);
    if (region < live->n_regions)
        *function = live->region[(uint32_t)region].name;
    live_state_unlock(live);
    return *function ? 0 : err_set(ERR_NOT_FOUND, "there is no such region");
}

static int read_asked(struct live_state *live, const struct request *request,
                      struct records_asked *asked)
{
    const struct {
        const char *name;
        double most, fallback, *out;
    } numbers[] = {{"program", UINT32_MAX, -1, &asked->program},
                   {"rank", UINT32_MAX, -1, &asked->rank},
                   {"thread", UINT32_MAX, -1, &asked->thread},
                   {"index", UINT32_MAX, -1, &asked->index},
                   {"enter", REQUEST_MAX_NUMBER, -1, &asked->enter_ns},
                   {"from", REQUEST_MAX_NUMBER, -1, &asked->from_ns},
                   {"to", REQUEST_MAX_NUMBER, -1, &asked->to_ns},
                   {"least_ns", REQUEST_MAX_NUMBER, -1, &asked->least_ns},
                   {"pruned", 1, 0, &asked->pruned},
                   {"offset", REQUEST_MAX_NUMBER, 0, &asked->offset},
                   {"limit", MAX_RECORDS, TYPICAL_RECORDS, &asked->limit}};
    int rc = find("collection", request_text(request, "collection", "anomalies"), collections,
                  sizeof collections / sizeof *collections, &asked->collection);

    if (rc == 0)
        rc = find_order(request_text(request, "order", "severity"), &asked->order);
    if (rc == 0)
        rc = find_kind(request, &asked->kind);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && rc == 0; i++)
        rc = request_number(request, numbers[i].name, 0, numbers[i].most, numbers[i].fallback,
                            numbers[i].out);
    return rc == 0 ? read_function(live, request, &asked->function) : rc;
}

/* The conditions as SQL; ?1 is the function. Free with free(). */
static char *conditions(const struct records_asked *asked)
{
    const struct {
        const char *sql;
        double value;
    } rows[] = {{"pid = %.0f", asked->program},
                {"rid = %.0f", asked->rank},
                {"tid = %.0f", asked->thread},
                {"execution = %.0f", asked->index},
                {"entry = %.0f / 1000.0", asked->enter_ns},
                {"entry >= %.0f / 1000.0", asked->from_ns},
                {"entry <= %.0f / 1000.0", asked->to_ns},
                {"outlier_severity >= %.0f / 1000.0", asked->least_ns}};
    char *sql = NULL;
    size_t size;
    FILE *out = text_open(&sql, &size);

    fputs(asked->function ? "func = ?1" : "?1 IS NULL", out);
    fputs(asked->kind, out);
    fputs(asked->pruned > 0 ? "" : " AND NOT is_pruned", out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value >= 0) {
            fputs(" AND ", out);
            fprintf(out, rows[i].sql, rows[i].value);
        }
    fclose(out);
    return sql;
}

/* ---------------------------------------------------------------------------------- a page */

static json_t *nanoseconds(sqlite3_stmt *query, int column)
{
    return json_number(round(1000 * sqlite3_column_double(query, column)));
}

static json_t *real_or_null(sqlite3_stmt *query, int column)
{
    double x = sqlite3_column_double(query, column);

    return sqlite3_column_type(query, column) == SQLITE_NULL || !isfinite(x) ? json_null()
                                                                             : json_number(x);
}

static json_t *execution_json(sqlite3_stmt *query)
{
    char id[PROV_EXECUTION_ID_SIZE];

    if (sqlite3_column_type(query, ITEM_EXECUTION) == SQLITE_NULL)
        return json_null();
    prov_execution_id((uint32_t)sqlite3_column_int64(query, ITEM_RANK),
                      (uint32_t)sqlite3_column_int64(query, ITEM_THREAD),
                      (uint64_t)sqlite3_column_int64(query, ITEM_EXECUTION), id);
    return json_pack("{s:s, s:I, s:I, s:I}", "id", id, "index",
                     (json_int_t)sqlite3_column_int64(query, ITEM_EXECUTION), "calls",
                     (json_int_t)sqlite3_column_int64(query, ITEM_CALLS), "messages",
                     (json_int_t)sqlite3_column_int64(query, ITEM_MESSAGES));
}

static json_t *item_json(sqlite3_stmt *query, const char *collection)
{
    static const char *const whole[] = {"program", "rank", "thread", "step"};
    static const char *const times[] = {"enter_ns", "leave_ns", "inclusive_ns", "exclusive_ns",
                                        "severity_ns"};
    char stored[TEXT_UTC_SIZE];
    json_t *item = json_object();

    json_object_set_new(item, "id", json_integer(sqlite3_column_int64(query, ITEM_ID)));
    json_object_set_new(item, "collection", json_string(collection));
    json_object_set_new(item, "run", json_integer(sqlite3_column_int64(query, ITEM_RUN)));
    json_object_set_new(item, "run_id", json_text(rundb_text(query, ITEM_RUN_ID)));
    json_object_set_new(
        item, "stored_utc",
        json_string(text_utc((uint64_t)sqlite3_column_int64(query, ITEM_STORED), stored)));
    json_object_set_new(item, "event_id", json_text(rundb_text(query, ITEM_EVENT)));
    json_object_set_new(item, "func", json_text(rundb_text(query, ITEM_FUNCTION)));
    for (int i = 0; i < 4; i++)
        json_object_set_new(item, whole[i],
                            json_integer(sqlite3_column_int64(query, ITEM_PROGRAM + i)));
    for (int i = 0; i < 5; i++)
        json_object_set_new(item, times[i], nanoseconds(query, ITEM_ENTRY + i));
    json_object_set_new(item, "score", real_or_null(query, ITEM_SCORE));
    json_object_set_new(item, "p", real_or_null(query, ITEM_P));
    json_object_set_new(item, "execution", execution_json(query));
    json_object_set_new(item, "cost_ns",
                        sqlite3_column_type(query, ITEM_COST) == SQLITE_NULL
                            ? json_null()
                            : json_integer(sqlite3_column_int64(query, ITEM_COST)));
    json_object_set_new(item, "cost_is_bound",
                        sqlite3_column_type(query, ITEM_COST) == SQLITE_NULL
                            ? json_null()
                            : json_boolean(sqlite3_column_int(query, ITEM_COST_IS_BOUND)));
    json_object_set_new(item, "is_pruned",
                        json_boolean(sqlite3_column_int(query, ITEM_IS_PRUNED)));
    return item;
}

/* A statement with the function bound. */
static int ask(sqlite3 *db, const char *sql, const char *function, sqlite3_stmt **query)
{
    int rc = rundb_prepare(db, sql, query);

    if (rc == 0 && function)
        sqlite3_bind_text(*query, 1, function, -1, SQLITE_TRANSIENT);
    return rc;
}

static int count_records(struct database *reader, const struct records_asked *asked,
                         const char *where, int64_t *total)
{
    sqlite3_stmt *query = NULL;
    char *sql = prov_sql_count(asked->collection, where);
    int rc = ask(reader->sql, sql, asked->function, &query);

    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = prov_reader_error(reader, "the store");
    if (rc == 0)
        *total = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    sqlite3_free(sql);
    return rc;
}

static int read_page(struct database *reader, const struct records_asked *asked,
                     const char *where, json_t *items)
{
    sqlite3_stmt *query = NULL;
    char *sql = prov_sql_page(asked->collection, where, asked->order, (long long)asked->limit,
                              (long long)asked->offset);
    int rc = ask(reader->sql, sql, asked->function, &query), status = SQLITE_DONE;

    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW)
        json_array_append_new(items, item_json(query, asked->collection));
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(reader, "the store");
    sqlite3_finalize(query);
    sqlite3_free(sql);
    return rc;
}

static int open_store(struct live_state *live, struct database *reader)
{
    const char *url = live_state_store_url(live);
    int64_t run = live_state_store_run(live);

    *reader = (struct database){0};
    return url ? prov_reader_open_run(url, run, reader)
               : err_set(ERR_NOT_FOUND, "there is no provenance store");
}

int api_live_records(struct live_state *live, const struct request *request,
                     struct response *response)
{
    struct records_asked asked = {0};
    json_t *items = json_array();
    struct database reader = {0};
    char *where = NULL;
    int64_t total = 0;
    int rc = read_asked(live, request, &asked);

    if (rc == 0)
        rc = open_store(live, &reader);
    if (rc == 0) {
        where = conditions(&asked);
        rc = count_records(&reader, &asked, where, &total);
    }
    if (rc == 0)
        rc = read_page(&reader, &asked, where, items);
    database_close(&reader);
    free(where);
    if (rc < 0) {
        json_decref(items);
        return rc;
    }
    return response_json(response,
                         json_pack("{s:I, s:I, s:o}", "total", (json_int_t)total, "offset",
                                   (json_int_t)asked.offset, "items", items));
}

/* ------------------------------------------------------------------------------ one record */

/* The record, or NULL when it is not in this collection. */
static int find_record(struct database *reader, const char *collection, int64_t id,
                       json_t **record)
{
    sqlite3_stmt *query = NULL;
    char *sql = prov_sql_record(collection);
    int64_t in_shard, shard;
    int rc;

    prov_sql_id_split(id, &in_shard, &shard);
    rc = rundb_query(reader->sql, &query, sql, "ii", in_shard, shard);
    *record = NULL;
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        *record = json_loads(rundb_text(query, 0), 0, NULL);
        if (*record == NULL)
            rc = err_set(ERR_FORMAT, "the record is damaged");
    }
    sqlite3_finalize(query);
    sqlite3_free(sql);
    return rc;
}

int api_live_record(struct live_state *live, const struct request *request,
                    struct response *response)
{
    const char *collection = NULL;
    json_t *record = NULL;
    struct database reader = {0};
    int rc = open_store(live, &reader);

    for (size_t i = 0; i < sizeof collections / sizeof *collections && rc == 0 && !record;
         i++) {
        collection = collections[i];
        rc = find_record(&reader, collection, request->id[0], &record);
    }
    database_close(&reader);
    if (rc == 0 && record == NULL)
        rc = err_set(ERR_NOT_FOUND, "there is no such record");
    if (rc < 0)
        return rc;
    return response_json(response,
                         json_pack("{s:I, s:s, s:o, s:o}", "id", (json_int_t)request->id[0],
                                   "collection", collection, "lanes", live_lanes(record),
                                   "record", record));
}

/* --------------------------------------------------------------------- one call without one */

/* The call that is asked for; its arrays are in the arena. Under the lock. */
static int read_call(const struct live_state *live, const double number[5], struct arena *arena,
                     struct recent_asked *asked)
{
    const char **name = arena_alloc(arena, live->n_regions, sizeof *name);
    struct recent_place *place = arena_alloc(arena, live->n_places, sizeof *place);

    *asked = (struct recent_asked){.location = UINT32_MAX,
                                   .region = (uint32_t)number[3],
                                   .enter_ns = (uint64_t)number[4],
                                   .region_name = name,
                                   .n_regions = live->n_regions,
                                   .place = place,
                                   .n_places = live->n_places};
    for (uint32_t r = 0; r < live->n_regions; r++)
        name[r] = live->region[r].name;
    for (uint32_t l = 0; l < live->n_places; l++) {
        const struct live_location *p = &live->place[l];

        place[l] = (struct recent_place){p->rank, p->thread, p->program};
        if (p->program == (uint32_t)number[0] && p->rank == (uint32_t)number[1] &&
            p->thread == (uint32_t)number[2])
            asked->location = l;
    }
    return asked->location != UINT32_MAX
               ? 0
               : err_set(ERR_NOT_FOUND, "there is no such rank or thread");
}

/* Also a normal one, as long as its step is kept. */
int api_live_call(struct live_state *live, const struct request *request,
                  struct response *response)
{
    static const char *const names[] = {"program", "rank", "thread", "region", "enter"};
    static const struct prov_final final = {0};
    double number[5] = {0};
    struct arena arena = {0};
    struct prov_record call;
    struct recent_asked asked;
    json_t *record = NULL;
    int rc = 0;

    for (int i = 0; i < 5 && rc == 0; i++)
        rc = request_number(request, names[i], 0, i < 4 ? UINT32_MAX : REQUEST_MAX_NUMBER, 0,
                            &number[i]);
    if (rc < 0)
        return rc;
    live_state_lock(live);
    rc = read_call(live, number, &arena, &asked);
    live_state_unlock(live);
    if (rc == 0 && live_recent_find(&live->recent, &asked, &arena, &call))
        record = prov_record_to_json(&call, &final);
    else if (rc == 0)
        rc = err_set(ERR_NOT_FOUND, live_recent_is_empty(&live->recent)
                                        ? "no calls are kept here, only records"
                                        : "the call is too long ago: its step is not kept any "
                                          "more");
    arena_release(&arena);
    if (rc < 0)
        return rc;
    return response_json(response,
                         json_pack("{s:i, s:s, s:o, s:o}", "id", -1, "collection", "recent",
                                   "lanes", live_lanes(record), "record", record));
}
