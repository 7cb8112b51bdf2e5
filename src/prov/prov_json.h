/*
 * prov_json -- a record as JSON, with the field names of Chimbuko's provenance database (its
 * schema, version 2), so that scripts written for it go on working.
 *
 * What has one of those names has its unit too: microseconds, with three decimals. What is ours
 * says its unit in its name.
 */
#ifndef SNAG_PROV_PROV_JSON_H
#define SNAG_PROV_PROV_JSON_H

#include "prov/prov_record.h"

#include <jansson.h>

/* What a store knows of a record that the record does not. */
struct prov_final {
    int64_t run;        /* that wrote it, from 1; 0: not known */
    const char *run_id; /* likewise; NULL: not known */
    uint64_t stored_ns; /* since 1970; 0: not known */
    bool is_judged;     /* by the final model; the rest is void when not */
    bool is_pruned;     /* an anomaly that is normal by it, or the reverse */
    double score, p;
    bool has_cost; /* what it cost the program is known */
    int64_t cost_ns;
    bool cost_is_bound; /* it is at most that */
};

#define PROV_EXECUTION_ID_SIZE 48

/* prov_execution_id -- "#4-40", "#4.1-40" off the master thread. Returns out. */
char *prov_execution_id(uint32_t rank, uint32_t thread, uint64_t index,
                        char out[PROV_EXECUTION_ID_SIZE]);

/* prov_record_to_json -- a new object. O(size of the record). */
json_t *prov_record_to_json(const struct prov_record *record, const struct prov_final *final);

#endif
