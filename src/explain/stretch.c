/*
 * A sweep over the calls in preorder, with those that are open on a stack: time up to the next
 * enter or leave belongs to the one on top.
 *
 *     from                                to
 *      |  A ........................        |      A: open before, its time is clipped
 *      |     B ....      B .........|.......|..    B: two calls of one path
 */
#include "explain/stretch.h"

#include "base/mem.h"
#include "explain/trace_view.h"

#include <stdlib.h>

struct stretch_open {
    uint64_t leave_ns, own_ns;
    uint32_t row, path;
    uint32_t child_region, child_path; /* of the child last seen: the next is often the same */
};

struct sweep {
    struct stretch *stretch;
    const struct call_view *calls;
    uint64_t now_ns;
    size_t n_open;
    bool is_other;
};

void stretch_release(struct stretch *s)
{
    context_release(&s->paths);
    free(s->path);
    free(s->used);
    free(s->open);
    *s = (struct stretch){0};
}

void stretch_clear(struct stretch *s)
{
    s->n_used = 0;
    s->generation++;
}

static struct stretch_path *path_of(struct stretch *s, uint32_t path)
{
    size_t n_before = s->path_cap;
    struct stretch_path *p;

    mem_grow(&s->path, &s->path_cap, (size_t)path + 1, sizeof *s->path);
    for (size_t i = n_before; i < s->path_cap; i++)
        s->path[i].generation = s->generation - 1;
    p = &s->path[path];
    if (p->generation != s->generation) {
        *p = (struct stretch_path){.generation = s->generation};
        mem_grow(&s->used, &s->used_cap, s->n_used + 1, sizeof *s->used);
        s->used[s->n_used++] = path;
    }
    return p;
}

/* The path of a function called by the call on top. */
static uint32_t path_below(struct sweep *w, uint32_t region)
{
    struct stretch *s = w->stretch;
    struct stretch_open *top = w->n_open > 0 ? &s->open[w->n_open - 1] : NULL;

    if (top == NULL)
        return context_add(&s->paths, PATH_NONE, region);
    if (top->child_path == PATH_NONE || top->child_region != region) {
        top->child_region = region;
        top->child_path = context_add(&s->paths, top->path, region);
    }
    return top->child_path;
}

static void push(struct sweep *w, uint32_t row)
{
    struct stretch *s = w->stretch;
    uint32_t path = path_below(w, w->calls->region[row]);

    mem_grow(&s->open, &s->open_cap, w->n_open + 1, sizeof *s->open);
    s->open[w->n_open++] = (struct stretch_open){
        .leave_ns = calls_leave(w->calls, row),
        .row = row,
        .path = path,
        .child_path = PATH_NONE,
    };
}

static void pop(struct sweep *w)
{
    const struct stretch_open *top = &w->stretch->open[--w->n_open];
    struct stretch_path *p = path_of(w->stretch, top->path);

    if (w->is_other) {
        p->other_ns += top->own_ns;
        return;
    }
    p->total_ns += top->own_ns;
    p->n_calls++;
    if (top->own_ns >= p->longest_ns) {
        p->longest_ns = top->own_ns;
        p->longest = top->row;
    }
}

/* Goes on to a time, leaving the calls that end before. */
static void advance(struct sweep *w, uint64_t time_ns)
{
    while (w->n_open > 0) {
        struct stretch_open *top = &w->stretch->open[w->n_open - 1];
        uint64_t until = top->leave_ns < time_ns ? top->leave_ns : time_ns;

        if (until > w->now_ns) {
            top->own_ns += until - w->now_ns;
            w->now_ns = until;
        }
        if (top->leave_ns > time_ns)
            return;
        pop(w);
    }
    w->now_ns = time_ns;
}

/* The calls that are open at the beginning, the outermost first. */
static void push_open(struct sweep *w, uint32_t last, uint16_t depth)
{
    for (uint32_t d = depth; d <= w->calls->depth[last]; d++) {
        uint32_t row = calls_ancestor(w->calls, last, (uint16_t)d);

        if (calls_leave(w->calls, row) <= w->now_ns)
            return;
        push(w, row);
    }
}

bool stretch_add(struct stretch *s, const struct stretch_part *part, bool is_other)
{
    const struct call_view *calls = part->calls;
    struct sweep w = {
        .stretch = s, .calls = calls, .now_ns = part->from_ns, .is_other = is_other};
    uint32_t first = calls_until(calls, part->from_ns), end = calls_until(calls, part->to_ns);

    if (part->to_ns <= part->from_ns)
        return true;
    if (end - first > STRETCH_MAX_CALLS)
        return false;
    if (first > 0)
        push_open(&w, first - 1, part->depth);
    for (uint32_t row = first; row < end; row++) {
        advance(&w, calls->enter_ns[row]);
        if (calls->depth[row] >= part->depth)
            push(&w, row);
    }
    advance(&w, part->to_ns);
    while (w.n_open > 0)
        pop(&w);
    return true;
}
