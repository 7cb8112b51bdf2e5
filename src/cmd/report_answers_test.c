#include "cmd/report_answers.h"

#include "base/err.h"

#include "sample_page.h"
#include "test.h"

#define PROGRAM                                                                                \
    "synth:40*step(compute@1ms(a 3*b) >1 <1 |);ranks=4;jitter=0.1;slow=compute/67/9/2"

/* A run, and the answers of a report on it. */
struct sample {
    struct sample_page page; /* only its run is used */
    char path[64];
    struct answers answers;
};

static void sample_init(struct sample *s, const char *program)
{
    sample_page_init(&s->page, program, "step");
    snprintf(s->path, sizeof s->path, "%s/a.snag", s->page.dir);
    s->answers = (struct answers){.json = NULL};
    assert_int_equal(answers_open(&s->answers, s->path), 0);
}

static void sample_release(struct sample *s)
{
    answers_close(&s->answers);
    sample_page_release(&s->page);
}

static const json_t *nodes_of(const struct sample *s, const char *address)
{
    const json_t *nodes = json_object_get(json_object_get(s->answers.json, address), "nodes");

    assert_true(json_array_size(nodes) > 0);
    return nodes;
}

static int64_t value(const json_t *object, const char *field)
{
    assert_true(json_is_integer(json_object_get(object, field)));
    return json_integer_value(json_object_get(object, field));
}

static bool has_id(const json_t *list, int64_t id)
{
    const json_t *row;
    size_t i;

    json_array_foreach(list, i, row) if (value(row, "id") == id) return true;
    return false;
}

static void an_execution_brings_all_that_its_drawings_name(void **state)
{
    const json_t *nodes, *node, *shown, *place;
    struct sample s;
    bool is_in;
    size_t i;

    (void)state;
    sample_init(&s, PROGRAM);
    assert_int_equal(answers_add_execution(&s.answers, 1, 67, &is_in), 0);
    assert_true(is_in);
    assert_int_equal(answers_finish(&s.answers), 0);
    nodes = nodes_of(&s, "/fois/1/executions/67/tree");
    json_array_foreach(nodes, i, node)
    {
        assert_true(value(node, "parent") < (int64_t)i);
        assert_true(i == 0 || value(node, "parent") >= 0);
        assert_true(has_id(json_object_get(s.answers.json, "/regions"), value(node, "region")));
    }
    nodes_of(&s, "/fois/1/typical");
    shown = json_object_get(s.answers.json, "/fois/1/executions/67");
    assert_true(json_array_size(json_object_get(shown, "places")) > 1); /* its neighbours */
    json_array_foreach(json_object_get(shown, "places"), i, place) assert_true(
        has_id(json_object_get(json_object_get(s.answers.json, "/run"), "locations"),
               json_integer_value(place)));
    assert_true(
        json_is_string(json_object_get(s.answers.json, "/fois/1/executions/67/timeline")));
    sample_release(&s);
}

/* 1,000 calls of as many functions, each less than can be seen, and one that can. */
static void what_is_too_narrow_to_be_drawn_is_left_out(void **state)
{
    char program[32768];
    size_t n = (size_t)snprintf(program, sizeof program, "synth:20*step(wide@10ms");
    const json_t *nodes;
    struct sample s;
    bool is_in;

    (void)state;
    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(program + n, sizeof program - n, " f%d@10us", i);
    snprintf(program + n, sizeof program - n, ")");
    sample_init(&s, program);
    assert_int_equal(answers_add_execution(&s.answers, 1, 3, &is_in), 0);
    nodes = nodes_of(&s, "/fois/1/executions/3/tree");
    assert_int_equal(json_array_size(nodes), 2);
    assert_int_equal(value(json_array_get(nodes, 1), "parent"), 0);
    sample_release(&s);
}

static void what_has_no_room_is_left_out_as_a_whole(void **state)
{
    struct sample s;
    bool is_in = true;
    struct answers_points points = {.n = 1};

    (void)state;
    sample_init(&s, PROGRAM);
    s.answers.bytes = ANSWERS_MAX_BYTES - 100;
    assert_int_equal(answers_add_execution(&s.answers, 1, 67, &is_in), 0);
    assert_false(is_in);
    assert_int_equal(answers_add_points(&s.answers, 1, ANSWERS_MAX_POINTS, &points), 0);
    assert_int_equal(points.n, 0);
    assert_int_equal(points.of, 160);
    assert_int_equal(json_object_size(s.answers.json), 0);
    sample_release(&s);
}

/* Its tree fits, its timeline does not. */
static void of_an_execution_that_does_not_fit_nothing_stays(void **state)
{
    struct sample s;
    bool is_in = true;
    size_t bytes;

    (void)state;
    sample_init(&s, PROGRAM);
    assert_int_equal(answers_add_execution(&s.answers, 1, 67, &is_in), 0);
    assert_true(is_in);
    bytes = s.answers.bytes = ANSWERS_MAX_BYTES - 5000;
    assert_int_equal(answers_add_execution(&s.answers, 1, 66, &is_in), 0);
    assert_false(is_in);
    assert_int_equal(s.answers.bytes, bytes);
    assert_int_equal(json_object_size(s.answers.json), 5);
    sample_release(&s);
}

static void of_many_executions_some_are_points(void **state)
{
    struct answers_points points;
    struct sample s;

    (void)state;
    sample_init(&s, "synth:7000*step(a@1ms);jitter=0.1;slow=a/67/9/2");
    assert_int_equal(answers_add_points(&s.answers, 1, ANSWERS_MAX_POINTS, &points), 0);
    assert_int_equal(points.of, 7000);
    assert_true(points.n <= ANSWERS_MAX_POINTS && points.n > ANSWERS_MAX_POINTS / 2);
    sample_release(&s);
}

/* Ten of 200, of which no more are points than half of those there is room for. */
static void of_many_anomalies_some_are_points(void **state)
{
    struct answers_points points;
    struct sample s;

    (void)state;
    sample_init(&s, "synth:200*step(a@1ms);jitter=0.1;slow=a/20/9/0");
    assert_int_equal(answers_add_points(&s.answers, 1, ANSWERS_MAX_POINTS, &points), 0);
    assert_int_equal(points.n, 200);
    assert_int_equal(points.n_anomalies, 10);
    assert_int_equal(answers_add_points(&s.answers, 1, 8, &points), 0);
    assert_int_equal(points.n_anomalies, 4);
    assert_int_equal(points.of, 200);
    sample_release(&s);
}

static void executions_that_are_not_there_are_an_error(void **state)
{
    struct sample s;
    bool is_in;

    (void)state;
    sample_init(&s, PROGRAM);
    assert_int_equal(answers_add_execution(&s.answers, 1, 4000, &is_in), ERR_NOT_FOUND);
    assert_int_equal(answers_add_execution(&s.answers, 7, 0, &is_in), ERR_NOT_FOUND);
    assert_int_equal(json_object_size(s.answers.json), 0);
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_execution_brings_all_that_its_drawings_name),
        cmocka_unit_test(what_is_too_narrow_to_be_drawn_is_left_out),
        cmocka_unit_test(what_has_no_room_is_left_out_as_a_whole),
        cmocka_unit_test(of_an_execution_that_does_not_fit_nothing_stays),
        cmocka_unit_test(of_many_executions_some_are_points),
        cmocka_unit_test(of_many_anomalies_some_are_points),
        cmocka_unit_test(executions_that_are_not_there_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
