/* Each change is one transaction: who is killed in it has changed nothing. */
#include "history/run_history.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/xxh.h"
#include "history/digest_pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEVEL 9 /* of zstd: kept for long, written once */
#define MAGIC "SQLite format 3"

static const char schema[] =
#include "history/history.inc"
    ;

static int failed(struct history *h, const char *what)
{
    return database_error(h->database.sql, what, "the history");
}

static int exec(struct history *h, const char *sql)
{
    if (sqlite3_exec(h->database.sql, sql, NULL, NULL, NULL) != SQLITE_OK)
        return failed(h, "cannot write");
    return 0;
}

static int prepare(struct history *h, const char *sql, sqlite3_stmt **out)
{
    *out = NULL;
    if (sqlite3_prepare_v2(h->database.sql, sql, -1, out, NULL) != SQLITE_OK)
        return failed(h, "cannot read");
    return 0;
}

/* Runs a statement that gives no rows, and ends it. */
static int run_once(struct history *h, sqlite3_stmt *statement)
{
    bool is_good = sqlite3_step(statement) == SQLITE_DONE;
    int rc = is_good ? 0 : failed(h, "cannot write");

    sqlite3_finalize(statement);
    return rc;
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
    mem_grow(&tags->tag, &tags->cap, tags->n + 1, sizeof *tags->tag);
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

static bool is_of_type(const char *path, mode_t type)
{
    struct stat about;

    return stat(path, &about) == 0 && (about.st_mode & S_IFMT) == type;
}

bool history_is(const char *path)
{
    char begin[sizeof MAGIC] = "";
    FILE *file = is_of_type(path, S_IFREG) ? fopen(path, "rbe") : NULL;
    bool is_one = file && fread(begin, 1, sizeof begin, file) == sizeof begin &&
                  memcmp(begin, MAGIC, sizeof begin) == 0;

    if (file)
        fclose(file);
    return is_one;
}

static long long format_of(struct history *h)
{
    sqlite3_stmt *statement = NULL;
    long long format = 0;

    if (sqlite3_prepare_v2(h->database.sql, "SELECT value FROM meta WHERE key = 'format'", -1,
                           &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        format = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return format;
}

static bool is_empty(struct history *h)
{
    sqlite3_stmt *statement = NULL;
    bool is_one = sqlite3_prepare_v2(h->database.sql, "SELECT 1 FROM sqlite_schema LIMIT 1", -1,
                                     &statement, NULL) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_DONE;

    sqlite3_finalize(statement);
    return is_one;
}

static int make_tables(struct history *h)
{
    char sql[100];
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc == 0 && is_empty(h)) {
        snprintf(sql, sizeof sql, "INSERT INTO meta VALUES ('format', %d)", HISTORY_FORMAT);
        rc = exec(h, schema);
        if (rc == 0)
            rc = exec(h, sql);
    }
    if (rc == 0)
        rc = exec(h, "COMMIT");
    return rc;
}

static int check(struct history *h, const char *path)
{
    long long format = format_of(h);

    if (format == 0)
        return err_set(ERR_FORMAT, "'%s' is no history", path);
    if (format != HISTORY_FORMAT)
        return err_set(ERR_FORMAT,
                       "'%s' was written by another version (format %lld, this one reads %d)",
                       path, format, HISTORY_FORMAT);
    return database_check(&h->database, "main", schema, path);
}

int history_open(struct history *h, const char *path, enum database_access access)
{
    struct database_file file = {.path = path};
    int rc = fs_open_parent(path, &file.dir, &file.name);

    *h = (struct history){.database = {.dir = -1}};
    if (rc < 0)
        return rc;
    if (is_of_type(path, S_IFDIR))
        rc = err_set(ERR_FORMAT, "'%s' is a directory, and no history", path);
    if (rc == 0)
        rc = database_open(&h->database, &file, access);
    close(file.dir);
    if (rc == 0 && access == DATABASE_MAKE && is_empty(h))
        rc = make_tables(h);
    if (rc == 0)
        rc = check(h, path);
    if (rc < 0)
        history_close(h);
    return rc;
}

void history_close(struct history *h)
{
    database_close(&h->database);
}

/* -------------------------------------------------------------------------------- adding */

static int add_tags(struct history *h, int64_t run, const struct history_tags *tags)
{
    int rc = 0;

    for (size_t i = 0; i < tags->n && rc == 0; i++) {
        sqlite3_stmt *insert;

        rc = prepare(h, "INSERT INTO tag (run, key, value) VALUES (?, ?, ?)", &insert);
        if (rc < 0)
            return rc;
        sqlite3_bind_int64(insert, 1, run);
        sqlite3_bind_text(insert, 2, tags->tag[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, tags->tag[i].value, -1, SQLITE_STATIC);
        rc = run_once(h, insert);
    }
    return rc;
}

/* ERR_EXISTS if a run has this very digest. */
static int check_unknown(struct history *h, const char *foi, int64_t hash)
{
    sqlite3_stmt *find;
    int rc = prepare(h, "SELECT run FROM digest WHERE hash = ? AND foi = ?", &find);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(find, 1, hash);
    sqlite3_bind_text(find, 2, foi, -1, SQLITE_STATIC);
    if (sqlite3_step(find) == SQLITE_ROW)
        rc = err_set(ERR_EXISTS, "the run is there already, as number %lld",
                     (long long)sqlite3_column_int64(find, 0));
    sqlite3_finalize(find);
    return rc;
}

static int insert_part(struct history *h, int64_t run, const struct history_part *part,
                       const struct pack *plain, int64_t hash)
{
    const struct digest *d = part->digest;
    sqlite3_stmt *insert;
    size_t n_packed;
    void *packed;
    int rc = prepare(h,
                     "INSERT INTO digest (run, foi, ranks, executions, anomalies, time_ns, "
                     "median_ns, p99_ns, hash, bytes, data) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                     &insert);

    if (rc < 0)
        return rc;
    packed = pack_compress(plain, LEVEL, &n_packed);
    sqlite3_bind_int64(insert, 1, run);
    sqlite3_bind_text(insert, 2, part->foi, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, d->n_ranks);
    sqlite3_bind_int64(insert, 4, d->n_executions);
    sqlite3_bind_int64(insert, 5, (int64_t)part->n_anomalies);
    sqlite3_bind_int64(insert, 6, (int64_t)d->time_ns);
    sqlite3_bind_int64(insert, 7, (int64_t)d->duration_ns[0]);
    sqlite3_bind_int64(insert, 8, (int64_t)d->duration_ns[DIGEST_QUANTILES - 1]);
    sqlite3_bind_int64(insert, 9, hash);
    sqlite3_bind_int64(insert, 10, (int64_t)plain->n);
    sqlite3_bind_blob64(insert, 11, packed, n_packed, SQLITE_STATIC);
    rc = run_once(h, insert);
    free(packed);
    return rc;
}

static int add_part(struct history *h, int64_t run, const struct history_part *part)
{
    struct pack plain = {0};
    int64_t hash;
    int rc;

    digest_pack(&plain, part->digest);
    hash = (int64_t)XXH3_64bits(plain.data, plain.n);
    rc = check_unknown(h, part->foi, hash);
    if (rc == 0)
        rc = insert_part(h, run, part, &plain, hash);
    pack_release(&plain);
    return rc;
}

static int add_run(struct history *h, const char *source, int64_t *id)
{
    sqlite3_stmt *insert;
    int rc = prepare(h, "INSERT INTO run (added_s, source) VALUES (?, ?)", &insert);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(insert, 1, (int64_t)time(NULL));
    sqlite3_bind_text(insert, 2, source, -1, SQLITE_STATIC);
    rc = run_once(h, insert);
    *id = sqlite3_last_insert_rowid(h->database.sql);
    return rc;
}

/* All that was done since BEGIN, or nothing of it. */
static int end(struct history *h, int rc)
{
    if (rc == 0)
        rc = exec(h, "COMMIT");
    if (rc < 0)
        sqlite3_exec(h->database.sql, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int history_add(struct history *h, const char *source, const struct history_tags *tags,
                const struct history_part *part, size_t n, int64_t *id)
{
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = add_run(h, source, id);
    if (rc == 0)
        rc = add_tags(h, *id, tags);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_part(h, *id, &part[i]);
    return end(h, rc);
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
        rc = failed(h, "cannot read");
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

/* Runs that pass, newest first, at most `last`. Free the array. */
static int chosen_runs(struct history *h, const struct history_filter *filter, int64_t **out,
                       size_t *n)
{
    sqlite3_stmt *read;
    size_t cap = 0;
    int rc = prepare(h,
                     "SELECT DISTINCT run FROM digest WHERE ?1 IS NULL OR foi = ?1 "
                     "ORDER BY run DESC",
                     &read),
        step = SQLITE_DONE;

    *out = NULL;
    *n = 0;
    if (rc < 0)
        return rc;
    sqlite3_bind_text(read, 1, filter->foi, -1, SQLITE_STATIC);
    while ((filter->last == 0 || *n < filter->last) && rc == 0 &&
           (step = sqlite3_step(read)) == SQLITE_ROW) {
        int64_t run = sqlite3_column_int64(read, 0);
        int has = filter->tags ? has_tags(h, run, filter->tags) : 1;

        rc = has < 0 ? has : 0;
        if (has <= 0)
            continue;
        mem_grow(out, &cap, *n + 1, sizeof **out);
        (*out)[(*n)++] = run;
    }
    if (rc == 0 && step != SQLITE_DONE && step != SQLITE_ROW)
        rc = failed(h, "cannot read");
    sqlite3_finalize(read);
    return rc;
}

static int each_of_run(struct history *h, int64_t run, const char *foi,
                       int (*fn)(void *ctx, const struct history_run *run), void *ctx)
{
    sqlite3_stmt *read;
    int rc =
            prepare(h,
                    "SELECT r.added_s, r.source, d.foi, d.ranks, d.executions, d.anomalies, "
                    "d.time_ns, d.median_ns, d.p99_ns FROM digest d JOIN run r ON r.id = d.run "
                    "WHERE d.run = ?1 AND (?2 IS NULL OR d.foi = ?2) ORDER BY d.rowid",
                    &read),
        step = SQLITE_DONE;

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(read, 1, run);
    sqlite3_bind_text(read, 2, foi, -1, SQLITE_STATIC);
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

        rc = fn(ctx, &row);
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = failed(h, "cannot read");
    sqlite3_finalize(read);
    return rc;
}

int history_each(struct history *h, const struct history_filter *filter,
                 int (*fn)(void *ctx, const struct history_run *run), void *ctx)
{
    int64_t *run;
    size_t n;
    int rc = chosen_runs(h, filter, &run, &n);

    while (rc == 0 && n > 0)
        rc = each_of_run(h, run[--n], filter->foi, fn, ctx);
    free(run);
    return rc;
}

static int unpack_row(sqlite3_stmt *row, struct digest *out)
{
    struct pack pack = {0};
    int rc = pack_decompress(&pack, sqlite3_column_blob(row, 1),
                             (size_t)sqlite3_column_bytes(row, 1), count_of(row, 0));

    if (rc == 0)
        rc = digest_unpack(out, &pack);
    pack_release(&pack);
    return rc;
}

int history_load(struct history *h, int64_t run, const char *foi, struct digest *out)
{
    sqlite3_stmt *read;
    int rc = prepare(h, "SELECT bytes, data FROM digest WHERE run = ? AND foi = ?", &read),
        step;

    *out = (struct digest){0};
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
        rc = failed(h, "cannot read");
    sqlite3_finalize(read);
    return rc;
}

/* ------------------------------------------------------------------------------ removing */

static int remove_from(struct history *h, const char *sql, int64_t number)
{
    sqlite3_stmt *statement;
    int rc = prepare(h, sql, &statement);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(statement, 1, number);
    return run_once(h, statement);
}

int history_remove(struct history *h, int64_t run)
{
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = remove_from(h, "DELETE FROM digest WHERE run = ?", run);
    if (rc == 0)
        rc = remove_from(h, "DELETE FROM tag WHERE run = ?", run);
    if (rc == 0)
        rc = remove_from(h, "DELETE FROM run WHERE id = ?", run);
    if (rc == 0 && sqlite3_changes(h->database.sql) == 0)
        rc = err_set(ERR_NOT_FOUND, "the history has no run %lld", (long long)run);
    return end(h, rc);
}

int history_keep(struct history *h, uint64_t n, uint64_t *n_removed)
{
    int64_t most = n > INT64_MAX ? INT64_MAX : (int64_t)n;
    int rc = exec(h, "BEGIN IMMEDIATE");

    *n_removed = 0;
    if (rc < 0)
        return rc;
    rc = remove_from(h,
                     "DELETE FROM run WHERE id NOT IN (SELECT id FROM run ORDER BY id DESC "
                     "LIMIT ?)",
                     most);
    *n_removed = rc == 0 ? (uint64_t)sqlite3_changes(h->database.sql) : 0;
    if (rc == 0)
        rc = exec(h, "DELETE FROM digest WHERE run NOT IN (SELECT id FROM run)");
    if (rc == 0)
        rc = exec(h, "DELETE FROM tag WHERE run NOT IN (SELECT id FROM run)");
    return end(h, rc);
}
