/* Where there is no libdw. */
#include "inlined.h"
#include "lines.h"

#include <stddef.h>

struct source_line line_of_call(uintptr_t return_address)
{
    (void)return_address;
    return (struct source_line){0};
}

char *line_name(uintptr_t return_address)
{
    (void)return_address;
    return NULL;
}

enum inlined_relation inlined_between(uintptr_t from, uintptr_t to, uint64_t place)
{
    (void)from, (void)to, (void)place;
    return INLINED_MAYBE_SAME;
}

const struct inlined *inlined_at(uintptr_t code, uintptr_t *until)
{
    (void)code;
    *until = 0;
    return NULL;
}
