/*
 * The clocks of two processes, of which one is ahead: what the tracer measures between them,
 * and what it makes of the times in between.
 *
 *     rank 0    clock of the machine                   answers
 *     rank 1    the same, AHEAD_NS later               asks
 */
#include "offsets.h"

#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AHEAD_NS 5000000000

static int own_rank, peer; /* peer: a socket to the other */

/* In place of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    int status = (int)syscall(SYS_clock_gettime, id, t);

    t->tv_sec += own_rank == 1 ? AHEAD_NS / 1000000000 : 0;
    return status;
}

int team_rank(void)
{
    return own_rank;
}

int team_size(void)
{
    return 2;
}

void team_barrier(void)
{
}

void team_send(int to, const void *data, size_t bytes)
{
    (void)to;
    if (write(peer, data, bytes) != (ssize_t)bytes)
        exit(2);
}

void team_receive(int from, void *data, size_t bytes)
{
    (void)from;
    if (recv(peer, data, bytes, MSG_WAITALL) != (ssize_t)bytes)
        exit(2);
}

static int expect(const char *what, int64_t got, int64_t want, double error)
{
    if ((double)(got - want) <= error && (double)(want - got) <= error)
        return 0;
    printf("%s: %lld, not %lld\n", what, (long long)got, (long long)want);
    return 1;
}

/* Half of what is added at the end is added in the middle. */
static int check_between(void)
{
    struct state_offset begin = {.time_ns = 1000, .offset_ns = -50};
    struct state_offset end = {.time_ns = 3000, .offset_ns = -150};

    return expect("at the begin", (int64_t)state_offset_apply(1000, &begin, &end), 950, 0) +
           expect("in the middle", (int64_t)state_offset_apply(2000, &begin, &end), 1900, 0) +
           expect("at the end", (int64_t)state_offset_apply(3000, &begin, &end), 2850, 0) +
           expect("not measured twice", (int64_t)state_offset_apply(2000, &begin, &begin), 1950,
                  0);
}

int main(void)
{
    struct state_offset offset;
    int sockets[2], status, n_wrong = check_between();
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || (child = fork()) < 0)
        return 2;
    own_rank = child == 0;
    peer = sockets[own_rank];
    offset = offset_measure();
    n_wrong += own_rank == 0 ? expect("rank 0", offset.offset_ns, 0, 0)
                             : expect("rank 1", offset.offset_ns, -AHEAD_NS, offset.error_ns);
    if (own_rank == 1)
        return n_wrong != 0;
    return n_wrong != 0 || waitpid(child, &status, 0) != child || status != 0;
}
