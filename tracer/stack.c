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

#include "complain.h"
#include "regions.h"
#include "stack_marks.h"
#include "stack_sites.h"

#include <pthread.h>

#define MOST_FRAMES 100000
#define WORD sizeof(uintptr_t)

/* An activation of a function of the program. */
struct frame {
    uintptr_t end; /* the address just behind it; its return address is the word before */
    const struct site *site; /* where it goes on */
    bool is_marked;
};

struct stack {
    struct frame *frame; /* [n] the outermost first */
    uint32_t n, cap;
    struct frame *fresh; /* [n_fresh] of the walk, the innermost first */
    uint32_t n_fresh, cap_fresh;
    uintptr_t sp;     /* of the last wrapper */
    uint64_t seen_ns; /* when the last call of MPI was left */
};

static _Thread_local struct {
    uintptr_t low, high; /* both 0: not known yet */
} bounds __attribute__((tls_model("initial-exec")));

static uint64_t loaded_ns;

__attribute__((constructor)) static void remember_begin(void)
{
    loaded_ns = clock_ns();
}

static struct stack *stack_of(struct recorder *r)
{
    if (__builtin_expect(r->stack == NULL, 0)) {
        r->stack = must_resize(NULL, 1, sizeof *r->stack);
        *r->stack = (struct stack){0};
    }
    return r->stack;
}

/* ------------------------------------------------------------------------------------- walk */

static void find_bounds(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    bounds.low = bounds.high = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        bounds.low = (uintptr_t)low;
        bounds.high = (uintptr_t)low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* Whether a word lies on what is in use of the thread's stack. */
static inline bool is_word_on(uintptr_t address, uintptr_t sp)
{
    return address >= sp && address <= bounds.high - WORD && address % WORD == 0;
}

/* The end of the frame that is at a place, 0 if the walk cannot go on. */
static inline uintptr_t frame_end(const struct site *site, const struct stack_place *at)
{
    uintptr_t end;

    if (site->base == SITE_STORED_BY_FP &&
        !is_word_on(at->fp + (uintptr_t)(intptr_t)site->base_distance, at->sp))
        return 0;
    end = site_frame_end(site, at);
    return end > at->sp && is_word_on(end - WORD, at->sp) ? end : 0;
}

/* To the frame around it. */
static inline bool step_out(struct stack_place *at, const struct site *site, uintptr_t end,
                            uintptr_t address)
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

static void add_fresh(struct stack *s, struct frame frame)
{
    if (s->n_fresh == s->cap_fresh) {
        s->cap_fresh = s->cap_fresh ? 2 * s->cap_fresh : 64;
        s->fresh = must_resize(s->fresh, s->cap_fresh, sizeof *s->fresh);
    }
    s->fresh[s->n_fresh++] = frame;
}

/* The frame that was found last returns to this site. */
static inline void mark(struct stack *s, const struct site *site)
{
    struct frame *f = &s->fresh[s->n_fresh - 1];

    if (site->mark == 0)
        return;
    *(volatile uintptr_t *)(f->end - WORD) = site->mark;
    f->is_marked = true;
}

/* How many of the frames are known to be those of last time; the others are s->fresh. */
static uint32_t walk(struct stack *s, struct stack_place at)
{
    uint32_t n_old = s->n;
    bool is_unmarked = false;

    s->n_fresh = 0;
    for (uint32_t i = 0; i < MOST_FRAMES; i++) {
        const struct site *site = site_of(at.pc);
        uintptr_t end, address;

        if (is_unmarked)
            mark(s, site);
        is_unmarked = false;
        end = frame_end(site, &at);
        if (end == 0)
            break;
        address = *(const volatile uintptr_t *)(end - WORD);
        if (site->region != REGION_FILTERED) {
            struct frame *old;

            while (n_old > 0 && s->frame[n_old - 1].end < end)
                n_old--;
            old = n_old > 0 ? &s->frame[n_old - 1] : NULL;
            is_unmarked = !stack_marks_is(address);
            if (old && old->end == end && old->is_marked && !is_unmarked &&
                old->site->region == site->region) {
                old->site = site;
                return n_old;
            }
            add_fresh(s, (struct frame){end, site, !is_unmarked});
            if (old && old->end == end && old->is_marked && !is_unmarked)
                return n_old - 1; /* it ended in a call of another function, in its place */
        }
        if (!step_out(&at, site, end, address))
            break;
    }
    return 0;
}

/* Of frames without marks: how many, from the outermost, may be those of last time. */
static uint32_t count_alike(struct stack *s)
{
    bool is_same_call = true;
    uint32_t n = 0;

    while (n < s->n && s->n_fresh > 0 && is_same_call) {
        struct frame *old = &s->frame[n], *new = &s->fresh[s->n_fresh - 1];

        if (old->is_marked || new->is_marked || old->end != new->end ||
            old->site->region != new->site->region)
            break;
        is_same_call = old->site == new->site;
        *old = *new;
        s->n_fresh--;
        n++;
    }
    return n;
}

/* ---------------------------------------------------------------------------------- records */

static void keep(struct stack *s, struct frame frame)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->frame = must_resize(s->frame, s->cap, sizeof *s->frame);
    }
    s->frame[s->n++] = frame;
}

static void record(struct recorder *r, struct stack *s, uint32_t n_kept, uint64_t now_ns)
{
    uint64_t seen_ns = s->seen_ns ? s->seen_ns : loaded_ns;
    struct between when = {.earliest_ns = seen_ns < now_ns ? seen_ns : now_ns,
                           .latest_ns = now_ns};

    when.time_ns = s->seen_ns ? when.earliest_ns + (now_ns - when.earliest_ns) / 2 : now_ns;
    for (; s->n > n_kept; s->n--)
        recorder_leave_between(r, &when);
    while (s->n_fresh > 0) {
        struct frame frame = s->fresh[--s->n_fresh];

        recorder_enter_between(r, frame.site->region, &when);
        keep(s, frame);
    }
}

/* False within a call of MPI. One that is further in than we are was jumped out of. */
static bool is_outermost(struct recorder *r, struct stack *s, uintptr_t sp)
{
    if (r->n_open < s->n)
        s->n = 0; /* the thread that had this recorder has ended */
    if (r->n_open > s->n) {
        if (sp < s->sp)
            return false;
        recorder_close(r, s->n, clock_ns());
    }
    s->sp = sp;
    return true;
}

__attribute__((noinline)) uint64_t stack_enter(struct recorder *r)
{
    struct stack *s = stack_of(r);
    struct stack_place at;
    uint32_t n_kept = 0;
    uint64_t now_ns;

    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                     : "=r"(at.pc), "=r"(at.sp), "=r"(at.fp));
    if (!is_outermost(r, s, at.sp))
        return clock_ns();
    if (bounds.low == 0)
        find_bounds();
    s->n_fresh = 0;
    if (at.sp >= bounds.low && at.sp < bounds.high)
        n_kept = walk(s, at);
    if (n_kept == 0)
        n_kept = count_alike(s);
    now_ns = clock_ns();
    if (n_kept < s->n || s->n_fresh > 0)
        record(r, s, n_kept, now_ns);
    s->seen_ns = recorder_time(r, now_ns);
    return s->seen_ns;
}

void stack_left(struct recorder *r, uint64_t time_ns)
{
    if (r->stack)
        r->stack->seen_ns = time_ns;
}
