#include "trace/chrome/marks.h"

#include "base/rng.h"

#include "test.h"

/* The orders of a thread's marks as they come back. */
static const char *orders_of(struct marks *marks, const uint32_t *thread,
                             const int64_t *shift_ns, uint32_t n)
{
    static char out[4096];
    struct marks_cursor *cursor = marks_cursor_new(marks, thread, shift_ns, n);
    const struct mark *mark;
    char *at = out;

    *out = '\0';
    while ((mark = marks_cursor_next(cursor)) != NULL)
        at += sprintf(at, "%s%u@%d", at > out ? " " : "", mark->order, (int)mark->time_ns);
    assert_false(marks_cursor_is_broken(cursor));
    marks_cursor_free(cursor);
    return out;
}

static void push(struct marks *marks, uint32_t thread, int64_t time_ns, int64_t end_ns,
                 uint32_t order)
{
    marks_push(
        marks, thread,
        &(struct mark){.time_ns = time_ns, .end_ns = end_ns, .order = order, .phase = 'X'});
}

static void marks_come_back_in_order_whatever_is_kept_in_memory(void **state)
{
    static const uint32_t zero = 0, one = 1;

    (void)state;
    for (size_t budget = 1; budget < 8; budget++) {
        struct marks *marks = marks_new(budget);

        push(marks, 0, 30, 31, 0);
        push(marks, 0, 10, 11, 1);
        push(marks, 1, 5, 9, 2);
        push(marks, 0, 20, 21, 3);
        push(marks, 0, 10, 40, 4); /* of one time: as they came */
        push(marks, 1, 5, 9, 5);
        assert_int_equal(marks_end(marks), 0);
        assert_string_equal(orders_of(marks, &zero, NULL, 1), "1@10 4@10 3@20 0@30");
        assert_string_equal(orders_of(marks, &one, NULL, 1), "2@5 5@5");
        marks_free(marks);
    }
}

static void threads_are_merged_with_times_of_their_own(void **state)
{
    static const uint32_t both[] = {0, 2};
    static const int64_t shift_ns[] = {0, 100};
    struct marks *marks = marks_new(2);

    (void)state;
    push(marks, 0, 101, 102, 0);
    push(marks, 2, 3, 4, 1);
    push(marks, 0, 105, 106, 2);
    push(marks, 2, 0, 1, 3);
    assert_int_equal(marks_end(marks), 0);
    assert_string_equal(orders_of(marks, both, shift_ns, 2), "3@100 0@101 1@103 2@105");
    marks_free(marks);
}

static void many_runs_are_as_one(void **state)
{
    static const uint32_t zero = 0;
    struct marks *marks = marks_new(700);
    struct rng rng = {7};
    struct marks_cursor *cursor;
    const struct mark *mark;
    int64_t last_ns = -1;
    uint32_t n = 0;

    (void)state;
    for (uint32_t i = 0; i < 20000; i++)
        push(marks, 0, (int64_t)(rng_next(&rng) % 100000), 100001, i);
    assert_int_equal(marks_end(marks), 0);
    cursor = marks_cursor_new(marks, &zero, NULL, 1);
    for (; (mark = marks_cursor_next(cursor)) != NULL; n++) {
        assert_true(mark->time_ns >= last_ns);
        last_ns = mark->time_ns;
    }
    assert_int_equal(n, 20000);
    marks_cursor_free(cursor);
    marks_free(marks);
}

static void no_room_for_the_file_is_an_error(void **state)
{
    struct marks *marks = marks_new(1);

    (void)state;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    push(marks, 0, 1, 2, 0);
    push(marks, 0, 3, 4, 1);
    assert_true(marks_end(marks) < 0);
    unsetenv("TMPDIR");
    marks_free(marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_come_back_in_order_whatever_is_kept_in_memory),
        cmocka_unit_test(threads_are_merged_with_times_of_their_own),
        cmocka_unit_test(many_runs_are_as_one),
        cmocka_unit_test(no_room_for_the_file_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
