#include "http/response.h"

#include <math.h>

#include "test.h"

static void columns_begin_where_the_header_says(void **state)
{
    const double x[2] = {1.5, -2};
    const uint8_t y[3] = {7, 8, 9};
    const uint16_t z[1] = {65535};
    struct bundle bundle = {0};
    size_t size, i;
    uint32_t length;
    char *bytes;
    json_t *header, *column;

    (void)state;
    bundle_add(&bundle, "y", BUNDLE_U8, y, 3);
    bundle_add(&bundle, "x", BUNDLE_F64, x, 2);
    bundle_add(&bundle, "z", BUNDLE_U16, z, 1);
    bundle_add(&bundle, "none", BUNDLE_F32, NULL, 0);
    bundle_say(&bundle, "total", json_integer(17));
    bytes = bundle_bytes(&bundle, &size);

    assert_memory_equal(bytes, "SNGC", 4);
    memcpy(&length, bytes + 4, 4);
    assert_int_equal(length % 8, 0);
    header = json_loadb(bytes + 8, length, 0, NULL);
    assert_non_null(header);
    assert_int_equal(json_integer_value(json_object_get(header, "total")), 17);
    json_array_foreach(json_object_get(header, "columns"), i, column)
    {
        static const size_t n[] = {3, 2, 1, 0}, offset[] = {0, 8, 24, 32};

        assert_int_equal(json_integer_value(json_object_get(column, "n")), n[i]);
        assert_int_equal(json_integer_value(json_object_get(column, "offset")), offset[i]);
    }
    assert_int_equal(size, 8 + length + 32);
    assert_memory_equal(bytes + 8 + length, y, 3);
    assert_memory_equal(bytes + 8 + length + 8, x, 16);
    assert_memory_equal(bytes + 8 + length + 24, z, 2);
    json_decref(header);
    free(bytes);
}

static void members_of_structs_become_columns(void **state)
{
    struct row {
        uint64_t ns;
        double real;
        float score;
        uint32_t whole;
        uint8_t flag;
    } row[] = {{1, .5, .25f, 4000000000u, 1}, {1ull << 53, -2, 3, 7, 255}};
    static const struct bundle_field field[] = {
        BUNDLE_FIELD("ns", BUNDLE_F64, struct row, ns),
        BUNDLE_FIELD("real", BUNDLE_F64, struct row, real),
        BUNDLE_FIELD("score", BUNDLE_F32, struct row, score),
        BUNDLE_FIELD("whole", BUNDLE_U32, struct row, whole),
        BUNDLE_FIELD("flag", BUNDLE_U8, struct row, flag)};
    const double ns[] = {1, 9007199254740992}, real[] = {.5, -2};
    const float score[] = {.25f, 3};
    const uint32_t whole[] = {4000000000u, 7};
    const uint8_t flag[] = {1, 255};
    struct bundle bundle = {0};
    char *bytes, *data;
    size_t size;

    (void)state;
    bundle_gather(&bundle, field, 5, row, 2, sizeof *row);
    bytes = bundle_bytes(&bundle, &size);
    data = bytes + size - 56;
    assert_memory_equal(data, ns, 16);
    assert_memory_equal(data + 16, real, 16);
    assert_memory_equal(data + 32, score, 8);
    assert_memory_equal(data + 40, whole, 8);
    assert_memory_equal(data + 48, flag, 2);
    free(bytes);
    bundle_gather(&bundle, field, 5, NULL, 0, sizeof *row);
    assert_int_equal(bundle.column[4].n, 0);
    bundle_release(&bundle);
}

static void a_value_that_json_cannot_say_is_a_problem(void **state)
{
    struct response response = {0};
    json_t *problem;

    (void)state;
    assert_int_equal(response_json(&response, json_pack("{s:f}", "x", NAN)), 0);
    assert_int_equal(response.status, 500);
    problem = json_loadb(response.body, response.size, 0, NULL);
    assert_non_null(json_string_value(json_object_get(problem, "detail")));
    json_decref(problem);
    response_release(&response);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_begin_where_the_header_says),
        cmocka_unit_test(members_of_structs_become_columns),
        cmocka_unit_test(a_value_that_json_cannot_say_is_a_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
