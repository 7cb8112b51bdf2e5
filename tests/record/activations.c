/*
 * Calls functions in all the ways in which a stack can come and go, each a known number of
 * times. It was not compiled for the tracer, which sees its functions on the stack at calls of
 * MPI. Prints a line "FUNCTION CALLS" for each.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone))
#define SAY(function, calls) printf("%s %d\n", function, calls)

static volatile int sink; /* written after a call, which then is none of the last place */

NOT_INLINED static void talk(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
}

/* 1,000 calls from one place, each of which looks like the one before. */
NOT_INLINED static void in_loop(void)
{
    talk();
    talk();
    sink++;
}

/* A loop of its own is no new activation. */
NOT_INLINED static void has_loop(int n)
{
    for (int i = 0; i < n; i++)
        talk();
    sink++;
}

NOT_INLINED static void recurse(int depth)
{
    talk();
    if (depth > 1)
        recurse(depth - 1);
    sink++;
}

static jmp_buf above;

NOT_INLINED static void jumps(void)
{
    talk();
    longjmp(above, 1);
}

NOT_INLINED static void goes_through(void)
{
    jumps();
    sink++;
}

NOT_INLINED static void jump_back(void)
{
    if (setjmp(above) == 0)
        goes_through();
    talk();
    sink++;
}

NOT_INLINED static void in_thread(void)
{
    talk();
    sink++;
}

static void *thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        in_thread();
    return NULL;
}

NOT_INLINED static void run_threads(void)
{
    pthread_t id;

    for (int i = 0; i < 3; i++) {
        pthread_create(&id, NULL, thread, NULL);
        pthread_join(id, NULL);
    }
    sink++;
}

NOT_INLINED static void is_cancelled(void)
{
    talk();
    for (;;)
        sleep(1);
}

static void *cancelled_thread(void *arg)
{
    (void)arg;
    is_cancelled();
    return NULL;
}

NOT_INLINED static void cancel_thread(void)
{
    pthread_t id;

    pthread_create(&id, NULL, cancelled_thread, NULL);
    pthread_cancel(id);
    pthread_join(id, NULL);
    sink++;
}

static int compare(const void *a, const void *b)
{
    talk();
    return *(const int *)a - *(const int *)b;
}

/* Through a function of the C library. */
NOT_INLINED static void sorts(void)
{
    int number[2] = {2, 1};

    qsort(number, 2, sizeof *number, compare);
    sink++;
}

NOT_INLINED static void forks(void)
{
    pid_t pid;

    talk();
    pid = fork();
    if (pid == 0)
        return;
    waitpid(pid, NULL, 0);
    sink++;
}

static ucontext_t outside, inside;
static char other_stack[1 << 16];

static void coroutine(void)
{
    for (int i = 0; i < 3; i++) {
        talk();
        swapcontext(&inside, &outside);
    }
}

NOT_INLINED static void switches(void)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = other_stack;
    inside.uc_stack.ss_size = sizeof other_stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 4; i++)
        swapcontext(&outside, &inside);
    sink++;
}

/* The stack is aligned anew, which has a rule of its own. */
NOT_INLINED static void aligned(int n)
{
    volatile double value[8] __attribute__((aligned(64)));
    volatile char more[n];

    value[0] = more[0] = 1;
    talk();
    sink += (int)value[0];
}

int main(int argc, char **argv)
{
    pid_t pid = getpid();
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    for (int i = 0; i < 1000; i++)
        in_loop();
    has_loop(50);
    recurse(20);
    recurse(20);
    for (int i = 0; i < 10; i++)
        jump_back();
    run_threads();
    cancel_thread();
    sorts();
    for (int i = 0; i < 5; i++)
        aligned(20 + i);
    forks();
    if (getpid() != pid)
        _exit(0);
    talk();
    SAY("main", 2); /* what is called on another stack ends what was open */
    SAY("in_loop", 1000);
    SAY("has_loop", 1);
    SAY("recurse", 40);
    SAY("jump_back", 10);
    SAY("jumps", 10);
    SAY("goes_through", 10);
    SAY("in_thread", 30);
    SAY("is_cancelled", 1);
    SAY("sorts", 1);
    SAY("compare", 1);
    SAY("aligned", 5);
    SAY("forks", 1);
    switches();
    MPI_Finalize();
    return 0;
}
