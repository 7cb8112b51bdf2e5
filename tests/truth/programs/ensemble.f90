! Rank 0 prepares what all compute with, and gathers what they have computed: a broadcast and a reduction to one.
module ensemble
    use mpi
    use truth
    implicit none
    integer :: rank, n_ranks, ierr
    character(kind=c_char), target :: in_prepare(8) = ["p", "r", "e", "p", "a", "r", "e", c_null_char]
    character(kind=c_char), target :: in_member(7) = ["m", "e", "m", "b", "e", "r", c_null_char]
contains
    subroutine prepare()
        if (rank == 0) call truth_work(in_prepare, 0.5d0)
    end subroutine

    subroutine member()
        call truth_work(in_member, 3.0d0)
    end subroutine

    subroutine cycle_once(i)
        integer, intent(in) :: i
        real(8) :: parameters(8), mine(8), all(8)
        integer(c_int64_t) :: begin
        call truth_step(i)
        parameters = 1
        call prepare()
        begin = truth_now()
        call MPI_Bcast(parameters, 8, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
        call truth_met(begin, 0, n_ranks, 1, 0)
        mine = parameters
        call member()
        begin = truth_now()
        call MPI_Reduce(mine, all, 8, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
        call truth_met(begin, 0, n_ranks, 1, -2)
    end subroutine
end module

program main
    use ensemble
    implicit none
    integer :: i
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
    call truth_begin(rank, n_ranks)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 0, truth_steps(300) - 1
        call cycle_once(i)
    end do
    call truth_end()
    call MPI_Finalize(ierr)
end program
