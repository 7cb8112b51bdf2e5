/*
 * Paths are numbered callers first, so sums go up in a backward loop and depths down in a
 * forward one. What is drawn is decided the same way: a path is drawn when it is shallow
 * enough, or it or something below it lost time.
 */
#include "cmd/path_tree.h"

#include "base/mem.h"
#include "base/text.h"
#include "cmd/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEPTH 4
#define MATERIAL 0.02       /* of the typical duration, as in why.c */
#define WORTH_SHOWING 0.005 /* of it: an excess is printed */
#define MOST_INDENT 40

struct line {
    const struct residual_pair *pair; /* NULL: not in this tree */
    double inclusive_ns;
    uint32_t depth;
    bool is_strange, is_drawn;
    uint32_t n_hidden;      /* paths directly below that are not drawn */
    uint32_t below, beside; /* the first path it calls, the next of its caller; or PATH_NONE */
};

/* To be drawn, when what is above it on the stack has been. */
struct waiting {
    uint32_t path;
    double inclusive_ns;
    bool is_last; /* of its caller's */
};

struct drawing {
    const struct why *why;
    struct line *line; /* [paths] */
    struct table *table;
    struct waiting *waiting; /* [n_waiting] a stack */
    size_t n_waiting, cap;
    bool is_more[MOST_INDENT + 1]; /* another child follows at this depth */
};

static void gather(struct drawing *d)
{
    const struct why *why = d->why;
    const struct context *paths = &why->model->paths;

    for (size_t i = 0; i < why->pairs.n; i++) {
        const struct residual_pair *pair = &why->pairs.pair[i];

        if (pair->path == PATH_NONE)
            continue;
        d->line[pair->path].pair = pair;
        d->line[pair->path].inclusive_ns = pair->observed_ns;
        d->line[pair->path].is_strange = pair->sure_ns > MATERIAL * why->model->root_ns;
    }
    for (uint32_t p = paths->n; p-- > 0;) {
        if (paths->parent[p] == PATH_NONE || d->line[p].pair == NULL)
            continue;
        d->line[paths->parent[p]].inclusive_ns += d->line[p].inclusive_ns;
        d->line[paths->parent[p]].is_strange |= d->line[p].is_strange;
    }
}

static void choose(struct drawing *d, uint32_t depth, bool is_all)
{
    const struct context *paths = &d->why->model->paths;

    for (uint32_t p = 0; p < paths->n; p++) {
        struct line *line = &d->line[p];

        if (line->pair == NULL)
            continue;
        if (paths->parent[p] != PATH_NONE)
            line->depth = d->line[paths->parent[p]].depth + 1;
        line->is_drawn = is_all || line->depth < depth || line->is_strange;
        if (!line->is_drawn && paths->parent[p] != PATH_NONE)
            d->line[paths->parent[p]].n_hidden++;
    }
}

static void draw_line(struct drawing *d, uint32_t p)
{
    const struct line *line = &d->line[p];
    const struct residual_pair *pair = line->pair;
    const struct region *region = &d->why->defs->region[d->why->model->paths.region[p]];
    char indent[4 * MOST_INDENT + 8] = "", text[TEXT_SIZE], count[32] = "";
    size_t n = 0;

    for (uint32_t k = 1; k <= line->depth && k < MOST_INDENT; k++) {
        bool is_own = k == line->depth;

        n += (size_t)snprintf(indent + n, sizeof indent - n, "%s",
                              d->is_more[k] ? (is_own ? "\u251c\u2500 " : "\u2502  ")
                                            : (is_own ? "\u2514\u2500 " : "   "));
    }
    if (pair->n_calls > 1)
        snprintf(count, sizeof count, " \u00d7 %u", pair->n_calls);
    table_cell(d->table, "%s%.60s%s", indent, region->short_name, count);
    table_cell(d->table, "%s", text_duration(line->inclusive_ns, text));
    table_cell(d->table, "%s", text_duration(pair->observed_ns, text));
    table_cell(d->table, "%s",
               why_is_usual(d->why, p) ? text_duration(fmax(pair->typical_ns, 0), text)
                                       : "none");
    if (pair->lost_ns > WORTH_SHOWING * d->why->model->root_ns)
        table_cell(d->table, "+%s", text_duration(pair->lost_ns, text));
    else
        table_cell(d->table, "%s", "");
    if (line->n_hidden > 0)
        table_cell(d->table, "%u path%s below not drawn", line->n_hidden,
                   line->n_hidden == 1 ? "" : "s");
    else
        table_cell(d->table, "%s", "");
}

static int by_time(const void *a, const void *b)
{
    const struct waiting *p = a, *q = b;

    if (p->inclusive_ns != q->inclusive_ns)
        return p->inclusive_ns < q->inclusive_ns ? -1 : 1;
    return (p->path < q->path) - (p->path > q->path);
}

/* The drawn paths directly below p wait for their turn, the one with the most time on top. */
static void push_children(struct drawing *d, uint32_t p)
{
    size_t begin = d->n_waiting;

    for (uint32_t c = d->line[p].below; c != PATH_NONE; c = d->line[c].beside) {
        if (!d->line[c].is_drawn)
            continue;
        mem_grow(&d->waiting, &d->cap, d->n_waiting + 1, sizeof *d->waiting);
        d->waiting[d->n_waiting++] = (struct waiting){c, d->line[c].inclusive_ns, false};
    }
    if (d->n_waiting == begin)
        return;
    qsort(d->waiting + begin, d->n_waiting - begin, sizeof *d->waiting, by_time);
    d->waiting[begin].is_last = true;
}

/* A root path and what is drawn below it, with a stack: the depth is not ours to bound. */
static void draw(struct drawing *d, uint32_t root)
{
    draw_line(d, root);
    push_children(d, root);
    while (d->n_waiting > 0) {
        struct waiting next = d->waiting[--d->n_waiting];
        uint32_t depth = d->line[next.path].depth;

        if (depth <= MOST_INDENT)
            d->is_more[depth] = !next.is_last;
        draw_line(d, next.path);
        push_children(d, next.path);
    }
}

/* Who is directly below whom. */
static void link_paths(struct drawing *d)
{
    const struct context *paths = &d->why->model->paths;

    for (uint32_t p = 0; p < paths->n; p++)
        d->line[p].below = d->line[p].beside = PATH_NONE;
    for (uint32_t p = paths->n; p-- > 0;) {
        uint32_t caller = paths->parent[p];

        if (caller == PATH_NONE)
            continue;
        d->line[p].beside = d->line[caller].below;
        d->line[caller].below = p;
    }
}

void path_tree_print(struct why *why, uint32_t depth, bool is_all)
{
    uint32_t n = why->model->paths.n;
    struct drawing d = {.why = why};

    why_sort_pairs(why, 0);
    d.line = mem_alloc(n, sizeof *d.line);
    link_paths(&d);
    gather(&d);
    choose(&d, depth ? depth : DEFAULT_DEPTH, is_all);
    print("\nthe tree, by time:\n");
    d.table =
        table_new("lrrrrl", "call path", "inclusive", "exclusive", "usually", "excess", "");
    for (uint32_t p = 0; p < n; p++)
        if (why->model->paths.parent[p] == PATH_NONE && d.line[p].pair)
            draw(&d, p);
    table_print(d.table, stdout);
    free(d.waiting);
    free(d.line);
}
