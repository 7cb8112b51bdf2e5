#include "base/feed.h"

#include "base/test.h"

static void count(void *ctx)
{
    ++*(int *)ctx;
}

static void a_reader_gets_what_was_told_since(void **state)
{
    struct feed feed;
    char out[FEED_TEXT_SIZE];
    uint64_t next;
    int woken = 0;

    (void)state;
    feed_init(&feed, count);
    feed_tell(&feed, "early");
    next = feed_now(&feed);
    assert_int_equal(feed_read(&feed, &next, out, sizeof out), 0);
    feed_wait(&feed, next, &woken);
    assert_int_equal(woken, 0);
    feed_tell(&feed, "one ");
    feed_tell(&feed, "two");
    assert_int_equal(woken, 1);
    assert_int_equal(feed_read(&feed, &next, out, sizeof out), 7);
    assert_memory_equal(out, "one two", 7);
    feed_release(&feed);
}

static void who_left_is_not_woken_and_who_waits_is_when_it_closes(void **state)
{
    struct feed feed;
    char out[FEED_TEXT_SIZE];
    uint64_t next[2] = {0};
    int woken[2] = {0};

    (void)state;
    feed_init(&feed, count);
    feed_wait(&feed, next[0], &woken[0]);
    feed_wait(&feed, next[1], &woken[1]);
    feed_leave(&feed, &woken[0]);
    feed_close(&feed);
    assert_int_equal(woken[0], 0);
    assert_int_equal(woken[1], 1);
    assert_int_equal(feed_read(&feed, &next[1], out, sizeof out), -1);
    feed_wait(&feed, next[1], &woken[1]); /* closed: at once */
    assert_int_equal(woken[1], 2);
    feed_release(&feed);
}

static void a_slow_reader_misses_the_oldest(void **state)
{
    struct feed feed;
    char out[FEED_TEXT_SIZE], text[8];
    uint64_t next = 0;

    (void)state;
    feed_init(&feed, count);
    for (int i = 0; i < FEED_KEPT + 3; i++) {
        snprintf(text, sizeof text, "%d ", i);
        feed_tell(&feed, text);
    }
    assert_true(feed_read(&feed, &next, out, sizeof out) > 2);
    assert_memory_equal(out, "3 4 5 ", 6);
    feed_release(&feed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_gets_what_was_told_since),
        cmocka_unit_test(who_left_is_not_woken_and_who_waits_is_when_it_closes),
        cmocka_unit_test(a_slow_reader_misses_the_oldest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
