/* Many equal trees and some that differ, each in its own way. */

#include "learn/reasons.h"

#include "features/wl.h"

#include "sample_model.h"
#include "test.h"

#define TYPICAL 100u

struct fixture {
    struct sample_model m;
    struct calibration calibration;
    struct residual_scores scores;
    struct reasons reasons;
};

/* Typical trees, then the odd ones, whose numbers begin at USUAL. */
static void begin(struct fixture *f, const char *odd)
{
    static char text[1 << 14];
    struct reasons_input input;
    char *at = text;

    *f = (struct fixture){.m = {.measure = NULL}};
    for (unsigned i = 0; i < TYPICAL; i++)
        at += sprintf(at, "A:100(B:%u(C:50) D:%u(C:40) E:30) ", 50 + i % 3, 60 + i % 2);
    strcpy(at, odd);
    sample_model_init(&f->m, text);
    calibration_fit(&f->calibration, f->m.measure, f->m.forest.n_trees, NULL);
    residual_score(&f->calibration, f->m.measure, f->m.forest.n_trees, NULL, &f->scores);
    input = (struct reasons_input){&f->m.forest, &f->m.model, &f->m.place, f->m.measure,
                                   &f->scores};
    reasons_find(&f->reasons, &input, false);
}

static void end(struct fixture *f)
{
    reasons_release(&f->reasons);
    residual_scores_release(&f->scores);
    calibration_release(&f->calibration);
    sample_model_release(&f->m);
}

static void assert_kind(const struct fixture *f, uint32_t t, const char *expected)
{
    char said[REASON_SIZE];

    reasons_say(reasons_kind(&f->reasons, t), &f->m.model, &f->m.defs, said);
    assert_string_equal(said, expected);
}

static bool has_word(const struct fixture *f, uint32_t t, uint32_t col)
{
    for (size_t e = f->reasons.rows.first[t]; e < f->reasons.rows.first[t + 1]; e++)
        if (f->reasons.rows.col[e] == col)
            return true;
    return false;
}

static uint32_t n_shared(const struct fixture *f, uint32_t a, uint32_t b)
{
    uint32_t n = 0;

    for (size_t e = f->reasons.rows.first[a]; e < f->reasons.rows.first[a + 1]; e++)
        n += has_word(f, b, f->reasons.rows.col[e]);
    return n;
}

#define IN_B_C "A:100(B:50(C:900) D:60(C:40) E:30) "
#define IN_B_C_LESS "A:100(B:50(C:400) D:60(C:40) E:30) "
#define IN_D_C "A:100(B:50(C:50) D:60(C:900) E:30) "
#define IN_E "A:100(B:50(C:50) D:60(C:40) E:900) "
#define E_CALLS_B "A:100(B:50(C:50) D:60(C:40) E:30(B:1)) "

static void a_kind_names_the_part_and_the_path(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, IN_B_C IN_E E_CALLS_B);
    assert_kind(&f, TYPICAL, "time in B > C");
    assert_kind(&f, TYPICAL + 1, "time in A > E");
    assert_kind(&f, TYPICAL + 2, "shape of A > E");
    end(&f);
}

static void executions_that_lost_time_in_one_place_have_the_same_kind(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, IN_B_C IN_B_C_LESS IN_E);
    assert_int_equal(reasons_kind(&f.reasons, TYPICAL), reasons_kind(&f.reasons, TYPICAL + 1));
    assert_int_not_equal(reasons_kind(&f.reasons, TYPICAL),
                         reasons_kind(&f.reasons, TYPICAL + 2));
    assert_true(n_shared(&f, TYPICAL, TYPICAL + 1) > n_shared(&f, TYPICAL, TYPICAL + 2));
    end(&f);
}

static void the_same_function_on_two_paths_is_a_word_in_common(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, IN_B_C IN_D_C IN_E);
    assert_int_not_equal(reasons_kind(&f.reasons, TYPICAL),
                         reasons_kind(&f.reasons, TYPICAL + 1));
    assert_true(n_shared(&f, TYPICAL, TYPICAL + 1) > n_shared(&f, TYPICAL, TYPICAL + 2));
    end(&f);
}

static void every_word_is_a_column_of_the_model(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, IN_D_C);
    assert_int_equal(f.reasons.n_lasting, reasons_columns(&f.m.model));
    assert_int_equal(f.reasons.rows.n, f.m.forest.n_trees);
    for (size_t e = 0; e < f.reasons.rows.first[f.reasons.rows.n]; e++)
        assert_true(f.reasons.rows.col[e] < f.reasons.n_lasting);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kind_names_the_part_and_the_path),
        cmocka_unit_test(executions_that_lost_time_in_one_place_have_the_same_kind),
        cmocka_unit_test(the_same_function_on_two_paths_is_a_word_in_common),
        cmocka_unit_test(every_word_is_a_column_of_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
