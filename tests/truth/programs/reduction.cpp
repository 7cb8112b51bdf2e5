// A solver: two products and a sum over all ranks in each step, by an operation of its own, as
// conjugate gradients have.
#include "../truth.h"

#include <mpi.h>

namespace
{

// What MPI calls back is no function of the program's: it is the collective's time.
__attribute__((no_instrument_function)) void add(void *in, void *inout, int *n, MPI_Datatype *)
{
    truth_in_collective();
    for (int i = 0; i < *n; i++)
        static_cast<double *>(inout)[i] += static_cast<double *>(in)[i];
}

struct Solver {
    int rank = 0, n_ranks = 0;
    MPI_Op sum = MPI_OP_NULL;

    void apply()
    {
        truth_work("apply", 2.0);
    }
    void precondition()
    {
        truth_work("precondition", 1.0);
    }

    double dot()
    {
        double mine = 1, all = 0;
        truth_work("dot", 0.2);
        int64_t begin = truth_now();
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, sum, MPI_COMM_WORLD);
        truth_met(begin, 0, n_ranks, 1, -1);
        return all;
    }

    void iterate(int i)
    {
        truth_step(i);
        apply();
        dot();
        precondition();
        dot();
    }
};

} // namespace

int main(int argc, char **argv)
{
    Solver solver;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &solver.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &solver.n_ranks);
    MPI_Op_create(add, 1, &solver.sum);
    truth_begin(solver.rank, solver.n_ranks);
    int n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        solver.iterate(i);
    truth_end();
    MPI_Finalize();
}
