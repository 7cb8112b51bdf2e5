#include "sample_view.h"

#include "forest/traffic.h"
#include "stack/callstack.h"
#include "trace/event_list.h"

#include <stdlib.h>
#include <string.h>

struct item {
    uint64_t from, to;
    uint32_t region;
    const char *does; /* what stands after the times */
};

struct builder {
    struct sample_view *said;
    struct event_list events;
    uint32_t n_posted, n_collectives;
};

static void push(struct builder *t, uint64_t us, enum event_kind kind, uint32_t ref)
{
    event_list_push(&t->events, us * 1000, kind, ref);
}

static void push_message(struct builder *t, uint64_t begin, uint64_t end,
                         enum message_kind kind, const char *does)
{
    const char *bytes = strchr(does, '*');

    *event_list_message(&t->events, end * 1000) = (struct message){
        .begin_ns = begin * 1000,
        .bytes = bytes ? strtoull(bytes + 1, NULL, 10) : 64,
        .match = MESSAGE_UNMATCHED,
        .peer = (uint32_t)strtoul(does, NULL, 10),
        .tag = 7,
        .order = t->n_posted++,
        .kind = (uint32_t)kind,
    };
}

static void push_created(struct builder *t, uint64_t us, const struct item *x, bool is_end)
{
    enum team_record_kind kind = x->does[0] == 'C'   ? TEAM_CREATE
                                 : x->does[0] == 'W' ? TEAM_WAIT
                                 : is_end            ? TEAM_THREAD_END
                                                     : TEAM_THREAD_BEGIN;

    *event_list_team(&t->events, us * 1000) = (struct team_record){
        .kind = kind, .comm = NO_TEAM_COMM, .number = (uint32_t)strtoul(x->does + 1, NULL, 10)};
}

static void push_team(struct builder *t, uint64_t us, const struct item *x, bool is_end)
{
    bool is_fork = x->does[0] == 'F';

    if (x->does[0] == 'T' || x->does[0] == (is_end ? 'W' : 'C'))
        push_created(t, us, x, is_end);
    if (!is_fork && x->does[0] != 'M')
        return;
    *event_list_team(&t->events, us * 1000) = (struct team_record){
        .kind = (is_fork ? TEAM_FORK : TEAM_BEGIN) + (uint32_t)is_end, .comm = NO_TEAM_COMM};
}

static void enter(struct builder *t, const struct item *x)
{
    push_team(t, x->from, x, false);
    if (x->does[0] == 'B')
        t->said->defs.region[x->region].is_barrier = true;
    push(t, x->from, EVENT_ENTER, x->region);
    if (x->does[0] == '>')
        push_message(t, x->from, x->from, MESSAGE_SEND, x->does + 1 + (x->does[1] == '>'));
}

static void leave(struct builder *t, const struct item *x)
{
    if (x->does[0] == '<') {
        for (const char *does = x->does; *does == '<'; does += strcspn(does, "< ")) {
            const char *posted = strchr(does, '/');

            does += 1 + (does[1] == '<');
            push_message(t, posted ? strtoull(posted + 1, NULL, 10) : x->to, x->to,
                         MESSAGE_RECV, does);
        }
    } else if (x->does[0] == '=') {
        push(t, x->to, EVENT_SENT, (uint32_t)strtol(x->does + 1, NULL, 10));
    } else if (x->does[0] && strchr("|^_?", x->does[0])) {
        const char *begun = strchr(x->does, '/');

        *event_list_collective(&t->events, x->to * 1000) = (struct collective){
            .begin_ns = (begun ? strtoull(begun + 1, NULL, 10) : x->from) * 1000,
            .kind = x->does[0] == '|'   ? COLLECTIVE_BARRIER
                    : x->does[0] == '^' ? COLLECTIVE_ONE_TO_ALL
                    : x->does[0] == '_' ? COLLECTIVE_ALL_TO_ONE
                                        : COLLECTIVE_OTHER,
            .root = x->does[0] == '^' || x->does[0] == '_'
                        ? (uint32_t)strtol(x->does + 1, NULL, 10)
                        : NO_ROOT,
            .order = t->n_collectives++,
            .instance = NO_INSTANCE,
        };
    }
    if (x->does[0] == 'W')
        push_team(t, x->to, x, true);
    push(t, x->to, EVENT_LEAVE, x->region);
    if (x->does[0] != 'W')
        push_team(t, x->to, x, true);
}

static void tell(struct sample_view *s, uint32_t rank, const char *text)
{
    struct builder t = {.said = s};
    struct item open[16];
    struct callstack *stack = callstack_new();
    char *copy = strdup(text + (*text == '+')), *rest = NULL;
    int n = 0;

    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *at = strchr(word, '@');

        if (*word == ')') {
            leave(&t, &open[--n]);
            continue;
        }
        *at = '\0';
        open[n] = (struct item){.region = definitions_region(&s->defs, word)};
        open[n].from = strtoull(at + 1, &at, 10);
        open[n].to = strtoull(at + 1, &at, 10);
        open[n].does = at;
        enter(&t, &open[n++]);
        if (*at == '\0' || at[strlen(at) - 1] != '(')
            leave(&t, &open[--n]);
    }
    callstack_begin(stack, &s->calls[rank], &s->quality[rank]);
    callstack_push(stack, &t.events.all, 0, t.events.all.n);
    callstack_end(stack);
    callstack_free(stack);
    spans_find_barriers(&s->calls[rank], &s->defs);
    event_list_release(&t.events);
    free(copy);
}

/* As the columns of a run have it. */
static void sort_by_depth(struct sample_view *s, uint32_t l, struct call_view *view)
{
    const struct calls *calls = &s->calls[l];
    uint32_t n = 0, n_depths = 0;

    for (uint32_t i = 0; i < calls->n; i++)
        n_depths = calls->depth[i] >= n_depths ? calls->depth[i] + 1u : n_depths;
    s->by_depth[l] = calloc(calls->n + 1, sizeof(uint32_t));
    s->depth_start[l] = calloc(n_depths + 1, sizeof(uint64_t));
    for (uint32_t d = 0; d < n_depths; d++) {
        for (uint32_t i = 0; i < calls->n; i++)
            if (calls->depth[i] == d)
                s->by_depth[l][n++] = i;
        s->depth_start[l][d + 1] = n;
    }
    view->by_depth = s->by_depth[l];
    view->depth_start = s->depth_start[l];
    view->n_depths = n_depths;
}

void sample_view_init(struct sample_view *s, uint32_t n_ranks, const char *const *text)
{
    struct call_view *views = calloc(n_ranks, sizeof *views);
    uint32_t world, group = 0;

    *s = (struct sample_view){0};
    world = definitions_comm(&s->defs, "MPI_COMM_WORLD", n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++) {
        group = text[r][0] == '+' ? group : r;
        definitions_location(&s->defs, r, "", group);
        s->defs.comm[world].member[r] = r;
    }
    definitions_finish(&s->defs, NULL, 0);
    traffic_init(&s->traffic, n_ranks, NULL);
    for (uint32_t r = 0; r < n_ranks; r++) {
        tell(s, r, text[r]);
        traffic_append(&s->traffic, r, &s->calls[r]);
    }
    traffic_match(&s->traffic, &s->defs, s->quality);
    teams_match(&s->traffic, &s->defs);
    for (uint32_t r = 0; r < n_ranks; r++) {
        views[r] = calls_view(&s->calls[r]);
        views[r].message = s->traffic.message + s->traffic.first_message[r];
        views[r].collective = s->traffic.collective + s->traffic.first_collective[r];
        if (views[r].n_spans > 0)
            views[r].span = s->traffic.span + s->traffic.first_span[r];
        sort_by_depth(s, r, &views[r]);
    }
    trace_view_init(&s->view, &s->defs, views, s->traffic.message);
    s->view.is_whole = true;
}

void sample_view_release(struct sample_view *s)
{
    trace_view_release(&s->view);
    traffic_release(&s->traffic);
    for (int r = 0; r < SAMPLE_VIEW_MAX_RANKS; r++) {
        calls_release(&s->calls[r]);
        free(s->by_depth[r]);
        free(s->depth_start[r]);
    }
    definitions_release(&s->defs);
}
