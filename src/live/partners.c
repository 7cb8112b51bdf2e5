/*
 * Questions are in the order of their numbers, and go when the record they are for is put. A
 * question to a rank that nobody reads is asked again until its time is over: that instance may
 * not have begun yet.
 */
#include "live/partners.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/search.h"
#include "live/past_calls.h"
#include "ps/ps_relay_client.h"

#include <assert.h>
#include <stdlib.h>

#define LETTER_VERSION 1u /* of what is in a question, and in its answer */
#define MAX_WAITING 1024u /* questions of others, about what is not read yet */
#define MAX_WINDOW 1000u  /* calls before and after, as a recorder has them */
#define AGAIN_MS 100u     /* until what nobody could be asked is asked again */
#define SERVER_MS 1000u   /* at the end, for the server to answer */
#define END_MS 10         /* between looks at the end */

static const char too_many[] = "too many questions were under way";
static const char too_much[] = "too many records waited for instances";
static const char no_server[] = "the parameter server did not answer";
static const char refused[] = "the parameter server passes nothing on";
static const char nobody[] = "no instance of the job had said that it reads this rank";
static const char overfull[] = "more waits for an instance than the parameter server keeps";
static const char too_late[] = "the instance of this rank did not answer in time";
static const char was_told[] = "the run was ended before the instance of this rank answered";
static const char too_old[] = "the instance of this rank keeps it no more";
static const char nothing[] = "this rank had entered no call by then";
static const char too_large[] = "what the instance of this rank had to say is too large";
static const char other_version[] = "the instance of this rank is of another version";
static const char damaged[] = "the answer of the instance of this rank was damaged";

struct partner_question {
    uint64_t number, asked_ms, again_ms; /* when it was asked first, and last */
    uint64_t request;                    /* it was in, to the server */
    struct ps_rank place;
    uint32_t rank; /* index among those that were asked about */
    struct past_question question;
    struct pack answer;    /* a partner, when it is known */
    bool is_open, is_due;  /* without an answer; to be asked, or asked again */
    bool is_done;          /* its record was put */
    const char *not_known; /* why not, as far as that is known while it is open */
};

struct held_record {
    struct pack record;
    struct far_partner far[PARTNERS_MAX_OF_RECORD];
    size_t n_far;
};

/* A rank that others read. */
struct asked_rank {
    uint32_t n_open;
    uint64_t answered_ms; /* the last time */
    const char *silent;   /* why nothing came of what was asked last; NULL: it answers */
};

/* A question of another instance about what is not read yet. */
struct waiting_question {
    struct ps_letter letter; /* its body is not kept */
    struct past_question question;
    bool is_counted;
    uint64_t since_ms;
};

struct partners {
    struct partners_opts opts;
    struct ps_relay_client *client;
    struct past_calls *past;
    const struct ad *ad; /* of the steps */
    const struct definitions *defs;
    struct idmap places;            /* that are read here */
    struct partner_question *asked; /* [n_asked] */
    size_t n_asked, asked_cap, n_open;
    struct idmap ranks;      /* that were asked about */
    struct asked_rank *rank; /* [ranks.n] */
    size_t rank_cap;
    uint64_t last_number;
    struct held_record *held; /* [n_held] */
    size_t n_held, held_cap, held_bytes;
    struct waiting_question *waiting; /* [n_waiting] */
    size_t n_waiting, waiting_cap;
    bool has_mail; /* the last talk brought something */
    struct arena arena;
    struct partners_counts counts;
};

int partners_new(const struct partners_opts *opts, struct partners **out)
{
    struct partners *p = mem_alloc(1, sizeof *p);
    int rc;

    p->opts = *opts;
    p->opts.wait_ms = opts->wait_ms ? opts->wait_ms : PARTNERS_WAIT_MS;
    p->past = past_calls_new(PAST_CALLS_BYTES);
    rc = ps_relay_client_open(&p->client, &(struct ps_relay_client_opts){
                                              .address = opts->address,
                                              .key_file = opts->key_file,
                                              .job = opts->job,
                                          });
    *out = rc < 0 ? NULL : p;
    if (rc < 0)
        partners_free(p);
    else
        ps_relay_client_talk(p->client, NULL, 0); /* so that others know of it, before a step */
    return rc;
}

void partners_free(struct partners *p)
{
    if (p == NULL)
        return;
    ps_relay_client_close(p->client);
    past_calls_free(p->past);
    for (size_t i = 0; i < p->n_asked; i++)
        pack_release(&p->asked[i].answer);
    for (size_t i = 0; i < p->n_held; i++)
        pack_release(&p->held[i].record);
    free(p->asked);
    free(p->rank);
    free(p->held);
    free(p->waiting);
    idmap_release(&p->places);
    idmap_release(&p->ranks);
    arena_release(&p->arena);
    free(p);
}

/* --------------------------------------------------------------------------------- asking */

void partners_begin(struct partners *p, const struct call_histories *h,
                    const struct ad_step *step)
{
    p->ad = step->ad;
    p->defs = step->defs;
    for (uint32_t l = 0; l < step->n_locations; l++) {
        uint32_t rank = step->defs->location[l].rank, known = p->places.n;

        if (step->calls[l].n == 0 || idmap_add(&p->places, key_pair(0, rank)) < known)
            continue;
        ps_relay_client_place(p->client, (struct ps_rank){p->opts.program, rank});
    }
    past_calls_step(p->past, h, step);
}

bool partners_is_far(const struct partners *p, uint32_t rank)
{
    return idmap_find(&p->places, key_pair(0, rank)) == IDMAP_NONE;
}

static bool counts_agree(const struct partners *p)
{
    struct ps_relay_client_counts n;

    ps_relay_client_counts(p->client, &n);
    return !n.is_successor;
}

static void pack_question(const struct past_question *q, bool is_counted, struct pack *pack)
{
    pack_varint(pack, LETTER_VERSION);
    pack_varint(pack, q->asker);
    pack_varint(pack, q->comm);
    pack_varint(pack, q->tag);
    pack_varint(pack, q->is_send);
    pack_varint(pack, q->number);
    pack_varint(pack, q->bytes);
    pack_varint(pack, q->time_ns);
    pack_varint(pack, q->until_ns);
    pack_varint(pack, q->window);
    pack_varint(pack, is_counted);
}

/* Not before the server has said whether another instance has read these ranks before: then
 * messages were not counted from the beginning here. */
static void send_question(struct partners *p, struct partner_question *a)
{
    struct ps_relay_client_counts n;
    struct pack body = {0};

    a->is_due = true;
    if (!ps_relay_client_is_placed(p->client))
        return;
    ps_relay_client_counts(p->client, &n);
    pack_question(&a->question, counts_agree(p), &body);
    a->again_ms = clock_ms();
    a->request = n.n_requests + 1;
    a->is_due = !ps_relay_client_ask(p->client, a->number, a->place, body.data, body.n);
    pack_release(&body);
}

static uint32_t rank_of(struct partners *p, uint32_t rank)
{
    uint32_t known = p->ranks.n, i = idmap_add(&p->ranks, key_pair(0, rank));

    mem_grow(&p->rank, &p->rank_cap, (size_t)i + 1);
    if (i == known)
        p->rank[i] = (struct asked_rank){.n_open = 0};
    return i;
}

/* Why it cannot be asked about now, or NULL. */
static const char *why_not(const struct partners *p, const struct asked_rank *rank)
{
    if (rank->silent && rank->n_open > 0)
        return rank->silent;
    return p->n_open == PARTNERS_MAX_ASKED || rank->n_open == PARTNERS_MAX_OF_RANK ? too_many
                                                                                   : NULL;
}

struct far_partner partners_ask(struct partners *p, const struct ad_step *step, uint32_t l,
                                size_t i)
{
    const struct message *m = &step->calls[l].message[i];
    struct past_question q = {.asker = step->defs->location[l].rank,
                              .comm = m->comm,
                              .tag = m->tag,
                              .is_send = m->kind != MESSAGE_SEND,
                              .number = past_calls_number(p->past, l, i),
                              .bytes = m->bytes,
                              .time_ns = message_record_ns(m),
                              .until_ns = step->end_ns,
                              .window = p->opts.window};
    struct partner_question *a;
    uint32_t rank = rank_of(p, m->peer);
    const char *not_known = why_not(p, &p->rank[rank]);

    p->counts.n_asked++;
    if (not_known) {
        p->counts.n_given_up++;
        return (struct far_partner){.rank = m->peer, .not_known = not_known};
    }
    a = mem_push(&p->asked, &p->n_asked, &p->asked_cap);
    *a = (struct partner_question){.number = ++p->last_number,
                                   .asked_ms = clock_ms(),
                                   .place = {p->opts.program, m->peer},
                                   .rank = rank,
                                   .question = q,
                                   .is_open = true,
                                   .not_known = no_server};
    p->n_open++;
    p->rank[rank].n_open++;
    send_question(p, a);
    return (struct far_partner){.rank = m->peer, .question = a->number};
}

/* NULL: 0, or it is done. */
static struct partner_question *find_asked(const struct partners *p, uint64_t number)
{
    size_t low = FIRST_NOT(i, 0, p->n_asked, p->asked[i].number < number);

    return low < p->n_asked && p->asked[low].number == number ? &p->asked[low] : NULL;
}

static void close_question(struct partners *p, struct partner_question *a,
                           const char *not_known, uint64_t *count)
{
    a->is_open = a->is_due = false;
    a->not_known = not_known;
    p->n_open--;
    p->rank[a->rank].n_open--;
    (*count)++;
}

static const char *why_declined(enum past_state state)
{
    switch (state) {
    case PAST_TOO_OLD:
        return too_old;
    case PAST_NOTHING:
        return nothing;
    case PAST_TOO_LARGE:
        return too_large;
    case PAST_OTHER_VERSION:
        return other_version;
    case PAST_KNOWN:
    case PAST_TOO_EARLY:
        break;
    }
    return damaged;
}

/* An answer of the one who was asked. */
static void take_answer(struct partners *p, struct partner_question *a,
                        const struct ps_letter *letter)
{
    struct pack body = {.data = (unsigned char *)letter->body.data, .n = letter->body.n};
    struct arena_mark mark = arena_mark(&p->arena);
    uint64_t state = unpack_varint(&body);
    struct prov_partner partner;
    struct pack rest = {.data = body.data + body.at, .n = body.n - body.at};

    if (state == PAST_KNOWN && !body.is_bad &&
        prov_partner_unpack(&rest, &p->arena, &partner) == 0 && partner.rank == a->place.rank) {
        pack_bytes(&a->answer, body.data + body.at, body.n - body.at);
        p->held_bytes += a->answer.n;
        close_question(p, a, NULL, &p->counts.n_answered);
    } else {
        close_question(
            p, a, state > PAST_OTHER_VERSION ? damaged : why_declined((enum past_state)state),
            &p->counts.n_declined);
    }
    arena_restore(&p->arena, mark);
}

static void hear_answer(void *ctx, const struct ps_letter *letter)
{
    struct partners *p = ctx;
    struct partner_question *a = find_asked(p, letter->number);

    p->has_mail = true;
    if (a && letter->state == PS_ANSWERED) {
        p->rank[a->rank].answered_ms = clock_ms();
        p->rank[a->rank].silent = NULL;
    }
    if (a == NULL || !a->is_open)
        return;
    if (letter->state == PS_ANSWERED) {
        take_answer(p, a, letter);
    } else {
        a->not_known = letter->state == PS_NOBODY ? nobody : overfull;
        a->is_due = true;
    }
}

/* -------------------------------------------------------------------------------- answering */

/* Returns false if there is no room for it now. */
static bool tell(struct partners *p, const struct ps_letter *question, enum past_state state,
                 const struct prov_partner *partner)
{
    struct pack body = {0};
    bool is_told;

    pack_varint(&body, state);
    if (state == PAST_KNOWN)
        prov_partner_pack(partner, &body);
    if (body.n > PS_MAX_LETTER_BYTES) {
        body.n = 0;
        pack_varint(&body, PAST_TOO_LARGE);
    }
    is_told = ps_relay_client_answer(p->client, question, body.data, body.n);
    p->counts.n_told += is_told;
    pack_release(&body);
    return is_told;
}

/* Returns false if it is too early to say, or there is no room for it. */
static bool answer(struct partners *p, const struct waiting_question *w)
{
    struct arena_mark mark = arena_mark(&p->arena);
    struct prov_partner partner;
    enum past_state state = PAST_TOO_EARLY;
    bool is_told;

    if (p->ad)
        state = past_calls_find(p->past, p->ad, p->defs, &w->question,
                                w->is_counted && counts_agree(p), &p->arena, &partner);
    is_told = state != PAST_TOO_EARLY && tell(p, &w->letter, state, &partner);
    arena_restore(&p->arena, mark);
    return is_told;
}

/* Returns false if it is damaged. */
static bool unpack_question(struct pack *body, struct waiting_question *w)
{
    struct past_question *q = &w->question;

    q->rank = w->letter.place.rank;
    q->asker = (uint32_t)unpack_varint(body);
    q->comm = (uint32_t)unpack_varint(body);
    q->tag = (uint32_t)unpack_varint(body);
    q->is_send = unpack_varint(body) != 0;
    q->number = unpack_varint(body);
    q->bytes = unpack_varint(body);
    q->time_ns = unpack_varint(body);
    q->until_ns = unpack_varint(body);
    q->window = (uint32_t)unpack_varint(body);
    w->is_counted = unpack_varint(body) != 0;
    return !body->is_bad && body->at == body->n && q->window <= MAX_WINDOW;
}

static void hear_question(void *ctx, const struct ps_letter *letter)
{
    struct partners *p = ctx;
    struct pack body = {.data = (unsigned char *)letter->body.data, .n = letter->body.n};
    struct waiting_question w = {.letter = *letter, .since_ms = clock_ms()};

    p->has_mail = true;
    if (unpack_varint(&body) != LETTER_VERSION) {
        tell(p, letter, PAST_OTHER_VERSION, NULL);
        return;
    }
    if (!unpack_question(&body, &w) || p->n_waiting == MAX_WAITING)
        return; /* who asks gives up in time */
    if (answer(p, &w))
        return;
    *mem_push(&p->waiting, &p->n_waiting, &p->waiting_cap) = w;
}

/* Those that can be answered by now, and those that nobody waits for any more, go. */
static void answer_waiting(struct partners *p)
{
    uint64_t now = clock_ms();
    size_t n = 0;

    for (size_t i = 0; i < p->n_waiting; i++)
        if (now - p->waiting[i].since_ms < p->opts.wait_ms && !answer(p, &p->waiting[i]))
            p->waiting[n++] = p->waiting[i];
    p->n_waiting = n;
}

/* --------------------------------------------------------------------------------- records */

/* What is known of a partner, or why it is not. */
static struct prov_partner partner_of(struct partners *p, const struct far_partner *far)
{
    struct partner_question *a = find_asked(p, far->question);
    struct prov_partner partner = {.rank = far->rank,
                                   .not_known = a ? a->not_known : far->not_known};
    struct pack answer;

    if (a == NULL)
        return partner;
    a->is_done = true;
    if (a->answer.n == 0)
        return partner;
    answer = (struct pack){.data = a->answer.data, .n = a->answer.n};
    if (prov_partner_unpack(&answer, &p->arena, &partner) < 0)
        partner = (struct prov_partner){.rank = far->rank, .not_known = damaged};
    return partner;
}

/* Takes the partners that are far into the record, behind those that are not. */
static void put(struct partners *p, const struct prov_record *record,
                const struct far_partner *far, size_t n, partners_put_fn *fn, void *ctx)
{
    struct prov_record whole = *record;

    whole.partner = arena_array(&p->arena, struct prov_partner, record->n_partners + n);
    for (size_t i = 0; i < record->n_partners; i++)
        whole.partner[i] = record->partner[i];
    for (size_t i = 0; i < n; i++)
        whole.partner[whole.n_partners++] = partner_of(p, &far[i]);
    fn(ctx, &whole);
}

static bool is_decided(const struct partners *p, const struct far_partner *far, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct partner_question *a = find_asked(p, far[i].question);

        if (a && a->is_open)
            return false;
    }
    return true;
}

/* Nobody waits any longer for what this record has asked. */
static void give_up_of(struct partners *p, const struct far_partner *far, size_t n,
                       const char *why)
{
    for (size_t i = 0; i < n; i++) {
        struct partner_question *a = find_asked(p, far[i].question);

        if (a && a->is_open)
            close_question(p, a, why, &p->counts.n_given_up);
    }
}

void partners_hold(struct partners *p, const struct prov_record *record,
                   const struct far_partner *far, size_t n, partners_put_fn *fn, void *ctx)
{
    struct arena_mark mark = arena_mark(&p->arena);
    struct held_record *h;

    assert(n <= PARTNERS_MAX_OF_RECORD);
    if (p->held_bytes > PARTNERS_MAX_BYTES)
        give_up_of(p, far, n, too_much);
    if (is_decided(p, far, n)) {
        put(p, record, far, n, fn, ctx);
        arena_restore(&p->arena, mark);
        return;
    }
    h = mem_push(&p->held, &p->n_held, &p->held_cap);
    *h = (struct held_record){.n_far = n};
    for (size_t i = 0; i < n; i++)
        h->far[i] = far[i];
    prov_record_pack(record, &h->record);
    p->held_bytes += h->record.n;
}

/* In the order they came, as far as each is decided. */
static void put_decided(struct partners *p, partners_put_fn *fn, void *ctx)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_held; i++) {
        struct held_record *h = &p->held[i];
        struct arena_mark mark = arena_mark(&p->arena);
        struct prov_record record;

        if (!is_decided(p, h->far, h->n_far)) {
            p->held[n++] = *h;
            continue;
        }
        if (prov_record_unpack(&h->record, &p->arena, &record) == 0)
            put(p, &record, h->far, h->n_far, fn, ctx);
        arena_restore(&p->arena, mark);
        p->held_bytes -= h->record.n;
        pack_release(&h->record);
    }
    p->n_held = n;
}

static void drop_done(struct partners *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_asked; i++) {
        if (!p->asked[i].is_done) {
            p->asked[n++] = p->asked[i];
            continue;
        }
        p->held_bytes -= p->asked[i].answer.n;
        pack_release(&p->asked[i].answer);
    }
    p->n_asked = n;
}

/* --------------------------------------------------------------------------------- talking */

/* Those in a request that was answered without a word of them are with who is asked. */
static void note_delivered(struct partners *p)
{
    struct ps_relay_client_counts n;

    ps_relay_client_counts(p->client, &n);
    for (size_t i = 0; i < p->n_asked; i++)
        if (p->asked[i].is_open && !p->asked[i].is_due && p->asked[i].request <= n.answered)
            p->asked[i].not_known = too_late;
}

/* Of ranks that do not answer only the last question goes on. */
static void give_up_silent(struct partners *p)
{
    for (size_t i = 0; i < p->n_asked; i++) {
        struct partner_question *a = &p->asked[i];

        if (a->is_open && p->rank[a->rank].silent && p->rank[a->rank].n_open > 1)
            close_question(p, a, p->rank[a->rank].silent, &p->counts.n_given_up);
    }
}

static void give_up(struct partners *p, uint64_t now)
{
    struct ps_relay_client_counts n;
    bool is_silent = false;

    ps_relay_client_counts(p->client, &n);
    for (size_t i = 0; i < p->n_asked; i++) {
        struct partner_question *a = &p->asked[i];

        if (a->is_open && n.is_refused) {
            close_question(p, a, refused, &p->counts.n_given_up);
        } else if (a->is_open && now - a->asked_ms >= p->opts.wait_ms) {
            struct asked_rank *rank = &p->rank[a->rank];

            if (rank->answered_ms < a->asked_ms) {
                rank->silent = a->not_known;
                is_silent = true;
            }
            close_question(p, a, a->not_known, &p->counts.n_given_up);
        } else if (a->is_due && now - a->again_ms >= AGAIN_MS) {
            send_question(p, a);
        }
    }
    if (is_silent)
        give_up_silent(p);
}

static void talk(struct partners *p, int timeout_ms, partners_put_fn *fn, void *ctx)
{
    struct ps_relay_handlers handlers = {p, hear_question, hear_answer};

    p->has_mail = false;
    answer_waiting(p);
    ps_relay_client_talk(p->client, &handlers, timeout_ms);
    note_delivered(p);
    give_up(p, clock_ms());
    put_decided(p, fn, ctx);
    drop_done(p);
}

void partners_talk(struct partners *p, partners_put_fn *fn, void *ctx)
{
    talk(p, 0, fn, ctx);
}

/* All that was asked is decided, and nobody else will ask. */
static bool is_finished(const struct partners *p, const struct ps_relay_client_counts *n)
{
    return n->is_refused || (p->n_open == 0 && !p->has_mail && n->n_going_on == 0 &&
                             ps_relay_client_is_heard(p->client));
}

/* When all that was asked is with who is asked: who has not said yet what he reads stays until
 * then, as he sees that others go on. */
static void say_whether_over(struct partners *p)
{
    bool is_due = false;

    for (size_t i = 0; i < p->n_asked; i++)
        is_due |= p->asked[i].is_open && p->asked[i].is_due;
    if (is_due)
        ps_relay_client_end(p->client, false);
    else if (ps_relay_client_is_idle(p->client))
        ps_relay_client_end(p->client, true);
}

/* Others, at their own end, wait for who may still ask. */
static void take_leave(struct partners *p, partners_put_fn *fn, void *ctx)
{
    uint64_t begin = clock_ms();
    struct ps_relay_client_counts n;

    if (ps_relay_client_is_heard(p->client))
        return; /* it was said in the end that was waited for */
    ps_relay_client_end(p->client, true);
    do {
        talk(p, END_MS, fn, ctx);
        ps_relay_client_counts(p->client, &n);
    } while (n.n_replies > 0 && !n.is_refused && !ps_relay_client_is_heard(p->client) &&
             clock_ms() - begin < SERVER_MS);
}

void partners_finish(struct partners *p, partners_put_fn *fn, void *ctx)
{
    uint64_t begin = clock_ms(), now = begin;
    struct ps_relay_client_counts n = {0};
    bool is_told = false;

    past_calls_end(p->past);
    do {
        talk(p, END_MS, fn, ctx);
        say_whether_over(p);
        if (p->opts.meanwhile)
            p->opts.meanwhile(p->opts.ctx);
        ps_relay_client_counts(p->client, &n);
        is_told = p->opts.is_told && p->opts.is_told();
        now = clock_ms();
    } while (!is_told && !is_finished(p, &n) && now - begin < p->opts.wait_ms &&
             (n.n_replies > 0 || now - begin < SERVER_MS));
    for (size_t i = 0; i < p->n_asked; i++)
        if (p->asked[i].is_open)
            close_question(p, &p->asked[i], is_told ? was_told : p->asked[i].not_known,
                           &p->counts.n_given_up);
    put_decided(p, fn, ctx);
    drop_done(p);
    take_leave(p, fn, ctx);
}

void partners_counts(const struct partners *p, struct partners_counts *counts)
{
    struct ps_relay_client_counts n;

    *counts = (struct partners_counts){0};
    if (p == NULL)
        return;
    *counts = p->counts;
    ps_relay_client_counts(p->client, &n);
    counts->sent_bytes = n.sent_bytes;
    counts->received_bytes = n.received_bytes;
}
