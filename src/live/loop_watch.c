/*
 * The calls that are kept are those of call stacks of their own, at the end of a step for
 * ever: what is open then seems to end with the last event, as at the end of a trace that was
 * cut.
 *
 * In a known loop each location is followed: where in its events iterations begin, and where
 * nobody knows any more where the last one ended. For that it has a stack of its own of the
 * regions that are open. Only calls on the level of the loop are looked at; of all others it
 * is counted how many are open. Leaves that lack pair up as in a call stack, without its
 * repairs.
 *
 *     events   main( init  a b c  a b c  a b c  report )
 *     turns                ^begin ^next  ^next         ^cut
 */
#include "live/loop_watch.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"
#include "forest/loop_border.h"
#include "forest/loops.h"
#include "stack/calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------- one location */

enum loop_turn {
    LOOP_TURN_NONE,
    LOOP_TURN_BEGIN, /* an iteration begins */
    LOOP_TURN_NEXT,  /* ... and the one before it is over */
    LOOP_TURN_CUT,   /* the caller of the loop returns, with an iteration that may be over */
};

struct loop_track {
    struct loop_border border;
    uint32_t caller; /* region, or NO_CALL */
    uint32_t *open;  /* [n_open] regions of open calls */
    size_t n_open, cap;
    size_t level;    /* calls that are open around those on the level of the loop */
    bool is_in;      /* an iteration is open */
    uint64_t detail; /* of the call on the level that is open */
    struct key last[LOOP_MAX_BORDERS]; /* [n_last] the symbols before, on the level */
    uint32_t n_last;
};

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
    mem_grow(&t->open, &t->cap, n);
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

/*
 * Go on after some calls.
 *   calls   a step of the whole trace so far: nothing was carried (callstack_step)
 *   caller  of the loop
 */
static void loop_track_init(struct loop_track *t, const struct loop_border *border,
                            uint32_t caller, const struct calls *calls,
                            const struct definitions *defs)
{
    uint32_t row;

    *t = (struct loop_track){
        .border = *border, .caller = caller, .level = caller == NO_CALL ? 0 : NO_LEVEL};
    row = take_open(t, calls);
    if (t->level != NO_LEVEL)
        take_last(t, calls, row == NO_CALL ? 0 : row + 1, defs);
}

static void loop_track_release(struct loop_track *t)
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

static enum loop_turn enter(struct loop_track *t, uint32_t region)
{
    bool is_begin = t->n_open == t->level && is_border(t, region);
    enum loop_turn turn = t->is_in ? LOOP_TURN_NEXT : LOOP_TURN_BEGIN;

    if (t->n_open == t->level)
        t->detail = 0;
    else if (t->level == NO_LEVEL && region == t->caller)
        enter_level(t, t->n_open + 1);
    *mem_push(&t->open, &t->n_open, &t->cap) = region;
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

/*
 * Look at events [begin, end) until there is a turn.
 *   turn  out
 * Returns the event before which it is, which has been looked at; end when there is none.
 */
static size_t loop_track_next(struct loop_track *t, const struct definitions *defs,
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

/* ------------------------------------------------------------------------------ all of them */

#define FIRST_TRY 256u
#define GROWTH 1.5         /* of what is kept, from one try to the next */
#define MIN_ITERATIONS 30u /* iterations */
#define ENOUGH_ODD 12u     /* of them, see is_all_seen */
#define ENOUGH 200u
#define ENOUGH_NS 60000000000u
#define SAME_SHARE 0.9    /* of the iterations at the try before are those of this one */
#define TIMES_DISPUTED 4u /* tries in a row that find it without locations that may run it */
#define GOES_ON 4u        /* iterations that may have passed since the last one began */

/* What is kept of a location. */
struct watched_location {
    struct callstack *stack;
    struct calls calls;
    struct quality quality; /* said by the stacks that are pushed into, too */
};

/* A loop at the last try, on the first location that had it. */
struct last_try {
    uint32_t location, caller;
    uint32_t *begin; /* [n] rows */
    uint32_t n;
    size_t cap;
    uint32_t n_times; /* that it was there at the try before, too, in a row */
};

struct loop_watch {
    char *pattern;
    enum loop_watch_state state;
    size_t most;

    struct watched_location **kept; /* [n_kept] while it is sought; call stacks point into it */
    uint32_t n_kept;
    size_t kept_cap;
    size_t next_try; /* records */
    struct last_try last;

    uint32_t region;          /* of the loop */
    struct loop_track *track; /* [n_tracks] while it is followed */
    uint32_t *first;          /* [n_tracks] */
    bool *is_tracked;         /* [n_tracks] the loop was found there */
    uint32_t n_tracks;
};

struct loop_watch *loop_watch_new(const char *pattern, size_t most)
{
    struct loop_watch *w = mem_alloc(1, sizeof *w);

    w->pattern = mem_copy_string(pattern);
    w->state = LOOP_SOUGHT;
    w->most = most;
    w->next_try = FIRST_TRY;
    return w;
}

static void release_kept(struct loop_watch *w)
{
    for (uint32_t l = 0; l < w->n_kept; l++) {
        callstack_free(w->kept[l]->stack);
        calls_release(&w->kept[l]->calls);
        free(w->kept[l]);
    }
    free(w->kept);
    free(w->last.begin);
    w->kept = NULL;
    w->n_kept = 0;
    w->kept_cap = 0;
    w->last = (struct last_try){0};
}

void loop_watch_free(struct loop_watch *w)
{
    if (w == NULL)
        return;
    release_kept(w);
    for (uint32_t l = 0; l < w->n_tracks; l++)
        loop_track_release(&w->track[l]);
    free(w->track);
    free(w->first);
    free(w->is_tracked);
    free(w->pattern);
    free(w);
}

enum loop_watch_state loop_watch_state(const struct loop_watch *w)
{
    return w ? w->state : LOOP_NONE;
}

const char *loop_watch_state_name(enum loop_watch_state state)
{
    static const char *const name[] = {[LOOP_NONE] = NULL,
                                       [LOOP_SOUGHT] = "sought",
                                       [LOOP_FOLLOWED] = "followed",
                                       [LOOP_NOT_FOUND] = "not_found"};

    return name[state];
}

uint32_t loop_watch_first(const struct loop_watch *w, uint32_t location)
{
    return location < w->n_tracks ? w->first[location] : 0;
}

/* --------------------------------------------------------------------------------- keeping */

static void follow_definitions(struct loop_watch *w, const struct definitions *defs)
{
    mem_grow(&w->kept, &w->kept_cap, defs->n_locations);
    for (; w->n_kept < defs->n_locations; w->n_kept++) {
        struct watched_location *k = mem_alloc(1, sizeof *k);

        k->stack = callstack_new();
        k->calls.has_steps = true;
        callstack_begin(k->stack, &k->calls, &k->quality);
        w->kept[w->n_kept] = k;
    }
}

static size_t n_of(const struct calls *c)
{
    return c->n + c->n_messages + c->n_collectives;
}

static size_t n_records(const struct loop_watch *w)
{
    size_t n = 0;

    for (uint32_t l = 0; l < w->n_kept; l++)
        n += n_of(&w->kept[l]->calls);
    return n;
}

/* All calls so far, as if those that are open had just ended. */
static struct call_view view_of(struct watched_location *k)
{
    struct calls *c = &k->calls;

    callstack_step(k->stack);
    for (uint32_t row = c->top; row != NO_CALL; row = c->caller[row])
        c->inclusive_ns[row] =
            c->last_ns > c->enter_ns[row] ? c->last_ns - c->enter_ns[row] : 0;
    return calls_view(c);
}

/* ------------------------------------------------------------------------------- choosing */

/* Of each function that runs a loop, when its last iteration began on the location that is
 * behind all others; the last is for no function. */
static uint64_t *least_last_ns(const struct loops_found *found, uint32_t n_locations,
                               uint32_t n_regions)
{
    uint64_t *least = mem_alloc((size_t)n_regions + 1, sizeof *least);

    for (uint32_t r = 0; r <= n_regions; r++)
        least[r] = UINT64_MAX;
    for (uint32_t l = 0; l < n_locations; l++)
        for (uint32_t i = 0; i < found[l].n; i++) {
            const struct loop_part *part = &found[l].part[i];
            uint32_t of = part->caller == NO_CALL ? n_regions : part->caller;
            uint64_t last_ns = part->begin_ns[part->calls.n - 1];

            if (part->is_step && last_ns < least[of])
                least[of] = last_ns;
        }
    return least;
}

/* What comes of locations goes up to different times: iterations that others are to have yet
 * are not compared. */
static void hold_to_what_all_have(struct loops_found *found, uint32_t n_locations,
                                  uint32_t n_regions)
{
    uint64_t *least = least_last_ns(found, n_locations, n_regions);

    for (uint32_t l = 0; l < n_locations; l++)
        for (uint32_t i = 0; i < found[l].n; i++) {
            struct loop_part *part = &found[l].part[i];
            uint64_t until_ns = least[part->caller == NO_CALL ? n_regions : part->caller];

            if (until_ns >= part->begin_ns[0] && until_ns != UINT64_MAX)
                part->calls.n = (uint32_t)lower_bound_u64(
                    part->begin_ns, part->calls.n, until_ns + part->calls.typical_ns / 2 + 1);
        }
    free(least);
}

/* The best of those whose name is the pattern, or has it as a part. */
static struct loop *choose(const struct loop_watch *w, struct loops *loops,
                           const struct definitions *defs)
{
    char name[LOOP_NAME_SIZE];

    for (uint32_t i = 0; i < loops->n; i++)
        if (strcmp(loop_name(&loops->loop[i], defs, name), w->pattern) == 0)
            return &loops->loop[i];
    for (uint32_t i = 0; i < loops->n; i++)
        if (strstr(loop_name(&loops->loop[i], defs, name), w->pattern))
            return &loops->loop[i];
    return NULL;
}

static uint32_t first_location(const struct loop *loop)
{
    uint32_t l = 0;

    while (loop->part[l].calls.n == 0)
        l++;
    return l;
}

/* Some location has a step of the same function that is not the same loop. */
static bool is_disputed(const struct loop *loop, const struct loops_found *found,
                        uint32_t n_locations)
{
    uint32_t caller = loop->part[first_location(loop)].caller;

    for (uint32_t l = 0; l < n_locations; l++)
        for (uint32_t i = 0; i < found[l].n; i++)
            if (loop->part[l].calls.n == 0 && found[l].part[i].is_step &&
                found[l].part[i].caller == caller)
                return true;
    return false;
}

/* It was there at the try before: what began then is one in each of its iterations, though
 * maybe elsewhere in them, as another header may have been taken. */
static bool was_there(const struct last_try *last, uint32_t location,
                      const struct loop_part *part)
{
    const struct insertion *now = &part->calls;
    size_t in_before = 0;
    uint32_t n_next = 0;

    if (last->n == 0 || last->location != location || last->caller != part->caller ||
        now->n <= last->n)
        return false;
    for (uint32_t i = 0; i < last->n; i++) {
        size_t in = lower_bound_u32(now->begin, now->n, last->begin[i] + 1);

        n_next += i > 0 && in == in_before + 1;
        in_before = in;
    }
    return n_next >= SAME_SHARE * (last->n - 1);
}

/* What comes in some iterations only may be what a loop around them does. That is found when it
 * has come often enough; or it comes so rarely that it is no step. */
static bool is_all_seen(const struct loop_part *part)
{
    uint64_t span_ns = part->begin_ns[part->calls.n - 1] - part->begin_ns[0];

    return part->calls.n >= MIN_ITERATIONS && (part->n_odd <= 1 || part->n_odd >= ENOUGH_ODD ||
                                               part->calls.n >= ENOUGH || span_ns >= ENOUGH_NS);
}

/* Of the location that is behind all others that have the loop. */
static uint64_t read_until_ns(const struct loop_watch *w, const struct loop *loop)
{
    uint64_t until_ns = UINT64_MAX;

    for (uint32_t l = 0; l < w->n_kept; l++)
        if (loop->part[l].calls.n > 0 && w->kept[l]->calls.last_ns < until_ns)
            until_ns = w->kept[l]->calls.last_ns;
    return until_ns;
}

/* It was there before, goes on, and is on all locations that run it, if that can be had. */
static bool is_settled(struct loop_watch *w, const struct loop *loop,
                       const struct loops_found *found)
{
    uint32_t l = first_location(loop);
    const struct loop_part *part = &loop->part[l];
    uint64_t last_ns = part->begin_ns[part->calls.n - 1], until_ns = read_until_ns(w, loop);

    w->last.n_times = was_there(&w->last, l, part) ? w->last.n_times + 1 : 0;
    return is_all_seen(part) && until_ns < last_ns + GOES_ON * part->calls.typical_ns &&
           w->last.n_times >= (is_disputed(loop, found, w->n_kept) ? TIMES_DISPUTED : 1);
}

static void remember(struct last_try *last, const struct loop *loop)
{
    const struct insertion *calls;

    last->n = 0;
    if (loop == NULL)
        return;
    last->location = first_location(loop);
    last->caller = loop->part[last->location].caller;
    calls = &loop->part[last->location].calls;
    mem_grow(&last->begin, &last->cap, calls->n);
    memcpy(last->begin, calls->begin, calls->n * sizeof *calls->begin);
    last->n = calls->n;
}

/* --------------------------------------------------------------------------------- taking */

/* False when on some location nothing tells where iterations begin. */
static bool begin_tracks(struct loop_watch *w, const struct loop *loop,
                         const struct definitions *defs)
{
    bool is_told = true;

    w->n_tracks = w->n_kept;
    w->track = mem_alloc(w->n_tracks, sizeof *w->track);
    w->first = mem_alloc(w->n_tracks, sizeof *w->first);
    w->is_tracked = mem_alloc(w->n_tracks, sizeof *w->is_tracked);
    for (uint32_t l = 0; l < w->n_tracks && is_told; l++) {
        struct call_view view = calls_view(&w->kept[l]->calls);
        struct loop_border border;

        w->is_tracked[l] = loop->part[l].calls.n > 0;
        if (!w->is_tracked[l])
            continue;
        is_told = loop_border_find(&view, defs, &loop->part[l], &border, &w->first[l]);
        if (is_told)
            loop_track_init(&w->track[l], &border, loop->part[l].caller, &w->kept[l]->calls,
                            defs);
    }
    return is_told;
}

static void end_tracks(struct loop_watch *w)
{
    for (uint32_t l = 0; l < w->n_tracks; l++)
        loop_track_release(&w->track[l]);
    free(w->track);
    free(w->first);
    free(w->is_tracked);
    w->track = NULL;
    w->first = NULL;
    w->is_tracked = NULL;
    w->n_tracks = 0;
}

static void take(struct loop_watch *w, struct loop *loop, struct definitions *defs)
{
    uint32_t l = first_location(loop), n_locations = 0;
    char n[TEXT_SIZE], typical[TEXT_SIZE];

    if (!begin_tracks(w, loop, defs)) {
        end_tracks(w);
        return;
    }
    loop_define(loop, defs);
    w->region = loop->region;
    w->state = LOOP_FOLLOWED;
    for (uint32_t k = 0; k < w->n_tracks; k++)
        n_locations += w->is_tracked[k];
    log_info("loops", "%s: found in %s iterations on %u location%s, of %s each",
             defs->region[w->region].name, text_count(loop->part[l].calls.n, n), n_locations,
             text_plural(n_locations),
             text_duration((double)loop->part[l].calls.typical_ns, typical));
}

static void try_now(struct loop_watch *w, struct definitions *defs)
{
    struct loops_found *found = mem_alloc(w->n_kept, sizeof *found);
    struct loops_found *all = mem_alloc(w->n_kept, sizeof *all); /* what was found, not owned */
    struct clock_fix *fix = mem_alloc(defs->n_ranks, sizeof *fix);
    struct loops loops;
    struct loop *loop;

    for (uint32_t l = 0; l < w->n_kept; l++) {
        struct call_view view = view_of(w->kept[l]);

        loops_find(&view, &defs->location[l], defs, true, &found[l]);
    }
    hold_to_what_all_have(found, w->n_kept, defs->names.n);
    memcpy(all, found, w->n_kept * sizeof *all);
    loops_elect(found, fix, defs, &loops);
    loop = choose(w, &loops, defs);
    if (loop && is_settled(w, loop, all))
        take(w, loop, defs);
    remember(&w->last, loop);
    loops_release(&loops);
    for (uint32_t l = 0; l < w->n_kept; l++)
        loops_found_release(&found[l]);
    free(found);
    free(all);
    free(fix);
}

static void give_up(struct loop_watch *w)
{
    char n[TEXT_SIZE];

    w->state = LOOP_NOT_FOUND;
    log_warn("loops", "no loop was found in the first %s calls and messages that '%s' means",
             text_count(n_records(w), n), w->pattern);
}

void loop_watch_step(struct loop_watch *w, struct definitions *defs)
{
    size_t n;

    if (w->state != LOOP_SOUGHT)
        return;
    follow_definitions(w, defs);
    n = n_records(w);
    if (n >= w->next_try || n >= w->most) {
        try_now(w, defs);
        w->next_try = (size_t)(GROWTH * (double)n);
    }
    if (w->state == LOOP_SOUGHT && n >= w->most)
        give_up(w);
    if (w->state != LOOP_SOUGHT)
        release_kept(w);
}

/* -------------------------------------------------------------------------------- following */

static void make_turn(struct callstack *into, uint32_t region, enum loop_turn turn,
                      uint64_t time_ns)
{
    struct event event[2] = {{time_ns, EVENT_LEAVE, region}, {time_ns, EVENT_ENTER, region}};
    struct event_batch batch = {.event = event, .n = 2};

    if (turn == LOOP_TURN_CUT)
        callstack_cut(into, region, time_ns);
    else
        callstack_push(into, &batch, turn == LOOP_TURN_BEGIN, 2);
}

static void follow(struct loop_watch *w, const struct definitions *defs, uint32_t location,
                   const struct event_batch *batch, size_t begin, size_t end,
                   struct callstack *into)
{
    for (size_t at = begin; at < end;) {
        enum loop_turn turn;
        size_t next = loop_track_next(&w->track[location], defs, batch, at, end, &turn);

        callstack_push(into, batch, begin, next);
        if (turn != LOOP_TURN_NONE)
            make_turn(into, w->region, turn, batch->event[next].time_ns);
        begin = next;
        at = next + 1;
    }
    callstack_push(into, batch, begin, end);
}

void loop_watch_push(struct loop_watch *w, const struct definitions *defs, uint32_t location,
                     const struct event_batch *batch, size_t begin, size_t end,
                     struct callstack *into)
{
    if (w->state == LOOP_SOUGHT) {
        struct callstack *stack;

        follow_definitions(w, defs);
        stack = w->kept[location]->stack;
        callstack_regions(stack, defs->names.n);
        callstack_polls(stack, defs);
        callstack_push(stack, batch, begin, end);
    }
    if (location < w->n_tracks && w->is_tracked[location])
        follow(w, defs, location, batch, begin, end, into);
    else
        callstack_push(into, batch, begin, end);
}

void loop_watch_end(struct loop_watch *w, uint32_t location, uint64_t time_ns,
                    struct callstack *into)
{
    if (location < w->n_tracks && w->track[location].is_in)
        callstack_cut(into, w->region, time_ns);
}
