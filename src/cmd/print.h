/* print -- tables and JSON on stdout. */
#ifndef SNAG_CMD_PRINT_H
#define SNAG_CMD_PRINT_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/*
 * A table is filled cell by cell, then printed with columns as wide as they need to be.
 *     struct table *t = table_new("lrr", "function", "calls", "time");
 *     table_cell(t, "%s", name); ...
 *     table_print(t, stdout);          prints and frees
 */
struct table;

/* table_new -- one letter per column: l left, r right aligned; then as many headings. */
struct table *table_new(const char *columns, ...);
struct table *table_new_from(const char *columns, const char *const *headings);
void table_cell(struct table *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void table_print(struct table *table, FILE *out);

/* table_fit -- no line is to be longer than so many characters: what its last column has too
 * many is cut. */
void table_fit(struct table *table, size_t most);

/* table_print_html -- the same as a table of a page, and frees. Nothing for one without rows.
 */
void table_print_html(struct table *table, FILE *out);

/* table_free -- instead of table_print, when something went wrong on the way. */
void table_free(struct table *table);

/*
 * print -- as printf, for the flags, widths and lengths that we use; but what %s brings is made
 * printable (text_printable). All that commands say on stdout goes through it or through a
 * table, so that no name from a trace, a run or a store reaches the terminal as it is.
 */
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* print_has_colour -- stdout is a terminal and NO_COLOR is not set. */
bool print_has_colour(void);

/* print_json -- json_put and free; on one line, or indented. */
void print_json(json_t *json, bool is_indented);

#endif
