/*
 * A pidfd is a process and not a number that another may have by now; poll(2) says when it is
 * gone. The guardian waits for the end of file of a pipe whose other end only the disturber
 * has: the kernel closes that even if it is killed.
 */
#include "victims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void fail(const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "disturb: ");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

void victims_read(struct victims *v, FILE *file)
{
    char host[256] = "", line_host[256];
    int rank, pid, core;

    gethostname(host, sizeof host - 1);
    while (fscanf(file, "%d %d %d %255s", &rank, &pid, &core, line_host) == 4) {
        int fd;

        if (strcmp(host, line_host) != 0)
            continue;
        fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
            fail("rank %d, process %d: %s", rank, pid, strerror(errno));
        v->victim = realloc(v->victim, (size_t)(v->n + 1) * sizeof *v->victim);
        if (v->victim == NULL)
            fail("out of memory");
        v->victim[v->n++] = (struct victim){rank, pid, fd};
    }
    if (v->n == 0)
        fail("the file of the ranks names none of this host");
}

void victims_release(struct victims *v)
{
    for (int i = 0; i < v->n; i++)
        close(v->victim[i].fd);
    free(v->victim);
    *v = (struct victims){0};
}

void victims_guard(const struct victims *v)
{
    int ends[2];
    char byte;

    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("cannot make a pipe: %s", strerror(errno));
    switch (fork()) {
    case -1:
        fail("cannot fork: %s", strerror(errno));
    case 0:
        close(ends[1]);
        setsid(); /* away from the terminal's signals */
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
            ;
        for (int i = 0; i < v->n; i++)
            victim_signal(&v->victim[i], SIGCONT);
        _exit(0);
    }
    close(ends[0]); /* the other end stays open as long as we live */
}

bool victim_is_gone(const struct victim *v)
{
    struct pollfd p = {.fd = v->fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

bool victims_are_gone(const struct victims *v)
{
    for (int i = 0; i < v->n; i++)
        if (!victim_is_gone(&v->victim[i]))
            return false;
    return true;
}

bool victim_signal(const struct victim *v, int number)
{
    return syscall(SYS_pidfd_send_signal, v->fd, number, NULL, 0) == 0;
}

/* Fields 3 and 39 of /proc/PID/stat. */
bool victim_stat(const struct victim *v, char *state, int *core)
{
    char path[64], text[1024], *at;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", v->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    at = strrchr(text, ')'); /* the name before it may contain anything */
    if (at == NULL || sscanf(at, ") %c", state) != 1)
        return false;
    for (int field = 2; field < 39 && at; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%d", core) == 1;
}
