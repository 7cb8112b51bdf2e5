#include "monitor/live_tally.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void live_tally_release(struct live_tally *tally)
{
    free(tally->rank);
    free(tally->region);
    free(tally->counter);
    free(tally->touched);
    free(tally->ranks.delta);
    free(tally->regions.delta);
    free(tally->counters.delta);
    free(tally->point);
    free(tally->turn);
    free(tally->messages);
    *tally = (struct live_tally){0};
}

/* -------------------------------------------------------------------------------- readings */

/* Welford's way, and Chan's for two. */
void live_reading_add(struct live_reading *reading, double value, uint32_t rank)
{
    live_reading_merge(reading, &(struct live_reading){.n = 1,
                                                       .mean = value,
                                                       .minimum = value,
                                                       .maximum = value,
                                                       .last = value,
                                                       .last_rank = rank});
}

void live_reading_merge(struct live_reading *into, const struct live_reading *from)
{
    double n = (double)(into->n + from->n), apart = from->mean - into->mean;

    if (from->n == 0)
        return;
    if (into->n == 0) {
        *into = *from;
        return;
    }
    into->square_sum +=
        from->square_sum + apart * apart * (double)into->n * (double)from->n / n;
    into->mean += apart * (double)from->n / n;
    into->minimum = from->minimum < into->minimum ? from->minimum : into->minimum;
    into->maximum = from->maximum > into->maximum ? from->maximum : into->maximum;
    into->last = from->last;
    into->last_rank = from->last_rank;
    into->n += from->n;
}

/* ---------------------------------------------------------------------------------- deltas */

static void add_delta(struct live_deltas *deltas, uint32_t row, uint64_t time_ns, double calls,
                      double anomalies, double severity_ns, double exclusive_ns)
{
    struct live_delta *delta;

    delta = mem_push(&deltas->delta, &deltas->n, &deltas->cap);
    delta->row = row;
    delta->time_ns = time_ns;
    delta->value[LIVE_CALLS] = calls;
    delta->value[LIVE_ANOMALIES] = anomalies;
    delta->value[LIVE_SEVERITY] = severity_ns;
    delta->value[LIVE_EXCLUSIVE] = exclusive_ns;
}

static void flush(struct live_deltas *deltas, uint32_t row, struct live_share *share)
{
    if (share->calls > 0)
        add_delta(deltas, row, share->bin_time_ns, share->calls, 0, 0, share->bin_exclusive_ns);
    share->calls = share->bin_exclusive_ns = 0;
}

static inline uint64_t bin_of(const struct live_tally *tally, uint64_t time_ns)
{
    return time_ns < tally->origin_ns ? 0 : (time_ns - tally->origin_ns) >> tally->shift;
}

static inline void count(struct live_deltas *deltas, uint32_t row, struct live_share *share,
                         uint64_t bin, uint64_t enter_ns, uint64_t exclusive_ns)
{
    if (share->bin != bin) {
        flush(deltas, row, share);
        share->bin = bin;
    }
    share->bin_time_ns = enter_ns;
    share->calls += 1;
    share->bin_exclusive_ns += (double)exclusive_ns;
    live_stat_add(&share->exclusive_ns, exclusive_ns);
}

/* ---------------------------------------------------------------------------------- points */

/* A call as a point; its verdict is for the caller to set. turn: which call of its region it is
 * in this step, if it may be thinned out, or 0. */
static struct live_point *add_point(struct live_tally *tally, const struct ad_step *step,
                                    uint32_t l, uint32_t region, uint32_t turn)
{
    const struct location *location = &step->defs->location[l];
    struct live_point *point;

    mem_grow(&tally->point, &tally->point_cap, tally->n_points + 1);
    mem_grow(&tally->turn, &tally->turn_cap, tally->n_points + 1);
    tally->turn[tally->n_points] = turn;
    point = &tally->point[tally->n_points++];
    *point = (struct live_point){.rank = location->rank,
                                 .program = location->program,
                                 .thread = location->thread,
                                 .region = region,
                                 .vertices = 1,
                                 .kind = LIVE_CALL};
    return point;
}

static void sample(struct live_tally *tally, const struct ad_step *step, uint32_t l,
                   uint32_t row, bool is_inclusive)
{
    const struct calls *c = &step->calls[l];
    struct live_point *point =
        add_point(tally, step, l, c->region[row], tally->region[c->region[row]].n_seen - 1);
    uint32_t model = step->model[l][row];
    const struct call_judge *judge = ad_judge(step->ad, model);

    point->enter_ns = c->enter_ns[row];
    point->inclusive_ns = c->inclusive_ns[row];
    point->exclusive_ns = c->exclusive_ns[row];
    point->index = calls_id(c, row);
    point->messages = c->n_messages ? tally->messages[row] : 0;
    if (judge == NULL || calls_never_ended(c, row)) { /* as ad.c judges */
        point->verdict = LIVE_UNJUDGED;
        return;
    }
    point->score =
        (float)call_judge_score(judge, ad_sketch(step->ad, model),
                                is_inclusive ? point->inclusive_ns : point->exclusive_ns)
            .score;
}

/* The first calls of a region are points, then every 2nd, 4th, ...: see thin_out. */
static inline bool is_sampled(struct live_share *region)
{
    if ((region->n_seen++ & (region->every - 1)) != 0)
        return false;
    if (++region->n_sampled == LIVE_SAMPLE && region->every < 1u << 30) {
        region->n_sampled = LIVE_SAMPLE / 2;
        region->every *= 2;
    }
    return true;
}

static void count_messages(struct live_tally *tally, const struct calls *c)
{
    tally->n_messages += c->n_messages;
    if (c->n_messages == 0 || c->n == 0)
        return;
    mem_grow(&tally->messages, &tally->message_cap, c->n);
    memset(tally->messages, 0, c->n * sizeof *tally->messages);
    for (size_t i = 0; i < c->n_messages; i++)
        if (c->message[i].call < c->n)
            tally->messages[c->message[i].call]++;
}

/* ------------------------------------------------------------------------------- verdicts */

static void touch(struct live_tally *tally, uint32_t region)
{
    if (tally->region[region].is_touched)
        return;
    tally->region[region].is_touched = true;
    *mem_push(&tally->touched, &tally->n_touched, &tally->touched_cap) = region;
}

static void add_verdict(struct live_tally *tally, const struct ad_step *step,
                        const struct verdict *v, uint32_t rank)
{
    uint64_t severity_ns = (uint64_t)llround(v->severity_ns);
    struct live_point *point = add_point(tally, step, v->location, v->region, 0);

    point->enter_ns = v->enter_ns;
    point->inclusive_ns = v->inclusive_ns;
    point->exclusive_ns = v->exclusive_ns;
    point->index = v->id;
    point->score = (float)v->judgement.score;
    point->verdict = LIVE_ANOMALY;
    point->model = v->model;
    point->severity_ns = severity_ns;
    if (v->row != NO_ROW && step->calls[v->location].n_messages > 0)
        point->messages = tally->messages[v->row];
    touch(tally, v->region);
    tally->rank[rank].is_touched = true;
    tally->rank[rank].n_anomalies++;
    tally->region[v->region].n_anomalies++;
    tally->severity_ns += severity_ns;
    live_stat_add(&tally->rank[rank].severity_ns, severity_ns);
    live_stat_add(&tally->region[v->region].severity_ns, severity_ns);
    add_delta(&tally->ranks, rank, v->enter_ns, 0, 1, (double)severity_ns, 0);
    add_delta(&tally->regions, v->region, v->enter_ns, 0, 1, (double)severity_ns, 0);
}

/* ---------------------------------------------------------------------------- one location */

/* The calls of a location; its verdicts, by row, are next in order. Returns the one after. */
static size_t count_calls(struct live_tally *tally, const struct ad_step *step, uint32_t l,
                          size_t next, const struct live_tally_opts *opts)
{
    const struct calls *c = &step->calls[l];
    uint32_t rank = opts->rank_of[l];
    struct live_share *of_rank = &tally->rank[rank];

    for (uint32_t row = 0; row < c->n; row++) {
        struct live_share *of_region = &tally->region[c->region[row]];
        uint64_t bin = bin_of(tally, c->enter_ns[row]);

        if (c->inclusive_ns[row] == CALL_OPEN)
            continue;
        if (!of_region->is_touched)
            touch(tally, c->region[row]);
        of_rank->is_touched = true;
        count(&tally->ranks, rank, of_rank, bin, c->enter_ns[row], c->exclusive_ns[row]);
        count(&tally->regions, c->region[row], of_region, bin, c->enter_ns[row],
              c->exclusive_ns[row]);
        if (next < step->n_verdicts && step->verdict[next].location == l &&
            step->verdict[next].row == row)
            add_verdict(tally, step, &step->verdict[next++], rank);
        else if (is_sampled(of_region))
            sample(tally, step, l, row, opts->is_inclusive);
    }
    return next;
}

static void count_counters(struct live_tally *tally, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];

    for (size_t i = 0; i < c->n_counters; i++) {
        const struct counter_value *v = &c->counter[i].value;
        double value = v->is_real ? v->real : (double)v->whole;
        struct live_delta *last =
            tally->counters.n ? &tally->counters.delta[tally->counters.n - 1] : NULL;

        if (v->counter >= tally->n_counters || !isfinite(value))
            continue;
        live_reading_add(&tally->counter[v->counter], value, step->defs->location[l].rank);
        if (last && last->row == v->counter &&
            bin_of(tally, last->time_ns) == bin_of(tally, c->counter[i].time_ns)) {
            last->value[0] += 1;
            last->value[1] += value;
        } else {
            add_delta(&tally->counters, v->counter, c->counter[i].time_ns, 1, value, 0, 0);
        }
    }
}

/* -------------------------------------------------------------------------------- the step */

/* Calls come rank by rank: of the first of them more were taken than of the last. Now that it is
 * known that every n-th is enough, only every n-th stays. */
static void thin_out(struct live_tally *tally)
{
    size_t n = 0;

    for (size_t i = 0; i < tally->n_points; i++)
        if ((tally->turn[i] & (tally->region[tally->point[i].region].every - 1)) == 0)
            tally->point[n++] = tally->point[i];
    tally->n_points = n;
}

static void begin(struct live_tally *tally, const struct ad_step *step,
                  const struct live_tally_opts *opts)
{
    uint32_t n_counters = (uint32_t)step->defs->counters.n;

    for (size_t i = 0; i < tally->n_touched; i++) {
        struct live_share *region = &tally->region[tally->touched[i]];

        /* Half as rare as it was: a region that is called less is sampled more. */
        *region = (struct live_share){.every = region->every > 1 ? region->every / 2 : 1};
    }
    tally->n_touched = 0;
    mem_grow(&tally->region, &tally->region_cap, step->defs->names.n);
    for (; tally->n_regions < step->defs->names.n; tally->n_regions++)
        tally->region[tally->n_regions] = (struct live_share){.every = 1};
    mem_grow(&tally->rank, &tally->rank_cap, opts->n_ranks);
    tally->n_ranks = opts->n_ranks;
    for (uint32_t i = 0; i < tally->n_ranks; i++)
        tally->rank[i] = (struct live_share){0};
    mem_grow(&tally->counter, &tally->counter_cap, n_counters);
    tally->n_counters = n_counters;
    for (uint32_t i = 0; i < n_counters; i++)
        tally->counter[i] = (struct live_reading){0};
    tally->ranks.n = tally->regions.n = tally->counters.n = 0;
    tally->n_points = 0;
    tally->n_messages = tally->severity_ns = 0;
    tally->shift = opts->grid->shift;
    tally->origin_ns = opts->grid->origin_ns;
}

void live_tally_step(struct live_tally *tally, const struct ad_step *step,
                     const struct live_tally_opts *opts)
{
    size_t next = 0;

    begin(tally, step, opts);
    for (; next < step->n_verdicts && step->verdict[next].row == NO_ROW; next++)
        add_verdict(tally, step, &step->verdict[next],
                    opts->rank_of[step->verdict[next].location]);
    for (uint32_t l = 0; l < step->n_locations; l++) {
        count_messages(tally, &step->calls[l]);
        next = count_calls(tally, step, l, next, opts);
        count_counters(tally, step, l);
    }
    thin_out(tally);
    for (uint32_t i = 0; i < tally->n_ranks; i++)
        flush(&tally->ranks, i, &tally->rank[i]);
    for (size_t i = 0; i < tally->n_touched; i++)
        flush(&tally->regions, tally->touched[i], &tally->region[tally->touched[i]]);
}
