! truth.h for programs in Fortran.
module truth
    use iso_c_binding
    implicit none
    interface
        subroutine truth_begin(rank, n_ranks) bind(c)
            import
            integer(c_int), value :: rank, n_ranks
        end subroutine
        subroutine truth_end() bind(c)
        end subroutine
        integer(c_int) function truth_steps(otherwise) bind(c)
            import
            integer(c_int), value :: otherwise
        end function
        subroutine truth_step(step) bind(c)
            import
            integer(c_int), value :: step
        end subroutine
        subroutine work_c(function, ms) bind(c, name="truth_work")
            import
            type(c_ptr), value :: function
            real(c_double), value :: ms
        end subroutine
        integer(c_int) function truth_pieces(base) bind(c)
            import
            integer(c_int), value :: base
        end function
        integer(c_int64_t) function truth_now() bind(c)
            import
        end function
        subroutine truth_sends(peer) bind(c)
            import
            integer(c_int), value :: peer
        end subroutine
        subroutine truth_received(begin, peer) bind(c)
            import
            integer(c_int64_t), value :: begin
            integer(c_int), value :: peer
        end subroutine
        subroutine truth_met(begin, first, n, stride, root) bind(c)
            import
            integer(c_int64_t), value :: begin
            integer(c_int), value :: first, n, stride, root
        end subroutine
    end interface
contains
    ! The name is one that stays, as the log keeps its address: a character array with target, ended by c_null_char.
    subroutine truth_work(function, ms)
        character(kind=c_char), intent(in), target :: function(*)
        real(c_double), intent(in) :: ms
        call work_c(c_loc(function), ms)
    end subroutine
end module
