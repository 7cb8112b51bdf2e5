/*
 * fs -- files and directories: the few calls that several folders need, with errors that say
 * what.
 *
 * A directory that somebody else may have filled (a run, a store) is held by a handle, and what
 * is in it is reached by name from there, never through a link (the _at functions). So nothing
 * outside it is read, written or removed, whatever is in it.
 */
#ifndef SNAG_BASE_FS_H
#define SNAG_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FS_PATH_SIZE 4096

/* fs_join -- "dir/name" into out. Returns 0 or ERR_RANGE when it does not fit. */
int fs_join(char out[FS_PATH_SIZE], const char *dir, const char *name);

/* fs_temporary_dir -- where files go that nobody named: $TMPDIR, or /tmp. */
const char *fs_temporary_dir(void);

/* fs_write_at -- all of data at offset, whatever write() takes at once. Returns 0 or ERR_IO. */
int fs_write_at(int fd, const void *data, size_t bytes, uint64_t offset, const char *path);

/* fs_read_at -- so many bytes at offset, whatever read() gives at once. Returns how many there
 * were: fewer at the end of the file, where errno is 0, or where it cannot be read. */
size_t fs_read_at(int fd, void *data, size_t bytes, uint64_t offset);

/*
 * fs_map -- a whole file, read-only.
 *   data   out: the bytes, NULL for an empty file; give back with fs_unmap
 *   bytes  out: its length
 * Returns 0 or ERR_IO. The file must not shrink while it is mapped.
 */
int fs_map(const char *path, const void **data, size_t *bytes);
void fs_unmap(const void *data, size_t bytes);

/*
 * fs_open_dir -- a directory, by a path that its user named: a link may lead there.
 * fs_open_dir_at -- one in a directory, not by a link.
 *   path  as people know it, for messages
 *   out   the handle, close with close(); -1 when there is none
 * Returns 0, ERR_NOT_FOUND, ERR_IO, or ERR_FORMAT for what is no directory.
 */
int fs_open_dir(const char *path, int *out);
int fs_open_dir_at(int dir, const char *name, const char *path, int *out);

/*
 * fs_open_parent -- the directory that a path is in.
 *   name  out: the last part of path, in it
 * Returns 0, ERR_NOT_FOUND, ERR_IO or ERR_RANGE; out as in fs_open_dir.
 */
int fs_open_parent(const char *path, int *out, const char **name);

/* fs_map_fd -- as fs_map, of an open file, which stays open. */
int fs_map_fd(int fd, const char *path, const void **data, size_t *bytes);

/* fs_map_at -- as fs_map, of a file in a directory; ERR_FORMAT for a link and all that is no
 * file. */
int fs_map_at(int dir, const char *name, const char *path, const void **data, size_t *bytes);

/*
 * A file that is to appear whole or not at all, in place of what has its name. It is written
 * under a name that nobody can know before, and gets its own when it is on the disk.
 */
struct fs_new {
    int dir, fd; /* fd: to write to; -1 when there is none */
    bool owns_dir;
    char name[256], part[300];
    char path[FS_PATH_SIZE]; /* as people know it */
};

/*
 * fs_new_open, fs_new_open_at -- begin one; the latter in a directory that stays open.
 * fs_new_commit -- all is written: returns 0, or ERR_IO, and then there is nothing.
 * fs_new_abandon -- remove it. After a commit, or twice, it does nothing.
 * fs_new_clean -- remove what is left of such files of that name, which nobody writes now.
 */
int fs_new_open(struct fs_new *file, const char *path);
int fs_new_open_at(struct fs_new *file, int dir, const char *name, const char *path);
int fs_new_commit(struct fs_new *file);
void fs_new_abandon(struct fs_new *file);
void fs_new_clean(int dir, const char *name);

/*
 * fs_advise -- tell the system what is about to happen to a part of a mapped file.
 *   data, bytes  any part; the pages it touches. May be empty.
 *   advice       MADV_* of <sys/mman.h>; MADV_WILLNEED reads them all without waiting
 */
void fs_advise(const void *data, size_t bytes, int advice);

/*
 * fs_remove_tree -- a directory and all below it, not following links, whatever is exchanged
 * for one meanwhile. Returns 0, also when there is none, or ERR_IO.
 */
int fs_remove_tree(const char *path);

/* fs_bytes -- of a file, or of all files in a directory and below it; 0 of what is not there.
 */
uint64_t fs_bytes(const char *path);

/* fs_exists -- 1 if something of that name is there, 0 if not. */
int fs_exists(const char *path);

/* fs_is_directory -- or a link to one. */
bool fs_is_directory(const char *path);

/* fs_is_same -- whether two that were looked at are one, by whatever names. */
struct stat;
bool fs_is_same(const struct stat *a, const struct stat *b);

/* fs_begins_with -- whether that is a plain file whose first n <= 32 bytes are these. */
bool fs_begins_with(const char *path, const void *begin, size_t n);

/*
 * fs_allow_files -- raise how many files this process may have open to what it may raise it to.
 * Returns how many that is, or 0 if it is not known.
 */
uint64_t fs_allow_files(void);

/* fs_is_out_of -- whether an errno says that files or memory have run out, not what the file is
 * like. */
bool fs_is_out_of(int error);

#endif
