! As omp_teams.c, in Fortran: says how often it did what.
program omp_teams
    use omp_lib
    implicit none
    integer :: s, i, steps, n_threads
    integer(8) :: n_critical
    double precision :: total
    character(len=16) :: text

    steps = 3
    if (command_argument_count() > 0) then
        call get_command_argument(1, text)
        read (text, *) steps
    end if
    n_threads = omp_get_max_threads()
    n_critical = 0
    total = 0
    do s = 1, steps
        !$omp parallel do schedule(dynamic, 4) reduction(+ : total)
        do i = 1, 64
            total = total + 1.0d0 / dble(i + s)
        end do
        !$omp end parallel do
        !$omp parallel
        !$omp critical
        n_critical = n_critical + 1
        !$omp end critical
        !$omp barrier
        !$omp end parallel
    end do
    print '(a,i0,a,i0,a,i0,a,f0.3)', 'rank 0 forks ', 2 * steps, ' members ', &
        2 * steps * n_threads, ' critical ', n_critical, ' tasks 0 singles 0 sum ', total
end program omp_teams
