/* Arrays are what was written to them, wherever they are. */
#include "base/paged.h"

#include "base/fs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define N 100000u

/* The bytes of a mapping that are in this process's memory, SIZE_MAX where it is no file's. */
static size_t resident(const void *data)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    size_t kib = SIZE_MAX;
    bool is_it = false;
    char line[512];

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long begin;

        if (sscanf(line, "%lx-", &begin) == 1 && strstr(line, " rw-s "))
            is_it = begin == (uintptr_t)data;
        else if (is_it && sscanf(line, "Rss: %zu kB", &kib) == 1)
            break;
    }
    fclose(maps);
    return kib == SIZE_MAX ? kib : kib * 1024;
}

static void fill(uint64_t *x, uint64_t factor)
{
    for (uint64_t i = 0; i < N; i++)
        x[i] = factor * i;
}

static bool is_filled(const uint64_t *x, uint64_t factor)
{
    for (uint64_t i = 0; i < N; i++)
        if (x[i] != factor * i)
            return false;
    return true;
}

static void pages_leave_and_come_back(void **state)
{
    char dir[] = "/tmp/snag-paged-XXXXXX";
    struct paged *paged;
    uint64_t *x, *y;

    (void)state;
    assert_non_null(test_dir(dir));
    paged = paged_new(dir, 4096);
    x = paged_alloc(paged, N, sizeof *x);
    y = paged_alloc(paged, N, sizeof *y);
    fill(x, 3);
    fill(y, 5);
    assert_true(resident(x) >= N * sizeof *x / 2);
    paged_drop(paged);
    assert_int_equal(resident(x), 0);
    assert_int_equal(resident(y), 0);
    assert_true(is_filled(x, 3));
    assert_true(is_filled(y, 5));
    x = paged_resize(paged, x, N, 2 * N, sizeof *x);
    assert_true(is_filled(x, 3));
    paged_release(paged, y);
    x = paged_resize(paged, x, 2 * N, 8, sizeof *x);
    assert_int_equal(resident(x), SIZE_MAX);
    assert_int_equal(x[7], 21);
    paged_release(paged, x);
    paged_free(paged);
    assert_int_equal(rmdir(dir), 0); /* nothing is left */
}

static void small_arrays_and_no_room_are_memory(void **state)
{
    struct paged *paged = paged_new("/nowhere/at/all", 4096);
    uint64_t *x = paged_alloc(paged, N, sizeof *x), *small = paged_alloc(paged, 8, 8), *plain;

    (void)state;
    assert_int_equal(resident(x), SIZE_MAX);
    fill(x, 7);
    paged_drop(paged);
    assert_true(is_filled(x, 7));
    paged_release(paged, x);
    paged_release(paged, small);
    paged_release(paged, NULL);
    paged_free(paged);

    plain = paged_resize(NULL, NULL, 0, N, sizeof *plain);
    fill(plain, 2);
    plain = paged_resize(NULL, plain, N, N + 1, sizeof *plain);
    assert_true(is_filled(plain, 2));
    paged_drop(NULL);
    paged_release(NULL, plain);
    paged_free(NULL);
    assert_null(paged_new(NULL, 4096));
}

/* A file that somebody else has mapped goes with the rest, and stays mapped. */
static void files_of_others_leave_too(void **state)
{
    char dir[] = "/tmp/snag-paged-XXXXXX", path[FS_PATH_SIZE];
    static uint64_t x[N];
    struct paged *paged;
    const uint64_t *mapped;
    size_t bytes;
    FILE *file;

    (void)state;
    assert_non_null(test_dir(dir));
    paged = paged_new(dir, 4096);
    fill(x, 11);
    assert_int_equal(fs_join(path, dir, "x"), 0);
    file = fopen(path, "w");
    assert_int_equal(fwrite(x, sizeof *x, N, file), N);
    fclose(file);
    assert_int_equal(fs_map(path, (const void **)&mapped, &bytes), 0);
    paged_share(paged, mapped, bytes);
    assert_true(is_filled(mapped, 11));
    paged_drop(paged);
    assert_true(is_filled(mapped, 11));
    paged_unshare(paged, mapped);
    paged_free(paged);
    assert_true(is_filled(mapped, 11));
    fs_unmap(mapped, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_leave_and_come_back),
        cmocka_unit_test(small_arrays_and_no_room_are_memory),
        cmocka_unit_test(files_of_others_leave_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
