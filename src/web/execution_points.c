#include "web/execution_points.h"

static void add(struct live_state *state, const struct definitions *defs,
                const struct live_foi *foi, uint32_t t)
{
    const struct forest *forest = &foi->trees.forest;
    const struct location *location = &defs->location[forest->location[t]];
    const struct tree_verdict *verdict = &foi->verdict[t];
    uint64_t n = foi->trees.n_calls[t];
    struct live_point point = {.enter_ns = forest->enter_ns[t],
                               .inclusive_ns = forest->root_ns[t],
                               .exclusive_ns = forest->exclusive_ns[forest->first[t]],
                               .rank = location->rank,
                               .program = location->program,
                               .thread = location->thread,
                               .region = foi->region,
                               .messages = forest->n_messages[t],
                               .vertices = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
                               .score = verdict->algorithm ? (float)verdict->score : 0,
                               .is_anomaly = verdict->is_anomaly};

    live_state_execution(state, &point);
}

void execution_points_step(void *ctx, const struct live_tree_step *step)
{
    for (uint32_t f = 0; f < step->n_foi; f++)
        for (uint32_t t = 0; t < step->foi[f].trees.forest.n_trees; t++)
            add(ctx, step->step->defs, &step->foi[f], t);
}
