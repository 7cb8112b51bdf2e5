/* Archives are written by libotf2 itself, then read back event by event. */
#include "trace/source.h"

#include "base/err.h"
#include "base/fs.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "otf2_archive.h"

static const struct source_opts counting = {.wants_counters = true};

/* All events of a location, copied. */
struct events {
    struct event event[7000];
    struct message message[100];
    struct collective collective[100];
    struct counter_value counter[4000];
    size_t n, n_messages, n_collectives, n_counters;
    struct quality quality;
};

static void read_events(struct source *source, uint32_t location, struct events *out)
{
    struct source_reader *reader = source_reader_new(source);
    const struct event_batch *batch;

    *out = (struct events){0};
    assert_non_null(reader);
    assert_int_equal(source_reader_begin(reader, location, UINT64_MAX), 0);
    while (source_reader_next(reader, &batch) > 0) {
        for (size_t i = 0; i < batch->n; i++) {
            struct event event = batch->event[i];

            if (event.kind == EVENT_MESSAGE) {
                out->message[out->n_messages] = batch->message[event.ref];
                event.ref = (uint32_t)out->n_messages++;
            } else if (event.kind == EVENT_COLLECTIVE) {
                out->collective[out->n_collectives] = batch->collective[event.ref];
                event.ref = (uint32_t)out->n_collectives++;
            } else if (event.kind == EVENT_COUNTER) {
                out->counter[out->n_counters] = batch->counter[event.ref];
                event.ref = (uint32_t)out->n_counters++;
            }
            out->event[out->n++] = event;
        }
    }
    source_reader_end(reader, &out->quality);
    source_reader_free(reader);
}

/* What we decode is what libotf2 decodes. */
static void read_location(struct source *source, uint32_t location, struct events *out)
{
    struct events *by_library = calloc(1, sizeof *by_library);
    struct source again;

    read_events(source, location, out);
    setenv("SNAG_OTF2_LIBRARY", "1", 1);
    assert_int_equal(source_open_as(&again, source->path, &source->opts), 0);
    unsetenv("SNAG_OTF2_LIBRARY");
    read_events(&again, location, by_library);
    by_library->quality.n[QUALITY_lost_event] = out->quality.n[QUALITY_lost_event];
    assert_memory_equal(out, by_library, sizeof *out);
    source_close(&again);
    free(by_library);
}

static void assert_event(const struct events *e, size_t i, uint64_t time, enum event_kind kind,
                         const struct source *source, const char *region)
{
    assert_int_equal(e->event[i].time_ns, time);
    assert_int_equal(e->event[i].kind, kind);
    if (region)
        assert_string_equal(source->defs.region[e->event[i].ref].name, region);
}

/*
 * What the record says is when it begins; its end is before what comes next, in any batch:
 *     main 100 .. 9000000, a flush 110 .. 150 in it; one 160 .. 500 of which nothing is true
 *     after 200; 4,000 events; one that ends behind all others
 */
static void a_flush_of_the_buffer_is_a_call_of_the_tracer(void **state)
{
    static struct events e;
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0);
    struct source source;

    OTF2_EvtWriter_Enter(zero, NULL, 100, 1);
    OTF2_EvtWriter_BufferFlush(zero, NULL, 110, 150);
    OTF2_EvtWriter_BufferFlush(zero, NULL, 160, 500);
    for (uint64_t i = 0; i < 4000; i++)
        if (i % 2 == 0)
            OTF2_EvtWriter_Enter(zero, NULL, 200 + i, 2);
        else
            OTF2_EvtWriter_Leave(zero, NULL, 200 + i, 2);
    OTF2_EvtWriter_Leave(zero, NULL, 9000, 1);
    OTF2_EvtWriter_BufferFlush(zero, NULL, 9000, 9999);
    otf2_write_region(&a->w, 1, "main");
    otf2_write_region(&a->w, 2, "step");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2 + 6 + 4000);
    assert_event(&e, 1, 110, EVENT_ENTER, &source, "BUFFER_FLUSH");
    assert_event(&e, 2, 150, EVENT_LEAVE, &source, "BUFFER_FLUSH");
    assert_event(&e, 3, 160, EVENT_ENTER, &source, "BUFFER_FLUSH");
    assert_event(&e, 4, 200, EVENT_LEAVE, &source, "BUFFER_FLUSH");
    assert_event(&e, 5, 200, EVENT_ENTER, &source, "step");
    assert_event(&e, 4006, 9000, EVENT_ENTER, &source, "BUFFER_FLUSH");
    assert_event(&e, 4007, 9999, EVENT_LEAVE, &source, "BUFFER_FLUSH");
    assert_int_equal(source.defs.region[e.event[1].ref].kind, REGION_TRACER);
    assert_int_equal(e.quality.n[QUALITY_time_backwards], 0);
    source_close(&source);
}

/* Wherever the record is in a batch: nothing is after its end that happened before. */
static void a_flush_at_the_end_of_a_batch_ends_in_the_next(void **state)
{
    static struct events e;
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0);
    struct source source;

    for (uint64_t i = 0; i < 1500; i++) {
        OTF2_EvtWriter_Enter(zero, NULL, 10 * i, 1);
        OTF2_EvtWriter_BufferFlush(zero, NULL, 10 * i + 1, 10 * i + 4);
        OTF2_EvtWriter_Leave(zero, NULL, 10 * i + 3, 1);
    }
    otf2_write_region(&a->w, 1, "step");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    read_events(&source, 0, &e);
    for (uint64_t i = 0; i < 1500; i++) {
        assert_event(&e, 4 * i, 10 * i, EVENT_ENTER, &source, "step");
        assert_event(&e, 4 * i + 1, 10 * i + 1, EVENT_ENTER, &source, "BUFFER_FLUSH");
        assert_event(&e, 4 * i + 2, 10 * i + 3, EVENT_LEAVE, &source, "BUFFER_FLUSH");
        assert_event(&e, 4 * i + 3, 10 * i + 3, EVENT_LEAVE, &source, "step");
    }
    source_close(&source);
}

/* As Score-P says it of cudaMemcpy: wherever it is in a batch, but not what is at work beside others. */
static void what_a_gpu_copies_between_its_operations_is_a_call(void **state)
{
    static struct events e;
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0);
    OTF2_EvtWriter *gpu = otf2_write_thread(&a->w, 1, 0);
    struct source source;

    a->w.location[1].is_stream = true;
    for (int g = 0; g < 2; g++) {
        OTF2_EvtWriter *w = g ? gpu : zero;

        for (uint64_t i = 0; i < 1000; i++) {
            OTF2_EvtWriter_RmaPut(w, NULL, 100 * i, 1, 0, 4096, 42);
            OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, 100 * i + 10, 1, 42);
            OTF2_EvtWriter_RmaGet(w, NULL, 100 * i + 20, 1, 0, 100, i);
            OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, 100 * i + 25, 1, i + 1);
            OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, 100 * i + 30, 1, i);
            OTF2_EvtWriter_RmaGet(w, NULL, 100 * i + 40, 1, 0, 100, i);
            OTF2_EvtWriter_Enter(w, NULL, 100 * i + 50, 1);
            OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, 100 * i + 60, 1, i);
            OTF2_EvtWriter_Leave(w, NULL, 100 * i + 70, 1);
            OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, 100 * i + 80, 1, 42);
        }
    }
    otf2_write_region(&a->w, 1, "kernel");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2000);
    read_location(&source, 1, &e);
    assert_int_equal(e.n, 6000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_event(&e, 6 * i, 100 * i, EVENT_ENTER, &source, "Memcpy DtoH");
        assert_event(&e, 6 * i + 1, 100 * i + 10, EVENT_LEAVE, &source, "Memcpy DtoH");
        assert_event(&e, 6 * i + 2, 100 * i + 20, EVENT_ENTER, &source, "Memcpy HtoD");
        assert_event(&e, 6 * i + 3, 100 * i + 30, EVENT_LEAVE, &source, "Memcpy HtoD");
        assert_event(&e, 6 * i + 4, 100 * i + 50, EVENT_ENTER, &source, "kernel");
    }
    assert_false(quality_is_damaged(&e.quality));
    source_close(&source);
}

static void regions_with_one_name_are_one_and_local_ids_are_mapped(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 7ull << 32);
    OTF2_EvtWriter *one = otf2_write_location(&a->w, 3);
    static const uint64_t map[] = {11, 10};
    struct source source;
    struct events e;

    OTF2_EvtWriter_Enter(zero, NULL, 100, 10);
    OTF2_EvtWriter_Leave(zero, NULL, 200, 10);
    OTF2_EvtWriter_Enter(one, NULL, 100, 1); /* local 1 is global 10, main */
    OTF2_EvtWriter_Enter(one, NULL, 110, 0);
    OTF2_EvtWriter_Leave(one, NULL, 120, 0);
    OTF2_EvtWriter_Enter(one, NULL, 130, 99); /* not in the map: global, and undefined */
    OTF2_EvtWriter_Leave(one, NULL, 130, 99);
    OTF2_EvtWriter_Leave(one, NULL, 210, 1);
    otf2_write_map(&a->w, 3, map, 2);
    otf2_write_region(&a->w, 10, "main");
    otf2_write_region(&a->w, 11, "_ZN1A3runEv");
    otf2_write_region(&a->w, 12, "main");
    a->w.origin = 100;
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    assert_string_equal(source.ops->name, "otf2");
    assert_int_equal(source.defs.names.n,
                     5); /* main, A::run(), BUFFER_FLUSH, held up or not, (undefined region) */
    assert_int_equal(source.defs.location[0].id, 7ull << 32);
    assert_int_equal(source.defs.location[1].rank, 1);
    assert_string_equal(source.defs.location[1].node, "n042"); /* of a socket of it */
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2);
    assert_event(&e, 0, 0, EVENT_ENTER, &source, "main");
    assert_event(&e, 1, 100, EVENT_LEAVE, &source, "main");
    read_location(&source, 1, &e);
    assert_int_equal(e.n, 6);
    assert_event(&e, 0, 0, EVENT_ENTER, &source, "main");
    assert_event(&e, 1, 10, EVENT_ENTER, &source, "A::run()");
    assert_event(&e, 3, 30, EVENT_ENTER, &source, "(undefined region)");
    assert_int_equal(e.quality.n[QUALITY_undefined_region], 1);
    source_close(&source);
}

static void say_of_process(struct archive *a, uint32_t process, const char *name,
                           uint64_t value)
{
    OTF2_GlobalDefWriter_WriteLocationGroupProperty(
        a->w.defs, process, otf2_write_string(&a->w, name), OTF2_TYPE_UINT64,
        (OTF2_AttributeValue){.uint64 = value});
}

static void what_processes_and_the_machine_say_of_themselves_is_kept(void **state)
{
    struct archive *a = *state;
    struct source source;

    otf2_write_location(&a->w, 0);
    otf2_write_location(&a->w, 1);
    OTF2_Archive_SetCreator(a->w.archive, "a tracer");
    say_of_process(a, 0, "number", 7); /* no text */
    OTF2_GlobalDefWriter_WriteLocationGroupProperty(
        a->w.defs, 1, otf2_write_string(&a->w, "Command Line"), OTF2_TYPE_STRING,
        (OTF2_AttributeValue){.stringRef = otf2_write_string(&a->w, "md --steps 3")});
    OTF2_GlobalDefWriter_WriteLocationGroupProperty(
        a->w.defs, 1, otf2_write_string(&a->w, "snag.build_id md"), OTF2_TYPE_STRING,
        (OTF2_AttributeValue){.stringRef = otf2_write_string(&a->w, "1a2b")});
    OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
        a->w.defs, 0, otf2_write_string(&a->w, "platform"), OTF2_TYPE_STRING,
        (OTF2_AttributeValue){.stringRef = otf2_write_string(&a->w, "Linux")});
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    assert_int_equal(source.defs.n_metadata, 3);
    assert_string_equal(source.defs.metadata[0].key, "Command Line");
    assert_string_equal(source.defs.metadata[0].value, "md --steps 3");
    assert_int_equal(source.defs.metadata[0].rank, 1);
    assert_string_equal(source.defs.metadata[1].value, "Linux");
    assert_string_equal(source.defs.metadata[2].key, "Recorded By");
    assert_string_equal(source.defs.metadata[2].value, "a tracer");
    source_close(&source);
}

/*
 * On rank 0 there were 7 calls of tiny after 500, on rank 1 none was left out:
 *     main > tiny    main > tiny > end
 */
static void a_region_that_was_left_out_on_one_rank_is_not_read_from_any(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0), *one = otf2_write_location(&a->w, 1);
    static const uint64_t map[] = {2, 1, 0};
    struct source source;
    struct events e;

    OTF2_EvtWriter_Enter(zero, NULL, 100, 0);
    OTF2_EvtWriter_Enter(zero, NULL, 110, 1);
    OTF2_EvtWriter_Leave(zero, NULL, 120, 1);
    OTF2_EvtWriter_Leave(zero, NULL, 900, 0);
    OTF2_EvtWriter_Enter(one, NULL, 100, 2); /* its local numbers run backwards */
    OTF2_EvtWriter_Enter(one, NULL, 110, 1);
    OTF2_EvtWriter_Enter(one, NULL, 120, 0);
    OTF2_EvtWriter_Leave(one, NULL, 130, 0);
    OTF2_EvtWriter_Leave(one, NULL, 140, 1);
    OTF2_EvtWriter_Leave(one, NULL, 900, 2);
    otf2_write_map(&a->w, 1, map, 3);
    otf2_write_region(&a->w, 0, "main");
    otf2_write_region(&a->w, 1, "tiny");
    otf2_write_region(&a->w, 2, "end");
    say_of_process(a, 0, "snag.left_out.calls tiny", 7);
    say_of_process(a, 0, "snag.left_out.from tiny", 500);
    say_of_process(a, 99, "snag.left_out.from nowhere", 1); /* no such process, nor region */
    say_of_process(a, 0, "snag.left_out.", 1);
    a->w.origin = 100;
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    assert_int_equal(source.defs.n_left_out, 2);
    assert_string_equal(source.defs.region[source.defs.left_out[0].region].name, "tiny");
    assert_int_equal(source.defs.left_out[0].rank, 0);
    assert_int_equal(source.defs.left_out[0].n_calls, 7);
    assert_int_equal(source.defs.left_out[0].from_ns, 400);
    assert_int_equal(source.defs.left_out[1].rank, NO_RANK);
    assert_int_equal(source.quality.n[QUALITY_left_out], 7);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.quality.n[QUALITY_left_out], 1);
    read_location(&source, 1, &e);
    assert_int_equal(e.n, 4);
    assert_event(&e, 1, 20, EVENT_ENTER, &source, "end");
    assert_event(&e, 2, 30, EVENT_LEAVE, &source, "end");
    source_close(&source);
}

static void clock_offsets_and_frequency_are_applied(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0);
    struct source source;
    struct events e;

    a->w.ticks_per_s = 1000000;
    a->w.origin = 1000;
    for (uint64_t t = 1000; t <= 3000; t += 500)
        OTF2_EvtWriter_Enter(zero, NULL, t, 0);
    otf2_write_clock_offset(&a->w, 0, 1000, 10);
    otf2_write_clock_offset(&a->w, 0, 2000, 20);
    otf2_write_region(&a->w, 0, "f");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->dir), 0); /* the directory will do */
    read_location(&source, 0, &e);
    assert_event(&e, 0, 10000, EVENT_ENTER, &source, "f");
    assert_event(&e, 1, 515000, EVENT_ENTER, &source, "f");
    assert_event(&e, 4, 2030000, EVENT_ENTER, &source, "f");
    source_close(&source);
}

static void non_blocking_messages_are_put_together(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0);
    struct source source;
    struct events e;

    otf2_write_location(&a->w, 1);
    a->w.has_mpi = true;
    OTF2_EvtWriter_MpiIrecvRequest(zero, NULL, 10, 70);
    OTF2_EvtWriter_MpiIrecvRequest(zero, NULL, 20, 71);
    OTF2_EvtWriter_MpiIsend(zero, NULL, 30, 1, 0, 5, 100, 72);
    OTF2_EvtWriter_MpiIrecv(zero, NULL, 40, 1, 0, 6, 200, 71);
    OTF2_EvtWriter_MpiIrecv(zero, NULL, 50, 1, 0, 6, 300, 70);
    OTF2_EvtWriter_MpiIsendComplete(zero, NULL, 60, 72);
    OTF2_EvtWriter_MpiIrecvRequest(zero, NULL, 70, 73);
    OTF2_EvtWriter_MpiRequestCancelled(zero, NULL, 80, 73);
    OTF2_EvtWriter_MpiIrecvRequest(zero, NULL, 90, 74);  /* never completes */
    OTF2_EvtWriter_MpiIrecvRequest(zero, NULL, 91, 74);  /* its id is used again */
    OTF2_EvtWriter_MpiSend(zero, NULL, 95, 9, 0, 0, 1);  /* there is no rank 9 */
    OTF2_EvtWriter_MpiSend(zero, NULL, 96, 1, 33, 0, 1); /* nor communicator 33 */
    otf2_write_region(&a->w, 0, "f");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n_messages, 3);
    assert_int_equal(e.message[0].kind, MESSAGE_SEND);
    assert_int_equal(e.message[0].order, 2);
    assert_int_equal(e.message[1].begin_ns, 20);
    assert_int_equal(e.message[1].order, 1);
    assert_int_equal(e.message[2].begin_ns, 10);
    assert_int_equal(e.message[2].order, 0);
    assert_int_equal(e.message[2].bytes, 300);
    assert_int_equal(e.event[3].kind, EVENT_SENT);
    assert_int_equal(e.event[3].ref, 0);
    assert_int_equal(e.quality.n[QUALITY_unfinished_request], 2);
    assert_int_equal(e.quality.n[QUALITY_bad_value], 1);
    assert_int_equal(e.quality.n[QUALITY_undefined_comm], 1);
    source_close(&source);
}

static void a_collective_is_one_event(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0);
    struct source source;
    struct events e;

    a->w.has_mpi = true;
    OTF2_EvtWriter_MpiCollectiveBegin(zero, NULL, 10);
    OTF2_EvtWriter_MpiCollectiveEnd(zero, NULL, 30, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                    OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    OTF2_EvtWriter_MpiCollectiveBegin(zero, NULL, 40);
    OTF2_EvtWriter_MpiCollectiveEnd(zero, NULL, 50, OTF2_COLLECTIVE_OP_BCAST, 0, 0, 8, 8);
    otf2_write_region(&a->w, 0, "f");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n_collectives, 2);
    assert_int_equal(e.collective[0].begin_ns, 10);
    assert_int_equal(e.event[0].time_ns, 30);
    assert_int_equal(e.collective[0].kind, COLLECTIVE_BARRIER);
    assert_int_equal(e.collective[1].kind, COLLECTIVE_ONE_TO_ALL);
    assert_int_equal(e.collective[1].root, 0);
    assert_int_equal(e.collective[1].order, 1);
    source_close(&source);
}

/* Class 3 has two members, instance 7 is of it: cycles as they are, power in milliwatts. */
static void define_metrics(struct archive *a)
{
    OTF2_MetricMemberRef members[] = {0, 1};
    uint32_t none = otf2_write_string(&a->w, "");

    OTF2_GlobalDefWriter_WriteMetricMember(
        a->w.defs, 0, otf2_write_string(&a->w, "cycles"), none, OTF2_METRIC_TYPE_PAPI,
        OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, none);
    OTF2_GlobalDefWriter_WriteMetricMember(
        a->w.defs, 1, otf2_write_string(&a->w, "power"), none, OTF2_METRIC_TYPE_OTHER,
        OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, -3, none);
    OTF2_GlobalDefWriter_WriteMetricClass(
        a->w.defs, 3, 2, members, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
    OTF2_GlobalDefWriter_WriteMetricInstance(a->w.defs, 7, 3, 0, OTF2_SCOPE_LOCATION, 0);
}

#define METRICS 1500

static void write_metrics(struct archive *a)
{
    OTF2_EvtWriter *w = otf2_write_location(&a->w, 0);
    OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_DOUBLE};

    OTF2_EvtWriter_Enter(w, NULL, 0, 0);
    for (uint64_t i = 0; i < METRICS; i++) {
        OTF2_MetricValue values[] = {{.unsigned_int = 100 + i}, {.floating_point = 2500}};

        OTF2_EvtWriter_Metric(w, NULL, 10 + i, i % 2 ? 7 : 3, 2, types, values);
    }
    OTF2_EvtWriter_Metric(w, NULL, 5000, 8, 2, types,
                          (OTF2_MetricValue[]){{.unsigned_int = 1}, {.unsigned_int = 1}});
    OTF2_EvtWriter_Leave(w, NULL, 6000, 0);
    otf2_write_region(&a->w, 0, "main");
    define_metrics(a);
    otf2_write_close(&a->w);
}

static void metrics_are_counters_where_they_are_wanted(void **state)
{
    struct archive *a = *state;
    static struct events e;
    struct source source;

    write_metrics(a);
    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.quality.n[QUALITY_ignored_event], METRICS + 1);
    source_close(&source);

    assert_int_equal(source_open_as(&source, a->path, &counting), 0);
    assert_int_equal(source.defs.counters.n, 2);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2 + 2 * METRICS);
    assert_int_equal(e.quality.n[QUALITY_ignored_event], 1); /* of a metric nobody defined */
    for (size_t i = 0; i < METRICS; i++) {
        const struct counter_value *cycles = &e.counter[2 * i], *power = cycles + 1;

        assert_int_equal(e.event[1 + 2 * i].kind, EVENT_COUNTER);
        assert_int_equal(e.event[1 + 2 * i].time_ns, 10 + i);
        assert_string_equal(source.defs.counters.name[cycles->counter], "cycles");
        assert_true(!cycles->is_real && cycles->whole == (int64_t)(100 + i));
        assert_string_equal(source.defs.counters.name[power->counter], "power");
        assert_true(power->is_real && power->real == 2.5);
    }
    source_close(&source);
}

/* One of each kind that libotf2 writes, used by us or not, each after an enter. */
static void write_one_of_each(OTF2_EvtWriter *w, uint64_t t, OTF2_AttributeList *attributes)
{
    static const OTF2_Type type[] = {OTF2_TYPE_UINT64, OTF2_TYPE_DOUBLE};
    OTF2_MetricValue value[] = {{.unsigned_int = t}, {.floating_point = -1.5}};

    OTF2_AttributeList_AddStringRef(attributes, 0, 7);
    OTF2_AttributeList_AddUint64(attributes, 1, UINT64_MAX);
    OTF2_EvtWriter_Enter(w, attributes, t++, 0);
    OTF2_EvtWriter_BufferFlush(w, NULL, t, t + 1);
    OTF2_EvtWriter_MeasurementOnOff(w, NULL, t++, OTF2_MEASUREMENT_ON);
    OTF2_EvtWriter_MpiIrecvRequest(w, NULL, t++, UINT64_MAX);
    OTF2_EvtWriter_MpiRequestTest(w, NULL, t++, UINT64_MAX);
    OTF2_EvtWriter_MpiIsend(w, NULL, t, 0, 0, 1 << 20, 1ull << 40, t << 32);
    OTF2_EvtWriter_MpiIsendComplete(w, NULL, t, t << 32);
    OTF2_EvtWriter_MpiIrecv(w, NULL, t++, 0, 0, 1 << 20, 1ull << 40, UINT64_MAX);
    OTF2_EvtWriter_MpiSend(w, NULL, t++, 0, 0, 3, 0);
    OTF2_EvtWriter_MpiRecv(w, NULL, t++, 0, 0, 3, 0);
    OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t++);
    OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, t++, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                    OTF2_UNDEFINED_UINT32, 8, 1ull << 33);
    OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t++, 5);
    OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, t++, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                                 OTF2_UNDEFINED_UINT32, 0, 0, 5);
    OTF2_EvtWriter_Metric(w, NULL, t++, 0, 2, type, value);
    OTF2_EvtWriter_ParameterInt(w, NULL, t++, 0, -7);
    OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, t++, 0, 7);
    OTF2_EvtWriter_RmaWinCreate(w, NULL, t++, 1);
    OTF2_EvtWriter_RmaPut(w, NULL, t++, 1, 0, 4096, 9);
    OTF2_EvtWriter_RmaGet(w, NULL, t++, 1, 0, 100, 10);
    OTF2_EvtWriter_RmaAtomic(w, NULL, t++, 1, 0, OTF2_RMA_ATOMIC_TYPE_SWAP, 8, 3, 11);
    OTF2_EvtWriter_ThreadFork(w, NULL, t++, OTF2_PARADIGM_OPENMP, 4);
    OTF2_EvtWriter_ThreadTeamBegin(w, NULL, t++, 0);
    OTF2_EvtWriter_ThreadAcquireLock(w, NULL, t++, OTF2_PARADIGM_OPENMP, 1, 2);
    OTF2_EvtWriter_ThreadTaskSwitch(w, NULL, t++, 0, 1, 2);
    OTF2_EvtWriter_ThreadTeamEnd(w, NULL, t++, 0);
    OTF2_EvtWriter_ThreadJoin(w, NULL, t++, OTF2_PARADIGM_OPENMP);
    OTF2_EvtWriter_ThreadCreate(w, NULL, t++, 0, 1ull << 20);
    OTF2_EvtWriter_ThreadBegin(w, NULL, t++, 0, 1ull << 20);
    OTF2_EvtWriter_ThreadEnd(w, NULL, t++, OTF2_UNDEFINED_COMM, 1ull << 20);
    OTF2_EvtWriter_ThreadWait(w, NULL, t++, 0, 1ull << 20);
    OTF2_EvtWriter_CallingContextSample(w, NULL, t++, 1, 2, 3);
    OTF2_EvtWriter_IoOperationBegin(w, NULL, t++, 1, OTF2_IO_OPERATION_MODE_READ, 0, 4096, 2);
    OTF2_EvtWriter_IoOperationComplete(w, NULL, t++, 1, 70000, 2);
    OTF2_EvtWriter_IoOperationComplete(w, NULL, t++, 1, UINT64_MAX, 3);
    OTF2_EvtWriter_ProgramEnd(w, NULL, t++, 0);
    OTF2_EvtWriter_CommCreate(w, NULL, t++, 0);
    OTF2_EvtWriter_Leave(w, NULL, t++, 0);
}

static void
all_kinds_of_records_over_several_chunks_are_read_as_libotf2_reads_them(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *w = otf2_write_location(&a->w, 1ull << 40);
    OTF2_AttributeList *attributes = OTF2_AttributeList_New();
    struct source_reader *ours, *theirs;
    struct source source, by_library;
    struct quality quality = {0};
    const struct event_batch *x, *y;
    size_t n = 0;

    for (uint64_t i = 0; i < 12000; i++)
        write_one_of_each(w, 1000 * (i + 1), attributes);
    OTF2_AttributeList_Delete(attributes);
    a->w.has_mpi = true;
    otf2_write_region(&a->w, 0, "main");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    setenv("SNAG_OTF2_LIBRARY", "1", 1);
    assert_int_equal(source_open(&by_library, a->path), 0);
    unsetenv("SNAG_OTF2_LIBRARY");
    ours = source_reader_new(&source);
    theirs = source_reader_new(&by_library);
    source_reader_begin(ours, 0, UINT64_MAX);
    source_reader_begin(theirs, 0, UINT64_MAX);
    while (source_reader_next(ours, &x) > 0) {
        assert_int_equal(source_reader_next(theirs, &y), x->n);
        assert_memory_equal(x->event, y->event, x->n * sizeof *x->event);
        assert_int_equal(x->n_messages, y->n_messages);
        assert_memory_equal(x->message, y->message, x->n_messages * sizeof *x->message);
        assert_int_equal(x->n_collectives, y->n_collectives);
        assert_memory_equal(x->collective, y->collective,
                            x->n_collectives * sizeof *x->collective);
        assert_int_equal(x->n_teams, y->n_teams);
        assert_memory_equal(x->team, y->team, x->n_teams * sizeof *x->team);
        n += x->n;
    }
    assert_int_equal(source_reader_next(theirs, &y), 0);
    assert_int_equal(source_reader_position(ours), 12000 * 38);
    assert_memory_equal(&x->accesses, &y->accesses, sizeof x->accesses);
    assert_int_equal(x->accesses.n_transfers, 12000 * 3);
    assert_int_equal(x->accesses.transferred_bytes, 12000ull * (4096 + 100 + 8 + 3));
    assert_int_equal(x->accesses.n_operations, 12000 * 2);
    assert_int_equal(x->accesses.operated_bytes, 12000ull * 70000);
    assert_int_equal(n, 12000 * 19);
    source_reader_end(ours, &quality);
    assert_false(quality_is_damaged(&quality));
    source_reader_free(ours);
    source_reader_free(theirs);
    source_close(&source);
    source_close(&by_library);
}

static void wrong_event_counts_do_not_matter_but_missing_events_are_noticed(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *zero = otf2_write_location(&a->w, 0), *one = otf2_write_location(&a->w, 1);
    struct source source;
    struct events e;

    for (uint64_t t = 0; t < 10; t++) {
        OTF2_EvtWriter_Enter(zero, NULL, t, 0);
        OTF2_EvtWriter_Enter(one, NULL, t, 0);
    }
    a->w.location[0].n_events_said = 2;
    a->w.location[1].n_events_said = 12;
    otf2_write_region(&a->w, 0, "f");
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 10);
    assert_int_equal(e.quality.n[QUALITY_truncated], 0);
    read_location(&source, 1, &e);
    assert_int_equal(e.n, 10);
    assert_int_equal(e.quality.n[QUALITY_truncated], 1);
    source_close(&source);
}

static void missing_files_of_a_location_are_noticed_and_the_rest_is_read(void **state)
{
    struct archive *a = *state;
    char path[128];
    struct source source;
    struct events e;

    for (uint64_t l = 0; l < 3; l++) {
        OTF2_EvtWriter *writer = otf2_write_location(&a->w, l);

        OTF2_EvtWriter_Enter(writer, NULL, 1, 0);
        OTF2_EvtWriter_Leave(writer, NULL, 2, 0);
    }
    otf2_write_region(&a->w, 0, "f");
    otf2_write_close(&a->w);
    snprintf(path, sizeof path, "%s/traces/1.evt", a->dir);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/traces/2.def", a->dir);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2);
    read_location(&source, 1, &e);
    assert_int_equal(e.n, 0);
    assert_int_equal(e.quality.n[QUALITY_missing_file], 1);
    read_location(&source, 2, &e);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.quality.n[QUALITY_missing_definitions], 1);
    source_close(&source);
}

/* Nothing can be opened any more: that is not said to be the archive's fault. */
static void an_archive_is_not_blamed_where_files_run_out(void **state)
{
    struct archive *a = *state;
    struct source source;
    struct source_reader *reader;
    struct rlimit limit, none;

    otf2_write_region(&a->w, 0, "f");
    OTF2_EvtWriter_Enter(otf2_write_location(&a->w, 0), NULL, 1, 0);
    otf2_write_close(&a->w);
    assert_int_equal(source_open(&source, a->path), 0);
    reader = source_reader_new(&source);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(source_reader_begin(reader, 0, UINT64_MAX), ERR_IO);
    assert_non_null(strstr(err_message(), strerror(EMFILE)));
    assert_null(source_reader_new(&source));
    assert_non_null(strstr(err_message(), strerror(EMFILE)));
    assert_true(fs_allow_files() > 3);
    assert_int_equal(source_reader_begin(reader, 0, UINT64_MAX), 0);
    setrlimit(RLIMIT_NOFILE, &limit);
    source_reader_free(reader);
    source_close(&source);
}

static void local_definitions_are_not_missed_where_no_location_has_any(void **state)
{
    struct archive *a = *state;
    OTF2_EvtWriter *writer = otf2_write_location(&a->w, 0);
    struct source source;
    struct events e;
    char path[128];

    OTF2_EvtWriter_Enter(writer, NULL, 1, 0);
    OTF2_EvtWriter_Leave(writer, NULL, 2, 0);
    otf2_write_region(&a->w, 0, "f");
    otf2_write_close(&a->w);
    snprintf(path, sizeof path, "%s/traces/0.def", a->dir);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, 0, &e);
    assert_int_equal(e.n, 2);
    assert_int_equal(e.quality.n[QUALITY_missing_definitions], 0);
    assert_int_equal(e.quality.n[QUALITY_no_local_definitions], 1);
    source_close(&source);
}

/* Two of many are enough to see that they do not each take memory for a million members. */
static void communicators_of_one_group_share_its_members(void **state)
{
    static const uint64_t member[3] = {1, 0, 2};
    struct archive *a = *state;
    uint32_t name = otf2_write_string(&a->w, "c");
    OTF2_GlobalDefWriter *defs = a->w.defs;
    struct source source;
    struct comm *comm;

    for (uint64_t l = 0; l < 3; l++)
        otf2_write_location(&a->w, l);
    OTF2_GlobalDefWriter_WriteGroup(defs, 7, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 3, member);
    OTF2_GlobalDefWriter_WriteComm(defs, 0, name, 7, OTF2_UNDEFINED_COMM, 0);
    for (uint32_t id = 1; id < 3; id++)
        OTF2_GlobalDefWriter_WriteInterComm(defs, id, name, 7, 7, OTF2_UNDEFINED_COMM, 0);
    otf2_write_close(&a->w);

    assert_int_equal(source_open(&source, a->path), 0);
    assert_int_equal(source.defs.n_comms, 3);
    comm = source.defs.comm;
    assert_ptr_equal(comm[0].member, comm[1].member);
    assert_ptr_equal(comm[0].member, comm[2].remote);
    assert_ptr_equal(comm[1].sorted, comm[2].sorted);
    assert_int_equal(definitions_peer(&source.defs, 2, 2, 1), 0);
    source_close(&source);
}

static void remember(void *ctx, uint64_t n)
{
    uint64_t *count = ctx;

    count[0]++;
    count[1] = n;
}

/* Reading many definitions is not hanging. */
static void many_definitions_are_seen_to_be_read(void **state)
{
    struct archive *a = *state;
    uint64_t count[2] = {0};
    const struct source_opts opts = {.on_definitions = remember, .ctx = count};
    struct source source;
    char name[20];

    otf2_write_location(&a->w, 0);
    for (uint32_t r = 0; r < 30000; r++) {
        snprintf(name, sizeof name, "f%u", r);
        otf2_write_region(&a->w, r, name);
    }
    otf2_write_close(&a->w);
    assert_int_equal(source_open_as(&source, a->path, &opts), 0);
    assert_true(source.defs.names.n > 30000);
    assert_true(count[0] > 15);
    assert_true(count[1] >= 30000);
    source_close(&source);
}

static void what_is_not_an_archive_is_one_clear_error(void **state)
{
    struct archive *a = *state;
    struct source source;
    char path[128];
    FILE *file;

    otf2_write_location(&a->w, 0);
    otf2_write_close(&a->w);
    assert_int_equal(source_open(&source, "/nonexistent.otf2"), ERR_NOT_FOUND);
    source_close(&source);
    assert_int_equal(source_open(&source, "/nonexistent"), ERR_NOT_FOUND);
    source_close(&source);
    snprintf(path, sizeof path, "%s/empty.otf2", a->dir);
    file = fopen(path, "w");
    fclose(file);
    assert_int_equal(source_open(&source, path), ERR_FORMAT);
    assert_non_null(strstr(err_message(), path));
    source_close(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        EACH(a_flush_of_the_buffer_is_a_call_of_the_tracer),
        EACH(a_flush_at_the_end_of_a_batch_ends_in_the_next),
        EACH(what_a_gpu_copies_between_its_operations_is_a_call),
        EACH(regions_with_one_name_are_one_and_local_ids_are_mapped),
        EACH(what_processes_and_the_machine_say_of_themselves_is_kept),
        EACH(a_region_that_was_left_out_on_one_rank_is_not_read_from_any),
        EACH(clock_offsets_and_frequency_are_applied),
        EACH(non_blocking_messages_are_put_together),
        EACH(a_collective_is_one_event),
        EACH(metrics_are_counters_where_they_are_wanted),
        EACH(all_kinds_of_records_over_several_chunks_are_read_as_libotf2_reads_them),
        EACH(wrong_event_counts_do_not_matter_but_missing_events_are_noticed),
        EACH(missing_files_of_a_location_are_noticed_and_the_rest_is_read),
        EACH(an_archive_is_not_blamed_where_files_run_out),
        EACH(local_definitions_are_not_missed_where_no_location_has_any),
        EACH(communicators_of_one_group_share_its_members),
        EACH(many_definitions_are_seen_to_be_read),
        EACH(what_is_not_an_archive_is_one_clear_error),
#undef EACH
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
