#include "serve/routes.h"

#include "test.h"

static const struct route *find(const char *path, bool is_post, int64_t id[2])
{
    struct request request = {.path = path, .is_post = is_post};
    const struct route *route = route_find(&request);

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

static void a_path_names_its_methods(void **state)
{
    static const char *const rows[][2] = {{"/api/v1/fois/1/labels", "POST"},
                                          {"/api/v1/run", "GET, HEAD"},
                                          {"/api/v1/fois/1/projection", "GET, HEAD, POST"},
                                          {"/api/v1/fois/1/candidates", "GET, HEAD"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(route_methods(&(struct request){.path = rows[i][0]}), rows[i][1]);
    assert_null(route_methods(&(struct request){.path = "/"}));
    assert_null(route_methods(&(struct request){.path = "/api/v1/runs"}));
}

static void a_parameter_may_decide(void **state)
{
    const struct request_parameter order = {"order", "next"};
    struct request request = {.path = "/api/v1/fois/1/candidates"};

    (void)state;
    assert_ptr_equal(route_find(&request)->answer, api_candidates);
    request.parameter = &order;
    request.n_parameters = 1;
    assert_ptr_equal(route_find(&request)->answer, api_next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_taken_from_the_path),
        cmocka_unit_test(other_paths_are_nobodys),
        cmocka_unit_test(a_path_names_its_methods),
        cmocka_unit_test(a_parameter_may_decide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
