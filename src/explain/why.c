/* Clauses are written one after another into the same buffer, the strongest part's first. */
#include "explain/why.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATERIAL 0.02      /* of the typical duration: less lost time is not worth a word */
#define LONGER_SHARE 0.1   /* and so much worth a word, whatever the measures say */
#define WORTH_ADDING 0.01  /* of what was lost: the paths that are not named */
#define DOUBTFUL_SHARE 0.1 /* of what a path lost: by how much that may be off */
#define NEAR_MISS 100      /* more as strange ones in a run are no news */
#define RARELY 1e-6        /* fewer as strange ones in a run are not counted out */
#define MOST_CONTEXTS 3    /* named in a sentence */
#define MOST_DIFFERENCES 3
#define WORTH_SAYING 1.5 /* nats */
#define TIME_FIRST 1.15

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

static int by_sure_time(const void *a, const void *b)
{
    const struct residual_pair *p = a, *q = b;

    if (p->sure_ns != q->sure_ns)
        return p->sure_ns > q->sure_ns ? -1 : 1;
    return (p->path > q->path) - (p->path < q->path);
}

static bool is_material(const struct why *why, const struct residual_pair *pair)
{
    return pair->sure_ns > MATERIAL * why->model->root_ns;
}

/* Loads the pairs of tree t, those that lost enough to be named first, and in order. Returns
 * how many. */
static size_t load_pairs(struct why *why, uint32_t t)
{
    struct residual_pair *pair = why->pairs.pair;
    size_t n = 0;

    residual_pairs_of(&why->pairs, why->model, why->place, why->forest, t);
    residual_loss_of(&why->pairs, why->model, why->place, why->forest, t, &why->loss);
    for (size_t i = 0; i < why->pairs.n; i++) {
        struct residual_pair next = pair[i];

        if (!is_material(why, &next))
            continue;
        pair[i] = pair[n];
        pair[n++] = next;
    }
    qsort(pair, n, sizeof *pair, by_sure_time);
    return n;
}

size_t why_sort_pairs(struct why *why, uint32_t t)
{
    size_t n = load_pairs(why, t);

    qsort(why->pairs.pair + n, why->pairs.n - n, sizeof *why->pairs.pair, by_sure_time);
    return n;
}

/* ---------------------------------------------------------------------------- structure */

/* How far a number is from its usual range, as a factor; 0 counts as a half. */
static double factor_of(const struct why_child *child)
{
    double observed = child->observed ? child->observed : 0.5;
    double least = child->least ? child->least : 0.5, most = child->most ? child->most : 0.5;

    return observed > most ? observed / most : observed < least ? least / observed : 1;
}

static int by_factor(const void *a, const void *b)
{
    double p = factor_of(a), q = factor_of(b);

    return (p < q) - (p > q);
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
    struct shape_child observed[WHY_MOST_CHILDREN];
    uint32_t t = forest_tree(why->forest, v);
    size_t n = shape_children(why->forest, why->place->path + why->place->like[t],
                              why->model->is_on_schedule, v, observed, WHY_MOST_CHILDREN),
           n_kept = 0;
    uint32_t path = residual_path(why->place, why->forest, t, v);
    uint32_t usual = path == PATH_NONE ? SHAPE_NONE : shapes_usual(shapes, path);

    for (size_t i = 0; i < n; i++)
        child[i] = (struct why_child){observed[i].region, observed[i].number_class, 0, 0};
    if (usual != SHAPE_NONE)
        for (size_t k = shapes->child_first[usual]; k < shapes->child_first[usual + 1]; k++) {
            struct why_child *found = find_child(child, n, shapes->child[k].region);

            if (found == NULL && n == WHY_MOST_CHILDREN)
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

/* It took so much more than executions like it. */
static bool is_longer(const struct why *why, uint32_t t, double usual_ns, double share)
{
    return (double)forest_own_ns(why->forest, t) > (1 + share) * usual_ns;
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

/* The paths that lost most, and what all others lost together. */
static void say_paths(struct text_writer *w, const struct why *why, size_t n)
{
    char lost[TEXT_SIZE], usual[TEXT_SIZE], off[TEXT_SIZE], name[WHY_NAME_SIZE];
    char place[REGION_PLACE_SIZE];
    double rest = why->loss.ns;

    for (size_t i = 0; i < n && i < MOST_CONTEXTS; i++) {
        const struct residual_pair *pair = &why->pairs.pair[i];

        text_say(w, "%s%s%s +%s (usually %s", i ? ", " : "",
                 why_path_name(why, pair->path, name), place_of(why, pair->path, place),
                 text_duration(pair->sure_ns, lost),
                 residual_is_usual(why->model, pair->path)
                     ? text_duration(fmax(pair->typical_ns, 0), usual)
                     : "none");
        if (pair->off_ns > DOUBTFUL_SHARE * pair->sure_ns)
            text_say(w, "; known to within %s", text_duration(pair->off_ns, off));
        text_say(w, ")");
        rest -= pair->sure_ns;
    }
    if (fabs(rest) > WORTH_ADDING * why->loss.ns)
        text_say(w, ", %s%s elsewhere", rest > 0 ? "+" : "-", text_duration(fabs(rest), lost));
}

/* Where no path lost enough to be named. */
static void say_whole(struct text_writer *w, const struct why *why, uint32_t t, double usual_ns)
{
    double own_ns = (double)forest_own_ns(why->forest, t);
    char own[TEXT_SIZE], usual[TEXT_SIZE];

    text_say(w, "%s%s where executions like it usually take %s", w->n ? "; " : "",
             text_duration(own_ns, own), text_duration(usual_ns, usual));
}

/* How exactly it is known how long it took, where that matters. */
static void say_off(struct text_writer *w, const struct why *why, uint32_t t, double lost_ns)
{
    double off_ns = forest_off_ns(why->forest, t);
    char off[TEXT_SIZE];

    if (off_ns > DOUBTFUL_SHARE * lost_ns)
        text_say(w, "; its begin and end are known to within %s", text_duration(off_ns, off));
}

/* It took longer, wherever that was. */
static void say_longer(struct text_writer *w, const struct why *why, uint32_t t,
                       double usual_ns)
{
    say_whole(w, why, t, usual_ns);
    say_off(w, why, t, (double)forest_own_ns(why->forest, t) - usual_ns);
}

/* The pairs are those of the tree; n of them lost enough to be named. */
static void say_lost(struct text_writer *w, const struct why *why, uint32_t t, size_t n)
{
    char lost[TEXT_SIZE];

    text_say(w, "%s%s over what its calls usually take%s: ", w->n ? "; " : "",
             text_duration(why->loss.ns, lost),
             why->loss.is_whole ? ", though no single call is rare" : "");
    say_paths(w, why, n);
    say_off(w, why, t, why->loss.ns);
}

static void say_time(struct text_writer *w, struct why *why, uint32_t t, double usual_ns)
{
    size_t n = load_pairs(why, t);

    if (n > 0)
        say_lost(w, why, t, n);
    else if (is_longer(why, t, usual_ns, MATERIAL))
        say_longer(w, why, t, usual_ns);
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

/* How many look so strange by chance: true of an anomaly and of what came near to being one. */
static void say_chance(struct text_writer *w, double expected)
{
    char n[TEXT_SIZE];

    if (!(expected <= NEAR_MISS))
        return;
    if (expected >= 0.95)
        text_say(w, "; in a run like this chance alone makes %s look so",
                 text_count((uint64_t)llrint(expected), n));
    else if (expected > RARELY)
        text_say(w, "; chance alone does this in one of %s runs like it",
                 text_count((uint64_t)llrint(1 / expected), n));
    else
        text_say(w, "; chance alone does this in less than one of a million runs");
}

static void say_usual_number(struct text_writer *w, const struct why_child *child)
{
    char least[TEXT_SIZE], most[TEXT_SIZE];

    if (child->most == 0)
        text_say(w, "none");
    else if (child->least == child->most)
        text_say(w, "%s", text_count(child->most, most));
    else
        text_say(w, "%s to %s", text_count(child->least, least), text_count(child->most, most));
}

static void say_structure(struct text_writer *w, struct why *why,
                          const struct residual_measure *measure)
{
    struct why_child child[WHY_MOST_CHILDREN];
    uint32_t v = measure->rarest, t = forest_tree(why->forest, v);
    uint32_t path = residual_path(why->place, why->forest, t, v);
    size_t n = why_children(why, v, child);
    char share[TEXT_SIZE], number[TEXT_SIZE];

    text_say(w, "%s%.100s makes ", w->n ? "; " : "",
             why->defs->region[why->forest->region[v]].short_name);
    for (size_t i = 0; i < n && i < MOST_DIFFERENCES; i++) {
        text_say(w, "%s%s call%s of %.100s (usually ", i ? ", " : "",
                 child[i].observed ? text_count(child[i].observed, number) : "no",
                 child[i].observed == 1 ? "" : "s",
                 why->defs->region[child[i].region].short_name);
        say_usual_number(w, &child[i]);
        text_say(w, ")");
    }
    if (n == 0)
        text_say(w, "an unusual combination of calls");
    else if (n > MOST_DIFFERENCES)
        text_say(w, ", ...");
    if (path != PATH_NONE && measure->structure > 0)
        text_say(w, ", as 1 in %s of its calls do",
                 text_count((uint64_t)llrint(exp(fmin(measure->structure, 40))), share));
}

static void say_size(struct text_writer *w, const struct why *why, uint32_t t)
{
    uint32_t n = why->forest->first[t + 1] - why->forest->first[t];
    char observed[TEXT_SIZE], usual[TEXT_SIZE];

    text_say(w, "%s%s calls in all, usually %s", w->n ? "; " : "", text_count(n, observed),
             text_count((uint64_t)llrint(exp(why->model->log_size)), usual));
}

/* The clauses of the parts that say enough, the strongest first. */
static void say_parts(struct text_writer *w, struct why *why, uint32_t t,
                      const struct residual_measure *measure, const double *value)
{
    /* time is what people ask for: it goes first unless something else says clearly more */
    const double say_at[] = {TIME_FIRST * fmax(value[0], value[1]), value[2], value[3]};
    double best = fmax(say_at[0], fmax(say_at[1], say_at[2]));
    bool is_said[] = {false, false, false};

    for (int round = 0; round < 3; round++) {
        int next = -1;

        for (int i = 0; i < 3; i++)
            if (!is_said[i] && (next < 0 || say_at[i] > say_at[next]))
                next = i;
        is_said[next] = true;
        if (say_at[next] < WORTH_SAYING || say_at[next] < 0.5 * best)
            break;
        if (next == 0)
            say_time(w, why, t, measure->loss.usual_ns);
        else if (next == 1)
            say_structure(w, why, measure);
        else if (next == 2)
            say_size(w, why, t);
    }
}

void why_sentence(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict, char out[WHY_SIZE])
{
    struct text_writer w = {.out = out, .size = WHY_SIZE};

    *out = '\0';
    say_parts(&w, why, t, measure, verdict->value);
    if (w.n == 0 &&
        (verdict->is_anomaly || is_longer(why, t, measure->loss.usual_ns, LONGER_SHARE)))
        say_longer(&w, why, t, measure->loss.usual_ns);
    if (w.n > 0)
        say_chance(&w, verdict->expected);
    if (w.n > 0 && verdict->is_slight)
        text_say(&w, ", but too little to matter");
    if (w.n > 0 && verdict->is_unknown)
        text_say(&w, ", but too little of it is sure");
    say_tracer(&w, why, t);
    if (w.n == 0)
        text_say(&w, "as usual");
}
