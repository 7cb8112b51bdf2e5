/* snag ranks -- who is slow in every execution, who has more to do, and who waits for them. */
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

struct ranks {
    const struct settings *settings;
    struct run run;
    struct scoring scoring;
    struct why why;
    struct peers peers;
    const char *foi;
};

/* ------------------------------------------------------------------------------ sentences */

/* "step > kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s)" */
static void say_path(const struct ranks *r, const struct peer_path *x, FILE *out)
{
    char name[WHY_NAME_SIZE], excess[TEXT_SIZE], since[TEXT_SIZE];
    double percent = 100 * (x->factor - 1);

    fprintf(out, "%s ", why_path_name(&r->why, x->path, name));
    if (isinf(x->factor))
        fprintf(out, "only here");
    else
        fprintf(out, "%+.*f %%%s", percent < 10 ? 1 : 0, percent,
                x->is_more ? " more to do" : "");
    fprintf(out, " (%s", text_duration(x->excess_ns, excess));
    if (!x->is_more)
        fprintf(out, ", %.0f %% of its calls since %s", 100 * x->share,
                text_duration((double)x->since_ns, since));
    fprintf(out, ")%s", x->is_sure ? "" : " perhaps");
}

/* Returns a text to be freed. */
static char *say_place(const struct ranks *r, uint32_t place)
{
    const struct peer_place *p = &r->peers.place[place];
    char name[PEER_NAME_SIZE], time[TEXT_SIZE], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        mem_give_up(1, BUFSIZ);
    for (uint32_t i = 0; i < p->n_paths && i < MOST_PATHS; i++) {
        fputs(i > 0 ? ", " : "", out);
        say_path(r, &p->path[i], out);
    }
    if (p->has_cost)
        fprintf(out, "; costs the run %s", text_duration((double)p->cost_ns, time));
    if (p->verdict == PEER_WAITS && p->waits_for != PEERS_NONE)
        fprintf(out, "%sfor %s", p->n_paths > 0 ? "; " : "",
                peer_place_name(&r->peers, p->waits_for, name));
    fclose(out);
    return text;
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
    char name[PEER_NAME_SIZE], time[TEXT_SIZE], *text = say_place(r, place);
    double all_ns = fmax(p->own_ns + p->wait_ns, 1);

    table_cell(table, "%s", peer_place_name(&r->peers, place, name));
    table_cell(table, "%s", peer_verdict_name(p->verdict));
    table_cell(table, "%s", text_duration(p->own_ns, time));
    table_cell(table, "%.1f %%", 100 * (peer_slowdown(p) - 1));
    table_cell(table, "%.1f %%", 100 * p->wait_ns / all_ns);
    table_cell(table, "%s", text);
    free(text);
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

static int load(struct ranks *r)
{
    const struct settings *s = r->settings;
    enum peer_by by;
    int64_t foi;
    int rc = selection_open(&r->run, s);

    if (rc == 0)
        rc = executions_foi(r->run.db, s->foi.n > 0 ? s->foi.text[0] : NULL, &foi);
    if (rc == 0)
        rc =
            run_scoring_load(&r->scoring, r->run.db, &r->run.columns, &r->run.defs, foi, false);
    if (rc == 0)
        rc = peers_by(s->by, &r->run.defs, &by);
    if (rc < 0)
        return rc;
    r->foi = r->run.defs.region[r->scoring.forest.region[0]].name;
    scoring_why_init(&r->scoring, &r->why);
    return peers_of_run(&r->scoring, &r->run.columns, by, &r->peers);
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
    scoring_release(&r.scoring);
    run_close(&r.run);
    return rc < 0 ? rc : STATUS_DONE;
}
