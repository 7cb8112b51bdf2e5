/* A trace without functions, with the loop that was found in it put into its columns. */
#include "run/loop_columns.h"

#include "base/fs.h"
#include "run/columns.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "test_dir.h"

static const char program[] =
    "synth:MPI_Init |"
    " 50*step(work@1ms >1 <1 halo(>2 <2) |) MPI_Finalize;ranks=5;jitter=0.2";

struct run {
    char dir[40];
    struct source source;
    struct ingested ingested;
    struct pool *pool;
};

static void begin(struct run *r, unsigned n_threads)
{
    struct ingest_opts opts = {.dir = r->dir};

    r->pool = opts.pool = pool_new(n_threads);
    strcpy(r->dir, "/tmp/snag-loop-columns-XXXXXX");
    assert_non_null(test_dir(r->dir));
    assert_int_equal(setenv("SNAG_MPI_ONLY", "1", 1), 0);
    assert_int_equal(source_open(&r->source, program), 0);
    assert_int_equal(ingest(&r->source, &opts, &r->ingested), 0);
    unsetenv("SNAG_MPI_ONLY");
}

static int insert(struct run *r, uint32_t n)
{
    uint32_t region[MAX_LOOPS];

    for (uint32_t i = 0; i < n; i++)
        region[i] = r->ingested.loops.loop[i].region;
    return loop_columns_write(r->dir, &r->source.defs, r->pool, region, n, &r->ingested);
}

static void end(struct run *r)
{
    ingested_release(&r->ingested);
    source_close(&r->source);
    pool_free(r->pool);
    fs_remove_tree(r->dir);
}

static void iterations_are_calls_that_the_format_allows(void **state)
{
    struct columns columns;
    struct run r;

    (void)state;
    begin(&r, 2);
    assert_true(r.ingested.loops.n > 0);
    assert_int_equal(insert(&r, 1), 0);
    assert_int_equal(columns_open(&columns, r.dir), 0);
    assert_int_equal(columns_verify(&columns), 0);
    for (uint32_t l = 0; l < 5; l++) {
        struct call_view calls = columns_view(&columns, l);
        uint32_t n = 0;

        assert_int_equal(columns_check(&columns, l, &r.source.defs), 0);
        for (uint32_t i = 0; i < calls.n; i++)
            n += r.source.defs.region[calls.region[i]].kind == REGION_LOOP;
        assert_int_equal(n, 50);
        assert_int_equal(calls.n, r.ingested.location[l].n_calls);
    }
    assert_int_equal(r.ingested.profile.row[r.ingested.loops.loop[0].region].n_calls, 250);
    columns_close(&columns);
    end(&r);
}

static void messages_stay_with_the_calls_that_sent_and_received_them(void **state)
{
    static const char *const names[] = {"MPI_Send", "MPI_Recv"};
    struct columns columns;
    struct run r;

    (void)state;
    begin(&r, 2);
    assert_int_equal(insert(&r, 1), 0);
    assert_int_equal(columns_open(&columns, r.dir), 0);
    for (uint32_t l = 0; l < 5; l++) {
        struct call_view calls = columns_view(&columns, l);

        assert_int_equal(calls.n_messages, 200);
        for (size_t i = 0; i < calls.n_messages; i++) {
            const struct message *m = &calls.message[i];

            assert_string_equal(r.source.defs.region[calls.region[m->call]].name,
                                names[m->kind]);
        }
        assert_int_equal(calls.n_collectives, 51);
        for (size_t i = 0; i < calls.n_collectives; i++)
            assert_string_equal(
                r.source.defs.region[calls.region[calls.collective[i].call]].name,
                "MPI_Barrier");
    }
    columns_close(&columns);
    end(&r);
}

static void loops_that_are_not_chosen_are_called_nowhere(void **state)
{
    uint64_t n_before;
    struct run r;

    (void)state;
    begin(&r, 1);
    n_before = r.ingested.n_calls;
    assert_int_equal(insert(&r, 0), 0);
    assert_int_equal(r.ingested.n_calls, n_before);
    for (uint32_t i = 0; i < r.ingested.loops.n; i++)
        assert_int_equal(r.ingested.profile.row[r.ingested.loops.loop[i].region].n_calls, 0);
    end(&r);
}

static void the_bytes_do_not_depend_on_the_number_of_threads(void **state)
{
    struct columns columns[2];
    struct run r[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(&r[i], i == 0 ? 1 : 4);
        assert_int_equal(insert(&r[i], 1), 0);
        assert_int_equal(columns_open(&columns[i], r[i].dir), 0);
    }
    for (uint32_t l = 0; l < 5; l++)
        assert_memory_equal(columns[0].range[l].checksum, columns[1].range[l].checksum,
                            sizeof columns[0].range[l].checksum);
    for (int i = 0; i < 2; i++) {
        columns_close(&columns[i]);
        end(&r[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_calls_that_the_format_allows),
        cmocka_unit_test(messages_stay_with_the_calls_that_sent_and_received_them),
        cmocka_unit_test(loops_that_are_not_chosen_are_called_nowhere),
        cmocka_unit_test(the_bytes_do_not_depend_on_the_number_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
