/*
 * A store of provenance that a stranger has made, under everything that reads one: snag provdb,
 * snag export, and the routes of snag serve.
 *
 * The first byte of the input says what the rest is:
 *
 *     0   changes to shard-0000.db:  | 3 bytes offset | how many | that many bytes | ...
 *     1   the bytes of a record, before compression, of the first anomaly
 *     2   shard-0000.db-wal
 *     3   shard-0000.db-journal
 *     4   SQL that the stranger's SQLite has run
 */
#include "fuzz.h"

#include "base/fs.h"
#include "base/log.h"
#include "cmd/options.h"
#include "monitor/live_past.h"
#include "prov/prov_reader.h"
#include "prov/prov_store.h"
#include "serve/routes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_record.h"
#include "test_dir.h"

#define MAX_BYTES (1u << 20)
#define MAX_WORK 200 /* times 1,000 instructions of SQLite, for the stranger's SQL */

static char dir[64], shard[128], beside[128];
static unsigned char original[MAX_BYTES], changed[MAX_BYTES];
static size_t n_original;

/* ---------------------------------------------------------------------------- making a store
 */

static void must(bool is_good)
{
    if (!is_good)
        abort();
}

static void remove_store(void)
{
    fs_remove_tree(dir);
}

static void put_all(struct prov_store *store)
{
    struct prov_stats stats = {.count = 2, .mean = 15};
    struct arena arena = {0};
    struct prov_record record;

    for (uint64_t i = 0; i < 8; i++) {
        sample_record((uint32_t)(i % 2), i, &arena, &record);
        record.is_execution = i == 3;
        prov_store_put(store, i % 4 ? PROV_ANOMALY : PROV_NORMAL, &record);
    }
    prov_store_put_metadata(store, &(struct prov_metadata){.descr = "a", .value = "b"});
    prov_store_put_func_stats(
        store, &(struct prov_func_stats){.fid = 7, .func = "f", .exclusive = stats});
    prov_store_put_counter_stats(store,
                                 &(struct prov_counter_stats){.counter = "c", .stats = stats});
    prov_store_put_model(store,
                         &(struct prov_model){.version = 1, .func = "f", .algorithm = "hbos"});
    arena_release(&arena);
}

static void make_store(void)
{
    const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    struct prov_store *store;
    FILE *in;

    snprintf(dir, sizeof dir, "%s/snag-fuzz-XXXXXX", top);
    must(test_dir(dir) != NULL && atexit(remove_store) == 0);
    snprintf(shard, sizeof shard, "%s/shard-0000.db", dir);
    must(prov_store_open(dir, NULL, &store) == 0);
    put_all(store);
    must(prov_store_close(store) == 0);
    in = fopen(shard, "rb");
    must(in != NULL);
    n_original = fread(original, 1, sizeof original, in);
    fclose(in);
    must(n_original > 0 && n_original < sizeof original);
    must(freopen("/dev/null", "w", stdout) != NULL);
    log_set_level(LOG_ERROR);
}

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *out = fopen(path, "wb");

    must(out != NULL && fwrite(data, 1, n, out) == n && fclose(out) == 0);
}

/* ------------------------------------------------------------------------------ the stranger
 */

static void change_bytes(const uint8_t *data, size_t size)
{
    memcpy(changed, original, n_original);
    while (size >= 4) {
        size_t at = (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % n_original;
        size_t n = data[3] < size - 4 ? data[3] : size - 4;

        n = n < n_original - at ? n : n_original - at;
        memcpy(changed + at, data + 4, n);
        data += 4 + n;
        size -= 4 + n;
    }
    write_file(shard, changed, n_original);
}

static void change_record(sqlite3 *db, const uint8_t *data, size_t size)
{
    ZSTD_CCtx *context = prov_compressor();
    struct pack compressed = {0};
    sqlite3_stmt *update = NULL;

    prov_compress(context, data, size, &compressed);
    sqlite3_prepare_v2(db, "UPDATE record SET data = ? WHERE id = 2", -1, &update, NULL);
    sqlite3_bind_blob(update, 1, compressed.data, (int)compressed.n, SQLITE_STATIC);
    sqlite3_step(update);
    sqlite3_finalize(update);
    ZSTD_freeCCtx(context);
    pack_release(&compressed);
}

/* No other files, and nothing that takes long or makes much: that would be the stranger's loss.
 */
static int not_elsewhere(void *ctx, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)ctx, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static int enough(void *ctx)
{
    return ++*(int *)ctx > MAX_WORK;
}

static void run_sql(sqlite3 *db, const uint8_t *data, size_t size)
{
    char *sql = strndup((const char *)data, size);
    int n = 0;

    sqlite3_set_authorizer(db, not_elsewhere, NULL);
    sqlite3_progress_handler(db, 1000, enough, &n);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    free(sql);
}

/* Returns false for an input that says nothing. */
static bool make_changes(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"-wal", "-journal", "-shm"};
    sqlite3 *db;

    for (size_t i = 0; i < 3; i++) {
        snprintf(beside, sizeof beside, "%s%s", shard, names[i]);
        unlink(beside);
    }
    if (size == 0 || data[0] > 4)
        return false;
    write_file(shard, original, n_original);
    if (data[0] == 0) {
        change_bytes(data + 1, size - 1);
    } else if (data[0] == 2 || data[0] == 3) {
        snprintf(beside, sizeof beside, "%s%s", shard, names[data[0] - 2]);
        write_file(beside, data + 1, size - 1);
    } else {
        must(sqlite3_open(shard, &db) == SQLITE_OK);
        (data[0] == 1 ? change_record : run_sql)(db, data + 1, size - 1);
        sqlite3_close(db);
    }
    return true;
}

/* ------------------------------------------------------------------------------- the readers
 */

static void run_command(const struct command *command, const char *format,
                        const char *const *args, int n_args)
{
    struct settings settings;

    options_typical(command, &settings);
    settings.args = args;
    settings.n_args = n_args;
    settings.format = format;
    settings.is_all = true;
    command->run(&settings);
}

static void ask_routes(struct live_state *live)
{
    struct served served;
    struct worker worker;

    must(served_open(&served,
                     &(struct served_opts){
                         .path = dir, .snag = "", .what = SERVED_PROGRAM, .live = live}) == 0);
    must(worker_open(&worker, &served, false) == 0);
    for (const struct route *route = route_list(); route->pattern; route++) {
        bool is_of_rank = strstr(route->pattern, "history") != NULL;
        struct request_parameter parameter = {.name = is_of_rank ? "rank" : "region",
                                              .value = "0"};
        struct request request = {.path = route->pattern,
                                  .parameter = &parameter,
                                  .n_parameters =
                                      is_of_rank || strstr(route->pattern, "model") ? 1 : 0,
                                  .id = {2 * PROV_MAX_SHARDS, 0}};
        struct response response = {0};

        if (route->takes != ROUTE_TAKES_NOTHING || !route_is_of(route, SERVED_PROGRAM))
            continue;
        route_answer(route, &worker, &request, &response);
        response_release(&response);
    }
    worker_close(&worker);
    served_close(&served);
}

static void read_store(void)
{
    static const char *const formats[] = {"csv", "json", "chrome"};
    const char *args[] = {"top", dir, "1"};
    struct live_past past;

    run_command(command_find("provdb"), NULL, args, 2);
    args[0] = "filter";
    run_command(command_find("provdb"), NULL, args, 3);
    args[0] = "compare";
    args[2] = dir;
    run_command(command_find("provdb"), "csv", args, 3);
    for (size_t i = 0; i < 3; i++)
        run_command(command_find("export"), formats[i], args + 1, 1);
    if (live_past_open(&past, &(struct live_past_opts){.url = dir}) == 0) {
        ask_routes(past.state);
        live_past_follow(&past);
    }
    live_past_close(&past);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (n_original == 0)
        make_store();
    if (make_changes(data, size))
        read_store();
    return 0;
}
