/*
 * Processes that write together have locations that follow each other, about as many rows each:
 * their files, in the order of names, are the table that one process writes. None of them is
 * there under its name before all are written.
 */
#include "cmd/export_parquet.h"

#include "base/crew.h"
#include "base/err.h"
#include "cmd/launched.h"
#include "cmd/output.h"
#include "cmd/selection.h"
#include "cmd/status.h"
#include "run/rundir.h"
#include "trace/event.h"
#include "view/run_parquet.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TABLES 3

struct parquet_export {
    const struct settings *settings;
    struct run run;
    struct crew *crew; /* NULL: this process is alone */
    struct pool *pool;
    struct run_parquet_part part;
    const char *table[MAX_TABLES];
    unsigned n_tables;
    char path[MAX_TABLES][FS_PATH_SIZE];
    struct output output[MAX_TABLES];
    unsigned n_opened;
};

/* --------------------------------------------------------------------------- what is whose */

/* The first location of a process: rows are shared out as evenly as whole locations can be. */
static uint32_t first_location(const struct columns *columns, unsigned process, unsigned size)
{
    uint64_t n_rows = columns->n_calls + columns->n_messages, before = 0;
    uint32_t l = 0;

    for (; l < columns->n_locations && process < size; l++) {
        uint64_t n = columns->range[l].n_calls + columns->range[l].n_messages;

        if ((before + n / 2) * size >= n_rows * process)
            break;
        before += n;
    }
    return process < size ? l : columns->n_locations;
}

static struct run_parquet_part part_of(const struct parquet_export *e)
{
    unsigned me = crew_me(e->crew), size = crew_size(e->crew);
    const struct columns *columns = &e->run.columns;

    return (struct run_parquet_part){me == 0 ? 0 : first_location(columns, me, size),
                                     first_location(columns, me + 1, size), e->settings->rank};
}

/* All of it is read anyway, so nothing damaged goes out. */
static int check_part(const struct parquet_export *e)
{
    const struct columns *columns = &e->run.columns;
    int rc = crew_me(e->crew) == 0 ? columns_verify_others(columns) : 0;

    for (uint32_t l = e->part.begin; rc == 0 && l < e->part.end; l++) {
        rc = columns_verify_location(columns, l);
        if (rc == 0)
            rc = columns_check(columns, l, &e->run.defs);
    }
    return rc;
}

/* ----------------------------------------------------------------------------------- files */

/* A directory that is there, or is said to be one: there is a file in it for each table. */
static bool is_directory(const char *path)
{
    struct stat info;

    return path && ((stat(path, &info) == 0 && S_ISDIR(info.st_mode)) ||
                    (*path && path[strlen(path) - 1] == '/'));
}

static bool is_shared_out(const char *table)
{
    return strcmp(table, "calls") == 0 || strcmp(table, "messages") == 0;
}

/* Files of a table: calls.parquet, or calls-0.parquet to calls-7.parquet. */
static void name_of(const struct parquet_export *e, const char *table, char out[64])
{
    unsigned size = crew_size(e->crew);
    int digits = snprintf(NULL, 0, "%u", size - 1);

    if (size > 1 && is_shared_out(table))
        snprintf(out, 64, "%s-%0*u.parquet", table, digits, crew_me(e->crew));
    else
        snprintf(out, 64, "%s.parquet", table);
}

/* Whether a file would be taken for a part of a table that is written by `size` processes. */
static bool is_strange_part(const char *file, const char *table, unsigned size)
{
    size_t n = strlen(table), digits = (size_t)snprintf(NULL, 0, "%u", size - 1);
    const char *rest = file + n, *end;
    unsigned long number;

    if (strncmp(file, table, n) != 0)
        return false;
    if (strcmp(rest, ".parquet") == 0)
        return size > 1;
    if (*rest++ != '-')
        return false;
    number = strtoul(rest, (char **)&end, 10);
    if (end == rest || strcmp(end, ".parquet") != 0)
        return false;
    return size <= 1 || number >= size || (size_t)(end - rest) != digits;
}

/* Who reads calls*.parquet must not read what another number of processes has left. */
static int refuse_strange_parts(const struct parquet_export *e)
{
    DIR *dir = opendir(e->settings->output);
    struct dirent *entry;
    int rc = 0;

    while (dir && rc == 0 && (entry = readdir(dir)) != NULL)
        for (unsigned i = 0; rc == 0 && i < e->n_tables; i++)
            if (is_shared_out(e->table[i]) &&
                is_strange_part(entry->d_name, e->table[i], crew_size(e->crew)))
                rc = err_set(ERR_USAGE,
                             "'%s' has '%s', which would be read with what is written now: "
                             "remove it, or choose another directory",
                             e->settings->output, entry->d_name);
    if (dir)
        closedir(dir);
    return rc;
}

static int make_directory(const struct parquet_export *e)
{
    const char *path = e->settings->output;

    if (crew_me(e->crew) > 0)
        return 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return err_set(ERR_IO, "cannot make '%s': %s", path, strerror(errno));
    return refuse_strange_parts(e);
}

/* ----------------------------------------------------------------------------------- tables */

static int put_table(const struct parquet_export *e, const char *table, FILE *file)
{
    struct execution_filter filter = selection_filter(e->settings);

    if (strcmp(table, "calls") == 0)
        return run_parquet_calls(&e->run, &e->part, file, e->pool);
    if (strcmp(table, "messages") == 0)
        return run_parquet_messages(&e->run, &e->part, file, e->pool);
    filter.most = 0;
    filter.is_in_order = true;
    if (strcmp(table, "anomalies") == 0)
        filter.verdict = "anomaly";
    return run_parquet_executions(&e->run, &filter, file, e->pool);
}

/* The file is open until all processes have written theirs. */
static int write_table(struct parquet_export *e, const char *table, const char *path)
{
    struct output *output = &e->output[e->n_opened];
    int rc = output_open(output, path);

    if (rc < 0)
        return rc;
    e->n_opened++;
    return put_table(e, table, output->file);
}

/* What one process alone can write is written by number 0. */
static int write_tables(struct parquet_export *e)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < e->n_tables; i++) {
        char name[64];

        if (crew_me(e->crew) > 0 && !is_shared_out(e->table[i]))
            continue;
        name_of(e, e->table[i], name);
        rc = fs_join(e->path[i], e->settings->output, name);
        if (rc == 0)
            rc = write_table(e, e->table[i], e->path[i]);
    }
    return rc;
}

static int close_all(struct parquet_export *e, int rc)
{
    for (unsigned i = 0; i < e->n_opened; i++)
        rc = output_close(&e->output[i], rc);
    return rc;
}

static void choose_tables(struct parquet_export *e, bool is_several)
{
    static const char *const all[MAX_TABLES] = {"executions", "calls", "messages"};

    if (e->settings->what || !is_several) {
        e->table[e->n_tables++] = e->settings->what ? e->settings->what : all[0];
        return;
    }
    for (unsigned i = 0; i < MAX_TABLES; i++)
        e->table[e->n_tables++] = all[i];
}

/* Every step is done by all processes before any of them goes on to the next. */
static int write_all(struct parquet_export *e)
{
    bool is_several = is_directory(e->settings->output);
    int rc = selection_open(&e->run, e->settings);

    if (rc == 0 && crew_size(e->crew) > 1 && !is_several)
        rc = err_set(ERR_USAGE, "several processes write several files: -o DIR/");
    choose_tables(e, is_several);
    if (rc == 0 && is_several)
        rc = make_directory(e);
    rc = crew_agree(e->crew, rc);
    if (rc == 0) {
        e->part = part_of(e);
        rc = crew_agree(e->crew, check_part(e));
    }
    if (rc == 0) {
        rc = is_several ? write_tables(e) : write_table(e, e->table[0], e->settings->output);
        rc = crew_agree(e->crew, rc);
    }
    if (rc == 0)
        rc = crew_agree(e->crew, close_all(e, 0));
    else
        close_all(e, rc);
    run_close(&e->run);
    return rc;
}

static int export_together(struct parquet_export *e, const struct launched *launched)
{
    int rc = crew_join(&e->crew, launched->library, launched_task(e->settings));

    if (rc == 0) {
        e->pool = pool_new(launched_threads(e->settings, e->crew));
        rc = write_all(e);
        pool_free(e->pool);
    }
    if (crew_me(e->crew) > 0) /* number 0 says what went wrong */
        rc = 0;
    crew_leave(e->crew);
    return rc;
}

int export_parquet(const struct settings *settings)
{
    struct parquet_export e = {.settings = settings};
    struct launched launched;
    int rc = launched_look(settings, &launched);

    if (rc < 0)
        launched_break_off(&launched, rc);
    if (launched.size > 1) {
        rc = export_together(&e, &launched);
    } else {
        e.pool = pool_new(settings->threads);
        rc = write_all(&e);
        pool_free(e.pool);
    }
    return rc < 0 ? rc : STATUS_DONE;
}
