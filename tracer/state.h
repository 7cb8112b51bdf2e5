/*
 * state -- the file in which a process keeps what it knows, mapped (tracer_state.h).
 *
 * No descriptor stays open, which the program might close, or count. What is mapped is on the
 * disk before it is touched: a page that there is no room for would be a SIGBUS. Where there is
 * none errno says why, and nothing has changed.
 */
#ifndef SNAG_TRACER_STATE_H
#define SNAG_TRACER_STATE_H

#include "trace/tracer/tracer_state.h"

#include <stdbool.h>
#include <stddef.h>

/* What is said of the process. */
struct state_process {
    uint32_t rank, n_ranks;
    bool is_mpi;
    uint64_t job;
    int64_t realtime_ns;
};

/*
 * state_open -- make the file, and the directories of the trace as far as they are missing.
 *   directory  absolute
 * False, with errno. Once.
 */
bool state_open(const char *directory, const struct state_process *place);

/* state_head -- NULL: it is not open. */
struct state_head *state_head(void);

/* state_path -- DIRECTORY/traces/NAME of the directory, at most n bytes with its end. */
bool state_path(char *out, size_t n, const char *name);

/*
 * state_add -- a new block of so many bytes, with its head.
 *   reserved  of these are on the disk, and zero; the others are not to be touched yet
 * NULL, with errno. Thread-safe.
 */
struct state_block *state_add(enum state_block_kind kind, uint32_t thread, size_t bytes,
                              size_t reserved);

/* state_reserve -- the bytes from `from` to `to` of a block are on the disk from now on. False,
 * with errno. */
bool state_reserve(const struct state_block *block, size_t from, size_t to);

/* state_at -- where in the file a block is. */
uint64_t state_at(const struct state_block *block);

/*
 * state_journal -- a definition (tracer_state.h).
 *   number  [n_numbers]
 *   text    [n_texts]
 *   data    (bytes)
 * Returns its numbers in the file, which may change later; NULL if the file is not open, or
 * nothing can be recorded any more: then that was said. Thread-safe.
 */
struct definition {
    enum journal_kind kind;
    const uint64_t *number;
    const char *const *text;
    const void *data;
    size_t n_numbers, n_texts, bytes;
};
uint64_t *state_journal(const struct definition *definition);

/* state_end -- the process has ended so, and nothing more is recorded. */
void state_end(enum state_ending ending);

/* state_create, state_write -- with files by their path, none of which stays open: make one for
 * writing; write at an offset, or only see that there is room on the disk (data NULL), where
 * the file system can say so. False, with errno; whoever has a limit for the size of files gets
 * no signal. */
bool state_create(const char *path);
bool state_write(const char *path, const void *data, size_t bytes, uint64_t offset);

#endif
