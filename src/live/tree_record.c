/*
 * Calls of this step have their names from its rows; of those of earlier steps it follows from
 * their number, as the calls of an execution are numbered without gaps.
 */
#include "live/tree_record.h"

#include <math.h>
#include <string.h>

/* Where vertices of a tree went to. */
struct chosen_vertices {
    uint32_t *vertex; /* [n] ascending, from 0 for the root */
    uint32_t *place;  /* [vertices] of those that were chosen */
    uint64_t *inclusive_ns;
    uint32_t n;
};

/* The row of a call in this step; ids are modulo 2^32. NO_CALL: it is of an earlier one. */
static uint32_t row_of(const struct calls *c, uint32_t id)
{
    uint32_t row = c->n_carried;

    if (id - c->first_id < c->n - c->n_carried)
        return c->n_carried + (id - c->first_id);
    while (row-- > 0)
        if (c->carried_id[row] == id)
            return row;
    return NO_CALL;
}

struct verdict tree_record_root(const struct live_foi *foi, const struct ad_step *step,
                                uint32_t t)
{
    const struct forest *f = &foi->trees.forest;
    uint32_t location = f->location[t];
    uint32_t row = row_of(&step->calls[location], f->call[t]);
    bool is_late = row == NO_CALL; /* only where nobody named the function; by region then */

    return (struct verdict){.location = location,
                            .region = foi->region,
                            .model = is_late ? foi->region : step->model[location][row],
                            .row = is_late ? NO_ROW : row,
                            .id = f->call[t],
                            .step = step->number,
                            .enter_ns = f->enter_ns[t],
                            .inclusive_ns = f->root_ns[t],
                            .exclusive_ns = is_late ? f->exclusive_ns[f->first[t]]
                                                    : step->calls[location].exclusive_ns[row],
                            .severity_ns = (double)forest_own_ns(f, t) -
                                           sketch_quantile(&foi->durations, 0.5)};
}

uint32_t tree_record_normal(const struct live_foi *foi)
{
    const struct forest *f = &foi->trees.forest;
    uint32_t best = UINT32_MAX;

    for (uint32_t t = 0; t < f->n_trees; t++)
        if (foi->verdict[t].algorithm && !foi->verdict[t].is_anomaly &&
            (best == UINT32_MAX ||
             f->enter_ns[t] + f->root_ns[t] >= f->enter_ns[best] + f->root_ns[best]))
            best = t;
    return best;
}

/* ------------------------------------------------------------------------------- choosing */

/* Calls in this bin of lengths and above are at least `most`; of those in it, `room` fit. */
static uint32_t shortest_bin(const uint64_t *inclusive_ns, uint32_t n, uint32_t most,
                             uint32_t *room, struct arena *scratch)
{
    uint32_t *count = arena_zeros(scratch, uint32_t, SKETCH_MAX_BINS);
    uint32_t bin = SKETCH_MAX_BINS, n_longer = 0;

    for (uint32_t v = 0; v < n; v++)
        count[sketch_bin(inclusive_ns[v])]++;
    while (bin > 0 && n_longer + count[bin - 1] <= most)
        n_longer += count[--bin];
    *room = most - n_longer;
    return bin == 0 ? 0 : bin - 1;
}

static void choose(const struct forest *f, uint32_t t, struct chosen_vertices *c,
                   struct arena *scratch)
{
    uint32_t n = f->first[t + 1] - f->first[t], room = 0, shortest;

    c->inclusive_ns = arena_array(scratch, uint64_t, n);
    c->vertex = arena_array(scratch, uint32_t, n);
    c->place = arena_array(scratch, uint32_t, n);
    forest_inclusive(f, t, c->inclusive_ns);
    shortest = shortest_bin(c->inclusive_ns, n, TREE_RECORD_MAX_CALLS, &room, scratch);
    c->n = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t bin = sketch_bin(c->inclusive_ns[v]);

        if (bin < shortest || (bin == shortest && room == 0 && n > TREE_RECORD_MAX_CALLS)) {
            c->place[v] = UINT32_MAX;
            continue;
        }
        room -= bin == shortest && room > 0;
        c->place[v] = c->n;
        c->vertex[c->n++] = v;
    }
}

/* ----------------------------------------------------------------------------------- calls */

static uint32_t fid_of(const struct evidence *e, const struct ad_step *step, uint32_t region)
{
    return e->is_by_path || region >= ad_models(step->ad) ? UINT32_MAX
                                                          : ad_function(step->ad, region);
}

/* A call that was over before this step. */
static struct prov_call call_before(const struct evidence *e, const struct live_foi *foi,
                                    const struct ad_step *step, uint32_t t, uint32_t v)
{
    const struct live_forest *lf = &foi->trees;
    const struct forest *f = &lf->forest;
    uint32_t region = f->region[f->first[t] + v];
    struct verdict call = {.location = f->location[t],
                           .id = forest_row(f, t, f->first[t] + v),
                           .step = step->number};
    struct entered entered;

    return (struct prov_call){.event =
                                  call_history_late_event(&e->histories, step, &call, &entered),
                              .fid = fid_of(e, step, region),
                              .func = step->defs->region[region].name,
                              .enter_ns = lf->vertex_enter_ns[f->first[t] + v]};
}

static void add_calls(const struct evidence *e, const struct live_foi *foi,
                      const struct ad_step *step, uint32_t t,
                      const struct chosen_vertices *chosen, struct prov_call *call)
{
    const struct forest *f = &foi->trees.forest;
    uint32_t location = f->location[t], base = f->first[t];

    for (uint32_t i = 0; i < chosen->n; i++) {
        uint32_t v = chosen->vertex[i];
        uint32_t row = row_of(&step->calls[location], forest_row(f, t, base + v));

        if (row != NO_CALL) {
            call_history_call(&e->histories, step, location, row, &call[i]);
            continue;
        }
        call[i] = call_before(e, foi, step, t, v);
        call[i].leave_ns = call[i].enter_ns + chosen->inclusive_ns[v];
        call[i].has_parent = v > 0; /* who called the root is not known any more */
        if (v > 0)
            call[i].parent = call[chosen->place[f->parent[base + v] - base]].event;
    }
    call[0].is_anomaly = foi->verdict[t].is_anomaly;
}

/* The first messages of the calls that are there. */
static void add_messages(const struct live_foi *foi, const struct ad_step *step, uint32_t t,
                         const struct chosen_vertices *chosen, struct prov_window *window)
{
    const struct live_forest *lf = &foi->trees;
    uint32_t location = lf->forest.location[t];

    for (size_t i = lf->first_message[t];
         i < lf->first_message[t + 1] && window->n_messages < TREE_RECORD_MAX_MESSAGES; i++) {
        const struct message *m = &lf->message[i];
        uint32_t place = chosen->place[m->call - lf->forest.first[t]];

        if (place != UINT32_MAX)
            window->message[window->n_messages++] =
                call_history_message(step, location, m, window->call[place].event);
    }
}

static void set_window(struct evidence *e, const struct live_foi *foi,
                       const struct ad_step *step, uint32_t t, struct prov_window *window)
{
    const struct forest *f = &foi->trees.forest;
    size_t n = f->first[t + 1] - f->first[t];
    size_t n_messages = foi->trees.first_message[t + 1] - foi->trees.first_message[t];
    struct arena scratch = {0};
    struct chosen_vertices chosen;

    if (n > TREE_RECORD_MAX_CALLS)
        n = TREE_RECORD_MAX_CALLS;
    if (n_messages > TREE_RECORD_MAX_MESSAGES)
        n_messages = TREE_RECORD_MAX_MESSAGES;
    choose(f, t, &chosen, &scratch);
    *window = (struct prov_window){.call = arena_array(&e->arena, struct prov_call, n),
                                   .n_calls = chosen.n,
                                   .message =
                                       arena_array(&e->arena, struct prov_message, n_messages)};
    add_calls(e, foi, step, t, &chosen, window->call);
    add_messages(foi, step, t, &chosen, window);
    arena_release(&scratch);
}

/* ---------------------------------------------------------------------------------- record */

void tree_record_fill(struct evidence *e, const struct live_foi *foi,
                      const struct ad_step *step, uint32_t t, struct prov_record *record)
{
    const struct tree_verdict *v = &foi->verdict[t];

    record->score = v->score;
    record->p = v->p;
    record->severity_ns = live_foi_lost(foi, t);
    record->algorithm = v->algorithm;
    record->is_execution = true;
    record->execution = (struct prov_execution){
        .index = foi->trees.forest.index[t],
        .n_calls = foi->trees.n_calls[t],
        .n_messages = foi->trees.forest.n_messages[t],
        .threshold = v->threshold,
        .typical_ns = (uint64_t)llround(live_foi_typical(foi)),
        .why = v->why ? arena_string(&e->arena, v->why) : NULL,
    };
    set_window(e, foi, step, t, &record->window);
}
