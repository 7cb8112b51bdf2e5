/*
 * stream_verdicts URL [detector=tails] [silence=0] -- judges a stream's calls and prints what
 * is strange, a line each, sorted by nothing:
 *
 *     program.rank.thread region enter_us inclusive_ns exclusive_ns score
 *
 * and what it took on stderr:
 *
 *     steps 40 events 1000268 calls 500134 anomalies 499 unjudged 60 wall_s 0.3 cpu_s 0.2
 *     peak_bytes 7340032 reader_peak_bytes 21000000
 *
 * cpu_s is of all processes. Exit status as snag's.
 */
#include "base/err.h"
#include "live/ad.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *value_of(char **argv, const char *name, const char *fallback)
{
    size_t n = strlen(name);

    for (; *argv; argv++)
        if (strncmp(*argv, name, n) == 0 && (*argv)[n] == '=')
            return *argv + n + 1;
    return fallback;
}

static void on_step(void *ctx, const struct ad_step *step)
{
    uint64_t *n_called = ctx;

    for (size_t i = 0; i < step->n_verdicts; i++) {
        const struct verdict *v = &step->verdict[i];
        const struct location *l = &step->defs->location[v->location];

        printf("%u.%u.%u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.6g\n", l->program, l->rank,
               l->thread, step->defs->region[v->region].name,
               step->defs->origin_ticks + v->enter_ns / 1000, v->inclusive_ns, v->exclusive_ns,
               v->judgement.score);
    }
    ++*n_called;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_totals(const struct ad *ad, double wall_s)
{
    const struct ad_totals *t = ad_totals(ad);
    struct rusage self, children;

    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    fprintf(stderr,
            "steps %" PRIu64 " events %" PRIu64 " calls %" PRIu64 " anomalies %" PRIu64
            " unjudged %" PRIu64 " wall_s %.4f cpu_s %.4f peak_bytes %ld "
            "reader_peak_bytes %ld\n",
            t->n_steps, t->n_events, t->n_calls, t->n_anomalies, t->n_unjudged, wall_s,
            seconds_of(self.ru_utime) + seconds_of(self.ru_stime) +
                seconds_of(children.ru_utime) + seconds_of(children.ru_stime),
            self.ru_maxrss * 1024L, children.ru_maxrss * 1024L);
}

static int judge(struct stream *stream, char **argv, double begin_s)
{
    uint64_t n_called = 0;
    struct ad_sink sink = {on_step, &n_called};
    struct ad_opts opts = ad_default();
    struct ad *ad;
    int state, status;

    opts.detector = call_detector_find(value_of(argv, "detector", "tails"));
    opts.sink = &sink;
    opts.n_sinks = 1;
    ad = ad_new(stream, &opts);
    while ((state = ad_next(ad, 1000)) != STREAM_OVER && state >= 0)
        ;
    status = quality_is_damaged(&stream->quality) || quality_is_damaged(ad_quality(ad)) ? 3 : 0;
    if (state < 0) {
        fprintf(stderr, "snag: %s\n", err_message());
        status = 1;
    }
    stream_close(stream); /* so that its processes are over and counted */
    print_totals(ad, now_s() - begin_s);
    return status;
}

int main(int argc, char **argv)
{
    struct stream_opts opts = {
        .connect_ms = (unsigned)atoi(value_of(argv, "connect", "0")),
        .silence_ms = (unsigned)atoi(value_of(argv, "silence", "0")),
        .step_ns = 500000000,
    };
    struct stream stream = {0};
    double begin_s = now_s();

    if (argc < 2)
        return 2;
    if (stream_open(&stream, argv[1], &opts) < 0) {
        fprintf(stderr, "snag: %s\n", err_message());
        return 1;
    }
    return judge(&stream, argv, begin_s);
}
