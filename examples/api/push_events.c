/*
 * Pushes the events of an invented program, two ranks with a step of a millisecond or so, and
 * prints what does not belong as soon as it is known.
 *
 *     push_events
 */
#include <stdio.h>
#include <string.h>

#include <snag/snag.h>

#define STEPS 2000
#define STEPS_AT_ONCE 100

static void print_execution(void *ctx, const struct snag_execution *x)
{
    int *n = ctx;

    if (!x->is_anomaly)
        return;
    ++*n;
    printf("rank %u, execution %u of %s took %.3f ms: %s\n", x->rank, x->index, x->function,
           1e-6 * (double)x->duration_ns, x->reason);
}

/* One step: step(solve, send or receive). Rank 1 is slow in every 500th solve. */
static uint64_t push_step(snag_detector *d, uint32_t rank, unsigned step, uint64_t now_ns)
{
    uint32_t location = snag_location(d, rank, 0);
    uint32_t outer = snag_region(d, "step"), inner = snag_region(d, "solve");
    uint64_t solve_ns = 1000000 + 1000 * (step * 7919u % 20);

    if (rank == 1 && step % 500 == 499)
        solve_ns *= 4;
    snag_enter(d, location, now_ns, outer);
    snag_enter(d, location, now_ns + 1000, inner);
    snag_leave(d, location, now_ns + 1000 + solve_ns, inner);
    if (rank == 0)
        snag_send(d, location, now_ns + 2000 + solve_ns, 1, 0, 4096);
    else
        snag_receive(d, location, now_ns + 2000 + solve_ns, 0, 0, 4096);
    snag_leave(d, location, now_ns + 3000 + solve_ns, outer);
    return now_ns + 4000 + solve_ns;
}

int main(void)
{
    const char *const functions[] = {"step"};
    int n_anomalies = 0;
    struct snag_detector_options options = {.size = sizeof options,
                                            .function = functions,
                                            .n_functions = 1,
                                            .on_execution = print_execution,
                                            .ctx = &n_anomalies};
    uint64_t now_ns[2] = {0, 0};
    snag_detector *d;

    if (snag_detector_open(&options, &d) < 0) {
        fprintf(stderr, "push_events: %s\n", snag_message());
        return 1;
    }
    for (unsigned step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < 2; rank++)
            now_ns[rank] = push_step(d, rank, step, now_ns[rank]);
        if (step % STEPS_AT_ONCE == STEPS_AT_ONCE - 1)
            snag_detector_step(d);
    }
    snag_detector_end(d);
    printf("%d executions do not belong\n", n_anomalies);
    snag_detector_close(d);
    return 0;
}
