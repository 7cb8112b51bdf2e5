#include "serve/standing.h"

#include "base/err.h"
#include "base/mem.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdlib.h>

int standing_find(struct standing *standing, sqlite3 *db, int64_t foi)
{
    sqlite3_stmt *query = NULL;
    int64_t n = -1;
    int rc = rundb_prepare(db, run_sql_n_trees, &query);

    *standing = (struct standing){.foi = foi};
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
    standing->n = (uint32_t)n;
    standing->sketch = mem_alloc(standing->n, sizeof *standing->sketch);
    return 0;
}

static void forget_list(struct standing *s)
{
    free(s->list.tree);
    s->list = (struct standing_list){.n = 0};
}

void standing_release(struct standing *s, struct shelf *rolls)
{
    forget_list(s);
    if (s->roll)
        roll_give_back(rolls, s->roll);
    residual_release(&s->model);
    for (uint32_t t = 0; s->sketch && t < s->n; t++)
        json_decref(s->sketch[t]);
    free(s->sketch);
    *s = (struct standing){0};
}

int standing_load(struct standing *s, struct shelf *rolls, sqlite3 *db)
{
    const struct roll *roll;
    int rc = roll_take(rolls, db, s->foi, s->n, &roll);

    if (rc < 0)
        return rc;
    if (s->roll != roll)
        forget_list(s); /* while its roll is there: another may come to the same place */
    if (s->roll)
        roll_give_back(rolls, s->roll);
    s->roll = roll;
    s->is_current = true;
    return 0;
}
