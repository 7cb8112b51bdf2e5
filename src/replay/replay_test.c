/* Times are in microseconds, as sample_view.h has them. */
#include "replay/replay.h"

#include "base/mem.h"
#include "base/rng.h"
#include "replay/critical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_view.h"
#include "test.h"

struct played {
    struct sample_view trace;
    struct syncs syncs;
    struct replay replay;
    struct replay_result result;
};

static void begin(struct played *p, uint32_t n_ranks, const char *const *text)
{
    sample_view_init(&p->trace, n_ranks, text);
    assert_int_equal(syncs_init(&p->syncs, &p->trace.view), 0);
    replay_init(&p->replay, &p->syncs);
}

static void end(struct played *p)
{
    replay_release(&p->replay);
    syncs_release(&p->syncs);
    sample_view_release(&p->trace);
}

#define BEGIN(p, ...)                                                                          \
    begin(p, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                      \
          (const char *const[]){__VA_ARGS__})

/* What is saved, in us, when so much is cut out of a call. */
static double saved(struct played *p, uint32_t location, uint32_t row, int64_t us)
{
    struct replay_result whole;

    replay_clear(&p->replay);
    replay_cut(&p->replay, location, row, us * 1000);
    replay_whole(&p->replay, &whole);
    replay_run(&p->replay, &p->result);
    assert_int_equal(p->result.saved_ns, whole.saved_ns);
    return (double)p->result.saved_ns * 1e-3;
}

static double waits_less(const struct played *p, uint32_t location)
{
    return (double)p->replay.waits_less[location] * 1e-3;
}

#define assert_us(is, expected) assert_float_equal(is, expected, 1e-9)

/* ------------------------------------------------------------------------------- messages */

static void who_waits_for_another_then_did_wait(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Recv@10-52<0 calc@52-60 MPI_Recv@60-92<2 calc@92-100",
          "calc@0-90 MPI_Send@90-91>1 calc@91-95");
    assert_us(saved(&p, 0, 0, 20), 0);
    assert_us(waits_less(&p, 1), 0);
    assert_us((double)p.replay.waited_ns[1] * 1e-3, 20);
    assert_us(saved(&p, 2, 0, 20), 20);
    assert_us((double)p.replay.waited_ns[1] * 1e-3, 20);
    end(&p);
}

static void what_a_receiver_waited_for_is_saved(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Recv@10-52<0 calc@52-100");
    assert_us(saved(&p, 0, 0, 20), 20);
    assert_us(waits_less(&p, 1), 20);
    assert_us(saved(&p, 0, 0, 45), 40); /* then it is there before the receiver is */
    assert_us(waits_less(&p, 1), 40);
    assert_us(saved(&p, 0, 2, 5), 0); /* rank 1 ends later, whatever rank 0 does after it */
    assert_us(saved(&p, 1, 2, 30), 30);
    assert_us(saved(&p, 1, 0, 10), 0); /* it waits for so much longer */
    assert_us(waits_less(&p, 1), -10);
    end(&p);
}

/* Rank 2 is done without the one that computes on, rank 0 only once that is in MPI again. */
static void who_stays_until_the_last_completes_has_waited_for_it(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-5 calc@5-10 MPI_Wait@10-52|/5 calc@52-100",
          "calc@0-8 calc@8-50 MPI_Wait@50-51|/8 calc@51-60",
          "calc@0-5 calc@5-10 MPI_Wait@10-12|/5 calc@12-60");
    assert_us(saved(&p, 1, 1, 30), 30);
    assert_us(waits_less(&p, 0), 30);
    assert_us(waits_less(&p, 2), 0);
    end(&p);
}

/* A probe and the receive behind it are one wait. */
static void what_a_probe_waited_for_is_saved(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Iprobe@10-52 take@52-54( MPI_Recv@53-54<0 ) calc@54-100");
    assert_us(saved(&p, 0, 0, 20), 20);
    assert_us(waits_less(&p, 1), 20);
    assert_us(saved(&p, 0, 0, 45), 40);
    assert_us(saved(&p, 1, 1, 30), 0); /* it waited */
    end(&p);
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Iprobe@10-52 calc@52-160 MPI_Recv@160-161<0 calc@161-170");
    assert_us(saved(&p, 0, 0, 20), 0);
    end(&p);
}

static void waiting_itself_cannot_be_cut(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1", "calc@0-10 MPI_Recv@10-62<0 calc@62-100");
    assert_int_equal(replay_cut(&p.replay, 1, 1, 40000), 0); /* it waited until 50 */
    assert_int_equal(replay_cut(&p.replay, 1, 1, 45000), 5000);
    assert_us(saved(&p, 1, 1, 52), 12);
    end(&p);
}

/* Messages of a trace without MPI, as Chrome's flows are: what comes after is none of the call. */
static void nor_can_it_where_functions_of_any_name_have_messages(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 put@50-51>1", "calc@0-10 take@10-62<0 write@63-100");
    assert_int_equal(replay_cut(&p.replay, 1, 1, 40000), 0);
    assert_int_equal(replay_cut(&p.replay, 1, 1, 45000), 5000);
    assert_us(saved(&p, 1, 1, 52), 12);
    assert_us(saved(&p, 1, 2, 30), 30);
    assert_us(saved(&p, 0, 0, 20), 20);
    end(&p);
}

static void a_delay_travels_from_rank_to_rank(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-60 MPI_Send@60-61>1 calc@61-62",
          "calc@0-10 MPI_Recv@10-62<0 MPI_Send@62-63>2 calc@63-64",
          "calc@0-10 MPI_Recv@10-64<1 calc@64-90");
    assert_us(saved(&p, 0, 0, 30), 30);
    assert_us(waits_less(&p, 1), 30);
    assert_us(waits_less(&p, 2), 30);
    end(&p);
}

static void a_waitall_waits_for_the_last_of_its_messages(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-40 MPI_Send@40-41>2 calc@41-42", "calc@0-60 MPI_Send@60-61>2 calc@61-62",
          "MPI_Irecv@0-1 MPI_Irecv@1-2 calc@2-10 MPI_Waitall@10-62( MPI_a@61-61<<0/0 "
          "MPI_a@61-61<<1/1 ) calc@62-100");
    assert_us(saved(&p, 1, 0, 15), 15);
    assert_us(saved(&p, 1, 0, 30), 20); /* the other one comes at 40 */
    assert_us(saved(&p, 0, 0, 30), 0);
    end(&p);
}

static void only_a_large_send_waits_for_its_receiver(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Send@10-52>1*100000 calc@52-100",
          "calc@0-50 MPI_Recv@50-53<0*100000 calc@53-60");
    assert_us(saved(&p, 1, 0, 20), 20);
    assert_us(waits_less(&p, 0), 20);
    end(&p);
    BEGIN(&p, "calc@0-10 MPI_Send@10-72>1*100 calc@72-100",
          "calc@0-50 MPI_Recv@50-73<0*100 calc@73-80");
    assert_us(saved(&p, 1, 0, 20), 0);
    end(&p);
    BEGIN(&p, /* a send that ended before its receive: such messages do not wait */
          "MPI_Send@1-2>1*100000 calc@2-60 MPI_Send@60-80>1*100000 calc@80-100",
          "calc@0-20 MPI_Recv@20-21<0*100000 calc@21-70 MPI_Recv@70-80<0*100000 calc@80-90");
    assert_int_equal(p.syncs.eager_bytes, 100000);
    assert_us(saved(&p, 1, 2, 5), 0);
    end(&p);
}

/* Of 8 bytes, too: it stays until its receiver is there, and then hardly longer. */
static void a_small_send_waits_for_its_receiver_where_that_is_seen(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Send@10-92>1 calc@92-200",
          "calc@0-90 MPI_Recv@90-93<0 calc@93-100");
    assert_us(saved(&p, 1, 0, 30), 30);
    assert_us(waits_less(&p, 0), 30);
    end(&p);
    BEGIN(&p, "calc@0-10 MPI_Send@10-150>1 calc@150-200",
          "calc@0-90 MPI_Recv@90-93<0 calc@93-100");
    assert_us(saved(&p, 1, 0, 30), 0); /* it took as long for something else */
    end(&p);
}

static void what_mpi_ssend_sends_waits_for_its_receiver(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Ssend@10-52>1*100 calc@52-100",
          "calc@0-50 MPI_Recv@50-53<0*100 calc@53-60");
    assert_us(saved(&p, 1, 0, 20), 20);
    assert_us(waits_less(&p, 0), 20);
    assert_us(saved(&p, 0, 1, 42), 2); /* it waited until 50 */
    end(&p);
    BEGIN(&p, "MPI_Issend@0-1>>1*100 calc@1-10 MPI_Wait@10-52=0 calc@52-100",
          "calc@0-50 MPI_Irecv@50-51 calc@51-53 MPI_Wait@53-54<<0/50*100 calc@54-60");
    assert_us(saved(&p, 1, 0, 20), 20);
    assert_us(waits_less(&p, 0), 20);
    end(&p);
}

static void a_request_waits_where_it_is_completed(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "MPI_Isend@0-1>>1*100000 calc@1-10 MPI_Wait@10-52=0 calc@52-100",
          "calc@0-50 MPI_Irecv@50-51 calc@51-53 MPI_Wait@53-54<<0/50*100000 calc@54-60");
    assert_us(saved(&p, 1, 0, 20), 20);
    assert_us(waits_less(&p, 0), 20);
    assert_us(saved(&p, 1, 2, 2), 0); /* the receive was posted before */
    end(&p);
}

static void what_has_no_other_end_keeps_its_time(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Recv@10-52<1 calc@52-100", "calc@0-50 calc@50-60");
    assert_int_equal(p.syncs.n_messages - p.syncs.n_matched, 1);
    assert_us(saved(&p, 0, 1, 40), 0);
    assert_us(saved(&p, 0, 2, 40), 40);
    end(&p);
}

/* ---------------------------------------------------------------------------- collectives */

static void a_barrier_waits_for_the_last_one_in(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Barrier@50-51| calc@51-60",
          "calc@0-30 MPI_Barrier@30-51| calc@51-80", "calc@0-10 MPI_Barrier@10-51| calc@51-60");
    assert_us(saved(&p, 0, 0, 5), 5);
    assert_us(saved(&p, 0, 0, 45), 20); /* rank 1 is the last then */
    assert_us(waits_less(&p, 0), -20 - 5);
    assert_us(waits_less(&p, 1), 20);
    assert_us(waits_less(&p, 2), 20);
    assert_us(saved(&p, 1, 0, 10), 0);
    end(&p);
}

/* Times may be coarse: a wait is not lost where the next call begins as it ends. */
static void a_barrier_may_end_as_the_next_call_begins(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Barrier@50-51| calc@51-52 MPI_Recv@52-53<1 calc@53-60",
          "calc@0-30 MPI_Barrier@30-51| MPI_Send@51-52>0 calc@52-60");
    assert_us(saved(&p, 0, 0, 10), 10);
    assert_us(waits_less(&p, 1), 10);
    end(&p);
    BEGIN(&p, "calc@0-50 MPI_Win_fence@50-51 calc@51-52 MPI_Recv@52-53<1 calc@53-60",
          "calc@0-30 MPI_Win_fence@30-51 MPI_Send@51-52>0 calc@52-60");
    assert_us(saved(&p, 0, 0, 10), 10);
    assert_us(waits_less(&p, 1), 10);
    end(&p);
}

/* Of 40 barriers so many are of 64 ranks, of which two are in the trace. */
static bool see_members(uint32_t n_of_many)
{
    char text[2][4096] = {"", ""};
    const char *const texts[] = {text[0], text[1]};
    struct sample_view trace;
    struct syncs syncs;
    uint32_t many;
    bool is_seen;

    for (int i = 0; i < 40; i++)
        for (int r = 0; r < 2; r++)
            snprintf(text[r] + strlen(text[r]), sizeof text[r] - strlen(text[r]),
                     "%scalc@%d-%d MPI_Barrier@%d-%d|", i ? " " : "", 10 * i, 10 * i + 5 + r,
                     10 * i + 5 + r, 10 * i + 8);
    sample_view_init(&trace, 2, texts);
    many = definitions_comm(&trace.defs, "many", 64);
    for (size_t i = 0; i < 80; i++)
        if (trace.traffic.collective[i].instance < n_of_many)
            trace.traffic.collective[i].comm = many;
    assert_int_equal(syncs_init(&syncs, &trace.view), 0);
    is_seen = syncs_are_exact(&syncs);
    syncs_release(&syncs);
    sample_view_release(&trace);
    return is_seen;
}

/* They are few of all, and yet whoever is not in the trace may have come last to each. */
static void a_communicator_may_lack_members_whatever_the_others_have(void **state)
{
    (void)state;
    assert_true(see_members(0));
    assert_true(see_members(2));
    assert_false(see_members(3));
    assert_false(see_members(40));
}

static void a_broadcast_waits_for_its_root_alone(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Bcast@50-51^0 calc@51-60",
          "calc@0-10 MPI_Bcast@10-51^0 calc@51-110", "calc@0-70 MPI_Bcast@70-71^0 calc@71-80");
    assert_us(saved(&p, 0, 0, 30), 30);
    assert_us(saved(&p, 2, 0, 30), 0);
    assert_us(waits_less(&p, 1), 0);
    assert_us(waits_less(&p, 0), 0);
    end(&p);
}

/* Rank 1 stands between the root and rank 2, which had everything ready 40 us before. */
static void who_is_behind_another_in_a_broadcast_waits_for_that_one_too(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Bcast@10-11^0 calc@11-20",
          "calc@0-50 MPI_Bcast@50-51^0 calc@51-60", "calc@0-12 MPI_Bcast@12-52^0 calc@52-100");
    assert_us(saved(&p, 1, 0, 30), 30);
    assert_us(waits_less(&p, 2), 30);
    assert_us(saved(&p, 1, 0, 45), 38); /* it began itself at 12 */
    assert_us(saved(&p, 2, 1, 40), 2);
    end(&p);
    BEGIN(&p,
          "calc@0-10 MPI_Bcast@10-11^0 calc@11-20", /* it was not for rank 1 that it stayed */
          "calc@0-15 MPI_Bcast@15-16^0 calc@16-20", "calc@0-12 MPI_Bcast@12-52^0 calc@52-100");
    assert_us(saved(&p, 1, 0, 10), 0);
    assert_us(saved(&p, 2, 1, 40), 40);
    end(&p);
}

/* Rank 2 adds what rank 3 has, and cannot leave before; the root needs all in any case. */
static void who_is_before_another_in_a_reduction_waits_for_that_one_too(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Reduce@10-54_0 calc@54-60",
          "calc@0-10 MPI_Reduce@10-11_0 calc@11-60", "calc@0-10 MPI_Reduce@10-52_0 calc@52-100",
          "calc@0-50 MPI_Reduce@50-51_0 calc@51-60");
    assert_us(saved(&p, 3, 0, 30), 30);
    assert_us(waits_less(&p, 0), 30);
    assert_us(waits_less(&p, 1), 0);
    assert_us(waits_less(&p, 2), 30);
    end(&p);
}

static void another_collective_waits_for_all_where_that_is_seen(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Scan@50-61? calc@61-70", "calc@0-10 MPI_Scan@10-60? calc@60-90");
    assert_us(saved(&p, 0, 0, 20), 20);
    end(&p);
    BEGIN(&p, "calc@0-50 MPI_Scan@50-61? calc@61-70", "calc@0-10 MPI_Scan@10-40? calc@40-90");
    assert_us(saved(&p, 0, 0, 20), 0);
    assert_us(saved(&p, 1, 1, 20), 0); /* whom it waited for is not known */
    assert_true(p.replay.unknown_ns > 0);
    end(&p);
}

/* Rank 0 waits for nobody; 2 and 3 stay until rank 1 has come; nobody does until rank 4 has. */
static void who_stays_in_a_scan_until_another_comes_waits_for_that_one(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 MPI_Scan@10-12? calc@12-20", "calc@0-50 MPI_Scan@50-51? calc@51-60",
          "calc@0-10 MPI_Scan@10-52? calc@52-120", "calc@0-11 MPI_Scan@11-53? calc@53-99",
          "calc@0-70 MPI_Scan@70-71? calc@71-75");
    assert_us(saved(&p, 1, 0, 30), 30);
    assert_us(waits_less(&p, 2), 30);
    assert_us(waits_less(&p, 3), 30);
    assert_us(saved(&p, 4, 0, 30), 0);
    assert_us(saved(&p, 0, 0, 5), 0);
    assert_us(waits_less(&p, 0), 0);
    end(&p);
}

/* The second fence of each; of rank 2 the first: then who meets whom is not known. */
static void who_stays_in_a_fence_until_another_comes_waits_for_that_one(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "MPI_Win_fence@0-1 calc@1-50 MPI_Win_fence@50-51 calc@51-60",
          "MPI_Win_fence@0-1 calc@1-10 MPI_Win_fence@10-52 calc@52-100");
    assert_us(saved(&p, 0, 1, 30), 30);
    assert_us(waits_less(&p, 1), 30);
    end(&p);
    BEGIN(&p, "MPI_Win_fence@0-1 calc@1-50 MPI_Win_fence@50-51 calc@51-60",
          "MPI_Win_fence@0-1 calc@1-10 MPI_Win_fence@10-52 calc@52-100", "MPI_Win_fence@0-60");
    assert_us(saved(&p, 0, 1, 30), 0);
    assert_us(saved(&p, 1, 2, 30), 0);
    assert_true(p.replay.unknown_ns > 0);
    end(&p);
}

static void who_opens_an_access_epoch_waits_for_who_exposes_a_window(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Win_post@50-51 MPI_Win_wait@51-63 calc@63-90",
          "calc@0-10 MPI_Win_start@10-52 calc@52-62 MPI_Win_complete@62-63 calc@63-80");
    assert_us(saved(&p, 0, 0, 30), 30);
    assert_us(waits_less(&p, 1), 30);
    assert_us(saved(&p, 1, 2, 10), 10);
    assert_us(waits_less(&p, 0), 10);
    end(&p);
}

/* What a file takes is its own time. */
static void who_stays_in_a_collective_write_until_another_comes_waits_for_that_one(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_File_write_all@50-60 calc@60-70",
          "calc@0-10 MPI_File_write_all@10-60 calc@60-100");
    assert_us(saved(&p, 0, 0, 30), 30);
    assert_us(saved(&p, 0, 1, 5), 0);
    assert_us(saved(&p, 1, 1, 45), 5);
    end(&p);
}

/* It goes on only while both are in MPI; in the second one rank 0 was done before rank 1 came.
 */
static void
one_that_does_not_block_waits_for_who_completes_it_last_where_that_is_seen(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "MPI_Ibarrier@0-1 calc@1-10 MPI_Wait@10-51|/0 calc@51-80",
          "MPI_Ibarrier@0-1 calc@1-50 MPI_Wait@50-51|/0 calc@51-60");
    assert_us(saved(&p, 1, 1, 30), 30);
    assert_us(waits_less(&p, 0), 30);
    assert_us(saved(&p, 1, 1, 45), 40); /* rank 0 is the last then */
    end(&p);
    BEGIN(&p, "MPI_Ibarrier@0-1 calc@1-10 MPI_Wait@10-12|/0 calc@12-80",
          "MPI_Ibarrier@0-1 calc@1-50 MPI_Wait@50-51|/0 calc@51-60");
    assert_us(saved(&p, 1, 1, 30), 0);
    assert_us(waits_less(&p, 0), 0);
    end(&p);
}

static void those_who_end_together_wait_for_the_last(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-100 MPI_Finalize@100-110", "calc@0-20 MPI_Finalize@20-110");
    assert_us(saved(&p, 0, 0, 50), 50);
    assert_us(waits_less(&p, 1), 50);
    assert_us(saved(&p, 0, 0, 90), 80);
    end(&p);
    BEGIN(&p, "calc@0-100 MPI_Finalize@100-110", "calc@0-20 MPI_Finalize@20-95");
    assert_us(saved(&p, 0, 0, 50), 15); /* rank 1 did not wait for rank 0 */
    assert_us(waits_less(&p, 1), 0);
    end(&p);
}

static void functions_of_mpi_are_known_as_tau_names_them(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-100 MPI_Finalize()@100-110", "calc@0-20 MPI_Finalize()@20-110");
    assert_us(saved(&p, 0, 0, 50), 50);
    assert_us(waits_less(&p, 1), 50);
    end(&p);
    BEGIN(&p, "calc@0-10 MPI_Ssend()@10-52>1*100 calc@52-100",
          "calc@0-50 MPI_Recv()@50-53<0*100 calc@53-60");
    assert_us(saved(&p, 1, 0, 20), 20);
    assert_us(waits_less(&p, 0), 20);
    end(&p);
    BEGIN(&p, "calc@0-50 MPI_Win_fence()@50-51 calc@51-60",
          "calc@0-30 MPI_Win_fence()@30-51 calc@51-60");
    assert_us(saved(&p, 0, 0, 10), 10);
    assert_us(waits_less(&p, 1), 10);
    end(&p);
}

/* ----------------------------------------------------------------------------------- cuts */

static void the_excess_of_a_caller_is_in_its_longest_gap(void **state)
{
    struct played p;

    (void)state; /* 2 us of its own typically, 21 before the message and 1 after it */
    BEGIN(&p, "step@0-23( MPI_Send@21-22>1 ) calc@23-24", "MPI_Recv@0-22<0 calc@22-60");
    assert_us(saved(&p, 0, 0, 20), 20);
    end(&p);
    BEGIN(&p, "step@0-23( MPI_Send@1-2>1 ) calc@23-24", "MPI_Recv@0-3<0 calc@3-60");
    assert_us(saved(&p, 0, 0, 20), 0);
    end(&p);
}

static void no_more_is_cut_than_there_was(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Barrier@50-51|", "calc@0-10 MPI_Barrier@10-51|");
    assert_int_equal(replay_cut(&p.replay, 0, 0, 70000), 50000);
    assert_int_equal(replay_cut(&p.replay, 0, 0, 70000), 0);
    end(&p);
}

static void a_call_can_take_longer(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Barrier@50-51|", "calc@0-10 MPI_Barrier@10-51|");
    assert_us(saved(&p, 0, 0, -7), -7);
    assert_us(waits_less(&p, 1), -7);
    assert_us(saved(&p, 1, 0, -7), 0);
    end(&p);
}

/* A model that says that calls typically take centuries: sums stay numbers, and are forgotten. */
static void centuries_are_added_once(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Recv@10-52<0 calc@52-100");
    for (int i = 0; i < 100; i++)
        for (uint32_t row = 0; row < 3; row++) {
            replay_cut(&p.replay, 0, row, -MAX_ADDED_NS);
            replay_cut(&p.replay, 1, row, MAX_ADDED_NS);
        }
    replay_whole(&p.replay, &p.result);
    assert_true(p.result.saved_ns <= -MAX_ADDED_NS + 100000);
    replay_run(&p.replay, &p.result);
    assert_true(p.result.saved_ns <= -MAX_ADDED_NS + 100000);
    assert_us(saved(&p, 0, 0, 20), 20);
    end(&p);
}

static void threads_without_messages_take_no_part(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-50", "calc@0-60");
    assert_true(syncs_takes_part(&p.syncs, 1)); /* a master */
    assert_us(saved(&p, 1, 0, 20), 10);
    replay_release(&p.replay);
    syncs_release(&p.syncs);
    p.trace.defs.location[1].thread = 1;
    assert_int_equal(syncs_init(&p.syncs, &p.trace.view), 0);
    replay_init(&p.replay, &p.syncs);
    assert_false(syncs_takes_part(&p.syncs, 1));
    assert_us(saved(&p, 1, 0, 20), 0);
    assert_us(saved(&p, 0, 0, 20), 20);
    end(&p);
}

/* ------------------------------------------------------------------------- whatever there is
 */

static void clocks_that_disagree_change_nothing_by_themselves(void **state)
{
    struct played p;

    (void)state; /* it is received 10 us before it is sent */
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Recv@10-40<0 calc@40-100");
    replay_whole(&p.replay, &p.result);
    assert_int_equal(p.result.saved_ns, 0);
    assert_us(saved(&p, 1, 2, 10), 10);
    end(&p);
}

/* A program of rounds in which each rank works, then sends on and waits for a message. */
static void tell_rounds(char *text, size_t size, uint32_t rank, struct rng *rng)
{
    uint64_t now = 0;
    size_t n = 0;

    for (int i = 0; i < 40; i++) {
        uint64_t work = 5 + rng_below(rng, 20), late = rng_below(rng, 30);

        n += (size_t)snprintf(
            text + n, size - n, "w@%llu-%llu MPI_Send@%llu-%llu>%u MPI_Recv@%llu-%llu<%u ",
            (unsigned long long)now, (unsigned long long)(now + work),
            (unsigned long long)(now + work), (unsigned long long)(now + work + 1),
            (rank + 1) % 3, (unsigned long long)(now + work + 1),
            (unsigned long long)(now + work + 2 + late), (rank + 2) % 3);
        now += work + 2 + late;
    }
}

static void stopping_where_nothing_changes_is_the_same_as_playing_all(void **state)
{
    static char text[3][8192];
    struct rng rng = {.state = 5};
    struct played p;
    uint32_t shortest = UINT32_MAX;

    (void)state;
    for (uint32_t r = 0; r < 3; r++)
        tell_rounds(text[r], sizeof text[r], r, &rng);
    BEGIN(&p, text[0], text[1], text[2]);
    for (uint32_t l = 0; l < 3; l++)
        for (uint32_t row = 0; row < 120; row++) {
            saved(&p, l, row, 1 + (int64_t)rng_below(&rng, 8));
            if (p.result.n_syncs > 0 && p.result.n_syncs < shortest)
                shortest = p.result.n_syncs;
        }
    assert_true(shortest < p.syncs.n);
    end(&p);
}

/* ------------------------------------------------------------------------- critical path */

/* Rounds as above, but each message is received when it was sent, or when it is waited for. */
static void tell_true_rounds(char text[3][8192], struct rng *rng)
{
    uint64_t now[3] = {0}, sent[3];
    size_t n[3] = {0};

    for (int i = 0; i < 40; i++) {
        for (uint32_t r = 0; r < 3; r++) {
            sent[r] = now[r] + 5 + rng_below(rng, 20);
            n[r] += (size_t)snprintf(
                text[r] + n[r], 8192 - n[r], "w@%llu-%llu MPI_Send@%llu-%llu>%u ",
                (unsigned long long)now[r], (unsigned long long)sent[r],
                (unsigned long long)sent[r], (unsigned long long)sent[r] + 1, (r + 1) % 3);
        }
        for (uint32_t r = 0; r < 3; r++) {
            uint32_t from = (r + 2) % 3;

            now[r] = (sent[r] + 1 > sent[from] ? sent[r] + 1 : sent[from]) + 2;
            n[r] += (size_t)snprintf(text[r] + n[r], 8192 - n[r], "MPI_Recv@%llu-%llu<%u ",
                                     (unsigned long long)sent[r] + 1,
                                     (unsigned long long)now[r], from);
        }
    }
}

static void no_more_is_saved_than_is_cut_on_the_critical_path(void **state)
{
    static char text[3][8192];
    struct rng rng = {.state = 9};
    struct critical critical;
    uint32_t n_on = 0, n_off = 0;
    struct played p;

    (void)state;
    tell_true_rounds(text, &rng);
    BEGIN(&p, text[0], text[1], text[2]);
    critical_init(&critical, &p.syncs);
    assert_true(critical.is_sound);
    for (uint32_t l = 0; l < 3; l++)
        for (uint32_t row = 0; row < 120; row += 3) {
            int64_t us = 1 + (int64_t)rng_below(&rng, 8), bound;

            replay_clear(&p.replay);
            replay_cut(&p.replay, l, row, us * 1000);
            bound = critical_cut_ns(&critical, &p.replay);
            saved(&p, l, row, us);
            assert_true(p.result.saved_ns <= bound);
            n_on += bound > 0;
            n_off += bound == 0;
        }
    assert_true(n_on >= 40 && n_off >= 40); /* 40 rounds, one rank of three in each */
    critical_release(&critical);
    end(&p);
}

static double critical_us(const struct played *p, const char *function)
{
    const struct definitions *defs = p->trace.view.defs;
    double *region_ns = mem_alloc(defs->names.n, sizeof *region_ns), ns = -1;
    struct critical critical;

    critical_init(&critical, &p->syncs);
    assert_true(critical.is_sound);
    critical_time(&critical, &p->syncs, region_ns);
    for (uint32_t r = 0; r < defs->names.n; r++)
        if (strcmp(defs->names.name[r], function) == 0)
            ns = region_ns[r];
    critical_release(&critical);
    free(region_ns);
    return ns * 1e-3;
}

static void functions_have_their_own_time_on_the_critical_path(void **state)
{
    struct played p;

    (void)state; /* rank 0 up to its send, then rank 1 from there */
    BEGIN(&p, "main@0-60( calc@5-50( deep@10-30 ) MPI_Send@50-51>1 calc@51-60 )",
          "main@0-100( calc@0-10 MPI_Recv@10-52<0 last@60-90( deep@61-62 ) )");
    assert_us(critical_us(&p, "main"), 5 + 8 + 10);
    assert_us(critical_us(&p, "calc"), 25);
    assert_us(critical_us(&p, "deep"), 20 + 1);
    assert_us(critical_us(&p, "MPI_Send"), 0);
    assert_us(critical_us(&p, "MPI_Recv"), 2);
    assert_us(critical_us(&p, "last"), 29);
    end(&p);
}

static void the_critical_path_is_as_long_as_the_run(void **state)
{
    struct critical critical;
    struct played p;
    uint64_t sum = 0;

    (void)state;
    BEGIN(&p, "calc@0-50 MPI_Send@50-51>1 calc@51-60",
          "calc@0-10 MPI_Recv@10-52<0 calc@52-100");
    critical_init(&critical, &p.syncs);
    for (uint32_t k = 0; k < p.syncs.n; k++) {
        const struct sync *sync = &p.syncs.sync[k];

        if (critical.on[k] & CRITICAL_BEFORE)
            sum += sync->enter_ns - sync[-1].leave_ns;
        if (critical.on[k] & CRITICAL_IN)
            sum += sync->leave_ns - sync->enter_ns - sync_wait_ns(sync);
    }
    assert_int_equal(sum, 100000);
    assert_true(critical_passes(&critical, p.syncs.first[0], p.syncs.first[0] + 1));
    assert_false(critical_passes(&critical, p.syncs.first[0] + 2, p.syncs.first[0] + 2));
    critical_release(&critical);
    end(&p);
}

static void nothing_follows_from_a_path_on_which_clocks_disagree(void **state)
{
    struct critical critical;
    struct played p;

    (void)state; /* they cannot both have waited for the other */
    BEGIN(&p, "calc@0-50 MPI_Recv@50-70<1 MPI_Send@70-71>1",
          "calc@0-10 MPI_Recv@10-20<0 calc@20-60 MPI_Send@60-100>0");
    critical_init(&critical, &p.syncs);
    assert_false(critical.is_sound);
    critical_release(&critical);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_another_then_did_wait),
        cmocka_unit_test(what_a_receiver_waited_for_is_saved),
        cmocka_unit_test(what_a_probe_waited_for_is_saved),
        cmocka_unit_test(who_stays_until_the_last_completes_has_waited_for_it),
        cmocka_unit_test(waiting_itself_cannot_be_cut),
        cmocka_unit_test(nor_can_it_where_functions_of_any_name_have_messages),
        cmocka_unit_test(a_delay_travels_from_rank_to_rank),
        cmocka_unit_test(a_waitall_waits_for_the_last_of_its_messages),
        cmocka_unit_test(only_a_large_send_waits_for_its_receiver),
        cmocka_unit_test(a_small_send_waits_for_its_receiver_where_that_is_seen),
        cmocka_unit_test(what_mpi_ssend_sends_waits_for_its_receiver),
        cmocka_unit_test(a_request_waits_where_it_is_completed),
        cmocka_unit_test(what_has_no_other_end_keeps_its_time),
        cmocka_unit_test(a_barrier_waits_for_the_last_one_in),
        cmocka_unit_test(a_barrier_may_end_as_the_next_call_begins),
        cmocka_unit_test(a_communicator_may_lack_members_whatever_the_others_have),
        cmocka_unit_test(a_broadcast_waits_for_its_root_alone),
        cmocka_unit_test(who_is_behind_another_in_a_broadcast_waits_for_that_one_too),
        cmocka_unit_test(who_is_before_another_in_a_reduction_waits_for_that_one_too),
        cmocka_unit_test(another_collective_waits_for_all_where_that_is_seen),
        cmocka_unit_test(who_stays_in_a_scan_until_another_comes_waits_for_that_one),
        cmocka_unit_test(who_stays_in_a_fence_until_another_comes_waits_for_that_one),
        cmocka_unit_test(who_opens_an_access_epoch_waits_for_who_exposes_a_window),
        cmocka_unit_test(
            who_stays_in_a_collective_write_until_another_comes_waits_for_that_one),
        cmocka_unit_test(
            one_that_does_not_block_waits_for_who_completes_it_last_where_that_is_seen),
        cmocka_unit_test(those_who_end_together_wait_for_the_last),
        cmocka_unit_test(functions_of_mpi_are_known_as_tau_names_them),
        cmocka_unit_test(the_excess_of_a_caller_is_in_its_longest_gap),
        cmocka_unit_test(no_more_is_cut_than_there_was),
        cmocka_unit_test(a_call_can_take_longer),
        cmocka_unit_test(centuries_are_added_once),
        cmocka_unit_test(threads_without_messages_take_no_part),
        cmocka_unit_test(clocks_that_disagree_change_nothing_by_themselves),
        cmocka_unit_test(stopping_where_nothing_changes_is_the_same_as_playing_all),
        cmocka_unit_test(no_more_is_saved_than_is_cut_on_the_critical_path),
        cmocka_unit_test(functions_have_their_own_time_on_the_critical_path),
        cmocka_unit_test(the_critical_path_is_as_long_as_the_run),
        cmocka_unit_test(nothing_follows_from_a_path_on_which_clocks_disagree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
