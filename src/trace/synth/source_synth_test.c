#include "trace/source.h"

#include "base/err.h"

#include "test.h"

/* Calls of a location as "main+0 a+1000 a-2000 main-2000"; the last event's time in *end. */
static const char *events_of(const char *program, uint32_t location)
{
    static char out[8192];
    const struct event_batch *batch;
    struct source_reader *reader;
    struct quality quality = {0};
    struct source source;
    char *at = out;

    assert_int_equal(source_open(&source, program), 0);
    reader = source_reader_new(&source);
    *out = '\0';
    source_reader_begin(reader, location, UINT64_MAX);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++)
            if (batch->event[i].kind <= EVENT_LEAVE)
                at += sprintf(at, "%s%s%s%d", at > out ? " " : "",
                              source.defs.region[batch->event[i].ref].name,
                              batch->event[i].kind == EVENT_ENTER ? "+" : "-",
                              (int)batch->event[i].time_ns);
    source_reader_end(reader, &quality);
    source_reader_free(reader);
    source_close(&source);
    return out;
}

static void a_sentence_is_a_program(void **state)
{
    (void)state;
    assert_string_equal(events_of("synth:main(solve(wait) io)", 0),
                        "main+0 solve+1000 wait+2000 wait-3000 solve-3000 io+3000 io-4000 "
                        "main-4000");
    assert_string_equal(events_of("synth:2*a@5ns(2*b@1ns)", 0),
                        "a+0 b+5 b-6 b+6 b-7 a-7 a+7 b+12 b-13 b+13 b-14 a-14");
}

/* Rank 1 sends 10 us late; rank 0 waits for it. */
static void delays_travel_with_messages(void **state)
{
    const char *program = "synth:1:a@10us 1:>1 0:<1;ranks=2";

    (void)state;
    assert_string_equal(events_of(program, 1), "a+0 a-10000 MPI_Send+10000 MPI_Send-10500");
    assert_string_equal(events_of(program, 0), "MPI_Recv+0 MPI_Recv-11500");
}

static void a_barrier_lets_everybody_go_at_once(void **state)
{
    const char *program = "synth:2:a@10us |;ranks=3";

    (void)state;
    assert_string_equal(events_of(program, 0), "MPI_Barrier+0 MPI_Barrier-11500");
    assert_string_equal(events_of(program, 2),
                        "a+0 a-10000 MPI_Barrier+10000 MPI_Barrier-11500");
}

static void some_calls_can_be_slow(void **state)
{
    (void)state;
    assert_string_equal(events_of("synth:4*a@1ns;slow=a/3/10", 0),
                        "a+0 a-1 a+1 a-2 a+2 a-12 a+12 a-13");
    assert_string_equal(events_of("synth:2*a@1ns;slow=a/1/5/1;ranks=2", 0), "a+0 a-1 a+1 a-2");
    assert_string_equal(events_of("synth:2*a@1ns;slow=a/1/5/1;ranks=2", 1), "a+0 a-5 a+5 a-10");
    assert_string_equal(events_of("synth:3*a@2ns;grow=a/0.5", 0), "a+0 a-3 a+3 a-7 a+7 a-12");
    assert_string_equal(events_of("synth:2*a@2ns;grow=a/0.5/1;ranks=2", 0), "a+0 a-2 a+2 a-4");
}

static void a_team_waits_for_its_last_thread(void **state)
{
    const char *program = "synth:s@1us(t@1us[2:a@1us b@2us(c@3us)]);threads=2;slow=b/1/2/0.1";

    (void)state;
    assert_string_equal(events_of(program, 0),
                        "s+0 t+1000 b+2000 c+4000 c-7000 b-7000 omp_implicit_barrier+7000 "
                        "omp_implicit_barrier-9400 t-9400 s-9400");
    assert_string_equal(events_of(program, 1),
                        "b+2200 c+6200 c-9200 b-9200 omp_implicit_barrier+9200 "
                        "omp_implicit_barrier-9400");
}

static void clocks_can_be_wrong(void **state)
{
    (void)state;
    assert_string_equal(events_of("synth:a;ranks=3;skew=5us", 2), "a+10000 a-11000");
    assert_string_equal(events_of("synth:a@1s;ranks=2;drift=10", 1), "a+0 a-1000010000");
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    char first[8192];

    (void)state;
    strcpy(first, events_of("synth:9*a;jitter=0.3;seed=4", 0));
    assert_string_equal(events_of("synth:9*a;jitter=0.3;seed=4", 0), first);
    assert_string_not_equal(events_of("synth:9*a;jitter=0.3;seed=5", 0), first);
}

/* Times and kinds of all events of a location, as a number; how many in *n. */
static uint64_t sum_of(struct source_reader *reader, uint32_t location, size_t *n)
{
    const struct event_batch *batch;
    struct quality quality = {0};
    uint64_t sum = 0;

    *n = 0;
    source_reader_begin(reader, location, UINT64_MAX);
    while (source_reader_next(reader, &batch) > 0) {
        for (size_t i = 0; i < batch->n; i++)
            sum = 31 * sum + 8 * batch->event[i].time_ns + batch->event[i].kind;
        *n += batch->n;
    }
    source_reader_end(reader, &quality);
    return sum;
}

/* Each location is run anew by whoever reads it, whatever was read before. */
static void locations_are_read_in_any_order(void **state)
{
    struct source_reader *reader, *other;
    struct source source;
    size_t n[4], n_again;
    uint64_t sum[4];

    (void)state;
    assert_int_equal(
        source_open(&source, "synth:2000*s(w[3*a] >1 <1 |);threads=2;ranks=2;jitter=0.3"), 0);
    reader = source_reader_new(&source);
    other = source_reader_new(&source);
    for (uint32_t l = 0; l < 4; l++)
        sum[l] = sum_of(reader, l, &n[l]);
    for (uint32_t l = 4; l-- > 0;) {
        assert_int_equal(sum_of(other, l, &n_again), sum[l]);
        assert_int_equal(n_again, n[l]);
        assert_int_equal(sum_of(reader, l, &n_again), sum[l]);
    }
    /* s, w, a, the team's barrier and three of MPI; fork, join, begin, end; what MPI did */
    assert_int_equal(n[0], 2000 * (2 * (1 + 1 + 3 + 1 + 3) + 4 + 3));
    assert_int_equal(n[1], 2000 * (2 * (3 + 1) + 2));
    assert_int_not_equal(sum[0], sum[2]);
    source_reader_free(reader);
    source_reader_free(other);
    source_close(&source);
}

static void mistakes_are_pointed_at(void **state)
{
    static const char *const wrong[][2] = {
        {"synth:", "no items"},
        {"synth:a(", "')' is missing"},
        {"synth:a)", "end expected"},
        {"synth:a@5", "a unit"},
        {"synth:a@-5s", "impossible time"},
        {"synth:3a", "'*' or ':' expected"},
        {"synth:>", "a number is missing"},
        {"synth:a[b", "']' is missing"},
        {"synth:a[b[c]]", "a team in a team"},
        {"synth:a[b >1]", "no call in a team"},
        {"synth:a[b];threads=0", "impossible number of threads"},
        {"synth:a;ranks=0", "impossible number of ranks"},
        {"synth:a;speed=3", "unknown setting"},
        {"synth:a;slow=a/0/3", "name/every/factor"},
        {"synth:a;grow=a", "name/growth"},
        {"synth:a;grow=a/-1", "from 0 to"},
        {"synth:a;slow=a/2/1e9", "from 0 to"},
        {"synth:a;slow=a", "name/every/factor"},
        {"synth:a;slow=a/3", "name/every/factor"},
        {"synth:a;off=a", "name/time"},
        {"synth:<1;ranks=2", "wait for each other for ever"},
        {"synth:4000000000*a", "more than 10000000000 events"},
        {"synth:400000000*|", "more than 300000000 messages"},
        {"synth:99999999999999999999999*a", "a number is missing"},
    };
    struct source source;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(source_open(&source, wrong[i][0]) < 0);
        if (strstr(err_message(), wrong[i][1]) == NULL)
            print_error("'%s': %s\n", wrong[i][0], err_message());
        assert_non_null(strstr(err_message(), wrong[i][1]));
        source_close(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_is_a_program),
        cmocka_unit_test(delays_travel_with_messages),
        cmocka_unit_test(a_barrier_lets_everybody_go_at_once),
        cmocka_unit_test(some_calls_can_be_slow),
        cmocka_unit_test(a_team_waits_for_its_last_thread),
        cmocka_unit_test(clocks_can_be_wrong),
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
        cmocka_unit_test(locations_are_read_in_any_order),
        cmocka_unit_test(mistakes_are_pointed_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
