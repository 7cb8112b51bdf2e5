#include "serve/foi_state.h"

#include "base/err.h"
#include "base/mem.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdlib.h>

int foi_state_find(struct foi_state *state, sqlite3 *db, int64_t foi)
{
    sqlite3_stmt *query = NULL;
    int64_t n = -1;
    int rc = rundb_prepare(db, run_sql_n_trees, &query);

    *state = (struct foi_state){.foi = foi};
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    if (rc == 0 && n < 0)
        rc = err_set(ERR_NOT_FOUND, "the run has no function of interest %lld", (long long)foi);
    if (rc == 0 && n > INT32_MAX)
        rc = err_set(ERR_FORMAT, "damaged run: %lld executions", (long long)n);
    if (rc < 0)
        return rc;
    state->n = (uint32_t)n;
    state->sketch = mem_alloc(state->n, sizeof *state->sketch);
    return 0;
}

static void forget_list(struct foi_state *s)
{
    free(s->list.tree);
    s->list = (struct foi_list){.n = 0};
}

void foi_state_release(struct foi_state *s, struct shared_cache *tables)
{
    forget_list(s);
    if (s->table)
        execution_table_give_back(tables, s->table);
    residual_release(&s->model);
    for (uint32_t t = 0; s->sketch && t < s->n; t++)
        json_decref(s->sketch[t]);
    free(s->sketch);
    *s = (struct foi_state){0};
}

int foi_state_load(struct foi_state *s, struct shared_cache *tables, sqlite3 *db)
{
    const struct execution_table *table;
    int rc = execution_table_take(tables, db, s->foi, s->n, &table);

    if (rc < 0)
        return rc;
    if (s->table != table)
        forget_list(s); /* while its table is there: another may come to the same place */
    if (s->table)
        execution_table_give_back(tables, s->table);
    s->table = table;
    s->is_current = true;
    return 0;
}
