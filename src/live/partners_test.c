/*
 * Rank 0 is read here and received from rank 1, which a peer plays: it says what it likes. It
 * has its turn while the end is waited for, in the same thread.
 */
#include "live/partners.h"

#include "base/fs.h"
#include "base/progress.h"
#include "live/call_history.h"
#include "live/live_recorder.h"
#include "live/past_calls.h"
#include "ps/ps_relay_client.h"
#include "ps/ps_server.h"

#include "sample_stream.h"
#include "sample_answer.h"
#include "test.h"
#include "test_dir.h"

#define US 1000u
#define MS 1000000u

static struct ps_server *server;
static struct ps_relay_client *peer;
static char dir[32];
static struct pack say;          /* what the peer answers */
static bool is_counted;          /* what it was asked with */
static bool is_to_end;           /* the one that is tested is told so */
static bool has_question;        /* which is asked when the other is known to be there */
static uint32_t n_asked, n_told; /* it was, by questions; and in answers to its own, */
static unsigned told_first;      /* of which this was the first byte */

static void hear_question(void *ctx, const struct ps_letter *letter)
{
    (void)ctx;
    n_asked++;
    is_counted = letter->body.data[letter->body.n - 1] == 1;
    assert_true(ps_relay_client_answer(peer, letter, say.data, say.n));
}

static void hear_answer(void *ctx, const struct ps_letter *letter)
{
    (void)ctx;
    n_told++;
    told_first = letter->body.n > 0 ? letter->body.data[0] : 99;
}

static const struct ps_relay_handlers handlers = {NULL, hear_question, hear_answer};

/* An instance of which the server knows that it reads the rank. */
static struct ps_relay_client *enter(uint32_t rank)
{
    struct ps_relay_client_opts opts = {.address = ps_server_address(server), .job = "job"};
    struct ps_relay_client *client;

    assert_int_equal(ps_relay_client_open(&client, &opts), 0);
    ps_relay_client_place(client, (struct ps_rank){0, rank});
    while (!ps_relay_client_is_placed(client))
        ps_relay_client_talk(client, &handlers, 10);
    return client;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "partners-XXXXXX");
    assert_non_null(test_dir(dir));
    assert_int_equal(ps_server_open(&server, &(struct ps_server_opts){.interval_ms = 20}), 0);
    peer = enter(1);
    say = (struct pack){0};
    n_asked = n_told = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ps_relay_client_close(peer);
    pack_release(&say);
    assert_int_equal(ps_server_close(server), 0);
    assert_int_equal(fs_remove_tree(dir), 0);
    return 0;
}

static void turn(void *ctx)
{
    (void)ctx;
    ps_relay_client_talk(peer, &handlers, 0);
    if (has_question && n_asked > 0) { /* so the server knows who reads rank 0 */
        assert_true(ps_relay_client_ask(peer, 1, (struct ps_rank){0, 0}, "\x02?", 2));
        has_question = false;
    }
    if (n_asked > 0 && n_told > 0)
        ps_relay_client_end(peer, true);
}

/* Call 200 of MPI_Recv takes 5 ms, the others 10 or 11 us. */
static void say_program(struct sample_stream *program)
{
    sample_stream_open(program, 1);
    sample_stream_step(program, 40 * MS);
    for (int i = 0; i <= 200; i++) {
        uint64_t at_ns = (uint64_t)i * 100 * US;

        sample_enter(program, 0, at_ns, "MPI_Recv");
        sample_message(program, 0, at_ns + 9 * US, MESSAGE_RECV, 1, 64);
        sample_leave(program, 0, at_ns + (i == 200 ? 5000u : 10u + (unsigned)i % 2) * US);
    }
}

static bool is_told(void)
{
    return is_to_end && n_asked > 0; /* so the server has heard of it */
}

static struct partners_counts run(const char *address)
{
    struct live_recorder_opts opts = {
        .url = dir,
        .window = 2,
        .partners = {.address = address, .job = "job", .is_told = is_told, .meanwhile = turn}};
    struct ad_opts ad_settings = ad_default();
    struct live_recorder_counts counts;
    struct live_recorder *recorder;
    struct sample_stream program;
    struct ad *ad;

    say_program(&program);
    assert_int_equal(live_recorder_open(&recorder, &opts), 0);
    ad_settings.detector = call_detector_find("sstd");
    ad_settings.sink = &(struct ad_sink){live_recorder_step, recorder};
    ad_settings.n_sinks = 1;
    ad = ad_new(&program.stream, &ad_settings);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    live_recorder_counts(recorder, &counts);
    assert_int_equal(live_recorder_close(recorder), 0);
    ad_free(ad);
    sample_stream_close(&program);
    assert_int_equal(counts.store.n_anomalies, 1);
    assert_int_equal(counts.partners.n_asked, 1);
    return counts.partners;
}

/* Of the only partner of the only record. */
static void assert_partner(const char *what, const char *expected)
{
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT record ->> '$.partners[0].%s' FROM anomalies", what);
    sample_answer_is(dir, sql, expected);
}

static void what_the_other_says_is_in_the_record(void **state)
{
    struct prov_call call = {.func = "g", .enter_ns = 7, .leave_ns = 9};
    struct prov_partner partner = {
        .rank = 1, .thread = 6, .window = {.call = &call, .n_calls = 1}};

    (void)state;
    pack_varint(&say, PAST_KNOWN);
    prov_partner_pack(&partner, &say);
    has_question = true; /* that nobody can read, which is answered */
    assert_int_equal(run(ps_server_address(server)).n_answered, 1);
    assert_partner("tid", "6");
    assert_partner("event_window.exec_window[0].func", "g");
    assert_true(is_counted);
    assert_int_equal(told_first, PAST_OTHER_VERSION);
}

/* Who declines, or says what cannot be read, is quoted. */
static void decline(const char *why)
{
    struct partners_counts n;

    has_question = true; /* that nobody can read, which is answered */
    n = run(ps_server_address(server));
    assert_int_equal(n.n_declined, 1);
    assert_int_equal(n.n_answered + n.n_given_up, 0);
    assert_partner("not_known", why);
}

static void what_is_forgotten_there_is_not_known(void **state)
{
    (void)state;
    pack_varint(&say, PAST_TOO_OLD);
    decline("the instance of this rank keeps it no more");
}

static void what_is_too_large_is_not_known(void **state)
{
    (void)state;
    pack_varint(&say, PAST_TOO_LARGE);
    decline("what the instance of this rank had to say is too large");
}

static void another_version_is_not_known(void **state)
{
    (void)state;
    pack_varint(&say, PAST_OTHER_VERSION);
    decline("the instance of this rank is of another version");
}

static void nothing_at_all_is_damaged(void **state)
{
    (void)state;
    decline("the answer of the instance of this rank was damaged");
}

static void a_state_that_there_is_not_is_damaged(void **state)
{
    (void)state;
    pack_varint(&say, (uint64_t)1 << 32); /* 0 in 32 bits */
    decline("the answer of the instance of this rank was damaged");
}

static void a_window_of_another_rank_is_damaged(void **state)
{
    struct prov_partner partner = {.rank = 2};

    (void)state;
    pack_varint(&say, PAST_KNOWN);
    prov_partner_pack(&partner, &say);
    decline("the answer of the instance of this rank was damaged");
}

/* An instance that read rank 0 before had counted messages that this one has not. */
static void who_goes_on_for_another_has_not_counted_from_the_beginning(void **state)
{
    struct ps_relay_client *before = enter(0);

    (void)state;
    ps_relay_client_end(before, true); /* or it would be waited for */
    while (!ps_relay_client_is_heard(before))
        ps_relay_client_talk(before, &handlers, 10);
    ps_relay_client_close(before);
    pack_varint(&say, PAST_NOTHING);
    decline("this rank had entered no call by then");
    assert_false(is_counted);
}

/* Who is told to end waits for nobody, and nobody for it. */
static void one_that_is_told_to_end_is_over_for_the_others(void **state)
{
    struct ps_relay_client_counts n;

    (void)state;
    is_to_end = true;
    assert_int_equal(run(ps_server_address(server)).n_given_up, 1);
    is_to_end = false;
    assert_partner("not_known", "the run was ended before the instance of this rank answered");
    ps_relay_client_end(peer, true);
    while (!ps_relay_client_is_heard(peer))
        ps_relay_client_talk(peer, &handlers, 10);
    ps_relay_client_counts(peer, &n);
    assert_int_equal(n.n_going_on, 0);
}

static void a_server_that_is_not_there_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("tcp://127.0.0.1:9").n_given_up, 1);
    assert_partner("not_known", "the parameter server did not answer");
}

/* ------------------------------------------------------------------ one that hangs */

#define WAIT_MS 800u
/* About rank 2, whose instance hangs; then one about rank 1. */
#define N_ASKED (PARTNERS_MAX_OF_RANK + 44u)

struct hanging {
    struct call_histories histories;
    struct partners *partners;
    const struct ad_step *step;
    uint32_t n_put;
    char not_known[80]; /* of the last partner of the last record */
};

static void answer_by(void *ctx, const struct ps_letter *letter)
{
    assert_true(ps_relay_client_answer(ctx, letter, say.data, say.n));
}

static void note_record(void *ctx, const struct prov_record *record)
{
    struct hanging *x = ctx;

    x->n_put++;
    snprintf(x->not_known, sizeof x->not_known, "%s", record->partner[0].not_known);
}

static void talk_once(struct hanging *x)
{
    ps_relay_client_talk(peer, &handlers, 0);
    partners_talk(x->partners, note_record, x);
}

static void talk_for(struct hanging *x, unsigned ms)
{
    for (uint64_t begin = clock_ms(); clock_ms() - begin < ms;)
        talk_once(x);
}

/* A record that asks about the rank that message i came from. */
static void ask_about(struct hanging *x, size_t i)
{
    const struct prov_record record = {.n_partners = 0};
    struct far_partner far = partners_ask(x->partners, x->step, 0, i);

    partners_hold(x->partners, &record, &far, 1, note_record, x);
}

static struct partners_counts counts_of(const struct hanging *x)
{
    struct partners_counts n;

    partners_counts(x->partners, &n);
    return n;
}

static void ask_one_that_hangs(void *ctx, const struct ad_step *step)
{
    struct hanging *x = ctx;
    struct ps_relay_client *hung;
    struct ps_relay_handlers wakes = {NULL, answer_by, hear_answer};
    uint64_t begin;

    if (x->step)
        return; /* another one, of the end */
    x->step = step;
    wakes.ctx = hung = enter(2);
    call_histories_begin(&x->histories, step);
    partners_begin(x->partners, &x->histories, step);
    talk_for(x, 100); /* so that the server knows of it */

    /* a part of all at most, */
    for (size_t i = 0; i < N_ASKED; i++)
        ask_about(x, i);
    assert_int_equal(x->n_put, N_ASKED - PARTNERS_MAX_OF_RANK);
    assert_string_equal(x->not_known, "too many questions were under way");

    /* which are given up, while another one answers; */
    begin = clock_ms();
    ask_about(x, N_ASKED);
    while (x->n_put < N_ASKED + 1 && clock_ms() - begin < 20 * WAIT_MS)
        talk_once(x);
    assert_int_equal(counts_of(x).n_declined, 1);
    assert_int_equal(counts_of(x).n_given_up, N_ASKED);
    assert_string_equal(x->not_known, "the instance of this rank did not answer in time");

    /* then it is asked one question at a time, and the others go without, at once, */
    for (size_t i = 0; i < 3; i++)
        ask_about(x, i);
    assert_int_equal(x->n_put, N_ASKED + 3);
    assert_string_equal(x->not_known, "the instance of this rank did not answer in time");
    ask_about(x, N_ASKED);
    while (counts_of(x).n_declined < 2 && clock_ms() - begin < 20 * WAIT_MS)
        talk_once(x);
    assert_int_equal(counts_of(x).n_declined, 2);

    /* until it goes on */
    while (counts_of(x).n_declined < 3 && clock_ms() - begin < 20 * WAIT_MS) {
        if (counts_of(x).n_asked == counts_of(x).n_declined + counts_of(x).n_given_up)
            ask_about(x, 0); /* the one that was under way is over */
        ps_relay_client_talk(hung, &wakes, 0);
        talk_once(x);
    }
    assert_int_equal(counts_of(x).n_declined, 3);
    x->n_put = 0;
    for (size_t i = 0; i < 3; i++)
        ask_about(x, i);
    assert_int_equal(x->n_put, 0);
    ps_relay_client_close(hung);
}

static void an_instance_that_hangs_is_asked_a_bounded_number_of_questions(void **state)
{
    struct hanging x = {.n_put = 0};
    struct partners_opts opts = {
        .address = ps_server_address(server), .job = "job", .wait_ms = WAIT_MS};
    struct ad_opts ad_settings = ad_default();
    struct sample_stream program;
    struct ad *ad;

    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 40 * MS);
    for (unsigned i = 0; i <= N_ASKED; i++) {
        sample_enter(&program, 0, i * 100 * US, "MPI_Recv");
        sample_message(&program, 0, i * 100 * US + 9 * US, MESSAGE_RECV, i < N_ASKED ? 2 : 1,
                       64);
        sample_leave(&program, 0, i * 100 * US + 10 * US);
    }
    pack_varint(&say, PAST_NOTHING);
    call_histories_init(&x.histories, 2);
    assert_int_equal(partners_new(&opts, &x.partners), 0);
    ad_settings.detector = call_detector_find("sstd");
    ad_settings.sink = &(struct ad_sink){ask_one_that_hangs, &x};
    ad_settings.n_sinks = 1;
    ad = ad_new(&program.stream, &ad_settings);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    partners_free(x.partners);
    call_histories_release(&x.histories);
    ad_free(ad);
    sample_stream_close(&program);
    assert_true(n_asked >= 2);
}

/* ------------------------------------------------------------------ what is forgotten */

struct counting {
    struct call_histories histories;
    struct past_calls *past;
    uint64_t n_messages;
};

static void expect_numbers(void *ctx, const struct ad_step *step)
{
    struct counting *x = ctx;

    call_histories_begin(&x->histories, step);
    past_calls_step(x->past, &x->histories, step);
    for (size_t i = 0; i < step->calls[0].n_messages; i++)
        assert_int_equal(past_calls_number(x->past, 0, i), ++x->n_messages);
    call_histories_end(&x->histories, step);
}

/* A message more in each of six steps, of which three are kept. */
static void messages_keep_their_numbers_when_those_before_are_forgotten(void **state)
{
    struct ad_opts ad_settings = ad_default();
    struct counting x = {.past = past_calls_new(0)};
    struct sample_stream program;
    struct ad *ad;

    (void)state;
    sample_stream_open(&program, 1);
    for (unsigned k = 0; k < 6; k++) {
        sample_stream_step(&program, (k + 1) * MS);
        for (unsigned i = 0; i <= k; i++) {
            uint64_t at_ns = k * MS + i * 10 * US;

            sample_enter(&program, 0, at_ns, "MPI_Recv");
            sample_message(&program, 0, at_ns + US, MESSAGE_RECV, 1, 64);
            sample_leave(&program, 0, at_ns + 2 * US);
        }
    }
    call_histories_init(&x.histories, 2);
    ad_settings.sink = &(struct ad_sink){expect_numbers, &x};
    ad_settings.n_sinks = 1;
    ad = ad_new(&program.stream, &ad_settings);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    assert_int_equal(x.n_messages, 1 + 2 + 3 + 4 + 5 + 6);
    past_calls_free(x.past);
    call_histories_release(&x.histories);
    ad_free(ad);
    sample_stream_close(&program);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_the_other_says_is_in_the_record),
        TEST(what_is_forgotten_there_is_not_known),
        TEST(what_is_too_large_is_not_known),
        TEST(another_version_is_not_known),
        TEST(nothing_at_all_is_damaged),
        TEST(a_state_that_there_is_not_is_damaged),
        TEST(a_window_of_another_rank_is_damaged),
        TEST(who_goes_on_for_another_has_not_counted_from_the_beginning),
        TEST(one_that_is_told_to_end_is_over_for_the_others),
        TEST(a_server_that_is_not_there_is_said),
        TEST(an_instance_that_hangs_is_asked_a_bounded_number_of_questions),
        cmocka_unit_test(messages_keep_their_numbers_when_those_before_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
