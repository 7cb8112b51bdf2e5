/* Files are written as text; the calls come back through the typical reader. */
#include "trace/source.h"

#include "base/err.h"

#include <zstd.h>

#include "sample_chrome.h"
#include "test.h"

static const struct source_opts counting = {.wants_counters = true};

static void begin_and_end_pairs_are_calls(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s,
                       "{\"traceEvents\":[\n"
                       "{\"ts\":5.5,\"ph\":\"B\",\"pid\":3,\"name\":\"main\"},\n"
                       "{\"ts\":6,\"ph\":\"B\",\"pid\":3,\"name\":\"f\",\"args\":{\"ph\":\"E\","
                       "\"name\":\"x\"}},\n"
                       "{\"ts\":7.25,\"ph\":\"E\",\"pid\":3},\n"
                       "{\"ts\":1e1,\"ph\":\"E\",\"pid\":3,\"name\":\"main\"}],\n"
                       "\"displayTimeUnit\":\"ns\",\"other\":[{\"ph\":\"B\"}]}");
    assert_int_equal(s.defs.n_locations, 1);
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "main+0 f+500 *-1750 main-4500");
    source_close(&s);
}

static void what_is_said_of_the_run_is_kept(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "{\"otherData\":{\"version\":\"My Application v1.0\",\"deep\":{\"a\":\"b\"},"
            "\"list\":[1,\"c\"],\"job\":4711},\"traceEvents\":["
            "{\"ph\":\"X\",\"name\":\"f\",\"ts\":2,\"dur\":1,\"pid\":1,"
            "\"args\":{\"version\":\"no\"}}]}");
    assert_int_equal(s.defs.n_metadata, 2);
    assert_string_equal(s.defs.metadata[0].key, "version");
    assert_string_equal(s.defs.metadata[0].value, "My Application v1.0");
    assert_string_equal(s.defs.metadata[1].key, "job");
    assert_string_equal(s.defs.metadata[1].value, "4711");
    source_close(&s);
}

static void durations_are_nested_whatever_their_order(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"X\",\"name\":\"in\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1},"
            "{\"ph\":\"X\",\"name\":\"next\",\"ts\":3,\"dur\":1,\"pid\":1,\"tid\":1},"
            "{\"ph\":\"X\",\"name\":\"out\",\"ts\":2,\"dur\":2,\"pid\":1,\"tid\":1}]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL),
                        "out+0 in+0 in-1000 next+1000 next-2000 out-2000");
    source_close(&s);
}

/* What times in microseconds are rounded to makes calls cross that follow each other. */
static void of_two_calls_that_cross_the_one_is_cut_that_loses_less(void **state)
{
    struct quality quality = {0};
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":0,\"dur\":10,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"g\",\"ts\":9.5,\"dur\":10,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"out\",\"ts\":30,\"dur\":10,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"in\",\"ts\":31,\"dur\":10,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"last\",\"ts\":41,\"dur\":1,\"pid\":1}]");
    assert_string_equal(sample_chrome_events(&s, 0, &quality),
                        "f+0 f-9500 g+9500 g-19500 out+30000 in+31000 in-40000 out-40000 "
                        "last+41000 last-42000");
    assert_int_equal(quality.n[QUALITY_crossed_call], 0);
    source_close(&s);
    sample_chrome_open(&s, "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":0,\"dur\":10,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"g\",\"ts\":5,\"dur\":20,\"pid\":1}]");
    assert_string_equal(sample_chrome_events(&s, 0, &quality), "f+0 f-5000 g+5000 g-25000");
    assert_int_equal(quality.n[QUALITY_crossed_call], 1);
    assert_false(quality_is_damaged(&quality));
    source_close(&s);
}

/* E is crossed by F, G begins with H, and I ends where J begins. No X is ever longer than it
 * says. */
static void calls_of_both_kinds_are_cut_alike(void **state)
{
    struct quality quality = {0};
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"X\",\"name\":\"E\",\"ts\":20,\"dur\":10,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"F\",\"ts\":25,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"F\",\"ts\":900,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"G\",\"ts\":1000,\"dur\":1,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"H\",\"ts\":1000,\"pid\":1},"
                           "{\"ph\":\"E\",\"ts\":1002,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"I\",\"ts\":1010,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"I\",\"ts\":1020,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"J\",\"ts\":1020,\"dur\":1,\"pid\":1}]");
    assert_string_equal(sample_chrome_events(&s, 0, &quality),
                        "E+0 E-5000 F+5000 F-880000 H+980000 G+980000 G-981000 H-982000 "
                        "I+990000 I-1000000 J+1000000 J-1001000");
    assert_int_equal(quality.n[QUALITY_crossed_call], 1);
    assert_false(quality_is_damaged(&quality));
    source_close(&s);
    sample_chrome_open(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":0,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"b\",\"ts\":10,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"a\",\"ts\":50,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"b\",\"ts\":70,\"pid\":1}]");
    assert_string_equal(sample_chrome_events(&s, 0, &quality), "a+0 b+10000 b-50000 a-50000");
    assert_int_equal(quality.n[QUALITY_crossed_leave], 1);
    source_close(&s);
}

/* Times are whole microseconds: what is in what, the order of the file says. */
static void pairs_of_one_time_stay_in_order(void **state)
{
    struct quality quality = {0};
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"b\",\"ts\":1,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"b\",\"ts\":1,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"a\",\"ts\":1,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"c\",\"ts\":1,\"pid\":1},"
                           "{\"ph\":\"B\",\"name\":\"d\",\"ts\":1,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"x\",\"ts\":1,\"dur\":2,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"c\",\"ts\":4,\"pid\":1},"
                           "{\"ph\":\"E\",\"name\":\"d\",\"ts\":4,\"pid\":1}]");
    assert_string_equal(sample_chrome_events(&s, 0, &quality),
                        "a+0 b+0 b-0 a-0 c+0 d+0 x+0 x-2000 d-3000 c-3000");
    assert_false(quality_is_damaged(&quality));
    source_close(&s);
}

/* One X was not over when the trace ended; others say what no duration can be. */
static void a_duration_is_what_the_trace_says(void **state)
{
    struct quality quality = {0};
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":20,\"pid\":1},"
            "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":18446744073709360,\"pid\":1},"
            "{\"ph\":\"X\",\"name\":\"c\",\"ts\":2,\"dur\":NaN,\"pid\":1},"
            "{\"ph\":\"X\",\"name\":\"d\",\"ts\":-Infinity,\"dur\":1,\"pid\":1},"
            "{\"ph\":\"X\",\"name\":\"e\",\"ts\":3,\"tdur\":\"1\",\"pid\":1},"
            "{\"ph\":\"X\",\"name\":\"f\",\"ts\":30,\"pid\":1},"
            "{\"ph\":\"X\",\"name\":\"g\",\"ts\":31,\"dur\":1,\"pid\":1}]");
    assert_int_equal(s.quality.n[QUALITY_bad_value], 3);
    assert_string_equal(sample_chrome_events(&s, 0, &quality),
                        "a+0 e+3000 e-4000 a-20000 f+30000 g+31000 g-32000");
    source_close(&s);
}

static void processes_are_ranks_by_name_or_by_number(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1,\"pid\":9,\"tid\":1},"
            "{\"ph\":\"X\",\"name\":\"b\",\"ts\":0,\"dur\":1,\"pid\":5,\"tid\":7},"
            "{\"ph\":\"X\",\"name\":\"c\",\"ts\":0,\"dur\":1,\"pid\":5,\"tid\":\"t\"},"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"rank 0\"}},"
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":1,"
            "\"args\":{\"name\":\"main thread\"}}]");
    assert_int_equal(s.defs.n_locations, 3);
    assert_string_equal(s.defs.location[0].name, "main thread");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 a-1000");
    assert_int_equal(s.defs.location[1].rank, 1);
    assert_string_equal(sample_chrome_events(&s, 1, NULL), "b+0 b-1000");
    assert_int_equal(s.defs.location[2].thread, 1);
    source_close(&s);
}

static void flows_are_messages(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":0,\"pid\":0,\"tid\":0},"
                           "{\"ph\":\"s\",\"id\":\"x1\",\"ts\":1,\"pid\":0,\"tid\":0},"
                           "{\"ph\":\"f\",\"id\":\"x1\",\"ts\":3,\"pid\":1,\"tid\":0},"
                           "{\"ph\":\"f\",\"ts\":3,\"pid\":1,\"tid\":0}]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 >1@1000");
    assert_string_equal(sample_chrome_events(&s, 1, NULL), "<0@3000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    source_close(&s);
}

/* A flow that passes by is sent on from there; one that is used again is two; and who only ever
 * writes "t" means a receive. It is of the call that begins at its time. */
static void flows_may_pass_by(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"t\",\"id\":7,\"ts\":3,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":9,\"pid\":0},"
                           "{\"ph\":\"X\",\"name\":\"b\",\"ts\":3,\"dur\":1,\"pid\":1},"
                           "{\"ph\":\"X\",\"name\":\"c\",\"ts\":4,\"dur\":5,\"pid\":2},"
                           "{\"ph\":\"s\",\"id\":\"7\",\"ts\":1,\"pid\":\"0\"},"
                           "{\"ph\":\"f\",\"id\":7,\"ts\":5,\"pid\":2},"
                           "{\"ph\":\"s\",\"id\":8,\"ts\":6,\"pid\":0},"
                           "{\"ph\":\"t\",\"id\":8,\"ts\":7,\"pid\":2},"
                           "{\"ph\":\"s\",\"id\":9,\"ts\":7,\"pid\":0},"
                           "{\"ph\":\"f\",\"id\":9,\"ts\":8,\"pid\":1},"
                           "{\"ph\":\"s\",\"id\":9,\"ts\":8,\"pid\":0},"
                           "{\"ph\":\"f\",\"id\":9,\"ts\":8,\"pid\":2}]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL),
                        "a+0 >1@1000 >2@6000 >1@7000 >2@8000 a-9000");
    assert_string_equal(sample_chrome_events(&s, 1, NULL),
                        "b+3000 <0@3000 >2@3000 b-4000 <0@8000");
    assert_string_equal(sample_chrome_events(&s, 2, NULL),
                        "c+4000 <1@5000 <0@7000 <0@8000 c-9000");
    source_close(&s);
}

/*
 *     rank 0   s comm a                       f comm b
 *          1       s task   f task
 *          2             s comm b   f comm a
 *          3   s local                        f local
 *          4       s local           f local
 */
static void flows_of_an_id_are_told_apart(void **state)
{
#define END(ph, ts, pid, id, cat, name)                                                        \
    "{\"ph\":\"" ph "\",\"ts\":" #ts ",\"pid\":" #pid "," id ",\"cat\":\"" cat                 \
    "\",\"name\":\"" name "\"},\n"
#define ID "\"id\":7"
#define LOCAL "\"id2\":{\"local\":7}"
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[" END("s", 0, 0, ID, "comm", "a") END("s", 1, 1, ID, "task", "")
                END("s", 2, 2, ID, "comm", "b") END("f", 3, 1, ID, "task", "")
                    END("f", 4, 2, ID, "comm", "a") END("f", 5, 0, ID, "comm", "b")
                        END("s", 0, 3, LOCAL, "", "") END("s", 1, 4, LOCAL, "", "")
                            END("f", 4, 4, LOCAL, "", "") END("f", 5, 3, LOCAL, "", "") "]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), ">2@0 <2@5000");
    assert_string_equal(sample_chrome_events(&s, 1, NULL), ">1@1000 <1@3000");
    assert_string_equal(sample_chrome_events(&s, 2, NULL), ">0@2000 <0@4000");
    assert_string_equal(sample_chrome_events(&s, 3, NULL), ">3@0 <3@5000");
    assert_string_equal(sample_chrome_events(&s, 4, NULL), ">4@1000 <4@4000");
    source_close(&s);
    /* who writes them calls the ends differently */
    sample_chrome_open(&s, "[" END("s", 0, 0, ID, "comm", "send")
                               END("f", 2, 1, ID, "comm", "receive") "]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), ">1@0");
    assert_string_equal(sample_chrome_events(&s, 1, NULL), "<0@2000");
    source_close(&s);
}

/*
 *     rank 0       s       s          its first start is not in the trace
 *          1   f       f
 *          2                   f
 */
static void a_flow_that_is_used_again_may_lack_an_end(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[" END("f", 0, 1, ID, "", "") END("s", 1, 0, ID, "", "")
                               END("f", 2, 1, ID, "", "") END("s", 3, 0, ID, "", "")
                                   END("f", 4, 2, ID, "", "") "]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), ">1@1000 >2@3000");
    assert_string_equal(sample_chrome_events(&s, 1, NULL), "<1@0 <0@2000");
    assert_string_equal(sample_chrome_events(&s, 2, NULL), "<0@4000");
    source_close(&s);
    /* the last finish is not there, and the clock of rank 1 is behind: all are as early */
    sample_chrome_open(&s, "[" END("s", 5, 0, ID, "", "") END("s", 6, 0, ID, "", "")
                               END("f", 1, 1, ID, "", "") "]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), ">1@4000 >0@5000");
    assert_string_equal(sample_chrome_events(&s, 1, NULL), "<0@0");
    source_close(&s);
}

/* The name of a location, then its events. */
static void assert_location(struct source *s, uint32_t l, const char *name, const char *events)
{
    assert_string_equal(s->defs.location[l].name, name);
    assert_string_equal(sample_chrome_events(s, l, NULL), events);
}

/*
 *     id 1   [ read       [ parse ] ]                    thread 0      [ f ]
 *     id 2       [ read ]             [ read             async io      1  1  3
 *     id 3                      [ read ]                 async io, 2   2  2
 */
static void asynchronous_spans_have_tracks_of_their_own(void **state)
{
    static const char text[] =
        "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":0,\"dur\":9,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"read\",\"id\":1,\"ts\":1,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"S\",\"cat\":\"io\",\"name\":\"read\",\"id\":\"2\",\"ts\":2,\"pid\":1,"
        "\"tid\":1},"
        "{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"parse\",\"id\":1,\"ts\":3,\"pid\":1,\"tid\":2}"
        ","
        "{\"ph\":\"e\",\"cat\":\"io\",\"name\":\"parse\",\"id\":1,\"ts\":5,\"pid\":1,\"tid\":2}"
        ","
        "{\"ph\":\"F\",\"cat\":\"io\",\"name\":\"read\",\"id\":2,\"ts\":4,\"pid\":1,\"tid\":2},"
        "{\"ph\":\"n\",\"cat\":\"io\",\"name\":\"hm\",\"id\":1,\"ts\":5,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"e\",\"cat\":\"io\",\"id\":1,\"ts\":6,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"read\",\"id2\":{\"local\":\"3\"},\"ts\":6,"
        "\"pid\":1,\"tid\":1},"
        "{\"ph\":\"e\",\"cat\":\"io\",\"name\":\"read\",\"id2\":{\"local\":3},\"ts\":8,"
        "\"pid\":1,\"tid\":1},"
        "{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"read\",\"id\":2,\"ts\":7,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"e\",\"cat\":\"net\",\"name\":\"read\",\"id\":2,\"ts\":7,\"pid\":1,\"tid\":1}"
        "]";
    struct source s;

    (void)state;
    sample_chrome_open(&s, text);
    assert_int_equal(s.defs.n_locations, 3);
    assert_int_equal(s.defs.n_ranks, 1);
    assert_location(&s, 0, "", "f+0 f-9000");
    assert_location(&s, 1, "async io",
                    "read+1000 parse+3000 parse-5000 read-6000 read+6000 read-8000");
    assert_location(&s, 2, "async io, 2", "read+2000 read-4000 read+7000 read-9000");
    assert_int_equal(s.quality.n[QUALITY_open_span], 2); /* one is not over, one has no begin */
    assert_int_equal(s.quality.n[QUALITY_ignored_event], 1);
    assert_false(quality_is_damaged(&s.quality));
    source_close(&s);
}

/* Processes number theirs each, but for those that go from one to another; and two of an id
 * that cross are on two tracks. */
static void ids_of_spans_are_of_their_process_first(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(
        &s, "[{\"ph\":\"b\",\"cat\":\"x\",\"name\":\"a\",\"id\":0,\"ts\":0,\"pid\":0},"
            "{\"ph\":\"b\",\"cat\":\"x\",\"name\":\"a\",\"id\":0,\"ts\":1,\"pid\":1},"
            "{\"ph\":\"e\",\"cat\":\"x\",\"name\":\"a\",\"id\":0,\"ts\":3,\"pid\":0},"
            "{\"ph\":\"e\",\"cat\":\"x\",\"name\":\"a\",\"id\":0,\"ts\":7,\"pid\":1},"
            "{\"ph\":\"b\",\"cat\":\"x\",\"name\":\"b\",\"id\":\"0xf\",\"ts\":8,\"pid\":0},"
            "{\"ph\":\"b\",\"cat\":\"x\",\"name\":\"c\",\"id\":\"0xf\",\"ts\":9,\"pid\":0},"
            "{\"ph\":\"e\",\"cat\":\"x\",\"name\":\"b\",\"id\":\"0xf\",\"ts\":11,\"pid\":1},"
            "{\"ph\":\"e\",\"cat\":\"x\",\"name\":\"c\",\"id\":\"0xf\",\"ts\":13,\"pid\":0}]");
    assert_int_equal(s.defs.n_locations, 3);
    assert_location(&s, 0, "async x", "a+0 a-3000 b+8000 b-11000");
    assert_location(&s, 1, "async x, 2", "c+9000 c-13000");
    assert_int_equal(s.defs.location[2].rank, 1);
    assert_location(&s, 2, "async x", "a+1000 a-7000");
    source_close(&s);
}

/* Several processes that write one file begin it each; one writes its array into another. */
static void another_document_may_stand_among_events(void **state)
{
    static const char *const text[] = {
        "{\"traceEvents\":[\n{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1,\"pid\":0},\n"
        "{\n\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n"
        "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,\"pid\":0}],\"otherData\":{\"a\":{}}},"
        "\n"
        "{\"ph\":\"X\",\"name\":\"c\",\"ts\":4,\"dur\":1,\"pid\":0}\n]}",
        "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1,\"pid\":0},"
        "[{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,\"pid\":0,\"args\":{\"l\":[[1]]}},"
        "{\"ph\":\"X\",\"name\":\"c\",\"ts\":4,\"dur\":1,\"pid\":0}",
        "{\"traceEvents\":{\"traceEvents\":["
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1,\"pid\":0},"
        "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,\"pid\":0}],\"x\":[{\"ph\":\"X\"}]},"
        "\"x\":{\"ph\":\"X\"}}{\"ph\":\"X\",\"name\":\"c\",\"ts\":4,\"dur\":1,\"pid\":0}",
        "{}{\"traceEvents\":[,{},{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1,\"pid\":0},,"
        "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,\"pid\":0},"
        "{\"ph\":\"X\",\"name\":\"c\",\"ts\":4,\"dur\":1,\"pid\":0},{}]}{}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct source s;

        sample_chrome_open(&s, text[i]);
        assert_string_equal(sample_chrome_events(&s, 0, NULL),
                            "a+0 a-1000 b+2000 b-3000 c+4000 c-5000");
        assert_false(quality_is_damaged(&s.quality));
        source_close(&s);
    }
}

/* A number may be quoted in one record and not in another; text that is long hurts nobody where
 * it is no name. */
static void writers_quote_as_they_like(void **state)
{
    const size_t n = 70000;
    char *text = malloc(3 * n), *at = text;
    struct source s;

    (void)state;
    at += sprintf(at, "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,"
                      "\"args\":{\"name\":\"CPU\"}},"
                      "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1\",\"dur\":\"5\",\"pid\":\"2\","
                      "\"tid\":\"7\",\"args\":{\"long\":\"");
    memset(at, 'x', n);
    at += n;
    at +=
        sprintf(at, "\"}},{\"ph\":\"X\",\"name\":\"b\",\"ts\":8,\"dur\":1,\"pid\":2,\"tid\":7},"
                    "{\"ph\":\"C\",\"name\":\"cpu\",\"id\":1,\"ts\":9,\"pid\":2,\"tid\":7,"
                    "\"args\":{\"v\":\"1.5\"}}],\"files\":{\"a.py\":\"");
    memset(at, 'y', n);
    at += n;
    sprintf(at, "\"}}");
    sample_chrome_write(text, strlen(text));
    assert_int_equal(source_open_as(&s, sample_chrome_path, &counting), 0);
    assert_int_equal(s.defs.n_locations, 1);
    assert_string_equal(s.defs.location[0].name, "CPU");
    assert_string_equal(s.defs.counters.name[0], "cpu[1]");
    assert_false(quality_is_damaged(&s.quality));
    source_close(&s);
    free(text);
}

static void open_named(struct source *s, size_t n)
{
    char *text = malloc(n + 100), *at = text + sprintf(text, "[{\"ph\":\"X\",\"name\":\"");

    memset(at, 'f', n);
    sprintf(at + n, "\",\"ts\":0,\"dur\":1,\"pid\":0}]");
    sample_chrome_open(s, text);
    free(text);
}

static void long_names_are_kept_and_longer_ones_are_counted(void **state)
{
    struct source s;

    (void)state;
    open_named(&s, 5000);
    assert_int_equal(strlen(s.defs.region[0].name), 5000);
    assert_int_equal(s.quality.n[QUALITY_too_long], 0);
    source_close(&s);
    open_named(&s, 70000);
    assert_int_equal(strlen(s.defs.region[0].name), 16384);
    assert_int_equal(s.quality.n[QUALITY_too_long], 1);
    source_close(&s);
}

/* The second line is broken; the rest is read all the same. */
/* 'C' is ignored, and counted, unless asked for; one value has the name of its record. */
static void counters_are_events_where_they_are_wanted(void **state)
{
    static const char text[] =
        "[{\"ts\":1,\"ph\":\"B\",\"pid\":0,\"name\":\"f\"},\n"
        "{\"ts\":2,\"ph\":\"C\",\"pid\":0,\"name\":\"memory\",\"args\":{\"used\":4096}},\n"
        "{\"ts\":3,\"ph\":\"C\",\"pid\":0,\"name\":\"load\",\"args\":{\"a\":0.5,\"b\":-3}},\n"
        "{\"ts\":4,\"ph\":\"C\",\"pid\":0,\"name\":\"nothing\",\"args\":{\"a\":\"x\",\"b\":"
        "\"\"}},"
        "{\"ts\":5,\"ph\":\"E\",\"pid\":0,\"args\":{\"x\":1}}]";
    static const char *const name[] = {"memory", "load.a", "load.b"};
    const struct event_batch *batch;
    struct source_reader *reader;
    struct source s;

    (void)state;
    sample_chrome_open(&s, text);
    assert_int_equal(s.quality.n[QUALITY_ignored_event], 3);
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "f+0 *-4000");
    source_close(&s);

    assert_int_equal(source_open_as(&s, sample_chrome_path, &counting), 0);
    assert_int_equal(s.quality.n[QUALITY_ignored_event], 0);
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    reader = source_reader_new(&s);
    source_reader_begin(reader, 0, UINT64_MAX);
    assert_int_equal(source_reader_next(reader, &batch), 5);
    for (uint32_t i = 0; i < 3; i++) {
        const struct event *event = &batch->event[1 + i];
        const struct counter_value *value = &batch->counter[event->ref];

        assert_int_equal(event->kind, EVENT_COUNTER);
        assert_int_equal(event->time_ns, i == 0 ? 1000 : 2000);
        assert_string_equal(s.defs.counters.name[value->counter], name[i]);
        assert_int_equal(value->is_real, i == 1);
        assert_true(i == 1 ? value->real == 0.5 : value->whole == (i == 0 ? 4096 : -3));
    }
    source_reader_free(reader);
    source_close(&s);
}

/* 17 numbers, where there is room for 16, and a text that is none. */
static void values_of_a_counter_that_are_not_kept_are_counted(void **state)
{
#define VALUES "\"a\":1,\"b\":2,\"c\":3,\"d\":4,"
#define MORE "\"e\":5,\"f\":6,\"g\":7,\"h\":8,"
    static const char text[] =
        "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":0,\"dur\":1,\"pid\":0},"
        "{\"args\":{" VALUES MORE VALUES MORE "\"i\":9,\"unit\":\"byte\"},"
        "\"ph\":\"C\",\"name\":\"memory\",\"ts\":0,\"pid\":0},"
        "{\"args\":{" VALUES MORE VALUES MORE "\"i\":9},"
        "\"ph\":\"X\",\"name\":\"g\",\"ts\":1,\"dur\":1,\"pid\":0}]";
    struct source s;

    (void)state;
    sample_chrome_write(text, sizeof text - 1);
    assert_int_equal(source_open_as(&s, sample_chrome_path, &counting), 0);
    assert_int_equal(s.quality.n[QUALITY_lost_detail], 1);
    source_close(&s);
}

/* "f+0 n=7 f-5": arguments of a location as they come. */
static const char *arguments_of(struct source *s)
{
    static char out[4096];
    struct source_reader *reader = source_reader_new(s);
    const struct event_batch *batch;
    char *at = out;

    *out = '\0';
    source_reader_begin(reader, 0, UINT64_MAX);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            const struct event *event = &batch->event[i];
            const struct argument_value *v = &batch->argument[event->ref];

            if (event->kind != EVENT_ARGUMENT) {
                at += sprintf(at, "%s ", event->kind == EVENT_ENTER ? "(" : ")");
                continue;
            }
            at += sprintf(at, "%s=", s->defs.arguments.name[v->argument]);
            if (v->kind == ARGUMENT_TEXT)
                at += sprintf(at, "'%.8s' ", v->text);
            else if (v->kind == ARGUMENT_REAL)
                at += sprintf(at, "%g ", v->real);
            else if (v->kind == ARGUMENT_YES_NO)
                at += sprintf(at, "%s ", v->natural ? "yes" : "no");
            else
                at += sprintf(at, v->kind == ARGUMENT_WHOLE ? "%lld " : "%llu ",
                              (long long)v->whole);
        }
    source_reader_free(reader);
    return out;
}

static void numbers_texts_and_truths_in_args_are_arguments_of_the_call(void **state)
{
    static const char text[] =
        "[{\"ts\":0,\"ph\":\"B\",\"pid\":0,\"name\":\"f\",\"args\":{\"n\":-7,\"u\":"
        "18446744073709551615,"
        "\"x\":0.5,\"e\":1e400,\"to\":\"north\",\"is\":true,\"no\":null,\"list\":[1,2],\"in\":"
        "{\"n\":1},\"last\":false}},\n"
        "{\"ts\":1,\"ph\":\"X\",\"dur\":2,\"pid\":0,\"name\":\"g\",\"args\":{\"n\":1}},\n"
        "{\"ts\":5,\"ph\":\"E\",\"pid\":0,\"args\":{\"result\":3}}]";
    static const struct source_opts wanting = {.wants_arguments = true};
    struct source s;

    (void)state;
    sample_chrome_open(&s, text);
    assert_string_equal(arguments_of(&s), "( ( ) ) ");
    assert_int_equal(s.defs.arguments.n, 0);
    source_close(&s);
    assert_int_equal(source_open_as(&s, sample_chrome_path, &wanting), 0);
    assert_string_equal(arguments_of(&s),
                        "( n=-7 u=18446744073709551615 x=0.5 to='north' is=yes "
                        "last=no ( n=1 ) result=3 ) ");
    assert_int_equal(s.quality.n[QUALITY_lost_detail], 0);
    source_close(&s);
}

/* 40 values of one record, and names that are all different in 5,000. */
static void arguments_beyond_what_is_kept_are_counted(void **state)
{
    static const struct source_opts wanting = {.wants_arguments = true};
    FILE *file = fopen(sample_chrome_path, "w");
    struct source s;

    (void)state;
    fputs("[{\"ts\":0,\"ph\":\"X\",\"dur\":1,\"pid\":0,\"name\":\"f\",\"args\":{\"a\":0", file);
    for (int i = 1; i < 40; i++)
        fprintf(file, ",\"a\":%d", i);
    for (int i = 0; i < 5000; i++)
        fprintf(file,
                "}},\n{\"ts\":%d,\"ph\":\"X\",\"dur\":1,\"pid\":0,\"name\":\"f\",\"args\":{\"n%"
                "d\":1",
                i + 2, i);
    fputs("}}]", file);
    fclose(file);
    assert_int_equal(source_open_as(&s, sample_chrome_path, &wanting), 0);
    assert_int_equal(s.defs.arguments.n, 4096);
    assert_int_equal(s.quality.n[QUALITY_lost_detail], 8 + 5001 - 4096);
    source_close(&s);
}

static void a_broken_record_costs_its_line_only(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "{\"traceEvents\":[\n"
                           "{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":0},\n"
                           "{\"ph\":\"B\",\"name\":\"b,\"ts\":!!2,\"pid\":0},\n"
                           "{\"ph\":\"E\",\"name\":\"a\",\"ts\":3,\"pid\":0},\n"
                           "]}");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 a-2000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    source_close(&s);
}

/* As PyTorch writes it: objects of several lines, each indented. */
static void records_behind_a_broken_one_may_be_indented(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "{\n  \"traceEvents\": [\n"
                           "  {\n    \"ph\": \"X\", \"name\": \"a\", \"pid\": 0, \"ts\": 1, "
                           "\"dur\": 1,\n    \"args\": {\n      \"GB/s\": inf\n    }\n  },\n"
                           "  {\n    \"ph\": \"X\", \"name\": \"b\\q\", \"pid\": 0, \"ts\": 2, "
                           "\"dur\": 1\n  },\n"
                           "  {\n    \"ph\": \"X\", \"name\": \"c\", \"pid\": 0, \"ts\": 3, "
                           "\"dur\": 1\n  }\n  ]\n}\n");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 a-1000 c+2000 c-3000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    source_close(&s);
}

static void the_end_of_the_array_may_be_missing(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":0},\n"
                           "{\"ph\":\"E\",\"name\":\"a\",\"ts\":3,\"pid\":0},\n");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 a-2000");
    assert_false(quality_is_damaged(&s.quality));
    source_close(&s);
    sample_chrome_open(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":0},\n"
                           "{\"ph\":\"E\",\"name\":\"a\",\"ts\":");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0");
    assert_int_equal(s.quality.n[QUALITY_truncated], 1);
    source_close(&s);
}

static void impossible_values_are_counted(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s,
                       "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-5,\"pid\":0},"
                       "{\"ph\":\"X\",\"name\":\"a\",\"ts\":9e99,\"dur\":5,\"pid\":0},"
                       "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":5,\"pid\":0},"
                       "{\"ph\":\"C\",\"name\":\"a\",\"ts\":1,\"pid\":0},{\"name\":\"a\"}]");
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 a-5000");
    assert_int_equal(s.quality.n[QUALITY_bad_value], 2);
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    assert_int_equal(s.quality.n[QUALITY_ignored_event], 1);
    source_close(&s);
}

static void compressed_files_are_read(void **state)
{
    static const char text[] = "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":5,\"pid\":0}]";
    char packed[512];
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text - 1, 3);
    struct source s;

    (void)state;
    sample_chrome_write(packed, n);
    assert_int_equal(source_open(&s, sample_chrome_path), 0);
    assert_string_equal(sample_chrome_events(&s, 0, NULL), "a+0 a-5000");
    source_close(&s);
    sample_chrome_write(packed, n / 2);
    assert_int_equal(source_open(&s, sample_chrome_path), ERR_FORMAT);
    source_close(&s);
}

static void other_files_are_refused(void **state)
{
    static const char *const texts[] = {"",     "hello", "{}", "[]", "{\"a\":[{\"ph\":\"B\"}]}",
                                        "[1,2", "[[[[[["};
    struct source s;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sample_chrome_write(texts[i], strlen(texts[i]));
        assert_int_equal(source_open(&s, sample_chrome_path), ERR_FORMAT);
        source_close(&s);
    }
}

/* A call at the end of all that a clock can say, and nobody who waits. */
static void the_last_time_that_there_is_is_one_of_a_call(void **state)
{
    struct source s;

    (void)state;
    sample_chrome_open(&s, "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"a\","
                           "\"ts\":-4611686018427387.999,\"dur\":0},"
                           "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"b\","
                           "\"ts\":4611686018427387.808,\"dur\":0}]");
    assert_non_null(strstr(sample_chrome_events(&s, 0, NULL), "b+"));
    source_close(&s);
}

static void other_json_of_rocprof_says_what_to_record(void **state)
{
    static const char text[] = "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":908}}]}";
    struct source s;

    (void)state;
    sample_chrome_write(text, strlen(text));
    assert_int_equal(source_open(&s, sample_chrome_path), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "--output-format otf2"));
    source_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begin_and_end_pairs_are_calls),
        cmocka_unit_test(the_last_time_that_there_is_is_one_of_a_call),
        cmocka_unit_test(other_json_of_rocprof_says_what_to_record),
        cmocka_unit_test(durations_are_nested_whatever_their_order),
        cmocka_unit_test(of_two_calls_that_cross_the_one_is_cut_that_loses_less),
        cmocka_unit_test(processes_are_ranks_by_name_or_by_number),
        cmocka_unit_test(flows_are_messages),
        cmocka_unit_test(counters_are_events_where_they_are_wanted),
        cmocka_unit_test(values_of_a_counter_that_are_not_kept_are_counted),
        cmocka_unit_test(a_broken_record_costs_its_line_only),
        cmocka_unit_test(records_behind_a_broken_one_may_be_indented),
        cmocka_unit_test(the_end_of_the_array_may_be_missing),
        cmocka_unit_test(what_is_said_of_the_run_is_kept),
        cmocka_unit_test(numbers_texts_and_truths_in_args_are_arguments_of_the_call),
        cmocka_unit_test(arguments_beyond_what_is_kept_are_counted),
        cmocka_unit_test(impossible_values_are_counted),
        cmocka_unit_test(compressed_files_are_read),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(calls_of_both_kinds_are_cut_alike),
        cmocka_unit_test(pairs_of_one_time_stay_in_order),
        cmocka_unit_test(a_duration_is_what_the_trace_says),
        cmocka_unit_test(flows_may_pass_by),
        cmocka_unit_test(flows_of_an_id_are_told_apart),
        cmocka_unit_test(a_flow_that_is_used_again_may_lack_an_end),
        cmocka_unit_test(asynchronous_spans_have_tracks_of_their_own),
        cmocka_unit_test(ids_of_spans_are_of_their_process_first),
        cmocka_unit_test(another_document_may_stand_among_events),
        cmocka_unit_test(writers_quote_as_they_like),
        cmocka_unit_test(long_names_are_kept_and_longer_ones_are_counted),
    };

    return cmocka_run_group_tests(tests, sample_chrome_setup, sample_chrome_teardown);
}
