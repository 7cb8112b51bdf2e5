/*
 * compare_words -- what changed between runs, in words: the headline, and what is to be known
 * before it is believed.
 */
#ifndef SNAG_VIEW_COMPARE_WORDS_H
#define SNAG_VIEW_COMPARE_WORDS_H

#include "base/text.h"
#include "compare/compare.h"

#include <stdbool.h>

#define COMPARE_HEADLINE_SIZE 4096

/* compare_headline -- "+12.4 % (95 %: +10.1 to +14.8), slower: a > b +9.1 %, of it +8.8 %
 * with c; ..." */
void compare_headline(const struct comparison *comparison, char out[COMPARE_HEADLINE_SIZE]);

/* compare_notes -- say what limits it, a line each, which lasts until `say` returns. */
void compare_notes(const struct comparison *comparison,
                   void (*say)(void *ctx, const char *text), void *ctx);

/* compare_difference -- of the times of an execution, in nanoseconds. */
double compare_difference(const struct compare_change *change);

/* compare_is_sure -- the verdict is that there is a change. */
bool compare_is_sure(enum compare_verdict verdict);

/* compare_is_one_run -- on each side: how much runs differ anyway is not known. */
bool compare_is_one_run(const struct comparison *comparison);

/* compare_kind_is_said -- there is one kind in which most of the change of a path is. */
bool compare_kind_is_said(const struct compare_path *path);

/* compare_share_text, compare_time_text -- "+9.1 %" of the whole, "+1.20 ms". Return out. */
char *compare_share_text(const struct comparison *comparison, double ns, char out[TEXT_SIZE]);
char *compare_time_text(double ns, char out[TEXT_SIZE]);

#endif
