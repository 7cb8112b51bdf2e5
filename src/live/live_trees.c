/*
 * Collect, judge, hand on. Executions of a step are judged in the order they were left, on
 * whatever location, so verdicts do not depend on where steps are cut.
 *
 * Which functions a person's patterns stand for is asked while functions are still being
 * called for the first time. A pattern stands for what foi_match says among the functions
 * called so far, unless one that is defined but not called yet matches better: then it waits
 * for that. A function is looked at in the very step of its first call, so of one that matches
 * nothing was missed.
 *
 * Where nobody named a function, what is called is added up, as snag info does it after the
 * run (foi_suggest), until one and the same function of the program has come out best in two
 * steps, and has been executed often enough. All calls are kept until then, and its executions
 * up to there judged in that step, in the order they were left: so the verdicts are those of a
 * function that was named from the begin. Where too many were called to be kept, what it did
 * before is not looked at, but counted, so that its executions have their numbers all the same.
 */
#include "live/live_trees.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/order.h"
#include "forest/foi.h"
#include "forest/profile.h"
#include "live/live_waits.h"
#include "live/loop_watch.h"
#include "live/rolling.h"
#include "score/scoring.h"
#include "stack/callstack.h"
#include "trace/definitions.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------- functions that patterns stand for */

struct foi_watch {
    char **pattern;    /* [n_patterns] */
    bool *is_too_much; /* [n_patterns] matches more than MAX_FOIS functions; warned of */
    uint32_t n_patterns;
    bool *is_called;       /* [called.n_regions] */
    struct profile called; /* n_calls is 1 for those that were */
    size_t region_cap, called_cap;
    bool is_changed; /* since foi_watch_match */
};

/* Patterns are copied. Returns 0, or ERR_USAGE for a bad regex. */
static int foi_watch_init(struct foi_watch *w, const char *const *pattern, uint32_t n_patterns)
{
    const struct definitions nothing = {.n_locations = 0};
    uint32_t region[MAX_FOIS];
    size_t n;

    *w = (struct foi_watch){.n_patterns = n_patterns};
    w->pattern = mem_alloc(n_patterns, sizeof *w->pattern);
    w->is_too_much = mem_alloc(n_patterns, sizeof *w->is_too_much);
    for (uint32_t p = 0; p < n_patterns; p++)
        w->pattern[p] = mem_copy_string(pattern[p]);
    for (uint32_t p = 0; p < n_patterns; p++) {
        int rc = foi_match(pattern[p], &nothing, &w->called, region, &n);

        if (rc < 0 && rc != ERR_NOT_FOUND)
            return rc;
    }
    return 0;
}

/* One more pattern: the name of a function. */
static void foi_watch_name(struct foi_watch *w, const char *name)
{
    uint32_t n = w->n_patterns++;

    w->pattern = mem_resize(w->pattern, w->n_patterns, sizeof *w->pattern);
    w->is_too_much = mem_resize(w->is_too_much, w->n_patterns, sizeof *w->is_too_much);
    w->pattern[n] = mem_copy_string(name);
    w->is_too_much[n] = false;
}

static void foi_watch_release(struct foi_watch *w)
{
    for (uint32_t p = 0; p < w->n_patterns; p++)
        free(w->pattern[p]);
    free(w->pattern);
    free(w->is_too_much);
    free(w->is_called);
    free(w->called.row);
    *w = (struct foi_watch){0};
}

/* The new rows of a location; defs know all their functions. O(rows). */
static void foi_watch_add(struct foi_watch *w, const struct calls *calls,
                          const struct definitions *defs)
{
    mem_grow(&w->is_called, &w->called_cap, defs->names.n);
    mem_grow(&w->called.row, &w->region_cap, defs->names.n);
    for (; w->called.n_regions < defs->names.n; w->called.n_regions++) {
        w->is_called[w->called.n_regions] = false;
        w->called.row[w->called.n_regions] = (struct profile_row){0};
    }
    for (uint32_t row = calls->n_carried; row < calls->n; row++) {
        uint32_t region = calls->region[row];

        if (w->is_called[region])
            continue;
        w->is_called[region] = w->is_changed = true;
        w->called.row[region].n_calls = 1;
    }
}

static size_t add(uint32_t *all, size_t n, uint32_t region)
{
    for (size_t i = 0; i < n; i++)
        if (all[i] == region)
            return n;
    if (n < MAX_FOIS)
        all[n++] = region;
    return n;
}

/* A loop that is sought is not to be taken for a function whose name is merely like it. */
static bool waits_for_loop(const struct foi_watch *w, uint32_t p,
                           const struct definitions *defs)
{
    if (!foi_is_loop(w->pattern[p]) ||
        foi_tier(w->pattern[p], defs, &w->called) + 1 < FOI_NO_MATCH)
        return false;
    for (uint32_t r = 0; r < w->called.n_regions; r++)
        if (w->is_called[r] && defs->region[r].kind == REGION_LOOP)
            return false;
    return true;
}

static bool waits_for_better(const struct foi_watch *w, uint32_t p,
                             const struct definitions *defs)
{
    if (waits_for_loop(w, p, defs))
        return true;
    return foi_tier(w->pattern[p], defs, NULL) < foi_tier(w->pattern[p], defs, &w->called);
}

/*
 * What the patterns stand for now.
 *   region  (MAX_FOIS) out: in the order of patterns, each once
 * Returns how many. What matches more than that is warned of, once, and left out.
 */
static size_t foi_watch_match(struct foi_watch *w, const struct definitions *defs,
                              uint32_t *region)
{
    size_t n = 0;

    for (uint32_t p = 0; p < w->n_patterns; p++) {
        uint32_t found[MAX_FOIS];
        size_t n_found = 0;
        int rc;

        if (waits_for_better(w, p, defs))
            continue;
        rc = foi_match(w->pattern[p], defs, &w->called, found, &n_found);
        if (rc < 0 && rc != ERR_NOT_FOUND && !w->is_too_much[p]) {
            log_warn("trees", "%s", err_message());
            w->is_too_much[p] = true;
        }
        for (size_t i = 0; rc == 0 && i < n_found; i++)
            n = add(region, n, found[i]);
    }
    w->is_changed = false;
    return n;
}

/*
 * Now that nothing more is called: 0, or ERR_NOT_FOUND or ERR_USAGE with
 * what is wrong with the first pattern that stands for nothing.
 */
static int foi_watch_check(const struct foi_watch *w, const struct definitions *defs)
{
    uint32_t region[MAX_FOIS];
    size_t n;
    int rc = 0;

    for (uint32_t p = 0; rc == 0 && p < w->n_patterns; p++)
        if (waits_for_loop(w, p, defs))
            rc = err_set(ERR_NOT_FOUND, "--foi %s: no such loop was found", w->pattern[p]);
        else
            rc = waits_for_better(w, p, defs)
                     ? err_set(ERR_NOT_FOUND, "'%s' was never called", w->pattern[p])
                     : foi_match(w->pattern[p], defs, &w->called, region, &n);
    return rc;
}

/* ------------------------------------------------------ the function where nobody named one */

#define FOI_GUESS_MIN_EXECUTIONS 30u /* executions on each location that has any */
#define FOI_GUESS_MIN_NS 1000000000u /* of the run */
#define FOI_GUESS_MAX_KEPT 1000000u  /* calls and messages until then, 40 and 60 bytes each */
#define KEPT_A_STEP 16u              /* as many is what the step of a location itself takes */

/* The steps of a location so far. */
struct kept_steps {
    struct calls *step; /* [n] */
    size_t n, cap;
};

struct foi_guess {
    struct profile profile; /* of calls that are over, by region */
    uint32_t **begun;       /* [n_locations][n_begun[l]] outermost calls, by region */
    uint32_t *n_begun, n_locations;
    size_t location_cap, count_cap, row_cap;
    uint64_t begin_ns;
    uint32_t last; /* that came out best in the step before */
    bool has_begun;
    struct kept_steps *kept; /* [n_locations] */
    size_t kept_cap, n_kept; /* n_kept: of FOI_GUESS_MAX_KEPT */
    bool is_too_much;        /* nothing is kept any more */
};

#define MAX_SUGGESTED 8u

/* Forgets what is kept. */
static void release_kept(struct foi_guess *g)
{
    for (uint32_t l = 0; l < g->n_locations; l++) {
        for (size_t i = 0; i < g->kept[l].n; i++)
            calls_release(&g->kept[l].step[i]);
        free(g->kept[l].step);
        g->kept[l] = (struct kept_steps){0};
    }
}

/* And zeroed, it can be used again. */
static void foi_guess_release(struct foi_guess *g)
{
    release_kept(g);
    free(g->kept);
    for (uint32_t l = 0; l < g->n_locations; l++)
        free(g->begun[l]);
    free(g->begun);
    free(g->n_begun);
    free(g->profile.row);
    *g = (struct foi_guess){0};
}

static void follow(struct foi_guess *g, const struct ad_step *step)
{
    uint32_t n = step->defs->names.n;

    mem_grow(&g->profile.row, &g->row_cap, n);
    for (; g->profile.n_regions < n; g->profile.n_regions++)
        g->profile.row[g->profile.n_regions] = (struct profile_row){.min_ns = UINT64_MAX};
    mem_grow(&g->begun, &g->location_cap, step->n_locations);
    mem_grow(&g->n_begun, &g->count_cap, step->n_locations);
    mem_grow(&g->kept, &g->kept_cap, step->n_locations);
    for (; g->n_locations < step->n_locations; g->n_locations++) {
        g->kept[g->n_locations] = (struct kept_steps){0};
        g->begun[g->n_locations] = NULL;
        g->n_begun[g->n_locations] = 0;
    }
    for (uint32_t l = 0; l < g->n_locations; l++) {
        g->begun[l] = mem_resize(g->begun[l], n, sizeof *g->begun[l]);
        memset(g->begun[l] + g->n_begun[l], 0, (n - g->n_begun[l]) * sizeof *g->begun[l]);
        g->n_begun[l] = n;
    }
}

static bool is_outermost(const struct calls *c, uint32_t row)
{
    for (uint32_t p = c->caller[row]; p != NO_CALL; p = c->caller[p])
        if (c->region[p] == c->region[row])
            return false;
    return true;
}

/* Of a call that began in an earlier step it is not known how much is inside. */
static void add_calls(struct foi_guess *g, uint32_t location, const struct calls *c)
{
    for (uint32_t row = 0; row < c->n; row++) {
        struct profile_row *p = &g->profile.row[c->region[row]];
        uint64_t ns = c->inclusive_ns[row];

        if ((ns == CALL_OPEN && row < c->n_carried) || !is_outermost(c, row))
            continue;
        g->begun[location][c->region[row]] += row >= c->n_carried;
        if (ns == CALL_OPEN)
            continue;
        p->n_calls++;
        p->n_outermost++;
        p->inclusive_ns += ns;
        p->min_ns = ns < p->min_ns ? ns : p->min_ns;
        p->max_ns = ns > p->max_ns ? ns : p->max_ns;
        p->n_vertices += c->subtree_len[row];
    }
}

/* Whichever function it will be: its executions may be in it. */
static void keep_step(struct foi_guess *g, const struct ad_step *step)
{
    for (uint32_t l = 0; l < step->n_locations && !g->is_too_much; l++) {
        const struct calls *c = &step->calls[l];
        struct kept_steps *k = &g->kept[l];

        g->n_kept += KEPT_A_STEP + c->n + c->n_messages;
        g->is_too_much = g->n_kept > FOI_GUESS_MAX_KEPT;
        if (g->is_too_much)
            break;
        calls_copy_step(mem_push(&k->step, &k->n, &k->cap), c);
    }
    if (g->is_too_much)
        release_kept(g);
}

/* How many executions of a region a location has begun so far. */
static uint32_t foi_guess_begun(const struct foi_guess *g, uint32_t location, uint32_t region)
{
    return location < g->n_locations && region < g->n_begun[location]
               ? g->begun[location][region]
               : 0;
}

static uint32_t count_locations(const struct foi_guess *g, uint32_t region)
{
    uint32_t n = 0;

    for (uint32_t l = 0; l < g->n_locations; l++)
        n += g->begun[l][region] > 0;
    return n;
}

/* The best one that is a function of the program and often enough executed. */
static uint32_t best_of(struct foi_guess *g, const struct ad_step *step, char why[FOI_WHY_SIZE])
{
    struct foi_suggestion found[MAX_SUGGESTED];
    uint64_t ns = step->end_ns - g->begin_ns;
    size_t n;

    for (uint32_t r = 0; r < g->profile.n_regions; r++) {
        g->profile.row[r].n_locations = count_locations(g, r);
        g->profile.row[r].on_ns = g->profile.row[r].n_locations * ns;
    }
    n = foi_suggest(step->defs, &g->profile, g->n_locations * ns, found, MAX_SUGGESTED);
    for (size_t i = 0; i < n; i++) {
        const struct profile_row *row = &g->profile.row[found[i].region];

        if (step->defs->region[found[i].region].kind != REGION_USER)
            continue;
        if (row->n_outermost < (uint64_t)FOI_GUESS_MIN_EXECUTIONS * row->n_locations)
            return NAMES_NONE;
        memcpy(why, found[i].why, FOI_WHY_SIZE);
        return found[i].region;
    }
    return NAMES_NONE;
}

/*
 * One more step.
 *   why  (FOI_WHY_SIZE) out: what there is to say of it
 * Returns the region to look at, or NAMES_NONE as long as there is none; at the end of the run
 * that which is best by then. O(rows of the step times how deep they are).
 */
static uint32_t foi_guess_add(struct foi_guess *g, const struct ad_step *step,
                              char why[FOI_WHY_SIZE])
{
    uint32_t best, last = g->last;

    if (!g->has_begun) {
        g->begin_ns = step->begin_ns;
        g->has_begun = true;
        last = NAMES_NONE;
    }
    follow(g, step);
    for (uint32_t l = 0; l < step->n_locations; l++)
        add_calls(g, l, &step->calls[l]);
    keep_step(g, step);
    best = best_of(g, step, why);
    g->last = best;
    if (step->is_last)
        return g->is_too_much ? NAMES_NONE : best;
    return best == last && step->end_ns - g->begin_ns >= FOI_GUESS_MIN_NS ? best : NAMES_NONE;
}

/* The executions of the function so far; or their numbers, where there are too many calls. */
static void foi_guess_give(const struct foi_guess *g, struct live_forest *trees,
                           const struct definitions *defs)
{
    for (uint32_t l = 0; l < g->n_locations; l++) {
        if (g->is_too_much)
            live_forest_count_from(trees, l, foi_guess_begun(g, l, trees->region));
        for (size_t i = 0; i < g->kept[l].n; i++)
            live_forest_add(trees, l, &g->kept[l].step[i], defs);
    }
}

/* ------------------------------------------------------------------------------- executions */

#define NS_PER_S 1e9
#define LONGEST_WINDOW_S 1e10

struct tree_sink {
    live_tree_fn *step;
    void *ctx;
};

struct live_trees {
    struct foi_watch watch;
    struct foi_guess guess;
    bool is_guessing;
    struct scorer *model;    /* NULL: none */
    struct live_waits waits; /* of what it judges */
    const char *loop;        /* the pattern of one, or NULL */
    struct rolling_opts rolling_opts;
    struct tree_sink *sink; /* [n_sinks] */
    size_t n_sinks, sink_cap;

    struct live_foi *foi;    /* [n_foi] */
    struct rolling *rolling; /* [n_foi] */
    uint32_t n_foi;
    size_t foi_cap, rolling_cap;

    uint32_t *order; /* trees of a step by when they were left */
    size_t order_cap;
    struct arena sentences; /* of the step */
};

struct live_trees_opts live_trees_default(void)
{
    return (struct live_trees_opts){
        .features = "duration", .window_s = 3600, .sigmas = 6, .least = 30};
}

/* ------------------------------------------------------------------------------- lifetime */

static int set_rolling(struct rolling_opts *r, const struct live_trees_opts *opts)
{
    int n = tree_features_parse(opts->features, r->feature);

    if (n < 0)
        return n;
    if (!(opts->window_s > 0 && opts->window_s <= LONGEST_WINDOW_S))
        return err_set(ERR_USAGE, "--tree-window takes seconds, above 0 and up to %g, not %g",
                       LONGEST_WINDOW_S, opts->window_s);
    if (!(opts->sigmas > 0) || !isfinite(opts->sigmas))
        return err_set(ERR_USAGE, "--tree-sigmas takes a number above 0, not %g", opts->sigmas);
    r->n_features = (uint32_t)n;
    r->window_ns = (uint64_t)(opts->window_s * NS_PER_S);
    r->sigmas = opts->sigmas;
    r->least = opts->least;
    r->is_plain = opts->is_plain;
    return 0;
}

/* Of all patterns and the model's function, that which is about a loop. */
static int find_loop(struct live_trees *t)
{
    const char *of_model = t->model ? scorer_foi(t->model) : "";

    t->loop = foi_is_loop(of_model) ? of_model : NULL;
    for (uint32_t p = 0; p < t->watch.n_patterns; p++) {
        const char *pattern = t->watch.pattern[p];

        if (!foi_is_loop(pattern))
            continue;
        if (t->loop && strcmp(t->loop, pattern) != 0)
            return err_set(
                ERR_USAGE,
                "--foi: only one loop can be followed while a program runs, not '%s' and '%s'",
                t->loop, pattern);
        t->loop = pattern;
    }
    return 0;
}

int live_trees_new(const struct live_trees_opts *opts, struct live_trees **out)
{
    struct live_trees *t = mem_alloc(1, sizeof *t);
    int rc = foi_watch_init(&t->watch, opts->pattern, opts->n_patterns);

    *out = NULL;
    live_waits_init(&t->waits);
    if (rc == 0)
        rc = set_rolling(&t->rolling_opts, opts);
    if (rc == 0 && opts->model_path)
        rc = scorer_open(opts->model_path, &t->model);
    if (rc == 0)
        rc = find_loop(t);
    if (rc < 0) {
        live_trees_free(t);
        return rc;
    }
    t->is_guessing = opts->guesses && opts->n_patterns == 0 && t->model == NULL;
    *out = t;
    return 0;
}

const char *live_trees_loop(const struct live_trees *t)
{
    return t->loop;
}

void live_trees_add(struct live_trees *t, live_tree_fn *step, void *ctx)
{
    *mem_push(&t->sink, &t->n_sinks, &t->sink_cap) = (struct tree_sink){step, ctx};
}

void live_trees_free(struct live_trees *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->n_foi; i++) {
        live_forest_release(&t->foi[i].trees);
        rolling_release(&t->rolling[i]);
        sketch_release(&t->foi[i].durations);
        free(t->foi[i].verdict);
    }
    foi_watch_release(&t->watch);
    foi_guess_release(&t->guess);
    scorer_close(t->model);
    live_waits_release(&t->waits);
    arena_release(&t->sentences);
    free(t->sink);
    free(t->foi);
    free(t->rolling);
    free(t->order);
    free(t);
}

/* ------------------------------------------------------------------ functions of interest */

/* Iterations have the numbers that they have among all, those before they were followed too. */
static void number_iterations(struct live_foi *foi, const struct ad_step *step)
{
    if (step->defs->region[foi->region].kind != REGION_LOOP || step->loop == NULL)
        return;
    for (uint32_t l = 0; l < step->n_locations; l++)
        live_forest_count_from(&foi->trees, l, loop_watch_first(step->loop, l));
}

/* The one of this region, added if there is none. */
static struct live_foi *foi_of(struct live_trees *t, uint32_t region,
                               const struct ad_step *step)
{
    struct live_foi *foi;

    for (uint32_t i = 0; i < t->n_foi; i++)
        if (t->foi[i].region == region)
            return &t->foi[i];
    mem_grow(&t->foi, &t->foi_cap, (size_t)t->n_foi + 1);
    mem_grow(&t->rolling, &t->rolling_cap, (size_t)t->n_foi + 1);
    foi = &t->foi[t->n_foi];
    *foi = (struct live_foi){.region = region};
    live_forest_init(&foi->trees, region);
    number_iterations(foi, step);
    sketch_init(&foi->durations);
    rolling_init(&t->rolling[t->n_foi++], &t->rolling_opts);
    return foi;
}

static void give_up(struct live_foi *foi, const struct definitions *defs)
{
    log_info("trees",
             "'%s' is no longer followed as function of interest: another function matches "
             "--foi better",
             defs->region[foi->region].short_name);
    foi->is_given_up = true;
    live_forest_release(&foi->trees);
    live_forest_init(&foi->trees, foi->region);
}

/* A function was called for the first time. */
static void match_again(struct live_trees *t, const struct ad_step *step)
{
    const struct definitions *defs = step->defs;
    uint32_t region[MAX_FOIS];
    size_t n = foi_watch_match(&t->watch, defs, region);
    uint32_t of_model = t->model ? scorer_foi_among(t->model, defs) : NAMES_NONE;

    if (of_model != NAMES_NONE && t->watch.is_called[of_model])
        foi_of(t, of_model, step)->has_model = true;
    for (size_t i = 0; i < n; i++)
        foi_of(t, region[i], step);
    for (uint32_t k = 0; k < t->n_foi; k++) {
        bool is_meant = t->foi[k].has_model || t->foi[k].is_given_up;

        for (size_t i = 0; i < n; i++)
            is_meant |= region[i] == t->foi[k].region;
        if (!is_meant)
            give_up(&t->foi[k], defs);
    }
}

static void collect(struct live_trees *t, const struct ad_step *step)
{
    for (uint32_t l = 0; l < step->n_locations; l++)
        foi_watch_add(&t->watch, &step->calls[l], step->defs);
    if (t->watch.is_changed)
        match_again(t, step);
    for (uint32_t i = 0; i < t->n_foi; i++) {
        live_forest_clear(&t->foi[i].trees);
        for (uint32_t l = 0; !t->foi[i].is_given_up && l < step->n_locations; l++)
            live_forest_add(&t->foi[i].trees, l, &step->calls[l], step->defs);
    }
}

/* Once it is known, its executions so far are those of this step. */
static void guess(struct live_trees *t, const struct ad_step *step)
{
    char why[FOI_WHY_SIZE];
    uint32_t region = foi_guess_add(&t->guess, step, why);
    struct live_foi *foi;

    if (region == NAMES_NONE)
        return;
    log_warn("trees", "no --foi given; looking at '%s': %s so far",
             step->defs->region[region].short_name, why);
    foi_watch_name(&t->watch, step->defs->region[region].name);
    foi = foi_of(t, region, step);
    foi_guess_give(&t->guess, &foi->trees, step->defs);
    foi_guess_release(&t->guess);
    t->is_guessing = false;
}

/* -------------------------------------------------------------------------------- judging */

/* When left, then where: trees of a location are in order already. */
static int by_exit(const void *a, const void *b, void *arg)
{
    const struct forest *f = arg;
    uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;
    uint64_t x = f->enter_ns[s] + f->root_ns[s], y = f->enter_ns[t] + f->root_ns[t];

    return ORDER(x, y) ?: ORDER(s, t);
}

static void judge_by_rolling(struct live_trees *t, struct live_foi *foi,
                             struct rolling *rolling)
{
    const struct forest *f = &foi->trees.forest;
    const struct rolling_opts *opts = &t->rolling_opts;

    mem_grow(&t->order, &t->order_cap, f->n_trees);
    for (uint32_t i = 0; i < f->n_trees; i++)
        t->order[i] = i;
    qsort_r(t->order, f->n_trees, sizeof *t->order, by_exit, (void *)(uintptr_t)f);
    for (uint32_t i = 0; i < f->n_trees; i++) {
        uint32_t tree = t->order[i];
        struct tree_verdict *v = &foi->verdict[tree];
        uint64_t value[MAX_TREE_FEATURES];
        struct rolling_score score;
        char why[ROLLING_WHY_SIZE];

        *v = (struct tree_verdict){.sigmas = NAN, .p = NAN, .threshold = opts->sigmas};
        if (f->open_ns[tree]) /* how long it takes nobody knows */
            continue;
        for (uint32_t k = 0; k < opts->n_features; k++)
            value[k] = tree_feature_value(opts->feature[k], &foi->trees, tree);
        score = rolling_judge(rolling, f->enter_ns[tree] + f->root_ns[tree], value);
        v->sigmas = score.sigmas;
        if (isnan(score.sigmas))
            continue;
        v->algorithm = TREE_BY_ROLLING;
        v->score = score.sigmas;
        v->is_anomaly = score.sigmas > opts->sigmas;
        if (v->is_anomaly && !foi->has_model)
            v->why = arena_string(&t->sentences, rolling_why(rolling, &score, why));
    }
}

static const char *say_unknown(struct live_trees *t, const char *why, const char *own_unknown)
{
    char all[WHY_SIZE + 160];

    if (own_unknown == NULL)
        return arena_string(&t->sentences, why);
    snprintf(all, sizeof all,
             "%s; how much of this time was waiting for other ranks is not known, because %s",
             why, own_unknown);
    return arena_string(&t->sentences, all);
}

static void judge_by_model(struct live_trees *t, struct live_foi *foi,
                           const struct ad_step *step)
{
    const struct forest *f = &foi->trees.forest;
    const struct scoring *scoring;
    int rc = scorer_judge(t->model, f, step->defs, live_waits_of(&t->waits, step, &foi->trees),
                          &scoring);

    if (rc < 0)
        log_warn("trees", "%s", err_message());
    for (uint32_t i = 0; i < f->n_trees; i++) {
        struct tree_verdict *v = &foi->verdict[i];
        char why[WHY_SIZE];

        *v = (struct tree_verdict){.sigmas = v->sigmas, .p = NAN};
        if (rc < 0)
            continue;
        v->algorithm = TREE_BY_MODEL;
        v->score = scoring->score[i];
        v->part = scoring->residual.part[i];
        v->p = isfinite(scoring->threshold) ? NAN : scoring->chance[i];
        v->threshold = scoring->threshold;
        v->is_anomaly = scoring->is_anomaly[i];
        v->own_unknown = live_waits_why(&t->waits, i);
        if (!v->is_anomaly)
            continue;
        scorer_why(t->model, i, why);
        v->why = say_unknown(t, why, v->own_unknown);
    }
}

static void add_up(struct live_foi *foi)
{
    const struct forest *f = &foi->trees.forest;
    struct live_tree_totals *totals = &foi->totals;

    totals->n_executions += f->n_trees;
    for (uint32_t i = 0; i < f->n_trees; i++) {
        if (f->open_ns[i] == 0)
            sketch_add(&foi->durations, forest_own_ns(f, i));
        totals->n_calls += foi->trees.n_calls[i];
        totals->n_cut += live_forest_is_cut(&foi->trees, i);
        totals->n_own_unknown += foi->verdict[i].own_unknown != NULL;
        totals->n_anomalies += foi->verdict[i].is_anomaly;
        totals->n_unjudged += foi->verdict[i].algorithm == NULL && f->open_ns[i] == 0;
    }
}

static void judge(struct live_trees *t, uint32_t i, const struct ad_step *step)
{
    struct live_foi *foi = &t->foi[i];

    if (foi->trees.forest.n_trees == 0)
        return;
    mem_grow(&foi->verdict, &foi->verdict_cap, foi->trees.forest.n_trees);
    judge_by_rolling(t, foi, &t->rolling[i]);
    if (foi->has_model)
        judge_by_model(t, foi, step);
    add_up(foi);
}

/* --------------------------------------------------------------------------------- public */

/* What no execution needs that the model will judge. */
static void forget(struct live_trees *t, const struct ad_step *step)
{
    uint64_t oldest_ns = UINT64_MAX;

    for (uint32_t i = 0; i < t->n_foi; i++) {
        uint64_t ns =
            t->foi[i].has_model ? live_forest_oldest_ns(&t->foi[i].trees) : UINT64_MAX;

        oldest_ns = ns < oldest_ns ? ns : oldest_ns;
    }
    live_waits_forget(&t->waits, step, oldest_ns);
}

void live_trees_step(void *ctx, const struct ad_step *step)
{
    struct live_trees *t = ctx;
    struct live_tree_step tree_step = {.step = step};

    arena_release(&t->sentences);
    collect(t, step);
    if (t->is_guessing)
        guess(t, step);
    if (t->model)
        live_waits_take(&t->waits, step);
    for (uint32_t i = 0; i < t->n_foi; i++)
        judge(t, i, step);
    tree_step.foi = t->foi;
    tree_step.n_foi = t->n_foi;
    for (size_t i = 0; i < t->n_sinks; i++)
        t->sink[i].step(t->sink[i].ctx, &tree_step);
    if (t->model)
        forget(t, step);
}

const struct live_foi *live_trees_foi(const struct live_trees *trees, uint32_t *n)
{
    *n = trees->n_foi;
    return trees->foi;
}

int live_trees_check(const struct live_trees *t, const struct definitions *defs)
{
    uint32_t region = t->model ? scorer_foi_among(t->model, defs) : NAMES_NONE;

    if (t->model && (region == NAMES_NONE || region >= t->watch.called.n_regions ||
                     !t->watch.is_called[region]))
        return err_set(ERR_NOT_FOUND, "the model is about '%s', which was never called",
                       scorer_foi(t->model));
    return foi_watch_check(&t->watch, defs);
}

char *live_tree_id(const struct live_foi *foi, const struct definitions *defs, uint32_t t,
                   char out[LIVE_TREE_ID_SIZE])
{
    const struct forest *f = &foi->trees.forest;
    const struct location *location = &defs->location[f->location[t]];

    return prov_execution_id(location->rank, location->thread, f->index[t], out);
}

double live_foi_typical(const struct live_foi *foi)
{
    return sketch_quantile(&foi->durations, 0.5);
}

bool live_trees_excess(const struct live_trees *t, const struct live_foi *foi, uint32_t tree,
                       double *out)
{
    const char *algorithm = foi->verdict[tree].algorithm;

    if (algorithm == NULL || strcmp(algorithm, TREE_BY_MODEL) != 0)
        return false;
    scorer_excess(t->model, tree, out);
    return true;
}

struct sync_window *live_trees_syncs(struct live_trees *t)
{
    return t->model ? &t->waits.window : NULL;
}

uint64_t live_foi_lost(const struct live_foi *foi, uint32_t tree)
{
    double lost_ns = (double)forest_own_ns(&foi->trees.forest, tree) - live_foi_typical(foi);

    return lost_ns > 0 ? (uint64_t)llround(lost_ns) : 0;
}
