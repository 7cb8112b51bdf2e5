/* snag ranks -- who is slow in every execution, who has more to do, and who waits for them. */
#include "analysis/causes.h"
#include "analysis/peers.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/selection.h"
#include "cmd/status.h"
#include "explain/why.h"
#include "view/executions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_TOP 10u
#define MOST_PATHS 3u /* named of a place */
#define PLACE_SIZE 64
#define TEXT_OF_PLACE 1024

struct ranks {
    const struct settings *settings;
    struct run run;
    struct scoring scoring;
    struct causes causes;
    struct why why;
    struct peers peers;
    enum peer_by by;
    const char *foi;
};

static char *place_name(const struct ranks *r, uint32_t place, char out[PLACE_SIZE])
{
    const struct peer_place *p = &r->peers.place[place];
    char program[24] = "";

    if (r->by == PEERS_BY_PROGRAM)
        snprintf(out, PLACE_SIZE, "program %u", p->program);
    if (r->by == PEERS_BY_PROGRAM)
        return out;
    if (r->peers.place[r->peers.n - 1].program > 0)
        snprintf(program, sizeof program, "program %u ", p->program);
    if (r->by == PEERS_BY_THREAD)
        snprintf(out, PLACE_SIZE, "%srank %u thread %u", program, p->rank, p->thread);
    else
        snprintf(out, PLACE_SIZE, "%srank %u", program, p->rank);
    return out;
}

/* ------------------------------------------------------------------------------ sentences */

/* "kernel 5.1 % longer, in 98 % of its calls, since 1.2 s" */
static int say_path(const struct ranks *r, const struct peer_path *x, char *out, size_t size)
{
    char name[WHY_NAME_SIZE], excess[TEXT_SIZE], since[TEXT_SIZE];
    double percent = 100 * (x->factor - 1);
    int n = snprintf(out, size, "%s ", why_path_name(&r->why, x->path, name));

    if (isinf(x->factor))
        n += snprintf(out + n, size - (size_t)n, "only here");
    else
        n += snprintf(out + n, size - (size_t)n, "%+.*f %%%s", percent < 10 ? 1 : 0, percent,
                      x->is_more ? " more to do" : "");
    n += snprintf(out + n, size - (size_t)n, " (%s", text_duration(x->excess_ns, excess));
    if (!x->is_more)
        n += snprintf(out + n, size - (size_t)n, ", %.0f %% of its calls since %s",
                      100 * x->share, text_duration((double)x->since_ns, since));
    return n + snprintf(out + n, size - (size_t)n, ")%s", x->is_sure ? "" : " perhaps");
}

static const char *say_place(const struct ranks *r, uint32_t place, char out[TEXT_OF_PLACE])
{
    const struct peer_place *p = &r->peers.place[place];
    char name[PLACE_SIZE];
    size_t n = 0;

    *out = '\0';
    for (uint32_t i = 0; i < p->n_paths && i < MOST_PATHS && n + 300 < TEXT_OF_PLACE; i++) {
        if (i > 0)
            n += (size_t)snprintf(out + n, TEXT_OF_PLACE - n, ", ");
        n += (size_t)say_path(r, &p->path[i], out + n, TEXT_OF_PLACE - n);
    }
    if (p->verdict == PEER_WAITS && p->waits_for != PEERS_NONE)
        snprintf(out + n, TEXT_OF_PLACE - n, "%sfor %s", n > 0 ? "; " : "",
                 place_name(r, p->waits_for, name));
    return out;
}

/* -------------------------------------------------------------------------------- the list */

/* Those to blame first, by what they lose; then those that wait, the longest first. */
static int by_interest(const void *a, const void *b, void *ctx)
{
    const struct peers *peers = ctx;
    const struct peer_place *p = &peers->place[*(const uint32_t *)a];
    const struct peer_place *q = &peers->place[*(const uint32_t *)b];
    static const int order[] = {[PEER_SLOW] = 0,
                                [PEER_IMBALANCED] = 1,
                                [PEER_UNSURE] = 2,
                                [PEER_WAITS] = 3,
                                [PEER_USUAL] = 4};
    double more_p = p->slow_ns + p->more_ns + p->maybe_ns;
    double more_q = q->slow_ns + q->more_ns + q->maybe_ns;

    if (order[p->verdict] != order[q->verdict])
        return order[p->verdict] - order[q->verdict];
    if (p->verdict == PEER_WAITS && p->wait_ns != q->wait_ns)
        return p->wait_ns < q->wait_ns ? 1 : -1;
    if (p->verdict != PEER_WAITS && more_p != more_q)
        return more_p < more_q ? 1 : -1;
    return p < q ? -1 : p > q;
}

static void print_row(const struct ranks *r, uint32_t place, struct table *table)
{
    const struct peer_place *p = &r->peers.place[place];
    char text[TEXT_OF_PLACE], time[TEXT_SIZE];
    double all_ns = fmax(p->own_ns + p->wait_ns, 1);

    table_cell(table, "%s", place_name(r, place, text));
    table_cell(table, "%s", peer_verdict_name(p->verdict));
    table_cell(table, "%s", text_duration(p->own_ns, time));
    table_cell(table, "%.1f %%", 100 * (peer_slowdown(p) - 1));
    table_cell(table, "%.1f %%", 100 * p->wait_ns / all_ns);
    table_cell(table, "%s", say_place(r, place, text));
}

static void print_headline(const struct ranks *r)
{
    uint32_t n[5] = {0};
    char count[TEXT_SIZE];
    const char *what = r->by == PEERS_BY_THREAD    ? "thread"
                       : r->by == PEERS_BY_PROGRAM ? "program"
                                                   : "rank";

    for (uint32_t i = 0; i < r->peers.n; i++)
        n[r->peers.place[i].verdict]++;
    print("%s: %s executions on %u %s%s: ", r->foi,
          text_count(r->scoring.forest.n_trees, count), r->peers.n, what,
          text_plural(r->peers.n));
    if (r->peers.n < PEERS_FEWEST) {
        print("too few to compare them, it takes %u\n", PEERS_FEWEST);
        return;
    }
    if (n[PEER_USUAL] == r->peers.n)
        print("none of them is slow\n");
    else
        print("%u slow, %u imbalanced, %u unsure, %u that wait\n", n[PEER_SLOW],
              n[PEER_IMBALANCED], n[PEER_UNSURE], n[PEER_WAITS]);
}

static void print_text(const struct ranks *r)
{
    uint32_t n = r->peers.n, *order = mem_alloc(n, sizeof *order);
    uint32_t most = r->settings->is_all ? n : r->settings->top ? r->settings->top : USUAL_TOP;
    struct table *table =
        table_new("llrrrl", "place", "verdict", "own work", "slower", "waiting", "why");

    print_headline(r);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_interest, (void *)(uintptr_t)&r->peers);
    for (uint32_t i = 0; i < n && i < most; i++)
        print_row(r, order[i], table);
    print("\n");
    table_print(table, stdout);
    if (n > most)
        print("and %u more\n", n - most);
    free(order);
}

/* ------------------------------------------------------------------------------------ JSON */

static json_t *path_json(const struct ranks *r, const struct peer_path *x)
{
    char name[WHY_NAME_SIZE];
    json_t *json = json_object();

    json_object_set_new(json, "path", json_text(why_path_name(&r->why, x->path, name)));
    json_object_set_new(json, "kind", json_text(x->is_more ? "more to do" : "slower"));
    json_object_set_new(json, "factor",
                        isinf(x->factor) ? json_null() : json_number(x->factor));
    json_object_set_new(json, "excess_ns", json_count((uint64_t)llrint(x->excess_ns)));
    json_object_set_new(json, "share", json_number(x->share));
    json_object_set_new(json, "since_ns", json_count(x->since_ns));
    json_object_set_new(json, "is_sure", json_boolean(x->is_sure));
    return json;
}

static json_t *place_json(const struct ranks *r, uint32_t place)
{
    const struct peer_place *p = &r->peers.place[place];
    json_t *json = json_object(), *paths = json_array();
    char name[PLACE_SIZE];

    for (uint32_t i = 0; i < p->n_paths; i++)
        json_array_append_new(paths, path_json(r, &p->path[i]));
    json_object_set_new(json, "place", json_text(place_name(r, place, name)));
    json_object_set_new(json, "program", json_count(p->program));
    json_object_set_new(json, "rank", json_count(p->rank));
    json_object_set_new(json, "thread", json_count(p->thread));
    json_object_set_new(json, "verdict", json_text(peer_verdict_name(p->verdict)));
    json_object_set_new(json, "executions", json_count(p->n_executions));
    json_object_set_new(json, "own_ns", json_count((uint64_t)llrint(p->own_ns)));
    json_object_set_new(json, "wait_ns", json_count((uint64_t)llrint(p->wait_ns)));
    json_object_set_new(json, "slowdown", json_number(peer_slowdown(p)));
    json_object_set_new(json, "paths", paths);
    json_object_set_new(json, "waits_for",
                        p->waits_for == PEERS_NONE
                            ? json_null()
                            : json_text(place_name(r, p->waits_for, name)));
    return json;
}

static void print_as_json(const struct ranks *r)
{
    json_t *json = json_object(), *places = json_array();

    for (uint32_t i = 0; i < r->peers.n; i++)
        json_array_append_new(places, place_json(r, i));
    json_object_set_new(json, "foi", json_text(r->foi));
    json_object_set_new(json, "places", places);
    print_json(json, true);
}

/* --------------------------------------------------------------------------------- command */

static enum peer_by by_of(const char *said)
{
    return strcmp(said, "thread") == 0    ? PEERS_BY_THREAD
           : strcmp(said, "program") == 0 ? PEERS_BY_PROGRAM
                                          : PEERS_BY_RANK;
}

static int load(struct ranks *r)
{
    const struct settings *s = r->settings;
    int64_t foi;
    int rc = selection_open(&r->run, s);

    if (rc == 0)
        rc = executions_foi(r->run.db, s->n_foi > 0 ? s->foi[0] : NULL, &foi);
    if (rc == 0)
        rc =
            run_scoring_load(&r->scoring, r->run.db, &r->run.columns, &r->run.defs, foi, false);
    if (rc < 0)
        return rc;
    r->foi = r->run.defs.region[r->scoring.forest.region[0]].name;
    causes_init(&r->causes, &r->run.columns, &r->run.defs);
    scoring_why_init(&r->scoring, &r->why);
    peers_find(&r->scoring, &r->causes.view, r->by, &r->peers);
    return 0;
}

int cmd_ranks(const struct settings *settings)
{
    struct ranks r = {.settings = settings, .by = by_of(settings->by)};
    int rc = load(&r);

    if (rc == 0 && settings->is_json)
        print_as_json(&r);
    else if (rc == 0)
        print_text(&r);
    peers_release(&r.peers);
    why_release(&r.why);
    causes_release(&r.causes);
    scoring_release(&r.scoring);
    run_close(&r.run);
    return rc < 0 ? rc : STATUS_DONE;
}
