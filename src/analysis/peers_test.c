/* Ranks that are known to be slow, or not, because the program is made up. */
#include "analysis/peers.h"

#include "analysis/causes.h"
#include "analysis/run_scoring.h"
#include "analysis/sample_run.h"
#include "base/test.h"
#include "run/run_summary.h"

struct made {
    struct sample_run run;
    struct definitions defs;
    struct scoring work;
    struct causes causes;
    struct peers peers;
};

static void make(struct made *m, const char *program)
{
    *m = (struct made){0};
    sample_run_init(&m->run, program, "step", NULL);
    assert_int_equal(run_summary_definitions(m->run.db, &m->defs), 0);
    assert_int_equal(run_scoring_load(&m->work, m->run.db, &m->run.columns, &m->defs, 1, false),
                     0);
    causes_init(&m->causes, &m->run.columns, &m->defs);
    peers_find(&m->work, &m->causes.view, PEERS_BY_RANK, &m->peers);
}

static void unmake(struct made *m)
{
    peers_release(&m->peers);
    causes_release(&m->causes);
    scoring_release(&m->work);
    definitions_release(&m->defs);
    sample_run_release(&m->run);
}

static const char *function_of(const struct made *m, const struct peer_path *x)
{
    return m->defs.region[m->work.model.paths.region[x->path]].name;
}

static uint32_t count(const struct made *m, enum peer_verdict verdict)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->peers.n; i++)
        n += m->peers.place[i].verdict == verdict;
    return n;
}

/* 5 % in a path that is a seventh of the work. */
static void a_rank_that_is_a_little_slow_in_one_path_is_named(void **state)
{
    const struct peer_place *p;
    struct made m;

    (void)state;
    make(&m, "synth:100*step(pack@50us compute@1ms(a@200us b@100us) >1 <1);ranks=64;"
             "jitter=0.02;slow=a/1/1.05/17");
    assert_int_equal(m.peers.n, 64);
    assert_int_equal(count(&m, PEER_SLOW), 1);
    p = &m.peers.place[17];
    assert_int_equal(p->verdict, PEER_SLOW);
    assert_int_equal(p->n_paths, 1);
    assert_string_equal(function_of(&m, &p->path[0]), "a");
    assert_true(p->path[0].factor > 1.04 && p->path[0].factor < 1.06);
    assert_true(fabs(p->path[0].excess_ns - 100 * 10e3) < 100 * 2e3);
    assert_true(p->path[0].share > 0.8);
    assert_int_equal(p->path[0].since_ns, 0);
    unmake(&m);
}

static void the_others_wait_for_it_however_far_away_they_are(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(compute@1ms >1 <1);ranks=8;jitter=0.02;slow=compute/1/1.3/5");
    assert_int_equal(m.peers.place[5].verdict, PEER_SLOW);
    assert_float_equal(peer_slowdown(&m.peers.place[5]), 1.3, 0.02);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    assert_true(m.peers.place[5].has_cost);
    assert_true(m.peers.place[5].cost_ns > 27000000 && m.peers.place[5].cost_ns < 31000000);
    assert_float_equal(m.peers.slowdown, 1.3, 0.03);
    for (uint32_t i = 0; i < 8; i++)
        if (i != 5) {
            assert_int_equal(m.peers.place[i].verdict, PEER_WAITS);
            assert_int_equal(m.peers.place[i].waits_for, 5);
            assert_true(peer_slowdown(&m.peers.place[i]) == 1);
        }
    unmake(&m);
}

static void more_to_do_is_not_slow(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(compute@1ms(10*a@50us) 3:extra@1us(2*a@50us) >1 <1 |);ranks=8;"
             "jitter=0.05");
    assert_int_equal(count(&m, PEER_SLOW), 0);
    assert_int_equal(m.peers.place[3].verdict, PEER_IMBALANCED);
    assert_true(m.peers.place[3].path[0].is_more);
    assert_int_equal(count(&m, PEER_WAITS), 7);
    assert_int_equal(m.peers.place[0].waits_for, 3);
    unmake(&m);
}

static void it_is_said_since_when(void **state)
{
    const struct peer_path *path;
    struct made m;

    (void)state;
    make(&m, "synth:main(40*step(compute@1ms |) 160*step(0:compute@1ms 1:compute@1ms "
             "2:compute@1.1ms 3:compute@1ms 4:compute@1ms 5:compute@1ms |));ranks=6;"
             "jitter=0.02");
    assert_int_equal(m.peers.place[2].verdict, PEER_SLOW);
    path = &m.peers.place[2].path[0];
    assert_string_equal(function_of(&m, path), "compute");
    assert_true(path->since_ns > 35000000 && path->since_ns < 50000000); /* 40 steps of 1 ms */
    assert_true(path->share > 0.75 && path->share < 0.85);
    unmake(&m);
}

static void where_nobody_is_slow_nobody_is_called_so(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 20; seed++) {
        char program[160];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:60*step(pack@50us compute@1ms(a@200us 4*b@30us) >1 <1);ranks=%d;"
                 "jitter=0.1;seed=%d",
                 5 + seed, seed);
        make(&m, program);
        assert_int_equal(count(&m, PEER_SLOW), 0);
        assert_int_equal(count(&m, PEER_IMBALANCED), 0);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        assert_true(m.peers.slowdown == 1);
        unmake(&m);
    }
}

static void of_four_nothing_is_said(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(compute@1ms >1 <1);ranks=4;jitter=0.02;slow=compute/1/1.5/1");
    assert_int_equal(count(&m, PEER_UNSURE), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(m.peers.place[i].n_paths, 0);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_is_a_little_slow_in_one_path_is_named),
        cmocka_unit_test(the_others_wait_for_it_however_far_away_they_are),
        cmocka_unit_test(more_to_do_is_not_slow),
        cmocka_unit_test(it_is_said_since_when),
        cmocka_unit_test(where_nobody_is_slow_nobody_is_called_so),
        cmocka_unit_test(of_four_nothing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
