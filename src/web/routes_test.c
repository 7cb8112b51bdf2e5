#include "web/routes.h"

#include "base/test.h"

static const struct route *find(const char *path, bool is_post, int64_t id[2])
{
    struct request request = {.path = path, .is_post = is_post};
    const char *allow;
    const struct route *route = route_find(&request, &allow);

    memcpy(id, request.id, sizeof request.id);
    return route;
}

static void numbers_are_taken_from_the_path(void **state)
{
    int64_t id[2];
    const struct route *route = find("/api/v1/fois/3/executions/123456/tree", false, id);

    (void)state;
    assert_non_null(route);
    assert_ptr_equal(route->answer, api_tree);
    assert_int_equal(id[0], 3);
    assert_int_equal(id[1], 123456);
    assert_ptr_equal(find("/api/v1/run", false, id)->answer, api_run);
}

static void other_paths_are_nobodys(void **state)
{
    static const char *const bad[] = {"/",
                                      "",
                                      "/api/v1",
                                      "/api/v1/",
                                      "/api/v2/run",
                                      "/api/v1/run/",
                                      "/api/v1/runs",
                                      "/api/v1/fois//columns",
                                      "/api/v1/fois/-1/columns",
                                      "/api/v1/fois/1x/columns",
                                      "/api/v1/fois/99999999999999999999/columns",
                                      "/api/v1/fois/1/columns/..",
                                      "/api/v1/../run",
                                      "/api/v1/fois/1/executions/",
                                      "/api/v1/fois/{foi}/columns"};
    int64_t id[2];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(find(bad[i], false, id));
}

static void a_wrong_method_names_the_right_ones(void **state)
{
    struct request request = {.path = "/api/v1/fois/1/labels"};
    const char *allow;

    (void)state;
    assert_null(route_find(&request, &allow));
    assert_string_equal(allow, "POST");
    request = (struct request){.path = "/api/v1/run", .is_post = true};
    assert_null(route_find(&request, &allow));
    assert_string_equal(allow, "GET, HEAD");
}

static void a_parameter_may_decide(void **state)
{
    struct request request = {.path = "/api/v1/fois/1/candidates"};
    const char *allow;

    (void)state;
    assert_ptr_equal(route_find(&request, &allow)->answer, api_candidates);
    request.n_parameters = 1;
    request.parameter[0].name = "order";
    request.parameter[0].value = "next";
    assert_ptr_equal(route_find(&request, &allow)->answer, api_next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_taken_from_the_path),
        cmocka_unit_test(other_paths_are_nobodys),
        cmocka_unit_test(a_wrong_method_names_the_right_ones),
        cmocka_unit_test(a_parameter_may_decide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
