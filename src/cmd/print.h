/*
 * print -- what commands say: tables and JSON on stdout, a file that -o asks for, exit
 * statuses, and the one place where errors are printed.
 */
#ifndef SNAG_CMD_PRINT_H
#define SNAG_CMD_PRINT_H

#include "base/fs.h"
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

/* print_json -- json_put and free; on one line, or indented. */
void print_json(json_t *json, bool is_indented);

struct output {
    FILE *file; /* to write to */
    const char *name;
    struct fs_new made; /* for a file; not for a pipe, a device or standard output */
};

/* output_open -- path  NULL or "-": standard output. Returns 0 or ERR_IO. */
int output_open(struct output *output, const char *path);

/*
 * output_close -- all is written, or went wrong.
 *   rc  what went wrong, or 0: then there is nothing under the name that was not there before
 * Returns rc, or ERR_IO when what was written did not arrive.
 */
int output_close(struct output *output, int rc);

#define STATUS_DONE 0
#define STATUS_FAILED 1
#define STATUS_USAGE 2
#define STATUS_DAMAGED 3
#define STATUS_BEYOND 4 /* beyond a limit of --fail-on, nothing else */

/*
 * status_of -- the exit status for what a command returned. A negative ERR_* is printed, as
 * `snag: <message>`; anything else is a status already.
 */
int status_of(int rc);

/*
 * status_at_end -- the exit status of a process that says nothing more on stdout: where any of
 * what it said could not be written, STATUS_DONE becomes STATUS_FAILED, and that is printed.
 */
int status_at_end(int status);

#endif
