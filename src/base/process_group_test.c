#include "base/process_group.h"

#include "base/err.h"

#include <string.h>

#include "sample_process_group.h"
#include "test.h"

/* What is in a child cannot be asserted: it returns another number for each thing that is
 * wrong. */

static int broadcast(void *ctx, unsigned me)
{
    struct process_group *process_group;
    char text[100000] = "";
    bool is_there;

    (void)ctx;
    if (process_group_join(&process_group, NULL, 1) != 0)
        return 1;
    if (me == 0)
        memset(text, 'x', sizeof text);
    process_group_broadcast(process_group, text, sizeof text);
    is_there =
        text[0] == 'x' && text[sizeof text - 1] == 'x' && process_group_me(process_group) == me;
    process_group_leave(process_group);
    return is_there ? 0 : 2;
}

static void what_number_0_has_is_in_everybodys_hands(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 9; n++)
        assert_int_equal(sample_process_group_run(n, broadcast, NULL), 0);
}

/* Numbers 2 and 3 fail. */
static int disagree(void *ctx, unsigned me)
{
    struct process_group *process_group;
    int rc = process_group_join(&process_group, NULL, 1);

    (void)ctx;
    if (rc == 0 && process_group_agree(process_group, 0) != 0)
        rc = 1;
    if (rc == 0)
        rc = process_group_agree(process_group, me == 2 ? err_set(ERR_RANGE, "two is too many")
                                                : me == 3 ? err_set(ERR_IO, "so is three")
                                                          : 0) == ERR_RANGE
                 ? 0
                 : 2;
    process_group_leave(process_group);
    return rc;
}

static void the_first_that_fails_is_named_and_nobody_goes_on(void **state)
{
    (void)state;
    assert_int_equal(sample_process_group_run(5, disagree, NULL), 0);
    assert_non_null(strstr(err_message(), "process 2 of 5 ("));
    assert_non_null(strstr(err_message(), "): two is too many"));
}

static int do_something_else(void *ctx, unsigned me)
{
    struct process_group *process_group;
    int rc = process_group_join(&process_group, NULL, me == 1 ? 2 : 1);

    (void)ctx;
    process_group_leave(process_group);
    return rc == ERR_USAGE ? 0 : 1;
}

static void all_have_the_same_task(void **state)
{
    (void)state;
    assert_int_equal(sample_process_group_run(3, do_something_else, NULL), 0);
    assert_non_null(strstr(err_message(), "process 1 of 3 ("));
}

/* A pack from each to number 0, and what that counts. */
static int hand_in(void *ctx, unsigned me)
{
    struct pack pack = {0};
    struct process_group_tally before;
    struct process_group *process_group;
    int rc = process_group_join(&process_group, NULL, 1);

    (void)ctx;
    before = process_group_tally(process_group);
    pack_u32(&pack, 7 * me);
    if (me > 0)
        process_group_send_pack(process_group, 0, &pack);
    if (me > 0 && (process_group_tally(process_group).n_sent != before.n_sent + 2 ||
                   process_group_tally(process_group).sent_bytes != before.sent_bytes + 8 + 4))
        rc = 2;
    for (unsigned p = 1; me == 0 && p < process_group_size(process_group); p++) {
        struct pack got;

        process_group_receive_pack(process_group, p, &got);
        if (unpack_u32(&got) != 7 * p || got.is_bad)
            rc = 3;
        free(got.data);
    }
    pack_release(&pack);
    process_group_leave(process_group);
    return rc;
}

static void packs_arrive_and_are_counted(void **state)
{
    (void)state;
    assert_int_equal(sample_process_group_run(4, hand_in, NULL), 0);
}

static void nobody_else_is_a_process_group_of_one(void **state)
{
    (void)state;
    assert_int_equal(process_group_size(NULL), 1);
    assert_int_equal(process_group_me(NULL), 0);
    assert_int_equal(process_group_agree(NULL, ERR_IO), ERR_IO);
    process_group_leave(NULL);
}

static void a_library_that_is_not_there_is_said(void **state)
{
    struct process_group *process_group;

    (void)state;
    assert_int_equal(process_group_join(&process_group, "/nowhere/libsnag-none.so", 1),
                     ERR_UNSUPPORTED);
    assert_non_null(strstr(err_message(), "libsnag-none.so"));
    process_group_leave(process_group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_number_0_has_is_in_everybodys_hands),
        cmocka_unit_test(the_first_that_fails_is_named_and_nobody_goes_on),
        cmocka_unit_test(all_have_the_same_task),
        cmocka_unit_test(packs_arrive_and_are_counted),
        cmocka_unit_test(nobody_else_is_a_process_group_of_one),
        cmocka_unit_test(a_library_that_is_not_there_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
