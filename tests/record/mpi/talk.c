/*
 * The same communication as talk.F90, call by call: what the tracer records of it must not
 * depend on the language, nor on the MPI. Three ranks.
 *
 * Nothing here depends on who is faster: what is received from anybody can come from one only.
 * MPI_Neighbor_alltoallw is called on a graph, as mpi_f08 of MPICH 4.0 fails on a grid.
 */
#include <mpi.h>

#define N 64
#define ROOM 4096

static int a[N], b[N], d[N], room[ROOM];
static int counts[3] = {1, 2, 3}, starts[3] = {0, 1, 3}, ones[3] = {1, 1, 1};
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
    MPI_File_sync(file);
    MPI_Barrier(w);
    MPI_File_sync(file);
    MPI_File_read_at(file, 16 * (MPI_Offset)rank, b, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void more_messages(MPI_Comm w)
{
    MPI_Request r[6];
    MPI_Status status;
    MPI_Message message;
    int flag;

    MPI_Buffer_attach(room, 4 * ROOM);
    MPI_Irecv(b, N, MPI_INT, left, 21, w, &r[0]);
    MPI_Bsend(a, 2, MPI_INT, right, 21, w);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Irecv(b, N, MPI_INT, left, 22, w, &r[0]);
    MPI_Ibsend(a, 3, MPI_INT, right, 22, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Irecv(b, N, MPI_INT, left, 23, w, &r[0]);
    MPI_Barrier(w);
    MPI_Rsend(a, 4, MPI_INT, right, 23, w);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Irecv(b, N, MPI_INT, left, 24, w, &r[0]);
    MPI_Barrier(w);
    MPI_Irsend(a, 5, MPI_INT, right, 24, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Isend(a, 6, MPI_INT, right, 25, w, &r[1]);
    MPI_Mprobe(left, 25, w, &message, &status);
    MPI_Imrecv(b, N, MPI_INT, &message, &r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Send(a, 7, MPI_INT, right, 26, w);
    MPI_Barrier(w);
    MPI_Probe(left, 26, w, MPI_STATUS_IGNORE);
    MPI_Iprobe(left, 26, w, &flag, &status);
    MPI_Improbe(left, 26, w, &flag, &message, &status);
    MPI_Mrecv(b, N, MPI_INT, &message, &status);
    MPI_Recv_init(b, N, MPI_INT, left, 27, w, &r[0]);
    MPI_Ssend_init(a, 8, MPI_INT, right, 27, w, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[1]);
    MPI_Bsend_init(a, 8, MPI_INT, right, 27, w, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[1]);
    MPI_Rsend_init(a, 8, MPI_INT, right, 27, w, &r[1]);
    MPI_Start(&r[0]);
    MPI_Barrier(w);
    MPI_Start(&r[1]);
    MPI_Request_get_status(r[1], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void all_at_once(MPI_Comm w)
{
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Request r[6];
    int bytes[3] = {0, 4, 8};

    MPI_Iscatter(a, 2, MPI_INT, b, 2, MPI_INT, 0, w, &r[0]);
    MPI_Igather(a, 2, MPI_INT, d, 2, MPI_INT, 1, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Iscatterv(a, counts, starts, MPI_INT, b, rank + 1, MPI_INT, 0, w, &r[0]);
    MPI_Igatherv(a, rank + 1, MPI_INT, d, counts, starts, MPI_INT, 0, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Ireduce(a, b, 4, MPI_INT, MPI_SUM, 2, w, &r[0]);
    MPI_Iallgather(a, 3, MPI_INT, d, 3, MPI_INT, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Iallgatherv(a, rank + 1, MPI_INT, b, counts, starts, MPI_INT, w, &r[0]);
    MPI_Ialltoallv(a, ones, starts, MPI_INT, d, ones, starts, MPI_INT, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Ialltoallw(a, ones, bytes, types, b, ones, bytes, types, w, &r[0]);
    MPI_Ireduce_scatter(a, d, counts, MPI_INT, MPI_SUM, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Ireduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, w, &r[0]);
    MPI_Iscan(a, d, 3, MPI_INT, MPI_SUM, w, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Iexscan(a, b, 3, MPI_INT, MPI_SUM, w, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

static void neighbours(MPI_Comm w)
{
    MPI_Comm ring, made;
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request r[6];
    MPI_Aint bytes[2] = {0, 4};
    int dims[1] = {3}, periods[1] = {1}, keep[1] = {1}, both[2], degrees[1] = {2}, self[1];
    int nodes[3] = {2, 4, 6}, edges[6] = {1, 2, 0, 2, 0, 1}, two[2] = {1, 1}, at[2] = {0, 1};

    both[0] = left;
    both[1] = right;
    self[0] = rank;
    MPI_Cart_create(w, 1, dims, periods, 0, &ring);
    MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring);
    MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, two, at, MPI_INT, ring);
    MPI_Neighbor_alltoallv(a, two, at, MPI_INT, b, two, at, MPI_INT, ring);
    MPI_Ineighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Ineighbor_allgatherv(a, 1, MPI_INT, b, two, at, MPI_INT, ring, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Ineighbor_alltoallv(a, two, at, MPI_INT, b, two, at, MPI_INT, ring, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Cart_sub(ring, keep, &made);
    MPI_Barrier(made);
    MPI_Comm_disconnect(&made);
    MPI_Comm_free(&ring);
    MPI_Graph_create(w, 3, nodes, edges, 0, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Dist_graph_create(w, 1, self, degrees, both, two, MPI_INFO_NULL, 0, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Dist_graph_create_adjacent(w, 2, both, two, 2, both, two, MPI_INFO_NULL, 0, &made);
    MPI_Neighbor_alltoallw(a, two, bytes, types, b, two, bytes, types, made);
    MPI_Ineighbor_alltoallw(a, two, bytes, types, b, two, bytes, types, made, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
}

static void more_communicators(MPI_Comm w)
{
    MPI_Comm made, half, between;
    MPI_Request r[6];

    MPI_Comm_dup_with_info(w, MPI_INFO_NULL, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Comm_idup(w, &made, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Comm_split(w, rank == 1, 0, &half);
    MPI_Intercomm_create(half, 0, w, 1 - rank % 2, 31, &between);
    MPI_Barrier(between);
    MPI_Intercomm_merge(between, 0, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void windows(MPI_Comm w)
{
    MPI_Win win;
    MPI_Group group;
    MPI_Request r[6];
    int flag;

    MPI_Comm_group(w, &group);
    MPI_Win_create(d, sizeof d, sizeof d[0], MPI_INFO_NULL, w, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Put(a, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    MPI_Win_flush(right, win);
    MPI_Accumulate(a, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_local(right, win);
    MPI_Get_accumulate(a, 2, MPI_INT, b, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(a, b, MPI_INT, right, 0, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Compare_and_swap(a, a, b, MPI_INT, right, 0, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock(right, win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(a, 2, MPI_INT, right, 0, 2, MPI_INT, win, &r[0]);
    MPI_Raccumulate(a, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_SUM, win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Rget(a, 2, MPI_INT, right, 0, 2, MPI_INT, win, &r[0]);
    MPI_Rget_accumulate(a, 2, MPI_INT, b, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_SUM, win,
                        &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Win_complete(win);
    MPI_Barrier(w);
    MPI_Win_test(win, &flag);
    if (flag)
        MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, w, &win);
    MPI_Win_free(&win);
}

static void files(MPI_Comm w)
{
    MPI_File file;
    MPI_Request r[6];

    MPI_File_open(w, "more.file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 4096);
    MPI_File_preallocate(file, 4096);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_write(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_read(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_all(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_ordered(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_shared(file, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 8, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 8, a, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, a, 2, MPI_INT);
    MPI_File_write_all_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_read_all_begin(file, a, 2, MPI_INT);
    MPI_File_read_all_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_write_ordered_begin(file, a, 2, MPI_INT);
    MPI_File_write_ordered_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_read_ordered_begin(file, a, 2, MPI_INT);
    MPI_File_read_ordered_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(file, 8, a, 2, MPI_INT);
    MPI_File_write_at_all_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, 8, a, 2, MPI_INT);
    MPI_File_read_at_all_end(file, a, MPI_STATUS_IGNORE);
    MPI_File_iwrite(file, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iread(file, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iwrite_all(file, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iread_all(file, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iwrite_shared(file, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iread_shared(file, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 8, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 8, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iwrite_at_all(file, 8, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, 8, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(w);
    if (rank == 0)
        MPI_File_delete("more.file", MPI_INFO_NULL);
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
    more_messages(MPI_COMM_WORLD);
    all_at_once(MPI_COMM_WORLD);
    neighbours(MPI_COMM_WORLD);
    more_communicators(MPI_COMM_WORLD);
    windows(MPI_COMM_WORLD);
    files(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
