/*
 * The loop over function events is what all of it costs: a row of the same location as the one
 * before, of a known type and a timer with a small number takes no search.
 */
#include "trace/tau/tau_decoder.h"

#include "base/mem.h"
#include "trace/monotone.h"
#include "trace/source.h"
#include "trace/tau/tau_step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PROGRAMS (1u << 16)
#define MOST_RANKS (1u << 24)
#define MOST_THREADS (1u << 20)
#define LEAP_US 86400000000u        /* a day in which a thread does nothing is a wrong time, */
#define MOST_LEAPS 2                /* unless as many rows and one more agree on it */
#define MOST_US ((uint64_t)1 << 52) /* after 1970 that is 2112 */
#define MOST_FOR_ORIGIN 63

/* What was used before it had a name: it has none yet, or has one now. */
enum { LATE_NAMELESS, LATE_NAMED };

enum { TYPE_UNKNOWN, TYPE_ENTRY, TYPE_EXIT, TYPE_SEND, TYPE_RECV };

void tau_decoder_init(struct tau_decoder *d)
{
    d->last_key[0] = UINT64_MAX;
    d->defs->ticks_per_s = TAU_TICKS_PER_S;
}

void tau_decoder_release(struct tau_decoder *d)
{
    for (uint32_t i = 0; i < d->lane_id.n; i++) {
        event_batch_release(&d->lane[i].batch);
        free(d->lane[i].extra);
    }
    free(d->lane);
    idmap_release(&d->lane_id);
    idtable_release(&d->timer);
    idtable_release(&d->counter);
    idtable_release(&d->program);
    idtable_release(&d->late_timer);
    idtable_release(&d->late_counter);
    *d = (struct tau_decoder){0};
}

/* --------------------------------------------------------------------------- who and what */

static uint32_t program_of(struct tau_decoder *d, uint32_t number)
{
    uint32_t program = idtable_get(&d->program, number);
    char name[512];

    if (program != IDMAP_NONE)
        return program;
    snprintf(name, sizeof name, "%.480s/%u", d->file_program, number);
    program = names_add(d->programs, name);
    idtable_set(&d->program, number, program);
    return program;
}

static void make_location(struct tau_decoder *d, struct tau_lane *lane)
{
    struct definitions *defs = d->defs;
    uint64_t group = (uint64_t)lane->program << 32 | lane->rank;
    struct location *location;
    char name[32] = "Master thread";

    if (lane->thread > 0)
        snprintf(name, sizeof name, "Thread %u", lane->thread);
    lane->location = defs->n_locations;
    location = definitions_location(defs, lane->thread, name, group);
    location->program = lane->program;
    location->rank = lane->rank;
    location->thread = lane->thread;
    if (lane->rank >= defs->n_ranks)
        defs->n_ranks = lane->rank + 1;
    while (defs->n_comms <= lane->program)
        definitions_comm(defs, "MPI_COMM_WORLD", 0);
}

static struct tau_lane *lane_of(struct tau_decoder *d, uint32_t program, uint32_t rank,
                                uint32_t thread)
{
    uint32_t n_before = d->lane_id.n;
    uint32_t at = idmap_add(&d->lane_id, key_quad(0, program, rank, thread));

    if (at < n_before)
        return &d->lane[at];
    mem_grow(&d->lane, &d->lane_cap, (size_t)at + 1, sizeof *d->lane);
    d->lane[at] = (struct tau_lane){
        .program = program_of(d, program),
        .rank = rank,
        .thread = thread,
        .location = NO_LOCATION,
        .next_extra_us = UINT64_MAX,
        .floor_ns = MONOTONE_NO_FLOOR,
    };
    if (d->makes_locations)
        make_location(d, &d->lane[at]);
    return &d->lane[at];
}

/* The location of a row, or NULL if there can be none of that number. */
static struct tau_lane *lane_of_row(struct tau_decoder *d, const uint64_t *row)
{
    if (row[0] == d->last_key[0] && row[1] == d->last_key[1] && row[2] == d->last_key[2])
        return &d->lane[d->last_lane];
    if (row[0] >= MOST_PROGRAMS || row[1] >= MOST_RANKS || row[2] >= MOST_THREADS)
        return NULL;
    memcpy(d->last_key, row, sizeof d->last_key);
    d->last_lane =
        (uint32_t)(lane_of(d, (uint32_t)row[0], (uint32_t)row[1], (uint32_t)row[2]) - d->lane);
    return &d->lane[d->last_lane];
}

/*
 * Who comes late to a stream does not hear what was defined before. Names are lost then, but
 * TAU numbers the types of events in the order in which it first meets them.
 */
static void guess_event_types(struct tau_decoder *d)
{
    static const uint8_t usual[] = {TYPE_ENTRY, TYPE_EXIT, TYPE_SEND, TYPE_RECV};

    memcpy(d->event_type, usual, sizeof usual);
    d->has_types = true;
    d->quality->n[QUALITY_missing_definitions]++;
}

static int type_of(const struct tau_decoder *d, uint64_t type)
{
    return type < sizeof d->event_type ? d->event_type[type] : TYPE_UNKNOWN;
}

static void set_origin(struct definitions *defs, uint64_t us)
{
    defs->has_wall_time = true;
    defs->origin_ticks = us;
    defs->wall_time_ns = us * 1000;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* The earliest start that a process states, no more than a day before us. */
static uint64_t stated_start(const struct definitions *defs, uint64_t us)
{
    uint64_t start = us;

    for (size_t i = 0; i < defs->n_metadata; i++) {
        uint64_t said;

        if (strcmp(defs->metadata[i].key, "Starting Timestamp") != 0)
            continue;
        said = strtoull(defs->metadata[i].value, NULL, 10);
        if (said < start && said + LEAP_US > us)
            start = said;
    }
    return start;
}

/*
 * The trace starts where its processes say, or, more or less, where the first rows are: their
 * median, if the first of them is far from that.
 */
static void find_origin(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    uint64_t us[MOST_FOR_ORIGIN], first = row[5], median;

    n = n < MOST_FOR_ORIGIN ? n : MOST_FOR_ORIGIN;
    for (size_t i = 0; i < n; i++)
        us[i] = row[i * TAU_EVENT_COLUMNS + 5];
    qsort(us, n, sizeof *us, by_size);
    median = us[n / 2];
    if (first + LEAP_US < median || first > median + LEAP_US)
        first = median;
    set_origin(d->defs, stated_start(d->defs, first));
}

static uint64_t ns_of(struct tau_decoder *d, uint64_t us)
{
    if (!d->defs->has_wall_time)
        set_origin(d->defs, us);
    return (us - d->defs->origin_ticks) * 1000;
}

/* ----------------------------------------------------------------------------- attributes */

/* The number after a word, as in "timer 12". False if there is none, or more than that. */
static bool number_behind(const char *text, uint32_t *number)
{
    unsigned long value;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return *end == '\0' && value < UINT32_MAX;
}

/*
 * A second name for a number is as good as the first: which is wrong cannot be known. But for
 * one that was used before it had any, and was given one by us.
 */
static void set_once(struct tau_decoder *d, struct idtable *table, struct idtable *late,
                     uint32_t number, uint32_t value)
{
    uint32_t before = idtable_get(table, number);

    if (before == IDMAP_NONE || before == value) {
        idtable_set(table, number, value);
    } else if (idtable_get(late, number) == LATE_NAMELESS) {
        idtable_set(table, number, value);
        idtable_set(late, number, LATE_NAMED);
    } else {
        d->quality->n[QUALITY_bad_definition]++;
    }
}

static void define_timer(struct tau_decoder *d, uint32_t number, const char *name)
{
    set_once(d, &d->timer, &d->late_timer, number,
             definitions_region(d->defs, *name ? name : "(no name)"));
}

static void define_counter(struct tau_decoder *d, uint32_t number, const char *name)
{
    set_once(d, &d->counter, &d->late_counter, number, names_add(&d->defs->counters, name));
}

static void define_event_type(struct tau_decoder *d, uint32_t number, const char *name)
{
    static const char *const names[] = {"", "ENTRY", "EXIT", "SEND", "RECV"};

    if (number >= sizeof d->event_type)
        return;
    d->has_types = true;
    for (uint8_t i = TYPE_ENTRY; i <= TYPE_RECV; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        if (d->event_type[number] != TYPE_UNKNOWN && d->event_type[number] != i)
            d->quality->n[QUALITY_bad_definition]++;
        else
            d->event_type[number] = i;
    }
}

/* What says that a thread is a GPU's stream. */
static void note_gpu(struct tau_decoder *d, struct tau_lane *lane, const char *key,
                     const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    struct location *location;

    if (strcmp(key, "CUDA Device") == 0 || strcmp(key, "ROCM_GPU_ID") == 0)
        lane->gpu_device = number;
    else if (strcmp(key, "CUDA Context") == 0)
        lane->gpu_context = number;
    else if (strcmp(key, "CUDA Stream") == 0 || strcmp(key, "ROCM_QUEUE_ID") == 0)
        lane->gpu_stream = number;
    else
        return;
    lane->is_gpu = true;
    if (lane->location == NO_LOCATION)
        return;
    location = &d->defs->location[lane->location];
    location->is_gpu = true;
    location->gpu_device = lane->gpu_device;
    location->gpu_context = lane->gpu_context;
    location->gpu_stream = lane->gpu_stream;
}

/* "0:3:1:Hostname", or without the program: up to three numbers and the rest. */
static void define_metadata(struct tau_decoder *d, const char *text, const char *value)
{
    uint64_t number[3];
    const char *key = text;
    size_t n = 0;

    while (n < 3 && *key >= '0' && *key <= '9') {
        char *end;

        number[n] = strtoul(key, &end, 10);
        if (*end != ':')
            break;
        n++;
        key = end + 1;
    }
    if (n == 2) {
        number[2] = number[1];
        number[1] = number[0];
        number[0] = 0;
    }
    if (n < 2 || number[0] >= MOST_PROGRAMS || number[1] >= MOST_RANKS ||
        number[2] >= MOST_THREADS) {
        d->quality->n[QUALITY_bad_definition]++;
        return;
    }
    definitions_metadata(d->defs, &(struct metadata){
                                      .program = program_of(d, (uint32_t)number[0]),
                                      .rank = (uint32_t)number[1],
                                      .thread = (uint32_t)number[2],
                                      .key = key,
                                      .value = value,
                                  });
    if (strncmp(key, "CUDA ", 5) == 0 || strncmp(key, "ROCM_", 5) == 0)
        note_gpu(d, lane_of(d, (uint32_t)number[0], (uint32_t)number[1], (uint32_t)number[2]),
                 key, value);
}

static bool is_behind(const char **text, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(*text, prefix, n) != 0)
        return false;
    *text += n;
    return true;
}

static void define(struct tau_decoder *d, const char *name, const char *value)
{
    uint32_t number = 0;
    bool is_good = true;

    if (is_behind(&name, "timer ")) {
        if ((is_good = number_behind(name, &number)))
            define_timer(d, number, value);
    } else if (is_behind(&name, "event_type ")) {
        if ((is_good = number_behind(name, &number)))
            define_event_type(d, number, value);
    } else if (is_behind(&name, "counter ")) {
        if ((is_good = number_behind(name, &number)))
            define_counter(d, number, value);
    } else if (is_behind(&name, "program_name ")) {
        if ((is_good = number_behind(name, &number)) && number < MOST_PROGRAMS)
            program_of(d, number);
    } else if (is_behind(&name, "MetaData:")) {
        define_metadata(d, name, value);
    }
    if (!is_good)
        d->quality->n[QUALITY_bad_definition]++;
}

static void take_attributes(struct tau_decoder *d, const char *text, size_t bytes)
{
    const char *end = text + bytes;

    while (text < end) {
        const char *value = memchr(text, '\0', (size_t)(end - text)), *after;

        if (value == NULL || ++value == end)
            return;
        after = memchr(value, '\0', (size_t)(end - value));
        if (after == NULL)
            return;
        define(d, text, value);
        text = after + 1;
    }
}

/* -------------------------------------------------------------------- messages and counters */

/* In order of time; nearly always that is after the last one. */
static void add_extra(struct tau_lane *lane, const struct tau_extra *extra)
{
    size_t at;

    if (lane->next_extra == lane->n_extra)
        lane->next_extra = lane->n_extra = lane->n_old_extra = 0;
    mem_grow(&lane->extra, &lane->extra_cap, lane->n_extra + 1, sizeof *lane->extra);
    at = lane->n_extra++;
    while (at > lane->next_extra && lane->extra[at - 1].us > extra->us) {
        lane->extra[at] = lane->extra[at - 1];
        at--;
    }
    lane->extra[at] = *extra;
    lane->next_extra_us = lane->extra[lane->next_extra].us;
}

static void take_messages(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++, row += TAU_MESSAGE_COLUMNS) {
        struct tau_lane *lane = lane_of_row(d, row);
        int type = type_of(d, row[3]);

        if (lane == NULL || (type != TYPE_SEND && type != TYPE_RECV) || row[5] >= MOST_RANKS ||
            row[7] > MOST_US) {
            d->quality->n[QUALITY_bad_value]++;
            continue;
        }
        add_extra(lane, &(struct tau_extra){
                            .us = row[7],
                            .value = row[6],
                            .what = NAMES_NONE,
                            .peer = (uint32_t)row[5],
                            .tag = (uint32_t)row[4],
                            .kind = type == TYPE_SEND ? MESSAGE_SEND : MESSAGE_RECV,
                        });
    }
}

/* One that is not defined gets a name of its number. */
static uint32_t counter_of(struct tau_decoder *d, uint64_t number)
{
    uint32_t counter =
        number < UINT32_MAX ? idtable_get(&d->counter, (uint32_t)number) : IDMAP_NONE;
    char name[40];

    if (counter != IDMAP_NONE || number >= UINT32_MAX)
        return counter;
    snprintf(name, sizeof name, "(undefined counter %u)", (uint32_t)number);
    counter = names_add(&d->defs->counters, name);
    idtable_set(&d->counter, (uint32_t)number, counter);
    idtable_set(&d->late_counter, (uint32_t)number, LATE_NAMELESS);
    d->quality->n[QUALITY_bad_value]++;
    return counter;
}

static void take_counters(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++, row += TAU_COUNTER_COLUMNS) {
        struct tau_lane *lane = lane_of_row(d, row);
        uint32_t counter = counter_of(d, row[3]);

        if (lane == NULL || counter == IDMAP_NONE || row[5] > MOST_US)
            d->quality->n[QUALITY_bad_value]++;
        else if (d->wants_counters)
            add_extra(lane,
                      &(struct tau_extra){.us = row[5], .value = row[4], .what = counter});
    }
}

static void place_extra(struct tau_decoder *d, struct tau_lane *lane)
{
    const struct tau_extra *extra = &lane->extra[lane->next_extra];
    struct event_batch *batch = &lane->batch;
    uint64_t ns = ns_of(d, extra->us);

    mem_grow(&batch->event, &batch->event_cap, batch->n + 1, sizeof *batch->event);
    if (extra->what == NAMES_NONE)
        *event_batch_message(batch, ns) = (struct message){
            .begin_ns = ns,
            .bytes = extra->value,
            .match = MESSAGE_UNMATCHED,
            .peer = extra->peer,
            .comm = lane->program,
            .tag = extra->tag,
            .order = lane->n_messages++,
            .kind = extra->kind,
        };
    else
        *event_batch_counter(batch, ns) =
            (struct counter_value){.counter = extra->what, .whole = (int64_t)extra->value};
    lane->next_extra++;
    lane->next_extra_us =
        lane->next_extra < lane->n_extra ? lane->extra[lane->next_extra].us : UINT64_MAX;
}

/* ------------------------------------------------------------------------- function events */

static uint32_t region_of_unnamed(struct tau_decoder *d, uint64_t timer)
{
    char name[40];
    uint32_t region;

    d->quality->n[QUALITY_undefined_region]++;
    if (timer >= UINT32_MAX)
        return definitions_region(d->defs, "(undefined timer)");
    snprintf(name, sizeof name, "(undefined timer %u)", (uint32_t)timer);
    region = definitions_region(d->defs, name);
    idtable_set(&d->timer, (uint32_t)timer, region);
    idtable_set(&d->late_timer, (uint32_t)timer, LATE_NAMELESS);
    d->has_late_timer = true;
    return region;
}

static uint32_t region_of(struct tau_decoder *d, uint64_t timer, int type)
{
    uint32_t region =
        timer < IDTABLE_DENSE ? idtable_get_dense(&d->timer, (uint32_t)timer) : IDMAP_NONE;

    if (region == IDMAP_NONE && timer < UINT32_MAX)
        region = idtable_get(&d->timer, (uint32_t)timer);
    if (region == IDMAP_NONE)
        return region_of_unnamed(d, timer);
    if (__builtin_expect(d->has_late_timer, 0) && type == TYPE_EXIT &&
        idtable_get(&d->late_timer, (uint32_t)timer) != IDMAP_NONE)
        return ANY_REGION; /* it may have been entered under its other name */
    return region;
}

/* A time that cannot be is that of the event before, or of the start. */
static uint64_t believable(struct tau_decoder *d, struct tau_lane *lane, uint64_t us)
{
    if (__builtin_expect(us - lane->last_us + LEAP_US <= 2 * LEAP_US, 1)) {
        lane->n_leaps = 0;
        return us;
    }
    if (us <= MOST_US && ++lane->n_leaps > MOST_LEAPS)
        return us;
    d->quality->n[QUALITY_time_backwards]++;
    return lane->last_us;
}

static void take_events(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    if (!d->defs->has_wall_time && n > 0)
        find_origin(d, row, n);
    for (size_t i = 0; i < n; i++, row += TAU_EVENT_COLUMNS) {
        struct tau_lane *lane = lane_of_row(d, row);
        int type = type_of(d, row[3]);
        struct event_batch *batch;
        uint64_t us;

        if (lane == NULL || (type != TYPE_ENTRY && type != TYPE_EXIT)) {
            d->quality->n[QUALITY_bad_value]++;
            continue;
        }
        if (lane->n_events == 0)
            lane->last_us = d->defs->origin_ticks;
        us = believable(d, lane, row[5]);
        while (lane->next_extra_us < us || (lane->next_extra_us == us && type == TYPE_EXIT))
            place_extra(d, lane);
        batch = &lane->batch;
        mem_grow(&batch->event, &batch->event_cap, batch->n + 1, sizeof *batch->event);
        event_batch_push(batch, ns_of(d, us), type == TYPE_ENTRY ? EVENT_ENTER : EVENT_LEAVE,
                         region_of(d, row[4], type));
        lane->last_us = us;
        lane->n_events++;
    }
}

/* -------------------------------------------------------------------------------- the step */

static void end_step(struct tau_decoder *d, const struct tau_step_end *end)
{
    for (uint32_t i = 0; i < d->lane_id.n; i++) {
        struct tau_lane *lane = &d->lane[i];

        while (lane->next_extra < lane->n_extra &&
               (lane->next_extra_us <= lane->last_us || lane->next_extra < lane->n_old_extra))
            place_extra(d, lane);
        lane->n_old_extra = lane->n_extra;
    }
    d->n_short += end->n_short;
    d->quality->n[QUALITY_lost_rows] += end->n_short;
    d->quality->n[QUALITY_bad_record] += end->n_bad;
}

void tau_decoder_block(struct tau_decoder *d, uint32_t kind, const void *data, size_t bytes)
{
    size_t n = bytes / sizeof(uint64_t);

    if (!d->has_types && (kind == TAU_MESSAGES || kind == TAU_EVENTS) && n > 0)
        guess_event_types(d);
    if (kind == TAU_ATTRIBUTES)
        take_attributes(d, data, bytes);
    else if (kind == TAU_MESSAGES)
        take_messages(d, data, n / TAU_MESSAGE_COLUMNS);
    else if (kind == TAU_COUNTERS)
        take_counters(d, data, n / TAU_COUNTER_COLUMNS);
    else if (kind == TAU_EVENTS)
        take_events(d, data, n / TAU_EVENT_COLUMNS);
    else if (kind == TAU_STEP_END && bytes == sizeof(struct tau_step_end))
        end_step(d, data);
}

void tau_decoder_finish(struct tau_decoder *d)
{
    for (uint32_t i = 0; i < d->lane_id.n; i++)
        while (d->lane[i].next_extra < d->lane[i].n_extra)
            place_extra(d, &d->lane[i]);
}
