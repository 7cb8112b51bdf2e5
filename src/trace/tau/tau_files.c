/* Names say what is TAU's; only where a name says nothing does anyone look inside. */
#include "trace/tau/tau_files.h"

#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define METRICS "tau-metrics"
#define CONTACT ".sst"
#define DEFAULT_PATIENCE_S 60

const char *tau_files_path(const char *url)
{
    return strncmp(url, TAU_PREFIX, strlen(TAU_PREFIX)) == 0 ? url + strlen(TAU_PREFIX) : url;
}

static bool has_suffix(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);

    while (n > 1 && text[n - 1] == '/')
        n--;
    return n >= m && strncmp(text + n - m, suffix, m) == 0;
}

static bool is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool has_contact(const char *path)
{
    char contact[FS_PATH_SIZE];

    return snprintf(contact, sizeof contact, "%s" CONTACT, path) < (int)sizeof contact &&
           fs_exists(contact);
}

bool tau_files_is_named_so(const char *path)
{
    return has_suffix(path, ".bp") || has_suffix(path, ".bp3") || has_suffix(path, ".bp4") ||
           has_suffix(path, ".bp5");
}

/* BP4 and BP5 are directories with an index in them. */
static bool has_index(const char *path)
{
    char index[FS_PATH_SIZE];

    return fs_join(index, path, "md.idx") == 0 && fs_exists(index);
}

bool tau_files_is_one(const char *path)
{
    if (has_contact(path) || (is_directory(path) && has_index(path)))
        return true;
    return tau_files_is_named_so(path) && fs_exists(path);
}

/* What a name in a directory stands for: "x.bp.sst" for "x.bp", "x.bp.dir" for nothing. */
static bool take_name(char *name)
{
    if (strncmp(name, METRICS, strlen(METRICS)) != 0)
        return false;
    if (has_suffix(name, CONTACT))
        name[strlen(name) - strlen(CONTACT)] = '\0';
    return tau_files_is_named_so(name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

size_t tau_files_find(const char *path, struct names *found)
{
    uint32_t n_before = found->n;
    struct dirent **file = NULL;
    int n;

    if (tau_files_is_one(path) || !is_directory(path)) {
        if (tau_files_is_one(path))
            names_add(found, path);
        return found->n - n_before;
    }
    n = scandir(path, &file, NULL, by_name);
    for (int i = 0; i < n; i++) {
        char full[FS_PATH_SIZE];

        if (take_name(file[i]->d_name) && fs_join(full, path, file[i]->d_name) == 0)
            names_add(found, full);
        free(file[i]);
    }
    free(file);
    return found->n - n_before;
}

void tau_files_program(const char *path, char *out, size_t n)
{
    const char *name = strrchr(path, '/'), *end;

    name = name ? name + 1 : path;
    out[0] = '\0';
    if (strncmp(name, METRICS "-", strlen(METRICS "-")) != 0)
        return;
    name += strlen(METRICS "-");
    end = strrchr(name, '-');
    if (end)
        snprintf(out, n, "%.*s", (int)(end - name), name);
}

unsigned tau_files_patience(void)
{
    const char *patience = getenv("SNAG_PATIENCE");
    int seconds = patience ? atoi(patience) : 0;

    return seconds > 0 ? (unsigned)seconds : DEFAULT_PATIENCE_S;
}
