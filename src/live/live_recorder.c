/*
 * Records of strange calls, and of normal ones to compare them with: of each step, location
 * and function the call that took most nearly what is typical (the median) is kept, if it is
 * normal, in place of the one before. When a call of the function turns out to be strange,
 * that is given away, once; where there is none yet, as soon as there is one.
 *
 * Source: Chimbuko's ADNormalEventProvenance. Departs from it: nearest to the median rather
 * than lowest score, which a step's calls share by the thousand; a normal call of another
 * location is taken where the strange call's own has none.
 */
#include "live/live_recorder.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/progress.h"
#include "live/evidence.h"
#include "live/call_history.h"
#include "live/live_costs.h"
#include "live/run_stats.h"
#include "live/tree_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- normal calls to compare with */

#define MAX_NORMALS 8192u /* pairs of location and model */

struct normal {
    struct verdict call; /* without a judgement */
    struct prov_event event;
    struct entered entered;
    struct prov_call *stack; /* [n_stack] the call itself first */
    size_t n_stack, stack_cap;
    struct around around;
    bool is_given; /* away already */
};

/* The calls that one model judges, in one location and step. */
struct nearest_call {
    uint64_t median_ns, distance_ns;
    uint32_t row;
    uint32_t stamp; /* of the location and step this was last used for */
};

struct normals {
    bool is_inclusive;
    struct idmap pairs;    /* (location, model) */
    struct normal *normal; /* [pairs.n] */
    size_t cap;
    struct nearest_call *nearest; /* [n_models] */
    size_t nearest_cap;
    uint32_t n_models, stamp;
    uint32_t *touched; /* [n_touched] models of the location */
    size_t n_touched, touched_cap;
};

static void normals_init(struct normals *n, bool is_inclusive)
{
    *n = (struct normals){.is_inclusive = is_inclusive};
}

static void normals_release(struct normals *n)
{
    for (uint32_t i = 0; i < n->pairs.n; i++) {
        free(n->normal[i].stack);
        around_release(&n->normal[i].around);
    }
    free(n->normal);
    free(n->nearest);
    free(n->touched);
    idmap_release(&n->pairs);
    *n = (struct normals){0};
}

/* --------------------------------------------------------------------------------- looking */

/* The medians are those of the models as they are now. */
static void keep_up(struct normals *n, const struct ad_step *step)
{
    mem_grow(&n->nearest, &n->nearest_cap, ad_models(step->ad));
    for (; n->n_models < ad_models(step->ad); n->n_models++)
        n->nearest[n->n_models] = (struct nearest_call){0};
    for (uint32_t m = 0; m < n->n_models; m++) {
        const struct call_judge *judge = ad_judge(step->ad, m);

        n->nearest[m].median_ns = judge ? (uint64_t)judge->model.median : 0;
    }
}

static void find_nearest(struct normals *n, const struct calls *c, const uint32_t *model)
{
    const uint64_t *time_ns = n->is_inclusive ? c->inclusive_ns : c->exclusive_ns;

    n->stamp++;
    n->n_touched = 0;
    for (uint32_t row = 0; row < c->n; row++) {
        struct nearest_call *near = &n->nearest[model[row]];
        uint64_t distance = time_ns[row] > near->median_ns ? time_ns[row] - near->median_ns
                                                           : near->median_ns - time_ns[row];

        if (c->inclusive_ns[row] == CALL_OPEN ||
            (near->stamp == n->stamp && near->distance_ns <= distance))
            continue;
        if (near->stamp != n->stamp) {
            *mem_push(&n->touched, &n->n_touched, &n->touched_cap) = model[row];
        }
        near->stamp = n->stamp;
        near->row = row;
        near->distance_ns = distance;
    }
}

static void keep_stack(struct normal *normal, const struct call_histories *h,
                       const struct ad_step *step, uint32_t location, uint32_t row)
{
    normal->n_stack = 0;
    for (; row != NO_CALL; row = step->calls[location].caller[row]) {
        call_history_call(h, step, location, row,
                          mem_push(&normal->stack, &normal->n_stack, &normal->stack_cap));
    }
}

/* The place of a pair, NULL when there are too many. */
static struct normal *normal_of(struct normals *n, uint32_t location, uint32_t model)
{
    struct key key = key_pair(location, model);
    uint32_t known = n->pairs.n, i = idmap_find(&n->pairs, key);

    if (i == IDMAP_NONE && known == MAX_NORMALS)
        return NULL;
    if (i == IDMAP_NONE) {
        i = idmap_add(&n->pairs, key);
        mem_grow(&n->normal, &n->cap, i + 1);
        n->normal[i] = (struct normal){0};
    }
    return &n->normal[i];
}

static void keep(struct normals *n, const struct call_histories *h, const struct ad_step *step,
                 uint32_t l, uint32_t row)
{
    const struct calls *c = &step->calls[l];
    struct normal *normal = normal_of(n, l, step->model[l][row]);

    if (normal == NULL)
        return;
    normal->call = (struct verdict){.location = l,
                                    .region = c->region[row],
                                    .model = step->model[l][row],
                                    .row = row,
                                    .id = calls_id(c, row),
                                    .step = step->number,
                                    .enter_ns = c->enter_ns[row],
                                    .inclusive_ns = c->inclusive_ns[row],
                                    .exclusive_ns = c->exclusive_ns[row]};
    normal->event = call_history_event(h, step, l, row);
    normal->entered = *call_history_entered(h, step, l, row);
    keep_stack(normal, h, step, l, row);
    around_take(&normal->around, h, step, l, row);
    normal->is_given = false;
}

/* At all calls of a step. O(calls). */
static void normals_look(struct normals *n, const struct call_histories *h,
                         const struct ad_step *step)
{
    keep_up(n, step);
    for (uint32_t l = 0; l < step->n_locations; l++) {
        const struct calls *c = &step->calls[l];

        find_nearest(n, c, step->model[l]);
        for (size_t i = 0; i < n->n_touched; i++) {
            uint32_t row = n->nearest[n->touched[i]].row;
            uint64_t time_ns = n->is_inclusive ? c->inclusive_ns[row] : c->exclusive_ns[row];

            if (ad_judge(step->ad, n->touched[i]) &&
                !ad_is_strange(step->ad, n->touched[i], time_ns))
                keep(n, h, step, l, row);
        }
    }
}

/* ---------------------------------------------------------------------------------- giving */

static struct normal *find(struct normals *n, uint32_t location, uint32_t model)
{
    uint32_t i = idmap_find(&n->pairs, key_pair(location, model));

    return i == IDMAP_NONE || n->normal[i].is_given ? NULL : &n->normal[i];
}

/*
 * A normal call of a function, best of this location; NULL if there is none
 * that was not given before. Valid until the next step. O(locations).
 */
static const struct normal *normals_give(struct normals *n, uint32_t n_locations,
                                         uint32_t location, uint32_t model)
{
    struct normal *found = find(n, location, model);

    for (uint32_t l = 0; found == NULL && l < n_locations; l++)
        found = find(n, l, model);
    if (found)
        found->is_given = true;
    return found;
}

/* ----------------------------------------------------------------------------- the recorder */

/* Whether a normal call of a function is wanted. */
struct want {
    bool is_wanted;    /* there was an anomaly, and no normal call since */
    uint32_t location; /* of it */
};

#define STATISTICS_NS 1000000000u /* how often they are stored, */
#define STATISTICS_PART 50u       /* unless that takes more than this part of the time */
#define MAX_HELD_TREES 64u /* executions among those that wait: their windows are large */

/* The latest normal execution of a function of interest. */
struct latest_tree {
    struct pack record; /* empty: there is none that was not given away */
    bool is_wanted;     /* there was an anomaly, and no normal one since */
};

struct live_recorder {
    struct live_recorder_opts opts;
    struct prov_store *store;
    struct evidence evidence;
    struct partners *partners; /* of other instances; NULL: there are none to ask */
    struct normals normals;
    struct run_stats stats;
    struct live_costs *costs;
    struct evidence_record
        *held; /* [n_held]; those after are empty, and kept for their memory */
    size_t n_held, held_cap;
    struct want *want; /* [n_models] */
    uint32_t n_models;
    size_t want_cap;
    struct latest_tree *latest; /* [n_foi] */
    uint32_t n_foi;
    size_t latest_cap, n_held_trees;
    struct prov_rejudged rejudged; /* in the end */
    uint64_t statistics_ns;        /* when they are due */
    bool is_judged_again;
    struct err_kept final;
};

/* Instances of the same job ask each other. */
static int open_partners(struct live_recorder *r)
{
    struct partners_opts opts = r->opts.partners;

    opts.program = r->opts.program;
    opts.window = r->opts.window;
    return opts.address ? partners_new(&opts, &r->partners) : 0;
}

int live_recorder_open(struct live_recorder **out, const struct live_recorder_opts *opts)
{
    struct prov_store_opts store = opts->store;
    struct live_recorder *r;
    int rc;

    *out = NULL;
    store.program = opts->program;
    if (opts->window > LIVE_RECORDER_MAX_WINDOW)
        return err_set(ERR_RANGE, "a window of %u calls is too large, %u at most", opts->window,
                       LIVE_RECORDER_MAX_WINDOW);
    r = mem_alloc(1, sizeof *r);
    r->opts = *opts;
    normals_init(&r->normals, opts->is_inclusive);
    run_stats_init(&r->stats, opts->is_inclusive, opts->program);
    r->costs = live_costs_new(&(struct live_costs_opts){
        .is_alone = opts->store.rank != NULL,
        .is_inclusive = opts->is_inclusive,
        .is_by_path = opts->is_by_path,
        .window = opts->trees ? live_trees_syncs(opts->trees) : NULL});
    rc = open_partners(r);
    if (rc == 0)
        rc = evidence_open(&r->evidence,
                           &(struct evidence_opts){.is_inclusive = opts->is_inclusive,
                                                   .is_by_path = opts->is_by_path,
                                                   .window = opts->window,
                                                   .watchlist = opts->watchlist,
                                                   .counter_prefix = opts->counter_prefix,
                                                   .hostname = opts->hostname,
                                                   .partners = r->partners});
    if (rc == 0)
        rc = prov_store_open(opts->url, &store, &r->store);
    if (rc == 0)
        *out = r;
    else
        live_recorder_close(r);
    return rc;
}

int live_recorder_close(struct live_recorder *r)
{
    int rc;

    if (r == NULL)
        return 0;
    rc = prov_store_close(r->store);
    for (size_t i = 0; i < r->held_cap; i++)
        evidence_record_release(&r->held[i]);
    free(r->held);
    free(r->want);
    for (uint32_t i = 0; i < r->n_foi; i++)
        pack_release(&r->latest[i].record);
    free(r->latest);
    evidence_release(&r->evidence);
    partners_free(r->partners);
    normals_release(&r->normals);
    run_stats_release(&r->stats);
    live_costs_free(r->costs);
    if (rc == 0)
        rc = err_restore(&r->final);
    err_kept_release(&r->final);
    free(r);
    return rc;
}

int live_recorder_flush(struct live_recorder *r)
{
    return prov_store_flush(r->store);
}

void live_recorder_counts(struct live_recorder *r, struct live_recorder_counts *out)
{
    *out = (struct live_recorder_counts){.is_judged_again = r->is_judged_again,
                                         .n_recv_before_send =
                                             r->evidence.view.n_recv_before_send};
    if (r->is_judged_again) {
        out->n_pruned = r->rejudged.n_pruned;
        out->n_taken_back = r->rejudged.n_taken_back;
        out->taken_back_ns = r->rejudged.taken_back_ns;
    }
    partners_counts(r->partners, &out->partners);
    prov_store_counts(r->store, &out->store);
}

/* ------------------------------------------------------------------------------- anomalies */

static void set_judgement(struct live_recorder *r, const struct ad_step *step, uint32_t model,
                          struct call_judgement judgement, double severity_ns,
                          struct prov_record *record)
{
    const struct call_judge *judge = ad_judge(step->ad, model);

    record->score = judgement.score;
    record->p = judgement.p;
    record->severity_ns = severity_ns > 0 ? (uint64_t)llround(severity_ns) : 0;
    record->algorithm = judge ? judge->ops->name : "";
    record->model_version = run_stats_version(&r->stats, step, model, r->store);
}

static void put_anomaly(void *ctx, const struct prov_record *record)
{
    struct live_recorder *r = ctx;

    prov_store_put(r->store, PROV_ANOMALY, record);
}

static void put_record(struct live_recorder *r, const struct ad_step *step,
                       struct evidence_record *x)
{
    struct prov_record *record = &x->record;

    if (x->call.row != NO_ROW && !record->is_execution)
        record->window = around_window(&x->around);
    record->partner = arena_zeros(&r->evidence.arena, struct prov_partner, record->n_partners);
    for (size_t i = 0; i < record->n_partners; i++) {
        const struct location *location = &step->defs->location[x->partner_location[i]];

        record->partner[i] = (struct prov_partner){.rank = location->rank,
                                                   .thread = location->thread,
                                                   .window = around_window(&x->partner[i])};
    }
    if (x->n_far > 0)
        partners_hold(r->partners, record, x->far, x->n_far, put_anomaly, r);
    else
        put_anomaly(r, record);
}

/* Room for one more; what is after n_held is empty. */
static struct evidence_record *next_record(struct live_recorder *r)
{
    size_t cap = r->held_cap;

    mem_grow(&r->held, &r->held_cap, r->n_held + 1);
    if (r->held_cap > cap)
        memset(r->held + cap, 0, (r->held_cap - cap) * sizeof *r->held);
    return &r->held[r->n_held];
}

static void record_anomaly(struct live_recorder *r, const struct ad_step *step,
                           const struct verdict *v)
{
    struct evidence_record *x = next_record(r);
    bool is_late = v->row == NO_ROW;

    if (is_late)
        evidence_take_late(&r->evidence, step, v, x);
    else
        evidence_take(&r->evidence, step, v, x);
    x->record.is_late = is_late;
    set_judgement(r, step, v->model, v->judgement, v->severity_ns, &x->record);
    live_costs_call(r->costs, step, v, x->record.event);
    if (!step->is_last && r->n_held < LIVE_RECORDER_MAX_HELD &&
        !evidence_is_complete(&r->evidence, x))
        r->n_held++;
    else
        put_record(r, step, x);
}

/* --------------------------------------------------------------------------------- normals */

static void put_normal(struct live_recorder *r, const struct ad_step *step,
                       const struct normal *n)
{
    const struct call_judge *judge = ad_judge(step->ad, n->call.model);
    const struct sketch *sketch = ad_sketch(step->ad, n->call.model);
    uint64_t time_ns = r->opts.is_inclusive ? n->call.inclusive_ns : n->call.exclusive_ns;
    struct prov_record record = {.event = n->event,
                                 .stack = n->stack,
                                 .n_stack = n->n_stack,
                                 .window = around_window(&n->around)};

    evidence_place(&r->evidence, step, &n->call, &n->entered, &record);
    set_judgement(r, step, n->call.model, call_judge_score(judge, sketch, time_ns),
                  (double)time_ns - judge->model.median, &record);
    prov_store_put(r->store, PROV_NORMAL, &record);
}

/* One for each function that is strange in this step, or was when there was none to give. */
static void put_normals(struct live_recorder *r, const struct ad_step *step)
{
    for (size_t i = 0; i < step->n_verdicts; i++) {
        struct want *want = &r->want[step->verdict[i].model];

        if (!want->is_wanted)
            want->location = step->verdict[i].location;
        want->is_wanted = true;
    }
    for (uint32_t model = 0; model < r->n_models; model++) {
        struct want *want = &r->want[model];
        const struct normal *normal = NULL;

        if (want->is_wanted)
            normal = normals_give(&r->normals, step->n_locations, want->location, model);
        if (normal == NULL)
            continue;
        put_normal(r, step, normal);
        want->is_wanted = false;
    }
}

/* ------------------------------------------------------------------------------ executions */

static void record_tree(struct live_recorder *r, const struct ad_step *step,
                        const struct live_foi *foi, uint32_t t)
{
    struct arena_mark mark = arena_mark(&r->evidence.arena);
    struct evidence_record *x = next_record(r);
    struct verdict root = tree_record_root(foi, step, t);
    const uint32_t *first = foi->trees.forest.first;
    uint32_t n = first[t + 1] - first[t];
    const double *lost_ns = NULL;
    bool is_late = root.row == NO_ROW;

    if (is_late) {
        evidence_take_late(&r->evidence, step, &root, x);
    } else {
        lost_ns = live_costs_excess(r->costs, step, r->opts.trees, foi, t);
        evidence_take_whole(&r->evidence, step, &root, lost_ns, lost_ns ? n : 0, x);
    }
    x->record.is_late = is_late;
    tree_record_fill(&r->evidence, foi, step, t, &x->record);
    if (lost_ns) /* of one that is late, what others did then is forgotten */
        live_costs_execution(r->costs, step, foi, t, x->record.event);
    if (!step->is_last && r->n_held_trees < MAX_HELD_TREES &&
        r->n_held < LIVE_RECORDER_MAX_HELD && !evidence_is_complete(&r->evidence, x)) {
        r->n_held++;
        r->n_held_trees++;
        return;
    }
    put_record(r, step, x);
    arena_restore(&r->evidence.arena, mark); /* windows are large */
}

/* Kept as bytes: it may be many steps until somebody wants it. */
static void keep_latest(struct live_recorder *r, const struct ad_step *step,
                        const struct live_foi *foi, struct latest_tree *latest)
{
    struct arena_mark mark = arena_mark(&r->evidence.arena);
    struct evidence_record *x = next_record(r);
    uint32_t t = tree_record_normal(foi);
    struct verdict root;

    if (t == UINT32_MAX)
        return;
    root = tree_record_root(foi, step, t);
    if (root.row == NO_ROW)
        evidence_take_late(&r->evidence, step, &root, x);
    else
        evidence_take_stack(&r->evidence, step, &root, x);
    tree_record_fill(&r->evidence, foi, step, t, &x->record);
    latest->record.n = 0;
    prov_record_pack(&x->record, &latest->record);
    arena_restore(&r->evidence.arena, mark);
}

static void give_latest(struct live_recorder *r, struct latest_tree *latest)
{
    struct arena_mark mark = arena_mark(&r->evidence.arena);
    struct prov_record record;

    if (!latest->is_wanted || latest->record.n == 0)
        return;
    latest->record.at = 0;
    if (prov_record_unpack(&latest->record, &r->evidence.arena, &record) == 0)
        prov_store_put(r->store, PROV_NORMAL, &record);
    latest->record.n = 0;
    latest->is_wanted = false;
    arena_restore(&r->evidence.arena, mark);
}

static void record_trees(struct live_recorder *r, const struct ad_step *step)
{
    uint32_t n;
    const struct live_foi *foi = live_trees_foi(r->opts.trees, &n);

    mem_grow(&r->latest, &r->latest_cap, n);
    while (r->n_foi < n)
        r->latest[r->n_foi++] = (struct latest_tree){.is_wanted = false};
    for (uint32_t i = 0; i < n; i++) {
        if (foi[i].trees.forest.n_trees == 0)
            continue;
        for (uint32_t t = 0; t < foi[i].trees.forest.n_trees; t++)
            if (foi[i].verdict[t].is_anomaly) {
                record_tree(r, step, &foi[i], t);
                r->latest[i].is_wanted = true;
            }
        keep_latest(r, step, &foi[i], &r->latest[i]);
        give_latest(r, &r->latest[i]);
    }
}

/* ----------------------------------------------------------------------------------- costs */

static void put_cost(void *ctx, const struct live_cost *cost)
{
    struct live_recorder *r = ctx;

    prov_store_put_cost(r->store, &(struct prov_cost){.event = cost->event,
                                                      .program = cost->program,
                                                      .is_execution = cost->is_execution,
                                                      .cost_ns = cost->cost_ns,
                                                      .is_bound = cost->is_bound});
}

/* --------------------------------------------------------------------------------- the end */

struct last_judge {
    const struct live_recorder *recorder;
    const struct ad_step *step;
    struct idmap fid;           /* of all models */
    uint32_t *model;            /* [fid.n] */
    struct anomaly_stats *kept; /* [ad_models] of what is not taken back */
};

static void number_models(struct last_judge *last, const struct ad *ad)
{
    last->model = mem_alloc(ad_models(ad), sizeof *last->model);
    for (uint32_t m = 0; m < ad_models(ad); m++) {
        uint32_t i = idmap_add(&last->fid, key_pair(ad_function(ad, m), 0));

        last->model[i] = m;
    }
}

/* The model of a record, or UINT32_MAX. */
static uint32_t model_of(const struct last_judge *last, const struct prov_record *record)
{
    uint32_t i = idmap_find(&last->fid, key_pair(record->fid, 0));

    return i == IDMAP_NONE ? UINT32_MAX : last->model[i];
}

/* Others may write to the store: records of processes that were not seen here are theirs. */
static bool is_ours(const struct live_recorder *r, const struct prov_record *record)
{
    struct key process = key_pair(record->program, record->event.rank);

    return idmap_find(&r->evidence.histories.groups, process) != IDMAP_NONE;
}

static void judge_by(const struct last_judge *last, uint32_t model, enum prov_kind kind,
                     const struct prov_record *record, struct prov_final *final)
{
    const struct ad *ad = last->step->ad;
    const struct call_judge *judge = ad_judge(ad, model);
    uint64_t time_ns =
        last->recorder->opts.is_inclusive ? record->inclusive_ns : record->exclusive_ns;
    struct call_judgement judgement;

    if (judge == NULL)
        return;
    judgement = call_judge_score(judge, ad_sketch(ad, model), time_ns);
    *final = (struct prov_final){.is_judged = true,
                                 .is_pruned = ad_is_strange(ad, model, time_ns) !=
                                              (kind == PROV_ANOMALY),
                                 .score = judgement.score,
                                 .p = judgement.p};
}

static void judge_again(void *ctx, enum prov_kind kind, const struct prov_record *record,
                        struct prov_final *final)
{
    const struct last_judge *last = ctx;
    uint32_t model = model_of(last, record);

    if (record->is_execution || !is_ours(last->recorder, record))
        return;
    judge_by(last, model, kind, record, final);
    if (kind == PROV_ANOMALY && model != UINT32_MAX && !final->is_pruned)
        anomaly_stats_add(&last->kept[model], (double)record->severity_ns, record->score);
}

static void finish(struct live_recorder *r, const struct ad_step *step)
{
    struct last_judge last = {.recorder = r, .step = step};
    const struct ad_totals *n = ad_totals(step->ad);

    if (r->partners)
        partners_finish(r->partners, put_anomaly, r);
    number_models(&last, step->ad);
    last.kept = mem_alloc(ad_models(step->ad), sizeof *last.kept);
    run_stats_put(&r->stats, step, r->store);
    prov_store_flush(r->store); /* what was lost is told at the end */
    r->final = err_keep(prov_store_rejudge(r->store, judge_again, &last, &r->rejudged));
    r->is_judged_again = r->final.code == 0;
    if (r->is_judged_again && r->rejudged.n_taken_back > 0) {
        run_stats_keep(&r->stats, last.kept, r->rejudged.n_taken_back);
        run_stats_put_numbers(&r->stats, step, r->store);
    }
    if (n->no_bytes == NULL && n->n_bytes > 0)
        prov_store_put_size(r->store, n->n_bytes);
    prov_store_end(r->store);
    idmap_release(&last.fid);
    free(last.model);
    free(last.kept);
}

/* A program that is killed leaves what was known of all its calls a moment before. */
static void put_statistics(struct live_recorder *r, const struct ad_step *step)
{
    uint64_t begin_ns = clock_ns(), took_ns;

    if (begin_ns < r->statistics_ns)
        return;
    run_stats_put_numbers(&r->stats, step, r->store);
    took_ns = clock_ns() - begin_ns;
    r->statistics_ns =
        begin_ns +
        (took_ns > STATISTICS_NS / STATISTICS_PART ? took_ns * STATISTICS_PART : STATISTICS_NS);
}

void live_recorder_idle(struct live_recorder *r)
{
    if (r->partners)
        partners_talk(r->partners, put_anomaly, r);
}

void live_recorder_step(void *ctx, const struct ad_step *step)
{
    struct live_recorder *r = ctx;

    hosts_step(&r->evidence.hosts, &r->evidence.histories, step->defs, r->store);
    evidence_begin(&r->evidence, step);
    mem_grow(&r->want, &r->want_cap, ad_models(step->ad));
    for (; r->n_models < ad_models(step->ad); r->n_models++)
        r->want[r->n_models] = (struct want){0};
    /* What waited for this step. */
    for (size_t i = 0; i < r->n_held; i++) {
        evidence_continue(&r->evidence, step, &r->held[i]);
        put_record(r, step, &r->held[i]);
    }
    r->n_held = r->n_held_trees = 0;
    arena_release(&r->evidence.arena);
    live_costs_take(r->costs, step);
    run_stats_step(&r->stats, step);
    if (!step->is_last)
        normals_look(&r->normals, &r->evidence.histories, step);
    for (size_t i = 0; i < step->n_verdicts; i++)
        record_anomaly(r, step, &step->verdict[i]);
    put_normals(r, step);
    if (r->opts.trees)
        record_trees(r, step);
    live_costs_settle(r->costs, step, put_cost, r);
    evidence_end(&r->evidence, step);
    if (step->is_last) {
        finish(r, step);
        return;
    }
    put_statistics(r, step);
    live_recorder_idle(r);
}
