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
#include "view/ranks_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_TOP 10u
#define MOST_PATHS 3u /* named of a place */
#define TEXT_OF_PLACE 1024

struct ranks {
    const struct settings *settings;
    struct run run;
    struct scoring scoring;
    struct causes causes;
    struct why why;
    struct peers peers;
    const char *foi;
};

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
    char name[PEER_NAME_SIZE], time[TEXT_SIZE];
    size_t n = 0;

    *out = '\0';
    for (uint32_t i = 0; i < p->n_paths && i < MOST_PATHS && n + 300 < TEXT_OF_PLACE; i++) {
        if (i > 0)
            n += (size_t)snprintf(out + n, TEXT_OF_PLACE - n, ", ");
        n += (size_t)say_path(r, &p->path[i], out + n, TEXT_OF_PLACE - n);
    }
    if (p->has_cost)
        n += (size_t)snprintf(out + n, TEXT_OF_PLACE - n, "; costs the run %s",
                              text_duration((double)p->cost_ns, time));
    if (p->verdict == PEER_WAITS && p->waits_for != PEERS_NONE)
        snprintf(out + n, TEXT_OF_PLACE - n, "%sfor %s", n > 0 ? "; " : "",
                 peer_place_name(&r->peers, p->waits_for, name));
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

    table_cell(table, "%s", peer_place_name(&r->peers, place, text));
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
    const char *what = r->peers.by == PEERS_BY_THREAD    ? "thread"
                       : r->peers.by == PEERS_BY_PROGRAM ? "program"
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

/* --------------------------------------------------------------------------------- command */

/* Where the ranks are too few, threads may do. */
static enum peer_by by_of(const char *said, const struct definitions *defs)
{
    if (said == NULL)
        return defs->n_ranks < PEERS_FEWEST && defs->n_locations >= PEERS_FEWEST
                   ? PEERS_BY_THREAD
                   : PEERS_BY_RANK;
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
        rc = executions_foi(r->run.db, s->foi.n > 0 ? s->foi.text[0] : NULL, &foi);
    if (rc == 0)
        rc =
            run_scoring_load(&r->scoring, r->run.db, &r->run.columns, &r->run.defs, foi, false);
    if (rc < 0)
        return rc;
    r->foi = r->run.defs.region[r->scoring.forest.region[0]].name;
    causes_init(&r->causes, &r->run.columns, &r->run.defs);
    scoring_why_init(&r->scoring, &r->why);
    peers_find(&r->scoring, &r->causes.view, by_of(r->settings->by, &r->run.defs), &r->peers);
    return peers_costs(&r->scoring, &r->run.columns, &r->peers);
}

int cmd_ranks(const struct settings *settings)
{
    struct ranks r = {.settings = settings};
    int rc = load(&r);

    if (rc == 0 && settings->is_json)
        print_json(ranks_to_json(&r.scoring, &r.why, &r.peers, 0), true);
    else if (rc == 0)
        print_text(&r);
    peers_release(&r.peers);
    why_release(&r.why);
    causes_release(&r.causes);
    scoring_release(&r.scoring);
    run_close(&r.run);
    return rc < 0 ? rc : STATUS_DONE;
}
