#include "compare/compare_kinds.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOSTLY 0.6 /* of a path's change, to be said to be in one kind, and */
#define BEYOND 0.5 /* of what is left when the kind has its share */

/* ------------------------------------------------------------------------ telling apart */

/* The path of a digest that is this path of all, or PATH_NONE. */
static uint32_t local_path(const struct alignment *a, uint32_t run, uint32_t path)
{
    for (uint32_t p = 0; p < a->run[run]->n_paths; p++)
        if (a->path_of[run][p] == path)
            return p;
    return PATH_NONE;
}

/* Whether executions of a set have a path: where the run does not tell its executions apart by
 * it, all or none of them. */
static bool set_has(const struct digest *d, const struct digest_part *set, uint32_t path)
{
    for (uint32_t i = 0; i < d->n_optional; i++)
        if (d->optional[i] == path)
            return set->has & 1u << i;
    return path != PATH_NONE && d->path[path].n_executions > d->n_executions / 2;
}

/* How far apart the durations of a run are by whether they have a path. */
static double explained(const struct digest *d, uint32_t path)
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
        const struct digest *d = a->run[r];
        uint32_t local_p = local_path(a, r, p), local_q = local_path(a, r, q);

        for (uint32_t i = 0; i < d->n_sets; i++) {
            n += d->set[i].n_executions;
            if (set_has(d, &d->set[i], local_p) == set_has(d, &d->set[i], local_q))
                n_equal += d->set[i].n_executions;
        }
    }
    return n_equal <= n * DIGEST_RARE || n - n_equal <= n * DIGEST_RARE;
}

static void choose_paths(const struct alignment *a, struct comparison *out)
{
    const struct digest *d = a->run[0];

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
                        const struct digest_part *set)
{
    uint32_t has = 0;

    for (uint32_t i = 0; i < c->n_kind_paths; i++)
        if (set_has(a->run[run], set, local_path(a, run, c->kind_path[i])))
            has |= 1u << i;
    return has;
}

/* What one set adds to its kind. */
static void add_set(struct kinds *kinds, const struct alignment *a, uint32_t run, uint32_t kind,
                    const struct digest_part *set, uint32_t *count)
{
    const struct digest *d = a->run[run];
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
            const struct digest_part *set = &a->run[r]->set[i];

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

    for (uint32_t p = 0; p < kinds->n_paths; p++) {
        size_t at = (size_t)kind->has * kinds->n_paths + p;
        double apart = kinds->path_ns[1][at] / fmax(kind->share[1], 1e-12) -
                       kinds->path_ns[0][at] / fmax(kind->share[0], 1e-12);

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

    return share_p != share_q ? (share_p < share_q ? 1 : -1)
                              : (p->has > q->has) - (p->has < q->has);
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
