#include "features/features.h"

#include "base/err.h"

#include "sample_forest.h"
#include "test.h"

struct fixture {
    struct definitions defs;
    struct forest forest;
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct stack2vec embedding;
    struct stack2vec_unseen unseen;
    struct feature_input input;
    struct matrix x;
};

static void begin(struct fixture *f, const char *text, const char *features)
{
    *f = (struct fixture){.embedding.opts = stack2vec_default()};
    sample_forest(text, &f->defs, &f->forest);
    f->defs.location = calloc(1, sizeof *f->defs.location);
    f->defs.n_locations = 1;
    wl_init(&f->wl, &f->forest, &f->defs, true, NULL);
    residual_fit(
        &f->model, &f->place,
        &(struct residual_input){.forest = &f->forest, .wl = &f->wl, .defs = &f->defs});
    f->input = (struct feature_input){&f->forest, &f->defs, &f->wl,        &f->model,
                                      &f->place,  NULL,     &f->embedding, &f->unseen};
    assert_int_equal(feature_matrix(feature_find(features), &f->input, &f->x), 0);
    assert_int_equal(f->x.rows, f->forest.n_trees);
}

static uint32_t complete_of(const struct fixture *f, uint32_t v)
{
    return wl_complete(&f->wl, &f->forest, forest_tree(&f->forest, v), v);
}

static void end(struct fixture *f)
{
    free(f->x.x);
    stack2vec_release(&f->embedding);
    residual_release(&f->model);
    residual_place_release(&f->place);
    wl_release(&f->wl);
    forest_release(&f->forest);
    definitions_release(&f->defs);
}

static void kinds_are_found_by_their_names(void **state)
{
    (void)state;
    assert_string_equal(feature_find("time")->name, "time");
    assert_true(feature_find("subtrees")->needs_bags);
    assert_null(feature_find("tim"));
    assert_null(feature_find(""));
}

/* Durations 10, 20, 30, 40: mean 25, deviation sqrt(125). Exits 10, 30, 60, 100: mean 50. */
static void time_columns_have_mean_0_and_deviation_1(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A:10 A:20 A:30 A:40", "time");
    assert_int_equal(f.x.cols, 4);
    for (size_t t = 0; t < 4; t++) {
        const double *row = matrix_row(f.x, t);
        double exit = 5 * (double)(t + 1) * (double)(t + 2);

        assert_true(fabs(row[0] - (10 * (double)t - 15) / sqrt(125)) < 1e-12);
        assert_true(fabs(row[1] - (exit - 50) / sqrt((1600 + 400 + 100 + 2500) / 4.0)) < 1e-12);
        assert_true(row[2] == 0 && row[3] == 0); /* one value only */
    }
    end(&f);
}

/* The complete tree weighs its duration; together a leaf's degree-0 labels all leaves' time. */
static void subtrees_weigh_their_time_in_typical_durations(void **state)
{
    struct fixture f;
    double typical;

    (void)state;
    begin(&f, "A:10(B:20 B:30) A:10(B:20 B:30) A:10(B:80 B:30)", "subtrees");
    typical = f.model.root_ns;
    assert_true(typical == 60);
    assert_int_equal(f.x.cols, f.wl.vocab.label.n);
    for (uint32_t t = 0; t < 3; t++) {
        const double *row = matrix_row(f.x, t);
        uint32_t root = f.forest.first[t];

        assert_true(fabs(row[complete_of(&f, root)] - (t < 2 ? 60 : 120) / typical) < 1e-12);
        assert_true(fabs(row[complete_of(&f, root + 1)] - (t < 2 ? 50 : 110) / typical) <
                    1e-12);
    }
    end(&f);
}

/* Rows of equal trees are equal; what is typical is 0 everywhere. */
static void residual_rows_are_0_but_for_what_is_strange(void **state)
{
    static char text[4096];
    struct fixture f;
    size_t n_strange = 0;

    (void)state;
    for (int i = 0; i < 60; i++)
        strcat(text, "A:10(B:50) ");
    strcat(text, "A:10(B:900)");
    begin(&f, text, "residual");
    assert_int_equal(f.x.cols, 4); /* two paths: time and rarity */
    for (size_t t = 0; t < 60; t++)
        for (size_t c = 0; c < 4; c++)
            assert_true(fabs(matrix_row(f.x, t)[c]) < 1e-12);
    for (size_t c = 0; c < 4; c++)
        n_strange += matrix_row(f.x, 60)[c] > 1e-12;
    assert_int_equal(n_strange, 1);
    assert_true(matrix_row(f.x, 60)[1] > 1); /* time in A > B, the second path */
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_found_by_their_names),
        cmocka_unit_test(time_columns_have_mean_0_and_deviation_1),
        cmocka_unit_test(subtrees_weigh_their_time_in_typical_durations),
        cmocka_unit_test(residual_rows_are_0_but_for_what_is_strange),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
