/*
 * damage -- whatever is done to the files of a trace, snag ends by itself with a status that
 * says what happened, and never calls a trace whole whose counts are not those it had.
 *
 * The number of variants is the environment variable SNAG_FUZZ_N, or 80. Variant i is the same
 * on every machine; SNAG_FUZZ_FIRST starts with another than 0. SNAG_FUZZ_VERBOSE tells each.
 */
#ifndef SNAG_TESTS_DAMAGE_H
#define SNAG_TESTS_DAMAGE_H

#include <stdbool.h>

#include <jansson.h>

#include "file_set.h"

#define DAMAGE_MAX_REGIONS 64

/* What must be right whenever snag says that the trace is whole. */
struct counts {
    json_int_t calls, messages, sends, recvs, collectives, locations, records;
    size_t n_regions;
    json_int_t region[DAMAGE_MAX_REGIONS]; /* calls of each, sorted */
};

struct damage {
    char dir[64]; /* to work in */
    struct file_set files;
    struct counts intact;

    /*
     * What a definition says has no redundancy: a region with the name of another is as valid
     * as before and says something else. True when that may have happened: then the calls must
     * all be there, but may have become those of other regions.
     */
    bool (*is_definition)(const char *what);

    /* Another command, tried as often as analyze is; NULL: none. */
    bool (*is_other_right)(const struct damage *d, const char *dir, const char *what);
};

/*
 * damage_init -- make the directory, load the files of an intact trace and what snag counts
 * there. write  makes the trace in a directory that does not exist yet
 */
void damage_init(struct damage *d, void (*write)(const char *dir));
void damage_release(struct damage *d);

/* damage_counts -- from what `snag info --json` printed. False if that is not JSON. */
bool damage_counts(const char *text, struct counts *counts);

/*
 * damage_is_info_right, damage_is_analyze_right -- run the command on the trace in dir. Both
 * processes say on stderr what went wrong; true if nothing did.
 *   what  was done to the trace
 */
bool damage_is_info_right(const struct damage *d, const char *dir, const char *what);
bool damage_is_analyze_right(const char *dir, const char *what);

/* damage_all -- all variants, in two processes. True when all went right. */
bool damage_all(const struct damage *d);

/* damage_number -- of an environment variable. */
unsigned long damage_number(const char *variable, unsigned long fallback);

#endif
