#include "cmd/print.h"

#include "test.h"

static void assert_text(const char *bytes, const char *want)
{
    json_t *json = json_text(bytes);

    assert_string_equal(json_string_value(json), want);
    json_decref(json);
}

/* Good UTF-8 stays; every byte that is part of nothing becomes U+FFFD. */
static void any_bytes_become_utf8(void **state)
{
    (void)state;
    assert_text("plain \"text\"", "plain \"text\"");
    assert_text("\u00e9 \u20ac \U0001f332", "\u00e9 \u20ac \U0001f332");
    assert_text("a\xffz", "a\ufffdz");
    assert_text("\xc3", "\ufffd");                               /* cut off */
    assert_text("\xc0\xaf", "\ufffd\ufffd");                     /* '/' the long way */
    assert_text("\xed\xa0\x80", "\ufffd\ufffd\ufffd");           /* a surrogate */
    assert_text("\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"); /* after U+10FFFF */
    assert_text("", "");
}

static char *table_text(struct table *t)
{
    static char text[1024];
    FILE *out = fmemopen(text, sizeof text, "w");

    table_print(t, out);
    fclose(out);
    return text;
}

/* Widths count characters; no line ends in a space, even where the last cells are empty. */
static void columns_are_as_wide_as_they_need_to_be(void **state)
{
    struct table *t = table_new("lrrl", "name", "n", "share", "");

    (void)state;
    table_cell(t, "%s", "caf\u00e9");
    table_cell(t, "%d", 12345);
    table_cell(t, "%s", "");
    table_cell(t, "%s", "");
    table_cell(t, "%s", "a");
    table_cell(t, "%d", 1);
    table_cell(t, "%d %%", 5);
    table_cell(t, "%s", "note");
    assert_string_equal(table_text(t), "name      n  share\n"
                                       "caf\u00e9  12345\n"
                                       "a         1    5 %  note\n");
}

static void a_table_may_be_given_up(void **state)
{
    struct table *t = table_new("l", "name");

    (void)state;
    table_cell(t, "%s", "a");
    table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_become_utf8),
        cmocka_unit_test(columns_are_as_wide_as_they_need_to_be),
        cmocka_unit_test(a_table_may_be_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
