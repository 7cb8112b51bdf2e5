#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define MAX_DISTURBANCES 8
#define MAX_RECORDS (1 << 17) /* of a thread */
#define MS 1000000.0
/* What is slept at once, and by how much more counts as slept for the work, not as lost: waking
 * up takes that. */
#define PIECE_NS 250000
#define WAKING_NS 150000

/* A line of the log; README.md says what the letters mean. */
struct record {
    char what;
    int step, peer[4];
    const char *function;
    int64_t begin, end, nominal, delayed;
};

struct log {
    struct record *records;
    int n;
    int schedstat;    /* file of the thread: how long it was ready without a core */
    int pieces, done; /* of truth_pieces, and calls since then of the first function that works
                         behind it */
    const char *pieces_of;
};

enum kind { SLEEP, WORK, SLOWER, IMBALANCE, FAULTS, IO, COLLECTIVE, N_KINDS };
static const char *const kind_names[N_KINDS] = {"sleep",  "work", "slower",    "imbalance",
                                                "faults", "io",   "collective"};

/* Something that goes wrong: in function, on rank, in each every-th step from first to before
 * end. */
struct disturbance {
    enum kind kind;
    char function[32];
    int rank, thread, first, end, every, last; /* step in which it was last */
    double ms, factor, mb;
};

static struct log logs[MAX_THREADS];
static struct disturbance disturbances[MAX_DISTURBANCES];
static int n_disturbances, my_rank, n_ranks, current_step;
static double loops_per_ms; /* 0: work is slept */
static _Thread_local int my_thread;
static const char *directory;

int64_t truth_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct log *my_log(void)
{
    struct log *log = &logs[my_thread];

    if (log->records == NULL) {
        char path[64];

        log->records = malloc(MAX_RECORDS * sizeof *log->records);
        snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
        log->schedstat = open(path, O_RDONLY | O_CLOEXEC);
        prctl(PR_SET_TIMERSLACK, 1);
    }
    return log;
}

/* How long the thread has been ready to run without a core until now, ns. */
static int64_t waited_for_core(const struct log *log)
{
    char text[64] = "";
    long long ran, waited = 0;

    if (pread(log->schedstat, text, sizeof text - 1, 0) > 0)
        sscanf(text, "%lld %lld", &ran, &waited);
    return waited;
}

static struct record *put(char what, const char *function, int64_t begin, int64_t end)
{
    struct log *log = my_log();
    struct record *record;

    if (log->n == MAX_RECORDS) {
        fprintf(stderr, "truth: a log of more than %d records\n", MAX_RECORDS);
        exit(1);
    }
    record = &log->records[log->n++];
    *record = (struct record){.what = what,
                              .function = function,
                              .begin = begin,
                              .end = end,
                              .step = current_step,
                              .delayed = waited_for_core(log)};
    return record;
}

/* "kind key=value ...;kind ..." */
static void parse(const char *text)
{
    char *copy = strdup(text), *rest = copy, *part;

    while ((part = strsep(&rest, ";")) != NULL && n_disturbances < MAX_DISTURBANCES) {
        struct disturbance *d = &disturbances[n_disturbances];
        char *word = strsep(&part, " "), *value;

        *d = (struct disturbance){
            .kind = N_KINDS, .rank = -1, .end = 1 << 30, .every = 1, .last = -1, .factor = 1};
        for (int k = 0; k < N_KINDS; k++)
            if (strcmp(word, kind_names[k]) == 0)
                d->kind = k;
        while ((word = strsep(&part, " ")) != NULL) {
            if ((value = strchr(word, '=')) == NULL)
                continue;
            *value++ = 0;
            if (strcmp(word, "in") == 0)
                snprintf(d->function, sizeof d->function, "%s", value);
            else if (strcmp(word, "rank") == 0)
                d->rank = atoi(value);
            else if (strcmp(word, "thread") == 0)
                d->thread = atoi(value);
            else if (strcmp(word, "from") == 0)
                d->first = atoi(value);
            else if (strcmp(word, "to") == 0)
                d->end = atoi(value);
            else if (strcmp(word, "every") == 0)
                d->every = atoi(value);
            else if (strcmp(word, "ms") == 0)
                d->ms = atof(value);
            else if (strcmp(word, "factor") == 0)
                d->factor = atof(value);
            else if (strcmp(word, "mb") == 0)
                d->mb = atof(value);
        }
        n_disturbances += d->kind != N_KINDS; /* "stop" comes from outside */
    }
    free(copy);
}

void truth_begin(int rank, int n)
{
    const char *loops = getenv("TRUTH_LOOPS_PER_MS"), *disturb = getenv("TRUTH_DISTURB"),
               *work = getenv("TRUTH_WORK");
    char path[4096];
    FILE *file;

    directory = getenv("TRUTH_DIR") ? getenv("TRUTH_DIR") : ".";
    my_rank = rank;
    n_ranks = n;
    loops_per_ms = work && strcmp(work, "spin") == 0 && loops ? atof(loops) : 0;
    parse(disturb ? disturb : "");
    snprintf(path, sizeof path, "%s/pid.%d", directory, rank);
    if ((file = fopen(path, "w")) == NULL) {
        perror(path);
        exit(1);
    }
    fprintf(file, "%ld\n", (long)getpid());
    fclose(file);
}

void truth_end(void)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/log.%d", directory, my_rank);
    if ((file = fopen(path, "w")) == NULL) {
        perror(path);
        exit(1);
    }
    for (int t = 0; t < MAX_THREADS; t++)
        for (int i = 0; i < logs[t].n; i++) {
            const struct record *r = &logs[t].records[i];

            fprintf(file, "%c %d %d %s %lld %lld %lld %lld %d %d %d %d\n", r->what, t, r->step,
                    r->function, (long long)r->begin, (long long)r->end, (long long)r->nominal,
                    (long long)r->delayed, r->peer[0], r->peer[1], r->peer[2], r->peer[3]);
        }
    if (fclose(file) != 0)
        perror(path);
}

int truth_steps(int otherwise)
{
    return getenv("TRUTH_STEPS") ? atoi(getenv("TRUTH_STEPS")) : otherwise;
}

void truth_thread(int thread)
{
    my_thread = thread;
}

void truth_step(int step)
{
    current_step = step;
    my_log()->pieces = 0;
    put('B', "-", truth_now(), truth_now());
}

/* The same program has the same work: it varies by where and when it is, not by chance. Normal,
 * sd 1. */
static double varied(const char *function)
{
    uint64_t h = 1469598103934665603u ^ (uint64_t)my_rank << 40 ^ (uint64_t)my_thread << 32 ^
                 (uint64_t)current_step;
    double sum = -6;

    for (; *function; function++)
        h = (h ^ (unsigned char)*function) * 1099511628211u;
    for (int i = 0; i < 12; i++) {
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 29;
        sum += (double)(h >> 11) / 9007199254740992.0;
    }
    return sum;
}

static void spin(int64_t ns)
{
    volatile double x = 1;

    for (int64_t i = (int64_t)((double)ns / MS * loops_per_ms); i > 0; i--)
        x = x * 1.0000001 + 1e-9;
}

/*
 * Sleeps, as work that needs no core: what a piece takes longer than waking up does is not
 * work, so that who is stopped in between has all of it still to do.
 */
static void wait_for(int64_t ns)
{
    while (ns > 20000) {
        int64_t piece = ns < PIECE_NS ? ns : PIECE_NS, begin = truth_now(), took;
        struct timespec t = {.tv_nsec = piece};

        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
        took = truth_now() - begin;
        ns -= took < piece + WAKING_NS ? took : piece + WAKING_NS;
    }
}

static void work(int64_t ns)
{
    if (loops_per_ms > 0)
        spin(ns);
    else
        wait_for(ns);
}

static void touch_pages(size_t bytes)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return;
    madvise(at, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += 4096)
        at[i] = 1;
    munmap(at, bytes);
}

static void write_file(size_t bytes)
{
    static const char block[1 << 16] = {1};
    char path[4096];
    int file;

    snprintf(path, sizeof path, "%s/io.%d.%d", directory, my_rank, my_thread);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t i = 0; i < bytes; i += sizeof block)
        if (write(file, block, sizeof block) < 0)
            break;
    fdatasync(file);
    close(file);
    unlink(path);
}

static bool is_now(const struct disturbance *d, const char *function)
{
    return (d->rank < 0 || d->rank == my_rank) && d->thread == my_thread &&
           current_step >= d->first && current_step < d->end &&
           (current_step - d->first) % d->every == 0 &&
           (d->function[0] == 0 || strcmp(d->function, function) == 0);
}

static void sleep_ms(double ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(fmod(ms, 1e3) * MS)};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

static void disturb(const struct disturbance *d, double nominal_ms)
{
    switch (d->kind) {
    case SLEEP:
        sleep_ms(d->ms);
        break;
    case WORK:
        work((int64_t)(d->ms * MS));
        break;
    case SLOWER:
        work((int64_t)((d->factor - 1) * nominal_ms * MS));
        break;
    case FAULTS:
        for (int64_t begin = truth_now(); truth_now() - begin < (int64_t)(d->ms * MS);)
            touch_pages(256 << 12);
        break;
    case IO:
        for (int64_t begin = truth_now(); truth_now() - begin < (int64_t)(d->ms * MS);)
            write_file((size_t)(d->mb * 1048576));
        break;
    default:
        break;
    }
}

void truth_work(const char *function, double ms)
{
    struct log *log = my_log();
    double nominal = ms * (1 + 0.02 * varied(function));
    bool is_more = false;
    int64_t begin = truth_now();

    if (log->pieces > 0 && log->pieces_of == NULL)
        log->pieces_of = function;
    if (log->pieces > 0 && strcmp(log->pieces_of, function) == 0)
        is_more = log->done++ >= log->pieces;

    work((int64_t)(nominal * MS));
    put(is_more ? 'D' : 'W', function, begin, truth_now())->nominal = (int64_t)(nominal * MS);
    for (int i = 0; i < n_disturbances; i++) {
        struct disturbance *d = &disturbances[i];

        /* what is slower is so in each call, all else happens once in a step; d is of one
         * thread */
        if (d->kind == IMBALANCE || d->kind == COLLECTIVE || !is_now(d, function) ||
            (d->kind != SLOWER && d->last == current_step))
            continue;
        d->last = current_step;
        begin = truth_now();
        disturb(d, nominal);
        put('D', function, begin, truth_now());
    }
}

int truth_pieces(int base)
{
    struct log *log = my_log();
    int n = base;

    log->pieces = log->done = 0;
    log->pieces_of = NULL;
    for (int i = 0; i < n_disturbances; i++)
        if (disturbances[i].kind == IMBALANCE && is_now(&disturbances[i], ""))
            n = (int)lround(base * disturbances[i].factor);
    log->pieces = base;
    return n;
}

void truth_in_collective(void)
{
    for (int i = 0; i < n_disturbances; i++)
        if (disturbances[i].kind == COLLECTIVE && is_now(&disturbances[i], "")) {
            int64_t begin = truth_now();

            sleep_ms(disturbances[i].ms);
            put('D', "collective", begin, truth_now());
        }
}

void truth_sends(int peer)
{
    int64_t now = truth_now();

    put('S', "-", now, now)->peer[0] = peer;
}

void truth_received(int64_t begin, int peer)
{
    put('R', "-", begin, truth_now())->peer[0] = peer;
}

void truth_met(int64_t begin, int first, int n, int stride, int root)
{
    memcpy(put('M', "-", begin, truth_now())->peer, (int[]){first, n, stride, root},
           sizeof(int[4]));
}

static void put_team(int64_t begin, int n, int root)
{
    memcpy(put('T', "-", begin, truth_now())->peer, (int[]){0, n, 1, root}, sizeof(int[4]));
}

/* When the last record of this thread ended. */
static int64_t last_end(void)
{
    const struct log *log = my_log();

    return log->n > 0 ? log->records[log->n - 1].end : truth_now();
}

void truth_forked(int n)
{
    put_team(my_thread == 0 ? truth_now() : last_end(), n, 0);
}

void truth_joins(int n)
{
    if (my_thread != 0)
        put_team(truth_now(), n, -2);
}

void truth_joined(int n)
{
    put_team(last_end(), n, -2);
}
