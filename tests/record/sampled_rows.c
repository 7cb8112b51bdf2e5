/*
 * What is kept of functions that samples were taken in, of which the frame changes from one
 * instruction to the next: SMALL functions of 12 bytes, 16 bytes apart, which are more than are
 * kept, and one that has more such rows than are read at once.
 *
 *     offset   0  1   2   3   4  ...
 *     frame    8  16  24  16  24 ... bytes, from the stack pointer on
 */
#include "stack_sites.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SMALL 6000
#define SMALL_BYTES 12
#define MIN_KEPT 4000 /* of the small ones */
#define LARGE_BYTES 10000
#define MAX_GROWTH_BYTES (96L << 20)

extern const char small[], large[];

__asm__(".text\n"
        ".macro steps n\n"
        ".rept \\n\n"
        "nop\n .cfi_def_cfa_offset 16\n nop\n .cfi_def_cfa_offset 24\n"
        ".endr\n"
        ".endm\n"
        ".p2align 4\n"
        "small:\n"
        ".rept 6000\n"
        ".cfi_startproc\n steps 6\n ret\n .cfi_endproc\n"
        ".p2align 4\n"
        ".endr\n"
        "large:\n"
        ".cfi_startproc\n steps 5000\n ret\n .cfi_endproc\n");

static long process_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int expect(const char *function, long offset)
{
    const struct stack_site *site = site_around((uintptr_t)function + (uintptr_t)offset);
    int want = offset == 0 ? 8 : offset % 2 ? 16 : 24;

    if (site && site->base == SITE_BY_SP && site->base_distance == want)
        return 0;
    printf("%s + %ld: %d, not %d\n", function == large ? "large" : "small", offset,
           site ? site->base_distance : -1, want);
    return 1;
}

static void meet(const char *function, long offset)
{
    site_add_around((uintptr_t)function + (uintptr_t)offset);
}

/* Wherever a sample is taken behind those that are read at once, the row there is known then. */
static int check_large(void)
{
    int n_wrong = 0;

    for (long i = LARGE_BYTES - 500; i > LARGE_BYTES / 2; i -= 99) {
        meet(large, i);
        n_wrong += expect(large, i);
    }
    return n_wrong + expect(large, 0) + expect(large, 1000);
}

/* In no order; of each all rows are known or none. */
static int check_small(void)
{
    long begin_bytes = process_bytes(), grown_bytes;
    int n_wrong = 0, n_kept = 0;

    for (long i = 0; i < SMALL; i++) {
        const char *function = small + 16 * (i * 7 % SMALL);

        meet(function, SMALL_BYTES / 2);
        if (site_around((uintptr_t)function) == NULL)
            continue;
        n_kept++;
        for (long k = 0; k < SMALL_BYTES; k++)
            n_wrong += expect(function, k);
    }
    grown_bytes = process_bytes() - begin_bytes;
    if (n_kept >= MIN_KEPT && n_kept < SMALL && grown_bytes <= MAX_GROWTH_BYTES)
        return n_wrong;
    printf("%d of %d functions are kept, in %ld bytes\n", n_kept, SMALL, grown_bytes);
    return n_wrong + 1;
}

/* The checks, in a process of their own: that there was no room for more is said once. */
static int check_all(const char *program)
{
    char command[4096], line[1024];
    int n_said = 0;
    FILE *told;

    snprintf(command, sizeof command, "'%s' checks 2>&1", program);
    told = popen(command, "r");
    while (told && fgets(line, sizeof line, told))
        if (strstr(line, "so much code was sampled"))
            n_said++;
        else
            fputs(line, stdout);
    if (n_said != 1)
        printf("that there was no room for more is said %d times\n", n_said);
    return told == NULL || pclose(told) != 0 || n_said != 1;
}

int main(int argc, char **argv)
{
    return argc > 1 ? check_large() + check_small() != 0 : check_all(argv[0]);
}
