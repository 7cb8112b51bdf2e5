/* Texts go through whole, and byte by byte; both must be the same. */
#include "trace/chrome/json_input.h"

#include "test.h"

/* Byte by byte, commas come after the blanks that follow them, so these are not compared. */
static size_t take_blanks_out(unsigned char *text, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (strchr(" \t\r\n", text[i]) == NULL)
            text[left++] = text[i];
    return left;
}

static void assert_filtered(const char *text, const char *want)
{
    size_t n = strlen(text), all, step = 0;
    unsigned char *whole = malloc(JSON_FILTER_ROOM(n)), *parts = malloc(JSON_FILTER_ROOM(n));
    unsigned char some[JSON_FILTER_ROOM(1)];
    struct json_filter filter = {0};

    all = json_filter(&filter, (const unsigned char *)text, n, whole);
    assert_int_equal(all, strlen(want));
    assert_memory_equal(whole, want, all);
    filter = (struct json_filter){0};
    for (size_t i = 0; i < n; i++) {
        size_t m = json_filter(&filter, (const unsigned char *)text + i, 1, some);

        assert_true(m <= sizeof some);
        memcpy(parts + step, some, m);
        step += m;
    }
    all = take_blanks_out(whole, all);
    assert_int_equal(take_blanks_out(parts, step), all);
    assert_memory_equal(parts, whole, all);
    free(whole);
    free(parts);
}

static void json_stays_as_it_is(void **state)
{
    static const char text[] = "[ {\"a\": [1, -2.5e+3], \"b,}\": \"x\\\"/*,]\\\\\"},\n"
                               "\t{\"c\": true, \"d\": {}} ]\r\n";

    (void)state;
    assert_filtered(text, text);
    assert_filtered("", "");
}

static void commas_that_part_nothing_are_left_out(void **state)
{
    (void)state;
    assert_filtered("{\"a\":1,}", "{\"a\":1 }");
    assert_filtered("[1,2 , \n ]", "[1,2   \n ]");
    assert_filtered("[1,,2]", "[1 ,2]");
    assert_filtered("[,{\"a\":1}\n,{,\"b\":2},]", "[ {\"a\":1}\n,{ \"b\":2} ]");
    assert_filtered(", {}", "  {}");
    assert_filtered("[,]", "[ ]");
    assert_filtered("[1, // no\n ]", "[1  \n ]");
    assert_filtered("{\"a\":\",}\"}", "{\"a\":\",}\"}");
}

static void commas_between_brackets_are_put_in(void **state)
{
    (void)state;
    assert_filtered("{}\n{\"a\":[[][]]}\n[]", "{}\n,{\"a\":[[],[]]}\n,[]");
    assert_filtered("{}, {}", "{}, {}");
    assert_filtered("{}/* a */{}", "{},{}");
    assert_filtered("{} \"a\" {}", "{} \"a\" {}"); /* nonsense stays nonsense */
}

static void what_is_no_number_is_null(void **state)
{
    (void)state;
    assert_filtered("[NaN, Infinity,inf,nan]", "[null, null,null,null]");
    assert_filtered("[-inf,-Infinity ,-nan,-NaN]", "[-1e999,-1e999 ,-1e999,-1e999]");
    assert_filtered("[null,true,-1,1e5]", "[null,true,-1,1e5]");
    assert_filtered("[\"NaN\"]", "[\"NaN\"]");
}

static void marks_and_comments_are_left_out(void **state)
{
    (void)state;
    assert_filtered("\xef\xbb\xbf[1]", "[1]");
    assert_filtered("[/* a **/1/**/,2]// end", "[1,2]");
    assert_filtered("[1 / 2]", "[1 / 2]");
    assert_filtered("[\"/* a */\"]", "[\"/* a */\"]");
}

static void an_open_string_ends_with_its_line(void **state)
{
    (void)state;
    assert_filtered("[\"a\n{\"b\":1,}", "[\"a\n{\"b\":1 }");
}

/* An opening quote, n bytes of what is said, a closing quote. */
static void assert_cut(const char *repeated, size_t n, size_t want, bool is_cut)
{
    size_t length = strlen(repeated) * n;
    unsigned char *text = malloc(length + 2), *out = malloc(length + 5);
    struct json_filter filter = {0};

    text[0] = text[length + 1] = '"';
    for (size_t i = 0; i < n; i++)
        memcpy(text + 1 + i * strlen(repeated), repeated, strlen(repeated));
    assert_int_equal(json_filter(&filter, text, length + 2, out), want + 2 + is_cut);
    assert_int_equal(out[want + 1 + is_cut], '"');
    assert_memory_equal(out, text, want + 1);
    if (is_cut)
        assert_int_equal(out[want + 1], JSON_CUT);
    free(text);
    free(out);
}

static void long_strings_are_cut_but_not_within_an_escape(void **state)
{
    (void)state;
    assert_cut("a", JSON_MAX_TOKEN_BYTES, JSON_MAX_TOKEN_BYTES, false);
    assert_cut("a", JSON_MAX_TOKEN_BYTES + 1, JSON_MAX_TOKEN_BYTES, true);
    assert_cut("a", 9 * JSON_MAX_TOKEN_BYTES, JSON_MAX_TOKEN_BYTES, true);
    assert_cut("ab\\n", JSON_MAX_TOKEN_BYTES, JSON_MAX_TOKEN_BYTES, true);
    assert_cut("a\\n", JSON_MAX_TOKEN_BYTES, JSON_MAX_TOKEN_BYTES, true);
    assert_cut("\\na", JSON_MAX_TOKEN_BYTES, JSON_MAX_TOKEN_BYTES + 1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_stays_as_it_is),
        cmocka_unit_test(commas_that_part_nothing_are_left_out),
        cmocka_unit_test(commas_between_brackets_are_put_in),
        cmocka_unit_test(what_is_no_number_is_null),
        cmocka_unit_test(marks_and_comments_are_left_out),
        cmocka_unit_test(an_open_string_ends_with_its_line),
        cmocka_unit_test(long_strings_are_cut_but_not_within_an_escape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
