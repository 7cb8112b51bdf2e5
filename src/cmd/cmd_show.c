/*
 * snag show -- one execution: what it took and typically takes on every call path, drawn as a
 * tree; what is strange about it; what went on elsewhere at the same time.
 */
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "explain/team_barrier.h"
#include "run/run_sql.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "run/rundir.h"
#include "view/execution_detail.h"
#include "view/executions.h"
#include "view/incident_list.h"
#include "view/results_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------- the tree */

/* Paths are numbered callers first, so sums go up in a backward loop and depths down in a
 * forward one. What is drawn is decided the same way: a path is drawn when it is shallow
 * enough, or it or something below it lost time. */

#define WORTH_SHOWING 0.005 /* of it: an excess is printed */
#define MAX_INDENT 40
#define INDENT_SIZE (5 * MAX_INDENT + 8) /* bytes: a bar and two spaces are five */

struct path_line {
    const struct residual_pair *pair; /* NULL: not in this tree */
    double inclusive_ns;
    uint32_t depth;
    bool is_strange, is_drawn;
    uint32_t n_hidden;      /* paths directly below that are not drawn */
    uint32_t below, beside; /* the first path it calls, the next of its caller; or PATH_NONE */
    uint32_t n_unseen;      /* calls below that the model has not seen there */
    double unseen_ns;
};

/* To be drawn, when what is above it on the stack has been. */
struct to_draw {
    uint32_t path;
    double inclusive_ns;
    bool is_unseen; /* what the model has not seen below the path */
    bool is_last;   /* of its caller's */
};

struct drawing {
    const struct why *why;
    struct path_line *line; /* [paths] */
    struct table *table;
    struct to_draw *waiting; /* [n_waiting] a stack */
    size_t n_waiting, cap;
    bool is_more[MAX_INDENT + 1]; /* another child follows at this depth */
};

/* Calls that the model has not seen there are lines of the path that they are below. */
static void gather_unseen(struct drawing *d)
{
    const struct why *why = d->why;
    const struct forest *f = why->forest;
    uint32_t *above = mem_alloc(f->n, sizeof *above); /* a call's path, or its next caller's */

    for (uint32_t v = 0; v < f->first[1]; v++) {
        uint32_t path = residual_path(why->place, f, 0, v);
        bool is_root = f->parent[v] == FOREST_ROOT;

        above[v] = path != PATH_NONE || is_root ? path : above[f->parent[v]];
        if (path != PATH_NONE || above[v] == PATH_NONE)
            continue;
        d->line[above[v]].n_unseen++;
        d->line[above[v]].unseen_ns += (double)f->exclusive_ns[v];
    }
    for (uint32_t p = 0; p < why->model->paths.n; p++) {
        d->line[p].inclusive_ns += d->line[p].unseen_ns;
        d->line[p].is_strange |= d->line[p].n_unseen > 0;
    }
    free(above);
}

static void gather(struct drawing *d)
{
    const struct why *why = d->why;
    const struct context *paths = &why->model->paths;

    gather_unseen(d);
    for (size_t i = 0; i < why->pairs.n; i++) {
        const struct residual_pair *pair = &why->pairs.pair[i];

        if (pair->path == PATH_NONE)
            continue;
        d->line[pair->path].pair = pair;
        d->line[pair->path].inclusive_ns += pair->observed_ns;
        d->line[pair->path].is_strange |= residual_stands_out(why->model, pair);
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
        struct path_line *line = &d->line[p];

        if (line->pair == NULL)
            continue;
        if (paths->parent[p] != PATH_NONE)
            line->depth = d->line[paths->parent[p]].depth + 1;
        line->is_drawn = is_all || line->depth < depth || line->is_strange;
        if (!line->is_drawn && paths->parent[p] != PATH_NONE)
            d->line[paths->parent[p]].n_hidden++;
    }
}

static void say_excess(struct drawing *d, double excess_ns)
{
    char text[TEXT_SIZE];

    if (fabs(excess_ns) > WORTH_SHOWING * d->why->model->root_ns)
        table_cell(d->table, "%s%s", excess_ns < 0 ? "-" : "+",
                   text_duration(fabs(excess_ns), text));
    else
        table_cell(d->table, "%s", "");
}

static char *indent_to(const struct drawing *d, uint32_t depth, char out[INDENT_SIZE])
{
    size_t n = 0;

    *out = '\0';
    for (uint32_t k = 1; k <= depth && k < MAX_INDENT; k++) {
        bool is_own = k == depth;

        n += (size_t)snprintf(out + n, INDENT_SIZE - n, "%s",
                              d->is_more[k] ? (is_own ? "\u251c\u2500 " : "\u2502  ")
                                            : (is_own ? "\u2514\u2500 " : "   "));
    }
    return out;
}

static void draw_unseen(struct drawing *d, uint32_t p)
{
    const struct path_line *line = &d->line[p];
    char indent[INDENT_SIZE], text[TEXT_SIZE], count[32] = "";

    if (line->n_unseen > 1)
        snprintf(count, sizeof count, " \u00d7 %u", line->n_unseen);
    table_cell(d->table, "%scalls never seen there%s", indent_to(d, line->depth + 1, indent),
               count);
    table_cell(d->table, "%s", text_duration(line->unseen_ns, text));
    table_cell(d->table, "%s", text_duration(line->unseen_ns, text));
    table_cell(d->table, "%s", "none");
    say_excess(d, line->unseen_ns);
    table_cell(d->table, "%s", "");
}

static void draw_line(struct drawing *d, uint32_t p)
{
    const struct path_line *line = &d->line[p];
    const struct residual_pair *pair = line->pair;
    const struct region *region = &d->why->defs->region[d->why->model->paths.region[p]];
    char indent[INDENT_SIZE], text[TEXT_SIZE], count[32] = "", place[REGION_PLACE_SIZE];

    if (pair->n_calls > 1)
        snprintf(count, sizeof count, " \u00d7 %u", pair->n_calls);
    table_cell(d->table, "%s%.60s%s%s", indent_to(d, line->depth, indent), region->short_name,
               region_place(region, place), count);
    table_cell(d->table, "%s", text_duration(line->inclusive_ns, text));
    table_cell(d->table, "%s", text_duration(pair->observed_ns, text));
    table_cell(d->table, "%s",
               residual_is_typical(d->why->model, p)
                   ? text_duration(fmax(pair->typical_ns, 0), text)
                   : "none");
    say_excess(d, pair->excess_ns);
    if (line->n_hidden > 0)
        table_cell(d->table, "%u path%s below not drawn", line->n_hidden,
                   line->n_hidden == 1 ? "" : "s");
    else
        table_cell(d->table, "%s", "");
}

static int by_time(const void *a, const void *b)
{
    const struct to_draw *p = a, *q = b;

    return ORDER(p->inclusive_ns, q->inclusive_ns) ?: ORDER(q->path, p->path);
}

static void push(struct drawing *d, uint32_t path, double inclusive_ns, bool is_unseen)
{
    *mem_push(&d->waiting, &d->n_waiting, &d->cap) =
        (struct to_draw){path, inclusive_ns, .is_unseen = is_unseen, .is_last = false};
}

/* What is drawn directly below p waits for its turn, that with the most time on top. */
static void push_children(struct drawing *d, uint32_t p)
{
    size_t begin = d->n_waiting;

    for (uint32_t c = d->line[p].below; c != PATH_NONE; c = d->line[c].beside)
        if (d->line[c].is_drawn)
            push(d, c, d->line[c].inclusive_ns, false);
    if (d->line[p].n_unseen > 0)
        push(d, p, d->line[p].unseen_ns, true);
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
        struct to_draw next = d->waiting[--d->n_waiting];
        uint32_t depth = d->line[next.path].depth + next.is_unseen;

        if (depth <= MAX_INDENT)
            d->is_more[depth] = !next.is_last;
        if (next.is_unseen) {
            draw_unseen(d, next.path);
            continue;
        }
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

static void path_tree_print(struct why *why, int64_t lost_ns, uint32_t depth, bool is_all)
{
    uint32_t n = why->model->paths.n;
    struct drawing d = {.why = why};

    why_sort_pairs(why, 0, lost_ns);
    d.line = mem_alloc(n, sizeof *d.line);
    link_paths(&d);
    gather(&d);
    choose(&d, depth, is_all);
    print("\nthe tree, by time:\n");
    d.table =
        table_new("lrrrrl", "call path", "inclusive", "exclusive", "typical", "excess", "");
    for (uint32_t p = 0; p < n; p++)
        if (why->model->paths.parent[p] == PATH_NONE && d.line[p].pair)
            draw(&d, p);
    table_print(d.table, stdout);
    free(d.waiting);
    free(d.line);
}

/* --------------------------------------------------------------------------- subtrees */

#define MAX_PRINTED 10u

static void subtree_print(const struct subtrees *s, double threshold, bool is_all)
{
    size_t n = subtree_count(s, threshold);
    char text[TEXT_SIZE], name[TOPSUBTREES_NAME_SIZE];
    struct table *t;

    print("\nsubtrees it has more or less of than the %u execution%s most like it%s\n",
          s->tops.n_neighbours, text_plural(s->tops.n_neighbours), n == 0 ? ": none" : ":");
    if (n == 0)
        return;
    t = table_new("rrrrrl", "importance", "calls", "usually", "took", "usually", "subtree");
    for (size_t i = 0; i < n && (is_all || i < MAX_PRINTED); i++) {
        const struct topsubtree *top = &s->tops.top[i];

        table_cell(t, "%+.2f", top->importance);
        table_cell(t, "%u", top->count);
        table_cell(t, "%.4g", top->typical_count);
        table_cell(t, "%s", text_duration((double)top->weight_ns, text));
        table_cell(t, "%s", text_duration(top->typical_ns, text));
        table_cell(t, "%s", subtree_name(s, top, name));
    }
    table_print(t, stdout);
    if (!is_all && n > MAX_PRINTED)
        print("and %zu more (--all)\n", n - MAX_PRINTED);
}

/* ----------------------------------------------------------------------------- causes */

#define PATH_SIZE 160
#define MAX_NAMES 3 /* of a call path in a line */

static const char *rank_text(const struct trace_view *view, uint32_t location, char *out,
                             size_t size)
{
    const struct location *l = &view->defs->location[location];

    if (l->thread > 0)
        snprintf(out, size, "%u.%u", l->rank, l->thread);
    else
        snprintf(out, size, "%u", l->rank);
    return out;
}

/* The last few functions of the call path. */
static const char *path_text(const struct trace_view *view, const struct cause_link *link,
                             char out[PATH_SIZE])
{
    uint32_t depth = view->calls[link->location].depth[link->call];
    uint32_t first = depth >= MAX_NAMES ? depth - MAX_NAMES + 1 : 0;
    size_t n = 0;

    for (uint32_t d = first; d <= depth && n < PATH_SIZE; d++)
        n += (size_t)snprintf(out + n, PATH_SIZE - n, "%s%.50s", d > first ? " > " : "",
                              cause_region_at(view, link, d)->short_name);
    if (link->n_calls > 1 && n < PATH_SIZE)
        snprintf(out + n, PATH_SIZE - n, " × %u", link->n_calls);
    return out;
}

static const char *partner_text(const struct waiting *w, char out[PATH_SIZE])
{
    char delay[TEXT_SIZE], bytes[TEXT_SIZE], rank[TEXT_SIZE] = "";
    const char *guess = w->is_guess ? " (by time only)" : "";

    if (w->rank != NO_RANK)
        text_place(w->rank, w->thread, rank);
    text_duration((double)w->delay_ns, delay);
    text_bytes((double)w->bytes, bytes);
    if (w->kind == WAITING_NOT || w->kind == WAITING_UNKNOWN)
        snprintf(out, PATH_SIZE, "%s", w->kind == WAITING_NOT ? "" : "?");
    else if (w->location == NO_LOCATION && w->kind == WAITING_FOR_ALL)
        snprintf(out, PATH_SIZE, "%u ranks without data", w->n_missing);
    else if (w->kind == WAITING_FOR_ALL && w->delay_ns == 0)
        snprintf(out, PATH_SIZE, "nobody came later%s", guess);
    else if (w->kind == WAITING_FOR_ALL)
        snprintf(out, PATH_SIZE, "%s, came %s later%s", rank, delay, guess);
    else if (w->kind == WAITING_FOR_TEAM)
        snprintf(out, PATH_SIZE, "%s, last in, %s later", rank, delay);
    else if (w->kind == WAITING_FOR_DEVICE)
        snprintf(out, PATH_SIZE, "%s, a GPU, %s", rank, delay);
    else if (w->location == NO_LOCATION)
        snprintf(out, PATH_SIZE, "%s, %s, tag %u", rank, bytes, w->tag);
    else if (waiting_is_over(w))
        snprintf(out, PATH_SIZE, "%s, %s, not waited for, %s, tag %u", rank,
                 waiting_kind_name(w->kind), bytes, w->tag);
    else
        snprintf(out, PATH_SIZE, "%s, %s%s, %s%s%s, %s, tag %u", rank,
                 w->is_late ? "late " : "", waiting_kind_name(w->kind),
                 w->is_late ? "" : "in time but took ", delay, guess, bytes, w->tag);
    return out;
}

/* Where nothing was lost by an anomaly there is nobody to blame: it waited as others do. */
static void cause_print(const struct trace_view *view, const struct cause *cause,
                        bool is_blamed)
{
    struct table *t = table_new("rrrll", "rank", "took", "explains", "call", "waited for");
    char text[TEXT_SIZE], path[PATH_SIZE], why[CAUSE_SIZE];

    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];

        table_cell(t, "%s", rank_text(view, link->location, text, sizeof text));
        table_cell(t, "%s", text_duration((double)link->time_ns, text));
        table_cell(t, "%s", text_duration((double)link->explained_ns, text));
        table_cell(t, "%s", path_text(view, link, path));
        table_cell(t, "%s", partner_text(&link->waiting, path));
    }
    print("\n%s, from rank to rank:\n", is_blamed ? "the cause" : "what it waited for");
    table_print(t, stdout);
    print("the chain ends here: %s\n", cause_end_sentence(view, cause, is_blamed, why));
}

/* -------------------------------------------------------------------------- one execution */

#define MAX_CONTEXTS 10 /* in the list of what is strange */
#define RARE_NATS 2.3   /* a combination of calls that one in ten has is not worth a table */

struct show {
    const struct settings *settings;
    struct run run;
    struct execution_detail c;
    bool is_of_anomaly; /* it is one, or of an incident that has one */
    struct pool *pool;
    struct subtrees subtrees; /* with --subtrees */
};

/* --------------------------------------------------------------------------- finding it */

static int find_execution(struct show *s, const char *id)
{
    char foi_name[EXECUTION_ID_SIZE];
    uint32_t rank, thread, index;
    int64_t foi = 0;
    int rc = execution_parse(id, foi_name, sizeof foi_name, &rank, &thread, &index);

    if (rc == 0)
        rc = executions_foi(s->run.db, *foi_name ? foi_name : settings_foi(s->settings), &foi);
    if (rc == 0)
        rc = execution_detail_find(&s->c, foi, rank, thread, index);
    return rc;
}

static int find_subtrees(struct show *s)
{
    const struct settings *settings = s->settings;
    int rc;

    if (!settings->has_subtrees)
        return 0;
    s->pool = pool_new(settings->threads);
    rc = subtrees_load(&s->subtrees, s->run.db, &s->run.columns, &s->run.defs, s->c.x.foi_id,
                       s->c.x.location, s->c.x.index, s->pool);
    if (rc == 0 && s->subtrees.work.is_embedding_new && !settings->is_quiet)
        fputs(
            "snag: the run has no embedding: one was trained for this output and is not kept\n",
            stderr);
    return rc;
}

/* ------------------------------------------------------------------------------- as text */

static void print_head(const struct show *s)
{
    char duration[TEXT_SIZE], typical[TEXT_SIZE], vertices[TEXT_SIZE], messages[TEXT_SIZE];
    char enter[TEXT_SIZE], place[TEXT_SIZE], all[TEXT_SIZE], tracer[TEXT_SIZE], off[TEXT_SIZE];
    char score[TEXT_SIZE];

    print("%s  %s: %s%s%s, score %s, place %s of %s by score\n", s->c.x.id, s->c.x.foi,
          s->c.x.verdict, s->c.x.label ? ", labelled " : "", s->c.x.label ? s->c.x.label : "",
          text_score(s->c.x.score, score), text_count(s->c.place, place),
          text_count(s->c.n_executions, all));
    print("%s\n\n", s->c.x.why);
    print("rank %u thread %u, entered at %s: %s%s", s->c.x.rank, s->c.x.thread,
          text_duration((double)s->c.x.enter_ns, enter),
          text_duration((double)s->c.x.duration_ns, duration), s->c.x.is_open ? " so far" : "");
    if (!residual_is_few(s->c.why.model))
        print(" (typical with the same calls on this rank: %s)",
              text_duration((double)s->c.x.typical_ns, typical));
    print(", %s call%s, %s message%s\n", text_count(s->c.x.n_vertices, vertices),
          text_plural(s->c.x.n_vertices), text_count(s->c.x.n_messages, messages),
          text_plural(s->c.x.n_messages));
    if (s->c.x.off_ns > 0)
        print("this time is known to within %s: begins and ends of functions from stacks are "
              "estimates\n",
              text_duration((double)s->c.x.off_ns, off));
    if (s->c.x.tracer_ns > 0)
        print("the tracer took %s of that time; it is in none of the times below\n",
              text_duration((double)s->c.x.tracer_ns, tracer));
}

/* With what all of it cost: alone an execution may cost nothing where another hides it. */
static void print_incident(const struct incident_row *x, void *ctx)
{
    char lost[TEXT_SIZE], executions[TEXT_SIZE], cost[TEXT_RANGE_SIZE];
    struct show *s = ctx;

    s->is_of_anomaly |= x->is_anomaly;
    print("incident %lld: head %s, %s execution%s on %u rank%s", (long long)x->id, x->head,
          text_count(x->n_executions, executions), text_plural(x->n_executions), x->n_ranks,
          text_plural(x->n_ranks));
    if (x->is_unended)
        print("; lost time not known: it does not end\n");
    else if (residual_is_few(s->c.why.model))
        print("; lost time not known\n");
    else if (x->lost_ns == 0)
        print(", nothing lost\n");
    else
        print(", %s lost; %s%s\n", text_duration((double)x->lost_ns, lost),
              !x->has_range         ? "its cost is not known"
              : x->cost_most_ns > 0 ? "without it the replayed run is shorter by "
                                    : "without it the replayed run is not shorter",
              x->has_range && x->cost_most_ns > 0 ? incident_cost_text(x, cost) : "");
}

static bool has_member(const struct group *g, int64_t tree)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->member[i].tree == tree)
            return true;
    return false;
}

/* Others that are strange in the same way. */
static int print_group(const struct show *s)
{
    const struct execution_filter filter = {.foi_id = s->c.x.foi_id, .rank = NO_RANK};
    char text[GROUP_TEXT_SIZE];
    struct groups all;
    int rc = groups_find(s->run.db, &filter, &all);

    for (size_t i = 0; rc == 0 && i < all.n; i++)
        if (all.group[i].n > 1 && has_member(&all.group[i], s->c.x.tree))
            print("group %lld: one of %s\n", (long long)all.group[i].id,
                  group_text(&all.group[i], text));
    groups_release(&all);
    return rc;
}

/* What others did after the last event of a rank whose execution does not end. */
static int print_meanwhile(struct show *s)
{
    const struct execution *x = &s->c.x;
    sqlite3_stmt *query;
    char number[TEXT_SIZE];
    int rc = rundb_query(s->run.db, &query, run_sql_meanwhile, "iii", x->foi_id,
                         (int64_t)x->location, (int64_t)(x->enter_ns + x->duration_ns));

    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        uint64_t n = (uint64_t)sqlite3_column_int64(query, 0);
        uint32_t n_locations = (uint32_t)sqlite3_column_int64(query, 1);
        uint32_t n_unended = (uint32_t)sqlite3_column_int64(query, 2);
        uint32_t n_open = (uint32_t)sqlite3_column_int64(query, 3);

        print("meanwhile: ");
        if (n > 0)
            print("%s execution%s began on %u other location%s; ", text_count(n, number),
                  text_plural(n), n_locations, text_plural(n_locations));
        else
            print("no execution began anywhere else; ");
        if (n_unended > 0)
            print("%u other%s do%s not end either%s", n_unended, text_plural(n_unended),
                  n_unended == 1 ? "es" : "", n_open > 0 ? "; " : "\n");
        if (n_open > 0)
            print("%u other%s %s open when the events of %s ended\n", n_open,
                  text_plural(n_open), n_open == 1 ? "was" : "were",
                  n_open == 1 ? "its rank" : "their ranks");
        else if (n_unended == 0)
            print("all others ended\n");
        print("the execution may wait for something that never came, its process may have been "
              "killed, or recording may have stopped: the trace does not say which\n");
    }
    sqlite3_finalize(query);
    return rc;
}

/* A line of the sum: what was taken more or less, what was taken, what typically is. */
static void sum_cells(struct table *t, double took_ns, double typical_ns)
{
    double more_ns = took_ns - typical_ns;
    char text[TEXT_SIZE];

    table_cell(t, "%s%s", more_ns < 0 ? "-" : "+", text_duration(fabs(more_ns), text));
    table_cell(t, "%s", text_duration(took_ns, text));
    table_cell(t, "%s", typical_ns > 0 ? text_duration(typical_ns, text) : "none");
}

/* Not of a path, but of what has no line of its own, or of all. */
static void sum_line(struct table *t, double took_ns, double typical_ns, const char *name)
{
    sum_cells(t, took_ns, typical_ns);
    table_cell(t, "%s", "");
    table_cell(t, "%s", "");
    table_cell(t, "%s", name);
}

/* Lines that add up to what the execution took and to what those like it typically take. */
static void print_time(struct show *s)
{
    size_t n = why_sort_pairs(&s->c.why, 0, (int64_t)s->c.x.lost_ns);
    const struct residual_loss *loss = &s->c.why.loss;
    double took_ns = (double)(loss->typical_ns + loss->more_ns);
    double rest_ns = took_ns, typical_rest_ns = (double)loss->typical_ns;
    char name[WHY_NAME_SIZE];
    struct table *t;

    if ((n == 0 && s->c.x.lost_ns == 0) || s->c.x.is_open)
        return;
    print("\nwhere the execution took %s, compared with calls of the same path and subtree on "
          "this rank:\n",
          s->c.x.lost_ns > 0                        ? "longer"
          : residual_is_brief(s->c.why.model, loss) ? "less"
                                                    : "more or less");
    t = table_new("rrrrrl", "more", "took", "typical", "calls", "typical calls", "call path");
    for (size_t i = 0; i < n && i < MAX_CONTEXTS; i++) {
        const struct residual_pair *pair = &s->c.why.pairs.pair[i];

        sum_cells(t, pair->observed_ns, pair->typical_ns);
        table_cell(t, "%u", pair->n_calls);
        table_cell(t, "%.4g", execution_detail_typical_calls(&s->c, pair->path));
        table_cell(t, "%s", why_path_name(&s->c.why, pair->path, name));
        rest_ns -= pair->observed_ns;
        typical_rest_ns -= pair->typical_ns;
    }
    sum_line(t, rest_ns, typical_rest_ns, "all other call paths");
    sum_line(t, took_ns, (double)loss->typical_ns, "in all");
    table_print(t, stdout);
}

static void print_order(const struct show *s, const char *name, const struct why_order *order)
{
    char calls[TEXT_SIZE], of[TEXT_SIZE];

    print("\n%s calls %s before %s, typically after it; %s of its %s calls with the same calls "
          "inside %s in another order than the typical one\n",
          name, s->run.defs.region[order->early].short_name,
          s->run.defs.region[order->late].short_name,
          order->calls ? text_count(order->calls, calls) : "none", text_count(order->of, of),
          order->calls == 1 ? "is" : "are");
}

static void print_structure(const struct show *s)
{
    struct why_child child[WHY_MAX_CHILDREN];
    size_t n = why_children(&s->c.why, s->c.measure.rarest, child);
    const char *name = s->run.defs.region[s->c.forest.region[s->c.measure.rarest]].short_name;
    char share[TEXT_SIZE];
    struct why_order order;
    struct table *t;

    if (why_order(&s->c.why, s->c.measure.rarest, &order)) {
        print_order(s, name, &order);
        return;
    }
    if (n == 0 || s->c.measure.structure < RARE_NATS)
        return;
    print("\nwhat %s calls directly, where that is not typical (1 in %s of its calls is as "
          "rare):\n",
          name, text_count((uint64_t)llrint(exp(fmin(s->c.measure.structure, 40))), share));
    t = table_new("rrl", "calls", "typical", "function");
    for (size_t i = 0; i < n && i < MAX_CONTEXTS; i++) {
        table_cell(t, "%u", child[i].observed);
        if (child[i].least == child[i].most)
            table_cell(t, "%u", child[i].most);
        else
            table_cell(t, "%u to %u", child[i].least, child[i].most);
        table_cell(t, "%s", s->run.defs.region[child[i].region].short_name);
    }
    table_print(t, stdout);
}

/* What threads did in its teams. */
static void print_teams(const struct show *s)
{
    uint32_t n_forks;
    size_t n;
    struct team_use *use =
        team_use_of(&s->c.causes.view, s->c.x.location, s->c.x.call, &n_forks, &n);
    struct table *t;

    if (use == NULL)
        return;
    print("\nthe %u team%s of threads of this execution:\n", n_forks, text_plural(n_forks));
    t = table_new("lrrrr", "thread", "in teams", "time there", "at barriers", "came last");
    for (size_t i = 0; i < n; i++) {
        const struct location *l = &s->run.defs.location[use[i].location];
        char text[TEXT_SIZE];

        table_cell(t, "%u %s", l->thread, l->name);
        table_cell(t, "%u", use[i].n_teams);
        table_cell(t, "%s", text_duration((double)use[i].member_ns, text));
        table_cell(t, "%s", text_duration((double)use[i].barrier_ns, text));
        table_cell(t, "%u", use[i].n_last);
    }
    table_print(t, stdout);
    free(use);
}

static int print_peers(const struct show *s)
{
    sqlite3_stmt *query = NULL;
    struct table *t = NULL;
    bool has_several = executions_have_several(s->run.db);
    int rc = execution_detail_peers(&s->c, &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE], text[TEXT_SIZE];

        if (t == NULL) {
            print("\nanomalies elsewhere at the same time:\n");
            t = table_new("lrrrl", "execution", "score", "entered", "duration", "why");
        }
        execution_detail_peer_id(&s->c, query, has_several, id);
        table_cell(t, "%s", id);
        table_cell(t, "%s", text_score(sqlite3_column_double(query, 3), text));
        table_cell(t, "%s%s", sqlite3_column_int64(query, 4) >= 0 ? "+" : "",
                   text_duration((double)sqlite3_column_int64(query, 4), text));
        table_cell(t, "%s", text_duration((double)sqlite3_column_int64(query, 5), text));
        table_cell(t, "%s", rundb_text(query, 6));
    }
    rc = rundb_close_query(s->run.db, query, rc, "cannot read the executions");
    if (t)
        table_print(t, stdout);
    return rc;
}

static int print_as_text(struct show *s)
{
    int rc;

    print_head(s);
    s->is_of_anomaly = strcmp(s->c.x.verdict, "anomaly") == 0;
    rc = incident_of(s->run.db, s->c.x.foi_id, s->c.x.tree, print_incident, s);
    if (rc == 0)
        rc = print_group(s);
    if (rc == 0 && s->c.x.is_open && strcmp(s->c.x.verdict, "anomaly") == 0)
        rc = print_meanwhile(s);
    if (rc < 0)
        return rc;
    print_time(s);
    print_structure(s);
    print_teams(s);
    if (s->c.has_cause && cause_has_news(&s->c.causes.cause))
        cause_print(&s->c.causes.view, &s->c.causes.cause,
                    s->is_of_anomaly && (s->c.x.lost_ns > 0 || s->c.x.is_open));
    if (s->settings->has_subtrees)
        subtree_print(&s->subtrees, s->settings->threshold, s->settings->is_all);
    path_tree_print(&s->c.why, (int64_t)s->c.x.lost_ns, s->settings->depth,
                    s->settings->is_all);
    return print_peers(s);
}

static int print_as_json(struct show *s)
{
    json_t *json = NULL;
    int rc = execution_detail_to_json(&s->c, &json);

    if (rc < 0)
        return rc;
    if (s->settings->has_subtrees)
        json_object_set_new(json, "subtrees",
                            subtree_to_json(&s->subtrees, s->settings->threshold));
    print_json(json, true);
    return 0;
}

static void show_release(struct show *s)
{
    subtrees_release(&s->subtrees);
    pool_free(s->pool);
    execution_detail_release(&s->c);
    run_close(&s->run);
}

int cmd_show(const struct settings *settings)
{
    struct show s = {.settings = settings};
    int rc = selection_open(&s.run, settings);

    execution_detail_init(&s.c, s.run.db, &s.run.columns, &s.run.defs);
    if (rc == 0)
        rc = find_execution(&s, settings->args[1]);
    if (rc == 0)
        rc = execution_detail_locate(&s.c, NULL);
    if (rc == 0)
        rc = find_subtrees(&s);
    if (rc == 0)
        rc = settings->is_json ? print_as_json(&s) : print_as_text(&s);
    show_release(&s);
    return rc < 0 ? rc : STATUS_DONE;
}
