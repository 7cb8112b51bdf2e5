#include "trace/chrome/record_name.h"

#include "test.h"

static void check(const char *name, const char *want, bool is_step)
{
    char out[256];
    uint64_t number;

    assert_int_equal(record_name(name, out, sizeof out, &number), is_step);
    assert_string_equal(out, want);
}

static void steps_are_one_function(void **state)
{
    char out[32];
    uint64_t number = 0;

    (void)state;
    assert_true(record_name("ProfilerStep#12", out, sizeof out, &number));
    assert_int_equal(number, 12);
    check("ProfilerStep#12", "ProfilerStep", true);
    check("iteration 7", "iteration", true);
    check("Train step: 1203", "Train step", true);
    check("batch_3", "batch", true);
    check("Epoch (4)", "Epoch", true);
}

static void numbers_of_calls_and_addresses_go(void **state)
{
    (void)state;
    check("PyTorch Profiler 3", "PyTorch Profiler", false);
    check("task#17 (worker)", "task (worker)", false);
    check("<built-in method to of Tensor object at 0x7f3c2a1099>",
          "<built-in method to of Tensor object at 0x>", false);
}

/* The layers of a model are one function, called once for each. */
static void modules_of_a_class_are_one_function(void **state)
{
    (void)state;
    check("nn.Module: Linear_0", "nn.Module: Linear", false);
    check("nn.Module: Conv2d_12", "nn.Module: Conv2d", false);
    check("nn.Module: Conv2d", "nn.Module: Conv2d", false);
    check("nn.Module: DecoderStep_3", "nn.Module: DecoderStep", false);
}

static void numbers_that_are_part_of_a_name_stay(void **state)
{
    static const char *const names[] = {"main",
                                        "gemm_128x64_tn",
                                        "void f<4, 128>(float)",
                                        "torch/nn/modules/module.py(1501): _call_impl",
                                        "Linear_0",
                                        "nn.Module: Conv2d",
                                        "## zero_grad ##",
                                        "main::{lambda(int)#1}::run",
                                        "foo.part.0",
                                        "step2d",
                                        "0x1 0x2f",
                                        "2",
                                        "#3",
                                        "Optimizer.step#Adagrad.step"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(names[i], names[i], false);
}

static void what_is_too_long_is_cut(void **state)
{
    uint64_t number;
    char out[6];

    (void)state;
    assert_true(record_name("step 12 of a long name", out, sizeof out, &number));
    assert_string_equal(out, "step ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_one_function),
        cmocka_unit_test(numbers_of_calls_and_addresses_go),
        cmocka_unit_test(modules_of_a_class_are_one_function),
        cmocka_unit_test(numbers_that_are_part_of_a_name_stay),
        cmocka_unit_test(what_is_too_long_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
