/*
 * A program for the tests of snag record, built with and without -finstrument-functions:
 *
 *   program STATUS [WORD]    calls step 20 times, once in a thread's life; prints WORD; ends
 *                            with STATUS, or with the signal -STATUS
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sum;

__attribute__((noinline)) static void work(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}

__attribute__((noinline)) static void step(int i)
{
    work(1000 + i);
    work(10);
}

static void *thread(void *arg)
{
    step(0);
    return arg;
}

int main(int argc, char **argv)
{
    int status = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t other;

    pthread_create(&other, NULL, thread, NULL);
    for (int i = 0; i < 19; i++)
        step(i);
    pthread_join(other, NULL);
    if (argc > 2)
        puts(argv[2]);
    if (status < 0)
        raise(-status);
    return status;
}
