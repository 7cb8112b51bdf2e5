/* threads -- four threads that talk at once, with MPI_THREAD_MULTIPLE; and an MPI that is not
 * asked for that is not tried. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 200

static MPI_Comm own[THREADS];

static void *talk(void *arg)
{
    int tag = (int)(long)arg, rank, out = tag, in;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request r[2];

        MPI_Irecv(&in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&out, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, own[tag]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
        for (long i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, talk, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    }
    MPI_Finalize();
    puts(provided == MPI_THREAD_MULTIPLE ? "multiple" : "single");
    return 0;
}
