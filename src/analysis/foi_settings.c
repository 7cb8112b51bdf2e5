/* JSON is written here by hand and read by SQLite. */
#include "analysis/foi_settings.h"

#include "base/err.h"
#include "detect/detector.h"
#include "features/features.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As short as it can be read back from. */
static const char *number(double value, char out[32])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return out;
}

/* What the texts have in common, without braces. */
static void embedding_text(const struct stack2vec_opts *o, char *out, size_t size)
{
    char rate[32], negatives[32];

    snprintf(out, size,
             "\"dimensions\": %u, \"epochs\": %u, \"learning_rate\": %s, \"negatives\": %s",
             o->dims, o->epochs, number(o->learning_rate, rate),
             number(o->negatives, negatives));
}

static void learnt_text(const struct learnt_settings *l, char *out, size_t size)
{
    char gamma[32] = "null", nu[32] = "null", embedding[160];

    if (l->gamma > 0)
        number(l->gamma, gamma);
    if (l->nu > 0)
        number(l->nu, nu);
    embedding_text(&l->embedding, embedding, sizeof embedding);
    snprintf(out, size, "\"gamma\": %s, \"nu\": %s, %s", gamma, nu, embedding);
}

void embedding_settings_text(const struct stack2vec_opts *opts, char out[FOI_SETTINGS_SIZE])
{
    char text[160];

    embedding_text(opts, text, sizeof text);
    snprintf(out, FOI_SETTINGS_SIZE, "{%s}", text);
}

void learnt_settings_text(const struct learnt_settings *l, char out[FOI_SETTINGS_SIZE])
{
    char text[256];

    learnt_text(l, text, sizeof text);
    snprintf(out, FOI_SETTINGS_SIZE, "{%s}", text);
}

void foi_settings_text(const struct foi_settings *s, char out[FOI_SETTINGS_SIZE])
{
    char text[256];

    learnt_text(&s->learnt, text, sizeof text);
    snprintf(out, FOI_SETTINGS_SIZE, "{\"neighbours\": %u, \"seed\": %llu, %s}", s->neighbours,
             (unsigned long long)s->seed, text);
}

int learnt_settings_of(sqlite3_stmt *query, int column, struct learnt_settings *l)
{
    struct stack2vec_opts said = {.learning_rate = sqlite3_column_double(query, column + 3),
                                  .negatives = sqlite3_column_double(query, column + 4)};
    int64_t dims = sqlite3_column_int64(query, column + 1);
    int64_t epochs = sqlite3_column_int64(query, column + 2);

    l->gamma = sqlite3_column_double(query, column);
    l->nu = sqlite3_column_double(query, column + 5);
    l->embedding = stack2vec_default();
    if (!(l->gamma >= 0 && isfinite(l->gamma)) || !(l->nu >= 0 && l->nu <= 1) || dims < 0 ||
        dims > STACK2VEC_MAX_DIMS || epochs < 0 || epochs > UINT32_MAX)
        return err_set(ERR_FORMAT, "damaged run: the settings make no sense");
    said.dims = (uint32_t)dims;
    said.epochs = (uint32_t)epochs;
    stack2vec_override(&l->embedding, &said);
    return stack2vec_check(&l->embedding) < 0
               ? err_set(ERR_FORMAT, "damaged run: the settings make no sense")
               : 0;
}

static int take(sqlite3_stmt *query, struct foi_settings *s)
{
    int rc;

    *s = (struct foi_settings){.threshold = INFINITY, .seed = 1};
    snprintf(s->features, sizeof s->features, "%s", rundb_text(query, 0));
    snprintf(s->detector, sizeof s->detector, "%s", rundb_text(query, 1));
    if (sqlite3_column_type(query, 2) != SQLITE_NULL)
        s->threshold = sqlite3_column_double(query, 2);
    s->neighbours = (uint32_t)sqlite3_column_int64(query, 3);
    if (sqlite3_column_type(query, 4) != SQLITE_NULL)
        s->seed = strtoull(rundb_text(query, 4), NULL, 10);
    rc = learnt_settings_of(query, 5, &s->learnt);
    if (rc == 0 && (feature_find(s->features) == NULL || detector_find(s->detector) == NULL))
        rc = err_set(ERR_FORMAT, "damaged run: it was analysed by a detector there is none of");
    s->learnt.embedding.seed = s->seed;
    return rc;
}

/* The seed as text: it may be more than SQLite's integers hold. */
int foi_settings_load(sqlite3 *db, int64_t foi, struct foi_settings *s)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db,
                           "SELECT features, detector, threshold, settings ->> '$.neighbours', "
                           "settings -> '$.seed', " LEARNT_COLUMNS " FROM foi WHERE id = ?",
                           &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = err_set(ERR_NOT_FOUND, "the run has no function of interest %lld", (long long)foi);
    if (rc == 0)
        rc = take(query, s);
    sqlite3_finalize(query);
    return rc;
}
