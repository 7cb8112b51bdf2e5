/*
 * Bytes between processes of MPI. All waiting is asking now and then, with naps that get
 * longer: libraries of MPI wait by asking all the time, which takes the processor from whoever
 * is waited for where there are more processes than processors. What is long moves only while
 * it is asked for, piece by piece, so naps stay short while it may have any pieces left.
 *
 * A nap, and not a yield: who yields waits for all others on the processor, a few ms each, who
 * naps has the processor back when it wakes.
 */
#include "base/process_group_transport.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MAX_AT_ONCE_BYTES ((size_t)64 << 20) /* bytes; MPI counts with int */
#define EAGER_ASKS 100u                      /* before each nap */
#define SHORT_NAPS 20u                       /* before they get longer, */
#define PIECE 16384u                         /* and one more for so many bytes */
#ifdef OPEN_MPI
#define IS_OPEN_MPI 1
#else
#define IS_OPEN_MPI 0
#endif
#define SHORTEST_NAP_US 5u
#define LONGEST_NAP_US 200u

extern const struct process_group_transport process_group_transport;

static void wait_for(MPI_Request *request, size_t bytes)
{
    size_t n_short = SHORT_NAPS + bytes / PIECE;
    unsigned nap_us = SHORTEST_NAP_US;
    int is_done = 0;

    for (;;) {
        for (unsigned i = 0; i == 0 || (n_short > 0 && i < EAGER_ASKS); i++) {
            MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
            if (is_done)
                return;
        }
        usleep(nap_us);
        if (n_short > 0)
            n_short--;
        else
            nap_us = 2 * nap_us < LONGEST_NAP_US ? 2 * nap_us : LONGEST_NAP_US;
    }
}

static int join(unsigned *size, unsigned *me)
{
    int threads, n, rank;

    prctl(PR_SET_TIMERSLACK, 1000); /* ns; else the shortest nap takes 50 us more */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &threads);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *size = (unsigned)n;
    *me = (unsigned)rank;
    return threads >= MPI_THREAD_SERIALIZED ? 0 : -1;
}

static void send_bytes(unsigned to, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        size_t n = bytes < MAX_AT_ONCE_BYTES ? bytes : MAX_AT_ONCE_BYTES;
        MPI_Request request;

        MPI_Isend(at, (int)n, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD, &request);
        wait_for(&request, n);
        at += n;
        bytes -= n;
    }
}

static void receive_bytes(unsigned from, void *data, size_t bytes)
{
    char *at = data;

    while (bytes > 0) {
        size_t n = bytes < MAX_AT_ONCE_BYTES ? bytes : MAX_AT_ONCE_BYTES;
        MPI_Request request;

        MPI_Irecv(at, (int)n, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, &request);
        wait_for(&request, n);
        at += n;
        bytes -= n;
    }
}

/* Says a line of the protocol of MPICH's launchers (PMI 1) and waits for the answer. Returns
 * false where the process has no such launcher. */
static bool ask_launcher(const char *words)
{
    const char *fd = getenv("PMI_FD");
    ssize_t n = (ssize_t)strlen(words);
    char c = 0;

    if (fd == NULL || write(atoi(fd), words, (size_t)n) != n)
        return false;
    while (c != '\n' && read(atoi(fd), &c, 1) == 1)
        ;
    return c == '\n';
}

/*
 * Over TCP between nodes, MPICH 4.0 with UCX may never end in MPI_Finalize: there a process
 * asks all others whether everything has arrived, answers until it has its own answers, then
 * waits for the launcher and answers nobody. A question that is on its way for long, as its
 * connection is still being made, finds nobody who answers. So the process says to the launcher
 * what MPI_Finalize would, and does not call it: when all have met there, after a barrier, no
 * message is on its way any more.
 */
static bool leave_by_launcher(void)
{
    return !IS_OPEN_MPI && ask_launcher("cmd=barrier_in\n") && ask_launcher("cmd=finalize\n");
}

static void leave(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(&request,
             0); /* so that MPI_Finalize, which does not nap, has nobody to wait for */
    if (!leave_by_launcher())
        MPI_Finalize();
}

__attribute__((visibility("default")))
const struct process_group_transport process_group_transport = {
    .name = IS_OPEN_MPI ? "Open MPI" : "MPICH",
    .join = join,
    .send = send_bytes,
    .receive = receive_bytes,
    .leave = leave,
};
