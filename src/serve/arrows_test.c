/* Messages between three locations, made by hand; each test says which. */
#include "serve/arrows.h"

#include "base/mem.h"

#include "test.h"

static const uint32_t all[] = {0, 1, 2};

/* Location 0 sends to 1 and 2; the records of each location are in order of time. */
struct traffic_sample {
    struct column_range range[3];
    struct message *message;
    struct columns columns;
};

typedef uint32_t to_fn(uint64_t i, uint64_t n);

/* n messages, the i-th sent at 10 i to to(i, n), there 5 later. */
static void sample_init(struct traffic_sample *s, uint64_t n, to_fn *to)
{
    uint64_t next[3] = {0, n, n};

    *s = (struct traffic_sample){.message = mem_alloc(2 * n, sizeof *s->message)};
    s->range[0].n_messages = n;
    for (uint64_t i = 0; i < n; i++)
        next[2] += to(i, n) == 1;
    s->range[1] = (struct column_range){.first_message = n, .n_messages = next[2] - n};
    s->range[2] =
        (struct column_range){.first_message = next[2], .n_messages = 2 * n - next[2]};
    for (uint64_t i = 0; i < n; i++) {
        uint64_t row = next[to(i, n)]++;

        s->message[i] = (struct message){.begin_ns = 10 * i,
                                         .end_ns = 10 * i,
                                         .bytes = 8,
                                         .match = row,
                                         .call = 3,
                                         .tag = (uint32_t)i,
                                         .kind = MESSAGE_SEND};
        s->message[row] = (struct message){.begin_ns = 10 * i + 5,
                                           .end_ns = 10 * i + 5,
                                           .match = i,
                                           .call = 4,
                                           .kind = MESSAGE_RECV};
    }
    s->columns = (struct columns){
        .n_locations = 3, .n_messages = 2 * n, .range = s->range, .message = s->message};
}

static uint32_t to_1_but_for_one(uint64_t i, uint64_t n)
{
    return i == n / 3 ? 2 : 1;
}

static uint32_t to_both_in_turns(uint64_t i, uint64_t n)
{
    (void)n;
    return i % 4 < 2 ? 1 : 2;
}

static uint32_t to_1(uint64_t i, uint64_t n)
{
    (void)i, (void)n;
    return 1;
}

static size_t count_to(const struct arrows *arrows, uint32_t to)
{
    size_t n = 0;

    for (size_t i = 0; i < arrows->n; i++)
        n += arrows->arrow[i].to == to;
    return n;
}

static void few_messages_are_all_shown_in_order(void **state)
{
    struct traffic_sample s;
    struct arrows arrows = {.n = 0};
    struct arrows_window w = {103, 201, all, 3}; /* number 10 is on its way at 103 */

    (void)state;
    sample_init(&s, 100, to_both_in_turns);
    arrows_of(&arrows, &s.columns, NULL, &w, 50);
    assert_int_equal(arrows.n, 11);
    assert_int_equal(arrows.total, 11);
    assert_false(arrows.is_estimate);
    for (size_t i = 0; i < 11; i++) {
        const struct arrow *a = &arrows.arrow[i];

        assert_int_equal(a->tag, 10 + i);
        assert_int_equal(a->from, 0);
        assert_int_equal(a->to, to_both_in_turns(10 + i, 0));
        assert_true(a->send_ns == (double)(100 + 10 * i) && a->recv_ns == a->send_ns + 5);
        assert_true(a->send_call == 3 && a->recv_call == 4 && a->bytes == 8);
    }
    arrows_release(&arrows);
    free(s.message);
}

static void messages_to_other_locations_are_left_out(void **state)
{
    struct traffic_sample s;
    struct arrows arrows = {.n = 0};
    static const uint32_t two[] = {2, 0};
    struct arrows_window w = {0, 1000, two, 2};

    (void)state;
    sample_init(&s, 100, to_both_in_turns);
    arrows_of(&arrows, &s.columns, NULL, &w, 1000);
    assert_int_equal(arrows.n, 50);
    assert_int_equal(count_to(&arrows, 2), 50);
    arrows_release(&arrows);
    free(s.message);
}

static void a_rare_pair_is_shown_among_many_messages_of_another(void **state)
{
    struct traffic_sample s;
    struct arrows arrows = {.n = 0};
    struct arrows_window w = {0, 900000, all, 3};

    (void)state;
    sample_init(&s, 90000, to_1_but_for_one);
    arrows_of(&arrows, &s.columns, NULL, &w, 200);
    assert_int_equal(arrows.total, 90000);
    assert_in_range(arrows.n, 150, 200);
    assert_int_equal(count_to(&arrows, 2), 1);
    arrows_release(&arrows);
    free(s.message);
}

/* All but the last tenth of the messages are sent in the first hundredth of the window. */
static void every_part_of_the_window_has_some(void **state)
{
    struct traffic_sample s;
    struct arrows arrows = {.n = 0};
    struct arrows_window w = {0, 9000000, all, 3};
    bool has_some[30] = {false};

    (void)state;
    sample_init(&s, 10000, to_1);
    for (uint64_t i = 9000; i < 10000; i++) {
        s.message[i].begin_ns = s.message[i].end_ns = 90000 + 8900 * (i - 9000);
        s.message[s.message[i].match].begin_ns = s.message[i].end_ns + 5;
        s.message[s.message[i].match].end_ns = s.message[i].end_ns + 5;
    }
    arrows_of(&arrows, &s.columns, NULL, &w, 300);
    assert_in_range(arrows.n, 250, 300);
    for (size_t i = 0; i < arrows.n; i++)
        has_some[(size_t)(arrows.arrow[i].send_ns / 300001)] = true;
    for (size_t p = 0; p < 29; p++)
        assert_true(has_some[p]);
    arrows_release(&arrows);
    free(s.message);
}

static void of_very_many_some_are_looked_at_without_missing_turns(void **state)
{
    static const uint64_t sizes[] = {150000, 262144, 1000001};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct traffic_sample s;
        struct arrows arrows = {.n = 0};
        struct arrows_window w = {0, 10 * sizes[k], all, 3};

        sample_init(&s, sizes[k], to_both_in_turns);
        arrows_of(&arrows, &s.columns, NULL, &w, 2000);
        assert_true(arrows.is_estimate);
        assert_in_range(arrows.total, sizes[k] * 97 / 100, sizes[k] * 103 / 100);
        assert_in_range(arrows.n, 1500, 2000);
        assert_in_range(count_to(&arrows, 1), arrows.n * 45 / 100, arrows.n * 55 / 100);
        arrows_release(&arrows);
        free(s.message);
    }
}

static void more_pairs_than_wanted_and_none_at_all_are_fine(void **state)
{
    struct traffic_sample s;
    struct arrows arrows = {.n = 0};
    struct arrows_window w = {0, 5000, all, 3};

    (void)state;
    sample_init(&s, 500, to_both_in_turns);
    arrows_of(&arrows, &s.columns, NULL, &w, 1);
    assert_int_equal(arrows.n, 1);
    assert_int_equal(arrows.total, 500);
    arrows_release(&arrows);
    arrows_of(&arrows, &s.columns, NULL, &w, 0);
    assert_int_equal(arrows.n, 0);
    arrows_release(&arrows);
    w.begin_ns = 6000;
    w.end_ns = 7000;
    arrows_of(&arrows, &s.columns, NULL, &w, 10);
    assert_int_equal(arrows.total, 0);
    arrows_release(&arrows);
    free(s.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_messages_are_all_shown_in_order),
        cmocka_unit_test(messages_to_other_locations_are_left_out),
        cmocka_unit_test(a_rare_pair_is_shown_among_many_messages_of_another),
        cmocka_unit_test(every_part_of_the_window_has_some),
        cmocka_unit_test(of_very_many_some_are_looked_at_without_missing_turns),
        cmocka_unit_test(more_pairs_than_wanted_and_none_at_all_are_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
