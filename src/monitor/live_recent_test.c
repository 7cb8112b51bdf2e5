/* Two ranks whose main lasts for all steps, and sends messages inside. */
#include "monitor/live_recent.h"

#include "base/mem.h"

#include "test.h"

static const char program[] =
    "synth:main(60*step(compute@1ms(a 3*b) exchange@50us(>1 <1)));ranks=2;jitter=0.1";

struct seen {
    uint64_t enter_ns, leave_ns, exclusive_ns;
    uint32_t location, region, depth;
};

struct fixture {
    struct live_recent recent;
    struct seen *seen; /* [n] calls that have ended */
    size_t n, cap;
    struct message *sent[2]; /* [n_sent] by rank: messages, either end */
    size_t n_sent[2], sent_cap[2];
    uint32_t n_steps;
    const char **name;
    uint32_t n_names;
    struct recent_place place[2];
};

static uint32_t depth_of(const struct calls *c, uint32_t row)
{
    uint32_t depth = 0;

    for (row = c->caller[row]; row != NO_CALL; row = c->caller[row])
        depth++;
    return depth;
}

static void look(void *ctx, const struct ad_step *step)
{
    struct fixture *f = ctx;

    live_recent_take(&f->recent, step);
    for (uint32_t l = 0; l < step->n_locations; l++)
        for (uint32_t i = 0; i < step->calls[l].n; i++) {
            const struct calls *c = &step->calls[l];

            if (c->inclusive_ns[i] == CALL_OPEN)
                continue;
            *mem_push(&f->seen, &f->n, &f->cap) =
                (struct seen){c->enter_ns[i],     c->enter_ns[i] + c->inclusive_ns[i],
                              c->exclusive_ns[i], l,
                              c->region[i],       depth_of(c, i)};
        }
    for (uint32_t l = 0; l < step->n_locations; l++)
        for (size_t i = 0; i < step->calls[l].n_messages; i++) {
            *mem_push(&f->sent[l], &f->n_sent[l], &f->sent_cap[l]) = step->calls[l].message[i];
        }
    while (f->n_names < step->defs->names.n) {
        f->name = mem_resize(f->name, f->n_names + 1, sizeof *f->name);
        f->name[f->n_names] = mem_copy_string(step->defs->names.name[f->n_names]);
        f->n_names++;
    }
    f->n_steps++;
}

static void read_all(struct fixture *f, size_t most)
{
    struct ad_sink sink = {look, f};
    struct ad_opts opts = ad_default();
    struct stream stream;
    struct ad *ad;

    *f = (struct fixture){.place = {{0, 0, 0}, {1, 0, 0}}};
    live_recent_init(&f->recent, most);
    opts.sink = &sink;
    opts.n_sinks = 1;
    assert_int_equal(stream_open(&stream, program, &(struct stream_opts){.step_ns = 4000000}),
                     0);
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    ad_free(ad);
    stream_close(&stream);
    assert_true(f->n_steps > 10);
}

static bool ask(struct fixture *f, const struct seen *of, struct arena *arena,
                struct prov_record *record)
{
    const struct recent_asked asked = {.location = of->location,
                                       .region = of->region,
                                       .enter_ns = of->enter_ns,
                                       .region_name = f->name,
                                       .n_regions = f->n_names,
                                       .place = f->place,
                                       .n_places = 2};

    return live_recent_find(&f->recent, &asked, arena, record);
}

static void end(struct fixture *f)
{
    live_recent_release(&f->recent);
    for (uint32_t i = 0; i < f->n_names; i++)
        free((char *)(uintptr_t)f->name[i]);
    free(f->name);
    free(f->seen);
    free(f->sent[0]);
    free(f->sent[1]);
}

/* That of a window which holds no call twice. */
static void check_window(const struct prov_window *w)
{
    for (size_t i = 1; i < w->n_calls; i++) {
        const struct prov_call *a = &w->call[i - 1], *b = &w->call[i];

        assert_true(a->enter_ns <= b->enter_ns);
        assert_false(a->enter_ns == b->enter_ns && a->fid == b->fid);
    }
}

/* All messages of the rank from half the call's length before it to half after it, as they are. */
static void check_messages(const struct fixture *f, const struct prov_record *r, uint32_t rank)
{
    uint64_t half = (r->leave_ns - r->enter_ns) / 2;
    size_t n = 0;

    for (size_t i = 0; i < f->n_sent[rank]; i++) {
        const struct message *m = &f->sent[rank][i];
        const struct prov_message *got = &r->window.message[n];
        uint64_t at_ns = message_record_ns(m);

        if (at_ns + half < r->enter_ns || at_ns > r->leave_ns + half)
            continue;
        assert_true(n++ < r->window.n_messages);
        assert_true(got->is_send == (m->kind == MESSAGE_SEND) && got->time_ns == at_ns);
        assert_int_equal(got->is_send ? got->source : got->target, rank);
        assert_int_equal(got->is_send ? got->target : got->source, m->peer);
        assert_true(got->tag == m->tag && got->bytes == m->bytes);
    }
    assert_int_equal(r->window.n_messages, n);
}

static void every_call_is_found_with_its_callers(void **state)
{
    struct fixture f;
    size_t n_partners = 0;

    (void)state;
    read_all(&f, LIVE_RECENT_BYTES);
    assert_true(f.n > 1000);
    for (size_t i = 0; i < f.n; i++) {
        const struct seen *s = &f.seen[i];
        struct arena arena = {0};
        struct prov_record r;

        assert_true(ask(&f, s, &arena, &r));
        assert_true(r.enter_ns == s->enter_ns && r.leave_ns == s->leave_ns);
        assert_true(r.exclusive_ns == s->exclusive_ns);
        assert_string_equal(r.func, f.name[s->region]);
        assert_int_equal(r.n_stack, s->depth + 1);
        assert_true(r.stack[0].enter_ns == s->enter_ns && r.stack[0].fid == s->region);
        check_window(&r.window);
        check_messages(&f, &r, s->location);
        n_partners += r.n_partners;
        arena_release(&arena);
    }
    assert_true(n_partners > 100);
    end(&f);
}

static void what_is_too_long_ago_is_not_there(void **state)
{
    struct fixture f;
    struct arena arena = {0};
    struct prov_record r;

    (void)state;
    read_all(&f, 4000);
    assert_true(f.recent.bytes <= 4000 && f.recent.n > 0);
    assert_false(ask(&f, &f.seen[0], &arena, &r));
    assert_true(ask(&f, &f.seen[f.n - 1], &arena, &r));
    arena_release(&arena);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_is_found_with_its_callers),
        cmocka_unit_test(what_is_too_long_ago_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
