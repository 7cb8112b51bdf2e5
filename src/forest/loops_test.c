/*
 * Programs as sequences of calls, each in one line of C. A call is named by a letter: capital
 * ones are MPI's, 1 us long, small ones functions of 10 us; ten microseconds are between them.
 */
#include "forest/loops.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define MAX_RANKS 4

struct program {
    struct definitions defs;
    struct calls calls[MAX_RANKS];
    uint64_t now_ns;
    uint32_t n_ranks, depth;
    bool goes_on;
    struct loops_found found[MAX_RANKS];
    struct clock_fix fix[MAX_RANKS];
    struct profile profile;
    struct loops loops;
};

static void begin(struct program *p, uint32_t n_ranks)
{
    char name[2] = "";

    *p = (struct program){.n_ranks = n_ranks};
    for (char c = 'A'; c <= 'z'; c++) {
        uint32_t region;

        name[0] = c;
        region = definitions_region(&p->defs, name);
        p->defs.region[region].kind = c <= 'Z' ? REGION_MPI : REGION_USER;
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        definitions_location(&p->defs, r, "thread", r);
        calls_clear(&p->calls[r]);
    }
    definitions_finish(&p->defs, NULL, 0);
}

static struct calls *last_rank(struct program *p)
{
    return &p->calls[p->n_ranks - 1];
}

static uint32_t add(struct program *p, struct calls *calls, char c, uint64_t ns)
{
    uint32_t row = calls->n;

    calls_reserve(calls, 1);
    calls->n++;
    calls->region[row] = (uint32_t)(c - 'A');
    calls->enter_ns[row] = p->now_ns += 10000;
    calls->inclusive_ns[row] = ns;
    calls->subtree_len[row] = 1;
    calls->depth[row] = (uint16_t)p->depth;
    p->now_ns += ns;
    return row;
}

/* On rank r. */
static void run_on(struct program *p, uint32_t r, const char *text)
{
    for (; *text; text++)
        add(p, &p->calls[r], *text, *text <= 'Z' ? 1000 : 10000);
}

static void run(struct program *p, const char *text)
{
    run_on(p, p->n_ranks - 1, text);
}

static void repeat(struct program *p, int n, const char *text)
{
    for (int i = 0; i < n; i++)
        run(p, text);
}

static uint32_t enter(struct program *p, char c)
{
    uint32_t row = add(p, last_rank(p), c, 0);

    p->depth++;
    return row;
}

static void leave(struct program *p, uint32_t row)
{
    struct calls *calls = last_rank(p);

    p->depth--;
    calls->inclusive_ns[row] = p->now_ns - calls->enter_ns[row];
    calls->subtree_len[row] = calls->n - row;
}

static void find(struct program *p)
{
    profile_init(&p->profile, p->defs.names.n);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        struct call_view view = calls_view(&p->calls[r]);

        loops_find(&view, &p->defs.location[r], &p->defs, p->goes_on, &p->found[r]);
    }
    loops_agree(p->found, p->fix, &p->defs, &p->profile, &p->loops);
}

static void end(struct program *p)
{
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        loops_found_release(&p->found[r]);
        calls_release(&p->calls[r]);
    }
    loops_release(&p->loops);
    profile_release(&p->profile);
    definitions_release(&p->defs);
}

static const char *name_of(const struct program *p, uint32_t i)
{
    return p->defs.region[p->loops.loop[i].region].name;
}

/* The best loop is this one, goes round n times on all ranks, and begins with that call. */
static void assert_best(const struct program *p, const char *name, uint32_t n, uint32_t row)
{
    assert_true(p->loops.n > 0);
    assert_string_equal(name_of(p, 0), name);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        assert_int_equal(p->loops.loop[0].part[r].calls.n, n);
        assert_int_equal(p->loops.loop[0].part[r].calls.begin[0], row);
    }
}

/* Half of the calls of A are followed by B and C, the last by nothing, and all by what hardly
 * comes again: all are dropped as unlike. */
static void calls_that_are_never_followed_alike_are_no_loop(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "ABCabcdAefgABChijkAlmnABCopqrAstuABCvwxaAbefABCcghiAjklABCdmnoApqrABCstuvA");
    find(&p);
    assert_int_equal(p.loops.n, 0);
    end(&p);
}

static void a_loop_has_neither_what_is_before_nor_what_is_after_it(void **state)
{
    const struct loop_part *part;
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "ICDB");
    repeat(&p, 50, "RSWA");
    run(&p, "GF");
    find(&p);
    assert_best(&p, "loop@R", 50, 4);
    part = &p.loops.loop[0].part[0];
    for (uint32_t i = 0; i < part->calls.n; i++) {
        assert_int_equal(part->calls.begin[i], 4 + 4 * i);
        assert_int_equal(part->calls.end[i], 8 + 4 * i);
    }
    assert_int_equal(part->ns[0], 44000);  /* until the next begins */
    assert_int_equal(part->ns[49], 44000); /* as typical */
    assert_int_equal(p.profile.row[p.loops.loop[0].region].n_calls, 50);
    assert_int_equal(p.defs.region[p.loops.loop[0].region].kind, REGION_LOOP);
    end(&p);
}

static void the_step_is_around_an_inner_loop_that_goes_round_now_more_now_less(void **state)
{
    struct rng rng = {1};
    struct program p;

    (void)state;

    begin(&p, 1);
    run(&p, "IB");
    for (int i = 0; i < 60; i++) {
        run(&p, "RSWRSWA");
        repeat(&p, 5 + (int)rng_below(&rng, 20), "DEH");
        run(&p, "TUVX");
    }
    run(&p, "GF");
    find(&p);
    assert_best(&p, "loop@R", 60, 2);
    end(&p);
}

static void a_step_that_also_writes_is_one_step(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "IB");
    for (int i = 1; i <= 205; i++)
        run(&p, i % 10 == 0 ? "RRSSWAOP" : "RRSSWA");
    run(&p, "F");
    find(&p);
    assert_best(&p, "loop@R", 205, 2);
    end(&p);
}

static void what_writes_for_long_makes_no_longer_steps(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    for (int i = 1; i <= 300; i++) {
        run(&p, "RRSSWA");
        if (i % 30 == 0)
            add(&p, &p.calls[0], 'o', 500000);
    }
    find(&p);
    assert_best(&p, "loop@R", 300, 0);
    end(&p);
}

/* Which is begun with what the rest of a step has in common. */
static void a_rebuild_in_place_of_the_exchange_is_one_step(void **state)
{
    struct rng rng = {1};
    int n = 0, to_rebuild = 8;
    struct program p;

    (void)state;

    begin(&p, 1);
    run(&p, "IB");
    for (; n < 400; n++) {
        if (--to_rebuild == 0) {
            run(&p, "MNMNMNKLKL");
            to_rebuild = 6 + (int)rng_below(&rng, 8);
        } else {
            run(&p, "RSWRSW");
        }
        run(&p, "UVX");
    }
    run(&p, "GF");
    find(&p);
    assert_true(p.loops.n > 0);
    assert_int_equal(p.loops.loop[0].part[0].calls.n, 400);
    end(&p);
}

static void the_set_up_does_what_a_rebuild_does_and_is_no_step(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "ICMNMNRSWKLKLTUVA");
    for (int i = 1; i <= 103; i++)
        run(&p, i % 10 == 0 ? "MNMNRSWKLKLTUVA" : "RSWTUV");
    run(&p, "GF");
    find(&p);
    assert_best(&p, "loop@R", 103, 17);
    end(&p);
}

static void a_warm_up_before_a_barrier_is_no_step(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "ICRSWVRSWVB");
    repeat(&p, 200, "RSWVRTWV");
    run(&p, "GF");
    find(&p);
    assert_best(&p, "loop@R", 200, 11);
    end(&p);
}

static void what_all_but_the_last_end_with_is_what_the_next_begins_with(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "ISWB");
    for (int i = 0; i < 80; i++)
        run(&p, i == 0 ? "RSWTVUX" : "ARSWTVUX");
    run(&p, "GF");
    find(&p);
    assert_best(&p, "loop@R", 80, 4);
    assert_int_equal(p.loops.loop[0].part[0].calls.begin[1], 11); /* an A */
    assert_int_equal(p.loops.loop[0].part[0].calls.begin[2], 19);
    end(&p);
}

static void exchanges_with_computing_after_few_of_them_are_no_steps(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 8; k++) {
            run(&p, k == 0 ? "QSW" : "RSW");
            p.now_ns += k % 4 == 3 ? 1000000 : 0;
        }
    run(&p, "F");
    find(&p);
    assert_best(&p, "loop@Q", 100, 0);
    end(&p);
}

static void phases_are_loops_of_their_own(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    run(&p, "I");
    repeat(&p, 100, "RSWA");
    run(&p, "B");
    repeat(&p, 70, "KLMNO");
    run(&p, "F");
    find(&p);
    assert_int_equal(p.loops.n, 2);
    assert_string_equal(name_of(&p, 0), "loop@R");
    assert_int_equal(p.loops.loop[0].part[0].calls.n, 100);
    assert_string_equal(name_of(&p, 1), "loop@K");
    assert_int_equal(p.loops.loop[1].part[0].calls.n, 70);
    end(&p);
}

/* The run is at SW of its 41st step; A is called last in all others. */
static void of_a_loop_that_goes_on_the_last_iteration_is_left_out(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    p.goes_on = true;
    run(&p, "ICDB");
    repeat(&p, 40, "RRSWA");
    run(&p, "RRSW");
    find(&p);
    assert_best(&p, "loop@R", 40, 4);
    end(&p);
}

/* What comes in one step of ten may be what a loop around them does; nothing is said of why. */
static void iterations_that_do_more_than_others_are_counted(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    for (int i = 0; i < 10; i++) {
        repeat(&p, 9, "RSWA");
        run(&p, "RSWOA");
    }
    find(&p);
    assert_int_equal(p.loops.loop[0].part[0].calls.n, 100);
    assert_int_equal(p.loops.loop[0].part[0].n_odd, 10);
    end(&p);
}

static void where_nothing_repeats_there_is_no_loop(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1);
    find(&p);
    assert_int_equal(p.loops.n, 0);
    end(&p);
    begin(&p, 1);
    run(&p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    find(&p);
    assert_int_equal(p.loops.n, 0);
    end(&p);
}

static void a_loop_is_named_after_the_function_that_runs_it(void **state)
{
    uint32_t main_row, run_row;
    struct program p;

    (void)state;
    begin(&p, 1);
    main_row = enter(&p, 'm');
    run(&p, "I");
    for (int i = 0; i < 2; i++) { /* each time it is called */
        run_row = enter(&p, 'r');
        repeat(&p, 40, "RsSWtA");
        leave(&p, run_row);
    }
    run(&p, "F");
    leave(&p, main_row);
    find(&p);
    assert_best(&p, "loop@r", 80, 3);
    end(&p);
}

static void a_function_that_is_all_of_a_step_is_no_loop(void **state)
{
    uint32_t main_row;
    struct program p;

    (void)state;
    begin(&p, 1);
    main_row = enter(&p, 'm');
    for (int i = 0; i < 100; i++) {
        add(&p, &p.calls[0], 's', 1000000);
        run(&p, "A");
    }
    leave(&p, main_row);
    find(&p);
    assert_int_equal(p.loops.n, 0);
    end(&p);
}

/* What is called is a third of each iteration, and the rest the caller's own, after it. */
static void the_only_call_of_an_iteration_that_computes_is_no_step(void **state)
{
    uint32_t main_row;
    struct program p;

    (void)state;
    begin(&p, 1);
    main_row = enter(&p, 'm');
    for (int i = 0; i < 40; i++) {
        add(&p, &p.calls[0], 'e', 100000);
        p.now_ns += 190000;
    }
    leave(&p, main_row);
    find(&p);
    assert_best(&p, "loop@m", 40, 1);
    assert_int_equal(p.loops.loop[0].part[0].ns[20], 300000);
    end(&p);
}

/* On rank r, with so much time between one and the next. */
static void repeat_slowly(struct program *p, uint32_t r, int n, const char *text, uint64_t ns)
{
    for (int i = 0; i < n; i++) {
        run_on(p, r, text);
        p->now_ns += ns;
    }
}

/* The first phase is longer on rank 0, the second on rank 1. */
static void loops_with_as_many_iterations_are_told_apart_by_their_times(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 2);
    repeat_slowly(&p, 0, 50, "RSWA", 100000);
    p.now_ns = 8000000;
    repeat_slowly(&p, 0, 50, "KLMNO", 0);
    p.now_ns = 0;
    repeat_slowly(&p, 1, 50, "RSWA", 0);
    p.now_ns = 8000000;
    repeat_slowly(&p, 1, 50, "KLMNO", 100000);
    find(&p);
    assert_int_equal(p.loops.n, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(p.loops.loop[i].part[0].calls.begin[0],
                         p.loops.loop[i].part[1].calls.begin[0]);
    end(&p);
}

/* Rank 0 does the same once more before the loop, and its clock is wrong. */
static void an_iteration_has_the_same_number_on_all_ranks(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 2);
    run_on(&p, 0, "RSWA");
    for (int i = 0; i < 50; i++)
        run_on(&p, 0, "RSWA");
    p.now_ns = 44000 + 5000000;
    for (int i = 0; i < 50; i++)
        run_on(&p, 1, "RSWA");
    p.fix[1].offset_ns = -5000000;
    find(&p);
    assert_int_equal(p.loops.n, 1);
    assert_int_equal(p.loops.loop[0].part[0].calls.n, 50);
    assert_int_equal(p.loops.loop[0].part[0].calls.begin[0], 4);
    assert_int_equal(p.loops.loop[0].part[1].calls.n, 50);
    assert_int_equal(p.loops.loop[0].part[1].calls.begin[0], 0);
    end(&p);
}

/* 50 times two calls, by a thread of the program, by one of a team, and by a GPU. */
static void what_helpers_do_between_their_calls_is_no_part_of_a_loop(void **state)
{
    static const struct {
        const char *text;
        uint32_t thread;
        bool is_gpu;
        uint32_t n_loops;
    } tries[] = {
        {"ab", 1, false, 1}, {"pq", 0, false, 1}, {"pq", 1, false, 0}, {"ab", 0, true, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct program p;

        begin(&p, 1);
        p.defs.location[0].thread = tries[i].thread;
        p.defs.location[0].is_gpu = tries[i].is_gpu;
        p.defs.region['p' - 'A'].kind = p.defs.region['q' - 'A'].kind = REGION_OPENMP;
        repeat(&p, 50, tries[i].text);
        find(&p);
        assert_int_equal(p.loops.n, tries[i].n_loops);
        end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_are_never_followed_alike_are_no_loop),
        cmocka_unit_test(a_loop_has_neither_what_is_before_nor_what_is_after_it),
        cmocka_unit_test(the_step_is_around_an_inner_loop_that_goes_round_now_more_now_less),
        cmocka_unit_test(a_step_that_also_writes_is_one_step),
        cmocka_unit_test(what_writes_for_long_makes_no_longer_steps),
        cmocka_unit_test(a_rebuild_in_place_of_the_exchange_is_one_step),
        cmocka_unit_test(the_set_up_does_what_a_rebuild_does_and_is_no_step),
        cmocka_unit_test(a_warm_up_before_a_barrier_is_no_step),
        cmocka_unit_test(what_all_but_the_last_end_with_is_what_the_next_begins_with),
        cmocka_unit_test(exchanges_with_computing_after_few_of_them_are_no_steps),
        cmocka_unit_test(phases_are_loops_of_their_own),
        cmocka_unit_test(of_a_loop_that_goes_on_the_last_iteration_is_left_out),
        cmocka_unit_test(iterations_that_do_more_than_others_are_counted),
        cmocka_unit_test(where_nothing_repeats_there_is_no_loop),
        cmocka_unit_test(a_loop_is_named_after_the_function_that_runs_it),
        cmocka_unit_test(a_function_that_is_all_of_a_step_is_no_loop),
        cmocka_unit_test(the_only_call_of_an_iteration_that_computes_is_no_step),
        cmocka_unit_test(loops_with_as_many_iterations_are_told_apart_by_their_times),
        cmocka_unit_test(an_iteration_has_the_same_number_on_all_ranks),
        cmocka_unit_test(what_helpers_do_between_their_calls_is_no_part_of_a_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
