/* A client against a server that is played: what it says is read, and answered as one likes. */
#include "ps/ps_relay_client.h"

#include "ps/libzmq.h"

#include "test.h"

#include <unistd.h>

#define RESEND_MS 50

static void *zmq, *server;
static zmq_msg_t who; /* says it */
static struct ps_frame said;
static zmq_msg_t bytes; /* that said points into */
static struct ps_relay_client *client;
static uint32_t n_questions, n_answers;

static int set_up(void **state)
{
    struct ps_relay_client_opts opts = {.job = "job", .resend_ms = RESEND_MS};
    int linger = 0;
    char address[64];
    size_t size = sizeof address;

    (void)state;
    zmq = zmq_ctx_new();
    server = zmq_socket(zmq, ZMQ_ROUTER);
    zmq_setsockopt(server, ZMQ_LINGER, &linger, sizeof linger);
    assert_int_equal(zmq_bind(server, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(server, ZMQ_LAST_ENDPOINT, address, &size);
    zmq_msg_init(&who);
    zmq_msg_init(&bytes);
    opts.address = address;
    n_questions = n_answers = 0;
    return ps_relay_client_open(&client, &opts);
}

static int tear_down(void **state)
{
    (void)state;
    ps_relay_client_close(client);
    ps_frame_release(&said);
    zmq_msg_close(&who);
    zmq_msg_close(&bytes);
    zmq_close(server);
    zmq_ctx_term(zmq);
    return 0;
}

static void question(void *ctx, const struct ps_letter *letter)
{
    (void)ctx;
    (void)letter;
    n_questions++;
}

static void answer(void *ctx, const struct ps_letter *letter)
{
    (void)ctx;
    (void)letter;
    n_answers++;
}

static bool talk(int timeout_ms)
{
    return ps_relay_client_talk(client, &(struct ps_relay_handlers){NULL, question, answer},
                                timeout_ms);
}

static bool has_come(void)
{
    zmq_pollitem_t item = {.socket = server, .events = ZMQ_POLLIN};

    return zmq_poll(&item, 1, 0) > 0;
}

static void read_frame(void)
{
    assert_true(zmq_msg_recv(&who, server, 0) >= 0);
    assert_true(zmq_msg_recv(&bytes, server, 0) >= 0);
    assert_int_equal(ps_frame_read(&said, zmq_msg_data(&bytes), zmq_msg_size(&bytes)), 0);
    assert_int_equal(said.kind, PS_LETTERS);
}

/* The next request, which may be the one before, sent again; it is sent when something is due. */
static const struct ps_letters *hear(void)
{
    while (!has_come())
        talk(1);
    read_frame();
    return &said.letters;
}

/* The first request after that of a number: a slow machine may have sent that one again. */
static const struct ps_letters *hear_after(uint64_t number)
{
    while (hear()->number == number)
        ;
    return &said.letters;
}

static void send_bytes(const struct pack *out)
{
    assert_true(zmq_send(server, zmq_msg_data(&who), zmq_msg_size(&who), ZMQ_SNDMORE) >= 0);
    assert_true(zmq_send(server, out->data, out->n, 0) >= 0);
}

/* Until the client has taken it. */
static void deliver(struct ps_letters mail)
{
    struct pack out = {0};

    ps_write_letters(&out, PS_DELIVERY, &mail);
    send_bytes(&out);
    while (!talk(1))
        ;
    pack_release(&out);
}

static struct ps_relay_client_counts counts(void)
{
    struct ps_relay_client_counts n;

    ps_relay_client_counts(client, &n);
    return n;
}

static void places_are_known_when_they_were_answered(void **state)
{
    struct ps_letters mail = {.epoch = 7, .is_successor = true};

    (void)state;
    ps_relay_client_place(client, (struct ps_rank){0, 3});
    assert_false(ps_relay_client_is_placed(client));
    assert_int_equal(hear()->n_places, 1);
    assert_false(ps_relay_client_is_placed(client));
    assert_false(counts().is_successor);
    mail.number = said.letters.number;
    deliver(mail);
    assert_true(ps_relay_client_is_placed(client));
    assert_true(counts().is_successor);
    mail.number = hear_after(mail.number)->number;
    assert_int_equal(said.letters.n_places, 0); /* once is enough */
    mail.epoch = 8;                             /* for one life of the server */
    deliver(mail);
    assert_false(ps_relay_client_is_placed(client));
    assert_int_equal(hear_after(mail.number)->n_places, 1);
}

/* The server is slow: it gets the request twice, and answers twice. What is in the request
 * after that is not answered yet. */
static void the_second_answer_to_a_request_is_not_that_to_the_next(void **state)
{
    uint64_t number = hear()->number;
    struct ps_letter letter = {.number = 5};

    (void)state;
    assert_int_equal(hear()->number, number); /* sent again */
    ps_relay_client_ask(client, 1, (struct ps_rank){0, 3}, "?", 1);
    ps_relay_client_end(client, true);
    deliver((struct ps_letters){.number = number});
    assert_int_equal(counts().answered, number);
    assert_int_equal(hear_after(number)->n_questions, 1);
    deliver((struct ps_letters){.number = number, .n_answers = 1, .answer = &letter});
    assert_int_equal(n_answers, 1); /* letters are letters */
    assert_int_equal(counts().answered, number);
    assert_false(ps_relay_client_is_heard(client));
    assert_false(ps_relay_client_is_idle(client));
    deliver((struct ps_letters){.number = said.letters.number});
    assert_true(ps_relay_client_is_heard(client));
}

/* 16 MiB of letters, and 1,024 of a kind, wait for the next request; none is above 256 KiB. */
static void what_waits_to_be_sent_is_bounded(void **state)
{
    static const unsigned char body[PS_MAX_LETTER_BYTES + 1];
    struct ps_letter to = {.client = 5};
    uint32_t n = 0;

    (void)state;
    assert_false(ps_relay_client_answer(client, &to, body, PS_MAX_LETTER_BYTES + 1));
    while (ps_relay_client_answer(client, &to, body, PS_MAX_LETTER_BYTES))
        n++;
    assert_int_equal(n, 64);
    while (ps_relay_client_answer(client, &to, body, 0))
        n++;
    assert_int_equal(n, PS_MAX_LETTERS);
    assert_int_equal(hear()->n_answers, PS_MAX_LETTERS);
    deliver((struct ps_letters){.number = said.letters.number});
    assert_true(ps_relay_client_answer(client, &to, body, PS_MAX_LETTER_BYTES));
}

/* A server of an earlier version knows no letters. */
static void a_server_that_refuses_is_not_asked_again(void **state)
{
    struct ps_refusal refusal = {.code = PS_BAD_FRAME};
    struct pack out = {0};
    uint64_t n_sent;

    (void)state;
    hear();
    ps_write_refusal(&out, &refusal);
    send_bytes(&out);
    while (!counts().is_refused)
        talk(1);
    n_sent = counts().n_sent;
    usleep(2 * RESEND_MS * 1000); /* it would be due */
    assert_false(talk(1));
    assert_int_equal(counts().n_sent, n_sent);
    pack_release(&out);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(places_are_known_when_they_were_answered),
        TEST(the_second_answer_to_a_request_is_not_that_to_the_next),
        TEST(what_waits_to_be_sent_is_bounded),
        TEST(a_server_that_refuses_is_not_asked_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
