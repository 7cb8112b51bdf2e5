/* Rows of groups come by group, so that each is filled before the next one begins. */
#include "view/incident_list.h"

#include "base/divisor.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "trace/definitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct incident_row *x, sqlite3_stmt *query, bool has_several)
{
    *x = (struct incident_row){
        .foi_id = sqlite3_column_int64(query, INCIDENT_FOI),
        .foi = rundb_text(query, INCIDENT_FOI_NAME),
        .id = sqlite3_column_int64(query, INCIDENT_ID),
        .head_tree = sqlite3_column_int64(query, INCIDENT_HEAD),
        .rank = (uint32_t)sqlite3_column_int64(query, INCIDENT_RANK),
        .score = sqlite3_column_double(query, INCIDENT_SCORE),
        .is_anomaly = sqlite3_column_int(query, INCIDENT_IS_ANOMALY) != 0,
        .begin_ns = (uint64_t)sqlite3_column_int64(query, INCIDENT_BEGIN),
        .end_ns = (uint64_t)sqlite3_column_int64(query, INCIDENT_END),
        .lost_ns = (uint64_t)sqlite3_column_int64(query, INCIDENT_LOST),
        .n_executions = (uint32_t)sqlite3_column_int64(query, INCIDENT_EXECUTIONS),
        .n_ranks = (uint32_t)sqlite3_column_int64(query, INCIDENT_RANKS),
        .n_turns = (uint32_t)sqlite3_column_int64(query, INCIDENT_TURNS),
        .period = (uint32_t)sqlite3_column_int64(query, INCIDENT_PERIOD),
        .has_cost = sqlite3_column_type(query, INCIDENT_COST) != SQLITE_NULL,
        .cost_ns = (uint64_t)sqlite3_column_int64(query, INCIDENT_COST),
        .has_range = sqlite3_column_type(query, INCIDENT_COST_MOST) != SQLITE_NULL,
        .cost_least_ns = (uint64_t)sqlite3_column_int64(query, INCIDENT_COST_LEAST),
        .cost_most_ns = (uint64_t)sqlite3_column_int64(query, INCIDENT_COST_MOST),
        .is_unended = sqlite3_column_int(query, INCIDENT_IS_UNENDED) != 0,
        .why = rundb_text(query, INCIDENT_WHY),
        .cause = rundb_text(query, INCIDENT_CAUSE),
        .head_rank = (uint32_t)sqlite3_column_int64(query, INCIDENT_HEAD_RANK),
        .head_index = (uint32_t)sqlite3_column_int64(query, INCIDENT_HEAD_INDEX),
        .is_costly = sqlite3_column_int(query, INCIDENT_IS_COSTLY) != 0,
        .way = sqlite3_column_int64(query, INCIDENT_WAY),
        .what = rundb_text(query, INCIDENT_WHAT),
        .n_alike = (uint32_t)sqlite3_column_int64(query, INCIDENT_ALIKE),
    };
    execution_id(x->head, has_several ? x->foi : NULL, x->head_rank,
                 (uint32_t)sqlite3_column_int64(query, INCIDENT_HEAD_THREAD), x->head_index);
}

char *incident_cause_text(const struct incident_row *x, char out[INCIDENT_CAUSE_TEXT_SIZE])
{
    char ranks[24] = "";

    if (x->n_alike > 1)
        snprintf(ranks, sizeof ranks, "%u ranks: ", x->n_alike);
    snprintf(out, INCIDENT_CAUSE_TEXT_SIZE, "%s%.360s", ranks, x->cause);
    return out;
}

char *incident_cost_text(const struct incident_row *x, char out[TEXT_RANGE_SIZE])
{
    if (!x->has_range)
        *out = '\0';
    else
        text_duration_range((double)x->cost_least_ns, (double)x->cost_most_ns, out);
    return out;
}

/* Of a query that is closed; rc: of making it. */
static int each_row(sqlite3 *db, sqlite3_stmt *query, int rc,
                    void (*fn)(const struct incident_row *x, void *ctx), void *ctx)
{
    bool has_several = rc == 0 && executions_have_several(db);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        struct incident_row x;

        fill(&x, query, has_several);
        fn(&x, ctx);
    }
    return rundb_close_query(db, query, rc, "cannot read the incidents");
}

/* The statement, with what every question of the filter begins with. */
static int prepare(sqlite3 *db, const char *sql, const struct execution_filter *filter,
                   sqlite3_stmt **query)
{
    int rc = executions_ask(db, sql, filter, query);

    if (rc == 0) {
        sqlite3_bind_text(*query, 3, filter->verdict, -1, SQLITE_STATIC);
        sqlite3_bind_text(*query, 4, filter->label, -1, SQLITE_STATIC);
        if (filter->group > 0)
            sqlite3_bind_int64(*query, 8, filter->group);
    }
    return rc;
}

int incident_list_each(sqlite3 *db, const struct execution_filter *filter,
                       void (*fn)(const struct incident_row *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = prepare(db, run_sql_incidents, filter, &query);

    if (rc == 0) {
        sqlite3_bind_int64(query, 5, filter->most ? (int64_t)filter->most : -1);
        sqlite3_bind_int64(query, 6, (int64_t)filter->offset);
    }
    return each_row(db, query, rc, fn, ctx);
}

int incident_list_count(sqlite3 *db, const struct execution_filter *filter, uint64_t *n)
{
    sqlite3_stmt *query = NULL;
    int rc = prepare(db, run_sql_n_incidents, filter, &query);

    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = rundb_error(db, "cannot count the incidents");
    if (rc == 0)
        *n = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return rc;
}

int incident_list_costly_others(sqlite3 *db, const struct execution_filter *filter,
                                struct costly_others *out)
{
    sqlite3_stmt *query = NULL;
    int rc = executions_ask(db, run_sql_costly_others, filter, &query);

    *out = (struct costly_others){0};
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = rundb_error(db, "cannot read the incidents");
    if (rc == 0) {
        out->n = (uint64_t)sqlite3_column_int64(query, 0);
        out->most_ns = (uint64_t)sqlite3_column_int64(query, 1);
        out->its_most_ns = (uint64_t)sqlite3_column_int64(query, 2);
        execution_id(out->head, executions_have_several(db) ? rundb_text(query, 6) : NULL,
                     (uint32_t)sqlite3_column_int64(query, 3),
                     (uint32_t)sqlite3_column_int64(query, 4),
                     (uint32_t)sqlite3_column_int64(query, 5));
        snprintf(out->cause, sizeof out->cause, "%s", rundb_text(query, 7));
        out->least_ns = (uint64_t)sqlite3_column_int64(query, 8);
        out->its_least_ns = (uint64_t)sqlite3_column_int64(query, 9);
    }
    sqlite3_finalize(query);
    return rc;
}

int incident_of(sqlite3 *db, int64_t foi, int64_t tree,
                void (*fn)(const struct incident_row *x, void *ctx), void *ctx)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_incident_of, "ii", foi, tree);

    return each_row(db, query, rc, fn, ctx);
}

/* -------------------------------------------------------------------------------- words */

#define MAX_NAMED 3     /* ranks, or indexes */
#define MIN_PERIOD 5    /* of a few numbers, a divisor that is smaller is often chance */
#define MIN_PERIODIC 4u /* indexes, for a distance between them to be said */

/* Sorts n >= 1 numbers and leaves each of them once. Returns how many. */
static size_t make_distinct(uint32_t *number, size_t n)
{
    size_t n_kept = 1;

    qsort(number, n, sizeof *number, order_u32);
    for (size_t i = 1; i < n; i++)
        if (number[i] != number[n_kept - 1])
            number[n_kept++] = number[i];
    return n_kept;
}

/* "4", "4 and 5", "4, 5 and 9" */
static void say_list(struct text_writer *w, const uint32_t *number, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_say(w, "%s%u", i == 0 ? "" : i + 1 == n ? " and " : ", ", number[i]);
}

/* Of distinct indexes, ascending: which they are, how far apart, or between which. */
static void say_indexes(struct text_writer *w, const uint32_t *index, size_t n)
{
    uint64_t period = 0;
    bool is_each = true;

    for (size_t i = 1; i < n; i++)
        period = common_divisor(period, index[i] - index[i - 1]);
    for (size_t i = 1; i < n; i++)
        is_each &= index[i] - index[i - 1] == period;
    if (n <= MAX_NAMED) {
        text_say(w, ", execution%s ", text_plural(n));
        say_list(w, index, n);
    } else if (n >= MIN_PERIODIC && period >= MIN_PERIOD) {
        text_say(w,
                 is_each ? ", %llu executions apart"
                         : ", %llu executions apart or a multiple of that",
                 (unsigned long long)period);
    } else {
        text_say(w, ", executions between %u and %u", index[0], index[n - 1]);
    }
}

/* "on rank 4", "on 16 ranks"; sorts them. */
static void say_ranks(struct text_writer *w, uint32_t *rank, size_t n)
{
    n = make_distinct(rank, n);
    if (n > MAX_NAMED) {
        text_say(w, "on %zu ranks", n);
    } else {
        text_say(w, "on rank%s ", text_plural(n));
        say_list(w, rank, n);
    }
}

/* ---------------------------------------------------------------------------------- JSON */

struct collector {
    sqlite3 *db;
    sqlite3_stmt *members; /* of one incident */
    bool has_several;
    json_t *array;
    int rc;
};

/* Ready to be asked of another incident; what ended by an error ends the list. */
static void rewind_members(struct collector *c)
{
    if (sqlite3_reset(c->members) != SQLITE_OK && c->rc == 0)
        c->rc = rundb_error(c->db, "cannot read the incidents");
}

/* Their ids, their trees, and the ranks they are on, each once. */
static void add_members(struct collector *c, const struct incident_row *x, json_t *json)
{
    json_t *members = json_array(), *trees = json_array(), *ranks = json_array();
    int64_t last = -1;

    if (c->rc == 0)
        c->rc = rundb_bind(c->db, c->members, "iii", x->foi_id, x->id, x->head_tree);
    while (c->rc == 0 && sqlite3_step(c->members) == SQLITE_ROW) {
        uint32_t rank = (uint32_t)sqlite3_column_int64(c->members, 0);
        char id[EXECUTION_ID_SIZE];

        execution_id(id, c->has_several ? x->foi : NULL, rank,
                     (uint32_t)sqlite3_column_int64(c->members, 1),
                     (uint32_t)sqlite3_column_int64(c->members, 2));
        json_array_append_new(members, json_text(id));
        json_array_append_new(trees, json_count((uint64_t)sqlite3_column_int64(c->members, 3)));
        if (rank != last)
            json_array_append_new(ranks, json_count(rank));
        last = rank;
    }
    rewind_members(c);
    json_object_set_new(json, "members", members);
    json_object_set_new(json, "member_trees", trees);
    json_object_set_new(json, "ranks", ranks);
}

/* The trees of its executions behind those that are there. */
static void add_trees(struct collector *c, const struct incident_row *x, json_t *trees)
{
    if (c->rc == 0)
        c->rc = rundb_bind(c->db, c->members, "iii", x->foi_id, x->id, x->head_tree);
    while (c->rc == 0 && sqlite3_step(c->members) == SQLITE_ROW)
        json_array_append_new(trees, json_count((uint64_t)sqlite3_column_int64(c->members, 3)));
    rewind_members(c);
}

/* Of what lost nothing nobody is to blame; runs that were analysed by earlier versions have the
 * rank of a chain for it. */
static bool is_caused_elsewhere(const struct incident_row *x)
{
    return x->is_anomaly && x->rank != x->head_rank && (x->lost_ns > 0 || x->is_unended);
}

static void collect(const struct incident_row *x, void *ctx)
{
    struct collector *c = ctx;
    json_t *json = json_object();
    char cause[INCIDENT_CAUSE_TEXT_SIZE];

    json_object_set_new(json, "id", x->id ? json_count((uint64_t)x->id) : json_null());
    json_object_set_new(json, "foi", json_text(x->foi));
    json_object_set_new(json, "score", json_number(x->score));
    json_object_set_new(json, "verdict", json_text(x->is_anomaly ? "anomaly" : "normal"));
    json_object_set_new(json, "begin_ns", json_count(x->begin_ns));
    json_object_set_new(json, "end_ns", json_count(x->end_ns));
    json_object_set_new(json, "lost_ns", json_count(x->lost_ns));
    json_object_set_new(json, "cost_ns", x->has_cost ? json_count(x->cost_ns) : json_null());
    json_set_range(json, x->has_range, x->cost_least_ns, x->cost_most_ns);
    json_object_set_new(json, "head", json_text(x->head));
    json_object_set_new(json, "head_tree", json_count((uint64_t)x->head_tree));
    json_object_set_new(json, "rank", json_count(x->rank));
    json_object_set_new(json, "caused_by",
                        is_caused_elsewhere(x) ? json_count(x->rank) : json_null());
    add_members(c, x, json);
    json_object_set_new(json, "turns", json_count(x->n_turns));
    json_object_set_new(json, "period", json_count(x->period));
    json_object_set_new(json, "cause", json_text(incident_cause_text(x, cause)));
    json_object_set_new(json, "alike", json_count(x->n_alike));
    json_object_set_new(json, "why", json_text(x->why));
    json_object_set_new(json, "group", x->way > 0 ? json_count((uint64_t)x->way) : json_null());
    json_object_set_new(json, "what", x->way > 0 ? json_text(x->what) : json_null());
    json_array_append_new(c->array, json);
}

/* What fn collects, ended. */
static int collected(struct collector *c, int rc, json_t **out)
{
    sqlite3_finalize(c->members);
    rc = rc == 0 ? c->rc : rc;
    if (rc < 0)
        json_decref(c->array);
    else
        *out = c->array;
    return rc;
}

static int collector_init(struct collector *c, sqlite3 *db)
{
    *c = (struct collector){
        .db = db, .array = json_array(), .has_several = executions_have_several(db)};
    return rundb_prepare(db, run_sql_incident_members, &c->members);
}

int incident_list_to_json(sqlite3 *db, const struct execution_filter *filter, json_t **out)
{
    struct collector c;
    int rc = collector_init(&c, db);

    if (rc == 0)
        rc = incident_list_each(db, filter, collect, &c);
    return collected(&c, rc, out);
}

int incident_of_to_json(sqlite3 *db, int64_t foi, int64_t tree, json_t **out)
{
    struct collector c;
    json_t *array;
    int rc = collector_init(&c, db);

    if (rc == 0)
        rc = incident_of(db, foi, tree, collect, &c);
    rc = collected(&c, rc, &array);
    if (rc < 0)
        return rc;
    *out = json_array_size(array) ? json_incref(json_array_get(array, 0)) : json_null();
    json_decref(array);
    return 0;
}

/* ------------------------------------------------------------------------- incidents by cause */

static void gather(const struct incident_row *x, void *ctx)
{
    struct incident_groups *all = ctx;
    struct incident_row *row;

    row = mem_push(&all->row, &all->n_rows, &all->row_cap);
    *row = *x;
    row->foi = mem_copy_string(x->foi);
    row->why = mem_copy_string(x->why);
    row->cause = mem_copy_string(x->cause);
    row->what = mem_copy_string(x->what);
}

/* Where a row is among all, in their order, and what it has in common with others. */
struct grouped {
    int64_t foi_id, way;
    bool is_anomaly;
    size_t at;
};

static bool is_alike(const struct grouped *p, const struct grouped *q)
{
    return p->way > 0 && p->foi_id == q->foi_id && p->way == q->way &&
           p->is_anomaly == q->is_anomaly;
}

static int by_group(const void *a, const void *b)
{
    const struct grouped *p = a, *q = b;

    return ORDER(p->foi_id, q->foi_id) ?:
           ORDER(p->way, q->way) ?:
           ORDER(q->is_anomaly, p->is_anomaly) ?:
           ORDER(p->at, q->at);
}

/* All that was lost with anomalies, as what the run comes to counts it; of what is none just what its cause cost: the
 * rest may be chance. */
static uint64_t likely_cost(const struct incident_group *g)
{
    return g->incident->is_anomaly ? g->cost_ns : g->cost_least_ns;
}

static int by_cost(const void *a, const void *b)
{
    const struct incident_group *p = a, *q = b;

    return ORDER(q->matters, p->matters) ?:
           ORDER(likely_cost(q), likely_cost(p)) ?:
           ORDER(q->cost_ns, p->cost_ns) ?:
           ORDER(q->lost_ns, p->lost_ns) ?:
           ORDER(q->incident->score, p->incident->score) ?:
           ORDER(p->incident, q->incident);
}

static void add_to_group(struct incident_group *g, const struct incident_row *x)
{
    g->n++;
    g->n_times += x->n_turns;
    g->lost_ns += x->lost_ns;
    g->matters |= x->is_anomaly || x->is_costly;
    g->n_with_cost += x->has_cost;
    g->cost_ns += x->has_cost ? x->cost_ns : 0;
    if (x->has_cost)
        g->cost_least_ns += x->has_range ? x->cost_least_ns : x->cost_ns;
}

/* Puts the rows of a group one behind the other, and makes the groups. */
static void group_rows(struct incident_groups *all)
{
    size_t n = all->n_rows;
    struct grouped *key = mem_alloc(n, sizeof *key);
    struct incident_row *row = mem_alloc(n, sizeof *row);

    for (size_t i = 0; i < n; i++)
        key[i] =
            (struct grouped){all->row[i].foi_id, all->row[i].way, all->row[i].is_anomaly, i};
    qsort(key, n, sizeof *key, by_group);
    all->group = mem_alloc(n, sizeof *all->group);
    all->listed = mem_alloc(n, sizeof *all->listed);
    for (size_t i = 0; i < n; i++) {
        row[i] = all->row[key[i].at];
        all->listed[key[i].at] = i;
        if (i == 0 || !is_alike(&key[i - 1], &key[i]))
            all->group[all->n++].incident = &row[i];
        add_to_group(&all->group[all->n - 1], &row[i]);
    }
    free(key);
    free(all->row);
    all->row = row;
    qsort(all->group, all->n, sizeof *all->group, by_cost);
}

int incident_groups_find(sqlite3 *db, const struct execution_filter *filter,
                         struct incident_groups *all)
{
    struct execution_filter whole = *filter;
    int rc;

    *all = (struct incident_groups){0};
    whole.most = 0;
    whole.offset = 0;
    rc = incident_list_each(db, &whole, gather, all);
    if (rc == 0 && all->n_rows > 0)
        group_rows(all);
    return rc;
}

void incident_groups_release(struct incident_groups *all)
{
    for (size_t i = 0; i < all->n_rows; i++) {
        free((void *)(uintptr_t)all->row[i].foi);
        free((void *)(uintptr_t)all->row[i].why);
        free((void *)(uintptr_t)all->row[i].cause);
        free((void *)(uintptr_t)all->row[i].what);
    }
    free(all->row);
    free(all->listed);
    free(all->group);
    *all = (struct incident_groups){0};
}

/* ", caused by rank 3", where it goes back to another rank than the one it was found on, and that is to blame. */
static void say_others(struct text_writer *w, const struct incident_group *g, uint32_t *rank)
{
    size_t n = 0, n_distinct;

    for (size_t i = 0; i < g->n; i++)
        if (is_caused_elsewhere(&g->incident[i]))
            rank[n++] = g->incident[i].rank;
    if (n == 0)
        return;
    text_say(w, n < g->n ? ", %zu of them caused by " : ", caused by ", n);
    n_distinct = make_distinct(rank, n);
    if (n_distinct > MAX_NAMED) {
        text_say(w, "%zu other ranks", n_distinct);
    } else {
        text_say(w, "rank%s ", text_plural(n_distinct));
        say_list(w, rank, n_distinct);
    }
}

/* Where their heads are, and where the cause is if that is elsewhere and is to blame: "on rank 2, 15 executions apart,
 * caused by rank 3". Returns out. */
static char *places_text(const struct incident_group *g, char out[GROUP_TEXT_SIZE])
{
    struct text_writer w = {.out = out, .size = GROUP_TEXT_SIZE};
    uint32_t *number = mem_resize(NULL, g->n, sizeof *number);
    uint32_t least = UINT32_MAX, most = 0; /* ranks alike in one of them */
    bool comes_back = false;

    *out = '\0';
    for (size_t i = 0; i < g->n; i++) {
        number[i] = g->incident[i].head_rank;
        least = g->incident[i].n_alike < least ? g->incident[i].n_alike : least;
        most = g->incident[i].n_alike > most ? g->incident[i].n_alike : most;
        comes_back |= g->incident[i].period > 0;
    }
    if (most < 2)
        say_ranks(&w, number, g->n);
    else if (least == most)
        text_say(&w, "on %u ranks, each by itself", most);
    else
        text_say(&w, "on %u to %u ranks, each by itself", least, most);
    for (size_t i = 0; i < g->n; i++)
        number[i] = g->incident[i].head_index;
    if (!comes_back)
        say_indexes(&w, number, make_distinct(number, g->n));
    else if (g->n == 1)
        text_say(&w, ", once in %u executions", g->incident->period);
    say_others(&w, g, number);
    free(number);
    return out;
}

char *incident_group_text(const struct incident_group *g, char out[GROUP_TEXT_SIZE])
{
    char n[TEXT_SIZE], places[GROUP_TEXT_SIZE];

    snprintf(out, GROUP_TEXT_SIZE, "%.400s, %s time%s, %.500s",
             g->incident->way > 0 ? g->incident->what : g->incident->cause,
             text_count(g->n_times, n), text_plural(g->n_times), places_text(g, places));
    return out;
}

/* What the page needs of each of its incidents without asking for them: when they were, and
 * which executions are theirs. */
static void add_each(struct collector *c, const struct incident_group *g, json_t *json)
{
    json_t *ids = json_array(), *begins = json_array(), *trees = json_array();
    json_t *ranks = json_array();
    uint32_t *rank = mem_resize(NULL, g->n, sizeof *rank);
    size_t n;

    for (size_t i = 0; i < g->n; i++) {
        const struct incident_row *x = &g->incident[i];

        rank[i] = x->head_rank;
        json_array_append_new(ids, x->id ? json_count((uint64_t)x->id) : json_null());
        json_array_append_new(begins, json_count(x->begin_ns));
        add_trees(c, x, trees);
    }
    n = make_distinct(rank, g->n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ranks, json_count(rank[i]));
    json_object_set_new(json, "incidents", ids);
    json_object_set_new(json, "begins_ns", begins);
    json_object_set_new(json, "member_trees", trees);
    json_object_set_new(json, "ranks", ranks);
    free(rank);
}

static json_t *incident_group_to_json(struct collector *c, const struct incident_group *g)
{
    const struct incident_row *first = g->incident;
    char text[GROUP_TEXT_SIZE];
    json_t *json = json_object();

    json_object_set_new(json, "group",
                        first->way > 0 ? json_count((uint64_t)first->way) : json_null());
    json_object_set_new(json, "foi", json_text(first->foi));
    json_object_set_new(json, "verdict", json_text(first->is_anomaly ? "anomaly" : "normal"));
    json_object_set_new(json, "what", json_text(first->way > 0 ? first->what : first->cause));
    json_object_set_new(json, "where", json_text(places_text(g, text)));
    json_object_set_new(json, "text", json_text(incident_group_text(g, text)));
    json_object_set_new(json, "times", json_count(g->n_times));
    json_object_set_new(json, "lost_ns", json_count(g->lost_ns));
    json_object_set_new(json, "cost_ns",
                        g->n_with_cost > 0 ? json_count(g->cost_ns) : json_null());
    json_object_set_new(json, "cost_least_ns",
                        g->n_with_cost > 0 ? json_count(g->cost_least_ns) : json_null());
    json_object_set_new(json, "cost_unknown", json_count(g->n - g->n_with_cost));
    add_each(c, g, json);
    collect(first, c);
    json_object_set(json, "first", json_array_get(c->array, 0));
    json_array_clear(c->array);
    return json;
}

int incident_groups_to_json(sqlite3 *db, const struct incident_groups *all, uint64_t offset,
                            uint64_t most, json_t **out)
{
    json_t *items = json_array();
    struct collector c;
    int rc = collector_init(&c, db);

    for (uint64_t i = offset; rc == 0 && i < all->n && i - offset < most; i++) {
        json_array_append_new(items, incident_group_to_json(&c, &all->group[i]));
        rc = c.rc;
    }
    sqlite3_finalize(c.members);
    json_decref(c.array);
    if (rc < 0)
        json_decref(items);
    else
        *out = items;
    return rc;
}

int incident_groups_list_to_json(sqlite3 *db, const struct incident_groups *all,
                                 uint64_t offset, uint64_t most, json_t **out)
{
    struct collector c;
    int rc = collector_init(&c, db);

    for (uint64_t i = offset; rc == 0 && i < all->n_rows && i - offset < most; i++) {
        collect(&all->row[all->listed[i]], &c);
        rc = c.rc;
    }
    return collected(&c, rc, out);
}

/* ----------------------------------------------------------------------------------- groups */

static struct group *group_of(struct groups *all, sqlite3_stmt *query)
{
    int64_t foi = sqlite3_column_int64(query, GROUP_FOI),
            id = sqlite3_column_int64(query, GROUP_ID);
    struct group *last = all->n > 0 ? &all->group[all->n - 1] : NULL;

    if (last && last->foi_id == foi && last->id == id)
        return last;
    last = mem_push(&all->group, &all->n, &all->cap);
    *last = (struct group){.foi_id = foi,
                           .id = id,
                           .foi = mem_copy_string(rundb_text(query, GROUP_FOI_NAME)),
                           .what = mem_copy_string(rundb_text(query, GROUP_WHAT)),
                           .begin_ns = UINT64_MAX};
    return last;
}

static void add_row(struct groups *all, sqlite3_stmt *query)
{
    struct group *g = group_of(all, query);
    uint64_t begin_ns = (uint64_t)sqlite3_column_int64(query, GROUP_ENTER);
    const char *label = rundb_text_or_null(query, GROUP_LABEL);

    *mem_push(&g->member, &g->n, &g->cap) =
        (struct group_member){sqlite3_column_int64(query, GROUP_TREE),
                              (uint32_t)sqlite3_column_int64(query, GROUP_RANK),
                              (uint32_t)sqlite3_column_int64(query, GROUP_THREAD),
                              (uint32_t)sqlite3_column_int64(query, GROUP_INDEX)};
    g->n_abnormal += label && strcmp(label, "abnormal") == 0;
    g->n_normal += label && strcmp(label, "normal") == 0;
    g->begin_ns = begin_ns < g->begin_ns ? begin_ns : g->begin_ns;
    g->lost_ns += (uint64_t)sqlite3_column_int64(query, GROUP_LOST);
    g->n_open += sqlite3_column_int(query, GROUP_IS_OPEN) != 0;
    if (sqlite3_column_type(query, GROUP_INCIDENT) == SQLITE_NULL)
        return;
    *mem_push(&g->incident, &g->n_incidents, &g->incident_cap) =
        sqlite3_column_int64(query, GROUP_INCIDENT);
    g->incidents_lost_ns += (uint64_t)sqlite3_column_int64(query, GROUP_INCIDENT_LOST);
    if (sqlite3_column_type(query, GROUP_INCIDENT_COST) == SQLITE_NULL)
        return;
    g->n_with_cost++;
    g->cost_ns += (uint64_t)sqlite3_column_int64(query, GROUP_INCIDENT_COST);
}

int groups_find(sqlite3 *db, const struct execution_filter *filter, struct groups *all)
{
    sqlite3_stmt *query = NULL;
    int rc;

    *all = (struct groups){0};
    rc = executions_ask(db, run_sql_groups, filter, &query);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        add_row(all, query);
    return rundb_close_query(db, query, rc, "cannot read the groups");
}

void groups_release(struct groups *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->group[i].foi);
        free(all->group[i].what);
        free(all->group[i].member);
        free(all->group[i].incident);
    }
    free(all->group);
    *all = (struct groups){0};
}

char *group_places(const struct group *g, char out[GROUP_TEXT_SIZE])
{
    struct text_writer w = {.out = out, .size = GROUP_TEXT_SIZE};
    uint32_t *number = mem_resize(NULL, g->n, sizeof *number);

    *out = '\0';
    for (size_t i = 0; i < g->n; i++)
        number[i] = g->member[i].rank;
    say_ranks(&w, number, g->n);
    for (size_t i = 0; i < g->n; i++)
        number[i] = g->member[i].index;
    say_indexes(&w, number, make_distinct(number, g->n));
    free(number);
    return out;
}

char *group_text(const struct group *g, char out[GROUP_TEXT_SIZE])
{
    char n[TEXT_SIZE], places[GROUP_TEXT_SIZE];

    snprintf(out, GROUP_TEXT_SIZE, "%s execution%s: %.400s, %.500s", text_count(g->n, n),
             text_plural(g->n), g->what, group_places(g, places));
    return out;
}

json_t *group_to_json(const struct group *g, bool has_several)
{
    json_t *members = json_array(), *trees = json_array(), *ranks = json_array();
    json_t *incidents = json_array(), *json = json_object();
    uint32_t *rank = mem_resize(NULL, g->n, sizeof *rank);
    char text[GROUP_TEXT_SIZE], id[EXECUTION_ID_SIZE];
    size_t n;

    for (size_t i = 0; i < g->n; i++) {
        const struct group_member *x = &g->member[i];

        rank[i] = x->rank;
        execution_id(id, has_several ? g->foi : NULL, x->rank, x->thread, x->index);
        json_array_append_new(members, json_text(id));
        json_array_append_new(trees, json_count((uint64_t)x->tree));
    }
    n = make_distinct(rank, g->n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ranks, json_count(rank[i]));
    for (size_t i = 0; i < g->n_incidents; i++)
        json_array_append_new(incidents, json_count((uint64_t)g->incident[i]));
    json_object_set_new(json, "id", json_count((uint64_t)g->id));
    json_object_set_new(json, "foi", json_text(g->foi));
    json_object_set_new(json, "what", json_text(g->what));
    json_object_set_new(json, "text", json_text(group_text(g, text)));
    json_object_set_new(json, "abnormal", json_count(g->n_abnormal));
    json_object_set_new(json, "normal", json_count(g->n_normal));
    json_object_set_new(json, "begin_ns", json_count(g->begin_ns));
    json_object_set_new(json, "lost_ns", json_count(g->lost_ns));
    json_object_set_new(json, "incidents_lost_ns", json_count(g->incidents_lost_ns));
    json_object_set_new(json, "incidents_cost_ns",
                        g->n_with_cost == g->n_incidents ? json_count(g->cost_ns)
                                                         : json_null());
    json_object_set_new(json, "members", members);
    json_object_set_new(json, "member_trees", trees);
    json_object_set_new(json, "ranks", ranks);
    json_object_set_new(json, "incidents", incidents);
    free(rank);
    return json;
}
