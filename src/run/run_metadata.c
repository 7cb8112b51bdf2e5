#include "run/run_metadata.h"

#include "base/mem.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct run_metadata *m, const char *key, const char *value)
{
    char cut[METADATA_BYTES];

    if (*key == '\0' || *value == '\0')
        return;
    mem_grow(&m->at, &m->cap, m->n + 1, sizeof *m->at);
    snprintf(cut, sizeof cut, "%s", value);
    m->at[m->n].value = arena_string(&m->arena, cut);
    snprintf(cut, sizeof cut, "%s", key);
    m->at[m->n++].key = arena_string(&m->arena, cut);
}

static int by_text(const void *a, const void *b)
{
    const struct run_metadatum *p = a, *q = b;
    int by_key = strcmp(p->key, q->key);

    return by_key ? by_key : strcmp(p->value, q->value);
}

/* Of equal ones all but one go, and keys with too many values. */
static void tidy(struct run_metadata *m)
{
    size_t n = 0;

    if (m->n > 1)
        qsort(m->at, m->n, sizeof *m->at, by_text);
    for (size_t i = 0, next; i < m->n; i = next) {
        size_t first = n;
        bool is_node = strcmp(m->at[i].key, METADATA_NODE) == 0;

        for (next = i; next < m->n && strcmp(m->at[next].key, m->at[i].key) == 0; next++)
            if (next == i || strcmp(m->at[next].value, m->at[next - 1].value) != 0)
                m->at[n++] = m->at[next];
        if (n - first > METADATA_VALUES && !is_node)
            n = first;
    }
    m->n = n < RUN_MAX_METADATA ? n : RUN_MAX_METADATA;
}

void run_metadata_of(struct run_metadata *metadata, const struct definitions *defs)
{
    *metadata = (struct run_metadata){0};
    for (size_t i = 0; i < defs->n_metadata; i++)
        add(metadata, defs->metadata[i].key, defs->metadata[i].value);
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (l == 0 || strcmp(defs->location[l].node, defs->location[l - 1].node) != 0)
            add(metadata, METADATA_NODE, defs->location[l].node);
    tidy(metadata);
}

void run_metadata_release(struct run_metadata *metadata)
{
    free(metadata->at);
    arena_release(&metadata->arena);
    *metadata = (struct run_metadata){0};
}

const char *run_metadata_get(const struct run_metadata *metadata, const char *key)
{
    const struct run_metadatum *found = NULL;

    for (size_t i = 0; i < metadata->n; i++) {
        if (strcmp(metadata->at[i].key, key) != 0)
            continue;
        if (found)
            return NULL;
        found = &metadata->at[i];
    }
    return found ? found->value : NULL;
}

void run_metadata_join(const struct run_metadata *metadata, const char *key, char *out,
                       size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < metadata->n && n < size; i++)
        if (strcmp(metadata->at[i].key, key) == 0)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? "," : "",
                                  metadata->at[i].value);
}

int run_metadata_save(sqlite3 *db, const struct run_metadata *metadata)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "metadata", "key, value", &insert);

    for (size_t i = 0; rc == 0 && i < metadata->n; i++)
        rc = rundb_insert(db, insert, "tt", metadata->at[i].key, metadata->at[i].value);
    sqlite3_finalize(insert);
    return rc;
}

int run_metadata_load(struct run_metadata *metadata, sqlite3 *db)
{
    sqlite3_stmt *query;
    int status = SQLITE_DONE, rc;

    *metadata = (struct run_metadata){0};
    rc = rundb_prepare(db, "SELECT key, value FROM metadata ORDER BY key, value", &query);
    while (rc == 0 && metadata->n < RUN_MAX_METADATA &&
           (status = sqlite3_step(query)) == SQLITE_ROW)
        add(metadata, rundb_text(query, 0), rundb_text(query, 1));
    if (rc == 0 && status != SQLITE_DONE && status != SQLITE_ROW)
        rc = rundb_error(db, "cannot read the metadata");
    sqlite3_finalize(query);
    tidy(metadata);
    return rc;
}
