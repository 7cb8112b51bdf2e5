#include "prov/prov_keep_runs.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_NS 86400e9

void prov_kept_runs_add(struct prov_kept_runs *runs, struct prov_kept_run run)
{
    mem_grow(&runs->at, &runs->room, runs->n + 1, sizeof *runs->at);
    runs->at[runs->n++] = run;
}

void prov_kept_runs_weigh(struct prov_kept_runs *runs, int64_t id, double bytes)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].id == id)
            runs->at[i].bytes += bytes;
}

char *prov_kept_runs_list(const struct prov_kept_runs *runs, const bool *is_chosen)
{
    char *text = NULL;
    size_t size;
    const char *before = "(";
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < runs->n; i++)
        if (is_chosen[i]) {
            fprintf(out, "%s%lld", before, (long long)runs->at[i].id);
            before = ",";
        }
    fputs(*before == '(' ? "()" : ")", out);
    fclose(out);
    return text;
}

uint64_t prov_kept_runs_choose(const struct prov_kept_runs *runs,
                               const struct prov_prune_opts *opts, double used, bool *is_chosen,
                               uint64_t *n_kept)
{
    double all = 1, kept = used;
    uint64_t n = 0;

    for (size_t i = 0; i < runs->n; i++)
        all += runs->at[i].bytes;
    *n_kept = 0;
    for (size_t i = 0; i < runs->n; i++) {
        const struct prov_kept_run *run = &runs->at[i];
        double age_ns = (double)opts->now_ns - (double)run->last_ns;
        bool is_due = (opts->most_days >= 0 && age_ns >= opts->most_days * DAY_NS) ||
                      kept > (double)opts->most_bytes;

        is_chosen[i] = is_due && run->is_safe;
        *n_kept += is_due && !run->is_safe;
        n += is_chosen[i];
        if (is_chosen[i])
            kept -= used * run->bytes / all;
    }
    return n;
}

/* -------------------------------------------------------------------------- a directory */

static int sync_directory(int dir, const char *path)
{
    return fsync(dir) == 0 ? 0 : err_set(ERR_IO, "cannot save '%s': %s", path, strerror(errno));
}

/* The name under which it is now, in the directory that it is in. */
static int sync_name(const char *path)
{
    const char *name;
    int dir, rc = fs_open_parent(path, &dir, &name);

    if (rc < 0)
        return rc;
    rc = sync_directory(dir, path);
    close(dir);
    return rc;
}

int prov_keep_directory(const char *to, int (*fill)(void *ctx, int dir), void *ctx)
{
    char part[FS_PATH_SIZE];
    int dir = -1, rc = 0;

    if (fs_exists(to))
        return err_set(ERR_EXISTS, "'%s' is there already: a backup needs a new directory", to);
    if (snprintf(part, sizeof part, "%s.part", to) >= (int)sizeof part)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", to);
    if (fs_exists(part)) /* of one that was killed */
        rc = fs_remove_tree(part);
    if (rc == 0 && mkdir(part, 0777) != 0)
        return err_set(ERR_IO, "cannot create '%s': %s", part, strerror(errno));
    if (rc == 0)
        rc = fs_open_dir(part, &dir);
    if (rc == 0)
        rc = fill(ctx, dir);
    if (rc == 0)
        rc = sync_directory(dir, part);
    if (rc == 0 && rename(part, to) != 0)
        rc = err_set(ERR_IO, "cannot create '%s': %s", to, strerror(errno));
    if (rc == 0)
        rc = sync_name(to);
    if (dir >= 0)
        close(dir);
    return rc;
}
