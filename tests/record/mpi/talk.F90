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
  integer, asynchronous, save :: a(N) = 0, b(N) = 0
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
    call MPI_File_read_at(file, 16_MPI_OFFSET_KIND * rank, b, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERR_)
    call MPI_File_close(file IERR_)
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
  call MPI_Finalize(ierr)
end program
