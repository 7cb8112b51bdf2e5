/* The variable is read when the first event comes, which is before there are many threads. */
#include "structure.h"

#include <stdlib.h>
#include <string.h>

atomic_int structure_now = STRUCTURE_OPEN;

bool structure_is_said(enum structure wanted)
{
    static const char *const words[] = {
        [STRUCTURE_FUNCTIONS] = "functions",
        [STRUCTURE_STACKS] = "stacks",
        [STRUCTURE_MPI] = "mpi",
    };
    const char *said = getenv("SNAG_TRACER_STRUCTURE");

    return said && strcmp(said, words[wanted]) == 0;
}

bool structure_decide(enum structure wanted)
{
    int now = STRUCTURE_OPEN, chosen = wanted;

    for (int i = STRUCTURE_FUNCTIONS; i <= STRUCTURE_MPI; i++)
        if (structure_is_said(i))
            chosen = i;
    if (atomic_compare_exchange_strong(&structure_now, &now, chosen))
        now = chosen;
    return now == (int)wanted;
}
