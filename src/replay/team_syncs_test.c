/* Times are in microseconds, as sample_view.h has them. */
#include "replay/team_syncs.h"

#include "replay/critical.h"
#include "replay/replay.h"

#include "sample_view.h"
#include "test.h"

struct played {
    struct sample_view trace;
    struct syncs syncs;
    struct replay replay;
};

static void begin(struct played *p, uint32_t n_locations, const char *const *text)
{
    struct replay_result unchanged;

    sample_view_init(&p->trace, n_locations, text);
    assert_int_equal(syncs_init(&p->syncs, &p->trace.view), 0);
    replay_init(&p->replay, &p->syncs);
    replay_whole(&p->replay, &unchanged);
    assert_int_equal(unchanged.saved_ns, 0);
}

static void end(struct played *p)
{
    replay_release(&p->replay);
    syncs_release(&p->syncs);
    sample_view_release(&p->trace);
}

#define BEGIN(p, ...)                                                                          \
    begin(p, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                      \
          (const char *const[]){__VA_ARGS__})

/* What is saved, in us, when so much is cut out of the first call of a name on a location; the
 * critical path has to allow it. */
static double saved(struct played *p, uint32_t location, const char *name, int64_t us)
{
    const struct call_view *calls = &p->trace.view.calls[location];
    uint32_t region = names_find(&p->trace.defs.names, name), row = 0;
    struct replay_result result, whole;
    struct critical critical;

    while (row + 1 < calls->n && calls->region[row] != region)
        row++;
    replay_clear(&p->replay);
    replay_cut(&p->replay, location, row, us * 1000);
    replay_whole(&p->replay, &whole);
    replay_run(&p->replay, &result);
    assert_int_equal(result.saved_ns, whole.saved_ns);
    critical_init(&critical, &p->syncs);
    assert_true(critical.is_sound);
    assert_true(result.saved_ns <= critical_cut_ns(&critical, &p->replay));
    critical_release(&critical);
    return (double)result.saved_ns * 1e-3;
}

static double waits_less(const struct played *p, uint32_t location)
{
    return (double)p->replay.waits_less[location] * 1e-3;
}

#define assert_us(is, expected) assert_float_equal(is, expected, 1e-9)

static void a_barrier_of_a_team_waits_for_the_last_thread(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "step@0-99( fork@10-95F( in@10-90M( one@12-30 b@30-81B ) ) after@95-99 )",
          "+in@11-91M( two@12-50 b@50-81B )", "+in@12-90M( three@14-80 b@80-81B )");
    assert_us(saved(&p, 2, "three", 20), 20);
    assert_us(waits_less(&p, 0), 20);
    assert_us(waits_less(&p, 1), 20);
    assert_us(saved(&p, 2, "three", 40), 30); /* then the second is last */
    assert_us(saved(&p, 1, "two", 20), 0);
    assert_us(waits_less(&p, 1), -20);
    assert_us(saved(&p, 0, "one", 10), 0);
    assert_us(saved(&p, 0, "after", 3), 3);
    end(&p);
}

static void a_stop_in_a_thread_is_paid_by_the_ranks_that_wait_for_its_process(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "fork@0-60F( in@0-59M( calc@0-10 b@10-58B ) ) MPI_Send@60-61>1 calc@61-62",
          "+in@1-59M( stop@2-57 b@57-58B )", "calc@0-30 MPI_Recv@30-62<0 calc@62-100");
    /* the text of a rank of its own ends the threads of the one before */
    p.trace.defs.location[2].rank = 2;
    assert_us(saved(&p, 1, "stop", 25), 25);
    assert_us(waits_less(&p, 2), 25);
    assert_us(saved(&p, 1, "stop", 45), 30); /* the receiver has its own work until 30 */
    end(&p);
}

static void a_thread_begins_after_its_fork_and_the_join_comes_after_its_end(void **state)
{
    struct played p;

    (void)state; /* without barriers; the thread is slow to begin by 2 */
    BEGIN(&p, "before@0-20 fork@20-80F( in@20-30M( mine@21-30 ) ) after@80-90",
          "+in@22-78M( theirs@23-77 )");
    assert_us(saved(&p, 0, "before", 15), 15);
    assert_us(waits_less(&p, 1), 0); /* in no team a thread waits for nobody */
    assert_us(saved(&p, 1, "theirs", 30), 30);
    assert_us(waits_less(&p, 0), 30);
    assert_us(saved(&p, 1, "theirs", 54), 48); /* the forking thread is in its own until 30 */
    assert_us(saved(&p, 0, "mine", 5), 0);
    end(&p);
}

static void a_member_without_a_barrier_came_to_it_where_it_ends(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "fork@9-95F( in@10-90M( one@12-30 b@30-40B two@40-45 b@45-86B ) )",
          "+in@10-85M( work@12-39 b@39-40B slow@41-85 )");
    assert_us(saved(&p, 1, "slow", 30), 30);
    assert_us(waits_less(&p, 0), 30);
    assert_us(saved(&p, 1, "slow", 44), 40);
    assert_us(saved(&p, 1, "work", 5), 5);
    assert_us(saved(&p, 1, "work", 15), 9);
    end(&p);
}

static void who_ends_late_is_not_waited_for(void **state)
{
    struct played p;

    (void)state; /* the thread notes its end when it wakes up again: after the join */
    BEGIN(&p, "fork@0-60F( in@0-52M( one@1-20 b@20-51B ) ) after@60-100",
          "+in@1-70M( two@2-50 b@50-51B late@60-70 )");
    assert_us(saved(&p, 1, "two", 10), 10);
    assert_us(saved(&p, 1, "late", 5), 0);
    end(&p);
}

static void what_was_left_before_all_were_there_is_no_barrier(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "fork@0-60F( in@0-52M( one@1-20 b@20-25B calc@25-52 ) ) after@60-100",
          "+in@1-50M( two@2-40 b@40-45B )");
    assert_us(saved(&p, 1, "two", 10), 0);
    assert_us(saved(&p, 0, "one", 10), 2); /* then the other one's end is waited for */
    end(&p);
}

static void a_team_in_a_team_has_barriers_of_its_own(void **state)
{
    struct played p;

    (void)state;
    BEGIN(
        &p,
        "fork@0-90F( in@1-85M( inner@5-50F( m@6-49M( a@7-10 b@10-48B ) ) c@50-60 b@60-80B ) )",
        "+in@2-85M( d@3-79 b@79-80B )", "+m@7-49M( e@8-47 b@47-48B )");
    assert_int_equal(p.trace.view.calls[2].span[0].team, 2);
    assert_int_equal(p.trace.view.calls[1].span[0].team, 0);
    assert_us(saved(&p, 2, "e", 20), 0);
    assert_us(waits_less(&p, 0), 0); /* for less in the inner team, and more in the other */
    assert_us(saved(&p, 1, "d", 10), 10);
    assert_us(saved(&p, 1, "d", 30), 19);
    end(&p);
}

static void who_waits_for_a_created_thread_needs_its_end(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-10 create@10-11C3 mine@11-30 join@30-72W3 after@72-80",
          "+run@12-70T3( work@13-69 )");
    assert_us(saved(&p, 1, "work", 20), 20);
    assert_us(waits_less(&p, 0), 20);
    assert_us(saved(&p, 1, "work", 50), 40);
    assert_us(saved(&p, 0, "mine", 10), 0);
    assert_us(saved(&p, 0, "calc", 6), 6);
    assert_us(saved(&p, 0, "join", 30), 0); /* it only waited */
    end(&p);
}

static void a_thread_whose_fork_is_not_in_the_trace_takes_no_part(void **state)
{
    struct played p;

    (void)state;
    BEGIN(&p, "calc@0-60", "+in@5-55M( work@6-50 b@50-54B )");
    assert_false(syncs_takes_part(&p.syncs, 1));
    assert_us(saved(&p, 1, "work", 20), 0);
    end(&p);
}

/* What is saved, in us, when location 1 comes `us` earlier to the barrier of location 0, in row 2;
 * dependencies are of a GPU, location 2. */
static double saved_late(uint32_t n_dependencies, const struct dependency *dependency,
                         const char *const *text, int64_t us)
{
    struct replay_result result;
    struct played p;

    sample_view_init(&p.trace, 3, text);
    p.trace.view.dependency = dependency;
    p.trace.view.n_dependencies = n_dependencies;
    assert_int_equal(syncs_init(&p.syncs, &p.trace.view), 0);
    replay_init(&p.replay, &p.syncs);
    replay_cut_late(&p.replay, 0, 2, 10000, us * 1000, 0);
    replay_whole(&p.replay, &result);
    assert_int_equal(p.replay.added_ns, us < 0 ? -us * 1000 : 0);
    end(&p);
    return (double)result.saved_ns * 1e-3;
}

static void who_comes_late_is_shortened_where_it_took_longest(void **state)
{
    static const char *const launches[] = {
        "fork@10-95F( in@10-95M( wait@10-95B ) ) after@95-99",
        "+in@10-95M( launch@20-21 slow@21-90 launch@90-91 )", "k@22-30 k@92-94"};
    static const char *const waits[] = {"fork@10-95F( in@10-95M( wait@10-95B ) ) after@95-99",
                                        "+in@10-95M( sync@10-95 )", "k@12-95"};
    const struct dependency launched[] = {
        {22000, 20000, 2, 1, ANY_REGION, ANY_REGION, DEPENDENCY_BEGIN, 0},
        {92000, 90000, 2, 1, ANY_REGION, ANY_REGION, DEPENDENCY_BEGIN, 0}};
    const struct dependency waited = {
        10000, 12000, 1, 2, ANY_REGION, ANY_REGION, DEPENDENCY_RETURN, 0};

    (void)state;
    assert_us(saved_late(2, launched, launches, 30),
              30);                                   /* between the launches it took longest */
    assert_us(saved_late(1, &waited, waits, 30), 0); /* nothing is its own: it only waited */
    assert_us(saved_late(2, launched, launches, -5), -5); /* it came earlier than is typical */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_of_a_team_waits_for_the_last_thread),
        cmocka_unit_test(a_stop_in_a_thread_is_paid_by_the_ranks_that_wait_for_its_process),
        cmocka_unit_test(a_thread_begins_after_its_fork_and_the_join_comes_after_its_end),
        cmocka_unit_test(a_member_without_a_barrier_came_to_it_where_it_ends),
        cmocka_unit_test(who_ends_late_is_not_waited_for),
        cmocka_unit_test(who_comes_late_is_shortened_where_it_took_longest),
        cmocka_unit_test(what_was_left_before_all_were_there_is_no_barrier),
        cmocka_unit_test(a_team_in_a_team_has_barriers_of_its_own),
        cmocka_unit_test(who_waits_for_a_created_thread_needs_its_end),
        cmocka_unit_test(a_thread_whose_fork_is_not_in_the_trace_takes_no_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
