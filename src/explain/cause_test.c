#include "explain/cause.h"

#include "explain/team_barrier.h"

#include <math.h>
#include <stdlib.h>

#include "sample_view.h"
#include "test.h"

/* A trace (sample_view.h says how it is said), and the chain that was followed last. */
struct said {
    struct sample_view trace;
    double lost_ns; /* of the call that chains begin with; INFINITY: not known */
    struct stretch stretch;
    struct cause cause;
};

static void begin(struct said *s, uint32_t n_ranks, const char *const *text)
{
    *s = (struct said){.lost_ns = INFINITY};
    sample_view_init(&s->trace, n_ranks, text);
}

static void end(struct said *s)
{
    stretch_release(&s->stretch);
    sample_view_release(&s->trace);
}

/* The chain from a call, as a sentence and why it ends. */
static const char *chain(struct said *s, uint32_t location, uint32_t row)
{
    static char out[2 * CAUSE_SIZE];
    char sentence[CAUSE_SIZE];

    cause_of(&s->trace.view, location, row, s->lost_ns, &s->stretch, &s->cause);
    for (uint32_t i = 1; i < s->cause.n; i++)
        assert_true(s->cause.link[i].explained_ns <= s->cause.link[i - 1].explained_ns);
    cause_sentence(&s->trace.view, &s->cause, sentence);
    snprintf(out, sizeof out, "%s: %s", cause_end_name(s->cause.end), sentence);
    return out;
}

static const char *said_chain(uint32_t n_ranks, const char *const *text, uint32_t location,
                              uint32_t row)
{
    struct said s;
    const char *out;

    begin(&s, n_ranks, text);
    out = chain(&s, location, row);
    end(&s);
    return out;
}

#define CHAIN(rank, row, ...)                                                                  \
    said_chain(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                    \
               (const char *const[]){__VA_ARGS__}, rank, row)

/* --------------------------------------------------------------------------------- tests */

static void a_chain_of_late_senders_is_followed_over_four_ranks(void **state)
{
    static const char *const text[] = {
        "step@0-66( calc@0-10 MPI_Recv@10-66<1 )",
        "step@0-65( calc@0-10 MPI_Recv@10-64<2 MPI_Send@64-65>0 )",
        "step@0-63( calc@0-10 MPI_Recv@10-62<3 MPI_Send@62-63>1 )",
        "step@0-61( calc@0-60 MPI_Send@60-61>2 )",
    };
    struct said s;

    (void)state;
    begin(&s, 4, text);
    assert_string_equal(chain(&s, 0, 2),
                        "not_waiting: MPI_Recv 56.0 us <- rank 1 MPI_Recv 54.0 us <- rank 2 "
                        "MPI_Recv 52.0 us <- rank 3 calc 50.0 us");
    assert_int_equal(s.cause.n, 4);
    assert_int_equal(s.cause.link[0].explained_ns, 56000);
    assert_int_equal(s.cause.link[1].explained_ns, 54000);
    assert_int_equal(s.cause.link[2].explained_ns, 52000);
    assert_int_equal(s.cause.link[3].explained_ns, 50000);
    assert_int_equal(s.cause.link[3].location, 3);
    assert_int_equal(s.cause.link[3].call, 1);
    assert_int_equal(s.cause.link[3].begin_ns, 10000);
    assert_int_equal(s.cause.link[3].end_ns, 60000);
    assert_int_equal(s.cause.link[2].waiting.bytes, 64);
    assert_int_equal(s.cause.link[2].waiting.tag, 7);
    assert_true(s.cause.link[2].waiting.is_late && !s.cause.link[2].waiting.is_guess);
    assert_int_equal(s.cause.link[2].waiting.delay_ns, 50000);
    end(&s);
}

/*
 * Both leave the barrier at 2. Rank 1 is held up for 10 by a flush, then works as rank 0 does;
 * it works, ordinarily, nearly all the time that rank 0 waits.
 */
static void work_both_ranks_do_is_not_the_cause(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 3, "step@0-31( MPI_Barrier@0-2| calc@2-20 MPI_Recv@20-31<1 )",
              "step@0-31( MPI_Barrier@0-2| flush@2-12 calc@12-30 MPI_Send@30-31>0 )"),
        "not_waiting: MPI_Recv 11.0 us <- rank 1 flush 10.0 us");
}

/* The tracer held rank 1 up: that is the cause, and it is said whose it is. */
static void a_chain_that_ends_in_the_tracer_says_so(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 3, "step@0-31( MPI_Barrier@0-2| calc@2-20 MPI_Recv@20-31<1 )",
              "step@0-31( MPI_Barrier@0-2| FLUSH@2-12 calc@12-30 MPI_Send@30-31>0 )"),
        "tracer: MPI_Recv 11.0 us <- rank 1 FLUSH 10.0 us (the tracer)");
}

/* The same without a barrier: they were in step when rank 1 got a message of rank 0. */
static void ranks_are_in_step_after_a_message(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 3, "step@0-31( MPI_Send@0-2>1 calc@2-20 MPI_Recv@20-31<1 )",
              "step@0-31( MPI_Recv@0-3<0 flush@3-12 calc@12-30 MPI_Send@30-31>0 )"),
        "not_waiting: MPI_Recv 11.0 us <- rank 1 flush 9.00 us");
}

/* Rank 1 was late already when it took the message of rank 0: the cause lies before. */
static void a_message_taken_late_puts_nobody_in_step(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 4, "step@0-41( MPI_Barrier@0-2| MPI_Send@2-3>1 calc@3-20 MPI_Recv@20-41<1 )",
              "step@0-41( MPI_Barrier@0-2| flush@2-22 MPI_Recv@22-23<0 calc@23-40 "
              "MPI_Send@40-41>0 )"),
        "not_waiting: MPI_Recv 21.0 us <- rank 1 flush 20.0 us");
}

static void many_small_calls_count_as_one(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 2, "step@0-41( calc@0-10 MPI_Recv@10-41<1 )",
              "step@0-41( calc@0-10 ev@10-18 io@18-22 ev@22-30 io@30-34 ev@34-40 "
              "MPI_Send@40-41>0 )"),
        "not_waiting: MPI_Recv 31.0 us <- rank 1 ev 22.0 us");
}

static void a_wait_for_a_request_is_a_receive(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 3, "step@0-50( MPI_Irecv@0-1 calc@1-5 MPI_Wait@5-50<<1/0 )",
              "step@0-50( MPI_Irecv@0-1 calc@1-5 MPI_Wait@5-40<<2/0 MPI_Isend@40-41>>0 "
              "MPI_Wait@41-42=1 )",
              "step@0-50( calc@0-5 flush@5-30 MPI_Send@30-31>1 )"),
        "not_waiting: MPI_Wait 45.0 us <- rank 1 MPI_Wait 35.0 us <- rank 2 flush 25.0 us");
}

/* Of several operations completed at once, the one that was released last counts. */
static void a_waitall_waits_for_the_last_of_its_messages(void **state)
{
    struct said s;
    static const char *const text[] = {
        "step@0-50( MPI_Waitall@5-50( r@5-30<<1/0 r@30-50<<2/0 ) )",
        "step@0-50( calc@0-20 MPI_Send@20-21>0 )",
        "step@0-50( io@0-45 MPI_Send@45-46>0 )",
    };

    (void)state;
    begin(&s, 3, text);
    chain(&s, 0, 1);
    assert_int_equal(s.cause.n, 2);
    assert_int_equal(s.cause.link[0].waiting.rank, 2);
    assert_int_equal(s.cause.link[0].waiting.delay_ns, 40000);
    assert_int_equal(s.cause.link[1].location, 2);
    end(&s);
}

static void a_barrier_waits_for_the_last_one_in(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 1, "step@0-50( MPI_Barrier@5-50| )",
                              "step@0-50( MPI_Barrier@15-50| )",
                              "step@0-50( calc@0-5 io@5-45 MPI_Barrier@45-50| )",
                              "step@0-50( MPI_Barrier@5-50| )"),
                        "not_waiting: MPI_Barrier 45.0 us <- rank 2 io 40.0 us");
}

/* What a probe waits for is in the record of the receive behind it. */
static void a_probe_waits_for_what_is_received_next(void **state)
{
    static const char *const late = "calc@0-40 MPI_Send@40-41>0";

    (void)state;
    assert_string_equal(
        CHAIN(0, 0, "MPI_Probe@2-42 MPI_Get_count@42-43 MPI_Recv@43-44<1", late),
        "not_waiting: MPI_Probe 40.0 us <- rank 1 calc 38.0 us");
    assert_string_equal(
        CHAIN(0, 1, "look@2-43( MPI_Iprobe@2-42 ) take@43-45( MPI_Recv@43-44<1 )", late),
        "not_waiting: MPI_Iprobe 40.0 us <- rank 1 calc 38.0 us");
    assert_string_equal(
        CHAIN(0, 1,
              "look@2-43( MPI_Iprobe@2-42 ) BUFFER_FLUSH@43-50 take@50-52( MPI_Recv@51-52<1 )",
              late),
        "not_waiting: MPI_Iprobe 40.0 us <- rank 1 calc 38.0 us");
    assert_string_equal(CHAIN(0, 0, "MPI_Probe@2-42 MPI_Barrier@42-43| MPI_Recv@43-44<1", late),
                        "unknown: MPI_Probe 40.0 us");
    assert_string_equal(CHAIN(0, 0, "MPI_Probe@2-42 MPI_Recv@143-144<1", late),
                        "unknown: MPI_Probe 40.0 us");
}

static void a_broadcast_waits_for_its_root(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 1, "step@0-50( MPI_Bcast@5-30^1 )",
                              "step@0-50( calc@0-29 MPI_Bcast@29-30^1 )",
                              "step@0-50( io@0-45 MPI_Bcast@45-50^1 )"),
                        "not_waiting: MPI_Bcast 25.0 us <- rank 1 calc 24.0 us");
}

/*
 * Rank 1 waits for the root in each broadcast, 6 of 14 in this one, and took 8 more in it alone:
 * that is what held rank 0 up. Where it is not known what is typical, the wait may be the cause.
 */
static void who_comes_as_late_as_ever_is_not_the_cause(void **state)
{
    static const char *const text[] = {
        "step@0-40( MPI_Barrier@0-1| prep@1-7 MPI_Bcast@7-8^0 calc@8-18 MPI_Reduce@18-26_0 )",
        "step@0-40( MPI_Barrier@0-1| MPI_Bcast@1-15^0 calc@15-25 MPI_Reduce@25-26_0 )",
    };
    struct said s;

    (void)state;
    assert_string_equal(said_chain(2, text, 0, 5),
                        "in_time: MPI_Reduce 8.00 us <- rank 1 MPI_Bcast 14.0 us <- rank 0 "
                        "(not late enough)");
    assert_string_equal(said_chain(2, text, 1, 2),
                        "not_waiting: MPI_Bcast 14.0 us <- rank 0 prep 6.00 us");
    begin(&s, 2, text);
    s.lost_ns = 8000;
    assert_string_equal(chain(&s, 1, 2),
                        "in_time: MPI_Bcast 14.0 us <- rank 0 (not late enough)");
    s.lost_ns = 9000;
    assert_string_equal(chain(&s, 1, 2),
                        "not_waiting: MPI_Bcast 14.0 us <- rank 0 prep 6.00 us");
    end(&s);
}

/* A leaf sends and goes on, whoever comes later; who stands for others in the tree stays for
 * them; the root waits for all. */
static void a_reduction_holds_up_who_stays_for_others(void **state)
{
    static const char *const text[] = {
        "step@0-90( MPI_Reduce@5-71_0 )",
        "step@0-90( calc@0-70 MPI_Reduce@70-71_0 )",
        "step@0-90( MPI_Reduce@5-12_0 calc@12-90 )",
        "step@0-90( MPI_Reduce@5-72_0 )",
    };

    (void)state;
    assert_string_equal(said_chain(4, text, 0, 1),
                        "not_waiting: MPI_Reduce 66.0 us <- rank 1 calc 65.0 us");
    assert_string_equal(said_chain(4, text, 2, 1),
                        "in_time: MPI_Reduce 7.00 us <- rank 2 (in time)");
    assert_string_equal(said_chain(4, text, 3, 1),
                        "not_waiting: MPI_Reduce 67.0 us <- rank 1 calc 65.0 us");
}

/* Rank 2 comes last of all, and holds up nobody who had gone before. */
static void in_a_scan_who_comes_before_one_goes_is_waited_for(void **state)
{
    static const char *const text[] = {
        "step@0-90( MPI_Scan@5-52? )",
        "step@0-90( calc@0-50 MPI_Scan@50-51? )",
        "step@0-90( calc@0-70 MPI_Scan@70-71? )",
        "step@0-90( MPI_Scan@5-30? )",
    };

    (void)state;
    assert_string_equal(said_chain(4, text, 0, 1),
                        "not_waiting: MPI_Scan 47.0 us <- rank 1 calc 45.0 us");
    assert_string_equal(said_chain(4, text, 3, 1), "unknown: MPI_Scan 25.0 us");
}

/* No trace has records of fences; the second of each rank belong together, and after the first all
 * were in step, so that rank 1's slow start is not the cause. Of rank 2 there is one fence
 * more, and in a part of a run some may be missing: who meets whom is not known. */
static void fences_are_told_apart_by_their_number(void **state)
{
    static const char *const text[] = {
        "step@0-90( MPI_Win_fence@0-21 calc@21-30 MPI_Win_fence@30-81 )",
        "step@0-90( io@0-20 MPI_Win_fence@20-21 calc@21-80 MPI_Win_fence@80-81 )",
        "step@0-90( MPI_Win_fence@0-1 MPI_Win_fence@1-2 MPI_Win_fence@2-3 )",
    };
    struct said s;

    (void)state;
    begin(&s, 2, text);
    assert_string_equal(chain(&s, 0, 3),
                        "not_waiting: MPI_Win_fence 51.0 us <- rank 1 calc 59.0 us");
    assert_true(s.cause.link[0].waiting.is_guess);
    end(&s);
    assert_string_equal(said_chain(3, text, 0, 3), "unknown: MPI_Win_fence 51.0 us");
    begin(&s, 2, text);
    s.trace.view.is_whole = false;
    assert_string_equal(chain(&s, 0, 3), "unknown: MPI_Win_fence 51.0 us");
    end(&s);
}

/* Barrier, then a request, then a blocking receive, each held up by the next rank. */
static void kinds_of_waiting_mix(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 1, "step@0-80( MPI_Barrier@5-80| )",
              "step@0-80( MPI_Irecv@0-1 MPI_Wait@6-70<<2/0 MPI_Barrier@71-80| )",
              "step@0-80( calc@0-7 MPI_Recv@7-60<3 MPI_Send@61-62>1 MPI_Barrier@62-80| )",
              "step@0-80( flush@0-50 MPI_Send@50-51>2 MPI_Barrier@51-80| )"),
        "not_waiting: MPI_Barrier 75.0 us <- rank 1 MPI_Wait 64.0 us <- rank 2 MPI_Recv 53.0 "
        "us "
        "<- rank 3 flush 43.0 us");
}

static void a_message_that_is_not_in_the_trace_ends_it(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-50<1 )",
                              "step@0-50( calc@0-10 MPI_Recv@10-48<2 MPI_Send@48-49>0 )",
                              "step@0-50( calc@0-50 )"),
                        "unmatched: MPI_Recv 40.0 us <- rank 1 MPI_Recv 38.0 us <- rank 2 "
                        "(message not in the trace)");
}

/* Who comes last into the call that completes it; nobody, where it was complete before. */
static void a_collective_that_does_not_block_waits_for_who_completes_it_last(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-50( MPI_Ibarrier@0-1 MPI_Wait@5-50|/0 )",
                              "step@0-50( MPI_Ibarrier@0-1 calc@1-30 MPI_Wait@30-50|/0 )",
                              "step@0-50( MPI_Ibarrier@0-1 calc@1-49 MPI_Wait@49-50|/0 )"),
                        "not_waiting: MPI_Wait 45.0 us <- rank 2 calc 44.0 us");
    assert_string_equal(CHAIN(0, 2, "step@0-50( MPI_Ibarrier@0-1 MPI_Wait@5-40|/0 calc@40-50 )",
                              "step@0-50( MPI_Ibarrier@0-1 calc@1-30 MPI_Wait@30-40|/0 )",
                              "step@0-50( MPI_Ibarrier@0-1 calc@1-49 MPI_Wait@49-50|/0 )"),
                        "in_time: MPI_Wait 35.0 us <- rank 0 (in time)");
}

static void a_rank_without_data_ends_it(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-50<1 )",
                              "step@0-50( calc@0-10 MPI_Recv@10-48<2 MPI_Send@48-49>0 )", ""),
                        "no_data: MPI_Recv 40.0 us <- rank 1 MPI_Recv 38.0 us <- rank 2 "
                        "(no data)");
    assert_string_equal(
        CHAIN(0, 1, "step@0-50( MPI_Barrier@5-50| )", "step@0-50( MPI_Barrier@5-50| )", "", ""),
        "no_data: MPI_Barrier 45.0 us <- 2 ranks (no data)");
}

/* The receive is posted when rank 1 is done with its work; until then the send cannot end. */
static void a_late_receiver_is_what_a_large_send_waits_for(void **state)
{
    struct said s;
    static const char *const text[] = {
        "step@0-50( calc@0-10 MPI_Send@10-42>1 )",
        "step@0-50( calc@0-10 io@10-40 MPI_Recv@40-43<0 )",
    };

    (void)state;
    begin(&s, 2, text);
    assert_string_equal(chain(&s, 0, 2), "not_waiting: MPI_Send 32.0 us <- rank 1 io 30.0 us");
    assert_int_equal(s.cause.link[0].waiting.kind, WAITING_FOR_RECEIVER);
    end(&s);
    assert_string_equal(CHAIN(0, 3,
                              "step@0-50( calc@0-10 MPI_Isend@10-11>>1 MPI_Wait@11-42=0 )",
                              "step@0-50( calc@0-10 io@10-40 MPI_Recv@40-43<0 )"),
                        "not_waiting: MPI_Wait 31.0 us <- rank 1 io 29.0 us");
}

/* It was over at 16: the receive of 40 is not what held it up, nor, by a little, that of 17. */
static void a_send_that_was_over_before_its_receive_did_not_wait_for_it(void **state)
{
    struct said s;
    char why[CAUSE_SIZE];
    static const char *const text[] = {
        "step@0-50( calc@0-10 MPI_Send@10-16>1 )",
        "step@0-50( calc@0-40 MPI_Recv@40-41<0 )",
    };

    (void)state;
    begin(&s, 2, text);
    assert_string_equal(chain(&s, 0, 2),
                        "in_time: MPI_Send 6.00 us <- rank 1 (not waited for)");
    assert_string_equal(cause_end_sentence(&s.trace.view, &s.cause, true, why),
                        "the send did not wait for rank 1: the time was spent in the operation "
                        "or in the network; the trace does not say which");
    assert_false(s.cause.link[0].waiting.is_late);
    assert_int_equal(s.cause.link[0].waiting.delay_ns, 0);
    end(&s);
    assert_string_equal(CHAIN(0, 3, "step@0-50( MPI_Isend@5-6>>1 calc@6-10 MPI_Wait@10-16=0 )",
                              "step@0-50( calc@0-40 MPI_Recv@40-41<0 )"),
                        "in_time: MPI_Wait 6.00 us <- rank 1 (not waited for)");
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Send@10-16>1 )",
                              "step@0-50( calc@0-17 MPI_Recv@17-18<0 )"),
                        "not_waiting: MPI_Send 6.00 us <- rank 1 calc 6.00 us");
}

/* Only where the receive was completed is in the trace, not when it was posted: that may have been
 * in time. */
static void a_receive_that_is_known_by_its_completion_may_be_waited_for(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-70( calc@0-10 MPI_Send@10-31>1 )",
                              "step@0-70( io@0-50 MPI_Wait@50-60<0 )"),
                        "not_waiting: MPI_Send 21.0 us <- rank 1 io 21.0 us");
}

/* In the order of calls the third is before the second: its rank waited for the second first. */
static void a_part_is_found_where_others_completed_before_it(void **state)
{
    static const struct collective part[] = {{.end_ns = 5, .order = 6, .instance = 6},
                                             {.end_ns = 15, .order = 8, .instance = 8},
                                             {.end_ns = 20, .order = 7, .instance = 7},
                                             {.end_ns = 30, .order = 9, .instance = 9}};
    const struct call_view calls = {.collective = part, .n_collectives = 4};

    (void)state;
    for (uint64_t end_ns = 1; end_ns < 40; end_ns++)
        for (int i = 0; i < 4; i++) {
            struct collective other = part[i];

            other.end_ns = end_ns;
            assert_ptr_equal(calls_collective_part(&calls, &other), &part[i]);
        }
}

/* Rank 2 comes long, or just, after rank 0 has gone on: it was rank 1's message that was late. */
static void who_sends_and_receives_waits_for_what_comes_within(void **state)
{
    const char *text[] = {"step@0-80( calc@0-10 MPI_Sendrecv@10-50( s@10-11>2 r@11-50<1 ) )",
                          "step@0-80( calc@0-48 MPI_Send@48-50>0 )",
                          "step@0-80( io@0-70 MPI_Recv@70-71<0 )"};
    struct said s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(&s, 3, text);
        chain(&s, 0, 2);
        assert_int_equal(s.cause.link[0].waiting.rank, 1);
        assert_int_equal(s.cause.link[0].waiting.delay_ns, 38000);
        end(&s);
        text[2] = "step@0-80( io@0-51 MPI_Recv@51-52<0 )";
    }
}

/* The receive was posted before, but the message moves only when rank 1 is in MPI again. */
static void a_posted_receive_still_needs_its_rank(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Send@10-42>1 )",
              "step@0-50( MPI_Irecv@0-1 calc@1-10 io@10-40 MPI_Wait@40-43<<0/0 )"),
        "not_waiting: MPI_Send 32.0 us <- rank 1 io 30.0 us");
}

/* Both are in the operation all the time. */
static void a_cycle_ends_it(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-50<1 )",
                              "step@0-50( calc@0-9 MPI_Send@9-49>0 )"),
                        "cycle: MPI_Recv 40.0 us <- rank 1 MPI_Send 39.0 us <- rank 0 (they "
                        "wait for each other)");
    assert_string_equal(
        CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Sendrecv@10-50<1 )",
              "step@0-50( calc@0-10 MPI_Recv@10-48<2 MPI_Send@48-49>0 )",
              "step@0-50( calc@0-9 MPI_Ssend@9-47>1 )"),
        "cycle: MPI_Sendrecv 40.0 us <- rank 1 MPI_Recv 38.0 us <- rank 2 MPI_Ssend 37.0 us <- "
        "rank 1 (they wait for each other)");
}

static void what_was_sent_in_time_ends_it(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-50<1 )",
                              "step@0-50( MPI_Send@5-6>0 io@6-50 )"),
                        "in_time: MPI_Recv 40.0 us <- rank 1 (in time)");
    assert_string_equal(
        CHAIN(0, 1, "step@0-50( MPI_Barrier@9-50| )", "step@0-50( MPI_Barrier@5-50| )"),
        "in_time: MPI_Barrier 41.0 us <- rank 0 (in time)");
}

/* It sent at 5, and no path of what it did meanwhile is long enough to be named. */
static void who_was_in_time_is_not_said_to_be_late(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-50<1 )",
              "step@0-50( MPI_Isend@5-6>>0 a@6-15 b@15-24 c@24-33 d@33-42 e@42-48 "
              "MPI_Wait@48-50=0 )"),
        "in_time: MPI_Recv 40.0 us <- rank 1 (in time)");
}

/* EZTrace's way: nobody records receives. */
static void without_receives_sends_are_followed_by_time(void **state)
{
    struct said s;
    static const char *const text[] = {
        "step@0-50( MPI_Irecv@0-1 calc@1-5 MPI_Send@5-40>1 MPI_Wait@40-41 )",
        "step@0-50( MPI_Irecv@0-1 calc@1-5 io@5-39 MPI_Send@39-40>2 MPI_Wait@40-49 )",
        "step@0-50( MPI_Irecv@0-1 calc@1-5 flush@5-48 MPI_Send@48-49>1 MPI_Wait@49-50 )",
    };

    (void)state;
    begin(&s, 3, text);
    assert_string_equal(chain(&s, 0, 3), "not_waiting: MPI_Send 35.0 us <- rank 1 io 34.0 us");
    assert_true(s.cause.link[0].waiting.is_guess);
    assert_string_equal(chain(&s, 1, 5),
                        "not_waiting: MPI_Wait 9.00 us <- rank 2 flush 8.00 us");
    assert_true(s.cause.link[0].waiting.is_guess);
    assert_int_equal(s.cause.link[0].waiting.delay_ns, 8000);
    end(&s);
}

static void mpi_without_records_is_not_followed(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 1, "step@0-50( MPI_Win_fence@5-50 MPI_Recv@50-51<1 )",
                              "step@0-50( MPI_Send@1-2>0 )"),
                        "unknown: MPI_Win_fence 45.0 us");
    assert_string_equal(CHAIN(0, 1, "step@0-50( MPI_Isend@5-50>>1 MPI_Wait@50-51=0 )",
                              "step@0-60( io@0-40 MPI_Recv@40-52<0 )"),
                        "not_waiting: MPI_Isend 45.0 us");
}

/* Rank 1's clock is 3 behind, then 3 ahead: it seems to send too early, or behind the receive.
 */
static void clocks_that_disagree_a_little_do_no_harm(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-46<1 )",
                              "step@0-50( io@0-42 MPI_Send@42-43>0 )"),
                        "not_waiting: MPI_Recv 36.0 us <- rank 1 io 32.0 us");
    assert_string_equal(CHAIN(0, 2, "step@0-50( calc@0-10 MPI_Recv@10-46<1 )",
                              "step@0-60( io@0-48 MPI_Send@48-49>0 )"),
                        "not_waiting: MPI_Recv 36.0 us <- rank 1 io 36.0 us");
}

static void a_call_that_does_not_wait_is_a_chain_of_one(void **state)
{
    struct said s;
    static const char *const text[] = {"step@0-50( calc@0-10 io@10-50 )"};

    (void)state;
    begin(&s, 1, text);
    assert_string_equal(chain(&s, 0, 2), "not_waiting: io 40.0 us");
    assert_false(cause_has_news(&s.cause));
    end(&s);
}

static void the_chain_begins_where_most_was_lost(void **state)
{
    static const char *const text[] = {
        "step@0-50( calc@0-30 MPI_Recv@30-50<1 MPI_Irecv@50-50 )", "MPI_Send@0-1>0"};
    struct said s;

    (void)state;
    begin(&s, 2, text);
    assert_int_equal(cause_first(&s.trace.view, 0, 0, (const double[]){0, 20, 15, 0}), 2);
    assert_int_equal(cause_first(&s.trace.view, 0, 0, (const double[]){0, 20, 9, 0}), 1);
    assert_int_equal(cause_first(&s.trace.view, 0, 0, (const double[]){0, 20, 9, 18}), 1);
    assert_int_equal(cause_first(&s.trace.view, 0, 0, (const double[]){0, -3, 0, 0}), NO_CALL);
    end(&s);
}

/* Every rank waits for the next: 6 ranks, 5 links, whatever the limit. */
static void long_names_and_chains_are_cut_not_overrun(void **state)
{
    char text[4][1024], name[200];
    const char *const all[] = {text[0], text[1], text[2], text[3]};

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    sprintf(text[0], "MPI_%s@0-66<1", name);
    sprintf(text[1], "MPI_%s@0-64<2 MPI_Send@64-65>0", name);
    sprintf(text[2], "MPI_%s@0-62<3 MPI_Send@62-63>1", name);
    sprintf(text[3], "%s@0-60 MPI_Send@60-61>2", name);
    assert_true(strlen(said_chain(4, all, 0, 0)) < CAUSE_SIZE + 20);
}

static void a_barrier_of_a_team_waits_for_the_member_that_came_last(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 4, "step@0-99( fork@9-95F( in@10-90M( work@12-30 !$omp_barrier@30-80B ) ) )",
              "+in@11-91M( work@12-20 !$omp_barrier@20-80B )",
              "+in@13-90M( work@14-78 !$omp_barrier@78-80B )"),
        "not_waiting: !$omp_barrier 50.0 us <- rank 0.2 work 64.0 us");
}

/* Thread 1 has no call of the last barrier; what it did before the first one is no matter. */
static void a_member_without_the_last_barrier_came_when_it_was_done(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(0, 4,
              "fork@9-95F( in@10-90M( work@12-30 !$omp_barrier@30-40B !$omp_barrier@45-90B ) )",
              "+in@10-85M( work@12-39 !$omp_barrier@39-40B slow@41-85 )"),
        "not_waiting: !$omp_barrier 45.0 us <- rank 0.1 slow 44.0 us");
}

/* Two teams in the first call of step, one in the second. */
static void what_threads_did_in_teams_of_a_call_is_added_up(void **state)
{
    static const char *const text[] = {
        "step@0-60( in@10-30F( m@11-29M( b@20-28B ) ) in@40-50F( m@41-49M( b@44-48B ) ) ) "
        "step@60-90( in@70-80F( m@71-79M ) )",
        "+m@12-29M( b@27-28B ) m@42-43M",
    };
    struct sample_view s;
    struct team_use *use;
    uint32_t n_forks;
    size_t n;

    (void)state;
    sample_view_init(&s, 2, text);
    use = team_use_of(&s.view, 0, 0, &n_forks, &n);
    assert_int_equal(n_forks, 2);
    assert_int_equal(n, 2);
    assert_int_equal(use[0].n_last, 1);
    assert_int_equal(use[0].member_ns, 18000 + 8000);
    assert_int_equal(use[0].barrier_ns, 8000 + 4000);
    assert_int_equal(use[1].location, 1);
    assert_int_equal(use[1].n_teams, 2);
    assert_int_equal(use[1].n_last, 1);
    assert_int_equal(use[1].member_ns, 17000 + 1000);
    free(use);
    use = team_use_of(&s.view, 0, 7, &n_forks, &n);
    assert_int_equal(n_forks, 1);
    assert_int_equal(n, 1);
    free(use);
    assert_null(team_use_of(&s.view, 0, 3, &n_forks, &n));
    sample_view_release(&s);
}

/* What the last one waited for may be another rank. */
static void a_chain_goes_through_a_team_to_another_rank(void **state)
{
    (void)state;
    assert_string_equal(
        CHAIN(1, 2, "fork@9-95F( in@10-90M( MPI_Recv@12-80<1 !$omp_barrier@80-81B ) )",
              "+in@10-82M( work@12-20 !$omp_barrier@20-81B )", "calc@0-75 MPI_Send@75-76>0"),
        "not_waiting: !$omp_barrier 61.0 us <- rank 0 MPI_Recv 68.0 us <- rank 1 calc 63.0 us");
}

/* Two ranks whose GPUs meet; the second is told to begin late. */
static void a_wait_for_a_gpu_leads_to_who_launched_late_on_another_rank(void **state)
{
    static const char *const text[] = {
        "forward@0-10 launch@10-11 cudaDeviceSynchronize@12-94",
        "+allreduce@12-92?",
        "forward@0-10 hook@10-80 launch@80-81 cudaDeviceSynchronize@82-94",
        "+allreduce@82-92?",
    };
    const struct dependency launches[] = {
        {12000, 10000, 1, 0, ANY_REGION, ANY_REGION, DEPENDENCY_BEGIN, 0},
        {82000, 80000, 3, 2, ANY_REGION, ANY_REGION, DEPENDENCY_BEGIN, 0},
    };
    struct said s;

    (void)state;
    begin(&s, 4, text);
    s.trace.defs.location[1].is_gpu = s.trace.defs.location[3].is_gpu = true;
    s.trace.view.dependency = launches;
    s.trace.view.n_dependencies = 2;
    assert_string_equal(chain(&s, 0, 2),
                        "not_waiting: cudaDeviceSynchronize 82.0 us <- rank 1 hook 68.0 us");
    assert_int_equal(s.cause.link[0].waiting.kind, WAITING_FOR_ALL);
    assert_int_equal(s.cause.link[1].location, 2);
    chain(&s, 2, 3); /* nobody else is late for it: its own GPU is at work */
    assert_int_equal(s.cause.link[0].waiting.kind, WAITING_FOR_DEVICE);
    end(&s);
}

/* Some tracers have what waits on the stream, too: that is no operation, and waits for none of
 * itself. */
static void a_wait_on_a_stream_is_no_operation(void **state)
{
    static const char *const text[] = {"cudaStreamSynchronize@5-90",
                                       "+kernel@0-80 cudaStreamSynchronize@81-90"};
    struct said s;

    (void)state;
    begin(&s, 2, text);
    s.trace.defs.location[1].is_gpu = true;
    chain(&s, 0, 0);
    assert_int_equal(s.cause.link[0].waiting.location, 1);
    assert_int_equal(s.cause.link[0].waiting.until_ns, 80000);
    assert_int_equal(s.cause.link[1].call, 0);
    end(&s);
}

/* Two streams wait for rank 1 until 60 and 70, which meanwhile does nothing on its GPU. */
static void streams_that_wait_for_the_same_rank_are_not_at_work(void **state)
{
    static const char *const text[] = {
        "cudaDeviceSynchronize@5-90",
        "+reduce@10-62? kernel@62-65",
        "+gather@20-72?",
        "hook@0-60",
        "+reduce@60-62? kernel@62-65",
        "+gather@70-72?",
    };
    struct said s;
    uint64_t ns;

    (void)state;
    begin(&s, 6, text);
    for (uint32_t l = 0; l < 6; l++)
        s.trace.defs.location[l].is_gpu = l % 3 > 0;
    assert_true(waiting_others_ns(&s.trace.view, 0, 0, NAN, &ns));
    assert_int_equal(ns, 50000 + 70000 - 65000);
    end(&s);
}

static void calls_that_make_communicators_wait_and_those_that_ask_do_not(void **state)
{
    static const struct {
        const char *name;
        bool waits;
    } row[] = {{"MPI_Comm_split", true},        {"MPI_Comm_split_type", true},
               {"MPI_Comm_spawn", true},        {"MPI_Comm_dup", true},
               {"MPI_Comm_size", false},        {"MPI_Comm_rank", false},
               {"MPI_Comm_remote_size", false}, {"MPI_Comm_set_errhandler", false},
               {"MPI_Testall", true},           {"MPI_Iprobe", true},
               {"MPI_Test_cancelled", false}};

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct region region = {.name = row[i].name, .kind = REGION_MPI};

        assert_int_equal(waiting_is_likely(&region), row[i].waits);
    }
}

/* A file may be called so, too. */
static void a_barrier_is_one_by_what_stands_before_its_file(void **state)
{
    static const struct {
        const char *name;
        bool waits;
    } row[] = {{"!$omp barrier @a.c:7", true},
               {"!$omp implicit barrier @barrier.c:7", true},
               {"barrier", true},
               {"!$omp parallel @barrier_solver.c:22", false},
               {"!$omp for @barrier.f90:9", false}};

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct region region = {.name = row[i].name, .kind = REGION_OPENMP};

        assert_int_equal(waiting_is_likely(&region), row[i].waits);
    }
}

/* Of nine waits the last is for `small`, which takes 30 longer than typical, though `big` takes longer in
 * each. */
static void of_a_gpu_what_took_longer_than_typical_is_waited_for(void **state)
{
    char cpu[1024], stream[1024];
    struct text_writer c = {.out = cpu, .size = sizeof cpu};
    struct text_writer g = {.out = stream, .size = sizeof stream};
    const char *const text[] = {cpu, stream};
    struct said s;

    (void)state;
    for (int i = 0; i < 9; i++) {
        int at = 100 * i, more = i == 8 ? 30 : 0;

        text_say(&c, "cudaDeviceSynchronize@%d-%d ", at, at + 90 + more);
        text_say(&g, "%sbig@%d-%d small@%d-%d ", i ? "" : "+", at, at + 60, at + 60,
                 at + 85 + more);
    }
    begin(&s, 2, text);
    s.trace.defs.location[1].is_gpu = true;
    assert_string_equal(chain(&s, 0, 7),
                        "not_waiting: cudaDeviceSynchronize 90.0 us <- rank 0.1 "
                        "big 60.0 us");
    s.lost_ns = 30000;
    assert_string_equal(chain(&s, 0, 8),
                        "not_waiting: cudaDeviceSynchronize 120 us <- rank 0.1 "
                        "small 55.0 us");
    assert_int_equal(s.cause.link[1].explained_ns, 30000);
    end(&s);
}

static void a_wait_for_a_gpu_that_has_no_operation_ends_it(void **state)
{
    (void)state;
    assert_string_equal(CHAIN(0, 0, "hipStreamSynchronize@0-50"),
                        "unknown: hipStreamSynchronize 50.0 us");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_late_senders_is_followed_over_four_ranks),
        cmocka_unit_test(work_both_ranks_do_is_not_the_cause),
        cmocka_unit_test(a_chain_that_ends_in_the_tracer_says_so),
        cmocka_unit_test(ranks_are_in_step_after_a_message),
        cmocka_unit_test(a_message_taken_late_puts_nobody_in_step),
        cmocka_unit_test(many_small_calls_count_as_one),
        cmocka_unit_test(a_wait_for_a_request_is_a_receive),
        cmocka_unit_test(a_waitall_waits_for_the_last_of_its_messages),
        cmocka_unit_test(a_barrier_waits_for_the_last_one_in),
        cmocka_unit_test(a_probe_waits_for_what_is_received_next),
        cmocka_unit_test(a_broadcast_waits_for_its_root),
        cmocka_unit_test(who_comes_as_late_as_ever_is_not_the_cause),
        cmocka_unit_test(a_reduction_holds_up_who_stays_for_others),
        cmocka_unit_test(in_a_scan_who_comes_before_one_goes_is_waited_for),
        cmocka_unit_test(fences_are_told_apart_by_their_number),
        cmocka_unit_test(kinds_of_waiting_mix),
        cmocka_unit_test(a_message_that_is_not_in_the_trace_ends_it),
        cmocka_unit_test(a_collective_that_does_not_block_waits_for_who_completes_it_last),
        cmocka_unit_test(a_rank_without_data_ends_it),
        cmocka_unit_test(a_late_receiver_is_what_a_large_send_waits_for),
        cmocka_unit_test(a_send_that_was_over_before_its_receive_did_not_wait_for_it),
        cmocka_unit_test(a_receive_that_is_known_by_its_completion_may_be_waited_for),
        cmocka_unit_test(a_part_is_found_where_others_completed_before_it),
        cmocka_unit_test(who_sends_and_receives_waits_for_what_comes_within),
        cmocka_unit_test(a_posted_receive_still_needs_its_rank),
        cmocka_unit_test(a_cycle_ends_it),
        cmocka_unit_test(what_was_sent_in_time_ends_it),
        cmocka_unit_test(who_was_in_time_is_not_said_to_be_late),
        cmocka_unit_test(without_receives_sends_are_followed_by_time),
        cmocka_unit_test(mpi_without_records_is_not_followed),
        cmocka_unit_test(clocks_that_disagree_a_little_do_no_harm),
        cmocka_unit_test(a_call_that_does_not_wait_is_a_chain_of_one),
        cmocka_unit_test(the_chain_begins_where_most_was_lost),
        cmocka_unit_test(a_barrier_of_a_team_waits_for_the_member_that_came_last),
        cmocka_unit_test(a_member_without_the_last_barrier_came_when_it_was_done),
        cmocka_unit_test(a_chain_goes_through_a_team_to_another_rank),
        cmocka_unit_test(what_threads_did_in_teams_of_a_call_is_added_up),
        cmocka_unit_test(a_wait_for_a_gpu_leads_to_who_launched_late_on_another_rank),
        cmocka_unit_test(a_wait_on_a_stream_is_no_operation),
        cmocka_unit_test(streams_that_wait_for_the_same_rank_are_not_at_work),
        cmocka_unit_test(calls_that_make_communicators_wait_and_those_that_ask_do_not),
        cmocka_unit_test(a_barrier_is_one_by_what_stands_before_its_file),
        cmocka_unit_test(of_a_gpu_what_took_longer_than_typical_is_waited_for),
        cmocka_unit_test(a_wait_for_a_gpu_that_has_no_operation_ends_it),
        cmocka_unit_test(long_names_and_chains_are_cut_not_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
