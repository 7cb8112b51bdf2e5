#include "ps/ps_wire.h"

#include "base/err.h"

#include "sample_ps.h"
#include "test.h"

static const struct ps_push head = {
    .client = 7, .epoch = UINT64_MAX, .sequence = 3, .round = 300, .have = 70000};

static void write_sample(struct pack *out, const struct sketch *s)
{
    const struct ps_stat_key key = {"prog", 3, "main", "calls"};
    struct ps_stat whole = {0}, real = {0};
    struct ps_push push = head;

    ps_stat_add(&whole, -5);
    ps_stat_add(&whole, INT64_MIN);
    ps_stat_add_real(&real, 0.1);
    push.n_entries = 3;
    ps_write_push(out, &push);
    ps_write_named(out, "prog", "void f<int>(char const*)", s);
    ps_write_entry(out, 12, NULL);
    ps_write_entry(out, 65535, s);
    ps_write_array(out, 2);
    ps_write_stat(out, &key, &whole);
    ps_write_stat(out, &key, &real);
}

static void make_sketch(struct sketch *s)
{
    struct rng rng = {1};

    sketch_init(s);
    sample_calls(s, &rng, 1000, 1e5);
    sketch_add(s, 0);
    sketch_add(s, UINT64_MAX);
}

static void a_push_comes_back_as_it_was(void **state)
{
    static uint64_t bin[SKETCH_MAX_BINS];
    struct pack out = {0};
    struct ps_frame f = {0};
    struct sketch s, view, copy;

    (void)state;
    make_sketch(&s);
    write_sample(&out, &s);
    assert_int_equal(ps_frame_read(&f, out.data, out.n), 0);
    assert_int_equal(f.kind, PS_PUSH);
    assert_true(f.push.client == 7 && f.push.epoch == UINT64_MAX && f.push.sequence == 3);
    assert_true(f.push.round == 300 && f.push.have == 70000);
    assert_int_equal(f.push.n_entries, 3);
    assert_memory_equal(f.push.entry[0].name.data, "void f<int>(char const*)", 24);
    assert_int_equal(f.push.entry[0].index, PS_NO_INDEX);
    assert_false(f.push.entry[1].has_sketch);
    assert_int_equal(f.push.entry[2].index, 65535);
    view = ps_sketch_view(&f.push.entry[2].sketch, bin);
    sketch_init(&copy);
    sketch_merge(&copy, &view);
    assert_true(sample_same(&copy, &s));
    assert_int_equal(f.push.n_stats, 2);
    assert_true(f.push.stat[0].stat.whole.min == INT64_MIN);
    assert_true(f.push.stat[0].stat.whole.sum == (__int128)INT64_MIN - 5);
    assert_true(f.push.stat[1].stat.is_real && f.push.stat[1].stat.real.sum == 0.1);
    sketch_release(&copy);
    sketch_release(&s);
    ps_frame_release(&f);
    pack_release(&out);
}

static void answers_come_back_as_they_were(void **state)
{
    uint32_t index[3] = {0, PS_NO_INDEX, 40000};
    struct ps_reply reply = {1, 2, 3, 4, 5, 6, true, .n_indices = 3, .index = index};
    struct ps_refusal refusal = {PS_STALE, 10, 11, 12};
    struct pack out = {0};
    struct ps_frame f = {0};

    (void)state;
    ps_write_reply(&out, &reply);
    assert_int_equal(ps_frame_read(&f, out.data, out.n), 0);
    assert_int_equal(f.kind, PS_REPLY);
    assert_true(f.reply.epoch == 1 && f.reply.saved == 4 && f.reply.round == 6 &&
                f.reply.is_frozen);
    assert_memory_equal(f.reply.index, index, sizeof index);
    out.n = 0;
    ps_write_refusal(&out, &refusal);
    assert_int_equal(ps_frame_read(&f, out.data, out.n), 0);
    assert_int_equal(f.refusal.code, PS_STALE);
    assert_true(f.refusal.epoch == 10 && f.refusal.sequence == 11 && f.refusal.received == 12);
    ps_frame_release(&f);
    pack_release(&out);
}

static void write_letters(struct pack *out, enum ps_kind kind)
{
    const unsigned char body[] = {0, 0xff, 10};
    struct ps_rank place[] = {{0, 3}, {UINT32_MAX, 0}};
    struct ps_letter question = {
        .client = UINT64_MAX, .number = 4, .place = {1, 70000}, .body = {body, 3}};
    struct ps_letter answer[] = {{.client = 5, .number = 6, .state = PS_OVERFULL},
                                 {.client = 5, .number = 7, .body = {body, 2}}};
    struct ps_letters letters = {.client = 9,
                                 .number = 300,
                                 .job = {(const unsigned char *)"job", 3},
                                 .is_over = true,
                                 .epoch = 10,
                                 .n_going_on = 11,
                                 .is_successor = true,
                                 .n_places = 2,
                                 .place = place,
                                 .n_questions = 1,
                                 .question = &question,
                                 .n_answers = 2,
                                 .answer = answer};

    ps_write_letters(out, kind, &letters);
}

static void letters_come_back_as_they_were(void **state)
{
    struct pack out = {0};
    struct ps_frame f = {0};
    const struct ps_letters *l = &f.letters;

    (void)state;
    write_letters(&out, PS_LETTERS);
    assert_int_equal(ps_frame_read(&f, out.data, out.n), 0);
    assert_int_equal(f.kind, PS_LETTERS);
    assert_true(l->client == 9 && l->number == 300 && l->is_over);
    assert_true(l->job.n == 3 && memcmp(l->job.data, "job", 3) == 0);
    assert_int_equal(l->n_places, 2);
    assert_true(l->place[0].rank == 3 && l->place[1].program == UINT32_MAX);
    assert_int_equal(l->n_questions, 1);
    assert_true(l->question[0].client == UINT64_MAX && l->question[0].number == 4 &&
                l->question[0].place.program == 1 && l->question[0].place.rank == 70000 &&
                l->question[0].body.n == 3 && l->question[0].body.data[1] == 0xff);
    out.n = 0;
    write_letters(&out, PS_DELIVERY);
    assert_int_equal(ps_frame_read(&f, out.data, out.n), 0);
    assert_int_equal(f.kind, PS_DELIVERY);
    assert_true(l->number == 300 && l->epoch == 10 && l->n_going_on == 11 && l->is_successor);
    assert_int_equal(l->n_answers, 2);
    assert_true(l->answer[0].state == PS_OVERFULL && l->answer[0].body.n == 0 &&
                l->answer[1].client == 5 && l->answer[1].number == 7 &&
                l->answer[1].state == PS_ANSWERED && l->answer[1].body.n == 2);
    ps_frame_release(&f);
    pack_release(&out);
}

/* Each kind of element as MessagePack's specification has it, at the borders of its widths. */
static void elements_are_as_short_as_they_can_be(void **state)
{
    static const struct {
        uint64_t value;
        const char *bytes;
        size_t n;
    } count[] = {{0, "\x00", 1},
                 {127, "\x7f", 1},
                 {128, "\xcc\x80", 2},
                 {255, "\xcc\xff", 2},
                 {256, "\xcd\x01\x00", 3},
                 {65535, "\xcd\xff\xff", 3},
                 {65536, "\xce\x00\x01\x00\x00", 5},
                 {UINT32_MAX, "\xce\xff\xff\xff\xff", 5},
                 {(uint64_t)1 << 32, "\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 9},
                 {UINT64_MAX, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9}};
    static const struct {
        uint32_t length;
        const char *text, *bytes, *array;
    } heads[] = {
        {0, "\xa0", "\xc4\x00", "\x90"},
        {15, "\xaf", "\xc4\x0f", "\x9f"},
        {16, "\xb0", "\xc4\x10", "\xdc\x00\x10"},
        {31, "\xbf", "\xc4\x1f", "\xdc\x00\x1f"},
        {32, "\xd9\x20", "\xc4\x20", "\xdc\x00\x20"},
        {255, "\xd9\xff", "\xc4\xff", "\xdc\x00\xff"},
        {256, "\xda\x01\x00", "\xc5\x01\x00", "\xdc\x01\x00"},
        {65535, "\xda\xff\xff", "\xc5\xff\xff", "\xdc\xff\xff"},
        {65536, "\xdb\x00\x01\x00\x00", "\xc6\x00\x01\x00\x00", "\xdd\x00\x01\x00\x00"}};
    static const size_t n_text[] = {1, 1, 1, 1, 2, 2, 3, 3, 5},
                        n_bytes[] = {2, 2, 2, 2, 2, 2, 3, 3, 5},
                        n_array[] = {1, 1, 3, 3, 3, 3, 3, 3, 5};
    static char zeros[65536];
    struct pack out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++) {
        out.n = 0;
        ps_write_count(&out, count[i].value);
        assert_int_equal(out.n, count[i].n);
        assert_memory_equal(out.data, count[i].bytes, out.n);
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        out.n = 0;
        ps_write_text(&out, zeros, heads[i].length);
        assert_int_equal(out.n, n_text[i] + heads[i].length);
        assert_memory_equal(out.data, heads[i].text, n_text[i]);
        out.n = 0;
        ps_write_bytes(&out, zeros, heads[i].length);
        assert_int_equal(out.n, n_bytes[i] + heads[i].length);
        assert_memory_equal(out.data, heads[i].bytes, n_bytes[i]);
        out.n = 0;
        ps_write_array(&out, heads[i].length);
        assert_int_equal(out.n, n_array[i]);
        assert_memory_equal(out.data, heads[i].array, out.n);
    }
    out.n = 0;
    ps_write_nil(&out);
    assert_true(out.n == 1 && out.data[0] == 0xc0);
    pack_release(&out);
}

static int read_copy(struct ps_frame *f, const void *data, size_t n)
{
    void *copy = malloc(n + !n); /* of that very size: a sanitizer sees its end */
    int rc;

    memcpy(copy, data, n);
    rc = ps_frame_read(f, copy, n);
    free(copy);
    return rc;
}

static void every_beginning_and_every_longer_frame_is_refused(void **state)
{
    struct pack out[3] = {{0}};
    struct ps_frame f = {0};
    struct sketch s;

    (void)state;
    make_sketch(&s);
    write_sample(&out[0], &s);
    write_letters(&out[1], PS_LETTERS);
    write_letters(&out[2], PS_DELIVERY);
    for (int i = 0; i < 3; i++) {
        for (size_t n = 0; n < out[i].n; n++)
            assert_int_equal(read_copy(&f, out[i].data, n), ERR_FORMAT);
        ps_write_nil(&out[i]);
        assert_int_equal(read_copy(&f, out[i].data, out[i].n), ERR_FORMAT);
        pack_release(&out[i]);
    }
    sketch_release(&s);
    ps_frame_release(&f);
}

/* The head of letters of client 1, and then one thing is too large. */
static void letters_have_limits(void **state)
{
    static const struct {
        const char *what;
        unsigned char bytes[8];
        size_t n, n_zeros;
    } tail[] = {
        {"over is 2", {2, 0x90, 0x90, 0x90}, 4, 0},
        {"more places than there are bytes", {0, 0xdc, 0xff, 0xff}, 4, 0},
        {"65537 places", {0, 0xdd, 0, 1, 0, 1}, 6, 200000},
        {"a rank of 33 bits", {0, 0x91, 0x92, 0, 0xcf, 0, 0, 0}, 8, 10},
        {"1025 questions", {0, 0x90, 0xdc, 4, 1}, 5, 10000},
        {"an answer of state 3", {0, 0x90, 0x90, 0x91, 0x94, 0, 0, 3}, 8, 0},
    };
    struct ps_frame f = {0};

    (void)state;
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        const unsigned char first[] = {0x99, PS_WIRE_VERSION, PS_LETTERS, 1, 0, 0xa1, 'j'};
        struct pack out = {0};

        ps_write_raw(&out, first, sizeof first);
        ps_write_raw(&out, tail[i].bytes, tail[i].n);
        for (size_t k = 0; k < tail[i].n_zeros; k++)
            ps_write_raw(&out, "", 1);
        if (read_copy(&f, out.data, out.n) != ERR_FORMAT)
            fail_msg("accepted: %s", tail[i].what);
        pack_release(&out);
    }
    ps_frame_release(&f);
}

/* A damaged frame is refused, or its sketches are still ones that values could have made. */
static void damage_never_yields_an_impossible_sketch(void **state)
{
    struct pack out = {0};
    struct ps_frame f = {0};
    struct rng rng = {5};
    struct sketch s;
    int n_good = 0;

    (void)state;
    make_sketch(&s);
    write_sample(&out, &s);
    for (int i = 0; i < 20000; i++) {
        size_t at = rng_below(&rng, out.n);
        char was = out.data[at];

        out.data[at] = (char)(was ^ (1 << rng_below(&rng, 8)));
        if (read_copy(&f, out.data, out.n) == 0) {
            n_good++;
            for (uint32_t e = 0; f.kind == PS_PUSH && e < f.push.n_entries; e++) {
                const struct ps_packed_sketch *p = &f.push.entry[e].sketch;

                assert_true(!f.push.entry[e].has_sketch ||
                            (p->n > 0 && p->min <= p->max &&
                             sketch_bin(p->min) == p->first_bin &&
                             sketch_bin(p->max) == p->first_bin + p->n_bins - 1));
            }
        }
        out.data[at] = was;
    }
    assert_in_range(n_good, 1, 15000);
    sketch_release(&s);
    ps_frame_release(&f);
    pack_release(&out);
}

/* What a few bytes can claim. */
static void claims_are_not_believed(void **state)
{
    static const struct {
        const char *what;
        unsigned char bytes[16];
        size_t n;
    } claim[] = {
        {"nothing", {0}, 0},
        {"an array of 2^32 - 1", {0xdd, 0xff, 0xff, 0xff, 0xff}, 5},
        {"a map of 2^32 - 1", {0xdf, 0xff, 0xff, 0xff, 0xff}, 5},
        {"a push of 65535 functions", {0x99, 1, 1, 1, 0, 0, 0, 0, 0xdc, 0xff, 0xff}, 11},
        {"text of 2^32 - 1 bytes",
         {0x99, 1, 1, 1, 0, 0, 0, 0, 0x91, 0x92, 0x92, 0xdb, 0xff, 0xff, 0xff, 0xff},
         16},
        {"arrays in arrays", {0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91}, 8},
        {"a negative version", {0x92, 0xff, 1}, 3},
        {"a kind there is not", {0x92, 1, 77}, 3},
        {"a kind beyond 32 bits", {0x92, 1, 0xcf, 0, 0, 0, 1, 0, 0, 0, 1}, 11},
        {"the byte that MessagePack does not use", {0xc1}, 1},
    };
    const unsigned char next_version[] = {0x92, 2, 1};
    struct ps_frame f = {0};

    (void)state;
    for (size_t i = 0; i < sizeof claim / sizeof *claim; i++)
        if (read_copy(&f, claim[i].bytes, claim[i].n) != ERR_FORMAT)
            fail_msg("believed: %s", claim[i].what);
    assert_int_equal(ps_frame_read(&f, next_version, sizeof next_version), ERR_UNSUPPORTED);
    ps_frame_release(&f);
}

/* bins: skip 5, count 1; least and largest 5; sum 5. Then one thing is wrong each time. */
static void sketches_must_be_possible(void **state)
{
    static const struct {
        unsigned char min, max, sum, bin[12];
        unsigned n_bytes;
        int rc;
    } sketch[] = {
        {5, 5, 5, {5, 1}, 2, 0},
        {5, 6, 11, {5, 1, 0, 1}, 4, 0},
        {4, 5, 5, {5, 1}, 2, ERR_FORMAT}, /* least in another bin */
        {5, 6, 5, {5, 1}, 2, ERR_FORMAT}, /* largest in another bin */
        {5, 5, 6, {5, 1}, 2, ERR_FORMAT}, /* sum of other values */
        {5, 5, 5, {5, 0}, 2, ERR_FORMAT}, /* an empty bin */
        {5, 5, 5, {5}, 1, ERR_FORMAT},    /* half a pair */
        {5, 5, 0, {0}, 0, ERR_FORMAT},    /* no calls */
        {5, 5, 5, {5, 0x81}, 2, ERR_FORMAT},
        {5, 5, 5, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1}, 11, ERR_FORMAT},
        {5, 5, 5, {5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 11, ERR_FORMAT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof sketch / sizeof *sketch; i++) {
        struct ps_push push = {.n_entries = 1};
        struct pack out = {0};
        struct ps_frame f = {0};

        ps_write_push(&out, &push);
        ps_write_array(&out, 2);
        ps_write_count(&out, 0);
        ps_write_array(&out, 5);
        ps_write_count(&out, sketch[i].min);
        ps_write_count(&out, sketch[i].max);
        ps_write_wide(&out, sketch[i].sum);
        ps_write_wide(&out, 0);
        ps_write_bytes(&out, sketch[i].bin, sketch[i].n_bytes);
        ps_write_array(&out, 0);
        if (read_copy(&f, out.data, out.n) != sketch[i].rc)
            fail_msg("sketch %zu", i);
        ps_frame_release(&f);
        pack_release(&out);
    }
}

static void text_has_no_control_characters(void **state)
{
    struct ps_push push = {.n_entries = 1};
    struct pack out = {0};
    struct ps_frame f = {0};

    (void)state;
    ps_write_push(&out, &push);
    ps_write_named(&out, "prog", "two\nlines", NULL);
    ps_write_array(&out, 0);
    assert_int_equal(ps_frame_read(&f, out.data, out.n), ERR_FORMAT);
    ps_frame_release(&f);
    pack_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_comes_back_as_it_was),
        cmocka_unit_test(answers_come_back_as_they_were),
        cmocka_unit_test(letters_come_back_as_they_were),
        cmocka_unit_test(letters_have_limits),
        cmocka_unit_test(elements_are_as_short_as_they_can_be),
        cmocka_unit_test(every_beginning_and_every_longer_frame_is_refused),
        cmocka_unit_test(damage_never_yields_an_impossible_sketch),
        cmocka_unit_test(claims_are_not_believed),
        cmocka_unit_test(sketches_must_be_possible),
        cmocka_unit_test(text_has_no_control_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
