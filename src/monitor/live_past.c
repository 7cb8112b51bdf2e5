#include "monitor/live_past.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "prov/prov_store.h"
#include "ps/ps_ask.h"
#include "run/rundb.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_PAUSE_MS 1000u
#define SERVER_MS 2000    /* for a parameter server to answer */
#define PAUSE_PER_LOOK 9u /* so that looking takes a tenth of the time */

static uint64_t nanoseconds(sqlite3_stmt *query, int column)
{
    double ns = round(1000 * sqlite3_column_double(query, column));

    return ns > 0 && ns < 9e18 ? (uint64_t)ns : 0;
}

static uint32_t number(sqlite3_stmt *query, int column)
{
    return (uint32_t)sqlite3_column_int64(query, column);
}

/* Whether a record was not read the last time; then it is now. */
static bool is_new(struct live_past *past, sqlite3_stmt *query)
{
    int64_t id = sqlite3_column_int64(query, PAST_ID);
    uint32_t n = past->parts.n,
             of = idmap_add(&past->parts,
                            key_pair((uint64_t)sqlite3_column_int64(query, PAST_RUN),
                                     (uint64_t)sqlite3_column_int64(query, PAST_SHARD)));

    mem_grow(&past->part, &past->part_cap, past->parts.n, sizeof *past->part);
    if (of == n)
        past->part[of] = (struct live_past_part){INT64_MIN, INT64_MIN};
    if (id > past->part[of].seen)
        past->part[of].seen = id;
    return id > past->part[of].read;
}

static void take_record(struct live_past *past, sqlite3_stmt *query)
{
    struct live_state *state = past->state;
    const char *function = rundb_text(query, PAST_FUNCTION);
    struct live_point point = {
        .program = number(query, PAST_PROGRAM),
        .rank = number(query, PAST_RANK),
        .thread = number(query, PAST_THREAD),
        .region = names_add(&past->functions, function),
        .enter_ns = nanoseconds(query, PAST_ENTRY),
        .inclusive_ns = nanoseconds(query, PAST_TOTAL),
        .exclusive_ns = nanoseconds(query, PAST_EXCLUSIVE),
        .score = (float)sqlite3_column_double(query, PAST_SCORE),
        .verdict = sqlite3_column_int(query, PAST_IS_ANOMALY) ? LIVE_ANOMALY : LIVE_NORMAL,
        .vertices = 1,
        .kind = LIVE_CALL};

    if (sqlite3_column_type(query, PAST_EXECUTION) != SQLITE_NULL) {
        point.kind = LIVE_EXECUTION;
        point.index = number(query, PAST_EXECUTION);
        point.vertices = number(query, PAST_CALLS);
        point.messages = number(query, PAST_MESSAGES);
    }
    point.severity_ns = nanoseconds(query, PAST_SEVERITY);
    live_state_past(state, &point, function);
    live_state_lock(state);
    state->totals.n_taken_back += number(query, PAST_IS_TAKEN_BACK);
    live_state_unlock(state);
}

static int read_records(struct live_past *past, struct database *reader)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(reader->sql, prov_sql_past, &query), status = SQLITE_DONE;

    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW)
        if (is_new(past, query))
            take_record(past, query);
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(reader, past->url);
    sqlite3_finalize(query);
    for (uint32_t i = 0; i < past->parts.n; i++)
        past->part[i].read = past->part[i].seen;
    return rc;
}

static int read_calls(struct database *reader, uint64_t *n_calls)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(reader->sql, prov_sql_past_calls, &query);

    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int64(query, 0) > 0)
        *n_calls = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return rc;
}

static void forget(struct live_past *past)
{
    live_state_past_again(past->state);
    names_release(&past->functions);
    idmap_release(&past->parts);
}

/* What is not known of it yet; of one that is not written any more, all of it again. */
static int read_store(struct live_past *past, bool is_written)
{
    struct prov_counts counts = {0};
    struct database reader;
    struct reduction reduction;
    uint64_t n_calls = 0;
    int rc = prov_reader_open(past->url, &reader);

    if (rc < 0)
        return rc;
    if (past->is_written && !is_written)
        forget(past);
    rc = read_records(past, &reader);
    if (rc == 0)
        rc = read_calls(&reader, &n_calls);
    if (rc == 0)
        rc = reduction_read(&reader, past->url, &reduction);
    database_close(&reader);
    if (rc < 0)
        return rc;
    counts.n_stored =
        past->state->points[LIVE_CALL].next + past->state->points[LIVE_EXECUTION].next;
    live_state_past_told(past->state, n_calls, &counts, &reduction, is_written);
    past->is_written = is_written;
    return 0;
}

/* What all instances know together. One that has gone has told all that it will. */
static int ask_server(struct live_past *past)
{
    struct ps_snapshot known;
    uint32_t n_clients;
    int rc = ps_ask(past->server, past->key_file, SERVER_MS, &known, &n_clients);

    if (rc == 0)
        live_state_past_known(past->state, &known, &past->functions);
    if (past->is_lost != (rc < 0))
        log_info("serve", "%s", rc < 0 ? err_message() : "the parameter server answers again");
    past->is_lost = rc < 0;
    ps_snapshot_release(&known);
    return rc;
}

/* Without a store, as long as the server answers it goes on. */
static void tell_alone(struct live_past *past)
{
    struct prov_counts none = {0};
    struct reduction unknown = reduction_of(0, "what the instances read is not told", NULL);

    past->is_written = !past->is_lost;
    live_state_past_told(past->state, past->state->totals.n_calls, &none, &unknown,
                         past->is_written);
}

static int look(struct live_past *past, bool is_written)
{
    int rc = past->url ? read_store(past, is_written) : 0;

    if (rc == 0 && past->server)
        rc = ask_server(past);
    if (past->url == NULL)
        tell_alone(past);
    return rc;
}

int live_past_open(struct live_past *past, const struct live_past_opts *opts)
{
    /* Before: what is read then is all. */
    bool is_written = opts->url && prov_store_is_written(opts->url);
    int rc;

    *past = (struct live_past){.url = opts->url ? mem_copy_string(opts->url) : NULL,
                               .server = opts->server,
                               .key_file = opts->key_file};
    past->state =
        live_state_new(&(struct live_opts){.source = opts->url ? opts->url : opts->server,
                                           .store_url = opts->url,
                                           .detector = "?"});
    rc = look(past, is_written);
    if (rc < 0 && past->url && past->is_lost) { /* the store can be shown without the server */
        log_warn("serve", "%s", err_message());
        rc = 0;
    }
    if (rc < 0)
        live_past_close(past);
    return rc;
}

unsigned live_past_follow(struct live_past *past)
{
    uint64_t begin_ns = clock_ns(), pause_ms;
    bool is_written = past->url ? prov_store_is_written(past->url) : past->server != NULL;

    /* What cannot be read now may be later; that it cannot is said by /healthz. */
    if (is_written || past->is_written)
        look(past, is_written);
    pause_ms = (clock_ns() - begin_ns) / 1000000 * PAUSE_PER_LOOK;
    return pause_ms < LEAST_PAUSE_MS ? LEAST_PAUSE_MS : (unsigned)pause_ms;
}

void live_past_close(struct live_past *past)
{
    live_state_free(past->state);
    names_release(&past->functions);
    idmap_release(&past->parts);
    free(past->part);
    free(past->url);
    *past = (struct live_past){0};
}
