/*
 * A line is what is tested: the whole, a path, a kind; its samples are times per execution. All
 * lines that matter are one family, whose false discoveries are limited together.
 */
#include "compare/compare.h"

#include "base/error_bound.h"
#include "base/mem.h"
#include "base/order.h"
#include "compare/alignment.h"
#include "compare/replicates.h"
#include "features/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FALSE_RATE 0.005 /* of what is called slower or faster, and is not */
#define CONFIDENCE 0.95  /* of intervals */
#define MIN_WIDTH 1e-5   /* of a log time between runs: clocks are not better than that */
#define PATH_SHARE 0.2   /* of the least change of the whole, that of a path is one, too */
#define MIN_BATCHES 5u   /* to say anything of a run by them */
#define MIN_OTHERS 3u    /* paths that say how fast a run was altogether */
#define MAX_OTHERS 64u
#define MAX_WEIGHT 0.25  /* of one of them: it may be the one that changed */
#define OTHER_COUNTS 1.5 /* factor between numbers of executions: another input, perhaps */
#define RANK_WIDTHS 4.0  /* median deviations from what other ranks' work changed by */

struct judge {
    const struct alignment *a;
    struct comparison *out;
    double *value, *rest, *own; /* [samples] */
    double *chance;             /* [lines] */
    uint32_t n_lines;
    uint32_t other[MAX_OTHERS]; /* paths of own work with most time */
    uint32_t n_others;
    double *ahead; /* [n_others x samples] how much longer than typical the sample was there */
};

const char *compare_verdict_name(enum compare_verdict verdict)
{
    static const char *const names[] = {"same", "slower", "faster", "unsure",
                                        "new",  "gone",   "moved"};

    return names[verdict];
}

const char *compare_verdict_word(enum compare_verdict verdict)
{
    return verdict == COMPARE_INCONCLUSIVE ? "inconclusive" : compare_verdict_name(verdict);
}

double compare_fraction(const struct compare_change *change)
{
    double before = change->ns[COMPARE_BEFORE], after = change->ns[COMPARE_AFTER];

    if (before == 0)
        return after > 0 ? INFINITY : 0;
    return after / before - 1;
}

static double change_of(const struct compare_change *change)
{
    return change->ns[COMPARE_AFTER] - change->ns[COMPARE_BEFORE];
}

/* What of a change is no matter of begins and ends that were elsewhere. */
static double sure_change_of(const struct compare_change *change)
{
    return error_bound_beyond(change_of(change), change->off_ns);
}

bool compare_is_large(const struct comparison *c)
{
    return fabs(sure_change_of(&c->whole)) > c->least * c->whole.ns[COMPARE_BEFORE];
}

/* ------------------------------------------------------------------------------- samples */

static bool may_judge(const struct alignment *a)
{
    return !a->is_by_batch ||
           (a->n_samples[0] >= MIN_BATCHES && a->n_samples[1] >= MIN_BATCHES);
}

/* Logs where all are there: what makes a run slow is a factor. */
static bool take_logs(const double *sample, uint32_t n, double *out)
{
    bool is_log = true;

    for (uint32_t i = 0; i < n; i++)
        is_log &= sample[i] > 0;
    for (uint32_t i = 0; i < n; i++)
        out[i] = is_log ? log(sample[i]) : sample[i];
    return is_log;
}

/* The variances of samples, or of their logs; none are known where var is NULL. */
static void take_own(const double *sample, const double *var, uint32_t n, bool is_log,
                     double *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = var == NULL ? 0 : is_log ? var[i] / (sample[i] * sample[i]) : var[i];
}

static void take_difference(const struct judge *j, const double *value, double least,
                            struct replicates *r)
{
    const uint32_t *n = j->a->n_samples;
    struct repeated x = {.value = value, .own = j->own, .n = {n[0], n[1]}, .least = least};

    replicates_of(&x, r);
}

/* By which the difference of samples may be off, or that of their logs: most where all of it is
 * off the side that is shorter. */
static double off_of(const struct compare_change *change, bool is_log)
{
    double shorter = fmin(change->ns[0], change->ns[1]);

    if (!is_log)
        return change->off_ns;
    return change->off_ns < shorter ? -log1p(-change->off_ns / shorter) : INFINITY;
}

/* The chance of the significant part of a difference. */
static double chance_of_known(const struct replicates *r, double off)
{
    struct replicates known = *r;

    known.difference = error_bound_beyond(r->difference, off);
    return replicates_chance(&known);
}

/* Interval and chance of a change, from its samples. */
static void measure(const struct judge *j, const double *sample, const double *var,
                    struct compare_change *change, struct replicates *r)
{
    const uint32_t *n = j->a->n_samples;
    bool is_log = take_logs(sample, n[0] + n[1], j->value);
    double centre, margin, unit = is_log ? 1 : j->out->whole.ns[COMPARE_BEFORE];

    *r = (struct replicates){0};
    change->low_ns = change->high_ns = NAN;
    change->chance = 1;
    if (!may_judge(j->a))
        return;
    take_own(sample, var, n[0] + n[1], is_log, j->own);
    take_difference(j, j->value, MIN_WIDTH * unit, r);
    change->chance = chance_of_known(r, off_of(change, is_log));
    margin = replicates_margin(r, CONFIDENCE);
    if (is_log) {
        double before = change->ns[COMPARE_BEFORE];

        centre = log(change->ns[COMPARE_AFTER] / before);
        change->low_ns = before * expm1(centre - margin) - change->off_ns;
        change->high_ns = before * expm1(centre + margin) + change->off_ns;
    } else {
        change->low_ns = change_of(change) - margin - change->off_ns;
        change->high_ns = change_of(change) + margin + change->off_ns;
    }
}

/* What is at least a change of this time. */
static double least_of(const struct comparison *c, const struct compare_change *change)
{
    double whole = c->least * c->whole.ns[COMPARE_BEFORE];

    return fmax(c->least * change->ns[COMPARE_BEFORE], PATH_SHARE * whole);
}

static enum compare_verdict verdict_of(const struct compare_change *change, double least,
                                       bool is_sure)
{
    if (is_sure && sure_change_of(change) > least)
        return COMPARE_SLOWER;
    if (is_sure && sure_change_of(change) < -least)
        return COMPARE_FASTER;
    if (change->low_ns >= -least && change->high_ns <= least)
        return COMPARE_SAME;
    return COMPARE_INCONCLUSIVE;
}

/* ----------------------------------------------------------------- against the other paths */

static int by_other(const void *a, const void *b, void *ctx)
{
    const struct alignment *x = ctx;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    double ns_p = x->ns[0][p] + x->ns[1][p], ns_q = x->ns[0][q] + x->ns[1][q];

    return ORDER(ns_q, ns_p) ?: ORDER(p, q);
}

/* How much longer than on average of all samples each was on a path, as a log. */
static bool take_ahead(const struct alignment *a, uint32_t path, double *ahead)
{
    uint32_t n = alignment_samples(a);
    double mean = 0;

    if (!take_logs(&a->sample_ns[(size_t)path * n], n, ahead))
        return false;
    for (uint32_t s = 0; s < n; s++)
        mean += ahead[s] / n;
    for (uint32_t s = 0; s < n; s++)
        ahead[s] -= mean;
    return true;
}

static void find_others(struct judge *j)
{
    const struct alignment *a = j->a;
    uint32_t n = alignment_samples(a), n_paths = a->paths->n;
    uint32_t *order = mem_alloc(n_paths, sizeof *order);

    for (uint32_t p = 0; p < n_paths; p++)
        order[p] = p;
    qsort_r(order, n_paths, sizeof *order, by_other, (void *)(uintptr_t)a);
    j->ahead = mem_alloc((size_t)MAX_OTHERS * n, sizeof *j->ahead);
    for (uint32_t i = 0; i < n_paths && j->n_others < MAX_OTHERS; i++) {
        double *ahead = &j->ahead[(size_t)j->n_others * n];

        if (!a->is_waiting[order[i]] && take_ahead(a, order[i], ahead))
            j->other[j->n_others++] = order[i];
    }
    free(order);
}

struct weighed {
    double x, weight;
};

static int by_x(const void *a, const void *b)
{
    return order_f64(&((const struct weighed *)a)->x, &((const struct weighed *)b)->x);
}

/* How fast a sample was on all other paths: the median, by their time. */
static double others_ahead(const struct judge *j, uint32_t path, uint32_t sample)
{
    uint32_t n_samples = alignment_samples(j->a), n = 0;
    struct weighed w[MAX_OTHERS];
    double all = 0, sum = 0, most;

    for (uint32_t i = 0; i < j->n_others; i++)
        if (j->other[i] != path) {
            w[n].x = j->ahead[(size_t)i * n_samples + sample];
            w[n].weight = j->a->ns[0][j->other[i]] + j->a->ns[1][j->other[i]];
            all += w[n++].weight;
        }
    most = MAX_WEIGHT * all;
    all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += w[i].weight = fmin(w[i].weight, most);
    qsort(w, n, sizeof *w, by_x);
    for (uint32_t i = 0; i < n; i++) {
        sum += w[i].weight;
        if (sum >= all / 2)
            return w[i].x;
    }
    return 0;
}

/*
 * The chance of a change when runs differ by a factor that all paths share: the path is held
 * against the others in the same run. Twice, as there are now two ways to be called changed. It
 * has to have changed the same way itself.
 */
static double chance_beside_others(const struct judge *j, uint32_t path,
                                   const struct compare_change *change)
{
    const uint32_t *n = j->a->n_samples;
    size_t first = (size_t)path * (n[0] + n[1]);
    struct replicates r;

    if (j->n_others <= MIN_OTHERS || j->a->is_waiting[path] || !may_judge(j->a) ||
        !take_ahead(j->a, path, j->rest))
        return change->chance;
    for (uint32_t s = 0; s < n[0] + n[1]; s++)
        j->rest[s] -= others_ahead(j, path, s);
    take_own(&j->a->sample_ns[first], &j->a->sample_var[first], n[0] + n[1], true, j->own);
    take_difference(j, j->rest, MIN_WIDTH, &r);
    if (r.difference * change_of(change) <= 0 || fabs(r.difference) < j->out->least)
        return fmin(1, 2 * change->chance);
    return fmin(1, 2 * fmin(change->chance, chance_of_known(&r, off_of(change, true))));
}

/* -------------------------------------------------------------------------------- paths */

static bool is_there(const struct alignment *a, uint32_t path)
{
    return a->calls[0][path] > 0 || a->calls[1][path] > 0;
}

/* Whether a path has enough of the time that a change of it could matter: by both sides
 * together, so that what changed is not preferred. */
static bool is_tested(const struct comparison *c, const struct compare_change *change)
{
    double whole = c->whole.ns[0] + c->whole.ns[1];

    return change->ns[0] + change->ns[1] >= PATH_SHARE * c->least * whole;
}

static void add_paths(struct judge *j)
{
    const struct alignment *a = j->a;
    struct comparison *out = j->out;
    uint32_t n = alignment_samples(a);

    out->path = mem_alloc(a->paths->n, sizeof *out->path);
    for (uint32_t p = 0; p < a->paths->n; p++) {
        struct compare_path *path = &out->path[out->n_paths];
        struct replicates r;

        if (!is_there(a, p))
            continue;
        *path =
            (struct compare_path){.path = p,
                                  .from = a->from[p],
                                  .own.ns = {a->ns[0][p], a->ns[1][p]},
                                  .own.off_ns = a->off_ns[0][p] + a->off_ns[1][p],
                                  .calls = {a->calls[0][p], a->calls[1][p]},
                                  .share = {fmin(a->share[0][p], 1), fmin(a->share[1][p], 1)},
                                  .kind = COMPARE_NONE,
                                  .is_waiting = a->is_waiting[p]};
        measure(j, &a->sample_ns[(size_t)p * n], &a->sample_var[(size_t)p * n], &path->own, &r);
        path->own.chance = chance_beside_others(j, p, &path->own);
        out->n_paths++;
    }
}

/* What one side alone has, in more than a few executions, needs no test.
 *   share  of the executions, that have it */
static enum compare_verdict verdict_of_presence(const double share[2])
{
    for (int side = 0; side < 2; side++)
        if (share[side] == 0 && share[!side] >= SUMMARY_RARE)
            return side == COMPARE_BEFORE ? COMPARE_NEW : COMPARE_GONE;
    return COMPARE_INCONCLUSIVE;
}

static enum compare_verdict verdict_of_path(const struct comparison *c,
                                            const struct compare_path *path, double limit)
{
    enum compare_verdict verdict;

    if (path->from != COMPARE_NONE)
        return COMPARE_MOVED;
    verdict = verdict_of_presence(path->share);
    if (verdict != COMPARE_INCONCLUSIVE)
        return verdict;
    verdict = verdict_of(&path->own, least_of(c, &path->own),
                         is_tested(c, &path->own) && path->own.chance <= limit);
    if (verdict == COMPARE_INCONCLUSIVE && !is_tested(c, &path->own) &&
        !isnan(path->own.low_ns) && path->own.off_ns <= least_of(c, &path->own))
        return COMPARE_SAME;
    return verdict;
}

static int by_change_of_path(const void *a, const void *b)
{
    const struct compare_path *p = a, *q = b;
    double change_p = fabs(change_of(&p->own)), change_q = fabs(change_of(&q->own));

    return ORDER(change_q, change_p) ?:
           ORDER(q->own.ns[0] + q->own.ns[1], p->own.ns[0] + p->own.ns[1]) ?:
           ORDER(p->path, q->path);
}

static int by_interest(const void *a, const void *b)
{
    const struct compare_path *p = a, *q = b;

    return ORDER(compare_is_sure(q->own.verdict), compare_is_sure(p->own.verdict))
               ?: by_change_of_path(a, b);
}

/* ------------------------------------------------------------------------------- verdicts */

static double find_limit(struct judge *j)
{
    const struct comparison *c = j->out;

    j->chance = mem_alloc(1 + c->n_paths + c->n_kinds, sizeof *j->chance);
    j->chance[j->n_lines++] = c->whole.chance;
    for (uint32_t i = 0; i < c->n_paths; i++)
        if (is_tested(c, &c->path[i].own))
            j->chance[j->n_lines++] = c->path[i].own.chance;
    for (uint32_t i = 0; i < c->n_kinds && c->n_kinds > 1; i++)
        j->chance[j->n_lines++] = c->kind[i].duration.chance;
    return replicates_limit(j->chance, j->n_lines, FALSE_RATE);
}

/* What is significantly slower or faster, new, gone or moved, adds up to this. */
static double sure_change(const struct comparison *c)
{
    double sum = 0;

    for (uint32_t i = 0; i < c->n_paths; i++)
        if (compare_is_sure(c->path[i].own.verdict))
            sum += sure_change_of(&c->path[i].own);
    return sum;
}

static void judge_whole(struct comparison *c, double limit)
{
    double least = c->least * c->whole.ns[COMPARE_BEFORE], sure = sure_change(c);
    bool is_by_paths = fabs(sure) > least && sure * change_of(&c->whole) > 0;

    c->whole.verdict = verdict_of(&c->whole, least, c->whole.chance <= limit || is_by_paths);
}

static void judge_all(struct judge *j)
{
    struct comparison *c = j->out;
    double limit = find_limit(j);

    for (uint32_t i = 0; i < c->n_paths; i++)
        c->path[i].own.verdict = verdict_of_path(c, &c->path[i], limit);
    for (uint32_t i = 0; i < c->n_kinds; i++) {
        struct compare_kind *kind = &c->kind[i];
        struct compare_change *x = &kind->duration;

        x->verdict = compare_kind_is_on_both(kind)
                         ? verdict_of(x, c->least * x->ns[COMPARE_BEFORE], x->chance <= limit)
                         : verdict_of_presence(kind->share);
    }
    judge_whole(c, limit);
    /* two runs differ anyway, and what is new in one may be next to nothing */
    qsort(c->path, c->n_paths, sizeof *c->path,
          compare_is_one_run(c) ? by_change_of_path : by_interest);
}

/* -------------------------------------------------------------------------------- kinds */

static void measure_kinds(struct judge *j, const struct kinds *kinds)
{
    for (uint32_t k = 0; k < j->out->n_kinds; k++) {
        struct replicates r;

        j->out->kind[k].duration.low_ns = j->out->kind[k].duration.high_ns = NAN;
        j->out->kind[k].duration.chance = 1;
        if (kinds_are_sampled(kinds, k))
            measure(j, kinds_samples(kinds, k), NULL, &j->out->kind[k].duration, &r);
    }
}

/* -------------------------------------------------------------------------------- ranks */

static int by_rank_change(const void *a, const void *b)
{
    const struct compare_rank *p = a, *q = b;
    double change_p = fabs(p->own_ns[1] - p->own_ns[0]);
    double change_q = fabs(q->own_ns[1] - q->own_ns[0]);

    return ORDER(change_q, change_p) ?: ORDER(p->rank, q->rank);
}

static void note_odd_ranks(struct comparison *c)
{
    double *x = mem_alloc(c->n_ranks, sizeof *x), median, width, median_off;
    double *off = mem_alloc(c->n_ranks, sizeof *off);
    double least = c->least * c->whole.ns[COMPARE_BEFORE];

    for (uint32_t i = 0; i < c->n_ranks; i++) {
        x[i] = c->rank[i].own_ns[1] - c->rank[i].own_ns[0];
        off[i] = c->rank[i].off_ns;
    }
    median_off = robust_median_off(x, off, c->n_ranks);
    median = robust_quantile(x, c->n_ranks, 0.5);
    for (uint32_t i = 0; i < c->n_ranks; i++)
        x[i] = fabs(c->rank[i].own_ns[1] - c->rank[i].own_ns[0] - median);
    width = robust_quantile(x, c->n_ranks, 0.5);
    for (uint32_t i = 0; i < c->n_ranks; i++) {
        double beside = c->rank[i].own_ns[1] - c->rank[i].own_ns[0] - median;

        c->rank[i].stands_out =
            fabs(error_bound_beyond(beside, c->rank[i].off_ns + median_off)) >
            fmax(least, RANK_WIDTHS * width);
    }
    free(x);
    free(off);
}

static void compare_ranks(const struct alignment *a, struct comparison *out)
{
    if (out->has_other_ranks)
        return;
    out->n_ranks = a->run[0]->n_ranks;
    out->rank = mem_alloc(out->n_ranks, sizeof *out->rank);
    for (uint32_t r = 0; r < alignment_runs(a); r++)
        for (uint32_t i = 0; i < out->n_ranks; i++) {
            const struct summary_rank *x = &a->run[r]->rank[i];
            enum compare_side side = alignment_side(a, r);
            double per = 1.0 / ((double)x->n_executions * a->n_runs[side]);

            out->rank[i].program = x->program;
            out->rank[i].rank = x->rank;
            out->rank[i].own_ns[side] += x->own_ns * per;
            out->rank[i].off_ns += x->off_ns * per;
            out->rank[i].wait_ns[side] += x->wait_ns * per;
        }
    note_odd_ranks(out);
    qsort(out->rank, out->n_ranks, sizeof *out->rank, by_rank_change);
}

/* ----------------------------------------------------------------------------- functions */

/* A function in the runs so far: what it did is summed, until all runs are known. */
struct function_sum {
    struct compare_function is;
    uint32_t n_cut[2]; /* runs without all functions that have this one */
    bool is_large;     /* in one of the runs */
};

/* Functions by name. */
struct function_table {
    struct function_sum *sum; /* [n] */
    uint32_t *at;             /* [names of the comparison] in sum, or COMPARE_NONE */
    uint32_t n;
    uint32_t n_cut[2]; /* runs without all functions */
    size_t cap;
};

static struct function_sum *function_of(struct function_table *t, uint32_t name)
{
    if (t->at[name] == COMPARE_NONE) {
        mem_grow(&t->sum, &t->cap, (size_t)t->n + 1);
        t->at[name] = t->n++;
        t->sum[t->at[name]] = (struct function_sum){.is.name = name};
    }
    return &t->sum[t->at[name]];
}

/* What is not all there has only those that were large. */
static bool is_large(const struct summary *d, const struct summary_function *f, double own_ns,
                     double critical_ns)
{
    return !d->has_all_functions || f->own_ns >= COMPARE_MIN_FUNCTION * own_ns ||
           f->critical_ns > COMPARE_MIN_FUNCTION * critical_ns;
}

static void add_run(struct function_table *t, const struct alignment *a, uint32_t r)
{
    const struct summary *d = a->run[r];
    enum compare_side side = alignment_side(a, r);
    double n = a->n_runs[side], own_ns = 0, critical_ns = 0;

    t->n_cut[side] += !d->has_all_functions;
    for (uint32_t i = 0; i < d->n_functions; i++) {
        own_ns += d->function[i].own_ns;
        critical_ns += d->function[i].critical_ns;
    }
    for (uint32_t i = 0; i < d->n_functions; i++) {
        const struct summary_function *f = &d->function[i];
        struct function_sum *x = function_of(t, a->name_of[r][f->name]);

        x->is.own_ns[side] += f->own_ns / n;
        x->is.critical_ns[side] += f->critical_ns / n;
        x->is.calls[side] += (double)f->n_calls / n;
        x->is.locations[side] += f->n_locations / n;
        x->is_large |= is_large(d, f, own_ns, critical_ns);
        x->n_cut[side] += !d->has_all_functions;
    }
}

/* What is not known had next to nothing. */
static double own_change_of(const struct compare_function *x)
{
    double before = compare_function_is_known(x, COMPARE_BEFORE) ? x->own_ns[0] : 0;
    double after = compare_function_is_known(x, COMPARE_AFTER) ? x->own_ns[1] : 0;

    return fabs(after - before);
}

static int by_change(const void *a, const void *b)
{
    const struct compare_function *p = a, *q = b;

    return ORDER(own_change_of(q), own_change_of(p)) ?: ORDER(p->name, q->name);
}

static void forget_side(struct compare_function *x, int side)
{
    x->own_ns[side] = x->critical_ns[side] = x->calls[side] = x->locations[side] = NAN;
}

/* What each did in the whole run, before and after. A function that is large in one run is told
 * of all of them. */
static void compare_functions(const struct alignment *a, struct comparison *out)
{
    struct function_table t = {.at = mem_alloc(out->names.n, sizeof *t.at)};

    memset(t.at, 0xff, out->names.n * sizeof *t.at);
    for (uint32_t r = 0; r < alignment_runs(a); r++) {
        enum compare_side side = alignment_side(a, r);

        out->run_ns[side] += a->run[r]->run_ns / a->n_runs[side];
        add_run(&t, a, r);
    }
    out->function = mem_alloc(t.n, sizeof *out->function);
    for (uint32_t i = 0; i < t.n; i++) {
        struct compare_function *x = &out->function[out->n_functions];

        *x = t.sum[i].is;
        for (int side = 0; side < 2; side++)
            if (t.sum[i].n_cut[side] < t.n_cut[side])
                forget_side(x, side);
        out->n_functions += t.sum[i].is_large;
    }
    if (out->n_functions > 0)
        qsort(out->function, out->n_functions, sizeof *out->function, by_change);
    free(t.sum);
    free(t.at);
}

/* -------------------------------------------------------------------------------- whole */

static void widen(struct compare_range *range, uint32_t n)
{
    if (range->least == 0 || n < range->least)
        range->least = n;
    if (n > range->most)
        range->most = n;
}

static bool has_same_ranks(const struct summary *a, const struct summary *b)
{
    bool is_same = a->n_ranks == b->n_ranks;

    for (uint32_t i = 0; is_same && i < a->n_ranks; i++)
        is_same =
            a->rank[i].program == b->rank[i].program && a->rank[i].rank == b->rank[i].rank;
    return is_same;
}

static void compare_counts(const struct alignment *a, struct comparison *out)
{
    for (uint32_t r = 0; r < alignment_runs(a); r++) {
        const struct summary *d = a->run[r], *first = a->run[0];
        enum compare_side side = alignment_side(a, r);
        double n = a->n_runs[side], counts = (double)d->n_executions / first->n_executions;

        out->n_executions[side] += d->n_executions / n;
        out->time_ns[side] += d->time_ns / n;
        out->whole.ns[side] += d->time_ns / d->n_executions / n;
        out->whole.off_ns += d->off_ns / d->n_executions / n;
        for (uint32_t i = 0; i < SUMMARY_QUANTILES; i++)
            out->duration_ns[side][i] += d->duration_ns[i] / n;
        widen(&out->ranks_of[side], d->n_ranks);
        widen(&out->locations_of[side], d->n_locations);
        out->has_other_ranks |= !has_same_ranks(d, first);
        out->has_other_locations |= d->n_locations != first->n_locations;
        out->has_other_counts |= fmax(counts, 1 / counts) > OTHER_COUNTS;
    }
}

static void add_unmatched(const struct alignment *a, struct comparison *out)
{
    double sum = 0;

    for (uint32_t p = 0; p < a->paths->n; p++)
        if (a->calls[0][p] == 0 || a->calls[1][p] == 0)
            sum += a->ns[0][p] + a->ns[1][p];
    out->unmatched = sum / fmax(out->whole.ns[0] + out->whole.ns[1], 1);
}

/* How many runs would show it to be a change, or to be less than one; 0 where no number would, as
 * times are known too badly, or it is too near to the least change. */
static uint32_t runs_needed(const struct comparison *c, const struct replicates *r)
{
    double off = off_of(&c->whole, true), change = fabs(r->difference);
    uint32_t most = c->n_runs[0] > c->n_runs[1] ? c->n_runs[0] : c->n_runs[1];
    uint32_t n = compare_is_large(c)
                     ? replicates_needed(r, 1 - FALSE_RATE, change - off)
                     : replicates_needed(r, CONFIDENCE, c->least - change - off);

    if (n == MAX_REPLICATES)
        return 0;
    return n > most ? n : most + 1;
}

/* What all these runs have alike; NULL: they do not. */
static const char *common_fact(const struct summary *run, uint32_t n, int fact)
{
    const char *first = run[0].fact[fact];

    for (uint32_t i = 1; first && i < n; i++)
        if (run[i].fact[fact] == NULL || strcmp(run[i].fact[fact], first) != 0)
            return NULL;
    return first;
}

/* Where the runs before were of several kinds, their spread has that already. */
static void find_facts(const struct summary *before, uint32_t n_before,
                       const struct summary *after, uint32_t n_after, struct comparison *out)
{
    for (int f = 0; f < N_DIGEST_FACTS; f++) {
        const char *was = common_fact(before, n_before, f);

        for (uint32_t i = 0; was && i < n_after && out->fact[0][f] == NULL; i++) {
            if (after[i].fact[f] == NULL || strcmp(after[i].fact[f], was) == 0)
                continue;
            out->fact[0][f] = mem_copy_string(was);
            out->fact[1][f] = mem_copy_string(after[i].fact[f]);
        }
    }
}

void compare_runs(const struct summary *before, uint32_t n_before, const struct summary *after,
                  uint32_t n_after, const struct compare_opts *opts, struct comparison *out)
{
    struct alignment a;
    struct kinds kinds;
    struct replicates whole;
    struct judge j = {.a = &a, .out = out};

    *out = (struct comparison){.n_runs = {n_before, n_after}};
    alignment_make(&a, before, n_before, after, n_after, opts, &out->names, &out->paths);
    for (uint32_t i = 0; i < out->names.n; i++)
        short_names_add(&out->shown, out->names.name[i]);
    out->has_more_moves = a.has_more_moves;
    j.value = mem_alloc(alignment_samples(&a), sizeof *j.value);
    j.rest = mem_alloc(alignment_samples(&a), sizeof *j.rest);
    j.own = mem_alloc(alignment_samples(&a), sizeof *j.own);
    if (!isnan(opts->least))
        out->least = opts->least;
    else
        out->least = a.is_by_batch ? COMPARE_MIN_SINGLE_RATIO : COMPARE_MIN_RATIO;
    compare_counts(&a, out);
    add_unmatched(&a, out);
    measure(&j, a.whole_ns, a.whole_var, &out->whole, &whole);
    find_others(&j);
    add_paths(&j);
    kinds_find(&kinds, &a, out);
    measure_kinds(&j, &kinds);
    judge_all(&j);
    kinds_explain(&kinds, out);
    if (out->whole.verdict == COMPARE_INCONCLUSIVE && !a.is_by_batch)
        out->runs_needed = runs_needed(out, &whole);
    compare_ranks(&a, out);
    compare_functions(&a, out);
    find_facts(before, n_before, after, n_after, out);
    kinds_release(&kinds);
    alignment_release(&a);
    free(j.value);
    free(j.rest);
    free(j.own);
    free(j.chance);
    free(j.ahead);
}

void compare_release(struct comparison *c)
{
    for (int f = 0; f < N_DIGEST_FACTS; f++) {
        free(c->fact[0][f]);
        free(c->fact[1][f]);
    }
    short_names_release(&c->shown);
    names_release(&c->names);
    context_release(&c->paths);
    free(c->path);
    free(c->kind);
    free(c->kind_ns[0]);
    free(c->kind_ns[1]);
    free(c->rank);
    free(c->function);
    *c = (struct comparison){0};
}

/* -------------------------------------------------------------------------------- names */

char *compare_path_name(const struct comparison *c, uint32_t path, char out[COMPARE_NAME_SIZE])
{
    size_t at = COMPARE_NAME_SIZE - 1;

    out[at] = '\0';
    for (uint32_t p = path; p != PATH_NONE; p = c->paths.parent[p]) {
        const char *name = c->shown.shown[c->paths.region[p]];
        size_t n = strlen(name), between = p == path ? 0 : 3;

        if (n + between + 4 > at)
            break;
        if (between)
            memcpy(out + (at -= 3), " > ", 3);
        memcpy(out + (at -= n), name, n);
    }
    memmove(out, out + at, COMPARE_NAME_SIZE - at);
    return out;
}

char *compare_kind_name(const struct comparison *c, uint32_t kind, char out[COMPARE_NAME_SIZE])
{
    char name[COMPARE_NAME_SIZE];
    size_t n = 0;

    *out = '\0';
    for (uint32_t i = 0; i < c->n_kind_paths && n < COMPARE_NAME_SIZE; i++)
        n += (size_t)snprintf(out + n, COMPARE_NAME_SIZE - n, "%s%s %s", i > 0 ? ", " : "",
                              c->kind[kind].has & 1u << i ? "with" : "without",
                              compare_path_name(c, c->kind_path[i], name));
    return out;
}
