/*
 * Each is an object or a list whose fields are those of docs/formats.md. The list of subtrees
 * is sorted: what is below the threshold is its end. A question is its execution, why it is
 * asked, its kind, and what the answer is worth.
 */
#include "view/results_json.h"

#include "analysis/label_store.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "learn/reasons.h"
#include "ranks/peer_few.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------- rows of a query */

static json_t *value_to_json(sqlite3_stmt *query, int column)
{
    double real;

    switch (sqlite3_column_type(query, column)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(query, column));
    case SQLITE_FLOAT:
        real = sqlite3_column_double(query, column);
        return json_number(real);
    default:
        return json_text(rundb_text(query, column));
    }
}

/* The row the query stands at. What is not finite becomes null. */
static json_t *row_to_json(sqlite3_stmt *query)
{
    json_t *row = json_object();

    for (int c = 0; c < sqlite3_column_count(query); c++)
        json_object_set_new(row, sqlite3_column_name(query, c), value_to_json(query, c));
    return row;
}

/* As rundb_bind, for parameters that come as a list: integers and texts. */
static void bind(sqlite3_stmt *query, const char *types, va_list values)
{
    for (int i = 0; types[i]; i++) {
        if (types[i] == 't')
            sqlite3_bind_text(query, i + 1, va_arg(values, const char *), -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(query, i + 1, va_arg(values, int64_t));
    }
}

int rows_to_json(sqlite3 *db, json_t **out, const char *sql, const char *types, ...)
{
    sqlite3_stmt *query = NULL;
    json_t *rows = json_array();
    int status = SQLITE_DONE;
    int rc = rundb_prepare(db, sql, &query);
    va_list values;

    va_start(values, types);
    if (rc == 0)
        bind(query, types, values);
    va_end(values);
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW)
        json_array_append_new(rows, row_to_json(query));
    if (rc == 0 && status != SQLITE_DONE)
        rc = rundb_error(db, "cannot read the run's database");
    sqlite3_finalize(query);
    if (rc == 0)
        *out = rows;
    else
        json_decref(rows);
    return rc;
}

/* ------------------------------------------------------------------------------------ ranks */

static json_t *path_json(const struct why *why, const struct peer_path *x)
{
    char name[WHY_NAME_SIZE];
    json_t *json = json_object();

    json_object_set_new(json, "path", json_text(why_path_name(why, x->path, name)));
    json_object_set_new(json, "stage",
                        x->stage == NO_STAGE ? json_null() : json_count(x->stage));
    json_object_set_new(json, "kind", json_text(x->is_more ? "more to do" : "slower"));
    json_object_set_new(json, "factor",
                        isinf(x->factor) ? json_null() : json_number(x->factor));
    json_object_set_new(json, "places", json_count(x->n_there));
    json_object_set_new(json, "kernel",
                        x->kernel_factor > 0
                            ? json_text(why->defs->region[x->kernel].short_name)
                            : json_null());
    json_object_set_new(json, "kernel_on",
                        x->kernel_factor > 0 ? json_text(x->is_of_thread ? "thread" : "GPU")
                                             : json_null());
    json_object_set_new(json, "kernel_factor",
                        x->kernel_factor > 0 ? json_number(x->kernel_factor) : json_null());
    json_object_set_new(json, "excess_ns", json_count((uint64_t)llrint(x->excess_ns)));
    json_set_off(json, x->off_ns);
    json_object_set_new(json, "share", json_number(x->share));
    json_object_set_new(json, "share_of", json_text(x->of_executions ? "executions" : "calls"));
    json_object_set_new(json, "since_ns", json_count(x->since_ns));
    json_object_set_new(json, "is_from_start", json_boolean(x->is_from_start));
    json_object_set_new(json, "is_sure", json_boolean(x->is_sure));
    return json;
}

static json_t *place_json(const struct why *why, const struct peers *peers, uint32_t place)
{
    const struct peer_place *p = &peers->place[place];
    json_t *json = json_object(), *paths = json_array();
    char name[PEER_NAME_SIZE];

    for (uint32_t i = 0; i < p->n_paths; i++)
        json_array_append_new(paths, path_json(why, &p->path[i]));
    json_object_set_new(json, "place", json_text(peer_place_name(peers, place, name)));
    json_object_set_new(json, "program", json_count(p->program));
    json_object_set_new(json, "rank", json_count(p->rank));
    json_object_set_new(json, "thread", json_count(p->thread));
    json_object_set_new(json, "stage",
                        p->stage == NO_STAGE ? json_null() : json_count(p->stage));
    json_object_set_new(json, "node", p->node[0] ? json_text(p->node) : json_null());
    json_object_set_new(json, "verdict", json_text(peer_verdict_name(p->verdict)));
    json_object_set_new(json, "executions", json_count(p->n_executions));
    json_object_set_new(json, "own_ns", json_count((uint64_t)llrint(p->own_ns)));
    json_object_set_new(json, "wait_ns", json_count((uint64_t)llrint(p->wait_ns)));
    json_object_set_new(json, "slowdown", json_number(peer_slowdown(p)));
    json_object_set_new(json, "cost_ns",
                        p->has_cost ? json_count((uint64_t)p->cost_ns) : json_null());
    json_set_range(json, p->has_cost, (uint64_t)p->cost_least_ns, (uint64_t)p->cost_most_ns);
    json_object_set_new(json, "paths", paths);
    json_object_set_new(json, "waits_for",
                        p->waits_for == PEERS_NONE
                            ? json_null()
                            : json_text(peer_place_name(peers, p->waits_for, name)));
    return json;
}

static json_t *operations_json(const struct scoring *scoring, const struct peers *peers)
{
    json_t *json = json_array();

    for (uint32_t i = 0; i < peers->n_operations; i++) {
        const struct peer_operation *x = &peers->operation[i];
        json_t *operation = json_object();

        json_object_set_new(operation, "name",
                            json_text(scoring->defs->region[x->region].name));
        json_object_set_new(operation, "slowdown", json_number(x->slowdown));
        json_object_set_new(operation, "time_ns", json_count((uint64_t)llrint(x->sum_ns)));
        json_array_append_new(json, operation);
    }
    return json;
}

static json_t *history_json(const struct scoring *scoring, const struct peers *peers,
                            uint32_t width)
{
    struct peer_history history;
    json_t *json = json_object(), *factor = json_array();

    peers_history(scoring, peers, width, &history);
    for (size_t i = 0; i < (size_t)peers->n * width; i++)
        json_array_append_new(factor, json_number(rint(1e4 * history.factor[i]) / 1e4));
    json_object_set_new(json, "begin_ns", json_count(history.begin_ns));
    json_object_set_new(json, "bin_ns", json_count(history.bin_ns));
    json_object_set_new(json, "width", json_count(width));
    json_object_set_new(json, "factor", factor);
    free(history.factor);
    return json;
}

static json_t *teams_json(const struct definitions *defs, const struct peer_teams *teams)
{
    json_t *json = json_object(), *slow = json_array();
    char name[PEER_NAME_SIZE];

    for (uint32_t i = 0; i < teams->n; i++) {
        const struct peer_thread *x = &teams->thread[i];
        json_t *thread = json_object();
        char *text = peer_teams_text(defs, x);

        json_object_set_new(thread, "place", json_text(peer_teams_place(defs, x, name)));
        json_object_set_new(thread, "rank", json_count(defs->location[x->location].rank));
        json_object_set_new(thread, "thread", json_count(defs->location[x->location].thread));
        json_object_set_new(thread, "verdict",
                            json_text(peer_verdict_name(peer_teams_verdict(x))));
        json_object_set_new(thread, "region", json_text(defs->region[x->region].short_name));
        json_object_set_new(thread, "inside", json_text(defs->region[x->inside].short_name));
        json_object_set_new(thread, "factor", json_number(x->factor));
        json_object_set_new(thread, "excess_ns", json_count((uint64_t)llrint(x->excess_ns)));
        json_object_set_new(thread, "share", json_number(x->share));
        json_object_set_new(thread, "teams", json_count(x->n_teams));
        json_object_set_new(thread, "why", json_text(text));
        free(text);
        json_object_set_new(thread, "cost_ns",
                            x->has_cost ? json_count((uint64_t)x->cost_ns) : json_null());
        json_set_range(thread, x->has_cost, (uint64_t)x->cost_least_ns, (uint64_t)x->cost_ns);
        json_array_append_new(slow, thread);
    }
    json_object_set_new(json, "compared", json_count(teams->n_teams));
    json_object_set_new(json, "threads", json_count(teams->n_threads));
    json_object_set_new(json, "slow", slow);
    return json;
}

json_t *ranks_to_json(const struct scoring *scoring, const struct why *why,
                      const struct peers *peers, uint32_t width)
{
    json_t *json = json_object(), *places = json_array();
    uint32_t foi = scoring->forest.region[0];

    for (uint32_t i = 0; i < peers->n; i++)
        json_array_append_new(places, place_json(why, peers, i));
    json_object_set_new(json, "foi", json_text(scoring->defs->region[foi].name));
    json_object_set_new(json, "slowdown",
                        isnan(peers->slowdown) ? json_null() : json_number(peers->slowdown));
    json_object_set_new(json, "slowdown_is_bound", json_boolean(peers->is_bound));
    json_object_set_new(json, "by", json_text(peer_by_name(peers->opts.by)));
    json_object_set_new(json, "compared", json_count(peers->n_compared));
    json_object_set_new(json, "places", places);
    json_object_set_new(json, "operations", operations_json(scoring, peers));
    if (peers->teams.n_teams > 0)
        json_object_set_new(json, "teams", teams_json(scoring->defs, &peers->teams));
    if (width > 0)
        json_object_set_new(json, "history", history_json(scoring, peers, width));
    return json;
}

/* ----------------------------------------------------------------- a ranking, and questions */

void execution_id_of(char out[EXECUTION_ID_SIZE], const struct forest *forest,
                     const struct definitions *defs, bool has_several, uint32_t t)
{
    const struct location *location = &defs->location[forest->location[t]];
    const char *foi = defs->region[forest->region[forest->first[t]]].short_name;

    execution_id(out, has_several ? foi : NULL, location->rank, location->thread,
                 forest->index[t]);
}

/* By which labels. */
static json_t *effects_json(const struct ranking *ranking, const struct definitions *defs,
                            const struct retrain_result *result, bool has_several)
{
    json_t *effects = json_array();

    for (uint32_t i = 0; i < result->n_effects; i++) {
        const struct label_effect *e = &result->effect[i];
        json_t *moved = json_array();
        char id[EXECUTION_ID_SIZE];

        for (uint32_t m = 0; m < e->n_moved && m < LABEL_EFFECTS_TREES; m++) {
            execution_id_of(id, &ranking->work.forest, defs, has_several, e->moved[m]);
            json_array_append_new(moved, json_pack("{s:o, s:I}", "id", json_text(id), "tree",
                                                   (json_int_t)e->moved[m]));
        }
        execution_id_of(id, &ranking->work.forest, defs, has_several, e->tree);
        json_array_append_new(effects,
                              json_pack("{s:o, s:I, s:s, s:I, s:I, s:o}", "id", json_text(id),
                                        "tree", (json_int_t)e->tree, "label",
                                        label_name(e->label), "labels", (json_int_t)e->n_labels,
                                        "n_moved", (json_int_t)e->n_moved, "moved", moved));
    }
    return effects;
}

json_t *retrain_to_json(const struct ranking *ranking, const struct definitions *defs,
                        const struct retrain_result *result, bool has_several, size_t most)
{
    json_t *changes = json_array();

    for (size_t i = 0; i < result->n_changes && i < most; i++) {
        const struct retrain_change *change = &result->change[i];
        char id[EXECUTION_ID_SIZE];

        execution_id_of(id, &ranking->work.forest, defs, has_several, change->tree);
        json_array_append_new(changes,
                              json_pack("{s:o, s:I, s:f, s:f, s:s}", "id", json_text(id),
                                        "tree", (json_int_t)change->tree, "score",
                                        change->after, "before", change->before, "verdict",
                                        change->is_anomaly ? "anomaly" : "normal"));
    }
    return json_pack(
        "{s:I, s:s*, s:s*, s:o, s:o, s:I, s:I, s:I, s:f, s:I, s:o, s:o}", "retrain",
        (json_int_t)result->id, "learner", ranking->learner_name, "features",
        ranking->features_name, "gamma",
        ranking->learnt.gamma > 0 ? json_number(ranking->learnt.gamma) : json_null(), "nu",
        ranking->learnt.gamma > 0 ? json_number(ranking_nu(ranking)) : json_null(), "abnormal",
        (json_int_t)result->n_abnormal, "normal", (json_int_t)result->n_normal, "anomalies",
        (json_int_t)result->n_anomalies, "rank_ns", (double)result->rank_ns, "n_changes",
        (json_int_t)result->n_changes, "changes", changes, "by",
        effects_json(ranking, defs, result, has_several));
}

int retrain_history(sqlite3 *db, int64_t foi, json_t **out)
{
    return rows_to_json(db, out, run_sql_retrains, "i", foi);
}

const char *question_name(const struct question *question)
{
    return question->is_uncertain ? "uncertain" : "strangest";
}

json_t *question_to_json(const struct question *question, const struct ranking *ranking,
                         const struct definitions *defs, const uint32_t *n_moved)
{
    char kind[REASON_SIZE];

    reasons_say(question->kind, &ranking->work.model, defs, kind);
    return json_pack("{s:s, s:o, s:o}", "asked_as", question_name(question), "kind",
                     json_text(kind), "moves", n_moved ? json_count(*n_moved) : json_null());
}

/* --------------------------------------------------------------------------------- subtrees */

#define TYPICAL_THRESHOLD log(2.0)

size_t subtree_count(const struct subtrees *s, double threshold)
{
    size_t n = 0;

    if (isnan(threshold))
        threshold = TYPICAL_THRESHOLD;
    while (n < s->tops.n && fabs(s->tops.top[n].importance) >= threshold)
        n++;
    return n;
}

char *subtree_name(const struct subtrees *s, const struct topsubtree *top,
                   char out[TOPSUBTREES_NAME_SIZE])
{
    return topsubtrees_name(&s->work.forest, s->work.defs, top->vertex,
                            s->work.wl.vocab.degree[top->word], out);
}

/* Counted from the root: with the row of the root added they are rows of calls/. */
static json_t *vertices(const struct subtrees *s, uint32_t word)
{
    const struct forest *f = &s->work.forest;
    uint32_t first = f->first[s->tree], n = f->first[s->tree + 1] - first;
    bool *is_part = mem_alloc(n, sizeof *is_part);
    json_t *list = json_array();

    topsubtrees_mark(&s->tops, &s->input, word, s->tree, is_part);
    for (uint32_t i = 0; i < n; i++)
        if (is_part[i])
            json_array_append_new(
                list, json_count(forest_row(f, s->tree, first + i) - f->call[s->tree]));
    free(is_part);
    return list;
}

json_t *subtree_to_json(const struct subtrees *s, double threshold)
{
    size_t n = subtree_count(s, threshold);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct topsubtree *top = &s->tops.top[i];
        char name[TOPSUBTREES_NAME_SIZE];
        json_t *item = json_object();
        uint32_t region = s->work.wl.vocab.region[top->word];

        json_object_set_new(item, "importance", json_number(top->importance));
        json_object_set_new(item, "subtree", json_text(subtree_name(s, top, name)));
        json_object_set_new(item, "function", json_text(s->work.defs->region[region].name));
        json_object_set_new(item, "degree", json_count(s->work.wl.vocab.degree[top->word]));
        json_object_set_new(item, "calls", json_count(top->count));
        json_object_set_new(item, "usual_calls", json_number(top->typical_count));
        json_object_set_new(item, "inclusive_ns", json_count(top->weight_ns));
        json_object_set_new(item, "usual_ns", json_number(top->typical_ns));
        json_object_set_new(item, "vertices_here", vertices(s, top->word));
        json_array_append_new(list, item);
    }
    return list;
}

/* ---------------------------------------------------------------------------------- a trend */

bool trend_is_on(const struct trend *t, uint32_t series, const char *path)
{
    size_t n = path ? strlen(path) : 0;
    const char *own = t->series[series].path;

    if (series == 0 || path == NULL)
        return true;
    return strncmp(own, path, n) == 0 && (own[n] == '\0' || strncmp(own + n, " > ", 3) == 0);
}

json_t *history_run_to_json(const struct history_run *run, const struct history_tags *tags)
{
    json_t *json = json_object(), *all = json_object();

    for (size_t i = 0; i < tags->n; i++) {
        json_t *value = json_text(tags->tag[i].value);
        json_t *key = json_text(tags->tag[i].key);

        json_object_set_new(all, json_string_value(key), value);
        json_decref(key);
    }
    json_object_set_new(json, "number", json_integer(run->id));
    json_object_set_new(json, "added_s", json_integer(run->added_s));
    json_object_set_new(json, "run", json_text(run->source));
    json_object_set_new(json, "foi", json_text(run->foi));
    json_object_set_new(json, "ranks", json_count(run->n_ranks));
    json_object_set_new(json, "executions", json_count(run->n_executions));
    json_object_set_new(json, "anomalies", json_count(run->n_anomalies));
    json_object_set_new(json, "time_ns", json_count(run->time_ns));
    json_object_set_new(json, "median_ns", json_count(run->median_ns));
    json_object_set_new(json, "p99_ns", json_count(run->p99_ns));
    json_object_set_new(json, "tags", all);
    return json;
}

static json_t *change_to_json(const struct trend *t, const struct change_point *c)
{
    json_t *json = json_object();

    json_object_set_new(json, "number", json_integer(t->run[c->at].id));
    json_object_set_new(json, "index", json_count(c->at));
    json_object_set_new(json, "before_ns", json_number(c->before));
    json_object_set_new(json, "after_ns", json_number(c->after));
    json_object_set_new(json, "chance", json_number(c->chance));
    return json;
}

static json_t *series_to_json(const struct trend *t, const struct trend_series *s)
{
    json_t *json = json_object(), *ns = json_array(), *changes = json_array();

    for (uint32_t i = 0; i < t->n_runs; i++)
        json_array_append_new(ns, json_number(s->ns[i]));
    for (uint32_t i = 0; i < s->n_changes; i++)
        json_array_append_new(changes, change_to_json(t, &s->change[i]));
    json_object_set_new(json, "path", json_text(s->path));
    json_object_set_new(json, "ns", ns);
    json_object_set_new(json, "changes", changes);
    return json;
}

/* Of so few runs, or of so few after a change, nothing could be told. */
static void say_unchanged(uint32_t n_runs, char *out, size_t size)
{
    uint32_t least = change_points_least_values(CHANGE_POINTS_CHANCE);
    uint32_t side = change_points_least_side(n_runs, CHANGE_POINTS_CHANCE);

    if (side == 0)
        snprintf(out, size,
                 "%u run%s too few to tell a change from the spread between them: it takes %u, "
                 "at least %u of them before the change and %u after it",
                 n_runs, n_runs == 1 ? " is" : "s are", least,
                 change_points_least_side(least, CHANGE_POINTS_CHANCE),
                 change_points_least_side(least, CHANGE_POINTS_CHANCE));
    else
        snprintf(out, size,
                 "no change in these runs that is larger than the spread between them; of one "
                 "with fewer than %u runs before or after it that could not be told",
                 side);
}

static void say_suspected(const struct trend *t, char *out, size_t size)
{
    const struct change_point *c = &t->seems;
    long long number = (long long)t->run[c->at].id;
    char before[TEXT_SIZE], after[TEXT_SIZE];

    text_duration(c->before, before);
    text_duration(c->after, after);
    if (c->at + 1 == t->n_runs)
        snprintf(out, size,
                 "the last run, number %lld, took %s per execution, those before it %s on "
                 "average: farther off than they are from each other, but one run alone is no "
                 "change yet",
                 number, after, before);
    else
        snprintf(
            out, size,
            "the whole seems to have changed with number %lld, from %s to %s: by chance in 1 "
            "of %.0f such histories at most, if times of runs without a change are log-normal",
            number, before, after, 1 / CHANGE_POINTS_SUSPECTED);
}

void trend_notes(const struct trend *t, const char *path,
                 void (*say)(void *ctx, const char *text), void *ctx)
{
    bool has_changes = false;
    char text[256];

    for (uint32_t i = 0; i < t->n_series; i++)
        has_changes |= t->series[i].n_changes > 0 && trend_is_on(t, i, path);
    if (!has_changes) {
        say_unchanged(t->n_runs, text, sizeof text);
        say(ctx, text);
    }
    if (t->seems_changed) {
        say_suspected(t, text, sizeof text);
        say(ctx, text);
    }
}

static void add_note(void *notes, const char *text)
{
    json_array_append_new(notes, json_text(text));
}

json_t *trend_to_json(const struct trend *t, const char *path, uint32_t most)
{
    json_t *json = json_object(), *runs = json_array(), *series = json_array();
    json_t *notes = json_array();

    trend_notes(t, path, add_note, notes);
    for (uint32_t i = 0; i < t->n_runs; i++)
        json_array_append_new(runs, history_run_to_json(&t->run[i], &t->tags[i]));
    for (uint32_t i = 0; i < t->n_series; i++)
        if (trend_is_on(t, i, path) && (most == 0 || json_array_size(series) < most))
            json_array_append_new(series, series_to_json(t, &t->series[i]));
    json_object_set_new(json, "foi", json_text(t->run[0].foi));
    json_object_set_new(json, "runs", runs);
    json_object_set_new(json, "series", series);
    json_object_set_new(json, "seems_changed",
                        t->seems_changed ? change_to_json(t, &t->seems) : json_null());
    json_object_set_new(json, "notes", notes);
    return json;
}
