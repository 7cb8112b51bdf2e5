/*
 * file_set -- the files of a directory in memory: to write them elsewhere, one of them damaged.
 */
#ifndef SNAG_TESTS_FILE_SET_H
#define SNAG_TESTS_FILE_SET_H

#include "base/rng.h"

#include <stddef.h>

#define FILE_SET_MAX_FILES 64

struct file_set {
    size_t n;
    struct {
        char *name; /* below the directory */
        unsigned char *data;
        size_t n;
    } file[FILE_SET_MAX_FILES]; /* by name */
    char *dirs[FILE_SET_MAX_FILES];
    size_t n_dirs;
};

/* file_set_load -- all files below dir. Aborts when that fails or they are too many. */
void file_set_load(struct file_set *set, const char *dir);
void file_set_release(struct file_set *set);

/*
 * file_set_write -- make dir and write the files there.
 *   but  number of a file that is left out, or file_set n for all
 */
void file_set_write(const struct file_set *set, const char *dir, size_t but);

/* file_set_put -- write data as file i below dir, in place of what is there. */
void file_set_put(const struct file_set *set, size_t i, const char *dir, const void *data,
                  size_t n);

#define DAMAGE_WHAT 200

/* The contents of one file. */
struct blob {
    unsigned char *data;
    size_t n;
};

#define BLOB_ROOM 64   /* bytes that damage may add */
#define BLOB_DAMAGES 7 /* kinds of it */

/*
 * blob_damage -- bits flipped, bytes overwritten, inserted, taken out or zeroed, or the end cut
 * off, at random.
 *   b     n > 0; data has room for BLOB_ROOM more
 *   kind  < BLOB_DAMAGES
 *   what  out: says what was done
 */
void blob_damage(struct blob *b, unsigned kind, struct rng *rng, char *what);

/*
 * file_set_damage -- write the files to dir, one of them damaged at random: bits flipped, bytes
 * overwritten, inserted, taken out or zeroed, or the end cut off.
 *   what  out: says what was done
 */
void file_set_damage(const struct file_set *set, struct rng *rng, const char *dir,
                     char what[DAMAGE_WHAT]);

#endif
