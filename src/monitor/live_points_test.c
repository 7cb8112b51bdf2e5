#include "monitor/live_points.h"

#include "test.h"

static void add(struct live_points *points, uint32_t n, uint32_t every)
{
    for (uint32_t i = 0; i < n; i++)
        live_points_add(points,
                        &(struct live_point){.verdict = every && points->next % every == 0});
}

/* Ids ascend; returns how many there are, and how many of them are anomalies. */
static uint32_t count(const struct live_cut *cut, uint32_t *n_anomalies)
{
    uint64_t before = 0;
    uint32_t n = 0;

    *n_anomalies = 0;
    for (uint32_t i = 0; i < cut->n; i++)
        for (uint32_t k = 0; k < cut->part[i].n; k++, n++) {
            const struct live_point *p = &cut->part[i].block->point[k];

            assert_true(n == 0 ? p->id == cut->oldest : p->id > before);
            before = p->id;
            *n_anomalies += p->verdict;
        }
    assert_true(n == 0 || before == cut->next - 1);
    return n;
}

static void the_newest_and_old_anomalies_are_kept(void **state)
{
    static struct live_points points;
    static struct live_cut cut;
    uint32_t n_anomalies, n;

    (void)state;
    add(&points, 3 * LIVE_MAX_POINTS, 10);
    live_points_take(&points, &cut);
    n = count(&cut, &n_anomalies);
    assert_true(cut.next - cut.oldest_whole >= LIVE_MAX_POINTS);
    assert_true(n - (cut.next - cut.oldest_whole) <= LIVE_OLD_BLOCKS * LIVE_BLOCK);
    assert_true(n_anomalies > LIVE_MAX_POINTS / 10 + 190000);
    live_points_give_back(&cut);

    /* With nothing but anomalies both parts are full, and no more. */
    add(&points, 2 * LIVE_MAX_POINTS, 1);
    live_points_take(&points, &cut);
    n = count(&cut, &n_anomalies);
    assert_int_equal(n, n_anomalies);
    assert_true(n <= (LIVE_OLD_BLOCKS + LIVE_NEW_BLOCKS) * LIVE_BLOCK);
    assert_true(n > (LIVE_OLD_BLOCKS + LIVE_NEW_BLOCKS - 2) * LIVE_BLOCK);
    live_points_give_back(&cut);
    live_points_release(&points);
}

static void a_cut_stays_as_it_was(void **state)
{
    static struct live_points points;
    static struct live_cut cut;
    uint32_t n_anomalies;

    (void)state;
    live_points_take(&points, &cut);
    assert_int_equal(cut.n, 0);
    add(&points, 5000, 100);
    live_points_take(&points, &cut);
    add(&points, 2 * LIVE_MAX_POINTS, 0);
    assert_int_equal(count(&cut, &n_anomalies), 5000);
    assert_int_equal(n_anomalies, 50);
    assert_int_equal(cut.oldest_whole, 0);
    live_points_give_back(&cut);
    live_points_take(&points, &cut);
    count(&cut, &n_anomalies);
    assert_int_equal(n_anomalies, 50);
    assert_int_equal(cut.oldest, 0);
    live_points_give_back(&cut);
    live_points_release(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_and_old_anomalies_are_kept),
        cmocka_unit_test(a_cut_stays_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
