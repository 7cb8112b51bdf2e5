/* snag provdb -- what Chimbuko's tools do with its provenance database: filter, top, compare;
 * and what keeps it from growing: backup, prune.
 */
#include "base/err.h"
#include "base/text.h"
#include "cmd/cmd_export.h"
#include "cmd/cmd_query.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "prov/prov_keep.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "prov/reduction.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPICAL_TOP 10

_Static_assert(PROV_ANY_RANK == NO_RANK, "--rank is handed on as it is");

/* For LIMIT: -1 is all. */
static long long limit_of(const struct settings *s, long long typical)
{
    return s->is_all ? -1 : s->top ? (long long)s->top : typical;
}

/* ---------------------------------------------------------------------------------- filter */

static int print_records(struct database *reader, const char *url, sqlite3_stmt *query,
                         uint64_t *n_damaged)
{
    int status;

    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        if (sqlite3_column_type(query, 0) == SQLITE_NULL)
            ++*n_damaged;
        else
            print("%s\n", rundb_text(query, 0));
    }
    return status == SQLITE_DONE ? 0 : prov_reader_error(reader, url);
}

/* Compiles one statement and nothing more. The text is freed. */
static int compile(sqlite3 *db, char *sql, const char *condition, sqlite3_stmt **query)
{
    const char *rest = "";
    int rc = 0;

    if (sqlite3_prepare_v2(db, sql, -1, query, &rest) != SQLITE_OK)
        rc = err_set(ERR_USAGE, "bad condition '%s': %s", condition, sqlite3_errmsg(db));
    else if (*rest != '\0')
        rc = err_set(ERR_USAGE, "one condition at a time, not '%s'", condition);
    sqlite3_free(sql);
    return rc;
}

static int filter(struct database *reader, const struct settings *s)
{
    const char *condition = s->args[2];
    sqlite3 *db = reader->sql;
    sqlite3_stmt *probe = NULL, *query = NULL;
    uint64_t n_damaged = 0;
    int rc = compile(db, prov_sql_probe(s->what, condition), condition, &probe);

    if (rc == 0)
        rc = compile(db, prov_sql_filter(s->what, s->rank, condition, limit_of(s, -1)),
                     condition, &query);
    database_unbound(reader); /* a condition may be worth it */
    if (rc == 0)
        rc = print_records(reader, s->args[1], query, &n_damaged);
    sqlite3_finalize(probe);
    sqlite3_finalize(query);
    return rc < 0 ? rc : store_status(n_damaged);
}

/* ------------------------------------------------------------------------------------- top */

static int top(struct database *reader, const struct settings *s)
{
    enum prov_order by = strcmp(s->by, "score") == 0  ? PROV_BY_SCORE
                         : strcmp(s->by, "cost") == 0 ? PROV_BY_COST
                                                      : PROV_BY_SEVERITY;
    char *sql = (s->is_incidents ? prov_sql_incidents : prov_sql_top)(s->what, s->rank, by,
                                                                      limit_of(s, TYPICAL_TOP));
    int rc = query_print(reader->sql, sql, s);

    sqlite3_free(sql);
    return rc;
}

/* --------------------------------------------------------------------------------- compare */

static int compare(struct database *one, const struct settings *s)
{
    struct database other, both = {0};
    char *sql = NULL;
    int rc = prov_reader_open(s->args[2], &other);

    if (rc == 0)
        rc = database_memory(&both, other.dir);
    if (rc == 0)
        rc = prov_sql_compare(one, &other, &both, s->what, s->rank, limit_of(s, TYPICAL_TOP),
                              &sql);
    if (rc == 0)
        rc = query_print(both.sql, sql, s);
    database_close(&other);
    database_close(&both);
    sqlite3_free(sql);
    return rc;
}

/* ------------------------------------------------------------------------------ reduction */

static int reduction(struct database *reader, const struct settings *s)
{
    struct reduction r;
    char text[REDUCTION_TEXT];
    int rc = reduction_read(reader, s->args[1], &r);

    if (rc < 0)
        return rc;
    if (s->is_json) {
        json_t *object = json_object();

        reduction_set(object, &r);
        print_json(object, false);
    } else {
        print("%s\n", reduction_text(&r, text));
    }
    return STATUS_DONE;
}

/* -------------------------------------------------------------------------------- keeping */

static int backup(const struct settings *s)
{
    struct prov_backed_up n;
    char bytes[TEXT_SIZE];
    int rc = prov_backup(s->args[1], s->args[2], &n);

    if (rc < 0)
        return rc;
    if (s->is_json)
        print_json(json_pack("{s:o, s:o, s:o, s:o}", "backup", json_text(s->args[2]), "runs",
                             json_count(n.n_runs), "open_runs", json_count(n.n_open), "bytes",
                             json_count(n.bytes)),
                   false);
    else
        print("backed up %s to '%s'; %llu more run%s can now be removed by 'snag provdb "
              "prune'; %llu run%s still being written\n",
              text_bytes((double)n.bytes, bytes), s->args[2], (unsigned long long)n.n_runs,
              text_plural(n.n_runs), (unsigned long long)n.n_open,
              n.n_open == 1 ? " is" : "s are");
    return STATUS_DONE;
}

static void print_pruned(const struct prov_pruned *n, bool is_json)
{
    char before[TEXT_SIZE], after[TEXT_SIZE];

    if (is_json)
        print_json(json_pack("{s:o, s:o, s:o, s:o, s:b}", "dropped_runs",
                             json_count(n->n_dropped), "kept_runs", json_count(n->n_kept),
                             "bytes_before", json_count(n->bytes_before), "bytes",
                             json_count(n->bytes), "is_given_back", (int)n->is_given_back),
                   false);
    else
        print("removed %llu run%s; the store has %s now, %s before\n",
              (unsigned long long)n->n_dropped, text_plural(n->n_dropped),
              text_bytes((double)n->bytes, after), text_bytes((double)n->bytes_before, before));
}

/* Who asks for a limit is told when it does not hold. */
static int prune(const struct settings *s)
{
    struct prov_prune_opts opts = {.most_days = isnan(s->keep_days) ? -1 : s->keep_days,
                                   .most_bytes =
                                       s->keep_mib ? (uint64_t)s->keep_mib << 20 : UINT64_MAX,
                                   .now_ns = text_now_ns()};
    struct prov_pruned n;
    int rc;

    if (opts.most_days < 0 && opts.most_bytes == UINT64_MAX)
        return err_set(ERR_USAGE, "prune needs --keep-days DAYS or --keep-mib N: what to keep");
    rc = prov_prune(s->args[1], &opts, &n);
    if (rc < 0)
        return rc;
    print_pruned(&n, s->is_json);
    return n.n_kept == 0 ? STATUS_DONE
                         : err_set(ERR_EXISTS,
                                   "%llu more run%s would have to be removed, but no backup "
                                   "holds all of %s: make one with 'snag provdb backup'",
                                   (unsigned long long)n.n_kept, text_plural(n.n_kept),
                                   n.n_kept == 1 ? "it" : "them");
}

/* ---------------------------------------------------------------------------------------- */

/* With the store open. */
static int run_reader(const struct settings *settings,
                      int (*run)(struct database *reader, const struct settings *settings))
{
    struct database reader;
    int rc = prov_reader_open(settings->args[1], &reader);

    if (rc == 0)
        rc = run(&reader, settings);
    database_close(&reader);
    return rc;
}

int cmd_provdb(const struct settings *settings)
{
    static const struct {
        const char *verb;
        int n_args;
        int (*look)(struct database *reader, const struct settings *settings);
        int (*keep)(const struct settings *settings);
    } verbs[] = {{"filter", 3, filter, NULL},   {"top", 2, top, NULL},
                 {"compare", 3, compare, NULL}, {"reduction", 2, reduction, NULL},
                 {"backup", 3, NULL, backup},   {"prune", 2, NULL, prune}};

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(settings->args[0], verbs[i].verb) == 0 &&
            settings->n_args == verbs[i].n_args)
            return verbs[i].look ? run_reader(settings, verbs[i].look)
                                 : verbs[i].keep(settings);
    return err_set(ERR_USAGE, "expected: snag provdb filter STORE CONDITION, top STORE, "
                              "compare STORE STORE, reduction STORE, backup STORE DIR, or "
                              "prune STORE");
}
