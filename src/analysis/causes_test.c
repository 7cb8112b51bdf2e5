/* Rank 0 is slow twice; rank 1 waits for it, rank 2 for rank 1, rank 3 for rank 2, and all of
 * them in a barrier. */
#include "analysis/incidents.h"

#include "analysis/run_scoring.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <math.h>

#include "sample_run.h"
#include "test.h"

#define PROGRAM                                                                                \
    "synth:60*step(compute@1ms 1:<1 2:<1 3:<1 0:>1 1:>1 2:>1 |);ranks=4;jitter=0.02;"          \
    "slow=compute/30/9/0"

struct made {
    struct sample_run run;
    struct definitions defs; /* from the database */
    struct scoring work;
    struct causes causes;
};

static void make(struct made *m, const char *program)
{
    *m = (struct made){0};
    sample_run_init(&m->run, program, "step", NULL);
    assert_int_equal(run_summary_definitions(m->run.db, &m->defs), 0);
    assert_int_equal(run_scoring_load(&m->work, m->run.db, &m->run.columns, &m->defs, 1, false),
                     0);
    causes_init(&m->causes, &m->run.columns, &m->defs);
}

static void unmake(struct made *m)
{
    causes_release(&m->causes);
    scoring_release(&m->work);
    definitions_release(&m->defs);
    sample_run_release(&m->run);
}

/* Functions and ranks of the chain of one execution: "MPI_Recv@3 MPI_Recv@2 compute@0". */
static const char *chain(struct made *m, uint32_t rank, uint32_t index)
{
    const struct cause *cause = &m->causes.cause;
    const struct scoring *w = &m->work;
    static char out[256];
    char *at = out;

    *out = '\0';
    for (uint32_t t = 0; t < w->forest.n_trees; t++)
        if (w->forest.location[t] == rank && w->forest.index[t] == index)
            assert_true(causes_of(&m->causes, &w->model, &w->place, &w->forest, t));
    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];
        uint32_t region = m->causes.view.calls[link->location].region[link->call];

        at += sprintf(at, "%s%s@%u", i ? " " : "", m->defs.region[region].name, link->location);
    }
    return out;
}

static const char *stored(struct made *m, uint32_t rank, uint32_t index)
{
    static char out[CAUSE_SIZE];
    sqlite3_stmt *query;

    assert_int_equal(rundb_prepare(m->run.db,
                                   "SELECT cause FROM execution WHERE rank = ? AND idx = ?",
                                   &query),
                     0);
    assert_int_equal(rundb_bind(m->run.db, query, "ii", (int64_t)rank, (int64_t)index), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    snprintf(out, sizeof out, "%s",
             sqlite3_column_type(query, 0) == SQLITE_NULL
                 ? "-"
                 : (const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
    return out;
}

static void a_delay_is_followed_to_where_it_began(void **state)
{
    char sentence[CAUSE_SIZE];
    struct made m;

    (void)state;
    make(&m, PROGRAM);
    for (uint32_t index = 29; index < 60; index += 30) {
        assert_string_equal(chain(&m, 3, index), "MPI_Recv@3 MPI_Recv@2 MPI_Recv@1 compute@0");
        assert_int_equal(m.causes.cause.end, CAUSE_NOT_WAITING);
        assert_true(m.causes.cause.link[3].explained_ns > 7000000);
        assert_string_equal(stored(&m, 3, index),
                            cause_sentence(&m.causes.view, &m.causes.cause, sentence));
        assert_string_equal(chain(&m, 1, index), "MPI_Recv@1 compute@0");
        assert_string_equal(chain(&m, 0, index), "compute@0");
        assert_string_equal(stored(&m, 0, index), "-");
    }
    assert_string_equal(stored(&m, 3, 10), "-");
    unmake(&m);
}

/* The clocks are corrected first; what is left of their error does no harm. */
static void wrong_clocks_do_not_mislead(void **state)
{
    struct made m;

    (void)state;
    make(&m, PROGRAM ";skew=5ms");
    assert_true(m.run.ingested.clock.n_shifted > 0);
    assert_string_equal(chain(&m, 3, 29), "MPI_Recv@3 MPI_Recv@2 MPI_Recv@1 compute@0");
    unmake(&m);
}

/* Rank 0 waits for 200,000 calls of rank 1, more than a stretch may have. */
static void a_long_wait_is_looked_at_from_its_end(void **state)
{
    const struct cause_link *last;
    struct made m;

    (void)state;
    make(&m, "synth:3*step(1:40000*a@1us 1:>1 0:<1 |);ranks=2");
    cause_of(&m.causes.view, 0, 4, INFINITY, &m.causes.stretch,
             &m.causes.cause); /* the second MPI_Recv */
    assert_int_equal(m.causes.cause.n, 2);
    assert_true(m.causes.cause.link[0].time_ns > 39000000);
    last = &m.causes.cause.link[1];
    assert_int_equal(last->location, 1);
    assert_int_equal(last->n_calls, STRETCH_MAX_CALLS - 1); /* and MPI_Send, just entered */
    assert_int_equal(last->explained_ns, 1000 * last->n_calls);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delay_is_followed_to_where_it_began),
        cmocka_unit_test(wrong_clocks_do_not_mislead),
        cmocka_unit_test(a_long_wait_is_looked_at_from_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
