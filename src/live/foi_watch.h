/*
 * foi_watch -- which functions a person's patterns stand for while functions are still being
 * called for the first time.
 *
 * A pattern stands for what foi_match says among the functions called so far, unless one that
 * is defined but not called yet matches better: then it waits for that. A function is looked at
 * in the very step of its first call, so of one that matches nothing was missed.
 */
#ifndef SNAG_LIVE_FOI_WATCH_H
#define SNAG_LIVE_FOI_WATCH_H

#include "forest/foi.h"
#include "forest/profile.h"
#include "stack/callstack.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct foi_watch {
    char **pattern;    /* [n_patterns] */
    bool *is_too_much; /* [n_patterns] matches more than MAX_FOIS functions; warned of */
    uint32_t n_patterns;
    bool *is_called;       /* [called.n_regions] */
    struct profile called; /* n_calls is 1 for those that were */
    size_t region_cap, called_cap;
    bool is_changed; /* since foi_watch_match */
};

/* foi_watch_init -- patterns are copied. Returns 0, or ERR_USAGE for a bad regex. */
int foi_watch_init(struct foi_watch *w, const char *const *pattern, uint32_t n_patterns);
void foi_watch_release(struct foi_watch *w);

/* foi_watch_name -- one more pattern: the name of a function. */
void foi_watch_name(struct foi_watch *w, const char *name);

/* foi_watch_add -- the new rows of a location; defs know all their functions. O(rows). */
void foi_watch_add(struct foi_watch *w, const struct calls *calls,
                   const struct definitions *defs);

/*
 * foi_watch_match -- what the patterns stand for now.
 *   region  (MAX_FOIS) out: in the order of patterns, each once
 * Returns how many. What matches more than that is warned of, once, and left out.
 */
size_t foi_watch_match(struct foi_watch *w, const struct definitions *defs, uint32_t *region);

/*
 * foi_watch_check -- now that nothing more is called: 0, or ERR_NOT_FOUND or ERR_USAGE with
 * what is wrong with the first pattern that stands for nothing.
 */
int foi_watch_check(const struct foi_watch *w, const struct definitions *defs);

#endif
