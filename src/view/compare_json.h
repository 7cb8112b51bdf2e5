/*
 * compare_json -- what changed between runs, as it is shown: in words, the headline and what
 * is to be known before it is believed; as snag compare --json has it; and as a tree of call
 * paths, for a picture: the times of all executions, and of each kind of them, on both sides.
 */
#ifndef SNAG_VIEW_COMPARE_JSON_H
#define SNAG_VIEW_COMPARE_JSON_H

#include "base/text.h"
#include "compare/compare.h"

#include <stdbool.h>

#include <jansson.h>

#define COMPARE_HEADLINE_SIZE 4096

/* compare_headline -- "+12.4 % (95 %: +10.1 to +14.8), slower: +9.1 % of the whole in a > b (+30.0 % of its
 * own time), of it +8.8 % with c; ..." */
void compare_headline(const struct comparison *comparison, char out[COMPARE_HEADLINE_SIZE]);

/* compare_notes -- say what limits it, a line each, which lasts until `say` returns. */
void compare_notes(const struct comparison *comparison,
                   void (*say)(void *ctx, const char *text), void *ctx);

/* compare_difference -- of the times of an execution, in nanoseconds. */
double compare_difference(const struct compare_change *change);

/* compare_kind_is_said -- there is one kind in which most of the change of a path is. */
bool compare_kind_is_said(const struct compare_path *path);

/* compare_share_text, compare_time_text -- "+9.1 %" of the whole, "+1.20 ms". Return out. */
char *compare_share_text(const struct comparison *comparison, double ns, char out[TEXT_SIZE]);
char *compare_time_text(double ns, char out[TEXT_SIZE]);

/*
 * compare_to_json -- the object that docs/formats.md describes.
 *   most  paths and ranks at most; 0: all
 */
json_t *compare_to_json(const struct comparison *c, uint32_t most);

/*
 * compare_tree_to_json -- {"foi", "nodes", "kinds"}, as docs/formats.md has them. A node comes
 * after that of its caller; the first is the function of interest.
 */
json_t *compare_tree_to_json(const struct comparison *comparison);

#endif
