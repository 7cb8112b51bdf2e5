#include "trace/call_sites.h"

#include "base/test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_moved_keep_their_order),
        cmocka_unit_test(where_places_came_or_went_nobody_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
