/*
 * Only calls on the level of the loop are looked at; of all others it is counted how many are
 * open. Leaves that lack pair up as in a call stack, without its repairs.
 */
#include "live/loop_track.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NO_LEVEL SIZE_MAX

static void note_symbol(struct loop_track *t, struct key symbol)
{
    uint32_t n = t->border.n;

    if (n == 0)
        return;
    if (t->n_last == n)
        memmove(t->last, t->last + 1, --t->n_last * sizeof *t->last);
    t->last[t->n_last++] = symbol;
}

/* The caller of the loop was entered; or left. */
static void enter_level(struct loop_track *t, size_t level)
{
    t->level = level;
    t->n_last = 0;
}

/* ------------------------------------------------------------------------------ going on */

/* The open calls, outermost first. Returns the row of the caller of the loop, or NO_CALL. */
static uint32_t take_open(struct loop_track *t, const struct calls *c)
{
    uint32_t caller = NO_CALL;
    size_t n = 0;

    for (uint32_t row = c->top; row != NO_CALL; row = c->caller[row])
        n++;
    mem_grow(&t->open, &t->cap, n, sizeof *t->open);
    t->n_open = n;
    for (uint32_t row = c->top; row != NO_CALL; row = c->caller[row]) {
        t->open[--n] = c->region[row];
        if (t->caller != NO_CALL && c->region[row] == t->caller) {
            caller = row;
            t->level = n + 1;
        }
    }
    return caller;
}

/* The last calls on the level, but for the one that is open. */
static void take_last(struct loop_track *t, const struct calls *c, uint32_t begin,
                      const struct definitions *defs)
{
    struct call_view view = calls_view(c);
    struct loop_sequence s = {0};
    uint32_t n;

    loop_sequence_clear(&s);
    loop_sequence_add(&s, &view, defs, begin, c->n, t->border.has_partners);
    n = s.n - 1; /* without the break */
    for (uint32_t i = n > LOOP_MAX_BORDERS + 1 ? n - LOOP_MAX_BORDERS - 1 : 0; i < n; i++) {
        struct key symbol =
            s.symbol[i] <= s.known.n ? s.known.key[s.symbol[i] - 1] : key_pair(UINT64_MAX, 0);

        if (i + 1 == n && t->n_open > t->level)
            t->detail = symbol.low;
        else
            note_symbol(t, symbol);
    }
    loop_sequence_release(&s);
}

void loop_track_init(struct loop_track *t, const struct loop_border *border, uint32_t caller,
                     const struct calls *calls, const struct definitions *defs)
{
    uint32_t row;

    *t = (struct loop_track){
        .border = *border, .caller = caller, .level = caller == NO_CALL ? 0 : NO_LEVEL};
    row = take_open(t, calls);
    if (t->level != NO_LEVEL)
        take_last(t, calls, row == NO_CALL ? 0 : row + 1, defs);
}

void loop_track_release(struct loop_track *t)
{
    free(t->open);
    *t = (struct loop_track){0};
}

/* -------------------------------------------------------------------------------- events */

static bool is_border(const struct loop_track *t, uint32_t region)
{
    const struct loop_border *b = &t->border;

    if (b->n == 0)
        return region == b->region;
    return t->n_last == b->n && memcmp(t->last, b->symbol, b->n * sizeof *b->symbol) == 0;
}

static void push(struct loop_track *t, uint32_t region)
{
    mem_grow(&t->open, &t->cap, t->n_open + 1, sizeof *t->open);
    t->open[t->n_open++] = region;
}

static enum loop_turn enter(struct loop_track *t, uint32_t region)
{
    bool is_begin = t->n_open == t->level && is_border(t, region);
    enum loop_turn turn = t->is_in ? LOOP_TURN_NEXT : LOOP_TURN_BEGIN;

    if (t->n_open == t->level)
        t->detail = 0;
    else if (t->level == NO_LEVEL && region == t->caller)
        enter_level(t, t->n_open + 1);
    push(t, region);
    if (!is_begin)
        return LOOP_TURN_NONE;
    t->is_in = true;
    return turn;
}

/* The highest open call that a leave may be of, or n_open. */
static size_t find_open(const struct loop_track *t, uint32_t region)
{
    size_t at = t->n_open;

    if (region == ANY_REGION)
        return at > 0 ? at - 1 : at;
    while (at > 0 && t->open[at - 1] != region)
        at--;
    return at > 0 ? at - 1 : t->n_open;
}

static enum loop_turn leave(struct loop_track *t, uint32_t region)
{
    size_t at = find_open(t, region);
    bool was_in = t->is_in;

    if (at == t->n_open)
        return LOOP_TURN_NONE;
    if (t->n_open > t->level && at <= t->level)
        note_symbol(t, key_pair(t->open[t->level], t->detail));
    t->n_open = at;
    if (t->level == NO_LEVEL || at >= t->level)
        return LOOP_TURN_NONE;
    enter_level(t, NO_LEVEL);
    t->is_in = false;
    return was_in ? LOOP_TURN_CUT : LOOP_TURN_NONE;
}

/* Who takes part in the call of MPI that is open on the level. */
static void add_detail(struct loop_track *t, const struct definitions *defs,
                       const struct event_batch *batch, const struct event *event)
{
    if (t->border.n == 0 || !t->border.has_partners || t->level == NO_LEVEL ||
        t->n_open != t->level + 1 || defs->region[t->open[t->level]].kind != REGION_MPI)
        return;
    if (event->kind == EVENT_MESSAGE)
        t->detail += loop_detail_of_message(&batch->message[event->ref]);
    else if (event->kind == EVENT_COLLECTIVE)
        t->detail += loop_detail_of_collective(&batch->collective[event->ref]);
}

size_t loop_track_next(struct loop_track *t, const struct definitions *defs,
                       const struct event_batch *batch, size_t begin, size_t end,
                       enum loop_turn *turn)
{
    *turn = LOOP_TURN_NONE;
    for (size_t i = begin; i < end; i++) {
        const struct event *event = &batch->event[i];

        if (event->kind == EVENT_ENTER && event->ref < defs->names.n)
            *turn = enter(t, event->ref);
        else if (event->kind == EVENT_LEAVE)
            *turn = leave(t, event->ref);
        else
            add_detail(t, defs, batch, event);
        if (*turn != LOOP_TURN_NONE)
            return i;
    }
    return end;
}
