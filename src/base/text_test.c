#include "base/text.h"

#include "base/json.h"

#include "test.h"

static void durations_have_three_digits_and_a_unit(void **state)
{
    char out[TEXT_SIZE], range[TEXT_RANGE_SIZE];

    (void)state;
    assert_string_equal(text_score(14.476, out), "14.48");
    assert_string_equal(text_score(0.005, out), "0.01");
    assert_string_equal(text_score(0.0018, out), "0.002");
    assert_string_equal(text_score(-0.000042, out), "-0.00004");
    assert_string_equal(text_score(-1e-9, out), "0.00");
    assert_string_equal(text_score(0, out), "0.00");
    assert_string_equal(text_duration(0, out), "0 ns");
    assert_string_equal(text_duration(950, out), "950 ns");
    assert_string_equal(text_duration(49.97, out), "50 ns");
    assert_string_equal(text_duration(4.996, out), "5.00 ns");
    assert_string_equal(text_duration(38123456, out), "38.1 ms");
    assert_string_equal(text_duration(999999, out), "1.00 ms");
    assert_string_equal(text_duration(12.5e9, out), "12.5 s");
    assert_string_equal(text_duration(7.2e12, out), "7200 s");
    assert_string_equal(text_duration(-1500, out), "-1.50 us");
    assert_string_equal(text_duration_range(29.2e6, 36.4e6, range), "29.2 to 36.4 ms");
    assert_string_equal(text_duration_range(950e3, 1.2e6, range), "950 us to 1.20 ms");
    assert_string_equal(text_duration_range(0, 1.2e6, range), "at most 1.20 ms");
    assert_string_equal(text_duration_range(33e6, 36.4e6, range), "36.4 ms");
    assert_string_equal(text_duration_range(0, 0, range), "0 ns");
    assert_string_equal(text_duration_or_range(35e6, 33e6, 36.4e6, range), "35.0 ms");
    assert_string_equal(text_duration_or_range(35e6, 30e6, 36.4e6, range), "30.0 to 36.4 ms");
}

static void what_does_not_fit_is_left_out(void **state)
{
    char out[8];
    struct text_writer w = {.out = out, .size = sizeof out};

    (void)state;
    text_say(&w, "%d", 123);
    text_say(&w, "%s", "4567");
    assert_string_equal(out, "1234567");
    text_say(&w, "8");
    text_say(&w, "%s", "90");
    assert_string_equal(out, "1234567");
    assert_int_equal(w.n, 7);
}

static const char *row_name(size_t i)
{
    static const char *const names[] = {"lof", "knn", NULL};

    return names[i];
}

static void names_of_a_table_are_listed(void **state)
{
    char out[16], small[5];

    (void)state;
    assert_string_equal(text_names(row_name, out, sizeof out), "lof, knn");
    assert_string_equal(text_names(row_name, small, sizeof small), "lof,");
}

static void durations_are_read_with_their_unit(void **state)
{
    static const char *const wrong[] = {"",     "ms",    "5",   "-1ms", "1 h",
                                        "1msx", "1e30s", "nan", "0x"};
    uint64_t ns = 1;

    (void)state;
    assert_true(text_parse_duration("0", &ns));
    assert_int_equal(ns, 0);
    assert_true(text_parse_duration("2.5ms", &ns));
    assert_int_equal(ns, 2500000);
    assert_true(text_parse_duration("40ns", &ns) && ns == 40);
    assert_true(text_parse_duration("1e3s", &ns) && ns == 1000000000000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(text_parse_duration(wrong[i], &ns));
}

static void counts_are_grouped(void **state)
{
    char out[TEXT_SIZE];

    (void)state;
    assert_string_equal(text_count(0, out), "0");
    assert_string_equal(text_count(999, out), "999");
    assert_string_equal(text_count(1000, out), "1,000");
    assert_string_equal(text_count(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

static void a_time_is_said_in_utc(void **state)
{
    char out[TEXT_UTC_SIZE];

    (void)state;
    assert_string_equal(text_utc(0, out), "1970-01-01T00:00:00.000Z");
    assert_string_equal(text_utc(UINT64_C(1709164799987654321), out),
                        "2024-02-28T23:59:59.987Z");
    text_utc(UINT64_MAX, out); /* has room */
}

static void bytes_are_binary(void **state)
{
    char out[TEXT_SIZE];

    (void)state;
    assert_string_equal(text_bytes(1536, out), "1.50 KiB");
}

static void near_words_are_near(void **state)
{
    (void)state;
    assert_int_equal(text_distance("compute", "Compute", 3), 0);
    assert_int_equal(text_distance("compute", "PairEAM::compute", 3), 1);
    assert_int_equal(text_distance("comptue", "compute", 3), 2);
    assert_int_equal(text_distance("compxte", "computes", 3), 3);
    assert_int_equal(text_distance("abc", "xyzw", 3), SIZE_MAX);
}

static void control_characters_are_not_printed(void **state)
{
    char text[] = "a\nb\x1b[31m\x7f\u00fc";

    (void)state;
    assert_string_equal(text_printable(text), "a?b?[31m?\u00fc");
    {
        char c1[] = "a\xc2\x9b"
                    "31m\xc2\x9d"
                    "0;x\xc2\x9c",
             raw[] = "\x9b"
                     "31m\xff\xc3(\xed\xa0\x80|";
        char turned[] = "abc\xe2\x80\xaetxt.exe\xe2\x81\xa6\xe2\x80\xa8",
             good[] = "\u00b5s \u2026 \u65e5\u672c \U0001F600";

        assert_string_equal(text_printable(c1), "a?31m?0;x?");
        assert_string_equal(text_printable(raw), "?31m?"
                                                 "?(???|");
        assert_string_equal(text_printable(turned), "abc?txt.exe??");
        assert_string_equal(text_printable(good), "\u00b5s \u2026 \u65e5\u672c \U0001F600");
    }
}

static void what_is_no_utf8_is_replaced(void **state)
{
    size_t n;
    char *clean = text_utf8("a\xff\0\xc3\xa9\xe2\x80", 7, &n);

    (void)state;
    assert_int_equal(n, 13);
    assert_memory_equal(clean, "a\xef\xbf\xbd\0\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd", 14);
    free(clean);
}

/* Jansson, too, knows what UTF-8 is, and has no string of what it says is none. */
static void any_bytes_are_a_json_string(void **state)
{
    static const char second[] = {0x7f, '\x80', '\x8f', '\x90', '\x9f', '\xa0', '\xbf', '\xc0'};

    (void)state;
    for (int first = 1; first < 256; first++)
        for (size_t i = 0; i < sizeof second; i++) {
            const char bytes[] = {'a', (char)first, second[i], '\x80', '\x80', '\x80', 0};
            json_t *json = json_text(bytes);
            uint32_t code;

            assert_non_null(json);
            json_decref(json);
            if (first >= 0xf5) {
                assert_int_equal(text_decode(bytes + 1, &code), 1);
                assert_int_equal(code, TEXT_NO_CODE);
            }
        }
}

static void an_end_is_that_of_so_many_bytes(void **state)
{
    (void)state;
    assert_true(text_ends_with("a.json.gz", 9, ".gz"));
    assert_true(text_ends_with("a.json.gz", 6, ".json"));
    assert_true(text_ends_with(".gz", 3, ".gz"));
    assert_false(text_ends_with("gz", 2, ".gz"));
    assert_false(text_ends_with("a.gzip", 6, ".gz"));
}

static void what_is_written_to_a_text_is_in_it(void **state)
{
    char *text = NULL;
    size_t n;
    FILE *file = text_open(&text, &n);

    (void)state;
    fprintf(file, "%d of %s", 3, "4");
    fclose(file);
    assert_string_equal(text, "3 of 4");
    assert_int_equal(n, 6);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_three_digits_and_a_unit),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(names_of_a_table_are_listed),
        cmocka_unit_test(durations_are_read_with_their_unit),
        cmocka_unit_test(counts_are_grouped),
        cmocka_unit_test(a_time_is_said_in_utc),
        cmocka_unit_test(bytes_are_binary),
        cmocka_unit_test(near_words_are_near),
        cmocka_unit_test(control_characters_are_not_printed),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
        cmocka_unit_test(any_bytes_are_a_json_string),
        cmocka_unit_test(an_end_is_that_of_so_many_bytes),
        cmocka_unit_test(what_is_written_to_a_text_is_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
