#include "cmd/url_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The other end is where the server listens: localhost where that is every address. */
static void a_tunnel_ends_where_the_server_listens(void **state)
{
    static const char *const end_of[][2] = {
        {"127.0.0.1", "127.0.0.1"}, {"::1", "[::1]"},         {"0.0.0.0", "localhost"},
        {"::", "localhost"},        {"10.1.2.3", "10.1.2.3"}, {"fd00::2", "[fd00::2]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof end_of / sizeof *end_of; i++) {
        struct access access = {.hostname = "node7"};
        char command[URL_SIZE], expected[URL_SIZE];

        snprintf(access.address, sizeof access.address, "%s", end_of[i][0]);
        snprintf(expected, sizeof expected, "ssh -N -L 8080:%s:8080 node7", end_of[i][1]);
        assert_string_equal(url_print_tunnel(&access, 8080, command), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tunnel_ends_where_the_server_listens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
