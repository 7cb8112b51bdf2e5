/* Executions of three kinds: what scores high, what is in doubt, and the rest. */

#include "learn/query.h"

#include "learn/reasons.h"

#include "test.h"

#define N 8
#define PIVOT 4.0

/*               0  1    2  3    4    5    6  7 */
static const double score[N] = {9, 8.5, 8, 4.1, 3.8, 3.7, 1, 7.5};
static const uint32_t kind[N] = {0, 0, 0, 1, 1, 2, 2, 1};

struct fixture {
    struct reasons reasons;
    struct learner learner;
    signed char label[N];
    struct question next[N];
};

static int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){.reasons = {.n_lasting = 3}};
    rows_init(&f.reasons.rows, 3);
    for (int i = 0; i < N; i++) {
        rows_add(&f.reasons.rows, kind[i], 1);
        rows_end(&f.reasons.rows);
    }
    f.learner = (struct learner){.ops = learner_find("reasons"),
                                 .input = {.n = N, .reasons = &f.reasons, .prior = score},
                                 .pivot = PIVOT};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rows_release(&f->reasons.rows);
    return 0;
}

static void ask(struct fixture *f, size_t most, size_t expected)
{
    assert_int_equal(query_next(&f->learner, f->label, score, most, f->next), expected);
}

/* 0 scores most, 3 is nearest to the pivot. */
static void strangest_and_least_certain_are_asked_in_turns(void **state)
{
    struct fixture *f = *state;

    ask(f, 2, 2);
    assert_int_equal(f->next[0].tree, 0);
    assert_false(f->next[0].is_uncertain);
    assert_int_equal(f->next[0].kind, 0);
    assert_int_equal(f->next[1].tree, 3);
    assert_true(f->next[1].is_uncertain);
}

/* The turn goes by the labels there are, so that one question at a time alternates too. */
static void the_turn_goes_on_from_the_labels(void **state)
{
    struct fixture *f = *state;

    f->label[0] = LABEL_ABNORMAL;
    ask(f, 1, 1);
    assert_int_equal(f->next[0].tree, 3);
    assert_true(f->next[0].is_uncertain);
}

/* Two labels of kind 0 take two nats from 8, so 7 of kind 1 is asked about. */
static void a_kind_of_which_something_was_said_has_to_wait(void **state)
{
    struct fixture *f = *state;

    f->label[0] = f->label[1] = LABEL_NORMAL;
    ask(f, 1, 1);
    assert_int_equal(f->next[0].tree, 7);
}

static void doubt_about_a_kind_already_asked_about_gives_way_to_another_kind(void **state)
{
    struct fixture *f = *state;

    ask(f, 4, 4);
    assert_int_equal(f->next[1].tree, 3);
    assert_int_equal(f->next[3].tree, 5); /* 4 is nearer, but of the kind of 3 */
}

static void what_is_labelled_is_not_asked_again(void **state)
{
    struct fixture *f = *state;

    memset(f->label, LABEL_NORMAL, N);
    f->label[6] = LABEL_NONE;
    ask(f, 5, 1);
    assert_int_equal(f->next[0].tree, 6);
}

static void all_are_asked_about_once_if_so_many_are_wanted(void **state)
{
    struct fixture *f = *state;
    bool is_asked[N] = {false};

    ask(f, N, N);
    for (int i = 0; i < N; i++)
        is_asked[f->next[i].tree] = true;
    for (int i = 0; i < N; i++)
        assert_true(is_asked[i]);
}

static void where_scores_are_no_nats_the_strangest_are_asked_about(void **state)
{
    struct fixture *f = *state;

    f->learner.pivot = NAN;
    ask(f, 4, 4);
    assert_int_equal(f->next[0].tree, 0);
    assert_int_equal(f->next[1].tree, 1);
    assert_int_equal(f->next[2].tree, 2);
    assert_int_equal(f->next[3].tree, 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(strangest_and_least_certain_are_asked_in_turns),
        TEST(the_turn_goes_on_from_the_labels),
        TEST(a_kind_of_which_something_was_said_has_to_wait),
        TEST(doubt_about_a_kind_already_asked_about_gives_way_to_another_kind),
        TEST(what_is_labelled_is_not_asked_again),
        TEST(all_are_asked_about_once_if_so_many_are_wanted),
        TEST(where_scores_are_no_nats_the_strangest_are_asked_about),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
