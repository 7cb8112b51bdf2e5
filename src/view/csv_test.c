#include "view/csv.h"

#include "base/rng.h"

#include "test.h"

#define MAX_FIELDS 8

/* Reads one record of a text; the fields, joined by '|', go to `out`. */
static int read_one(FILE *in, char *out)
{
    static char *buffer;
    static size_t size;
    char *field[MAX_FIELDS];
    int n = csv_read(in, &buffer, &size, field, MAX_FIELDS);

    *out = '\0';
    for (int i = 0; i < n && i < MAX_FIELDS; i++)
        out += sprintf(out, "%s%s", i ? "|" : "", field[i]);
    if (n == 0) {
        free(buffer);
        buffer = NULL;
        size = 0;
    }
    return n;
}

static FILE *open_text(const char *text)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

    assert_non_null(in);
    return in;
}

static void fields_are_split_and_unquoted(void **state)
{
    FILE *in = open_text("id,label\r\n\r\n\"a, \"\"b\"\"\n c\",\n,\n\"x\"y,last");
    char out[256];

    (void)state;
    assert_int_equal(read_one(in, out), 2);
    assert_string_equal(out, "id|label");
    assert_int_equal(read_one(in, out), 2); /* the empty line is skipped */
    assert_string_equal(out, "a, \"b\"\n c|");
    assert_int_equal(read_one(in, out), 2);
    assert_string_equal(out, "|");
    assert_int_equal(read_one(in, out), 2);
    assert_string_equal(out, "xy|last");
    assert_int_equal(read_one(in, out), 0);
    fclose(in);
}

static void what_is_too_much_is_counted_only(void **state)
{
    char text[1000] = "", out[256];
    FILE *in;

    (void)state;
    for (int i = 0; i < 99; i++)
        strcat(text, "1,");
    in = open_text(text);
    assert_int_equal(read_one(in, out), 100);
    assert_string_equal(out, "1|1|1|1|1|1|1|1");
    assert_int_equal(read_one(in, out), 0);
    fclose(in);
}

/* Any text that is written comes back, whatever is in it. */
static void what_is_written_is_read(void **state)
{
    static const char letters[] = ",\"\r\n ab'=@";
    struct rng rng = {3};
    char *written = NULL, *buffer = NULL, *field[MAX_FIELDS];
    size_t length, size = 0;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        char text[3][12];
        FILE *out = open_memstream(&written, &length), *in;

        for (int i = 0; i < 3; i++) {
            size_t n = rng_below(&rng, 10);

            for (size_t k = 0; k < n; k++)
                text[i][k] = letters[rng_below(&rng, sizeof letters - 1)];
            text[i][n] = '\0';
            csv_text(out, text[i], i == 0);
        }
        fputc('\n', out);
        fclose(out);
        in = open_text(written);
        assert_int_equal(csv_read(in, &buffer, &size, field, MAX_FIELDS), 3);
        for (int i = 0; i < 3; i++)
            assert_string_equal(field[i], text[i]);
        assert_int_equal(csv_read(in, &buffer, &size, field, MAX_FIELDS), 0);
        fclose(in);
        free(written);
    }
    free(buffer);
}

/* Of a trace that a stranger made, opened with a spreadsheet. */
static void a_formula_is_a_text(void **state)
{
    static const char *const texts[] = {
        "=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(1)", "\t=1", "\r=1", "\n=1"};
    char *written = NULL;
    size_t length;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *out = open_memstream(&written, &length);

        csv_text(out, texts[i], true);
        fclose(out);
        assert_int_equal(written[*written == '"'], '\'');
        free(written);
    }
    for (int is_text = 0; is_text < 2; is_text++) {
        FILE *out = open_memstream(&written, &length);

        (is_text ? csv_text : csv_number)(out, "-1.5", true);
        fclose(out);
        assert_string_equal(written, is_text ? "'-1.5" : "-1.5");
        free(written);
    }
}

static void any_bytes_end(void **state)
{
    struct rng rng = {5};
    char *buffer = NULL, *field[MAX_FIELDS], bytes[300];
    size_t size = 0;

    (void)state;
    for (int round = 0; round < 500; round++) {
        FILE *in;
        int n_records = 0;

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = rng_below(&rng, 3) ? "\"\",\n\r"[rng_below(&rng, 5)]
                                          : (char)rng_below(&rng, 256);
        in = fmemopen(bytes, sizeof bytes, "r");
        while (csv_read(in, &buffer, &size, field, MAX_FIELDS) > 0)
            n_records++;
        assert_true(n_records <= 300);
        fclose(in);
    }
    free(buffer);
}

/* One quote that is never closed, or no line ends at all. */
static void a_record_has_a_limit(void **state)
{
    char *buffer = NULL, *field[MAX_FIELDS], *bytes = malloc(3 * CSV_MAX_BYTES);
    size_t size = 0;

    (void)state;
    memset(bytes, 'x', 3 * CSV_MAX_BYTES);
    for (int quoted = 0; quoted < 2; quoted++) {
        FILE *in;

        bytes[0] = quoted ? '"' : 'x';
        in = fmemopen(bytes, 3 * CSV_MAX_BYTES, "r");
        assert_int_equal(csv_read(in, &buffer, &size, field, MAX_FIELDS), -1);
        assert_true(size <= 2 * CSV_MAX_BYTES);
        fclose(in);
    }
    free(bytes);
    free(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_split_and_unquoted),
        cmocka_unit_test(what_is_too_much_is_counted_only),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_formula_is_a_text),
        cmocka_unit_test(any_bytes_end),
        cmocka_unit_test(a_record_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
