/*
 * stack2vec_bench -- how long stack2vec takes for the executions of a function in a run, from
 * their bags of subtrees to their vectors. Prints the seconds, the least of three.
 *
 *   usage: stack2vec_bench RUN FUNCTION [THREADS [BAGS [VECTORS]]]
 *
 * RUN is what snag analyze wrote. BAGS is a file to write the bags to, for stack2vec_gensim.py:
 * a line per execution, "#RANK-INDEX word:weight_ns:count ...". VECTORS is one for the vectors,
 * as CSV. Any other program can be measured on these two. Threads: 1 unless said otherwise.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "features/stack2vec.h"
#include "forest/forest.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "run/rundir.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 3

struct bench {
    struct run run;
    struct definitions defs; /* regions */
    struct forest forest;
    struct wl wl;
};

static int find_region(const struct definitions *defs, const char *name, uint32_t *region)
{
    for (*region = 0; *region < defs->names.n; (*region)++)
        if (strcmp(defs->region[*region].name, name) == 0 ||
            strcmp(defs->region[*region].short_name, name) == 0)
            return 0;
    return err_set(ERR_NOT_FOUND, "no function '%s'", name);
}

static int load(struct bench *b, const char *path, const char *name)
{
    uint32_t region;
    int rc = run_open(&b->run, path, false);

    if (rc == 0)
        rc = run_summary_regions(b->run.db, &b->defs);
    if (rc == 0)
        rc = find_region(&b->defs, name, &region);
    for (uint32_t l = 0; rc == 0 && l < b->run.columns.n_locations; l++) {
        struct call_view calls = columns_view(&b->run.columns, l);

        rc = forest_add(&b->forest, l, &calls, region, &b->defs);
    }
    if (rc == 0 && b->forest.n_trees == 0)
        rc = err_set(ERR_NOT_FOUND, "'%s' is never called", name);
    if (rc == 0)
        wl_init(&b->wl, &b->forest, &b->defs, true, NULL);
    return rc;
}

static int write_bags(const struct bench *b, const char *path)
{
    const struct bags *bags = &b->wl.bags;
    FILE *out = fopen(path, "w");

    if (out == NULL)
        return err_set(ERR_IO, "cannot create '%s'", path);
    for (uint32_t t = 0; t < bags->n_trees; t++) {
        fprintf(out, "#%u-%u", b->forest.location[t], b->forest.index[t]);
        for (size_t i = bags->first[t]; i < bags->first[t + 1]; i++)
            fprintf(out, " %u:%" PRIu64 ":%u", bags->word[i], bags->weight_ns[i],
                    bags->count[i]);
        fputc('\n', out);
    }
    return fclose(out) == 0 ? 0 : err_set(ERR_IO, "cannot write '%s'", path);
}

static int write_vectors(const struct bench *b, struct matrix x, const char *path)
{
    FILE *out = fopen(path, "w");

    if (out == NULL)
        return err_set(ERR_IO, "cannot create '%s'", path);
    for (uint32_t t = 0; t < x.rows; t++) {
        fprintf(out, "#%u-%u", b->forest.location[t], b->forest.index[t]);
        for (size_t c = 0; c < x.cols; c++)
            fprintf(out, ",%.9g", matrix_row(x, t)[c]);
        fputc('\n', out);
    }
    return fclose(out) == 0 ? 0 : err_set(ERR_IO, "cannot write '%s'", path);
}

/* The least time of REPEATS; x gets the vectors. */
static int measure(const struct bench *b, struct pool *pool, struct matrix x, double *seconds)
{
    struct stack2vec_opts opts = stack2vec_default();
    int rc = 0;

    *seconds = INFINITY;
    for (int i = 0; rc == 0 && i < REPEATS; i++) {
        uint64_t begin = clock_ns();
        struct stack2vec model;

        rc = stack2vec_fit(&model, &opts, &b->wl.vocab, &b->wl.bags, pool, x);
        *seconds = fmin(*seconds, (double)(clock_ns() - begin) * 1e-9);
        stack2vec_release(&model);
    }
    return rc;
}

static int run(struct bench *b, int argc, char **argv)
{
    struct pool *pool = pool_new(argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1);
    size_t dims = stack2vec_default().dims;
    struct matrix x = {NULL, 0, dims, dims};
    double seconds;
    int rc = load(b, argv[1], argv[2]);

    if (rc == 0) {
        x.rows = b->forest.n_trees;
        x.x = mem_alloc(x.rows * dims, sizeof *x.x);
        rc = measure(b, pool, x, &seconds);
    }
    if (rc == 0 && argc > 4)
        rc = write_bags(b, argv[4]);
    if (rc == 0 && argc > 5)
        rc = write_vectors(b, x, argv[5]);
    if (rc == 0)
        printf("%.3f\n", seconds);
    free(x.x);
    pool_free(pool);
    return rc;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    int rc;

    if (argc < 3) {
        fprintf(stderr, "usage: %s RUN FUNCTION [THREADS [BAGS [VECTORS]]]\n", argv[0]);
        return 2;
    }
    rc = run(&b, argc, argv);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", argv[0], err_message());
    wl_release(&b.wl);
    forest_release(&b.forest);
    definitions_release(&b.defs);
    run_close(&b.run);
    return rc < 0;
}
