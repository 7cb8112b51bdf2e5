/*
 * Has functions that the compiler puts in the place of their calls, around calls of MPI. It
 * prints "FUNCTION CALLS" of each whose calls can be told apart, and of the one whose cannot
 * "FUNCTION CALLS MOST": as many it may be.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline, noclone))
#define INLINED static inline __attribute__((always_inline))

static volatile int sink; /* written after a call, which then is no jump */

INLINED void send_halo(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
}

INLINED void wait_halo(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
}

/* Two that are in one that is inlined, too. */
INLINED void exchange(void)
{
    send_halo();
    sink++;
    wait_halo();
}

/* Each call of a function that is called as usual has its own. */
NOT_INLINED static void step(void)
{
    exchange();
    sink++;
}

/* Two calls of one function from two places in one line, */
NOT_INLINED static void twice(void)
{
    /* clang-format off */
    send_halo(); sink++; send_halo();
    /* clang-format on */
}

/* and from one place in a loop. */
NOT_INLINED static void loop(int n)
{
    for (int i = 0; i < n; i++)
        send_halo();
    sink++;
}

/* A loop in what is inlined is none around it. */
INLINED void sweep(int n)
{
    sink++;
    for (int i = 0; i < n; i++)
        send_halo();
    wait_halo();
}

NOT_INLINED static void iterate(int n)
{
    for (int i = 0; i < n; i++)
        sweep(3);
    sink++;
}

/* It may be, where nothing comes after the loop. */
INLINED void unclear(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Barrier(MPI_COMM_SELF);
        sink++;
    }
}

NOT_INLINED static void repeat(int n)
{
    for (int i = 0; i < n; i++)
        unclear(sink > 0 ? 5 : 4);
    sink++;
}

/* What is around a call that is not inlined. */
NOT_INLINED static void talk(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
}

INLINED void around(void)
{
    talk();
    sink++;
    talk();
}

NOT_INLINED static void outer(int n)
{
    for (int i = 0; i < n; i++)
        around();
    sink++;
}

/* Calls itself, and is inlined in itself. */
NOT_INLINED static void recurse(int depth);

INLINED void deeper(int depth)
{
    talk();
    if (depth > 1)
        recurse(depth - 1);
}

NOT_INLINED static void recurse(int depth)
{
    deeper(depth);
    sink++;
}

/* What is around a call whose last call of MPI is a jump. */
NOT_INLINED static int last(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
    return MPI_Barrier(MPI_COMM_SELF);
}

INLINED void jumping(void)
{
    last();
    sink++;
}

NOT_INLINED static void jumps(int n)
{
    for (int i = 0; i < n; i++)
        jumping();
    sink++;
}

/* What is around a call that calls MPI twice. */
NOT_INLINED static void pair(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
    MPI_Barrier(MPI_COMM_SELF);
    sink++;
}

INLINED void pairing(void)
{
    pair();
    sink++;
}

NOT_INLINED static void pairs(int n)
{
    for (int i = 0; i < n; i++)
        pairing();
    sink++;
}

/* The same a level further in, where each is called twice. */
NOT_INLINED static void two_pairs(void)
{
    pair();
    sink++;
    pair();
    sink++;
}

INLINED void doubling(void)
{
    two_pairs();
    sink++;
}

NOT_INLINED static void doubles(int n)
{
    for (int i = 0; i < n; i++)
        doubling();
    sink++;
}

/* For samples. */
INLINED void compute(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

    do
        for (int i = 0; i < 1000000; i++)
            sink++;
    while (clock() < end);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++)
        step();
    for (int i = 0; i < 10; i++)
        twice();
    loop(50);
    iterate(30);
    repeat(10);
    outer(10);
    recurse(20);
    jumps(10);
    pairs(10);
    doubles(10);
    if (argc > 1)
        compute(0.5);
    MPI_Finalize();
    printf("step 100\nexchange 100\nwait_halo 130\nsend_halo %d\n", 100 + 2 * 10 + 50 + 90);
    printf("twice 10\nloop 1\nsweep 30\niterate 1\nrepeat 1\nouter 1\naround 10\ntalk 40\n");
    printf("recurse 20\ndeeper 20\nunclear 10 50\njumping 10\nlast 10\njumps 1\n");
    printf("pairing 10\npairs 1\npair 30\ndoubling 10\ntwo_pairs 10\ndoubles 1\n");
    return 0;
}
