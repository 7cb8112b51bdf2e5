#include "monitor/live_past.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "explain/waiting.h"
#include "prov/prov_stats.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "prov/prov_store.h"
#include "ps/ps_tables.h"
#include "run/rundb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_PAUSE_MS 1000u
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

    mem_grow(&past->part, &past->part_cap, past->parts.n);
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
    live_state_past(state, &point, function,
                    sqlite3_column_int(query, PAST_IS_TAKEN_BACK) != 0);
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

/* -------------------------------------------------------------------------- who is slow */

/* What is read of ranks and functions. */
struct statistics {
    struct live_slow *rank;      /* [ranks.n] */
    struct times_of *rank_times; /* [ranks.n] */
    size_t rank_cap, rank_times_cap;
    struct times_of {
        uint64_t n_calls;
        struct moments exclusive_ns;
    } * times; /* [n_functions] of all ranks */
    size_t times_cap;
    struct idmap ranks, cells;
    struct slow_cell *cell; /* [cells.n] */
    size_t cell_cap;
    bool *is_waiting; /* [n_functions] */
    uint32_t n_functions;
    size_t waiting_cap;
    bool has_all; /* an instance has stored statistics of several ranks */
};

/* A function by its path, too. */
static bool waits(const char *function)
{
    const char *last = strrchr(function, '/');
    const char *name = last && region_name_kind(function) == REGION_USER ? last + 1 : function;

    return waiting_is_likely(&(struct region){.name = name, .kind = region_name_kind(name)});
}

static uint32_t take_function(struct live_past *past, struct statistics *s, const char *name)
{
    uint32_t f = names_add(&past->functions, name);

    live_state_past_function(past->state, f, name);
    mem_grow(&s->is_waiting, &s->waiting_cap, (size_t)f + 1);
    mem_grow(&s->times, &s->times_cap, (size_t)f + 1);
    for (; s->n_functions <= f; s->n_functions++) {
        s->is_waiting[s->n_functions] = waits(past->functions.name[s->n_functions]);
        s->times[s->n_functions] = (struct times_of){.n_calls = 0};
    }
    return f;
}

/* An instance that was started again has said more of the same rank. */
static void add_calls(struct slow_cell *c, const struct moments *more)
{
    struct moments all = prov_stats_moments(&(struct prov_stats){
        .count = c->n_calls, .mean = c->mean_ns, .stddev = c->deviation_ns});
    struct prov_stats stats;

    moments_merge(&all, more);
    stats = prov_stats_of(&all);
    c->n_calls = stats.count;
    c->mean_ns = stats.mean;
    c->deviation_ns = stats.stddev;
}

/* Columns of the query below. */
enum {
    SLOW_PROGRAM,
    SLOW_RANK,
    SLOW_FUNCTION,
    SLOW_CALLS,
    SLOW_MEAN,
    SLOW_DEVIATION,
    SLOW_LEAST,
    SLOW_MOST,
    SLOW_ALL /* calls that ended */
};

static const char sql_slow[] =
    "SELECT s.pid, u.rid, s.func, s.exclusive ->> 'count', s.exclusive ->> 'mean', "
    "s.exclusive ->> 'stddev', s.exclusive ->> 'minimum', s.exclusive ->> 'maximum', "
    "s.calls "
    "FROM func_stats_of_runs s LEFT JOIN runs u ON u.run = s.run";

static uint64_t count(sqlite3_stmt *query, int column)
{
    int64_t n = sqlite3_column_int64(query, column);

    return n > 0 && (double)n < PROV_MAX_STATS ? (uint64_t)n : 0;
}

static struct times_of read_times(sqlite3_stmt *query)
{
    struct prov_stats s = {.count = count(query, SLOW_CALLS),
                           .mean = 1e3 * sqlite3_column_double(query, SLOW_MEAN),
                           .stddev = 1e3 * sqlite3_column_double(query, SLOW_DEVIATION),
                           .minimum = 1e3 * sqlite3_column_double(query, SLOW_LEAST),
                           .maximum = 1e3 * sqlite3_column_double(query, SLOW_MOST)};

    return (struct times_of){count(query, SLOW_ALL), prov_stats_moments(&s)};
}

static void add_times(struct times_of *all, const struct times_of *more)
{
    all->n_calls += more->n_calls;
    moments_merge(&all->exclusive_ns, &more->exclusive_ns);
}

static void take_statistics(struct live_past *past, struct statistics *s, sqlite3_stmt *query)
{
    uint32_t program = number(query, SLOW_PROGRAM), rank = number(query, SLOW_RANK);
    uint32_t r, f, c, known;
    struct times_of times = read_times(query);

    s->has_all |= sqlite3_column_type(query, SLOW_RANK) == SQLITE_NULL;
    if (times.n_calls == 0)
        return;
    f = take_function(past, s, rundb_text(query, SLOW_FUNCTION));
    add_times(&s->times[f], &times);
    if (sqlite3_column_type(query, SLOW_RANK) == SQLITE_NULL || times.exclusive_ns.n == 0)
        return;
    known = s->ranks.n;
    r = idmap_add(&s->ranks, key_pair(program, rank));
    mem_grow(&s->rank, &s->rank_cap, (size_t)r + 1);
    mem_grow(&s->rank_times, &s->rank_times_cap, (size_t)r + 1);
    s->rank[r] = (struct live_slow){.program = program, .rank = rank};
    if (r == known)
        s->rank_times[r] = (struct times_of){.n_calls = 0};
    add_times(&s->rank_times[r], &times);
    known = s->cells.n;
    c = idmap_add(&s->cells, key_pair(r, f));
    mem_grow(&s->cell, &s->cell_cap, (size_t)c + 1);
    if (c == known)
        s->cell[c] = (struct slow_cell){.rank = r, .function = f, .program = program};
    add_calls(&s->cell[c], &times.exclusive_ns);
}

static uint64_t whole(double x)
{
    return x > 0 && x < 1.8e19 ? (uint64_t)llround(x) : 0;
}

static struct live_stat stat_of(const struct moments *m)
{
    double n = (double)m->n;

    return (struct live_stat){
        .n = m->n,
        .minimum = whole(m->min),
        .maximum = whole(m->max),
        .sums = {(unsigned __int128)fmax(n * m->mean, 0),
                 (unsigned __int128)fmax(m->m2 + n * m->mean * m->mean, 0)}};
}

/* Of a rank only where no instance reads several: else some of its calls are theirs. */
static void tell_times(struct live_past *past, const struct statistics *s)
{
    uint32_t n_ranks = s->has_all ? 0 : s->ranks.n, n = s->n_functions;
    struct live_past_times *times = mem_alloc((size_t)n + n_ranks, sizeof *times);

    for (uint32_t f = 0; f < n; f++)
        times[f] = (struct live_past_times){.region = f,
                                            .n_calls = s->times[f].n_calls,
                                            .exclusive_ns = stat_of(&s->times[f].exclusive_ns)};
    for (uint32_t r = 0; r < n_ranks; r++)
        times[n + r] =
            (struct live_past_times){.region = LIVE_NO_REGION,
                                     .program = s->rank[r].program,
                                     .rank = s->rank[r].rank,
                                     .n_calls = s->rank_times[r].n_calls,
                                     .exclusive_ns = stat_of(&s->rank_times[r].exclusive_ns)};
    live_state_past_times(past->state, times, (size_t)n + n_ranks);
    free(times);
}

static void compare_ranks(struct live_past *past, struct statistics *s)
{
    struct slow_rank *slow = mem_alloc(s->ranks.n, sizeof *slow);
    uint32_t n = slow_find(&(struct slow_table){.cell = s->cell,
                                                .n_cells = s->cells.n,
                                                .is_waiting = s->is_waiting,
                                                .n_functions = s->n_functions,
                                                .n_ranks = s->ranks.n},
                           slow);

    for (uint32_t r = 0; r < s->ranks.n; r++)
        s->rank[r].slow = slow[r];
    live_state_past_slow(past->state, s->rank, s->ranks.n,
                         n >= PEERS_MIN_PLACES ? NULL
                         : s->has_all          ? "an instance reads several ranks, and its "
                                                 "statistics are of all of them together"
                                      : "fewer than 5 ranks of a program have statistics "
                                        "of their own");
    free(slow);
}

static int read_statistics(struct live_past *past, struct database *reader)
{
    struct statistics s = {0};
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(reader->sql, sql_slow, &query), status = SQLITE_DONE;

    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW)
        take_statistics(past, &s, query);
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(reader, past->url);
    sqlite3_finalize(query);
    if (rc == 0) {
        tell_times(past, &s);
        compare_ranks(past, &s);
    }
    free(s.rank);
    free(s.rank_times);
    free(s.times);
    free(s.cell);
    free(s.is_waiting);
    idmap_release(&s.ranks);
    idmap_release(&s.cells);
    return rc;
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
    if (past->is_written && !is_written) {
        live_state_past_again(past->state);
        names_release(&past->functions);
        idmap_release(&past->parts);
    }
    rc = read_records(past, &reader);
    if (rc == 0)
        rc = read_calls(&reader, &n_calls);
    past->n_calls = n_calls;
    if (rc == 0)
        rc = read_statistics(past, &reader);
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

/*
 * What all instances know together. A server that has gone has told all that it will: that
 * stands, also when the rest was forgotten to be read anew.
 */
static int ask_server(struct live_past *past, bool is_forgotten)
{
    struct ps_snapshot known;
    uint32_t n_clients;
    int rc = ps_ask(past->server, past->key_file, SERVER_MS, &known, &n_clients);

    if (rc == 0) {
        ps_snapshot_release(&past->known);
        past->known = known;
    } else {
        ps_snapshot_release(&known);
    }
    if (rc == 0 || is_forgotten)
        live_state_past_known(past->state, &past->known, &past->functions);
    if (past->is_lost != (rc < 0))
        log_info("serve", "%s", rc < 0 ? err_message() : "the parameter server answers again");
    past->is_lost = rc < 0;
    return rc;
}

/* Without a store, as long as the server answers it goes on. */
static void tell_alone(struct live_past *past)
{
    struct prov_counts none = {0};
    struct reduction unknown = reduction_of(0, "what the instances read is not told", NULL);

    past->is_written = !past->is_lost;
    live_state_past_slow(past->state, NULL, 0,
                         "a server is not told of functions by rank; the store of the job has "
                         "that");
    live_state_past_told(past->state, past->state->totals.n_calls, &none, &unknown,
                         past->is_written);
}

static int look(struct live_past *past, bool is_written)
{
    bool is_over = past->is_written && !is_written;
    int rc = past->url ? read_store(past, is_written) : 0;

    if (rc == 0 && past->server)
        rc = ask_server(past, is_over);
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
                                           .detector = "?",
                                           .is_past = true});
    rc = look(past, is_written);
    if (rc < 0 && past->url && past->is_lost) { /* the store can be shown without the server */
        log_warn("serve", "%s", err_message());
        rc = 0;
    }
    if (rc < 0)
        live_past_close(past);
    return rc;
}

/* A server publishes a little later than it is told, also what is told last. */
static bool is_to_come(const struct live_past *past)
{
    return past->server && !past->is_lost && past->state->totals.n_calls_told < past->n_calls;
}

unsigned live_past_follow(struct live_past *past)
{
    uint64_t begin_ns = clock_ns(), pause_ms;
    bool is_written = past->url ? prov_store_is_written(past->url) : past->server != NULL;

    /* What cannot be read now may be later; that it cannot is said by /healthz. */
    if (is_written || past->is_written)
        look(past, is_written);
    else if (is_to_come(past))
        ask_server(past, false);
    pause_ms = (clock_ns() - begin_ns) / 1000000 * PAUSE_PER_LOOK;
    return pause_ms < MIN_PAUSE_MS ? MIN_PAUSE_MS : (unsigned)pause_ms;
}

void live_past_close(struct live_past *past)
{
    live_state_free(past->state);
    names_release(&past->functions);
    idmap_release(&past->parts);
    ps_snapshot_release(&past->known);
    free(past->part);
    free(past->url);
    *past = (struct live_past){0};
}
