#include "sample_ranking.h"

#include "test.h"

static const char program[] = "synth:60*step(compute@1ms(a 3*b));ranks=7;jitter=0.05;"
                              "slow=compute/60/8";

int sample_ranking_set_up(void **state)
{
    struct sample_ranking *f = calloc(1, sizeof *f);

    sample_run_init(&f->run, program, "step", NULL);
    *state = f;
    return 0;
}

int sample_ranking_tear_down(void **state)
{
    struct sample_ranking *f = *state;

    ranking_close(&f->ranking);
    sample_run_release(&f->run);
    free(f);
    return 0;
}

void sample_ranking_open(struct sample_ranking *f)
{
    const struct ranking_opts opts = {.seed = 1, .pool = f->run.pool};

    assert_int_equal(
        ranking_open(&f->ranking, f->run.db, &f->run.columns, &f->run.source.defs, 1, &opts),
        0);
}
