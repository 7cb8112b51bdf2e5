/* Score-P numbers from 0; EZTrace from rank * 536870911. */
#include "trace/idtable.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MIN_DENSE 64u

void idtable_release(struct idtable *table)
{
    free(table->dense);
    free(table->set);
    free(table->value);
    idmap_release(&table->sparse);
    *table = (struct idtable){0};
}

void idtable_clear(struct idtable *table)
{
    for (size_t i = 0; i < table->n_set; i++)
        table->dense[table->set[i]] = IDMAP_NONE;
    table->n_set = 0;
    if (table->sparse.n > 0)
        idmap_release(&table->sparse);
}

void idtable_set(struct idtable *table, uint32_t id, uint32_t value)
{
    uint32_t at;

    if (id < IDTABLE_DENSE) {
        if (id >= table->n_dense) {
            uint32_t n = table->n_dense ? table->n_dense : MIN_DENSE;

            while (n <= id)
                n *= 2;
            table->dense = mem_resize(table->dense, n, sizeof *table->dense);
            memset(table->dense + table->n_dense, 0xff,
                   (n - table->n_dense) * sizeof *table->dense);
            table->n_dense = n;
        }
        if (table->dense[id] == IDMAP_NONE) {
            *mem_push(&table->set, &table->n_set, &table->set_cap) = id;
        }
        table->dense[id] = value;
        return;
    }
    at = idmap_add(&table->sparse, key_pair(0, id));
    mem_grow(&table->value, &table->value_cap, (size_t)at + 1);
    table->value[at] = value;
}
