/*
 * Reads a run: which executions are strange, why, and where in their calls the time went.
 *
 *     read_run RUN
 */
#include <stdio.h>
#include <stdlib.h>

#include <snag/snag.h>

static int fail(void)
{
    fprintf(stderr, "read_run: %s\n", snag_message());
    return 1;
}

/* The vertex that took longest without the calls it made. */
static int print_longest(snag_run *run, size_t function, size_t row)
{
    struct snag_vertices v;
    size_t longest = 0;

    if (snag_run_vertices(run, function, row, &v) < 0)
        return fail();
    for (size_t i = 1; i < v.n; i++)
        if (v.exclusive_ns[i] > v.exclusive_ns[longest])
            longest = i;
    printf("    longest by itself: %s, %.3f ms of %.3f ms in %zu calls\n",
           snag_run_region(run, v.region[longest]), 1e-6 * (double)v.exclusive_ns[longest],
           1e-6 * (double)v.inclusive_ns[0], v.n);
    snag_vertices_release(&v);
    return 0;
}

static int print_function(snag_run *run, size_t function)
{
    struct snag_executions x;
    char reason[1024];
    int status = 0;

    if (snag_run_executions(run, function, &x) < 0)
        return fail();
    printf("%s: %zu executions\n", snag_run_function(run, function), x.n);
    for (size_t row = 0; row < x.n && status == 0; row++) {
        if (!x.is_anomaly[row])
            continue;
        if (snag_run_reason(run, function, row, reason, sizeof reason) < 0)
            return fail();
        printf("  rank %u, execution %u, score %.2f: %s\n", x.rank[row], x.index[row],
               x.score[row], reason);
        status = print_longest(run, function, row);
    }
    snag_executions_release(&x);
    return status;
}

int main(int argc, char **argv)
{
    snag_run *run;
    int status = 0;

    if (argc != 2) {
        fprintf(stderr, "read_run RUN\n");
        return 2;
    }
    if (snag_run_open(argv[1], &run) < 0)
        return fail();
    for (size_t f = 0; f < snag_run_functions(run) && status == 0; f++)
        status = print_function(run, f);
    snag_run_close(run);
    return status;
}
