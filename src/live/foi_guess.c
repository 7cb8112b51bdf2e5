#include "live/foi_guess.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SUGGESTED 8u

void foi_guess_release(struct foi_guess *g)
{
    for (uint32_t l = 0; l < g->n_locations; l++)
        free(g->begun[l]);
    free(g->begun);
    free(g->n_begun);
    free(g->profile.row);
    *g = (struct foi_guess){0};
}

static void follow(struct foi_guess *g, const struct ad_step *step)
{
    uint32_t n = step->defs->names.n;

    mem_grow(&g->profile.row, &g->row_cap, n, sizeof *g->profile.row);
    for (; g->profile.n_regions < n; g->profile.n_regions++)
        g->profile.row[g->profile.n_regions] = (struct profile_row){.min_ns = UINT64_MAX};
    mem_grow(&g->begun, &g->location_cap, step->n_locations, sizeof *g->begun);
    mem_grow(&g->n_begun, &g->count_cap, step->n_locations, sizeof *g->n_begun);
    for (; g->n_locations < step->n_locations; g->n_locations++) {
        g->begun[g->n_locations] = NULL;
        g->n_begun[g->n_locations] = 0;
    }
    for (uint32_t l = 0; l < g->n_locations; l++) {
        g->begun[l] = mem_resize(g->begun[l], n, sizeof *g->begun[l]);
        memset(g->begun[l] + g->n_begun[l], 0, (n - g->n_begun[l]) * sizeof *g->begun[l]);
        g->n_begun[l] = n;
    }
}

static bool is_outermost(const struct calls *c, uint32_t row)
{
    for (uint32_t p = c->caller[row]; p != NO_CALL; p = c->caller[p])
        if (c->region[p] == c->region[row])
            return false;
    return true;
}

/* Of a call that began in an earlier step it is not known how much is inside. */
static void add_calls(struct foi_guess *g, uint32_t location, const struct calls *c)
{
    for (uint32_t row = 0; row < c->n; row++) {
        struct profile_row *p = &g->profile.row[c->region[row]];
        uint64_t ns = c->inclusive_ns[row];

        if ((ns == CALL_OPEN && row < c->n_carried) || !is_outermost(c, row))
            continue;
        g->begun[location][c->region[row]] += row >= c->n_carried;
        if (ns == CALL_OPEN)
            continue;
        p->n_calls++;
        p->n_outermost++;
        p->inclusive_ns += ns;
        p->min_ns = ns < p->min_ns ? ns : p->min_ns;
        p->max_ns = ns > p->max_ns ? ns : p->max_ns;
        p->n_vertices += c->subtree_len[row];
    }
}

uint32_t foi_guess_begun(const struct foi_guess *g, uint32_t location, uint32_t region)
{
    return location < g->n_locations && region < g->n_begun[location]
               ? g->begun[location][region]
               : 0;
}

static uint32_t count_locations(const struct foi_guess *g, uint32_t region)
{
    uint32_t n = 0;

    for (uint32_t l = 0; l < g->n_locations; l++)
        n += g->begun[l][region] > 0;
    return n;
}

/* The best one that is a function of the program and often enough executed. */
static uint32_t best_of(struct foi_guess *g, const struct ad_step *step, char why[FOI_WHY_SIZE])
{
    struct foi_suggestion found[MAX_SUGGESTED];
    uint64_t ns = step->end_ns - g->begin_ns;
    size_t n;

    for (uint32_t r = 0; r < g->profile.n_regions; r++) {
        g->profile.row[r].n_locations = count_locations(g, r);
        g->profile.row[r].on_ns = g->profile.row[r].n_locations * ns;
    }
    n = foi_suggest(step->defs, &g->profile, g->n_locations * ns, found, MAX_SUGGESTED);
    for (size_t i = 0; i < n; i++) {
        const struct profile_row *row = &g->profile.row[found[i].region];

        if (step->defs->region[found[i].region].kind != REGION_USER)
            continue;
        if (row->n_outermost < (uint64_t)FOI_GUESS_MIN_EXECUTIONS * row->n_locations)
            return NAMES_NONE;
        memcpy(why, found[i].why, FOI_WHY_SIZE);
        return found[i].region;
    }
    return NAMES_NONE;
}

uint32_t foi_guess_add(struct foi_guess *g, const struct ad_step *step, char why[FOI_WHY_SIZE])
{
    uint32_t best, last = g->last;

    if (!g->has_begun) {
        g->begin_ns = step->begin_ns;
        g->has_begun = true;
        last = NAMES_NONE;
    }
    follow(g, step);
    for (uint32_t l = 0; l < step->n_locations; l++)
        add_calls(g, l, &step->calls[l]);
    best = best_of(g, step, why);
    g->last = best;
    return best == last && step->end_ns - g->begin_ns >= FOI_GUESS_MIN_NS ? best : NAMES_NONE;
}
