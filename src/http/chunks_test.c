#include "http/request.h"

#include "test.h"

/* The data of chunks that come in pieces of so many bytes; the status of what is refused. */
static unsigned decode(const char *text, size_t piece, uint64_t most, char *out, bool *is_done)
{
    struct chunks chunks = {0};
    char bytes[512];
    size_t n = strlen(text), n_out = 0;

    for (size_t at = 0; at < n; at += piece) {
        size_t length = n - at < piece ? n - at : piece, n_data;
        struct http_refusal refusal;

        memcpy(bytes, text + at, length);
        refusal = chunks_take(&chunks, bytes, length, most - n_out, &n_data);
        if (refusal.status)
            return refusal.status;
        memcpy(out + n_out, bytes, n_data);
        n_out += n_data;
    }
    out[n_out] = '\0';
    *is_done = chunks.state == CHUNKS_DONE;
    return 0;
}

static void chunks_are_put_together_however_they_come(void **state)
{
    static const char text[] = "5\r\nhello\r\n00A;x=\"y\r\r\n";
    static const char whole[] =
        "5\r\nhello\r\n00a;x=\"y\"\r\n0123456789\r\n1\r\n!\r\n0\r\nA: b\r\nC: d\r\n\r\nafter";
    char out[512];
    bool is_done;

    (void)state;
    for (size_t piece = 1; piece < sizeof whole; piece++) {
        assert_int_equal(decode(whole, piece, 16, out, &is_done), 0);
        assert_string_equal(out, "hello0123456789!");
        assert_true(is_done);
    }
    assert_int_equal(decode(text, 3, 99, out, &is_done), 400);
    assert_int_equal(decode(whole, 7, 15, out, &is_done), 413);
}

static void what_is_no_chunk_is_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned status;
    } rows[] = {
        {"\r\n", 400},
        {";\r\n", 400},
        {"x\r\n", 400},
        {" 1\r\n", 400},
        {"1 \r\n", 400},
        {"-1\r\n", 400},
        {"0x1\r\n", 400},
        {"1\n", 400},
        {"1\ra", 400},
        {"1;\x01\r\n", 400},
        {"1;\n", 400},
        {"1\r\nab", 400},
        {"1\r\na\n", 400},
        {"1\r\na\ra", 400},
        {"0\r\nA\n", 400},
        {"0\r\n\n", 400},
        {"0\r\n\x02\r\n", 400},
        {"ffffffffffffffff\r\n", 413},
        {"00000000000000000001\r\n", 413},
    };
    char out[512];
    bool is_done;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece < 8; piece++)
            if (decode(rows[i].text, piece, 1000, out, &is_done) != rows[i].status)
                fail_msg("row %zu, in pieces of %zu", i, piece);
}

static void what_is_beside_the_data_is_bounded(void **state)
{
    static const struct {
        const char *begin, *piece;
        unsigned most;
    } rows[] = {{"1;", "a", CHUNKS_MAX_LINE_BYTES},
                {"0\r\n", "A: b\r\n", CHUNKS_MAX_TRAILER_BYTES},
                {"0\r\nA: ", "b", CHUNKS_MAX_TRAILER_BYTES}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chunks chunks = {0};
        char bytes[16];
        size_t n_data, n = 0;
        struct http_refusal refusal;

        strcpy(bytes, rows[i].begin);
        refusal = chunks_take(&chunks, bytes, strlen(bytes), 100, &n_data);
        for (; refusal.status == 0 && n <= rows[i].most; n += strlen(rows[i].piece)) {
            strcpy(bytes, rows[i].piece);
            refusal = chunks_take(&chunks, bytes, strlen(bytes), 100, &n_data);
        }
        assert_int_equal(refusal.status, 400);
        assert_true(n > rows[i].most / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_put_together_however_they_come),
        cmocka_unit_test(what_is_no_chunk_is_refused),
        cmocka_unit_test(what_is_beside_the_data_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
