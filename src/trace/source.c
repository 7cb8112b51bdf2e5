/*
 * The reader adds to every source what all need: a bound on the events of a bad location, and
 * time that does not run backwards. For the latter the last events of a batch are held until
 * those after them are known:
 *
 *     batch:  [ held from before | new from the source ............ ]
 *     given:  [ trusted ........................... | held for next ]
 *
 * SNAG_MPI_ONLY=1 in the environment hides all calls but MPI's, to compare what is found in a
 * trace without functions with what they say.
 */
#include "trace/source.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "trace/chrome/json_input.h"
#include "trace/monotone.h"
#include "trace/tracer/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH 1024u

/* What events refer to: the arrays of struct event_batch, how many are in them, and of which events. */
#define EVENT_DETAILS(X)                                                                       \
    X(message, struct message, n_messages, EVENT_MESSAGE)                                      \
    X(collective, struct collective, n_collectives, EVENT_COLLECTIVE)                          \
    X(counter, struct counter_value, n_counters, EVENT_COUNTER)                                \
    X(team, struct team_record, n_teams, EVENT_TEAM)                                           \
    X(estimate, struct time_estimate, n_estimates, EVENT_ESTIMATE)                             \
    X(argument, struct argument_value, n_arguments, EVENT_ARGUMENT)

static const struct source_ops *const sources[] = {
    &source_synth_ops, &source_otf2_ops, &source_adios2_ops, &source_chrome_ops, NULL,
};

/* Which calls are left out, and which of those that are open now are. */
struct hiding {
    const struct definitions *defs; /* NULL: nothing is hidden */
    bool *is_hidden;                /* [n_open] */
    size_t n_open, cap;
};

struct source_reader {
    const struct source_ops *ops;
    void *impl;
    struct hiding hiding;
    struct event_batch batch; /* all events in hand; n is what the source has filled */
    struct event_batch given; /* the view that was handed out */
    uint64_t floor_ns;
    uint64_t n_read, limit;
    struct quality quality;
};

const struct source_ops *const *source_list(void)
{
    return sources;
}

bool source_opens_quickly(const char *path)
{
    for (size_t i = 0; sources[i]; i++)
        if (sources[i]->accepts(path))
            return sources[i]->opens_quickly;
    return true;
}

/* Text of two bytes a character, as spreadsheets and some shells write it. */
static bool is_utf16(const unsigned char *head, size_t n)
{
    return n >= 2 && ((head[0] == 0xff && head[1] == 0xfe) ||
                      (head[0] == 0xfe && head[1] == 0xff) || (head[0] == 0) != (head[1] == 0));
}

/* What no source accepts: says why as well as can be told from outside. */
static int complain(const char *path)
{
    unsigned char head[2];
    struct stat info;

    if (stat(path, &info) != 0)
        return errno == ENOENT ? err_set(ERR_NOT_FOUND, "no such trace: '%s'", path)
                               : err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (access(path, R_OK) != 0)
        return err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return err_set(ERR_FORMAT,
                       "no trace in directory '%s': an OTF2 archive has a file that ends in "
                       ".otf2, files of Chrome JSON end in .json, .jsonl or .pfw, or these and "
                       ".gz or .zst",
                       path);
    if (S_ISREG(info.st_mode) && info.st_size == 0)
        return err_set(ERR_FORMAT, "not a trace: '%s' is empty", path);
    if (S_ISREG(info.st_mode) && is_utf16(head, json_input_head(path, head, sizeof head)))
        return err_set(
            ERR_FORMAT,
            "'%s' is UTF-16, and traces are UTF-8: iconv -f UTF-16 -t UTF-8 makes it "
            "so",
            path);
    return err_set(ERR_FORMAT,
                   "not a trace: '%s' is neither an OTF2 archive (traces.otf2) nor Chrome JSON",
                   path);
}

/* What only some sources take. */
static int check_opts(const struct source *source)
{
    if (source->ops->takes_files)
        return 0;
    if (source->opts.n_more > 0)
        return err_set(
            ERR_FORMAT,
            "only a trace of Chrome JSON may be several files, and '%s' is not Chrome JSON",
            source->path);
    if (source->opts.links)
        return err_set(ERR_FORMAT,
                       "--links is for Chrome JSON only: '%s' already says which sends and "
                       "receives belong together",
                       source->path);
    return 0;
}

int source_open_as(struct source *source, const char *path, const struct source_opts *opts)
{
    int rc;

    *source = (struct source){.path = mem_copy_string(path), .opts = *opts};
    rc = finish(path,
                &(struct finish_opts){.on_process = opts->on_definitions, .ctx = opts->ctx});
    if (rc < 0)
        return rc;
    for (size_t i = 0; sources[i]; i++) {
        if (!sources[i]->accepts(path))
            continue;
        source->ops = sources[i];
        rc = check_opts(source);
        if (rc == 0)
            rc = source->ops->open(source, path);
        if (rc < 0)
            return rc;
        if (source->defs.n_locations == 0)
            return err_set(ERR_FORMAT, "nothing to read in '%s': it defines no locations",
                           path);
        return 0;
    }
    return complain(path);
}

int source_open(struct source *source, const char *path)
{
    return source_open_as(source, path, &(struct source_opts){0});
}

void source_progress(const struct source *source, uint64_t n)
{
    if (source->opts.on_definitions)
        source->opts.on_definitions(source->opts.ctx, n);
}

void source_close(struct source *source)
{
    if (source->ops && source->impl)
        source->ops->close(source);
    definitions_release(&source->defs);
    free(source->path);
    *source = (struct source){0};
}

struct source_reader *source_reader_new(struct source *source)
{
    void *impl = source->ops->reader_new(source);
    struct source_reader *reader;

    if (impl == NULL)
        return NULL;
    reader = mem_alloc(1, sizeof *reader);
    reader->ops = source->ops;
    reader->impl = impl;
    if (getenv("SNAG_MPI_ONLY"))
        reader->hiding.defs = &source->defs;
    mem_grow(&reader->batch.event, &reader->batch.event_cap, BATCH + MONOTONE_LOOK_AHEAD);
    return reader;
}

void source_reader_free(struct source_reader *reader)
{
    if (reader == NULL)
        return;
    reader->ops->reader_free(reader->impl);
    event_batch_release(&reader->batch);
    free(reader->hiding.is_hidden);
    free(reader);
}

int source_reader_begin(struct source_reader *reader, uint32_t location, uint64_t limit)
{
    reader->batch.n = reader->batch.n_messages = reader->batch.n_collectives = 0;
    reader->batch.n_counters = reader->batch.n_teams = reader->batch.n_estimates = 0;
    reader->batch.n_arguments = 0;
    reader->batch.accesses = (struct accesses){0};
    reader->batch.error_bounds = (struct error_bounds){0};
    reader->given = (struct event_batch){0};
    reader->floor_ns = MONOTONE_NO_FLOOR;
    reader->n_read = 0;
    reader->limit = limit;
    reader->hiding.n_open = 0;
    reader->quality = (struct quality){0};
    return reader->ops->begin(reader->impl, location, &reader->quality);
}

/* The first of the details of a kind that an event from `first` on refers to, or n. */
static uint32_t first_detail(const struct event_batch *batch, size_t first,
                             enum event_kind kind, size_t n)
{
    for (size_t i = first; i < batch->n; i++)
        if (batch->event[i].kind == (uint32_t)kind)
            return batch->event[i].ref;
    return (uint32_t)n;
}

/* Moves what was held, and the details it refers to, to the front of the batch. */
static void keep_held(struct event_batch *batch, size_t n_given)
{
    uint32_t first[] = {[EVENT_ARGUMENT] = 0};

#define FIND(name, type, n_of, kind)                                                           \
    first[kind] = first_detail(batch, n_given, kind, batch->n_of);
    EVENT_DETAILS(FIND)
#undef FIND
    batch->n -= n_given;
    mem_to_front(batch->event, n_given, batch->n, sizeof *batch->event);
    for (size_t i = 0; i < batch->n; i++)
        batch->event[i].ref -= first[batch->event[i].kind];
#define KEEP(name, type, n_of, kind)                                                           \
    batch->n_of -= first[kind];                                                                \
    mem_to_front(batch->name, first[kind], batch->n_of, sizeof *batch->name);
    EVENT_DETAILS(KEEP)
#undef KEEP
}

/* True for the enter or leave of a call that is left out. */
static bool is_hidden(struct hiding *hiding, const struct event *event)
{
    const struct definitions *defs = hiding->defs;
    bool is_region = event->ref < defs->names.n;
    bool is_other = is_region && defs->region[event->ref].kind != REGION_MPI;

    if (event->kind == EVENT_ENTER) {
        *mem_push(&hiding->is_hidden, &hiding->n_open, &hiding->cap) = is_other;
        return is_other;
    }
    if (event->kind != EVENT_LEAVE)
        return false;
    if (hiding->n_open > 0 && hiding->is_hidden[--hiding->n_open] && !is_region)
        return true;
    return is_other;
}

static void hide(struct hiding *hiding, struct event_batch *batch, size_t first)
{
    size_t n = first;

    for (size_t i = first; i < batch->n; i++)
        if (!is_hidden(hiding, &batch->event[i]))
            batch->event[n++] = batch->event[i];
    batch->n = n;
}

/* Takes the next records from the source and repairs their times. Returns false at the end. */
static bool read_more(struct source_reader *reader)
{
    struct event_batch *batch = &reader->batch;
    uint64_t left = reader->limit - reader->n_read;
    size_t most = left < BATCH ? (size_t)left : BATCH, n_before = batch->n;
    size_t n = most ? reader->ops->next(reader->impl, batch, most, &reader->quality) : 0;

    reader->n_read += n;
    if (reader->hiding.defs)
        hide(&reader->hiding, batch, n_before);
    reader->quality.n[QUALITY_impossible_time] +=
        monotone_bound(batch->event, batch->n, reader->floor_ns);
    reader->quality.n[QUALITY_time_backwards] +=
        monotone_repair(batch->event, batch->n, reader->floor_ns);
    return n > 0;
}

size_t source_reader_next(struct source_reader *reader, const struct event_batch **out)
{
    struct event_batch *batch = &reader->batch;
    size_t n_given;
    bool is_more;

    keep_held(batch, reader->given.n);
    do {
        is_more = read_more(reader);
        n_given = batch->n;
        if (is_more)
            n_given -= n_given > MONOTONE_LOOK_AHEAD ? MONOTONE_LOOK_AHEAD : n_given;
    } while (n_given == 0 && is_more);
    if (n_given > 0)
        reader->floor_ns = batch->event[n_given - 1].time_ns;
    reader->given = *batch;
    reader->given.n = n_given;
    *out = &reader->given;
    return n_given;
}

uint64_t source_reader_position(const struct source_reader *reader)
{
    return reader->n_read;
}

void source_reader_end(struct source_reader *reader, struct quality *quality)
{
    reader->ops->end(reader->impl, &reader->quality);
    quality_add(quality, &reader->quality);
}

uint64_t source_bytes(const struct source *source, const uint32_t *rank)
{
    return source->ops->bytes ? source->ops->bytes(source, rank) : fs_bytes(source->path);
}

/* event_batch_message, event_batch_collective, ... */
#define PUSH(name, type, n_of, kind)                                                           \
    type *event_batch_##name(struct event_batch *batch, uint64_t time_ns)                      \
    {                                                                                          \
        event_batch_push(batch, time_ns, kind, (uint32_t)batch->n_of);                         \
        mem_grow(&batch->name, &batch->name##_cap, batch->n_of + 1);                           \
        return &batch->name[batch->n_of++];                                                    \
    }
EVENT_DETAILS(PUSH)
#undef PUSH

void event_batch_release(struct event_batch *batch)
{
    free(batch->event);
#define FREE(name, type, n_of, kind) free(batch->name);
    EVENT_DETAILS(FREE)
#undef FREE
    *batch = (struct event_batch){0};
}
