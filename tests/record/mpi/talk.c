/*
 * The same communication as talk.F90, call by call: what the tracer records of it must not
 * depend on the language, nor on the MPI. Three ranks.
 *
 * Nothing here depends on who is faster: what is received from anybody can come from one only.
 */
#include <mpi.h>

#define N 64

static int a[N], b[N], counts[3] = {1, 2, 3}, starts[3] = {0, 1, 3}, ones[3] = {1, 1, 1};
static int rank, left, right;

static void messages(MPI_Comm w)
{
    MPI_Status status;
    MPI_Message message;

    if (rank == 0) {
        MPI_Send(a, 3, MPI_INT, 1, 7, w);
        MPI_Ssend(a, 4, MPI_DOUBLE, 1, 8, w);
        MPI_Send(a, 5, MPI_INT, 1, 9, w);
        MPI_Send(a, 6, MPI_INT, 1, 10, w);
    } else if (rank == 1) {
        MPI_Recv(b, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, w, &status);
        MPI_Recv(b, N / 2, MPI_DOUBLE, 0, 8, w, MPI_STATUS_IGNORE);
        MPI_Probe(0, 9, w, &status);
        MPI_Recv(b, N, MPI_INT, 0, 9, w, MPI_STATUS_IGNORE);
        MPI_Mprobe(0, 10, w, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(b, N, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(a, 2, MPI_INT, right, 1, b, 2, MPI_INT, left, 1, w, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(a, 3, MPI_INT, right, 2, left, 2, w, &status);
    MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, 3, w);
    MPI_Recv(b, 1, MPI_INT, MPI_PROC_NULL, 3, w, &status);
    MPI_Barrier(w);
}

static void requests(MPI_Comm w)
{
    MPI_Request r[4];
    MPI_Status status, statuses[4];
    int index, flag, n, indices[4];

    MPI_Irecv(b, N, MPI_INT, left, 4, w, &r[0]);
    MPI_Isend(a, 8, MPI_INT, right, 4, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Irecv(b, N, MPI_INT, MPI_ANY_SOURCE, 5, w, &r[0]);
    MPI_Issend(a, 9, MPI_INT, right, 5, w, &r[1]);
    MPI_Waitall(2, r, statuses);
    MPI_Irecv(b, N, MPI_INT, left, 6, w, &r[0]);
    MPI_Send(a, 10, MPI_INT, right, 6, w);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Irecv(b, N, MPI_INT, left, 7, w, &r[1]);
    MPI_Send(a, 11, MPI_INT, right, 7, w);
    r[0] = MPI_REQUEST_NULL;
    MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    MPI_Irecv(b, N, MPI_INT, left, 8, w, &r[1]);
    MPI_Send(a, 12, MPI_INT, right, 8, w);
    MPI_Waitsome(2, r, &n, indices, MPI_STATUSES_IGNORE);
    MPI_Waitany(2, r, &index, &status);
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    MPI_Testsome(2, r, &n, indices, MPI_STATUSES_IGNORE);
    MPI_Irecv(b, N, MPI_INT, left, 99, w, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &status);
    MPI_Barrier(w);
}

static void persistent(MPI_Comm w)
{
    MPI_Request r[2];

    MPI_Recv_init(b, N, MPI_INT, left, 11, w, &r[0]);
    MPI_Send_init(a, 13, MPI_INT, right, 11, w, &r[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&r[0]);
    MPI_Start(&r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void collectives(MPI_Comm w)
{
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    int bytes[3] = {0, 4, 8};

    MPI_Bcast(a, 5, MPI_INT, 1, w);
    MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, 2, w);
    MPI_Allreduce(a, b, 4, MPI_INT, MPI_SUM, w);
    MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, w);
    MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 0, w);
    MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, 0, w);
    MPI_Gatherv(a, rank + 1, MPI_INT, b, counts, starts, MPI_INT, 0, w);
    MPI_Scatterv(a, counts, starts, MPI_INT, b, rank + 1, MPI_INT, 0, w);
    MPI_Allgather(a, 3, MPI_INT, b, 3, MPI_INT, w);
    MPI_Allgather(MPI_IN_PLACE, 3, MPI_INT, b, 3, MPI_INT, w);
    MPI_Allgatherv(a, rank + 1, MPI_INT, b, counts, starts, MPI_INT, w);
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, w);
    MPI_Alltoallv(a, ones, starts, MPI_INT, b, ones, starts, MPI_INT, w);
    MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, w);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, w);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, w);
    MPI_Scan(a, b, 3, MPI_INT, MPI_SUM, w);
    MPI_Exscan(a, b, 3, MPI_INT, MPI_SUM, w);
}

static void more_collectives(MPI_Comm w)
{
    MPI_Request r[3];

    MPI_Ibarrier(w, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Ibcast(a, 4, MPI_INT, 0, w, &r[0]);
    MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, w, &r[1]);
    MPI_Ialltoall(a, 1, MPI_INT, b + 8, 1, MPI_INT, w, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

static void communicators(MPI_Comm w)
{
    MPI_Comm made, ring;
    MPI_Group group, part;
    int dims[1] = {3}, periods[1] = {1}, members[2] = {0, 1};

    MPI_Comm_dup(w, &made);
    MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAX, made);
    MPI_Comm_free(&made);
    MPI_Comm_split(w, rank == 1, 0, &made);
    MPI_Bcast(a, 3, MPI_INT, 0, made);
    MPI_Comm_free(&made);
    MPI_Cart_create(w, 1, dims, periods, 0, &ring);
    MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring);
    MPI_Sendrecv(a, 2, MPI_INT, right, 1, b, 2, MPI_INT, left, 1, ring, MPI_STATUS_IGNORE);
    MPI_Comm_free(&ring);
    MPI_Comm_group(w, &group);
    MPI_Group_incl(group, 2, members, &part);
    MPI_Comm_create(w, part, &made);
    if (rank < 2) {
        MPI_Barrier(made);
        MPI_Comm_free(&made);
        MPI_Comm_create_group(w, part, 3, &made);
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
}

static void others(MPI_Comm w)
{
    MPI_Win win;
    MPI_File file;

    MPI_Win_create(b, sizeof b, sizeof b[0], MPI_INFO_NULL, w, &win);
    MPI_Win_fence(0, win);
    MPI_Put(a, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Get(a, 2, MPI_INT, left, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_File_open(w, "talk.file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 16 * (MPI_Offset)rank, a, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 16 * (MPI_Offset)rank, b, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    left = (rank + 2) % 3;
    right = (rank + 1) % 3;
    messages(MPI_COMM_WORLD);
    requests(MPI_COMM_WORLD);
    persistent(MPI_COMM_WORLD);
    collectives(MPI_COMM_WORLD);
    more_collectives(MPI_COMM_WORLD);
    communicators(MPI_COMM_WORLD);
    others(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
