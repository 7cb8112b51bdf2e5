/* Two programs at one socket: one after the other is the next run, at once is one too many. */
#include "base/log.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample_ranks.h"
#include "test.h"

/* A program of one process; job 0: it does not say which. */
static struct rank come_alone(uint32_t pid, uint64_t job)
{
    uint64_t now = now_ns();

    return come_as(&(struct sample_process){
        .n_ranks = 1, .pid = pid, .start_ns = now - now % TICK_NS, .job = job});
}

/* Sends what is packed, while nobody reads. */
static void say(struct rank *r)
{
    assert_int_equal(send(r->fd, r->out.data, r->out.n, 0), r->out.n);
    r->out.n = 0;
}

static void end_well(struct stream *stream, struct rank *r)
{
    frame_bye(&r->out);
    talk(stream, r);
    go(r);
}

static void expect_step_of_run(struct stream *stream)
{
    struct stream_part p;

    assert_int_equal(wait_for_step(stream), STREAM_STEP);
    assert_int_equal(stream->n_steps, 1);
    assert_string_equal(letters(stream, &p), "(s)s");
    assert_int_equal(p.location, 0);
    assert_int_equal(stream->defs->n_locations, 1);
    assert_int_equal(stream->defs->n_metadata, 3);
}

static void a_program_that_runs_again_is_the_next_run(void **state)
{
    struct stream stream;
    uint64_t n_bytes = 0;
    struct rank r;

    (void)state;
    open_stream(&stream);
    for (uint32_t run = 1; run <= 3; run++) {
        r = come_alone(5000 + run, run == 2 ? 0 : run);
        if (run > 1)
            say(&r);
        if (run > 1)
            assert_int_equal(stream_again(&stream, 5000), STREAM_STEP);
        talk(&stream, &r);
        send_step(&r, 0.5);
        end_well(&stream, &r);
        if (stream.n_steps == 0)
            expect_step_of_run(&stream);
        assert_int_equal(wait_for_step(&stream), STREAM_OVER);
        assert_int_equal(stream.quality.n[QUALITY_truncated], 0);
        if (run == 1)
            n_bytes = stream.n_bytes;
        assert_in_range(stream.n_bytes, 1, n_bytes + n_bytes / 2); /* of this run alone */
        assert_int_equal(stream_again(&stream, 0), STREAM_IDLE);
        assert_int_equal(stream.defs->n_locations, 0);
        assert_int_equal(stream.n_steps, 0);
    }
    assert_int_equal(stream_again(&stream, 10), STREAM_IDLE);
    stream_close(&stream);
}

/* The first is killed, and started again before anybody has read what it said last. */
static void one_that_is_started_again_at_once_waits_for_the_end(void **state)
{
    struct stream stream;
    struct rank first, second;

    (void)state;
    open_stream(&stream);
    first = come_alone(5000, 1);
    talk(&stream, &first);
    send_step(&first, 0.5);
    say(&first);
    go(&first);
    second = come_alone(5001, 2);
    send_step(&second, 0.5);
    frame_bye(&second.out);
    say(&second);
    go(&second); /* a short one: it has gone, too */
    expect_step_of_run(&stream);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 1);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_int_equal(stream_again(&stream, 5000), STREAM_STEP);
    expect_step_of_run(&stream);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 0);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    stream_close(&stream);
}

/* Reads the frame that says why: kind 8, one text. */
static void expect_refusal(struct stream *stream, struct rank *r)
{
    unsigned char frame[600] = "";
    ssize_t n = -1;

    for (int i = 0; i < 1000 && n < 0; i++) {
        stream_next(stream, 1);
        n = recv(r->fd, frame, sizeof frame - 1, MSG_DONTWAIT);
    }
    assert_true(n > 13);
    assert_memory_equal(frame, "SNT\2\10\0\0\0", 8);
    assert_int_equal(frame[8] | frame[9] << 8, n - 12);
    assert_non_null(strstr((char *)frame + 13, "one program at a time"));
    assert_non_null(strstr((char *)frame + 13, "/usr/bin/md (process 5000)"));
    assert_true(recv(r->fd, frame, 1, 0) <= 0); /* and then the connection is closed */
    go(r);
}

static size_t lines_of(const char *path)
{
    FILE *in = fopen(path, "r");
    size_t n = 0;

    for (int c; in && (c = fgetc(in)) != EOF;)
        n += c == '\n';
    fclose(in);
    return n;
}

static void a_second_program_is_told_why_once_and_is_no_damage(void **state)
{
    const char *said = "tracer_runs_said";
    int fd = open(said, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600), err = dup(2);
    struct stream stream;
    struct rank first, second;

    (void)state;
    open_stream(&stream);
    first = come_alone(5000, 1);
    talk(&stream, &first);
    dup2(fd, 2);
    log_set_level(LOG_WARN);
    for (int i = 0; i < 20; i++) {
        second = come_as(&(struct sample_process){
            .n_ranks = 1, .pid = 6000, .start_ns = first.start_ns, .job = 2});
        talk(&stream, &second);
        expect_refusal(&stream, &second);
    }
    log_set_level(LOG_ERROR);
    dup2(err, 2);
    close(err);
    close(fd);
    assert_int_equal(lines_of(said), 1);
    unlink(said);
    assert_false(quality_is_damaged(&stream.quality));
    send_step(&first, 0.5);
    end_well(&stream, &first);
    if (stream.n_steps == 0)
        expect_step_of_run(&stream);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_false(quality_is_damaged(&stream.quality));
    second = come_alone(6000, 2); /* comes again, and is the next run */
    say(&second);
    assert_int_equal(stream_again(&stream, 5000), STREAM_STEP);
    send_step(&second, 0.5);
    end_well(&stream, &second);
    if (stream.n_steps == 0)
        expect_step_of_run(&stream);
    stream_close(&stream);
}

/* Ranks say which job they are of; where they do not, how many they are. */
static void ranks_of_one_job_belong_together(void **state)
{
    struct sample_process process = {.n_ranks = 2, .pid = 5000, .start_ns = now_ns(), .job = 7};
    struct stream stream;
    struct rank a, b, c;

    (void)state;
    open_stream(&stream);
    a = come_as(&process);
    talk(&stream, &a);
    process = (struct sample_process){
        .rank = 1, .n_ranks = 2, .pid = 6001, .start_ns = now_ns(), .job = 8};
    b = come_as(&process);
    talk(&stream, &b);
    expect_refusal(&stream, &b);
    process.job = 7;
    c = come_as(&process);
    talk(&stream, &c);
    send_step(&c, 0);
    frame_bye(&c.out);
    frame_bye(&a.out);
    talk(&stream, &a);
    talk(&stream, &c);
    go(&a);
    go(&c);
    if (stream.n_steps == 0)
        assert_int_equal(wait_for_step(&stream), STREAM_STEP);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_false(quality_is_damaged(&stream.quality));
    stream_close(&stream);
}

static void programs_of_other_sizes_do_not(void **state)
{
    struct sample_process process = {.n_ranks = 2, .pid = 5000, .start_ns = now_ns()};
    struct stream stream;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come_as(&process);
    talk(&stream, &a);
    b = come_as(&(struct sample_process){
        .rank = 2, .n_ranks = 3, .pid = 6002, .start_ns = process.start_ns});
    talk(&stream, &b);
    expect_refusal(&stream, &b);
    go(&a);
    stream_close(&stream);
}

static void a_trace_does_not_run_again(void **state)
{
    struct stream_opts opts = {.step_ns = 0};
    struct stream stream;

    (void)state;
    assert_int_equal(stream_open(&stream, "replay:synth:a", &opts), 0);
    while (stream_next(&stream, 0) == STREAM_STEP)
        ;
    assert_int_equal(stream_again(&stream, 0), STREAM_OVER);
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_runs_again_is_the_next_run),
        cmocka_unit_test(one_that_is_started_again_at_once_waits_for_the_end),
        cmocka_unit_test(a_second_program_is_told_why_once_and_is_no_damage),
        cmocka_unit_test(ranks_of_one_job_belong_together),
        cmocka_unit_test(programs_of_other_sizes_do_not),
        cmocka_unit_test(a_trace_does_not_run_again),
    };

    return sample_main(tests);
}
