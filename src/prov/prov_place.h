/*
 * prov_place -- where a provenance store is: `sqlite:DIR?shards=N`, or just DIR.
 *
 *     DIR/shard-0000.db ... shard-NNNN.db
 */
#ifndef SNAG_PROV_PROV_PLACE_H
#define SNAG_PROV_PROV_PLACE_H

#include "base/fs.h"

#include <stdbool.h>
#include <stdint.h>

#define PROV_MOST_SHARDS 256u
#define PROV_FORMAT 2 /* meta 'format' of every shard; another one is refused */

struct prov_place {
    char dir[FS_PATH_SIZE];
    uint32_t n_shards; /* 0: not said */
};

/*
 * prov_place_parse -- take a store's URL apart; nothing is looked at.
 * Returns 0, ERR_UNSUPPORTED for a database that this build cannot use, or ERR_USAGE.
 */
int prov_place_parse(const char *url, struct prov_place *place);

/* prov_place_shard -- the file of a shard. Returns 0 or ERR_RANGE when the name does not fit.
 */
int prov_place_shard(const struct prov_place *place, uint32_t shard, char path[FS_PATH_SIZE]);

/* prov_place_is_store -- there is a store; false also for what is no URL. */
bool prov_place_is_store(const char *url);

#endif
