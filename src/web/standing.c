#include "web/standing.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/rundb.h"

#include <stdlib.h>
#include <string.h>

/* What the order of executions depends on, as in the index execution_by_score. */
struct place {
    double score, time, gross;
    uint32_t tree;
};

static int by_score(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    if (p->time != q->time)
        return p->time > q->time ? -1 : 1;
    if (p->gross != q->gross)
        return p->gross > q->gross ? -1 : 1;
    return p->tree < q->tree ? -1 : 1;
}

int standing_find(struct standing *standing, sqlite3 *db, int64_t foi)
{
    sqlite3_stmt *query = NULL;
    int64_t n = -1;
    int rc = rundb_prepare(db, "SELECT trees FROM foi WHERE id = ?", &query);

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
    standing->score = mem_alloc(standing->n, sizeof *standing->score);
    standing->rank = mem_alloc(standing->n, sizeof *standing->rank);
    standing->is_anomaly = mem_alloc(standing->n, 1);
    standing->label = mem_alloc(standing->n, 1);
    standing->order = mem_alloc(standing->n, sizeof *standing->order);
    standing->place = mem_alloc(standing->n, sizeof *standing->place);
    standing->place_before = mem_alloc(standing->n, sizeof *standing->place_before);
    standing->sketch = mem_alloc(standing->n, sizeof *standing->sketch);
    return 0;
}

void standing_release(struct standing *s)
{
    free(s->score);
    free(s->rank);
    free(s->is_anomaly);
    free(s->label);
    free(s->order);
    free(s->place);
    free(s->place_before);
    residual_release(&s->model);
    for (uint32_t t = 0; s->sketch && t < s->n; t++)
        json_decref(s->sketch[t]);
    free(s->sketch);
    *s = (struct standing){0};
}

/* Fills now and before with what the two orders are made from. */
static int read_rows(struct standing *s, sqlite3 *db, struct place *now, struct place *before)
{
    sqlite3_stmt *query = NULL;
    uint32_t t = 0;
    int rc = rundb_prepare(db,
                           "SELECT tree, score, detector_score, time, gross, rank, verdict = "
                           "'anomaly' FROM execution WHERE foi = ? ORDER BY tree",
                           &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "i", s->foi);
    for (; rc == 0 && t < s->n && sqlite3_step(query) == SQLITE_ROW; t++) {
        double time = sqlite3_column_double(query, 3), gross = sqlite3_column_double(query, 4);

        if (sqlite3_column_int64(query, 0) != t)
            break;
        s->score[t] = sqlite3_column_double(query, 1);
        s->rank[t] = (uint32_t)sqlite3_column_int64(query, 5);
        s->is_anomaly[t] = sqlite3_column_int(query, 6) != 0;
        now[t] = (struct place){s->score[t], time, gross, t};
        before[t] = (struct place){sqlite3_column_double(query, 2), time, gross, t};
    }
    sqlite3_finalize(query);
    if (rc == 0 && t < s->n)
        rc = err_set(ERR_FORMAT, "damaged run: %u of %u executions are in it", t, s->n);
    return rc;
}

int standing_load(struct standing *s, sqlite3 *db)
{
    struct place *now = mem_alloc(s->n, sizeof *now), *before = mem_alloc(s->n, sizeof *before);
    int64_t newest;
    int rc = read_rows(s, db, now, before);

    if (rc == 0)
        rc = label_store_load(db, s->foi, LABEL_LAST, s->n, s->label, &newest);
    if (rc == 0 && s->n > 0) {
        qsort(now, s->n, sizeof *now, by_score);
        qsort(before, s->n, sizeof *before, by_score);
        for (uint32_t i = 0; i < s->n; i++) {
            s->order[i] = now[i].tree;
            s->place[now[i].tree] = i + 1;
            s->place_before[before[i].tree] = i + 1;
        }
    }
    s->is_current = rc == 0;
    free(now);
    free(before);
    return rc;
}
