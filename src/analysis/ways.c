/* Sorted by way, each is a run of executions; the runs are then put in order. */
#include "analysis/ways.h"

#include "base/mem.h"
#include "run/rundb.h"

#include <stdlib.h>

struct strange {
    struct way way;
    uint32_t tree;
};

/* Those of one way, among all that are sorted. */
struct range {
    size_t begin, end;
    double caused_ns; /* lost in the incidents that go back to one of them */
    int64_t lost_ns;  /* by anomalies among them */
    uint32_t first;   /* tree */
};

static int by_way(const void *a, const void *b)
{
    const struct strange *p = a, *q = b;

    if (p->way.kind != q->way.kind)
        return p->way.kind < q->way.kind ? -1 : 1;
    if (p->way.number != q->way.number)
        return p->way.number < q->way.number ? -1 : 1;
    return (p->tree > q->tree) - (p->tree < q->tree);
}

/* What others go back to comes before those others. */
static int by_lost(const void *a, const void *b)
{
    const struct range *p = a, *q = b;

    if (p->caused_ns != q->caused_ns)
        return p->caused_ns > q->caused_ns ? -1 : 1;
    if (p->lost_ns != q->lost_ns)
        return p->lost_ns > q->lost_ns ? -1 : 1;
    if (p->end - p->begin != q->end - q->begin)
        return p->end - p->begin > q->end - q->begin ? -1 : 1;
    return (p->first > q->first) - (p->first < q->first);
}

static size_t find_strange(const struct scoring *s, const struct incidents *incidents,
                           struct why *why, struct strange **out)
{
    size_t n = 0, cap = 0;

    *out = NULL;
    for (uint32_t t = 0; t < s->forest.n_trees; t++) {
        struct way way;

        if (!s->is_anomaly[t] && incidents->of[t] == INCIDENT_NONE)
            continue;
        way = scoring_way(s, why, t);
        if (way.kind == WAY_NONE)
            continue;
        mem_grow(out, &cap, n + 1, sizeof **out);
        (*out)[n++] = (struct strange){way, t};
    }
    if (n > 1)
        qsort(*out, n, sizeof **out, by_way);
    return n;
}

static size_t find_ranges(const struct scoring *s, const struct incidents *incidents,
                          const struct strange *strange, size_t n, struct range *range)
{
    size_t n_ranges = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_new = i == 0 || strange[i].way.kind != strange[i - 1].way.kind ||
                      strange[i].way.number != strange[i - 1].way.number;
        uint32_t t = strange[i].tree;

        if (is_new)
            range[n_ranges++] = (struct range){.begin = i, .first = t};
        range[n_ranges - 1].end = i + 1;
        if (!s->is_anomaly[t])
            continue;
        range[n_ranges - 1].lost_ns += s->measure[t].loss.ns;
        if (incidents->of[t] != INCIDENT_NONE &&
            incidents->incident[incidents->of[t]].head == t)
            range[n_ranges - 1].caused_ns += incidents->incident[incidents->of[t]].lost_ns;
    }
    if (n_ranges > 1)
        qsort(range, n_ranges, sizeof *range, by_lost);
    return n_ranges;
}

int ways_save(sqlite3 *db, int64_t foi, const struct scoring *scoring,
              const struct incidents *incidents, struct why *why)
{
    struct strange *strange;
    size_t n = find_strange(scoring, incidents, why, &strange), n_ranges;
    struct range *range = mem_alloc(n, sizeof *range);
    sqlite3_stmt *add_way = NULL, *add_execution = NULL;
    int rc = rundb_prepare_insert(db, "way", "foi, id, what", &add_way);

    if (rc == 0)
        rc = rundb_prepare_insert(db, "execution_way", "foi, tree, way", &add_execution);
    n_ranges = find_ranges(scoring, incidents, strange, n, range);
    for (size_t i = 0; rc == 0 && i < n_ranges; i++) {
        char what[WAY_SIZE];

        rc = rundb_insert(db, add_way, "iit", foi, (int64_t)i + 1,
                          way_say(why, strange[range[i].begin].way, what));
        for (size_t k = range[i].begin; rc == 0 && k < range[i].end; k++)
            rc = rundb_insert(db, add_execution, "iii", foi, (int64_t)strange[k].tree,
                              (int64_t)i + 1);
    }
    sqlite3_finalize(add_way);
    sqlite3_finalize(add_execution);
    free(strange);
    free(range);
    return rc;
}
