/*
 *     chunk:  | header | events ............ | what is kept for the end |
 *             0                              end                        reserved
 *
 * What is kept for the end is enough for the records that the slots hold, in case that the
 * process is killed, or for the leaves of open calls, when there is no more room. The first
 * chunk is reserved piece by piece, as there may be thousands of threads that do little; each
 * other one as a whole, before the one before it is given to the file.
 */
#include "event_files.h"

#include "budget.h"
#include "complain.h"
#include "memory.h"
#include "state.h"
#include "trace/tracer/tracer_otf2.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES ((size_t)64 << 10)
#define KEPT_BYTES ((size_t)CHUNK_SLOTS * TRACER_OTF2_MAX_SLOT_BYTES)

struct event_file {
    struct state_location *state;
    char *path;
    struct state_block *block; /* with the chunk; NULL: there is none yet */
    size_t reserved; /* bytes of the chunk that are on the disk, there and in the file */
    bool has_next;   /* room for the next chunk is kept in the file */
    struct tracer_otf2 out;
    struct state_commit now;
};

static uint8_t *chunk_of(const struct event_file *f)
{
    return (uint8_t *)(f->block + 1);
}

/* One line for all threads: the first is the reason, the others follow. */
static void complain_once(const char *path, int error)
{
    static atomic_bool is_said;

    if (!atomic_exchange(&is_said, true))
        complain("rank %u cannot write its events: '%s': %s; what was written until now is "
                 "kept, the program goes on",
                 state_head()->rank, path, strerror(error));
}

/* ------------------------------------------------------------------------------------ begin */

static char *path_of(const struct recorder *r)
{
    uint64_t id = (uint64_t)r->thread << 32 | state_head()->rank;
    char path[4096], name[32];

    snprintf(name, sizeof name, "%llu.evt", (unsigned long long)id);
    return state_path(path, sizeof path, name) ? memory_copy(path) : NULL;
}

static bool begin(struct recorder *r, struct lasting *lasting)
{
    struct state_location *state = (struct state_location *)state_add(
        STATE_LOCATION, r->thread, sizeof *state, sizeof *state);
    struct event_file *f;

    if (state == NULL) {
        atomic_store(&state_head()->lost_error, (uint32_t)errno);
        complain_once("traces.unfinished", errno);
        return false;
    }
    f = memory_resize(NULL, 1, sizeof *f);
    *f = (struct event_file){.state = state, .path = path_of(r)};
    state->first_slot = (uint64_t)(uintptr_t)state->slot;
    atomic_store(&state->next, state->first_slot);
    r->location = f;
    *lasting = (struct lasting){.chunk = (struct chunk *)(void *)state->of_tracer,
                                .next = &state->next,
                                .open = state->open,
                                .n_open = STATE_OPEN_CALLS};
    return true;
}

static struct entered_call *deepen(struct recorder *r, uint32_t n)
{
    struct event_file *f = r->location;
    size_t bytes = sizeof(struct state_block) + n * sizeof(struct entered_call);
    struct state_block *block = f ? state_add(STATE_OPEN, r->thread, bytes, bytes) : NULL;
    struct entered_call *open;

    if (block == NULL) {
        if (f)
            atomic_store(&f->state->open_at, STATE_UNKNOWN);
        return NULL;
    }
    open = (struct entered_call *)(void *)(block + 1);
    memcpy(open, r->open, r->n_open * sizeof *open);
    atomic_store_explicit(&f->state->open_at, state_at(block), memory_order_release);
    return open;
}

/* ------------------------------------------------------------------------------------- room */

static bool begin_file(struct event_file *f, uint32_t thread)
{
    size_t head = sizeof *f->block;

    if (f->path == NULL)
        errno = ENAMETOOLONG;
    if (f->path == NULL || !state_create(f->path) ||
        !state_write(f->path, NULL, PIECE_BYTES, 0))
        return false;
    f->block = state_add(STATE_CHUNK, thread, head + TRACER_OTF2_CHUNK, head + PIECE_BYTES);
    if (f->block == NULL)
        return false;
    f->reserved = PIECE_BYTES;
    tracer_otf2_begin(&f->out, chunk_of(f), f->reserved - KEPT_BYTES);
    atomic_store_explicit(&f->state->chunk_at, state_at(f->block), memory_order_release);
    return true;
}

static bool extend(struct event_file *f)
{
    size_t head = sizeof *f->block, more = f->reserved + PIECE_BYTES;

    more = more < TRACER_OTF2_CHUNK ? more : TRACER_OTF2_CHUNK;
    if (!state_write(f->path, NULL, more - f->reserved, f->reserved) ||
        !state_reserve(f->block, head + f->reserved, head + more))
        return false;
    f->reserved = more;
    f->out.end = chunk_of(f) + more - KEPT_BYTES;
    return true;
}

static void commit(struct event_file *f)
{
    uint32_t other = !atomic_load_explicit(&f->state->current, memory_order_relaxed);

    f->now.n_bytes = f->block ? (uint32_t)(f->out.at - chunk_of(f)) : 0;
    f->now.n_events = f->out.n_events;
    f->now.last_ns = f->out.time_ns;
    f->now.n_open = f->out.n_open;
    f->state->commit[other] = f->now;
    atomic_store_explicit(&f->state->current, other, memory_order_release);
}

static bool write_chunk(struct event_file *f)
{
    uint64_t offset = f->now.n_chunks * TRACER_OTF2_CHUNK;

    tracer_otf2_end(&f->out, chunk_of(f), TRACER_OTF2_CHUNK);
    if (!state_write(f->path, chunk_of(f), TRACER_OTF2_CHUNK, offset))
        return false;
    f->now.n_chunks++;
    f->has_next = false;
    return true;
}

/* The chunk is full up to what is kept. */
static bool make_room(struct event_file *f, uint32_t thread)
{
    if (f->block == NULL)
        return begin_file(f, thread);
    if (f->reserved < TRACER_OTF2_CHUNK)
        return extend(f);
    if (!f->has_next) {
        if (!state_write(f->path, NULL, TRACER_OTF2_CHUNK,
                         (f->now.n_chunks + 1) * TRACER_OTF2_CHUNK))
            return false;
        f->has_next = true;
        f->out.end = chunk_of(f) + TRACER_OTF2_CHUNK - TRACER_OTF2_END;
        return true;
    }
    if (!write_chunk(f))
        return false;
    f->out.at = chunk_of(f); /* of which nothing is in this chunk yet */
    commit(f);
    tracer_otf2_begin(&f->out, chunk_of(f), TRACER_OTF2_CHUNK - KEPT_BYTES);
    return true;
}

/* ------------------------------------------------------------------------------------- take */

/* What is no leave of a call in the file is lost; and that, where there is no room for it. */
static const union slot *lose(struct event_file *f, const union slot *slot)
{
    uint32_t n_slots = record_slots(slot->head.kind);
    const union slot *next = slot + (n_slots ? n_slots : 1);

    if (tracer_otf2_lose(&f->now, slot))
        tracer_otf2_put(&f->out, slot, next);
    return next;
}

/* Of a thread that has no location. */
static void count_lost(const union slot *slot, const union slot *end)
{
    uint64_t n = 0;

    for (; slot < end; slot += record_slots(slot->head.kind))
        n += record_is_enter(slot->head.kind);
    atomic_fetch_add(&state_head()->n_lost, n);
}

static void take(struct recorder *r, const union slot *slot, size_t n)
{
    struct event_file *f = r->location;
    const union slot *end = slot + n;

    if (f == NULL) {
        count_lost(slot, end);
        return;
    }
    if (f->now.n_events == 0 && n > 0)
        f->now.first_ns = slot->head.time_ns;
    while (slot < end) {
        const union slot *next = f->now.has_ended ? lose(f, slot)
                                 : f->block       ? tracer_otf2_put(&f->out, slot, end)
                                                  : slot;

        f->now.n_slots += (uint64_t)(next - slot);
        slot = next;
        if (slot < end && !f->now.has_ended && !make_room(f, r->thread)) {
            /* Nothing but leaves from now on. */
            int error = errno;

            f->now.has_ended = true;
            atomic_store(&f->state->error, (uint32_t)error);
            f->out.end = f->block ? chunk_of(f) + f->reserved - TRACER_OTF2_END : f->out.at;
            complain_once(f->path ? f->path : "", error);
        }
    }
    commit(f);
}

static void emptied(struct recorder *r)
{
    struct event_file *f = r->location;

    if (f)
        atomic_store_explicit(&f->state->n_slots_before, f->now.n_slots, memory_order_release);
    event_files_note(r);
}

const struct sink event_files_sink = {
    .begin = begin, .deepen = deepen, .take = take, .emptied = emptied, .is_quick = false};

void event_files_note(const struct recorder *r)
{
    const struct event_file *f = r->location;

    if (f == NULL)
        return;
    atomic_store(&f->state->processor_ns, budget_processor_ns(r));
    atomic_store(&f->state->cost_ns, budget_cost_ns(r));
    atomic_store(&f->state->once_ns, budget_once_ns(r));
    atomic_store(&f->state->n_polls, r->n_polls);
    atomic_store(&f->state->n_missed, r->n_refused + r->n_skipped);
    atomic_store(&f->state->n_early, r->n_skipped);
}

uint64_t event_files_lost(const struct recorder *newest)
{
    uint64_t n = atomic_load(&state_head()->n_lost);

    for (const struct recorder *r = newest; r; r = r->older) {
        const struct event_file *f = r->location;

        n += f ? f->now.n_lost + r->n_refused : 0;
    }
    return n;
}

int event_files_error(const struct recorder *newest)
{
    uint32_t error = atomic_load(&state_head()->error);

    error = error ? error : atomic_load(&state_head()->lost_error);
    for (const struct recorder *r = newest; r && error == 0; r = r->older) {
        const struct event_file *f = r->location;

        error = f ? atomic_load(&f->state->error) : 0;
    }
    return (int)error;
}
