/* What is typical where: compute always takes twice as long on rank 3, as it has twice the work.
 */
#include "base/err.h"

#include <math.h>

#include "sample_page.h"
#include "test.h"

static const char program[] =
    "synth:60*step(compute@1ms b@200us);ranks=8;jitter=0.05;slow=compute/1/2/3";

static int set_up(void **state)
{
    return sample_page_begin(state, program, "step");
}

/* Own time of a node, by the name of its function. */
static double own_everywhere(struct sample_page *p, const char *name, size_t *node)
{
    const json_t *nodes = json_object_get(p->json, "nodes");

    for (*node = 0; *node < json_array_size(nodes); (*node)++) {
        const json_t *x = json_array_get(nodes, *node);
        uint32_t region = (uint32_t)sample_page_number(x, "region");

        if (strcmp(p->served.run.defs.names.name[region], name) == 0)
            return json_number_value(json_object_get(x, "exclusive_ns"));
    }
    fail_msg("no %s", name);
    return NAN;
}

static void
what_is_usual_on_a_rank_is_said_where_it_is_not_what_is_usual_everywhere(void **state)
{
    struct sample_page *p = *state;
    size_t compute;
    double typical;

    sample_page_ok(p, "/fois/1/typical");
    typical = own_everywhere(p, "compute", &compute);
    assert_true(fabs(typical - 1e6) < 1e5);
    sample_page_ok(p, "/fois/1/typical?location=3");
    assert_true(fabs(own_everywhere(p, "compute", &compute) / typical - 2) < 0.1);
    sample_page_ok(p, "/fois/1/typical?location=2");
    assert_true(own_everywhere(p, "compute", &compute) == typical);

    sample_page_ok(p, "/fois/1/typical/there?locations=2,3");
    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(json_object_get(p->json, "items"), i);
        const json_t *own = json_object_get(item, "own_ns");

        assert_int_equal(sample_page_number(item, "location"), 2 + i);
        assert_int_equal(json_array_size(own), i);
        if (i == 1) {
            const json_t *pair = json_array_get(own, 0);

            assert_int_equal(json_integer_value(json_array_get(pair, 0)), compute);
            assert_true(fabs(json_number_value(json_array_get(pair, 1)) / typical - 2) < 0.1);
        }
    }
}

static void locations_that_are_not_there_are_refused(void **state)
{
    struct sample_page *p = *state;

    assert_int_equal(sample_page_get(p, "/fois/1/typical/there?locations=8"), ERR_USAGE);
    assert_int_equal(sample_page_get(p, "/fois/1/typical?location=8"), ERR_USAGE);
    assert_int_equal(sample_page_get(p, "/fois/2/typical/there"), ERR_NOT_FOUND);
    sample_page_ok(p, "/fois/1/typical/there");
    assert_int_equal(json_array_size(json_object_get(p->json, "items")), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_is_usual_on_a_rank_is_said_where_it_is_not_what_is_usual_everywhere),
        cmocka_unit_test(locations_that_are_not_there_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, sample_page_end);
}
