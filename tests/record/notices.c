/*
 * A program that would notice much of what could be done to it, and says so: in what it prints,
 * and in its exit status. With MPI (-DWITH_MPI) it talks to its neighbours in between.
 *
 *     notices [STATUS] [CALLS of each thread]
 *
 * Each thread makes 1 + STEPS + 2 CALLS calls of functions; the process one more, main.
 */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define N_THREADS 2
#define STEPS 20
#define QUIET __attribute__((no_instrument_function, noinline))

static int n_calls = 12000;
static volatile sig_atomic_t n_alarms;
static sigset_t mask;
static sigjmp_buf back;

static QUIET void notice(const char *what)
{
    printf("noticed: %s\n", what);
}

/* --------------------------------------------------------------------------------- signals */

static QUIET void on_alarm(int number)
{
    (void)number;
    n_alarms++;
}

static QUIET void on_jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static QUIET void on_other(int number)
{
    (void)number;
}

static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGUSR2, SIGPIPE};
#define N_HANDLED (int)(sizeof handled / sizeof *handled)

static QUIET void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_other};
    struct itimerval each = {{0, 1000}, {0, 1000}};

    for (int i = 0; i < N_HANDLED; i++)
        sigaction(handled[i], &action, NULL);
    action.sa_handler = on_jump;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&mask);
    sigaddset(&mask, SIGWINCH);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
}

static QUIET void look_at_signals(void)
{
    struct sigaction action;
    sigset_t now;

    for (int i = 0; i < N_HANDLED; i++)
        if (sigaction(handled[i], NULL, &action) != 0 || action.sa_handler != on_other)
            notice("a handler is another");
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int i = 1; i < 32; i++)
        if (sigismember(&now, i) != sigismember(&mask, i))
            notice("other signals are blocked");
}

/* ----------------------------------------------------------------------------------- calls */

static __attribute__((noinline)) double leaf(double x)
{
    return x * 0.5 + 1;
}

static __attribute__((noinline)) double branch(double x)
{
    return leaf(x) + 1e-3;
}

static __attribute__((noinline)) double step(double x, int n)
{
    char *own = malloc(100);

    errno = 4242;
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_UPWARD);
    for (int i = 0; i < n; i++)
        x = branch(x);
    if (errno != 4242)
        notice("errno changed");
    if (fegetround() != FE_UPWARD || fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW))
        notice("floating point changed");
    fesetround(FE_TONEAREST);
    if (own == NULL)
        notice("no memory");
    free(own);
    return x;
}

static void *work(void *result)
{
    double x = 1;

    for (int i = 0; i < STEPS; i++)
        x = step(x, n_calls / STEPS);
    *(double *)result = x;
    look_at_signals();
    return NULL;
}

/* -------------------------------------------------------------------------------- children */

static QUIET void have_children(void)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        double x = step(1, 100);

        _exit(x > 1 ? 3 : 4);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
        notice("a child ended otherwise");
    child = fork();
    if (child == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        notice("a program that it started ended otherwise");
    if (waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD)
        notice("there is another child");
}

static QUIET void jump(void)
{
    if (sigsetjmp(back, 1) == 0)
        raise(SIGUSR1);
    look_at_signals();
}

static QUIET void look_at_files(void)
{
    int fd = open("/dev/null", O_RDONLY);

#ifndef WITH_MPI
    if (fd != 3)
        notice("another file is open");
#endif
    close(fd);
}

/* ---------------------------------------------------------------------------------- ranks */

#ifdef WITH_MPI
static void talk(int rank, int size)
{
    double mine = rank, theirs = -1, sum = 0;
    MPI_Comm pair;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &pair);
    for (int i = 0; i < STEPS; i++) {
        MPI_Request request[2];
        MPI_Status status[2];

        MPI_Irecv(&theirs, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, request);
        MPI_Isend(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, request + 1);
        MPI_Waitall(2, request, status);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Comm_free(&pair);
    if (theirs != (rank + size - 1) % size || sum != size * (size - 1) / 2.)
        notice("a message is another");
}
#endif

int main(int argc, char **argv)
{
    int status = argc > 1 ? atoi(argv[1]) : 0, rank = 0;
    double result[N_THREADS + 1] = {0};
    pthread_t thread[N_THREADS];

    n_calls = argc > 2 ? atoi(argv[2]) : n_calls;
#ifdef WITH_MPI
    int size;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    handle_signals();
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, &result[i]) != 0)
            notice("a thread could not be made");
    work(&result[N_THREADS]);
#ifdef WITH_MPI
    talk(rank, size);
#endif
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_join(thread[i], NULL) != 0)
            notice("a thread could not be joined");
    have_children();
    jump();
    look_at_files();
    look_at_signals();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    for (int i = 0; i <= N_THREADS; i++)
        printf("%d: %.12g\n", rank, result[i]);
    if (n_alarms == 0)
        notice("no alarm came");
    return status;
}
