#include "base/blas.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    int n = 0;

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void a_product_is_what_it_is_by_hand(void **state)
{
    const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    double c[4];

    (void)state;
    blas()->cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b, 2, 0, c,
                        2);
    assert_true(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
}

static void eigenvalues_come_from_lapack(void **state)
{
    double a[] = {2, 1, 1, 2}, values[2], vectors[4];
    lapack_int found, support[4];

    (void)state;
    assert_int_equal(blas()->LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'A', 'L', 2, a, 2, 0, 0, 0,
                                            0, 0, &found, values, vectors, 2, support),
                     0);
    assert_true(values[0] > 0.999 && values[0] < 1.001 && values[1] > 2.999 &&
                values[1] < 3.001);
}

static void no_threads_are_started(void **state)
{
    int before = threads();

    (void)state;
    blas_quiet();
    blas();
    assert_int_equal(threads(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_threads_are_started),
        cmocka_unit_test(a_product_is_what_it_is_by_hand),
        cmocka_unit_test(eigenvalues_come_from_lapack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
