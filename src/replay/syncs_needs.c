/*
 * Needs are counted, then filled in. In the order that syncs were left, what a sync needs was
 * entered before it, unless clocks disagree: so one pass in that order is a replay.
 */
#include "replay/syncs_needs.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define LONG_SHARE 64 /* of the run: who is needed so much later is not waited for */

/* Goes through all needs: counts them, or fills them in. */
struct needs {
    struct syncs *s;
    const struct sync_places *at;
    uint32_t *next; /* [n + 1] where the next of a sync goes; NULL: count */
    uint32_t *root; /* [n_collectives] the root's sync, or NEED_INDEX */
    struct span {
        uint64_t last_enter, first_leave;
    } * span;     /* [n_collectives] */
    bool has_end; /* the last collective is that of all who end together */
};

static bool is_there(uint32_t sync)
{
    return sync < NEED_INDEX;
}

static void note(struct needs *n, uint32_t who, uint32_t need)
{
    struct syncs *s = n->s;

    if (n->next)
        s->need[n->next[who]++] = need;
    else
        s->first_need[who + 1]++;
}

/* ------------------------------------------------------------------------------ messages */

static void need_of_message(struct needs *n, size_t row)
{
    const struct sync_places *at = n->at;
    const struct message *m = &n->s->view->message[row];
    bool is_send = m->kind == MESSAGE_SEND;
    uint32_t who = is_there(at->ended[row]) ? at->ended[row] : at->posted[row], other;

    if (!is_there(who) || (is_send && !syncs_is_synchronous(n->s, m)))
        return;
    other = at->posted[m->match];
    if (!is_there(other)) /* a blocking receive: it was posted where it ended */
        other = at->ended[m->match];
    if (is_there(other) && n->s->sync[other].location != n->s->sync[who].location)
        note(n, who, other);
}

static void each_message(struct needs *n)
{
    struct syncs *s = n->s;

    for (size_t i = 0; i < s->view->first_message[s->n_locations]; i++) {
        const struct message *m = &s->view->message[i];
        uint32_t who = is_there(n->at->ended[i]) ? n->at->ended[i] : n->at->posted[i];

        if (m->match != MESSAGE_UNMATCHED)
            need_of_message(n, i);
        else if (is_there(who))
            s->sync[who].is_blind = true;
        s->n_messages += n->next != NULL;
        s->n_matched += n->next != NULL && m->match != MESSAGE_UNMATCHED;
    }
}

/* --------------------------------------------------------------------------- collectives */

static void need_of_collective(struct needs *n, const struct collective *c, uint32_t who)
{
    struct sync *sync = &n->s->sync[who];
    uint32_t rank = n->s->view->defs->location[sync->location].rank;

    switch (c->kind) {
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_ALL_TO_ALL:
        note(n, who, NEED_ALL | c->instance);
        break;
    case COLLECTIVE_ALL_TO_ONE:
        if (c->root == rank)
            note(n, who, NEED_ALL | c->instance);
        break;
    case COLLECTIVE_ONE_TO_ALL:
        if (c->root != rank && is_there(n->root[c->instance]))
            note(n, who, n->root[c->instance]);
        sync->is_blind |= c->root != rank && !is_there(n->root[c->instance]);
        break;
    default: /* some wait, some do not; it is seen when nobody left it before all were in */
        if (n->span[c->instance].first_leave >= n->span[c->instance].last_enter)
            note(n, who, NEED_ALL | c->instance);
        else
            sync->is_blind = true;
    }
}

static void each_collective(struct needs *n)
{
    const struct trace_view *view = n->s->view;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            const struct collective *c = &view->calls[l].collective[i];
            uint32_t who = n->at->left[n->at->first_collective[l] + i];

            if (c->instance < n->s->n_collectives && is_there(who))
                need_of_collective(n, c, who);
        }
}

/* Calls fn for every part of a collective that belongs to others. */
static void each_part(const struct syncs *s, const struct sync_places *at,
                      void (*fn)(uint32_t location, const struct collective *c, uint32_t sync,
                                 void *ctx),
                      void *ctx)
{
    const struct trace_view *view = s->view;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            const struct collective *c = &view->calls[l].collective[i];
            uint32_t sync = at->entered[at->first_collective[l] + i];

            if (c->instance < s->n_collectives && is_there(sync))
                fn(l, c, sync, ctx);
        }
}

static void count_part(uint32_t location, const struct collective *c, uint32_t sync, void *ctx)
{
    struct needs *n = ctx;

    (void)sync;
    n->s->first_member[c->instance + 2]++;
    if (c->root == n->s->view->defs->location[location].rank)
        n->root[c->instance] = sync;
}

static void span_part(uint32_t location, const struct collective *c, uint32_t sync, void *ctx)
{
    struct needs *n = ctx;
    struct span *span = &n->span[c->instance];
    uint64_t enter = n->s->sync[sync].enter_ns;

    (void)location;
    span->last_enter = enter > span->last_enter ? enter : span->last_enter;
    span->first_leave = c->end_ns < span->first_leave ? c->end_ns : span->first_leave;
}

static void add_part(uint32_t location, const struct collective *c, uint32_t sync, void *ctx)
{
    struct needs *n = ctx;

    (void)location;
    n->s->member[n->s->first_member[c->instance + 1]++] = sync;
}

/* How many collectives there are. A number that no matching gives out is none. */
static uint32_t count_collectives(const struct trace_view *view, const struct sync_places *at)
{
    size_t n_records = at->first_collective[view->n_locations];
    uint32_t n = 0;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = 0; i < view->calls[l].n_collectives; i++) {
            uint32_t instance = view->calls[l].collective[i].instance;

            if (instance < n_records && instance >= n)
                n = instance + 1;
        }
    return n;
}

/* No trace says that MPI_Finalize waits for all: it is seen when nobody left it before. */
static bool ends_together(const struct needs *n)
{
    uint64_t last = 0, first = UINT64_MAX;
    uint32_t n_ends = 0;

    for (uint32_t l = 0; l < n->s->n_locations; l++) {
        const struct sync *sync;

        if (!is_there(n->at->finalized[l]))
            continue;
        sync = &n->s->sync[n->at->finalized[l]];
        last = sync->enter_ns > last ? sync->enter_ns : last;
        first = sync->leave_ns < first ? sync->leave_ns : first;
        n_ends++;
    }
    return n_ends > 1 && first >= last;
}

static void each_end(struct needs *n, void (*fn)(struct needs *n, uint32_t sync))
{
    for (uint32_t l = 0; n->has_end && l < n->s->n_locations; l++)
        if (is_there(n->at->finalized[l]))
            fn(n, n->at->finalized[l]);
}

static void count_end(struct needs *n, uint32_t sync)
{
    (void)sync;
    n->s->first_member[n->s->n_collectives + 1]++;
}

static void add_end(struct needs *n, uint32_t sync)
{
    n->s->member[n->s->first_member[n->s->n_collectives]++] = sync;
}

static void note_end(struct needs *n, uint32_t sync)
{
    note(n, sync, NEED_ALL | (n->s->n_collectives - 1));
}

static void list_members(struct needs *n)
{
    struct syncs *s = n->s;
    uint32_t n_instances;

    n->has_end = ends_together(n);
    n_instances = s->n_collectives = count_collectives(s->view, n->at) + n->has_end;

    n->root = mem_alloc(n_instances, sizeof *n->root);
    n->span = mem_alloc(n_instances, sizeof *n->span);
    for (uint32_t i = 0; i < n_instances; i++) {
        n->root[i] = NEED_INDEX;
        n->span[i] = (struct span){0, UINT64_MAX};
    }
    s->first_member = mem_alloc((size_t)n_instances + 2, sizeof *s->first_member);
    each_part(s, n->at, count_part, n);
    each_part(s, n->at, span_part, n);
    each_end(n, count_end);
    for (uint32_t i = 2; i < n_instances + 2; i++)
        s->first_member[i] += s->first_member[i - 1];
    s->member = mem_alloc(s->first_member[n_instances + 1], sizeof *s->member);
    each_part(s, n->at, add_part, n);
    each_end(n, add_end);
}

/* -------------------------------------------------------------------------------- needs */

static uint64_t last_entered(const struct syncs *s, uint32_t need)
{
    uint32_t index = need & NEED_INDEX;
    uint64_t last = 0;

    if ((need & NEED_ALL) == 0)
        return s->sync[index].enter_ns;
    for (uint32_t i = s->first_member[index]; i < s->first_member[index + 1]; i++)
        if (s->sync[s->member[i] & NEED_INDEX].enter_ns > last)
            last = s->sync[s->member[i] & NEED_INDEX].enter_ns;
    return last;
}

static void set_last(struct syncs *s)
{
    uint64_t *all = mem_alloc(s->n_collectives, sizeof *all);

    for (uint32_t c = 0; c < s->n_collectives; c++)
        all[c] = last_entered(s, NEED_ALL | c);
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint64_t last = s->need[i] & NEED_ALL ? all[s->need[i] & NEED_INDEX]
                                                  : last_entered(s, s->need[i]);

            s->sync[k].last_ns = last > s->sync[k].last_ns ? last : s->sync[k].last_ns;
        }
    free(all);
}

void syncs_need_all(struct syncs *s, const struct sync_places *at)
{
    struct needs n = {.s = s, .at = at};

    list_members(&n);
    s->first_need = mem_alloc((size_t)s->n + 1, sizeof *s->first_need);
    each_message(&n);
    each_collective(&n);
    each_end(&n, note_end);
    for (uint32_t k = 0; k < s->n; k++)
        s->first_need[k + 1] += s->first_need[k];
    s->need = mem_alloc(s->first_need[s->n], sizeof *s->need);
    n.next = mem_alloc((size_t)s->n + 1, sizeof *n.next);
    for (uint32_t k = 0; k < s->n; k++)
        n.next[k] = s->first_need[k];
    each_message(&n);
    each_collective(&n);
    each_end(&n, note_end);
    set_last(s);
    free(n.next);
    free(n.root);
    free(n.span);
}

/* -------------------------------------------------------------------------------- order */

/* Locations by when they leave their next sync, the first on top. */
struct heap {
    const struct syncs *s;
    uint32_t *next; /* [n] syncs */
    uint32_t n;
};

static bool is_before(const struct syncs *s, uint32_t a, uint32_t b)
{
    const struct sync *p = &s->sync[a], *q = &s->sync[b];

    return p->leave_ns != q->leave_ns ? p->leave_ns < q->leave_ns : a < b;
}

static void sink(struct heap *h, uint32_t i)
{
    uint32_t what = h->next[i];

    for (uint32_t child = 2 * i + 1; child < h->n; child = 2 * i + 1) {
        child += child + 1 < h->n && is_before(h->s, h->next[child + 1], h->next[child]);
        if (!is_before(h->s, h->next[child], what))
            break;
        h->next[i] = h->next[child];
        i = child;
    }
    h->next[i] = what;
}

static void merge(struct syncs *s)
{
    struct heap h = {.s = s, .next = mem_alloc(s->n_locations, sizeof *h.next)};

    for (uint32_t l = 0; l < s->n_locations; l++)
        if (syncs_takes_part(s, l))
            h.next[h.n++] = s->first[l];
    for (uint32_t i = h.n; i-- > 0;)
        sink(&h, i);
    for (uint32_t p = 0; p < s->n; p++) {
        uint32_t k = h.next[0];

        s->order[p] = k;
        s->place[k] = p;
        if (k + 1 < s->first[s->sync[k].location + 1])
            h.next[0] = k + 1;
        else
            h.next[0] = h.next[--h.n];
        sink(&h, 0);
    }
    free(h.next);
}

/* A sync is entered at the place of the one before it on its location. */
static uint32_t entered_at(const struct syncs *s, uint32_t sync)
{
    return s->place[sync - 1];
}

/* A sync is needed at a place; it could come so much later without being waited for. */
static void use(struct syncs *s, uint32_t sync, uint32_t place, uint64_t until_ns)
{
    uint64_t enter = s->sync[sync].enter_ns, slack = until_ns > enter ? until_ns - enter : 0;

    if (s->slack_ns[sync] > slack)
        s->slack_ns[sync] = slack;
    if (s->last_use[sync] < place)
        s->last_use[sync] = place;
}

/* Marks the members of a collective that are entered after the first that needs them is left.
 */
static void settle_members(struct syncs *s, uint32_t c, uint32_t first, uint32_t last)
{
    uint64_t until = last_entered(s, NEED_ALL | c);

    for (uint32_t i = s->first_member[c]; i < s->first_member[c + 1]; i++) {
        uint32_t sync = s->member[i];

        if (entered_at(s, sync) >= first)
            s->member[i] |= NEED_EARLY;
        use(s, sync, last, until);
    }
}

static void settle_needs(struct syncs *s)
{
    uint32_t *first = mem_alloc(s->n_collectives, sizeof *first);
    uint32_t *last = mem_alloc(s->n_collectives, sizeof *last); /* + 1; 0: nobody needs it */

    for (uint32_t p = 0; p < s->n; p++) {
        uint32_t k = s->order[p];
        const struct sync *sync = &s->sync[k];
        uint64_t until = sync->last_ns > sync->enter_ns ? sync->last_ns : sync->enter_ns;

        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t c = s->need[i] & NEED_INDEX;

            if (s->need[i] & NEED_ALL) {
                first[c] = last[c] == 0 ? p : first[c];
                last[c] = p + 1;
            } else {
                if (entered_at(s, c) >= p)
                    s->need[i] |= NEED_EARLY;
                use(s, c, p, until);
            }
        }
    }
    for (uint32_t c = 0; c < s->n_collectives; c++)
        if (last[c] > 0)
            settle_members(s, c, first[c], last[c] - 1);
    free(first);
    free(last);
}

void syncs_order(struct syncs *s)
{
    s->order = mem_alloc(s->n, sizeof *s->order);
    s->place = mem_alloc(s->n, sizeof *s->place);
    s->reach = mem_alloc(s->n, sizeof *s->reach);
    s->last_use = mem_alloc(s->n, sizeof *s->last_use);
    s->slack_ns = mem_resize(NULL, s->n, sizeof *s->slack_ns);
    merge(s);
    s->long_ns = (s->end_ns - s->begin_ns) / LONG_SHARE;
    for (uint32_t k = 0; k < s->n; k++)
        s->slack_ns[k] = UINT64_MAX;
    settle_needs(s);
    for (uint32_t p = 0; p < s->n; p++) {
        uint32_t k = s->order[p] + 1; /* what is entered there */
        bool is_entered = k < s->n && s->sync[k].location == s->sync[k - 1].location;

        s->reach[p] = p > 0 ? s->reach[p - 1] : 0;
        if (is_entered && s->slack_ns[k] < s->long_ns && s->last_use[k] > s->reach[p])
            s->reach[p] = s->last_use[k];
    }
}
