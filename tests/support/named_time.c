/*
 * named_time TRACE <LOOPS -- how much of the time of a trace is under a function of the
 * program, whatever else is open, or under a loop:
 *
 *     start N      ns, of all locations, in MPI_Init and MPI_Finalize: in none of the others
 *     all N        from their first events to their last
 *     any N        of these with a function open that is not MPI's or another library's
 *     repeated N   with one open that its location calls twice or more, or in an iteration of a
 *                  loop: what is no mere main
 *
 * LOOPS has lines "RANK BEGIN_NS END_NS", the iterations of loops. Exit status 1: no such
 * trace.
 */
#include "base/err.h"
#include "base/mem.h"
#include "trace/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span {
    uint64_t begin_ns, end_ns;
};

struct spans {
    struct span *at;
    size_t n, cap;
};

struct iteration {
    uint32_t rank;
    struct span span;
};

struct reading {
    const struct definitions *defs;
    uint32_t *calls; /* [regions] of one location */
    uint32_t *open;
    size_t n_open, cap_open;
    uint64_t first_ns, last_ns, n_events;
};

#define START 0 /* in place of a number of calls: MPI's begin and end */

static bool is_counted(const struct reading *r, uint32_t region, uint32_t least_calls)
{
    const char *name = r->defs->region[region].name;

    if (least_calls == START)
        return strncmp(name, "MPI_Init", strlen("MPI_Init")) == 0 ||
               strcmp(name, "MPI_Finalize") == 0;
    return r->defs->region[region].kind == REGION_USER && r->calls[region] >= least_calls;
}

static void add_span(struct spans *s, uint64_t begin_ns, uint64_t end_ns)
{
    *mem_push(&s->at, &s->n, &s->cap) = (struct span){begin_ns, end_ns};
}

/* The spans in which a function is open that counts; NULL: count the calls. */
static void read_location(struct reading *r, struct source_reader *reader, uint32_t location,
                          uint32_t least_calls, struct spans *spans)
{
    const struct event_batch *batch;
    struct quality quality = {0};
    uint64_t begin_ns = 0;
    uint32_t depth = 0;

    r->n_open = r->n_events = 0;
    if (source_reader_begin(reader, location, UINT64_MAX) < 0)
        return;
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            const struct event *e = &batch->event[i];

            r->first_ns = r->n_events++ == 0 ? e->time_ns : r->first_ns;
            r->last_ns = e->time_ns;
            if (e->kind == EVENT_ENTER) {
                *mem_push(&r->open, &r->n_open, &r->cap_open) = e->ref;
                if (spans == NULL)
                    r->calls[e->ref]++;
                else if (is_counted(r, e->ref, least_calls) && depth++ == 0)
                    begin_ns = e->time_ns;
            } else if (e->kind == EVENT_LEAVE && r->n_open > 0) {
                uint32_t region = r->open[--r->n_open];

                if (spans && is_counted(r, region, least_calls) && --depth == 0)
                    add_span(spans, begin_ns, e->time_ns);
            }
        }
    if (depth > 0)
        add_span(spans, begin_ns, r->last_ns);
    source_reader_end(reader, &quality);
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static uint64_t covered(struct spans *s)
{
    uint64_t sum_ns = 0, until_ns = 0;

    if (s->n > 0)
        qsort(s->at, s->n, sizeof *s->at, by_begin);
    for (size_t i = 0; i < s->n; i++) {
        uint64_t begin_ns = s->at[i].begin_ns > until_ns ? s->at[i].begin_ns : until_ns;

        if (s->at[i].end_ns <= begin_ns)
            continue;
        sum_ns += s->at[i].end_ns - begin_ns;
        until_ns = s->at[i].end_ns;
    }
    return sum_ns;
}

/* What is covered that is not in start, too. */
static uint64_t covered_beside(struct spans *s, struct spans *start)
{
    for (size_t i = 0; i < start->n; i++)
        add_span(s, start->at[i].begin_ns, start->at[i].end_ns);
    return covered(s) - covered(start);
}

static struct iteration *read_loops(size_t *n)
{
    struct iteration *all = NULL, one;
    size_t cap = 0;

    *n = 0;
    while (scanf("%" SCNu32 " %" SCNu64 " %" SCNu64, &one.rank, &one.span.begin_ns,
                 &one.span.end_ns) == 3) {
        *mem_push(&all, n, &cap) = one;
    }
    return all;
}

static void measure(struct source *source)
{
    size_t n_iterations;
    struct iteration *iteration = read_loops(&n_iterations);
    struct source_reader *reader = source_reader_new(source);
    const struct definitions *defs = &source->defs;
    struct reading r = {.defs = defs, .calls = mem_alloc(defs->names.n + 1, sizeof *r.calls)};
    struct spans spans = {0}, start = {0};
    uint64_t start_ns = 0, all_ns = 0, any_ns = 0, repeated_ns = 0;

    for (uint32_t l = 0; l < defs->n_locations; l++) {
        memset(r.calls, 0, defs->names.n * sizeof *r.calls);
        read_location(&r, reader, l, 0, NULL);
        start.n = spans.n = 0;
        read_location(&r, reader, l, START, &start);
        start_ns += covered(&start);
        all_ns += (r.n_events ? r.last_ns - r.first_ns : 0) - covered(&start);
        read_location(&r, reader, l, 1, &spans);
        any_ns += covered_beside(&spans, &start);
        spans.n = 0;
        read_location(&r, reader, l, 2, &spans);
        for (size_t i = 0; i < n_iterations && defs->location[l].thread == 0; i++)
            if (iteration[i].rank == defs->location[l].rank)
                add_span(&spans, iteration[i].span.begin_ns, iteration[i].span.end_ns);
        repeated_ns += covered_beside(&spans, &start);
    }
    printf("start %" PRIu64 "\nall %" PRIu64 "\nany %" PRIu64 "\nrepeated %" PRIu64 "\n",
           start_ns, all_ns, any_ns, repeated_ns);
    free(spans.at);
    free(start.at);
    free(r.open);
    free(r.calls);
    free(iteration);
    source_reader_free(reader);
}

int main(int argc, char **argv)
{
    struct source source = {0};
    int rc = argc == 2 ? source_open(&source, argv[1]) : -1;

    if (rc < 0)
        fprintf(stderr, "named_time: %s\n",
                argc == 2 ? err_message() : "named_time TRACE <LOOPS");
    else
        measure(&source);
    source_close(&source);
    return rc < 0;
}
