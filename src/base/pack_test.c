#include "base/pack.h"

#include "test.h"

static void what_is_packed_comes_back(void **state)
{
    static const uint32_t numbers[] = {7, 8, 9};
    struct pack p = {0};
    uint32_t *back;

    (void)state;
    pack_u32(&p, 5);
    pack_f64(&p, -0.25);
    pack_array(&p, numbers, 3, sizeof *numbers);
    pack_array(&p, NULL, 0, 8);
    pack_u64(&p, UINT64_MAX);
    assert_int_equal(unpack_u32(&p), 5);
    assert_true(unpack_f64(&p) == -0.25);
    assert_int_equal(unpack_count(&p, 4), 3);
    back = unpack_array(&p, 3, 4);
    assert_memory_equal(back, numbers, sizeof numbers);
    free(back);
    free(unpack_array(&p, 0, 8));
    assert_true(unpack_u64(&p) == UINT64_MAX);
    assert_false(p.is_bad);
    assert_int_equal(unpack_u32(&p), 0);
    assert_true(p.is_bad);
    pack_release(&p);
}

static void small_numbers_take_a_byte_and_any_number_comes_back(void **state)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, 1ull << 63, UINT64_MAX};
    static const unsigned char too_large[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
    struct pack p = {0}, bad = {.data = (unsigned char *)(uintptr_t)too_large, .n = 10};

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        size_t before = p.n;

        pack_varint(&p, numbers[i]);
        assert_true(i > 2 || p.n == before + 1);
    }
    pack_bytes(&p, "tail", 4);
    for (size_t i = 0; i < 8; i++)
        assert_true(unpack_varint(&p) == numbers[i]);
    assert_null(unpack_bytes(&(struct pack){.data = p.data, .n = 3}, 4));
    assert_memory_equal(unpack_bytes(&p, 4), "tail", 4);
    assert_false(p.is_bad);
    assert_true(unpack_varint(&p) == 0 && p.is_bad);
    assert_true(unpack_varint(&bad) == 0 && bad.is_bad);
    pack_release(&p);
}

/* A length that cannot be is found before memory is asked for. */
static void absurd_lengths_are_refused(void **state)
{
    struct pack p = {0};
    void *data;

    (void)state;
    pack_u64(&p, UINT64_MAX / 2);
    assert_int_equal(unpack_count(&p, 8), 0);
    data = unpack_array(&p, 3, 8);
    assert_non_null(data);
    assert_true(p.is_bad);
    free(data);
    pack_release(&p);
}

static void a_text_is_the_array_of_its_bytes(void **state)
{
    struct pack p = {0};
    char *text;
    size_t n;

    (void)state;
    pack_text(&p, "ab");
    assert_int_equal(p.n, 10);
    assert_memory_equal(p.data, "\2\0\0\0\0\0\0\0ab", 10);
    text = unpack_text(&p, &n);
    assert_string_equal(text, "ab");
    assert_int_equal(n, 2);
    free(text);
    text = unpack_text(&p, NULL);
    assert_string_equal(text, "");
    assert_true(p.is_bad);
    free(text);
    pack_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_comes_back),
        cmocka_unit_test(small_numbers_take_a_byte_and_any_number_comes_back),
        cmocka_unit_test(absurd_lengths_are_refused),
        cmocka_unit_test(a_text_is_the_array_of_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
