/* Calls are built as the columns of one location, so that forests are made the usual way. */
#include "sample_forest.h"

#include "base/mem.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 256

static uint32_t parse_region(const char **at, struct definitions *defs)
{
    char name[64];
    size_t n = 0;

    while (isalnum((unsigned char)**at) || **at == '_') {
        assert(n < sizeof name - 1);
        name[n++] = *(*at)++;
    }
    name[n] = '\0';
    assert(n > 0);
    return definitions_region(defs, name);
}

static void parse(const char *text, struct definitions *defs, struct calls *calls)
{
    uint32_t open[DEEPEST];
    int n_open = 0;
    uint64_t now = 0;

    for (const char *at = text; *at;) {
        uint32_t row = calls->n;

        if (*at == ' ' || *at == '(') {
            at++;
            continue;
        }
        if (*at == ')') { /* the call whose inside ends */
            row = open[--n_open];
            calls->inclusive_ns[row] = now - calls->enter_ns[row];
            calls->subtree_len[row] = calls->n - row;
            at++;
            continue;
        }
        calls_reserve(calls, 1);
        calls->n++;
        calls->enter_ns[row] = now;
        calls->region[row] = parse_region(&at, defs);
        calls->depth[row] = (uint16_t)n_open;
        now += *at == ':' ? strtoull(at + 1, (char **)(uintptr_t)&at, 10) : 10;
        calls->inclusive_ns[row] = now - calls->enter_ns[row];
        calls->subtree_len[row] = 1;
        if (*at == '(')
            open[n_open++] = row;
        assert(n_open < DEEPEST);
    }
    assert(n_open == 0);
}

void sample_forest(const char *text, struct definitions *defs, struct forest *forest)
{
    struct calls calls = {0};
    struct call_view view;

    parse(text, defs, &calls);
    view = calls_view(&calls);
    assert(calls.n > 0);
    for (uint32_t i = 0; i < calls.n; i += calls.subtree_len[i])
        assert(calls.region[i] == calls.region[0]);
    forest_add(forest, 0, &view, calls.region[0], defs);
    calls_release(&calls);
}
