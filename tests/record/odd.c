/*
 * odd HOW -- programs that do what the tracer might not expect, and tell what came of it. What
 * they print must not depend on whether they are recorded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 40000

#ifdef IN_LIBRARY
__attribute__((noinline)) static int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

int calls_of_library(int n);
int calls_of_library(int n)
{
    int x = 0;

    for (int i = 0; i < n; i++)
        x = leaf(x);
    return x;
}
#else
#define OTHER __attribute__((no_instrument_function, noinline))

static char *own_path;

__attribute__((noinline)) static int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

__attribute__((noinline)) static int calls(int n)
{
    int x = 0;

    for (int i = 0; i < n; i++)
        x = leaf(x);
    return x;
}

/* -------------------------------------------------------------------------------- processes */

OTHER static void wait_for_child(const char *what)
{
    int status = 0;

    wait(&status);
    printf("%s: %s %d\n", what, WIFEXITED(status) ? "exit" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

OTHER static void have_fork(void)
{
    calls(MANY);
    fflush(stdout);
    if (fork() == 0)
        exit(calls(MANY) == MANY ? 3 : 4);
    calls(MANY);
    wait_for_child("fork");
}

/* A child of which the C library does not know. */
OTHER static void have_clone(void)
{
    calls(MANY);
    fflush(stdout);
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)
        _exit(calls(MANY) == MANY ? 3 : 4);
    calls(MANY);
    wait_for_child("clone");
    calls(MANY);
}

OTHER static void have_vfork(void)
{
    calls(MANY);
    fflush(stdout);
    if (vfork() == 0) {
        calls(10);
        execl(own_path, own_path, "leave", (char *)NULL);
        _exit(1);
    }
    wait_for_child("vfork");
    calls(MANY);
}

OTHER static void have_exec(void)
{
    calls(MANY);
    fflush(stdout);
    execl(own_path, own_path, "leave", (char *)NULL);
}

/* ---------------------------------------------------------------------------------- threads */

static void *some_calls(void *n)
{
    calls(*(int *)n);
    return NULL;
}

OTHER static void have_threads(void)
{
    pthread_t thread[50];
    int n = 20;

    for (int k = 0; k < 60; k++) {
        for (int i = 0; i < 50; i++)
            if (pthread_create(&thread[i], NULL, some_calls, &n) != 0)
                puts("no thread");
        for (int i = 0; i < 50; i++)
            pthread_join(thread[i], NULL);
    }
}

static void *calls_for_ever(void *ctx)
{
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
    for (;;) {
        calls(1000);
        pthread_testcancel();
    }
    return ctx;
}

OTHER static void have_cancel(void)
{
    pthread_t thread;
    void *result;

    for (int i = 0; i < 200; i++) {
        pthread_create(&thread, NULL, calls_for_ever, NULL);
        usleep(500);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            puts("not cancelled");
    }
}

static int deep(int n)
{
    volatile char room[64] = {0};

    return n == 0 ? calls(MANY) : deep(n - 1) + room[n % 64];
}

static void *small_stack(void *ctx)
{
    deep(8);
    return ctx;
}

OTHER static void have_small_stacks(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384 + 8192);
    for (int i = 0; i < 20; i++) {
        if (pthread_create(&thread, &attributes, small_stack, NULL) != 0)
            puts("no thread");
        pthread_join(thread, NULL);
    }
}

/* ---------------------------------------------------------------------------------- signals */

static sigjmp_buf back;
static volatile sig_atomic_t n_jumps;

static void jump(int number)
{
    (void)number;
    leaf(1);
    n_jumps++;
    siglongjmp(back, 1);
}

OTHER static void have_jumps(void)
{
    struct itimerval each = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};

    signal(SIGALRM, jump);
    setitimer(ITIMER_REAL, &each, NULL);
    while (n_jumps < 2000)
        if (sigsetjmp(back, 1) == 0)
            for (;;)
                calls(1000);
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%s\n", n_jumps >= 2000 ? "2000 jumps" : "too few jumps"); /* one more may come */
}

static void on_fault(int number)
{
    leaf(number);
    siglongjmp(back, 1);
}

static int endless(int n)
{
    volatile char room[512] = {0};

    return endless(n + 1) + room[n % 512];
}

/* A stack that is exhausted, and a handler on a small one of its own. */
OTHER static void have_overflow(void)
{
    static char other[32768];
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};

    sigaltstack(&(stack_t){.ss_sp = other, .ss_size = sizeof other}, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            printf("%d\n", endless(0));
        else
            puts("exhausted");
    calls(MANY);
}

/* ------------------------------------------------------------------------------------ files */

OTHER static void have_closed(void)
{
    int fd;

    calls(MANY);
    for (fd = 3; fd < 1024; fd++)
        close(fd);
    fd = open("/dev/null", O_RDWR);
    calls(MANY);
    printf("file %d, then %d\n", fd, open("/dev/null", O_RDWR));
    close(2);
    fd = open("errors", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    calls(MANY);
    printf("file %d has %ld bytes\n", fd, (long)lseek(fd, 0, SEEK_END));
}

OTHER static void have_no_directory(void)
{
    calls(MANY);
    if (mkdir("here", 0700) != 0 || chdir("here") != 0 || rmdir("../here") != 0)
        puts("no directory");
    umask(0777);
    calls(MANY);
}

OTHER static void have_removed(void)
{
    char command[4200];

    calls(MANY);
    snprintf(command, sizeof command, "rm -rf '%s'", getenv("ODD_TRACE"));
    fflush(stdout);
    unsetenv("LD_PRELOAD");
    printf("removed: %d\n", system(command));
    calls(MANY);
}

/* Another user, to whom nothing is allowed there. */
OTHER static void have_user(void)
{
    calls(MANY);
    if (seteuid(65534) != 0)
        puts("not root");
    calls(MANY);
}

/* ----------------------------------------------------------------------------------- limits */

OTHER static void limit(int what, rlim_t most)
{
    struct rlimit limits;

    getrlimit(what, &limits);
    limits.rlim_cur = most;
    if (setrlimit(what, &limits) != 0)
        puts("no limit");
}

OTHER static void have_no_files(void)
{
    calls(100);
    limit(RLIMIT_NOFILE, 3);
    calls(MANY);
    printf("open: %d\n", open("/dev/null", O_RDONLY));
}

OTHER static void have_short_files(void)
{
    limit(RLIMIT_FSIZE, 100000);
    calls(MANY);
    printf("own file: %d\n", open("own", O_WRONLY | O_CREAT, 0600) >= 0);
}

/* The program has all memory that there is, and gives it back later. */
OTHER static void have_no_memory(void)
{
    void **all = NULL, **more;
    size_t bytes = (size_t)64 << 20;

    calls(100);
    limit(RLIMIT_AS, (rlim_t)512 << 20);
    while (bytes >= sizeof *all) {
        more = malloc(bytes);
        if (more == NULL) {
            bytes /= 2;
            continue;
        }
        *more = all;
        all = more;
    }
    calls(MANY);
    for (; all; all = more) {
        more = *all;
        free(all);
    }
    calls(MANY);
    puts("all was there, and is again");
}

/* A sandbox that refuses what has to do with files and memory. */
OTHER static void have_sandbox(void)
{
#define REFUSE(call)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(openat),
        REFUSE(fallocate),
        REFUSE(ftruncate),
        REFUSE(pwrite64),
        REFUSE(mkdir),
        REFUSE(membarrier),
        REFUSE(madvise),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

    calls(100);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        puts("no sandbox");
    calls(MANY);
    printf("open: %d\n", open("/dev/null", O_RDONLY));
}

/* ---------------------------------------------------------------------------------- library */

OTHER static void have_library(void)
{
    for (int i = 0; i < 5; i++) {
        void *library = dlopen("./odd.so", RTLD_NOW);
        int (*function)(int) =
            library ? (int (*)(int))dlsym(library, "calls_of_library") : NULL;

        printf("%d\n", function ? function(MANY) : -1);
        if (library)
            dlclose(library);
    }
}

OTHER static void have_left(void)
{
    calls(100);
    puts("left");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *how;
        void (*function)(void);
    } row[] = {
        {"fork", have_fork},        {"clone", have_clone},
        {"vfork", have_vfork},      {"exec", have_exec},
        {"leave", have_left},       {"threads", have_threads},
        {"cancel", have_cancel},    {"stacks", have_small_stacks},
        {"jumps", have_jumps},      {"overflow", have_overflow},
        {"closed", have_closed},    {"directory", have_no_directory},
        {"removed", have_removed},  {"user", have_user},
        {"files", have_no_files},   {"short", have_short_files},
        {"memory", have_no_memory}, {"sandbox", have_sandbox},
        {"library", have_library},
    };

    own_path = argv[0];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (argc > 1 && strcmp(row[i].how, argv[1]) == 0) {
            row[i].function();
            return 6;
        }
    return 99;
}
#endif
