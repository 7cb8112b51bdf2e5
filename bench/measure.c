/*
 * measure COMMAND [ARGUMENT...] -- runs a command and says on its own standard error, behind
 * what the command said, what it took:
 *
 *     measure: wall_s 0.1234 cpu_s 0.1201 peak_bytes 12345678
 *
 * Processor time is that of the command and of all processes it has waited for; the peak is of
 * the largest of them. Ends as the command does, by its status or its signal.
 *
 * To the kernel a program's peak counts from the fork on, so that a small program has the peak
 * of whoever started it; this one is smaller.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    double begin_s = now_s();
    struct rusage usage;
    int status;
    pid_t child;

    if (argc < 2) {
        fputs("usage: measure COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        fprintf(stderr, "measure: cannot run '%s': %s\n", argv[1], strerror(errno));
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        fprintf(stderr, "measure: %s\n", strerror(errno));
        return 1;
    }
    fprintf(stderr, "measure: wall_s %.6f cpu_s %.6f peak_bytes %ld\n", now_s() - begin_s,
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss * 1024);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
