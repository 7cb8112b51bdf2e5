/*
 * The walk goes from the wrapper outwards, frame by frame, each by the rule of its site. It
 * ends at the first frame whose mark is intact: that activation is the one of last time, and so
 * are all around it. What the program calls in between costs as many steps as there are new
 * frames.
 *
 * Invariant: the outermost open calls of the recorder are the frames that are kept here. Those
 * that are open above them are calls of MPI; a function that MPI itself calls (an operation, an
 * error handler) is not looked at.
 */
#include "stack.h"

#include "budget.h"
#include "debug_library.h"
#include "loaded.h"
#include "memory.h"
#include "quiet.h"
#include "regions.h"
#include "stack_marks.h"
#include "stack_sites.h"

#define MAX_FRAMES 100000
#define WORD sizeof(uintptr_t)
#define EXACT_NS 1000 /* two clocks agree so far */

/* An activation of a function of the program. Those that are inlined in it follow on it. */
struct frame {
    uintptr_t end; /* the address just behind it; its return address is the word before */
    const struct stack_site *site;   /* where it goes on */
    uint32_t open;                   /* which of the functions that are open there */
    uint32_t most_calls;             /* as many it may be, if it is inlined */
    uintptr_t mark;                  /* to be put in place of its return address; 0: none */
    uint64_t left_ns, latest_ns;     /* once it has: when, 0 if that is not known; the latest */
    bool is_marked;                  /* of what is inlined: never */
    const struct stack_site *called; /* where it was at a call of MPI; NULL: at none so far */
    uint32_t called_most;            /* most_calls then */
    bool has_moved;                  /* a sample found it elsewhere since */
};

struct stack {
    struct frame *frame; /* [n] the outermost first */
    uint32_t n, cap;
    struct frame *fresh; /* [n_fresh] of the walk, the innermost first */
    uint32_t n_fresh, cap_fresh;
    bool is_same_call;  /* of the walk: the innermost frame that is known is at the same call */
    uintptr_t sp;       /* of the last wrapper */
    uint64_t seen_ns;   /* when the last call of MPI was left, or there was a sample */
    bool was_sampled;   /* the latter */
    uint64_t called_ns; /* when the last call of MPI was left */
    uint64_t recorded_ns; /* the last of what was recorded here */
    uint32_t n_moved;     /* of the walk: so many frames may have ended since called_ns */
};

static _Thread_local struct {
    uintptr_t low, high; /* both 0: not known yet */
} bounds;

static uint64_t loaded_ns;

__attribute__((constructor)) static void remember_begin(void)
{
    loaded_ns = clock_ns();
}

static struct stack *stack_of(struct recorder *r)
{
    if (__builtin_expect(r->stack == NULL, 0)) {
        r->stack = memory_zeroed(1, sizeof *r->stack);
    }
    return r->stack;
}

const char *stack_trouble(void)
{
    uintptr_t of_libdw, of_libelf;

    return debug_library_code(&of_libdw, &of_libelf)
               ? ""
               : "this machine has no libdw.so.1, by which stacks are read: of functions that "
                 "were not compiled for it nothing is recorded but calls of MPI and OpenMP "
                 "(Debian: libdw1, others: elfutils)";
}

/* ------------------------------------------------------------------------------------- walk */

static void find_bounds(void)
{
    struct quiet q;

    quiet_begin(&q);
    loaded_stack(&bounds.low, &bounds.high);
    quiet_end(&q);
}

/* Whether a word lies on what is in use of the thread's stack. */
static inline bool is_word_on(uintptr_t address, uintptr_t sp)
{
    return address >= sp && address <= bounds.high - WORD && address % WORD == 0;
}

/* The end of the frame that is at a place, 0 if the walk cannot go on. */
static inline uintptr_t frame_end(const struct stack_site *site,
                                  const struct frame_registers *at)
{
    uintptr_t end;

    if (site->base == SITE_STORED_BY_FP &&
        !is_word_on(at->fp + (uintptr_t)(intptr_t)site->base_distance, at->sp))
        return 0;
    end = site_frame_end(site, at);
    return end > at->sp && is_word_on(end - WORD, at->sp) ? end : 0;
}

/* To the frame around it. */
static inline bool step_out(struct frame_registers *at, const struct stack_site *site,
                            uintptr_t end, uintptr_t address)
{
    uintptr_t saved =
        (site->fp == SITE_FP_BY_FP ? at->fp : end) + (uintptr_t)(intptr_t)site->fp_distance;

    if (site->fp != SITE_FP_KEPT) {
        if (!is_word_on(saved, at->sp))
            return false;
        at->fp = *(const uintptr_t *)saved;
    }
    at->pc = stack_marks_is(address) ? stack_marks_behind(address) : address;
    at->sp = end;
    return at->pc != 0;
}

/* Room for twice as many frames, or the first. False if there is none. */
static bool grow(struct frame **frame, uint32_t *cap)
{
    uint32_t more = *cap ? 2 * *cap : 64;
    struct frame *grown = memory_resize(*frame, more, sizeof *grown);

    if (grown == NULL)
        return false;
    *frame = grown;
    *cap = more;
    return true;
}

/*
 * Of the functions that are open in a frame those from n_kept on are new. False if there is no
 * room, and none can be made.
 */
static inline bool add_fresh(struct stack *s, uintptr_t end, const struct stack_site *site,
                             uint32_t n_kept, bool is_in_signal)
{
    while (s->cap_fresh - s->n_fresh < site->n_open - n_kept) {
        if (is_in_signal || !grow(&s->fresh, &s->cap_fresh))
            return false;
    }
    for (uint32_t i = site->n_open; i-- > n_kept;)
        s->fresh[s->n_fresh++] =
            (struct frame){.end = end, .site = site, .open = i, .most_calls = 1};
    return true;
}

static inline const struct region_open *open_in(const struct frame *frame)
{
    return &frame->site->open[frame->open];
}

/*
 * An activation is seen where it was seen last: whether the call that it made there is known to
 * have ended, so that this is the next one from there. Only then do the instructions in between
 * say something.
 *   n_old   so many of the frames are that activation, and around it
 *   callee  the place on the stack where that call returns to the activation
 */
static inline bool has_returned(const struct stack *s, uint32_t n_old, uintptr_t callee,
                                bool is_sample)
{
    const struct frame *innermost = &s->frame[n_old - 1];

    if (n_old < s->n)
        return s->frame[n_old].is_marked && s->frame[n_old].end == callee;
    if (s->was_sampled) /* in what is not recorded: before it called MPI, or after it */
        return !is_sample && s->n_fresh == 0 && innermost->called == innermost->site;
    return !is_sample || s->n_fresh > 0;
}

/* What goes on of what is open at one site, at the next. */
static inline struct site_change
change_between(const struct stack_site *from, const struct stack_site *site, bool is_in_signal)
{
    const struct site_change *known;

    if (from->change == NULL || site->change == NULL)
        return (struct site_change){.n_same = from->open[0].place == site->open[0].place};
    known = site_change_known(from, site);
    return known          ? *known
           : is_in_signal ? site_change_unknown(from, site)
                          : site_change_add(from, site);
}

/* Where an activation that samples found elsewhere since was at its last call of MPI, which tells
 * more than they do. NULL if there is no such place, or nothing is told of where it is now. */
static inline const struct stack_site *called_before(const struct frame *frame,
                                                     const struct stack_site *site)
{
    return frame->has_moved && site->address != 0 ? frame->called : NULL;
}

/*
 * An activation is seen again, at a site: how many of the functions that were open in it go on,
 * which of those that are inlined is not always known.
 *   n_frames      of the activation and what is inlined in it, until now
 *   may_look      whether it may have gone from one site to the other
 *   is_in_signal  what is not known is not looked up
 */
static inline uint32_t go_on(struct frame *frame, uint32_t n_frames,
                             const struct stack_site *site, bool may_look, bool is_in_signal)
{
    const struct stack_site *called = called_before(frame, site);
    struct site_change seen, since_call;
    uint32_t n;

    seen = may_look ? change_between(frame->site, site, is_in_signal)
                    : site_change_unknown(frame->site, site);
    since_call = called ? change_between(called, site, is_in_signal) : seen;
    /* of a sample that there was no room for there is the site, but not what was open there */
    for (n = 0; n < seen.n_same && n < n_frames; n++) {
        uint64_t maybe = seen.maybe;

        if (open_in(&frame[n])->place != site->open[n].place)
            break;
        if (called && frame[n].called == called) {
            if (n >= since_call.n_same)
                break;
            if (!is_in_signal) { /* a sample may have missed that it was here before */
                frame[n].most_calls = frame[n].called_most;
                maybe = since_call.maybe;
            }
        }
        frame[n].has_moved |= is_in_signal && site != frame[n].called;
        frame[n].site = site;
        frame[n].most_calls += maybe >> n & 1;
    }
    return n;
}

/* Frames that go on, or are new, are at a call of MPI now. */
static inline void remember_call(struct frame *frame, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        frame[i].called = frame[i].site;
        frame[i].called_most = frame[i].most_calls;
        frame[i].has_moved = false;
    }
}

/* The frame that has this end returns through a mark. */
static inline void set_mark(uintptr_t end, uintptr_t mark)
{
    *(volatile uintptr_t *)(end - WORD) = mark;
}

/* Frames that will be seen again say so. */
static inline void mark(struct frame *frame, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct frame *f = &frame[i];

        if (f->mark == 0)
            continue;
        set_mark(f->end, f->mark);
        f->mark = 0;
        f->is_marked = true;
    }
}

/* What a filter leaves out has this end, and was called at the site; 0: what was called there is
 * none of that, or has a mark. */
static inline void mark_left_out(uintptr_t end, const struct stack_site *site)
{
    if (end != 0 && site->change != NULL && site->mark != 0)
        set_mark(end, site->mark);
}

/* Whether a change is to be looked up behind the program's back first. */
static inline bool is_to_ask(struct stack_unknown *unknown, const struct stack_site *from,
                             const struct stack_site *to)
{
    if (!site_change_is_open(from, to))
        return false;
    unknown->from = from;
    unknown->to = to;
    return true;
}

/* As walk has it; NULL: in a signal handler it is not known. */
static inline const struct stack_site *
site_at(uintptr_t pc, const struct stack_site *interrupted, bool is_first)
{
    if (interrupted == NULL)
        return site_of(pc);
    return is_first ? interrupted : site_known(pc);
}

/* The first of the n frames that has this end; n if there is none. */
static inline uint32_t frame_at(const struct stack *s, uint32_t n, uintptr_t end)
{
    return n > 0 && s->frame[n - 1].end == end ? n - 1 - s->frame[n - 1].open : n;
}

/*
 * How many of the frames are known to be those of last time; the others are s->fresh. What a
 * filter leaves out is no frame, but has a mark where it was called by a function with others
 * inlined in it: it may call MPI more than once, which is no next call of what is inlined.
 *   interrupted  the site that a signal came at; NULL: this is no signal handler, and what is
 *                not known is looked up
 * Returns UINT32_MAX where something is not known, what is in *unknown, or there is no room.
 */
static inline __attribute__((always_inline)) uint32_t walk(struct stack *s,
                                                           struct frame_registers at,
                                                           const struct stack_site *interrupted,
                                                           struct stack_unknown *unknown)
{
    uint32_t n_old = s->n;
    bool is_unmarked = false;
    bool is_callee_marked = false; /* what was called there goes on, or ended in another */
    uintptr_t left_out_end = 0;    /* of what was called there, if a filter leaves it out */

    s->n_fresh = s->n_moved = 0;
    for (uint32_t i = 0; i < MAX_FRAMES; i++) {
        const struct stack_site *site = site_at(at.pc, interrupted, i == 0);
        uintptr_t end, address;

        if (interrupted && site == NULL) {
            unknown->address = at.pc;
            return UINT32_MAX;
        }
        if (is_unmarked)
            s->fresh[s->n_fresh - 1].mark = site->mark;
        is_unmarked = false;
        mark_left_out(left_out_end, site);
        end = frame_end(site, &at);
        if (end == 0)
            break;
        address = *(const volatile uintptr_t *)(end - WORD);
        if (site->n_open > 0) {
            uint32_t first, n_same = 0;

            while (n_old > 0 && s->frame[n_old - 1].end < end)
                n_old--;
            first = frame_at(s, n_old, end);
            is_unmarked = !stack_marks_is(address);
            if (first < n_old && s->frame[first].is_marked && !is_unmarked) {
                struct frame *old = &s->frame[first];
                const struct stack_site *called = called_before(old, site);
                bool may_look =
                    old->site != site || has_returned(s, n_old, at.sp, interrupted != NULL);

                if (interrupted && ((may_look && is_to_ask(unknown, old->site, site)) ||
                                    (called && is_to_ask(unknown, called, site))))
                    return UINT32_MAX;
                s->is_same_call = old->site == site;
                s->n_moved = called ? n_old : 0;
                n_same = s->is_same_call && is_callee_marked
                             ? n_old - first
                             : go_on(old, n_old - first, site, may_look, interrupted != NULL);
                s->is_same_call &= n_same == site->n_open;
            }
            if (!add_fresh(s, end, site, n_same, interrupted != NULL))
                return UINT32_MAX;
            if (n_same > 0)
                return first + n_same;
            s->fresh[s->n_fresh - 1].is_marked = !is_unmarked;
            s->is_same_call = false;
            if (first < n_old && s->frame[first].is_marked && !is_unmarked)
                return first; /* it ended in a call of another function, in its place */
        }
        is_callee_marked = stack_marks_is(address);
        left_out_end = site->is_filtered && !is_callee_marked && !interrupted ? end : 0;
        if (!step_out(&at, site, end, address))
            break;
    }
    return 0;
}

/*
 * Of frames without marks: how many, from the outermost, may be those of last time.
 *   n  so many are known to be
 */
static uint32_t count_alike(struct stack *s, uint32_t n)
{
    bool is_same_call = n == 0 || s->is_same_call;

    while (is_same_call && n < s->n && s->n_fresh > 0) {
        struct frame *old = &s->frame[n], *new = &s->fresh[s->n_fresh - 1];

        if (old->is_marked || new->is_marked || old->end != new->end ||
            open_in(old)->place != open_in(new)->place)
            break;
        is_same_call = old->site == new->site || new->open + 1 < new->site->n_open;
        new->most_calls += old->most_calls;
        *old = *new;
        s->n_fresh--;
        n++;
    }
    return n;
}

/* ---------------------------------------------------------------------------------- records */

static void keep(struct stack *s, struct frame frame)
{
    if (s->n < s->cap || grow(&s->frame, &s->cap))
        s->frame[s->n++] = frame;
}

/*
 * The estimate of when it was, in the middle: who reads it puts it where the whole gap counts
 * for one (calls_place). But a call of MPI says nothing of what went on shortly before
 * or after it, but where it came from; a sample is taken for the whole time up to it, from the
 * call, or the sample, before.
 */
static uint64_t estimate(const struct between *when, bool was_sampled, bool is_sample)
{
    if (is_sample)
        return when->earliest_ns;
    if (was_sampled)
        return when->latest_ns;
    return when->earliest_ns + (when->latest_ns - when->earliest_ns) / 2;
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* When the frames from n_kept on were left, as far as their marks say so; what is around is
 * left later. */
static void find_leaves(struct stack *s, uint32_t n_kept, uint64_t seen_ns,
                        struct clock_moment now)
{
    uint64_t n = stack_returns.n, at = n > STACK_RETURNS ? n - STACK_RETURNS : 0;
    uint64_t latest_ns = now.ns;

    for (uint32_t i = s->n; i-- > n_kept;) {
        struct frame *f = &s->frame[i];
        uint64_t found = at;

        f->left_ns = 0;
        while (found < n && stack_returns.at[found % STACK_RETURNS].end != f->end)
            found++;
        if (found == n || !f->is_marked || open_in(f)->is_inlined)
            continue;
        f->left_ns = ticks_to_ns(stack_returns.at[found % STACK_RETURNS].ticks, now);
        if (f->left_ns < seen_ns && f->left_ns + EXACT_NS >= seen_ns)
            f->left_ns = seen_ns;
        seen_ns = f->left_ns > seen_ns ? f->left_ns : seen_ns;
        at = found + 1;
    }
    stack_returns.n = 0;
    for (uint32_t i = n_kept; i < s->n; i++) {
        latest_ns = s->frame[i].left_ns ? s->frame[i].left_ns : latest_ns;
        s->frame[i].latest_ns = latest_ns;
    }
}

static void record(struct recorder *r, struct stack *s, uint32_t n_kept,
                   struct clock_moment now, bool is_sample)
{
    bool is_first = s->seen_ns == 0, was_sampled = s->was_sampled;
    uint64_t seen_ns = is_first ? loaded_ns : s->seen_ns;
    struct between when = {.earliest_ns = seen_ns < now.ns ? seen_ns : now.ns};
    uint64_t placed_ns = r->placed_ns; /* what a call completed that was not looked at */
    /* of what may have ended unseen since the last call of MPI: as most loops compute first */
    uint64_t moved_ns = later(placed_ns, later(s->called_ns, s->recorded_ns));
    uint32_t n_moved = 0;

    r->budget->n_dearer += stack_returns.n;
    find_leaves(s, n_kept, when.earliest_ns, now);
    for (; s->n > n_kept; s->n--) {
        const struct frame *f = &s->frame[s->n - 1];

        if (f->left_ns >= when.earliest_ns && f->left_ns >= placed_ns) {
            recorder_close(r, r->n_open - 1, f->left_ns);
            when.earliest_ns = moved_ns = f->left_ns;
            was_sampled = false;
            continue;
        }
        when.latest_ns = f->latest_ns > when.earliest_ns ? f->latest_ns : when.earliest_ns;
        when.most_calls = open_in(f)->is_inlined ? f->most_calls : 0;
        when.time_ns = later(placed_ns, estimate(&when, was_sampled, is_sample));
        when.latest_ns = later(when.latest_ns, when.time_ns);
        if (f->left_ns) { /* before that */
            uint64_t time_ns = later(when.earliest_ns, placed_ns);

            recorder_leave_between(
                r, &(struct between){time_ns, f->left_ns, time_ns, .most_calls = 0});
            moved_ns = time_ns;
        } else if (s->n <= s->n_moved && f->has_moved) {
            n_moved = n_moved ? n_moved : s->n;
            recorder_leave_between(
                r, &(struct between){moved_ns, moved_ns, when.latest_ns, when.most_calls});
        } else {
            recorder_leave_between(r, &when);
            moved_ns = when.time_ns;
        }
    }
    when.latest_ns = now.ns;
    when.time_ns =
        is_first ? now.ns : later(placed_ns, estimate(&when, was_sampled, is_sample));
    for (; s->n_fresh > 0; s->n_fresh--) {
        struct frame frame = s->fresh[s->n_fresh - 1];
        bool is_moved = s->n < n_moved;

        recorder_enter_between(r, open_in(&frame)->region,
                               is_moved ? &(struct between){moved_ns, moved_ns, now.ns, 0}
                                        : &when);
        moved_ns = is_moved ? moved_ns : when.time_ns;
        keep(s, frame);
    }
    s->recorded_ns = moved_ns;
}

void stack_end(struct recorder *r, uint64_t time_ns)
{
    struct stack *s = r->stack;
    struct between when;

    if (s == NULL || r->n_open < s->n)
        return;
    recorder_close(r, s->n, time_ns);
    when.earliest_ns = later(s->seen_ns, r->placed_ns);
    when.latest_ns = later(time_ns, when.earliest_ns);
    when.time_ns = estimate(&when, s->was_sampled, false);
    for (; s->n > 1; s->n--) {
        const struct frame *f = &s->frame[s->n - 1];

        when.most_calls = open_in(f)->is_inlined ? f->most_calls : 0;
        recorder_leave_between(r, &when);
    }
}

/* False within a call of MPI, or in a team of OpenMP. One that is further in than we are was
 * jumped out of. */
static bool is_outermost(struct recorder *r, struct stack *s, uintptr_t sp)
{
    if (r->n_inside > 0)
        return false;
    if (r->n_open < s->n)
        s->n = 0; /* the thread that had this recorder has ended */
    if (r->n_open > s->n) {
        if (sp < s->sp)
            return false;
        s->seen_ns = recorder_time(r, clock_ns());
        recorder_close(r, s->n, s->seen_ns);
    }
    s->sp = sp;
    return true;
}

__attribute__((noinline)) uint64_t stack_enter(struct recorder *r)
{
    struct stack *s = stack_of(r);
    struct frame_registers at;
    uint32_t n_kept = 0, n_before, seen;
    struct clock_moment now;

    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                     : "=r"(at.pc), "=r"(at.sp), "=r"(at.fp));
    if (!is_outermost(r, s, at.sp))
        return clock_ns();
    if (bounds.low == 0)
        find_bounds();
    s->n_fresh = 0;
    if (at.sp >= bounds.low && at.sp < bounds.high)
        n_kept = walk(s, at, NULL, NULL);
    if (n_kept == UINT32_MAX)
        return clock_ns(); /* no memory: recording has ended */
    n_before = n_kept;
    n_kept = count_alike(s, n_kept);
    mark(s->frame + n_before, n_kept - n_before);
    mark(s->fresh, s->n_fresh);
    seen = n_before > 0 ? n_before - 1 - s->frame[n_before - 1].open : 0; /* its activation */
    remember_call(s->frame + seen, n_kept - seen);
    remember_call(s->fresh, s->n_fresh);
    now.ns = clock_ns();
    if (n_kept < s->n || s->n_fresh > 0) {
        now.ticks = __builtin_ia32_rdtsc();
        record(r, s, n_kept, now, false);
    }
    s->seen_ns = s->called_ns = recorder_time(r, now.ns);
    s->was_sampled = false;
    return s->seen_ns;
}

/* --------------------------------------------------------------------------------- samples */

#define MAX_SAMPLED 2048 /* frames of a stack that is sampled */

void stack_prepare(struct recorder *r)
{
    struct stack *s = stack_of(r);

    if (bounds.low == 0)
        find_bounds();
    while (s->cap < MAX_SAMPLED && grow(&s->frame, &s->cap))
        ;
    while (s->cap_fresh < MAX_SAMPLED && grow(&s->fresh, &s->cap_fresh))
        ;
    while (r->cap_open < MAX_SAMPLED && recorder_deepen(r))
        ;
    s->seen_ns = clock_ns(); /* what the first sample finds is there from now on */
    s->was_sampled = false;
}

/* Nothing has to be allocated for what is recorded. */
static bool has_room(struct recorder *r, const struct stack *s, uint32_t n_kept)
{
    if (n_kept + s->n_fresh > s->cap || n_kept + s->n_fresh > r->cap_open)
        return false;
    for (uint32_t i = 0; i < s->n_fresh; i++) {
        uint32_t region = open_in(&s->fresh[i])->region;

        if (budget_leaves_out(region) && !budget_has(r, region))
            return false;
    }
    return recorder_make_room(r, MAX_RECORD_SLOTS * ((size_t)s->n - n_kept + s->n_fresh));
}

bool stack_sample(struct recorder *r, const struct frame_registers *at,
                  struct stack_unknown *unknown)
{
    struct stack *s = r->stack;
    const struct stack_site *interrupted = site_around(at->pc);
    uint32_t n_kept;
    struct clock_moment now;

    *unknown = (struct stack_unknown){.pc = interrupted ? 0 : at->pc};
    if (s == NULL || interrupted == NULL)
        return false;
    if (r->n_open < s->n)
        s->n = 0; /* the thread that had this recorder has ended */
    if (r->n_open > s->n || at->sp < bounds.low || at->sp >= bounds.high)
        return false;
    n_kept = walk(s, *at, interrupted, unknown);
    if (n_kept == UINT32_MAX)
        return false;
    n_kept = count_alike(s, n_kept);
    if ((n_kept == 0 && s->n > 0) || n_kept + s->n_fresh == 0 || !has_room(r, s, n_kept))
        return false;
    now = moment_now();
    if (n_kept < s->n || s->n_fresh > 0)
        record(r, s, n_kept, now, true);
    s->seen_ns = recorder_time(r, now.ns);
    s->was_sampled = true;
    return true;
}

double stack_return_ns(void)
{
    return stack_marks_return_ns();
}

uintptr_t stack_caller(const struct recorder *r)
{
    const struct stack *s = r->stack;

    return s && s->n > 0 && s->n == r->n_open ? s->frame[s->n - 1].site->address : 0;
}

uintptr_t stack_address(uintptr_t returns_to)
{
    return stack_marks_is(returns_to) ? stack_marks_behind(returns_to) : returns_to;
}

bool stack_is_of_mpi(uintptr_t code)
{
    return site_is_of_mpi((const void *)code);
}

void stack_left(struct recorder *r, uint64_t time_ns)
{
    if (r->stack == NULL)
        return;
    r->stack->seen_ns = r->stack->called_ns = time_ns;
    r->stack->was_sampled = false;
}
