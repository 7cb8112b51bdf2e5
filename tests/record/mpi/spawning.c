/* spawning -- two ranks that start two more. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm others;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&others);
    if (others == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                       MPI_ERRCODES_IGNORE);
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
