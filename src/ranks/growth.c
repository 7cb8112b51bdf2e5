#include "ranks/growth.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "features/robust.h"
#include "ranks/peer_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_EXECUTIONS 60u /* of a thread */
#define MIN_FACTOR 1.2     /* of the last fifth's median over the first's */
#define MIN_MORE 0.01      /* of all time: what executions took more than at first */
#define MIN_HALF 0.1       /* of that, in logarithms: what each half has in it */
#define MIN_SHARE 0.5      /* of the growth: the path that has less is not named */

/* One number per execution, in order of time. */
struct series {
    double *x;      /* [n] */
    double *rank;   /* [n] of each, from 1; those that are equal share theirs */
    uint32_t *by_x; /* [n] */
    double *some;   /* [n] scratch */
    uint32_t n;
};

/* Correlation of ranks with time, of one series or several: z is sum over weight. */
struct rank_trend {
    double sum, weight;
};

/* The first and last fifth of a series; of its early and of its late half, the first and last
 * third. */
enum rise_part { FIRST, LAST, EARLY_FIRST, EARLY_LAST, LATE_FIRST, LATE_LAST, N_RISE_PARTS };

/* What a series, or several together, say. */
struct rise {
    struct rank_trend all, early, late;
    double median_ns[N_RISE_PARTS];
    double more_ns, all_ns; /* what all took more than at first; in all */
};

/* ------------------------------------------------------------------------------- one series */

static int by_value(const void *a, const void *b, void *ctx)
{
    const double *x = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    return ORDER(x[i], x[k]) ?: ORDER(i, k);
}

static void rank_all(struct series *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->by_x[i] = i;
    qsort_r(s->by_x, s->n, sizeof *s->by_x, by_value, s->x);
    for (uint32_t i = 0, end; i < s->n; i = end) {
        for (end = i + 1; end < s->n && s->x[s->by_x[end]] == s->x[s->by_x[i]];)
            end++;
        for (uint32_t k = i; k < end; k++)
            s->rank[s->by_x[k]] = (i + end + 1) / 2.0;
    }
}

/* Spearman's, by the ranks in the whole series: r sqrt(n - 1) is normal where there is no trend. */
static struct rank_trend trend_in(const struct series *s, uint32_t begin, uint32_t end)
{
    double n = end - begin, middle = 0, sum = 0, spread = 0, r;

    for (uint32_t i = begin; i < end; i++)
        middle += s->rank[i] / n;
    for (uint32_t i = begin; i < end; i++) {
        sum += (s->rank[i] - middle) * (i - begin - (n - 1) / 2);
        spread += (s->rank[i] - middle) * (s->rank[i] - middle);
    }
    r = spread > 0 ? sum / sqrt(spread * (n * n * n - n) / 12) : 0;
    return (struct rank_trend){r * (n - 1), n - 1};
}

static double median_in(const struct series *s, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        s->some[i - begin] = s->x[i];
    return robust_quantile(s->some, end - begin, 0.5);
}

static struct rise rise_of(struct series *s)
{
    uint32_t fifth = s->n / 5, half = s->n / 2, third = s->n / 6;
    struct rise rise = {0};

    rank_all(s);
    rise.all = trend_in(s, 0, s->n);
    rise.early = trend_in(s, 0, half);
    rise.late = trend_in(s, half, s->n);
    rise.median_ns[FIRST] = median_in(s, 0, fifth);
    rise.median_ns[LAST] = median_in(s, s->n - fifth, s->n);
    rise.median_ns[EARLY_FIRST] = median_in(s, 0, third);
    rise.median_ns[EARLY_LAST] = median_in(s, half - third, half);
    rise.median_ns[LATE_FIRST] = median_in(s, half, half + third);
    rise.median_ns[LATE_LAST] = median_in(s, s->n - third, s->n);
    rise.more_ns = (median_in(s, 0, s->n) - rise.median_ns[FIRST]) * s->n;
    for (uint32_t i = 0; i < s->n; i++)
        rise.all_ns += s->x[i];
    return rise;
}

static void add_trend(struct rank_trend *to, struct rank_trend x)
{
    to->sum += x.sum;
    to->weight += x.weight;
}

static void add_rise(struct rise *to, const struct rise *x)
{
    add_trend(&to->all, x->all);
    add_trend(&to->early, x->early);
    add_trend(&to->late, x->late);
    for (int i = 0; i < N_RISE_PARTS; i++)
        to->median_ns[i] += x->median_ns[i];
    to->more_ns += x->more_ns;
    to->all_ns += x->all_ns;
}

/* That a series without a trend rises so. */
static double chance_of(struct rank_trend t)
{
    return t.weight > 0 ? erfc(t.sum / sqrt(2 * t.weight)) / 2 : 1;
}

/* By how much one part is longer than another, as a logarithm: what doubles again and again does
 * so evenly. */
static double log_rise(const struct rise *r, enum rise_part from, enum rise_part to)
{
    return log(fmax(r->median_ns[to], 1) / fmax(r->median_ns[from], 1));
}

/* Whether that is growth, if so many are looked at. */
static bool is_growth(const struct rise *r, uint32_t n_tests)
{
    double chance = GROWTH_FALSE_ALARMS / n_tests, of_half = sqrt(chance),
           least = MIN_HALF * log_rise(r, FIRST, LAST);

    return r->median_ns[LAST] >= MIN_FACTOR * r->median_ns[FIRST] &&
           r->more_ns >= MIN_MORE * r->all_ns &&
           log_rise(r, EARLY_FIRST, EARLY_LAST) >= least &&
           log_rise(r, LATE_FIRST, LATE_LAST) >= least && chance_of(r->all) <= chance &&
           chance_of(r->early) <= of_half && chance_of(r->late) <= of_half;
}

/* ------------------------------------------------------------------------------ all of them */

/* What of executions is looked at: all of their time, or own work. */
enum measured { WHOLE, OWN, N_MEASURED };

/* The executions of a thread. */
struct thread_series {
    uint32_t location, begin, end; /* trees */
    struct rise rise[N_MEASURED];
    bool grows[N_MEASURED];
};

struct grower {
    const struct scoring *w;
    const struct peers *peers;
    struct thread_series *thread; /* [n] with enough executions */
    uint32_t n;
    struct series s;
};

/* Trees of a location are one after another, in order of time. */
static void find_threads(struct grower *g)
{
    const struct forest *forest = &g->w->forest;
    uint32_t most = 0;

    g->thread = mem_alloc(g->w->defs->n_locations, sizeof *g->thread);
    for (uint32_t t = 0, end; t < forest->n_trees; t = end) {
        end = forest_location_end(forest, t);
        if (end - t < MIN_EXECUTIONS || g->peers->at[forest->location[t]] == PEERS_NONE)
            continue;
        g->thread[g->n++] =
            (struct thread_series){.location = forest->location[t], .begin = t, .end = end};
        most = end - t > most ? end - t : most;
    }
    g->s = (struct series){.x = mem_alloc(most, sizeof *g->s.x),
                           .rank = mem_alloc(most, sizeof *g->s.rank),
                           .by_x = mem_alloc(most, sizeof *g->s.by_x),
                           .some = mem_alloc(most, sizeof *g->s.some)};
}

static double time_of(const struct grower *g, enum measured of, uint32_t tree)
{
    return of == OWN ? peer_own_ns(g->w, g->peers, tree) : (double)g->w->forest.root_ns[tree];
}

static struct rise measure(struct grower *g, enum measured of, const struct thread_series *x)
{
    g->s.n = x->end - x->begin;
    for (uint32_t t = x->begin; t < x->end; t++)
        g->s.x[t - x->begin] = time_of(g, of, t);
    return rise_of(&g->s);
}

/* Each alone; and those that do not grow alone, together. Own work is growth where the whole is.
 * Returns whether any do. */
static bool judge(struct grower *g, enum measured of)
{
    struct rise rest = {0};
    bool grows = false, rest_grows;

    for (uint32_t i = 0; i < g->n; i++) {
        struct thread_series *x = &g->thread[i];

        x->rise[of] = measure(g, of, x);
        x->grows[of] = (of == WHOLE || x->grows[WHOLE]) && is_growth(&x->rise[of], g->n + 1);
        grows |= x->grows[of];
        if (!x->grows[of])
            add_rise(&rest, &x->rise[of]);
    }
    rest_grows = is_growth(&rest, g->n + 1);
    for (uint32_t i = 0; i < g->n; i++)
        g->thread[i].grows[of] |= rest_grows;
    return grows || rest_grows;
}

static double growth_ns(const struct rise *r)
{
    return r->median_ns[LAST] - r->median_ns[FIRST];
}

/* Those on which they grow are counted; of what is said of one, the most. */
static const struct thread_series *find_most(const struct grower *g, enum measured of,
                                             struct growth *out)
{
    bool *is_counted = mem_alloc(g->peers->n, sizeof *is_counted);
    const struct thread_series *most = NULL;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct thread_series *x = &g->thread[i];
        uint32_t place = g->peers->at[x->location];

        if (!x->grows[of])
            continue;
        out->n_places += !is_counted[place];
        is_counted[place] = true;
        if (most == NULL || growth_ns(&x->rise[of]) > growth_ns(&most->rise[of]))
            most = x;
    }
    free(is_counted);
    return most;
}

/* What a call has of it: own work; or else what it waited. */
static double part_of(const struct grower *g, enum measured of, uint32_t path, uint32_t v)
{
    double own_ns = g->peers->is_waiting[path] ? 0 : peer_call_ns(g->w, g->peers, v);

    return of == OWN ? own_ns : (double)g->w->forest.exclusive_ns[v] - own_ns;
}

/* Adds what executions [begin, end) take on each path, on average of the middle half: without
 * outliers. */
static void add_paths(struct grower *g, enum measured of, uint32_t begin, uint32_t end,
                      double sign, double *path_ns)
{
    const struct forest *forest = &g->w->forest;
    uint32_t n = end - begin, n_taken = (n + 1) / 2;

    for (uint32_t i = 0; i < n; i++) {
        g->s.x[i] = time_of(g, of, begin + i);
        g->s.by_x[i] = i;
    }
    qsort_r(g->s.by_x, n, sizeof *g->s.by_x, by_value, g->s.x);
    for (uint32_t i = n / 4; i < n / 4 + n_taken; i++) {
        uint32_t t = begin + g->s.by_x[i];

        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            uint32_t path = residual_path(&g->w->place, forest, t, v);

            if (path != PATH_NONE)
                path_ns[path] += sign * part_of(g, of, path, v) / n_taken;
        }
    }
}

static void find_path(struct grower *g, enum measured of, const struct thread_series *x,
                      struct growth *out)
{
    double *path_ns = mem_alloc(g->w->model.paths.n, sizeof *path_ns);
    double most_ns = MIN_SHARE * (out->last_ns - out->first_ns);
    uint32_t fifth = (x->end - x->begin) / 5;

    add_paths(g, of, x->begin, x->begin + fifth, -1, path_ns);
    add_paths(g, of, x->end - fifth, x->end, 1, path_ns);
    for (uint32_t p = 0; p < g->w->model.paths.n; p++)
        if (path_ns[p] > most_ns) {
            out->path = p;
            most_ns = path_ns[p];
        }
    free(path_ns);
}

void growth_find(const struct scoring *scoring, const struct peers *peers, struct growth *out)
{
    struct grower g = {.w = scoring, .peers = peers};
    const struct thread_series *most;
    enum measured of;

    *out = (struct growth){.path = PATH_NONE};
    if (peers->n == 0)
        return;
    find_threads(&g);
    if (judge(&g, WHOLE)) { /* else nobody goes through their calls */
        of = judge(&g, OWN) ? OWN : WHOLE;
        most = find_most(&g, of, out);
        out->place = peers->at[most->location];
        out->is_waiting = of == WHOLE;
        out->first_ns = most->rise[of].median_ns[FIRST];
        out->last_ns = most->rise[of].median_ns[LAST];
        find_path(&g, of, most, out);
    }
    free(g.thread);
    free(g.s.x);
    free(g.s.rank);
    free(g.s.by_x);
    free(g.s.some);
}

/* ------------------------------------------------------------------------------------ words */

/* "", " on rank 3: there", " on 3 of 8 ranks, most on rank 3: there" */
static void say_where(const struct growth *g, const struct peers *peers, FILE *out)
{
    char place[PEER_NAME_SIZE];

    if (peers->n == 1) {
        fputs(":", out);
        return;
    }
    peer_place_name(peers, g->place, place);
    if (g->n_places == 1)
        fprintf(out, " on %s: there", place);
    else if (g->n_places == peers->n)
        fprintf(out, " on all %u %ss, most on %s: there", peers->n,
                peer_by_name(peers->opts.by), place);
    else
        fprintf(out, " on %u of %u %ss, most on %s: there", g->n_places, peers->n,
                peer_by_name(peers->opts.by), place);
}

char *growth_text(const struct growth *g, const struct peers *peers, const struct why *why,
                  const char *name)
{
    char first[TEXT_SIZE], last[TEXT_SIZE], path[WHY_NAME_SIZE], *text = NULL;
    size_t size;
    FILE *out;

    if (g->n_places == 0)
        return NULL;
    out = open_memstream(&text, &size);
    if (out == NULL)
        mem_give_up(1, BUFSIZ);
    fprintf(out, "executions of %s take longer and longer", name);
    say_where(g, peers, out);
    fprintf(out, " %s %s in the first fifth of them, %s in the last",
            g->is_waiting ? "one takes" : "own work of", text_duration(g->first_ns, first),
            text_duration(g->last_ns, last));
    if (g->path != PATH_NONE)
        fprintf(out, "; most of that is %s %s", g->is_waiting ? "waiting in" : "in",
                why_path_name(why, g->path, path));
    fclose(out);
    return text;
}
