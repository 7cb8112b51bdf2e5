/*
 * Sentences on a trace and on a run. What the tracer stopped recording a trace says rank by
 * rank; a person wants to know it by function. What a run says comes from its database,
 * function of interest by function of interest.
 */
#include "cmd/headline.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "cmd/print.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "view/outcome.h"
#include "view/executions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what a trace has calls of */

struct trace_kind trace_kind_of(const struct definitions *defs)
{
    struct trace_kind kind = {0};

    for (uint32_t i = 0; i < defs->names.n; i++) {
        const struct region *region = &defs->region[i];

        kind.n_mpi += region->kind == REGION_MPI;
        kind.n_openmp += region->kind == REGION_OPENMP && !region_is_autograd_wait(region);
        kind.n_sampled += region->is_sampled;
        kind.n_functions +=
            region->kind == REGION_USER && *region->name != '('; /* "(undefined region)" */
    }
    return kind;
}

/* "functions from stacks (some of their times are estimates) and MPI".
 * Returns out. */
static char *trace_kind_text(const struct trace_kind *kind, char out[TRACE_KIND_SIZE])
{
    const char *functions = kind->n_functions == 0 ? ""
                            : kind->n_sampled > 0
                                ? "functions from stacks (some of their times are estimates)"
                                : "functions";
    const char *part[] = {functions, kind->n_mpi ? "MPI" : "", kind->n_openmp ? "OpenMP" : ""};
    uint32_t n = 0, n_all = (*part[0] != 0) + (*part[1] != 0) + (*part[2] != 0);
    size_t at = 0;

    *out = '\0';
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (*part[i]) {
            const char *between = n == 0 ? "" : n + 1 < n_all ? ", " : " and ";

            at += (size_t)snprintf(out + at, TRACE_KIND_SIZE - at, "%s%s", between, part[i]);
            n++;
        }
    if (n == 1)
        snprintf(out + at, TRACE_KIND_SIZE - at, "%s", kind->n_functions ? "" : " alone");
    return out;
}

/* ----------------------------------------------------------------- what the tracer left out */

#define MAX_PRINTED 10

static int by_calls(const void *a, const void *b)
{
    const struct left_out_function *p = a, *q = b;

    return ORDER(q->n_calls, p->n_calls) ?: ORDER(p->region, q->region);
}

struct left_out_function *left_out_list(const struct definitions *defs, size_t *n)
{
    struct left_out_function *of = mem_alloc(defs->n_left_out ? defs->names.n : 0, sizeof *of);

    for (size_t i = 0; i < defs->n_left_out; i++) {
        const struct left_out *one = &defs->left_out[i];
        struct left_out_function *f = &of[one->region];

        f->region = one->region;
        if (f->n_ranks++ == 0 || one->from_ns < f->from_ns)
            f->from_ns = one->from_ns;
        f->n_calls += one->n_calls;
    }
    *n = 0;
    for (uint32_t i = 0; defs->n_left_out > 0 && i < defs->names.n; i++)
        if (of[i].n_ranks > 0)
            of[(*n)++] = of[i];
    qsort(of, *n, sizeof *of, by_calls);
    return of;
}

char *left_out_text(const struct left_out_function *f, char out[4 * TEXT_SIZE])
{
    char calls[TEXT_SIZE], from[TEXT_SIZE], ranks[TEXT_SIZE] = "";

    if (f->n_ranks > 1)
        snprintf(ranks, sizeof ranks, " of %u ranks", f->n_ranks);
    snprintf(out, 4 * TEXT_SIZE, "%s call%s%s from %s on", text_count(f->n_calls, calls),
             text_plural(f->n_calls), ranks, text_duration((double)f->from_ns, from));
    return out;
}

void left_out_print(const struct definitions *defs)
{
    size_t n;
    struct left_out_function *of = left_out_list(defs, &n);
    char text[4 * TEXT_SIZE];

    if (n > 0)
        print("\nthe tracer stopped recording these functions, because they were called too "
              "often. Their earlier calls are not used; the time of their callers before that "
              "is too long:\n");
    for (size_t i = 0; i < n && i < MAX_PRINTED; i++)
        print("  %s: %s\n", defs->region[of[i].region].short_name, left_out_text(&of[i], text));
    if (n > MAX_PRINTED)
        print("  and %zu more\n", n - MAX_PRINTED);
    free(of);
}

json_t *left_out_json(const struct definitions *defs)
{
    size_t n;
    struct left_out_function *of = left_out_list(defs, &n);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                            json_text(defs->region[of[i].region].name), "plain",
                            json_text(defs->region[of[i].region].plain), "calls",
                            json_count(of[i].n_calls), "from_ns", json_count(of[i].from_ns),
                            "ranks", json_count(of[i].n_ranks)));
    free(of);
    return list;
}

/* ---------------------------------------------------------------------------- what a run is */

char *headline_trace(const struct headline_trace *x)
{
    char records[TEXT_SIZE], length[TEXT_SIZE], kind[TRACE_KIND_SIZE];

    return text_new("%s: %s events, %u location%s, %s; %s", x->path,
                    text_count(x->n_records, records), x->n_locations,
                    text_plural(x->n_locations), text_duration((double)x->length_ns, length),
                    trace_kind_text(&x->kind, kind));
}

char *headline_foi(const struct headline_foi *x)
{
    char trees[TEXT_SIZE], vertices[TEXT_SIZE], messages[TEXT_SIZE], subtrees[TEXT_SIZE];

    return text_new(
        "%s: %s execution%s, %s call%s, %s sends and receives, %s different subtree%s; "
        "%" PRIu64 " anomal%s",
        x->name, text_count(x->n_trees, trees), text_plural(x->n_trees),
        text_count(x->n_vertices, vertices), text_plural(x->n_vertices),
        text_count(x->n_messages, messages), text_count(x->n_subtrees, subtrees),
        text_plural(x->n_subtrees), x->n_anomalies, x->n_anomalies == 1 ? "y" : "ies");
}

int headline_fois(sqlite3 *db, int64_t only,
                  void (*fn)(int64_t id, const struct headline_foi *foi, void *ctx), void *ctx)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(db, run_sql_show_fois, &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(query, 0);
        const struct headline_foi foi = {
            .name = rundb_text(query, 1),
            .n_trees = (uint64_t)sqlite3_column_int64(query, 2),
            .n_vertices = (uint64_t)sqlite3_column_int64(query, 3),
            .n_messages = (uint64_t)sqlite3_column_int64(query, 4),
            .n_subtrees = (uint64_t)sqlite3_column_int64(query, 5),
            .n_anomalies = (uint64_t)sqlite3_column_int64(query, 10),
        };

        if (foi.n_trees > 0 && (only == 0 || only == id))
            fn(id, &foi, ctx);
    }
    return rundb_close_query(db, query, rc, "cannot read the functions of interest");
}

/* Where the others are that it speaks of. Takes the text. */
static char *with_hint(const struct outcome_slow *slow, char *text)
{
    char *more;

    if (text == NULL || slow->n_more == 0)
        return text;
    more = text_new("%s (snag ranks lists them)", text);
    free(text);
    return more;
}

void headline_answer(const struct outcome *a, char *line[HEADLINE_LINES])
{
    bool is_slow_first = a->slow.place && a->slow.is_first;

    line[!is_slow_first] = with_hint(&a->slow, outcome_slow_text(a));
    line[is_slow_first] = outcome_anomalies_text(a);
    line[2] = a->growth ? mem_copy_string(a->growth) : NULL;
}

int headline_print(sqlite3 *db, int64_t id, const struct headline_foi *foi)
{
    struct outcome outcome;
    int rc = outcome_find(db, id, foi->n_anomalies, &outcome);
    char *text = headline_foi(foi), *line[HEADLINE_LINES];

    print("%s\n", text);
    free(text);
    headline_answer(&outcome, line);
    outcome_release(&outcome);
    for (size_t i = 0; i < HEADLINE_LINES; i++) {
        if (line[i])
            print("%s\n", line[i]);
        free(line[i]);
    }
    return rc;
}
