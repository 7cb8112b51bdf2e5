/* What several processes find of values that each has some of is what one finds of all. */
#include "features/robust.h"

#include "base/mem.h"
#include "base/radix.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

#include "sample_process_group.h"
#include "test.h"

#define N_GROUPS 4u
#define MAX_ROWS 4000u

/* Of each group so many times; some are in narrow columns. */
struct times {
    uint32_t narrow_ns[MAX_ROWS];
    uint64_t wide_ns[MAX_ROWS];
    size_t n;
    bool is_wide;
};

static void make_shares(struct tree_share *share, struct process_group *process_group)
{
    *share = (struct tree_share){.process_group = process_group};
}

static struct sorted_times sorted(struct times *t)
{
    static uint64_t scratch[MAX_ROWS];

    if (t->is_wide) {
        radix_sort_u64(t->wide_ns, scratch, t->n);
        return (struct sorted_times){.wide_ns = t->wide_ns, .n = t->n};
    }
    radix_sort_u32(t->narrow_ns, (uint32_t *)scratch, t->n);
    return (struct sorted_times){.narrow_ns = t->narrow_ns, .n = t->n};
}

static void put(struct times *t, uint64_t ns)
{
    t->narrow_ns[t->n] = (uint32_t)ns;
    t->wide_ns[t->n++] = ns;
}

/*
 * ln of 1, e^2, e^4, e^6 .. as times would not be whole; so times 0, 1, 3, 7, 15 with offset 1:
 * x = 0, 1, 2, 3, 4 times ln 2, on two processes. Median 2 ln 2; of the distances 0, 1, 1, 2, 2
 * it is 1; 84.13 % is at 3.3652, 95 % at 3.8, (3.8 - 2) / 1.645 = 1.0942, and 1.4826 x 1 is
 * more than 1.3652.
 */
static int five_times(void *ctx, unsigned me)
{
    static const uint32_t ns[2][3] = {{0, 3, 7}, {1, 15}};
    struct process_group *process_group;
    struct tree_share share;
    struct spread spread;
    int rc = process_group_join(&process_group, NULL, 1);
    const struct joint_part part = {{.narrow_ns = ns[me], .n = me == 0 ? 3 : 2}, 1};

    (void)ctx;
    make_shares(&share, process_group);
    joint_spreads(&share, &part, 1, 0.01, &spread);
    process_group_leave(process_group);
    if (fabs(spread.centre - 2 * log(2)) > 1e-15 ||
        fabs(spread.scale - 1.4826 * log(2)) > 1e-15)
        rc = 1;
    if (me == 0)
        assert_int_equal(rc, 0);
    return rc;
}

static void five_times_on_two_processes(void **state)
{
    (void)state;
    assert_int_equal(sample_process_group_run(2, five_times, NULL), 0);
}

/* Value i of group g: many are equal, and one group is on few processes. */
static uint64_t time_of(struct rng *rng, uint32_t g)
{
    return g == 0   ? rng_below(rng, 1000000)
           : g == 1 ? rng_below(rng, 5)
           : g == 2 ? UINT64_C(1) << rng_below(rng, 60)
                    : 77;
}

static bool is_same(struct spread a, struct spread b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int random_times(void *ctx, unsigned me)
{
    struct times *all = mem_alloc(N_GROUPS, sizeof *all),
                 *own = mem_alloc(N_GROUPS, sizeof *own);
    struct joint_part part[N_GROUPS];
    struct spread spread[N_GROUPS];
    struct rng rng = {*(const uint64_t *)ctx};
    struct tree_share share;
    struct process_group *process_group;
    int rc = process_group_join(&process_group, NULL, 1);

    for (uint32_t g = 0; g < N_GROUPS; g++) {
        size_t n = 1 + rng_below(&rng, g == 3 ? 2 : MAX_ROWS - 1);

        all[g].is_wide = own[g].is_wide = g == 2;
        for (size_t i = 0; i < n; i++) {
            uint64_t ns = time_of(&rng, g);

            put(&all[g], ns);
            if (rng_below(&rng, process_group_size(process_group)) == me)
                put(&own[g], ns);
        }
        part[g] = (struct joint_part){sorted(&own[g]), 0.3};
    }
    make_shares(&share, process_group);
    joint_spreads(&share, part, N_GROUPS, 0.02, spread);
    for (uint32_t g = 0; g < N_GROUPS && rc == 0; g++) {
        struct sorted_times times = sorted(&all[g]);

        rc = is_same(spread[g], robust_log_times(&times, 0.3, 0.02)) ? 0 : 1 + (int)g;
    }
    process_group_leave(process_group);
    free(all);
    free(own);
    if (me == 0)
        assert_int_equal(rc, 0);
    return rc;
}

static void parts_say_what_all_values_say(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (unsigned n = 1; n <= 8; n += n < 3 ? 1 : 5)
            assert_int_equal(sample_process_group_run(n, random_times, &seed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_times_on_two_processes),
        cmocka_unit_test(parts_say_what_all_values_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
