/*
 * Signals that the program handles itself are its own. The libraries of MPI and of Fortran
 * handle those of errors to print where they happened, and end the process: these come after
 * us.
 *
 * Whoever is interrupted inside the recorder stays there; so that the thread does not wait for
 * it, it is taken to be out. At worst its last record is lost.
 */
#include "ending.h"

#include "complain.h"
#include "recorder.h"
#include "session.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define LONGEST_WAIT_MS 10000
#define STACK_BYTES 65536

static const int watched[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT,
                              SIGSYS,  SIGTRAP, SIGTERM, SIGINT,  SIGQUIT,
                              SIGHUP,  SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM};
#define N_WATCHED (sizeof watched / sizeof *watched)

static struct sigaction before[N_WATCHED];
static sem_t is_wanted;
static atomic_bool is_asked, is_done;
static char stack[STACK_BYTES]; /* for a signal of a stack that is full */

/* ------------------------------------------------------------------------------- the thread */

static void *complete(void *arg)
{
    (void)arg;
    while (sem_wait(&is_wanted) != 0)
        ;
    session_abandon();
    atomic_store(&is_done, true);
    return NULL;
}

static bool start_thread(void)
{
    pthread_t thread;
    sigset_t all, old;
    bool is_good;

    sem_init(&is_wanted, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    is_good = pthread_create(&thread, NULL, complete, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (is_good) {
        pthread_setname_np(thread, "snag-ending");
        pthread_detach(thread);
    }
    return is_good;
}

static void ask_and_wait(void)
{
    struct timespec tick = {.tv_nsec = 1000000};

    if (recorder_self)
        atomic_store(&recorder_self->is_busy, false);
    if (!atomic_exchange(&is_asked, true))
        sem_post(&is_wanted);
    for (int i = 0; i < LONGEST_WAIT_MS && !atomic_load(&is_done); i++)
        nanosleep(&tick, NULL);
}

/* ------------------------------------------------------------------------------- the signal */

static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    bool is_of_code = info->si_code > 0 && number != SIGTRAP && number != SIGABRT;

    (void)context;
    if (session_is_unsaved())
        ask_and_wait();
    for (size_t i = 0; i < N_WATCHED; i++)
        if (watched[i] == number)
            sigaction(number, &before[i], NULL);
    errno = saved;
    if (!is_of_code) /* else what we return to does it again */
        raise(number);
}

/* Handlers of these libraries print where it happened, and end the process. */
static bool is_of_runtime(void *handler)
{
    static const char *const libraries[] = {"/libopen-pal.so", "/libmpi", "/libucs.so",
                                            "/libgfortran.so", "/libifcore"};
    Dl_info info;

    if (dladdr(handler, &info) == 0 || info.dli_fname == NULL)
        return false;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(info.dli_fname, libraries[i]))
            return true;
    return false;
}

/* Whose handler it is: nobody's, or that of a library that ends the process anyway. */
static bool is_ours_to_take(const struct sigaction *action)
{
    if (action->sa_flags & SA_SIGINFO)
        return is_of_runtime((void *)(uintptr_t)action->sa_sigaction);
    return action->sa_handler == SIG_DFL ||
           (action->sa_handler != SIG_IGN &&
            is_of_runtime((void *)(uintptr_t)action->sa_handler));
}

static void give_stack(void)
{
    stack_t present;

    if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE))
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
}

void ending_watch(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    if (!start_thread())
        return;
    sigfillset(&action.sa_mask);
    give_stack();
    for (size_t i = 0; i < N_WATCHED; i++)
        if (sigaction(watched[i], NULL, &before[i]) == 0 && is_ours_to_take(&before[i]))
            sigaction(watched[i], &action, NULL);
}

/* ------------------------------------------------------------------------ _exit and abort */

EXPORTED void _exit(int status) __attribute__((noreturn));
EXPORTED void _Exit(int status) __attribute__((noreturn));
EXPORTED void abort(void) __attribute__((noreturn));

/* A child of a fork, which usually ends so, has no session. */
void _exit(int status)
{
    void (*real)(int);

    session_abandon();
    *(void **)&real = dlsym(RTLD_NEXT, "_exit");
    real(status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    _exit(status);
}

/* Fortran's library takes all handlers away before. */
void abort(void)
{
    void (*real)(void);

    session_abandon();
    *(void **)&real = dlsym(RTLD_NEXT, "abort");
    real();
    __builtin_unreachable();
}
