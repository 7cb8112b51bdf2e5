/* Frames come back as they were appended, by another process, too; and whatever becomes of the
 * bytes, what comes back was appended. */
#include "prov/prov_spool.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/rng.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define STORE "0123456789abcdef0123456789abcdef"

static struct prov_spool_opts opts_of(const char *dir)
{
    return (struct prov_spool_opts){
        .dir = dir, .store = STORE, .version = 1, .most_bytes = 1 << 20, .segment_bytes = 4096};
}

/* Frame i has i % 5 + 1 rows and i * 37 % 900 bytes, all of them i. */
static uint64_t append(struct prov_spool *spool, uint64_t first, unsigned i)
{
    struct pack payload = {0};
    uint32_t n = i % 5 + 1;

    for (unsigned k = 0; k < i * 37 % 900; k++)
        pack_bytes(&payload, &(unsigned char){(unsigned char)i}, 1);
    assert_int_equal(prov_spool_append(spool, first, n, &payload), 0);
    pack_release(&payload);
    return first + n;
}

static void check_frame(const struct prov_frame *frame, unsigned i)
{
    assert_int_equal(frame->n, i % 5 + 1);
    assert_int_equal(frame->payload.n, i * 37 % 900);
    for (size_t k = 0; k < frame->payload.n; k++)
        assert_int_equal(frame->payload.data[k], (unsigned char)i);
}

static unsigned count_files(const char *dir)
{
    char command[300], line[32] = "";
    FILE *out;

    snprintf(command, sizeof command, "find '%s' -name '*.spool' 2>/dev/null | wc -l", dir);
    out = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, out));
    pclose(out);
    return (unsigned)atoi(line);
}

static void frames_come_back_in_order_and_segments_go_when_they_are_done(void **state)
{
    char dir[] = "spool-order-XXXXXX";
    struct prov_frame frame = {0};
    struct prov_spool_opts opts;
    struct prov_spool *spool;
    uint64_t first = 1, next = 1;

    (void)state;
    assert_non_null(test_dir(dir));
    opts = opts_of(dir);
    assert_int_equal(prov_spool_open(&opts, 7, &spool), 0);
    for (unsigned i = 0; i < 200; i++) {
        first = append(spool, first, i);
        if (i % 3 == 0)
            continue;
        for (; prov_spool_read(spool, &frame) == 1; next += frame.n)
            assert_int_equal(frame.first, next);
        prov_spool_done(spool, next - 1);
        assert_true(count_files(dir) <= 2);
    }
    for (; prov_spool_read(spool, &frame) == 1; next += frame.n)
        ;
    assert_int_equal(next, first);
    prov_spool_done(spool, next - 1);
    prov_spool_close(spool);
    assert_int_equal(fs_exists(dir), 0); /* all is done: nothing stays */
    pack_release(&frame.payload);
}

/* A process that ends in the middle, with n frames. */
static void leave_behind(const struct prov_spool_opts *opts, int64_t run, unsigned n)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct prov_spool *spool;
        uint64_t first = 1;

        if (prov_spool_open(opts, run, &spool) < 0)
            _exit(1);
        for (unsigned i = 0; i < n; i++)
            first = append(spool, first, i);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void the_next_process_finds_what_one_left_that_was_killed(void **state)
{
    char dir[] = "spool-left-XXXXXX";
    struct prov_frame frame = {0};
    struct prov_spool_opts opts, other;
    struct prov_spool *spool, *own;
    int64_t after = 0;

    (void)state;
    assert_non_null(test_dir(dir));
    opts = other = opts_of(dir);
    leave_behind(&opts, 3, 40);
    leave_behind(&opts, 12, 5);
    assert_int_equal(prov_spool_open(&opts, 20, &own), 0);
    append(own, 1, 3);
    other.store =
        "ffffffffffffffffffffffffffffffff"; /* of another database: not ours to send */
    assert_int_equal(prov_spool_left(&other, 20, &after, &spool), 0);
    assert_int_equal(prov_spool_left(&opts, 20, &after, &spool), 1);
    assert_int_equal(prov_spool_run(spool), 3);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(prov_spool_read(spool, &frame), 1);
        check_frame(&frame, i);
    }
    assert_int_equal(prov_spool_read(spool, &frame), 0);
    prov_spool_done(spool, frame.first + frame.n - 1);
    prov_spool_close(spool);
    assert_int_equal(prov_spool_left(&opts, 20, &after, &spool), 1);
    assert_int_equal(prov_spool_run(spool), 12);
    prov_spool_close(spool); /* nothing of it is done: it stays */
    assert_int_equal(prov_spool_left(&opts, 20, &after, &spool), 0);
    after = 0;
    assert_int_equal(prov_spool_left(&opts, 20, &after, &spool), 1);
    assert_int_equal(prov_spool_run(spool), 12);
    prov_spool_close(spool);
    prov_spool_close(own);
    assert_int_equal(fs_remove_tree(dir), 0);
    pack_release(&frame.payload);
}

static void it_never_holds_more_than_was_said(void **state)
{
    char dir[] = "spool-most-XXXXXX";
    struct pack payload = {.data = (unsigned char[1000]){0}, .n = 1000};
    struct prov_frame frame = {0};
    struct prov_spool_opts opts;
    struct prov_spool *spool;
    uint64_t first = 1;
    int rc;

    (void)state;
    assert_non_null(test_dir(dir));
    opts = opts_of(dir);
    opts.most_bytes = 20000;
    assert_int_equal(prov_spool_open(&opts, 1, &spool), 0);
    while ((rc = prov_spool_append(spool, first, 1, &payload)) == 0)
        first++;
    assert_int_equal(rc, ERR_RANGE);
    assert_in_range(first - 1, 15, 19);
    for (uint64_t next = 1; next < first; next++)
        assert_int_equal(prov_spool_read(spool, &frame), 1);
    prov_spool_done(spool, first - 1);
    assert_int_equal(prov_spool_append(spool, first, 1, &payload), 0); /* there is room again */
    prov_spool_close(spool);
    assert_int_equal(fs_remove_tree(dir), 0);
    pack_release(&frame.payload);
}

/* One change to one file: a byte, a cut, a hole or something appended. */
static void damage(const char *path, struct rng *rng)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    off_t at;
    unsigned char bytes[64];

    assert_true(fd >= 0 && fstat(fd, &about) == 0);
    at = (off_t)rng_below(rng, (uint64_t)about.st_size + 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)rng_below(rng, 256);
    switch (rng_below(rng, 4)) {
    case 0:
        assert_int_equal(ftruncate(fd, at), 0);
        break;
    case 1:
        assert_int_equal(pwrite(fd, bytes, sizeof bytes, at), sizeof bytes);
        break;
    case 2:
        assert_int_equal(pwrite(fd, bytes, 1, at), 1);
        break;
    default:
        assert_int_equal(pwrite(fd, bytes, 8, about.st_size), 8);
    }
    close(fd);
}

static void what_is_damaged_is_skipped_and_nothing_else(void **state)
{
    const char *times = getenv("SNAG_FUZZ_N");
    int n_times = times ? atoi(times) : 200;
    struct rng rng = {11};
    uint64_t first_of[61];
    unsigned n_whole = 0, n_skipped = 0;

    (void)state;
    first_of[0] = 1;
    for (unsigned i = 0; i < 60; i++)
        first_of[i + 1] = first_of[i] + i % 5 + 1;
    for (int t = 0; t < n_times; t++) {
        char dir[] = "spool-damage-XXXXXX", path[200];
        struct prov_frame frame = {0};
        struct prov_spool_opts opts;
        struct prov_spool *spool;
        unsigned i = 0, n = 0;
        int64_t after = 0;

        assert_non_null(test_dir(dir));
        opts = opts_of(dir);
        leave_behind(&opts, 1, 60);
        snprintf(path, sizeof path, "%s/" STORE "/run-1-%06u.spool", dir,
                 1 + (unsigned)rng_below(&rng, 3));
        damage(path, &rng);
        assert_int_equal(prov_spool_left(&opts, 0, &after, &spool), 1);
        while (prov_spool_read(spool, &frame) == 1) {
            while (i < 60 && first_of[i] != frame.first)
                i++;
            assert_true(i < 60); /* a frame of ours, later than the one before, as it was */
            check_frame(&frame, i++);
            n++;
        }
        n_whole += n;
        n_skipped += 60 - n;
        assert_true(n >= 10); /* other segments are as they were */
        prov_spool_close(spool);
        assert_int_equal(fs_remove_tree(dir), 0);
        pack_release(&frame.payload);
    }
    print_message("%u frames read, %u damaged\n", n_whole, n_skipped);
    assert_true(n_times < 50 || n_skipped > 0);
}

/* All that is left of run 1, in frames. */
static unsigned count_left(const struct prov_spool_opts *opts)
{
    struct prov_frame frame = {0};
    struct prov_spool *spool;
    int64_t after = 0;
    unsigned n = 0;

    assert_int_equal(prov_spool_left(opts, 0, &after, &spool), 1);
    while (prov_spool_read(spool, &frame) == 1)
        n++;
    prov_spool_close(spool);
    pack_release(&frame.payload);
    return n;
}

static void a_link_in_place_of_a_segment_is_not_followed(void **state)
{
    char dir[] = "spool-link-XXXXXX", segment[100], moved[100];
    struct pack payload = {0};
    struct prov_spool_opts opts;
    struct prov_spool *spool;
    struct stat before, about;
    unsigned n;

    (void)state;
    assert_non_null(test_dir(dir));
    opts = opts_of(dir);
    leave_behind(&opts, 1, 60);
    assert_int_equal(stat(dir, &about), 0);
    assert_int_equal(about.st_mode & 077, 0);
    snprintf(segment, sizeof segment, "%s/" STORE "/run-1-000002.spool", dir);
    snprintf(moved, sizeof moved, "%s/moved", dir);

    /* to be read */
    assert_int_equal(rename(segment, moved), 0);
    assert_int_equal(symlink("../moved", segment), 0);
    n = count_left(&opts);
    assert_in_range(n, 10, 59);
    assert_int_equal(unlink(segment), 0);
    assert_int_equal(link(moved, segment), 0);
    assert_int_equal(count_left(&opts), 60); /* the same, as itself */

    /* to be written */
    snprintf(segment, sizeof segment, "%s/" STORE "/run-2-000001.spool", dir);
    assert_int_equal(symlink("../moved", segment), 0);
    assert_int_equal(stat(moved, &before), 0);
    assert_int_equal(prov_spool_open(&opts, 2, &spool), 0);
    assert_int_equal(prov_spool_append(spool, 1, 1, &payload), ERR_IO); /* an empty row */
    prov_spool_close(spool);
    assert_int_equal(stat(moved, &about), 0);
    assert_int_equal(about.st_size, before.st_size);
    assert_int_equal(fs_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_back_in_order_and_segments_go_when_they_are_done),
        cmocka_unit_test(the_next_process_finds_what_one_left_that_was_killed),
        cmocka_unit_test(it_never_holds_more_than_was_said),
        cmocka_unit_test(what_is_damaged_is_skipped_and_nothing_else),
        cmocka_unit_test(a_link_in_place_of_a_segment_is_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
