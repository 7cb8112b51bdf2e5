/* What mem.h says of arrays that grow. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "test.h"

#define HALF_BYTES ((size_t)64 << 20)
#define MAX_FAULTS                                                                             \
    16 /* of HALF_BYTES there are 32, of huge pages, when they are written anew */

static long n_faults(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

/* A sanitizer's own memory is always copied. */
static void what_is_large_grows_without_a_copy(void **state)
{
    char *data = mem_resize(NULL, HALF_BYTES, 1);
    long before;

    (void)state;
    memset(data, 7, HALF_BYTES);
    before = n_faults();
    data = mem_resize(data, 2 * HALF_BYTES, 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_in_range(n_faults() - before, 0, MAX_FAULTS);
#else
    (void)before;
#endif
    assert_int_equal(data[HALF_BYTES - 1], 7);
    free(data);
}

static void what_grows_keeps_what_it_has(void **state)
{
    size_t cap = 0;
    uint32_t *data = NULL;

    (void)state;
    for (uint32_t i = 0; i < 3000000; i++) {
        mem_grow(&data, &cap, i + 1);
        data[i] = i;
    }
    for (uint32_t i = 0; i < 3000000; i++)
        assert_int_equal(data[i], i);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_large_grows_without_a_copy),
        cmocka_unit_test(what_grows_keeps_what_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
