#include "trace/region_name.h"

#include "test.h"

static void add(struct names *names, const char *const *name)
{
    for (; *name; name++)
        names_add(names, *name);
}

/* Checks what each of `from` is in `to`. */
static void compare(const char *const *from, const char *const *to, const char *const *same)
{
    struct names a = {0}, b = {0};

    add(&a, from);
    add(&b, to);
    for (uint32_t i = 0; i < a.n; i++) {
        uint32_t is = call_sites_same(&a, a.n, i, &b, b.n);

        assert_string_equal(is == NAMES_NONE ? "" : b.name[is], same[i]);
    }
    names_release(&a);
    names_release(&b);
}

static void places_that_moved_keep_their_order(void **state)
{
    static const char *const before[] = {"MPI_Wait@halo.c:45",
                                         "MPI_Wait@halo.c:60",
                                         "MPI_Wait@halo.c:51",
                                         "MPI_Send@halo.c:45",
                                         "MPI_Wait@f+0x1f",
                                         "main",
                                         NULL};
    static const char *const after[] = {"MPI_Wait@halo.c:164", "MPI_Wait@halo.c:51",
                                        "MPI_Wait@halo.c:99",  "MPI_Wait@f+0xa0",
                                        "MPI_Send@halo.c:99",  NULL};
    static const char *const same[] = {"MPI_Wait@halo.c:99", "MPI_Wait@halo.c:164",
                                       "MPI_Wait@halo.c:51", "MPI_Send@halo.c:99",
                                       "MPI_Wait@f+0xa0",    ""};

    (void)state;
    compare(before, after, same);
}

static void where_places_came_or_went_nobody_knows(void **state)
{
    static const char *const before[] = {"MPI_Wait@halo.c:45", "MPI_Wait@other.c:7",
                                         "MPI_Wait@f+0x1f", "f:1", NULL};
    static const char *const after[] = {"MPI_Wait@halo.c:46",
                                        "MPI_Wait@halo.c:47",
                                        "MPI_Wait@rather.c:7",
                                        "MPI_Wait@g+0x1f",
                                        "f:2",
                                        NULL};
    static const char *const same[] = {"", "", "", ""};

    (void)state;
    compare(before, after, same);
}

static void functions_that_moved_are_the_same(void **state)
{
    static const char *const before[] = {"void solve(int) [{a.cpp} {234,1}-{314,1}]",
                                         "void step(int) [{a.cpp} {134,1}-{214,1}]",
                                         "sgd.py(64): step",
                                         "sgd.py(120): step",
                                         "<lambda> (run.py:7)",
                                         "$pjit.py:120 cache_miss",
                                         "!$omp parallel @solve.c:12",
                                         "gone.py(1): f",
                                         NULL};
    static const char *const after[] = {"void step(int) [{a.cpp} {135,1}-{215,1}]",
                                        "void solve(int) [{a.cpp} {235,1}-{315,1}]",
                                        "sgd.py(121): step",
                                        "sgd.py(66): step",
                                        "<lambda> (run.py:8)",
                                        "$pjit.py:99 cache_miss",
                                        "!$omp parallel @solve.c:13",
                                        "gone.py(1): g",
                                        NULL};
    static const char *const same[] = {"void solve(int) [{a.cpp} {235,1}-{315,1}]",
                                       "void step(int) [{a.cpp} {135,1}-{215,1}]",
                                       "sgd.py(66): step",
                                       "sgd.py(121): step",
                                       "<lambda> (run.py:8)",
                                       "$pjit.py:99 cache_miss",
                                       "!$omp parallel @solve.c:13",
                                       ""};

    (void)state;
    compare(before, after, same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_moved_keep_their_order),
        cmocka_unit_test(functions_that_moved_are_the_same),
        cmocka_unit_test(where_places_came_or_went_nobody_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
