#include "trace/region_name.h"

#include "test.h"

/* Each argument is a pair of the one before. */
static void a_name_that_would_be_endless_stays_mangled(void **state)
{
    char name[400] = "_Z1fSt4pairIiiE";
    const char *plain;
    struct arena arena = {0};

    (void)state;
    plain = region_name_canonical(name, &arena);
    assert_string_equal(plain, "f(std::pair<int, int>)");
    for (char c = '0'; c <= '9'; c++)
        sprintf(name + strlen(name), "S_IS%c_S%c_E", c, c);
    for (char c = 'A'; c <= 'Z'; c++)
        sprintf(name + strlen(name), "S_IS%c_S%c_E", c, c);
    assert_string_equal(region_name_canonical(name, &arena), name);
    arena_release(&arena);
}

static void short_names_are_what_a_person_would_say(void **state)
{
    static const char *const pair[][2] = {
        {"main", "main"},
        {"MPI_Wait", "MPI_Wait"},
        {"MPI_Wait()", "MPI_Wait"},
        {"int main(int, char **)", "main"},
        {"void *LAMMPS_NS::Memory::smalloc(LAMMPS_NS::bigint, const char *) "
         "[{memory.cpp} {35,1}-{59,1}]",
         "Memory::smalloc"},
        {"LAMMPS_NS::PairEAM::compute(int, int)", "PairEAM::compute"},
        {"void LAMMPS_NS::PairLJ<double, int>::compute(std::vector<a::b, c>)",
         "PairLJ::compute"},
        {"ns::Vec<int>& ns::Vec<int>::operator=(ns::Vec<int> const&)", "Vec::operator="},
        {"std::ostream& operator<< <int>(std::ostream&, int)", "operator<< <int>"},
        {"a::F::operator()(int) const", "F::operator()"},
        {"a::b::(anonymous namespace)::run(int)", "(anonymous namespace)::run"},
        {"MD_NEWTON [{md_newton.F} {1,18}]", "MD_NEWTON"},
        {"EZTrace finalize", "EZTrace finalize"},
        {"!$omp parallel @solve.c:12", "!$omp parallel @solve.c:12"},
        {"phase (inner)", "phase (inner)"},
        {"linux:schedule", "linux:schedule"},
        {"<lambda>", "<lambda>"},
        {"<lambda> (run.py:7)", "<lambda> (run.py:7)"},
        {"<module>", "<module>"},
        {"torch/optim/sgd.py(120): zero_grad", "torch/optim/sgd.py(120): zero_grad"},
        {"a.py(7): <lambda>", "a.py(7): <lambda>"},
        {"halo.py:Field.exchange", "halo.py:Field.exchange"},
        {"run(1).py:f.<locals>.<lambda>", "run(1).py:f.<locals>.<lambda>"},
        {"torch/nn/__init__.py:<module>", "torch/nn/__init__.py:<module>"},
        {"f(3): int", "f(3): int"},
        {"<T as Trait>::run", "<T as Trait>::run"},
        {"PassManager<llvm::Function>", "PassManager"},
        {"Total PassManager<llvm::Function>", "Total PassManager"},
        {"main::{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()"},
        {"void run<main::{lambda()#1}>(main::{lambda()#1})", "run"},
        {"std::name[abi:cxx11](int) const", "std::name[abi:cxx11]"},
        {"dynlink::f<a::b>", "dynlink::f"},
        {"operator", "operator"},
        {"::", "::"},
        {"a<", "a"},
        {"f(", "f"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        assert_string_equal(region_name_short(pair[i][0], &arena), pair[i][1]);
    arena_release(&arena);
}

static void mangled_names_are_demangled(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_string_equal(region_name_canonical("_ZN9LAMMPS_NS9CommBrick8exchangeEv", &arena),
                        "LAMMPS_NS::CommBrick::exchange()");
    assert_string_equal(region_name_canonical("_Znonsense", &arena), "_Znonsense");
    assert_string_equal(region_name_canonical("main", &arena), "main");
    assert_string_equal(region_name_canonical("__physics_MOD_step", &arena), "physics::step");
    assert_string_equal(region_name_canonical("__fft_base_MOD_fwfft_y.constprop.0", &arena),
                        "fft_base::fwfft_y.constprop.0");
    assert_string_equal(region_name_canonical("___MOD_step", &arena), "___MOD_step");
    assert_string_equal(region_name_canonical("__physics_MOD_", &arena), "__physics_MOD_");
    arena_release(&arena);
}

static void a_call_of_mpi_may_say_where_it_is_called(void **state)
{
    static const struct {
        const char *name, *canonical, *short_name;
        size_t n_plain;
    } row[] = {
        {"MPI_Wait@halo.c:45", "MPI_Wait@halo.c:45", "MPI_Wait@halo.c:45", 8},
        {"MPI_Wait@_ZN4Halo7receiveEv+0x1f", "MPI_Wait@Halo::receive()+0x1f",
         "MPI_Wait@Halo::receive+0x1f", 8},
        {"MPI_Send@__halo_MOD_send+0x1f", "MPI_Send@halo::send+0x1f",
         "MPI_Send@halo::send+0x1f", 8},
        {"MPI_Send@pw.x+0x12ab40", "MPI_Send@pw.x+0x12ab40", "MPI_Send@pw.x+0x12ab40", 8},
        {"MPI_Send@", "MPI_Send@", "MPI_Send@", 9},
        {"MPI_Send", "MPI_Send", "MPI_Send", 8},
        {"send@halo.c:45", "send@halo.c:45", "send@halo.c:45", 14},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *canonical = region_name_canonical(row[i].name, &arena);

        assert_string_equal(canonical, row[i].canonical);
        assert_string_equal(region_name_short(canonical, &arena), row[i].short_name);
        assert_int_equal(region_name_plain(canonical), row[i].n_plain);
        assert_string_equal(region_name_canonical(canonical, &arena), canonical);
    }
    arena_release(&arena);
}

static void identity_is_what_stays_from_build_to_build(void **state)
{
    static const char *const pair[][2] = {
        {"void step(int) [{a.cpp} {134,1}-{214,1}]", "void step(int)"},
        {"torch/optim/sgd.py(120): zero_grad", "torch/optim/sgd.py: zero_grad"},
        {"<lambda> (run.py:7)", "<lambda> (run.py)"},
        {"f (a.py:12)", "f (a.py)"},
        {"$pjit.py:120 cache_miss", "$pjit.py cache_miss"},
        {"MPI_Wait@halo.c:45", "MPI_Wait"},
        {"MPI_Wait@f+0x1f", "MPI_Wait"},
        {"!$omp parallel @solve.c:12", "!$omp parallel @solve.c:12"},
        {"halo.py:Field.exchange", "halo.py:Field.exchange"},
        {"MPI_Wait@halo.py:45", "MPI_Wait"},
        {"f(int)", "f(int)"},
        {"phase (inner)", "phase (inner)"},
        {"phase (a: 3)", "phase (a: 3)"},
        {"x:7", "x:7"},
        {" [{", " [{"},
        {"", ""},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        assert_string_equal(region_name_identity(pair[i][0], &arena), pair[i][1]);
    arena_release(&arena);
}

static void what_is_shown_stands_for_a_function_with_less_of_it_and_any_line(void **state)
{
    static const char box[] = "void a::Box<char>::run(int) [{b.cpp} {1,1}-{9,1}]";

    (void)state;
    assert_true(region_name_is("Box::run", box));
    assert_true(region_name_is("Box<char>::run", box));
    assert_true(region_name_is("a::Box<char>::run", box));
    assert_true(region_name_is("void a::Box<char>::run(int) [{b.cpp} {4,1}-{12,1}]", box));
    assert_false(region_name_is("Box<int>::run", box));
    assert_false(region_name_is("run", box));
    assert_true(region_name_is("train.py(10): step", "train.py(12): step"));
    assert_true(region_name_is("train.py(10): step", "train.py: step"));
    assert_false(region_name_is("train.py(10): step", "train.py: step2"));
    assert_false(region_name_is(box, "Box::run"));
    assert_true(region_name_is_same("train.py(10): step", "train.py(12): step"));
    assert_false(region_name_is_same("Box::run", "Box<char>::run"));
}

static void last_part_is_the_function(void **state)
{
    (void)state;
    assert_string_equal(region_name_last("PassManager<llvm::Function>"),
                        "PassManager<llvm::Function>");
    assert_string_equal(region_name_last("A<b::c>::run"), "run");
    assert_string_equal(region_name_last("PairEAM::compute"), "compute");
    assert_string_equal(region_name_last("halo.py:Field.exchange"), "exchange");
    assert_string_equal(region_name_last("halo.py:f.<locals>.<lambda>"), "<lambda>");
    assert_string_equal(region_name_last("torch/optim/sgd.py(120): zero_grad"), "zero_grad");
    assert_string_equal(region_name_last("main"), "main");
    assert_string_equal(region_name_last("a::"), "a::");
}

static void kinds_follow_from_names(void **state)
{
    (void)state;
    assert_int_equal(region_name_kind("MPI_Wait"), REGION_MPI);
    assert_int_equal(region_name_kind("!$omp for"), REGION_OPENMP);
    assert_int_equal(region_name_kind("Working"), REGION_RUNTIME);
    assert_int_equal(region_name_kind("FLUSH"), REGION_TRACER);
    assert_int_equal(region_name_kind("TRACE BUFFER FLUSH"), REGION_TRACER);
    assert_int_equal(region_name_kind("flush"), REGION_USER);
    assert_int_equal(region_name_kind("$profiler.py:101 start_trace"), REGION_TRACER);
    assert_int_equal(region_name_kind("$train.py:101 start_trace"), REGION_USER);
    assert_int_equal(region_name_kind("$api.py:3165 try_to_block"), REGION_DEVICE);
    assert_int_equal(region_name_kind("$lock.py:3 try_to_block"), REGION_USER);
    assert_int_equal(region_name_kind("wait for autograd"), REGION_OPENMP);
    assert_int_equal(region_name_kind("compute"), REGION_USER);
    assert_int_equal(region_name_kind("MPI_halo.py:step"), REGION_USER);
    assert_int_equal(region_name_kind("omp_solver.py(7): step"), REGION_USER);
    assert_int_equal(region_name_kind("MPI_Wait@halo.py:45"), REGION_MPI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_would_be_endless_stays_mangled),
        cmocka_unit_test(a_call_of_mpi_may_say_where_it_is_called),
        cmocka_unit_test(short_names_are_what_a_person_would_say),
        cmocka_unit_test(mangled_names_are_demangled),
        cmocka_unit_test(identity_is_what_stays_from_build_to_build),
        cmocka_unit_test(what_is_shown_stands_for_a_function_with_less_of_it_and_any_line),
        cmocka_unit_test(last_part_is_the_function),
        cmocka_unit_test(kinds_follow_from_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
