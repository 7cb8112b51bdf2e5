/* The known hashes are what the functions of libxxhash, not inlined, return. */
#include "base/checksum.h"

#include "test.h"

#define MAX_BYTES 5000

static void fill(unsigned char data[MAX_BYTES])
{
    for (size_t i = 0; i < MAX_BYTES; i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
}

static void it_is_xxh3(void **state)
{
    static const struct {
        size_t bytes;
        uint64_t hash, seeded_42;
    } known[] = {
        {0, 0x2d06800538d394c2, 0xb029411ff43d84d2},
        {1, 0xc44bdff4074eecdb, 0x5cf10f10bf2dd245},
        {16, 0x9da23836adf2be1e, 0x93b3fa7dc2d7c0df},
        {129, 0x28065c6ec25f5b25, 0xc257ab1a853aed31},
        {240, 0x4917a75c0ef8eed7, 0x1a71cf2c4bb35242},
        {241, 0x541b19226f0052e8, 0x30aa8f89cc1dfbfc},
        {1024, 0x71bee625238addb4, 0x2ad97bde93f9d618},
        {4999, 0x91baed057f6ceb56, 0xf5eec704df5c13c5},
    };
    unsigned char data[MAX_BYTES];

    (void)state;
    fill(data);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(checksum_of(data, known[i].bytes), known[i].hash);
        assert_int_equal(checksum_seeded(data, known[i].bytes, 42), known[i].seeded_42);
    }
}

static void pieces_give_what_the_whole_gives(void **state)
{
    unsigned char data[MAX_BYTES];
    struct checksum sum;

    (void)state;
    fill(data);
    for (size_t piece = 1; piece < MAX_BYTES; piece = piece * 3 + 1) {
        checksum_begin(&sum);
        for (size_t at = 0; at < MAX_BYTES; at += piece)
            checksum_add(&sum, data + at, MAX_BYTES - at < piece ? MAX_BYTES - at : piece);
        assert_int_equal(checksum_end(&sum), checksum_of(data, MAX_BYTES));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_xxh3),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
