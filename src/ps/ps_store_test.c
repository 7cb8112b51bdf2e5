#include "ps/ps_store.h"

#include "base/err.h"
#include "ps/ps_snapshot.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "sample_ps.h"
#include "test.h"

#define FUNCTIONS 5
#define CLIENTS 4
#define PARTS 40 /* deltas of all clients */

/* One request; the answer stays in f. */
static void ask(struct ps_store *store, const struct ps_push *push, const struct sketch *sketch,
                struct ps_frame *f, struct pack *reply)
{
    struct pack out = {0};

    sample_push(&out, push, sketch);
    ps_store_answer(store, push->sequence % 2, out.data, out.n, reply);
    assert_int_equal(ps_frame_read(f, reply->data, reply->n), 0);
    pack_release(&out);
}

/* What the store has published of the sample functions. */
static void pull(struct ps_store *store, struct sketch *model, struct ps_reply *head)
{
    static uint64_t bin[SKETCH_MAX_BINS];
    struct sketch none[FUNCTIONS] = {0};
    struct ps_push push = {.client = 1, .n_entries = FUNCTIONS};
    struct pack reply = {0};
    struct ps_frame f = {0};

    ask(store, &push, none, &f, &reply);
    assert_int_equal(f.kind, PS_REPLY);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        sketch_init(&model[i]);
    for (uint32_t i = 0; i < f.reply.n_models; i++)
        for (uint32_t k = 0; k < FUNCTIONS; k++)
            if (f.reply.index[k] == f.reply.model[i].index) {
                struct sketch view = ps_sketch_view(&f.reply.model[i].sketch, bin);

                sketch_merge(&model[k], &view);
            }
    if (head)
        *head = (struct ps_reply){
            .version = f.reply.version, .round = f.reply.round, .epoch = f.reply.epoch};
    ps_frame_release(&f);
    pack_release(&reply);
}

static void release_all(struct sketch *sketch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sketch_release(&sketch[i]);
}

/* PARTS deltas, and what one instance that saw everything has. */
static void make_parts(struct sketch part[PARTS][FUNCTIONS], struct sketch whole[FUNCTIONS])
{
    struct rng rng = {11};

    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_init(&whole[f]);
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t f = 0; f < FUNCTIONS; f++) {
            sketch_init(&part[p][f]);
            sample_calls(&part[p][f], &rng, (uint32_t)rng_below(&rng, 100), 1e3 * (f + 1));
            sketch_merge(&whole[f], &part[p][f]);
        }
}

static void expect_models(struct ps_store *store, const struct sketch *whole)
{
    struct sketch model[FUNCTIONS];

    pull(store, model, NULL);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        assert_true(sample_same(&model[f], &whole[f]));
    release_all(model, FUNCTIONS);
}

static void any_partition_in_any_order_merges_to_one_instance(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2};
    struct sketch part[PARTS][FUNCTIONS], whole[FUNCTIONS];
    struct rng rng = {3};

    (void)state;
    make_parts(part, whole);
    for (int trial = 0; trial < 10; trial++) {
        uint64_t sequence[CLIENTS] = {0};
        uint32_t order[PARTS];
        struct pack reply = {0};
        struct ps_store *store;
        struct ps_frame f = {0};

        assert_int_equal(ps_store_open(&store, &opts), 0);
        for (uint32_t i = 0; i < PARTS; i++) { /* a permutation, drawn by insertion */
            uint32_t at = (uint32_t)rng_below(&rng, i + 1);

            order[i] = order[at];
            order[at] = i;
        }
        for (uint32_t i = 0; i < PARTS; i++) {
            uint32_t c = (uint32_t)rng_below(&rng, CLIENTS);
            struct ps_push push = {
                .client = c + 10, .sequence = ++sequence[c], .n_entries = FUNCTIONS};

            ask(store, &push, part[order[i]], &f, &reply);
            assert_int_equal(f.kind, PS_REPLY);
            if (rng_below(&rng, 4) == 0)
                assert_int_equal(ps_store_publish(store), 0);
            if (rng_below(&rng, 4) == 0) /* its answer was lost */
                ask(store, &push, part[order[i]], &f, &reply);
        }
        assert_int_equal(ps_store_publish(store), 0);
        expect_models(store, whole);
        ps_store_close(store);
        ps_frame_release(&f);
        pack_release(&reply);
    }
    for (uint32_t p = 0; p < PARTS; p++)
        release_all(part[p], FUNCTIONS);
    release_all(whole, FUNCTIONS);
}

static void only_what_changed_is_sent(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2};
    struct sketch delta[2];
    struct ps_push push = {.client = 1, .sequence = 1, .n_entries = 2};
    struct pack reply = {0}, out = {0};
    struct ps_store *store;
    struct ps_frame f = {0};

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (int i = 0; i < 2; i++) {
        sketch_init(&delta[i]);
        sketch_add(&delta[i], 7);
    }
    ask(store, &push, delta, &f, &reply);
    assert_int_equal(f.reply.n_models, 0); /* nothing is published yet */
    ps_store_publish(store);
    ask(store, &push, delta, &f, &reply);
    assert_int_equal(f.reply.n_models, 2);
    push.epoch = f.reply.epoch;
    push.have = f.reply.version;
    push.sequence = 2;
    push.n_entries = 1;
    ask(store, &push, delta, &f, &reply);
    ps_store_publish(store);
    push.n_entries = 2;
    push.sequence = 0;
    ps_write_push(&out, &push);
    ps_write_entry(&out, 0, NULL);
    ps_write_entry(&out, 1, NULL);
    ps_write_array(&out, 0);
    ps_store_answer(store, 0, out.data, out.n, &reply);
    assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
    assert_int_equal(f.reply.n_models, 1);
    assert_int_equal(f.reply.model[0].index, 0);
    assert_int_equal(f.reply.model[0].sketch.n, 2);
    release_all(delta, 2);
    ps_store_close(store);
    ps_frame_release(&f);
    pack_release(&reply);
    pack_release(&out);
}

/* Refused as a whole: a bad index after a good function adds nothing of the good one. */
static void refused_frames_change_nothing(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2};
    struct ps_push push = {.client = 1, .sequence = 1, .n_entries = 2};
    struct pack out = {0}, reply = {0};
    struct ps_store *store;
    struct ps_frame f = {0};
    struct ps_counts counts;
    struct sketch s;

    (void)state;
    sketch_init(&s);
    sketch_add(&s, 1);
    assert_int_equal(ps_store_open(&store, &opts), 0);
    ps_write_push(&out, &push);
    ps_write_named(&out, "prog", "f00", &s);
    ps_write_entry(&out, 17, &s);
    ps_write_array(&out, 0);
    ps_store_answer(store, 0, out.data, out.n, &reply);
    assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
    assert_int_equal(f.kind, PS_REFUSAL);
    assert_int_equal(f.refusal.code, PS_BAD_FRAME);
    push.n_entries = 1;
    push.epoch = 12345; /* no life of this server */
    ask(store, &push, &s, &f, &reply);
    assert_int_equal(f.refusal.code, PS_STALE);
    ps_store_publish(store);
    ps_store_counts(store, &counts);
    assert_int_equal(counts.n_merged, 0);
    assert_int_equal(counts.version, 0);
    assert_int_equal(counts.n_refused, 2);
    sketch_release(&s);
    ps_store_close(store);
    ps_frame_release(&f);
    pack_release(&reply);
    pack_release(&out);
}

/* Counts that would wrap are turned away, so that what is published is always possible. */
static void counts_do_not_wrap(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2};
    struct ps_push push = {.client = 1, .n_entries = 1};
    struct pack reply = {0};
    struct ps_store *store;
    struct ps_frame f = {0};
    struct ps_counts counts;
    struct sketch s;

    (void)state;
    sketch_init(&s);
    sketch_add(&s, 1);
    s.n = s.count[1 - s.first_bin] = PS_MAX_CALLS;
    s.sums.sum = PS_MAX_CALLS;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (push.sequence = 1; push.sequence <= 6; push.sequence++) {
        ask(store, &push, &s, &f, &reply);
        if (push.sequence % 2 == 0)
            ps_store_publish(store);
    }
    push.sequence = 0;
    ask(store, &push, &s, &f, &reply);
    assert_int_equal(f.reply.n_models, 1);
    assert_true(f.reply.model[0].sketch.n == PS_MAX_CALLS);
    ps_store_counts(store, &counts);
    assert_true(counts.n_lost > 0);
    sketch_release(&s);
    ps_store_close(store);
    ps_frame_release(&f);
    pack_release(&reply);
}

static void a_frozen_store_takes_deltas_but_keeps_its_models(void **state)
{
    const char *path = "ps_store_frozen.snapshot";
    struct ps_store_opts first = {.n_workers = 2, .snapshot = path};
    struct ps_store_opts frozen = {.n_workers = 2, .load = path, .is_frozen = true};
    struct sketch part[PARTS][FUNCTIONS], whole[FUNCTIONS];
    struct ps_push push = {.client = 1, .sequence = 1, .n_entries = FUNCTIONS};
    struct pack reply = {0};
    struct ps_store *store;
    struct ps_frame f = {0};

    (void)state;
    unlink(path);
    make_parts(part, whole);
    assert_int_equal(ps_store_open(&store, &first), 0);
    ask(store, &push, whole, &f, &reply);
    assert_int_equal(ps_store_publish(store), 0);
    ps_store_close(store);
    assert_int_equal(ps_store_open(&store, &frozen), 0);
    expect_models(store, whole);
    ask(store, &push, part[0], &f,
        &reply); /* that client is not known here: loaded, not resumed */
    assert_int_equal(f.reply.received, 1);
    ps_store_publish(store);
    expect_models(store, whole);
    ps_store_close(store);
    unlink(path);
    for (uint32_t p = 0; p < PARTS; p++)
        release_all(part[p], FUNCTIONS);
    release_all(whole, FUNCTIONS);
    ps_frame_release(&f);
    pack_release(&reply);
}

/* Deltas 1 and 2 are saved, 3 is not; all three are sent again after the restart. */
static void a_restart_counts_every_delta_once(void **state)
{
    const char *path = "ps_store_restart.snapshot";
    struct ps_store_opts opts = {.n_workers = 2, .snapshot = path};
    struct sketch part[PARTS][FUNCTIONS], whole[FUNCTIONS], sum[FUNCTIONS];
    struct ps_push push = {.client = 1, .n_entries = FUNCTIONS};
    struct pack reply = {0};
    struct ps_store *store;
    struct ps_frame f = {0};
    struct ps_counts counts;

    (void)state;
    unlink(path);
    make_parts(part, whole);
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (push.sequence = 1; push.sequence <= 3; push.sequence++) {
        ask(store, &push, part[push.sequence], &f, &reply);
        if (push.sequence == 2)
            assert_int_equal(ps_store_publish(store), 0);
    }
    assert_int_equal(f.reply.received, 3);
    assert_int_equal(f.reply.saved, 2);
    ps_store_close(store); /* as if killed: nothing is written */
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (push.sequence = 1; push.sequence <= 3; push.sequence++)
        ask(store, &push, part[push.sequence], &f, &reply);
    assert_int_equal(ps_store_publish(store), 0);
    ps_store_counts(store, &counts);
    assert_int_equal(counts.n_duplicates, 2);
    assert_int_equal(counts.n_merged, 1);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        sketch_init(&sum[i]);
        for (int k = 1; k <= 3; k++)
            sketch_merge(&sum[i], &part[k][i]);
    }
    expect_models(store, sum);
    ps_store_close(store);
    unlink(path);
    release_all(sum, FUNCTIONS);
    release_all(whole, FUNCTIONS);
    for (uint32_t p = 0; p < PARTS; p++)
        release_all(part[p], FUNCTIONS);
    ps_frame_release(&f);
    pack_release(&reply);
}

/* Every byte changed and every beginning of a snapshot is refused; the store does not open. */
static void damaged_snapshots_are_refused(void **state)
{
    const char *path = "ps_store_damaged.snapshot";
    struct ps_store_opts opts = {.n_workers = 2, .snapshot = path};
    struct ps_push push = {.client = 1, .sequence = 1, .n_entries = 1};
    struct pack reply = {0};
    struct ps_store *store;
    struct ps_frame f = {0};
    unsigned char bytes[8192];
    struct sketch s;
    size_t n;
    FILE *file;

    (void)state;
    unlink(path);
    sketch_init(&s);
    sketch_add(&s, 1);
    assert_int_equal(ps_store_open(&store, &opts), 0);
    ask(store, &push, &s, &f, &reply);
    assert_int_equal(ps_store_publish(store), 0);
    ps_store_close(store);
    file = fopen(path, "rb");
    n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(n, 100, sizeof bytes - 1);
    for (size_t i = 0; i < 2 * n; i += 3) {
        size_t length = i < n ? n : i - n;

        bytes[i % n] ^= i < n ? 0x10 : 0;
        file = fopen(path, "wb");
        fwrite(bytes, 1, length, file);
        fclose(file);
        assert_int_equal(ps_store_open(&store, &opts), ERR_FORMAT);
        assert_null(store);
        bytes[i % n] ^= i < n ? 0x10 : 0;
    }
    unlink(path);
    sketch_release(&s);
    ps_frame_release(&f);
    pack_release(&reply);
}

/* ------------------------------------------------------------------------------- threads */

struct pusher {
    struct ps_store *store;
    unsigned index;
    uint64_t most; /* 0: until it is over */
    pthread_t thread;
    atomic_bool is_over;
    _Atomic uint64_t n_asked, saved; /* saved: as it was told last */
};

/* What others have told comes and goes meanwhile. */
static void ask_for_all(const struct pusher *p, struct pack *out, struct pack *reply)
{
    struct ps_frame f = {0};

    out->n = 0;
    ps_write_ask(out);
    ps_store_answer(p->store, p->index, out->data, out->n, reply);
    if (ps_frame_read(&f, reply->data, reply->n) != 0 || f.kind != PS_STATE)
        abort();
    ps_frame_release(&f);
}

static void *push_many(void *arg)
{
    struct pusher *p = arg;
    struct pack out = {0}, reply = {0};
    struct sketch one[FUNCTIONS];
    struct ps_frame f = {0};

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        sketch_init(&one[i]);
        sketch_add(&one[i], 10 * (p->index + 1));
    }
    for (uint64_t k = 1; p->most ? k <= p->most : !atomic_load(&p->is_over); k++) {
        struct ps_push push = {.client = p->index, .sequence = k, .n_entries = FUNCTIONS};

        sample_push(&out, &push, one);
        ps_store_answer(p->store, p->index, out.data, out.n, &reply);
        if (ps_frame_read(&f, reply.data, reply.n) == 0)
            atomic_store(&p->saved, f.reply.saved);
        atomic_fetch_add(&p->n_asked, 1);
        if (k % 8 == 0)
            ask_for_all(p, &out, &reply);
    }
    ps_frame_release(&f);
    release_all(one, FUNCTIONS);
    pack_release(&out);
    pack_release(&reply);
    return NULL;
}

static void workers_and_cuts_lose_nothing(void **state)
{
    struct ps_store_opts opts = {.n_workers = 4};
    struct sketch model[FUNCTIONS];
    struct pusher pusher[4];
    struct ps_store *store;

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (unsigned i = 0; i < 4; i++) {
        pusher[i] = (struct pusher){.store = store, .index = i, .most = 500};
        pthread_create(&pusher[i].thread, NULL, push_many, &pusher[i]);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(ps_store_publish(store), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(pusher[i].thread, NULL);
    ps_store_publish(store);
    pull(store, model, NULL);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        assert_int_equal(model[i].n, 2000);
        assert_int_equal(model[i].sums.sum, 500 * (10 + 20 + 30 + 40));
    }
    release_all(model, FUNCTIONS);
    ps_store_close(store);
}

#define QUESTIONS ((unsigned)test_amount(300, 60))

/* An instance that reads the rank of its number. */
struct writer {
    struct ps_store *store;
    unsigned index;
    pthread_t thread;
    atomic_uint *n_done;
    struct ps_letter answer[PS_MAX_LETTERS]; /* to what it was asked, to be said next */
    uint64_t number[PS_MAX_LETTERS];         /* that is what it answers */
    uint32_t n_answers, n_known;
};

/* What it is asked is answered by its number; the answer it waits for is counted. */
static void take_mail(struct writer *w, const struct ps_letters *mail)
{
    for (uint32_t i = 0; i < mail->n_questions; i++) {
        w->number[i] = mail->question[i].number;
        w->answer[i] = (struct ps_letter){
            .client = mail->question[i].client,
            .number = mail->question[i].number,
            .body = {(const unsigned char *)&w->number[i], sizeof w->number[i]}};
    }
    w->n_answers = mail->n_questions;
    for (uint32_t i = 0; i < mail->n_answers; i++) {
        const struct ps_letter *a = &mail->answer[i];

        if (a->state != PS_ANSWERED)
            continue;
        if (a->number != w->n_known || memcmp(a->body.data, &a->number, a->body.n) != 0)
            abort();
        w->n_known++;
    }
}

/* One question after the other to the next one of four, and answers to who comes before. */
static void *write_many(void *arg)
{
    struct writer *w = arg;
    struct ps_rank place = {0, w->index};
    struct pack out = {0}, reply = {0};
    struct ps_frame f = {0};
    uint32_t asked = UINT32_MAX;
    bool is_done = false;

    while (atomic_load(w->n_done) < 4) {
        struct ps_letter q = {.number = w->n_known, .place = {0, (w->index + 1) % 4}};
        struct ps_letters said = {.client = w->index + 1,
                                  .n_places = 1,
                                  .place = &place,
                                  .n_questions = !is_done && asked != w->n_known,
                                  .question = &q,
                                  .n_answers = w->n_answers,
                                  .answer = w->answer};

        asked = w->n_known;
        out.n = 0;
        ps_write_letters(&out, PS_LETTERS, &said);
        ps_store_answer(w->store, w->index, out.data, out.n, &reply);
        if (ps_frame_read(&f, reply.data, reply.n) != 0 || f.kind != PS_DELIVERY)
            abort();
        if (f.letters.n_answers > 0 && f.letters.answer[0].state == PS_NOBODY)
            asked = UINT32_MAX;
        take_mail(w, &f.letters);
        if (!is_done && w->n_known == QUESTIONS)
            is_done = atomic_fetch_add(w->n_done, 1) < 4;
    }
    ps_frame_release(&f);
    pack_release(&out);
    pack_release(&reply);
    return NULL;
}

/* One that is lost would be waited for without end. */
static void letters_among_workers_all_arrive(void **state)
{
    static struct writer writer[4];
    struct ps_store_opts opts = {.n_workers = 4};
    struct ps_counts counts;
    struct ps_store *store;
    atomic_uint n_done = 0;

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (unsigned i = 0; i < 4; i++) {
        writer[i] = (struct writer){.store = store, .index = i, .n_done = &n_done};
        pthread_create(&writer[i].thread, NULL, write_many, &writer[i]);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(writer[i].thread, NULL);
    ps_store_counts(store, &counts);
    assert_int_equal(counts.letters.n_questions, 4 * QUESTIONS);
    assert_int_equal(counts.letters.n_answers, 4 * QUESTIONS);
    ps_store_close(store);
}

/* Waits until a client was answered once more. */
static void hear_again(const struct pusher *p)
{
    uint64_t n = atomic_load(&p->n_asked) + 1; /* one may be on its way */

    while (atomic_load(&p->n_asked) <= n)
        sched_yield();
}

/* They go on while the snapshot is written: what came meanwhile is not in it. */
static void only_what_is_in_the_snapshot_is_said_to_be_saved(void **state)
{
    const char *path = "ps_store_saved.snapshot";
    struct ps_store_opts opts = {.n_workers = 4, .snapshot = path};
    struct pusher pusher[4];
    struct ps_store *store;

    (void)state;
    unlink(path);
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (unsigned i = 0; i < 4; i++) {
        pusher[i] = (struct pusher){.store = store, .index = i};
        pthread_create(&pusher[i].thread, NULL, push_many, &pusher[i]);
    }
    for (int k = 0; k < 10; k++) {
        struct ps_snapshot snapshot;

        for (unsigned i = 0; i < 4; i++)
            hear_again(&pusher[i]);
        assert_int_equal(ps_store_publish(store), 0);
        for (unsigned i = 0; i < 4; i++)
            hear_again(&pusher[i]);
        assert_int_equal(ps_snapshot_read(&snapshot, path), 0);
        assert_int_equal(snapshot.n_clients, 4);
        for (unsigned i = 0; i < 4; i++) {
            const struct ps_client_record *c = &snapshot.client[i];

            assert_true(c->last > 0 && atomic_load(&pusher[c->client].saved) <= c->last);
        }
        ps_snapshot_release(&snapshot);
    }
    for (unsigned i = 0; i < 4; i++) {
        atomic_store(&pusher[i].is_over, true);
        pthread_join(pusher[i].thread, NULL);
    }
    ps_store_close(store);
    unlink(path);
}

/* Who asks for all is told of functions by these numbers, of those that have one. */
static void expect_asked(struct ps_store *store, uint32_t n)
{
    static const char *const names[] = {"f00", "f01"};
    struct pack out = {0}, reply = {0};
    struct ps_frame f = {0};

    ps_write_ask(&out);
    ps_store_answer(store, 0, out.data, out.n, &reply);
    assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
    assert_int_equal(f.push.n_entries, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(f.push.entry[i].name.n, 3);
        assert_memory_equal(f.push.entry[i].name.data, names[i], 3);
        assert_true(f.push.entry[i].has_sketch);
    }
    ps_frame_release(&f);
    pack_release(&out);
    pack_release(&reply);
}

/* Two clients; the second says f01 first. Indices and models are those of the names. */
static void rounds_do_not_depend_on_who_is_first(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct ps_store_opts opts = {.n_workers = 2, .n_clients = 2};
        struct pack reply = {0}, out = {0};
        struct ps_store *store;
        struct ps_frame f = {0};
        struct sketch s;

        sketch_init(&s);
        sketch_add(&s, 3);
        assert_int_equal(ps_store_open(&store, &opts), 0);
        for (int k = 0; k < 2; k++) {
            int who = first ^ k;
            struct ps_push push = {.client = (uint64_t)who + 1, .sequence = 1, .round = 1};

            push.n_entries = 1;
            out.n = 0;
            ps_write_push(&out, &push);
            ps_write_named(&out, "prog", who ? "f01" : "f00", &s);
            ps_write_array(&out, 0);
            ps_store_answer(store, 0, out.data, out.n, &reply);
            assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
            assert_int_equal(f.kind, PS_REPLY);
            assert_int_equal(f.reply.index[0], PS_NO_INDEX);
            expect_asked(store, 0);
            ps_store_publish(store); /* nothing before both are there */
        }
        expect_asked(store, 2);
        ask(store, &(struct ps_push){.client = 1, .n_entries = 2}, (struct sketch[2]){0}, &f,
            &reply);
        assert_int_equal(f.reply.round, 1);
        assert_int_equal(f.reply.version, 1);
        assert_int_equal(f.reply.index[0], 0);
        assert_int_equal(f.reply.index[1], 1);
        ask(store, &(struct ps_push){.client = 1, .sequence = 2, .round = 3, .n_entries = 1},
            &s, &f, &reply);
        assert_int_equal(f.kind, PS_REFUSAL);
        assert_int_equal(f.refusal.code, PS_EARLY);
        sketch_release(&s);
        ps_store_close(store);
        ps_frame_release(&f);
        pack_release(&reply);
        pack_release(&out);
    }
}

/* What a client of rounds is answered. */
static void say_round(struct ps_store *store, uint64_t client, uint64_t sequence,
                      uint64_t round, struct ps_frame *f)
{
    struct ps_push push = {
        .client = client, .sequence = sequence, .round = round, .n_entries = 1};
    struct sketch s;
    struct pack reply = {0};

    sketch_init(&s);
    sketch_add(&s, 3);
    ask(store, &push, &s, f, &reply);
    sketch_release(&s);
    pack_release(&reply);
}

/* 1 has had round 3 of the server before and goes on with 4; 2 still waits for 3. */
static void who_waited_for_a_round_gets_it_of_the_next_server(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2, .n_clients = 2};
    struct ps_store *store;
    struct ps_frame f = {0};

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    say_round(store, 1, 3, 3, &f);
    assert_int_equal(f.kind, PS_REPLY);
    assert_int_equal(f.reply.round, 2);
    say_round(store, 1, 4, 4, &f);
    assert_int_equal(f.kind, PS_REFUSAL);
    assert_int_equal(f.refusal.code, PS_EARLY);
    say_round(store, 2, 3, 3, &f);
    assert_int_equal(ps_store_publish(store), 0);
    say_round(store, 1, 4, 4, &f);
    assert_int_equal(f.kind, PS_REPLY);
    assert_int_equal(f.reply.round, 3);
    assert_int_equal(f.reply.n_models, 1);
    ps_store_close(store);
    ps_frame_release(&f);
}

/* The server before had round 4 of 1 already, which cannot be told apart now. */
static void who_waited_for_a_round_that_nobody_can_tell_goes_on(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2, .n_clients = 2};
    struct ps_store *store;
    struct ps_frame f = {0};

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    say_round(store, 1, 4, 4, &f);
    say_round(store, 2, 3, 3, &f);
    assert_int_equal(f.kind, PS_REPLY);
    assert_int_equal(f.reply.round, 3);
    assert_int_equal(ps_store_publish(store), 0); /* round 4 is not complete */
    say_round(store, 2, 4, 4, &f);
    assert_int_equal(f.reply.round, 3);
    assert_int_equal(ps_store_publish(store), 0);
    say_round(store, 2, 5, 5, &f);
    assert_int_equal(f.reply.round, 4);
    ps_store_close(store);
    ps_frame_release(&f);
}

/* n statistics of ranks that nobody has spoken of; returns what the frame is answered with. */
static enum ps_kind push_stats(struct ps_store *store, uint64_t sequence, uint32_t n,
                               uint32_t *rank)
{
    struct ps_push push = {.client = 1, .sequence = sequence};
    struct pack out = {0}, reply = {0};
    struct ps_frame f = {0};
    struct ps_stat stat = {0};
    enum ps_kind kind;

    ps_stat_add(&stat, 1);
    ps_write_push(&out, &push);
    ps_write_array(&out, n);
    for (uint32_t i = 0; i < n; i++)
        ps_write_stat(&out, &(struct ps_stat_key){"0", (*rank)++, "", "calls"}, &stat);
    ps_store_answer(store, sequence % 2, out.data, out.n, &reply);
    assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
    kind = f.kind;
    ps_frame_release(&f);
    pack_release(&out);
    pack_release(&reply);
    return kind;
}

/* By two workers, half of them before a cut. */
static void there_are_no_more_statistics_than_a_snapshot_may_have(void **state)
{
    struct ps_store_opts opts = {.n_workers = 2};
    struct ps_store *store;
    uint32_t rank = 0;

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (uint64_t sequence = 1; sequence <= 4; sequence++) {
        assert_int_equal(push_stats(store, sequence, PS_MAX_STATS / 4, &rank), PS_REPLY);
        if (sequence == 2)
            assert_int_equal(ps_store_publish(store), 0);
    }
    assert_int_equal(push_stats(store, 5, 1, &rank), PS_REFUSAL);
    ps_store_close(store);
}

/* Frames of clients of two programs, then the question, and one for more than a frame holds. */
static void all_that_is_published_can_be_asked_for(void **state)
{
    struct ps_store_opts opts = {.n_workers = 1};
    struct ps_push push = {.client = 1, .n_entries = 1};
    struct ps_stat stat = {0};
    struct pack out = {0}, reply = {0};
    struct ps_frame f = {0};
    struct ps_store *store;
    char name[PS_MAX_TEXT_BYTES + 1];
    struct sketch s;

    (void)state;
    sketch_init(&s);
    sketch_add(&s, 1000);
    ps_stat_add(&stat, 3);
    assert_int_equal(ps_store_open(&store, &opts), 0);
    for (push.sequence = 1; push.sequence <= 2; push.sequence++) {
        out.n = 0;
        ps_write_push(&out, &push);
        ps_write_named(&out, push.sequence == 1 ? "0" : "1", "f", &s);
        ps_write_array(&out, 1);
        ps_write_stat(&out, &(struct ps_stat_key){"0", 7, "", "calls"}, &stat);
        ps_store_answer(store, 0, out.data, out.n, &reply);
    }
    for (int is_published = 0; is_published < 2; is_published++) {
        if (is_published)
            assert_int_equal(ps_store_publish(store), 0);
        out.n = 0;
        ps_write_ask(&out);
        ps_store_answer(store, 0, out.data, out.n, &reply);
        assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
        assert_int_equal(f.kind, PS_STATE);
        assert_int_equal(f.push.client, 1);
        assert_int_equal(f.push.n_entries, 2);
        assert_int_equal(f.push.entry[1].has_sketch, is_published);
        assert_int_equal(f.push.n_stats, is_published);
    }
    assert_int_equal(f.push.stat[0].stat.whole.sum, 6);
    assert_int_equal(f.push.stat[0].rank, 7);

    memset(name, 'x', PS_MAX_TEXT_BYTES);
    name[PS_MAX_TEXT_BYTES] = '\0';
    for (uint32_t i = 0; i <= PS_MAX_FRAME_BYTES / PS_MAX_TEXT_BYTES; i++, push.sequence++) {
        snprintf(name, 8, "%07u", i);
        name[7] = 'x';
        out.n = 0;
        ps_write_push(&out, &push);
        ps_write_named(&out, "0", name, NULL);
        ps_write_array(&out, 0);
        ps_store_answer(store, 0, out.data, out.n, &reply);
    }
    out.n = 0;
    ps_write_ask(&out);
    ps_store_answer(store, 0, out.data, out.n, &reply);
    assert_int_equal(ps_frame_read(&f, reply.data, reply.n), 0);
    assert_int_equal(f.kind, PS_REFUSAL);
    assert_int_equal(f.refusal.code, PS_LARGE);
    ps_store_close(store);
    ps_frame_release(&f);
    sketch_release(&s);
    pack_release(&out);
    pack_release(&reply);
}

int main(void)
{
    const struct CMUnitTest of_threads[] = {
        cmocka_unit_test(workers_and_cuts_lose_nothing),
        cmocka_unit_test(letters_among_workers_all_arrive),
        cmocka_unit_test(only_what_is_in_the_snapshot_is_said_to_be_saved),
        cmocka_unit_test(rounds_do_not_depend_on_who_is_first),
    };
    const struct CMUnitTest of_one[] = {
        cmocka_unit_test(any_partition_in_any_order_merges_to_one_instance),
        cmocka_unit_test(only_what_changed_is_sent),
        cmocka_unit_test(refused_frames_change_nothing),
        cmocka_unit_test(counts_do_not_wrap),
        cmocka_unit_test(a_frozen_store_takes_deltas_but_keeps_its_models),
        cmocka_unit_test(a_restart_counts_every_delta_once),
        cmocka_unit_test(damaged_snapshots_are_refused),
        cmocka_unit_test(all_that_is_published_can_be_asked_for),
        cmocka_unit_test(who_waited_for_a_round_gets_it_of_the_next_server),
        cmocka_unit_test(there_are_no_more_statistics_than_a_snapshot_may_have),
        cmocka_unit_test(who_waited_for_a_round_that_nobody_can_tell_goes_on),
    };

    return cmocka_run_group_tests(of_threads, NULL, NULL) +
           (test_is_for_races() ? 0 : cmocka_run_group_tests(of_one, NULL, NULL));
}
