/*
 * A run directory, damaged: the input says what to change in which file, and what to do with
 * the run then. Commands and the routes of the page run in this process, as they would be asked
 * for.
 *
 *     | what to do | flags | file | 3 bytes offset | how many | that many bytes | file | ...
 *
 * With how many 0 the file ends at the offset. Behind the files come columns of run.db: one
 * byte which, and how many, and the bytes that all rows get there. A flag has checksums that
 * say what they should, so that what is behind them is reached.
 */
#include "fuzz.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/test_dir.h"
#include "cmd/options.h"
#include "run/columns_format.h"
#include "run/levels_format.h"
#include "serve/routes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIX_CHECKSUMS 1u

static char dir[] = "/tmp/snag-fuzz-XXXXXX", run[64];

/* The files of the run as they were. */
static const char *const names[] = {
    "run.db",
    "calls/enter_ns.u64",
    "calls/inclusive_ns.u64",
    "calls/region.u32",
    "calls/subtree_len.u32",
    "calls/depth.u16",
    "calls/by_depth.u32",
    "calls/depth_start.u64",
    "calls/messages.rec",
    "calls/collectives.rec",
    "calls/index",
    "calls/levels.rec",
    "calls/levels.index",
};
#define N_FILES (sizeof names / sizeof *names)
#define INDEX 10
#define LEVELS 12

static struct {
    char path[128];
    unsigned char *data, *now; /* [n] as it was, as it is in this run */
    size_t n, n_now;
} file[N_FILES];

/* Columns of run.db that are read back. */
static const char *const columns[] = {
    "meta.value",          "location.rank",
    "location.thread",     "location.name",
    "location.source_id",  "region.name",
    "region.short_name",   "region.kind",
    "comm.members",        "foi.region",
    "foi.trees",           "foi.features",
    "foi.detector",        "foi.threshold",
    "foi.settings",        "foi.name",
    "model.bytes",         "model.data",
    "execution.location",  "execution.rank",
    "execution.idx",       "execution.call",
    "execution.enter_ns",  "execution.duration_ns",
    "execution.score",     "execution.verdict",
    "execution.part",      "execution.why",
    "execution.cause",     "execution.time",
    "execution.vertices",  "label.label",
    "label.rank",          "label.idx",
    "retrain.learner",     "retrain.settings",
    "retrain.last_label",  "projection.x",
    "projection.method",   "projection_settings.settings",
    "strange_call.call",   "strange_call.location",
    "strange_call.region", "quality.kind",
};
#define N_COLUMNS_OF_DB (sizeof columns / sizeof *columns)

static int run_command(const char *const *words)
{
    const struct command *command = command_find(words[0]);
    struct settings settings;
    char *argv[16] = {0};
    int argc = 0;

    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)(strcmp(words[argc], "RUN") == 0 ? run : words[argc]);
    if (options_parse(command, argc, argv, &settings) < 0)
        abort();
    return command->run(&settings);
}

/* ---------------------------------------------------------------------------- the commands */

static const char *const commands[][8] = {
    {"list", "--json", "--all", "RUN"},
    {"show", "RUN", "#1-3"},
    {"show", "--subtrees", "--json", "RUN", "#0-2"},
    {"next", "RUN"},
    {"retrain", "--threads", "1", "RUN"},
    {"label", "RUN", "#1-3=clear"},
    {"label", "RUN"},
    {"retrain", "--undo", "RUN"},
    {"project", "--method", "pca", "RUN"},
    {"export", "RUN", "--what", "calls", "--format", "chrome"},
    {"export", "RUN", "--what", "executions"},
    {"list", "--per-call", "RUN"},
    {"model", "save", "RUN", "/dev/null/x"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static const char *const paths[] = {
    "/run",
    "/regions",
    "/fois/1/columns",
    "/fois/1/candidates?order=next",
    "/fois/1/candidates",
    "/fois/1/executions/5",
    "/fois/1/executions/7/tree",
    "/fois/1/executions/3/subtrees",
    "/fois/1/typical",
    "/fois/1/next",
    "/fois/1/retrains",
    "/fois/1/incidents",
    "/fois/1/projection",
    "/timeline",
    "/messages",
    "/calls/0/1",
    "/search?q=a",
    "/search/next?region=1&after=0",
    "/labels",
    "/labels.csv",
    "/executions.csv",
    "/window.json",
};
#define N_PATHS (sizeof paths / sizeof *paths)

/* One GET, without sockets. */
static void ask(struct worker *worker, const char *asked)
{
    char text[200];
    int n = snprintf(text, sizeof text, "GET /api/v1%s HTTP/1.1\r\nHost: a\r\n\r\n", asked);
    struct request_head head;
    struct request request = {.n_parameters = 0};
    struct response response = {0};
    const struct route *route;

    if (request_head_parse(text, (size_t)n, &head).status)
        abort();
    request.path = head.path;
    request.parameter = head.parameter;
    request.n_parameters = head.n_parameters;
    route = route_find(&request);
    if (route == NULL)
        abort();
    worker_refresh(worker);
    route_answer(route, worker, &request, &response);
    response_release(&response);
}

static void serve(size_t first)
{
    struct served_opts opts = {.path = run, .snag = "0", .author = "a", .n_threads = 1};
    struct served served;
    struct worker worker = {0};

    if (served_open(&served, &opts) == 0 && worker_open(&worker, &served, true) == 0)
        for (size_t i = 0; i < 4; i++)
            ask(&worker, paths[(first + i) % N_PATHS]);
    if (worker.served)
        worker_close(&worker);
    served_close(&served);
}

/* --------------------------------------------------------------------------- the intact run */

static void load(size_t f)
{
    struct stat info;
    int fd;

    snprintf(file[f].path, sizeof file[f].path, "%s/%s", run, names[f]);
    fd = open(file[f].path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        abort();
    file[f].n = (size_t)info.st_size;
    file[f].data = mem_alloc(file[f].n + 1, 1);
    file[f].now = mem_alloc(file[f].n + 1, 1);
    if (read(fd, file[f].data, file[f].n) != (ssize_t)file[f].n)
        abort();
    close(fd);
}

static void remove_run(void)
{
    fs_remove_tree(dir);
}

static void make_run(void)
{
    static const char program[] =
        "synth:12*step(a@1ms(b c) >1 <1 | d@2ms);ranks=2;jitter=0.1;slow=b/7/40";
    const char *const make[][12] = {
        {"analyze", program, "--foi", "step", "--per-call", "--quiet", "-o", run},
        {"label", run, "#1-3=abnormal", "#0-2=normal"},
        {"retrain", run},
        {"project", "--method", "pca", run},
    };
    struct columns c;
    struct pool *pool = pool_new(1);

    log_set_level(LOG_ERROR);
    if (freopen("/dev/null", "w", stdout) == NULL || test_dir(dir) == NULL)
        abort();
    snprintf(run, sizeof run, "%s/run.snag", dir);
    for (size_t i = 0; i < sizeof make / sizeof *make; i++)
        if (run_command(make[i]) < 0) {
            fprintf(stderr, "%s\n", err_message());
            abort();
        }
    if (atexit(remove_run) != 0 || columns_open(&c, run) < 0 ||
        levels_write(&c, pool, NULL) < 0)
        abort();
    columns_close(&c);
    pool_free(pool);
    for (size_t f = 0; f < N_FILES; f++)
        load(f);
}

/* ------------------------------------------------------------------------------ the damage */

/* Applies one change of bytes. Returns how many bytes of the input it was, 0 at the end. */
static size_t change_file(const uint8_t *data, size_t size)
{
    size_t f, at, n, end;

    if (size < 5 || data[0] >= N_FILES)
        return 0;
    f = data[0];
    at = data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;
    n = data[4] < size - 5 ? data[4] : size - 5;
    at = at < file[f].n_now ? at : file[f].n_now;
    end = at + n < file[f].n_now ? at + n : file[f].n_now;
    memcpy(file[f].now + at, data + 5, end - at);
    if (data[4] == 0)
        file[f].n_now = at;
    return 5 + n;
}

static void fix_checksums(void)
{
    struct index_header *index = (void *)file[INDEX].now;
    struct levels_header *levels = (void *)file[LEVELS].now;

    if (file[INDEX].n_now >= sizeof *index &&
        file[INDEX].n_now == sizeof *index + index->n_locations * sizeof(struct column_range))
        index->checksum = index_checksum(index, (const void *)(index + 1));
    if (file[LEVELS].n_now >= sizeof *levels) {
        levels->columns_sum = index->checksum;
        levels->checksum = levels_checksum(levels, file[LEVELS].n_now);
    }
}

static void put(size_t f)
{
    int fd = open(file[f].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0 || write(fd, file[f].now, file[f].n_now) != (ssize_t)file[f].n_now)
        abort();
    close(fd);
}

/* Gives all rows another value in one column. */
static size_t change_column(sqlite3 *db, const uint8_t *data, size_t size)
{
    char table[40], sql[200];
    const char *column;
    sqlite3_stmt *update = NULL;
    size_t n;

    if (size < 3)
        return 0;
    snprintf(table, sizeof table, "%s", columns[data[0] % N_COLUMNS_OF_DB]);
    *strchr(table, '.') = '\0';
    column = strchr(columns[data[0] % N_COLUMNS_OF_DB], '.') + 1;
    n = data[2] < size - 3 ? data[2] : size - 3;
    snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = ?", table, column);
    if (sqlite3_prepare_v2(db, sql, -1, &update, NULL) == SQLITE_OK) {
        if (data[1] % 4 == 0) {
            int64_t value = 0;

            memcpy(&value, data + 3, n < 8 ? n : 8);
            sqlite3_bind_int64(update, 1, value);
        } else if (data[1] % 4 == 1) {
            double value = 0;

            memcpy(&value, data + 3, n < 8 ? n : 8);
            sqlite3_bind_double(update, 1, value);
        } else if (data[1] % 4 == 2) {
            sqlite3_bind_text(update, 1, (const char *)data + 3, (int)n, SQLITE_STATIC);
        } else {
            sqlite3_bind_blob(update, 1, data + 3, (int)n, SQLITE_STATIC);
        }
        sqlite3_step(update);
    }
    sqlite3_finalize(update);
    return 3 + n;
}

static void change_columns(const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(file[0].path, &db) == SQLITE_OK) {
        sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL,
                     NULL);
        for (size_t n; (n = change_column(db, data, size)) > 0;) {
            data += n;
            size -= n;
        }
    }
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 2;

    if (file[0].data == NULL)
        make_run();
    if (size < 2)
        return 0;
    for (size_t f = 0; f < N_FILES; f++) {
        memcpy(file[f].now, file[f].data, file[f].n);
        file[f].n_now = file[f].n;
    }
    for (size_t n; (n = change_file(data + at, size - at)) > 0;)
        at += n;
    if (data[1] & FIX_CHECKSUMS)
        fix_checksums();
    for (size_t f = 0; f < N_FILES; f++)
        put(f);
    if (size > at + 1)
        change_columns(data + at + 1, size - at - 1);
    if (data[0] % 2)
        serve(data[0] / 2);
    else
        run_command(commands[data[0] / 2 % N_COMMANDS]);
    return 0;
}
