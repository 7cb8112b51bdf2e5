/* What calls are called with, and how counters are meant: archives are written by libotf2
 * itself.
 */
#include "trace/source.h"

#include "base/fs.h"

#include "otf2_archive.h"

/* All events of a location, and its arguments with their texts. */
struct events {
    struct event event[100];
    struct said {
        struct argument_value value; /* without its text: */
        char text[16];
    } said[50];
    size_t n, n_said;
    struct quality quality;
};

static void read_events(struct source *source, struct events *out)
{
    struct source_reader *reader = source_reader_new(source);
    const struct event_batch *batch;

    *out = (struct events){0};
    assert_non_null(reader);
    assert_int_equal(source_reader_begin(reader, 0, UINT64_MAX), 0);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            struct event event = batch->event[i];

            if (event.kind == EVENT_ARGUMENT) {
                struct said *said = &out->said[out->n_said];

                said->value = batch->argument[event.ref];
                if (said->value.kind == ARGUMENT_TEXT) {
                    snprintf(said->text, sizeof said->text, "%s", said->value.text);
                    said->value.text = NULL;
                }
                event.ref = (uint32_t)out->n_said++;
            }
            out->event[out->n++] = event;
        }
    source_reader_end(reader, &out->quality);
    source_reader_free(reader);
}

/* What we decode is what libotf2 decodes. */
static void read_location(struct source *source, struct events *out)
{
    static struct events by_library;
    struct source again;

    read_events(source, out);
    setenv("SNAG_OTF2_LIBRARY", "1", 1);
    assert_int_equal(source_open_as(&again, source->path, &source->opts), 0);
    unsetenv("SNAG_OTF2_LIBRARY");
    read_events(&again, &by_library);
    assert_memory_equal(out, &by_library, sizeof *out);
    source_close(&again);
}

/* How each counter is meant is taken over; of one name for two that differ nothing is known. */
static void counters_have_units_and_modes(void **state)
{
    struct archive *a = *state;
    struct source source;
    struct counter counter;
    uint32_t name, unit, power;

    name = otf2_write_string(&a->w, "energy");
    unit = otf2_write_string(&a->w, "J");
    for (uint32_t i = 0; i < 2; i++)
        OTF2_GlobalDefWriter_WriteMetricMember(
            a->w.defs, 5 + i, name, unit, OTF2_METRIC_TYPE_OTHER,
            i ? OTF2_METRIC_RELATIVE_NEXT : OTF2_METRIC_ACCUMULATED_LAST, OTF2_TYPE_UINT64,
            OTF2_BASE_DECIMAL, 0, unit);
    power = otf2_write_string(&a->w, "power");
    OTF2_GlobalDefWriter_WriteMetricMember(a->w.defs, 7, power, unit, OTF2_METRIC_TYPE_OTHER,
                                           OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_DOUBLE,
                                           OTF2_BASE_DECIMAL, 0, unit);
    OTF2_GlobalDefWriter_WriteMetricClass(a->w.defs, 9, 3, (OTF2_MetricMemberRef[]){5, 6, 7},
                                          OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
    otf2_write_region(&a->w, 0, "main");
    otf2_write_location(&a->w, 0);
    otf2_write_close(&a->w);
    assert_int_equal(source_open(&source, a->path), 0);
    counter = definitions_counter_of(&source.defs, names_find(&source.defs.counters, "power"));
    assert_true(counter.mode == COUNTER_ABSOLUTE && counter.span == COUNTER_UNTIL_NEXT);
    assert_string_equal(counter.unit, "J");
    counter = definitions_counter_of(&source.defs, names_find(&source.defs.counters, "energy"));
    assert_int_equal(counter.mode, COUNTER_UNKNOWN);
    assert_string_equal(counter.unit, "");
    source_close(&source);
}

/* An attribute of each type that is a number or a text, and of some that are neither. */
static void add_attributes(OTF2_AttributeList *list, uint32_t text)
{
    OTF2_AttributeList_AddUint8(list, 0, 200);
    OTF2_AttributeList_AddInt8(list, 1, -100);
    OTF2_AttributeList_AddUint16(list, 2, 60000);
    OTF2_AttributeList_AddInt16(list, 3, -30000);
    OTF2_AttributeList_AddUint32(list, 4, 4000000000u);
    OTF2_AttributeList_AddInt32(list, 5, -2000000000);
    OTF2_AttributeList_AddUint64(list, 6, UINT64_MAX);
    OTF2_AttributeList_AddInt64(list, 7, INT64_MIN);
    OTF2_AttributeList_AddFloat(list, 8, 0.25F);
    OTF2_AttributeList_AddDouble(list, 9, -1e300);
    OTF2_AttributeList_AddRegionRef(list, 12, 3);
    OTF2_AttributeList_AddLocationRef(list, 13, (uint64_t)1 << 60);
    OTF2_AttributeList_AddStringRef(list, 10, text);
    OTF2_AttributeList_AddUint64(list, 11, 1); /* nobody has defined it */
}

static void define_arguments(struct archive *a)
{
    for (uint32_t i = 0; i < 14; i++) {
        static const OTF2_Type type[] = {1, 5, 2, 6, 3, 7, 4, 8, 9, 10, 11, 0, 14, 13};
        char name[8];

        snprintf(name, sizeof name, "a%u", i);
        if (i != 11)
            OTF2_GlobalDefWriter_WriteAttribute(a->w.defs, i, otf2_write_string(&a->w, name), 0,
                                                type[i]);
    }
    OTF2_GlobalDefWriter_WriteParameter(a->w.defs, 0, otf2_write_string(&a->w, "n"),
                                        OTF2_PARAMETER_TYPE_INT64);
    OTF2_GlobalDefWriter_WriteParameter(a->w.defs, 1, otf2_write_string(&a->w, "size"),
                                        OTF2_PARAMETER_TYPE_UINT64);
    OTF2_GlobalDefWriter_WriteParameter(a->w.defs, 2, otf2_write_string(&a->w, "file"),
                                        OTF2_PARAMETER_TYPE_STRING);
}

static void write_arguments(struct archive *a)
{
    OTF2_EvtWriter *w = otf2_write_location(&a->w, 0);
    OTF2_AttributeList *list = OTF2_AttributeList_New();
    uint32_t text = otf2_write_string(&a->w, "in.txt");

    add_attributes(list, text);
    OTF2_EvtWriter_Enter(w, list, 10, 0);
    OTF2_EvtWriter_ParameterInt(w, NULL, 10, 0, -7);
    OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, 10, 1, (uint64_t)1 << 63);
    OTF2_EvtWriter_ParameterString(w, NULL, 10, 2, text);
    OTF2_EvtWriter_ParameterInt(w, NULL, 10, 9, 1); /* nobody has defined it */
    OTF2_AttributeList_AddUint8(list, 0, 1);
    OTF2_EvtWriter_MpiSend(w, list, 15, 0, 0, 1, 8); /* attributes, of no call */
    OTF2_AttributeList_AddUint8(list, 0, 2);
    OTF2_EvtWriter_Leave(w, list, 20, 0);
    OTF2_AttributeList_Delete(list);
    otf2_write_region(&a->w, 0, "main");
    define_arguments(a);
    otf2_write_close(&a->w);
}

static void assert_said(const struct source *source, const struct events *e, size_t i,
                        const char *name, enum argument_kind kind, uint64_t natural)
{
    assert_string_equal(source->defs.arguments.name[e->said[i].value.argument], name);
    assert_int_equal(e->said[i].value.kind, kind);
    assert_true(e->said[i].value.natural == natural);
}

static void parameters_and_attributes_are_arguments_where_they_are_wanted(void **state)
{
    static const struct source_opts wanting = {.wants_arguments = true};
    struct archive *a = *state;
    static struct events e;
    struct source source;

    write_arguments(a);
    assert_int_equal(source_open(&source, a->path), 0);
    read_location(&source, &e);
    assert_int_equal(e.n_said, 0);
    source_close(&source);

    assert_int_equal(source_open_as(&source, a->path, &wanting), 0);
    read_location(&source, &e);
    assert_int_equal(e.event[0].kind, EVENT_ENTER);
    assert_int_equal(e.event[e.n - 1].kind, EVENT_LEAVE);
    assert_int_equal(e.n_said, 11 + 3 + 1);
    assert_int_equal(e.quality.n[QUALITY_ignored_event], 1);
    assert_said(&source, &e, 0, "a0", ARGUMENT_NATURAL, 200);
    assert_said(&source, &e, 1, "a1", ARGUMENT_WHOLE, (uint64_t)-100);
    assert_said(&source, &e, 2, "a2", ARGUMENT_NATURAL, 60000);
    assert_said(&source, &e, 3, "a3", ARGUMENT_WHOLE, (uint64_t)-30000);
    assert_said(&source, &e, 4, "a4", ARGUMENT_NATURAL, 4000000000u);
    assert_said(&source, &e, 5, "a5", ARGUMENT_WHOLE, (uint64_t)-2000000000);
    assert_said(&source, &e, 6, "a6", ARGUMENT_NATURAL, UINT64_MAX);
    assert_said(&source, &e, 7, "a7", ARGUMENT_WHOLE, (uint64_t)INT64_MIN);
    assert_true(e.said[8].value.kind == ARGUMENT_REAL && e.said[8].value.real == 0.25);
    assert_true(e.said[9].value.kind == ARGUMENT_REAL && e.said[9].value.real == -1e300);
    assert_string_equal(e.said[10].text, "in.txt");
    assert_said(&source, &e, 11, "n", ARGUMENT_WHOLE, (uint64_t)-7);
    assert_said(&source, &e, 12, "size", ARGUMENT_NATURAL, (uint64_t)1 << 63);
    assert_string_equal(e.said[13].text, "in.txt");
    assert_said(&source, &e, 14, "a0", ARGUMENT_NATURAL, 2);
    source_close(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counters_have_units_and_modes, setup, teardown),
        cmocka_unit_test_setup_teardown(
            parameters_and_attributes_are_arguments_where_they_are_wanted, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
