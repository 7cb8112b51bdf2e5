/*
 * test_dir -- what a test leaves is cleared away when the test is gone, also when it was killed
 * or has failed half-way: by a process of its own, which outlives the test and waits for its
 * end.
 *
 *     char dir[] = "/tmp/snag-lof-XXXXXX";
 *     assert_non_null(test_dir(dir));
 */
#ifndef SNAG_TESTS_TEST_DIR_H
#define SNAG_TESTS_TEST_DIR_H

#include "base/fs.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* It holds nothing of the test: no lock, no socket, no pipe that somebody reads to its end. */
static inline _Noreturn void test_clear_after(pid_t test, void (*clear)(const char *),
                                              const char *what)
{
    struct pollfd end = {.events = POLLIN};

    setsid();
    close_range(0, ~0u, 0);
    if (fork() != 0)
        _exit(0);
    end.fd = (int)syscall(SYS_pidfd_open, test, 0);
    while (end.fd >= 0 && poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
    clear(what);
    _exit(0);
}

/* test_after -- clear(what) when this process is gone. */
static inline void test_after(void (*clear)(const char *), const char *what)
{
    pid_t test = getpid(), child = fork();

    if (child == 0)
        test_clear_after(test, clear, what);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static inline void test_remove_tree(const char *dir)
{
    (void)fs_remove_tree(dir);
}

/* test_dir -- mkdtemp, for as long as this process lives. */
static inline char *test_dir(char *dir)
{
    static char absolute[FS_PATH_SIZE];

    if (mkdtemp(dir) == NULL || realpath(dir, absolute) == NULL)
        return NULL;
    test_after(test_remove_tree, absolute);
    return dir;
}

#endif
