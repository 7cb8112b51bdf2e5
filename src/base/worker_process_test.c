#include "base/worker_process.h"

#include "base/err.h"
#include "base/patience.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define PATIENCE_S 20
#define PATIENCE_NS (PATIENCE_S * UINT64_C(1000000000))
#define BEATS 5

/* Time passes when a test says so. */
static uint64_t time_ns;

static uint64_t test_clock(void)
{
    return time_ns;
}

static void pass(uint64_t ns)
{
    time_ns += ns;
}

/* Sends 0, 1, 2, ... as blocks of that many numbers; kind is the number. */
static int count_up(void *ctx, struct worker_process_end *end)
{
    uint32_t n = *(uint32_t *)ctx;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t *room = worker_process_room(end);

        for (uint32_t k = 0; k < i; k++)
            room[k] = i * 1000 + k;
        worker_process_send(end, i, i * sizeof *room);
    }
    return 0;
}

static int next_state(struct worker_process *worker_process, struct worker_process_block *block)
{
    int state;

    while ((state = worker_process_receive(worker_process, 100, block)) == WORKER_PROCESS_IDLE)
        ;
    return state;
}

static void blocks_come_as_they_were_sent(void **state)
{
    struct worker_process *worker_process;
    struct worker_process_block block;
    uint32_t n = 300;

    (void)state;
    assert_int_equal(worker_process_open(&worker_process, count_up, &n, PATIENCE_S, NULL), 0);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *number;

        assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_BLOCK);
        assert_int_equal(block.kind, i);
        assert_int_equal(block.bytes, i * sizeof *number);
        number = block.data;
        for (uint32_t k = 0; k < i; k++)
            assert_int_equal(number[k], i * 1000 + k);
    }
    assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_OVER);
    assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_OVER);
    worker_process_close(worker_process);
}

static int refuse(void *ctx, struct worker_process_end *end)
{
    char said[20];

    (void)ctx;
    fprintf(stderr, "a long story about why it is so: no such thing");
    worker_process_said(end, said, sizeof said);
    return err_set(ERR_NOT_FOUND, "told: %s", said);
}

static void a_failure_comes_with_its_reason(void **state)
{
    struct worker_process *worker_process;
    struct worker_process_block block;

    (void)state;
    assert_int_equal(worker_process_open(&worker_process, refuse, NULL, PATIENCE_S, NULL), 0);
    assert_int_equal(next_state(worker_process, &block), ERR_NOT_FOUND);
    assert_string_equal(err_message(), "told: s so: no such thing");
    worker_process_close(worker_process);
}

/* One block, then the end that ctx says. */
static int end_badly(void *ctx, struct worker_process_end *end)
{
    int sig = *(int *)ctx;

    strcpy(worker_process_room(end), "so far");
    worker_process_send(end, 7, 7);
    if (sig)
        raise(sig);
    while (worker_process_room(end))
        pause();
    return 0;
}

static void a_crash_is_told_behind_what_came_before_it(void **state)
{
    struct worker_process *worker_process;
    struct worker_process_block block;
    int sig = SIGSEGV;

    (void)state;
    assert_int_equal(worker_process_open(&worker_process, end_badly, &sig, PATIENCE_S, NULL),
                     0);
    assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_BLOCK);
    assert_string_equal(block.data, "so far");
    assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_DIED);
    assert_non_null(strstr(err_message(), "signal 11"));
    worker_process_close(worker_process);
}

/* It has said something, and it is its turn. */
static struct worker_process *open_one_that_hangs(struct worker_process_block *block)
{
    static int sig = 0;
    struct worker_process *worker_process;

    assert_int_equal(
        worker_process_open(&worker_process, end_badly, &sig, PATIENCE_S, test_clock), 0);
    assert_int_equal(next_state(worker_process, block), WORKER_PROCESS_BLOCK);
    assert_int_equal(worker_process_receive(worker_process, 0, block), WORKER_PROCESS_IDLE);
    return worker_process;
}

static void a_hang_ends_when_patience_does(void **state)
{
    struct worker_process_block block;
    struct worker_process *worker_process = open_one_that_hangs(&block);

    (void)state;
    for (uint64_t left = PATIENCE_NS - 1, some; left > 0; left -= some) {
        some = left < PATIENCE_MOMENT_NS ? left : PATIENCE_MOMENT_NS;
        pass(some);
        assert_int_equal(worker_process_receive(worker_process, 0, &block),
                         WORKER_PROCESS_IDLE);
    }
    pass(1);
    assert_int_equal(worker_process_receive(worker_process, 0, &block), WORKER_PROCESS_HUNG);
    assert_int_equal(worker_process_receive(worker_process, 0, &block), WORKER_PROCESS_HUNG);
    worker_process_close(worker_process);
}

/* Both were stopped, and only the clock went on. */
static void time_in_which_nobody_looked_is_no_hang_until_a_moment_later(void **state)
{
    struct worker_process_block block;
    struct worker_process *worker_process = open_one_that_hangs(&block);

    (void)state;
    pass(2 * PATIENCE_NS);
    assert_int_equal(worker_process_receive(worker_process, 0, &block), WORKER_PROCESS_IDLE);
    pass(PATIENCE_MOMENT_NS - 1);
    assert_int_equal(worker_process_receive(worker_process, 0, &block), WORKER_PROCESS_IDLE);
    pass(1);
    assert_int_equal(worker_process_receive(worker_process, 0, &block), WORKER_PROCESS_HUNG);
    worker_process_close(worker_process);
}

/* Beats as often as it is told to; ctx is shared memory. */
static int beat(void *ctx, struct worker_process_end *end)
{
    for (int i = 0; i < BEATS; i++) {
        while (sem_wait(ctx) != 0)
            ;
        worker_process_beat(end);
    }
    return 0;
}

static void a_beat_is_enough_to_be_waited_for(void **state)
{
    struct worker_process *worker_process;
    struct worker_process_block block;
    sem_t *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(told, MAP_FAILED);
    assert_int_equal(sem_init(told, 1, 0), 0);
    assert_int_equal(worker_process_open(&worker_process, beat, told, PATIENCE_S, test_clock),
                     0);
    for (int i = 0; i < BEATS; i++) {
        struct pollfd heard = {.fd = worker_process_fd(worker_process), .events = POLLIN};

        pass(PATIENCE_NS - 1);
        sem_post(told);
        while (poll(&heard, 1, -1) < 0)
            ;
        assert_int_not_equal(worker_process_receive(worker_process, 0, &block),
                             WORKER_PROCESS_HUNG);
    }
    assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_OVER);
    worker_process_close(worker_process);
    munmap(told, sizeof *told);
}

static void nothing_to_receive_is_told_when_the_time_that_was_asked_for_is_over(void **state)
{
    struct worker_process *worker_process;
    struct worker_process_block block;
    int sig = 0;

    (void)state;
    assert_int_equal(worker_process_open(&worker_process, end_badly, &sig, PATIENCE_S, NULL),
                     0);
    assert_int_equal(next_state(worker_process, &block), WORKER_PROCESS_BLOCK);
    assert_int_equal(worker_process_receive(worker_process, 0, &block), WORKER_PROCESS_IDLE);
    assert_int_equal(worker_process_receive(worker_process, 10, &block), WORKER_PROCESS_IDLE);
    worker_process_close(worker_process); /* does not wait for it either */
}

/* Tells the pipe who it is, then hangs. */
static int tell_and_hang(void *ctx, struct worker_process_end *end)
{
    pid_t self = getpid();

    (void)ctx;
    memcpy(worker_process_room(end), &self, sizeof self);
    worker_process_send(end, 0, sizeof self);
    while (worker_process_room(end))
        pause();
    return 0;
}

static bool is_gone(pid_t pid)
{
    for (int i = 0; i < 500; i++) {
        if (kill(pid, 0) != 0)
            return true;
        usleep(10000);
    }
    return false;
}

/* The parent of the worker process's child is a process of its own, which is killed. */
static void the_child_goes_when_its_parent_does(void **state)
{
    int pipe_fd[2];
    pid_t parent, child;
    struct worker_process *worker_process;
    struct worker_process_block block;

    (void)state;
    assert_int_equal(pipe(pipe_fd), 0);
    parent = fork();
    if (parent == 0) {
        if (worker_process_open(&worker_process, tell_and_hang, NULL, PATIENCE_S, NULL) == 0 &&
            next_state(worker_process, &block) == WORKER_PROCESS_BLOCK)
            (void)!write(pipe_fd[1], block.data, sizeof child);
        for (;;)
            pause();
    }
    assert_int_equal(read(pipe_fd[0], &child, sizeof child), sizeof child);
    assert_int_equal(kill(child, 0), 0);
    kill(parent, SIGKILL);
    assert_true(is_gone(child));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_as_they_were_sent),
        cmocka_unit_test(a_failure_comes_with_its_reason),
        cmocka_unit_test(a_crash_is_told_behind_what_came_before_it),
        cmocka_unit_test(a_hang_ends_when_patience_does),
        cmocka_unit_test(time_in_which_nobody_looked_is_no_hang_until_a_moment_later),
        cmocka_unit_test(a_beat_is_enough_to_be_waited_for),
        cmocka_unit_test(nothing_to_receive_is_told_when_the_time_that_was_asked_for_is_over),
        cmocka_unit_test(the_child_goes_when_its_parent_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
