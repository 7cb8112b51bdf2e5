/* Clauses are written one after another into the same buffer, the strongest part's first. */
#include "explain/why.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RARE_PATH 50  /* paths that fewer than 1 in so many trees have are usually not there */
#define MATERIAL 0.02 /* of the typical duration: less lost time is not worth a word */
#define MOST_CONTEXTS 3 /* named in a sentence */
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

bool why_is_usual(const struct why *why, uint32_t path)
{
    return path != PATH_NONE &&
           RARE_PATH * (uint64_t)why->model->path[path].n_trees >= why->model->n_trees;
}

size_t why_sort_pairs(struct why *why, uint32_t t)
{
    struct residual_pairs *pairs = &why->pairs;
    size_t n = 0;

    residual_pairs_of(pairs, why->model, why->place, why->forest, t);
    for (size_t i = 0; i < pairs->n; i++) {
        struct residual_pair *pair = &pairs->pair[i];

        if (why_is_usual(why, pair->path))
            continue;
        pair->typical_ns = 0;
        pair->lost_ns = pair->sure_ns = pair->observed_ns;
    }
    qsort(pairs->pair, pairs->n, sizeof *pairs->pair, by_sure_time);
    while (n < pairs->n && pairs->pair[n].sure_ns > MATERIAL * why->model->root_ns)
        n++;
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
    size_t n = shape_children(why->forest, v, observed, WHY_MOST_CHILDREN), n_kept = 0;
    uint32_t path = why->place->path[v];
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

/* ----------------------------------------------------------------------------- sentences */

/* A buffer that is written to the end of. */
struct writer {
    char *out;
    size_t n;
};

static void say(struct writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct writer *w, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(w->out + w->n, WHY_SIZE - w->n, fmt, args);
    va_end(args);
    w->n = w->n + (size_t)n < WHY_SIZE ? w->n + (size_t)n : WHY_SIZE - 1;
}

static void say_time(struct writer *w, struct why *why, uint32_t t)
{
    char lost[TEXT_SIZE], usual[TEXT_SIZE], name[WHY_NAME_SIZE];
    size_t n = why_sort_pairs(why, t);
    double sum = 0;

    if (n == 0)
        return;
    for (size_t i = 0; i < why->pairs.n; i++)
        sum += fmax(why->pairs.pair[i].lost_ns, 0); /* not what others waited less */
    say(w, "%s%s over what its calls usually take: ", w->n ? "; " : "",
        text_duration(sum, lost));
    for (size_t i = 0; i < n && i < MOST_CONTEXTS; i++) {
        const struct residual_pair *pair = &why->pairs.pair[i];

        say(w, "%s%s +%s (usually %s)", i ? ", " : "", why_path_name(why, pair->path, name),
            text_duration(pair->lost_ns, lost),
            why_is_usual(why, pair->path) ? text_duration(fmax(pair->typical_ns, 0), usual)
                                          : "none");
    }
    if (n > MOST_CONTEXTS)
        say(w, ", ...");
}

static void say_usual_number(struct writer *w, const struct why_child *child)
{
    char least[TEXT_SIZE], most[TEXT_SIZE];

    if (child->most == 0)
        say(w, "none");
    else if (child->least == child->most)
        say(w, "%s", text_count(child->most, most));
    else
        say(w, "%s to %s", text_count(child->least, least), text_count(child->most, most));
}

static void say_structure(struct writer *w, struct why *why,
                          const struct residual_measure *measure)
{
    struct why_child child[WHY_MOST_CHILDREN];
    uint32_t v = measure->rarest, path = why->place->path[v];
    size_t n = why_children(why, v, child);
    char share[TEXT_SIZE], number[TEXT_SIZE];

    say(w, "%s%.100s makes ", w->n ? "; " : "",
        why->defs->region[why->forest->region[v]].short_name);
    for (size_t i = 0; i < n && i < MOST_DIFFERENCES; i++) {
        say(w, "%s%s call%s of %.100s (usually ", i ? ", " : "",
            child[i].observed ? text_count(child[i].observed, number) : "no",
            child[i].observed == 1 ? "" : "s", why->defs->region[child[i].region].short_name);
        say_usual_number(w, &child[i]);
        say(w, ")");
    }
    if (n == 0)
        say(w, "an unusual combination of calls");
    else if (n > MOST_DIFFERENCES)
        say(w, ", ...");
    if (path != PATH_NONE && measure->structure > 0)
        say(w, ", as 1 in %s of its calls do",
            text_count((uint64_t)llrint(exp(fmin(measure->structure, 40))), share));
}

static void say_size(struct writer *w, const struct why *why, uint32_t t)
{
    uint32_t n = why->forest->first[t + 1] - why->forest->first[t];
    char observed[TEXT_SIZE], usual[TEXT_SIZE];

    say(w, "%s%s calls in all, usually %s", w->n ? "; " : "", text_count(n, observed),
        text_count((uint64_t)llrint(exp(why->model->log_size)), usual));
}

void why_sentence(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const double *value, char out[WHY_SIZE])
{
    /* time is what people ask for: it goes first unless something else says clearly more */
    const double say_at[] = {TIME_FIRST * fmax(value[0], value[1]), value[2], value[3]};
    bool is_said[] = {false, false, false};
    struct writer w = {.out = out};
    double best = fmax(say_at[0], fmax(say_at[1], say_at[2]));

    *out = '\0';
    for (int round = 0; round < 3; round++) {
        int next = -1;

        for (int i = 0; i < 3; i++)
            if (!is_said[i] && (next < 0 || say_at[i] > say_at[next]))
                next = i;
        is_said[next] = true;
        if (say_at[next] < WORTH_SAYING || say_at[next] < 0.5 * best)
            break;
        if (next == 0)
            say_time(&w, why, t);
        else if (next == 1)
            say_structure(&w, why, measure);
        else
            say_size(&w, why, t);
    }
    if (w.n == 0)
        say(&w, "as usual");
}
