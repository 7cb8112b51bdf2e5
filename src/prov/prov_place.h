/*
 * prov_place -- where a provenance store is: `sqlite:DIR?shards=N`, or just DIR.
 *
 *     DIR/shard-0000.db ... shard-NNNN.db
 *     DIR/lock                             while somebody writes it
 */
#ifndef SNAG_PROV_PROV_PLACE_H
#define SNAG_PROV_PROV_PLACE_H

#include "base/database.h"
#include "base/fs.h"

#include <stdbool.h>
#include <stdint.h>

#define PROV_MAX_SHARDS 256u
#define PROV_FORMAT 5 /* meta 'format' of every shard; another one is refused */

struct prov_place {
    char dir[FS_PATH_SIZE];
    uint32_t n_shards; /* 0: not said */
};

/*
 * prov_place_parse -- take a store's URL apart; nothing is looked at.
 * Returns 0, ERR_UNSUPPORTED for a database that this build cannot use, or ERR_USAGE.
 */
int prov_place_parse(const char *url, struct prov_place *place);

/* prov_place_open -- a handle of the directory; close it. Returns 0, ERR_NOT_FOUND or ERR_IO.
 */
int prov_place_open(const struct prov_place *place, int *dir);

/* The file of a shard; it points into itself. */
struct prov_file {
    struct database_file file;
    char name[32], path[FS_PATH_SIZE];
};

/* prov_place_file -- the file of a shard in a directory. Returns file->file. */
const struct database_file *prov_place_file(const struct prov_place *place, int dir,
                                            uint32_t shard, struct prov_file *file);

/* prov_place_is_store -- there is a store; false also for what is no URL. */
bool prov_place_is_store(const char *url);

#endif
