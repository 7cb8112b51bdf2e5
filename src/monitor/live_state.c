/* What readers see changes in publish() and live_state_end() only. */
#include "monitor/live_state.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "live/live_lag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROWTH 1.05 /* a region's sketch is copied when it has so many times the calls */
#define MOMENT_NS 250000000u

/* A text that stays. */
static const char *keep(struct live_state *state, const char *text)
{
    uint32_t id = text ? names_add(&state->texts, text) : NAMES_NONE;

    return text ? state->texts.name[id] : NULL;
}

static void begin(struct live_state *state, const char *store_url)
{
    state->run++;
    state->store_url = keep(state, store_url);
    state->totals = (struct live_totals){.lag_ns = NAN};
    state->least_delay_ns = INFINITY;
    state->slow_unknown =
        "one process reads all ranks, and keeps no statistics of functions by "
        "rank; snag analyze compares them after the run";
    live_grid_init(&state->rank_grid);
    live_grid_init(&state->region_grid);
    live_grid_init(&state->counter_grid);
}

/* Everything of a run; its arrays stay to be filled anew. */
static void forget(struct live_state *state)
{
    for (uint32_t r = 0; r < state->n_regions; r++) {
        sketch_release(&state->region[r].sketch);
        call_judge_release(&state->region[r].judge);
    }
    live_tally_release(&state->tally);
    for (int k = 0; k < LIVE_KINDS; k++)
        live_points_release(&state->points[k]);
    live_recent_forget(&state->recent);
    live_grid_release(&state->rank_grid);
    live_grid_release(&state->region_grid);
    live_grid_release(&state->counter_grid);
    idmap_release(&state->rank_ids);
    state->n_ranks = state->n_regions = state->n_counters = state->n_places = 0;
    state->n_moments = state->n_slow = 0;
    state->quality = (struct quality){0};
    state->store = (struct prov_counts){0};
    state->reduction = reduction_of(0, NULL, NULL);
    state->executions = (struct live_executions){0};
    state->strange = (struct live_example){.at_ns = 0};
    state->loop = LOOP_NONE;
    free(state->message);
    state->message = NULL;
}

struct live_state *live_state_new(const struct live_opts *opts)
{
    struct live_state *state = mem_alloc(1, sizeof *state);

    pthread_mutex_init(&state->lock, NULL);
    live_recent_init(&state->recent, LIVE_RECENT_BYTES);
    state->opts = *opts;
    state->source = mem_copy_string(opts->source);
    state->started_ns = clock_ns();
    begin(state, opts->store_url);
    return state;
}

void live_state_free(struct live_state *state)
{
    if (state == NULL)
        return;
    forget(state);
    live_recent_release(&state->recent);
    free(state->rank);
    free(state->slow);
    free(state->of_region);
    free(state->region);
    free(state->counter);
    free(state->counter_name);
    free(state->place);
    free(state->rank_of);
    free(state->source);
    names_release(&state->texts);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

void live_state_lock(struct live_state *state)
{
    pthread_mutex_lock(&state->lock);
}

void live_state_unlock(struct live_state *state)
{
    pthread_mutex_unlock(&state->lock);
}

bool live_state_has_store(struct live_state *state)
{
    bool has_store;

    live_state_lock(state);
    has_store = state->store_url && state->phase != LIVE_WAITING;
    live_state_unlock(state);
    return has_store;
}

uint64_t live_state_version(const struct live_state *state)
{
    return atomic_load(&state->version);
}

uint32_t live_state_find_rank(const struct live_state *state, uint32_t program, uint32_t rank)
{
    return idmap_find(&state->rank_ids, key_pair(program, rank));
}

/* ----------------------------------------------------------------------------- definitions */

static void add_place(struct live_state *state, const struct location *location)
{
    uint32_t l = state->n_places, row;

    mem_grow(&state->place, &state->place_cap, l + 1);
    mem_grow(&state->rank_of, &state->rank_of_cap, l + 1);
    state->place[l] = (struct live_location){.name = keep(state, location->name),
                                             .is_gpu = location->is_gpu,
                                             .rank = location->rank,
                                             .thread = location->thread,
                                             .program = location->program};
    state->n_places++;
    row = idmap_add(&state->rank_ids, key_pair(location->program, location->rank));
    state->rank_of[l] = row;
    if (row < state->n_ranks)
        return;
    mem_grow(&state->rank, &state->rank_cap, row + 1);
    state->rank[row] = (struct live_row){.rank = location->rank,
                                         .program = location->program,
                                         .has_steps = !state->opts.is_past};
    state->n_ranks = row + 1;
}

static void add_region(struct live_state *state, const struct region *region)
{
    uint32_t r = state->n_regions;

    mem_grow(&state->region, &state->region_cap, r + 1);
    mem_grow(&state->of_region, &state->of_region_cap, r + 1);
    state->of_region[r] = (struct live_row){.has_steps = !state->opts.is_past};
    state->region[r] = (struct live_region){.name = keep(state, region->name),
                                            .short_name = keep(state, region->short_name),
                                            .kind = region->kind};
    sketch_init(&state->region[r].sketch);
    state->n_regions++;
}

static void add_counter(struct live_state *state, const char *name)
{
    uint32_t c = state->n_counters;

    mem_grow(&state->counter, &state->counter_cap, c + 1);
    mem_grow(&state->counter_name, &state->counter_name_cap, c + 1);
    state->counter[c] = (struct live_reading){0};
    state->counter_name[c] = keep(state, name);
    state->n_counters++;
}

/* Room for what is new in the step; after that the grids' bins do not move until it is over. */
static void follow(struct live_state *state, const struct ad_step *step)
{
    const struct definitions *defs = step->defs;
    struct live_grid *const grids[] = {&state->rank_grid, &state->region_grid,
                                       &state->counter_grid};

    while (state->n_places < step->n_locations)
        add_place(state, &defs->location[state->n_places]);
    while (state->n_regions < defs->names.n)
        add_region(state, &defs->region[state->n_regions]);
    while (state->n_counters < defs->counters.n)
        add_counter(state, defs->counters.name[state->n_counters]);
    live_grid_grow(&state->rank_grid, state->n_ranks);
    live_grid_grow(&state->region_grid, state->n_regions);
    live_grid_grow(&state->counter_grid, state->n_counters);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        live_grid_reach(grids[i], step->begin_ns, step->end_ns);
}

/* ------------------------------------------------------------------------------ publishing */

static void add_deltas(struct live_grid *grid, const struct live_deltas *deltas)
{
    for (size_t i = 0; i < deltas->n; i++)
        live_grid_add(grid, deltas->delta[i].row, deltas->delta[i].time_ns,
                      deltas->delta[i].value);
}

static void add_share(struct live_row *row, const struct live_share *share)
{
    live_stat_merge(&row->exclusive_ns, &share->exclusive_ns);
    live_stat_merge(&row->severity_ns, &share->severity_ns);
    live_stat_add(&row->anomalies, share->n_anomalies);
}

static void add_tally(struct live_state *state)
{
    const struct live_tally *t = &state->tally;

    add_deltas(&state->rank_grid, &t->ranks);
    add_deltas(&state->region_grid, &t->regions);
    add_deltas(&state->counter_grid, &t->counters);
    for (uint32_t i = 0; i < t->n_ranks; i++)
        if (t->rank[i].is_touched)
            add_share(&state->rank[i], &t->rank[i]);
    for (size_t i = 0; i < t->n_touched; i++)
        add_share(&state->of_region[t->touched[i]], &t->region[t->touched[i]]);
    for (uint32_t i = 0; i < t->n_counters; i++)
        live_reading_merge(&state->counter[i], &t->counter[i]);
    for (size_t i = 0; i < t->n_points; i++)
        live_points_add(&state->points[LIVE_CALL], &t->point[i]);
}

static void note_strange(struct live_state *state, const struct live_point *point)
{
    prov_execution_id(point->rank, point->thread, point->index, state->strange.id);
    state->strange.at_ns = text_now_ns();
}

/* Tree t as a point. */
static void add_tree(struct live_state *state, const struct ad_step *step,
                     const struct live_foi *foi, uint32_t t)
{
    const struct forest *f = &foi->trees.forest;
    const struct location *location = &step->defs->location[f->location[t]];
    const struct tree_verdict *v = &foi->verdict[t];
    uint64_t n_calls = foi->trees.n_calls[t];
    struct live_point point = {.enter_ns = f->enter_ns[t],
                               .inclusive_ns = f->root_ns[t],
                               .exclusive_ns = f->exclusive_ns[f->first[t]],
                               .rank = location->rank,
                               .program = location->program,
                               .thread = location->thread,
                               .region = foi->region,
                               .index = f->index[t],
                               .messages = f->n_messages[t],
                               .vertices =
                                   n_calls < UINT32_MAX ? (uint32_t)n_calls : UINT32_MAX,
                               .score = v->algorithm ? (float)v->score : 0,
                               .verdict = v->is_anomaly  ? LIVE_ANOMALY
                                          : v->algorithm ? LIVE_NORMAL
                                                         : LIVE_UNJUDGED,
                               .kind = LIVE_EXECUTION,
                               .severity_ns = v->is_anomaly ? live_foi_lost(foi, t) : 0};

    live_points_add(&state->points[LIVE_EXECUTION], &point);
    if (v->is_anomaly)
        note_strange(state, &point);
}

static void add_trees(struct live_state *state, const struct ad_step *step)
{
    uint32_t n = 0;
    const struct live_foi *foi =
        state->opts.trees ? live_trees_foi(state->opts.trees, &n) : NULL;

    state->executions = (struct live_executions){0};
    for (uint32_t i = 0; i < n; i++) {
        state->region[foi[i].region].is_foi = !foi[i].is_given_up;
        state->executions.n += foi[i].totals.n_executions;
        state->executions.n_anomalies += foi[i].totals.n_anomalies;
        state->executions.n_unjudged += foi[i].totals.n_unjudged;
        state->executions.n_cut += foi[i].totals.n_cut;
        for (uint32_t t = 0; t < foi[i].trees.forest.n_trees; t++)
            add_tree(state, step, &foi[i], t);
    }
}

/* Where there is a model per path, the histogram of a region is made here. */
static void add_durations(struct live_state *state, const struct ad_step *step)
{
    for (uint32_t l = 0; l < step->n_locations; l++) {
        const struct calls *c = &step->calls[l];

        for (uint32_t row = 0; row < c->n; row++)
            if (c->inclusive_ns[row] != CALL_OPEN)
                sketch_add(&state->region[c->region[row]].sketch, state->opts.is_inclusive
                                                                      ? c->inclusive_ns[row]
                                                                      : c->exclusive_ns[row]);
    }
}

static void copy_models(struct live_state *state, const struct ad_step *step)
{
    for (uint32_t r = 0; r < state->n_regions; r++) {
        const struct sketch *sketch = ad_sketch(step->ad, r);
        const struct call_judge *judge = ad_judge(step->ad, r);
        struct live_region *region = &state->region[r];

        if (sketch == NULL || sketch->n == region->sketch.n ||
            (!step->is_last && (double)sketch->n < GROWTH * (double)region->sketch.n))
            continue;
        sketch_clear(&region->sketch);
        sketch_merge(&region->sketch, sketch);
        region->is_judged = judge != NULL;
        if (judge)
            call_judge_copy(&region->judge, judge);
    }
}

static void note_moment(struct live_state *state)
{
    uint64_t now_ns = clock_ns();
    uint32_t i = state->n_moments % LIVE_RATES;

    if (state->n_moments > 0 &&
        now_ns - state->moment[(state->n_moments - 1) % LIVE_RATES].at_ns < MOMENT_NS)
        return;
    state->moment[i].at_ns = now_ns;
    state->moment[i].n_events = state->totals.n_events;
    state->n_moments++;
}

static void add_totals(struct live_state *state, const struct ad_step *step)
{
    const struct ad_totals *ad = ad_totals(step->ad);
    struct live_totals *t = &state->totals;

    if (t->n_steps == 0)
        t->begin_ns = step->begin_ns;
    if (step->end_ns > t->end_ns)
        t->end_ns = step->end_ns;
    t->n_steps += !step->is_last; /* that one only closes what is open */
    t->n_events = ad->n_events;
    t->n_calls = ad->n_calls;
    t->n_anomalies = ad->n_anomalies;
    t->n_unjudged = ad->n_unjudged;
    t->n_slight = ad->n_slight;
    t->n_bytes = ad->n_bytes;
    t->no_bytes = ad->no_bytes;
    t->least_ns = ad_least_lost(step->ad);
    t->n_messages += state->tally.n_messages;
    t->severity_ns += state->tally.severity_ns;
    state->quality = *ad_quality(step->ad);
    if (state->opts.stream) {
        t->n_lost = state->opts.stream->n_lost;
        quality_add(&state->quality, &state->opts.stream->quality);
    }
    for (uint32_t l = 0; l < state->n_places; l++) {
        const struct calls *calls = &step->calls[l];

        state->place[l].n_calls += calls->n - calls->n_carried;
        state->place[l].last_ns = calls->last_ns;
    }
}

/* ------------------------------------------------------------------------------ the end */

static void forget_extremes(struct live_row *row, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        row[i].severity_ns.minimum = row[i].severity_ns.maximum = 0;
}

static void see_extremes(struct live_stat *stat, uint64_t value)
{
    stat->minimum = stat->maximum == 0 || value < stat->minimum ? value : stat->minimum;
    stat->maximum = value > stat->maximum ? value : stat->maximum;
}

/* What the final models say. */
struct last_look {
    struct live_state *state;
    const struct ad *ad;
    uint64_t n_taken_back, taken_back_ns;
};

static bool take_back(void *ctx, const struct live_point *point)
{
    struct last_look *look = ctx;
    struct live_state *state = look->state;
    uint32_t row = live_state_find_rank(state, point->program, point->rank);
    const double value[LIVE_PLANES] = {
        [LIVE_ANOMALIES] = -1, [LIVE_SEVERITY] = -(double)point->severity_ns};
    struct live_row *const rows[] = {&state->rank[row], &state->of_region[point->region]};

    if (ad_is_strange(look->ad, point->model,
                      state->opts.is_inclusive ? point->inclusive_ns : point->exclusive_ns)) {
        for (int i = 0; i < 2; i++)
            see_extremes(&rows[i]->severity_ns, point->severity_ns);
        return false;
    }
    live_grid_add(&state->rank_grid, row, point->enter_ns, value);
    live_grid_add(&state->region_grid, point->region, point->enter_ns, value);
    for (int i = 0; i < 2; i++) {
        live_stat_remove(&rows[i]->severity_ns, point->severity_ns);
        rows[i]->anomalies.sums.sum--;
    }
    look->n_taken_back++;
    look->taken_back_ns += point->severity_ns;
    return true;
}

/*
 * The store knows all records, unless it has lost or removed some; else it is as for the points
 * that were kept, which all else on the page goes by.
 */
static void judge_again(struct live_state *state, const struct ad_step *step,
                        const struct live_recorder_counts *stored)
{
    struct last_look look = {.state = state, .ad = step->ad};
    bool is_stored = state->opts.recorder && stored->is_judged_again &&
                     stored->store.n_dropped == 0 && stored->store.n_removed == 0;

    forget_extremes(state->rank, state->n_ranks);
    forget_extremes(state->of_region, state->n_regions);
    live_points_take_back(&state->points[LIVE_CALL], take_back, &look);
    state->totals.n_taken_back = is_stored ? stored->n_taken_back : look.n_taken_back;
    state->totals.n_anomalies -= state->totals.n_taken_back;
    state->totals.severity_ns -= is_stored ? stored->taken_back_ns : look.taken_back_ns;
}

static void set_stored(struct live_state *state, const struct prov_counts *store)
{
    state->store = *store;
    state->reduction = reduction_of(state->totals.n_bytes, state->totals.no_bytes,
                                    state->store_url ? store : NULL);
}

static void publish(struct live_state *state, const struct ad_step *step,
                    const struct live_recorder_counts *stored)
{
    live_state_lock(state);
    state->phase = LIVE_RUNNING;
    add_totals(state, step);
    add_tally(state);
    add_trees(state, step);
    state->loop = loop_watch_state(step->loop);
    if (state->opts.is_by_path)
        add_durations(state, step);
    else
        copy_models(state, step);
    /* By how much this step came later than the one that came earliest, by the trace's clock. */
    if (state->opts.speed > 0 && !step->is_last)
        state->totals.lag_ns =
            live_lag(&state->least_delay_ns, step->end_ns, state->opts.speed);
    note_moment(state);
    if (step->is_last)
        judge_again(state, step, stored);
    set_stored(state, &stored->store);
    atomic_fetch_add(&state->version, 1);
    live_state_unlock(state);
}

void live_state_step(void *ctx, const struct ad_step *step)
{
    struct live_state *state = ctx;
    struct live_recorder_counts stored = {0};
    const struct live_grid *ranks = &state->rank_grid, *regions = &state->region_grid;

    live_state_lock(state);
    follow(state, step);
    live_state_unlock(state);
    live_recent_take(&state->recent, step);
    /* Only this thread changes what it reads here. */
    live_tally_step(
        &state->tally, step,
        &(struct live_tally_opts){.rank_of = state->rank_of,
                                  .n_ranks = state->n_ranks,
                                  .is_inclusive = state->opts.is_inclusive,
                                  .grid = ranks->shift < regions->shift ? ranks : regions});
    if (state->opts.recorder)
        live_recorder_counts(state->opts.recorder, &stored);
    publish(state, step, &stored);
}

static void add_past(struct live_row *row, const struct live_point *point, bool is_taken_back)
{
    row->n_taken_back += is_taken_back;
    if (point->verdict != LIVE_ANOMALY)
        return;
    if (!row->has_steps) /* else a server has told of it */
        row->anomalies.sums.sum++;
    live_stat_add(&row->severity_ns, point->severity_ns);
}

/* A record of an execution: the sums are those of calls. */
static void add_past_execution(struct live_state *state, const struct live_point *point)
{
    state->region[point->region].is_foi = true;
    if (point->verdict == LIVE_ANOMALY) {
        state->executions.n_anomalies++;
        note_strange(state, point);
    }
    state->opts.typical = LIVE_EXECUTION;
}

static void reach_past(struct live_state *state, const struct live_point *point)
{
    uint64_t end_ns = point->enter_ns + point->inclusive_ns;

    if (state->points[LIVE_CALL].next + state->points[LIVE_EXECUTION].next == 0)
        state->totals.begin_ns = point->enter_ns;
    if (end_ns > state->totals.end_ns)
        state->totals.end_ns = end_ns;
}

static void add_past_call(struct live_state *state, const struct live_point *point,
                          bool is_taken_back)
{
    bool is_anomaly = point->verdict == LIVE_ANOMALY;
    uint64_t severity_ns = is_anomaly ? point->severity_ns : 0;
    const double value[LIVE_PLANES] = {
        [LIVE_ANOMALIES] = is_anomaly, [LIVE_SEVERITY] = (double)severity_ns};
    uint32_t row = live_state_find_rank(state, point->program, point->rank);

    live_grid_add(&state->rank_grid, row, point->enter_ns, value);
    live_grid_add(&state->region_grid, point->region, point->enter_ns, value);
    add_past(&state->rank[row], point, is_taken_back);
    add_past(&state->of_region[point->region], point, is_taken_back);
    state->totals.n_anomalies += is_anomaly;
    state->totals.n_taken_back += is_taken_back;
    state->totals.severity_ns += severity_ns;
}

void live_state_past(struct live_state *state, const struct live_point *point,
                     const char *function, bool is_taken_back)
{
    struct arena arena = {0};
    struct location location = {
        .name = "", .rank = point->rank, .program = point->program, .thread = point->thread};

    live_state_lock(state);
    if (live_state_find_rank(state, point->program, point->rank) == IDMAP_NONE)
        add_place(state, &location);
    if (point->region == state->n_regions)
        add_region(state, &(struct region){.name = function,
                                           .short_name = region_name_short(function, &arena),
                                           .plain = function,
                                           .function = function,
                                           .kind = region_name_kind(function)});
    arena_release(&arena);
    live_grid_grow(&state->rank_grid, state->n_ranks);
    live_grid_grow(&state->region_grid, state->n_regions);
    reach_past(state, point);
    live_points_add(&state->points[point->kind], point);
    if (point->kind == LIVE_EXECUTION)
        add_past_execution(state, point);
    else
        add_past_call(state, point, is_taken_back);
    live_state_unlock(state);
}

/* A function that no record is of, and one that is, by its number. */
static void know_function(struct live_state *state, uint32_t region, const char *function)
{
    struct arena arena = {0};

    if (region < state->n_regions)
        return;
    add_region(state, &(struct region){.name = function,
                                       .short_name = region_name_short(function, &arena),
                                       .plain = function,
                                       .function = function,
                                       .kind = region_name_kind(function)});
    arena_release(&arena);
    live_grid_grow(&state->region_grid, state->n_regions);
}

static struct live_row *know_rank(struct live_state *state, uint32_t program, uint32_t rank)
{
    if (live_state_find_rank(state, program, rank) == IDMAP_NONE)
        add_place(state, &(struct location){.name = "", .rank = rank, .program = program});
    live_grid_grow(&state->rank_grid, state->n_ranks);
    return &state->rank[live_state_find_rank(state, program, rank)];
}

void live_state_past_times(struct live_state *state, const struct live_past_times *times,
                           size_t n)
{
    live_state_lock(state);
    for (size_t i = 0; i < n; i++) {
        const struct live_past_times *t = &times[i];
        struct live_row *row = t->region == LIVE_NO_REGION
                                   ? know_rank(state, t->program, t->rank)
                                   : &state->of_region[t->region];

        row->n_calls = t->n_calls;
        row->exclusive_ns = t->exclusive_ns;
    }
    live_state_unlock(state);
}

/* Whom a statistic is of; NULL: neither a rank as a whole nor a function as a whole. */
static struct live_row *know_row(struct live_state *state, const struct ps_stat_key *key,
                                 struct names *number)
{
    bool is_all = key->rank == PS_ALL_RANKS;
    uint32_t region;

    if (is_all == (*key->region == '\0'))
        return NULL;
    if (!is_all)
        return know_rank(state, (uint32_t)strtoul(key->program, NULL, 10), key->rank);
    region = names_add(number, key->region);
    know_function(state, region, key->region);
    return &state->of_region[region];
}

static void know_statistic(struct live_row *row, const char *name, const struct ps_stat *stat)
{
    struct live_stat anomalies = {
        .n = stat->n,
        .minimum = (uint64_t)stat->whole.min,
        .maximum = (uint64_t)stat->whole.max,
        .sums = {(unsigned __int128)stat->whole.sum, stat->whole.square_sum}};

    if (strcmp(name, "calls") == 0)
        row->n_calls += (uint64_t)stat->whole.sum;
    if (strcmp(name, "anomalies") != 0)
        return;
    live_stat_merge(&row->anomalies, &anomalies);
    row->has_steps = true;
}

static void forget_statistic(struct live_row *row, const char *name)
{
    if (strcmp(name, "calls") == 0)
        row->n_calls = 0;
    else if (strcmp(name, "anomalies") == 0)
        row->anomalies = (struct live_stat){.n = 0};
}

/* A server is not told of what is taken back. */
static void take_back_known(struct live_row *row, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (row[i].has_steps)
            row[i].anomalies.sums.sum -= row[i].n_taken_back < row[i].anomalies.sums.sum
                                             ? row[i].n_taken_back
                                             : row[i].anomalies.sums.sum;
}

/* What several programs tell of functions of one name is added up. */
static void know_statistics(struct live_state *state, const struct ps_state *known,
                            struct names *number)
{
    char text[PS_KEY_SIZE];

    for (int is_adding = 0; is_adding < 2; is_adding++)
        for (uint32_t i = 0; i < known->key.n; i++) {
            const struct ps_stat *stat = &known->stat[i];
            struct live_row *row;
            struct ps_stat_key key;

            if (stat->is_real || stat->n == 0 || stat->whole.min < 0)
                continue;
            snprintf(text, sizeof text, "%s", known->key.name[i]);
            key = ps_state_split(text);
            row = know_row(state, &key, number);
            if (row && is_adding)
                know_statistic(row, key.name, stat);
            else if (row)
                forget_statistic(row, key.name);
        }
    take_back_known(state->rank, state->n_ranks);
    take_back_known(state->of_region, state->n_regions);
    if (!live_state_is_of_server(state))
        return; /* each of them is known */
    state->totals.n_anomalies = 0;
    for (uint32_t r = 0; r < state->n_regions; r++)
        state->totals.n_anomalies += (uint64_t)state->of_region[r].anomalies.sums.sum;
}

/* Returns how many calls. */
static uint64_t know_sketch(struct live_state *state, uint32_t region,
                            const struct sketch *sketch)
{
    struct sketch *all = &state->region[region].sketch;

    if (sketch->n > PS_MAX_CALLS - all->n)
        return 0;
    sketch_merge(all, sketch);
    state->of_region[region].exclusive_ns = (struct live_stat){
        .n = all->n, .minimum = all->min, .maximum = all->max, .sums = all->sums};
    return sketch->n;
}

/* As above, of several programs. */
static uint64_t know_sketches(struct live_state *state, const struct ps_snapshot *known,
                              struct names *number)
{
    uint64_t n_calls = 0;

    for (int is_adding = 0; is_adding < 2; is_adding++)
        for (uint32_t i = 0; i < known->n_functions; i++) {
            const char *name = strchr(known->function[i], '\n') + 1; /* "program\nname" */
            uint32_t region = names_add(number, name);
            const struct sketch *sketch = i < known->state.n ? &known->state.sketch[i] : NULL;

            know_function(state, region, name);
            if (sketch == NULL || sketch->n == 0)
                continue;
            if (is_adding)
                n_calls += know_sketch(state, region, sketch);
            else
                sketch_clear(&state->region[region].sketch);
        }
    return n_calls;
}

void live_state_past_known(struct live_state *state, const struct ps_snapshot *known,
                           struct names *number)
{
    uint64_t n_calls;

    live_state_lock(state);
    n_calls = know_sketches(state, known, number);
    know_statistics(state, &known->state, number);
    state->totals.n_calls_told = n_calls;
    if (n_calls > state->totals.n_calls)
        state->totals.n_calls = n_calls;
    atomic_fetch_add(&state->version, 1);
    live_state_unlock(state);
}

void live_state_past_function(struct live_state *state, uint32_t region, const char *function)
{
    live_state_lock(state);
    know_function(state, region, function);
    live_state_unlock(state);
}

void live_state_past_slow(struct live_state *state, const struct live_slow *slow, uint32_t n,
                          const char *unknown)
{
    live_state_lock(state);
    state->slow = mem_resize(state->slow, n, sizeof *state->slow);
    if (n > 0)
        memcpy(state->slow, slow, n * sizeof *slow);
    state->n_slow = n;
    state->slow_unknown = unknown; /* what counts calls is told next, and is a new version */
    live_state_unlock(state);
}

void live_state_past_again(struct live_state *state)
{
    live_state_lock(state);
    forget(state);
    state->run--; /* it is the same */
    begin(state, state->store_url);
    live_state_unlock(state);
}

void live_state_past_told(struct live_state *state, uint64_t n_calls,
                          const struct prov_counts *store, const struct reduction *reduction,
                          bool is_written)
{
    enum live_phase phase = is_written ? LIVE_RUNNING : LIVE_OVER;
    uint64_t n_recorded = state->points[LIVE_CALL].next;

    live_state_lock(state);
    if (n_calls > 0 && n_calls < n_recorded) /* which are stored sooner than the statistics */
        n_calls = n_recorded;
    state->totals.n_calls_stored = n_calls;
    if (n_calls < state->totals.n_calls_told)
        n_calls = state->totals.n_calls_told;
    if (phase != state->phase || n_calls != state->totals.n_calls ||
        store->n_stored != state->store.n_stored)
        atomic_fetch_add(&state->version, 1);
    state->phase = phase;
    state->totals.n_calls = n_calls;
    state->store = *store;
    state->reduction = *reduction;
    live_state_unlock(state);
}

void live_state_end(struct live_state *state, const char *message,
                    const struct prov_counts *store)
{
    live_state_lock(state);
    state->phase = message ? LIVE_FAILED : LIVE_OVER;
    free(state->message);
    state->message = message ? mem_copy_string(message) : NULL;
    if (store)
        set_stored(state, store);
    atomic_fetch_add(&state->version, 1);
    live_state_unlock(state);
    state->opts.stream = NULL; /* what the run had of its own goes with it */
    state->opts.recorder = NULL;
    state->opts.trees = NULL;
}

void live_state_next_run(struct live_state *state, const char *store_url)
{
    live_state_lock(state);
    forget(state);
    begin(state, store_url);
    state->phase = LIVE_RUNNING;
    atomic_fetch_add(&state->version, 1);
    live_state_unlock(state);
}

void live_state_stored(struct live_state *state, const struct prov_counts *store)
{
    live_state_lock(state);
    if (store->is_failing != state->store.is_failing ||
        store->n_dropped != state->store.n_dropped)
        atomic_fetch_add(&state->version, 1);
    set_stored(state, store);
    live_state_unlock(state);
}

const char *live_state_store_url(struct live_state *state)
{
    const char *url;

    live_state_lock(state);
    url = state->store_url;
    live_state_unlock(state);
    return url;
}

int64_t live_state_store_run(struct live_state *state)
{
    int64_t run;

    live_state_lock(state);
    run = state->store.run;
    live_state_unlock(state);
    return run;
}

bool live_state_trouble(struct live_state *state, char text[256])
{
    struct prov_counts n;

    live_state_lock(state);
    n = state->store;
    live_state_unlock(state);
    if (n.is_failing)
        snprintf(text, 256, "the store cannot be written: %.150s; %llu rows are lost",
                 n.why ? n.why : "unknown", (unsigned long long)n.n_dropped);
    return n.is_failing;
}
