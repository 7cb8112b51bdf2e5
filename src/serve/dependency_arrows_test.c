/* Dependencies between the calls of a small random run, in no order, against the definition. */
#include "serve/arrows.h"

#include "base/mem.h"
#include "base/rng.h"
#include "explain/trace_view.h"

#include "sample_columns.h"
#include "test.h"

#define REGIONS 5u
#define MAX_ARROWS 400u

static const uint32_t both[] = {0, 1};

struct linked {
    struct sample_columns sample;
    struct dependency dependency[MAX_ARROWS];
    struct shared_cache cache;
    const struct dependency_ends *ends;
};

static void linked_init(struct linked *x)
{
    *x = (struct linked){0};
    sample_columns_init(&x->sample, 300, 3);
    x->sample.columns.dependency = x->dependency;
    shared_cache_init(&x->cache);
}

/* The call `on` of location 0 launched the call `who` of location 1, or ... */
static void link_calls(struct linked *x, uint32_t on, uint32_t who, enum dependency_kind kind)
{
    struct columns *columns = &x->sample.columns;
    struct call_view from = columns_view(columns, 0), to = columns_view(columns, 1);

    x->dependency[columns->n_dependencies++] =
        (struct dependency){.begin_ns = to.enter_ns[who],
                            .on_begin_ns = from.enter_ns[on],
                            .location = 1,
                            .on_location = 0,
                            .region = to.region[who],
                            .on_region = from.region[on],
                            .kind = kind};
}

static void linked_release(struct linked *x)
{
    dependency_ends_give_back(&x->cache, x->ends);
    shared_cache_release(&x->cache);
    sample_columns_release(&x->sample);
}

static struct dependency_arrows look(struct linked *x, uint64_t begin_ns, uint64_t end_ns,
                                     uint32_t n_locations, size_t most)
{
    struct dependency_window w = {begin_ns, end_ns, both, n_locations, REGIONS};
    struct dependency_arrows arrows = {0};

    dependency_arrows_of(&arrows, &x->sample.columns, x->ends, &w, most);
    return arrows;
}

static void take_ends(struct linked *x)
{
    x->ends = dependency_ends_take(&x->cache, &x->sample.columns);
}

/* Calls that are the first to begin when they do: what is linked is what is found. */
static uint32_t alone(const struct call_view *calls, uint32_t row)
{
    while (row > 0 && calls->enter_ns[row] == calls->enter_ns[row - 1])
        row--;
    return row;
}

static void arrows_go_from_begins_or_ends_as_their_kind_says(void **state)
{
    static const char *const names[] = {"order", "launch", "wait"};
    struct linked x;
    struct call_view from, to;
    struct dependency_arrows arrows;
    uint32_t on, who;

    (void)state;
    linked_init(&x);
    from = columns_view(&x.sample.columns, 0);
    to = columns_view(&x.sample.columns, 1);
    on = alone(&from, 20);
    who = alone(&to, 40);
    for (int kind = DEPENDENCY_END; kind <= DEPENDENCY_RETURN; kind++)
        link_calls(&x, on, who, (enum dependency_kind)kind);
    take_ends(&x);
    arrows = look(&x, 0, UINT64_MAX, 2, 100);
    assert_int_equal(arrows.n, 3);
    assert_int_equal(arrows.total, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct dependency_arrow *a = &arrows.arrow[i];
        bool is_launch = a->kind == DEPENDENCY_BEGIN, is_wait = a->kind == DEPENDENCY_RETURN;

        assert_int_equal(a->from, 0);
        assert_int_equal(a->to, 1);
        assert_int_equal(a->from_call, on);
        assert_int_equal(a->to_call, who);
        assert_int_equal(a->from_ns, is_launch ? from.enter_ns[on] : calls_leave(&from, on));
        assert_int_equal(a->to_ns, is_wait ? calls_leave(&to, who) : to.enter_ns[who]);
        assert_string_equal(dependency_kind_name(a->kind), names[a->kind]);
    }
    dependency_arrows_release(&arrows);
    arrows = look(&x, 0, UINT64_MAX, 1, 100);
    assert_int_equal(arrows.n, 0); /* the other location is not shown */
    dependency_arrows_release(&arrows);
    linked_release(&x);
}

/* Random ones, random windows: each that has an end in the window is there, once. */
static void a_window_has_all_with_an_end_in_it(void **state)
{
    struct linked x;
    struct rng rng = {7};

    (void)state;
    linked_init(&x);
    for (uint32_t i = 0; i < MAX_ARROWS; i++) {
        struct call_view from = columns_view(&x.sample.columns, 0);
        struct call_view to = columns_view(&x.sample.columns, 1);

        link_calls(&x, alone(&from, rng_below(&rng, from.n)), alone(&to, rng_below(&rng, to.n)),
                   DEPENDENCY_BEGIN);
    }
    take_ends(&x);
    for (int k = 0; k < 100; k++) {
        uint64_t begin = rng_below(&rng, (uint32_t)x.sample.end_ns);
        uint64_t end = begin + 1 + rng_below(&rng, (uint32_t)x.sample.end_ns / 4);
        struct dependency_arrows arrows = look(&x, begin, end, 2, MAX_ARROWS);
        size_t n = 0;

        for (uint32_t i = 0; i < MAX_ARROWS; i++) {
            const struct dependency *d = &x.dependency[i];

            n += (d->begin_ns >= begin && d->begin_ns < end) ||
                 (d->on_begin_ns >= begin && d->on_begin_ns < end);
        }
        assert_int_equal(arrows.n, n);
        assert_int_equal(arrows.total, n);
        for (size_t i = 1; i < arrows.n; i++)
            assert_true(arrows.arrow[i - 1].from_ns <= arrows.arrow[i].from_ns);
        dependency_arrows_release(&arrows);
        arrows = look(&x, begin, end, 2, 5);
        assert_int_equal(arrows.n, n < 5 ? n : 5);
        assert_int_equal(arrows.total, n);
        dependency_arrows_release(&arrows);
    }
    linked_release(&x);
}

static void a_call_has_what_it_launched_and_what_launched_it(void **state)
{
    struct linked x;
    struct call_view from, to;
    struct dependency_arrows arrows = {0};
    uint32_t on, who, other;

    (void)state;
    linked_init(&x);
    from = columns_view(&x.sample.columns, 0);
    to = columns_view(&x.sample.columns, 1);
    on = alone(&from, 20);
    who = alone(&to, 40);
    other = alone(&to, 80);
    link_calls(&x, on, who, DEPENDENCY_BEGIN);
    link_calls(&x, on, other, DEPENDENCY_BEGIN);
    link_calls(&x, alone(&from, 90), alone(&to, 10), DEPENDENCY_BEGIN);
    take_ends(&x);
    dependency_arrows_of_call(&arrows, &x.sample.columns, x.ends, 0, on, REGIONS);
    assert_int_equal(arrows.n, 2);
    assert_int_equal(arrows.arrow[0].to_call, who);
    assert_int_equal(arrows.arrow[1].to_call, other);
    dependency_arrows_release(&arrows);
    dependency_arrows_of_call(&arrows, &x.sample.columns, x.ends, 1, other, REGIONS);
    assert_int_equal(arrows.n, 1);
    assert_int_equal(arrows.arrow[0].from_call, on);
    dependency_arrows_release(&arrows);
    linked_release(&x);
}

/* Three calls in place of those of location 1. */
static void put_kernels(struct sample_columns *s)
{
    static const uint64_t enter_ns[] = {0, 1000, 4000}, inclusive_ns[] = {10000, 500, 1000};
    static const uint32_t subtree_len[] = {3, 1, 1};
    uint64_t first = s->index.range[1].first_call, *start = s->depth_start + SAMPLE_DEPTHS + 1;

    s->index.range[1].n_calls = 3;
    for (uint32_t i = 0; i < 3; i++) {
        s->enter_ns[first + i] = enter_ns[i];
        s->inclusive_ns[first + i] = inclusive_ns[i];
        s->subtree_len[first + i] = subtree_len[i];
        s->depth[first + i] = i > 0;
        s->by_depth[first + i] = i;
    }
    start[0] = 0;
    start[1] = 1;
    start[2] = start[3] = 3;
}

/*
 *     ns        0    1000  1500           4000    5000         10000
 *     annotation[=================================================]
 *       kernel       [=====]              [=======]
 *     launched at    ^ 600     ^ 2500   ^ 3600             ^ 9000
 *     is row         1         0        2                  0
 *
 * What launched a call says that it began up to a microsecond before it did.
 */
static void the_innermost_call_is_found_by_a_rounded_time(void **state)
{
    static const struct {
        uint64_t at_ns;
        uint32_t row;
    } cases[] = {{600, 1}, {2500, 0}, {3600, 2}, {9000, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct linked x;
        struct dependency_arrows arrows;

        linked_init(&x);
        put_kernels(&x.sample);
        link_calls(&x, 20, 1, DEPENDENCY_BEGIN);
        x.dependency[0].region = ANY_REGION;
        x.dependency[0].begin_ns = cases[i].at_ns;
        take_ends(&x);
        arrows = look(&x, 0, UINT64_MAX, 2, 1);
        assert_int_equal(arrows.n, 1);
        assert_int_equal(arrows.arrow[0].to_call, cases[i].row);
        dependency_arrows_release(&arrows);
        linked_release(&x);
    }
}

/* Numbers from a file that somebody else wrote. */
static void what_cannot_be_found_is_left_out(void **state)
{
    struct linked x;
    struct dependency_arrows arrows;

    (void)state;
    linked_init(&x);
    for (int i = 0; i < 5; i++)
        link_calls(&x, 20, 40, DEPENDENCY_BEGIN);
    x.dependency[0].on_location = 9;
    x.dependency[1].kind = 77;
    x.dependency[2].begin_ns = UINT64_MAX - 3;
    x.dependency[3].region = 4000;
    x.dependency[4].on_begin_ns = 1; /* nothing begins then */
    take_ends(&x);
    arrows = look(&x, 0, UINT64_MAX, 2, 100);
    assert_int_equal(arrows.n, 0);
    dependency_arrows_release(&arrows);
    linked_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrows_go_from_begins_or_ends_as_their_kind_says),
        cmocka_unit_test(a_window_has_all_with_an_end_in_it),
        cmocka_unit_test(a_call_has_what_it_launched_and_what_launched_it),
        cmocka_unit_test(the_innermost_call_is_found_by_a_rounded_time),
        cmocka_unit_test(what_cannot_be_found_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
