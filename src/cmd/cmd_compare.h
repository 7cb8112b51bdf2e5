/* cmd_compare -- what changed between runs, for people, pull requests and CI. */
#ifndef SNAG_CMD_CMD_COMPARE_H
#define SNAG_CMD_CMD_COMPARE_H

#include "compare/compare.h"

#include <stdint.h>
#include <stdio.h>

/* compare_print_html, _html_tables -- the same as parts of a page: what is said, and what of.
 */
void compare_print_html(const struct comparison *c, FILE *out);
void compare_print_html_tables(const struct comparison *c, uint32_t most, FILE *out);

#endif
