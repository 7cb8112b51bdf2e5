#include "base/lock_file.h"

#include "base/err.h"
#include "base/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

static char where[64];
static int dir;

static int begin(void **state)
{
    (void)state;
    strcpy(where, "claim-XXXXXX");
    if (test_dir(where) == NULL)
        return -1;
    dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0;
}

static int end(void **state)
{
    (void)state;
    close(dir);
    return fs_remove_tree(where);
}

/* Another process claims a range and says so; then it waits to be killed, or ends well. */
static pid_t lock_in_child(uint64_t first, uint64_t length, int *go)
{
    int said[2], told[2];
    struct lock_file lock_file;
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(told), 0);
    pid = fork();
    if (pid == 0) {
        close(told[1]);
        if (lock_file_take(&lock_file, dir, "lock", "x", first, length) == 0 &&
            write(said[1], "y", 1) == 1 && read(told[0], &byte, 1) == 0)
            lock_file_release(&lock_file);
        _exit(0);
    }
    close(said[1]);
    close(told[0]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    *go = told[1];
    return pid;
}

static void a_second_process_is_refused_until_the_first_has_ended(void **state)
{
    struct lock_file lock_file;
    char holder[32];
    int go;
    pid_t pid = lock_in_child(0, LOCK_FILE_ALL, &go);

    (void)state;
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "a store", 0, LOCK_FILE_ALL),
                     ERR_EXISTS);
    snprintf(holder, sizeof holder, "process %d is", (int)pid);
    assert_non_null(strstr(err_message(), holder));
    assert_non_null(strstr(err_message(), "'a store'"));
    assert_true(lock_file_is_taken(dir, "lock"));
    close(go);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(lock_file_is_taken(dir, "lock"));
    assert_int_not_equal(faccessat(dir, "lock", F_OK, 0), 0);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "a store", 0, LOCK_FILE_ALL), 0);
    lock_file_release(&lock_file);
    lock_file_release(&lock_file);
}

static void a_claim_does_not_outlive_a_process_that_is_killed(void **state)
{
    struct lock_file lock_file;
    int go;
    pid_t pid = lock_in_child(7, 1, &go);

    (void)state;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(go);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 0, LOCK_FILE_ALL), 0);
    lock_file_release(&lock_file);
}

static void different_numbers_may_be_claimed_by_different_processes(void **state)
{
    struct lock_file lock_file;
    int go;
    pid_t pid = lock_in_child(7, 1, &go);

    (void)state;
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 7, 2), ERR_EXISTS);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 8, 1), 0);
    lock_file_release(&lock_file); /* leaves the file, which the other has locked */
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 7, 1), ERR_EXISTS);
    close(go);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 7, 1), 0);
    lock_file_release(&lock_file);
}

static void a_child_of_a_fork_does_not_hold_it(void **state)
{
    struct lock_file lock_file;
    int status, hold[2], go;
    char byte;
    pid_t pid, child;

    (void)state;
    assert_int_equal(pipe(hold), 0);
    pid = fork();
    if (pid == 0) {
        if (lock_file_take(&lock_file, dir, "lock", "x", 0, LOCK_FILE_ALL) < 0)
            _exit(1);
        close(hold[1]);
        if (fork() == 0) /* outlives its parent, with all files of it open */
            _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    child = lock_in_child(0, LOCK_FILE_ALL, &go);
    close(go);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(hold[1]);
    close(hold[0]);
}

static void a_link_is_not_followed_and_a_second_name_not_locked(void **state)
{
    struct lock_file lock_file;
    int fd;

    (void)state;
    assert_int_equal(symlinkat("elsewhere", dir, "lock"), 0);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 0, LOCK_FILE_ALL), ERR_IO);
    assert_int_not_equal(faccessat(dir, "elsewhere", F_OK, 0), 0);
    unlinkat(dir, "lock", 0);
    fd = openat(dir, "elsewhere", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    close(fd);
    assert_int_equal(linkat(dir, "elsewhere", dir, "lock", 0), 0);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 0, LOCK_FILE_ALL), ERR_IO);
    unlinkat(dir, "lock", 0);
    assert_int_equal(mkfifoat(dir, "lock", 0666), 0);
    assert_int_equal(lock_file_take(&lock_file, dir, "lock", "x", 0, LOCK_FILE_ALL), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_process_is_refused_until_the_first_has_ended,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_claim_does_not_outlive_a_process_that_is_killed,
                                        begin, end),
        cmocka_unit_test_setup_teardown(different_numbers_may_be_claimed_by_different_processes,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_child_of_a_fork_does_not_hold_it, begin, end),
        cmocka_unit_test_setup_teardown(a_link_is_not_followed_and_a_second_name_not_locked,
                                        begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
