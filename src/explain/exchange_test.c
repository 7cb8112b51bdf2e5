#include "explain/exchange.h"

#include "explain/cause.h"

#include <math.h>

#include "sample_view.h"
#include "test.h"

#define TYPICAL 2000.0 /* ns, of each of these calls */

/* Who was stopped, as a call of a location sees it. */
static enum exchange_end stopped(const char *const text[2], uint32_t location, uint32_t row,
                                 double typical_ns)
{
    struct sample_view trace;
    const struct call_view *calls;
    struct waiting w;
    enum exchange_end end;

    sample_view_init(&trace, 2, text);
    calls = &trace.view.calls[location];
    waiting_of(&trace.view, location, row, calls->enter_ns[row], calls_leave(calls, row), &w);
    end = exchange_stopped(&trace.view, location, row, &w, typical_ns);
    sample_view_release(&trace);
    return end;
}

/* Rank 0 had been in its send for ten when rank 1 came. */
static const char *const first_alone[] = {
    "MPI_Irecv@0-1 calc@1-10 MPI_Send@10-60>1 MPI_Wait@60-61<<1/0",
    "MPI_Irecv@0-1 calc@1-20 MPI_Send@20-60>0 MPI_Wait@60-61<<0/0",
};

/* Both say that it was stopped. */
static void who_had_sent_alone_was_stopped(void **state)
{
    (void)state;
    assert_int_equal(stopped(first_alone, 0, 2, TYPICAL), EXCHANGE_SELF);
    assert_int_equal(stopped(first_alone, 1, 2, TYPICAL), EXCHANGE_PARTNER);
    assert_int_equal(stopped(first_alone, 1, 2, 4000),
                     EXCHANGE_NOT_KNOWN); /* it often takes so long */
    assert_int_equal(stopped(first_alone, 1, 2, NAN), EXCHANGE_NOT_KNOWN);
}

static void of_two_that_came_together_nobody_knows(void **state)
{
    static const char *const text[] = {
        "MPI_Irecv@0-1 calc@1-10 MPI_Send@10-60>1 MPI_Wait@60-61<<1/0",
        "MPI_Irecv@0-1 calc@1-12 MPI_Send@12-60>0 MPI_Wait@60-61<<0/0",
    };

    (void)state;
    assert_int_equal(stopped(text, 0, 2, TYPICAL), EXCHANGE_NOT_KNOWN);
    assert_int_equal(stopped(text, 1, 2, TYPICAL), EXCHANGE_NOT_KNOWN);
}

/* The send was over behind the receive: it waited for its receiver, which was stopped. A message
 * that went ahead was sent late, as its sender was stopped. */
static void who_receives_is_stopped_if_the_send_waited_for_it(void **state)
{
    static const char *const held[] = {"calc@0-10 MPI_Recv@10-60<1",
                                       "calc@0-20 MPI_Send@20-61>0"};
    static const char *const ahead[] = {"calc@0-10 MPI_Recv@10-60<1",
                                        "calc@0-20 MPI_Send@20-59>0"};

    (void)state;
    assert_int_equal(stopped(held, 1, 1, TYPICAL), EXCHANGE_PARTNER);
    assert_int_equal(stopped(held, 0, 1, TYPICAL), EXCHANGE_SELF);
    assert_int_equal(stopped(ahead, 1, 1, TYPICAL), EXCHANGE_NOT_KNOWN);
    assert_int_equal(stopped(ahead, 0, 1, TYPICAL), EXCHANGE_NOT_KNOWN);
}

/* Rank 0 waits for rank 1 in a barrier while that sends to it: it is there first, and holds up
 * nobody. */
static void who_waits_in_a_barrier_was_not_stopped(void **state)
{
    static const char *const text[] = {
        "MPI_Irecv@0-1 MPI_Barrier@10-62| MPI_Wait@62-63<<1/0",
        "calc@0-20 MPI_Send@20-60>0 MPI_Barrier@60-62|",
    };

    (void)state;
    assert_int_equal(stopped(text, 1, 1, TYPICAL), EXCHANGE_NOT_KNOWN);
}

/* Who came late is who was waited for, as ever. */
static void who_comes_late_was_not_stopped(void **state)
{
    static const char *const text[] = {
        "MPI_Irecv@0-1 calc@1-10 MPI_Send@10-60>1 MPI_Wait@60-61<<1/0",
        "calc@0-40 MPI_Irecv@40-41 MPI_Send@41-60>0 MPI_Wait@60-61<<0/0",
    };

    (void)state;
    assert_int_equal(stopped(text, 0, 2, TYPICAL), EXCHANGE_NOT_KNOWN);
}

static void chains_end_with_who_was_stopped(void **state)
{
    static const char *const said[] = {
        "MPI_Send 50.0 us <- rank 1 (came behind it)",
        "MPI_Send 40.0 us <- rank 0 MPI_Send 40.0 us <- rank 1 (came behind it)"};
    struct sample_view trace;
    struct stretch stretch = {0};
    struct cause cause;
    char out[CAUSE_SIZE];

    (void)state;
    sample_view_init(&trace, 2, first_alone);
    for (uint32_t rank = 0; rank < 2; rank++) {
        cause_of(&trace.view, rank, 2, rank ? 38e3 : 48e3, &stretch, &cause);
        assert_string_equal(cause_end_name(cause.end), "stopped");
        assert_int_equal(cause.link[cause.n - 1].location, 0);
        assert_string_equal(cause_sentence(&trace.view, &cause, out), said[rank]);
        assert_string_equal(
            cause_end_sentence(&trace.view, &cause, true, out),
            "rank 0 was in MPI_Send before rank 1 came, who could not go on "
            "without it: so it was stopped there, or what it sends was held up");
    }
    cause_of(&trace.view, 1, 2, INFINITY, &stretch, &cause);
    assert_string_equal(cause_end_name(cause.end), "cycle"); /* what is typical is not known */
    stretch_release(&stretch);
    sample_view_release(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_had_sent_alone_was_stopped),
        cmocka_unit_test(of_two_that_came_together_nobody_knows),
        cmocka_unit_test(who_receives_is_stopped_if_the_send_waited_for_it),
        cmocka_unit_test(who_waits_in_a_barrier_was_not_stopped),
        cmocka_unit_test(who_comes_late_was_not_stopped),
        cmocka_unit_test(chains_end_with_who_was_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
