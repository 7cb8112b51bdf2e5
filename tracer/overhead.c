/*
 * overhead -- what the tracer costs per call, measured on this machine:
 *
 *     overhead libsnag-tracer.so
 *
 * The program starts itself several times, alone, with a filter that excludes everything, with
 * the tracer (LD_PRELOAD) and its archive, with live output instead of it, and with both, and
 * prints the medians. Each run times loops of calls in one process, which talks to itself, so
 * that nothing is measured but the calls. That the trace is written while the program runs is
 * part of the time of the loops; it goes to memory (/dev/shm) if it can, so that the disk is
 * not. Live output is read, and thrown away, by another process.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_RUNS 7
#define N_CALLS 1000000 /* of the empty function */
#define N_MPI_CALLS 100000
#define NOT_TRACED __attribute__((no_instrument_function))

#define DEPTH 20

enum { FUNCTION, ISEND_IRECV_WAITALL, SENDRECV, ALLREDUCE, BARRIER, N_MEASURED };
enum { ALONE, FILTERED, TRACED, LIVE, BOTH, N_MODES };

static const char *const measured[N_MEASURED] = {
    "empty function, enter and leave",
    "MPI_Irecv + MPI_Isend + MPI_Waitall",
    "MPI_Sendrecv",
    "MPI_Allreduce",
    "MPI_Barrier",
};

NOT_TRACED static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ------------------------------------------------------------------------------ one process */

/* The one function of this program that has hooks. */
__attribute__((noinline)) static void empty(void)
{
    __asm__ volatile("");
}

NOT_TRACED static double time_function(void)
{
    double begin_ns = now_ns();

    for (int i = 0; i < N_CALLS; i++)
        empty();
    return (now_ns() - begin_ns) / N_CALLS;
}

NOT_TRACED static void call_mpi(int which)
{
    MPI_Request request[2];
    double out = 1, in = 0;

    switch (which) {
    case ISEND_IRECV_WAITALL:
        MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request[0]);
        MPI_Isend(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        break;
    case SENDRECV:
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 0, &in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        break;
    case ALLREDUCE:
        MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        break;
    default:
        MPI_Barrier(MPI_COMM_SELF);
    }
}

/* So many frames further in, MPI is called; n times, for each of which n_new frames are entered
 * and left. */
__attribute__((noinline, noclone)) NOT_TRACED static void call_deep(int depth, int n_new, int n)
{
    for (int i = 0; i < (depth == n_new ? n : 1); i++)
        if (depth == 0)
            call_mpi(BARRIER);
        else
            call_deep(depth - 1, n_new, n);
    __asm__ volatile(""); /* no call is a jump */
}

NOT_TRACED static double time_deep(int n_new)
{
    double begin_ns = now_ns();

    call_deep(DEPTH, n_new, N_MPI_CALLS); /* which is a frame, too */
    return (now_ns() - begin_ns) / N_MPI_CALLS;
}

/* A function that is inlined around a call of MPI, which is a new call of it each time. */
__attribute__((always_inline)) NOT_TRACED static inline void call_inlined(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

NOT_TRACED static double time_inlined(void)
{
    double begin_ns = now_ns();

    for (int i = 0; i < N_MPI_CALLS; i++)
        call_inlined();
    return (now_ns() - begin_ns) / N_MPI_CALLS;
}

NOT_TRACED static double time_mpi(int which)
{
    double begin_ns = now_ns();

    for (int i = 0; i < N_MPI_CALLS; i++)
        call_mpi(which);
    return (now_ns() - begin_ns) / N_MPI_CALLS;
}

/* is_deep: then calls with a stack of 20 frames, of which 0, 4 and all are new, and in a
 * function that is inlined. */
NOT_TRACED static int measure(int argc, char **argv, int is_deep)
{
    static const int n_new[] = {0, 4, DEPTH};

    MPI_Init(&argc, &argv);
    time_function(); /* the first pages, the clock of the processor */
    printf("%f\n", time_function());
    for (int i = FUNCTION + 1; i < N_MEASURED; i++)
        printf("%f\n", time_mpi(i));
    for (size_t i = 0; is_deep && i < sizeof n_new / sizeof *n_new; i++)
        printf("%f\n", time_deep(n_new[i]));
    if (is_deep)
        printf("%f\n", time_inlined());
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

/* ------------------------------------------------------------------------------- all of them
 */

NOT_TRACED static void run_child(const char *program, const char *tracer, const char *dir,
                                 int mode, int out)
{
    char path[4096];

    if (mode != ALONE)
        setenv("LD_PRELOAD", tracer, 1);
    snprintf(path, sizeof path, "%s/trace", dir);
    setenv("SNAG_TRACER_DIR", path, 1);
    setenv("SNAG_TRACER_STRUCTURE", "functions", 1); /* the first hook comes after MPI_Init */
    snprintf(path, sizeof path, "%s/filter", dir);
    if (mode == FILTERED)
        setenv("SNAG_TRACER_FILTER", path, 1);
    snprintf(path, sizeof path, "%s/socket", dir);
    if (mode == LIVE || mode == BOTH)
        setenv("SNAG_TRACER_LIVE", path, 1);
    if (mode == LIVE)
        setenv("SNAG_TRACER_ARCHIVE", "0", 1);
    dup2(out, STDOUT_FILENO);
    execl(program, program, "--measure", (char *)NULL);
    _exit(127);
}

/* One run; false if it failed. */
NOT_TRACED static int run(const char *program, const char *tracer, const char *dir, int mode,
                          double ns[N_MEASURED])
{
    int ends[2], status = 1, n = 0;
    FILE *in;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0)
        return 0;
    if (pid == 0)
        run_child(program, tracer, dir, mode, ends[1]);
    close(ends[1]);
    in = fdopen(ends[0], "r");
    while (in && n < N_MEASURED && fscanf(in, "%lf", &ns[n]) == 1)
        n++;
    waitpid(pid, &status, 0);
    if (in)
        fclose(in);
    return n == N_MEASURED && status == 0;
}

NOT_TRACED static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

NOT_TRACED static void print_table(double ns[N_MODES][N_MEASURED][N_RUNS])
{
    printf("%-38s %8s %8s %8s %8s %8s\n", "ns, medians of 7 runs", "alone", "filtered",
           "archive", "live", "both");
    for (int i = 0; i < N_MEASURED; i++) {
        double median[N_MODES];

        for (int mode = 0; mode < N_MODES; mode++) {
            qsort(ns[mode][i], N_RUNS, sizeof(double), compare);
            median[mode] = ns[mode][i][N_RUNS / 2];
        }
        printf("%-38s %8.1f %8.1f %8.1f %8.1f %8.1f\n", measured[i], median[ALONE],
               median[FILTERED], median[TRACED], median[LIVE], median[BOTH]);
    }
    for (int mode = TRACED; mode < N_MODES; mode++)
        printf("one enter or leave, %s: %.1f ns, in the fastest run %.1f ns\n",
               mode == TRACED ? "archive"
               : mode == LIVE ? "live"
                              : "both",
               (ns[mode][FUNCTION][N_RUNS / 2] - ns[ALONE][FUNCTION][N_RUNS / 2]) / 2,
               (ns[mode][FUNCTION][0] - ns[ALONE][FUNCTION][0]) / 2);
}

NOT_TRACED static int remove_directory(const char *dir)
{
    pid_t pid = fork();

    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", dir, (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

/* A reader of live output that is as fast as can be. Returns when it listens. */
NOT_TRACED static pid_t start_reader(const char *dir)
{
    static char buffer[1 << 20];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
    pid_t pid;

    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", dir);
    if (bind(listening, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listening, 1) != 0 || (pid = fork()) < 0)
        return -1;
    if (pid > 0) {
        close(listening);
        return pid;
    }
    while ((fd = accept(listening, NULL, NULL)) >= 0) {
        while (read(fd, buffer, sizeof buffer) > 0)
            ;
        close(fd);
    }
    _exit(0);
}

NOT_TRACED static int run_all(const char *tracer, const char *dir)
{
    static double ns[N_MODES][N_MEASURED][N_RUNS];
    char trace[4096];

    snprintf(trace, sizeof trace, "%s/trace", dir);
    for (int i = 0; i < N_RUNS; i++)
        for (int mode = 0; mode < N_MODES; mode++) {
            double one[N_MEASURED];

            if (!run("/proc/self/exe", tracer, dir, mode, one)) {
                fprintf(stderr, "overhead: a run failed\n");
                return 1;
            }
            for (int k = 0; k < N_MEASURED; k++)
                ns[mode][k][i] = one[k];
            remove_directory(trace);
        }
    print_table(ns);
    return 0;
}

NOT_TRACED int main(int argc, char **argv)
{
    char memory[] = "/dev/shm/snag-overhead-XXXXXX", disk[] = "/tmp/snag-overhead-XXXXXX";
    char path[64], *dir = memory;
    char *tracer;
    FILE *filter;
    pid_t reader;
    int status;

    if (argc == 2 && strncmp(argv[1], "--measure", 9) == 0)
        return measure(argc, argv, strcmp(argv[1], "--measure-deep") == 0);
    if (argc != 2 || (tracer = realpath(argv[1], NULL)) == NULL) {
        fprintf(stderr, "usage: overhead path/of/libsnag-tracer.so\n");
        return 2;
    }
    if (mkdtemp(dir) == NULL && mkdtemp(dir = disk) == NULL) {
        fprintf(stderr, "overhead: cannot make a directory in /tmp\n");
        return 1;
    }
    snprintf(path, sizeof path, "%s/filter", dir);
    filter = fopen(path, "w");
    if (filter == NULL || fputs("exclude *\n", filter) < 0 || fclose(filter) != 0)
        return 1;
    reader = start_reader(dir);
    if (reader < 0)
        return 1;
    status = run_all(tracer, dir);
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    remove_directory(dir);
    free(tracer);
    return status;
}
