/*
 * A program of one process, as it runs under the tracer: connects to a socket, says 200 calls
 * of `step`, one of them long, and goodbye.
 *
 *     tracer_program SOCKET NAME-NUMBER [hold|lost]
 *
 * NAME-NUMBER takes the place of the process id and the job. With hold it says goodbye when its
 * standard input ends; with lost there were events before, which it has not told. What it is
 * told is printed; exit status 3 when it is sent away.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sample_frames.h"

#define TICK_NS 100000000u
#define CALLS 200

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits for the reader to be there. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (int i = 0; i < 500; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        close(fd);
        usleep(20000);
    }
    fprintf(stderr, "nobody listens at %s\n", path);
    exit(1);
}

/* Calls of a microsecond each, but for one of 10 ms; they all lie in the past. */
static void say_calls(struct pack *out, uint64_t start_ns, uint64_t n_lost)
{
    uint64_t at_ns = start_ns;

    frame_events(out, 0, n_lost, at_ns, 0, 0);
    for (int i = 0; i < CALLS; i++) {
        frame_record(out, RECORD_ENTER, 1000);
        pack_varint(out, 1);
        frame_record(out, RECORD_LEAVE, i == CALLS / 2 ? 10000000 : 1000 + (uint64_t)i % 7);
    }
    frame_close(out);
}

static int send_all(int fd, struct pack *out)
{
    ssize_t n = send(fd, out->data, out->n, MSG_NOSIGNAL);

    out->n = 0;
    return n < 0 ? -1 : 0;
}

/* What the reader says before it closes the connection, or nothing. */
static int hear(int fd)
{
    char frame[600] = "";
    ssize_t n = recv(fd, frame, sizeof frame - 1, 0);

    if (n <= 13)
        return 0;
    printf("%s\n", frame + 13);
    return 3;
}

int main(int argc, char **argv)
{
    struct sample_process process = {.n_ranks = 1};
    struct pack out = {0};
    const char *option;
    int fd, status;

    if (argc < 3)
        return 2;
    option = argc > 3 ? argv[3] : "";
    process.pid = (uint32_t)atoi(argv[2]);
    process.job = process.pid;
    process.start_ns = now_ns() - 2 * TICK_NS;
    fd = connect_to(argv[1]);
    frame_hello(&out, &process, now_ns(), TICK_NS);
    frame_definitions(&out, 1);
    say_calls(&out, process.start_ns, strcmp(option, "lost") == 0 ? 5 : 0);
    frame_tick(&out, process.start_ns + TICK_NS);
    send_all(fd, &out);
    if (strcmp(option, "hold") == 0)
        while (getchar() != EOF)
            ;
    frame_bye(&out);
    send_all(fd, &out);
    shutdown(fd, SHUT_WR);
    status = hear(fd);
    close(fd);
    pack_release(&out);
    return status;
}
