/* One cut or replay after another; what was cut for one is put back before the next. */
#include "analysis/costs.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/pool.h"
#include "base/search.h"
#include "base/text.h"
#include "explain/excess.h"
#include "explain/waiting.h"
#include "explain/why.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_ASKED 8u      /* executions that are played in any case */
#define MIN_WORK 5e5      /* syncs that may be gone through, */
#define WORK_PER_CALL 0.1 /* and so many more per call of the run */
#define VERTEX_WORK 4.0   /* looking at a vertex takes as long as so many syncs */
#define CARRIED 0.9       /* of the cost of all anomalies */
#define MATERIAL 0.01     /* of what was lost: a smaller cost is none */
#define WAITED 0.1        /* of what was lost: a rank that waited so much less is named */
#define MAX_NAMED 3u      /* ranks */
#define MUCH_MORE 0.5 /* of a typical execution: who has so much more to do may be waited for */
#define MAX_UNKNOWN                                                                            \
    0.1 /* of what was lost: if it waited more for what is not in the trace,                   \
           what it cost is not known */

static bool takes_part(const struct costs *c, uint32_t t)
{
    return syncs_is_known(&c->what_if.syncs, c->scoring->forest.location[t]);
}

static double lost_of(const struct costs *c, uint32_t t)
{
    return (double)c->scoring->measure[t].loss.ns;
}

/* Of what did not end nobody knows what it lost. */
static bool is_unended(const struct costs *c, uint32_t t)
{
    return c->scoring->is_anomaly[t] && c->scoring->measure[t].open_ns > 0;
}

/* Whether there is anything to be asked: who lost nothing cost nothing. */
static bool may_cost(const struct costs *c, uint32_t t)
{
    return takes_part(c, t) && lost_of(c, t) >= COST_MIN_LOST;
}

int costs_init(struct costs *c, const struct scoring *scoring, const struct columns *columns)
{
    uint32_t n = scoring->forest.n_trees;
    int rc;

    *c = (struct costs){.scoring = scoring, .all_ns = COST_UNKNOWN};
    scoring_why_init(scoring, &c->why);
    c->budget = MIN_WORK + WORK_PER_CALL * (double)columns->n_calls;
    c->cost_ns = mem_alloc(n, sizeof *c->cost_ns);
    c->is_bound = mem_alloc(n, sizeof *c->is_bound);
    c->text = mem_alloc(n, sizeof *c->text);
    rc = what_if_init(&c->what_if, columns, scoring->defs);
    if (rc < 0)
        return rc;
    for (uint32_t t = 0; t < n; t++)
        c->cost_ns[t] = lost_of(c, t) < COST_MIN_LOST && !is_unended(c, t) ? 0 : COST_UNKNOWN;
    critical_init(&c->critical, &c->what_if.syncs);
    return 0;
}

void costs_release(struct costs *c)
{
    for (uint32_t t = 0; c->text && t < c->scoring->forest.n_trees; t++)
        free(c->text[t]);
    free(c->text);
    why_release(&c->why);
    free(c->cost_ns);
    free(c->is_bound);
    free(c->behind_ns);
    hidden_waits_release(&c->hidden);
    critical_release(&c->critical);
    free(c->of_incident);
    free(c->excess_ns);
    what_if_release(&c->what_if);
    *c = (struct costs){0};
}

/* ------------------------------------------------------------------------------- playing */

/* Takes so much out of the calls of tree t. Returns how much of it was no waiting. */
static int64_t take_out(const struct costs *c, struct what_if *w, uint32_t t,
                        const double *excess_ns)
{
    const struct forest *forest = &c->scoring->forest;

    return what_if_cut(w, forest, t, excess_ns) + what_if_cut_teams(w, forest, t, excess_ns);
}

/* ... what tree t lost. */
static int64_t cut_from(const struct costs *c, struct what_if *w, uint32_t t, double *excess_ns)
{
    excess_lost(&c->why, t, c->scoring->measure[t].loss.ns, excess_ns);
    return take_out(c, w, t, excess_ns);
}

/* Room for what the calls of tree t lost, whose work is counted. */
static double *excess_of(struct costs *c, uint32_t t)
{
    const uint32_t *first = c->scoring->forest.first;
    uint32_t n = first[t + 1] - first[t];

    mem_grow(&c->excess_ns, &c->excess_cap, n);
    c->budget -= VERTEX_WORK * n;
    return c->excess_ns;
}

static int64_t cut(struct costs *c, uint32_t t)
{
    return cut_from(c, &c->what_if, t, excess_of(c, t));
}

/* Where messages have one end only, others may have waited unseen, and it may have waited
 * itself for one of whom nothing is there: then nothing follows from what the replay saves. */
static bool sees_all(const struct costs *c)
{
    const struct syncs *s = &c->what_if.syncs;

    return (double)(s->n_messages - s->n_matched) <= MAX_UNKNOWN * (double)s->n_messages;
}

/* Who waited for whom is an order of times, which says nothing where clocks are known to be
 * wrong. */
static bool is_order_known(const struct costs *c)
{
    return sees_all(c) && syncs_clocks_agree(&c->what_if.syncs);
}

/* What is cut is rounded call by call. */
static int64_t at_most_lost(int64_t ns, double lost_ns)
{
    return ns > llrint(lost_ns) ? llrint(lost_ns) : ns;
}

/* What a replay says of a cost: it is ns, or at most that, or COST_UNKNOWN. */
struct played {
    int64_t ns, least_ns;
    bool is_bound;
};

static const struct played nothing_known = {COST_UNKNOWN, COST_UNKNOWN, false};

/* Anomalies, and what they are together with. */
static bool is_suspect(const struct costs *c, uint32_t t)
{
    return c->scoring->is_anomaly[t] || c->incidents->of[t] != INCIDENT_NONE;
}

#define OF_ANY (INCIDENT_NONE - 1) /* the number of no incident */

static struct hidden_wait execution_of(const struct costs *c, uint32_t t, int64_t ns)
{
    const struct forest *forest = &c->scoring->forest;

    return (struct hidden_wait){forest->enter_ns[t], forest->enter_ns[t] + forest->root_ns[t],
                                ns, forest->location[t], c->incidents->of[t]};
}

/* The longest such wait elsewhere while tree t was on its way: it may have been for that.
 *   but  not of this incident, whose waits are counted with it; OF_ANY: of any */
static int64_t hidden_behind(const struct costs *c, uint32_t t, uint32_t but)
{
    struct hidden_wait of = execution_of(c, t, llrint(lost_of(c, t)));

    return is_suspect(c, t) ? hidden_waits_behind(&c->hidden, &of, but) : 0;
}

static void find_hidden(struct costs *c)
{
    struct replay *r = &c->what_if.replay;
    uint32_t n = c->scoring->forest.n_trees;
    double budget = c->budget; /* is for what is played */

    for (uint32_t t = 0; t < n; t++) {
        struct hidden_wait wait;

        if (!is_suspect(c, t) || !may_cost(c, t))
            continue;
        cut(c, t);
        wait = execution_of(c, t, r->unknown_ns);
        /* who polls, and does something else between, may have waited all the time that it lost */
        if ((double)wait.ns >= MAX_UNKNOWN * lost_of(c, t))
            wait.ns = llrint(lost_of(c, t));
        if (wait.ns >= (int64_t)COST_MIN_LOST)
            hidden_waits_add(&c->hidden, &wait);
        replay_clear(r);
    }
    hidden_waits_order(&c->hidden);
    c->budget = budget;
    if (c->hidden.n == 0)
        return;
    c->behind_ns = mem_alloc(n, sizeof *c->behind_ns);
    for (uint32_t t = 0; t < n; t++)
        c->behind_ns[t] = hidden_behind(c, t, c->incidents->of[t]);
}

/* What waited for what is not in the trace stays in the run; it cost at most itself. Where that
 * is too large a share of what it is compared with, the cost is a bound. */
static struct played with_unknown(const struct costs *c, int64_t saved_ns, int64_t unknown_ns,
                                  double lost_ns, double of_ns)
{
    bool is_bound = (double)unknown_ns > MAX_UNKNOWN * of_ns;
    int64_t least_ns = at_most_lost(saved_ns, lost_ns);
    int64_t ns = is_bound ? at_most_lost(saved_ns + unknown_ns, lost_ns) : least_ns;

    if (!syncs_are_exact(&c->what_if.syncs) && ns > 0)
        return (struct played){ns, 0, true};
    return (struct played){ns, least_ns, is_bound};
}

/* Of some who wait for each other nearly all that was lost is what all of them waited: what may
 * be unknown of it is a share of what they cost, and something at all. */
static double of_together(int64_t saved_ns, int64_t unknown_ns, double lost_ns)
{
    return fmax((double)(saved_ns + unknown_ns), MATERIAL / MAX_UNKNOWN * lost_ns);
}

/* Plays the run without what is cut, and puts that back.
 *   lost_ns      what was lost by those that it was cut from
 *   hidden_ns    hidden_behind them; they may have cost so much more, up to what they lost
 *   is_incident  they are executions of an incident; else one, or all */
static struct played play(struct costs *c, double lost_ns, int64_t hidden_ns, bool is_incident)
{
    struct replay *r = &c->what_if.replay;
    int64_t unknown_ns = r->unknown_ns;
    struct replay_result result;

    if (!is_order_known(c)) { /* nothing would follow from it */
        replay_clear(r);
        return nothing_known;
    }
    replay_run(r, &result);
    replay_clear(r);
    c->budget -= result.n_syncs;
    if ((double)result.saved_ns < (1 - MAX_UNKNOWN) * lost_ns)
        unknown_ns += hidden_ns;
    return with_unknown(c, result.saved_ns, unknown_ns, lost_ns,
                        is_incident ? of_together(result.saved_ns, unknown_ns, lost_ns)
                                    : lost_ns);
}

/* -------------------------------------------------------------------------------- the text */

struct waiter {
    int64_t less_ns;
    uint32_t rank, thread;
};

static int by_wait(const void *a, const void *b)
{
    const struct waiter *p = a, *q = b;

    return ORDER(q->less_ns, p->less_ns) ?:
           ORDER(p->rank, q->rank) ?:
           ORDER(p->thread, q->thread);
}

/* Of each rank other than t's, which may have threads and streams that waited as well, the one that
 * waited longest; of t's all, where no other rank waited. Returns how many are left. */
static uint32_t one_of_each_rank(struct waiter *waiter, uint32_t n, uint32_t rank_of_t)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool is_there = waiter[i].rank == rank_of_t;

        for (uint32_t k = 0; k < n_kept && !is_there; k++)
            is_there = waiter[k].rank == waiter[i].rank;
        if (!is_there)
            waiter[n_kept++] = (struct waiter){waiter[i].less_ns, waiter[i].rank, 0};
    }
    return n_kept > 0 ? n_kept : n;
}

/* "rank 3", "ranks 0 and 2", "ranks 0, 1, 2 and 5 more", of its own rank "rank 0.2"; "" where nobody
 * waited for tree t. */
static void name_waiters(const struct costs *c, uint32_t t, double least_ns, char *out,
                         size_t size)
{
    const struct syncs *s = &c->what_if.syncs;
    struct waiter *waiter = mem_alloc(s->n_locations, sizeof *waiter);
    uint32_t n = 0;
    size_t length;

    for (uint32_t l = 0; l < s->n_locations; l++)
        if ((double)c->what_if.replay.waited_ns[l] > least_ns)
            waiter[n++] = (struct waiter){c->what_if.replay.waited_ns[l],
                                          c->scoring->defs->location[l].rank,
                                          c->scoring->defs->location[l].thread};
    qsort(waiter, n, sizeof *waiter, by_wait);
    n = one_of_each_rank(waiter, n,
                         c->scoring->defs->location[c->scoring->forest.location[t]].rank);
    out[0] = '\0';
    length = n == 0 ? 0 : (size_t)snprintf(out, size, n == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0; i < n && i < MAX_NAMED; i++) {
        const char *before = i == 0 ? "" : i + 1 == n && n <= MAX_NAMED ? " and " : ", ";

        length += (size_t)snprintf(out + length, size - length,
                                   waiter[i].thread > 0 ? "%s%u.%u" : "%s%u", before,
                                   waiter[i].rank, waiter[i].thread);
    }
    if (n > MAX_NAMED)
        snprintf(out + length, size - length, " and %u more", n - MAX_NAMED);
    free(waiter);
}

static void say(struct costs *c, uint32_t t, int64_t cut_ns)
{
    double lost = lost_of(c, t), cost = (double)c->cost_ns[t];
    char text[COST_TEXT_SIZE], waiters[COST_TEXT_SIZE / 2] = "", later[TEXT_SIZE];

    if (lost <= RESIDUAL_MATERIAL * c->scoring->model.root_ns &&
        (!c->is_bound[t] || !syncs_are_exact(&c->what_if.syncs)))
        return;
    if (c->is_bound[t]) {
        snprintf(text, sizeof text,
                 "in the replay the run ends at most %s later because of it: not all of who "
                 "waited for whom is in the trace",
                 text_duration(cost, later));
        c->text[t] = mem_copy_string(text);
        return;
    }
    if (c->cost_ns[t] != COST_UNKNOWN)
        name_waiters(c, t, WAITED * lost, waiters, sizeof waiters);
    if (c->cost_ns[t] == COST_UNKNOWN && !syncs_clocks_agree(&c->what_if.syncs))
        snprintf(text, sizeof text,
                 "its cost is not known: too many waits end before what they wait for");
    else if (c->cost_ns[t] == COST_UNKNOWN)
        snprintf(text, sizeof text, "its cost is not known: %s in the trace",
                 c->what_if.syncs.n_needs ? "not all of who waited for whom is"
                                          : "who waited for whom is not");
    else if ((double)cut_ns < MATERIAL * lost ||
             (incidents_outside(c->incidents, t) && cost < MATERIAL * lost))
        snprintf(text, sizeof text,
                 "in the replay the run ends no later because of it: it only waited");
    else if (cost >= MATERIAL * lost)
        snprintf(text, sizeof text, "in the replay the run ends %s later because of it%s%s%s",
                 text_duration(cost, later), waiters[0] ? ": " : "", waiters,
                 waiters[0] ? " waited" : "");
    else if (waiters[0])
        snprintf(text, sizeof text,
                 "in the replay the run ends no later because of it, though %s waited",
                 waiters);
    else
        snprintf(text, sizeof text,
                 "in the replay the run ends no later because of it: nobody waited for it");
    c->text[t] = mem_copy_string(text);
}

/* --------------------------------------------------------------------------------- bounds */

/* Where others may have waited unseen, or clocks disagree, nothing follows from the path. */
static bool has_bounds(const struct costs *c)
{
    return c->critical.is_sound && is_order_known(c);
}

static bool is_path_on(const struct costs *c, uint32_t l, uint64_t enter_ns, uint64_t leave_ns)
{
    const struct syncs *s = &c->what_if.syncs;

    if (s->is_stream[l]) /* its times may have been moved, and it has several tracks */
        return true;
    return syncs_takes_part(s, l) && critical_passes(&c->critical, syncs_after(s, l, enter_ns),
                                                     syncs_after(s, l, leave_ns));
}

/* Whether the critical path passes the location while an execution was on its way, or one of
 * the threads of its teams, or may pass a stream of its GPU. */
static bool is_critical(const struct costs *c, uint32_t t)
{
    const struct forest *forest = &c->scoring->forest;
    const struct definitions *defs = c->scoring->defs;
    uint32_t l = forest->location[t], rank = defs->location[l].rank;
    uint64_t enter = forest->enter_ns[t], leave = enter + forest->root_ns[t];

    if (c->what_if.view.calls[l].n_spans == 0 &&
        !(c->what_if.syncs.has_streams && is_suspect(c, t)))
        return is_path_on(c, l, enter, leave);
    for (l = definitions_find_location(defs, rank);
         l < c->what_if.syncs.n_locations && defs->location[l].rank == rank; l++)
        if (is_path_on(c, l, enter, leave))
            return true;
    return false;
}

/* A thread that looks for bounds, in a run of its own. */
struct bounder {
    struct what_if what_if;
    double *excess_ns;
    size_t excess_cap;
    double work;
};

struct cost_bounds {
    struct costs *c;
    struct bounder *bounder; /* [workers] */
};

/* Of one location, without threads or streams, the path is the run: what is cut from it is what is saved. */
static bool is_path_the_run(const struct costs *c)
{
    const struct what_if *w = &c->what_if;

    return w->syncs.n_locations == 1 && !w->syncs.is_stream[0] && w->view.calls[0].n_spans == 0;
}

/* What it cost at most. */
static struct played bound_of(const struct costs *c, struct bounder *b, uint32_t t)
{
    const struct forest *forest = &c->scoring->forest;
    uint32_t n = forest->first[t + 1] - forest->first[t];
    struct replay *r = &b->what_if.replay;
    struct played played = {0, 0, false};
    int64_t hidden_ns = hidden_behind(c, t, OF_ANY);

    if (!is_critical(c, t) && hidden_ns == 0)
        return played;
    mem_grow(&b->excess_ns, &b->excess_cap, n);
    cut_from(c, &b->what_if, t, b->excess_ns);
    b->work += VERTEX_WORK * n;
    played = with_unknown(c, critical_cut_ns(&c->critical, r), r->unknown_ns + hidden_ns,
                          lost_of(c, t), lost_of(c, t));
    played.is_bound |= played.ns > 0 && !is_path_the_run(c);
    replay_clear(r);
    return played;
}

static void find_some(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct cost_bounds *bounds = ctx;
    struct costs *c = bounds->c;

    for (size_t t = begin; t < end; t++) {
        struct played played;

        if (!may_cost(c, (uint32_t)t))
            continue;
        played = bound_of(c, &bounds->bounder[worker], (uint32_t)t);
        c->cost_ns[t] = played.ns;
        c->is_bound[t] = played.is_bound;
    }
}

/* What nobody waited for is known; of others the most that they can have cost. */
static void find_bounds(struct costs *c)
{
    struct pool *pool = c->scoring->pool;
    struct cost_bounds bounds = {c, mem_alloc(pool_threads(pool), sizeof *bounds.bounder)};
    uint32_t n = c->scoring->forest.n_trees;

    for (unsigned w = 0; w < pool_threads(pool); w++)
        what_if_fork(&c->what_if, &bounds.bounder[w].what_if);
    pool_for(pool, n, pool_grain(pool, n), find_some, &bounds);
    for (unsigned w = 0; w < pool_threads(pool); w++) {
        c->budget -= bounds.bounder[w].work;
        what_if_fork_release(&bounds.bounder[w].what_if);
        free(bounds.bounder[w].excess_ns);
    }
    free(bounds.bounder);
}

/* ---------------------------------------------------------------------------- executions */

struct costed_tree {
    int64_t at_most_ns;
    double lost_ns;
    uint32_t tree;
    bool is_anomaly;
};

static int by_claim(const void *a, const void *b)
{
    const struct costed_tree *p = a, *q = b;

    return ORDER(q->is_anomaly, p->is_anomaly) ?:
           ORDER(q->at_most_ns, p->at_most_ns) ?:
           ORDER(q->lost_ns, p->lost_ns) ?:
           ORDER(p->tree, q->tree);
}

static void find_one(struct costs *c, uint32_t t)
{
    int64_t cut_ns = cut(c, t);
    struct played played = play(c, lost_of(c, t), hidden_behind(c, t, OF_ANY), false);

    c->cost_ns[t] = played.ns;
    c->is_bound[t] = played.is_bound;
    say(c, t, cut_ns);
}

static void find_executions(struct costs *c)
{
    const struct scoring *w = c->scoring;
    uint32_t n = w->forest.n_trees, n_candidates = 0;
    struct costed_tree *candidate = mem_alloc(n, sizeof *candidate);

    if (has_bounds(c))
        find_bounds(c);
    for (uint32_t t = 0; t < n; t++) {
        double lost_ns = lost_of(c, t);
        int64_t at_most_ns = c->cost_ns[t] == COST_UNKNOWN ? llrint(lost_ns) : c->cost_ns[t];

        if (w->is_anomaly[t] && !takes_part(c, t) && lost_ns >= COST_MIN_LOST)
            say(c, t, 0);
        if (may_cost(c, t) && (w->is_anomaly[t] || at_most_ns > 0))
            candidate[n_candidates++] =
                (struct costed_tree){at_most_ns, lost_ns, t, w->is_anomaly[t]};
    }
    qsort(candidate, n_candidates, sizeof *candidate, by_claim);
    for (uint32_t i = 0; i < n_candidates; i++) {
        uint32_t t = candidate[i].tree;

        if (i < MIN_ASKED || c->budget > 0)
            find_one(c, t);
        else if (candidate[i].is_anomaly && has_bounds(c) && is_path_the_run(c))
            say(c, t, c->cost_ns[t]);
    }
    free(candidate);
}

/* ------------------------------------------------------------------------------ together */

/* Takes out what that was late for which tree t waited outside. Returns whether it did. */
static bool cut_outside(struct costs *c, uint32_t t)
{
    const struct outside_cause *x = incidents_outside(c->incidents, t);

    if (x)
        replay_cut(&c->what_if.replay, x->location, x->call, (int64_t)x->late_ns);
    return x != NULL;
}

/* What an anomaly took for having more to do than others, which it has not lost: what that cost is
 * not known. */
static int64_t more_to_do(const struct costs *c, uint32_t t)
{
    const struct scoring *w = c->scoring;
    double more_ns = (double)w->measure[t].loss.typical_ns - w->model.root_ns;
    bool is_much = w->is_anomaly[t] && more_ns > MUCH_MORE * w->model.root_ns;

    return is_much && lost_of(c, t) < MAX_UNKNOWN * more_ns ? llrint(more_ns) : 0;
}

/* What some trees cost together, of an incident or of all. */
static struct played cost_of(struct costs *c, const uint32_t *tree, uint32_t n,
                             bool is_incident)
{
    int64_t hidden_ns = 0;
    double lost_ns = 0;

    for (uint32_t i = 0; i < n; i++)
        if (is_unended(c, tree[i]))
            return nothing_known;
    for (uint32_t i = 0; i < n; i++) {
        int64_t behind_ns = c->behind_ns ? c->behind_ns[tree[i]] : 0;
        int64_t more_ns = more_to_do(c, tree[i]);

        cut(c, tree[i]);
        cut_outside(c, tree[i]);
        lost_ns += lost_of(c, tree[i]);
        hidden_ns +=
            at_most_lost(behind_ns + more_ns, fmax(lost_of(c, tree[i]), (double)more_ns));
    }
    return play(c, lost_ns, hidden_ns, is_incident && n > 1);
}

/* What an execution cost alone may be nothing where others of its incident hide it. */
static void say_together(struct costs *c, uint32_t t, int64_t together_ns)
{
    char text[COST_TEXT_SIZE], later[TEXT_SIZE];

    if (c->text[t] == NULL || c->cost_ns[t] == COST_UNKNOWN || together_ns == COST_UNKNOWN ||
        (double)(together_ns - c->cost_ns[t]) < MATERIAL * lost_of(c, t))
        return;
    snprintf(text, sizeof text, "%s; %s later because of its whole incident", c->text[t],
             text_duration((double)together_ns, later));
    free(c->text[t]);
    c->text[t] = mem_copy_string(text);
}

/* What the executions of an incident cost together. may_play: else only what is known without a
 * replay is said, as that of one execution that was played already. */
static struct played cost_of_incident(struct costs *c, const uint32_t *tree, uint32_t n,
                                      bool may_play)
{
    bool is_outside = false, is_off;

    for (uint32_t i = 0; i < n; i++)
        is_outside |= incidents_outside(c->incidents, tree[i]) != NULL;
    is_off = has_bounds(c) && !is_outside;
    if (n == 1 && !is_outside && c->cost_ns[tree[0]] != COST_UNKNOWN && !c->is_bound[tree[0]])
        return (struct played){c->cost_ns[tree[0]], c->cost_ns[tree[0]], false};
    for (uint32_t i = 0; i < n && is_off; i++)
        is_off = !is_critical(c, tree[i]) && !is_unended(c, tree[i]) &&
                 (c->behind_ns == NULL || c->behind_ns[tree[i]] == 0);
    if (is_off)
        return (struct played){0, 0, false};
    return may_play ? cost_of(c, tree, n, true) : nothing_known;
}

/* The path that the sentence of tree t names first, or PATH_NONE. */
static uint32_t path_of_cause(struct costs *c, uint32_t t)
{
    size_t n_strange = why_sort_pairs(&c->why, t, c->scoring->measure[t].loss.ns);

    return n_strange > 0 ? c->why.pairs.pair[0].path : PATH_NONE;
}

/* Whether what tree t waited for outside is its cause: its sentence names no other call
 * first. */
static bool is_cause_outside(struct costs *c, uint32_t t)
{
    bool is_outside = incidents_outside(c->incidents, t) != NULL;
    uint32_t path = is_outside ? path_of_cause(c, t) : PATH_NONE;
    const struct region *region;

    if (path == PATH_NONE)
        return is_outside;
    region = &c->scoring->defs->region[c->scoring->model.paths.region[path]];
    return region->kind == REGION_MPI || region->is_barrier || waiting_is_likely(region);
}

/* Takes out of tree t what its calls lost on the path that its sentence names first. Returns
 * how much that is. */
static double cut_cause(struct costs *c, uint32_t t)
{
    const struct scoring *w = c->scoring;
    uint32_t first = w->forest.first[t], n = w->forest.first[t + 1] - first;
    uint32_t path = path_of_cause(c, t);
    double sum_ns = 0, *excess_ns = excess_of(c, t);

    excess_lost(&c->why, t, w->measure[t].loss.ns, excess_ns);
    for (uint32_t v = 0; v < n; v++) {
        if (residual_path(&w->place, &w->forest, t, first + v) != path)
            excess_ns[v] = 0;
        sum_ns += excess_ns[v];
    }
    take_out(c, &c->what_if, t, excess_ns);
    return sum_ns;
}

/* What the cause of an incident cost alone, where its head is: at least so much did it cost. */
static int64_t cost_of_cause(struct costs *c, const uint32_t *tree, uint32_t n, uint32_t head,
                             int64_t most_ns)
{
    const uint32_t *location = c->scoring->forest.location;
    bool is_outside = is_cause_outside(c, head);
    double lost_ns = 0;
    int64_t least_ns;

    for (uint32_t i = 0; i < n; i++)
        if (is_outside && cut_outside(c, tree[i]))
            lost_ns += lost_of(c, tree[i]);
        else if (!is_outside && location[tree[i]] == location[head] &&
                 lost_of(c, tree[i]) >= COST_MIN_LOST)
            lost_ns += cut_cause(c, tree[i]);
    least_ns = play(c, lost_ns, 0, true).least_ns;
    return least_ns < 0 ? 0 : least_ns > most_ns ? most_ns : least_ns;
}

/* The executions of incidents. */
struct members {
    const struct incidents *of;
    uint32_t *first, *tree; /* [incidents + 1], [n] */
};

static void members_init(struct members *m, const struct incidents *incidents, uint32_t n)
{
    *m = (struct members){.of = incidents};
    m->first = mem_alloc((size_t)incidents->n + 2, sizeof *m->first);
    m->tree = mem_alloc(n, sizeof *m->tree);
    for (uint32_t t = 0; t < n; t++)
        if (incidents->of[t] != INCIDENT_NONE)
            m->first[incidents->of[t] + 2]++;
    for (uint32_t i = 2; i < incidents->n + 2; i++)
        m->first[i] += m->first[i - 1];
    for (uint32_t t = 0; t < n; t++)
        if (incidents->of[t] != INCIDENT_NONE)
            m->tree[m->first[incidents->of[t] + 1]++] = t;
}

static void members_release(struct members *m)
{
    free(m->first);
    free(m->tree);
}

/* Ranks that lose time at once make the run longer by at most that time. */
static int64_t at_most_its_time(int64_t ns, const struct incident *x)
{
    int64_t time_ns = (int64_t)(x->end_ns - x->begin_ns);

    return x->n_turns == 1 && ns > time_ns ? time_ns : ns;
}

static void find_incidents(struct costs *c, const struct members *m)
{
    c->of_incident = mem_alloc(m->of->n, sizeof *c->of_incident);
    for (uint32_t i = 0; i < m->of->n; i++) {
        const uint32_t *tree = m->tree + m->first[i];
        uint32_t n = m->first[i + 1] - m->first[i];
        bool may_play = i < MIN_ASKED || c->budget > 0, is_known = true;
        struct played all = nothing_known;

        for (uint32_t k = 0; k < n; k++)
            is_known &= takes_part(c, tree[k]) || c->cost_ns[tree[k]] == 0;
        if (is_known)
            all = cost_of_incident(c, tree, n, may_play);
        if (all.is_bound)
            all.ns = at_most_its_time(all.ns, &m->of->incident[i]);
        c->of_incident[i] = (struct incident_cost){all.ns, all.ns, all.is_bound};
        if (all.ns != COST_UNKNOWN && all.ns > 0) /* a replay for each that said so, at most */
            c->of_incident[i].least_ns =
                m->of->incident[i].n_causes > 1 /* all of it is their causes' */
                    ? at_most_lost(all.least_ns > 0 ? all.least_ns : 0, (double)all.ns)
                    : cost_of_cause(c, tree, n, m->of->incident[i].head, all.ns);
        for (uint32_t k = 0; k < n && (n > 1 || incidents_outside(c->incidents, tree[0])); k++)
            say_together(c, tree[k], all.is_bound ? COST_UNKNOWN : all.ns);
    }
}

static int by_cost(const void *a, const void *b, void *ctx)
{
    const int64_t *cost = ctx;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    return ORDER(cost[q], cost[p]) ?: ORDER(p, q);
}

/* Anomalies, the costliest first, each with what is no anomaly of the incidents that it is the
 * first of: whom it waited for may have been within what is typical. */
struct costliest {
    uint32_t *tree, *end; /* [n_trees]; [n] where those of the k-th anomaly end */
    uint32_t n;
};

static void line_init(struct costliest *l, const struct costs *c, const struct members *m)
{
    const struct scoring *w = c->scoring;
    uint32_t *anomaly = mem_alloc(w->forest.n_trees, sizeof *anomaly), n = 0;
    bool *is_in = mem_alloc(m->of->n, sizeof *is_in);

    *l = (struct costliest){.tree = mem_alloc(w->forest.n_trees, sizeof *l->tree),
                            .end = mem_alloc(w->forest.n_trees, sizeof *l->end)};
    for (uint32_t t = 0; t < w->forest.n_trees; t++)
        if (w->is_anomaly[t] && (takes_part(c, t) || c->cost_ns[t] == 0))
            anomaly[l->n++] = t;
    qsort_r(anomaly, l->n, sizeof *anomaly, by_cost, c->cost_ns);
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t i = m->of->of[anomaly[k]];

        l->tree[n++] = anomaly[k];
        for (uint32_t j = 0;
             i != INCIDENT_NONE && !is_in[i] && j < m->first[i + 1] - m->first[i]; j++) {
            uint32_t t = m->tree[m->first[i] + j];

            if (!w->is_anomaly[t] && takes_part(c, t))
                l->tree[n++] = t;
        }
        if (i != INCIDENT_NONE)
            is_in[i] = true;
        l->end[k] = n;
    }
    free(is_in);
    free(anomaly);
}

/* Or COST_UNKNOWN: of all together a bound says nothing, unless it is what the replay saves. */
static int64_t cost_of_line(struct costs *c, const struct costliest *l, uint32_t n)
{
    struct played played = {0, 0, false};

    if (n > 0)
        played = cost_of(c, l->tree, l->end[n - 1], false);
    return played.is_bound && syncs_are_exact(&c->what_if.syncs) ? COST_UNKNOWN : played.ns;
}

/* [l->n + 1] what the first k anomalies would cost if each cost what it costs alone, or, where that is
 * not known, what it lost. */
static double *sum_apart(const struct costs *c, const struct costliest *l)
{
    double *sum = mem_alloc((size_t)l->n + 1, sizeof *sum);

    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t t = l->tree[k == 0 ? 0 : l->end[k - 1]];

        sum[k + 1] =
            sum[k] + (c->cost_ns[t] == COST_UNKNOWN ? lost_of(c, t) : (double)c->cost_ns[t]);
    }
    return sum;
}

/*
 * How many of the costliest carry CARRIED of what all of them cost. More are never cheaper than fewer, and
 * each number that is tried is a replay: so it is tried where it would be if what each costs alone added up
 * between the two next to it that were tried, or in the middle where the last try did not halve what is left.
 */
static uint32_t find_carrying(struct costs *c, const struct costliest *l)
{
    double *sum = sum_apart(c, l), wanted_ns = CARRIED * (double)c->all_ns;
    double below_ns = 0, high_ns = (double)c->all_ns; /* of one less than low, and of high */
    uint32_t low = 1, high = l->n;                    /* none cost nothing */
    bool is_halved = true;

    while (low < high && (has_bounds(c) || c->budget > 0)) {
        double share = (wanted_ns - below_ns) / (high_ns - below_ns);
        double wanted = sum[low - 1] + share * (sum[high] - sum[low - 1]);
        uint32_t n = high - low, at = low + n / 2;
        double ns;

        if (is_halved)
            at = FIRST_NOT(k, low, high - 1, sum[k] < wanted);
        ns = (double)cost_of_line(c, l, at);
        if (ns >= wanted_ns) {
            high = at;
            high_ns = ns;
        } else {
            low = at + 1;
            below_ns = fmax(ns, below_ns);
        }
        is_halved = high - low <= n / 2;
    }
    free(sum);
    return high;
}

/* Whether an anomaly lost time of which nobody knows who waited for it. */
static bool has_unknown(const struct costs *c)
{
    for (uint32_t t = 0; t < c->scoring->forest.n_trees; t++)
        if (c->scoring->is_anomaly[t] && lost_of(c, t) >= COST_MIN_LOST && !takes_part(c, t))
            return true;
    return false;
}

static void find_all(struct costs *c, const struct members *m)
{
    struct costliest l;

    line_init(&l, c, m);
    if (l.n > 0 && !has_unknown(c))
        c->all_ns = cost_of_line(c, &l, l.n);
    c->is_all_bound = c->all_ns > 0 && !syncs_are_exact(&c->what_if.syncs);
    if (c->all_ns > 0 && !c->is_all_bound)
        c->n_carrying = find_carrying(c, &l);
    free(l.tree);
    free(l.end);
}

void costs_find(struct costs *c, const struct incidents *incidents)
{
    struct members members;

    c->incidents = incidents;
    members_init(&members, incidents, c->scoring->forest.n_trees);
    find_hidden(c);
    find_executions(c);
    find_incidents(c, &members);
    find_all(c, &members);
    members_release(&members);
}

char *costs_say_range(const struct incident_cost *cost, double lost_ns,
                      char out[COST_TEXT_SIZE])
{
    char least[TEXT_SIZE], most[TEXT_SIZE];

    *out = '\0';
    if (cost->most_ns == COST_UNKNOWN || (double)cost->most_ns < MATERIAL * lost_ns ||
        !text_is_range((double)cost->least_ns, (double)cost->most_ns))
        return out;
    snprintf(out, COST_TEXT_SIZE,
             "without what its cause alone lost the replayed run is %s shorter, without all "
             "that was lost with it %s%s",
             cost->least_ns > 0 ? text_duration((double)cost->least_ns, least) : "not",
             cost->is_bound ? "at most " : "", text_duration((double)cost->most_ns, most));
    return out;
}
