/*
 * Merit is a product of what a suggestion should have, each factor between 0 and 1: a region
 * that lacks one of them altogether is no use, however good it is otherwise.
 */
#include "forest/foi.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_EXECUTIONS 100.0 /* per location, to know what is typical */
#define ENOUGH_CALLS_INSIDE 10.0
#define MAX_NEAR 5
#define OTHER_SHARE 10 /* per cent between two shares of the time that are worth saying */
#define LOOP "loop"    /* as a pattern; and what names of loops begin with */

/* -------------------------------------------------------------------------- matching */

enum tier {
    TIER_EXACT,
    TIER_SHORT,
    TIER_IDENTITY,
    TIER_BRIEF,
    TIER_LAST,
    TIER_PART,
    N_TIERS = FOI_NO_MATCH
};

/* The name of a function in another build. One of a call site may be another one by now. */
static bool is_same(const struct region *region, const char *pattern)
{
    struct arena arena = {0};
    bool is = pattern[region_name_plain(pattern)] == '\0' &&
              strcmp(region->identity, region_name_identity(pattern, &arena)) == 0;

    arena_release(&arena);
    return is;
}

static bool matches(const struct region *region, const char *pattern, enum tier tier)
{
    switch (tier) {
    case TIER_EXACT:
        return strcmp(region->name, pattern) == 0;
    case TIER_SHORT:
        return strcmp(region->short_name, pattern) == 0;
    case TIER_IDENTITY:
        return is_same(region, pattern);
    case TIER_BRIEF:
        return strcmp(region->brief, pattern) == 0;
    case TIER_LAST:
        return strcmp(region_name_last(region->brief), pattern) == 0;
    default:
        return strstr(region->name, pattern) != NULL;
    }
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct profile *profile = arg;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    uint64_t x = profile->row[p].inclusive_ns, y = profile->row[q].inclusive_ns;

    return ORDER(y, x) ?: ORDER(p, q);
}

/* A loop is only meant by who says so. */
static bool is_meant(const struct region *region, const char *pattern)
{
    return region->kind != REGION_LOOP || strstr(pattern, LOOP) != NULL;
}

bool foi_is_loop(const char *pattern)
{
    return strcmp(pattern, LOOP) == 0 || strncmp(pattern, LOOP "@", strlen(LOOP "@")) == 0;
}

/* LOOP alone is the best one, which is the first. */
static size_t match_best_loop(const char *pattern, const struct definitions *defs,
                              const struct profile *profile, uint32_t *found)
{
    for (uint32_t r = 0; strcmp(pattern, LOOP) == 0 && r < profile->n_regions; r++)
        if (profile->row[r].n_calls > 0 && defs->region[r].kind == REGION_LOOP) {
            *found = r;
            return 1;
        }
    return 0;
}

/* All called regions of the best tier that has any. */
static size_t match_plain(const char *pattern, const struct definitions *defs,
                          const struct profile *profile, uint32_t *found)
{
    size_t n = 0;

    for (enum tier tier = TIER_EXACT; tier < N_TIERS && n == 0; tier++) {
        if (tier == TIER_PART && (n = match_best_loop(pattern, defs, profile, found)) > 0)
            break;
        for (uint32_t r = 0; r < profile->n_regions; r++)
            if (profile->row[r].n_calls > 0 && is_meant(&defs->region[r], pattern) &&
                matches(&defs->region[r], pattern, tier))
                found[n++] = r;
    }
    return n;
}

static bool is_regex(const char *pattern)
{
    size_t length = strlen(pattern);

    return length > 2 && pattern[0] == '/' && pattern[length - 1] == '/';
}

static int match_regex(const char *pattern, const struct definitions *defs,
                       const struct profile *profile, uint32_t *found, size_t *n)
{
    size_t length = strlen(pattern);
    char *text = mem_copy_string(pattern + 1), why[200];
    regex_t regex;
    int status;

    text[length - 2] = '\0';
    status = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    free(text);
    if (status != 0) {
        regerror(status, &regex, why, sizeof why);
        return err_set(ERR_USAGE, "bad regular expression '%s': %s", pattern, why);
    }
    for (uint32_t r = 0; r < profile->n_regions; r++)
        if (profile->row[r].n_calls > 0 && is_meant(&defs->region[r], pattern) &&
            (regexec(&regex, defs->region[r].name, 0, NULL, 0) == 0 ||
             regexec(&regex, defs->region[r].short_name, 0, NULL, 0) == 0))
            found[(*n)++] = r;
    regfree(&regex);
    return 0;
}

/* Names a person may have meant: by distance, then by time. */
static int complain_not_found(const char *pattern, const struct definitions *defs,
                              const struct profile *profile)
{
    size_t most = strlen(pattern) / 2 + 2, n_near = 0, n = 0;
    char text[1024] = "";

    for (size_t distance = 0; distance <= most && n_near < MAX_NEAR; distance++)
        for (uint32_t r = 0; r < profile->n_regions && n_near < MAX_NEAR; r++) {
            const char *name = defs->region[r].short_name;
            size_t d = text_distance(name, pattern, most);
            size_t e = text_distance(region_name_last(name), pattern, most);

            if (profile->row[r].n_calls == 0 || (d < e ? d : e) != distance)
                continue;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%.120s", n_near ? ", " : "",
                                  name);
            n_near++;
        }
    if (strcmp(pattern, LOOP) == 0)
        return err_set(ERR_NOT_FOUND, "no loop was found, nor a function that 'loop' matches");
    for (size_t i = 0; i < defs->n_left_out; i++)
        if (matches(&defs->region[defs->left_out[i].region], pattern, TIER_EXACT))
            return err_set(ERR_NOT_FOUND,
                           "the tracer stopped recording '%s', because it was called too often "
                           "(snag record --overhead)",
                           pattern);
    if (n_near == 0)
        return err_set(ERR_NOT_FOUND, "no function matches '%s' ('snag info' lists them)",
                       pattern);
    return err_set(ERR_NOT_FOUND, "no function matches '%s'; near: %s", pattern, text);
}

int foi_match(const char *pattern, const struct definitions *defs,
              const struct profile *profile, uint32_t *region, size_t *n)
{
    uint32_t *found = mem_alloc(profile->n_regions, sizeof *found);
    int rc = 0;

    *n = 0;
    if (is_regex(pattern))
        rc = match_regex(pattern, defs, profile, found, n);
    else if (*pattern != '\0')
        *n = match_plain(pattern, defs, profile, found);
    qsort_r(found, *n, sizeof *found, by_time, (void *)(uintptr_t)profile);
    if (rc == 0 && *n == 0)
        rc = complain_not_found(pattern, defs, profile);
    else if (rc == 0 && *n > MAX_FOIS)
        rc = err_set(ERR_USAGE,
                     "'%s' matches %zu functions (%s, %s, ...): give a longer part of the name",
                     pattern, *n, defs->region[found[0]].short_name,
                     defs->region[found[1]].short_name);
    if (rc == 0)
        memcpy(region, found, *n * sizeof *region);
    free(found);
    return rc;
}

int foi_tier(const char *pattern, const struct definitions *defs, const struct profile *profile)
{
    uint32_t n = profile ? profile->n_regions : defs->names.n;

    if (is_regex(pattern))
        return 0;
    for (enum tier tier = TIER_EXACT; tier < N_TIERS; tier++)
        for (uint32_t r = 0; r < n; r++)
            if ((profile == NULL || profile->row[r].n_calls > 0) &&
                matches(&defs->region[r], pattern, tier))
                return (int)tier;
    return FOI_NO_MATCH;
}

/* ------------------------------------------------------------------------ suggesting */

/* 0 for one execution per location, 1 for enough of them; less by the share of the time that the
 * longest takes on each: where commands are read from a file, one of forty is the whole run. */
static double repetition(const struct profile_row *row)
{
    double each = (double)row->n_outermost / (double)row->n_locations;
    double merit = log(each) / log(ENOUGH_EXECUTIONS);
    double longest = (double)row->max_ns * (double)row->n_locations;
    double others = row->inclusive_ns ? 1 - fmin(longest / (double)row->inclusive_ns, 1) : 1;

    return fmin(merit, 1) * others;
}

/* 0.2 for a call without calls inside, 1 for enough of them. */
static double structure(const struct profile_row *row)
{
    double inside = (double)row->n_vertices / (double)row->n_outermost;
    double merit = 0.2 + 0.8 * log(inside) / log(ENOUGH_CALLS_INSIDE);

    return merit > 1 ? 1 : merit;
}

/* How much of the time of all locations it takes. */
static double share_of_all(const struct profile_row *row, uint64_t total_ns)
{
    double share = total_ns ? (double)row->inclusive_ns / (double)total_ns : 0;

    return share > 1 ? 1 : share;
}

/* The same, with what other threads did in teams that it had. */
static double share_with_teams(const struct profile_row *row, double team_ratio,
                               uint64_t total_ns)
{
    double of_teams = team_ratio * (double)row->forked_ns;
    double share = total_ns ? ((double)row->inclusive_ns + of_teams) / (double)total_ns : 0;

    return share > 1 ? 1 : share;
}

/* How much of the time of those it is called on. */
static double share_of_its_own(const struct profile_row *row, uint64_t total_ns)
{
    return share_of_all(row, row->on_ns && row->on_ns < total_ns ? row->on_ns : total_ns);
}

/* A function says more than the loop that it is called in, */
#define WORTH_OF_LOOP 0.3
/* unless much of an iteration is not in it: functions were only seen where they communicate, or
 * an iteration calls several, none of which has MIN_OF_LOOP of its time. */
#define WORTH_OF_LONE_LOOP 0.8
#define MIN_OF_LOOP 0.4

static double worth_of_loops(const struct definitions *defs)
{
    for (uint32_t i = 0; i < defs->names.n; i++)
        if (defs->region[i].is_sampled)
            return WORTH_OF_LONE_LOOP;
    return WORTH_OF_LOOP;
}

/* What merits are relative to: of the whole trace. */
struct scale {
    uint64_t total_ns;
    double team_ratio; /* as in struct profile */
    uint32_t n_locations;
    double worth[REGION_LOOP + 1]; /* by kind of region */
    double mpi_share;              /* of the time, in MPI */
};

/* 1 for what never is in MPI, half for what is nowhere else: who only waits says little of the
 * run. Of loops it is not known, and taken to be as in all of the run. */
static double work(const struct profile_row *row, const struct scale *scale)
{
    double share =
        row->looked_ns ? (double)row->mpi_ns / (double)row->looked_ns : scale->mpi_share;

    return 1 - 0.5 * fmin(share, 1);
}

static struct scale scale_of(const struct definitions *defs, const struct profile *profile,
                             uint64_t total_ns)
{
    struct scale scale = {.total_ns = total_ns,
                          .team_ratio = profile->team_ratio,
                          .n_locations = 1,
                          .worth = {[REGION_USER] = 1,
                                    [REGION_MPI] = 0.05,
                                    [REGION_OPENMP] = 0.2,
                                    [REGION_RUNTIME] = 0.01,
                                    [REGION_DEVICE] = 0.05,
                                    [REGION_LOOP] = worth_of_loops(defs)}};

    for (uint32_t r = 0; r < profile->n_regions; r++) {
        if (profile->row[r].n_locations > scale.n_locations)
            scale.n_locations = profile->row[r].n_locations;
        if (defs->region[r].kind == REGION_MPI && total_ns > 0)
            scale.mpi_share += (double)profile->row[r].exclusive_ns / (double)total_ns;
    }
    return scale;
}

static double merit_of(const struct profile_row *row, const struct region *region,
                       const struct scale *scale)
{
    double coverage = sqrt(share_with_teams(row, scale->team_ratio, scale->total_ns) *
                           share_of_its_own(row, scale->total_ns));
    double everywhere = (double)row->n_locations / (double)scale->n_locations;
    bool is_numbered = region->is_step && row->n_outermost > 1;
    double repeated = is_numbered ? 1 : repetition(row);

    /* the small terms order what has no merit, so that something can always be suggested */
    return scale->worth[region->kind] *
           (coverage * repeated * structure(row) * work(row, scale) * (0.5 + 0.5 * everywhere) +
            1e-9 * repetition(row) + 1e-12);
}

static void explain(char why[FOI_WHY_SIZE], const struct profile_row *row, double team_ratio,
                    enum region_kind kind, uint64_t total_ns)
{
    char n[TEXT_SIZE], typical[TEXT_SIZE], longest[TEXT_SIZE], own[64] = "", teams[64] = "";
    double all_share = 100 * share_of_all(row, total_ns);
    double team_share = 100 * share_with_teams(row, team_ratio, total_ns);
    double own_share = 100 * share_of_its_own(row, total_ns);
    double inside = (double)row->n_vertices / (double)row->n_outermost;
    double mean = (double)row->inclusive_ns / (double)row->n_outermost;

    if (own_share - all_share >= OTHER_SHARE)
        snprintf(own, sizeof own, " (%.0f %% of that of %s)", own_share,
                 row->n_locations == 1 ? "this location" : "these locations");
    if (team_share - all_share >= OTHER_SHARE)
        snprintf(teams, sizeof teams, ", %.0f %% with their teams of threads", team_share);
    snprintf(
        why, FOI_WHY_SIZE,
        "%s execution%s on %u location%s, %.0f %% of the time%s%s, %s each (up to %s), %.0f "
        "call%s inside%s%s",
        text_count(row->n_outermost, n), row->n_outermost == 1 ? "" : "s", row->n_locations,
        row->n_locations == 1 ? "" : "s", all_share, own, teams, text_duration(mean, typical),
        text_duration((double)row->max_ns, longest), inside - 1,
        fabs(inside - 2) < 0.5 ? "" : "s", row->n_with_mpi > 0 ? ", with communication" : "",
        kind == REGION_RUNTIME ? "; of the system or the tracer, not of the program" : "");
}

static int by_merit(const void *a, const void *b)
{
    const struct foi_suggestion *p = a, *q = b;

    return ORDER(q->merit, p->merit) ?: ORDER(p->region, q->region);
}

/* Loops are worth more where the best function has little of their time. */
static void raise_loops(const struct definitions *defs, const struct profile *profile,
                        double worth, struct foi_suggestion *all, size_t n)
{
    const struct foi_suggestion *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (defs->region[all[i].region].kind == REGION_USER &&
            (best == NULL || all[i].merit > best->merit))
            best = &all[i];
    for (size_t i = 0; i < n; i++)
        if (defs->region[all[i].region].kind == REGION_LOOP &&
            (best == NULL ||
             (double)profile->row[best->region].inclusive_ns <
                 MIN_OF_LOOP * (double)profile->row[all[i].region].inclusive_ns))
            all[i].merit *= WORTH_OF_LONE_LOOP / worth;
}

size_t foi_suggest(const struct definitions *defs, const struct profile *profile,
                   uint64_t total_ns, struct foi_suggestion *out, size_t most)
{
    struct foi_suggestion *all = mem_alloc(profile->n_regions, sizeof *all);
    struct scale scale = scale_of(defs, profile, total_ns);
    double most_merit = 1;
    size_t n = 0;

    for (uint32_t r = 0; r < profile->n_regions; r++)
        if (profile->row[r].n_calls > 0 && defs->region[r].kind != REGION_TRACER)
            all[n++] = (struct foi_suggestion){
                .region = r, .merit = merit_of(&profile->row[r], &defs->region[r], &scale)};
    raise_loops(defs, profile, scale.worth[REGION_LOOP], all, n);
    /* loops come best first: none has more merit than the one before */
    for (size_t i = 0; i < n; i++)
        if (defs->region[all[i].region].kind == REGION_LOOP) {
            most_merit = fmin(all[i].merit, 0.99 * most_merit);
            all[i].merit = most_merit;
        }
    qsort(all, n, sizeof *all, by_merit);
    n = n < most ? n : most;
    for (size_t i = 0; i < n; i++) {
        explain(all[i].why, &profile->row[all[i].region], profile->team_ratio,
                defs->region[all[i].region].kind, total_ns);
        out[i] = all[i];
    }
    free(all);
    return n;
}
