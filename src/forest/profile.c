/*
 * A call is outermost when it begins after the end of the last outermost call of its region:
 * rows are in preorder, so an array of those ends is enough.
 */
#include "forest/profile.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MPI_CALLS_LOOKED_AT 4096u /* enough to know which regions communicate */

void profile_init(struct profile *profile, uint32_t n_regions)
{
    profile->n_regions = n_regions;
    profile->row = mem_alloc(n_regions, sizeof *profile->row);
}

void profile_release(struct profile *profile)
{
    free(profile->row);
    *profile = (struct profile){0};
}

void profile_extend(struct profile *profile, uint32_t n_regions)
{
    uint32_t n_before = profile->n_regions;

    profile->row = mem_resize(profile->row, n_regions, sizeof *profile->row);
    memset(profile->row + n_before, 0, (n_regions - n_before) * sizeof *profile->row);
    profile->n_regions = n_regions;
}

void profile_walk_init(struct profile_walk *walk, uint32_t n_regions)
{
    walk->open_until = mem_alloc(n_regions, sizeof *walk->open_until);
    walk->region_at = mem_alloc(DEEPEST_CALL + 1, sizeof *walk->region_at);
}

void profile_walk_release(struct profile_walk *walk)
{
    free(walk->open_until);
    free(walk->region_at);
    *walk = (struct profile_walk){0};
}

void profile_begin(struct profile *profile, struct profile_walk *walk)
{
    memset(profile->row, 0, profile->n_regions * sizeof *profile->row);
    memset(walk->open_until, 0, profile->n_regions * sizeof *walk->open_until);
}

static inline void add_outermost(struct profile_row *row, uint64_t ns, uint32_t n_vertices)
{
    if (row->n_outermost == 0 || ns < row->min_ns)
        row->min_ns = ns;
    if (ns > row->max_ns)
        row->max_ns = ns;
    row->n_outermost++;
    row->inclusive_ns += ns;
    row->sum_squares += (unsigned __int128)ns * ns;
    row->n_vertices += n_vertices;
}

void profile_rows(struct profile *profile, struct profile_walk *walk, const struct calls *calls,
                  uint32_t begin, uint32_t end)
{
    struct profile_row *row = profile->row;
    uint32_t *open_until = walk->open_until, *region_at = walk->region_at;

    for (uint32_t i = begin; i < end; i++) {
        uint32_t region = calls->region[i], depth = calls->depth[i];
        uint64_t inclusive_ns = calls->inclusive_ns[i];

        row[region].n_calls++;
        row[region].exclusive_ns += inclusive_ns;
        region_at[depth] = region;
        if (depth > 0)
            row[region_at[depth - 1]].exclusive_ns -= inclusive_ns;
        if (i >= open_until[region]) {
            open_until[region] = i + calls->subtree_len[i];
            add_outermost(&row[region], inclusive_ns, calls->subtree_len[i]);
        }
    }
}

/*
 * Marks the callers of the first MPI calls, up to the root, with how long these took: of each
 * region in its outermost call, of each call of MPI the outermost one.
 *
 *     region_at   main  step  step  MPI_Wait      the second step adds nothing to its region
 */
static void mark_mpi(struct profile *profile, struct profile_walk *walk,
                     const struct calls *calls, const struct definitions *defs)
{
    uint32_t *open_until = walk->open_until, *region_at = walk->region_at, n = 0, behind = 0;

    memset(open_until, 0, profile->n_regions * sizeof *open_until);
    for (uint32_t i = 0; i < calls->n && n < MPI_CALLS_LOOKED_AT; i++) {
        uint32_t region = calls->region[i];
        bool is_outermost = i >= open_until[region];

        region_at[calls->depth[i]] = is_outermost ? region : UINT32_MAX;
        if (is_outermost) {
            open_until[region] = i + calls->subtree_len[i];
            profile->row[region].looked_ns += calls->inclusive_ns[i];
        }
        if (defs->region[region].kind != REGION_MPI)
            continue;
        n++;
        for (uint32_t d = 0; d < calls->depth[i]; d++)
            if (region_at[d] != UINT32_MAX) {
                profile->row[region_at[d]].n_with_mpi = 1;
                profile->row[region_at[d]].mpi_ns += i >= behind ? calls->inclusive_ns[i] : 0;
            }
        behind = i >= behind ? i + calls->subtree_len[i] : behind;
    }
}

/*
 * Calls in which a team was forked, and all around them, once each. A thread's forks inside one
 * of its own are a part of that.
 *
 *     main ( step ( solve ( fork ....... ) ) )      all three have had a team for so long
 */
static void add_forks(struct profile *profile, struct profile_walk *walk,
                      const struct calls *calls)
{
    uint32_t *seen_at = walk->open_until, *region_at = walk->region_at, row = 0;
    uint64_t until_ns = 0;

    if (calls->n_spans > 0)
        memset(seen_at, 0, profile->n_regions * sizeof *seen_at);
    for (uint32_t i = 0; i < calls->n_spans; i++) {
        const struct team_span *span = &calls->span[i];

        if (span->kind != SPAN_FORK || span->begin_ns < until_ns || span->call >= calls->n)
            continue;
        until_ns = span->end_ns;
        for (; row <= span->call; row++)
            region_at[calls->depth[row]] = calls->region[row];
        for (uint32_t d = 0; d <= calls->depth[span->call]; d++) {
            if (seen_at[region_at[d]] != i + 1)
                profile->row[region_at[d]].forked_ns += span->end_ns - span->begin_ns;
            seen_at[region_at[d]] = i + 1;
        }
    }
}

void profile_end(struct profile *profile, struct profile_walk *walk, const struct calls *calls,
                 const struct definitions *defs)
{
    for (uint32_t r = 0; r < profile->n_regions; r++)
        if (profile->row[r].n_calls > 0) {
            profile->row[r].n_locations = 1;
            profile->row[r].on_ns = calls->last_ns - calls->first_ns;
        }
    mark_mpi(profile, walk, calls, defs);
    add_forks(profile, walk, calls);
}

void profile_is_stream(struct profile *profile)
{
    for (uint32_t r = 0; r < profile->n_regions; r++)
        profile->row[r].n_streams = profile->row[r].n_locations;
}

void profile_merge(struct profile *into, const struct profile *from)
{
    for (uint32_t r = 0; r < into->n_regions; r++) {
        struct profile_row *a = &into->row[r];
        const struct profile_row *b = &from->row[r];

        if (b->n_calls == 0)
            continue;
        if (a->n_outermost == 0 || b->min_ns < a->min_ns)
            a->min_ns = b->min_ns;
        if (b->max_ns > a->max_ns)
            a->max_ns = b->max_ns;
        a->sum_squares += b->sum_squares;
        a->n_calls += b->n_calls;
        a->n_outermost += b->n_outermost;
        a->inclusive_ns += b->inclusive_ns;
        a->exclusive_ns += b->exclusive_ns;
        a->n_vertices += b->n_vertices;
        a->n_locations += b->n_locations;
        a->n_streams += b->n_streams;
        a->on_ns += b->on_ns;
        a->forked_ns += b->forked_ns;
        a->n_with_mpi += b->n_with_mpi;
        a->looked_ns += b->looked_ns;
        a->mpi_ns += b->mpi_ns;
    }
}

double profile_variation(const struct profile_row *row)
{
    double n = (double)row->n_outermost, mean = (double)row->inclusive_ns / n;
    unsigned __int128 square = (unsigned __int128)row->inclusive_ns * row->inclusive_ns;
    double spread;

    if (row->n_outermost < 2 || row->inclusive_ns == 0)
        return 0;
    spread = (double)row->sum_squares - (double)square / n;
    return spread > 0 ? sqrt(spread / (n - 1)) / mean : 0;
}
