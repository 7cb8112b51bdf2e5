/*
 * Clauses are written one after another into the same buffer, the strongest part's first. The
 * way (struct way) is the same choice of a clause, without how much; the excess is what the
 * sentence adds up, call by call.
 */
#include "explain/why.h"

#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATERIAL 0.02     /* of the typical duration: less lost time is not worth a word */
#define LONGER_SHARE 0.1  /* and so much worth a word, whatever the measures say */
#define WORTH_ADDING 0.01 /* of what was lost: the paths that are not named */
#define OF_OTHERS "nothing of its own: others lost time because of it" /* of a head */
#define FILL "it is the first execution of its location and waited until the others had begun"
#define NOTHING "nothing stands out"
#define RARE_SHARE 0.5     /* of what it took more, to be of calls that few make */
#define ONE_SHARE 0.5      /* ... in one call path: then it is that one */
#define DOUBTFUL_SHARE 0.1 /* of what a path lost: by how much that may be off */
#define OTHERS_SHARE 0.5   /* ... that a gap was, which may be of another call */
#define MAX_OTHERS 2       /* of these are named */
#define NEAR_MISS 100      /* more as strange ones in a run are no news */
#define OFTEN 0.5          /* in as many runs chance does what happens "in one of N" no more */
#define RARELY 1e-6        /* fewer as strange ones in a run are not counted out */
#define MAX_CONTEXTS 3     /* named in a sentence */
#define MAX_DIFFERENCES 3
#define OR_OTHERS " or beside it"
#define WORTH_SAYING 1.5 /* nats */
#define TIME_FIRST 1.15
#define LOST_FIRST                                                                             \
    0.5 /* of a typical execution: who lost that is asked where, before all else */

/* What a sentence speaks of. */
enum why_clause { WHY_TIME, WHY_STRUCTURE, WHY_SIZE_CLAUSE, N_WHY_CLAUSES, WHY_TYPICAL };

void why_init(struct why *why, const struct residual_model *model,
              const struct residual_place *place, const struct forest *forest,
              const struct definitions *defs)
{
    *why = (struct why){.model = model, .place = place, .forest = forest, .defs = defs};
    residual_pairs_init(&why->pairs, model);
}

void why_release(struct why *why)
{
    residual_pairs_release(&why->pairs);
}

char *why_path_name(const struct why *why, uint32_t path, char out[WHY_NAME_SIZE])
{
    const struct context *paths = &why->model->paths;
    const char *name, *caller;

    if (path == PATH_NONE) {
        snprintf(out, WHY_NAME_SIZE, "calls never seen there");
        return out;
    }
    name = why->defs->region[paths->region[path]].short_name;
    if (paths->parent[path] == PATH_NONE) {
        snprintf(out, WHY_NAME_SIZE, "%.120s itself", name);
        return out;
    }
    caller = why->defs->region[paths->region[paths->parent[path]]].short_name;
    snprintf(out, WHY_NAME_SIZE, "%.110s > %.110s", caller, name);
    return out;
}

static int by_excess(const void *a, const void *b)
{
    const struct residual_pair *p = a, *q = b;

    return ORDER(q->excess_ns, p->excess_ns) ?: ORDER(p->path, q->path);
}

static int by_saving(const void *a, const void *b)
{
    return by_excess(b, a);
}

/* Whether a pair is to be named: of what took longer those that took more, of what took less
 * those that took less, else both. */
static bool is_news(const struct why *why, const struct residual_pair *pair)
{
    const struct residual_loss *loss = &why->loss;

    if (loss->ns > 0 && why->n_strange == 0) /* each is ordinary, so those that took most */
        return pair->excess_ns > MATERIAL * why->model->root_ns;
    return residual_stands_out(why->model, pair) && !(loss->ns > 0 && pair->excess_ns < 0) &&
           !(residual_is_brief(why->model, loss) && pair->excess_ns > 0);
}

/* Loads the pairs of tree t, those to be named first, and in order. Returns how many. */
static size_t load_pairs(struct why *why, uint32_t t, int64_t lost_ns)
{
    struct residual_pair *pair;
    size_t n = 0;

    residual_pairs_of(&why->pairs, why->model, why->place, why->forest, t);
    residual_loss_of(&why->pairs, why->model, why->place, why->forest, t, &why->loss);
    why->loss.ns = lost_ns;
    pair = why->pairs.pair;
    why->n_strange = 0;
    for (size_t i = 0; i < why->pairs.n; i++)
        why->n_strange += pair[i].excess_ns > 0 && residual_stands_out(why->model, &pair[i]);
    for (size_t i = 0; i < why->pairs.n; i++) {
        struct residual_pair next = pair[i];

        if (!is_news(why, &next))
            continue;
        pair[i] = pair[n];
        pair[n++] = next;
    }
    qsort(pair, n, sizeof *pair,
          residual_is_brief(why->model, &why->loss) ? by_saving : by_excess);
    return n;
}

size_t why_sort_pairs(struct why *why, uint32_t t, int64_t lost_ns)
{
    size_t n = load_pairs(why, t, lost_ns);

    qsort(why->pairs.pair + n, why->pairs.n - n, sizeof *why->pairs.pair, by_excess);
    return n;
}

/* ---------------------------------------------------------------------------- structure */

/* How far a number is from its typical range, as a factor; 0 counts as a half. */
static double factor_of(const struct why_child *child)
{
    double observed = child->observed ? child->observed : 0.5;
    double least = child->least ? child->least : 0.5, most = child->most ? child->most : 0.5;

    return observed > most ? observed / most : observed < least ? least / observed : 1;
}

static int by_factor(const void *a, const void *b)
{
    double p = factor_of(a), q = factor_of(b);

    return ORDER(q, p);
}

static struct why_child *find_child(struct why_child *child, size_t n, uint32_t region)
{
    for (size_t i = 0; i < n; i++)
        if (child[i].region == region)
            return &child[i];
    return NULL;
}

size_t why_children(const struct why *why, uint32_t v, struct why_child *child)
{
    const struct shapes *shapes = &why->model->shapes;
    struct shape_child observed[WHY_MAX_CHILDREN];
    uint32_t t = forest_tree(why->forest, v);
    size_t n = shape_children(why->forest, why->place->path + why->place->like[t],
                              why->model->apart, v, observed, WHY_MAX_CHILDREN),
           n_kept = 0;
    uint32_t path = residual_path(why->place, why->forest, t, v);
    uint32_t typical = path == PATH_NONE ? SHAPE_NONE : shapes_typical(shapes, path);

    for (size_t i = 0; i < n; i++)
        child[i] = (struct why_child){observed[i].region, observed[i].number_class, 0, 0};
    if (typical != SHAPE_NONE)
        for (size_t k = shapes->child_first[typical]; k < shapes->child_first[typical + 1];
             k++) {
            struct why_child *found = find_child(child, n, shapes->child[k].region);

            if (found == NULL && n == WHY_MAX_CHILDREN)
                continue;
            if (found == NULL) {
                found = &child[n++];
                *found = (struct why_child){.region = shapes->child[k].region};
            }
            shape_class_range(shapes->child[k].number_class, &found->least, &found->most);
        }
    for (size_t i = 0; i < n; i++)
        if (child[i].observed < child[i].least || child[i].observed > child[i].most)
            child[n_kept++] = child[i];
    qsort(child, n_kept, sizeof *child, by_factor);
    return n_kept;
}

bool why_order(const struct why *why, uint32_t v, struct why_order *out)
{
    const struct shapes *shapes = &why->model->shapes;
    uint32_t t = forest_tree(why->forest, v);
    uint32_t shape = why->place->shape[residual_like(why->place, why->forest, t, v)];
    uint32_t order = shape_order(shapes, shape);
    const struct call_orders *o = &shapes->orders;

    if (order == CALL_ORDER_FREE ||
        shapes->rarity[o->shape[order]] >= call_orders_rarity(shapes, order, false))
        return false;
    out->calls = o->calls[order];
    out->of = shapes->calls[o->shape[order]];
    call_order_swapped(shapes, order, why->defs->names.n, why->forest, v, &out->early,
                       &out->late);
    return true;
}

/* It took so much more than executions like it, whether or not that is noise. */
static bool is_longer(const struct residual_loss *loss)
{
    return (double)loss->more_ns > LONGER_SHARE * (double)loss->typical_ns;
}

/* ----------------------------------------------------------------------------- sentences */

/* Where the source of a path's last function is. */
static char *place_of(const struct why *why, uint32_t path, char out[REGION_PLACE_SIZE])
{
    *out = '\0';
    if (path != PATH_NONE)
        region_place(&why->defs->region[why->model->paths.region[path]], out);
    return out;
}

static const char *signed_time(double ns, char out[TEXT_SIZE])
{
    char time[TEXT_SIZE];

    snprintf(out, TEXT_SIZE, "%s%s", ns < 0 ? "-" : "+", text_duration(fabs(ns), time));
    return out;
}

static void add_other(uint32_t region, uint32_t other[MAX_OTHERS], size_t *n)
{
    for (size_t i = 0; i < *n && i < MAX_OTHERS; i++)
        if (other[i] == region)
            return;
    if (*n < MAX_OTHERS)
        other[*n] = region;
    ++*n;
}

/*
 * What a path of tree t took more may be of other functions, where gaps count for it that may
 * be theirs (calls_place).
 *   other  out: the regions of the first
 * Returns how many there are.
 */
static size_t find_others(const struct why *why, uint32_t t, const struct residual_pair *pair,
                          uint32_t other[MAX_OTHERS])
{
    const struct forest *f = why->forest;
    double least_ns = OTHERS_SHARE * fabs(pair->excess_ns);
    size_t n = 0;

    for (uint32_t v = f->first[t]; f->doubt && v < f->first[t + 1]; v++) {
        struct forest_doubt doubt = f->doubt[v];
        uint32_t by = f->parent[v];

        if (by == FOREST_ROOT || fmax((double)doubt.own_ns, (double)doubt.others_ns) < least_ns)
            continue;
        if (residual_path(why->place, f, t, by) == pair->path)
            add_other(f->region[v], other, &n);
        if ((double)doubt.own_ns >= least_ns &&
            residual_path(why->place, f, t, v) == pair->path)
            add_other(f->region[by], other, &n);
    }
    return n;
}

static void say_others(struct text_writer *w, const struct why *why, uint32_t t,
                       const struct residual_pair *pair)
{
    uint32_t other[MAX_OTHERS];
    size_t n = find_others(why, t, pair, other);

    for (size_t i = 0; i < n && i < MAX_OTHERS; i++)
        text_say(w, " or %.60s", why->defs->region[other[i]].short_name);
    if (n > MAX_OTHERS)
        text_say(w, " or others");
}

/* The paths that took most more, and what all others did together: it adds up to more_ns. */
static void say_paths(struct text_writer *w, const struct why *why, uint32_t t, size_t n)
{
    char more[TEXT_SIZE], typical[TEXT_SIZE], off[TEXT_SIZE], name[WHY_NAME_SIZE];
    char place[REGION_PLACE_SIZE];
    double rest = (double)why->loss.more_ns;

    for (size_t i = 0; i < n && i < MAX_CONTEXTS; i++) {
        const struct residual_pair *pair = &why->pairs.pair[i];

        text_say(w, "%s%s%s", i ? ", " : "", why_path_name(why, pair->path, name),
                 place_of(why, pair->path, place));
        say_others(w, why, t, pair);
        text_say(w, " %s (typical: %s", signed_time(pair->excess_ns, more),
                 residual_is_typical(why->model, pair->path)
                     ? text_duration(fmax(pair->typical_ns, 0), typical)
                     : "none");
        if (pair->off_ns > DOUBTFUL_SHARE * fabs(pair->excess_ns))
            text_say(w, "; known to within %s", text_duration(pair->off_ns, off));
        text_say(w, ")");
        rest -= pair->excess_ns;
    }
    if (fabs(rest) <= WORTH_ADDING * fabs((double)why->loss.more_ns) || fabs(rest) < 1)
        return;
    text_say(w, "%sall other call paths together: %s %s than typical", n ? ", " : "",
             text_duration(fabs(rest), more), rest < 0 ? "less" : "more");
}

/* Whether what the root itself took more, if it is one of the n that are named, may be of what
 * came before or after it. */
static bool may_be_beside(const struct why *why, uint32_t t, size_t n)
{
    uint32_t root = why->forest->first[t];
    uint32_t path = residual_path(why->place, why->forest, t, root);
    double beside_ns = (double)forest_doubt_of(why->forest, root).own_ns;

    for (size_t i = 0; i < n && i < MAX_CONTEXTS; i++)
        if (why->pairs.pair[i].path == path)
            return beside_ns > 0 &&
                   beside_ns >= OTHERS_SHARE * fabs(why->pairs.pair[i].excess_ns);
    return false;
}

/* How exactly it is known how long it took, where that matters. */
static void say_off(struct text_writer *w, const struct why *why, uint32_t t, size_t n)
{
    double off_ns = forest_off_ns(why->forest, t);
    char off[TEXT_SIZE];

    if (off_ns > DOUBTFUL_SHARE * fabs((double)why->loss.more_ns))
        text_say(w, "; its begin and end are known to within %s", text_duration(off_ns, off));
    if (may_be_beside(why, t, n))
        text_say(w,
                 "; all or part of the time of %.60s itself may belong to what came before or "
                 "after it, as its begin and end are estimates",
                 why->defs->region[why->forest->region[why->forest->first[t]]].short_name);
}

/* Most of what it took more is of calls that few executions make. Those that make them, too,
 * are not what it is compared with: they may take as long. */
static bool is_of_rare_calls(const struct why *why)
{
    double rare_ns = 0;

    for (size_t i = 0; i < why->pairs.n; i++)
        if (!residual_is_typical(why->model, why->pairs.pair[i].path))
            rare_ns += why->pairs.pair[i].observed_ns;
    return why->loss.more_ns > 0 && rare_ns > RARE_SHARE * (double)why->loss.more_ns;
}

/* It took another time than executions like it, noise or not. */
static bool is_off(const struct residual_loss *loss)
{
    return fabs((double)loss->more_ns) > MATERIAL * (double)loss->typical_ns;
}

/* It took longer than executions like it, or less, by more than nothing. */
static bool is_other(const struct why *why)
{
    return why->loss.ns > 0 || residual_is_brief(why->model, &why->loss) ||
           is_longer(&why->loss);
}

/* What it took, against executions like it; then where. */
static void say_time(struct text_writer *w, struct why *why, uint32_t t,
                     const struct residual_measure *measure)
{
    size_t n = load_pairs(why, t, measure->loss.ns);
    const struct residual_loss *loss = &why->loss;
    bool is_long = loss->ns > 0, is_brief = residual_is_brief(why->model, loss);
    char more[TEXT_SIZE], typical[TEXT_SIZE];

    if (w->n > 0)
        text_say(w, "; ");
    if (is_other(why))
        text_say(w, "%s %s than a typical execution %s (%s)",
                 text_duration(fabs((double)loss->more_ns), more),
                 loss->more_ns < 0 ? "less" : "longer",
                 is_of_rare_calls(why) ? "that does not make the rare calls of this one"
                                       : "with the same calls",
                 text_duration((double)loss->typical_ns, typical));
    else if (n > 0 && -(double)loss->more_ns > LONGER_SHARE * (double)loss->typical_ns)
        text_say(
            w, "%s less than a typical execution with the same calls (%s), on other call paths",
            text_duration(-(double)loss->more_ns, more),
            text_duration((double)loss->typical_ns, typical));
    else if (n > 0)
        text_say(
            w,
            "on other call paths than a typical execution with the same calls, which takes "
            "as long (%s)",
            text_duration((double)loss->typical_ns, typical));
    else if (is_off(loss))
        text_say(w,
                 "%s %s than a typical execution with the same calls (%s), though none of its "
                 "calls stands out by itself",
                 text_duration(fabs((double)loss->more_ns), more),
                 loss->more_ns < 0 ? "less" : "longer",
                 text_duration((double)loss->typical_ns, typical));
    else
        text_say(w,
                 "rare in all of its calls together, though none of them stands out by itself");
    if (measure->open_ns > 0 && is_other(why)) /* what it lost by then nobody knows */
        text_say(w, ", and still open when the events of its rank ended");
    else if (!is_long && !is_brief && is_longer(loss))
        text_say(w, measure->is_fill ? ", as " FILL " (not counted as lost)"
                                     : ", as such executions vary by that much");
    else if (is_long && measure->is_fill && loss->ns < loss->more_ns)
        text_say(w, ", of which %s are lost, as " FILL, text_duration((double)loss->ns, more));
    if (is_long && n > 0 && why->n_strange == 0 &&
        why->pairs.pair[0].excess_ns < ONE_SHARE * (double)loss->more_ns)
        text_say(w, "; no single call is strange, but together they take too long");
    if (n > 0) {
        text_say(w, ": ");
        say_paths(w, why, t, n);
    }
    say_off(w, why, t, n);
}

static void say_tracer(struct text_writer *w, const struct why *why, uint32_t t)
{
    const struct forest_gap *gap;
    size_t n = forest_gaps(why->forest, t, &gap);
    char time[TEXT_SIZE];
    bool is_flush = true;

    if ((double)why->forest->tracer_ns[t] <= MATERIAL * why->model->root_ns)
        return;
    for (size_t i = 0; i < n; i++)
        is_flush &= gap[i].is_flush;
    text_duration((double)why->forest->tracer_ns[t], time);
    if (is_flush)
        text_say(w, "%sthe tracer wrote its buffer for %s", w->n ? "; " : "", time);
    else
        text_say(w, "%sthe tracer took %s", w->n ? "; " : "", time);
}

/* Why what differs is no anomaly all the same: who reads no further is not to take it for one. */
static void say_no_anomaly(struct text_writer *w, const struct why_verdict *verdict)
{
    char n[TEXT_SIZE];

    if (verdict->is_slight)
        text_say(w,
                 "rare, but no anomaly: the significant part of the difference is below %.3g "
                 "%% of a typical execution",
                 100 * verdict->min_lost);
    else if (verdict->is_unknown)
        text_say(w,
                 "rare, but no anomaly: without the error bounds of begins and ends, the "
                 "significant part of the difference is below %.3g %% of a typical execution",
                 100 * verdict->min_lost);
    else if (verdict->is_by_labels)
        text_say(w, "no anomaly: the model learnt so from labels");
    else if (verdict->is_recording)
        text_say(w, "no anomaly: it waited for a rank or thread that the tracer held up, and "
                    "lost little else");
    else if (!verdict->is_anomaly && verdict->expected >= OFTEN &&
             verdict->expected <= NEAR_MISS)
        text_say(w, "no anomaly: by chance in 1 of %s runs, or in more",
                 text_count((uint64_t)llrint(1 / OFTEN), n));
}

/* How often chance does this, as far as the run tells. Of what is called an anomaly for how far
 * out it is, though the run's own tail goes as far, nothing is said. */
static void say_chance(struct text_writer *w, const struct why_verdict *verdict)
{
    double expected = verdict->expected;
    char n[TEXT_SIZE];

    if (expected <= RARELY)
        text_say(w, "; by chance in fewer than 1 of %s runs",
                 text_count((uint64_t)llrint(1 / RARELY), n));
    else if (expected < OFTEN)
        text_say(w, "; by chance in 1 of %s runs",
                 text_count((uint64_t)llrint(1 / expected), n));
}

static void say_typical_number(struct text_writer *w, const struct why_child *child)
{
    char least[TEXT_SIZE], most[TEXT_SIZE];

    if (child->most == 0)
        text_say(w, "none");
    else if (child->least == child->most)
        text_say(w, "%s", text_count(child->most, most));
    else
        text_say(w, "%s to %s", text_count(child->least, least), text_count(child->most, most));
}

static void say_order(struct text_writer *w, const struct why *why, uint32_t v,
                      const struct why_order *order)
{
    char calls[TEXT_SIZE], of[TEXT_SIZE];

    text_say(w,
             "%.100s calls %.100s before %.100s; %s of its %s calls with the same calls inside "
             "%s in another order than the typical one",
             why->defs->region[why->forest->region[v]].short_name,
             why->defs->region[order->early].short_name,
             why->defs->region[order->late].short_name,
             order->calls ? text_count(order->calls, calls) : "none", text_count(order->of, of),
             order->calls == 1 ? "is" : "are");
}

static void say_structure(struct text_writer *w, struct why *why,
                          const struct residual_measure *measure)
{
    struct why_order order;
    struct why_child child[WHY_MAX_CHILDREN];
    uint32_t v = measure->rarest, t = forest_tree(why->forest, v);
    uint32_t path = residual_path(why->place, why->forest, t, v);
    size_t n = why_children(why, v, child);
    char share[TEXT_SIZE], number[TEXT_SIZE];

    text_say(w, "%s", w->n ? "; " : "");
    if (why_order(why, v, &order)) {
        say_order(w, why, v, &order);
        return;
    }
    text_say(w, "%.100s makes ", why->defs->region[why->forest->region[v]].short_name);
    for (size_t i = 0; i < n && i < MAX_DIFFERENCES; i++) {
        text_say(w, "%s%s call%s of %.100s (typical: ", i ? ", " : "",
                 child[i].observed ? text_count(child[i].observed, number) : "no",
                 child[i].observed == 1 ? "" : "s",
                 why->defs->region[child[i].region].short_name);
        say_typical_number(w, &child[i]);
        text_say(w, ")");
    }
    if (n == 0)
        text_say(w, "a rare combination of calls");
    else if (n > MAX_DIFFERENCES)
        text_say(w, ", ...");
    if (path != PATH_NONE && measure->structure > 0)
        text_say(w, ", as rare as 1 in %s of its calls", /* of which some are so otherwise */
                 text_count((uint64_t)llrint(exp(fmin(measure->structure, 40))), share));
}

/* What is set apart, as it comes by plan, is no part of a size. */
static void say_size(struct text_writer *w, const struct why *why, uint32_t t)
{
    const struct forest *forest = why->forest;
    uint32_t n = residual_size(why->model, why->place, forest, t);
    uint32_t n_apart = forest->first[t + 1] - forest->first[t] - n;
    char observed[TEXT_SIZE], typical[TEXT_SIZE], apart[TEXT_SIZE];

    text_say(w, "%s%s calls%s (typical: %s)", w->n ? "; " : "", text_count(n, observed),
             n_apart ? "" : " in all",
             text_count((uint64_t)llrint(exp(why->model->log_size)), typical));
    if (n_apart)
        text_say(w, ", and %s that %s not compared", text_count(n_apart, apart),
                 n_apart == 1 ? "is" : "are");
}

/* Of what took as long as executions like it, and where those do, there is nothing to say. */
static bool time_says_something(struct why *why, uint32_t t,
                                const struct residual_measure *measure)
{
    return load_pairs(why, t, measure->loss.ns) > 0 || why->loss.ns > 0 ||
           residual_is_brief(why->model, &why->loss);
}

static struct way of_structure(const struct why *why, const struct residual_measure *measure)
{
    struct why_child child[WHY_MAX_CHILDREN];
    struct why_order order;
    uint32_t v = measure->rarest;
    uint32_t path = residual_path(why->place, why->forest, forest_tree(why->forest, v), v);

    if (why_order(why, v, &order))
        return (struct way){WAY_ORDER, path};
    if (why_children(why, v, child) == 0)
        return (struct way){WAY_COMBINATION, path};
    return (struct way){child->observed > child->most ? WAY_MORE_CALLS : WAY_FEWER_CALLS,
                        child->region};
}

/* A path or what calls it is a call of the region. */
static bool is_in_region(const struct why *why, uint32_t path, uint32_t region)
{
    const struct context *paths = &why->model->paths;

    while (path != PATH_NONE && paths->region[path] != region)
        path = paths->parent[path];
    return path != PATH_NONE;
}

/*
 * Much was lost, and not in the calls that are too many: a message is printed by who was late, and
 * took no time. Where they took it they are said first, if they are rarer than it is long.
 */
static bool is_lost_elsewhere(struct why *why, uint32_t t,
                              const struct residual_measure *measure)
{
    double least_ns = ONE_SHARE * (double)measure->loss.ns, in_ns = 0;
    struct way way;

    if (measure->loss.ns <= 0 ||
        (double)measure->loss.ns < LOST_FIRST * (double)measure->loss.typical_ns)
        return false;
    way = of_structure(why, measure);
    load_pairs(why, t, measure->loss.ns);
    for (size_t i = 0; way.kind == WAY_MORE_CALLS && i < why->pairs.n; i++)
        if (is_in_region(why, why->pairs.pair[i].path, way.number))
            in_ns += why->pairs.pair[i].excess_ns;
    return in_ns < least_ns;
}

/*
 * What is to be said of a tree that ends and is not one of few, the strongest first: by its
 * sentence, in short, and as its way. Returns how many clauses; 0: it is typical, which is said
 * of nothing that is an anomaly, or took longer.
 */
static size_t choose_clauses(struct why *why, uint32_t t,
                             const struct residual_measure *measure,
                             const struct why_verdict *verdict,
                             enum why_clause clause[N_WHY_CLAUSES])
{
    const double *value = verdict->value;
    /* time is what people ask for: it goes first unless something else says clearly more */
    const double say_at[] = {TIME_FIRST * fmax(fmax(value[0], value[1]), value[4]), value[2],
                             value[3]};
    double best = fmax(say_at[0], fmax(say_at[1], say_at[2]));
    bool is_seen[] = {false, false, false};
    size_t n = 0;

    if (say_at[WHY_TIME] < best && is_lost_elsewhere(why, t, measure)) {
        clause[n++] = WHY_TIME;
        is_seen[WHY_TIME] = true;
    }
    for (int i = (int)n; i < N_WHY_CLAUSES; i++) {
        int next = -1;

        for (int k = 0; k < N_WHY_CLAUSES; k++)
            if (!is_seen[k] && (next < 0 || say_at[k] > say_at[next]))
                next = k;
        is_seen[next] = true;
        if (say_at[next] < WORTH_SAYING || say_at[next] < 0.5 * best)
            break;
        if (next != WHY_TIME || time_says_something(why, t, measure))
            clause[n++] = (enum why_clause)next;
    }
    if (n == 0 && (verdict->is_anomaly || measure->loss.ns > 0 || is_longer(&measure->loss)))
        clause[n++] = WHY_TIME;
    return n;
}

/* How long it would have taken nobody knows. */
static void say_open(struct text_writer *w, const struct why *why, uint32_t t,
                     const struct residual_measure *measure)
{
    char after[TEXT_SIZE], own[TEXT_SIZE], typical[TEXT_SIZE];

    text_say(
        w,
        "it does not end: it is still open when the events of its rank end, %s before the run "
        "ends; it had run for %s by then, and a typical execution with the same calls takes %s",
        text_duration((double)(measure->open_ns - 1), after),
        text_duration((double)forest_own_ns(why->forest, t), own),
        text_duration((double)measure->loss.typical_ns, typical));
}

/* Of so few nothing is typical, and nothing can be said of chance. */
static void say_few(struct text_writer *w, const struct why *why, uint32_t t, bool is_by_model)
{
    const struct residual_model *m = why->model;
    char own[TEXT_SIZE], least[TEXT_SIZE], most[TEXT_SIZE];

    text_duration((double)forest_own_ns(why->forest, t), own);
    text_duration((double)m->shortest_ns, least);
    text_duration((double)m->longest_ns, most);
    if (is_by_model && m->n_trees == 1)
        text_say(w, "%s; the model knows only one execution, which took %s", own, most);
    else if (m->n_trees == 1)
        text_say(w, "%s; the only execution", own);
    else
        text_say(w, "%s%s %u executions, which took %s to %s: too few to say what is typical",
                 own, is_by_model ? "; the model knows only" : ", one of", m->n_trees, least,
                 most);
    say_tracer(w, why, t);
}

void why_sentence(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict, char out[WHY_SIZE])
{
    struct text_writer w = {.out = out, .size = WHY_SIZE};
    enum why_clause clause[N_WHY_CLAUSES];
    size_t n;

    *out = '\0';
    if (verdict->is_open) {
        say_open(&w, why, t, measure);
        return;
    }
    if (residual_is_few(why->model)) {
        say_few(&w, why, t, verdict->is_by_model);
        return;
    }
    n = choose_clauses(why, t, measure, verdict, clause);
    if (n > 0)
        say_no_anomaly(&w, verdict);
    for (size_t i = 0; i < n; i++)
        if (clause[i] == WHY_TIME)
            say_time(&w, why, t, measure);
        else if (clause[i] == WHY_STRUCTURE)
            say_structure(&w, why, measure);
        else
            say_size(&w, why, t);
    if (w.n > 0)
        say_chance(&w, verdict);
    say_tracer(&w, why, t);
    if (w.n == 0)
        text_say(&w, "%s", verdict->is_of_anomaly ? OF_OTHERS : NOTHING);
}

/* ----------------------------------------------------------------------------- in short */

void why_shorten(const char *text, char *out, size_t size)
{
    size_t n = strlen(text), head = (size - 4) / 2, tail = size - 4 - head;

    if (n < size) {
        memcpy(out, text, n + 1);
        return;
    }
    while (head > 0 && text_continues(text[head]))
        head--;
    while (tail > 0 && text_continues(text[n - tail]))
        tail--;
    snprintf(out, size, "%.*s...%s", (int)head, text, text + n - tail);
}

/* The function alone where the name of its path is too long. */
static void name_shortly(const struct why *why, uint32_t path, char *out, size_t size)
{
    char name[WHY_NAME_SIZE];

    why_path_name(why, path, name);
    if (strlen(name) >= size && path != PATH_NONE)
        snprintf(name, sizeof name, "%s",
                 why->defs->region[why->model->paths.region[path]].short_name);
    why_shorten(name, out, size);
}

static void cause_in_time(struct text_writer *w, struct why *why, uint32_t t, int64_t lost_ns)
{
    char more[TEXT_SIZE], name[WHY_CAUSE_SIZE];
    uint32_t other[MAX_OTHERS];
    size_t n_others;

    if (load_pairs(why, t, lost_ns) > 0) {
        signed_time(why->pairs.pair->excess_ns, more);
        n_others = find_others(why, t, why->pairs.pair, other);
        name_shortly(why, why->pairs.pair->path, name,
                     sizeof name - strlen(more) - 1 - (n_others > 0 ? strlen(OR_OTHERS) : 0));
        text_say(w, "%s%s %s", name, n_others > 0 ? OR_OTHERS : "", more);
    } else if (why->loss.more_ns > 0 && (is_other(why) || is_off(&why->loss))) {
        text_say(w, "%s in all", signed_time((double)why->loss.more_ns, more));
    } else {
        text_say(w, "all of its calls together");
    }
}

static void cause_in_structure(struct why *why, const struct residual_measure *measure,
                               char out[WHY_CAUSE_SIZE])
{
    char text[WHY_NAME_SIZE], number[TEXT_SIZE];
    struct text_writer w = {.out = text, .size = sizeof text};
    struct why_child child[WHY_MAX_CHILDREN];
    struct why_order order;

    if (why_order(why, measure->rarest, &order)) {
        text_say(&w, "%.100s before %.100s (typical: after)",
                 why->defs->region[order.early].short_name,
                 why->defs->region[order.late].short_name);
    } else if (why_children(why, measure->rarest, child) > 0) {
        text_say(&w, "%s call%s of %.100s (typical: ",
                 child->observed ? text_count(child->observed, number) : "no",
                 child->observed == 1 ? "" : "s", why->defs->region[child->region].short_name);
        say_typical_number(&w, child);
        text_say(&w, ")");
    } else {
        text_say(&w, "rare calls in %.100s",
                 why->defs->region[why->forest->region[measure->rarest]].short_name);
    }
    why_shorten(text, out, WHY_CAUSE_SIZE);
}

/* What a sentence speaks of first; not of what does not end, or is one of few. */
static enum why_clause first_clause(struct why *why, uint32_t t,
                                    const struct residual_measure *measure,
                                    const struct why_verdict *verdict)
{
    enum why_clause clause[N_WHY_CLAUSES];

    return choose_clauses(why, t, measure, verdict, clause) > 0 ? clause[0] : WHY_TYPICAL;
}

void why_cause(struct why *why, uint32_t t, const struct residual_measure *measure,
               const struct why_verdict *verdict, char out[WHY_CAUSE_SIZE])
{
    enum why_clause first = first_clause(why, t, measure, verdict);
    struct text_writer w = {.out = out, .size = WHY_CAUSE_SIZE};
    char own[TEXT_SIZE];

    *out = '\0';
    if (verdict->is_open)
        text_say(&w, "does not end");
    else if (why->model->n_trees == 1)
        text_say(&w, "the only execution");
    else if (residual_is_few(why->model))
        text_say(&w, "took %s, one of %u, too few to judge",
                 text_duration((double)forest_own_ns(why->forest, t), own),
                 why->model->n_trees);
    else if (first == WHY_STRUCTURE)
        cause_in_structure(why, measure, out);
    else if (first == WHY_SIZE_CLAUSE)
        say_size(&w, why, t);
    else if (first == WHY_TIME)
        cause_in_time(&w, why, t, measure->loss.ns);
    else
        say_tracer(&w, why, t);
    if (*out == '\0')
        text_say(&w, "%s", verdict->is_of_anomaly ? OF_OTHERS : NOTHING);
}

/* ------------------------------------------------------------------------------------- ways */

/* Of which function there are more, or fewer, calls than of any other. */
static struct way of_size(struct why *why, uint32_t t)
{
    const struct residual_model *m = why->model;
    const struct residual_pairs *g = &why->pairs;
    struct way way = {WAY_COMBINATION, PATH_NONE};
    double most = 0;

    residual_pairs_of(&why->pairs, m, why->place, why->forest, t);
    for (uint32_t p = 0; p < m->paths.n; p++) {
        double here = g->stamp[p] == g->generation ? g->pair[g->slot[p]].n_calls : 0;
        double more = here - (double)m->path[p].n_calls / m->n_trees;

        if (m->apart[p] || fabs(more) <= most)
            continue;
        most = fabs(more);
        way = (struct way){more > 0 ? WAY_MORE_CALLS : WAY_FEWER_CALLS, m->paths.region[p]};
    }
    return way;
}

static struct way of_time(struct why *why, uint32_t t, const struct residual_measure *measure)
{
    size_t n = why_sort_pairs(why, t, measure->loss.ns);
    const struct residual_pair *pair = why->pairs.pair;
    const struct region *region;

    if (n == 0)
        return (struct way){measure->loss.more_ns < 0 ? WAY_SHORTER_IN_ALL : WAY_LONGER_IN_ALL,
                            0};
    if (pair->excess_ns < 0 || pair->path == PATH_NONE)
        return (struct way){pair->excess_ns < 0 ? WAY_SHORTER : WAY_LONGER, pair->path};
    region = &why->defs->region[why->model->paths.region[pair->path]];
    return region->kind == REGION_MPI ? (struct way){WAY_WAIT, 0}
           : region->is_barrier       ? (struct way){WAY_BARRIER, 0}
                                      : (struct way){WAY_LONGER, pair->path};
}

struct way way_of(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict)
{
    if (verdict->is_open)
        return (struct way){WAY_OPEN, 0};
    if (residual_is_few(why->model))
        return (struct way){WAY_NONE, 0};
    switch (first_clause(why, t, measure, verdict)) {
    case WHY_STRUCTURE:
        return of_structure(why, measure);
    case WHY_SIZE_CLAUSE:
        return of_size(why, t);
    case WHY_TIME:
        return of_time(why, t, measure);
    default:
        break;
    }
    return (struct way){WAY_NONE, 0};
}
