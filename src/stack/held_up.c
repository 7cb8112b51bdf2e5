#include "stack/held_up.h"

#include "base/mem.h"

#include <stdlib.h>

#define MIN_TIMED_WRITES 9u /* writes that say how long one takes */
#define TIMES 10u           /* of the median */
#define TIMES_OF_LONG                                                                          \
    3u /* of the longest of the others: some regularly do more, as begin a file */
#define MAX_HELD_UP 50u /* one in so many; one, where there are fewer */

static int by_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The longest that a write may take. */
static uint64_t most_of(const struct calls *calls, const uint32_t *row, size_t n)
{
    uint64_t *ns = mem_alloc(n, sizeof *ns), of_median, of_long;

    for (size_t i = 0; i < n; i++)
        ns[i] = calls->inclusive_ns[row[i]];
    qsort(ns, n, sizeof *ns, by_ns);
    of_median = TIMES * ns[n / 2];
    of_long = TIMES_OF_LONG * ns[n - 1 - (n > MAX_HELD_UP ? n / MAX_HELD_UP : 1)];
    free(ns);
    return of_median > of_long ? of_median : of_long;
}

static void tell(struct calls *calls, uint32_t region, uint32_t held_up)
{
    uint32_t *row = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t i = 0; i < calls->n; i++)
        if (calls->region[i] == region) {
            mem_grow(&row, &cap, n + 1, sizeof *row);
            row[n++] = i;
        }
    if (n >= MIN_TIMED_WRITES) {
        uint64_t most_ns = most_of(calls, row, n);

        for (size_t i = 0; i < n; i++)
            if (calls->inclusive_ns[row[i]] > most_ns)
                calls->region[row[i]] = held_up;
    }
    free(row);
}

void held_up_tell(struct calls *calls, const struct definitions *defs)
{
    for (uint32_t r = 0; r < defs->names.n; r++)
        if (defs->region[r].held_up > 0)
            tell(calls, r, defs->region[r].held_up);
}
