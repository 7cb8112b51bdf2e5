/* neighbours_bench -- times the search and LOF. See bench_input.h. */
#include "base/err.h"
#include "base/mem.h"
#include "bench_input.h"
#include "detect/neighbours.h"

#include <math.h>

#define REPEATS 3
#define NEIGHBOURS 20

int main(int argc, char **argv)
{
    struct matrix x = bench_input(argc, argv);
    struct pool *pool = pool_new(bench_threads(argc, argv));
    double *score = mem_alloc(x.rows, sizeof *score), search_s = INFINITY, lof_s = INFINITY,
           cpu_s = INFINITY;
    double lof_sum = 0, knn_sum = 0;
    struct neighbours neighbours = {0};
    int rc = 0;

    for (int r = 0; r < REPEATS && rc == 0; r++) {
        double begin = bench_now(), begin_cpu = bench_cpu();

        neighbours_release(&neighbours);
        rc = neighbours_find(x, NEIGHBOURS, pool, &neighbours);
        search_s = fmin(search_s, bench_now() - begin);
        if (rc == 0)
            lof_score(&neighbours, score);
        lof_s = fmin(lof_s, bench_now() - begin);
        cpu_s = fmin(cpu_s, bench_cpu() - begin_cpu);
    }
    for (size_t i = 0; i < x.rows && rc == 0; i++)
        lof_sum += score[i];
    if (rc == 0)
        knn_score(&neighbours, score);
    for (size_t i = 0; i < x.rows && rc == 0; i++)
        knn_sum += score[i];
    if (rc < 0)
        fprintf(stderr, "neighbours_bench: %s\n", err_message());
    else
        printf("{\"rows\": %zu, \"cols\": %zu, \"threads\": %u, \"k\": %d, \"seconds\": %.6f, "
               "\"lof_seconds\": %.6f, \"lof_cpu_seconds\": %.6f, \"lof_sum\": %.12g, "
               "\"distance_mean\": %.12g}\n",
               x.rows, x.cols, pool_threads(pool), NEIGHBOURS, search_s, lof_s, cpu_s, lof_sum,
               knn_sum / (double)x.rows);
    neighbours_release(&neighbours);
    pool_free(pool);
    free(score);
    free(x.x);
    return rc < 0;
}
