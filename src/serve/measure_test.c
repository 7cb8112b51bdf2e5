/* What a window holds, against the definition. */
#include "serve/api_timeline.h"

#include "base/mem.h"
#include "base/rng.h"
#include "explain/trace_view.h"

#include <stdbool.h>

#include "sample_columns.h"
#include "test.h"

#define REGIONS 5u

static const uint32_t rank_of[SAMPLE_LOCATIONS] = {4, 4}; /* two threads of one */
static struct location locations[SAMPLE_LOCATIONS] = {{.rank = 4}, {.rank = 4, .thread = 1}};
static const struct definitions defs = {.names = {.n = REGIONS}, .location = locations};

static uint64_t clip(uint64_t enter, uint64_t leave, const uint64_t window[2])
{
    uint64_t from = enter > window[0] ? enter : window[0];
    uint64_t until = leave < window[1] ? leave : window[1];

    return until > from ? until - from : 0;
}

/* Whether two calls of a location, or of two, are counted together. */
struct at {
    const struct call_view *calls;
    const uint32_t *caller;
    uint32_t location, row;
};

static bool is_alike(enum measure_by by, struct at a, struct at b)
{
    if (by == MEASURE_BY_RANK)
        return rank_of[a.location] == rank_of[b.location];
    for (;;) {
        if (a.calls->region[a.row] != b.calls->region[b.row])
            return false;
        if (by == MEASURE_BY_REGION)
            return true;
        a.row = a.caller[a.row];
        b.row = b.caller[b.row];
        if (a.row == NO_CALL || b.row == NO_CALL)
            return a.row == b.row;
    }
}

static bool is_in(struct at a, const uint64_t window[2])
{
    uint64_t enter = a.calls->enter_ns[a.row];

    return enter < window[1] && (enter >= window[0] || calls_leave(a.calls, a.row) > window[0]);
}

/* What calls like the one at `of` add up to: call by call, and caller by caller. */
static struct measure_group defined(const struct at *all, size_t n, struct at of,
                                    enum measure_by by, const uint64_t window[2])
{
    struct measure_group sum = {0};

    for (size_t i = 0; i < n; i++) {
        const struct call_view *c = all[i].calls;
        uint32_t row = all[i].row, outer = all[i].caller[row];
        uint64_t part = clip(c->enter_ns[row], calls_leave(c, row), window);
        struct at around = all[i];

        if (!is_in(all[i], window))
            continue;
        around.row = outer;
        if (outer != NO_CALL && is_alike(by, around, of))
            sum.own_ns -= part;
        if (!is_alike(by, all[i], of))
            continue;
        sum.calls++;
        sum.own_ns += part;
        while (around.row != NO_CALL && !is_alike(by, around, of))
            around.row = around.caller[around.row];
        sum.total_ns += around.row == NO_CALL ? part : 0;
    }
    return sum;
}

static void define_messages(struct measure *m, const struct columns *columns, uint32_t location,
                            const uint64_t window[2])
{
    struct call_view c = columns_view(columns, location);

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
}

static void is_as_defined(const struct sample_columns *sample, enum measure_by by,
                          const uint64_t window[2])
{
    struct measure found, expected = {0};
    struct call_view calls[SAMPLE_LOCATIONS];
    uint32_t *caller[SAMPLE_LOCATIONS];
    struct at *all = mem_alloc(sample->columns.n_calls, sizeof *all);
    size_t n = 0, n_met = 0;

    measure_init(&found, by, &defs);
    for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++) {
        calls[l] = columns_view(&sample->columns, l);
        caller[l] = mem_alloc(calls[l].n, sizeof *caller[l]);
        calls_callers(&calls[l], caller[l]);
        for (uint32_t i = 0; i < calls[l].n; i++)
            all[n++] = (struct at){&calls[l], caller[l], l, i};
        assert_int_equal(measure_add(&found, &sample->columns, NULL, l, window), 0);
        define_messages(&expected, &sample->columns, l, window);
    }
    /* Each group is met at its first call in the window, in this order. */
    for (size_t i = 0; i < n; i++) {
        struct measure_group sum;
        bool is_new = is_in(all[i], window);

        for (size_t k = 0; k < i && is_new; k++)
            is_new = !is_in(all[k], window) || !is_alike(by, all[k], all[i]);
        if (!is_new)
            continue;
        assert_true(n_met < found.known.n);
        sum = defined(all, n, all[i], by, window);
        assert_int_equal(found.group[n_met].calls, sum.calls);
        assert_int_equal(found.group[n_met].total_ns, sum.total_ns);
        assert_int_equal(found.group[n_met].own_ns, sum.own_ns);
        assert_int_equal(found.group[n_met].n_open, 0);
        n_met++;
    }
    assert_int_equal(n_met, found.known.n);
    assert_int_equal(found.sent, expected.sent);
    assert_int_equal(found.received, expected.received);
    assert_int_equal(found.sent_bytes, expected.sent_bytes);
    assert_int_equal(found.received_bytes, expected.received_bytes);
    for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++)
        free(caller[l]);
    free(all);
    measure_release(&found);
}

static void a_window_holds_what_the_definition_says(void **state)
{
    struct sample_columns sample;
    struct rng rng = {5};

    (void)state;
    sample_columns_init(&sample, 60, 3);
    for (int k = 0; k < 90; k++) {
        uint64_t begin = rng_below(&rng, (uint32_t)sample.end_ns);
        uint64_t window[] = {begin, begin + 1 + rng_below(&rng, k % 2 ? 50 : 50000)};

        is_as_defined(&sample, MEASURE_BY_REGION, window);
        is_as_defined(&sample, MEASURE_BY_RANK, window);
        is_as_defined(&sample, MEASURE_BY_PATH, window);
    }
    sample_columns_release(&sample);
}

/* Trees of outermost calls, one after another, are all there is. */
static void the_trees_of_a_window_are_the_window(void **state)
{
    struct sample_columns sample;
    struct rng rng = {8};

    (void)state;
    sample_columns_init(&sample, 60, 3);
    for (int k = 0; k < 40; k++) {
        uint64_t begin = rng_below(&rng, (uint32_t)sample.end_ns);
        uint64_t window[] = {begin, begin + 1 + rng_below(&rng, k % 2 ? 50 : 50000)};
        struct measure whole, trees;

        measure_init(&whole, MEASURE_BY_REGION, &defs);
        measure_init(&trees, MEASURE_BY_REGION, &defs);
        for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++) {
            struct call_view calls = columns_view(&sample.columns, l);

            assert_int_equal(measure_add(&whole, &sample.columns, NULL, l, window), 0);
            for (uint32_t i = 0; i < calls.n; i += calls.subtree_len[i])
                assert_int_equal(measure_add_tree(&trees, &sample.columns, l, i, window), 0);
        }
        assert_int_equal(trees.known.n, whole.known.n);
        for (uint32_t g = 0; g < whole.known.n; g++) {
            assert_int_equal(trees.group[g].id, whole.group[g].id);
            assert_int_equal(trees.group[g].calls, whole.group[g].calls);
            assert_int_equal(trees.group[g].total_ns, whole.group[g].total_ns);
            assert_int_equal(trees.group[g].own_ns, whole.group[g].own_ns);
        }
        assert_int_equal(trees.sent + trees.received, 0);
        measure_release(&whole);
        measure_release(&trees);
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
    measure_init(&m, MEASURE_BY_REGION, &defs);
    assert_int_not_equal(measure_add(&m, &sample.columns, NULL, 0, all), 0);
    sample.region[7] = 1;
    for (uint32_t i = 0; i < 12; i++)
        sample.depth[i] = (uint16_t)i; /* deeper than there are depths */
    assert_int_not_equal(measure_add(&m, &sample.columns, NULL, 0, all), 0);
    assert_int_not_equal(measure_add_tree(&m, &sample.columns, 0, 9999, all), 0);
    measure_release(&m);
    sample_columns_release(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_holds_what_the_definition_says),
        cmocka_unit_test(the_trees_of_a_window_are_the_window),
        cmocka_unit_test(calls_that_make_no_tree_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
