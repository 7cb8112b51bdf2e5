/*
 * Suspects are joined by union-find: by their cause chains, by where these lead to, by the
 * iteration. Then each group is gone through once, in the order of its group and what it votes
 * for; and of the incidents that this makes, those that come back are joined, location by
 * location.
 */
#include "analysis/incidents.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/radix.h"
#include "base/search.h"
#include "detect/tails.h"
#include "features/periodic.h"
#include "replay/what_if.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SUSPECT_SHARE 0.02 /* of all executions are suspects even where none is an anomaly */
#define MIN_SUSPECTS 20u
#define LONG 1.0    /* typical executions lost: who lost that, and most, is a suspect, too */
#define COSTLY 3.0  /* typical executions lost per location: that matters, typical or not */
#define MANY 4u     /* one in so many locations have the same iteration disturbed: it is one */
#define MIN_MANY 3u /* and so many at least */
#define LIKE_CAUSE                                                                             \
    0.5             /* of what goes back to the cause: what so much goes back to is one, too */
#define HELD_UP 0.9 /* of a wait, that work elsewhere went on meanwhile */
#define UNKNOWN_WEIGHT                                                                         \
    0.1 /* of time lost waiting for nobody knows whom, in who is to be the head */
#define TAKEN (INCIDENT_NONE - 1) /* no suspect, but the head of an incident */

/* ----------------------------------------------------------------------------- cause chains */

void causes_init(struct causes *causes, const struct columns *columns,
                 const struct definitions *defs)
{
    *causes = (struct causes){0};
    run_view_init(&causes->view, columns, defs);
}

void causes_release(struct causes *causes)
{
    trace_view_release(&causes->view);
    stretch_release(&causes->stretch);
    free(causes->lost_ns);
    *causes = (struct causes){0};
}

bool causes_of(struct causes *causes, const struct residual_model *model,
               const struct residual_place *place, const struct forest *forest, uint32_t t)
{
    uint32_t first = forest->first[t], end = forest->first[t + 1], row;
    uint32_t n = causes->view.calls[forest->location[t]].subtree_len[forest->call[t]];

    mem_grow(&causes->lost_ns, &causes->lost_cap, n);
    for (uint32_t i = 0; i < n; i++)
        causes->lost_ns[i] = 0; /* the tracer's calls have lost nothing */
    for (uint32_t v = first; v < end; v++)
        causes->lost_ns[forest_row(forest, t, v) - forest->call[t]] =
            (double)forest->exclusive_ns[v] - residual_common(model, place, forest, t, v);
    row = cause_first(&causes->view, forest->location[t], forest->call[t], causes->lost_ns);
    if (row == NO_CALL)
        return false;
    cause_of(&causes->view, forest->location[t], row, causes->lost_ns[row - forest->call[t]],
             &causes->stretch, &causes->cause);
    return true;
}

/* --------------------------------------------------------------------------------- suspects */

/* Where and when something was. */
struct placed_span {
    uint32_t location;
    uint64_t begin_ns, end_ns;
};

struct suspect {
    uint32_t tree, group;      /* group: another suspect's number, or its own at the root */
    struct placed_span origin; /* the last call of its chain, or itself */
    uint32_t culprit;          /* tree that the origin is in, or INCIDENT_NONE */
    uint64_t unknown_ns;       /* of what it lost, in a call that waits for nobody knows whom */
    struct outside_cause outside;
};

struct incident_finder {
    const struct scoring *w;
    struct causes *causes;
    struct incidents *out;
    uint32_t *first_tree;    /* [n_locations + 1] */
    uint32_t *suspect_of;    /* [n_trees] or INCIDENT_NONE */
    struct suspect *suspect; /* [n] */
    uint32_t n;
};

static double lost_ns(const struct incident_finder *f, uint32_t t)
{
    return (double)f->w->measure[t].loss.ns;
}

struct ranked_tree {
    double score;
    uint32_t tree;
};

static int by_score(const void *a, const void *b)
{
    const struct ranked_tree *p = a, *q = b;

    return ORDER(q->score, p->score) ?: ORDER(p->tree, q->tree);
}

/* The k-th highest of n values, which are sorted. */
static double nth_highest(double *value, uint32_t n, uint32_t k)
{
    uint64_t *scratch = mem_resize(NULL, n, 2 * sizeof *scratch);
    double nth;

    radix_sort_f64(value, scratch, n);
    nth = n > k ? value[n - k] : -INFINITY;
    free(scratch);
    return nth;
}

/* What the n trees that lost most did at least. */
static double least_of_longest(const struct incident_finder *f, uint32_t n)
{
    uint32_t n_trees = f->w->forest.n_trees;
    double *lost = mem_resize(NULL, n_trees, sizeof *lost), least;

    for (uint32_t t = 0; t < n_trees; t++)
        lost[t] = lost_ns(f, t);
    least = fmax(nth_highest(lost, n_trees, n), LONG * f->w->model.root_ns);
    free(lost);
    return least;
}

static double least_of_strangest(const struct incident_finder *f, uint32_t n)
{
    uint32_t n_trees = f->w->forest.n_trees;
    double *score = mem_resize(NULL, n_trees, sizeof *score), least;

    memcpy(score, f->w->score, n_trees * sizeof *score);
    least = nth_highest(score, n_trees, n);
    free(score);
    return least;
}

/* Few are, so that only these are sorted. */
static void choose_suspects(struct incident_finder *f)
{
    const struct scoring *w = f->w;
    uint32_t n = w->forest.n_trees, n_others = (uint32_t)ceil(SUSPECT_SHARE * n), n_ranked = 0;
    struct ranked_tree *ranked = mem_alloc(n, sizeof *ranked);
    double least_score, least_lost;

    n_others = n_others < MIN_SUSPECTS ? MIN_SUSPECTS : n_others;
    n_others = n_others > MAX_CAUSES ? MAX_CAUSES : n_others;
    least_score = least_of_strangest(f, n_others);
    least_lost = least_of_longest(f, n_others);
    for (uint32_t t = 0; t < n; t++)
        if (w->score[t] >= least_score || w->is_anomaly[t] || lost_ns(f, t) >= least_lost)
            ranked[n_ranked++] = (struct ranked_tree){w->score[t], t};
    qsort(ranked, n_ranked, sizeof *ranked, by_score);
    f->suspect = mem_alloc(n_ranked, sizeof *f->suspect);
    for (uint32_t i = 0; i < n_ranked; i++) {
        uint32_t t = ranked[i].tree;

        if (i >= n_others && !w->is_anomaly[t] && lost_ns(f, t) < least_lost)
            continue;
        f->suspect_of[t] = f->n;
        f->suspect[f->n] =
            (struct suspect){.tree = t, .group = f->n, .outside = {.call = NO_CALL}};
        f->n++;
    }
    free(ranked);
}

static struct placed_span span_of(const struct forest *forest, uint32_t t)
{
    return (struct placed_span){forest->location[t], forest->enter_ns[t],
                                forest->enter_ns[t] + forest->root_ns[t]};
}

/* ------------------------------------------------------------------------------- joining */

static uint32_t root_of(struct incident_finder *f, uint32_t s)
{
    while (f->suspect[s].group != s)
        s = f->suspect[s].group = f->suspect[f->suspect[s].group].group;
    return s;
}

static void join(struct incident_finder *f, uint32_t a, uint32_t b)
{
    a = root_of(f, a);
    b = root_of(f, b);
    f->suspect[a > b ? a : b].group = a > b ? b : a;
}

static uint64_t overlap(const struct placed_span *a, const struct placed_span *b)
{
    uint64_t begin = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
    uint64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

    return end > begin ? end - begin : 0;
}

/* The tree that shares most time with a span on the same location, or INCIDENT_NONE. */
static uint32_t tree_at(const struct incident_finder *f, const struct placed_span *span)
{
    const struct forest *forest = &f->w->forest;
    uint32_t t = f->first_tree[span->location], end = f->first_tree[span->location + 1];
    uint32_t best = INCIDENT_NONE;
    uint64_t most = 0;

    /* from the first that ends after the span begins */
    t = FIRST_NOT(i, t, end, forest->enter_ns[i] + forest->root_ns[i] <= span->begin_ns);
    for (; t < end && forest->enter_ns[t] < span->end_ns; t++) {
        struct placed_span tree = span_of(forest, t);

        if (overlap(&tree, span) > most) {
            most = overlap(&tree, span);
            best = t;
        }
    }
    return best;
}

/* Where a chain ends in a call of another location that is in no execution. */
static struct outside_cause outside_of(const struct incident_finder *f, const struct suspect *s,
                                       const struct cause *cause)
{
    const struct cause_link *last = &cause->link[cause->n - 1];
    const struct trace_view *view = &f->causes->view;
    const struct definitions *defs = f->w->defs;
    uint32_t own = f->w->forest.location[s->tree];
    double lost = fmax(lost_ns(f, s->tree), 0);

    if (cause->end != CAUSE_NOT_WAITING || s->culprit != INCIDENT_NONE || last->location == own)
        return (struct outside_cause){.call = NO_CALL};
    return (struct outside_cause){
        .location = last->location,
        .call = last->call,
        .region = trace_view_calls(view, last->location)->region[last->call],
        .late_ns = (uint64_t)fmin((double)last->explained_ns, lost),
        .is_longer = last->is_longer,
        .is_beyond = defs->location[last->location].rank != defs->location[own].rank ||
                     (defs->location[last->location].is_gpu && cause->n > 1 &&
                      last[-1].waiting.kind != WAITING_FOR_DEVICE)};
}

/* Follows the chain of a suspect; joins it with the suspects that it leads through. */
static void follow(struct incident_finder *f, uint32_t s)
{
    const struct scoring *w = f->w;
    struct suspect *suspect = &f->suspect[s];
    const struct cause *cause = &f->causes->cause;
    char sentence[CAUSE_SIZE];

    if (!causes_of(f->causes, &w->model, &w->place, &w->forest, suspect->tree))
        return;
    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];
        uint32_t tree;

        suspect->origin = (struct placed_span){link->location, link->begin_ns, link->end_ns};
        tree = tree_at(f, &suspect->origin);
        if (tree != INCIDENT_NONE && f->suspect_of[tree] != INCIDENT_NONE)
            join(f, s, f->suspect_of[tree]);
        suspect->culprit = tree;
    }
    if (cause->n > 0)
        suspect->outside = outside_of(f, suspect, cause);
    if (cause->end == CAUSE_UNKNOWN && cause->n > 0)
        suspect->unknown_ns = cause->link[cause->n - 1].explained_ns;
    if (w->is_anomaly[suspect->tree] && cause_has_news(cause))
        f->out->chain[suspect->tree] =
            mem_copy_string(cause_sentence(&f->causes->view, cause, sentence));
}

static void follow_all(struct incident_finder *f)
{
    for (uint32_t s = 0; s < f->n; s++) {
        f->suspect[s].origin = span_of(&f->w->forest, f->suspect[s].tree);
        f->suspect[s].culprit = f->suspect[s].tree;
    }
    for (uint32_t s = 0; s < f->n && s < MAX_CAUSES; s++) /* the highest scores first */
        follow(f, s);
}

/* What two suspects have in common if they are to be joined: a key, and some time. */
struct suspect_link {
    uint32_t key, suspect;
    struct placed_span span;
};

static int by_key_and_time(const void *a, const void *b)
{
    const struct suspect_link *p = a, *q = b;

    return ORDER(p->key, q->key) ?:
           ORDER(p->span.begin_ns, q->span.begin_ns) ?:
           ORDER(p->suspect, q->suspect);
}

/* Joins those with the same key that overlap, one with the next, where they are enough. */
static void join_common(struct incident_finder *f, struct suspect_link *common, uint32_t n,
                        uint32_t fewest)
{
    qsort(common, n, sizeof *common, by_key_and_time);
    for (uint32_t i = 0, end; i < n; i = end) {
        uint64_t until = common[i].span.end_ns;

        for (end = i + 1;
             end < n && common[end].key == common[i].key && common[end].span.begin_ns < until;
             end++)
            if (common[end].span.end_ns > until)
                until = common[end].span.end_ns;
        for (uint32_t k = i + 1; k < end && end - i >= fewest; k++)
            join(f, common[i].suspect, common[k].suspect);
    }
}

/* Those that go back to the same time of the same location. */
static void join_by_origin(struct incident_finder *f)
{
    struct suspect_link *common = mem_alloc(f->n, sizeof *common);

    for (uint32_t s = 0; s < f->n; s++)
        common[s] =
            (struct suspect_link){f->suspect[s].origin.location, s, f->suspect[s].origin};
    join_common(f, common, f->n, 2);
    free(common);
}

static int by_end(const void *a, const void *b)
{
    const struct suspect_link *p = a, *q = b;

    return ORDER(p->span.end_ns, q->span.end_ns) ?: ORDER(p->suspect, q->suspect);
}

/* Own work elsewhere that was on its way for most of a wait, and ended as that did. */
static bool may_have_held_up(const struct suspect_link *own, const struct suspect *waiting)
{
    const struct placed_span *span = &waiting->origin;

    return own->span.location != span->location &&
           (double)overlap(&own->span, span) >= HELD_UP * (double)waiting->unknown_ns;
}

/* Who waited for nobody knows whom, and what may have been waited for. */
static void join_hidden(struct incident_finder *f)
{
    struct suspect_link *own = mem_alloc(f->n, sizeof *own);
    uint32_t n = 0;

    for (uint32_t s = 0; s < f->n; s++)
        if (f->suspect[s].unknown_ns == 0 && lost_ns(f, f->suspect[s].tree) > 0)
            own[n++] = (struct suspect_link){0, s, f->suspect[s].origin};
    qsort(own, n, sizeof *own, by_end);
    for (uint32_t s = 0; s < f->n; s++) {
        const struct suspect *x = &f->suspect[s];
        uint64_t late_ns = (uint64_t)((1 - HELD_UP) * (double)x->unknown_ns);
        uint64_t from_ns = x->origin.end_ns > late_ns ? x->origin.end_ns - late_ns : 0;
        uint32_t i;

        if (x->unknown_ns == 0)
            continue;
        i = FIRST_NOT(k, 0, n, own[k].span.end_ns < from_ns);
        for (; i < n && own[i].span.end_ns <= x->origin.end_ns; i++)
            if (may_have_held_up(&own[i], x))
                join(f, s, own[i].suspect);
    }
    free(own);
}

/* Anomalies of the same iteration at the same time, on many locations. */
static void join_by_iteration(struct incident_finder *f)
{
    const struct scoring *w = f->w;
    struct suspect_link *common = mem_alloc(f->n, sizeof *common);
    uint32_t n = 0, n_busy = 0, fewest;

    for (uint32_t l = 0; l < f->causes->view.n_locations; l++)
        n_busy += f->first_tree[l + 1] > f->first_tree[l];
    for (uint32_t s = 0; s < f->n; s++) {
        uint32_t t = f->suspect[s].tree;

        if (w->is_anomaly[t])
            common[n++] = (struct suspect_link){w->forest.index[t], s, span_of(&w->forest, t)};
    }
    fewest = n_busy < MIN_MANY ? n_busy : MIN_MANY;
    join_common(f, common, n, n_busy / MANY > fewest ? n_busy / MANY : fewest);
    free(common);
}

/* -------------------------------------------------------------------------------- groups */

/* One member, as it votes for what its incident goes back to. */
struct cause_vote {
    uint32_t group, location, culprit, tree;
    double weight;
};

static int by_group(const void *a, const void *b)
{
    const struct cause_vote *p = a, *q = b;

    return ORDER(p->group, q->group) ?:
           ORDER(p->location, q->location) ?:
           ORDER(p->culprit, q->culprit) ?:
           ORDER(p->tree, q->tree);
}

/* What a member lost. Who waits, nobody knows for whom, is a victim, if there is anybody else. */
static double weight_of(const struct incident_finder *f, const struct suspect *s)
{
    double lost = lost_ns(f, s->tree), unknown = fmin((double)s->unknown_ns, fmax(lost, 0));

    return lost - (1 - UNKNOWN_WEIGHT) * unknown + 1e-3 * f->w->score[s->tree];
}

/* The location that most lost time goes back to, and the tree there that most of it does: or
 * none, where more goes back to calls in no execution. */
static void elect(const struct cause_vote *vote, uint32_t n, struct incident *x)
{
    double most = -1, most_of_tree = -1, sum = 0, sum_of_tree = 0;
    uint32_t best = INCIDENT_NONE;

    for (uint32_t i = 0; i < n; i++) {
        bool is_new = i == 0 || vote[i].location != vote[i - 1].location;

        if (is_new) {
            sum = 0;
            most_of_tree = -1;
            best = INCIDENT_NONE;
        }
        if (is_new || vote[i].culprit != vote[i - 1].culprit)
            sum_of_tree = 0;
        sum += vote[i].weight;
        sum_of_tree += vote[i].weight;
        if (sum_of_tree > most_of_tree) {
            most_of_tree = sum_of_tree;
            best = vote[i].culprit;
        }
        if (sum > most) {
            most = sum;
            x->location = vote[i].location;
            x->head = best;
        }
    }
}

/* The elected rank, and others to which about as much goes back. */
static uint32_t count_causes(const struct incident_finder *f, const struct cause_vote *vote,
                             uint32_t n, uint32_t elected)
{
    const struct location *location = f->w->defs->location;
    uint32_t last = location[elected].rank, n_causes = 1;
    double of_elected = 0, sum = 0;

    for (uint32_t i = 0; i < n; i++)
        of_elected += vote[i].location == elected ? vote[i].weight : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = location[vote[i].location].rank;

        sum = i > 0 && vote[i].location == vote[i - 1].location ? sum + vote[i].weight
                                                                : vote[i].weight;
        if (rank == location[elected].rank || rank == last || sum < LIKE_CAUSE * of_elected)
            continue;
        last = rank;
        n_causes++;
    }
    return n_causes;
}

/* There is something to be said of it. */
static bool has_news(const struct incident_finder *f, uint32_t t)
{
    return f->w->is_anomaly[t] || lost_ns(f, t) > 0;
}

/* On a location; of a rank whose GPU it is, where nothing is executed on that itself. */
static bool is_at(const struct incident_finder *f, uint32_t t, uint32_t location)
{
    const struct definitions *defs = f->w->defs;
    uint32_t l = f->w->forest.location[t];

    return l == location || (f->first_tree[location + 1] == f->first_tree[location] &&
                             defs->location[l].rank == defs->location[location].rank);
}

/* The member that lost most, of those of whom there is something to be said: first of those
 * whose chains end where x was elected to be, then of those that are there. */
static uint32_t greatest_loser(const struct incident_finder *f, const struct cause_vote *vote,
                               uint32_t n, const struct incident *x)
{
    const struct cause_vote *best = NULL;
    int best_rank = -1;

    for (const struct cause_vote *v = vote; v < vote + n; v++) {
        bool ends_there = v->location == x->location && v->culprit == x->head;
        int rank = 4 * has_news(f, v->tree) + 2 * ends_there + is_at(f, v->tree, x->location);

        if (rank > best_rank ||
            (rank == best_rank && lost_ns(f, v->tree) > lost_ns(f, best->tree))) {
            best = v;
            best_rank = rank;
        }
    }
    return best->tree;
}

static void add_member(struct incident_finder *f, struct incident *x, uint32_t t)
{
    const struct scoring *w = f->w;
    struct placed_span span = span_of(&w->forest, t);

    if (x->n_members == 0 || span.begin_ns < x->begin_ns)
        x->begin_ns = span.begin_ns;
    if (span.end_ns > x->end_ns)
        x->end_ns = span.end_ns;
    x->n_members++;
    x->lost_ns += lost_ns(f, t);
    x->is_anomaly |= w->is_anomaly[t];
}

/* The strangest member of a location: its others are not independent of it. */
struct speaker {
    uint32_t location;
    double score;
};

static int by_location(const void *a, const void *b)
{
    return order_u32(&((const struct speaker *)a)->location,
                     &((const struct speaker *)b)->location);
}

/* Keeps one per location; returns how many. */
static uint32_t one_each(struct speaker *speaker, uint32_t n)
{
    uint32_t n_kept = 0;

    qsort(speaker, n, sizeof *speaker, by_location);
    for (uint32_t i = 0; i < n; i++) {
        struct speaker *last = n_kept > 0 ? &speaker[n_kept - 1] : NULL;

        if (last && last->location == speaker[i].location)
            last->score = fmax(last->score, speaker[i].score);
        else
            speaker[n_kept++] = speaker[i];
    }
    return n_kept;
}

static struct speaker speaker_of(const struct scoring *w, uint32_t t)
{
    return (struct speaker){w->forest.location[t], w->score[t]};
}

/* Joint evidence ranks, but does not judge: locations that wait for each other are not
 * independent, and in runs in which nothing is wrong two of them look like one incident. */
static void score_jointly(const struct scoring *w, const struct cause_vote *vote, uint32_t n,
                          struct incident *x)
{
    struct speaker *speaker = mem_alloc((size_t)n + 1, sizeof *speaker);
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        speaker[i] = speaker_of(w, vote[i].tree);
    speaker[n] = speaker_of(w, x->head); /* it may be a member without a vote */
    x->n_locations = one_each(speaker, n + 1);
    for (uint32_t i = 0; i < x->n_locations; i++)
        sum += fmax(speaker[i].score, 0);
    x->score = tail_together(x->n_locations, sum);
    free(speaker);
}

/* An execution may be the head of one incident if there is something to be said of it. */
static bool can_head(const struct incident_finder *f, uint32_t t)
{
    return t != INCIDENT_NONE && f->suspect_of[t] != TAKEN && has_news(f, t);
}

static struct incident make(struct incident_finder *f, const struct cause_vote *vote,
                            uint32_t n)
{
    const struct scoring *w = f->w;
    struct incident x = {.head = INCIDENT_NONE, .outside = {.call = NO_CALL}};

    for (uint32_t i = 0; i < n; i++)
        add_member(f, &x, vote[i].tree);
    elect(vote, n, &x);
    x.n_causes = count_causes(f, vote, n, x.location);
    if (!can_head(f, x.head))
        x.head = greatest_loser(f, vote, n, &x);
    if (f->suspect_of[x.head] < f->n &&
        f->suspect[f->suspect_of[x.head]].outside.location == x.location)
        x.outside = f->suspect[f->suspect_of[x.head]].outside;
    if (f->suspect_of[x.head] == INCIDENT_NONE) {
        f->suspect_of[x.head] = TAKEN;
        add_member(f, &x, x.head);
    }
    score_jointly(w, vote, n, &x);
    x.is_costly = x.lost_ns >= COSTLY * w->model.root_ns * x.n_locations;
    return x;
}

static bool matters(const struct incident *x)
{
    return x->is_anomaly || x->is_costly;
}

static struct cause_vote *take_votes(struct incident_finder *f)
{
    struct cause_vote *vote = mem_alloc(f->n, sizeof *vote);

    for (uint32_t s = 0; s < f->n; s++)
        vote[s] = (struct cause_vote){root_of(f, s), f->suspect[s].origin.location,
                                      f->suspect[s].culprit, f->suspect[s].tree,
                                      weight_of(f, &f->suspect[s])};
    qsort(vote, f->n, sizeof *vote, by_group);
    return vote;
}

/* An incident and where its members' votes begin. */
struct made {
    struct incident incident;
    uint32_t first, end;
    struct made *turn_of; /* the one of its recurrence that lost most, or itself */
    uint32_t number;      /* in the order of all, if it is its own */
};

static int by_loss(const void *a, const void *b)
{
    const struct incident *p = &(*(struct made *const *)a)->incident;
    const struct incident *q = &(*(struct made *const *)b)->incident;
    double lost_p = p->lost_ns / p->n_turns, lost_q = q->lost_ns / q->n_turns;

    return ORDER(matters(q), matters(p)) ?:
           ORDER(lost_q, lost_p) ?:
           ORDER(q->score, p->score) ?:
           ORDER(p->head, q->head);
}

/* One more turn of an incident: it costs more, and has more to it. */
static void add_turn(struct incident *x, const struct incident *turn, uint32_t period)
{
    x->period = period;
    x->n_turns++;
    x->n_members += turn->n_members;
    x->n_locations = turn->n_locations > x->n_locations ? turn->n_locations : x->n_locations;
    x->lost_ns += turn->lost_ns;
    x->score = fmax(x->score, turn->score);
    x->is_anomaly |= turn->is_anomaly;
    x->is_costly |= turn->is_costly;
    x->n_causes = turn->n_causes < x->n_causes ? turn->n_causes : x->n_causes;
}

/* The program does something by plan in this execution, or in the one before or after it. */
static bool is_near_turn(const uint8_t *is_turn, uint32_t n, uint32_t index)
{
    return (index > 0 && is_turn[index - 1]) || is_turn[index] ||
           (index + 1 < n && is_turn[index + 1]);
}

/* What comes back with something that the program does by plan goes back to that. */
static void join_turns(struct incident_finder *f, struct made *made, uint32_t n)
{
    const struct scoring *w = f->w;
    const struct forest *forest = &w->forest;
    struct occurrence *x = mem_alloc(n, sizeof *x);
    uint32_t *of = mem_alloc(n, sizeof *of), n_own = 0, n_indices;
    uint8_t *is_turn =
        periodic_executions(w->model.apart, forest, &w->wl.kinds, w->place.path, &n_indices);

    for (uint32_t k = 0; k < n; k++) {
        uint32_t head = made[k].incident.head, l = forest->location[head];

        made[k].turn_of = &made[k];
        made[k].incident.n_turns = 1;
        if (matters(&made[k].incident) &&
            is_near_turn(is_turn, n_indices, forest->index[head])) {
            x[n_own] = (struct occurrence){l,
                                           head - f->first_tree[l],
                                           f->first_tree[l + 1] - f->first_tree[l],
                                           made[k].incident.lost_ns,
                                           0,
                                           0};
            of[n_own++] = k;
        }
    }
    recurrence_find(x, n_own);
    for (uint32_t i = 0; i < n_own; i++) {
        struct made *keeper = &made[of[x[i].turn_of]];

        made[of[i]].turn_of = keeper;
        if (keeper != &made[of[i]])
            add_turn(&keeper->incident, &made[of[i]].incident, x[i].period);
    }
    free(x);
    free(of);
    free(is_turn);
}

/* Numbers them, those that cost most first; turns get the number of theirs. */
static void order(struct incidents *out, struct made *made, uint32_t n)
{
    struct made **own = mem_alloc(n, sizeof *own);

    for (uint32_t k = 0; k < n; k++)
        if (made[k].turn_of == &made[k])
            own[out->n++] = &made[k];
    qsort(own, out->n, sizeof *own, by_loss);
    out->incident = mem_alloc(out->n, sizeof *out->incident);
    for (uint32_t k = 0; k < out->n; k++) {
        own[k]->number = k;
        out->incident[k] = own[k]->incident;
    }
    free(own);
}

static int by_head(const void *a, const void *b)
{
    return order_u32(&((const struct outside_wait *)a)->head,
                     &((const struct outside_wait *)b)->head);
}

/* What the head of each turn waited for outside. */
static void list_outside(struct incidents *out, const struct made *made, uint32_t n)
{
    out->outside = mem_alloc(n, sizeof *out->outside);
    for (uint32_t k = 0; k < n; k++)
        if (made[k].incident.outside.is_beyond)
            out->outside[out->n_outside++] =
                (struct outside_wait){made[k].incident.head, made[k].incident.outside};
    qsort(out->outside, out->n_outside, sizeof *out->outside, by_head);
}

static void make_all(struct incident_finder *f)
{
    struct incidents *out = f->out;
    struct cause_vote *vote = take_votes(f);
    struct made *made = mem_alloc(f->n, sizeof *made);
    uint32_t n = 0;

    for (uint32_t i = 0, end; i < f->n; i = end) {
        for (end = i + 1; end < f->n && vote[end].group == vote[i].group; end++)
            ;
        made[n++] =
            (struct made){.incident = make(f, vote + i, end - i), .first = i, .end = end};
    }
    list_outside(out, made, n);
    join_turns(f, made, n);
    order(out, made, n);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = made[k].first; i < made[k].end; i++)
            out->of[vote[i].tree] = made[k].turn_of->number;
    for (uint32_t k = 0; k < n; k++)
        if (out->of[made[k].incident.head] == INCIDENT_NONE)
            out->of[made[k].incident.head] = made[k].turn_of->number;
    free(made);
    free(vote);
}

/* --------------------------------------------------------------------------------- public */

static void find_first_trees(struct incident_finder *f)
{
    const struct forest *forest = &f->w->forest;
    uint32_t n_locations = f->causes->view.n_locations, t = 0;

    f->first_tree = mem_alloc((size_t)n_locations + 1, sizeof *f->first_tree);
    for (uint32_t l = 0; l <= n_locations; l++) {
        while (t < forest->n_trees && forest->location[t] < l)
            t++;
        f->first_tree[l] = t;
    }
}

void incidents_find(const struct scoring *scoring, struct causes *causes, struct incidents *out)
{
    uint32_t n = scoring->forest.n_trees;
    struct incident_finder f = {.w = scoring, .causes = causes, .out = out};

    *out = (struct incidents){.of = mem_alloc(n, sizeof *out->of),
                              .chain = mem_alloc(n, sizeof *out->chain)};
    f.suspect_of = mem_alloc(n, sizeof *f.suspect_of);
    memset(out->of, 0xff, n * sizeof *out->of);
    memset(f.suspect_of, 0xff, n * sizeof *f.suspect_of);
    find_first_trees(&f);
    choose_suspects(&f);
    follow_all(&f);
    join_by_origin(&f);
    join_hidden(&f);
    join_by_iteration(&f);
    make_all(&f);
    free(f.first_tree);
    free(f.suspect_of);
    free(f.suspect);
}

const struct outside_cause *incidents_outside(const struct incidents *incidents, uint32_t t)
{
    struct outside_wait key = {.head = t};
    const struct outside_wait *found =
        incidents->n_outside == 0
            ? NULL
            : bsearch(&key, incidents->outside, incidents->n_outside, sizeof key, by_head);

    return found ? &found->cause : NULL;
}

void incidents_release(struct incidents *incidents, uint32_t n_trees)
{
    for (uint32_t t = 0; incidents->chain && t < n_trees; t++)
        free(incidents->chain[t]);
    free(incidents->chain);
    free(incidents->incident);
    free(incidents->outside);
    free(incidents->of);
    *incidents = (struct incidents){0};
}
