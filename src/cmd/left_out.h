/*
 * left_out -- the functions that the tracer stopped recording, as they were called too often
 * (snag record --overhead): said wherever a trace is looked at.
 */
#ifndef SNAG_CMD_LEFT_OUT_H
#define SNAG_CMD_LEFT_OUT_H

#include "base/text.h"
#include "trace/definitions.h"

#include <jansson.h>

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

#endif
