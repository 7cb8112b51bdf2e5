/*
 * What is said is gathered until the request before is answered; then all of it is the next
 * one. Places are said once to each life of a server.
 */
#include "ps/ps_relay_client.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "ps/libzmq.h"
#include "ps/ps_socket.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MAX_SAY_BYTES                                                                          \
    (16u << 20)      /* bytes of letters in a request, with room in PS_MAX_FRAME_BYTES */
#define QUIET_MS 10u /* between requests that say nothing, but fetch what there is */

struct ps_relay_client {
    uint64_t id, epoch;
    unsigned resend_ms;
    char *job;
    struct ps_socket to;
    struct ps_letters say;     /* since the last request; bodies are its own, */
    size_t say_bytes;          /* and have so many */
    struct ps_rank *place;     /* [n_places] all of them, */
    uint32_t n_places, n_said; /* of which the first were said, */
    uint32_t n_placed;         /* and of these the first answered */
    size_t place_cap;
    bool is_over, has_said_over; /* the latter: in `out` */
    bool is_waiting;             /* for the answer to `out` */
    bool is_heard;               /* `is_over` was in a request that was answered */
    uint64_t sent_ms;
    struct pack out;
    struct ps_frame frame;
    struct ps_relay_client_counts counts;
};

int ps_relay_client_open(struct ps_relay_client **client,
                         const struct ps_relay_client_opts *opts)
{
    struct ps_relay_client *c = mem_alloc(1, sizeof *c);
    int rc;

    if (getrandom(&c->id, sizeof c->id, 0) != sizeof c->id)
        abort();
    c->resend_ms = opts->resend_ms ? opts->resend_ms : 2000;
    c->job = mem_copy_string(opts->job);
    rc = ps_socket_connect(&c->to, opts->address, opts->key_file);
    *client = rc < 0 ? NULL : c;
    if (rc < 0)
        ps_relay_client_close(c);
    return rc;
}

static void drop_bodies(struct ps_letter *letter, uint32_t *n)
{
    for (uint32_t i = 0; i < *n; i++)
        free((void *)letter[i].body.data);
    *n = 0;
}

void ps_relay_client_close(struct ps_relay_client *c)
{
    if (c == NULL)
        return;
    ps_socket_close(&c->to);
    drop_bodies(c->say.question, &c->say.n_questions);
    drop_bodies(c->say.answer, &c->say.n_answers);
    free(c->say.question);
    free(c->say.answer);
    free(c->place);
    free(c->job);
    pack_release(&c->out);
    ps_frame_release(&c->frame);
    free(c);
}

void ps_relay_client_place(struct ps_relay_client *c, struct ps_rank place)
{
    *mem_push(&c->place, &c->n_places, &c->place_cap) = place;
}

bool ps_relay_client_is_placed(const struct ps_relay_client *c)
{
    return c->n_placed == c->n_places;
}

static bool add(struct ps_relay_client *c, struct ps_letter **list, size_t *cap, uint32_t *n,
                struct ps_letter letter, const void *body, size_t bytes)
{
    unsigned char *copy;

    if (*n == PS_MAX_LETTERS || bytes > PS_MAX_LETTER_BYTES ||
        c->say_bytes + bytes > MAX_SAY_BYTES)
        return false;
    copy = mem_alloc(bytes + 1, 1);
    if (bytes > 0)
        memcpy(copy, body, bytes);
    letter.body = (struct ps_span){copy, (uint32_t)bytes};
    mem_grow(list, cap, (size_t)*n + 1);
    (*list)[(*n)++] = letter;
    c->say_bytes += bytes;
    return true;
}

bool ps_relay_client_ask(struct ps_relay_client *c, uint64_t number, struct ps_rank place,
                         const void *body, size_t bytes)
{
    struct ps_letter q = {.client = c->id, .number = number, .place = place};

    return add(c, &c->say.question, &c->say.question_cap, &c->say.n_questions, q, body, bytes);
}

bool ps_relay_client_answer(struct ps_relay_client *c, const struct ps_letter *question,
                            const void *body, size_t bytes)
{
    struct ps_letter a = {.client = question->client, .number = question->number};

    return add(c, &c->say.answer, &c->say.answer_cap, &c->say.n_answers, a, body, bytes);
}

void ps_relay_client_end(struct ps_relay_client *c, bool is_over)
{
    c->is_over = is_over;
    c->is_heard &= is_over;
}

bool ps_relay_client_is_idle(const struct ps_relay_client *c)
{
    return !c->is_waiting && c->say.n_questions == 0;
}

/* -------------------------------------------------------------------------------- talking */

static void send_out(struct ps_relay_client *c)
{
    if (zmq_send(c->to.socket, c->out.data, c->out.n, ZMQ_DONTWAIT) >= 0) {
        c->counts.n_sent++; /* else there is no room: it is as if it had been lost */
        c->counts.sent_bytes += c->out.n;
    }
    c->is_waiting = true;
    c->sent_ms = clock_ms();
}

static void send_next(struct ps_relay_client *c)
{
    struct ps_letters *l = &c->say;

    l->client = c->id;
    l->number = ++c->counts.n_requests;
    l->job = (struct ps_span){(const unsigned char *)c->job, (uint32_t)strlen(c->job)};
    l->is_over = c->has_said_over = c->is_over;
    l->place = c->place + c->n_said;
    l->n_places = c->n_places - c->n_said;
    if (l->n_places > PS_MAX_PLACES)
        l->n_places = PS_MAX_PLACES;
    c->out.n = 0;
    ps_write_letters(&c->out, PS_LETTERS, l);
    c->n_said += l->n_places;
    l->place = NULL; /* not its own */
    drop_bodies(l->question, &l->n_questions);
    drop_bodies(l->answer, &l->n_answers);
    c->say_bytes = 0;
    send_out(c);
}

static void take(struct ps_relay_client *c, const struct ps_letters *l,
                 const struct ps_relay_handlers *handlers)
{
    c->counts.n_replies++;
    c->counts.is_successor |= l->is_successor;
    if (c->epoch != 0 && l->epoch != c->epoch)
        c->n_said = c->n_placed = 0;
    c->epoch = l->epoch;
    if (l->number == c->counts.n_requests) {
        /* A request that was sent twice may be answered twice: the second answer brings letters alone.
         */
        c->counts.answered = l->number;
        c->counts.n_going_on = l->n_going_on;
        c->is_waiting = false;
        c->is_heard = c->has_said_over;
        c->n_placed = c->n_said;
    }
    for (uint32_t i = 0; i < l->n_questions; i++)
        handlers->question(handlers->ctx, &l->question[i]);
    for (uint32_t i = 0; i < l->n_answers; i++)
        handlers->answer(handlers->ctx, &l->answer[i]);
}

static bool receive(struct ps_relay_client *c, const struct ps_relay_handlers *handlers)
{
    zmq_msg_t message;
    bool has_come = false;

    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, c->to.socket, ZMQ_DONTWAIT) >= 0) {
        int rc = ps_frame_read(&c->frame, zmq_msg_data(&message), zmq_msg_size(&message));

        c->counts.received_bytes += zmq_msg_size(&message);
        if (rc == 0 && c->frame.kind == PS_DELIVERY) {
            take(c, &c->frame.letters, handlers);
            has_come = true;
        } else {
            c->counts.is_refused = true;
        }
    }
    zmq_msg_close(&message);
    return has_come;
}

/* There is something to send, or nothing was for a while. */
static bool is_due(const struct ps_relay_client *c)
{
    const struct ps_letters *l = &c->say;
    uint64_t since_ms = clock_ms() - c->sent_ms;

    if (c->is_waiting)
        return since_ms >= c->resend_ms;
    return l->n_questions + l->n_answers > 0 || c->n_said < c->n_places ||
           c->has_said_over != c->is_over || since_ms >= QUIET_MS;
}

bool ps_relay_client_talk(struct ps_relay_client *c, const struct ps_relay_handlers *handlers,
                          int timeout_ms)
{
    zmq_pollitem_t item = {.socket = c->to.socket, .events = ZMQ_POLLIN};
    bool has_come;

    if (c->counts.is_refused)
        return false;
    if (timeout_ms > 0 && !is_due(c))
        zmq_poll(&item, 1, timeout_ms);
    has_come = handlers && receive(c, handlers);
    if (!is_due(c))
        return has_come;
    if (c->is_waiting)
        send_out(c);
    else
        send_next(c);
    return has_come;
}

bool ps_relay_client_is_heard(const struct ps_relay_client *c)
{
    return c->is_heard && c->say.n_questions == 0 && c->say.n_answers == 0;
}

void ps_relay_client_counts(const struct ps_relay_client *c,
                            struct ps_relay_client_counts *counts)
{
    *counts = c->counts;
}
