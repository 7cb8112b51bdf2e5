/*
 * Traces are written as sentences: "a+ b+ b- a-" is enter a, enter b, leave b, leave a, one
 * nanosecond apart from 1 on; "a+@50" says the time. The calls come back as "a[1,4](b[2,3])".
 */
#include "stack/callstack.h"

#include "test.h"

#define MAX_EVENTS 4096

struct trace {
    struct event event[MAX_EVENTS];
    size_t n;
};

static uint32_t region_of(const char *word)
{
    return (uint32_t)(word[0] - 'a');
}

static void parse(const char *sentence, struct trace *trace)
{
    char copy[1024], *rest = copy, *word;
    uint64_t time = 0;

    trace->n = 0;
    snprintf(copy, sizeof copy, "%s", sentence);
    while ((word = strsep(&rest, " ")) != NULL) {
        char *at = strchr(word, '@');

        time = at ? strtoull(at + 1, NULL, 10) : time + 1;
        trace->event[trace->n++] = (struct event){
            .time_ns = time,
            .kind = word[1] == '+' ? EVENT_ENTER : EVENT_LEAVE,
            .ref = word[0] == '*' ? ANY_REGION : region_of(word),
        };
    }
}

/* The caller of every row, both ways of asking. */
static const uint32_t *callers_of(const struct calls *calls)
{
    static uint32_t callers[MAX_EVENTS];
    struct call_view view = calls_view(calls);

    calls_callers(&view, callers);
    for (uint32_t i = 0; i < calls->n; i++)
        assert_int_equal(calls_caller(&view, i), callers[i]);
    return callers;
}

static char *print(const struct calls *calls, uint32_t begin, uint32_t end, uint32_t caller,
                   unsigned depth, char *out)
{
    for (uint32_t i = begin; i < end; i += calls->subtree_len[i]) {
        assert_int_equal(callers_of(calls)[i], caller);
        assert_int_equal(calls->depth[i], depth);
        assert_true(calls->subtree_len[i] >= 1 && i + calls->subtree_len[i] <= end);
        out += sprintf(out, "%s%c[%d,%d]", i > begin ? " " : "", 'a' + (int)calls->region[i],
                       (int)calls->enter_ns[i],
                       (int)(calls->enter_ns[i] + calls->inclusive_ns[i]));
        if (calls->subtree_len[i] > 1) {
            *out++ = '(';
            out = print(calls, i + 1, i + calls->subtree_len[i], i, depth + 1, out);
            *out++ = ')';
        }
    }
    *out = '\0';
    return out;
}

/* Functions of the sentences: `p` and `q` are polls of MPI, all others are not. */
static struct region function[26];
static const struct definitions polls = {.names = {.n = 26}, .region = function};

static int name_functions(void **state)
{
    (void)state;
    for (int i = 0; i < 26; i++)
        function[i] = (struct region){.name = "f", .function = "f"};
    function['p' - 'a'] = (struct region){.function = "MPI_Test", .kind = REGION_MPI};
    function['q' - 'a'] = (struct region){.function = "MPI_Iprobe", .kind = REGION_MPI};
    return 0;
}

/* Builds the calls in batches of `size` events and prints them. */
static const char *build(const char *sentence, size_t size, struct quality *quality)
{
    static char out[MAX_EVENTS * 8];
    static struct trace trace;
    struct callstack *stack = callstack_new();
    struct calls calls = {0};

    *quality = (struct quality){0};
    parse(sentence, &trace);
    callstack_polls(stack, &polls);
    callstack_begin(stack, &calls, quality);
    for (size_t i = 0; i < trace.n; i += size) {
        struct event_batch batch = {.event = trace.event + i,
                                    .n = trace.n - i < size ? trace.n - i : size};

        callstack_push(stack, &batch, 0, batch.n);
    }
    callstack_end(stack);
    print(&calls, 0, calls.n, NO_CALL, 0, out);
    calls_release(&calls);
    callstack_free(stack);
    return out;
}

#define assert_calls(sentence, want, quality)                                                  \
    do {                                                                                       \
        assert_string_equal(build(sentence, 1, quality), want);                                \
        assert_string_equal(build(sentence, 100, quality), want);                              \
    } while (0)

static void calls_that_pair_up_are_nested(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ c+ c- b- b+ b- a- a+ a-", "a[1,8](b[2,5](c[3,4]) b[6,7]) a[9,10]", &q);
    assert_false(quality_is_damaged(&q));
    assert_calls("a+ a+ a- a-", "a[1,4](a[2,3])", &q);
    assert_calls("a+ b+ *- *-", "a[1,4](b[2,3])", &q);
    assert_false(quality_is_damaged(&q));
}

static void a_leave_without_enter_is_skipped(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("x- a+ x- b+ b- x- a- x- *-", "a[2,7](b[4,5])", &q);
    assert_int_equal(q.n[QUALITY_unmatched_leave], 5);
}

static void a_missing_leave_ends_with_its_caller(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ c+ c- a- d+ d-", "a[1,5](b[2,5](c[3,4])) d[6,7]", &q);
    assert_int_equal(q.n[QUALITY_missing_leave], 1);
}

/* The trace knows from other calls that a makes b and b makes x, so b cannot make b. */
static void a_missing_leave_does_not_swallow_what_its_caller_did_next(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ x+ x- b- a- a+ b+ x+ x- b+ x+ x- b- a-",
                 "a[1,6](b[2,5](x[3,4])) a[7,15](b[8,10](x[9,10]) b[11,14](x[12,13]))", &q);
    assert_int_equal(q.n[QUALITY_missing_leave], 1);
}

static void two_missing_leaves_in_a_row_are_repaired(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ x+ x- b- a- a+ b+ x+ b+ x+ x- b- a-",
                 "a[1,6](b[2,5](x[3,4])) a[7,14](b[8,9](x[9,9]) b[10,13](x[11,12]))", &q);
    assert_int_equal(q.n[QUALITY_missing_leave], 2);
}

static void every_leave_of_one_function_may_be_missing(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ x+ x- b+ x+ x- b+ x+ x- a-",
                 "a[1,11](b[2,4](x[3,4]) b[5,7](x[6,7]) b[8,11](x[9,10]))", &q);
    assert_int_equal(q.n[QUALITY_missing_leave], 3);
}

/* The leave of b is there, but names z. */
static void a_leave_with_a_damaged_name_is_used(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ x+ x- z- c+ c- a-", "a[1,8](b[2,5](x[3,4]) c[6,7])", &q);
}

static void crossed_leaves_are_uncrossed(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("w+ a+ a- f+ w- f-", "w[1,6](a[2,3] f[4,6])", &q);
    assert_int_equal(q.n[QUALITY_crossed_leave], 1);
    assert_int_equal(q.n[QUALITY_open_at_end], 0);
    assert_calls("m+ w+ f+ w- f- g+ g- m-", "m[1,8](w[2,5](f[3,5]) g[6,7])", &q);
    assert_int_equal(q.n[QUALITY_crossed_leave], 1);
    assert_int_equal(q.n[QUALITY_missing_leave], 0); /* it has come, too early */
}

/* A leave of m in the middle of everything: what follows stays where it belongs. */
static void a_spurious_leave_shifts_nothing(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("m+ s+ x+ m- x- x+ x- s- s+ s- m-", "m[1,11](s[2,8](x[3,5] x[6,7]) s[9,10])",
                 &q);
    assert_int_equal(q.n[QUALITY_crossed_leave], 1);
}

static void what_is_open_at_the_end_ends_there(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ b+ c+ c- b+", "a[1,5](b[2,5](c[3,4] b[5,5]))", &q);
    assert_int_equal(q.n[QUALITY_open_at_end], 3);
}

/* A killed program: x is made outside m and inside it, and m never ends properly. */
static void what_is_open_at_the_end_keeps_its_calls(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("x+ x- m+ y+ y- x+ x- y+ y- s+",
                 "x[1,2] m[3,10](y[4,5] x[6,7] y[8,9] s[10,10])", &q);
}

static void too_deep_calls_are_left_out(void **state)
{
    enum { DEEP = 70000 };
    struct event *event = calloc(2 * DEEP + 2, sizeof *event);
    struct event_batch batch = {.event = event};
    struct callstack *stack = callstack_new();
    struct calls calls = {0};
    struct quality q = {0};

    (void)state;
    for (uint32_t i = 0; i < DEEP; i++)
        event[batch.n++] = (struct event){i, EVENT_ENTER, 0};
    for (uint32_t i = 0; i < DEEP; i++)
        event[batch.n++] = (struct event){DEEP + i, EVENT_LEAVE, 0};
    event[batch.n++] = (struct event){2 * DEEP, EVENT_ENTER, 1};
    event[batch.n++] = (struct event){2 * DEEP + 1, EVENT_LEAVE, 1};
    callstack_begin(stack, &calls, &q);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_end(stack);
    assert_int_equal(calls.n, DEEPEST_CALL + 1);
    assert_int_equal(q.n[QUALITY_too_deep], DEEP - DEEPEST_CALL);
    assert_int_equal(q.n[QUALITY_unmatched_leave], 0);
    assert_int_equal(calls.inclusive_ns[0], 2 * DEEP - 1);
    assert_int_equal(calls.depth[DEEPEST_CALL], 0);
    calls_release(&calls);
    callstack_free(stack);
    free(event);
}

static void messages_belong_to_the_innermost_call(void **state)
{
    struct event event[] = {
        {10, EVENT_ENTER, 0},   {11, EVENT_MESSAGE, 0}, {20, EVENT_ENTER, 1},
        {21, EVENT_MESSAGE, 1}, {22, EVENT_SENT, 0},    {30, EVENT_COLLECTIVE, 0},
        {31, EVENT_LEAVE, 1},   {32, EVENT_LEAVE, 0},   {33, EVENT_MESSAGE, 0},
    };
    struct message message[] = {{.kind = MESSAGE_SEND}, {.kind = MESSAGE_RECV, .begin_ns = 15}};
    struct collective collective[] = {{.begin_ns = 29}};
    struct event_batch batch = {
        .event = event, .n = 9, .message = message, .collective = collective};
    struct callstack *stack = callstack_new();
    struct calls calls = {0};
    struct quality q = {0};

    (void)state;
    callstack_begin(stack, &calls, &q);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_end(stack);
    assert_int_equal(calls.n_messages, 3);
    assert_int_equal(calls.message[0].call, 0);
    assert_int_equal(calls.message[0].begin_ns, 11);
    assert_int_equal(calls.message[0].end_ns, 22);
    assert_int_equal(calls.message[1].call, 1);
    assert_int_equal(calls.message[1].begin_ns, 15);
    assert_int_equal(calls.message[1].end_ns, 21);
    assert_int_equal(calls.message[2].call, NO_CALL);
    assert_int_equal(calls.collective[0].call, 1);
    assert_int_equal(calls.collective[0].begin_ns, 29);
    assert_int_equal(calls.collective[0].end_ns, 30);
    calls_release(&calls);
    callstack_free(stack);
}

/* Whatever comes in, the columns are a forest and no call outlives its caller. */
static void noise_becomes_a_forest(void **state)
{
    static struct event event[MAX_EVENTS];
    struct callstack *stack = callstack_new();
    struct calls calls = {0};

    (void)state;
    srand(7);
    for (int round = 0; round < 500; round++) {
        struct event_batch batch = {.event = event, .n = (size_t)(rand() % MAX_EVENTS)};
        struct quality q = {0};
        uint32_t n_regions = (uint32_t)(2 + rand() % 6);
        const uint32_t *callers;

        for (size_t i = 0; i < batch.n; i++)
            event[i] = (struct event){i / 2, rand() % 2 ? EVENT_ENTER : EVENT_LEAVE,
                                      (uint32_t)rand() % n_regions};
        callstack_begin(stack, &calls, &q);
        callstack_push(stack, &batch, 0, batch.n);
        callstack_end(stack);
        callers = callers_of(&calls);
        for (uint32_t i = 0; i < calls.n; i++) {
            uint32_t p = callers[i];

            assert_true(i + calls.subtree_len[i] <= calls.n);
            if (p == NO_CALL) {
                assert_int_equal(calls.depth[i], 0);
                continue;
            }
            assert_true(p < i && i + calls.subtree_len[i] <= p + calls.subtree_len[p]);
            assert_int_equal(calls.depth[i], calls.depth[p] + 1);
            assert_true(calls.enter_ns[i] + calls.inclusive_ns[i] <=
                        calls.enter_ns[p] + calls.inclusive_ns[p]);
        }
    }
    calls_release(&calls);
    callstack_free(stack);
}

/* Of calls that are innermost when it is said; not in steps, nor of a region that is not open.
 */
static void estimates_belong_to_their_calls(void **state)
{
    struct time_estimate said[] = {{0, 0, 7, ESTIMATE_EARLIEST},
                                   {1, 0, 9, ESTIMATE_MIDDLE},
                                   {2, 1, 1, ESTIMATE_EITHER},
                                   {1, 1, 5, ESTIMATE_EARLIEST}};
    struct event event[] = {
        {1, EVENT_ENTER, 0},    {1, EVENT_ESTIMATE, 0}, {2, EVENT_ENTER, 1},
        {2, EVENT_ESTIMATE, 1}, {3, EVENT_ESTIMATE, 2}, {3, EVENT_ESTIMATE, 3},
        {3, EVENT_LEAVE, 1},    {4, EVENT_LEAVE, 0},    {4, EVENT_ESTIMATE, 3},
    };
    const struct event_batch batch = {
        .event = event, .n = 9, .estimate = said, .n_estimates = 4};
    const struct call_estimate expected[] = {
        {0, 0, PLACED_OWN, 7}, {1, 0, PLACED_MIDDLE, 9}, {1, 1, PLACED_OTHERS, 5}};

    (void)state;
    for (int has_steps = 0; has_steps < 2; has_steps++) {
        struct callstack *stack = callstack_new();
        struct calls calls = {.has_steps = has_steps};
        struct quality quality = {0};

        callstack_begin(stack, &calls, &quality);
        callstack_push(stack, &batch, 0, 3);
        callstack_push(stack, &batch, 3, 9);
        callstack_end(stack);
        assert_int_equal(calls.n, 2);
        assert_int_equal(calls.n_estimates, has_steps ? 0 : 3);
        if (!has_steps)
            assert_memory_equal(calls.estimate, expected, sizeof expected);
        callstack_free(stack);
        calls_release(&calls);
    }
}

/* Not at once: what announces them may be wrong. */
static void room_is_made_for_the_calls_that_are_expected_once_some_are_there(void **state)
{
    struct calls calls = {.n_expected = 100000};

    (void)state;
    calls_reserve(&calls, 4096);
    assert_int_equal(calls.cap, 4096);
    calls.n = 4096;
    calls_reserve(&calls, 1);
    assert_int_equal(calls.cap, 8192); /* 4096 are less than 1/16 */
    calls.n = 8192;
    calls_reserve(&calls, 1);
    assert_int_equal(calls.cap, 100000);
    calls.n = 100000;
    calls_reserve(&calls, 1);
    assert_int_equal(calls.cap, 200000); /* there are more than expected */
    calls_release(&calls);
}

/* Of one function, at once, with nothing in between. */
static void polls_that_follow_each_other_are_one_call(void **state)
{
    struct quality q;

    (void)state;
    assert_calls("a+ p+ p- p+ p- p+ p- b+ b- a-", "a[1,10](p[2,7] b[8,9])", &q);
    assert_int_equal(q.n[QUALITY_polls], 2);
    assert_false(quality_is_damaged(&q));
    assert_calls("a+ p+ p- q+ q- p+ p- b+ b- p+ p- a-",
                 "a[1,12](p[2,3] q[4,5] p[6,7] b[8,9] p[10,11])", &q);
    assert_calls("a+ p+ b+ b- p- p+ p- a-", "a[1,8](p[2,5](b[3,4]) p[6,7])", &q);
    assert_calls("a+ p+ p- a- p+ p- a+ a-", "a[1,4](p[2,3]) p[5,6] a[7,8]", &q);
    assert_calls("a+ a- a+ a-", "a[1,2] a[3,4]", &q);
    assert_calls("p+@10 p-@20 p+@20020 p-@20030", "p[10,20030]", &q);
    assert_calls("p+@10 p-@20 p+@20021 p-@20030", "p[10,20] p[20021,20030]", &q);
    assert_calls("p+@0 p-@800000 p+@1000000 p-@1000001", "p[0,1000001]", &q);
    assert_calls("p+@0 p-@800000 p+@1000001 p-@1000002", "p[0,800000] p[1000001,1000002]", &q);
    assert_calls(
        "p+@0 p-@800000 p+@900000 p-@900001 p+@1000001 p-@1000002 p+@1050000 p-@1050001",
        "p[0,1000002] p[1050000,1050001]", &q);
}

/* A message came: what follows waits for another. */
static void a_poll_that_completes_something_is_the_last(void **state)
{
    struct message message = {.kind = MESSAGE_RECV, .begin_ns = 1};
    struct event event[] = {{1, EVENT_ENTER, 'p' - 'a'}, {2, EVENT_LEAVE, 'p' - 'a'},
                            {3, EVENT_ENTER, 'p' - 'a'}, {4, EVENT_MESSAGE, 0},
                            {5, EVENT_LEAVE, 'p' - 'a'}, {6, EVENT_ENTER, 'p' - 'a'},
                            {7, EVENT_LEAVE, 'p' - 'a'}};
    struct event_batch batch = {.event = event,
                                .n = sizeof event / sizeof *event,
                                .message = &message,
                                .n_messages = 1};
    struct callstack *stack = callstack_new();
    struct quality quality = {0};
    struct calls calls = {0};
    char out[64];

    (void)state;
    callstack_polls(stack, &polls);
    callstack_begin(stack, &calls, &quality);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_end(stack);
    print(&calls, 0, calls.n, NO_CALL, 0, out);
    assert_string_equal(out, "p[1,5] p[6,7]");
    assert_int_equal(calls.message[0].call, 0);
    calls_release(&calls);
    callstack_free(stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_belong_to_their_calls),
        cmocka_unit_test(calls_that_pair_up_are_nested),
        cmocka_unit_test(a_leave_without_enter_is_skipped),
        cmocka_unit_test(a_missing_leave_ends_with_its_caller),
        cmocka_unit_test(a_missing_leave_does_not_swallow_what_its_caller_did_next),
        cmocka_unit_test(two_missing_leaves_in_a_row_are_repaired),
        cmocka_unit_test(every_leave_of_one_function_may_be_missing),
        cmocka_unit_test(a_leave_with_a_damaged_name_is_used),
        cmocka_unit_test(crossed_leaves_are_uncrossed),
        cmocka_unit_test(a_spurious_leave_shifts_nothing),
        cmocka_unit_test(what_is_open_at_the_end_ends_there),
        cmocka_unit_test(what_is_open_at_the_end_keeps_its_calls),
        cmocka_unit_test(too_deep_calls_are_left_out),
        cmocka_unit_test(messages_belong_to_the_innermost_call),
        cmocka_unit_test(noise_becomes_a_forest),
        cmocka_unit_test(polls_that_follow_each_other_are_one_call),
        cmocka_unit_test(a_poll_that_completes_something_is_the_last),
        cmocka_unit_test(room_is_made_for_the_calls_that_are_expected_once_some_are_there),
    };

    return cmocka_run_group_tests(tests, name_functions, NULL);
}
