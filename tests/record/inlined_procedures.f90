! Procedures that are inlined around calls of MPI: of a module, and within a procedure. Prints
! "PROCEDURE CALLS".
module halo
  use mpi
  implicit none
  integer, volatile :: sink = 0
contains
  subroutine send()
    integer :: error
    call MPI_Barrier(MPI_COMM_SELF, error)
    sink = sink + 1
  end subroutine

  subroutine step(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      call send()
      call wait()
    end do
  contains
    subroutine wait()
      integer :: error
      call MPI_Barrier(MPI_COMM_SELF, error)
      sink = sink + 1
    end subroutine
  end subroutine
end module

program inlined
  use halo
  implicit none
  integer :: error
  call MPI_Init(error)
  call step(50)
  call MPI_Finalize(error)
  print '(a)', 'send 50', 'wait 50'
end program
