#include "serve/api_learning.h"

#include "base/err.h"

#include "test.h"

static int read_text(struct label_list *list, const char *text)
{
    *list = (struct label_list){0};
    return label_list_read(list, text, strlen(text));
}

static void labels_come_in_their_order_with_their_author(void **state)
{
    struct label_list list;

    (void)state;
    assert_int_equal(read_text(&list,
                               "{\"author\":\"me\", \"x\":[1,{\"labels\":2}], \"labels\":["
                               "{\"tree\":7,\"label\":\"abnormal\",\"note\":{\"tree\":[]}},"
                               "{\"label\":\"clear\",\"tree\":0}]}"),
                     0);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.item[0].tree, 7);
    assert_int_equal(list.item[0].label, LABEL_ABNORMAL);
    assert_int_equal(list.item[1].tree, 0);
    assert_int_equal(list.item[1].label, LABEL_NONE);
    assert_string_equal(list.author, "me");
    label_list_release(&list);
    assert_int_equal(read_text(&list, "{\"labels\":[],\"author\":null}"), 0);
    assert_int_equal(list.n, 0);
    assert_string_equal(list.author, "");
    label_list_release(&list);
}

static void what_is_no_list_of_labels_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "{",
        "null",
        "[]",
        "0",
        "\"labels\"",
        "{}",
        "{} {}",
        "{\"labels\":null}",
        "{\"labels\":{}}",
        "{\"labels\":7}",
        "{\"labels\":[1]}",
        "{\"labels\":[[]]}",
        "{\"labels\":[{}]}",
        "{\"labels\":[{\"tree\":1}]}",
        "{\"labels\":[{\"label\":\"normal\"}]}",
        "{\"labels\":[{\"tree\":1.0,\"label\":\"normal\"}]}",
        "{\"labels\":[{\"tree\":1e3,\"label\":\"normal\"}]}",
        "{\"labels\":[{\"tree\":\"1\",\"label\":\"normal\"}]}",
        "{\"labels\":[{\"tree\":9223372036854775808,\"label\":\"normal\"}]}",
        "{\"labels\":[{\"tree\":11111111111111111111111111111,\"label\":\"normal\"}]}",
        "{\"labels\":[{\"tree\":1,\"label\":\"maybe\"}]}",
        "{\"labels\":[{\"tree\":1,\"label\":\"normal\\u0000\"}]}",
        "{\"labels\":[{\"tree\":1,\"label\":[\"normal\"]}]}",
        "{\"labels\":[{\"tree\":1,\"tree\":2,\"label\":\"normal\"}]}",
        "{\"labels\":[],\"labels\":[]}",
        "{\"labels\":[],\"author\":7}",
        "{\"labels\":[],\"author\":\"\"}",
        "{\"labels\":[],\"author\":\"a\\u0000b\"}",
        "{\"labels\":[]} x",
        "{\"labels\":[],}",
        "{\"labels\":[{\"tree\":1,\"label\":\"normal\"}",
        "{\"labels\":[],\"x\":\"\xff\"}"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct label_list list;

        if (read_text(&list, bad[i]) != ERR_USAGE)
            fail_msg("taken: %s", bad[i]);
        label_list_release(&list);
    }
}

static void an_author_has_200_bytes_at_most(void **state)
{
    char text[300], author[202];
    struct label_list list;

    (void)state;
    for (size_t n = 200; n <= 201; n++) {
        memset(author, 'a', n);
        author[n] = '\0';
        snprintf(text, sizeof text, "{\"author\":\"%s\",\"labels\":[]}", author);
        assert_int_equal(read_text(&list, text), n == 200 ? 0 : ERR_USAGE);
        label_list_release(&list);
    }
}

/* Eight megabytes of one piece, again and again, after a beginning. */
static char *large(const char *begin, const char *piece, size_t *size)
{
    size_t n = strlen(begin), length = strlen(piece);
    char *text = malloc(8 << 20);

    memcpy(text, begin, n);
    for (; n + length <= 8 << 20; n += length)
        memcpy(text + n, piece, length);
    *size = n;
    return text;
}

static void memory_does_not_grow_with_what_is_no_label(void **state)
{
    static const char *const pieces[][2] = {
        {"{\"labels\":[", "{},"},        {"{\"x\":[", "{},"},
        {"{\"labels\":", "["},           {"{\"labels\":[{\"x\":", "[["},
        {"{\"labels\":[{\"x\":[", "0,"}, {"", "{\"a\":"}};

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct label_list list = {0};
        size_t size;
        char *text = large(pieces[i][0], pieces[i][1], &size);

        assert_int_equal(label_list_read(&list, text, size), ERR_USAGE);
        assert_int_equal(list.cap, 0);
        label_list_release(&list);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_come_in_their_order_with_their_author),
        cmocka_unit_test(what_is_no_list_of_labels_is_refused),
        cmocka_unit_test(an_author_has_200_bytes_at_most),
        cmocka_unit_test(memory_does_not_grow_with_what_is_no_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
