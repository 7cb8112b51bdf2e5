#include "forest/profile.h"

#include "test.h"

/*
 *     row     0     1    2    3    4
 *     region  0     1    1    2    1      main(rec(rec(leaf)) rec)
 *     time    100   50   40   10   20
 */
static struct calls sample(void)
{
    static uint64_t enter[] = {0, 10, 15, 20, 70}, inclusive[] = {100, 50, 40, 10, 20};
    static uint32_t region[] = {0, 1, 1, 2, 1};
    static uint32_t subtree_len[] = {5, 3, 2, 1, 1};
    static uint16_t depth[] = {0, 1, 2, 3, 1};

    return (struct calls){.n = 5,
                          .enter_ns = enter,
                          .inclusive_ns = inclusive,
                          .region = region,
                          .subtree_len = subtree_len,
                          .depth = depth};
}

/* In two pieces, as if they came so. */
static void profile_sample(struct profile *profile, const struct definitions *defs)
{
    struct calls calls = sample();
    struct profile_walk walk;

    profile_walk_init(&walk, profile->n_regions);
    profile_begin(profile, &walk);
    profile_rows(profile, &walk, &calls, 0, 2);
    profile_rows(profile, &walk, &calls, 2, calls.n);
    profile_end(profile, &walk, &calls, defs);
    profile_walk_release(&walk);
}

static void define(struct definitions *defs)
{
    *defs = (struct definitions){0};
    definitions_region(defs, "main");
    definitions_region(defs, "rec");
    definitions_region(defs, "MPI_Wait");
}

static void recursion_counts_once(void **state)
{
    struct definitions defs;
    struct profile profile;

    (void)state;
    define(&defs);
    profile_init(&profile, 3);
    profile_sample(&profile, &defs);
    assert_int_equal(profile.row[0].exclusive_ns, 30);
    assert_int_equal(profile.row[1].n_calls, 3);
    assert_int_equal(profile.row[1].n_outermost, 2);
    assert_int_equal(profile.row[1].inclusive_ns, 70);
    assert_int_equal(profile.row[1].exclusive_ns, 10 + 30 + 20);
    assert_int_equal(profile.row[1].n_vertices, 4);
    assert_int_equal(profile.row[1].min_ns, 20);
    assert_int_equal(profile.row[1].max_ns, 50);
    assert_int_equal(profile.row[1].n_with_mpi, 1);
    assert_int_equal(profile.row[2].n_with_mpi, 0);
    assert_int_equal(profile.row[0].looked_ns, 100);
    assert_int_equal(profile.row[0].mpi_ns, 10);
    assert_int_equal(profile.row[1].looked_ns, 50 + 20);
    assert_int_equal(profile.row[1].mpi_ns, 10);
    assert_int_equal(profile.row[2].mpi_ns, 0);
    assert_true(fabs(profile_variation(&profile.row[1]) - sqrt(450) / 35) < 1e-12);
    profile_release(&profile);
    definitions_release(&defs);
}

static void merging_equals_seeing_both(void **state)
{
    struct definitions defs;
    struct profile a, b;

    (void)state;
    define(&defs);
    profile_init(&a, 3);
    profile_init(&b, 3);
    profile_sample(&b, &defs);
    profile_merge(&a, &b);
    profile_merge(&a, &b);
    assert_int_equal(a.row[1].n_outermost, 4);
    assert_int_equal(a.row[1].n_locations, 2);
    assert_int_equal(a.row[1].inclusive_ns, 140);
    assert_true(fabs(profile_variation(&a.row[1]) - sqrt(300) / 35) < 1e-12);
    profile_release(&a);
    profile_release(&b);
    definitions_release(&defs);
}

/* A team in the second call of rec, one in that of leaf, in which there is another one. */
static void calls_have_teams_that_are_made_in_them(void **state)
{
    static struct team_span span[] = {
        {.kind = SPAN_FORK, .begin_ns = 21, .end_ns = 24, .call = 3, .first_row = 4},
        {.kind = SPAN_MEMBER, .begin_ns = 21, .end_ns = 24, .call = 3, .first_row = 4},
        {.kind = SPAN_FORK, .begin_ns = 22, .end_ns = 23, .call = 3, .first_row = 4},
        {.kind = SPAN_FORK, .begin_ns = 72, .end_ns = 82, .call = 4, .first_row = 5},
    };
    struct calls calls = sample();
    struct definitions defs;
    struct profile_walk walk;
    struct profile profile;

    (void)state;
    define(&defs);
    profile_init(&profile, 3);
    calls.span = span;
    calls.n_spans = 4;
    profile_walk_init(&walk, profile.n_regions);
    profile_begin(&profile, &walk);
    profile_rows(&profile, &walk, &calls, 0, calls.n);
    profile_end(&profile, &walk, &calls, &defs);
    assert_int_equal(profile.row[0].forked_ns, 3 + 10);
    assert_int_equal(profile.row[1].forked_ns, 3 + 10);
    assert_int_equal(profile.row[2].forked_ns, 3);
    profile_walk_release(&walk);
    profile_release(&profile);
    definitions_release(&defs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(merging_equals_seeing_both),
        cmocka_unit_test(calls_have_teams_that_are_made_in_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
