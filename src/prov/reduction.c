#include "prov/reduction.h"

#include "base/json.h"
#include "base/text.h"
#include "prov/prov_kind.h"
#include "prov/prov_reader.h"

#include <math.h>
#include <stdio.h>

struct reduction reduction_of(uint64_t n_bytes, const char *no_bytes,
                              const struct prov_counts *store)
{
    struct reduction r = {.trace_bytes = no_bytes ? NAN : (double)n_bytes,
                          .stored_bytes = store ? (double)store->bytes : NAN,
                          .is_sent = store && store->is_sent,
                          .why = no_bytes};

    if (r.why == NULL && n_bytes == 0)
        r.why = "nothing of the trace was read yet";
    if (r.why == NULL && store == NULL)
        r.why = "there is no store";
    if (store && store->is_shared) {
        r.stored_bytes = NAN;
        if (r.why == NULL)
            r.why =
                "other instances may write to the same store (snag provdb reduction says it "
                "of all)";
    }
    if (r.why == NULL && store->bytes == 0)
        r.why = "nothing new is stored, or it has room that earlier runs left";
    return r;
}

/* A number below none, or of more than a sum can be of, says nothing; runs that were dropped are
 * not in the store. */
#define SAID(what)                                                                             \
    "(SELECT CAST(value AS INTEGER) FROM metadata AS m WHERE m.run = r.run AND descr = '" what \
    "' AND CAST(value AS INTEGER) BETWEEN 0 AND 1 << 53)"
#define SQL_SIZES                                                                              \
    "SELECT sum(trace), sum(sent), count(*) - count(trace), count(*) - count(sent), count(*) " \
    "FROM (SELECT " SAID(PROV_TRACE_BYTES) " AS trace, " SAID(                                 \
        PROV_SENT_BYTES) " AS sent FROM runs AS r WHERE dropped IS NULL)"

int reduction_read(struct database *reader, const char *url, struct reduction *out)
{
    const struct prov_kind_ops *kind = prov_kind_of(url);
    struct prov_counts counts = {.is_sent = kind->size == NULL};
    const char *no_bytes = NULL;
    sqlite3_stmt *query = NULL;
    uint64_t n_bytes = 0;
    int rc = 0;

    if (sqlite3_prepare_v2(reader->sql, SQL_SIZES, -1, &query, NULL) != SQLITE_OK ||
        sqlite3_step(query) != SQLITE_ROW) {
        rc = prov_reader_error(reader, url);
    } else {
        n_bytes = (uint64_t)sqlite3_column_int64(query, 0);
        counts.bytes = kind->size ? kind->size(url) : (uint64_t)sqlite3_column_int64(query, 1);
        if (sqlite3_column_int64(query, 2) > 0)
            no_bytes = sqlite3_column_int64(query, 4) > 1
                           ? "not all of its runs say of how much trace they were made"
                           : "its run does not say of how much trace it was made";
    }
    sqlite3_finalize(query);
    *out = reduction_of(n_bytes, no_bytes, &counts);
    return rc;
}

double reduction_factor(const struct reduction *r)
{
    return r->why ? NAN : r->trace_bytes / r->stored_bytes;
}

char *reduction_text(const struct reduction *r, char out[REDUCTION_TEXT])
{
    const char *where = r->is_sent ? "sent to the database" : "stored";
    char trace[TEXT_SIZE], stored[TEXT_SIZE] = "nothing";
    double factor = reduction_factor(r);

    text_bytes(r->trace_bytes, trace);
    if (r->stored_bytes > 0)
        text_bytes(r->stored_bytes, stored);
    if (isnan(r->trace_bytes))
        snprintf(out, REDUCTION_TEXT,
                 "%s %s; of how many bytes of trace is not known, because %s", stored, where,
                 r->why);
    else if (r->why)
        snprintf(out, REDUCTION_TEXT,
                 "%s of trace read; how many times less is %s is not known, because %s", trace,
                 where, r->why);
    else
        snprintf(out, REDUCTION_TEXT, "%s of trace read, %s %s: %.3g times %s", trace, stored,
                 where, factor >= 1 ? factor : 1 / factor, factor >= 1 ? "less" : "more");
    return out;
}

static json_t *number(double x)
{
    return isnan(x) ? json_null() : json_count((uint64_t)x);
}

void reduction_set(json_t *object, const struct reduction *r)
{
    double factor = reduction_factor(r);

    json_object_set_new(object, "trace_bytes", number(r->trace_bytes));
    json_object_set_new(object, "stored_bytes", number(r->stored_bytes));
    json_object_set_new(object, "stored_is",
                        isnan(r->stored_bytes) ? json_null()
                                               : json_string(r->is_sent ? "sent" : "files"));
    json_object_set_new(object, "reduction", json_number(factor));
    json_object_set_new(object, "reduction_unknown",
                        r->why ? json_string(r->why) : json_null());
}
