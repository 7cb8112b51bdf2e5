/* Texts of strangers in a page. */
#include "view/html.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* What is written, to be freed. */
static char *text_of(const char *text)
{
    char *written = NULL;
    size_t size;
    FILE *out = open_memstream(&written, &size);

    html_text(out, text);
    fclose(out);
    return written;
}

static void is_text(const char *text, const char *expected)
{
    char *written = text_of(text);

    assert_string_equal(written, expected);
    free(written);
}

static char *data_of(json_t *json)
{
    char *written = NULL;
    size_t size;
    FILE *out = open_memstream(&written, &size);

    html_data(out, json);
    fclose(out);
    return written;
}

static void a_text_opens_no_tag_and_leaves_no_quotes(void **state)
{
    (void)state;
    is_text("a < b && c > d", "a &#60; b &#38;&#38; c &#62; d");
    is_text("</script><!--\"'", "&#60;/script&#62;&#60;!--&#34;&#39;");
    is_text("Größe", "Größe");
    is_text("", "");
}

static void a_text_is_cut_between_characters(void **state)
{
    char text[HTML_MAX_TEXT_BYTES + 8], *written;

    (void)state;
    memset(text, 'a', HTML_MAX_TEXT_BYTES - 1);
    strcpy(text + HTML_MAX_TEXT_BYTES - 1, "\u00f6b");
    written = text_of(text);
    assert_int_equal(strlen(written), HTML_MAX_TEXT_BYTES - 1 + strlen(" ..."));
    assert_string_equal(written + HTML_MAX_TEXT_BYTES - 2, "a ...");
    free(written);
    assert_int_equal(html_whole("\u00f6", 1), 0);
    assert_int_equal(html_whole("\u00f6", 2), 2);
}

static void what_is_no_character_is_replaced(void **state)
{
    (void)state;
    is_text("a\x1b[31mb\nc\xff", "a?[31mb?c?");
    is_text("left\u202eright", "left?right");
}

static void data_ends_no_script_and_keeps_its_value(void **state)
{
    const char *hostile = "</script><!-- <script> ]]> & \u202e \x01 \\";
    json_t *json = json_pack("{s:o}", hostile, json_text(hostile)), *back;
    char *written = data_of(json);

    (void)state;
    assert_null(strpbrk(written, "<>&\x01"));
    back = json_loads(written, 0, NULL);
    assert_true(json_equal(json, back));
    json_decref(back);
    json_decref(json);
    free(written);
}

/* The vectors of RFC 4648, section 10. */
static void base64_is_that_of_rfc_4648(void **state)
{
    static const char *const vector[][2] = {{"", ""},
                                            {"f", "Zg=="},
                                            {"fo", "Zm8="},
                                            {"foo", "Zm9v"},
                                            {"foob", "Zm9vYg=="},
                                            {"fooba", "Zm9vYmE="},
                                            {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        json_t *json = html_base64(vector[i][0], strlen(vector[i][0]));

        assert_string_equal(json_string_value(json), vector[i][1]);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_opens_no_tag_and_leaves_no_quotes),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(what_is_no_character_is_replaced),
        cmocka_unit_test(data_ends_no_script_and_keeps_its_value),
        cmocka_unit_test(base64_is_that_of_rfc_4648),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
