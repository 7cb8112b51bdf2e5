/* Two ranks of two steps, small enough to know every call: what is asked of the run as a whole.
 */
#include "base/err.h"

#include "sample_page.h"
#include "test.h"

/*
 *  row   0     1       2    3     4       5
 *       step  solve  recv  step  solve  recv     of each rank, sends in step
 */
static const char program[] = "synth:2*step(solve@1ms >1 <1);ranks=2";

static int set_up(void **state)
{
    return sample_page_begin(state, program, "step");
}

static void the_run_says_what_it_is_of(void **state)
{
    struct sample_page *p = *state;
    const json_t *foi;

    sample_page_ok(p, "/run");
    assert_string_equal(json_string_value(json_object_get(p->json, "snag")), "0.test");
    assert_string_equal(json_string_value(json_object_get(p->json, "name")), "a.snag");
    assert_string_equal(json_string_value(json_object_get(p->json, "trace")), program);
    assert_false(json_boolean_value(json_object_get(p->json, "is_live")));
    assert_int_equal(sample_page_number(p->json, "n_messages"), 2 * 2 * 2);
    assert_int_equal(json_array_size(json_object_get(p->json, "locations")), 2);
    assert_int_equal(json_array_size(json_object_get(p->json, "fois")), 1);
    foi = json_array_get(json_object_get(p->json, "fois"), 0);
    assert_string_equal(json_string_value(json_object_get(foi, "name")), "step");
    assert_int_equal(sample_page_number(foi, "trees"), 4);
    assert_true(json_is_null(json_object_get(foi, "retrain")));
}

/* Four executions say nothing of what is typical; of many each rank's loss is one part. */
static void what_all_lost_is_a_number_where_it_is_known(void **state)
{
    struct sample_page *few = *state, many;

    sample_page_ok(few, "/fois/1/lost");
    assert_true(json_is_null(json_object_get(few->json, "lost_ns")));
    assert_string_equal(json_string_value(json_object_get(few->json, "text")),
                        "lost in all: not known");
    assert_int_equal(sample_page_get(few, "/fois/9/lost"), ERR_NOT_FOUND);
    sample_page_init(&many, "synth:100*step(a@1ms);ranks=2;slow=a/50/9/1", "step");
    sample_page_ok(&many, "/fois/1/lost");
    assert_int_equal(sample_page_number(many.json, "lost_ns"), 16000000);
    assert_int_equal(sample_page_number(many.json, "duration_ns"), 216200000);
    assert_int_equal(sample_page_number(many.json, "unended"), 0);
    assert_string_equal(json_string_value(json_object_get(many.json, "text")),
                        "lost in all: 16.0 ms of 216 ms (rank 1 16.0 ms)");
    sample_page_release(&many);
}

static void regions_are_found_by_a_part_of_their_name(void **state)
{
    struct sample_page *p = *state;
    size_t n_regions;

    sample_page_ok(p, "/regions");
    n_regions = json_array_size(p->json);
    assert_int_equal(n_regions, p->served.run.defs.names.n);
    sample_page_ok(p, "/search?q=SOL");
    assert_int_equal(json_array_size(json_object_get(p->json, "items")), 1);
    sample_page_ok(p, "/search?q=nothing");
    sample_page_is(p, "{\"items\": []}");
}

/* ------------------------------------------------------------------------------ one call */

static void a_call_says_its_caller_its_children_and_its_path(void **state)
{
    struct sample_page *p = *state;
    const struct call_view calls = columns_view(&p->served.run.columns, 1);
    uint64_t children_ns = 0;

    sample_page_ok(p, "/calls/1/0");
    assert_int_equal(sample_page_number(p->json, "region"), sample_page_region(p, "step"));
    assert_true(json_is_null(json_object_get(p->json, "parent")));
    for (uint32_t i = 1; i < calls.subtree_len[0]; i += calls.subtree_len[i])
        children_ns += calls.inclusive_ns[i];
    assert_int_equal(sample_page_number(p->json, "n_children"), calls.subtree_len[0] - 1);
    assert_int_equal(sample_page_number(p->json, "exclusive_ns"),
                     calls.inclusive_ns[0] - children_ns);
    assert_int_equal(sample_page_number(p->json, "leave_ns") -
                         sample_page_number(p->json, "enter_ns"),
                     calls.inclusive_ns[0]);
    sample_page_ok(p, "/calls/1/1");
    assert_int_equal(sample_page_number(p->json, "region"), sample_page_region(p, "solve"));
    assert_int_equal(sample_page_number(p->json, "parent"), 0);
    assert_int_equal(sample_page_number(p->json, "depth"), 1);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(p->json, "path"), 0)),
                     sample_page_region(p, "step"));
}

static bool is_null(const struct sample_page *p, const char *field)
{
    return json_is_null(json_object_get(p->json, field));
}

static void a_call_says_what_is_beside_it_in_its_depth_and_first_below_it(void **state)
{
    struct sample_page *p = *state;

    sample_page_ok(p, "/calls/1/0");
    assert_int_equal(sample_page_number(p->json, "first_child"), 1);
    assert_true(is_null(p, "before"));
    sample_page_ok(p, "/calls/1/1");
    assert_true(is_null(p, "before") && is_null(p, "first_child"));
    assert_int_equal(sample_page_number(p->json, "after"), 2);
    sample_page_ok(p, "/calls/1/2");
    assert_int_equal(sample_page_number(p->json, "before"), 1);
    assert_true(sample_page_number(p->json, "after") > 2); /* of the next step */
}

static void a_call_says_what_it_sent_and_received_itself(void **state)
{
    struct sample_page *p = *state;
    const struct call_view calls = columns_view(&p->served.run.columns, 1);
    const struct message *m = &calls.message[0];
    char path[32];
    json_t *first;

    snprintf(path, sizeof path, "/calls/1/%u", m->call);
    sample_page_ok(p, path);
    assert_int_equal(sample_page_number(p->json, "n_messages"), 1);
    first = json_array_get(json_object_get(p->json, "messages"), 0);
    assert_int_equal(json_is_true(json_object_get(first, "is_send")), m->kind == MESSAGE_SEND);
    assert_int_equal(sample_page_number(first, "peer"), 0);
    assert_int_equal(sample_page_number(first, "bytes"), m->bytes);
    assert_true(json_is_null(json_object_get(p->json, "collective")));
    sample_page_ok(p, "/calls/1/0"); /* what it called did */
    assert_int_equal(sample_page_number(p->json, "n_messages"), 0);
}

static void a_call_that_there_is_none_of_is_not_found(void **state)
{
    struct sample_page *p = *state;
    char expected[64];

    sample_page_refused(p, "/calls/2/0", ERR_NOT_FOUND, "the run has no location 2");
    snprintf(expected, sizeof expected, "location 1 has %u calls",
             columns_view(&p->served.run.columns, 1).n);
    sample_page_refused(p, "/calls/1/999999", ERR_NOT_FOUND, expected);
}

static void the_next_call_of_a_function_is_the_first_one_entered_after_a_time(void **state)
{
    struct sample_page *p = *state;
    int64_t solve = sample_page_region(p, "solve"), enter;
    char path[96];

    snprintf(path, sizeof path, "/search/next?region=%lld", (long long)solve);
    sample_page_ok(p, path);
    enter = sample_page_number(p->json, "enter_ns");
    assert_int_equal(sample_page_number(p->json, "call"), 1);
    snprintf(path, sizeof path, "/search/next?region=%lld&location=1&after=%lld",
             (long long)solve, (long long)enter + 100000);
    sample_page_ok(p, path);
    assert_int_equal(sample_page_number(p->json, "location"), 1);
    assert_true(sample_page_number(p->json, "enter_ns") > enter);
    snprintf(path, sizeof path, "/search/next?region=%lld&after=9000000000", (long long)solve);
    sample_page_refused(p, path, ERR_NOT_FOUND, "no such call behind that time");
    sample_page_refused(p, "/search/next", ERR_NOT_FOUND,
                        "the run has no such region or location");
    sample_page_refused(p, "/search/next?region=0&location=2", ERR_NOT_FOUND,
                        "the run has no such region or location");
}

/* Forward by time, then back again, and by length: every call once, in order. */
static void calls_of_a_function_are_stepped_through_in_an_order(void **state)
{
    struct sample_page *p = *state;
    long long solve = sample_page_region(p, "solve"), from[4][2];
    uint64_t last = 0;
    char path[128];

    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "/search/next?region=%lld", solve);
        if (k > 0)
            snprintf(path, sizeof path, "/search/next?region=%lld&from=%lld.%lld", solve,
                     from[k - 1][0], from[k - 1][1]);
        sample_page_ok(p, path);
        assert_int_equal(sample_page_number(p->json, "place"), k + 1);
        assert_int_equal(sample_page_number(p->json, "total"), 4);
        assert_true((uint64_t)sample_page_number(p->json, "enter_ns") >= last);
        last = (uint64_t)sample_page_number(p->json, "enter_ns");
        from[k][0] = sample_page_number(p->json, "location");
        from[k][1] = sample_page_number(p->json, "call");
    }
    for (int k = 2; k >= 0; k--) {
        snprintf(path, sizeof path, "/search/next?region=%lld&from=%lld.%lld&step=previous",
                 solve, from[k + 1][0], from[k + 1][1]);
        sample_page_ok(p, path);
        assert_int_equal(sample_page_number(p->json, "place"), k + 1);
        assert_int_equal(sample_page_number(p->json, "location"), from[k][0]);
        assert_int_equal(sample_page_number(p->json, "call"), from[k][1]);
    }
    snprintf(path, sizeof path, "/search/next?region=%lld&from=%lld.%lld&step=previous", solve,
             from[0][0], from[0][1]);
    sample_page_refused(p, path, ERR_NOT_FOUND, "no such call before that time");
}

static void the_longest_call_of_a_function_comes_first_by_length(void **state)
{
    struct sample_page *p = *state;
    long long solve = sample_page_region(p, "solve"), begin, end;
    uint64_t longest = 0;
    char path[128];

    for (uint32_t l = 0; l < 2; l++) {
        struct call_view calls = columns_view(&p->served.run.columns, l);

        for (uint32_t i = 0; i < calls.n; i++)
            if (calls.region[i] == solve && calls.inclusive_ns[i] > longest)
                longest = calls.inclusive_ns[i];
    }
    snprintf(path, sizeof path, "/search/next?region=%lld&order=longest", solve);
    sample_page_ok(p, path);
    assert_int_equal(sample_page_number(p->json, "leave_ns") -
                         sample_page_number(p->json, "enter_ns"),
                     longest);
    assert_int_equal(sample_page_number(p->json, "place"), 1);

    /* In a window: as many as are measured there, each with a part in it. */
    for (uint32_t l = 0; l < 2; l++) {
        snprintf(path, sizeof path, "/search/next?region=%lld&order=longest&locations=%u",
                 solve, l);
        sample_page_ok(p, path);
        assert_int_equal(sample_page_number(p->json, "location"), l);
        assert_int_equal(sample_page_number(p->json, "total"), 2);
    }
    begin = sample_page_number(p->json, "enter_ns") + 1;
    end = sample_page_number(p->json, "leave_ns") - 1;
    snprintf(path, sizeof path, "/search/next?region=%lld&begin=%lld&end=%lld&locations=1",
             solve, begin, end);
    sample_page_ok(p, path);
    assert_int_equal(sample_page_number(p->json, "total"), 1);
    assert_int_equal(sample_page_number(p->json, "enter_ns"), begin - 1);
    snprintf(path, sizeof path, "/search/next?region=%lld&begin=%lld&end=%lld&locations=1",
             solve, end + 1, end + 2);
    sample_page_refused(p, path, ERR_NOT_FOUND, "no such call behind that time");
    sample_page_refused(p, "/search/next?region=0&begin=9&end=3", ERR_USAGE,
                        "the window ends before it begins");
    sample_page_refused(p, "/search/next?region=0&order=shortest", ERR_USAGE,
                        "'order' is time or longest");
    sample_page_refused(p, "/search/next?region=0&step=back", ERR_USAGE,
                        "'step' is next or previous");
    sample_page_refused(
        p, "/search/next?region=0&from=1", ERR_USAGE,
        "'from' takes LOCATION.ROW, such as 3.1415 for row 1415 of location 3, not '1'");
    sample_page_refused(
        p, "/search/next?region=0&from=2.0", ERR_USAGE,
        "'from' takes LOCATION.ROW, such as 3.1415 for row 1415 of location 3, not '2.0'");
    sample_page_refused(p, "/search/next?region=0&from=1.99999", ERR_NOT_FOUND,
                        "location 1 has 8 calls");
}

/* ----------------------------------------------------------------------------- a window */

static void a_window_in_numbers_has_all_calls_and_messages(void **state)
{
    struct sample_page *p = *state;
    const json_t *item, *messages;
    uint64_t own = 0, roots = 0;
    size_t i;

    sample_page_ok(p, "/measure");
    json_array_foreach(json_object_get(p->json, "items"), i, item)
    {
        own += (uint64_t)sample_page_number(item, "own_ns");
        if (sample_page_number(item, "region") == sample_page_region(p, "step"))
            roots = (uint64_t)sample_page_number(item, "total_ns");
        if (sample_page_number(item, "region") == sample_page_region(p, "solve"))
            assert_int_equal(sample_page_number(item, "calls"), 4);
    }
    assert_int_equal(own, roots); /* step is what all else is in */
    messages = json_object_get(p->json, "messages");
    assert_int_equal(sample_page_number(messages, "sent"), 4);
    assert_int_equal(sample_page_number(messages, "received"), 4);
}

static void a_window_is_added_up_by_rank_and_by_call_path_as_well(void **state)
{
    struct sample_page *p = *state;
    const json_t *item, *items;
    long long calls = 0, own = 0, of_paths = 0, outer;
    size_t i;

    sample_page_ok(p, "/measure?by=rank");
    items = json_object_get(p->json, "items");
    assert_int_equal(json_array_size(items), 2);
    json_array_foreach(items, i, item)
    {
        assert_int_equal(sample_page_number(item, "rank"), i);
        assert_int_equal(sample_page_number(item, "own_ns"),
                         sample_page_number(item, "total_ns"));
        calls += sample_page_number(item, "calls");
        own += sample_page_number(item, "own_ns");
    }
    assert_int_equal(calls, p->served.run.columns.n_calls);

    sample_page_ok(p, "/measure?by=path");
    items = json_object_get(p->json, "items");
    json_array_foreach(items, i, item)
    {
        of_paths += sample_page_number(item, "own_ns");
        if (sample_page_number(item, "region") != sample_page_region(p, "solve"))
            continue;
        outer = sample_page_number(item, "caller");
        assert_int_equal(sample_page_number(json_array_get(items, (size_t)outer), "region"),
                         sample_page_region(p, "step"));
    }
    assert_int_equal(of_paths, own);
    sample_page_refused(p, "/measure?by=node", ERR_USAGE,
                        "'by' takes region, rank or path, not 'node'");
}

static void a_wide_timeline_has_every_call_as_a_rectangle(void **state)
{
    struct sample_page *p = *state;
    const struct columns *columns = &p->served.run.columns;
    uint32_t n = (uint32_t)columns->n_calls, *call, *location, *merged;
    double *begin;

    sample_page_ok(p, "/timeline?width=8192");
    call = sample_page_column(p, "call", "u32", n);
    location = sample_page_column(p, "location", "u32", n);
    merged = sample_page_column(p, "merged", "u32", n);
    begin = sample_page_column(p, "begin_ns", "f64", n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(merged[i], 1);
        assert_true(begin[i] == (double)columns_view(columns, location[i]).enter_ns[call[i]]);
    }
    free(call);
    free(location);
    free(merged);
    free(begin);
}

static void messages_are_sent_before_they_are_received(void **state)
{
    struct sample_page *p = *state;
    double *sent, *received;
    uint32_t *from, *to;

    sample_page_ok(p, "/messages");
    sent = sample_page_column(p, "send_ns", "f64", 4);
    received = sample_page_column(p, "recv_ns", "f64", 4);
    from = sample_page_column(p, "from", "u32", 4);
    to = sample_page_column(p, "to", "u32", 4);
    for (int i = 0; i < 4; i++) {
        assert_true(sent[i] < received[i]);
        assert_int_equal(from[i] + to[i], 1);
    }
    free(sent);
    free(received);
    free(from);
    free(to);
    sample_page_ok(p, "/messages?limit=1");
    free(sample_page_column(p, "send_ns", "f64", 1));
}

static void a_window_is_a_file_of_chrome_events(void **state)
{
    struct sample_page *p = *state;
    const struct call_view calls = columns_view(&p->served.run.columns, 0);
    char path[96];

    sample_page_ok(p, "/window.json");
    assert_string_equal(p->response.download, "window.json");
    assert_int_equal(json_array_size(json_object_get(p->json, "traceEvents")),
                     p->served.run.columns.n_calls);
    snprintf(path, sizeof path, "/window.json?locations=0&begin=0&end=%llu",
             (unsigned long long)calls.enter_ns[1]);
    sample_page_ok(p, path);
    assert_true(json_array_size(json_object_get(p->json, "traceEvents")) <= 2);
}

static void a_window_that_cannot_be_is_refused(void **state)
{
    static const char *const routes[] = {"/timeline", "/messages", "/collectives", "/measure",
                                         "/window.json"};

    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        char path[64];

        snprintf(path, sizeof path, "%s?begin=5&end=5", routes[i]);
        sample_page_refused(*state, path, ERR_USAGE, "the window ends before it begins");
        snprintf(path, sizeof path, "%s?locations=0,2", routes[i]);
        sample_page_refused(
            *state, path, ERR_USAGE,
            "'locations' takes different numbers below 2, as in 0,1, not '0,2'");
    }
    sample_page_refused(*state, "/timeline?width=0", ERR_USAGE,
                        "'width' takes a number from 1 to 8192, not '0'");
}

/* -------------------------------------------------------------------------------- report */

static int count_report(const void *ctx, const char *path, char **page, size_t *size)
{
    char text[64];

    (void)path;
    snprintf(text, sizeof text, "report %d", ++*(int *)(uintptr_t)ctx);
    *page = strdup(text);
    *size = strlen(text);
    return 0;
}

static void report_is(struct sample_page *p, const char *expected)
{
    sample_page_ok(p, "/report.html");
    assert_int_equal(p->response.size, strlen(expected));
    assert_memory_equal(p->response.body, expected, p->response.size);
    assert_string_equal(p->response.download, "report.html");
}

static void a_report_is_made_again_when_somebody_has_written(void **state)
{
    struct sample_page *p = *state;
    int n = 0;

    sample_page_refused(p, "/report.html", ERR_NOT_FOUND,
                        "reports are made by snag serve and snag report");
    p->served.report = count_report;
    p->served.report_ctx = &n;
    report_is(p, "report 1");
    report_is(p, "report 1");
    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 0, \"label\": \"normal\"}]}"),
                     0);
    report_is(p, "report 2");
}

/* ---------------------------------------------------------------------------- projection */

static void a_projection_is_made_beside_and_its_points_are_columns(void **state)
{
    struct sample_page *p = *state;
    static const char column[] = "/fois/1/columns?names=pca.x,pca.y";

    assert_int_equal(sample_page_get(p, column), ERR_NOT_FOUND);
    sample_page_refused(p, "/fois/1/projection", ERR_NOT_FOUND, "no projection is running");
    assert_int_equal(sample_page_post(p, "/fois/1/projection", "{\"method\": \"pca\"}"), 0);
    assert_int_equal(p->response.status, 202);
    sample_page_is(p, "{\"method\": \"pca\"}");
    pthread_join(p->served.projecting, NULL);
    p->served.has_projected = false;
    sample_page_ok(p, column);
    free(sample_page_column(p, "pca.x", "f32", 4));
    free(sample_page_column(p, "pca.y", "f32", 4));
}

static void there_is_one_projection_at_a_time_and_it_can_be_cancelled(void **state)
{
    struct sample_page *p = *state;

    atomic_store(&p->served.is_projecting, true);
    assert_int_equal(sample_page_post(p, "/fois/1/projection", "{\"method\": \"pca\"}"),
                     ERR_EXISTS);
    assert_string_equal(err_message(), "a projection is running already");
    assert_int_equal(sample_page_post(p, "/fois/1/projection/cancel", "{}"), 0);
    sample_page_is(p, "{\"cancelled\": true}");
    assert_true(atomic_load(&p->served.is_cancelled));
    atomic_store(&p->served.is_projecting, false);
    assert_int_equal(sample_page_post(p, "/fois/1/projection/cancel", "{}"), 0);
    sample_page_is(p, "{\"cancelled\": false}");
}

static void a_projection_that_was_given_up_leaves_no_points(void **state)
{
    struct sample_page *p = *state;

    atomic_store(&p->served.is_closing, true);
    assert_int_equal(sample_page_post(p, "/fois/1/projection",
                                      "{\"method\": \"tsne\", \"iterations\": 100}"),
                     0);
    pthread_join(p->served.projecting, NULL);
    p->served.has_projected = false;
    assert_int_equal(sample_page_get(p, "/fois/1/columns?names=tsne.x"), ERR_NOT_FOUND);
}

static void a_projection_that_cannot_be_is_refused(void **state)
{
    static const char *const bad[][2] = {
        {"{\"method\": \"map\"}", "'method' takes tsne, pca or mds"},
        {"{\"method\": 7}", "'method' takes tsne, pca or mds"},
        {"{\"features\": \"smell\"}", "'features' takes residual, time, subtrees or stack2vec"},
        {"{\"perplexity\": 0.5}", "'perplexity' takes a number from 1 to 10000"},
        {"{\"iterations\": \"many\"}", "'iterations' takes a number from 1 to 100000"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sample_page_post(*state, "/fois/1/projection", bad[i][0]), ERR_USAGE);
        assert_string_equal(err_message(), bad[i][1]);
    }
    assert_int_equal(sample_page_post(*state, "/fois/2/projection", "{}"), ERR_NOT_FOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, sample_page_end)
    const struct CMUnitTest tests[] = {
        TEST(the_run_says_what_it_is_of),
        TEST(what_all_lost_is_a_number_where_it_is_known),
        TEST(regions_are_found_by_a_part_of_their_name),
        TEST(a_call_says_its_caller_its_children_and_its_path),
        TEST(a_call_says_what_is_beside_it_in_its_depth_and_first_below_it),
        TEST(a_call_says_what_it_sent_and_received_itself),
        TEST(a_call_that_there_is_none_of_is_not_found),
        TEST(the_next_call_of_a_function_is_the_first_one_entered_after_a_time),
        TEST(calls_of_a_function_are_stepped_through_in_an_order),
        TEST(the_longest_call_of_a_function_comes_first_by_length),
        TEST(a_wide_timeline_has_every_call_as_a_rectangle),
        TEST(messages_are_sent_before_they_are_received),
        TEST(a_window_is_a_file_of_chrome_events),
        TEST(a_window_in_numbers_has_all_calls_and_messages),
        TEST(a_window_is_added_up_by_rank_and_by_call_path_as_well),
        TEST(a_window_that_cannot_be_is_refused),
        TEST(a_report_is_made_again_when_somebody_has_written),
        TEST(a_projection_is_made_beside_and_its_points_are_columns),
        TEST(there_is_one_projection_at_a_time_and_it_can_be_cancelled),
        TEST(a_projection_that_was_given_up_leaves_no_points),
        TEST(a_projection_that_cannot_be_is_refused),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
