/*
 * Rows and the model, and what is only looked for here: causes, incidents, what they cost, the
 * places that are slow, and the ways in which executions are strange.
 */
#include "analysis/run_store.h"

#include "analysis/analysis.h"
#include "analysis/costs.h"
#include "analysis/incidents.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/text.h"
#include "ranks/growth.h"
#include "ranks/peer_few.h"
#include "ranks/peer_places.h"
#include "ranks/peers.h"
#include "replay/critical.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MUCH_SLOWER 1.05 /* own work over others': with less nobody is looked for */
#define MAY_BE 0.05    /* of a place's time: what it may be slow by is said if it is so much */
#define MIN_COST 0.001 /* of the run, for a thread to be one that is to blame */
#define BATCH_ROWS 1024u /* executions whose sentences are made while others are stored */
#define PIECE_ROWS 32u   /* of these, by a thread at once */
#define INCIDENT_CAUSE_SIZE (WHY_CAUSE_SIZE + 24)
#define MAX_OUTSIDE_NAME 40 /* bytes of a function that others waited for */
#define INCIDENT_WHY_SIZE (WHY_SIZE + CAUSE_SIZE + 2 * COST_TEXT_SIZE + 96)

/* ------------------------------------------------------------------------------------- ways */

/* Sorted by way, each is a run of executions; the runs are then put in order. */

struct strange {
    struct way way;
    uint32_t tree;
};

/* Those of one way, among all that are sorted. */
struct way_range {
    size_t begin, end;
    double caused_ns; /* lost in the incidents that go back to one of them */
    int64_t lost_ns;  /* by anomalies among them */
    uint32_t first;   /* tree */
};

static int by_way(const void *a, const void *b)
{
    const struct strange *p = a, *q = b;

    return ORDER(p->way.kind, q->way.kind) ?:
           ORDER(p->way.number, q->way.number) ?:
           ORDER(p->tree, q->tree);
}

/* What others go back to comes before those others. */
static int by_lost(const void *a, const void *b)
{
    const struct way_range *p = a, *q = b;

    return ORDER(q->caused_ns, p->caused_ns) ?:
           ORDER(q->lost_ns, p->lost_ns) ?:
           ORDER(q->end - q->begin, p->end - p->begin) ?:
           ORDER(p->first, q->first);
}

static size_t find_strange(const struct scoring *s, const struct incidents *incidents,
                           struct why *why, struct strange **out)
{
    size_t n = 0, cap = 0;

    *out = NULL;
    for (uint32_t t = 0; t < s->forest.n_trees; t++) {
        struct way way;

        if (!s->is_anomaly[t] && incidents->of[t] == INCIDENT_NONE)
            continue;
        way = scoring_way(s, why, t);
        if (way.kind == WAY_NONE)
            continue;
        mem_grow(out, &cap, n + 1);
        (*out)[n++] = (struct strange){way, t};
    }
    if (n > 1)
        qsort(*out, n, sizeof **out, by_way);
    return n;
}

static size_t find_ranges(const struct scoring *s, const struct incidents *incidents,
                          const struct strange *strange, size_t n, struct way_range *range)
{
    size_t n_ranges = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_new = i == 0 || strange[i].way.kind != strange[i - 1].way.kind ||
                      strange[i].way.number != strange[i - 1].way.number;
        uint32_t t = strange[i].tree;

        if (is_new)
            range[n_ranges++] = (struct way_range){.begin = i, .first = t};
        range[n_ranges - 1].end = i + 1;
        if (!s->is_anomaly[t])
            continue;
        range[n_ranges - 1].lost_ns += s->measure[t].loss.ns;
        if (incidents->of[t] != INCIDENT_NONE &&
            incidents->incident[incidents->of[t]].head == t)
            range[n_ranges - 1].caused_ns += incidents->incident[incidents->of[t]].lost_ns;
    }
    if (n_ranges > 1)
        qsort(range, n_ranges, sizeof *range, by_lost);
    return n_ranges;
}

/* The function that a way is of, if it is of one. */
static int save_function(sqlite3 *db, sqlite3_stmt *insert, int64_t foi, int64_t id,
                         const struct region *function)
{
    char place[REGION_PLACE_SIZE];

    if (function == NULL)
        return 0;
    return rundb_insert(db, insert, "iitt", foi, id, function->short_name,
                        region_source(function, place));
}

static int save_ways(sqlite3 *db, int64_t foi, const struct scoring *scoring,
                     const struct incidents *incidents, struct why *why)
{
    struct strange *strange;
    size_t n = find_strange(scoring, incidents, why, &strange), n_ranges;
    struct way_range *range = mem_alloc(n, sizeof *range);
    sqlite3_stmt *add_way = NULL, *add_function = NULL, *add_execution = NULL;
    int rc = rundb_prepare_insert(db, "way", "foi, id, what", &add_way);

    if (rc == 0)
        rc = rundb_prepare_insert(db, "way_function", "foi, id, name, place", &add_function);
    if (rc == 0)
        rc = rundb_prepare_insert(db, "execution_way", "foi, tree, way", &add_execution);
    n_ranges = find_ranges(scoring, incidents, strange, n, range);
    for (size_t i = 0; rc == 0 && i < n_ranges; i++) {
        struct way way = strange[range[i].begin].way;
        char what[WAY_SIZE];

        rc = rundb_insert(db, add_way, "iit", foi, (int64_t)i + 1, way_say(why, way, what));
        if (rc == 0)
            rc = save_function(db, add_function, foi, (int64_t)i + 1, way_function(why, way));
        for (size_t k = range[i].begin; rc == 0 && k < range[i].end; k++)
            rc = rundb_insert(db, add_execution, "iii", foi, (int64_t)strange[k].tree,
                              (int64_t)i + 1);
    }
    sqlite3_finalize(add_way);
    sqlite3_finalize(add_function);
    sqlite3_finalize(add_execution);
    free(strange);
    free(range);
    return rc;
}

/* ----------------------------------------------------------------------------- executions */

static int save_foi(sqlite3 *db, const struct analysed *a)
{
    const struct scoring *w = a->scoring;
    const struct analysis_result *result = a->result;
    const struct foi_settings settings = {
        .neighbours = a->opts->k,
        .seed = a->opts->seed,
        .model_executions = w->by ? w->model.n_trees : 0,
        .told_threshold = a->opts->threshold,
        .learnt = {w->gamma, w->gamma > 0 ? a->opts->nu : 0, w->embedding.opts},
    };
    char text[FOI_SETTINGS_SIZE];
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "foi",
                                  "id, name, region, trees, vertices, messages, "
                                  "unique_subtrees, max_depth, features, detector, "
                                  "threshold, settings",
                                  &insert);

    foi_settings_text(&settings, text);
    if (rc == 0)
        rc = rundb_insert(db, insert, "itiiiiiittdt", a->foi->id, a->foi->name,
                          (int64_t)a->foi->region, (int64_t)result->n_trees,
                          (int64_t)result->n_vertices, (int64_t)result->n_messages,
                          (int64_t)result->n_subtrees, (int64_t)result->max_depth,
                          a->opts->features->name, a->opts->detector->name, w->threshold, text);
    sqlite3_finalize(insert);
    return rc;
}

/* What is stored beside a function of interest's executions. */
struct foi_findings {
    const struct analysed *a;
    struct err_kept costs_result; /* another thread's, perhaps */
    struct causes causes;
    struct incidents incidents;
    struct costs costs;
    struct peers peers;
    struct growth growth;
};

/* Executions that follow each other, and what is said of them. */
struct sentence_batch {
    uint32_t begin, end;
    char (*sentence)[WHY_SIZE];
};

/*
 * Sentences are made by all threads while one of them stores those of the batch before: the
 * database is written in the order of executions.
 */
struct storing {
    struct foi_findings *found;
    sqlite3 *db;
    sqlite3_stmt *insert;
    struct why *why; /* [workers] */
    struct sentence_batch made, stored;
    struct progress progress;
    int rc;
    struct err_kept failure; /* of rc: another thread's, perhaps */
};

/* Whether what tree t lost, or others with it, goes back to anybody: not where nothing was lost, as far as is known. */
static bool blames(const struct foi_findings *found, uint32_t t, double lost_ns)
{
    const struct scoring *w = found->a->scoring;

    return lost_ns > 0 || (w->is_anomaly[t] && w->forest.open_ns[t] > 0);
}

/* The chain that tree t's lost time goes back along, in a sentence, or NULL. */
static const char *chain_of(const struct foi_findings *found, uint32_t t)
{
    bool is_late = blames(found, t, (double)found->a->scoring->measure[t].loss.ns);

    return is_late ? found->incidents.chain[t] : NULL;
}

static int save_execution(const struct storing *s, uint32_t t)
{
    const struct foi_findings *found = s->found;
    const struct analysed *a = found->a;
    const struct scoring *w = a->scoring;
    const struct forest *f = &w->forest;
    const struct location *location = &w->defs->location[f->location[t]];
    const struct residual_measure *m = &w->measure[t];
    const char *verdict = w->is_anomaly[t] ? "anomaly" : "normal";
    const struct costs *costs = &found->costs;
    uint32_t incident = found->incidents.of[t];

    return rundb_insert(
        s->db, s->insert, "iiiiiiiiiiiioiiirtrtrrrrrtttooit", a->foi->id, (int64_t)t,
        (int64_t)f->location[t], (int64_t)location->rank, (int64_t)location->thread,
        (int64_t)f->index[t], (int64_t)f->call[t], (int64_t)f->enter_ns[t],
        (int64_t)f->root_ns[t], (int64_t)f->tracer_ns[t], m->loss.typical_ns, m->loss.ns,
        f->open_ns[t] > 0, (int64_t)f->open_ns[t] - 1, (int64_t)llrint(forest_off_ns(f, t)),
        (int64_t)forest_n_rows(f, t), (int64_t)f->n_messages[t], w->score[t], verdict,
        w->score[t], verdict, w->chance[t], m->time, m->gross, m->structure, m->size,
        score_part_name(w->residual.part[t]), s->stored.sentence[t - s->stored.begin],
        chain_of(found, t), incident != INCIDENT_NONE, (int64_t)incident + 1,
        costs->cost_ns[t] != COST_UNKNOWN, costs->cost_ns[t], (int64_t)costs->is_bound[t],
        costs->text[t]);
}

static void store_batch(struct storing *s)
{
    for (uint32_t t = s->stored.begin; s->rc == 0 && t < s->stored.end; t++) {
        s->rc = save_execution(s, t);
        progress_add(&s->progress, 1);
    }
    if (s->failure.code == 0)
        s->failure = err_keep(s->rc);
}

/* What is said of t, whoever has made it. */
static void say(const struct analysed *a, struct why *why, uint32_t t, char out[WHY_SIZE])
{
    if (a->sentences)
        snprintf(out, WHY_SIZE, "%s", a->sentences->text[t]);
    else
        scoring_why(a->scoring, why, t, out);
}

static void make_sentences(const struct storing *s, size_t piece, struct why *why)
{
    uint32_t begin = s->made.begin + (uint32_t)piece * PIECE_ROWS;
    uint32_t end = s->made.end - begin < PIECE_ROWS ? s->made.end : begin + PIECE_ROWS;

    for (uint32_t t = begin; t < end; t++)
        say(s->found->a, why, t, s->made.sentence[t - s->made.begin]);
}

/* Row 0 is the batch to be stored, the others are pieces of the one that is made. */
static void take_batches(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct storing *s = ctx;

    for (size_t row = begin; row < end; row++) {
        if (row == 0)
            store_batch(s);
        else
            make_sentences(s, row - 1, &s->why[worker]);
    }
}

/* One batch more than there are, as the last one is stored when no other is made. */
static void store_all(struct storing *s)
{
    struct pool *pool = s->found->a->opts->pool;
    uint32_t n = s->found->a->scoring->forest.n_trees;

    while (s->rc == 0 && s->stored.end < n) {
        struct sentence_batch done = s->made;
        uint32_t left = n - done.end;

        s->made = s->stored;
        s->stored = done;
        s->made.begin = done.end;
        s->made.end = done.end + (left < BATCH_ROWS ? left : BATCH_ROWS);
        pool_for(pool, 1 + (s->made.end - s->made.begin + PIECE_ROWS - 1) / PIECE_ROWS, 1,
                 take_batches, s);
    }
}

static int save_executions(sqlite3 *db, struct foi_findings *found)
{
    struct storing s = {.found = found, .db = db};
    unsigned n_threads = pool_threads(found->a->opts->pool);

    s.rc = rundb_prepare_insert(
        db, "execution",
        "foi, tree, location, rank, thread, idx, call, enter_ns, duration_ns, tracer_ns, "
        "usual_ns, lost_ns, open_ns, off_ns, vertices, messages, score, verdict, "
        "detector_score, "
        "detector_verdict, "
        "false_alarm_probability, time, gross, structure, size, part, why, cause, incident, "
        "cost_ns, cost_is_bound, cost",
        &s.insert);
    if (s.rc < 0)
        return s.rc;
    s.why = mem_alloc(n_threads, sizeof *s.why);
    for (unsigned w = 0; w < n_threads; w++)
        scoring_why_init(found->a->scoring, &s.why[w]);
    s.made.sentence = mem_resize(NULL, BATCH_ROWS, sizeof *s.made.sentence);
    s.stored.sentence = mem_resize(NULL, BATCH_ROWS, sizeof *s.stored.sentence);
    progress_begin(&s.progress, "storing", "executions", found->a->scoring->forest.n_trees);
    store_all(&s);
    progress_end(&s.progress);
    err_restore(&s.failure);
    free(s.made.sentence);
    free(s.stored.sentence);
    for (unsigned w = 0; w < n_threads; w++)
        why_release(&s.why[w]);
    free(s.why);
    sqlite3_finalize(s.insert);
    return s.rc;
}

/* The sentence of its head, with its chain; before it, how often it comes back. A head that is
 * none itself does not speak against the anomalies that go back to it. */
static char *why_incident(struct foi_findings *found, uint32_t i, char out[INCIDENT_WHY_SIZE])
{
    const struct incident *x = &found->incidents.incident[i];
    const char *chain = chain_of(found, x->head);
    const char *cost = x->n_members == 1 ? found->costs.text[x->head] : NULL;
    char sentence[WHY_SIZE], often[64] = "", range[COST_TEXT_SIZE];

    if (x->period > 0)
        snprintf(often, sizeof often,
                 "in every %uth execution there, %u times; the longest: ", x->period,
                 x->n_turns);
    scoring_why_of(found->a->scoring, &found->costs.why, x->head, x->is_anomaly, sentence);
    costs_say_range(&found->costs.of_incident[i], x->lost_ns, range);
    snprintf(out, INCIDENT_WHY_SIZE, "%s%s%s%s%s%s%s%s", often, sentence,
             chain ? "; cause: " : "", chain ? chain : "", cost ? "; " : "", cost ? cost : "",
             *range ? "; " : "", range);
    return out;
}

/* "rank 3 barotropic, 19.8 ms late", "rank 0.2 sgemm, 20.0 ms longer" */
static void say_outside(const struct definitions *defs, const struct outside_cause *x,
                        char out[INCIDENT_CAUSE_SIZE])
{
    struct text_writer w = {.out = out, .size = INCIDENT_CAUSE_SIZE};
    const struct location *l = &defs->location[x->location];
    char name[MAX_OUTSIDE_NAME], place[TEXT_SIZE], late[TEXT_SIZE];

    why_shorten(defs->region[x->region].short_name, name, sizeof name);
    text_say(&w, "%s %s, %s %s", text_place(l->rank, l->thread, place), name,
             text_duration((double)x->late_ns, late), x->is_longer ? "longer" : "late");
}

/* Where its time goes back to; the location of its head, where nobody else is to blame. */
static uint32_t location_of_cause(struct foi_findings *found, const struct incident *x)
{
    const struct scoring *w = found->a->scoring;
    uint32_t own = w->forest.location[x->head];
    struct way way;

    if (x->location == own || !blames(found, x->head, x->lost_ns))
        return own;
    way = scoring_way(w, &found->costs.why, x->head);
    return way.kind == WAY_SHORTER || way.kind == WAY_SHORTER_IN_ALL ? own : x->location;
}

/* Its head only waited, for a call that is in no execution, or for what its GPU took longer for:
 * that is the cause. */
static bool is_outside(struct foi_findings *found, const struct incident *x)
{
    struct way way = scoring_way(found->a->scoring, &found->costs.why, x->head);
    const struct region *function = way_function(&found->costs.why, way);

    if (x->outside.call == NO_CALL)
        return false;
    return way.kind == WAY_WAIT || way.kind == WAY_BARRIER ||
           (way.kind == WAY_LONGER && x->outside.is_longer && function &&
            function->kind == REGION_DEVICE);
}

static char *cause_of_incident(struct foi_findings *found, const struct incident *x,
                               char out[INCIDENT_CAUSE_SIZE])
{
    char cause[WHY_CAUSE_SIZE];

    if (x->period == 0 && is_outside(found, x)) {
        say_outside(found->a->scoring->defs, &x->outside, out);
        return out;
    }
    scoring_cause_of(found->a->scoring, &found->costs.why, x->head, x->is_anomaly, cause);
    if (x->period > 0)
        snprintf(out, INCIDENT_CAUSE_SIZE, "every %uth: %s", x->period, cause);
    else
        snprintf(out, INCIDENT_CAUSE_SIZE, "%s", cause);
    return out;
}

static int save_incidents(sqlite3 *db, struct foi_findings *found)
{
    const struct analysed *a = found->a;
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(
        db, "incident",
        "foi, id, score, is_costly, begin_ns, end_ns, lost_ns, head, location, "
        "rank, executions, ranks, turns, period, why, cause, cost_ns, cost_least_ns, "
        "cost_most_ns, causes",
        &insert);

    for (uint32_t i = 0; rc == 0 && i < found->incidents.n; i++) {
        const struct incident *x = &found->incidents.incident[i];
        const struct incident_cost *cost = &found->costs.of_incident[i];
        bool is_known = cost->most_ns != COST_UNKNOWN;
        uint32_t location = location_of_cause(found, x);
        char why[INCIDENT_WHY_SIZE], cause[INCIDENT_CAUSE_SIZE];

        rc = rundb_insert(db, insert, "iiriiiiiiiiiiittoooi", a->foi->id, (int64_t)i + 1,
                          x->score, (int64_t)x->is_costly, (int64_t)x->begin_ns,
                          (int64_t)x->end_ns, (int64_t)llrint(x->lost_ns), (int64_t)x->head,
                          (int64_t)location, (int64_t)a->scoring->defs->location[location].rank,
                          (int64_t)x->n_members, (int64_t)x->n_locations, (int64_t)x->n_turns,
                          (int64_t)x->period, why_incident(found, i, why),
                          cause_of_incident(found, x, cause), is_known && !cost->is_bound,
                          cost->most_ns, is_known, cost->least_ns, is_known, cost->most_ns,
                          (int64_t)x->n_causes);
    }
    sqlite3_finalize(insert);
    return rc;
}

static int save_outside(sqlite3 *db, const struct foi_findings *found)
{
    const struct incidents *in = &found->incidents;
    sqlite3_stmt *insert;
    int rc =
        rundb_prepare_insert(db, "outside", "foi, tree, incident, location, call, ns", &insert);

    for (uint32_t i = 0; rc == 0 && i < in->n_outside; i++) {
        const struct outside_wait *x = &in->outside[i];

        rc = rundb_insert(db, insert, "iiiiii", found->a->foi->id, (int64_t)x->head,
                          (int64_t)in->of[x->head] + 1, (int64_t)x->cause.location,
                          (int64_t)x->cause.call, (int64_t)x->cause.late_ns);
    }
    sqlite3_finalize(insert);
    return rc;
}

/* What all anomalies cost together. */
static int save_cost(sqlite3 *db, const struct foi_findings *found)
{
    const struct costs *c = &found->costs;
    sqlite3_stmt *update;
    int rc;

    if (c->all_ns == COST_UNKNOWN)
        return 0;
    rc = rundb_prepare(db, run_sql_set_anomalies_cost, &update);
    if (rc == 0)
        rc = rundb_insert(db, update, "ioi", c->all_ns, !c->is_all_bound,
                          (int64_t)c->n_carrying, found->a->foi->id);
    sqlite3_finalize(update);
    return rc;
}

/* What each function did on the critical path; not known where clocks disagree on it. */
static int save_critical(sqlite3 *db, const struct costs *c)
{
    uint32_t n = c->scoring->defs->names.n;
    double *region_ns;
    sqlite3_stmt *update;
    int rc;

    if (!c->critical.is_sound)
        return 0;
    rc = rundb_prepare(db, "UPDATE region SET critical_ns = ?1 WHERE id = ?2", &update);
    region_ns = mem_alloc(n, sizeof *region_ns);
    critical_time(&c->critical, &c->what_if.syncs, region_ns);
    for (uint32_t r = 0; rc == 0 && r < n; r++)
        rc = rundb_insert(db, update, "ii", (int64_t)llrint(region_ns[r]), (int64_t)r);
    free(region_ns);
    sqlite3_finalize(update);
    return rc;
}

/* A place that is to blame, or a thread among those of its teams. */
struct slow {
    char place[PEER_NAME_SIZE], *why;
    enum peer_verdict verdict;
    double excess_ns;
    bool has_cost;
    int64_t cost_ns, cost_least_ns, cost_most_ns;
    uint32_t order; /* in which they were found */
};

/* The dearest first; what is not known comes last. */
static int by_cost(const void *a, const void *b)
{
    const struct slow *p = a, *q = b;

    return ORDER(q->has_cost, p->has_cost) ?:
           ORDER(q->cost_ns, p->cost_ns) ?:
           ORDER(p->order, q->order);
}

static struct slow slow_place(const struct foi_findings *found, uint32_t place)
{
    const struct peer_place *p = &found->peers.place[place];
    struct slow slow = {.verdict = p->verdict,
                        .excess_ns = p->slow_ns + p->more_ns +
                                     (p->verdict == PEER_INCONCLUSIVE ? p->maybe_ns : 0),
                        .has_cost = p->has_cost,
                        .cost_ns = p->cost_ns,
                        .cost_least_ns = p->cost_least_ns,
                        .cost_most_ns = p->cost_most_ns};
    size_t size;
    FILE *out = text_open(&slow.why, &size);

    peer_place_name(&found->peers, place, slow.place);
    peer_text_paths(&found->costs.why, p, out);
    fclose(out);
    return slow;
}

static struct slow slow_thread(const struct foi_findings *found, const struct peer_thread *x)
{
    const struct definitions *defs = found->a->scoring->defs;
    struct slow slow = {.verdict = peer_teams_verdict(x),
                        .why = peer_teams_text(defs, x),
                        .excess_ns = x->excess_ns,
                        .has_cost = x->has_cost,
                        .cost_ns = x->cost_ns,
                        .cost_least_ns = x->cost_least_ns,
                        .cost_most_ns = x->cost_ns};

    peer_teams_place(defs, x, slow.place);
    return slow;
}

/* The first of the threads often has a little more, as loops are divided: while the others have
 * something to do that costs nothing. */
static bool is_material(const struct foi_findings *found, const struct peer_thread *x)
{
    const struct syncs *s = &found->costs.what_if.syncs;

    return !x->has_cost || (double)x->cost_ns >= MIN_COST * (double)(s->end_ns - s->begin_ns);
}

/* Whether nobody knows if a place is slow, and it would matter. */
static bool may_be_much(const struct peer_place *p)
{
    return p->verdict == PEER_INCONCLUSIVE &&
           p->slow_ns + p->maybe_ns >= MAY_BE * (p->own_ns + p->wait_ns);
}

/* All of them, to be freed; where none is to blame, those that may be. */
static struct slow *find_slow(struct foi_findings *found, uint32_t *n)
{
    struct slow *slow = mem_alloc(found->peers.n + found->peers.teams.n, sizeof *slow);

    *n = 0;
    peers_costs_in(&found->costs.what_if, found->a->scoring, &found->peers);
    for (uint32_t p = 0; p < found->peers.n; p++)
        if (peers_is_to_blame(&found->peers.place[p]))
            slow[(*n)++] = slow_place(found, p);
    for (uint32_t p = 0, n_sure = *n; p < found->peers.n && n_sure == 0; p++)
        if (may_be_much(&found->peers.place[p]))
            slow[(*n)++] = slow_place(found, p);
    for (uint32_t i = 0; i < found->peers.teams.n; i++)
        if (is_material(found, &found->peers.teams.thread[i]))
            slow[(*n)++] = slow_thread(found, &found->peers.teams.thread[i]);
    for (uint32_t i = 0; i < *n; i++)
        slow[i].order = i;
    qsort(slow, *n, sizeof *slow, by_cost);
    return slow;
}

static int save_slow_places(sqlite3 *db, struct foi_findings *found)
{
    sqlite3_stmt *insert;
    uint32_t n;
    struct slow *slow = find_slow(found, &n);
    int rc = rundb_prepare_insert(db, "slow_place",
                                  "foi, id, place, verdict, excess_ns, cost_ns, cost_least_ns, "
                                  "cost_most_ns, why",
                                  &insert);

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = rundb_insert(db, insert, "iittiooot", found->a->foi->id, (int64_t)i + 1,
                          slow[i].place, peer_verdict_name(slow[i].verdict),
                          (int64_t)llrint(slow[i].excess_ns), slow[i].has_cost, slow[i].cost_ns,
                          slow[i].has_cost, slow[i].cost_least_ns, slow[i].has_cost,
                          slow[i].cost_most_ns, slow[i].why);
    for (uint32_t i = 0; i < n; i++)
        free(slow[i].why);
    free(slow);
    sqlite3_finalize(insert);
    return rc;
}

static int save_growth(sqlite3 *db, const struct foi_findings *found)
{
    const struct analysed *a = found->a;
    char key[RUNDB_KEY_SIZE],
        *text = growth_text(&found->growth, &found->peers, &found->costs.why,
                            a->scoring->defs->region[a->foi->region].short_name);
    int rc = 0;

    if (text)
        rc = rundb_set_text(db, rundb_growth_key(a->foi->id, key), text);
    free(text);
    return rc;
}

static void find_slow_places(struct foi_findings *found)
{
    const struct scoring *w = found->a->scoring;
    struct peers_opts opts;

    if (peers_by(NULL, w->defs, &opts) < 0)
        return;
    opts.least_apart = MUCH_SLOWER;
    peers_find(w, &found->causes.view, &opts, &found->peers);
    growth_find(w, &found->peers, &found->growth);
}

/* The three look at the same run, and not at each other. */
static void look(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct foi_findings *found = ctx;
    const struct scoring *w = found->a->scoring;

    (void)worker;
    for (size_t row = begin; row < end; row++) {
        if (row == 0) {
            incidents_find(w, &found->causes, &found->incidents);
            continue;
        }
        if (row == 1) {
            find_slow_places(found);
            continue;
        }
        found->costs_result = err_keep(costs_init(&found->costs, w, found->a->columns));
    }
}

static int save_found(sqlite3 *db, const struct analysed *a)
{
    const struct scoring *w = a->scoring;
    struct foi_findings found = {.a = a};
    int rc;

    causes_init(&found.causes, a->columns, w->defs);
    pool_for(a->opts->pool, 3, 1, look, &found);
    rc = err_restore(&found.costs_result);
    if (rc == 0) {
        costs_find(&found.costs, &found.incidents);
        rc = save_executions(db, &found);
    }
    if (rc == 0)
        rc = save_cost(db, &found);
    if (rc == 0)
        rc = save_critical(db, &found.costs);
    if (rc == 0)
        rc = save_incidents(db, &found);
    if (rc == 0)
        rc = save_outside(db, &found);
    if (rc == 0)
        rc = save_ways(db, a->foi->id, w, &found.incidents, &found.costs.why);
    if (rc == 0)
        rc = save_slow_places(db, &found);
    if (rc == 0)
        rc = save_growth(db, &found);
    peers_release(&found.peers);
    costs_release(&found.costs);
    incidents_release(&found.incidents, w->forest.n_trees);
    causes_release(&found.causes);
    return rc;
}

static int store(void *ctx, const struct analysed *a)
{
    sqlite3 *db = ctx;
    const struct scoring *w = a->scoring;
    int rc = save_foi(db, a);

    if (rc == 0)
        rc = model_store_save(db, a->foi->id, &w->model);
    if (rc == 0 && w->embedding.n_words > 0)
        rc = model_store_save_embedding(db, a->foi->id, &w->embedding);
    return rc < 0 ? rc : save_found(db, a);
}

struct analysis_sink run_store_sink(sqlite3 *db)
{
    return (struct analysis_sink){.take = store, .ctx = db};
}
