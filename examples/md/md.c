/*
 * md -- the program: options, the loop over the steps, and what it prints.
 *
 * One call of step() is what a person would look at in a trace. Its sub-functions have the
 * names of what they do. --pace makes each step last at least so long, by sleeping: more ranks
 * than cores then share them without getting in each other's way.
 */
#include "md.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 500000 /* one sleep of wait_for_pace */

void fail(const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "md: ");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

NOT_TRACED void *resize(void *old, long n, size_t width)
{
    void *grown = reallocarray(old, n > 0 ? (size_t)n : 1, width);

    if (grown == NULL)
        fail("out of memory");
    return grown;
}

NOT_TRACED static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How long this rank was ready to run and had no core; 0 where the kernel does not say. */
NOT_TRACED static double seconds_without_core(void)
{
    FILE *file = fopen("/proc/self/schedstat", "r");
    double on_core_ns, waited_ns = 0;

    if (file && fscanf(file, "%lf %lf", &on_core_ns, &waited_ns) != 2)
        waited_ns = 0;
    if (file)
        fclose(file);
    return 1e-9 * waited_ns;
}

/* ------------------------------------------------------------------------------- one step */

/* A snapshot of what rank 0 owns, in the format XYZ: rare, and normal. */
static void write_snapshot(const struct md *md)
{
    FILE *file = fopen(md->opt.output, "w");

    if (file == NULL)
        fail("cannot write '%s'", md->opt.output);
    fprintf(file, "%d\nstep %ld\n", md->n, md->step);
    for (int i = 0; i < md->n; i++)
        fprintf(file, "Ar %.4f %.4f %.4f\n", md->position[i][0], md->position[i][1],
                md->position[i][2]);
    if (fclose(file) != 0)
        fail("cannot write '%s'", md->opt.output);
}

static void write_output(const struct md *md)
{
    printf("%8ld  %11.6f  %13.7f  %10.2e\n", md->step, md->temperature, md->energy,
           fabs(md->energy / md->first_energy - 1));
    fflush(stdout);
    if (md->opt.output)
        write_snapshot(md);
}

/* Sleep the rest of the step away, in naps, so that a pause in the middle is not made up for:
 * the number of naps is fixed when the first begins. */
static void wait_for_pace(const struct md *md, double begin_s)
{
    double rest_s = begin_s + 1e-3 * md->opt.pace_ms - seconds(CLOCK_MONOTONIC);
    long naps = (long)(rest_s * 1e9 / NAP_NS);

    for (long i = 0; i < naps; i++)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

NOT_TRACED static bool is_told_to_end(const struct md *md)
{
    return md->opt.until && access(md->opt.until, F_OK) == 0;
}

static void step(struct md *md, double stop_s)
{
    double begin_s = seconds(CLOCK_MONOTONIC);

    integrate_positions(md);
    if (md->step % md->opt.rebuild_every == 0) {
        migrate(md);
        choose_ghosts(md);
        rebuild_neighbours(md);
    } else {
        exchange_halo(md);
    }
    pair_forces(md);
    integrate_velocities(md);
    if (md->step % md->opt.reduce_every == 0)
        reduce_energy(md, (stop_s > 0 && begin_s >= stop_s) || is_told_to_end(md));
    if (md->step % md->opt.write_every == 0 && md->rank == 0)
        write_output(md);
    if (md->opt.pace_ms > 0)
        wait_for_pace(md, begin_s);
}

/* -------------------------------------------------------------------------------- the run */

static void prepare(struct md *md)
{
    domain_init(md);
    create_particles(md);
    migrate(md);
    choose_ghosts(md);
    rebuild_neighbours(md);
    pair_forces(md);
    reduce_energy(md, false);
    md->first_energy = md->energy;
    if (md->rank == 0)
        printf("%lld particles on %d ranks (%d x %d x %d)\n%8s  %11s  %13s  %10s\n",
               md->n_total, md->size, md->grid[0], md->grid[1], md->grid[2], "step",
               "temperature", "energy", "drift");
}

static void run(struct md *md)
{
    double begin_s = seconds(CLOCK_MONOTONIC), begin_cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double stop_s = md->opt.seconds > 0 ? begin_s + md->opt.seconds : 0;
    double wall_ms, sum[2], without_core_s = seconds_without_core();

    while (!md->is_time_up && (md->opt.steps == 0 || md->step < md->opt.steps)) {
        md->step++;
        step(md, stop_s);
    }
    reduce_energy(md, false);
    wall_ms = 1e3 * (seconds(CLOCK_MONOTONIC) - begin_s) / (double)md->step;
    sum[0] = 1e3 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_s) / (double)md->step;
    sum[1] = seconds_without_core() - without_core_s;
    MPI_Reduce(md->rank == 0 ? MPI_IN_PLACE : sum, sum, 2, MPI_DOUBLE, MPI_SUM, 0, md->comm);
    if (md->rank == 0)
        printf("%ld steps, %.3f ms each, %.3f ms of processor time per rank\n"
               "each rank was ready to run but without a core for %.2f s\n"
               "energy %.9f, drift %.2e\n",
               md->step, wall_ms, sum[0] / md->size, sum[1] / md->size, md->energy,
               fabs(md->energy / md->first_energy - 1));
}

static void release(struct md *md)
{
    domain_release(md);
    free(md->position);
    free(md->velocity);
    free(md->force);
    free(md->neighbour);
    free(md->first_neighbour);
    free(md->cell_start);
    free(md->cell_of);
    free(md->member);
    free(md->member_position);
}

/* -------------------------------------------------------------------------------- options */

static const char usage[] =
    "usage: mpirun -n RANKS md [options]\n"
    "  --steps N        end after N steps (default 1000)\n"
    "  --seconds S      end after S seconds instead\n"
    "  --until FILE     end when there is such a file instead\n"
    "  --particles N    per rank, at least (default 4000)\n"
    "  --pace MS        each step takes at least MS milliseconds (default 0)\n"
    "  --seed N         of the velocities (default 1)\n"
    "  --slower P       the forces of P % of the particles are computed twice (default 0)\n"
    "  --output FILE    write a snapshot of rank 0 now and then (default: none)\n"
    "  --rebuild N --reduce N --write N   every how many steps (default 10, 10, 200)\n";

static const struct option long_options[] = {
    {"steps", required_argument, NULL, 's'},
    {"seconds", required_argument, NULL, 't'},
    {"until", required_argument, NULL, 'u'},
    {"particles", required_argument, NULL, 'n'},
    {"pace", required_argument, NULL, 'p'},
    {"seed", required_argument, NULL, 'r'},
    {"output", required_argument, NULL, 'o'},
    {"rebuild", required_argument, NULL, 'b'},
    {"reduce", required_argument, NULL, 'e'},
    {"write", required_argument, NULL, 'w'},
    {"slower", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A number within bounds. */
static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= least && value <= most))
        fail("not a number from %g to %g: '%s'", least, most, text);
    return value;
}

/* False if the program is to end now: help was printed. */
static bool read_option(struct options *o, int letter)
{
    switch (letter) {
    case 's':
        o->steps = (long)number(optarg, 1, 1e12);
        return true;
    case 't':
        o->seconds = number(optarg, 0.001, 1e9);
        return true;
    case 'u':
        o->until = optarg;
        return true;
    case 'n':
        o->particles = (int)number(optarg, 1, 1e7);
        return true;
    case 'p':
        o->pace_ms = number(optarg, 0, 1e6);
        return true;
    case 'r':
        o->seed = (uint64_t)number(optarg, 0, 1e15);
        return true;
    case 'f':
        o->slower_percent = number(optarg, 0, 1e4);
        return true;
    case 'o':
        o->output = optarg;
        return true;
    case 'b':
        o->rebuild_every = (int)number(optarg, 1, 20);
        return true;
    case 'e':
        o->reduce_every = (int)number(optarg, 1, 1e9);
        return true;
    case 'w':
        o->write_every = (int)number(optarg, 1, 1e9);
        return true;
    default:
        return false;
    }
}

/* Returns an exit status, or -1 to go on. */
static int read_options(struct options *o, int argc, char **argv)
{
    int rank, letter;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    opterr = rank == 0;
    while ((letter = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
        if (!read_option(o, letter)) {
            if (rank == 0)
                fputs(usage, letter == 'h' ? stdout : stderr);
            return letter == 'h' ? 0 : 2;
        }
    if (optind < argc) {
        if (rank == 0)
            fputs(usage, stderr);
        return 2;
    }
    if (o->steps == 0 && o->seconds == 0 && o->until == NULL)
        o->steps = 1000;
    return -1;
}

int main(int argc, char **argv)
{
    struct md md = {.opt = {.particles = 4000,
                            .seed = 1,
                            .rebuild_every = 10,
                            .reduce_every = 10,
                            .write_every = 200}};
    int status;

    MPI_Init(&argc, &argv);
    status = read_options(&md.opt, argc, argv);
    if (status < 0) {
        prepare(&md);
        run(&md);
        release(&md);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
