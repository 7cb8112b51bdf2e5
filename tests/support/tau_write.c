/*
 * tau_write -- any trace that snag reads, as TAU's ADIOS2 plugin would have written it: a file
 * or stream DIR/tau-metrics-PROGRAM-RANK.bp per rank, each by a process of its own.
 *
 *   tau_write TRACE DIR [option=value ...]
 *
 *     engine=BP4    BP3, BP4, BP5 or SST
 *     step=10       milliseconds of trace per step
 *     pause=0       milliseconds of real time between steps
 *     program=app   in the names of the files
 *     narrow=0      1: counts are 32-bit
 *     wait=1        SST: readers that must be there before the first step
 *     stop=0        after so many steps do what `how` says
 *     how=          exit (without closing), hang, empty (a step with nothing in it, and go on)
 *
 * Timers get their numbers and names when they are first used. Every message comes with a
 * counter of its size, as TAU makes it. Times are cut to microseconds.
 */
#include "trace/source.h"

#include <adios2_c.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_US 1600000000000000u
#define MAX_TIMERS 65536
#define DEEPEST 4096

#define CHECK(what)                                                                            \
    do {                                                                                       \
        if (!(what)) {                                                                         \
            fprintf(stderr, "tau_write: %s:%d: %s\n", __FILE__, __LINE__, #what);              \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

struct options {
    const char *engine, *program, *how;
    uint64_t step_ms;
    unsigned pause_ms, stop;
    bool is_narrow;
    const char *wait;
};

/* Rows of one kind, of the whole rank and where those of the step begin. */
struct rows {
    uint64_t *value;
    size_t n, cap;
    uint32_t columns;
    size_t at;
    adios2_variable *variable, *count;
};

struct rank {
    const struct options *options;
    struct source *source;
    uint32_t rank;
    struct rows event, message, counter;
    adios2_adios *adios;
    adios2_io *io;
    adios2_engine *engine;
    bool is_known[MAX_TIMERS];
};

/* ----------------------------------------------------------------------------- collecting */

static uint64_t *add_row(struct rows *rows)
{
    if (rows->n == rows->cap) {
        rows->cap = rows->cap ? 2 * rows->cap : 1024;
        rows->value = realloc(rows->value, rows->cap * rows->columns * sizeof *rows->value);
        CHECK(rows->value != NULL);
    }
    return rows->value + rows->n++ * rows->columns;
}

static void add(struct rank *r, const struct event_batch *batch, const struct event *event,
                uint32_t thread, uint32_t region)
{
    uint64_t us = START_US + event->time_ns / 1000;
    uint64_t *row;

    if (event->kind == EVENT_ENTER || event->kind == EVENT_LEAVE) {
        row = add_row(&r->event);
        memcpy(row, (uint64_t[]){0, r->rank, thread, event->kind == EVENT_LEAVE, region, us},
               6 * sizeof *row);
    } else if (event->kind == EVENT_MESSAGE) {
        const struct message *m = &batch->message[event->ref];
        bool is_recv = m->kind == MESSAGE_RECV;

        row = add_row(&r->message);
        memcpy(row,
               (uint64_t[]){0, r->rank, thread, 2 + is_recv, m->tag, m->peer, m->bytes, us},
               8 * sizeof *row);
        row = add_row(&r->counter);
        memcpy(row, (uint64_t[]){0, r->rank, thread, is_recv, m->bytes, us}, 6 * sizeof *row);
    }
}

static void collect(struct rank *r, struct source_reader *reader, uint32_t location)
{
    static uint32_t stack[DEEPEST];
    const struct event_batch *batch;
    uint32_t depth = 0, thread = r->source->defs.location[location].thread;

    CHECK(source_reader_begin(reader, location, UINT64_MAX) == 0);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            const struct event *event = &batch->event[i];
            uint32_t region = event->ref;

            if (event->kind == EVENT_ENTER) {
                CHECK(depth < DEEPEST && region < MAX_TIMERS);
                stack[depth++] = region;
            } else if (event->kind == EVENT_LEAVE && depth > 0) {
                region = stack[--depth];
            }
            add(r, batch, event, thread, region);
        }
    source_reader_end(reader, &(struct quality){0});
}

static int by_time(const void *a, const void *b, void *columns)
{
    uint32_t last = *(const uint32_t *)columns - 1;
    const uint64_t *p = a, *q = b;

    return (p[last] > q[last]) - (p[last] < q[last]);
}

/* Threads one behind the other become rows in order of time. glibc's qsort_r merges. */
static void sort(struct rows *rows)
{
    qsort_r(rows->value, rows->n, rows->columns * sizeof *rows->value, by_time, &rows->columns);
}

/* -------------------------------------------------------------------------------- writing */

static void say(struct rank *r, const char *name, const char *text)
{
    CHECK(adios2_define_attribute(r->io, name, adios2_type_string, text) != NULL);
}

static void say_numbered(struct rank *r, const char *what, uint32_t number, const char *text)
{
    char name[64];

    snprintf(name, sizeof name, "%s %u", what, number);
    say(r, name, text);
}

static void define(struct rank *r, struct rows *rows, const char *name, const char *count)
{
    size_t begin[2] = {0, 0}, one[2] = {1, rows->columns};

    rows->variable = adios2_define_variable(r->io, name, adios2_type_uint64_t, 2, one, begin,
                                            one, adios2_constant_dims_false);
    rows->count = adios2_define_variable(
        r->io, count, r->options->is_narrow ? adios2_type_uint32_t : adios2_type_uint64_t, 0,
        NULL, NULL, NULL, adios2_constant_dims_true);
    CHECK(rows->variable && rows->count);
}

static void open_writer(struct rank *r, const char *dir)
{
    static const char *const types[] = {"ENTRY", "EXIT", "SEND", "RECV"};
    char path[4096], text[64];

    r->adios = adios2_init_serial();
    r->io = adios2_declare_io(r->adios, "tau");
    adios2_set_engine(r->io, r->options->engine);
    adios2_set_parameter(r->io, "RendezvousReaderCount", r->options->wait);
    adios2_set_parameter(r->io, "DataTransport", "WAN");
    define(r, &r->event, "event_timestamps", "timer_event_count");
    define(r, &r->message, "comm_timestamps", "comm_count");
    define(r, &r->counter, "counter_values", "counter_event_count");
    for (uint32_t i = 0; i < 4; i++)
        say_numbered(r, "event_type", i, types[i]);
    say_numbered(r, "counter", 0, "Message size sent to all nodes");
    say_numbered(r, "counter", 1, "Message size received from all nodes");
    snprintf(path, sizeof path, "MetaData:0:%u:0:Hostname", r->rank);
    snprintf(text, sizeof text, "node%04u", r->rank);
    say(r, path, text);
    snprintf(path, sizeof path, "MetaData:0:%u:0:Starting Timestamp", r->rank);
    snprintf(text, sizeof text, "%llu", (unsigned long long)START_US);
    say(r, path, text);
    snprintf(path, sizeof path, "%s/tau-metrics-%s-%u.bp", dir, r->options->program, r->rank);
    r->engine = adios2_open(r->io, path, adios2_mode_write);
    CHECK(r->engine != NULL);
}

static void put(struct rank *r, struct rows *rows, size_t n)
{
    size_t start[2] = {0, 0}, count[2] = {n, rows->columns};
    uint64_t wide = n;
    uint32_t narrow = (uint32_t)n;

    if (n > 0) { /* a table without rows is left out */
        adios2_set_shape(rows->variable, 2, count);
        adios2_set_selection(rows->variable, 2, start, count);
        CHECK(adios2_put(r->engine, rows->variable, rows->value + rows->at * rows->columns,
                         adios2_mode_sync) == adios2_error_none);
    }
    CHECK(adios2_put(r->engine, rows->count,
                     r->options->is_narrow ? (void *)&narrow : (void *)&wide,
                     adios2_mode_sync) == adios2_error_none);
    rows->at += n;
}

/* How many of the rows are before a time. */
static size_t rows_until(const struct rows *rows, uint64_t until_us)
{
    size_t i = rows->at;

    while (i < rows->n && rows->value[(i + 1) * rows->columns - 1] < until_us)
        i++;
    return i - rows->at;
}

static void name_timers(struct rank *r, size_t n)
{
    for (size_t i = r->event.at; i < r->event.at + n; i++) {
        uint64_t timer = r->event.value[i * r->event.columns + 4];

        if (r->is_known[timer])
            continue;
        r->is_known[timer] = true;
        say_numbered(r, "timer", (uint32_t)timer, r->source->defs.region[timer].name);
    }
}

static void write_step(struct rank *r, uint64_t until_us)
{
    size_t n = rows_until(&r->event, until_us);

    CHECK(adios2_begin_step(r->engine, adios2_step_mode_append, -1, &(adios2_step_status){0}) ==
          adios2_error_none);
    name_timers(r, n);
    put(r, &r->event, n);
    put(r, &r->message, rows_until(&r->message, until_us));
    put(r, &r->counter, rows_until(&r->counter, until_us));
    CHECK(adios2_end_step(r->engine) == adios2_error_none);
}

static void misbehave(struct rank *r)
{
    if (strcmp(r->options->how, "exit") == 0)
        _exit(0);
    if (strcmp(r->options->how, "empty") == 0)
        write_step(r, 0);
    while (strcmp(r->options->how, "hang") == 0)
        pause();
}

static void write_rank(struct rank *r, const char *dir)
{
    uint64_t until = START_US;

    open_writer(r, dir);
    for (unsigned step = 1; r->event.at < r->event.n; step++) {
        until += r->options->step_ms * 1000;
        write_step(r, until);
        usleep(1000 * r->options->pause_ms);
        if (step == r->options->stop)
            misbehave(r);
    }
    CHECK(adios2_close(r->engine) == adios2_error_none);
    adios2_finalize(r->adios);
}

static void do_rank(struct source *source, uint32_t rank, const char *dir,
                    const struct options *options)
{
    static struct rank r;
    struct source_reader *reader = source_reader_new(source);

    r.options = options;
    r.source = source;
    r.rank = rank;
    r.event.columns = r.counter.columns = 6;
    r.message.columns = 8;
    for (uint32_t l = 0; l < source->defs.n_locations; l++)
        if (source->defs.location[l].rank == rank)
            collect(&r, reader, l);
    sort(&r.event);
    sort(&r.message);
    sort(&r.counter);
    write_rank(&r, dir);
}

static const char *value_of(char **argv, const char *name, const char *fallback)
{
    size_t n = strlen(name);

    for (; *argv; argv++)
        if (strncmp(*argv, name, n) == 0 && (*argv)[n] == '=')
            return *argv + n + 1;
    return fallback;
}

int main(int argc, char **argv)
{
    struct source source = {0};
    struct options options;
    int status, failed = 0;

    CHECK(argc >= 3);
    options = (struct options){
        .engine = value_of(argv, "engine", "BP4"),
        .program = value_of(argv, "program", "app"),
        .how = value_of(argv, "how", ""),
        .step_ms = strtoull(value_of(argv, "step", "10"), NULL, 10),
        .pause_ms = (unsigned)atoi(value_of(argv, "pause", "0")),
        .stop = (unsigned)atoi(value_of(argv, "stop", "0")),
        .is_narrow = atoi(value_of(argv, "narrow", "0")),
        .wait = value_of(argv, "wait", "1"),
    };
    CHECK(source_open(&source, argv[1]) == 0);
    for (uint32_t rank = 0; rank < source.defs.n_ranks; rank++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            do_rank(&source, rank, argv[2], &options);
            return 0;
        }
    while (wait(&status) > 0)
        failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failed;
}
