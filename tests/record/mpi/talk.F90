! The same communication as talk.c, call by call, for the three ways in which Fortran knows MPI:
! by mpif.h (-DMPIF_H), by "use mpi" (-DUSE_MPI), and by "use mpi_f08", where ierror is left out.
#if defined(MPIF_H) || defined(USE_MPI)
#define COMM integer
#define REQUEST integer
#define MESSAGE integer
#define DATATYPE integer
#define GROUP integer
#define WINDOW integer
#define FILE_ integer
#define STATUS_ integer
#define ONE_STATUS MPI_STATUS_SIZE
#define FOUR_STATUSES MPI_STATUS_SIZE, 4
#define IERR_ ,ierr
#else
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define MESSAGE type(MPI_Message)
#define DATATYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define WINDOW type(MPI_Win)
#define FILE_ type(MPI_File)
#define STATUS_ type(MPI_Status)
#define FOUR_STATUSES 4
#define IERR_
#endif

module talk
#if defined(USE_MPI)
  use mpi
#elif !defined(MPIF_H)
  use mpi_f08
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  integer, parameter :: N = 64
  integer, parameter :: ROOM_ = 4096
  integer, asynchronous, save :: a(N) = 0, b(N) = 0, d(N) = 0, room(ROOM_) = 0
  integer, save :: counts(3) = [1, 2, 3], starts(3) = [0, 1, 3], ones(3) = [1, 1, 1]
  integer, save :: rank, left, right, ierr
contains
  subroutine messages(w)
    COMM, intent(in) :: w
#ifdef ONE_STATUS
    STATUS_ :: status(ONE_STATUS)
#else
    STATUS_ :: status
#endif
    MESSAGE :: message

    if (rank == 0) then
        call MPI_Send(a, 3, MPI_INTEGER, 1, 7, w IERR_)
        call MPI_Ssend(a, 4, MPI_DOUBLE_PRECISION, 1, 8, w IERR_)
        call MPI_Send(a, 5, MPI_INTEGER, 1, 9, w IERR_)
        call MPI_Send(a, 6, MPI_INTEGER, 1, 10, w IERR_)
    else if (rank == 1) then
        call MPI_Recv(b, N, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, w, status IERR_)
        call MPI_Recv(b, N / 2, MPI_DOUBLE_PRECISION, 0, 8, w, MPI_STATUS_IGNORE IERR_)
        call MPI_Probe(0, 9, w, status IERR_)
        call MPI_Recv(b, N, MPI_INTEGER, 0, 9, w, MPI_STATUS_IGNORE IERR_)
        call MPI_Mprobe(0, 10, w, message, MPI_STATUS_IGNORE IERR_)
        call MPI_Mrecv(b, N, MPI_INTEGER, message, MPI_STATUS_IGNORE IERR_)
    end if
    call MPI_Sendrecv(a, 2, MPI_INTEGER, right, 1, b, 2, MPI_INTEGER, left, 1, w, MPI_STATUS_IGNORE IERR_)
    call MPI_Sendrecv_replace(a, 3, MPI_INTEGER, right, 2, left, 2, w, status IERR_)
    call MPI_Send(a, 1, MPI_INTEGER, MPI_PROC_NULL, 3, w IERR_)
    call MPI_Recv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 3, w, status IERR_)
    call MPI_Barrier(w IERR_)
  end subroutine

  subroutine requests(w)
    COMM, intent(in) :: w
    REQUEST :: r(4)
#ifdef ONE_STATUS
    STATUS_ :: status(ONE_STATUS)
#else
    STATUS_ :: status
#endif
    STATUS_ :: statuses(FOUR_STATUSES)
    integer :: index, n_done, indices(4)
    logical :: flag

    call MPI_Irecv(b, N, MPI_INTEGER, left, 4, w, r(1) IERR_)
    call MPI_Isend(a, 8, MPI_INTEGER, right, 4, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, MPI_ANY_SOURCE, 5, w, r(1) IERR_)
    call MPI_Issend(a, 9, MPI_INTEGER, right, 5, w, r(2) IERR_)
    call MPI_Waitall(2, r, statuses IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 6, w, r(1) IERR_)
    call MPI_Send(a, 10, MPI_INTEGER, right, 6, w IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 7, w, r(2) IERR_)
    call MPI_Send(a, 11, MPI_INTEGER, right, 7, w IERR_)
    r(1) = MPI_REQUEST_NULL
    call MPI_Waitany(2, r, index, MPI_STATUS_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 8, w, r(2) IERR_)
    call MPI_Send(a, 12, MPI_INTEGER, right, 8, w IERR_)
    call MPI_Waitsome(2, r, n_done, indices, MPI_STATUSES_IGNORE IERR_)
    call MPI_Waitany(2, r, index, status IERR_)
    call MPI_Test(r(1), flag, MPI_STATUS_IGNORE IERR_)
    call MPI_Testany(2, r, index, flag, MPI_STATUS_IGNORE IERR_)
    call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE IERR_)
    call MPI_Testsome(2, r, n_done, indices, MPI_STATUSES_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 99, w, r(1) IERR_)
    call MPI_Cancel(r(1) IERR_)
    call MPI_Wait(r(1), status IERR_)
    call MPI_Barrier(w IERR_)
  end subroutine

  subroutine persistent(w)
    COMM, intent(in) :: w
    REQUEST :: r(2)
    integer :: i

    call MPI_Recv_init(b, N, MPI_INTEGER, left, 11, w, r(1) IERR_)
    call MPI_Send_init(a, 13, MPI_INTEGER, right, 11, w, r(2) IERR_)
    do i = 1, 3
        call MPI_Startall(2, r IERR_)
        call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    end do
    call MPI_Start(r(1) IERR_)
    call MPI_Start(r(2) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Wait(r(2), MPI_STATUS_IGNORE IERR_)
    call MPI_Request_free(r(1) IERR_)
    call MPI_Request_free(r(2) IERR_)
  end subroutine

  subroutine collectives(w)
    COMM, intent(in) :: w
    DATATYPE :: types(3)
    integer :: bytes(3) = [0, 4, 8]

    types(:) = MPI_INTEGER

    call MPI_Bcast(a, 5, MPI_INTEGER, 1, w IERR_)
    call MPI_Reduce(a, b, 4, MPI_INTEGER, MPI_SUM, 2, w IERR_)
    call MPI_Allreduce(a, b, 4, MPI_INTEGER, MPI_SUM, w IERR_)
    call MPI_Allreduce(MPI_IN_PLACE, b, 4, MPI_INTEGER, MPI_SUM, w IERR_)
    call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, w IERR_)
    call MPI_Scatter(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, w IERR_)
    call MPI_Gatherv(a, rank + 1, MPI_INTEGER, b, counts, starts, MPI_INTEGER, 0, w IERR_)
    call MPI_Scatterv(a, counts, starts, MPI_INTEGER, b, rank + 1, MPI_INTEGER, 0, w IERR_)
    call MPI_Allgather(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, w IERR_)
    call MPI_Allgather(MPI_IN_PLACE, 3, MPI_INTEGER, b, 3, MPI_INTEGER, w IERR_)
    call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, starts, MPI_INTEGER, w IERR_)
    call MPI_Alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, w IERR_)
    call MPI_Alltoallv(a, ones, starts, MPI_INTEGER, b, ones, starts, MPI_INTEGER, w IERR_)
    call MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, w IERR_)
    call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, w IERR_)
    call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, w IERR_)
    call MPI_Scan(a, b, 3, MPI_INTEGER, MPI_SUM, w IERR_)
    call MPI_Exscan(a, b, 3, MPI_INTEGER, MPI_SUM, w IERR_)
  end subroutine

  subroutine more_collectives(w)
    COMM, intent(in) :: w
    REQUEST :: r(3)

    call MPI_Ibarrier(w, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Ibcast(a, 4, MPI_INTEGER, 0, w, r(1) IERR_)
    call MPI_Iallreduce(a, b, 4, MPI_INTEGER, MPI_SUM, w, r(2) IERR_)
    call MPI_Ialltoall(a, 1, MPI_INTEGER, b(9), 1, MPI_INTEGER, w, r(3) IERR_)
    call MPI_Waitall(3, r, MPI_STATUSES_IGNORE IERR_)
  end subroutine

  subroutine communicators(w)
    COMM, intent(in) :: w
    COMM :: made, ring
    GROUP :: group, part
    integer :: dims(1) = [3], members(2) = [0, 1]
    logical :: periods(1) = [.true.]

    call MPI_Comm_dup(w, made IERR_)
    call MPI_Allreduce(a, b, 1, MPI_INTEGER, MPI_MAX, made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Comm_split(w, merge(1, 0, rank == 1), 0, made IERR_)
    call MPI_Bcast(a, 3, MPI_INTEGER, 0, made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Cart_create(w, 1, dims, periods, .false., ring IERR_)
    call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring IERR_)
    call MPI_Sendrecv(a, 2, MPI_INTEGER, right, 1, b, 2, MPI_INTEGER, left, 1, ring, MPI_STATUS_IGNORE IERR_)
    call MPI_Comm_free(ring IERR_)
    call MPI_Comm_group(w, group IERR_)
    call MPI_Group_incl(group, 2, members, part IERR_)
    call MPI_Comm_create(w, part, made IERR_)
    if (rank < 2) then
        call MPI_Barrier(made IERR_)
        call MPI_Comm_free(made IERR_)
        call MPI_Comm_create_group(w, part, 3, made IERR_)
        call MPI_Barrier(made IERR_)
        call MPI_Comm_free(made IERR_)
    end if
  end subroutine

  subroutine others(w)
    COMM, intent(in) :: w
    WINDOW :: win
    FILE_ :: file

    call MPI_Win_create(b, 4_MPI_ADDRESS_KIND * N, 4, MPI_INFO_NULL, w, win IERR_)
    call MPI_Win_fence(0, win IERR_)
    call MPI_Put(a, 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win IERR_)
    call MPI_Win_fence(0, win IERR_)
    call MPI_Get(a, 2, MPI_INTEGER, left, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win IERR_)
    call MPI_Win_fence(0, win IERR_)
    call MPI_Win_free(win IERR_)
    call MPI_File_open(w, 'talk.file', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file IERR_)
    call MPI_File_write_at_all(file, 16_MPI_OFFSET_KIND * rank, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_sync(file IERR_)
    call MPI_Barrier(w IERR_)
    call MPI_File_sync(file IERR_)
    call MPI_File_read_at(file, 16_MPI_OFFSET_KIND * rank, b, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_close(file IERR_)
  end subroutine

  subroutine more_messages(w)
    COMM, intent(in) :: w
    REQUEST :: r(6)
#ifdef ONE_STATUS
    STATUS_ :: status(ONE_STATUS)
#else
    STATUS_ :: status
#endif
    MESSAGE :: message
    logical :: flag

    call MPI_Buffer_attach(room, 4 * ROOM_ IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 21, w, r(1) IERR_)
    call MPI_Bsend(a, 2, MPI_INTEGER, right, 21, w IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 22, w, r(1) IERR_)
    call MPI_Ibsend(a, 3, MPI_INTEGER, right, 22, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 23, w, r(1) IERR_)
    call MPI_Barrier(w IERR_)
    call MPI_Rsend(a, 4, MPI_INTEGER, right, 23, w IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Irecv(b, N, MPI_INTEGER, left, 24, w, r(1) IERR_)
    call MPI_Barrier(w IERR_)
    call MPI_Irsend(a, 5, MPI_INTEGER, right, 24, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Isend(a, 6, MPI_INTEGER, right, 25, w, r(2) IERR_)
    call MPI_Mprobe(left, 25, w, message, status IERR_)
    call MPI_Imrecv(b, N, MPI_INTEGER, message, r(1) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Send(a, 7, MPI_INTEGER, right, 26, w IERR_)
    call MPI_Barrier(w IERR_)
    call MPI_Probe(left, 26, w, MPI_STATUS_IGNORE IERR_)
    call MPI_Iprobe(left, 26, w, flag, status IERR_)
    call MPI_Improbe(left, 26, w, flag, message, status IERR_)
    call MPI_Mrecv(b, N, MPI_INTEGER, message, status IERR_)
    call MPI_Recv_init(b, N, MPI_INTEGER, left, 27, w, r(1) IERR_)
    call MPI_Ssend_init(a, 8, MPI_INTEGER, right, 27, w, r(2) IERR_)
    call MPI_Startall(2, r IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Request_free(r(2) IERR_)
    call MPI_Bsend_init(a, 8, MPI_INTEGER, right, 27, w, r(2) IERR_)
    call MPI_Startall(2, r IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Request_free(r(2) IERR_)
    call MPI_Rsend_init(a, 8, MPI_INTEGER, right, 27, w, r(2) IERR_)
    call MPI_Start(r(1) IERR_)
    call MPI_Barrier(w IERR_)
    call MPI_Start(r(2) IERR_)
    call MPI_Request_get_status(r(2), flag, MPI_STATUS_IGNORE IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Request_free(r(1) IERR_)
    call MPI_Request_free(r(2) IERR_)
  end subroutine

  subroutine all_at_once(w)
    COMM, intent(in) :: w
    DATATYPE :: types(3)
    REQUEST :: r(6)
    integer :: bytes(3) = [0, 4, 8]

    types(:) = MPI_INTEGER

    call MPI_Iscatter(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, 0, w, r(1) IERR_)
    call MPI_Igather(a, 2, MPI_INTEGER, d, 2, MPI_INTEGER, 1, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Iscatterv(a, counts, starts, MPI_INTEGER, b, rank + 1, MPI_INTEGER, 0, w, r(1) IERR_)
    call MPI_Igatherv(a, rank + 1, MPI_INTEGER, d, counts, starts, MPI_INTEGER, 0, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Ireduce(a, b, 4, MPI_INTEGER, MPI_SUM, 2, w, r(1) IERR_)
    call MPI_Iallgather(a, 3, MPI_INTEGER, d, 3, MPI_INTEGER, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Iallgatherv(a, rank + 1, MPI_INTEGER, b, counts, starts, MPI_INTEGER, w, r(1) IERR_)
    call MPI_Ialltoallv(a, ones, starts, MPI_INTEGER, d, ones, starts, MPI_INTEGER, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Ialltoallw(a, ones, bytes, types, b, ones, bytes, types, w, r(1) IERR_)
    call MPI_Ireduce_scatter(a, d, counts, MPI_INTEGER, MPI_SUM, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Ireduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, w, r(1) IERR_)
    call MPI_Iscan(a, d, 3, MPI_INTEGER, MPI_SUM, w, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Iexscan(a, b, 3, MPI_INTEGER, MPI_SUM, w, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
  end subroutine

  subroutine neighbours(w)
    COMM, intent(in) :: w
    COMM :: ring, made
    DATATYPE :: types(2)
    REQUEST :: r(6)
    integer(MPI_ADDRESS_KIND) :: bytes(2) = [0, 4]
    integer :: dims(1) = [3], both(2), degrees(1) = [2], self(1), two(2) = [1, 1], at(2) = [0, 1]
    integer :: nodes(3) = [2, 4, 6], edges(6) = [1, 2, 0, 2, 0, 1]
    logical :: periods(1) = [.true.], keep(1) = [.true.]

    types(:) = MPI_INTEGER
    both = [left, right]
    self = [rank]

    call MPI_Cart_create(w, 1, dims, periods, .false., ring IERR_)
    call MPI_Neighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring IERR_)
    call MPI_Neighbor_allgatherv(a, 1, MPI_INTEGER, b, two, at, MPI_INTEGER, ring IERR_)
    call MPI_Neighbor_alltoallv(a, two, at, MPI_INTEGER, b, two, at, MPI_INTEGER, ring IERR_)
    call MPI_Ineighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Ineighbor_allgatherv(a, 1, MPI_INTEGER, b, two, at, MPI_INTEGER, ring, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Ineighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Ineighbor_alltoallv(a, two, at, MPI_INTEGER, b, two, at, MPI_INTEGER, ring, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Cart_sub(ring, keep, made IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_disconnect(made IERR_)
    call MPI_Comm_free(ring IERR_)
    call MPI_Graph_create(w, 3, nodes, edges, .false., made IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Dist_graph_create(w, 1, self, degrees, both, two, MPI_INFO_NULL, .false., made IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Dist_graph_create_adjacent(w, 2, both, two, 2, both, two, MPI_INFO_NULL, &
      .false., made IERR_)
    call MPI_Neighbor_alltoallw(a, two, bytes, types, b, two, bytes, types, made IERR_)
    call MPI_Ineighbor_alltoallw(a, two, bytes, types, b, two, bytes, types, made, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
  end subroutine

  subroutine more_communicators(w)
    COMM, intent(in) :: w
    COMM :: made, half, between
    REQUEST :: r(6)

    call MPI_Comm_dup_with_info(w, MPI_INFO_NULL, made IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Comm_idup(w, made, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Comm_split(w, merge(1, 0, rank == 1), 0, half IERR_)
    call MPI_Intercomm_create(half, 0, w, 1 - mod(rank, 2), 31, between IERR_)
    call MPI_Barrier(between IERR_)
    call MPI_Intercomm_merge(between, .false., made IERR_)
    call MPI_Barrier(made IERR_)
    call MPI_Comm_free(made IERR_)
    call MPI_Comm_free(between IERR_)
    call MPI_Comm_free(half IERR_)
  end subroutine

  subroutine windows(w)
    COMM, intent(in) :: w
    WINDOW :: win
    GROUP :: group
    REQUEST :: r(6)
    logical :: flag

    call MPI_Comm_group(w, group IERR_)
    call MPI_Win_create(d, 4_MPI_ADDRESS_KIND * N, 4, MPI_INFO_NULL, w, win IERR_)
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win IERR_)
    call MPI_Put(a, 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win IERR_)
    call MPI_Win_flush(right, win IERR_)
    call MPI_Accumulate(a, 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, &
      MPI_SUM, win IERR_)
    call MPI_Win_flush_local(right, win IERR_)
    call MPI_Get_accumulate(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, right, &
      0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, MPI_SUM, win IERR_)
    call MPI_Fetch_and_op(a, b, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, MPI_SUM, win IERR_)
    call MPI_Win_flush_all(win IERR_)
    call MPI_Compare_and_swap(a, a, b, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, win IERR_)
    call MPI_Win_flush_local_all(win IERR_)
    call MPI_Win_sync(win IERR_)
    call MPI_Win_unlock(right, win IERR_)
    call MPI_Win_lock_all(0, win IERR_)
    call MPI_Rput(a, 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, r(1) IERR_)
    call MPI_Raccumulate(a, 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, &
      MPI_SUM, win, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Rget(a, 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, r(1) IERR_)
    call MPI_Rget_accumulate(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, right, &
      0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, MPI_SUM, win, r(2) IERR_)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR_)
    call MPI_Win_unlock_all(win IERR_)
    call MPI_Win_post(group, 0, win IERR_)
    call MPI_Win_start(group, 0, win IERR_)
    call MPI_Win_complete(win IERR_)
    call MPI_Win_wait(win IERR_)
    call MPI_Win_post(group, 0, win IERR_)
    call MPI_Win_start(group, 0, win IERR_)
    call MPI_Win_complete(win IERR_)
    call MPI_Barrier(w IERR_)
    call MPI_Win_test(win, flag IERR_)
    if (flag) then
      call MPI_Win_free(win IERR_)
    end if
    call MPI_Win_create_dynamic(MPI_INFO_NULL, w, win IERR_)
    call MPI_Win_free(win IERR_)
  end subroutine

  subroutine files(w)
    COMM, intent(in) :: w
    FILE_ :: file
    REQUEST :: r(6)

    call MPI_File_open(w, 'more.file', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file IERR_)
    call MPI_File_set_size(file, 4096_MPI_OFFSET_KIND IERR_)
    call MPI_File_preallocate(file, 4096_MPI_OFFSET_KIND IERR_)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', &
      MPI_INFO_NULL IERR_)
    call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET IERR_)
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET IERR_)
    call MPI_File_write(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_all(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_sync(file IERR_)
    call MPI_File_read(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_all(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_ordered(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_ordered(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_shared(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_shared(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_at(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_at_all(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_all_begin(file, a, 2, MPI_INTEGER IERR_)
    call MPI_File_write_all_end(file, a, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_all_begin(file, a, 2, MPI_INTEGER IERR_)
    call MPI_File_read_all_end(file, a, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_ordered_begin(file, a, 2, MPI_INTEGER IERR_)
    call MPI_File_write_ordered_end(file, a, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_ordered_begin(file, a, 2, MPI_INTEGER IERR_)
    call MPI_File_read_ordered_end(file, a, MPI_STATUS_IGNORE IERR_)
    call MPI_File_write_at_all_begin(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER IERR_)
    call MPI_File_write_at_all_end(file, a, MPI_STATUS_IGNORE IERR_)
    call MPI_File_read_at_all_begin(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER IERR_)
    call MPI_File_read_at_all_end(file, a, MPI_STATUS_IGNORE IERR_)
    call MPI_File_iwrite(file, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iread(file, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iwrite_all(file, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iread_all(file, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iwrite_shared(file, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iread_shared(file, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iwrite_at(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iread_at(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iwrite_at_all(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_iread_at_all(file, 8_MPI_OFFSET_KIND, a, 2, MPI_INTEGER, r(1) IERR_)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR_)
    call MPI_File_close(file IERR_)
    call MPI_Barrier(w IERR_)
    if (rank == 0) then
      call MPI_File_delete('more.file', MPI_INFO_NULL IERR_)
    end if
  end subroutine

end module

program main
  use talk
#if defined(USE_MPI)
  use mpi
#elif !defined(MPIF_H)
  use mpi_f08
#endif
  implicit none

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR_)
  left = mod(rank + 2, 3)
  right = mod(rank + 1, 3)
  call messages(MPI_COMM_WORLD)
  call requests(MPI_COMM_WORLD)
  call persistent(MPI_COMM_WORLD)
  call collectives(MPI_COMM_WORLD)
  call more_collectives(MPI_COMM_WORLD)
  call communicators(MPI_COMM_WORLD)
  call others(MPI_COMM_WORLD)
  call more_messages(MPI_COMM_WORLD)
  call all_at_once(MPI_COMM_WORLD)
  call neighbours(MPI_COMM_WORLD)
  call more_communicators(MPI_COMM_WORLD)
  call windows(MPI_COMM_WORLD)
  call files(MPI_COMM_WORLD)
  call MPI_Finalize(ierr)
end program
