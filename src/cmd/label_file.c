/* The first record names the columns; their order and their case do not matter. */
#include "cmd/label_file.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "view/csv.h"
#include "view/executions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_FIELDS 64

static int find_column(char *const *field, int n, const char *name)
{
    for (int i = 0; i < n && i < MAX_FIELDS; i++)
        if (strcasecmp(field[i], name) == 0)
            return i;
    return -1;
}

static int take_line(const char *id, const char *label, label_line_fn *fn, void *ctx)
{
    char foi[EXECUTION_ID_SIZE];
    struct label_line line = {.id = id, .foi = foi};
    int rc = label_parse(label, &line.label);

    if (rc == 0)
        rc = execution_parse(id, foi, sizeof foi, &line.rank, &line.thread, &line.index);
    return rc < 0 ? rc : fn(ctx, &line);
}

/* What went wrong, with where. */
static int at_line(int rc, const char *path, unsigned long number)
{
    char message[512];

    snprintf(message, sizeof message, "%s", err_message());
    return err_set(rc == ERR_USAGE ? ERR_FORMAT : rc, "%s, record %lu: %s", path, number,
                   message);
}

static int read_all(FILE *in, const char *path, label_line_fn *fn, void *ctx)
{
    char *buffer = NULL, *field[MAX_FIELDS];
    size_t size = 0;
    int n = csv_read(in, &buffer, &size, field, MAX_FIELDS), rc = 0;
    int id = find_column(field, n, "id"), label = find_column(field, n, "label");

    if (!ferror(in) && (n <= 0 || id < 0 || label < 0))
        rc = err_set(ERR_FORMAT,
                     "no labels in '%s': its first line must name the columns id and label",
                     path);
    for (unsigned long number = 2; rc == 0 && !ferror(in); number++) {
        n = csv_read(in, &buffer, &size, field, MAX_FIELDS);
        if (n == 0)
            break;
        rc = n < 0 ? err_set(ERR_FORMAT, "longer than %u bytes", CSV_MAX_BYTES)
             : n <= id || n <= label ? err_set(ERR_FORMAT, "too few columns")
                                     : take_line(field[id], field[label], fn, ctx);
        if (rc < 0)
            rc = at_line(rc, path, number);
    }
    if (rc == 0 && ferror(in))
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    free(buffer);
    return rc;
}

int label_file_read(const char *path, label_line_fn *fn, void *ctx)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    int rc;

    if (in == NULL)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    rc = read_all(in, is_stdin ? "standard input" : path, fn, ctx);
    if (!is_stdin)
        fclose(in);
    return rc;
}
