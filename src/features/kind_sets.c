/* A stamp per number says whether the kind that is looked at has it already. */
#include "features/kind_sets.h"

#include "base/mem.h"

#include <stdlib.h>

void kind_sets_find(struct kind_sets *s, const struct tree_kinds *kinds, const uint32_t *column,
                    uint32_t n_numbers)
{
    uint32_t *last_kind = mem_alloc(n_numbers, sizeof *last_kind); /* + 1 */
    size_t *at = mem_resize(NULL, n_numbers, sizeof *at), n = 0;

    *s = (struct kind_sets){.first = mem_resize(NULL, (size_t)kinds->n + 1, sizeof *s->first)};
    for (uint32_t k = 0; k < kinds->n; k++) {
        s->first[k] = n;
        for (uint32_t i = kinds->at[k]; i < kinds->at[k + 1]; i++) {
            uint32_t number = column[i];

            if (last_kind[number] != k + 1) {
                mem_grow(&s->number, &s->cap_number, n + 1, sizeof *s->number);
                mem_grow(&s->count, &s->cap_count, n + 1, sizeof *s->count);
                last_kind[number] = k + 1;
                at[number] = n;
                s->number[n] = number;
                s->count[n++] = 0;
            }
            s->count[at[number]]++;
        }
    }
    s->first[kinds->n] = n;
    free(last_kind);
    free(at);
}

void kind_sets_release(struct kind_sets *s)
{
    free(s->first);
    free(s->number);
    free(s->count);
    *s = (struct kind_sets){0};
}
