#include "base/guard.h"

#include "base/err.h"
#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

/* A clock that stands still until a child moves it on. */
static _Atomic uint64_t *test_ns;

static uint64_t test_clock(void)
{
    return *test_ns;
}

static void let_pass_ms(uint64_t ms)
{
    *test_ns += ms * 1000000;
}

static int succeed(void *ctx, struct guard *guard)
{
    (void)guard;
    return *(int *)ctx;
}

static void status_of_a_healthy_child_comes_back(void **state)
{
    int status = 3;

    (void)state;
    assert_int_equal(guard_run(succeed, &status, NULL, NULL), 3);
}

static void what_was_done_of_signals_is_done_again(void **state)
{
    struct sigaction ours = {.sa_handler = SIG_IGN}, before, now;
    int status = 0;

    (void)state;
    sigaction(SIGTERM, &ours, &before);
    assert_int_equal(guard_run(succeed, &status, NULL, NULL), 0);
    sigaction(SIGTERM, &before, &now);
    assert_true(now.sa_handler == SIG_IGN);
}

/* Reads items 0..9 of 100 records each; item 4 kills it at record 60. */
static int read_items(void *ctx, struct guard *guard)
{
    void (*die)(void) = *(void (**)(void))ctx;
    uint64_t total = 0;

    for (uint32_t item = 0; item < 10; item++) {
        uint64_t limit = guard_limit(guard, item);

        guard_begin(guard, 1, item);
        for (uint64_t i = 0; i < 100 && i < limit; i++) {
            if (item == 4 && i == 60)
                die();
            guard_at(guard, 1, i + 1);
            total++;
        }
        guard_end(guard, 1);
    }
    if (guard_find(guard, 4) == NULL)
        return 1;
    return total == 960 ? 0 : 2;
}

static void crash(void)
{
    raise(SIGSEGV);
}

static void hang(void)
{
    for (;;)
        pause();
}

/* Hangs, while time goes by. */
static void hang_on(void)
{
    for (;; usleep(1000))
        let_pass_ms(1000);
}

static bool is_early;

static void be_killed_early(void)
{
    if (is_early)
        raise(SIGSEGV);
}

static void end_otherwise(int sig)
{
    (void)sig;
    _exit(9);
}

static void nothing(void)
{
}

/* As by somebody who does not wait until the child has handlers of its own. */
static void a_child_that_is_killed_at_once_is_said_to_be(void **state)
{
    void (*die)(void) = nothing;

    (void)state;
    assert_int_equal(pthread_atfork(NULL, NULL, be_killed_early), 0);
    signal(SIGSEGV, end_otherwise);
    is_early = true;
    assert_true(guard_run(read_items, &die, NULL, NULL) < 0);
    is_early = false;
    signal(SIGSEGV, SIG_DFL);
    assert_non_null(strstr(err_message(), "signal 11"));
}

static void the_rest_is_read_when_one_item_crashes(void **state)
{
    void (*die)(void) = crash;

    (void)state;
    assert_int_equal(guard_run(read_items, &die, NULL, NULL), 0);
}

static void the_rest_is_read_when_one_item_hangs(void **state)
{
    void (*die)(void) = hang_on;
    struct guard_opts opts = {.now_ns = test_clock};

    (void)state;
    assert_int_equal(guard_run(read_items, &die, &opts, NULL), 0);
    assert_true(*test_ns > 60000000000u);
}

static void run_out_of_memory(void)
{
    mem_give_up(1, 1);
}

static void memory_that_runs_out_is_no_items_fault(void **state)
{
    void (*die)(void) = run_out_of_memory;

    (void)state;
    assert_int_equal(guard_run(read_items, &die, NULL, NULL), ERR_IO);
    assert_non_null(strstr(err_message(), "ran out of memory"));
}

static int die_outside(void *ctx, struct guard *guard)
{
    (void)ctx, (void)guard;
    raise(SIGBUS);
    return 0;
}

static void note(void *ctx)
{
    *(int *)ctx = 1;
}

static void death_outside_any_item_is_an_error_and_cleans_up(void **state)
{
    int is_clean = 0;
    struct guard_opts opts = {.clean_up = note};

    (void)state;
    assert_int_equal(guard_run(die_outside, &is_clean, &opts, NULL), ERR_FORMAT);
    assert_int_equal(is_clean, 1);
}

static int stop_parent(void *ctx, struct guard *guard)
{
    (void)ctx, (void)guard;
    kill(getppid(), SIGTERM);
    hang();
    return 0;
}

static void a_signal_to_the_parent_ends_both(void **state)
{
    int is_clean = 0, sig = 0;
    struct guard_opts opts = {.clean_up = note};

    (void)state;
    assert_int_equal(guard_run(stop_parent, &is_clean, &opts, &sig), ERR_INTERRUPTED);
    assert_int_equal(sig, SIGTERM);
    assert_int_equal(is_clean, 1);
}

static volatile sig_atomic_t n_told;

static void be_told(int sig)
{
    (void)sig;
    n_told++;
}

static int end_when_told(void *ctx, struct guard *guard)
{
    (void)ctx, (void)guard;
    signal(SIGTERM, be_told);
    kill(getppid(), SIGTERM);
    while (n_told == 0)
        usleep(1000);
    return 7;
}

static int ignore_what_is_told(void *ctx, struct guard *guard)
{
    (void)ctx, (void)guard;
    signal(SIGTERM, be_told);
    kill(getppid(), SIGTERM);
    while (n_told == 0)
        usleep(1000);
    let_pass_ms(501); /* sooner, it would be the same one */
    kill(getppid(), SIGTERM);
    hang();
    return 7;
}

static void a_child_may_end_itself(void **state)
{
    struct guard_opts opts = {.ends_itself = true, .now_ns = test_clock};
    int sig = 0;

    (void)state;
    assert_int_equal(guard_run(end_when_told, NULL, &opts, &sig), 7);
    assert_int_equal(sig, 0);
    assert_int_equal(guard_run(ignore_what_is_told, NULL, &opts, &sig), ERR_INTERRUPTED);
    assert_int_equal(sig, SIGTERM);
}

static int write_to_closed_pipe(void *ctx, struct guard *guard)
{
    (void)ctx, (void)guard;
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    return 0;
}

static void a_closed_pipe_is_nobodys_fault(void **state)
{
    int sig = 0;

    (void)state;
    assert_int_equal(guard_run(write_to_closed_pipe, NULL, NULL, &sig), ERR_INTERRUPTED);
    assert_int_equal(sig, SIGPIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_of_a_healthy_child_comes_back),
        cmocka_unit_test(what_was_done_of_signals_is_done_again),
        cmocka_unit_test(a_child_that_is_killed_at_once_is_said_to_be),
        cmocka_unit_test(the_rest_is_read_when_one_item_crashes),
        cmocka_unit_test(the_rest_is_read_when_one_item_hangs),
        cmocka_unit_test(memory_that_runs_out_is_no_items_fault),
        cmocka_unit_test(death_outside_any_item_is_an_error_and_cleans_up),
        cmocka_unit_test(a_signal_to_the_parent_ends_both),
        cmocka_unit_test(a_child_may_end_itself),
        cmocka_unit_test(a_closed_pipe_is_nobodys_fault),
    };

    test_ns =
        mmap(NULL, sizeof *test_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
