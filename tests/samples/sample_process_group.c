/* A pair of sockets for every two processes, made before the first fork. */
#include "sample_process_group.h"

#include "base/process_group_transport.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[SAMPLE_PROCESS_GROUP_MAX_PROCESSES]
               [SAMPLE_PROCESS_GROUP_MAX_PROCESSES]; /* [a][b]: where a talks to b */
static unsigned size, number;

extern const struct process_group_transport process_group_transport;

static int join(unsigned *n, unsigned *me)
{
    *n = size;
    *me = number;
    return 0;
}

static void send_bytes(unsigned to, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t n = write(ends[number][to], at, bytes);

        if (n <= 0)
            _exit(120);
        at += n;
        bytes -= (size_t)n;
    }
}

static void receive_bytes(unsigned from, void *data, size_t bytes)
{
    char *at = data;

    while (bytes > 0) {
        ssize_t n = read(ends[number][from], at, bytes);

        if (n <= 0)
            _exit(121);
        at += n;
        bytes -= (size_t)n;
    }
}

static void leave(void)
{
}

const struct process_group_transport process_group_transport = {
    .name = "sockets",
    .join = join,
    .send = send_bytes,
    .receive = receive_bytes,
    .leave = leave,
};

int sample_process_group_run(unsigned n, int (*fn)(void *ctx, unsigned me), void *ctx)
{
    pid_t child[SAMPLE_PROCESS_GROUP_MAX_PROCESSES];
    int n_failed = 0;

    size = n;
    number = 0;
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = a + 1; b < n; b++) {
            int pair[2];

            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
                return -1;
            ends[a][b] = pair[0];
            ends[b][a] = pair[1];
        }
    for (unsigned p = 1; p < n; p++) {
        child[p] = fork();
        if (child[p] == 0) {
            number = p;
            _exit(fn(ctx, p));
        }
    }
    n_failed += fn(ctx, 0) != 0;
    for (unsigned p = 1; p < n; p++) {
        int status = 0;

        waitpid(child[p], &status, 0);
        n_failed += status != 0;
    }
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++)
            if (a != b)
                close(ends[a][b]);
    return n_failed;
}
