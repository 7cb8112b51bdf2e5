/*
 * disturb -- does to running ranks what a bad day does, and writes down when:
 *
 *     stop    a rank is stopped (SIGSTOP) for some milliseconds, as if its machine had hung
 *     load    a busy loop competes for the core a rank runs on
 *
 * The ranks are those in the file that the tracer writes (SNAG_TRACER_RANKS). The truth is a
 * CSV file, kind,rank,start_ns,end_ns, in CLOCK_MONOTONIC, the clock of the trace. Times,
 * lengths and victims are random but the same for the same seed; disturbances never overlap.
 *
 * No rank may stay stopped. Every way out continues it; for the one that leaves no time to do
 * so, SIGKILL, there is a guardian: a child that waits for this process to be gone, then
 * continues all ranks (victims.h).
 */
#include "victims.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u      /* ns */
#define GAP_NS (20 * MS) /* at least, between two disturbances */
#define STOP_PATIENCE_NS (50 * MS)

enum { KIND_STOP = 1, KIND_LOAD = 2 };

struct options {
    const char *ranks, *truth;
    double seconds, warmup_s, wait_s, least_ms, most_ms;
    int count; /* 0: one per second */
    int kinds, nice;
    uint64_t seed;
};

struct disturber {
    struct options opt;
    struct victims victims;
    uint64_t random; /* state */
    FILE *truth;
    int n_done[KIND_LOAD + 1], n_failed;
};

static volatile sig_atomic_t is_interrupted;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns early when a signal asks us to end. */
static void sleep_until(uint64_t time_ns)
{
    struct timespec t = {(time_t)(time_ns / 1000000000u), (long)(time_ns % 1000000000u)};

    while (!is_interrupted &&
           clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* splitmix64 (Steele, Lea, Flood 2014); uniform in [0, 1). */
static double random_real(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void wait_for_ranks(struct disturber *d)
{
    uint64_t end_ns = now_ns() + (uint64_t)(1e9 * d->opt.wait_s);
    FILE *file;

    while ((file = fopen(d->opt.ranks, "re")) == NULL) {
        if (is_interrupted)
            exit(1);
        if (now_ns() > end_ns)
            fail("no file '%s' after %g s", d->opt.ranks, d->opt.wait_s);
        sleep_until(now_ns() + 20 * MS);
    }
    victims_read(&d->victims, file);
    fclose(file);
}

/* ------------------------------------------------------------------------- the disturbances */

/* True when the process is, or is not, stopped within some time. */
static bool await_stopped(const struct victim *v, bool is_wanted)
{
    uint64_t end_ns = now_ns() + STOP_PATIENCE_NS;
    char state = '?';
    int core;

    do
        if (victim_stat(v, &state, &core) && (state == 'T') == is_wanted)
            return true;
    while (now_ns() < end_ns && !victim_is_gone(v));
    return false;
}

/* False if it did not happen. */
static bool stop(const struct victim *v, uint64_t length_ns, uint64_t *end_ns)
{
    uint64_t start_ns = now_ns();
    bool is_stopped = victim_signal(v, SIGSTOP) && await_stopped(v, true);

    if (is_stopped)
        sleep_until(start_ns + length_ns);
    victim_signal(v, SIGCONT);
    *end_ns = now_ns();
    return is_stopped && await_stopped(v, false);
}

static void burn(int core, int nice_value, uint64_t end_ns)
{
    cpu_set_t cores;

    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0)
        _exit(1);
    setpriority(PRIO_PROCESS, 0, nice_value); /* more than ours only for root; else as it is */
    while (now_ns() < end_ns)
        ;
    _exit(0);
}

static bool load(const struct victim *v, int nice_value, uint64_t length_ns, uint64_t *end_ns)
{
    uint64_t start_ns = now_ns();
    int core, status = 1;
    char state;
    pid_t child;

    if (!victim_stat(v, &state, &core))
        return false;
    child = fork();
    if (child == 0)
        burn(core, nice_value, start_ns + length_ns);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        if (is_interrupted)
            kill(child, SIGKILL);
    *end_ns = now_ns();
    return child > 0 && status == 0;
}

static void disturb(struct disturber *d, uint64_t length_ns)
{
    const struct victim *v = &d->victims.victim[(int)(random_real(&d->random) * d->victims.n)];
    int kind = random_real(&d->random) < 0.5 ? KIND_STOP : KIND_LOAD;
    uint64_t start_ns, end_ns;
    bool is_done;

    if (!(d->opt.kinds & kind))
        kind = d->opt.kinds;
    if (victim_is_gone(v))
        return;
    start_ns = now_ns();
    is_done = kind == KIND_STOP ? stop(v, length_ns, &end_ns)
                                : load(v, d->opt.nice, length_ns, &end_ns);
    if (!is_done) {
        d->n_failed++;
        return;
    }
    d->n_done[kind]++;
    fprintf(d->truth, "%s,%d,%llu,%llu\n", kind == KIND_STOP ? "stop" : "load", v->rank,
            (unsigned long long)start_ns, (unsigned long long)end_ns);
    fflush(d->truth);
}

/* The time is cut into as many pieces as there are disturbances, one somewhere in each. */
static void run(struct disturber *d)
{
    const struct options *o = &d->opt;
    int count = o->count ? o->count : (int)o->seconds;
    uint64_t begin_ns = now_ns() + (uint64_t)(1e9 * o->warmup_s);
    double piece_ns = 1e9 * o->seconds / (count ? count : 1);

    if (piece_ns < o->most_ms * MS + GAP_NS)
        fail("%d disturbances of up to %g ms do not fit into %g s", count, o->most_ms,
             o->seconds);
    for (int i = 0; i < count && !is_interrupted; i++) {
        double share = random_real(&d->random);
        double length_ns = MS * (o->least_ms + share * (o->most_ms - o->least_ms));
        double slack_ns = piece_ns - length_ns - GAP_NS;
        uint64_t at_ns =
            begin_ns + (uint64_t)(i * piece_ns + random_real(&d->random) * slack_ns);

        while (now_ns() < at_ns && !is_interrupted && !victims_are_gone(&d->victims))
            sleep_until(at_ns < now_ns() + 100 * MS ? at_ns : now_ns() + 100 * MS);
        if (victims_are_gone(&d->victims))
            break;
        if (!is_interrupted)
            disturb(d, (uint64_t)length_ns);
    }
}

/* -------------------------------------------------------------------------------- options */

static const char usage[] =
    "usage: disturb --ranks FILE --truth FILE.csv [options]\n"
    "  --ranks FILE     written by the tracer (SNAG_TRACER_RANKS)\n"
    "  --truth FILE     what was done: kind,rank,start_ns,end_ns\n"
    "  --seconds S      for so long (default 8)\n"
    "  --count N        so often (default: once a second)\n"
    "  --warmup S       first leave the ranks alone (default 1)\n"
    "  --wait S         for the file of the ranks (default 30)\n"
    "  --least MS --most MS   how long each is (default 5, 40)\n"
    "  --kind stop|load|both  (default both)\n"
    "  --nice N         priority of the busy loop (default -5, for root; else as ours)\n"
    "  --seed N         (default 1)\n";

static const struct option long_options[] = {
    {"ranks", required_argument, NULL, 'r'},
    {"truth", required_argument, NULL, 't'},
    {"seconds", required_argument, NULL, 's'},
    {"count", required_argument, NULL, 'c'},
    {"warmup", required_argument, NULL, 'u'},
    {"wait", required_argument, NULL, 'w'},
    {"least", required_argument, NULL, 'l'},
    {"most", required_argument, NULL, 'm'},
    {"kind", required_argument, NULL, 'k'},
    {"nice", required_argument, NULL, 'n'},
    {"seed", required_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void use_badly(void)
{
    fputs(usage, stderr);
    exit(2);
}

static double number(double least, double most)
{
    char *end;
    double value = strtod(optarg, &end);

    if (end == optarg || *end != '\0' || !(value >= least && value <= most)) {
        fprintf(stderr, "disturb: not a number from %g to %g: '%s'\n", least, most, optarg);
        exit(2);
    }
    return value;
}

static int read_kind(void)
{
    if (strcmp(optarg, "stop") == 0)
        return KIND_STOP;
    if (strcmp(optarg, "load") == 0)
        return KIND_LOAD;
    if (strcmp(optarg, "both") != 0)
        use_badly();
    return KIND_STOP | KIND_LOAD;
}

static void read_option(struct options *o, int letter)
{
    switch (letter) {
    case 'r':
        o->ranks = optarg;
        break;
    case 't':
        o->truth = optarg;
        break;
    case 's':
        o->seconds = number(0.1, 1e6);
        break;
    case 'c':
        o->count = (int)number(1, 1e6);
        break;
    case 'u':
        o->warmup_s = number(0, 1e6);
        break;
    case 'w':
        o->wait_s = number(0, 1e6);
        break;
    case 'l':
        o->least_ms = number(1, 10000);
        break;
    case 'm':
        o->most_ms = number(1, 10000);
        break;
    case 'k':
        o->kinds = read_kind();
        break;
    case 'n':
        o->nice = (int)number(-20, 19);
        break;
    case 'e':
        o->seed = (uint64_t)number(0, 1e15);
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        use_badly();
    }
}

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

int main(int argc, char **argv)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
    struct disturber d = {.opt = {.seconds = 8,
                                  .warmup_s = 1,
                                  .wait_s = 30,
                                  .least_ms = 5,
                                  .most_ms = 40,
                                  .kinds = KIND_STOP | KIND_LOAD,
                                  .nice = -5,
                                  .seed = 1}};
    int letter;

    while ((letter = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
        read_option(&d.opt, letter);
    if (optind < argc || !d.opt.ranks || !d.opt.truth || d.opt.least_ms > d.opt.most_ms)
        use_badly();
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaction(caught[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    d.random = d.opt.seed;
    d.truth = fopen(d.opt.truth, "we");
    if (d.truth == NULL)
        fail("cannot write '%s': %s", d.opt.truth, strerror(errno));
    fprintf(d.truth, "kind,rank,start_ns,end_ns\n");
    wait_for_ranks(&d);
    victims_guard(&d.victims);
    run(&d);
    if (fclose(d.truth) != 0)
        fail("cannot write '%s': %s", d.opt.truth, strerror(errno));
    printf("disturbed %d times: %d stops, %d loads; %d more did not take effect\n",
           d.n_done[KIND_STOP] + d.n_done[KIND_LOAD], d.n_done[KIND_STOP], d.n_done[KIND_LOAD],
           d.n_failed);
    victims_release(&d.victims);
    return 0;
}
