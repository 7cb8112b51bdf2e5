/* Two locations, written as ingest writes them, read back, and damaged. */
#include "run/detail_files.h"

#include "base/err.h"
#include "run/columns.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "test.h"
#include "test_dir.h"

#define N_LOCATIONS 2u

struct made {
    char dir[40];
    struct definitions defs;
    struct traffic traffic;
    struct columns columns;
};

static void nothing(void *ctx, uint32_t begin, uint32_t end)
{
    (void)ctx, (void)begin, (void)end;
}

static void add_call(struct calls *calls, uint64_t enter_ns)
{
    uint32_t row = calls->n;

    calls_reserve(calls, 1);
    calls->enter_ns[row] = enter_ns;
    calls->inclusive_ns[row] = 10;
    calls->region[row] = 0;
    calls->subtree_len[row] = 1;
    calls->depth[row] = 0;
    calls->n++;
}

/* Location l has l + 1 calls; each is read before it, and has a text and a number. */
static void make_calls(struct calls *calls, uint32_t l)
{
    static const char *const texts[] = {"north", "south"};

    calls_clear(calls);
    calls->first_ns = 100;
    calls->last_ns = 1000;
    for (uint32_t i = 0; i <= l; i++) {
        struct detail_reading at = {.time_ns = 100 + 20 * i, .row = i};
        struct counter_value value = {.counter = 1, .whole = 7 + i};
        struct argument_value text = {.kind = ARGUMENT_TEXT, .text = texts[i]};
        struct argument_value number = {.argument = 2, .kind = ARGUMENT_REAL, .real = 0.5 + l};

        assert_true(details_reading(&calls->details, NULL, &at, &value));
        add_call(calls, 100 + 20 * i);
        assert_true(details_argument(&calls->details, NULL, i, &text));
        assert_true(details_argument(&calls->details, NULL, i, &number));
    }
}

static void write_columns(struct made *m, bool has_details)
{
    struct columns_writer *w = columns_create(m->dir, N_LOCATIONS);
    struct column_offsets next = {0};
    struct calls calls = {0};
    uint32_t by_depth[8];

    assert_non_null(w);
    for (uint32_t l = 0; l < N_LOCATIONS; l++) {
        make_calls(&calls, l);
        if (!has_details)
            details_clear(&calls.details);
        columns_place(w, l, &calls, &next);
        assert_int_equal(columns_write(w, l, &calls, by_depth, nothing, NULL), 0);
    }
    assert_int_equal(columns_shift(w, 1, 1000, 0), 0);
    assert_int_equal(columns_finish(w, &m->traffic, &m->defs), 0);
    columns_free(w);
    calls_release(&calls);
}

static void make(struct made *m)
{
    *m = (struct made){.dir = "/tmp/snag-details-XXXXXX", .columns.dir = -1};
    assert_non_null(test_dir(m->dir));
    definitions_region(&m->defs, "main");
    definitions_counter(&m->defs, "ticks",
                        &(struct counter){COUNTER_ACCUMULATED, COUNTER_SINCE_START, "#"});
    definitions_counter(&m->defs, "heat",
                        &(struct counter){COUNTER_ABSOLUTE, COUNTER_UNTIL_NEXT, "C"});
    for (uint32_t i = 0; i < 3; i++)
        names_add(&m->defs.arguments, i == 0 ? "way" : i == 1 ? "none" : "share");
    traffic_init(&m->traffic, N_LOCATIONS, NULL);
    write_columns(m, true);
}

static void release(struct made *m)
{
    columns_close(&m->columns);
    traffic_release(&m->traffic);
    definitions_release(&m->defs);
    fs_remove_tree(m->dir);
}

static int open_again(struct made *m)
{
    columns_close(&m->columns);
    return columns_open(&m->columns, m->dir);
}

static void what_was_written_is_read_back(void **state)
{
    struct made m;
    const struct detail_files *f = &m.columns.details;
    struct detail_view v;

    (void)state;
    make(&m);
    assert_int_equal(open_again(&m), 0);
    assert_int_equal(columns_verify(&m.columns), 0);
    assert_int_equal(f->n_counters, 2);
    assert_string_equal(f->counter[1].name, "heat");
    assert_string_equal(f->counter[1].is.unit, "C");
    assert_int_equal(f->counter[1].is.mode, COUNTER_ABSOLUTE);
    assert_int_equal(f->counter[1].is.span, COUNTER_UNTIL_NEXT);
    assert_int_equal(f->n_arguments, 3);
    assert_string_equal(f->argument[2], "share");
    for (uint32_t l = 0; l < N_LOCATIONS; l++) {
        assert_int_equal(columns_check(&m.columns, l, &m.defs), 0);
        v = columns_view(&m.columns, l).details;
        assert_int_equal(v.n_readings, l + 1);
        assert_int_equal(v.n_arguments, 2 * (l + 1));
    }
    assert_int_equal(v.reading[1].time_ns, 1120); /* moved with its calls */
    assert_int_equal(v.reading[1].whole, 8);
    assert_int_equal(v.reading[1].row, 1);
    assert_string_equal(v.text + v.argument[2].natural, "south");
    assert_true(v.argument[3].real == 1.5);
    release(&m);
}

/* Also where there were some before: the run is made anew, with loops in it. */
static void a_run_without_any_has_no_files_of_them(void **state)
{
    static const char *const names[] = {"readings.rec", "arguments.rec", "texts.bin",
                                        "details.index"};
    struct made m;

    (void)state;
    make(&m);
    write_columns(&m, false);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[80];
        struct stat info;

        snprintf(path, sizeof path, "%s/calls/%s", m.dir, names[i]);
        assert_int_equal(stat(path, &info), -1);
    }
    assert_int_equal(open_again(&m), 0);
    assert_null(m.columns.details.range);
    assert_int_equal(columns_view(&m.columns, 1).details.n_readings, 0);
    assert_int_equal(columns_check(&m.columns, 1, &m.defs), 0);
    assert_int_equal(columns_verify(&m.columns), 0);
    release(&m);
}

static void change_byte(const struct made *m, const char *name, off_t at, uint8_t by)
{
    char path[80];
    uint8_t byte;
    int fd;

    snprintf(path, sizeof path, "%s/calls/%s", m->dir, name);
    fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= by;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static off_t size_of(const struct made *m, const char *name)
{
    char path[80];
    struct stat info;

    snprintf(path, sizeof path, "%s/calls/%s", m->dir, name);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static void no_byte_of_the_index_is_believed(void **state)
{
    struct made m;

    (void)state;
    make(&m);
    for (off_t at = 0; at < size_of(&m, "details.index"); at++) {
        change_byte(&m, "details.index", at, 0x41);
        assert_int_equal(open_again(&m), ERR_FORMAT);
        assert_non_null(strstr(err_message(), "details.index"));
        change_byte(&m, "details.index", at, 0x41);
    }
    assert_int_equal(open_again(&m), 0);
    release(&m);
}

static void files_that_are_missing_or_cut_are_noticed(void **state)
{
    static const char *const names[] = {"readings.rec", "arguments.rec", "texts.bin",
                                        "details.index"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct made m;
        char path[80];

        make(&m);
        snprintf(path, sizeof path, "%s/calls/%s", m.dir, names[i]);
        assert_int_equal(truncate(path, size_of(&m, names[i]) - 1), 0);
        assert_int_equal(open_again(&m), ERR_FORMAT);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(open_again(&m), ERR_IO);
        assert_non_null(strstr(err_message(), names[i]));
        release(&m);
    }
}

/* In location 1: its readings are the second and third, its arguments the third to sixth. */
static void what_refers_to_nothing_is_noticed_when_it_is_used(void **state)
{
    static const struct {
        const char *file;
        off_t at;
        uint8_t by;
    } damage[] = {
        {"readings.rec", 24 + 7, 0x70},      /* a time of ages to come */
        {"readings.rec", 48 + 1, 0x04},      /* one before that of the reading before */
        {"readings.rec", 24 + 16, 0x04},     /* more calls than there are */
        {"readings.rec", 24 + 20, 0x02},     /* a counter that is none */
        {"arguments.rec", 5 * 16 + 0, 0x02}, /* a call that is none */
        {"arguments.rec", 2 * 16 + 0, 0x01}, /* in the wrong order */
        {"arguments.rec", 2 * 16 + 4, 0x03}, /* a name that is none */
        {"arguments.rec", 2 * 16 + 6, 0x40}, /* a kind there is none of */
        {"arguments.rec", 2 * 16 + 8, 0x40}, /* a text behind all others */
        {"texts.bin", 6 + 11, 0x01},         /* the last one does not end */
    };

    (void)state;
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        struct made m;

        make(&m);
        change_byte(&m, damage[i].file, damage[i].at, damage[i].by);
        assert_int_equal(open_again(&m), 0);
        assert_int_equal(columns_check(&m.columns, 0, &m.defs), 0);
        assert_int_equal(columns_check(&m.columns, 1, &m.defs), ERR_FORMAT);
        assert_non_null(strstr(err_message(), "counters and arguments belong to nothing"));
        assert_int_equal(columns_verify_location(&m.columns, 0), 0);
        assert_int_equal(columns_verify_location(&m.columns, 1), ERR_FORMAT);
        release(&m);
    }
}

static void those_of_other_calls_are_refused(void **state)
{
    struct detail_files files;
    struct made m;
    int dir;

    (void)state;
    make(&m);
    strcat(m.dir, "/calls");
    assert_int_equal(fs_open_dir(m.dir, &dir), 0);
    assert_int_equal(detail_files_open(&files, dir, m.dir, N_LOCATIONS, 12345), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "does not fit the calls"));
    detail_files_close(&files);
    close(dir);
    m.dir[strlen(m.dir) - strlen("/calls")] = '\0';
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(a_run_without_any_has_no_files_of_them),
        cmocka_unit_test(no_byte_of_the_index_is_believed),
        cmocka_unit_test(files_that_are_missing_or_cut_are_noticed),
        cmocka_unit_test(what_refers_to_nothing_is_noticed_when_it_is_used),
        cmocka_unit_test(those_of_other_calls_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
