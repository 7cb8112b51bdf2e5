/* cause_print -- a cause chain as a table. */
#ifndef SNAG_CMD_CAUSE_PRINT_H
#define SNAG_CMD_CAUSE_PRINT_H

#include "explain/cause.h"

/* cause_print -- the section "the cause" of snag show: a line per link, and why it ends. */
void cause_print(const struct trace_view *view, const struct cause *cause);

#endif
