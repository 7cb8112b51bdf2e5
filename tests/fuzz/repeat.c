/*
 * Every file of the directories given, and beginnings of it, through the entry point: how many
 * is the environment variable SNAG_BEGINNINGS, or 8.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void replay_bytes(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n + !n); /* of that very size, so that the sanitizer sees its end */

    if (copy == NULL)
        abort();
    memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void replay_file(const char *path, size_t n, size_t n_beginnings)
{
    uint8_t *data = malloc(n + 1);
    FILE *in = fopen(path, "rb");

    if (data == NULL || in == NULL || fread(data, 1, n, in) != n) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(in);
    replay_bytes(data, n);
    for (size_t i = 0; i < n_beginnings; i++)
        replay_bytes(data, n * i / n_beginnings);
    free(data);
}

static size_t replay_directory(const char *dir)
{
    const char *beginnings = getenv("SNAG_BEGINNINGS");
    DIR *files = opendir(dir);
    struct dirent *file;
    size_t n = 0;

    while (files && (file = readdir(files)) != NULL) {
        char path[4096];
        struct stat info;

        snprintf(path, sizeof path, "%s/%s", dir, file->d_name);
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
            continue;
        replay_file(path, (size_t)info.st_size, beginnings ? strtoul(beginnings, NULL, 10) : 8);
        n++;
    }
    if (files)
        closedir(files);
    return n;
}

int main(int argc, char **argv)
{
    size_t n = 0;

    for (int i = 1; i < argc; i++)
        n += replay_directory(argv[i]);
    printf("%zu files\n", n);
    return n > 0 ? 0 : 1;
}
