/* What a window holds, against the definition. */
#include "serve/api_timeline.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdbool.h>

#include "sample_columns.h"
#include "test.h"

#define REGIONS 5u

static uint64_t clip(uint64_t enter, uint64_t leave, const uint64_t window[2])
{
    uint64_t from = enter > window[0] ? enter : window[0];
    uint64_t until = leave < window[1] ? leave : window[1];

    return until > from ? until - from : 0;
}

static bool is_inside_its_like(const struct call_view *c, const uint32_t *caller, uint32_t row)
{
    for (uint32_t at = caller[row]; at != NO_CALL; at = caller[at])
        if (c->region[at] == c->region[row])
            return true;
    return false;
}

/* The same, call by call and caller by caller. */
static void define(struct measure *m, const struct columns *columns, uint32_t location,
                   const uint64_t window[2])
{
    struct call_view c = columns_view(columns, location);
    uint32_t *caller = mem_alloc(c.n, sizeof *caller);

    calls_callers(&c, caller);
    for (uint32_t i = 0; i < c.n; i++) {
        uint64_t enter = c.enter_ns[i], leave = enter + c.inclusive_ns[i];
        uint64_t part = clip(enter, leave, window);

        if (enter >= window[1] || (leave <= window[0] && enter < window[0]))
            continue;
        m->region[c.region[i]].calls++;
        m->region[c.region[i]].own_ns += part;
        if (caller[i] != NO_CALL)
            m->region[c.region[caller[i]]].own_ns -= part;
        if (!is_inside_its_like(&c, caller, i))
            m->region[c.region[i]].total_ns += part;
    }
    for (size_t i = 0; i < c.n_messages; i++) {
        const struct message *message = &c.message[i];
        uint64_t at = message_record_ns(message);

        if (at < window[0] || at >= window[1])
            continue;
        m->sent += message->kind == MESSAGE_SEND;
        m->received += message->kind == MESSAGE_RECV;
        *(message->kind == MESSAGE_SEND ? &m->sent_bytes : &m->received_bytes) +=
            message->bytes;
    }
    free(caller);
}

static void a_window_holds_what_the_definition_says(void **state)
{
    struct sample_columns sample;
    struct rng rng = {5};

    (void)state;
    sample_columns_init(&sample, 400, 3);
    for (int k = 0; k < 200; k++) {
        uint64_t begin = rng_below(&rng, (uint32_t)sample.end_ns);
        uint64_t window[] = {begin, begin + 1 + rng_below(&rng, k % 2 ? 50 : 50000)};
        struct measure found, expected;

        measure_init(&found, REGIONS);
        measure_init(&expected, REGIONS);
        for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++) {
            assert_int_equal(measure_add(&found, &sample.columns, NULL, l, window), 0);
            define(&expected, &sample.columns, l, window);
        }
        assert_memory_equal(found.region, expected.region, REGIONS * sizeof *found.region);
        assert_int_equal(found.sent, expected.sent);
        assert_int_equal(found.received, expected.received);
        assert_int_equal(found.sent_bytes, expected.sent_bytes);
        assert_int_equal(found.received_bytes, expected.received_bytes);
        measure_release(&found);
        measure_release(&expected);
    }
    sample_columns_release(&sample);
}

/* Numbers from a file that somebody else wrote. */
static void calls_that_make_no_tree_are_refused(void **state)
{
    const uint64_t all[] = {0, UINT64_MAX};
    struct sample_columns sample;
    struct measure m;

    (void)state;
    sample_columns_init(&sample, 50, 3);
    sample.region[7] = 99;
    measure_init(&m, REGIONS);
    assert_int_not_equal(measure_add(&m, &sample.columns, NULL, 0, all), 0);
    sample.region[7] = 1;
    for (uint32_t i = 0; i < 12; i++)
        sample.depth[i] = (uint16_t)i; /* deeper than there are depths */
    assert_int_not_equal(measure_add(&m, &sample.columns, NULL, 0, all), 0);
    measure_release(&m);
    sample_columns_release(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_holds_what_the_definition_says),
        cmocka_unit_test(calls_that_make_no_tree_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
