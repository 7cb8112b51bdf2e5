#include "ranks/peer_often.h"

#include "base/mem.h"
#include "base/student.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>

#define MIN_SHARE 0.1      /* of a place's executions, over that of the others */
#define MIN_EXECUTIONS 40u /* of a place: fewer say nothing about a part of them */
#define MIN_EXCESS 0.02    /* of its own work */
#define N_BLOCKS 16u       /* of a place's executions, one after another */
#define FROM_START 3.0 /* times what lies between two long ones, at most, before the first */

/* What is known of the executions of a place. */
struct long_part {
    double middle;        /* of own work over what is typical */
    uint32_t n, n_long;   /* executions; long ones */
    double error;         /* of share, see error_of */
    double share, excess; /* of n; of own work without what is in excess */
    double long_ns,
        rest_ns; /* what the long ones take beyond the middle; what all do without */
};

struct often {
    const struct scoring *w;
    const struct peer_cells *cells;
    struct peers *peers;
    struct long_part *part; /* [places] */
    double *own, *typical;  /* [trees] ns */
    double *scratch, *path; /* [trees], or [places]; [paths] */
};

static double share_of(const struct long_part *part)
{
    return part->share;
}

static double excess_of(const struct long_part *part)
{
    return part->excess;
}

static bool is_long(const struct often *o, const struct long_part *part, uint32_t t)
{
    return o->own[t] > PEERS_LONG * part->middle * o->typical[t];
}

static void measure_trees(struct often *o)
{
    const struct forest *forest = &o->w->forest;

    for (uint32_t t = 0; t < forest->n_trees; t++) {
        o->own[t] = o->typical[t] = 0;
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            uint32_t path = residual_path(&o->w->place, forest, t, v);

            if (path == PATH_NONE || o->peers->is_waiting[path])
                continue;
            o->own[t] += peer_call_ns(o->w, o->peers, v);
            o->typical[t] += peer_typical_ns(&o->w->model, &o->w->place, forest, t, v);
        }
    }
}

/*
 * Long executions come in bursts, as what disturbs a core does. So the error of their share is
 * by how far blocks of executions are apart in it: n_long (N_BLOCKS). At least it is that of
 * independent ones; none of few is not known to be none.
 */
static double error_of(const uint32_t *n_long, const struct long_part *part)
{
    double n_of_block = (double)part->n / N_BLOCKS, squares = 0;
    double share = (part->n_long + 1.0) / (part->n + 2);

    for (uint32_t i = 0; i < N_BLOCKS; i++) {
        double away = n_long[i] / n_of_block - part->share;

        squares += away * away;
    }
    return fmax(sqrt(squares / (N_BLOCKS - 1) / N_BLOCKS), sqrt(share * (1 - share) / part->n));
}

static void measure_place(struct often *o, uint32_t p)
{
    struct long_part *part = &o->part[p];
    const uint32_t *tree = o->peers->tree;
    uint32_t first = o->peers->first_tree[p], end = o->peers->first_tree[p + 1], n = 0;
    uint32_t n_long[N_BLOCKS] = {0};

    for (uint32_t i = first; i < end; i++)
        if (o->typical[tree[i]] > 0)
            o->scratch[n++] = o->own[tree[i]] / o->typical[tree[i]];
    *part = (struct long_part){.n = n};
    if (n == 0)
        return;
    part->middle = robust_quantile(o->scratch, n, 0.5);
    n = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t t = tree[i];
        double middle_ns = part->middle * o->typical[t];
        bool is = is_long(o, part, t);

        if (o->typical[t] <= 0)
            continue;
        part->n_long += is;
        n_long[(uint64_t)n++ * N_BLOCKS / part->n] += is;
        part->long_ns += is ? o->own[t] - middle_ns : 0;
        part->rest_ns += is ? middle_ns : o->own[t];
    }
    part->share = (double)part->n_long / part->n;
    part->error = error_of(n_long, part);
    part->excess = part->rest_ns > 0 ? part->long_ns / part->rest_ns : 0;
}

/* What places of which enough is known have, into scratch; without one of them, or PEERS_NONE. */
static uint32_t collect(const struct often *o, uint32_t but,
                        double (*value)(const struct long_part *part))
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < o->peers->n; p++)
        if (o->part[p].n >= MIN_EXECUTIONS && p != but)
            o->scratch[n++] = value(&o->part[p]);
    return n;
}

/* What the others have in the middle; of many that is the middle of all. */
static double middle_of_others(const struct often *o, uint32_t but,
                               double (*value)(const struct long_part *part))
{
    uint32_t n = collect(o, o->peers->n < PEERS_MIN_PLACES ? but : PEERS_NONE, value);

    return n > 0 ? robust_quantile(o->scratch, n, 0.5) : NAN;
}

static double square_of_error(const struct long_part *part)
{
    return part->error * part->error;
}

/* That so many are long though the place is like the others. */
static double chance_of(const struct often *o, uint32_t p, double others)
{
    const struct long_part *part = &o->part[p];
    double above = part->share - others, width;
    double error = sqrt(square_of_error(part) + middle_of_others(o, p, square_of_error));
    uint32_t n = collect(o, PEERS_NONE, share_of);

    if (n < PEERS_MIN_PLACES)
        return student_tail(above / error, N_BLOCKS - 1);
    width = peers_width(o->scratch, n, robust_quantile(o->scratch, n, 0.5));
    return peers_chance(above, fmax(width, PEERS_MIN_WIDTH), n, error);
}

/* On which paths they take longer. What the others lose in theirs is left out of each alike. */
static void find_paths(struct often *o, uint32_t p, double net)
{
    struct peer_place *place = &o->peers->place[p];
    const struct long_part *part = &o->part[p];
    const struct forest *forest = &o->w->forest;
    uint32_t first = UINT32_MAX, at = 0;
    uint64_t since_ns = 0;

    for (uint32_t path = 0; path < o->w->model.paths.n; path++)
        o->path[path] = 0;
    for (uint32_t i = o->peers->first_tree[p]; i < o->peers->first_tree[p + 1]; i++, at++) {
        uint32_t t = o->peers->tree[i];

        if (o->typical[t] <= 0 || !is_long(o, part, t))
            continue;
        if (first == UINT32_MAX) {
            first = at;
            since_ns = forest->enter_ns[t];
        }
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            uint32_t path = residual_path(&o->w->place, forest, t, v);

            if (path != PATH_NONE && !o->peers->is_waiting[path])
                o->path[path] +=
                    peer_call_ns(o->w, o->peers, v) -
                    part->middle * peer_typical_ns(&o->w->model, &o->w->place, forest, t, v);
        }
    }
    place->n_paths = 0;
    place->maybe_ns = 0;
    for (uint32_t path = 0; path < o->w->model.paths.n; path++) {
        const struct peer_cell *cell = peer_cells_find(o->cells, p, path);
        double excess_ns = cell ? fmin(net * o->path[path], MAX_EXCESS * cell->time_ns) : 0;
        struct peer_path x = {.path = path,
                              .excess_ns = excess_ns,
                              .share = part->share,
                              .since_ns = since_ns,
                              .is_from_start = first <= FROM_START / part->share,
                              .stage = NO_STAGE,
                              .n_there = o->cells->first[path + 1] - o->cells->first[path],
                              .is_sure = true,
                              .is_part = true,
                              .of_executions = true};

        if (cell == NULL || excess_ns < MIN_EXCESS * part->long_ns)
            continue;
        x.factor = cell->time_ns / (cell->time_ns - excess_ns);
        if (cell->typical_ns > 0) /* else, on a coarse clock, the factor is all that is known */
            x.others = (cell->time_ns - excess_ns) / cell->typical_ns;
        place->slow_ns += excess_ns;
        peer_place_add(place, &x);
    }
}

/* Not judged yet, with enough executions. Few are inconclusive where they cannot be compared. */
static bool is_open(const struct peers *peers, uint32_t p)
{
    const struct peer_place *place = &peers->place[p];

    return place->n_executions >= MIN_EXECUTIONS &&
           (place->verdict == PEER_TYPICAL ||
            (place->verdict == PEER_INCONCLUSIVE && peers->n >= PEERS_MIN_PLACES));
}

static void judge_place(struct often *o, uint32_t p, double chance)
{
    struct peer_place *place = &o->peers->place[p];
    const struct long_part *part = &o->part[p];
    double others, net;

    if (!is_open(o->peers, p) || part->n < MIN_EXECUTIONS || part->n_long < PEERS_MIN_CALLS)
        return;
    others = middle_of_others(o, p, share_of);
    if (isnan(others) || part->share < others + MIN_SHARE)
        return;
    net = 1 - middle_of_others(o, p, excess_of) / part->excess;
    if (net * part->excess < MIN_EXCESS || o->peers->n * chance_of(o, p, others) > chance)
        return;
    find_paths(o, p, net);
    if (place->n_paths > 0)
        place->verdict = PEER_SLOW;
}

void peer_often_judge(const struct scoring *scoring, const struct peer_cells *cells,
                      double chance, struct peers *peers)
{
    uint32_t n_trees = scoring->forest.n_trees;
    struct often o = {.w = scoring, .cells = cells, .peers = peers};

    bool any_open = false;

    for (uint32_t p = 0; p < peers->n; p++)
        any_open |= is_open(peers, p);
    if (peers->n < 2 || !any_open)
        return;
    o.part = mem_alloc(peers->n, sizeof *o.part);
    o.own = mem_resize(NULL, n_trees, sizeof *o.own);
    o.typical = mem_resize(NULL, n_trees, sizeof *o.typical);
    o.scratch = mem_resize(NULL, (size_t)n_trees + peers->n, sizeof *o.scratch);
    o.path = mem_resize(NULL, scoring->model.paths.n, sizeof *o.path);
    measure_trees(&o);
    for (uint32_t p = 0; p < peers->n; p++)
        measure_place(&o, p);
    for (uint32_t p = 0; p < peers->n; p++)
        judge_place(&o, p, chance);
    free(o.path);
    free(o.scratch);
    free(o.typical);
    free(o.own);
    free(o.part);
}
