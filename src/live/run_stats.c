#include "live/run_stats.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_US 1e3

/* ------------------------------------------------------------------------------- sketches */

/* What a bin stands for: its middle, but no more than the extremes. */
static double bin_value(const struct sketch *s, uint32_t bin)
{
    double low = (double)sketch_bin_start(bin);
    double high = bin + 1 < SKETCH_MAX_BINS ? (double)sketch_bin_start(bin + 1) - 1 : low;

    return fmin(fmax((low + high) / 2, (double)s->min), (double)s->max);
}

struct prov_stats sketch_stats(const struct sketch *s)
{
    double n = (double)s->n, mean = sketch_mean(s), deviation = sketch_deviation(s);
    double third = 0, fourth = 0;
    struct prov_stats stats = {.count = s->n};

    if (s->n == 0)
        return stats;
    stats.accumulate = (double)s->sums.sum / NS_PER_US;
    stats.minimum = (double)s->min / NS_PER_US;
    stats.maximum = (double)s->max / NS_PER_US;
    stats.mean = mean / NS_PER_US;
    if (s->n < 2 || deviation == 0)
        return stats;
    for (uint32_t i = 0; i < s->n_bins; i++) {
        double z = (bin_value(s, s->first_bin + i) - mean) / deviation;

        third += (double)s->count[i] * z * z * z;
        fourth += (double)s->count[i] * z * z * z * z;
    }
    stats.stddev = deviation * sqrt(n / (n - 1)) / NS_PER_US;
    stats.skewness = third / n;
    stats.kurtosis = fourth / n - 3;
    return stats;
}

/* ----------------------------------------------------------------------------------- steps */

void run_stats_init(struct run_stats *s, bool is_inclusive, uint32_t program)
{
    *s = (struct run_stats){.is_inclusive = is_inclusive, .program = program};
}

void run_stats_release(struct run_stats *s)
{
    for (uint32_t i = 0; i < s->n_functions; i++)
        sketch_release(&s->function[i].other);
    free(s->function);
    free(s->counter);
    *s = (struct run_stats){0};
}

static void follow_models(struct run_stats *s, const struct ad_step *step)
{
    const struct definitions *defs = step->defs;

    mem_grow(&s->function, &s->function_cap, ad_models(step->ad));
    for (; s->n_functions < ad_models(step->ad); s->n_functions++) {
        s->function[s->n_functions] = (struct function_stats){0};
        sketch_init(&s->function[s->n_functions].other);
    }
    mem_grow(&s->counter, &s->counter_cap, defs->counters.n);
    for (; s->n_counters < defs->counters.n; s->n_counters++)
        s->counter[s->n_counters] = (struct moments){0};
}

static void add_calls(struct run_stats *s, const struct calls *c, const uint32_t *model)
{
    const uint64_t *time_ns = s->is_inclusive ? c->exclusive_ns : c->inclusive_ns;

    for (uint32_t row = 0; row < c->n; row++)
        if (c->inclusive_ns[row] != CALL_OPEN)
            sketch_add(&s->function[model[row]].other, time_ns[row]);
}

static void add_counters(struct run_stats *s, const struct calls *c)
{
    for (size_t i = 0; i < c->n_counters; i++) {
        const struct counter_value *value = &c->counter[i].value;

        moments_add(&s->counter[value->counter],
                    value->is_real ? value->real : (double)value->whole);
    }
}

void anomaly_stats_add(struct anomaly_stats *stats, double severity_ns, double score)
{
    moments_add(&stats->severity, fmax(severity_ns, 0) / NS_PER_US);
    moments_add(&stats->score, score);
}

void run_stats_step(struct run_stats *s, const struct ad_step *step)
{
    follow_models(s, step);
    for (uint32_t l = 0; l < step->n_locations; l++) {
        if (!step->is_last)
            add_calls(s, &step->calls[l], step->model[l]);
        add_counters(s, &step->calls[l]);
    }
    for (size_t i = 0; i < step->n_verdicts; i++) {
        const struct verdict *v = &step->verdict[i];

        anomaly_stats_add(&s->function[v->model].anomalies, v->severity_ns, v->judgement.score);
    }
}

void run_stats_keep(struct run_stats *s, const struct anomaly_stats *kept,
                    uint64_t n_taken_back)
{
    uint64_t n = 0, n_kept = 0;

    for (uint32_t i = 0; i < s->n_functions; i++) {
        n += s->function[i].anomalies.score.n;
        n_kept += kept[i].score.n;
    }
    for (uint32_t i = 0; i < s->n_functions && n_kept + n_taken_back == n; i++)
        s->function[i].anomalies = kept[i];
}

/* ---------------------------------------------------------------------------------- models */

static void put_model(struct run_stats *s, const struct ad_step *step, uint32_t model,
                      struct prov_store *store)
{
    const struct sketch *sketch = ad_sketch(step->ad, model);
    const struct call_judge *judge = ad_judge(step->ad, model);
    struct function_stats *own = &s->function[model];
    char *name = ad_model_name(step->ad, model);
    struct pack pack = {0};

    own->version++;
    own->n_calls = judge->model.n;
    sketch_pack(sketch, &pack);
    prov_store_put_model(store, &(struct prov_model){.version = own->version,
                                                     .program = s->program,
                                                     .fid = ad_function(step->ad, model),
                                                     .func = name,
                                                     .algorithm = judge->ops->name,
                                                     .stats = sketch_stats(sketch),
                                                     .data = pack.data,
                                                     .bytes = pack.n});
    pack_release(&pack);
    free(name);
}

uint64_t run_stats_version(struct run_stats *s, const struct ad_step *step, uint32_t model,
                           struct prov_store *store)
{
    const struct call_judge *judge = ad_judge(step->ad, model);

    if (judge && judge->model.n != s->function[model].n_calls)
        put_model(s, step, model, store);
    return s->function[model].version;
}

static void put_function(const struct run_stats *s, const struct ad_step *step, uint32_t model,
                         struct prov_store *store)
{
    const struct function_stats *own = &s->function[model];
    struct prov_stats judged = sketch_stats(ad_own_sketch(step->ad, model));
    struct prov_stats other = sketch_stats(&own->other);
    char *name = ad_model_name(step->ad, model);

    prov_store_put_func_stats(
        store, &(struct prov_func_stats){.program = s->program,
                                         .fid = ad_function(step->ad, model),
                                         .func = name,
                                         .n_calls = own->other.n,
                                         .n_anomalies = own->anomalies.score.n,
                                         .exclusive = s->is_inclusive ? other : judged,
                                         .inclusive = s->is_inclusive ? judged : other,
                                         .severity = prov_stats_of(&own->anomalies.severity),
                                         .score = prov_stats_of(&own->anomalies.score)});
    free(name);
}

void run_stats_put_numbers(const struct run_stats *s, const struct ad_step *step,
                           struct prov_store *store)
{
    for (uint32_t i = 0; i < s->n_functions; i++)
        if (s->function[i].other.n > 0)
            put_function(s, step, i, store);
    for (uint32_t i = 0; i < s->n_counters; i++)
        if (s->counter[i].n > 0)
            prov_store_put_counter_stats(
                store, &(struct prov_counter_stats){.program = s->program,
                                                    .counter = step->defs->counters.name[i],
                                                    .stats = prov_stats_of(&s->counter[i])});
}

void run_stats_put(struct run_stats *s, const struct ad_step *step, struct prov_store *store)
{
    run_stats_put_numbers(s, step, store);
    for (uint32_t i = 0; i < s->n_functions; i++)
        if (s->function[i].other.n > 0 && ad_judge(step->ad, i))
            put_model(s, step, i, store);
}
