/* Files are small, so every variant is made from whole copies. */
#include "file_set.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

static void *check(void *data)
{
    if (data == NULL)
        abort();
    return data;
}

/* ------------------------------------------------------------------------------ loading */

static struct file_set *loading; /* nftw has no argument for its callback */
static size_t n_skipped;

static unsigned char *load_file(const char *path, size_t n)
{
    unsigned char *data = check(malloc(n + 1));
    FILE *in = fopen(path, "rb");

    if (in == NULL || fread(data, 1, n, in) != n)
        abort();
    fclose(in);
    return data;
}

static int load_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    struct file_set *set = loading;

    if (strlen(path) <= n_skipped)
        return 0;
    if (set->n == FILE_SET_MAX_FILES || set->n_dirs == FILE_SET_MAX_FILES || at->level == 0)
        abort();
    if (type == FTW_D) {
        set->dirs[set->n_dirs++] = check(strdup(path + n_skipped));
    } else {
        set->file[set->n].name = check(strdup(path + n_skipped));
        set->file[set->n].n = (size_t)info->st_size;
        set->file[set->n++].data = load_file(path, (size_t)info->st_size);
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void file_set_load(struct file_set *set, const char *dir)
{
    *set = (struct file_set){0};
    loading = set;
    n_skipped = strlen(dir) + 1;
    if (nftw(dir, load_one, 16, FTW_PHYS) != 0)
        abort();
    qsort(set->file, set->n, sizeof set->file[0], by_name);
}

void file_set_release(struct file_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        free(set->file[i].name);
        free(set->file[i].data);
    }
    for (size_t i = 0; i < set->n_dirs; i++)
        free(set->dirs[i]);
    *set = (struct file_set){0};
}

/* ------------------------------------------------------------------------------ writing */

void file_set_put(const struct file_set *set, size_t i, const char *dir, const void *data,
                  size_t n)
{
    char path[PATH_SIZE];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", dir, set->file[i].name);
    out = fopen(path, "wb");
    if (out == NULL || fwrite(data, 1, n, out) != n || fclose(out) != 0)
        abort();
}

static void make_directory(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        abort();
}

void file_set_write(const struct file_set *set, const char *dir, size_t but)
{
    char path[PATH_SIZE];

    make_directory(dir);
    for (size_t i = 0; i < set->n_dirs; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, set->dirs[i]);
        make_directory(path);
    }
    for (size_t i = 0; i < set->n; i++)
        if (i != but)
            file_set_put(set, i, dir, set->file[i].data, set->file[i].n);
}

/* --------------------------------------------------------------------------- damaging */

static void flip_bits(struct blob *b, struct rng *rng, char *what)
{
    size_t n = 1 + (size_t)rng_below(rng, 4);

    *what = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)rng_below(rng, b->n);
        unsigned bit = (unsigned)rng_below(rng, 8);

        b->data[at] ^= (unsigned char)(1u << bit);
        what += sprintf(what, " flip %zu.%u", at, bit);
    }
}

static void overwrite(struct blob *b, struct rng *rng, char *what)
{
    size_t at = (size_t)rng_below(rng, b->n), n = 1 + (size_t)rng_below(rng, 16);

    for (size_t i = at; i < at + n && i < b->n; i++)
        b->data[i] = rng_below(rng, 4) ? (unsigned char)rng_next(rng) : 0xff;
    sprintf(what, " overwrite %zu+%zu", at, n);
}

static void zero(struct blob *b, struct rng *rng, char *what)
{
    size_t at = (size_t)rng_below(rng, b->n), n = 1 + (size_t)rng_below(rng, 512);

    for (size_t i = at; i < at + n && i < b->n; i++)
        b->data[i] = 0;
    sprintf(what, " zero %zu+%zu", at, n);
}

static void insert(struct blob *b, struct rng *rng, char *what)
{
    size_t at = (size_t)rng_below(rng, b->n), n = 1 + (size_t)rng_below(rng, BLOB_ROOM);

    memmove(b->data + at + n, b->data + at, b->n - at);
    for (size_t i = at; i < at + n; i++)
        b->data[i] = (unsigned char)rng_next(rng);
    b->n += n;
    sprintf(what, " insert %zu+%zu", at, n);
}

static void take_out(struct blob *b, struct rng *rng, char *what)
{
    size_t at = (size_t)rng_below(rng, b->n), n = 1 + (size_t)rng_below(rng, 256);

    n = n < b->n - at ? n : b->n - at;
    memmove(b->data + at, b->data + at + n, b->n - at - n);
    b->n -= n;
    sprintf(what, " take out %zu+%zu", at, n);
}

static void cut(struct blob *b, struct rng *rng, char *what)
{
    b->n = (size_t)rng_below(rng, b->n);
    sprintf(what, " cut at %zu", b->n);
}

void blob_damage(struct blob *b, unsigned kind, struct rng *rng, char *what)
{
    static void (*const kinds[BLOB_DAMAGES])(struct blob *, struct rng *, char *) = {
        flip_bits, flip_bits, overwrite, zero, insert, take_out, cut,
    };

    kinds[kind](b, rng, what);
}

void file_set_damage(const struct file_set *set, struct rng *rng, const char *dir,
                     char what[DAMAGE_WHAT])
{
    unsigned kind = (unsigned)rng_below(rng, BLOB_DAMAGES);
    struct blob b;
    size_t i;
    int n;

    do
        i = (size_t)rng_below(rng, set->n);
    while (set->file[i].n == 0);
    b.n = set->file[i].n;
    b.data = check(malloc(b.n + BLOB_ROOM));
    memcpy(b.data, set->file[i].data, b.n);
    n = snprintf(what, DAMAGE_WHAT / 2, "%s:", set->file[i].name);
    blob_damage(&b, kind, rng, what + n);
    file_set_write(set, dir, i);
    file_set_put(set, i, dir, b.data, b.n);
    free(b.data);
}
