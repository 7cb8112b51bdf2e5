/* Rank 0 answers each request with its time until the other rank says it has enough. */
#include "offsets.h"

#include "recorder.h"

#define MOST_ROUNDS 100
#define FEWEST_ROUNDS 10
#define LONGEST_NS 10000000u /* once there are the fewest rounds */
#define TAG 0

static void answer(int rank, MPI_Comm comm)
{
    for (;;) {
        int is_more;
        uint64_t now_ns;

        PMPI_Recv(&is_more, 1, MPI_INT, rank, TAG, comm, MPI_STATUS_IGNORE);
        if (!is_more)
            return;
        now_ns = clock_ns();
        PMPI_Send(&now_ns, 1, MPI_UINT64_T, rank, TAG, comm);
    }
}

static struct clock_offset ask(MPI_Comm comm)
{
    struct clock_offset best = {0};
    uint64_t begin_ns = clock_ns(), shortest_ns = UINT64_MAX;
    int is_more = 1;

    for (int i = 0; i < MOST_ROUNDS; i++) {
        uint64_t sent_ns = clock_ns(), there_ns, back_ns;

        PMPI_Send(&is_more, 1, MPI_INT, 0, TAG, comm);
        PMPI_Recv(&there_ns, 1, MPI_UINT64_T, 0, TAG, comm, MPI_STATUS_IGNORE);
        back_ns = clock_ns();
        if (back_ns - sent_ns < shortest_ns) {
            shortest_ns = back_ns - sent_ns;
            best.time_ns = sent_ns + shortest_ns / 2;
            best.offset_ns = (int64_t)(there_ns - best.time_ns);
            best.error_ns = (double)shortest_ns / 2;
        }
        if (i + 1 >= FEWEST_ROUNDS && back_ns - begin_ns > LONGEST_NS)
            break;
    }
    is_more = 0;
    PMPI_Send(&is_more, 1, MPI_INT, 0, TAG, comm);
    if ((double)best.offset_ns <= best.error_ns && (double)best.offset_ns >= -best.error_ns)
        best.offset_ns = 0;
    return best;
}

struct clock_offset offset_measure(MPI_Comm comm)
{
    struct clock_offset offset = {.time_ns = clock_ns()};
    int rank, size;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 1; i < size; i++) {
        PMPI_Barrier(comm);
        if (rank == 0)
            answer(i, comm);
        else if (rank == i)
            offset = ask(comm);
    }
    return offset;
}

uint64_t offset_apply(uint64_t time_ns, const struct clock_offset *begin,
                      const struct clock_offset *end)
{
    double slope = 0;

    if (end->time_ns > begin->time_ns)
        slope = (double)(end->offset_ns - begin->offset_ns) /
                (double)(end->time_ns - begin->time_ns);
    return time_ns + (uint64_t)begin->offset_ns +
           (uint64_t)(int64_t)(slope * (double)(int64_t)(time_ns - begin->time_ns));
}
