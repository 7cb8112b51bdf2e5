/*
 * headline -- what a trace and a run are, in sentences, as snag record and snag analyze print
 * them and a report begins: what there are calls of and how well their times are known, which
 * functions the tracer stopped recording as they were called too often (snag record
 * --overhead), what is strange and what it cost.
 *
 * headline_* return a text to be freed, without the end of its line; names in it are as they
 * are.
 */
#ifndef SNAG_CMD_HEADLINE_H
#define SNAG_CMD_HEADLINE_H

#include "base/text.h"
#include "trace/definitions.h"
#include "view/outcome.h"

#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#define TRACE_KIND_SIZE 128

struct trace_kind {
    uint32_t n_functions, n_mpi, n_openmp;
    uint32_t n_sampled; /* functions that were found on stacks */
};

/* trace_kind_of -- how many functions of each kind are defined. */
struct trace_kind trace_kind_of(const struct definitions *defs);

/* One of them, on all ranks. */
struct left_out_function {
    uint32_t region, n_ranks;
    uint64_t from_ns, n_calls; /* the earliest; of all */
};

/* left_out_list -- all of them, those with most calls first. Free the array. */
struct left_out_function *left_out_list(const struct definitions *defs, size_t *n);

/* left_out_text -- "9,844,605 calls from 10.3 ms on". Returns out. */
char *left_out_text(const struct left_out_function *f, char out[4 * TEXT_SIZE]);

/* left_out_print -- a paragraph on standard output; nothing if there are none. */
void left_out_print(const struct definitions *defs);

/* left_out_json -- as a list. */
json_t *left_out_json(const struct definitions *defs);

struct headline_trace {
    const char *path;
    uint64_t n_records, length_ns;
    uint32_t n_locations;
    struct trace_kind kind;
};

struct headline_foi {
    const char *name;
    uint64_t n_trees, n_vertices, n_messages, n_subtrees, n_anomalies;
};

/*
 * headline_fois -- call fn for the functions of interest that have executions, in order.
 *   only  one of them, or 0
 * The name lasts until fn returns. Returns 0 or ERR_DATABASE.
 */
int headline_fois(sqlite3 *db, int64_t only,
                  void (*fn)(int64_t id, const struct headline_foi *foi, void *ctx), void *ctx);

/* headline_trace -- "traces.otf2: 2,199,444 events, 16 locations, 2.24 s; functions and MPI" */
char *headline_trace(const struct headline_trace *trace);

/* headline_foi -- "compute: 5,792 executions, 925,612 calls, ...; 18 anomalies" */
char *headline_foi(const struct headline_foi *foi);

#define HEADLINE_LINES 3

/*
 * headline_answer -- what the run would be shorter without the anomalies, and what most of that
 * goes back to; who is slow always; and that executions take longer and longer. What costs most comes first; of what nobody knows what it costs, the anomalies.
 *   line  out: to be freed; NULL: there is no such
 */
void headline_answer(const struct outcome *outcome, char *line[HEADLINE_LINES]);

/*
 * headline_print -- the answer: how many anomalies, what they cost the run, and where.
 *   id  of the function of interest
 * Returns 0 or ERR_DATABASE.
 */
int headline_print(sqlite3 *db, int64_t id, const struct headline_foi *foi);

#endif
