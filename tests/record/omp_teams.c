/*
 * A program of OpenMP that says how often it did what, for omp_teams.sh to compare with the
 * trace.
 *
 *     omp_teams STEPS
 *
 * All teams have as many threads as OMP_NUM_THREADS says, nested ones two. Built with
 * -DWITH_MPI it is one of MPI as well, in which the master thread communicates after each step.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

static int n_steps, n_threads;
static long n_tasks_run, n_critical, n_singles;
static double sum;

static double work(int i)
{
    double x = 0;

    for (int k = 0; k < 100 * (i % 7 + 1); k++)
        x += 1.0 / (k + i + 1);
    return x;
}

static void step(int s)
{
#pragma omp parallel
    {
        double own = 0;

#pragma omp for schedule(dynamic, 4)
        for (int i = 0; i < 64; i++)
            own += work(i + s);
#pragma omp critical(adding)
        {
            sum += own;
            n_critical++;
        }
#pragma omp barrier
#pragma omp single
        n_singles++;
    }
}

static void tasks(void)
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 5; i++) {
            /* what the task is given has to arrive: of more than one size, and aligned */
            long number = i;
            double numbers[3] = {i, 2.0 * i, 4.0 * i};

#pragma omp task firstprivate(number, numbers)
            {
                if (numbers[0] + numbers[1] + numbers[2] != 7.0 * (double)number)
                    abort();
#pragma omp atomic
                n_tasks_run++;
            }
        }
#pragma omp taskwait
    }
}

/* Who is done with the region runs tasks that are left. */
static void late_tasks(void)
{
#pragma omp parallel
#pragma omp single nowait
    for (int i = 0; i < 20; i++) {
#pragma omp task
        {
            double x = work(6 + i);

#pragma omp atomic
            n_tasks_run += x > 0;
        }
    }
}

static void nested(void)
{
#pragma omp parallel
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp barrier
        }
    }
}

static void loops(void)
{
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : sum)
    for (int i = 0; i < 64; i++)
        sum += work(i);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 64; i++)
        sum += work(i);
}

int main(int argc, char **argv)
{
    int rank = 0;

    n_steps = argc > 1 ? atoi(argv[1]) : 3;
#ifdef WITH_MPI
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    omp_set_max_active_levels(2);
    n_threads = omp_get_max_threads();
    for (int s = 0; s < n_steps; s++) {
        step(s);
        tasks();
        late_tasks();
        nested();
        loops();
#ifdef WITH_MPI
        MPI_Barrier(MPI_COMM_WORLD);
#endif
    }
    /* forks: of step, tasks, late_tasks, loops (two), nested and in each of its threads */
    printf("rank %d forks %d members %d critical %ld tasks %ld singles %ld sum %.3f\n", rank,
           n_steps * (6 + n_threads), n_steps * (6 * n_threads + 2 * n_threads), n_critical,
           n_tasks_run, n_singles, sum);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
