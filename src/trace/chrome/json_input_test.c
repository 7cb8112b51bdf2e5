#include "trace/chrome/json_input.h"

#include <zlib.h>
#include <zstd.h>

#include "test.h"
#include "test_dir.h"

static char dir[] = "/tmp/snag-input-XXXXXX";
static char path[64];

static int setup(void **state)
{
    (void)state;
    if (test_dir(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", dir);
    return 0;
}

static void write_bytes(const void *data, size_t n)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

struct text {
    char *at;
    size_t n;
};

static void take(void *ctx, const unsigned char *text, size_t n)
{
    struct text *all = ctx;

    assert_true(n > 0 && n <= JSON_INPUT_PIECE);
    all->at = realloc(all->at, all->n + n);
    memcpy(all->at + all->n, text, n);
    all->n += n;
}

static void assert_read(const char *want, size_t n, bool want_cut)
{
    struct text all = {NULL, 0};
    bool is_cut;

    assert_int_equal(json_input_read(path, take, &all, &is_cut), 0);
    assert_int_equal(is_cut, want_cut);
    assert_int_equal(all.n, n);
    if (n > 0)
        assert_memory_equal(all.at, want, n);
    free(all.at);
}

/* One member of a gzip file. */
static size_t gzip(const char *text, size_t n, unsigned char *out, size_t size)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)text,
                  .avail_in = (unsigned)n,
                  .next_out = out,
                  .avail_out = (unsigned)size};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* Some pieces long, and not the same all over. */
static char *long_text(size_t n)
{
    char *text = malloc(n);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + (i * i / 7 + i / 1000) % 26);
    return text;
}

static void files_are_read_plain_and_unpacked(void **state)
{
    size_t n = 5 * JSON_INPUT_PIECE + 17, size = 2 * n, packed;
    char *text = long_text(n);
    unsigned char *out = malloc(size);

    (void)state;
    write_bytes(text, n);
    assert_read(text, n, false);
    packed = ZSTD_compress(out, size, text, n, 3);
    write_bytes(out, packed);
    assert_read(text, n, false);
    write_bytes(out, packed - 9);
    assert_int_equal(json_input_head(path, out, 100), 100);
    assert_memory_equal(out, text, 100);
    packed = gzip(text, n, out, size);
    write_bytes(out, packed);
    assert_read(text, n, false);
    write_bytes("", 0);
    assert_read("", 0, false);
    free(text);
    free(out);
}

static void members_of_a_gzip_file_follow_each_other(void **state)
{
    unsigned char out[4096];
    size_t n = gzip("[1,", 3, out, sizeof out);

    (void)state;
    n += gzip("2]", 2, out + n, sizeof out - n);
    write_bytes(out, n);
    assert_read("[1,2]", 5, false);
}

static void what_is_cut_off_is_said(void **state)
{
    size_t n = 3 * JSON_INPUT_PIECE, size = 2 * n, packed;
    char *text = long_text(n);
    unsigned char *out = malloc(size);
    struct text all = {NULL, 0};
    bool is_cut;

    (void)state;
    packed = gzip(text, n, out, size);
    write_bytes(out, packed / 2);
    assert_int_equal(json_input_read(path, take, &all, &is_cut), 0);
    assert_true(is_cut);
    assert_true(all.n > 0 && all.n < n);
    assert_memory_equal(all.at, text, all.n);
    assert_true(json_input_read("/nowhere/at/all", take, &all, &is_cut) < 0);
    free(all.at);
    free(text);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_plain_and_unpacked),
        cmocka_unit_test(members_of_a_gzip_file_follow_each_other),
        cmocka_unit_test(what_is_cut_off_is_said),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
