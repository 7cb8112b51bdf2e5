/* A communicator of our own: our messages never meet the program's. */
#include "team.h"

#include <mpi.h>

#define TAG 0

static MPI_Comm comm;
static int rank, size;

void team_form(void)
{
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
}

void team_part(void)
{
    PMPI_Comm_free(&comm);
}

int team_rank(void)
{
    return rank;
}

int team_size(void)
{
    return size;
}

bool team_is_mpi(void)
{
    return true;
}

bool team_is_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;

    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

void team_broadcast(void *data, size_t bytes)
{
    PMPI_Bcast(data, (int)bytes, MPI_BYTE, 0, comm);
}

void team_barrier(void)
{
    PMPI_Barrier(comm);
}

bool team_all(bool is_true)
{
    int mine = is_true, all = 0;

    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

void team_gather(const void *own, size_t bytes, void *all)
{
    PMPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, comm);
}

void team_send(int to, const void *data, size_t bytes)
{
    PMPI_Send(data, (int)bytes, MPI_BYTE, to, TAG, comm);
}

void team_receive(int from, void *data, size_t bytes)
{
    PMPI_Recv(data, (int)bytes, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
}
