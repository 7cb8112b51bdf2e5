/*
 * Forests are said in one line (sample_forest.h). Most have many equal trees, so that the typical
 * is known, and one that differs.
 */
#include "features/residual.h"

#include "base/err.h"

#include "sample_model.h"
#include "test.h"

/* The trees of a forest by a model that may be of another. */
static void measure_by(const struct residual_model *model, struct residual_place *place,
                       const struct forest *forest, const struct wl *wl,
                       const struct definitions *defs, struct residual_measure *measure)
{
    const struct residual_input input = {.forest = forest, .wl = wl, .defs = defs};

    residual_locate(model, place, &input);
    residual_measures(model, place, &input, measure);
}

/* The trees of the second text are on rank 7. */
static void begin_on_two_ranks(struct sample_model *m, const char *zero, const char *seven)
{
    uint32_t n_zero;

    *m = (struct sample_model){0};
    sample_forest(zero, &m->defs, &m->forest);
    n_zero = m->forest.n_trees;
    sample_forest(seven, &m->defs, &m->forest);
    for (uint32_t t = n_zero; t < m->forest.n_trees; t++) {
        m->forest.location[t] = 1;
        m->forest.place[t] = 7ull << 32;
    }
    sample_model_learn(m);
}

/* n copies of `typical`, then `odd`. */
static const char *mostly(int n, const char *typical, const char *odd)
{
    static char text[1 << 16];
    char *at = text;

    for (int i = 0; i < n; i++)
        at += sprintf(at, "%s ", typical);
    strcpy(at, odd);
    return text;
}

static void equal_trees_measure_nothing(void **state)
{
    struct sample_model m;

    (void)state;
    sample_model_init(&m, mostly(50, "A:100(B:50 C:20)", "A:100(B:50 C:20)"));
    for (uint32_t t = 0; t < m.forest.n_trees; t++) {
        assert_true(m.measure[t].time == 0 && m.measure[t].gross == 0);
        assert_true(m.measure[t].structure == 0 && m.measure[t].size == 0);
    }
    sample_model_release(&m);
}

/* 20 % more, of a function that calls nobody, is 1.8 widths of 10 %; nothing is between D /
 * 1000 and the calls themselves. */
static void a_leaf_that_takes_a_fifth_more_is_so_much_stranger(void **state)
{
    struct residual_pairs pairs;
    struct sample_model m;

    (void)state;
    sample_model_init(&m, mostly(60, "A:100001", "A:120003"));
    assert_float_equal(m.model.offset_ns, 100.001, 1e-6);
    residual_pairs_init(&pairs, &m.model);
    residual_pairs_of(&pairs, &m.model, &m.place, &m.forest, 60);
    assert_float_equal(pairs.pair[0].z_call, log(1.2) / 0.1, 0.01);
    residual_pairs_release(&pairs);
    sample_model_release(&m);
    sample_model_init(
        &m, mostly(60, "A:3000", "A:6000")); /* of a clock that counts microseconds, three */
    assert_true(m.model.offset_ns == 3000);
    sample_model_release(&m);
}

/*
 * D = 170, c = 10 (what all times are multiples of, as the smallest is more than a hundredth
 * of D). B typically takes 50, here 390: z = ln(400/60) / 0.1 = 19.0. Lost: 340 ns = 2 D, all but
 * surely.
 */
static void time_lost_is_against_the_context(void **state)
{
    struct residual_pairs pairs;
    struct residual_pair *pair;
    struct sample_model m;

    (void)state;
    sample_model_init(&m, mostly(60, "A:100(B:50 C:20)", "A:100(B:390 C:20)"));
    assert_true(m.model.root_ns == 170 && m.model.offset_ns == 10);
    assert_true(fabs(m.measure[60].gross - 2) < 1e-6);
    assert_true(fabs(residual_typical(&m.model, &m.place, &m.forest, 60, 181) - 50) < 1e-9);
    residual_pairs_init(&pairs, &m.model);
    residual_pairs_of(&pairs, &m.model, &m.place, &m.forest, 60);
    pair = pairs.pair;
    assert_int_equal(pairs.n, 3);
    assert_int_equal(m.model.paths.region[pair[1].path], 1);
    assert_true(fabs(pair[1].observed_ns - 390) < 1e-9);
    assert_true(fabs(pair[1].typical_ns - 50) < 1e-9);
    assert_true(fabs(pair[1].excess_ns - 340) < 1e-9);
    assert_true(fabs(pair[1].z_call - log(400.0 / 60) / 0.1) < 1e-6);
    assert_true(pair[1].sure_ns > 339.99 && pair[1].sure_ns <= 340);
    assert_true(fabs(residual_sure(&m.model, &m.place, &m.forest, 60, 181) - pair[1].sure_ns) <
                1e-9);
    assert_true(residual_sure(&m.model, &m.place, &m.forest, 0, 1) < 1e-9);
    residual_pairs_release(&pairs);
    assert_true(m.measure[60].time > log1p(100) + 4 && m.measure[0].time == 0);
    sample_model_release(&m);
}

/* 40 trees call B twice and take 30 there each; a B that takes 30 is typical in them only. */
static void the_subtree_is_part_of_the_context(void **state)
{
    static char text[1 << 16];
    struct residual_pairs pairs;
    struct sample_model m;
    char *at = text;

    (void)state;
    for (int i = 0; i < 40; i++)
        at += sprintf(at, "A:100(B:30(X:1)) A:100(B:300(Y:1)) ");
    sample_model_init(&m, text);
    assert_true(fabs(residual_typical(&m.model, &m.place, &m.forest, 0, 1) - 30) < 1e-9);
    assert_true(fabs(residual_typical(&m.model, &m.place, &m.forest, 1, 4) - 300) < 1e-9);
    residual_pairs_init(&pairs, &m.model);
    residual_pairs_of(&pairs, &m.model, &m.place, &m.forest, 0);
    assert_true(fabs(pairs.pair[1].z_call) < 1e-9);
    residual_pairs_release(&pairs);
    sample_model_release(&m);
}

/* 19 of 20 calls of A make B and C; one makes neither B, nor a typical number of C. */
/* B takes three times as long on rank 7, which has other work: only more than that is lost. */
static void what_is_constant_for_a_rank_is_no_excess_there(void **state)
{
    char zero[1 << 16];
    struct sample_model m;
    uint32_t last;

    (void)state;
    strcpy(zero, mostly(100, "A:100(B:50 C:20)", "A:100(B:150 C:20)"));
    begin_on_two_ranks(&m, zero, mostly(40, "A:100(B:150 C:20)", "A:100(B:450 C:20)"));
    last = m.forest.n_trees - 1;
    assert_true(m.measure[0].gross == 0 && m.measure[0].time == 0);
    assert_true(m.measure[101].gross < 1e-6 && m.measure[101].time < 1e-6);
    assert_true(fabs(m.measure[100].gross - 100 / m.model.root_ns) < 1e-6);
    assert_true(fabs(m.measure[last].gross - 300 / m.model.root_ns) < 1e-6);
    assert_int_equal(m.measure[last].loss.typical_ns, 270);
    assert_int_equal(m.measure[last].loss.ns, 300);
    sample_model_release(&m);
}

/* Of a rank that it has not seen, a model knows what is typical on all. */
static void a_model_knows_ranks_by_their_number(void **state)
{
    struct residual_measure measure[2];
    struct residual_place place;
    struct residual_model copy;
    struct forest other = {0};
    struct pack pack = {0};
    char zero[1 << 16];
    struct sample_model m;
    struct wl wl;

    (void)state;
    strcpy(zero, mostly(100, "A:100(B:50 C:20)", ""));
    begin_on_two_ranks(&m, zero, mostly(40, "A:100(B:150 C:20)", ""));
    residual_pack(&m.model, &pack);
    assert_int_equal(residual_unpack(&copy, &pack, m.defs.names.n), 0);
    sample_forest("A:100(B:150 C:20) A:100(B:150 C:20)", &m.defs, &other);
    other.place[0] = 7ull << 32;
    other.place[1] = 8ull << 32;
    wl_init(&wl, &other, &m.defs, false, NULL);
    measure_by(&copy, &place, &other, &wl, &m.defs, measure);
    assert_true(measure[0].gross < 1e-6);
    assert_true(fabs(measure[1].gross - 100 / m.model.root_ns) < 1e-6);
    residual_place_release(&place);
    residual_release(&copy);
    wl_release(&wl);
    forest_release(&other);
    pack_release(&pack);
    sample_model_release(&m);
}

static void rare_shapes_are_rare(void **state)
{
    struct shape_child child[4];
    struct sample_model m;
    uint32_t typical, least, most;

    (void)state;
    sample_model_init(&m, mostly(19, "A(B C C)", "A(C C C C C)"));
    assert_true(fabs(m.measure[19].structure - log(20)) < 1e-8);
    assert_int_equal(m.measure[19].rarest, 19 * 4);
    assert_true(fabs(m.measure[0].structure - 0) < 1e-8);
    typical = shapes_typical(&m.model.shapes, 0);
    assert_int_equal(
        m.model.shapes.child_first[typical + 1] - m.model.shapes.child_first[typical], 2);
    assert_int_equal(
        shape_children(&m.forest, m.place.path + m.place.like[19], m.model.apart, 76, child, 4),
        1);
    assert_int_equal(child[0].number_class, 5);
    shape_class_range(shape_class(5), &least, &most);
    assert_int_equal(least, 4);
    assert_int_equal(most, 7);
    sample_model_release(&m);
}

/* How rare the last of 40 trees is by its shape and size, where these functions are known from
 * samples. */
static double rarity_where_sampled(const char *typical, const char *odd, const char *sampled)
{
    struct sample_model m = {0};
    double structure;

    sample_forest(mostly(39, typical, odd), &m.defs, &m.forest);
    for (uint32_t r = 0; r < m.defs.names.n; r++)
        m.defs.region[r].is_sampled = strchr(sampled, m.defs.region[r].name[0]) != NULL;
    sample_model_learn(&m);
    structure = m.measure[39].structure + m.measure[39].size;
    sample_model_release(&m);
    return structure;
}

static void what_a_sample_falls_into_is_no_matter_of_shape(void **state)
{
    (void)state;
    assert_true(rarity_where_sampled("A(C)", "A(B C)", "") > 3);
    assert_true(rarity_where_sampled("A(C)", "A(B C)", "B") == 0);
    assert_true(rarity_where_sampled("A(C)", "A(B(B) C)", "B") == 0);
    assert_true(rarity_where_sampled("A(B C)", "A(C)", "AB") == 0);
    assert_true(rarity_where_sampled("A(C)", "A(B(D) C)", "B") > 3);
    assert_true(rarity_where_sampled("A", "A(B)", "AB") == 0);
}

static void classes_of_numbers_are_powers_of_two(void **state)
{
    uint32_t least, most;

    (void)state;
    for (uint32_t n = 0; n < 5000; n++) {
        shape_class_range(shape_class(n), &least, &most);
        assert_true(least <= n && n <= most);
        assert_int_equal(shape_class(least), shape_class(most));
    }
    assert_int_equal(shape_class(2), 2);
    assert_int_equal(shape_class(3), 3);
    assert_int_equal(shape_class(4), 4);
}

static void one_tree_or_no_time_is_no_trouble(void **state)
{
    static const char *const texts[] = {"A", "A:0", "A:0(B:0)", "A:0 A:0(B:0)", "A:5 A:0"};
    struct sample_model m;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sample_model_init(&m, texts[i]);
        for (uint32_t t = 0; t < m.forest.n_trees; t++)
            assert_true(isfinite(m.measure[t].time + m.measure[t].gross +
                                 m.measure[t].structure + m.measure[t].size_z));
        sample_model_release(&m);
    }
}

/* A model read back places and measures the same forest, and another, as the original does. */
/* By 3 and 1 of the 2 that the lower one of the middle takes; a call that only one makes is no measure. */
static void of_few_the_longer_is_the_stranger(void **state)
{
    struct sample_model m;

    (void)state;
    sample_model_init(&m, "A:2000 A:1000(B:500) A:5000 A:3000");
    for (uint32_t t = 0; t < 4; t++)
        assert_true(m.measure[t].structure == 0 && m.measure[t].size == 0);
    assert_float_equal(m.measure[0].time, 0, 1e-9);
    assert_float_equal(m.measure[1].time, 0, 1e-9);
    assert_float_equal(m.measure[2].time, 1.5, 1e-9);
    assert_float_equal(m.measure[3].time, 0.5, 1e-9);
    sample_model_release(&m);
}

static void a_packed_model_measures_the_same(void **state)
{
    struct residual_place place;
    struct residual_measure *measure;
    struct residual_model copy;
    struct pack pack = {0};
    struct sample_model m;
    const struct residual_input input = {.forest = &m.forest, .wl = &m.wl, .defs = &m.defs};

    (void)state;
    sample_model_init(&m, mostly(60, "A:100(B:50 C:20)", "A:100(B:390 C:20 D)"));
    residual_pack(&m.model, &pack);
    assert_int_equal(residual_unpack(&copy, &pack, m.defs.names.n), 0);
    residual_locate(&copy, &place, &input);
    for (uint32_t t = 0; t < m.forest.n_trees; t++)
        for (uint32_t v = m.forest.first[t]; v < m.forest.first[t + 1]; v++) {
            uint32_t at = residual_like(&place, &m.forest, t, v);

            assert_int_equal(at, residual_like(&m.place, &m.forest, t, v));
            assert_int_equal(place.path[at], m.place.path[at]);
            assert_int_equal(place.class[at], m.place.class[at]);
            assert_int_equal(place.shape[at], m.place.shape[at]);
        }
    measure = calloc(m.forest.n_trees, sizeof *measure);
    residual_measures(&copy, &place, &input, measure);
    assert_memory_equal(measure, m.measure, m.forest.n_trees * sizeof *measure);
    free(measure);
    residual_place_release(&place);
    residual_release(&copy);
    pack_release(&pack);
    sample_model_release(&m);
}

static void what_a_model_does_not_know_is_strange(void **state)
{
    struct residual_measure measure;
    struct residual_place place;
    struct forest other = {0};
    struct sample_model m;
    struct wl wl;

    (void)state;
    sample_model_init(&m, mostly(60, "A:100(B:50 C:20)", "A:100(B:50 C:20)"));
    sample_forest("A:100(B:50 C:20 New:340(Newer))", &m.defs, &other);
    wl_init(&wl, &other, &m.defs, false, NULL);
    measure_by(&m.model, &place, &other, &wl, &m.defs, &measure);
    assert_true(fabs(measure.gross - 350.0 / 170) < 0.05);
    assert_true(measure.structure > 4);
    residual_place_release(&place);
    wl_release(&wl);
    forest_release(&other);
    sample_model_release(&m);
}

/* 240 trees, each twentieth with a checkpoint; the one numbered `odd` is another tree. */
static const char *with_checkpoints(const char *checkpoint, uint32_t odd, const char *other)
{
    static char text[1 << 16];
    char *at = text;

    for (uint32_t t = 0; t < 240; t++)
        at += sprintf(at, "%s ", t == odd ? other : t % 20 == 19 ? checkpoint : "A:100(B:50)");
    return text;
}

/*
 * Twelve checkpoints are too few for a class, and A's own time is longer in each. But they come
 * by plan, so they are compared with each other, also where the subtree of one is unlike the
 * others'; and so is one of another run. What comes without a plan is compared with all.
 */
static void few_executions_by_plan_are_compared_with_each_other(void **state)
{
    struct residual_place place;
    struct residual_measure more[3];
    struct forest other = {0};
    struct sample_model m;
    struct wl wl;

    (void)state;
    sample_model_init(&m,
                      with_checkpoints("A:900(B:50 Save:20)", 99, "A:900(B:50 Save:20 C:5)"));
    assert_int_equal(m.measure[19].loss.typical_ns, 970);
    assert_int_equal(m.measure[99].loss.more_ns, 5);
    assert_int_equal(m.measure[20].loss.typical_ns, 150);
    sample_forest("A:900(B:50 Save:20) A:1800(B:50 Save:20 D:1) A:900(B:50 D:20)", &m.defs,
                  &other);
    wl_init(&wl, &other, &m.defs, false, NULL);
    measure_by(&m.model, &place, &other, &wl, &m.defs, more);
    assert_int_equal(more[0].loss.typical_ns, 970);
    assert_int_equal(more[1].loss.typical_ns, 970);
    assert_int_equal(more[2].loss.typical_ns, 150);
    residual_place_release(&place);
    wl_release(&wl);
    forest_release(&other);
    sample_model_release(&m);
    sample_model_init(&m, with_checkpoints("A:900(B:50 Save:20)", 98, "A:900(B:50 Save:20)"));
    assert_int_equal(m.measure[19].loss.typical_ns, 170);
    sample_model_release(&m);
}

/* Every prefix, and every byte changed, is refused or harmless. */
static void damaged_models_are_refused(void **state)
{
    struct pack pack = {0};
    char zero[4096];
    struct sample_model m;

    (void)state;
    strcpy(zero, mostly(40, "A:100(B:50)", "A:100(C)"));
    begin_on_two_ranks(&m, zero, mostly(30, "A:100(B:150)", ""));
    assert_true(m.model.local.at.n > 0);
    residual_pack(&m.model, &pack);
    for (size_t n = 0; n < pack.n; n++) {
        struct pack part = {.data = pack.data, .n = n};
        struct residual_model model;

        assert_int_equal(residual_unpack(&model, &part, m.defs.names.n), ERR_FORMAT);
        residual_release(&model);
    }
    for (size_t i = 0; i < pack.n; i++) {
        struct pack whole = {.data = pack.data, .n = pack.n};
        struct residual_model model;

        pack.data[i] ^= 0xff;
        if (residual_unpack(&model, &whole, m.defs.names.n) == 0) {
            struct residual_place place;

            measure_by(&model, &place, &m.forest, &m.wl, &m.defs, m.measure);
            residual_place_release(&place);
        }
        residual_release(&model);
        pack.data[i] ^= 0xff;
    }
    pack_release(&pack);
    sample_model_release(&m);
}

/* Ranks 0 and 7, and the first execution of each; all others are alike. */
static void begin_with_first(struct sample_model *m, const char *zero, const char *seven)
{
    const char *rest = mostly(58, "A:1000(B:900)", "A:1000(B:900)");
    static char text[2][1 << 17];

    snprintf(text[0], sizeof text[0], "%s %s", zero, rest);
    snprintf(text[1], sizeof text[1], "%s %s", seven, rest);
    *m = (struct sample_model){0};
    sample_forest(text[0], &m->defs, &m->forest);
    sample_forest(text[1], &m->defs, &m->forest);
    for (uint32_t t = 60; t < m->forest.n_trees; t++) {
        m->forest.location[t] = 1;
        m->forest.place[t] = 7ull << 32;
    }
    for (uint32_t t = 0; t < m->forest.n_trees; t++)
        m->forest.index[t] = t % 60;
    sample_model_learn(m);
}

/* Both ranks set something up in their first execution; or one of them does. */
static void what_only_first_executions_do_is_how_programs_begin(void **state)
{
    struct sample_model m;

    (void)state;
    begin_with_first(&m, "A:1200(C:200 B:900)", "A:1210(C:200 D:10 B:900)");
    assert_int_equal(m.forest.n_trees, 120);
    assert_true(m.measure[0].structure < 0.1 && m.measure[0].gross < 0.05);
    assert_true(m.measure[60].structure > 4); /* D is its own */
    sample_model_release(&m);
    begin_with_first(&m, "A:1200(C:200 B:900)", "A:1000(B:900)");
    assert_true(m.measure[0].structure > 4 && m.measure[0].gross > 0.08);
    sample_model_release(&m);
}

/* Of two first executions the shorter one says what is typical of them. */
static void a_first_execution_that_takes_longer_than_the_other_is_strange(void **state)
{
    struct sample_model m;

    (void)state;
    begin_with_first(&m, "A:2000(B:1900)", "A:3000(B:2900)");
    assert_true(m.measure[0].gross < 0.05);
    assert_float_equal(m.measure[60].gross, 2000 / 1900.0, 0.01);
    sample_model_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_trees_measure_nothing),
        cmocka_unit_test(few_executions_by_plan_are_compared_with_each_other),
        cmocka_unit_test(a_leaf_that_takes_a_fifth_more_is_so_much_stranger),
        cmocka_unit_test(time_lost_is_against_the_context),
        cmocka_unit_test(the_subtree_is_part_of_the_context),
        cmocka_unit_test(what_is_constant_for_a_rank_is_no_excess_there),
        cmocka_unit_test(a_model_knows_ranks_by_their_number),
        cmocka_unit_test(rare_shapes_are_rare),
        cmocka_unit_test(what_a_sample_falls_into_is_no_matter_of_shape),
        cmocka_unit_test(classes_of_numbers_are_powers_of_two),
        cmocka_unit_test(one_tree_or_no_time_is_no_trouble),
        cmocka_unit_test(of_few_the_longer_is_the_stranger),
        cmocka_unit_test(a_packed_model_measures_the_same),
        cmocka_unit_test(what_a_model_does_not_know_is_strange),
        cmocka_unit_test(damaged_models_are_refused),
        cmocka_unit_test(what_only_first_executions_do_is_how_programs_begin),
        cmocka_unit_test(a_first_execution_that_takes_longer_than_the_other_is_strange),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
