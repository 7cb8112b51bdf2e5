/*
 * Paths are numbered anew over all runs; a path that moved gets the number of where it is now.
 * Kinds of execution are told apart by the paths that explain most of how durations differ, in
 * the runs of both sides.
 */
#include "compare/alignment.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_CALLS 1.25      /* factor between the calls of what moved */
#define SAME_TIME 4.0        /* ... and between its times: it may have become slower, too */
#define MAX_PAIRS 100000000u /* of paths that are looked at: a second */
#define MOSTLY 0.6           /* of a path's change, to be said to be in one kind, and */
#define BEYOND 0.5           /* of what is left when the kind has its share */

/* ------------------------------------------------------------------------------ numbers */

/* The name that is meant in any of the runs of a side. */
static const char *meant(const struct alignment *a, enum compare_side side, const char *said)
{
    for (uint32_t r = 0; r < alignment_runs(a); r++) {
        const char *name = alignment_side(a, r) == side ? summary_name(a->run[r], said) : NULL;

        if (name)
            return name;
    }
    return said;
}

static const char *renamed(const struct alignment *a, const struct compare_opts *opts,
                           const char *name)
{
    for (uint32_t i = 0; i < opts->n_renames; i++)
        if (strcmp(meant(a, COMPARE_BEFORE, opts->rename[i].from), name) == 0)
            return meant(a, COMPARE_AFTER, opts->rename[i].to);
    return name;
}

/* What the executions are of is one function, whatever it is called in each run. */
static const char *root_name(const struct alignment *a)
{
    const struct summary *last = a->run[alignment_runs(a) - 1];

    return last->names.name[last->foi];
}

static void number_run(struct alignment *a, uint32_t r, const struct compare_opts *opts)
{
    const struct summary *d = a->run[r];
    uint32_t *path_of = a->path_of[r] = mem_alloc(d->n_paths, sizeof *path_of);
    uint32_t *name_of = a->name_of[r] = mem_alloc(d->names.n, sizeof *name_of);

    for (uint32_t i = 0; i < d->names.n; i++) {
        const char *name = d->names.name[i];

        if (alignment_side(a, r) == COMPARE_BEFORE)
            name = renamed(a, opts, name);
        if (i == d->foi)
            name = root_name(a);
        name_of[i] = names_add(a->names, name);
    }
    for (uint32_t p = 0; p < d->n_paths; p++) {
        const struct summary_path *path = &d->path[p];
        uint32_t parent = path->parent == PATH_NONE ? PATH_NONE : path_of[path->parent];

        path_of[p] = context_add(a->paths, parent, name_of[path->name]);
    }
}

static void add_up(struct alignment *a)
{
    for (int side = 0; side < 2; side++) {
        memset(a->ns[side], 0, a->paths->n * sizeof(double));
        memset(a->off_ns[side], 0, a->paths->n * sizeof(double));
        memset(a->calls[side], 0, a->paths->n * sizeof(double));
        memset(a->share[side], 0, a->paths->n * sizeof(double));
    }
    for (uint32_t r = 0; r < alignment_runs(a); r++) {
        const struct summary *d = a->run[r];
        enum compare_side side = alignment_side(a, r);
        double per = 1.0 / ((double)d->n_executions * a->n_runs[side]);

        for (uint32_t p = 0; p < d->n_paths; p++) {
            uint32_t path = a->path_of[r][p];

            a->ns[side][path] += d->path[p].time_ns * per;
            a->off_ns[side][path] += d->path[p].off_ns * per;
            a->calls[side][path] += (double)d->path[p].n_calls * per;
            a->share[side][path] += d->path[p].n_executions * per;
        }
    }
}

/* -------------------------------------------------------------------------------- moves */

static bool is_only(const struct alignment *a, uint32_t path, enum compare_side side)
{
    return a->calls[side][path] > 0 && a->calls[!side][path] == 0;
}

/* Time with all that is called below. */
static double *inclusive(const struct alignment *a, enum compare_side side)
{
    double *ns = mem_alloc(a->paths->n, sizeof *ns);

    for (uint32_t p = a->paths->n; p-- > 0;) {
        ns[p] += a->ns[side][p];
        if (a->paths->parent[p] != PATH_NONE)
            ns[a->paths->parent[p]] += ns[p];
    }
    return ns;
}

/* How far apart two paths are, as the log of a factor; INFINITY: they are not the same. */
static double distance(const struct alignment *a, double *const ns[2], uint32_t old,
                       uint32_t new)
{
    double calls = fabs(log(a->calls[1][new] / a->calls[0][old]));
    double time = fabs(log((ns[1][new] + 1) / (ns[0][old] + 1)));

    if (calls > log(SAME_CALLS) || time > log(SAME_TIME))
        return INFINITY;
    return calls + time;
}

/* Paths that only the runs before have and that have not been found elsewhere, by function. */
struct gone {
    uint32_t *first; /* [names] in ascending order, or COMPARE_NONE */
    uint32_t *next;  /* [paths] */
    uint64_t n_left; /* pairs that may be looked at */
};

static void gone_init(struct gone *gone, const struct alignment *a)
{
    gone->n_left = MAX_PAIRS;
    gone->first = mem_alloc(a->names->n, sizeof *gone->first);
    gone->next = mem_alloc(a->paths->n, sizeof *gone->next);
    memset(gone->first, 0xff, a->names->n * sizeof *gone->first);
    for (uint32_t p = a->paths->n; p-- > 1;)
        if (is_only(a, p, COMPARE_BEFORE)) {
            gone->next[p] = gone->first[a->paths->region[p]];
            gone->first[a->paths->region[p]] = p;
        }
}

/* Where a new path was before, which is taken out; or COMPARE_NONE. */
static uint32_t take_nearest(struct gone *gone, const struct alignment *a, double *const ns[2],
                             const uint32_t *to, uint32_t new)
{
    uint32_t *link = &gone->first[a->paths->region[new]], *best = NULL, found;
    double least = INFINITY;

    for (; *link != COMPARE_NONE && gone->n_left > 0; link = &gone->next[*link]) {
        uint32_t old = *link;
        bool is_together = to[a->paths->parent[old]] == a->paths->parent[new];
        double apart = is_together ? -1 : distance(a, ns, old, new);

        gone->n_left--;
        if (apart < least) {
            least = apart;
            best = link;
        }
    }
    if (best == NULL)
        return COMPARE_NONE;
    found = *best;
    *best = gone->next[found];
    return found;
}

/* Callers come first, so that what is called below a call that moved goes with it. */
static void find_moves(struct alignment *a, uint32_t *to)
{
    double *ns[2] = {inclusive(a, COMPARE_BEFORE), inclusive(a, COMPARE_AFTER)};
    struct gone gone;

    gone_init(&gone, a);
    for (uint32_t new = 1; new < a->paths->n; new ++) {
        if (!is_only(a, new, COMPARE_AFTER))
            continue;
        a->from[new] = take_nearest(&gone, a, ns, to, new);
        if (a->from[new] != COMPARE_NONE)
            to[a->from[new]] = new;
    }
    a->has_more_moves = gone.n_left == 0;
    free(gone.first);
    free(gone.next);
    free(ns[0]);
    free(ns[1]);
}

static void follow_moves(struct alignment *a)
{
    uint32_t *to = mem_alloc(a->paths->n, sizeof *to);

    for (uint32_t p = 0; p < a->paths->n; p++)
        to[p] = p;
    find_moves(a, to);
    for (uint32_t r = 0; r < alignment_runs(a); r++)
        for (uint32_t p = 0; p < a->run[r]->n_paths; p++)
            a->path_of[r][p] = to[a->path_of[r][p]];
    free(to);
}

/* ------------------------------------------------------------------------------ samples */

/* Variance of a run's mean by that of its batches; path PATH_NONE: of the whole. */
static double variance_in_run(const struct summary *d, uint32_t path)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < d->n_batches; i++) {
        const struct summary_part *batch = &d->batch[i];
        double x =
            (path == PATH_NONE ? batch->time_ns : batch->path_ns[path]) / batch->n_executions;

        sum += x;
        squares += x * x;
    }
    if (d->n_batches < 2)
        return 0;
    return fmax(0, squares - sum * sum / d->n_batches) / (d->n_batches - 1) / d->n_batches;
}

static void fill_runs(struct alignment *a)
{
    uint32_t n = alignment_samples(a);

    for (uint32_t r = 0; r < n; r++) {
        const struct summary *d = a->run[r];

        a->whole_ns[r] = d->time_ns / d->n_executions;
        a->whole_var[r] = variance_in_run(d, PATH_NONE);
        for (uint32_t p = 0; p < d->n_paths; p++) {
            size_t at = (size_t)a->path_of[r][p] * n + r;

            a->sample_ns[at] += d->path[p].time_ns / d->n_executions;
            a->sample_var[at] += variance_in_run(d, p);
        }
    }
}

static void fill_batches(struct alignment *a)
{
    uint32_t n = alignment_samples(a), s = 0;

    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t i = 0; i < a->n_samples[r]; i++, s++) {
            const struct summary_part *batch = &a->run[r]->batch[i];

            a->whole_ns[s] = batch->time_ns / batch->n_executions;
            for (uint32_t p = 0; p < a->run[r]->n_paths; p++)
                a->sample_ns[(size_t)a->path_of[r][p] * n + s] +=
                    batch->path_ns[p] / batch->n_executions;
        }
}

static void fill_samples(struct alignment *a)
{
    a->is_by_batch = alignment_runs(a) == 2;
    for (int side = 0; side < 2; side++)
        a->n_samples[side] = a->is_by_batch ? a->run[side]->n_batches : a->n_runs[side];
    a->whole_ns = mem_alloc(alignment_samples(a), sizeof *a->whole_ns);
    a->sample_ns = mem_alloc((size_t)a->paths->n * alignment_samples(a), sizeof *a->sample_ns);
    a->whole_var = mem_alloc(alignment_samples(a), sizeof *a->whole_var);
    a->sample_var =
        mem_alloc((size_t)a->paths->n * alignment_samples(a), sizeof *a->sample_var);
    if (a->is_by_batch)
        fill_batches(a);
    else
        fill_runs(a);
}

/* ------------------------------------------------------------------------------- public */

void alignment_make(struct alignment *a, const struct summary *before, uint32_t n_before,
                    const struct summary *after, uint32_t n_after,
                    const struct compare_opts *opts, struct names *names, struct context *paths)
{
    *a = (struct alignment){.n_runs = {n_before, n_after}, .names = names, .paths = paths};
    a->name_of = mem_alloc(n_before + n_after, sizeof *a->name_of);
    a->path_of = mem_alloc(n_before + n_after, sizeof *a->path_of);
    for (uint32_t r = 0; r < n_before + n_after; r++)
        a->run[r] = r < n_before ? &before[r] : &after[r - n_before];
    for (uint32_t r = 0; r < n_before + n_after; r++)
        number_run(a, r, opts);
    a->from = mem_alloc(paths->n, sizeof *a->from);
    memset(a->from, 0xff, paths->n * sizeof *a->from);
    for (int side = 0; side < 2; side++) {
        a->ns[side] = mem_alloc(paths->n, sizeof(double));
        a->off_ns[side] = mem_alloc(paths->n, sizeof(double));
        a->calls[side] = mem_alloc(paths->n, sizeof(double));
        a->share[side] = mem_alloc(paths->n, sizeof(double));
    }
    a->is_waiting = mem_alloc(a->paths->n, sizeof *a->is_waiting);
    for (uint32_t r = 0; r < alignment_runs(a); r++)
        for (uint32_t p = 0; p < a->run[r]->n_paths; p++)
            a->is_waiting[a->path_of[r][p]] |= a->run[r]->path[p].is_waiting;
    add_up(a);
    follow_moves(a);
    add_up(a);
    fill_samples(a);
}

void alignment_release(struct alignment *a)
{
    for (uint32_t r = 0; r < alignment_runs(a); r++) {
        free(a->path_of[r]);
        free(a->name_of[r]);
    }
    for (int side = 0; side < 2; side++) {
        free(a->ns[side]);
        free(a->off_ns[side]);
        free(a->calls[side]);
        free(a->share[side]);
    }
    free(a->path_of);
    free(a->name_of);
    free(a->from);
    free(a->is_waiting);
    free(a->whole_ns);
    free(a->sample_ns);
    free(a->whole_var);
    free(a->sample_var);
    *a = (struct alignment){0};
}

/* ------------------------------------------------------------------------------------ kinds */

/* ------------------------------------------------------------------------ telling apart */

/* The path of a summary that is this path of all, or PATH_NONE. */
static uint32_t local_path(const struct alignment *a, uint32_t run, uint32_t path)
{
    for (uint32_t p = 0; p < a->run[run]->n_paths; p++)
        if (a->path_of[run][p] == path)
            return p;
    return PATH_NONE;
}

/* Whether executions of a set have a path: where the run does not tell its executions apart by
 * it, all or none of them. */
static bool set_has(const struct summary *d, const struct summary_part *set, uint32_t path)
{
    for (uint32_t i = 0; i < d->n_optional; i++)
        if (d->optional[i] == path)
            return set->has & 1u << i;
    return path != PATH_NONE && d->path[path].n_executions > d->n_executions / 2;
}

/* How far apart the durations of a run are by whether they have a path. */
static double explained(const struct summary *d, uint32_t path)
{
    double n[2] = {0}, ns[2] = {0}, apart, share;

    for (uint32_t i = 0; i < d->n_sets; i++) {
        bool has = set_has(d, &d->set[i], path);

        n[has] += d->set[i].n_executions;
        ns[has] += d->set[i].time_ns;
    }
    if (n[0] == 0 || n[1] == 0)
        return 0;
    share = n[1] / (n[0] + n[1]);
    apart = (ns[1] / n[1] - ns[0] / n[0]) * d->n_executions / d->time_ns;
    return share * (1 - share) * apart * apart;
}

/* Summed over the runs; what one side never or always has tells no kinds apart. */
static double merit(const struct alignment *a, uint32_t path)
{
    double sum[2] = {0};

    for (uint32_t r = 0; r < alignment_runs(a); r++)
        sum[alignment_side(a, r)] +=
            explained(a->run[r], local_path(a, r, path)) / a->n_runs[alignment_side(a, r)];
    return fmin(sum[0], sum[1]) > 0 ? sum[0] + sum[1] : 0;
}

/* The executions that have one path are those that have, or do not have, the other. */
static bool is_same_split(const struct alignment *a, uint32_t p, uint32_t q)
{
    uint64_t n = 0, n_equal = 0;

    for (uint32_t r = 0; r < alignment_runs(a); r++) {
        const struct summary *d = a->run[r];
        uint32_t local_p = local_path(a, r, p), local_q = local_path(a, r, q);

        for (uint32_t i = 0; i < d->n_sets; i++) {
            n += d->set[i].n_executions;
            if (set_has(d, &d->set[i], local_p) == set_has(d, &d->set[i], local_q))
                n_equal += d->set[i].n_executions;
        }
    }
    return n_equal <= n * SUMMARY_RARE || n - n_equal <= n * SUMMARY_RARE;
}

static void choose_paths(const struct alignment *a, struct comparison *out)
{
    const struct summary *d = a->run[0];

    while (out->n_kind_paths < KINDS_BY) {
        uint32_t best = PATH_NONE;
        double most = 0;

        for (uint32_t i = 0; i < d->n_optional; i++) {
            uint32_t path = a->path_of[0][d->optional[i]];
            double worth = merit(a, path);
            bool is_known = false;

            for (uint32_t k = 0; k < out->n_kind_paths; k++)
                is_known |= is_same_split(a, path, out->kind_path[k]);
            if (is_known || worth <= most)
                continue;
            most = worth;
            best = path;
        }
        if (best == PATH_NONE)
            return;
        out->kind_path[out->n_kind_paths++] = best;
    }
}

/* ------------------------------------------------------------------------------- kinds */

static uint32_t kind_of(const struct alignment *a, const struct comparison *c, uint32_t run,
                        const struct summary_part *set)
{
    uint32_t has = 0;

    for (uint32_t i = 0; i < c->n_kind_paths; i++)
        if (set_has(a->run[run], set, local_path(a, run, c->kind_path[i])))
            has |= 1u << i;
    return has;
}

/* What one set adds to its kind. */
static void add_set(struct kinds *kinds, const struct alignment *a, uint32_t run, uint32_t kind,
                    const struct summary_part *set, uint32_t *count)
{
    const struct summary *d = a->run[run];
    enum compare_side side = alignment_side(a, run);
    double per = 1.0 / ((double)d->n_executions * a->n_runs[side]);

    kinds->share[side][kind] += set->n_executions * per;
    kinds->off_ns[side][kind] += set->off_ns * per;
    for (uint32_t p = 0; p < d->n_paths; p++)
        kinds->path_ns[side][(size_t)kind * kinds->n_paths + a->path_of[run][p]] +=
            set->path_ns[p] * per;
    for (uint32_t i = 0; i < (a->is_by_batch ? d->n_batches : 1); i++) {
        uint32_t sample =
            a->is_by_batch ? i + (side == COMPARE_AFTER ? a->n_samples[0] : 0) : run;
        size_t at = (size_t)kind * kinds->n_samples + sample;

        count[at] += a->is_by_batch ? set->in_batch[i] : set->n_executions;
        kinds->sample_ns[at] += a->is_by_batch ? set->batch_ns[i] : set->time_ns;
    }
}

static void add_sets(struct kinds *kinds, const struct alignment *a, const struct comparison *c)
{
    size_t n = (size_t)kinds->n * kinds->n_samples;
    uint32_t *count = mem_alloc(n, sizeof *count);

    for (uint32_t r = 0; r < alignment_runs(a); r++)
        for (uint32_t i = 0; i < a->run[r]->n_sets; i++) {
            const struct summary_part *set = &a->run[r]->set[i];

            add_set(kinds, a, r, kind_of(a, c, r, set), set, count);
        }
    for (size_t at = 0; at < n; at++) {
        uint32_t *fewest = &kinds->in_sample[at / kinds->n_samples];

        *fewest = count[at] < *fewest ? count[at] : *fewest;
        kinds->sample_ns[at] /= count[at] > 0 ? count[at] : 1;
    }
    free(count);
}

static void add_duration(const struct kinds *kinds, enum compare_side side, uint32_t kind,
                         struct compare_change *duration)
{
    double sum = 0, share = kinds->share[side][kind];

    for (uint32_t p = 0; p < kinds->n_paths; p++)
        sum += kinds->path_ns[side][(size_t)kind * kinds->n_paths + p];
    duration->ns[side] = share > 0 ? sum / share : 0;
    duration->off_ns += share > 0 ? kinds->off_ns[side][kind] / share : 0;
}

void kinds_find(struct kinds *kinds, const struct alignment *a, struct comparison *out)
{
    *kinds = (struct kinds){.n_paths = a->paths->n, .n_samples = alignment_samples(a)};
    choose_paths(a, out);
    out->n_kinds = kinds->n = 1u << out->n_kind_paths;
    out->kind = mem_alloc(kinds->n, sizeof *out->kind);
    kinds->sample_ns = mem_alloc((size_t)kinds->n * kinds->n_samples, sizeof(double));
    memset(kinds->in_sample, 0xff, sizeof kinds->in_sample);
    for (int side = 0; side < 2; side++)
        kinds->path_ns[side] = mem_alloc((size_t)kinds->n * kinds->n_paths, sizeof(double));
    add_sets(kinds, a, out);
    for (uint32_t k = 0; k < kinds->n; k++) {
        out->kind[k].has = k;
        out->kind[k].path = COMPARE_NONE;
        for (int side = 0; side < 2; side++) {
            out->kind[k].share[side] = kinds->share[side][k];
            add_duration(kinds, side, k, &out->kind[k].duration);
        }
    }
}

void kinds_release(struct kinds *kinds)
{
    free(kinds->sample_ns);
    free(kinds->path_ns[0]);
    free(kinds->path_ns[1]);
    *kinds = (struct kinds){0};
}

bool kinds_are_sampled(const struct kinds *kinds, uint32_t kind)
{
    return kinds->in_sample[kind] > 0 && kinds->in_sample[kind] != UINT32_MAX;
}

const double *kinds_samples(const struct kinds *kinds, uint32_t kind)
{
    return &kinds->sample_ns[(size_t)kind * kinds->n_samples];
}

/* -------------------------------------------------------------------------- explanation */

static void explain_kind(const struct kinds *kinds, struct compare_kind *kind)
{
    double change = kind->duration.ns[1] - kind->duration.ns[0];

    for (uint32_t p = 0; p < kinds->n_paths && compare_kind_is_on_both(kind); p++) {
        size_t at = (size_t)kind->has * kinds->n_paths + p;
        double apart =
            kinds->path_ns[1][at] / kind->share[1] - kinds->path_ns[0][at] / kind->share[0];

        if (apart * change <= 0 || fabs(apart) <= fabs(kind->path_ns))
            continue;
        kind->path = p;
        kind->path_ns = apart;
    }
}

static void explain_path(const struct kinds *kinds, struct compare_path *path)
{
    double change = path->own.ns[1] - path->own.ns[0];

    for (uint32_t k = 0; k < kinds->n && kinds->n > 1; k++) {
        size_t at = (size_t)k * kinds->n_paths + path->path;
        double part = kinds->path_ns[1][at] - kinds->path_ns[0][at];

        double share = (kinds->share[0][k] + kinds->share[1][k]) / 2;
        double least = fmax(MOSTLY, share + BEYOND * (1 - share));

        if (part * change > 0 && fabs(part) >= least * fabs(change) &&
            fabs(part) > fabs(path->kind_ns)) {
            path->kind = k;
            path->kind_ns = part;
        }
    }
}

static int by_share(const void *a, const void *b)
{
    const struct compare_kind *p = a, *q = b;
    double share_p = p->share[0] + p->share[1], share_q = q->share[0] + q->share[1];

    return ORDER(share_q, share_p) ?: ORDER(p->has, q->has);
}

/* What an execution of each kind took on each path, kinds as they are ordered now. */
static void keep_times(const struct kinds *kinds, struct comparison *out)
{
    for (int side = 0; side < 2; side++) {
        double *ns = mem_alloc((size_t)out->n_kinds * kinds->n_paths, sizeof *ns);

        for (uint32_t k = 0; k < out->n_kinds; k++) {
            const double *from =
                &kinds->path_ns[side][(size_t)out->kind[k].has * kinds->n_paths];
            double share = out->kind[k].share[side];

            for (uint32_t p = 0; p < kinds->n_paths; p++)
                ns[(size_t)k * kinds->n_paths + p] = share > 0 ? from[p] / share : 0;
        }
        out->kind_ns[side] = ns;
    }
}

void kinds_explain(const struct kinds *kinds, struct comparison *out)
{
    uint32_t place[COMPARE_MAX_KINDS], n = 0;

    for (uint32_t i = 0; i < out->n_paths; i++)
        explain_path(kinds, &out->path[i]);
    for (uint32_t k = 0; k < out->n_kinds; k++)
        if (out->kind[k].share[0] + out->kind[k].share[1] > 0) {
            explain_kind(kinds, &out->kind[k]);
            out->kind[n++] = out->kind[k];
        }
    out->n_kinds = n;
    qsort(out->kind, n, sizeof *out->kind, by_share);
    keep_times(kinds, out);
    for (uint32_t k = 0; k < n; k++)
        place[out->kind[k].has] = k;
    for (uint32_t i = 0; i < out->n_paths; i++)
        if (out->path[i].kind != COMPARE_NONE)
            out->path[i].kind = place[out->path[i].kind];
}
