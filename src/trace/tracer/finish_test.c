/*
 * Recordings as a process leaves them that is killed between any two steps, made here record by
 * record: three of a leaf in main, and so on for some 60,000, of which the first are in the
 * file, then some in the chunk, and the last in the slots.
 */
#include "trace/tracer/finish.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/rng.h"
#include "trace/source.h"
#include "trace/tracer/tracer_otf2.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define MAX_N_RECORDS 60001 /* records */
#define STEP_NS 100
#define ROOM 4096 /* of the journal */
#define MAIN 0
#define LEAF 1

/* The file of a process with one thread. */
struct image {
    union {
        struct state_head head;
        char head_room[STATE_ALIGNMENT];
    };
    union {
        struct state_block journal;
        char journal_room[ROOM];
    };
    union {
        struct state_location location;
        char location_room[(sizeof(struct state_location) + STATE_ALIGNMENT - 1) &
                           ~(size_t)(STATE_ALIGNMENT - 1)];
    };
    struct state_block chunk;
    uint8_t bytes[TRACER_OTF2_CHUNK];
    char rest[STATE_ALIGNMENT - sizeof(struct state_block)];
};

struct recorded {
    char dir[40], state[80], events[80];
    uint32_t n_in_file[4]; /* records, up to the end of a complete chunk */
    struct image *image;
    union slot slot[MAX_N_RECORDS];
};

/* ------------------------------------------------------------------------------- the process
 */

/* main begins; then leaf begins and ends, again and again. */
static void make_slots(union slot *slot)
{
    for (uint32_t i = 0; i < MAX_N_RECORDS; i++)
        slot[i].head = (__typeof__(slot[i].head)){
            .time_ns = 1000 + (uint64_t)i * STEP_NS,
            .kind = i == 0 || i % 2 == 1 ? RECORD_ENTER : RECORD_LEAVE,
            .id = i == 0 ? MAIN : LEAF,
        };
}

static void put_region(struct image *m, const char *name)
{
    struct journal_entry *entry =
        (void *)((char *)&m->journal + sizeof m->journal + m->journal.n_bytes);
    size_t bytes = 6 * sizeof(uint64_t) + strlen(name) + 2;

    entry->kind = JOURNAL_REGION;
    entry->bytes = (uint32_t)bytes;
    strcpy((char *)&entry->number[6], name);
    m->journal.n_bytes += (sizeof *entry + bytes + 7) & ~(size_t)7;
}

static void begin_image(struct image *m)
{
    size_t journal = offsetof(struct image, journal), chunk = offsetof(struct image, chunk),
           location = offsetof(struct image, location);

    *m = (struct image){.head = {.head_bytes = sizeof m->head,
                                 .chunk_bytes = TRACER_OTF2_CHUNK,
                                 .n_ranks = 1,
                                 .pid = 1,
                                 .first_at = journal}};
    memcpy(m->head.magic, STATE_MAGIC, sizeof m->head.magic);
    gethostname(m->head.host, sizeof m->head.host - 1);
    m->journal =
        (struct state_block){STATE_BLOCK_MAGIC, STATE_JOURNAL, ROOM, 0, 0, location, 0};
    m->location.block = (struct state_block){
        STATE_BLOCK_MAGIC, STATE_LOCATION, sizeof m->location_room, 0, 0, chunk, 0};
    m->location.first_slot = m->location.next = 0x7f0000000000;
    m->location.chunk_at = chunk;
    m->chunk = (struct state_block){STATE_BLOCK_MAGIC,
                                    STATE_CHUNK,
                                    sizeof m->chunk + sizeof m->bytes + sizeof m->rest,
                                    0,
                                    0,
                                    0,
                                    0};
    put_region(m, "main");
    put_region(m, "leaf");
}

static void append(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "a");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

/* n_chunked records are in chunks, complete ones in the file; those up to n are in the slots,
 * and some that are in the chunk, too. */
static void record(struct recorded *r, uint32_t n_chunked, uint32_t n_twice, uint32_t n)
{
    struct image *m = r->image;
    struct state_commit *now = &m->location.commit[1];
    const union slot *at = r->slot, *end = r->slot + n_chunked;
    struct tracer_otf2 out = {0};

    begin_image(m);
    unlink(r->events);
    append(r->events, "", 0);
    tracer_otf2_begin(&out, m->bytes, TRACER_OTF2_CHUNK);
    while ((at = tracer_otf2_put(&out, at, end)) < end) {
        tracer_otf2_end(&out, m->bytes, TRACER_OTF2_CHUNK);
        append(r->events, m->bytes, TRACER_OTF2_CHUNK);
        r->n_in_file[now->n_chunks++] = (uint32_t)out.n_events;
        tracer_otf2_begin(&out, m->bytes, TRACER_OTF2_CHUNK);
    }
    now->n_slots = now->n_events = n_chunked;
    now->first_ns = r->slot->head.time_ns;
    now->last_ns = out.time_ns;
    now->n_bytes = (uint32_t)(out.at - m->bytes);
    now->n_open = out.n_open;
    m->location.current = 1;
    m->location.n_slots_before = n_chunked - n_twice;
    memcpy(m->location.slot, end - n_twice, (n - n_chunked + n_twice) * sizeof *at);
    m->location.next += (n - n_chunked + n_twice) * sizeof *at;
    m->location.open[0].region = MAIN;
    m->location.open[1].region = LEAF; /* whether it is open or not */
}

static void leave_behind(const struct recorded *r, size_t bytes)
{
    char path[FS_PATH_SIZE];

    snprintf(path, sizeof path, "%s/" STATE_DIRECTORY, r->dir);
    assert_int_equal(mkdir(path, 0777), 0);
    unlink(r->state);
    append(r->state, r->image, bytes);
}

/* --------------------------------------------------------------------------------- the trace
 */

/* The events of the only location must be the first n records, and then leaves. Returns what
 * was wrong with it. */
static uint64_t assert_trace(const struct recorded *r, uint32_t n, uint32_t n_open)
{
    struct source source;
    struct source_reader *reader;
    const struct event_batch *batch;
    struct quality quality = {0};
    uint64_t n_read = 0;

    assert_int_equal(source_open(&source, r->dir), 0);
    assert_false(finish_is_wanted(r->dir));
    assert_int_equal(source.defs.n_locations, 1);
    assert_int_equal(source.quality.n[QUALITY_lost_call], 0);
    reader = source_reader_new(&source);
    assert_int_equal(source_reader_begin(reader, 0, UINT64_MAX), 0);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++, n_read++) {
            const struct event *e = &batch->event[i];
            bool is_enter = n_read < n && r->slot[n_read].head.kind == RECORD_ENTER;

            assert_int_equal(e->kind, is_enter ? EVENT_ENTER : EVENT_LEAVE);
            assert_string_equal(source.defs.region[e->ref].name,
                                n_read < n ? r->slot[n_read].head.id == MAIN ? "main" : "leaf"
                                : n_read + 1 == n + n_open ? "main"
                                                           : "leaf");
            if (n_read < n)
                assert_int_equal(e->time_ns, n_read * STEP_NS);
        }
    source_reader_end(reader, &quality);
    assert_int_equal(n_read, n + n_open);
    source_reader_free(reader);
    source_close(&source);
    return quality.n[QUALITY_truncated];
}

static void remove_trace(const struct recorded *r)
{
    static const char *const name[] = {"traces.otf2", "traces.def", "traces/0.def"};
    char path[FS_PATH_SIZE];

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s/%s", r->dir, name[i]);
        unlink(path);
    }
}

static uint32_t open_after(uint32_t n)
{
    return n == 0 ? 0 : n % 2 == 0 ? 2 : 1;
}

/* ----------------------------------------------------------------------------------- the tests
 */

/* Around where a chunk ends, and where slots do. */
static void every_record_is_there_once_wherever_it_was(void **state)
{
    static const uint32_t twice[] = {0, 1, 17, 500};
    struct recorded *r = *state;
    size_t step = (size_t)test_amount(1, 3);
    uint32_t end;

    record(r, MAX_N_RECORDS, 0, MAX_N_RECORDS);
    end = r->n_in_file[0];
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t in_chunks = i < 4     ? i
                             : i < 10  ? end - 7 + i
                             : i == 10 ? 500
                                       : MAX_N_RECORDS - 500;

        for (size_t k = 0; k < sizeof twice / sizeof *twice && twice[k] <= in_chunks; k += step)
            for (uint32_t more = 0; more <= 500; more += 1 + 249 * (more > 1)) {
                record(r, in_chunks, twice[k], in_chunks + more);
                leave_behind(r, sizeof *r->image);
                assert_int_equal(
                    assert_trace(r, in_chunks + more, open_after(in_chunks + more)), 0);
                remove_trace(r);
            }
    }
}

/* The slots are said to be empty before it is said that those before were that many. */
static void slots_that_were_emptied_are_not_read_again(void **state)
{
    struct recorded *r = *state;

    record(r, 1000, 1000, 1000);
    r->image->location.next = r->image->location.first_slot;
    leave_behind(r, sizeof *r->image);
    assert_int_equal(assert_trace(r, 1000, 2), 0);
    remove_trace(r);
}

/* The definitions could not be written, and now they can. */
static void finishing_twice_is_finishing_once(void **state)
{
    struct recorded *r = *state;
    char anchor[FS_PATH_SIZE];

    snprintf(anchor, sizeof anchor, "%s/traces.otf2", r->dir);
    assert_int_equal(mkdir(anchor, 0777), 0);
    record(r, 59000, 10, 59500);
    leave_behind(r, sizeof *r->image);
    assert_int_equal(finish(r->dir, &(struct finish_opts){0}), ERR_IO);
    assert_true(finish_is_wanted(r->dir));
    assert_int_equal(rmdir(anchor), 0);
    assert_int_equal(assert_trace(r, 59500, 2), 0);
    remove_trace(r);
}

/* A copy of half of it; what is there of the file is read. */
static void a_file_of_events_that_was_cut_ends_there(void **state)
{
    struct recorded *r = *state;

    record(r, 59000, 0, 59500);
    assert_int_equal(r->image->location.commit[1].n_chunks, 2);
    assert_int_equal(truncate(r->events, TRACER_OTF2_CHUNK + 100), 0);
    leave_behind(r, sizeof *r->image);
    assert_int_equal(assert_trace(r, r->n_in_file[0], 0), 1);
    remove_trace(r);
}

/* The machine went down when the file was on its server and this was not. */
static void of_a_state_that_is_older_than_the_file_only_definitions_are_used(void **state)
{
    struct recorded *r = *state;

    record(r, 59000, 0, 59500);
    r->image->location.current = 0;
    r->image->location.n_slots_before = 0;
    r->image->location.next = r->image->location.first_slot;
    leave_behind(r, sizeof *r->image);
    assert_int_equal(assert_trace(r, r->n_in_file[1], 0), 0);
    remove_trace(r);
}

static void who_lives_is_not_finished(void **state)
{
    struct recorded *r = *state;
    int fd;

    record(r, 10, 0, 20);
    leave_behind(r, sizeof *r->image);
    fd = open(r->state, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(finish(r->dir, &(struct finish_opts){.wait_ms = 1}), ERR_EXISTS);
    assert_non_null(strstr(err_message(), "process 1 on "));
    close(fd);
    assert_int_equal(assert_trace(r, 20, 2), 0);
    remove_trace(r);
}

/* What another process left cannot be read: it may be later, and nothing is done until then. */
static void nothing_is_finished_while_a_file_cannot_be_read(void **state)
{
    struct recorded *r = *state;
    char other[FS_PATH_SIZE];

    record(r, 10, 0, 20);
    leave_behind(r, sizeof *r->image);
    snprintf(other, sizeof other, "%s/" STATE_DIRECTORY "/1", r->dir);
    assert_int_equal(symlink("not-now", other), 0);
    assert_int_equal(finish(r->dir, &(struct finish_opts){0}), ERR_IO);
    assert_non_null(strstr(err_message(), other));
    assert_true(finish_is_wanted(r->dir));
    unlink(other);
    assert_int_equal(assert_trace(r, 20, 2), 0);
    remove_trace(r);
}

/* Of another version, or of something else: the others are finished, and it stays. */
static void what_cannot_be_read_is_kept(void **state)
{
    struct recorded *r = *state;
    char other[FS_PATH_SIZE];
    struct stat info;

    record(r, 10, 0, 20);
    leave_behind(r, sizeof *r->image);
    snprintf(other, sizeof other, "%s/" STATE_DIRECTORY "/1", r->dir);
    append(other, "other", 5);
    assert_int_equal(assert_trace(r, 20, 2), 0);
    assert_false(finish_is_wanted(r->dir));
    snprintf(other, sizeof other, "%s/" STATE_UNREAD "/1", r->dir);
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_size, 5);
    remove_trace(r);
}

/* In the directory of a stranger. */
static void links_lead_nowhere(void **state)
{
    struct recorded *r = *state;
    char other[FS_PATH_SIZE], traces[FS_PATH_SIZE], moved[FS_PATH_SIZE];
    struct stat info;

    record(r, 10, 0, 20);
    leave_behind(r, sizeof *r->image);
    snprintf(other, sizeof other, "%s/other", r->dir);
    append(other, "mine", 4);
    unlink(r->events);
    assert_int_equal(link(other, r->events), 0);
    assert_int_equal(finish(r->dir, &(struct finish_opts){0}), ERR_FORMAT);
    unlink(r->events);
    assert_int_equal(symlink(other, r->events), 0);
    assert_int_equal(finish(r->dir, &(struct finish_opts){0}), ERR_IO);
    assert_int_equal(stat(other, &info), 0);
    assert_int_equal(info.st_size, 4);
    unlink(r->events);

    snprintf(traces, sizeof traces, "%s/traces", r->dir);
    snprintf(moved, sizeof moved, "%s/moved", r->dir);
    assert_int_equal(rename(traces, moved), 0);
    assert_int_equal(symlink(moved, traces), 0);
    assert_int_equal(finish(r->dir, &(struct finish_opts){0}), ERR_FORMAT);
    unlink(traces);
    assert_int_equal(rename(moved, traces), 0);
    record(r, 10, 0, 20);
    assert_int_equal(assert_trace(r, 20, 2), 0);
    remove_trace(r);
}

/* Whatever is in the file: it is read or refused. */
static void no_bytes_break_the_reader(void **state)
{
    struct recorded *r = *state;
    const char *said = getenv("SNAG_FUZZ_N");
    unsigned long n = said ? strtoul(said, NULL, 10) : 300;
    static const size_t used[] = {sizeof r->image->head, offsetof(struct image, journal) + 200,
                                  offsetof(struct image, location) + 300,
                                  offsetof(struct image, chunk) + 100};

    for (unsigned long i = 0; i < n; i++) {
        struct rng rng = {i};
        size_t bytes =
            rng_below(&rng, 4) ? sizeof *r->image : rng_below(&rng, sizeof *r->image);
        struct source source;

        record(r, 24000, 5, 24100);
        for (uint64_t k = rng_below(&rng, 4); k-- > 0;) {
            size_t end = used[rng_below(&rng, 4)], at = end - 1 - rng_below(&rng, 200);

            ((uint8_t *)r->image)[at] =
                rng_below(&rng, 2)
                    ? (uint8_t)rng_next(&rng)
                    : ((uint8_t *)r->image)[at] ^ (uint8_t)(1 << rng_below(&rng, 8));
        }
        leave_behind(r, bytes);
        source_open(&source, r->dir);
        source_close(&source);
        assert_int_equal(fs_remove_tree(r->dir), 0);
        assert_int_equal(mkdir(r->dir, 0777), 0);
        snprintf(r->events, sizeof r->events, "%s/traces", r->dir);
        assert_int_equal(mkdir(r->events, 0777), 0);
        snprintf(r->events, sizeof r->events, "%s/traces/0.evt", r->dir);
    }
}

static int setup(void **state)
{
    struct recorded *r = *state = calloc(1, sizeof *r);

    strcpy(r->dir, "/tmp/snag-finish-XXXXXX");
    r->image = malloc(sizeof *r->image);
    assert_non_null(test_dir(r->dir));
    snprintf(r->state, sizeof r->state, "%s/traces", r->dir);
    assert_int_equal(mkdir(r->state, 0777), 0);
    snprintf(r->state, sizeof r->state, "%s/" STATE_DIRECTORY "/0", r->dir);
    snprintf(r->events, sizeof r->events, "%s/traces/0.evt", r->dir);
    make_slots(r->slot);
    return 0;
}

static int teardown(void **state)
{
    struct recorded *r = *state;

    free(r->image);
    free(r);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_there_once_wherever_it_was),
        cmocka_unit_test(slots_that_were_emptied_are_not_read_again),
        cmocka_unit_test(finishing_twice_is_finishing_once),
        cmocka_unit_test(a_file_of_events_that_was_cut_ends_there),
        cmocka_unit_test(of_a_state_that_is_older_than_the_file_only_definitions_are_used),
        cmocka_unit_test(who_lives_is_not_finished),
        cmocka_unit_test(nothing_is_finished_while_a_file_cannot_be_read),
        cmocka_unit_test(what_cannot_be_read_is_kept),
        cmocka_unit_test(links_lead_nowhere),
        cmocka_unit_test(no_bytes_break_the_reader),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
