/*
 * chrome_files -- which files a trace is of, where it has one per rank: a list of files, all of
 * a directory, or what fits a pattern.
 */
#ifndef SNAG_TRACE_CHROME_FILES_H
#define SNAG_TRACE_CHROME_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct chrome_files {
    char **path; /* [n] those of a directory in the order of the numbers in their names */
    size_t n, cap;
    bool is_found; /* a directory or a pattern was given: some may be no traces */
};

/* chrome_files_accepts -- true for a directory or a pattern that has such files. */
bool chrome_files_accepts(const char *path);

/*
 * chrome_files_add -- what path stands for: itself, or all files in it. Of a directory those
 * whose names end as names of such files do (.json, .jsonl, .pfw; then .gz, .zst or nothing).
 * Returns 0, or ERR_NOT_FOUND.
 */
int chrome_files_add(struct chrome_files *files, const char *path);
void chrome_files_release(struct chrome_files *files);

#endif
