/*
 * The pages with the addresses are part of the library's code until the first mark is made.
 *
 * How long a tick is needs no measurement of its own: it is what passed on both clocks since
 * the library was loaded, which is longer than any time that is asked for, so that the error is
 * that of reading them. Where the kernel does not take its own time from the processor's clock,
 * that may run differently from core to core, and is not used.
 */
#include "stack_marks.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define N_TRIES 10    /* to read both clocks undisturbed, and to time: */
#define N_RETURNS 100 /* returns */

_Thread_local struct stack_returns stack_returns;

static struct clock_moment loaded;
static bool is_steady;

__attribute__((constructor)) static void load(void)
{
    static const char *const steady[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"};
    FILE *file =
        fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    char name[64] = "";
    uint64_t shortest_ns = UINT64_MAX;

    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    for (size_t i = 0; i < sizeof steady / sizeof *steady; i++)
        is_steady = is_steady || strcmp(name, steady[i]) == 0;
    loaded = moment_now();
    for (int i = 0; i < N_TRIES; i++) {
        struct clock_moment before = moment_now(), after = moment_now();

        if (after.ns - before.ns >= shortest_ns)
            continue;
        shortest_ns = after.ns - before.ns; /* nothing came in between */
        loaded = before;
    }
}

uint64_t ticks_to_ns(uint64_t ticks, struct clock_moment now)
{
    double ns_per_tick, ago_ns;

    if (!is_steady || now.ticks <= loaded.ticks || ticks > now.ticks || now.ns <= loaded.ns)
        return 0;
    ns_per_tick = (double)(now.ns - loaded.ns) / (double)(now.ticks - loaded.ticks);
    ago_ns = (double)(now.ticks - ticks) * ns_per_tick;
    return ago_ns < (double)now.ns ? now.ns - (uint64_t)ago_ns : 0;
}

static bool has_shadow_stack(void)
{
    uint64_t pointer = 0;

    __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* does nothing where there is none */
    return pointer != 0;
}

static bool prepare(void)
{
    return !has_shadow_stack() && mprotect(stack_marks_address, sizeof stack_marks_address,
                                           PROT_READ | PROT_WRITE) == 0;
}

NOT_OF_TSAN uintptr_t stack_marks_new(uintptr_t address)
{
    static uint32_t n;
    static bool is_prepared;

    if (n == 0 && !is_prepared) {
        is_prepared = true;
        n = prepare() ? 0 : STACK_MARKS;
    }
    if (n == STACK_MARKS)
        return 0;
    stack_marks_address[n] = address;
    return (uintptr_t)stack_marks_code + 8 * (uintptr_t)n++;
}

/* ------------------------------------------------------------------------------------- cost */

/* Calls what returns at once, through a mark if that is not 0: to stack_marks_tried. */
void stack_marks_try(uintptr_t mark) __attribute__((visibility("hidden")));
extern char stack_marks_tried[] __attribute__((visibility("hidden")));

static uint64_t time_returns(uintptr_t mark)
{
    uint64_t begin_ns = clock_ns();

    for (int i = 0; i < N_RETURNS; i++)
        stack_marks_try(mark);
    return clock_ns() - begin_ns;
}

double stack_marks_return_ns(void)
{
    uintptr_t mark = stack_marks_new((uintptr_t)stack_marks_tried);
    uint64_t least_ns[2] = {UINT64_MAX, UINT64_MAX};

    if (mark == 0)
        return 0;
    for (int i = 0; i < N_TRIES; i++) {
        uint64_t ns[2] = {time_returns(0), time_returns(mark)};

        for (int k = 0; k < 2; k++)
            least_ns[k] = ns[k] < least_ns[k] ? ns[k] : least_ns[k];
    }
    stack_returns.n = 0;
    return least_ns[1] > least_ns[0] ? (double)(least_ns[1] - least_ns[0]) / N_RETURNS : 0;
}
