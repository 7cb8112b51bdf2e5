#include "http/request.h"

#include "test.h"

/* A copy that is changed by parsing. */
static struct http_refusal parse(const char *text, char *copy, struct request_head *head)
{
    strcpy(copy, text);
    return request_head_parse(copy, strlen(text), head);
}

static void a_head_ends_with_its_empty_line(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\nnext\r\n\r\n";
    size_t seen = 0;

    (void)state;
    for (size_t n = 0; n < 27; n++) {
        assert_int_equal(request_head_length(text, n, &seen), 0);
        assert_int_equal(seen, n);
    }
    assert_int_equal(request_head_length(text, 27, &seen), 27);
    seen = 0;
    assert_int_equal(request_head_length(text, sizeof text - 1, &seen), 27);
}

static void a_line_feed_alone_ends_no_line(void **state)
{
    static const char *const bad[] = {"\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nA: b\n",
                                      "\r\n\n"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t seen = 0;

        assert_true(request_head_length(bad[i], strlen(bad[i]), &seen) == SIZE_MAX);
    }
}

static void a_head_says_what_is_asked_for(void **state)
{
    char copy[512];
    struct request_head head;

    (void)state;
    assert_int_equal(parse("POST /a%20b/c?x=1+2%2B3&&y&z=&=w HTTP/1.1\r\n"
                           "host:\t h:1 \r\nCONTENT-LENGTH: 007\r\nX: y\r\n"
                           "If-None-Match: \"a\"\r\nif-none-match: \"b\"\r\n\r\n",
                           copy, &head)
                         .status,
                     0);
    assert_string_equal(head.method, "POST");
    assert_string_equal(head.path, "/a b/c");
    assert_string_equal(head.host, "h:1");
    assert_int_equal(head.n_parameters, 4);
    assert_string_equal(head.parameter[0].name, "x");
    assert_string_equal(head.parameter[0].value, "1 2+3");
    assert_string_equal(head.parameter[1].name, "y");
    assert_string_equal(head.parameter[1].value, "");
    assert_string_equal(head.parameter[3].name, "");
    assert_string_equal(head.parameter[3].value, "w");
    assert_int_equal(head.body_bytes, 7);
    assert_int_equal(head.n_fields, 5);
    assert_string_equal(head.field[FIELD_IF_NONE_MATCH], "\"a\"");
    assert_null(head.field[FIELD_ORIGIN]);
    assert_true(head.stays_open);
    assert_false(head.is_chunked || head.is_head || head.awaits_continue);
}

static void what_follows_depends_on_the_version_and_connection(void **state)
{
    static const struct {
        const char *text;
        bool stays_open;
    } rows[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
        {"GET / HTTP/1.9\r\nHost: a\r\n\r\n", true},
        {"GET / HTTP/1.0\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: a, b,CLOSE\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: a\r\nConnection: close\r\n\r\n", false},
    };
    char copy[512];
    struct request_head head;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(rows[i].text, copy, &head).status, 0);
        assert_int_equal(head.stays_open, rows[i].stays_open);
    }
}

static void whom_a_whole_address_names_counts(void **state)
{
    char copy[512];
    struct request_head head;

    (void)state;
    assert_int_equal(
        parse("GET http://b:2/x?y HTTP/1.1\r\nHost: a\r\n\r\n", copy, &head).status, 0);
    assert_string_equal(head.host, "b:2");
    assert_string_equal(head.path, "/x");
    assert_string_equal(head.parameter[0].name, "y");
}

static void what_is_no_request_is_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned status;
    } rows[] = {
        {"\r\n\r\n", 400},
        {"\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400},
        {"GET / HTTP/1.1\rHost: a\r\n\r\n", 400},
        {"GET /%0 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /%g0 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
         400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 \r\nContent-Length: 1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000000000\r\n\r\n", 413},
        {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked, chunked\r\n\r\n", 501},
        {"GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\n\r\n", 417},
        {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"GET / HTTP/2.0\r\n\r\n", 505},
    };
    char copy[512];
    struct request_head head;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_refusal refusal = parse(rows[i].text, copy, &head);

        if (refusal.status != rows[i].status)
            fail_msg("%u, not %u: %s", refusal.status, rows[i].status, rows[i].text);
        assert_non_null(refusal.why);
    }
}

static void a_nul_is_never_part_of_a_head(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
    char copy[sizeof text];
    struct request_head head;

    (void)state;
    for (size_t i = 0; i < sizeof text - 5; i++) {
        memcpy(copy, text, sizeof text);
        copy[i] = '\0';
        assert_int_equal(request_head_parse(copy, sizeof text - 1, &head).status, 400);
    }
}

static void a_cookie_is_found_by_its_whole_name(void **state)
{
    char copy[512], value[4];
    struct request_head head;

    (void)state;
    assert_int_equal(parse("GET / HTTP/1.1\r\nHost: a\r\n"
                           "Cookie: xb=1;; b=2 ;bb=3; b=4; long=1234; =; e=\r\n\r\n",
                           copy, &head)
                         .status,
                     0);
    assert_true(request_head_cookie(&head, "b", value, sizeof value));
    assert_string_equal(value, "2 ");
    assert_true(request_head_cookie(&head, "bb", value, sizeof value));
    assert_string_equal(value, "3");
    assert_true(request_head_cookie(&head, "e", value, sizeof value));
    assert_string_equal(value, "");
    assert_false(request_head_cookie(&head, "long", value, sizeof value));
    assert_false(request_head_cookie(&head, "x", value, sizeof value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_ends_with_its_empty_line),
        cmocka_unit_test(a_line_feed_alone_ends_no_line),
        cmocka_unit_test(a_head_says_what_is_asked_for),
        cmocka_unit_test(what_follows_depends_on_the_version_and_connection),
        cmocka_unit_test(whom_a_whole_address_names_counts),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(a_nul_is_never_part_of_a_head),
        cmocka_unit_test(a_cookie_is_found_by_its_whole_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
