/* A directory is read with a filter, a pattern is left to glob(). */
#include "trace/chrome/chrome_files.h"

#include "base/err.h"
#include "base/mem.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length > n && memcmp(name + length - n, end, n) == 0;
}

static int is_trace_name(const struct dirent *entry)
{
    static const char *const packed[] = {".gz", ".zst"};
    static const char *const ends[] = {".json", ".jsonl", ".pfw"};
    size_t length = strlen(entry->d_name);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_with(entry->d_name, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (entry->d_name[0] != '.' && ends_with(entry->d_name, length, ends[i]))
            return 1;
    return 0;
}

static bool is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_pattern(const char *path)
{
    struct stat info;

    return strpbrk(path, "*?[") != NULL && stat(path, &info) != 0;
}

static void push(struct chrome_files *files, const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;

    mem_grow(&files->path, &files->cap, files->n + 1, sizeof *files->path);
    files->path[files->n] = mem_alloc(size, 1);
    snprintf(files->path[files->n++], size, "%s%s%s", dir, *dir ? "/" : "", name);
}

static void add_directory(struct chrome_files *files, const char *dir)
{
    struct dirent **entry = NULL;
    int n = scandir(dir, &entry, is_trace_name, versionsort);

    for (int i = 0; i < n; i++) {
        push(files, dir, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void add_pattern(struct chrome_files *files, const char *pattern)
{
    size_t n_before = files->n;
    glob_t found;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!is_directory(found.gl_pathv[i]))
                push(files, "", found.gl_pathv[i]);
    globfree(&found);
    qsort(files->path + n_before, files->n - n_before, sizeof *files->path, by_number);
}

int chrome_files_add(struct chrome_files *files, const char *path)
{
    size_t n_before = files->n;

    if (strcmp(path, "-") != 0 && is_directory(path))
        add_directory(files, path);
    else if (strcmp(path, "-") != 0 && is_pattern(path))
        add_pattern(files, path);
    else {
        push(files, "", path);
        return 0;
    }
    files->is_found = true;
    return files->n > n_before ? 0 : err_set(ERR_NOT_FOUND, "no files of a trace: '%s'", path);
}

bool chrome_files_accepts(const char *path)
{
    struct chrome_files files = {.n = 0};
    bool is_ours = chrome_files_add(&files, path) == 0 && files.is_found;

    chrome_files_release(&files);
    return is_ours;
}

void chrome_files_release(struct chrome_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->path[i]);
    free(files->path);
    *files = (struct chrome_files){0};
}
