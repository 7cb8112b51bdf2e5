/*
 * One request is under way at any time. `delta` holds the numbered deltas that are not saved,
 * in order; the first of them that the server has not received is sent next:
 *
 *     told       | delta[0] .. | delta[k] ..      | pending
 *     saved, all | received,   | to be sent, the  | being added to,
 *     as one     | not saved   | first under way  | no number yet
 *
 * A server that was started anew knows less: then k moves back. One that knows nothing of us,
 * as it had no snapshot, is told all once more, as one delta with the last number of those in
 * it. So what it has is the same, bit for bit. Without deltas to send, an empty push asks for
 * models and for what was saved.
 */
#include "ps/ps_client.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/progress.h"
#include "base/text.h"
#include "ps/libzmq.h"
#include "ps/ps_socket.h"
#include "ps/ps_state.h"
#include "ps/ps_wire.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define POLL_MS 100     /* between empty pushes, */
#define POLL_ROUND_MS 2 /* ... while others wait for the round, too */
#define POLL_NEW_MS 2   /* ... at first, while the server asks one above it about a function */

struct client_function {
    char *program, *name;
    uint32_t index; /* the server's, or PS_NO_INDEX */
    bool has_changed;
    struct sketch model;
};

struct delta {
    uint64_t sequence, round;
    struct ps_state state; /* slots are our functions */
};

struct ps_client {
    uint64_t id;
    unsigned resend_ms;
    bool is_deterministic;
    struct ps_socket to;

    struct names key;                 /* "program\nname" */
    struct client_function *function; /* [key.n] */
    size_t function_cap;
    uint32_t *of_index; /* [n_of_index] our number, or PS_NO_INDEX */
    size_t n_of_index, of_index_cap;

    struct delta told; /* sequence 0: nothing yet */
    struct delta delta[PS_CLIENT_DELTAS];
    uint32_t n_deltas;
    struct ps_state pending;
    uint64_t sequence, round; /* last given */
    uint64_t received, saved, epoch;
    uint64_t version, published_round;
    bool is_frozen;

    bool is_waiting; /* for the answer to `asked` */
    uint64_t asked;  /* sequence of the request, 0 for an empty one */
    uint64_t sent_ms, next_poll_ms;
    unsigned poll_ms; /* doubles up to POLL_MS while the server has no index for a function */
    bool has_unnamed; /* ... which is so */
    struct pack out;
    struct ps_frame frame;
    uint64_t bin[SKETCH_MAX_BINS];
    struct ps_client_counts counts;
    bool has_news;
};

/* -------------------------------------------------------------------------------- opening */

int ps_client_open(struct ps_client **client, const struct ps_client_opts *opts)
{
    struct ps_client *c = mem_alloc(1, sizeof *c);
    int rc;

    if (getrandom(&c->id, sizeof c->id, 0) != sizeof c->id)
        abort();
    c->resend_ms = opts->resend_ms ? opts->resend_ms : 2000;
    c->is_deterministic = opts->is_deterministic;
    c->poll_ms = POLL_MS;
    rc = ps_socket_connect(&c->to, opts->address, opts->key_file);
    *client = rc < 0 ? NULL : c;
    if (rc < 0)
        ps_client_close(c);
    return rc;
}

void ps_client_close(struct ps_client *c)
{
    if (c == NULL)
        return;
    ps_socket_close(&c->to);
    for (uint32_t i = 0; i < c->key.n; i++) {
        free(c->function[i].program);
        free(c->function[i].name);
        sketch_release(&c->function[i].model);
    }
    free(c->function);
    names_release(&c->key);
    free(c->of_index);
    for (uint32_t i = 0; i < c->n_deltas; i++)
        ps_state_release(&c->delta[i].state);
    ps_state_release(&c->told.state);
    ps_state_release(&c->pending);
    pack_release(&c->out);
    ps_frame_release(&c->frame);
    free(c);
}

/* --------------------------------------------------------------------------------- adding */

static char *copy_name(const char *text)
{
    char *copy = strndup(text, PS_MAX_TEXT_BYTES);

    if (copy == NULL)
        abort();
    return text_printable(copy);
}

uint32_t ps_client_function(struct ps_client *c, const char *program, const char *name)
{
    struct client_function f = {.program = copy_name(program), .name = copy_name(name)};
    char text[2 * PS_MAX_TEXT_BYTES + 2], *end;
    uint32_t n = c->key.n, id;

    end = stpcpy(text, f.program);
    *end++ = '\n';
    strcpy(end, f.name);
    id = n < PS_MAX_FUNCTIONS ? names_add(&c->key, text) : names_find(&c->key, text);
    if (id != n || id == NAMES_NONE) {
        free(f.program);
        free(f.name);
        return id;
    }
    f.index = PS_NO_INDEX;
    sketch_init(&f.model);
    mem_grow(&c->function, &c->function_cap, (size_t)n + 1);
    c->function[id] = f;
    c->next_poll_ms = 0; /* it may have a model already */
    c->poll_ms = POLL_NEW_MS;
    c->has_unnamed = true;
    return id;
}

void ps_client_add(struct ps_client *c, uint32_t function, const struct sketch *sketch)
{
    assert(function < c->key.n);
    if (sketch->n > 0)
        ps_state_add(&c->pending, function, sketch);
}

void ps_client_count(struct ps_client *c, const struct ps_stat_key *key,
                     const struct ps_stat *stat)
{
    char *part[3] = {copy_name(key->program), copy_name(key->region), copy_name(key->name)};
    struct ps_span span[3];
    char text[PS_KEY_SIZE];

    for (int i = 0; i < 3; i++)
        span[i] = (struct ps_span){(unsigned char *)part[i], (uint32_t)strlen(part[i])};
    ps_state_key(&(struct ps_stat_entry){.program = span[0],
                                         .region = span[1],
                                         .name = span[2],
                                         .rank = key->rank,
                                         .stat = {.is_real = stat->is_real}},
                 text);
    if (stat->n > 0)
        ps_state_count(&c->pending, text, stat);
    for (int i = 0; i < 3; i++)
        free(part[i]);
}

/* Gives what is pending a number. */
static void number(struct ps_client *c, uint64_t round)
{
    c->delta[c->n_deltas++] =
        (struct delta){.sequence = ++c->sequence, .round = round, .state = c->pending};
    c->pending = (struct ps_state){0};
}

static bool has_pending(const struct ps_client *c)
{
    return c->pending.n_used > 0 || c->pending.key.n > 0;
}

void ps_client_push(struct ps_client *c)
{
    assert(!c->is_deterministic);
    if (has_pending(c) && c->n_deltas < PS_CLIENT_DELTAS)
        number(c, 0);
}

/* -------------------------------------------------------------------------------- sending */

static void write_functions(struct ps_client *c, const struct ps_state *state)
{
    for (uint32_t i = 0; i < c->key.n; i++) {
        const struct client_function *f = &c->function[i];
        const struct sketch *sketch = NULL;

        if (state && i < state->n && state->sketch[i].n > 0)
            sketch = &state->sketch[i];
        if (f->index == PS_NO_INDEX)
            ps_write_named(&c->out, f->program, f->name, sketch);
        else
            ps_write_entry(&c->out, f->index, sketch);
    }
}

static void write_stats(struct ps_client *c, const struct ps_state *state)
{
    ps_write_array(&c->out, state ? state->key.n : 0);
    for (uint32_t i = 0; state && i < state->key.n; i++) {
        char *text = mem_copy_string(state->key.name[i]);
        struct ps_stat_key key = ps_state_split(text);

        ps_write_stat(&c->out, &key, &state->stat[i]);
        free(text);
    }
}

/* The server has nothing of us any more. */
static bool must_tell_all(const struct ps_client *c)
{
    return c->received == 0 && c->told.sequence > 0;
}

/* The first delta that the server has not received, or NULL. */
static const struct delta *next_delta(const struct ps_client *c)
{
    if (must_tell_all(c))
        return &c->told;
    for (uint32_t i = 0; i < c->n_deltas; i++)
        if (c->delta[i].sequence > c->received)
            return &c->delta[i];
    return NULL;
}

static void send_request(struct ps_client *c, const struct delta *delta)
{
    struct ps_push push = {.client = c->id,
                           .epoch = c->epoch,
                           .sequence = delta ? delta->sequence : 0,
                           .round = delta ? delta->round : 0,
                           .have = c->version,
                           .n_entries = c->key.n};

    c->out.n = 0;
    ps_write_push(&c->out, &push);
    write_functions(c, delta ? &delta->state : NULL);
    write_stats(c, delta ? &delta->state : NULL);
    if (zmq_send(c->to.socket, c->out.data, c->out.n, ZMQ_DONTWAIT) >= 0)
        c->counts.n_sent++; /* else there is no room to send it: it is as if it had been lost */
    c->is_waiting = true;
    c->asked = push.sequence;
    c->sent_ms = clock_ms();
    c->next_poll_ms = c->sent_ms + (c->is_deterministic ? POLL_ROUND_MS : c->poll_ms);
}

/* ------------------------------------------------------------------------------ receiving */

/* What the server says of itself and of us. A new life of it knows no index of ours, and what
 * we tell it again is in the models of the one before. */
static void note_epoch(struct ps_client *c, uint64_t epoch, uint64_t received)
{
    if (c->epoch != 0 && epoch != c->epoch) {
        c->counts.n_restarts++;
        if (c->told.sequence > 0 && received == 0)
            c->counts.n_retold++;
        else if (received < c->told.sequence) /* what is missing cannot be told apart */
            c->counts.n_forgotten += c->told.sequence - received;
        for (uint32_t i = 0; i < c->key.n; i++) {
            c->function[i].index = PS_NO_INDEX;
            sketch_clear(&c->function[i].model);
        }
        c->has_news = true;
        c->has_unnamed = c->key.n > 0;
        c->n_of_index = 0;
        c->version = 0;
        c->saved = received;
    }
    c->epoch = epoch;
    c->received = received;
}

static void drop_saved(struct ps_client *c, uint64_t saved)
{
    uint32_t n = 0;

    c->saved = saved;
    for (; n < c->n_deltas && c->delta[n].sequence <= saved; n++) {
        ps_state_merge(&c->told.state, &c->delta[n].state);
        c->told.sequence = c->delta[n].sequence;
        c->told.round = c->delta[n].round;
        ps_state_release(&c->delta[n].state);
    }
    c->n_deltas -= n;
    memmove(c->delta, c->delta + n, c->n_deltas * sizeof *c->delta);
}

static void learn_index(struct ps_client *c, uint32_t function, uint32_t index)
{
    if (index == PS_NO_INDEX || function >= c->key.n)
        return;
    c->function[function].index = index;
    mem_grow(&c->of_index, &c->of_index_cap, (size_t)index + 1);
    while (c->n_of_index <= index)
        c->of_index[c->n_of_index++] = PS_NO_INDEX;
    c->of_index[index] = function;
}

/* The server has an index for all functions. */
static bool is_named(const struct ps_client *c)
{
    for (uint32_t i = 0; i < c->key.n; i++)
        if (c->function[i].index == PS_NO_INDEX)
            return false;
    return true;
}

static void take_models(struct ps_client *c, const struct ps_reply *r)
{
    for (uint32_t i = 0; i < r->n_models; i++) {
        uint32_t index = r->model[i].index;
        uint32_t f = index < c->n_of_index ? c->of_index[index] : PS_NO_INDEX;
        struct sketch view;

        if (f == PS_NO_INDEX)
            continue;
        view = ps_sketch_view(&r->model[i].sketch, c->bin);
        sketch_release(&c->function[f].model);
        sketch_merge(&c->function[f].model, &view);
        c->function[f].has_changed = c->has_news = true;
    }
}

static void take_reply(struct ps_client *c, const struct ps_reply *r)
{
    c->counts.n_replies++;
    note_epoch(c, r->epoch, r->received);
    drop_saved(c, r->saved);
    for (uint32_t i = 0; i < r->n_indices; i++) /* requests name all functions, in order */
        learn_index(c, i, r->index[i]);
    take_models(c, r);
    c->has_unnamed = !is_named(c);
    c->poll_ms = c->has_unnamed && c->poll_ms < POLL_MS / 2 ? 2 * c->poll_ms : POLL_MS;
    c->version = r->version;
    if (r->round > c->published_round) /* one that goes on with our rounds is behind at first */
        c->published_round = r->round;
    c->is_frozen = r->is_frozen;
    c->is_waiting = false;
}

/* A refused request is asked again, after a while unless names are all that was missing. */
static void take_refusal(struct ps_client *c, const struct ps_refusal *r)
{
    c->counts.n_refused++;
    c->counts.n_foreign += r->code == PS_OTHER_VERSION;
    if (r->epoch != 0 && r->code != PS_BAD_FRAME && r->code != PS_OTHER_VERSION)
        note_epoch(c, r->epoch, r->received);
    if (r->code == PS_STALE)
        c->is_waiting = false;
}

/* A server that could not read a request does not know its number. */
static bool is_of_request(const struct ps_client *c, const struct ps_refusal *r)
{
    return r->sequence == c->asked || r->code == PS_BAD_FRAME || r->code == PS_OTHER_VERSION;
}

/* Answers to requests that were given up are not looked at: a later one says more. */
static void take_message(struct ps_client *c, const void *data, size_t bytes)
{
    struct ps_frame *f = &c->frame;
    int rc = ps_frame_read(f, data, bytes);

    if (rc == 0 && f->kind == PS_REPLY && c->is_waiting && f->reply.sequence == c->asked)
        take_reply(c, &f->reply);
    else if (rc == 0 && f->kind == PS_REFUSAL && c->is_waiting && is_of_request(c, &f->refusal))
        take_refusal(c, &f->refusal);
    else if (rc == ERR_UNSUPPORTED)
        c->counts.n_foreign++;
    else if (rc < 0)
        c->counts.n_garbage++;
}

static void receive_all(struct ps_client *c)
{
    zmq_msg_t message;

    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, c->to.socket, ZMQ_DONTWAIT) >= 0)
        take_message(c, zmq_msg_data(&message), zmq_msg_size(&message));
    zmq_msg_close(&message);
}

/* Sends if nothing is under way, or was for too long. */
static void send_due(struct ps_client *c, bool is_asking)
{
    const struct delta *delta = next_delta(c);
    uint64_t now = clock_ms();

    if (c->is_waiting && now - c->sent_ms < c->resend_ms)
        return;
    if (c->is_waiting)
        c->counts.n_resent++;
    if (delta || c->is_waiting || (is_asking && now >= c->next_poll_ms))
        send_request(c, delta);
}

/* -------------------------------------------------------------------------------- talking */

/* How long until there is something to do, at most `most`. */
static long until_due(const struct ps_client *c, long most)
{
    uint64_t now = clock_ms();
    uint64_t due = c->is_waiting ? c->sent_ms + c->resend_ms : c->next_poll_ms;
    long wait = due > now ? (long)(due - now) : 0;

    return wait < most ? wait : most;
}

/* Talks until is_done says so, or for timeout_ms. Returns what it says at the end. */
static bool talk(struct ps_client *c, bool (*is_done)(const struct ps_client *), int timeout_ms)
{
    uint64_t end = clock_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);

    for (;;) {
        zmq_pollitem_t item = {.socket = c->to.socket, .events = ZMQ_POLLIN};
        uint64_t now;

        receive_all(c);
        if (is_done(c))
            return true;
        send_due(c, true);
        now = clock_ms();
        if (now >= end)
            return false;
        zmq_poll(&item, 1, until_due(c, (long)(end - now)));
    }
}

static bool is_idle(const struct ps_client *c)
{
    return !c->is_waiting && next_delta(c) == NULL && clock_ms() < c->next_poll_ms &&
           !c->has_unnamed;
}

static bool has_room(const struct ps_client *c)
{
    return c->n_deltas < PS_CLIENT_DELTAS;
}

bool ps_client_has_pending(const struct ps_client *c)
{
    return has_pending(c) && has_room(c);
}

bool ps_client_is_flushed(const struct ps_client *c)
{
    return c->n_deltas == 0 && !has_pending(c) && !must_tell_all(c);
}

static bool has_round(const struct ps_client *c)
{
    return c->published_round >= c->round;
}

bool ps_client_exchange(struct ps_client *c, int timeout_ms)
{
    c->has_news = false;
    for (uint32_t i = 0; i < c->key.n; i++)
        c->function[i].has_changed = false;
    talk(c, is_idle, timeout_ms);
    return c->has_news;
}

bool ps_client_round(struct ps_client *c, int timeout_ms)
{
    assert(c->is_deterministic);
    if (has_round(c)) {
        if (!talk(c, has_room, timeout_ms))
            return false;
        number(c, ++c->round);
    }
    return talk(c, has_round, timeout_ms);
}

bool ps_client_flush(struct ps_client *c, int timeout_ms)
{
    uint64_t end = clock_ms() + (uint64_t)timeout_ms;

    if (c->is_deterministic) {
        if (c->round != PS_ROUND_LAST && talk(c, has_room, timeout_ms))
            number(c, c->round = PS_ROUND_LAST);
        return talk(c, ps_client_is_flushed, timeout_ms);
    }
    do { /* what was pending gets its number when there is room */
        uint64_t now = clock_ms();

        ps_client_push(c);
        if (talk(c, ps_client_is_flushed,
                 now + POLL_MS < end ? POLL_MS : (int)(end > now ? end - now : 0)))
            return true;
    } while (clock_ms() < end);
    return false;
}

bool ps_client_has_changed(const struct ps_client *c, uint32_t function)
{
    return c->function[function].has_changed;
}

const struct sketch *ps_client_model(const struct ps_client *c, uint32_t function)
{
    return c->function[function].model.n > 0 ? &c->function[function].model : NULL;
}

static void merge_state(const struct ps_state *state, uint32_t function, struct sketch *sketch)
{
    if (function < state->n)
        sketch_merge(sketch, &state->sketch[function]);
}

void ps_client_unsent(const struct ps_client *c, uint32_t function, struct sketch *sketch)
{
    if (must_tell_all(c))
        merge_state(&c->told.state, function, sketch);
    for (uint32_t i = 0; i < c->n_deltas; i++)
        if (c->delta[i].sequence > c->received)
            merge_state(&c->delta[i].state, function, sketch);
    merge_state(&c->pending, function, sketch);
}

bool ps_client_is_frozen(const struct ps_client *c)
{
    return c->is_frozen;
}

uint32_t ps_client_index(const struct ps_client *c, uint32_t function)
{
    return c->function[function].index;
}

void ps_client_counts(const struct ps_client *c, struct ps_client_counts *counts)
{
    *counts = c->counts;
    counts->n_kept = c->n_deltas;
    counts->version = c->version;
    counts->round = c->published_round;
}

/* ---------------------------------------------------------------------------------- bytes */

static void pack_delta(const struct delta *d, struct pack *p)
{
    pack_u64(p, d->sequence);
    pack_u64(p, d->round);
    ps_state_pack(&d->state, p);
}

static void unpack_delta(struct delta *d, uint32_t n_functions, struct pack *p)
{
    d->sequence = unpack_u64(p);
    d->round = unpack_u64(p);
    ps_state_unpack(&d->state, n_functions, p);
}

void ps_client_pack(const struct ps_client *c, struct pack *p)
{
    pack_u64(p, c->id);
    pack_u64(p, c->epoch);
    pack_u64(p, c->sequence);
    pack_u32(p, c->key.n);
    for (uint32_t i = 0; i < c->key.n; i++) {
        pack_text(p, c->function[i].program);
        pack_text(p, c->function[i].name);
    }
    pack_delta(&c->told, p);
    pack_u32(p, c->n_deltas);
    for (uint32_t i = 0; i < c->n_deltas; i++)
        pack_delta(&c->delta[i], p);
    ps_state_pack(&c->pending, p);
}

static void unpack_functions(struct ps_client *c, struct pack *p)
{
    uint32_t n = unpack_u32(p);

    p->is_bad |= n > PS_MAX_FUNCTIONS;
    for (uint32_t i = 0; i < n && !p->is_bad; i++) {
        char *text[2] = {0};

        for (int k = 0; k < 2 && !p->is_bad; k++)
            text[k] = unpack_text(p, NULL);
        p->is_bad |=
            text[0] == NULL || text[1] == NULL || ps_client_function(c, text[0], text[1]) != i;
        free(text[0]);
        free(text[1]);
    }
}

int ps_client_unpack(struct ps_client *c, struct pack *p)
{
    uint64_t last;
    uint32_t n;

    assert(c->key.n == 0 && c->sequence == 0);
    c->id = unpack_u64(p);
    c->epoch = unpack_u64(p);
    c->sequence = unpack_u64(p);
    unpack_functions(c, p);
    unpack_delta(&c->told, c->key.n, p);
    c->received = c->saved = last = c->told.sequence; /* the server says it again, or other */
    n = unpack_u32(p);
    p->is_bad |= n > PS_CLIENT_DELTAS;
    for (uint32_t i = 0; i < n && !p->is_bad; i++) {
        struct delta *d = &c->delta[c->n_deltas++];

        unpack_delta(d, c->key.n, p);
        p->is_bad |= d->sequence <= last;
        last = d->sequence;
    }
    ps_state_unpack(&c->pending, c->key.n, p);
    p->is_bad |= last > c->sequence || c->sequence >> 62 != 0;
    return p->is_bad ? err_set(ERR_FORMAT,
                               "the saved state of a client of the parameter server is damaged")
                     : 0;
}
