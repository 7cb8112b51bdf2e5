#include "view/executions.h"

#include "base/err.h"

#include "test.h"

static void assert_parsed(const char *id, const char *foi, uint32_t rank, uint32_t thread,
                          uint32_t index)
{
    char name[EXECUTION_ID_SIZE];
    uint32_t r, t, i;

    assert_int_equal(execution_parse(id, name, sizeof name, &r, &t, &i), 0);
    assert_string_equal(name, foi);
    assert_int_equal(r, rank);
    assert_int_equal(t, thread);
    assert_int_equal(i, index);
}

static void ids_are_read_in_all_their_forms(void **state)
{
    (void)state;
    assert_parsed("#4-40", "", 4, 0, 40);
    assert_parsed("4-40", "", 4, 0, 40);
    assert_parsed("#4.1-40", "", 4, 1, 40);
    assert_parsed("compute#4-40", "compute", 4, 0, 40);
    assert_parsed("operator#()#4.2-0", "operator#()", 4, 2, 0);
    assert_parsed("#4294967295-4294967295", "", UINT32_MAX, 0, UINT32_MAX);
}

static void what_is_no_id_is_refused(void **state)
{
    static const char *const bad[] = {"",      "#",      "#4",     "#4-",           "#-4",
                                      "4-4x",  "#4 -40", "#4.-40", "#4.1.2-40",     "#+4-40",
                                      "# 4-4", "#4--40", "#4-40 ", "#4294967296-0", "compute"};
    char name[EXECUTION_ID_SIZE];
    uint32_t rank, thread, index;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(execution_parse(bad[i], name, sizeof name, &rank, &thread, &index),
                         ERR_USAGE);
}

static void what_is_printed_is_read(void **state)
{
    static const char *const names[] = {NULL, "solve", "a#b", "A::f(int, char)"};
    char id[EXECUTION_ID_SIZE];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (uint32_t thread = 0; thread < 3; thread++) {
            execution_id(id, names[i], 17, thread, 300);
            assert_parsed(id, names[i] ? names[i] : "", 17, thread, 300);
        }
}

/* A run that somebody else made has in its database what they like. */
static void texts_of_an_execution_are_fields_of_csv_whatever_they_are(void **state)
{
    static const struct execution x = {
        .id = "#1-2", .foi = "step", .verdict = "=1+1", .label = "a,\nb", .why = "@x"};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    execution_to_csv(&x, out);
    fclose(out);
    assert_string_equal(text, "#1-2,step,0,0,0,0,0,0,0,0,'=1+1,\"a,\nb\",'@x,0,0,0,,0,0,\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_read_in_all_their_forms),
        cmocka_unit_test(what_is_no_id_is_refused),
        cmocka_unit_test(what_is_printed_is_read),
        cmocka_unit_test(texts_of_an_execution_are_fields_of_csv_whatever_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
