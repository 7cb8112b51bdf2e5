/*
 * Names of files say what is TAU's; only where a name says nothing does anyone look inside.
 *
 * The loop over function events is what all of it costs: a row of the same location as the one
 * before, of a known type and a timer with a small number takes no search.
 */
#include "trace/tau/tau_decoder.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "trace/monotone.h"
#include "trace/source.h"
#include "trace/tau/tau_step.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ files */

#define METRICS "tau-metrics"
#define CONTACT ".sst"
#define DEFAULT_PATIENCE_S 60

const char *tau_files_path(const char *url)
{
    return strncmp(url, TAU_PREFIX, strlen(TAU_PREFIX)) == 0 ? url + strlen(TAU_PREFIX) : url;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return text_ends_with(path, n, suffix);
}

static bool has_contact(const char *path)
{
    char contact[FS_PATH_SIZE];

    return snprintf(contact, sizeof contact, "%s" CONTACT, path) < (int)sizeof contact &&
           fs_exists(contact);
}

bool tau_files_is_named_so(const char *path)
{
    return has_suffix(path, ".bp") || has_suffix(path, ".bp3") || has_suffix(path, ".bp4") ||
           has_suffix(path, ".bp5");
}

/* BP4 and BP5 are directories with an index in them. */
static bool has_index(const char *path)
{
    char index[FS_PATH_SIZE];

    return fs_join(index, path, "md.idx") == 0 && fs_exists(index);
}

bool tau_files_is_one(const char *path)
{
    if (has_contact(path) || (fs_is_directory(path) && has_index(path)))
        return true;
    return tau_files_is_named_so(path) && fs_exists(path);
}

/* What a name in a directory stands for: "x.bp.sst" for "x.bp", "x.bp.dir" for nothing. */
static bool take_name(char *name)
{
    if (strncmp(name, METRICS, strlen(METRICS)) != 0)
        return false;
    if (has_suffix(name, CONTACT))
        name[strlen(name) - strlen(CONTACT)] = '\0';
    return tau_files_is_named_so(name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

size_t tau_files_find(const char *path, struct names *found)
{
    uint32_t n_before = found->n;
    struct dirent **file = NULL;
    int n;

    if (tau_files_is_one(path) || !fs_is_directory(path)) {
        if (tau_files_is_one(path))
            names_add(found, path);
        return found->n - n_before;
    }
    n = scandir(path, &file, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char full[FS_PATH_SIZE];

        if (take_name(file[i]->d_name) && fs_join(full, path, file[i]->d_name) == 0)
            names_add(found, full);
        free(file[i]);
    }
    free(file);
    return found->n - n_before;
}

void tau_files_program(const char *path, char *out, size_t n)
{
    const char *name = strrchr(path, '/'), *end;

    name = name ? name + 1 : path;
    out[0] = '\0';
    if (strncmp(name, METRICS "-", strlen(METRICS "-")) != 0)
        return;
    name += strlen(METRICS "-");
    end = strrchr(name, '-');
    if (end)
        snprintf(out, n, "%.*s", (int)(end - name), name);
}

unsigned tau_files_patience(void)
{
    const char *patience = getenv("SNAG_PATIENCE");
    int seconds = patience ? atoi(patience) : 0;

    return seconds > 0 ? (unsigned)seconds : DEFAULT_PATIENCE_S;
}

/* ------------------------------------------------------------------------------------- rows */

#define MAX_PROGRAMS (1u << 16)
#define MAX_RANKS (1u << 24)
#define MAX_THREADS (1u << 20)
#define LEAP_US 86400000000u       /* a day in which a thread does nothing is a wrong time, */
#define MAX_LEAPS 2                /* unless as many rows and one more agree on it */
#define MAX_US ((uint64_t)1 << 52) /* after 1970 that is 2112 */
#define MAX_FOR_ORIGIN 63

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
    for (uint32_t i = 0; i < d->location_id.n; i++) {
        event_batch_release(&d->location[i].batch);
        free(d->location[i].extra);
    }
    free(d->location);
    idmap_release(&d->location_id);
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

static void make_location(struct tau_decoder *d, struct tau_location *location)
{
    struct definitions *defs = d->defs;
    uint64_t group = (uint64_t)location->program << 32 | location->rank;
    struct location *defined;
    char name[32] = "Master thread";

    if (location->thread > 0)
        snprintf(name, sizeof name, "Thread %u", location->thread);
    location->defined = defs->n_locations;
    defined = definitions_location(defs, location->thread, name, group);
    defined->program = location->program;
    defined->rank = location->rank;
    defined->thread = location->thread;
    if (location->rank >= defs->n_ranks)
        defs->n_ranks = location->rank + 1;
    while (defs->n_comms <= location->program)
        definitions_comm(defs, "MPI_COMM_WORLD", 0);
}

static struct tau_location *location_of(struct tau_decoder *d, uint32_t program, uint32_t rank,
                                        uint32_t thread)
{
    uint32_t n_before = d->location_id.n;
    uint32_t at = idmap_add(&d->location_id, key_quad(0, program, rank, thread));

    if (at < n_before)
        return &d->location[at];
    mem_grow(&d->location, &d->location_cap, (size_t)at + 1);
    d->location[at] = (struct tau_location){
        .program = program_of(d, program),
        .rank = rank,
        .thread = thread,
        .defined = NO_LOCATION,
        .next_extra_us = UINT64_MAX,
        .floor_ns = MONOTONE_NO_FLOOR,
    };
    if (d->makes_locations)
        make_location(d, &d->location[at]);
    return &d->location[at];
}

/* The location of a row, or NULL if there can be none of that number. */
static struct tau_location *location_of_row(struct tau_decoder *d, const uint64_t *row)
{
    if (row[0] == d->last_key[0] && row[1] == d->last_key[1] && row[2] == d->last_key[2])
        return &d->location[d->last_location];
    if (row[0] >= MAX_PROGRAMS || row[1] >= MAX_RANKS || row[2] >= MAX_THREADS)
        return NULL;
    memcpy(d->last_key, row, sizeof d->last_key);
    d->last_location =
        (uint32_t)(location_of(d, (uint32_t)row[0], (uint32_t)row[1], (uint32_t)row[2]) -
                   d->location);
    return &d->location[d->last_location];
}

/*
 * Who comes late to a stream does not hear what was defined before. Names are lost then, but
 * TAU numbers the types of events in the order in which it first meets them.
 */
static void guess_event_types(struct tau_decoder *d)
{
    static const uint8_t typical[] = {TYPE_ENTRY, TYPE_EXIT, TYPE_SEND, TYPE_RECV};

    memcpy(d->event_type, typical, sizeof typical);
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

    return ORDER(*p, *q);
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

/* When the first rows are, more or less: their median, if the first of them is far from that.
 */
static uint64_t first_time(const uint64_t *row, size_t n)
{
    uint64_t us[MAX_FOR_ORIGIN], first = row[5], median;

    n = n < MAX_FOR_ORIGIN ? n : MAX_FOR_ORIGIN;
    for (size_t i = 0; i < n; i++)
        us[i] = row[i * TAU_EVENT_COLUMNS + 5];
    qsort(us, n, sizeof *us, by_size);
    median = us[n / 2];
    return first + LEAP_US < median || first > median + LEAP_US ? median : first;
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

/* What its events carry is a value of their moment. */
static uint32_t add_counter(struct tau_decoder *d, const char *name)
{
    return definitions_counter(d->defs, name,
                               &(struct counter){COUNTER_ABSOLUTE, COUNTER_AT_POINT, ""});
}

static void define_counter(struct tau_decoder *d, uint32_t number, const char *name)
{
    set_once(d, &d->counter, &d->late_counter, number, add_counter(d, name));
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
static void note_gpu(struct tau_decoder *d, struct tau_location *location, const char *key,
                     const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    struct location *defined;

    if (strcmp(key, "CUDA Device") == 0 || strcmp(key, "ROCM_GPU_ID") == 0)
        location->gpu_device = number;
    else if (strcmp(key, "CUDA Context") == 0)
        location->gpu_context = number;
    else if (strcmp(key, "CUDA Stream") == 0 || strcmp(key, "ROCM_QUEUE_ID") == 0)
        location->gpu_stream = number;
    else
        return;
    location->is_gpu = true;
    if (location->defined == NO_LOCATION)
        return;
    defined = &d->defs->location[location->defined];
    defined->is_gpu = true;
    defined->gpu_device = location->gpu_device;
    defined->gpu_context = location->gpu_context;
    defined->gpu_stream = location->gpu_stream;
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
    if (n < 2 || number[0] >= MAX_PROGRAMS || number[1] >= MAX_RANKS ||
        number[2] >= MAX_THREADS) {
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
        note_gpu(d,
                 location_of(d, (uint32_t)number[0], (uint32_t)number[1], (uint32_t)number[2]),
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
        if ((is_good = number_behind(name, &number)) && number < MAX_PROGRAMS)
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

/* Counters come after all messages of a step, and are earlier than most: the list is sorted when
 * the next one of it is placed. */
static void add_extra(struct tau_location *location, const struct tau_extra *extra)
{
    size_t at = location->n_extra++;

    mem_grow(&location->extra, &location->extra_cap, at + 1);
    location->extra[at] = *extra;
    location->extra[at].number = location->n_extra_came++;
    location->is_unsorted |=
        at > location->next_extra && location->extra[at - 1].us > extra->us;
    if (location->next_extra_us > extra->us)
        location->next_extra_us = extra->us;
}

static int by_us(const void *a, const void *b)
{
    const struct tau_extra *p = a, *q = b;

    return ORDER(p->us, q->us) ?: ORDER(p->number, q->number);
}

static void sort_extra(struct tau_location *location)
{
    qsort(location->extra + location->next_extra, location->n_extra - location->next_extra,
          sizeof *location->extra, by_us);
    location->is_unsorted = false;
}

static void take_messages(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++, row += TAU_MESSAGE_COLUMNS) {
        struct tau_location *location = location_of_row(d, row);
        int type = type_of(d, row[3]);

        if (location == NULL || (type != TYPE_SEND && type != TYPE_RECV) ||
            row[5] >= MAX_RANKS || row[7] > MAX_US) {
            d->quality->n[QUALITY_bad_value]++;
            continue;
        }
        add_extra(location, &(struct tau_extra){
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
    counter = add_counter(d, name);
    idtable_set(&d->counter, (uint32_t)number, counter);
    idtable_set(&d->late_counter, (uint32_t)number, LATE_NAMELESS);
    d->quality->n[QUALITY_bad_value]++;
    return counter;
}

static void take_counters(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++, row += TAU_COUNTER_COLUMNS) {
        struct tau_location *location = location_of_row(d, row);
        uint32_t counter = counter_of(d, row[3]);

        if (location == NULL || counter == IDMAP_NONE || row[5] > MAX_US)
            d->quality->n[QUALITY_bad_value]++;
        else if (d->wants_counters)
            add_extra(location,
                      &(struct tau_extra){.us = row[5], .value = row[4], .what = counter});
    }
}

static void place_extra(struct tau_decoder *d, struct tau_location *location)
{
    const struct tau_extra *extra = &location->extra[location->next_extra];
    struct event_batch *batch = &location->batch;
    uint64_t ns;

    if (location->is_unsorted)
        sort_extra(location);
    ns = ns_of(d, extra->us);
    mem_grow(&batch->event, &batch->event_cap, batch->n + 1);
    if (extra->what == NAMES_NONE)
        *event_batch_message(batch, ns) = (struct message){
            .begin_ns = ns,
            .bytes = extra->value,
            .match = MESSAGE_UNMATCHED,
            .peer = extra->peer,
            .comm = location->program,
            .tag = extra->tag,
            .order = location->n_messages++,
            .kind = extra->kind,
        };
    else
        *event_batch_counter(batch, ns) =
            (struct counter_value){.counter = extra->what, .whole = (int64_t)extra->value};
    location->next_extra++;
    location->next_extra_us = location->next_extra < location->n_extra
                                  ? location->extra[location->next_extra].us
                                  : UINT64_MAX;
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

static bool is_near(uint64_t us, uint64_t other_us)
{
    return us - other_us + LEAP_US <= 2 * LEAP_US;
}

/* A time that cannot be is that of the event before, or of the start. A thread may begin late, or
 * pause, while others of the file go on. */
static uint64_t believable(struct tau_decoder *d, struct tau_location *location, uint64_t us)
{
    if (__builtin_expect(is_near(us, location->last_us), 1) || is_near(us, d->last_us)) {
        location->n_leaps = 0;
        return d->last_us = us;
    }
    if (us <= MAX_US && ++location->n_leaps > MAX_LEAPS)
        return d->last_us = us;
    d->quality->n[QUALITY_time_backwards]++;
    return location->last_us;
}

static void take_events(struct tau_decoder *d, const uint64_t *row, size_t n)
{
    if (d->last_us == 0 && n > 0)
        d->last_us = first_time(row, n);
    if (!d->defs->has_wall_time && n > 0) /* else as its processes say, or another file does */
        set_origin(d->defs, stated_start(d->defs, d->last_us));
    for (size_t i = 0; i < n; i++, row += TAU_EVENT_COLUMNS) {
        struct tau_location *location = location_of_row(d, row);
        int type = type_of(d, row[3]);
        struct event_batch *batch;
        uint64_t us;

        if (location == NULL || (type != TYPE_ENTRY && type != TYPE_EXIT)) {
            d->quality->n[QUALITY_bad_value]++;
            continue;
        }
        if (location->n_events == 0)
            location->last_us = d->defs->origin_ticks;
        us = believable(d, location, row[5]);
        while (location->next_extra_us < us ||
               (location->next_extra_us == us && type == TYPE_EXIT))
            place_extra(d, location);
        batch = &location->batch;
        mem_grow(&batch->event, &batch->event_cap, batch->n + 1);
        event_batch_push(batch, ns_of(d, us), type == TYPE_ENTRY ? EVENT_ENTER : EVENT_LEAVE,
                         region_of(d, row[4], type));
        location->last_us = us;
        location->n_events++;
    }
}

/* -------------------------------------------------------------------------------- the step */

/* What is left belongs to the next step, in which it is old. */
static void forget_placed(struct tau_location *location)
{
    location->n_extra -= location->next_extra;
    if (location->n_extra > 0)
        memmove(location->extra, location->extra + location->next_extra,
                location->n_extra * sizeof *location->extra);
    location->next_extra = 0;
    location->n_old_extra = location->n_extra;
}

static void end_step(struct tau_decoder *d, const struct tau_step_end *end)
{
    for (uint32_t i = 0; i < d->location_id.n; i++) {
        struct tau_location *location = &d->location[i];

        while (location->next_extra < location->n_extra &&
               (location->next_extra_us <= location->last_us ||
                location->next_extra < location->n_old_extra))
            place_extra(d, location);
        forget_placed(location);
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
    for (uint32_t i = 0; i < d->location_id.n; i++)
        while (d->location[i].next_extra < d->location[i].n_extra)
            place_extra(d, &d->location[i]);
}
