#include "trace/tau/tau_decoder.h"

#include "trace/source.h"
#include "trace/tau/tau_step.h"

#include "test.h"

#define START 1600000000000000u
#define ROW(...) ((uint64_t[]){__VA_ARGS__})

/* A decoder with everything around it, and what a typical file says first. */
struct world {
    struct definitions defs;
    struct names programs;
    struct quality quality;
    struct tau_decoder d;
};

static void say(struct world *w, const char *name, const char *value)
{
    char text[300];
    int n = snprintf(text, sizeof text, "%s%c%s", name, 0, value);

    tau_decoder_block(&w->d, TAU_ATTRIBUTES, text, (size_t)n + 1);
}

static void begin(struct world *w)
{
    *w = (struct world){0};
    w->d.defs = &w->defs;
    w->d.programs = &w->programs;
    w->d.quality = &w->quality;
    w->d.file_program = "";
    w->d.makes_locations = w->d.wants_counters = true;
    tau_decoder_init(&w->d);
    say(w, "event_type 0", "ENTRY");
    say(w, "event_type 1", "EXIT");
    say(w, "event_type 2", "SEND");
    say(w, "event_type 3", "RECV");
    say(w, "timer 0", "main");
    say(w, "timer 1", "MPI_Send()");
    say(w, "counter 0", "size");
}

static void end(struct world *w)
{
    tau_decoder_release(&w->d);
    definitions_release(&w->defs);
    names_release(&w->programs);
}

static void event(struct world *w, uint64_t thread, uint64_t type, uint64_t timer, uint64_t us)
{
    tau_decoder_block(&w->d, TAU_EVENTS, ROW(0, 3, thread, type, timer, START + us), 48);
}

static void send_to(struct world *w, uint64_t partner, uint64_t us)
{
    tau_decoder_block(&w->d, TAU_MESSAGES, ROW(0, 3, 0, 2, 7, partner, 64, START + us), 64);
}

static void count(struct world *w, uint64_t counter, uint64_t value, uint64_t us)
{
    tau_decoder_block(&w->d, TAU_COUNTERS, ROW(0, 3, 0, counter, value, START + us), 48);
}

static void end_step(struct world *w)
{
    tau_decoder_block(&w->d, TAU_STEP_END, &(struct tau_step_end){0},
                      sizeof(struct tau_step_end));
}

/* Kinds of a location's events as letters: enter ( leave ) message m counter c; empties it. */
static const char *taken(struct world *w, uint32_t location)
{
    static char text[100];
    struct event_batch *batch = &w->d.location[location].batch;

    for (size_t i = 0; i < batch->n; i++)
        text[i] = "()m__c"[batch->event[i].kind];
    text[batch->n] = '\0';
    batch->n = batch->n_messages = batch->n_counters = 0;
    return text;
}

static void messages_and_counters_are_placed_by_time(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    send_to(&w, 5, 20); /* stamped as the leave of MPI_Send: inside it */
    send_to(&w, 5, 10); /* stamped as its enter, and told in the wrong order: inside too */
    count(&w, 0, 42, 30);
    event(&w, 0, 0, 0, 0);
    event(&w, 0, 0, 1, 10);
    event(&w, 0, 1, 1, 20);
    event(&w, 0, 1, 0, 31);
    end_step(&w);
    assert_int_equal(w.d.location[0].batch.message[0].peer, 5);
    assert_int_equal(w.d.location[0].batch.message[0].begin_ns, 10000);
    assert_int_equal(w.d.location[0].batch.message[1].order, 1);
    assert_int_equal(w.d.location[0].batch.counter[0].whole, 42);
    assert_string_equal(taken(&w, 0), "((mm)c)");
    assert_int_equal(w.defs.location[0].rank, 3);
    assert_false(quality_is_damaged(&w.quality));
    end(&w);
}

static void what_is_later_than_the_last_event_belongs_to_the_next_step(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    send_to(&w, 5, 150);
    event(&w, 0, 0, 0, 0);
    end_step(&w);
    assert_string_equal(taken(&w, 0), "(");
    event(&w, 0, 0, 1, 140);
    event(&w, 0, 1, 1, 160);
    end_step(&w);
    assert_string_equal(taken(&w, 0), "(m)");
    count(&w, 0, 1, 900); /* nothing is called for two steps: it waits for one */
    end_step(&w);
    assert_string_equal(taken(&w, 0), "");
    end_step(&w);
    assert_string_equal(taken(&w, 0), "c");
    count(&w, 0, 1, 950);
    end_step(&w);
    tau_decoder_finish(&w.d);
    assert_string_equal(taken(&w, 0), "c");
    end(&w);
}

/* Each step tells a counter that waits for the next one. */
static void what_waits_for_the_next_step_is_all_that_is_kept(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    for (uint64_t us = 0; us < 10000; us += 100) {
        count(&w, 0, us, us + 50);
        event(&w, 0, 0, 0, us);
        event(&w, 0, 1, 0, us + 10);
        end_step(&w);
        assert_string_equal(taken(&w, 0), us == 0 ? "()" : "c()");
        assert_int_equal(w.d.location[0].n_extra, 1);
    }
    end(&w);
}

/* As a whole run in one step: all messages, then all counters, one of each time. */
static void many_messages_and_counters_are_merged(void **state)
{
    enum { N = 100000 };
    const struct event_batch *batch;
    struct world w;

    (void)state;
    begin(&w);
    for (uint64_t i = 0; i < N; i++)
        send_to(&w, 5, i);
    for (uint64_t i = 0; i < N; i++)
        count(&w, 0, i, i);
    event(&w, 0, 0, 0, 0);
    event(&w, 0, 1, 0, N);
    end_step(&w);
    batch = &w.d.location[0].batch;
    assert_int_equal(batch->n, 2 * N + 2);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(batch->event[2 * i + 1].kind, EVENT_MESSAGE);
        assert_int_equal(batch->event[2 * i + 2].kind, EVENT_COUNTER);
        assert_int_equal(batch->event[2 * i + 2].time_ns, i * 1000);
        assert_int_equal(batch->counter[i].whole, i);
    }
    end(&w);
}

static void rows_that_make_no_sense_are_left_out(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    event(&w, 0, 0, 0, 0);
    event(&w, 0, 0x7fffffff, 0, 1);  /* no such event type */
    event(&w, UINT64_MAX, 0, 0, 1);  /* no such thread */
    event(&w, 0, 2, 0, 1);           /* a message among calls */
    send_to(&w, UINT64_MAX, 1);      /* to nobody */
    count(&w, UINT64_MAX, 1, 1);     /* no such counter */
    count(&w, 0, 1, UINT64_MAX / 2); /* at no time */
    event(&w, 0, 1, 0, 2);
    end_step(&w);
    assert_string_equal(taken(&w, 0), "()");
    assert_int_equal(w.quality.n[QUALITY_bad_value], 6);
    assert_int_equal(w.d.location_id.n, 1);
    end(&w);
}

static void times_that_cannot_be_do_not_move_what_follows(void **state)
{
    struct world w;
    struct event_batch *batch;

    (void)state;
    begin(&w);
    event(&w, 0, 0, 0, 0);
    event(&w, 0, 0, 1, UINT64_MAX - START); /* 2^64 - 1 */
    event(&w, 0, 1, 1, -(uint64_t)START);   /* 0 */
    event(&w, 0, 1, 0, 10);
    end_step(&w);
    batch = &w.d.location[0].batch;
    assert_int_equal(batch->event[1].time_ns, 0);
    assert_int_equal(batch->event[2].time_ns, 0);
    assert_int_equal(batch->event[3].time_ns, 10000);
    assert_int_equal(w.quality.n[QUALITY_time_backwards], 2);
    end(&w);
}

/* Two days of nothing are believed once a third row says so. */
static void a_long_pause_is_believed_when_more_rows_say_so(void **state)
{
    const uint64_t days = 2 * 86400000000u;
    struct world w;

    (void)state;
    begin(&w);
    event(&w, 0, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        event(&w, 0, 0, 1, days + 10);
    end_step(&w);
    assert_int_equal(w.d.location[0].batch.event[2].time_ns, 0);
    assert_int_equal(w.d.location[0].batch.event[3].time_ns, (days + 10) * 1000);
    assert_int_equal(w.d.location[0].batch.event[4].time_ns, (days + 10) * 1000);
    assert_int_equal(w.quality.n[QUALITY_time_backwards], 2);
    end(&w);
}

/* Thread 0 calls something each hour; another thread begins after thirty of them, and so does the
 * program of another file. A wrong time is one in both, nevertheless. */
static void who_begins_after_a_day_begins_then(void **state)
{
    const uint64_t hour = 3600000000u, late = 30 * hour;
    struct tau_decoder second;
    struct world w;

    (void)state;
    begin(&w);
    for (uint64_t us = 0; us <= late; us += hour)
        event(&w, 0, 0, 0, us);
    event(&w, 1, 0, 0, late + 1);
    event(&w, 1, 1, 0, 9 * late);
    event(&w, 1, 1, 0, late + 2);
    assert_int_equal(w.d.location[1].batch.event[0].time_ns, (late + 1) * 1000);
    assert_int_equal(w.d.location[1].batch.event[1].time_ns, (late + 1) * 1000);
    assert_int_equal(w.d.location[1].batch.event[2].time_ns, (late + 2) * 1000);
    assert_int_equal(w.quality.n[QUALITY_time_backwards], 1);
    event(&w, 2, 0, 0, 1); /* told late, but of the begin */
    assert_int_equal(w.d.location[2].batch.event[0].time_ns, 1000);
    second = w.d;
    memset(&w.d, 0, sizeof w.d);
    w.d.defs = &w.defs;
    w.d.programs = &w.programs;
    w.d.quality = &w.quality;
    w.d.file_program = "";
    tau_decoder_init(&w.d);
    event(&w, 0, 0, 0, late + 3);
    assert_int_equal(w.d.location[0].batch.event[0].time_ns, (late + 3) * 1000);
    assert_int_equal(w.quality.n[QUALITY_time_backwards], 1);
    tau_decoder_release(&second);
    end(&w);
}

static void a_first_time_that_is_far_off_is_not_the_start(void **state)
{
    struct world w;
    uint64_t row[5][6];

    (void)state;
    begin(&w);
    for (uint64_t i = 0; i < 5; i++)
        memcpy(row[i], ROW(0, 0, 0, 0, 0, i ? START + i : 1), sizeof row[i]);
    tau_decoder_block(&w.d, TAU_EVENTS, row, sizeof row);
    assert_int_equal(w.defs.origin_ticks, START + 2);
    assert_int_equal(w.defs.wall_time_ns, (START + 2) * 1000);
    assert_int_equal(w.d.location[0].batch.event[4].time_ns, 2000);
    end(&w);
}

static void a_timer_may_be_named_after_it_was_used(void **state)
{
    struct world w;
    const struct event *e;

    (void)state;
    begin(&w);
    event(&w, 0, 0, 9, 0);
    end_step(&w);
    say(&w, "timer 9", "late");
    event(&w, 0, 1, 9, 5); /* of the call that had no name: whatever is on top */
    event(&w, 0, 0, 9, 6);
    end_step(&w);
    e = w.d.location[0].batch.event;
    assert_string_equal(w.defs.region[e[0].ref].name, "(undefined timer 9)");
    assert_int_equal(e[1].ref, ANY_REGION);
    assert_string_equal(w.defs.region[e[2].ref].name, "late");
    assert_int_equal(w.quality.n[QUALITY_undefined_region], 1);
    end(&w);
}

static void a_counter_may_be_named_after_it_was_used(void **state)
{
    struct world w;
    const struct counter_value *c;

    (void)state;
    begin(&w);
    event(&w, 0, 0, 0, 0);
    count(&w, 7, 1, 1);
    end_step(&w);
    say(&w, "counter 7", "late");
    count(&w, 7, 2, 2);
    event(&w, 0, 1, 0, 5);
    end_step(&w);
    tau_decoder_finish(&w.d);
    c = w.d.location[0].batch.counter;
    assert_int_equal(w.d.location[0].batch.n_counters, 2);
    assert_string_equal(w.defs.counters.name[c[0].counter], "(undefined counter 7)");
    assert_string_equal(w.defs.counters.name[c[1].counter], "late");
    assert_int_equal(w.quality.n[QUALITY_bad_definition], 0);
    say(&w, "counter 7", "later");
    assert_int_equal(w.quality.n[QUALITY_bad_definition], 1);
    end(&w);
}

static void attributes_that_make_no_sense_are_counted(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    say(&w, "timer abc", "x");
    say(&w, "timer -1", "x");
    say(&w, "timer 0", "another main");
    say(&w, "event_type 1", "ENTRY");
    say(&w, "counter 18446744073709551616", "x");
    say(&w, "MetaData:me", "x");
    say(&w, "MetaData:99999999999:0:0:x", "x");
    say(&w, "something else", "x");
    tau_decoder_block(&w.d, TAU_ATTRIBUTES, "no value", 8);
    assert_int_equal(w.quality.n[QUALITY_bad_definition], 7);
    event(&w, 0, 1, 0, 0);
    assert_int_equal(w.d.location[0].batch.event[0].kind, EVENT_LEAVE);
    assert_string_equal(w.defs.region[w.d.location[0].batch.event[0].ref].name, "main");
    end(&w);
}

static void metadata_comes_with_and_without_a_program(void **state)
{
    struct world w;
    const struct metadata *m;

    (void)state;
    begin(&w);
    say(&w, "MetaData:0:3:1:Hostname", "node17");
    say(&w, "MetaData:3:1:CPU: type", "fast");
    say(&w, "MetaData:0:3:1:CUDA Stream", "7");
    say(&w, "MetaData:0:3:1:CUDA Device", "2");
    event(&w, 1, 0, 0, 0);
    m = w.defs.metadata;
    assert_int_equal(w.defs.n_metadata, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(m[i].program, 0);
        assert_int_equal(m[i].rank, 3);
        assert_int_equal(m[i].thread, 1);
    }
    assert_string_equal(m[0].key, "Hostname");
    assert_string_equal(m[1].key, "CPU: type");
    assert_int_equal(w.defs.n_locations, 1);
    assert_true(w.defs.location[0].is_gpu);
    assert_int_equal(w.defs.location[0].gpu_device, 2);
    assert_int_equal(w.defs.location[0].gpu_stream, 7);
    end(&w);
}

static void the_start_that_is_stated_is_the_origin(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    say(&w, "MetaData:0:0:0:Starting Timestamp", "1599999999990000");
    say(&w, "MetaData:0:1:0:Starting Timestamp", "1"); /* not so long ago */
    event(&w, 0, 0, 0, 0);
    assert_int_equal(w.d.location[0].batch.event[0].time_ns, 10000000);
    end(&w);
}

/* As for a reader that comes late to a stream. */
static void without_definitions_only_the_names_are_lost(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    memset(w.d.event_type, 0, sizeof w.d.event_type);
    w.d.has_types = false;
    event(&w, 0, 1, 7, 0);
    event(&w, 0, 0, 8, 1);
    event(&w, 0, 1, 8, 2);
    end_step(&w);
    assert_string_equal(taken(&w, 0), ")()");
    assert_int_equal(w.quality.n[QUALITY_missing_definitions], 1);
    assert_int_equal(w.quality.n[QUALITY_undefined_region], 2);
    assert_int_equal(w.quality.n[QUALITY_bad_value], 0);
    end(&w);
}

static void rows_that_are_missing_are_counted(void **state)
{
    struct world w;
    struct tau_step_end step = {.n_short = 12, .n_bad = 2};

    (void)state;
    begin(&w);
    tau_decoder_block(&w.d, TAU_STEP_END, &step, sizeof step);
    assert_int_equal(w.quality.n[QUALITY_lost_rows], 12);
    assert_int_equal(w.quality.n[QUALITY_bad_record], 2);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_and_counters_are_placed_by_time),
        cmocka_unit_test(a_counter_may_be_named_after_it_was_used),
        cmocka_unit_test(what_is_later_than_the_last_event_belongs_to_the_next_step),
        cmocka_unit_test(what_waits_for_the_next_step_is_all_that_is_kept),
        cmocka_unit_test(many_messages_and_counters_are_merged),
        cmocka_unit_test(rows_that_make_no_sense_are_left_out),
        cmocka_unit_test(times_that_cannot_be_do_not_move_what_follows),
        cmocka_unit_test(a_long_pause_is_believed_when_more_rows_say_so),
        cmocka_unit_test(who_begins_after_a_day_begins_then),
        cmocka_unit_test(a_first_time_that_is_far_off_is_not_the_start),
        cmocka_unit_test(a_timer_may_be_named_after_it_was_used),
        cmocka_unit_test(attributes_that_make_no_sense_are_counted),
        cmocka_unit_test(metadata_comes_with_and_without_a_program),
        cmocka_unit_test(the_start_that_is_stated_is_the_origin),
        cmocka_unit_test(without_definitions_only_the_names_are_lost),
        cmocka_unit_test(rows_that_are_missing_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
