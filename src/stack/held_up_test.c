#include "stack/calls.h"

#include "test.h"

enum { STEP, WRITES = 1, MAX_EVENTS = 32 };

/* A step around writes of so many microseconds; out: how many were held up, of those rows. */
static uint32_t tell(const uint64_t *us, uint32_t n, const char *name, bool *is_held_up)
{
    struct definitions defs = {.n_ranks = 0};
    struct calls calls = {.n = 0};
    uint32_t n_held_up = 0, region;

    definitions_region(&defs, "step");
    region = definitions_region(&defs, name);
    definitions_location(&defs, 0, "thread", 0);
    definitions_finish(&defs, NULL, 0);
    calls_reserve(&calls, MAX_EVENTS);
    for (uint32_t i = 0; i <= n; i++) {
        calls.region[i] = i == STEP ? 0 : region;
        calls.inclusive_ns[i] = i == STEP ? 1000000000 : 1000 * us[i - 1];
    }
    calls.n = n + 1;
    held_up_tell(&calls, &defs);
    assert_int_equal(calls.region[STEP], 0);
    for (uint32_t i = WRITES; i <= n; i++) {
        is_held_up[i - 1] = calls.region[i] != region;
        n_held_up += is_held_up[i - 1];
        if (is_held_up[i - 1])
            assert_int_equal(defs.region[calls.region[i]].kind, REGION_RUNTIME);
    }
    calls_release(&calls);
    definitions_release(&defs);
    return n_held_up;
}

static void a_write_a_thousand_times_as_long_as_others_was_held_up(void **state)
{
    static const uint64_t us[] = {60, 58, 71, 64400, 62, 580, 60, 590, 61};
    bool is_held_up[MAX_EVENTS];

    (void)state;
    assert_int_equal(tell(us, 9, "BUFFER_FLUSH", is_held_up), 1);
    assert_true(is_held_up[3]);
    assert_int_equal(tell(us, 9, "FLUSH", is_held_up), 1);
    assert_int_equal(tell(us, 9, "TRACE BUFFER FLUSH", is_held_up), 1);
}

/* Every tenth begins a file. */
static void what_is_regularly_long_was_not_held_up(void **state)
{
    uint64_t us[MAX_EVENTS - 1];
    bool is_held_up[MAX_EVENTS];

    (void)state;
    for (uint32_t i = 0; i < MAX_EVENTS - 1; i++)
        us[i] = i % 10 == 9 ? 900 + i : 15 + i % 3;
    assert_int_equal(tell(us, MAX_EVENTS - 1, "BUFFER_FLUSH", is_held_up), 0);
    us[20] = 4000;
    assert_int_equal(tell(us, MAX_EVENTS - 1, "BUFFER_FLUSH", is_held_up), 1);
    assert_true(is_held_up[20]);
}

static void of_few_writes_none_is_known_to_be_long(void **state)
{
    static const uint64_t us[] = {60, 58, 71, 64400, 62, 580, 60, 590};
    bool is_held_up[MAX_EVENTS];

    (void)state;
    assert_int_equal(tell(us, 8, "BUFFER_FLUSH", is_held_up), 0);
}

static void only_writes_are_held_up(void **state)
{
    static const uint64_t us[] = {60, 58, 71, 64400, 62, 60, 60, 60, 61};
    bool is_held_up[MAX_EVENTS];

    (void)state;
    assert_int_equal(tell(us, 9, "MEASUREMENT OFF", is_held_up), 0);
    assert_int_equal(tell(us, 9, "work", is_held_up), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_a_thousand_times_as_long_as_others_was_held_up),
        cmocka_unit_test(what_is_regularly_long_was_not_held_up),
        cmocka_unit_test(of_few_writes_none_is_known_to_be_long),
        cmocka_unit_test(only_writes_are_held_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
