#include "forest/traffic.h"

#include "test.h"

struct world {
    struct definitions defs;
    struct traffic traffic;
    struct quality quality[5];
};

static void begin(struct world *w, uint32_t n_ranks)
{
    uint32_t comm;

    *w = (struct world){0};
    comm = definitions_comm(&w->defs, "world", n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++) {
        definitions_location(&w->defs, r, "", r);
        w->defs.comm[comm].member[r] = r;
    }
    definitions_finish(&w->defs, NULL, 0);
    traffic_init(&w->traffic, n_ranks, NULL);
}

static void end(struct world *w)
{
    traffic_release(&w->traffic);
    definitions_release(&w->defs);
}

static void add(struct world *w, uint32_t rank, struct message *message, size_t n)
{
    struct calls calls = {.message = message, .n_messages = n};

    for (size_t i = 0; i < n; i++)
        message[i].match = MESSAGE_UNMATCHED;
    traffic_append(&w->traffic, rank, &calls);
}

#define SEND(to, tag_, order_)                                                                 \
    {                                                                                          \
        .kind = MESSAGE_SEND, .peer = to, .tag = tag_, .order = order_                         \
    }
#define RECV(from, tag_, order_)                                                               \
    {                                                                                          \
        .kind = MESSAGE_RECV, .peer = from, .tag = tag_, .order = order_                       \
    }

/* Rank 1 posts two receives of tag 5 and completes the second first. */
static void receives_match_in_the_order_they_were_posted(void **state)
{
    struct message zero[] = {SEND(1, 5, 0), SEND(1, 6, 1), SEND(1, 5, 2)};
    struct message one[] = {RECV(0, 5, 1), RECV(0, 5, 0), RECV(0, 6, 2)};
    struct world w;

    (void)state;
    begin(&w, 2);
    add(&w, 0, zero, 3);
    add(&w, 1, one, 3);
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.message[0].match, 4);
    assert_int_equal(w.traffic.message[1].match, 5);
    assert_int_equal(w.traffic.message[2].match, 3);
    assert_int_equal(w.traffic.message[4].match, 0);
    assert_int_equal(traffic_location_of(&w.traffic, 2), 0);
    assert_int_equal(traffic_location_of(&w.traffic, 3), 1);
    end(&w);
}

/* Two threads of rank 0 send in turn, each with a count of its own. */
static void sends_of_threads_match_in_the_order_of_time(void **state)
{
    struct message first[] = {SEND(2, 0, 0), SEND(2, 0, 1)}, second[] = {SEND(2, 0, 7)};
    struct message received[] = {RECV(0, 0, 0), RECV(0, 0, 1), RECV(0, 0, 2)};
    struct world w;

    (void)state;
    begin(&w, 3);
    w.defs.location[1].rank = 0;
    first[0].begin_ns = 10;
    second[0].begin_ns = 20;
    first[1].begin_ns = 30;
    add(&w, 0, first, 2);
    add(&w, 1, second, 1);
    add(&w, 2, received, 3);
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.message[0].match, 3);
    assert_int_equal(w.traffic.message[2].match, 4);
    assert_int_equal(w.traffic.message[1].match, 5);
    end(&w);
}

static void what_finds_no_partner_is_counted_where_it_is(void **state)
{
    struct message zero[] = {SEND(1, 0, 0), SEND(1, 0, 1), SEND(2, 0, 2)};
    struct message one[] = {RECV(0, 0, 0)};
    struct message two[] = {RECV(0, 9, 0), RECV(1, 0, 1)};
    struct world w;

    (void)state;
    begin(&w, 3);
    add(&w, 0, zero, 3);
    add(&w, 1, one, 1);
    add(&w, 2, two, 2);
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.quality[0].n[QUALITY_unmatched_send], 2);
    assert_int_equal(w.quality[1].n[QUALITY_unmatched_recv], 0);
    assert_int_equal(w.quality[2].n[QUALITY_unmatched_recv], 2);
    assert_true(w.traffic.message[1].match == MESSAGE_UNMATCHED);
    end(&w);
}

static void messages_to_oneself_match(void **state)
{
    struct message zero[] = {SEND(0, 0, 0), RECV(0, 0, 1)};
    struct world w;

    (void)state;
    begin(&w, 1);
    add(&w, 0, zero, 2);
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.message[0].match, 1);
    assert_int_equal(w.traffic.message[1].match, 0);
    end(&w);
}

/* Against a plain search for the first unmatched partner. */
static void agrees_with_a_plain_search(void **state)
{
    enum { RANKS = 4, EACH = 300 };
    static struct message message[RANKS][EACH];
    struct world w;

    (void)state;
    srand(3);
    begin(&w, RANKS);
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t i = 0; i < EACH; i++)
            message[r][i] = (struct message){.kind = (uint32_t)rand() % 2,
                                             .peer = (uint32_t)rand() % RANKS,
                                             .tag = (uint32_t)rand() % 3,
                                             .order = i};
        add(&w, r, message[r], EACH);
    }
    traffic_match(&w.traffic, &w.defs, w.quality);
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t next[RANKS][3] = {{0}}; /* where the search in the peer's rows goes on */

        for (uint32_t i = 0; i < EACH; i++) {
            const struct message *m = &w.traffic.message[r * EACH + i];
            uint32_t *at = &next[m->peer][m->tag];
            const struct message *o = NULL;

            if (m->kind != MESSAGE_SEND)
                continue;
            for (; *at < EACH; (*at)++) {
                o = &w.traffic.message[m->peer * EACH + *at];
                if (o->kind == MESSAGE_RECV && o->peer == r && o->tag == m->tag)
                    break;
            }
            if (*at == EACH)
                assert_true(m->match == MESSAGE_UNMATCHED);
            else
                assert_int_equal(m->match, m->peer * EACH + (*at)++);
        }
    }
    end(&w);
}

static void collectives_belong_together_by_their_number(void **state)
{
    struct collective each[] = {{.order = 0}, {.order = 1}};
    struct calls calls = {.collective = each, .n_collectives = 2};
    struct world w;

    (void)state;
    begin(&w, 2);
    traffic_append(&w.traffic, 0, &calls);
    traffic_append(&w.traffic, 1, &calls);
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.n_instances, 2);
    assert_int_equal(w.traffic.collective[1].instance, w.traffic.collective[3].instance);
    assert_int_not_equal(w.traffic.collective[0].instance, w.traffic.collective[1].instance);
    end(&w);
}

/* Rank 0 is done with the first before it calls the second, rank 1 with the second first. Numbers
 * of a part of a trace need not begin with 0. */
static void collectives_belong_together_in_the_order_of_their_calls(void **state)
{
    struct collective zero[] = {{.order = 7, .begin_ns = 10}, {.order = 8, .begin_ns = 30}};
    struct collective one[] = {{.order = 7, .begin_ns = 12}, {.order = 8, .begin_ns = 11}};
    struct world w;

    (void)state;
    begin(&w, 2);
    traffic_append(&w.traffic, 0, &(struct calls){.collective = zero, .n_collectives = 2});
    traffic_append(&w.traffic, 1, &(struct calls){.collective = one, .n_collectives = 2});
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.n_instances, 2);
    assert_int_equal(w.traffic.collective[0].instance, w.traffic.collective[3].instance);
    assert_int_equal(w.traffic.collective[1].instance, w.traffic.collective[2].instance);
    assert_int_equal(w.traffic.collective[2].order, 8);
    end(&w);
}

/* Rank 0 calls the first on one thread and the second on another, rank 1 the other way round, and
 * each thread counts its own. Rank 2 has one thread. */
static void collectives_of_threads_belong_together_by_time(void **state)
{
    struct collective one = {.order = 0}, two[] = {{.order = 0}, {.order = 1}};
    const uint64_t begin_ns[] = {10, 20, 21, 11};
    struct world w;

    (void)state;
    begin(&w, 5);
    w.defs.location[1].rank = 0;
    w.defs.location[2].rank = w.defs.location[3].rank = 1;
    for (uint32_t l = 0; l < 4; l++) {
        one.begin_ns = begin_ns[l];
        traffic_append(&w.traffic, l, &(struct calls){.collective = &one, .n_collectives = 1});
    }
    two[1].begin_ns = 22;
    traffic_append(&w.traffic, 4, &(struct calls){.collective = two, .n_collectives = 2});
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.n_instances, 2);
    assert_int_equal(w.traffic.collective[0].instance, w.traffic.collective[3].instance);
    assert_int_equal(w.traffic.collective[0].instance, w.traffic.collective[4].instance);
    assert_int_equal(w.traffic.collective[1].instance, w.traffic.collective[2].instance);
    assert_int_equal(w.traffic.collective[1].instance, w.traffic.collective[5].instance);
    end(&w);
    /* rules number the meetings, which two threads of a rank may both be in */
    begin(&w, 2);
    w.defs.location[1].rank = 0;
    w.defs.comm[0].is_met = true;
    for (uint32_t l = 0; l < 2; l++)
        traffic_append(&w.traffic, l, &(struct calls){.collective = &one, .n_collectives = 1});
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.n_instances, 1);
    end(&w);
}

/* The second has no record of rank 1. */
static void collectives_are_complete_when_all_members_have_a_record(void **state)
{
    struct collective each[] = {{.order = 0}, {.order = 1}};
    struct calls both = {.collective = each, .n_collectives = 2};
    struct calls first = {.collective = each, .n_collectives = 1};
    struct world w;

    (void)state;
    begin(&w, 2);
    traffic_append(&w.traffic, 0, &both);
    traffic_append(&w.traffic, 1, &first);
    traffic_match(&w.traffic, &w.defs, w.quality);
    assert_int_equal(w.traffic.n_instances, 2);
    assert_int_equal(traffic_complete(&w.traffic, &w.defs), 1);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_match_in_the_order_they_were_posted),
        cmocka_unit_test(sends_of_threads_match_in_the_order_of_time),
        cmocka_unit_test(what_finds_no_partner_is_counted_where_it_is),
        cmocka_unit_test(messages_to_oneself_match),
        cmocka_unit_test(agrees_with_a_plain_search),
        cmocka_unit_test(collectives_belong_together_by_their_number),
        cmocka_unit_test(collectives_belong_together_in_the_order_of_their_calls),
        cmocka_unit_test(collectives_of_threads_belong_together_by_time),
        cmocka_unit_test(collectives_are_complete_when_all_members_have_a_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
