/* The plain functions of libxxhash are the other implementation. */
#include "base/checksum.h"

#include "base/test.h"

#define MOST 5000

static void fill(unsigned char data[MOST])
{
    for (size_t i = 0; i < MOST; i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
}

static void it_is_xxh3_whatever_the_vectors(void **state)
{
    unsigned char data[MOST];

    (void)state;
    fill(data);
    for (size_t n = 0; n < MOST; n += 1 + n / 8) {
        assert_int_equal(checksum_of(data, n), XXH3_64bits(data, n));
        assert_int_equal(checksum_seeded(data, n, 42), XXH3_64bits_withSeed(data, n, 42));
    }
}

static void pieces_give_what_the_whole_gives(void **state)
{
    unsigned char data[MOST];
    struct checksum sum;

    (void)state;
    fill(data);
    for (size_t piece = 1; piece < MOST; piece = piece * 3 + 1) {
        checksum_begin(&sum);
        for (size_t at = 0; at < MOST; at += piece)
            checksum_add(&sum, data + at, MOST - at < piece ? MOST - at : piece);
        assert_int_equal(checksum_end(&sum), checksum_of(data, MOST));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_xxh3_whatever_the_vectors),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
