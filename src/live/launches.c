#include "live/launches.h"

#include "base/mem.h"

#include <stdlib.h>

void launches_release(struct launches *launches)
{
    free(launches->launch);
    *launches = (struct launches){0};
}

/* Numbers of one process follow each other: so they do in the table. */
static size_t place_of(uint32_t group, int64_t correlation)
{
    return ((uint64_t)correlation + group * 0x9e3779b97f4a7c15ull) % LAUNCHES_KEPT;
}

void launches_add(struct launches *launches, const struct histories *h,
                  const struct ad_step *step, uint32_t location, uint32_t row,
                  int64_t correlation)
{
    uint32_t group = h->of[location].group;
    struct launch *launch;

    if (launches->launch == NULL)
        launches->launch = mem_alloc(LAUNCHES_KEPT, sizeof *launches->launch);
    launch = &launches->launch[place_of(group, correlation)];
    launch->correlation = correlation;
    launch->group = group;
    launch->thread = step->defs->location[location].thread;
    launch->n_stack = 0;
    for (; row != NO_CALL && launch->n_stack < LAUNCHES_DEPTH;
         row = step->calls[location].caller[row])
        history_call(h, step, location, row, &launch->stack[launch->n_stack++]);
}

const struct launch *launches_find(const struct launches *launches, uint32_t group,
                                   int64_t correlation)
{
    const struct launch *launch;

    if (launches->launch == NULL)
        return NULL;
    launch = &launches->launch[place_of(group, correlation)];
    return launch->n_stack > 0 && launch->group == group && launch->correlation == correlation
               ? launch
               : NULL;
}
