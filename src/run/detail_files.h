/*
 * detail_files -- what counters read and what calls were called with, in the directory calls/
 * of a run: where a trace has neither there are no such files.
 *
 *     calls/readings.rec    struct detail_reading each
 *     calls/arguments.rec   struct argument each
 *     calls/texts.bin       the texts of arguments
 *     calls/details.index   who has which of them, checksums, and what counters and arguments
 *                           are called
 *
 * They are written and opened with the columns (run/columns.h), which alone use what is here
 * to write. Location l has a contiguous part of each file. Readings are in order of time and of
 * calls that have begun, arguments by call: what belongs to a call is found by searching.
 */
#ifndef SNAG_RUN_DETAIL_FILES_H
#define SNAG_RUN_DETAIL_FILES_H

#include "base/fs.h"
#include "forest/clock.h"
#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

enum detail_file { DETAIL_READINGS, DETAIL_ARGUMENTS, DETAIL_TEXTS, N_DETAIL_FILES };

/* What the index says about a location; as it is in the file. */
struct detail_range {
    uint64_t first[N_DETAIL_FILES], n[N_DETAIL_FILES];
    uint64_t checksum[N_DETAIL_FILES]; /* XXH3-64 of its part of each file */
};

/* ---------------------------------------------------------------------------- writing */

struct detail_writer {
    const char *dir; /* calls/ */
    uint32_t n_locations;
    struct detail_range *range; /* [n_locations] */
    int fd[N_DETAIL_FILES];     /* -1: not open */
};

/*
 * detail_writer_open -- for locations of a run.
 *   dir     calls/, must stay
 *   is_new  make the files; else another process has made them
 * Returns 0 or ERR_IO; close in any case.
 */
int detail_writer_open(struct detail_writer *writer, const char *dir, uint32_t n_locations,
                       bool is_new);
void detail_writer_close(struct detail_writer *writer);

/* detail_writer_place -- the parts of a location begin at next[], which is then where those of
 * the location after it do. */
void detail_writer_place(struct detail_writer *writer, uint32_t location,
                         const struct detail_view *details, uint64_t next[N_DETAIL_FILES]);

/* detail_writer_write -- write them there. Thread-safe for different locations. */
int detail_writer_write(struct detail_writer *writer, uint32_t location,
                        const struct detail_view *details);

/* detail_writer_shift -- move the times of a location that is written. */
int detail_writer_shift(struct detail_writer *writer, uint32_t location,
                        const struct clock_fix *fix);

/*
 * detail_writer_finish -- write the index, or remove the files if there is nothing in them.
 *   defs         of the run: counters, names of arguments
 *   columns_sum  the checksum of the index of the columns
 */
int detail_writer_finish(struct detail_writer *writer, const struct definitions *defs,
                         uint64_t columns_sum);

/* ---------------------------------------------------------------------------- reading */

struct detail_counter {
    const char *name;
    struct counter is;
};

/* All zero in a run that has none. */
struct detail_files {
    uint32_t n_counters, n_arguments;
    struct detail_counter *counter;   /* [n_counters] */
    const char **argument;            /* [n_arguments] */
    uint64_t n[N_DETAIL_FILES];       /* of all locations */
    const struct detail_range *range; /* [n_locations], or NULL: there are none */
    struct {
        const void *data;
        size_t bytes;
    } map[N_DETAIL_FILES + 1];
    struct arena arena;
};

/*
 * detail_files_open -- map them, if they are there.
 *   dir, path    handle of calls/, and its name for messages
 *   columns_sum  they must be of these columns
 * Returns 0, ERR_IO or ERR_FORMAT. Close in any case. Does not read what is in them.
 */
int detail_files_open(struct detail_files *files, int dir, const char *path,
                      uint32_t n_locations, uint64_t columns_sum);
void detail_files_close(struct detail_files *files);

/* detail_files_view -- of a location: pointers into the mapped files. What is in them may be
 * anything: see columns_check. O(1). */
struct detail_view detail_files_view(const struct detail_files *files, uint32_t location);

/* detail_files_check -- whether the details of a location, which has n_calls, are in order, and
 * of things that there are. O(details). */
bool detail_files_check(const struct detail_files *files, uint32_t location, uint32_t n_calls);

/* detail_files_verify -- compare the checksums of a location. Returns 0 or ERR_FORMAT. */
int detail_files_verify(const struct detail_files *files, uint32_t location);

/* detail_files_bytes, detail_files_advise -- how many bytes all files are but the index; as
 * madvise, of these. */
size_t detail_files_bytes(const struct detail_files *files);
void detail_files_advise(const struct detail_files *files, int advice);

#endif
