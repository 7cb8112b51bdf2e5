#include "base/cleaner.h"

#include "base/fs.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

/* A group of two processes that make a directory, and would go on for ever. */
static pid_t start_two(const char *dir)
{
    struct cleaner cleaner;
    int ready[2];
    char c;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        mkdir(dir, 0777);
        if (cleaner_start(&cleaner, dir) != 0)
            _exit(1);
        if (fork() > 0 && write(ready[1], "", 1) != 1)
            _exit(2);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    return pid;
}

static void what_all_leave_that_are_killed_at_once_is_removed(void **state)
{
    char dir[] = "/tmp/snag-cleaner-XXXXXX", part[64];
    pid_t pid;

    (void)state;
    assert_non_null(test_dir(dir));
    snprintf(part, sizeof part, "%s/part", dir);
    pid = start_two(part);
    assert_true(fs_exists(part));
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (fs_exists(part)) /* the test's time limit ends this */
        usleep(1000);
}

static int make_and_dismiss(const char *dir)
{
    struct cleaner cleaner;

    mkdir(dir, 0777);
    if (cleaner_start(&cleaner, dir) != 0)
        return 1;
    cleaner_dismiss(&cleaner);
    cleaner_dismiss(&cleaner);
    return waitpid(-1, NULL, 0) < 0 ? 0 : 2; /* it has ended, and done nothing */
}

static void what_is_dismissed_sweeps_nothing(void **state)
{
    char dir[] = "/tmp/snag-cleaner-XXXXXX", part[64];

    (void)state;
    assert_non_null(test_dir(dir));
    snprintf(part, sizeof part, "%s/part", dir);
    assert_int_equal(make_and_dismiss(part), 0);
    assert_true(fs_exists(part));
}

static void one_that_was_killed_is_dismissed(void **state)
{
    struct cleaner cleaner;

    (void)state;
    assert_int_equal(cleaner_start(&cleaner, "/tmp/snag-cleaner-of-nothing"), 0);
    kill(cleaner.pid, SIGKILL);
    waitpid(cleaner.pid, NULL, 0);
    cleaner_dismiss(&cleaner);
    assert_int_equal(cleaner.fd, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_leave_that_are_killed_at_once_is_removed),
        cmocka_unit_test(what_is_dismissed_sweeps_nothing),
        cmocka_unit_test(one_that_was_killed_is_dismissed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
