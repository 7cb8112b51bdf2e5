! Rows of a plate: each rank sweeps its rows, exchanges borders with the ranks above and below, and all agree on
! the residual.
module heat
    use mpi
    use truth
    implicit none
    integer :: rank, n_ranks, ierr
    real(8) :: border(64), inner(64)
    character(kind=c_char), target :: in_row(4) = ["r", "o", "w", c_null_char]
    character(kind=c_char), target :: in_tables(7) = ["t", "a", "b", "l", "e", "s", c_null_char]
contains
    subroutine row()
        call truth_work(in_row, 0.6d0)
    end subroutine

    subroutine sweep()
        integer :: i
        do i = 1, truth_pieces(5)
            call row()
        end do
    end subroutine

    subroutine tables()
        call truth_work(in_tables, 0.4d0)
    end subroutine

    subroutine swap(other)
        integer, intent(in) :: other
        integer(c_int64_t) :: begin
        if (other < 0 .or. other >= n_ranks) return
        call truth_sends(other)
        begin = truth_now()
        call MPI_Sendrecv(inner, 64, MPI_DOUBLE_PRECISION, other, 0, border, 64, MPI_DOUBLE_PRECISION, other, 0, &
            MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call truth_received(begin, other)
    end subroutine

    subroutine halo()
        call swap(merge(rank + 1, rank - 1, mod(rank, 2) == 0))
        call swap(merge(rank - 1, rank + 1, mod(rank, 2) == 0))
    end subroutine

    subroutine residual()
        real(8) :: mine, all
        integer(c_int64_t) :: begin
        mine = rank
        begin = truth_now()
        call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        call truth_met(begin, 0, n_ranks, 1, -1)
    end subroutine

    subroutine step(i)
        integer, intent(in) :: i
        call truth_step(i)
        call tables()
        call sweep()
        call halo()
        call residual()
    end subroutine
end module

program main
    use heat
    implicit none
    integer :: i
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
    call truth_begin(rank, n_ranks)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 0, truth_steps(300) - 1
        call step(i)
    end do
    call truth_end()
    call MPI_Finalize(ierr)
end program
