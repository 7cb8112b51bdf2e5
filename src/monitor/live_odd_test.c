/*
 * Whatever a stream says, all that look at its steps go on, agree on what there was, and the
 * store that is left is whole. Times, regions, peers, sizes, values, leaves and steps are
 * anything; what a stream has to keep to (stream.h, event.h) are references into its own lists.
 */
#include "monitor/live_state.h"

#include "base/fs.h"
#include "base/rng.h"
#include "live/live_trees.h"
#include "prov/prov_reader.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define EVENTS 256u
#define STEPS 200u
#define MAX_LOCATIONS 6u

static const uint64_t odd_time[] = {
    0, 1, 5, 1000, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 63, (uint64_t)1 << 62};
static const uint32_t odd_id[] = {0, 1, 2, 3, UINT32_MAX, UINT32_MAX - 1, 1u << 31, 65536};
static const double odd_value[] = {0, -1, 1e308, -1e308, INFINITY, -INFINITY, NAN, 1e-320};

struct odd_stream {
    struct definitions defs;
    struct stream stream;
    struct rng rng;
    uint64_t now_ns; /* of those events whose times are not odd */
    uint32_t n_steps, n_said;
    struct event event[EVENTS];
    struct message message[EVENTS];
    struct collective collective[EVENTS];
    struct counter_value counter[EVENTS];
    struct event_batch batch;
};

#define PICK(o, list) ((list)[rng_below(&(o)->rng, sizeof(list) / sizeof *(list))])

static bool happens(struct odd_stream *o, uint64_t once_in)
{
    return rng_below(&o->rng, once_in) == 0;
}

/* An event and what belongs to it. */
static void make(struct odd_stream *o, uint32_t i)
{
    static const uint32_t kinds[] = {EVENT_ENTER,      EVENT_ENTER,  EVENT_ENTER,   EVENT_LEAVE,
                                     EVENT_LEAVE,      EVENT_LEAVE,  EVENT_MESSAGE, EVENT_SENT,
                                     EVENT_COLLECTIVE, EVENT_COUNTER};
    uint32_t kind = PICK(o, kinds);

    o->now_ns += rng_below(&o->rng, happens(o, 50) ? 1000000 : 1000);
    o->event[i] = (struct event){happens(o, 20) ? PICK(o, odd_time) : o->now_ns, kind, i};
    if (kind == EVENT_ENTER || kind == EVENT_SENT)
        o->event[i].ref = happens(o, 20) ? PICK(o, odd_id) : (uint32_t)rng_below(&o->rng, 4);
    if (kind == EVENT_LEAVE)
        o->event[i].ref = happens(o, 5) ? PICK(o, odd_id) : ANY_REGION;
    o->message[i] = (struct message){.begin_ns = PICK(o, odd_time),
                                     .bytes = PICK(o, odd_time),
                                     .match = MESSAGE_UNMATCHED,
                                     .peer = PICK(o, odd_id),
                                     .tag = PICK(o, odd_id),
                                     .kind = happens(o, 2) ? MESSAGE_SEND : MESSAGE_RECV};
    o->collective[i] = (struct collective){.begin_ns = PICK(o, odd_time),
                                           .sent_bytes = PICK(o, odd_time),
                                           .received_bytes = PICK(o, odd_time),
                                           .kind = (uint32_t)rng_below(&o->rng, 5),
                                           .root = PICK(o, odd_id),
                                           .instance = NO_INSTANCE};
    o->counter[i] = (struct counter_value){.counter = (uint32_t)rng_below(&o->rng, 3),
                                           .is_real = happens(o, 2)};
    if (o->counter[i].is_real)
        o->counter[i].real = PICK(o, odd_value);
    else
        o->counter[i].whole = (int64_t)PICK(o, odd_time);
}

/* Regions and locations come while it runs; two of them may say that they are the same. */
static void define_more(struct odd_stream *o)
{
    static const char *const names[] = {"a", "b", "", "\xff\xfe\n\"<b>", "a(int)"};
    struct location *l;

    if (o->n_steps % 10 == 0 && o->n_steps / 10 < sizeof names / sizeof *names)
        definitions_region(&o->defs, names[o->n_steps / 10]);
    if (o->n_steps % 40 != 39 || o->defs.n_locations == MAX_LOCATIONS)
        return;
    l = definitions_location(&o->defs, UINT64_MAX, "\x01", UINT64_MAX);
    l->rank = PICK(o, odd_id);
    l->thread = PICK(o, odd_id);
    l->is_gpu = happens(o, 2);
}

static int odd_next(struct stream *stream, int timeout_ms)
{
    struct odd_stream *o = stream->impl;

    (void)timeout_ms;
    if (o->n_steps == STEPS)
        return STREAM_OVER;
    define_more(o);
    o->n_said = happens(o, 8) ? UINT32_MAX : 0; /* an empty step */
    stream->begin_ns = happens(o, 20) ? PICK(o, odd_time) : o->now_ns;
    stream->end_ns = happens(o, 20) ? PICK(o, odd_time) : o->now_ns + 10000;
    o->n_steps++;
    return STREAM_STEP;
}

static bool odd_part(struct stream *stream, struct stream_part *part)
{
    struct odd_stream *o = stream->impl;
    uint32_t n = (uint32_t)rng_below(&o->rng, EVENTS + 1);

    if (o->n_said >= 3)
        return false;
    o->n_said++;
    for (uint32_t i = 0; i < EVENTS; i++)
        make(o, i);
    *part = (struct stream_part){(uint32_t)rng_below(&o->rng, o->defs.n_locations), &o->batch,
                                 rng_below(&o->rng, n + 1), n};
    return true;
}

static void odd_close(struct stream *stream)
{
    struct odd_stream *o = stream->impl;

    definitions_release(&o->defs);
}

static const struct stream_ops odd_ops = {
    .name = "odd", .next = odd_next, .part = odd_part, .close = odd_close};

static void odd_open(struct odd_stream *o, uint64_t seed)
{
    uint32_t comm;

    *o = (struct odd_stream){.rng = {seed}};
    o->stream = (struct stream){.ops = &odd_ops, .defs = &o->defs, .impl = o};
    o->batch = (struct event_batch){.event = o->event,
                                    .n = EVENTS,
                                    .message = o->message,
                                    .n_messages = EVENTS,
                                    .collective = o->collective,
                                    .n_collectives = EVENTS,
                                    .counter = o->counter,
                                    .n_counters = EVENTS};
    comm = definitions_comm(&o->defs, "", 2);
    o->defs.comm[comm].member[0] = 0;
    o->defs.comm[comm].member[1] = UINT32_MAX;
    names_add(&o->defs.counters, "Correlation ID");
    names_add(&o->defs.counters, "");
    names_add(&o->defs.counters, "monitoring: \xff");
    definitions_location(&o->defs, 0, "", 0);
    definitions_finish(&o->defs, NULL, 0);
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    int64_t n;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return n;
}

/* Every strange call is in the store, with a record that can be read; page and store agree on
 * which of them are strange in the end. */
static void check_store(const char *dir, uint64_t n_anomalies, uint64_t n_standing)
{
    struct database db;

    assert_int_equal(prov_reader_open(dir, &db), 0);
    assert_int_equal(ask(db.sql, "SELECT count(*) FROM anomalies"), n_anomalies);
    assert_int_equal(ask(db.sql, "SELECT count(record) FROM anomalies"), n_anomalies);
    assert_int_equal(ask(db.sql, "SELECT count(*) FROM anomalies WHERE NOT is_pruned"),
                     n_standing);
    assert_int_equal(ask(db.sql, "SELECT count(*) FROM anomalies WHERE NOT json_valid(record)"),
                     0);
    database_close(&db);
}

/* Who looks at the page meanwhile. */
struct looking {
    struct live_state *page;
    pthread_t thread;
    atomic_bool is_over;
};

static void *look(void *arg)
{
    struct looking *l = arg;
    uint64_t n_calls = 0;

    while (!atomic_load(&l->is_over)) {
        char text[256];

        live_state_lock(l->page);
        n_calls += l->page->totals.n_calls + l->page->n_regions + l->page->store.n_stored;
        live_state_unlock(l->page);
        n_calls += live_state_trouble(l->page, text) + live_state_has_store(l->page);
        sched_yield();
    }
    return n_calls > 0 ? l : NULL;
}

static void judge(uint64_t seed, const char *dir, bool is_by_path)
{
    static const char *const foi[] = {"a", "/./"};
    struct live_trees_opts trees_settings = live_trees_default();
    struct live_recorder_opts recorder_settings = {
        .url = dir, .window = 5, .counter_prefix = "monitoring: ", .hostname = ""};
    struct live_recorder_counts counts;
    struct live_recorder *recorder;
    struct live_trees *trees;
    struct looking looking = {0};
    struct live_state *page;
    struct ad_opts opts = ad_default();
    static struct odd_stream o;
    uint64_t n_standing;
    struct ad *ad;

    odd_open(&o, seed);
    trees_settings.pattern = foi;
    trees_settings.n_patterns = 2;
    assert_int_equal(live_trees_new(&trees_settings, &trees), 0);
    assert_int_equal(live_recorder_open(&recorder, &recorder_settings), 0);
    page = live_state_new(
        &(struct live_opts){.source = "odd", .stream = &o.stream, .recorder = recorder});
    opts.sink = (struct ad_sink[]){
        {live_recorder_step, recorder}, {live_trees_step, trees}, {live_state_step, page}};
    opts.n_sinks = 3;
    opts.is_by_path = is_by_path;
    opts.detector = call_detector_find(seed % 2 ? "sstd" : "hbos");
    ad = ad_new(&o.stream, &opts);
    looking.page = page;
    pthread_create(&looking.thread, NULL, look, &looking);
    while (ad_next(ad, 0) == STREAM_STEP) {
        live_recorder_counts(recorder, &counts);
        live_state_stored(page, &counts.store);
    }
    atomic_store(&looking.is_over, true);
    pthread_join(looking.thread, NULL);
    assert_true(ad_totals(ad)->n_anomalies > 0);
    assert_int_equal(page->totals.n_events, ad_totals(ad)->n_events);
    assert_int_equal(page->totals.n_calls, ad_totals(ad)->n_calls);
    n_standing = page->totals.n_anomalies;
    assert_int_equal(n_standing + page->totals.n_taken_back, ad_totals(ad)->n_anomalies);
    assert_true(ad_quality(ad)->n[QUALITY_unmatched_leave] > 0);
    assert_true(ad_quality(ad)->n[QUALITY_time_backwards] > 0);
    assert_true(ad_quality(ad)->n[QUALITY_bad_value] > 0);
    live_state_end(page, NULL, NULL);
    assert_int_equal(live_recorder_close(recorder), 0);
    check_store(dir, ad_totals(ad)->n_anomalies, n_standing);
    ad_free(ad);
    live_trees_free(trees);
    live_state_free(page);
    stream_close(&o.stream);
}

static void anything_may_be_said_to_all_of_them(void **state)
{
    const char *times = getenv("SNAG_ODD");
    uint64_t n = times ? strtoull(times, NULL, 10) : 3;

    (void)state;
    for (uint64_t seed = 1; seed <= n; seed++) {
        char dir[] = "odd-XXXXXX";

        assert_non_null(test_dir(dir));
        judge(seed, dir, seed % 3 == 0);
        assert_int_equal(fs_remove_tree(dir), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anything_may_be_said_to_all_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
