/*
 * Files are put together byte by byte, in chunks of 64, so that what is expected can be counted
 * by hand; that the numbers of the kinds of records are libotf2's own is for the archives that
 * it writes itself to say (source_otf2_test).
 */
#include "trace/otf2/otf2_decode.h"

#include "trace/error_bounds.h"

#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define CHUNK 64u
#define MAX_BYTES 512u

/* A file that is being written. */
struct bytes {
    uint8_t at[4096];
    size_t n;
    bool is_big;
};

static void put(struct bytes *b, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        b->at[b->n++] = (uint8_t)(value >> 8 * (b->is_big ? size - 1 - i : i));
}

static void put_header(struct bytes *b, uint64_t first, uint64_t last)
{
    put(b, 3, 1);
    put(b, b->is_big ? 0x23 : 0x42, 1);
    put(b, first, 8);
    put(b, last, 8);
}

static void put_time(struct bytes *b, uint64_t time)
{
    put(b, 5, 1);
    put(b, time, 8);
}

static void put_call(struct bytes *b, bool is_enter, uint32_t region, unsigned size)
{
    put(b, is_enter ? 12 : 13, 1);
    put(b, size, 1);
    put(b, region, size);
}

/* Zeros up to the end of the chunk. */
static void put_rest(struct bytes *b)
{
    while (b->n % CHUNK)
        b->at[b->n++] = 0;
}

/* Three chunks of four, three and two events, each 1 tick after the one before. */
static void put_three_chunks(struct bytes *b)
{
    static const unsigned n[] = {4, 3, 2};
    uint64_t event = 1;

    for (unsigned k = 0; k < 3; k++) {
        put_header(b, event, event + n[k] - 1);
        put_time(b, event);
        for (unsigned i = 0; i < n[k]; i++, event++) {
            if (i == 2)
                put_time(b, event);
            put_call(b, event % 2, (uint32_t)event, 1);
        }
        if (k < 2)
            put_rest(b);
    }
    put(b, 1, 1);
    put(b, 2, 1);
}

/* What was read of a file. */
struct found {
    struct event_batch batch;
    struct otf2_file file;
    struct quality quality;
    size_t n; /* records */
};

static void found_release(struct found *f)
{
    otf2_file_release(&f->file);
    event_batch_release(&f->batch);
}

/* Reads a file of n bytes, `most` records at a time. */
static void read_bytes(const uint8_t *data, size_t n, size_t most, struct found *out)
{
    struct otf2_tables tables = {
        .undefined_region = 1000, .earlier = 6, .later = 5, .inlined = 8};
    struct definitions defs = {.n_comms = 0};
    struct otf2_events events;
    char path[64];
    int fd = memfd_create("events", 0);
    size_t got;

    *out = (struct found){.file.fd = -1};
    assert_int_equal(write(fd, data, n), n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(otf2_file_open(&out->file, path, CHUNK), 0);
    for (uint32_t i = 0; i < 300; i++)
        idtable_set(&tables.id.region, i, i);
    idtable_set(&tables.id.parameter, 1, 4);
    otf2_events_init(&events, &tables, &defs, &(struct source_opts){.wants_arguments = true});
    do {
        otf2_events_into(&events, &out->batch, most, &out->quality);
        got = otf2_decode(&out->file, &events);
        out->n += got;
    } while (got == most);
    assert_int_equal(otf2_decode(&out->file, &events), 0); /* the end stays the end */
    otf2_events_release(&events);
    idtable_release(&tables.id.region);
    idtable_release(&tables.id.parameter);
    close(fd);
}

static void assert_region(const struct found *f, size_t i, uint32_t region)
{
    assert_int_equal(f->batch.event[i].ref, region);
    assert_int_equal(f->batch.event[i].kind, region % 2 ? EVENT_ENTER : EVENT_LEAVE);
}

static void all_chunks_are_read_in_batches_of_any_size(void **state)
{
    (void)state;
    for (int is_big = 0; is_big < 2; is_big++)
        for (size_t most = 1; most < 12; most++) {
            struct bytes b = {.is_big = is_big};
            struct found f;

            put_three_chunks(&b);
            read_bytes(b.at, b.n, most, &f);
            assert_int_equal(f.n, 9);
            for (uint32_t i = 0; i < 9; i++)
                assert_region(&f, i, i + 1);
            assert_int_equal(f.batch.event[5].time_ns, 5); /* no new time: that of the first */
            assert_int_equal(f.batch.event[6].time_ns, 7);
            assert_int_equal(f.file.n_lost + f.file.n_damaged + f.file.is_cut, 0);
            found_release(&f);
        }
}

static void numbers_have_any_number_of_bytes(void **state)
{
    for (int is_big = 0; is_big < 2; is_big++) {
        struct bytes b = {.is_big = is_big};
        struct found f;

        (void)state;
        put_header(&b, 1, 6);
        put_time(&b, 0x0102030405060708);
        put_call(&b, true, 0, 0);
        put_call(&b, true, 0x11, 1);
        put_call(&b, true, 0x0112, 2);
        put_call(&b, true, 0x0113, 3);
        put_call(&b, true, 0x0114, 4);
        put(&b, 12, 1);
        put(&b, 255, 1); /* all bits set: undefined */
        put(&b, 2, 1);
        read_bytes(b.at, b.n, MAX_BYTES, &f);
        assert_int_equal(f.n, 6);
        assert_int_equal(f.batch.event[0].time_ns, 0x0102030405060708);
        assert_int_equal(f.batch.event[0].ref, 0);
        assert_int_equal(f.batch.event[1].ref, 0x11);
        assert_int_equal(f.batch.event[2].ref, 0x0112);
        assert_int_equal(f.batch.event[3].ref, 0x0113);
        assert_int_equal(f.batch.event[4].ref, 0x0114);
        assert_int_equal(f.batch.event[5].ref, 1000);
        assert_int_equal(f.quality.n[QUALITY_undefined_region], 1);
        found_release(&f);
    }
}

static void a_file_that_was_cut_has_all_events_before_the_cut(void **state)
{
    struct bytes b = {0};
    size_t first[] = {CHUNK * 0 + 18, CHUNK * 1 + 18, CHUNK * 2 + 18};
    /* bytes of a chunk from after its header to after its 1st, 2nd, ... event */
    static const size_t past[] = {12, 15, 27, 30};

    (void)state;
    put_three_chunks(&b);
    for (size_t cut = 0; cut < b.n - 2; cut++) {
        struct found f;
        size_t want = 0;

        for (unsigned k = 0; k < 3; k++)
            for (unsigned i = 0; i < 4 - k; i++)
                want += first[k] + past[i] <= cut;
        read_bytes(b.at, cut, MAX_BYTES, &f);
        assert_int_equal(f.n, want);
        for (uint32_t i = 0; i < want; i++)
            assert_region(&f, i, i + 1);
        if (cut % CHUNK == 0 && cut > 0) /* nothing in the file says that there was more */
            assert_false(f.file.is_cut);
        else
            assert_true(f.file.is_cut);
        assert_int_equal(f.file.n_damaged, 0);
        if (cut >= first[0]) /* what the headers before the cut say */
            assert_int_equal(f.file.n_lost, (cut < first[1]   ? 4
                                             : cut < first[2] ? 7
                                                              : 9) -
                                                want);
        found_release(&f);
    }
}

static void behind_a_damaged_chunk_reading_goes_on_with_the_next(void **state)
{
    /* in the second chunk: a type there is none of, a number of nine bytes, an end too early */
    static const struct {
        size_t at;
        uint8_t byte;
        size_t n_good; /* events of the chunk before that */
    } damage[] = {{CHUNK + 18 + 9, 7, 0},
                  {CHUNK + 18 + 12, 9, 1},
                  {CHUNK + 18 + 10, 9, 0},
                  {CHUNK + 18 + 15, 0, 2}};

    (void)state;
    for (size_t d = 0; d < sizeof damage / sizeof *damage; d++) {
        struct bytes b = {0};
        struct found f;
        size_t n = 4 + damage[d].n_good;

        put_three_chunks(&b);
        b.at[damage[d].at] = damage[d].byte;
        read_bytes(b.at, b.n, MAX_BYTES, &f);
        assert_int_equal(f.n, n + 2);
        assert_int_equal(f.file.n_lost, 3 - damage[d].n_good);
        assert_int_equal(f.file.n_damaged, 1);
        assert_false(f.file.is_cut);
        assert_region(&f, n, 8);
        found_release(&f);
    }
}

static void without_its_header_a_chunk_is_lost_and_counted(void **state)
{
    struct bytes b = {0};
    struct found f;

    (void)state;
    put_three_chunks(&b);
    b.at[CHUNK] = 0;
    read_bytes(b.at, b.n, MAX_BYTES, &f);
    assert_int_equal(f.n, 6);
    assert_int_equal(f.file.n_lost, 3);
    assert_int_equal(f.file.n_damaged, 1);
    found_release(&f);
}

static void numbers_of_a_header_that_cannot_be_are_not_believed(void **state)
{
    struct bytes b = {0};
    struct found f;

    (void)state;
    put_three_chunks(&b);
    memset(b.at + CHUNK + 2, 0xee, 16);
    read_bytes(b.at, b.n, MAX_BYTES, &f);
    assert_int_equal(f.n, 9);
    assert_int_equal(f.file.n_lost, 0);
    assert_int_equal(f.file.n_damaged, 1);
    found_release(&f);
}

static void zeroed_bytes_end_a_chunk_and_what_is_missing_is_counted(void **state)
{
    struct bytes b = {0};
    struct found f;

    (void)state;
    put_three_chunks(&b);
    memset(b.at + 18 + 15, 0, 2 * CHUNK - 18 - 15); /* from the third event to the last chunk */
    read_bytes(b.at, b.n, MAX_BYTES, &f);
    assert_int_equal(f.n, 4);
    assert_region(&f, 2, 8);
    assert_int_equal(f.file.n_lost, 5);
    assert_int_equal(f.file.n_damaged, 2);
    found_release(&f);
}

static void put_list(struct bytes *b, const uint8_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(b, list[i], 1);
}

/* Three enters that may be off: 200 earlier and 3 later; 3 later; and one whose attributes are
 * not all known, or no numbers. */
static void estimates_are_counted(void **state)
{
    (void)state;
    for (int is_big = 0; is_big < 2; is_big++) {
        struct bytes b = {.is_big = is_big};
        struct found f;
        uint64_t n = 0;

        put_header(&b, 1, 3);
        put(&b, 6, 1);
        put_list(&b, (const uint8_t[]){12, 1, 2, 1, 6, 4, 1, 200, 1, 5, 4, 1, 3}, 13);
        put_call(&b, true, 1, 1);
        put(&b, 6, 1);
        put_list(&b, (const uint8_t[]){7, 1, 1, 1, 5, 4, 1, 3}, 8);
        put_call(&b, true, 3, 1);
        put(&b, 6, 1);
        put_list(&b, (const uint8_t[]){11, 1, 2, 1, 7, 4, 1, 250, 1, 6, 9, 1}, 12);
        put_call(&b, true, 5, 1);
        put(&b, 1, 1);
        put_rest(&b);
        read_bytes(b.at, b.n, MAX_BYTES, &f);
        assert_int_equal(f.n, 3);
        for (size_t i = 0; i < ERROR_BOUND_BINS; i++)
            n += f.batch.error_bounds.n_off[i];
        assert_int_equal(n, 2);
        assert_int_equal(f.batch.error_bounds.n_off[error_bounds_bin(200)], 1);
        assert_int_equal(f.batch.error_bounds.n_off[error_bounds_bin(3)], 1);
        found_release(&f);
    }
}

/* The leaves of two calls of inlined functions: one may be 5 calls, the other is one. */
static void calls_that_may_be_several_are_counted(void **state)
{
    (void)state;
    for (int is_big = 0; is_big < 2; is_big++) {
        struct bytes b = {.is_big = is_big};
        struct found f;

        put_header(&b, 1, 4);
        put_call(&b, true, 1, 1);
        put_call(&b, true, 2, 1);
        put(&b, 6, 1);
        put_list(&b, (const uint8_t[]){7, 1, 1, 1, 8, 4, 1, 1}, 8);
        put_call(&b, false, 2, 1);
        put(&b, 6, 1);
        put_list(&b, (const uint8_t[]){7, 1, 1, 1, 8, 4, 1, 5}, 8);
        put_call(&b, false, 1, 1);
        put(&b, 1, 1);
        put_rest(&b);
        read_bytes(b.at, b.n, MAX_BYTES, &f);
        assert_int_equal(f.n, 4);
        assert_int_equal(f.batch.error_bounds.n_joined, 1);
        assert_int_equal(f.batch.error_bounds.most_joined, 5);
        found_release(&f);
    }
}

/* A number of two bytes; one of one byte, of a parameter that is not known; one that is longer
 * than its record, which ends the chunk. */
static void parameters_are_read_from_their_bytes(void **state)
{
    (void)state;
    for (int is_big = 0; is_big < 2; is_big++) {
        struct bytes b = {.is_big = is_big};
        struct found f;

        put_header(&b, 1, 5);
        put_call(&b, true, 1, 1);
        put_list(&b, (const uint8_t[]){34, 5, 1, 1, 2}, 5);
        put(&b, 0x0201, 2);
        put_list(&b, (const uint8_t[]){33, 4, 1, 2, 1, 9}, 6);
        put_list(&b, (const uint8_t[]){33, 4, 1, 1, 8, 9}, 6);
        put_call(&b, false, 1, 1);
        put(&b, 1, 1);
        put_rest(&b);
        read_bytes(b.at, b.n, MAX_BYTES, &f);
        assert_int_equal(f.batch.n, 2);
        assert_int_equal(f.batch.n_arguments, 1);
        assert_int_equal(f.batch.argument[0].argument, 4);
        assert_int_equal(f.batch.argument[0].kind, ARGUMENT_NATURAL);
        assert_int_equal(f.batch.argument[0].natural, 0x0201);
        assert_int_equal(f.quality.n[QUALITY_ignored_event], 1);
        assert_int_equal(f.file.n_damaged, 1);
        found_release(&f);
    }
}

static void assert_estimate(const struct found *f, size_t i, uint32_t region, bool is_leave,
                            uint64_t off_ns)
{
    const struct time_estimate *e = &f->batch.estimate[f->batch.event[i].ref];

    assert_int_equal(f->batch.event[i].kind, EVENT_ESTIMATE);
    assert_int_equal(e->region, region);
    assert_int_equal(e->is_leave, is_leave);
    assert_int_equal(e->off_ns, off_ns);
}

/* 1 is entered, 200 off, and left, 3 off; what is said of a send is nothing to the enter after
 * it. A batch is as small as it can be, so the event is in the next one. */
static void an_estimate_follows_on_its_enter_and_precedes_its_leave(void **state)
{
    static const uint8_t off_200[] = {12, 1, 2, 1, 6, 4, 1, 200, 1, 5, 4, 1, 3};
    static const uint8_t off_3[] = {7, 1, 1, 1, 5, 4, 1, 3};

    (void)state;
    for (size_t most = 1; most <= MAX_BYTES; most += MAX_BYTES - 1) {
        struct bytes b = {0};
        struct found f;

        put_header(&b, 1, 2);
        put_time(&b, 50);
        put(&b, 6, 1);
        put_list(&b, off_200, sizeof off_200);
        put_call(&b, true, 1, 1);
        put(&b, 6, 1);
        put_list(&b, off_3, sizeof off_3);
        put_call(&b, false, 1, 1);
        put_rest(&b);
        put_header(&b, 3, 4);
        put_time(&b, 50);
        put(&b, 6, 1);
        put_list(&b, off_3, sizeof off_3);
        put(&b, 24, 1); /* OmpFork is just a number */
        put(&b, 1, 1);
        put(&b, 1, 1);
        put_call(&b, true, 3, 1);
        put(&b, 1, 1);
        put_rest(&b);
        read_bytes(b.at, b.n, most, &f);
        assert_int_equal(f.n, 4);
        assert_int_equal(f.batch.n, 5);
        assert_region(&f, 0, 1);
        assert_estimate(&f, 1, 1, false, 200);
        assert_estimate(&f, 2, 1, true, 3);
        assert_int_equal(f.batch.estimate[0].side, ESTIMATE_EITHER); /* 200 and 3 */
        assert_int_equal(f.batch.estimate[1].side, ESTIMATE_EARLIEST);
        assert_int_equal(f.batch.event[3].kind, EVENT_LEAVE);
        assert_region(&f, 4, 3);
        for (size_t i = 0; i < f.batch.n; i++)
            assert_int_equal(f.batch.event[i].time_ns, 50);
        found_release(&f);
    }
}

/* As many ns earlier as later: nothing is known but between which times it was. One less is
 * rounding. */
static void an_estimate_in_the_middle_says_nothing_more(void **state)
{
    static const uint8_t off_9[] = {12, 1, 2, 1, 6, 4, 1, 9, 1, 5, 4, 1, 9};
    static const uint8_t off_8[] = {12, 1, 2, 1, 6, 4, 1, 9, 1, 5, 4, 1, 8};
    struct bytes b = {0};
    struct found f;

    (void)state;
    put_header(&b, 1, 2);
    put_time(&b, 50);
    put(&b, 6, 1);
    put_list(&b, off_9, sizeof off_9);
    put_call(&b, true, 1, 1);
    put(&b, 6, 1);
    put_list(&b, off_8, sizeof off_8);
    put_call(&b, false, 1, 1);
    put_rest(&b);
    read_bytes(b.at, b.n, MAX_BYTES, &f);
    assert_estimate(&f, 1, 1, false, 9);
    assert_estimate(&f, 2, 1, true, 9);
    assert_int_equal(f.batch.estimate[0].side, ESTIMATE_MIDDLE);
    assert_int_equal(f.batch.estimate[1].side, ESTIMATE_MIDDLE);
    found_release(&f);
}

/* Records with a length are stepped over, also those that reach over what is in memory. */
static void what_is_not_used_is_stepped_over(void **state)
{
    static uint8_t data[600000];
    struct bytes b = {0};
    struct found f;

    (void)state;
    put_header(&b, 1, 5);
    put_time(&b, 7);
    put(&b, 6, 1); /* attributes of what follows: no event */
    put(&b, 3, 1);
    put(&b, 0x010101, 3);
    put_call(&b, true, 1, 1);
    put(&b, 24, 1); /* OmpFork is just a number, */
    put(&b, 0x0401, 2);
    put(&b, 42, 1); /* RmaTryLock is not */
    put(&b, 0x04010303, 4);
    put(&b, 89, 1); /* no libotf2 that we know writes this */
    put(&b, 0, 1);
    put_call(&b, false, 2, 1);
    put(&b, 1, 1);
    put_rest(&b);
    read_bytes(b.at, b.n, MAX_BYTES, &f);
    assert_int_equal(f.n, 5);
    assert_int_equal(f.batch.n, 2);
    assert_int_equal(f.quality.n[QUALITY_bad_record], 1);
    assert_int_equal(f.file.n_lost + f.file.n_damaged + f.file.is_cut, 0);
    found_release(&f);

    b = (struct bytes){0};
    put_header(&b, 1, 2);
    put_call(&b, true, 1, 1);
    put(&b, 6, 1);
    put(&b, 255, 1); /* a long length */
    put(&b, sizeof data - b.n - 8 - 4, 8);
    memcpy(data, b.at, b.n);
    memcpy(data + sizeof data - 4, (uint8_t[]){13, 1, 2, 1}, 4);
    {
        struct otf2_tables tables = {.undefined_region = 1000};
        struct definitions defs = {0};
        struct otf2_events events;
        struct otf2_file file = {.fd = -1};
        struct event_batch batch = {0};
        struct quality quality = {0};
        char path[64];
        int fd = memfd_create("long", 0);

        assert_int_equal(write(fd, data, sizeof data), sizeof data);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        assert_int_equal(otf2_file_open(&file, path, 1 << 20), 0);
        otf2_events_init(&events, &tables, &defs, &(struct source_opts){0});
        otf2_events_into(&events, &batch, MAX_BYTES, &quality);
        assert_int_equal(otf2_decode(&file, &events), 2);
        assert_int_equal(batch.event[1].kind, EVENT_LEAVE);
        assert_int_equal(file.n_lost + file.n_damaged + file.is_cut, 0);
        otf2_file_release(&file);
        otf2_events_release(&events);
        event_batch_release(&batch);
        close(fd);
    }
}

static void a_record_that_says_it_is_longer_than_its_chunk_ends_it(void **state)
{
    static const uint64_t length[] = {64, 1 << 20, UINT64_MAX, UINT64_MAX - 9};

    (void)state;
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        struct bytes b = {0};
        struct found f;

        put_header(&b, 1, 2);
        put_call(&b, true, 1, 1);
        put(&b, 53, 1);
        put(&b, 255, 1);
        put(&b, length[i], 8);
        put_rest(&b);
        put_header(&b, 3, 3);
        put_call(&b, true, 3, 1);
        put(&b, 1, 1);
        read_bytes(b.at, b.n, MAX_BYTES, &f);
        assert_int_equal(f.n, 2);
        assert_int_equal(f.file.n_lost, 1);
        assert_int_equal(f.file.n_damaged, 1);
        found_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_chunks_are_read_in_batches_of_any_size),
        cmocka_unit_test(numbers_have_any_number_of_bytes),
        cmocka_unit_test(a_file_that_was_cut_has_all_events_before_the_cut),
        cmocka_unit_test(behind_a_damaged_chunk_reading_goes_on_with_the_next),
        cmocka_unit_test(without_its_header_a_chunk_is_lost_and_counted),
        cmocka_unit_test(numbers_of_a_header_that_cannot_be_are_not_believed),
        cmocka_unit_test(zeroed_bytes_end_a_chunk_and_what_is_missing_is_counted),
        cmocka_unit_test(parameters_are_read_from_their_bytes),
        cmocka_unit_test(estimates_are_counted),
        cmocka_unit_test(calls_that_may_be_several_are_counted),
        cmocka_unit_test(an_estimate_follows_on_its_enter_and_precedes_its_leave),
        cmocka_unit_test(an_estimate_in_the_middle_says_nothing_more),
        cmocka_unit_test(what_is_not_used_is_stepped_over),
        cmocka_unit_test(a_record_that_says_it_is_longer_than_its_chunk_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
