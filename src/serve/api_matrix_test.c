/*
 * Four ranks that hand 8 bytes on to the next one, three times; a send is over at once, and its
 * message there 1 us later. Rank 1 computes for 1 ms before it sends, the others not at all.
 */
#include "serve/api_matrix.h"

#include "base/err.h"
#include "base/mem.h"

#include "sample_columns.h"
#include "sample_page.h"
#include "test.h"

static const char program[] = "synth:3*step(1:solve@1ms >1 <1 |);ranks=4";

static int begin(void **state)
{
    return sample_page_begin(state, program, "step");
}

static void is_column(const struct sample_page *p, const char *name, const double *expected,
                      size_t n)
{
    double *value = sample_page_column(p, name, "f64", n);

    for (size_t i = 0; i < n; i++)
        if (value[i] != expected[i])
            fail_msg("%s[%zu] is %.17g, not %.17g", name, i, value[i], expected[i]);
    free(value);
}

static void each_rank_sends_to_the_next(void **state)
{
    struct sample_page *p = *state;
    uint32_t *from, *to, *rank;

    sample_page_ok(p, "/messages/matrix");
    from = sample_page_column(p, "from", "u32", 4);
    to = sample_page_column(p, "to", "u32", 4);
    rank = sample_page_column(p, "rank", "u32", 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(from[i] == i && to[i] == (i + 1) % 4 && rank[i] == i);
    free(from);
    free(to);
    free(rank);
    is_column(p, "messages", (double[]){3, 3, 3, 3}, 4);
    is_column(p, "bytes", (double[]){24, 24, 24, 24}, 4);
}

/*
 * Rank 2 waits for rank 1, in each of three steps; a send takes 500 ns:
 *
 *     ns       0      1,000      1,500                     1,001,000
 *     rank 1   [step  [solve                               ] [MPI_Send]
 *     rank 2   [step  [MPI_Send] [MPI_Recv . . . 999,500 . . .        ]
 */
static void who_receives_before_it_is_sent_waits(void **state)
{
    struct sample_page *p = *state;
    double *transfer;

    sample_page_ok(p, "/messages/matrix");
    is_column(p, "wait_ns", (double[]){0, 3 * 999500, 0, 0}, 4);
    is_column(p, "longest_wait_ns", (double[]){0, 999500, 0, 0}, 4);
    /* What rank 0 sent waits until rank 1 has solved; the others take theirs at once. */
    transfer = sample_page_column(p, "longest_ns", "f64", 4);
    assert_true(transfer[0] > 1e6 && transfer[0] < 1.002e6);
    for (int i = 1; i < 4; i++)
        assert_true(transfer[i] > 0 && transfer[i] < 3000);
    free(transfer);
}

static void a_message_belongs_to_where_it_was_sent(void **state)
{
    struct sample_page *p = *state;
    const struct columns *columns = &p->served.run.columns;
    uint64_t sent[3];
    uint32_t n = 0;
    char path[128];
    const struct call_view calls = columns_view(columns, 0);

    for (size_t i = 0; i < calls.n_messages && n < 3; i++)
        if (calls.message[i].kind == MESSAGE_SEND)
            sent[n++] = calls.message[i].begin_ns;
    assert_int_equal(n, 3);
    /* From the second send of rank 0 to just before its third. */
    snprintf(path, sizeof path, "/messages/matrix?begin=%llu&end=%llu&locations=0,1",
             (unsigned long long)sent[1], (unsigned long long)sent[2]);
    sample_page_ok(p, path);
    is_column(p, "messages", (double[]){1}, 1);
    snprintf(path, sizeof path, "/messages/matrix?begin=%llu&end=%llu&locations=0,1",
             (unsigned long long)sent[1], (unsigned long long)sent[2] + 1);
    sample_page_ok(p, path);
    is_column(p, "messages", (double[]){2}, 1);
    /* Both ends must be on the locations: 3 sends to 0, 0 to 1. */
    sample_page_ok(p, "/messages/matrix?locations=0,3");
    is_column(p, "bytes", (double[]){24}, 1);
    sample_page_ok(p, "/messages/matrix?locations=0,2");
    is_column(p, "bytes", NULL, 0);
    sample_page_refused(p, "/messages/matrix?begin=5&end=4", ERR_USAGE,
                        "the window ends before it begins");
}

/* 3 to 0, and 0 to 1. */
static void one_end_is_where_it_has_to_be(void **state)
{
    struct sample_page *p = *state;
    uint32_t *from, *to;

    sample_page_ok(p, "/messages/matrix?ends=0");
    from = sample_page_column(p, "from", "u32", 2);
    to = sample_page_column(p, "to", "u32", 2);
    assert_true(from[0] == 0 && to[0] == 1 && from[1] == 3 && to[1] == 0);
    free(from);
    free(to);
    is_column(p, "messages", (double[]){3, 3}, 2);
    assert_int_equal(sample_page_get(p, "/messages/matrix?ends=99"), ERR_USAGE);
}

static void neighbours_are_one_row_where_there_are_many_ranks(void **state)
{
    struct sample_page *p = *state;
    uint32_t *from, *to;

    /* 0 to 1 and 2 to 3 stay within a row of two; 1 to 2 and 3 to 0 go to the other. */
    sample_page_ok(p, "/messages/matrix?rows=3");
    from = sample_page_column(p, "from", "u32", 4);
    to = sample_page_column(p, "to", "u32", 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(from[i] == i / 2 && to[i] == i % 2);
    free(from);
    free(to);
    is_column(p, "messages", (double[]){3, 3, 3, 3}, 4);
    sample_page_ok(p, "/messages/matrix?rows=1");
    is_column(p, "messages", (double[]){12}, 1);
}

/* Numbers from a file that somebody else wrote. */
static void other_ends_that_are_not_there_are_unmatched(void **state)
{
    struct location location[SAMPLE_LOCATIONS] = {{.rank = 0}, {.rank = 1}};
    const struct definitions defs = {.location = location, .n_locations = SAMPLE_LOCATIONS};
    const uint32_t both[] = {0, 1};
    struct arrows_window window = {0, UINT64_MAX, both, 2};
    struct message_matrix matrix = {0};
    struct sample_columns sample;
    double sends = 0, found;

    (void)state;
    sample_columns_init(&sample, 400, 3);
    for (size_t i = 0; i < sample.columns.n_messages; i++) {
        sends += sample.message[i].kind == MESSAGE_SEND;
        sample.message[i].match = sample.columns.n_messages + i;
        sample.message[i].call = 4000000000u;
    }
    message_matrix_of(&matrix, &sample.columns, NULL, &defs, &window,
                      &(struct matrix_opts){10, NULL});
    assert_true(sends > 0 && matrix.unmatched == sends);
    message_matrix_release(&matrix);
    for (size_t i = 0; i < sample.columns.n_messages; i++)
        sample.message[i].match = 0;
    message_matrix_of(&matrix, &sample.columns, NULL, &defs, &window,
                      &(struct matrix_opts){10, NULL});
    found = matrix.cell[0].messages + matrix.cell[2].messages; /* to location 0 */
    assert_true(found == sends && matrix.unmatched == 0);
    assert_true(matrix.cell[0].wait_ns == 0);
    message_matrix_release(&matrix);
    sample_columns_release(&sample);
}

/*
 * One call receives from both others, which send late: it waits once, for the later one.
 *
 *     ns      10        20        30
 *     rank 0  [MPI_Waitall        . ]
 *     rank 1            [MPI_Send]
 *     rank 2                      [MPI_Send]
 */
static void a_call_that_receives_several_waits_once(void **state)
{
    struct location location[3] = {{.rank = 0}, {.rank = 1}, {.rank = 2}};
    const struct definitions defs = {.location = location, .n_locations = 3};
    const uint32_t all[] = {0, 1, 2};
    uint64_t enter[] = {10, 20, 30}, inclusive[] = {25, 1, 1};
    struct message message[] = {{20, 31, 8, 2, 0, 1, 0, 0, 0, MESSAGE_RECV},
                                {30, 32, 8, 3, 0, 2, 0, 0, 1, MESSAGE_RECV},
                                {20, 21, 8, 0, 0, 0, 0, 0, 0, MESSAGE_SEND},
                                {30, 31, 8, 1, 0, 0, 0, 0, 0, MESSAGE_SEND}};
    struct column_range range[3] = {
        {.n_calls = 1, .n_messages = 2},
        {.first_call = 1, .n_calls = 1, .first_message = 2, .n_messages = 1},
        {.first_call = 2, .n_calls = 1, .first_message = 3, .n_messages = 1}};
    struct columns columns = {
        .n_locations = 3,
        .n_calls = 3,
        .n_messages = 4,
        .range = range,
        .message = message,
        .column = {[COLUMN_ENTER] = enter, [COLUMN_INCLUSIVE] = inclusive}};
    struct arrows_window window = {0, UINT64_MAX, all, 3};
    struct message_matrix matrix = {0};

    (void)state;
    message_matrix_of(&matrix, &columns, NULL, &defs, &window, &(struct matrix_opts){10, NULL});
    assert_true(matrix.cell[3].messages == 1 && matrix.cell[3].wait_ns == 0);
    assert_true(matrix.cell[6].messages == 1 && matrix.cell[6].wait_ns == 20);
    assert_true(matrix.cell[6].longest_wait_ns == 20);
    message_matrix_release(&matrix);
}

/* 700,000 records: some are looked at, and what they say is scaled. */
static void of_very_many_some_stand_for_all(void **state)
{
    struct location location[2] = {{.rank = 0}, {.rank = 7}};
    const struct definitions defs = {.location = location, .n_locations = 2};
    const uint32_t both[] = {0, 1};
    const uint32_t n = 700000;
    struct arrows_window window = {0, UINT64_MAX, both, 2};
    struct column_range range[2] = {{.n_messages = n}, {.first_message = n, .n_messages = n}};
    struct columns columns = {.n_locations = 2, .n_messages = 2 * n, .range = range};
    struct message *message = mem_alloc(2 * (size_t)n, sizeof *message);
    struct message_matrix matrix = {0};

    (void)state;
    for (uint32_t i = 0; i < n; i++) {
        message[i] = (struct message){i, i, 100, n + i, NO_CALL, 7, 0, 0, i, MESSAGE_SEND};
        message[n + i] = (struct message){i, i + 5, 100, i, NO_CALL, 0, 0, 0, i, MESSAGE_RECV};
    }
    columns.message = message;
    message_matrix_of(&matrix, &columns, NULL, &defs, &window, &(struct matrix_opts){10, NULL});
    assert_true(matrix.is_estimate);
    assert_int_equal(matrix.rank[1], 7);
    assert_true(matrix.cell[1].messages > 0.98 * n && matrix.cell[1].messages < 1.02 * n);
    assert_true(matrix.cell[1].longest_ns == 5);
    assert_true(matrix.cell[1].bytes == 100 * matrix.cell[1].messages);
    message_matrix_release(&matrix);
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_sends_to_the_next),
        cmocka_unit_test(who_receives_before_it_is_sent_waits),
        cmocka_unit_test(a_message_belongs_to_where_it_was_sent),
        cmocka_unit_test(one_end_is_where_it_has_to_be),
        cmocka_unit_test(neighbours_are_one_row_where_there_are_many_ranks),
        cmocka_unit_test(other_ends_that_are_not_there_are_unmatched),
        cmocka_unit_test(a_call_that_receives_several_waits_once),
        cmocka_unit_test(of_very_many_some_stand_for_all),
    };

    return cmocka_run_group_tests(tests, begin, sample_page_end);
}
