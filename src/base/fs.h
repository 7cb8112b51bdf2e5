/* fs -- files and directories: the few calls that several folders need, with errors that say
 * what. */
#ifndef SNAG_BASE_FS_H
#define SNAG_BASE_FS_H

#include <stddef.h>
#include <stdint.h>

#define FS_PATH_SIZE 4096

/* fs_join -- "dir/name" into out. Returns 0 or ERR_RANGE when it does not fit. */
int fs_join(char out[FS_PATH_SIZE], const char *dir, const char *name);

/* fs_write_at -- all of data at offset, whatever write() takes at once. Returns 0 or ERR_IO. */
int fs_write_at(int fd, const void *data, size_t bytes, uint64_t offset, const char *path);

/*
 * fs_map -- a whole file, read-only.
 *   data   out: the bytes, NULL for an empty file; give back with fs_unmap
 *   bytes  out: its length
 * Returns 0 or ERR_IO. The file must not shrink while it is mapped.
 */
int fs_map(const char *path, const void **data, size_t *bytes);
void fs_unmap(const void *data, size_t bytes);

/*
 * fs_advise -- tell the system what is about to happen to a part of a mapped file.
 *   data, bytes  any part; the pages it touches. May be empty.
 *   advice       MADV_* of <sys/mman.h>; MADV_WILLNEED reads them all without waiting
 */
void fs_advise(const void *data, size_t bytes, int advice);

/* fs_remove_tree -- a directory and all below it, not following links. Returns 0 or ERR_IO. */
int fs_remove_tree(const char *path);

/* fs_exists -- 1 if something of that name is there, 0 if not. */
int fs_exists(const char *path);

#endif
