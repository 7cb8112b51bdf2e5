/* Files are written as text; the calls come back through the usual reader. */
#include "trace/chrome/source_chrome.h"

#include "base/err.h"
#include "base/test.h"

#include <unistd.h>

#include <zstd.h>

static const struct source_opts counting = {.wants_counters = true};

static char path[] = "/tmp/snag-chrome-XXXXXX";

static void write_bytes(const void *data, size_t n)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

static int setup(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* The events of a location as "main+0 f+10 f-20 main-30". */
static const char *events_and_quality_of(struct source *source, uint32_t location,
                                         struct quality *quality)
{
    static char out[4096];
    struct source_reader *reader = source_reader_new(source);
    const struct event_batch *batch;
    char *at = out;

    *out = '\0';
    source_reader_begin(reader, location, UINT64_MAX);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            const struct event *event = &batch->event[i];
            const char *sign = event->kind == EVENT_ENTER ? "+" : "-";

            at += sprintf(at, "%s", at > out ? " " : "");
            if (event->kind == EVENT_MESSAGE)
                at += sprintf(at, "%s%d@%d",
                              batch->message[event->ref].kind == MESSAGE_SEND ? ">" : "<",
                              (int)batch->message[event->ref].peer, (int)event->time_ns);
            else if (event->kind == EVENT_COLLECTIVE)
                at += sprintf(at, "=%s.%d@%d",
                              source->defs.comm[batch->collective[event->ref].comm].name,
                              (int)batch->collective[event->ref].order, (int)event->time_ns);
            else
                at += sprintf(at, "%s%s%d",
                              event->ref == ANY_REGION ? "*"
                                                       : source->defs.region[event->ref].name,
                              sign, (int)event->time_ns);
        }
    source_reader_end(reader, quality);
    source_reader_free(reader);
    return out;
}

static const char *events_of(struct source *source, uint32_t location)
{
    struct quality quality = {0};

    return events_and_quality_of(source, location, &quality);
}

static void open_text(struct source *source, const char *text)
{
    write_bytes(text, strlen(text));
    assert_int_equal(source_open(source, path), 0);
}

static void begin_and_end_pairs_are_calls(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "{\"traceEvents\":[\n"
                  "{\"ts\":5.5,\"ph\":\"B\",\"pid\":3,\"name\":\"main\"},\n"
                  "{\"ts\":6,\"ph\":\"B\",\"pid\":3,\"name\":\"f\",\"args\":{\"ph\":\"E\","
                  "\"name\":\"x\"}},\n"
                  "{\"ts\":7.25,\"ph\":\"E\",\"pid\":3},\n"
                  "{\"ts\":1e1,\"ph\":\"E\",\"pid\":3,\"name\":\"main\"}],\n"
                  "\"displayTimeUnit\":\"ns\",\"other\":[{\"ph\":\"B\"}]}");
    assert_int_equal(s.defs.n_locations, 1);
    assert_string_equal(events_of(&s, 0), "main+0 f+500 *-1750 main-4500");
    source_close(&s);
}

static void what_is_said_of_the_run_is_kept(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "{\"otherData\":{\"version\":\"My Application v1.0\",\"deep\":{\"a\":\"b\"},"
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
    open_text(&s, "[{\"ph\":\"X\",\"name\":\"in\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1},"
                  "{\"ph\":\"X\",\"name\":\"next\",\"ts\":3,\"dur\":1,\"pid\":1,\"tid\":1},"
                  "{\"ph\":\"X\",\"name\":\"out\",\"ts\":2,\"dur\":2,\"pid\":1,\"tid\":1}]");
    assert_string_equal(events_of(&s, 0), "out+0 in+0 in-1000 next+1000 next-2000 out-2000");
    source_close(&s);
}

/* What times in microseconds are rounded to makes calls cross that follow each other. */
static void of_two_calls_that_cross_the_one_is_cut_that_loses_less(void **state)
{
    struct quality quality = {0};
    struct source s;

    (void)state;
    open_text(&s, "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":0,\"dur\":10,\"pid\":1},"
                  "{\"ph\":\"X\",\"name\":\"g\",\"ts\":9.5,\"dur\":10,\"pid\":1},"
                  "{\"ph\":\"X\",\"name\":\"out\",\"ts\":30,\"dur\":10,\"pid\":1},"
                  "{\"ph\":\"X\",\"name\":\"in\",\"ts\":31,\"dur\":10,\"pid\":1},"
                  "{\"ph\":\"X\",\"name\":\"last\",\"ts\":41,\"dur\":1,\"pid\":1}]");
    assert_string_equal(events_and_quality_of(&s, 0, &quality),
                        "f+0 f-9500 g+9500 g-19500 out+30000 in+31000 in-40000 out-40000 "
                        "last+41000 last-42000");
    assert_int_equal(quality.n[QUALITY_crossed_leave], 0);
    source_close(&s);
    open_text(&s, "[{\"ph\":\"X\",\"name\":\"f\",\"ts\":0,\"dur\":10,\"pid\":1},"
                  "{\"ph\":\"X\",\"name\":\"g\",\"ts\":5,\"dur\":20,\"pid\":1}]");
    assert_string_equal(events_and_quality_of(&s, 0, &quality), "f+0 f-5000 g+5000 g-25000");
    assert_int_equal(quality.n[QUALITY_crossed_leave], 1);
    source_close(&s);
}

static void processes_are_ranks_by_name_or_by_number(void **state)
{
    struct source s;

    (void)state;
    open_text(
        &s, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1,\"pid\":9,\"tid\":1},"
            "{\"ph\":\"X\",\"name\":\"b\",\"ts\":0,\"dur\":1,\"pid\":5,\"tid\":7},"
            "{\"ph\":\"X\",\"name\":\"c\",\"ts\":0,\"dur\":1,\"pid\":5,\"tid\":\"t\"},"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"rank 0\"}},"
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":1,"
            "\"args\":{\"name\":\"main thread\"}}]");
    assert_int_equal(s.defs.n_locations, 3);
    assert_string_equal(s.defs.location[0].name, "main thread");
    assert_string_equal(events_of(&s, 0), "a+0 a-1000");
    assert_int_equal(s.defs.location[1].rank, 1);
    assert_string_equal(events_of(&s, 1), "b+0 b-1000");
    assert_int_equal(s.defs.location[2].thread, 1);
    source_close(&s);
}

static void flows_are_messages(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":0,\"pid\":0,\"tid\":0},"
                  "{\"ph\":\"s\",\"id\":\"x1\",\"ts\":1,\"pid\":0,\"tid\":0},"
                  "{\"ph\":\"f\",\"id\":\"x1\",\"ts\":3,\"pid\":1,\"tid\":0},"
                  "{\"ph\":\"f\",\"ts\":3,\"pid\":1,\"tid\":0}]");
    assert_string_equal(events_of(&s, 0), "a+0 >1@1000");
    assert_string_equal(events_of(&s, 1), "<0@3000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
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
        "{\"ts\":4,\"ph\":\"C\",\"pid\":0,\"name\":\"nothing\",\"args\":{\"a\":\"x\"}},\n"
        "{\"ts\":5,\"ph\":\"E\",\"pid\":0,\"args\":{\"x\":1}}]";
    static const char *const name[] = {"memory", "load.a", "load.b"};
    const struct event_batch *batch;
    struct source_reader *reader;
    struct source s;

    (void)state;
    open_text(&s, text);
    assert_int_equal(s.quality.n[QUALITY_ignored_event], 3);
    assert_string_equal(events_of(&s, 0), "f+0 *-4000");
    source_close(&s);

    assert_int_equal(source_open_as(&s, path, &counting), 0);
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
    open_text(&s, text);
    assert_string_equal(arguments_of(&s), "( ( ) ) ");
    assert_int_equal(s.defs.arguments.n, 0);
    source_close(&s);
    assert_int_equal(source_open_as(&s, path, &wanting), 0);
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
    FILE *file = fopen(path, "w");
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
    assert_int_equal(source_open_as(&s, path, &wanting), 0);
    assert_int_equal(s.defs.arguments.n, 4096);
    assert_int_equal(s.quality.n[QUALITY_lost_detail], 8 + 5001 - 4096);
    source_close(&s);
}

static void a_broken_record_costs_its_line_only(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "{\"traceEvents\":[\n"
                  "{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":0},\n"
                  "{\"ph\":\"B\",\"name\":\"b,\"ts\":!!2,\"pid\":0},\n"
                  "{\"ph\":\"E\",\"name\":\"a\",\"ts\":3,\"pid\":0},\n"
                  "]}");
    assert_string_equal(events_of(&s, 0), "a+0 a-2000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    source_close(&s);
}

/* As PyTorch writes it: objects of several lines, each indented. */
static void records_behind_a_broken_one_may_be_indented(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "{\n  \"traceEvents\": [\n"
                  "  {\n    \"ph\": \"X\", \"name\": \"a\", \"pid\": 0, \"ts\": 1, "
                  "\"dur\": 1,\n    \"args\": {\n      \"GB/s\": inf\n    }\n  },\n"
                  "  {\n    \"ph\": \"X\", \"name\": \"b\\q\", \"pid\": 0, \"ts\": 2, "
                  "\"dur\": 1\n  },\n"
                  "  {\n    \"ph\": \"X\", \"name\": \"c\", \"pid\": 0, \"ts\": 3, "
                  "\"dur\": 1\n  }\n  ]\n}\n");
    assert_string_equal(events_of(&s, 0), "a+0 a-1000 c+2000 c-3000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    source_close(&s);
}

static void the_end_of_the_array_may_be_missing(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":0},\n"
                  "{\"ph\":\"E\",\"name\":\"a\",\"ts\":3,\"pid\":0},\n");
    assert_string_equal(events_of(&s, 0), "a+0 a-2000");
    assert_false(quality_is_damaged(&s.quality));
    source_close(&s);
    open_text(&s, "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1,\"pid\":0},\n"
                  "{\"ph\":\"E\",\"name\":\"a\",\"ts\":");
    assert_string_equal(events_of(&s, 0), "a+0");
    assert_int_equal(s.quality.n[QUALITY_truncated], 1);
    source_close(&s);
}

static void impossible_values_are_counted(void **state)
{
    struct source s;

    (void)state;
    open_text(&s, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-5,\"pid\":0},"
                  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":9e99,\"dur\":5,\"pid\":0},"
                  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":5,\"pid\":0},"
                  "{\"ph\":\"C\",\"name\":\"a\",\"ts\":1,\"pid\":0},{\"name\":\"a\"}]");
    assert_string_equal(events_of(&s, 0), "a+0 a-5000");
    assert_int_equal(s.quality.n[QUALITY_bad_value], 1);
    assert_int_equal(s.quality.n[QUALITY_bad_record], 3);
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
    write_bytes(packed, n);
    assert_int_equal(source_open(&s, path), 0);
    assert_string_equal(events_of(&s, 0), "a+0 a-5000");
    source_close(&s);
    write_bytes(packed, n / 2);
    assert_int_equal(source_open(&s, path), ERR_FORMAT);
    source_close(&s);
}

static void other_files_are_refused(void **state)
{
    static const char *const texts[] = {"",     "hello", "{}", "[]", "{\"a\":[{\"ph\":\"B\"}]}",
                                        "[1,2", "[[[[[["};
    struct source s;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_bytes(texts[i], strlen(texts[i]));
        assert_int_equal(source_open(&s, path), ERR_FORMAT);
        source_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begin_and_end_pairs_are_calls),
        cmocka_unit_test(durations_are_nested_whatever_their_order),
        cmocka_unit_test(of_two_calls_that_cross_the_one_is_cut_that_loses_less),
        cmocka_unit_test(processes_are_ranks_by_name_or_by_number),
        cmocka_unit_test(flows_are_messages),
        cmocka_unit_test(counters_are_events_where_they_are_wanted),
        cmocka_unit_test(a_broken_record_costs_its_line_only),
        cmocka_unit_test(records_behind_a_broken_one_may_be_indented),
        cmocka_unit_test(the_end_of_the_array_may_be_missing),
        cmocka_unit_test(what_is_said_of_the_run_is_kept),
        cmocka_unit_test(numbers_texts_and_truths_in_args_are_arguments_of_the_call),
        cmocka_unit_test(arguments_beyond_what_is_kept_are_counted),
        cmocka_unit_test(impossible_values_are_counted),
        cmocka_unit_test(compressed_files_are_read),
        cmocka_unit_test(other_files_are_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
