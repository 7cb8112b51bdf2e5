#include "base/thread.h"

#include "test.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct seen {
    sem_t is_there, may_end;
    pid_t id;
    char name[16];
};

static atomic_int heard_by; /* which thread ran the handler */

static void hear(int signal_number)
{
    (void)signal_number;
    heard_by = (int)syscall(SYS_gettid);
}

static void *look(void *arg)
{
    struct seen *seen = arg;

    seen->id = (pid_t)syscall(SYS_gettid);
    sem_post(&seen->is_there);
    sem_wait(&seen->may_end);
    pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
    return NULL;
}

static pthread_t begin(struct seen *seen, const char *name)
{
    pthread_t thread;

    sem_init(&seen->is_there, 0, 0);
    sem_init(&seen->may_end, 0, 0);
    assert_int_equal(thread_start(&thread, NULL, name, look, seen), 0);
    sem_wait(&seen->is_there);
    return thread;
}

static void end(struct seen *seen, pthread_t thread)
{
    sem_post(&seen->may_end);
    pthread_join(thread, NULL);
    sem_destroy(&seen->is_there);
    sem_destroy(&seen->may_end);
}

static void it_has_as_much_of_its_name_as_the_kernel_keeps(void **state)
{
    struct seen seen;

    (void)state;
    end(&seen, begin(&seen, "snag-short"));
    assert_string_equal(seen.name, "snag-short");
    end(&seen, begin(&seen, "snag-longer-than-that"));
    assert_string_equal(seen.name, "snag-longer-tha");
}

/* kill() with the number of a thread prefers that thread, if it takes the signal. */
static void what_ends_the_program_comes_to_the_thread_that_started_it(void **state)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = hear}, before;
    struct seen seen;
    pthread_t thread = begin(&seen, "snag-deaf");

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sigaction(all[i], &action, &before);
        heard_by = 0;
        kill(seen.id, all[i]);
        while (heard_by == 0)
            usleep(1000);
        sigaction(all[i], &before, NULL);
        assert_int_equal(heard_by, getpid());
    }
    end(&seen, thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_as_much_of_its_name_as_the_kernel_keeps),
        cmocka_unit_test(what_ends_the_program_comes_to_the_thread_that_started_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
