/*
 * Places are told apart by what locations are called: a stage by the number behind one of the
 * texts that are common in the name of a thread. They are found sorted, so that a place has its trees one
 * after another. What is said of workers is lifted to the places that they are in, and of each
 * place the paths that it loses most on are told in words.
 */
#include "ranks/peer_places.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands before the number of a stage in the names of threads. */
static const char *const stage_texts[] = {"PP rank", "pp_rank", "stage"};

static const char *const names[] = {"rank", "thread", "program", "node", "stage", "worker"};

/* The number behind a text in a name, NO_STAGE if there is none. */
static uint32_t number_behind(const char *name, const char *text)
{
    const char *at = text_number_behind(name, text);
    unsigned long number = at ? strtoul(at, NULL, 10) : NO_STAGE;

    return number < NO_STAGE ? (uint32_t)number : NO_STAGE;
}

uint32_t peer_stage(const struct location *location, const char *text)
{
    uint32_t stage = NO_STAGE;

    if (text)
        return number_behind(location->name, text);
    for (size_t i = 0; i < sizeof stage_texts / sizeof *stage_texts && stage == NO_STAGE; i++)
        stage = number_behind(location->name, stage_texts[i]);
    return stage;
}

static bool has_stages(const struct definitions *defs, const char *text)
{
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (peer_stage(&defs->location[l], text) != NO_STAGE)
            return true;
    return false;
}

static bool has_nodes(const struct definitions *defs)
{
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (defs->location[l].node[0])
            return true;
    return false;
}

int peers_by(const char *name, const struct definitions *defs, struct peers_opts *opts)
{
    bool is_alone = defs->n_ranks < 2 && defs->n_locations > 1;

    *opts = (struct peers_opts){.by = PEERS_BY_RANK};
    if (name == NULL && is_alone && !has_stages(defs, NULL))
        opts->by = PEERS_BY_THREAD;
    if (name == NULL)
        return 0;
    if (strncmp(name, "stage=", 6) == 0) {
        opts->stage = name + 6 + (strncmp(name + 6, "thread:", 7) == 0 ? 7 : 0);
        name = names[PEERS_BY_STAGE];
    }
    while (opts->by <= PEERS_BY_WORKER && strcmp(name, names[opts->by]) != 0)
        opts->by++;
    if (opts->by > PEERS_BY_WORKER)
        return err_set(
            ERR_USAGE,
            "by is rank, thread, node, program, worker, stage or stage=TEXT, not '%s'", name);
    if (opts->by == PEERS_BY_NODE && !has_nodes(defs))
        return err_set(ERR_USAGE, "the trace does not say on which nodes its ranks ran");
    if (opts->by == PEERS_BY_STAGE && !has_stages(defs, opts->stage))
        return err_set(ERR_USAGE, "no name of a thread has the number of a stage%s%s%s",
                       opts->stage ? " behind '" : ": give the text before it, as stage=TEXT",
                       opts->stage ? opts->stage : "", opts->stage ? "'" : "");
    return 0;
}

const char *peer_by_name(enum peer_by by)
{
    return names[by];
}

/* -------------------------------------------------------------------------------- names */

static int by_name(const void *a, const void *b)
{
    const struct peer_place *p = a, *q = b;
    int node = strcmp(p->node, q->node);

    return p->program != q->program ? order_u32(&p->program, &q->program)
           : node != 0              ? node
           : p->rank != q->rank     ? order_u32(&p->rank, &q->rank)
           : p->stage != q->stage   ? order_u32(&p->stage, &q->stage)
                                    : order_u32(&p->thread, &q->thread);
}

static struct peer_place place_of(const struct location *l, const struct peers_opts *opts)
{
    enum peer_by by = opts->by;
    bool has_rank = by == PEERS_BY_RANK || by == PEERS_BY_THREAD || by == PEERS_BY_WORKER;
    bool has_stage = by == PEERS_BY_STAGE || by == PEERS_BY_THREAD || by == PEERS_BY_WORKER;

    return (struct peer_place){.program =
                                   by == PEERS_BY_NODE || by == PEERS_BY_STAGE ? 0 : l->program,
                               .rank = has_rank ? l->rank : 0,
                               .thread = by == PEERS_BY_THREAD ? l->thread : 0,
                               .stage = has_stage ? peer_stage(l, opts->stage) : NO_STAGE,
                               .node = by == PEERS_BY_NODE ? l->node : "",
                               .slowdown = NAN,
                               .waits_for = PEERS_NONE};
}

char *peer_place_name(const struct peers *peers, uint32_t place, char out[PEER_NAME_SIZE])
{
    const struct peer_place *p = &peers->place[place];
    enum peer_by by = peers->opts.by;
    int n = 0;

    if (by == PEERS_BY_NODE) {
        snprintf(out, PEER_NAME_SIZE, "node %s", p->node[0] ? p->node : "not known");
        return out;
    }
    if (by == PEERS_BY_STAGE) {
        snprintf(out, PEER_NAME_SIZE, p->stage == NO_STAGE ? "no stage" : "stage %u", p->stage);
        return out;
    }
    if (peers->place[peers->n - 1].program > 0 || by == PEERS_BY_PROGRAM)
        n = snprintf(out, PEER_NAME_SIZE, "program %u", p->program);
    if (by != PEERS_BY_PROGRAM)
        n += snprintf(out + n, PEER_NAME_SIZE - (size_t)n, "%srank %u", n > 0 ? " " : "",
                      p->rank);
    if (by == PEERS_BY_WORKER && p->stage != NO_STAGE)
        snprintf(out + n, PEER_NAME_SIZE - (size_t)n, " stage %u", p->stage);
    if (by == PEERS_BY_THREAD)
        snprintf(out + n, PEER_NAME_SIZE - (size_t)n, " thread %u", p->thread);
    return out;
}

/* -------------------------------------------------------------------------------- places */

static void order_trees(struct peers *out, uint32_t n_trees)
{
    uint32_t *next = mem_alloc(out->n, sizeof *next);

    out->tree = mem_alloc(n_trees, sizeof *out->tree);
    out->first_tree = mem_alloc((size_t)out->n + 1, sizeof *out->first_tree);
    for (uint32_t p = 0; p < out->n; p++) {
        next[p] = out->first_tree[p];
        out->first_tree[p + 1] = next[p] + out->place[p].n_executions;
    }
    for (uint32_t t = 0; t < n_trees; t++)
        out->tree[next[out->of[t]]++] = t;
    free(next);
}

void peer_places_find(const struct scoring *scoring, const struct peers_opts *opts,
                      struct peers *out)
{
    const struct forest *forest = &scoring->forest;
    const struct definitions *defs = scoring->defs;
    uint32_t n = 0;

    out->opts = *opts;
    out->place = mem_alloc(defs->n_locations, sizeof *out->place);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        if (t == 0 || forest->location[t] != forest->location[t - 1])
            out->place[n++] = place_of(&defs->location[forest->location[t]], opts);
    qsort(out->place, n, sizeof *out->place, by_name);
    out->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_name(&out->place[i], &out->place[out->n - 1]) != 0)
            out->place[out->n++] = out->place[i];
    out->at = mem_alloc(defs->n_locations, sizeof *out->at);
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        struct peer_place name = place_of(&defs->location[l], opts);
        const struct peer_place *found =
            bsearch(&name, out->place, out->n, sizeof name, by_name);

        out->at[l] = found ? (uint32_t)(found - out->place) : PEERS_NONE;
    }
    out->of = mem_alloc(forest->n_trees, sizeof *out->of);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        out->of[t] = out->at[forest->location[t]];
        out->place[out->of[t]].n_executions++;
    }
    order_trees(out, forest->n_trees);
}

void peer_places_compare(struct peers *peers)
{
    double least = INFINITY;

    for (uint32_t p = 0; p < peers->n; p++)
        least = fmin(least, peers->place[p].own_ns / peers->place[p].n_executions);
    for (uint32_t p = 0; p < peers->n; p++)
        peers->place[p].peers_ns = least * peers->place[p].n_executions;
}

/* --------------------------------------------------------------------------------- lifting */

static int by_excess(const void *a, const void *b)
{
    const struct peer_path *p = a, *q = b;

    return ORDER(q->is_sure, p->is_sure) ?: ORDER(q->excess_ns, p->excess_ns);
}

/* Workers of one stage that do the same differently are said once. */
static void add_path(struct peer_place *place, const struct peer_path *x)
{
    for (uint32_t i = 0; i < place->n_paths; i++) {
        struct peer_path *at = &place->path[i];

        if (at->path != x->path || at->stage != x->stage || at->is_more != x->is_more ||
            at->is_sure != x->is_sure || at->is_part != x->is_part)
            continue;
        at->factor = (at->factor * at->excess_ns + x->factor * x->excess_ns) /
                     (at->excess_ns + x->excess_ns);
        at->share = (at->share * at->excess_ns + x->share * x->excess_ns) /
                    (at->excess_ns + x->excess_ns);
        at->excess_ns += x->excess_ns;
        at->error = fmax(at->error, x->error);
        at->most_factor = fmax(at->most_factor, x->most_factor);
        at->since_ns = x->since_ns < at->since_ns ? x->since_ns : at->since_ns;
        at->is_from_start |= x->is_from_start;
        return;
    }
    peer_place_add(place, x);
}

static void lift(struct peer_place *place, struct peer_place *worker)
{
    for (uint32_t i = 0; i < worker->n_paths; i++) {
        worker->path[i].stage = worker->stage;
        add_path(place, &worker->path[i]);
    }
    if (place->n_paths > 1)
        qsort(place->path, place->n_paths, sizeof *place->path, by_excess);
    place->own_ns += worker->own_ns;
    place->wait_ns += worker->wait_ns;
    place->peers_ns += worker->peers_ns;
    place->slow_ns += worker->slow_ns;
    place->off_ns += worker->off_ns;
    place->more_ns += worker->more_ns;
    place->maybe_ns += worker->maybe_ns;
    place->bytes += worker->bytes;
    if (worker->verdict > place->verdict)
        place->verdict = worker->verdict;
}

void peers_lift(const struct scoring *scoring, struct peers *workers,
                const struct peers_opts *opts, struct peers *out)
{
    const struct definitions *defs = scoring->defs;
    uint32_t *up = mem_alloc(workers->n, sizeof *up);

    *out = (struct peers){.slowdown = NAN, .is_of_streams = workers->is_of_streams};
    out->n_compared = workers->n;
    peer_places_find(scoring, opts, out);
    out->is_waiting = workers->is_waiting;
    out->waited_ns = workers->waited_ns;
    out->is_helper = workers->is_helper;
    workers->is_waiting = NULL;
    workers->waited_ns = NULL;
    workers->is_helper = NULL;
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (workers->at[l] != PEERS_NONE)
            up[workers->at[l]] = out->at[l];
    for (uint32_t w = 0; w < workers->n; w++)
        lift(&out->place[up[w]], &workers->place[w]);
    for (uint32_t w = 0; w < workers->n; w++) {
        uint32_t on = workers->place[w].waits_for;
        struct peer_place *place = &out->place[up[w]];

        if (place->verdict == PEER_WAITS && on != PEERS_NONE && up[on] != up[w])
            place->waits_for = up[on];
    }
    free(up);
}

/* --------------------------------------------------------------------------------- words */

/* " and on 2 others" */
static char *others_there(const struct peer_path *x, char out[40])
{
    snprintf(out, 40, " and on %u other%s", x->n_there - 1, text_plural(x->n_there - 1));
    return out;
}

/* "step > kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s)" */
static void say_path(const struct why *why, const struct peer_path *x, FILE *out)
{
    char name[WHY_NAME_SIZE], excess[TEXT_SIZE], since[TEXT_SIZE], off[TEXT_SIZE], others[40];
    double percent = 100 * (x->factor - 1);

    fprintf(out, "%s ", why_path_name(why, x->path, name));
    if (x->stage != NO_STAGE)
        fprintf(out, "of stage %u ", x->stage);
    if (isinf(x->factor))
        fprintf(out, "only here%s", x->n_there > 1 ? others_there(x, others) : "");
    else
        fprintf(out, "%+.*f %%%s", percent < 10 ? 1 : 0, percent,
                x->is_more ? " more to do" : "");
    if (x->kernel_factor > 0)
        fprintf(out, ", on its %s %s %+.0f %%", x->is_of_thread ? "thread" : "GPU",
                why->defs->region[x->kernel].short_name, 100 * (x->kernel_factor - 1));
    fprintf(out, " (%s", text_duration(x->excess_ns, excess));
    if (x->off_ns > 0)
        fprintf(out, " known to within %s", text_duration(x->off_ns, off));
    if (!x->is_more)
        fprintf(out, ", %.0f %% of its %s %s%s", 100 * x->share,
                x->of_executions ? "executions" : "calls",
                x->is_from_start ? "from the start" : "since ",
                x->is_from_start ? "" : text_duration((double)x->since_ns, since));
    fprintf(out, ")%s", x->is_sure ? "" : " perhaps");
}

void peer_text_paths(const struct why *why, const struct peer_place *place, FILE *out)
{
    for (uint32_t i = 0; i < place->n_paths && i < PEER_TEXT_PATHS; i++) {
        fputs(i > 0 ? ", " : "", out);
        say_path(why, &place->path[i], out);
    }
}
