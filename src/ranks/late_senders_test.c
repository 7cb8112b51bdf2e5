#include "ranks/late_senders.h"

#include "sample_view.h"
#include "test.h"

static void a_receive_waits_until_its_send_is_entered(void **state)
{
    static const char *const text[] = {
        "calc@0-50 MPI_Send@50-51>1 MPI_Send@60-61>1",
        "calc@0-10 MPI_Recv@10-52<0 calc@52-70 MPI_Recv@70-71<0"};
    struct sample_view trace;
    struct late_senders late;

    (void)state;
    sample_view_init(&trace, 2, text);
    late_senders_find(&trace.view, &late);
    assert_int_equal(late.n, 1);
    assert_int_equal(late.sum_ns, 40000);
    assert_int_equal(late.worst[0].rank, 1);
    assert_int_equal(late.worst[0].sender, 0);
    assert_int_equal(late.worst[0].enter_ns, 10000);
    sample_view_release(&trace);
}

static void a_call_that_receives_several_waits_once(void **state)
{
    static const char *const text[] = {"calc@0-20 MPI_Send@20-21>2",
                                       "calc@0-50 MPI_Send@50-51>2",
                                       "calc@0-10 MPI_Waitall@10-52<<0/10<<1/10"};
    struct sample_view trace;
    struct late_senders late;

    (void)state;
    sample_view_init(&trace, 3, text);
    late_senders_find(&trace.view, &late);
    assert_int_equal(late.n, 1);
    assert_int_equal(late.sum_ns, 40000);
    assert_int_equal(late.worst[0].sender, 1);
    sample_view_release(&trace);
}

static void the_worst_are_kept_the_longest_first(void **state)
{
    static char text[2][8192];
    size_t n[2] = {0};
    struct sample_view trace;
    struct late_senders late;

    (void)state;
    for (unsigned i = 0; i < 60; i++) { /* it waits for 1 + 7 i mod 60 */
        unsigned at = i * 100, wait = 1 + 7 * i % 60;

        n[0] += (size_t)snprintf(text[0] + n[0], sizeof text[0] - n[0], "MPI_Send@%u-%u>1 ",
                                 at + wait, at + wait + 1);
        n[1] += (size_t)snprintf(text[1] + n[1], sizeof text[1] - n[1], "MPI_Recv@%u-%u<0 ", at,
                                 at + wait + 2);
    }
    sample_view_init(&trace, 2, (const char *const[]){text[0], text[1]});
    late_senders_find(&trace.view, &late);
    assert_int_equal(late.n, 60);
    assert_int_equal(late.n_worst, MAX_LATE_SENDERS);
    for (uint32_t i = 0; i < MAX_LATE_SENDERS; i++)
        assert_int_equal(late.worst[i].wait_ns, (60 - i) * 1000);
    sample_view_release(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_waits_until_its_send_is_entered),
        cmocka_unit_test(a_call_that_receives_several_waits_once),
        cmocka_unit_test(the_worst_are_kept_the_longest_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
