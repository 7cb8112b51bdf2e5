/*
 * lock_file -- what one process writes and no other may: a lock on a range of a file, which
 * ends with the process, however that ends.
 *
 * The file is empty and there only to be locked; ranges are of numbers that mean something to
 * who locks them (ranks of a job). It is removed by whoever goes last. The lock is that of
 * fcntl(2): children of a fork do not have it, and a process locks a file once.
 */
#ifndef SNAG_BASE_LOCK_FILE_H
#define SNAG_BASE_LOCK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define LOCK_FILE_ALL 0 /* a length: everything from the first on */

struct lock_file {
    int dir; /* our own handle */
    int fd;
    char name[256];
    bool is_held;
};

/*
 * lock_file_take -- the numbers [first, first + length) of a file that is made when it is not
 * there.
 *   dir   handle of its directory
 *   what  is locked, for messages: "is being written by process 12 already: 'what'"
 * Waits a moment for a process that is just ending. Where the file system has no locks that is
 * logged, and the lock taken for granted.
 * Returns 0, ERR_EXISTS when another process has some of it, or ERR_IO.
 */
int lock_file_take(struct lock_file *lock_file, int dir, const char *name, const char *what,
                   uint64_t first, uint64_t length);

/* lock_file_is_taken -- whether another process has any number of a file just now; false, too,
 * where that cannot be told. Hinders nobody. */
bool lock_file_is_taken(int dir, const char *name);

/* lock_file_release -- a zeroed one, and twice, is harmless. */
void lock_file_release(struct lock_file *lock_file);

#endif
