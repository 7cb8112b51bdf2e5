/*
 * Random damage to good columns, against a check that is slow and plain: who contains whom is
 * looked up for each pair of rows.
 */
#include "base/err.h"
#include "base/rng.h"
#include "trace/monotone.h"

#include "sample_columns.h"
#include "test.h"

#define N_REGIONS 5u

static const struct definitions defs = {.names.n = N_REGIONS, .n_comms = 1};

/* The innermost row from `first` on that contains row i; UINT32_MAX when there is none. */
static uint32_t container(const struct call_view *v, uint32_t first, uint32_t i)
{
    for (uint32_t p = i; p-- > first;)
        if (v->subtree_len[p] > i - p)
            return p;
    return UINT32_MAX;
}

static bool is_row_good(const struct call_view *v, uint32_t first, uint32_t end, uint32_t i)
{
    uint32_t p = container(v, first, i), len = v->subtree_len[i];
    uint64_t sum = 0;

    if (len == 0 || len > end - i || v->region[i] >= N_REGIONS ||
        v->enter_ns[i] > TIME_MAX_SPAN_NS || v->inclusive_ns[i] > TIME_MAX_SPAN_NS)
        return false;
    if (i > first && v->enter_ns[i] < v->enter_ns[i - 1])
        return false;
    if (p != UINT32_MAX && len > v->subtree_len[p] - (i - p))
        return false;
    if (v->depth[i] != (p == UINT32_MAX ? v->depth[first] : v->depth[p] + 1u))
        return false;
    for (uint32_t c = i + 1; c < i + len; c++)
        if (container(v, first, c) == i)
            sum +=
                v->inclusive_ns[c] < TIME_MAX_SPAN_NS ? v->inclusive_ns[c] : TIME_MAX_SPAN_NS;
    return sum <= v->inclusive_ns[i];
}

static bool are_rows_good(const struct call_view *v, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (v->depth[i] >= v->n_depths || !is_row_good(v, first, end, i))
            return false;
    return true;
}

static bool is_location_good(const struct call_view *v)
{
    uint32_t at = 0;

    if (v->n > 0 && v->depth[0] != 0)
        return false;
    for (uint32_t d = 0; d < v->n_depths; d++) {
        if (v->depth_start[d] != at)
            return false;
        for (uint32_t i = 0; i < v->n; i++)
            if (v->depth[i] == d && v->by_depth[at++] != i)
                return false;
    }
    return at == v->n && v->depth_start[v->n_depths] == at && are_rows_good(v, 0, v->n);
}

static bool is_tree_good(const struct call_view *v, uint32_t row)
{
    uint32_t len = v->subtree_len[row];

    /* rows after the root that it does not contain cannot be: its length is where they end */
    return len > 0 && len <= v->n - row && are_rows_good(v, row, row + len);
}

/* Changes one number; some become absurd, most are off by a little. */
static void change(struct sample_columns *s, struct rng *rng)
{
    const struct column_range *range = s->columns.range + rng_below(rng, SAMPLE_LOCATIONS);
    uint64_t i = range->first_call + rng_below(rng, range->n_calls);
    uint64_t by =
        rng_below(rng, 4) == 0 ? rng_next(rng) >> rng_below(rng, 64) : rng_below(rng, 7) - 3;

    switch (rng_below(rng, 7)) {
    case 0:
        s->enter_ns[i] += by;
        break;
    case 1:
        s->inclusive_ns[i] += by;
        break;
    case 2:
        s->region[i] += (uint32_t)by;
        break;
    case 3:
        s->subtree_len[i] = rng_below(rng, 4) ? s->subtree_len[i] + (uint32_t)by : 0;
        break;
    case 4:
        s->by_depth[i] += (uint32_t)by;
        break;
    case 5:
        s->depth[i] = (uint16_t)(s->depth[i] + by);
        break;
    default:
        s->depth_start[rng_below(rng, SAMPLE_LOCATIONS * (SAMPLE_DEPTHS + 1))] += by;
    }
}

static void what_is_no_tree_is_found(void **state)
{
    uint64_t n_good = 0, n_bad = 0, n_good_trees = 0, n_bad_trees = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rng rng = {seed};
        struct sample_columns s;

        sample_columns_init(&s, 6, seed);
        for (uint64_t n = rng_below(&rng, 4); n > 0; n--)
            change(&s, &rng);
        for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++) {
            struct call_view v = columns_view(&s.columns, l);
            bool is_good = is_location_good(&v);

            assert_int_equal(columns_check(&s.columns, l, &defs), is_good ? 0 : ERR_FORMAT);
            *(is_good ? &n_good : &n_bad) += 1;
            for (uint32_t row = 0; row < v.n; row++) {
                is_good = is_tree_good(&v, row);
                assert_int_equal(columns_check_tree(&s.columns, l, row, &defs),
                                 is_good ? 0 : ERR_FORMAT);
                *(is_good ? &n_good_trees : &n_bad_trees) += 1;
            }
            assert_int_equal(columns_check_tree(&s.columns, l, v.n, &defs), ERR_FORMAT);
            assert_int_equal(columns_check_tree(&s.columns, l, UINT32_MAX, &defs), ERR_FORMAT);
        }
        sample_columns_release(&s);
    }
    assert_true(n_good > 1000 && n_bad > 1000 && n_good_trees > 10000 && n_bad_trees > 1000);
}

static void traffic_belongs_to_something(void **state)
{
    struct sample_columns s;

    (void)state;
    for (int what = 0; what < 8; what++) {
        struct message *m;

        sample_columns_init(&s, 40, 1);
        m = s.message + s.columns.range[1].first_message;
        assert_true(s.columns.range[1].n_messages > 0);
        switch (what) {
        case 0:
            m->kind = 77;
            break;
        case 1:
            m->call = (uint32_t)s.columns.range[1].n_calls;
            break;
        case 2:
            m->match = (uint32_t)s.columns.n_messages;
            break;
        case 3:
            m->comm = 1;
            break;
        case 4:
            m->begin_ns = TIME_MAX_SPAN_NS + 1;
            break;
        case 5:
            m->end_ns = UINT64_MAX;
            break;
        default: /* all is well */
            m->match = 0;
        }
        assert_int_equal(columns_check(&s.columns, 0, &defs), 0);
        assert_int_equal(columns_check(&s.columns, 1, &defs), what < 6 ? ERR_FORMAT : 0);
        assert_int_equal(columns_check(&s.columns, 1, &defs), what < 6 ? ERR_FORMAT : 0);
        sample_columns_release(&s);
    }
}

/* A barrier that is passed on to a call, and an estimate of when one begins. */
static void rows_of_teams_and_estimates_are_of_calls(void **state)
{
    struct sample_columns s;
    uint32_t barrier, n;
    struct call_estimate estimate = {.off_ns = 5};

    (void)state;
    sample_columns_init(&s, 40, 1);
    n = (uint32_t)s.columns.range[1].n_calls;
    s.columns.barrier = &barrier;
    s.columns.estimate = &estimate;
    s.index.range[1].n_barriers = s.index.range[1].n_estimates = 1;
    for (uint32_t beyond = 0; beyond < 3; beyond++) {
        atomic_store(&s.columns.is_checked[1], 0);
        barrier = beyond == 1 ? n : n - 1;
        estimate.call = beyond == 2 ? n : n - 1;
        assert_int_equal(columns_check(&s.columns, 1, &defs), beyond ? ERR_FORMAT : 0);
    }
    sample_columns_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_tree_is_found),
        cmocka_unit_test(traffic_belongs_to_something),
        cmocka_unit_test(rows_of_teams_and_estimates_are_of_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
