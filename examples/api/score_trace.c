/*
 * Scores a trace by the model of an earlier run, and says how many executions do not belong:
 * what a nightly test does. Exit status 3 when there are more than MOST.
 *
 *     score_trace TRACE MODEL RUN MOST
 */
#include <stdio.h>
#include <stdlib.h>

#include <snag/snag.h>

static int fail(void)
{
    fprintf(stderr, "score_trace: %s\n", snag_message());
    return 1;
}

static size_t count_anomalies(snag_run *run)
{
    struct snag_executions x;
    size_t n = 0;

    if (snag_run_executions(run, 0, &x) < 0)
        exit(fail());
    for (size_t i = 0; i < x.n; i++)
        n += x.is_anomaly[i];
    snag_executions_release(&x);
    return n;
}

int main(int argc, char **argv)
{
    struct snag_analyze_options options = {.size = sizeof options, .replace = 1};
    snag_model *model;
    snag_run *run;
    size_t n;
    int rc;

    if (argc != 5) {
        fprintf(stderr, "score_trace TRACE MODEL RUN MOST\n");
        return 2;
    }
    if (snag_model_open(argv[2], &model) < 0)
        return fail();
    options.model = model;
    rc = snag_analyze(argv[1], argv[3], &options);
    if (rc < 0)
        return fail();
    if (rc == SNAG_DAMAGED)
        printf("the trace is damaged; what could be read was scored\n");
    if (snag_run_open(argv[3], &run) < 0)
        return fail();
    n = count_anomalies(run);
    printf("%zu executions of %s do not belong\n", n, snag_model_function(model));
    snag_run_close(run);
    snag_model_close(model);
    return n > strtoul(argv[4], NULL, 10) ? 3 : 0;
}
