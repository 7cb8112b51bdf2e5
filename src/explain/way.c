/* The same choice of a clause as that of the sentence (why.c). */
#include "explain/way.h"

#include <math.h>
#include <stdio.h>

static struct way of_structure(const struct why *why, const struct residual_measure *measure)
{
    struct why_child child[WHY_MAX_CHILDREN];
    struct why_order order;
    uint32_t v = measure->rarest;
    uint32_t path = residual_path(why->place, why->forest, forest_tree(why->forest, v), v);

    if (why_order(why, v, &order))
        return (struct way){WAY_ORDER, path};
    if (why_children(why, v, child) == 0)
        return (struct way){WAY_COMBINATION, path};
    return (struct way){child->observed > child->most ? WAY_MORE_CALLS : WAY_FEWER_CALLS,
                        child->region};
}

/* Of which function there are more, or fewer, calls than of any other. */
static struct way of_size(struct why *why, uint32_t t)
{
    const struct residual_model *m = why->model;
    const struct residual_pairs *g = &why->pairs;
    struct way way = {WAY_COMBINATION, PATH_NONE};
    double most = 0;

    residual_pairs_of(&why->pairs, m, why->place, why->forest, t);
    for (uint32_t p = 0; p < m->paths.n; p++) {
        double here = g->stamp[p] == g->generation ? g->pair[g->slot[p]].n_calls : 0;
        double more = here - (double)m->path[p].n_calls / m->n_trees;

        if (m->apart[p] || fabs(more) <= most)
            continue;
        most = fabs(more);
        way = (struct way){more > 0 ? WAY_MORE_CALLS : WAY_FEWER_CALLS, m->paths.region[p]};
    }
    return way;
}

static struct way of_time(struct why *why, uint32_t t, const struct residual_measure *measure)
{
    size_t n = why_sort_pairs(why, t, measure->loss.ns);
    const struct residual_pair *pair = why->pairs.pair;
    const struct region *region;

    if (n == 0)
        return (struct way){measure->loss.more_ns < 0 ? WAY_SHORTER_IN_ALL : WAY_LONGER_IN_ALL,
                            0};
    if (pair->excess_ns < 0 || pair->path == PATH_NONE)
        return (struct way){pair->excess_ns < 0 ? WAY_SHORTER : WAY_LONGER, pair->path};
    region = &why->defs->region[why->model->paths.region[pair->path]];
    return region->kind == REGION_MPI ? (struct way){WAY_WAIT, 0}
           : region->is_barrier       ? (struct way){WAY_BARRIER, 0}
                                      : (struct way){WAY_LONGER, pair->path};
}

struct way way_of(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict)
{
    if (verdict->is_open)
        return (struct way){WAY_OPEN, 0};
    if (residual_is_few(why->model))
        return (struct way){WAY_NONE, 0};
    switch (why_first_clause(verdict)) {
    case WHY_STRUCTURE:
        return of_structure(why, measure);
    case WHY_SIZE_CLAUSE:
        return of_size(why, t);
    case WHY_TIME:
        return of_time(why, t, measure);
    default:
        break;
    }
    return (struct way){WAY_NONE, 0};
}

char *way_say(const struct why *why, struct way way, char out[WAY_SIZE])
{
    static const char *const words[] = {
        [WAY_NONE] = "",
        [WAY_LONGER] = "%s takes longer",
        [WAY_WAIT] = "calls of MPI take longer",
        [WAY_BARRIER] = "barriers of threads take longer",
        [WAY_SHORTER] = "%s takes less",
        [WAY_LONGER_IN_ALL] = "all calls together take longer",
        [WAY_SHORTER_IN_ALL] = "all calls together take less",
        [WAY_MORE_CALLS] = "more calls of %s",
        [WAY_FEWER_CALLS] = "fewer calls of %s",
        [WAY_COMBINATION] = "unusual calls in %s",
        [WAY_ORDER] = "another order of the calls in %s",
        [WAY_OPEN] = "does not end",
    };
    const struct context *paths = &why->model->paths;
    const char *function = NULL;
    char name[WHY_NAME_SIZE];

    if (way.kind == WAY_MORE_CALLS || way.kind == WAY_FEWER_CALLS)
        function = why->defs->region[way.number].short_name;
    else if (way.kind == WAY_LONGER || way.kind == WAY_SHORTER)
        function = why_path_name(why, way.number, name);
    else if (way.kind == WAY_COMBINATION || way.kind == WAY_ORDER)
        function = way.number == PATH_NONE
                       ? "calls never seen there"
                       : why->defs->region[paths->region[way.number]].short_name;
    if (function)
        snprintf(out, WAY_SIZE, words[way.kind], function);
    else
        snprintf(out, WAY_SIZE, "%s", words[way.kind]);
    return out;
}
