/*
 * What threads do is written as sentences: F fork, J join, [ and ] a member begins and ends, +
 * a call of work, | one of a barrier, C create, ( and ) the created thread, W wait; each a
 * nanosecond after the one before, a digit sets the time to ten times it.
 */
#include "forest/traffic.h"

#include "stack/callstack.h"

#include <ctype.h>

#include "test.h"

enum { WORK, BARRIER };

struct threads {
    struct definitions defs;
    struct traffic traffic;
    struct calls calls[4];
};

static void push(struct callstack *stack, uint64_t time_ns, enum event_kind kind, uint32_t ref)
{
    struct event event = {time_ns, kind, ref};
    struct team_record record = {.kind = ref};
    struct event_batch batch = {.event = &event, .n = 1, .team = &record, .n_teams = 1};

    if (kind == EVENT_TEAM)
        event.ref = 0;
    callstack_push(stack, &batch, 0, 1);
}

static void tell(struct threads *t, uint32_t l, const char *sentence)
{
    static const char records[] = "FJ[]C()W";
    struct callstack *stack = callstack_new();
    struct quality quality = {0};
    uint64_t time_ns = 0;

    callstack_begin(stack, &t->calls[l], &quality);
    for (const char *at = sentence; *at; at++, time_ns++) {
        if (isdigit((unsigned char)*at)) {
            time_ns = 10 * (uint64_t)(*at - '0') - 1;
        } else if (*at == '+' || *at == '|') {
            push(stack, time_ns, EVENT_ENTER, *at == '|' ? BARRIER : WORK);
            push(stack, time_ns, EVENT_LEAVE, *at == '|' ? BARRIER : WORK);
        } else {
            push(stack, time_ns, EVENT_TEAM, (uint32_t)(strchr(records, *at) - records));
        }
    }
    callstack_end(stack);
    callstack_free(stack);
    spans_find_barriers(&t->calls[l], &t->defs);
    traffic_append(&t->traffic, l, &t->calls[l]);
}

static void begin(struct threads *t, uint32_t n, const char *const *sentence)
{
    *t = (struct threads){0};
    definitions_region(&t->defs, "work");
    t->defs.region[definitions_region(&t->defs, "barrier")].is_barrier = true;
    for (uint32_t l = 0; l < n; l++)
        definitions_location(&t->defs, l, "", 0);
    definitions_finish(&t->defs, NULL, 0);
    traffic_init(&t->traffic, n, NULL);
    for (uint32_t l = 0; l < n; l++)
        tell(t, l, sentence[l]);
    teams_match(&t->traffic, &t->defs);
}

static void end(struct threads *t)
{
    for (uint32_t l = 0; l < t->traffic.n_locations; l++)
        calls_release(&t->calls[l]);
    traffic_release(&t->traffic);
    definitions_release(&t->defs);
}

static void members_belong_to_the_fork_that_is_open_when_they_begin(void **state)
{
    struct threads t;

    (void)state;
    begin(&t, 2, (const char *const[]){"0F[+|]5J6F[+]9J", "2[|]7[]"});
    assert_int_equal(t.traffic.n_spans, 6);
    assert_int_equal(t.traffic.span[0].kind, SPAN_FORK);
    assert_int_equal(t.traffic.span[0].n_members, 2);
    assert_int_equal(t.traffic.span[0].end_ns, 50);
    assert_int_equal(t.traffic.span[1].team, 0);
    assert_int_equal(t.traffic.span[4].team, 0);
    assert_int_equal(t.traffic.span[5].team, 2);
    assert_int_equal(teams_count(&t.traffic).n_forks, 2);
    assert_int_equal(teams_count(&t.traffic).largest, 2);
    end(&t);
}

/* The other thread does 20 in 50 of one team, 5 in 25 of the next one. */
static void the_ratio_is_what_others_did_to_how_long_there_were_teams(void **state)
{
    struct threads t;

    (void)state;
    begin(&t, 2, (const char *const[]){"0F1[4]5J6F7[8]8J", "1[3]7["});
    assert_int_equal(t.traffic.span[4].end_ns, 30);
    assert_true(teams_ratio(&t.traffic) > 0.2 && teams_ratio(&t.traffic) < 0.5);
    end(&t);
    begin(&t, 1, (const char *const[]){"0F[+]5J"});
    assert_true(teams_ratio(&t.traffic) == 0);
    end(&t);
}

/* Tasks that a thread runs when it is done are a part of the team of their own. */
static void a_thread_that_is_in_a_team_twice_is_one_member(void **state)
{
    struct threads t;

    (void)state;
    begin(&t, 2, (const char *const[]){"0F[|]9J", "1[+]3[+]5[+]"});
    assert_int_equal(t.traffic.span[0].n_members, 2);
    assert_int_equal(t.traffic.span[4].team, 0);
    assert_int_equal(teams_count(&t.traffic).n_members, 4);
    end(&t);
}

/* The worker of the outer team forks itself; what it does then is in the inner one. */
static void barriers_belong_to_the_innermost_team(void **state)
{
    static const uint32_t of_worker[] = {0, 3, 1, 2};
    struct threads t;

    (void)state;
    begin(&t, 2, (const char *const[]){"0F[||]9J", "1[|2F[||]J|]"});
    assert_int_equal(t.traffic.span[2].n_barriers, 2);
    assert_int_equal(t.traffic.span[2].n_rows, 4);
    assert_int_equal(t.traffic.span[4].team, 3);
    assert_int_equal(t.traffic.span[4].first_row, 1);
    assert_int_equal(t.traffic.span[4].n_barriers, 2);
    assert_memory_equal(t.traffic.barrier + 2, of_worker, sizeof of_worker);
    end(&t);
}

static void a_member_without_its_fork_has_no_team(void **state)
{
    struct threads t;

    (void)state;
    begin(&t, 2, (const char *const[]){"0F[]2J", "1[]5[+"});
    assert_int_equal(t.traffic.span[2].team, 0);
    assert_int_equal(t.traffic.span[3].team, NO_TEAM);
    assert_int_equal(t.traffic.span[3].end_ns, 51);
    assert_int_equal(teams_count(&t.traffic).n_lost, 1);
    end(&t);
}

static void a_created_thread_is_that_of_the_same_number(void **state)
{
    struct threads t;

    (void)state;
    begin(&t, 2, (const char *const[]){"0+C+9W", "2(+)"});
    assert_int_equal(t.traffic.n_spans, 3);
    assert_int_equal(t.traffic.span[0].kind, SPAN_CREATE);
    assert_int_equal(t.traffic.span[1].kind, SPAN_WAIT);
    assert_int_equal(t.traffic.span[1].team, 0);
    assert_int_equal(t.traffic.span[2].team, 0);
    assert_int_equal(t.traffic.span[2].n_rows, 1);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_belong_to_the_fork_that_is_open_when_they_begin),
        cmocka_unit_test(the_ratio_is_what_others_did_to_how_long_there_were_teams),
        cmocka_unit_test(a_thread_that_is_in_a_team_twice_is_one_member),
        cmocka_unit_test(barriers_belong_to_the_innermost_team),
        cmocka_unit_test(a_member_without_its_fork_has_no_team),
        cmocka_unit_test(a_created_thread_is_that_of_the_same_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
