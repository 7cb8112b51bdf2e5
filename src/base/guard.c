/*
 * The struct guard lies in memory shared by parent and child. The child's handler for fatal
 * signals notes which worker's thread it hit and lets the signal kill the process. The parent
 * sleeps in short steps and watches three things: the child's end, the workers' counters, and
 * signals sent to itself.
 */
#include "base/guard.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/patience.h"
#include "base/progress.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATIENCE_S 60u
#define ONE_SIGNAL_NS 500000000u

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static const int polite[] = {SIGINT, SIGTERM, SIGHUP};
#define N_POLITE (sizeof polite / sizeof *polite)
static const int from_outside[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE}; /* no fault of an item */

/* Signal handlers have no other way to learn of these. */
static struct guard *shared;
static _Thread_local int own_worker; /* + 1 */
static volatile sig_atomic_t caught, n_caught;

static void on_fatal(int sig)
{
    if (shared && mem_has_given_up())
        atomic_store(&shared->is_out_of_memory, true);
    if (shared && own_worker)
        atomic_store(&shared->culprit, own_worker);
    signal(sig, SIG_DFL);
    raise(sig);
}

static volatile sig_atomic_t n_hung_up; /* with opts.reopens */

static void on_hang_up(int sig)
{
    (void)sig;
    n_hung_up++;
    log_reopen();
}

static void on_polite(int sig)
{
    caught = sig;
    n_caught++;
}

/* before: (n) what was done of them until now, or NULL. */
static void catch_signals(const int *signals, size_t n, void (*handler)(int),
                          struct sigaction *before)
{
    struct sigaction action = {.sa_handler = handler};

    if (handler == on_fatal)
        action.sa_flags = SA_NODEFER;
    for (size_t i = 0; i < n; i++)
        sigaction(signals[i], &action, before ? &before[i] : NULL);
}

static uint64_t heartbeat(const struct guard *guard)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < GUARD_MAX_WORKERS; i++)
        sum += atomic_load_explicit(&guard->worker[i].n_good, memory_order_relaxed) +
               ((uint64_t)atomic_load(&guard->worker[i].item) << 40);
    return sum;
}

static bool is_reading(const struct guard *guard)
{
    for (unsigned i = 0; i < GUARD_MAX_WORKERS; i++)
        if (atomic_load(&guard->worker[i].item) != 0)
            return true;
    return false;
}

/* Signals to us that the child was told of, and when it was the first time. */
struct passed {
    int n;
    uint64_t since_ns;
};

/*
 * What a signal to us means to the child. Those within half a second are one: timeout(1) and
 * batch systems signal a process and then its group, and the second kills.
 */
static void pass_on(pid_t child, const struct guard_opts *opts, struct passed *passed)
{
    int n = n_caught;

    if (n == passed->n)
        return;
    if (opts->ends_itself && passed->n == 0) {
        passed->since_ns = opts->now_ns();
        kill(child, caught);
    } else if (!opts->ends_itself || opts->now_ns() - passed->since_ns > ONE_SIGNAL_NS) {
        kill(child, SIGKILL);
    }
    passed->n = n;
}

/* Waits for the child. Returns its wait status; *is_hung says that we had to kill it. */
static int wait_for(pid_t child, int n_reopened, const struct guard *guard,
                    const struct guard_opts *opts, bool *is_hung)
{
    uint64_t last_beat = heartbeat(guard), nap_us = 200;
    struct patience patience = {.span_ns = (uint64_t)opts->patience_s * 1000000000u};
    struct passed passed = {0};
    int status = 0;

    *is_hung = false;
    patience_renew(&patience, opts->now_ns());
    for (;;) {
        pid_t pid = waitpid(child, &status, WNOHANG);
        uint64_t beat = heartbeat(guard);

        if (pid == child)
            return status;
        pass_on(child, opts, &passed);
        if (n_reopened != n_hung_up) {
            n_reopened++;
            kill(child, SIGHUP);
        }
        if (beat != last_beat || !is_reading(guard)) {
            last_beat = beat;
            patience_renew(&patience, opts->now_ns());
        } else if (patience_is_over(&patience, opts->now_ns())) {
            *is_hung = true;
            kill(child, SIGKILL);
        }
        usleep((useconds_t)nap_us);
        if (nap_us < 10000)
            nap_us += nap_us / 4;
    }
}

/* Adds what worker i was reading to the bad items; false when that item was bad already. */
static bool blame(struct guard *guard, unsigned i, int sig)
{
    struct guard_bad bad = {
        .item = atomic_load(&guard->worker[i].item) - 1,
        .signal = sig,
        .n_good = atomic_load(&guard->worker[i].n_good),
    };

    for (uint32_t k = 0; k < guard->n_bad; k++) {
        if (guard->bad[k].item != bad.item)
            continue;
        if (guard->bad[k].n_good == 0)
            return false;
        guard->bad[k].n_good = bad.n_good / 2; /* it died earlier than last time */
        return true;
    }
    if (guard->n_bad == GUARD_MAX_BAD)
        return false;
    guard->bad[guard->n_bad++] = bad;
    return true;
}

/* Decides what the next child must leave out. Returns false if there is nothing to blame. */
static bool learn_from_death(struct guard *guard, int sig)
{
    int culprit = atomic_load(&guard->culprit);
    bool is_known = false, is_new = false;

    for (unsigned i = 0; i < GUARD_MAX_WORKERS; i++) {
        bool is_busy = atomic_load(&guard->worker[i].item) != 0;

        if (is_busy && (culprit == 0 || culprit == (int)i + 1)) {
            is_known = true;
            is_new |= blame(guard, i, sig);
        }
    }
    memset(guard->worker, 0, sizeof guard->worker);
    atomic_store(&guard->culprit, 0);
    return is_known && is_new;
}

/* *n_reopened: how often we had been told to open the log anew, which the child knows. */
static pid_t start_child(int (*fn)(void *, struct guard *), void *ctx, struct guard *guard,
                         const struct guard_opts *opts, int *n_reopened)
{
    pid_t parent = getpid(), child;
    sigset_t later, before;

    fflush(NULL);
    /* What comes to the child before it has handlers of its own waits for them. */
    sigemptyset(&later);
    sigaddset(&later, SIGHUP);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaddset(&later, fatal[i]);
    sigprocmask(SIG_BLOCK, &later, &before);
    *n_reopened = n_hung_up;
    child = fork();
    if (child != 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(125);
    /* SIGHUP, the last, keeps its handler, if it is about the log. */
    catch_signals(polite, N_POLITE - opts->reopens, SIG_DFL, NULL);
    catch_signals(fatal, sizeof fatal / sizeof *fatal, on_fatal, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    exit(fn(ctx, guard));
}

static bool is_from_outside(int sig)
{
    for (size_t i = 0; i < sizeof from_outside / sizeof *from_outside; i++)
        if (from_outside[i] == sig)
            return true;
    return false;
}

static int run_until_done(int (*fn)(void *, struct guard *), void *ctx, struct guard *guard,
                          const struct guard_opts *opts)
{
    for (;;) {
        bool is_hung;
        int status, n_reopened;
        pid_t child = start_child(fn, ctx, guard, opts, &n_reopened);

        if (child < 0)
            return err_set(ERR_IO, "cannot start a process: %s", strerror(errno));
        status = wait_for(child, n_reopened, guard, opts, &is_hung);
        if (WIFEXITED(status)) {
            caught = opts->ends_itself ? 0 : caught; /* it has seen to that */
            return WEXITSTATUS(status);
        }
        if (!caught && is_from_outside(WTERMSIG(status)))
            caught = WTERMSIG(status);
        if (caught)
            return err_set(ERR_INTERRUPTED, "interrupted");
        if (WTERMSIG(status) == SIGKILL && !is_hung)
            return err_set(ERR_IO,
                           "the process that reads the trace was killed by signal %d, perhaps "
                           "because memory ran out",
                           SIGKILL);
        if (atomic_load(&guard->is_out_of_memory))
            return err_set(ERR_IO, "the process that reads the trace ran out of memory");
        if (is_hung && opts->is_last)
            return err_set(ERR_FORMAT,
                           "the process that reads the trace made no progress for %u s: the "
                           "trace may be damaged",
                           opts->patience_s);
        if (opts->is_last || !learn_from_death(guard, is_hung ? 0 : WTERMSIG(status)))
            return err_set(ERR_FORMAT,
                           "the process that reads the trace was ended by signal %d (%s)",
                           WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
}

int guard_run(int (*fn)(void *ctx, struct guard *guard), void *ctx,
              const struct guard_opts *opts, int *interrupted_by)
{
    struct sigaction before[N_POLITE];
    struct guard_opts o = opts ? *opts : (struct guard_opts){0};
    struct guard *guard =
        mmap(NULL, sizeof *guard, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc;

    if (guard == MAP_FAILED)
        return err_set(ERR_IO, "cannot share memory: %s", strerror(errno));
    o.patience_s = o.patience_s ? o.patience_s : DEFAULT_PATIENCE_S;
    o.now_ns = o.now_ns ? o.now_ns : clock_ns;
    shared = guard;
    caught = n_caught = 0;
    catch_signals(polite, N_POLITE - o.reopens, on_polite, before);
    if (o.reopens)
        catch_signals(&polite[N_POLITE - 1], 1, on_hang_up, &before[N_POLITE - 1]);
    rc = run_until_done(fn, ctx, guard, &o);
    if (rc != 0 && o.clean_up)
        o.clean_up(ctx);
    for (size_t i = 0; i < N_POLITE; i++)
        sigaction(polite[i], &before[i], NULL);
    if (interrupted_by)
        *interrupted_by = caught;
    shared = NULL;
    munmap(guard, sizeof *guard);
    return rc;
}

void guard_begin(struct guard *guard, unsigned worker, uint32_t item)
{
    if (guard == NULL)
        return;
    assert(worker < GUARD_MAX_WORKERS);
    own_worker = (int)worker + 1;
    atomic_store(&guard->worker[worker].n_good, 0);
    atomic_store(&guard->worker[worker].item, item + 1);
}

void guard_end(struct guard *guard, unsigned worker)
{
    if (guard == NULL)
        return;
    atomic_store(&guard->worker[worker].item, 0);
    own_worker = 0;
}

const struct guard_bad *guard_find(const struct guard *guard, uint32_t item)
{
    for (uint32_t k = 0; guard && k < guard->n_bad; k++)
        if (guard->bad[k].item == item)
            return &guard->bad[k];
    return NULL;
}

uint64_t guard_limit(const struct guard *guard, uint32_t item)
{
    const struct guard_bad *bad = guard_find(guard, item);

    return bad ? bad->n_good : UINT64_MAX;
}
