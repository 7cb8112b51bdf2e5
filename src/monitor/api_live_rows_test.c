#include "monitor/api_live.h"

#include "base/err.h"

#include <string.h>

#include "test.h"

/* What /live/history answers for one parameter, or none. */
static int ask(struct live_state *live, const char *name, const char *value)
{
    struct request_parameter parameter = {.name = name, .value = value};
    struct request request = {
        .path = "/", .parameter = &parameter, .n_parameters = name ? 1 : 0};
    struct response response = {0};
    int rc = api_live_history(live, &request, &response);

    response_release(&response);
    return rc;
}

static struct live_state *watch(void)
{
    struct live_state *live =
        live_state_new(&(struct live_opts){.source = "synth", .detector = "hbos"});
    struct ad_sink sink = {live_state_step, live};
    struct ad_opts opts = ad_default();
    struct stream stream;
    struct ad *ad;

    opts.sink = &sink;
    opts.n_sinks = 1;
    assert_int_equal(stream_open(&stream, "synth:20*step(a);ranks=2", &(struct stream_opts){0}),
                     0);
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    live_state_end(live, NULL, NULL);
    ad_free(ad);
    stream_close(&stream);
    return live;
}

static void a_history_is_of_a_rank_a_region_or_a_counter_that_is_there(void **state)
{
    struct live_state *live = watch();

    (void)state;
    assert_int_equal(ask(live, "rank", "1"), 0);
    assert_int_equal(ask(live, "rank", "2"), ERR_NOT_FOUND);
    assert_int_equal(ask(live, "region", "0"), 0);
    assert_int_equal(ask(live, "region", "4294967295"), ERR_NOT_FOUND);
    assert_int_equal(ask(live, "counter", "0"), ERR_NOT_FOUND);
    assert_int_equal(ask(live, "rank", "-1"), ERR_USAGE);
    assert_int_equal(ask(live, "region", "4294967296"), ERR_USAGE);
    live_state_free(live);
}

/* Nothing is asked for by a number that stands for it. */
static void a_history_of_nothing_is_not_there(void **state)
{
    struct live_state *live = watch();

    (void)state;
    assert_int_equal(ask(live, NULL, NULL), ERR_NOT_FOUND);
    assert_int_equal(ask(live, "program", "0"), ERR_NOT_FOUND);
    live_state_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_history_is_of_a_rank_a_region_or_a_counter_that_is_there),
        cmocka_unit_test(a_history_of_nothing_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
