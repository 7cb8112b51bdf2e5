! Two sends in one subroutine.
subroutine exchange(rank, times)
    use mpi
    implicit none
    integer, intent(in) :: rank, times
    integer :: here, there, request, status(MPI_STATUS_SIZE), ierror, i

    here = rank
    do i = 1, times
        call MPI_Irecv(there, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, request, ierror)
        call MPI_Send(here, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, ierror) ! first send
        call MPI_Wait(request, status, ierror)
        if (mod(i, 2) == 1) cycle
        call MPI_Irecv(there, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, request, ierror)
        call MPI_Send(here, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, ierror) ! second send
        call MPI_Wait(request, status, ierror)
    end do
end subroutine exchange

program sites
    use mpi
    implicit none
    integer :: rank, ierror

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call exchange(rank, 100)
    call MPI_Finalize(ierror)
end program sites
