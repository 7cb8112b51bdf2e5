/*
 * hook_times -- writes down when the functions of a program begin and end that was compiled
 * with -finstrument-functions, beside a tracer that finds its functions elsewhere: loaded
 * before it, the hooks are these. structure.py compares the two.
 *
 * $HOOK_TIMES.RANK gets 16 bytes for each begin and end: the time (CLOCK_MONOTONIC, ns), and
 * the function's address, less where the program was loaded, times two, plus one at the end. As
 * in the tracer the clock is read last on the way in, and first on the way out. One thread a
 * process.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <link.h>

#define NOT_TRACED __attribute__((no_instrument_function))
#define N_KEPT 65536

static struct {
    uint64_t time_ns, function;
} kept[N_KEPT];
static uint32_t n_kept;
static uintptr_t base;
static int file = -1;

NOT_TRACED void __cyg_profile_func_enter(void *function, void *call_site);
NOT_TRACED void __cyg_profile_func_exit(void *function, void *call_site);

NOT_TRACED static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The program itself comes first. */
NOT_TRACED static int take_base(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    base = info->dlpi_addr;
    return 1;
}

NOT_TRACED static void write_kept(void)
{
    if (file >= 0 &&
        write(file, kept, n_kept * sizeof *kept) != (ssize_t)(n_kept * sizeof *kept))
        abort();
    n_kept = 0;
}

NOT_TRACED __attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("HOOK_TIMES"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    char name[4096];

    if (path == NULL || rank == NULL)
        return;
    dl_iterate_phdr(take_base, NULL);
    snprintf(name, sizeof name, "%s.%s", path, rank);
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        abort();
    for (uint32_t i = 0; i < N_KEPT; i++) /* no page is to be met for the first time later */
        *(volatile uint64_t *)&kept[i].time_ns = 0;
}

NOT_TRACED __attribute__((destructor)) static void end(void)
{
    write_kept();
}

NOT_TRACED static inline void keep(uint64_t time_ns, void *function, uint64_t is_end)
{
    kept[n_kept].time_ns = time_ns;
    kept[n_kept].function = 2 * ((uintptr_t)function - base) + is_end;
    if (++n_kept == N_KEPT)
        write_kept();
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)call_site;
    keep(now_ns(), function, 0);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)call_site;
    keep(now_ns(), function, 1);
}
