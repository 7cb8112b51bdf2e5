#include "prov/prov_pg_rows.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "prov/prov_record.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char version_1[] =
#include "prov/postgres_1.inc"
    ;
static const char version_2[] =
#include "prov/postgres_2.inc"
    ;
static const char version_3[] =
#include "prov/postgres_3.inc"
    ;
static const char *const versions[] = {version_1, version_2, version_3};

const struct pg_schema prov_pg_schema = {.name = "snag",
                                         .migration = versions,
                                         .n_versions = sizeof versions / sizeof *versions,
                                         .made_by = "a run with `--store URL`"};

/* -------------------------------------------------------------------------------- packing */

static void pack_be(struct pack *out, uint64_t value, int bytes)
{
    uint64_t big = htobe64(value << (64 - 8 * bytes));

    pack_bytes(out, &big, (size_t)bytes);
}

/* A whole number in eight bytes, as a column of a tuple. */
static void pack_whole(struct pack *out, uint64_t value)
{
    pack_be(out, 8, 4);
    pack_be(out, value, 8);
}

static void pack_real(struct pack *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (isfinite(value))
        pack_whole(out, bits);
    else
        pack_be(out, UINT32_MAX, 4); /* NULL */
}

/* Writes the length of what was appended since `at` into the four bytes before. */
static void set_length(struct pack *out, size_t at)
{
    uint32_t length = htobe32((uint32_t)(out->n - at));

    memcpy(out->data + at - 4, &length, sizeof length);
}

/* Of a text that ends with a zero. */
static void pack_utf8(struct pack *out, const char *text)
{
    size_t at;

    pack_be(out, 0, 4);
    at = out->n;
    while (*text) {
        uint32_t code;
        size_t n = text_decode(text, &code);

        if (code == TEXT_NO_CODE)
            pack_bytes(out, "\xef\xbf\xbd", 3);
        else
            pack_bytes(out, text, n);
        text += n;
    }
    set_length(out, at);
}

static void pack_value(const struct prov_job *job, const struct prov_value *v,
                       ZSTD_CCtx *context, struct pack *scratch, struct pack *out)
{
    const char *at = v->bytes || v->type == 't' ? (const char *)job->data.data + v->at : "";

    switch (v->type) {
    case 'i':
        pack_whole(out, (uint64_t)v->whole);
        return;
    case 'r':
        pack_real(out, v->real);
        return;
    case 't':
        pack_utf8(out, at);
        return;
    default:
        scratch->n = 0;
        prov_compress(context, at, v->bytes, scratch);
        pack_be(out, scratch->n, 4);
        pack_bytes(out, scratch->data, scratch->n);
    }
}

static uint64_t hash_of(const char *name, size_t bytes)
{
    return checksum_of(name, bytes);
}

void prov_pg_pack(const struct prov_job *job, uint64_t id, ZSTD_CCtx *context,
                  struct pack *scratch, struct pack *out)
{
    bool is_record = job->table == PROV_TABLE_RECORD;
    const char *name = is_record ? (const char *)job->data.data + job->value[0].at : "";
    unsigned char head[2] = {(unsigned char)job->table, (unsigned char)job->tag};
    size_t at;

    pack_bytes(out, head, sizeof head);
    pack_varint(out, strlen(name));
    pack_bytes(out, name, strlen(name));
    pack_be(out, 0, 4);
    at = out->n;
    pack_be(out, job->n + 1, 2);
    for (unsigned i = 0; i < job->n; i++)
        if (is_record && i == 0)
            pack_whole(out, hash_of(name, strlen(name)));
        else
            pack_value(job, &job->value[i], context, scratch, out);
    pack_whole(out, id);
    set_length(out, at);
}

bool prov_pg_unpack(struct pack *pack, struct prov_pg_row *row)
{
    const unsigned char *head = unpack_bytes(pack, 2), *length;

    if (head == NULL)
        return false;
    row->table = head[0];
    row->tag = head[1];
    row->name_bytes = unpack_varint(pack);
    row->name = unpack_bytes(pack, row->name_bytes);
    length = unpack_bytes(pack, 4);
    row->tuple_bytes = length ? (size_t)length[0] << 24 | (size_t)length[1] << 16 |
                                    (size_t)length[2] << 8 | length[3]
                              : 0;
    row->tuple = unpack_bytes(pack, row->tuple_bytes);
    return !pack->is_bad && row->table < N_PROV_TABLES;
}

/* ---------------------------------------------------------------------------------- batch */

static void add_function(struct prov_pg_batch *batch, const struct prov_pg_row *row,
                         const struct idmap *known)
{
    uint64_t hash = hash_of(row->name, row->name_bytes);
    char *name;

    if (idmap_find(known, key_pair(0, hash)) != IDMAP_NONE)
        return;
    name = mem_alloc(row->name_bytes + 1, 1);
    memcpy(name, row->name, row->name_bytes);
    pack_be(&batch->functions, 2, 2);
    pack_whole(&batch->functions, hash);
    pack_utf8(&batch->functions, name);
    free(name);
    *mem_push(&batch->added, &batch->n_added, &batch->cap) = hash;
}

void prov_pg_batch_add(struct prov_pg_batch *batch, const struct prov_pg_row *row,
                       const struct idmap *known)
{
    pack_bytes(&batch->tuples[row->table], row->tuple, row->tuple_bytes);
    if (row->table == PROV_TABLE_RECORD)
        add_function(batch, row, known);
}

void prov_pg_batch_clear(struct prov_pg_batch *batch)
{
    for (int t = 0; t < N_PROV_TABLES; t++)
        batch->tuples[t].n = 0;
    batch->functions.n = 0;
    batch->n_added = 0;
}

void prov_pg_batch_release(struct prov_pg_batch *batch)
{
    for (int t = 0; t < N_PROV_TABLES; t++)
        pack_release(&batch->tuples[t]);
    pack_release(&batch->functions);
    free(batch->added);
    *batch = (struct prov_pg_batch){.n_added = 0};
}

/* -------------------------------------------------------------------------------- storing */

static int failed(PGconn *connection, PGresult *result, enum pg_trouble *why)
{
    int rc = pg_error(connection, result, "write to");

    *why = pg_trouble_of(connection, result);
    PQclear(result);
    return rc;
}

/* Statements; n: out, rows of the last one. NULL: whatever. */
static int run(PGconn *connection, const char *sql, long *n, enum pg_trouble *why)
{
    PGresult *result = PQexec(connection, sql);
    unsigned status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return failed(connection, result, why);
    if (n)
        *n = atol(PQcmdTuples(result));
    PQclear(result);
    return 0;
}

static bool put_copy(PGconn *connection, const struct pack *tuples)
{
    static const char begin[19] = "PGCOPY\n\377\r\n"; /* and zeros: its end, flags, no more */
    const char *data = (const char *)tuples->data;

    if (PQputCopyData(connection, begin, sizeof begin) != 1)
        return false;
    for (size_t at = 0, n; at < tuples->n; at += n) {
        n = tuples->n - at < 1 << 20 ? tuples->n - at : 1 << 20;
        if (PQputCopyData(connection, data + at, (int)n) != 1)
            return false;
    }
    return PQputCopyData(connection, "\377\377", 2) == 1 && PQputCopyEnd(connection, NULL) == 1;
}

static int copy(PGconn *connection, const char *sql, const struct pack *tuples,
                enum pg_trouble *why)
{
    PGresult *result = PQexec(connection, sql);

    if (PQresultStatus(result) != PGRES_COPY_IN)
        return failed(connection, result, why);
    PQclear(result);
    if (!put_copy(connection, tuples))
        return failed(connection, NULL, why);
    result = PQgetResult(connection);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return failed(connection, result, why);
    PQclear(result);
    while ((result = PQgetResult(connection)))
        PQclear(result);
    return 0;
}

/* By way of a table of ours, in which rows of the same key may be. */
static int replace(PGconn *connection, const struct prov_table_rows *to,
                   const struct pack *tuples, enum pg_trouble *why)
{
    char sql[2048], set[1024] = "id = excluded.id", list[512], *word, *rest;
    int rc;

    snprintf(sql, sizeof sql, "COPY new_%s (%s, id) FROM STDIN (FORMAT binary)", to->name,
             to->columns);
    rc = copy(connection, sql, tuples, why);
    snprintf(list, sizeof list, "%s", to->columns);
    for (word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        snprintf(set + strlen(set), sizeof set - strlen(set), ", %s = excluded.%s", word, word);
    snprintf(sql, sizeof sql,
             "INSERT INTO %s (%s, id) SELECT DISTINCT ON (%s) %s, id FROM new_%s ORDER BY %s, "
             "id DESC ON CONFLICT (%s) DO UPDATE SET %s WHERE %s.id < excluded.id",
             to->name, to->columns, to->key, to->columns, to->name, to->key, to->key, set,
             to->name);
    return rc == 0 ? run(connection, sql, NULL, why) : rc;
}

/* Names that others may be storing, too: in one order, so that nobody waits in a ring. */
static int store_functions(PGconn *connection, const struct pack *tuples, enum pg_trouble *why)
{
    int rc = copy(connection, "COPY new_function (id, name) FROM STDIN (FORMAT binary)", tuples,
                  why);

    return rc < 0 ? rc
                  : run(connection,
                        "INSERT INTO function (id, name) SELECT DISTINCT ON (id) id, name FROM "
                        "new_function ORDER BY id ON CONFLICT DO NOTHING",
                        NULL, why);
}

static int store_tables(PGconn *connection, const struct prov_pg_batch *batch,
                        enum pg_trouble *why)
{
    int rc = batch->functions.n ? store_functions(connection, &batch->functions, why) : 0;

    for (int t = 0; t < N_PROV_TABLES && rc == 0; t++) {
        const struct prov_table_rows *to = &prov_tables[t];
        char sql[1024];

        if (batch->tuples[t].n == 0)
            continue;
        snprintf(sql, sizeof sql, "COPY %s (%s, id) FROM STDIN (FORMAT binary)", to->name,
                 to->columns);
        rc = to->key ? replace(connection, to, &batch->tuples[t], why)
                     : copy(connection, sql, &batch->tuples[t], why);
    }
    return rc;
}

int prov_pg_prepare(PGconn *connection)
{
    int rc =
        pg_run(connection,
               "CREATE TEMP TABLE new_function (id bigint, name text) ON COMMIT DELETE ROWS");

    for (int t = 0; t < N_PROV_TABLES && rc == 0; t++) {
        char sql[256];

        snprintf(sql, sizeof sql, "CREATE TEMP TABLE new_%s (LIKE %s) ON COMMIT DELETE ROWS",
                 prov_tables[t].name, prov_tables[t].name);
        rc = prov_tables[t].key ? pg_run(connection, sql) : 0;
    }
    return rc;
}

int prov_pg_alive(PGconn *connection, int64_t of)
{
    char sql[128];

    snprintf(sql, sizeof sql,
             "SELECT pg_catalog.pg_advisory_lock_shared(%d, (%" PRId64
             " %% 2147483648)::integer)",
             PROV_PG_ALIVE, of);
    return pg_run(connection, sql);
}

int prov_pg_store(PGconn *connection, const struct prov_pg_batch *batch, int64_t of,
                  uint64_t before, uint64_t last, enum pg_trouble *why)
{
    char sql[256];
    long n = 0;
    int rc;

    snprintf(sql, sizeof sql,
             "BEGIN; UPDATE run SET stored = %" PRIu64 ", dropped_ns = NULL WHERE id = %" PRId64
             " AND stored = %" PRIu64,
             last, of, before);
    rc = run(connection, sql, &n, why);
    if (rc == 0 && n != 1) {
        *why = PG_OTHER;
        rc = err_set(ERR_DATABASE, "run %" PRId64 " is not as it was left in the database", of);
    }
    if (rc == 0)
        rc = store_tables(connection, batch, why);
    if (rc == 0)
        rc = run(connection, "COMMIT", NULL, why);
    if (rc < 0 && *why == PG_BAD_ROW)
        PQclear(PQexec(connection, "ROLLBACK"));
    return rc;
}

int prov_pg_stored(PGconn *connection, int64_t of, uint64_t *last, enum pg_trouble *why)
{
    PGresult *result;
    char sql[128];
    int rc = 0;

    snprintf(sql, sizeof sql, "SELECT stored FROM run WHERE id = %" PRId64 " FOR UPDATE", of);
    result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return failed(connection, result, why);
    if (PQntuples(result) == 1) {
        *last = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    } else {
        *why = PG_OTHER;
        rc = err_set(ERR_NOT_FOUND, "run %" PRId64 " is no longer in the database", of);
    }
    PQclear(result);
    return rc;
}

int prov_pg_thin(PGconn *connection, int64_t of, uint64_t most, uint64_t *n_removed,
                 uint64_t *left, enum pg_trouble *why)
{
    PGresult *result;
    char sql[2048];

    snprintf(sql, sizeof sql,
             "WITH sized AS (SELECT id, program, rank, step, idx, execution, %s AS bytes, "
             "sum(%s) OVER () - sum(%s) OVER (ORDER BY is_normal DESC, severity_ns, id "
             "ROWS UNBOUNDED PRECEDING) AS behind FROM record WHERE run = %" PRId64 "), "
             "gone AS (SELECT * FROM sized WHERE behind + bytes > %" PRIu64 "), "
             "costs AS (DELETE FROM cost_row c USING gone g WHERE c.run = %" PRId64
             " AND c.program = g.program AND c.rank = g.rank AND c.step = g.step "
             "AND c.idx = g.idx AND c.is_execution = (g.execution IS NOT NULL)::int), "
             "records AS (DELETE FROM record r USING gone g WHERE r.run = %" PRId64
             " AND r.id = g.id) "
             "SELECT (SELECT count(*) FROM gone), (SELECT coalesce(sum(bytes), 0) FROM sized) "
             "- (SELECT coalesce(sum(bytes), 0) FROM gone)",
             PROV_PG_RECORD_BYTES, PROV_PG_RECORD_BYTES, PROV_PG_RECORD_BYTES, of, most, of,
             of);
    result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return failed(connection, result, why);
    *n_removed = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    *left = strtoull(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    return 0;
}

int prov_pg_begin_verdicts(PGconn *connection)
{
    return pg_run(connection, "BEGIN; CREATE TEMP TABLE verdict (id bigint, is_pruned bigint, "
                              "score double precision, p double precision) ON COMMIT DROP");
}

int prov_pg_keep_verdicts(void *connection, const struct prov_verdict *verdict, size_t n)
{
    struct pack tuples = {0};
    enum pg_trouble why;
    int rc;

    for (size_t i = 0; i < n; i++) {
        pack_be(&tuples, 4, 2);
        pack_whole(&tuples, (uint64_t)verdict[i].id);
        pack_whole(&tuples, verdict[i].is_pruned);
        pack_real(&tuples, verdict[i].score);
        pack_real(&tuples, verdict[i].p);
    }
    rc = copy(connection, "COPY verdict FROM STDIN (FORMAT binary)", &tuples, &why);
    pack_release(&tuples);
    return rc;
}

/* What is in a backup is not this any more. */
int prov_pg_end_verdicts(PGconn *connection, int64_t of)
{
    char sql[512];

    snprintf(sql, sizeof sql,
             "UPDATE record r SET is_pruned = v.is_pruned, final_score = v.score, final_p = "
             "v.p FROM verdict v WHERE r.run = %" PRId64 " AND r.id = v.id; "
             "UPDATE run SET backed_up = NULL WHERE id = %" PRId64 "; COMMIT",
             of, of);
    return pg_run(connection, sql);
}

int prov_pg_end(PGconn *connection, int64_t of, uint64_t ended_ns, enum pg_trouble *why)
{
    char sql[128];

    snprintf(sql, sizeof sql, "UPDATE run SET ended_ns = %" PRIu64 " WHERE id = %" PRId64,
             ended_ns, of);
    return run(connection, sql, NULL, why);
}
