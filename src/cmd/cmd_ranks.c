/*
 * snag ranks -- who is slow again and again, who has more to do, and who waits for them:
 * places against their peers, as a headline and a table that a report shows, too.
 */
#include "cmd/cmd_ranks.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/settings.h"
#include "ranks/peer_few.h"
#include "ranks/peer_places.h"
#include "view/executions.h"
#include "view/results_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* -------------------------------------------------------------------------------- the table */

int rank_table_load(struct rank_table *r, const struct run *run, int64_t foi, const char *by)
{
    struct peers_opts opts;
    int rc;

    *r = (struct rank_table){0};
    rc = run_scoring_load(&r->scoring, run->db, &run->columns, &run->defs, foi, false);
    if (rc == 0)
        rc = peers_by(by, &run->defs, &opts);
    if (rc < 0)
        return rc;
    scoring_why_init(&r->scoring, &r->why);
    return peers_of_run(&r->scoring, &run->columns, &opts, &r->peers);
}

void rank_table_release(struct rank_table *r)
{
    peers_release(&r->peers);
    why_release(&r->why);
    scoring_release(&r->scoring);
}

/* ------------------------------------------------------------------------------ sentences */

/* Returns a text to be freed. */
static char *say_place(const struct rank_table *r, uint32_t place)
{
    const struct peer_place *p = &r->peers.place[place];
    char name[PEER_NAME_SIZE], cost[TEXT_RANGE_SIZE], *text = NULL;
    size_t size;
    FILE *out = text_open(&text, &size);

    peer_text_paths(&r->why, p, out);
    if (p->has_cost)
        fprintf(out, "; costs the run %s",
                text_duration_or_range((double)p->cost_ns, (double)p->cost_least_ns,
                                       (double)p->cost_most_ns, cost));
    if (p->verdict == PEER_WAITS && p->waits_for != PEERS_NONE)
        fprintf(out, "%sfor %s", p->n_paths > 0 ? "; " : "",
                p->waits_for == place ? "its own threads"
                                      : peer_place_name(&r->peers, p->waits_for, name));
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
    double more_p = p->slow_ns + p->more_ns + p->maybe_ns;
    double more_q = q->slow_ns + q->more_ns + q->maybe_ns;

    return ORDER(q->verdict, p->verdict) ?:
           (p->verdict == PEER_WAITS ? ORDER(q->wait_ns, p->wait_ns) : ORDER(more_q, more_p)) ?:
           ORDER(p, q);
}

static void add_row(const struct rank_table *r, uint32_t place, struct table *table)
{
    const struct peer_place *p = &r->peers.place[place];
    char name[PEER_NAME_SIZE], time[TEXT_SIZE], *text = say_place(r, place);
    double all_ns = fmax(p->own_ns + p->wait_ns, 1);

    table_cell(table, "%s", peer_place_name(&r->peers, place, name));
    table_cell(table, "%s", peer_verdict_word(p->verdict));
    table_cell(table, "%s", text_duration(p->own_ns, time));
    table_cell(table, "%.1f %%", 100 * fmax(peer_slowdown(p) - 1, 0));
    table_cell(table, "%.1f %%", 100 * p->wait_ns / all_ns);
    table_cell(table, "%s", text);
    free(text);
}

/* Of its own time in teams; what it waits in these is the others' place, if anybody's. */
static void add_thread(const struct rank_table *r, const struct peer_thread *x,
                       struct table *table)
{
    const struct definitions *defs = r->scoring.defs;
    char name[PEER_NAME_SIZE], time[TEXT_SIZE], cost[TEXT_RANGE_SIZE];
    char *text = peer_teams_text(defs, x);

    table_cell(table, "%s, in teams", peer_teams_place(defs, x, name));
    table_cell(table, "%s", peer_verdict_word(peer_teams_verdict(x)));
    table_cell(table, "%s", text_duration(x->excess_ns / (1 - 1 / x->factor), time));
    table_cell(table, "%.1f %%", 100 * (x->factor - 1));
    table_cell(table, "%s", "");
    if (x->has_cost)
        table_cell(table, "%s; costs the run %s", text,
                   text_duration_or_range((double)x->cost_ns, (double)x->cost_least_ns,
                                          (double)x->cost_ns, cost));
    else
        table_cell(table, "%s", text);
    free(text);
}

char *rank_table_headline(const struct rank_table *r)
{
    uint32_t n[N_PEER_VERDICTS] = {0};
    char count[TEXT_SIZE], *text = NULL;
    const struct scoring *s = &r->scoring;
    size_t size;
    FILE *out = text_open(&text, &size);

    for (uint32_t i = 0; i < r->peers.n; i++)
        n[r->peers.place[i].verdict]++;
    fprintf(out, "%s: %s executions on %u %s%s: ", s->defs->region[s->forest.region[0]].name,
            text_count(s->forest.n_trees, count), r->peers.n, peer_by_name(r->peers.opts.by),
            text_plural(r->peers.n));
    if (r->peers.n < PEER_FEW_MIN_PLACES)
        fprintf(out, "there is only one, which cannot be compared");
    else if (r->peers.n < PEERS_MIN_PLACES && n[PEER_INCONCLUSIVE] == r->peers.n)
        fprintf(out, "too few executions that all %u have in common to compare them",
                r->peers.n);
    else if (n[PEER_TYPICAL] == r->peers.n)
        fprintf(out, "none of them is slow");
    else
        fprintf(out, "%u slow, %u imbalanced, %u inconclusive, %u that wait", n[PEER_SLOW],
                n[PEER_IMBALANCED], n[PEER_INCONCLUSIVE], n[PEER_WAITS]);
    if (r->peers.teams.n_teams > 0)
        fprintf(out, "; of up to %u threads in %s team%s, %s", r->peers.teams.n_threads,
                text_count(r->peers.teams.n_teams, count), text_plural(r->peers.teams.n_teams),
                r->peers.teams.n == 0   ? "none is slower again and again"
                : r->peers.teams.n == 1 ? "one is slower again and again"
                                        : "some are slower again and again");
    fclose(out);
    return text;
}

struct table *rank_table_places(const struct rank_table *r, uint32_t most, uint32_t *n_more)
{
    uint32_t n = r->peers.n, *order = mem_alloc(n, sizeof *order);
    struct table *table =
        table_new("llrrrl", "place", "verdict", "own work", "longer", "waiting", "why");

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_interest, (void *)(uintptr_t)&r->peers);
    for (uint32_t i = 0; i < r->peers.teams.n && i < most; i++)
        add_thread(r, &r->peers.teams.thread[i], table);
    for (uint32_t i = 0; i < n && i < most; i++)
        add_row(r, order[i], table);
    *n_more = n > most ? n - most : 0;
    free(order);
    return table;
}

/* ------------------------------------------------------------------------------ the command */

#define TYPICAL_TOP 10u
#define MAX_OPERATIONS 6u

struct ranks_shown {
    const struct settings *settings;
    struct run run;
    struct rank_table table;
};

static void print_operations(const struct ranks_shown *r)
{
    const struct peers *peers = &r->table.peers;
    uint32_t most = r->settings->is_all ? peers->n_operations : MAX_OPERATIONS;
    struct table *table = table_new("lrr", "operation", "time", "makes the run longer by");
    char time[TEXT_SIZE];

    for (uint32_t i = 0; i < peers->n_operations && i < most; i++) {
        const struct peer_operation *x = &peers->operation[i];

        table_cell(table, "%s", r->run.defs.region[x->region].short_name);
        table_cell(table, "%s", text_duration(x->sum_ns, time));
        table_cell(table, "%.1f %%", 100 * (x->slowdown - 1));
    }
    print("\nif every operation took the typical time of its kind, the replayed run would be "
          "%s%.1f %% shorter (actual / ideal = %.3f)\n\n",
          peers->is_bound ? "at most " : "", 100 * (1 - 1 / peers->slowdown), peers->slowdown);
    table_print(table, stdout);
}

static void print_text(const struct ranks_shown *r)
{
    const struct settings *s = r->settings;
    uint32_t most = s->is_all ? UINT32_MAX : s->top ? s->top : TYPICAL_TOP, n_more;
    struct table *table = rank_table_places(&r->table, most, &n_more);
    char *headline = rank_table_headline(&r->table);

    print("%s\n\n", headline);
    table_print(table, stdout);
    if (n_more > 0)
        print("and %u more\n", n_more);
    if (r->table.peers.n_operations > 0)
        print_operations(r);
    free(headline);
}

static int load(struct ranks_shown *r)
{
    const struct settings *s = r->settings;
    int64_t foi;
    int rc = selection_open(&r->run, s);

    if (rc == 0)
        rc = executions_foi(r->run.db, settings_foi(s), &foi);
    return rc == 0 ? rank_table_load(&r->table, &r->run, foi, s->by) : rc;
}

int cmd_ranks(const struct settings *settings)
{
    struct ranks_shown r = {.settings = settings};
    struct rank_table *table = &r.table;
    int rc = load(&r);

    if (rc == 0 && settings->is_json)
        print_json(ranks_to_json(&table->scoring, &table->why, &table->peers, 0), true);
    else if (rc == 0)
        print_text(&r);
    rank_table_release(table);
    run_close(&r.run);
    return rc < 0 ? rc : STATUS_DONE;
}
