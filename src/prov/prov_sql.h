/*
 * prov_sql -- the questions that are asked of a store, over the views of prov_reader.h.
 *
 * Where a collection is one of two, it is "anomalies" or "normalexecs". What has to be made for
 * each question is freed with sqlite3_free; NULL is no memory. Columns that are read by their
 * place have names here.
 */
#ifndef SNAG_PROV_PROV_SQL_H
#define SNAG_PROV_PROV_SQL_H

#include "base/database.h"

#include <stdbool.h>
#include <stdint.h>

#define PROV_ANY_RANK UINT32_MAX

/* prov_sql_collection -- the name as it stands in SQL; NULL for what is none. */
const char *prov_sql_collection(const char *name);

/* ---------------------------------------------------------------------------- commands */

/* prov_sql_all -- all records in the order they were stored: columns as named, and after them
 * all of it as JSON, NULL for a damaged one. */
char *prov_sql_all(const char *collection, uint32_t rank);

enum prov_order { PROV_BY_SEVERITY, PROV_BY_SCORE, PROV_BY_COST };

/* prov_sql_top -- the first of them, by what they lost, by their score, or by what they cost;
 * most: -1 all. */
char *prov_sql_top(const char *collection, uint32_t rank, enum prov_order by, long long most);

/*
 * prov_sql_incidents -- the same, joined by what their chains of causes end in: a delay that
 * went through ten ranks is one row, with the event of the call that lost most. rank: that at
 * least one of its calls is on.
 */
char *prov_sql_incidents(const char *collection, uint32_t rank, enum prov_order by,
                         long long most);

/*
 * prov_sql_probe, prov_sql_filter -- records, as JSON, that meet a condition of the user's.
 * What compiles in both is an expression, and nothing that ends one and goes on: the line ends
 * keep a comment in it from hiding what follows.
 */
char *prov_sql_probe(const char *collection, const char *condition);
char *prov_sql_filter(const char *collection, uint32_t rank, const char *condition,
                      long long most);

/*
 * prov_sql_compare -- the functions of two stores side by side.
 *   both  a database in memory, which gets a table of what is in them
 *   sql   out: the question to be asked of it
 * Anomalies that the final model would not have kept do not count; rates are of the calls of
 * the runs whose anomalies are counted, NULL where these are not known. Returns 0 or
 * ERR_DATABASE.
 */
int prov_sql_compare(struct database *one, struct database *other, struct database *both,
                     const char *collection, uint32_t rank, long long most, char **sql);

/* ----------------------------------------------------------------------------- the page */

enum prov_sql_item {
    ITEM_ID, /* for prov_sql_record */
    ITEM_EVENT,
    ITEM_FUNCTION,
    ITEM_PROGRAM,
    ITEM_RANK,
    ITEM_THREAD,
    ITEM_STEP,
    ITEM_ENTRY, /* this and the four below: microseconds */
    ITEM_EXIT,
    ITEM_TOTAL,
    ITEM_EXCLUSIVE,
    ITEM_SEVERITY,
    ITEM_SCORE,
    ITEM_P,
    ITEM_IS_PRUNED,
    ITEM_EXECUTION, /* NULL: it is a call */
    ITEM_CALLS,
    ITEM_MESSAGES,
    ITEM_COST,
    ITEM_COST_IS_BOUND,
    ITEM_RUN,
    ITEM_RUN_ID,
    ITEM_STORED,
};

/* prov_sql_count, prov_sql_page -- records that meet a condition in which ?1 is a text of the
 * caller's: how many; some of them, as enum prov_sql_item. */
char *prov_sql_count(const char *collection, const char *where);
char *prov_sql_page(const char *collection, const char *where, const char *order,
                    long long most, long long from);

/* prov_sql_record -- (id, shard) -> one in full; prov_sql_id_split -- both from an ITEM_ID. */
char *prov_sql_record(const char *collection);
void prov_sql_id_split(int64_t id, int64_t *in_shard, int64_t *shard);

enum prov_sql_past {
    PAST_PROGRAM,
    PAST_RANK,
    PAST_THREAD,
    PAST_FUNCTION,
    PAST_ENTRY,
    PAST_EXIT,
    PAST_TOTAL,
    PAST_EXCLUSIVE,
    PAST_SEVERITY,
    PAST_SCORE,
    PAST_IS_ANOMALY,
    PAST_EXECUTION,
    PAST_CALLS,
    PAST_MESSAGES,
    PAST_IS_TAKEN_BACK,
    PAST_RUN,
    PAST_SHARD,
    PAST_ID, /* ascends in the records of a run in a shard, as they are stored */
};

/* All records in order of time; how many calls there were in all runs. */
extern const char prov_sql_past[], prov_sql_past_calls[];

#endif
