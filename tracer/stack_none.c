/* Where there is no libdw, or a processor whose stacks we do not know. */
#include "stack.h"

uint64_t stack_enter(struct recorder *r)
{
    (void)r;
    return clock_ns();
}

double stack_return_ns(void)
{
    return 0;
}

uintptr_t stack_caller(const struct recorder *r)
{
    (void)r;
    return 0;
}

uintptr_t stack_address(uintptr_t returns_to)
{
    return returns_to;
}

const char *stack_trouble(void)
{
    return "";
}

bool stack_is_of_mpi(uintptr_t code)
{
    (void)code;
    return false;
}

void stack_end(struct recorder *r, uint64_t time_ns)
{
    (void)r, (void)time_ns;
}

void stack_left(struct recorder *r, uint64_t time_ns)
{
    (void)r, (void)time_ns;
}
