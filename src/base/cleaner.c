/*
 * It reads from a socket that nobody writes to but to dismiss it, once it has said there that
 * it is out of reach of who kills its parent's group. It holds none of the files of its parent:
 * a launcher takes the end of these for that of its process.
 */
#include "base/cleaner.h"

#include "base/err.h"
#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for one byte. Returns what read() does. */
static ssize_t read_byte(int fd)
{
    char byte;
    ssize_t n;

    do
        n = read(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n;
}

static void wait_and_sweep(int fd, const char *dir)
{
    setsid();
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_IGN);
    dup2(fd, 3);
    close_range(4, ~0u, 0);
    for (int i = 0; i < 3; i++)
        close(i);
    send(3, "", 1, MSG_NOSIGNAL); /* to nobody, if they are gone */
    if (read_byte(3) != 1)
        fs_remove_tree(dir);
}

int cleaner_start(struct cleaner *cleaner, const char *dir)
{
    int ends[2];

    *cleaner = (struct cleaner){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set(ERR_IO, "cannot make a pair of sockets: %s", strerror(errno));
    fflush(NULL);
    cleaner->pid = fork();
    if (cleaner->pid == 0) {
        close(ends[1]);
        wait_and_sweep(ends[0], dir);
        _exit(0);
    }
    close(ends[0]);
    cleaner->fd = ends[1];
    if (cleaner->pid > 0 && read_byte(ends[1]) == 1)
        return 0;
    if (cleaner->pid < 0)
        err_set(ERR_IO, "cannot start a process: %s", strerror(errno));
    else
        err_set(ERR_IO, "the process that cleans up was killed");
    cleaner_dismiss(cleaner);
    return ERR_IO;
}

void cleaner_dismiss(struct cleaner *cleaner)
{
    if (cleaner->fd == 0)
        return;
    send(cleaner->fd, "", 1, MSG_NOSIGNAL); /* it may have been killed */
    close(cleaner->fd);
    if (cleaner->pid > 0)
        waitpid(cleaner->pid, NULL, 0);
    *cleaner = (struct cleaner){0};
}
