/*
 * Programs as text, on one rank or several: a letter is a call, capital ones MPI's, a digit
 * after it the rank it sends to, brackets are around what it calls. The first are what the loop
 * is learnt from; all are compared with what is found in the whole trace after the run.
 */
#include "live/loop_watch.h"

#include "base/rng.h"
#include "forest/loops.h"
#include "trace/event_list.h"

#include "test.h"

#define MAX_RANKS 4

struct program {
    struct definitions defs;
    struct loop_watch *watch;
    struct event_list list[MAX_RANKS];
    size_t n_pushed[MAX_RANKS];
    struct callstack *live[MAX_RANKS], *whole[MAX_RANKS];
    struct calls live_calls[MAX_RANKS], whole_calls[MAX_RANKS];
    struct quality quality;
    uint64_t now_ns[MAX_RANKS];
    uint32_t n_ranks, n_regions;
};

static void begin(struct program *p, uint32_t n_ranks, const char *pattern, size_t most)
{
    char name[2] = "";

    *p = (struct program){.n_ranks = n_ranks, .watch = loop_watch_new(pattern, most)};
    for (char c = 'A'; c <= 'z'; c++) {
        uint32_t region;

        name[0] = c;
        region = definitions_region(&p->defs, name);
        p->defs.region[region].kind = c <= 'Z' ? REGION_MPI : REGION_USER;
    }
    p->n_regions = p->defs.names.n;
    for (uint32_t r = 0; r < n_ranks; r++) {
        definitions_location(&p->defs, r, "thread", r);
        p->live_calls[r].has_steps = p->whole_calls[r].has_steps = true;
        p->live[r] = callstack_new();
        p->whole[r] = callstack_new();
        callstack_begin(p->live[r], &p->live_calls[r], &p->quality);
        callstack_begin(p->whole[r], &p->whole_calls[r], &p->quality);
    }
    definitions_finish(&p->defs, NULL, 0);
}

static void say(struct program *p, uint32_t r, enum event_kind kind, uint32_t ref)
{
    event_list_push(&p->list[r], p->now_ns[r] += 1000, kind, ref);
}

static void run_on(struct program *p, uint32_t r, const char *text)
{
    for (; *text; text++) {
        if (*text == ')') {
            say(p, r, EVENT_LEAVE, ANY_REGION);
            continue;
        }
        say(p, r, EVENT_ENTER, (uint32_t)(*text - 'A'));
        if (text[1] >= '0' && text[1] <= '9')
            *event_list_message(&p->list[r], p->now_ns[r] += 10) = (struct message){
                .kind = MESSAGE_SEND, .peer = (uint32_t)(*++text - '0'), .tag = 1};
        if (text[1] == '(')
            text++;
        else
            say(p, r, EVENT_LEAVE, ANY_REGION);
    }
}

/* On all ranks. */
static void run(struct program *p, int n, const char *text)
{
    for (uint32_t r = 0; r < p->n_ranks; r++)
        for (int i = 0; i < n; i++)
            run_on(p, r, text);
}

static void push(struct program *p, uint32_t r, size_t until)
{
    const struct event_batch *batch = &p->list[r].all;

    callstack_regions(p->live[r], p->defs.names.n);
    loop_watch_push(p->watch, &p->defs, r, batch, p->n_pushed[r], until, p->live[r]);
    callstack_regions(p->whole[r], p->n_regions);
    callstack_push(p->whole[r], batch, p->n_pushed[r], until);
    p->n_pushed[r] = until;
}

/* All that was run since the last step, in steps of so many events. */
static void step(struct program *p, size_t n_events)
{
    bool is_more = true;

    while (is_more) {
        is_more = false;
        for (uint32_t r = 0; r < p->n_ranks; r++) {
            size_t n = p->list[r].all.n, left = n - p->n_pushed[r];

            push(p, r, p->n_pushed[r] + (left < n_events ? left : n_events));
            is_more |= p->n_pushed[r] < n;
        }
        loop_watch_step(p->watch, &p->defs);
    }
}

static void end_run(struct program *p)
{
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        loop_watch_end(p->watch, r, p->live_calls[r].last_ns, p->live[r]);
        callstack_end(p->live[r]);
        callstack_step(p->live[r]);
        callstack_end(p->whole[r]);
    }
}

static void end(struct program *p)
{
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        event_list_release(&p->list[r]);
        callstack_free(p->live[r]);
        callstack_free(p->whole[r]);
        calls_release(&p->live_calls[r]);
        calls_release(&p->whole_calls[r]);
    }
    loop_watch_free(p->watch);
    definitions_release(&p->defs);
}

/* ---------------------------------------------------------------------------- comparing */

/* The iterations of rank r that were followed to their end; those that were not are cut. */
static uint32_t iterations(const struct program *p, uint32_t r, uint64_t *begin_ns,
                           uint32_t *n_cut)
{
    const struct calls *c = &p->live_calls[r];
    uint32_t n = 0;

    *n_cut = 0;
    for (uint32_t row = 0; row < c->n; row++) {
        if (p->defs.region[c->region[row]].kind != REGION_LOOP)
            continue;
        if (c->inclusive_ns[row] == CALL_OPEN) {
            assert_true(calls_is_cut(c, row));
            ++*n_cut;
        } else {
            begin_ns[n++] = c->enter_ns[row];
        }
    }
    return n;
}

/*
 * On every rank all iterations that the whole trace has, from the number of the first that is
 * followed on but for the last, begin when they are to, or so much later. The last is cut; or,
 * when is_ended, something after it that seemed to be another one.
 */
static void assert_as_after_the_run(struct program *p, const char *name, bool is_ended,
                                    uint64_t late_ns)
{
    static uint64_t begin_ns[5000];
    struct loops_found found[MAX_RANKS];
    struct clock_fix fix[MAX_RANKS] = {{0}};
    char text[LOOP_NAME_SIZE];
    struct loops loops;

    for (uint32_t r = 0; r < p->n_ranks; r++) {
        struct call_view view = calls_view(&p->whole_calls[r]);

        loops_find(&view, &p->defs.location[r], &p->defs, false, &found[r]);
    }
    loops_elect(found, fix, &p->defs, &loops);
    assert_true(loops.n > 0);
    assert_string_equal(loop_name(&loops.loop[0], &p->defs, text), name);
    assert_int_equal(loop_watch_state(p->watch), LOOP_FOLLOWED);
    assert_int_equal(p->defs.names.n, p->n_regions + 1);
    assert_string_equal(p->defs.region[p->n_regions].name, name);
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const struct loop_part *part = &loops.loop[0].part[r];
        uint32_t first = loop_watch_first(p->watch, r), cut;
        uint32_t n = iterations(p, r, begin_ns, &cut);

        assert_int_equal(cut, 1);
        assert_true(n > 0);
        assert_int_equal(first + n + !is_ended, part->calls.n);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(begin_ns[i], part->begin_ns[first + i] + late_ns);
        loops_found_release(&found[r]);
    }
    loops_release(&loops);
    assert_false(quality_is_damaged(&p->quality));
}

static void iterations_are_those_that_are_found_after_the_run(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 2, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(ICDB");
    run(&p, 300, "RSWA");
    run(&p, 1, "GF)");
    step(&p, 50);
    end_run(&p);
    assert_as_after_the_run(&p, "loop@m", false, 0);
    end(&p);
}

static void steps_may_cut_an_iteration_anywhere(void **state)
{
    (void)state;
    for (size_t n_events = 1; n_events < 40; n_events += 3) {
        struct program p;

        begin(&p, 2, "loop", LOOP_WATCH_MAX_KEPT);
        run(&p, 1, "m(ICDB");
        run(&p, 200, "RS1S2W3a(bc)A");
        run(&p, 1, "GF)");
        step(&p, n_events);
        end_run(&p);
        assert_as_after_the_run(&p, "loop@m", false, 0);
        end(&p);
    }
}

/* Each 25th writes, each tenth rebuilds; the solver goes round twice to five times. */
static void an_iteration_that_differs_is_one(void **state)
{
    static const char *const solver[] = {"VV", "VVV", "VVVVV", "VVVV"};
    struct rng rng = {3};
    struct program p;

    (void)state;
    begin(&p, 1, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(KLD");
    for (int i = 0; i < 400; i++) {
        run(&p, 1, i % 10 == 9 ? "RSTTTWABCDEFGHIJ" : "RSWABCDEFGHIJ");
        run(&p, 1, solver[rng_below(&rng, 4)]);
        run(&p, i % 25 == 24, "O");
    }
    run(&p, 1, "G)");
    step(&p, 100);
    end_run(&p);
    assert_as_after_the_run(&p, "loop@m", false, 0);
    end(&p);
}

/* S and W come twice in each: that it goes to rank 1 tells the first S from the second, but
 * only when it is over. The border is behind it, 2.01 us later. */
static void who_takes_part_tells_calls_apart(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(IC");
    run(&p, 200, "S1WS2W");
    run(&p, 1, ")");
    step(&p, 10);
    end_run(&p);
    assert_as_after_the_run(&p, "loop@m", false, 2010);
    end(&p);
}

/* Without anything around, the loop is named after what its iterations begin with. The rest of
 * the run may belong to the last one, or not. */
static void calls_of_mpi_alone_have_a_loop_too(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 3, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "ICDB");
    run(&p, 150, "RS1WA");
    run(&p, 1, "GGF");
    step(&p, 40);
    end_run(&p);
    assert_as_after_the_run(&p, "loop@R", false, 0);
    end(&p);
}

/* m calls s 40 times, which goes round 30 times in each: the last of each is cut. */
static void what_the_return_of_the_caller_ends_is_cut(void **state)
{
    uint64_t begin_ns[1200];
    struct program p;
    uint32_t n, n_cut;

    (void)state;
    begin(&p, 1, "loop@s", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(I");
    for (int i = 0; i < 40; i++) {
        run(&p, 1, "s(K");
        run(&p, 30, "RSWA");
        run(&p, 1, "L)");
    }
    run(&p, 1, ")");
    step(&p, 60);
    end_run(&p);
    assert_int_equal(loop_watch_state(p.watch), LOOP_FOLLOWED);
    n = iterations(&p, 0, begin_ns, &n_cut);
    assert_int_equal(n + n_cut + loop_watch_first(p.watch, 0), 1200);
    assert_true(n_cut >= n / 29 && n_cut <= n / 29 + 1);
    end(&p);
}

/* A step of eight rounds, each with two exchanges: at the tenth round nothing tells that there
 * is a loop around. */
static void a_loop_around_is_waited_for(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(IC");
    for (int i = 0; i < 100; i++) {
        run(&p, 8, "RSWRTW");
        run(&p, 1, "efghijklnopqABCDEFGHIJ");
    }
    run(&p, 1, "G)");
    step(&p, 20);
    end_run(&p);
    assert_as_after_the_run(&p, "loop@m", true, 0);
    end(&p);
}

/* The second rank is always 100 events behind, and in the end as far as the first. */
static void ranks_need_not_be_at_the_same_place(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 2, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(ICDB");
    run(&p, 200, "RSWA");
    run(&p, 1, "GF)");
    for (size_t i = 0; p.n_pushed[1] < p.list[1].all.n; i += 20) {
        size_t n = p.list[0].all.n;

        if (p.n_pushed[0] < n)
            push(&p, 0, i + 20 < n ? i + 20 : n);
        if (i >= 100)
            push(&p, 1, i - 80 < n ? i - 80 : n);
        loop_watch_step(p.watch, &p.defs);
    }
    end_run(&p);
    assert_as_after_the_run(&p, "loop@m", false, 0);
    end(&p);
}

static void what_does_not_repeat_is_given_up(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1, "loop", 3000);
    run(&p, 1, "m(");
    for (uint32_t i = 1; i < 5000; i++) {
        char name[] = {(char)('A' + i * i * i % 1009 % 26), '\0'};

        run(&p, 1, name);
        if (i == 1000) {
            step(&p, 100);
            assert_int_equal(loop_watch_state(p.watch), LOOP_SOUGHT);
        }
    }
    step(&p, 100);
    assert_int_equal(loop_watch_state(p.watch), LOOP_NOT_FOUND);
    end_run(&p);
    assert_int_equal(p.live_calls[0].n, 5000);
    end(&p);
}

static void a_loop_that_is_not_meant_is_not_taken(void **state)
{
    struct program p;

    (void)state;
    begin(&p, 1, "loop@other", 1000);
    run(&p, 1, "m(");
    run(&p, 300, "RSWA");
    step(&p, 100);
    assert_int_equal(loop_watch_state(p.watch), LOOP_NOT_FOUND);
    end_run(&p);
    end(&p);
}

/* Leaves that are lost, or of nothing: the calls stay what they are without a loop but for the
 * iterations, and nothing else happens. */
static void damage_stays_where_it_is(void **state)
{
    struct program p;
    uint32_t n_loops = 0;

    (void)state;
    begin(&p, 1, "loop", LOOP_WATCH_MAX_KEPT);
    run(&p, 1, "m(IC");
    run(&p, 100, "RSWA");
    for (int i = 0; i < 100; i++) {
        run(&p, 1, "RSWA");
        say(&p, 0, i % 3 == 0 ? EVENT_ENTER : EVENT_LEAVE, (uint32_t)(i % 26));
        if (i % 5 == 0)
            say(&p, 0, EVENT_ENTER, 100000);
    }
    run(&p, 1, "G))))");
    step(&p, 30);
    end_run(&p);
    for (uint32_t row = 0; row < p.live_calls[0].n; row++)
        n_loops += p.defs.region[p.live_calls[0].region[row]].kind == REGION_LOOP;
    assert_true(n_loops > 0);
    assert_int_equal(p.live_calls[0].n, p.whole_calls[0].n + n_loops);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_those_that_are_found_after_the_run),
        cmocka_unit_test(steps_may_cut_an_iteration_anywhere),
        cmocka_unit_test(an_iteration_that_differs_is_one),
        cmocka_unit_test(who_takes_part_tells_calls_apart),
        cmocka_unit_test(calls_of_mpi_alone_have_a_loop_too),
        cmocka_unit_test(what_the_return_of_the_caller_ends_is_cut),
        cmocka_unit_test(a_loop_around_is_waited_for),
        cmocka_unit_test(ranks_need_not_be_at_the_same_place),
        cmocka_unit_test(what_does_not_repeat_is_given_up),
        cmocka_unit_test(a_loop_that_is_not_meant_is_not_taken),
        cmocka_unit_test(damage_stays_where_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
