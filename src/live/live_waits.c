/* What waiting_of looks at is looked at before, whether it is all there. */
#include "live/live_waits.h"

#include "base/mem.h"
#include "explain/waiting.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_END "the other end of a message had not been read when it was needed"
#define OTHER_CALL "the rank at the other end of a message had not left MPI when it was needed"
#define TOO_MANY "for too many messages only the send or only the receive was read"
#define OTHER_PARTS "not all ranks had left a collective when it was needed"
#define NOT_KEPT "calls of that time are no longer kept in memory"
#define NOT_MPI "a message or collective is not inside a call of MPI"
#define IN_OTHERS "calls of MPI are inside other calls of MPI"
#define WRONG_CLOCKS "the clocks of ranks contradict each other"
#define LOST "events were lost"
#define ON_DEVICE "waits for GPUs are only followed after the run"

void live_waits_init(struct live_waits *w)
{
    *w = (struct live_waits){.step = NULL};
    w->window.is_read[SYNC_WAITS] = true;
}

void live_waits_release(struct live_waits *w)
{
    sync_window_release(&w->window);
    free(w->why);
    *w = (struct live_waits){0};
}

void live_waits_take(struct live_waits *w, const struct ad_step *step)
{
    sync_window_take(&w->window, step);
}

/* ---------------------------------------------------------------------- is it all there */

/* A call that is asked about. */
struct wait_look {
    struct live_waits *waits;
    const struct trace_view *view;
    const struct call_view *calls; /* of its location */
    uint32_t location, row;
    uint64_t enter_ns, leave_ns;
    uint32_t n_records; /* that say what it waited for */
};

/* A rank that was in MPI before the call, and has not come out: it may have been stopped there
 * (exchange.h), or wait for somebody. */
static bool is_still_there(const struct wait_look *x, uint32_t location)
{
    const struct window_location *o = &x->waits->window.of[location];
    uint32_t last = o->n - 1;

    return o->n > 0 && !x->waits->step->is_last && o->enter_ns[last] < x->enter_ns &&
           o->enter_ns[last] + o->inclusive_ns[last] >= x->waits->step->end_ns;
}

static const char *check_message(struct wait_look *x, const struct message *m)
{
    uint32_t location;
    const struct message *other = trace_view_other_end(x->view, m, &location);

    x->n_records++;
    if (other == NULL)
        return m->match == MESSAGE_UNMATCHED ? OTHER_END : NOT_KEPT;
    if (other->call == NO_CALL)
        return NOT_MPI;
    return is_still_there(x, location) ? OTHER_CALL : NULL;
}

/* Sends posted before the call that were complete only in it; those that are not complete yet
 * were not. */
static const char *check_pending(struct wait_look *x, size_t at)
{
    const struct window_location *o = &x->waits->window.of[x->location];
    const char *why = o->sent_before_ns > x->enter_ns ? NOT_KEPT : NULL;
    size_t lowest = at > WAITING_MAX_PENDING ? at - WAITING_MAX_PENDING : 0;

    while (why == NULL && at-- > lowest) {
        const struct message *m = &x->calls->message[at];

        if (x->enter_ns - message_record_ns(m) > o->longest_send_ns)
            return NULL; /* and so are all before it */
        if (m->kind == MESSAGE_SEND && m->end_ns > x->enter_ns && m->end_ns <= x->leave_ns)
            why = check_message(x, m);
    }
    return why;
}

static const char *check_messages(struct wait_look *x)
{
    const struct call_view *c = x->calls;
    size_t first = calls_message_from(c, x->enter_ns);
    const char *why = NULL;

    for (size_t i = first;
         why == NULL && i < c->n_messages && i - first < WAITING_MAX_RECORDS &&
         message_record_ns(&c->message[i]) <= x->leave_ns;
         i++) {
        const struct message *m = &c->message[i];

        if (m->call == NO_CALL)
            why = NOT_MPI;
        else if (m->call == x->row && (m->kind == MESSAGE_RECV || m->end_ns <= x->leave_ns))
            why = check_message(x, m);
    }
    return why ? why : check_pending(x, first);
}

static const char *check_collective(struct wait_look *x, const struct collective *c)
{
    const struct comm *comm = &x->view->defs->comm[c->comm];
    uint32_t n_there = 0;

    if (c->instance == NO_INSTANCE)
        return NULL;
    x->n_records++;
    for (uint32_t l = 0; l < x->view->n_locations; l++) {
        const struct collective *part = calls_collective_part(&x->view->calls[l], c);

        if (part == NULL)
            continue;
        n_there++;
        if (part->call == NO_CALL)
            return NOT_MPI;
    }
    return n_there == comm->n_members + comm->n_remote ? NULL : OTHER_PARTS;
}

static const char *check_collectives(struct wait_look *x)
{
    const struct call_view *c = x->calls;
    size_t first = calls_collective_from(c, x->enter_ns);
    const char *why = NULL;

    for (size_t i = first;
         why == NULL && i < c->n_collectives && i - first < WAITING_MAX_RECORDS &&
         c->collective[i].end_ns <= x->leave_ns;
         i++)
        if (c->collective[i].call == NO_CALL)
            why = NOT_MPI;
        else if (c->collective[i].call == x->row)
            why = check_collective(x, &c->collective[i]);
    return why;
}

/* Of a rank that has no receives in its trace, it is guessed for whom it waited. */
static const char *check_guess(const struct wait_look *x)
{
    const struct sync_window *w = &x->waits->window;
    uint32_t rank = x->view->defs->location[x->location].rank;

    if (x->n_records > 0 || w->of[x->location].has_received)
        return NULL;
    for (uint32_t l = 0; l < w->n_locations; l++)
        for (size_t i = 0; i < w->of[l].pending.n_messages; i++)
            if (w->of[l].pending.message[i].kind == MESSAGE_SEND &&
                w->of[l].pending.message[i].peer == rank)
                return OTHER_END;
    return NULL;
}

/* What makes all that is known of messages doubtful. */
static const char *check_all(const struct live_waits *w)
{
    if (w->window.n_too_early > 0)
        return WRONG_CLOCKS;
    if (w->step->n_lost > 0)
        return LOST;
    if (w->window.n_dropped > 0) /* what comes later finds another one's end */
        return TOO_MANY;
    return w->window.is_nested ? IN_OTHERS : NULL;
}

static bool is_in_mpi(const struct wait_look *x, uint32_t v)
{
    const struct forest *f = &x->waits->trees->forest;
    uint32_t parent = f->parent[v];

    return parent != FOREST_ROOT && x->view->defs->region[f->region[parent]].kind == REGION_MPI;
}

/* Sets the row of a vertex. */
static const char *find_call(struct wait_look *x, uint32_t t, uint32_t v)
{
    const struct live_forest *trees = x->waits->trees;

    if (is_in_mpi(x, v))
        return IN_OTHERS;
    x->row = sync_window_call(&x->waits->window, x->location, forest_row(&trees->forest, t, v));
    if (x->row == NO_CALL || x->calls->enter_ns[x->row] != trees->vertex_enter_ns[v] ||
        x->calls->region[x->row] != trees->forest.region[v])
        return NOT_KEPT;
    x->enter_ns = x->calls->enter_ns[x->row];
    x->leave_ns = calls_leave(x->calls, x->row);
    return NULL;
}

/* ---------------------------------------------------------------------------- asking */

static const char *ask(struct live_waits *w, uint32_t t, uint32_t v, double typical_ns,
                       uint64_t *ns)
{
    uint32_t location = w->trees->forest.location[t];
    struct wait_look x = {
        .waits = w, .view = sync_window_view(&w->window, w->step), .location = location};
    const char *why = check_all(w);

    x.calls = &x.view->calls[location];
    why = why ? why : find_call(&x, t, v);
    why = why ? why : check_messages(&x);
    why = why ? why : check_collectives(&x);
    why = why ? why : check_guess(&x);
    if (why == NULL && x.n_records > 0)
        waiting_others_ns(x.view, location, x.row, typical_ns, ns);
    return why;
}

static bool waited(void *ctx, uint32_t t, uint32_t v, double typical_ns, uint64_t *ns)
{
    struct live_waits *w = ctx;
    const struct region *region = &w->step->defs->region[w->trees->forest.region[v]];

    *ns = 0;
    if (region->kind == REGION_OPENMP) /* all its threads are of one rank */
        return true;
    w->why[t] = region->kind == REGION_MPI ? ask(w, t, v, typical_ns, ns) : ON_DEVICE;
    return w->why[t] == NULL;
}

struct own_waits live_waits_of(struct live_waits *w, const struct ad_step *step,
                               const struct live_forest *trees)
{
    w->step = step;
    w->trees = trees;
    mem_grow(&w->why, &w->why_cap, trees->forest.n_trees);
    for (uint32_t t = 0; t < trees->forest.n_trees; t++)
        w->why[t] = NULL;
    return (struct own_waits){waited, w};
}

const char *live_waits_why(const struct live_waits *w, uint32_t t)
{
    return w->why[t];
}

void live_waits_forget(struct live_waits *w, const struct ad_step *step, uint64_t oldest_ns)
{
    size_t n = sync_window_size(&w->window);
    uint64_t middle_ns, from_ns = oldest_ns;

    if (n < LIVE_WAITS_MIN_KEPT)
        return;
    middle_ns = sync_window_middle(&w->window);
    from_ns = step->begin_ns < from_ns ? step->begin_ns : from_ns;
    if (middle_ns < from_ns || n >= LIVE_WAITS_MAX_KEPT)
        from_ns = middle_ns;
    sync_window_forget(&w->window, SYNC_WAITS, from_ns);
}
