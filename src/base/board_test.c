#include "base/board.h"

#include "base/test.h"

static void a_copy_is_what_was_written_last(void **state)
{
    struct board board;
    size_t size;
    char *copy;

    (void)state;
    board_init(&board);
    assert_null(board_copy(&board, &size));
    board_write(&board, "first", 6);
    board_write(&board, "2nd", 4);
    copy = board_copy(&board, &size);
    assert_int_equal(size, 4);
    assert_string_equal(copy, "2nd");
    free(copy);
    board_write(&board, NULL, 0);
    assert_null(board_copy(&board, &size));
    board_release(&board);
}

static void *write_many(void *arg)
{
    for (unsigned i = 1; i < 5000; i++) {
        unsigned twice[2] = {i, i};

        board_write(arg, twice, sizeof twice);
    }
    return NULL;
}

static void a_copy_is_never_half_of_two(void **state)
{
    struct board board;
    pthread_t writer;
    unsigned seen = 0;

    (void)state;
    board_init(&board);
    pthread_create(&writer, NULL, write_many, &board);
    while (seen < 4999) {
        size_t size;
        unsigned *copy = board_copy(&board, &size);

        if (copy) {
            assert_int_equal(copy[0], copy[1]);
            assert_true(copy[0] >= seen);
            seen = copy[0];
        }
        free(copy);
    }
    pthread_join(writer, NULL);
    board_release(&board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_what_was_written_last),
        cmocka_unit_test(a_copy_is_never_half_of_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
