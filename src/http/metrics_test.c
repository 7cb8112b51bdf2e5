#include "http/metrics.h"

#include "base/progress.h"

#include <math.h>

#include "test.h"

static const struct metric_label labels[] = {{"a", "x\"y\\z\nw"}, {"b", NULL}, {"c", ""}};

static const struct metric rows[] = {
    {"t_things", METRIC_COUNTER, "Things \"seen\" \\ so far", 9007199254740991.0, NULL, 0},
    {"t_lag_seconds", METRIC_GAUGE, "Lag", 0.25, NULL, 0},
    {"t_unknown", METRIC_GAUGE, "Unknown", NAN, NULL, 0},
    {"t_job", METRIC_INFO, "Job", 1, labels, 3},
};

static void assert_text(const char *accept, const char *type, const char *want)
{
    struct response response = {0};
    struct metrics metrics;

    metrics_init(&metrics, accept);
    metrics_add(&metrics, rows, 2);
    metrics_add(&metrics, rows + 2, 2);
    metrics_answer(&metrics, &response);
    assert_int_equal(response.status, 200);
    assert_string_equal(response.type, type);
    assert_int_equal(response.size, strlen(want));
    assert_memory_equal(response.body, want, response.size);
    response_release(&response);
}

static void test_the_text_format(void **state)
{
    (void)state;
    assert_text(NULL, "text/plain; version=0.0.4; charset=utf-8",
                "# HELP t_things_total Things \"seen\" \\\\ so far\n"
                "# TYPE t_things_total counter\n"
                "t_things_total 9007199254740991\n"
                "# HELP t_lag_seconds Lag\n"
                "# TYPE t_lag_seconds gauge\n"
                "t_lag_seconds 0.25\n"
                "# HELP t_unknown Unknown\n"
                "# TYPE t_unknown gauge\n"
                "t_unknown NaN\n"
                "# HELP t_job_info Job\n"
                "# TYPE t_job_info gauge\n"
                "t_job_info{a=\"x\\\"y\\\\z?w\"} 1\n");
}

static void an_exemplar_stands_in_open_metrics_alone(void **state)
{
    static const struct metric row = {"t_strange", METRIC_COUNTER, "Strange", 3, NULL, 0};
    static const char want[] = "# HELP t_strange Strange\n"
                               "# TYPE t_strange counter\n"
                               "t_strange_total 3 # {execution=\"#3-12\"} 1 1700000000.250\n"
                               "# EOF\n";
    const struct metric_exemplar last = {"#3-12", 1700000000.25}, none = {"", 0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct response response = {0};
        struct metrics metrics;

        metrics_init(&metrics, i == 0 ? NULL : "application/openmetrics-text");
        metrics_add_counter(&metrics, &row, i < 2 ? &last : &none);
        metrics_answer(&metrics, &response);
        if (i == 1)
            assert_memory_equal(response.body, want, sizeof want - 1);
        else
            assert_null(memchr(response.body, '{', response.size));
        response_release(&response);
    }
}

static void test_open_metrics(void **state)
{
    (void)state;
    assert_text("application/openmetrics-text",
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                "# HELP t_things Things \\\"seen\\\" \\\\ so far\n"
                "# TYPE t_things counter\n"
                "t_things_total 9007199254740991\n"
                "# HELP t_lag_seconds Lag\n"
                "# TYPE t_lag_seconds gauge\n"
                "t_lag_seconds 0.25\n"
                "# HELP t_unknown Unknown\n"
                "# TYPE t_unknown gauge\n"
                "t_unknown NaN\n"
                "# HELP t_job Job\n"
                "# TYPE t_job info\n"
                "t_job_info{a=\"x\\\"y\\\\z?w\"} 1\n"
                "# EOF\n");
}

static void test_what_is_asked_for(void **state)
{
    static const struct {
        const char *accept;
        bool is_open;
    } rows_of[] = {
        {NULL, false},
        {"", false},
        {"*/*", false},
        {",;,=;q=", false},
        {"text/plain", false},
        {"application/json, */*;q=0.1", false},
        {"application/openmetrics-text", true},
        {"Application/OpenMetrics-Text;Version=1.0.0", true},
        {"application/openmetrics-text; version=\"1.0.0\"", true},
        {"application/openmetrics-text; version=0.0.1", false},
        {"application/openmetrics-text; version=1.0.0; q=0", false},
        {"application/openmetrics-text; q=0.3; version=2.0.0", false},
        {"application/openmetrics-textual", false},
        {"text/plain, application/openmetrics-text;q=0.5", false},
        {"text/plain;version=1.0.0,application/openmetrics-text;q=0.5", true},
        /* Prometheus 2.42, and 3 */
        {"application/openmetrics-text;version=1.0.0,application/"
         "openmetrics-text;version=0.0.1;"
         "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         true},
        {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/"
         "openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;"
         "q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
         true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++)
        if (metrics_wants_open(rows_of[i].accept) != rows_of[i].is_open)
            fail_msg("row %zu: %s", i, rows_of[i].accept);
}

static void test_the_job(void **state)
{
    struct response response = {0};
    struct metrics metrics;
    const struct metrics_job job = {
        .version = "1.2", .command = "ps", .id = "77", .started_ns = clock_ns()};

    (void)state;
    metrics_init(&metrics, NULL);
    metrics_job(&metrics, &job);
    fputc('\0', metrics.out);
    metrics_answer(&metrics, &response);
    assert_non_null(strstr(response.body,
                           "\nsnag_job_info{version=\"1.2\",command=\"ps\",job=\"77\"} 1\n"));
    assert_non_null(strstr(response.body, "\nsnag_up_seconds 0\n"));
    assert_non_null(strstr(response.body, "\nsnag_resident_bytes "));
    response_release(&response);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_format),
        cmocka_unit_test(test_open_metrics),
        cmocka_unit_test(an_exemplar_stands_in_open_metrics_alone),
        cmocka_unit_test(test_what_is_asked_for),
        cmocka_unit_test(test_the_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
