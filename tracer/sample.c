/* The thread looks what is missing when the handler asks for it, and every now and then. */
#include "sample.h"

#include "complain.h"
#include "memory.h"
#include "stack.h"
#include "stack_sites.h"
#include "structure.h"
#include "trace/tracer/tracer_numbers.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define EXPORTED __attribute__((visibility("default")))
#define SAMPLE_SIGNAL SIGURG
#define ROUND_MS 50  /* between two looks at what is missing */
#define N_WANTED 256 /* a power of two; what does not fit will be asked for again */

static struct {
    double hz; /* 0: no samples */
    pid_t pid; /* a child of a fork has none */
    pthread_t helper;
    atomic_uint is_asked; /* a futex: semaphores wait by a clock that may be put back */
    atomic_bool is_over, has_samples;
    struct sigaction before;
    atomic_uintptr_t pc[N_WANTED], address[N_WANTED]; /* 0: free */
    struct {
        atomic_uintptr_t from, to; /* sites; `to` is set last, and taken first */
    } change[N_WANTED];
} sampling;

static _Thread_local struct {
    timer_t timer;
    bool has_timer;
} own;

/* --------------------------------------------------------------------------- the handler */

static void ask(void)
{
    atomic_store(&sampling.is_asked, 1);
    syscall(SYS_futex, &sampling.is_asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static size_t slot_of(uintptr_t what)
{
    return (what * 0x9e3779b97f4a7c15u >> 32) & (N_WANTED - 1);
}

static void want(atomic_uintptr_t *list, uintptr_t what)
{
    atomic_uintptr_t *at = &list[slot_of(what)];
    uintptr_t nothing = 0;

    if (what != 0 && atomic_compare_exchange_strong(at, &nothing, what))
        ask();
}

static void want_change(const struct stack_site *from, const struct stack_site *to)
{
    uintptr_t nothing = 0;
    size_t at = slot_of((uintptr_t)from + (uintptr_t)to);

    if (to == NULL ||
        !atomic_compare_exchange_strong(&sampling.change[at].from, &nothing, (uintptr_t)from))
        return;
    atomic_store(&sampling.change[at].to, (uintptr_t)to);
    ask();
}

static void sample(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    const struct frame_registers at = {.pc = (uintptr_t)registers[REG_RIP],
                                       .sp = (uintptr_t)registers[REG_RSP],
                                       .fp = (uintptr_t)registers[REG_RBP]};
    struct stack_unknown unknown = {0};
    struct recorder *r;

    if (atomic_load(&structure_now) != STRUCTURE_STACKS)
        return;
    r = recorder_begin_signal();
    if (r == NULL)
        return;
    if (stack_sample(r, &at, &unknown))
        atomic_store_explicit(&sampling.has_samples, true, memory_order_relaxed);
    recorder_end(r);
    want(sampling.pc, unknown.pc);
    want(sampling.address, unknown.address);
    want_change(unknown.from, unknown.to);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)number;
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &sampling)
        sample(context);
    errno = saved;
}

/* ---------------------------------------------------------------------------- threads */

struct start {
    void *(*routine)(void *);
    void *arg;
};

static void *begin_thread(void *arg)
{
    struct start start = *(struct start *)arg;

    memory_free(arg);
    sample_thread(recorder_adopt());
    return start.routine(start.arg);
}

/* Those that are not MPI's own are sampled from their begin. */
EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*routine)(void *), void *arg)
{
    static int (*_Atomic real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct start *start;
    int rc;

    if (real == NULL)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    if (sampling.hz == 0 || sampling.pid != getpid() ||
        site_is_of_mpi(__builtin_return_address(0)))
        return real(thread, attributes, routine, arg);
    start = memory_resize(NULL, 1, sizeof *start);
    *start = (struct start){routine, arg};
    rc = real(thread, attributes, begin_thread, start);
    if (rc != 0)
        memory_free(start);
    return rc;
}

/* ----------------------------------------------------------------------------- the helper */

static void look_up_change(int i)
{
    const struct stack_site *to =
        (const struct stack_site *)atomic_exchange(&sampling.change[i].to, 0);

    if (to != NULL)
        site_change_add((const struct stack_site *)atomic_exchange(&sampling.change[i].from, 0),
                        to);
}

static void look_up(void)
{
    for (int i = 0; i < N_WANTED; i++) {
        uintptr_t pc = atomic_exchange(&sampling.pc[i], 0);
        uintptr_t address = atomic_exchange(&sampling.address[i], 0);

        if (pc != 0)
            site_add_around(pc);
        if (address != 0)
            site_of(address);
        look_up_change(i);
    }
}

static void wait_a_round(void)
{
    const struct timespec most = {.tv_nsec = ROUND_MS * 1000000};

    syscall(SYS_futex, &sampling.is_asked, FUTEX_WAIT_PRIVATE, 0, &most, NULL, 0);
    atomic_store(&sampling.is_asked, 0);
}

static void *help(void *arg)
{
    (void)arg;
    recorder_refuse();
    while (!atomic_load(&sampling.is_over) && atomic_load(&recorder_switch.is_on)) {
        wait_a_round();
        look_up();
        if (atomic_load(&sampling.has_samples))
            recorder_first();
        for (struct recorder *r = recorder_newest(); r; r = r->older)
            recorder_hand_over_for(r);
    }
    return NULL;
}

static bool start_helper(void)
{
    sigset_t all, old;
    bool is_good;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    is_good = pthread_create(&sampling.helper, NULL, help, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_good;
}

/* ------------------------------------------------------------------------- begin and end */

static double rate(void)
{
    const char *said = getenv("SNAG_TRACER_SAMPLE");
    double hz = said ? tracer_rate(said) : 0;

    if (said && *said && hz == 0)
        complain(
            "SNAG_TRACER_SAMPLE is a rate such as 200Hz, of %d at most, not '%.40s'; there are "
            "no samples",
            TRACER_MAX_HZ, said);
    return hz;
}

void sample_begin(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    double hz = rate();

    if (hz == 0 || sampling.hz != 0)
        return;
    sigaction(SAMPLE_SIGNAL, NULL, &sampling.before);
    if (sampling.before.sa_handler != SIG_DFL && sampling.before.sa_handler != SIG_IGN) {
        complain("the program handles SIGURG itself: there are no samples");
        return;
    }
    if (!structure_is(STRUCTURE_STACKS) || !start_helper())
        return;
    sampling.pid = getpid();
    sampling.hz = hz;
    action.sa_sigaction = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SAMPLE_SIGNAL, &action, NULL);
    sample_thread(recorder_adopt());
}

void sample_thread(struct recorder *r)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SAMPLE_SIGNAL,
                             .sigev_value.sival_ptr = &sampling};
    long period_ns;
    struct itimerspec period = {0};

    if (r == NULL || sampling.hz == 0 || own.has_timer || sampling.pid != getpid())
        return;
    stack_prepare(r);
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &own.timer) != 0)
        return;
    own.has_timer = true;
    period_ns = (long)(1e9 / sampling.hz);
    period.it_interval.tv_sec = period.it_value.tv_sec = period_ns / 1000000000;
    period.it_interval.tv_nsec = period.it_value.tv_nsec = period_ns % 1000000000;
    timer_settime(own.timer, 0, &period, NULL);
}

void sample_thread_ends(void)
{
    if (own.has_timer && sampling.pid == getpid())
        timer_delete(own.timer);
    own.has_timer = false;
}

/* The timers of other threads run on, and nobody notices. */
static void forget_signal(void)
{
    struct sigaction now;

    sigaction(SAMPLE_SIGNAL, NULL, &now);
    if (now.sa_sigaction == on_signal)
        sigaction(SAMPLE_SIGNAL, &sampling.before, NULL);
}

void sample_end(void)
{
    if (sampling.hz == 0 || sampling.pid != getpid() ||
        atomic_exchange(&sampling.is_over, true))
        return;
    forget_signal();
    ask();
    pthread_join(sampling.helper, NULL);
    if (atomic_load(&sampling.has_samples))
        recorder_first();
}
