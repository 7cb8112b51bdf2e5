/* A row holds the size before compression, which what is read back must have. */
#include "analysis/model_store.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/pack.h"
#include "features/residual_pack.h"
#include "run/rundb.h"

#include <stdlib.h>

#include <zstd.h>

#define LEVEL 3 /* of compression */

int model_store_save(sqlite3 *db, int64_t foi, const struct residual_model *model)
{
    struct pack pack = {0};
    sqlite3_stmt *insert = NULL;
    size_t bound, n;
    void *packed;
    int rc;

    residual_pack(model, &pack);
    bound = ZSTD_compressBound(pack.n);
    packed = mem_alloc(bound, 1);
    n = ZSTD_compress(packed, bound, pack.data, pack.n, LEVEL);
    rc = rundb_prepare(db, "INSERT INTO model VALUES (?, ?, ?)", &insert);
    if (rc == 0)
        rc = rundb_bind(db, insert, "ii", foi, (int64_t)pack.n);
    if (rc == 0 && (ZSTD_isError(n) ||
                    sqlite3_bind_blob64(insert, 3, packed, n, SQLITE_STATIC) != SQLITE_OK ||
                    sqlite3_step(insert) != SQLITE_DONE))
        rc = rundb_error(db, "cannot store the model");
    sqlite3_finalize(insert);
    free(packed);
    pack_release(&pack);
    return rc;
}

/* The model in the row that the query stands on. */
static int unpack(sqlite3_stmt *query, uint32_t n_regions, struct residual_model *model)
{
    const void *packed = sqlite3_column_blob(query, 1);
    size_t n_packed = (size_t)sqlite3_column_bytes(query, 1);
    unsigned long long size = ZSTD_getFrameContentSize(packed, n_packed);
    struct pack pack = {0};
    int rc;

    if (size != (unsigned long long)sqlite3_column_int64(query, 0))
        return err_set(ERR_FORMAT, "damaged run: the model has another size than noted");
    pack.data = mem_alloc(size, 1);
    pack.n = ZSTD_decompress(pack.data, size, packed, n_packed);
    rc = ZSTD_isError(pack.n)
             ? err_set(ERR_FORMAT, "damaged run: the model cannot be decompressed")
             : residual_unpack(model, &pack, n_regions);
    pack_release(&pack);
    return rc;
}

int model_store_load(sqlite3 *db, int64_t foi, uint32_t n_regions, struct residual_model *model)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, "SELECT bytes, data FROM model WHERE foi = ?", &query);

    *model = (struct residual_model){0};
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = err_set(ERR_NOT_FOUND, "the run has no model for this function of interest");
    if (rc == 0)
        rc = unpack(query, n_regions, model);
    sqlite3_finalize(query);
    return rc;
}
