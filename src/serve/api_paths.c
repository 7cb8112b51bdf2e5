/* Executions by call path: which of them have it, how often, and how long they were there. */
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "features/context.h"
#include "serve/api.h"

#include <stdlib.h>
#include <string.h>

#define BETWEEN " > "

/* What executions have on the path. */
struct on_path {
    uint32_t *tree, *calls; /* [n] */
    double *time_ns;        /* exclusive */
    uint32_t n;
};

static void release_on_path(struct on_path *on)
{
    free(on->tree);
    free(on->calls);
    free(on->time_ns);
    free(on);
}

/* The path says "a > b > c", by short names: it is read from its end. */
static bool is_path(const struct context *c, const struct definitions *defs, uint32_t path,
                    const char *said)
{
    size_t left = strlen(said);
    bool is_so = true;

    for (uint32_t p = path; is_so && p != PATH_NONE; p = c->parent[p]) {
        const char *name = defs->region[c->region[p]].short_name;
        size_t n = strlen(name);

        is_so = n <= left && memcmp(said + left - n, name, n) == 0;
        left -= is_so ? n : 0;
        if (is_so && c->parent[p] != PATH_NONE) {
            n = sizeof BETWEEN - 1;
            is_so = n <= left && memcmp(said + left - n, BETWEEN, n) == 0;
            left -= is_so ? n : 0;
        }
    }
    return is_so && left == 0;
}

static void add_tree(struct on_path *on, const struct forest *f, uint32_t tree,
                     const uint32_t *path, const bool *is_on)
{
    uint32_t n_calls = 0;
    uint64_t time_ns = 0;

    for (uint32_t v = f->first[tree]; v < f->first[tree + 1]; v++)
        if (is_on[path[v]]) {
            n_calls++;
            time_ns += f->exclusive_ns[v];
        }
    if (n_calls == 0)
        return;
    on->tree[on->n] = tree;
    on->calls[on->n] = n_calls;
    on->time_ns[on->n++] = (double)time_ns;
}

static struct on_path *find_on_path(const struct scoring *s, const struct definitions *defs,
                                    const char *said)
{
    const struct forest *f = &s->forest;
    struct on_path *on = mem_alloc(1, sizeof *on);
    struct context paths = {0};
    uint32_t *path = mem_alloc(f->n, sizeof *path);
    bool *is_on;

    context_number(&paths, f, true, path);
    is_on = mem_alloc(paths.n, sizeof *is_on);
    for (uint32_t p = 0; p < paths.n; p++)
        is_on[p] = is_path(&paths, defs, p, said);
    on->tree = mem_alloc(f->n_trees, sizeof *on->tree);
    on->calls = mem_alloc(f->n_trees, sizeof *on->calls);
    on->time_ns = mem_alloc(f->n_trees, sizeof *on->time_ns);
    for (uint32_t t = 0; t < f->n_trees; t++)
        add_tree(on, f, t, path, is_on);
    context_release(&paths);
    free(is_on);
    free(path);
    return on;
}

static void answer(const struct scoring *s, const struct definitions *defs, const char *said,
                   struct response *response)
{
    struct on_path *on = find_on_path(s, defs, said);
    struct bundle bundle = {.n_columns = 0};

    bundle_add(&bundle, "tree", BUNDLE_U32, on->tree, on->n);
    bundle_add(&bundle, "calls", BUNDLE_U32, on->calls, on->n);
    bundle_add(&bundle, "time_ns", BUNDLE_F64, on->time_ns, on->n);
    response_bundle(response, &bundle);
    release_on_path(on);
}

int api_path(struct worker *worker, const struct request *request, struct response *response)
{
    const struct run *run = &worker->served->run;
    const char *said = request_text(request, "path", NULL);
    struct scoring s = {0};
    uint32_t region;
    int rc;

    if (said == NULL)
        return err_set(ERR_USAGE, "'path' is missing, say 'step > solve'");
    rc = run_scoring_region(worker->db, &run->defs, request->id[0], &region);
    if (rc == 0)
        rc = run_scoring_collect(&s, &run->columns, &run->defs, region);
    if (rc == 0)
        answer(&s, &run->defs, said, response);
    scoring_release(&s);
    return rc;
}
