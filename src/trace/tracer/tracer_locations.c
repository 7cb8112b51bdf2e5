/* Times are kept as said, to be compared, and events get them as far as they do not decrease.
 */
#include "trace/tracer/tracer_locations.h"

#include "base/mem.h"
#include "trace/event.h"
#include "trace/monotone.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_LOCATIONS 16384
#define MAX_REQUESTS 65536 /* of one location; a program that has more loses the oldest */

static void location_release(struct tracer_location *location)
{
    event_list_release(&location->waiting);
    event_list_release(&location->spare);
    requests_release(&location->requests);
    free(location->open);
    free(location->n_collectives);
}

void tracer_run_release(struct tracer_run *run)
{
    for (uint32_t i = 0; i < run->defs.n_locations; i++)
        location_release(&run->location[i]);
    free(run->location);
    free(run->process);
    idmap_release(&run->location_id);
    idmap_release(&run->comm);
    idmap_release(&run->rank);
    definitions_release(&run->defs);
    *run = (struct tracer_run){0};
}

bool tracer_run_is_of(const struct tracer_run *run, const struct tracer_process *p)
{
    uint32_t at = idmap_find(&run->rank, key_pair(0, p->rank));
    uint64_t job = run->rank.n > 0 ? run->process[0].job : p->job;

    if (run->rank.n > 0 && (p->job != job || p->n_ranks != run->n_expected))
        return false;
    return at == IDMAP_NONE ||
           (run->process[at].pid == p->pid && run->process[at].start_ns == p->start_ns);
}

bool tracer_run_meet(struct tracer_run *run, const struct tracer_process *p)
{
    uint32_t n_before = run->rank.n, at = idmap_add(&run->rank, key_pair(0, p->rank));

    mem_grow(&run->process, &run->process_cap, (size_t)at + 1);
    run->process[at] = *p;
    if (p->n_ranks > run->n_expected)
        run->n_expected = p->n_ranks;
    return run->rank.n > n_before;
}

/* Since the start of the trace; what came before that is at 0. */
static uint64_t time_of(const struct tracer_run *run, uint64_t clock_ns)
{
    return time_before(clock_ns, run->origin_ns) ? 0 : clock_ns - run->origin_ns;
}

struct tracer_location *tracer_run_location(struct tracer_run *run, uint32_t rank,
                                            uint32_t thread)
{
    struct key key = key_pair(rank, thread);
    uint32_t at = idmap_find(&run->location_id, key);
    struct location *defined;
    char name[32];

    if (at != IDMAP_NONE)
        return &run->location[at];
    if (run->defs.n_locations >= MAX_LOCATIONS)
        return NULL;
    snprintf(name, sizeof name, thread ? "Thread %u" : "Master thread", thread);
    at = idmap_add(&run->location_id, key);
    defined = definitions_location(&run->defs, (uint64_t)thread << 32 | rank, name, rank);
    defined->rank = rank;
    defined->thread = thread;
    if (rank >= run->defs.n_ranks)
        run->defs.n_ranks = rank + 1;
    mem_grow(&run->location, &run->location_cap, (size_t)at + 1);
    run->location[at] = (struct tracer_location){.rank = rank};
    return &run->location[at];
}

/* The time for the next event of the location. */
static uint64_t advance(struct tracer_run *run, struct tracer_location *location,
                        uint64_t clock_ns)
{
    uint64_t time_ns = time_of(run, clock_ns);

    if (time_ns > location->last_ns)
        location->last_ns = time_ns;
    run->n_waiting++;
    return location->last_ns;
}

/* An event that has no details; moved up if it is before the last one. */
static void push(struct tracer_run *run, struct tracer_location *location, uint64_t clock_ns,
                 enum event_kind kind, uint32_t ref)
{
    event_list_push(&location->waiting, advance(run, location, clock_ns), kind, ref);
}

/* ---------------------------------------------------------------------------------- calls */

void tracer_location_enter(struct tracer_run *run, struct tracer_location *location,
                           uint64_t clock_ns, uint32_t region)
{
    *mem_push(&location->open, &location->n_open, &location->open_cap) =
        (struct tracer_call){region, clock_ns};
    push(run, location, clock_ns, EVENT_ENTER, region);
}

bool tracer_location_estimate(struct tracer_run *run, struct tracer_location *location,
                              uint64_t clock_ns, bool is_leave, uint64_t off_ns)
{
    if (location->n_open == 0)
        return false;
    *event_list_estimate(&location->waiting, advance(run, location, clock_ns)) =
        (struct time_estimate){.region = location->open[location->n_open - 1].region,
                               .is_leave = is_leave,
                               .off_ns = off_ns};
    return true;
}

bool tracer_location_leave(struct tracer_run *run, struct tracer_location *location,
                           uint64_t clock_ns)
{
    if (location->n_open == 0)
        return false;
    push(run, location, clock_ns, EVENT_LEAVE, location->open[--location->n_open].region);
    return true;
}

void tracer_location_settle(struct tracer_run *run, struct tracer_location *location,
                            const struct tracer_call *open, size_t n_open)
{
    size_t n_same = 0;

    while (n_same < n_open && n_same < location->n_open &&
           open[n_same].region == location->open[n_same].region &&
           open[n_same].enter_ns == location->open[n_same].enter_ns)
        n_same++;
    while (location->n_open > n_same)
        tracer_location_leave(run, location, location->clock_ns);
    for (size_t i = n_same; i < n_open; i++)
        tracer_location_enter(run, location, open[i].enter_ns, open[i].region);
}

/* ------------------------------------------------------------------- messages and the rest */

void tracer_location_forget_requests(struct tracer_run *run, struct tracer_location *location)
{
    run->quality->n[QUALITY_unfinished_request] += requests_clear(&location->requests);
    location->is_in_collective = false;
}

static void post(struct tracer_run *run, struct tracer_location *location, uint64_t clock_ns,
                 uint64_t request, uint32_t ref)
{
    if (location->requests.n >= MAX_REQUESTS)
        tracer_location_forget_requests(run, location);
    run->quality->n[QUALITY_unfinished_request] +=
        requests_post(&location->requests, request, time_of(run, clock_ns), ref);
}

bool tracer_location_message(struct tracer_run *run, struct tracer_location *location,
                             uint64_t clock_ns, const struct tracer_message *m)
{
    uint32_t peer = definitions_peer(&run->defs, m->comm, location->rank, m->peer);
    bool is_end = m->kind == MESSAGE_RECV && m->has_request; /* of one that was posted */
    struct posted_request posted = {0};
    bool is_known = is_end && requests_take(&location->requests, m->request, &posted);
    struct message *message;

    if (peer == NO_RANK)
        return false;
    if (m->has_request && !is_end)
        post(run, location, clock_ns, m->request, location->n_messages);
    message = event_list_message(&location->waiting, advance(run, location, clock_ns));
    *message = (struct message){
        .begin_ns = is_known ? posted.time_ns : location->last_ns,
        .bytes = m->bytes,
        .match = MESSAGE_UNMATCHED,
        .peer = peer,
        .comm = m->comm,
        .tag = m->tag,
        .order = is_known ? posted.ref : location->n_posted++,
        .kind = m->kind,
    };
    location->n_messages++;
    return true;
}

void tracer_location_post(struct tracer_run *run, struct tracer_location *location,
                          uint64_t clock_ns, uint64_t request)
{
    post(run, location, clock_ns, request, location->n_posted++);
}

void tracer_location_sent(struct tracer_run *run, struct tracer_location *location,
                          uint64_t clock_ns, uint64_t request)
{
    struct posted_request posted;

    if (requests_take(&location->requests, request, &posted))
        push(run, location, clock_ns, EVENT_SENT, posted.ref);
}

void tracer_location_starts(struct tracer_run *run, struct tracer_location *location,
                            uint64_t clock_ns, uint64_t request)
{
    post(run, location, clock_ns, request, 0);
}

/* On this machine's clock; of the end where it is not known. */
static uint64_t collective_begin(struct tracer_run *run, struct tracer_location *location,
                                 uint64_t clock_ns, const struct tracer_collective *c)
{
    struct posted_request posted;

    if (!c->has_request)
        return time_of(run, location->is_in_collective ? location->collective_ns : clock_ns);
    return requests_take(&location->requests, c->request, &posted) ? posted.time_ns
                                                                   : time_of(run, clock_ns);
}

static uint32_t next_order(struct tracer_location *location, uint32_t comm)
{
    mem_grow(&location->n_collectives, &location->comms_cap, (size_t)comm + 1);
    while (location->n_comms <= comm)
        location->n_collectives[location->n_comms++] = 0;
    return location->n_collectives[comm]++;
}

/* As in an archive: who is root decides, and where nothing is said nobody waits. */
void tracer_location_collective(struct tracer_run *run, struct tracer_location *location,
                                uint64_t clock_ns, const struct tracer_collective *c)
{
    uint64_t begin_ns = collective_begin(run, location, clock_ns, c);
    uint32_t kind = c->kind, root = NO_ROOT;

    if (kind == COLLECTIVE_ONE_TO_ALL || kind == COLLECTIVE_ALL_TO_ONE) {
        root = definitions_peer(&run->defs, c->comm, location->rank, c->root);
        if (root == NO_RANK)
            kind = COLLECTIVE_OTHER;
    }
    if (kind != COLLECTIVE_BARRIER && c->sent_bytes == 0 && c->received_bytes == 0)
        kind = COLLECTIVE_OTHER;
    *event_list_collective(&location->waiting, advance(run, location, clock_ns)) =
        (struct collective){
            .begin_ns = begin_ns,
            .sent_bytes = c->sent_bytes,
            .received_bytes = c->received_bytes,
            .comm = c->comm,
            .kind = kind,
            .root = root,
            .order = next_order(location, c->comm),
            .instance = NO_INSTANCE,
        };
    location->is_in_collective &= c->has_request;
}

void tracer_location_counter(struct tracer_run *run, struct tracer_location *location,
                             uint64_t clock_ns, uint32_t counter, int64_t value)
{
    if (run->wants_counters)
        *event_list_counter(&location->waiting, advance(run, location, clock_ns)) =
            (struct counter_value){.counter = counter, .whole = value};
}

/* ------------------------------------------------------------------------------ forgetting */

static void clear(struct event_batch *batch)
{
    batch->n = batch->n_messages = batch->n_collectives = batch->n_counters = 0;
    batch->n_estimates = 0;
}

void tracer_location_trim(struct tracer_location *location)
{
    struct event_cursor rest = {&location->waiting, location->at};
    size_t n = location->waiting.all.n - location->at;
    struct event_list swapped;

    if (location->at == 0 || location->at < n)
        return;
    mem_grow(&location->spare.all.event, &location->spare.all.event_cap, n);
    event_cursor_next(&rest, &location->spare.all, n);
    swapped = location->waiting;
    location->waiting = location->spare;
    location->spare = swapped;
    clear(&location->spare.all);
    location->at = 0;
}
