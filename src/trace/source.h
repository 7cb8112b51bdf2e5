/*
 * source -- where a trace comes from: an OTF2 archive, Chrome JSON, a sentence.
 *
 * A source is opened once, which reads its definitions. Each thread that wants to read opens a
 * reader of its own and reads one location after another, in time order, in batches:
 *
 *     source_open(&source, path);
 *     reader = source_reader_new(&source);
 *     source_reader_begin(reader, location, UINT64_MAX);
 *     while (source_reader_next(reader, &batch) > 0)
 *         ... batch.event[0 .. batch.n) ...
 *     source_reader_end(reader, &quality);
 *
 * No one behind this interface knows which source it is. A damaged location yields what can be
 * read of it; what was wrong is counted. To add a source: one file with a struct source_ops, its
 * name below and one row in source.c.
 */
#ifndef SNAG_TRACE_SOURCE_H
#define SNAG_TRACE_SOURCE_H

#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/quality.h"

#include <stdbool.h>
#include <stdint.h>

struct source;

/* What a kind of source must be able to do. All functions return 0 or a negative ERR_*. */
struct source_ops {
    const char *name; /* as in "otf2" */
    const char *what; /* one line for --help */

    /* Opening reads only definitions: what takes a minute hangs. */
    bool opens_quickly;

    /* A trace may be several files, or need rules: opts.more, opts.links. */
    bool takes_files;

    /* True when the path looks like one of ours; reads at most the head of the file. */
    bool (*accepts)(const char *path);

    /* Fill in source->defs (not finished) and source->quality; state goes to source->impl. */
    int (*open)(struct source *source, const char *path);
    void (*close)(struct source *source);

    /* State for one thread, NULL with err_set when that fails. */
    void *(*reader_new)(struct source *source);
    void (*reader_free)(void *reader);

    /* Start location i of source->defs. Damage goes to *quality, not to the return value. */
    int (*begin)(void *reader, uint32_t location, struct quality *quality);

    /* Read at most `most` records, each of which appends no or one event to batch (or makes
     * room for more). Returns how many were read, 0 at the end. */
    size_t (*next)(void *reader, struct event_batch *batch, size_t most,
                   struct quality *quality);
    void (*end)(void *reader, struct quality *quality);

    /* Bytes of its files, of those that are of one rank alone, or of all where rank is NULL;
     * 0: it has none. NULL: those of the path. */
    uint64_t (*bytes)(const struct source *source, const uint32_t *rank);
};

/* The kinds there are, each in the folder of its format. */
extern const struct source_ops source_synth_ops, source_otf2_ops, source_adios2_ops,
    source_chrome_ops;

struct source_opts {
    bool wants_counters;                           /* EVENT_COUNTER too */
    bool wants_arguments;                          /* EVENT_ARGUMENT too */
    void (*on_definitions)(void *ctx, uint64_t n); /* n have been read so far; or NULL */
    void *ctx;
    const char *const *more; /* [n_more] other files of the same trace */
    size_t n_more;
    const char *links; /* file of rules: which calls belong together (chrome/link_rules.h) */
};

struct source {
    const struct source_ops *ops;
    struct source_opts opts;
    struct definitions defs;
    struct quality quality; /* of the definitions */
    char *path;
    void *impl;
};

/*
 * source_open -- find out what path is, open it and read its definitions.
 *   path  a file or directory, "-" for Chrome JSON on standard input, or "synth:..."
 * Returns 0, ERR_IO, ERR_FORMAT or ERR_NOT_FOUND with the reason. Close in any case.
 */
int source_open(struct source *source, const char *path);

/* source_open_as -- as source_open, with options. */
int source_open_as(struct source *source, const char *path, const struct source_opts *opts);

/* source_progress -- for a source that is being opened: so many definitions have been read. */
void source_progress(const struct source *source, uint64_t n);

/* source_close -- closes and zeroes. A zeroed source is harmless. All readers must be gone. */
void source_close(struct source *source);

/* source_opens_quickly -- true when opening this trace reads no more than definitions. */
bool source_opens_quickly(const char *path);

/* source_bytes -- of the trace, as its files lie on disk: of one rank, or all (NULL); 0 where
 * it is no file. */
uint64_t source_bytes(const struct source *source, const uint32_t *rank);

/* source_list -- the kinds of source there are, ended by NULL. */
const struct source_ops *const *source_list(void);

struct source_reader;

/* source_reader_new -- a reader for the calling thread, NULL with err_set when that fails. */
struct source_reader *source_reader_new(struct source *source);
void source_reader_free(struct source_reader *reader);

/*
 * source_reader_begin -- start reading location i of source->defs.
 *   limit  read no more than so many records (a location that is known to be bad after them)
 */
int source_reader_begin(struct source_reader *reader, uint32_t location, uint64_t limit);

/*
 * source_reader_next -- the next events in time order.
 *   batch  out: a view that is valid until the next call
 * Returns how many events, 0 at the end.
 */
size_t source_reader_next(struct source_reader *reader, const struct event_batch **batch);

/* source_reader_position -- records taken from the source for this location so far. */
uint64_t source_reader_position(const struct source_reader *reader);

/* source_reader_end -- done with the location; adds what was wrong with it to *quality. */
void source_reader_end(struct source_reader *reader, struct quality *quality);

/* event_batch_... -- appending, for sources. */
static inline void event_batch_push(struct event_batch *batch, uint64_t time_ns,
                                    enum event_kind kind, uint32_t ref)
{
    batch->event[batch->n++] =
        (struct event){.time_ns = time_ns, .kind = (uint32_t)kind, .ref = ref};
}

struct message *event_batch_message(struct event_batch *batch, uint64_t time_ns);
struct collective *event_batch_collective(struct event_batch *batch, uint64_t time_ns);
struct counter_value *event_batch_counter(struct event_batch *batch, uint64_t time_ns);
struct team_record *event_batch_team(struct event_batch *batch, uint64_t time_ns);
struct argument_value *event_batch_argument(struct event_batch *batch, uint64_t time_ns);
struct time_estimate *event_batch_estimate(struct event_batch *batch, uint64_t time_ns);

/* event_batch_release -- free what is in it; empty and ready again. */
void event_batch_release(struct event_batch *batch);

#endif
