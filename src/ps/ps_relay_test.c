/* Instances are played: each says something to the relay and reads what there is for it. */
#include "ps/ps_relay.h"

#include "test.h"

#define EPOCH 77

static struct ps_relay *relay;
static struct pack out;
static struct ps_frame frame;
static uint64_t now_ms;

static int set_up(void **state)
{
    (void)state;
    relay = ps_relay_new();
    now_ms = 1000;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ps_relay_free(relay);
    ps_frame_release(&frame);
    pack_release(&out);
    out = (struct pack){0};
    return 0;
}

static struct ps_span span_of(const char *text)
{
    return (struct ps_span){(const unsigned char *)text, (uint32_t)strlen(text)};
}

/* What an instance says, as it comes off the wire; and what it is told. */
static const struct ps_letters *say(struct ps_letters said, const char *job)
{
    static struct ps_frame heard;
    struct pack bytes = {0};

    said.job = span_of(job);
    ps_write_letters(&bytes, PS_LETTERS, &said);
    assert_int_equal(ps_frame_read(&heard, bytes.data, bytes.n), 0);
    assert_int_equal(heard.kind, PS_LETTERS);
    out.n = 0;
    assert_true(ps_relay_pass(relay, &heard.letters, EPOCH, now_ms, &out));
    assert_int_equal(ps_frame_read(&frame, out.data, out.n), 0);
    assert_int_equal(frame.kind, PS_DELIVERY);
    pack_release(&bytes);
    ps_frame_release(&heard);
    return &frame.letters;
}

static const struct ps_letters *come_by(uint64_t client, const char *job)
{
    return say((struct ps_letters){.client = client}, job);
}

static const struct ps_letters *read_rank(uint64_t client, uint32_t rank, const char *job)
{
    struct ps_rank place = {0, rank};

    return say((struct ps_letters){.client = client, .n_places = 1, .place = &place}, job);
}

static const struct ps_letters *ask(uint64_t client, uint64_t number, uint32_t rank,
                                    const char *job)
{
    struct ps_letter q = {
        .client = client, .number = number, .place = {0, rank}, .body = span_of("what?")};

    return say((struct ps_letters){.client = client, .n_questions = 1, .question = &q}, job);
}

static bool has_text(struct ps_span span, const char *text)
{
    return span.n == strlen(text) && memcmp(span.data, text, span.n) == 0;
}

/*     1: rank 3?  -->  2: reads rank 3, "this"  -->  1                                      */
static void a_question_goes_to_who_reads_the_rank_and_its_answer_back(void **state)
{
    struct ps_letter answer = {.client = 1, .number = 8, .body = span_of("this")};
    const struct ps_letters *mail;

    (void)state;
    read_rank(1, 0, "job");
    assert_int_equal(read_rank(2, 3, "job")->epoch, EPOCH);
    assert_int_equal(ask(1, 8, 3, "job")->n_answers, 0);
    assert_int_equal(come_by(1, "job")->n_questions, 0);
    mail = come_by(2, "job");
    assert_int_equal(mail->n_questions, 1);
    assert_true(mail->question[0].client == 1 && mail->question[0].number == 8 &&
                mail->question[0].place.rank == 3);
    assert_true(has_text(mail->question[0].body, "what?"));
    mail = say((struct ps_letters){.client = 2, .n_answers = 1, .answer = &answer}, "job");
    assert_int_equal(mail->n_questions, 0); /* once is enough */
    mail = come_by(1, "job");
    assert_int_equal(mail->n_answers, 1);
    assert_true(mail->answer[0].number == 8 && mail->answer[0].state == PS_ANSWERED);
    assert_true(has_text(mail->answer[0].body, "this"));
    assert_int_equal(come_by(1, "job")->n_answers, 0);
}

static void assert_nobody(const struct ps_letters *mail)
{
    assert_int_equal(mail->n_answers, 1);
    assert_int_equal(mail->answer[0].number, 5);
    assert_int_equal(mail->answer[0].state, PS_NOBODY);
}

static void another_job_and_another_program_are_nobody(void **state)
{
    struct ps_letter answer = {.client = 1, .number = 5, .body = span_of("this")};
    struct ps_rank place = {1, 3};

    (void)state;
    read_rank(2, 3, "other");
    say((struct ps_letters){.client = 4, .n_places = 1, .place = &place}, "job");
    assert_nobody(ask(1, 5, 3, "job"));
    say((struct ps_letters){.client = 2, .n_answers = 1, .answer = &answer}, "other");
    assert_int_equal(come_by(1, "job")->n_answers, 0); /* not asked, and not of the job */
}

static void who_has_not_come_by_for_long_is_nobody_and_loses_its_mail(void **state)
{
    (void)state;
    read_rank(2, 3, "job");
    ask(1, 4, 3, "job");
    now_ms += PS_RELAY_SILENT_MS - 1;
    assert_int_equal(ask(1, 6, 3, "job")->n_answers, 0);
    now_ms += 1;
    assert_nobody(ask(1, 5, 3, "job"));
    assert_int_equal(come_by(2, "job")->n_questions, 0);
    assert_int_equal(ask(1, 7, 3, "job")->n_answers, 0); /* it is back */
}

static void one_that_was_started_again_goes_before_the_one_that_died(void **state)
{
    (void)state;
    assert_false(read_rank(2, 3, "job")->is_successor);
    assert_false(read_rank(2, 3, "job")->is_successor);
    assert_true(read_rank(9, 3, "job")->is_successor);
    assert_true(come_by(9, "job")->is_successor);
    assert_false(read_rank(8, 4, "job")->is_successor);
    ask(1, 8, 3, "job");
    assert_int_equal(come_by(2, "job")->n_questions, 0);
    assert_int_equal(come_by(9, "job")->n_questions, 1);
}

static void one_that_is_over_hears_how_many_go_on(void **state)
{
    (void)state;
    read_rank(1, 0, "job");
    read_rank(2, 1, "job");
    read_rank(3, 2, "other");
    assert_int_equal(say((struct ps_letters){.client = 1, .is_over = true}, "job")->n_going_on,
                     1);
    say((struct ps_letters){.client = 2, .is_over = true}, "job");
    assert_int_equal(say((struct ps_letters){.client = 1, .is_over = true}, "job")->n_going_on,
                     0);
    read_rank(4, 3, "job");
    now_ms += PS_RELAY_SILENT_MS;
    assert_int_equal(say((struct ps_letters){.client = 1, .is_over = true}, "job")->n_going_on,
                     0); /* nothing was heard of 4 */
}

/* Two workers look at the clock, and come in the other order: 2 was heard of a moment later
 * than the question, and is not taken for dead because of that. */
static void one_that_was_heard_of_later_is_there(void **state)
{
    (void)state;
    now_ms += 1;
    read_rank(2, 3, "job");
    ask(1, 4, 3, "job");
    now_ms -= 1;
    assert_int_equal(ask(1, 5, 3, "job")->n_answers, 0);
    assert_int_equal(say((struct ps_letters){.client = 1, .is_over = true}, "job")->n_going_on,
                     1);
    assert_int_equal(come_by(2, "job")->n_questions, 2);
}

static const struct ps_letters *answer_with(uint64_t from, uint64_t to, uint64_t number,
                                            uint32_t bytes)
{
    static unsigned char body[PS_MAX_LETTER_BYTES];
    struct ps_letter a = {.client = to, .number = number, .body = {body, bytes}};

    return say((struct ps_letters){.client = from, .n_answers = 1, .answer = &a}, "job");
}

/* 16 letters of 256 KiB do not fit into 4 MiB, with what says whose they are. */
static void an_answer_that_there_is_no_room_for_is_asked_for_again(void **state)
{
    const struct ps_letters *mail;

    (void)state;
    come_by(1, "job");
    for (uint32_t i = 0; i < PS_RELAY_MAX_MAIL_BYTES / PS_MAX_LETTER_BYTES; i++)
        answer_with(2, 1, i, PS_MAX_LETTER_BYTES);
    mail = come_by(1, "job");
    assert_int_equal(mail->n_answers, 16);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(mail->answer[i].number, i);
        assert_int_equal(mail->answer[i].state, i < 15 ? PS_ANSWERED : PS_OVERFULL);
    }
}

/* 70 that are dead have more left for them than a server keeps. */
static void what_is_left_for_the_dead_makes_room(void **state)
{
    struct ps_relay_counts counts;

    (void)state;
    for (uint64_t dead = 100; dead < 170; dead++) {
        come_by(dead, "job");
        for (uint32_t i = 0; i < 15; i++)
            answer_with(2, dead, i, PS_MAX_LETTER_BYTES);
    }
    ps_relay_counts(relay, &counts);
    assert_in_range(counts.n_answers, 64 * 15, 70 * 15 - 1);
    come_by(1, "job");
    answer_with(2, 1, 3, PS_MAX_LETTER_BYTES);
    assert_int_equal(come_by(1, "job")->answer[0].state, PS_OVERFULL);
    now_ms += PS_RELAY_SILENT_MS;
    come_by(1, "job");
    answer_with(2, 1, 4, PS_MAX_LETTER_BYTES);
    assert_int_equal(come_by(1, "job")->answer[0].state, PS_ANSWERED);
}

/* A request that was sent again, as its answer took long. */
static void what_is_said_twice_is_passed_on_once(void **state)
{
    struct ps_letter q = {.number = 4, .place = {0, 3}};
    struct ps_letters said = {.client = 1, .number = 9, .n_questions = 1, .question = &q};

    (void)state;
    read_rank(2, 3, "job");
    assert_int_equal(say(said, "job")->number, 9);
    assert_int_equal(say(said, "job")->number, 9);
    said.number = 10;
    say(said, "job");
    assert_int_equal(come_by(2, "job")->n_questions, 2);
}

static void mail_is_bounded_and_who_asks_is_told(void **state)
{
    struct ps_relay_counts counts;
    uint32_t n_told = 0;

    (void)state;
    read_rank(2, 3, "job");
    for (uint32_t i = 0; i < PS_MAX_LETTERS + 3; i++) {
        const struct ps_letters *mail = ask(1, i + 1, 3, "job");

        for (uint32_t k = 0; k < mail->n_answers; k++, n_told++)
            assert_int_equal(mail->answer[k].state, PS_OVERFULL);
    }
    assert_int_equal(n_told, 3);
    assert_int_equal(come_by(2, "job")->n_questions, PS_MAX_LETTERS);
    ps_relay_counts(relay, &counts);
    assert_int_equal(counts.n_questions, PS_MAX_LETTERS);
    assert_int_equal(counts.n_undelivered, 3);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_question_goes_to_who_reads_the_rank_and_its_answer_back),
        TEST(another_job_and_another_program_are_nobody),
        TEST(who_has_not_come_by_for_long_is_nobody_and_loses_its_mail),
        TEST(one_that_was_started_again_goes_before_the_one_that_died),
        TEST(one_that_is_over_hears_how_many_go_on),
        TEST(one_that_was_heard_of_later_is_there),
        TEST(an_answer_that_there_is_no_room_for_is_asked_for_again),
        TEST(what_is_left_for_the_dead_makes_room),
        TEST(what_is_said_twice_is_passed_on_once),
        TEST(mail_is_bounded_and_who_asks_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
