#include "live/recorder.h"

#include "base/err.h"
#include "base/mem.h"
#include "live/evidence.h"
#include "live/normals.h"
#include "live/run_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a normal call of a function is wanted. */
struct want {
    bool is_wanted;    /* there was an anomaly, and no normal call since */
    uint32_t location; /* of it */
};

struct recorder {
    struct recorder_opts opts;
    struct prov_store *store;
    struct evidence evidence;
    struct normals normals;
    struct run_stats stats;
    struct exhibit *held; /* [n_held]; those behind are empty, and kept for their memory */
    size_t n_held, held_cap;
    struct want *want; /* [n_regions] */
    uint32_t n_regions;
    size_t want_cap;
    struct recorder_counts counts;
    int final_rc;
    char *final_message;
};

int recorder_open(struct recorder **out, const struct recorder_opts *opts)
{
    struct recorder *r;
    int rc;

    *out = NULL;
    if (opts->window > RECORDER_MOST_WINDOW)
        return err_set(ERR_RANGE, "a window of %u calls is too large, %u at most", opts->window,
                       RECORDER_MOST_WINDOW);
    r = mem_alloc(1, sizeof *r);
    r->opts = *opts;
    normals_init(&r->normals, opts->is_inclusive);
    run_stats_init(&r->stats, opts->is_inclusive, opts->program);
    rc = evidence_open(&r->evidence,
                       &(struct evidence_opts){.is_inclusive = opts->is_inclusive,
                                               .window = opts->window,
                                               .watchlist = opts->watchlist,
                                               .counter_prefix = opts->counter_prefix,
                                               .hostname = opts->hostname});
    if (rc == 0)
        rc = prov_store_open(opts->url, &opts->store, &r->store);
    if (rc == 0)
        *out = r;
    else
        recorder_close(r);
    return rc;
}

int recorder_close(struct recorder *r)
{
    int rc, final_rc;

    if (r == NULL)
        return 0;
    rc = prov_store_close(r->store);
    for (size_t i = 0; i < r->held_cap; i++)
        exhibit_release(&r->held[i]);
    free(r->held);
    free(r->want);
    evidence_release(&r->evidence);
    normals_release(&r->normals);
    run_stats_release(&r->stats);
    final_rc = r->final_rc;
    if (rc == 0 && final_rc < 0)
        err_set(final_rc, "%s", r->final_message);
    free(r->final_message);
    free(r);
    return rc < 0 ? rc : final_rc;
}

int recorder_flush(struct recorder *r)
{
    return prov_store_flush(r->store);
}

void recorder_counts(struct recorder *r, struct recorder_counts *out)
{
    *out = r->counts;
    prov_store_counts(r->store, &out->store);
}

/* ------------------------------------------------------------------------------- anomalies */

static void set_judgement(struct recorder *r, const struct ad_step *step, uint32_t region,
                          struct call_judgement judgement, double severity_ns,
                          struct prov_record *record)
{
    const struct call_judge *judge = ad_judge(step->ad, region);

    record->score = judgement.score;
    record->p = judgement.p;
    record->severity_ns = severity_ns > 0 ? (uint64_t)llround(severity_ns) : 0;
    record->algorithm = judge ? judge->ops->name : "";
    record->model_version = run_stats_version(&r->stats, step, region, r->store);
}

static void put_exhibit(struct recorder *r, const struct ad_step *step, struct exhibit *x)
{
    struct prov_record *record = &x->record;

    if (x->call.row != NO_ROW)
        record->window = around_window(&x->around);
    record->partner = arena_zeros(&r->evidence.arena, struct prov_partner, record->n_partners);
    for (size_t i = 0; i < record->n_partners; i++) {
        const struct location *location = &step->defs->location[x->partner_location[i]];

        record->partner[i] = (struct prov_partner){.rank = location->rank,
                                                   .thread = location->thread,
                                                   .window = around_window(&x->partner[i])};
    }
    prov_store_put(r->store, PROV_ANOMALY, record);
    r->counts.n_anomalies++;
}

/* What waited for this step. */
static void put_held(struct recorder *r, const struct ad_step *step)
{
    for (size_t i = 0; i < r->n_held; i++) {
        evidence_continue(&r->evidence, step, &r->held[i]);
        put_exhibit(r, step, &r->held[i]);
    }
    r->n_held = 0;
    arena_release(&r->evidence.arena);
}

/* Room for one more; what is behind n_held is empty. */
static struct exhibit *next_exhibit(struct recorder *r)
{
    size_t cap = r->held_cap;

    mem_grow(&r->held, &r->held_cap, r->n_held + 1, sizeof *r->held);
    if (r->held_cap > cap)
        memset(r->held + cap, 0, (r->held_cap - cap) * sizeof *r->held);
    return &r->held[r->n_held];
}

static void record_anomaly(struct recorder *r, const struct ad_step *step,
                           const struct verdict *v)
{
    struct exhibit *x = next_exhibit(r);
    bool is_late = v->row == NO_ROW;

    if (is_late)
        evidence_take_late(&r->evidence, step, v, x);
    else
        evidence_take(&r->evidence, step, v, x);
    r->counts.n_late += is_late;
    set_judgement(r, step, v->region, v->judgement, v->severity_ns, &x->record);
    if (!step->is_last && r->n_held < RECORDER_MOST_HELD &&
        !evidence_is_complete(&r->evidence, x))
        r->n_held++;
    else
        put_exhibit(r, step, x);
}

/* --------------------------------------------------------------------------------- normals */

static void follow_regions(struct recorder *r, const struct ad_step *step)
{
    mem_grow(&r->want, &r->want_cap, step->defs->names.n, sizeof *r->want);
    for (; r->n_regions < step->defs->names.n; r->n_regions++)
        r->want[r->n_regions] = (struct want){0};
}

static void put_normal(struct recorder *r, const struct ad_step *step, const struct normal *n)
{
    const struct call_judge *judge = ad_judge(step->ad, n->call.region);
    const struct sketch *sketch = ad_sketch(step->ad, n->call.region);
    uint64_t time_ns = r->opts.is_inclusive ? n->call.inclusive_ns : n->call.exclusive_ns;
    struct prov_record record = {.event = n->event,
                                 .stack = n->stack,
                                 .n_stack = n->n_stack,
                                 .window = around_window(&n->around)};

    evidence_place(&r->evidence, step, &n->call, &n->entered, &record);
    set_judgement(r, step, n->call.region, judge->ops->judge(&judge->model, sketch, time_ns),
                  (double)time_ns - judge->model.median, &record);
    prov_store_put(r->store, PROV_NORMAL, &record);
    r->counts.n_normals++;
}

/* One for each function that is strange in this step, or was when there was none to give. */
static void put_normals(struct recorder *r, const struct ad_step *step)
{
    for (size_t i = 0; i < step->n_verdicts; i++) {
        struct want *want = &r->want[step->verdict[i].region];

        if (!want->is_wanted)
            want->location = step->verdict[i].location;
        want->is_wanted = true;
    }
    for (uint32_t region = 0; region < r->n_regions; region++) {
        struct want *want = &r->want[region];
        const struct normal *normal = NULL;

        if (want->is_wanted)
            normal = normals_give(&r->normals, step->n_locations, want->location, region);
        if (normal == NULL)
            continue;
        put_normal(r, step, normal);
        want->is_wanted = false;
    }
}

/* --------------------------------------------------------------------------------- the end */

struct last_judge {
    const struct recorder *recorder;
    const struct ad_step *step;
};

/* Others may write to the store: records of processes that were not seen here are theirs. */
static void judge_again(void *ctx, enum prov_kind kind, const struct prov_record *record,
                        struct prov_final *final)
{
    const struct last_judge *last = ctx;
    const struct recorder *r = last->recorder;
    uint32_t region = names_find(&last->step->defs->names, record->func);
    const struct call_judge *judge =
        region == NAMES_NONE ? NULL : ad_judge(last->step->ad, region);
    uint64_t time_ns = r->opts.is_inclusive ? record->inclusive_ns : record->exclusive_ns;
    struct call_judgement judgement;

    if (judge == NULL ||
        idmap_find(&r->evidence.histories.groups,
                   key_pair(record->program, record->event.rank)) == IDMAP_NONE)
        return;
    judgement = judge->ops->judge(&judge->model, ad_sketch(last->step->ad, region), time_ns);
    *final = (struct prov_final){.is_judged = true,
                                 .is_pruned = call_judge_is_anomaly(judge, time_ns) !=
                                              (kind == PROV_ANOMALY),
                                 .score = judgement.score,
                                 .p = judgement.p};
}

static void finish(struct recorder *r, const struct ad_step *step)
{
    struct last_judge last = {r, step};
    struct prov_rejudged rejudged = {0};

    run_stats_put(&r->stats, step, r->store);
    prov_store_flush(r->store); /* what was lost is told at the end */
    r->final_rc = prov_store_rejudge(r->store, judge_again, &last, &rejudged);
    if (r->final_rc < 0)
        r->final_message = mem_copy_string(err_message());
    r->counts.n_pruned = rejudged.n_pruned;
}

void recorder_step(void *ctx, const struct ad_step *step)
{
    struct recorder *r = ctx;

    hosts_step(&r->evidence.hosts, &r->evidence.histories, step->defs, r->store);
    evidence_begin(&r->evidence, step);
    follow_regions(r, step);
    put_held(r, step);
    run_stats_step(&r->stats, step);
    normals_look(&r->normals, &r->evidence.histories, step);
    for (size_t i = 0; i < step->n_verdicts; i++)
        record_anomaly(r, step, &step->verdict[i]);
    put_normals(r, step);
    evidence_end(&r->evidence, step);
    if (step->is_last)
        finish(r, step);
}
