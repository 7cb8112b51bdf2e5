/*
 * A run directory, damaged: the input says what to change in which file, and what to do with
 * the run then. Commands and the routes of the page run in this process, as they would be asked
 * for.
 *
 *     | what to do | flags | file | 3 bytes offset | how many | that many bytes | file | ...
 *
 * With how many 0 the file ends at the offset. Behind the files come columns of run.db: one
 * byte which, and how many, and the bytes that all rows get there. Flags have checksums say
 * what they should, so that what is behind them is reached, and choose the run. It is also
 * compared with one of the same trace that is not damaged. The last of the runs is of a trace
 * with counters and arguments.
 */
#include "fuzz.h"
#include "fuzz_analyse.h"
#include "fuzz_bytes.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/options.h"
#include "run/columns_format.h"
#include "run/detail_format.h"
#include "run/levels_format.h"
#include "serve/routes.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_dir.h"

#define FIX_CHECKSUMS 1u
#define WHICH_RUN(flags) ((flags)&8 ? N_SUBJECTS - 1 : (flags) >> 1 & 3)

static char dir[] = "/tmp/snag-fuzz-XXXXXX";

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
    "calls/teams.rec",
    "calls/barriers.u32",
    "calls/estimates.rec",
    "calls/readings.rec",
    "calls/arguments.rec",
    "calls/texts.bin",
    "calls/details.index",
};
#define N_FILES (sizeof names / sizeof *names)
#define RUN_DB 0
#define INDEX 10
#define LEVELS_REC 11
#define LEVELS 12
#define DETAILS 19 /* this and the three before it: only of traces that have any */
#define COUNTED_TRACE "counted.json"

/* A run that is damaged, and one of the same trace that is not. */
struct subject {
    const char *name, *foi, *program;
    char run[64], intact[64];
    struct {
        char path[128];
        unsigned char *data, *now; /* [n] as it was, as it is in this run */
        size_t n, n_now;
        bool is_intact; /* on disk */
    } file[N_FILES];
};

static struct subject subjects[] = {
    {.name = "small",
     .foi = "step",
     .program = "synth:12*step(a@1ms(b c) >1 <1 | d@2ms);ranks=2;jitter=0.1;slow=b/7/40"},
    {.name = "job",
     .foi = "step",
     .program = "synth:12*step(a@1ms(b c) >1 <1 | 2:d@100us d@2ms);ranks=5;jitter=0.02;"
                "slow=b/7/4000/2;slow=a/1/1.4/4;off=a/20us;off=step/1us"},
    {.name = "loop",
     .foi = "loop",
     .program = "synth:20*step(a@1ms(b c) >1 <1 | 2:d@100us d@2ms);ranks=3;jitter=0.05"},
    {.name = "teams",
     .foi = "step",
     .program =
         "synth:12*step(a@1ms work[b@50us 2*c] |);ranks=2;threads=3;jitter=0.1;slow=b/7/40;"
         "off=step/30us"},
    {.name = "counted", .foi = "step", .program = COUNTED_TRACE},
};
#define N_SUBJECTS (sizeof subjects / sizeof *subjects)

/* Columns of run.db that are read back. */
/* clang-format off */
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
    "execution.incident",  "execution.lost_ns",
    "execution.usual_ns",  "execution.cost_ns",
    "execution.cost",      "execution.tracer_ns",
    "execution.thread",    "execution.tree",
    "execution.structure", "execution.false_alarm_probability",
    "incident.head",       "incident.id",
    "incident.location",   "incident.rank",
    "incident.score",      "incident.begin_ns",
    "incident.end_ns",     "incident.lost_ns",
    "incident.executions", "incident.ranks",
    "incident.turns",      "incident.period",
    "incident.cost_ns",    "incident.why",
    "incident.is_costly",  "foi.anomalies_cost_ns",
    "foi.vertices",        "foi.anomalies_carrying",
    "region.outermost",    "region.inclusive_ns",
    "location.calls",      "location.last_ns",
    "way.id",              "way.what",
    "execution_way.tree",  "execution_way.way",
};
/* clang-format on */
#define N_COLUMNS_OF_DB (sizeof columns / sizeof *columns)

static const char *path_of(const struct subject *s, const char *word)
{
    return strcmp(word, "RUN") == 0 ? s->run : strcmp(word, "INTACT") == 0 ? s->intact : word;
}

static int run_command(const struct subject *s, const char *const *words)
{
    const struct command *command = command_find(words[0]);
    struct settings settings;
    char *argv[16] = {0};
    int argc = 0;

    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)path_of(s, words[argc]);
    if (options_parse(command, argc, argv, &settings) < 0)
        abort();
    return command->run(&settings);
}

/* ---------------------------------------------------------------------------- the commands */

static const char *const commands[][10] = {
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
    {"what-if", "RUN"},
    {"what-if", "RUN", "--without", "anomalies", "--without", "#1-3", "--without", "rank=0"},
    {"what-if", "--json", "RUN", "--without", "path=step > a", "--without", "region=b"},
    {"ranks", "--all", "RUN"},
    {"ranks", "--by", "thread", "--json", "RUN"},
    {"compare", "RUN", "INTACT", "--all"},
    {"compare", "INTACT", "RUN", "--json", "--fail-on", "5%", "--fail-on", "step > a:2ms"},
    {"compare", "--base", "INTACT", "RUN", "--rename", "a=z", "--format", "junit"},
    {"compare", "RUN", "RUN", "--format", "markdown"},
    {"list", "--executions", "--by", "cost", "RUN"},
    {"list", "--executions", "--by", "lost", "--json", "RUN"},
    {"list", "--incidents", "--json", "--all", "RUN"},
    {"list", "--all", "RUN"},
    {"show", "--all", "RUN", "#2-7"},
    {"query", "RUN", "SELECT * FROM execution JOIN incident", "--json"},
    {"list", "--groups", "--json", "RUN"},
    {"label", "RUN", "group=1=normal"},
    {"list", "--label", "none", "--json", "RUN"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static const char *const paths[] = {
    "/run",
    "/regions",
    "/fois/1/columns",
    "/fois/1/candidates?order=next",
    "/fois/1/candidates",
    "/fois/1/path?path=step%20%3E%20a",
    "/fois/1/executions/5",
    "/fois/1/executions/7/tree",
    "/fois/1/executions/3/subtrees",
    "/fois/1/typical",
    "/fois/1/typical/there?locations=0",
    "/fois/1/next",
    "/fois/1/retrains",
    "/fois/1/lost",
    "/fois/1/incidents",
    "/fois/1/projection",
    "/timeline",
    "/messages",
    "/collectives",
    "/calls/0/1",
    "/calls/0/3/collective",
    "/search?q=a",
    "/search/next?region=1&after=0",
    "/labels",
    "/labels.csv",
    "/executions.csv",
    "/window.json",
    "/fois/1/ranks",
    "/fois/1/ranks?by=thread",
    "/fois/1/ranks?by=program",
    "/openapi.json",
    "/fois/1/columns?names=cost_ns,lost_ns,incident",
    "/fois/1/candidates?verdict=anomaly&rank=2",
    "/timeline?begin=0&end=20000000&width=100",
    "/messages?limit=5",
    "/fois/1/groups",
    "/fois/1/learning",
    "/fois/1/groups?label=none",
    "/fois/1/model",
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

static void serve(const struct subject *s, size_t first)
{
    struct served_opts opts = {.path = s->run, .snag = "0", .author = "a", .n_threads = 1};
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

/* Its bytes, and one more. Free with free(). */
static void *read_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    void *data;

    if (fd < 0 || fstat(fd, &info) != 0)
        abort();
    *bytes = (size_t)info.st_size;
    data = mem_alloc(*bytes + 1, 1);
    if (read(fd, data, *bytes) != (ssize_t)*bytes)
        abort();
    close(fd);
    return data;
}

static void load(struct subject *s, size_t f)
{
    snprintf(s->file[f].path, sizeof s->file[f].path, "%s/%s", s->run, names[f]);
    if (f > DETAILS - 4 && access(s->file[f].path, F_OK) != 0)
        return;
    s->file[f].data = read_file(s->file[f].path, &s->file[f].n);
    s->file[f].now = mem_alloc(s->file[f].n + 1, 1);
}

static void remove_runs(void)
{
    fs_remove_tree(dir);
}

/* Two ranks take twelve steps: a counter is read at times of its own, and each call is told
 * something. */
static void write_counted_trace(void)
{
    char path[64];
    FILE *out;

    snprintf(path, sizeof path, "%s/" COUNTED_TRACE, dir);
    out = fopen(path, "w");
    if (out == NULL)
        abort();
    for (int i = 0; i < 24; i++) {
        int pid = i % 2, ts = i / 2 * 1000 + pid;

        fprintf(out,
                "{\"ph\":\"X\",\"name\":\"step\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d,"
                "\"args\":{\"n\":%d,\"way\":\"%s\",\"is\":true,\"x\":-0.5}}\n"
                "{\"ph\":\"X\",\"name\":\"a\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":400}\n"
                "{\"ph\":\"C\",\"name\":\"heat\",\"pid\":%d,\"tid\":%d,\"ts\":%d,"
                "\"args\":{\"C\":%d,\"F\":0.5}}\n",
                pid, pid, ts, i == 15 ? 990 : 800, i, i % 3 ? "north" : "south", pid, pid,
                ts + 100, pid, pid, ts + i * 7, i);
    }
    if (fclose(out) != 0)
        abort();
}

/* Makes both runs; the one that is going to be damaged is labelled and projected, too. */
static void make_run(struct subject *s)
{
    struct columns c;
    struct pool *pool = pool_new(1);
    char trace[200];

    snprintf(s->run, sizeof s->run, "%s/%s.snag", dir, s->name);
    snprintf(s->intact, sizeof s->intact, "%s/%s-intact.snag", dir, s->name);
    if (strcmp(s->program, COUNTED_TRACE) == 0)
        snprintf(trace, sizeof trace, "%s/" COUNTED_TRACE, dir);
    else
        snprintf(trace, sizeof trace, "%s", s->program);
    fuzz_analyse(trace, s->foi, s->run, pool);
    fuzz_analyse(trace, s->foi, s->intact, pool);
    fuzz_must(run_command(
        s, (const char *const[]){"label", "RUN", "#1-3=abnormal", "#0-2=normal", NULL}));
    fuzz_must(run_command(s, (const char *const[]){"retrain", "RUN", NULL}));
    fuzz_must(run_command(s, (const char *const[]){"project", "--method", "pca", "RUN", NULL}));
    fuzz_must(columns_open(&c, s->run));
    fuzz_must(levels_write(&c, pool, NULL));
    columns_close(&c);
    pool_free(pool);
    for (size_t f = 0; f < N_FILES; f++)
        load(s, f);
}

static void make_runs(void)
{
    log_set_level(LOG_ERROR);
    if (freopen("/dev/null", "w", stdout) == NULL || test_dir(dir) == NULL ||
        atexit(remove_runs) != 0)
        abort();
    write_counted_trace();
    for (size_t i = 0; i < N_SUBJECTS; i++)
        make_run(&subjects[i]);
}

/* ------------------------------------------------------------------------------ the damage */

/* Applies one change of bytes. Returns how many bytes of the input it was, 0 at the end. */
static size_t change_file(struct subject *s, const uint8_t *data, size_t size)
{
    size_t f, n;

    if (size < 1 || data[0] >= N_FILES)
        return 0;
    f = data[0];
    if (s->file[f].data == NULL)
        return 0;
    n = fuzz_change(s->file[f].now, &s->file[f].n_now, 3, data + 1, size - 1);
    return n > 0 ? 1 + n : 0;
}

static void fix_checksums(struct subject *s)
{
    struct index_header *index = (void *)s->file[INDEX].now;
    struct levels_header *levels = (void *)s->file[LEVELS].now;
    struct detail_header *details = (void *)s->file[DETAILS].now;

    if (s->file[INDEX].n_now >= sizeof *index &&
        s->file[INDEX].n_now ==
            sizeof *index + index->n_locations * sizeof(struct column_range))
        index->checksum = index_checksum(index, (const void *)(index + 1));
    if (s->file[LEVELS].n_now >= sizeof *levels) {
        levels->columns_sum = index->checksum;
        levels->checksum = levels_checksum(levels, s->file[LEVELS].n_now);
    }
    if (details && s->file[DETAILS].n_now >= sizeof *details) {
        details->columns_sum = index->checksum;
        details->checksum = detail_index_checksum(details, s->file[DETAILS].n_now);
    }
}

/* Writes a file, unless it is there as it should be; run.db and levels the program writes, too.
 */
static void put(struct subject *s, size_t f)
{
    bool is_intact =
        s->file[f].n_now == s->file[f].n &&
        (s->file[f].data == NULL || memcmp(s->file[f].now, s->file[f].data, s->file[f].n) == 0);
    int fd;

    if (s->file[f].data == NULL || (is_intact && s->file[f].is_intact))
        return;
    fd = open(s->file[f].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, s->file[f].now, s->file[f].n_now) != (ssize_t)s->file[f].n_now)
        abort();
    close(fd);
    s->file[f].is_intact = is_intact && f != RUN_DB && f != LEVELS_REC && f != LEVELS;
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

static void change_columns(const struct subject *s, const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(s->file[RUN_DB].path, &db) == SQLITE_OK) {
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
    struct subject *s;
    size_t at = 2;

    if (subjects[0].file[0].data == NULL)
        make_runs();
    if (size < 2)
        return 0;
    s = &subjects[WHICH_RUN(data[1])];
    for (size_t f = 0; f < N_FILES; f++) {
        if (s->file[f].data)
            memcpy(s->file[f].now, s->file[f].data, s->file[f].n);
        s->file[f].n_now = s->file[f].n;
    }
    for (size_t n; (n = change_file(s, data + at, size - at)) > 0;)
        at += n;
    if (data[1] & FIX_CHECKSUMS)
        fix_checksums(s);
    for (size_t f = 0; f < N_FILES; f++)
        put(s, f);
    if (size > at + 1)
        change_columns(s, data + at + 1, size - at - 1);
    if (data[0] % 2)
        serve(s, data[0] / 2);
    else
        run_command(s, commands[data[0] / 2 % N_COMMANDS]);
    return 0;
}
