/* Who waits for whom in what PyTorch and JAX write: for autograd, and for the call that launched. */
#include "trace/source.h"

#include "sample_chrome.h"
#include "test.h"

#define CALL(tid, from, took, name)                                                            \
    "{\"ph\":\"X\",\"pid\":7,\"tid\":" #tid ",\"ts\":" #from ",\"dur\":" #took                 \
    ",\"name\":\"" name "\"},"
#define BACK "autograd::engine::evaluate_function: "

/* Two passes; in the first the thread that waits does what is left to the CPU. */
static void who_asks_autograd_to_go_back_waits_for_it(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s,
        "{\"traceEvents\":[" CALL(7, 0, 2, "forward") CALL(8, 4, 2, BACK "Mm")
            CALL(8, 5, 1, "mm") CALL(8, 7, 3, BACK "Add") CALL(7, 8, 1, BACK "AccumulateGrad")
                CALL(7, 12, 2, "forward") CALL(8, 15, 1, BACK "Mm")
                    CALL(7, 17, 1, "step") "{\"ph\":\"M\",\"pid\":7,\"name\":\"process_"
                                           "name\",\"args\":{\"name\":\"p\"}}]}");
    assert_string_equal(
        sample_chrome_events(&s, 0, NULL),
        "forward+0 forward-2000 fork@4000 begin@4000 wait for autograd+4000 " BACK
        "AccumulateGrad+8000 " BACK "AccumulateGrad-9000 "
        "wait for autograd-10000 end@10000 join@10000 "
        "forward+12000 forward-14000 fork@15000 begin@15000 "
        "wait for autograd+15000 wait for autograd-16000 end@16000 join@16000 "
        "step+17000 step-18000");
    assert_string_equal(sample_chrome_events(&s, 1, NULL),
                        "begin@4000 " BACK "Mm+4000 mm+5000 mm-6000 " BACK "Mm-6000 " BACK
                        "Add+7000 " BACK "Add-10000 end@10000 "
                        "begin@15000 " BACK "Mm+15000 " BACK "Mm-16000 end@16000");
    assert_true(s.defs.region[names_find(&s.defs.names, "wait for autograd")].is_barrier);
    source_close(&s);
}

/* It was seen at work in the pass, or not behind it. */
static void who_is_at_work_does_not_wait_for_autograd(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[" CALL(7, 0, 2, "forward") CALL(8, 4, 4, BACK "Mm")
                               CALL(7, 5, 1, "other") CALL(7, 9, 1, "step")
                                   CALL(8, 11, 1, BACK "Mm") "]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL),
                        "forward+0 forward-2000 other+5000 other-6000 step+9000 step-10000");
    source_close(&s);
}

#define FORWARD(tid, ts, number)                                                               \
    "{\"ph\":\"s\",\"id\":" #number ",\"pid\":7,\"tid\":" #tid ",\"ts\":" #ts                  \
    ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\"},"

/* A part of the model is on the CPU: what it goes back through by itself is its own time. */
static void what_a_thread_goes_back_through_itself_is_no_wait(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[" CALL(7, 0, 2, "forward") CALL(7, 4, 2, BACK "Loss")
                               CALL(8, 7, 3, BACK "Mm") CALL(7, 11, 20, BACK "Embedding")
                                   CALL(7, 32, 1, "step") "]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL),
                        "forward+0 forward-2000 " BACK "Loss+4000 " BACK "Loss-6000 fork@7000 "
                        "begin@7000 wait for autograd+7000 wait for autograd-10000 end@10000 "
                        "join@10000 " BACK "Embedding+11000 " BACK "Embedding-31000 "
                        "step+32000 step-33000");
    source_close(&s);
}

/* A thread that trains by itself on a CPU; two that use one autograd; and no pass at all. */
static void who_does_not_ask_does_not_wait_for_autograd(void **state)
{
    static const char *const text[] = {
        "[" CALL(7, 0, 1, "begin") FORWARD(8, 2, 1) CALL(8, 2, 2, "forward")
            CALL(8, 5, 3, BACK "Mm") CALL(7, 9, 1, "end") "]",
        "[" CALL(7, 0, 2, "forward") FORWARD(7, 0, 1) CALL(9, 0, 2, "forward") FORWARD(9, 0, 2)
            CALL(8, 4, 2, BACK "Mm") CALL(7, 8, 1, "step") CALL(9, 8, 1, "step") "]",
        "[" CALL(7, 0, 2, "forward") FORWARD(7, 0, 1) CALL(8, 4, 2, BACK "Mm")
            CALL(7, 8, 1, "a") CALL(8, 10, 2, "copy") CALL(7, 14, 1, "b") "]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct source s;
        const char *events;

        sample_chrome_open(&s, text[i]);
        events = sample_chrome_events(&s, 0, NULL);
        if (i == 2)
            assert_string_equal(
                events, "forward+0 forward-2000 fork@4000 begin@4000 wait for "
                        "autograd+4000 wait for autograd-6000 end@6000 join@6000 a+8000 "
                        "a-9000 b+14000 b-15000");
        else
            assert_null(strstr(events, "wait"));
        source_close(&s);
    }
}

/* All operations of a graph have the number of its launch; an arrow leads to one of them. */
static void what_was_launched_is_known_by_its_number(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s,
        "[{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"cudaGraphLaunch\","
        "\"cat\":\"cuda_runtime\",\"args\":{\"correlation\":5}},"
        "{\"ph\":\"s\",\"id\":5,\"pid\":7,\"tid\":7,\"ts\":1,\"cat\":\"ac2g\"},"
        "{\"ph\":\"f\",\"id\":5,\"pid\":0,\"tid\":1,\"ts\":4,\"cat\":\"ac2g\"},"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":4,\"dur\":1,\"name\":\"k\","
        "\"cat\":\"kernel\",\"args\":{\"correlation\":5}},"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":2,\"ts\":6,\"dur\":1,\"name\":\"k\","
        "\"cat\":\"kernel\",\"args\":{\"correlation\":5}}]");
    assert_int_equal(s.defs.n_dependencies, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct dependency *d = &s.defs.dependency[i];

        assert_int_equal(d->on_begin_ns, 0);
        assert_int_equal(d->begin_ns, i == 0 ? 3000 : 5000);
        assert_int_equal(d->location, i + 1);
        assert_int_equal(d->on_region, names_find(&s.defs.names, "cudaGraphLaunch"));
        assert_int_equal(d->kind, DEPENDENCY_BEGIN);
    }
    source_close(&s);
}

/* One operation, 3 us behind the call that launched it, with which the trace begins. */
static void assert_launched(const struct source *s)
{
    assert_int_equal(s->defs.n_dependencies, 1);
    assert_int_equal(s->defs.dependency[0].begin_ns, 3000);
    assert_int_equal(s->defs.dependency[0].on_begin_ns, 0);
}

/* JAX's have no category: what is on a device was launched, what is not launches. */
static void what_jax_launched_is_known_by_its_number(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":"
            "\"/device:GPU:0\"}},"
            "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":"
            "\"hipModuleLaunchKernel\",\"args\":{\"correlation_id\":\"243\"}},"
            "{\"ph\":\"X\",\"pid\":2,\"tid\":16,\"ts\":4,\"dur\":1,\"name\":\"fusion.kd\","
            "\"args\":{\"correlation_id\":243}}]");
    assert_launched(&s);
    assert_int_equal(s.defs.dependency[0].location, 1);
    source_close(&s);
}

/* What says that it is a kernel is none of XLA's, whatever its process is called. */
static void what_is_a_kernel_was_launched(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"launch\","
            "\"cat\":\"cuda_runtime\",\"args\":{\"correlation\":5}},"
            "{\"ph\":\"X\",\"pid\":7,\"tid\":9,\"ts\":4,\"dur\":1,\"name\":\"k\","
            "\"cat\":\"kernel\",\"args\":{\"correlation_id\":5}}]");
    assert_launched(&s);
    source_close(&s);
}

/* Processes may say who they are behind their calls. */
static void what_jax_launched_is_known_in_any_order(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"X\",\"pid\":2,\"tid\":16,\"ts\":4,\"dur\":1,\"name\":\"fusion\","
            "\"args\":{\"correlation_id\":243}},"
            "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":"
            "\"hipModuleLaunchKernel\",\"args\":{\"correlation_id\":\"243\"}},"
            "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":"
            "\"/device:GPU:0\"}}]");
    assert_launched(&s);
    source_close(&s);
}

#define LAUNCH(pid, ts)                                                                        \
    "{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":" #pid ",\"ts\":" #ts                              \
    ",\"dur\":2,\"name\":\"cudaLaunchKernel\",\"cat\":\"cuda_runtime\",\"args\":{"             \
    "\"correlation\":5}},"
#define ARROW(ph, id, pid, ts)                                                                 \
    "{\"ph\":\"" ph "\",\"id\":" #id ",\"pid\":" #pid ",\"tid\":" #pid ",\"ts\":" #ts          \
    ",\"cat\":\"ac2g\"},"
#define KERNEL(pid, ts)                                                                        \
    "{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":" #pid ",\"ts\":" #ts                              \
    ",\"dur\":1,\"name\":\"k\",\"cat\":\"kernel\",\"args\":{\"correlation\":5}},"

/* Two files in one, with processes and arrows told apart, and the numbers of launches not. */
static void numbers_of_several_processes_say_nothing(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[" LAUNCH(7, 1) ARROW("s", 5, 7, 1) KERNEL(70, 4)
                               ARROW("f", 5, 70, 4) LAUNCH(8, 11) ARROW("s", 105, 8, 11)
                                   KERNEL(80, 14) ARROW("f", 105, 80, 14) "{}]");
    assert_int_equal(s.defs.n_dependencies, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(s.defs.dependency[i].begin_ns - s.defs.dependency[i].on_begin_ns,
                         3000);
    source_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_autograd_to_go_back_waits_for_it),
        cmocka_unit_test(who_is_at_work_does_not_wait_for_autograd),
        cmocka_unit_test(what_a_thread_goes_back_through_itself_is_no_wait),
        cmocka_unit_test(who_does_not_ask_does_not_wait_for_autograd),
        cmocka_unit_test(what_was_launched_is_known_by_its_number),
        cmocka_unit_test(what_jax_launched_is_known_by_its_number),
        cmocka_unit_test(what_is_a_kernel_was_launched),
        cmocka_unit_test(what_jax_launched_is_known_in_any_order),
        cmocka_unit_test(numbers_of_several_processes_say_nothing),
    };

    return cmocka_run_group_tests(tests, sample_chrome_setup, sample_chrome_teardown);
}
