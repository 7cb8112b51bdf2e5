/*
 * cmd_report -- the one file that a report is: the page that web/src/report/ was built to,
 * with a title, a text and data in the places it has for them.
 */
#ifndef SNAG_CMD_CMD_REPORT_H
#define SNAG_CMD_CMD_REPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

/* report_heading, report_text -- of a section; names in them are shown as text. */
void report_heading(FILE *out, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void report_text(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * report_figure -- an empty one, which web/src/report/ fills.
 *   view     what is drawn
 *   address  of what, among the answers in the page
 *   caption  what is to be said of it
 */
void report_figure(FILE *out, const char *view, const char *address, const char *caption);

/*
 * report_make -- that of the run at a path, in memory, for who serves it.
 *   settings  struct settings of the command that does, which say of how much
 *   page      out: from malloc
 * Returns 0 or what report_run does.
 */
int report_make(const void *settings, const char *path, char **page, size_t *size);

#endif
