/* Executions that steps have cut against those that forest_add finds in the whole trace. */
#include "live/live_forest.h"

#include "base/rng.h"
#include "live/ad.h"
#include "stack/callstack.h"
#include "trace/source.h"

#include "test.h"

/* 30 executions of step on each of three ranks; a may call step again. */
static const char program[] = "synth:main(30*step(a@5us(b 2*c) >1 <1 d(step(b) a) c) e@40us);"
                              "ranks=3;jitter=0.5;slow=c/7/40";

/* The forest of a function after the run. */
static void read_whole(const char *url, const char *name, struct forest *forest)
{
    struct source source;
    struct source_reader *reader;
    struct callstack *stack = callstack_new();
    struct quality quality = {0};
    uint32_t region;

    assert_int_equal(source_open(&source, url), 0);
    region = names_find(&source.defs.names, name);
    assert_true(region != NAMES_NONE);
    reader = source_reader_new(&source);
    for (uint32_t l = 0; l < source.defs.n_locations; l++) {
        const struct event_batch *batch;
        struct calls calls = {.has_steps = true};
        struct call_view view;

        assert_int_equal(source_reader_begin(reader, l, UINT64_MAX), 0);
        callstack_begin(stack, &calls, &quality);
        while (source_reader_next(reader, &batch) > 0)
            callstack_push(stack, batch, 0, batch->n);
        callstack_end(stack);
        source_reader_end(reader, &quality);
        view = calls_view(&calls);
        assert_int_equal(forest_add(forest, l, &view, region, &source.defs), 0);
        calls_release(&calls);
    }
    source_reader_free(reader);
    callstack_free(stack);
    source_close(&source);
}

/* What a run in steps has found, all steps one after another, locations apart. */
struct collected {
    const char *name;
    struct live_forest live;
    struct forest *location; /* [3] */
    uint64_t n_cut, n_kept_messages, n_most_open;
    uint32_t n_steps_with_open;
};

static void copy_tree(struct forest *to, const struct live_forest *lf, uint32_t t)
{
    const struct forest *f = &lf->forest;
    uint32_t n = f->first[t + 1] - f->first[t], base = to->n, k = to->n_trees++;

    assert_true(base + n <= to->vertex_cap && k < to->tree_cap);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t parent = f->parent[f->first[t] + v];

        to->region[base + v] = f->region[f->first[t] + v];
        to->exclusive_ns[base + v] = f->exclusive_ns[f->first[t] + v];
        to->parent[base + v] =
            parent == FOREST_ROOT ? FOREST_ROOT : parent - f->first[t] + base;
    }
    to->first[k] = base;
    to->first[k + 1] = to->n = base + n;
    to->index[k] = f->index[t];
    to->call[k] = f->call[t];
    to->enter_ns[k] = f->enter_ns[t];
    to->root_ns[k] = f->root_ns[t];
    to->n_messages[k] = f->n_messages[t];
}

/* Times of entering rise along a tree, and children lie within their callers. */
static void check_times(const struct live_forest *lf, uint32_t t)
{
    const struct forest *f = &lf->forest;
    uint32_t first = f->first[t], n = f->first[t + 1] - first;
    uint64_t *inclusive = calloc(n, sizeof *inclusive);

    forest_inclusive(f, t, inclusive);
    assert_int_equal(lf->vertex_enter_ns[first], f->enter_ns[t]);
    for (uint32_t v = 1; v < n; v++) {
        uint32_t parent = f->parent[first + v] - first;

        assert_true(lf->vertex_enter_ns[first + v] >= lf->vertex_enter_ns[first + v - 1]);
        assert_true(lf->vertex_enter_ns[first + v] + inclusive[v] <=
                    lf->vertex_enter_ns[first + parent] + inclusive[parent]);
    }
    for (size_t m = lf->first_message[t]; m < lf->first_message[t + 1]; m++) {
        uint32_t call = lf->message[m].call;

        assert_true(call >= first && call < first + n);
        assert_true(lf->message[m].begin_ns >= lf->vertex_enter_ns[call]);
        assert_true(lf->message[m].begin_ns <=
                    lf->vertex_enter_ns[call] + inclusive[call - first]);
    }
    free(inclusive);
}

static void collect(void *ctx, const struct ad_step *step)
{
    struct collected *c = ctx;

    c->live.region = names_find(&step->defs->names, c->name);
    live_forest_clear(&c->live);
    for (uint32_t l = 0; l < step->n_locations; l++)
        live_forest_add(&c->live, l, &step->calls[l], step->defs);
    c->n_kept_messages += c->live.n_messages;
    c->n_steps_with_open += c->live.n_open > 0;
    c->n_most_open = c->live.n_open > c->n_most_open ? c->live.n_open : c->n_most_open;
    for (uint32_t t = 0; t < c->live.forest.n_trees; t++) {
        c->n_cut += live_forest_is_cut(&c->live, t);
        if (!live_forest_is_cut(&c->live, t))
            check_times(&c->live, t);
        copy_tree(&c->location[c->live.forest.location[t]], &c->live, t);
    }
    if (step->is_last)
        assert_int_equal(c->live.n_open, 0);
}

static void collected_init(struct collected *c, const char *name)
{
    *c = (struct collected){.name = name, .location = calloc(3, sizeof *c->location)};
    live_forest_init(&c->live, 0);
    for (int l = 0; l < 3; l++) {
        struct forest *f = &c->location[l];

        f->vertex_cap = 4096;
        f->tree_cap = 256;
        f->region = calloc(f->vertex_cap, sizeof *f->region);
        f->parent = calloc(f->vertex_cap, sizeof *f->parent);
        f->exclusive_ns = calloc(f->vertex_cap, sizeof *f->exclusive_ns);
        f->first = calloc(f->tree_cap + 1, sizeof *f->first);
        f->location = calloc(f->tree_cap, sizeof *f->location);
        f->index = calloc(f->tree_cap, sizeof *f->index);
        f->call = calloc(f->tree_cap, sizeof *f->call);
        f->enter_ns = calloc(f->tree_cap, sizeof *f->enter_ns);
        f->root_ns = calloc(f->tree_cap, sizeof *f->root_ns);
        f->n_messages = calloc(f->tree_cap, sizeof *f->n_messages);
    }
}

static void collected_release(struct collected *c)
{
    for (int l = 0; l < 3; l++)
        forest_release(&c->location[l]);
    free(c->location);
    live_forest_release(&c->live);
}

static void read_in_steps(const char *url, uint64_t step_ns, struct collected *c)
{
    struct ad_sink sink = {collect, c};
    struct ad_opts opts = ad_default();
    struct stream stream;
    struct ad *ad;

    opts.sink = &sink;
    opts.n_sinks = 1;
    assert_int_equal(stream_open(&stream, url, &(struct stream_opts){.step_ns = step_ns}), 0);
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    ad_free(ad);
    stream_close(&stream);
}

/* Trees [from, from + n) of the whole are those of the location. */
static void assert_same_trees(const struct forest *whole, uint32_t from,
                              const struct forest *location)
{
    uint32_t n = location->n_trees, base = whole->first[from];

    for (uint32_t t = 0; t < n; t++) {
        assert_int_equal(location->first[t], whole->first[from + t] - base);
        assert_int_equal(location->index[t], whole->index[from + t]);
        assert_int_equal(location->call[t], whole->call[from + t]);
        assert_int_equal(location->enter_ns[t], whole->enter_ns[from + t]);
        assert_int_equal(location->root_ns[t], whole->root_ns[from + t]);
        assert_int_equal(location->n_messages[t], whole->n_messages[from + t]);
    }
    assert_int_equal(location->n, whole->first[from + n] - base);
    for (uint32_t v = 0; v < location->n; v++) {
        uint32_t parent = whole->parent[base + v];

        assert_int_equal(location->region[v], whole->region[base + v]);
        assert_int_equal(location->exclusive_ns[v], whole->exclusive_ns[base + v]);
        assert_int_equal(location->parent[v],
                         parent == FOREST_ROOT ? FOREST_ROOT : parent - base);
    }
}

static void compare(const char *url, const char *name, uint64_t step_ns)
{
    struct forest whole = {0};
    struct collected c;
    uint32_t from = 0;
    uint64_t n_messages = 0;

    read_whole(url, name, &whole);
    collected_init(&c, name);
    read_in_steps(url, step_ns, &c);
    for (int l = 0; l < 3; l++) {
        assert_same_trees(&whole, from, &c.location[l]);
        from += c.location[l].n_trees;
    }
    assert_int_equal(from, whole.n_trees);
    for (uint32_t t = 0; t < whole.n_trees; t++)
        n_messages += whole.n_messages[t];
    assert_int_equal(c.n_kept_messages, n_messages);
    assert_int_equal(c.n_cut, 0);
    assert_true(step_ns == 0 || step_ns > 10000 || c.n_steps_with_open > 0);
    collected_release(&c);
    forest_release(&whole);
}

static void steps_cut_anywhere_and_trees_are_the_same(void **state)
{
    static const char *const names[] = {"main", "step", "a", "d", "MPI_Recv"};
    static const uint64_t steps[] = {0, 1000, 1700, 10000, 333333, 100000000};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
            compare(program, names[i], steps[k]);
}

/* main has hundreds of calls on every rank, 60 of them sends and receives. */
static void long_executions_keep_their_first_calls(void **state)
{
    struct forest whole = {0};
    struct collected c;

    (void)state;
    read_whole(program, "main", &whole);
    collected_init(&c, "main");
    c.live.most_calls = 50;
    read_in_steps(program, 1000, &c);
    assert_int_equal(c.n_cut, 3);
    for (uint32_t l = 0; l < 3; l++) {
        const struct forest *f = &c.location[l];
        uint32_t base = whole.first[l];

        assert_int_equal(f->n_trees, 1);
        assert_int_equal(f->n, 50);
        assert_int_equal(f->root_ns[0], whole.root_ns[l]);
        assert_int_equal(f->n_messages[0], whole.n_messages[l]);
        for (uint32_t v = 0; v < f->n; v++) {
            assert_int_equal(f->region[v], whole.region[base + v]);
            assert_int_equal(f->exclusive_ns[v], whole.exclusive_ns[base + v]);
        }
    }
    assert_true(c.n_most_open <= 3 * 50);
    assert_true(c.n_kept_messages < 3 * 30);
    collected_release(&c);

    collected_init(&c, "main");
    c.live.most_open = 70; /* of all three together */
    read_in_steps(program, 1000, &c);
    assert_int_equal(c.n_most_open, 70);
    assert_int_equal(c.n_cut, 3);
    collected_release(&c);
    forest_release(&whole);
}

/* Nobody asked before the second step: what was open then is left out, what follows is not. */
static void executions_that_began_before_are_left_out(void **state)
{
    struct callstack *stack = callstack_new();
    struct calls calls = {.has_steps = true};
    struct quality quality = {0};
    struct live_forest lf;
    struct event event[] = {{0, EVENT_ENTER, 7},  {5, EVENT_ENTER, 8},  {9, EVENT_LEAVE, 8},
                            {10, EVENT_LEAVE, 7}, {20, EVENT_ENTER, 7}, {30, EVENT_LEAVE, 7}};
    struct event_batch batch = {.event = event, .n = 6};

    (void)state;
    live_forest_init(&lf, 7);
    callstack_begin(stack, &calls, &quality);
    callstack_push(stack, &batch, 0, 2);
    callstack_step(stack);
    callstack_next(stack);
    callstack_push(stack, &batch, 2, 6);
    callstack_step(stack);
    live_forest_add(&lf, 0, &calls, NULL);
    assert_int_equal(lf.forest.n_trees, 1);
    assert_int_equal(lf.forest.enter_ns[0], 20);
    live_forest_release(&lf);
    calls_release(&calls);
    callstack_free(stack);
}

/* All that a forest says of its trees, after what is there. */
static size_t tell(const struct live_forest *lf, uint64_t *out, size_t n)
{
    const struct forest *f = &lf->forest;

    for (uint32_t t = 0; t < f->n_trees; t++) {
        out[n++] = f->index[t];
        out[n++] = f->call[t];
        out[n++] = f->root_ns[t];
        out[n++] = f->tracer_ns[t];
        out[n++] = lf->n_calls[t];
        out[n++] = f->n_messages[t];
        for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
            out[n++] = f->region[v];
            out[n++] = forest_row(f, t, v);
            out[n++] = f->parent[v] == FOREST_ROOT ? 0 : f->parent[v] - f->first[t] + 1;
            out[n++] = f->exclusive_ns[v];
            out[n++] = lf->vertex_enter_ns[v];
        }
        for (size_t m = lf->first_message[t]; m < lf->first_message[t + 1]; m++) {
            out[n++] = lf->message[m].call - f->first[t];
            out[n++] = lf->message[m].tag;
        }
    }
    return n;
}

enum { N_EVENTS = 400, MAX_TOLD = 11 * N_EVENTS };

/* The events in steps, cut with this probability after each; 0: all at once. */
static size_t run_cut(const struct event_batch *batch, const struct definitions *defs,
                      double cut, struct rng *rng, uint64_t *out)
{
    struct quality quality = {0};
    struct callstack *stack = callstack_new();
    struct calls calls = {.has_steps = true};
    struct live_forest lf;
    size_t n = 0, begin = 0;

    callstack_begin(stack, &calls, &quality);
    live_forest_init(&lf, 1);
    for (size_t i = 1; i <= batch->n; i++) {
        if (i < batch->n && rng_real(rng) >= cut)
            continue;
        callstack_push(stack, batch, begin, i);
        callstack_step(stack);
        begin = i;
        live_forest_clear(&lf);
        live_forest_add(&lf, 0, &calls, defs);
        n = tell(&lf, out, n);
        callstack_next(stack);
    }
    callstack_end(stack);
    callstack_step(stack);
    live_forest_clear(&lf);
    live_forest_add(&lf, 0, &calls, defs);
    n = tell(&lf, out, n);
    assert_int_equal(lf.n_open, 0);
    calls_release(&calls);
    callstack_free(stack);
    live_forest_release(&lf);
    return n;
}

/* Enters, leaves and messages; leaves that do not pair up too if it is damaged. */
static void make_events(struct event *event, struct message *message, bool is_damaged,
                        struct rng *rng)
{
    uint32_t open[N_EVENTS], n_open = 0;

    for (uint32_t i = 0; i < N_EVENTS; i++) {
        uint64_t kind = rng_below(rng, 10);
        bool is_any = kind >= 5;

        if (!is_damaged && n_open >= N_EVENTS - i)
            kind = 4; /* nothing is open at the end */
        else if (!is_damaged && kind >= 4 && kind < 8 && n_open == 0)
            kind = 8;
        event[i] = (struct event){.time_ns = 10 * i + rng_below(rng, 10),
                                  .kind = kind < 4   ? EVENT_ENTER
                                          : kind < 8 ? EVENT_LEAVE
                                                     : EVENT_MESSAGE,
                                  .ref = kind < 8 ? (uint32_t)rng_below(rng, 4) : i};
        if (kind < 4)
            open[n_open++] = event[i].ref;
        else if (kind < 8 && !is_damaged)
            event[i].ref = open[--n_open];
        else if (kind < 8 && is_any)
            event[i].ref = ANY_REGION;
        message[i].tag = i;
    }
}

/* Messages of tree t that are in a call of it which is a vertex. */
static size_t messages_told(const struct forest *f, uint32_t t, const struct call_view *calls)
{
    size_t n = 0;

    for (size_t m = 0; m < calls->n_messages; m++)
        for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++)
            n += calls->message[m].call == forest_row(f, t, v);
    return n;
}

/* The same calls after the run. */
static void compare_whole(const struct event_batch *batch, const struct definitions *defs,
                          const uint64_t *told)
{
    struct quality quality = {0};
    struct callstack *stack = callstack_new();
    struct calls calls = {0};
    struct forest f = {0};
    struct call_view view;

    callstack_begin(stack, &calls, &quality);
    callstack_push(stack, batch, 0, batch->n);
    callstack_end(stack);
    view = calls_view(&calls);
    forest_add(&f, 0, &view, 1, defs);
    for (uint32_t t = 0; t < f.n_trees; t++) {
        assert_int_equal(told[1], f.call[t]);
        assert_int_equal(told[3], f.tracer_ns[t]);
        assert_int_equal(told[4], forest_n_rows(&f, t));
        assert_int_equal(told[5], f.n_messages[t]);
        told += 6;
        for (uint32_t v = f.first[t]; v < f.first[t + 1]; v++, told += 5) {
            assert_int_equal(told[0], f.region[v]);
            assert_int_equal(told[1], forest_row(&f, t, v));
            assert_int_equal(told[3], f.exclusive_ns[v]);
            assert_int_equal(told[0], calls.region[told[1]]);
        }
        told += 2 * messages_told(&f, t, &view);
    }
    forest_release(&f);
    calls_release(&calls);
    callstack_free(stack);
}

static void what_pairs_up_may_be_cut_anywhere(void **state)
{
    static uint64_t whole[MAX_TOLD], pieces[MAX_TOLD];
    struct event event[N_EVENTS];
    struct message message[N_EVENTS] = {{0}};
    struct event_batch batch = {.event = event, .n = N_EVENTS, .message = message};
    struct region regions[] = {{.name = "a", .short_name = "a", .kind = REGION_USER},
                               {.name = "foi", .short_name = "foi", .kind = REGION_USER},
                               {.name = "FLUSH", .short_name = "FLUSH", .kind = REGION_TRACER},
                               {.name = "b", .short_name = "b", .kind = REGION_USER}};
    const struct definitions with_tracer = {.region = regions};
    const struct definitions *defs_of[] = {NULL, &with_tracer};
    size_t n_told = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng = {seed};
        size_t n;

        make_events(event, message, false, &rng);
        n = run_cut(&batch, defs_of[seed % 2], 0, &rng, whole);
        n_told += n;
        compare_whole(&batch, defs_of[seed % 2], whole);
        for (double cut = 0.01; cut < 2; cut *= 4) {
            assert_int_equal(run_cut(&batch, defs_of[seed % 2], cut, &rng, pieces), n);
            assert_memory_equal(whole, pieces, n * sizeof *whole);
        }
    }
    assert_true(n_told > 300 * 100);
}

/*
 * Three executions of region 1 in 0, each with a call of 3; the second is cut in a later step
 * than it began in.
 */
static void an_execution_that_is_cut_is_none_and_keeps_its_number(void **state)
{
    struct event event[] = {{0, EVENT_ENTER, 0},  {1, EVENT_ENTER, 1},  {2, EVENT_ENTER, 3},
                            {3, EVENT_LEAVE, 3},  {4, EVENT_LEAVE, 1},  {5, EVENT_ENTER, 1},
                            {6, EVENT_ENTER, 3},  {7, EVENT_LEAVE, 3},  {9, EVENT_ENTER, 1},
                            {10, EVENT_ENTER, 3}, {11, EVENT_LEAVE, 3}, {12, EVENT_LEAVE, 1},
                            {13, EVENT_LEAVE, 0}};
    struct event_batch batch = {.event = event, .n = sizeof event / sizeof *event};
    struct callstack *stack = callstack_new();
    struct calls calls = {.has_steps = true};
    struct quality quality = {0};
    struct live_forest lf, outer;

    (void)state;
    callstack_begin(stack, &calls, &quality);
    live_forest_init(&lf, 1);
    live_forest_init(&outer, 0);
    live_forest_count_from(&lf, 0, 40);
    callstack_push(stack, &batch, 0, 7);
    callstack_step(stack);
    live_forest_add(&lf, 0, &calls, NULL);
    live_forest_add(&outer, 0, &calls, NULL);
    assert_int_equal(lf.forest.n_trees, 1);
    assert_int_equal(lf.forest.index[0], 40);
    callstack_next(stack);
    live_forest_clear(&lf);
    callstack_push(stack, &batch, 7, 8);
    callstack_cut(stack, 1, 8);
    callstack_push(stack, &batch, 8, batch.n);
    callstack_step(stack);
    live_forest_add(&lf, 0, &calls, NULL);
    live_forest_add(&outer, 0, &calls, NULL);
    assert_int_equal(lf.forest.n_trees, 1);
    assert_int_equal(lf.forest.index[0], 42);
    assert_int_equal(lf.forest.root_ns[0], 3);
    assert_int_equal(lf.forest.first[1], 2);
    assert_int_equal(lf.n_open, 0);
    assert_int_equal(outer.forest.n_trees, 1);
    for (uint32_t v = 0; v < outer.forest.n; v++)
        assert_true(outer.forest.exclusive_ns[v] <= 13);
    live_forest_release(&lf);
    live_forest_release(&outer);
    calls_release(&calls);
    callstack_free(stack);
}

/* The calls of a step that has all events, against those of the whole trace. */
static void damage_in_a_step_is_repaired_as_after_the_run(void **state)
{
    struct event event[N_EVENTS];
    struct message message[N_EVENTS] = {{0}};
    struct event_batch batch = {.event = event, .n = N_EVENTS, .message = message};
    struct callstack *stack = callstack_new();
    uint64_t n_repaired = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct calls step = {.has_steps = true}, whole = {0};
        struct quality in_step = {0}, after = {0};
        struct rng rng = {seed};

        make_events(event, message, true, &rng);
        callstack_begin(stack, &whole, &after);
        callstack_push(stack, &batch, 0, batch.n);
        callstack_end(stack);
        callstack_begin(stack, &step, &in_step);
        callstack_push(stack, &batch, 0, batch.n);
        callstack_end(stack);
        callstack_step(stack);
        assert_memory_equal(&in_step, &after, sizeof after);
        assert_int_equal(step.n, whole.n);
        assert_memory_equal(step.inclusive_ns, whole.inclusive_ns, 8 * whole.n);
        assert_memory_equal(step.subtree_len, whole.subtree_len, 4 * whole.n);
        n_repaired += after.n[QUALITY_missing_leave];
        calls_release(&step);
        calls_release(&whole);
    }
    assert_true(n_repaired > 300);
    callstack_free(stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_cut_anywhere_and_trees_are_the_same),
        cmocka_unit_test(long_executions_keep_their_first_calls),
        cmocka_unit_test(executions_that_began_before_are_left_out),
        cmocka_unit_test(what_pairs_up_may_be_cut_anywhere),
        cmocka_unit_test(an_execution_that_is_cut_is_none_and_keeps_its_number),
        cmocka_unit_test(damage_in_a_step_is_repaired_as_after_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
