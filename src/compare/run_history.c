/* Questions are asked in SQLite's language, wherever a history is (history_kind.h). */
#include "compare/run_history.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/xxh.h"
#include "compare/history_kind.h"
#include "compare/summary_pack.h"
#include "postgres/pg_connection.h"
#include "trace/region_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEVEL 9 /* of zstd: kept for long, written once */
#define MAGIC "SQLite format 3"

static int failed(struct history *h)
{
    return database_error(h->database.sql, "cannot read", "the history");
}

static int prepare(struct history *h, const char *sql, sqlite3_stmt **out)
{
    *out = NULL;
    if (sqlite3_prepare_v2(h->database.sql, sql, -1, out, NULL) != SQLITE_OK)
        return failed(h);
    return 0;
}

/* --------------------------------------------------------------------------------- tags */

static size_t find_tag(const struct history_tags *tags, const char *key)
{
    size_t i = 0;

    while (i < tags->n && strcmp(tags->tag[i].key, key) < 0)
        i++;
    return i;
}

static bool is_tag(const struct history_tags *tags, size_t i, const char *key)
{
    return i < tags->n && strcmp(tags->tag[i].key, key) == 0;
}

static void take_tag_away(struct history_tags *tags, size_t i)
{
    free(tags->tag[i].key);
    free(tags->tag[i].value);
    tags->n--;
    memmove(&tags->tag[i], &tags->tag[i + 1], (tags->n - i) * sizeof *tags->tag);
}

void history_tags_set(struct history_tags *tags, const char *key, const char *value)
{
    size_t i = find_tag(tags, key);

    if (is_tag(tags, i, key))
        take_tag_away(tags, i);
    if (*value == '\0')
        return;
    mem_grow(&tags->tag, &tags->cap, tags->n + 1);
    memmove(&tags->tag[i + 1], &tags->tag[i], (tags->n - i) * sizeof *tags->tag);
    tags->tag[i] = (struct history_tag){mem_copy_string(key), mem_copy_string(value)};
    tags->n++;
}

const char *history_tags_get(const struct history_tags *tags, const char *key)
{
    size_t i = find_tag(tags, key);

    return is_tag(tags, i, key) ? tags->tag[i].value : NULL;
}

void history_tags_release(struct history_tags *tags)
{
    while (tags->n > 0)
        take_tag_away(tags, tags->n - 1);
    free(tags->tag);
    *tags = (struct history_tags){0};
}

/* ------------------------------------------------------------------------------- opening */

bool history_is(const char *path)
{
    return pg_url_is(path) || fs_begins_with(path, MAGIC, sizeof MAGIC);
}

int history_open(struct history *h, const char *path, enum database_access access)
{
    int rc;

    *h = (struct history){.database = {.dir = -1},
                          .kind = pg_url_is(path) ? &history_postgres : &history_sqlite};
    rc = h->kind->open(h, path, access);
    if (rc < 0)
        history_close(h);
    return rc;
}

void history_close(struct history *h)
{
    database_close(&h->database);
    if (h->kind && h->kind->close)
        h->kind->close(h);
}

/* ------------------------------------------------------------------------------ changing */

static int change(struct history *h, const char *sql, const struct history_value *value, int n,
                  int64_t *number)
{
    return h->kind->change(h, &(struct history_change){.sql = sql, .value = value, .n = n},
                           number);
}

/* ERR_EXISTS if a run has this very summary. */
static int check_unknown(struct history *h, const char *foi, int64_t hash)
{
    const struct history_value value[] = {{.number = hash}, {.text = foi}};
    int64_t run;
    int rc = change(h, "SELECT run FROM digest WHERE hash = $1 AND foi = $2", value, 2, &run);

    if (rc == 0)
        return err_set(ERR_EXISTS, "the run is there already, as number %lld", (long long)run);
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

static int add_part(struct history *h, int64_t run, const struct history_part *part)
{
    const struct summary *s = part->summary;
    struct pack plain = {0};
    size_t n_data;
    void *data;
    int64_t hash;
    int rc;

    summary_pack(&plain, s);
    hash = (int64_t)XXH3_64bits(plain.data, plain.n);
    rc = check_unknown(h, part->foi, hash);
    data = rc == 0 ? pack_compress(&plain, LEVEL, &n_data) : NULL;
    if (data) {
        const struct history_value value[HISTORY_VALUES] = {
            {.number = run},
            {.text = part->foi},
            {.number = s->n_ranks},
            {.number = s->n_executions},
            {.number = (int64_t)part->n_anomalies},
            {.number = (int64_t)s->time_ns},
            {.number = (int64_t)s->duration_ns[0]},
            {.number = (int64_t)s->duration_ns[SUMMARY_QUANTILES - 1]},
            {.number = hash},
            {.number = (int64_t)plain.n},
            {.bytes = data, .n_bytes = n_data}};

        rc = change(h,
                    "INSERT INTO digest (run, foi, ranks, executions, anomalies, time_ns, "
                    "median_ns, p99_ns, hash, bytes, data) "
                    "VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
                    value, HISTORY_VALUES, NULL);
    }
    free(data);
    pack_release(&plain);
    return rc;
}

static int add_tag(struct history *h, int64_t run, const struct history_tag *tag)
{
    const struct history_value value[] = {
        {.number = run}, {.text = tag->key}, {.text = tag->value}};

    return change(h, "INSERT INTO tag (run, key, value) VALUES ($1, $2, $3)", value, 3, NULL);
}

int history_add(struct history *h, const char *source, const struct history_tags *tags,
                const struct history_part *part, size_t n, int64_t *id)
{
    const struct history_value value[] = {{.number = time(NULL)}, {.text = source}};
    int rc = h->kind->begin(h);

    if (rc < 0)
        return rc;
    rc = change(h, "INSERT INTO run (added_s, source) VALUES ($1, $2) RETURNING id", value, 2,
                id);
    for (size_t i = 0; i < tags->n && rc == 0; i++)
        rc = add_tag(h, *id, &tags->tag[i]);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_part(h, *id, &part[i]);
    return h->kind->end(h, rc);
}

/*
 * Each statement with the same number.
 *   n_changed  out: rows of the last one
 */
static int change_all(struct history *h, const char *const *sql, size_t n, int64_t number,
                      int64_t *n_changed)
{
    const struct history_value value = {.number = number};
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = change(h, sql[i], &value, 1, n_changed);
    return rc;
}

int history_remove(struct history *h, int64_t run)
{
    static const char *const sql[] = {"DELETE FROM digest WHERE run = $1",
                                      "DELETE FROM tag WHERE run = $1",
                                      "DELETE FROM run WHERE id = $1"};
    int64_t n = 0;
    int rc = h->kind->begin(h);

    if (rc < 0)
        return rc;
    rc = change_all(h, sql, sizeof sql / sizeof *sql, run, &n);
    if (rc == 0 && n == 0)
        rc = err_set(ERR_NOT_FOUND, "the history has no run %lld", (long long)run);
    return h->kind->end(h, rc);
}

int history_keep(struct history *h, uint64_t n, uint64_t *n_removed)
{
#define NEWEST "(SELECT id FROM run ORDER BY id DESC LIMIT $1)"
    static const char *const sql[] = {"DELETE FROM digest WHERE run NOT IN " NEWEST,
                                      "DELETE FROM tag WHERE run NOT IN " NEWEST,
                                      "DELETE FROM run WHERE id NOT IN " NEWEST};
    int64_t removed = 0;
    int rc = h->kind->begin(h);

    *n_removed = 0;
    if (rc < 0)
        return rc;
    rc = h->kind->end(h, change_all(h, sql, sizeof sql / sizeof *sql,
                                    n > INT64_MAX ? INT64_MAX : (int64_t)n, &removed));
    if (rc == 0)
        *n_removed = (uint64_t)removed;
    return rc;
}

/* ------------------------------------------------------------------------------- reading */

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text ? text : "";
}

static uint64_t count_of(sqlite3_stmt *row, int column)
{
    int64_t n = sqlite3_column_int64(row, column);

    return n > 0 ? (uint64_t)n : 0;
}

int history_tags(struct history *h, int64_t run, struct history_tags *out)
{
    sqlite3_stmt *read;
    int rc = prepare(h, "SELECT key, value FROM tag WHERE run = ?", &read), step = SQLITE_DONE;

    *out = (struct history_tags){0};
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(read, 1, run);
    while (out->n < HISTORY_TAGS && (step = sqlite3_step(read)) == SQLITE_ROW)
        history_tags_set(out, text_of(read, 0), text_of(read, 1));
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        rc = failed(h);
    sqlite3_finalize(read);
    return rc;
}

/* Whether it has all the tags of the filter; negative ERR_*. */
static int has_tags(struct history *h, int64_t run, const struct history_tags *wanted)
{
    struct history_tags tags;
    int rc = history_tags(h, run, &tags), has = 1;

    for (size_t i = 0; i < wanted->n && rc == 0; i++) {
        const char *value = history_tags_get(&tags, wanted->tag[i].key);

        has &= value && strcmp(value, wanted->tag[i].value) == 0;
    }
    history_tags_release(&tags);
    return rc < 0 ? rc : has;
}

static bool is_named(const struct history_filter *filter, const char *foi)
{
    return filter->foi && strcmp(filter->foi, foi) == 0;
}

static bool is_meant(const struct history_filter *filter, const char *foi)
{
    const char *name = filter->identity ? filter->identity : filter->foi;

    return name == NULL || is_named(filter, foi) || region_name_is(foi, name);
}

/* Runs that pass, newest first, at most `last`. Free the array. */
static int chosen_runs(struct history *h, const struct history_filter *filter, int64_t **out,
                       size_t *n)
{
    sqlite3_stmt *read;
    size_t cap = 0;
    int64_t last = 0; /* that was looked at and has the function; they are numbered from 1 */
    int rc = prepare(h, "SELECT run, foi FROM digest ORDER BY run DESC", &read),
        step = SQLITE_DONE;

    *out = NULL;
    *n = 0;
    if (rc < 0)
        return rc;
    while ((filter->last == 0 || *n < filter->last) && rc == 0 &&
           (step = sqlite3_step(read)) == SQLITE_ROW) {
        int64_t run = sqlite3_column_int64(read, 0);
        int has;

        if (run == last || !is_meant(filter, text_of(read, 1)))
            continue;
        last = run;
        has = filter->tags ? has_tags(h, run, filter->tags) : 1;
        rc = has < 0 ? has : 0;
        if (has <= 0)
            continue;
        *mem_push(out, n, &cap) = run;
    }
    if (rc == 0 && step != SQLITE_DONE && step != SQLITE_ROW)
        rc = failed(h);
    sqlite3_finalize(read);
    return rc;
}

/* Of one history_each. */
struct history_walk {
    const struct history_filter *filter;
    int (*fn)(void *ctx, const struct history_run *run);
    void *ctx;
    char *foi;   /* of the first that passed; NULL: none did */
    int64_t run; /* of the last that passed */
};

/* One that passes. */
static int take_run(struct history_walk *w, const struct history_run *run)
{
    bool is_first = w->foi == NULL, is_other = !is_first && run->id == w->run;

    if (is_first)
        w->foi = mem_copy_string(run->foi);
    if (w->filter->foi == NULL && w->filter->identity == NULL)
        is_other |= !region_name_is_same(w->foi, run->foi);
    w->run = run->id;
    if (w->filter->is_one && is_other)
        return err_set(ERR_USAGE,
                       "the history has several functions of interest ('%s', '%s'): --foi says "
                       "which is meant",
                       w->foi, run->foi);
    return w->fn(w->ctx, run);
}

/* Where one has the very name that is asked for, it comes first, and the others are not meant.
 */
static int each_of_run(struct history *h, int64_t run, struct history_walk *w)
{
    sqlite3_stmt *read;
    bool has_named = false;
    int rc =
            prepare(h,
                    "SELECT r.added_s, r.source, d.foi, d.ranks, d.executions, d.anomalies, "
                    "d.time_ns, d.median_ns, d.p99_ns FROM digest d JOIN run r ON r.id = d.run "
                    "WHERE d.run = ?1 ORDER BY d.foi = ?2 DESC, d.rowid",
                    &read),
        step = SQLITE_DONE;

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(read, 1, run);
    sqlite3_bind_text(read, 2, w->filter->foi, -1, SQLITE_STATIC);
    while (rc == 0 && (step = sqlite3_step(read)) == SQLITE_ROW) {
        struct history_run row = {.id = run,
                                  .added_s = sqlite3_column_int64(read, 0),
                                  .source = text_of(read, 1),
                                  .foi = text_of(read, 2),
                                  .n_ranks = (uint32_t)count_of(read, 3),
                                  .n_executions = count_of(read, 4),
                                  .n_anomalies = count_of(read, 5),
                                  .time_ns = count_of(read, 6),
                                  .median_ns = count_of(read, 7),
                                  .p99_ns = count_of(read, 8)};

        has_named |= is_named(w->filter, row.foi);
        if (has_named ? is_named(w->filter, row.foi) : is_meant(w->filter, row.foi))
            rc = take_run(w, &row);
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = failed(h);
    sqlite3_finalize(read);
    return rc;
}

int history_each(struct history *h, const struct history_filter *filter,
                 int (*fn)(void *ctx, const struct history_run *run), void *ctx)
{
    struct history_walk w = {.filter = filter, .fn = fn, .ctx = ctx};
    int64_t *run;
    size_t n;
    int rc = chosen_runs(h, filter, &run, &n);

    while (rc == 0 && n > 0)
        rc = each_of_run(h, run[--n], &w);
    free(run);
    free(w.foi);
    return rc;
}

static int list_run(void *ctx, const struct history_run *run)
{
    struct history_list *list = ctx;

    *mem_push(&list->run, &list->n, &list->cap) =
        (struct listed_run){run->id, mem_copy_string(run->foi)};
    return 0;
}

int history_list_load(struct history *history, const struct history_filter *filter,
                      struct history_list *out)
{
    *out = (struct history_list){.n = 0};
    return history_each(history, filter, list_run, out);
}

void history_list_release(struct history_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->run[i].foi);
    free(list->run);
    *list = (struct history_list){.n = 0};
}

static int unpack_row(sqlite3_stmt *row, struct summary *out)
{
    struct pack pack = {0};
    int rc = pack_decompress(&pack, sqlite3_column_blob(row, 1),
                             (size_t)sqlite3_column_bytes(row, 1), count_of(row, 0));

    if (rc == 0)
        rc = summary_unpack(out, &pack);
    pack_release(&pack);
    return rc;
}

int history_load(struct history *h, int64_t run, const char *foi, struct summary *out)
{
    sqlite3_stmt *read;
    int rc = prepare(h, "SELECT bytes, data FROM digest WHERE run = ? AND foi = ?", &read),
        step;

    *out = (struct summary){0};
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(read, 1, run);
    sqlite3_bind_text(read, 2, foi, -1, SQLITE_STATIC);
    step = sqlite3_step(read);
    if (step == SQLITE_ROW)
        rc = unpack_row(read, out);
    else if (step == SQLITE_DONE)
        rc = err_set(ERR_NOT_FOUND, "the history has no run %lld with '%s'", (long long)run,
                     foi);
    else
        rc = failed(h);
    sqlite3_finalize(read);
    return rc;
}

/* ---------------------------------------------------------------------------- looking back */

static int keep_name(void *ctx, const struct history_run *run)
{
    *(char **)ctx = mem_copy_string(run->foi);
    return 0;
}

/* The summary of the run itself. */
static int load_own(struct history *h, const struct look_back *of, struct summary *out)
{
    const struct history_filter filter = {.foi = of->foi, .is_one = true};
    char *foi = NULL;
    struct history_walk w = {.filter = &filter, .fn = keep_name, .ctx = &foi};
    int rc = each_of_run(h, of->run, &w);

    if (rc == 0)
        rc = history_load(h, of->run, foi ? foi : of->foi, out);
    free(w.foi);
    free(foi);
    return rc;
}

/* The summaries of n runs. */
static int load(struct history *h, const struct listed_run *run, size_t n,
                struct summary *summary)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = history_load(h, run[i].id, run[i].foi, &summary[i]);
    return rc;
}

int look_back_compare(struct history *history, const struct look_back *of,
                      struct comparison *out)
{
    struct history_filter filter = {.foi = of->foi, .tags = of->tags, .is_one = true};
    const struct compare_opts opts = {.least = NAN};
    struct history_list list = {.n = 0};
    struct summary *summary = NULL, own = {0};
    size_t end = 0, n = 0; /* of those before it; the last of these */
    int rc = load_own(history, of, &own);

    *out = (struct comparison){0};
    if (rc == 0) {
        filter.identity = own.names.name[own.foi];
        rc = history_list_load(history, &filter, &list);
    }
    while (end < list.n && list.run[end].id < of->run)
        end++;
    if (rc == 0) {
        n = end < of->last ? end : of->last;
        summary = mem_alloc(n, sizeof *summary);
        rc = load(history, list.run + (end - n), n, summary);
    }
    if (rc == 0 && n == 0)
        rc = err_set(ERR_NOT_FOUND, "there is no run before number %lld to compare it with",
                     (long long)of->run);
    if (rc == 0)
        compare_runs(summary, (uint32_t)n, &own, 1, &opts, out);
    for (size_t i = 0; i < n; i++)
        summary_release(&summary[i]);
    summary_release(&own);
    free(summary);
    history_list_release(&list);
    return rc;
}
