/* prov_rows -- the rows of a store as jobs: values for the columns of prov_schema.sql. The run
 * they are of is added by the store. */
#ifndef SNAG_PROV_PROV_ROWS_H
#define SNAG_PROV_PROV_ROWS_H

#include "prov/prov_shard.h"
#include "prov/prov_store.h"

/* All return a new job, of which the writer is the owner. O(size of the row). */
struct prov_job *prov_rows_record(enum prov_kind kind, const struct prov_record *record);
struct prov_job *prov_rows_cost(const struct prov_cost *row);
struct prov_job *prov_rows_metadata(const struct prov_metadata *row);
struct prov_job *prov_rows_func_stats(const struct prov_func_stats *row);
struct prov_job *prov_rows_counter_stats(const struct prov_counter_stats *row);
struct prov_job *prov_rows_model(const struct prov_model *row);

#endif
