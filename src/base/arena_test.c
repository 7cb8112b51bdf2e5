#include "base/arena.h"

#include "test.h"

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
    struct arena a = {0};
    char *first = arena_array(&a, char, 3);
    char *second = arena_array(&a, char, 1 << 20);

    (void)state;
    memset(first, 1, 3);
    memset(second, 2, 1 << 20);
    assert_int_equal((uintptr_t)first % 64, 0);
    assert_int_equal((uintptr_t)second % 64, 0);
    assert_int_equal(first[2], 1);
    arena_release(&a);
}

static void restore_gives_the_same_memory_again(void **state)
{
    struct arena a = {0};
    int *kept = arena_zeros(&a, int, 10);
    struct arena_mark mark = arena_mark(&a);
    void *before = arena_alloc(&a, 100, 1);

    (void)state;
    arena_alloc(&a, 1 << 20, 8);
    arena_restore(&a, mark);
    assert_ptr_equal(arena_alloc(&a, 100, 1), before);
    assert_int_equal(kept[9], 0);
    arena_release(&a);
    arena_release(&a);
}

static void strings_are_copied(void **state)
{
    struct arena a = {0};
    char text[] = "abc";
    char *copy = arena_string(&a, text);

    (void)state;
    text[0] = 'x';
    assert_string_equal(copy, "abc");
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_do_not_overlap),
        cmocka_unit_test(restore_gives_the_same_memory_again),
        cmocka_unit_test(strings_are_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
