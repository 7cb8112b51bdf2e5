#include "forest/foi.h"

#include "base/err.h"

#include "test.h"

struct fixture {
    struct definitions defs;
    struct profile profile;
};

static void add(struct fixture *f, const char *name, uint64_t n_calls, uint64_t ns,
                uint64_t n_vertices)
{
    uint32_t r = definitions_region(&f->defs, name);

    f->profile.row[r] = (struct profile_row){.n_calls = n_calls,
                                             .n_outermost = n_calls,
                                             .inclusive_ns = ns,
                                             .max_ns = 2 * ns / n_calls,
                                             .n_vertices = n_vertices,
                                             .n_locations = 2};
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){0};
    profile_init(&f->profile, 9);
    add(f, "main", 2, 1000000, 100000);
    add(f, "Solver::run(int)", 400, 950000, 90000);
    add(f, "Solver::compute(int)", 4000, 600000, 60000);
    add(f, "A::compute()", 10, 1000, 100);
    add(f, "MPI_Wait", 40000, 400000, 40000);
    add(f, "helper", 100000, 100, 100000);
    f->profile.n_regions = f->defs.names.n;
}

static void end(struct fixture *f)
{
    profile_release(&f->profile);
    definitions_release(&f->defs);
}

static void better_matches_come_before_parts(void **state)
{
    uint32_t region[MAX_FOIS];
    struct fixture f;
    size_t n;

    (void)state;
    begin(&f);
    assert_int_equal(foi_match("Solver::run", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(region[0], 1);
    assert_int_equal(foi_match("compute", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(region[0], 2); /* more time first */
    assert_int_equal(foi_match("Solv", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(foi_match("/^(main|help)/", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 2);
    end(&f);
}

static void what_matches_nothing_names_its_neighbours(void **state)
{
    uint32_t region[MAX_FOIS];
    struct fixture f;
    size_t n;

    (void)state;
    begin(&f);
    assert_int_equal(foi_match("comptue", &f.defs, &f.profile, region, &n), ERR_NOT_FOUND);
    assert_non_null(strstr(err_message(), "near: Solver::compute, A::compute"));
    assert_int_equal(foi_match("qqqqqqqqqqqqqqqqq", &f.defs, &f.profile, region, &n),
                     ERR_NOT_FOUND);
    assert_int_equal(foi_match("", &f.defs, &f.profile, region, &n), ERR_NOT_FOUND);
    assert_int_equal(foi_match("/a(/", &f.defs, &f.profile, region, &n), ERR_USAGE);
    end(&f);
}

static void the_step_of_the_program_is_suggested(void **state)
{
    struct foi_suggestion s[9];
    struct fixture f;

    (void)state;
    begin(&f);
    assert_int_equal(foi_suggest(&f.defs, &f.profile, 1000000, s, 9), 6);
    assert_int_equal(s[0].region, 1);
    assert_int_equal(s[1].region, 2);
    assert_string_equal(s[0].why,
                        "400 executions on 2 locations, 95 % of the time, 2.38 us each "
                        "(up to 4.75 us), 224 calls inside");
    end(&f);
}

/* A program that reads its commands: forty executions, of which one on each rank is nearly all of the
 * run. Of the step inside it one took a tenth of the time, a stop: it is suggested all the same. */
static void what_is_long_once_on_each_rank_is_not_suggested(void **state)
{
    struct foi_suggestion s[9];
    struct fixture f;

    (void)state;
    begin(&f);
    add(&f, "Input::execute_command(char*)", 40, 990000, 99000);
    f.profile.row[6].max_ns = 490000;
    f.profile.row[1].max_ns = 95000;
    f.profile.n_regions = f.defs.names.n;
    foi_suggest(&f.defs, &f.profile, 1000000, s, 9);
    assert_int_equal(s[0].region, 1);
    f.profile.row[6].max_ns = 30000;
    foi_suggest(&f.defs, &f.profile, 1000000, s, 9);
    assert_true(s[1].region == 6 || s[0].region == 6);
    end(&f);
}

/* Rank 0 deals tasks to two others for 750 ms, nearly all of which it waits for who asks;
 * of 1.5 s they work for 1 and wait for 0.5. By coverage, repetition, structure and everywhere
 * alone deal has sqrt(1/3) 0.682 2/3 = 0.262 and task sqrt(4/9 2/3) 0.441 5/6 = 0.200; that
 * deal is in MPI for 96 % of its time leaves it 0.136. */
static void who_deals_work_is_asked_about_behind_who_does_it(void **state)
{
    struct foi_suggestion s[4];
    struct fixture f = {0};
    struct profile_row *row;

    (void)state;
    profile_init(&f.profile, 9);
    add(&f, "main", 3, 2250000000, 9000);
    add(&f, "deal", 500, 750000000, 4 * 500);
    add(&f, "task", 500, 1000000000, 2 * 500);
    add(&f, "next_task", 500, 500000000, 3 * 500);
    row = f.profile.row;
    f.profile.n_regions = f.defs.names.n;
    for (uint32_t r = 0; r < 4; r++) {
        row[r].n_locations = r == 0 ? 3 : r == 1 ? 1 : 2;
        row[r].on_ns = 750000000 * (uint64_t)row[r].n_locations;
    }
    foi_suggest(&f.defs, &f.profile, 2250000000, s, 4);
    assert_int_equal(s[0].region, 1);
    row[1].looked_ns = 750000000;
    row[1].mpi_ns = 720000000;
    row[2].looked_ns = 1000000000;
    row[3].looked_ns = row[3].mpi_ns = 500000000;
    foi_suggest(&f.defs, &f.profile, 2250000000, s, 4);
    assert_int_equal(s[0].region, 2);
    assert_int_equal(s[1].region, 1);
    end(&f);
}

/* Of two locations with workers that only help, and what the system does with all of them. */
static void suggestions_say_their_share_of_their_own_locations_too(void **state)
{
    struct foi_suggestion s[9];
    struct fixture f;

    (void)state;
    begin(&f);
    add(&f, "linux:schedule", 4000, 3000000, 4000);
    f.profile.n_regions = f.defs.names.n;
    f.profile.row[1].on_ns = 1000000; /* Solver::run, of 4000000 */
    assert_true(foi_suggest(&f.defs, &f.profile, 4000000, s, 9) > 6);
    assert_int_equal(s[0].region, 1);
    assert_string_equal(s[0].why,
                        "400 executions on 2 locations, 24 % of the time (95 % of that of "
                        "these locations), 2.38 us each (up to 4.75 us), 224 calls inside");
    for (size_t i = 0; i < 7; i++)
        if (strcmp(f.defs.region[s[i].region].name, "linux:schedule") == 0)
            assert_non_null(
                strstr(s[i].why, "; of the system or the tracer, not of the program"));
    end(&f);
}

/* A function of the master threads alone, in which teams of four work. */
static void what_teams_did_in_a_function_is_its_share(void **state)
{
    struct foi_suggestion s[9];
    struct fixture f;

    (void)state;
    begin(&f);
    f.profile.row[1].forked_ns = 900000;
    assert_true(foi_suggest(&f.defs, &f.profile, 4000000, s, 9) > 5);
    assert_int_equal(s[0].region, 1);
    assert_null(strstr(s[0].why, "teams"));
    f.profile.team_ratio = 3;
    assert_true(foi_suggest(&f.defs, &f.profile, 4000000, s, 9) > 5);
    assert_string_equal(
        s[0].why, "400 executions on 2 locations, 24 % of the time, 91 % with their teams "
                  "of threads, 2.38 us each (up to 4.75 us), 224 calls inside");
    end(&f);
}

static void what_the_trace_numbers_as_a_step_need_not_be_repeated(void **state)
{
    struct foi_suggestion s[9];
    struct fixture f;

    (void)state;
    begin(&f);
    f.defs.region[0].is_step = true; /* main, once on each location */
    assert_int_equal(foi_suggest(&f.defs, &f.profile, 1000000, s, 9), 6);
    assert_int_equal(s[0].region, 0);
    end(&f);
}

static void loops_come_in_their_order_and_are_meant_by_who_says_so(void **state)
{
    struct foi_suggestion s[11];
    uint32_t region[MAX_FOIS];
    struct fixture f;
    size_t n;

    (void)state;
    begin(&f);
    profile_extend(&f.profile, f.defs.names.n + 2);
    add(&f, "loop@main", 20, 990000, 100000);
    add(&f, "loop@main#2", 4000, 990000, 100000);
    for (uint32_t r = f.defs.names.n - 2; r < f.defs.names.n; r++)
        f.defs.region[r].kind = REGION_LOOP;
    assert_int_equal(foi_match("loop", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 1);
    assert_string_equal(f.defs.region[region[0]].name, "loop@main");
    assert_int_equal(foi_match("loop@main#2", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(foi_match("mai", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 1);
    assert_string_equal(f.defs.region[region[0]].name, "main");
    assert_int_equal(foi_match("/main/", &f.defs, &f.profile, region, &n), 0);
    assert_int_equal(n, 1);

    assert_int_equal(foi_suggest(&f.defs, &f.profile, 1000000, s, 11), 8);
    assert_int_equal(s[0].region, 1); /* a good function is better */
    for (size_t i = 0, loop = 0; i < 8; i++)
        if (f.defs.region[s[i].region].kind == REGION_LOOP)
            assert_string_equal(f.defs.region[s[i].region].name,
                                loop++ == 0 ? "loop@main" : "loop@main#2");
    end(&f);
}

/* An iteration calls several functions, none of which has much of its time; then one has. */
static void the_loop_is_suggested_where_no_function_has_much_of_it(void **state)
{
    struct foi_suggestion s[4];
    struct fixture f = {0};

    (void)state;
    profile_init(&f.profile, 4);
    add(&f, "rows", 400, 390000, 5000);
    add(&f, "columns", 400, 350000, 2000);
    add(&f, "multiply", 400, 150000, 2000);
    add(&f, "loop@main", 400, 990000, 6400);
    f.profile.n_regions = f.defs.names.n;
    f.defs.region[3].kind = REGION_LOOP;
    foi_suggest(&f.defs, &f.profile, 1000000, s, 4);
    assert_int_equal(s[0].region, 3);
    f.profile.row[0].inclusive_ns = 600000;
    foi_suggest(&f.defs, &f.profile, 1000000, s, 4);
    assert_int_equal(s[0].region, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(better_matches_come_before_parts),
        cmocka_unit_test(what_matches_nothing_names_its_neighbours),
        cmocka_unit_test(the_step_of_the_program_is_suggested),
        cmocka_unit_test(what_is_long_once_on_each_rank_is_not_suggested),
        cmocka_unit_test(who_deals_work_is_asked_about_behind_who_does_it),
        cmocka_unit_test(suggestions_say_their_share_of_their_own_locations_too),
        cmocka_unit_test(what_teams_did_in_a_function_is_its_share),
        cmocka_unit_test(what_the_trace_numbers_as_a_step_need_not_be_repeated),
        cmocka_unit_test(loops_come_in_their_order_and_are_meant_by_who_says_so),
        cmocka_unit_test(the_loop_is_suggested_where_no_function_has_much_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
