/* The signals are blocked, and taken one by one. */
#include "cmd/program_run.h"

#include "base/err.h"
#include "base/progress.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAME_MS 100 /* a process and its group are signalled one after the other */
#define LOOK_MS 50  /* whether the patience is over */

static const int to_end[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define N_TO_END (sizeof to_end / sizeof *to_end)

static sigset_t set_of(const int *signals, size_t n)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < n; i++)
        sigaddset(&set, signals[i]);
    return set;
}

/* --------------------------------------------------------------------------------- the witness
 */

static void start_witness(struct program_run *run)
{
    pid_t parent = getpid();
    sigset_t all;

    fflush(NULL);
    run->witness = fork();
    if (run->witness < 0)
        run->witness = 0;
    if (run->witness != 0 || getpid() == parent)
        return;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 0; fd < 3; fd++)
        close(fd); /* who waits for the end of our output does not wait for it */
    while (getppid() == parent)
        pause();
    _exit(0);
}

static void stop_witness(struct program_run *run)
{
    if (run->witness == 0)
        return;
    kill(run->witness, SIGKILL);
    while (waitpid(run->witness, NULL, 0) < 0 && errno == EINTR)
        ;
    run->witness = 0;
}

/* Whether the witness has got the signal, too; false if that cannot be told. */
static bool was_for_all(const struct program_run *run, int number)
{
    char path[64], line[256];
    unsigned long long pending = 0;
    FILE *file;

    if (run->witness == 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)run->witness);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "ShdPnd:", 7) == 0)
            pending = strtoull(line + 7, NULL, 16);
    if (file)
        fclose(file);
    return pending >> (number - 1) & 1;
}

/* ----------------------------------------------------------------------------------- running
 */

void program_run_begin(struct program_run *run)
{
    sigset_t kept = set_of(to_end, N_TO_END);

    *run = (struct program_run){0};
    signal(SIGCHLD, SIG_DFL);
    sigaddset(&kept, SIGCHLD);
    sigprocmask(SIG_BLOCK, &kept, &run->before);
    start_witness(run);
}

void program_run_child(const struct program_run *run)
{
    sigprocmask(SIG_SETMASK, &run->before, NULL);
}

static void pass_on(struct program_run *run, int number, pid_t pid, pid_t other)
{
    nanosleep(&(struct timespec){.tv_nsec = SAME_MS * 1000000}, NULL);
    if (was_for_all(run, number)) {
        stop_witness(run);
        start_witness(run); /* for the next one */
        return;
    }
    if (pid > 0)
        kill(pid, number);
    if (other > 0)
        kill(other, number);
}

/* As a shell has it. */
static int shell_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(struct program_run *run, pid_t pid, pid_t other, unsigned patience_ms)
{
    uint64_t end_ns = patience_ms ? clock_ns() + patience_ms * UINT64_C(1000000) : UINT64_MAX;
    const struct timespec moment = {.tv_nsec = LOOK_MS * 1000000};
    sigset_t kept = set_of(to_end, N_TO_END);
    int status = 0, number;
    pid_t ended;

    sigaddset(&kept, SIGCHLD);
    for (;;) {
        ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            break;
        if (clock_ns() > end_ns) {
            kill(pid, SIGTERM);
            end_ns = UINT64_MAX;
        }
        number = end_ns == UINT64_MAX ? sigwaitinfo(&kept, NULL)
                                      : sigtimedwait(&kept, NULL, &moment);
        if (number > 0 && number != SIGCHLD)
            pass_on(run, number, pid, other);
    }
    return shell_status(status);
}

int program_run_wait(struct program_run *run, pid_t pid, unsigned patience_ms)
{
    return wait_for(run, pid, 0, patience_ms);
}

int program_run(struct program_run *run, char *const *argv, pid_t other)
{
    static const int usual[] = {SIGXFSZ}; /* which we ignore */
    sigset_t as_usual = set_of(usual, 1);
    posix_spawnattr_t attributes;
    pid_t pid;
    int error;

    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &as_usual);
    posix_spawnattr_setsigmask(&attributes, &run->before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return err_set(ERR_NOT_FOUND, "cannot run '%s': %s", argv[0], strerror(error));
    run->status = wait_for(run, pid, other, 0);
    run->ended_ns = clock_ns();
    return 0;
}

void program_run_end(struct program_run *run)
{
    sigset_t kept = set_of(to_end, N_TO_END);

    while (sigtimedwait(&kept, NULL, &(struct timespec){0}) > 0)
        ;
    stop_witness(run);
    sigprocmask(SIG_SETMASK, &run->before, NULL);
}
