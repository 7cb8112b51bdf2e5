/*
 * paged -- large arrays that need not stay in memory.
 *
 * What is as long as a run is gone through from one end to the other, a few times: most of it
 * is not looked at most of the time. Here such an array lies in a file without a name, which
 * the system can write out and read back as it does with any file, and a thread of its own
 * gives pages back as soon as more than PAGED_KEPT_BYTES of files are in memory. Who uses the
 * array sees nothing of that but time. Arrays of less than PAGED_MIN_BYTES, and those for
 * which there is no room in the directory, are plain memory.
 *
 *     paged = paged_new(dir, PAGED_MIN_BYTES);
 *     ns = paged_alloc(paged, n, sizeof *ns);
 *     ...
 *     paged_release(paged, ns);
 *     paged_free(paged);
 */
#ifndef SNAG_BASE_PAGED_H
#define SNAG_BASE_PAGED_H

#include <stddef.h>

#define PAGED_MIN_BYTES ((size_t)256 << 20)
#define PAGED_KEPT_BYTES ((size_t)1 << 30)

struct paged;

/*
 * paged_new -- for arrays in files of a directory.
 *   dir    NULL: all is plain memory
 *   least  bytes of an array that is worth a file: PAGED_MIN_BYTES, but in tests
 * A process has files and threads of it from its first array on.
 */
struct paged *paged_new(const char *dir, size_t least);

/* paged_free -- all arrays must be released. NULL is harmless. */
void paged_free(struct paged *paged);

/*
 * paged_alloc -- n objects of width bytes, not initialised. paged_release -- give them back.
 * NULL for paged: plain memory, as mem_resize and free; so what was made with one must be
 * released with the same. Thread-safe.
 */
void *paged_alloc(struct paged *paged, size_t n, size_t width);
void paged_release(struct paged *paged, void *data);

/*
 * paged_resize -- an array of n objects with what was in old, which had n_old; old may be NULL.
 */
void *paged_resize(struct paged *paged, void *old, size_t n_old, size_t n, size_t width);

/* paged_grow -- as mem_grow, of an array with n objects in it: returns it, which may move. */
void *paged_grow(struct paged *paged, void *data, size_t n, size_t *cap, size_t need,
                 size_t width);

/*
 * paged_share -- a mapped file of someone else counts, too, and its pages are given back with
 * the others until paged_unshare. It must be a file's, not memory.
 */
void paged_share(struct paged *paged, const void *data, size_t bytes);
void paged_unshare(struct paged *paged, const void *data);

/* paged_drop -- give all pages back now. */
void paged_drop(struct paged *paged);

#endif
