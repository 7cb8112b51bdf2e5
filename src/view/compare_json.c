#include "view/compare_json.h"

#include "base/json.h"
#include "view/compare_words.h"

#include <math.h>

static json_t *rounded(double ns)
{
    return isnan(ns) || isinf(ns) ? json_null() : json_integer((json_int_t)llrint(ns));
}

static json_t *pair_ns(const double ns[2])
{
    json_t *json = json_array();

    json_array_append_new(json, rounded(ns[0]));
    json_array_append_new(json, rounded(ns[1]));
    return json;
}

static json_t *pair(const double x[2])
{
    json_t *json = json_array();

    json_array_append_new(json, json_number(x[0]));
    json_array_append_new(json, json_number(x[1]));
    return json;
}

static json_t *counts(const uint32_t n[2])
{
    json_t *json = json_array();

    json_array_append_new(json, json_count(n[0]));
    json_array_append_new(json, json_count(n[1]));
    return json;
}

/* As fractions of what was before; null where nothing is known. */
static json_t *interval(const struct compare_change *x)
{
    double before = x->ns[COMPARE_BEFORE];

    if (isnan(x->low_ns) || isinf(x->low_ns) || isinf(x->high_ns) || before == 0)
        return json_null();
    return pair((double[]){x->low_ns / before, x->high_ns / before});
}

static json_t *interval_ns(const struct compare_change *x)
{
    if (isnan(x->low_ns) || isinf(x->low_ns) || isinf(x->high_ns))
        return json_null();
    return pair_ns((double[]){x->low_ns, x->high_ns});
}

static json_t *name_of(const struct comparison *c, uint32_t path)
{
    char name[COMPARE_NAME_SIZE];

    return path == COMPARE_NONE ? json_null() : json_text(compare_path_name(c, path, name));
}

static json_t *kind_name(const struct comparison *c, uint32_t kind)
{
    char name[COMPARE_NAME_SIZE];

    return kind == COMPARE_NONE ? json_null() : json_text(compare_kind_name(c, kind, name));
}

static json_t *path_json(const struct comparison *c, const struct compare_path *x)
{
    json_t *json = json_object();
    double whole = compare_difference(&c->whole);

    json_object_set_new(json, "path", name_of(c, x->path));
    json_object_set_new(json, "verdict", json_text(compare_verdict_name(x->own.verdict)));
    json_object_set_new(json, "from", name_of(c, x->from));
    json_object_set_new(json, "change_ns", rounded(compare_difference(&x->own)));
    json_object_set_new(json, "interval_ns", interval_ns(&x->own));
    json_set_off(json, x->own.off_ns);
    json_object_set_new(json, "share",
                        whole != 0 ? json_number(compare_difference(&x->own) / whole)
                                   : json_null());
    json_object_set_new(json, "time_ns", pair_ns(x->own.ns));
    json_object_set_new(json, "calls", pair(x->calls));
    json_object_set_new(json, "executions", pair(x->share));
    json_object_set_new(json, "is_waiting", json_boolean(x->is_waiting));
    json_object_set_new(json, "kind", kind_name(c, x->kind));
    json_object_set_new(json, "kind_ns", rounded(x->kind_ns));
    return json;
}

static json_t *kind_json(const struct comparison *c, uint32_t kind)
{
    const struct compare_kind *x = &c->kind[kind];
    json_t *json = json_object();

    json_object_set_new(json, "kind", kind_name(c, kind));
    json_object_set_new(json, "verdict", json_text(compare_verdict_name(x->duration.verdict)));
    json_object_set_new(json, "change", json_number(compare_fraction(&x->duration)));
    json_object_set_new(json, "interval", interval(&x->duration));
    json_set_off(json, x->duration.off_ns);
    json_object_set_new(json, "time_ns", pair_ns(x->duration.ns));
    json_object_set_new(json, "executions", pair(x->share));
    json_object_set_new(json, "path", name_of(c, x->path));
    json_object_set_new(json, "path_ns", rounded(x->path_ns));
    return json;
}

static json_t *rank_json(const struct compare_rank *x)
{
    json_t *json = json_object();

    json_object_set_new(json, "program", json_count(x->program));
    json_object_set_new(json, "rank", json_count(x->rank));
    json_object_set_new(json, "own_ns", pair_ns(x->own_ns));
    json_object_set_new(json, "wait_ns", pair_ns(x->wait_ns));
    json_set_off(json, x->off_ns);
    json_object_set_new(json, "stands_out", json_boolean(x->stands_out));
    return json;
}

static json_t *function_json(const struct comparison *c, const struct compare_function *x)
{
    json_t *json = json_object();

    json_object_set_new(json, "function", json_text(c->names.name[x->name]));
    json_object_set_new(json, "own_ns", pair_ns(x->own_ns));
    json_object_set_new(json, "critical_ns", pair_ns(x->critical_ns));
    json_object_set_new(json, "calls", pair(x->calls));
    json_object_set_new(json, "locations", pair(x->locations));
    return json;
}

static json_t *durations(const struct comparison *c)
{
    static const char *const names[DIGEST_QUANTILES] = {"median", "p95", "p99"};
    json_t *json = json_object();

    json_object_set_new(json, "mean", pair_ns(c->whole.ns));
    for (uint32_t i = 0; i < DIGEST_QUANTILES; i++)
        json_object_set_new(json, names[i],
                            pair_ns((double[]){c->duration_ns[0][i], c->duration_ns[1][i]}));
    return json;
}

static json_t *differences(const struct comparison *c)
{
    json_t *json = json_array();

    if (c->has_other_ranks)
        json_array_append_new(json, json_string("ranks"));
    if (c->has_other_locations)
        json_array_append_new(json, json_string("locations"));
    if (c->has_other_counts)
        json_array_append_new(json, json_string("executions"));
    for (int f = 0; f < N_DIGEST_FACTS; f++)
        if (c->fact[0][f])
            json_array_append_new(json, json_string(digest_fact_key[f]));
    return json;
}

/* What was one thing in all runs before, and is another. */
static json_t *facts(const struct comparison *c)
{
    json_t *list = json_array();

    for (int f = 0; f < N_DIGEST_FACTS; f++)
        if (c->fact[0][f])
            json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "key", digest_fact_key[f],
                                                  "before", json_text(c->fact[0][f]), "after",
                                                  json_text(c->fact[1][f])));
    return list;
}

static json_t *lists(const struct comparison *c, uint32_t most, json_t *json)
{
    json_t *paths = json_array(), *kinds = json_array(), *ranks = json_array();
    json_t *functions = json_array();

    for (uint32_t i = 0; i < c->n_paths && (most == 0 || i < most); i++)
        json_array_append_new(paths, path_json(c, &c->path[i]));
    for (uint32_t i = 0; i < c->n_kinds; i++)
        json_array_append_new(kinds, kind_json(c, i));
    for (uint32_t i = 0; i < c->n_ranks && (most == 0 || i < most); i++)
        json_array_append_new(ranks, rank_json(&c->rank[i]));
    json_object_set_new(json, "paths", paths);
    json_object_set_new(json, "kinds", kinds);
    for (uint32_t i = 0; i < c->n_functions && (most == 0 || i < most); i++)
        json_array_append_new(functions, function_json(c, &c->function[i]));
    json_object_set_new(json, "ranks", ranks);
    json_object_set_new(json, "functions", functions);
    return json;
}

static json_t *headline(const struct comparison *c)
{
    char text[COMPARE_HEADLINE_SIZE];

    compare_headline(c, text);
    return json_text(text);
}

static void add_note(void *notes, const char *text)
{
    json_array_append_new(notes, json_text(text));
}

json_t *compare_to_json(const struct comparison *c, uint32_t most)
{
    json_t *json = json_object(), *notes = json_array();

    compare_notes(c, add_note, notes);
    json_object_set_new(json, "foi", name_of(c, 0));
    json_object_set_new(json, "headline", headline(c));
    json_object_set_new(json, "notes", notes);
    json_object_set_new(json, "verdict", json_text(compare_verdict_name(c->whole.verdict)));
    json_object_set_new(json, "change", json_number(compare_fraction(&c->whole)));
    json_object_set_new(json, "interval", interval(&c->whole));
    json_set_off(json, c->whole.off_ns);
    json_object_set_new(json, "least", json_number(c->least));
    json_object_set_new(json, "runs", counts(c->n_runs));
    json_object_set_new(json, "within_one_run", json_boolean(compare_is_one_run(c)));
    json_object_set_new(json, "runs_needed",
                        c->runs_needed > 0 ? json_count(c->runs_needed) : json_null());
    json_object_set_new(json, "executions", pair(c->n_executions));
    json_object_set_new(json, "total_ns", pair_ns(c->time_ns));
    json_object_set_new(json, "duration_ns", durations(c));
    json_object_set_new(json, "run_ns", c->run_ns[0] > 0 ? pair_ns(c->run_ns) : json_null());
    json_object_set_new(json, "not_comparable", differences(c));
    json_object_set_new(json, "metadata", facts(c));
    json_object_set_new(json, "unmatched", json_number(c->unmatched));
    return lists(c, most, json);
}
