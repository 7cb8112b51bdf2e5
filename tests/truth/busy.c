/*
 * Other work on the machine, which ends by itself: bursts of arithmetic, 10 to 60 ms long, and
 * pauses about as long.
 *
 *   busy SECONDS SEED       work so long
 *   busy --calibrate        prints how many loops of truth_work's arithmetic a millisecond has:
 *                           the most in 40 tries
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void spin(long loops)
{
    volatile double x = 1;

    for (long i = loops; i > 0; i--)
        x = x * 1.0000001 + 1e-9;
}

int main(int argc, char **argv)
{
    double end;

    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0) {
        double most = 0;

        for (int i = 0; i < 40; i++) {
            double begin = now_ms();

            spin(1000000);
            most = most > 1000000 / (now_ms() - begin) ? most : 1000000 / (now_ms() - begin);
        }
        printf("%.0f\n", most);
        return 0;
    }
    if (argc != 3)
        return 2;
    srand((unsigned)atoi(argv[2]));
    end = now_ms() + 1e3 * atof(argv[1]);
    while (now_ms() < end) {
        double burst = now_ms() + 10 + 50.0 * rand() / RAND_MAX;
        struct timespec pause = {.tv_nsec = 10000000 + (long)(50e6 * rand() / RAND_MAX)};

        while (now_ms() < burst)
            spin(10000);
        nanosleep(&pause, NULL);
    }
    return 0;
}
