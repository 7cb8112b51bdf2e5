/* A row holds the size before compression, which what is read back must have. */
#include "analysis/model_store.h"

#include "analysis/foi_settings.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/pack.h"
#include "features/residual.h"
#include "features/stack2vec.h"
#include "run/rundb.h"

#include <stdlib.h>

#define LEVEL 3 /* of compression */

/*
 * Keeps the bytes in a row.
 *   sql       inserts: function of interest, bytes, data, settings
 *   settings  or NULL for a statement without them
 */
static int save(sqlite3 *db, const char *sql, int64_t foi, const char *settings,
                const struct pack *pack)
{
    size_t n;
    void *packed = pack_compress(pack, LEVEL, &n);
    sqlite3_stmt *insert = NULL;
    int rc = rundb_prepare(db, sql, &insert);

    if (rc == 0)
        rc = rundb_bind(db, insert, "ii", foi, (int64_t)pack->n);
    if (rc == 0 && (sqlite3_bind_blob64(insert, 3, packed, n, SQLITE_STATIC) != SQLITE_OK ||
                    (settings && sqlite3_bind_text(insert, 4, settings, -1, SQLITE_STATIC)) ||
                    sqlite3_step(insert) != SQLITE_DONE))
        rc = rundb_error(db, "cannot store the model");
    sqlite3_finalize(insert);
    free(packed);
    return rc;
}

/* The bytes in columns bytes and data of the row that the query stands on. */
static int unpack(sqlite3_stmt *query, struct pack *pack)
{
    const void *packed = sqlite3_column_blob(query, 1);
    int rc = pack_decompress(pack, packed, (size_t)sqlite3_column_bytes(query, 1),
                             (uint64_t)sqlite3_column_int64(query, 0));

    return rc < 0 ? err_set(rc, "damaged run: the model has %s", err_message()) : 0;
}

/* -------------------------------------------------------------------------- residual model */

int model_store_save(sqlite3 *db, int64_t foi, const struct residual_model *model)
{
    struct pack pack = {0};
    int rc;

    residual_pack(model, &pack);
    rc = save(db, "INSERT INTO model (foi, bytes, data) VALUES (?, ?, ?)", foi, NULL, &pack);
    pack_release(&pack);
    return rc;
}

int model_store_load(sqlite3 *db, int64_t foi, uint32_t n_regions, struct residual_model *model)
{
    sqlite3_stmt *query = NULL;
    struct pack pack = {0};
    int rc = rundb_prepare(db, "SELECT bytes, data FROM model WHERE foi = ?", &query);

    *model = (struct residual_model){0};
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = err_set(ERR_NOT_FOUND, "the run has no model for this function of interest");
    if (rc == 0)
        rc = unpack(query, &pack);
    if (rc == 0)
        rc = residual_unpack(model, &pack, n_regions);
    pack_release(&pack);
    sqlite3_finalize(query);
    return rc;
}

/* ------------------------------------------------------------------------------- embedding */

int model_store_save_embedding(sqlite3 *db, int64_t foi, const struct stack2vec *embedding)
{
    char settings[FOI_SETTINGS_SIZE];
    struct pack pack = {0};
    int rc;

    embedding_settings_text(&embedding->opts, settings);
    stack2vec_pack(embedding, &pack);
    rc = save(db,
              "INSERT OR REPLACE INTO embedding (foi, bytes, data, settings) "
              "VALUES (?, ?, ?, ?)",
              foi, settings, &pack);
    pack_release(&pack);
    return rc;
}

int model_store_load_embedding(sqlite3 *db, int64_t foi, struct stack2vec *embedding)
{
    const struct stack2vec_opts opts = embedding->opts;
    char settings[FOI_SETTINGS_SIZE];
    sqlite3_stmt *query = NULL;
    struct pack pack = {0};
    int rc = rundb_prepare(
        db, "SELECT bytes, data FROM embedding WHERE foi = ? AND settings = ?", &query);

    embedding_settings_text(&opts, settings);
    if (rc == 0)
        rc = rundb_bind(db, query, "it", foi, settings);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        rc = unpack(query, &pack);
        if (rc == 0)
            rc = stack2vec_unpack(embedding, &pack);
        if (rc == 0 && (embedding->opts.dims != opts.dims || embedding->n_words == 0))
            rc =
                err_set(ERR_FORMAT, "damaged run: the embedding has other settings than noted");
    }
    pack_release(&pack);
    sqlite3_finalize(query);
    return rc;
}
