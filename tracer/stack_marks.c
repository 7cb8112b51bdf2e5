/* The pages with the addresses are part of the library's code until the first mark is made. */
#include "stack_marks.h"

#include <sys/mman.h>

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

uintptr_t stack_marks_new(uintptr_t address)
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
