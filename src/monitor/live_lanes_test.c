#include "monitor/api_live_records.h"

#include <stdbool.h>

#include "test.h"

/*
 *     rank 0   main ......................................     from the stack, still open
 *                solve ..........  <- the call itself
 *                  a ..   b ....
 *     rank 3       send ..
 */
static const char text[] =
    "{'event_id': '0:2:7', 'rid': 0, 'tid': 0,"
    " 'call_stack': [{'event_id': '0:2:7', 'func': 'solve', 'entry': 10.5, 'exit': 20,"
    "                 'is_anomaly': true},"
    "                {'event_id': '0:0:0', 'func': 'main', 'entry': 0, 'exit': 0}],"
    " 'event_window': {'exec_window': ["
    "   {'event_id': '0:2:8', 'func': 'a', 'entry': 11, 'exit': 12},"
    "   {'event_id': '0:2:7', 'func': 'solve', 'entry': 10.5, 'exit': 20, 'is_anomaly': true},"
    "   {'event_id': '0:2:9', 'func': 'b', 'entry': 12, 'exit': 15}],"
    "   'comm_window': [{'type': 'RECV', 'src': 3, 'tar': 0, 'tag': 5, 'bytes': 64,"
    "                    'timestamp': 14}]},"
    " 'partners': [{'rid': 3, 'tid': 1, 'event_window': {'exec_window': ["
    "   {'event_id': '3:2:1', 'func': 'send', 'entry': 11, 'exit': 13}], 'comm_window': []}}]}";

static json_t *parse(const char *quoted)
{
    char buffer[2048];
    json_t *json;
    size_t i = 0;

    for (; quoted[i]; i++)
        buffer[i] = quoted[i] == '\'' ? '"' : quoted[i];
    buffer[i] = '\0';
    json = json_loads(buffer, 0, NULL);
    assert_non_null(json);
    return json;
}

static void check(const json_t *lane, size_t i, const char *func, int depth, bool is_this)
{
    const json_t *call = json_array_get(json_object_get(lane, "calls"), i);

    assert_string_equal(json_string_value(json_object_get(call, "func")), func);
    assert_int_equal(json_integer_value(json_object_get(call, "depth")), depth);
    assert_int_equal(json_is_true(json_object_get(call, "is_this")), is_this);
}

static void windows_become_lanes(void **state)
{
    json_t *record = parse(text), *lanes = live_lanes(record);
    const json_t *own = json_array_get(lanes, 0), *other = json_array_get(lanes, 1), *message;

    (void)state;
    assert_int_equal(json_array_size(lanes), 2);
    assert_int_equal(json_array_size(json_object_get(own, "calls")), 4);
    check(own, 0, "main", 0, false);
    check(own, 1, "solve", 1, true);
    check(own, 2, "a", 2, false);
    check(own, 3, "b", 2, false);
    assert_true(json_is_null(
        json_object_get(json_array_get(json_object_get(own, "calls"), 0), "leave_ns")));
    assert_true(json_number_value(json_object_get(
                    json_array_get(json_object_get(own, "calls"), 1), "enter_ns")) == 10500);
    message = json_array_get(json_object_get(own, "messages"), 0);
    assert_true(json_is_false(json_object_get(message, "is_send")));
    assert_int_equal(json_integer_value(json_object_get(message, "source")), 3);
    assert_true(json_is_true(json_object_get(own, "is_own")));
    assert_true(json_is_false(json_object_get(other, "is_own")));
    assert_int_equal(json_integer_value(json_object_get(other, "rank")), 3);
    check(other, 0, "send", 0, false);
    json_decref(lanes);
    json_decref(record);
}

static void any_json_is_taken(void **state)
{
    static const char *const odd[] = {
        "{}", "{'event_id': 5, 'call_stack': 1, 'event_window': [], 'partners': [1, {}, []]}",
        "{'call_stack': [1, null, {}, {'entry': 'x'}], 'event_window': {'exec_window': 1}}",
        "{'event_window': {'exec_window': {'a': {'exit': -1}}, 'comm_window': [[], 3]}}"};

    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        json_t *record = parse(odd[i]), *lanes = live_lanes(record);

        assert_true(json_array_size(lanes) >= 1);
        json_decref(lanes);
        json_decref(record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_become_lanes),
        cmocka_unit_test(any_json_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
