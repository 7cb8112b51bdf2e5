/*
 * Settling replays the rows in preorder with a stack of its own. An orphan on it is *soft*: it
 * may end before the row that the unrepaired columns say. It does when the next row cannot be
 * its own and there is a place for it below. `Known` are the pairs (function of the caller,
 * function) among calls that ended properly. A row cannot be an orphan's own if the pair is not
 * known though other calls of the orphan's function ended properly, or if it is a call of that
 * very function. There is a place for it at the first caller below, through such orphans only,
 * whose function is known to make it. Everything else stays: a program that was killed has
 * orphans too, and they are right as they are.
 */
#include "stack/repair.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SOFT 64              /* how many orphans are looked through for one row */
#define ENDS_PROPERLY UINT64_MAX /* (function, this) is known: some call of it did */

void repair_release(struct repair *repair)
{
    free(repair->orphan);
    free(repair->ghost);
    *repair = (struct repair){0};
}

void repair_clear(struct repair *repair)
{
    repair->n_orphans = repair->n_ghosts = 0;
}

void repair_orphan(struct repair *repair, const struct open_call *call)
{
    *mem_push(&repair->orphan, &repair->n_orphans, &repair->orphan_cap) = *call;
}

size_t repair_confirm(struct repair *repair)
{
    size_t n_missing = 0;

    for (size_t i = 1; i < repair->n_ghosts; i++) {
        repair_orphan(repair, &repair->ghost[i]);
        n_missing += !open_call_was_left(&repair->ghost[i]);
    }
    repair->n_ghosts = 0;
    return n_missing;
}

size_t repair_doubt(struct repair *repair, const struct open_call *open, size_t n_open,
                    size_t at)
{
    size_t n_missing = repair_confirm(repair), n = n_open - at;

    mem_grow(&repair->ghost, &repair->ghost_cap, n);
    memcpy(repair->ghost, open + at, n * sizeof *open);
    repair->n_ghosts = n;
    repair->ghost_caller = at > 0 ? open[at - 1].row : NO_CALL;
    return n_missing;
}

bool repair_can_reopen(const struct repair *repair, uint32_t top_row, uint32_t region)
{
    if (repair->n_ghosts == 0 || repair->ghost_caller != top_row)
        return false;
    for (size_t i = 0; i < repair->n_ghosts; i++)
        if (repair->ghost[i].region == region)
            return true;
    return false;
}

void repair_reopen(struct repair *repair, struct calls *calls)
{
    for (uint32_t i = repair->ghost[0].hint_row; i < calls->n; i++) {
        size_t depth = calls->depth[i] + repair->n_ghosts;

        calls->depth[i] = (uint16_t)(depth < DEEPEST_CALL ? depth : DEEPEST_CALL);
    }
}

/* ---------------------------------------------------------------------- settling */

struct repair_replay {
    struct calls *calls;
    const struct open_call *orphan; /* sorted by row */
    size_t n_orphans, next_orphan;
    struct idmap known; /* (region of the caller or ANY_REGION, region) */
    struct replayed {
        uint32_t row, end_row;
        const struct open_call *soft; /* NULL for a call that was left properly */
        uint64_t last_ns;             /* when the last call inside it ended */
    } * open;
    size_t n_open, cap;
};

static int by_row(const void *a, const void *b)
{
    const struct open_call *p = a, *q = b;

    return ORDER(p->row, q->row);
}

static bool is_set(const unsigned char *bits, uint32_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

/* The pairs of caller and callee among properly ended callers. */
static void learn_pairs(struct repair_replay *r)
{
    const struct calls *calls = r->calls;
    struct call_view view = calls_view(calls);
    unsigned char *is_orphan = mem_alloc(calls->n / 8 + 1, 1);
    uint32_t *callers = mem_resize(NULL, calls->n, sizeof *callers);

    calls_callers(&view, callers);
    for (size_t i = 0; i < r->n_orphans; i++)
        is_orphan[r->orphan[i].row / 8] |= (unsigned char)(1u << r->orphan[i].row % 8);
    for (uint32_t i = 0; i < calls->n; i++) {
        uint32_t caller = callers[i];

        if (!is_set(is_orphan, i))
            idmap_add(&r->known, key_pair(calls->region[i], ENDS_PROPERLY));
        if (caller == NO_CALL)
            idmap_add(&r->known, key_pair(ANY_REGION, calls->region[i]));
        else if (!is_set(is_orphan, caller))
            idmap_add(&r->known, key_pair(calls->region[caller], calls->region[i]));
    }
    free(callers);
    free(is_orphan);
}

/* Calls of the function at stack position `at` (0: outside any) are known to make `region`. */
static bool is_known(const struct repair_replay *r, size_t at, uint32_t region)
{
    uint32_t caller = at == 0 ? ANY_REGION : r->calls->region[r->open[at - 1].row];

    return idmap_find(&r->known, key_pair(caller, region)) != IDMAP_NONE;
}

/* The top ends; before row `next` if it is an orphan that ends earlier than it was thought to.
 */
static void pop(struct repair_replay *r, uint32_t next)
{
    struct calls *calls = r->calls;
    struct replayed *top = &r->open[--r->n_open];
    uint64_t enter_ns = calls->enter_ns[top->row];
    uint64_t end_ns = enter_ns + calls->inclusive_ns[top->row];
    bool has_hint = top->soft && top->soft->hint_row <= next; /* not one of later */

    if (top->soft && (next < top->end_row || has_hint)) {
        end_ns = has_hint ? top->soft->hint_ns : enter_ns;
        if (end_ns < top->last_ns)
            end_ns = top->last_ns;
        calls->inclusive_ns[top->row] = end_ns - enter_ns;
        calls->subtree_len[top->row] = next - top->row;
    }
    if (r->n_open > 0 && r->open[r->n_open - 1].last_ns < end_ns)
        r->open[r->n_open - 1].last_ns = end_ns;
}

/* The orphan at stack position `at` cannot have made a call of `region`. */
static bool cannot_own(const struct repair_replay *r, size_t at, uint32_t region)
{
    uint32_t function = r->calls->region[r->open[at - 1].row];

    if (is_known(r, at, region))
        return false;
    return region == function ||
           idmap_find(&r->known, key_pair(function, ENDS_PROPERLY)) != IDMAP_NONE;
}

/* How many calls stay open around `row`, whose caller is to be found. */
static size_t place(const struct repair_replay *r, uint32_t row)
{
    uint32_t region = r->calls->region[row];
    size_t at = r->n_open;

    while (at > 0 && r->open[at - 1].soft && r->open[at - 1].soft->hint_row <= row)
        at--;
    for (size_t k = at; k > 0 && at - k < MAX_SOFT; k--) {
        if (!r->open[k - 1].soft || !cannot_own(r, k, region))
            break;
        if (is_known(r, k - 1, region))
            return k - 1;
    }
    return at;
}

static void replay_row(struct repair_replay *r, uint32_t row)
{
    struct calls *calls = r->calls;
    const struct open_call *soft = NULL;
    size_t stay;

    while (r->n_open > 0 && r->open[r->n_open - 1].end_row <= row)
        pop(r, row);
    stay = place(r, row);
    while (r->n_open > stay)
        pop(r, row);
    calls->depth[row] = (uint16_t)r->n_open;
    if (r->next_orphan < r->n_orphans && r->orphan[r->next_orphan].row == row)
        soft = &r->orphan[r->next_orphan++];
    *mem_push(&r->open, &r->n_open, &r->cap) = (struct replayed){
        .row = row,
        .end_row = row + calls->subtree_len[row],
        .soft = soft,
        .last_ns = calls->enter_ns[row],
    };
}

void repair_settle(struct repair *repair, struct calls *calls)
{
    struct repair_replay r = {
        .calls = calls, .orphan = repair->orphan, .n_orphans = repair->n_orphans};

    if (repair->n_orphans == 0)
        return;
    qsort(repair->orphan, repair->n_orphans, sizeof *repair->orphan, by_row);
    learn_pairs(&r);
    for (uint32_t row = 0; row < calls->n; row++)
        replay_row(&r, row);
    while (r.n_open > 0)
        pop(&r, calls->n);
    free(r.open);
    idmap_release(&r.known);
    repair_clear(repair);
}
