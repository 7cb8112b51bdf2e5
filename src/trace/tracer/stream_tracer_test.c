/* What comes out of the stream: all events, in steps, with the stack right after a gap. */
#include "sample_ranks.h"
#include "test.h"

static void check_messages(const struct event_batch *b)
{
    assert_int_equal(b->n_messages, 4);
    assert_int_equal(b->message[0].kind, MESSAGE_SEND);
    assert_int_equal(b->message[0].peer, 1);
    assert_int_equal(b->message[0].tag, 9);
    assert_int_equal(b->message[0].bytes, 300);
    assert_int_equal(b->message[0].order, 0);
    assert_int_equal(b->message[1].peer, 0); /* to itself, through MPI_COMM_SELF */
    assert_int_equal(b->message[1].bytes, 1u << 20);
    assert_int_equal(b->message[2].kind, MESSAGE_RECV);
    assert_int_equal(b->message[3].tag, 6);
    assert_int_equal(b->message[3].order, 1); /* posted before the send of 1 MiB */
    assert_true(b->message[3].begin_ns < b->message[1].begin_ns);
}

/* Times that are estimates, and a collective that does not block. */
static void check_what_is_not_exact(const struct event_batch *b)
{
    assert_int_equal(b->n_estimates, 2);
    assert_int_equal(b->estimate[0].region, 1);
    assert_false(b->estimate[0].is_leave);
    assert_int_equal(b->estimate[0].off_ns, 40);
    assert_true(b->estimate[1].is_leave);
    assert_int_equal(b->estimate[1].off_ns, 30);
    assert_int_equal(b->collective[1].begin_ns, 2500);
    assert_int_equal(b->collective[1].sent_bytes, 24);
    assert_int_equal(b->collective[1].order, 1);
}

static void every_record_comes_through(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank r;
    size_t n_sent;

    (void)state;
    open_stream(&stream);
    r = come(0, 2);
    frame_events(&r.out, 3, 0, r.start_ns + 1000, 0, 0);
    send_all_kinds(&r.out);
    frame_close(&r.out);
    n_sent = r.out.n;
    talk(&stream, &r);
    assert_int_equal(stream.n_bytes, n_sent);
    go(&r);
    assert_int_equal(wait_for_step(&stream), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(m(M,)M,,,s|#(s~|~)s)m");
    assert_int_equal(p.batch->event[0].time_ns, 1100);
    assert_int_equal(p.batch->event[p.end - 1].time_ns, 1000 + 18 * 100);
    check_messages(p.batch);
    assert_int_equal(p.batch->event[7].ref, 1); /* the second message, which was sent */
    assert_int_equal(p.batch->collective[0].kind, COLLECTIVE_ALL_TO_ALL);
    assert_int_equal(p.batch->collective[0].begin_ns, 2100);
    assert_int_equal(p.batch->collective[0].received_bytes, 16);
    check_what_is_not_exact(p.batch);
    assert_int_equal(p.batch->counter[0].whole, -77);
    assert_int_equal(stream.accesses.n_transfers, 3);
    assert_int_equal(stream.accesses.transferred_bytes, 1000 + 200 + 34);
    assert_int_equal(stream.accesses.n_operations, 2);
    assert_int_equal(stream.accesses.operated_bytes, 4000);
    assert_string_equal(stream.defs->counters.name[0], "memory");
    assert_int_equal(stream.defs->location[p.location].rank, 0);
    assert_int_equal(stream.defs->location[p.location].thread, 3);
    assert_string_equal(stream.defs->metadata[0].value, "node7");
    assert_string_equal(stream.defs->metadata[1].value, "4711");
    assert_int_equal(stream.defs->region[2].kind, REGION_MPI);
    assert_false(stream_part(&stream, &p));
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    stream_close(&stream);
}

static void the_example_of_the_page_is_right(void **state)
{
    static const unsigned char example[] = {
        0x53, 0x4e, 0x54, 0x02, 0x05, 0, 0, 0,    0x12, 0,    0,    0,    0,    0,    0,
        0xca, 0x9a, 0x3b, 0,    0,    0, 0, 0x01, 0x00, 0xe8, 0x07, 0x00, 0x02, 0xc1, 0x02};
    struct pack frame = {0};

    (void)state;
    frame_events(&frame, 0, 0, 1000000000, 1, 1000000000 - 1000);
    frame_record(&frame, RECORD_ENTER, 0);
    pack_varint(&frame, 2);
    frame_record(&frame, RECORD_LEAVE, 20);
    frame_close(&frame);
    assert_int_equal(frame.n, sizeof example);
    assert_memory_equal(frame.data, example, sizeof example);
    pack_release(&frame);
}

static void a_step_waits_for_all_ranks(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = come(1, 2);
    b.start_ns = a.start_ns;
    send_step(&a, 200.5); /* so late that nobody's patience ends */
    send_step(&a, 201.5);
    frame_tick(&a.out, a.start_ns + 202 * TICK_NS);
    assert_int_equal(talk(&stream, &a), STREAM_IDLE);
    send_step(&b, 200.25);
    assert_int_equal(talk(&stream, &b), STREAM_IDLE);
    frame_tick(&b.out, a.start_ns + 201 * TICK_NS);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    assert_int_equal(stream.begin_ns, 200 * TICK_NS);
    assert_int_equal(stream.end_ns, 201 * TICK_NS);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(p.batch->event[p.begin].time_ns, 200 * TICK_NS + TICK_NS / 2);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(p.batch->event[p.begin].time_ns, 200 * TICK_NS + TICK_NS / 4);
    assert_false(stream_part(&stream, &p));
    assert_int_equal(stream_next(&stream, 0), STREAM_IDLE);
    frame_tick(&b.out, a.start_ns + 202 * TICK_NS);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    assert_int_equal(stream.begin_ns, 201 * TICK_NS);
    go(&a);
    go(&b);
    stream_close(&stream);
}

/* A rank that is stopped holds the others up for a while only; what it says later is not lost.
 */
static void a_rank_that_says_nothing_is_not_waited_for(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come_late(0, 2, 100 * TICK_NS);
    b = come_late(1, 2, 100 * TICK_NS);
    b.start_ns = a.start_ns;
    send_step(&a, 1);
    talk(&stream, &b);
    assert_int_equal(talk(&stream, &a), STREAM_STEP);
    send_step(&b, 0.5);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(stream.defs->location[p.location].rank, 1);
    go(&a);
    go(&b);
    stream_close(&stream);
}

/* Rank 1 is on a node whose clock is an hour ahead of ours; what it says takes a while to come.
 */
static void what_happens_at_one_moment_has_one_time_on_all_nodes(void **state)
{
    const uint64_t ahead_ns = 3600000 * (uint64_t)MS, at_ns = 200 * TICK_NS;
    struct sample_process process = {.rank = 1, .n_ranks = 2, .pid = 4712};
    struct stream stream;
    struct stream_part p;
    struct rank a, b;
    uint64_t begun_ns, later_ns, seen_ns = 0;
    int rc;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = (struct rank){.fd = connect_to(sample_path), .start_ns = a.start_ns + ahead_ns};
    process.start_ns = b.start_ns;
    begun_ns = now_ns();
    frame_hello(&b.out, &process, begun_ns + ahead_ns, TICK_NS);
    frame_definitions(&b.out, 2);
    send_step(&a, 200);
    frame_tick(&a.out, a.start_ns + 2 * at_ns);
    assert_int_equal(talk(&stream, &a), STREAM_IDLE);
    send_step(&b, 200);
    frame_tick(&b.out, b.start_ns + 2 * at_ns);
    rc = talk(&stream, &b);
    later_ns = now_ns() - begun_ns;
    go(&a);
    go(&b);
    for (; rc == STREAM_STEP; rc = wait_for_step(&stream))
        while (stream_part(&stream, &p))
            if (stream.defs->location[p.location].rank == 1)
                seen_ns = p.batch->event[p.begin].time_ns;
    assert_in_range(seen_ns, at_ns, at_ns + later_ns);
    stream_close(&stream);
}

/*
 *   said first    main  step  step          open
 *   lost
 *   said next     main  step' step' step'   is open where the frame begins
 */
static void after_a_gap_the_stack_is_right(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank r;

    (void)state;
    open_stream(&stream);
    r = come(0, 1);
    frame_events(&r.out, 0, 0, r.start_ns + 500, 0, 0);
    for (int i = 0; i < 3; i++) {
        frame_record(&r.out, RECORD_ENTER, 100);
        pack_varint(&r.out, i > 0);
    }
    frame_close(&r.out);
    frame_events(&r.out, 0, 1000, r.start_ns + 5000, 1, r.start_ns + 600);
    frame_record(&r.out, RECORD_ENTER, 0);
    pack_varint(&r.out, 2);
    frame_close(&r.out);
    frame_tick(&r.out, r.start_ns + TICK_NS);
    assert_int_equal(talk(&stream, &r), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(m(s(s)s)s(M");
    assert_int_equal(p.batch->event[3].time_ns, 800); /* the last that was known */
    assert_int_equal(p.batch->event[5].time_ns, 5000);
    assert_int_equal(stream.n_lost, 1000);
    frame_events(&r.out, 0, 7, r.start_ns + TICK_NS + 900, 3, r.start_ns + TICK_NS + 100);
    frame_record(&r.out, RECORD_LEAVE, 0);
    frame_close(&r.out);
    frame_tick(&r.out, r.start_ns + 2 * TICK_NS);
    assert_int_equal(talk(&stream, &r), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), ")M)m(m(s(s)s");
    assert_int_equal(p.batch->event[p.begin + 2].time_ns, TICK_NS + 100);
    assert_int_equal(stream.n_lost, 1007);
    assert_int_equal(stream.quality.n[QUALITY_time_backwards], 0);
    go(&r);
    stream_close(&stream);
}

/* Nobody ticks, and the events are in the future: nothing ends the step but their number. */
static void no_more_than_some_events_wait(void **state)
{
    struct stream stream;
    struct rank r;
    size_t n = 0;

    (void)state;
    open_stream(&stream);
    r = come(0, 2);
    do {
        frame_events(&r.out, 0, 0, r.start_ns + 200 * TICK_NS, 0, 0);
        for (size_t i = 0; i < 100000; i++) {
            frame_record(&r.out, RECORD_ENTER, 0);
            pack_varint(&r.out, 1);
            frame_record(&r.out, RECORD_LEAVE, 0);
        }
        frame_close(&r.out);
        n += 200000;
    } while (talk(&stream, &r) == STREAM_IDLE);
    assert_in_range(n, 4000000, 5000000);
    go(&r);
    stream_close(&stream);
}

static void a_rank_that_dies_hurts_nobody(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = come(1, 2);
    send_step(&a, 0.5);
    send_step(&a, 0.6);
    a.out.n -= 3; /* killed while it wrote */
    talk(&stream, &a);
    go(&a);
    send_step(&b, 0.5);
    frame_tick(&b.out, b.start_ns + TICK_NS);
    frame_bye(&b.out);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    go(&b);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 1);
    assert_int_equal(stream.quality.n[QUALITY_bad_record], 0);
    assert_int_equal(stream.defs->n_ranks, 2);
    stream_close(&stream);
}

static void a_program_may_come_again(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank r;

    (void)state;
    open_stream(&stream);
    for (int i = 0; i < 3; i++) {
        r = come(0, 2); /* the other one is never there */
        frame_events(&r.out, 0, 0, now_ns(), 0, 0);
        frame_record(&r.out, RECORD_ENTER, 0);
        pack_varint(&r.out, 0);
        frame_close(&r.out);
        talk(&stream, &r);
        go(&r);
        assert_int_equal(wait_for_step(&stream), STREAM_STEP);
        assert_string_equal(letters(&stream, &p), i == 0 ? "(m" : ")m(m");
        assert_int_equal(p.location, 0);
    }
    assert_int_equal(stream.defs->n_locations, 1);
    assert_int_equal(stream.defs->n_metadata, 3);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 3);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    stream_close(&stream);
}

static void goodbyes_end_it_at_once(void **state)
{
    struct stream stream;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = come(1, 2);
    frame_bye(&a.out);
    frame_bye(&b.out);
    talk(&stream, &a);
    talk(&stream, &b);
    go(&a);
    assert_int_equal(stream_next(&stream, 0), STREAM_IDLE);
    go(&b);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 0);
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_through),
        cmocka_unit_test(the_example_of_the_page_is_right),
        cmocka_unit_test(a_step_waits_for_all_ranks),
        cmocka_unit_test(a_rank_that_says_nothing_is_not_waited_for),
        cmocka_unit_test(what_happens_at_one_moment_has_one_time_on_all_nodes),
        cmocka_unit_test(after_a_gap_the_stack_is_right),
        cmocka_unit_test(no_more_than_some_events_wait),
        cmocka_unit_test(a_rank_that_dies_hurts_nobody),
        cmocka_unit_test(a_program_may_come_again),
        cmocka_unit_test(goodbyes_end_it_at_once),
    };

    return sample_main(tests);
}
