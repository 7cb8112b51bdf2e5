/*
 * alone -- run a test's script so that nothing of it stays: its processes end when it does, and
 * what it puts into TMPDIR goes, also when it was killed.
 *
 *     alone COMMAND ARGS...
 *
 * Ends as the command does.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "test_dir.h"

static void kill_group(const char *group)
{
    kill(-(pid_t)atoi(group), SIGKILL);
}

/* When both are there: whoever clears away must know the group before anyone can end. */
static _Noreturn void become(char **argv, int go)
{
    char word;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(go, &word, 1) != 1)
        _exit(127); /* the parent is gone */
    close(go);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    static char dir[] = "/tmp/snag-test-XXXXXX", group[16];
    int go[2], status;
    pid_t child;

    if (argc < 2 || test_dir(dir) == NULL || setenv("TMPDIR", dir, 1) != 0 || pipe(go) != 0)
        return 2;
    child = fork();
    if (child == 0) {
        close(go[1]);
        become(argv + 1, go[0]);
    }
    setpgid(child, child);
    snprintf(group, sizeof group, "%d", (int)child);
    test_after(kill_group, group);
    if (child < 0 || write(go[1], "g", 1) != 1)
        return 2;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
