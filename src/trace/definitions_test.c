#include "trace/definitions.h"

#include "trace/event.h"

#include "test.h"

static void equal_names_are_one_region(void **state)
{
    struct definitions defs = {0};

    (void)state;
    assert_int_equal(definitions_region(&defs, "main"), 0);
    assert_int_equal(definitions_region(&defs, "_ZN1A3runEv"), 1);
    assert_int_equal(definitions_region(&defs, "A::run()"), 1);
    assert_int_equal(definitions_region(&defs, "main"), 0);
    assert_string_equal(defs.region[1].name, "A::run()");
    assert_string_equal(defs.region[1].short_name, "A::run");
    definitions_release(&defs);
    definitions_release(&defs);
}

/* It is there before its places are, and has no calls of its own for that. */
static void a_function_of_mpi_is_known_wherever_it_is_called(void **state)
{
    struct definitions defs = {0};
    uint32_t there = definitions_region(&defs, "MPI_Wait@halo.c:45");

    (void)state;
    assert_int_equal(there, 1);
    assert_int_equal(definitions_region(&defs, "MPI_Wait"), 0);
    assert_int_equal(definitions_region(&defs, "MPI_Wait@halo.c:51"), 2);
    assert_int_equal(definitions_plain(&defs, 2), 0);
    assert_int_equal(definitions_plain(&defs, 0), 0);
    assert_int_equal(defs.region[there].kind, REGION_MPI);
    definitions_release(&defs);
}

/* Two functions of one name: which of them a call was of is not known. */
static void where_a_region_is_is_said_once(void **state)
{
    static const struct {
        const char *file;
        uint32_t line;
        const char *place;
    } said[] = {{"", 4, ""},
                {"MPI", 0, ""},
                {"src/solver.c", 17, " (solver.c:17)"},
                {"src/solver.c", 17, " (solver.c:17)"},
                {"src/other.c", 17, ""},
                {"src/solver.c", 17, ""}};
    struct definitions defs = {0};
    uint32_t at = definitions_region(&defs, "solve");
    char out[REGION_PLACE_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        definitions_source(&defs, at, said[i].file, said[i].line);
        assert_string_equal(region_place(&defs.region[at], out), said[i].place);
    }
    at = definitions_region(&defs, "!$omp for @solver.c:17");
    definitions_source(&defs, at, "src/solver.c", 17);
    assert_string_equal(region_place(&defs.region[at], out), "");
    definitions_release(&defs);
}

static void locations_are_sorted_by_rank_and_thread(void **state)
{
    static const struct process_rank known[] = {{700, 1}, {800, 0}};
    struct definitions defs = {0};

    (void)state;
    definitions_location(&defs, 9, "worker", 700);
    definitions_location(&defs, 4, "outsider", 100);
    definitions_location(&defs, 7, "master", 700);
    definitions_location(&defs, 8, "master", 800);
    definitions_finish(&defs, known, 2);
    assert_int_equal(defs.location[0].id, 8);
    assert_int_equal(defs.location[1].id, 7);
    assert_int_equal(defs.location[2].id, 9);
    assert_int_equal(defs.location[2].rank, 1);
    assert_int_equal(defs.location[2].thread, 1);
    assert_int_equal(defs.location[3].rank, 2);
    assert_int_equal(defs.n_ranks, 3);
    assert_int_equal(definitions_find_location(&defs, 1), 1);
    assert_int_equal(definitions_find_location(&defs, 5), NO_LOCATION);
    definitions_release(&defs);
}

static void peers_are_resolved_through_the_communicator(void **state)
{
    struct definitions defs = {0};
    uint32_t world = definitions_comm(&defs, "odd ranks", 2);
    uint32_t self = definitions_comm(&defs, "self", 0);
    uint32_t inter = definitions_comm(&defs, "inter", 3);

    (void)state;
    defs.comm[world].member[0] = 1;
    defs.comm[world].member[1] = 3;
    defs.comm[self].is_self = true;
    defs.comm[inter].member[0] = 7;
    defs.comm[inter].member[2] = 2; /* and 0 between them */
    defs.comm[inter].sorted = definitions_sorted(&defs, defs.comm[inter].member, 3);
    defs.comm[inter].n_remote = 1;
    defs.comm[inter].remote = (uint32_t[]){5};
    assert_int_equal(definitions_peer(&defs, world, 1, 1), 3);
    assert_int_equal(definitions_peer(&defs, world, 1, 2), NO_RANK);
    assert_int_equal(definitions_peer(&defs, self, 4, 0), 4);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(definitions_peer(&defs, inter, defs.comm[inter].member[i], 0), 5);
    assert_int_equal(definitions_peer(&defs, inter, 5, 0), 7);
    assert_int_equal(definitions_peer(&defs, inter, 0, 1), NO_RANK);
    definitions_release(&defs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_names_are_one_region),
        cmocka_unit_test(a_function_of_mpi_is_known_wherever_it_is_called),
        cmocka_unit_test(where_a_region_is_is_said_once),
        cmocka_unit_test(locations_are_sorted_by_rank_and_thread),
        cmocka_unit_test(peers_are_resolved_through_the_communicator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
