/*
 * A place belongs to the instance that has said last that it reads it: one that was started
 * again goes before the one that died, whose mail nobody fetches any more.
 *
 * The lock guards all of it; nothing else is taken under it.
 */
#include "ps/ps_relay.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Letters of one kind; what is in them is their own. */
struct pile {
    struct ps_letter *letter; /* [n] */
    uint32_t n;
    size_t cap;
};

struct instance {
    uint32_t job;
    uint64_t seen_ms, number; /* of its last request, which may come again */
    bool is_over, is_successor;
    struct pile question, answer; /* for it */
    size_t bytes;                 /* in both */
};

struct ps_relay {
    pthread_mutex_t lock;
    uint64_t now_ms,
        swept_ms;     /* the latest time that was said; of the last look for the dead */
    struct idmap job; /* by a hash of the name, which may be long */
    struct idmap id;  /* of instances, by their client */
    struct instance *instance; /* [id.n] */
    size_t instance_cap;
    struct idmap place; /* of job, program and rank */
    uint32_t *owner;    /* [place.n] an instance, or NOBODY */
    size_t owner_cap;
    size_t bytes; /* of all letters */
    struct ps_relay_counts counts;
};

#define NOBODY UINT32_MAX
#define OVER_MS 1000u  /* one that is over, and only waits for others, comes by more often */
#define SWEEP_MS 1000u /* between looks for mail that nobody fetches any more */

struct ps_relay *ps_relay_new(void)
{
    struct ps_relay *r = mem_alloc(1, sizeof *r);

    pthread_mutex_init(&r->lock, NULL);
    return r;
}

static void clear_pile(struct pile *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        free((void *)p->letter[i].body.data);
    free(p->letter);
    *p = (struct pile){0};
}

static void clear_mail(struct ps_relay *r, struct instance *x)
{
    clear_pile(&x->question);
    clear_pile(&x->answer);
    r->bytes -= x->bytes;
    x->bytes = 0;
}

void ps_relay_free(struct ps_relay *r)
{
    if (r == NULL)
        return;
    for (uint32_t i = 0; i < r->id.n; i++)
        clear_mail(r, &r->instance[i]);
    free(r->instance);
    free(r->owner);
    idmap_release(&r->id);
    idmap_release(&r->place);
    idmap_release(&r->job);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static bool is_silent(const struct ps_relay *r, const struct instance *x)
{
    return r->now_ms - x->seen_ms >= (x->is_over ? OVER_MS : PS_RELAY_SILENT_MS);
}

/* What was left for instances that have ended makes room, when there is none. */
static void sweep(struct ps_relay *r)
{
    if (r->swept_ms != 0 && r->now_ms - r->swept_ms < SWEEP_MS)
        return;
    r->swept_ms = r->now_ms;
    for (uint32_t i = 0; i < r->id.n; i++)
        if (r->instance[i].bytes > 0 && is_silent(r, &r->instance[i]))
            clear_mail(r, &r->instance[i]);
}

/* Puts a copy of a letter on a pile of an instance, if there is room. */
static bool put(struct ps_relay *r, struct instance *x, struct pile *pile,
                const struct ps_letter *letter)
{
    size_t bytes = sizeof *letter + letter->body.n;
    unsigned char *body;

    if (r->bytes + bytes > PS_RELAY_MAX_BYTES)
        sweep(r);
    if (pile->n == PS_MAX_LETTERS || x->bytes + bytes > PS_RELAY_MAX_MAIL_BYTES ||
        r->bytes + bytes > PS_RELAY_MAX_BYTES)
        return false;
    body = mem_alloc((size_t)letter->body.n + 1, 1);
    if (letter->body.n > 0)
        memcpy(body, letter->body.data, letter->body.n);
    mem_grow(&pile->letter, &pile->cap, (size_t)pile->n + 1);
    pile->letter[pile->n] = *letter;
    pile->letter[pile->n++].body.data = body;
    x->bytes += bytes;
    r->bytes += bytes;
    return true;
}

/* The instance that speaks, or NOBODY when there are too many. */
static uint32_t who(struct ps_relay *r, const struct ps_letters *said)
{
    XXH128_hash_t job = XXH3_128bits(said->job.data, said->job.n);
    uint32_t known = r->id.n, i;

    if (known == PS_RELAY_MAX_INSTANCES &&
        idmap_find(&r->id, key_pair(0, said->client)) == IDMAP_NONE)
        return NOBODY;
    i = idmap_add(&r->id, key_pair(0, said->client));
    if (i < known)
        return i;
    mem_grow(&r->instance, &r->instance_cap, (size_t)i + 1);
    r->instance[i] =
        (struct instance){.job = idmap_add(&r->job, key_pair(job.high64, job.low64))};
    return i;
}

static struct key key_of(const struct instance *x, struct ps_rank place)
{
    return key_quad(x->job, place.program, place.rank, 0);
}

static void take_place(struct ps_relay *r, uint32_t i, struct ps_rank place)
{
    uint32_t known = r->place.n, p;

    if (known == PS_RELAY_MAX_INSTANCES &&
        idmap_find(&r->place, key_of(&r->instance[i], place)) == IDMAP_NONE)
        return;
    p = idmap_add(&r->place, key_of(&r->instance[i], place));
    mem_grow(&r->owner, &r->owner_cap, (size_t)p + 1);
    if (p < known && r->owner[p] != i)
        r->instance[i].is_successor = true;
    r->owner[p] = i;
}

/* Who reads a place, if it still comes by; NOBODY else. The mail of one that does not goes. */
static uint32_t reader_of(struct ps_relay *r, uint32_t from, struct ps_rank place)
{
    uint32_t p = idmap_find(&r->place, key_of(&r->instance[from], place));
    struct instance *x;

    if (p == IDMAP_NONE || r->owner[p] == from)
        return NOBODY;
    x = &r->instance[r->owner[p]];
    if (!is_silent(r, x))
        return r->owner[p];
    clear_mail(r, x);
    return NOBODY;
}

/* Takes a question to who is asked; if it cannot, that is the answer. */
static void pass_question(struct ps_relay *r, uint32_t from, const struct ps_letter *q)
{
    struct ps_letter back = {.client = q->client, .number = q->number, .state = PS_NOBODY};
    uint32_t to = reader_of(r, from, q->place);

    if (to != NOBODY && put(r, &r->instance[to], &r->instance[to].question, q)) {
        r->counts.n_questions++;
        return;
    }
    r->counts.n_undelivered++;
    if (to != NOBODY)
        back.state = PS_OVERFULL;
    put(r, &r->instance[from], &r->instance[from].answer, &back);
}

/* Only to instances of the same job. That there is no room for it is an answer, too. */
static void pass_answer(struct ps_relay *r, uint32_t from, const struct ps_letter *a)
{
    struct ps_letter none = {.client = a->client, .number = a->number, .state = PS_OVERFULL};
    uint32_t to = idmap_find(&r->id, key_pair(0, a->client));

    if (to == IDMAP_NONE || r->instance[to].job != r->instance[from].job)
        return;
    if (put(r, &r->instance[to], &r->instance[to].answer, a))
        r->counts.n_answers++;
    else
        put(r, &r->instance[to], &r->instance[to].answer, &none);
}

/* Others of its job that may still ask something. */
static uint32_t going_on(const struct ps_relay *r, uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < r->id.n; k++) {
        const struct instance *x = &r->instance[k];

        n += k != i && x->job == r->instance[i].job && !x->is_over && !is_silent(r, x);
    }
    return n;
}

static void deliver(struct ps_relay *r, uint32_t i, uint64_t epoch, struct pack *out)
{
    struct instance *x = &r->instance[i];
    struct ps_letters mail = {.number = x->number,
                              .epoch = epoch,
                              .n_going_on = x->is_over ? going_on(r, i) : 0,
                              .is_successor = x->is_successor,
                              .n_questions = x->question.n,
                              .question = x->question.letter,
                              .n_answers = x->answer.n,
                              .answer = x->answer.letter};

    ps_write_letters(out, PS_DELIVERY, &mail);
    clear_mail(r, x);
}

static void take(struct ps_relay *r, uint32_t i, const struct ps_letters *said)
{
    for (uint32_t k = 0; k < said->n_places; k++)
        take_place(r, i, said->place[k]);
    for (uint32_t k = 0; k < said->n_questions; k++) {
        struct ps_letter q = said->question[k];

        q.client = said->client;
        pass_question(r, i, &q);
    }
    for (uint32_t k = 0; k < said->n_answers; k++)
        pass_answer(r, i, &said->answer[k]);
}

bool ps_relay_pass(struct ps_relay *r, const struct ps_letters *said, uint64_t epoch,
                   uint64_t now_ms, struct pack *out)
{
    struct instance *x;
    uint32_t i;

    pthread_mutex_lock(&r->lock);
    if (now_ms > r->now_ms) /* another thread may have looked at the clock later */
        r->now_ms = now_ms;
    i = who(r, said);
    if (i != NOBODY) {
        x = &r->instance[i];
        x->seen_ms = r->now_ms;
        x->is_over = said->is_over;
        if (said->number == 0 || said->number != x->number)
            take(r, i, said);
        x->number = said->number;
        deliver(r, i, epoch, out);
    }
    pthread_mutex_unlock(&r->lock);
    return i != NOBODY;
}

void ps_relay_counts(struct ps_relay *r, struct ps_relay_counts *counts)
{
    pthread_mutex_lock(&r->lock);
    *counts = r->counts;
    pthread_mutex_unlock(&r->lock);
}
