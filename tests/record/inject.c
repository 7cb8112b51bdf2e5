/*
 * A library that is loaded under the tracer, and has calls fail that the tracer makes, itself
 * or through libdw: as on a full disk, without memory, without descriptors, or where a sandbox
 * refuses them. What the program calls itself works as ever.
 *
 *     LD_PRELOAD=inject.so INJECT_PROGRAM=a.out INJECT=pwrite:3-5=28 snag record ./a.out
 *
 * fails the third to the fifth pwrite of a process with errno 28; "any" are all functions, and
 * errno 0 stands for what the function does now and then: a part is written, a signal came.
 *
 *   INJECT_RANK   only in this rank
 *   INJECT_COUNT  a file: how often each was called is written there, one line per process
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_RANGES 64
#define EXPORTED __attribute__((visibility("default")))

/* A function: what it returns, its name, what it takes, what it is given, what it returns when
 * it fails. */
#define FUNCTIONS(X)                                                                           \
    X(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), -1)                            \
    X(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), -1)            \
    X(int, ftruncate, (int fd, off_t n), (fd, n), -1)                                          \
    X(int, fstat, (int fd, struct stat *info), (fd, info), -1)                                 \
    X(int, lstat, (const char *path, struct stat *info), (path, info), -1)                     \
    X(int, flock, (int fd, int how), (fd, how), -1)                                            \
    X(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)                           \
    X(int, rename, (const char *from, const char *to), (from, to), -1)                         \
    X(int, unlink, (const char *path), (path), -1)                                             \
    X(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t offset),           \
      (at, n, prot, flags, fd, offset), MAP_FAILED)                                            \
    X(int, madvise, (void *at, size_t n, int advice), (at, n, advice), -1)                     \
    X(int, mprotect, (void *at, size_t n, int prot), (at, n, prot), -1)                        \
    X(void *, malloc, (size_t n), (n), NULL)                                                   \
    X(void *, calloc, (size_t n, size_t width), (n, width), NULL)                              \
    X(void *, realloc, (void *old, size_t n), (old, n), NULL)                                  \
    X(void *, reallocarray, (void *old, size_t n, size_t width), (old, n, width), NULL)        \
    X(char *, strdup, (const char *text), (text), NULL)                                        \
    X(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)                 \
    X(char *, getcwd, (char *to, size_t n), (to, n), NULL)                                     \
    X(int, gethostname, (char *to, size_t n), (to, n), -1)                                     \
    X(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), -1)            \
    X(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)         \
    X(int, connect, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), -1)         \
    X(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), -1)          \
    X(int, poll, (struct pollfd * of, nfds_t n, int ms), (of, n, ms), -1)                      \
    X(int, timer_create, (clockid_t clock, struct sigevent * event, timer_t * timer),          \
      (clock, event, timer), -1)                                                               \
    X(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t * to), (thread, to),          \
      inject.error)                                                                            \
    X(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end),         \
      inject.error)                                                                            \
    X(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value),          \
      inject.error)

enum which {
#define X(type, name, takes, gives, failure) WHICH_##name,
    FUNCTIONS(X)
#undef X
        WHICH_open,
    WHICH_close,
    WHICH_write,
    WHICH_pwrite,
    WHICH_send,
    N_FUNCTIONS
};

static const char *const names[N_FUNCTIONS] = {
#define X(type, name, takes, gives, failure) #name,
    FUNCTIONS(X)
#undef X
        "open",
    "close", "write", "pwrite", "send"};

static struct {
    bool is_on, is_any;
    enum which which;
    unsigned long first, last;
    int error;
    struct {
        uintptr_t begin, end;
    } range[MAX_RANGES]; /* code of the tracer, and of what it calls alone */
    int n_ranges;
    atomic_ulong n[N_FUNCTIONS], n_all;
} inject;

/* ------------------------------------------------------------------------------ who calls */

static int add_ranges(struct dl_phdr_info *info, size_t size, void *ctx)
{
    static const char *const ours[] = {"libsnag-tracer", "libdw", "libelf"};
    bool is_ours = false;

    (void)size;
    (void)ctx;
    for (int i = 0; i < 3; i++)
        is_ours |= strstr(info->dlpi_name, ours[i]) != NULL;
    for (int i = 0; is_ours && i < info->dlpi_phnum && inject.n_ranges < MAX_RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            inject.range[inject.n_ranges].begin = info->dlpi_addr + part->p_vaddr;
            inject.range[inject.n_ranges++].end =
                info->dlpi_addr + part->p_vaddr + part->p_memsz;
        }
    }
    return 0;
}

static bool is_of_tracer(const void *caller)
{
    for (int i = 0; i < inject.n_ranges; i++)
        if ((uintptr_t)caller >= inject.range[i].begin &&
            (uintptr_t)caller < inject.range[i].end)
            return true;
    return false;
}

/* Whether the call is to fail. */
static bool fails(enum which which, const void *caller)
{
    unsigned long n, n_all;

    if (!inject.is_on || !is_of_tracer(caller))
        return false;
    n = atomic_fetch_add(&inject.n[which], 1) + 1;
    n_all = atomic_fetch_add(&inject.n_all, 1) + 1;
    if (inject.is_any)
        n = n_all;
    else if (which != inject.which)
        return false;
    return n >= inject.first && n <= inject.last;
}

/* -------------------------------------------------------------------------------- settings */

static bool is_this_rank(void)
{
    const char *wanted = getenv("INJECT_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");

    if (rank == NULL)
        rank = getenv("PMI_RANK");
    return wanted == NULL || *wanted == '\0' || (rank && strcmp(rank, wanted) == 0);
}

static void read_settings(const char *said)
{
    char name[64] = "";

    if (sscanf(said, "%63[a-z_]:%lu-%lu=%d", name, &inject.first, &inject.last,
               &inject.error) != 4) {
        fprintf(stderr, "inject: not FUNCTION:FIRST-LAST=ERRNO: '%s'\n", said);
        _exit(99);
    }
    inject.is_any = strcmp(name, "any") == 0;
    while (!inject.is_any && strcmp(names[inject.which], name) != 0)
        if (++inject.which == N_FUNCTIONS)
            _exit(98);
}

__attribute__((constructor)) static void begin(void)
{
    const char *program = getenv("INJECT_PROGRAM"), *said = getenv("INJECT");

    if (program == NULL || strcmp(program, program_invocation_short_name) != 0)
        return;
    dl_iterate_phdr(add_ranges, NULL);
    if (said && *said && is_this_rank())
        read_settings(said);
    inject.is_on = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("INJECT_COUNT");
    FILE *file = inject.is_on && path ? fopen(path, "a") : NULL;

    for (int i = 0; file && i < N_FUNCTIONS; i++)
        fprintf(file, "%s %lu\n", names[i], inject.n[i]);
    if (file)
        fclose(file);
}

/* ------------------------------------------------------------------------------- functions */

/* errno 0: a signal came; of what is written only a part. */
static int error_of(void)
{
    return inject.error ? inject.error : EINTR;
}

#define REAL(name)                                                                             \
    static __typeof__(name) *real;                                                             \
    if (real == NULL)                                                                          \
    real = (__typeof__(real))dlsym(RTLD_NEXT, #name)

#define X(type, name, takes, gives, failure)                                                   \
    EXPORTED type name takes                                                                   \
    {                                                                                          \
        REAL(name);                                                                            \
        if (!fails(WHICH_##name, __builtin_return_address(0)))                                 \
            return real gives;                                                                 \
        errno = error_of();                                                                    \
        return (type)(failure);                                                                \
    }
FUNCTIONS(X)
#undef X

EXPORTED int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;
    REAL(open);

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!fails(WHICH_open, __builtin_return_address(0)))
        return real(path, flags, mode);
    errno = error_of();
    return -1;
}

/* It is closed all the same: on a server what was written before could not be kept. */
EXPORTED int close(int fd)
{
    int rc;
    REAL(close);

    rc = real(fd);
    if (!fails(WHICH_close, __builtin_return_address(0)))
        return rc;
    errno = error_of();
    return -1;
}

#define WRITES(name, takes, whole, part)                                                       \
    EXPORTED ssize_t name takes                                                                \
    {                                                                                          \
        REAL(name);                                                                            \
        if (!fails(WHICH_##name, __builtin_return_address(0)))                                 \
            return real whole;                                                                 \
        if (inject.error == 0 && n > 1)                                                        \
            return real part;                                                                  \
        errno = error_of();                                                                    \
        return -1;                                                                             \
    }
WRITES(write, (int fd, const void *from, size_t n), (fd, from, n), (fd, from, n / 2))
WRITES(pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at),
       (fd, from, n / 2, at))
WRITES(send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags),
       (fd, from, n / 2, flags))
