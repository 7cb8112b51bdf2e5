/* Rules are text, traces are written as JSON; what belongs together comes back as events. */
#include "trace/chrome/link_rules.h"
#include "trace/source.h"

#include "base/err.h"

#include "test.h"
#include "test_dir.h"

static char dir[] = "/tmp/snag-links-XXXXXX";
static char trace[64], rules[64];

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int setup(void **state)
{
    (void)state;
    if (test_dir(dir) == NULL)
        return -1;
    snprintf(trace, sizeof trace, "%s/trace.json", dir);
    snprintf(rules, sizeof rules, "%s/rules", dir);
    return 0;
}

/* The messages and collectives of a location: ">1#0@10 =2#0[5,7]0:30" (see below). */
static const char *traffic_of(struct source *source, uint32_t location)
{
    static char out[4096];
    struct source_reader *reader = source_reader_new(source);
    const struct event_batch *batch;
    struct quality quality = {0};
    char *at = out;

    *out = '\0';
    source_reader_begin(reader, location, UINT64_MAX);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            const struct event *event = &batch->event[i];

            if (event->kind == EVENT_MESSAGE) { /* direction, peer # tag x bytes @ time */
                const struct message *m = &batch->message[event->ref];

                at += sprintf(at, "%s%s%u#%ux%d@%d", at > out ? " " : "",
                              m->kind == MESSAGE_SEND ? ">" : "<", m->peer, m->tag,
                              (int)m->bytes, (int)event->time_ns);
            } else if (event->kind == EVENT_COLLECTIVE) { /* comm # number [bytes] from:to */
                const struct collective *c = &batch->collective[event->ref];

                at += sprintf(at, "%s=%u#%u[%d,%d]%d:%d", at > out ? " " : "", c->comm,
                              c->order, (int)c->sent_bytes, (int)c->received_bytes,
                              (int)c->begin_ns, (int)event->time_ns);
            }
        }
    source_reader_end(reader, &quality);
    source_reader_free(reader);
    return out;
}

static int open_with(struct source *source, const char *text, const char *rule_text)
{
    write_text(trace, text);
    write_text(rules, rule_text);
    return source_open_as(source, trace, &(struct source_opts){.links = rules});
}

#define X(name, ts, dur, pid, args)                                                            \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur ",\"pid\":" #pid        \
    ",\"tid\":" #pid ",\"args\":{" args "}},\n"

static void ends_of_a_message_have_the_same_keys(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(
        open_with(&s,
                  "[" X("put", 0, 2, 0, "\"to\":1,\"n\":3,\"size\":64")
                      X("put", 4, 2, 0, "\"to\":1,\"n\":4,\"size\":65")
                          X("get", 1, 9, 1, "\"n\":4") X("get", 11, 1, 1, "\"n\":3")
                              X("get", 13, 1, 1, "\"n\":9") X("put", 14, 1, 1, "\"to\":0") "]",
                  "# comment\n"
                  "m send    put to n sent:size\n"
                  "m receive get rank n received:size\n"),
        0);
    /* a send at the beginning of its call, a receive at the end of its own */
    assert_string_equal(traffic_of(&s, 0), ">1#0x64@0 >1#1x65@4000");
    assert_string_equal(traffic_of(&s, 1), "<0#1x0@10000 <0#0x0@12000 <1#2x0@14000");
    assert_int_equal(s.defs.n_linkings, 1);
    assert_string_equal(s.defs.linking[0].from, rules);
    assert_int_equal(s.defs.linking[0].n_sends, 2);
    assert_int_equal(s.defs.linking[0].n_receives, 3);
    source_close(&s);
}

static void keys_may_be_shifted_and_stand_in_names(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(
        open_with(&s,
                  "[" X("put", 0, 2, 5, "")
                      X("get", 1, 9, 7,
                        "") "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":5,"
                            "\"args\":{\"name\":\"stage 3, compute\"}},"
                            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,"
                            "\"args\":{\"name\":\"the stage: 4\"}}]",
                  "m send p?t thread:stage+1\nm receive get process:stage\n"),
        0);
    assert_string_equal(traffic_of(&s, 0), ">1#0x0@0");
    assert_string_equal(traffic_of(&s, 1), "<0#0x0@10000");
    source_close(&s);
}

/* Two groups of the same members share a communicator; a third has another. */
static void members_of_a_collective_are_counted_one_by_one(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(
        open_with(&s,
                  "[" X("sum", 0, 2, 0,
                        "\"g\":\"a\",\"in\":\"[[2,3],[9]]\","
                        "\"t\":\"float\"")
                      X("sum", 1, 2, 1, "\"g\":\"a\",\"in\":[[2,3]],\"t\":[\"half\"]")
                          X("sum", 5, 2, 0, "\"g\":\"a\"") X("sum", 6, 2, 1, "\"g\":\"a\"")
                              X("sum", 8, 1, 1, "\"g\":\"b\"") X("sum", 9, 1, 0, "\"g\":\"b\"")
                                  X("sum", 11, 1, 1, "\"g\":\"c\"") "]",
                  "c all-to-all sum g bytes:in*t\n"),
        0);
    assert_string_equal(traffic_of(&s, 0),
                        "=1#0[24,24]0:2000 =1#1[0,0]5000:7000 =1#2[0,0]9000:10000");
    assert_string_equal(traffic_of(&s, 1), "=1#0[12,12]1000:3000 =1#1[0,0]6000:8000 "
                                           "=1#2[0,0]8000:9000 =2#0[0,0]11000:12000");
    assert_int_equal(s.defs.comm[1].n_members, 2);
    assert_int_equal(s.defs.comm[2].n_members, 1);
    assert_int_equal(s.defs.comm[2].member[0], 1);
    source_close(&s);
}

/* Rank 1's trace begins after the first collective; its clock is off by 50 us. */
static void members_with_fewer_collectives_are_aligned_by_their_times(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(open_with(&s,
                               "[" X("sum", 0, 2, 0, "") X("sum", 10, 2, 0, "")
                                   X("sum", 13, 2, 0, "") X("sum", 33, 3, 0, "")
                                       X("sum", 59, 3, 1, "") X("sum", 64, 1, 1, "")
                                           X("sum", 80, 6, 1, "") "]",
                               "c barrier sum\n"),
                     0);
    assert_string_equal(traffic_of(&s, 0), "=1#0[0,0]0:2000 =1#1[0,0]10000:12000 "
                                           "=1#2[0,0]13000:15000 =1#3[0,0]33000:36000");
    assert_string_equal(traffic_of(&s, 1), "=1#1[0,0]59000:62000 =1#2[0,0]64000:65000 "
                                           "=1#3[0,0]80000:86000");
    source_close(&s);
}

/* The second of rank 0 and the third of rank 1 are not recorded, whose clock is 100 ahead; rank
 * 2 lacks what rank 0 does. */
static void a_record_may_be_lost_in_the_middle(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(
        open_with(&s,
                  "[" X("sum", 0, 2, 0, "") X("sum", 20, 2, 0, "") X("sum", 30, 2, 0, "")
                      X("sum", 40, 2, 0, "") X("sum", 100, 2, 1, "") X("sum", 110, 2, 1, "")
                          X("sum", 130, 2, 1, "") X("sum", 140, 2, 1, "") X("sum", 0, 2, 2, "")
                              X("sum", 20, 2, 2, "") X("sum", 30, 2, 2, "")
                                  X("sum", 40, 2, 2, "") "]",
                  "c barrier sum\n"),
        0);
    assert_string_equal(traffic_of(&s, 0), "=1#0[0,0]0:2000 =1#2[0,0]20000:22000 "
                                           "=1#3[0,0]30000:32000 =1#4[0,0]40000:42000");
    assert_string_equal(traffic_of(&s, 1), "=1#0[0,0]100000:102000 =1#1[0,0]110000:112000 "
                                           "=1#3[0,0]130000:132000 =1#4[0,0]140000:142000");
    assert_string_equal(traffic_of(&s, 2), "=1#0[0,0]0:2000 =1#2[0,0]20000:22000 "
                                           "=1#3[0,0]30000:32000 =1#4[0,0]40000:42000");
    source_close(&s);
}

/* Kernels that do not say their group; a group has a stream, whose numbers may differ. */
static void groups_without_a_name_are_told_apart_by_streams(void **state)
{
#define ON(name, ts, pid, tid)                                                                 \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":2,\"pid\":" #pid               \
    ",\"tid\":" #tid "},\n"
    struct source s;

    (void)state;
    assert_int_equal(open_with(&s,
                               "[" ON("sum", 0, 0, 7) ON("sum", 10, 0, 9) ON("sum", 20, 0, 7)
                                   ON("sum", 9, 1, 12) ON("sum", 11, 1, 8)
                                       ON("sum", 20, 1, 8) "]",
                               "c barrier sum g? each:rank\n"),
                     0);
    assert_string_equal(traffic_of(&s, 0), "=1#0[0,0]0:2000 =1#1[0,0]20000:22000");
    assert_string_equal(traffic_of(&s, 1), "=1#2[0,0]10000:12000");
    assert_string_equal(traffic_of(&s, 2), "=1#0[0,0]11000:13000 =1#1[0,0]20000:22000");
    assert_string_equal(traffic_of(&s, 3), "=1#2[0,0]9000:11000");
    source_close(&s);
}

static void sizes_are_said_by_other_calls_when_there_are_as_many(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(open_with(&s,
                               "[" X("launch", 0, 1, 0, "\"n\":7") X("run", 4, 1, 0, "")
                                   X("launch", 2, 1, 0, "\"n\":8") X("run", 6, 1, 0, "")
                                       X("launch", 0, 1, 1, "\"n\":9") X("run", 4, 1, 1, "")
                                           X("run", 6, 1, 1, "") "]",
                               "c barrier run each:rank\nc sizes launch each:rank bytes:n\n"),
                     0);
    assert_string_equal(traffic_of(&s, 0), "=1#0[7,7]4000:5000 =1#1[8,8]6000:7000");
    assert_string_equal(traffic_of(&s, 1), "=1#0[0,0]4000:5000 =1#1[0,0]6000:7000");
    source_close(&s);
}

static void the_first_rule_that_fits_holds(void **state)
{
    struct source s;

    (void)state;
    assert_int_equal(open_with(&s,
                               "[" X("op", 0, 1, 0, "\"kind\":\"p2p\"")
                                   X("op", 2, 1, 0, "\"kind\":\"sum\",\"n\":1")
                                       X("op", 4, 1, 0, "\"kind\":\"sum\"") "]",
                               "x none op kind=p2p\nx barrier op n\n"),
                     0);
    assert_string_equal(traffic_of(&s, 0), "=1#0[0,0]2000:3000");
    source_close(&s);
}

/* One kernel is of all-to-alls, and of messages between two ranks of a pipeline. */
static void kernels_of_sends_and_receives_are_collectives_where_the_trace_says_so(void **state)
{
#define SEND_RECEIVE(args) X("ncclDevKernel_SendRecv(x)", 4, 2, 0, args)
#define ALL_REDUCE X("ncclDevKernel_AllReduce(x)", 8, 2, 0, "")
#define LAUNCH(name, n) X(name, 0, 1, 0, "\"Input Dims\":[[" #n "]]")
    static const struct {
        const char *text, *traffic;
    } traces[] = {
        {SEND_RECEIVE("") ALL_REDUCE, "=1#0[0,0]4000:6000"},
        {SEND_RECEIVE("") LAUNCH("nccl:all_to_all", 7), "=1#0[7,7]4000:6000"},
        {SEND_RECEIVE("") LAUNCH("nccl:all_to_all", 7) LAUNCH("nccl:send 0->1", 8), ""},
        {SEND_RECEIVE("") LAUNCH("nccl:recv 0<-1", 7) ALL_REDUCE LAUNCH("nccl:all_reduce", 5),
         "=1#0[5,5]8000:10000"},
        {SEND_RECEIVE("\"Collective name\":\"all_to_allv\"") LAUNCH("nccl:send 0->1", 8),
         "=1#0[0,0]4000:6000"},
        {SEND_RECEIVE("\"Collective name\":\"send\"") LAUNCH("nccl:all_to_all", 7), ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char text[1024];
        struct source s;

        snprintf(text, sizeof text, "[%s]", traces[i].text);
        write_text(trace, text);
        assert_int_equal(source_open(&s, trace), 0);
        assert_string_equal(traffic_of(&s, 0), traces[i].traffic);
        source_close(&s);
    }
}

/* Two pipeline stages of two data-parallel ranks; nobody says which rules. */
static void timelines_of_pipelines_need_no_rules(void **state)
{
#define NAMED(pid, tid, text)                                                                  \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" #pid ",\"tid\":" #tid                    \
    ",\"args\":{\"name\":\"" text "\"}},\n"
#define STEP(name, ts, pid, tid)                                                               \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":2,\"pid\":" #pid               \
    ",\"tid\":" #tid ",\"args\":{\"step\":3,\"seq_id\":0}},\n"
    struct source s;

    (void)state;
    write_text(
        trace,
        "[" STEP("forward-send", 0, 0, 1) STEP("forward-recv", 1, 0, 11)
            STEP("forward-send", 0, 1, 6) STEP("forward-recv", 1, 1, 16) STEP(
                "grads-reduce-scatter", 5, 0, 3) STEP("grads-reduce-scatter", 5, 1, 8)
                STEP("grads-reduce-scatter", 5, 0, 13) STEP("grads-reduce-scatter", 5, 1, 18)
                    NAMED(0, 1, "PP rank 0, TP rank 0, pp-comm")
                        NAMED(0, 3, "PP rank 0, TP rank 0, dp-comm")
                            NAMED(0, 11, "PP rank 1, TP rank 0, pp-comm")
                                NAMED(0, 13, "PP rank 1, TP rank 0, dp-comm")
                                    NAMED(1, 6, "PP rank 0, TP rank 0, pp-comm")
                                        NAMED(1, 8, "PP rank 0, TP rank 0, dp-comm")
                                            NAMED(1, 16, "PP rank 1, TP rank 0, pp-comm") NAMED(
                                                1, 18, "PP rank 1, TP rank 0, dp-comm") "]");
    assert_int_equal(source_open(&s, trace), 0);
    assert_string_equal(traffic_of(&s, 0), ">0#0x0@0");
    assert_string_equal(traffic_of(&s, 1), "=2#0[0,0]5000:7000");
    assert_string_equal(traffic_of(&s, 2), "<0#0x0@3000");
    assert_string_equal(traffic_of(&s, 3), "=3#0[0,0]5000:7000");
    assert_string_equal(traffic_of(&s, 4), ">1#1x0@0");
    assert_string_equal(traffic_of(&s, 5), "=2#0[0,0]5000:7000");
    assert_string_equal(s.defs.linking[0].from, "pipeline-parallel training");
    source_close(&s);
}

static void a_rule_without_sense_is_named_with_its_line(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"a b", "line 1: a rule is LABEL WHAT NAME KEYS, not 'a'"},
        {"\n\na sends b", "line 3: one of send, receive,"},
        {"a send b sent:", "line 1: the name of an argument is missing"},
        {"a send b 1 2 3 4 5 6 7 8 9", "line 1: too many keys, with '9'"},
        {"a send b 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s",
         "line 1: too many words"},
        {"a send b with:1 with:2 without:3 with:4 with:5",
         "line 1: too many conditions, with 'with:5'"},
    };
    struct source s;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(open_with(&s, "[" X("a", 0, 1, 0, "") "]", bad[i].text), ERR_FORMAT);
        assert_non_null(strstr(err_message(), bad[i].why));
        source_close(&s);
    }
    unlink(rules);
    assert_int_equal(source_open_as(&s, trace, &(struct source_opts){.links = rules}), ERR_IO);
    source_close(&s);
    assert_int_equal(source_open_as(&s, "synth:a", &(struct source_opts){.links = rules}),
                     ERR_FORMAT);
    source_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_a_message_have_the_same_keys),
        cmocka_unit_test(keys_may_be_shifted_and_stand_in_names),
        cmocka_unit_test(members_of_a_collective_are_counted_one_by_one),
        cmocka_unit_test(members_with_fewer_collectives_are_aligned_by_their_times),
        cmocka_unit_test(a_record_may_be_lost_in_the_middle),
        cmocka_unit_test(groups_without_a_name_are_told_apart_by_streams),
        cmocka_unit_test(sizes_are_said_by_other_calls_when_there_are_as_many),
        cmocka_unit_test(the_first_rule_that_fits_holds),
        cmocka_unit_test(kernels_of_sends_and_receives_are_collectives_where_the_trace_says_so),
        cmocka_unit_test(timelines_of_pipelines_need_no_rules),
        cmocka_unit_test(a_rule_without_sense_is_named_with_its_line),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
