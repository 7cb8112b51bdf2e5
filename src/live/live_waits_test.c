/*
 * Two ranks, by hand: what is known of a wait at the end of a step, and why not. Times in ns.
 *
 *     rank 0   step [ MPI_Recv 10 .. 50 ]      rank 1   ... [ MPI_Send from 40 on ]
 *
 * waits for 30.
 */
#include "live/live_waits.h"

#include "forest/traffic.h"

#include <string.h>

#include "test.h"

enum { ON_TWO = 2 };
#define US 1000u

struct stage {
    struct definitions defs;
    struct calls calls[ON_TWO];
    struct callstack *stack[ON_TWO];
    struct quality quality;
    struct live_forest trees;
    struct live_waits waits;
    struct ad_step step;
    struct own_waits own;
};

static void stage_init(struct stage *s)
{
    static uint32_t member[ON_TWO] = {0, 1};
    uint32_t comm;

    *s = (struct stage){.step = {.n_locations = ON_TWO}};
    for (uint64_t l = 0; l < ON_TWO; l++) {
        definitions_location(&s->defs, l, "Master thread", l);
        s->calls[l].has_steps = true;
        s->stack[l] = callstack_new();
        callstack_begin(s->stack[l], &s->calls[l], &s->quality);
    }
    definitions_finish(&s->defs, NULL, 0);
    comm = definitions_comm(&s->defs, "world", ON_TWO);
    s->defs.comm[comm].member = member;
    live_forest_init(&s->trees, definitions_region(&s->defs, "step"));
    live_waits_init(&s->waits);
}

static void stage_release(struct stage *s)
{
    for (int l = 0; l < ON_TWO; l++) {
        callstack_free(s->stack[l]);
        calls_release(&s->calls[l]);
    }
    live_forest_release(&s->trees);
    live_waits_release(&s->waits);
    definitions_release(&s->defs);
}

static void push(struct stage *s, uint32_t location, struct event event,
                 struct event_batch batch)
{
    batch.event = &event;
    batch.n = 1;
    callstack_push(s->stack[location], &batch, 0, 1);
}

static void enter(struct stage *s, uint32_t location, uint64_t ns, const char *name)
{
    push(s, location, (struct event){ns, EVENT_ENTER, definitions_region(&s->defs, name)},
         (struct event_batch){.n = 1});
}

static void leave(struct stage *s, uint32_t location, uint64_t ns)
{
    push(s, location, (struct event){ns, EVENT_LEAVE, ANY_REGION},
         (struct event_batch){.n = 1});
}

/* The end of a message of a location; a receive was posted at begin_ns. */
static void message(struct stage *s, uint32_t location, uint64_t ns, enum message_kind kind,
                    uint64_t begin_ns)
{
    struct message m = {.begin_ns = begin_ns,
                        .bytes = 8,
                        .peer = 1 - location,
                        .match = MESSAGE_UNMATCHED,
                        .order = (uint32_t)ns,
                        .kind = kind};

    push(s, location, (struct event){ns, EVENT_MESSAGE, 0},
         (struct event_batch){.message = &m, .n_messages = 1});
}

static void collective(struct stage *s, uint32_t location, uint64_t begin_ns, uint64_t ns,
                       uint32_t order)
{
    struct collective c = {.begin_ns = begin_ns,
                           .kind = COLLECTIVE_BARRIER,
                           .root = NO_ROOT,
                           .order = order,
                           .instance = NO_INSTANCE};

    push(s, location, (struct event){ns, EVENT_COLLECTIVE, 0},
         (struct event_batch){.collective = &c, .n_collectives = 1});
}

static void blocking(struct stage *s, uint32_t location, const char *name,
                     enum message_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
    enter(s, location, begin_ns, name);
    message(s, location, kind == MESSAGE_SEND ? begin_ns + 1 : end_ns - 1, kind, end_ns - 1);
    leave(s, location, end_ns);
}

static void end_step(struct stage *s, uint64_t ns)
{
    s->step.defs = &s->defs;
    s->step.calls = s->calls;
    s->step.begin_ns = s->step.end_ns;
    s->step.end_ns = ns;
    live_forest_clear(&s->trees);
    for (uint32_t l = 0; l < ON_TWO; l++) {
        callstack_step(s->stack[l]);
        live_forest_add(&s->trees, l, &s->calls[l], &s->defs);
    }
    live_waits_take(&s->waits, &s->step);
    s->own = live_waits_of(&s->waits, &s->step, &s->trees);
}

static void next_step(struct stage *s)
{
    live_waits_forget(&s->waits, &s->step, live_forest_oldest_ns(&s->trees));
    for (int l = 0; l < ON_TWO; l++)
        callstack_next(s->stack[l]);
    s->step.number++;
}

/* Call i of the only execution of this step waited for so long. */
static void assert_waited(struct stage *s, uint32_t i, uint64_t ns)
{
    uint64_t found = UINT64_MAX;

    assert_int_equal(s->trees.forest.n_trees, 1);
    assert_true(s->own.waited(s->own.ctx, 0, i, NAN, &found));
    assert_int_equal(found, ns);
    assert_null(live_waits_why(&s->waits, 0));
}

static void assert_unknown(struct stage *s, uint32_t i, const char *why)
{
    uint64_t found;

    assert_int_equal(s->trees.forest.n_trees, 1);
    assert_false(s->own.waited(s->own.ctx, 0, i, NAN, &found));
    assert_string_equal(live_waits_why(&s->waits, 0), why);
}

/* An execution of rank 0 that receives, from 10 to 50. */
static void receive(struct stage *s)
{
    enter(s, 0, 5, "step");
    blocking(s, 0, "MPI_Recv", MESSAGE_RECV, 10, 50);
    leave(s, 0, 60);
}

static void a_late_sender_of_the_step_is_known(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    receive(&s);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    end_step(&s, 100);
    assert_waited(&s, 1, 30);
    stage_release(&s);
}

static void a_sender_of_an_earlier_step_is_known(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    enter(&s, 0, 5, "step");
    enter(&s, 0, 10, "MPI_Recv");
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    end_step(&s, 46);
    next_step(&s);
    message(&s, 0, 49, MESSAGE_RECV, 49);
    leave(&s, 0, 50);
    leave(&s, 0, 60);
    end_step(&s, 100);
    assert_waited(&s, 1, 30);
    stage_release(&s);
}

static void what_has_no_other_end_yet_is_not_known(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    receive(&s);
    enter(&s, 1, 40, "MPI_Send");
    end_step(&s, 100);
    assert_unknown(&s, 1, "the other end of a message had not been read when it was needed");
    stage_release(&s);
}

static void a_late_receiver_is_known_when_it_has_received(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    enter(&s, 0, 5, "step");
    blocking(&s, 0, "MPI_Ssend", MESSAGE_SEND, 10, 50);
    leave(&s, 0, 60);
    blocking(&s, 1, "MPI_Recv", MESSAGE_RECV, 35, 55);
    end_step(&s, 100);
    assert_waited(&s, 1, 25);
    stage_release(&s);
}

/* Rank 1 was in its send, which rank 0 receives in the end, for 16 us before rank 0 sent: it was
 * stopped there. While it has not come out nobody knows. */
static void who_was_stopped_in_mpi_is_known_when_it_has_come_out(void **state)
{
    (void)state;
    for (int is_out = 0; is_out < 2; is_out++) {
        struct stage s;
        uint64_t found;

        stage_init(&s);
        enter(&s, 0, 1 * US, "MPI_Irecv");
        leave(&s, 0, 2 * US);
        enter(&s, 1, 1 * US, "MPI_Irecv");
        leave(&s, 1, 2 * US);
        enter(&s, 0, 15 * US, "step");
        enter(&s, 1, 4 * US, "MPI_Send");
        message(&s, 1, 5 * US, MESSAGE_SEND, 4 * US);
        enter(&s, 0, 20 * US, "MPI_Send");
        message(&s, 0, 21 * US, MESSAGE_SEND, 20 * US);
        leave(&s, 0, 50 * US);
        enter(&s, 0, 51 * US, "MPI_Wait");
        message(&s, 0, 52 * US, MESSAGE_RECV, 1 * US);
        leave(&s, 0, 53 * US);
        leave(&s, 0, 60 * US);
        if (is_out) {
            leave(&s, 1, 50 * US);
            enter(&s, 1, 51 * US, "MPI_Wait");
        }
        message(&s, 1, 52 * US, MESSAGE_RECV, 1 * US);
        end_step(&s, 100 * US);
        assert_int_equal(s.own.waited(s.own.ctx, 0, 1, 2 * US, &found), is_out);
        if (is_out)
            assert_int_equal(found, 30 * US);
        stage_release(&s);
    }
}

/* Rank 1 comes at 42; it has not come out in the first case. */
static void a_collective_is_known_when_all_are_out(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct stage s;

        stage_init(&s);
        enter(&s, 0, 5, "step");
        enter(&s, 0, 10, "MPI_Barrier");
        collective(&s, 0, 10, 50, 0);
        leave(&s, 0, 50);
        leave(&s, 0, 60);
        enter(&s, 1, 42, "MPI_Barrier");
        if (all)
            collective(&s, 1, 42, 51, 0);
        end_step(&s, 100);
        if (all)
            assert_waited(&s, 1, 32);
        else
            assert_unknown(&s, 1, "not all ranks had left a collective when it was needed");
        stage_release(&s);
    }
}

/* Who posted a send in time and completed it late was not late: Isend at 8, complete at 70, in
 * the next step; the receive takes from 10 to 50, and waits for nobody who had not come. */
static void a_send_that_is_complete_later_was_not_late(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    for (uint64_t t = 1; t < 4; t += 2) { /* so that this trace says when sends are complete */
        enter(&s, 1, t, "MPI_Isend");
        message(&s, 1, t, MESSAGE_SEND, 0);
        leave(&s, 1, t);
        push(&s, 1, (struct event){t + 1, EVENT_SENT, (uint32_t)t / 2},
             (struct event_batch){.n = 1});
        blocking(&s, 0, "MPI_Recv", MESSAGE_RECV, t, t + 1);
    }
    receive(&s);
    enter(&s, 1, 8, "MPI_Isend");
    message(&s, 1, 8, MESSAGE_SEND, 0);
    leave(&s, 1, 9);
    enter(&s, 1, 20, "MPI_Wait");
    end_step(&s, 65);
    assert_waited(&s, 1, 0);
    assert_true(s.waits.window.of[1].message[2].end_ns == SYNC_NOT_SENT);
    next_step(&s);
    push(&s, 1, (struct event){70, EVENT_SENT, 2}, (struct event_batch){.n = 1});
    leave(&s, 1, 71);
    end_step(&s, 100);
    assert_int_equal(s.waits.window.of[1].message[2].end_ns, 70);
    stage_release(&s);
}

/* The receive of the step before was over before its send began: one of the clocks is off, and
 * after the run it is put right. */
static void clocks_that_contradict_each_other_say_nothing(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    blocking(&s, 0, "MPI_Recv", MESSAGE_RECV, 1, 3);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 4, 5);
    end_step(&s, 6);
    next_step(&s);
    receive(&s);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    end_step(&s, 100);
    assert_unknown(&s, 1, "the clocks of ranks contradict each other");
    stage_release(&s);
}

static void what_was_lost_makes_all_unknown(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    receive(&s);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    s.step.n_lost = 1;
    end_step(&s, 100);
    assert_unknown(&s, 1, "events were lost");
    stage_release(&s);
}

/* Of two barriers after each other, the first contradicts itself, and nobody asks about it. */
static void collectives_that_contradict_each_other_say_nothing(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    for (uint32_t l = 0; l < ON_TWO; l++) {
        enter(&s, l, 1 + 3 * l, "MPI_Barrier");
        collective(&s, l, 1 + 3 * l, 2 + 3 * l, 0);
        leave(&s, l, 3 + 3 * l);
    }
    receive(&s);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    end_step(&s, 100);
    assert_unknown(&s, 1, "the clocks of ranks contradict each other");
    stage_release(&s);
}

/* What is recorded in a function that MPI_Recv calls is of no call of MPI that is kept. */
static void records_in_calls_that_mpi_makes_are_not_known(void **state)
{
    (void)state;
    for (int is_collective = 0; is_collective < 2; is_collective++) {
        struct stage s;

        stage_init(&s);
        enter(&s, 0, 5, "step");
        enter(&s, 0, 10, is_collective ? "MPI_Barrier" : "MPI_Recv");
        enter(&s, 0, 11, "progress");
        if (is_collective)
            collective(&s, 0, 11, 49, 0);
        else
            message(&s, 0, 49, MESSAGE_RECV, 49);
        leave(&s, 0, 49);
        leave(&s, 0, 50);
        leave(&s, 0, 60);
        blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
        end_step(&s, 100);
        assert_unknown(&s, 1, "a message or collective is not inside a call of MPI");
        stage_release(&s);
    }
}

static void calls_in_calls_of_mpi_are_not_known(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    enter(&s, 0, 5, "step");
    enter(&s, 0, 10, "MPI_Recv");
    enter(&s, 0, 11, "MPI_Wait");
    leave(&s, 0, 49);
    leave(&s, 0, 50);
    leave(&s, 0, 60);
    end_step(&s, 100);
    assert_unknown(&s, 2, "calls of MPI are inside other calls of MPI");
    stage_release(&s);
}

/* Rank 0 waits for ever, in an execution; rank 1 goes on with calls, or with messages alone. */
static void what_is_kept_is_bounded_though_a_rank_stands_still(void **state)
{
    (void)state;
    for (int of = 0; of < 2; of++) {
        struct stage s;
        uint64_t ns = 20;

        stage_init(&s);
        enter(&s, 0, 5, "step");
        enter(&s, 0, 10, "MPI_Recv");
        for (uint32_t step = 0; step < 12; step++) {
            for (uint32_t i = 0; i < LIVE_WAITS_MAX_KEPT / 10; i++, ns += 2)
                if (of == 0)
                    enter(&s, 1, ns, "MPI_Wait"), leave(&s, 1, ns + 1);
                else
                    message(&s, 1, ns, MESSAGE_SEND, ns);
            end_step(&s, ns);
            next_step(&s);
            assert_true(sync_window_size(&s.waits.window) < LIVE_WAITS_MAX_KEPT);
        }
        assert_true(sync_window_size(&s.waits.window) >= LIVE_WAITS_MAX_KEPT / 4);
        stage_release(&s);
    }
}

/* One rank has more than its share of what may be under way, but all have not too many. */
static void one_rank_may_have_what_is_under_way(void **state)
{
    enum { N = SYNC_WINDOW_MAX_PENDING / ON_TWO + 10 };
    struct stage s;
    uint64_t ns = 20;

    (void)state;
    stage_init(&s);
    for (uint32_t i = 0; i < N; i++, ns += 2)
        message(&s, 1, ns, MESSAGE_SEND, ns);
    end_step(&s, ns);
    next_step(&s);
    enter(&s, 0, ns, "step");
    blocking(&s, 0, "MPI_Recv", MESSAGE_RECV, ns + 1, ns + 10);
    leave(&s, 0, ns + 11);
    end_step(&s, ns + 12);
    assert_int_equal(s.waits.window.n_dropped, 0);
    assert_unknown(&s, 1, "a message or collective is not inside a call of MPI");
    stage_release(&s);
}

/* Two sends of rank 1, in steps of their own; the receives of rank 0 come in a third, when rank
 * 1 does nothing, and wait for the send of each. */
static void what_is_under_way_waits_for_its_other_end(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    for (uint64_t ns = 20; ns <= 40; ns += 20) {
        blocking(&s, 1, "MPI_Send", MESSAGE_SEND, ns, ns + 5);
        end_step(&s, ns + 10);
        next_step(&s);
    }
    enter(&s, 0, 5, "step");
    blocking(&s, 0, "MPI_Recv", MESSAGE_RECV, 10, 50);
    blocking(&s, 0, "MPI_Recv", MESSAGE_RECV, 51, 60);
    leave(&s, 0, 61);
    end_step(&s, 62);
    assert_waited(&s, 1, 10);
    assert_waited(&s, 2, 0);
    assert_int_equal(s.waits.window.of[0].pending.n_messages, 0);
    assert_int_equal(s.waits.window.of[1].pending.n_messages, 0);
    stage_release(&s);
}

static void too_many_messages_under_way_make_all_unknown(void **state)
{
    struct stage s;
    uint64_t ns = 100;

    (void)state;
    stage_init(&s);
    receive(&s);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    for (uint32_t i = 0; i < SYNC_WINDOW_MAX_PENDING + 10; i++, ns += 2)
        message(&s, 1, ns, MESSAGE_SEND, ns);
    end_step(&s, ns);
    assert_unknown(&s, 1, "for too many messages only the send or only the receive was read");
    assert_true(s.waits.window.of[1].pending.n_messages <= SYNC_WINDOW_MAX_PENDING);
    stage_release(&s);
}

/* All but the last call is forgotten, while the execution is open. */
static void what_is_not_kept_is_not_known(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    enter(&s, 0, 5, "step");
    blocking(&s, 0, "MPI_Recv", MESSAGE_RECV, 10, 50);
    blocking(&s, 1, "MPI_Send", MESSAGE_SEND, 40, 45);
    end_step(&s, 55);
    next_step(&s);
    sync_window_forget(&s.waits.window, SYNC_WAITS, 52);
    leave(&s, 0, 60);
    end_step(&s, 100);
    assert_unknown(&s, 1, "calls of that time are no longer kept in memory");
    stage_release(&s);
}

static void teams_are_of_one_rank_and_gpus_are_not_followed(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    enter(&s, 0, 5, "step");
    enter(&s, 0, 10, "!$omp barrier");
    leave(&s, 0, 50);
    enter(&s, 0, 51, "cudaDeviceSynchronize");
    leave(&s, 0, 70);
    leave(&s, 0, 80);
    end_step(&s, 100);
    assert_waited(&s, 1, 0);
    assert_unknown(&s, 2, "waits for GPUs are only followed after the run");
    stage_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_sender_of_the_step_is_known),
        cmocka_unit_test(a_sender_of_an_earlier_step_is_known),
        cmocka_unit_test(what_has_no_other_end_yet_is_not_known),
        cmocka_unit_test(a_late_receiver_is_known_when_it_has_received),
        cmocka_unit_test(who_was_stopped_in_mpi_is_known_when_it_has_come_out),
        cmocka_unit_test(a_collective_is_known_when_all_are_out),
        cmocka_unit_test(a_send_that_is_complete_later_was_not_late),
        cmocka_unit_test(clocks_that_contradict_each_other_say_nothing),
        cmocka_unit_test(collectives_that_contradict_each_other_say_nothing),
        cmocka_unit_test(records_in_calls_that_mpi_makes_are_not_known),
        cmocka_unit_test(calls_in_calls_of_mpi_are_not_known),
        cmocka_unit_test(what_is_kept_is_bounded_though_a_rank_stands_still),
        cmocka_unit_test(one_rank_may_have_what_is_under_way),
        cmocka_unit_test(what_is_under_way_waits_for_its_other_end),
        cmocka_unit_test(too_many_messages_under_way_make_all_unknown),
        cmocka_unit_test(what_was_lost_makes_all_unknown),
        cmocka_unit_test(what_is_not_kept_is_not_known),
        cmocka_unit_test(teams_are_of_one_rank_and_gpus_are_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
