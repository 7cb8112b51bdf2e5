/*
 * kept_args -- what "args" of calls hold, from where they are read to where the events of a
 * thread are made: one behind the other, in a file without a name as soon as that is worth it
 * (base/paged.h).
 */
#ifndef SNAG_TRACE_KEPT_ARGS_H
#define SNAG_TRACE_KEPT_ARGS_H

#include "base/names.h"
#include "base/paged.h"
#include "trace/chrome/chrome_json.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_ARGS_NONE UINT64_MAX
#define KEPT_ARGS_NAMES 4096u /* different names that are kept of a trace */

/* A zeroed struct is empty and ready. */
struct kept_args {
    struct paged *paged; /* the owner's */
    char *data;          /* [n] */
    size_t n, cap;
};

void kept_args_release(struct kept_args *kept);

/*
 * kept_args_add -- those of a record.
 *   names   of arguments, to which they are added
 *   n_lost  is more by those that are not kept, as there are too many names
 * Returns where they are, or KEPT_ARGS_NONE when there are none.
 */
uint64_t kept_args_add(struct kept_args *kept, const struct chrome_record *record,
                       struct names *names, uint64_t *n_lost);

/* kept_args_next -- the next of those that are at *at, which moves on. False behind the last. A
 * text stays as long as what is kept. */
bool kept_args_next(const struct kept_args *kept, uint64_t *at, struct argument_value *value);

#endif
