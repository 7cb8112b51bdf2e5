#include "trace/region_name.h"

#include "test.h"

/* Pairs of a name and what it is shown as when all are there. */
static void assert_shown(const char *const (*pair)[2], size_t n)
{
    struct short_names names = {0};

    for (size_t i = 0; i < n; i++)
        short_names_add(&names, pair[i][0]);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(names.shown[i], pair[i][1]);
    short_names_release(&names);
    short_names_release(&names);
}

static void names_that_are_alike_are_shown_longer(void **state)
{
    static const char *const templates[][2] = {
        {"PassManager<llvm::Function>", "PassManager<llvm::Function>"},
        {"Total PassManager<llvm::Function>", "Total PassManager"},
        {"PassManager<llvm::Loop>", "PassManager<llvm::Loop>"},
        {"void a::X<int>::run(double)", "X<int>::run"},
        {"void a::X<char>::run(double)", "X<char>::run"},
    };
    static const char *const spaces[][2] = {
        {"void a::b::X::f(int)", "a::b::X::f"},
        {"void c::b::X::f(int)", "c::b::X::f"},
        {"void c::b::X::g(int)", "X::g"},
    };
    static const char *const overloads[][2] = {
        {"void A::f(int)", "void A::f(int)"},
        {"void A::f(char) [{a.cpp} {1,1}-{2,1}]", "void A::f(char)"},
        {"main [{a.c} {1,1}-{2,1}]", "main [{a.c} {1,1}-{2,1}]"},
        {"main [{b.c} {1,1}-{2,1}]", "main [{b.c} {1,1}-{2,1}]"},
    };
    static const char *const whole[][2] = {
        {"f<int>", "f<int>"}, {"f", "f"}, {"f<char>", "f<char>"}, {"g", "g"}, {"g()", "g()"},
        {"h()", "h()"},       {"h", "h"},
    };

    (void)state;
    assert_shown(templates, sizeof templates / sizeof *templates);
    assert_shown(spaces, sizeof spaces / sizeof *spaces);
    assert_shown(overloads, sizeof overloads / sizeof *overloads);
    assert_shown(whole, sizeof whole / sizeof *whole);
}

/* Whatever the names, in whatever order: never the same for two. */
static void no_two_are_shown_alike(void **state)
{
    static const char *const part[] = {
        "a", "b", "<",        ">",         "::",  "(",  ")", " ",    "a<b>", "*", "void",
        "{", "}", "operator", ".py(12): ", " [{", ":7", "@", "MPI_", "a::b", "$"};
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct short_names shown = {0};
        struct names all = {0}, once = {0};

        for (int i = 0; i < 60; i++) {
            char name[200] = "";

            for (int k = 0; k < 1 + i % 6; k++)
                strcat(name, part[(seed = seed * 1103515245 + 12345) / 65536 %
                                  (sizeof part / sizeof *part)]);
            names_add(&all, name);
        }
        for (uint32_t i = 0; i < all.n; i++)
            short_names_add(&shown, all.name[i]);
        for (uint32_t i = 0; i < all.n; i++)
            assert_int_equal(names_add(&once, shown.shown[i]), i);
        short_names_release(&shown);
        names_release(&all);
        names_release(&once);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_alike_are_shown_longer),
        cmocka_unit_test(no_two_are_shown_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
