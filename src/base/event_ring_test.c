#include "base/event_ring.h"

#include "test.h"

static void count(void *ctx)
{
    ++*(int *)ctx;
}

static void a_reader_gets_what_was_told_since(void **state)
{
    struct event_ring event_ring;
    char out[EVENT_RING_TEXT_SIZE];
    uint64_t next;
    int woken = 0;

    (void)state;
    event_ring_init(&event_ring, count);
    event_ring_tell(&event_ring, "early");
    next = event_ring_now(&event_ring);
    assert_int_equal(event_ring_read(&event_ring, &next, out, sizeof out), 0);
    event_ring_wait(&event_ring, next, &woken);
    assert_int_equal(woken, 0);
    event_ring_tell(&event_ring, "one ");
    event_ring_tell(&event_ring, "two");
    assert_int_equal(woken, 1);
    assert_int_equal(event_ring_read(&event_ring, &next, out, sizeof out), 7);
    assert_memory_equal(out, "one two", 7);
    event_ring_release(&event_ring);
}

static void who_left_is_not_woken_and_who_waits_is_when_it_closes(void **state)
{
    struct event_ring event_ring;
    char out[EVENT_RING_TEXT_SIZE];
    uint64_t next[2] = {0};
    int woken[2] = {0};

    (void)state;
    event_ring_init(&event_ring, count);
    event_ring_wait(&event_ring, next[0], &woken[0]);
    event_ring_wait(&event_ring, next[1], &woken[1]);
    event_ring_leave(&event_ring, &woken[0]);
    event_ring_close(&event_ring);
    assert_int_equal(woken[0], 0);
    assert_int_equal(woken[1], 1);
    assert_int_equal(event_ring_read(&event_ring, &next[1], out, sizeof out), -1);
    event_ring_wait(&event_ring, next[1], &woken[1]); /* closed: at once */
    assert_int_equal(woken[1], 2);
    event_ring_release(&event_ring);
}

static void a_slow_reader_misses_the_oldest(void **state)
{
    struct event_ring event_ring;
    char out[EVENT_RING_TEXT_SIZE], text[8];
    uint64_t next = 0;

    (void)state;
    event_ring_init(&event_ring, count);
    for (int i = 0; i < EVENT_RING_KEPT + 3; i++) {
        snprintf(text, sizeof text, "%d ", i);
        event_ring_tell(&event_ring, text);
    }
    assert_true(event_ring_read(&event_ring, &next, out, sizeof out) > 2);
    assert_memory_equal(out, "3 4 5 ", 6);
    event_ring_release(&event_ring);
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
