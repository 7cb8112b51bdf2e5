/* 400 calls of c on each of three ranks, 0.2 ms each; every 80th on rank 1 takes 6 ms. */
#include "monitor/live_state.h"

#include "base/fs.h"

#include "test.h"
#include "test_dir.h"

static const char program[] = "synth:400*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;"
                              "slow=c/80/30/1";

/* Counted by the sink's own means, call by call. */
struct truth {
    uint64_t n_calls, n_anomalies, exclusive_ns, c_exclusive_ns, rank_calls[3];
    double severity_ns;
    uint32_t c;
};

static void count(void *ctx, const struct ad_step *step)
{
    struct truth *truth = ctx;

    truth->c = names_find(&step->defs->names, "c");
    for (uint32_t l = 0; l < step->n_locations; l++)
        for (uint32_t row = 0; row < step->calls[l].n; row++) {
            if (step->calls[l].inclusive_ns[row] == CALL_OPEN)
                continue;
            truth->n_calls++;
            truth->rank_calls[step->defs->location[l].rank]++;
            truth->exclusive_ns += step->calls[l].exclusive_ns[row];
            if (step->calls[l].region[row] == truth->c)
                truth->c_exclusive_ns += step->calls[l].exclusive_ns[row];
        }
    truth->n_anomalies += step->n_verdicts;
    for (size_t i = 0; i < step->n_verdicts; i++)
        truth->severity_ns += round(step->verdict[i].severity_ns);
}

/* Returns how many calls there were too few of to be judged, as ad says it in the end. */
static uint64_t watch_with(const char *source, struct live_state *live, uint64_t step_ns,
                           struct truth *truth, struct ad_opts opts)
{
    uint64_t n_unjudged;
    struct ad_sink sinks[] = {{count, truth}, {live_state_step, live}, {live_state_step, live}};
    struct stream stream;
    struct ad *ad;

    *truth = (struct truth){0};
    if (live->opts.recorder)
        sinks[1] = (struct ad_sink){live_recorder_step, live->opts.recorder};
    opts.sink = sinks;
    opts.n_sinks = live->opts.recorder ? 3 : 2;
    assert_int_equal(stream_open(&stream, source, &(struct stream_opts){.step_ns = step_ns}),
                     0);
    ad = ad_new(&stream, &opts);
    live->opts.stream = &stream;
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    live_state_end(live, NULL, NULL);
    assert_null(live->opts.stream); /* the state outlives it */
    n_unjudged = ad_totals(ad)->n_unjudged;
    ad_free(ad);
    stream_close(&stream);
    return n_unjudged;
}

static uint64_t watch_source(const char *source, struct live_state *live, uint64_t step_ns,
                             struct truth *truth)
{
    return watch_with(source, live, step_ns, truth, ad_default());
}

static void watch_into(struct live_state *live, uint64_t step_ns, struct truth *truth)
{
    watch_source(program, live, step_ns, truth);
}

static struct live_state *watch(uint64_t step_ns, struct truth *truth)
{
    struct live_state *live =
        live_state_new(&(struct live_opts){.source = program, .detector = "hbos", .speed = 0});

    watch_into(live, step_ns, truth);
    return live;
}

static double sum(const struct live_grid *grid, enum live_plane plane, uint32_t row)
{
    double value[LIVE_MAX_BINS], total = 0;
    struct live_span span = live_grid_span(grid, 0, UINT64_MAX, UINT64_MAX - 1, LIVE_MAX_BINS);

    live_grid_read(grid, plane, row, &span, value);
    for (uint32_t i = 0; i < span.width; i++)
        total += value[i];
    return total;
}

/* Of 12,000 calls: as many of each rank, and of each fifth of the time. */
static void calls_that_are_points_are_a_sample_of_all(void **state)
{
    static const char source[] = "synth:4000*step(a@100us);ranks=3;jitter=0.1";
    struct live_state *live =
        live_state_new(&(struct live_opts){.source = source, .detector = "hbos"});
    uint32_t of_rank[3] = {0}, of_time[5] = {0};
    struct truth truth;
    const struct live_points *points = &live->points[LIVE_CALL];

    (void)state;
    watch_source(source, live, 80000000, &truth);
    for (uint32_t b = 0; b < points->n_new; b++)
        for (uint32_t i = 0; i < points->new_block[b]->n; i++) {
            const struct live_point *p = &points->new_block[b]->point[i];

            of_rank[p->rank]++;
            of_time[p->enter_ns / 81000000 < 5 ? p->enter_ns / 81000000 : 4]++;
        }
    for (int i = 0; i < 5; i++) {
        assert_true(of_rank[i % 3] > 40 && of_rank[i % 3] < 2 * of_rank[(i + 1) % 3]);
        assert_true(of_time[i] < 2 * of_time[(i + 1) % 5]);
    }
    live_state_free(live);
}

static void everything_is_counted_once_whatever_the_steps(void **state)
{
    static const uint64_t steps[] = {0, 1000000, 37000000, 1000000000};

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct truth truth;
        struct live_state *live = watch(steps[i], &truth);
        uint64_t calls = 0, anomalies = 0;

        assert_int_equal(live->totals.n_calls, truth.n_calls);
        assert_int_equal(live->totals.n_anomalies, truth.n_anomalies);
        assert_true((double)live->totals.severity_ns == truth.severity_ns);
        assert_int_equal(live->n_ranks, 3);
        for (uint32_t r = 0; r < 3; r++) {
            uint32_t row = live_state_find_rank(live, 0, r);

            assert_int_equal(live->rank[row].exclusive_ns.n, truth.rank_calls[r]);
            assert_true(sum(&live->rank_grid, LIVE_CALLS, row) == (double)truth.rank_calls[r]);
            assert_true(sum(&live->rank_grid, LIVE_ANOMALIES, row) ==
                        (double)live->rank[row].anomalies.sums.sum);
            assert_true(r == 1 || live->rank[row].anomalies.sums.sum == 0);
            anomalies += (uint64_t)live->rank[row].anomalies.sums.sum;
        }
        for (uint32_t r = 0; r < live->n_regions; r++)
            calls += live->of_region[r].exclusive_ns.n;
        assert_int_equal(anomalies, truth.n_anomalies);
        assert_int_equal(calls, truth.n_calls);
        assert_true(live->of_region[truth.c].exclusive_ns.sums.sum == truth.c_exclusive_ns);
        assert_true(sum(&live->region_grid, LIVE_EXCLUSIVE, truth.c) ==
                    (double)truth.c_exclusive_ns);
        assert_int_equal(live->region[truth.c].sketch.n,
                         live->of_region[truth.c].exclusive_ns.n);
        assert_true(live->region[truth.c].is_judged);
        live_state_free(live);
    }
}

/*
 * c takes 0.2 ms for a while, but every 80th time on rank 1 it takes 6 ms. Then it takes 6 ms
 * as a rule, and 180 ms every 80th time on rank 1: these are the only ones that are still
 * strange.
 */
static void what_is_usual_in_the_end_is_taken_back_everywhere(void **state)
{
    static const char source[] = "synth:main(400*a(c@200us) 400*b(c@6ms));ranks=3;jitter=0.1;"
                                 "slow=c/80/30/1";
    struct live_state *live =
        live_state_new(&(struct live_opts){.source = source, .detector = "hbos"});
    struct truth truth;
    uint64_t n_strange = 0, n_normal = 0;
    static struct live_cut cut;
    uint32_t row;

    (void)state;
    watch_source(source, live, 20000000, &truth);
    row = live_state_find_rank(live, 0, 1);
    live_points_take(&live->points[LIVE_CALL], &cut);
    for (uint32_t i = 0; i < cut.n; i++)
        for (uint32_t k = 0; k < cut.part[i].n; k++) {
            const struct live_point *p = &cut.part[i].block->point[k];

            if (p->region != truth.c || p->exclusive_ns < 4000000)
                continue;
            n_strange += p->verdict == LIVE_ANOMALY;
            n_normal += p->verdict == LIVE_NORMAL && p->exclusive_ns < 8000000;
            assert_true(p->verdict != LIVE_ANOMALY || p->exclusive_ns > 100000000);
        }
    live_points_give_back(&cut);
    assert_int_equal(n_strange, 5);
    assert_true(n_normal >= 5);
    assert_int_equal(live->totals.n_anomalies, 5);
    assert_int_equal(live->totals.n_taken_back, truth.n_anomalies - 5);
    assert_true(live->totals.n_taken_back >= 5);
    assert_true(live->points[LIVE_CALL].n_taken_back == live->totals.n_taken_back);
    assert_true(live->of_region[truth.c].severity_ns.sums.sum == live->totals.severity_ns);
    assert_true(live->of_region[truth.c].severity_ns.minimum > 100000000);
    assert_true(live->rank[row].severity_ns.n == 5 && live->rank[row].anomalies.sums.sum == 5);
    assert_true(sum(&live->rank_grid, LIVE_ANOMALIES, row) == 5);
    assert_true(sum(&live->region_grid, LIVE_SEVERITY, truth.c) ==
                (double)live->totals.severity_ns);
    live_state_free(live);
}

/* The store does not know what it has removed: totals are those of all else on the page. */
static void what_a_store_has_removed_is_taken_back_as_the_points_are(void **state)
{
    static const char source[] = "synth:60000*step(a@100us);jitter=0.3";
    char dir[] = "live-state-XXXXXX";
    struct live_recorder_opts settings = {
        .url = dir, .window = 10, .counter_prefix = "", .hostname = ""};
    struct live_recorder_counts counts;
    struct ad_opts opts = ad_default();
    struct live_recorder *recorder;
    struct live_state *live;
    struct truth truth;

    (void)state;
    assert_non_null(test_dir(dir));
    settings.store.limit_bytes = 1u << 20;
    settings.store.wait_ms = 60000;
    assert_int_equal(live_recorder_open(&recorder, &settings), 0);
    live = live_state_new(&(struct live_opts){.source = source, .recorder = recorder});
    opts.least_lost_ns = 1;
    opts.detector_opts.p = 0.1;
    watch_with(source, live, 200000000, &truth, opts);
    live_recorder_counts(recorder, &counts);
    assert_true(counts.is_judged_again && counts.store.n_removed > 0);
    assert_true(live->points[LIVE_CALL].n_taken_back > counts.n_taken_back);
    assert_true(live->totals.n_taken_back == live->points[LIVE_CALL].n_taken_back);
    assert_true(live->rank[0].anomalies.sums.sum == live->totals.n_anomalies);
    live_state_free(live);
    assert_int_equal(live_recorder_close(recorder), 0);
    assert_int_equal(fs_remove_tree(dir), 0);
}

static void all_anomalies_are_points_and_a_sample_of_the_others(void **state)
{
    struct truth truth;
    struct live_state *live = watch(100000000, &truth);
    static struct live_cut cut;
    uint64_t n[3] = {0, 0, 0};

    (void)state;
    live_points_take(&live->points[LIVE_CALL], &cut);
    for (uint32_t i = 0; i < cut.n; i++)
        for (uint32_t k = 0; k < cut.part[i].n; k++) {
            const struct live_point *p = &cut.part[i].block->point[k];
            bool is_c = p->region == truth.c;

            n[p->verdict]++;
            assert_true(p->verdict != LIVE_ANOMALY || (is_c && p->rank == 1));
            assert_true(p->exclusive_ns <= p->inclusive_ns);
            assert_true(!is_c || p->verdict == (p->inclusive_ns > 3000000));
        }
    live_points_give_back(&cut);
    assert_int_equal(n[LIVE_ANOMALY], truth.n_anomalies);
    assert_int_equal(n[LIVE_UNJUDGED], 0);
    assert_true(n[LIVE_NORMAL] > 500 && n[LIVE_NORMAL] < truth.n_calls / 2);
    live_state_free(live);
}

static void what_was_too_little_to_judge_is_as_ad_says_it(void **state)
{
    struct live_state *live =
        live_state_new(&(struct live_opts){.source = program, .detector = "hbos", .speed = 0});
    static struct live_cut cut;
    struct truth truth;
    uint64_t n_points = 0;
    uint64_t n_unjudged =
        watch_source("synth:main(13*step(200*c@1ms));ranks=2", live, 37000000, &truth);

    (void)state;
    assert_int_equal(n_unjudged, 2 + 26); /* of main and of step: below 100 */
    assert_int_equal(live->totals.n_unjudged, n_unjudged);
    live_points_take(&live->points[LIVE_CALL], &cut);
    for (uint32_t i = 0; i < cut.n; i++)
        for (uint32_t k = 0; k < cut.part[i].n; k++) {
            const struct live_point *p = &cut.part[i].block->point[k];

            n_points += p->region != truth.c;
            assert_true(p->region == truth.c || p->verdict == LIVE_UNJUDGED);
            assert_true(p->verdict != LIVE_UNJUDGED || p->score == 0);
        }
    live_points_give_back(&cut);
    assert_int_equal(n_points, n_unjudged);
    live_state_free(live);
}

static void versions_count_steps(void **state)
{
    struct truth truth;
    struct live_state *live = watch(100000000, &truth);

    (void)state;
    /* Also by the step that closes what is open, which is none of the program's, and the end. */
    assert_int_equal(live_state_version(live), live->totals.n_steps + 2);
    assert_int_equal(live->phase, LIVE_OVER);
    assert_true(isnan(live->totals.lag_ns));
    live_state_free(live);
    live_state_free(NULL);
}

/* Of a second run nothing of the first is left but its names, which somebody may be using. */
static void a_next_run_begins_with_nothing(void **state)
{
    struct truth first, second;
    struct live_state *live = watch(100000000, &first);
    const char *name = live->region[0].name;
    uint64_t version = live_state_version(live);

    (void)state;
    assert_int_equal(live->run, 1);
    assert_null(live_state_store_url(live));
    live_state_next_run(live, "job-2.store");
    assert_int_equal(live->run, 2);
    assert_string_equal(live_state_store_url(live), "job-2.store");
    assert_true(live_state_version(live) > version);
    assert_int_equal(live->phase, LIVE_RUNNING);
    assert_int_equal(live->n_ranks + live->n_regions + live->n_places, 0);
    assert_int_equal(live->points[LIVE_CALL].next, 0);
    watch_into(live, 37000000, &second);
    assert_int_equal(second.n_calls, first.n_calls);
    assert_int_equal(live->totals.n_calls, second.n_calls);
    assert_int_equal(live->totals.n_anomalies, second.n_anomalies);
    assert_true(sum(&live->region_grid, LIVE_EXCLUSIVE, second.c) ==
                (double)second.c_exclusive_ns);
    assert_ptr_equal(live->region[0].name, name);
    live_state_free(live);
}

static void what_is_not_kept_is_trouble(void **state)
{
    struct live_state *live = live_state_new(&(struct live_opts){.source = "x"});
    struct prov_counts counts = {.n_stored = 3};
    char text[256] = "ok";

    (void)state;
    assert_false(live_state_trouble(live, text));
    live_state_stored(live, &counts);
    assert_false(live_state_trouble(live, text));
    assert_string_equal(text, "ok");
    assert_int_equal(live_state_version(live), 0);
    counts = (struct prov_counts){.is_failing = true, .why = "no space left", .n_dropped = 470};
    live_state_stored(live, &counts);
    assert_int_equal(live_state_version(live), 1);
    assert_true(live_state_trouble(live, text));
    assert_string_equal(text, "the store cannot be written: no space left; 470 rows are lost");
    counts.is_failing = false;
    live_state_end(live, NULL, &counts);
    assert_false(live_state_trouble(live, text)); /* there is room again */
    live_state_end(live, NULL, &(struct prov_counts){.is_failing = true});
    assert_true(live_state_trouble(live, text));
    live_state_next_run(live, NULL);
    assert_false(live_state_trouble(live, text));
    live_state_free(live);
}

/* With "step" as the function of interest; free with live_state_free. */
static struct live_state *watch_steps(uint64_t step_ns)
{
    static const char *const pattern = "step";
    struct live_state *live = live_state_new(
        &(struct live_opts){.source = program, .detector = "hbos", .typical = LIVE_EXECUTION});
    struct live_trees_opts trees_opts = live_trees_default();
    struct ad_sink sinks[2];
    struct ad_opts opts = ad_default();
    struct stream stream;
    struct ad *ad;

    trees_opts.pattern = &pattern;
    trees_opts.n_patterns = 1;
    assert_int_equal(live_trees_new(&trees_opts, &live->opts.trees), 0);
    sinks[0] = (struct ad_sink){live_trees_step, live->opts.trees};
    sinks[1] = (struct ad_sink){live_state_step, live};
    opts.sink = sinks;
    opts.n_sinks = 2;
    assert_int_equal(stream_open(&stream, program, &(struct stream_opts){.step_ns = step_ns}),
                     0);
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    ad_free(ad);
    stream_close(&stream);
    live_trees_free(live->opts.trees);
    live->opts.trees = NULL;
    return live;
}

/* 400 on each rank: step, compute, a, three times b, c. With a slow c they take 7 ms, not 1.2.
 */
static void executions_are_points_wherever_steps_end(void **state)
{
    static const uint64_t steps[] = {0, 3000000, 100000000};
    static struct live_cut cut;

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct live_state *live = watch_steps(steps[i]);
        uint32_t n[3] = {0, 0, 0}, n_of_rank[3] = {0, 0, 0};

        live_points_take(&live->points[LIVE_EXECUTION], &cut);
        for (uint32_t b = 0; b < cut.n; b++)
            for (uint32_t k = 0; k < cut.part[b].n; k++) {
                const struct live_point *p = &cut.part[b].block->point[k];

                n[p->verdict]++;
                assert_string_equal(live->region[p->region].name, "step");
                assert_int_equal(p->kind, LIVE_EXECUTION);
                assert_int_equal(p->index, n_of_rank[p->rank]++);
                assert_int_equal(p->vertices, 7);
                assert_true(p->verdict != LIVE_NORMAL || p->inclusive_ns < 4000000);
                assert_true((p->verdict == LIVE_ANOMALY) == (p->score > 6));
            }
        live_points_give_back(&cut);
        assert_int_equal(n[LIVE_UNJUDGED], 30);
        assert_true(n[LIVE_ANOMALY] >= 4);
        assert_int_equal(n[0] + n[1] + n[2], 1200);
        assert_int_equal(live->executions.n, 1200);
        assert_int_equal(live->executions.n_anomalies, n[LIVE_ANOMALY]);
        assert_true(live->points[LIVE_CALL].next > 100);
        for (uint32_t r = 0; r < live->n_regions; r++)
            assert_true(live->region[r].is_foi == (strcmp(live->region[r].name, "step") == 0));
        live_state_free(live);
    }
}

static void statistics_are_those_of_the_numbers(void **state)
{
    struct live_stat whole = {0}, parts[2] = {{0}, {0}};
    static const uint64_t numbers[] = {5, 1, 9, 9, 4};

    (void)state;
    for (int i = 0; i < 5; i++) {
        live_stat_add(&whole, numbers[i]);
        live_stat_add(&parts[i / 3], numbers[i]);
    }
    live_stat_merge(&parts[0], &parts[1]);
    assert_memory_equal(&parts[0], &whole, sizeof whole);
    assert_true(live_stat_mean(&whole) == 5.6);
    assert_true(fabs(live_stat_deviation(&whole) - 3.0724582991474434) < 1e-12);
    assert_int_equal(whole.minimum, 1);
    assert_int_equal(whole.maximum, 9);
    assert_int_equal(whole.last, 4);
    assert_int_equal(whole.before_last, 9);
}

static void readings_are_those_of_the_values(void **state)
{
    struct live_reading whole = {0}, part = {0};

    (void)state;
    live_reading_add(&whole, -1, 3);
    live_reading_add(&part, 2, 1);
    live_reading_add(&part, 8, 2);
    live_reading_merge(&whole, &part);
    assert_int_equal(whole.n, 3);
    assert_true(whole.mean == 3);
    assert_true(fabs(whole.square_sum - 42) < 1e-12); /* 16 + 1 + 25 */
    assert_true(whole.minimum == -1 && whole.maximum == 8 && whole.last == 8);
    assert_int_equal(whole.last_rank, 2);
}

static void a_store_is_there_when_the_program_is(void **state)
{
    struct live_state *live = live_state_new(
        &(struct live_opts){.source = program, .store_url = "x", .detector = ""});
    struct prov_counts counts = {.n_stored = 38};

    (void)state;
    assert_false(live_state_has_store(live));
    live_state_end(live, NULL, &counts);
    assert_true(live_state_has_store(live));
    live_state_free(live);
}

/* Of rank 3 a server was told of 6 anomalies in 2 steps; 2 were taken back, by records. */
static void what_is_taken_back_leaves_what_a_server_was_told(void **state)
{
    struct live_state *live = live_state_new(
        &(struct live_opts){.source = "s", .store_url = "s", .detector = "?", .is_past = true});
    struct ps_snapshot known = {.n_functions = 0};
    struct live_point point = {.rank = 3, .enter_ns = 10, .verdict = LIVE_NORMAL};
    struct ps_stat_entry entry = {.program = {.data = (unsigned char *)"0", .n = 1},
                                  .name = {.data = (unsigned char *)"anomalies", .n = 9},
                                  .rank = 3};
    struct names number = {0};
    struct ps_stat stat = {0};
    char key[PS_KEY_SIZE];

    (void)state;
    names_add(&number, "f");
    for (int i = 0; i < 3; i++) {
        live_state_past(live, &point, "f", i < 2);
        point.verdict = LIVE_ANOMALY;
    }
    assert_int_equal(live->totals.n_anomalies, 2);
    assert_int_equal(live->totals.n_taken_back, 2);
    assert_int_equal((uint64_t)live->rank[0].anomalies.sums.sum, 2);
    assert_false(live->rank[0].has_steps || live_state_knows_calls(live));
    ps_stat_add(&stat, 2);
    ps_stat_add(&stat, 4);
    ps_state_key(&entry, key);
    ps_state_count(&known.state, key, &stat);
    for (int times = 0; times < 3; times++) {
        live_state_past_known(live, &known, &number);
        assert_true(live->rank[0].has_steps);
        assert_int_equal((uint64_t)live->rank[0].anomalies.sums.sum, 4);
        assert_int_equal(live->rank[0].anomalies.n, 2);
    }
    ps_state_release(&known.state);
    names_release(&number);
    live_state_free(live);
}

/* Two programs with a function of the same name: their calls are added up, however often the
 * server is asked. */
static void what_a_server_knows_of_programs_is_added_up(void **state)
{
    struct live_state *live =
        live_state_new(&(struct live_opts){.source = "s", .detector = "?"});
    char *functions[] = {"0\nf", "1\nf", "0\ng"};
    struct ps_snapshot known = {.n_functions = 3, .function = functions};
    struct names number = {0};
    struct sketch one;
    struct ps_stat stat = {0};

    (void)state;
    sketch_init(&one);
    sketch_add(&one, 1000);
    ps_stat_add(&stat, 2);
    ps_stat_add(&stat, 4);
    for (uint32_t i = 0; i < 2; i++) {
        struct ps_stat_entry entry = {
            .program = {.data = (unsigned char *)(i ? "1" : "0"), .n = 1},
            .region = {.data = (unsigned char *)"f", .n = 1},
            .name = {.data = (unsigned char *)"calls", .n = 5},
            .rank = PS_ALL_RANKS};
        char key[PS_KEY_SIZE];

        ps_state_add(&known.state, i, &one);
        ps_state_key(&entry, key);
        ps_state_count(&known.state, key, &stat);
        entry.region.n = 0;
        entry.rank = 3;
        ps_state_key(&entry, key);
        ps_state_count(&known.state, key, &stat);
        entry.region.n = 1; /* of a rank alone: not that of the function */
        ps_state_key(&entry, key);
        ps_state_count(&known.state, key, &stat);
    }
    for (int times = 0; times < 3; times++) {
        live_state_past_known(live, &known, &number);
        assert_int_equal(live->n_regions, 2);
        assert_int_equal(live->of_region[0].exclusive_ns.n, 2);
        assert_int_equal(live->of_region[0].n_calls, 12);
        assert_int_equal(live->region[0].sketch.n, 2);
        assert_int_equal(live->n_ranks, 2);
        assert_int_equal(live->rank[live_state_find_rank(live, 1, 3)].n_calls, 6);
        assert_int_equal(live->totals.n_calls, 2);
    }
    ps_state_release(&known.state);
    sketch_release(&one);
    names_release(&number);
    live_state_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_are_points_are_a_sample_of_all),
        cmocka_unit_test(everything_is_counted_once_whatever_the_steps),
        cmocka_unit_test(what_is_usual_in_the_end_is_taken_back_everywhere),
        cmocka_unit_test(what_a_store_has_removed_is_taken_back_as_the_points_are),
        cmocka_unit_test(all_anomalies_are_points_and_a_sample_of_the_others),
        cmocka_unit_test(what_was_too_little_to_judge_is_as_ad_says_it),
        cmocka_unit_test(versions_count_steps),
        cmocka_unit_test(a_next_run_begins_with_nothing),
        cmocka_unit_test(what_is_not_kept_is_trouble),
        cmocka_unit_test(executions_are_points_wherever_steps_end),
        cmocka_unit_test(statistics_are_those_of_the_numbers),
        cmocka_unit_test(readings_are_those_of_the_values),
        cmocka_unit_test(a_store_is_there_when_the_program_is),
        cmocka_unit_test(what_a_server_knows_of_programs_is_added_up),
        cmocka_unit_test(what_is_taken_back_leaves_what_a_server_was_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
