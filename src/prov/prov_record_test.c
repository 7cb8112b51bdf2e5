#include "prov/prov_record.h"

#include "base/err.h"

#include "sample_record.h"
#include "test.h"

#define N_SAMPLES 500

static void to_bytes(const struct prov_record *record, struct pack *bytes)
{
    ZSTD_CCtx *context = prov_compressor();
    struct pack plain = {0};

    prov_record_pack(record, &plain);
    prov_compress(context, plain.data, plain.n, bytes);
    pack_release(&plain);
    ZSTD_freeCCtx(context);
}

/* To bytes and back; whatever JSON shows must be the same. */
static void assert_comes_back(const struct prov_record *record)
{
    struct arena arena = {0};
    struct prov_record back;
    struct pack bytes = {0};
    json_t *before = prov_record_to_json(record, NULL), *after;

    to_bytes(record, &bytes);
    assert_int_equal(prov_record_read(bytes.data, bytes.n, &arena, &back), 0);
    after = prov_record_to_json(&back, NULL);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    pack_release(&bytes);
    arena_release(&arena);
}

static void a_record_comes_back_from_bytes(void **state)
{
    struct arena arena = {0};
    struct prov_record record;

    (void)state;
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        sample_record((uint32_t)(i % 7), i, &arena, &record);
        assert_comes_back(&record);
    }
    assert_comes_back(&(struct prov_record){.func = "f", .hostname = "", .algorithm = ""});
    arena_release(&arena);
}

/* Times that run backwards, the largest numbers, more names than are remembered. */
static void odd_values_come_back(void **state)
{
    struct prov_call call[600];
    char name[600][8];
    struct prov_counter counter[] = {{UINT32_MAX, "most", INT64_MAX, UINT64_MAX},
                                     {0, "", INT64_MIN, 0},
                                     {0, "\xff\xfe not UTF-8", -1, 1ull << 62}};
    struct prov_record record = {.event = {UINT32_MAX, UINT64_MAX >> 1, UINT64_MAX >> 1},
                                 .func = "f",
                                 .hostname = "",
                                 .algorithm = "sstd",
                                 .leave_ns = 1,
                                 .score = -0.0,
                                 .p = 1,
                                 .counter = counter,
                                 .n_counters = 3,
                                 .stack = call,
                                 .n_stack = 600};

    (void)state;
    for (uint64_t i = 0; i < 600; i++) {
        snprintf(name[i], sizeof name[i], "f%u", (unsigned)(i % 590));
        call[i] = (struct prov_call){
            .func = name[i], .enter_ns = 5000 - i, .leave_ns = i % 3 ? 1 : 0};
    }
    assert_comes_back(&record);
}

static void an_execution_comes_back(void **state)
{
    struct prov_call call = {.func = "step", .enter_ns = 5, .leave_ns = 9};
    struct prov_record record = {.event = {3, 0, 7},
                                 .func = "step",
                                 .hostname = "",
                                 .algorithm = "rolling",
                                 .p = NAN,
                                 .window = {.call = &call, .n_calls = 1},
                                 .thread = 2,
                                 .is_execution = true,
                                 .execution = {.index = 12,
                                               .n_calls = 1ull << 40,
                                               .n_messages = 5,
                                               .threshold = 3,
                                               .typical_ns = 1500,
                                               .why = "took long"}};
    json_t *json = prov_record_to_json(&record, NULL);
    char *text = json_dumps(json_object_get(json, "execution"), JSON_SORT_KEYS | JSON_COMPACT);

    (void)state;
    assert_comes_back(&record);
    assert_string_equal(text, "{\"calls\":1099511627776,\"id\":\"#3.2-12\",\"index\":12,"
                              "\"messages\":5,\"threshold\":3.0,\"typical_ns\":1500,"
                              "\"why\":\"took long\"}");
    record.execution.why = NULL;
    assert_comes_back(&record);
    free(text);
    json_decref(json);
}

/* Version 1 ends before it would say whether the record is of an execution. Version 2 has no
 * word of why a window of a partner is not known. */
static void records_of_earlier_versions_are_read(void **state)
{
    struct prov_record record = {.func = "f", .hostname = "", .algorithm = "hbos"}, back;
    struct prov_partner partner = {.rank = 7, .not_known = "x"};
    struct arena arena = {0};
    struct pack pack = {0};

    (void)state;
    prov_record_pack(&record, &pack);
    assert_int_equal(pack.data[0], 3);
    pack.data[0] = 2;
    assert_int_equal(prov_record_unpack(&pack, &arena, &back), 0);
    pack.at = 0;
    pack.data[0] = 1;
    assert_int_equal(prov_record_unpack(&pack, &arena, &back), ERR_FORMAT);
    pack.at = 0;
    pack.is_bad = false;
    pack.n--;
    assert_int_equal(prov_record_unpack(&pack, &arena, &back), 0);
    assert_string_equal(back.algorithm, "hbos");
    assert_false(back.is_execution);
    record.partner = &partner;
    record.n_partners = 1;
    pack.n = pack.at = 0;
    prov_record_pack(&record, &pack);
    assert_int_equal(prov_record_unpack(&pack, &arena, &back), 0);
    assert_string_equal(back.partner[0].not_known, "x");
    pack.at = 0;
    pack.data[0] = 2; /* which would have ended before */
    assert_int_equal(prov_record_unpack(&pack, &arena, &back), ERR_FORMAT);
    pack_release(&pack);
    arena_release(&arena);
}

static void assert_has(const json_t *json, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_object_get(json, keys[i]) == NULL)
            fail_msg("no field '%s'", keys[i]);
}

#define ASSERT_HAS(json, ...)                                                                  \
    do {                                                                                       \
        static const char *const keys_[] = {__VA_ARGS__};                                      \
                                                                                               \
        assert_has(json, keys_, sizeof keys_ / sizeof *keys_);                                 \
    } while (0)

/* The names are those of Chimbuko's provdb_schema.rst, and what its version 2 added. */
static void json_has_the_fields_of_chimbuko(void **state)
{
    struct arena arena = {0};
    struct prov_record record;
    json_t *json, *window;

    (void)state;
    sample_record(1, 3, &arena, &record);
    json = prov_record_to_json(&record, NULL);
    window = json_object_get(json, "event_window");
    ASSERT_HAS(json, "call_stack", "event_window", "counter_events", "entry", "exit", "fid",
               "func", "event_id", "pid", "rid", "tid", "hostname", "runtime_exclusive",
               "runtime_total", "io_step", "io_step_tstart", "io_step_tend", "outlier_score",
               "outlier_severity", "algo_params", "is_gpu_event", "gpu_location", "gpu_parent",
               "node_state", "p", "cause", "partners", "is_pruned");
    ASSERT_HAS(window, "exec_window", "comm_window");
    ASSERT_HAS(json_array_get(json_object_get(json, "call_stack"), 0), "fid", "func", "entry",
               "exit", "event_id", "is_anomaly");
    ASSERT_HAS(json_array_get(json_object_get(window, "exec_window"), 0), "fid", "func",
               "entry", "exit", "event_id", "is_anomaly", "parent_event_id");
    ASSERT_HAS(json_array_get(json_object_get(window, "comm_window"), 0), "type", "pid", "rid",
               "tid", "src", "tar", "bytes", "tag", "timestamp", "execdata_key");
    ASSERT_HAS(json_object_get(json, "gpu_location"), "context", "device", "stream", "thread");
    ASSERT_HAS(json_object_get(json, "gpu_parent"), "event_id", "tid", "call_stack");
    json_decref(json);
    sample_record(1, 10 * 16 + 1, &arena, &record);
    json = prov_record_to_json(&record, NULL);
    ASSERT_HAS(json_array_get(json_object_get(json, "counter_events"), 0), "counter_idx",
               "counter_name", "counter_value", "pid", "rid", "tid", "ts");
    json_decref(json);
    arena_release(&arena);
}

/* By hand: 1 500 ns are 1.5 us, 2 000 ns are 2 us and an integer. */
static void times_are_microseconds_in_json(void **state)
{
    struct prov_record record = {.event = {4, 12, 225},
                                 .func = "f",
                                 .hostname = "",
                                 .algorithm = "",
                                 .enter_ns = 1500,
                                 .leave_ns = 2000,
                                 .score = NAN};
    json_t *json = prov_record_to_json(
        &record,
        &(struct prov_final){.is_judged = true, .is_pruned = true, .score = 3, .p = 1});

    (void)state;
    assert_true(json_real_value(json_object_get(json, "entry")) == 1.5);
    assert_true(json_is_integer(json_object_get(json, "exit")));
    assert_int_equal(json_integer_value(json_object_get(json, "exit")), 2);
    assert_string_equal(json_string_value(json_object_get(json, "event_id")), "4:12:225");
    assert_true(json_is_null(json_object_get(json, "outlier_score")));
    assert_true(json_is_null(json_object_get(json, "cause")));
    assert_true(json_is_true(json_object_get(json, "is_pruned")));
    assert_true(json_real_value(json_object_get(json, "final_score")) == 3);
    json_decref(json);
}

/* No part of a record, nor one with a wrong bit, is taken for a record. */
static void damage_is_found(void **state)
{
    struct arena arena = {0};
    struct prov_record record, back;
    struct pack bytes = {0};

    (void)state;
    sample_record(2, 11, &arena, &record);
    to_bytes(&record, &bytes);
    for (size_t n = 0; n < bytes.n; n++)
        assert_int_equal(prov_record_read(bytes.data, n, &arena, &back), ERR_FORMAT);
    for (size_t i = 0; i < bytes.n; i++) {
        struct arena_mark mark = arena_mark(&arena);
        int rc;

        bytes.data[i] ^= 1 << i % 8;
        rc = prov_record_read(bytes.data, bytes.n, &arena, &back);
        bytes.data[i] ^= 1 << i % 8;
        if (rc == 0) { /* bits that zstd does not use change nothing */
            json_t *a = prov_record_to_json(&record, NULL),
                   *b = prov_record_to_json(&back, NULL);

            assert_true(json_equal(a, b));
            json_decref(a);
            json_decref(b);
        }
        arena_restore(&arena, mark);
    }
    pack_release(&bytes);
    arena_release(&arena);
}

/* What was not compressed has no checksum: it must be safe on its own. */
static void anything_may_be_unpacked(void **state)
{
    struct arena arena = {0};
    struct prov_record record, back;
    struct pack plain = {0};

    (void)state;
    sample_record(2, 19, &arena, &record);
    prov_record_pack(&record, &plain);
    for (size_t i = 0; i < plain.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            struct arena_mark mark = arena_mark(&arena);
            struct pack in = {.data = plain.data, .n = plain.n};

            plain.data[i] ^= 1 << bit;
            prov_record_unpack(&in, &arena, &back);
            plain.data[i] ^= 1 << bit;
            arena_restore(&arena, mark);
        }
    pack_release(&plain);
    arena_release(&arena);
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static void the_median_record_is_below_two_kibibytes(void **state)
{
    struct arena arena = {0};
    struct prov_record record;
    size_t size[N_SAMPLES];

    (void)state;
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        struct pack bytes = {0};

        sample_record(0, i, &arena, &record);
        to_bytes(&record, &bytes);
        size[i] = bytes.n;
        pack_release(&bytes);
    }
    qsort(size, N_SAMPLES, sizeof *size, by_size);
    print_message("bytes per record: median %zu, most %zu\n", size[N_SAMPLES / 2],
                  size[N_SAMPLES - 1]);
    assert_true(size[N_SAMPLES / 2] <= 2048);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_back_from_bytes),
        cmocka_unit_test(odd_values_come_back),
        cmocka_unit_test(an_execution_comes_back),
        cmocka_unit_test(records_of_earlier_versions_are_read),
        cmocka_unit_test(json_has_the_fields_of_chimbuko),
        cmocka_unit_test(times_are_microseconds_in_json),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(anything_may_be_unpacked),
        cmocka_unit_test(the_median_record_is_below_two_kibibytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
