/*
 * One headline for the terminal, for a pull request, and for the page; the same changes as
 * JSON, and as a tree for a picture.
 */
#include "view/compare_json.h"

#include "base/json.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------- in words */

#define HEADLINE_PATHS 3u

double compare_difference(const struct compare_change *x)
{
    return x->ns[COMPARE_AFTER] - x->ns[COMPARE_BEFORE];
}

/* "caller > function", which says enough where there is space for a line only. */
static const char *last_two(const char *name)
{
    const char *from = name;

    for (const char *at = name, *next; (next = strstr(at, " > ")) != NULL; at = next + 3)
        from = at;
    return from;
}

char *compare_share_text(const struct comparison *c, double ns, char out[TEXT_SIZE])
{
    snprintf(out, TEXT_SIZE, "%+.1f %%", 100 * ns / c->whole.ns[COMPARE_BEFORE]);
    return out;
}

char *compare_time_text(double ns, char out[TEXT_SIZE])
{
    char size[TEXT_SIZE];

    snprintf(out, TEXT_SIZE, "%c%.20s", ns < 0 ? '-' : '+', text_duration(fabs(ns), size));
    return out;
}

static char *say_interval(const struct compare_change *x, char out[TEXT_SIZE])
{
    double before = x->ns[COMPARE_BEFORE];

    if (isnan(x->low_ns) || isinf(x->low_ns) || isinf(x->high_ns) || before == 0)
        snprintf(out, TEXT_SIZE, "unknown");
    else
        snprintf(out, TEXT_SIZE, "%+.1f to %+.1f", 100 * x->low_ns / before,
                 100 * x->high_ns / before);
    return out;
}

/* Where most of a change is matters where there is one. */
bool compare_kind_is_said(const struct compare_path *x)
{
    return x->kind != COMPARE_NONE && compare_is_sure(x->own.verdict) &&
           x->own.verdict != COMPARE_MOVED;
}

/* What it adds to the change of an execution; and by how much it changed itself, where that is another number. */
static size_t say_path(const struct comparison *c, const struct compare_path *x, bool is_first,
                       char *out, size_t size)
{
    char name[COMPARE_NAME_SIZE], kind[COMPARE_NAME_SIZE], share[TEXT_SIZE], own[TEXT_SIZE];
    double calls = x->calls[COMPARE_AFTER] - x->calls[COMPARE_BEFORE];
    int n = snprintf(
        out, size, "%s%s in %.300s", compare_share_text(c, compare_difference(&x->own), share),
        is_first ? " of the whole" : "", last_two(compare_path_name(c, x->path, name)));

    if (x->own.verdict < COMPARE_NEW && x->own.ns[COMPARE_BEFORE] > 0) {
        snprintf(own, sizeof own, "%+.1f %%", 100 * compare_fraction(&x->own));
        if (strcmp(own, share) != 0)
            n += snprintf(out + n, size - (size_t)n, " (%s of its own time)", own);
    }
    if (x->own.verdict >= COMPARE_NEW)
        n += snprintf(out + n, size - (size_t)n, ", %s", compare_verdict_word(x->own.verdict));
    else if (fabs(calls) > 0.05 * x->calls[COMPARE_BEFORE])
        n += snprintf(out + n, size - (size_t)n, ", %.3g calls %s", fabs(calls),
                      calls > 0 ? "more" : "fewer");
    if (compare_kind_is_said(x))
        n += snprintf(out + n, size - (size_t)n, ", of it %s %.300s",
                      compare_share_text(c, x->kind_ns, share),
                      compare_kind_name(c, x->kind, kind));
    return (size_t)n;
}

/* Kinds of execution that changed otherwise than all of them did. */
static size_t say_kinds(const struct comparison *c, char *out, size_t size)
{
    char name[COMPARE_NAME_SIZE];
    size_t n = 0;

    for (uint32_t k = 0; k < c->n_kinds; k++) {
        const struct compare_change *x = &c->kind[k].duration;
        char change[TEXT_SIZE] = "";

        if (!compare_is_sure(x->verdict) || x->verdict == c->whole.verdict || n + 700 >= size)
            continue;
        if (compare_kind_is_on_both(&c->kind[k]))
            snprintf(change, sizeof change, "%+.1f %%, ", 100 * compare_fraction(x));
        n += (size_t)snprintf(out + n, size - n, "; executions %.500s: %s%s",
                              compare_kind_name(c, k, name), change,
                              compare_verdict_word(x->verdict));
    }
    return n;
}

/* What changed for sure; of one run on each side, where that cannot be said, also what makes as much of a
 * difference as the whole would have to. */
static bool is_in_headline(const struct comparison *c, const struct compare_change *x)
{
    return compare_is_sure(x->verdict) ||
           (compare_is_one_run(c) && x->verdict == COMPARE_INCONCLUSIVE &&
            fabs(compare_difference(x)) > c->least * c->whole.ns[COMPARE_BEFORE]);
}

/* "+12.4 % (95 %: +10.1 to +14.8), slower: +9.1 % of the whole in a > b (+30.0 % of its own time), of it
 * +8.8 % with c; ..." */
void compare_headline(const struct comparison *c, char out[COMPARE_HEADLINE_SIZE])
{
    char interval[TEXT_SIZE];
    size_t n = (size_t)snprintf(
        out, COMPARE_HEADLINE_SIZE, "%+.1f %% (95 %%%s: %s), %s",
        100 * compare_fraction(&c->whole), compare_is_one_run(c) ? " within one run" : "",
        say_interval(&c->whole, interval), compare_verdict_word(c->whole.verdict));

    for (uint32_t i = 0, said = 0; i < c->n_paths && said < HEADLINE_PATHS; i++)
        if (is_in_headline(c, &c->path[i].own)) {
            n += (size_t)snprintf(out + n, COMPARE_HEADLINE_SIZE - n, "%s ",
                                  said == 0 ? ":" : ";");
            n += say_path(c, &c->path[i], said++ == 0, out + n, COMPARE_HEADLINE_SIZE - n);
        }
    say_kinds(c, out + n, COMPARE_HEADLINE_SIZE - n);
}

/* "4", or "4 to 6" of several runs. */
static char *range_text(const struct compare_range *range, char out[TEXT_SIZE])
{
    int n = snprintf(out, TEXT_SIZE, "%u", range->least);

    if (range->most > range->least)
        snprintf(out + n, TEXT_SIZE - (size_t)n, " to %u", range->most);
    return out;
}

/* As many may be others. */
static void say_other_numbers(const char *what, const struct compare_range of[2],
                              void (*say)(void *ctx, const char *text), void *ctx)
{
    char text[200], before[TEXT_SIZE], after[TEXT_SIZE];
    bool is_number = of[0].least != of[1].most || of[1].least != of[0].most;

    if (is_number)
        snprintf(text, sizeof text, "not comparable: other numbers of %s (%s, %s)", what,
                 range_text(&of[0], before), range_text(&of[1], after));
    else
        snprintf(text, sizeof text,
                 "not comparable: as many %s, but not the same, have executions", what);
    say(ctx, text);
}

/* Texts that are long, from where they begin to differ. */
static void say_facts(const struct comparison *c, void (*say)(void *ctx, const char *text),
                      void *ctx)
{
    static const char *const what[N_DIGEST_FACTS] = {
        [FACT_COMMAND] = "another command line",
        [FACT_NODES] = "other nodes",
        [FACT_PLATFORM] = "another platform",
        [FACT_COMPILER] = "another compiler",
        [FACT_MPI] = "another MPI library",
        [FACT_OPENMP_THREADS] = "another number of OpenMP threads",
        [FACT_TRACER] = "recorded by another tracer",
    };
    char text[512];

    for (int f = 0; f < N_DIGEST_FACTS; f++) {
        const char *was = c->fact[0][f], *is = c->fact[1][f];
        size_t same = 0, room = 100;

        if (was == NULL)
            continue;
        while (was[same] && was[same] == is[same])
            same++;
        same = strlen(was) > room || strlen(is) > room ? (same > 20 ? same - 20 : 0) : 0;
        snprintf(text, sizeof text, "%s: %s (%s%.100s; %s%.100s)",
                 f == FACT_NODES ? "not quite comparable" : "not comparable", what[f],
                 same > 0 ? "..." : "", was + same, same > 0 ? "..." : "", is + same);
        say(ctx, text);
    }
}

/* What is to be known before any of it is believed, a line each. */
void compare_notes(const struct comparison *c, void (*say)(void *ctx, const char *text),
                   void *ctx)
{
    char text[256], name[TEXT_SIZE];

    if (compare_is_one_run(c))
        say(ctx, "one run on each side: the spread between runs is not known; give several "
                 "runs with --base to measure it");
    if (c->whole.off_ns > 0) {
        snprintf(text, sizeof text,
                 "begins and ends of calls are estimates: changes of an execution by less than "
                 "%s cannot be seen",
                 text_duration(c->whole.off_ns, name));
        say(ctx, text);
    }
    if (c->runs_needed > 0) {
        int n = snprintf(text, sizeof text,
                         "inconclusive: with about %s runs on each side a change of this size "
                         "would be ",
                         text_count(c->runs_needed, name));

        if (compare_is_large(c))
            snprintf(text + n, sizeof text - (size_t)n, "significant");
        else
            snprintf(text + n, sizeof text - (size_t)n,
                     "known to be below %g %%, which is no change", 100 * c->least);
        say(ctx, text);
    }
    if (c->has_other_ranks) {
        say_other_numbers("ranks", c->ranks_of, say, ctx);
    } else if (c->has_other_locations) {
        say_other_numbers("threads", c->locations_of, say, ctx);
    }
    say_facts(c, say, ctx);
    if (c->has_other_counts)
        say(ctx, "the runs have different numbers of executions: perhaps another input");
    if (c->unmatched > 0.2) {
        snprintf(text, sizeof text,
                 "%.0f %% of the time is on paths that only one side has: give functions that "
                 "have a new name with --rename A=B",
                 100 * c->unmatched);
        say(ctx, text);
    }
    if (c->has_more_moves)
        say(ctx, "too many paths are on one side only: not all paths that are now called from "
                 "elsewhere are found");
}

/* ---------------------------------------------------------------------------------- as JSON */

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
    bool is_on_both = compare_kind_is_on_both(x);
    double time_ns[2];
    json_t *json = json_object();

    for (int side = 0; side < 2; side++)
        time_ns[side] = x->share[side] > 0 ? x->duration.ns[side] : NAN;
    json_object_set_new(json, "kind", kind_name(c, kind));
    json_object_set_new(json, "verdict", json_text(compare_verdict_name(x->duration.verdict)));
    json_object_set_new(json, "change",
                        is_on_both ? json_number(compare_fraction(&x->duration)) : json_null());
    json_object_set_new(json, "interval", interval(&x->duration));
    json_set_off(json, x->duration.off_ns);
    json_object_set_new(json, "time_ns", pair_ns(time_ns));
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
    static const char *const names[SUMMARY_QUANTILES] = {"median", "p95", "p99"};
    json_t *json = json_object();

    json_object_set_new(json, "mean", pair_ns(c->whole.ns));
    for (uint32_t i = 0; i < SUMMARY_QUANTILES; i++)
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
            json_array_append_new(json, json_string(summary_fact_key[f]));
    return json;
}

/* What was one thing in all runs before, and is another. */
static json_t *facts(const struct comparison *c)
{
    json_t *list = json_array();

    for (int f = 0; f < N_DIGEST_FACTS; f++)
        if (c->fact[0][f])
            json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "key", summary_fact_key[f],
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

/* -------------------------------------------------------------------------------- as a tree */

static json_t *short_name(const struct comparison *c, uint32_t path)
{
    return json_text(c->shown.shown[c->paths.region[path]]);
}

/* What is not listed among the paths has no calls: it is there for those below it. */
static void add_change(const struct comparison *c, const struct compare_path *x, json_t *node)
{
    static const struct compare_path none = {.from = COMPARE_NONE, .kind = COMPARE_NONE};
    const struct compare_path *of = x ? x : &none;

    json_object_set_new(node, "verdict", json_text(compare_verdict_name(of->own.verdict)));
    json_object_set_new(node, "time_ns", pair_ns(of->own.ns));
    json_object_set_new(node, "calls", pair(of->calls));
    json_object_set_new(node, "executions", pair(of->share));
    json_object_set_new(node, "is_waiting", json_boolean(of->is_waiting));
    json_object_set_new(node, "from", name_of(c, of->from));
}

static json_t *nodes(const struct comparison *c)
{
    const struct compare_path **of = mem_alloc(c->paths.n, sizeof *of);
    json_t *json = json_array();

    for (uint32_t i = 0; i < c->n_paths; i++)
        of[c->path[i].path] = &c->path[i];
    for (uint32_t p = 0; p < c->paths.n; p++) {
        uint32_t parent = c->paths.parent[p];
        json_t *node = json_object();

        json_object_set_new(node, "name", short_name(c, p));
        json_object_set_new(node, "path", name_of(c, p));
        json_object_set_new(node, "parent",
                            parent == PATH_NONE ? json_null() : json_count(parent));
        add_change(c, of[p], node);
        json_array_append_new(json, node);
    }
    free(of);
    return json;
}

static json_t *kind_times(const struct comparison *c, int side, uint32_t kind)
{
    const double *ns = &c->kind_ns[side][(size_t)kind * c->paths.n];
    json_t *json = json_array();

    for (uint32_t p = 0; p < c->paths.n; p++)
        json_array_append_new(json, rounded(ns[p]));
    return json;
}

static json_t *kinds(const struct comparison *c)
{
    json_t *json = json_array();

    for (uint32_t k = 0; k < c->n_kinds; k++)
        json_array_append_new(json, json_pack("{s:o, s:o, s:[o, o]}", "kind", kind_name(c, k),
                                              "executions", pair(c->kind[k].share), "time_ns",
                                              kind_times(c, 0, k), kind_times(c, 1, k)));
    return json;
}

json_t *compare_tree_to_json(const struct comparison *c)
{
    json_t *json = json_object();

    json_object_set_new(json, "foi", name_of(c, 0));
    json_object_set_new(json, "nodes", nodes(c));
    json_object_set_new(json, "kinds", kinds(c));
    return json;
}
