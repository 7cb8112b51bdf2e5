/* compare_print -- what changed between runs, for people, pull requests and CI. */
#ifndef SNAG_CMD_COMPARE_PRINT_H
#define SNAG_CMD_COMPARE_PRINT_H

#include "compare/compare.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What --fail-on says: of the whole, or of the path and those that end like it. */
struct compare_limit {
    const char *said;
    char path[COMPARE_NAME_SIZE]; /* "": the whole */
    double share, ns;             /* one of them, the other 0 */
    bool is_beyond;
};

struct compare_gate {
    struct compare_limit *limit; /* [n] */
    uint32_t n;
};

/* compare_print_text, _markdown, _junit -- on standard output.
 *   most  paths at most; 0: all */
void compare_print_text(const struct comparison *c, const struct compare_gate *gate,
                        uint32_t most);
void compare_print_markdown(const struct comparison *c, const struct compare_gate *gate,
                            uint32_t most);
void compare_print_junit(const struct comparison *c, const struct compare_gate *gate);

/* compare_print_html, _html_tables -- the same as parts of a page: what is said, and what of.
 */
void compare_print_html(const struct comparison *c, FILE *out);
void compare_print_html_tables(const struct comparison *c, uint32_t most, FILE *out);

#endif
