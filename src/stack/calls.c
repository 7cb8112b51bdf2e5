/* All columns of calls grow together, so one capacity serves them. */
#include "stack/calls.h"

#include "base/mem.h"

#include <stdlib.h>

void calls_release(struct calls *calls)
{
    free(calls->enter_ns);
    free(calls->inclusive_ns);
    free(calls->region);
    free(calls->parent);
    free(calls->subtree_len);
    free(calls->depth);
    free(calls->message);
    free(calls->collective);
    *calls = (struct calls){0};
}

void calls_clear(struct calls *calls)
{
    calls->n = 0;
    calls->n_messages = calls->n_collectives = 0;
    calls->first_ns = UINT64_MAX;
    calls->last_ns = 0;
}

static void resize(struct calls *calls, size_t cap)
{
    calls->enter_ns = mem_resize(calls->enter_ns, cap, sizeof *calls->enter_ns);
    calls->inclusive_ns = mem_resize(calls->inclusive_ns, cap, sizeof *calls->inclusive_ns);
    calls->region = mem_resize(calls->region, cap, sizeof *calls->region);
    calls->parent = mem_resize(calls->parent, cap, sizeof *calls->parent);
    calls->subtree_len = mem_resize(calls->subtree_len, cap, sizeof *calls->subtree_len);
    calls->depth = mem_resize(calls->depth, cap, sizeof *calls->depth);
    calls->cap = cap;
}

void calls_reserve(struct calls *calls, size_t n)
{
    size_t need = calls->n + n, cap = calls->cap ? calls->cap : 1024;

    if (need <= calls->cap)
        return;
    while (cap < need)
        cap *= 2;
    resize(calls, cap);
}

struct call_view calls_view(const struct calls *calls)
{
    return (struct call_view){
        .n = calls->n,
        .enter_ns = calls->enter_ns,
        .inclusive_ns = calls->inclusive_ns,
        .region = calls->region,
        .parent = calls->parent,
        .subtree_len = calls->subtree_len,
        .depth = calls->depth,
        .message = calls->message,
        .n_messages = calls->n_messages,
        .collective = calls->collective,
        .n_collectives = calls->n_collectives,
    };
}
