#include "ps/tree_sim.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FILES_EACH 24 /* that a server and its client keep open, at most */

static int lay_out(struct tree_sim *t, uint32_t depth, uint32_t fan)
{
    uint64_t n_servers = 0, n_level = 1;

    t->n_levels = depth - 1;
    for (uint32_t l = 0; l < t->n_levels; l++) {
        t->first[l] = (uint32_t)n_servers;
        t->n_lowest = (uint32_t)n_level;
        n_servers += n_level;
        n_level *= fan;
        if (n_servers > TREE_MAX_SERVERS)
            return err_set(ERR_RANGE, "a tree of %ux%u has more than %u servers", depth, fan,
                           TREE_MAX_SERVERS);
    }
    t->first[t->n_levels] = (uint32_t)n_servers;
    return 0;
}

/* So many servers need more files than a process may usually have. */
static void raise_limit(uint32_t n_servers)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur += FILES_EACH * (rlim_t)n_servers;
    if (files.rlim_max != RLIM_INFINITY && files.rlim_cur > files.rlim_max)
        files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static int make_dir(struct tree_sim *t)
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(t->dir, sizeof t->dir, "%s/snag-sim-XXXXXX", tmp && *tmp ? tmp : "/tmp");

    if (n >= (int)sizeof t->dir || mkdtemp(t->dir) == NULL) {
        t->dir[0] = '\0';
        return err_set(ERR_IO, "cannot make a directory for snapshots: %s", strerror(errno));
    }
    return 0;
}

static int start(struct tree_sim *t, uint32_t level, uint32_t i, uint32_t fan)
{
    uint32_t number = t->first[level] + i;
    char snapshot[96];
    struct ps_server_opts opts = {
        .store = {.n_workers = level == 0 ? 2 : 1, .snapshot = snapshot}};

    snprintf(snapshot, sizeof snapshot, "%s/%u.ps", t->dir, number);
    if (level > 0)
        opts.upstream = ps_server_address(t->server[t->first[level - 1] + i / fan]);
    return ps_server_open(&t->server[number], &opts);
}

int tree_sim_open(struct tree_sim *t, uint32_t depth, uint32_t fan)
{
    int rc;

    *t = (struct tree_sim){.n_levels = 0};
    if (depth < 2 || depth > TREE_MAX_LEVELS + 1 || fan < 1)
        return err_set(ERR_RANGE, "a tree has 2 to %u levels, that of the ranks among them",
                       TREE_MAX_LEVELS + 1);
    rc = lay_out(t, depth, fan);
    if (rc == 0)
        rc = make_dir(t);
    if (rc < 0) {
        t->n_levels = 0;
        return rc;
    }
    raise_limit(t->first[t->n_levels]);
    t->server = mem_alloc(t->first[t->n_levels], sizeof *t->server);
    for (uint32_t l = 0; l < t->n_levels; l++)
        for (uint32_t i = 0; i < t->first[l + 1] - t->first[l] && rc == 0; i++)
            rc = start(t, l, i, fan);
    t->address = mem_alloc(t->n_lowest, sizeof *t->address);
    for (uint32_t i = 0; i < t->n_lowest && rc == 0; i++)
        t->address[i] = ps_server_address(t->server[t->first[t->n_levels - 1] + i]);
    return rc;
}

struct tree_level tree_sim_level(const struct tree_sim *t, uint32_t level)
{
    struct tree_level sum = {.n_servers = t->first[level + 1] - t->first[level]};

    for (uint32_t i = t->first[level]; i < t->first[level + 1]; i++) {
        struct ps_counts n;

        ps_server_counts(t->server[i], &n);
        sum.n_requests += n.n_requests;
        sum.received_bytes += n.received_bytes;
        sum.sent_bytes += n.sent_bytes;
    }
    return sum;
}

/* From below, so that each has somebody to tell its last words. */
void tree_sim_close(struct tree_sim *t)
{
    for (uint32_t i = t->n_levels > 0 && t->server ? t->first[t->n_levels] : 0; i-- > 0;)
        ps_server_close(t->server[i]);
    free(t->server);
    free(t->address);
    if (t->dir[0])
        fs_remove_tree(t->dir);
    *t = (struct tree_sim){.n_levels = 0};
}
