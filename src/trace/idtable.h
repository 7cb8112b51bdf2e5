/*
 * idtable -- a source's own 32-bit ids to our indices, fast for both small and arbitrary ids.
 *
 * Only reading is safe from several threads.
 */
#ifndef SNAG_TRACE_IDTABLE_H
#define SNAG_TRACE_IDTABLE_H

#include "base/idmap.h"

#include <stddef.h>
#include <stdint.h>

#define IDTABLE_DENSE 65536u /* ids below this are looked up in an array, as long as needed */

struct idtable {
    uint32_t *dense; /* [n_dense], IDMAP_NONE where not set */
    uint32_t n_dense;
    uint32_t *set; /* [n_set] the dense ids that are set */
    size_t n_set, set_cap;
    struct idmap sparse;
    uint32_t *value; /* of the sparse ones */
    size_t value_cap;
};

void idtable_release(struct idtable *table);

/* idtable_clear -- forget all ids, keep the memory. O(ids that were set). */
void idtable_clear(struct idtable *table);

/* idtable_set -- id means value from now on. */
void idtable_set(struct idtable *table, uint32_t id, uint32_t value);

/* idtable_get_dense -- the value of a small id, or IDMAP_NONE when it has none or is large. */
static inline uint32_t idtable_get_dense(const struct idtable *table, uint32_t id)
{
    return id < table->n_dense ? table->dense[id] : IDMAP_NONE;
}

/* idtable_get -- the value of id, or IDMAP_NONE. */
static inline uint32_t idtable_get(const struct idtable *table, uint32_t id)
{
    uint32_t at;

    if (id < IDTABLE_DENSE)
        return idtable_get_dense(table, id);
    at = idmap_find(&table->sparse, key_pair(0, id));
    return at == IDMAP_NONE ? IDMAP_NONE : table->value[at];
}

#endif
